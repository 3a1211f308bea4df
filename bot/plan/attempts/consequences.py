"""What an attempt's outcome does to its task: the table of outcome -> status, strike and words."""

import hashlib
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta

from msgspec import Struct
from msgspec.structs import replace

from bot.model.config import Config
from bot.model.decision import Notice
from bot.model.end import End
from bot.model.record import Blocker, Held, Parked, Record, Unmerged
from bot.model.report import INTERRUPTIONS, NO_FAULT, STRIKES, GateStatus, Hold, Outcome, Question, Report
from bot.model.status import Status
from bot.model.unit import Kind
from bot.notation.keys import Key
from bot.notation.quoting import code_block, quote, quote_line
from bot.plan.attempts.brakes import tripped
from bot.plan.attempts.effect import Effect
from bot.plan.attempts.ending import Ending
from bot.plan.attempts.stale import brought_up_to_date
from bot.plan.facts.causes import title_of
from bot.plan.facts.ends import ENDS, Batch, end_text, held_end, why_text, words_for


def effect_of(
    key: Key,
    record: Record,
    ending: Ending,
    config: Config,
    now: datetime,
    *,
    in_batch: bool = False,
    common: bool = False,
) -> Effect:
    """`record` holds the attempt as already ended. Only failures of the work itself cost a strike.

    What would go on by itself, or with an answer, is parked if a brake has tripped. `in_batch`: a batch that goes on tells its own
    end, so its members tell less (`ends.py`). `common`: this end has a cause that others share, so it counts for nothing here, and
    no brake looks at it.
    """
    if common and not ending.by:
        return _met(key, _keep_work(key, record, ending), ending)
    said = Told(key, ending, config, now, in_batch=in_batch)
    effect = _plain_effect(key, _keep_work(key, record, ending), ending, config, now, said)
    goes_on = effect.status is Status.READY or effect.record.blocker is not None
    brake = tripped(effect.record, config) if goes_on else ""
    return _stopped(effect.record, ending, brake, said) if brake else effect


class Told(Struct, frozen=True):
    """An end as the table of ends has it told."""

    key: Key
    ending: Ending
    config: Config
    now: datetime
    in_batch: bool

    def effect(
        self, end: End, record: Record, about: str, evidence: Sequence[str], *, silent: bool = False
    ) -> Effect:
        """The end's status, the record that says how it ended, and the one comment about it. `about` is that in a few words."""
        row, words = ENDS[end], words_for(record, self.config)
        # GitHub's times are whole seconds: a reply within the second of the end must not look older than it.
        at = self.now.replace(microsecond=0)
        parked = Parked(end, at, self.key.number, about[:_ABOUT])
        to = record.approval.by if record.approval and not (self.in_batch and row.batch is Batch.BARE) else ""
        notice = Notice(f"{_TOLD_AS.get(end, end)}:{self.key}", end_text(end, words, to, evidence))
        untold = silent or (self.in_batch and row.batch is Batch.NOTHING)
        noted = replace(record, parked=parked if row.waits else None)
        return Effect(row.status, noted, why_text(parked, words), () if untold else (notice,))


_ABOUT = 300  # characters; the attempt's own reason is kept whole
_TOLD_AS: Mapping[End, str] = {
    End.MERGED: "passed",
    **dict.fromkeys((End.PROTECTED, End.SETTING, End.STALE, End.LOST), "held"),
}
"""The beginning of the notice's fingerprint, where it is not the end's own name."""


def _plain_effect(
    key: Key, record: Record, ending: Ending, config: Config, now: datetime, said: Told
) -> Effect:
    outcome = ending.outcome
    if outcome in STRIKES or (outcome is Outcome.STALLED and config.stall.action != "blocker"):
        return _struck(key, record, ending, config, now, said)
    if ending.by:
        ready = config.label(Status.READY)
        about = f"{key} was cancelled by {ending.by}; its work is kept, and `{ready}` goes on from there"
        return said.effect(End.CANCELLED, record, about, (), silent=True)
    if outcome in INTERRUPTIONS:
        return _interrupted(key, record, ending, config, said)
    record = replace(record, interruptions=0, not_before=None)
    if outcome is Outcome.PASSED and ending.report and ending.report.conflict and not ending.report.merged:
        reason = (
            f"{key} passed, but contradicts the default branch by now; the next attempt brings it up to date"
        )
        return Effect(Status.READY, replace(record, blocker=None), reason)
    if outcome is Outcome.PASSED:
        return _passed(key, record, ending, now, said)
    if outcome is Outcome.HELD:
        return brought_up_to_date(key, record, ending, now) or _held(key, record, ending, now, said)
    if outcome is Outcome.BLOCKED:
        return _asked(key, record, ending, now)
    return _needs_a_look(record, ending, said)


