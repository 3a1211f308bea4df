"""Every program of ours, with every kind of token, where the jobs' own account conducts: by the real command over HTTP.

Nothing is cancelled, nothing doubled, and every answer is what the conductor would be told, or a refusal in one sentence.
"""

import json
from datetime import UTC, datetime

import pytest

from bot.cli import main
from bot.conductor.observe import observe
from bot.model.report import Outcome
from bot.sandbox.http.server import serve
from tests.conductor.batching import batches, order
from tests.conductor.two_accounts import (
    APP,
    BOT,
    boards,
    client,
    everything,
    said_twice,
    tick_as,
    token_of,
    two,
)
from tests.contract.conftest import Judge

pytestmark = [pytest.mark.contract, pytest.mark.slow]

TOKENS = (APP, "maintainer", "writer", "triager", "reader", "stranger")
LOOKS = {
    "plan": ["plan"],
    "why": ["why", "1"],
    "runs": ["runs"],
    "one task's runs": ["runs", "1"],
    "stats": ["stats"],
    "batch list": ["batch", "list"],
    "batch show": ["batch", "show", "BATCH"],
    "a rehearsal": ["conduct", "--dry-run", "--no-linger"],
}
WRITES = {
    "a tick": ["conduct", "--no-linger"],
    "ticks for ever": ["conduct", "--every", "5s"],
    "the job of cf-batch.yml": ["batch"],
}


@pytest.fixture(scope="module")
def repository():
    """One task runs, one failed once, one waits, one is in a batch; and real time, as the real command has it."""
    story = two()
    first, failed = story.ready(), story.ready()
    story.ready(f"depends on #{first}")
    tick_as(story, BOT)
    story.begin(f"cf-{first}-1")
    story.finish(f"cf-{failed}-1", Outcome.FAILED)
    tick_as(story, BOT)
    order(story, str(story.world.open_issue("In a batch")))
    tick_as(story, BOT)
    tick_as(story, BOT)
    for run in story.worker_runs():
        if run.status == "queued":  # for months, by the clock that follows
            story.begin(run.inputs["keys"])
    story.world._clock = lambda: datetime.now(UTC)  # the command has no other clock
    judge = Judge()
    with serve(story.world, wrap=judge.around) as served:
        yield story, served
    judge.verdict()


@pytest.fixture
def shell(repository, monkeypatch, capsys):
    """Runs `cf` with the token of somebody; the exit code and what was printed."""
    story, served = repository

    def run(who, words, **environ):
        monkeypatch.setenv("GITHUB_TOKEN", token_of(story, who).value)
        monkeypatch.setenv("GITHUB_REPOSITORY", story.world.repository)
        monkeypatch.setenv("GITHUB_API_URL", served.api)
        monkeypatch.setenv("GITHUB_GRAPHQL_URL", served.graphql)
        for name, value in environ.items():
            monkeypatch.setenv(name, value)
        code = main([str(batches(story)[0]) if word == "BATCH" else word for word in words])
        told = capsys.readouterr()
        return code, told.out, told.err

    return run


@pytest.fixture
def of_the_conductor(repository, shell):
    """What the conductor's own token is told, asked once: its requests of an hour are counted."""

    def told(look):
        answers = repository[0].__dict__.setdefault("answers", {})
        if look not in answers:
            answers[look] = shell(BOT, LOOKS[look])
        return answers[look]

    return told


@pytest.mark.parametrize("look", LOOKS)
@pytest.mark.parametrize("who", TOKENS)
def test_whoever_looks_is_told_what_the_conductor_is_told_or_that_it_cannot_be_known(
    who, look, shell, repository, of_the_conductor
):
    story, _ = repository
    before = everything(story)
    expected = of_the_conductor(look)
    code, out, err = shell(who, LOOKS[look])
    assert expected[0] == 0
    if code == 0:
        assert out == expected[1]
    else:
        assert who in ("triager", "reader", "stranger")
        assert code == 1
        assert "cannot be known with this token" in err
        assert not out
    assert everything(story) == before


@pytest.mark.parametrize("look", ["runs", "stats", "batch list"])
def test_what_asks_for_nobodys_permission_a_reader_sees_too(look, shell, of_the_conductor):
    assert shell("reader", LOOKS[look]) == of_the_conductor(look)


@pytest.mark.parametrize("write", WRITES)
@pytest.mark.parametrize("who", TOKENS)
def test_whoever_does_not_conduct_writes_nothing_and_is_told_who_does(who, write, shell, repository):
    story, _ = repository
    before = everything(story)
    asked = {"CF_BATCH_TASKS": "1", "GITHUB_ACTOR": "maintainer", "GITHUB_RUN_ID": "7"}
    code, out, err = shell(who, WRITES[write], **asked)
    assert code == 1
    assert "github-actions[bot] conducts here" in err
    assert err.count("\n") == 1
    assert not out
    assert everything(story) == before


def test_adopting_the_conductor_where_another_conducts_writes_nothing(shell, repository):
    story, _ = repository
    before = everything(story)
    for who in (APP, "maintainer"):
        code, _, err = shell(who, ["adopt", "--conductor", "--from", "second"])
        assert (code, "github-actions[bot] conducts here" in err) == (1, True)
    assert everything(story) == before


@pytest.mark.parametrize("who", [BOT, *TOKENS])
def test_the_doctor_tells_who_conducts(who, shell):
    _, out, _ = shell(who, ["doctor", "--json"])
    (found,) = [one for one in json.loads(out) if one["about"] == "who conducts"]
    assert found["health"] == "ok"
    assert found["words"].startswith("github-actions[bot] (id 41898282), and its dashboard is #")


def test_what_depends_on_a_permission_is_refused_to_a_reader_in_a_sentence(shell, repository):
    story, _ = repository
    task = story.ready()
    code, _, err = shell("reader", ["plan"])
    assert (code, err.count("\n")) == (1, 1)
    assert "whether maintainer may order work here cannot be known with this token" in err
    assert shell("maintainer", ["plan"]) == shell(BOT, ["plan"])
    story.world.close(task)


def test_after_all_that_the_conductor_goes_on_as_if_nobody_had_tried(shell, repository):
    story, _ = repository
    code, _, _ = shell(BOT, ["conduct", "--no-linger"])
    assert code == 0
    assert len(boards(story, closed=True)) == 1
    assert not [run for run in story.worker_runs() if run.conclusion == "cancelled"]
    assert said_twice(story) == []
    assert not observe(client(story, BOT), story.world.now).conducts.ignored
