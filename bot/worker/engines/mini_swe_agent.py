"""Engine `mini-swe-agent`, the default: a small agent with one tool, bash, and any model that litellm knows."""

import shlex
from collections.abc import Sequence
from pathlib import Path

from msgspec.structs import replace

from bot.model.report import Category
from bot.worker.engines import AgentInput, Call, Engine, Verdict
from bot.worker.engines.events import count, each, event, number, text
from bot.worker.engines.facts import Facts, trouble
from bot.worker.engines.litellm import litellm_environment, litellm_model
from bot.worker.engines.prompts import prompt
from bot.worker.engines.verdicts import judge_end
from bot.worker.programs.process import Ended

_COMMAND_SECONDS = 600
_DRIVERS = Path(__file__).parent / "drivers"


class MiniSweAgent:
    """Its program is started with an agent class of ours (`drivers/cf_mini.py`), which reads the prompt from standard input,
    prints each message as JSON, and can go on with an earlier conversation.
    """

    version = "2.4.6"
    install: Sequence[Sequence[str]] = (
        ("uv", "tool", "install", "--quiet", "--python", ">=3.10", f"mini-swe-agent=={version}"),
    )
    structured = True
    can_continue = True
    litter: Sequence[str] = ()

    def call(self, agent_input: AgentInput) -> Call:
        kept = agent_input.home / "conversation.json"
        command = ["mini", "--agent-class", "cf_mini.ToldAgent", "--yolo", "--exit-immediately"]
        # Half a minute for each command, its own limit, is too short for a build or a test run.
        command += ["--config", "mini.yaml", "--config", f"environment.timeout={_COMMAND_SECONDS}"]
        command += ["--model", litellm_model(agent_input), "--task", "-"]
        command += ["--output", str(kept), "--cost-limit", "0"]
        own = {
            "PYTHONPATH": str(_DRIVERS),
            "MSWEA_CONFIGURED": "true",
            "MSWEA_SILENT_STARTUP": "1",
            "MSWEA_COST_TRACKING": "ignore_errors",  # a model without a known price still works
            "MSWEA_MODEL_RETRY_STOP_AFTER_ATTEMPT": "4",
            **({"CF_MINI_CONTINUE": str(kept)} if agent_input.session else {}),
        }
        return Call(
            (*command, *shlex.split(agent_input.args)),
            {**agent_input.env, **own, **litellm_environment(agent_input)},
            given=prompt(agent_input),
        )

    def read(self, facts: Facts, line: str) -> Facts:
        found = event(line)
        if found is None or "cf" not in found:
            return facts
        match text(found, "cf"):
            case "start":
                return replace(facts, session=text(found, "session"), version=text(found, "version"))
            case "assistant":
                usage = found.get("usage")
                facts = replace(
                    facts,
                    tokens=facts.tokens + count(usage, "prompt_tokens", "completion_tokens"),
                    usd=facts.usd + number(found, "cost"),
                ).words(text(found, "content"))
                for action in each(found, "actions"):
                    facts = facts.step(Category.SHELL, text(action, "command"))
                return facts
            case "exit" if text(found, "status") != "Submitted":
                return trouble(facts, f"{text(found, 'status')}: {text(found, 'content')}")
        return facts

    def verdict(self, ended: Ended, facts: Facts) -> Verdict:
        return judge_end(ended, facts)


ENGINE: Engine = MiniSweAgent()
