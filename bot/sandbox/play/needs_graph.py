"""The needs of a sandbox's tasks as a Mermaid graph."""

from collections.abc import Sequence

from bot.sandbox.play.task_states import TaskFacts

_COLOURS = {
    "merged": "#6f42c1",
    "done": "#5319e7",
    "in-progress": "#fbca04",
    "ready": "#0e8a16",
    "blocked": "#d93f0b",
    "failed": "#b60205",
    "dropped": "#8b949e",
}


def mermaid(tasks: Sequence[TaskFacts]) -> str:
    """A node for each task, an arrow from each need to its dependent, coloured by how each stands."""
    numbers = {task.number for task in tasks}
    lines = ["graph LR"]
    lines += [f'  t{task.number}["#{task.number} {_plain(task.title)}<br>{task.word}"]' for task in tasks]
    lines += [f"  t{need} --> t{task.number}" for task in tasks for need in task.needs if need in numbers]
    for word, colour in _COLOURS.items():
        if members := [f"t{task.number}" for task in tasks if task.word == word]:
            lines.append(f"  classDef {word} stroke:{colour},stroke-width:3px")
            lines.append(f"  class {','.join(members)} {word}")
    return "\n".join(lines)


def _plain(title: str) -> str:
    """A title as it may stand between quotation marks."""
    kept = "".join(char if char.isprintable() and char not in '"<>[]{}|\\`#&;' else " " for char in title)
    short = " ".join(kept.split())
    return short if len(short) <= 40 else f"{short[:39]}…"
