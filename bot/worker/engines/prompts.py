"""How a program is given its task: by standard input or a file, never on a command line, which has bounds and can be seen."""

from pathlib import Path

from bot.worker.engines import AgentInput


def prompt(agent_input: AgentInput) -> bytes:
    """What this start is told. Raises OSError.

    In a conversation that goes on only what failed; in a new one the whole task as well.
    """
    if agent_input.feedback is None:
        return agent_input.prompt.read_bytes()
    failed = agent_input.feedback.read_bytes()
    return failed if agent_input.session else agent_input.prompt.read_bytes() + b"\n" + failed


def pointer(agent_input: AgentInput) -> str:
    """A sentence of ours that names the files to be read, for a program that takes its task as an argument only."""
    files = [agent_input.prompt, *([agent_input.feedback] if agent_input.feedback is not None else [])]
    return f"Read {' and then '.join(str(_inside(file, agent_input)) for file in files)}, and do what stands there."


def _inside(file: Path, agent_input: AgentInput) -> Path:
    return file.relative_to(agent_input.workspace) if file.is_relative_to(agent_input.workspace) else file
