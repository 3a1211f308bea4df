"""How the gates do on the default branch before anybody changes anything."""

from msgspec import Struct


class Baseline(Struct, frozen=True, omit_defaults=True):
    """`digest` says of which set-up, gates and runner; `red` are the names of the gates that fail there."""

    digest: str
    red: tuple[str, ...] = ()
