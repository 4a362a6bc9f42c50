"""Measures of the code's names and structure, for each revision: `structure.py [REVISION ...]`."""

import argparse
import collections
import re
import statistics
import subprocess
import sys
from pathlib import PurePosixPath

ROOT = subprocess.run(["git", "rev-parse", "--show-toplevel"], capture_output=True, text=True, check=True).stdout.strip()
QUESTION = re.compile(r"(What|Whether|Where|How|When|Who|Why)\b")
TYPE = re.compile(r"^\s*(?:pub(?:\([^)]*\))? )?(?:struct|enum|trait|union) (\w+)")
FUNCTION = re.compile(r"^(\s*)(?:pub(?:\([^)]*\))? )?(?:const )?(?:unsafe )?(?:extern \"C\" )?fn (\w+)")
USE = re.compile(r"^\s*(?:pub(?:\([^)]*\))? )?use ((?:crate|super)[^;]*);", re.M)


def git(*arguments):
    return subprocess.run(["git", *arguments], capture_output=True, text=True, check=True, cwd=ROOT).stdout


def sources(revision):
    """Returns hand-written Rust files by path; of the working tree if `revision` is `.`."""
    if revision == ".":
        names = git("ls-files", "-co", "--exclude-standard", "*.rs").split()
        read = lambda name: open(f"{ROOT}/{name}", encoding="utf-8").read()
    else:
        names = [name for name in git("ls-tree", "-r", "--name-only", revision).split() if name.endswith(".rs")]
        read = lambda name: git("show", f"{revision}:{name}")
    return {name: read(name) for name in names if not name.startswith("generated/") and "/expansion/" not in name}


def crate_name(path):
    return re.split(r"/(?:src|tests|benches|examples|fuzz_targets)/|/build\.rs", path)[0]


def doc_openings(text):
    """Yields the first line of each doc comment."""
    previous = ""
    for line in text.split("\n"):
        match = re.match(r"\s*//[/!] ?(.*)", line)
        if match and not re.match(r"\s*//[/!]", previous):
            yield match.group(1)
        previous = line


def functions(text):
    """Yields (name, lines) of each function."""
    lines = text.split("\n")
    for start, line in enumerate(lines):
        match = FUNCTION.match(line)
        if not match:
            continue
        closing = match.group(1) + "}"
        for end in range(start, len(lines)):
            if lines[end] == closing or (end == start and line.rstrip().endswith((";", "}"))):
                yield match.group(2), end - start + 1
                break


def use_paths(tree):
    """Yields the paths of a use tree."""
    tree = re.sub(r"\s+", " ", tree).strip()
    match = re.match(r"^(.*?)\{(.*)\}$", tree)
    if not match:
        yield tree.split(" as ")[0].replace(" ", "")
        return
    depth, part = 0, ""
    for letter in match.group(2) + ",":
        depth += {"{": 1, "}": -1}.get(letter, 0)
        if letter == "," and depth == 0:
            if part.strip():
                yield from use_paths(match.group(1) + part.strip())
            part = ""
        else:
            part += letter


def without_tests(text):
    return re.split(r"^#\[cfg\(test\)\]\s*\n(?:pub(?:\([^)]*\))? )?mod \w+ \{", text, flags=re.M)[0]


def module_of(inner):
    """Returns the module of a file below `src`, as a tuple: `("core", "argument")`; `()` for the root."""
    parts = PurePosixPath(inner).with_suffix("").parts
    return parts[:-1] if parts[-1] in ("mod", "lib", "main") else parts


def resolved(path, base, modules):
    """Returns the file's module that a use path leads to: the longest prefix that is a module."""
    if path.startswith("crate::"):
        target = tuple(path[7:].split("::"))
    else:
        while path.startswith("super::"):
            path, base = path[7:], base[:-1]
        target = base + tuple(path.split("::"))
    while target and target not in modules:
        target = target[:-1]
    return target


def test_modules(bodies):
    """Returns the modules that are declared under `#[cfg(test)]`."""
    declared = re.compile(r"^#\[cfg\(test\)\]\s*\n(?:#\[.*\]\s*\n)*(?:pub(?:\([^)]*\))? )?mod (\w+);", re.M)
    return {(*module, name) for module, body in bodies.items() for name in declared.findall(body)}


