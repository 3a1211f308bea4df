"""How the make-believe GitHub says no. The HTTP face prints it, the in-process port translates it."""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(eq=False)
class ApiError(Exception):
    """An answer that is not a success: `status` as REST gives it, `kind` as GraphQL names it."""

    status: int
    message: str
    kind: str = "UNPROCESSABLE"
    headers: Mapping[str, str] = field(default_factory=dict)

    def __str__(self) -> str:
        return self.message


def not_found(what: str = "Not Found") -> ApiError:
    """It is not there, or the token may not see it."""
    return ApiError(404, what, "NOT_FOUND")


def gone(what: str) -> ApiError:
    """It was deleted."""
    return ApiError(410, what, "NOT_FOUND")


def forbidden(message: str = "Resource not accessible by integration") -> ApiError:
    """The token's permissions or the account's role do not reach this far."""
    return ApiError(403, message, "FORBIDDEN")


def invalid(message: str) -> ApiError:
    """Understood, and refused for what it says."""
    return ApiError(422, message)


def conflict(message: str) -> ApiError:
    """The state it would need is not the state there is."""
    return ApiError(409, message)


def too_much() -> ApiError:
    """A GraphQL document that GitHub gave up before its end."""
    return ApiError(200, "Resource limits for this query exceeded.", "RESOURCE_LIMITS_EXCEEDED")


class UnknownToTheSandbox(Exception):
    """Something GitHub may offer and the sandbox does not: refused loudly, never guessed."""
