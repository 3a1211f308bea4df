"""The agent's job, with a stub agent, on real git: what each kind of end leaves behind."""

import time
from datetime import timedelta
from pathlib import Path

import pytest
from msgspec.structs import replace

from bot.model.record import Answer
from bot.model.report import GateStatus, Outcome
from bot.worker.job.artifact import find_bundle
from bot.worker.programs.cancellation import Cancellation
from tests.worker.bench import KEY, TOKEN, config_text, git


def test_a_change_becomes_one_commit_of_ours(bench):
    """Whatever the agent committed and said, there is one commit with our message and identity on top of the base."""
    setup = bench("commit")

    report = setup.through()

    assert report.outcome is Outcome.PASSED
    assert git(setup.origin, "log", "--format=%s|%an|%ae", "main..cf/1") == (
        "Work on #1|cf-conductor|41898282+github-actions[bot]@users.noreply.github.com"
    )
    assert git(setup.origin, "rev-parse", "cf/1") == report.head
    assert setup.files(report.head) == {"feature.py"}


@pytest.mark.parametrize("mode", ["clutter", "supplant"])
def test_what_an_agent_puts_where_the_worker_reads_and_writes_changes_nothing(bench, mode):
    setup = bench(mode)

    worked = setup.work()

    assert worked.report.outcome is Outcome.UNVERIFIED
    assert not setup.context.out.is_symlink()
    assert setup.kept().head == worked.report.head
    assert {path.name for path in setup.context.out.iterdir()} == {
        "agent.log",
        "gates.log",
        "report.json",
        "work.bundle",
    }


def test_the_agents_output_is_shown_without_commands_for_the_runner(bench):
    setup = bench("command")

    setup.work()

    lines = "".join(setup.shown).splitlines()
    token = lines[0].removeprefix("::stop-commands::")
    assert lines == [f"::stop-commands::{token}", *lines[1:-1], f"::{token}::"]
    assert "[#1] ::error::not mine" in lines
    assert not (setup.context.workspace.parent / "output").exists()


def test_a_question_keeps_the_work_and_the_next_attempt_continues_it(bench):
    setup = bench("edit", "ask")
    first = setup.work().report
    earlier = setup.end(first)
    setup.commit("main", {".github/cf.yml": config_text("look"), "other.txt": "new\n"})
    setup.write(
        replace(
            setup.record, answers=(Answer("Which database?", "use SQLite", "maintainer", 0, setup.world.now),)
        )
    )
    setup.claim(2, earlier=earlier)

    second = setup.through()

    assert second.outcome is Outcome.PASSED
    assert {"feature.py", "seen.txt", "prompt.txt"} <= setup.files(second.head)
    prompt = setup.text(second.head, "prompt.txt")
    assert prompt.count("use SQLite") == 1
    assert "The files here are the kept work of an earlier attempt." in prompt
    assert setup.text(second.head, "feature.py") == "attempt = 1"


def test_kept_work_that_is_gone_is_said_and_the_base_is_taken(bench):
    setup = bench("look")
    setup.end(setup.work().report)
    setup.claim(2, earlier="999/cf-1-1")

    worked = setup.work()

    prompt = (setup.context.workspace / ".cf" / "prompt.md").read_text()
    assert worked.report.outcome is Outcome.UNVERIFIED
    assert "The files here are the default branch." in prompt
    assert "Note: the work of cf-1-1 is not kept any more." in prompt


def test_cancelled_in_the_middle_leaves_a_report_and_the_work(bench):
    setup = bench("edit", "stubborn")
    cancellation = Cancellation()

    worked = setup.work(
        cancellation=cancellation, on={"stubborn": lambda: cancellation.request("the run was cancelled")}
    )

    assert (worked.report.outcome, worked.report.reason) == (Outcome.CANCELLED, "the run was cancelled")
    assert find_bundle(setup.context.out, "cf-1-1") is not None
    assert setup.publish("cancelled", "skipped").outcome is Outcome.CANCELLED


def test_cancelled_before_the_agent_starts(bench):
    setup = bench("edit")
    cancellation = Cancellation()
    cancellation.request("the run was cancelled")

    assert setup.work(cancellation=cancellation).report.outcome is Outcome.CANCELLED


