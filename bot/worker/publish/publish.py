"""`cf publish`: decide the outcome, and publish exactly the verified commit.

Runs nothing of the change and trusts none of its words.
"""

from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TypeVar

import msgspec
from msgspec.structs import replace

from bot.github.credential import Credential
from bot.github.port import GitHub
from bot.model.config import Config
from bot.model.errors import BotError, CannotGoOn, NotFound, Refused
from bot.model.issue import Issue
from bot.model.record import Record
from bot.model.report import Hold, Outcome, Report
from bot.model.unit import Kind
from bot.notation.codec import Unreadable
from bot.notation.keys import branch_of
from bot.notation.reports import report_name
from bot.worker.change.bundle import is_our_message
from bot.worker.change.git import EMAIL, Git, GitFailed, PushRefused, Remote, Unauthorised
from bot.worker.change.hand_over import ALREADY_THERE, PATCH_FILE, fetch_branch
from bot.worker.change.judge import Findings, change_base, judge_change, limits_of, patch_base, write_patch
from bot.worker.change.left_behind import in_words
from bot.worker.change.merging import is_plain_merge, unsettled
from bot.worker.change.stale import is_stale_refusal
from bot.worker.change.starting_point import is_already_there, is_ours, is_over, own_branch
from bot.worker.job.claim import read_own_record, still_wanted, unapproved
from bot.worker.job.configuration import configuration_of
from bot.worker.job.context import JobContext
from bot.worker.programs.redact import Redactor
from bot.worker.publish.proof import Proven, earlier_offer, offer_of_jobs, proof_of
from bot.worker.publish.pull_request import Merging, PullRequest
from bot.worker.publish.pull_request_text import PullWords

SETTING = "Settings > Actions > General > Workflow permissions > Allow GitHub Actions to create and approve pull requests"
_T = TypeVar("_T")


class NotWanted(BotError):
    """People have decided otherwise meanwhile; the text says what."""


class _Stale(BotError):
    """The branches have moved on so that this commit cannot be published any more; the text says how."""


def publish(github: GitHub, context: JobContext, credential: Credential) -> Report:
    """Publish or say why not; the report is the result. Raises BotError only where publishing can be done again as it is."""
    config = configuration_of(github, context.unit)
    git = Git(context.workspace / ".git", context.environ, tree=context.workspace)
    with TemporaryDirectory(dir=context.temp) as folder:
        proven = (
            earlier_offer(github, git, context, Path(folder))
            if context.unit.kind is Kind.PUBLISH
            else offer_of_jobs(git, context, config)
        )
    if context.unit.kind is Kind.GATE:
        report = proof_of(proven)
    elif isinstance(proven, Proven):
        report = _Publication(github, git, context, config, credential).carry_out(proven)
    else:
        report = proven
    told = replace(
        report,
        run_attempt=context.run_attempt,
        engine=context.unit.engine,
        model=report.model or context.unit.model,
    )
    return _redacted(told, Redactor((*context.secrets, credential.token)))


def _redacted(report: Report, redactor: Redactor) -> Report:
    """Every word of it, whoever put it there."""

    def clean(value: object) -> object:
        if isinstance(value, str):
            return redactor.text(value)
        if isinstance(value, dict):
            return {name: clean(inner) for name, inner in value.items()}
        return [clean(inner) for inner in value] if isinstance(value, list | tuple) else value

    return msgspec.convert(clean(msgspec.to_builtins(report)), Report)


