"""Pages are for reading: everything is there, and nothing that somebody wrote becomes part of the page."""

from collections.abc import Iterator

import httpx
import pytest

from bot.sandbox.http.server import serve
from bot.sandbox.world import JobState, World

EVIL = "<script>alert(1)</script>\n\n<img src=x onerror=alert(1)> [x](javascript:alert(1)) <details ontoggle=alert(1)>"


@pytest.fixture
def browser(world: World) -> Iterator[httpx.Client]:
    with serve(world) as served, httpx.Client(base_url=served.url) as client:
        yield client


def test_everything_can_be_read(world, browser):
    task, other = (
        world.open_issue("Sell apples", "Depends on #2", labels=["cf:ready"]),
        world.open_issue("Buy apples"),
    )
    world.block(task, other)
    world.comment(task, "A **bold** word", by="stranger")
    world.push_files("work", {"apples.txt": "x"})
    pull = world.open_pull("work", "Apples", f"Closes #{task}")
    run = world.dispatch("cf-worker.yml", inputs={"units": "[]", "keys": "cf-1-1"})
    world.put_job(
        run,
        JobState(
            "agent", "completed", "failure", steps=(("Work", "completed", "failure"),), log="it broke\n"
        ),
    )
    world.add_artifact(run, "cf-report-cf-1-1", b"PK")

    index = browser.get("/").text
    for words in ("Sell apples", "cf:ready", "blocked by #2", "Apples", "cf [cf-1-1]"):
        assert words in index
    issue = browser.get(f"/acme/shop/issues/{task}").text
    for words in (
        "<strong>bold</strong>",
        "stranger",
        f'href="/acme/shop/pull/{pull}"',
        'href="/acme/shop/issues/2"',
    ):
        assert words in issue
    assert "diff --git" in browser.get(f"/acme/shop/pull/{pull}").text
    run_page = browser.get(f"/acme/shop/actions/runs/{run}").text
    for words in ("it broke", "failure", "Work", "cf-report-cf-1-1"):
        assert words in run_page
    for path in (
        "/acme/shop/issues",
        "/acme/shop/pulls",
        "/acme/shop/actions",
        "/_sandbox/style.css",
        "/_sandbox/live.js",
    ):
        assert browser.get(path).status_code == 200
    assert browser.get("/acme/shop/issues/99").status_code == 404


def test_foreign_text_stays_text(world, browser):
    number = world.open_issue(EVIL[:200].replace("\n", " "), EVIL, labels=["<b>label"])
    world.comment(number, EVIL)
    run = world.dispatch("cf-worker.yml", inputs={"units": EVIL, "keys": "<i>"})
    world.put_job(run, JobState("<u>job", "completed", "failure", log=EVIL))

    pages = [
        browser.get(path) for path in ("/", f"/acme/shop/issues/{number}", f"/acme/shop/actions/runs/{run}")
    ]

    for page in pages:
        lower = page.text.lower()
        for wrong in (
            "<script>",
            "<img",
            "<details ontoggle",
            'href="javascript',
            "<b>label",
            "<u>job",
            "<i>",
        ):
            assert wrong not in lower
        assert "default-src 'none'" in page.headers["content-security-policy"]
