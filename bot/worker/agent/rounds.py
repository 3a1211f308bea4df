"""The agent at work: one start, or several where its gates fail here and it can mend what it did."""

import time
from collections.abc import Callable, Sequence
from datetime import timedelta

from msgspec import Struct
from msgspec.structs import replace

from bot.model.cause import Cause, Met
from bot.model.config import Spending
from bot.model.record import Spent
from bot.model.report import CANNOT_RUN, Category, GateResult, GateStatus, Outcome, Question
from bot.model.unit import Gate
from bot.notation.fingerprints import failure_fingerprint
from bot.notation.quoting import code_block
from bot.plan.starts.budgets import over
from bot.worker.agent.ownfiles import OwnFiles, read_foreign, remove
from bot.worker.agent.question import read_question
from bot.worker.change.merging import CONFLICTS
from bot.worker.engines import AgentInput, Engine, Verdict
from bot.worker.engines.facts import Facts, Listener
from bot.worker.engines.install import write_settings
from bot.worker.engines.verdicts import busy
from bot.worker.programs.gates import (
    SET_UP,
    GateRunner,
    Judged,
    all_passed,
    last_line,
    not_runnable,
    run_gates,
)
from bot.worker.programs.live_log import LiveLog
from bot.worker.programs.process import End, Ended, Limits, run
from bot.worker.prompt.prompt import write_feedback

_SAME = 3  # the same failure so often in a row ends the corrections
_SAID = 3_000
_RAW = 2_000
_LAST = 2_000
_CAUSE = 500


class Tried(Struct, frozen=True):
    """How the agent's work ended. `outcome` is None when it may be a change that is to be verified.

    `failure` is the fingerprint of what the gates said here, `facts` are what its output told, `retry_after` how long its
    model's provider asks to wait. `last` are its last words, `cause` is what no task is to blame for.
    """

    outcome: Outcome | None
    reason: str = ""
    question: Question | None = None
    gates: tuple[GateResult, ...] = ()
    failure: str = ""
    rounds: int = 1
    said: str = ""
    log: str = ""
    gate_log: str = ""
    agent_seconds: float = 0.0
    gate_seconds: float = 0.0
    facts: Facts = Facts()
    retry_after: timedelta | None = None
    last: str = ""
    cause: Met | None = None


class Settled(Struct, frozen=True):
    """The files as the agent left them: `undo` takes back what gates leave behind, `unsettled` is the conflict that is left."""

    undo: Callable[[], None]
    unsettled: str = ""


class RoundSetup(Struct, frozen=True):
    """What the rounds need: the engine, the agent's own runner, the gates to preview, and the bounds.

    `settle` is called before gates run; it says whether there is a change. `digest` is of all the commands that run here;
    `green` are the gates of which it is known that they pass on the untouched default branch.
    """

    engine: Engine
    runner: GateRunner
    gate_runner: GateRunner
    gates: Sequence[Gate]
    corrections: int
    timeout: timedelta
    stall: timedelta | None
    budget: Spending
    settle: Callable[[], Settled | None]
    engine_name: str = ""
    digest: str = ""
    green: frozenset[str] = frozenset()


