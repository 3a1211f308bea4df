"""The real agent programs, where `make engines` has put them, and one run of one of them against the stand-in for a model."""

import json
import os
import socket
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path

from msgspec.structs import replace

from bot.model.config import Spending
from bot.worker.agent.ownfiles import OwnFiles
from bot.worker.agent.rounds import RoundSetup, _start
from bot.worker.engines import AgentInput, engine
from bot.worker.engines.facts import Facts, Listener
from bot.worker.engines.install import with_tools
from bot.worker.programs.cancellation import Cancellation
from bot.worker.programs.environment import agent_environment
from bot.worker.programs.gates import GateRunner
from bot.worker.programs.process import Ended
from bot.worker.programs.redact import Redactor
from tests.worker.engines.scenarios import write_fixtures

KEY = "sk-test-0123456789abcdef0123456789"
ROOT = Path(__file__).parents[3]
MOCK = "@copilotkit/aimock@1.43.0"
PROVIDERS = {"claude-code": "anthropic", "gemini": "google"}
_PATHS = {"claude-code": "", "gemini": ""}  # what stands behind the stand-in's address; `/v1` for all others


def folder() -> Path:
    """Where the programs are."""
    return Path(os.environ.get("CF_ENGINES") or ROOT / ".engines")


def installed(name: str) -> bool:
    return (folder() / name / "bin").is_dir()


@contextmanager
def stand_in(work: Path) -> Iterator[str]:
    """The stand-in for a model, answering on loopback; its address."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    program = folder() / "stand-in" / "bin" / "llmock"
    command = [str(program), "--port", str(port), "--fixtures", str(write_fixtures(work / "scenes.json"))]
    log = (work / "stand-in.log").open("wb")
    environ = {**os.environ, "AIMOCK_STRICT_TURN_INDEX": "1"}  # a turn is a condition, not a preference
    process = subprocess.Popen([*command, "--log-level", "warn"], env=environ, stdout=log, stderr=log)
    url = f"http://127.0.0.1:{port}"
    try:
        _wait(url)
        yield url
    finally:
        process.terminate()
        process.wait(10)
        log.close()


def _wait(url: str) -> None:
    until = time.monotonic() + 30
    while time.monotonic() < until:
        try:
            urllib.request.urlopen(url, timeout=1).close()
        except urllib.error.HTTPError:
            return
        except OSError:
            time.sleep(0.1)
        else:
            return
    raise TimeoutError(url)


class Round:
    """One start of a program: how it ended, and what was known of its output by then."""

    def __init__(self, ended: Ended, facts: Facts) -> None:
        self.ended = ended
        self.facts = facts


class Stage:
    """A repository with one file, an empty home, and a prompt."""

    def __init__(self, context: Path, name: str, url: str, model: str) -> None:
        self.name = name
        self.engine = engine(name)
        self.workspace = context / "shop"
        self.home = context / "home"
        self.home.mkdir(parents=True)
        self.workspace.mkdir()
        self._git("init", "-q")
        (self.workspace / "README.md").write_text("# shop\n", encoding="utf-8")
        self._git("add", "-A")
        self._git("-c", "user.name=Pat", "-c", "user.email=pat@example.com", "commit", "-qm", "first")
        self.files = OwnFiles(self.workspace)
        self.files.prepare()
        self.files.prompt.write_text("Please write the file feature.txt.\n", encoding="utf-8")
        self.listener = Listener(self.engine.read, structured=self.engine.structured)
        self.shown: list[str] = []
        provider = PROVIDERS.get(name, "openai")
        self.brief = AgentInput(
            workspace=self.workspace,
            home=self.home,
            prompt=self.files.prompt,
            question=self.files.question,
            summary=self.files.summary,
            key="cf-1-1",
            task=1,
            attempt=1,
            model_key=KEY,
            model=f"{provider}/{model}",
            provider=provider,
            base_url=url + _PATHS.get(name, "/v1"),
        )

    def round(
        self,
        cancellation: Cancellation | None = None,
        wall: float = 120,
        on: Callable[[str], object] | None = None,
    ) -> Round:
        """Start the program once."""

        def write(text: str) -> None:
            self.shown.append(text)
            if on is not None:
                on(text)

        environment = agent_environment(_machine(), self.home)
        path = with_tools(environment["PATH"], folder() / self.name)
        runner = GateRunner(
            self.workspace,
            {**environment, "PATH": path},
            Redactor([KEY]),
            write,
            "",
            cancellation or Cancellation(),
        )
        bench = RoundSetup(
            engine=self.engine,
            runner=runner,
            gate_runner=runner,
            gates=(),
            corrections=0,
            timeout=timedelta(seconds=wall),
            stall=None,
            budget=Spending(),
            settle=lambda: None,
        )
        ended = _start(bench, self.brief, self.listener, timedelta(seconds=wall), lambda: "")
        return Round(ended, self.listener.facts)

    def feed_back(self, text: str) -> None:
        """What the correction loop does between two rounds."""
        self.files.feedback.write_text(text, encoding="utf-8")
        self.brief = replace(self.brief, feedback=self.files.feedback, session=self.listener.facts.session)
        self.listener.facts = self.listener.facts.fresh()

    def _git(self, *arguments: str) -> None:
        subprocess.run(
            ["git", *arguments], cwd=self.workspace, check=True, env={**_machine(), "HOME": os.devnull}
        )


def _machine() -> Mapping[str, str]:
    return {"PATH": os.environ["PATH"]}


def as_text(found: Round) -> str:
    """A round as a transcript: a line of facts about its end, then its output as it was."""
    head = {"how": str(found.ended.how), "code": found.ended.code, "seconds": round(found.ended.seconds, 1)}
    return f"{json.dumps(head)}\n{found.ended.output}"
