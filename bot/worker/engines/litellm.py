"""Names by which litellm, the library inside two of the agents, knows models, keys and addresses."""

from bot.model.engine import PROVIDER_SECRETS
from bot.worker.engines import AgentInput


def litellm_model(agent_input: AgentInput) -> str:
    """The model with its provider in front."""
    return f"{_provider(agent_input)}/{agent_input.model.removeprefix(f'{agent_input.provider}/')}"


def litellm_environment(agent_input: AgentInput) -> dict[str, str]:
    """The key and the address, as variables."""
    stem = _provider(agent_input).upper().replace("-", "_")
    own = {
        f"{stem}_API_KEY": agent_input.model_key,
        f"{stem}_API_BASE": agent_input.base_url,
        f"{stem}_BASE_URL": agent_input.base_url,
        "LITELLM_LOCAL_MODEL_COST_MAP": "true",  # prices as this version knows them, not a download at each start
    }
    return {name: value for name, value in own.items() if value}


def _provider(agent_input: AgentInput) -> str:
    """Google's own API is `gemini` there; what is unknown and has an address speaks as OpenAI does."""
    if agent_input.provider == "google":
        return "gemini"
    known = agent_input.provider in PROVIDER_SECRETS
    return agent_input.provider if known or not agent_input.base_url else "openai"
