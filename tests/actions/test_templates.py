"""The workflow files and the action that a repository installs, run as they are; only the bot inside is a note-taking script."""

import json
import sys
import textwrap

import pytest

from tests.actions.conftest import ROOT, git
from tests.actions.test_engine import Seen

pytestmark = pytest.mark.e2e

NOTED = (
    "CF_UNIT",
    "CF_LEG",
    "CF_AGENT_RESULT",
    "CF_VERIFY_RESULT",
    "CF_MODEL_KEY",
)
BOT = """\
#!{python}
import json, os, pathlib, signal, sys, time
if "bot" not in sys.argv:
    os.execv({python!r}, [{python!r}, *sys.argv[1:]])
command, out = sys.argv[4], pathlib.Path(os.environ.get("CF_OUT", "nowhere"))
seen = {{name: value for name, value in os.environ.items() if name in {noted!r} or name.startswith("CF_BATCH")}}
files = sorted(path.relative_to(out.parent).as_posix() for path in out.parent.glob("cf-*/**/*") if path.is_file())
token = os.environ.get("GITHUB_TOKEN") or os.fdopen(int(os.environ["CF_TOKEN_FD"])).read()
note = dict(command=command, argv=sys.argv[1:], env=seen, token=token, files=files, here=sorted(os.listdir()))
with open({notes!r}, "a") as notes:
    notes.write(json.dumps(note) + "\\n")
unit = json.loads(os.environ.get("CF_UNIT", "{{}}"))
plan = unit.get("plan", {{}})
if command == "work":
    out.mkdir()
    if plan.get("work_waits"):
        def told(*_):
            (out / "interrupted").touch()
            sys.exit(1)
        signal.signal(signal.SIGINT, told)
        print("working", flush=True)
        time.sleep(60)
    (out / "report.json").write_text("{{}}")
    with open(os.environ["GITHUB_OUTPUT"], "a") as outputs:
        outputs.write("verify=" + plan.get("flag", "true") + "\\n")
if command == "verify":
    results = pathlib.Path(os.environ["CF_OUT_VERIFY"])
    results.mkdir()
    (results / "gates.json").write_text(os.environ["CF_LEG"])
if command == "publish":
    report = pathlib.Path(os.environ["CF_OUT_REPORT"])
    report.mkdir()
    (report / "report.json").write_text(json.dumps(files))
sys.exit(plan.get(command + "_exit", int(os.environ.get("CF_BATCH_TARGET") or 0)))
"""


def templates():
    folder = ROOT / "workflows-templates"
    return {
        f".github/workflows/{path.name}": path.read_text(encoding="utf-8") for path in folder.glob("*.yml")
    }


def unit(number, *, verify=1, kind="code", secret="", **plan):
    legs = [
        {"number": leg, "name": f"system {leg}/x", "os": "ubuntu-latest", "gates": ["tests"]}
        for leg in range(verify)
    ]
    return {
        "name": f"#{number}", "lead": number, "kind": kind, "keys": [f"cf-{number}-1"], "runner": ["ubuntu-latest"],
        "job_minutes": 70, "secret": secret, "verify": legs, "plan": plan,
    }  # fmt: skip


@pytest.fixture
def bench(lab, tmp_path):
    """A repository with the templates, and `notes()`: what the bot was asked, in order."""
    script, notes = tmp_path / "bot.py", tmp_path / "notes"
    script.write_text(BOT.format(python=sys.executable, notes=str(notes), noted=NOTED), encoding="utf-8")
    script.chmod(0o755)
    secrets = {
        "CF_MODEL_KEY": "model-key-0123456789",
        "OTHER_KEY": "other-key-0123456789",
    }
    here = lab({**templates(), "README.md": "# Shop\n", ".dotfile": "x"}, python=str(script), secrets=secrets)
    here.notes = lambda: [json.loads(line) for line in notes.read_text().splitlines()]
    here.work = lambda *units: here.run(
        "cf-worker.yml", {"units": json.dumps(units), "keys": " ".join(each["keys"][0] for each in units)}
    )
    return here


