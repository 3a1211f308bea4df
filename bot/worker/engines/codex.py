"""Engine `codex`: OpenAI's Codex CLI, `codex exec`, and `codex exec resume` for a further round."""

import json
import shlex
from collections.abc import Sequence

from msgspec.structs import replace

from bot.model.report import Category
from bot.worker.engines import AgentInput, Call, Engine, Verdict
from bot.worker.engines.events import count, each, event, text
from bot.worker.engines.facts import Facts, trouble
from bot.worker.engines.prompts import prompt
from bot.worker.engines.verdicts import judge_end
from bot.worker.programs.process import Ended


class Codex:
    """Reads its prompt from standard input and prints a stream of JSON. Its own sandbox is off: the runner is one."""

    version = "0.171.0"
    install: Sequence[Sequence[str]] = (
        ("npm", "install", "--global", "--no-audit", "--no-fund", f"@openai/codex@{version}"),
    )
    structured = True
    can_continue = True
    litter: Sequence[str] = ()

    def call(self, agent_input: AgentInput) -> Call:
        command = ["codex", "exec"]
        if agent_input.session:
            command += ["resume"]
        command += ["--json", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox"]
        # With a provider of its own, the key is read from a variable and nothing is ever logged in or written down.
        address = agent_input.base_url or "https://api.openai.com/v1"
        provider = (
            f'{{name="cf",base_url={json.dumps(address)},env_key="OPENAI_API_KEY",wire_api="responses",'
        )
        provider += "request_max_retries=4,stream_max_retries=4}"
        command += ["-c", 'model_provider="cf"', "-c", f"model_providers.cf={provider}"]
        if agent_input.model:
            command += ["--model", agent_input.model.removeprefix("openai/")]
        command += shlex.split(agent_input.args)
        command += [agent_input.session, "-"] if agent_input.session else ["-"]
        environment = {
            **agent_input.env,
            "CODEX_HOME": str(agent_input.home / ".codex"),
            **({"OPENAI_API_KEY": agent_input.model_key} if agent_input.model_key else {}),
        }
        return Call(
            tuple(command), environment, given=prompt(agent_input), settings={".codex/config.toml": ""}
        )

    def read(self, facts: Facts, line: str) -> Facts:
        found = event(line)
        if found is None:
            return facts
        match text(found, "type"):
            case "thread.started":
                return replace(facts, session=text(found, "thread_id"))
            case "item.started" | "item.completed" as when:
                return self._item(facts, found.get("item"), done=when == "item.completed")
            case "turn.completed":
                # What a thread has used as a whole; cached input is part of the input.
                used = count(found.get("usage"), "input_tokens", "output_tokens")
                return replace(facts, tokens=max(facts.tokens, used))
            case "turn.failed":
                return trouble(facts, text(found, "error", "message"))
            case "error":
                return trouble(facts, text(found, "message"))
        return facts

    def verdict(self, ended: Ended, facts: Facts) -> Verdict:
        return judge_end(ended, facts)

    def _item(self, facts: Facts, item: object, *, done: bool) -> Facts:
        match text(item, "type"), done:
            case "command_execution", False:
                return facts.step(Category.SHELL, text(item, "command"))
            case "file_change", True:
                changes = (f"{text(each_, 'kind')} {text(each_, 'path')}" for each_ in each(item, "changes"))
                return facts.step(Category.FILE, ", ".join(changes))
            case "todo_list", _:
                return facts.step(
                    Category.PLAN, "; ".join(text(entry, "text") for entry in each(item, "items"))
                )
            case "agent_message", True:
                return facts.words(text(item, "text"))
            case "mcp_tool_call" | "web_search", True:
                return facts.step(Category.MODEL, text(item, "tool") or text(item, "query"))
            case "error", True:  # a remark; what ends a turn is told apart
                return facts.step(Category.ERROR, text(item, "message"))
        return facts


ENGINE: Engine = Codex()
