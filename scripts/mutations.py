"""Every small change that could be made to a module: what `scripts/mutants.py` draws from.

One operator, condition, constant, argument, return or statement is another than it was. Texts for people (a space in them tells),
what an f-string says, annotations, decorators and assertions stay as they are; so does what would only leave a name unbound.
"""

import ast
import copy
import os
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

LONGEST = 100

_COMPARED: Mapping[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
}
_REVERSED = (ast.Eq, ast.NotEq, ast.Is, ast.IsNot, ast.In, ast.NotIn)  # the other operator says "not" already
_COMPUTED: Mapping[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.FloorDiv,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
}
_NAMED = {"min": "max", "max": "min", "any": "all", "all": "any"}
_CONDITIONS = (ast.If, ast.IfExp, ast.While)
_NOT_ENTERED = {"annotation", "returns", "decorator_list", "type_comment"}


@dataclass(frozen=True)
class Mutant:
    """One change: `text` is the changed line as it is written, `number` tells equal changes of equal lines apart."""

    file: str
    line: int
    text: str
    change: str
    number: int
    source: Callable[[], str]  # of the whole module with the change

    @property
    def name(self) -> tuple[str, str, str]:
        return self.file, self.text, self.change


class Place(NamedTuple):
    """Where a node stands in the syntax tree."""

    owner: ast.AST
    field: str
    at: int | None

    def put(self, node: ast.AST) -> None:
        if self.at is None:
            setattr(self.owner, self.field, node)
        else:
            getattr(self.owner, self.field)[self.at] = node


def mutants_of(source: str, file: str) -> Iterator[Mutant]:
    """Every mutant of a module."""
    tree, lines, met = ast.parse(source), source.splitlines(), Counter[tuple[str, str]]()
    for place, node in _places(tree):
        for new in _others(node, place.owner):
            shown, instead = _shown(node, new, place.owner)
            before = _text(shown)
            place.put(new)
            change = _change(before, _text(instead))
            place.put(node)
            line = getattr(node, "lineno", 0) or getattr(place.owner, "lineno", 1)
            text = lines[line - 1].strip()
            met[text, change] += 1
            yield Mutant(
                file, line, text, change, met[text, change], partial(_source, tree, place, node, new)
            )


def _source(tree: ast.AST, place: Place, node: ast.AST, new: ast.AST) -> str:
    place.put(new)
    source = ast.unparse(tree)
    place.put(node)
    return source


def _shown(node: ast.AST, new: ast.AST, owner: ast.AST) -> tuple[ast.AST, ast.AST]:
    """What is read before and after: a condition without what hangs on it, a constant with what it is used for."""
    if isinstance(node, _CONDITIONS) and isinstance(new, _CONDITIONS):
        return node.test, new.test
    used = ast.keyword | ast.Compare | ast.BoolOp | ast.BinOp | ast.UnaryOp | ast.Subscript
    return (owner, owner) if isinstance(node, ast.Constant) and isinstance(owner, used) else (node, new)


def _text(node: ast.AST) -> str:
    text = ast.unparse(node)
    return text.partition("\n")[0] if isinstance(node, ast.stmt) else " ".join(text.split())


