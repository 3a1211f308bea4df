"""GitHub's GraphQL schema as test data: the SDL of @octokit/graphql-schema, compressed the same way each time.

Run `python -m scripts.graphql_schema` after a change of version, with `--check` to compare only.
"""

import gzip
import sys
from pathlib import Path

from scripts.npm_package import Source, main

SOURCE = Source(
    package="@octokit/graphql-schema",
    version="15.26.1",
    member="schema.graphql",
    sha256="3c62d0526d133cee53221c89de9b455ade24db78b9e7ad56d642c4c15bce2654",
)
TARGET = Path(__file__).parent.parent / "tests/data/github/schema.graphql.gz"


def compress(sdl: bytes) -> bytes:
    """The same bytes for the same text: no time and no file name in the header."""
    return gzip.compress(sdl, compresslevel=9, mtime=0)


if __name__ == "__main__":
    sys.exit(main(SOURCE, TARGET, compress, "GitHub's GraphQL schema as test data"))
