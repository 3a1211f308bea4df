"""`/cf deps` and `/cf apply`: what is asked about, what is proposed, and what is taken over by whose consent."""

import pytest
from msgspec.structs import replace

from bot.model.advice import Proposal
from bot.model.config import Config
from bot.model.record import Proposed
from bot.model.ref import Ref
from bot.model.snapshot import InferNeeds
from bot.model.status import Status
from bot.plan import plan
from bot.plan.board import Board
from bot.plan.commands.proposals import AUTOMATIC, Found, consent_to, inferred_among, missing
from tests.builders import BOT, a_comment, a_record, a_snapshot, a_task, ago, an_issue, by_number, labelled
from tests.plan.batches.ordering import BATCH, RECORD, a_batch

AUTO = Config(inference="auto")


def parked(number, status=Status.BACKLOG, **fields):
    record = a_record(number, status, **fields.pop("record", {}))
    return a_task(
        number, status, record=record, events=(labelled(f"cf:{status}", BOT, ago(minutes=30)),), **fields
    )


def proposing(*numbers, problem="", **needs):
    """What the model proposes about these tasks: `t3=(1,)` says that 3 needs 1."""
    found = {int(task[1:]): wanted for task, wanted in needs.items()}
    return {numbers: Proposal(found, problem)}


class TestAsking:
    def asked(self, *tasks, among=None, **fields):
        return inferred_among(among, Board(a_snapshot(*tasks, **fields)))

    def test_the_model_is_asked_about_what_is_open(self):
        tasks = (
            parked(1),
            a_task(2),
            parked(3, Status.BLOCKED),
            parked(4, Status.DONE),
            parked(5, Status.MERGED),
            a_task(6, None),
            parked(7, is_open=False),
            a_task(8, record_problem="unreadable"),
        )
        assert self.asked(*tasks) == Found(wants=frozenset({InferNeeds((1, 2, 3))}))
        assert self.asked(*tasks, among=(2, 1, 4)) == Found(wants=frozenset({InferNeeds((1, 2))}))

    @pytest.mark.parametrize(("count", "asked"), [(0, False), (1, False), (2, True)])
    def test_about_two_at_least(self, count, asked):
        found = self.asked(*(parked(number) for number in range(1, count + 1)))
        none = Found(text="No needs inferred: there are no two open tasks.")
        assert (found != none) is asked

    def test_about_a_hundred_at_most(self):
        found = self.asked(*(parked(number) for number in range(1, 103)))
        assert found.wants == frozenset({InferNeeds(tuple(range(1, 101)))})

    def test_what_the_model_says_is_shown_and_what_cannot_be_is_left_out(self):
        said = proposing(1, 2, 3, t2=(1,), t3=(1, 2, 9), t1=(2,))
        found = self.asked(parked(1), parked(2), parked(3, needs=(2,)), proposals=said)
        # Task 1 comes first: its need of 2 is there before the others' words.
        assert found.edges == ((1, 2), (3, 1))
        assert found.text == (
            "**Inferred needs**, `task <- needs`:\n\n- #1 <- #2\n- #3 <- #1\n\n"
            "`/cf apply` here takes them over, beside the needs that exist."
            " A need falls away when its issue is closed in any way.\n\n"
            "Left out:\n\n- #2 <- #1: it would close the cycle 2→1→2\n- #3 <- #9: #9 is not among the tasks"
        )

    def test_with_auto_they_hold_at_once(self):
        found = self.asked(parked(1), parked(2), proposals=proposing(1, 2, t2=(1,)), config=AUTO)
        assert "\n\nThey hold from now on, beside the needs that exist." in found.text

    def test_nothing_is_found_or_nobody_could_be_asked(self):
        assert self.asked(parked(1), parked(2), proposals=proposing(1, 2)).text == "No needs inferred."
        failed = self.asked(parked(1), parked(2), proposals=proposing(1, 2, problem="no | key"))
        assert failed == Found(text="No needs inferred: no \\| key.")
        left = self.asked(parked(1), parked(2), proposals=proposing(1, 2, t1=(1,)))
        assert left.text == "No needs inferred.\n\nLeft out:\n\n- #1 <- #1: a task cannot need itself"

    def test_two_hundred_needs_are_shown_and_twenty_that_are_not(self):
        numbers = tuple(range(1, 26))
        tasks = [parked(number) for number in numbers]
        many = {numbers: Proposal({task: tuple(range(1, task)) for task in numbers})}
        found = self.asked(*tasks, proposals=many)
        assert len(found.edges) == 200
        assert found.text.count("#") == 200 + 20  # 1 to 20 need 190, and 21 the first ten
        none = {numbers: Proposal({1: tuple(range(50, 80))})}
        assert self.asked(*tasks, proposals=none).text.count("is not among the tasks") == 20