def _change(before: str, after: str) -> str:
    """Both, of long ones what is around the difference."""
    same = len(os.path.commonprefix([before, after]))  # noqa: RUF071 - characters are meant
    start = max(0, same - LONGEST // 3) if max(len(before), len(after)) > LONGEST else 0
    return " → ".join(f"{'…' if start else ''}{_shorten(text[start:])}" for text in (before, after))


def _shorten(text: str) -> str:
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"


def _places(node: ast.AST) -> Iterator[tuple[Place, ast.AST]]:
    """Every node with its place; annotations, decorators, docstrings, assertions and what an f-string says are passed over."""
    for field, value in ast.iter_fields(node):
        if field in _NOT_ENTERED:
            continue
        for index, child in enumerate(value) if isinstance(value, list) else [(None, value)]:
            if isinstance(child, ast.AST) and not _is_passed_over(child, node):
                yield Place(node, field, index), child
                yield from _places(child)


def _is_passed_over(node: ast.AST, owner: ast.AST) -> bool:
    match node:
        case ast.Assert() | ast.Expr(value=ast.Constant()) | ast.keyword(arg="frozen"):
            return True
        case ast.Constant():
            return isinstance(owner, ast.JoinedStr)
    return isinstance(owner, ast.FormattedValue) and isinstance(node, ast.JoinedStr)


def _others(node: ast.AST, owner: ast.AST) -> Iterator[ast.AST]:
    """What could stand in the place of this node."""
    match node:
        case ast.Compare():
            for place, operator in enumerate(node.ops):
                yield _with(
                    node, ops=[*node.ops[:place], _COMPARED[type(operator)](), *node.ops[place + 1 :]]
                )
        case ast.BoolOp():
            yield _with(node, op=ast.Or() if isinstance(node.op, ast.And) else ast.And())
        case ast.UnaryOp(op=ast.Not()):
            yield node.operand
        case ast.BinOp() if type(node.op) in _COMPUTED:
            yield _with(node, op=_COMPUTED[type(node.op)]())
        case ast.Constant(value=value):
            yield from (ast.Constant(other) for other in _other_values(value))
        case ast.Name(id=name) if name in _NAMED:
            yield _with(node, id=_NAMED[name])
        case ast.Return(value=ast.expr() as value) if not isinstance(value, ast.Constant) or value.value:
            yield ast.Return(ast.Constant(None))
        case ast.Call():
            yield from _other_calls(node)
    if isinstance(node, (*_CONDITIONS, ast.comprehension)):
        yield from _negated(node)
    if isinstance(node, ast.stmt) and _may_go(node, owner):
        yield ast.Pass()


def _may_go(node: ast.stmt, owner: ast.AST) -> bool:
    """Whether a statement can be left out without a name being unbound: then it would say so itself."""
    match node:
        case _ if isinstance(owner, ast.Module | ast.ClassDef):
            return False
        case ast.Assign(targets=[ast.Name(id=name)], value=value):  # what it was before goes in
            return any(isinstance(part, ast.Name) and part.id == name for part in ast.walk(value))
        case ast.If():
            return not node.orelse
    return isinstance(node, ast.Expr | ast.Assign | ast.AugAssign | ast.Raise | ast.Continue | ast.Break)


def _with(node: ast.AST, **changes: object) -> ast.AST:
    new = copy.copy(node)
    for field, value in changes.items():
        setattr(new, field, value)
    return new


def _other_values(value: object) -> Iterator[bool | float | str]:
    if isinstance(value, bool):
        yield not value
    elif isinstance(value, int | float):
        yield value + 1
    elif isinstance(value, str) and not any(character.isspace() for character in value):
        yield f"{value}X"


def _other_calls(call: ast.Call) -> Iterator[ast.AST]:
    """Two arguments swapped, an argument by name left out."""
    symmetric = isinstance(call.func, ast.Name) and call.func.id in _NAMED
    for place, (one, two) in enumerate(zip(call.args, call.args[1:], strict=False)):
        same = symmetric or ast.dump(one) == ast.dump(two)
        if not same and not any(isinstance(each, ast.Starred) for each in (one, two)):
            yield _with(call, args=[*call.args[:place], two, one, *call.args[place + 2 :]])
    for place in range(len(call.keywords)):
        yield _with(call, keywords=[*call.keywords[:place], *call.keywords[place + 1 :]])


def _negated(node: ast.If | ast.IfExp | ast.While | ast.comprehension) -> Iterator[ast.AST]:
    tests = node.ifs if isinstance(node, ast.comprehension) else [node.test]
    for place, test in enumerate(tests):
        match test:
            case ast.UnaryOp(op=ast.Not()):
                continue
            case ast.Compare(ops=[operator]) if isinstance(operator, _REVERSED):
                continue
        denied = ast.UnaryOp(ast.Not(), test)
        if isinstance(node, ast.comprehension):
            yield _with(node, ifs=[*tests[:place], denied, *tests[place + 1 :]])
        else:
            yield _with(node, test=denied)
