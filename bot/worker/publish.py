"""`cf publish`: decide the outcome, and publish exactly the verified commit.

Runs nothing of the change and trusts none of its words.
"""

from pathlib import Path
from tempfile import TemporaryDirectory

from msgspec import Struct
from msgspec.structs import replace

from bot.github.port import GitHub
from bot.model.config import Config
from bot.model.errors import BotError, CannotGoOn, NotFound, Refused, TryLater
from bot.model.issue import Issue, Pull
from bot.model.record import Record
from bot.model.report import GateResult, GateStatus, Outcome, Report
from bot.model.unit import Kind
from bot.notation.codec import Unreadable
from bot.notation.config import read_config
from bot.notation.keys import branch_of, read_key
from bot.worker.artifact import WorkGone, download_earlier, find_bundle, find_report
from bot.worker.checks import Findings, judge_change, limits_of
from bot.worker.claim import read_own_record, still_wanted
from bot.worker.gates import all_passed
from bot.worker.git import EMAIL, Git, GitFailed, Remote
from bot.worker.handover import change_base, fetch_branch
from bot.worker.history import message
from bot.worker.outcome import Judgement, Results, judge_results
from bot.worker.place import Place
from bot.worker.pulltext import PullWords
from bot.worker.redact import Redactor
from bot.worker.verify import read_results, take_bundle

SETTING = "Settings > Actions > General > Workflow permissions > Allow GitHub Actions to create and approve pull requests"


class Offer(Struct, frozen=True):
    """A change that may be published: the report so far, its bundle, and the gates that passed on its commit."""

    report: Report
    bundle: Path
    gates: tuple[GateResult, ...]
    held: str = ""  # why it may not go out although all else is well

    @property
    def verified(self) -> bool:
        return all_passed(self.gates)


def publish(github: GitHub, place: Place) -> Report:
    """Publish or say why not; the report is the result. Raises BotError only where publishing can be done again as it is."""
    config = read_config(github.file(place.unit.config_blob), place.unit.config_blob)
    with TemporaryDirectory(dir=place.temp) as folder:
        offer = (
            _earlier_offer(github, place, Path(folder)) if place.unit.kind is Kind.PUBLISH else _offer(place)
        )
        report = _Publication(github, place, config).carry_out(offer) if isinstance(offer, Offer) else offer
    redactor = Redactor(place.secrets)
    return replace(
        report,
        reason=redactor.text(report.reason),
        message=redactor.text(report.message),
        run_attempt=place.run_attempt,
        engine=place.unit.engine,
        model=redactor.text(report.model) or place.unit.model,
    )


def _offer(place: Place) -> Offer | Report:
    """What the jobs before this one have left."""
    key = str(place.key)
    try:
        work = find_report(place.out, key)
    except Unreadable:
        work = None
    bundle = find_bundle(place.out, key)
    results = Results(
        agent=place.environ.get("CF_AGENT_RESULT", ""),
        verify=place.environ.get("CF_VERIFY_RESULT", ""),
        legs=bool(place.unit.verify),
        work=work,
        change=bundle is not None,
    )
    judgement = judge_results(results)
    base = work or Report(key, place.key.task, Outcome.INFRA)
    base = replace(base, task=place.key.task, pull=0, merged=False)
    if judgement.outcome is not None or bundle is None:
        return _without_change(place, base, judgement)
    gates = _gates_passed(place) if judgement.verified else ()
    return Offer(replace(base, gates=gates), bundle, gates)


def _without_change(place: Place, base: Report, judgement: Judgement) -> Report:
    outcome = judgement.outcome or Outcome.INFRA
    question = base.question if outcome is Outcome.BLOCKED else None
    gates = base.gates
    if outcome is Outcome.FAILED and (legs := read_results(place.verify_out)):
        gates = tuple(gate for leg in legs for gate in leg.gates)
    return replace(base, outcome=outcome, reason=judgement.reason, question=question, gates=gates)


