"""What a batch lets its members run with instead of what is configured."""

from datetime import timedelta

from msgspec import Struct


class BatchOverrides(Struct, frozen=True, omit_defaults=True):
    """Kept for the batch's whole life. Empty: as configured."""

    stall_timeout: timedelta | None = None
    stall_action: str = ""
    timeout: timedelta | None = None
    isolation: str = ""
    merge: str = ""
    reconcile: timedelta | None = None
