"""Engine `command`: any command line of the default branch's configuration, run by bash."""

from collections.abc import Sequence

from bot.model.config import CONFIG_PATH
from bot.model.errors import UsageError
from bot.model.report import Outcome
from bot.worker.engines import Brief, Call, Engine, Verdict
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

    def call(self, brief: Brief) -> Call:
        if not brief.args.strip():
            raise UsageError(
                f"{CONFIG_PATH}: engines.command.args is empty: it must be the command line to run"
            )
        own = {
            "CF_PROMPT_FILE": str(brief.prompt),
            "CF_QUESTION_FILE": str(brief.question),
            "CF_SUMMARY_FILE": str(brief.summary),
            "CF_WORKSPACE": str(brief.workspace),
            "CF_KEY": brief.key,
            "CF_TASK": str(brief.task),
            "CF_ATTEMPT": str(brief.attempt),
            "CF_MODEL": brief.model,
            "CF_PROVIDER": brief.provider,
            "CF_BASE_URL": brief.base_url,
            "CF_MODEL_KEY": brief.model_key,
            "CF_FEEDBACK_FILE": str(brief.feedback) if brief.feedback is not None else "",
        }
        given = {name: value for name, value in own.items() if value}
        return Call(("bash", "-c", brief.args), {**brief.env, **given})

    def read(self, facts: Facts, line: str) -> Facts:  # noqa: ARG002 - its output means nothing to us
        return facts

    def verdict(self, ended: Ended, facts: Facts) -> Verdict:
        if ended.code == BUSY_STATUS:
            return Verdict(Outcome.CAPACITY, f"the agent asks to be tried later (exit status {BUSY_STATUS})")
        return judge_end(ended, facts)


ENGINE: Engine = CommandEngine()
