"""What becomes of each kind of agent, on real git, through all three jobs: one table, each outcome exact."""

import pytest
from msgspec.structs import replace

from bot.model.report import Outcome, Question
from bot.worker.job.artifact import find_report
from tests.worker.bench import GATE, config_text
from tests.worker.programs.test_process import survivors

STALL = "stall: {timeout: 1s}\n"
IDLE = "the agent did nothing any more: no output, no processor time, no file change"
# id, what the agent does, configuration besides, outcome and reason of the agent's job, outcome of the task
AGENTS = [
    ("works", "edit", "", Outcome.UNVERIFIED, "", Outcome.PASSED),
    ("agt_01_is_stubborn", "edit stubborn", "", Outcome.TIMEOUT, "the agent was still at work after 0 seconds", Outcome.TIMEOUT),
    ("agt_03_forks", "edit fork", "", Outcome.UNVERIFIED, "", Outcome.PASSED),
    ("agt_04_leaves_a_pipe_open", "edit hold", "", Outcome.UNVERIFIED, "", Outcome.PASSED),
    ("agt_06_floods", "edit babble", "", Outcome.UNVERIFIED, "", Outcome.PASSED),
    ("agt_07_changes_nothing", "command", "", Outcome.NO_CHANGES, "", Outcome.NO_CHANGES),
    ("agt_07_writes_outside_its_tree", "outside", "", Outcome.NO_CHANGES, "", Outcome.NO_CHANGES),
    ("agt_11_edits_workflows", "workflow", "", Outcome.HELD, "protected paths: .github/workflows/ci.yml", Outcome.HELD),
    ("agt_16_is_killed", "edit die", "", Outcome.CRASHED, "the agent died of SIGKILL (exit status -9)", Outcome.CRASHED),
    ("agt_16_faults", "edit segv", "", Outcome.CRASHED, "the agent died of SIGSEGV (exit status 139)", Outcome.CRASHED),
    ("agt_16_gives_up", "edit fail", "", Outcome.FAILED, "the agent ended with exit status 3", Outcome.FAILED),
    ("hangs", "edit hang", STALL, Outcome.STALLED, IDLE, Outcome.STALLED),
    ("asks", "ask", "", Outcome.BLOCKED, "the agent asks a question", Outcome.BLOCKED),
    ("lies_about_success", "lie", "", Outcome.UNVERIFIED, "", Outcome.FAILED),
    ("sec_11_prints_secrets", "edit leak", "", Outcome.UNVERIFIED, "", Outcome.PASSED),
    ("sec_11_writes_a_secret", "edit leak_file", "", Outcome.HELD, "a secret in settings.ini", Outcome.HELD),
]  # fmt: skip
RED = (Outcome.TIMEOUT, Outcome.CRASHED, Outcome.FAILED, Outcome.STALLED)


@pytest.mark.parametrize(
    ("modes", "more", "first", "why", "last"),
    [row[1:] for row in AGENTS],
    ids=[row[0] for row in AGENTS],
)
def test_agents(bench, modes, more, first, why, last):
    setup = bench(config=config_text(*modes.split(), more=f"{more}{GATE}"))
    if "stubborn" in modes:
        setup.unit = replace(setup.unit, timeout_minutes=0)

    worked = setup.work()

    assert (worked.report.outcome, worked.report.reason) == (first, why)
    assert survivors(f"CF_WORKSPACE={setup.context.workspace}") == []
    assert find_report(setup.context.out, "cf-1-1") == worked.report
    if worked.verify:
        report = setup.publish("success", "success" if setup.verify().passed else "failure")
    else:
        report = setup.publish("failure" if first in RED else "success", "skipped")
    assert report.outcome is last
    assert report.reason.startswith(why)
    assert bool(setup.world.pulls.by_number) is (last is Outcome.PASSED)
    if last is Outcome.PASSED:
        assert setup.files(report.head) == {"feature.py"}
    if first is Outcome.BLOCKED:
        assert report.question == Question("Which database?", ("SQLite", "PostgreSQL"), "both.")
    assert worked.report.statistics["worker_seconds"] >= 0
