"""Reports and kept work as they travel between jobs: artifact names, and the one JSON file in each.

`cf-work-<key>` (made by the agent job) holds `report.json`, `work.bundle` when there is a change, and logs.
`cf-report-<key>` (made by the publish job) holds `report.json` alone.
"""

from bot.model.report import Report
from bot.notation.codec import dump, load

REPORT_FILE = "report.json"
BUNDLE_FILE = "work.bundle"


def work_name(key: str) -> str:
    return f"cf-work-{key}"


def report_name(key: str) -> str:
    return f"cf-report-{key}"


def write_report(report: Report) -> str:
    return dump(report)


def read_report(text: str | bytes) -> Report:
    """Raises Unreadable."""
    return load(text, Report)
