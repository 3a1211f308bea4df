"""`cf doctor`: what a maintainer can mend, each in one line with how. Read-only, but for the test event of `--webhook`."""

import argparse
import json
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from importlib.resources import files

import msgspec
from msgspec import Struct

from bot.conductor.act.labels import label_names
from bot.conductor.observe.view import who_conducts_in
from bot.conductor.workflow_settings import read_settings
from bot.console.push_rules import EXAMPLE, refusing_all, refusing_some
from bot.github.port import Examiner
from bot.model.config import CONDUCTOR_WORKFLOW, CONFIG_PATH, Config
from bot.model.engine import RepositorySettings
from bot.model.errors import BotError, CannotGoOn, Refused, UsageError, WorkflowMissing
from bot.model.event import Event
from bot.model.view import View
from bot.notation.config import guess_prefix, read_config
from bot.plan.facts.engines import choose_engine
from bot.plan.facts.trust import rank
from bot.printing import say, say_json

_RECENT = timedelta(days=7)
_SCHEDULE = timedelta(hours=3)  # twice an hourly schedule, and some of GitHub's delay
_FOLDER = ".github/workflows"


class Health(StrEnum):
    """A problem must be mended before work can flow; what is unknown cannot be seen from here, or is the maintainer's choice."""

    OK = "ok"
    UNKNOWN = "unknown"
    PROBLEM = "problem"


class Finding(Struct, frozen=True):
    """One thing that was looked at. `mend` says what to do, where there is something to do."""

    about: str
    health: Health
    words: str
    mend: str = ""


def configure(parser: argparse.ArgumentParser) -> None:
    """The options of `cf doctor`."""
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.epilog = (
        "  GITHUB_TOKEN=$(gh auth token) GITHUB_REPOSITORY=octo/shop cf doctor\n\n"
        "environment: GITHUB_TOKEN, GITHUB_REPOSITORY; with --webhook CF_WEBHOOK and CF_WEBHOOK_KEY\n"
        "exit code: 0 no problem, 1 something must be mended"
    )
    parser.add_argument(
        "--webhook", action="store_true", help="send an event `test` to the address in CF_WEBHOOK"
    )
    parser.add_argument(
        "--json", action="store_true", help="for machines: a JSON list, one object for each finding"
    )


def run(args: argparse.Namespace, environ: Mapping[str, str]) -> int:
    """Look, and print what was found. Raises UsageError for a missing or wrong variable."""
    from bot.github.client import connect

    github = connect(environ)
    found = list(examine(github, datetime.now(UTC), read_settings(environ)))
    if args.webhook:
        found.append(try_webhook(environ))
    if args.json:
        say_json(json.dumps([msgspec.to_builtins(finding) for finding in found], indent=2))
    else:
        say("\n".join(finding_lines(found)))
    return int(any(finding.health is Health.PROBLEM for finding in found))


def finding_lines(found: Sequence[Finding]) -> Iterator[str]:
    """One line each, and one more for the mend."""
    for finding in found:
        yield f"{finding.health:8} {finding.about}: {' '.join(finding.words.split())}"
        if finding.mend:
            yield f"         {finding.mend}"


def examine(github: Examiner, now: datetime, settings: RepositorySettings) -> Iterator[Finding]:
    """Everything that can be looked at, in the order in which it should be mended."""
    try:
        view = github.view("cf", None)
    except BotError as error:
        yield Finding(
            "token",
            Health.PROBLEM,
            f"the repository cannot be read: {error}",
            "GITHUB_TOKEN needs read access to contents, issues, pull requests and actions of GITHUB_REPOSITORY",
        )
        return
    yield Finding("token", Health.OK, f"reads {view.repository.full_name} as {view.viewer.login}")
    yield from _permission(github, view)
    yield from _repository(view)
    config, findings = _configuration(view)
    yield from findings
    if config is not None:
        yield from _conductor(github, view, config)
    yield from _workflows(github)
    yield from _schedule(github, now)
    if config is not None:
        yield from _agent(config, settings)
        yield from _labels(view, config)
    yield from _pulls(github)
    yield from _rules(github)


