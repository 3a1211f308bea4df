"""A reference to an issue or pull request, in this repository or another."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, order=True)
class Ref:
    """`repository` is `owner/name`, lower-cased because GitHub compares it without case."""

    repository: str
    number: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "repository", self.repository.lower())

    def __str__(self) -> str:
        return f"{self.repository}#{self.number}"
