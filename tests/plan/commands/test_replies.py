"""What is said back to commands: one reply for a comment, in words that hold no command themselves."""

from datetime import timedelta

import pytest
from msgspec.structs import replace

from bot.model.advice import Proposal
from bot.model.batch import Search
from bot.model.command import COMMANDS, NAMES, Scope
from bot.model.config import Config, EngineConfig
from bot.model.issue import NeedState
from bot.model.ref import Ref
from bot.model.report import Outcome
from bot.model.status import Status
from bot.model.unit import Gate, Kind
from bot.notation.commands import read_commands
from bot.plan import plan
from bot.plan.board import Board
from bot.plan.commands.replies import ON_DASHBOARD, help_text
from tests.builders import (
    BOT,
    STRANGER,
    WRITER,
    a_comment,
    a_pull,
    a_record,
    a_run,
    a_running,
    a_snapshot,
    a_task,
    ago,
    an_attempt,
    an_issue,
)
from tests.plan.batches.ordering import RECORD, a_batch
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


@pytest.mark.parametrize(
    ("place", "names"),
    [
        (Scope.TASK, "run stop retry publish answer approve deps apply status help"),
        (Scope.BATCH, "run stop deps apply resume status help"),
        (Scope.SPEC, "run stop retry publish answer approve deps apply status plan help"),
        (Scope.DASHBOARD, "stop approve deps apply status help"),
    ],
)
def test_help_lists_what_the_place_knows(place, names):
    text = help_text(place, "bot")
    rows = [line for line in text.splitlines() if line.startswith("| `/bot ")]
    assert sorted(row.split()[2].strip("`") for row in rows) == sorted(names.split())
    count = len(names.split())
    assert text.startswith(
        f"A {place} knows {count} commands, each on a line of its own; people with permission may give them.\n\n"
        "<details><summary>The commands</summary>\n\n| command | what it does |\n|---|---|\n"
    )
    assert text.endswith(" |\n\n</details>")


def test_help_on_a_specification_is_that_of_a_specification():
    spec = replace(in_state(Status.BACKLOG), issue=an_issue(1, "cf:backlog", "cf:spec"))
    assert said("/cf help", spec).text == f"> /cf help\n\n{help_text(Scope.SPEC, 'cf')}"
    assert said("/cf help").text == f"> /cf help\n\n{help_text(Scope.TASK, 'cf')}"


def test_status_tells_all_that_is_known_of_a_task():
    attempts = tuple(an_attempt(number, Outcome.FAILED, reason=f"r{number}") for number in range(1, 6))
    record = a_record(
        1,
        Status.BACKLOG,
        attempts=(*attempts, an_attempt(6, kind=Kind.PUBLISH)),
        next_attempt=7,
        strikes=2,
        pull=70,
    )
    record = replace(
        record, attempts=(*record.attempts[:-1], replace(record.attempts[-1], outcome=Outcome.HELD))
    )
    task = a_task(
        1, Status.BACKLOG, record=record, needs=(5,), warnings=("line 2",), priority=3, pulls=(a_pull(),)
    )
    text = said("/cf status", task, needs={Ref("acme/shop", 5): NeedState.OPEN}).text
    assert text == (
        "> /cf status\n\n**`cf:backlog`** · in the backlog; `cf:ready` starts it\n\n"
        "<details><summary>More</summary>\n\n"
        "- ordered by wendy at 2026-03-02 11:00 UTC\n"
        "- priority 3; strikes: 2; attempts: 6\n"
        "- `cf-1-2` code: failed, r2\n- `cf-1-3` code: failed, r3\n- `cf-1-4` code: failed, r4\n- `cf-1-5` code: failed, r5\n"
        "- `cf-1-6` publish: held\n"
        "- pull request #70\n- needs acme/shop#5\n- line 2\n\n</details>"
    )
    assert said("/cf status", a_task(1, None)).text.startswith(
        "> /cf status\n\n**Not a task** · not a task: it carries"
    )


