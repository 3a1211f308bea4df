"""Digests that stand for texts: what an approval was given for, and names for words that are not kept."""

import hashlib
import json
import re
from collections.abc import Iterable

from bot.model.config import Config, EngineConfig
from bot.model.task import Task

_NAMED = re.compile(r"text-[0-9a-f]{12}")


def text_digest(title: str, body: str) -> str:
    """SHA-256 of title and body, the first 32 hex digits. The title's length keeps the two apart."""
    data = f"{len(title)}\n{title}\n{body}".encode("utf-8", "surrogatepass")
    return hashlib.sha256(data).hexdigest()[:32]


def digest_of(task: Task) -> str:
    """The digest of a task's text."""
    return task.digest or text_digest(task.issue.title, task.issue.body)


def commands_digest(config: Config, runner: Iterable[str], engine: str = "") -> str:
    """16 hex digits for what a repository runs on a machine: its set-up, its gates, the runner's labels.

    With an engine also its command line and its installation. For the untouched default branch the engine is left out.
    """
    own = config.engines.get(engine, EngineConfig())
    command = [engine, own.args, list(own.install) if own.install is not None else None] if engine else []
    gates = [[gate.name, gate.run, sorted(gate.os), gate.timeout.total_seconds()] for gate in config.gates]
    facts = [list(config.setup), gates, sorted(runner), command]
    return hashlib.sha256(json.dumps(facts).encode()).hexdigest()[:16]


def named(text: str) -> str:
    """A name for a text; nothing stays nothing, and what is such a name already stays it.

    A digest made from names comes out the same for the record of a tick, which holds names instead of texts.
    """
    if not text or _NAMED.fullmatch(text):
        return text
    return f"text-{hashlib.sha256(text.encode('utf-8', 'surrogatepass')).hexdigest()[:12]}"
