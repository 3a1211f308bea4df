"""Mutations, many in one document by alias, sent until each is done, refused, or given up by itself.

GitHub gives up a document that is too much for it: by an error, by a 502, or by silence, and the same document will be given up
again. Some of it may have been carried out (see `Unfinished` in the sandbox for the sources). So the next document is half as
large, and the size that works is kept. What is harmless twice is sent twice; before something is made again, GitHub is asked
whether it was made.
"""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from msgspec import Struct, field

from bot.github import decode, documents
from bot.github.faults import Busy, Lost, clean, forbidden, unfinished, where
from bot.github.session import Reply, Session
from bot.model.change import (
    AddLabel,
    Change,
    CloseIssue,
    CreateComment,
    CreateIssue,
    EditComment,
    EditIssue,
    React,
    RemoveLabel,
    ReopenIssue,
    Written,
)
from bot.model.errors import CannotGoOn, TryLater

MAX_CHANGES = 40
MAX_BYTES = (
    400_000  # of text in one document; GitHub names no limit, this is far below what it is seen to take
)
ENDS_AFTER = 10.0
"""Seconds after which GitHub ends a request. Source: docs.github.com, "Rate limits and query limits for the GraphQL API"."""

_NEWEST_ISSUES = 50
_SUBJECTS = 50
_KEPT = timedelta(hours=1)  # a bad day of GitHub's is over by then, and a document in vain costs seconds

_ISSUE = "{ id fullDatabaseId number }"
_LABELABLE = f"labelable {{ ... on Issue {_ISSUE} ... on PullRequest {_ISSUE} }}"
_COMMENT = "{ id fullDatabaseId body issue { number } }"
_MUTATIONS = {
    AddLabel: ("addLabelsToLabelable", "AddLabelsToLabelableInput", _LABELABLE),
    RemoveLabel: ("removeLabelsFromLabelable", "RemoveLabelsFromLabelableInput", _LABELABLE),
    CreateComment: ("addComment", "AddCommentInput", f"commentEdge {{ node {_COMMENT} }}"),
    EditComment: ("updateIssueComment", "UpdateIssueCommentInput", f"issueComment {_COMMENT}"),
    CloseIssue: ("closeIssue", "CloseIssueInput", f"issue {_ISSUE}"),
    ReopenIssue: ("reopenIssue", "ReopenIssueInput", f"issue {_ISSUE}"),
    CreateIssue: ("createIssue", "CreateIssueInput", f"issue {_ISSUE}"),
    EditIssue: ("updateIssue", "UpdateIssueInput", "issue { id fullDatabaseId number body }"),
    React: ("addReaction", "AddReactionInput", "subject { id }"),
}


class Ready(Struct, frozen=True):
    """One change with its input; `place` is where it stands among all."""

    place: int
    change: Change
    sent: dict[str, Any]

    @property
    def makes(self) -> bool:
        """Whether it makes something new, so that sending it twice makes two."""
        return isinstance(self.change, CreateComment | CreateIssue)


class _Told(Struct):
    """What one document came to: answers by place, and why the others have none. `silence` is set where GitHub said nothing."""

    answers: dict[int, Written] = field(default_factory=dict)
    trouble: str = ""
    silence: TryLater | None = None


class _Size:
    """How many changes a document may hold: half as many after each that was not finished, until an hour has passed."""

    def __init__(self) -> None:
        self.most = MAX_CHANGES
        self._finished = 0  # the largest document that was finished since one was not
        self._before = MAX_CHANGES
        self._shrunk_at: datetime | None = None

    def begin(self, now: datetime) -> None:
        """Some changes are about to be sent."""
        if self._shrunk_at is not None and now - self._shrunk_at >= _KEPT:
            self.most, self._finished, self._shrunk_at = MAX_CHANGES, 0, None
        self._before = self.most

    def worked(self, size: int) -> None:
        self._finished = max(self._finished, size)

    def halve(self, size: int, now: datetime) -> None:
        """A document of this size was not finished."""
        self.most, self._finished, self._shrunk_at = size // 2, 0, now

    def alone(self) -> None:
        """A change was not finished by itself either, so it was not the size, or not the size alone."""
        self.most = max(self.most, self._finished)

    def forget(self) -> None:
        """GitHub is down: that says nothing about sizes."""
        self.most = self._before


