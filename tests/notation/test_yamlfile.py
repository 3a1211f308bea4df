"""YAML with places."""

import pytest

from bot.model.errors import UsageError
from bot.notation.yamlfile import Value, read_yaml


def child(text, key="a"):
    return dict(read_yaml(text, "x.yml").items())[key]


def test_off_is_understood_where_it_is_a_choice():
    assert child("a: off").choice("rules", "off") == "off"
    assert child("a: rules").choice("rules", "off") == "rules"
    with pytest.raises(UsageError, match="found True"):
        child("a: on").choice("rules", "off")
    with pytest.raises(UsageError, match="must be one of rules, found False"):
        child("a: off").choice("rules")


def test_a_value_knows_its_path_and_line():
    text = "# one\na:\n  b:\n    - c: 1\n    - c: 2\n"
    second = list(dict(child(text).items())["b"].entries())[1]
    value = dict(second.items())["c"]
    assert (value.name, value.line, value.raw) == ("a.b[1].c", 5, 2)


def test_a_place_that_is_not_known_is_the_first_line():
    assert Value(1, "x.yml", ("a",)).line == 1


def test_what_is_shown_of_a_value_is_short():
    with pytest.raises(UsageError) as caught:
        child(f"a: {'x' * 5000}").flag()
    assert len(str(caught.value)) < 150


def test_one_text_stands_for_a_list_of_one_and_nothing_for_none():
    assert child("a: x").texts() == ("x",)
    assert child("a:").texts() == ()
    assert child("a: [x, y]").texts() == ("x", "y")


@pytest.mark.parametrize(("length", "shown"), [(58, f"'{'x' * 58}'"), (59, f"'{'x' * 56}...")])
def test_up_to_sixty_characters_of_a_value_are_shown(length, shown):
    with pytest.raises(UsageError) as caught:
        child(f"a: {'x' * length}").flag()
    assert str(caught.value).endswith(f"found {shown}")
