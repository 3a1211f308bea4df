"""What a tick costs: requests by number of tracked issues, writes of a dispatch, and time against a bare githubkit program.

The bare program makes the very requests that the tick made, one after the other, and does nothing with the answers. Bounds: an
idle tick over 100 tracked issues at most 3 requests, over 300 among 5,000 open ones at most 6, over 1,000 at most 14; ten units
at most 10 dispatches and 4 other writes; the whole idle tick under 1.3 times the bare program.
"""

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median

from bot.model.config import CONFIG_PATH
from bot.sandbox.http.server import serve
from bot.sandbox.world import World
from bot.sandbox.world.git import MemoryGit

ROUNDS = 15
TIMES = 1.3
TEMPLATES = Path(__file__).parents[1] / "workflows-templates"
CONFIG = "version: 1\nengine: command\nengines: {command: {args: 'true'}}\nmax_parallel: 10\n"

BARE = """
import json, sys
from githubkit import GitHub, TokenAuthStrategy
kit = GitHub(TokenAuthStrategy(sys.argv[1]), base_url=sys.argv[2], timeout=30, http_cache=False, auto_retry=False)
headers = {"X-GitHub-Api-Version": "2026-03-10"}
with kit:
    for method, path, query, body in json.load(open(sys.argv[3])):
        kit.request(method, path, params=query, json=body, headers=headers).json()
"""


@dataclass(slots=True)
class Seen:
    """Every request that came over the wire: method, path, query, JSON body."""

    requests: list[tuple[str, str, dict[str, str], object]] = field(default_factory=list)

    def wrap(self, app):
        from urllib.parse import parse_qsl

        async def watch(scope, receive, send):
            if scope["type"] != "http":
                await app(scope, receive, send)
                return
            body = b""
            more = True
            while more:
                message = await receive()
                body += message.get("body", b"")
                more = message.get("more_body", False)
            query = dict(parse_qsl(scope["query_string"].decode()))
            self.requests.append((scope["method"], scope["path"], query, json.loads(body) if body else None))
            sent = False

            async def replay():
                nonlocal sent
                if sent:
                    return await receive()
                sent = True
                return {"type": "http.request", "body": body, "more_body": False}

            await app(scope, replay, send)

        return watch

    def take(self):
        """What came since the last look."""
        taken, self.requests = self.requests, []
        return taken


@contextmanager
def sandbox(label: str, number: int, others: int = 0) -> Iterator[tuple[World, Seen, dict[str, str]]]:
    """A repository with so many labelled issues, and others without a label, served on loopback."""
    files = {CONFIG_PATH: CONFIG}
    files |= {f".github/workflows/{path.name}": path.read_text() for path in TEMPLATES.glob("*.yml")}
    world = World("acme/shop", git=MemoryGit.of(files))
    for index in range(number):
        world.open_issue(f"Task {index}", "Some words about what is wanted.", labels=(label,))
    ours = world.token("github-actions[bot]")  # wakes no workflow
    for index in range(others):
        world.issues.create(f"Issue {index}", "Some words about what is wrong.", (), ours)
    seen = Seen()
    with serve(world, wrap=seen.wrap) as served:
        environ = {
            "PATH": os.environ["PATH"],
            "GITHUB_TOKEN": world.token("github-actions[bot]").value,
            "GITHUB_REPOSITORY": "acme/shop",
            "GITHUB_API_URL": served.api,
            "GITHUB_GRAPHQL_URL": served.graphql,
        }
        yield world, seen, environ


def tick(environ: dict[str, str]) -> float:
    begin = time.perf_counter()
    subprocess.run(
        [sys.executable, "-P", "-m", "bot", "conduct", "--no-linger"],
        env=environ,
        check=True,
        capture_output=True,
    )
    return time.perf_counter() - begin


def bare(environ: dict[str, str], script: str, calls: str) -> float:
    command = [sys.executable, script, environ["GITHUB_TOKEN"], environ["GITHUB_API_URL"], calls]
    begin = time.perf_counter()
    subprocess.run(command, env=environ, check=True, capture_output=True)
    return time.perf_counter() - begin


def idle(number: int, most: int, others: int = 0) -> bool:
    """Print and judge the requests of a tick that finds nothing to do."""
    with sandbox("cf:backlog", number, others) as (_, seen, environ):
        tick(environ)  # the first one ever creates labels and the dashboard
        seen.take()
        tick(environ)
        found = len(seen.take())
    print(
        f"idle tick, {number:>5} tracked of {number + others:>5} open issues: {found} requests (at most {most})"
    )
    return found <= most


def ten_units() -> bool:
    with sandbox("cf:backlog", 0) as (world, seen, environ):
        tick(environ)
        for index in range(10):
            world.open_issue(f"Task {index}", "", labels=("cf:ready",))
        seen.take()
        tick(environ)
        requests = seen.take()
    dispatches = sum(path.endswith("/dispatches") for _, path, _, _ in requests)
    labels = sum(method == "POST" and path.endswith("/labels") for method, path, _, _ in requests)
    mutations = sum(path == "/graphql" and "mutation" in str(body)[:40] for _, path, _, body in requests)
    print(
        f"ten units: {dispatches} dispatches, {mutations + labels} other writes (at most 4), {len(requests)} requests"
    )
    return dispatches == 10 and mutations + labels <= 4


def against_bare(folder: Path) -> bool:
    with sandbox("cf:backlog", 100) as (_, seen, environ):
        tick(environ)
        seen.take()
        tick(environ)
        script, calls = folder / "bare.py", folder / "calls.json"
        script.write_text(BARE)
        calls.write_text(json.dumps(seen.take()))
        # In pairs, one right after the other: a slow moment hits both alike, and the median pair was hit by none.
        pairs = [(tick(environ), bare(environ, str(script), str(calls))) for _ in range(ROUNDS)]
    ratio = median(ours / theirs for ours, theirs in pairs)
    ours, theirs = (median(taken) for taken in zip(*pairs, strict=True))
    print(
        f"idle tick {ours * 1000:.0f} ms, bare githubkit {theirs * 1000:.0f} ms: {ratio:.2f} times (under {TIMES})"
    )
    return ratio < TIMES


def main() -> int:
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        held = [
            idle(100, 3),
            idle(300, 6, others=4_700),
            idle(1000, 14),
            ten_units(),
            against_bare(Path(folder)),
        ]
    return 0 if all(held) else 1


if __name__ == "__main__":
    sys.exit(main())
