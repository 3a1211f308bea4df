"""Engine `command`: any command line of the default branch's configuration, run by bash."""

import signal
from collections.abc import Mapping, Sequence

from bot.model.config import CONFIG_PATH, EngineConfig
from bot.model.errors import UsageError
from bot.model.report import Outcome
from bot.worker.engines import Brief, Engine, Verdict
from bot.worker.process import Ended


class CommandEngine:
    """The command finds its task in the file that CF_PROMPT_FILE names, and says by its exit code how it went."""

    can_continue = True

    def command(self, brief: Brief, config: EngineConfig) -> Sequence[str]:  # noqa: ARG002 - part of the seam
        if not config.args.strip():
            raise UsageError(
                f"{CONFIG_PATH}: engines.command.args is empty: it must be the command line to run"
            )
        return ("bash", "-c", config.args)

    def environment(self, brief: Brief, config: EngineConfig) -> Mapping[str, str]:
        own = {
            "CF_PROMPT_FILE": str(brief.prompt),
            "CF_QUESTION_FILE": str(brief.question),
            "CF_SUMMARY_FILE": str(brief.summary),
            "CF_WORKSPACE": str(brief.workspace),
            "CF_KEY": brief.key,
            "CF_TASK": str(brief.task),
            "CF_ATTEMPT": str(brief.attempt),
        }
        if config.model:
            own["CF_MODEL"] = config.model
        if brief.model_key:
            own["CF_MODEL_KEY"] = brief.model_key
        if brief.feedback is not None:
            own["CF_FEEDBACK_FILE"] = str(brief.feedback)
        return {**config.env, **own}

    def verdict(self, ended: Ended) -> Verdict:
        if ended.code == 0:
            return Verdict(None)
        # A shell reports a child's death by signal n as 128 + n.
        number = -ended.code if ended.code < 0 else ended.code - 128
        if number in {int(known) for known in signal.valid_signals()}:
            return Verdict(
                Outcome.CRASHED, f"the agent died of {_signal_name(number)} (exit status {ended.code})"
            )
        return Verdict(Outcome.FAILED, f"the agent ended with exit status {ended.code}")


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


ENGINE: Engine = CommandEngine()
