"""`cf work`, the agent's job: claim check, start, agent, hand-over. Whatever happens, it ends with a report."""

import logging
import time
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from bot.github.port import Reader
from bot.model.cause import Cause, Met
from bot.model.config import Config, EngineConfig
from bot.model.engine import COMMAND
from bot.model.errors import BotError
from bot.model.report import GateResult, GateStatus, Measured, Outcome, Report
from bot.model.unit import Gate
from bot.notation.digests import commands_digest
from bot.notation.fingerprints import failure_fingerprint
from bot.notation.keys import Key
from bot.worker.agent.baseline import is_wanted, measure
from bot.worker.agent.hooks import run_hook, told
from bot.worker.agent.last_words import last_question
from bot.worker.agent.ownfiles import OwnFiles, empty
from bot.worker.agent.rounds import RoundSetup, Settled, Tried, work_in_rounds
from bot.worker.change.agent_settings import clean_repository, clean_workspace, restore_settings
from bot.worker.change.bundle import Unfit, read_bundle
from bot.worker.change.git import Git, GitCancelled, GitFailed, Remote
from bot.worker.change.hand_over import (
    ALREADY_THERE,
    Change,
    fetch_branch,
    hand_over,
    has_nothing_of_its_own,
    look_again,
    squash,
)
from bot.worker.change.judge import limits_of
from bot.worker.change.left_behind import in_words, left_behind, told_left
from bot.worker.change.merging import CONFLICTS, DEFAULT_BRANCH, EARLIER_WORK, PULL_REQUEST, unsettled
from bot.worker.change.own_clone import open_own_clone, snapshot, take
from bot.worker.change.starting_point import Start, choose_start, is_ours, message, own_branch
from bot.worker.engines import AgentInput, engine
from bot.worker.engines.install import install, with_tools
from bot.worker.job.artifact import WorkGone, download_earlier, save_report
from bot.worker.job.claim import Claim, Refusal, judge_claim, read_claim
from bot.worker.job.configuration import configuration_of
from bot.worker.job.context import JobContext
from bot.worker.job.isolation import isolated
from bot.worker.job.watch import watching
from bot.worker.job.worked import Worked
from bot.worker.programs.cancellation import Cancellation
from bot.worker.programs.environment import agent_environment, gate_environment
from bot.worker.programs.gates import SET_UP, GateRunner, not_runnable, run_setup
from bot.worker.programs.redact import Redactor
from bot.worker.prompt.gather import gather, template_of
from bot.worker.prompt.prompt import write_prompt

log = logging.getLogger(__name__)

_CAUSE = 500  # characters of a cause's words


def work(
    github: Reader,
    context: JobContext,
    cancellation: Cancellation,
    write: Callable[[str], object],
) -> Worked:
    """Do the agent's job. Raises UsageError if the configuration is wrong; every other end is a report, saved in `place.out`.

    A report is on disk from the first moment a reason is known, since a cancelled job has only seconds.
    """
    began = time.monotonic()
    empty(context.out)
    job = _Job(github, context, cancellation, write)
    try:
        worked = job.run()
    except GitCancelled:
        worked = Worked(job.report(Outcome.CANCELLED, cancellation.reason))
    except (BotError, OSError) as error:
        if isinstance(error, BotError) and error.exit_code == 2:
            save_report(context.out, job.report(Outcome.INFRA, str(error)))
            raise
        if cancellation.reason:
            worked = Worked(job.report(Outcome.CANCELLED, cancellation.reason))
        else:
            worked = Worked(job.report(Outcome.INFRA, job.redactor.text(str(error))))
    seconds = time.monotonic() - began
    statistics = {**worked.report.statistics, "worker_seconds": round(seconds - sum(job.spent.values()), 1)}
    report = replace(worked.report, minutes=round(seconds / 60, 2), statistics=statistics)
    save_report(context.out, report)
    return replace(worked, report=report)


