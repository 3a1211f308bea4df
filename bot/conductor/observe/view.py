"""The first look: the view under the configured prefix, the configuration in force, and who conducts."""

from datetime import datetime, timedelta

from msgspec import Struct
from msgspec.structs import replace

from bot.conductor.observe.checkboxes import Boxes
from bot.conductor.observe.lost_records import CLOCKS
from bot.github.port import Reader
from bot.model.config import Config
from bot.model.errors import NotFound, UsageError
from bot.model.issue import Comment, Issue
from bot.model.snapshot import Snapshot
from bot.model.view import View
from bot.notation.config import guess_prefix, read_config
from bot.notation.state import State, read_state
from bot.plan.facts.pause import Standing
from bot.plan.facts.who_conducts import NOBODY, Conducts, may_be_outdated, who_conducts

DEFAULT_PREFIX = "cf"


_DONE_WINDOW = timedelta(days=1)  # closed tasks labelled done; the index of records finds older ones


FIRST_WINDOW = timedelta(days=1)  # a first tick may have died before it made the dashboard


class Observation(Struct, frozen=True):
    """A snapshot, and what acting needs beside it. `state` is None on the first tick ever.

    `misconfigured`: the configuration cannot be read, so its prefix is at best guessed. `dashboard` is the open one that counts,
    `pause` how the repository's pause stands once the boxes were obeyed. `doubles` are comments of ours that say again what an
    earlier one says, with that one.
    """

    view: View
    snapshot: Snapshot
    state: State | None
    dashboard: Issue | None
    latest_comment: datetime | None
    misconfigured: bool = False
    boxes: Boxes | None = None
    conducts: Conducts = Conducts(NOBODY, None, frozenset())
    pause: Standing = Standing()
    doubles: tuple[tuple[Comment, Comment], ...] = ()


class Look(Struct, frozen=True):
    """The view with what it says about itself: the configuration in force, what is wrong with the file, who conducts, and the state
    of the dashboard that counts.
    """

    view: View
    config: Config
    problem: str
    conducts: Conducts
    state: State | None


def read_view(github: Reader, now: datetime, also: tuple[int, ...], watched: tuple[str, ...] = ()) -> Look:
    """The view under the configured prefix; the prefix is known only once the configuration was read."""
    look = _judge(github, github.view(DEFAULT_PREFIX, now - _DONE_WINDOW, also, watched), DEFAULT_PREFIX)
    if look.config.prefix == DEFAULT_PREFIX:
        return look
    prefix = look.config.prefix
    return _judge(github, github.view(prefix, now - _DONE_WINDOW, also, watched), prefix)


def _judge(github: Reader, view: View, prefix: str) -> Look:
    config, problem = _config_of(github, view, prefix)
    conducts = who_conducts_in(github, view, config, searched=config.prefix == prefix)
    if problem and not config.blob and (person := _person_with_state(conducts)):
        # No dashboard that counts without the file leads to the last one that was valid.
        words = f"{problem}; until that is mended nobody can know whether {person} conducts, as a state of that account says"
        conducts = replace(conducts, unclear=words)
    state = conducts.state
    if state is not None and state.comments_since > view.at + CLOCKS:
        # Somebody edited it: with a cursor that lies in the future no comment would ever be read again.
        state = replace(state, comments_since=view.at - FIRST_WINDOW)
    return Look(view, config, problem, conducts, state)


def who_conducts_in(github: Reader, view: View, config: Config, *, searched: bool = True) -> Conducts:
    """Who conducts, told from a view under the configured prefix.

    Closed dashboards are read only where one of them may count; an idle tick of the conductor asks nothing.
    """
    label = config.label("dashboard")
    labelled = [issue for issue in view.issues if issue.has_label(label) and not issue.is_pull]
    tasks = [issue for issue in view.issues if not issue.has_label(label)]
    conducts = who_conducts(labelled, tasks, view.viewer, config)
    if not searched or not may_be_outdated(conducts):
        return conducts
    known = {issue.number for issue in labelled}
    closed = [issue for issue in github.labelled(label, closed=True) if issue.number not in known]
    return who_conducts([*labelled, *closed], tasks, view.viewer, config) if closed else conducts


def _config_of(github: Reader, view: View, prefix: str) -> tuple[Config, str]:
    """The configuration in force. An invalid file stops new starts; everything else goes on by the last valid one."""
    try:
        return read_config(view.config_text, view.config_blob), ""
    except UsageError as error:
        state = _any_state(view, prefix)
        prefix = prefix if state is not None else guess_prefix(view.config_text or "") or prefix
        return _last_valid(github, state, prefix), f"the configuration is invalid: {error}"


def _any_state(view: View, prefix: str) -> State | None:
    """A state that names the last valid configuration: the file that says whose state counts cannot be read just now.

    Only Apps and the account of our own token are asked, and what the name leads to is a file of the repository's own.
    """
    label = f"{prefix}:dashboard"
    boards = (issue for issue in view.issues if issue.is_open and issue.has_label(label))
    trusted = sorted(
        (issue for issue in boards if issue.author.is_bot or issue.author.id == view.viewer.id),
        key=lambda issue: (issue.author.id != view.viewer.id, issue.number),
    )
    states = (read_state(issue, {issue.author.id}) for issue in trusted)
    return next((state for state in states if state is not None), None)


def _person_with_state(conducts: Conducts) -> str:
    """A person's account with something like a dashboard, which only the configuration could make one."""
    found = (issue.author for issue in conducts.ignored if read_state(issue, {issue.author.id}) is not None)
    return next((author.login for author in found if not author.is_bot), "")


def _last_valid(github: Reader, state: State | None, prefix: str) -> Config:
    if state is None or not state.config_blob:
        return Config(prefix=prefix)
    try:
        return read_config(github.file(state.config_blob), state.config_blob)
    except (NotFound, UsageError):
        return Config(prefix=prefix)
