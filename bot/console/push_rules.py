"""What `cf doctor` makes of the rules that hold for our branches: which of them would refuse every push, and which some."""

import re
from collections.abc import Iterable, Iterator, Mapping

from bot.model.branch_rule import BranchRule
from bot.notation.keys import Key, branch_of
from bot.notation.quoting import quote_line
from bot.worker.change.git import EMAIL
from bot.worker.change.starting_point import message

EXAMPLE = branch_of(Key(1, 1))
"""A branch as we push them."""

_REFUSE_ALL: Mapping[str, str] = {
    "required_signatures": "commits must be signed, and git on a runner signs none",
    "creation": "new branches are restricted",
    "update": "pushes to existing branches are restricted",
    "pull_request": "changes must come by a pull request, also to the branch that it is opened from",
    "required_status_checks": "checks must have passed before a commit may be pushed",
    "required_deployments": "deployments must have succeeded before a commit may be pushed",
    "workflows": "workflows must have passed before a commit may be pushed",
    "merge_queue": "changes must come by a merge queue",
}
_REFUSE_SOME: Mapping[str, str] = {
    "file_path_restriction": "some paths may not be changed",
    "max_file_path_length": "paths have a greatest length",
    "file_extension_restriction": "some extensions may not be pushed",
    "max_file_size": "files have a greatest size",
    "required_linear_history": "merge commits may not be pushed, and work that is brought up to date holds one",
}
_TEXTS: Mapping[str, tuple[str, str]] = {
    "branch_name_pattern": ("branch names", EXAMPLE),
    "commit_message_pattern": ("commit messages", message(Key(1, 1))),
    "commit_author_email_pattern": ("the author's address", EMAIL),
    "committer_email_pattern": ("the committer's address", EMAIL),
}
_SHORT = 20  # characters on which any pattern comes to an end


def refusing_all(rules: Iterable[BranchRule]) -> Iterator[str]:
    """The rules that refuse every push of ours, in words."""
    for rule in rules:
        if rule.kind in _REFUSE_ALL:
            yield _REFUSE_ALL[rule.kind]
        elif rule.kind in _TEXTS and _fits(rule) is False:
            what, text = _TEXTS[rule.kind]
            yield f"{what} must {_demand(rule)}, and ours is like `{quote_line(text, 60)}`"


def refusing_some(rules: Iterable[BranchRule]) -> Iterator[str]:
    """The rules that depend on the change, or that cannot be judged here."""
    for rule in rules:
        if rule.kind in _REFUSE_SOME:
            yield _REFUSE_SOME[rule.kind]
        elif rule.kind in _TEXTS and _fits(rule) is None:
            what, text = _TEXTS[rule.kind]
            yield f"{what} must {_demand(rule)}; see whether `{quote_line(text, 60)}` does"


def _fits(rule: BranchRule) -> bool | None:
    """Whether our text obeys the rule; None where that is not to be told: a pattern is never tried on a long text."""
    text = _TEXTS[rule.kind][1]
    match rule.operator:
        case "starts_with":
            found = text.startswith(rule.pattern)
        case "ends_with":
            found = text.endswith(rule.pattern)
        case "contains":
            found = rule.pattern in text
        case "regex" if len(text) <= _SHORT:
            try:
                found = re.search(rule.pattern, text) is not None
            except re.error:
                return None
        case _:
            return None
    return found is not rule.negate


def _demand(rule: BranchRule) -> str:
    verb = {"starts_with": "start with", "ends_with": "end with", "contains": "contain"}.get(
        rule.operator, "match"
    )
    return f"{'not ' if rule.negate else ''}{verb} `{quote_line(rule.pattern, 100)}`"
