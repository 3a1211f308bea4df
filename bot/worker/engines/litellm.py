"""Names by which litellm, the library inside two of the agents, knows models, keys and addresses."""

from bot.model.engine import PROVIDER_SECRETS
from bot.worker.engines import Brief


def litellm_model(brief: Brief) -> str:
    """The model with its provider in front."""
    return f"{_provider(brief)}/{brief.model.removeprefix(f'{brief.provider}/')}"


def litellm_environment(brief: Brief) -> dict[str, str]:
    """The key and the address, as variables."""
    stem = _provider(brief).upper().replace("-", "_")
    own = {
        f"{stem}_API_KEY": brief.model_key,
        f"{stem}_API_BASE": brief.base_url,
        f"{stem}_BASE_URL": brief.base_url,
        "LITELLM_LOCAL_MODEL_COST_MAP": "true",  # prices as this version knows them, not a download at each start
    }
    return {name: value for name, value in own.items() if value}


def _provider(brief: Brief) -> str:
    """Google's own API is `gemini` there; what is unknown and has an address speaks as OpenAI does."""
    if brief.provider == "google":
        return "gemini"
    known = brief.provider in PROVIDER_SECRETS
    return brief.provider if known or not brief.base_url else "openai"
