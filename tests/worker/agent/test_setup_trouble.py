"""What no shell can run, what was red before anybody began, and what an agent asks in its last words."""

import pytest

from bot.model.cause import Cause
from bot.model.report import Outcome
from bot.notation.config import read_config
from bot.notation.digests import commands_digest
from tests.worker.bench import GATE, config_text, git

MISSING = "rufff-of-nowhere"
ABSENT = f"{MISSING}: command not found"


def gates(*lines: str) -> str:
    return "gates: [" + ", ".join(f"{{name: gate{n}, run: '{line}'}}" for n, line in enumerate(lines)) + "]"


def not_executable(setup) -> None:
    setup.commit("main", {"tool.sh": "echo hello\n"})


def digest(setup) -> str:
    blob = git(setup.origin, "rev-parse", "main:.github/cf.yml")
    config = read_config(setup.github.file(blob), blob)
    return commands_digest(config, setup.unit.runner, setup.unit.engine)


CANNOT_RUN = {
    "the agent": (
        f"version: 1\nengine: command\nengines: {{command: {{args: '{MISSING} --do'}}}}\n{GATE}\n",
        ABSENT,
    ),
    "the agent, no program": (
        f"version: 1\nengine: command\nengines: {{command: {{args: './README.md'}}}}\n{GATE}\n",
        "Permission denied",
    ),
    "the set-up": (config_text("edit") + f"setup: ['{MISSING} install']\n", ABSENT),
    "a gate": (config_text("edit", more=gates("true", f"{MISSING} check")), ABSENT),
    "a gate that is no program": (config_text("edit", more=gates("./README.md")), "Permission denied"),
}


@pytest.mark.parametrize("name", CANNOT_RUN)
@pytest.mark.parametrize("corrections", [0, 3])
def test_a_mistyped_command_costs_no_strike_and_is_told_in_the_shells_words(bench, name, corrections):
    text, words = CANNOT_RUN[name]
    setup = bench(config=text.replace("corrections: 0\n", "") + f"corrections: {corrections}\n")

    report = setup.through()

    assert report.outcome is Outcome.INFRA, report.reason
    assert words in report.reason
    assert report.cause is not None
    assert (report.cause.cause, report.cause.key) == (Cause.SETUP, digest(setup))
    assert words in report.cause.words
    assert report.failure, "by which it is told once"
    assert setup.git.head("cf/1") is None


@pytest.mark.parametrize("name", [name for name in CANNOT_RUN if "gate" in name])
def test_with_the_baseline_it_is_found_before_an_agent_is_paid_for(bench, name):
    text, words = CANNOT_RUN[name]
    setup = bench(config=text)
    setup.claim(2, measure=True)

    worked = setup.work()

    assert worked.report.outcome is Outcome.INFRA
    assert words in worked.report.reason
    assert "agent_seconds" not in worked.report.statistics
    assert worked.report.rounds == 0


@pytest.mark.parametrize("engine", ["codex", "claude-code"])
def test_an_engine_whose_program_is_not_there_is_trouble_of_the_set_up(bench, engine):
    setup = bench(config=f"version: 1\nengine: {engine}\nengines: {{{engine}: {{install: []}}}}\n{GATE}\n")

    report = setup.work(PATH="/usr/bin:/bin").report

    assert report.outcome is Outcome.INFRA
    assert "command not found" in report.reason
    assert report.cause is not None
    assert report.cause.cause is Cause.SETUP


def test_a_gate_that_ran_before_and_cannot_now_is_the_changes_fault(bench):
    """The change took the gate's own script away."""
    text = config_text("edit").replace("args: '", "args: 'rm check.sh; ").replace(GATE, gates("./check.sh"))
    setup = bench(config=text)
    setup.commit("main", {"check.sh": "#!/bin/sh\nexit 0\n"})
    git(setup.desk, "update-index", "--chmod=+x", "check.sh")
    git(setup.desk, "commit", "-qm", "executable")
    git(setup.desk, "push", "-q", "origin", "HEAD:refs/heads/main")
    setup.claim(2, measure=True)

    report = setup.through()

    assert (report.outcome, report.cause) == (Outcome.FAILED, None), report.reason


def test_what_is_red_before_anybody_began_is_found_told_and_no_obstacle(bench):
    text = config_text("look", "edit", more=gates("true", "echo out of date; exit 1", "test -e feature.py"))
    setup = bench(config=text)
    setup.claim(2, measure=True)

    worked = setup.work().report

    assert worked.outcome is Outcome.UNVERIFIED
    assert worked.baseline is not None
    assert worked.baseline.red == ("gate1", "gate2")
    assert "out of date" in worked.baseline.gates[1].tail
    assert "these checks fail on the default branch as well: gate1, gate2" in setup.text_of_work("prompt.txt")
    assert setup.text_of_work("feature.py") == "attempt = 2"


def test_what_gates_leave_behind_on_the_untouched_files_is_no_work(bench):
    setup = bench(config=config_text(more=gates("echo x > left.txt; echo y >> README.md")))
    setup.claim(2, measure=True)

    report = setup.through()

    assert report.outcome is Outcome.NO_CHANGES
    assert report.baseline is not None


@pytest.mark.parametrize("why", ["known already", "switched off", "on kept work"])
def test_it_is_measured_once_and_only_on_the_untouched_files(bench, why):
    text = config_text("look", "edit") + ("baseline: off\n" if why == "switched off" else "")
    setup = bench(config=text.replace("look", "ask") if why == "on kept work" else text)
    if why == "on kept work":
        setup.claim(2, earlier=setup.end(setup.through()), measure=True)
    else:
        setup.claim(2, measure=why == "switched off", red=("lint",) if why == "known already" else ())

    worked = setup.work().report

    assert worked.baseline is None
    assert "baseline_seconds" not in worked.statistics
    if why == "known already":
        assert "these checks fail on the default branch as well: lint" in setup.text_of_work("prompt.txt")


@pytest.mark.parametrize(("mode", "options"), [("wonder", ()), ("summarise", ("One file", "Two files"))])
def test_an_agent_that_asks_in_its_last_words_asks(bench, mode, options):
    report = bench(mode).through()

    assert report.outcome is Outcome.BLOCKED
    assert report.question is not None
    assert "?" in report.question.text
    assert report.question.options == options


def test_but_not_one_that_changed_something_or_is_only_polite(bench, tmp_path):
    assert bench("edit", "wonder").through().outcome is Outcome.PASSED


def test_and_politeness_is_no_question(bench):
    assert bench("polite").through().outcome is Outcome.NO_CHANGES


def test_a_provider_that_takes_no_work_is_named_as_the_cause(bench):
    report = bench(config=config_text().replace("args: '", "args: 'exit 75; ")).through()

    assert report.outcome is Outcome.CAPACITY
    assert report.cause is not None
    assert (report.cause.cause, report.cause.key) == (Cause.PROVIDER, "command")
