"""`cf wake`: start the conductor. Nothing that the default token does starts a workflow by itself, except a dispatch."""

from typing import Protocol

from bot.github.port import Writer
from bot.model.config import CONDUCTOR_WORKFLOW
from bot.model.errors import BotError
from bot.notation.config import read_config


def wake(github: Writer, default_branch: str) -> int:
    """Dispatch the conductor on the default branch; its run id, or 0 if GitHub does not tell. Raises what `dispatch` raises."""
    return github.dispatch(CONDUCTOR_WORKFLOW, default_branch, {})


class Files(Protocol):
    """Reads a file of the default branch."""

    def text_at(self, path: str) -> str | None:
        """Its text; None if it is not there."""
        ...


def conducts_itself(github: Files, path: str) -> str:
    """The person's account that conducts, whose program looks by itself and whom no workflow can stand in for; else empty.

    What cannot be read is taken for "nobody": waking in vain costs a short run, which asks again who conducts.
    """
    try:
        conductor = read_config(github.text_at(path)).conductor
    except BotError:
        return ""
    return "" if conductor.endswith("[bot]") else conductor
