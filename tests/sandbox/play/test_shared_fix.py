"""Two tasks, one failure they share, one fix, and both go on: by the shipped workflows under `act`, agents and gates included.

It takes minutes, so `make stories` runs it; `tests/conductor/test_shared_fixes.py` tells the same quickly.
"""

import pytest

from bot.model.report import Outcome
from bot.sandbox.play.repository import from_folder
from bot.sandbox.play.session import open_sandbox
from bot.sandbox.play.task_states import CONDUCTOR, read_facts

pytestmark = [pytest.mark.story, pytest.mark.timeout(900)]

CONFIG = """\
version: 1
engine: command
engines:
  command:
    args: case "$(head -1 "$CF_PROMPT_FILE")" in *"Write "*) echo done >"$CF_TASK.txt" ;; *) echo mended >lib.txt ;; esac
gates: [{name: tests, run: "grep mended lib.txt || { echo 'lib.txt:1: the library is broken'; exit 1; }"}]
corrections: 0
merge: auto
shared_fixes: auto
linger: 8s
retry: {backoff: 2s}
"""


@pytest.fixture
def sandbox(tmp_path):
    project = tmp_path / "project"
    (project / ".github").mkdir(parents=True)
    (project / ".github/cf.yml").write_text(CONFIG)
    (project / "lib.txt").write_text("broken\n")
    prepared = from_folder(project, tmp_path / "shop.git", tmp_path / "scratch")
    with open_sandbox("acme/shop", prepared, {}) as opened:
        yield opened


def test_two_tasks_share_a_failure_one_fix_mends_it_and_both_go_on(sandbox):
    world = sandbox.world
    tasks = [world.open_issue(f"Write {name}", labels=("cf:ready",)) for name in ("one", "two")]
    for _ in range(8):
        assert world.engine.wait_idle(300)
        if all("cf:merged" in world.labels_of(task) for task in tasks):
            break
        world.tick_schedule(CONDUCTOR)

    (fix,) = [issue.number for issue in world.issues.all() if issue.has_label("cf:shared-fix")]
    facts = {task.number: task for task in read_facts(world, (*tasks, fix), "cf").tasks}
    assert {number: task.word for number, task in facts.items()} == dict.fromkeys((*tasks, fix), "merged")
    assert [facts[task].record.strikes for task in tasks] == [0, 0]
    assert [attempt.outcome for attempt in facts[fix].record.attempts] == [Outcome.PASSED]
    assert_nobody_pays_twice([facts[task].record.attempts for task in tasks], world.issue(fix).created_at)


def assert_nobody_pays_twice(attempts, opened):
    """How quick the machine is decides how far apart the two failures become known, and so whether the first task is on its way
    again by then; that attempt finishes. Whatever began after the fix was proposed, began after it was merged, and passed.
    """
    again = [one for each in attempts for one in each if one.claimed_at > opened]
    before = [one for each in attempts for one in each if one.claimed_at <= opened]
    assert {one.outcome for one in again} <= {Outcome.PASSED}
    assert len(before) <= len(attempts) + 1
    assert all(each[-1].outcome is Outcome.PASSED for each in attempts)
    assert sum(one.outcome is Outcome.FAILED for one in before) >= 2
