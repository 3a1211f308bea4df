"""What people said about a batch, and whether its members are its own because of that."""

from datetime import timedelta

import pytest
from msgspec.structs import replace

from bot.model.batch import Action, BatchRecord, BatchState, Control
from bot.model.command import Command, Ordered
from bot.model.issue import Account, EventKind
from bot.model.record import Proposed
from bot.model.snapshot import Permission
from bot.model.status import Status
from bot.notation.batches import control_comment
from bot.plan.facts.batch_controls import ControlResult, batch_view_of, own_edges, owners
from tests.builders import BOT, NOW, STRANGER, WRITER, a_comment, a_snapshot, a_task, ago, happened
from tests.plan.batches.ordering import BATCH, ORDER, RECORD, a_batch, ordered

STOP, RESUME, RUN = Action.STOP, Action.RESUME, Action.RUN
FIRST = Control(RUN, "wendy", ORDER.at)
ENDED = BatchRecord(BatchState.FAILED, started_at=ago(hours=2), ended_at=ago(hours=1))
COMPLETED = replace(ENDED, state=BatchState.COMPLETED)
PLANNED = replace(ORDER, dry_run=True)
NOT_DRY = "it was not ordered with dry_run; resume goes on with one that has ended or was stopped"


def word(action, minutes=9, by="ada", **fields):
    return Control(action, by, ago(minutes=minutes), batch=BATCH, **fields)


def said(*words):
    """Comments of ours that keep these words."""
    return tuple(
        a_comment(control_comment(one, "words"), number, BOT, BATCH) for number, one in enumerate(words, 1)
    )


def command(name, minutes=9, *, force=False, edited=False, problem="", by=WRITER):
    options = (("force", ""),) if force else ()
    return Ordered(
        Command(name, options=options, problem=problem), by, ago(minutes=minutes), 5, "IC_5", edited
    )


def view(*words, order=ORDER, record=RECORD, commands=(), tasks=(), permissions=None, **issue):
    batch = replace(a_batch(order, record, **issue), comments=said(*words))
    fields = {} if permissions is None else {"permissions": permissions}
    return batch_view_of(batch, a_snapshot(*tasks, **fields), commands)


class TestWords:
    @pytest.mark.parametrize(
        ("words", "order", "record", "control", "owns"),
        [
            ((), ORDER, RECORD, None, True),
            ((word(STOP),), ORDER, RECORD, word(STOP), False),
            ((word(STOP), word(RESUME, 8)), ORDER, RECORD, word(RESUME, 8), True),
            ((word(RESUME, 8), word(STOP)), ORDER, RECORD, word(RESUME, 8), True),
            ((word(RESUME, 9), word(STOP, 9)), ORDER, RECORD, word(STOP), False),
            ((word(RESUME),), ORDER, RECORD, None, True),
            ((word(RUN),), ORDER, RECORD, None, True),
            ((word(RESUME),), ORDER, ENDED, word(RESUME), True),
            ((word(RESUME),), ORDER, COMPLETED, None, False),
            ((word(STOP),), ORDER, ENDED, None, False),
            ((), ORDER, ENDED, None, False),
            ((), PLANNED, BatchRecord(), None, False),
            ((word(RUN),), PLANNED, BatchRecord(), word(RUN), True),
            ((word(RESUME),), PLANNED, BatchRecord(), replace(word(RESUME), action=RUN), True),
            ((word(STOP),), PLANNED, BatchRecord(), word(STOP), False),
            ((word(STOP),), ORDER, replace(RECORD, control=word(RESUME, 9)), word(RESUME, 9), True),
            ((word(STOP),), ORDER, replace(RECORD, control=word(RESUME, 10)), word(STOP), False),
        ],
    )  # fmt: skip
    def test_the_latest_counts(self, words, order, record, control, owns):
        seen = view(*words, order=order, record=record)
        assert (seen.record.control, seen.owns) == (control, owns)

    def test_force_is_kept_through_a_plain_stop_after_it(self):
        forced = word(STOP, 9, force=True)
        assert view(forced, word(STOP, 8)).record.control == replace(word(STOP, 8), force=True)
        assert view(word(STOP, 9), replace(forced, at=ago(minutes=8))).forced_end
        assert not view(word(STOP)).forced_end
        assert not view(word(RESUME, force=True), record=ENDED).forced_end

    def test_a_resume_begins_anew_and_keeps_what_had_become_of_the_members(self):
        before = replace(ENDED, rounds=2, round_at=ago(hours=2), needs={2: (1,)})
        members = (a_task(1, Status.FAILED), a_task(2, None), a_task(3, Status.DONE))
        order = replace(ORDER, tasks=(1, 2, 3, 4))
        after = view(word(RESUME), order=order, record=before, tasks=members).record
        assert after == replace(
            before,
            state=BatchState.RUNNING,
            ended_at=None,
            control=word(RESUME),
            rounds=0,
            round_at=None,
            was={"failed": (1,), "withdrawn": (2,), "done": (3,)},
        )
        never = view(word(RESUME), record=replace(ENDED, started_at=None)).record
        assert never.state is BatchState.PENDING

    def test_members_are_approved_by_the_order_or_the_later_word(self):
        assert view().call == FIRST
        assert view(word(STOP)).call == FIRST
        assert view(word(RESUME), record=ENDED).call == word(RESUME)
        assert (view().resumed, view(word(RESUME), record=ENDED).resumed) == (False, True)

    def test_a_dry_run_waits_to_be_run(self):
        assert view(order=PLANNED, record=BatchRecord()).waits_to_be_run
        assert not view(word(RUN), order=PLANNED, record=BatchRecord()).waits_to_be_run
        assert not view().waits_to_be_run


