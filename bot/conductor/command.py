"""The commands `conduct`, `plan`, `why` and `batch`: their options. What they do is imported only when it is done."""

import argparse
from collections.abc import Mapping

from bot.model.config import CONFIG_PATH


def configure_conduct(parser: argparse.ArgumentParser) -> None:
    _config_option(parser)
    parser.add_argument("--dry-run", action="store_true", help="say what would be done, change nothing")
    parser.add_argument(
        "--no-linger", action="store_true", help="end after one tick even if something is due soon"
    )


def run_conduct(args: argparse.Namespace, environ: Mapping[str, str]) -> int:
    from bot.conductor.program import conduct

    return conduct(_with_config(args, environ), dry_run=args.dry_run, linger=not args.no_linger)


def configure_plan(parser: argparse.ArgumentParser) -> None:
    _config_option(parser)
    parser.add_argument(
        "--json", action="store_true", help="for machines: a JSON list, one object for each task"
    )


def run_plan(args: argparse.Namespace, environ: Mapping[str, str]) -> int:
    from bot.conductor.program import show_plan

    return show_plan(_with_config(args, environ), as_json=args.json)


def configure_why(parser: argparse.ArgumentParser) -> None:
    _config_option(parser)
    parser.add_argument("task", type=int, help="the issue's number")


def run_why(args: argparse.Namespace, environ: Mapping[str, str]) -> int:
    from bot.conductor.program import explain

    return explain(_with_config(args, environ), args.task)


def configure_batch(parser: argparse.ArgumentParser) -> None:
    """The order itself comes from the inputs of cf-batch.yml, as CF_BATCH_... variables."""
    _config_option(parser)
    parser.add_argument(
        "--dry-run", action="store_true", help="check the order and say what would be written"
    )


def run_batch(args: argparse.Namespace, environ: Mapping[str, str]) -> int:
    from bot.conductor.order import carry_out

    return carry_out(_with_config(args, environ), dry_run=args.dry_run)


def _config_option(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--config",
        default="",
        help=f"path of the configuration on the default branch (default: {CONFIG_PATH})",
    )


def _with_config(args: argparse.Namespace, environ: Mapping[str, str]) -> Mapping[str, str]:
    return {**environ, "CF_CONFIG": args.config} if args.config else environ