def _met(key: Key, record: Record, ending: Ending) -> Effect:
    """Ready again, and held by the cause as long as it stands. Work that only a push kept back is published from where it is."""
    met = record.attempts[-1].cause
    assert met is not None, "only an end with a cause is common"
    published = ending.outcome is Outcome.HELD and bool(record.earlier)
    record = replace(record, held=None, not_before=None, republish=record.republish or published)
    kept = "; its work is kept, and published without another attempt" if record.republish else ""
    return Effect(Status.READY, record, f"{key}: {title_of(met)}; no attempt is counted{kept}")


def _stopped(record: Record, ending: Ending, brake: str, said: Told) -> Effect:
    """A brake has tripped: failed, with the evidence."""
    report = ending.report
    evidence = [
        f"{brake[:1].upper()}{brake[1:]}. The last attempt, `{said.key}`, ended as *{ending.outcome}*.",
        *([quote(ending.reason)] if ending.reason else []),
        *([quote(report.question.text)] if report and report.question else []),
        *_failing_tails(report),
    ]
    record = replace(record, not_before=None, blocker=None)
    return said.effect(End.BRAKE, record, f"{said.key} {ending.outcome}; {brake}", evidence)


def _keep_work(key: Key, record: Record, ending: Ending) -> Record:
    """Remember where the work is, so that the next attempt goes on from it."""
    report, attempt = ending.report, record.attempts[-1]
    if ending.republish:
        return replace(record, earlier=f"{attempt.run}/{key}", republish=True)
    if attempt.kind is not Kind.CODE and ending.outcome in NO_FAULT:
        if report is not None and report.conflict:  # an agent has to settle it; the work is where it was
            return replace(record, held=None, republish=False)
        return record  # the proven work is still there, and was still not published
    record = replace(record, held=None, exceptions=()) if ending.outcome is not Outcome.HELD else record
    if report is None or not report.head:
        return replace(record, republish=False)
    return replace(
        record,
        head=report.head,
        # A publish unit keeps no work of its own: what it published is still where it took it from.
        earlier=record.earlier if attempt.kind is Kind.PUBLISH else f"{attempt.run}/{key}",
        republish=False,
        pull=report.pull or record.pull,
    )


def _passed(key: Key, record: Record, ending: Ending, now: datetime, said: Told) -> Effect:
    """Whoever was asked for a review is told by that. Where nobody could be, or nobody needs to, a comment says it."""
    report = ending.report
    number = report.pull if report else 0
    before = record.unmerged if record.attempts[-1].kind is Kind.PUBLISH else None
    refused = report is not None and report.unmerged
    resolved = tuple(replace(answer, resolved=True) for answer in record.answers)
    record = replace(
        record,
        strikes=0,
        blocker=None,
        answers=resolved,
        feedback="",
        unmerged=Unmerged(now, before.tries if before else 0) if refused else None,
    )
    if before is not None:  # all but the merge was told before
        return Effect(Status.DONE, record, f"{key}: {ending.reason or f'#{number} is merged'}")
    evidence = [quote(ending.reason)] if ending.reason else []
    if refused:
        evidence.append(
            "The merge is tried again by itself once GitHub says that nothing hinders it. No agent runs for that."
        )
    end = End.MERGED if report is not None and report.merged else End.PASSED
    asked = report is not None and bool(report.asked)
    effect = said.effect(end, record, ending.reason, evidence, silent=asked)
    state = "is merged" if end is End.MERGED else "waits for review"
    by = f" by {quote_line(report.asked, 60)}" if report is not None and asked else ""
    also = f": {ending.reason}" if ending.reason else ""
    return replace(effect, reason=f"passed as {key}; pull request #{number} {state}{by}{also}")


def _asked(key: Key, record: Record, ending: Ending, now: datetime) -> Effect:
    """How the question is put, or whether it is put at all, is decided in `questions.py`, where every new one passes and gets its
    fingerprint.
    """
    question = (ending.report.question if ending.report else None) or Question(
        "The agent stopped without saying what it needs."
    )
    # GitHub's times are whole seconds: a reply within the second of the question must not look older than it.
    blocker = Blocker("", question, now.replace(microsecond=0))
    return Effect(Status.BLOCKED, replace(record, blocker=blocker), f"{key} asks a question")


