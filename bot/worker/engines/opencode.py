"""Engine `opencode`: `opencode run`, with any provider that it knows or an address of one's own."""

import json
import shlex
from collections.abc import Sequence
from typing import Any

from msgspec.structs import replace

from bot.model.engine import PROVIDER_SECRETS
from bot.model.report import Category, Question
from bot.worker.engines import AgentInput, Call, Engine, Verdict
from bot.worker.engines.events import at, count, each, event, number, text, tool_step
from bot.worker.engines.facts import Facts, trouble
from bot.worker.engines.prompts import prompt
from bot.worker.engines.verdicts import judge_end
from bot.worker.programs.process import Ended

_OWN = "cf"
_PACKAGES = {"anthropic": "@ai-sdk/anthropic", "openai": "@ai-sdk/openai", "google": "@ai-sdk/google"}


class OpenCode:
    """Reads its prompt from standard input and prints a stream of JSON. A provider at an address of one's own is called `cf`."""

    version = "1.18.33"
    install: Sequence[Sequence[str]] = (
        ("npm", "install", "--global", "--no-audit", "--no-fund", f"opencode-ai@{version}"),
    )
    structured = True
    can_continue = True
    litter: Sequence[str] = ()

    def call(self, agent_input: AgentInput) -> Call:
        name = agent_input.model.removeprefix(f"{agent_input.provider}/")
        key = PROVIDER_SECRETS.get(
            agent_input.provider, f"{agent_input.provider.upper().replace('-', '_')}_API_KEY"
        )
        config: dict[str, Any] = {
            "autoupdate": False,
            "share": "disabled",
            "permission": {"question": "deny", "external_directory": "allow"},
        }
        provider = agent_input.provider
        if agent_input.base_url:
            provider = _OWN
            config["provider"] = {
                _OWN: {
                    "npm": _PACKAGES.get(agent_input.provider, "@ai-sdk/openai-compatible"),
                    "options": {"baseURL": agent_input.base_url, "apiKey": f"{{env:{key}}}"},
                    "models": {name: {}},
                }
            }
        elif agent_input.provider == "google":
            config["provider"] = {"google": {"options": {"apiKey": f"{{env:{key}}}"}}}
        command = ["opencode", "run", "--format", "json", "--auto", "--model", f"{provider}/{name}"]
        if agent_input.session:
            command += ["--session", agent_input.session]
        environment = {
            **agent_input.env,
            "OPENCODE_DISABLE_AUTOUPDATE": "1",
            "OPENCODE_CONFIG_CONTENT": json.dumps(config),
            # The list of models is fetched from the network; one that we name ourselves needs no list.
            **({"OPENCODE_DISABLE_MODELS_FETCH": "1"} if agent_input.base_url else {}),
            **({key: agent_input.model_key} if agent_input.model_key else {}),
        }
        return Call((*command, *shlex.split(agent_input.args)), environment, given=prompt(agent_input))

    def read(self, facts: Facts, line: str) -> Facts:
        found = event(line)
        if found is None:
            return facts
        facts = replace(facts, session=text(found, "sessionID") or facts.session)
        part = found.get("part")
        match text(found, "type"):
            case "text":
                return facts.words(text(part, "text"))
            case "tool_use":
                return self._tool(facts, text(part, "tool"), at(part, "state", "input"))
            case "step_finish":
                used = count(at(part, "tokens"), "total") or (
                    count(at(part, "tokens"), "input", "output", "reasoning")
                    + count(at(part, "tokens", "cache"), "read", "write")
                )
                return replace(facts, tokens=facts.tokens + used, usd=facts.usd + number(part, "cost"))
            case "error":
                status = int(number(found, "error", "data", "statusCode"))
                words = text(found, "error", "data", "message") or text(found, "error", "name")
                return trouble(facts, f"{status} {words}" if status else words)
        return facts

    def verdict(self, ended: Ended, facts: Facts) -> Verdict:
        return judge_end(ended, facts)

    def _tool(self, facts: Facts, name: str, given: object) -> Facts:
        if name != "question":
            return tool_step(facts, name, given)
        asked = next(each(given, "questions"), {})
        options = tuple(text(option, "label") for option in each(asked, "options"))
        told = facts.step(Category.QUESTION, text(asked, "question"))
        return replace(told, question=Question(text(asked, "question"), options))


ENGINE: Engine = OpenCode()
