"""The repository's own template in the place of our prompt."""

import pytest

from bot.model.errors import UsageError
from bot.worker.prompt.packing import tokens
from bot.worker.prompt.prompt import VALUES, write_prompt
from tests.worker.prompt.test_prompt import context


def test_a_template_takes_the_place_of_our_prompt_with_the_same_values():
    found = write_prompt(
        context(body="Please <!-- x -->do."), "Work on {{ number }} ({{ key }}).\n{{ body }}\n"
    )

    assert found.text == "Work on 12 (cf-12-1).\nPlease do.\n"


def test_a_template_may_use_every_value():
    text = "".join(f"{{{{ {name} }}}}" for name in VALUES)

    found = write_prompt(context(files=["a"]), text)

    assert "How to work" in found.text


@pytest.mark.parametrize(
    ("template", "told"),
    [
        ("a\n{% if %}", ".github/cf-prompt.md, line 2: Expected an expression"),
        ("{{ titel }}", "'titel' is undefined; its values are title, "),
        ("{{ title.__class__.__mro__ }}", "access to attribute '__class__' of 'str' object is unsafe"),
        ("{% include 'x' %}", "no loader for this environment"),
        ("{{ 1 / 0 }}", "division by zero"),
    ],
)
def test_a_wrong_template_is_told_with_its_place(template, told):
    with pytest.raises(UsageError) as caught:
        write_prompt(context(), template)

    assert told in str(caught.value)


def test_a_template_is_bounded_too():
    found = write_prompt(context(), "{% for n in range(9000) %}{{ body }}{% endfor %}" * 9, budget=3_000)

    assert tokens(found.text) <= 3_000
    assert found.left_out == ("the end of the template's text",)


def test_no_template_costs_no_import():
    import subprocess
    import sys

    done = subprocess.run(
        [sys.executable, "-c", "import sys, bot.worker.agent.agent_job; print('jinja2' in sys.modules)"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == "False\n"
