"""The one look at the repository: rounds of one GraphQL document each, until every list has given its last page.

All lists and the numbered issues share each round, so a hundred tracked issues cost one request. A round that GitHub cannot
finish is asked again with smaller pages, and the size that worked is kept for as long as the reader lives.
"""

import logging
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from msgspec import Struct

from bot.github import decode, documents
from bot.github.faults import Busy, Lost, clean, forbidden, where
from bot.github.session import Reply, Session, check_progress
from bot.model.batch import BatchState
from bot.model.config import CONFIG_PATH
from bot.model.errors import CannotGoOn, NotFound, TryLater
from bot.model.issue import Issue
from bot.model.run import Job
from bot.model.status import Status
from bot.model.view import Label, Repository, View

_log = logging.getLogger(__name__)

_SIZES = (100, 50, 25, 10)
# Lists of which there are seldom many: what each asks for on its first page, since every hundred asked for costs points.
_FEW = {"own": 10, "closed": 10, "done": 10}
_EDGE_FIELDS = ("blockedBy", "issueDependenciesSummary", "subIssues")  # and subIssuesSummary
_NUMBERS = 50  # issues asked for by number in one document
_BATCH_STATES = tuple(f"batch/{state}" for state in BatchState)
_OTHER_LABELS = ("dashboard", "batch", *_BATCH_STATES, "pause", "shared-fix", "regression", "spec")
_OPEN_ONLY = ("dashboard", "batch")
_UNSETTLED = (
    *(Status.BACKLOG, Status.READY, Status.IN_PROGRESS, Status.BLOCKED, Status.FAILED),
    *(f"batch/{state}" for state in BatchState if not state.ended),
)
_READ = "reading needs the permissions contents: read, issues: read and pull-requests: read"


class _List(Struct):
    """How far one list is read."""

    name: str
    labels: tuple[str, ...]
    after: str | None = None
    done: bool = False


