"""Story: what stands in the way of many tasks: paid for once by each slot, told once, tried by the cheapest unit."""

from datetime import timedelta

import pytest

from bot.console.plan_and_why import foresee, plan_lines, why_lines
from bot.github.client import Client
from bot.github.credential import Credential
from bot.github.session import Session
from bot.github.wire import GithubkitWire
from bot.model.cause import Cause, Met
from bot.model.config import CONFIG_PATH
from bot.model.report import Outcome
from bot.notation.comments import read_fingerprint
from bot.sandbox.http.server import serve
from bot.sandbox.world.actions import NO_REGISTRY, STORAGE_FULL, UNPAID
from bot.sandbox.world.errors import ApiError
from bot.sandbox.world.faults import Fault
from bot.sandbox.world.git import MemoryGit
from bot.sandbox.world.in_process import client_of
from tests.conductor.days import EVERY, SIGNED, Days, noted, passing, refused, set_up_fails
from tests.conductor.story import CONFIG, Story

DAY, HOUR = timedelta(days=1), timedelta(hours=1)
FOUR = CONFIG + "max_parallel: 4\n"
LETS_ALL = dict.fromkeys(("actions", "checks", "contents", "issues", "pull-requests", "statuses"), "write")


def told(story):
    """The fingerprints of all that was said about causes, wherever it stands."""
    bodies = [comment.body for issue in story.world.issues.all() for comment in issue.comments]
    return [said for body in bodies if (said := read_fingerprint(body) or "").startswith("cause:")]


def cause_text(story):
    bodies = [comment.body for issue in story.world.issues.all() for comment in issue.comments]
    (text,) = [body for body in bodies if (read_fingerprint(body) or "").startswith("cause:")]
    return text


def dashboard(story):
    return next(issue.body for issue in story.world.issues.all() if issue.has_label("cf:dashboard"))


def with_token(**permissions):
    """A story whose conductor's token has these permissions and no others."""
    story = Story(FOUR)
    story.github = client_of(story.world, story.world.accounts.run_token(1, {**LETS_ALL, **permissions}))
    return story


def statuses(story, tasks):
    return {story.status(task) for task in tasks}


PUSH_REFUSALS = (
    SIGNED,
    Met(Cause.PUSH_RULE, words="Branch name must match a given regex pattern: ^feature/"),
    Met(Cause.PUSH_RULE, words="Cannot create ref due to creations being restricted."),
    Met(Cause.PULLS, words="GitHub Actions is not permitted to create or approve pull requests."),
)


@pytest.mark.parametrize("met", PUSH_REFUSALS, ids=["signatures", "names", "creations", "pulls"])
def test_a_rule_that_refuses_every_push_costs_one_agent_for_each_slot_and_is_probed_without_any(met):
    story = Story(FOUR)
    tasks = [story.ready() for _ in range(8)]
    days = Days(story, refused(met))
    days.pass_by(2 * DAY)

    assert len(days.agents) == 4
    assert len(told(story)) == 1
    assert "@maintainer" in cause_text(story)
    assert "**GitHub refuses every push**" in cause_text(story) or met.cause is Cause.PULLS
    assert met.words in dashboard(story)
    probes = [run for run in story.worker_runs() if '"kind":"publish"' in run.inputs["units"]]
    assert len(probes) == 4  # after a quarter of an hour, one hour, six hours, a day
    assert statuses(story, tasks) == {("ready",)}

    days.serve = passing
    days.pass_by(DAY)

    assert statuses(story, tasks) == {("done",)}
    assert len(days.agents) == 8
    assert len(told(story)) == 1
    assert "In the way" not in dashboard(story)
    assert {story.record(task).strikes for task in tasks} == {0}


def test_a_rule_about_the_one_change_holds_that_task_and_nobody_else():
    story = Story(FOUR)
    held, *others = [story.ready() for _ in range(3)]
    story.tick()
    story.finish(f"cf-{held}-1", Outcome.HELD, head="c" * 40, reason="File extension is restricted: .exe")
    for other in others:
        story.finish(f"cf-{other}-1", Outcome.PASSED)
    story.settle()

    assert story.status(held) == ("blocked",)
    assert statuses(story, others) == {("done",)}
    assert told(story) == []


