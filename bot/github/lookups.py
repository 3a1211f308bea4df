"""Many small things in one GraphQL request: the state of needs, comments by node id."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from bot.github import decode, documents, rest
from bot.github.faults import clean, where
from bot.github.session import Reply, Session, check_progress, whole
from bot.model.errors import BotError, TryLater
from bot.model.issue import Comment, NeedState
from bot.model.ref import Ref

_REFS = 50
_IDS = 100
_PROBES = (
    10  # references that GraphQL did not find and REST is asked about: moved, deleted, or not ours to see
)


def needs(session: Session, refs: Sequence[Ref]) -> Mapping[Ref, NeedState]:
    """See `Reader.needs`. A lookup that fails for now is UNKNOWN and fails nothing else."""
    wanted = sorted(ref for ref in set(refs) if 0 < ref.number <= documents.MOST_NUMBER)
    found: dict[Ref, NeedState] = dict.fromkeys(refs, NeedState.UNREADABLE)
    for start in range(0, len(wanted), _REFS):
        found |= _needs(session, wanted[start : start + _REFS])
    lost = [ref for ref in wanted if found[ref] is NeedState.UNREADABLE]
    for ref in lost[:_PROBES]:
        try:
            found[ref] = rest.moved_need(session, ref)
        except TryLater:
            found[ref] = NeedState.UNKNOWN
        except BotError:
            found[ref] = NeedState.UNREADABLE
    return found


def comments_by_id(session: Session, node_ids: Sequence[str]) -> Mapping[str, Comment]:
    """See `Reader.comments_by_id`. Raises TryLater if GitHub left some out for another reason than that they are gone."""
    wanted = list(dict.fromkeys(node_ids))
    found: dict[str, Comment] = {}
    for start in range(0, len(wanted), _IDS):
        reply = session.query(documents.COMMENTS, {"ids": wanted[start : start + _IDS]}, "reading comments")
        for error in reply.errors:
            if error.get("type") != "NOT_FOUND":
                raise TryLater(
                    f"cannot read comments of {session.repository} now: {clean(error.get('message'))}"
                )
        comments = (
            decode.comment(node)
            for node in decode.nodes({"all": {"nodes": reply.data.get("nodes")}}, "all")
            if node["__typename"] == "IssueComment"
        )
        found |= {one.node_id: one for one in comments}
    return found


def in_milestone(session: Session, title: str) -> tuple[int, ...]:
    """See `Reader.in_milestone`. GitHub's own filter by title is a search, so titles are compared here once more."""
    named = {"owner": session.owner, "name": session.name}
    place = f"the milestones of {session.repository}"
    reply = whole(session.query(documents.MILESTONES, {**named, "title": title}, f"reading {place}"), place)
    found = _page(reply.data, place, "repository", "milestones")
    titled = [node for node in found["nodes"] if str(node["title"]).casefold() == title.casefold()]
    return tuple(
        sorted({number for node in titled for number in _inside(session, int(node["number"]), place)})
    )


def _inside(session: Session, milestone: int, place: str) -> Iterator[int]:
    """The open issues of one milestone, all pages."""
    after: str | None = None
    while True:
        variables = {"owner": session.owner, "name": session.name, "number": milestone, "after": after}
        reply = whole(session.query(documents.IN_MILESTONE, variables, f"reading {place}"), place)
        found = _page(reply.data, place, "repository", "milestone", "issues")
        yield from (int(node["number"]) for node in found["nodes"])
        page = found["pageInfo"]
        if not page["hasNextPage"]:
            return
        check_progress(page["endCursor"] != after)
        after = page["endCursor"]


def _page(data: Mapping[str, Any], place: str, *names: str) -> Mapping[str, Any]:
    """A page of a list below these names. Raises TryLater where it, or an entry of it, is missing."""
    found: Any = data
    for name in names:
        found = (found or {}).get(name)
    if not found or found.get("nodes") is None or not all(found["nodes"]):
        raise TryLater(f"GitHub's answer lacks {place}; try again later")
    return dict(found)


def _needs(session: Session, refs: Sequence[Ref]) -> dict[Ref, NeedState]:
    groups: dict[str, list[Ref]] = {}
    for ref in refs:
        groups.setdefault(ref.repository, []).append(ref)
    variables: dict[str, Any] = {}
    for i, repository in enumerate(groups):
        variables[f"owner{i}"], _, variables[f"name{i}"] = repository.partition("/")
    document = documents.needs([[ref.number for ref in group] for group in groups.values()])
    try:
        reply = session.query(document, variables, "looking up needs")
    except TryLater:
        return dict.fromkeys(refs, NeedState.UNKNOWN)
    return {
        ref: _state(reply, f"r{i}", f"n{ref.number}")
        for i, group in enumerate(groups.values())
        for ref in group
    }


def _state(reply: Reply, repository: str, number: str) -> NeedState:
    node = (reply.data.get(repository) or {}).get(number)
    if node is not None:
        return decode.need(node)
    for error in reply.errors:
        if where(error) in ((repository,), (repository, number)):
            hidden = error.get("type") in ("NOT_FOUND", "FORBIDDEN")
            return NeedState.UNREADABLE if hidden else NeedState.UNKNOWN
    return NeedState.UNKNOWN