@pytest.mark.parametrize(
    ("body", "config", "lines"),
    [
        (
            "/cf run --dry-run",
            {},
            ("engine `command`, model its own default", "at most 60 minutes", "runner `ubuntu-latest`",
             "gates: none, so the work would be an unverified draft", "branch `cf/1`"),
        ),
        (
            "/cf run --engine codex --model gpt-5 --timeout 90m --dry-run",
            {"gates": (Gate("tests", "x"), Gate("lint", "x")), "runner": ("self-hosted", "big")},
            ("engine `codex`, model gpt-5", "at most 90 minutes", "runner `self-hosted, big`", "gates: `tests`, `lint`"),
        ),
        (
            "/cf run --dry-run",
            {"engines": {"command": EngineConfig(args="x", runner=("gpu",))}, "timeout_by_kind": {Kind.CODE: timedelta(minutes=7)}},
            ("at most 7 minutes", "runner `gpu`"),
        ),
    ],
)  # fmt: skip
def test_a_dry_run_tells_what_would_run(body, config, lines):
    engines = {"engine": "command", "engines": {"command": EngineConfig(args="x")}}
    text = said(body, config=Config(**(engines | config))).text
    shown = text.splitlines()
    assert all(f"- {line}" in shown for line in lines)
    assert "\n\nAs it stands: in the backlog; `cf:ready` starts it. Nothing was changed.\n\n" in text
    assert "- prompt: 6 characters of title and description, then comments" in text


def test_a_dry_run_of_what_cannot_start_says_why():
    text = said("/cf run --engine aider --dry-run").text
    assert (
        "\n\nAs it stands: It could not start: the engine aider needs a model: set engines.aider.model in"
        in text
    )


def test_a_command_for_all_says_on_which_it_was_carried_out():
    tasks = [in_state_numbered(number, Status.BACKLOG) for number in (3, 1)]
    assert on_dashboard("/cf approve", *tasks).responses[0].text == (
        "> /cf approve\n\nApproved: 2. Left out: 0.\n\n"
        "<details><summary>Which</summary>\n\n- approved: #1, #3\n- left out: none\n\n</details>"
    )
    assert on_dashboard("/cf stop --all", *tasks).responses[0].text.endswith("Stopped: nothing was running.")
    running = on_dashboard(
        "/cf stop --all", a_running(), a_running(2, run=901), runs=(a_run(), a_run(901, "cf-2-1"))
    )
    assert running.responses[0].text == "> /cf stop --all\n\nStopped: #1, #2."


def test_a_batch_tells_its_state_and_its_gate():
    def answer(body, batch, **fields):
        snapshot = a_snapshot(
            a_task(1), a_task(2), batches=(batch,) if batch else (), others={90: a_batch().issue},
            comments={90: (a_comment(body, issue=90),)}, **fields,
        )  # fmt: skip
        (response,) = plan(snapshot).responses
        return response

    assert answer("/cf status", a_batch()).text == "> /cf status\n\n**RUNNING** · members run or may start"
    red = Search((1, 2), 0, "h", ago(), passed=False, reason="it fails")
    gated = a_batch(record=replace(RECORD, gate=red))
    assert answer("/cf status", gated).text.endswith("\n\nBatch gate: **not passed**. it fails")
    assert answer("/cf status", None).text == "> /cf status\n\nThis is no batch of ours any more."
    assert answer("/cf stop", a_batch()).text == ""
    refused = answer("/cf run", a_batch())
    assert "Not done: it was not ordered with dry_run" in refused.text
    assert refused.reactions == NOT_DONE
    proposed = answer("/cf deps", a_batch(), proposals={(1, 2): Proposal({2: (1,)})})
    assert proposed.text.startswith("> /cf deps\n\n**Inferred needs**")


def test_the_line_that_is_answered_is_quoted_and_cut():
    assert said("/cf   STATUS").text.startswith("> /cf status\n\n")
    assert said(f"/cf frobnicate {'x' * 300}").text.splitlines()[0] == f"> /cf frobnicate {'x' * 185} … (cut)"
