"""What a model is asked by the conductor itself, and what it says: verdicts on questions, proposals of needs."""

from collections.abc import Mapping

from msgspec import Struct, field


class Brief(Struct, frozen=True):
    """A task as the model sees it: number, title, and the beginning of its description."""

    number: int
    title: str
    text: str


class Verdict(Struct, frozen=True, omit_defaults=True):
    """What the model says about a question. `answer` is empty where a person must answer; `reason` says why in plain words."""

    answer: str = ""
    reason: str = ""


class Proposal(Struct, frozen=True):
    """Needs as the model proposes them, number -> numbers, unchecked. `problem` says why it could not be asked."""

    needs: Mapping[int, tuple[int, ...]] = field(default_factory=dict)
    problem: str = ""
