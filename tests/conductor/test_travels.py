"""Story: from conductor to worker and back: numbers, keys and configuration by input, results by artifact (ACT-04, ACT-17)."""

import json

import pytest
import yaml

from bot.model.errors import UsageError
from bot.model.report import Outcome
from tests.conductor.story import TEMPLATES, Story

TITLE = "use Bearer abc"
MASKS = ("Bearer abc", "main", "sk-test")


def test_act_04_nothing_foreign_travels_by_input():
    """A runner drops an output that holds a masked value; none of ours can, because no text of people is in them."""
    story = Story()
    task = story.ready("do it on main with sk-test", title=TITLE)
    story.tick()
    (run,) = story.worker_runs()

    assert set(run.inputs) == {"units", "keys"}
    assert run.inputs["keys"] == f"cf-{task}-1"
    (unit,) = json.loads(run.inputs["units"])
    texts = [value for value in unit.values() if isinstance(value, str)]
    assert not [mask for mask in MASKS for text in texts if mask in text]
    assert TITLE not in run.title


def test_act_04_the_outputs_of_jobs_are_a_flag_and_a_commit_id():
    for path in TEMPLATES.glob("*.yml"):
        for job in yaml.load(path.read_text(), yaml.CSafeLoader)["jobs"].values():
            assert set(job.get("outputs") or ()) <= {"verify", "commit"}, path.name


def test_act_04_a_missing_result_is_an_interruption_and_an_empty_one_says_so():
    story = Story()
    missing, empty = story.ready(), story.ready()
    story.tick()
    story.die(f"cf-{missing}-1", agent="success")
    story.finish(f"cf-{empty}-1", Outcome.NO_CHANGES)
    story.tick()

    assert story.record(missing).attempts[0].outcome is Outcome.INFRA
    assert "report is missing" in story.record(missing).attempts[0].reason
    assert story.status(missing) == ("ready",)
    assert story.record(empty).attempts[0].outcome is Outcome.NO_CHANGES
    assert story.status(empty) == ("blocked",)


def test_act_17_an_order_has_ten_inputs_and_four_hundred_numbers_fit_one_of_them():
    document = yaml.load((TEMPLATES / "cf-batch.yml").read_text(), yaml.CSafeLoader)
    inputs = document[True]["workflow_dispatch"]["inputs"]  # YAML 1.1 reads the key `on` as true
    numbers = " ".join(str(100_000 + number) for number in range(400))
    story = Story()

    run = story.world.dispatch("cf-batch.yml", inputs={"tasks": numbers}, token="maintainer")

    assert len(inputs) == 10
    assert story.world.runs("cf-batch.yml")[0].id == run


def test_act_17_what_is_too_long_is_refused_before_the_call():
    story = Story()
    before = story.world.faults.writes

    with pytest.raises(UsageError, match="65535"):
        story.github.dispatch("cf-worker.yml", "main", {"units": "x" * 70_000, "keys": ""})

    assert story.world.faults.writes == before
    assert story.worker_runs() == []
