"""The commands `conduct`, `plan`, `why` and `batch`: their options. What they do is imported only when it is done."""

import argparse
from collections.abc import Mapping

from bot.model.config import CONFIG_PATH

_GITHUB = """\
environment:
  GITHUB_TOKEN         a token for the repository; in Actions the action sets it. The records of other accounts count only
                       if `identity.also` in the configuration names them
  GITHUB_REPOSITORY    owner/name; set in Actions
  GITHUB_API_URL, GITHUB_GRAPHQL_URL    for GitHub Enterprise Server; set in Actions
"""
_CONDUCT = f"""\
{_GITHUB}  GITHUB_STEP_SUMMARY, GITHUB_OUTPUT    files for the summary and the outputs; set in Actions
  CF_WEBHOOK, CF_WEBHOOK_KEY    where the events of `webhook.events` are told, and what signs them
  CF_TICK              a folder for the record of each tick, which `cf replay` reads

  GITHUB_TOKEN=$(gh auth token) GITHUB_REPOSITORY=octo/shop cf conduct --dry-run

With --every it goes on for ever, as in a container: safe beside Actions, because both claim before they start. A tick that
GitHub's limits or a broken line end is followed by the next; what a person must mend ends the program.

exit code: 0 done or nothing to do, 1 a person must mend something first, 2 usage, 75 GitHub is limited or down: try later
"""
_PLAN = f"""\
{_GITHUB}
  cf plan --json | jq '.[] | select(.decision == "hold") | .reason'
"""
_WHY = f"""\
{_GITHUB}
  cf why 12
"""
_BATCH = f"""\
{_GITHUB}  CF_BATCH_ACTION      run (the default), stop, ...; these are the inputs of cf-batch.yml
  CF_BATCH_TARGET      number of the batch issue, to stop it
  CF_BATCH_TASKS       12 14-18 #20, label:x, milestone:y, or ready
  CF_BATCH_STRATEGY, CF_BATCH_MAX_PARALLEL, CF_BATCH_ON_FAILURE, CF_BATCH_MAX_RETRIES, CF_BATCH_ENGINE, CF_BATCH_DRY_RUN
  CF_BATCH_OPTIONS     every other option, one key=value a line

Start it from the Actions tab ("cf batch"), or: gh workflow run cf-batch.yml -f tasks='12 14-18' -f strategy=serial
"""


def configure_conduct(parser: argparse.ArgumentParser) -> None:
    _explain(parser, _CONDUCT)
    _config_option(parser)
    parser.add_argument("--dry-run", action="store_true", help="say what would be done, change nothing")
    parser.add_argument(
        "--every",
        metavar="SPAN",
        default="",
        help="tick again and again, with a pause like 30s or 5m (5s to 1h) in between",
    )
    parser.add_argument(
        "--no-linger", action="store_true", help="end after one tick even if something is due soon"
    )


def run_conduct(args: argparse.Namespace, environ: Mapping[str, str]) -> int:
    from bot.conductor.program import conduct

    with_config = _with_config(args, environ)
    if args.every:
        from bot.conductor.program import conduct_for_ever

        return conduct_for_ever(with_config, args.every, dry_run=args.dry_run)
    return conduct(with_config, dry_run=args.dry_run, linger=not args.no_linger)


def configure_plan(parser: argparse.ArgumentParser) -> None:
    _explain(parser, _PLAN)
    _config_option(parser)
    parser.add_argument(
        "--json", action="store_true", help="for machines: a JSON list, one object for each task"
    )


def run_plan(args: argparse.Namespace, environ: Mapping[str, str]) -> int:
    from bot.conductor.program import show_plan

    return show_plan(_with_config(args, environ), as_json=args.json)


def configure_why(parser: argparse.ArgumentParser) -> None:
    _explain(parser, _WHY)
    _config_option(parser)
    parser.add_argument("task", type=int, help="the issue's number")


def run_why(args: argparse.Namespace, environ: Mapping[str, str]) -> int:
    from bot.conductor.program import explain

    return explain(_with_config(args, environ), args.task)


def configure_batch(parser: argparse.ArgumentParser) -> None:
    """The order itself comes from the inputs of cf-batch.yml, as CF_BATCH_... variables."""
    _explain(parser, _BATCH)
    _config_option(parser)
    parser.add_argument(
        "--dry-run", action="store_true", help="check the order and say what would be written"
    )


def run_batch(args: argparse.Namespace, environ: Mapping[str, str]) -> int:
    from bot.conductor.order import carry_out

    return carry_out(_with_config(args, environ), dry_run=args.dry_run)


def _explain(parser: argparse.ArgumentParser, epilog: str) -> None:
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.epilog = epilog


def _config_option(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--config",
        default="",
        help=f"path of the configuration on the default branch (default: {CONFIG_PATH})",
    )


def _with_config(args: argparse.Namespace, environ: Mapping[str, str]) -> Mapping[str, str]:
    return {**environ, "CF_CONFIG": args.config} if args.config else environ
