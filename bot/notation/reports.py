"""Reports and kept work as they travel between jobs: artifact names, and the one JSON file in each.

`cf-work-<key>` (made by the agent job) holds `report.json`, `work.bundle` when there is a change, and logs.
`cf-report-<key>` (made by the publish job) holds `report.json` alone.
"""

from collections.abc import Iterable

from bot.model.report import Report
from bot.model.run import Artifact
from bot.notation.codec import dump, load

REPORT_FILE = "report.json"
BUNDLE_FILE = "work.bundle"


def work_name(key: str) -> str:
    return f"cf-work-{key}"


def report_name(key: str) -> str:
    return f"cf-report-{key}"


def kept_as(name: str, artifacts: Iterable[Artifact]) -> list[Artifact]:
    """Those of this name that can still be had, newest first.

    A run that was run again may show several of one name, of several attempts. What one of them holds tells whether it is the one
    that is meant; only then does its age decide.
    """
    there = (artifact for artifact in artifacts if artifact.name == name and not artifact.expired)
    return sorted(there, key=lambda artifact: (artifact.created_at, artifact.id), reverse=True)


def write_report(report: Report) -> str:
    return dump(report)


def read_report(text: str | bytes) -> Report:
    """Raises Unreadable."""
    return load(text, Report)
