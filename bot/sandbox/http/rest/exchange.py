"""One REST request and its answer, without a socket: what a route is given and what it gives back."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar
from urllib.parse import urlencode

from bot.sandbox.http.rest.bodies import Render
from bot.sandbox.world import Token, World
from bot.sandbox.world.errors import invalid

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class Reply:
    """`body` is JSON, or None for no body."""

    body: Any = None
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Call:
    """One request after its token was known and its names were checked."""

    world: World
    render: Render
    token: Token
    path: str
    params: Mapping[str, str]
    query: Mapping[str, str]
    body: Mapping[str, Any]
    sign: Callable[[str], str] = str

    def number(self, name: str) -> int:
        """A number of the path; no number, no such thing."""
        return int(self.params[name]) if self.params[name].isdecimal() else 0

    def field(self, name: str, kind: type[_T], default: _T | None = None) -> _T:
        """A field of the body. Raises ApiError 422 if it is missing (and has no default) or of another type."""
        value = self.body.get(name)
        if value is None and default is not None:
            return default
        if not isinstance(value, kind):
            raise invalid(f"Invalid request.\n\n{name!r} must be a {kind.__name__}.")
        return value

    def page(self, items: Iterable[_T], show: Callable[[_T], Any], key: str = "") -> Reply:
        """One page of a list with GitHub's `Link`; with `key` in an envelope beside the total."""
        found: Sequence[_T] = list(items)
        size = min(_positive(self.query.get("per_page", "30")), 100)
        page = _positive(self.query.get("page", "1"))
        shown = [show(item) for item in found[(page - 1) * size : page * size]]
        last = max(1, -(-len(found) // size))
        links: dict[str, int] = {}
        if page > 1:
            links |= {"prev": page - 1, "first": 1}
        if page < last:
            links |= {"next": page + 1, "last": last}
        headers = (
            {"link": ", ".join(self._link(rel, number) for rel, number in links.items())} if links else {}
        )
        return Reply({"total_count": len(found), key: shown} if key else shown, headers=headers)

    def _link(self, rel: str, page: int) -> str:
        query = urlencode({**self.query, "page": page})
        return f'<{self.render.api}{self.path}?{query}>; rel="{rel}"'

    def may_read(self, *scopes: str) -> None:
        self.world.accounts.require(self.token, "read", *scopes, role="read")


@dataclass(frozen=True, slots=True)
class Route:
    """`query` and `fields` are the names that the sandbox understands; any other is refused, never ignored.

    `stale`: a list that may lag behind where a test ordered it. `content`: it creates something that people read.
    """

    method: str
    template: str
    handler: Callable[[Call], Reply]
    query: tuple[str, ...] = ()
    fields: tuple[str, ...] = ()
    stale: bool = False
    content: bool = False
    needs: str = ""


PAGED = ("per_page", "page")


def _positive(text: str) -> int:
    return int(text) if text.isdecimal() and int(text) > 0 else 1
