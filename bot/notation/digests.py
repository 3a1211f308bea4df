"""The digest that binds an approval to the exact text it was given for."""

import hashlib

from bot.model.task import Task


def text_digest(title: str, body: str) -> str:
    """SHA-256 of title and body, the first 32 hex digits. The title's length keeps the two apart."""
    data = f"{len(title)}\n{title}\n{body}".encode("utf-8", "surrogatepass")
    return hashlib.sha256(data).hexdigest()[:32]


def digest_of(task: Task) -> str:
    """The digest of a task's text."""
    return task.digest or text_digest(task.issue.title, task.issue.body)
