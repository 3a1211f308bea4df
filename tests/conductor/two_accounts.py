"""What stories about two accounts share: who there is, what must not change, and what the dashboard is."""

from datetime import timedelta

from bot.conductor.tick import tick
from bot.notation.comments import read_fingerprint
from bot.notation.records import is_record
from bot.notation.state import state_in
from bot.sandbox.world.in_process import InProcess, client_of
from tests.conductor.story import CONFIG, Story

BOT, APP = "github-actions[bot]", "conductor[bot]"
LEVELS = {
    "issues": "write",
    "actions": "write",
    "contents": "write",
    "pull-requests": "write",
    "checks": "read",
}
LABELS = ("cf:ready", "cf:in-progress", "cf:backlog", "cf:blocked", "cf:failed", "cf:done", "cf:merged")


def two(config="", prefix=CONFIG):
    """A repository that knows an App, a second maintainer, a writer, a triager and a reader."""
    story = Story(prefix + config)
    story.world.accounts.app_token("conductor", LEVELS)
    for login, role in (("second", "admin"), ("writer", "write"), ("triager", "triage"), ("reader", "read")):
        story.world.add_user(login, role)
    return story


def token_of(story, who):
    return story.world.accounts.app_token("conductor", LEVELS) if who == APP else story.world.token(who)


def client(story, who):
    return (
        client_of(story.world, token_of(story, who))
        if who != APP
        else InProcess(story.world, token_of(story, who))
    )


def account(story, who):
    return token_of(story, who).account


def tick_as(story, who):
    """One tick with this token; what it says no with goes up."""
    story.world.wait(timedelta(seconds=2))
    last = tick(client(story, who), lambda: story.world.now)
    story.world.wait(timedelta(seconds=2))
    return last


def configure(story, more):
    """The maintainers change `identity`."""
    story.world.push_files("main", {".github/cf.yml": f"{CONFIG}{more}\n"}, "identity", by="maintainer")


def boards(story, *, closed=False):
    """Every issue with the dashboard's label, oldest first."""
    found = [issue for issue in story.world.issues.all() if issue.has_label("cf:dashboard")]
    return [issue for issue in found if closed or issue.is_open]


def board(story):
    """The one dashboard that is open."""
    (found,) = boards(story)
    return found


def pause_of(story):
    """What the open dashboard's state says of a pause."""
    seen = client(story, BOT).issues([board(story).number])[board(story).number]
    state = state_in(seen)
    assert state is not None
    return state.pause


def everything(story):
    """All that anybody can see of the issues and runs: what a program that may not write must leave as it is."""
    issues = {
        issue.number: (
            issue.title,
            issue.body,
            issue.is_open,
            sorted(label.name for label in issue.labels),
            [(comment.id, comment.body, tuple(comment.reactions)) for comment in issue.comments],
        )
        for issue in story.world.issues.all()
    }
    return issues, [(run.id, run.workflow, run.status, run.conclusion) for run in story.world.runs()]


def said_twice(story):
    """Issues on which a record or a notice of ours stands more than once."""
    found = []
    for issue in story.world.issues.all():
        authors = (
            comment for comment in issue.comments if comment.author.is_bot or comment.author.login == "second"
        )
        ours = [comment.body for comment in authors]
        notices = [print_ for body in ours if (print_ := read_fingerprint(body))]
        if sum(map(is_record, ours)) > 1 or len(notices) != len({*notices}):
            found.append(issue.number)
    return found
