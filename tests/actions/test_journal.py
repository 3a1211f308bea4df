"""Names, limits and conditions as read from workflow files, and act's log read into jobs; no process is started."""

import json
from datetime import UTC, datetime

import pytest

from bot.sandbox.actions import journal
from bot.sandbox.actions.journal import Journal
from bot.sandbox.actions.layout import read_layout

NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)
TOP = """
name: top
on: workflow_dispatch
jobs:
  plain: {runs-on: x, timeout-minutes: 7, if: always(), steps: [{run: 'a'}, {id: tidy, if: "${{ always() }}", run: 'b'}]}
  many: {strategy: {matrix: {os: [a, b]}}, runs-on: x, steps: [{run: 'a'}]}
  unit:
    name: ${{ matrix.unit.name }}
    strategy: {matrix: {unit: "${{ fromJSON(inputs.units) }}"}}
    uses: ./.github/workflows/task.yml
    with: {unit: "${{ toJSON(matrix.unit) }}"}
"""
TASK = """
name: the task
on: workflow_call
jobs:
  agent: {runs-on: x, timeout-minutes: "${{ fromJSON(inputs.unit).minutes }}", steps: [{run: 'a'}]}
  verify:
    name: verify (${{ matrix.leg.name }})
    strategy: {matrix: {leg: "${{ fromJSON(inputs.unit).verify }}"}}
    runs-on: x
    timeout-minutes: ${{ fromJSON(inputs.unit).nothing }}
    steps: [{run: 'a'}]
"""


def layout(tmp_path, units='[{"name": "#1", "minutes": 5}, {"name": "#1-2", "minutes": 6}]'):
    folder = tmp_path / ".github/workflows"
    folder.mkdir(parents=True)
    (folder / "w.yml").write_text(TOP)
    (folder / "task.yml").write_text(TASK)
    return read_layout(tmp_path, "w.yml", {"github": {}, "inputs": {"units": units}, "vars": {}})


@pytest.fixture
def kept(tmp_path):
    return Journal(layout(tmp_path), lambda: NOON)


@pytest.fixture
def read(kept):
    """Feeds the journal with events."""

    def feed(*events):
        return [kept.read(event if isinstance(event, str) else json.dumps(event)) for event in events]

    return feed


def event(job, job_id, **more):
    return {"job": job, "jobID": job_id, "level": "info", "msg": "", **more}


@pytest.mark.parametrize(
    ("job", "job_id", "matrix", "name", "minutes"),
    [
        ("top/plain", "plain", {}, "plain", 7),
        ("top/many-2", "many", {"os": "b"}, "many (b)", 360),
        ("#1-1/the task/agent", "agent", {}, "#1 / agent", 5),
        # The second leg's own name looks like the first one's with a number.
        ("#1-2-2/the task/agent", "agent", {}, "#1-2 / agent", 6),
        ("#1-1/the task/verify (x)-1 ", "verify", {"leg": {"name": "x"}}, "#1 / verify (x)", 360),
        ("who knows/this", "this", {}, "who knows/this", 360),
    ],
)
def test_names_and_limits_are_githubs(read, job, job_id, matrix, name, minutes):
    (news,) = read(event(job, job_id, matrix=matrix))

    assert news.begun
    assert (news.entry.state.name, news.entry.state.status, news.entry.minutes) == (
        name,
        "in_progress",
        minutes,
    )


def test_what_goes_on_after_a_cancellation(read):
    (plain,) = read(event("top/plain", "plain", stage="Main", stepID=["0"], step="a", msg="⭐ Run Main a"))
    assert plain.entry.always
    assert (plain.step, plain.entry.step_goes_on) == ("0", False)
    (tidy,) = read(event("top/plain", "plain", stage="Main", stepID=["tidy"], step="b", msg="⭐ Run Main b"))
    assert (tidy.step, tidy.entry.step_goes_on) == ("tidy", True)
    (inner,) = read(
        event("top/plain", "plain", stage="Main", stepID=["tidy", "0"], step="c", msg="⭐ Run Main c")
    )
    assert inner.step == "tidy"
    (agent,) = read(event("#1-1/the task/agent", "agent"))
    assert not agent.entry.always


def test_the_first_result_stands(read):
    done, again = read(
        event("top/plain", "plain", jobResult="failure"), event("top/plain", "plain", jobResult="success")
    )

    assert done.ended
    assert (again.entry.state.conclusion, again.entry.state.completed_at) == ("failure", NOON)


def test_a_log_is_kept_up_to_its_limit(read, monkeypatch):
    monkeypatch.setattr(journal, "MAX_LOG", 20)
    lines = [event("top/plain", "plain", raw_output=True, msg=f"line {number}\n") for number in range(9)]
    *_, news = read(*lines)

    assert news.entry.take_log() == "line 0\nline 1\n... (cut: the log is longer than the sandbox keeps)\n"
    assert news.entry.take_log() == ""


def test_annotations_and_errors_are_shown(read):
    *_, news = read(
        event("top/plain", "plain", command="notice", arg="look"),
        event("top/plain", "plain", level="error", msg="it broke"),
        event("top/plain", "plain", level="debug", msg="noise"),
    )

    assert news.entry.take_log() == "##[notice]look\nit broke\n"


@pytest.mark.parametrize(
    "line", ["", "Error: no such file", "[1, 2]", '{"level": "info", "msg": "x"}', "\x00\udcff"]
)
def test_lines_about_no_job_are_no_news(read, kept, line):
    assert read(line) == [None]
    assert kept.entries == {}


def test_the_last_words_about_the_whole_run_are_kept(read, kept):
    read(*(f"line {number}" for number in range(50)))

    assert kept.loose[-1] == "line 49"
    assert len(kept.loose) == 20