def work_in_rounds(setup: RoundSetup, agent_input: AgentInput, files: OwnFiles) -> Tried:
    """Start the agent, and again with what failed, until its gates pass here or the rounds are used up."""
    began = time.monotonic()
    until = began + setup.timeout.total_seconds()
    failures: list[str] = []
    log: list[str] = []
    agent_seconds = gate_seconds = 0.0
    listener = Listener(setup.engine.read, structured=setup.engine.structured)

    def overspent() -> str:
        facts = listener.facts
        minutes = (time.monotonic() - began) / 60
        return over(Spent(minutes=minutes, tokens=facts.tokens, usd=facts.usd), setup.budget)

    while True:
        files.prepare_round()
        wall = timedelta(seconds=max(until - time.monotonic(), 0.1))
        ended = _start(setup, agent_input, listener, wall, overspent)
        agent_seconds += ended.seconds
        log.append(setup.runner.redactor.text(ended.output))
        tried = replace(
            _ended(setup, ended, files, listener.facts, overspent()),
            rounds=len(log),
            agent_seconds=agent_seconds,
            gate_seconds=gate_seconds,
            log="\n".join(log)[-2_000_000:],
            facts=listener.facts,
        )
        if tried.outcome is not None or not setup.gates or setup.corrections == 0:
            return tried
        settled = setup.settle()
        if settled is None:
            return tried
        judged = run_gates(setup.gates, setup.gate_runner) + _conflict_gate(settled.unsettled)
        settled.undo()
        results = tuple(item.result for item in judged)
        if setup.runner.cancellation is not None and setup.runner.cancellation.reason:
            return replace(
                tried, outcome=Outcome.CANCELLED, reason=setup.runner.cancellation.reason, gates=results
            )
        failures.append(
            failure_fingerprint((item.result.name, item.output) for item in judged if item.result.tail)
        )
        gate_seconds += sum(result.seconds for result in results)
        for result in results:
            listener.note(Category.GATE, f"{result.name}: {result.status}")
        told = "\n".join(f"== {item.result.name}: {item.result.status}\n{item.output}" for item in judged)
        tried = replace(
            tried,
            gate_log=told,
            gates=results,
            failure=failures[-1],
            gate_seconds=gate_seconds,
            facts=listener.facts,
        )
        if all_passed(results):
            return tried
        if words := not_runnable(results, setup.green):
            return _not_set_up(setup, tried, words)
        if failures[-_SAME:] == [failures[-1]] * _SAME:
            return replace(
                tried, outcome=Outcome.FAILED, reason=f"the same failure {_SAME} times: {_names(results)}"
            )
        if len(failures) > setup.corrections or not setup.engine.can_continue:
            return replace(
                tried,
                outcome=Outcome.FAILED,
                reason=f"still failing after {len(log)} rounds: {_names(results)}",
            )
        if words := overspent():
            reason = f"still failing when its budget was used up, {words} ({_names(results)})"
            return replace(tried, outcome=Outcome.FAILED, reason=reason)
        failed = [(item.result.name, item.output) for item in judged if item.result.tail]
        files.feedback.write_text(write_feedback(failed), encoding="utf-8")
        agent_input = replace(agent_input, feedback=files.feedback, session=listener.facts.session)
        listener.facts = listener.facts.fresh()


def _conflict_gate(unsettled: str) -> tuple[Judged, ...]:
    """A gate of ours: a conflict that is left over is red."""
    if not unsettled:
        return ()
    return (Judged(GateResult(CONFLICTS, GateStatus.FAILED, tail=unsettled), unsettled),)


def _not_set_up(setup: RoundSetup, tried: Tried, words: str) -> Tried:
    """What no shell can run is nobody's work: no strike, and the same for every task."""
    cause = Met(Cause.SETUP, setup.digest, words[:_CAUSE])
    failure = failure_fingerprint([(SET_UP, words)])
    return replace(tried, outcome=Outcome.INFRA, reason=words, failure=failure, cause=cause)


def _start(
    setup: RoundSetup,
    agent_input: AgentInput,
    listener: Listener,
    wall: timedelta,
    enough: Callable[[], object],
) -> Ended:
    call = setup.engine.call(agent_input)
    if agent_input.feedback is None:
        write_settings(agent_input.home, call.settings)
    with LiveLog(setup.runner.write, setup.runner.redactor, setup.runner.prefix) as live:
        try:
            ended = run(
                call.command,
                folder=setup.runner.folder,
                environment={**setup.runner.environment, **call.environment},
                limits=Limits(wall=wall, stall=setup.stall),
                cancellation=setup.runner.cancellation,
                live=lambda data: listener.feed(data, live.feed),
                enough=enough,
                given=call.given,
            )
        except (FileNotFoundError, PermissionError) as error:
            if error.filename != call.command[0]:
                raise
            ended = _as_a_shell_says(error)
        listener.end(live.feed)
    for name in setup.engine.litter:
        remove(setup.runner.folder / name)
    return ended


