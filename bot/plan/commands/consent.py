"""Needs that were proposed on the dashboard or on a batch, and who consented to them there."""

from collections.abc import Iterator

from msgspec.structs import replace

from bot.model.batch import BatchRecord
from bot.model.command import Place
from bot.model.record import Proposed
from bot.model.snapshot import Lookup
from bot.plan.board import Board
from bot.plan.commands.obey import refusal_on
from bot.plan.commands.proposals import consent_to, inferred_among, missing
from bot.plan.facts.batch_controls import Course, own_edges
from bot.plan.graph.inference import Edge

_Waiting = tuple[Proposed, frozenset[Lookup]]


def on_dashboard(board: Board) -> _Waiting:
    """What waits on the dashboard after its new commands, and what must be looked up first."""
    proposed = board.snapshot.proposed
    if proposed.consent and not missing(proposed.needs, board):
        proposed = Proposed()
    for number in board.dashboards:
        for ordered in board.orders.given.get(number, ()):
            name = ordered.command.name
            if name not in ("deps", "apply") or refusal_on(Place.DASHBOARD, ordered, board):
                continue
            if name == "apply":
                proposed = replace(proposed, consent=ordered.author.login)
                continue
            found = inferred_among(None, board)
            if found.wants:
                return board.snapshot.proposed, found.wants
            proposed = Proposed(found.edges, consent_to(found.edges, board))
    return proposed, frozenset()


def on_batch(course: Course, record: BatchRecord, board: Board) -> tuple[BatchRecord, frozenset[Lookup]]:
    """The record after `/cf deps` on the batch's issue; what was consented to and is there is forgotten."""
    if record.proposed.consent and not missing(own_edges(record), board):
        record = replace(record, proposed=Proposed())
    for heard in course.heard:
        if heard.ordered.command.name != "deps" or heard.refusal:
            continue
        found = inferred_among(course.order.tasks, board)
        if found.wants:
            return record, found.wants
        record = replace(record, proposed=Proposed(found.edges, consent_to(found.edges, board)))
    return record, frozenset()


def consented(proposed: Proposed, board: Board) -> Iterator[Edge]:
    """Every edge that somebody consented to on the dashboard or a batch."""
    if proposed.consent:
        yield from proposed.needs
    for course in board.courses.values():
        if course.record.proposed.consent:
            yield from own_edges(course.record)
