"""GRF and DEP cases that need the conductor, named by their ids."""

from itertools import pairwise

import pytest

from bot.model.errors import TryLater
from bot.model.issue import NeedState
from bot.model.ref import Ref
from bot.model.report import Outcome
from tests.conductor.story import CONFIG, Story

WIDE = CONFIG + "max_parallel: 256\nlimits: {total: 256}\n"


def comments_with(story, task, words):
    return [comment.body for comment in story.world.comments_of(task) if words in comment.body]


def test_dep_10_a_line_that_cannot_be_read_is_told_once():
    story = Story()
    task = story.ready(
        "depends on https://github.com.evil.example/acme/shop/issues/5\ndepends on the login work"
    )
    story.tick()
    story.tick()

    assert len(comments_with(story, task, "could not be read whole")) == 2


def test_dep_16_a_declaration_in_a_comment_is_answered_with_one_hint():
    story = Story()
    need = story.world.open_issue("need")
    task = story.ready()
    story.tick()  # the first tick ever sets the cursor; older comments hold no orders
    story.world.comment(task, f"depends on #{need}")
    story.tick()
    story.tick()

    assert len(comments_with(story, task, "read from the description only")) == 1
    assert story.starts() == [f"cf-{task}-1"]


def test_dep_17_status_plan_and_claim_check_use_one_answer():
    from bot.notation.needs import read_needs

    story = Story()
    need = story.world.open_issue("two")
    task = story.ready(f"depends on #{need}")
    foreseen = story.foresee()
    story.tick()

    assert foreseen[task] == story.reason(task) == f"waiting on #{need}"
    assert read_needs(story.world.issue(task).body, "acme/shop").local == (need,)
    assert story.starts() == []


def test_grf_03_a_poisoned_subgraph_does_not_stop_the_rest():
    story = Story(WIDE)
    chain = [story.ready() for _ in range(10)]
    for need, child in pairwise(chain):
        story.world.edit_issue(child, body=f"depends on #{need}")
    loop = story.ready(f"depends on #{chain[0]}")
    story.world.edit_issue(chain[0], body=f"depends on #{loop}")
    others = [story.ready() for _ in range(200)]
    from datetime import timedelta

    last = story.tick()
    for _ in range(5):
        story.world.wait(timedelta(minutes=1))
        last = story.tick()

    assert {key.split("-")[1] for key in story.starts()} == {str(task) for task in others}
    assert story.reason(chain[-1]).startswith("blocked by cycle")
    assert sum(len(set(cycle)) for cycle in last.plan.cycles) == 2
    assert set(last.plan.behind_cycles) == set(chain[1:])


@pytest.mark.parametrize("reason", ["not_planned", "duplicate"])
def test_grf_05_a_dropped_need_asks_for_a_decision_once(reason):
    story = Story()
    need = story.world.open_issue("need")
    task = story.ready(f"depends on #{need}")
    story.world.close(need, reason=reason)
    story.tick()
    story.tick()

    told = comments_with(story, task, "until somebody decides")
    assert len(told) == 1
    assert f"#{need}" in told[0]
    assert ("not planned" in told[0]) if reason == "not_planned" else ("duplicate" in told[0])
    assert story.starts() == []


def test_grf_06_a_pull_request_satisfies_only_when_merged():
    story = Story()
    pulls = []
    for name in ("one", "two", "three"):
        story.world.push_files(name, {f"{name}.txt": name}, name, by="maintainer")
        pull = story.world.open_pull(name, title=name, body="", by="maintainer")
        pulls.append(pull)
    merged, closed, pending = pulls
    story.world.merge_pull(merged)
    story.world.close_pull(closed)
    task = story.ready(f"depends on #{merged}, #{closed}")
    waits = story.ready(f"depends on #{pending}")
    fine = story.ready(f"depends on #{merged}")
    story.tick()

    assert "closed without merge" in story.reason(task)
    assert f"#{merged}" not in story.reason(task)
    assert "not merged yet" in story.reason(waits)
    assert story.starts() == [f"cf-{fine}-1"]


def test_grf_07_unknown_means_not_satisfied_and_a_passing_fault_is_not_told():
    story = Story()
    need = story.world.open_issue("need")
    story.world.close(need)
    task = story.ready(f"depends on #{need}")
    needs = story.github.needs
    story.github.needs = lambda refs: dict.fromkeys(refs, NeedState.UNKNOWN)  # type: ignore[method-assign]
    story.tick()
    assert story.reason(task).startswith("need unreadable")
    assert (story.status(task), story.starts(), story.world.comments_of(task)) == (("ready",), [], ())

    story.github.needs = needs  # type: ignore[method-assign]
    story.tick()
    assert story.starts() == [f"cf-{task}-1"]


