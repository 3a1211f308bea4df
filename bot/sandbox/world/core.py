"""What all parts of the world share: its name, clock, counters, and the news of what happened."""

from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from bot.sandbox.world.accounts import Accounts, Token

# Each kind of thing counts from its own base, so that one kind's id taken for another's is noticed at once.
_BASES = {
    "repository": 5_000,
    "label": 70_000,
    "issue": 1_000_000,
    "comment": 2_000_000,
    "event": 3_000_000,
    "pull": 4_000_000,
    "review": 4_500_000,
    "remark": 4_700_000,
    "workflow": 50_000,
    "run": 9_000_000_000,
    "job": 8_000_000_000,
    "artifact": 7_000_000_000,
}
_NODE_PREFIX = {
    "repository": "R",
    "label": "LA",
    "issue": "I",
    "comment": "IC",
    "pull": "PR",
    "review": "PRR",
    "remark": "PRRC",
}


@dataclass(frozen=True, slots=True)
class Happening:
    """Something that may start workflows: `parts` are the objects a webhook would describe."""

    event: str
    action: str
    by: Token
    parts: Mapping[str, Any] = field(default_factory=dict)


@dataclass(slots=True)
class Core:
    """`clock` is asked for every time stamp; GitHub's are whole seconds."""

    repository: str
    clock: Callable[[], datetime]
    accounts: Accounts
    default_branch: str = "main"
    private: bool = False
    archived: bool = False
    listeners: list[Callable[[Happening], None]] = field(default_factory=list)
    _counters: defaultdict[str, int] = field(default_factory=lambda: defaultdict(int))

    @property
    def now(self) -> datetime:
        return self.clock().astimezone(UTC).replace(microsecond=0)

    def next_id(self, kind: str) -> int:
        self._counters[kind] += 1
        return _BASES[kind] + self._counters[kind]

    def node_id(self, kind: str, number: int) -> str:
        return f"{_NODE_PREFIX[kind]}_kwDO{number:010d}"

    def tell(self, happening: Happening) -> None:
        """Let every listener know."""
        for listener in self.listeners:
            listener(happening)
