"""Property: documents that GitHub gives up, however often they are sent: in the end every change stands once."""

import re
from datetime import timedelta

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bot.github.client import Client
from bot.github.credential import Credential
from bot.github.session import Session
from bot.github.wire import GithubkitWire
from bot.model.change import (
    AddLabel,
    CloseIssue,
    CreateComment,
    CreateIssue,
    EditComment,
    EditIssue,
    React,
    RemoveLabel,
)
from bot.model.errors import TryLater
from bot.sandbox.http.server import serve
from bot.sandbox.world import BOT, World
from bot.sandbox.world.limits import Unfinished
from tests.conductor.story import CONFIG, Story
from tests.contract.conftest import Face

pytestmark = pytest.mark.contract
ANSWERS = ("errors", "silent", "void", "502", "lost")


class Sizes:
    """An ASGI layer that notes how many mutations each document holds."""

    def __init__(self):
        self.seen = []

    def around(self, app):
        async def counted(scope, receive, send):
            async def listened():
                message = await receive()
                if b"mutation Write" in message.get("body", b""):
                    self.seen.append(len(re.findall(rb"input: \$c[0-9]+", message["body"])))
                return message

            await app(scope, listened, send)

        return counted


@pytest.fixture(scope="module")
def served():
    world, sizes = World(), Sizes()
    world.limits.enforce = False
    for name in ("cf:ready", "cf:done"):
        world.open_issue("brings a label", labels=[name])
    with serve(world, wrap=sizes.around) as face:
        yield world, face, sizes


@pytest.fixture
def shop(served):
    """The world, a client for it, and the sizes of the documents that were sent."""
    world, face, sizes = served
    world.limits.unfinished = None
    sizes.seen.clear()
    with client(world, face) as github:
        github.view("cf", None)
        yield world, github, sizes
    world.limits.unfinished = None


def client(world, face):
    wire = GithubkitWire(Credential(world.token(BOT.login).value), face.api)
    pause = lambda seconds: world.wait(timedelta(seconds=seconds))  # noqa: E731
    return Client(Session(wire, world.repository, face.graphql, now=lambda: world.now, sleep=pause))


def changes_about(world, words):
    """One of each kind about each of these words, and how often each is seen to stand."""
    changes, checks = [], []
    for place, word in enumerate(words):
        issue = world.issue(world.open_issue(f"{place}", labels=["cf:done"]))
        comment = world.comments_of(issue.number) or (
            world.issues.comment(world.comment(issue.number, "old", BOT)),
        )
        changes += [
            CreateComment(issue.node_id, word),
            AddLabel(issue.node_id, "cf:ready"),
            RemoveLabel(issue.node_id, "cf:done"),
            CreateIssue(f"about {place}", word, ("cf:ready",)),
            EditComment(comment[0].node_id, f"{word} anew"),
            EditIssue(issue.node_id, f"{word} anew"),
            React(issue.node_id, "EYES"),
            CloseIssue(issue.node_id),
        ]
        checks.append((issue, comment[0], word, f"about {place}"))
    return changes, checks


def stands_once(world, checks, before):
    for issue, comment, word, title in checks:
        said = [one for one in world.comments_of(issue.number) if one is not comment]
        assert sorted(one.body for one in said) == [word]
        assert world.labels_of(issue.number) == ("cf:ready",)
        happened = sorted(event.kind for event in issue.events if event.kind in ("closed", "unlabeled"))
        assert happened == ["closed", "unlabeled"]
        assert (comment.body, issue.body) == (f"{word} anew", f"{word} anew")
        assert issue.reactions == [("EYES", BOT)]
        assert not issue.is_open
        made = [one for one in world.issues.all() if one.number > before and one.title == title]
        assert [(one.body, [label.name for label in one.labels]) for one in made] == [(word, ["cf:ready"])]


