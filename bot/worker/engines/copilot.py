"""Engine `copilot`: GitHub's Copilot CLI, with its own subscription or a model of another provider."""

import shlex
from collections.abc import Sequence

from msgspec.structs import replace

from bot.model.report import Category
from bot.worker.engines import AgentInput, Call, Engine, Verdict
from bot.worker.engines.events import count, event, text, tool_step
from bot.worker.engines.facts import Facts, trouble
from bot.worker.engines.prompts import prompt
from bot.worker.engines.verdicts import judge_end
from bot.worker.programs.process import Ended

_ADDRESSES = {"openai": "https://api.openai.com/v1", "anthropic": "https://api.anthropic.com"}


class Copilot:
    """Reads its prompt from standard input and prints a stream of JSON. It blots the key out of its output by itself."""

    version = "1.0.102"
    install: Sequence[Sequence[str]] = (
        ("npm", "install", "--global", "--no-audit", "--no-fund", f"@github/copilot@{version}"),
    )
    structured = True
    can_continue = True
    litter: Sequence[str] = ()

    def call(self, agent_input: AgentInput) -> Call:
        command = ["copilot", "--output-format", "json", "--allow-all", "--no-ask-user"]
        command += ["--no-auto-update", "--no-color", "--disable-builtin-mcps"]
        model = agent_input.model.removeprefix(f"{agent_input.provider}/")
        if model:
            command += ["--model", model]
        if agent_input.session:
            command += [f"--resume={agent_input.session}"]
        if agent_input.provider == "github":
            own = {"COPILOT_GITHUB_TOKEN": agent_input.model_key}
        else:
            own = {
                "COPILOT_PROVIDER_TYPE": "anthropic" if agent_input.provider == "anthropic" else "openai",
                "COPILOT_PROVIDER_BASE_URL": agent_input.base_url or _ADDRESSES.get(agent_input.provider, ""),
                "COPILOT_PROVIDER_API_KEY": agent_input.model_key,
                "COPILOT_MODEL": model,
            }
        return Call(
            (*command, *shlex.split(agent_input.args)),
            {**agent_input.env, **{name: value for name, value in own.items() if value}},
            given=prompt(agent_input),
        )

    def read(self, facts: Facts, line: str) -> Facts:
        found = event(line)
        if found is None:
            return facts
        data = found.get("data")
        match text(found, "type"):
            case "assistant.message":
                facts = replace(facts, model=text(data, "model") or facts.model)
                return facts.words(text(data, "content"))
            case "tool.execution_start":
                given = data.get("arguments") if isinstance(data, dict) else None
                return tool_step(facts, text(data, "toolName"), given)
            case "assistant.usage":
                used = count(data, "inputTokens", "outputTokens")
                return replace(facts, tokens=facts.tokens + used)
            case "session.error":
                return trouble(facts, text(data, "message"))
            case "session.warning":
                return facts.step(Category.ERROR, text(data, "message"))
            case "result":
                return replace(facts, session=text(found, "sessionId") or facts.session)
        return facts

    def verdict(self, ended: Ended, facts: Facts) -> Verdict:
        return judge_end(ended, facts)


ENGINE: Engine = Copilot()
