"""The first look: the view under the configured prefix, the configuration in force, and our dashboards."""

from datetime import datetime, timedelta

from msgspec import Struct
from msgspec.structs import replace

from bot.conductor.observe.checkboxes import Boxes
from bot.conductor.observe.lost_records import CLOCKS
from bot.github.port import Reader
from bot.model.config import Config
from bot.model.errors import NotFound, UsageError
from bot.model.issue import Issue
from bot.model.snapshot import Snapshot
from bot.model.view import View
from bot.notation.config import guess_prefix, read_config
from bot.notation.state import State, read_state

DEFAULT_PREFIX = "cf"


_DONE_WINDOW = timedelta(days=1)  # closed tasks labelled done; the index of records finds older ones


FIRST_WINDOW = timedelta(days=1)  # a first tick may have died before it made the dashboard


class Observation(Struct, frozen=True):
    """A snapshot, and what acting needs beside it. `state` is None on the first tick ever.

    `misconfigured`: the configuration cannot be read, so its prefix is at best guessed. `spare_dashboards` are younger ones of
    ours beside `dashboard`.
    """

    view: View
    snapshot: Snapshot
    state: State | None
    dashboard: Issue | None
    latest_comment: datetime | None
    misconfigured: bool = False
    spare_dashboards: tuple[Issue, ...] = ()
    boxes: Boxes | None = None


def read_view(
    github: Reader, now: datetime, also: tuple[int, ...], watched: tuple[str, ...] = ()
) -> tuple[View, Config, str, State | None, Issue | None]:
    """The view under the configured prefix; the prefix is known only once the configuration was read."""
    view = github.view(DEFAULT_PREFIX, now - _DONE_WINDOW, also, watched)
    config, problem, state, dashboard = _judge_config(github, view, DEFAULT_PREFIX)
    if config.prefix != DEFAULT_PREFIX:
        view = github.view(config.prefix, now - _DONE_WINDOW, also, watched)
        config, problem, state, dashboard = _judge_config(github, view, config.prefix)
    return view, config, problem, state, dashboard


def _judge_config(github: Reader, view: View, prefix: str) -> tuple[Config, str, State | None, Issue | None]:
    """The configuration in force. An invalid file stops new starts; everything else goes on by the last valid one."""
    dashboard = next(iter(open_dashboards(view, prefix)), None)
    state = read_state(dashboard, {view.viewer.id}) if dashboard else None
    if state is not None and state.comments_since > view.at + CLOCKS:
        # Somebody edited it: with a cursor that lies in the future no comment would ever be read again.
        state = replace(state, comments_since=view.at - FIRST_WINDOW)
    try:
        return read_config(view.config_text, view.config_blob), "", state, dashboard
    except UsageError as error:
        prefix = prefix if dashboard else guess_prefix(view.config_text or "") or prefix
        return _last_valid(github, state, prefix), f"the configuration is invalid: {error}", state, dashboard


def _last_valid(github: Reader, state: State | None, prefix: str) -> Config:
    if state is None or not state.config_blob:
        return Config(prefix=prefix)
    try:
        return read_config(github.file(state.config_blob), state.config_blob)
    except (NotFound, UsageError):
        return Config(prefix=prefix)


def open_dashboards(view: View, prefix: str) -> tuple[Issue, ...]:
    """Our own open dashboard issues, oldest first; two first ticks at once make two, and the oldest counts."""
    ours = [
        issue
        for issue in view.issues
        if issue.is_open and issue.has_label(f"{prefix}:dashboard") and issue.author.id == view.viewer.id
    ]
    return tuple(sorted(ours, key=lambda issue: issue.number))
