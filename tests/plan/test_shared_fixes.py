"""Shared fixes: who shares a failure, who waits for which fix, and what the issue that mends it says."""

import pytest
from msgspec.structs import replace

from bot.model.config import Config, Dependencies
from bot.model.decision import Notice, OpenIssue, Verb
from bot.model.issue import NeedState, StateReason
from bot.model.record import Approval, Fixed, SharedFix
from bot.model.ref import Ref
from bot.model.report import GateResult, GateStatus, Outcome
from bot.model.snapshot import NeedOf
from bot.model.status import Status
from bot.model.unit import Kind
from bot.notation.comments import with_fingerprint
from bot.plan import plan
from bot.plan.board import Board
from bot.plan.shared_fixes import failing, fix_mark, fix_of, open_fixes, sharing
from tests.builders import (
    BOT,
    NOW,
    WRITER,
    a_record,
    a_report,
    a_run,
    a_running,
    a_snapshot,
    a_task,
    ago,
    an_artifact,
    an_attempt,
    decide,
    jobs,
)

FAILED, READY = Status.FAILED, Status.READY


def failed(number=1, status=FAILED, failure="f", strikes=3, **record):
    """A task that waits with a failure."""
    issue = {name: record.pop(name) for name in ("is_open", "state_reason") if name in record}
    attempt = an_attempt(
        1, Outcome.FAILED, failure=failure, reason="no such table", claimed_at=ago(minutes=20)
    )
    values = {"attempts": (attempt,), "next_attempt": 2, "strikes": strikes} | record
    return a_task(number, status, record=a_record(number, status, **values), **issue)


def a_fix(number=9, status=Status.BACKLOG, failure="f", times=1, **fields):
    labels = fields.pop("labels", ("cf:shared-fix",))
    values = {"author": BOT, "body": with_fingerprint("", fix_mark(failure, times))} | fields
    return a_task(number, status, *labels, **values)


def closed(number=9, **fields):
    values = {"is_open": False, "state_reason": StateReason.COMPLETED, "closed_at": ago(minutes=5)} | fields
    return a_fix(number, Status.DONE, **values)


@pytest.mark.parametrize(
    ("task", "mends"),
    [
        (a_fix(), ("f", 1)),
        (a_fix(times=12), ("f", 12)),
        (a_fix(author=WRITER), None),
        (a_fix(labels=()), None),
        (a_fix(body="nothing"), None),
        (a_fix(body=with_fingerprint("", "other:f:1")), None),
        (a_fix(body=with_fingerprint("", "shared-fix:f:x")), None),
        (a_task(), None),
    ],
)
def test_a_fix_is_an_issue_of_ours_with_its_label_and_its_mark(task, mends):
    board = Board(a_snapshot(task))
    assert fix_of(board.items[0], board) == mends


@pytest.mark.parametrize(
    ("task", "failure"),
    [
        (failed(), "f"),
        (failed(status=READY, strikes=1), "f"),
        (failed(strikes=0), "f"),
        (failed(status=READY, strikes=0), ""),
        (failed(unshared=("f",)), ""),
        (failed(unshared=("g",)), "f"),
        (failed(attempts=()), ""),
        (failed(attempts=(an_attempt(1, Outcome.INFRA, failure="f"),)), ""),
        (failed(attempts=(an_attempt(1, Outcome.TIMEOUT, failure="f"),)), "f"),
        (failed(attempts=(an_attempt(1, Outcome.FAILED, failure="f"), an_attempt(2, Outcome.FAILED, failure="g"))), "g"),
        (failed(attempts=(an_attempt(1, Outcome.FAILED, failure="f"), an_attempt(2, Outcome.HELD, kind=Kind.PUBLISH))), "f"),
        (failed(attempts=(an_attempt(1, Outcome.FAILED, failure="f"), an_attempt(2))), ""),
    ],
)  # fmt: skip
def test_the_newest_failure_of_the_work_stands_between_a_task_and_its_end(task, failure):
    assert failing(task.record) == failure


def test_who_shares_a_failure():
    tasks = (
        failed(1),
        failed(2, READY, strikes=1),
        failed(3, failure="g"),
        failed(4, Status.BACKLOG),
        failed(5, is_open=False),
        failed(6, Status.BLOCKED),
    )
    mending = replace(a_fix(7, FAILED), record=replace(failed(7).record, task=7))
    board = Board(a_snapshot(*tasks, mending))
    assert [item.number for item in sharing("f", board)] == [1, 2]


