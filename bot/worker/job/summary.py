"""The job summary of an attempt: what became of it, at a glance; the agent's own words folded away, and harmless."""

from collections.abc import Iterator

from bot.model.report import GateStatus, Report
from bot.notation.quoting import code_block, quote, quote_line

_SHOWN = 20  # gates


def summary_of(report: Report, link: str) -> str:
    """`report` is redacted already; `link` leads to the repository, for its issue and pull request."""
    parts = list(_parts(report, link))
    return "\n\n".join(parts) + "\n"


def _parts(report: Report, link: str) -> Iterator[str]:
    yield f"## [#{report.task}]({link}/issues/{report.task}): {report.outcome} (`{report.key}`)"
    if report.reason:
        yield quote(report.reason)
    if report.pull:
        merged = ", merged" if report.merged else ""
        yield f"Pull request [#{report.pull}]({link}/pull/{report.pull}){merged}."
    if report.gates:
        rows = [
            f"| {quote_line(gate.name, 80)} | {gate.status} | {gate.seconds:.1f} s |" for gate in report.gates
        ]
        yield "\n".join(["| gate | result | took |", "| --- | --- | --- |", *rows[:_SHOWN]])
    for gate in report.gates[:_SHOWN]:
        if gate.status is not GateStatus.PASSED and gate.tail:
            yield _folded(f"The end of what {quote_line(gate.name, 80)} said", code_block(gate.tail))
    if report.question is not None:
        yield _folded("The agent's question", quote(report.question.text))
    if report.message:
        yield _folded("The agent's own words, which decide nothing", quote(report.message))


def _folded(title: str, text: str) -> str:
    return f"<details><summary>{title}</summary>\n\n{text}\n\n</details>"
