"""One walk over TensorFlow's releases for all pages that want it: an environment is made, each page
has its turn in it, and the environment goes, unless --keep names the release.

A page has `name`, `options(words)`, `prepare(chosen)`, `wants(release)`, `digest(release)`,
`play(environment)` -> row and `write(rows)` -> whether all is well. Rows are remembered, by the digest
of what was played.
"""

import argparse
import json
import sys
import time

from .releases import MADE, Environment, Withdrawn, releases


class Rows:
    """A page's rows, by release; one counts as long as what it was played with is the same."""

    def __init__(self, page):
        self.page, self.file = page, MADE / f"{page.name}.json"
        try:
            self.kept = json.loads(self.file.read_text())
        except (OSError, ValueError):
            self.kept = {}

    def get(self, release):
        kept = self.kept.get(release, {})
        return kept.get("row") if kept.get("digest") == self.page.digest(release) else None

    def put(self, release, row):
        self.kept[release] = {"digest": self.page.digest(release), "row": row}
        self.file.write_text(json.dumps(self.kept))


def turn(page, environment, rows):
    start = time.monotonic()
    try:
        row = page.play(environment)
    except RuntimeError as error:
        row = {"problem": str(error)}
    rows.put(environment.release, row)
    print(f"{environment.release}, {page.name}: {row} in {time.monotonic() - start:.0f} s", flush=True)


def visit(release, pages, rows, keep):
    environment = Environment(release)
    try:
        missing = None if environment.make() else f"skipped: no {environment.name} on this machine"
    except Withdrawn as error:
        return [rows[page.name].put(release, {"withdrawn": str(error)}) for page in pages]
    except RuntimeError as error:
        missing = str(error)
    for page in pages:
        if missing:
            rows[page.name].put(release, {"problem": missing})
        else:
            turn(page, environment, rows[page.name])
    if release not in keep:
        environment.remove()


def page_of(page, rows):
    """Writes the page if there is a row for each release; whether all is well."""
    found = {release: rows.get(release) for release in releases() if page.wants(release)}
    missing = [release for release, row in found.items() if row is None]
    if missing:
        print(f"{page.name}: no page yet: {' '.join(missing)} not played with this file", file=sys.stderr)
        return False
    return page.write(found)


def arguments(pages, others):
    words = argparse.ArgumentParser(
        description=sys.modules[type(pages[0]).__module__].__doc__,
        formatter_class=argparse.RawTextHelpFormatter,
    )
    words.add_argument("releases", nargs="*", help="such as 2.12 2.21; all where none is named")
    words.add_argument("--keep", nargs="*", default=["2.12", "2.21"], help="releases whose environments stay")
    words.add_argument("--again", action="store_true", help="play also what was played with the same file")
    words.add_argument("--also", choices=others, help="a page to be played in the same walk")
    for page in pages:
        page.options(words)
    return words.parse_args()


def main(pages, others):
    chosen = arguments(pages, others)
    MADE.mkdir(parents=True, exist_ok=True)
    pages = pages + ([others[chosen.also]()] if chosen.also else [])
    for page in pages:
        done = page.prepare(chosen)
        if done is not None:
            return done
    rows = {page.name: Rows(page) for page in pages}
    for release in chosen.releases or releases():
        due = [it for it in pages if it.wants(release) and (chosen.again or rows[it.name].get(release) is None)]
        if due:
            visit(release, due, rows, chosen.keep)
    return 0 if all([page_of(page, rows[page.name]) for page in pages]) else 1
