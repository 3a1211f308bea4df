"""What our requests and git's authenticate with: a token, replaced once if GitHub does not take it any more and one can be made."""

from collections.abc import Callable


class Credential:
    """A token, shared by all of the process that uses it. `make` makes a fresh one: a GitHub App's; no other can be renewed."""

    def __init__(self, token: str, make: Callable[[], str] | None = None) -> None:
        self.token = token
        self.of_app = make is not None  # what an App does starts workflows
        self._make = make

    def renew(self, stale: str) -> bool:
        """Replace the token if it is still the `stale` one. False if there is no other to be had, or this was done before.

        Raises what making one raises.
        """
        if stale != self.token:
            return True
        if self._make is None:
            return False
        make, self._make = self._make, None
        self.token = make()
        return True
