"""GraphQL over the world: graphql-core executes documents against our part of GitHub's schema.

A field's value is found in the table RESOLVERS, else as the attribute of that name (in snake case) of the world's object.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

from graphql import (
    DocumentNode,
    GraphQLError,
    GraphQLResolveInfo,
    GraphQLSchema,
    OperationType,
    build_schema,
    execute_sync,
    get_operation_ast,
    parse,
    validate,
)

from bot.model.issue import Account
from bot.sandbox.http.graphql.cost import Cost, cost_of
from bot.sandbox.http.graphql.nodes import (
    EVENT_TYPES,
    BlobRef,
    CheckSuiteRef,
    CommitRef,
    Context,
    Foreign,
    ForeignIssue,
    ForeignPull,
    Json,
    Viewer,
)
from bot.sandbox.http.graphql.reads import RESOLVERS
from bot.sandbox.http.graphql.writes import mutate
from bot.sandbox.http.rest.bodies import stamp
from bot.sandbox.world import (
    ApiError,
    CommentState,
    Disconnected,
    EventState,
    IssueState,
    LabelState,
    PullState,
    Token,
    UnknownToTheSandbox,
    World,
    WorldRun,
)
from bot.sandbox.world.errors import too_much
from bot.sandbox.world.limits import Unfinished
from bot.sandbox.world.state import JobState, ReviewState

_SCHEMA = Path(__file__).with_name("github.graphql")
_SNAKE = re.compile(r"(?<=[a-z])(?=[A-Z])")


@cache
def schema() -> GraphQLSchema:
    return build_schema(_SCHEMA.read_text(encoding="utf-8"))


@dataclass(frozen=True, slots=True)
class Asked:
    """A request that was read and found to be within our schema. `writes` names the mutation's fields."""

    document: Any
    variables: Mapping[str, Any]
    operation: str | None
    writes: tuple[str, ...]
    cost: Cost


@lru_cache(maxsize=64)
def _document(text: str) -> DocumentNode:
    """Parsed and found within our schema; clients send the same few documents again and again."""
    try:
        document = parse(text)
    except GraphQLError as error:
        raise ApiError(400, error.message) from None
    if problems := validate(schema(), document):
        named = "; ".join(problem.message for problem in problems[:5])
        raise UnknownToTheSandbox(f"GraphQL: {named}")
    return document


def read(body: Mapping[str, Any]) -> Asked:
    """Raises UnknownToTheSandbox for what our schema lacks, ApiError 400 for what is no request."""
    text, variables = body.get("query"), body.get("variables") or {}
    if not isinstance(text, str) or not isinstance(variables, dict):
        raise ApiError(400, "A query attribute must be specified and must be a string.")
    document = _document(text)
    name = body.get("operationName")
    operation = get_operation_ast(document, name)
    if operation is None:
        raise ApiError(400, "No operation was named, or there is none of that name.")
    writes = ()
    if operation.operation is OperationType.MUTATION:
        selections = operation.selection_set.selections
        writes = tuple(node.name.value for node in selections if hasattr(node, "name"))
    return Asked(document, variables, name, writes, cost_of(schema(), document, operation, variables))


def answer(world: World, token: Token, asked: Asked) -> Json:
    """GitHub's `{data, errors}`."""
    if asked.cost.problems:
        return {"errors": [{"type": kind, "message": message} for kind, message in asked.cost.problems]}
    unfinished = world.limits.unfinished
    if unfinished is not None and len(asked.writes) <= unfinished.most:
        unfinished = None
    result = execute_sync(
        schema(),
        asked.document,
        None,
        Context(world, token, asked.cost, unfinished=unfinished),
        dict(asked.variables),
        asked.operation,
        field_resolver=_field,
        type_resolver=lambda value, _info, _kind: _type_name(value),
    )
    body: Json = {"data": result.data}
    if result.errors:
        body["errors"] = [_error(error) for error in result.errors]
    return _left_unfinished(body, unfinished) if unfinished is not None else body


def _left_unfinished(body: Json, unfinished: Unfinished) -> Json:
    """How GitHub answers a document that it gave up. Raises Disconnected, or ApiError 502."""
    error = too_much()
    shown = {"type": error.kind, "message": error.message}
    match unfinished.answer:
        case "errors":
            return body
        case "silent":
            names = list(body["data"] or {})
            return {
                "data": dict.fromkeys(names),
                "errors": [{**shown, "path": [name]} for name in names],
            }
        case "void":
            return {"data": None, "errors": [shown]}
        case "502":
            raise ApiError(502, "")
        case "lost":
            raise Disconnected
    raise ValueError(f"no answer is called {unfinished.answer}")


def _error(error: GraphQLError) -> Json:
    cause = error.original_error
    if cause is not None and not isinstance(cause, ApiError):
        raise cause
    shown: Json = {"type": cause.kind} if isinstance(cause, ApiError) else {}
    if error.path:
        shown["path"] = error.path
    shown["locations"] = [{"line": place.line, "column": place.column} for place in error.locations or ()]
    return shown | {"message": error.message}


def _type_name(value: Any) -> str:
    if isinstance(value, EventState):
        return EVENT_TYPES[value.kind]
    if isinstance(value, Account):
        return "Bot" if value.is_bot else "User"
    names = {
        PullState: "PullRequest",
        IssueState: "Issue",
        CommentState: "IssueComment",
        LabelState: "Label",
        ReviewState: "PullRequestReview",
        World: "Repository",
        ForeignIssue: "Issue",
        ForeignPull: "PullRequest",
        Foreign: "Repository",
        Viewer: "User",
        CommitRef: "Commit",
        BlobRef: "Blob",
        CheckSuiteRef: "CheckSuite",
        WorldRun: "WorkflowRun",
        JobState: "CheckRun",
    }
    return names[type(value)]


def _field(source: Any, info: GraphQLResolveInfo[Any], **arguments: Any) -> Any:
    resolver = RESOLVERS.get((info.parent_type.name, info.field_name))
    if resolver is not None:
        value = resolver(source, info.context, **arguments)
    elif info.parent_type.name == "Mutation":
        value = mutate(info.field_name, info.context, arguments["input"])
    elif isinstance(source, Mapping):
        value = source.get(info.field_name)
    else:
        value = getattr(source, _SNAKE.sub("_", info.field_name).lower())
    return stamp(value) if isinstance(value, datetime) else value