def _gates_passed(place: Place) -> tuple[GateResult, ...]:
    """The verify job succeeded, so each gate that the conductor named has passed; how long it took is the legs' word."""
    seconds = {
        (leg.leg, gate.name): gate.seconds for leg in read_results(place.verify_out) for gate in leg.gates
    }
    several = len(place.unit.verify) > 1
    return tuple(
        GateResult(
            f"{name} ({leg.os})" if several else name, GateStatus.PASSED, seconds.get((leg.name, name), 0.0)
        )
        for leg in place.unit.verify
        for name in leg.gates
    )


def _earlier_offer(github: GitHub, place: Place, folder: Path) -> Offer | Report:
    """Work of an earlier attempt. It is verified if that attempt's publish job said so of this very commit, as the record knows."""
    base = Report(str(place.key), place.key.task, Outcome.HELD)
    try:
        bundle, worked, published = download_earlier(github, place.unit.earlier, folder)
    except WorkGone as error:
        return replace(base, reason=f"{error}: only a new attempt can help")
    if bundle is None:
        return replace(
            base, reason="the kept work holds no commit that could be published: only a new attempt can help"
        )
    told = published or worked
    gates = published.gates if published is not None and _recorded(github, place, published) else ()
    if told is not None:
        base = replace(told, key=str(place.key), task=place.key.task, pull=0, merged=False, question=None)
    return Offer(
        replace(base, gates=gates if all_passed(gates) else ()), bundle, gates if all_passed(gates) else ()
    )


def _recorded(github: GitHub, place: Place, published: Report) -> bool:
    """Whether the conductor's own record names the commit of that report."""
    earlier = read_key(published.key)
    record = read_own_record(github, place.unit)
    if earlier is None or record is None or not published.head:
        return False
    return any(
        attempt.number == earlier.number and attempt.head == published.head for attempt in record.attempts
    )


