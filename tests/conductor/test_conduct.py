"""`cf conduct` as a job starts it: the real client over HTTP, a summary and outputs in files, an exit code."""

import json
import re
from collections import Counter
from datetime import UTC, datetime

import pytest

from bot.conductor.act.labels import label_names
from bot.conductor.conduct import conduct
from bot.model.config import CONFIG_PATH, Config
from bot.sandbox.http.server import serve
from bot.sandbox.world.git import MemoryGit
from bot.sandbox.world.in_process import client_of
from bot.sandbox.world.world import World
from tests.conductor.story import CONFIG, TEMPLATES

pytestmark = [pytest.mark.contract, pytest.mark.slow]
LISTS = 12


class Asked:
    """An ASGI layer that keeps every request: method, path, body."""

    def __init__(self):
        self.requests = []

    def around(self, app):
        async def watch(scope, receive, send):
            body = b""

            async def listened():
                nonlocal body
                message = await receive()
                body += message.get("body", b"")
                return message

            await app(scope, listened, send)
            self.requests.append((scope["method"], scope["path"], body.decode()))

        return watch

    def documents(self, name):
        """The variables and text of every GraphQL request of this name."""
        sent = [json.loads(body) for _, path, body in self.requests if path == "/graphql"]
        return [one for one in sent if re.match(rf"\s*query {name}\b", one["query"])]

    def lists(self):
        """REST lists, and the pages of a view, which hold up to four lists each."""
        rest = [path for method, path, _ in self.requests if method == "GET"]
        return len(rest) + len(self.documents("View"))


def test_grf_03_grf_13_five_hundred_issues_and_a_loop_cost_a_dozen_lists(tmp_path):
    """Issues 1 and 2 wait for each other, 10 waits for 1, and 800 edges more lead to 100 that wait for nothing."""
    files = {CONFIG_PATH: f"{CONFIG}max_parallel: 1\n"}
    files |= {f".github/workflows/{path.name}": path.read_text() for path in TEMPLATES.glob("*.yml")}
    world = World(git=MemoryGit.of(files), clock=lambda: datetime.now(UTC))
    client_of(world, "maintainer").ensure_labels(label_names(Config()))
    bodies = {1: "depends on #2", 2: "depends on #1", 10: "depends on #1"}
    for number in range(1, 501):
        need = 401 + number % 100
        edges = f"depends on #{need}, #{need + 1 if need < 500 else 401}"
        body = bodies.get(number, "") + f"\n{edges}" if number <= 400 else ""
        world.open_issue(
            f"Task {number}", f"{body}\nneeds #501" if number in (20, 30) else body, labels=("cf:ready",)
        )
    world.open_issue("Not a task of ours")
    asked = Asked()
    summary, output = tmp_path / "summary", tmp_path / "output"
    with serve(world, wrap=asked.around) as served:
        environ = {
            "GITHUB_TOKEN": world.token("github-actions[bot]").value,
            "GITHUB_REPOSITORY": world.repository,
            "GITHUB_API_URL": served.api,
            "GITHUB_GRAPHQL_URL": served.graphql,
            "GITHUB_STEP_SUMMARY": str(summary),
            "GITHUB_OUTPUT": str(output),
        }
        code = conduct(environ, dry_run=False, linger=False)

    assert code == 0
    assert "Cycle members: 2. Held behind cycles: 1." in summary.read_text()
    assert asked.lists() <= LISTS
    assert not [key for key, times in Counter(asked.requests).items() if times > 1 and key[0] == "GET"]
    (looked_up,) = asked.documents("Needs")
    assert re.findall(r"\bn(\d+):", looked_up["query"]) == ["501"]
    (started,) = world.runs("cf-worker.yml")
    told = dict(re.findall(r"(\S+)<<(?:cf-\w+)\n(.*)\ncf-", output.read_text()))
    assert (told["can_start"], told["running"], told["has-work"], told["reason"]) == (
        "true",
        "1",
        "true",
        "1 started",
    )
    assert int(told["waiting"]) == 499  # so every page was read
    task = int(started.inputs["keys"].split("-")[1])
    assert [(event["event"], event["task"]) for event in json.loads(told["events"])] == [
        ("run.started", task)
    ]
    assert task > 400


def test_a_repository_with_no_task_is_a_green_tick_with_no_work(tmp_path, capsys):
    """ACT-01: nothing to do is exit code 0, and nothing is dispatched."""
    files = {CONFIG_PATH: CONFIG} | {
        f".github/workflows/{path.name}": path.read_text() for path in TEMPLATES.glob("*.yml")
    }
    world = World(git=MemoryGit.of(files), clock=lambda: datetime.now(UTC))
    output = tmp_path / "output"
    with serve(world) as served:
        environ = {
            "GITHUB_TOKEN": world.token("github-actions[bot]").value,
            "GITHUB_REPOSITORY": world.repository,
            "GITHUB_API_URL": served.api,
            "GITHUB_GRAPHQL_URL": served.graphql,
            "GITHUB_OUTPUT": str(output),
        }
        assert conduct(environ, dry_run=True, linger=False) == 0

    told = dict(re.findall(r"(\S+)<<(?:cf-\w+)\n(.*)\ncf-", output.read_text()))
    assert (told["has-work"], told["can_start"], told["events"]) == ("false", "false", "[]")
    assert world.runs("cf-worker.yml") == ()
    assert "cf: nothing can start: 0 running, no task is ready" in capsys.readouterr().out
