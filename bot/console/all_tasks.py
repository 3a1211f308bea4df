"""Every task that ever was, with its record: what `cf stats` and `cf runs` look back on. Closed issues are read as well."""

from datetime import datetime

from bot.conductor.observe import observe
from bot.conductor.observe.tasks import read_tasks
from bot.github.port import Reader
from bot.model.config import Config
from bot.model.status import Status
from bot.model.task import Task


def past_tasks(github: Reader, now: datetime) -> tuple[Config, tuple[Task, ...]]:
    """The configuration in force and all tasks by number. Closed ones cost two lists. Raises what the port does."""
    seen = observe(github, now)
    snapshot = seen.snapshot
    finished = [
        issue
        for status in (Status.MERGED, Status.DONE)
        for issue in github.labelled(snapshot.config.label(status), closed=True)
        if issue.number not in snapshot.tasks
    ]
    closed = read_tasks(
        github,
        {issue.number: issue for issue in finished},
        (),
        seen.view,
        seen.state,
        snapshot.config,
        snapshot.accounts,
    )
    tasks = {**snapshot.tasks, **closed}
    return snapshot.config, tuple(tasks[number] for number in sorted(tasks))
