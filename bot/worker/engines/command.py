"""Engine `command`: any command line of the default branch's configuration, run by bash."""

from collections.abc import Sequence

from bot.model.config import CONFIG_PATH
from bot.model.errors import UsageError
from bot.model.report import Outcome
from bot.worker.engines import AgentInput, Call, Engine, Verdict
from bot.worker.engines.facts import Facts
from bot.worker.engines.verdicts import BUSY_STATUS, judge_end
from bot.worker.programs.process import Ended


class CommandEngine:
    """The command finds its task in the file that CF_PROMPT_FILE names, and says by its exit code how it went."""

    version = ""
    install: Sequence[Sequence[str]] = ()
    structured = False
    can_continue = True
    litter: Sequence[str] = ()

    def call(self, agent_input: AgentInput) -> Call:
        if not agent_input.args.strip():
            raise UsageError(
                f"{CONFIG_PATH}: engines.command.args is empty: it must be the command line to run"
            )
        own = {
            "CF_PROMPT_FILE": str(agent_input.prompt),
            "CF_QUESTION_FILE": str(agent_input.question),
            "CF_SUMMARY_FILE": str(agent_input.summary),
            "CF_WORKSPACE": str(agent_input.workspace),
            "CF_KEY": agent_input.key,
            "CF_TASK": str(agent_input.task),
            "CF_ATTEMPT": str(agent_input.attempt),
            "CF_MODEL": agent_input.model,
            "CF_PROVIDER": agent_input.provider,
            "CF_BASE_URL": agent_input.base_url,
            "CF_MODEL_KEY": agent_input.model_key,
            "CF_FEEDBACK_FILE": str(agent_input.feedback) if agent_input.feedback is not None else "",
        }
        given = {name: value for name, value in own.items() if value}
        return Call(("bash", "-c", agent_input.args), {**agent_input.env, **given})

    def read(self, facts: Facts, line: str) -> Facts:  # noqa: ARG002 - its output means nothing to us
        return facts

    def verdict(self, ended: Ended, facts: Facts) -> Verdict:
        if ended.code == BUSY_STATUS:
            words = f"the agent asks to be tried later (exit status {BUSY_STATUS})"
            return Verdict(Outcome.CAPACITY, words, provider=True)
        return judge_end(ended, facts)


ENGINE: Engine = CommandEngine()
