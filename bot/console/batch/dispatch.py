"""`cf batch run|stop|resume`: the same orders from a shell, given to `cf-batch.yml`, which checks whose token it was and writes."""

import json
from collections.abc import Mapping

from bot.conductor.act.begin import NotTheConductor
from bot.console.batch.inputs import read_request
from bot.github.port import GitHub
from bot.model.config import BATCH_WORKFLOW, Config
from bot.model.errors import UsageError
from bot.notation.config import read_config
from bot.printing import say, say_json


def give(environ: Mapping[str, str], inputs: Mapping[str, str], *, as_json: bool) -> int:
    """Start the workflow with these inputs. Raises UsageError naming all that is wrong with them before anything is started."""
    from bot.github.client import connect

    check(inputs)
    github: GitHub = connect(environ)
    run = dispatch(github, inputs)
    if as_json:
        say_json(json.dumps({"workflow": BATCH_WORKFLOW, "run": run, "inputs": dict(inputs)}))
        return 0
    where = f" as run {run}" if run else ""
    say(f"cf: the order is given: {BATCH_WORKFLOW} checks and carries it out{where}")
    return 0


def check(inputs: Mapping[str, str]) -> None:
    """What the workflow would refuse, as far as that can be known without GitHub. Raises UsageError."""
    nobody = {"GITHUB_ACTOR": "somebody", "GITHUB_RUN_ID": "1"}
    read_request(nobody | {f"CF_BATCH_{name.upper()}": value for name, value in inputs.items()})


def dispatch(github: GitHub, inputs: Mapping[str, str]) -> int:
    """The run's id, or 0 where the server does not tell it. Raises WorkflowMissing, NotTheConductor and what the port raises."""
    view = github.view("cf", None)
    _check_conductor(read_config(view.config_text, view.config_blob))
    return github.dispatch(BATCH_WORKFLOW, view.repository.default_branch, inputs)


def _check_conductor(config: Config) -> None:
    """The workflow writes as the jobs' own account, or as an App; where a person's account conducts it would be refused."""
    person = config.conductor
    if person and not person.endswith("[bot]"):
        raise NotTheConductor(
            f"{person} conducts here (identity.conductor), so {BATCH_WORKFLOW} may not write the order: give it where that"
            " account's token is, as `cf batch` without a verb, with CF_BATCH_TASKS, GITHUB_ACTOR and GITHUB_RUN_ID set."
            " Nothing was written"
        )


def number_of(text: str) -> str:
    """A batch's number as people write it, `30` or `#30`. Raises UsageError."""
    number = text.removeprefix("#")
    if not (number.isascii() and number.isdigit() and int(number)):
        raise UsageError(f"a batch is named by the number of its issue, like 30, and not by {text!r}")
    return number
