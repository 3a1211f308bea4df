"""Engine `gemini`: Google's Gemini CLI without a terminal."""

import json
import re
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

_SETTINGS = {
    # Without a choice of how to log in it refuses to start, key or no key.
    "security": {"auth": {"selectedType": "gemini-api-key"}},
    "general": {"disableAutoUpdate": True, "enableAutoUpdate": False, "maxAttempts": 4},
    "privacy": {"usageStatisticsEnabled": False},
    "telemetry": {"enabled": False},
}
_RETRY = re.compile(r"Attempt \d{1,3} failed")


class Gemini:
    """Reads its prompt from standard input and prints a stream of JSON, with remarks of its own between."""

    version = "0.61.0"
    install: Sequence[Sequence[str]] = (
        ("npm", "install", "--global", "--no-audit", "--no-fund", f"@google/gemini-cli@{version}"),
    )
    structured = True
    can_continue = True
    litter: Sequence[str] = ()

    def call(self, agent_input: AgentInput) -> Call:
        command = ["gemini", "--output-format", "stream-json", "--approval-mode", "yolo", "--skip-trust"]
        if agent_input.model:
            command += ["--model", agent_input.model.removeprefix(f"{agent_input.provider}/")]
        if agent_input.session:
            # It takes no name of a session here, but the home folder holds only those of this attempt.
            command += ["--resume", "latest"]
        own = {"GEMINI_API_KEY": agent_input.model_key, "GOOGLE_GEMINI_BASE_URL": agent_input.base_url}
        return Call(
            (*command, *shlex.split(agent_input.args)),
            {**agent_input.env, **{name: value for name, value in own.items() if value}},
            given=prompt(agent_input),
            settings={".gemini/settings.json": json.dumps(_SETTINGS)},
        )

    def read(self, facts: Facts, line: str) -> Facts:
        found = event(line)
        if found is None:
            return trouble(facts, line) if _RETRY.match(line) else facts
        match text(found, "type"):
            case "init":
                return replace(facts, session=text(found, "session_id"), model=text(found, "model"))
            case "message" if text(found, "role") == "assistant":
                return facts.more_words(text(found, "content"))
            case "tool_use":
                return tool_step(facts, text(found, "tool_name"), found.get("parameters"))
            case "error":
                return facts.step(Category.ERROR, text(found, "message"))
            case "result":
                before, _ = facts.settled
                used = count(found.get("stats"), "total_tokens")
                facts = replace(facts, tokens=max(facts.tokens, before + used))
                failed = text(found, "status") == "error"
                return trouble(facts, text(found, "error", "message")) if failed else facts
        return facts

    def verdict(self, ended: Ended, facts: Facts) -> Verdict:
        return judge_end(ended, facts)


ENGINE: Engine = Gemini()
