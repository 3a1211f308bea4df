"""`cf adopt`: sign what is older than CF_STATE_KEY, or take over what a person's token conducted, once, by a person's word."""

import argparse
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime

from bot.conductor.observe.view import who_conducts_in
from bot.github.port import GitHub
from bot.github.signatures import SEALED, places_of_comment, places_of_issue, read_key
from bot.model.change import Change, EditComment, EditIssue
from bot.model.errors import UsageError
from bot.notation.config import read_config
from bot.notation.marker import checked, signed
from bot.printing import say

_EPILOG = """\
environment:
  GITHUB_TOKEN         a token that may edit the comments of the conductor's account, such as an administrator's
  GITHUB_REPOSITORY    owner/name
  CF_STATE_KEY         the new key, as in the secret of that name
  CF_STATE_KEY_OLD     the key before it, where one is replaced by another

Read what is listed before it is signed: who could write as that account could have written it.

  cf adopt --dry-run

With --conductor the account of the token (an App's, or a job's) takes over what the person named by --from conducted: records
and dashboard become its own, the pause included, and that person may order work again. What runs must have ended.

  cf adopt --conductor --from octocat --dry-run
"""
_EVER = datetime(2008, 1, 1, tzinfo=UTC)


def configure(parser: argparse.ArgumentParser) -> None:
    """The options of `cf adopt`."""
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.epilog = _EPILOG
    parser.add_argument(
        "--account",
        default="",
        help="the account that the conductor writes as (default: the one that conducts here)",
    )
    parser.add_argument(
        "--conductor", action="store_true", help="take over what a person's token conducted, and sign nothing"
    )
    parser.add_argument(
        "--from", dest="former", metavar="LOGIN", default="", help="with --conductor: whose token it was"
    )
    parser.add_argument("--dry-run", action="store_true", help="list what would be signed, change nothing")


def run(args: argparse.Namespace, environ: Mapping[str, str]) -> int:
    """Sign, or take over, and say what. Raises UsageError if there is no key, or not said from whom."""
    from bot.github.client import connect

    if args.conductor:
        from bot.console.adopt_conductor import take_over

        if not args.former:
            raise UsageError("--conductor needs --from LOGIN: the person whose token conducted here")
        moved = take_over(connect(environ), args.former, _EVER, datetime.now(UTC), dry_run=args.dry_run)
        say("\n".join(f"{'would be ' if args.dry_run else ''}moved: {one}" for one in moved))
        return 0
    key = read_key(environ)
    if not key:
        raise UsageError("CF_STATE_KEY is not set: there is nothing to sign with")
    plain = {name: value for name, value in environ.items() if name != "CF_STATE_KEY"}
    github = connect(plain)
    account = args.account or _conductor(github)
    found = adopt(github, key, account, environ.get("CF_STATE_KEY_OLD", ""), dry_run=args.dry_run)
    say("\n".join(found) or "nothing to sign: all is signed already")
    return 0


def _conductor(github: GitHub) -> str:
    """The account that conducts; nothing else is signed without being named. Raises UsageError if nobody does."""
    view = github.view("cf", None)
    config = read_config(view.config_text, view.config_blob)
    view = view if config.prefix == "cf" else github.view(config.prefix, None)
    account = who_conducts_in(github, view, config).account
    if account is None:
        raise UsageError(
            "nobody conducts here yet: there is nothing to sign, or name the account with --account"
        )
    return account.login


def adopt(github: GitHub, key: str, account: str, old: str = "", *, dry_run: bool = False) -> list[str]:
    """Sign what this account wrote and nobody signed, or the old key did. What another key signed is listed and left alone."""
    found = list(_unsigned(github, key, account, old))
    changes = [change for change, _ in found if change is not None]
    if changes and not dry_run:
        answers = github.write(changes)
        return [words for _, words in found] + [f"refused: {one.error}" for one in answers if one.error]
    return [words for _, words in found]


def _unsigned(github: GitHub, key: str, account: str, old: str) -> Iterator[tuple[Change | None, str]]:
    for comment in github.comments_since(_EVER):
        if comment.author.login.casefold() == account.casefold() and not comment.on_pull:
            places = places_of_comment(comment.issue, comment.node_id)
            body, words = _judge(comment.body, key, old, places)
            if words:
                yield (
                    EditComment(comment.node_id, body) if body else None,
                    f"{words}: comment {comment.id} on #{comment.issue}",
                )
    prefix = read_config(github.view("cf", None).config_text).prefix
    for label in (f"{prefix}:dashboard", f"{prefix}:batch"):
        for issue in (*github.labelled(label), *github.labelled(label, closed=True)):
            if issue.author.login.casefold() == account.casefold():
                body, words = _judge(issue.body, key, old, places_of_issue(issue.number))
                if words:
                    yield EditIssue(issue.node_id, body) if body else None, f"{words}: #{issue.number}"


def _judge(body: str, key: str, old: str, places: Sequence[str]) -> tuple[str, str]:
    """The signed text and a word for the list; no text where it must not be signed, no word where there is nothing to do.

    What is signed for no place, as everything was once, is signed anew for its own.
    """
    if signed(body, key, SEALED) == body == signed(body, key, SEALED, places[0]):
        return "", ""
    if not _is_spoilt(checked(body, (key,), SEALED, [place for place in places if place])):
        return "", ""
    if "!wrong -->" in checked(body, (key, *([old] if old else [])), SEALED, places):
        return "", "left alone, its signature is wrong"
    return signed(body, key, SEALED, places[0]), "signed"


def _is_spoilt(body: str) -> bool:
    return "!wrong -->" in body or "!missing -->" in body
