"""`cf batch list` and `cf batch show`: what there is, as it stands now."""

import json

from bot.cli import main
from bot.model.report import Outcome
from tests.conductor.batching import batches, control, issue, order


def test_list_and_show_know_the_ended_and_the_running(conductor, capsys):
    first, second = issue(conductor), issue(conductor)
    order(conductor, str(first), strategy="serial", options="merge=auto")
    conductor.settle()
    conductor.finish_live(first, Outcome.PASSED)
    ended = batches(conductor)[0]
    control(conductor, "stop", ended)
    conductor.settle()
    conductor.world.close(first)
    conductor.settle()
    order(conductor, str(second), run=78)
    running = batches(conductor)[1]
    conductor.settle()

    assert main(["batch", "list"]) == 0
    head, *lines = capsys.readouterr().out.splitlines()
    assert head.split() == ["batch", "state", "tasks", "strategy", "by", "ordered", "ended"]
    assert [line.split()[:5] for line in lines] == [
        [f"#{running}", "running", "1", "parallel", "maintainer"],
        [f"#{ended}", "cancelled", "1", "serial", "maintainer"],
    ]
    assert main(["batch", "list", "--limit", "1", "--json"]) == 0
    assert [one["batch"] for one in json.loads(capsys.readouterr().out)] == [running]
    assert main(["batch", "list", "--status", "CANCELLED", "--json"]) == 0
    (told,) = json.loads(capsys.readouterr().out)
    assert (told["batch"], told["tasks"], told["options"]) == (ended, [first], {"merge": "auto"})

    assert main(["batch", "show", f"#{ended}"]) == 0
    shown = capsys.readouterr().out
    assert f"batch #{ended}: CANCELLED, stopped by maintainer; 1 of 1 passed" in shown
    assert "merge: auto" in shown
    assert main(["batch", "show", str(running), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["counts"]["total"] == 1
    assert (told["state"], told["members"][0]["task"], told["members"][0]["status"]) == (
        "running",
        second,
        "in-progress",
    )


def test_batches_of_an_account_that_does_not_count_are_named_as_that(story, capsys):
    order(story, str(issue(story)))
    assert main(["batch", "list"]) == 0
    told = capsys.readouterr().out
    assert "no batch" in told
    assert "1 more are by github-actions[bot] (id " in told
    assert main(["batch", "list", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == []


def test_show_of_a_batch_whose_text_was_edited_says_so(conductor, capsys):
    order(conductor, str(issue(conductor)))
    batch = batches(conductor)[0]
    conductor.world.edit_issue(batch, body="::error::mine now")
    assert main(["batch", "show", str(batch)]) == 0
    assert "was edited by maintainer" in capsys.readouterr().out
