// Nothing any more.
