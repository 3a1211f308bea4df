"""New questions and what becomes of them: answered early, by the supervisor, elsewhere, or put to a person, and then said again."""

from datetime import timedelta

import pytest
from msgspec.structs import replace

from bot.model.advice import Verdict
from bot.model.change import React
from bot.model.config import Blockers, Config, Trust
from bot.model.decision import Notice, Revision, Verb
from bot.model.issue import Account
from bot.model.record import Answer, Blocker
from bot.model.report import Outcome, Question
from bot.model.snapshot import Classify, Permission
from bot.model.status import Status
from bot.notation.questions import (
    answered_text,
    automatic_text,
    pointer_text,
    question_fingerprint,
    question_text,
    reminder_text,
    withdrawn_text,
)
from bot.plan import plan
from tests.builders import (
    NOW,
    STRANGER,
    WRITER,
    a_comment,
    a_record,
    a_report,
    a_run,
    a_running,
    a_snapshot,
    a_task,
    ago,
    an_artifact,
    an_attempt,
    by_number,
    decide,
    jobs,
    settle,
)

AB = Question("Which database shall hold the carts?", ("SQLite", "PostgreSQL"))
MARK = question_fingerprint(AB)
TACTICAL = Question("Should I go on?")
ASKED = Blocker(MARK, AB, ago(minutes=10))
LLM = Config(supervisor="llm")


def asks(question=AB, config=None, **record):
    """The decision when the first attempt of a task ended with this question."""
    return settle(Outcome.BLOCKED, config=config, task=a_running(record_fields=record), question=question)


def blocked(number=1, **record):
    values = {"blocker": ASKED, "attempts": (an_attempt(1, Outcome.BLOCKED),), "next_attempt": 2} | record
    return a_task(number, Status.BLOCKED, record=a_record(number, Status.BLOCKED, **values))


class TestNew:
    def test_a_person_is_asked(self):
        told = asks(asked_in="IC_old")
        assert (told.verb, told.status, told.reason) == (
            Verb.FINISH,
            Status.BLOCKED,
            "cf-1-1 asks a question",
        )
        assert told.record.blocker == Blocker(MARK, AB, NOW)
        assert told.record.asked_in == ""
        text = question_text(AB, told.record, "cf")
        assert told.notices == (Notice("question:cf-1-1", text, question=True),)

    def test_a_rule_answers_what_is_tactical(self):
        told = asks(TACTICAL, not_before=ago(hours=-1), asked_in="IC_old")
        (answer,) = told.record.answers
        assert (answer.question, answer.by, answer.comment, answer.at) == (
            TACTICAL.text,
            "supervisor",
            0,
            NOW,
        )
        assert (told.verb, told.status) == (Verb.FINISH, Status.READY)
        assert told.reason == f"its question was answered by {answer.rule}"
        assert answer.fingerprint == question_fingerprint(TACTICAL)
        assert told.record.automatic == (answer.fingerprint,)
        assert (told.record.blocker, told.record.not_before, told.record.asked_in) == (None, None, "")
        (notice,) = told.notices
        reason = notice.text.partition("`: ")[2].partition("\n")[0]
        assert notice == Notice("question:cf-1-1", automatic_text(TACTICAL, answer, reason), question=True)

    @pytest.mark.parametrize(
        ("automatic", "answered"),
        [((), True), (("a",), True), (("a", "b"), False), ((question_fingerprint(TACTICAL),), False)],
    )
    def test_twice_at_most_and_never_the_same_again(self, automatic, answered):
        assert (asks(TACTICAL, automatic=automatic).status is Status.READY) is answered

    def test_the_model_is_asked_where_it_is_configured(self):
        assert asks(config=LLM).wants == frozenset({Classify(AB)})

    @pytest.mark.parametrize(
        ("words", "options", "taken"),
        [("b", AB.options, "PostgreSQL"), ("use both", AB.options, "use both"), ("b", (), "b")],
    )
    def test_words_that_were_given_while_it_ran_answer_it(self, words, options, taken):
        question = replace(AB, options=options)
        before = Answer("", "too early", "ada", 1, ago(minutes=30))
        given = (
            before,
            Answer("", "first", "ada", 2, ago(minutes=20)),
            Answer("", words, "ada", 3, ago(minutes=5)),
        )
        told = asks(question, answers=given, not_before=ago(hours=-1))
        answer = Answer(question.text, taken, "ada", 3, ago(minutes=5), question_fingerprint(question))
        assert told.record.answers == (*given[:2], answer)
        assert (told.status, told.reason) == (Status.READY, "its question was answered by ada")
        assert (told.record.blocker, told.record.not_before) == (None, None)
        assert told.notices == (Notice("question:cf-1-1", answered_text(question, answer), question=True),)

    def test_words_from_before_the_attempt_or_for_another_question_do_not(self):
        old = Answer("", "words", "ada", 1, ago(minutes=20, seconds=1))
        other = Answer("Another?", "words", "ada", 1, ago(minutes=5))
        assert asks(answers=(old, other)).status is Status.BLOCKED

    def test_a_question_that_was_posted_already_is_not_posted_again(self):
        assert asks(notices=("question:cf-1-1",)).notices == ()