class _Job:
    """The steps of one agent's job, in order; what one step learns, the next ones use."""

    def __init__(
        self,
        github: Reader,
        context: JobContext,
        cancellation: Cancellation,
        write: Callable[[str], object],
    ) -> None:
        self._github = github
        self._context = context
        self._cancellation = cancellation
        self._write = write
        self.redactor = Redactor(context.secrets)
        self.spent: dict[str, float] = {}  # seconds of what is not our own doing
        self._known: dict[str, object] = {}  # what every report from here on says
        self.left_behind: tuple[str, ...] = ()

    def report(self, outcome: Outcome, reason: str, **more: object) -> Report:
        base = Report(
            str(self._context.key),
            self._context.key.task,
            outcome,
            reason,
            run_attempt=self._context.run_attempt,
        )
        unit = self._context.unit
        return replace(base, **{"engine": unit.engine, "model": unit.model, **self._known, **more})

    def run(self) -> Worked:
        config = configuration_of(self._github, self._context.unit)
        facts = read_claim(self._github, self._context, config)
        claim = judge_claim(facts)
        if isinstance(claim, Refusal):
            return Worked(self.report(Outcome.REFUSED, claim.reason))
        self._context = isolated(self._context, config.isolation, self._cancellation)
        alone = facts.legs <= 1
        with watching(
            self._github,
            self._context,
            self._cancellation,
            timedelta(0) if alone else config.reconcile_interval,
        ):
            return self._work(config, claim)

    def _work(self, config: Config, claim: Claim) -> Worked:
        context = self._context
        if context.unit.engine != COMMAND and not context.model_key:
            words = (
                f"the engine {context.unit.engine} needs its key: the secret {context.unit.secret} is not set"
            )
            return Worked(self.report(Outcome.INFRA, words))
        home = empty(context.temp / "cf-home")
        clone, remote = open_own_clone(
            context.workspace, context.temp / "cf-clone.git", context.environ, self._cancellation
        )
        remote = replace(remote, token=context.token)
        start, earlier = self._start(clone, remote, claim)
        self._prepare(clone, start)
        files = OwnFiles(context.workspace)
        files.prepare()
        gate_runner = self._runner({**gate_environment(context.environ), "HOME": str(home)})
        tools = empty(context.temp / "cf-engine")
        if (trouble := self._set_up(config, claim, gate_runner, tools)) is not None:
            return trouble
        taken = take(clone, start.point)  # what set-up leaves lying about is not the agent's work
        before = Before(taken.tree, left_behind(clone, taken))
        gates = _named_gates(config, context)
        here = [gate for gate in gates if set(gate.os) & set(context.unit.runner)]
        if (trouble := self._measure(config, clone, start, before, here, gate_runner)) is not None:
            return trouble
        gathered = gather(self._github, context, config, claim, clone, start, gates, earlier)
        gathered = replace(gathered, red=self._red())
        prompt = write_prompt(gathered, template_of(clone, start.base))
        self._known |= {"source": start.source, "left_out": prompt.left_out}
        files.prompt.write_text(self.redactor.text(prompt.text), encoding="utf-8")
        own = config.engines.get(context.unit.engine, EngineConfig())
        environment = agent_environment(context.environ, home)
        setup = RoundSetup(
            engine=engine(context.unit.engine),
            engine_name=context.unit.engine,
            runner=self._runner({**environment, "PATH": with_tools(environment["PATH"], tools)}),
            gate_runner=gate_runner,
            gates=here,
            corrections=config.corrections,
            timeout=timedelta(minutes=context.unit.timeout_minutes),
            stall=config.stall.timeout or None,
            budget=config.budget.attempt,
            settle=lambda: _settle(clone, self._context.key, start, before.tree),
            digest=self._digest(config),
            green=self._green(here),
        )
        tried = work_in_rounds(setup, self._agent_input(files, own, home), files)
        self.spent |= {"agent_seconds": tried.agent_seconds, "gate_seconds": tried.gate_seconds}
        return self._finish(config, clone, remote, start, before, tried)

    def _set_up(self, config: Config, claim: Claim, runner: GateRunner, tools: Path) -> Worked | None:
        """The repository's set-up, the engine's program, and the hook before the agent; how it ended, if it ends here."""
        began = time.monotonic()
        own = config.engines.get(self._context.unit.engine, EngineConfig())
        trouble = run_setup(config.setup, runner) or install(
            engine(self._context.unit.engine), own, tools, runner
        )
        failed = "" if trouble else self._before_task(config, claim, runner)
        self.spent["setup_seconds"] = time.monotonic() - began
        if (trouble or failed) and self._cancellation.reason:
            return Worked(self.report(Outcome.CANCELLED, self._cancellation.reason))
        if trouble:
            return self._not_set_up(config, trouble.words, trouble.cannot_run)
        return Worked(self.report(Outcome.FAILED, failed)) if failed else None

    def _not_set_up(self, config: Config, words: str, cannot_run: bool) -> Worked:
        """Nobody's fault and no strike; what no shell could run is the same for every task."""
        cause = Met(Cause.SETUP, self._digest(config), words[-_CAUSE:]) if cannot_run else None
        failure = failure_fingerprint([(SET_UP, words)])
        return Worked(self.report(Outcome.INFRA, words, failure=failure, cause=cause))

    def _digest(self, config: Config) -> str:
        """What all commands of this job are told apart by."""
        return commands_digest(config, self._context.unit.runner, self._context.unit.engine)

    def _measure(
        self,
        config: Config,
        clone: Git,
        start: Start,
        before: "Before",
        gates: Sequence[Gate],
        runner: GateRunner,
    ) -> Worked | None:
        """The gates on the untouched files, if nobody knows yet; how the job ends, where one of them cannot be run at all."""
        unit = self._context.unit
        if not is_wanted(config, unit, gates, lambda: _is_untouched(clone, start)):
            return None
        began = time.monotonic()
        self._write(f"cf: the gates on {self._context.default_branch} as it is, once for all tasks\n")
        measured = measure(config, unit, gates, runner)
        _undo(clone, before.tree)
        self.spent["baseline_seconds"] = time.monotonic() - began
        if self._cancellation.reason:
            return Worked(self.report(Outcome.CANCELLED, self._cancellation.reason))
        if measured is None:
            return None
        if words := not_runnable(measured.gates):
            return self._not_set_up(config, words, cannot_run=True)
        self._known["baseline"] = measured
        return None

    def _red(self) -> tuple[str, ...]:
        """The gates that fail on the default branch as well, as far as anybody knows."""
        measured = self._known.get("baseline")
        return measured.red if isinstance(measured, Measured) else self._context.unit.red

    def _green(self, gates: Sequence[Gate]) -> frozenset[str]:
        """The gates that were seen to pass on the default branch, in this job."""
        measured = "baseline" in self._known
        return frozenset(gate.name for gate in gates if measured) - {*self._red()}

    def _before_task(self, config: Config, claim: Claim, runner: GateRunner) -> str:
        """Run the hook before the agent; the words of its failure, or nothing."""
        facts = told(self._context.key, claim.issue.title, "in-progress", self._context.workspace)
        result = run_hook("before_task", config.hooks.before_task, runner, config.hooks.timeout, facts)
        if result is None:
            return ""
        self._known["hooks"] = (result,)
        return "" if result.passed else f"the hook before_task failed:\n{result.tail}"

    def _start(self, clone: Git, remote: Remote, claim: Claim) -> tuple[Start, Report | None]:
        context = self._context
        base = Git(context.workspace / ".git", context.environ, cancellation=self._cancellation).text(
            "rev-parse", "HEAD^{commit}"
        )
        branch = own_branch(context.key, claim.record, claim.issue)
        head = fetch_branch(clone, remote, branch)
        ours = head is not None and is_ours(clone, head, base, claim.record, claim.issue, branch)
        earlier, report, note = self._earlier(clone)
        start = choose_start(clone, context.key, base, head, ours=ours, earlier=earlier, branch=branch)
        return (replace(start, notes=(*start.notes, note)) if note else start), report

    def _earlier(self, clone: Git) -> tuple[str | None, Report | None, str]:
        """The commit of kept work, the last report about it, and what could not be had."""
        if not self._context.unit.earlier:
            return None, None, ""
        folder = empty(self._context.temp / "cf-earlier")
        try:
            kept = download_earlier(self._github, self._context.unit.earlier, folder)
            commit = (
                read_bundle(clone, kept.bundle, self._context.key.task) if kept.bundle is not None else None
            )
        except (WorkGone, Unfit) as error:
            return None, None, str(error).rstrip(".")
        return commit, kept.published or kept.worked, ""

    def _prepare(self, clone: Git, start: Start) -> None:
        """The agent's workspace: a clean branch at the start, the default branch's agent settings, no hooks or credentials."""
        context = self._context
        workspace = Git(
            context.workspace / ".git",
            context.environ,
            tree=context.workspace,
            cancellation=self._cancellation,
        )
        clean_repository(workspace)
        clone.call("update-ref", "refs/cf/start", start.point)
        wanted = ("refs/cf/start", *(_sides(clone) if start.conflicts else ()))
        workspace.call(
            "fetch", "--quiet", "--no-tags", str(clone.folder), *(f"+{ref}:{ref}" for ref in wanted)
        )
        clean_workspace(workspace, start.point)
        workspace.call("checkout", "--quiet", "-B", start.branch)
        restore_settings(clone, start.point, start.base, context.workspace)

    def _runner(self, environment: Mapping[str, str]) -> GateRunner:
        prefix = f"[#{self._context.key.task}] "
        return GateRunner(
            self._context.workspace, environment, self.redactor, self._write, prefix, self._cancellation
        )

    def _agent_input(self, files: OwnFiles, own: EngineConfig, home: Path) -> AgentInput:
        context = self._context
        return AgentInput(
            workspace=context.workspace,
            home=home,
            prompt=files.prompt,
            question=files.question,
            summary=files.summary,
            key=str(context.key),
            task=context.key.task,
            attempt=context.key.number,
            model_key=context.model_key,
            model=context.unit.model,
            provider=context.unit.provider,
            base_url=context.unit.base_url,
            args=own.args,
            env=own.env,
        )

    def _finish(
        self, config: Config, clone: Git, remote: Remote, start: Start, before: "Before", tried: Tried
    ) -> Worked:
        context = self._context
        words = self.report(
            tried.outcome or Outcome.UNVERIFIED,
            tried.reason,
            message=tried.said,
            question=tried.question,
            gates=tried.gates,
            failure=tried.failure,
            cause=tried.cause,
            rounds=tried.rounds,
            base=start.base,
            branch=start.branch,
            statistics={name: round(seconds, 1) for name, seconds in self.spent.items()},
            **self._told(config, tried),
        )
        empty(context.out)  # the agent could write there
        save_report(context.out, words)
        for name, text in (("agent.log", tried.log), ("gates.log", tried.gate_log)):
            (context.out / name).write_text(text, encoding="utf-8")
        if tried.outcome is Outcome.CANCELLED:
            clone = Git(
                clone.folder, context.environ, tree=context.workspace
            )  # the last seconds are for keeping the work
        try:
            commit = self._commit(clone, start, before)
            words = replace(words, left_behind=self.left_behind)
            if tried.outcome is None and _is_unchanged(clone, start, commit):
                tried = _asked(tried)
            if tried.outcome is Outcome.BLOCKED:
                words = replace(words, outcome=tried.outcome, reason=tried.reason, question=tried.question)
            change = self._keep(config, clone, remote, start, commit, fresh=tried.outcome is None)
        except GitCancelled:
            late = replace(tried, outcome=Outcome.CANCELLED, reason=self._cancellation.reason)
            return self._finish(config, clone, remote, start, before, late)
        except (GitFailed, OSError) as error:
            lost = f"the work cannot be collected: {self.redactor.text(str(error))}"
            reason = f"{tried.reason}; {lost}" if tried.reason else lost
            return Worked(replace(words, outcome=tried.outcome or Outcome.FAILED, reason=reason))
        if change is None:
            return Worked(self._nothing(words, tried, commit))
        return self._judged(words, tried, change)

    def _nothing(self, words: Report, tried: Tried, commit: str | None) -> Report:
        """Why there is no change: the agent made none, or the branches hold it by now."""
        if tried.outcome is not None:
            return replace(words, outcome=tried.outcome)
        reasons = [ALREADY_THERE if commit is not None else "", in_words(words.left_behind)]
        return replace(words, outcome=Outcome.NO_CHANGES, reason="; ".join(filter(None, reasons)))

    def _told(self, config: Config, tried: Tried) -> dict[str, object]:
        """What the agent's own output says for the report, redacted: foreign words and counts, never decided on."""
        facts, redact = tried.facts, self.redactor.text
        own = config.engines.get(self._context.unit.engine, EngineConfig())
        pinned = engine(self._context.unit.engine).version if own.install is None else ""
        return {
            "version": pinned or redact(facts.version),
            "model": redact(facts.model) or self._context.unit.model,
            "tokens": facts.tokens,
            "usd": round(facts.usd, 6),
            "session": redact(facts.session),
            "steps": tuple(replace(step, text=redact(step.text)) for step in facts.steps),
            "retry_after": datetime.now(UTC) + tried.retry_after if tried.retry_after is not None else None,
        }

    def _commit(self, clone: Git, start: Start, before: "Before") -> str | None:
        """One commit of what the agent did, or None; what git cannot take of it is named."""
        taken = take(clone, start.point)
        left = told_left(left_behind(clone, taken), before.left)
        self.left_behind = tuple(map(self.redactor.text, left))
        return squash(clone, self._context.key, start, taken.tree, before.tree)

    def _keep(
        self, config: Config, clone: Git, remote: Remote, start: Start, commit: str | None, *, fresh: bool
    ) -> Change | None:
        """Judge the change and keep it; None if there is none, or none any more."""
        if commit is None:
            return None
        if fresh:
            start, commit = look_again(
                clone, remote, self._context.key, start, commit, self._context.default_branch
            )
            if not start.contradicts and has_nothing_of_its_own(clone, start, commit):
                return None
        limits = limits_of(config)
        return hand_over(
            clone, start, commit, limits, self.redactor, self._context.unit.exceptions, self._context.out
        )

    def _judged(self, report: Report, tried: Tried, change: Change) -> Worked:
        findings = change.findings
        kept = replace(
            report,
            head="" if findings.secret else change.commit,
            base=change.start.base,
            branch=change.start.branch,
            files_changed=len(change.files),
            statistics={**report.statistics, "secrets": len(findings.secret)},
        )
        notes = "; ".join(filter(None, (*change.start.notes, in_words(kept.left_behind))))
        if tried.outcome is not None:
            return Worked(kept)
        if change.unsettled:
            red = GateResult(CONFLICTS, GateStatus.FAILED, tail=change.unsettled)
            gates = (*(gate for gate in kept.gates if gate.name != CONFLICTS), red)
            return Worked(replace(kept, outcome=Outcome.FAILED, reason=change.unsettled, gates=gates))
        if change.start.contradicts:
            words = f"{change.start.contradicts}: the next attempt begins with both"
            return Worked(replace(kept, outcome=Outcome.INFRA, reason=words, conflict=True))
        if findings:
            held = replace(kept, outcome=Outcome.HELD, reason=findings.words(), hold=findings.hold)
            return Worked(held, verify=not findings.secret and not findings.refused)
        return Worked(replace(kept, reason=notes), verify=True)


