"""The public methods of a class in a C++ header, without a compiler."""

import re

ACCESS = re.compile(r"(public|protected|private)\s*:$")
NOT_METHODS = {"TF_LOCKS_EXCLUDED", "TF_MUST_USE_RESULT", "TF_GUARDED_BY", "TF_EXCLUSIVE_LOCKS_REQUIRED", "defined", "DCHECK", "static_assert"}


def without_comments(text):
    """Returns a C++ text without comments, strings and directives."""
    text = re.sub(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\])*"', " ", text, flags=re.DOTALL)
    return re.sub(r"^[ \t]*#[^\n]*(?:\\\n[^\n]*)*$", " ", text, flags=re.MULTILINE)


def class_body(text, name):
    """Returns the text between the braces of a class."""
    start = re.search(rf"^class {name}\b[^;{{]*\{{", text, re.MULTILINE)
    if start is None:
        raise ValueError(f"the header has no class {name}")
    depth = 1
    for index in range(start.end(), len(text)):
        depth += {"{": 1, "}": -1}.get(text[index], 0)
        if depth == 0:
            return text[start.end() : index]
    raise ValueError(f"{name} is not closed")


def members(body):
    """Yields the declarations of a class, without the bodies of functions and nested classes, each with its access."""
    access, declaration, depth = "private", "", 0
    for character in body:
        if character == "{":
            depth += 1
        elif character == "}":
            depth -= 1
            if depth == 0 and re.search(r"\)[^()]*$", declaration):
                yield access, declaration.strip()
                declaration = ""
        elif depth == 0 and character == ";":
            yield access, declaration.strip()
            declaration = ""
        elif depth == 0:
            declaration += character
            label = ACCESS.search(declaration.strip())
            if label and declaration.strip() == label.group(0):
                access, declaration = label.group(1), ""


def method_name(declaration):
    """Returns the name of a method, or None for another member."""
    declaration = re.sub(r"^template\s*<[^>]*>\s*", "", declaration)
    if declaration.startswith(("friend ", "typedef ", "using ", "struct ", "class ", "enum ")) or "operator" in declaration:
        return None
    names = re.findall(r"(~?\b\w+)\s*\(", declaration)
    names = [name for name in names if name not in NOT_METHODS and name != "function" and name != "void"]
    return names[0] if names else None


def public_methods(header, name):
    """Returns the names of the public methods of a class, without constructors and the destructor."""
    body = class_body(without_comments(header), name)
    found = {method_name(declaration) for access, declaration in members(body) if access == "public"}
    return found - {None, name, f"~{name}"}
