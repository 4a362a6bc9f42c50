"""The tests that may fail with the plugin."""

import pathlib

PATH = pathlib.Path(__file__).with_name("keras_exceptions.txt")


def of_release(release):
    """Returns the reason of each exception of a release such as 2.21.0, by the name of the test."""
    return parse(PATH.read_text(), ".".join(release.split(".")[:2]))


def parse(text, release):
    """Returns the exceptions of a release from lines `RELEASE[,RELEASE..] TEST REASON`; `#` begins a comment."""
    lines = [line.split(maxsplit=2) for line in text.splitlines() if line.strip() and not line.startswith("#")]
    return {test: reason for releases, test, reason in lines if release in releases.split(",")}