class TestCommands:
    @pytest.mark.parametrize(
        ("given", "order", "record", "why"),
        [
            (command("stop"), ORDER, RECORD, ""),
            (command("stop"), ORDER, ENDED, "the batch has ended already"),
            (command("resume"), ORDER, RECORD, "it goes on already"),
            (command("resume"), ORDER, ENDED, ""),
            (command("resume"), ORDER, COMPLETED, "there is nothing to resume: every member came through"),
            (command("run"), ORDER, RECORD, NOT_DRY),
            (command("run"), PLANNED, BatchRecord(), ""),
            (command("deps"), ORDER, RECORD, ""),
            (command("deps"), ORDER, ENDED, "the batch has ended"),
            (command("apply"), ORDER, RECORD, "no needs wait here to be taken over; `/cf deps` proposes some"),
            (command("apply"), ORDER, replace(RECORD, needs={2: (1,)}), ""),
        ],
    )  # fmt: skip
    def test_each_is_carried_out_or_refused_in_words(self, given, order, record, why):
        assert view(order=order, record=record, commands=(given,)).results == (ControlResult(given, why),)

    def test_what_they_come_to(self):
        seen = view(commands=(command("stop", force=True),))
        assert seen.record.control == Control(STOP, "wendy", ago(minutes=9), force=True)
        applied = view(record=replace(RECORD, needs={2: (1,)}), commands=(command("apply"),))
        assert applied.record.proposed == Proposed((), "wendy")

    @pytest.mark.parametrize(
        "given",
        [
            command("status"),
            command("stop", problem="not understood"),
            command("resume", edited=True),
            command("deps", edited=True),
            command("apply", problem="not understood"),
        ],
    )
    def test_others_say_nothing_about_it(self, given):
        seen = view(record=replace(ENDED, needs={2: (1,)}), commands=(given,))
        assert (seen.results, seen.record.control, seen.record.proposed) == ((), None, Proposed())

    def test_an_edited_stop_stops(self):
        assert view(commands=(command("stop", edited=True),)).stopped

    def test_where_the_order_is_not_ours_any_more_all_are_refused(self):
        batch = replace(a_batch(), order=None, problem="its text was edited by stan")
        given = tuple(map(command, ("run", "stop", "resume", "deps", "apply", "status", "help")))
        seen = batch_view_of(batch, a_snapshot(), given)
        assert seen.results == tuple(ControlResult(one, batch.problem) for one in given[:5])
        assert (seen.owns, seen.record) == (False, RECORD)


