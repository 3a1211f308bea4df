"""`cf sandbox`: the whole bot on this machine, with a make-believe GitHub, on the demo's repository or on one of your own."""

import argparse
import errno
import shutil
import signal
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, NoReturn

from bot.model.engine import COMMAND, ENGINES
from bot.model.errors import UsageError
from bot.notation.duration import DurationError, read_duration
from bot.printing import complain, say, terminal

if TYPE_CHECKING:
    from bot.sandbox.demo import Check
    from bot.sandbox.play.issue_list import IssuePlan
    from bot.sandbox.play.repository import Prepared
    from bot.sandbox.play.session import Ended
    from bot.sandbox.play.task_states import Facts, TaskFacts

_DEMO_TIME = timedelta(minutes=5)
_OWN_TIME = timedelta(minutes=30)
_INTERRUPTED = 130

_EPILOG = """\
the demo: a small project, seven issues, a scripted maintainer, and an agent that is a script
  cf sandbox demo
  cf sandbox demo --keep-open            afterwards, read issues, comments, pull requests and runs in a browser

your own repository (it is cloned and never touched), your issues, your agent
  cf sandbox --repo . --issues issues.yml --engine command --run './agent.sh' --gate 'tests=make test'

  cf sandbox --repo . --issues issues.yml --engine claude-code --gate 'tests=make test'

  The model's key comes from your own environment, by the name of its secret: $ANTHROPIC_API_KEY, $OPENAI_API_KEY and so on.
  With the engine command an agent is any command line. It finds its task in the file that $CF_PROMPT_FILE names and changes the
  files of the folder it is started in. A question for a person goes to $CF_QUESTION_FILE. Its key is $CF_MODEL_KEY.

the issues file, a YAML list; only `title` is required
  - title: Add a login page
    body: Where the name and the password go.
    labels: [area:web]                   without a status label, cf:ready is added
  - title: Send a welcome mail
    id: mail                             to be named in needs
    needs: [1]                           numbers in this file's order, or ids; written as text
    blocked_by: [1]                      the same, as a native edge
    answer: Use SMTP.                    the maintainer's reply if the agent asks
    close_after: 10s                     closed as not planned, so long after its agent began

exit code: 0 if everything ended merged or dropped (with --merge none: proven), 1 if something did not, 2 for bad input
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """The options of `cf sandbox`."""
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.epilog = _EPILOG
    parser.add_argument("what", nargs="?", choices=["demo"], help="play the demo")
    own = parser.add_argument_group("your own repository")
    own.add_argument(
        "--repo", metavar="PATH", type=Path, help="a git repository; the committed state of HEAD is cloned"
    )
    own.add_argument("--issues", metavar="FILE", type=Path, help="the issues to open, as YAML (see below)")
    own.add_argument(
        "--engine",
        choices=sorted(ENGINES),
        default=COMMAND,
        help="which agent works (default: command, any command line)",
    )
    own.add_argument(
        "--run", dest="agent", metavar="CMD", help="for command: the agent's command line, run by bash"
    )
    own.add_argument("--model", metavar="NAME", help="its model (default: as configured, else its own)")
    own.add_argument("--provider", metavar="NAME", help="who serves the model (default: by engine or model)")
    own.add_argument(
        "--base-url", metavar="URL", help="where the model's API is (default: the provider's own address)"
    )
    own.add_argument(
        "--installed", action="store_true", help="the agent's program is on the PATH: install nothing"
    )
    own.add_argument(
        "--gate",
        action="append",
        default=[],
        metavar="NAME=CMD",
        help="a command that must exit 0 for work to be proven; may be repeated (default: those of .github/cf.yml)",
    )
    own.add_argument(
        "--merge",
        choices=["auto-by-maintainer", "none"],
        default="auto-by-maintainer",
        help="whether the scripted maintainer merges what is proven (default: auto-by-maintainer)",
    )
    own.add_argument(
        "--max-parallel",
        type=int,
        metavar="N",
        help="how many agents run at once (default: as configured, else 4)",
    )
    both = parser.add_argument_group("both")
    both.add_argument(
        "--timeout",
        metavar="TIME",
        help="give up after so long, such as 10m (default: 5m for the demo, else 30m)",
    )
    both.add_argument(
        "--port", type=int, default=0, help="where the make-believe GitHub answers (default: any free port)"
    )
    both.add_argument(
        "--keep", action="store_true", help="keep the folder with the repository, and the jobs' logs"
    )
    both.add_argument("--keep-open", action="store_true", help="go on answering at the end, until Ctrl-C")


def run(args: argparse.Namespace, environ: Mapping[str, str]) -> int:
    """Play it to the end; the exit code of the account. Raises UsageError for bad input, before anything is started."""
    order = _order(args)
    _require_machine()
    with _interruptible():
        try:
            return _play(order, environ)
        except KeyboardInterrupt:
            complain("cf: ended on request; everything that was started has been ended")
            return _INTERRUPTED


@dataclass(frozen=True, slots=True)
class _Asked:
    """The command line, checked. `repo` is None for the demo."""

    plans: "tuple[IssuePlan, ...]"
    repo: Path | None
    engine: str
    said: Mapping[str, object]
    gates: tuple[tuple[str, str], ...]
    merges: bool
    max_parallel: int | None
    timeout: timedelta
    port: int
    keep: bool
    keep_open: bool


def _order(args: argparse.Namespace) -> _Asked:
    from bot.sandbox.demo import demo_issues
    from bot.sandbox.play.issue_list import load_issues

    own = {"--repo": args.repo, "--issues": args.issues}
    if args.engine == COMMAND or args.agent is not None:
        own["--run"] = args.agent
    said = {"model": args.model, "provider": args.provider, "base_url": args.base_url}
    if args.what == "demo":
        given = {**own, "--gate": args.gate or None, "--model": args.model, "--base-url": args.base_url}
        extra = [name for name, value in given.items() if value is not None]
        if extra:
            raise UsageError(f"{extra[0]}: is for a repository of your own; leave out either it or `demo`")
        plans = demo_issues()
    else:
        missing = [name for name, value in own.items() if value is None]
        if len(missing) == len(own):
            raise UsageError(
                "nothing to do: say `cf sandbox demo`, or give --repo, --issues and --run or --engine; see `cf sandbox --help`"
            )
        if missing:
            raise UsageError(
                f"{missing[0]} is missing: a repository of your own needs --repo, --issues and --run or --engine"
            )
        if args.engine != COMMAND and args.agent is not None:
            raise UsageError(f"--run: is for the engine command; {args.engine} has a program of its own")
        if args.engine == COMMAND and not args.agent.strip():
            raise UsageError("--run: must be a command line, found an empty one")
        plans = load_issues(args.issues)
    if args.max_parallel is not None and not 1 <= args.max_parallel <= 64:
        raise UsageError(f"--max-parallel: must be from 1 to 64, found {args.max_parallel}")
    if not 0 <= args.port <= 65535:
        raise UsageError(f"--port: must be from 0 to 65535, found {args.port}")
    return _Asked(
        plans,
        args.repo.resolve() if args.repo else None,
        args.engine,
        {
            **({"args": args.agent} if args.agent else {}),
            **({"install": []} if args.installed else {}),
            **{name: value for name, value in said.items() if value is not None},
        },
        tuple(_gate(text) for text in args.gate),
        args.merge != "none",
        args.max_parallel,
        _timeout(args.timeout, _OWN_TIME if args.repo else _DEMO_TIME),
        args.port,
        args.keep,
        args.keep_open,
    )


def _gate(text: str) -> tuple[str, str]:
    name, found, command = text.partition("=")
    if not found or not name.strip() or not command.strip():
        raise UsageError(f"--gate: must be NAME=COMMAND, such as 'tests=make test', found {text!r}")
    return name.strip(), command.strip()


def _timeout(text: str | None, otherwise: timedelta) -> timedelta:
    if text is None:
        return otherwise
    try:
        span = read_duration(text)
    except DurationError as error:
        raise UsageError(f"--timeout: {error}") from error
    if not span:
        raise UsageError("--timeout: must be longer than 0")
    return span


def _require_machine() -> None:
    """Raise UsageError naming what this machine lacks."""
    if sys.platform != "linux":
        raise UsageError(
            f"the sandbox needs Linux, because it ends what it starts by what /proc says; this is {sys.platform}"
        )
    if shutil.which("git") is None:
        raise UsageError("the sandbox needs git, and there is none on the PATH")
    try:
        import graphql  # noqa: F401 - only whether the extra is installed is asked here
        import rich  # noqa: F401
        import starlette  # noqa: F401
        import uvicorn  # noqa: F401

        from bot.sandbox.actions.engine import find_act

        find_act()
    except ImportError as error:
        raise UsageError(
            f"the sandbox needs {error.name}: install it with `pip install 'cf-conductor[sandbox]'`"
        ) from error
    except FileNotFoundError as error:
        raise UsageError(str(error)) from error


def _play(order: _Asked, environ: Mapping[str, str]) -> int:
    from bot.sandbox.play.screen import screen
    from bot.sandbox.play.session import keep_logs, open_sandbox, play, sandbox_folder

    with ExitStack() as stack:
        folder = stack.enter_context(sandbox_folder(keep=order.keep, say=print))
        prepared = _prepare(order, folder)
        _require_engine(prepared, environ)
        try:
            sandbox = stack.enter_context(open_sandbox(_name(order), prepared, environ, port=order.port))
        except OSError as error:
            if error.errno not in (errno.EADDRINUSE, errno.EACCES):
                raise
            raise UsageError(f"--port {order.port}: cannot be used: {error.strerror}") from error
        world = sandbox.world
        if order.keep:
            stack.callback(keep_logs, world, folder)
        say(f"The make-believe GitHub: {sandbox.page}")
        for name in sandbox.foreign:
            say(f".github/workflows/{name} is left alone: only the conductor's workflows run here")
        began = world.now
        with screen(began, lambda: world.now) as shown:
            ended = play(sandbox, order.plans, shown, merges=order.merges, timeout=order.timeout)
        code = _account(order, ended)
        say(f"\nTook {_seconds(world.now - began)}.")
        if order.keep_open:
            say(f"Still answering: {sandbox.page}\nCtrl-C ends it.")
            with suppress(KeyboardInterrupt):
                _wait_for_interrupt()
        else:
            say(
                "With --keep-open the pages stay: issues, comments, pull requests and runs, to be read in a browser."
            )
        return code


def _require_engine(prepared: "Prepared", environ: Mapping[str, str]) -> None:
    """Raise UsageError naming what the agent lacks: no task could start, and everybody would wait for nothing."""
    from bot.model.engine import SECRETS, RepositorySettings
    from bot.plan.facts.engines import choose_engine

    settings = RepositorySettings(secrets={name: bool(environ.get(name)) for name in SECRETS})
    choice = choose_engine(prepared.config, (), settings)
    if choice.problem and settings.secrets.get(choice.secret) is False:
        raise UsageError(f"the engine {choice.engine} needs its key: set {choice.secret} in your environment")
    if choice.problem:
        raise UsageError(choice.problem)


def _prepare(order: _Asked, folder: Path) -> "Prepared":
    from bot.sandbox.demo import demo_project
    from bot.sandbox.play.repository import Wishes, from_folder, from_repository

    place = folder / f"{_name(order)}.git"
    place.parent.mkdir(parents=True)
    if order.repo is None:
        with demo_project() as source:
            return from_folder(source, place, folder / "scratch")
    wishes = Wishes(order.engine, order.said, order.gates, order.max_parallel)
    return from_repository(order.repo, place, folder / "scratch", wishes)


def _name(order: _Asked) -> str:
    from bot.sandbox.demo import REPOSITORY

    if order.repo is None:
        return REPOSITORY
    kept = "".join(
        char if char.isascii() and (char.isalnum() or char in "-_.") else "-" for char in order.repo.name
    )
    return f"sandbox/{kept.strip('.-') or 'repository'}"


def _account(order: _Asked, ended: "Ended") -> int:
    """Table, graph, and what did not end as it should; the exit code."""
    from bot.sandbox.demo import checks
    from bot.sandbox.play.needs_graph import mermaid
    from bot.sandbox.play.screen import console_for, task_table

    say()
    console_for(terminal()).print(task_table(ended.facts))
    say(f"\n```mermaid\n{mermaid(ended.facts.tasks)}\n```\n")
    shown: Sequence[Check] = checks(ended.facts) if order.repo is None else ()
    for check in shown:
        say(f"{'✓' if check.holds else '✗'} {check.says}")
    wrong = [f"the time was up after {_seconds(order.timeout)}"] if not ended.in_time else []
    wrong += [f"this does not hold: {check.says}" for check in shown if not check.holds]
    well = _ended_well(ended.facts, merges=order.merges)
    wrong += [_trouble(task, ended.facts) for task in ended.facts.tasks if task.number not in well]
    wrong += _broken_runs(ended.facts)
    if not wrong:
        say("Everything ended as it should.")
        return 0
    complain(("\n" if shown else "") + "Not as it should be:")
    for sentence in wrong:
        complain(f"- {sentence}")
    if not order.keep:
        complain("With --keep the logs of all jobs are kept.")
    return 1


def _ended_well(facts: "Facts", *, merges: bool) -> set[int]:
    """The tasks that are merged or dropped; if nobody merges, also those that are proven, and those that wait for such only."""
    good = ("merged", "dropped", "done", "closed")
    well = {task.number for task in facts.tasks if task.word in good and not (merges and task.is_open)}
    before: set[int] = set()
    while not merges and before != well:
        before = set(well)
        well |= {
            task.number
            for task in facts.tasks
            if task.needs and not task.attempts and well.issuperset(task.needs)
        }
    return well


def _trouble(task: "TaskFacts", facts: "Facts") -> str:
    """One sentence about a task that has not ended well."""
    from bot.sandbox.play.screen import clean

    known = {other.number: other for other in facts.tasks}
    unmet = [need for need in task.needs if need in known and known[need].is_open]
    if task.record.blocker is not None:
        why = f"asks: {clean(task.record.blocker.question.text)} (give it an `answer` in the issues file)"
    elif unmet:
        why = "waits for " + ", ".join(f"#{need} ({known[need].word})" for need in unmet)
    else:
        why = clean(task.told)
    return f"#{task.number} {clean(task.title)[:60]}: {task.word}" + (f"; {why[:400]}" if why else "")


def _broken_runs(facts: "Facts") -> list[str]:
    """Conductor runs that failed: that is never the agent's fault."""
    from bot.sandbox.play.task_states import CONDUCTOR

    return [
        f"run {run.id} of {run.workflow} ended as {run.conclusion} {run.problem}".rstrip()
        for run in facts.runs
        if run.workflow == CONDUCTOR
        and run.ended
        and run.conclusion not in ("success", "cancelled", "skipped")
    ]


def _seconds(span: timedelta) -> str:
    from bot.sandbox.play.screen import seconds

    return seconds(span)


def _wait_for_interrupt() -> NoReturn:
    waiting = threading.Event()
    while True:
        # A wait without end could not be interrupted on every system.
        waiting.wait(3600)


@contextmanager
def _interruptible() -> Iterator[None]:
    """A polite request to end counts as Ctrl-C, once: what is being put away must not be interrupted."""
    asked = False

    def interrupt(_signal: int, _frame: FrameType | None) -> None:
        nonlocal asked
        if not asked:
            asked = True
            raise KeyboardInterrupt

    before = {number: signal.signal(number, interrupt) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
