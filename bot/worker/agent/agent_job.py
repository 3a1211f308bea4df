"""`cf work`, the agent's job: claim check, start, agent, hand-over. Whatever happens, it ends with a report."""

import logging
import time
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path

from msgspec.structs import replace

from bot.github.port import Reader
from bot.model.config import Config, EngineConfig
from bot.model.engine import COMMAND
from bot.model.errors import BotError
from bot.model.report import Outcome, Report
from bot.model.unit import Gate
from bot.notation.fingerprints import failure_fingerprint
from bot.notation.keys import branch_of
from bot.worker.agent.hooks import run_hook, told
from bot.worker.agent.ownfiles import OwnFiles, empty
from bot.worker.agent.rounds import Bench, Tried, work_in_rounds
from bot.worker.change.agent_settings import clean_repository, clean_workspace, restore_settings
from bot.worker.change.bundle import Unfit, read_bundle
from bot.worker.change.git import Git, GitCancelled, GitFailed, Remote
from bot.worker.change.hand_over import Change, fetch_branch, hand_over, look_again, squash
from bot.worker.change.judge import limits_of
from bot.worker.change.own_clone import open_ledger, snapshot
from bot.worker.change.starting_point import Start, choose_start, is_ours
from bot.worker.engines import Brief, engine
from bot.worker.engines.install import install, with_tools
from bot.worker.job.artifact import WorkGone, download_earlier, save_report
from bot.worker.job.claim import Claim, Refusal, judge_claim, read_claim
from bot.worker.job.configuration import configuration_of
from bot.worker.job.isolation import isolated
from bot.worker.job.place import Place
from bot.worker.job.watch import watching
from bot.worker.job.worked import Worked
from bot.worker.programs.cancellation import Cancellation
from bot.worker.programs.environment import agent_environment, gate_environment
from bot.worker.programs.gates import SET_UP, Shop, run_setup
from bot.worker.programs.redact import Redactor
from bot.worker.prompt.gather import gather, template_of
from bot.worker.prompt.prompt import write_prompt

log = logging.getLogger(__name__)


def work(
    github: Reader,
    place: Place,
    cancellation: Cancellation,
    write: Callable[[str], object],
) -> Worked:
    """Do the agent's job. Raises UsageError if the configuration is wrong; every other end is a report, saved in `place.out`.

    A report is on disk from the first moment a reason is known, since a cancelled job has only seconds.
    """
    began = time.monotonic()
    empty(place.out)
    job = _Job(github, place, cancellation, write)
    try:
        worked = job.run()
    except GitCancelled:
        worked = Worked(job.report(Outcome.CANCELLED, cancellation.reason))
    except (BotError, OSError) as error:
        if isinstance(error, BotError) and error.exit_code == 2:
            save_report(place.out, job.report(Outcome.INFRA, str(error)))
            raise
        if cancellation.reason:
            worked = Worked(job.report(Outcome.CANCELLED, cancellation.reason))
        else:
            worked = Worked(job.report(Outcome.INFRA, job.redactor.text(str(error))))
    seconds = time.monotonic() - began
    statistics = {**worked.report.statistics, "worker_seconds": round(seconds - sum(job.spent.values()), 1)}
    report = replace(worked.report, minutes=round(seconds / 60, 2), statistics=statistics)
    save_report(place.out, report)
    return replace(worked, report=report)


