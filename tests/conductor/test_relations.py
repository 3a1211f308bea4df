"""Story: needs as text and as relations of GitHub's: kept the same by order, and a difference said once."""

import pytest

from bot.model.advice import Proposal
from bot.model.issue import StateReason
from bot.notation.comments import read_fingerprint
from bot.worker.job.claim import Claim
from tests.conductor.story import CONFIG, Story


class Planner:
    def infer(self, _tasks):
        return Proposal({2: (1,)})


SYNC = CONFIG + "dependencies: {sync: native}\n"


def native(story, task):
    return [edge.ref.number for edge in story.github.issue(task).edges]


def mismatches(story, task):
    return [
        one.body
        for one in story.world.comments_of(task)
        if (read_fingerprint(one.body) or "").startswith("mismatch:")
    ]


def test_a_difference_between_text_and_github_is_said_once_and_all_of_it_counts():
    story = Story()
    first, second, both = (story.world.open_issue("need") for _ in range(3))
    task = story.ready(f"depends on #{first}, #{both}")
    story.world.block(task, second)
    story.world.block(task, both)
    story.settle()
    (text,) = mismatches(story, task)
    assert f"Only the description names #{first}. Only GitHub's `blocked by` names #{second}." in text
    assert all(f"#{need}" in story.reason(task) for need in (first, second, both))
    story.world.close(first)
    story.settle()
    assert len(mismatches(story, task)) == 1


def test_who_uses_one_of_the_two_is_told_nothing_and_a_pull_request_can_stand_in_text_only():
    story = Story()
    need = story.world.open_issue("need")
    story.world.push_files("topic", {"a.txt": "a"})
    pull = story.world.open_pull("topic", "A pull request")
    tasks = [
        story.ready(f"depends on #{need}"),
        story.ready(),
        story.ready(f"depends on #{need} and #{pull}"),
    ]
    for task in tasks[1:]:
        story.world.block(task, need)
    story.settle()
    assert [mismatches(story, task) for task in tasks] == [[], [], []]


def test_what_is_written_down_becomes_a_relation_up_to_githubs_limit():
    story = Story(SYNC)
    needs = [story.world.open_issue("need") for _ in range(52)]
    text = ", ".join(f"#{need}" for need in needs)
    task = story.ready(f"depends on {text}")
    story.settle()
    assert native(story, task) == needs[:50]
    assert mismatches(story, task) == []


def test_a_cycle_is_not_written():
    story = Story(SYNC)
    tasks = [story.ready("depends on #2"), story.ready("depends on #1")]
    story.settle()
    assert [native(story, task) for task in tasks] == [[], []]


def test_a_relation_that_github_refuses_holds_up_nothing():
    story = Story(SYNC)
    need = story.world.open_issue("need")
    task, other = story.ready(f"depends on #{need}"), story.ready()
    story.world.faults.answer(404, "block")
    tick = story.tick()
    assert [line for line in tick.effects.refused if line.startswith(f"#{task} blocked by")]
    assert story.starts() == [f"cf-{other}-1"]
    story.settle()
    assert native(story, task) == [need]


def test_an_own_need_ends_with_its_issue_also_where_github_shows_it():
    story = Story(SYNC)
    story.advise = lambda _config: Planner()  # type: ignore[assignment, return-value]
    need, task = (story.world.open_issue("x", labels=("cf:backlog",)) for _ in range(2))
    story.settle()
    story.world.comment(task, "/cf deps")
    story.settle()
    story.world.comment(task, "/cf apply\n/cf run")
    story.settle()
    assert native(story, task) == [need]
    assert story.starts() == []
    story.world.close(need, StateReason.NOT_PLANNED)
    story.settle()
    assert story.starts() == [f"cf-{task}-1"]
    assert isinstance(story.claim_check(story.run_of(f"cf-{task}-1")), Claim)


def test_the_backlog_of_a_milestone_is_approved_in_bulk():
    story = Story()
    story.tick()
    tasks = [story.world.open_issue("x", labels=("cf:backlog",)) for _ in range(3)]
    for task in tasks[:2]:
        story.world.plan_for(task, "V1")
    story.settle()
    dashboard = next(one.number for one in story.world.issues.all() if one.has_label("cf:dashboard"))
    story.world.comment(dashboard, f"/cf approve milestone:v1 except {tasks[1]}")
    story.settle()
    assert story.starts() == [f"cf-{tasks[0]}-1"]


@pytest.mark.parametrize("after", [False, True])
def test_16_a_tick_that_dies_at_any_write_ends_with_the_same_relations(after):
    def synced(kill):
        story = Story(SYNC)
        needs = [story.world.open_issue("need") for _ in range(2)]
        task = story.ready(f"depends on #{needs[0]}, #{needs[1]}")
        before = story.world.faults.writes
        if kill:
            story.world.faults.fail_write(before + kill, after=after)
        story.settle()
        return native(story, task) == needs, story.world.faults.writes - before

    _, writes = synced(0)
    assert [synced(number)[0] for number in range(1, writes + 1)] == [True] * writes
