"""Our part of GitHub's GraphQL schema is a part of it: nothing of ours is of another name or type."""

from typing import Any

import pytest
from graphql import (
    GraphQLEnumType,
    GraphQLInputObjectType,
    GraphQLInterfaceType,
    GraphQLObjectType,
    GraphQLUnionType,
    validate_schema,
)

from bot.sandbox.http.graphql.execute import schema
from bot.sandbox.http.graphql.reads import RESOLVERS
from bot.sandbox.http.graphql.writes import MUTATIONS
from tests.oracles import graphql_schema

OURS = schema()
NAMES = sorted(name for name in OURS.type_map if not name.startswith("__"))


def test_it_is_a_whole_schema():
    assert validate_schema(OURS) == []


@pytest.mark.parametrize("name", NAMES)
def test_every_type_is_githubs(name):
    ours = OURS.type_map[name]
    theirs: Any = graphql_schema().type_map[name]

    assert type(ours).__name__ == type(theirs).__name__
    if isinstance(ours, GraphQLObjectType | GraphQLInterfaceType):
        assert {i.name for i in ours.interfaces} <= {i.name for i in theirs.interfaces}
        for field_name, field in ours.fields.items():
            published = theirs.fields[field_name]
            assert str(field.type) == str(published.type), field_name
            for argument_name, argument in field.args.items():
                known = published.args[argument_name]
                assert (str(argument.type), argument.default_value) == (str(known.type), known.default_value)
            needed = {key for key, argument in published.args.items() if str(argument.type).endswith("!")}
            assert needed - set(field.args) <= {
                key for key in needed if published.args[key].default_value is not None
            }
    elif isinstance(ours, GraphQLInputObjectType):
        assert {key: str(field.type) for key, field in ours.fields.items()}.items() <= {
            key: str(field.type) for key, field in theirs.fields.items()
        }.items()
    elif isinstance(ours, GraphQLEnumType):
        assert set(ours.values) <= set(theirs.values)
    elif isinstance(ours, GraphQLUnionType):
        assert {member.name for member in ours.types} <= {member.name for member in theirs.types}


def test_every_mutation_is_carried_out_and_every_resolver_is_used():
    assert OURS.mutation_type is not None
    assert set(OURS.mutation_type.fields) == set(MUTATIONS)
    kinds: dict[str, Any] = dict(OURS.type_map)
    assert all(name in kinds[kind].fields for kind, name in RESOLVERS)
