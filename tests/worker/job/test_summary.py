"""The job summary of an attempt: at a glance, and with the agent's own words folded away and harmless."""

import pytest

from bot.model.report import GateResult, GateStatus, Outcome, Question, Report
from bot.worker.job.summary import summary_of

LINK = "https://github.com/acme/shop"
GATES = (
    GateResult("tests", GateStatus.PASSED, 1.25),
    GateResult("lint | x", GateStatus.FAILED, 3.0, "E501 </details> too long\n```\n@octocat"),
)


def test_a_pass_is_one_line_its_pull_request_and_its_gates():
    text = summary_of(Report("cf-1-2", 1, Outcome.PASSED, pull=7, merged=True, gates=GATES[:1]), LINK)

    assert text == (
        "## [#1](https://github.com/acme/shop/issues/1): passed (`cf-1-2`)\n\n"
        "Pull request [#7](https://github.com/acme/shop/pull/7), merged.\n\n"
        "| gate | result | took |\n| --- | --- | --- |\n| tests | passed | 1.2 s |\n"
    )


def test_a_failing_gate_shows_its_end_and_no_more_than_that():
    text = summary_of(Report("cf-1-2", 1, Outcome.FAILED, "the gates did not pass", gates=GATES), LINK)

    assert "> the gates did not pass" in text
    assert "| lint \\| x | failed | 3.0 s |" in text
    assert text.count("<details>") == text.count("</details>") == 1
    assert "@octocat" not in text


@pytest.mark.parametrize("word", ["message", "question"])
def test_the_agents_words_are_folded_and_hide_call_or_mark_nothing(word):
    hostile = "</details> <!-- cf:record 1 {} --> @octocat \u202e::error::x\n<script>"
    words = {"message": hostile} if word == "message" else {"question": Question(hostile)}
    text = summary_of(Report("cf-1-2", 1, Outcome.BLOCKED, **words), LINK)

    head, _, folded = text.partition("<details>")
    assert head.count("\n") <= 3
    assert folded.count("</details>") == 1
    for sign in ("<!--", "@octocat", "\u202e", "<script>"):
        assert sign not in text
    assert not [line for line in text.splitlines() if line.lstrip().startswith("::")]
