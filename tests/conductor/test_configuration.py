"""Story: each key of `.github/cf.yml` that a tick goes by, written into the file, changes what the tick does.

Keys that a worker goes by (`setup`, `gates`, `corrections`, `publish`, `merge`, `engines.command`) are shown in tests/worker,
`reconcile.interval` as well, and `linger` in test_linger.py.
"""

import json
from datetime import timedelta

import pytest

from bot.conductor.observe import observe
from bot.conductor.tick import tick
from bot.model.engine import RepositorySettings
from bot.model.ref import Ref
from bot.model.report import Outcome
from bot.sandbox.world.in_process import client_of
from tests.conductor.story import CONFIG, Story


def configured(line):
    """A story whose configuration holds this line beside the usual ones."""
    key = line.partition(":")[0]
    kept = [each for each in CONFIG.splitlines() if not each.startswith(f"{key}:")]
    return Story("\n".join([*kept, line, ""]))


def started(story):
    return [int(key.split("-")[1]) for key in story.starts()]


def sent_unit(story):
    return json.loads(story.worker_runs()[0].inputs["units"])[0]


def test_prefix():
    story = configured("prefix: bot")
    story.ready()
    task = story.world.open_issue("Do it", labels=("bot:ready",))
    story.tick()
    story.tick()

    assert started(story) == [task]
    assert story.world.labels_of(task) == ("bot:in-progress",)


@pytest.mark.parametrize(
    ("line", "count", "words"),
    [
        ("max_parallel: 0", 0, "max_parallel is 0"),
        ("max_parallel: 2", 2, "max_parallel is 2"),
        ("limits: {total: 1}", 1, "limits.total is 1"),
        ("max_parallel_by_label: {gpu: 1}", 1, "max_parallel_by_label for gpu is 1"),
    ],
)
def test_limits(line, count, words):
    story = configured(line)
    tasks = [story.ready("", "gpu") for _ in range(3)]
    story.tick()

    assert len(story.starts()) == count
    assert words in story.reason(tasks[-1])


@pytest.mark.parametrize(
    ("line", "again", "words"),
    [
        ("max_parallel_by_status: {}", True, ""),
        ("max_parallel_by_status: {READY: 1}", True, "max_parallel_by_status for READY is 1"),
        ("max_parallel_by_status: READY=0", False, "max_parallel_by_status for READY is 0"),
    ],
)
def test_limits_by_what_a_task_starts_from(line, again, words):
    story = configured(line)
    failing = story.ready()
    story.tick()
    if again:
        story.finish(f"cf-{failing}-1", Outcome.FAILED)
        story.tick()
        story.world.wait(timedelta(minutes=2))
    others = [story.ready(), story.ready()]
    story.tick()

    assert (f"cf-{failing}-2" in story.starts()) is again
    assert words in story.reason(others[-1])
    assert len(story.starts()) == {"": 4, "1": 3, "0": 0}[words[-1:]]


@pytest.mark.parametrize(
    ("line", "status"),
    [
        ("brakes: {attempts: 1}", "failed"),
        ("brakes: {minutes: 5}", "failed"),
        ("brakes: {tokens: 100}", "failed"),
        ("brakes: {attempts: 2, minutes: 6, tokens: 101}", "ready"),
    ],
)
def test_brakes(line, status):
    story = configured(line)
    task = story.ready()
    story.tick()
    story.finish(f"cf-{task}-1", Outcome.FAILED, minutes=5.0, tokens=100)
    story.tick()

    assert story.status(task) == (status,)


@pytest.mark.parametrize(
    ("line", "status"), [("brakes: {no_progress: 2}", "failed"), ("brakes: {}", "ready")]
)
def test_no_progress(line, status):
    story = configured(f"{line}\nretry: {{backoff: 0s, max_attempts: 9}}")
    task = story.ready()
    for _ in range(2):
        story.tick()
        story.finish_live(task, Outcome.FAILED)
        story.tick()

    assert story.status(task) == (status,)


