"""Story: the safety net: a scheduled run of the shipped conductor finds work that no event told it of, and dispatches it."""

import pytest

from bot.sandbox.demo import REPOSITORY, demo_project
from bot.sandbox.play.repository import from_folder
from bot.sandbox.play.session import open_sandbox
from bot.sandbox.play.task_states import CONDUCTOR, read_facts

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(300)]


@pytest.fixture
def sandbox(tmp_path):
    with demo_project() as project:
        prepared = from_folder(project, tmp_path / "shop.git", tmp_path / "scratch")
    with open_sandbox(REPOSITORY, prepared, {}) as opened:
        yield opened


def test_a_scheduled_run_dispatches_what_no_event_told_of(sandbox):
    world = sandbox.world
    world.actions.disabled.add(CONDUCTOR)
    issue = world.open_issue("Remove items from the cart", labels=("cf:ready",))
    assert world.runs() == ()
    world.actions.disabled.clear()
    (scheduled,) = world.tick_schedule(CONDUCTOR)
    assert world.engine.wait_idle(120)
    assert (world.run(scheduled).event, world.run(scheduled).conclusion) == ("schedule", "success")
    first = world.runs()[1]
    assert (first.workflow, first.event, first.inputs["keys"]) == (
        "cf-worker.yml",
        "workflow_dispatch",
        f"cf-{issue}-1",
    )
    facts = read_facts(world, (issue,), "cf")
    assert facts.tasks[0].word == "done"
    assert [pull.is_open for pull in facts.tasks[0].pulls] == [True]
