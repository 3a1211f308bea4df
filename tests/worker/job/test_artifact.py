"""Kept work: found wherever the download put it, and about the right attempt."""

import pytest

from bot.model.report import Outcome, Report
from bot.notation.codec import Unreadable
from bot.worker.job.artifact import WorkGone, find_report, save_report, unpack


def test_reports_are_found_wherever_the_download_put_them(tmp_path):
    report = Report("cf-12-1", 12, Outcome.BLOCKED)
    save_report(tmp_path / "cf-work-cf-12-1", report)

    assert find_report(tmp_path, "cf-12-1") == report
    assert find_report(tmp_path / "cf-work-cf-12-1", "cf-12-1") == report
    assert find_report(tmp_path, "cf-12-2") is None
    with pytest.raises(Unreadable, match="is about 'cf-12-1'"):
        find_report(tmp_path / "cf-work-cf-12-1", "cf-12-2")


def test_an_archive_that_is_none_is_gone(tmp_path):
    with pytest.raises(WorkGone, match="not a readable archive"):
        unpack(b"no zip", tmp_path)
