"""Batch issues made as the plan wants them: record and text first, then (after the tasks) the gate's run and the last words.

A batch's record comes before what it makes happen to tasks: a tick that dies in between is made up for by the next one, which
finds the record and does the rest. What happened to members is told once because each such event has a key.
"""

from collections.abc import Collection, Mapping, Sequence

from bot.conductor.act.outbox import Effects, Outbox, dispatch_run, end_run, write_now
from bot.conductor.act.units import gate_unit
from bot.conductor.observe.view import Observation
from bot.github.port import GitHub
from bot.model.batch import Action, BatchState
from bot.model.change import AddLabel, Change, CloseIssue, CreateComment, EditIssue, RemoveLabel, ReopenIssue
from bot.model.config import Config
from bot.model.decision import BatchStep
from bot.model.issue import Comment, Issue
from bot.model.snapshot import Snapshot
from bot.notation.batches import read_control
from bot.notation.commands import read_commands
from bot.notation.comments import notice_comment

_COLOURS = {
    BatchState.PENDING: "c5def5",
    BatchState.RUNNING: "fbca04",
    BatchState.COMPLETED: "0e8a16",
    BatchState.PARTIAL: "d93f0b",
    BatchState.FAILED: "b60205",
    BatchState.CANCELLED: "ededed",
}


def state_label(state: BatchState, config: Config) -> str:
    """`cf:batch/running` and so on."""
    return config.label(f"batch/{state}")


def batch_labels(config: Config) -> dict[str, tuple[str, str]]:
    """The label of all batches and those of their states, with colour and description."""
    names = {
        state_label(state, config): (colour, f"a batch that is {state}") for state, colour in _COLOURS.items()
    }
    names[config.label("batch")] = ("1d76db", "an order for many tasks; closing it stops the batch")
    return names


def write_batches(
    github: GitHub, steps: Sequence[BatchStep], seen: Observation, effects: Effects
) -> tuple[BatchStep, ...]:
    """Write records, texts and states; returns the steps that may go on. One whose issue has moved waits for the next tick."""
    steps = tuple(step for step in steps if _differs(step, seen.snapshot.config))
    if not steps:
        return ()
    github.ensure_labels(batch_labels(seen.snapshot.config))
    there = github.issues([step.number for step in steps])
    fresh = []
    changes: list[tuple[int, Change]] = []
    for step in steps:
        if _moved(step.batch.issue, there.get(step.number)):
            effects.left[step.number] = "its issue changed since the snapshot"
            continue
        fresh.append(step)
        if step.cancel is not None:
            end_run(github, step.cancel.run, step.cancel.force, effects)
        changes += [(step.number, change) for change in _text_and_state(step, seen.snapshot.config)]
    said = github.write([change for _, change in changes]) if changes else ()
    effects.writes += len(changes)
    for (number, change), one in zip(changes, said, strict=True):
        if one.error:
            effects.refused.append(f"batch #{number}: {one.error}")
            if isinstance(change, EditIssue):
                effects.left[number] = "its record could not be written"
    return tuple(step for step in fresh if step.number not in effects.left)


def _differs(step: BatchStep, config: Config) -> bool:
    wanted = bool(step.body or step.notices or step.close or step.reopen or step.start or step.cancel)
    return wanted or bool(_state_changes(step, config))


def _moved(before: Issue, now: Issue | None) -> bool:
    return now is None or (now.body, now.is_open) != (before.body, before.is_open)


def _text_and_state(step: BatchStep, config: Config) -> list[Change]:
    issue = step.batch.issue
    changes: list[Change] = [EditIssue(issue.node_id, step.body)] if step.body else []
    changes += [ReopenIssue(issue.node_id)] if step.reopen else []
    # A closed issue is looked at as long as its label says that it has not ended, so that label goes last.
    return [*changes, *([] if step.record.state.ended else _state_changes(step, config))]


def _state_changes(step: BatchStep, config: Config) -> list[Change]:
    """The new state's label first, then the old one goes."""
    issue, wanted = step.batch.issue, state_label(step.record.state, config)
    others = [state_label(state, config) for state in BatchState if state is not step.record.state]
    changes: list[Change] = [] if issue.has_label(wanted) else [AddLabel(issue.node_id, wanted)]
    return [*changes, *(RemoveLabel(issue.node_id, name) for name in others if issue.has_label(name))]


def told_to_stop(
    github: GitHub, batches: Collection[int], now: Mapping[int, Issue], seen: Observation
) -> frozenset[int]:
    """Which of the batches were closed, or told to stop, since the snapshot. Who said so is judged by the next tick."""
    if not batches:
        return frozenset()
    closed = {number for number in batches if number not in now or not now[number].is_open}
    snapshot = seen.snapshot
    known = {comment.id for comments in snapshot.comments.values() for comment in comments}
    told = {
        comment.issue
        for comment in github.comments_since(seen.latest_comment or seen.view.at)
        if comment.id not in known and comment.issue in batches and _says_stop(comment, snapshot)
    }
    return frozenset(closed | told)


def _says_stop(comment: Comment, snapshot: Snapshot) -> bool:
    control = read_control(comment, snapshot.accounts)
    if control is not None:
        return control.action is Action.STOP
    return any(command.name == "stop" for command in read_commands(comment.body, snapshot.config.prefix))


def dispatch_gates(github: GitHub, steps: Sequence[BatchStep], seen: Observation, effects: Effects) -> None:
    """Dispatch the trials that are claimed. One that GitHub refuses expires like any claim without a run."""
    for step in steps:
        if step.start is not None:
            _, problem = dispatch_run(github, [gate_unit(step, seen.snapshot)], seen)
            if problem:
                effects.refused.append(
                    f"the gate of batch #{step.number} could not be dispatched: {problem.words}"
                )


def with_their_issues(
    steps: Sequence[BatchStep], unopened: Collection[str], effects: Effects
) -> tuple[BatchStep, ...]:
    """The steps whose issues could be opened: the record of the others must not say that theirs stand."""
    for step in steps:
        if any(issue.fingerprint in unopened for issue in step.opens):
            effects.left[step.number] = "an issue that it asks for could not be opened"
    return tuple(step for step in steps if step.number not in effects.left)


def end_batches(
    github: GitHub, steps: Sequence[BatchStep], seen: Observation, effects: Effects, outbox: Outbox
) -> None:
    """The closing, then the last words, and the final state last of all, once these stand: until then the batch is looked at.

    Who is mentioned is told of all that follows on the issue, so nothing may follow: one mail is enough.
    """
    closing = [CloseIssue(step.batch.issue.node_id) for step in steps if step.close]
    words = [(step, notice) for step in steps for notice in step.notices]
    comments = [CreateComment(step.batch.issue.node_id, notice_comment(notice)) for step, notice in words]
    answers = write_now(github, "ending a batch", [*closing, *comments], effects)
    for (step, _), answer in zip(words, answers[len(closing) :], strict=True):
        if answer.error:
            effects.left[step.number] = "its last words could not be written"
    for step in steps:
        if step.record.state.ended and step.number not in effects.left:
            outbox.put(f"batch #{step.number}", _state_changes(step, seen.snapshot.config))
