"""What happened in a tick, for machines: names and numbers, never anybody's words."""

from collections.abc import Mapping

from msgspec import Struct, field

from bot.model.moment import Moment

# Every name there is, with what it tells. `scripts/docs_tables.py` writes this table into docs/telling.md.
EVENTS: Mapping[str, str] = {
    "batch.started": "a batch began, with its `tasks` and `strategy`; `resume`: again, `retry`: which extra round",
    "batch.task_queued": "a member became ready by the batch's order",
    "batch.task_started": "an attempt of a member was dispatched",
    "batch.task_completed": "an attempt of a member passed",
    "batch.task_blocked": "an attempt of a member ended and a person has to look",
    "batch.task_failed": "a member failed for good",
    "batch.task_skipped": "a member was completed or closed elsewhere",
    "batch.task_retried": "an attempt of a member failed, and another one follows",
    "batch.completed": "every counted member passed, and the batch gate with them",
    "batch.partial": "a batch ended and some members passed, or all did and the gate failed",
    "batch.failed": "a batch ended and no member passed",
    "batch.cancelled": "a person ended a batch, or nothing of it ran",
    "batch.validation_failed": "the batch gate failed for good (`gates`, `summary`); names the guilty task, if there is one",
    "run.started": "an attempt was dispatched",
    "run.completed": "an attempt passed every gate",
    "run.failed": "an attempt failed, with its outcome as the reason",
    "run.blocked": "an attempt ended and a person has to look, with its outcome as the reason",
    "run.cancelled": "an attempt ended without a result of its own: cancelled, infra, capacity, refused",
    "agent.step_started": "the agent turned to something, `category`, at that `second` of its work; told once the attempt is over",
    "agent.step_completed": "the agent went on to something else",
    "hook.executed": "a hook of the repository ran, with its name as the reason",
    "hook.failed": "a hook of the repository failed; after an attempt that changes nothing",
    "reconcile.started": "this tick has at least one of the following `reconcile` events",
    "reconcile.task_skipped": "a task was closed or completed elsewhere before it ran",
    "reconcile.task_killed": "the run of a task is being ended, because the task is no longer wanted",
    "reconcile.task_requeued": "a task is ready again: answered, its run was lost, or a review asks for changes",
    "reconcile.error": "GitHub refused writes, or records cannot be read; `count` says how many",
    "config.reloaded": "another configuration is in force",
    "config.rejected": "the configuration cannot be read; nothing new starts",
    "blocker.created": "an agent's question was posted",
    "blocker.answered": "people answered an open question",
    "blocker.resolved": "the attempt after the answer passed",
    "task.merged": "a task's pull request was merged",
    "shared_fix.opened": "a failure that several tasks share gets an issue of its own",
    "shared_fix.closed": "such an issue, named as the task, has repaired it",
}


class Event(Struct, frozen=True, omit_defaults=True):
    """One event. `event` is one of EVENTS, `reason` one of our own words, `more` what only some kinds have."""

    event: str
    at: Moment
    task: int = 0
    batch: int = 0
    key: str = ""
    run: int = 0
    pull: int = 0
    reason: str = ""
    more: Mapping[str, int | float | str | bool | tuple[int, ...] | tuple[str, ...]] = field(
        default_factory=dict
    )
