"""The expressions that the world itself evaluates, with the answers GitHub documents."""

import math

import pytest

from bot.sandbox.world.expressions import Unsupported, condition, evaluate, interpolate, truthy, value_of

SEEN = {
    "github": {
        "event_name": "issues",
        "event": {
            "label": {"name": "CF:Ready"},
            "issue": {"labels": [{"name": "a"}, {"name": "b"}], "number": 7},
        },
        "run_id": "9",
    },
    "inputs": {"units": '[{"lead": 3}, {"lead": 4}]', "dry": False},
    "matrix": {"unit": {"lead": 3}},
    "vars": {},
}


@pytest.mark.parametrize(
    ("source", "value"),
    [
        ("1 == 1.0", True),
        ("'Agent' == 'agent'", True),
        ("null == ''", True),
        ("'abc' == 1", False),
        ("true == 1", True),
        ("'' == 0", True),
        ("'it''s'", "it's"),
        ("0x10", 16),
        ("-2 < -1.5", True),
        ("'b' > 'A'", True),
        ("!''", True),
        ("!(1 > 2)", True),
        ("'x' && 'y'", "y"),
        ("'' || 'y'", "y"),
        ("false && true || 'z'", "z"),
        ("github.event_name == 'issues' && 'group' || github.run_id", "group"),
        ("github.event_name == 'push' && 'group' || github.run_id", "9"),
        ("github.event.comment.body", None),
        ("github['event'].label['NAME']", "CF:Ready"),
        ("github.event.issue.labels.*.name", ["a", "b"]),
        ("contains(github.event.issue.labels.*.name, 'B')", True),
        ("contains('hello', 'ELL')", True),
        ("startsWith('Hello', 'he') && endsWith('Hello', 'LO')", True),
        ("format('{0} {{{1}}} {0}', 'a', 1)", "a {1} a"),
        ("join(github.event.issue.labels.*.name, '+')", "a+b"),
        ("join(fromJSON('[]'), '')", ""),
        ("fromJSON(inputs.units)[1].lead", 4),
        ("toJSON(matrix.unit)", '{\n  "lead": 3\n}'),
        ("always() && success() && !failure() && !cancelled()", True),
        ("github.event.issue.number > '6'", True),
        ("inputs.dry", False),
    ],
)
def test_values(source, value):
    assert evaluate(source, SEEN) == value


@pytest.mark.parametrize(
    "source",
    [
        "secrets.KEY",
        "hashFiles('x')",
        "1 +",
        "(1",
        "a b",
        "contains('a')",
        "fromJSON('{')",
        "'open",
        "github.",
    ],
)
def test_what_it_cannot_do_is_said(source):
    with pytest.raises(Unsupported):
        evaluate(source, SEEN)


def test_texts_and_conditions():
    assert interpolate("cf-${{ matrix.unit.lead }}-${{ inputs.dry }}${{ null }}", SEEN) == "cf-3-false"
    assert value_of({"a": ["${{ fromJSON('1') }}", "x${{ 2.5 }}", 3]}, SEEN) == {"a": [1, "x2.5", 3]}
    assert condition(None, SEEN)
    assert condition("${{ github.event.issue }}", SEEN)
    assert not condition(False, SEEN)
    assert not condition("github.event.comment", SEEN)
    values: list[object] = ["", "0", 0, 0.0, math.nan, None, [], {}, "false"]
    assert [truthy(value) for value in values] == [
        False, True, False, False, False, False, True, True, True,
    ]  # fmt: skip
