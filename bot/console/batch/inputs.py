"""The inputs of `cf-batch.yml` and Actions' own variables, read into one request, or refused naming everything that is wrong."""

import re
from collections.abc import Mapping
from datetime import UTC, datetime

from msgspec import Struct
from msgspec.structs import replace

from bot.model.batch import Order
from bot.model.errors import UsageError
from bot.notation.batch_inputs import read_order
from bot.notation.quoting import quote_line
from bot.notation.tasklists import Numbers, Term, read_tasks

ACTIONS = ("run", "stop", "stop-force", "resume", "resume-force", "approve", "spec")

_EVER = datetime(1970, 1, 1, tzinfo=UTC)


class Request(Struct, frozen=True):
    """What is asked for, already judged. `order` (for run) has no tasks and no time yet; `target` is a batch issue's number.

    `actors` are who asks, of a re-run also who asked first; `again`: an earlier attempt of this run may have written something.
    `terms` name tasks, `excluded` those that are left out of an approval.
    """

    action: str
    actors: tuple[str, ...]
    run: int
    again: bool
    terms: tuple[Term, ...] = ()
    excluded: tuple[int, ...] = ()
    order: Order | None = None
    target: int = 0

    @property
    def force(self) -> bool:
        return self.action.endswith("-force")


def read_request(environ: Mapping[str, str]) -> Request:
    """The request in the environment. Raises UsageError naming everything that is wrong, or not there yet."""
    given = {
        key.removeprefix("CF_BATCH_").lower(): value.strip()
        for key, value in environ.items()
        if key.startswith("CF_BATCH_")
    }
    action = given.get("action") or "run"
    actors = tuple(
        dict.fromkeys(filter(None, (environ.get("GITHUB_TRIGGERING_ACTOR"), environ.get("GITHUB_ACTOR"))))
    )
    run_id = environ.get("GITHUB_RUN_ID", "")
    problems: list[str] = []
    if action not in ACTIONS:
        problems.append(f"the action must be one of {', '.join(ACTIONS)} and is `{quote_line(action, 40)}`")
    elif action == "spec":
        problems.append("the action `spec` is not there yet")
    if not actors:
        problems.append(
            "GITHUB_ACTOR does not say who asks (at a shell: `cf batch run`, see `cf batch --help`)"
        )
    if not re.fullmatch("[1-9][0-9]{0,18}", run_id, re.ASCII):
        problems.append("GITHUB_RUN_ID does not say which run asks")
    if problems:
        raise UsageError("; ".join(problems))
    request = Request(action, actors, int(run_id), environ.get("GITHUB_RUN_ATTEMPT") != "1")
    if action == "run":
        return _run(request, given)
    return _approve(request, given) if action == "approve" else _on_batch(request, given)


def _on_batch(request: Request, given: Mapping[str, str]) -> Request:
    target = re.fullmatch("#?([1-9][0-9]{0,9})", given.get("target", ""), re.ASCII)
    if target is None:
        raise UsageError(f"{request.action} needs the number of a batch issue as its target, like 30")
    surplus = [name for name in ("tasks", "options") if given.get(name)]
    if surplus:
        raise UsageError(f"{request.action} takes a target only, and no {' or '.join(surplus)}")
    return replace(request, target=int(target[1]))


def _approve(request: Request, given: Mapping[str, str]) -> Request:
    """Everything in the backlog, or what is named, without the numbers behind `except`."""
    surplus = [name for name in ("target", "options") if given.get(name)]
    if surplus:
        raise UsageError(
            f"approve takes a list of tasks, or nothing for the whole backlog, and no {' or '.join(surplus)}"
        )
    named, *behind = re.split(
        r"(?<![^\s,])except(?![^\s,])", given.get("tasks", ""), maxsplit=1, flags=re.IGNORECASE
    )
    excluded = read_tasks(behind[0]) if behind else ()
    if any(not isinstance(term, Numbers) for term in excluded):
        raise UsageError("tasks: behind `except` stand the numbers of the tasks that are left out")
    numbers = tuple(number for term in excluded if isinstance(term, Numbers) for number in term.numbers)
    return replace(request, terms=read_tasks(named) if named.strip(" ,\n") else (), excluded=numbers)


def _run(request: Request, given: Mapping[str, str]) -> Request:
    problems: list[str] = []
    if given.get("target"):
        problems.append("run takes no target; the tasks go into the list of tasks")
    terms: tuple[Term, ...] = ()
    order = None
    try:
        terms = read_tasks(given.get("tasks", ""))
    except UsageError as error:
        problems.append(str(error))
    try:
        order = read_order(given, request.run, request.actors[0], _EVER)
    except UsageError as error:
        problems.append(str(error))
    if problems:
        raise UsageError("; ".join(problems))
    return replace(request, terms=terms, order=order)
