"""Two bare repositories: one that everybody has, and one in which anything can be made, however wrong."""

import os
import subprocess
import zlib
from collections.abc import Sequence
from hashlib import sha1
from pathlib import Path

import pytest

from bot.notation.keys import Key
from bot.worker.change.bundle import Unfit, read_bundle, write_bundle
from bot.worker.change.git import IDENTITY, Git
from bot.worker.change.starting_point import message

FILE, FOLDER, LINK, MODULE = "100644", "40000", "120000", "160000"
Entry = tuple[str, str, str]  # mode, name, object


class Workshop:
    """A repository that everybody has (`here`), and one in which anything can be made (`there`)."""

    def __init__(self, folder: Path, base: str = "") -> None:
        environ = {"PATH": os.environ["PATH"]}
        self.here, self.there = (Git(folder / name, environ) for name in ("here", "there"))
        self.file = folder / "work.bundle"
        self.base = base
        self.text = "ce013625030ba8dba906f756967f9e9ca394464a"  # hello

    @classmethod
    def create(cls, folder: Path) -> "Workshop":
        for name in ("here", "there"):
            subprocess.run(["git", "init", "-q", "--bare", "--template=", name], cwd=folder, check=True)
        shop = cls(folder)
        assert shop.blob(b"hello\n") == shop.text
        shop.base = shop.commit(shop.tree((FILE, "README.md", shop.text)), [], words="base")
        shop.share("main", shop.base)
        return shop

    def share(self, branch: str, commit: str) -> None:
        """Everybody has it."""
        self.there.call("update-ref", f"refs/heads/{branch}", commit)
        self.here.call("fetch", "-q", str(self.there.folder), f"+refs/heads/{branch}:refs/heads/{branch}")

    def blob(self, data: bytes) -> str:
        return self.there.text("hash-object", "-w", "--stdin", given=data)

    def tree(self, *entries: Entry) -> str:
        """A tree with exactly these entries, however wrong: written as an object file, because git itself would refuse."""
        entries = tuple(sorted(entries, key=lambda entry: entry[1] + "/" * (entry[0] == FOLDER)))
        body = b"".join(
            f"{mode} {name}\0".encode("utf-8", "surrogateescape") + bytes.fromhex(blob)
            for mode, name, blob in entries
        )
        data = f"tree {len(body)}\0".encode() + body
        name = sha1(data, usedforsecurity=False).hexdigest()
        context = self.there.folder / "objects" / name[:2] / name[2:]
        context.parent.mkdir(exist_ok=True)
        if not context.exists():
            context.write_bytes(zlib.compress(data))
        return name

    def commit(
        self, tree: str, parents: Sequence[str], *, words: str = message(Key(1, 1)), who: str = ""
    ) -> str:
        flags = [part for parent in parents for part in ("-p", parent)]
        identity = {name: who or value for name, value in IDENTITY.items()}
        return self.there.call(
            "commit-tree", tree, *flags, "-F", "-", given=words.encode(), extra=identity
        ).output.strip()

    def work(self, *entries: Entry) -> str:
        """A commit of ours on the base with these entries beside the README."""
        return self.commit(self.tree((FILE, "README.md", self.text), *entries), [self.base])

    def bundle(self, commit: str) -> Path:
        write_bundle(self.there, commit, (self.base,), self.file)
        return self.file

    def refs(self) -> str:
        return self.here.text("for-each-ref", "--format=%(refname)")

    def refused(self) -> str:
        """Why the reader does not take the bundle; afterwards the repository must be as before."""
        with pytest.raises(Unfit) as caught:
            read_bundle(self.here, self.file, 1)
        assert self.refs() == "refs/heads/main"
        return str(caught.value)
