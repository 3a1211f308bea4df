"""An agent class for mini-swe-agent: told its task on standard input, telling each message as a line of JSON.

It is imported by the `mini` program, in its own environment, from the folder that PYTHONPATH names.
"""

import json
import os
import sys
from pathlib import Path
from typing import Any

from minisweagent import __version__
from minisweagent.agents.default import DefaultAgent

_TOLD = ("PYTHONPATH", "CF_MINI_CONTINUE")
_EARLIER = os.environ.get("CF_MINI_CONTINUE", "")
for _name in _TOLD:  # the commands that the agent runs are not to see them
    os.environ.pop(_name, None)


class ToldAgent(DefaultAgent):  # type: ignore[misc]  # the package is not installed where types are checked
    """The default agent, without a terminal."""

    def run(self, task: str = "", **given: Any) -> Any:  # noqa: ARG002 - the task stands on standard input
        """Raises what the model's client raises, after saying so."""
        kept = self.config.output_path
        _tell({"cf": "start", "session": Path(kept).stem if kept else "", "version": __version__})
        ended = super().run(sys.stdin.read(), **given)
        if ended.get("exit_status") != "Submitted":
            sys.exit(1)
        return ended

    def add_messages(self, *messages: dict[str, Any]) -> list[dict[str, Any]]:
        if not self.messages and _EARLIER:
            self.messages.extend(
                _before_its_end(json.loads(Path(_EARLIER).read_text(encoding="utf-8"))["messages"])
            )
            asked = self.extra_template_vars["task"]
            messages = (self.model.format_message(role="user", content=asked),)
        for message in messages:
            _tell(_words_of(message))
        added: list[dict[str, Any]] = super().add_messages(*messages)
        return added


def _before_its_end(messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """A conversation without its end, and without the call whose answer was that end."""
    kept = [message for message in messages if message.get("role") != "exit"]
    while kept and kept[-1].get("role") == "assistant":
        kept.pop()
    return kept


def _words_of(message: dict[str, Any]) -> dict[str, Any]:
    extra = message.get("extra") or {}
    role, content = str(message.get("role", "")), message.get("content")
    told: dict[str, Any] = {"cf": role if role in ("assistant", "exit") else "other"}
    if told["cf"] == "other":
        return told
    told["content"] = content if isinstance(content, str) else ""
    if role == "exit":
        told["status"] = extra.get("exit_status", "")
        return told
    response = extra.get("response")
    told["usage"] = response.get("usage") if isinstance(response, dict) else None
    told["cost"] = extra.get("cost", 0.0)
    told["actions"] = extra.get("actions", [])
    return told


def _tell(event: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps(event, default=str) + "\n")
    sys.stdout.flush()
