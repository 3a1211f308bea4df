"""How a program is given its task: by standard input or a file, never on a command line, which has bounds and can be seen."""

from bot.worker.engines import AgentInput


def prompt(agent_input: AgentInput) -> bytes:
    """What this start is told. Raises OSError.

    In a conversation that goes on only what failed; in a new one the whole task as well.
    """
    if agent_input.feedback is None:
        return agent_input.prompt.read_bytes()
    failed = agent_input.feedback.read_bytes()
    return failed if agent_input.session else agent_input.prompt.read_bytes() + b"\n" + failed
