"""GitHub's own words as judges: its OpenAPI description, its GraphQL schema, and githubkit's typed models.

`rest_oracle()` holds both sides of a REST exchange to the slim copy of GitHub's description (API version 2026-03-10, the one our
client pins: a workflow dispatch answers 200 with the run's id and knows no `return_run_details`; `assignee`, `merge_commit_sha` and
the like of 2022-11-28 may be sent but are not asked for). `graphql_schema()` is the published schema with the marked overlay.
`typed()` reads an answer with models that carry some 150 corrections learned from real traffic: the description is not gospel.

What is found wrong is raised as AssertionError with the place and the reason, so each can stand in a test as it is.
"""

import gzip
import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import httpx
import jsonschema_rs
from githubkit import GitHub
from graphql import GraphQLSchema, build_ast_schema, parse, validate
from graphql.utilities import extend_schema
from graphql.validation.validate import assert_valid_sdl_extension

DATA = Path(__file__).parent / "data" / "github"
API_VERSION = "2026-03-10"

# Parameters whose value may hold slashes although the description does not say so: GitHub's own clients send branches like this.
_MULTI_SEGMENT = frozenset({"ref", "branch", "path", "basehead"})
# What every error looks like where the description names no body of its own.
_BASIC_ERROR = {"type": "object", "required": ["message"], "properties": {"message": {"type": "string"}}}


@dataclass(frozen=True, slots=True)
class Operation:
    """One operation of the description, its references resolved as far as they are needed here."""

    method: str
    template: str
    name: str
    path_pattern: re.Pattern[str]
    path_parameters: Mapping[str, Any]
    query_parameters: Mapping[str, Any]
    body: Mapping[str, Any] | None
    body_required: bool
    responses: Mapping[str, Any]

    def __str__(self) -> str:
        return f"{self.method} {self.template}"


