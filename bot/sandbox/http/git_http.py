"""git over HTTP by `git http-backend`, with the tokens of the world, and pushes that the world hears of."""

import base64
import gzip
import os
import subprocess
import zlib
from collections.abc import Mapping

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route as WebRoute

from bot.sandbox.world import ApiError, BareGit, Token, World

_CHALLENGE = {"www-authenticate": 'Basic realm="GitHub"'}
_SERVICES = ("git-upload-pack", "git-receive-pack")


class GitHttp:
    """Smart HTTP for the world's repository, at `/OWNER/NAME` with or without `.git`.

    `protected`: the default branch takes no pushes, only merges.
    """

    def __init__(self, world: World, *, protected: bool = False) -> None:
        self.world = world
        self.protected = protected

    def routes(self) -> list[WebRoute]:
        here = "/{owner}/{repo}"
        found = [WebRoute(f"{here}/info/refs", self._endpoint, methods=["GET"])]
        return found + [
            WebRoute(f"{here}/{service}", self._endpoint, methods=["POST"]) for service in _SERVICES
        ]

    async def _endpoint(self, request: Request) -> Response:
        body = await request.body()
        return await run_in_threadpool(self._answer, request, body)

    def _answer(self, request: Request, body: bytes) -> Response:
        path = request.url.path
        service = request.query_params.get("service") or path.rsplit("/", 1)[1]
        name = f"{request.path_params['owner']}/{request.path_params['repo'].removesuffix('.git')}"
        git = self.world.git
        if (
            name.lower() != self.world.repository.lower()
            or service not in _SERVICES
            or not isinstance(git, BareGit)
        ):
            return Response("Repository not found.\n", 404)
        try:
            token = self._token(request.headers.get("authorization", ""))
        except ApiError as error:
            return Response(f"{error.message}\n", error.status, _CHALLENGE)
        write = service == "git-receive-pack"
        if token is None:
            # As on GitHub: a public repository is cloned without a token, everything else asks for one.
            if write or self.world.core.private:
                return Response("Authentication required.\n", 401, _CHALLENGE)
        elif not self.world.accounts.allows(
            token, "write" if write else "read", ("contents",), "write" if write else "read"
        ):
            return Response(
                f"Permission to {self.world.repository}.git denied to {token.account.login}.\n", 403
            )
        encoding = request.headers.get("content-encoding", "")
        if encoding == "gzip":
            try:
                body = gzip.decompress(body)
            except (OSError, EOFError, zlib.error):
                return Response("The request body is not gzip.\n", 400)
        if token is None or not write or not path.endswith("/git-receive-pack"):
            return self._backend(git, request, service, body)
        with self.world.lock:
            before = git.branches()
            workflows = self.world.accounts.allows(token, "write", ("workflows",), "write")
            response = self._backend(git, request, service, body, workflows=workflows)
            self._tell(before, git.branches(), token)
        return response

    def _token(self, header: str) -> Token | None:
        kind, _, value = header.partition(" ")
        if not value:
            return None
        if kind.lower() == "basic":
            try:
                value = base64.b64decode(value).decode().partition(":")[2]
            except ValueError:
                raise ApiError(401, "Bad credentials", "UNAUTHORIZED") from None
        return self.world.accounts.authenticate(value.strip())

    def _tell(self, before: Mapping[str, str], after: Mapping[str, str], token: Token) -> None:
        for branch in {**before, **after}:
            if before.get(branch) != after.get(branch):
                self.world.pushed(branch, before.get(branch, ""), after.get(branch, ""), token)

    def _backend(
        self, git: BareGit, request: Request, service: str, body: bytes, *, workflows: bool = False
    ) -> Response:
        """One CGI call. What the request says reaches the program by environment and pipe only.

        `workflows`: a push may change workflow files.
        """
        environment = {
            "PATH": os.environ.get("PATH", os.defpath),
            "GIT_PROJECT_ROOT": str(git.path),
            "GIT_HTTP_EXPORT_ALL": "1",
            "GIT_CONFIG_GLOBAL": os.devnull,
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_PROTOCOL": request.headers.get("git-protocol", ""),
            "PATH_INFO": "/info/refs" if request.method == "GET" else f"/{service}",
            "QUERY_STRING": f"service={service}" if request.method == "GET" else "",
            "REQUEST_METHOD": request.method,
            "CONTENT_TYPE": request.headers.get("content-type", ""),
            "CONTENT_LENGTH": str(len(body)),
            "REMOTE_USER": "sandbox",
            "REMOTE_ADDR": "127.0.0.1",
            "CF_PROTECTED": f"refs/heads/{git.default_branch}" if self.protected else "",
            "CF_WORKFLOWS": "write" if workflows else "none",
            "CF_RULES_PAGE": f"{self.world.web}/{self.world.repository}/rules",
            **self.world.push_rules.environment(),
        }
        done = subprocess.run(
            ["git", "http-backend"], env=environment, input=body, capture_output=True, check=False
        )
        head, _, content = done.stdout.partition(b"\r\n\r\n")
        if done.returncode or not head:
            return Response(done.stderr, 500)
        headers = dict(line.split(": ", 1) for line in head.decode("latin-1").split("\r\n"))
        status = int(headers.pop("Status", "200").split(" ", 1)[0])
        return Response(content, status, headers)
