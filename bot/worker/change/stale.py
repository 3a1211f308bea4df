"""A push that is refused because the world has moved on, told apart from one that a person has to allow."""

import re

from bot.worker.change.git import Git

WORKFLOWS = ".github/workflows"
# "refusing to allow a GitHub App to create or update workflow `...` without `workflows` permission": GitHub, of a token that may
# not write workflow files, where those of the pushed branch are not those that the default branch has at that moment.
_REFUSED = re.compile(r"create or update workflow\b.{0,300}\bwithout .{0,3}workflows?\b", re.DOTALL)


def is_stale_refusal(git: Git, commit: str, base: str, said: str) -> bool:
    """Whether a push was refused for workflow files that the work does not touch: the default branch has other ones by now."""
    if _REFUSED.search(said) is None or git.is_ancestor(base, commit):
        return False
    since = git.text("merge-base", base, commit)
    return not git.fields("diff", "--name-only", "-z", "--no-renames", since, commit, "--", WORKFLOWS)
