"""How an attempt's end can leave its task, one name for each way. What follows from each is the table in `plan/facts/ends.py`."""

from enum import StrEnum


class End(StrEnum):
    QUESTION = "question"
    CHOICE = "choice"  # a question with options
    STALLED = "stalled"
    NO_CHANGES = "no_changes"
    UNVERIFIED = "unverified"
    FAILED = "failed"
    BRAKE = "brake"
    INTERRUPTED = "interrupted"
    PROTECTED = "protected"  # held: a person may let paths through
    SETTING = "setting"  # held: GitHub refused it, and publishing is tried again by itself
    LOST = "lost"  # held, and only a new attempt helps
    HELD = "held"  # held for a reason that is not known
    PASSED = "passed"
    MERGED = "merged"
    CANCELLED = "cancelled"
