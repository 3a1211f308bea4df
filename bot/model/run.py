"""Workflow runs, jobs and artifacts, as the Actions API shows them."""

from datetime import datetime

from msgspec import Struct


class Run(Struct, frozen=True):
    """One workflow run. `title` is `display_title`, which echoes `run-name` and with it the attempt keys.

    Only `completed` is terminal: a status is a snapshot and may go backwards.
    """

    id: int
    title: str
    status: str
    conclusion: str | None
    created_at: datetime
    updated_at: datetime
    attempt: int = 1
    url: str = ""
    event: str = "workflow_dispatch"
    node_id: str = ""

    @property
    def ended(self) -> bool:
        return self.status == "completed"


class Job(Struct, frozen=True):
    """One job of one of a run's attempts. `name` of a called workflow's job is `<caller leg> / <job>`."""

    id: int
    run_id: int
    name: str
    status: str
    conclusion: str | None
    started_at: datetime | None
    completed_at: datetime | None
    attempt: int = 1

    @property
    def ended(self) -> bool:
        return self.status == "completed"


class Artifact(Struct, frozen=True):
    id: int
    name: str
    run_id: int
    created_at: datetime
    expired: bool = False
    size: int = 0