@pytest.mark.parametrize(
    ("line", "own", "others"),
    [
        ("budget: {task: {usd: 2}}", "over its budget: 2.5 of 2 USD are used (budget.task)", "running"),
        ("budget: {day: {tokens: 100}}", "the day's budget is used up", "the day's budget is used up"),
        ("budget: {day: {tokens: 101}, task: {minutes: 6}}", "running", "running"),
    ],
)
def test_budgets(line, own, others):
    story = configured(f"{line}\nretry: {{backoff: 0s}}")
    task = story.ready()
    story.tick()
    story.finish(f"cf-{task}-1", Outcome.FAILED, usd=2.5, tokens=100, minutes=5.0)
    story.tick()
    other = story.ready()
    story.tick()
    story.tick()

    assert own in story.reason(task)
    assert others in story.reason(other)


@pytest.mark.parametrize(
    ("line", "status"),
    [
        ("stall: {action: blocker}", "blocked"),
        ("stall: {action: retry}", "ready"),
        ("stall: {action: fail}", "failed"),
    ],
)
def test_stall_action(line, status):
    story = configured(line)
    task = story.ready()
    story.tick()
    story.finish(f"cf-{task}-1", Outcome.STALLED)
    story.tick()

    assert story.status(task) == (status,)


@pytest.mark.parametrize(
    ("line", "runs"), [("dispatch: {units_per_run: 1}", 3), ("dispatch: {units_per_run: 2}", 2)]
)
def test_units_per_run(line, runs):
    story = configured(line)
    for _ in range(3):
        story.ready()
    story.tick()

    assert (len(story.worker_runs()), len(story.starts())) == (runs, 3)


@pytest.mark.parametrize(
    ("line", "again"), [("dispatch: {launch_grace: 1m}", True), ("dispatch: {launch_grace: 5m}", False)]
)
def test_launch_grace(line, again):
    story = configured(line)
    task = story.ready()
    story.tick()
    del story.world.actions.runs[story.worker_runs()[0].id]
    story.world.wait(timedelta(minutes=2))
    story.tick()
    story.tick()

    assert story.starts() == ([f"cf-{task}-2"] if again else [])


@pytest.mark.parametrize(("line", "first"), [("order: critical-path", "long"), ("order: score", "needed")])
def test_order(line, first):
    story = configured(f"{line}\nmax_parallel: 1")
    tasks = {"needed": story.ready("Estimate: 5m"), "long": story.ready("Estimate: 5h")}
    story.ready(f"depends on #{tasks['needed']}\nEstimate: 5m")
    story.tick()

    assert started(story) == [tasks[first]]


@pytest.mark.parametrize(
    ("line", "first"),
    [
        ("priority: {}", "cf:p1"),
        ("priority: {labels: 'prio/'}", "prio/2"),
        ("priority: {default: 0}", "plain"),
    ],
)
def test_priority(line, first):
    story = configured(f"{line}\norder: score\nmax_parallel: 1")
    tasks = {label: story.ready("", label) for label in ("plain", "prio/2", "cf:p1")}
    story.tick()

    assert started(story) == [tasks[first]]


@pytest.mark.parametrize(
    ("line", "category"), [("category: {}", "db"), ("category: {prefix: 'kind:'}", "fix")]
)
def test_category_prefix(line, category):
    story = configured(line)
    task = story.ready("", "area:db", "kind:fix")

    assert observe(story.github, story.world.now).snapshot.tasks[task].category == category


@pytest.mark.parametrize(
    ("line", "waits"),
    [
        ("dependencies: {}", "depends on"),
        ("dependencies: {keywords: [after]}", "after"),
    ],
)
def test_dependency_keywords(line, waits):
    story = configured(line)
    need = story.world.open_issue("need")
    tasks = {word: story.ready(f"{word} #{need}") for word in ("depends on", "after")}
    story.tick()

    assert story.reason(tasks.pop(waits)) == f"waiting on #{need}"
    assert started(story) == [*tasks.values()]


@pytest.mark.parametrize(
    ("line", "waits"), [("dependencies: {native: true}", True), ("dependencies: {native: false}", False)]
)
def test_native_dependencies(line, waits):
    story = configured(line)
    need = story.world.open_issue("need")
    task = story.ready()
    story.world.block(task, need)
    story.tick()

    assert started(story) == ([] if waits else [task])