def _as_a_shell_says(error: OSError) -> Ended:
    """A program that is not there, or is none: with the exit status and the words that a shell would have."""
    absent = isinstance(error, FileNotFoundError)
    words = "command not found" if absent else error.strerror
    return Ended(End.EXITED, CANNOT_RUN[1] if absent else CANNOT_RUN[0], f"{error.filename}: {words}")


def _ended(setup: RoundSetup, ended: Ended, files: OwnFiles, facts: Facts, spent: str) -> Tried:
    redact = setup.runner.redactor.text
    said = (
        redact(read_foreign(files.summary)).strip()[:_SAID]
        or redact(facts.said).strip()
        or ("" if setup.engine.structured else _end_of(redact(ended.output).strip()))
    )
    question = read_question(redact(read_foreign(files.question))) or _hidden(facts.question, redact)
    if ended.how is End.CANCELLED:
        assert setup.runner.cancellation is not None
        return Tried(Outcome.CANCELLED, setup.runner.cancellation.reason, said=said)
    if ended.how is End.STOPPED:
        return Tried(Outcome.FAILED, f"its budget is used up: {spent} (budget.attempt)", said=said)
    if ended.how is not End.EXITED and facts.capacity:  # it was still asking again when its time was up
        return _judged(busy(facts), setup, said)
    if ended.how is End.TIMEOUT:
        return Tried(
            Outcome.TIMEOUT, f"the agent was still at work after {_minutes(setup.timeout)}", said=said
        )
    if ended.how is End.STALLED:
        return Tried(
            Outcome.STALLED,
            "the agent did nothing any more: no output, no processor time, no file change",
            said=said,
        )
    if question is not None:
        return Tried(Outcome.BLOCKED, "the agent asks a question", question, said=said)
    if ended.code in CANNOT_RUN:
        words = f"the agent cannot be started (exit status {ended.code}): {last_line(redact(ended.output))}"
        return _not_set_up(setup, Tried(Outcome.INFRA, said=said), words)
    tried = _judged(setup.engine.verdict(ended, facts), setup, said)
    return replace(tried, last=_last_words(setup, ended, files, facts))


def _last_words(setup: RoundSetup, ended: Ended, files: OwnFiles, facts: Facts) -> str:
    """The end of what the agent said: to its summary, in its last message, or in whatever it printed."""
    said = read_foreign(files.summary).strip() or facts.closing
    printed = "" if setup.engine.structured else ended.output
    return setup.runner.redactor.text(said or printed).strip()[-_LAST:]


def _judged(verdict: Verdict, setup: RoundSetup, said: str) -> Tried:
    reason = setup.runner.redactor.text(verdict.reason)
    cause = Met(Cause.PROVIDER, setup.engine_name, reason[:_CAUSE]) if verdict.provider else None
    return Tried(verdict.outcome, reason, said=said, retry_after=verdict.retry_after, cause=cause)


def _hidden(question: Question | None, redact: Callable[[str], str]) -> Question | None:
    """A question of the stream without what must not be shown."""
    if question is None:
        return None
    return Question(redact(question.text), tuple(map(redact, question.options)), redact(question.tried))


def _minutes(span: timedelta) -> str:
    seconds = span.total_seconds()
    return f"{seconds / 60:.0f} minutes" if seconds >= 120 else f"{seconds:.0f} seconds"


def _names(results: Sequence[GateResult]) -> str:
    return ", ".join(result.name for result in results if result.tail)


def _end_of(output: str) -> str:
    """Raw output where the agent wrote no summary: a little of it, and as the log that it is."""
    return code_block(output, _RAW) if output else ""
