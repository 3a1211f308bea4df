"""Each rule finds the fault it is for, in a workflow that is otherwise right."""

import pytest

from tests.packaging import rules
from tests.packaging.rules import parse

pytestmark = pytest.mark.packaging

PIN = "a" * 40
GOOD = f"""\
on:
  workflow_dispatch:
permissions: {{}}
jobs:
  work:
    permissions:
      contents: read
    runs-on: ubuntu-latest
    timeout-minutes: 10
    strategy:
      fail-fast: false
      max-parallel: 4
      matrix:
        unit: [1]
    steps:
      - uses: actions/checkout@{PIN} # v6.0.1
        with:
          persist-credentials: false
      - uses: astral-sh/setup-uv@{PIN} # v10.0.1
        with:
          enable-cache: false
      - run: echo "$TITLE" "${{{{ runner.temp }}}}"
        env:
          TITLE: ${{{{ github.event.issue.title }}}}
"""
FAULTS = [
    (rules.sec_05_pinned, f"actions/checkout@{PIN} # v6.0.1", "actions/checkout@v6 # v6.0.1", "not pinned"),
    (
        rules.sec_05_pinned,
        f"actions/checkout@{PIN} # v6.0.1",
        "actions/checkout@aaaaaaa # v6.0.1",
        "not pinned",
    ),
    (
        rules.sec_05_pinned,
        f"actions/checkout@{PIN} # v6.0.1",
        f"actions/checkout@{PIN}",
        "no version comment",
    ),
    (
        rules.sec_05_pinned,
        f"- uses: actions/checkout@{PIN} # v6.0.1",
        f"- uses: >-\n          actions/checkout@{PIN}",
        "cannot be read",
    ),
    (rules.nothing_granted_on_top, "permissions: {}\n", "", "the top has no"),
    (rules.nothing_granted_on_top, "permissions: {}", "permissions: read-all", "the top has no"),
    (rules.nothing_granted_on_top, "    permissions:\n      contents: read\n", "", "work does not name"),
    (rules.time_limits, "    timeout-minutes: 10\n", "", "work has no timeout"),
    (rules.act_22_matrices_go_on, "      fail-fast: false\n", "", "fail-fast"),
    (rules.act_22_matrices_go_on, "fail-fast: false", "fail-fast: true", "fail-fast"),
    (rules.act_22_matrices_go_on, "      max-parallel: 4\n", "", "max-parallel"),
    (
        rules.sec_01_no_foreign_text_in_scripts,
        '"$TITLE"',
        '"${{ github.event.issue.title }}"',
        "github.event.issue.title",
    ),
    (rules.sec_01_no_foreign_text_in_scripts, '"$TITLE"', '"${{ steps.a.outputs.b }}"', "steps.a.outputs.b"),
    (rules.sec_01_no_foreign_text_in_scripts, '"$TITLE"', '"${{ inputs.units }}"', "inputs.units"),
    (
        rules.sec_01_no_foreign_text_in_scripts,
        "runner.temp",
        "runner.temp || github.head_ref",
        "github.head_ref",
    ),
    (
        rules.sec_12_checkouts_keep_no_token,
        "persist-credentials: false",
        "fetch-depth: 0",
        "persist-credentials",
    ),
    (
        rules.sec_12_checkouts_keep_no_token,
        "persist-credentials: false",
        "persist-credentials: true",
        "persist-credentials",
    ),
    (rules.sec_03_no_cache, "enable-cache: false", "enable-cache: auto", "enable-cache"),
    (rules.sec_03_no_cache, f"astral-sh/setup-uv@{PIN}", f"actions/cache/save@{PIN}", "a cache step"),
    (
        rules.sec_12_artifacts_hold_no_repository,
        f"- uses: astral-sh/setup-uv@{PIN} # v10.0.1",
        f"- uses: actions/upload-artifact@{PIN} # v7.0.1",
        "keeps None",
    ),
    (
        rules.sec_19_nobody_is_judged_by_name,
        "    timeout-minutes: 10\n",
        "    if: github.actor == 'ann'\n",
        "github.actor == 'ann'",
    ),
    (
        rules.sec_19_nobody_is_judged_by_name,
        "github.event.issue.title",
        "github.event.sender.login != 'ann'",
        "sender.login",
    ),
    (rules.no_dangerous_trigger, "workflow_dispatch:", "pull_request_target:", "pull_request_target"),
    (rules.no_dangerous_trigger, "on:\n  workflow_dispatch:", "on: workflow_run", "workflow_run"),
    (rules.no_inherited_secrets, "    timeout-minutes: 10\n", "    secrets: inherit\n", "every secret"),
]


def test_the_good_workflow_breaks_no_rule():
    workflow = parse("good.yml", GOOD)

    assert {rule.__name__: list(rule(workflow)) for rule in rules.EVERYWHERE if list(rule(workflow))} == {}


@pytest.mark.parametrize(("rule", "right", "wrong", "said"), FAULTS)
def test_a_fault_is_found_by_its_rule(rule, right, wrong, said):
    assert right in GOOD

    (violation,) = rule(parse("bad.yml", GOOD.replace(right, wrong)))

    assert said in violation


def test_every_rule_is_shown_a_fault():
    assert {rule for rule, *_ in FAULTS} == set(rules.EVERYWHERE)


def test_on_stays_a_word():
    assert parse("x.yml", "on: push\nyes: no\nflag: true").content == {
        "on": "push",
        "yes": "no",
        "flag": True,
    }
