"""A rule of a ruleset, as it holds for one branch."""

from msgspec import Struct


class BranchRule(Struct, frozen=True):
    """`kind` is GitHub's name of it. Of a rule about names or texts: `pattern` and how it is read, turned round with `negate`."""

    kind: str
    operator: str = ""
    pattern: str = ""
    negate: bool = False