@pytest.mark.parametrize(
    ("line", "waits"),
    [("dependencies: {sub_issues: true}", True), ("dependencies: {sub_issues: false}", False)],
)
def test_sub_issues(line, waits):
    story = configured(line)
    child = story.world.open_issue("child")
    parent = story.ready()
    story.world.adopt(parent, Ref("acme/shop", child))
    story.tick()
    assert started(story) == ([] if waits else [parent])

    story.world.close(child)
    story.tick()
    assert started(story) == [parent]


@pytest.mark.parametrize(
    ("line", "shown"), [("dependencies: {sync: native}", True), ("dependencies: {sync: none}", False)]
)
def test_sync(line, shown):
    story = configured(line)
    need, done = story.world.open_issue("need"), story.world.open_issue("done")
    story.world.close(done)
    task = story.ready(f"depends on #{need} and #{done} and other/place#3")
    story.settle()
    assert [edge.ref.number for edge in story.github.issue(task).edges] == ([need] if shown else [])


@pytest.mark.parametrize(
    ("line", "status"), [("retry: {max_attempts: 1}", "failed"), ("retry: {max_attempts: 2}", "ready")]
)
def test_max_attempts(line, status):
    story = configured(line)
    task = story.ready()
    story.tick()
    story.finish(f"cf-{task}-1", Outcome.FAILED)
    story.tick()

    assert story.status(task) == (status,)


@pytest.mark.parametrize(
    ("line", "seconds"),
    [
        ("retry: {backoff: 10m}", 600),
        ("retry: {backoff: 10m, max_backoff: 2m}", 120),
        ("retry: {backoff: 0s}", 0),
    ],
)
def test_backoff(line, seconds):
    story = configured(line)
    task = story.ready()
    story.tick()
    story.finish(f"cf-{task}-1", Outcome.FAILED)
    now = story.world.now
    story.tick()

    not_before = story.record(task).not_before or now
    assert 0 <= (not_before - now).total_seconds() - seconds <= seconds / 2 + 5


@pytest.mark.parametrize(
    ("line", "status"), [("retry: {interruptions: 1}", "blocked"), ("retry: {interruptions: 2}", "ready")]
)
def test_interruptions(line, status):
    story = configured(line)
    task = story.ready()
    story.tick()
    story.die(f"cf-{task}-1")
    story.tick()

    assert story.status(task) == (status,)


@pytest.mark.parametrize(
    ("line", "forced"), [("reconcile: {force_after: 1m}", True), ("reconcile: {force_after: 5m}", False)]
)
def test_force_after(line, forced):
    story = configured(line)
    task = story.ready()
    story.engine.obeys = False
    story.tick()
    run = story.begin(f"cf-{task}-1")
    story.world.close(task)
    story.tick()
    story.world.wait(timedelta(minutes=2))
    story.tick()

    assert ((run, True) in story.engine.cancelled) is forced


@pytest.mark.parametrize(
    ("line", "by", "starts"),
    [
        ("trust: {}", "maintainer", True),
        ("trust: {ignore: [Maintainer]}", "maintainer", False),
        ("trust: {}", "triager", False),
        ("trust: {permission: triage}", "triager", True),
        ("trust: {}", "friend[bot]", False),
        ("trust: {apps: [friend]}", "friend[bot]", True),
    ],
)
def test_trust(line, by, starts):
    story = configured(line)
    story.world.add_user("triager", "triage")
    app = story.world.accounts.app_token("friend", {"issues": "write"})
    task = story.world.open_issue("Do it")
    story.world.label(task, "cf:ready", by=app if by == "friend[bot]" else by)
    story.tick()
    story.tick()

    assert started(story) == ([task] if starts else [])


@pytest.mark.parametrize(("line", "starts"), [("trust: {}", True), ("trust: {authors: writers}", False)])
def test_trust_authors(line, starts):
    story = configured(line)
    task = story.world.open_issue("Do it", by="stranger")
    story.world.label(task, "cf:ready")
    story.tick()
    story.tick()

    assert started(story) == ([task] if starts else [])
    assert ("trust.authors" in story.world.comments_of(task)[0].body) is not starts


