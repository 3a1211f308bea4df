"""Who may order, and whether an order still stands (SEC-06, SEC-17)."""

import pytest

from bot.model.config import Config, Trust
from bot.model.issue import GHOST, Account, EventKind
from bot.model.record import Approval
from bot.model.snapshot import Permission
from bot.model.status import Status
from bot.notation.digests import text_digest
from bot.plan.trust import Unapproved, Unknown, judge_order, may_label, may_order, rank
from tests.builders import (
    BOT,
    OTHER_BOT,
    STRANGER,
    WRITER,
    a_record,
    a_snapshot,
    a_task,
    ago,
    an_approval,
    happened,
    labelled,
)

TRIAGER, ADMIN, NEWCOMER = Account(5, "tim"), Account(6, "ada"), Account(7, "new")


@pytest.mark.parametrize(
    ("account", "allowed"),
    [
        (WRITER, True),
        (ADMIN, True),
        (TRIAGER, False),
        (STRANGER, False),
        (GHOST, False),
        (BOT, False),
        (OTHER_BOT, False),
    ],
)
def test_writers_may_order_and_nobody_else(account, allowed):
    assert may_order(account, a_snapshot()) is allowed


def test_a_permission_that_is_not_known_is_asked_for():
    assert may_order(NEWCOMER, a_snapshot()) == Unknown(frozenset({Permission("new")}))
    assert may_order(NEWCOMER, a_snapshot(permissions={"new": "none"})) is False


def test_nobody_asks_about_bots_and_deleted_accounts():
    for account in (GHOST, BOT, OTHER_BOT):
        assert may_order(account, a_snapshot(permissions={})) is False


@pytest.mark.parametrize(("permission", "allowed"), [("triage", True), ("write", False), ("admin", False)])
def test_the_permission_needed_is_configured(permission, allowed):
    snapshot = a_snapshot(config=Config(trust=Trust(permission=permission)))
    assert may_order(TRIAGER, snapshot) is allowed
    assert may_order(ADMIN, snapshot) is True


def test_an_ignored_account_counts_as_a_bot():
    assert may_order(WRITER, a_snapshot(config=Config(trust=Trust(ignore=("Wendy",))))) is False


def test_a_trusted_app_may_label_but_not_order_and_no_person_of_its_name_may():
    snapshot = a_snapshot(config=Config(trust=Trust(apps=("helper",))), permissions={"helper": "read"})
    assert may_label(OTHER_BOT, snapshot) is True
    assert may_order(OTHER_BOT, snapshot) is False
    assert may_label(Account(77, "helper"), snapshot) is False
    assert may_label(OTHER_BOT, a_snapshot()) is False


def test_ranks_are_in_order_and_the_unknown_is_nothing():
    levels = ["none", "read", "triage", "write", "maintain", "admin"]
    assert sorted(levels, key=rank) == levels
    assert rank("owner") == rank("") == 0


def judge(*events, record=None, **fields):
    task = a_task(1, Status.READY, events=events, **({"record": record} if record else {}))
    return judge_order(task, task.record, a_snapshot(**fields))


TEXT = text_digest("Task 1", "")


def test_a_writers_label_approves_the_text_as_it_stands():
    assert judge(labelled("cf:ready", at=ago(hours=1))) == Approval("wendy", ago(hours=1), TEXT)
    assert judge(labelled("CF:Ready")) == Approval("wendy", ago(hours=1), TEXT)


@pytest.mark.parametrize("by", [STRANGER, TRIAGER, OTHER_BOT, GHOST])
def test_the_label_of_anybody_else_approves_nothing(by):
    assert isinstance(judge(labelled("cf:ready", by)), Unapproved)
    assert isinstance(judge(labelled("cf:ready", at=ago(hours=2)), labelled("cf:ready", by)), Unapproved)


def test_our_own_label_only_restores_what_a_person_had_approved():
    assert isinstance(judge(labelled("cf:ready", BOT)), Unapproved)
    kept = judge(labelled("cf:ready", BOT), record=a_record())
    assert kept == Approval("wendy", ago(hours=1), TEXT)


def test_no_label_event_at_all_is_no_order():
    assert isinstance(judge(), Unapproved)
    assert isinstance(judge(labelled("cf:backlog")), Unapproved)


@pytest.mark.parametrize("kind", [EventKind.EDITED, EventKind.RENAMED])
@pytest.mark.parametrize("by", [STRANGER, TRIAGER, OTHER_BOT, GHOST])
def test_an_edit_without_permission_after_the_order_withdraws_it(kind, by):
    order = labelled("cf:ready", at=ago(hours=2))
    verdict = judge(order, happened(kind, by, ago(hours=1)))
    assert isinstance(verdict, Unapproved)
    assert verdict.changed_at is not None
    assert not isinstance(judge(order, happened(kind, by, ago(hours=3))), Unapproved)
    assert not isinstance(
        judge(happened(kind, by, ago(hours=1)), labelled("cf:ready", at=ago(minutes=1))), Unapproved
    )


def test_an_edit_by_a_writer_or_by_us_does_not():
    order = labelled("cf:ready", at=ago(hours=2))
    for by in (WRITER, ADMIN, BOT):
        assert judge(order, happened(EventKind.EDITED, by)) == Approval("wendy", ago(hours=2), TEXT)


def test_a_strangers_edit_outweighs_one_that_is_not_known_yet():
    order = labelled("cf:ready", at=ago(hours=2))
    edits = (happened(EventKind.EDITED, NEWCOMER), happened(EventKind.EDITED, STRANGER))
    assert isinstance(judge(order, *edits), Unapproved)
    assert judge(order, edits[0]) == Unknown(frozenset({Permission("new")}))


def test_an_approval_of_a_reopening_is_newer_than_an_old_label():
    record = a_record(approval=an_approval(a_task().issue, "ada", ago(minutes=5)))
    assert (
        judge(labelled("cf:ready"), labelled("cf:ready", BOT, ago(minutes=4)), record=record)
        == record.approval
    )
