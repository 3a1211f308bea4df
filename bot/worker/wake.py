"""`cf wake`: start the conductor. Nothing that the default token does starts a workflow by itself, except a dispatch."""

from bot.github.port import Writer
from bot.model.config import CONDUCTOR_WORKFLOW


def wake(github: Writer, default_branch: str) -> int:
    """Dispatch the conductor on the default branch; its run id, or 0 if GitHub does not tell. Raises what `dispatch` raises."""
    return github.dispatch(CONDUCTOR_WORKFLOW, default_branch, {})
