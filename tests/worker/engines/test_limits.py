"""A plan's limit in the words of the programs: capacity, until the time that they name."""

import json
import random
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from bot.model.report import Outcome
from bot.worker.engines import engine
from bot.worker.engines.facts import Facts, trouble
from bot.worker.engines.limits import is_limit, named_time
from bot.worker.engines.verdicts import judge_end
from bot.worker.programs.process import End, Ended

NOW = datetime(2026, 3, 2, 12, 30, tzinfo=UTC)  # a Monday


def at(day: int, hour: int, minute: int = 0, month: int = 3, year: int = 2026) -> datetime:
    return datetime(year, month, day, hour, minute, tzinfo=UTC)


@pytest.mark.parametrize(
    ("words", "when"),
    [
        ("You've hit your session limit · resets 3pm (America/Bogota)", at(2, 20)),
        ("You've hit your session limit · resets 8:30pm (Asia/Tokyo)", at(3, 11, 30)),
        ("You've hit your session limit · resets 12:50am (America/Los_Angeles)", at(3, 8, 50)),
        ("You've hit your session limit · resets 12pm (Asia/Kolkata)", at(3, 6, 30)),
        ("You've hit your weekly limit · resets Mar 5 at 12pm (Asia/Singapore)", at(5, 4)),
        ("You've hit your weekly limit · resets Mar 5, 9am (Europe/Berlin)", at(5, 8)),
        ("You've hit your weekly limit ∙ resets Friday at 9am (UTC)", at(6, 9)),
        ("You've hit your Opus limit · resets Jan 3, 10:30am (UTC)", at(3, 10, 30, 1, 2027)),
        ("5-hour limit reached ∙ resets 3pm", at(2, 15)),
        ("Claude usage limit reached. Your limit will reset at 3pm (America/Santiago).", at(2, 18)),
        ("Claude AI usage limit reached|1772467200", at(2, 16)),
        ("You've hit your session limit · resets 12:25pm (UTC)", NOW),
        (
            "You've hit your usage limit. Upgrade to Pro (https://x.y) or try again in 5 days 22 hours 11 minutes.",
            at(8, 10, 41),
        ),
        ("You've hit your usage limit. Try again in 3 hours 2 minutes.", at(2, 15, 32)),
        ("You've hit your usage limit. Upgrade, or try again at Mar 5th, 2026 8:19 PM.", at(5, 20, 19)),
        ("You've hit your usage limit ... or try again at 6:08 PM.", at(2, 18, 8)),
        ('usage_limit_reached: {"resets_at":1772467200,"resets_in_seconds":12600}', at(2, 16)),
        (
            "You have exhausted your daily limit. Your quota will reset after 3h20m10s.",
            at(2, 15, 50) + timedelta(seconds=10),
        ),
        ("weekly limit: resets at 2026-03-05T09:00:00Z", at(5, 9)),
        ("session limit, resets at noon (PST)", at(2, 20)),
        ("session limit, resets tomorrow at 9am (GMT+2)", at(3, 7)),
    ],
)
def test_the_named_time(words, when):
    assert is_limit(words) or "exhausted" in words
    assert named_time(words, NOW) == when


@pytest.mark.parametrize(
    "words",
    [
        "You've hit your session limit · resets 3pm (Mars/Olympus)",
        "You've hit your session limit",
        "You've hit your weekly limit · resets Feb 31, 9am",
        "session limit, resets 99:99",
        "weekly limit, resets 7",
        "session limit · resets 27pm (UTC)",
    ],
)
def test_what_names_no_time_leaves_the_wait_to_us(words):
    assert named_time(words, NOW) is None


def test_any_zone_and_any_time_is_the_next_one_there():
    chosen = random.Random(4)
    for _ in range(300):
        zone = chosen.choice(["America/Bogota", "Pacific/Auckland", "Asia/Kathmandu", "Europe/Paris", "UTC"])
        hour, minute, half = chosen.randint(1, 12), chosen.randint(0, 59), chosen.choice(["am", "pm"])
        now = NOW + timedelta(minutes=chosen.randint(0, 500_000))
        until = named_time(f"You've hit your session limit · resets {hour}:{minute:02}{half} ({zone})", now)
        assert until is not None
        assert timedelta(0) <= until - now <= timedelta(hours=25)
        if until > now:
            assert f"{until.astimezone(ZoneInfo(zone)):%I:%M%p}".lower() == f"{hour:02}:{minute:02}{half}"


@pytest.mark.parametrize(
    "words",
    ["Context limit reached · /compact to continue", "the usage of memory", "a limit", "Prompt is too long"],
)
def test_what_is_no_limit_of_a_plan(words):
    assert not is_limit(words)


WORDS = "You've hit your session limit · resets 3pm (America/Bogota)"


def stream(words: str, *, how: str) -> list[str]:
    block = {"type": "text", "text": words}
    said = {"type": "assistant", "message": {"id": "m", "model": "<synthetic>", "content": [block]}}
    result = {"type": "result", "subtype": "success", "is_error": how == "an error", "result": words}
    return [words] if how == "a plain line" else [json.dumps(said), json.dumps(result)]


@pytest.mark.parametrize(
    "words",
    [WORDS, "You've hit your weekly limit · resets Mar 5, 9am (UTC)", "5-hour limit reached ∙ resets 3pm"],
)
@pytest.mark.parametrize(
    ("how", "code"), [("an error", 1), ("a success", 0), ("a plain line", 1), ("a plain line", 0)]
)
def test_claude_codes_own_words_are_capacity(words, how, code):
    claude, facts = engine("claude-code"), Facts()
    for line in stream(words, how=how):
        facts = claude.read(facts, line)

    verdict = claude.verdict(Ended(End.EXITED, code, ""), facts)

    assert (verdict.outcome, verdict.provider) == (Outcome.CAPACITY, True)
    assert words in verdict.reason
    assert verdict.retry_after is not None


def test_an_agent_that_talks_about_limits_or_goes_on_has_met_none():
    claude = engine("claude-code")
    said = {
        "type": "assistant",
        "message": {"id": "m", "model": "claude-x", "content": [{"type": "text", "text": WORDS}]},
    }
    facts = claude.read(Facts(), json.dumps(said))
    assert claude.verdict(Ended(End.EXITED, 0, ""), facts).outcome is None

    facts = trouble(Facts(), WORDS).words("Here it is.")
    assert claude.verdict(Ended(End.EXITED, 0, ""), facts).outcome is None


def test_other_programs_wait_until_the_time_they_name_too():
    verdict = judge_end(
        Ended(End.EXITED, 1, ""),
        trouble(Facts(), "You've hit your usage limit. Try again in 4 days 2 hours."),
    )

    assert verdict.outcome is Outcome.CAPACITY
    assert verdict.retry_after is not None
    assert timedelta(days=4, hours=1, minutes=59) < verdict.retry_after <= timedelta(days=4, hours=2)
