"""Digests that stand for texts: what an approval was given for, and names for words that are not kept."""

import hashlib
import re

from bot.model.task import Task

_NAMED = re.compile(r"text-[0-9a-f]{12}")


def text_digest(title: str, body: str) -> str:
    """SHA-256 of title and body, the first 32 hex digits. The title's length keeps the two apart."""
    data = f"{len(title)}\n{title}\n{body}".encode("utf-8", "surrogatepass")
    return hashlib.sha256(data).hexdigest()[:32]


def digest_of(task: Task) -> str:
    """The digest of a task's text."""
    return task.digest or text_digest(task.issue.title, task.issue.body)


def named(text: str) -> str:
    """A name for a text; nothing stays nothing, and what is such a name already stays it.

    A digest made from names comes out the same for the record of a tick, which holds names instead of texts.
    """
    if not text or _NAMED.fullmatch(text):
        return text
    return f"text-{hashlib.sha256(text.encode('utf-8', 'surrogatepass')).hexdigest()[:12]}"
