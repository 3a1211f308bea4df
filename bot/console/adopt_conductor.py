"""`cf adopt --conductor`: an App, or the jobs' own account, takes over what a person's token conducted.

After a hand-over by `identity.also` the person's account stays one of ours, whose orders count for nothing. This moves what it
wrote instead: each record into a status comment of the new account, and the state into a dashboard of its own. Then the person
is one again.
"""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta

from msgspec import Struct
from msgspec.structs import replace

from bot.conductor.act.begin import NotTheConductor, handed_over
from bot.conductor.act.labels import label_names
from bot.conductor.observe.view import who_conducts_in
from bot.github.port import GitHub
from bot.model.change import Change, CreateComment, CreateIssue, EditComment
from bot.model.config import Config
from bot.model.errors import CannotGoOn, UsageError
from bot.model.issue import Account, Comment, Issue
from bot.model.record import Record
from bot.model.view import View
from bot.notation.batches import read_batch
from bot.notation.codec import Unreadable
from bot.notation.comments import doubled
from bot.notation.config import read_config
from bot.notation.marker import without_markers
from bot.notation.overview import plain_dashboard
from bot.notation.records import read_record, write_record
from bot.notation.state import Pause, State, state_in


class _Kept(Struct, frozen=True):
    """One record of the person's: its comment, and that of the new account where an earlier try has written it.

    `spoken` is when the account last said something of ours on the issue, which must not become an answer of the person's.
    """

    comment: Comment
    record: Record
    moved: Comment | None
    spoken: datetime


def take_over(
    github: GitHub, login: str, ever: datetime, now: datetime, *, dry_run: bool = False
) -> list[str]:
    """Move what this person's account wrote to the account of our token; says what was moved. It can be repeated.

    Raises NotTheConductor if that account may not conduct here, UsageError if the person conducted nothing, CannotGoOn if something
    is under way that names the person's comments.
    """
    view, config = _look(github)
    conducts = who_conducts_in(github, view, config)
    if conducts.refusal or conducts.unclear:
        raise NotTheConductor(conducts.refusal or conducts.unclear)
    new = conducts.viewer
    boards = _dashboards(github, config, login)
    comments = github.comments_since(ever)
    kept = list(_records(comments, login, new))
    if not kept and not boards:
        raise UsageError(
            f"{login} conducted nothing here: no dashboard and no status comment is by that account"
        )
    _check_idle(github, config, boards, kept)
    told = [f"status comment of #{one.comment.issue}" for one in kept]
    told += [f"dashboard #{issue.number}" for issue in boards]
    if dry_run:
        return told
    moved = [_move(github, one, now) for one in kept]
    _move_state(github, config, boards, dict(moved), conducts.own_dashboard, new, now)
    return told


def _look(github: GitHub) -> tuple[View, Config]:
    view = github.view("cf", None)
    config = read_config(view.config_text, view.config_blob)
    return (view if config.prefix == "cf" else github.view(config.prefix, None)), config


def _dashboards(github: GitHub, config: Config, login: str) -> list[Issue]:
    """The person's, those that were replaced and closed already left out, the newest last."""
    label = config.label("dashboard")
    found = (*github.labelled(label, closed=True), *github.labelled(label))
    mine = [issue for issue in found if _is_by(issue.author, login)]
    mine = [issue for issue in mine if issue.is_open or _state(issue) is not None]
    return sorted(mine, key=lambda issue: (_state(issue) is not None, issue.is_open, issue.number))


def _is_by(account: Account, login: str) -> bool:
    return account.login.casefold() == login.casefold()


def _state(issue: Issue) -> State | None:
    try:
        return state_in(issue)
    except Unreadable as error:
        raise CannotGoOn(
            f"the state in #{issue.number} cannot be read: {error}. Nothing was written"
        ) from None


def _records(comments: Sequence[Comment], login: str, new: Account) -> Iterator[_Kept]:
    """The person's records, the oldest of each issue. Raises CannotGoOn for one that cannot be read."""
    own: dict[int, Comment] = {}
    theirs: dict[int, Comment] = {}
    for comment in sorted(comments, key=lambda comment: comment.id):
        place = own if comment.author.id == new.id else theirs if _is_by(comment.author, login) else None
        if place is not None and _record(comment) is not None:
            place.setdefault(comment.issue, comment)
    for number, comment in sorted(theirs.items()):
        record = _record(comment)
        assert record is not None
        ours = [one for one in comments if one.issue == number and _is_by(one.author, login) and _says(one)]
        yield _Kept(comment, record, own.get(number), max(one.created_at for one in ours))


