"""A GitHub App's token for one repository: made when it is needed, good for an hour, and never for more than was asked for."""

import re
from collections.abc import Mapping
from typing import NoReturn

from bot.github.credential import Credential
from bot.model.errors import BotError, CannotGoOn, NotFound, Refused, TryLater, UsageError

CONDUCTING = {
    "actions": "write",
    "checks": "read",
    "contents": "read",
    "issues": "write",
    "pull_requests": "read",
}
PUBLISHING = {"actions": "read", "contents": "write", "issues": "read", "pull_requests": "write"}
WAKING = {"actions": "write"}
_ID = re.compile(r"[0-9A-Za-z.]+")


def app_credential(
    environ: Mapping[str, str], repository: str, api_url: str, permissions: Mapping[str, str]
) -> Credential | None:
    """What CF_APP_ID (app id or client id) and CF_APP_PRIVATE_KEY stand for; None if the App is not set up.

    Raises UsageError if only one of them is there, or neither can be right; CannotGoOn if GitHub does not know the App here.
    """
    app, key = environ.get("CF_APP_ID", "").strip(), environ.get("CF_APP_PRIVATE_KEY", "").strip()
    if not app and not key:
        return None
    if not app or not key:
        missing = "CF_APP_ID" if not app else "CF_APP_PRIVATE_KEY"
        raise UsageError(f"a GitHub App needs its id and its private key, and {missing} is not set")
    if not _ID.fullmatch(app):
        raise UsageError("CF_APP_ID must be the App's id or client id: letters, digits and dots")
    if "PRIVATE KEY-----" not in key:
        raise UsageError("CF_APP_PRIVATE_KEY must be the whole key as GitHub gave it, `-----BEGIN` and all")

    def make() -> str:
        return mint(app, key, repository, api_url, permissions)

    return Credential(make(), make)


def mint(app: str, key: str, repository: str, api_url: str, permissions: Mapping[str, str]) -> str:
    """A new installation token. Raises UsageError if the key is none, CannotGoOn or TryLater as any request does."""
    from bot.github.session import Session
    from bot.github.wire import AppWire

    owner, _, name = repository.partition("/")
    wire = AppWire(app, key, api_url)
    session = Session(wire, repository, "")
    try:
        installation = session.get(session.path("installation")).json()
        wanted = {"repositories": [name], "permissions": dict(permissions)}
        made = session.change(
            "POST", f"app/installations/{int(installation['id'])}/access_tokens", wanted
        ).json()
        return str(made["token"])
    except BotError as error:
        _explain(error, app, owner, name)
    except (KeyError, TypeError, ValueError):
        raise CannotGoOn("GitHub's answer holds no token for the App") from None
    finally:
        wire.close()


def _explain(error: BotError, app: str, owner: str, name: str) -> NoReturn:
    if isinstance(error, NotFound):
        raise CannotGoOn(f"the GitHub App {app} is not installed on {owner}/{name}") from None
    if isinstance(error, Refused):
        raise CannotGoOn(
            f"the GitHub App {app} may not do what is needed here; look over its permissions ({error})"
        ) from None
    if isinstance(error, TryLater | UsageError):
        raise error
    raise CannotGoOn(f"the GitHub App {app} is not accepted: {error}") from None
