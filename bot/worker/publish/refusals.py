"""Which refusals of a push, or of a pull request, are the repository's: every other change would meet them, too.

What a rule says about a path, an extension, a size or a secret belongs to the one change. The sentences are GitHub's, as public
logs quote them; one that is not known counts as the repository's only once another task has met it.
"""

import re
from collections.abc import Iterable

from bot.model.cause import Cause, Met
from bot.model.errors import BotError, NotPermitted
from bot.worker.change.git import PushRefused

# Of all refusals that a push can meet, those that depend on nothing in the change.
_OF_ALL = re.compile(
    r"Commits must have (?:verified|valid) signatures"
    r"|(?:Branch|Ref) name must |Commit message must |(?:Commit )?(?:Author|Committer)(?: email)? (?:address )?must "
    r"|Cannot (?:create|update|delete) (?:this |ref|branch)|Changes must be made through a (?:pull request|merge queue)"
    r"|Required (?:status check|workflow|deployment)|[0-9]+ of [0-9]+ required|At least [0-9]+ approving review"
    r"|(?:This branch|Branch) must not contain merge commits|(?:Merge|merge) commits? (?:is|are) not allowed"
    r"|You're not authorized to push|Permission to \S+ denied to |Cannot force-push",
    re.IGNORECASE,
)
_HEADS = re.compile(
    r"GH[0-9]{3}: (?:Repository rule violations|Protected branch update failed)", re.IGNORECASE
)
_OF_THE_CHANGE = re.compile(
    r"secret|\bpath|\bfile|extension|\bsize\b|too large|exceeds|length|`workflows?`|workflow `|push protection|large file|GH001",
    re.IGNORECASE,
)
_WORDS = 500


def of_push(error: PushRefused, words: str) -> Met | None:
    """The cause behind a refused push; None where it is this change's own. `words` are the same ones without secrets."""
    said = [sentence for sentence in error.sentences if not _HEADS.match(sentence)]
    if any(_OF_ALL.match(sentence) for sentence in said):
        return Met(Cause.PUSH_RULE, words=words[:_WORDS])
    ruled = any(_HEADS.match(sentence) for sentence in error.sentences)
    if not ruled or _names_the_change(said) or _OF_THE_CHANGE.search(str(error)):
        return None
    return Met(Cause.PUSH_RULE, words=words[:_WORDS], guessed=True)


def _names_the_change(sentences: Iterable[str]) -> bool:
    return any(_OF_THE_CHANGE.search(sentence) for sentence in sentences)


def of_pull(error: BotError) -> Met | None:
    """The cause behind a refused pull request: an account that may open none."""
    forbidden = isinstance(error, NotPermitted) or "not permitted to create" in str(error)
    return Met(Cause.PULLS, words=str(error)[:_WORDS]) if forbidden else None
