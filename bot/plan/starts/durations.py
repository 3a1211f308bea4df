"""How long each open task is expected to take, from its estimate and from what passed before."""

from datetime import timedelta

from bot.model.record import Record
from bot.model.report import NO_FAULT, Outcome
from bot.plan.board import Board, Item
from bot.plan.facts.record_edits import last_attempt
from bot.plan.graph.order import Candidate, History, expected_durations


def durations_of(board: Board) -> dict[int, timedelta]:
    """The expected duration of every open task, by number."""
    tasks = [candidate_of(item) for item in board.items if item.task.issue.is_open]
    return expected_durations(tasks, _history(board))


def candidate_of(item: Item) -> Candidate:
    """What ordering wants to know about the task."""
    task = item.task
    return Candidate(
        task.number,
        task.priority,
        task.issue.created_at,
        task.category,
        task.estimate,
        _is_continued(item.record),
    )


def _is_continued(record: Record) -> bool:
    """Work that was begun and interrupted, or whose question was answered."""
    last = last_attempt(record)
    return last is not None and (last.outcome is Outcome.BLOCKED or last.outcome in NO_FAULT)


def _history(board: Board) -> History:
    return History.of(
        (item.task.category, timedelta(minutes=attempt.minutes))
        for item in board.items
        for attempt in item.record.attempts
        if attempt.outcome is Outcome.PASSED and attempt.minutes > 0
    )
