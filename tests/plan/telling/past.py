"""Attempts that are over, for those who look back on them."""

from bot.model.report import Outcome
from bot.model.status import Status
from tests.builders import a_record, a_running, a_task, an_attempt

PASSED, FAILED = Outcome.PASSED, Outcome.FAILED


def a_past(number, *attempts, **fields):
    record = a_record(number, Status.DONE, attempts=attempts, next_attempt=len(attempts) + 1)
    return a_task(number, Status.DONE, record=record, **fields)


def made(number, outcome, engine="codex", **fields):
    values = {"run": 800 + number, "minutes": 10.0, "tokens": 1000, "usd": 0.5, "gates": 2} | fields
    return an_attempt(number, outcome, engine=engine, **values)


TASKS = (
    a_past(
        1,
        made(1, FAILED, gates_passed=1, rounds=2),
        made(2, PASSED, gates_passed=2, rounds=1),
        category="api",
    ),
    a_past(2, made(1, PASSED, gates_passed=2, minutes=4.2), category="api"),
    a_past(3, made(1, PASSED, "aider", model="m1", gates=0), made(2, Outcome.INFRA)),
    a_running(4, run=904),
)
