"""Points in time as GitHub keeps them for us: always with their offset, so that any two of them compare."""

from datetime import datetime
from typing import Annotated

from msgspec import Meta

Moment = Annotated[datetime, Meta(tz=True)]


def check_years(*times: datetime | None) -> None:
    """Raises ValueError for a time so far off that adding to it overflows. What we keep can be written over by others."""
    if any(time is not None and not 2000 <= time.year < 3000 for time in times):
        raise ValueError("a time is not of this age")
