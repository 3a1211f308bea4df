"""Story: a tick killed at any write of a batch: the same end as undisturbed, each word said once, each agent started once."""

from collections import Counter

import pytest

from bot.model.errors import TryLater
from bot.model.report import Outcome
from bot.notation.batches import read_batch
from bot.notation.comments import read_fingerprint
from tests.conductor.batching import batches, control, issue, order, rows, state
from tests.conductor.story import CONFIG, Story

SETTINGS = CONFIG + "retry: {max_attempts: 1, backoff: 0s}\nmax_parallel: 2\n"


def begun(story):
    tasks = [issue(story), issue(story, "", "cf:backlog")]
    order(story, f"{tasks[0]} {tasks[1]}", max_retries="1")
    return tasks, batches(story)[0]


def proven_and_merged(story, tasks, batch):
    """Start, gate, merge, end."""
    story.settle()
    for task in tasks:
        story.finish_live(task, Outcome.PASSED)
    story.settle()
    story.finish_gate(batch)
    story.settle()
    for task in tasks:
        story.merge(task)
    story.settle()


def blamed(story, tasks, batch):
    """The gate is red, the hunt names a task, which goes back."""
    story.settle()
    for task in tasks:
        story.finish_live(task, Outcome.PASSED)
    story.settle()
    story.on_with()
    story.finish_gate(batch, green=False)
    story.settle()
    story.finish_gate(batch)
    story.settle()


def failed_and_resumed(story, tasks, batch):
    """An extra round, the end, a resume."""
    story.settle()
    story.on_with()
    for _ in range(2):
        for task in tasks:
            story.finish_live(task, Outcome.FAILED)
        story.settle()
    story.world.comment(batch, "/cf resume")
    story.settle()


def stopped(story, tasks, batch):
    """By command and by force, while one runs and its gate has not begun."""
    story.settle()
    story.finish_live(tasks[0], Outcome.PASSED)
    story.settle()
    story.on_with()
    for attempt in (1, 2):  # an order that GitHub did not take is given again
        try:
            control(story, "stop-force", batch, attempt=attempt)
            break
        except TryLater:
            continue
    story.settle()


def ending(story, batch):
    """All that people see of the batch in the end, and of the rest what was opened and started."""
    ours = {story.world.token("github-actions[bot]").account.id}
    seen = story.world.issue(batch)
    told = Counter(
        print_.split(":")[0]
        for one in story.world.comments_of(batch)
        if one.author.id in ours and (print_ := read_fingerprint(one.body))
    )
    found = read_batch(story.github.issues([batch])[batch], ours)
    assert found is not None
    record = found.record
    members = {task: (row["status"], row.get("was")) for task, row in rows(seen.body).items()}
    # A claim whose dispatch never happened is told as what it is: a lost run.
    sums = {kind: count for kind, count in record.sums.items() if "its run was lost" not in kind}
    others = sorted(one.title for one in story.world.issues.all() if one.has_label("cf:regression"))
    control_ = record.control.action if record.control else None
    return (seen.is_open, state(story, batch), told, members, sums, record.rounds, control_, others)


def told(tell, number=0, after=False):
    """The story, with that write of it failing; and what became of its batch."""
    story = Story(SETTINGS)
    if number:
        story.world.faults.fail_write(number, after=after)
    tasks, batch = begun(story)
    story.on_with()
    tell(story, tasks, batch)
    return story, ending(story, batch)


# What a round and a stop are made of is written like the rest, so of these two every third write is enough.
STORIES = {proven_and_merged: 1, blamed: 1, failed_and_resumed: 3, stopped: 3}


@pytest.mark.slow
@pytest.mark.parametrize("tell", STORIES, ids=lambda tell: tell.__name__)
def test_16_killed_at_any_write_of_a_batch_the_end_is_the_same(tell):
    """Before and after it was applied."""
    undisturbed, expected = told(tell)
    for number in range(undisturbed.writes_before + 1, undisturbed.world.faults.writes + 1, STORIES[tell]):
        for after in (False, True):
            story, seen = told(tell, number, after)
            assert seen == expected, (number, after)
            assert len(story.agent_starts()) == len(story.starts()), (number, after)
