"""A make-believe GitHub: the state and the rules of one repository, with no socket, no wall clock and no dice of its own."""

from bot.sandbox.world.accounts import BOT, Token
from bot.sandbox.world.actions import Engine, WorldRun
from bot.sandbox.world.bare_git import BareGit
from bot.sandbox.world.engines import ManualEngine
from bot.sandbox.world.errors import ApiError, UnknownToTheSandbox
from bot.sandbox.world.faults import Disconnected, Fault
from bot.sandbox.world.git import Git, MemoryGit, MergeConflict
from bot.sandbox.world.state import (
    ArtifactState,
    CommentState,
    EventState,
    IssueState,
    JobState,
    LabelState,
    PullState,
)
from bot.sandbox.world.world import NOON, World

__all__ = [
    "BOT",
    "NOON",
    "ApiError",
    "ArtifactState",
    "BareGit",
    "CommentState",
    "Disconnected",
    "Engine",
    "EventState",
    "Fault",
    "Git",
    "IssueState",
    "JobState",
    "LabelState",
    "ManualEngine",
    "MemoryGit",
    "MergeConflict",
    "PullState",
    "Token",
    "UnknownToTheSandbox",
    "World",
    "WorldRun",
]
