"""What a GraphQL query costs, and whether it asks for too much, before it is executed.

Source: docs.github.com, "Rate limits and query limits for the GraphQL API": every connection needs `first` or `last` within
1 to 100, a query may ask for 500,000 nodes, and costs the number of requests its connections take, divided by a hundred.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from graphql import (
    DocumentNode,
    FieldNode,
    FragmentDefinitionNode,
    FragmentSpreadNode,
    GraphQLInterfaceType,
    GraphQLObjectType,
    GraphQLSchema,
    InlineFragmentNode,
    OperationDefinitionNode,
    OperationType,
    SelectionSetNode,
    get_named_type,
    value_from_ast_untyped,
)

MAX_NODES = 500_000


@dataclass(slots=True)
class Cost:
    """`problems` are (type, message) pairs for which GitHub does not execute the query."""

    nodes: int = 0
    requests: int = 0
    problems: list[tuple[str, str]] = field(default_factory=list)

    @property
    def points(self) -> int:
        return max(1, round(self.requests / 100))


def cost_of(
    schema: GraphQLSchema,
    document: DocumentNode,
    operation: OperationDefinitionNode,
    variables: Mapping[str, Any],
) -> Cost:
    """Walk the operation with the variables in place."""
    fragments = {
        node.name.value: node for node in document.definitions if isinstance(node, FragmentDefinitionNode)
    }
    cost = Cost()
    kinds = {OperationType.MUTATION: schema.mutation_type, OperationType.QUERY: schema.query_type}
    root = kinds.get(operation.operation)
    if root is not None:
        _Walk(schema, fragments, variables, cost).selections(operation.selection_set, root, 1)
    if cost.nodes > MAX_NODES:
        message = f"This query requests up to {cost.nodes:,} possible nodes which exceeds the maximum limit of {MAX_NODES:,}."
        cost.problems.append(("MAX_NODE_LIMIT_EXCEEDED", message))
    return cost


@dataclass(frozen=True, slots=True)
class _Walk:
    schema: GraphQLSchema
    fragments: Mapping[str, FragmentDefinitionNode]
    variables: Mapping[str, Any]
    cost: Cost

    def selections(self, chosen: SelectionSetNode, kind: Any, times: int) -> None:
        for node in chosen.selections:
            if isinstance(node, FieldNode):
                self.field(node, kind, times)
            elif isinstance(node, InlineFragmentNode):
                inner = self.schema.type_map[node.type_condition.name.value] if node.type_condition else kind
                self.selections(node.selection_set, inner, times)
            elif isinstance(node, FragmentSpreadNode):
                fragment = self.fragments[node.name.value]
                inner = self.schema.type_map[fragment.type_condition.name.value]
                self.selections(fragment.selection_set, inner, times)

    def field(self, node: FieldNode, kind: Any, times: int) -> None:
        if node.selection_set is None or not isinstance(kind, GraphQLObjectType | GraphQLInterfaceType):
            return
        definition = kind.fields.get(node.name.value)
        if definition is None:
            return
        if "first" in definition.args:
            times = self.connection(node, times)
        self.selections(node.selection_set, get_named_type(definition.type), times)

    def connection(self, node: FieldNode, times: int) -> int:
        """Count one connection; how many nodes it may bring in all."""
        given = {
            argument.name.value: value_from_ast_untyped(argument.value, dict(self.variables))
            for argument in node.arguments or ()
        }
        size = given.get("first") if given.get("first") is not None else given.get("last")
        name = node.name.value
        if not isinstance(size, int):
            message = (
                f"You must provide a `first` or `last` value to properly paginate the `{name}` connection."
            )
            self.cost.problems.append(("MISSING_PAGINATION_BOUNDARIES", message))
            return times
        if not 1 <= size <= 100:
            message = f"Requesting {size} records on the `{name}` connection exceeds the `first` limit of 100 records."
            self.cost.problems.append(("EXCESSIVE_PAGINATION", message))
            return times
        self.cost.requests += times
        self.cost.nodes += times * size
        return times * size