def test_a_missing_permission_takes_one_claim_back_and_all_go_on_once_it_is_granted():
    story = with_token(actions="read")
    tasks = [story.ready() for _ in range(12)]
    days = Days(story, passing)
    days.pass_by(timedelta(minutes=10))

    claimed = [task for task in tasks if story.record(task).attempts]
    assert len(claimed) == 1
    assert story.record(claimed[0]).live is None
    assert statuses(story, tasks) == {("ready",)}
    assert "the permission actions: write" in cause_text(story)
    assert len(told(story)) == 1
    assert all("actions: write" in story.reason(task) for task in tasks)
    days.pass_by(2 * DAY)
    assert len(told(story)) == 1
    assert statuses(story, tasks) == {("ready",)}
    assert sum(len(story.record(task).attempts) for task in tasks) == 5  # and four probes

    story.github = client_of(story.world)
    days.pass_by(DAY + HOUR)
    assert statuses(story, tasks) == {("done",)}


def test_after_mending_a_retry_or_a_new_configuration_tries_at_once():
    for mend in ("retry", "configuration"):
        story = with_token(actions="read")
        tasks = [story.ready() for _ in range(3)]
        days = Days(story)
        days.pass_by(8 * HOUR)
        assert story.starts() == []
        story.github = client_of(story.world)
        story.tick()
        assert story.starts() == []
        if mend == "retry":
            story.world.comment(tasks[2], "/cf retry")
        else:
            assert isinstance(story.world.git, MemoryGit)
            story.world.git.commit("main", {CONFIG_PATH: FOUR + "corrections: 4\n"}, "mended")
        days.tick()
        assert len(story.starts()) == 3, mend


@pytest.mark.parametrize(
    "trouble", ["switched off", "an input that it does not know", "actions are disabled"]
)
def test_a_workflow_that_cannot_be_started_is_claimed_for_once(trouble):
    story = Story(FOUR)
    tasks = [story.ready() for _ in range(6)]
    assert isinstance(story.world.git, MemoryGit)
    path = ".github/workflows/cf-worker.yml"
    real = story.world.git.blob(story.world.git.listing("main", ".github/workflows")[path])
    assert real is not None
    if trouble == "switched off":
        story.world.switch_off("cf-worker.yml")
    elif trouble == "actions are disabled":
        words = "Actions has been disabled for this repository."
        story.world.faults.planned.append(Fault(lambda: ApiError(422, words), "dispatch"))
    else:
        story.world.git.commit("main", {path: real.decode().replace("      keys:", "      other:")}, "old")
    days = Days(story, passing)
    days.pass_by(HOUR)
    tried = sum(len(story.record(task).attempts) for task in tasks)
    assert tried <= 3 or trouble == "actions are disabled"
    assert len(told(story)) == 1
    story.world.switch_on("cf-worker.yml")
    story.world.git.commit("main", {path: real.decode()}, "mended")
    days.pass_by(DAY)
    assert statuses(story, tasks) == {("done",)}


@pytest.mark.parametrize("max_parallel", [1, 2])
def test_a_locked_issue_takes_no_slot_and_its_day_costs_what_a_quiet_day_costs(max_parallel):
    story = Story(f"{CONFIG}max_parallel: {max_parallel}\n")
    locked = story.ready()
    story.world.lock_conversation(locked)
    others = [story.ready() for _ in range(3)]
    days = Days(story, passing)
    days.pass_by(HOUR)

    assert statuses(story, others) == {("done",)}
    assert story.status(locked) == ("ready",)
    assert "issue is locked" in story.reason(locked)
    assert "unlock the conversation" in story.reason(locked)
    story.world.unlock_conversation(locked)
    days.pass_by(EVERY)
    assert story.status(locked) == ("done",)


def test_a_word_that_is_no_claim_is_not_sent_again_at_each_tick_either():
    story = Story(FOUR)
    task = story.ready("depends on #999")  # which asks a person, once
    story.world.lock_conversation(task)
    days = Days(story)
    days.pass_by(HOUR)
    story.world.faults.writes = 0
    days.pass_by(4 * HOUR)
    assert story.world.faults.writes == 3  # one more try: a document, the comment in it, the dashboard
    story.world.unlock_conversation(task)
    days.pass_by(EVERY)
    assert "This task needs" in story.world.comments_of(task)[0].body


NAMED = ((UNPAID, Cause.MINUTES), (STORAGE_FULL, Cause.STORAGE), (NO_REGISTRY, Cause.REGISTRY))


