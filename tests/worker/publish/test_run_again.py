"""Story: "Re-run all jobs": refused jobs keep nothing, and what the first ones kept is found where it is still shown."""

import io
import zipfile

import pytest

from bot.model.report import Hold, Outcome, Report
from bot.model.unit import Kind
from bot.notation.reports import REPORT_FILE, report_name, work_name, write_report
from bot.sandbox.world.actions import KeptOver


def archive(**files: str) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as content:
        for name, text in files.items():
            content.writestr(name.replace("_", "."), text)
    return buffer.getvalue()


def as_an_older_workflow_did(setup) -> None:
    """The refused jobs hand in their reports under the names of the first ones."""
    refused = Report(
        setup.key, setup.task, Outcome.REFUSED, "an agent job cannot be run again", run_attempt=2
    )
    for name in (work_name(setup.key), report_name(setup.key)):
        setup.world.add_artifact(
            setup.run_id, name, archive(**{REPORT_FILE.replace(".", "_"): write_report(refused)})
        )


@pytest.mark.parametrize("mode", ["workflow", "edit", "ask"])
@pytest.mark.parametrize("keeps", KeptOver)
def test_a_refused_attempt_of_a_run_keeps_nothing(bench, mode, keeps):
    setup = bench(mode)
    setup.end(setup.through())
    before = {one.id for one in setup.github.artifacts(setup.run_id)}

    said = setup.run_again(keeps)

    assert said.outcome is Outcome.REFUSED
    assert {one.id for one in setup.github.artifacts(setup.run_id)} <= before
    assert "agent" not in "".join(setup.shown)


@pytest.mark.parametrize("older", [False, True], ids=["our workflow", "an older workflow"])
@pytest.mark.parametrize("keeps", [KeptOver.BESIDE, KeptOver.ONCE])
@pytest.mark.parametrize("times", [1, 3])
def test_kept_work_is_published_after_all_jobs_were_run_again(bench, older, keeps, times):
    setup = bench("workflow")
    held = setup.through()
    earlier = setup.end(held)
    for _ in range(times):
        setup.run_again(keeps)
    if older and keeps is KeptOver.BESIDE:
        as_an_older_workflow_did(setup)
    setup.claim(2, Kind.PUBLISH, earlier=earlier, exceptions=held.protected)

    report = setup.publish("skipped", "skipped")

    assert report.outcome is Outcome.PASSED
    assert setup.files(report.head) == {"feature.py", ".github/workflows/ci.yml"}
    assert not setup.world.pull(report.pull).draft


def test_an_attempt_goes_on_from_work_that_a_refused_one_hides(bench):
    setup = bench("workflow")
    earlier = setup.end(setup.through())
    setup.run_again(KeptOver.BESIDE)
    as_an_older_workflow_did(setup)
    setup.claim(2, earlier=earlier)

    setup.work()

    assert setup.kept().source == "the kept work of an earlier attempt"


def test_what_github_shows_no_longer_is_said_with_the_cause(bench):
    setup = bench("workflow")
    held = setup.through()
    earlier, run = setup.end(held), setup.run_id
    setup.run_again(KeptOver.GONE)
    setup.claim(2, Kind.PUBLISH, earlier=earlier, exceptions=held.protected)

    report = setup.publish("skipped", "skipped")

    assert (report.outcome, report.hold) == (Outcome.HELD, Hold.EXPIRED)
    assert report.reason == (
        f"the work of cf-1-1 is not kept any more: all jobs of run {run} were run again, and GitHub shows no longer what"
        " the first ones kept: only a new attempt can help"
    )


def test_a_bundle_of_another_key_is_passed_over(bench):
    """Content first, age second: a newer artifact under the name that holds something else decides nothing."""
    setup = bench("workflow")
    held = setup.through()
    earlier = setup.end(held)
    run = setup.run_id
    other = Report("cf-9-1", 9, Outcome.UNVERIFIED, head="a" * 40)
    spoilt = {
        "no archive": b"PK",
        "another task": archive(report_json=write_report(other)),
        "nothing": archive(note_txt="x"),
    }
    for data in spoilt.values():
        setup.world.run_ended(run, "failure")
        setup.world.rerun(run)
        setup.world.add_artifact(run, work_name("cf-1-1"), data)
    setup.claim(2, Kind.PUBLISH, earlier=earlier, exceptions=held.protected)
    assert setup.publish("skipped", "skipped").outcome is Outcome.PASSED


@pytest.mark.parametrize("mode", ["bad", "fail", "ask"])
def test_publish_alone_may_be_run_again_after_an_agent_that_came_to_nothing(bench, mode):
    setup = bench(mode)
    setup.work()
    first = setup.publish("failure", "skipped")
    setup.world.run_ended(setup.run_id, "failure")
    setup.world.rerun(setup.run_id, ["#1 / publish"])
    again = setup.publish("failure", "skipped", GITHUB_RUN_ATTEMPT="2")
    assert again.outcome is first.outcome is not Outcome.REFUSED


def test_publish_alone_may_be_run_again_and_reports(bench):
    setup = bench("edit")
    first = setup.through()
    setup.world.run_ended(setup.run_id, "success")
    setup.world.rerun(setup.run_id, ["#1 / publish"])

    again = setup.publish("success", "success", GITHUB_RUN_ATTEMPT="2")

    assert (again.outcome, again.pull) == (Outcome.PASSED, first.pull)
    assert len([one for one in setup.github.artifacts(setup.run_id) if one.name == "cf-report-cf-1-1"]) == 2
