"""What an attempt's outcome does to its task: the table of outcome -> status, strike and words."""

import hashlib
from datetime import datetime, timedelta

from msgspec.structs import replace

from bot.model.config import Config
from bot.model.decision import Notice
from bot.model.record import Blocker, Held, Record, Unmerged
from bot.model.report import INTERRUPTIONS, NO_FAULT, STRIKES, GateStatus, Hold, Outcome, Question, Report
from bot.model.status import Status
from bot.model.unit import Kind
from bot.notation.keys import Key
from bot.notation.quoting import code_block, quote, quote_line
from bot.plan.attempts.brakes import tripped
from bot.plan.attempts.effect import Effect
from bot.plan.attempts.ending import Ending
from bot.plan.attempts.stale import brought_up_to_date


def effect_of(key: Key, record: Record, ending: Ending, config: Config, now: datetime) -> Effect:
    """`record` holds the attempt as already ended. Only failures of the work itself cost a strike.

    What would go on by itself, or with an answer, is parked if a brake has tripped.
    """
    effect = _plain_effect(key, _keep_work(key, record, ending), ending, config, now)
    goes_on = effect.status is Status.READY or effect.record.blocker is not None
    brake = tripped(effect.record, config) if goes_on else ""
    return _parked(key, effect.record, ending, brake, config) if brake else effect


def _plain_effect(key: Key, record: Record, ending: Ending, config: Config, now: datetime) -> Effect:
    outcome = ending.outcome
    if outcome in STRIKES or (outcome is Outcome.STALLED and config.stall.action != "blocker"):
        return _struck(key, record, ending, config, now)
    if ending.by:
        ready = config.label(Status.READY)
        reason = f"{key} was cancelled by {ending.by}; its work is kept, and `{ready}` goes on from there"
        return Effect(Status.BACKLOG, record, reason)
    if outcome in INTERRUPTIONS:
        return _interrupted(key, record, ending, config)
    if outcome is Outcome.CAPACITY:
        engine = record.attempts[-1].engine or config.engine
        return Effect(Status.READY, record, f"{key}: {engine} takes no work for now; no attempt is counted")
    record = replace(record, interruptions=0, not_before=None)
    if outcome is Outcome.PASSED and ending.report and ending.report.conflict and not ending.report.merged:
        reason = (
            f"{key} passed, but contradicts the default branch by now; the next attempt brings it up to date"
        )
        return Effect(Status.READY, replace(record, blocker=None), reason)
    if outcome is Outcome.PASSED:
        return _passed(key, record, ending, now)
    if outcome is Outcome.HELD:
        return brought_up_to_date(key, record, ending, now) or _held(key, record, ending, config, now)
    if outcome is Outcome.BLOCKED:
        return _asked(key, record, ending, now)
    return _needs_a_look(key, record, ending)


def _parked(key: Key, record: Record, ending: Ending, brake: str, config: Config) -> Effect:
    """A brake has tripped: failed, with the evidence."""
    report = ending.report
    text = "\n\n".join(
        [
            f"**Stopped by a brake**: {brake}. The last attempt, `{key}`, ended as *{ending.outcome}*.",
            *([quote(ending.reason)] if ending.reason else []),
            *([quote(report.question.text)] if report and report.question else []),
            *_failing_tails(report),
            f"To grant one more attempt, set the label `{config.label(Status.READY)}`; better, change what it is asked first.",
        ]
    )
    record = replace(record, not_before=None, blocker=None)
    return Effect(Status.FAILED, record, f"{key} {ending.outcome}; {brake}", (Notice(f"brake:{key}", text),))


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


def _passed(key: Key, record: Record, ending: Ending, now: datetime) -> Effect:
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
    text = f"Attempt `{key}` passed every gate. Pull request #{number} is ready for review; merging it completes this issue."
    if ending.reason:
        text += f"\n\n{quote(ending.reason)}"
    if refused:
        text += "\n\nThe merge is tried again by itself once GitHub says that nothing hinders it. No agent runs for that."
    reason = f"passed as {key}; pull request #{number} waits for review"
    return Effect(Status.DONE, record, reason, (Notice(f"passed:{key}", text),))


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


