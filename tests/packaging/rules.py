"""What every workflow that we ship keeps to, as rules over the parsed file: each yields one sentence per violation.

Security comes first: a workflow is where foreign text, secrets and write tokens meet.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).parent.parent.parent
TEMPLATES = ROOT / "workflows-templates"
ACTION = ROOT / "action.yml"

# All that may stand in `${{ }}` inside a script: values that nobody outside the runner can choose.
SAFE_IN_SCRIPT = re.compile(
    r"(runner\.(os|arch|temp|tool_cache)|github\.(action_path|workspace|run_id|run_attempt|run_number|sha|repository_id))"
)
EXPRESSION = re.compile(r"\$\{\{(.*?)\}\}", re.DOTALL)
PINNED = re.compile(r"[\w.-]+/[\w./-]+@[0-9a-f]{40}")
# Fields whose text somebody runs: a shell, github-script's JavaScript, or a model.
SCRIPT_INPUTS = ("script", "prompt", "args")


class _Loader(yaml.SafeLoader):
    """YAML 1.2's booleans: `on` is a word."""


_Loader.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in resolvers if tag != "tag:yaml.org,2002:bool"]
    for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
}
_Loader.add_implicit_resolver("tag:yaml.org,2002:bool", re.compile(r"^(?:true|false)$"), list("tf"))


@dataclass(frozen=True, slots=True)
class Workflow:
    """One workflow file, or the composite action, which is a list of steps and nothing more."""

    name: str
    text: str
    content: dict[str, Any]

    @property
    def jobs(self) -> dict[str, dict[str, Any]]:
        jobs: dict[str, dict[str, Any]] = self.content.get("jobs", {})
        return jobs

    @property
    def is_action(self) -> bool:
        return "runs" in self.content

    def steps(self) -> Iterator[tuple[str, dict[str, Any]]]:
        """Every step with the place it stands."""
        lists = {"runs": self.content["runs"].get("steps", [])} if self.is_action else {}
        lists |= {job: content.get("steps", []) for job, content in self.jobs.items()}
        for place, steps in lists.items():
            for number, step in enumerate(steps, start=1):
                yield f"{place}, step {number} ({step.get('name') or step.get('id') or '?'})", step


def parse(name: str, text: str) -> Workflow:
    return Workflow(name, text, yaml.load(text, _Loader))


def shipped() -> list[Path]:
    """Every workflow template and the action, by file name."""
    return [*sorted(TEMPLATES.glob("*.yml")), ACTION]


def sec_05_pinned(workflow: Workflow) -> Iterator[str]:
    """SEC-05: what comes from elsewhere is named by its full commit hash, with the version as a comment."""
    found = re.findall(
        r"^[ \t]*(?:-[ \t]+)?uses:[ \t]*['\"]?([^\s'\"#]+)['\"]?[ \t]*(#.*)?$", workflow.text, re.MULTILINE
    )
    used = [step["uses"] for _, step in workflow.steps() if "uses" in step]
    used += [job["uses"] for job in workflow.jobs.values() if "uses" in job]
    if sorted(used) != sorted(action for action, _ in found):
        yield "a `uses:` is written in a way that its version comment cannot be read"
        return
    for action, comment in found:
        if action.startswith("./"):
            continue
        if not PINNED.fullmatch(action):
            yield f"{action} is not pinned by a full commit hash"
        elif not re.match(r"#\s*v?\d", comment):
            yield f"{action} has no version comment"


def nothing_granted_on_top(workflow: Workflow) -> Iterator[str]:
    """`permissions: {}` on top, so that a job has what it names and nothing else."""
    if workflow.is_action:
        return
    if workflow.content.get("permissions") != {}:
        yield "the top has no `permissions: {}`"
    for name, job in workflow.jobs.items():
        if not isinstance(job.get("permissions"), dict):
            yield f"{name} does not name its permissions"


def time_limits(workflow: Workflow) -> Iterator[str]:
    """A job with steps ends at a time we chose, not after GitHub's six hours."""
    for name, job in workflow.jobs.items():
        if "steps" in job and "timeout-minutes" not in job:
            yield f"{name} has no timeout-minutes"


