"""The commands as they are typed: what each is for, and what `cf batch` is without a verb."""

import pytest

from bot.cli import main
from tests.conductor.batching import batches, issue


def test_without_a_verb_it_is_the_job_of_the_workflow(conductor, monkeypatch, capsys):
    task = issue(conductor)
    given = {"CF_BATCH_TASKS": str(task), "GITHUB_ACTOR": "maintainer", "GITHUB_RUN_ID": "77"}
    for name, value in given.items():
        monkeypatch.setenv(name, value)
    assert main(["batch", "--dry-run"]) == 0
    assert batches(conductor) == []
    assert main(["batch"]) == 0
    assert "is written with 1 task" in capsys.readouterr().out
    assert len(batches(conductor)) == 1


@pytest.mark.parametrize("verb", ["run", "stop", "resume", "list", "show"])
def test_each_verb_says_what_it_is_for(verb, capsys):
    with pytest.raises(SystemExit) as ended:
        main(["batch", verb, "--help"])
    assert ended.value.code == 0
    assert capsys.readouterr().out.startswith(f"usage: cf batch {verb}")
