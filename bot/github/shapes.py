"""An answer of GitHub's that is well-formed and still not what its description says: an error in words, never a traceback."""

from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

from bot.model.errors import TryLater

C = TypeVar("C")
P = ParamSpec("P")
R = TypeVar("R")

# What taking apart a value of an unexpected shape raises.
_MISSHAPEN = (KeyError, IndexError, TypeError, AttributeError, ValueError, OverflowError)


def shaped(client: type[C]) -> type[C]:
    """Make every public method of a client raise TryLater where an answer has a field missing, null or of another kind.

    The next tick asks again: a proxy in between, or a deployment of GitHub's, is what such answers have been seen to come from.
    """
    for name, method in list(vars(client).items()):
        if callable(method) and not name.startswith("_"):
            setattr(client, name, _checked(method))
    return client


def _checked(method: Callable[P, R]) -> Callable[P, R]:
    @wraps(method)
    def checked(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return method(*args, **kwargs)
        except _MISSHAPEN as error:
            what = method.__name__.replace("_", " ")
            raise TryLater(
                f"GitHub's answer to `{what}` is not what its API describes ({type(error).__name__}: {error}); try again later"
            ) from error

    return checked
