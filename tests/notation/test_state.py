"""What the dashboard remembers: only in our own issue, and within its share of it."""

from bot.model.advice import Verdict
from bot.model.record import Fixed, Spent
from bot.notation.codec import dump
from bot.notation.marker import read_marker, write_marker
from bot.notation.state import State, fitting, read_state, write_state
from tests.builders import BOT, NOW, WRITER, ago, an_issue

OURS = {BOT.id}


def test_the_state_comes_back_from_our_own_dashboard_only():
    state = State(NOW, {"1": "IC_1"}, {"2": "IC_2"}, "blob")
    body = f"words\n\n{write_state(state)}"

    assert read_state(an_issue(9, author=BOT, body=body), OURS) == state
    assert read_state(an_issue(9, author=WRITER, body=body), OURS) is None
    assert read_state(an_issue(9, author=BOT, body="words"), OURS) is None
    assert read_state(an_issue(9, author=BOT, body=write_marker("state", '{"records":3}')), OURS) is None
    newer = write_marker("state", '{"comments_since":"2026-03-02T12:00:00Z","more":1}')
    assert read_state(an_issue(9, author=BOT, body=newer), OURS) == State(NOW)
    assert read_marker("record", write_state(State(ago(days=1)))) is None


def test_the_state_of_thousands_of_tasks_fits_a_dashboard_and_running_ones_stay_in_it():
    """Finished tasks go first, then those of which nothing runs, the oldest first."""
    node = "IC_kwDOABCDEF5abcdef"
    numbers = [str(number) for number in range(1, 5001)]
    state = State(NOW, dict.fromkeys(numbers, node), {"9001": node}, "blob", spent={"cf-1-1": Spent(1)})
    kept = fitting(state, numbers[:3])

    assert len(write_state(kept)) < 31_000
    assert kept.finished == {}
    assert list(kept.records) == [*numbers[:3], *numbers[-len(kept.records) + 3 :]]
    assert (kept.spent, kept.config_blob) == (state.spent, "blob")
    assert fitting(kept, numbers[:3]) == kept


def test_the_index_that_is_too_long_keeps_the_newest_unfinished():
    finished = {str(number): "IC_" + "x" * 30 for number in range(500)}
    records = {str(number): "IC_" + "x" * 30 for number in range(1_000, 1_900)}
    kept = fitting(State(NOW, records, finished))
    assert kept.finished == {}
    assert "1899" in kept.records
    assert 500 < len(kept.records) < 900
    assert fitting(State(NOW, {"1": ""})) == State(NOW, {"1": ""})


def test_of_verdicts_and_fixes_the_newest_are_kept():
    verdicts = {f"{number:016}": Verdict("a" * 100) for number in range(100)}
    fixed = {f"f{number}": Fixed(number, NOW) for number in range(1, 60)}
    kept = fitting(State(NOW, verdicts=verdicts, fixed=fixed))
    assert list(kept.fixed) == [f"f{number}" for number in range(10, 60)]
    assert list(kept.verdicts) == list(verdicts)[-len(kept.verdicts) :]
    assert (
        len(dump(kept.verdicts)) <= 8_000 < len(dump(dict(list(verdicts.items())[-len(kept.verdicts) - 1 :])))
    )
    assert fitting(kept) == kept


def test_a_state_that_remembers_nothing_costs_no_room():
    assert write_state(State(NOW)) == '<!-- cf:state 1 {"comments_since":"2026-03-02T12:00:00Z"} -->'
    assert State(NOW).day == ""
