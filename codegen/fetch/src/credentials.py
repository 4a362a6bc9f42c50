"""Prints the Authorization header that pip would send to the URL in argv[1], or nothing.

Credentials are looked up as pip does, and only for the URL's own scheme, host and port: in the index URLs of
pip's configuration and environment, then in netrc. The default entry of netrc is not used, since any host
that an index links to would get it.
"""

import ast
import base64
import netrc
import os
import subprocess
import sys
from urllib.parse import unquote, urlsplit

SETTINGS = ("index-url", "extra-index-url", "find-links")


def origin(url):
    return url.scheme, url.hostname, url.port or {"http": 80, "https": 443}.get(url.scheme)


def configured():
    listed = subprocess.run(
        [sys.executable, "-m", "pip", "config", "list"], stdout=subprocess.PIPE, check=False
    )
    for line in listed.stdout.decode("utf-8", "replace").splitlines():
        key, _, value = line.partition("=")
        if key.rsplit(".", 1)[-1] in SETTINGS:
            yield from ast.literal_eval(value).split()


def from_index(url):
    indexes = [index for index in map(urlsplit, configured()) if index.username is not None]
    same = [index for index in indexes if origin(index) == origin(url)]
    if not same:
        return None
    # Of several repositories on a host, the one whose path is nearest.
    best = max(same, key=lambda index: len(os.path.commonprefix([index.path, url.path])))
    return unquote(best.username), unquote(best.password or "")


def from_netrc(url):
    named = os.environ.get("NETRC")
    for path in [named] if named else ["~/.netrc", "~/_netrc"]:
        path = os.path.expanduser(path)
        if os.path.isfile(path):
            entry = netrc.netrc(path).hosts.get(url.hostname)
            return entry and (entry[0] or entry[1] or "", entry[2] or "")
    return None


url = urlsplit(sys.argv[1])
found = from_index(url) or from_netrc(url)
if found:
    print("Basic " + base64.b64encode(":".join(found).encode()).decode())