def test_who_has_consented_from_the_start():
    board = Board(a_snapshot(config=AUTO))
    assert (consent_to(((2, 1),), board), consent_to((), board)) == (AUTOMATIC, "")
    assert consent_to(((2, 1),), Board(a_snapshot())) == ""


class TestOnATask:
    def given(self, body, *tasks, **fields):
        comments = {tasks[0].number: (a_comment(body, 7, issue=tasks[0].number),)}
        return by_number(plan(a_snapshot(*tasks, comments=comments, **fields)))

    def test_it_is_proposed_in_one_comment_and_kept(self):
        said = proposing(1, 2, t2=(1,))
        decision = self.given("/cf deps", parked(1), parked(2), proposals=said)[1]
        assert (decision.record.proposed, decision.record.consent) == (((2, 1),), "")
        (notice,) = decision.notices
        assert notice.fingerprint == "deps:7"
        assert notice.text.startswith("**Inferred needs**")
        assert self.given("/cf deps", parked(1), parked(2))[1].record.acted == ()

    def test_with_consent_it_reaches_each_task(self):
        one = parked(1, record={"proposed": ((2, 1), (3, 1), (3, 2))})
        told = self.given("/cf apply", one, parked(2, record={"own_needs": (9,)}), parked(3))
        assert [told[number].record.own_needs for number in (1, 2, 3)] == [(), (9, 1), (1, 2)]
        assert told[1].record.consent == "wendy"
        assert told[1].record.proposed == one.record.proposed

    def test_what_nothing_was_proposed_for_has_nothing_to_apply(self):
        (response,) = plan(a_snapshot(parked(1), comments={1: (a_comment("/cf apply"),)})).responses
        assert response.text.endswith(
            "Not done: no needs wait here to be taken over; `/cf deps` proposes some."
        )


def test_the_proposal_is_cleared_by_the_tick_that_finds_nothing_missing():
    one = parked(1, record={"proposed": ((2, 1),), "consent": "wendy"})
    there = parked(2, needs=(1,), record={"own_needs": (1,)})
    told = by_number(plan(a_snapshot(one, there)))
    assert (told[1].record.proposed, told[1].record.consent) == ((), "")
    missing_ = by_number(plan(a_snapshot(one, parked(2))))
    assert (missing_[1].record.proposed, missing_[1].record.consent) == (((2, 1),), "wendy")
    assert missing_[2].record.own_needs == (1,)
    waiting = by_number(plan(a_snapshot(parked(1, record={"proposed": ((2, 1),)}), there)))
    assert waiting[1].record.proposed == ((2, 1),)


def test_a_need_that_was_taken_over_holds_in_the_same_tick():
    one = parked(1, record={"proposed": ((2, 1),), "consent": "wendy"})
    told = by_number(plan(a_snapshot(one, a_task(2))))
    assert told[2].reason == "waiting on #1"


class TestMissing:
    def test_of_what_is_wanted_only_what_may_be(self):
        board = Board(a_snapshot(parked(1), parked(2, needs=(1,)), parked(3), parked(4, is_open=False)))
        wanted = ((3, 1), (2, 1), (1, 3), (3, 4), (3, 1), (9, 1))
        assert missing(wanted, board) == ((1, 3),)  # with it, 3 cannot need 1
        assert missing((), board) == ()

    def test_what_a_batch_lent_is_taken_over_for_good(self):
        lent = (Ref("acme/shop", 1),)
        two = replace(parked(2, needs=(1,)), lent=lent)
        assert missing(((2, 1),), Board(a_snapshot(parked(1), two))) == ((2, 1),)
        assert missing(((2, 1),), Board(a_snapshot(parked(1, is_open=False), two))) == ()
        assert missing(((2, 1),), Board(a_snapshot(parked(1), replace(two, lent=())))) == ()


DASHBOARD = an_issue(50, "cf:dashboard", author=BOT)


