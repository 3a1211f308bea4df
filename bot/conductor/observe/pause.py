"""The repository's pause: judged from what the look shows, and on where a dashboard that was there is gone."""

from datetime import datetime
from functools import partial

from bot.conductor.observe.checkboxes import Boxes
from bot.conductor.observe.lookups import look_up
from bot.github.port import Reader
from bot.model.snapshot import Snapshot
from bot.model.status import Status
from bot.notation.state import Pause, State
from bot.plan.facts.pause import Standing, edited_by_others, judge_pause, obeyed
from bot.plan.facts.trust import Unknown
from bot.plan.facts.who_conducts import Conducts, holds_records

_ROUNDS = 3  # who took the label away, and who edited the text
_GONE = "the dashboard was gone, and whether it was paused cannot be known"
_SPOILT = "the dashboard was changed by somebody who may not order, and whether it was paused cannot be read any more"


def pause_of(
    github: Reader, conducts: Conducts, state: State | None, snapshot: Snapshot, boxes: Boxes | None
) -> tuple[Snapshot, Standing]:
    """How it stands, and the snapshot with the permissions that were looked up for it."""
    newest = conducts.newest.issue if conducts.newest is not None else None
    dashboards = ([newest] if newest is not None else []) + list(conducts.spare)
    ask = partial(look_up, github)
    for _ in range(_ROUNDS):
        standing = judge_pause(dashboards, state, snapshot)
        if isinstance(standing, Unknown):
            snapshot = ask(snapshot, standing.wants)
            continue
        if standing.pause is None and newest is not None and state is None:
            spoilt = edited_by_others(newest, snapshot)
            if isinstance(spoilt, Unknown):
                snapshot = ask(snapshot, spoilt.wants)
                continue
            standing = _unknown(snapshot, _SPOILT) if spoilt else standing
        break
    else:
        raise AssertionError("whose word counts for the pause was looked up, and is not known")
    if newest is None and standing.pause is None and _ran_before(github, snapshot):
        standing = _unknown(snapshot, _GONE)
    if boxes is not None and newest is not None:
        standing = obeyed(standing, boxes.orders, boxes.by, boxes.at, newest.number)
    return snapshot, standing


def _unknown(snapshot: Snapshot, why: str) -> Standing:
    """Paused, because the safe reading of a switch that vanished is "on"; whoever ordered last is asked."""
    approvals = [task.record.approval for task in snapshot.tasks.values() if task.record.approval is not None]
    last = max(approvals, key=lambda approval: approval.at, default=None)
    pause = Pause(last.by if last is not None else "", _second(snapshot.now), why=why)
    return Standing(pause, f"paused, because {why}", restore=True)


def _ran_before(github: Reader, snapshot: Snapshot) -> bool:
    """Whether records of ours stand anywhere: then this is not the first day. One list more is read, of what was merged."""
    if any(task.comment is not None or task.record.next_attempt > 1 for task in snapshot.tasks.values()):
        return True
    merged = github.labelled(snapshot.config.label(Status.MERGED), closed=True)
    return holds_records(merged, snapshot.accounts)


def _second(at: datetime) -> datetime:
    return at.replace(microsecond=0)
