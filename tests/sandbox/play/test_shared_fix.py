"""Story: two tasks, one failure they share, one fix, and both go on: the shipped workflows under `act`, with agents and gates.

It takes minutes, so `make stories` runs it; `tests/conductor/test_shared_fixes.py` tells the same quickly.
"""

import pytest

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
    assert [len(facts[task].record.attempts) for task in tasks] == [2, 2]
    assert [facts[task].record.strikes for task in tasks] == [0, 0]
    assert len(facts[fix].record.attempts) == 1