def _struck(key: Key, record: Record, ending: Ending, config: Config, now: datetime) -> Effect:
    strikes = record.strikes + 1
    record = replace(record, strikes=strikes, interruptions=0)
    reason = f"{key} {ending.outcome}: {ending.reason}" if ending.reason else f"{key} {ending.outcome}"
    if strikes < config.retry.max_attempts and _may_try_again(record, ending.outcome, config):
        not_before = now + backoff(config, strikes, key)
        words = f"{reason}; attempt {strikes + 1} of {config.retry.max_attempts} not before {not_before:%H:%M:%S} UTC"
        return Effect(Status.READY, replace(record, not_before=not_before), words)
    text = "\n\n".join(
        [
            f"**Failed** after {strikes} attempts; the last one, `{key}`, ended as *{ending.outcome}*.",
            *([quote(ending.reason)] if ending.reason else []),
            *_failing_tails(ending.report),
            f"To try again with fresh strikes, set the label `{config.label(Status.READY)}`.",
        ]
    )
    return Effect(Status.FAILED, replace(record, not_before=None), reason, (Notice(f"failed:{key}", text),))


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


def _interrupted(key: Key, record: Record, ending: Ending, config: Config) -> Effect:
    count = record.interruptions + 1
    record = replace(record, interruptions=count)
    reason = f"{key} was interrupted: {ending.reason or ending.outcome}"
    if count < config.retry.interruptions:
        return Effect(Status.READY, record, f"{reason}; it starts again, no strike")
    text = (
        f"**Stopped** after {count} interruptions in a row; the last one, `{key}`, ended as *{ending.outcome}*"
        f" without the work itself failing.\n\n{quote(ending.reason or 'No reason is known.')}\n\n"
        f"No attempt was counted. Once the cause is mended, set the label `{config.label(Status.READY)}`."
    )
    return Effect(
        Status.BLOCKED,
        record,
        f"{reason}; {count} interruptions in a row",
        (Notice(f"interrupted:{key}", text),),
    )


def _held(key: Key, record: Record, ending: Ending, config: Config, now: datetime) -> Effect:
    """Finished, kept, and not published: what can help depends on why."""
    report = ending.report
    protected = report.protected if report else ()
    why = (report.hold if report else None) or (Hold.PROTECTED if protected else None)
    before = record.held
    again = before is not None and before.why is why and record.attempts[-1].kind is not Kind.CODE
    number = record.attempts[-1].number
    held = before if again else Held(why, now, number, protected) if why else None
    record = replace(record, held=held, exceptions=(), republish=False)
    reason = f"{key} is held: {ending.reason}"
    if again and why is Hold.SETTING:
        return Effect(Status.BLOCKED, record, reason)
    text = f"The work of attempt `{key}` is kept, but was not published."
    if ending.reason:
        text += f"\n\n{quote(ending.reason)}"
    if protected:
        paths = "\n".join(f"- {quote_line(path)}" for path in protected)
        text += f"\n\nProtected paths in it:\n\n{paths}"
    text += f"\n\n{_what_helps(why, config)}"
    return Effect(Status.BLOCKED, record, reason, (Notice(f"held:{key}", text),))


def _what_helps(why: Hold | None, config: Config) -> str:
    publish, ready = f"`/{config.prefix} publish`", f"`{config.label(Status.READY)}`"
    if why is Hold.PROTECTED:
        return f"{publish} publishes it all the same, and lets exactly these paths through; {ready} starts a new attempt instead."
    if why is Hold.SETTING:
        return f"Publishing is tried again after 1 hour, 6 hours and 24 hours; {publish} tries it at once. No agent runs for that."
    if why is Hold.STALE:
        return f"{publish} brings it up to date and verifies it once more; no agent runs for that. {ready} starts a new attempt."
    if why is None:
        return f"{publish} tries to publish it again; {ready} starts a new attempt."
    return f"Only a new attempt can help: set the label {ready}."


def _needs_a_look(key: Key, record: Record, ending: Ending) -> Effect:
    """unverified, no_changes, stalled: nothing failed, and a person has to look."""
    report = ending.report
    number = report.pull if report else 0
    sentences = {
        Outcome.UNVERIFIED: f"No gate is configured, so nothing proves attempt `{key}`. Review draft #{number}.",
        Outcome.NO_CHANGES: f"Attempt `{key}` ended without changing anything.",
        Outcome.STALLED: f"Attempt `{key}` stood still and was ended.",
    }
    text = sentences[ending.outcome]
    for words in (ending.reason, report.message if report else ""):
        if words:
            text += f"\n\n{quote(words)}"
    reasons = {
        Outcome.UNVERIFIED: f"review draft #{number}",
        Outcome.NO_CHANGES: f"{key} changed nothing",
        Outcome.STALLED: f"{key} stood still",
    }
    return Effect(Status.BLOCKED, record, reasons[ending.outcome], (Notice(f"{ending.outcome}:{key}", text),))


def _failing_tails(report: Report | None) -> list[str]:
    failing = (
        [gate for gate in report.gates if gate.status is not GateStatus.PASSED and gate.tail]
        if report
        else []
    )
    return [f"Gate `{quote_line(gate.name, 60)}`:\n\n{code_block(gate.tail)}" for gate in failing[:3]]
