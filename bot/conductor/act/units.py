"""Claimed attempts made into units, and units into runs."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from bot.model.decision import BatchStep, Decision
from bot.model.snapshot import Snapshot
from bot.model.unit import Kind, Unit, verify_legs
from bot.notation.digests import commands_digest
from bot.notation.keys import Key

_JOIN_MINUTES = 20  # bringing up to date and joining commits are quick; the gates have their own limits


def unit_of(
    decision: Decision, comment: int, snapshot: Snapshot, baselines: Mapping[str, tuple[str, ...]]
) -> Unit:
    """What the leg of this attempt is told. `comment` is the database id of the record's comment.

    `baselines` are the gates of which it is known that they fail on the untouched default branch, by digest.
    """
    start = decision.start
    assert start is not None, "only starts become units"
    config = snapshot.config.with_chosen(start.chosen)
    choice = start.choice
    engine = config.engines.get(choice.engine)
    asked = decision.record.timeout_minutes if start.kind is Kind.CODE else 0
    whole_minutes = asked or max(1, -(-int(config.timeout_of(start.kind).total_seconds()) // 60))
    by_agent = start.kind is Kind.CODE
    runner = engine.runner if engine and engine.runner else config.runner
    red = baselines.get(commands_digest(config, runner)) if by_agent and config.baseline else ()
    return Unit(
        kind=start.kind,
        tasks=(decision.task,),
        keys=(str(Key(decision.task, start.number)),),
        comments=(comment,),
        accounts=tuple(sorted(snapshot.accounts)),
        config_blob=config.blob,
        engine=choice.engine,
        runner=runner,
        verify=verify_legs(config.gates) if start.kind is not Kind.PUBLISH else (),
        secret=choice.secret,
        earlier=start.earlier,
        timeout_minutes=_JOIN_MINUTES if start.kind is Kind.UPDATE else whole_minutes,
        model=choice.model,
        provider=choice.provider,
        base_url=choice.base_url,
        exceptions=start.exceptions,
        hooks=by_agent and bool(config.hooks.after_task_success or config.hooks.after_task_failure),
        chosen=start.chosen,
        measure=red is None and bool(config.gates),
        red=red or (),
    )


def gate_unit(step: BatchStep, snapshot: Snapshot) -> Unit:
    """What the leg of a batch gate's trial is told: which commits to join, and where. Its record is in the batch issue itself."""
    start, config = step.start, snapshot.config
    assert start is not None, "only starts become units"
    return Unit(
        kind=Kind.GATE,
        tasks=(step.number,),
        keys=(str(Key(step.number, start.number)),),
        comments=(0,),
        accounts=tuple(sorted(snapshot.accounts)),
        config_blob=config.blob,
        engine="",
        runner=config.runner,
        verify=verify_legs(config.gates),
        timeout_minutes=_JOIN_MINUTES,
        joins=start.joins,
        base=start.base,
        before=int(start.before.timestamp()) if start.before else 0,
    )


def into_runs(units: Iterable[Unit], per_run: int) -> Iterator[Sequence[Unit]]:
    """Units in groups of at most `per_run`, in order."""
    waiting = list(units)
    for begin in range(0, len(waiting), per_run):
        yield waiting[begin : begin + per_run]