def try_webhook(environ: Mapping[str, str]) -> Finding:
    """Send the event `test`."""
    from bot.conductor.tell.webhook import ADDRESS, KEY, Webhook, body_of
    from bot.model.view import Repository

    address, key = environ.get(ADDRESS, ""), environ.get(KEY, "")
    if not address:
        return Finding(
            "webhook",
            Health.PROBLEM,
            f"{ADDRESS} is not set here",
            "set it to the address, as the secret holds it",
        )
    home = Repository(environ.get("GITHUB_REPOSITORY", ""), "", "")
    problem = Webhook(address, key).deliver([body_of(Event("test", datetime.now(UTC)), home, {})])
    if problem:
        return Finding(
            "webhook",
            Health.PROBLEM,
            problem,
            f"correct the address, or the program behind it, and the secret {ADDRESS}",
        )
    return Finding("webhook", Health.OK, f"took the event `test`, {'signed' if key else 'not signed'}")


def _permission(github: Examiner, view: View) -> Iterator[Finding]:
    """A bot's permissions are those of its job, which no call tells; a person's are told."""
    if view.viewer.is_bot:
        yield Finding(
            "permission", Health.UNKNOWN, "what an app's or a job's token may do shows only when it is done"
        )
        return
    try:
        level = github.permission(view.viewer.login)
    except (CannotGoOn, Refused):
        # GitHub answers this question only to those who may push.
        words = f"{view.viewer.login} has less than write permission"
        yield Finding("permission", Health.PROBLEM, words, "conducting needs write permission")
        return
    except BotError as error:
        yield Finding("permission", Health.UNKNOWN, f"cannot be read: {error}")
        return
    if rank(level) >= rank("write"):
        yield Finding("permission", Health.OK, f"{view.viewer.login} has {level} permission")
    else:
        yield Finding(
            "permission",
            Health.PROBLEM,
            f"{view.viewer.login} has {level} permission",
            "conducting needs write permission",
        )


def _conductor(github: Examiner, view: View, config: Config) -> Iterator[Finding]:
    """Which account conducts, and what only looks like its dashboard."""
    about = "who conducts"
    try:
        view = view if config.prefix == "cf" else github.view(config.prefix, None)
        conducts = who_conducts_in(github, view, config)
    except BotError as error:
        yield Finding(about, Health.UNKNOWN, f"cannot be read: {error}")
        return
    if conducts.unclear:
        yield Finding(about, Health.PROBLEM, conducts.unclear)
    elif conducts.account is None:
        words = f"nobody yet: {config.conductor or 'an App, or the jobs of cf-conductor.yml,'} begins with the first tick"
        yield Finding(about, Health.UNKNOWN, words)
    else:
        newest, named = conducts.newest, conducts.account
        place = f", and its dashboard is #{newest.issue.number}" if newest is not None else ""
        waits = (
            "; identity.also names it, so the next account that ticks takes over"
            if named.id in config.also
            else ""
        )
        yield Finding(about, Health.OK, f"{named.login} (id {named.id}){place}{waits}")
    for issue in conducts.ignored:
        words = f"#{issue.number} is labelled {config.label('dashboard')} and is not the conductor's: it is ignored"
        yield Finding(about, Health.UNKNOWN, words, "take that label off it")


def _repository(view: View) -> Iterator[Finding]:
    repository = view.repository
    if repository.archived:
        yield Finding("repository", Health.PROBLEM, "it is archived", "unarchive it: Settings > General")
    elif not repository.has_issues:
        yield Finding(
            "repository",
            Health.PROBLEM,
            "issues are switched off",
            "switch them on: Settings > General > Features",
        )
    else:
        yield Finding(
            "repository", Health.OK, f"has issues; the default branch is {repository.default_branch}"
        )


def _configuration(view: View) -> tuple[Config | None, list[Finding]]:
    if view.config_text is None:
        words = f"there is no {CONFIG_PATH} on the default branch: the defaults hold, and they name no agent"
        return Config(), [Finding("configuration", Health.PROBLEM, words, "run `cf init`, commit and push")]
    try:
        config = read_config(view.config_text, view.config_blob)
    except UsageError as error:
        prefix = guess_prefix(view.config_text)
        mend = "correct the file; `cf validate` checks it without GitHub"
        return (Config(prefix=prefix) if prefix else None), [
            Finding("configuration", Health.PROBLEM, str(error), mend)
        ]
    found = [Finding("configuration", Health.OK, f"{CONFIG_PATH} is valid")]
    if not config.gates:
        words = "none: all work stays unverified, as drafts"
        found.append(Finding("gates", Health.UNKNOWN, words, f"add your tests to `gates` in {CONFIG_PATH}"))
    return config, found


