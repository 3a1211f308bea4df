"""Which tasks of the backlog `/cf approve` on the dashboard is about."""

import re
from collections.abc import Sequence

from msgspec import Struct

from bot.model.task import Task
from bot.notation.quoting import quote_line

_NUMBER = re.compile(r"#?([1-9][0-9]{0,9})", re.ASCII)


class Selection(Struct, frozen=True):
    """The tasks that carry all of `labels` and, if it is named, are in the `milestone`, without those `excluded` by number."""

    labels: tuple[str, ...] = ()
    milestone: str = ""
    excluded: tuple[int, ...] = ()

    def takes(self, task: Task) -> bool:
        planned = not self.milestone or task.issue.milestone.casefold() == self.milestone.casefold()
        return planned and task.number not in self.excluded and all(map(task.issue.has_label, self.labels))


def read_selection(words: Sequence[str]) -> Selection | str:
    """Read `label:x milestone:y except 3, #4`; what cannot be read is returned in words."""
    labels: list[str] = []
    milestone = ""
    excluded: list[int] = []
    excepting = False
    for word in words:
        bare = word.strip(",")
        kind, colon, name = bare.partition(":")
        number = _NUMBER.fullmatch(bare)
        if not bare or (bare.casefold() == "all" and not excepting):
            continue
        if bare.casefold() == "except" and not excepting:
            excepting = True
        elif excepting and number:
            excluded.append(int(number[1]))
        elif not excepting and colon and name and kind.casefold() == "label":
            labels.append(name)
        elif not excepting and colon and name and kind.casefold() == "milestone" and not milestone:
            milestone = name
        else:
            return (
                f"`{quote_line(word, 60)}` is not understood; write `label:NAME` or one `milestone:NAME`, and behind `except`"
                " the numbers of tasks that are left out"
            )
    if excepting and not excluded:
        return "behind `except` stand the numbers of the tasks that are left out, and there is none"
    return Selection(tuple(labels), milestone, tuple(dict.fromkeys(excluded)))