class Sender:
    """Sends for one session, and remembers how large a document may be and what it made."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._size = _Size()
        self._made: set[str] = set()

    def send(self, ready: Sequence[Ready]) -> dict[int, Written]:
        """An answer by place for each. Raises what `Session.mutate` does, and TryLater where GitHub does not answer at all."""
        size = self._size
        size.begin(self._session.heard_at)
        answers: dict[int, Written] = {}
        waiting = list(ready)
        silent: list[int] = []  # single changes that came to nothing without a word
        while waiting:
            chunk = next(_chunks(waiting, size.most))
            told = self._try(chunk)
            answers |= told.answers
            waiting = [one for one in waiting if one.place not in told.answers]
            if not told.trouble:
                size.worked(len(chunk))
            elif len(chunk) > 1:
                size.halve(len(chunk), self._session.heard_at)
            elif (place := chunk[0].place) not in told.answers:
                silent += [place] if told.silence else []
                if told.silence and len({*silent}) > 1:
                    size.forget()
                    raise told.silence
                if told.silence and silent.count(place) == 1:
                    continue  # a passing trouble: it is known by now that it was not done
                waiting = waiting[1:]
                answers[place] = Written(error=f"GitHub does not finish this: {told.trouble}")
                size.alone()
        return answers

    def _try(self, chunk: Sequence[Ready]) -> _Told:
        since = self._session.heard_at
        try:
            reply = self._session.mutate(
                document([one.change for one in chunk]),
                {f"c{i}": one.sent for i, one in enumerate(chunk)},
                f"writing to {self._session.repository}",
                parts=True,
            )
        except (Busy, Lost) as error:
            told = _Told(trouble=str(error), silence=error)
            self._session.pause(ENDS_AFTER)  # until then it may still be at work
        else:
            told = _judge(self._session.repository, chunk, reply)
        made = [one for one in chunk if one.makes and one.place not in told.answers]
        if told.silence or (told.trouble and made):
            self._recognise(made, since, told)
        self._made |= {said.node_id for said in told.answers.values() if said.node_id}
        return told

    def _recognise(self, unknown: Sequence[Ready], since: datetime, told: _Told) -> None:
        """Answer those that were made after all: what stands there since then in our name, word by word, was not there before.

        Raises TryLater if that cannot be read: then GitHub is down.
        """
        found = self._newest(unknown, since)
        for one in unknown:
            same = next(
                (made for made in found if made.is_of(one) and made.written.node_id not in self._made), None
            )
            if same is not None:
                told.answers[one.place] = same.written
                self._made.add(same.written.node_id)

    def _newest(self, unknown: Sequence[Ready], since: datetime) -> list["_Made"]:
        subjects = list(
            dict.fromkeys(one.sent.get("subjectId", "") for one in unknown if "subjectId" in one.sent)
        )
        issues = _NEWEST_ISSUES if any("title" in one.sent for one in unknown) else 1
        found: list[_Made] = []
        for start in range(0, max(1, len(subjects)), _SUBJECTS):
            asked = {"owner": self._session.owner, "name": self._session.name, "issues": issues}
            reply = self._session.query(
                documents.MADE,
                {**asked, "ids": subjects[start : start + _SUBJECTS]},
                f"looking for what was written to {self._session.repository}",
            )
            found += _made(reply, since)
        return sorted(found, key=lambda made: made.written.id)


class _Made(Struct, frozen=True):
    """A comment (of `subject`) or an issue (with a title) of ours."""

    written: Written
    body: str
    subject: str = ""
    title: str = ""

    def is_of(self, one: Ready) -> bool:
        place = (one.sent.get("subjectId", ""), one.sent.get("title", ""))
        return place == (self.subject, self.title) and _same(one.sent["body"], self.body)


def _made(reply: Reply, since: datetime) -> Iterator[_Made]:
    """What the viewer has made since then. Raises TryLater where GitHub leaves out a part: it may hold what is looked for."""
    repository, viewer = reply.data.get("repository"), decode.account(reply.data.get("viewer"))
    hidden = [error for error in reply.errors if error.get("type") != "NOT_FOUND"]
    if hidden or not repository or not viewer.id:
        said = clean(hidden[0].get("message")) if hidden else "no words"
        raise TryLater(f"cannot read what was written just now: {said}")
    oldest = since - timedelta(seconds=1)
    for subject in reply.data.get("nodes") or ():
        for node in decode.nodes(subject or {}, "comments"):
            comment = decode.comment(node)
            if comment.author.id == viewer.id and comment.created_at >= oldest:
                written = Written(node_id=comment.node_id, id=comment.id, number=comment.issue)
                yield _Made(written, comment.body, subject=subject["id"])
    for node in decode.nodes(repository, "issues"):
        if decode.account(node.get("author")).id == viewer.id and decode.time(node["createdAt"]) >= oldest:
            number, node_id = int(node["number"]), node["id"]
            written = Written(node_id=node_id, id=int(node["fullDatabaseId"] or 0), number=number)
            yield _Made(written, node.get("body") or "", title=node.get("title") or "")


def document(changes: Sequence[Change]) -> str:
    """The mutation for these changes: alias and variable `c<i>` each."""
    parts = [(i, *_MUTATIONS[type(change)]) for i, change in enumerate(changes)]
    declared = ", ".join(f"$c{i}: {kind}!" for i, _, kind, _ in parts)
    body = "\n".join(f"  c{i}: {name}(input: $c{i}) {{ {fields} }}" for i, name, _, fields in parts)
    return f"mutation Write({declared}) {{\n{body}\n}}"


def _chunks(ready: Sequence[Ready], most: int) -> Iterator[list[Ready]]:
    chunk: list[Ready] = []
    size = 0
    for one in ready:
        weight = sum(len(value.encode()) for value in one.sent.values() if isinstance(value, str))
        if chunk and (len(chunk) == most or size + weight > MAX_BYTES):
            yield chunk
            chunk, size = [], 0
        chunk.append(one)
        size += weight
    if chunk:
        yield chunk


def _judge(repository: str, chunk: Sequence[Ready], reply: Reply) -> _Told:
    """What the answer to a document says of each of its changes. Raises CannotGoOn where the token may write nothing."""
    given_up = [error for error in reply.errors if unfinished(error)]
    refused = [error for error in reply.errors if not unfinished(error)]
    if refused and not given_up and not any(reply.data.values()) and all(map(forbidden, refused)):
        said = clean(refused[0].get("message"))
        raise CannotGoOn(
            f"the token may not write to {repository} ({said}); it needs the permission issues: write"
        )
    told = _Told(trouble=clean(given_up[0].get("message")) or "no words" if given_up else "")
    unsure = {where(error)[0] for error in given_up if where(error)}
    refusals = {where(error)[0]: clean(error.get("message")) for error in refused if where(error)}
    void = next((clean(error.get("message")) for error in refused if not where(error)), "")
    for i, one in enumerate(chunk):
        alias = f"c{i}"
        answer = reply.data.get(alias)
        if answer is not None and alias not in unsure:
            told.answers[one.place] = _written(one.change, one.sent, answer)
        elif alias in refusals or not given_up:
            said = refusals.get(alias) or void or "GitHub did not say what became of it"
            gone = isinstance(one.change, RemoveLabel) and str(one.sent["labelIds"][0]) in said
            told.answers[one.place] = Written() if gone else Written(error=said)
    return told


def _written(change: Change, sent: Mapping[str, Any], answer: Mapping[str, Any]) -> Written:
    edge = answer.get("commentEdge") or {}
    kinds = ("issueComment", "issue", "labelable", "subject")
    node = next((answer[kind] for kind in kinds if answer.get(kind)), edge.get("node") or {})
    if isinstance(change, EditComment | EditIssue) and not _same(sent["body"], str(node.get("body"))):
        return Written(error="GitHub accepted the new text and did not store it")
    return Written(
        node_id=node.get("id") or "",
        id=int(node.get("fullDatabaseId") or 0),
        number=int(node.get("number") or (node.get("issue") or {}).get("number") or 0),
    )


def _same(sent: str, stored: str) -> bool:
    """GitHub may store line ends and outer blanks in its own way."""
    return sent.replace("\r\n", "\n").strip() == stored.replace("\r\n", "\n").strip()