def _agent(config: Config, settings: RepositorySettings) -> Iterator[Finding]:
    """Engine, model and key, as for a task without any wish of its own."""
    choice = choose_engine(config, (), settings)
    if choice.problem:
        yield Finding("agent", Health.PROBLEM, choice.problem)
        return
    named = f"{choice.engine}{f' with {choice.model}' if choice.model else ''}"
    if choice.secret and choice.secret not in settings.secrets:
        words = f"{named}; whether its secret {choice.secret} is set is known only inside of Actions"
        yield Finding("agent", Health.UNKNOWN, words)
    else:
        yield Finding("agent", Health.OK, named)


def _workflows(github: Examiner) -> Iterator[Finding]:
    """Those that `cf init` installs, compared with what this version would install."""
    templates = sorted(
        (entry for entry in files("bot").joinpath("templates").iterdir() if entry.name.endswith(".yml")),
        key=lambda entry: entry.name,
    )
    for template in templates:
        path = f"{_FOLDER}/{template.name}"
        try:
            there = github.text_at(path)
        except BotError as error:
            yield Finding("workflow", Health.UNKNOWN, f"{path} cannot be read: {error}")
            continue
        if there is None:
            words = f"{path} is missing from the default branch"
            yield Finding("workflow", Health.PROBLEM, words, "run `cf init`, commit and push")
        elif there != template.read_text(encoding="utf-8"):
            words = f"{path} differs from what this version of cf installs"
            yield Finding(
                "workflow",
                Health.UNKNOWN,
                words,
                "if it was not changed on purpose: `cf init --force`, commit and push",
            )
        else:
            yield Finding("workflow", Health.OK, f"{path} is current")


def _schedule(github: Examiner, now: datetime) -> Iterator[Finding]:
    mend = "Actions tab > cf conductor: enable it, and run it once (GitHub switches schedules off after 60 days without activity)"
    try:
        runs = github.runs(CONDUCTOR_WORKFLOW, now - _RECENT)
    except WorkflowMissing as error:
        yield Finding("conductor", Health.PROBLEM, str(error), mend)
        return
    except BotError as error:
        yield Finding("conductor", Health.UNKNOWN, f"its runs cannot be read: {error}")
        return
    if not runs:
        yield Finding("conductor", Health.PROBLEM, f"it has not run within {_RECENT.days} days", mend)
        return
    newest = max(runs, key=lambda run: run.created_at)
    words = f"ran last at {newest.created_at:%Y-%m-%d %H:%M} UTC ({newest.conclusion or newest.status})"
    late = now - newest.created_at > _SCHEDULE
    yield Finding("conductor", Health.UNKNOWN if late else Health.OK, words, mend if late else "")


def _labels(view: View, config: Config) -> Iterator[Finding]:
    there = {label.name.casefold() for label in view.labels}
    missing = [name for name in label_names(config) if name.casefold() not in there]
    if missing:
        words = f"not there yet: {', '.join(missing)}"
        yield Finding("labels", Health.UNKNOWN, words, "the conductor makes them when it needs them")
    else:
        yield Finding("labels", Health.OK, "all there")


def _pulls(github: Examiner) -> Iterator[Finding]:
    try:
        allowed = github.actions_may_open_pulls()
    except BotError as error:
        yield Finding("pull requests", Health.UNKNOWN, f"the setting cannot be read: {error}")
        return
    if allowed is None:
        words = "whether Actions may open them is known only to a token that may administer the repository"
        yield Finding("pull requests", Health.UNKNOWN, words)
    elif allowed:
        yield Finding("pull requests", Health.OK, "Actions may open them")
    else:
        yield Finding(
            "pull requests",
            Health.PROBLEM,
            "Actions may not open them, so all work will be held",
            "Settings > Actions > General > Allow GitHub Actions to create and approve pull requests; or act as a GitHub App",
        )


def _rules(github: Examiner) -> Iterator[Finding]:
    """The rulesets that hold for the branches we push."""
    branches = f"branches like {EXAMPLE}"
    try:
        rules = github.rules_on(EXAMPLE)
    except BotError as error:
        yield Finding("rules", Health.UNKNOWN, f"those for {branches} cannot be read: {error}")
        return
    refusing, some = list(refusing_all(rules)), list(refusing_some(rules))
    for words in refusing:
        mend = "Settings > Rules: leave `cf/**` out, or let the account that publishes bypass the ruleset"
        yield Finding("rules", Health.PROBLEM, f"GitHub would refuse every push to {branches}: {words}", mend)
    for words in some:
        yield Finding("rules", Health.UNKNOWN, f"work that breaks it is held: {words}")
    if not refusing and not some:
        yield Finding("rules", Health.OK, f"none refuses a push to {branches}")