class TestSameElsewhere:
    """The lower number asks in full, and the other points there."""

    def test_two_at_once(self):
        tasks = [a_running(number, run=900 + number) for number in (2, 3)]
        keys = ("cf-2-1", "cf-3-1")
        decisions = by_number(
            plan(
                a_snapshot(
                    *tasks,
                    runs=tuple(a_run(902 + n, key, conclusion="success") for n, key in enumerate(keys)),
                    artifacts=tuple(an_artifact(key, 50 + n, 902 + n) for n, key in enumerate(keys)),
                    reports={
                        50 + n: a_report(Outcome.BLOCKED, key, question=AB) for n, key in enumerate(keys)
                    },
                    jobs={902 + n: jobs(f"#{n + 2}", agent="success", publish="success") for n in (0, 1)},
                )
            )
        )
        first, second = (decisions[number].record.blocker for number in (2, 3))
        assert (first, second) == (Blocker(MARK, AB, NOW), Blocker(MARK, AB, NOW, same_as=2))
        assert decisions[3].notices[0].text == pointer_text(AB, 2, "cf")

    @pytest.mark.parametrize(
        ("others", "points"),
        [
            ((blocked(2),), 2),
            ((blocked(2), blocked(3)), 2),
            ((blocked(2, blocker=replace(ASKED, same_as=3)), blocked(3)), 3),
            ((blocked(2, blocker=replace(ASKED, fingerprint="other")),), 0),
            ((a_task(2, Status.BACKLOG, record=a_record(2, Status.BACKLOG, blocker=ASKED)),), 0),
        ],
    )
    def test_one_that_is_open_already(self, others, points):
        told = by_number(
            plan(
                a_snapshot(
                    a_running(),
                    *others,
                    runs=(a_run(900, conclusion="success"),),
                    artifacts=(an_artifact(),),
                    reports={50: a_report(Outcome.BLOCKED, question=AB)},
                    jobs={900: jobs(agent="success", publish="success")},
                )
            )
        )[1]
        assert told.record.blocker == Blocker(MARK, AB, NOW, same_as=points)

    POINTS = replace(ASKED, same_as=2)

    def test_answered_there_it_is_answered_here(self):
        answers = (
            Answer("q", "old", "tim", 1, NOW, MARK),
            Answer("q", "a", "ada", 2, NOW, MARK, resolved=True),
            Answer("q", "by rule", "supervisor", 0, NOW, MARK, rule="names"),
            Answer("q", "another", "tim", 3, NOW, "other"),
        )
        first = a_task(2, record=a_record(2, Status.READY, answers=answers))
        here = blocked(1, blocker=self.POINTS, asked_in="IC_7", not_before=NOW)
        told = decide(here, others=(first,))
        answer = replace(answers[1], resolved=False)
        assert (told.status, told.reason) == (Status.READY, "answered by ada on #2")
        assert (told.record.answers, told.record.blocker, told.record.not_before) == ((answer,), None, None)
        text = answered_text(AB, answer)
        assert told.revisions == (Revision("IC_7", Notice("question:cf-1-1", text)),)
        assert decide(blocked(1, blocker=self.POINTS), others=(first,)).revisions == ()

    def test_while_it_is_open_there_it_points_there(self):
        told = decide(blocked(1, blocker=self.POINTS), others=(blocked(2),))
        assert (told.verb, told.reason, told.record.blocker) == (
            Verb.HOLD,
            "its question is open",
            self.POINTS,
        )

    def test_where_that_one_is_gone_the_lowest_asks_in_full(self):
        gone = a_task(2, Status.BACKLOG)
        told = decide(
            blocked(1, blocker=self.POINTS, asked_in="IC_7"), others=(gone, blocked(3, blocker=self.POINTS))
        )
        assert told.record.blocker == replace(ASKED, same_as=0)
        assert told.reason == "its question is open"
        (revision,) = told.revisions
        assert revision.notice.text == question_text(AB, told.record, "cf")
        other = decide(
            blocked(3, blocker=self.POINTS, asked_in="IC_8"), others=(blocked(1, blocker=self.POINTS),)
        )
        assert other.record.blocker == replace(ASKED, same_as=1)
        assert other.revisions[0].notice.text == pointer_text(AB, 1, "cf")

    def test_a_task_that_asks_in_full_goes_before_a_lower_one_that_points(self):
        told = decide(
            blocked(3, blocker=replace(ASKED, same_as=9)),
            others=(blocked(1, blocker=replace(ASKED, same_as=9)), blocked(5)),
        )
        assert told.record.blocker == replace(ASKED, same_as=5)