def test_a_leg_of_several_ends_itself_when_its_issue_is_closed(bench):
    setup = bench(config=config_text("hang") + "reconcile: {interval: 1s}\n")
    other = "cf-9-1"
    setup.run_id = setup.github.dispatch(
        "cf-worker.yml", "main", {"units": "[]", "keys": f"{setup.key} {other}"}
    )
    setup.world.run_ended(setup.run_id - 1, "cancelled")
    began = time.monotonic()

    worked = setup.work(on={"hanging": lambda: setup.world.close(setup.task)})

    assert (worked.report.outcome, worked.report.reason) == (Outcome.CANCELLED, "#1 is closed")
    assert time.monotonic() - began < 15


def test_setup_runs_first_and_its_failure_is_infra(bench):
    setup = bench(config=config_text("edit") + "setup: ['echo no disk; exit 4']\n")

    worked = setup.work()

    assert worked.report.outcome is Outcome.INFRA
    assert "no disk" in worked.report.reason
    assert worked.report.failure  # by which it is told once for the repository
    assert not (setup.context.workspace / "feature.py").exists()


def test_what_setup_leaves_is_not_the_agents_work(bench):
    setup = bench(config=config_text("edit") + "setup: ['echo x > made.txt; echo y >> README.md']\n")

    report = setup.through()

    assert report.outcome is Outcome.PASSED
    assert setup.files(report.head) == {"feature.py"}


def test_setup_alone_is_no_change(bench):
    setup = bench(config=config_text("command") + "setup: ['echo x > made.txt']\n")

    assert setup.work().report.outcome is Outcome.NO_CHANGES


def test_corrections_feed_the_failure_back_until_it_passes(bench):
    command = "grep -q good state.txt || { echo expected good; touch litter; exit 1; }"
    gate = f"gates: [{{name: state, run: '{command}'}}]\ncorrections: 2\n"
    setup = bench(config=config_text("again", more=gate).replace("corrections: 0\n", ""))

    report = setup.through()

    assert report.outcome is Outcome.PASSED
    assert report.rounds == 2
    assert setup.text(report.head, "state.txt") == "good"
    assert setup.files(report.head) == {"state.txt"}


def test_the_same_failure_three_times_ends_the_corrections(bench):
    gate = "gates: [{name: state, run: 'echo expected better; exit 1'}]\ncorrections: 5\n"
    setup = bench(config=config_text("bad", more=gate).replace("corrections: 0\n", ""))

    worked = setup.work()

    assert worked.report.outcome is Outcome.FAILED
    assert worked.report.rounds == 3
    assert worked.report.gates[0].status is GateStatus.FAILED
    assert "expected better" in worked.report.gates[0].tail
    assert not worked.verify


def test_the_agent_sees_a_short_environment_and_no_token(bench):
    setup = bench("look", "leak")

    setup.work()

    seen = dict(
        line.split("=", 1)
        for line in (setup.context.workspace / "seen.txt").read_text().splitlines()
        if "=" in line
    )
    expected = {
        "PATH",
        "HOME",
        "LANG",
        "TERM",
        "CF_MODEL_KEY",
        "CF_TRACK",
        "CF_PROMPT_FILE",
        "CF_QUESTION_FILE",
    }
    expected |= {"CF_SUMMARY_FILE", "CF_WORKSPACE", "CF_KEY", "CF_TASK", "CF_ATTEMPT"}
    assert set(seen) - {"PWD", "SHLVL", "_", "LC_CTYPE", "OLDPWD"} == expected
    assert seen["CF_MODEL_KEY"] == str(len(KEY))
    assert TOKEN not in "".join(seen.values())
    assert seen["HOME"].endswith("cf-home")


def test_the_engines_variables_and_model_reach_the_agent_and_the_report(bench):
    setup = bench(config=config_text("look").replace("}}\n", ", env: {LEVEL: high}, model: small-1}}\n", 1))

    report = setup.through()

    seen = (setup.context.workspace / "seen.txt").read_text().splitlines()
    assert {"CF_MODEL=small-1", "LEVEL=high"} <= set(seen)
    assert report.model == "small-1"


def test_sec_01_a_title_never_reaches_a_shell(bench, tmp_path):
    setup = bench("look")
    setup.world.wait(timedelta(minutes=1))
    setup.world.edit_issue(
        setup.task, title='$(touch pwned) `touch pwned` "; touch pwned; #', body="${IFS}$(touch pwned)"
    )

    assert setup.work().report.outcome is Outcome.UNVERIFIED
    setup.publish("success", "skipped")

    assert not list(tmp_path.rglob("pwned"))


