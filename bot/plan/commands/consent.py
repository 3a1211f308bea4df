"""Needs that were proposed on the dashboard or on a batch, and who consented to them there."""

from collections.abc import Iterator

from msgspec.structs import replace

from bot.model.batch import BatchRecord
from bot.model.command import Scope
from bot.model.record import Proposed
from bot.model.snapshot import Lookup
from bot.plan.board import Board
from bot.plan.commands.obey import refusal_on
from bot.plan.commands.proposals import consent_to, inferred_among, missing
from bot.plan.facts.batch_controls import BatchView, own_edges
from bot.plan.graph.inference import Edge

_Waiting = tuple[Proposed, frozenset[Lookup]]


def on_dashboard(board: Board) -> _Waiting:
    """What waits on the dashboard after its new commands, and what must be looked up first."""
    proposed = board.snapshot.proposed
    if proposed.consent and not missing(proposed.needs, board):
        proposed = Proposed()
    for number in board.dashboards:
        for ordered in board.comment_commands.given.get(number, ()):
            name = ordered.command.name
            if name not in ("deps", "apply") or refusal_on(Scope.DASHBOARD, ordered, board):
                continue
            if name == "apply":
                proposed = replace(proposed, consent=ordered.author.login)
                continue
            found = inferred_among(None, board)
            if found.wants:
                return board.snapshot.proposed, found.wants
            proposed = Proposed(found.edges, consent_to(found.edges, board))
    return proposed, frozenset()


def on_batch(
    batch_view: BatchView, record: BatchRecord, board: Board
) -> tuple[BatchRecord, frozenset[Lookup]]:
    """The record after `/cf deps` on the batch's issue; what was consented to and is there is forgotten."""
    if record.proposed.consent and not missing(own_edges(record), board):
        record = replace(record, proposed=Proposed())
    for results in batch_view.results:
        if results.ordered.command.name != "deps" or results.refusal:
            continue
        found = inferred_among(batch_view.order.tasks, board)
        if found.wants:
            return record, found.wants
        record = replace(record, proposed=Proposed(found.edges, consent_to(found.edges, board)))
    return record, frozenset()


def consented(proposed: Proposed, board: Board) -> Iterator[Edge]:
    """Every edge that somebody consented to on the dashboard or a batch."""
    if proposed.consent:
        yield from proposed.needs
    for batch_view in board.batch_views.values():
        if batch_view.record.proposed.consent:
            yield from own_edges(batch_view.record)
