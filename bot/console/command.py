"""The commands `plan`, `why` and `batch`: their options. What they do is imported only when it is done."""

import argparse
from collections.abc import Mapping

from bot.conductor.command import ENVIRONMENT, config_option, with_config, with_epilog
from bot.model.errors import UsageError

_PLAN = f"""\
{ENVIRONMENT}
  cf plan --json | jq '.[] | select(.decision == "hold") | .reason'
"""


_WHY = f"""\
{ENVIRONMENT}
  cf why 12
"""


_BATCH = f"""\
  cf batch run 12 14-18 --strategy serial -o merge=auto     order a batch; it becomes an issue
  cf batch run label:api --dry-run                          write the plan only; `/cf run` on the issue starts it
  cf batch list --status running                            which there are
  cf batch show 30                                          one with its members, as they stand now
  cf batch stop 30 --force                                  nothing more starts, and what runs is ended
  cf batch resume 30                                        go on with what did not come through

run, stop and resume start the workflow cf-batch.yml with your token, which must be allowed to (actions: write): so GitHub says
who asks, and the conductor's own account writes. docs/batches.md has all options.

Without a verb it is the job of cf-batch.yml and carries the order out by itself.

{ENVIRONMENT}  CF_BATCH_ACTION      without a verb: run (the default), stop, ...; these are the inputs of cf-batch.yml
  CF_BATCH_TARGET      number of the batch issue, to stop or resume it
  CF_BATCH_TASKS       12 14-18 #20, label:x, milestone:y, or ready
  CF_BATCH_STRATEGY, CF_BATCH_MAX_PARALLEL, CF_BATCH_ON_FAILURE, CF_BATCH_MAX_RETRIES, CF_BATCH_ENGINE, CF_BATCH_DRY_RUN
  CF_BATCH_OPTIONS     every other option, one key=value a line
"""


def configure_plan(parser: argparse.ArgumentParser) -> None:
    with_epilog(parser, _PLAN)
    config_option(parser)
    parser.add_argument(
        "--json", action="store_true", help="for machines: a JSON list, one object for each task"
    )


def run_plan(args: argparse.Namespace, environ: Mapping[str, str]) -> int:
    from bot.console.plan_and_why import show_plan

    return show_plan(with_config(args, environ), as_json=args.json)


def configure_why(parser: argparse.ArgumentParser) -> None:
    with_epilog(parser, _WHY)
    config_option(parser)
    parser.add_argument("task", type=int, help="the issue's number")


def run_why(args: argparse.Namespace, environ: Mapping[str, str]) -> int:
    from bot.console.plan_and_why import explain

    return explain(with_config(args, environ), args.task)


def configure_batch(parser: argparse.ArgumentParser) -> None:
    """Without a verb the order comes from the inputs of cf-batch.yml, as CF_BATCH_... variables."""
    with_epilog(parser, _BATCH)
    config_option(parser)
    parser.add_argument(
        "--dry-run",
        action="store_true",
        help="without a verb: check the order and say what would be written",
    )
    verbs = parser.add_subparsers(dest="verb", metavar="VERB")
    run = _verb(verbs, "run", "order a batch")
    run.add_argument("tasks", nargs="+", metavar="TASKS", help="12 14-18 #20, label:x, milestone:y, or ready")
    run.add_argument("--strategy", default="", help="parallel (default), serial or auto")
    run.add_argument(
        "--max-parallel", default="", metavar="N", help="how many at once (default: as configured)"
    )
    run.add_argument("--on-failure", default="", help="continue (default) or stop")
    run.add_argument(
        "--max-retries", default="", metavar="N", help="extra rounds for failed members (default: 0)"
    )
    run.add_argument("--engine", default="", help="which agent works (default: as configured)")
    run.add_argument(
        "--dry-run",
        dest="plan_only",
        action="store_true",
        help="write the plan only; `/cf run` on the issue starts it",
    )
    run.add_argument(
        "-o",
        "--option",
        action="append",
        default=[],
        metavar="KEY=VALUE",
        help="an option of docs/batches.md, such as merge=auto; may be repeated",
    )
    for name, words in (
        ("stop", "nothing more of it starts"),
        ("resume", "go on with what did not come through"),
    ):
        verb = _verb(verbs, name, words)
        verb.add_argument("batch", help="the number of its issue")
        verb.add_argument(
            "--force",
            action="store_true",
            help="end what runs, too" if name == "stop" else "run done members again, too",
        )
    listing = _verb(verbs, "list", "the batches, newest first")
    listing.add_argument("--status", default="", type=str.lower, choices=_STATES, help="only those")
    listing.add_argument("--limit", type=int, default=20, help="at most so many (default: 20)")
    _verb(verbs, "show", "one batch, with its members as they stand now").add_argument(
        "batch", help="the number of its issue"
    )


_STATES = ("pending", "running", "completed", "partial", "failed", "cancelled")


def _verb(
    verbs: "argparse._SubParsersAction[argparse.ArgumentParser]", name: str, words: str
) -> argparse.ArgumentParser:
    verb = verbs.add_parser(name, help=words, description=f"{words[0].upper()}{words[1:]}.")
    verb.add_argument("--json", action="store_true", help="for machines")
    return verb


def run_batch(args: argparse.Namespace, environ: Mapping[str, str]) -> int:
    environ = with_config(args, environ)
    if args.verb is None:
        from bot.console.batch.carry_out import carry_out

        return carry_out(environ, dry_run=args.dry_run)
    if args.dry_run:
        raise UsageError("--dry-run before a verb has no meaning; `cf batch run ... --dry-run` plans only")
    if args.verb == "list":
        from bot.console.batch.show import show_list

        return show_list(environ, args.status, args.limit, as_json=args.json)
    from bot.console.batch.dispatch import give, number_of

    if args.verb == "show":
        from bot.console.batch.show import show_one

        return show_one(environ, int(number_of(args.batch)), as_json=args.json)
    if args.verb == "run":
        return give(environ, _inputs_to_run(args), as_json=args.json)
    action = f"{args.verb}-force" if args.force else args.verb
    return give(environ, {"action": action, "target": number_of(args.batch)}, as_json=args.json)


def _inputs_to_run(args: argparse.Namespace) -> dict[str, str]:
    """The inputs of cf-batch.yml; what was not given is left to the workflow's own defaults."""
    given = {
        "action": "run",
        "tasks": " ".join(args.tasks),
        "strategy": args.strategy,
        "max_parallel": args.max_parallel,
        "on_failure": args.on_failure,
        "max_retries": args.max_retries,
        "engine": args.engine,
        "dry_run": "true" if args.plan_only else "",
        "options": "\n".join(args.option),
    }
    return {name: value for name, value in given.items() if value}
