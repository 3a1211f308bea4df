"""A publish job asks who conducts: a unit that anybody could have sent publishes nothing, and a hand-over loses nothing."""

from argparse import Namespace

import pytest
from msgspec.structs import replace

from bot.github.signatures import with_signatures
from bot.model.config import Config
from bot.model.errors import CannotGoOn
from bot.notation.config import read_config
from bot.notation.marker import signed
from bot.notation.overview import plain_dashboard
from bot.notation.state import State
from bot.sandbox.world.accounts import BOT, EVERYTHING
from bot.worker import command
from bot.worker.job.conductor import check_conductor
from bot.worker.wake import conducts_itself
from tests.worker.bench import Bench


def dashboard(setup, by="github-actions[bot]", **state):
    body = plain_dashboard(State(setup.world.now, **state), "cf")
    token = setup.world.accounts.app_token("conductor", EVERYTHING) if by == "conductor[bot]" else by
    return setup.world.open_issue("cf dashboard", body, ("cf:dashboard",), by=token)


def identity(setup, words):
    """Today's configuration; the unit goes by that of its dispatch."""
    config = read_config(f"version: 1\nidentity: {words}\n", "blob")
    view = setup.github.view

    def look(*args):
        return replace(view(*args), config_text=f"version: 1\nidentity: {words}\n", config_blob="blob")

    setup.github.view = look
    return config


@pytest.fixture
def setup(tmp_path):
    return Bench(tmp_path, "edit")


def test_a_unit_of_whoever_conducts_is_published(setup):
    check_conductor(setup.github, setup.unit, Config())  # nobody has a dashboard yet
    dashboard(setup)
    check_conductor(setup.github, setup.unit, Config())


@pytest.mark.parametrize("accounts", [(77,), (), (BOT.id + 1, 3)])
def test_a_unit_that_names_another_account_is_not(setup, accounts):
    dashboard(setup)
    forged = replace(setup.unit, accounts=accounts)
    with pytest.raises(
        CannotGoOn, match=r"github-actions\[bot\] conducts here, and this unit was not sent by it"
    ):
        check_conductor(setup.github, forged, Config())


def test_the_whole_job_publishes_nothing_then(setup):
    setup.work()
    setup.verify()
    dashboard(setup, by="conductor[bot]")
    with pytest.raises(CannotGoOn, match=r"conductor\[bot\] conducts here"):
        setup.publish()
    assert not setup.world.pulls.by_number


@pytest.mark.parametrize("words", [f"{{also: [{BOT.id}]}}", f"{{also: [5, {BOT.id}]}}"])
def test_after_a_hand_over_a_unit_of_the_account_before_is_published(setup, words):
    dashboard(setup, by="conductor[bot]", generation=1)
    identity(setup, words)
    check_conductor(setup.github, setup.unit, Config())


def test_without_the_key_nothing_is_published_where_what_is_kept_is_signed(setup):
    number, key = dashboard(setup), "k" * 32
    body = setup.world.issue(number).body
    setup.world.edit_issue(number, body=signed(body, key, {"state"}), by="github-actions[bot]")
    with pytest.raises(CannotGoOn, match="set CF_STATE_KEY"):
        check_conductor(setup.github, setup.unit, Config())
    check_conductor(with_signatures(setup.github, key), setup.unit, Config())


class Files:
    def __init__(self, text):
        self.text = text

    def text_at(self, _path):
        if self.text == "refused":
            raise CannotGoOn("no")
        return self.text


@pytest.mark.parametrize(("text", "person"), [
    ("version: 1\nidentity: {conductor: octocat}\n", "octocat"), ("version: 1\nidentity: {conductor: 'my-app[bot]'}\n", ""),
    ("version: 1\n", ""), (None, ""), ("nonsense: [", ""), ("refused", ""),
])  # fmt: skip
def test_only_a_person_that_conducts_is_not_woken(text, person):
    assert conducts_itself(Files(text), ".github/cf.yml") == person


def test_the_command_then_starts_no_workflow(setup, monkeypatch, capsys):
    monkeypatch.setattr("bot.github.client.connect", lambda environ, *_: setup.github)
    setup.github.text_at = Files("version: 1\nidentity: {conductor: octocat}\n").text_at
    assert command.run_wake(Namespace(), setup.environ("publish")) == 0
    assert setup.world.runs("cf-conductor.yml") == ()
    assert "octocat conducts here" in capsys.readouterr().out