@pytest.mark.parametrize(("words", "cause"), NAMED, ids=["minutes", "storage", "registry"])
def test_what_github_notes_on_a_job_holds_the_others_from_the_first_end_on(words, cause):
    story = Story(CONFIG + "max_parallel: 1\n")
    tasks = [story.ready() for _ in range(5)]
    days = Days(story, noted(words))
    days.pass_by(HOUR)

    assert {run.inputs["keys"].split("-")[1] for run in story.worker_runs()} == {str(tasks[0])}
    assert [said.split(":")[1] for said in told(story)] == [cause]
    days.pass_by(2 * DAY)
    assert len(told(story)) == 1
    assert statuses(story, tasks) == {("ready",)}
    days.serve = passing
    days.pass_by(2 * DAY)
    assert statuses(story, tasks) == {("done",)}


GUESSED = (
    set_up_fails("set-up failed (exit 127): make deps\nbash: make: command not found"),
    set_up_fails("gate lint cannot run (exit 126): rufff check\nbash: rufff: Permission denied", "a" * 32),
    set_up_fails(
        "set-up failed (exit 2): pip install\nFailed to fetch: https://pypi.example/simple: dns error"
    ),
    noted(""),
)


@pytest.mark.parametrize("serve", GUESSED, ids=["127", "126", "registry", "nothing"])
def test_what_nobody_names_holds_all_from_the_second_task_on(serve):
    story = Story(CONFIG + "max_parallel: 2\n")
    tasks = [story.ready() for _ in range(8)]
    days = Days(story, serve)
    days.pass_by(timedelta(minutes=14))

    # The third began between the ends of the first two.
    assert len({run.inputs["keys"].split("-")[1] for run in story.worker_runs()}) == 3
    days.pass_by(2 * DAY)
    assert len(told(story)) == 1
    assert statuses(story, tasks) == {("ready",)}
    days.serve = passing
    days.pass_by(2 * DAY)
    assert statuses(story, tasks) == {("done",)}


def test_one_end_that_nobody_explains_is_started_again_at_once_as_ever():
    story = Story(FOUR)
    task, other = story.ready(), story.ready()
    story.tick()
    story.die(f"cf-{task}-1")
    story.settle()
    assert story.starts() == [f"cf-{task}-1", f"cf-{other}-1", f"cf-{task}-2"]
    assert told(story) == []


def test_a_command_that_is_not_there_is_told_with_the_shells_words_and_tried_at_once_with_another():
    story = Story(CONFIG + "max_parallel: 1\n")
    task = story.ready()
    met = Met(Cause.SETUP, "9f", "bash: rufff: command not found")
    days = Days(story)
    days.pass_by(EVERY)
    story.finish(f"cf-{task}-1", Outcome.INFRA, reason="lint cannot run", cause=met)
    days.pass_by(timedelta(minutes=10))
    assert "rufff: command not found" in cause_text(story)
    assert story.starts() == [f"cf-{task}-1"]
    assert isinstance(story.world.git, MemoryGit)
    story.world.git.commit("main", {CONFIG_PATH: FOUR}, "mended")
    story.tick()
    assert story.starts() == [f"cf-{task}-1", f"cf-{task}-2"]
    assert (story.record(task).strikes, story.record(task).interruptions) == (0, 0)


def test_a_run_that_no_machine_takes_is_told_after_an_hour_and_holds_those_that_want_the_same():
    story = Story(CONFIG + "max_parallel: 2\nrunner: [self-hosted, gpu]\n")
    story.world.actions.no_runner = True
    first, second, third = (story.ready() for _ in range(3))
    days = Days(story)
    days.pass_by(timedelta(minutes=50))
    assert told(story) == []
    assert story.reason(first).startswith(
        f"cf-{first}-1 waits for the runner self-hosted, gpu since 2026-03-02 12:00 UTC"
    )
    days.pass_by(HOUR)
    assert [said.split(":")[1] for said in told(story)] == ["runner"]
    assert "no machine takes the runner self-hosted, gpu" in dashboard(story)
    story.world.close(second, reason="not_planned")
    days.pass_by(DAY)
    assert story.starts() == [f"cf-{first}-1", f"cf-{second}-1"]
    assert "no machine takes the runner" in story.reason(third)
    story.world.runner_comes()
    story.begin(f"cf-{first}-1")
    days.pass_by(EVERY)
    assert story.starts()[-1] == f"cf-{third}-1"
    assert len(told(story)) == 1


def test_a_provider_holds_its_engine_as_ever_and_tells_nobody():
    story = Story(FOUR)
    tasks = [story.ready() for _ in range(5)]
    story.tick()
    again = story.world.now + 3 * HOUR
    story.finish(f"cf-{tasks[0]}-1", Outcome.CAPACITY, retry_after=again, engine="command")
    story.settle()
    assert story.reason(tasks[4]) == f"command takes no work until {again:%Y-%m-%d %H:%M:%S} UTC"
    assert told(story) == []


