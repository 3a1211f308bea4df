"""Engine `aider`: the pair programmer of that name, with one message and no terminal."""

import re
import shlex
from collections.abc import Sequence

from msgspec.structs import replace

from bot.model.report import Category, Outcome
from bot.worker.engines import AgentInput, Call, Engine, Verdict
from bot.worker.engines.facts import Facts, trouble
from bot.worker.engines.litellm import litellm_environment, litellm_model
from bot.worker.engines.verdicts import judge_end, judge_provider
from bot.worker.programs.process import Ended

_TOKENS = re.compile(
    r"Tokens: ([\d.,]{1,12})(k|M)? sent(?:, [^,]{1,40}cache[^,]{0,20}){0,2}, ([\d.,]{1,12})(k|M)? received"
)
_COST = re.compile(r"Cost: \$([\d.,]{1,14}) message")
_APPLIED = re.compile(r"(?:Applied edit to|Creating empty file) (.{1,200})")
_TROUBLE = re.compile(r"litellm\.\w{1,60}Error")
_FACTORS = {"": 1, "k": 1_000, "M": 1_000_000}


class Aider:
    """Reads its prompt from a file, and edits files without a shell. It prints text for people, of which the counts are read.

    It has no sessions. Its exit status is 0 also where its model could not be reached.
    """

    version = "0.86.2"
    install: Sequence[Sequence[str]] = (
        ("uv", "tool", "install", "--quiet", "--python", ">=3.10,<3.13", f"aider-chat=={version}"),
    )
    structured = False
    can_continue = True
    litter: Sequence[str] = (".aider.tags.cache.v4", ".aider.chat.history.md", ".aider.input.history")

    def call(self, agent_input: AgentInput) -> Call:
        file = agent_input.prompt if agent_input.feedback is None else agent_input.feedback
        command = ["aider", "--model", litellm_model(agent_input), "--message-file", str(file)]
        command += ["--yes-always", "--no-pretty", "--no-stream", "--no-auto-commits", "--no-dirty-commits"]
        command += ["--no-gitignore", "--no-check-update", "--no-show-release-notes", "--analytics-disable"]
        command += ["--no-show-model-warnings", "--no-detect-urls", "--no-suggest-shell-commands"]
        command += ["--env-file", "/dev/null"]
        command += ["--chat-history-file", str(agent_input.home / "chat.md")]
        command += ["--input-history-file", str(agent_input.home / "input")]
        if agent_input.feedback is not None:
            command += ["--restore-chat-history"]
        return Call(
            (*command, *shlex.split(agent_input.args)),
            {**agent_input.env, "COLUMNS": "1000", **litellm_environment(agent_input)},
        )

    def read(self, facts: Facts, line: str) -> Facts:
        if found := _TOKENS.search(line):
            facts = facts.words("answered")
            used = _amount(found[1], found[2]) + _amount(found[3], found[4])
            cost = _COST.search(line)
            return replace(
                facts,
                said="",
                error="",
                tokens=facts.tokens + used,
                usd=facts.usd + (_plain(cost[1]) if cost else 0.0),
            )
        if found := _APPLIED.match(line):
            return facts.step(Category.FILE, found[1])
        return trouble(facts, line) if _TROUBLE.search(line) else facts

    def verdict(self, ended: Ended, facts: Facts) -> Verdict:
        if provider := judge_provider(facts):
            return provider
        if facts.error:
            return Verdict(Outcome.FAILED, f"the agent got no answer: {facts.error}")
        return judge_end(ended, facts)


def _amount(digits: str, unit: str | None) -> int:
    return int(_plain(digits) * _FACTORS[unit or ""])


def _plain(digits: str) -> float:
    try:
        return float(digits.replace(",", ""))
    except ValueError:
        return 0.0


ENGINE: Engine = Aider()
