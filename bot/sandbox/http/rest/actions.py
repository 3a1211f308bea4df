"""REST: workflows, dispatches, runs, jobs, artifacts."""

from datetime import UTC, datetime

from bot.sandbox.http.rest.exchange import PAGED, Call, Reply, Route
from bot.sandbox.world import ArtifactState, WorldRun
from bot.sandbox.world.errors import invalid, not_found


def list_workflows(call: Call) -> Reply:
    call.may_read("actions")
    return call.page(call.world.actions.workflows(), call.render.workflow, "workflows")


def get_workflow(call: Call) -> Reply:
    call.may_read("actions")
    return Reply(call.render.workflow(call.world.actions.workflow(call.params["workflow_id"])))


def dispatch(call: Call) -> Reply:
    """As API version 2026-03-10 answers: 200 with the run's id."""
    inputs = call.field("inputs", dict, {})
    name, ref = call.params["workflow_id"], call.field("ref", str)
    run = call.render.run(call.world.actions.dispatch(name, ref, inputs, call.token))
    return Reply({"workflow_run_id": run["id"], "run_url": run["url"], "html_url": run["html_url"]})


def workflow_runs(call: Call) -> Reply:
    call.may_read("actions")
    return _runs(call, call.world.actions.of_workflow(call.params["workflow_id"]))


def all_runs(call: Call) -> Reply:
    call.may_read("actions")
    return _runs(call, tuple(reversed(call.world.actions.runs.values())))


def _runs(call: Call, runs: tuple[WorldRun, ...]) -> Reply:
    query = call.query
    after, before = _created(query.get("created", ""))
    found = [
        run
        for run in runs
        if query.get("event") in (None, run.event)
        and query.get("branch") in (None, run.ref)
        and query.get("status") in (None, run.status, run.conclusion)
        and after <= run.created_at <= before
    ]
    # GitHub lists no more than a thousand of a filtered list.
    return call.page(found[:1000] if set(query) - set(PAGED) else found, call.render.run, "workflow_runs")


def _created(text: str) -> tuple[datetime, datetime]:
    """The forms `>=T` and `T..T` of the date search syntax."""
    earliest, latest = datetime.min.replace(tzinfo=UTC), datetime.max.replace(tzinfo=UTC)
    try:
        if not text:
            return earliest, latest
        if text.startswith(">="):
            return datetime.fromisoformat(text[2:]), latest
        start, _, end = text.partition("..")
        return datetime.fromisoformat(start), datetime.fromisoformat(end)
    except ValueError:
        raise invalid(f"Validation Failed: the sandbox does not read created={text}") from None


def get_run(call: Call) -> Reply:
    return Reply(call.render.run(_run(call)))


def run_jobs(call: Call) -> Reply:
    run = _run(call)
    earlier = run.past if call.query.get("filter") == "all" else []
    return call.page([*earlier, *run.jobs.values()], call.render.job, "jobs")


def get_job(call: Call) -> Reply:
    call.may_read("actions")
    return Reply(call.render.job(call.world.actions.job(call.number("job_id"))))


def job_logs(call: Call) -> Reply:
    get_job(call)
    path = f"/_sandbox/logs/{call.number('job_id')}"
    return Reply(status=302, headers={"location": f"{call.render.api}{path}?sig={call.sign(path)}"})


def annotations(call: Call) -> Reply:
    """A job is a check run of the same id."""
    call.may_read("checks")
    job = call.world.actions.job(call.number("check_run_id"))
    return call.page(job.annotations, call.render.annotation)


def cancel(call: Call) -> Reply:
    call.world.actions.cancel(_run(call).id, call.token)
    return Reply({}, 202)


def force_cancel(call: Call) -> Reply:
    call.world.actions.cancel(_run(call).id, call.token, force=True)
    return Reply({}, 202)


def run_artifacts(call: Call) -> Reply:
    run = _run(call)
    return _artifacts(call, [call.world.actions.artifacts[known] for known in run.artifacts])


def all_artifacts(call: Call) -> Reply:
    call.may_read("actions")
    return _artifacts(call, list(reversed(call.world.actions.artifacts.values())))


def _artifacts(call: Call, found: list[ArtifactState]) -> Reply:
    name = call.query.get("name")
    return call.page([kept for kept in found if name in (None, kept.name)], call.render.artifact, "artifacts")


def get_artifact(call: Call) -> Reply:
    call.may_read("actions")
    kept = call.world.actions.artifacts.get(call.number("artifact_id"))
    if kept is None:
        raise not_found()
    return Reply(call.render.artifact(kept))


def download_artifact(call: Call) -> Reply:
    """A redirect to storage, where the address itself is the key."""
    call.may_read("actions")
    if call.params["archive_format"] != "zip":
        raise invalid("Validation Failed: archive_format must be zip")
    kept = call.world.actions.artifact(call.number("artifact_id"))
    path = f"/_sandbox/storage/{kept.id}"
    return Reply(status=302, headers={"location": f"{call.render.api}{path}?sig={call.sign(path)}"})


def _run(call: Call) -> WorldRun:
    call.may_read("actions")
    return call.world.actions.run(call.number("run_id"))


_FILTERS = (*PAGED, "created", "event", "branch", "status")

ROUTES = (
    Route("GET", "/actions/workflows", list_workflows, PAGED),
    Route("GET", "/actions/workflows/{workflow_id}", get_workflow),
    Route(
        "POST",
        "/actions/workflows/{workflow_id}/dispatches",
        dispatch,
        fields=("ref", "inputs"),
        needs="actions=write",
    ),
    Route("GET", "/actions/workflows/{workflow_id}/runs", workflow_runs, _FILTERS, stale=True),
    Route("GET", "/actions/runs", all_runs, _FILTERS, stale=True),
    Route("GET", "/actions/runs/{run_id}", get_run),
    Route("GET", "/actions/runs/{run_id}/jobs", run_jobs, (*PAGED, "filter")),
    Route("GET", "/actions/runs/{run_id}/artifacts", run_artifacts, (*PAGED, "name")),
    Route("POST", "/actions/runs/{run_id}/cancel", cancel, needs="actions=write"),
    Route("POST", "/actions/runs/{run_id}/force-cancel", force_cancel, needs="actions=write"),
    Route("GET", "/actions/jobs/{job_id}", get_job),
    Route("GET", "/actions/jobs/{job_id}/logs", job_logs),
    Route("GET", "/check-runs/{check_run_id}/annotations", annotations, PAGED),
    Route("GET", "/actions/artifacts", all_artifacts, (*PAGED, "name"), stale=True),
    Route("GET", "/actions/artifacts/{artifact_id}", get_artifact),
    Route("GET", "/actions/artifacts/{artifact_id}/{archive_format}", download_artifact),
)
