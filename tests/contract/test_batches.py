"""What `cf batch` needs of the port, and the command itself with the token that its job has."""

import pytest
import yaml

from bot.cli import main
from bot.sandbox.http.server import serve
from bot.sandbox.world import MemoryGit, World
from tests.conductor.story import CONFIG, TEMPLATES

pytestmark = pytest.mark.contract


def test_labelled_issues_are_all_listed_open_or_closed_and_no_pull_requests(world, github):
    first = world.open_issue("first", labels=["good first issue"])
    second = world.open_issue("second", labels=["Good First Issue", "cf:ready"])
    world.open_issue("another", labels=["good"])
    done = world.open_issue("done", labels=["good first issue"])
    world.close(done)
    world.push_files("topic", {"a.txt": "a"})
    world.label(world.open_pull("topic", "pull"), "good first issue")

    assert [issue.number for issue in github.labelled("good first issue")] == [first, second]
    assert [issue.number for issue in github.labelled("good first issue", closed=True)] == [done]
    assert github.labelled("nothing is called so") == ()


def test_more_labelled_issues_than_a_page_holds_are_all_listed(world, github):
    numbers = [world.open_issue(f"number {n}", labels=["many"]) for n in range(130)]
    assert [issue.number for issue in github.labelled("many")] == numbers


def test_the_open_issues_of_a_milestone_are_all_listed(world, github):
    numbers = [world.open_issue(f"number {n}") for n in range(120)]
    other, closed = world.open_issue("other"), world.open_issue("closed")
    for number in (*numbers, closed):
        world.plan_for(number, "Version 2")
    world.plan_for(other, "Version 2 and more")
    world.close(closed)
    assert list(github.in_milestone("version 2")) == numbers
    assert github.in_milestone("Version") == ()


@pytest.fixture
def shop(monkeypatch, tmp_path):
    """A world served over HTTP, and the environment of the job in cf-batch.yml."""
    files = {
        f".github/workflows/{path.name}": path.read_text(encoding="utf-8") for path in TEMPLATES.glob("*.yml")
    }
    world = World("acme/shop", git=MemoryGit.of({".github/cf.yml": CONFIG, **files}))
    job = yaml.safe_load(files[".github/workflows/cf-batch.yml"])["jobs"]["order"]
    with serve(world) as served:
        monkeypatch.setenv("GITHUB_TOKEN", world.run_token(77, job["permissions"], "order").value)
        monkeypatch.setenv("GITHUB_REPOSITORY", "acme/shop")
        monkeypatch.setenv("GITHUB_API_URL", served.api)
        monkeypatch.setenv("GITHUB_GRAPHQL_URL", served.graphql)
        monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(tmp_path / "summary.md"))
        for name, value in {
            "ACTOR": "maintainer",
            "TRIGGERING_ACTOR": "maintainer",
            "RUN_ID": "77",
            "RUN_ATTEMPT": "1",
        }.items():
            monkeypatch.setenv(f"GITHUB_{name}", value)
        yield world


def batches(world: World) -> list[int]:
    return [issue.number for issue in world.issues.all() if issue.has_label("cf:batch")]


def test_an_order_and_its_stop_over_http_with_the_jobs_own_token(shop, monkeypatch, capsys, tmp_path):
    task, closed = shop.open_issue("Do it"), shop.open_issue("Done")
    shop.close(closed)
    monkeypatch.setenv("CF_BATCH_TASKS", f"{task}-{closed}")

    assert main(["batch"]) == 0
    (batch,) = batches(shop)
    said = f"batch #{batch} is written with 1 task; left out: #{closed} is closed"
    assert capsys.readouterr().out == f"cf: {said}\n"
    assert (tmp_path / "summary.md").read_text(encoding="utf-8") == f"{said}\n"
    assert [run.event for run in shop.runs("cf-conductor.yml")].count("workflow_dispatch") == 1

    monkeypatch.setenv("GITHUB_RUN_ATTEMPT", "2")
    assert main(["batch"]) == 0
    assert batches(shop) == [batch]

    for name, value in {"ACTION": "stop", "TARGET": str(batch), "TASKS": ""}.items():
        monkeypatch.setenv(f"CF_BATCH_{name}", value)
    assert main(["batch"]) == 0
    assert not shop.issue(batch).is_open


@pytest.mark.parametrize(
    ("tasks", "actor", "code", "words"),
    [
        ("1", "stranger", 1, "stranger may not order work here"),
        ("1 900", "maintainer", 2, "#900 does not exist"),
        ("1 2", "maintainer", 2, "#2 is a pull request"),
        ("", "maintainer", 2, "the list is empty"),
        ("milestone:v1", "maintainer", 2, "no open issue is in the milestone v1"),
    ],
)
def test_a_refusal_has_its_exit_code_and_writes_nothing(shop, monkeypatch, capsys, tasks, actor, code, words):
    assert shop.open_issue("Do it") == 1
    shop.push_files("topic", {"a.txt": "a"})
    assert shop.open_pull("topic", "A pull request") == 2
    monkeypatch.setenv("CF_BATCH_TASKS", tasks)
    monkeypatch.setenv("GITHUB_ACTOR", actor)
    runs = len(shop.runs())

    assert main(["batch"]) == code
    assert words in capsys.readouterr().err
    assert batches(shop) == []
    assert len(shop.runs()) == runs


def test_an_order_that_github_could_not_take_ends_red_and_may_be_given_again(shop, monkeypatch, capsys):
    """A tick that comes too early is made up for by the next; an order is not."""
    monkeypatch.setenv("CF_BATCH_TASKS", str(shop.open_issue("Do it")))
    shop.faults.limit("POST /graphql", retry_after=3600)

    assert main(["batch"]) == 1
    assert "Please run this job again" in capsys.readouterr().err
    monkeypatch.setenv("GITHUB_RUN_ATTEMPT", "2")
    assert main(["batch"]) == 0
    assert len(batches(shop)) == 1


def test_a_dry_run_says_what_it_would_write(shop, monkeypatch, capsys):
    monkeypatch.setenv("CF_BATCH_TASKS", str(shop.open_issue("Do it")))
    assert main(["batch", "--dry-run"]) == 0
    out = capsys.readouterr().out
    assert "would have opened the issue cf batch: #1 (parallel) with cf:batch" in out
    assert "would have started cf-conductor.yml on main" in out
    assert batches(shop) == []
