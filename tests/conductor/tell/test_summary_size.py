"""Large: a step's summary stays below GitHub's mebibyte however long its tick lingers, and says how much is missing."""

import pytest

from bot.conductor.conduct import _tell
from bot.conductor.tell.summary import markdown
from bot.printing import SUMMARY_MOST, add_to_summary
from tests.builders import a_snapshot, a_task, a_tick

GITHUBS = 1024 * 1024


@pytest.mark.parametrize("letter", ["x", "é", "🚀"])
def test_a_lingering_tick_over_many_tasks_never_passes_the_limit(tmp_path, letter, capsys):
    tasks = [a_task(number, title=letter * 60, needs=()) for number in range(1, 1_400)]
    tick, summary = a_tick(a_snapshot(*tasks)), tmp_path / "summary.md"
    one = len(markdown(tick, tick.due).encode())
    for _ in range(GITHUBS // one + 5):
        _tell(tick, {"GITHUB_STEP_SUMMARY": str(summary)})
        assert summary.stat().st_size < GITHUBS
    text = summary.read_text(encoding="utf-8")
    assert text.startswith("_") and " earlier parts are left out._" in text  # noqa: PT018
    assert text.endswith(markdown(tick, tick.due))
    assert capsys.readouterr().out


def test_the_newest_tick_stands_below_how_many_were_left_out(tmp_path):
    file = tmp_path / "summary.md"
    for number in range(7):
        add_to_summary(file, f"### tick {number}\n\n" + "x" * 400_000 + "\n")
    assert file.read_text().startswith("_6 earlier parts are left out._\n\n### tick 6\n")


def test_tasks_that_do_not_fit_are_counted():
    tick = a_tick(a_snapshot(*[a_task(number, title="x" * 60) for number in range(1, 4_000)]))
    told = markdown(tick, None)
    shown = told.count("\n| #")
    assert f"| {3_999 - shown} more | | | |" in told
    assert 1_000 < shown < 3_999


def test_one_part_that_is_too_large_alone_is_cut_and_says_so(tmp_path):
    file = tmp_path / "summary.md"
    add_to_summary(file, "\n\n".join(["## all", *["é" * 1_000] * 1_000]))
    assert file.stat().st_size <= SUMMARY_MOST
    assert "more parts are left out._" in file.read_text(encoding="utf-8")
