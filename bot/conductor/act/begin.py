"""Before anything else is written: only the account that conducts goes on, and it has a dashboard of its own.

The dashboard comes first, because it is what every other account learns from who conducts. A later one carries what the one before
knew, its pause included, so that whoever closes, locks, moves or loses it has changed nothing.
"""

from msgspec.structs import replace

from bot.conductor.act.labels import label_names
from bot.conductor.observe.view import FIRST_WINDOW, Observation
from bot.github.port import GitHub
from bot.model.change import Change, CloseIssue, CreateIssue, EditIssue
from bot.model.errors import CannotGoOn
from bot.model.issue import Issue
from bot.notation.overview import moved_dashboard, plain_dashboard
from bot.notation.state import State
from bot.plan.facts.who_conducts import Dashboard, who_conducts, without_key

_TITLE = "cf dashboard"


class NotTheConductor(CannotGoOn):
    """Another account conducts here, or nobody may begin with this one. The text names who does, and the way."""


def check_may_write(seen: Observation) -> None:
    """Raise NotTheConductor unless the account whose token this is conducts here, and what it would write over can be judged."""
    if seen.conducts.refusal:
        raise NotTheConductor(seen.conducts.refusal)
    tasks = seen.snapshot.tasks.values()
    texts = [task.comment.body for task in tasks if task.comment is not None]
    texts += [batch.issue.body for batch in seen.snapshot.batches]
    texts += [seen.conducts.newest.issue.body] if seen.conducts.newest is not None else []
    if words := without_key(texts):
        raise NotTheConductor(words)


def with_own_dashboard(github: GitHub, seen: Observation, *, rehearsal: bool = False) -> Observation:
    """The observation with an open dashboard of our own, made where there is none. Raises NotTheConductor if another was first.

    In a rehearsal the conductor's open one serves whoever looks.
    """
    conducts = seen.conducts
    there = conducts.open_dashboard if rehearsal else conducts.own_dashboard
    if there is not None or seen.misconfigured:
        return seen  # without a configuration it is not known under which prefix one belongs
    config = seen.snapshot.config
    label = config.label("dashboard")
    github.ensure_labels(label_names(config))
    state = _state(seen)
    paused = (config.label("pause"),) if state.pause is not None else ()
    body = plain_dashboard(state, config.prefix)
    (said,) = github.write([CreateIssue(_TITLE, body, (label, *paused))])
    if said.error:
        raise CannotGoOn(f"the dashboard issue could not be opened: {said.error}")
    made = _made(said.number, said.node_id, body, (label, *paused), seen)
    if not rehearsal and _another_was_first(github, made, seen):
        return seen
    github.write(handed_over([*_newest(seen), *conducts.spare], said.number))
    newest = Dashboard(made, state)
    return replace(
        seen,
        state=state if seen.state is not None else None,
        dashboard=made,
        conducts=replace(conducts, newest=newest, spare=(), former=None),
        pause=replace(seen.pause, restore=False, taken=None),
    )


def handed_over(issues: list[Issue], successor: int) -> list[Change]:
    """Close dashboards of ours whose place another has taken: a link to it is left, and no memory that could be read again.

    Also of those that people closed: with the later one lost, an old memory would say that nothing is paused.
    """
    changes: list[Change] = []
    for issue in issues:
        changes.append(EditIssue(issue.node_id, moved_dashboard(successor)))
        changes += [CloseIssue(issue.node_id)] if issue.is_open else []
    return changes


def _state(seen: Observation) -> State:
    before, now = seen.state, seen.snapshot.now
    return replace(
        # Should this tick die now, the next one must still look at what the first look at a repository looks at.
        before or State(now - FIRST_WINDOW, orders_after=now),
        conductor=seen.conducts.viewer.id,
        generation=before.generation + 1 if before is not None else 0,
        pause=seen.pause.pause,
        unpaused_at=seen.pause.unpaused_at,
        paused_for="",
    )


def _newest(seen: Observation) -> tuple[Issue, ...]:
    return (seen.conducts.newest.issue,) if seen.conducts.newest is not None else ()


def _made(number: int, node_id: str, body: str, labels: tuple[str, ...], seen: Observation) -> Issue:
    """The issue that was just opened, as the next look will show it."""
    return Issue(
        number,
        node_id,
        _TITLE,
        body,
        seen.conducts.viewer,
        is_open=True,
        state_reason=None,
        labels=labels,
        created_at=seen.view.at,
        updated_at=seen.view.at,
    )


def _another_was_first(github: GitHub, made: Issue, seen: Observation) -> bool:
    """Look once more: of two that began at the same moment the later gives way. True if it is another tick of our own account.

    Raises NotTheConductor if it is another account.
    """
    config, viewer = seen.snapshot.config, seen.conducts.viewer
    found = github.labelled(config.label("dashboard"))
    there = [issue for issue in found if issue.number != made.number]
    again = who_conducts([*there, made], (), viewer, config)
    newest = again.open_dashboard
    if newest is not None and newest.number == made.number:
        return False
    github.write(handed_over([made], newest.number if newest is not None else 0))
    if again.refusal or again.unclear:
        raise NotTheConductor(again.refusal or again.unclear)
    return True
