"""Who answers what a plan wants to know from a model; without one, every question is a person's."""

from collections.abc import Callable, Sequence
from typing import Protocol

from msgspec import Struct

from bot.model.advice import Brief, Proposal, Verdict
from bot.model.config import Config
from bot.model.report import Question


class Advisor(Protocol):
    """Never raises: what cannot be asked or read is a person's question, and a proposal with its problem."""

    def classify(self, question: Question) -> Verdict:
        """Whether the question is tactical, with its answer, or a person's."""
        ...

    def infer(self, tasks: Sequence[Brief]) -> Proposal:
        """Which of the tasks needs which other."""
        ...


Advise = Callable[[Config], Advisor]
"""Makes the advisor that a configuration asks for, once a plan wants one."""


class NoAdvisor(Struct, frozen=True):
    """Stands where no model can be asked; `why` in words that name what is missing."""

    why: str

    def classify(self, question: Question) -> Verdict:  # noqa: ARG002 - the protocol's shape
        return Verdict(reason=self.why)

    def infer(self, tasks: Sequence[Brief]) -> Proposal:  # noqa: ARG002 - the protocol's shape
        return Proposal(problem=self.why)


def no_advice(config: Config) -> Advisor:  # noqa: ARG001 - the shape of `Advise`
    """For programs that ask no model, like `cf plan`."""
    return NoAdvisor("no model is asked here")
