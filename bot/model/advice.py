"""What a model is asked by the conductor itself, and what it says: verdicts on questions, proposals of needs."""

from collections.abc import Mapping

from msgspec import Struct, field


class Brief(Struct, frozen=True):
    """A task as the model sees it: number, title, and the beginning of its description."""

    number: int
    title: str
    text: str


class Verdict(Struct, frozen=True, omit_defaults=True):
    """What the model says about a question. `answer` is empty where a person must answer; `reason` says why in plain words.

    `vetoed`: somebody took an automatic answer to it back, so from now on it goes to a person.
    """

    answer: str = ""
    reason: str = ""
    vetoed: bool = False


class Proposal(Struct, frozen=True):
    """Needs as the model proposes them, number -> numbers, unchecked. `problem` says why it could not be asked."""

    needs: Mapping[int, tuple[int, ...]] = field(default_factory=dict)
    problem: str = ""


class Judged(Struct, frozen=True, omit_defaults=True):
    """What the supervisor made of a question whose words are not here any more, as in the record of a tick.

    `rule` is empty where it is a person's.
    """

    fingerprint: str
    rule: str = ""
    answer: str = ""
    reason: str = ""
