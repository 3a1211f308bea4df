"""The agents that can be named, what each needs before a runner is paid for, and what was chosen for one attempt."""

import re
from collections.abc import Mapping

from msgspec import Struct, field

COMMAND = "command"
OWN_KEY = "CF_MODEL_KEY"
"""The secret of the engine `command`, and of every provider that has none of its own here."""

PROVIDER_SECRETS: Mapping[str, str] = {
    "anthropic": "ANTHROPIC_API_KEY",
    "claude-subscription": "CLAUDE_CODE_OAUTH_TOKEN",
    "github": "COPILOT_GITHUB_TOKEN",
    "google": "GEMINI_API_KEY",
    "gemini": "GEMINI_API_KEY",
    "openai": "OPENAI_API_KEY",
    "openrouter": "OPENROUTER_API_KEY",
}
SECRETS = tuple(sorted({OWN_KEY, *PROVIDER_SECRETS.values()}))
"""Every secret that may hold a model's key: the workflows know these names, and a unit can ask for no other."""

VARIABLES = ("CF_ENGINE", "CF_PROVIDER", "CF_MODEL", "CF_BASE_URL")
"""Repository variables by which an engine is chosen."""

WORD = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:/@+-]{0,127}")
"""What the name of a model or a provider looks like: it becomes an argument, and can be no option."""

ADDRESS = re.compile(r"https?://[A-Za-z0-9.\-\[\]:]{1,253}(?:/[A-Za-z0-9._~/\-]{0,300})?")
"""Where a model's API may be: no user, query or fragment, and no blank or quote."""


class Known(Struct, frozen=True):
    """What must be known of an engine before it is dispatched.

    `provider` is the default one. `providers` are those it can talk to; empty means any, then the model's name begins with one.
    `chooses` are the providers of which it picks a model by itself.
    """

    provider: str = ""
    providers: tuple[str, ...] = ()
    chooses: tuple[str, ...] = ()


ENGINES: Mapping[str, Known] = {
    "aider": Known(),
    "claude-code": Known(
        "anthropic", ("anthropic", "claude-subscription"), ("anthropic", "claude-subscription")
    ),
    "codex": Known("openai", ("openai",), ("openai",)),
    COMMAND: Known(),
    "copilot": Known("github", ("github", "openai", "anthropic"), ("github",)),
    "gemini": Known("google", ("google", "gemini"), ("google", "gemini")),
    "mini-swe-agent": Known(),
    "opencode": Known(),
}
ALIASES: Mapping[str, str] = {"built-in": "mini-swe-agent"}
RENAMED: Mapping[str, str] = {
    "react": "mini-swe-agent",
    "plan": "mini-swe-agent",
    "cloud": "any engine, with `runner` labels of the machines you want",
}


class EngineRequest(Struct, frozen=True, omit_defaults=True):
    """What a command, a batch, a label or a variable asks for; what is empty is left to the next of them.

    A provider or model named together with an engine counts for that engine only. There is no address among these: it is sent
    the key, so only the configuration and a repository variable name it.
    """

    engine: str = ""
    provider: str = ""
    model: str = ""


class RepositorySettings(Struct, frozen=True):
    """What the repository's settings say beside its configuration file.

    `variables` are those of `VARIABLES` that are set; `secrets` says of a name of `SECRETS` whether it is set. A name that is
    missing there is not known, as everywhere outside of the conductor's own workflow.
    """

    variables: Mapping[str, str] = field(default_factory=dict)
    secrets: Mapping[str, bool] = field(default_factory=dict)


class EngineChoice(Struct, frozen=True):
    """The engine of one attempt. `engine` is empty where no agent runs; `model` and `base_url` where its own defaults hold.

    `secret` is the name of the one secret its job gets. `because` says where each came from, `problem` why it cannot start.
    """

    engine: str = ""
    provider: str = ""
    model: str = ""
    base_url: str = ""
    secret: str = ""
    because: str = ""
    problem: str = ""