class _Job:
    """The steps of one agent's job, in order; what one step learns, the next ones use."""

    def __init__(
        self,
        github: Reader,
        place: Place,
        cancellation: Cancellation,
        write: Callable[[str], object],
    ) -> None:
        self._github = github
        self._place = place
        self._cancellation = cancellation
        self._write = write
        self.redactor = Redactor(place.secrets)
        self.spent: dict[str, float] = {}  # seconds of what is not our own doing
        self._known: dict[str, object] = {}  # what every report from here on says

    def report(self, outcome: Outcome, reason: str, **more: object) -> Report:
        base = Report(
            str(self._place.key), self._place.key.task, outcome, reason, run_attempt=self._place.run_attempt
        )
        unit = self._place.unit
        return replace(base, **{"engine": unit.engine, "model": unit.model, **self._known, **more})

    def run(self) -> Worked:
        config = configuration_of(self._github, self._place.unit)
        facts = read_claim(self._github, self._place, config)
        claim = judge_claim(facts)
        if isinstance(claim, Refusal):
            return Worked(self.report(Outcome.REFUSED, claim.reason))
        self._place = isolated(self._place, config.isolation, self._cancellation)
        alone = facts.legs <= 1
        with watching(
            self._github,
            self._place,
            self._cancellation,
            timedelta(0) if alone else config.reconcile_interval,
        ):
            return self._work(config, claim)

    def _work(self, config: Config, claim: Claim) -> Worked:
        place = self._place
        if place.unit.engine != COMMAND and not place.model_key:
            words = f"the engine {place.unit.engine} needs its key: the secret {place.unit.secret} is not set"
            return Worked(self.report(Outcome.INFRA, words))
        home = empty(place.temp / "cf-home")
        ledger, remote = open_ledger(
            place.workspace, place.temp / "cf-ledger.git", place.environ, self._cancellation
        )
        remote = replace(remote, token=place.token)
        start, earlier = self._start(ledger, remote, claim)
        self._prepare(ledger, start)
        files = OwnFiles(place.workspace)
        files.prepare()
        gate_shop = self._shop({**gate_environment(place.environ), "HOME": str(home)})
        tools = empty(place.temp / "cf-engine")
        if (trouble := self._set_up(config, claim, gate_shop, tools)) is not None:
            return trouble
        before = snapshot(ledger, start.point)  # what set-up leaves lying about is not the agent's work
        gates = _named_gates(config, place)
        context = gather(self._github, place, config, claim, ledger, start, gates, earlier)
        prompt = write_prompt(context, template_of(ledger, start.base))
        self._known |= {"source": start.source, "left_out": prompt.left_out}
        files.prompt.write_text(self.redactor.text(prompt.text), encoding="utf-8")
        own = config.engines.get(place.unit.engine, EngineConfig())
        environment = agent_environment(place.environ, home)
        bench = Bench(
            engine=engine(place.unit.engine),
            shop=self._shop({**environment, "PATH": with_tools(environment["PATH"], tools)}),
            gate_shop=gate_shop,
            gates=[gate for gate in gates if set(gate.os) & set(place.unit.runner)],
            corrections=config.corrections,
            timeout=timedelta(minutes=place.unit.timeout_minutes),
            stall=config.stall.timeout or None,
            budget=config.budget.attempt,
            settle=lambda: _settle(ledger, start, before),
        )
        tried = work_in_rounds(bench, self._brief(files, own, home), files)
        self.spent |= {"agent_seconds": tried.agent_seconds, "gate_seconds": tried.gate_seconds}
        return self._finish(config, ledger, remote, start, before, tried)

    def _set_up(self, config: Config, claim: Claim, shop: Shop, tools: Path) -> Worked | None:
        """The repository's set-up, the engine's program, and the hook before the agent; how it ended, if it ends here."""
        began = time.monotonic()
        own = config.engines.get(self._place.unit.engine, EngineConfig())
        trouble = run_setup(config.setup, shop) or install(engine(self._place.unit.engine), own, tools, shop)
        outcome = Outcome.INFRA
        if not trouble:
            trouble, outcome = self._before_task(config, claim, shop), Outcome.FAILED
        self.spent["setup_seconds"] = time.monotonic() - began
        if not trouble:
            return None
        if self._cancellation.reason:
            return Worked(self.report(Outcome.CANCELLED, self._cancellation.reason))
        failure = failure_fingerprint([(SET_UP, trouble)]) if outcome is Outcome.INFRA else ""
        return Worked(self.report(outcome, trouble, failure=failure))

    def _before_task(self, config: Config, claim: Claim, shop: Shop) -> str:
        """Run the hook before the agent; the words of its failure, or nothing."""
        facts = told(self._place.key, claim.issue.title, "in-progress", self._place.workspace)
        result = run_hook("before_task", config.hooks.before_task, shop, config.hooks.timeout, facts)
        if result is None:
            return ""
        self._known["hooks"] = (result,)
        return "" if result.passed else f"the hook before_task failed:\n{result.tail}"

    def _start(self, ledger: Git, remote: Remote, claim: Claim) -> tuple[Start, Report | None]:
        place = self._place
        base = Git(place.workspace / ".git", place.environ, cancellation=self._cancellation).text(
            "rev-parse", "HEAD^{commit}"
        )
        branch = branch_of(place.key)
        head = fetch_branch(ledger, remote, branch)
        ours = head is not None and is_ours(ledger, head, base, claim.record, claim.issue, branch)
        earlier, report, note = self._earlier(ledger)
        start = choose_start(ledger, place.key, base, head, ours=ours, earlier=earlier)
        return (replace(start, notes=(*start.notes, note)) if note else start), report

    def _earlier(self, ledger: Git) -> tuple[str | None, Report | None, str]:
        """The commit of kept work, the last report about it, and what could not be had."""
        if not self._place.unit.earlier:
            return None, None, ""
        folder = empty(self._place.temp / "cf-earlier")
        try:
            kept = download_earlier(self._github, self._place.unit.earlier, folder)
            commit = (
                read_bundle(ledger, kept.bundle, self._place.key.task) if kept.bundle is not None else None
            )
        except (WorkGone, Unfit) as error:
            return None, None, str(error).rstrip(".")
        return commit, kept.published or kept.worked, ""

    def _prepare(self, ledger: Git, start: Start) -> None:
        """The agent's workspace: a clean branch at the start, the default branch's agent settings, no hooks or credentials."""
        place = self._place
        workspace = Git(
            place.workspace / ".git", place.environ, tree=place.workspace, cancellation=self._cancellation
        )
        clean_repository(workspace)
        ledger.call("update-ref", "refs/cf/start", start.point)
        workspace.call("fetch", "--quiet", "--no-tags", str(ledger.folder), "+refs/cf/start:refs/cf/start")
        clean_workspace(workspace, start.point)
        workspace.call("checkout", "--quiet", "-B", start.branch)
        restore_settings(ledger, start.point, start.base, place.workspace)

    def _shop(self, environment: Mapping[str, str]) -> Shop:
        prefix = f"[#{self._place.key.task}] "
        return Shop(
            self._place.workspace, environment, self.redactor, self._write, prefix, self._cancellation
        )

    def _brief(self, files: OwnFiles, own: EngineConfig, home: Path) -> Brief:
        place = self._place
        return Brief(
            workspace=place.workspace,
            home=home,
            prompt=files.prompt,
            question=files.question,
            summary=files.summary,
            key=str(place.key),
            task=place.key.task,
            attempt=place.key.number,
            model_key=place.model_key,
            model=place.unit.model,
            provider=place.unit.provider,
            base_url=place.unit.base_url,
            args=own.args,
            env=own.env,
        )

    def _finish(
        self, config: Config, ledger: Git, remote: Remote, start: Start, before: str, tried: Tried
    ) -> Worked:
        place = self._place
        words = self.report(
            tried.outcome or Outcome.UNVERIFIED,
            tried.reason,
            message=tried.said,
            question=tried.question,
            gates=tried.gates,
            failure=tried.failure,
            rounds=tried.rounds,
            base=start.base,
            branch=start.branch,
            statistics={name: round(seconds, 1) for name, seconds in self.spent.items()},
            **self._told(config, tried),
        )
        empty(place.out)  # the agent could write there
        save_report(place.out, words)
        for name, text in (("agent.log", tried.log), ("gates.log", tried.gate_log)):
            (place.out / name).write_text(text, encoding="utf-8")
        if tried.outcome is Outcome.CANCELLED:
            ledger = Git(
                ledger.folder, place.environ, tree=place.workspace
            )  # the last seconds are for keeping the work
        try:
            change = self._keep(config, ledger, remote, start, before, fresh=tried.outcome is None)
        except GitCancelled:
            late = replace(tried, outcome=Outcome.CANCELLED, reason=self._cancellation.reason)
            return self._finish(config, ledger, remote, start, before, late)
        except (GitFailed, OSError) as error:
            lost = f"the work cannot be collected: {self.redactor.text(str(error))}"
            reason = f"{tried.reason}; {lost}" if tried.reason else lost
            return Worked(replace(words, outcome=tried.outcome or Outcome.FAILED, reason=reason))
        if change is None:
            return Worked(replace(words, outcome=tried.outcome or Outcome.NO_CHANGES))
        return self._judged(words, tried, change)

    def _told(self, config: Config, tried: Tried) -> dict[str, object]:
        """What the agent's own output says for the report, redacted: foreign words and counts, never decided on."""
        facts, redact = tried.facts, self.redactor.text
        own = config.engines.get(self._place.unit.engine, EngineConfig())
        pinned = engine(self._place.unit.engine).version if own.install is None else ""
        return {
            "version": pinned or redact(facts.version),
            "model": redact(facts.model) or self._place.unit.model,
            "tokens": facts.tokens,
            "usd": round(facts.usd, 6),
            "session": redact(facts.session),
            "steps": tuple(replace(step, text=redact(step.text)) for step in facts.steps),
            "retry_after": datetime.now(UTC) + tried.retry_after if tried.retry_after is not None else None,
        }

    def _keep(
        self, config: Config, ledger: Git, remote: Remote, start: Start, before: str, *, fresh: bool
    ) -> Change | None:
        commit = squash(ledger, self._place.key, start, snapshot(ledger, start.point), before)
        if commit is None:
            return None
        if fresh:
            start, commit = look_again(
                ledger, remote, self._place.key, start, commit, self._place.default_branch
            )
        limits = limits_of(config)
        return hand_over(
            ledger, start, commit, limits, self.redactor, self._place.unit.exceptions, self._place.out
        )

    def _judged(self, words: Report, tried: Tried, change: Change) -> Worked:
        findings = change.findings
        kept = replace(
            words,
            head="" if findings.secret else change.commit,
            base=change.start.base,
            branch=change.start.branch,
            files_changed=len(change.files),
            statistics={**words.statistics, "secrets": len(findings.secret)},
        )
        notes = "; ".join(change.start.notes)
        if tried.outcome is not None:
            return Worked(kept)
        if findings:
            held = replace(kept, outcome=Outcome.HELD, reason=findings.words(), hold=findings.hold)
            return Worked(held, verify=not findings.secret and not findings.refused)
        return Worked(replace(kept, reason=notes), verify=True)


def _settle(ledger: Git, start: Start, before: str) -> Callable[[], None] | None:
    """Remember the files as they are; None if the agent changed nothing. The result puts them back to that."""
    tree = snapshot(ledger, start.point)
    if tree == before and not start.carries:
        return None

    def undo() -> None:
        ledger.call("read-tree", tree)
        ledger.call("checkout-index", "--force", "--all")
        ledger.call("clean", "--quiet", "-fd", check=False)

    return undo


def _named_gates(config: Config, place: Place) -> list[Gate]:
    """The gates that will really run: those that the conductor named."""
    named = {name for leg in place.unit.verify for name in leg.gates}
    return [gate for gate in config.gates if gate.name in named]
