"""What we said twice: two conductors that overlap may each write a status comment, or a notice, before they see the other's."""

from collections.abc import Collection, Iterable

from bot.model.issue import Comment
from bot.notation.comments import read_fingerprint
from bot.notation.records import is_record


def doubles_among(
    comments: Iterable[Comment], accounts: Collection[int], kept: Collection[str]
) -> tuple[tuple[Comment, Comment], ...]:
    """Each later comment of ours on one issue that is a second record, or repeats a fingerprint, with the one that stays.

    The oldest stays, unless a record names another (`kept`, node ids): the comment under which a question is answered, say.
    """
    said: dict[tuple[int, str], list[Comment]] = {}
    for comment in {one.node_id: one for one in comments}.values():
        if comment.author.id in accounts and not comment.on_pull and (what := _what(comment.body)):
            said.setdefault((comment.issue, what), []).append(comment)
    found = []
    for same in said.values():
        first = min(same, key=lambda one: (one.node_id not in kept, one.created_at, one.id))
        found += [(one, first) for one in same if one is not first]
    return tuple(sorted(found, key=lambda pair: pair[0].id))


def _what(body: str) -> str:
    """What makes a second comment the same as the first; empty where nothing does."""
    if is_record(body):
        return "record"
    return read_fingerprint(body) or ""