@dataclass(slots=True)
class RestOracle:
    """GitHub's REST description as a judge. Every check returns the operation that was meant."""

    description: dict[str, Any]
    _operations: list[Operation] = field(default_factory=list)
    _validators: dict[int, jsonschema_rs.Validator] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.description = _converted(self.description)
        self._operations = sorted(
            _operations(self.description),
            key=lambda operation: (operation.template.count("{"), operation.template),
        )

    @property
    def operations(self) -> tuple[Operation, ...]:
        return tuple(self._operations)

    def operation(self, method: str, path: str) -> Operation:
        """The operation behind a request line; the path may carry a query. Raises AssertionError if there is none."""
        bare = path.partition("?")[0]
        others = set()
        for operation in self._operations:
            if operation.path_pattern.fullmatch(bare):
                if operation.method == method.upper():
                    return operation
                others.add(operation.method)
        hint = f" (this path knows {', '.join(sorted(others))})" if others else ""
        raise AssertionError(f"{method.upper()} {bare} is no operation of the description we keep{hint}")

    def check_request(
        self, method: str, path: str, query: Mapping[str, Any] | None = None, body: Any = None
    ) -> Operation:
        """A request is one that GitHub describes: path, query and body, with no name that GitHub does not know."""
        operation = self.operation(method, path)
        self._check_path(operation, path.partition("?")[0])
        self._check_query(operation, query or {})
        if operation.body is None:
            _require(body in (None, {}), f"{operation}: sends a body where GitHub reads none: {body!r}")
        elif body is None:
            _require(not operation.body_required, f"{operation}: sends no body where GitHub needs one")
        else:
            self._validate(operation.body, body, f"{operation}: request body")
            self._no_unknown_names(operation, body)
        return operation

    def check_response(self, method: str, path: str, status: int, body: Any = None) -> Operation:
        """An answer is one that GitHub describes: the status is among those it names, and the body fits it.

        An undescribed 4xx or 5xx must be GitHub's usual error object, since no description lists them all.
        """
        operation = self.operation(method, path)
        described = operation.responses.get(str(status))
        place = f"{operation}: {status} response"
        if described is None:
            _require(
                status >= 400, f"{place}: GitHub describes only {', '.join(sorted(operation.responses))}"
            )
            self._validate(_BASIC_ERROR, body, place)
            return operation
        schema = self._response_schema(described)
        if schema is not None:
            self._validate(schema, body, place)
        elif (
            status >= 400
        ):  # some refusals are described in words alone, and GitHub sends its usual error all the same
            self._validate(_BASIC_ERROR, body, place)
        else:
            _require(body in (None, "", b""), f"{place}: has a body where GitHub sends none: {body!r}")
        return operation

    def _response_schema(self, described: Mapping[str, Any]) -> Mapping[str, Any] | None:
        content = self._resolved(described).get("content", {})
        for kind in ("application/json", "application/scim+json"):
            if kind in content:
                schema: Mapping[str, Any] = content[kind].get("schema", {})
                return schema
        return None

    def _check_path(self, operation: Operation, path: str) -> None:
        match = operation.path_pattern.fullmatch(path)
        assert match is not None
        for name, schema in operation.path_parameters.items():
            self._validate_text(schema, unquote(match[name]), f"{operation}: path parameter {name}")

    def _check_query(self, operation: Operation, query: Mapping[str, Any]) -> None:
        unknown = sorted(set(query) - set(operation.query_parameters))
        _require(not unknown, f"{operation}: GitHub knows no query parameter {', '.join(unknown)}")
        for name, value in query.items():
            schema = operation.query_parameters[name]["schema"]
            self._validate_text(schema, str(value), f"{operation}: query parameter {name}")
        for name, parameter in operation.query_parameters.items():
            _require(
                not parameter.get("required") or name in query,
                f"{operation}: query parameter {name} is missing",
            )

    def _no_unknown_names(self, operation: Operation, body: Any) -> None:
        """GitHub ignores names it does not know, so a slip of the pen would go unseen without this."""
        shapes = list(self._shapes(operation.body or {}))
        if not isinstance(body, dict) or not shapes or any("properties" not in shape for shape in shapes):
            return
        if any(shape.get("additionalProperties") for shape in shapes):
            return
        known = {name for shape in shapes for name in shape["properties"]}
        unknown = sorted(set(body) - known)
        _require(not unknown, f"{operation}: request body: GitHub knows no {', '.join(unknown)}")

    def _shapes(self, schema: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
        """The object schemas among the alternatives of a body."""
        schema = self._resolved(schema)
        parts = [part for word in ("oneOf", "anyOf", "allOf") for part in schema.get(word, ())]
        if "properties" in schema or (not parts and schema.get("type") in (None, "object")):
            yield schema
        for part in parts:
            yield from self._shapes(part)

    def _resolved(self, node: Mapping[str, Any]) -> Mapping[str, Any]:
        while "$ref" in node:
            _, _, section, name = node["$ref"].split("/")
            node = self.description["components"][section][name]
        return node

    def _validate_text(self, schema: Mapping[str, Any], text: str, place: str) -> None:
        """A value of path or query, which arrives as text, is read as the type the description gives it."""
        candidates: list[Any] = [text]
        if re.fullmatch(r"-?\d+", text):
            candidates.append(int(text))
        if text in ("true", "false"):
            candidates.append(text == "true")
        candidates.append(text.split(","))
        if not any(self._validator(schema).is_valid(candidate) for candidate in candidates):
            raise AssertionError(f"{place}: {text!r} does not fit {json.dumps(_brief(schema))}")

    def _validate(self, schema: Mapping[str, Any], value: Any, place: str) -> None:
        problems = [
            f"at {'.'.join(str(part) for part in error.instance_path) or 'top'}: {error.message[:400]}"
            for error in self._validator(schema).iter_errors(value)
        ]
        _require(not problems, f"{place}:\n  " + "\n  ".join(problems[:10]))

    def _validator(self, schema: Mapping[str, Any]) -> jsonschema_rs.Validator:
        key = id(schema)  # the description lives as long as we do, so an id names one schema
        if key not in self._validators:
            self._validators[key] = jsonschema_rs.Draft4Validator(
                {"allOf": [schema], "components": self.description["components"]}, validate_formats=True
            )
        return self._validators[key]


@cache
def rest_oracle() -> RestOracle:
    """The judge of REST exchanges, built once."""
    return RestOracle(json.loads((DATA / "openapi-slim.json").read_text(encoding="utf-8")))


@cache
def graphql_schema() -> GraphQLSchema:
    """GitHub's published schema and the overlay of what it lacks, built once (about a second)."""
    published = gzip.decompress((DATA / "schema.graphql.gz").read_bytes()).decode()
    schema = build_ast_schema(parse(published, no_location=True), assume_valid=True)
    overlay = parse((DATA / "overlay.graphql").read_text(encoding="utf-8"))
    assert_valid_sdl_extension(overlay, schema)
    # The published schema breaks a rule graphql-core holds (deprecated fields of interfaces): GitHub's word counts.
    return extend_schema(schema, overlay, assume_valid=True)


def check_document(text: str) -> None:
    """A GraphQL document is one that GitHub's schema allows. Raises AssertionError with every reason."""
    errors = validate(graphql_schema(), parse(text))
    _require(not errors, "GraphQL document:\n  " + "\n  ".join(error.message for error in errors))


def typed(operation_id: str, body: Any, status: int = 200) -> Any:
    """An answer as githubkit's typed model, by GitHub's operation id (`issues/get`).

    Raises pydantic's ValidationError where the body does not fit, KeyError for an operation we do not keep.
    """
    operation = next((each for each in rest_oracle().operations if each.name == operation_id), None)
    if operation is None:
        raise KeyError(operation_id)
    transport = httpx.MockTransport(lambda _: httpx.Response(status, json=body))
    client = GitHub(
        "token", transport=transport, http_cache=False, auto_retry=False, rest_api_validate_body=False
    )
    room, name = operation_id.split("/")
    method: Callable[..., Any] = getattr(
        getattr(client.rest(API_VERSION), room.replace("-", "_")), name.replace("-", "_")
    )
    arguments: dict[str, Any] = {
        key: 1 if schema.get("type") == "integer" else "x"
        for key, schema in operation.path_parameters.items()
    }
    if operation.body is not None:
        arguments["data"] = {}
    return method(**arguments).parsed_data


def _require(holds: object, message: str) -> None:
    if not holds:
        raise AssertionError(message)


def _brief(schema: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in schema.items() if key != "description"}


def _operations(description: Mapping[str, Any]) -> Iterator[Operation]:
    def resolved(node: Any) -> Any:
        while "$ref" in node:
            _, _, section, name = node["$ref"].split("/")
            node = description["components"][section][name]
        return node

    for template, methods in description["paths"].items():
        for method, operation in methods.items():
            parameters = [resolved(parameter) for parameter in operation.get("parameters", ())]
            body = resolved(operation.get("requestBody", {}))
            yield Operation(
                method=method.upper(),
                template=template,
                name=operation["operationId"],
                path_pattern=_pattern(template),
                path_parameters={each["name"]: each["schema"] for each in parameters if each["in"] == "path"},
                query_parameters={each["name"]: each for each in parameters if each["in"] == "query"},
                body=body.get("content", {}).get("application/json", {}).get("schema"),
                body_required=bool(body.get("required")),
                responses=operation["responses"],
            )


def _pattern(template: str) -> re.Pattern[str]:
    parts = re.split(r"\{(\w+)\}", template)
    text = "".join(
        re.escape(part) if index % 2 == 0 else f"(?P<{part}>{'.+' if part in _MULTI_SEGMENT else '[^/]+'})"
        for index, part in enumerate(parts)
    )
    return re.compile(text)


def _converted(node: Any) -> Any:
    """OpenAPI 3.0's `nullable: true`, which JSON Schema does not know, as an alternative that is null."""
    if isinstance(node, list):
        return [_converted(value) for value in node]
    if not isinstance(node, dict):
        return node
    result = {key: _converted(value) for key, value in node.items()}
    if result.get("nullable") is not True:
        return result
    del result["nullable"]
    return {"anyOf": [result, {"type": "null"}]}
