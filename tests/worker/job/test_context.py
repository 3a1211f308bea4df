"""What a job knows of itself: its unit, its run, the default branch."""

import pytest

from bot.model.errors import UsageError
from bot.worker.job.context import default_branch, read_job_context


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"CF_UNIT": ""}, "CF_UNIT is missing"),
        ({"GITHUB_RUN_ID": "x"}, "GITHUB_RUN_ID must be a number"),
        ({"GITHUB_REF_NAME": ""}, "the default branch is unknown"),
        ({"GITHUB_REPOSITORY": ""}, "GITHUB_REPOSITORY is missing"),
    ],
)
def test_a_wrong_environment_is_named(bench, change, words):
    environ = bench("edit").environ(**change)

    with pytest.raises(UsageError, match=words):
        read_job_context(environ)


def test_the_event_names_the_default_branch(tmp_path):
    event = tmp_path / "event.json"
    event.write_text('{"repository": {"default_branch": "dev/next"}}')

    assert default_branch({"GITHUB_EVENT_PATH": str(event), "GITHUB_REF_NAME": "other"}) == "dev/next"
