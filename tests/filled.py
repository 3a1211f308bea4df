"""A value of any type of the model with a word of its own in every place that holds text: types are walked, none is forgotten."""

import types
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from enum import Enum
from typing import Annotated, Any, Union, get_args, get_origin, get_type_hints

import msgspec

_PLAIN: Mapping[Any, Any] = {
    bool: True,
    int: 1,
    float: 1.0,
    datetime: datetime(2026, 3, 2, 12, tzinfo=UTC),
    timedelta: timedelta(minutes=1),
}


class Filled:
    """`places` says of each word where it stands: `Type.field`, with `{}` behind it for a key."""

    def __init__(self, word: str) -> None:
        self._word = word
        self.places: dict[str, str] = {}

    def value(self, hint: Any, place: str = "") -> Any:
        """One value of this type; of a union the first kind that is not None."""
        origin, inner = get_origin(hint), get_args(hint)
        if hint is str:
            word = f"{self._word} {len(self.places):04}"
            self.places[word] = place
            return word
        if hint in _PLAIN:
            return _PLAIN[hint]
        if origin is Annotated:
            return self.value(inner[0], place)
        if origin in (Union, types.UnionType):
            return self.value(next(kind for kind in inner if kind is not type(None)), place)
        if origin in (Mapping, dict):
            return {self.value(inner[0], f"{place}{{}}"): self.value(inner[1], place)}
        if origin in (tuple, frozenset):
            return origin(self.value(kind, place) for kind in inner if kind is not Ellipsis)
        if issubclass(hint, Enum):
            return next(iter(hint))
        return self._struct(hint)

    def left_in(self, text: str) -> set[str]:
        """The places whose word is found in a text."""
        folded = text.casefold()
        return {place for word, place in self.places.items() if word.casefold() in folded}

    def _struct(self, kind: type[msgspec.Struct]) -> msgspec.Struct:
        hints = get_type_hints(kind, include_extras=True)
        values = {name: self.value(hints[name], f"{kind.__name__}.{name}") for name in kind.__struct_fields__}
        return kind(**values)