class TestOnTheDashboard:
    def given(self, *bodies, tasks=None, **fields):
        comments = tuple(a_comment(body, number, issue=50) for number, body in enumerate(bodies, 1))
        tasks = tasks or (parked(1), parked(2))
        return plan(a_snapshot(*tasks, others={50: DASHBOARD}, comments={50: comments}, **fields))

    SAID = proposing(1, 2, t2=(1,))

    def test_it_waits_there_until_somebody_consents(self):
        asked = self.given("/cf deps")
        assert (asked.wants, asked.proposed) == (frozenset({InferNeeds((1, 2))}), Proposed())
        told = self.given("/cf deps", proposals=self.SAID)
        assert told.proposed == Proposed(((2, 1),))
        assert by_number(told)[2].record.own_needs == ()
        auto = self.given("/cf deps", proposals=self.SAID, config=AUTO)
        assert auto.proposed == Proposed(((2, 1),), AUTOMATIC)
        assert by_number(auto)[2].record.own_needs == (1,)

    def test_consent_takes_them_over(self):
        told = self.given("/cf apply", proposed=Proposed(((2, 1),)))
        assert told.proposed == Proposed(((2, 1),), "wendy")
        assert by_number(told)[2].record.own_needs == (1,)
        assert told.responses[0].text.endswith("Taken over, beside the needs that exist.")

    def test_it_is_forgotten_once_all_of_it_is_there(self):
        there = (parked(1), parked(2, needs=(1,)))
        consented = Proposed(((2, 1),), "wendy")
        assert self.given(tasks=there, proposed=consented).proposed == Proposed()
        assert self.given(proposed=consented).proposed == consented
        waiting = Proposed(((2, 1),))
        assert self.given(tasks=there, proposed=waiting).proposed == waiting

    def test_what_is_refused_changes_nothing(self):
        told = self.given("/cf apply")
        assert (told.proposed, told.wants) == (Proposed(), frozenset())
        assert "Not done: no needs wait here" in told.responses[0].text

    def test_while_the_model_is_asked_what_waited_stays(self):
        waiting = Proposed(((2, 1),))
        assert self.given("/cf deps", proposed=waiting).proposed == waiting


class TestOnABatch:
    def given(self, *bodies, tasks=None, record=RECORD, **fields):
        comments = {BATCH: tuple(a_comment(body, n, issue=BATCH) for n, body in enumerate(bodies, 1))}
        batch = a_batch(record=record)
        snapshot = a_snapshot(
            *(tasks or (a_task(1), a_task(2))),
            batches=(batch,),
            others={BATCH: batch.issue},
            comments=comments,
            **fields,
        )
        return plan(snapshot)

    SAID = proposing(1, 2, t2=(1,))

    def test_it_is_kept_in_the_batchs_record(self):
        asked = self.given("/cf deps")
        (step,) = asked.batches
        assert (step.reason, step.wants) == ("needs are being inferred", frozenset({InferNeeds((1, 2))}))
        (step,) = self.given("/cf deps", proposals=self.SAID).batches
        assert step.record.proposed == Proposed(((2, 1),))
        (step,) = self.given("/cf deps", proposals=self.SAID, config=AUTO).batches
        assert step.record.proposed == Proposed(((2, 1),), AUTOMATIC)

    def test_consent_takes_over_what_was_proposed_or_lent(self):
        record = replace(RECORD, proposed=Proposed(((2, 1),)), needs={3: (1,)})
        told = self.given("/cf apply", tasks=(a_task(1), a_task(2), a_task(3)), record=record)
        assert (told.batches[0].record.proposed.consent, told.batches[0].wants) == ("wendy", frozenset())
        assert [by_number(told)[number].record.own_needs for number in (1, 2, 3)] == [(), (1,), (1,)]

    def test_it_is_forgotten_once_all_of_it_is_there(self):
        record = replace(RECORD, proposed=Proposed(((2, 1),), "wendy"))
        there = self.given(tasks=(a_task(1), a_task(2, needs=(1,))), record=record)
        assert there.batches[0].record.proposed == Proposed()
        assert self.given(record=record).batches[0].record.proposed == record.proposed

    def test_nothing_waits(self):
        told = self.given("/cf apply")
        assert told.batches[0].record.proposed == Proposed()
        assert "Not done: no needs wait here" in told.responses[0].text


def test_a_notice_is_posted_once():
    said = proposing(1, 2, t2=(1,))
    task = parked(1, record={"notices": ("deps:7",)})
    decision = TestOnATask().given("/cf deps", task, parked(2), proposals=said)[1]
    assert decision.notices == ()
