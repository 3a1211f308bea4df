"""Commands that people write in comments: `/cf run`, `/cf stop`, and so on, as values."""

from msgspec import Struct


class Command(Struct, frozen=True):
    """One command line as it was read. `name` is lower-case and one of the table's, or unknown, then `nearest` is a name like it.

    `arguments` are the words after the name as written, options left out; `options` are `--name value` pairs, a flag has an
    empty value. `text` is the rest of the line as written, and for `answer` all lines that follow, too.
    `problem` says in plain words why it cannot be carried out as written; empty if it can.
    """

    name: str
    arguments: tuple[str, ...] = ()
    options: tuple[tuple[str, str], ...] = ()
    text: str = ""
    problem: str = ""
    nearest: str = ""

    def has(self, option: str) -> bool:
        """Whether the option was given, with or without a value."""
        return any(name == option for name, _ in self.options)

    def value(self, option: str) -> str:
        """The value of an option; empty if it was not given."""
        return next((value for name, value in self.options if name == option), "")