def test_sec_11_secrets_never_reach_anything_that_is_kept_or_posted(bench):
    setup = bench("edit", "leak")

    report = setup.through()

    assert report.outcome is Outcome.PASSED
    assert report.message == "used ***"
    posted = setup.world.pull(report.pull).issue
    for text in (setup.kept_text(), posted.title, posted.body, str(report)):
        assert KEY not in text
        assert KEY[9:] not in text


@pytest.mark.parametrize("mode", ["leak_file", "leak_base64"])
def test_sec_11_a_change_that_holds_a_secret_is_held_and_not_bundled(bench, mode):
    setup = bench("edit", mode)

    worked = setup.work()
    report = setup.publish("success", "skipped")

    assert worked.report.outcome is Outcome.HELD
    assert "a secret in" in worked.report.reason
    assert not worked.verify
    assert find_bundle(setup.context.out, "cf-1-1") is None
    patch = (setup.context.out / "work.patch").read_text()
    assert "***" in patch
    assert KEY not in setup.kept_text()
    assert report.outcome is Outcome.HELD
    assert setup.git.head("cf/1") is None


def test_sec_12_no_token_on_disk_after_any_job(bench, tmp_path):
    setup = bench("edit")

    setup.through()

    found = [
        path
        for path in tmp_path.rglob("*")
        if path.is_file() and any(word in path.read_bytes() for word in (TOKEN.encode(), KEY.encode()))
    ]
    assert found == []
    assert not [path for path in setup.context.out.rglob("*") if ".git" in path.parts]


def test_sec_12_a_leftover_credential_is_gone_before_the_agent_starts(bench):
    setup = bench("look")
    environ = setup.environ

    def with_leftovers(job: str = "agent", **more: str):
        found = environ(job, **more)
        context = Path(found["GITHUB_WORKSPACE"])
        git(context, "config", "http.https://github.com/.extraheader", "AUTHORIZATION: basic abc")
        git(context, "config", "core.hooksPath", "/evil")
        return found

    setup.environ = with_leftovers

    setup.work()

    left = git(setup.context.workspace, "config", "--local", "--list")
    assert "extraheader" not in left
    assert "hookspath" not in left


def test_sec_14_agent_settings_come_from_the_default_branch(bench):
    """The work branch brings a hook, instructions and an .envrc; the agent sees the default branch's, and the diff none of it."""
    setup = bench("edit", files={"AGENTS.md": "base\n", "sub/CLAUDE.md": "base\n"})
    first = setup.through()
    setup.end(first)
    evil = {
        ".claude/settings.json": "{hook}",
        ".mcp.json": "{}",
        "AGENTS.md": "evil\n",
        ".envrc": "touch pwned\n",
        "sub/CLAUDE.md": None,
    }
    setup.commit("cf/1", evil)
    head = setup.git.head("cf/1")
    setup.write(replace(setup.record, head=head or ""))
    setup.commit("main", {".github/cf.yml": config_text("look")})
    setup.claim(2)

    setup.work()

    workspace = setup.context.workspace
    shown = (workspace / "settings.txt").read_text().split()
    assert not {".claude/settings.json", ".mcp.json", ".envrc"} & set(shown)
    assert (workspace / "AGENTS.md").read_text() == "base\n"
    assert (workspace / "sub/CLAUDE.md").read_text() == "base\n"
    bundle = find_bundle(setup.context.out, setup.key)
    git(setup.desk, "fetch", "-q", str(bundle), "refs/heads/work")
    changed = git(setup.desk, "diff", "--name-only", head or "", "FETCH_HEAD").split()
    assert changed == [".github/cf.yml", "prompt.txt", "seen.txt", "settings.txt"]
    assert git(setup.desk, "show", "FETCH_HEAD:AGENTS.md") == "evil"


def test_an_agent_that_rigs_its_repository_tricks_nobody(bench, tmp_path):
    setup = bench("sabotage")

    report = setup.through()

    assert report.outcome is Outcome.PASSED
    assert setup.files(report.head) == {"feature.py", ".gitattributes"}
    assert not list(tmp_path.rglob("pwned"))


def test_an_agent_that_deletes_its_repository_loses_nothing(bench):
    setup = bench("destroy")

    report = setup.through()

    assert report.outcome is Outcome.PASSED
    assert setup.files(report.head) == {"feature.py"}