def _says(comment: Comment) -> bool:
    return without_markers(comment.body) != comment.body.rstrip()


def _record(comment: Comment) -> Record | None:
    try:
        return read_record(comment, comment.issue, {comment.author.id})
    except Unreadable as error:
        words = f"the record in comment {comment.id} on #{comment.issue} cannot be read: {error}"
        raise CannotGoOn(f"{words}. Nothing was written") from None


def _check_idle(github: GitHub, config: Config, boards: Sequence[Issue], kept: Sequence[_Kept]) -> None:
    """Units and batches that are under way name the person's comments and issues, so they must end first."""
    under_way = [f"#{one.comment.issue} runs" for one in kept if one.record.live is not None]
    authors = {issue.author.id for issue in boards} | {one.comment.author.id for one in kept}
    for issue in github.labelled(config.label("batch")):
        batch = read_batch(issue, authors)
        if batch is not None and not batch.record.state.ended:
            under_way.append(f"batch #{issue.number} goes on")
    if under_way:
        raise CannotGoOn(
            f"{', '.join(under_way[:20])}: stop it or let it end, and give this again. Nothing was written"
        )


def _move(github: GitHub, one: _Kept, now: datetime) -> tuple[int, str]:
    """The record in a comment of the new account; then the old comment points to it. Returns the task and the comment's node id."""
    task, place = one.comment.issue, one.moved
    if place is None:
        record = _with_times(one, now)
        body = f"{without_markers(one.comment.body)}\n\n{write_record(record)}"
        issue = github.issue(task)
        (said,) = _written(github, [CreateComment(issue.node_id, body)])
        node_id, number = said
        place = replace(one.comment, node_id=node_id, id=number)
    _written(github, [EditComment(one.comment.node_id, doubled(place))])
    return task, place.node_id


def _with_times(one: _Kept, now: datetime) -> Record:
    """Labels and questions of the person's token were ours; newer than the record says, they would be the person's word."""
    record, blocker = one.record, one.record.blocker
    if blocker is not None and blocker.asked_at <= one.spoken:
        blocker = replace(blocker, asked_at=one.spoken + timedelta(seconds=1))
    return replace(record, blocker=blocker, status_at=now if record.status is not None else None)


def _move_state(
    github: GitHub,
    config: Config,
    boards: Sequence[Issue],
    moved: Mapping[int, str],
    own: Issue | None,
    new: Account,
    now: datetime,
) -> None:
    """Last of all, because whoever has a dashboard conducts: a tick in between finds the records, and starts nothing."""
    successor = own.number if own is not None else 0
    if own is None:
        before = (_state(boards[-1]) if boards else None) or State(now)
        label, pause = config.label("dashboard"), config.label("pause")
        paused = before.pause or (
            Pause(boards[-1].author.login, now) if boards and boards[-1].has_label(pause) else None
        )
        names = {str(task): node_id for task, node_id in moved.items()}
        state = replace(
            before,
            conductor=new.id,
            generation=before.generation + 1,
            pause=paused,
            records={task: names.get(task, node_id) for task, node_id in before.records.items()},
            finished={
                **before.finished,
                **{task: node_id for task, node_id in names.items() if task not in before.records},
            },
        )
        github.ensure_labels(label_names(config))
        body = plain_dashboard(state, config.prefix)
        labels = (label, pause) if paused is not None else (label,)
        (said,) = github.write([CreateIssue("cf dashboard", body, labels)])
        if said.error:
            raise CannotGoOn(f"the dashboard could not be opened: {said.error}")
        successor = said.number
    _written(github, handed_over([*boards], successor))


def _written(github: GitHub, changes: Sequence[Change]) -> list[tuple[str, int]]:
    answers = github.write(changes) if changes else ()
    refused = [answer.error for answer in answers if answer.error]
    if refused:
        raise CannotGoOn(f"GitHub refused a write: {'; '.join(refused)}. Give this again once that is mended")
    return [(answer.node_id, answer.id) for answer in answers]