@pytest.mark.slow
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    most=st.integers(1, 45),
    words=st.lists(st.text("ab \n", min_size=1).filter(str.strip), min_size=1, max_size=6),
    carried=st.sets(st.integers(0, 39)),
    answer=st.sampled_from(ANSWERS),
)
def test_whatever_github_gives_up_every_change_stands_exactly_once(served, most, words, carried, answer):
    world, face, sizes = served
    world.wait(
        timedelta(seconds=3)
    )  # what an earlier process made in the very second could be taken for our own
    changes, checks = changes_about(world, words)
    before = max(one.number for one in world.issues.all())
    world.limits.unfinished = Unfinished(most, carried.__contains__, answer)
    sizes.seen.clear()
    with client(world, face) as github:
        written = github.write(changes)
    world.limits.unfinished = None

    assert [one.error for one in written] == [""] * len(changes)
    stands_once(world, checks, before)
    for place, change in enumerate(changes):
        if isinstance(change, CreateComment):
            assert world.issues.comment(written[place].id).body == change.body
        if isinstance(change, CreateIssue):
            assert world.issue(written[place].number).body == change.body
    given_up = [size for size in sizes.seen if size > most and not {*range(size)} <= carried]
    assert len(set(given_up)) == len(given_up)  # no size twice in vain


@pytest.mark.parametrize("answer", ANSWERS)
def test_the_size_that_works_is_kept_for_the_process(shop, answer):
    world, github, sizes = shop
    issue = world.issue(world.open_issue("task"))
    world.limits.unfinished = Unfinished(5, answer=answer)

    github.write([CreateComment(issue.node_id, f"{n}") for n in range(12)])
    assert sizes.seen == [12, 6, 3, 3, 3, 3]
    github.write([CreateComment(issue.node_id, f"{n}") for n in range(12, 24)])
    assert sizes.seen[6:] == [3, 3, 3, 3]
    world.wait(timedelta(hours=1))
    world.limits.unfinished = None
    github.issues([issue.number])
    github.write([CreateComment(issue.node_id, f"{n}") for n in range(24, 36)])
    assert sizes.seen[10:] == [12]
    assert [one.body for one in world.comments_of(issue.number)] == [f"{n}" for n in range(36)]


@pytest.mark.parametrize("answer", ANSWERS)
def test_what_github_does_not_finish_even_by_itself_is_told_and_stops_nothing_else(shop, answer):
    world, github, sizes = shop
    issue = world.issue(world.open_issue("task"))
    world.limits.unfinished = Unfinished(0, answer=answer)
    (told,) = github.write([CreateComment(issue.node_id, "too much")])
    assert told.error.startswith("GitHub does not finish this: ")
    assert sizes.seen == ([1, 1] if answer in ("502", "lost") else [1])
    assert world.comments_of(issue.number) == ()


def test_two_that_come_to_nothing_without_a_word_mean_that_github_is_down(shop):
    world, github, sizes = shop
    issue = world.issue(world.open_issue("task"))
    world.limits.unfinished = Unfinished(0, answer="502")
    with pytest.raises(TryLater):
        github.write([CreateComment(issue.node_id, f"{n}") for n in range(8)])
    assert sizes.seen == [8, 4, 2, 1, 1, 1]
    world.limits.unfinished = None
    github.write([CreateComment(issue.node_id, f"{n}") for n in range(8)])
    assert sizes.seen[6:] == [8]


def test_equal_words_that_are_ordered_twice_stand_twice_and_strangers_words_are_not_ours(shop):
    world, github, _ = shop
    issue = world.issue(world.open_issue("task"))
    github.write([CreateComment(issue.node_id, "same")])
    world.comment(issue.number, "same", by="stranger")
    world.limits.unfinished = Unfinished(1, {0}.__contains__, "lost")
    written = github.write([CreateComment(issue.node_id, "same"), CreateComment(issue.node_id, "same")])
    ours = [one.id for one in world.comments_of(issue.number) if one.author == BOT]
    assert sorted(one.id for one in written) == ours[1:]
    assert len(ours) == 3


@pytest.mark.parametrize(
    ("most", "carried", "answer"),
    [(5, (), "errors"), (5, (0, 3), "502"), (3, range(9), "silent"), (1, (1,), "lost")],
)
def test_a_tick_over_twelve_ready_tasks_starts_each_once_where_github_gives_up_large_documents(
    most, carried, answer
):
    story = Story(CONFIG + "max_parallel: 12\nlimits: {total: 12}\n")
    tasks = [story.ready() for _ in range(12)]
    story.world.limits.unfinished = Unfinished(most, {*carried}.__contains__, answer)
    with serve(story.world) as served:
        face = Face(story.world, served)
        story.github = face.github()
        story.tick()
        story.tick()
        face.clients[0].close()
    assert sorted(story.starts()) == sorted(f"cf-{task}-1" for task in tasks)
    assert [story.status(task) for task in tasks] == [("in-progress",)] * 12
    assert [len(story.world.comments_of(task)) for task in tasks] == [1] * 12