def results(run):
    return {job.name: job.conclusion for job in run.jobs.values()}


def names(bench, run):
    return sorted(bench.world.actions.artifacts[each].name for each in run.artifacts)


def test_work_is_verified_published_and_announced(bench):
    run = bench.work(unit(12, verify=2, secret="CF_MODEL_KEY"))

    assert run.title == "cf [cf-12-1]"
    assert run.conclusion == "success"
    assert results(run) == {
        "#12 / agent": "success",
        "#12 / verify (system 0/x)": "success",
        "#12 / verify (system 1/x)": "success",
        "#12 / publish": "success",
    }
    assert names(bench, run) == [
        "cf-report-cf-12-1",
        "cf-verify-cf-12-1-0",
        "cf-verify-cf-12-1-1",
        "cf-work-cf-12-1",
    ]
    work, *verify, publish, wake = bench.notes()
    assert [note["command"] for note in (work, *verify, publish, wake)] == [
        "work",
        "verify",
        "verify",
        "publish",
        "wake",
    ]
    assert work["env"] == {"CF_UNIT": work["env"]["CF_UNIT"], "CF_MODEL_KEY": "model-key-0123456789"}
    assert json.loads(work["env"]["CF_UNIT"])["lead"] == 12
    for note in verify:
        assert set(note["env"]) == {"CF_UNIT", "CF_LEG"}
        assert note["files"] == ["cf-work/report.json"]
    assert {json.loads(note["env"]["CF_LEG"])["name"] for note in verify} == {"system 0/x", "system 1/x"}
    assert (publish["env"]["CF_AGENT_RESULT"], publish["env"]["CF_VERIFY_RESULT"]) == ("success", "success")
    assert "CF_MODEL_KEY" not in publish["env"]
    assert publish["files"] == [
        "cf-verify/cf-verify-cf-12-1-0/gates.json", "cf-verify/cf-verify-cf-12-1-1/gates.json", "cf-work/report.json",
    ]  # fmt: skip
    for note in (work, *verify, publish):
        assert {".git", ".dotfile", "README.md"} <= set(note["here"])
        assert note["argv"][:3] == ["-P", "-m", "bot"]
    asked = [bench.world.accounts.authenticate(note["token"]) for note in (work, verify[0], publish, wake)]
    assert [token.permissions.get("contents") for token in asked] == ["read", "read", "write", "write"]
    assert [token.permissions.get("actions", "none") for token in asked] == ["read", "none", "write", "write"]
    assert bench.world.accounts.tokens[work["token"]].permissions == {
        "contents": "read", "issues": "read", "actions": "read", "pull-requests": "read",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"verify": 0}, ("success", "skipped")),
        ({"work_exit": 1}, ("failure", "skipped")),
        ({"flag": "false"}, ("success", "skipped")),
        ({"kind": "publish"}, ("skipped", "skipped")),
    ],
    ids=["no gates", "agent failed", "nothing to verify", "published again"],
)
def test_publish_and_wake_run_whatever_became_of_the_others(bench, given, expected):
    bench.work(unit(12, **given))

    *_, publish, wake = bench.notes()
    assert [publish["command"], wake["command"]] == ["publish", "wake"]
    assert (publish["env"]["CF_AGENT_RESULT"], publish["env"]["CF_VERIFY_RESULT"]) == expected


def test_a_failed_gate_is_seen_by_publish_with_its_results(bench):
    run = bench.work(unit(12, verify_exit=1))

    assert results(run)["#12 / verify (system 0/x)"] == "failure"
    publish, wake = bench.notes()[-2:]
    assert publish["env"]["CF_VERIFY_RESULT"] == "failure"
    assert "cf-verify/cf-verify-cf-12-1-0/gates.json" in publish["files"]
    assert wake["command"] == "wake"


