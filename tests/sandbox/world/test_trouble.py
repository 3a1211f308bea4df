"""Story: what GitHub refuses for everybody: locked conversations, switched-off workflows, unpaid bills, full storage."""

import pytest

from bot.sandbox.world import BOT, ApiError, JobState
from bot.sandbox.world.actions import NO_REGISTRY, STORAGE_FULL, UNPAID
from tests.conductor.story import Story


def refused(status):
    return pytest.raises(ApiError, check=lambda error: error.status == status)


def test_a_locked_conversation_takes_words_of_writers_and_none_of_bots(world):
    number = world.open_issue("task")
    said = world.comment(number, "ours", by=BOT)
    with refused(403):
        world.lock_conversation(number, by="stranger")
    world.lock_conversation(number)

    for nobody in (BOT, "stranger"):
        with refused(403) as no:
            world.comment(number, "more", by=nobody)
        assert str(no.value) == "Unable to create comment because issue is locked."
    world.comment(number, "a writer's")
    world.edit_comment(said, "edited", by=BOT)
    world.unlock_conversation(number)
    world.comment(number, "again", by=BOT)


def test_a_workflow_that_is_switched_off_takes_no_dispatch_and_no_schedule(world):
    world.switch_off("cf-worker.yml")
    inputs = {"units": "[]", "keys": ""}
    with refused(422) as no:
        world.dispatch("cf-worker.yml", inputs=inputs)
    assert "disabled workflow" in str(no.value)
    world.switch_on("cf-worker.yml")
    assert world.dispatch("cf-worker.yml", inputs=inputs)


@pytest.mark.parametrize("words", [UNPAID, NO_REGISTRY])
def test_a_run_that_may_not_begin_fails_at_its_first_job_with_githubs_words(words):
    story = Story()
    story.ready()
    story.world.actions.no_job_starts = words
    story.tick()
    (run,) = story.worker_runs()
    (job,) = run.jobs.values()
    assert (run.conclusion, job.name, job.conclusion, job.annotations) == (
        "failure",
        "#1 / agent",
        "failure",
        (words,),
    )
    assert run.id not in story.engine.started


def test_full_storage_takes_no_artifact_and_says_so_on_the_job(world):
    run = world.dispatch("cf-worker.yml", inputs={"units": "[]", "keys": ""})
    job = world.put_job(run, JobState("agent", "in_progress"))
    world.actions.storage_full = True
    with refused(403):
        world.add_artifact(run, "work", b"PK")
    assert world.actions.job(job).annotations == (STORAGE_FULL,)
    world.actions.storage_full = False
    assert world.add_artifact(run, "work", b"PK")


def test_without_a_machine_runs_stay_queued_until_one_comes(world):
    world.actions.no_runner = True
    inputs = {"units": "[]", "keys": ""}
    first, second = (world.dispatch("cf-worker.yml", inputs=inputs) for _ in range(2))
    world.cancel(first)
    assert (world.run(first).conclusion, world.run(second).status) == ("cancelled", "queued")
    assert world.engine.started == []
    world.runner_comes()
    assert world.engine.started == [second]
