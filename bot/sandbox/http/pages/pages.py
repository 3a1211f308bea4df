"""Pages for people: issues, pull requests and runs, to be read in a browser while the sandbox works."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import Route as WebRoute

from bot.model.issue import NeedState
from bot.sandbox.http.api import unknown_reply
from bot.sandbox.http.pages.markdown import to_html
from bot.sandbox.world import ApiError, CommentState, EventState, IssueState, JobState, PullState, World

_TEMPLATES = Path(__file__).parent / "templates"
_SHOWN_RUNS = 12
_ASSETS = {"style.css": "text/css", "live.js": "text/javascript"}
# Nothing that an issue or a log says can load or run anything.
_HEADERS = {
    "content-security-policy": "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; img-src 'self'",
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cache-control": "no-store",
}


@dataclass(frozen=True, slots=True)
class Entry:
    """One line of a conversation: a comment or an event."""

    at: datetime
    comment: CommentState | None = None
    event: EventState | None = None


class Pages:
    def __init__(self, world: World) -> None:
        self.world = world
        self._environment = Environment(
            loader=FileSystemLoader(_TEMPLATES), autoescape=True, undefined=StrictUndefined, trim_blocks=True
        )
        # to_html escapes everything but a list of plain tags.
        self._environment.filters["markdown"] = lambda text: Markup(to_html(text, world.repository))  # noqa: S704
        self._environment.filters["time"] = lambda at: f"{at:%Y-%m-%d %H:%M:%S}"
        self._environment.filters["duration"] = _duration

    def routes(self) -> list[WebRoute]:
        here = "/{owner}/{repo}"
        return [
            WebRoute("/", self._page("index.html", self._everything)),
            WebRoute("/_sandbox/avatar/{number:int}", self._avatar),
            WebRoute("/_sandbox/{asset}", self._asset),
            WebRoute(here, self._page("index.html", self._everything)),
            WebRoute(f"{here}/issues", self._page("issues.html", self._everything)),
            WebRoute(f"{here}/pulls", self._page("pulls.html", self._everything)),
            WebRoute(f"{here}/actions", self._page("actions.html", self._all_runs)),
            WebRoute(f"{here}/issues/{{number:int}}", self._page("issue.html", self._issue)),
            WebRoute(f"{here}/pull/{{number:int}}", self._page("pull.html", self._pull)),
            WebRoute(f"{here}/actions/runs/{{number:int}}", self._page("run.html", self._run)),
            WebRoute(
                f"{here}/actions/runs/{{number:int}}/job/{{job:int}}", self._page("run.html", self._run)
            ),
        ]

    def _page(self, template: str, show: Any) -> Any:
        async def endpoint(request: Request) -> Response:
            return await run_in_threadpool(self._answer, template, show, request)

        return endpoint

    def _answer(self, template: str, show: Any, request: Request) -> Response:
        world = self.world
        params = request.path_params
        if "repo" in params and f"{params['owner']}/{params['repo']}".lower() != world.repository.lower():
            reply = unknown_reply(f"{request.method} {request.url.path}")
            return JSONResponse(reply.body, reply.status)
        try:
            with world.lock:
                text = self._environment.get_template(template).render(
                    repository=world.repository,
                    counts=self._counts(),
                    now=f"{world.core.now:%Y-%m-%d %H:%M:%S} UTC",
                    **show(params),
                )
        except ApiError as error:
            return HTMLResponse(f"<h1>{error.status}</h1>", error.status, _HEADERS)
        return HTMLResponse(text, headers=_HEADERS)

    def _counts(self) -> dict[str, int]:
        issues = [issue for issue in self.world.issues.all() if issue.is_open]
        return {
            "issues": sum(not issue.is_pull for issue in issues),
            "pulls": sum(issue.is_pull for issue in issues),
            "runs": len(self.world.actions.runs),
        }

    # ------------------------------------------------------------------ what each page shows

    def _everything(self, _params: dict[str, Any]) -> dict[str, Any]:
        issues = [issue for issue in self.world.issues.all() if not issue.is_pull]
        issues.sort(key=lambda issue: (not issue.is_open, -issue.number))
        pulls = reversed(self.world.pulls.by_number.values())
        return {
            "issues": [self._issue_row(issue) for issue in issues],
            "pulls": [self._pull_row(pull) for pull in pulls],
            "runs": list(reversed(self.world.actions.runs.values()))[:_SHOWN_RUNS],
        }

    def _all_runs(self, _params: dict[str, Any]) -> dict[str, Any]:
        return {"runs": list(reversed(self.world.actions.runs.values()))}

    def _issue_row(self, issue: IssueState) -> dict[str, Any]:
        edges = self.world.dependencies
        waits = [f"#{ref.number}" for ref in issue.blocked_by if edges.is_open(ref)]
        return {
            "number": issue.number,
            "title": issue.title,
            "state": "open" if issue.is_open else "closed",
            "labels": issue.labels,
            "author": issue.author.login,
            "comments": len(issue.comments),
            "waits": waits,
        }

    def _pull_row(self, pull: PullState) -> dict[str, Any]:
        return {
            "number": pull.number,
            "title": pull.issue.title,
            "state": _pull_state(pull),
            "head": pull.head_ref,
            "base": pull.base_ref,
            "author": pull.issue.author.login,
        }

    def _issue(self, params: dict[str, Any]) -> dict[str, Any]:
        issue = self.world.issues.get(params["number"])
        if issue.is_pull:
            raise ApiError(404, "Not Found")
        edges = self.world.dependencies
        hidden = (NeedState.UNREADABLE, NeedState.DELETED)
        return {
            "issue": issue,
            "state": "open" if issue.is_open else "closed",
            "entries": conversation(issue),
            "closing": list(self.world.pulls.closing(issue)),
            "blockers": [
                (ref, edges.state(ref)) for ref in issue.blocked_by if edges.state(ref) not in hidden
            ],
        }

    def _pull(self, params: dict[str, Any]) -> dict[str, Any]:
        pull = self.world.pulls.get(params["number"])
        diff = self.world.git.diff(pull.base_sha, pull.head_sha)
        return {
            "pull": pull,
            "state": _pull_state(pull),
            "mergeable": self.world.pulls.mergeable(pull),
            "entries": conversation(pull.issue),
            "diff": list(_coloured(diff)),
        }

    def _run(self, params: dict[str, Any]) -> dict[str, Any]:
        run = self.world.actions.run(params["number"])
        kept = [self.world.actions.artifacts[number] for number in run.artifacts]
        return {"run": run, "artifacts": kept}

    # ------------------------------------------------------------------ assets

    async def _asset(self, request: Request) -> Response:
        name = request.path_params["asset"]
        if name not in _ASSETS:
            return Response("Not found.\n", 404)
        content = (_TEMPLATES / name).read_text(encoding="utf-8")
        return Response(content, media_type=_ASSETS[name], headers={"x-content-type-options": "nosniff"})

    async def _avatar(self, request: Request) -> Response:
        hue = request.path_params["number"] * 47 % 360
        circle = f'<circle cx="16" cy="16" r="16" fill="hsl({hue} 60% 50%)"/>'
        picture = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32">{circle}</svg>'
        return Response(picture, media_type="image/svg+xml")


def conversation(issue: IssueState) -> list[Entry]:
    """Comments and events in the order they happened."""
    entries = [Entry(event.at, event=event) for event in issue.events]
    entries += [Entry(comment.created_at, comment=comment) for comment in issue.comments]
    return sorted(entries, key=lambda entry: entry.at)


def _pull_state(pull: PullState) -> str:
    if pull.merged:
        return "merged"
    if not pull.issue.is_open:
        return "closed"
    return "draft" if pull.draft else "open"


def _coloured(diff: str) -> Iterator[tuple[str, str]]:
    for line in diff.splitlines():
        if line.startswith(("diff ", "index ", "+++", "---", "@@", "new ", "deleted ")):
            yield "meta", line
        else:
            yield {"+": "add", "-": "del"}.get(line[:1], ""), line


def _duration(job: JobState) -> str:
    if job.started_at is None or job.completed_at is None:
        return ""
    return f"{(job.completed_at - job.started_at).total_seconds():.0f} s"
