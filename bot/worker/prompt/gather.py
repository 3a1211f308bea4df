"""What a prompt is made of, read afresh from GitHub and the repository: nobody's words but authorised people's come out of here."""

from collections.abc import Collection, Sequence
from datetime import datetime

from bot.github.port import Reader
from bot.model.config import TEMPLATE_PATH, Config
from bot.model.errors import NotFound, Refused
from bot.model.issue import FIRST_COMMENTS, Account, Comment, Issue
from bot.model.record import Record
from bot.model.report import Outcome, Report
from bot.model.review import Review
from bot.model.unit import Gate
from bot.notation.needs import read_needs
from bot.worker.change.git import Git
from bot.worker.change.starting_point import Start
from bot.worker.job.claim import Claim, may_order
from bot.worker.job.context import JobContext
from bot.worker.prompt.prompt import Context, Need

INSTRUCTIONS = ("AGENTS.md", "CLAUDE.md")
_NEEDS = 10  # pull requests of needs that are described
_LARGEST = 300_000  # bytes of a file of the repository that is taken into a prompt
_PUBLISHED = frozenset({Outcome.PASSED, Outcome.UNVERIFIED})
_PLAIN_FILE = "100"  # how git's modes of ordinary files begin; links and nested repositories are not read


class Words:
    """Sorts comments and reviews by whether their author may give orders; each author is asked about once."""

    def __init__(self, github: Reader, config: Config, accounts: Collection[int]) -> None:
        self._github = github
        self._config = config
        self._accounts = accounts
        self._known: dict[Account, bool] = {}
        self.passed_over = 0

    def authorised(self, author: Account) -> bool:
        if author not in self._known:
            ours = author.id in self._accounts
            self._known[author] = not ours and may_order(self._github, author, self._config)
        return self._known[author]

    def comments(self, listed: Sequence[Comment]) -> list[Comment]:
        kept = [one for one in listed if self.authorised(one.author)]
        self._count([one.author for one in listed])
        return kept

    def reviews(self, listed: Sequence[Review]) -> list[Review]:
        kept = [one for one in listed if self.authorised(one.author)]
        self._count([one.author for one in listed])
        return kept

    def _count(self, authors: Sequence[Account]) -> None:
        self.passed_over += sum(
            not self._known[one] and one.id not in self._accounts and not one.is_bot for one in authors
        )


def gather(
    github: Reader,
    context: JobContext,
    config: Config,
    claim: Claim,
    clone: Git,
    start: Start,
    gates: Sequence[Gate],
    earlier: Report | None,
) -> Context:
    """Everything for `write_prompt`. Raises what the port raises, and GitFailed."""
    issue, record = claim.issue, claim.record
    words = Words(github, config, context.unit.accounts)
    whole = len(issue.comments) < FIRST_COMMENTS
    comments = words.comments(issue.comments if whole else github.comments_on(issue.number))
    reviews, closing = _about_our_pull(github, record, words)
    needs, missing = _needs(github, context, config, issue, words)
    if words.passed_over:
        missing.append(f"{words.passed_over} comments of people without permission")
    return Context(
        key=context.key,
        issue=issue,
        record=record,
        comments=comments,
        gates=gates,
        source=start.source,
        notes=start.notes,
        conflicts=start.conflicts,
        earlier=earlier,
        reviews=reviews,
        closing=closing,
        needs=needs,
        instructions=_instructions(clone, start.base),
        files=clone.fields("ls-tree", "-r", "-z", "--name-only", "--full-tree", start.point),
        missing=missing,
        prefix=config.prefix,
    )


def template_of(clone: Git, base: str) -> str | None:
    """The prompt template of the default branch, if it has one."""
    return _file(clone, base, TEMPLATE_PATH)


def _about_our_pull(github: Reader, record: Record, words: Words) -> tuple[list[Review], list[Comment]]:
    """What writers said about the task's own pull request since it was published last, whatever became of it."""
    pull = record.pull or next((one.pull for one in reversed(record.attempts) if one.pull), 0)
    published = [one.ended_at for one in record.attempts if one.outcome in _PUBLISHED and one.ended_at]
    if not pull or not published:
        return [], []
    since: datetime = max(published)
    try:
        said = words.comments([one for one in github.comments_on(pull) if one.created_at >= since])
        seen = words.reviews([one for one in github.reviews(pull) if one.at >= since])
    except NotFound:
        return [], []
    return [one for one in seen if one.state != "approved" and (one.text or one.remarks)], said


def _needs(
    github: Reader, context: JobContext, config: Config, issue: Issue, words: Words
) -> tuple[list[Need], list[str]]:
    """The pull requests of this repository that settled what the task needed, and what is not described."""
    text = read_needs(issue.body, context.repository, config.dependencies.keywords, context.server)
    refs = [*text.refs(context.repository), *(edge.ref for edge in issue.edges if edge.ref is not None)]
    own = [ref.number for ref in refs if ref.repository.casefold() == context.repository.casefold()]
    elsewhere = len(set(refs)) - len({*own})
    numbers = [number for number in dict.fromkeys(own) if number != issue.number]
    found = github.issues(numbers) if numbers else {}
    wanted = [
        (number, pull.number, words.authorised(pull.author) or pull.author.id in context.unit.accounts)
        for number in numbers
        if number in found
        for pull in found[number].pulls
        if pull.merged and pull.repository.casefold() in ("", context.repository.casefold())
    ]
    wanted += [(number, number, False) for number in numbers if number not in found]
    missing = [f"what is in other repositories ({elsewhere} needs)"] if elsewhere > 0 else []
    if len(wanted) > _NEEDS:
        missing.append(f"{len(wanted) - _NEEDS} of {len(wanted)} pull requests of needs")
    needs = []
    for number, pull, by_us in wanted[:_NEEDS]:
        try:
            needs.append(Need(number, github.pull_summary(pull), by_us))
        except (NotFound, Refused):
            missing.append(f"pull request #{pull}")
    return needs, missing


def _instructions(clone: Git, base: str) -> list[tuple[str, str]]:
    """The repository's instructions for agents; two files of the same text count once."""
    found: dict[str, str] = {}
    for name in INSTRUCTIONS:
        text = _file(clone, base, name)
        if text and text not in found.values():
            found[name] = text
    return list(found.items())


def _file(clone: Git, commit: str, path: str) -> str | None:
    """The beginning of an ordinary file of a commit; None if there is none."""
    entry = clone.text("ls-tree", "--full-tree", commit, "--", path)
    if not entry.startswith(_PLAIN_FILE):
        return None
    blob = entry.split("\t")[0].split(" ")[2]
    return clone.call("cat-file", "blob", blob).output[:_LARGEST]
