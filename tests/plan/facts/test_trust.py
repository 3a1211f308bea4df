"""Who may order, and whether an order still stands (SEC-06, SEC-17)."""

from datetime import timedelta

import pytest
from msgspec.structs import replace

from bot.github import documents
from bot.model.config import Config, Trust
from bot.model.issue import EDITS_SEEN, EVENTS_SEEN, GHOST, Account, EventKind
from bot.model.record import Approval
from bot.model.snapshot import Permission
from bot.model.status import Status
from bot.notation.digests import text_digest
from bot.plan import plan
from bot.plan.facts.trust import (
    Unapproved,
    Unknown,
    edits_since,
    judge_order,
    may_label,
    may_order,
    rank,
    sees_all_since,
)
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
    an_issue,
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


def judge(*events, record=None, author=WRITER, **fields):
    task = a_task(1, Status.READY, events=events, author=author, **({"record": record} if record else {}))
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


@pytest.mark.parametrize(
    ("by", "apps", "starts"),
    [
        (OTHER_BOT, (), False),
        (OTHER_BOT, ("helper",), True),
        (BOT, ("github-actions",), False),
        (WRITER, (), True),
    ],
)
def test_sec_17_a_model_cannot_approve_work(by, apps, starts):
    """An app's label counts only where the configuration names the app, and our own never by itself."""
    task = a_task(1, Status.READY, events=(labelled("cf:ready", by),))
    (decision,) = plan(a_snapshot(task, config=Config(trust=Trust(apps=apps)))).decisions
    # An own account may be named among the apps by mistake: it is still the one that restores labels, so it orders nothing.
    assert (decision.start is not None) is starts


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


def reordered(*events, title="Task 1", digest=None, config=None, **issue):
    """The verdict on an order in the record, of an hour ago."""
    approval = replace(an_approval(an_issue(1)), digest=digest or text_digest("Task 1", ""))
    task = a_task(1, Status.READY, record=a_record(1, approval=approval), events=events, title=title, **issue)
    return judge_order(task, task.record, a_snapshot(task, config=config))


def test_sec_06_a_text_that_changed_without_a_visible_edit_is_not_approved():
    """The history tells only so much: what nobody can be seen to have changed is asked about once more."""
    assert isinstance(reordered(), Approval)
    verdict = reordered(title="Delete everything")
    assert isinstance(verdict, Unapproved)
    assert "who changed it cannot be seen" in verdict.reason
    assert verdict.changed_at is not None
    seen = reordered(happened(EventKind.RENAMED, WRITER, ago(minutes=5)), title="Better")
    assert isinstance(seen, Approval)
    assert seen.digest == text_digest("Better", "")


def test_sec_06_an_edit_that_was_pushed_out_of_sight_does_not_pass():
    """Somebody renames the issue and closes and reopens it until the renaming is not among the newest events."""
    kinds = (EventKind.CLOSED, EventKind.REOPENED)
    noise = tuple(happened(kinds[i % 2], STRANGER, ago(minutes=5, seconds=-i)) for i in range(EVENTS_SEEN))
    allowed = happened(EventKind.EDITED, WRITER, ago(minutes=1))
    assert isinstance(reordered(*noise, allowed, title="Delete everything"), Unapproved)
    assert isinstance(reordered(*noise, allowed), Approval), "the text is the approved one"
    whole = (labelled("cf:ready", BOT, ago(hours=2)), *noise[1:], allowed)
    assert isinstance(reordered(*whole, title="Better"), Approval)


def test_sec_06_more_edits_than_are_read_do_not_pass():
    edits = tuple(happened(EventKind.EDITED, WRITER, ago(minutes=50, seconds=-i)) for i in range(EDITS_SEEN))
    assert isinstance(reordered(*edits, title="Better"), Unapproved)
    order = labelled("cf:ready", WRITER, ago(minutes=55))
    assert isinstance(judge(order, *edits), Unapproved)
    assert isinstance(judge(*edits, labelled("cf:ready", WRITER, ago(minutes=1))), Approval)


