"""What the conductor remembers about the repository as a whole, hidden in the body of its dashboard issue.

It is a cache and a set of cursors: with the dashboard lost, the next tick starts a new one and nothing starts twice.
"""

from collections.abc import Collection, Mapping
from typing import Annotated

from msgspec import Meta, Struct, field
from msgspec.structs import replace

from bot.model.advice import Verdict
from bot.model.issue import Issue
from bot.model.moment import Moment
from bot.model.record import Fixed, Proposed, Spent
from bot.notation.codec import Unreadable, dump, load
from bot.notation.marker import read_marker, write_marker

NAME = "state"

_MOST = 30_000  # characters; the dashboard shows where everything stands as well, within what GitHub takes
_MOST_FIXED = 50
_MOST_BASELINES = 10
_MOST_VERDICTS = 8_000  # of them: some dozens, and each can be had again


Number = Annotated[str, Meta(pattern="^[1-9][0-9]{0,9}$")]  # of an issue


class State(Struct, frozen=True, omit_defaults=True):
    """`comments_since` is up to when comments were seen. `config_blob` is the last valid configuration, `rejected` the present
    one where that cannot be read. `paused_for` is by whose box we set the pause.

    `records` says which comment (node id; empty: among the first of its issue) holds whose record, for tasks that are not
    finished: one that has left the tracked issues is looked at by its number. `finished` says the same for finished ones whose
    record is not among the first comments of their issue, so that a reopened task finds it again.
    `acted` are comments at the cursor, which are read again, and whose commands were seen to. `verdicts` are what became of
    questions here, by question_fingerprint, oldest first, `fixed` the last shared failures that were mended. `proposed` are the
    needs that `/cf deps` on the dashboard came to. `baselines` are the gates that fail on the untouched default branch, by the
    digest of what was run.

    `orphans` are runs that nobody waits for, with the time since when they are being cancelled.

    `spent` is, by key, what the attempts that ended on `day` (UTC) have used up: records of closed issues are not read any more.
    """

    comments_since: Moment
    records: Mapping[Number, str] = field(default_factory=dict)
    finished: Mapping[Number, str] = field(default_factory=dict)
    config_blob: str = ""
    rejected: str = ""
    paused_for: str = ""
    day: str = ""
    spent: Mapping[str, Spent] = field(default_factory=dict)
    acted: tuple[int, ...] = ()
    orphans: Mapping[str, Moment] = field(default_factory=dict)
    verdicts: Mapping[str, Verdict] = field(default_factory=dict)
    fixed: Mapping[str, Fixed] = field(default_factory=dict)
    proposed: Proposed = Proposed()
    baselines: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


def fitting(state: State, running: Collection[str] = ()) -> State:
    """The state within its share of the dashboard. Of what it knows of thousands of tasks the oldest finished ones go first.

    `running` tasks stay: a label taken from one must end its run.

    Only tasks that leave the tracked issues are found by it alone, so what is left out costs a task that lost its label.
    """
    verdicts = dict(state.verdicts)
    while verdicts and len(dump(verdicts)) > _MOST_VERDICTS:
        verdicts.pop(next(iter(verdicts)))
    fixed = dict(list(state.fixed.items())[-_MOST_FIXED:])
    baselines = dict(list(state.baselines.items())[-_MOST_BASELINES:])
    state = replace(state, verdicts=verdicts, fixed=fixed, baselines=baselines)
    finished, records = dict(state.finished), dict(state.records)
    size = len(dump(state))
    for index in (finished, records):
        for number in sorted(index, key=int):
            if size <= _MOST:
                break
            if number in running:
                continue
            size -= len(number) + len(index.pop(number)) + 6  # quotes, colon, comma
    return replace(state, finished=finished, records=records)


def write_state(state: State) -> str:
    return write_marker(NAME, dump(state))


def read_state(dashboard: Issue, accounts: Collection[int]) -> State | None:
    """The state in our own dashboard issue; None if it is not ours, or cannot be read (then it is made anew)."""
    if dashboard.author.id not in accounts:
        return None
    try:
        payload = read_marker(NAME, dashboard.body)
        return load(payload, State) if payload is not None else None
    except Unreadable:
        return None
