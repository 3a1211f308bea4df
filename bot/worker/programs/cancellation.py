"""The wish to stop, and where it is asked for."""


class Cancellation:
    """Somebody wants us to stop. Set from a signal handler or a watching thread, read by whatever waits."""

    def __init__(self) -> None:
        self._reason = ""

    def request(self, reason: str) -> None:
        self._reason = self._reason or reason

    @property
    def reason(self) -> str:
        """Empty while nobody asked."""
        return self._reason
