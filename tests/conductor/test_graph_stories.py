"""Story: GRF and DEP cases that need the conductor, named by their ids."""

import json
from datetime import timedelta
from itertools import pairwise

import pytest

from bot.conductor.observe import observe
from bot.conductor.tell.summary import markdown, overview
from bot.console.plan_and_why import why_lines
from bot.model.config import Config
from bot.model.errors import TryLater
from bot.model.issue import NeedState
from bot.model.ref import Ref
from bot.model.report import Outcome
from bot.model.unit import Kind, Unit
from bot.notation.config import read_config
from bot.notation.units import write_units
from bot.plan.starts.starts import STARTS_PER_TICK
from bot.worker.job.claim import read_claim
from bot.worker.job.context import read_job_context
from tests.builders import a_snapshot, a_task, a_tick
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


def unmet(story, task, server="https://github.com"):
    """What the first step of a job for this task would wait for, read from GitHub by the claim check itself."""
    config = story.github.view("cf", None)
    key = f"cf-{task}-1"
    run = story.github.dispatch("cf-worker.yml", "main", {"units": "[]", "keys": key})
    unit = Unit(Kind.CODE, (task,), (key,), (1,), (), config.config_blob, "command", ("x",), ())
    environ = {
        "CF_UNIT": json.dumps(json.loads(write_units([unit]))[0]),
        "GITHUB_REPOSITORY": story.world.repository,
        "GITHUB_SERVER_URL": server,
        "GITHUB_REF_NAME": "main",
        "GITHUB_RUN_ID": str(run),
    }
    return read_claim(story.github, read_job_context(environ), read_config(config.config_text)).unmet


def planned_needs(story, task):
    return {str(need) for need in observe(story.github, story.world.now).snapshot.tasks[task].needs}


CODE_BODY = (
    "intro\n```\ndepends on #10\n```\n~~~\ndepends on #11\n~~~\n\n    depends on #12\n\n"
    "<pre>depends on #13</pre>\ndepends on #14 "
)


@pytest.mark.parametrize(
    ("body", "expected"), [(CODE_BODY, {"acme/shop#14"}), ("```\nx\n\ndepends on #15", set())]
)
def test_dep_01_planner_and_claim_check_read_the_same_needs(body, expected):
    story = Story()
    task = story.ready(body)

    assert planned_needs(story, task) == expected
    assert {entry.split(" ")[0] for entry in unmet(story, task)} == expected


def test_dep_01_they_do_on_an_enterprise_server_too():
    story = Story()
    story.world.web = "https://ghe.example"
    task = story.ready(
        "depends on https://ghe.example/acme/shop/issues/14\ndepends on https://github.com/acme/shop/issues/15"
    )

    assert planned_needs(story, task) == {"acme/shop#14"}
    assert [entry.split(" ")[0] for entry in unmet(story, task, story.world.web)] == ["acme/shop#14"]


def test_dep_17_status_plan_and_claim_check_use_one_answer():
    story = Story()
    need = story.world.open_issue("two")
    task = story.ready(f"depends on #{need}")
    assert story.github.issue(task).edges == ()
    foreseen = story.foresee()
    viewed = list(why_lines(story.github, story.world.now, task))
    story.tick()

    assert foreseen[task] == story.reason(task) == f"waiting on #{need}"
    assert f"  needs acme/shop#{need}: open" in viewed
    assert story.starts() == []
    assert unmet(story, task) == (f"acme/shop#{need} (open)",)


@pytest.mark.slow
def test_grf_03_a_poisoned_subgraph_does_not_stop_the_rest():
    story = Story(WIDE)
    chain = [story.ready() for _ in range(10)]
    for need, child in pairwise(chain):
        story.world.edit_issue(child, body=f"depends on #{need}")
    loop = story.ready(f"depends on #{chain[0]}")
    story.world.edit_issue(chain[0], body=f"depends on #{loop}")
    others = [story.ready() for _ in range(200)]
    last = story.tick()
    for _ in range(5):
        story.world.wait(timedelta(minutes=1))
        last = story.tick()

    assert {key.split("-")[1] for key in story.starts()} == {str(task) for task in others}
    assert story.reason(chain[-1]).startswith("blocked by cycle")
    assert set(last.plan.behind_cycles) == set(chain[1:])
    assert overview(last).counts["running"] == 200
    assert "Cycle members: 2. Held behind cycles: 9." in markdown(last, None)


def test_grf_03_five_hundred_issues_around_a_loop_are_planned_in_one_go():
    """The case's own numbers, as a plan: what is behind the loop is one task, and nothing else is held by it."""
    in_loop, behind, others = 1, 10, range(11, 508)
    needs = {in_loop: (2,), 2: (in_loop,), behind: (in_loop,)}
    config = Config(max_parallel=256, total=256)
    tasks = [a_task(number, needs=needs.get(number, ())) for number in (in_loop, 2, behind, *others)]
    tick = a_tick(a_snapshot(*tasks, config=config))
    started = {item.task for item in tick.plan.decisions if item.start}

    assert len(tasks) == 500
    assert started < set(others)
    assert next(item for item in tick.plan.decisions if item.task == behind).reason.startswith(
        "blocked by cycle"
    )
    left = {item.reason for item in tick.plan.decisions if item.task in others and not item.start}
    assert left == {f"starts a minute later: a tick starts at most {STARTS_PER_TICK}"}
    assert len(started) == STARTS_PER_TICK
    assert "Cycle members: 2. Held behind cycles: 1." in markdown(tick, None)


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