def test_grf_07_a_lookup_that_breaks_the_tick_leaves_the_task_ready():
    story = Story()
    need = story.world.open_issue("need")
    task = story.ready(f"depends on #{need}")
    story.world.faults.answer(500, "needs", times=3)
    for _ in range(3):
        try:
            story.tick()
        except TryLater:
            continue
    assert story.status(task) == ("ready",)
    assert story.starts() == []


def test_grf_10_cannot_see_is_not_does_not_exist():
    story = Story()
    task = story.ready("depends on octo/private#4")
    story.tick()
    story.tick()

    told = comments_with(story, task, "until somebody decides")
    assert len(told) == 1
    assert "cannot be read with this token" in told[0]
    assert "deleted" not in told[0]
    assert story.status(task) == ("ready",)


def test_grf_10_another_repository_can_satisfy():
    story = Story()
    story.world.elsewhere(Ref("octo/lib", 4), NeedState.COMPLETED)
    task = story.ready("depends on octo/lib#4")
    story.tick()

    assert story.starts() == [f"cf-{task}-1"]


def test_grf_11_waiting_is_computed_not_remembered():
    story = Story()
    need = story.world.open_issue("need")
    line_goes = story.ready(f"depends on #{need}")
    need_goes = story.ready(f"depends on #{need}")
    blocked = story.world.open_issue("held", labels=("cf:blocked",))
    story.tick()
    assert story.starts() == []
    story.world.edit_issue(line_goes, body="nothing")
    story.tick()
    story.world.close(need)
    story.tick()

    assert story.starts() == [f"cf-{line_goes}-1", f"cf-{need_goes}-1"]
    assert story.status(blocked) == ("blocked",)


def test_grf_11_a_native_edge_counts_like_text():
    story = Story()
    need = story.world.open_issue("need")
    task = story.ready()
    story.world.block(task, need)
    story.tick()
    assert story.reason(task) == f"waiting on #{need}"
    story.world.close(need)
    story.tick()

    assert story.starts() == [f"cf-{task}-1"]


def test_grf_13_reading_does_not_grow_with_edges():
    story = Story(WIDE)
    needs = [story.world.open_issue("need", labels=("cf:backlog",)) for _ in range(20)]
    for number in range(100):
        lines = "\n".join(f"depends on #{needs[(number + step) % 20]}" for step in range(8))
        story.ready(lines)
    calls = counted(story)
    story.foresee()

    assert calls["needs"] == 0
    assert sum(calls.values()) <= 4


def counted(story):
    """Count the calls of the port's reading methods from now on."""
    from collections import Counter

    calls: Counter[str] = Counter()
    for name in (
        "view",
        "comments_since",
        "runs",
        "run",
        "jobs",
        "artifacts_since",
        "needs",
        "permission",
        "issues",
    ):
        real = getattr(story.github, name)

        def call(*args, _real=real, _name=name, **more):
            calls[_name] += 1
            return _real(*args, **more)

        setattr(story.github, name, call)
    return calls


def test_a_question_answered_by_letter_takes_the_option():
    """ANS-02."""
    from bot.model.report import Question

    story = Story()
    task = story.ready()
    story.tick()
    story.finish(f"cf-{task}-1", Outcome.BLOCKED, question=Question("Which?", ("sqlite", "postgres")))
    story.tick()
    for reply in ("what does B cost?", "A bit more context would help", "@bob please decide"):
        story.world.comment(task, reply)
        story.tick()
        assert story.status(task) == ("blocked",)
    assert len(comments_with(story, task, "is not taken as the answer")) == 1
    story.world.comment(task, "B.")
    story.tick()
    story.tick()

    assert story.record(task).answers[-1].answer == "postgres"
    assert story.starts() == [f"cf-{task}-1", f"cf-{task}-2"]


def test_ans_06_an_answered_blocker_requeues_once():
    from bot.model.report import Question

    story = Story()
    task = story.ready()
    story.tick()
    story.finish(f"cf-{task}-1", Outcome.BLOCKED, question=Question("Which?"))
    story.tick()
    story.world.comment(task, "this one")
    story.tick()
    story.tick()
    story.finish(f"cf-{task}-2", Outcome.BLOCKED, question=Question("And now?"))
    for _ in range(3):
        story.tick()

    assert story.starts() == [f"cf-{task}-1", f"cf-{task}-2"]
    assert story.status(task) == ("blocked",)
