"""Property: anything in any order: a machine plays people, runs and trouble, and looks after each step at what must hold."""

import os
from collections import Counter
from datetime import timedelta

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from bot.conductor.recording import record_of
from bot.model.errors import TryLater
from bot.model.report import Outcome
from bot.model.status import Status
from bot.notation.comments import read_fingerprint
from bot.notation.digests import text_digest
from bot.notation.records import is_record
from tests.conductor.story import CONFIG, STATUSES, Story

MOST = 2
ENDINGS = (Outcome.PASSED, Outcome.FAILED, Outcome.BLOCKED, Outcome.NO_CHANGES, Outcome.CRASHED, Outcome.HELD)
COMMANDS = ("/cf run", "/cf stop", "/cf retry", "/cf answer sqlite", "/cf approve", "/cf status", "/cf rnu")
which = st.integers(0, 2)


class Anything(RuleBasedStateMachine):
    """Three issues, the second of which needs the first; at most two may run at once."""

    @initialize()
    def begin(self):
        self.story = Story(CONFIG + f"max_parallel: {MOST}\nretry: {{max_attempts: 2}}\n")
        self.world = self.story.world
        self.world.add_user("triager", "triage")
        first = self.story.ready()
        self.issues = [
            first,
            self.story.ready(f"depends on #{first}"),
            self.world.open_issue("Later", by="triager"),
        ]
        self.blind = False

    def tick(self):
        try:
            self.story.tick()
        except TryLater:
            return
        assert self.story.last is not None
        assert record_of(self.story.last).unfaithful == ()
        if not self.world.faults.stale_reads:
            self.check_starts()

    def check_starts(self):
        """What has just been claimed was open, ordered, not paused and satisfied in this very moment."""
        assert self.story.last is not None
        decided = {decision.task: decision.record for decision in self.story.last.plan.decisions}
        for task in self.story.last.effects.started:
            issue = self.world.issue(task)
            approval = decided[task].approval
            assert issue.is_open
            assert approval is not None
            assert approval.by == "maintainer"  # the triager's and the stranger's word starts nothing
            assert approval.digest == text_digest(issue.title, issue.body)
            if task == self.issues[1] and "depends" in issue.body:
                need = self.world.issue(self.issues[0])
                assert not need.is_open
                assert need.state_reason == "completed"

    @rule()
    def look(self):
        self.tick()

    @rule()
    def look_at_lists_that_are_behind(self):
        self.blind = True  # what was posted last cannot be seen in such lists, and may be posted again
        self.world.faults.lag(4)
        self.tick()
        self.world.faults.stale_reads = 0

    @rule(number=st.integers(1, 12), after=st.booleans())
    def look_and_die(self, number, after):
        self.world.faults.fail_write(number, after=after)
        self.tick()
        self.world.faults.planned.clear()

    @rule(span=st.sampled_from([timedelta(seconds=40), timedelta(minutes=7), timedelta(hours=8)]))
    def time_passes(self, span):
        self.world.wait(span)

    @rule(which=which, status=st.sampled_from(STATUSES), by=st.sampled_from(["maintainer", "triager"]))
    def somebody_labels(self, which, status, by):
        self.world.label(self.issues[which], f"cf:{status}", by=by)

    @rule(which=which, status=st.sampled_from(STATUSES))
    def somebody_takes_a_label_away(self, which, status):
        self.world.unlabel(self.issues[which], f"cf:{status}")

    @rule(which=which, reason=st.sampled_from(["completed", "not_planned"]))
    def somebody_closes(self, which, reason):
        self.world.close(self.issues[which], reason=reason)

    @rule(which=which, by=st.sampled_from(["maintainer", "triager"]))
    def somebody_reopens(self, which, by):
        self.world.reopen(self.issues[which], by=by)

    @rule(which=which, body=st.sampled_from(["other words", "depends on #1", ""]))
    def the_maintainer_edits(self, which, body):
        self.world.edit_issue(self.issues[which], body=body)

    @rule(which=which, words=st.sampled_from(["sqlite", "why?", "<!-- cf:record 1 {} -->"]))
    def somebody_comments(self, which, words):
        self.world.comment(self.issues[which], words)

    @rule(
        which=which,
        words=st.sampled_from(COMMANDS),
        by=st.sampled_from(["maintainer", "triager", "stranger"]),
    )
    def somebody_commands(self, which, words, by):
        self.world.comment(self.issues[which], words, by=by)

    @rule(which=which, words=st.sampled_from(COMMANDS))
    def a_comment_is_edited_into_a_command(self, which, words):
        ours = [
            comment for comment in self.world.comments_of(self.issues[which]) if not comment.author.is_bot
        ]
        if ours:
            self.world.edit_comment(ours[-1].id, words)

    @rule(body=st.sampled_from(["do something else", ""]))
    def the_author_who_may_not_order_edits(self, body):
        self.world.edit_issue(self.issues[2], body=body, by="triager")

    @rule(
        operation=st.sampled_from(
            ["view", "comments_since", "runs", "write", "dispatch", "artifacts_since", "jobs"]
        )
    )
    def look_on_a_bad_day(self, operation):
        self.world.faults.answer(502, operation)
        self.tick()
        self.world.faults.planned.clear()

    @rule(which=which)
    def the_maintainer_deletes_our_comments(self, which):
        for comment in self.world.comments_of(self.issues[which]):
            if is_record(comment.body) and comment.author.is_bot:
                self.world.delete_comment(comment.id)

    @rule()
    def the_maintainer_closes_the_dashboard(self):
        for issue in self.world.issues.all():
            if issue.has_label("cf:dashboard"):
                self.world.close(issue.number)

    def living(self):
        return [run for run in self.story.worker_runs() if run.status != "completed"]

    @precondition(lambda self: self.living())
    @rule(data=st.data(), outcome=st.sampled_from(ENDINGS))
    def a_run_reports(self, data, outcome):
        run = data.draw(st.sampled_from(self.living()))
        key = run.inputs["keys"]
        if outcome is Outcome.PASSED:
            try:
                self.story.finish(key, outcome)
            except (KeyError, StopIteration, AssertionError):
                self.world.run_ended(run.id, "failure")
            return
        self.story.finish(key, outcome)

    @precondition(lambda self: self.living())
    @rule(data=st.data(), conclusion=st.sampled_from(["failure", "cancelled"]))
    def a_run_dies(self, data, conclusion):
        run = data.draw(st.sampled_from(self.living()))
        self.story.die(run.inputs["keys"], conclusion)

    @precondition(lambda self: any(pull.issue.is_open for pull in self.world.pulls.by_number.values()))
    @rule(data=st.data())
    def the_maintainer_merges(self, data):
        pulls = [pull.number for pull in self.world.pulls.by_number.values() if pull.issue.is_open]
        self.world.merge_pull(data.draw(st.sampled_from(pulls)))

    @invariant()
    def no_key_is_used_again(self):
        """Unless the lists were behind: then the run with the lowest id has the key, and the other is refused in its first step."""
        again = [key for key, count in Counter(self.story.starts()).items() if count > 1]
        assert self.blind or not again

    @invariant()
    def no_more_run_than_may(self):
        assert len(self.living()) <= MOST

    @invariant()
    def no_notice_is_posted_twice(self):
        for number in self.issues:
            ours = [comment.body for comment in self.world.comments_of(number) if comment.author.is_bot]
            told = Counter(print_ for body in ours if (print_ := read_fingerprint(body)))
            assert self.blind or not [print_ for print_, count in told.items() if count > 1]
            assert sum(map(is_record, ours)) <= 1

    def teardown(self):
        """Left alone, everything comes to rest: nothing closed runs, every task has at most one status, ticks write nothing."""
        if not hasattr(self, "story"):
            return
        self.world.faults.planned.clear()
        for _ in range(14):
            self.world.wait(timedelta(minutes=8))
            self.tick()
            for run in self.living():
                self.story.die(run.inputs["keys"])
        writes = self.world.faults.writes
        self.tick()
        assert self.world.faults.writes == writes
        for number in self.issues:
            status = self.story.status(number)
            assert len(status) <= 1, status
            if self.world.issue(number).is_open:
                assert status != (str(Status.IN_PROGRESS),)


TestAnything = pytest.mark.slow(Anything.TestCase)
TestAnything.settings = settings(
    # `make soak` plays tens of thousands, each run others; in the suite the same ones each time.
    max_examples=int(os.environ.get("CF_SOAK", "200")),
    stateful_step_count=20,
    derandomize="CF_SOAK" not in os.environ,
    deadline=None,
    database=None,
    suppress_health_check=list(HealthCheck),
    phases=(Phase.generate, Phase.shrink),
)