def test_a_cancelled_agent_is_told_so_and_publish_knows(bench):
    seen = Seen(bench.world, "working")
    run = bench.start("cf-worker.yml", {"units": json.dumps([unit(12, work_waits=True)]), "keys": "cf-12-1"})
    assert seen.happened.wait(60)
    bench.world.cancel(run.id)
    assert bench.engine.wait_idle(60)

    assert run.conclusion == "cancelled"
    assert results(run) == {
        "#12 / agent": "cancelled",
        "#12 / verify": "cancelled",
        "#12 / publish": "success",
    }
    _, publish, wake = bench.notes()
    assert (publish["env"]["CF_AGENT_RESULT"], publish["env"]["CF_VERIFY_RESULT"]) == ("cancelled", "skipped")
    assert publish["files"] == ["cf-work/interrupted"]
    assert wake["command"] == "wake"


def test_all_jobs_run_again_keep_no_work_and_the_conductor_is_woken(bench):
    run = bench.work(unit(12))
    first = list(run.artifacts)
    bench.world.rerun(run.id)
    assert bench.engine.wait_idle(60)

    added = [bench.world.actions.artifacts[each] for each in run.artifacts if each not in first]
    assert "cf-work-cf-12-1" not in [each.name for each in added]
    assert run.attempt == 2
    assert [note["command"] for note in bench.notes()][-1] == "wake"


def test_a_key_that_the_workflow_does_not_know_is_not_given(bench):
    bench.work(unit(12, secret="OTHER_KEY"))

    assert "CF_MODEL_KEY" not in bench.notes()[0]["env"] or bench.notes()[0]["env"]["CF_MODEL_KEY"] == ""


def test_the_legs_of_a_run_do_not_take_each_other_along(bench):
    run = bench.work(unit(12, work_exit=1), unit(13), unit(14, kind="publish"))

    assert run.conclusion == "failure"
    assert results(run)["#12 / agent"] == "failure"
    assert results(run)["#13 / publish"] == "success"
    assert [results(run)[f"#{number} / publish"] for number in (12, 13, 14)] == ["success"] * 3


class TestConductor:
    def test_a_tick_gets_no_key_of_anybody(self, bench):
        run = bench.run("cf-conductor.yml")

        assert results(run) == {"tick": "success"}
        (note,) = bench.notes()
        assert note["command"] == "conduct"
        assert note["env"] == {}

    def test_it_passes_what_people_do_and_drops_what_bots_say(self, bench):
        world = bench.world
        number = world.open_issue("One", "words", by="maintainer")
        world.label(number, "bug", by="maintainer")
        assert bench.engine.wait_idle(60)
        before = len(bench.notes())
        bot = world.accounts.app_token("friend", {"issues": "write"})
        world.comment(number, "from a bot", by=bot)
        world.label(number, "from-bot", by=bot)
        assert bench.engine.wait_idle(60)

        assert before >= 1
        assert len(bench.notes()) == before
        dropped = [run for run in world.actions.runs.values() if run.actor.is_bot]
        assert [run.conclusion for run in dropped] == ["skipped", "skipped"]
        world.close(number, "completed", by=bot)
        assert bench.engine.wait_idle(60)
        assert len(bench.notes()) == before + 1

    def test_each_of_its_triggers_runs_a_tick(self, bench):
        world = bench.world
        number = world.open_issue("One", "words", by="maintainer")
        assert bench.engine.wait_idle(60)
        worker = world.accounts.run_token(0, {"actions": "write"}, "worker")
        for act in (
            lambda: world.label(number, "bug", by="maintainer"),
            lambda: world.comment(number, "words", by="maintainer"),
            lambda: world.push_files("main", {"README.md": "# Other"}, by="maintainer"),
            lambda: world.dispatch("cf-conductor.yml", token=worker),
            lambda: world.tick_schedule("cf-conductor.yml"),
        ):
            act()
            assert bench.engine.wait_idle(60)
        ticks = sorted(world.runs("cf-conductor.yml"), key=lambda run: run.id)

        assert [(run.event, run.conclusion) for run in ticks] == [
            ("issues", "success"),  # opened
            ("issues", "success"),  # labelled
            ("issue_comment", "success"),
            ("push", "success"),
            ("workflow_dispatch", "success"),  # by a run's own token: the wake-up
            ("schedule", "success"),
        ]
        assert [note["command"] for note in bench.notes()] == ["conduct"] * 6

    def test_what_its_condition_drops_is_skipped_by_the_world_and_by_act_alike(self, bench):
        world = bench.world
        bot = world.accounts.app_token("friend", {"issues": "write"})
        world.actions.disabled.add("cf-conductor.yml")
        number = world.open_issue("One", "words", by="maintainer")
        for branch in ("other", "cf/1"):
            git(bench.bare, "branch", branch, "main")
        pull = world.open_pull("other", "Two")
        world.actions.disabled.clear()
        world.comment(number, "from a bot", by=bot)
        world.comment(pull, "on a pull request", by="maintainer")
        world.label(number, "from-bot", by=bot)
        world.push_files("other", {"x.txt": "z"}, by="maintainer")
        world.push_files("cf/1", {"y.txt": "z"}, by="maintainer")
        dropped = sorted(world.runs("cf-conductor.yml"), key=lambda run: run.id)

        assert [(run.event, run.conclusion) for run in dropped] == [
            ("issue_comment", "skipped"),
            ("issue_comment", "skipped"),
            ("issues", "skipped"),
            ("push", "skipped"),  # work on cf/ branches does not even make a run
        ]
        for run in dropped:
            run.status, run.conclusion = "queued", None
            run.jobs.clear()
            bench.engine.start(run)
        assert bench.engine.wait_idle(60)
        assert [(run.conclusion, results(run)) for run in dropped] == [("skipped", {"tick": "skipped"})] * 4


