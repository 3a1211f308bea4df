"""Points in time as GitHub keeps them for us: always with their offset, so that any two of them compare."""

from datetime import datetime
from typing import Annotated

from msgspec import Meta

Moment = Annotated[datetime, Meta(tz=True)]
