"""How a program is given its task: by standard input or a file, never on a command line, which has bounds and can be seen."""

from pathlib import Path

from bot.worker.engines import Brief


def prompt(brief: Brief) -> bytes:
    """What this start is told. Raises OSError.

    In a conversation that goes on only what failed; in a new one the whole task as well.
    """
    if brief.feedback is None:
        return brief.prompt.read_bytes()
    failed = brief.feedback.read_bytes()
    return failed if brief.session else brief.prompt.read_bytes() + b"\n" + failed


def pointer(brief: Brief) -> str:
    """A sentence of ours that names the files to be read, for a program that takes its task as an argument only."""
    files = [brief.prompt, *([brief.feedback] if brief.feedback is not None else [])]
    return f"Read {' and then '.join(str(_inside(file, brief)) for file in files)}, and do what stands there."


def _inside(file: Path, brief: Brief) -> Path:
    return file.relative_to(brief.workspace) if file.is_relative_to(brief.workspace) else file