class TestAction:
    def test_try_later_is_green_with_a_notice(self, bench):
        run = bench.run("cf-batch.yml", {"target": "75"})

        assert results(run) == {"order": "success"}
        assert "##[notice]GitHub asked to come back later" in run.jobs["order"].log
        assert [note["command"] for note in bench.notes()] == ["batch"]

    @pytest.mark.parametrize("status", ["1", "2"])
    def test_other_errors_stay_red(self, bench, status):
        run = bench.run("cf-batch.yml", {"target": status})

        assert results(run) == {"order": "failure"}
        assert [note["command"] for note in bench.notes()] == ["batch"]

    def test_an_order_arrives_as_it_was_given(self, bench, tmp_path):
        evil = f"$(touch {tmp_path}/pwned) `touch {tmp_path}/pwned`; '\" #\n::error::x"
        run = bench.run(
            "cf-batch.yml", {"tasks": evil, "options": evil, "dry_run": "true", "strategy": "serial"}
        )

        env = bench.notes()[0]["env"]
        assert env["CF_BATCH_TASKS"] == env["CF_BATCH_OPTIONS"] == evil
        assert (env["CF_BATCH_DRY_RUN"], env["CF_BATCH_STRATEGY"], env["CF_BATCH_ACTION"]) == (
            "true",
            "serial",
            "run",
        )
        assert not (tmp_path / "pwned").exists()
        assert run.conclusion == "success"

    def test_arguments_are_split_and_nothing_in_them_is_run(self, lab, tmp_path, bench):
        text = textwrap.dedent(
            f"""
            on: workflow_dispatch
            jobs:
              one:
                runs-on: ubuntu-latest
                steps:
                  - uses: cf-conductor/cf-conductor@{"0" * 40} # v0.1.0
                    with:
                      command: conduct
                      args: "--a  $(touch {tmp_path}/pwned) * 'b c'"
                      config: my file.yml
                      dry-run: "true"
            """
        )
        other = tmp_path / "other"
        other.mkdir()
        here = type(bench)(other, {".github/workflows/w.yml": text}, python=bench.engine._python)
        here.run()
        here.close()

        assert bench.notes()[0]["argv"][3:] == [
            "conduct", "--a", "$(touch", f"{tmp_path}/pwned)", "*", "'b", "c'", "--config", "my file.yml", "--dry-run",
        ]  # fmt: skip
        assert not (tmp_path / "pwned").exists()
