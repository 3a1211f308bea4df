"""Reports as they travel."""

import pytest

from bot.model.report import GateResult, GateStatus, Outcome, Question, Report
from bot.notation.codec import Unreadable
from bot.notation.reports import (
    BUNDLE_FILE,
    REPORT_FILE,
    read_report,
    report_name,
    work_name,
    write_report,
)


def test_a_report_comes_back_as_it_was():
    report = Report(
        "cf-1-2",
        1,
        Outcome.BLOCKED,
        message="words\n<!-- cf:record 1 {} -->",
        question=Question("Which?", ("A", "B"), "nothing"),
        gates=(GateResult("tests", GateStatus.FAILED, 1.5, "tail"),),
        minutes=0.25,
        statistics={"tokens": 10.0},
    )
    assert read_report(write_report(report)) == report
    assert read_report(write_report(report).encode()) == report


@pytest.mark.parametrize(
    "text",
    [
        "",
        "null",
        "[]",
        "{",
        "{}",
        '{"key":"cf-1-1","task":"1","outcome":"failed"}',
        '{"key":"cf-1-1","task":1,"outcome":"splendid"}',
        '{"key":"cf-1-1","task":1,"outcome":"failed","gates":[{"name":"x","status":"fine"}]}',
        '{"key":"cf-1-1","task":1,"outcome":"failed","minutes":"long"}',
        b"\xff\xfe",
        '{"key":"\ud800"}',
        '{"x":' + "[" * 100_000 + "]" * 100_000 + "}",
    ],
)
def test_what_is_no_report_is_unreadable_and_never_anything_worse(text):
    with pytest.raises(Unreadable, match="not a readable report"):
        read_report(text)


def test_files_and_artifacts_have_the_names_that_both_programs_know():
    assert (REPORT_FILE, BUNDLE_FILE) == ("report.json", "work.bundle")
    assert (work_name("cf-1-2"), report_name("cf-1-2")) == ("cf-work-cf-1-2", "cf-report-cf-1-2")
