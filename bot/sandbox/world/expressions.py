"""The part of GitHub's expression language that the world itself must understand: run names, groups, conditions, matrices.

Steps are the engine's business. What is not known here raises Unsupported, and the caller says what it does then.
Source: docs.github.com, "Evaluate expressions in workflows and actions".
"""

import json
import math
import re
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any

Contexts = Mapping[str, Any]
_Node = Callable[[Contexts], Any]


class Unsupported(Exception):
    """A function, a context or a way of writing that the sandbox does not evaluate."""


_TOKEN = re.compile(
    r"\s*(?:(?P<number>-?(?:0x[0-9a-fA-F]+|\d+(?:\.\d+)?(?:[eE][-+]?\d+)?))|'(?P<string>(?:[^']|'')*)'"
    r"|(?P<name>[A-Za-z_][\w-]*)|(?P<op>&&|\|\||==|!=|<=|>=|[!<>().,*\[\]]))"
)
_TEMPLATE = re.compile(r"\$\{\{(.*?)\}\}", re.DOTALL)
_LITERALS = {"true": True, "false": False, "null": None}


def interpolate(text: str, contexts: Contexts) -> str:
    """The text with each `${{ }}` replaced by its value as GitHub prints it."""
    return _TEMPLATE.sub(lambda match: to_text(evaluate(match[1], contexts)), text)


def value_of(text: Any, contexts: Contexts) -> Any:
    """A YAML value: one lone `${{ }}` keeps its type, other texts are interpolated, lists and mappings are walked."""
    if isinstance(text, Mapping):
        return {key: value_of(item, contexts) for key, item in text.items()}
    if isinstance(text, list):
        return [value_of(item, contexts) for item in text]
    if not isinstance(text, str):
        return text
    alone = re.fullmatch(r"\s*\$\{\{((?:(?!\}\}).)*)\}\}\s*", text, re.DOTALL)
    return evaluate(alone[1], contexts) if alone else interpolate(text, contexts)


def condition(text: str | bool | None, contexts: Contexts) -> bool:
    """An `if:` as GitHub reads it: with or without the braces, `success()` where it is missing."""
    if text is None:
        return True
    alone = re.fullmatch(r"\s*\$\{\{(.*)\}\}\s*", str(text), re.DOTALL)
    return truthy(
        evaluate(alone[1] if alone else str(text).lower() if isinstance(text, bool) else str(text), contexts)
    )


def evaluate(source: str, contexts: Contexts) -> Any:
    """The value of an expression without braces. Raises Unsupported."""
    return _compile(source)(contexts)


def truthy(value: Any) -> bool:
    """Objects and lists always are, even empty ones; so is every text but the empty one."""
    if isinstance(value, Mapping | list):
        return True
    return bool(value) and not (isinstance(value, float) and math.isnan(value))


