"""What has no place in GitHub's API: artifacts as the stand-in actions hand them in and fetch them, and signed downloads."""

from collections.abc import Callable
from urllib.parse import unquote

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route as WebRoute

from bot.sandbox.http.api import Api
from bot.sandbox.world import ApiError, Token, WorldRun


class Storage:
    """Routes below `/_sandbox`."""

    def __init__(self, api: Api) -> None:
        self.api = api
        self.world = api.world

    def routes(self) -> list[WebRoute]:
        here = "/_sandbox/runs/{run_id:int}/artifacts"
        return [
            WebRoute(here, self._list, methods=["GET"]),
            WebRoute(f"{here}/{{name}}", self._fetch, methods=["GET"]),
            WebRoute(f"{here}/{{name}}", self._hand_in, methods=["POST"]),
            WebRoute("/_sandbox/storage/{artifact_id:int}", self._stored, methods=["GET"]),
            WebRoute("/_sandbox/logs/{job_id:int}", self._log, methods=["GET"]),
        ]

    async def _hand_in(self, request: Request) -> Response:
        data = await request.body()
        return await run_in_threadpool(
            self._guarded, request, lambda run: self._keep(request, run, data), True
        )

    def _keep(self, request: Request, run: WorldRun, data: bytes) -> Response:
        name = unquote(request.path_params["name"])
        if request.query_params.get("overwrite") == "true":
            for known in list(run.artifacts):
                kept = self.world.actions.artifacts[known]
                if kept.name == name and kept.attempt == run.attempt:
                    run.artifacts.remove(known)
                    del self.world.actions.artifacts[known]
        return JSONResponse({"id": self.world.add_artifact(run.id, name, data)}, 201)

    async def _list(self, request: Request) -> Response:
        return await run_in_threadpool(self._guarded, request, self._names, False)

    def _names(self, run: WorldRun) -> Response:
        kept = [self.world.actions.artifacts[known] for known in run.artifacts]
        return JSONResponse({"artifacts": [{"id": each.id, "name": each.name} for each in kept]})

    async def _fetch(self, request: Request) -> Response:
        return await run_in_threadpool(self._guarded, request, lambda run: self._named(request, run), False)

    def _named(self, request: Request, run: WorldRun) -> Response:
        name = unquote(request.path_params["name"])
        for known in reversed(run.artifacts):
            if self.world.actions.artifacts[known].name == name:
                return Response(self.world.actions.artifact(known).data, media_type="application/zip")
        raise ApiError(404, "Not Found")

    def _guarded(self, request: Request, then: Callable[[WorldRun], Response], write: bool) -> Response:
        try:
            with self.world.lock:
                token = self.api.authenticate(request.headers.get("authorization", ""))
                run = self.world.actions.run(request.path_params["run_id"])
                self._may(token, run, write)
                return then(run)
        except ApiError as error:
            return JSONResponse({"message": error.message}, error.status)

    def _may(self, token: Token, run: WorldRun, write: bool) -> None:
        """A run's own jobs may hand in and fetch; another's artifacts take `actions: read`."""
        if token.run_id == run.id:
            return
        if write:
            raise ApiError(403, "Only a job of the run may hand in its artifacts", "FORBIDDEN")
        self.world.accounts.require(token, "read", "actions", role="read")

    async def _stored(self, request: Request) -> Response:
        if not self.api.signed(request.url.path, request.query_params.get("sig", "")):
            return Response("The signature does not fit.\n", 403)
        kept = self.world.actions.artifacts.get(request.path_params["artifact_id"])
        return Response(kept.data, media_type="application/zip") if kept else Response("Gone.\n", 404)

    async def _log(self, request: Request) -> Response:
        if not self.api.signed(request.url.path, request.query_params.get("sig", "")):
            return Response("The signature does not fit.\n", 403)
        job = self.world.actions.jobs.get(request.path_params["job_id"])
        return Response(job.log, media_type="text/plain") if job else Response("Gone.\n", 404)