def _struck(key: Key, record: Record, ending: Ending, config: Config, now: datetime, said: Told) -> Effect:
    strikes = record.strikes + 1
    record = replace(record, strikes=strikes, interruptions=0)
    reason = f"{key} {ending.outcome}: {ending.reason}" if ending.reason else f"{key} {ending.outcome}"
    if strikes < config.retry.max_attempts and _may_try_again(record, ending.outcome, config):
        not_before = now + backoff(config, strikes, key)
        words = f"{reason}; attempt {strikes + 1} of {config.retry.max_attempts} not before {not_before:%H:%M:%S} UTC"
        return Effect(Status.READY, replace(record, not_before=not_before), words)
    evidence = [
        f"It ended as *{ending.outcome}*.",
        *([quote(ending.reason)] if ending.reason else []),
        *_failing_tails(ending.report),
    ]
    return said.effect(End.FAILED, replace(record, not_before=None), reason, evidence)


def _may_try_again(record: Record, outcome: Outcome, config: Config) -> bool:
    """A stall is tried again once, and not at all with `stall.action: fail`."""
    if outcome is not Outcome.STALLED:
        return True
    struck = [attempt for attempt in record.attempts if attempt.outcome not in NO_FAULT][-record.strikes :]
    stalls = sum(attempt.outcome is Outcome.STALLED for attempt in struck)
    return config.stall.action == "retry" and stalls <= 1


def backoff(config: Config, strikes: int, key: Key) -> timedelta:
    """`min(backoff * 2^(n-1), max_backoff)` plus up to a tenth of jitter, taken from the key so that it is repeatable."""
    doubled: timedelta = config.retry.backoff * 2 ** min(strikes - 1, 20)
    base = min(doubled, config.retry.max_backoff)
    fraction = int(hashlib.sha256(str(key).encode()).hexdigest()[:4], 16) / 0xFFFF
    return base + base * fraction / 10


def _interrupted(key: Key, record: Record, ending: Ending, config: Config, said: Told) -> Effect:
    count = record.interruptions + 1
    record = replace(record, interruptions=count)
    reason = f"{key} was interrupted: {ending.reason or ending.outcome}"
    if count < config.retry.interruptions:
        return Effect(Status.READY, record, f"{reason}; it starts again, no strike")
    evidence = [
        f"It ended as *{ending.outcome}*, without the work itself failing.",
        quote(ending.reason or "No reason is known."),
    ]
    return said.effect(End.INTERRUPTED, record, f"{reason}; {count} interruptions in a row", evidence)


def _held(key: Key, record: Record, ending: Ending, now: datetime, said: Told) -> Effect:
    """Finished, kept, and not published: what can help depends on why. A repetition by itself is not told again."""
    report = ending.report
    protected = report.protected if report else ()
    why = (report.hold if report else None) or (Hold.PROTECTED if protected else None)
    before = record.held
    again = before is not None and before.why is why and record.attempts[-1].kind is not Kind.CODE
    number = record.attempts[-1].number
    held = before if again else Held(why, now, number, protected) if why else None
    record = replace(record, held=held, exceptions=(), republish=False)
    evidence = [quote(ending.reason)] if ending.reason else []
    if protected:
        paths = "\n".join(f"- {quote_line(path)}" for path in protected)
        evidence.append(f"Protected paths in it:\n\n{paths}")
    silent = again and why is Hold.SETTING
    return said.effect(held_end(why), record, f"{key} is held: {ending.reason}", evidence, silent=silent)


_ENDS = {
    Outcome.UNVERIFIED: End.UNVERIFIED,
    Outcome.NO_CHANGES: End.NO_CHANGES,
    Outcome.STALLED: End.STALLED,
}


def _needs_a_look(record: Record, ending: Ending, said: Told) -> Effect:
    """unverified, no_changes, stalled: nothing failed, and a person has to look."""
    report = ending.report
    evidence = [quote(words) for words in (ending.reason, report.message if report else "") if words]
    return said.effect(_ENDS[ending.outcome], record, "", evidence)


def _failing_tails(report: Report | None) -> list[str]:
    failing = (
        [gate for gate in report.gates if gate.status is not GateStatus.PASSED and gate.tail]
        if report
        else []
    )
    return [f"Gate `{quote_line(gate.name, 60)}`:\n\n{code_block(gate.tail)}" for gate in failing[:3]]
