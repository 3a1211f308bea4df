"""Which variables a program may see. Nothing is inherited that was not chosen here."""

import os
import sys
from collections.abc import Mapping
from pathlib import Path

# The last is how a runner finds what outlived its job, also where we were killed before we could end it ourselves.
_PLAIN = ("LANG", "LC_ALL", "LC_CTYPE", "TERM", "TZ", "RUNNER_TRACKING_ID")
_DROPPED_PREFIXES = ("GITHUB_", "ACTIONS_", "INPUT_", "CF_", "GIT_", "UV_", "PYTHON", "VIRTUAL_ENV", "STATE_")
_DROPPED_WORDS = (
    "TOKEN",
    "SECRET",
    "PASSWORD",
    "PASSWD",
    "CREDENTIAL",
    "PRIVATE",
    "API_KEY",
    "APIKEY",
    "ACCESS_KEY",
)


def agent_environment(environ: Mapping[str, str], home: Path) -> dict[str, str]:
    """What an agent starts from: where programs are, a home of its own, language, terminal, and the runner's mark."""
    chosen = {name: environ[name] for name in _PLAIN if name in environ}
    return {"LANG": "C.UTF-8", "TERM": "dumb", **chosen, "PATH": _path(environ), "HOME": str(home)}


def gate_environment(environ: Mapping[str, str]) -> dict[str, str]:
    """What set-up and gates of a clean machine get: the machine's own variables, without ours and without anything secret."""
    kept = {
        name: value
        for name, value in environ.items()
        if not name.startswith(_DROPPED_PREFIXES) and not any(word in name.upper() for word in _DROPPED_WORDS)
    }
    return {**kept, "PATH": _path(environ), "CI": "true"}


def git_environment(environ: Mapping[str, str]) -> dict[str, str]:
    """What git gets: no configuration of the machine or the user, no GIT_ variable, no questions."""
    return {
        "PATH": _path(environ),
        "HOME": os.devnull,
        "LC_ALL": "C",
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": str(Path(__file__).with_name("gitconfig")),
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_ASKPASS": "true",
        "SSH_ASKPASS": "true",
        **{
            name: environ[name]
            for name in ("SSL_CERT_FILE", "HTTPS_PROXY", "https_proxy", "NO_PROXY", "no_proxy")
            if name in environ
        },
    }


def _path(environ: Mapping[str, str]) -> str:
    """The search path without our own virtual environment, whose Python is not the repository's."""
    own = os.path.realpath(Path(sys.prefix) / "bin") if sys.prefix != sys.base_prefix else ""
    places = environ.get("PATH", os.defpath).split(os.pathsep)
    return (
        os.pathsep.join(context for context in places if context and os.path.realpath(context) != own)
        or os.defpath
    )
