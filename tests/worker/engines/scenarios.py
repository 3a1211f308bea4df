"""What the stand-in for a model answers. The name of the model that is asked for says which scene is played."""

import json
from pathlib import Path
from typing import Any

ANSWER = "I wrote feature.txt."
MENDED = "It is mended."
QUESTION = "Which one?\n\nA. this\nB. that\n"
WRITE = "echo hello > feature.txt"
MEND = "echo mended > mended.txt"
ASK = f"mkdir -p .cf && printf '{QUESTION.encode('unicode_escape').decode()}' > .cf/question.md"
HANG = "sleep 3001 & setsid sleep 3002 & echo $$ > started.txt; sleep 3003"
FINISH = "echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT"
ERRORS = {
    "cf-fail": (400, "this request is no good", "invalid_request_error"),
    "cf-limit": (429, "Rate limit reached, please try again in 20s", "rate_limit_error"),
    "cf-refuse": (401, "invalid api key", "authentication_error"),
}

# The one argument of each program's shell, by the name of its tool.
_SHELLS = {"Bash": "command", "exec_command": "cmd", "run_shell_command": "command", "bash": "command"}
_MINI = "You are a helpful assistant that can interact with a computer"
_AIDER = "Act as an expert software developer"
_USAGE = {"prompt_tokens": 1200, "completion_tokens": 34, "total_tokens": 1234}


def fixtures() -> dict[str, Any]:
    """All scenes, for the stand-in. The first that matches is played."""
    scenes: list[dict[str, Any]] = []
    for model, (status, message, kind) in ERRORS.items():
        error = {"error": {"message": message, "type": kind}, "status": status}
        scenes.append({"match": {"model": model}, "response": error})
    # A further round in a conversation that was forgotten comes to nothing.
    forgotten = {"model": "cf-edit", "userMessage": "MEND", "turnIndex": 0}
    scenes.append({"match": forgotten, "response": {"content": "I remember nothing."}})
    slow = {"match": {"model": "cf-hang", "systemMessage": _AIDER}, "latency": 30_000}
    scenes.append({**slow, "response": {"content": "well " * 100}})
    for model, asks, command, file in (
        ("cf-edit", "MEND", MEND, "mended.txt\n```\nmended\n```\n"),
        ("cf-edit", "", WRITE, "feature.txt\n```\nhello\n```\n"),
        ("cf-ask", "", ASK, f".cf/question.md\n```\n{QUESTION}```\n"),
        ("cf-hang", "", HANG, ""),
    ):
        scenes += _scene({"model": model, **({"userMessage": asks} if asks else {})}, command, file)
    scenes.append({"match": {}, "response": {"content": "ok"}})
    return {"fixtures": scenes}


def _scene(match: dict[str, Any], command: str, file: str) -> list[dict[str, Any]]:
    # What names a file is taken by aider for a wish to see it.
    words = MENDED if command == MEND else ANSWER
    done = {"content": words, "usage": _USAGE}
    finish = {**done, "toolCalls": [{"name": "bash", "arguments": {"command": FINISH}}]}
    after = {**match, "hasToolResult": True}
    scenes: list[dict[str, Any]] = [
        {"match": {**match, "systemMessage": _AIDER}, "response": {**done, "content": f"{words}\n\n{file}"}},
        {"match": {**after, "systemMessage": _MINI}, "response": finish},
        {"match": after, "response": done},
    ]
    for tool, argument in _SHELLS.items():
        given = {argument: command, **({} if tool == "exec_command" else {"description": "work"})}
        call = {"toolCalls": [{"name": tool, "arguments": given}], "usage": _USAGE}
        scenes.append({"match": {**match, "toolName": tool}, "response": call})
    return scenes


def write_fixtures(file: Path) -> Path:
    file.write_text(json.dumps(fixtures()), encoding="utf-8")
    return file
