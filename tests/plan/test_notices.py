"""Hints beside a decision: said once, and nothing is written over what cannot be read."""

from bot.model.status import Status
from tests.builders import BOT, OTHER_BOT, STRANGER, a_comment, a_record, a_task, decide, words_of


def test_dep_16_a_declaration_in_a_comment_earns_one_hint_if_its_author_may_order():
    said = {"comments": {1: (a_comment("depends on #6"),)}}
    decision = decide(a_task(1, Status.BACKLOG), **said)
    assert "description only" in words_of(decision)
    assert not decide(a_task(1, Status.BACKLOG, record=a_record(notices=("misplaced",))), **said).notices
    for by in (STRANGER, BOT, OTHER_BOT):
        assert not decide(
            a_task(1, Status.BACKLOG), comments={1: (a_comment("depends on #6", by=by),)}
        ).notices


def test_nothing_is_written_over_a_record_that_cannot_be_read():
    task = a_task(1, Status.BLOCKED, record_problem="unreadable")
    decision = decide(task, comments={1: (a_comment("depends on #6"),)})
    assert (decision.record, decision.notices, decision.wants) == (task.record, (), frozenset())
