"""Our comments as people read them: the status comment with its record, and notices with their fingerprint."""

import re

from bot.model.decision import Notice
from bot.model.issue import Comment
from bot.model.record import Attempt, Record
from bot.notation.codec import Unreadable, dump, load
from bot.notation.keys import Key
from bot.notation.marker import read_marker, write_marker
from bot.notation.quoting import quote_line
from bot.notation.records import write_record

_SHOWN = 8


def status_comment(record: Record, reason: str, prefix: str) -> str:
    """The one comment about a task that is edited in place: where it stands, why, its attempts, and the hidden record."""
    state = f"`{prefix}:{record.status}`" if record.status else "not a task any more"
    parts = [f"**{state}** · {quote_line(reason)}"]
    if record.attempts:
        parts.append(_attempts(record))
    if record.answers:
        last = record.answers[-1]
        parts.append(f"Taken as an answer, from {quote_line(last.by)}: {quote_line(last.answer)}")
    parts.append(write_record(record))
    return "\n\n".join(parts)


def _attempts(record: Record) -> str:
    rows = [_row(record.task, attempt) for attempt in record.attempts[-_SHOWN:]]
    left_out = record.next_attempt - 1 - len(rows)
    note = [f"_{left_out} earlier attempts are not shown._"] if left_out > 0 else []
    return "\n".join(["| attempt | run | outcome | minutes | why |", "|---|---|---|---|---|", *rows, *note])


def _row(task: int, attempt: Attempt) -> str:
    run = f"[{attempt.run}](../actions/runs/{attempt.run})" if attempt.run else "–"
    outcome = attempt.outcome or ("being cancelled" if attempt.cancel_sent_at else "running")
    minutes = f"{attempt.minutes:.1f}" if attempt.minutes else "–"
    why = quote_line(attempt.reason or attempt.cancelled_for, 120)
    return f"| `{Key(task, attempt.number)}` {attempt.kind} | {run} | {outcome} | {minutes} | {why} |"


def notice_comment(notice: Notice) -> str:
    """A notice with its fingerprint hidden in it, so that one posted by a tick that died is recognised."""
    return with_fingerprint(notice.text, notice.fingerprint)


def with_fingerprint(text: str, fingerprint: str) -> str:
    """A text of ours, comment or issue, with the fingerprint by which it is recognised later."""
    return f"{text}\n\n{write_marker('notice', dump({'fingerprint': fingerprint}))}"


def doubled(first: Comment) -> str:
    """What a comment of ours becomes that says again what an earlier one says: two conductors wrote at the same moment."""
    return f"This stood here twice: see [the other comment](#issuecomment-{first.id})."


_REPLY = re.compile(r"reply:(-?[1-9][0-9]{0,18})", re.ASCII)


def reply_to(comment: int) -> str:
    """The fingerprint of the one reply to a comment with commands."""
    return f"reply:{comment}"


def replied_to(fingerprint: str | None) -> int:
    """The comment that a notice of ours replies to; 0 if it is no reply."""
    match = _REPLY.fullmatch(fingerprint or "")
    return int(match[1]) if match else 0


def read_fingerprint(body: str) -> str | None:
    """The fingerprint of a notice of ours. The caller has checked the author."""
    try:
        payload = read_marker("notice", body)
        return load(payload, dict[str, str]).get("fingerprint") if payload is not None else None
    except Unreadable:
        return None
