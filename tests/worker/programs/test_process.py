"""AGT-01, AGT-03, AGT-04, AGT-06, AGT-16: programs end when they must, with everything they started."""

import os
import resource
import signal
import subprocess
import sys
import threading
import time
from datetime import timedelta
from pathlib import Path

import pytest

from bot.worker.programs.cancellation import Cancellation
from bot.worker.programs.live_log import LiveLog
from bot.worker.programs.process import TRACK, End, Limits, run
from bot.worker.programs.redact import Redactor
from tests.worker.bench import STUB

ENVIRONMENT = {"PATH": os.environ["PATH"], "LANG": "C.UTF-8"}
LEFT = Path("/proc")
UNIQUE = os.getpid()  # part of how long a process sleeps, so that it is told from those of another run


def stub(folder: Path, *modes: str, **more):
    return run([sys.executable, str(STUB), *modes], folder=folder, environment=ENVIRONMENT, **more)


def survivors(marker: str) -> list[int]:
    """Processes whose environment holds the marker."""
    found = []
    for context in LEFT.glob("[0-9]*/environ"):
        try:
            data = context.read_bytes()
        except OSError:
            continue
        if marker.encode() in data:
            found.append(int(context.parent.name))
    return found


def commands() -> set[str]:
    """The command lines of all processes."""
    found = set()
    for context in LEFT.glob("[0-9]*/cmdline"):
        try:
            found.add(context.read_bytes().replace(b"\0", b" ").decode("utf-8", "replace").strip())
        except OSError:
            continue
    return found


def test_it_says_how_a_program_ended(tmp_path):
    ended = run(["bash", "-c", "echo out; echo err >&2; exit 3"], folder=tmp_path, environment=ENVIRONMENT)

    assert (ended.how, ended.code, sorted(ended.output.split())) == (End.EXITED, 3, ["err", "out"])
    assert not ended.ok


def test_errors_apart_and_input_given(tmp_path):
    ended = run(
        ["bash", "-c", "cat; echo no >&2"],
        folder=tmp_path,
        environment=ENVIRONMENT,
        given=b"yes",
        errors_apart=True,
    )

    assert (ended.output, ended.errors, ended.ok) == ("yes", "no\n", True)


def test_standard_input_is_closed_and_nothing_is_inherited(tmp_path, monkeypatch):
    monkeypatch.setenv("GITHUB_TOKEN", "secret")

    ended = run(
        ["bash", "-c", "read -r line || echo closed; env | cut -d= -f1"],
        folder=tmp_path,
        environment=ENVIRONMENT,
    )

    assert set(ended.output.split()) - {"_", "PWD", "SHLVL", "OLDPWD"} == {"closed", "PATH", "LANG", TRACK}


def test_bytes_that_are_no_text_are_replaced(tmp_path):
    assert run(["printf", r"\377x"], folder=tmp_path, environment=ENVIRONMENT).output == "\ufffdx"


def test_agt_01_wall_clock_ends_what_ignores_every_kind_request(tmp_path):
    began = time.monotonic()

    ended = stub(tmp_path, "stubborn", limits=Limits(wall=timedelta(seconds=1)))

    assert ended.how is End.TIMEOUT
    assert ended.code == -signal.SIGKILL
    assert time.monotonic() - began < 5
    assert ended.output == "stubborn\n"


@pytest.mark.parametrize("then", ["", "hang"])
def test_agt_03_no_process_is_left_behind(tmp_path, then):
    """A child in another session with a grandchild in a third: gone, whether the parent ended or was ended."""
    marker = f"CF_TEST_MARK={tmp_path}"
    name, value = marker.split("=")
    began = time.monotonic()

    modes = ["fork", *([then] if then else [])]
    ended = run(
        [sys.executable, str(STUB), *modes],
        folder=tmp_path,
        environment={**ENVIRONMENT, name: value},
        limits=Limits(wall=timedelta(seconds=1)),
    )

    assert ended.how is (End.TIMEOUT if then else End.EXITED)
    assert ended.output.startswith("forked\n")
    assert survivors(marker) == []
    assert time.monotonic() - began < 6


