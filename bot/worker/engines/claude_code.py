"""Engine `claude-code`: Anthropic's Claude Code, one run of `claude --print` for each round."""

import re
import shlex
from collections.abc import Sequence

from msgspec.structs import replace

from bot.model.report import Category, Question
from bot.worker.engines import AgentInput, Call, Engine, Verdict
from bot.worker.engines.events import count, each, event, number, text, tool_step
from bot.worker.engines.facts import Facts, trouble
from bot.worker.engines.limits import is_limit
from bot.worker.engines.prompts import prompt
from bot.worker.engines.verdicts import busy, judge_end
from bot.worker.programs.process import Ended

_TOKENS = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens", "output_tokens")
_OWN_LINE = re.compile(
    r"(?:API Error: )?(?:Claude (?:AI )?usage limit|You've (?:hit|reached) your|[\w-]{1,20} limit reached)",
    re.IGNORECASE,
)
_OWN_WORDS = "<synthetic>"  # the model of messages that the program itself puts in: errors


class ClaudeCode:
    """Reads its prompt from standard input and prints a stream of JSON."""

    version = "2.1.197"
    install: Sequence[Sequence[str]] = (
        ("npm", "install", "--global", "--no-audit", "--no-fund", f"@anthropic-ai/claude-code@{version}"),
    )
    structured = True
    can_continue = True
    litter: Sequence[str] = ()

    def call(self, agent_input: AgentInput) -> Call:
        command = ["claude", "--print", "--output-format", "stream-json", "--verbose"]
        command += ["--permission-mode", "bypassPermissions"]
        if agent_input.model:
            command += ["--model", agent_input.model.removeprefix("anthropic/")]
        if agent_input.session:
            command += ["--resume", agent_input.session]
        key = (
            "CLAUDE_CODE_OAUTH_TOKEN"
            if agent_input.provider == "claude-subscription"
            else "ANTHROPIC_API_KEY"
        )
        own = {
            # Without it a root user, as in many containers, is refused this permission mode.
            "IS_SANDBOX": "1",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "CLAUDE_CODE_MAX_RETRIES": "4",
            "DISABLE_AUTOUPDATER": "1",
            key: agent_input.model_key,
            "ANTHROPIC_BASE_URL": agent_input.base_url,
        }
        return Call(
            (*command, *shlex.split(agent_input.args)),
            {**agent_input.env, **{name: value for name, value in own.items() if value}},
            given=prompt(agent_input),
        )

    def read(self, facts: Facts, line: str) -> Facts:
        found = event(line)
        if found is None:
            return trouble(facts, line) if _OWN_LINE.match(line) and is_limit(line) else facts
        facts = replace(facts, session=text(found, "session_id") or facts.session)
        match text(found, "type"), text(found, "subtype"):
            case "system", "init":
                return replace(facts, model=text(found, "model"), version=text(found, "claude_code_version"))
            case "system", "api_retry":
                status = int(number(found, "error_status"))
                return trouble(facts, f"{status or ''} {text(found, 'error')}")
            case "rate_limit_event", _ if text(found, "rate_limit_info", "status") == "rejected":
                told = trouble(facts, "usage limit reached")
                return replace(told, retry_at=number(found, "rate_limit_info", "resetsAt"))
            case "assistant", _:
                return self._message(facts, found)
            case "result", _:
                return self._result(facts, found)
        return facts

    def verdict(self, ended: Ended, facts: Facts) -> Verdict:
        # Some versions end with success when the plan's limit is used up; whatever is said after it takes it back.
        return busy(facts) if is_limit(facts.capacity) else judge_end(ended, facts)

    def _message(self, facts: Facts, found: object) -> Facts:
        message = found["message"] if isinstance(found, dict) and "message" in found else None
        if text(message, "model") == _OWN_WORDS:
            said = [text(block, "text") for block in each(message, "content")]
            limit = next((words for words in said if is_limit(words)), "")
            return trouble(facts, limit) if limit else facts
        if (name := text(message, "id")) and name != facts.counted:
            usage = message.get("usage") if isinstance(message, dict) else None
            facts = replace(facts, counted=name, tokens=facts.tokens + count(usage, *_TOKENS))
        for block in each(message, "content"):
            if text(block, "type") == "text":
                facts = facts.words(text(block, "text"))
            elif text(block, "type") == "tool_use":
                facts = self._tool(facts, text(block, "name"), block.get("input"))
        return facts

    def _tool(self, facts: Facts, name: str, given: object) -> Facts:
        if name != "AskUserQuestion":
            return tool_step(facts, name, given)
        asked = next(each(given, "questions"), {})
        options = tuple(text(option, "label") for option in each(asked, "options"))
        told = facts.step(Category.QUESTION, text(asked, "question"))
        return replace(told, question=Question(text(asked, "question"), options))

    def _result(self, facts: Facts, found: object) -> Facts:
        usage = found.get("usage") if isinstance(found, dict) else None
        before_tokens, before_usd = facts.settled
        facts = replace(
            facts,
            tokens=max(facts.tokens, before_tokens + count(usage, *_TOKENS)),
            usd=before_usd + number(found, "total_cost_usd"),
        )
        if isinstance(found, dict) and found.get("is_error") is True:
            status = int(number(found, "api_error_status"))
            words = text(found, "result") or text(found, "subtype")
            return trouble(facts, f"{status} {words}" if status and str(status) not in words else words)
        return facts


ENGINE: Engine = ClaudeCode()
