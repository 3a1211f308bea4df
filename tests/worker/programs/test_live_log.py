"""What people see of a program while it runs: no command for the runner, and no more than is bounded."""

from bot.worker.programs.live_log import LiveLog
from bot.worker.programs.redact import Redactor

OTHER = "tok-0123456789abcdefghij"


def test_the_live_log_gives_the_runner_no_command():
    """The stop token stands before the first line, is unknown to the program, and ends after the last one."""
    shown: list[str] = []
    with LiveLog(shown.append, Redactor([OTHER]), "[#1] ") as live:
        live.feed(b"::error::x\r##[error]y\nkey " + OTHER.encode() + b"\n\xff tail")

    lines = "".join(shown).splitlines()
    token = lines[0].removeprefix("::stop-commands::")
    assert len(token) == 32
    assert lines[1:] == [
        "[#1] ::error::x",
        "[#1] ##[error]y",
        "[#1] key ***",
        "[#1] \ufffd tail",
        f"::{token}::",
    ]


def test_the_live_log_is_capped_and_long_lines_are_cut():
    shown: list[str] = []
    with LiveLog(shown.append, Redactor([])) as live:
        for _ in range(60):
            live.feed(b"x" * 65536)

    text = "".join(shown)
    assert len(text) < 2_010_000
    assert "more output is not shown" in text
    assert max(map(len, text.splitlines())) <= 4_000