class TestReopening:
    def opened(self, by=WRITER, minutes=5, record=ENDED, **fields):
        events = (happened(EventKind.REOPENED, by, ago(minutes=minutes)),)
        return view(record=record, events=events, **fields)

    def test_by_a_writer_it_is_a_resume(self):
        seen = self.opened()
        assert seen.record.control == Control(RESUME, "wendy", ago(minutes=5))
        assert (seen.owns, seen.turned_down, seen.results) == (True, "", ())

    def test_of_what_came_through_it_is_turned_down(self):
        seen = self.opened(record=COMPLETED)
        assert seen.turned_down == "there is nothing to resume: every member came through"
        assert seen.record.control is None

    def test_by_anybody_else_it_is_turned_down(self):
        assert self.opened(STRANGER).turned_down == "stan, who may not order work here, reopened it"
        assert self.opened(STRANGER, is_open=False, closed_at=ago(minutes=1)).turned_down == ""
        assert self.opened(STRANGER, record=RECORD).turned_down == ""
        assert self.opened(BOT).record == ENDED

    def test_who_it_was_is_asked_first(self):
        seen = self.opened(Account(9, "new"))
        assert seen.wants == frozenset({Permission("new")})
        assert (seen.record, seen.owns) == (ENDED, False)
        known = replace(ENDED, control=Control(RESUME, "ada", ago(minutes=5)))
        assert self.opened(Account(9, "new"), record=known).wants == frozenset()
        assert self.opened(Account(9, "new"), minutes=4, record=known).wants


class TestClosing:
    def closed(self, by=WRITER, minutes=5, words=(), record=RECORD, **fields):
        at = ago(minutes=minutes)
        events = (happened(EventKind.CLOSED, WRITER, ago(hours=1)), happened(EventKind.CLOSED, by, at))
        return view(*words, record=record, is_open=False, closed_at=at, events=events, **fields)

    @pytest.mark.parametrize("by", [WRITER, STRANGER, BOT])
    def test_closing_what_goes_on_stops_it_whoever_did_it(self, by):
        seen = self.closed(by)
        assert seen.record.control == Control(STOP, by.login, ago(minutes=5))
        assert seen.stopped

    def test_our_own_closing_after_a_stop_says_nothing_new(self):
        assert self.closed(BOT, words=(word(STOP),)).record.control == word(STOP)
        kept = replace(RECORD, control=word(STOP))
        assert self.closed(BOT, record=kept).record.control == word(STOP)
        assert self.closed(words=(word(STOP),)).record.control == Control(STOP, "wendy", ago(minutes=5))

    def test_what_was_resumed_since_goes_on(self):
        assert self.closed(words=(word(STOP), word(RESUME, 4))).record.control == word(RESUME, 4)
        kept = replace(RECORD, control=word(RESUME, 4))
        assert self.closed(record=kept).record.control == word(RESUME, 4)
        same = replace(RECORD, control=word(RESUME, 5))
        assert self.closed(record=same).record.control == word(RESUME, 5)

    def test_what_has_ended_is_closed_anyway(self):
        assert self.closed(record=ENDED).record == ENDED

    def test_without_an_event_the_issue_says_when(self):
        seen = view(is_open=False, closed_at=ago(minutes=3))
        assert seen.record.control == Control(STOP, "", ago(minutes=3))
        assert view(is_open=False).record.control == Control(STOP, "", NOW)


def test_edges_of_a_batch_are_those_lent_and_those_proposed_each_once():
    record = BatchRecord(needs={2: (1,), 3: (1, 2)}, proposed=Proposed(((3, 1), (4, 1))))
    assert own_edges(record) == ((2, 1), (3, 1), (3, 2), (4, 1))


class TestOwners:
    def numbered(self, number, *tasks, hours=2, control=None, **order):
        one = ordered(*tasks, **order)
        issue = replace(one.issue, number=number, created_at=ago(hours=hours))
        record = replace(RECORD, control=control)
        return batch_view_of(replace(one, issue=issue, record=record), a_snapshot())

    def owned(self, *views):
        return {task: one.number for task, one in owners(views).items()}

    def test_the_earlier_batch_owns_and_one_that_shares_a_member_owns_nothing(self):
        early, late, other = (
            self.numbered(95, 1, 2, hours=3),
            self.numbered(90, 2, 3),
            self.numbered(96, 4, hours=1),
        )
        assert self.owned(other, late, early) == {1: 95, 2: 95, 4: 96}

    def test_of_two_at_once_the_lower_number(self):
        assert self.owned(self.numbered(91, 1), self.numbered(90, 1)) == {1: 90}

    def test_one_that_was_resumed_comes_after_those_that_ran_already(self):
        resumed = self.numbered(90, 1, hours=9, control=word(RESUME))
        assert self.owned(resumed, self.numbered(91, 1, hours=3)) == {1: 91}
        before = replace(word(RESUME), at=ago(hours=9) + timedelta(minutes=1))
        assert self.owned(self.numbered(90, 1, hours=9, control=before), self.numbered(91, 1, hours=3)) == {
            1: 90
        }

    def test_one_that_was_stopped_owns_nothing(self):
        assert self.owned(self.numbered(90, 1, control=word(STOP))) == {}