class TestReminders:
    CONFIG = Config(
        blockers=Blockers(timedelta(hours=1), timedelta(hours=3), escalate_to=("org/leads",)),
    )

    def said(self, hours, config=CONFIG, same_as=0, **record):
        blocker = replace(ASKED, asked_at=ago(hours=hours), same_as=same_as)
        others = (blocked(same_as),) if same_as else ()
        return decide(blocked(blocker=blocker, **record), config=config, others=others), blocker

    def test_after_a_while_it_is_said_once_more(self):
        early, _ = self.said(0.5)
        assert (early.notices, early.due) == ((), NOW + timedelta(minutes=30))
        told, blocker = self.said(1)
        text = reminder_text(blocker, ("wendy",), escalated=False)
        assert told.notices == (Notice("remind:cf-1-1", text),)
        assert told.due == NOW + timedelta(hours=2)
        again, _ = self.said(1, notices=("remind:cf-1-1",))
        assert (again.notices, again.due) == ((), NOW + timedelta(hours=2))

    def test_and_then_to_others(self):
        told, blocker = self.said(3, notices=("remind:cf-1-1",))
        text = reminder_text(blocker, ("org/leads",), escalated=True)
        assert (told.notices, told.due) == ((Notice("escalate:cf-1-1", text),), None)
        plain = replace(self.CONFIG, blockers=replace(self.CONFIG.blockers, escalate_to=()))
        assert "@wendy" in self.said(3, plain, notices=("remind:cf-1-1",))[0].notices[0].text
        nobody = self.said(3, plain, notices=("remind:cf-1-1",), approval=None)[0]
        assert nobody.notices[0].text == reminder_text(blocker, (), escalated=True)

    def test_after_a_long_silence_one_comment_is_enough(self):
        told, _ = self.said(9)
        assert [notice.fingerprint for notice in told.notices] == ["escalate:cf-1-1"]
        assert told.record.notices == ("remind:cf-1-1",)
        assert (told.verb, told.reason) == (Verb.HOLD, "its question is open")

    def test_nothing_is_said_where_it_is_switched_off_or_asked_elsewhere(self):
        off = Config(blockers=Blockers(timedelta(0), timedelta(0)))
        told, _ = self.said(99, off)
        assert (told.notices, told.due) == ((), None)
        assert self.said(99, same_as=2)[0].notices == ()


