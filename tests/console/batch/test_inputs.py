"""The inputs of `cf-batch.yml`, as the job hands them over."""

import pytest

from bot.console.batch.inputs import read_request
from bot.model.errors import UsageError


def test_usage_errors_exit_with_two():
    with pytest.raises(UsageError) as refused:
        read_request({"GITHUB_ACTOR": "maintainer", "GITHUB_RUN_ID": "1"})
    assert refused.value.exit_code == 2
    for missing in ("GITHUB_ACTOR", "GITHUB_RUN_ID"):
        environ = {"GITHUB_ACTOR": "maintainer", "GITHUB_RUN_ID": "1", "CF_BATCH_TASKS": "1"}
        del environ[missing]
        with pytest.raises(UsageError, match=missing):
            read_request(environ)