def test_of_two_open_fixes_the_lower_number_counts():
    board = Board(a_snapshot(a_fix(8), a_fix(7), a_fix(6, is_open=False), a_fix(5, failure="g")))
    assert open_fixes(board) == {"g": 5, "f": 7}


class TestWaiting:
    def test_a_task_waits_for_the_fix_and_needs_it(self):
        waits = decide(failed(own_needs=(4,)), others=(a_fix(),))
        assert (waits.verb, waits.status, waits.reason) == (
            Verb.HOLD,
            FAILED,
            "the same failure is being mended by #9",
        )
        assert (waits.record.fix, waits.record.own_needs) == (SharedFix("f", 9), (4, 9))
        assert decide(failed(own_needs=(9,)), others=(a_fix(),)).record.own_needs == (9,)

    @pytest.mark.parametrize(
        ("task", "others", "fields", "reason"),
        [
            (failed(), (failed(2),), {}, "several tasks fail alike: a shared fix is being opened"),
            (failed(), (failed(2, failure="g"),), {}, "failed: no such table; `cf:ready` starts it again"),
            (
                failed(),
                (failed(2), a_fix()),
                {"config": Config(shared_fixes="off")},
                "failed: no such table; `cf:ready` starts it again",
            ),
            (
                failed(failure=""),
                (failed(2, failure=""),),
                {},
                "failed: no such table; `cf:ready` starts it again",
            ),
        ],
    )
    def test_where_there_is_no_fix_it_waits_for_one_only_if_others_fail_alike(
        self, task, others, fields, reason
    ):
        said = decide(task, others=others, **fields)
        assert (said.reason, said.record.fix) == (reason, None)

    @pytest.mark.parametrize(
        ("at", "goes_on"), [(ago(minutes=19), True), (ago(minutes=20), False), (ago(minutes=21), False)]
    )
    def test_what_was_mended_after_its_attempt_began_lets_it_go_on_at_once(self, at, goes_on):
        said = decide(failed(strikes=2), fixed={"f": Fixed(5, at)})
        if goes_on:
            assert (said.verb, said.status, said.record.strikes) == (Verb.MOVE, READY, 1)
            assert said.reason == "#5 has mended this failure since its attempt began"
            assert (said.record.unshared, said.record.not_before) == (("f",), None)
        else:
            assert said.status is FAILED

    def test_a_strike_is_given_back_and_never_more_than_there_are(self):
        assert decide(failed(strikes=0), fixed={"f": Fixed(5, NOW)}).record.strikes == 0


class TestFollowing:
    """A task that waits for a fix already."""

    def waiting(self, *others, config=None, **fields):
        task = failed(
            fix=SharedFix("f", 9), own_needs=(4, 9), unshared=("e",), not_before=ago(hours=-1), **fields
        )
        return decide(task, others=others, config=config)

    def test_while_it_is_open_or_cannot_be_read(self):
        assert self.waiting(a_fix()).reason == "the same failure is being mended by #9"
        ref = Ref("acme/shop", 9)
        task = failed(fix=SharedFix("f", 9))
        wanted = decide(task)
        assert (wanted.reason, wanted.wants) == ("#9 is being looked up", frozenset({NeedOf(ref)}))
        unknown = decide(task, needs={ref: NeedState.UNKNOWN})
        assert unknown.reason == "the same failure is being mended by #9"

    def test_closed_as_completed_it_goes_on(self):
        said = self.waiting(closed())
        assert (said.verb, said.status, said.reason) == (
            Verb.MOVE,
            READY,
            "#9 has mended the failure that it shares",
        )
        assert (said.record.strikes, said.record.unshared, said.record.not_before) == (2, ("e", "f"), None)
        assert (said.record.fix, said.record.own_needs) == (None, (4,))

    def test_closed_otherwise_it_goes_on_as_if_there_had_been_none(self):
        said = self.waiting(closed(state_reason=StateReason.NOT_PLANNED))
        assert (said.verb, said.status, said.reason) == (Verb.HOLD, FAILED, "its shared fix #9 is off")
        assert (said.record.strikes, said.record.unshared) == (3, ("e", "f"))
        assert (said.record.fix, said.record.own_needs) == (None, (4,))

    def test_a_need_that_is_a_relation_as_well_stays_in_the_record(self):
        native = Config(dependencies=Dependencies(sync="native"))
        assert self.waiting(closed(), config=native).record.own_needs == (4, 9)