def module_edges(files):
    """Returns crate -> {module -> the modules that it uses}, a module for each file.

    A module and the modules inside of it are one thing: edges between them are left out.
    """
    modules = collections.defaultdict(dict)
    for path, text in files.items():
        crate, _, inner = path.partition("/src/")
        if inner and "tests" not in PurePosixPath(inner).with_suffix("").parts:
            modules[crate][module_of(inner)] = without_tests(text)
    edges = collections.defaultdict(lambda: collections.defaultdict(set))
    for crate, bodies in modules.items():
        for name in test_modules(bodies):
            bodies.pop(name, None)
        for module, body in bodies.items():
            used = [path for tree in USE.findall(body) for path in use_paths(tree)]
            used += re.findall(r"(?<![\w:])crate::\w+(?:::\w+)*", body)
            for path in used:
                target = resolved(path, module, bodies)
                if target[: len(module)] != module and module[: len(target)] != target:
                    edges[crate]["::".join(module)].add("::".join(target))
    return edges


def top_edges(edges):
    """Returns the edges between modules of the crate's root, each with all that is inside of it."""
    top = collections.defaultdict(set)
    for module, used in edges.items():
        first = module.partition("::")[0]
        top[first].update({it.partition("::")[0] for it in used} - {first, ""})
    top.pop("", None)
    return top


def cycles(edges):
    """Returns the strongly connected sets of more than one module."""
    reachable = {}
    for start in edges:
        visited, todo = set(), [start]
        while todo:
            for used in edges.get(todo.pop(), ()):
                if used not in visited:
                    visited.add(used)
                    todo.append(used)
        reachable[start] = visited
    groups = {frozenset(b for b in reachable[a] if a in reachable.get(b, ())) for a in reachable if a in reachable[a]}
    return sorted((sorted(group) for group in groups if len(group) > 1), key=len, reverse=True)


def has_unsafe(text):
    return any(re.search(r"\bunsafe\b", line) for line in text.split("\n") if not line.strip().startswith("//"))


def question_share(openings):
    openings = list(openings)
    count = sum(bool(QUESTION.match(opening)) for opening in openings)
    return f"{count} ({100 * count / max(len(openings), 1):.1f}%)"


def measure(revision):
    files = sources(revision)
    openings = [opening for text in files.values() for opening in doc_openings(text)]
    named = [function for text in files.values() for function in functions(text)]
    types = collections.Counter()
    for path, text in files.items():
        if "/src/" in path:
            types.update({m.group(1) for m in map(TYPE.match, text.split("\n")) if m})
    repeated = {name: count for name, count in types.items() if count > 1}
    lengths = sorted(length for _, length in named)
    lines = collections.Counter()
    for path, text in files.items():
        lines[crate_name(path)] += text.count("\n")
    rows = {
        "doc comments": len(openings),
        "of them opening with What, Whether, Where, How ...": question_share(openings),
        "functions": len(named),
        "of them named `of`": sum(name == "of" for name, _ in named),
        "type names that several modules have": f"{len(repeated)}: " + ", ".join(f"{n} {c}" for n, c in sorted(repeated.items(), key=lambda r: (-r[1], r[0]))[:6]),
        "lines of a function: median, 95%, longest": f"{statistics.median(lengths):.0f}, {lengths[int(len(lengths) * .95)]}, {lengths[-1]}",
        "files with `unsafe`": sum(has_unsafe(text) for text in files.values()),
        "files over 600 lines": sum(text.count("\n") > 600 for text in files.values()),
    }
    for crate, edges in sorted(module_edges(files).items()):
        for group in cycles(edges):
            rows[f"cycle in {crate}: {', '.join(group)}"] = "yes"
        for group in cycles(top_edges(edges)):
            rows[f"cycle of the root's modules in {crate}: {', '.join(group)}"] = "yes"
    for crate, count in lines.most_common():
        rows[f"lines of {crate}"] = count
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("revisions", nargs="*", default=["."], metavar="REVISION", help="a revision of git; `.` is the working tree")
    revisions = parser.parse_args().revisions
    columns = [measure(revision) for revision in revisions]
    names = list(dict.fromkeys(name for column in columns for name in column))
    print("| |", " | ".join("working tree" if r == "." else r[:9] for r in revisions), "|")
    print("|---" * (len(revisions) + 1) + "|")
    for name in names:
        print(f"| {name} |", " | ".join(str(column.get(name, "")) for column in columns), "|")


if __name__ == "__main__":
    main()