def act_22_matrices_go_on(workflow: Workflow) -> Iterator[str]:
    """ACT-22: a failing leg takes nobody along, and a matrix cannot take every runner."""
    for name, job in workflow.jobs.items():
        strategy = job.get("strategy", {})
        if "matrix" in strategy:
            if strategy.get("fail-fast") is not False:
                yield f"{name} has no `fail-fast: false`"
            if "max-parallel" not in strategy:
                yield f"{name} has no max-parallel"


def sec_01_no_foreign_text_in_scripts(workflow: Workflow) -> Iterator[str]:
    """SEC-01: a script's source is fixed; what others wrote comes through `env:`, where it stays a value."""
    for place, step in workflow.steps():
        scripts = [step.get("run", ""), step.get("shell", "")]
        if "uses" in step and not str(step["uses"]).startswith("./"):
            scripts += [str(step.get("with", {}).get(name, "")) for name in SCRIPT_INPUTS]
        for script in scripts:
            for expression in EXPRESSION.findall(script):
                if not SAFE_IN_SCRIPT.fullmatch(expression.strip()):
                    yield f"{place}: `${{{{{expression}}}}}` inside a script"


def sec_12_checkouts_keep_no_token(workflow: Workflow) -> Iterator[str]:
    """SEC-12: a checkout leaves no credential in the work tree."""
    for place, step in workflow.steps():
        checkout = str(step.get("uses", "")).startswith("actions/checkout@")
        if checkout and step.get("with", {}).get("persist-credentials") is not False:
            yield f"{place}: no `persist-credentials: false`"


def sec_03_no_cache(workflow: Workflow) -> Iterator[str]:
    """SEC-03: what an agent's run leaves cannot reach another run through a shared cache."""
    for place, step in workflow.steps():
        uses, given = str(step.get("uses", "")), step.get("with", {})
        if uses.startswith("actions/cache"):
            yield f"{place}: a cache step"
        if "setup-uv@" in uses and given.get("enable-cache") is not False:
            yield f"{place}: setup-uv without `enable-cache: false`"
        if re.match(r"actions/setup-[\w-]+@", uses) and given.get("cache"):
            yield f"{place}: a tool set up with its cache"
        if "setup-node@" in uses and given.get("package-manager-cache") is not False:
            yield f"{place}: setup-node without `package-manager-cache: false`"


def sec_12_artifacts_hold_no_repository(workflow: Workflow) -> Iterator[str]:
    """SEC-12: what is kept comes from a folder of its own beside the work tree, so no `.git` can be in it; and no hidden file."""
    for place, step in workflow.steps():
        if "upload-artifact@" not in str(step.get("uses", "")):
            continue
        given = step.get("with", {})
        if not re.fullmatch(r"\$\{\{ runner\.temp \}\}/cf-[a-z]+", str(given.get("path", ""))):
            yield f"{place}: keeps {given.get('path')}"
        if "include-hidden-files" in given:
            yield f"{place}: keeps hidden files"


def sec_19_nobody_is_judged_by_name(workflow: Workflow) -> Iterator[str]:
    """SEC-19: who has caused an event says nothing about whose words are in it; no condition compares a name."""
    for expression in EXPRESSION.findall(workflow.text) + re.findall(
        r"^\s*if: (.*)$", workflow.text, re.MULTILINE
    ):
        if re.search(r"github\.(actor|triggering_actor)\b|\.(login|name)\s*[=!]=", expression):
            yield f"a name is compared in `{expression.strip()}`"


def no_dangerous_trigger(workflow: Workflow) -> Iterator[str]:
    """Nothing starts with our secrets on somebody else's code."""
    on = workflow.content.get("on", {})
    names = [on] if isinstance(on, str) else list(on)
    for name in ("pull_request_target", "workflow_run"):
        if name in names:
            yield f"is triggered by {name}"


def no_inherited_secrets(workflow: Workflow) -> Iterator[str]:
    """A called workflow gets the secrets it is given by name, never all of them."""
    for name, job in workflow.jobs.items():
        if job.get("secrets") == "inherit":
            yield f"{name} hands on every secret"


EVERYWHERE: tuple[Callable[[Workflow], Iterator[str]], ...] = (
    sec_05_pinned,
    nothing_granted_on_top,
    time_limits,
    act_22_matrices_go_on,
    sec_01_no_foreign_text_in_scripts,
    sec_12_checkouts_keep_no_token,
    sec_03_no_cache,
    sec_12_artifacts_hold_no_repository,
    sec_19_nobody_is_judged_by_name,
    no_dangerous_trigger,
    no_inherited_secrets,
)
