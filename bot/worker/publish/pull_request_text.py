"""The words of a pull request: it closes its own issue and no other, whatever the agent wrote."""

from collections.abc import Sequence

from msgspec import Struct

from bot.github.fit import closed
from bot.model.report import GateResult
from bot.notation.sanitise import neutralise

_TITLE, _SAID = 200, 20_000


class PullWords(Struct, frozen=True):
    """What a pull request says. `gates` are those that passed on its commit; none means that it is not verified.

    `own_account` says that an account of our own opens it, so that checks start by themselves; `replaces` is the earlier pull
    request whose place it takes, or 0.
    """

    task: int
    key: str
    issue_title: str
    said: str
    gates: Sequence[GateResult]
    notes: Sequence[str]
    run_url: str
    own_account: bool
    replaces: int = 0

    def title(self) -> str:
        words = " ".join(neutralise(self.issue_title, self.task).text.split())[:_TITLE]
        return f"{words or 'Work'} (#{self.task})"

    def body(self) -> str:
        neutral = neutralise(self.said[:_SAID], self.task)
        parts = [f"Closes #{self.task}", closed(neutral.text.strip())]
        if len(self.said) > _SAID:
            parts.append("(The agent's words are cut here; the run has all of them.)")
        parts += ["---", self._proof()]
        if neutral.defused:
            shown = ", ".join(f"`{reference}`" for reference in neutral.defused[:10])
            parts.append(f"The agent's words would also have closed {shown}; that was taken out.")
        parts += [f"Note: {neutralise(note, self.task).text}." for note in self.notes if note]
        if self.replaces:
            parts.append(f"Takes the place of #{self.replaces}, which is closed.")
        if not self.own_account:
            parts.append(
                "This pull request was opened with the default token, so its checks wait until somebody with write permission"
                " approves them."
            )
        parts.append(
            f"Attempt `{self.key}`, [run]({self.run_url}). To go on: a review that requests changes has it done again at the next"
            f" tick, `/cf retry` in a comment on #{self.task} at once. Closed without merging, #{self.task} goes to the backlog."
        )
        return "\n\n".join(part for part in parts if part)

    def _proof(self) -> str:
        if not self.gates:
            return "**Not verified**: no gate is configured, so nothing has proven this change. Please review it as a draft."
        rows = "\n".join(f"| {gate.name.replace('|', ' ')} | {gate.status} |" for gate in self.gates)
        return f"Verified on a clean machine, on exactly this commit:\n\n| gate | result |\n| --- | --- |\n{rows}"
