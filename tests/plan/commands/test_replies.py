"""What is said back to commands: one reply for a comment, in words that hold no command themselves."""

from msgspec.structs import replace

from bot.model.command import COMMANDS, NAMES, Scope
from bot.model.status import Status
from bot.notation.commands import read_commands
from bot.plan import plan
from bot.plan.board import Board
from bot.plan.commands.replies import ON_DASHBOARD, help_text
from tests.builders import BOT, STRANGER, WRITER, a_comment, a_run, a_running, a_snapshot, an_issue
from tests.plan.commands.giving import (
    NOT_DONE,
    given,
    in_state,
    in_state_numbered,
    on_dashboard,
    said,
)


def test_commands_in_the_wrong_place_say_where_they_belong():
    assert "`/cf resume` belongs on a batch" in said("/cf resume").text
    assert "`/cf retry` belongs on a task" in on_dashboard("/cf retry").responses[0].text
    spec = replace(in_state(Status.BACKLOG), issue=an_issue(1, "cf:backlog", "cf:spec"))
    assert "`/cf plan` is not there yet" in said("/cf plan", spec).text
    assert "belongs on a specification" in said("/cf plan").text


def test_on_a_batch_help_is_answered_and_what_belongs_elsewhere_is_refused():
    """What is left there (run, stop, resume, status) is handed over with the batch itself."""
    snapshot = a_snapshot(others={60: an_issue(60, "cf:batch", author=BOT)})

    def answered(body, by=WRITER):
        return plan(replace(snapshot, comments={60: (a_comment(body, issue=60, by=by),)}))

    assert "A batch knows 7 commands" in answered("/cf help").responses[0].text
    assert "belongs on a task or a dashboard" in answered("/cf approve").responses[0].text
    assert [one.text for one in answered("/cf stop --force").responses] == [""]  # it shows in the issue
    given = Board(
        replace(snapshot, comments={60: (a_comment("/cf stop --force", issue=60),)})
    ).comment_commands.given
    assert [(one.command.name, one.command.has("force"), one.author) for one in given[60]] == [
        ("stop", True, WRITER)
    ]
    assert answered("/cf stop", by=STRANGER).responses[0].text == ""


def test_a_comment_gets_one_reply_for_all_its_commands():
    response = said("/cf frobnicate\n/cf status\nwords\n/cf help")
    assert [line for line in response.text.splitlines() if line.startswith("> ")] == [
        "> /cf frobnicate",
        "> /cf status",
        "> /cf help",
    ]
    assert response.reactions == NOT_DONE


def test_status_quotes_what_it_answers_says_one_line_and_folds_the_rest():
    text = said("/cf status", in_state(Status.FAILED)).text
    first, second = text.split("\n\n")[:2]
    assert first == "> /cf status"
    assert second.startswith("**`cf:failed`** · failed: no reason is known")
    assert text.index("<details>") > text.index(second)
    everything = on_dashboard(
        "/cf status",
        a_running(),
        in_state_numbered(2, Status.READY),
        runs=(a_run(),),
        starts_blocked_by="paused by #9",
    )
    verdict, more = everything.responses[0].text.split("\n\n", 2)[1:]
    assert "paused by #9" in verdict
    assert "1 running" in more


def test_a_dry_run_changes_nothing_and_says_what_would_run():
    result = given("/cf run --dry-run")
    assert (result.decisions[0].start, result.decisions[0].record.acted) == (None, ())
    for words in ("engine `command`", "runner `ubuntu-latest`", "gates: none", "branch `cf/1`", "characters"):
        assert words in result.responses[0].text


REPLIES = [
    *(help_text(place, "cf") for place in Scope),
    *(
        response.text
        for name in [*NAMES, "frobnicate", "run please", "run --dry-run", "stop --all", "approve except 9"]
        for status in (None, *Status)
        for response in (
            *given(f"/cf {name}", in_state(status)).responses,
            *on_dashboard(f"/cf {name}", in_state(status)).responses,
        )
    ),
]


def test_cmd_01_no_reply_of_ours_holds_a_command():
    assert len(REPLIES) > 100
    for text in REPLIES:
        assert read_commands(text) == (), text


def test_every_command_of_the_dashboard_has_an_answer_of_its_own():
    assert set(ON_DASHBOARD) == {row.name for row in COMMANDS if row.place is Scope.DASHBOARD}
