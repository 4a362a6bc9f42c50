"""Runs pages in TensorFlow's releases: for each release, creates an environment, runs every page in it, and
removes the environment unless --keep names the release.

A page has these members: `name`, `add_options(parser)`, `prepare(arguments)`, `needs(release)`,
`digest(release)`, `run(environment)`, which returns a row, and `write(rows)`, which returns True if every
row is as expected. Rows are cached under the digest of the files that were run.
"""

import argparse
import json
import sys
import time

from .releases import BUILD_DIR, Environment, Withdrawn, releases


class Rows:
    """A page's cached rows by release; a row is valid if the digest of its files is unchanged."""

    def __init__(self, page):
        self.page, self.file = page, BUILD_DIR / f"{page.name}.json"
        try:
            self.cached = json.loads(self.file.read_text())
        except (OSError, ValueError):
            self.cached = {}

    def get(self, release):
        cached = self.cached.get(release, {})
        return cached.get("row") if cached.get("digest") == self.page.digest(release) else None

    def put(self, release, row):
        self.cached[release] = {"digest": self.page.digest(release), "row": row}
        self.file.write_text(json.dumps(self.cached))


def run_page(page, environment, rows):
    """Runs one page in a release and stores its row."""
    start = time.monotonic()
    try:
        row = page.run(environment)
    except RuntimeError as error:
        row = {"problem": str(error)}
    rows.put(environment.release, row)
    print(f"{environment.release}, {page.name}: {row} in {time.monotonic() - start:.0f} s", flush=True)


def run_release(release, pages, rows, keep):
    """Runs the pages in a release and stores their rows."""
    environment = Environment(release)
    try:
        problem = None if environment.create() else f"skipped: no {environment.name} on this machine"
    except Withdrawn as error:
        return [rows[page.name].put(release, {"withdrawn": str(error)}) for page in pages]
    except RuntimeError as error:
        problem = str(error)
    for page in pages:
        if problem:
            rows[page.name].put(release, {"problem": problem})
        else:
            run_page(page, environment, rows[page.name])
    if release not in keep:
        environment.remove()


def write_page(page, rows):
    """Writes the page if it has a row for each release; returns True if every row is as expected."""
    found = {release: rows.get(release) for release in releases() if page.needs(release)}
    missing = [release for release, row in found.items() if row is None]
    if missing:
        print(f"{page.name}: page not written: no result of this build in {' '.join(missing)}", file=sys.stderr)
        return False
    return page.write(found)


def parse_arguments(pages, others):
    parser = argparse.ArgumentParser(
        description=sys.modules[type(pages[0]).__module__].__doc__,
        formatter_class=argparse.RawTextHelpFormatter,
    )
    parser.add_argument("releases", nargs="*", help="such as 2.12 2.21; default: all")
    parser.add_argument("--keep", nargs="*", default=["2.12", "2.21"], help="releases whose environments are kept")
    parser.add_argument("--again", action="store_true", help="run releases again that have a cached result")
    parser.add_argument("--also", choices=others, help="another page to run in the same environments")
    for page in pages:
        page.add_options(parser)
    return parser.parse_args()


def main(pages, others):
    arguments = parse_arguments(pages, others)
    BUILD_DIR.mkdir(parents=True, exist_ok=True)
    pages = pages + ([others[arguments.also]()] if arguments.also else [])
    for page in pages:
        status = page.prepare(arguments)
        if status is not None:
            return status
    rows = {page.name: Rows(page) for page in pages}
    for release in arguments.releases or releases():
        due = [page for page in pages if page.needs(release) and (arguments.again or rows[page.name].get(release) is None)]
        if due:
            run_release(release, due, rows, arguments.keep)
    return 0 if all([write_page(page, rows[page.name]) for page in pages]) else 1