def to_text(value: Any) -> str:
    """As GitHub prints it into a string."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() else repr(value)
    if isinstance(value, Mapping):
        return "Object"
    if isinstance(value, list):
        return "Array"
    return str(value)


@lru_cache(maxsize=2048)
def _compile(source: str) -> _Node:
    parser = _Parser(source)
    node = parser.either()
    if parser.peek() != ("end", ""):
        raise Unsupported(f"cannot read the expression {source.strip()!r}")
    return node


class _Parser:
    """Precedence climbing, one method per level."""

    def __init__(self, source: str) -> None:
        self.source = source
        self.tokens: list[tuple[str, str]] = []
        position = 0
        while source[position:].strip():
            match = _TOKEN.match(source, position)
            if match is None:
                raise Unsupported(f"cannot read the expression {source.strip()!r}")
            kind = match.lastgroup or "op"
            self.tokens.append((kind, match[kind]))
            position = match.end()
        self.at = 0

    def peek(self) -> tuple[str, str]:
        return self.tokens[self.at] if self.at < len(self.tokens) else ("end", "")

    def take(self, *operators: str) -> str | None:
        kind, text = self.peek()
        if kind == "op" and text in operators:
            self.at += 1
            return text
        return None

    def expect(self, operator: str) -> None:
        if self.take(operator) is None:
            raise Unsupported(f"{operator!r} is missing in the expression {self.source.strip()!r}")

    def either(self) -> _Node:
        node = self.both()
        while self.take("||"):
            node = _or(node, self.both())
        return node

    def both(self) -> _Node:
        node = self.compared()
        while self.take("&&"):
            node = _and(node, self.compared())
        return node

    def compared(self) -> _Node:
        node = self.negated()
        while operator := self.take("==", "!=", "<=", ">=", "<", ">"):
            node = _compare(operator, node, self.negated())
        return node

    def negated(self) -> _Node:
        if self.take("!"):
            inner = self.negated()
            return lambda contexts: not truthy(inner(contexts))
        return self.indexed()

    def indexed(self) -> _Node:
        node = self.primary()
        while True:
            if self.take("."):
                kind, name = self.peek()
                self.at += 1
                if kind == "op" and name == "*":
                    node = _star(node)
                elif kind == "name":
                    node = _index(node, _constant(name))
                else:
                    raise Unsupported(f"a name is missing in the expression {self.source.strip()!r}")
            elif self.take("["):
                node = _star(node) if self.take("*") else _index(node, self.either())
                self.expect("]")
            else:
                return node

    def primary(self) -> _Node:
        if self.take("("):
            node = self.either()
            self.expect(")")
            return node
        kind, text = self.peek()
        self.at += 1
        if kind == "number":
            return _constant(int(text, 16) if "0x" in text else float(text))
        if kind == "string":
            return _constant(text.replace("''", "'"))
        if kind == "name" and text.lower() in _LITERALS:
            return _constant(_LITERALS[text.lower()])
        if kind == "name" and self.take("("):
            return _call(text.lower(), self._arguments())
        if kind == "name":
            return _context(text.lower())
        raise Unsupported(f"cannot read the expression {self.source.strip()!r}")

    def _arguments(self) -> list[_Node]:
        if self.take(")"):
            return []
        arguments = [self.either()]
        while self.take(","):
            arguments.append(self.either())
        self.expect(")")
        return arguments


def _constant(value: Any) -> _Node:
    return lambda _contexts: value


def _or(left: _Node, right: _Node) -> _Node:
    def node(contexts: Contexts) -> Any:
        value = left(contexts)
        return value if truthy(value) else right(contexts)

    return node


def _and(left: _Node, right: _Node) -> _Node:
    def node(contexts: Contexts) -> Any:
        value = left(contexts)
        return right(contexts) if truthy(value) else value

    return node


def _context(name: str) -> _Node:
    def node(contexts: Contexts) -> Any:
        try:
            return contexts[name]
        except KeyError:
            raise Unsupported(f"the context {name!r} is not known here") from None

    return node


class _Filtered(list[Any]):
    """What `.*` gave: an index on it is taken of every element."""


def _star(inner: _Node) -> _Node:
    def node(contexts: Contexts) -> Any:
        value = inner(contexts)
        if isinstance(value, Mapping):
            return _Filtered(value.values())
        return _Filtered(value if isinstance(value, list) else ())

    return node


def _index(inner: _Node, key: _Node) -> _Node:
    def node(contexts: Contexts) -> Any:
        value, index = inner(contexts), key(contexts)
        if isinstance(value, _Filtered) and isinstance(index, str):
            return _Filtered(found for item in value if (found := _get(item, index)) is not None)
        return _get(value, index)

    return node


def _get(value: Any, index: Any) -> Any:
    if isinstance(value, Mapping):
        wanted = to_text(index).lower()
        return next((item for key, item in value.items() if str(key).lower() == wanted), None)
    if isinstance(value, list) and isinstance(index, int | float) and 0 <= int(index) < len(value):
        return value[int(index)]
    return None


def _compare(operator: str, left: _Node, right: _Node) -> _Node:
    def node(contexts: Contexts) -> bool:
        one, other = left(contexts), right(contexts)
        if operator == "==":
            return _equal(one, other)
        if operator == "!=":
            return not _equal(one, other)
        first: Any
        second: Any
        if isinstance(one, str) and isinstance(other, str):
            first, second = one.lower(), other.lower()
        else:
            first, second = _number(one), _number(other)
        if operator == "<":
            return bool(first < second)
        if operator == ">":
            return bool(first > second)
        return bool(first <= second if operator == "<=" else first >= second)

    return node


def _equal(one: Any, other: Any) -> bool:
    if isinstance(one, str) and isinstance(other, str):
        return one.lower() == other.lower()
    if isinstance(one, Mapping | list) or isinstance(other, Mapping | list):
        return one is other
    return (type(one) is type(other) and one == other) or _number(one) == _number(other)


def _number(value: Any) -> float:
    if value is None:
        return 0.0
    if isinstance(value, bool | int | float):
        return float(value)
    if isinstance(value, str):
        try:
            return float(value) if value.strip() else 0.0
        except ValueError:
            return math.nan
    return math.nan


def _call(name: str, arguments: Sequence[_Node]) -> _Node:
    try:
        function = _FUNCTIONS[name]
    except KeyError:
        raise Unsupported(f"the function {name}() is not known here") from None

    def node(contexts: Contexts) -> Any:
        try:
            return function(*(argument(contexts) for argument in arguments))
        except TypeError:
            raise Unsupported(f"{name}() does not take {len(arguments)} arguments") from None

    return node


def _contains(where: Any, what: Any) -> bool:
    if isinstance(where, list):
        return any(_equal(item, what) for item in where)
    return to_text(what).lower() in to_text(where).lower()


def _format(pattern: Any, *values: Any) -> str:
    def replace(match: re.Match[str]) -> str:
        return match[0][0] if match[1] is None else to_text(values[int(match[1])])

    return re.sub(r"\{\{|\}\}|\{(\d+)\}", replace, to_text(pattern))


def _join(values: Any, separator: Any = ",") -> str:
    return to_text(separator).join(map(to_text, values)) if isinstance(values, list) else to_text(values)


def _from_json(text: Any) -> Any:
    try:
        return json.loads(to_text(text))
    except ValueError as error:
        raise Unsupported(f"fromJSON: {error}") from None


_FUNCTIONS: Mapping[str, Callable[..., Any]] = {
    "contains": _contains,
    "startswith": lambda text, start: to_text(text).lower().startswith(to_text(start).lower()),
    "endswith": lambda text, end: to_text(text).lower().endswith(to_text(end).lower()),
    "format": _format,
    "join": _join,
    "tojson": lambda value: json.dumps(value, indent=2),
    "fromjson": _from_json,
    # A root job is looked at before anything ran: nothing has failed and nothing was cancelled.
    "success": lambda: True,
    "always": lambda: True,
    "failure": lambda: False,
    "cancelled": lambda: False,
}