class TestFix:
    def test_the_younger_of_two_is_closed_before_it_starts(self):
        spare = decide(a_fix(9, READY), others=(a_fix(8),))
        assert (spare.verb, spare.status, spare.close) == (Verb.MOVE, Status.DONE, True)
        assert spare.reason == "#8 mends the same"
        assert spare.notices == (Notice("spare-fix", "#8 mends the same failure, so this one is closed."),)
        running = replace(a_fix(9, Status.IN_PROGRESS), record=a_running(9).record)
        assert not decide(running, others=(a_fix(8),), runs=(a_run(900, "cf-9-1"),)).close
        assert not decide(a_fix(8), others=(a_fix(9),)).close

    def test_one_that_failed_is_told_to_those_who_wait_for_it(self):
        fix = replace(a_fix(9, FAILED), record=a_record(9, FAILED, next_attempt=4))
        waits = {"fix": SharedFix("f", 9)}
        others = [failed(number, **waits) for number in (1, 2)]
        others[1] = replace(others[1], record=replace(others[1].record, approval=Approval("ada", NOW, "d")))
        other = failed(3, fix=SharedFix("g", 8))
        for waiting, words in (
            ((), "This shared fix failed, and 0 tasks wait for it."),
            (others[:1], "@wendy This shared fix failed, and 1 task waits for it."),
            (
                (*others, other, failed(4, approval=None, **waits)),
                "@wendy @ada This shared fix failed, and 3 tasks wait for it.",
            ),
        ):
            said = decide(fix, others=waiting)
            assert said.reason == "the shared fix failed: it is a person's now"
            (notice,) = said.notices
            assert notice.fingerprint == "fix-failed:3"
            assert notice.text.startswith(words)

    def test_with_auto_it_is_ordered_by_who_ordered_the_first_that_waits(self):
        auto = Config(shared_fixes="auto")
        waits = failed(1, fix=SharedFix("f", 9))
        fix = replace(a_fix(9, READY), issue=replace(a_fix(9, READY).issue, events=()))
        started = decide(fix, others=(waits,), config=auto)
        assert started.start is not None
        assert started.record.approval is not None
        assert (started.record.approval.by, started.record.approval.at) == ("wendy", fix.issue.created_at)
        for config, others in (
            (Config(), (waits,)),
            (auto, (failed(1, fix=SharedFix("g", 8)),)),
            (auto, (failed(1, fix=SharedFix("f", 9), approval=None),)),
        ):
            assert decide(fix, others=others, config=config).reason.startswith("not approved")


