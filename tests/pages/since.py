"""Markers in hand-written sources for code that needs a release: `// since 2.9`, in TOML `# since 2.9`.

A marker after code is for that line. On a line of its own, it is for the item, statement, match arm or
list element that follows, with its comments and attributes. `cut` removes the code that is marked with a
release after the newest known one.
"""

import re

from .releases import minor

MARKER = re.compile(r"^(?P<code>.*?)[ \t]*(?://|#) since (?P<release>[^\s]+)$", re.MULTILINE)
# Comments, strings and character literals, whose brackets are ignored. A lifetime is not a character literal.
SKIPPED = re.compile(
    r"""//[^\n]*|/\*.*?\*/|r(?P<hashes>\#*)".*?"(?P=hashes)|"(?:\\.|[^"\\])*"|'(?:\\.[^']*|[^'\\])'""",
    re.DOTALL,
)
OPENING, CLOSING = "([{", ")]}"
WHERE = re.compile(r"\bwhere\b")


def markers(text):
    """Returns the releases of the text's markers, in order."""
    return [marker["release"] for marker in MARKER.finditer(text)]


def marked(text):
    """Yields the release and the line of code of each marker; of an item the first line."""
    for marker in MARKER.finditer(text):
        code = marker["code"].strip()
        following = (line.strip() for line in text[marker.end() :].splitlines())
        is_code = lambda line: line and not line.startswith(("//", "#"))
        yield marker["release"], (code or next(filter(is_code, following), "")).removesuffix(" {")


def cut(text, newest):
    """Returns the text without the code that is marked with a release after `newest`."""
    position = 0
    while marker := MARKER.search(text, position):
        position = marker.end()
        if minor(marker["release"]) > minor(newest):
            end = marker.end() if marker["code"].strip() else item_end(text, marker.end())
            text = text[: marker.start()] + text[end:].removeprefix("\n")
            position = marker.start()
    return text


def item_end(text, start):
    """Returns the end of the item that begins at `start`: its closing brace, or `;` or `,` outside of brackets.

    A `,` between the bounds of a `where` clause does not end the item."""
    position, depth, angles, has_bounds = start, 0, 0, False
    while position < len(text):
        if skipped := SKIPPED.match(text, position):
            position = skipped.end()
            continue
        if not depth and WHERE.match(text, position):
            has_bounds = True
        char, before = text[position], text[position - 1]
        position += 1
        if char in OPENING:
            depth += 1
        elif char in CLOSING:
            depth -= 1
            if depth < 0:
                raise ValueError(f"the item after line {line_number(text, start)} has no end")
            if depth == 0 and char == "}":
                return position + (text[position : position + 1] in (",", ";"))
        # Angle brackets of generics: a comparison has a space before it, an arrow `-` or `=`.
        elif char == "<" and not before.isspace():
            angles += 1
        elif char == ">" and angles and before not in "-=":
            angles -= 1
        elif (char == ";" or char == "," and not has_bounds) and not depth and not angles:
            return position
    raise ValueError(f"the item after line {line_number(text, start)} has no end")


def line_number(text, position):
    return text.count("\n", 0, position) + 1
