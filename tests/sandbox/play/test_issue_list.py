"""The issue list: what it may say, and that a wrong one is answered with file, line and mend."""

from datetime import timedelta

import pytest

from bot.model.errors import UsageError
from bot.sandbox.demo import demo_issues
from bot.sandbox.play.issue_list import IssuePlan, load_issues, read_issues

LONG = "x" * 300
SHOWN = "'" + "x" * 56 + "..."


def test_reads_everything_that_an_issue_may_say():
    text = """
- title: Add a login page
  id: login
  body: Where the name goes.
  labels: [area:web, cf:p1]
- title: Send a mail
  needs: [login, 3]
  blocked_by: '#1'
  answer: Use SMTP.
  close_after: 1m30s
- title: Third
  needs: 1
"""
    first, second, third = read_issues(text, "issues.yml")
    assert first == IssuePlan(
        "Add a login page", "Where the name goes.", "login", ("area:web", "cf:p1"), line=2
    )
    assert second == IssuePlan(
        "Send a mail",
        needs=(1, 3),
        blocked_by=(1,),
        answer="Use SMTP.",
        close_after=timedelta(seconds=90),
        line=6,
    )
    assert third.needs == (1,)


def test_a_need_named_twice_counts_once():
    assert read_issues("- title: x\n- title: y\n  needs: [1, '#1']\n", "f")[1].needs == (1,)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "",
            "f.yml, line 1: must be a list with at least one issue, such as `- title: Add a login page`, found None",
        ),
        (
            "title: x",
            "f.yml, line 1: must be a list with at least one issue, such as `- title: Add a login page`, found {'title': 'x'}",
        ),
        (
            "- title: x\n- y",
            "f.yml, line 2: issue 2: must be an issue with at least a title, such as `title: Add a login page`, found 'y'",
        ),
        ("- body: x", "f.yml, line 1: issue 1: must have the key 'title'"),
        ("- title: ''", "f.yml, line 1: issue 1.title: must be a text that is not empty, found ''"),
        (
            f"- title: {LONG}",
            f"f.yml, line 1: issue 1.title: must be one line of at most 256 characters, found {SHOWN}",
        ),
        (
            "- title: |\n    a\n    b\n",
            "f.yml, line 1: issue 1.title: must be one line of at most 256 characters, found 'a\\nb\\n'",
        ),
        ("- title: x\n  titel: y", "f.yml, line 2: unknown key 'issue 1.titel'; did you mean 'title'?"),
        ("- title: x\n  title: y", "f.yml, line 2: the key 'title' stands here a second time"),
        ("- title: x\n  body: 5", "f.yml, line 2: issue 1.body: must be a text that is not empty, found 5"),
        (
            "- title: x\n  labels: {a: b}",
            "f.yml, line 2: issue 1.labels: must be a list, found {'a': 'b'}",
        ),
        (
            f"- title: x\n  labels: [{LONG}]",
            f"f.yml, line 2: issue 1.labels[0]: must be at most 50 characters, found {SHOWN}",
        ),
        (
            "- title: x\n  needs: [2]",
            "f.yml, line 2: issue 1.needs[0]: must be the number or the id of an issue in this file (1 to 1), found 2",
        ),
        (
            "- title: x\n  id: r\n  blocked_by:\n    - q",
            "f.yml, line 4: issue 1.blocked_by[0]: must be the number or the id of an issue in this file (1 to 1, r), found 'q'",
        ),
        (
            "- title: x\n  needs: [true]",
            "f.yml, line 2: issue 1.needs[0]: must be the number or the id of an issue in this file, found True",
        ),
        (
            "- title: x\n  id: a b",
            "f.yml, line 2: issue 1.id: must be a name of letters, digits, dashes and underscores, found 'a b'",
        ),
        (
            "- title: x\n  id: '3'",
            "f.yml, line 2: issue 1.id: must not be a number: numbers are places in the file, found '3'",
        ),
        (
            "- title: x\n  id: q\n- title: y\n  id: q",
            "f.yml, line 4: issue 2.id: must be an id of its own: issue 1 has it already, found 'q'",
        ),
        (
            "- title: x\n  close_after: 5",
            "f.yml, line 2: issue 1.close_after: must be a duration like 5s or 2m, found 5",
        ),
        (
            "- title: x\n  answer: [y]",
            "f.yml, line 2: issue 1.answer: must be a text that is not empty, found ['y']",
        ),
        (
            "- title: x\n   body: y",
            "f.yml, line 2: not readable as YAML: mapping values are not allowed in this context",
        ),
        ("- title: x\n" * 501, "f.yml: must hold at most 500 issues, found 501"),
    ],
)
def test_a_wrong_one_is_answered_with_file_line_and_mend(text, message):
    with pytest.raises(UsageError) as error:
        read_issues(text, "f.yml")
    assert str(error.value) == message
    assert error.value.exit_code == 2


def test_a_file_that_is_not_there(tmp_path):
    with pytest.raises(UsageError, match=r"none\.yml: cannot be read: No such file or directory"):
        load_issues(tmp_path / "none.yml")


def test_a_file_that_is_no_text(tmp_path):
    (tmp_path / "f.yml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(UsageError, match=r"f\.yml: cannot be read: it is not UTF-8"):
        load_issues(tmp_path / "f.yml")


def test_the_demo_s_own_list():
    plans = demo_issues()
    assert [plan.needs for plan in plans] == [(), (), (1,), (), (3, 4), (), (1,)]
    assert [plan.blocked_by for plan in plans if plan.blocked_by] == [(2,)]
    assert sum(plan.close_after is not None for plan in plans) == 1
    assert sum(bool(plan.answer) for plan in plans) == 1