class _Publication:
    """One change on its way out."""

    def __init__(
        self, github: GitHub, git: Git, context: JobContext, config: Config, credential: Credential
    ) -> None:
        self._github = github
        self._git = git
        self._context = context
        self._config = config
        self._credential = credential
        self._url = git.text("config", "--local", "--get", "remote.origin.url")
        self._redactor = Redactor((*context.secrets, credential.token))

    def carry_out(self, proven: Proven) -> Report:
        commit = proven.commit
        self._fetch_base()
        report = replace(
            proven.report, head=commit, base=self._git.text("merge-base", "refs/cf/base", commit)
        )
        try:
            issue, record = self._look_again()
            own = own_branch(self._context.key, record, issue)
            head = self._talk(lambda remote: fetch_branch(self._git, remote, own))
            if (ended := self._not_to_publish(report, head)) is not None:
                return ended
            issue, record = self._look_again()
            branch, notes = self._push(commit, head, issue, record)
            report = replace(report, branch=branch)
            issue, record = self._look_again()
        except NotWanted as error:
            return replace(report, outcome=Outcome.CANCELLED, reason=str(error))
        except _Stale as error:
            return self._stale(report, str(error))
        except PushRefused as error:
            return self._push_refused(report, self._redactor.text(str(error)))
        return self._pull(report, proven, issue, record, notes)

    def _not_to_publish(self, report: Report, head: str | None) -> Report | None:
        """Why this commit may not go out as it is, or None."""
        commit = report.head
        if is_already_there(self._git, commit, "refs/cf/base"):
            return replace(report, outcome=Outcome.NO_CHANGES, reason=ALREADY_THERE, gates=())
        if words := unsettled(self._git, commit):
            return replace(report, outcome=Outcome.FAILED, reason=words)
        findings = self._findings(commit, head)
        return self._held(report, findings) if findings else None

    def _push_refused(self, report: Report, said: str) -> Report:
        self._fetch_base()
        if is_stale_refusal(self._git, report.head, "refs/cf/base", said):
            return self._stale(
                report, f"the workflow files of {self._context.default_branch} have changed since"
            )
        reason = f"GitHub refused the branch: {said}. {self._patch(report.head)}"
        # What an order lets through and GitHub does not (a workflow file) waits for a person; no later try would help.
        allowed = self._context.unit.exceptions
        hold = Hold.PROTECTED if allowed else Hold.SETTING
        return replace(report, outcome=Outcome.HELD, hold=hold, protected=allowed, reason=reason)

    def _stale(self, report: Report, why: str) -> Report:
        """Nobody's setting: the world has moved on. The same commit is not tried again."""
        reason = f"{why}, so it is brought up to date and verified again before it is published; no agent runs for that"
        allowed = self._context.unit.exceptions
        return replace(report, outcome=Outcome.HELD, hold=Hold.STALE, protected=allowed, reason=reason)

    def _fetch_base(self) -> None:
        wanted = f"+refs/heads/{self._context.default_branch}:refs/cf/base"
        self._talk(lambda remote: self._git.fetch(remote, wanted))

    def _talk(self, call: Callable[[Remote], _T]) -> _T:
        """Talk to the remote; with a new token once, where ours is not taken any more and another can be had."""
        token = self._credential.token
        try:
            return call(Remote(self._url, token))
        except Unauthorised:
            if not self._credential.renew(token):
                raise
        return call(Remote(self._url, self._credential.token))

    def _findings(self, commit: str, head: str | None) -> Findings:
        """The change judged anew, as if nobody had looked before: the agent's job could have been tricked."""
        published = ["refs/cf/base", *([head] if head else [])]
        ours = self._git.text("log", "--format=%H %ae %ce", commit, "--not", *published).splitlines()
        if any(line.split(" ")[1:] != [EMAIL, EMAIL] for line in ours):
            return Findings(refused=("the kept work stands on commits that are not ours",))
        words = self._git.call("log", "--format=%B%x00", commit, "--not", *published).output.split("\0")
        if any(not is_our_message(text, self._context.key.task) for text in words if text.strip()):
            return Findings(refused=("the kept work stands on a commit whose message is not ours",))
        before = (
            change_base(self._git, commit)
            if len(ours) <= 1
            else self._git.text("merge-base", "refs/cf/base", commit)
        )
        _, findings = judge_change(
            self._git, before, commit, limits_of(self._config), self._redactor, self._context.unit.exceptions
        )
        return findings

    def _held(self, report: Report, findings: Findings) -> Report:
        """What needs a person, with all that the person needs: why, the patch, and what an order would let through."""
        words = findings.words()
        if findings.secret:
            return replace(report, outcome=Outcome.HELD, reason=words, hold=findings.hold, head="")
        words = f"{words}. {self._patch(report.head)}"
        if findings.exceptions:
            words += " `/cf publish` on the issue lets exactly these paths through."
        return replace(
            report,
            outcome=Outcome.HELD,
            reason=words,
            hold=findings.hold,
            protected=findings.exceptions,
        )

    def _patch(self, commit: str) -> str:
        """Keep the change for people, beside the report; the sentence that says where."""
        context = self._context
        context.report_out.mkdir(parents=True, exist_ok=True)
        write_patch(self._git, patch_base(self._git, commit), commit, context.report_out / PATCH_FILE)
        name = report_name(str(context.key))
        where = f"the artifact `{name}` of {context.run_url}#artifacts"
        return f"The patch is in {where}; to take it by hand: `git apply {PATCH_FILE}`."

    def _look_again(self) -> tuple[Issue, Record]:
        """Issue and record as they are at this moment. Raises NotWanted if nothing is to be published any more."""
        key = self._context.key
        try:
            issue = self._github.issue(key.task)
        except NotFound:
            raise NotWanted(f"#{key.task} is gone") from None
        try:
            record = read_own_record(self._github, self._context.unit, issue)
        except Unreadable as error:
            raise NotWanted(f"the record of #{key.task} cannot be read: {error}") from None
        if refusal := still_wanted(issue.is_open, record, key):
            raise NotWanted(refusal.reason)
        assert record is not None
        if words := unapproved(self._github, issue, record, self._config, self._context.unit.accounts):
            raise NotWanted(words)
        return issue, record

    def _push(self, commit: str, head: str | None, issue: Issue, record: Record) -> tuple[str, list[str]]:
        """Push to the task's branch if that only adds to it, else, or if its pull request is over, to one of this attempt.

        Raises GitFailed, and _Stale where people have added to our branch meanwhile: theirs is kept below ours.
        """
        own = own_branch(self._context.key, record, issue)
        adds = head is None or (self._git.is_ancestor(head, commit) and not is_over(issue, own))
        if adds and self._talk(lambda remote: self._git.push(remote, commit, own)):
            return own, []
        if adds:
            head = self._talk(lambda remote: fetch_branch(self._git, remote, own))
        base = self._git.text("rev-parse", "refs/cf/base^{commit}")
        if head is not None and is_ours(self._git, head, base, record, issue, own):
            raise _Stale(f"{own} got other commits meanwhile")
        fresh = branch_of(self._context.key, fresh=True)
        if self._talk(lambda remote: self._git.push(remote, commit, fresh)):
            return fresh, [f"{own} is at a commit that this work does not stand on, so it is left as it is"]
        raise GitFailed(f"both {own} and {fresh} have moved: nothing was overwritten")

    def _pull(self, report: Report, proven: Proven, issue: Issue, record: Record, notes: list[str]) -> Report:
        fresh = report.branch == branch_of(self._context.key, fresh=True)
        words = PullWords(
            task=report.task,
            key=report.key,
            issue_title=issue.title,
            said=report.message,
            gates=proven.gates,
            notes=[
                *notes,
                report.reason if report.outcome is Outcome.UNVERIFIED else in_words(report.left_behind),
            ],
            run_url=self._context.run_url,
            own_account=self._credential.of_app,
            replaces=record.pull if fresh else 0,
        )
        pulls = PullRequest(self._github, self._redactor, self._context.default_branch)
        try:
            pull, trouble = pulls.offer(report.branch, words, verified=proven.verified)
        except (Refused, CannotGoOn) as error:
            reason = self._refused(report.branch, error)
            return replace(report, outcome=Outcome.HELD, hold=Hold.SETTING, reason=reason)
        left = [in_words(report.left_behind)] if report.left_behind else []
        notes = [*notes, *trouble, *pulls.replace_earlier(words.replaces, pull), *left]
        report = replace(report, pull=pull.number, reason="; ".join(notes))
        if not proven.verified:
            reason = "; ".join([f"no gate has proven it: review draft #{pull.number}", *trouble])
            return replace(report, outcome=Outcome.UNVERIFIED, reason=reason)
        passed = replace(report, outcome=Outcome.PASSED)
        if self._config.merge != "auto":
            return passed
        if self._holds_peoples_commits(report.head):
            theirs = f"not merged: people have added to {report.branch}, so #{report.pull} is theirs to merge"
            return replace(passed, reason="; ".join(filter(None, (passed.reason, theirs))))
        return self._merge(passed, pulls)

    def _holds_peoples_commits(self, commit: str) -> bool:
        """Whether the branch holds anything that people wrote. A merge that adds nothing ("Update branch") is none of that."""
        listed = self._git.text("log", "--format=%H %ae %ce", commit, "--not", "refs/cf/base").splitlines()
        others = [line.split(" ")[0] for line in listed if line.split(" ")[1:] != [EMAIL, EMAIL]]
        return not all(is_plain_merge(self._git, one) for one in others)

    def _refused(self, branch: str, error: BotError) -> str:
        base, said = self._context.default_branch, str(error).rstrip(".")
        link = f"{self._context.server}/{self._context.repository}/compare/{base}...{branch}?expand=1"
        return (
            f"the branch {branch} is pushed, but GitHub refused the pull request ({said})."
            f" Allow it in {SETTING!r}, or open it here: {link}"
        )

    def _merge(self, report: Report, pulls: PullRequest) -> Report:
        """`merge: auto`, of what is proven only."""
        try:
            self._look_again()
        except NotWanted as error:
            return replace(report, reason=f"not merged: {error}")
        merging = pulls.merge(report.head, later=self._credential.of_app)
        if merging is Merging.MERGED:
            return replace(report, merged=True)
        self._fetch_base()
        if merging is Merging.REFUSED and self._git.merged_tree("refs/cf/base", report.head) is None:
            words = f"not merged: #{report.pull} contradicts the default branch as it is now"
            return replace(report, conflict=True, reason=words)
        words = "; ".join(filter(None, (report.reason, pulls.said)))
        return replace(report, unmerged=merging is Merging.REFUSED, reason=words)
