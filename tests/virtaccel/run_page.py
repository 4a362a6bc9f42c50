"""Runs a page: `run_page.py PAGE FOLDER`.

Blocks of a file, which begin with the comment `// FILE` or `# FILE`, are written to that file; further blocks of the file, and
those that begin with `// FILE (at the end)`, are appended. Blocks of `sh` and `python` are run in order. A block `text` is the output of the block before it.
"""

import os
import pathlib
import re
import subprocess
import sys

BLOCK = re.compile(r"^```(\w+)\n(.*?)\n```$", re.MULTILINE | re.DOTALL)
FILE = re.compile(r"(?://|#) (?P<name>[\w./-]+\.\w+)(?P<appended> \(at the end\))?\n")


def write(folder, written, file, text):
    """Writes the first block of a file, unless it is appended, and appends the others."""
    path = folder / file["name"]
    before = path.read_text() + "\n" if path in written or file["appended"] else ""
    path.write_text(before + text + "\n")
    written.add(path)


def run(language, text, folder):
    """Runs a block; returns its output, and the folder in which a shell has ended."""
    command = [sys.executable, "-c", text] if language == "python" else ["bash", "-euc", text + '\npwd >"$SP_PWD"']
    pwd = folder / ".pwd"
    environment = {**os.environ, "SP_PWD": str(pwd), "TF_CPP_MIN_LOG_LEVEL": "3"}
    finished = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)
    if finished.returncode != 0:
        sys.exit(f"this block ends with status {finished.returncode}:\n{text}\n{finished.stdout}{finished.stderr[-4000:]}")
    if language != "sh":
        return finished.stdout, folder
    after = pathlib.Path(pwd.read_text().strip())
    pwd.unlink()
    return finished.stdout, after


def main(page, folder):
    output, written, count = None, set(), 0
    for language, text in BLOCK.findall(page.read_text()):
        file = FILE.match(text)
        if file:
            write(folder, written, file, text[file.end() :])
        elif language == "text":
            if output is None or output.strip() != text:
                sys.exit(f"expected:\n{text}\nfound:\n{output}")
        elif language in ("sh", "python"):
            output, folder = run(language, text, folder)
        else:
            sys.exit(f"a block in {language} names no file")
        count += 1
    print(f"{page}: ran {count} blocks")


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]).absolute())