class TestVeto:
    """A reply to an automatic answer."""

    GIVEN = Answer(AB.text, "SQLite", "supervisor", 0, ago(minutes=10), MARK, "names")

    def ready(self, *, status=Status.READY, **record):
        values = {"answers": (self.GIVEN,), "asked_in": "IC_7"} | record
        return a_task(1, status, record=a_record(1, status, **values))

    def said(self, *comments, task=None, **fields):
        return decide(task or self.ready(), comments={1: comments}, **fields)

    def test_it_takes_the_answers_place(self):
        told = self.said(a_comment("No.", 4, at=ago(minutes=3)), a_comment("Take both", 5))
        answer = replace(
            self.GIVEN, answer="No.\n\nTake both", by="wendy", comment=5, at=ago(minutes=2), rule=""
        )
        assert told.record.answers == (answer,)
        assert told.record.acted == (4, 5)
        assert (told.verb, told.status) == (Verb.MOVE, Status.READY)
        assert told.reason == "its automatic answer was taken back by wendy"
        text = withdrawn_text(Question(AB.text), self.GIVEN, answer)
        assert told.revisions == (Revision("IC_7", Notice("question:cf-1-0", text)),)
        assert told.reactions == (React("IC_4", "EYES"), React("IC_5", "EYES"))

    def test_an_attempt_that_runs_with_it_is_ended(self):
        live = a_running(live={"claimed_at": ago(minutes=9)}, record_fields={"answers": (self.GIVEN,)})
        told = self.said(a_comment("Take both"), task=live, runs=(a_run(),))
        assert (told.verb, told.status) == (Verb.CANCEL, Status.READY)

    @pytest.mark.parametrize(
        "comment",
        [
            a_comment("ok"),
            a_comment("Take both", by=STRANGER),
            a_comment("Take both", at=ago(minutes=11)),
            a_comment("why?"),
        ],
    )
    def test_words_that_agree_or_do_not_count_are_no_veto(self, comment):
        assert self.said(comment).start is not None

    def test_who_replied_is_asked_first(self):
        told = self.said(a_comment("Take both", by=Account(9, "new")))
        assert (told.reason, told.wants) == ("who replied is being looked up", frozenset({Permission("new")}))

    @pytest.mark.parametrize(
        "record",
        [
            {"answers": (replace(GIVEN, rule=""),)},
            {"answers": (replace(GIVEN, resolved=True),)},
            {"answers": (GIVEN, replace(GIVEN, rule="", by="ada"))},
            {"attempts": (an_attempt(1, Outcome.INFRA, claimed_at=ago(minutes=9)),)},
            {"answers": ()},
        ],
    )
    def test_only_the_newest_automatic_answer_that_no_attempt_has_used_can_be_taken_back(self, record):
        task = self.ready(**{"next_attempt": 2} | record)
        assert self.said(a_comment("Take both"), task=task).start is not None

    def test_words_for_the_next_attempt_hide_it_not(self):
        words = Answer("", "more words", "ada", 3, ago(minutes=5))
        attempts = (an_attempt(1, Outcome.INFRA, claimed_at=ago(minutes=11)),)
        task = self.ready(answers=(self.GIVEN, words), attempts=attempts, next_attempt=2)
        told = self.said(a_comment("Take both", 5), task=task)
        assert [answer.answer for answer in told.record.answers] == ["more words", "Take both"]

    def test_the_model_is_told_for_later_ticks(self):
        snapshot = a_snapshot(self.ready(), comments={1: (a_comment("Take both"),)})
        reason = "an automatic answer was taken back by wendy"
        assert plan(snapshot).remembered == {MARK: Verdict(reason=reason, vetoed=True)}


def test_what_the_model_answered_is_remembered_and_what_a_rule_did_is_not():
    def remembered(question, **fields):
        snapshot = a_snapshot(
            a_running(),
            runs=(a_run(900, conclusion="success"),),
            artifacts=(an_artifact(),),
            reports={50: a_report(Outcome.BLOCKED, question=question)},
            jobs={900: jobs(agent="success", publish="success")},
            **fields,
        )
        return plan(snapshot).remembered

    verdicts = {AB: Verdict("SQLite", "it is small")}
    known = Verdict("SQLite", "the model answered it before")
    assert remembered(AB, config=LLM, verdicts=verdicts) == {MARK: known}
    assert remembered(TACTICAL) == {}
    assert remembered(AB) == {}


@pytest.mark.parametrize(("permission", "counts"), [("write", True), ("triage", True), ("maintain", False)])
def test_an_edited_reply_counts_only_where_all_who_can_edit_it_may_answer(permission, counts):
    comment = replace(a_comment("B"), updated_at=NOW)
    config = Config(trust=Trust(permission=permission))
    permissions = {"wendy": "admin"}
    told = decide(blocked(), comments={1: (comment,)}, config=config, permissions=permissions)
    assert (told.status is Status.READY) is counts
    plain = decide(
        blocked(), comments={1: (a_comment("B", by=WRITER),)}, config=config, permissions=permissions
    )
    assert plain.status is Status.READY
