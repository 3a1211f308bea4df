"""Contract: what every engine keeps to, as the real programs (`make engines`) or what they printed when last recorded.

The same promises are asked of both. Only the real programs can also be asked what they did to files and processes.
"""

import json
import os
import sys
import threading
import time
from pathlib import Path

import pytest

from bot.model.engine import COMMAND, ENGINES
from bot.model.report import Category, Outcome
from bot.worker.agent.question import read_question
from bot.worker.engines import engine
from bot.worker.engines.facts import Listener
from bot.worker.programs.cancellation import Cancellation
from bot.worker.programs.process import End, Ended
from tests.worker.engines.programs import (
    KEY,
    ROOT,
    Round,
    Stage,
    as_text,
    folder,
    installed,
    stand_in,
)
from tests.worker.engines.scenarios import ANSWER, QUESTION

RECORDED = Path(__file__).parents[2] / "data/engines"
NAMES = sorted(set(ENGINES) - {COMMAND})
SCENES = ("edit", "ask", "fail", "limit", "refuse", "cancel", "again")
NO_SHELL = {"aider"}
NO_TOKENS = {"copilot"}  # it tells them for its own subscription only
NO_SESSION = {"aider"}


class Player:
    """Plays a scene with the real program, and records it; `url` is where the stand-in answers."""

    def __init__(self, url: str, context: Path) -> None:
        self.url = url
        self.context = context

    def play(self, name: str, scene: str) -> tuple[Stage, list[Round]]:
        model = {"cancel": "cf-hang", "again": "cf-edit"}.get(scene, f"cf-{scene}")
        stage = Stage(self.context / f"{name}-{scene}", name, self.url, model)
        rounds = [self._cancelled(stage) if scene == "cancel" else stage.round()]
        if scene == "again":
            stage.feed_back("These checks failed. Please MEND it.\n")
            rounds.append(stage.round())
        self._record(name, scene, rounds)
        return stage, rounds

    def _cancelled(self, stage: Stage) -> Round:
        """Cancelled once the program's own tool is at work."""
        cancellation = Cancellation()
        started = stage.workspace / "started.txt"

        def look() -> None:
            until = time.monotonic() + 90
            while not (started.exists() or stage.name in NO_SHELL) and time.monotonic() < until:
                time.sleep(0.05)
            time.sleep(3 if stage.name in NO_SHELL else 0.2)
            cancellation.request("the run was cancelled")

        watcher = threading.Thread(target=look)
        watcher.start()
        try:
            return stage.round(cancellation)
        finally:
            watcher.join()

    def _record(self, name: str, scene: str, rounds: list[Round]) -> None:
        file = RECORDED / name / f"{scene}.txt"
        file.parent.mkdir(parents=True, exist_ok=True)
        text = "".join(as_text(one).rstrip("\n") + "\n" for one in rounds)
        places = {
            str(self.context): "/work",
            str(folder()): "/engines",
            str(ROOT): "/repository",
            sys.base_prefix: "/python",
        }
        for own, shown in places.items():
            text = text.replace(own, shown)
        file.write_text(text, encoding="utf-8")


def replay(name: str, scene: str) -> list[Round]:
    """The recorded rounds, read again from their bytes."""
    found = engine(name)
    listener = Listener(found.read, structured=found.structured)
    rounds: list[Round] = []
    text = (RECORDED / name / f"{scene}.txt").read_text(encoding="utf-8")
    for part in text.split('{"how": ')[1:]:
        if rounds:
            listener.facts = listener.facts.fresh()
        head, _, output = part.partition("\n")
        told = json.loads('{"how": ' + head)
        listener.feed(output.encode(), lambda _: None)
        listener.end(lambda _: None)
        rounds.append(Round(Ended(End(told["how"]), told["code"], output), listener.facts))
    return rounds


def categories(found: Round) -> set[Category]:
    return {step.category for step in found.facts.steps}


def hold_edit(name, rounds):
    (one,) = rounds
    assert (one.ended.how, one.ended.code) == (End.EXITED, 0)
    assert engine(name).verdict(one.ended, one.facts).outcome is None
    assert one.facts.said == ("" if name in NO_SHELL else ANSWER)
    assert (Category.FILE if name in NO_SHELL else Category.SHELL) in categories(one)
    assert Category.MODEL in categories(one)
    assert (one.facts.tokens > 0) == (name not in NO_TOKENS)
    assert (one.facts.session != "") == (name not in NO_SESSION)


def hold_ask(name, rounds):
    (one,) = rounds
    assert engine(name).verdict(one.ended, one.facts).outcome is None


def hold_fail(name, rounds):
    (one,) = rounds
    verdict = engine(name).verdict(one.ended, one.facts)
    assert one.facts.error
    assert verdict.outcome is Outcome.FAILED
    assert "no good" in verdict.reason


def hold_limit(name, rounds):
    (one,) = rounds
    verdict = engine(name).verdict(one.ended, one.facts)
    assert verdict.outcome is Outcome.CAPACITY
    assert Category.ERROR in categories(one)


def hold_refuse(name, rounds):
    (one,) = rounds
    verdict = engine(name).verdict(one.ended, one.facts)
    assert (verdict.outcome, "refuses" in verdict.reason) == (Outcome.INFRA, True)


def hold_cancel(name, rounds):
    (one,) = rounds
    assert one.ended.how is End.CANCELLED


def hold_again(name, rounds):
    first, second = rounds
    assert engine(name).verdict(second.ended, second.facts).outcome is None
    assert second.facts.tokens > first.facts.tokens or name in NO_TOKENS
    assert second.facts.count > first.facts.count
    if name not in NO_SESSION:
        assert second.facts.session


HOLDS = {name: globals()[f"hold_{name}"] for name in SCENES}


@pytest.mark.parametrize("scene", SCENES)
@pytest.mark.parametrize("name", NAMES)
def test_a_recorded_program_is_understood(name, scene):
    """Without the programs: their own output, recorded by `make engines`."""
    HOLDS[scene](name, replay(name, scene))


@pytest.fixture(scope="module")
def player(tmp_path_factory):
    if not installed("stand-in"):
        pytest.fail(f"the agent programs are not in {folder()}: run `make engines`")
    context = tmp_path_factory.mktemp("engines")
    with stand_in(context) as url:
        yield Player(url, context)


@pytest.mark.live
@pytest.mark.parametrize("scene", SCENES)
@pytest.mark.parametrize("name", NAMES)
def test_the_real_program(player, name, scene):
    stage, rounds = player.play(name, scene)

    HOLDS[scene](name, rounds)
    assert KEY not in "".join(stage.shown)
    if scene in ("edit", "again"):
        assert (stage.workspace / "feature.txt").read_text().strip() == "hello"
    if scene == "again":
        assert (stage.workspace / "mended.txt").read_text().strip() == "mended"
    if scene == "ask":
        question = read_question(stage.files.question.read_text())
        assert question == read_question(QUESTION)
    if scene == "cancel" and name not in NO_SHELL:
        assert not _still_there(stage.home)
    for left in engine(name).litter:
        assert not (stage.workspace / left).exists()


def _still_there(home: Path) -> list[str]:
    """Processes that have this home folder in their environment."""
    mark = f"HOME={home}".encode()
    found = []
    for process in Path("/proc").iterdir():
        if process.name.isdecimal() and int(process.name) != os.getpid():
            try:
                environ = (process / "environ").read_bytes()
                name = (process / "cmdline").read_bytes()
            except OSError:
                continue
            if mark in environ.split(b"\0"):
                found.append(name.decode("utf-8", "replace"))
    return found
