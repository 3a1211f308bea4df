"""Tasks on which GitHub takes no word of ours: when one is tried again."""

from datetime import datetime

from bot.model.cause import Unwritten
from bot.model.issue import Issue
from bot.plan.facts.causes import WAITS


def tried_again_at(known: Unwritten, issue: Issue, blob: str) -> datetime:
    """At once after an unlocking or with a new configuration (`blob`), else less and less often."""
    if (known.locked and not issue.locked) or known.blob != blob:
        return known.at
    return known.at + WAITS[min(max(known.tries, 1), len(WAITS)) - 1]
