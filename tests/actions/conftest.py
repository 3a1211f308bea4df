"""A world whose runs are really executed: by act, in a real git repository, with a small server for artifacts."""

import gzip
import io
import json
import os
import subprocess
import threading
import zipfile
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import parse_qs, unquote, urlsplit

import pytest

from bot.sandbox.actions.engine import ActEngine
from bot.sandbox.actions.workspace import Service
from bot.sandbox.world.errors import ApiError
from bot.sandbox.world.git import MemoryGit
from bot.sandbox.world.world import World

ROOT = Path(__file__).parent.parent.parent
QUICK = (0.4, 0.3)


def git(folder, *arguments):
    environment = {"PATH": os.environ["PATH"], "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
    for role in ("AUTHOR", "COMMITTER"):
        environment |= {f"GIT_{role}_NAME": "m", f"GIT_{role}_EMAIL": "m@example.org"}
    done = subprocess.run(
        ["git", *arguments],
        cwd=folder,
        env=environment,
        check=True,
        capture_output=True,
        text=True,
    )
    return done.stdout.strip()


class BackedGit(MemoryGit):
    """The world's git made of dictionaries, with one real repository beside it: heads are the real commits."""

    bare = Path()

    def head(self, branch):
        return git(self.bare, "for-each-ref", "--format=%(objectname)", f"refs/heads/{branch}") or None


class Lab:
    """One world, one engine, one repository that holds the files given."""

    def __init__(self, folder, files, **options):
        source = folder / "source"
        self.bare = folder / "acme/shop"
        for name, text in files.items():
            path = source / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        git(source, "init", "--quiet", "--initial-branch", "main")
        git(source, "add", "--all")
        git(source, "commit", "--quiet", "--message", "first")
        git(folder, "clone", "--quiet", "--bare", str(source), str(self.bare))
        memory = BackedGit.of(files)
        assert isinstance(memory, BackedGit)
        memory.bare = self.bare
        self.world = World(git=memory, salt="pepper")
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self.world, folder))
        threading.Thread(
            target=self.server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True
        ).start()
        url = f"http://127.0.0.1:{self.server.server_port}"
        service = Service(url, "acme/shop", str(self.bare))
        self.engine = ActEngine(self.world, service, ROOT, grace=QUICK, **options)
        self.world.engine = self.engine

    def start(self, workflow="w.yml", inputs=None):
        return self.world.actions.run(self.world.dispatch(workflow, inputs=inputs, token="maintainer"))

    def run(self, workflow="w.yml", inputs=None):
        """Dispatch and wait for the end."""
        run = self.start(workflow, inputs)
        assert self.engine.wait_idle(60)
        return run

    def files_of(self, run, name):
        """What an artifact holds."""
        found = [self.world.actions.artifacts[each] for each in run.artifacts]
        (artifact,) = [each for each in found if each.name == name]
        with zipfile.ZipFile(io.BytesIO(artifact.data)) as archive:
            return {entry: archive.read(entry).decode() for entry in archive.namelist()}

    def close(self):
        self.engine.close()
        self.server.shutdown()
        self.server.server_close()


def _handler(world, root):
    class Handler(BaseHTTPRequestHandler):
        """The artifact endpoint that the stand-ins talk to, and git."""

        def do_GET(self):
            if not self.path.startswith("/_sandbox/"):
                self._git(b"")
                return
            run, name = self._asked()
            known = {
                world.actions.artifacts[each].name: world.actions.artifacts[each].data
                for each in run.artifacts
            }
            if not name:
                self._answer(200, json.dumps({"artifacts": [{"name": each} for each in known]}).encode())
            elif name in known:
                self._answer(200, known[name])
            else:
                self._answer(404, b"{}")

        def do_POST(self):
            data = self.rfile.read(int(self.headers["Content-Length"]))
            if not self.path.startswith("/_sandbox/"):
                self._git(gzip.decompress(data) if self.headers["Content-Encoding"] == "gzip" else data)
                return
            run, name = self._asked()
            if parse_qs(urlsplit(self.path).query).get("overwrite") == ["true"]:
                run.artifacts[:] = [
                    each for each in run.artifacts if world.actions.artifacts[each].name != name
                ]
            try:
                number = world.add_artifact(run.id, name, data)
            except ApiError as error:
                self._answer(error.status, b"{}")
            else:
                self._answer(201, json.dumps({"id": number}).encode())

        def _git(self, body):
            assert self.headers["Authorization"].startswith("Basic ")
            parts = urlsplit(self.path)
            environment = {
                "PATH": os.environ["PATH"],
                "GIT_PROJECT_ROOT": str(root),
                "GIT_HTTP_EXPORT_ALL": "1",
                "GIT_PROTOCOL": self.headers.get("Git-Protocol", ""),
                "PATH_INFO": parts.path,
                "QUERY_STRING": parts.query,
                "REQUEST_METHOD": self.command,
                "CONTENT_TYPE": self.headers.get("Content-Type", ""),
                "CONTENT_LENGTH": str(len(body)),
            }
            answer = subprocess.run(
                ["git", "http-backend"], env=environment, input=body, capture_output=True, check=True
            )
            head, _, content = answer.stdout.partition(b"\r\n\r\n")
            headers = dict(line.split(": ", 1) for line in head.decode().split("\r\n"))
            self.send_response(int(headers.pop("Status", "200").split()[0]))
            for name, value in headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def _asked(self):
            assert self.headers["Authorization"].startswith("Bearer ghs_")
            parts = urlsplit(self.path).path.split("/")
            return world.actions.run(int(parts[3])), unquote(parts[5]) if len(parts) > 5 else ""

        def _answer(self, status, body):
            self.send_response(status)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):
            pass

    return Handler


@pytest.fixture
def lab(tmp_path):
    """Makes labs, and ends all that runs in them."""
    made = []

    def make(files, **options):
        if isinstance(files, str):
            files = {".github/workflows/w.yml": files}
        made.append(Lab(tmp_path, files, **options))
        return made[-1]

    yield make
    for each in made:
        each.close()
