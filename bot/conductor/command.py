"""The command `conduct`: its options, and what it shares with every command that reads a repository."""

import argparse
from collections.abc import Mapping

from bot.model.config import CONFIG_PATH

ENVIRONMENT = """\
environment:
  GITHUB_TOKEN         a token for the repository; in Actions the action sets it. Whose it is decides nothing about what is seen:
                       one account conducts, as the dashboard or `identity.conductor` says, and its records count
  GITHUB_REPOSITORY    owner/name; set in Actions
  GITHUB_API_URL, GITHUB_GRAPHQL_URL    for GitHub Enterprise Server; set in Actions
"""
_CONDUCT = f"""\
{ENVIRONMENT}  GITHUB_STEP_SUMMARY, GITHUB_OUTPUT    files for the summary and the outputs; set in Actions
  CF_WEBHOOK, CF_WEBHOOK_KEY    where the events of `webhook.events` are told, and what signs them
  CF_TICK              a folder for the record of each tick, which `cf replay` reads

  GITHUB_TOKEN=$(gh auth token) GITHUB_REPOSITORY=octo/shop cf conduct --dry-run

Only the account that conducts may write here; any other ends with 1 and is told which one does. A person's account conducts only
if `identity.conductor` names it, and then orders nothing. To hand over, name the former account's id in `identity.also`. To look,
any token does with --dry-run. All of it: docs/install.md, "Who conducts".

With --every it goes on for ever, as in a container: safe beside Actions with the same account, because both claim before they
start. A tick that GitHub's limits or a broken line end is followed by the next; what a person must mend ends the program.

exit code: 0 done or nothing to do, 1 a person must mend something first, 2 usage, 75 GitHub is limited or down: try later
"""


def configure_conduct(parser: argparse.ArgumentParser) -> None:
    with_epilog(parser, _CONDUCT)
    config_option(parser)
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
    from bot.conductor.conduct import conduct

    environ = with_config(args, environ)
    if args.every:
        from bot.conductor.conduct import conduct_for_ever

        return conduct_for_ever(environ, args.every, dry_run=args.dry_run)
    return conduct(environ, dry_run=args.dry_run, linger=not args.no_linger)


def with_epilog(parser: argparse.ArgumentParser, epilog: str) -> None:
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.epilog = epilog


def config_option(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--config",
        default="",
        help=f"path of the configuration on the default branch (default: {CONFIG_PATH})",
    )


def with_config(args: argparse.Namespace, environ: Mapping[str, str]) -> Mapping[str, str]:
    return {**environ, "CF_CONFIG": args.config} if args.config else environ