class Before(Struct, frozen=True):
    """The files as the agent found them: their tree, and what git could not take of them."""

    tree: str
    left: Mapping[str, str]


def _settle(clone: Git, key: Key, start: Start, before: str) -> Settled | None:
    """Remember the files as they are; None if the agent changed nothing. The result can put them back to that."""
    tree = snapshot(clone, start.point)
    if tree == before and (start.conflicts or not start.carries):
        return None
    left = ""
    if start.conflicts:
        left = unsettled(clone, clone.commit(tree, start.parents, message(key)), start.conflicts)
    return Settled(lambda: _undo(clone, tree), left)


def _undo(clone: Git, tree: str) -> None:
    """Take back what gates have left behind; what is ignored stays."""
    clone.call("read-tree", tree)
    clone.call("checkout-index", "--force", "--all")
    clone.call("clean", "--quiet", "-fd", check=False)


def _sides(clone: Git) -> tuple[str, ...]:
    """The sides of the conflict, by the names that its markers have, for an agent that wants to look at them."""
    refs = (f"refs/{name}" for name in (DEFAULT_BRANCH, PULL_REQUEST, EARLIER_WORK))
    return tuple(ref for ref in refs if clone.holds("rev-parse", "--quiet", "--verify", ref))


def _is_untouched(clone: Git, start: Start) -> bool:
    """Whether the work begins with the files of the default branch."""
    point, base = (clone.text("rev-parse", f"{commit}^{{tree}}") for commit in (start.point, start.base))
    return point == base


def _is_unchanged(clone: Git, start: Start, commit: str | None) -> bool:
    """Whether the agent left everything as it found it; a conflict that it did not touch is nothing that it did."""
    if commit is None or not start.conflicts:
        return commit is None
    begun, now = (clone.text("rev-parse", f"{one}^{{tree}}") for one in (start.point, commit))
    return begun == now


def _asked(tried: Tried) -> Tried:
    """An agent that changed nothing and ends with a question asks it."""
    question = last_question(tried.last)
    if question is None:
        return tried
    words = "the agent asks a question in its last words"
    return replace(tried, outcome=Outcome.BLOCKED, reason=words, question=question)


def _named_gates(config: Config, context: JobContext) -> list[Gate]:
    """The gates that will really run: those that the conductor named."""
    named = {name for leg in context.unit.verify for name in leg.gates}
    return [gate for gate in config.gates if gate.name in named]