class Snapshots:
    """Reads views and single issues. Remembers the page size that works and whether the server knows native edges."""

    def __init__(self, session: Session, config_path: str = CONFIG_PATH) -> None:
        self._session = session
        self._config = f"HEAD:{config_path}"
        self._size = 0
        self._edges = True

    def view(
        self, prefix: str, changed_since: datetime | None, also: Sequence[int], watched: Sequence[str] = ()
    ) -> View:
        """See `Reader.view`. A configuration that GraphQL does not give whole has its blob and no text."""
        lists = [
            _List("open", tuple(f"{prefix}:{name}" for name in Status)),
            # Apart, so that our own issues never push the hundredth task onto a second page.
            _List("own", tuple(f"{prefix}:{name}" for name in _OPEN_ONLY)),
            _List("closed", tuple(f"{prefix}:{name}" for name in _UNSETTLED)),
            _List("done", (f"{prefix}:{Status.DONE}",)),
        ]
        names = tuple(f"{prefix}:{name}" for name in (*Status, *_OTHER_LABELS))
        numbers = _there(also)
        issues: dict[int, Issue] = {}
        runs = list(dict.fromkeys(run for run in watched if run))[: documents.MOST_WATCHED]
        first = self._round(lists, numbers, names, changed_since, facts=True, watched=runs)
        self._take(first, lists, issues)
        while numbers or any(not one.done for one in lists):
            self._take(self._round(lists, numbers, (), changed_since, facts=False), lists, issues)
        return self._assemble(first, names, issues)

    def issue(self, number: int) -> Issue:
        """One issue, fresh. Raises NotFound."""
        there = _there([number])
        found = self._round([], there, (), None, facts=False).data["repository"] if there else {}
        node = found.get(f"n{number}")
        if node is None:
            raise NotFound(
                f"issue {number} does not exist in {self._session.repository}, or the token may not see it"
            )
        return decode.issue(node)

    def issues(self, numbers: Sequence[int]) -> dict[int, Issue]:
        """Many, fresh; those that do not exist or are pull requests are left out."""
        wanted = _there(numbers)
        found: dict[int, Issue] = {}
        while wanted:
            self._take(self._round([], wanted, (), None, facts=False), [], found)
        return {number: issue for number, issue in found.items() if not issue.is_pull}

    def labelled(self, label: str, *, closed: bool) -> tuple[Issue, ...]:
        """See `Reader.labelled`."""
        listed = _List("closed" if closed else "open", (label,))
        found: dict[int, Issue] = {}
        while not listed.done:
            self._take(self._round([listed], [], (), None, facts=False), [listed], found)
        return tuple(found[number] for number in sorted(found))

    def _round(
        self,
        lists: Sequence[_List],
        numbers: list[int],
        names: Sequence[str],
        since: datetime | None,
        *,
        facts: bool,
        watched: Sequence[str] = (),
    ) -> Reply:
        """One document, asked again with smaller pages if it is too much, and without edges if the server knows none.

        What is asked of `numbers` is taken from them.
        """
        lists = [one for one in lists if not one.done]
        while True:
            asked = numbers[: min(_NUMBERS, self._page())]
            large = bool(lists) or len(asked) > 1
            document = documents.view(
                [one.name for one in lists],
                asked,
                len(names),
                facts=facts,
                since=since is not None,
                edges=self._edges,
                watched=bool(watched),
            )
            variables = {
                "owner": self._session.owner,
                "name": self._session.name,
                **_variables(lists, self._page(), facts),
            }
            if facts:
                variables["config"] = self._config
            variables |= {f"label_{i}": name for i, name in enumerate(names)}
            variables |= {"runs": list(watched)} if watched else {}
            if since is not None and any(one.name == "done" for one in lists):
                variables["since"] = since.astimezone(UTC).isoformat(timespec="seconds")
            try:
                reply = self._session.query(
                    document, variables, f"reading {self._session.repository}", large=large
                )
            except (Busy, Lost):
                if not large or self._size + 1 == len(_SIZES):
                    raise
                self._size += 1
                continue
            if self._edges and any(_edges_unknown(error) for error in reply.errors):
                self._edges = False
                continue
            self._check(reply)
            del numbers[: len(asked)]
            return reply

    def _page(self) -> int:
        return _SIZES[self._size]

    def _check(self, reply: Reply) -> None:
        """Raise unless everything that decides is there: an empty answer must never look like an empty repository.

        What is not told of watched runs is not known, and is asked for in another way.
        """
        repository = reply.data.get("repository")
        for error in reply.errors:
            path = where(error)
            if path[:1] == ("watched",) or (repository is not None and _bearable(error, path)):
                _log.info("GitHub left out %s: %s", _spell(path), clean(error.get("message")))
                continue
            place = _spell(path) or "the whole answer"
            said = clean(error.get("message"))
            if forbidden(error) or error.get("type") == "NOT_FOUND":
                raise CannotGoOn(f"cannot read {place} of {self._session.repository}: {said}; {_READ}")
            raise TryLater(f"cannot read {place} of {self._session.repository} now: {said}")
        if repository is None:
            raise CannotGoOn(f"GitHub shows nothing of {self._session.repository}; {_READ}")

    def _take(self, reply: Reply, lists: Iterable[_List], issues: dict[int, Issue]) -> None:
        repository = reply.data["repository"]
        for one in lists:
            if one.done:
                continue
            found = repository.get(one.name)
            if found is None or not all(found["nodes"]):
                raise TryLater(
                    f"GitHub's answer lacks the list of {one.name} issues of {self._session.repository}"
                )
            page = found["pageInfo"]
            check_progress(not page["hasNextPage"] or page["endCursor"] != one.after)
            one.after, one.done = page["endCursor"], not page["hasNextPage"]
            for node in decode.nodes(repository, one.name):
                issues[int(node["number"])] = decode.issue(node)
        for node in decode.nodes(repository, "pulls"):
            issues.setdefault(int(node["number"]), decode.issue(node))
        for alias, node in repository.items():
            if node and alias[0] == "n" and alias[1:].isdecimal():
                issues.setdefault(int(node["number"]), decode.issue(node))

    def _assemble(self, reply: Reply, names: Sequence[str], issues: Mapping[int, Issue]) -> View:
        found = reply.data["repository"]
        viewer = decode.account(reply.data.get("viewer"))
        if not viewer.id:
            raise CannotGoOn(
                "GitHub does not say whose token this is, so our own comments cannot be told from others"
            )
        config = found.get("config") or {}
        whole = bool(config) and not config.get("isBinary") and not config.get("isTruncated")
        labels = (found.get(f"label_{i}") for i in range(len(names)))
        return View(
            repository=Repository(
                full_name=found["nameWithOwner"],
                node_id=found["id"],
                default_branch=(found.get("defaultBranchRef") or {}).get("name") or "",
                private=bool(found["isPrivate"]),
                archived=bool(found["isArchived"]),
                has_issues=bool(found["hasIssuesEnabled"]),
                server=found["url"].rsplit("/", 2)[0],
            ),
            viewer=viewer,
            issues=tuple(issues[number] for number in sorted(issues)),
            labels=tuple(Label(label["id"], label["name"]) for label in labels if label),
            config_text=config.get("text") if whole else None,
            config_blob=config.get("oid") or "",
            at=reply.at,
            at_work=dict(_at_work(reply)),
        )