class TestOpening:
    def opened(self, *tasks, **fields):
        return plan(a_snapshot(*tasks, **fields)).opens

    def test_what_the_issue_says(self):
        gates = (
            GateResult("fine", GateStatus.PASSED, 1.0, "well"),
            GateResult("mute", GateStatus.FAILED, 1.0, ""),
            GateResult("tests", GateStatus.FAILED, 1.0, "no such table: carts"),
            GateResult("lint", GateStatus.FAILED, 1.0, "E501"),
            GateResult("types", GateStatus.FAILED, 1.0, "third"),
        )
        report = a_report(Outcome.FAILED, "cf-1-1", failure="f", gates=gates)
        other = a_report(Outcome.FAILED, "cf-2-1", failure="g", gates=gates[4:])
        (issue,) = self.opened(failed(1), failed(2), failed(3), reports={50: None, 51: other, 52: report})
        assert issue == OpenIssue(
            "shared-fix:f:1",
            "Shared fix: no such table",
            "@wendy 3 tasks fail alike, so the cause is probably not theirs:\n\n"
            "- #1\n- #2\n- #3\n\n"
            "`tests` says:\n\n```text\nno such table: carts\n```\n\n"
            "`lint` says:\n\n```text\nE501\n```\n\n"
            "**Proposed fix.** Find what makes this fail on the default branch, mend it there with the smallest change that does,"
            " and leave the tasks above alone. They wait for this issue, go on when it is closed as completed, and without it when"
            " it is closed as not planned.\n\n"
            "The label `cf:ready` starts it.",
            ("cf:shared-fix", "cf:backlog"),
        )

    def test_with_auto_it_is_ready_at_once(self):
        (issue,) = self.opened(failed(1), failed(2), config=Config(shared_fixes="auto"))
        assert issue.labels == ("cf:shared-fix", "cf:ready")
        assert "starts it" not in issue.body

    @pytest.mark.parametrize(
        ("tasks", "fields"),
        [
            ((failed(1),), {}),
            ((failed(1), failed(2, failure="g")), {}),
            ((failed(1), failed(2, is_open=False)), {}),
            ((failed(1), failed(2, Status.BACKLOG)), {}),
            ((failed(1), failed(2, fix=SharedFix("f", 9)), a_task(9, Status.BACKLOG)), {}),
            ((failed(1), failed(2), a_fix()), {}),
            ((failed(1), failed(2)), {"config": Config(shared_fixes="off")}),
            ((failed(1), failed(2)), {"starts_blocked_by": "paused"}),
        ],
    )
    def test_nothing_is_opened_where_fewer_than_two_wait_or_one_is_there(self, tasks, fields):
        assert self.opened(*tasks, **fields) == ()

    def test_a_fix_itself_is_none_of_them(self):
        fix = replace(a_fix(9, FAILED, failure="g"), record=replace(failed(9).record, task=9))
        assert self.opened(failed(1), fix) == ()

    def test_one_that_did_not_last_is_opened_again_by_what_began_since(self):
        (issue,) = self.opened(failed(1), failed(2), fixed={"f": Fixed(5, ago(minutes=20), times=2)})
        assert issue.fingerprint == "shared-fix:f:3"
        assert "#5 mended the same before, and it did not last." in issue.body
        assert self.opened(failed(1), failed(2), fixed={"f": Fixed(5, ago(minutes=19))}) == ()

    def test_where_nobody_knows_why_or_who(self):
        attempts = (an_attempt(1, Outcome.FAILED, failure="f"),)
        (issue,) = self.opened(*(failed(number, attempts=attempts, approval=None) for number in (1, 2)))
        assert issue.title == "Shared fix: the same check fails"
        assert issue.body.startswith("2 tasks fail alike")

    def test_each_failure_has_one(self):
        tasks = (failed(1, failure="g"), failed(2, failure="g"), failed(3), failed(4))
        assert [issue.fingerprint for issue in self.opened(*tasks)] == ["shared-fix:f:1", "shared-fix:g:1"]

    def test_many_are_counted_and_thirty_listed(self):
        (issue,) = self.opened(*(failed(number) for number in range(1, 33)))
        assert issue.body.startswith("@wendy 32 tasks fail alike")
        assert "\n- #30\n\n" in issue.body

    def test_the_tick_that_sees_the_second_failure_opens_it(self):
        task = a_running(2, run=902, record_fields={"strikes": 2})
        fields = {
            "runs": (a_run(902, "cf-2-1", conclusion="success"),),
            "artifacts": (an_artifact("cf-2-1", run=902),),
            "reports": {50: a_report(Outcome.FAILED, "cf-2-1", failure="f")},
            "jobs": {902: jobs("#2", agent="success", verify="failure", publish="success")},
        }
        assert len(self.opened(failed(1), task, **fields)) == 1


@pytest.mark.parametrize(
    ("task", "known", "found"),
    [
        (closed(), {}, {"f": Fixed(9, ago(minutes=5), 1)}),
        (closed(times=2), {"f": Fixed(5, ago(days=1), 1)}, {"f": Fixed(9, ago(minutes=5), 2)}),
        (closed(times=2), {"f": Fixed(5, ago(days=1), 2)}, {}),
        (closed(closed_at=None), {}, {"f": Fixed(9, NOW, 1)}),
        (closed(state_reason=StateReason.NOT_PLANNED), {}, {}),
        (closed(record=a_record(9, Status.DONE, notices=("spare-fix",))), {}, {}),
        (a_fix(9, Status.DONE), {}, {}),
        (closed(labels=()), {}, {}),
    ],
)
def test_what_was_mended_is_remembered_with_how_often(task, known, found):
    assert plan(a_snapshot(task, fixed=known)).fixed == found
