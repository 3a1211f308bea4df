"""The batch gate's jobs: work is joined, proven on a clean machine, and nothing is pushed."""

import pytest
from msgspec.structs import replace

from bot.model.batch import BatchRecord, Order, Search, Trial
from bot.model.record import Attempt
from bot.model.report import GateStatus, Outcome
from bot.model.status import Status
from bot.model.unit import Join, Kind
from bot.notation.batches import NAME, RECORD
from bot.notation.codec import dump
from bot.notation.marker import write_marker
from bot.sandbox.world.accounts import BOT
from bot.worker.agent.join_job import join
from bot.worker.job.context import read_job_context
from bot.worker.programs.cancellation import Cancellation
from tests.worker.bench import Bench, git

GATES = "gates: [{name: tests, run: 'test ! -e a.txt || test ! -e b.txt || { echo a and b; exit 1; }'}]"


class GateBench(Bench):
    """A batch issue of ours, whose record names trial 1."""

    def gate(self, *joins: Join, base: str = "", before: int = 0) -> None:
        now = self.world.now
        trial = Trial(Attempt(1, Kind.GATE, now, Status.READY, ""), len(joins))
        search = Search(tuple(one.task for one in joins), 0, "h", now, (trial,))
        order = Order(1, "maintainer", now, tuple(one.task for one in joins) or (1,))
        body = f"{write_marker(NAME, dump(order))}\n{write_marker(RECORD, dump(BatchRecord(gate=search)))}"
        self.task = self.world.open_issue("cf batch", body, ("cf:batch",), by=BOT)
        self.claim(1)
        self.unit = replace(
            self.unit, kind=Kind.GATE, comments=(0,), engine="", joins=joins, base=base, before=before
        )

    def joined(self):
        context = read_job_context(self.environ("agent"))
        self.shown = []
        self.context = context
        worked = join(self.github, context, Cancellation(), self.shown.append)
        self._keep(f"cf-work-{self.key}", context.out)
        self.commits[self.key] = worked.report.head
        return worked

    def proven(self):
        """All three jobs."""
        worked = self.joined()
        if not worked.verify:
            return self.publish("failure", "skipped")
        return self.publish("success", "success" if self.verify().passed else "failure")

    def heads(self) -> list[str]:
        return git(self.origin, "for-each-ref", "--format=%(refname) %(objectname)").splitlines()


@pytest.fixture
def shop(tmp_path):
    return GateBench(tmp_path, config=f"version: 1\nengines: {{command: {{args: agent}}}}\n{GATES}\n")


def branch(shop: GateBench, name: str, **files: str) -> str:
    """A branch of the default branch's head as it is now."""
    git(shop.desk, "checkout", "-q", "-B", f"cf/{name}", "origin/main")
    git(shop.desk, "push", "-q", "origin", f"HEAD:refs/heads/cf/{name}")
    return shop.commit(f"cf/{name}", {f"{key}.txt": text for key, text in files.items()})


def test_branches_are_joined_in_order_proven_and_not_pushed(shop):
    one, two = branch(shop, "11", a="a"), branch(shop, "12", c="c")
    shop.gate(Join(11, one), Join(12, two))
    before = shop.heads()
    report = shop.proven()

    assert report.outcome is Outcome.PASSED
    assert [gate.status for gate in report.gates] == [GateStatus.PASSED]
    assert report.base == git(shop.origin, "rev-parse", "main")
    assert (report.pull, report.branch, shop.heads()) == (0, "", before)


def test_what_fails_only_together_is_found(shop):
    one, two = branch(shop, "11", a="a"), branch(shop, "12", b="b")
    shop.gate(Join(11, one), Join(12, two))
    report = shop.proven()
    assert report.outcome is Outcome.FAILED
    assert report.gates[0].tail.startswith("a and b")
    assert report.misfit == 0


def test_work_that_contradicts_another_is_named(shop):
    one, two = branch(shop, "11", a="one"), branch(shop, "12", a="two")
    shop.gate(Join(11, one), Join(12, two))
    report = shop.proven()
    assert (report.outcome, report.misfit) == (Outcome.FAILED, 12)
    assert "the work of #12 contradicts" in report.reason


def test_without_joins_the_default_branch_itself_is_proven(shop):
    shop.gate()
    report = shop.proven()
    assert report.outcome is Outcome.PASSED
    assert report.base == git(shop.origin, "rev-parse", "main")


def test_merged_work_is_tried_on_the_default_branch_as_it_was(shop, monkeypatch):
    one = branch(shop, "11", a="a")
    first = git(shop.origin, "rev-parse", "main")
    begun = int(git(shop.origin, "log", "-1", "--format=%ct", "main"))
    monkeypatch.setenv("GIT_COMMITTER_DATE", f"{begun + 3600} +0000")
    shop.commit("main", {"b.txt": "b"})
    monkeypatch.undo()
    shop.gate(Join(11, one), before=begun + 60)
    report = shop.joined().report
    assert (report.outcome, report.base) == (Outcome.UNVERIFIED, first)


def test_all_trials_of_a_search_can_stand_on_one_base(shop):
    base = git(shop.origin, "rev-parse", "main")
    one = branch(shop, "11", a="a")
    shop.commit("main", {"b.txt": "b"})
    shop.gate(Join(11, one), base=base)
    assert shop.joined().report.base == base


def test_only_full_ids_of_commits_are_joined(shop):
    shop.gate(Join(11, "--upload-pack=x"))
    report = shop.joined().report
    assert report.outcome is Outcome.INFRA
    assert "is not the full id of a commit" in report.reason
    shop.unit = replace(shop.unit, joins=(Join(11, "e" * 40),))
    report = shop.joined().report
    assert (report.outcome, report.misfit) == (Outcome.FAILED, 11)
    assert "is not there any more" in report.reason


def test_only_the_current_trial_of_a_batch_that_nobody_edited_is_run(shop):
    shop.gate()
    current = shop.unit
    shop.unit = replace(shop.unit, keys=(f"cf-{shop.task}-2",))
    worked = shop.joined()
    assert worked.report.outcome is Outcome.REFUSED
    assert not worked.verify
    shop.unit = current
    shop.world.edit_issue(shop.task, body=shop.world.issue(shop.task).body + " ")
    assert shop.joined().report.outcome is Outcome.REFUSED


def test_a_second_run_of_the_same_trial_is_refused(shop):
    shop.gate()
    first = shop.run_id
    shop.run_id = shop.github.dispatch("cf-worker.yml", "main", {"units": "[]", "keys": shop.key})
    report = shop.joined().report
    assert report.outcome is Outcome.REFUSED
    assert f"belongs to run {first}" in report.reason


def test_a_machine_that_cannot_be_set_up_blames_nobody(tmp_path):
    text = f"version: 1\nengines: {{command: {{args: agent}}}}\nsetup: ['exit 3']\n{GATES}\n"
    shop = GateBench(tmp_path, config=text)
    shop.gate()
    assert shop.proven().outcome is Outcome.INFRA