def _at_work(reply: Reply) -> Iterator[tuple[str, tuple[Job, ...]]]:
    """What is told of the watched runs, each with all its jobs; one of which GitHub keeps something back is left out."""
    for node in reply.data.get("watched") or ():
        runs = ((node or {}).get("checkSuite") or {}).get("checkRuns") or {}
        found = runs.get("nodes")
        if found is not None and all(found) and not runs["pageInfo"]["hasNextPage"]:
            yield str(node["id"]), tuple(map(decode.check_run, found))


def _there(numbers: Iterable[int]) -> list[int]:
    """Each number once that an issue can have; any other would spoil the whole request."""
    return list(dict.fromkeys(number for number in numbers if 0 < number <= documents.MOST_NUMBER))


def _variables(lists: Iterable[_List], size: int, facts: bool) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for one in lists:
        values[f"{one.name}_labels"] = list(one.labels)
        values[f"{one.name}_after"] = one.after
        values[f"{one.name}_size"] = min(size, _FEW.get(one.name, size)) if facts else size
    return values


def _edges_unknown(error: Mapping[str, Any]) -> bool:
    """GitHub's complaint about a field that this server's schema does not have."""
    extensions = error.get("extensions") or {}
    said = str(error.get("message") or "")
    named = str(extensions.get("fieldName") or "") or said
    undefined = extensions.get("code") == "undefinedField" or "doesn't exist on type" in said
    return undefined and any(field in named for field in _EDGE_FIELDS)


def _bearable(error: Mapping[str, Any], path: tuple[str | int, ...]) -> bool:
    """Whether the rest may be used: a hidden node of a list, an issue number that is not there, a missing actor or closer."""
    if not path:
        return False
    last = str(path[-1])
    if last[0] == "n" and last[1:].isdecimal():
        return error.get("type") == "NOT_FOUND"
    if isinstance(path[-1], int):
        # A hidden blocker is counted by the summary, a hidden pull request closes nothing; a hidden task is no such detail.
        return len(path) > 1 and path[-2] == "nodes" and len(path) > 4
    return last in (
        "author",
        "editor",
        "actor",
        "closer",
        "label",
        "mergeable",
        "mergeStateStatus",
        "pullRequest",
        "latestOpinionatedReviews",
        "repository",
    ) and (len(path) > 2)


def _spell(path: Iterable[str | int]) -> str:
    return ".".join(str(part) for part in path)