def test_plan_and_why_name_the_cause():
    story = with_token(actions="read")
    first, second = story.ready(), story.ready()
    days = Days(story)
    days.pass_by(timedelta(minutes=10))
    seen, decided = foresee(story.github, story.world.now)
    lines = list(plan_lines(seen, decided))
    assert any(line.startswith("in the way: the token lacks the permission actions: write") for line in lines)
    why = "\n".join(why_lines(story.github, story.world.now, first))
    assert "  met: the token lacks the permission actions: write" in why
    other = "\n".join(why_lines(story.github, story.world.now, second))
    assert "because: the token lacks the permission actions: write" in other
    assert "tried again at 2026-03-02 12:15 UTC" in other


@pytest.mark.contract
@pytest.mark.parametrize(
    ("trouble", "found"),
    [("permission", (Cause.PERMISSION, "actions: write")), ("switched off", (Cause.WORKFLOW, ""))],
)
def test_the_real_client_says_which_permission_and_what_is_switched_off(trouble, found):
    """Over HTTP: GitHub names the permission in a header, and a workflow that is switched off in a 422."""
    story = Story(FOUR)
    world = story.world
    tasks = [story.ready() for _ in range(3)]
    token = world.token("github-actions[bot]")
    if trouble == "permission":
        token = world.accounts.run_token(1, {**LETS_ALL, "actions": "read"})
    else:
        world.switch_off("cf-worker.yml")
    with serve(world) as served:
        pause = lambda seconds: world.wait(timedelta(seconds=seconds))  # noqa: E731
        wire = GithubkitWire(Credential(token.value), served.api)
        session = Session(wire, world.repository, served.graphql, now=lambda: world.now, sleep=pause)
        with Client(session) as client:
            story.github = client
            story.tick()
            story.tick()
            (claimed,) = [task for task in tasks if story.record(task).attempts]
            (attempt,) = story.record(claimed).attempts
    assert attempt.cause is not None
    assert (attempt.cause.cause, attempt.cause.key) == found
    assert len(told(story)) == 1


# what a day costs

WEATHERS = {
    "one locked issue": lambda story: story.world.lock_conversation(1),
    "a switched-off workflow": lambda story: story.world.switch_off("cf-worker.yml"),
    "a missing permission": lambda story: setattr(
        story,
        "github",
        client_of(story.world, story.world.accounts.run_token(1, {**LETS_ALL, "actions": "read"})),
    ),
    "a push rule": lambda story: refused(SIGNED),
    "full storage": lambda story: noted(STORAGE_FULL),
    "a dead registry": lambda story: set_up_fails("set-up failed: Could not resolve host: pypi.example"),
    "no minutes": lambda story: setattr(story.world.actions, "no_job_starts", UNPAID),
    "no machine": lambda story: setattr(story.world.actions, "no_runner", True),
}


def quiet_day(running=0):
    """Twelve tasks, of which these are run for the whole day, and the others wait for something that does not come."""
    story = Story(FOUR)
    for number in range(12):
        story.ready("" if number < running else "depends on #13")
    story.world.open_issue("Some day")
    days = Days(story)
    days.tick()
    for key in story.starts():
        story.begin(key)
    days.pass_by(DAY)
    return days.pass_by(DAY)


@pytest.mark.slow
@pytest.mark.parametrize("weather", WEATHERS)
def test_a_day_of_trouble_costs_what_a_quiet_day_costs_and_its_probes(weather):
    """The second day, when all that there is to meet was met: at most two probes fall into it."""
    quiet = quiet_day(running=4 if weather == "no machine" else 0)
    story = Story(FOUR)
    for _ in range(12):
        story.ready()
    days = Days(story, passing)
    served = WEATHERS[weather](story)
    days.serve = served if callable(served) else passing if weather != "no machine" else None
    first = days.pass_by(DAY)
    second = days.pass_by(DAY)

    assert first.agents <= (11 if weather == "one locked issue" else 4 + 1 + 3)
    assert second.agents <= (0 if weather in ("one locked issue", "a push rule", "no machine") else 1)
    assert second.runs <= 1
    probes = 2
    assert second.requests <= 1.1 * quiet.requests + probes * 25
    assert second.minutes <= 1.1 * quiet.minutes + probes * 3
