//! Small headers through the parser.
