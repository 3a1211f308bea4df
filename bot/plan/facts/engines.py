"""Which agent works on a task, with which model and key, and what is missing before it can."""

from collections.abc import Iterable, Sequence

from msgspec.structs import replace

from bot.model.config import CONFIG_PATH, Config, EngineConfig
from bot.model.engine import (
    ADDRESS,
    ALIASES,
    COMMAND,
    ENGINES,
    OWN_KEY,
    PROVIDER_SECRETS,
    RENAMED,
    WORD,
    EngineChoice,
    EngineRequest,
    Known,
    RepositorySettings,
)
from bot.notation.quoting import quote_line

_SETTINGS = "Settings > Secrets and variables > Actions"


def choose_engine(
    config: Config,
    labels: Iterable[str],
    settings: RepositorySettings,
    engine_requests: Sequence[tuple[str, EngineRequest]] = (),
) -> EngineChoice:
    """The first that names a thing has it: `engine_requests` (command, batch), labels, variables, configuration, default.

    `engine_requests` come with the words that name where each is from. A choice with a `problem` must not start.
    """
    labelled = _labelled(config, labels)
    variables = settings.variables
    layers = [
        *engine_requests,
        *labelled,
        (
            "variable",
            EngineRequest(
                variables.get("CF_ENGINE", ""),
                variables.get("CF_PROVIDER", ""),
                variables.get("CF_MODEL", ""),
            ),
        ),
    ]
    named, source = _first(layers, "engine", "")
    engine = ALIASES.get(named or config.engine, named or config.engine)
    if problem := engine_problem(engine) or _several(labelled, "engine") or _several(labelled, "model"):
        return EngineChoice(engine, problem=f"{problem} ({source or CONFIG_PATH})")
    own = config.engines.get(engine, EngineConfig())
    layers = [
        *layers,
        (f"{CONFIG_PATH}, engines.{engine}", EngineRequest(engine, own.provider or "", own.model or "")),
        (CONFIG_PATH, EngineRequest(config.engine, "", config.model or "")),
    ]
    model, model_from = _first(layers, "model", engine)
    provider, provider_from = _first(layers, "provider", engine)
    base_url, base_from = own.base_url or "", CONFIG_PATH
    if variables.get("CF_BASE_URL") and _same(variables.get("CF_ENGINE", ""), engine):
        base_url, base_from = variables["CF_BASE_URL"], "variable"
    found = EngineChoice(
        engine,
        provider or _provider_of(model, ENGINES[engine]),
        model,
        base_url,
        because="; ".join(
            f"{what} {value} by {where}"
            for what, value, where in (
                (
                    "engine",
                    engine,
                    source or (CONFIG_PATH if config.engine != Config().engine else "default"),
                ),
                ("model", model, model_from),
                ("provider", provider, provider_from),
                ("address", base_url, base_from),
            )
            if value
        ),
    )
    return _with_key(found, own, settings)


def engine_problem(name: str) -> str:
    """Why there is no engine of this name; empty if there is one."""
    if name in RENAMED:
        return f"engine {name!r} is from an earlier product: use {RENAMED[name]}"
    if ALIASES.get(name, name) not in ENGINES:
        return f"there is no engine {quote_line(name, 40)}: it must be one of {', '.join(sorted(ENGINES))}"
    return ""


def secret_of(engine: str, provider: str) -> str:
    """The name of the secret that holds the key."""
    return OWN_KEY if engine == COMMAND else PROVIDER_SECRETS.get(provider, OWN_KEY)


def _with_key(choice: EngineChoice, own: EngineConfig, settings: RepositorySettings) -> EngineChoice:
    """The choice with the name of its secret, or with what is missing."""
    engine, known = choice.engine, ENGINES[choice.engine]
    for what, value in (("provider", choice.provider), ("model", choice.model)):
        if value and WORD.fullmatch(value) is None:
            return replace(choice, problem=f"{quote_line(value, 60)} cannot be the name of a {what}")
    if choice.base_url and ADDRESS.fullmatch(choice.base_url) is None:
        return replace(
            choice, problem=f"{quote_line(choice.base_url, 60)} is no address of an API (https://...)"
        )
    if engine == COMMAND:
        none = "" if own.args.strip() else NO_COMMAND
        return replace(choice, secret=OWN_KEY, problem=none)
    if known.providers and choice.provider not in known.providers and not choice.base_url:
        return replace(
            choice,
            problem=f"{engine} talks to {' or '.join(known.providers)}: for {quote_line(choice.provider, 40)} it needs an"
            f" address, engines.{engine}.base_url in {CONFIG_PATH} or the repository variable CF_BASE_URL",
        )
    if not choice.model and choice.provider not in known.chooses:
        return replace(choice, problem=no_model(engine))
    if not choice.provider:
        return replace(
            choice,
            problem=f"the provider of {quote_line(choice.model, 60)} is not known: write the model as provider/name,"
            f" or set engines.{engine}.provider in {CONFIG_PATH}",
        )
    secret = secret_of(engine, choice.provider)
    if settings.secrets.get(secret) is False:
        return replace(
            choice,
            secret=secret,
            problem=f"the engine {engine} needs its key: set the secret {secret} ({_SETTINGS})",
        )
    return replace(choice, secret=secret)


NO_COMMAND = f"no agent is configured: set engines.command.args in {CONFIG_PATH} to its command line"


def no_model(engine: str) -> str:
    return (
        f"the engine {engine} needs a model: set engines.{engine}.model in {CONFIG_PATH}, or the repository variable"
        f" CF_MODEL ({_SETTINGS}), such as anthropic/claude-sonnet-4-5"
    )


def _labelled(config: Config, labels: Iterable[str]) -> list[tuple[str, EngineRequest]]:
    """`cf:engine/codex` and `cf:model/gpt-5`: the part after the slash keeps its spelling."""
    found = []
    for label in labels:
        for field in ("engine", "model"):
            start = config.label(f"{field}/")
            if label.casefold().startswith(start.casefold()):
                value = label[len(start) :].strip()
                engine_request = (
                    EngineRequest(value.lower()) if field == "engine" else EngineRequest(model=value)
                )
                found.append((f"label {quote_line(label, 60)}", engine_request))
    return found


def _several(labelled: Sequence[tuple[str, EngineRequest]], field: str) -> str:
    named = sorted({source for source, engine_request in labelled if getattr(engine_request, field)})
    return f"only one can be meant: {' and '.join(named)}" if len(named) > 1 else ""


def _first(layers: Iterable[tuple[str, EngineRequest]], field: str, engine: str) -> tuple[str, str]:
    """Who names this field first, for this engine (empty: for any)."""
    for source, engine_request in layers:
        value: str = getattr(engine_request, field)
        if value and (not engine or _same(engine_request.engine, engine)):
            return value, source
    return "", ""


def _same(named: str, engine: str) -> bool:
    return ALIASES.get(named, named) in ("", engine)


def _provider_of(model: str, known: Known) -> str:
    """Engines that talk to any provider name it in front of the model: `anthropic/claude-sonnet-4-5`."""
    first, slash, _ = model.partition("/")
    return first if slash and not known.provider else known.provider
