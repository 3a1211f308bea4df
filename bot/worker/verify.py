"""`cf verify`, one leg of the verify matrix: the gates on a clean machine, on exactly the commit that would be published."""

from collections.abc import Callable, Sequence
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from bot.github.port import Reader
from bot.model.config import Config, Publish
from bot.model.errors import UsageError
from bot.model.report import GateResult, GateStatus
from bot.model.unit import Gate, Kind, VerifyLeg
from bot.notation.codec import Unreadable, dump, load
from bot.worker.change.agent_settings import clean_workspace
from bot.worker.change.bundle import Unfit, read_bundle, read_header
from bot.worker.change.git import Git, GitFailed, Remote
from bot.worker.change.hand_over import ALREADY_THERE
from bot.worker.change.judge import change_base, refusals
from bot.worker.change.merging import CONFLICTS, unsettled
from bot.worker.change.starting_point import is_already_there
from bot.worker.job.artifact import find_bundle, read_small
from bot.worker.job.configuration import configuration_of
from bot.worker.job.context import JobContext
from bot.worker.programs.cancellation import Cancellation
from bot.worker.programs.environment import gate_environment
from bot.worker.programs.gates import SET_UP, GateRunner, Judged, all_passed, run_gates, run_setup
from bot.worker.programs.redact import Redactor

RESULT_FILE = "verify.json"
NOTHING_LEFT = "own change"  # in place of a gate where there is nothing to prove
OLD_WORKFLOW = (
    "cf-task.yml does not hand on which commit the agent's job made (CF_COMMIT), so it is older than this Action:"
    " run `cf init` to bring the workflows up to date"
)
_ANY = 10**12


class LegResult(Struct, frozen=True):
    """What one leg found on the commit `head`."""

    leg: str
    head: str
    gates: tuple[GateResult, ...] = ()

    @property
    def passed(self) -> bool:
        return all_passed(self.gates)


def verify(
    github: Reader,
    context: JobContext,
    leg: VerifyLeg,
    cancellation: Cancellation,
    write: Callable[[str], object],
) -> LegResult:
    """Run the leg's gates and keep what they said. Raises UsageError, GitFailed, Unfit, or what reading the file raises."""
    config = configuration_of(github, context.unit)
    git = Git(context.workspace / ".git", context.environ, tree=context.workspace, cancellation=cancellation)
    base = git.text("rev-parse", "HEAD^{commit}")  # the default branch, as the job checked it out
    head = take_commit(git, context, _limits(config, context))
    clean_workspace(git, head)
    redactor = Redactor(context.secrets)
    runner = GateRunner(
        context.workspace,
        gate_environment(context.environ),
        redactor,
        write,
        f"[#{context.key.task}] ",
        cancellation,
    )
    judged = _before_gates(git, context, head, base) or _judge(config, leg, runner)
    result = LegResult(leg.name, head, tuple(item.result for item in judged))
    _keep(context.verify_out, result, judged)
    return result


def _judge(config: Config, leg: VerifyLeg, runner: GateRunner) -> Sequence[Judged]:
    if trouble := run_setup(config.setup, runner):
        result = GateResult(SET_UP, GateStatus.ERROR, tail=trouble.words, code=trouble.code)
        return [Judged(result, trouble.words)]
    return run_gates(_gates_of(config, leg), runner)


def _before_gates(git: Git, context: JobContext, head: str, base: str) -> Sequence[Judged]:
    """Red gates of our own, before anything is run: nothing left to prove, or a conflict that nobody settled.

    Joined work is asked neither: all of it may have been merged by now.
    """
    if context.unit.kind is Kind.GATE:
        return ()
    if is_already_there(git, head, base):
        return [Judged(GateResult(NOTHING_LEFT, GateStatus.ERROR, tail=ALREADY_THERE), ALREADY_THERE)]
    if words := unsettled(git, head):
        return [Judged(GateResult(CONFLICTS, GateStatus.FAILED, tail=words), words)]
    return ()


def _limits(config: Config, context: JobContext) -> Publish:
    """Joined work was within its limits part by part; its sum has none."""
    if context.unit.kind is not Kind.GATE:
        return config.publish
    return replace(config.publish, max_files=_ANY, max_bytes=_ANY)


def take_commit(git: Git, context: JobContext, limits: Publish) -> str:
    """The commit of the kept work, with whatever it stands on. Raises GitFailed, UsageError, or Unfit if it may not be run."""
    bundle = find_bundle(context.out, str(context.key))
    if bundle is None:
        raise GitFailed(f"the kept work of {context.key} holds no commit")
    if context.commit is None:
        raise UsageError(OLD_WORKFLOW)
    commit = take_bundle(git, context, bundle)
    if commit != context.commit:
        raise Unfit(
            f"the kept work of {context.key} is {commit}, and the agent's job named {context.commit or 'none'}"
        )
    # The agent's job lets nothing through to here that it refused itself, so this finds what came another way.
    if refused := refusals(git, change_base(git, commit), commit, limits):
        raise Unfit(f"the kept work of {context.key} cannot be taken: {'; '.join(refused)}")
    return commit


def take_bundle(git: Git, context: JobContext, bundle: Path) -> str:
    """Read a bundle; branches that the checkout did not bring along, but the bundle stands on, are fetched first.

    Raises Unfit or GitFailed.
    """
    if not all(git.has(parent) for parent in read_header(bundle).stands_on):
        remote = Remote(git.text("config", "--local", "--get", "remote.origin.url"), context.token)
        git.fetch(remote, "+refs/heads/*:refs/cf/heads/*")
    return read_bundle(git, bundle, context.key.task)


def read_results(folder: Path) -> tuple[LegResult, ...]:
    """Every leg's results that came along, by file name; unreadable ones are left out, they decide nothing."""
    found = []
    for file in sorted(folder.rglob(RESULT_FILE)) if folder.is_dir() else ():
        try:
            found.append(load(read_small(file), LegResult))
        except (Unreadable, OSError):
            continue
    return tuple(found)


def _gates_of(config: Config, leg: VerifyLeg) -> tuple[Gate, ...]:
    known = {gate.name: gate for gate in config.gates}
    missing = [name for name in leg.gates if name not in known]
    if missing or not leg.gates:
        raise UsageError(
            f"the leg {leg.name!r} names no gate of the configuration: {', '.join(missing) or 'none at all'}"
        )
    return tuple(known[name] for name in leg.gates)


def _keep(folder: Path, result: LegResult, judged: Sequence[Judged]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / RESULT_FILE).write_text(dump(result), encoding="utf-8")
    for number, item in enumerate(judged, 1):
        (folder / f"gate-{number}.log").write_text(f"{item.result.name}\n\n{item.output}", encoding="utf-8")
