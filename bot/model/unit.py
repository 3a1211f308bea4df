"""What one matrix leg of the worker workflow does. A unit travels as JSON and holds numbers, keys and configuration only."""

from collections.abc import Iterable
from datetime import timedelta
from enum import StrEnum

from msgspec import Struct

from bot.model.chosen import BatchOverrides


class Kind(StrEnum):
    CODE = "code"
    GATE = "gate"
    PUBLISH = "publish"
    UPDATE = "update"  # kept work brought up to date and verified again, without an agent
    TEST = "test"
    SPEC = "spec"


class Gate(Struct, frozen=True):
    """One command that must exit 0 for work to be proven. `os` are runner labels."""

    name: str
    run: str
    timeout: timedelta = timedelta(minutes=10)
    os: tuple[str, ...] = ("ubuntu-latest",)
    own_job: bool = False


class VerifyLeg(Struct, frozen=True):
    """One job of the verify matrix: the gates (by name) that share one clean machine of one system."""

    name: str
    os: str
    gates: tuple[str, ...]


class Join(Struct, frozen=True):
    """The work of one task that the batch gate joins with others': a commit of this repository, by its full id."""

    task: int
    commit: str


class Unit(Struct, frozen=True):
    """`tasks`, `keys` and `comments` (ids of the record comments) stand in the same order.

    `config_blob` is the git blob id of the configuration that the run reads; `accounts` are the ids whose markers count;
    `model`, `provider` and `base_url` are empty where the engine's own defaults hold; `secret` is the name of the one secret that
    it gets, `hooks` whether any is to follow the agent. `earlier` names where earlier work is: the artifact of an ended attempt as
    `<run id>/<key>`, or empty.
    `joins` (kind `gate`) are put onto the commit `base` in this order; without one onto the default branch, as it was at
    `before` (seconds since 1970) if that is not 0. `chosen` outweighs the configuration.
    `measure`: nobody knows yet how the gates do on the untouched default branch, so that is found out before the agent starts;
    `red` are those of which it is known that they fail there.
    """

    kind: Kind
    tasks: tuple[int, ...]
    keys: tuple[str, ...]
    comments: tuple[int, ...]
    accounts: tuple[int, ...]
    config_blob: str
    engine: str
    runner: tuple[str, ...]
    verify: tuple[VerifyLeg, ...]
    secret: str = ""
    earlier: str = ""
    timeout_minutes: int = 60
    exceptions: tuple[str, ...] = ()
    hooks: bool = False
    model: str = ""
    provider: str = ""
    base_url: str = ""
    joins: tuple[Join, ...] = ()
    base: str = ""
    before: int = 0
    chosen: BatchOverrides = BatchOverrides()
    measure: bool = False
    red: tuple[str, ...] = ()

    @property
    def lead(self) -> int:
        return self.tasks[0]


def verify_legs(gates: Iterable[Gate]) -> tuple[VerifyLeg, ...]:
    """The verify jobs that these gates need: the gates of one system share a job unless a gate wants its own."""
    legs: dict[str, VerifyLeg] = {}
    for gate in gates:
        for system in dict.fromkeys(gate.os):
            name = f"{system} {gate.name}" if gate.own_job else system
            before = legs.get(name)
            legs[name] = VerifyLeg(name, system, (*(before.gates if before else ()), gate.name))
    return tuple(legs.values())
