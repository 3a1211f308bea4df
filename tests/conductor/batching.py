"""Orders for batches the way `cf-batch.yml` gives them, and what their issues show."""

from datetime import timedelta
from typing import Any

import pytest

from bot.console.batch.carry_out import perform
from bot.console.batch.inputs import read_request
from bot.model.batch import BatchRecord
from bot.model.errors import BotError
from bot.notation.batches import read_batch
from bot.sandbox.world.in_process import client_of
from tests.conductor.story import Story

DEFAULTS = {
    "action": "run",
    "target": "",
    "tasks": "",
    "strategy": "parallel",
    "max_parallel": "",
    "on_failure": "continue",
    "max_retries": "0",
    "engine": "",
    "dry_run": "false",
    "options": "",
}


def order(
    story: Story, tasks: str = "", *, by: str = "maintainer", run: int = 77, attempt: int = 1, **inputs: str
) -> str:
    """What `cf batch` says to these inputs, given the way the workflow gives them."""
    given = {**DEFAULTS, "tasks": tasks, **inputs}
    environ = {f"CF_BATCH_{name.upper()}": value for name, value in given.items()}
    environ |= {
        "GITHUB_ACTOR": by,
        "GITHUB_TRIGGERING_ACTOR": by,
        "GITHUB_RUN_ID": str(run),
        "GITHUB_RUN_ATTEMPT": str(attempt),
    }
    story.world.wait(timedelta(seconds=2))
    said = perform(client_of(story.world), read_request(environ), story.world.now)
    story.world.wait(timedelta(seconds=2))
    return said


def control(story: Story, action: str, batch: int, run: int = 900, **given: Any) -> str:
    """A later word on a batch, through `cf-batch.yml`."""
    return order(story, action=action, target=f"#{batch}", run=run, **given)


def refusal(story: Story, *args: str, **inputs: Any) -> str:
    """The refusal's words; nothing may have been written before it."""
    issues, writes = len(list(story.world.issues.all())), story.world.faults.writes
    with pytest.raises(BotError) as refused:
        order(story, *args, **inputs)
    assert (len(list(story.world.issues.all())), story.world.faults.writes) == (issues, writes)
    return str(refused.value)


def batches(story: Story) -> list[int]:
    return [issue.number for issue in story.world.issues.all() if issue.has_label("cf:batch")]


def issue(story: Story, body: str = "", *labels: str) -> int:
    return story.world.open_issue("Do it", body, labels=labels)


def last_words(story: Story, batch: int) -> str:
    return story.world.comments_of(batch)[-1].body


def state(story: Story, batch: int) -> tuple[str, ...]:
    """The state labels of a batch issue."""
    return tuple(
        label.removeprefix("cf:batch/")
        for label in story.world.labels_of(batch)
        if label.startswith("cf:batch/")
    )


def rows(text: str) -> dict[int, dict[str, str]]:
    """The table of members in a text of ours: its cells by column, by task."""
    found: dict[int, dict[str, str]] = {}
    names: list[str] = []
    for line in text.splitlines():
        cells = [cell.strip() for cell in line.replace("\\|", "¦").strip("|").split("|")]
        if line.startswith("|") and {"task", "status"} <= set(cells):
            names = cells
        elif not line.startswith("|"):
            names = []
        elif names and not cells[0].startswith("---"):
            row = dict(zip(names, cells, strict=True))
            found[int(row["task"].split()[0].lstrip("#"))] = row
    return found


def shown(story: Story, batch: int) -> dict[int, dict[str, str]]:
    """The members as the batch issue's text shows them now."""
    return rows(story.world.issue(batch).body)


def record_of(story: Story, batch: int) -> BatchRecord:
    accounts = {story.world.token("github-actions[bot]").account.id}
    found = read_batch(story.github.issues([batch])[batch], accounts)
    assert found is not None
    return found.record