def test_an_outsiders_edit_in_the_second_of_the_order_is_asked_about():
    order = labelled("cf:ready", WRITER, ago(minutes=5))
    assert isinstance(judge(order, happened(EventKind.EDITED, STRANGER, ago(minutes=5))), Unapproved)
    assert isinstance(judge(order, happened(EventKind.EDITED, WRITER, ago(minutes=5))), Approval)


def test_sec_07_an_approval_is_bound_to_the_digest_that_our_queries_ask_for():
    """The limits that the rule reckons with are those that are read."""
    assert f"last: {EVENTS_SEEN}\n" in documents.task(edges=False)
    assert f"userContentEdits(first: {EDITS_SEEN})" in documents.task(edges=False)


@pytest.mark.parametrize(
    ("author", "edits", "approved"),
    [
        (WRITER, (), True),
        (STRANGER, (), False),
        (TRIAGER, (), False),
        (GHOST, (), False),
        (OTHER_BOT, (), False),
        (BOT, (), True),
        (STRANGER, (WRITER,), True),
        (STRANGER, (WRITER, STRANGER), False),
        (WRITER, (STRANGER,), False),
    ],
)
def test_with_authors_writers_the_text_must_be_a_writers(author, edits, approved):
    """By default the label of a writer approves the text, whoever wrote it."""
    changes = [happened(EventKind.EDITED, by, ago(minutes=30 - i)) for i, by in enumerate(edits)]
    order = labelled("cf:ready", WRITER, ago(minutes=1))
    strict = Config(trust=Trust(authors="writers"))
    verdict = judge(*changes, order, author=author, config=strict)
    assert isinstance(verdict, Approval if approved else Unapproved)
    assert isinstance(judge(*changes, order, author=author), Approval)
    if isinstance(verdict, Unapproved):
        assert "trust.authors: writers" in verdict.reason


def test_who_wrote_the_text_is_asked_for():
    strict = Config(trust=Trust(authors="writers"))
    verdict = judge(labelled("cf:ready"), author=NEWCOMER, config=strict)
    assert verdict == Unknown(frozenset({Permission("new")}))


def test_api_10_a_deleted_account_is_nobody_and_its_issue_can_be_ordered():
    assert isinstance(judge(labelled("cf:ready"), author=GHOST), Approval)
    assert isinstance(judge(labelled("cf:ready", GHOST)), Unapproved)
    assert isinstance(
        judge(labelled("cf:ready"), happened(EventKind.EDITED, GHOST, ago(minutes=1))), Unapproved
    )


def test_whether_every_edit_since_then_can_be_seen():
    since = ago(minutes=5)

    def edits(count, first):
        return tuple(happened(EventKind.EDITED, WRITER, first + timedelta(seconds=i)) for i in range(count))

    def others(count, first):
        return tuple(happened(EventKind.RENAMED, WRITER, first + timedelta(seconds=i)) for i in range(count))

    before = since - timedelta(hours=1)
    assert sees_all_since(since, ())
    assert sees_all_since(since, edits(EDITS_SEEN - 1, since))
    assert sees_all_since(since, edits(EDITS_SEEN, before))
    last = since - timedelta(seconds=EDITS_SEEN - 1)
    assert not sees_all_since(since, edits(EDITS_SEEN, last))
    assert sees_all_since(since, edits(EDITS_SEEN, last - timedelta(seconds=1)))
    assert sees_all_since(since, others(EVENTS_SEEN - 1, since + timedelta(seconds=1)))
    assert sees_all_since(since, others(EVENTS_SEEN, since))
    assert not sees_all_since(since, others(EVENTS_SEEN, since + timedelta(seconds=1)))


def test_an_edit_in_the_second_of_an_approval_counts_as_later():
    approval = Approval("wendy", ago(minutes=5) + timedelta(milliseconds=900), "d")
    edits = [happened(EventKind.EDITED, WRITER, ago(minutes=5, seconds=-second)) for second in (-1, 0, 1)]
    assert edits_since(approval, tuple(edits)) == edits[1:]
