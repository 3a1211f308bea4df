"""The words of a pull request: it closes its own issue and no other, whatever the agent wrote."""

from collections.abc import Sequence

from msgspec import Struct

from bot.model.report import GateResult
from bot.notation.sanitise import neutralise

_DEFAULT_TOKEN_ACCOUNT = 41898282  # github-actions[bot]
_TITLE, _SAID = 200, 20_000


class PullWords(Struct, frozen=True):
    """What a pull request says. `gates` are those that passed on its commit; none means that it is not verified."""

    task: int
    key: str
    issue_title: str
    said: str
    gates: Sequence[GateResult]
    notes: Sequence[str]
    run_url: str
    accounts: Sequence[int]

    def title(self) -> str:
        words = " ".join(neutralise(self.issue_title, self.task).text.split())[:_TITLE]
        return f"{words or 'Work'} (#{self.task})"

    def body(self) -> str:
        neutral = neutralise(self.said[:_SAID], self.task)
        parts = [f"Closes #{self.task}", neutral.text.strip(), "---", self._proof()]
        if neutral.defused:
            shown = ", ".join(f"`{reference}`" for reference in neutral.defused[:10])
            parts.append(f"The agent's words would also have closed {shown}; that was taken out.")
        parts += [f"Note: {neutralise(note, self.task).text}." for note in self.notes if note]
        if _DEFAULT_TOKEN_ACCOUNT in self.accounts[:1]:
            parts.append(
                "This pull request was opened with the default token, so its checks wait until somebody with write permission"
                " approves them."
            )
        parts.append(
            f"Attempt `{self.key}`, [run]({self.run_url}). To have it done again, give #{self.task} the ready label again;"
            " a review that requests changes does the same at the next tick."
        )
        return "\n\n".join(part for part in parts if part)

    def _proof(self) -> str:
        if not self.gates:
            return "**Not verified**: no gate is configured, so nothing has proven this change. Please review it as a draft."
        rows = "\n".join(f"| {gate.name.replace('|', ' ')} | {gate.status} |" for gate in self.gates)
        return f"Verified on a clean machine, on exactly this commit:\n\n| gate | result |\n| --- | --- |\n{rows}"