@pytest.mark.parametrize("known", [True, False])
def test_identity_also(known):
    """After a change of token the records of the account before it still count, if it is named."""
    story = Story()
    task = story.ready()
    story.tick()
    before = story.github.view("cf", None).viewer.id
    if known:
        story.world.push_files(
            "main", {".github/cf.yml": f"{CONFIG}identity: {{also: [{before}]}}\n"}, "x", by="maintainer"
        )
    app = story.world.accounts.app_token(
        "conductor", {"issues": "write", "actions": "write", "contents": "read", "pull_requests": "read"}
    )
    found = observe(client_of(story.world, app), story.world.now).snapshot.tasks[task].record

    assert found.live is not None
    assert (not found.live.cancelled_for) is known
    if known:
        assert tick(client_of(story.world, app), lambda: story.world.now).effects.started == {}


def test_what_a_unit_is_told():
    story = configured(
        "gates: [{name: a, run: x, os: [s1, s2]}, {name: b, run: y, os: [s1]}, {name: c, run: z, os: [s1], own_job: true}]\n"
        "runner: [big]\ntimeout: 90m"
    )
    story.ready()
    story.tick()
    unit = sent_unit(story)

    assert [(leg["os"], leg["gates"]) for leg in unit["verify"]] == [
        ("s1", ["a", "b"]),
        ("s2", ["a"]),
        ("s1", ["c"]),
    ]
    assert unit["runner"] == ["big"]
    assert unit["timeout_minutes"] == 90
    assert unit["job_minutes"] > 90


@pytest.mark.parametrize(
    ("line", "minutes"), [("timeout: {code: 30m, gate: 5m}", 30), ("timeout: {gate: 5m}", 60)]
)
def test_timeout_by_kind(line, minutes):
    story = configured(line)
    story.ready()
    story.tick()

    assert sent_unit(story)["timeout_minutes"] == minutes


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("hooks: {before_task: make up}", False),
        ("hooks: {after_task_success: make down}", True),
        ("hooks: {after_task_failure: make down}", True),
    ],
)
def test_hooks_that_follow_are_a_step_of_their_own(line, told):
    story = configured(line)
    story.ready()
    story.tick()

    assert sent_unit(story)["hooks"] is told


def test_an_engines_own_runner():
    story = configured("engines: {command: {args: x, runner: [gpu]}}")
    story.ready()
    story.tick()

    assert sent_unit(story)["runner"] == ["gpu"]


@pytest.mark.parametrize(
    ("lines", "label", "variables", "sent"),
    [
        ("engine: codex\nmodel: gpt-5", "", {}, ("codex", "openai", "gpt-5", "", "OPENAI_API_KEY")),
        (
            "engine: codex\nengines: {codex: {provider: own, model: m, base_url: 'https://own.example/v1'}}",
            "",
            {},
            ("codex", "own", "m", "https://own.example/v1", "CF_MODEL_KEY"),
        ),
        ("engine: codex", "cf:engine/gemini", {}, ("gemini", "google", "", "", "GEMINI_API_KEY")),
        (
            "engine: codex",
            "",
            {"CF_ENGINE": "claude-code", "CF_MODEL": "opus"},
            ("claude-code", "anthropic", "opus", "", "ANTHROPIC_API_KEY"),
        ),
    ],
)
def test_the_engine_its_model_and_the_name_of_its_secret_reach_the_unit(lines, label, variables, sent):
    """By configuration, label and repository variable; what it is, not the key, travels."""
    story = Story(f"version: 1\nlinger: 0\n{lines}\n")
    story.ready("", *([label] if label else []))
    tick(story.github, lambda: story.world.now, settings=RepositorySettings(variables, {}))

    unit = sent_unit(story)
    assert tuple(unit[name] for name in ("engine", "provider", "model", "base_url", "secret")) == sent


def test_a_missing_key_holds_the_tasks_of_its_engine_only():
    story = Story("version: 1\nlinger: 0\nengine: codex\n")
    held, started_ = story.ready(), story.ready("", "cf:engine/gemini")
    settings = RepositorySettings(secrets={"OPENAI_API_KEY": False, "GEMINI_API_KEY": True})
    tick(story.github, lambda: story.world.now, settings=settings)

    assert started(story) == [started_]
    assert held not in started(story)


@pytest.mark.parametrize(("line", "count"), [("start: auto", 1), ("start: manual", 0)])
def test_start(line, count):
    story = configured(line)
    task = story.ready()
    story.tick()

    assert len(story.starts()) == count
    assert ("approved only (start: manual)" in story.reason(task)) is (count == 0)
