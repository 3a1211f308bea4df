"""What an ended attempt does to its task."""

from msgspec import Struct

from bot.model.decision import Notice
from bot.model.record import Record
from bot.model.status import Status


class Effect(Struct, frozen=True):
    """The status that follows, the record with the attempt ended, what to say, and why."""

    status: Status
    record: Record
    reason: str
    notices: tuple[Notice, ...] = ()