def test_a_child_that_clears_its_environment_is_found_by_its_parent(tmp_path):
    script = f"env -i setsid sleep 613.{UNIQUE} & env -i sleep 614.{UNIQUE} & sleep 600"

    assert (
        run(
            ["bash", "-c", script],
            folder=tmp_path,
            environment=ENVIRONMENT,
            limits=Limits(wall=timedelta(seconds=0.5)),
        ).how
        is End.TIMEOUT
    )

    assert not {f"sleep 613.{UNIQUE}", f"sleep 614.{UNIQUE}"} & commands()


def test_a_process_of_its_own_adopts_whoever_tries_to_slip_away(tmp_path):
    """No tracking variable, another session, and a parent that is gone: still ended."""
    program = f"""
from pathlib import Path
from bot.worker.programs.process import adopt_orphans, run
assert adopt_orphans()
ended = run(
    ["bash", "-c", "(env -i setsid sleep 615.{UNIQUE} &) ; sleep 0.3"],
    folder=Path({str(tmp_path)!r}),
    environment={ENVIRONMENT!r},
)
print(ended.how)
"""
    root = Path(__file__).parents[3]
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=root, capture_output=True, text=True, check=True
    )

    assert done.stdout == "exited\n"
    assert f"sleep 615.{UNIQUE}" not in commands()


def test_agt_04_a_pipe_held_by_a_grandchild_does_not_block(tmp_path):
    began = time.monotonic()

    ended = stub(tmp_path, "hold", limits=Limits(drain=timedelta(seconds=2)))

    assert (ended.how, ended.code, ended.output) == (End.EXITED, 0, "ok\n")
    assert time.monotonic() - began < 5


def test_agt_06_output_is_capped_and_the_result_kept(tmp_path):
    """250 MB in lines, one line of 50 MB, then the result: memory stays small, head and tail are there."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    shown: list[str] = []

    with LiveLog(shown.append, Redactor(["sk-test-0123456789"])) as live:
        ended = stub(tmp_path, "flood", live=live.feed)

    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 64 * 1024
    assert ended.ok
    assert ended.output.startswith("xxx")
    assert ended.output.endswith('\n{"result": "done"}\n')
    assert f"[... {ended.omitted} bytes left out ...]" in ended.output
    assert ended.omitted > 299_000_000
    assert len(ended.output) < 700_000


@pytest.mark.parametrize(("mode", "code"), [("die", -signal.SIGKILL), ("segv", 139)])
def test_agt_16_a_dead_child_is_seen_at_once(tmp_path, mode, code):
    began = time.monotonic()

    ended = stub(tmp_path, mode)

    assert (ended.how, ended.code) == (End.EXITED, code)
    assert time.monotonic() - began < 2


def test_a_hanging_program_stalls(tmp_path):
    ended = stub(tmp_path, "hang", limits=Limits(stall=timedelta(seconds=1), wall=timedelta(seconds=30)))

    assert ended.how is End.STALLED
    assert ended.seconds < 8


@pytest.mark.parametrize(
    "busy",
    [
        "for i in 1 2 3 4 5 6 7 8; do echo $i; sleep 0.3; done",
        "for i in 1 2 3 4 5 6 7 8; do touch changed; sleep 0.3; done",
        f"{sys.executable} -c 'import time; t=time.time()\nwhile time.time()-t<2.4: pass'",
    ],
)
def test_output_file_changes_or_processor_time_are_no_stall(tmp_path, busy):
    ended = run(
        ["bash", "-c", busy],
        folder=tmp_path,
        environment=ENVIRONMENT,
        limits=Limits(stall=timedelta(seconds=1)),
    )

    assert (ended.how, ended.code) == (End.EXITED, 0)


def test_cancellation_is_heeded_within_seconds(tmp_path):
    cancellation = Cancellation()
    threading.Timer(0.5, cancellation.request, args=["closed"]).start()
    began = time.monotonic()

    ended = stub(tmp_path, "fork", "stubborn", cancellation=cancellation)

    assert ended.how is End.CANCELLED
    assert time.monotonic() - began < 6


def test_a_program_that_cannot_be_started_is_an_error(tmp_path):
    with pytest.raises(FileNotFoundError):
        run(["no-such-program"], folder=tmp_path, environment=ENVIRONMENT)