class _Publication:
    """One change on its way out."""

    def __init__(self, github: GitHub, place: Place, config: Config) -> None:
        self._github = github
        self._place = place
        self._config = config
        self._git = Git(place.workspace / ".git", place.environ, tree=place.workspace)
        self._remote = Remote(self._git.text("config", "--local", "--get", "remote.origin.url"), place.token)
        self._redactor = Redactor(place.secrets)

    def carry_out(self, offer: Offer) -> Report:
        commit = take_bundle(self._git, self._place, offer.bundle)
        if offer.verified and self._place.unit.kind is Kind.PUBLISH and commit != offer.report.head:
            offer = replace(offer, gates=(), report=replace(offer.report, gates=()))
        self._git.fetch(self._remote, f"+refs/heads/{self._place.default_branch}:refs/cf/base")
        head = fetch_branch(self._git, self._remote, branch_of(self._place.key))
        report = replace(offer.report, head=commit, base=self._git.text("merge-base", "refs/cf/base", commit))
        if findings := self._findings(commit, head):
            return replace(
                report, outcome=Outcome.HELD, reason=findings.words(), head="" if findings.secret else commit
            )
        wanted = self._still_wanted()
        if isinstance(wanted, str):
            return replace(report, outcome=Outcome.CANCELLED, reason=wanted)
        branch, notes = self._push(commit, head)
        report = replace(report, branch=branch)
        return self._pull(report, offer, wanted, notes)

    def _findings(self, commit: str, head: str | None) -> Findings:
        """The change judged anew, as if nobody had looked before: the agent's job could have been tricked."""
        published = ["refs/cf/base", *([head] if head else [])]
        ours = self._git.text("log", "--format=%H %ae %ce", commit, "--not", *published).splitlines()
        if any(line.split(" ")[1:] != [EMAIL, EMAIL] for line in ours):
            return Findings(refused=("the kept work holds commits that are not ours",))
        words = self._git.call("log", "--format=%B%x00", commit, "--not", *published).output.split("\0")
        if any(not self._is_our_message(text) for text in words if text.strip()):
            return Findings(refused=("the kept work holds a commit message that is not ours",))
        before = (
            change_base(self._git, commit)
            if len(ours) <= 1
            else self._git.text("merge-base", "refs/cf/base", commit)
        )
        _, findings = judge_change(
            self._git, before, commit, limits_of(self._config), self._redactor, self._place.unit.exceptions
        )
        return findings

    def _is_our_message(self, text: str) -> bool:
        key = read_key(text.strip().rpartition("Attempt ")[2].rstrip("."))
        return key is not None and key.task == self._place.key.task and text.strip() == message(key).strip()

    def _still_wanted(self) -> tuple[Issue, Record] | str:
        """Issue and record as they are at this moment, or why nothing is to be published any more."""
        try:
            issue = self._github.issue(self._place.key.task)
        except NotFound:
            return f"#{self._place.key.task} is gone"
        record = read_own_record(self._github, self._place.unit)
        if refusal := still_wanted(issue, record, self._place.key):
            return refusal.reason
        assert record is not None
        return issue, record

    def _push(self, commit: str, head: str | None) -> tuple[str, list[str]]:
        """Push to the task's branch if that only adds to it, else to a branch of this attempt. Raises GitFailed."""
        own = branch_of(self._place.key)
        if (head is None or self._may_add(head, commit)) and self._git.push(self._remote, commit, own):
            return own, []
        fresh = branch_of(self._place.key, fresh=True)
        if self._git.push(self._remote, commit, fresh):
            return fresh, [f"{own} is at a commit that this work does not stand on, so it is left as it is"]
        raise GitFailed(f"both {own} and {fresh} have moved: nothing was overwritten")

    def _may_add(self, head: str, commit: str) -> bool:
        return self._git.is_ancestor(head, commit)

    def _pull(self, report: Report, offer: Offer, wanted: tuple[Issue, Record], notes: list[str]) -> Report:
        words = PullWords(
            task=report.task,
            key=report.key,
            issue_title=self._redactor.text(wanted[0].title),
            said=self._redactor.text(report.message),
            gates=offer.gates,
            notes=[*notes, report.reason if report.outcome is Outcome.UNVERIFIED else ""],
            run_url=self._place.run_url,
            accounts=self._place.unit.accounts,
        )
        try:
            pull = self._open_or_update(report.branch, words, draft=not offer.verified)
        except (Refused, CannotGoOn) as error:
            return replace(report, outcome=Outcome.HELD, reason=self._refused(report.branch, error))
        report = replace(report, pull=pull.number, reason="; ".join(notes))
        if not offer.verified:
            return replace(
                report,
                outcome=Outcome.UNVERIFIED,
                reason=f"no gate has proven it: review draft #{pull.number}",
            )
        return self._merge(replace(report, outcome=Outcome.PASSED))

    def _open_or_update(self, branch: str, words: PullWords, *, draft: bool) -> Pull:
        if (there := self._github.pull_by_branch(branch)) is not None:
            return self._github.update_pull(there.number, words.title(), words.body())
        base = self._place.default_branch
        try:
            return self._github.open_pull(branch, base, words.title(), words.body(), draft)
        except Refused as error:
            if not draft or "draft" not in str(error).lower():
                raise
            # Some plans have no drafts in private repositories: the title says it instead.
            return self._github.open_pull(
                branch, base, f"[not verified] {words.title()}", words.body(), draft=False
            )

    def _refused(self, branch: str, error: BotError) -> str:
        base, said = self._place.default_branch, str(error).rstrip(".")
        link = f"{self._place.server}/{self._place.repository}/compare/{base}...{branch}?expand=1"
        return (
            f"the branch {branch} is pushed, but GitHub refused the pull request ({said})."
            f" Allow it in {SETTING!r}, or open it here: {link}"
        )

    def _merge(self, report: Report) -> Report:
        if self._config.merge != "auto":
            return report
        wanted = self._still_wanted()
        if isinstance(wanted, str):
            return replace(report, reason=f"not merged: {wanted}")
        try:
            merged = self._github.merge_pull(report.pull, report.head)
        except TryLater:
            raise
        except BotError as error:
            return replace(report, reason=f"not merged: {error}")
        return replace(
            report,
            merged=merged,
            reason=report.reason if merged else "not merged: GitHub says it cannot be merged now",
        )
