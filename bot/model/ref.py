"""A reference to an issue or pull request, in this repository or another."""

from msgspec import Struct
from msgspec.structs import force_setattr


class Ref(Struct, frozen=True, order=True):
    """`repository` is `owner/name`, lower-cased because GitHub compares it without case."""

    repository: str
    number: int

    def __post_init__(self) -> None:
        force_setattr(self, "repository", self.repository.lower())

    def __str__(self) -> str:
        return f"{self.repository}#{self.number}"
