"""What stands in the way of more than one task: a cause, and how far it reaches."""

from enum import StrEnum

from msgspec import Struct

from bot.model.moment import Moment


class Cause(StrEnum):
    """The kinds of trouble that no single task is to blame for. Only an end without a strike can have one."""

    PERMISSION = "permission"  # the token lacks one that GitHub names
    WORKFLOW = "workflow"  # the worker's workflow is missing or switched off
    POLICY = "policy"  # the Actions policy of repository or organisation
    MINUTES = "minutes"  # no minutes or no money left
    STORAGE = "storage"  # no room for artifacts
    RUNNER = "runner"  # no machine takes the label; `key` is the label
    REGISTRY = "registry"  # packages or actions cannot be fetched
    SETUP = "setup"  # the repository's own commands cannot run; `key` is the digest of what was to run
    PUSH_RULE = "push-rule"  # a rule about commits or branch names refuses every push
    PULLS = "pull-requests"  # Actions may not open pull requests here
    LIMIT = "limit"  # GitHub's own limits
    PROVIDER = "provider"  # the model's provider; `key` is the engine
    MACHINE = (
        "machine"  # runs end without a report, and nothing says why; `key` tells one such end from another
    )


class Met(Struct, frozen=True, omit_defaults=True):
    """A cause as one attempt met it: `key` tells one of its kind from another, `words` are those of who refused, bounded.

    `guessed`: nobody has named it. Then a second task has to meet the same before it counts for all.
    """

    cause: Cause
    key: str = ""
    words: str = ""
    guessed: bool = False


class Obstacle(Struct, frozen=True):
    """A cause that stands. It was met first by attempt `first`, at `since`, and at `last` most recently, by `tasks` in that order.

    `until`: not tried again before; None where nothing of ours has to try it. `everybody`: it holds all that would meet it, not
    only the tasks that did. `engines` are those of the attempts that met it. `probe` is the attempt that tries it just now.
    """

    met: Met
    since: Moment
    last: Moment
    tasks: tuple[int, ...]
    first: str = ""
    until: Moment | None = None
    everybody: bool = True
    engines: tuple[str, ...] = ()
    probe: str = ""
    rounds: int = 1


class Unwritten(Struct, frozen=True, omit_defaults=True):
    """A claim, or a first word on a task, that GitHub would not take: when it was tried last, how often, and what GitHub said.

    `locked` is whether the conversation was locked then, `blob` the configuration's blob.
    """

    at: Moment
    tries: int = 1
    words: str = ""
    locked: bool = False
    blob: str = ""
