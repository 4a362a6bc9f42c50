"""Markers in hand-written sources for what a release brought: `// since 2.9`, in TOML `# since 2.9`.

Behind code, a marker is for its line. On a line of its own, it is for the item, statement, match arm or
list element that follows, with its comments and attributes. `cut` removes what is marked with a release
after the newest known one.
"""

import re

from .releases import minor

MARKER = re.compile(r"^(?P<code>.*?)[ \t]*(?://|#) since (?P<release>[^\s]+)$", re.MULTILINE)
# Comments, strings and characters: brackets in them count for nothing. A lifetime is no character.
SKIPPED = re.compile(
    r"""//[^\n]*|/\*.*?\*/|r(?P<hashes>\#*)".*?"(?P=hashes)|"(?:\\.|[^"\\])*"|'(?:\\.[^']*|[^'\\])'""",
    re.DOTALL,
)
OPENING, CLOSING = "([{", ")]}"


def markers(text):
    """The releases that the text's markers name, in order."""
    return [found["release"] for found in MARKER.finditer(text)]


def marked(text):
    """The release of each marker, and the line of code that it is for: of an item the first."""
    for found in MARKER.finditer(text):
        code = found["code"].strip()
        following = (line.strip() for line in text[found.end() :].splitlines())
        is_code = lambda line: line and not line.startswith(("//", "#"))
        yield found["release"], (code or next(filter(is_code, following), "")).removesuffix(" {")


def cut(text, newest):
    """The text without what came after the release `newest`."""
    at = 0
    while found := MARKER.search(text, at):
        at = found.end()
        if minor(found["release"]) > minor(newest):
            end = found.end() if found["code"].strip() else item_end(text, found.end())
            text = text[: found.start()] + text[end:].removeprefix("\n")
            at = found.start()
    return text


def item_end(text, start):
    """The end of the item that begins at `start`: its closing brace, or `;` or `,` outside of brackets."""
    at, depth, angles = start, 0, 0
    while at < len(text):
        if skipped := SKIPPED.match(text, at):
            at = skipped.end()
            continue
        char, before = text[at], text[at - 1]
        at += 1
        if char in OPENING:
            depth += 1
        elif char in CLOSING:
            depth -= 1
            if depth < 0:
                raise ValueError(f"the item after line {line(text, start)} has no end")
            if depth == 0 and char == "}":
                return at + (text[at : at + 1] in (",", ";"))
        # A comparison has spaces around it, an arrow a sign before it.
        elif char == "<" and not before.isspace():
            angles += 1
        elif char == ">" and angles and before not in "-=":
            angles -= 1
        elif char in ";," and not depth and not angles:
            return at
    raise ValueError(f"the item after line {line(text, start)} has no end")


def line(text, at):
    return text.count("\n", 0, at) + 1
