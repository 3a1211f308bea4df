"""The commands in this tick's comments: which count, and whose they are."""

from collections.abc import Iterator, Mapping

from msgspec import Struct

from bot.model.command import STARTING, Ordered
from bot.model.issue import Comment
from bot.model.snapshot import Permission, Snapshot
from bot.notation.commands import read_commands
from bot.plan.facts.trust import Unknown, is_person, may_order


class CommentCommands(Struct, frozen=True):
    """`given` are commands of people who may order, by issue, oldest first; `refused` one for each comment of other people.

    `wants` are permissions that must be known first: until then their comments are in neither.
    """

    given: Mapping[int, tuple[Ordered, ...]]
    refused: Mapping[int, tuple[Ordered, ...]]
    wants: frozenset[Permission]


def read_comment_commands(snapshot: Snapshot) -> CommentCommands:
    """Every command that was not seen to yet. The author of a comment decides, whoever edited it or caused this tick.

    What bots write holds no command, ours least of all: so no two of them can keep each other busy.
    """
    given: dict[int, tuple[Ordered, ...]] = {}
    refused: dict[int, tuple[Ordered, ...]] = {}
    wants: frozenset[Permission] = frozenset()
    for comment in _new_comments(snapshot):
        found = tuple(
            Ordered(command, comment.author, comment.created_at, comment.id, comment.node_id, comment.edited)
            for command in read_commands(comment.body, snapshot.config.prefix)
            # Of what was edited in only a stop counts; who edits a start is told so, and nothing else is answered again.
            if not comment.edited or command.name == "stop" or command.name in STARTING
        )
        if not found:
            continue
        allowed = may_order(comment.author, snapshot)
        if isinstance(allowed, Unknown):
            wants |= allowed.wants
        elif allowed:
            given[comment.issue] = (*given.get(comment.issue, ()), *found)
        else:
            refused[comment.issue] = (*refused.get(comment.issue, ()), found[0])
    return CommentCommands(given, refused, wants)


def _new_comments(snapshot: Snapshot) -> Iterator[Comment]:
    since = snapshot.orders_after
    for number, comments in snapshot.comments.items():
        if number not in snapshot.tasks and number not in snapshot.others:
            continue
        for comment in comments:
            old = since is not None and comment.created_at < since
            if not old and comment.id not in snapshot.acted and is_person(comment.author, snapshot):
                yield comment
