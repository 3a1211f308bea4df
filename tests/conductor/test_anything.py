"""Property: anything in any order: a machine plays people, runs and trouble, and looks after each step at what must hold."""

import os
from collections import Counter
from datetime import timedelta

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from bot.conductor.act.begin import NotTheConductor
from bot.conductor.observe import observe
from bot.conductor.recording import record_of
from bot.conductor.tick import decide, tick
from bot.model.errors import CannotGoOn, TryLater
from bot.model.issue import Comment
from bot.model.report import Outcome
from bot.model.status import Status
from bot.notation.comments import read_fingerprint
from bot.notation.digests import text_digest
from bot.notation.records import is_record, read_record
from bot.sandbox.world.accounts import EVERYTHING
from bot.sandbox.world.in_process import InProcess, client_of
from tests.conductor.story import CONFIG, STATUSES, Story

MOST = 2
ENDINGS = (
    Outcome.PASSED,
    Outcome.FAILED,
    Outcome.BLOCKED,
    Outcome.NO_CHANGES,
    Outcome.CRASHED,
    Outcome.HELD,
    Outcome.STALLED,
    Outcome.UNVERIFIED,
)
REFUSALS = ("Unable to create comment because issue is locked.", "was submitted too quickly")
COMMANDS = ("/cf run", "/cf stop", "/cf retry", "/cf answer sqlite", "/cf approve", "/cf status", "/cf rnu")
OURS = "github-actions[bot]"
which = st.integers(0, 2)


class Anything(RuleBasedStateMachine):
    """Three issues, the second of which needs the first; at most two may run at once."""

    @initialize()
    def begin(self):
        self.story = Story(CONFIG + f"max_parallel: {MOST}\nretry: {{max_attempts: 2}}\n")
        self.world = self.story.world
        self.world.add_user("triager", "triage")
        self.others = [
            client_of(self.world, "maintainer"),
            InProcess(self.world, self.world.accounts.app_token("another", EVERYTHING)),
        ]
        first = self.story.ready()
        self.issues = [
            first,
            self.story.ready(f"depends on #{first}"),
            self.world.open_issue("Later", by="triager"),
        ]
        self.blind = False
        self.paused = False

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
            assert not self.paused
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

    @rule(which=st.integers(0, 1))
    def another_account_tries_to_conduct(self, which):
        """A person's token, or another App's: once ours has a dashboard neither may write."""
        labelled = (one for one in self.world.issues.all() if one.has_label("cf:dashboard"))
        if which and not self.ran() and not any(one.author.is_bot for one in labelled):
            return  # an App may begin where nobody has
        writes = self.world.faults.writes
        with pytest.raises((NotTheConductor, TryLater)):
            tick(self.others[which], lambda: self.world.now)
        assert self.world.faults.writes == writes

    @rule(who=st.sampled_from(["maintainer", "stranger"]))
    def somebody_looks(self, who):
        """And is told what the conductor would be, or that this account cannot know."""
        seen = [self.foreseen(client_of(self.world, login)) for login in (OURS, who)]
        if seen[1] is not None:
            assert seen[1] == seen[0]

    def foreseen(self, github):
        try:
            seen, decided = decide(github, observe(github, self.world.now))
        except CannotGoOn:
            return None
        return [
            (one.task, one.verb, one.status) for one in decided.decisions
        ], seen.snapshot.starts_blocked_by

    @rule(by=st.sampled_from(["maintainer", "triager"]))
    def somebody_pauses(self, by):
        for issue in self.dashboards():
            self.world.label(issue.number, "cf:pause", by=by)
            self.paused = True

    @rule(by=st.sampled_from(["maintainer", "triager"]))
    def somebody_takes_the_pause_away(self, by):
        for issue in self.dashboards():
            if by == "maintainer" and issue.has_label("cf:pause"):
                self.paused = False
            self.world.unlabel(issue.number, "cf:pause", by=by)

    def ran(self):
        comments = (comment for number in self.issues for comment in self.world.comments_of(number))
        return any(is_record(comment.body) and comment.author.is_bot for comment in comments)

    def dashboards(self):
        """Ours that are open; not those that others made up."""
        labelled = (one for one in self.world.issues.all() if one.is_open and one.has_label("cf:dashboard"))
        return [one for one in labelled if one.author.is_bot]

    @rule(fate=st.sampled_from(["delete", "transfer", "take the label", "a false one"]))
    def the_dashboard_is_lost(self, fate):
        for issue in self.dashboards():
            if fate == "delete":
                self.world.delete_issue(issue.number)
            elif fate == "transfer":
                self.world.transfer_issue(issue.number)
            elif fate == "take the label":
                self.world.unlabel(issue.number, "cf:dashboard", by="triager")
        if fate != "a false one" and not self.ran():
            self.paused = False  # without any record the next tick is the first ever
        if fate == "a false one":
            self.world.open_issue(
                "cf dashboard", "<!-- cf:state 1 {} -->", labels=("cf:dashboard",), by="triager"
            )

    @rule()
    def look_at_lists_that_are_behind(self):
        self.blind = True  # what was posted last cannot be seen in such lists, and may be posted again
        if not self.dashboards():
            self.paused = False  # lists of the time before the first record, and a dashboard that is gone: as on the first day
        self.world.faults.lag(4)
        self.tick()
        self.world.faults.stale_reads = 0

    @rule(number=st.integers(1, 12), after=st.booleans())
    def look_and_die(self, number, after):
        self.world.faults.fail_write(number, after=after)
        self.tick()
        self.world.faults.planned.clear()

    @rule(skip=st.integers(0, 3), words=st.sampled_from(REFUSALS))
    def look_while_a_comment_is_refused(self, skip, words):
        self.world.faults.refuse("write:CreateComment", words, skip=skip)
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

    @rule(which=which, words=st.sampled_from(["sqlite", "thanks", "why?", "<!-- cf:record 1 {} -->"]))
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

    def records_of(self, number):
        for one in self.world.comments_of(number):
            if one.author.is_bot and is_record(one.body):
                found = Comment(
                    one.id, one.node_id, number, one.author, one.body, one.created_at, one.updated_at
                )
                yield read_record(found, number, {one.author.id})

    def look_and_end_what_runs(self):
        """Whether anything ran."""
        self.tick()
        living = self.living()
        for run in living:
            self.story.die(run.inputs["keys"])
        return bool(living)

    def living(self):
        return [run for run in self.story.worker_runs() if run.status != "completed"]

    @precondition(lambda self: self.living())
    @rule(data=st.data(), outcome=st.sampled_from(ENDINGS))
    def a_run_reports(self, data, outcome):
        run = data.draw(st.sampled_from(self.living()))
        key = run.inputs["keys"]
        if outcome in (Outcome.PASSED, Outcome.UNVERIFIED):
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
    def every_end_is_told_or_will_be(self):
        """Of a task that its newest attempt left to a person the record knows the notice, or its words."""
        for number in self.issues:
            for record in self.records_of(number):
                known = {*record.notices, *(one.fingerprint for one in record.unsaid)}
                key = f":cf-{number}-{record.parked.attempt}" if record.parked else ""
                assert any(one.endswith(key) for one in known) or not key, record

    @invariant()
    def no_notice_is_posted_twice(self):
        for number in self.issues:
            ours = [comment.body for comment in self.world.comments_of(number) if comment.author.is_bot]
            told = Counter(print_ for body in ours if (print_ := read_fingerprint(body)))
            assert self.blind or not [print_ for print_, count in told.items() if count > 1]
            assert self.blind or sum(map(is_record, ours)) <= 1

    def teardown(self):
        """Left alone, everything comes to rest: nothing closed runs, every task has at most one status, ticks write nothing."""
        if not hasattr(self, "story"):
            return
        self.world.faults.planned.clear()
        for _ in range(14):
            self.world.wait(timedelta(minutes=8))
            self.look_and_end_what_runs()
        # Where every run dies, that is a cause, and one run tries it again now and then: what follows looks between two tries.
        while self.look_and_end_what_runs():
            pass
        writes = self.world.faults.writes
        self.tick()
        assert self.world.faults.writes == writes
        for number, task in observe(self.story.github, self.world.now).snapshot.tasks.items():
            assert task.record.unsaid == (), number
        for number in self.issues:
            ours = [comment.body for comment in self.world.comments_of(number) if comment.author.is_bot]
            assert (
                sum(map(is_record, ours)) <= 1
            )  # what was said twice is folded, also where lists were behind
            status = self.story.status(number)
            assert len(status) <= 1, status
            if self.world.issue(number).is_open:
                assert status != (str(Status.IN_PROGRESS),)


TestAnything = pytest.mark.slow(Anything.TestCase)
TestAnything.settings = settings(
    # `make soak` plays tens of thousands, each run others; in the suite the same ones each time.
    max_examples=int(os.environ.get("CF_SOAK", "50")),
    stateful_step_count=20,
    derandomize="CF_SOAK" not in os.environ,
    deadline=None,
    database=None,
    suppress_health_check=list(HealthCheck),
    phases=(Phase.generate, Phase.shrink),
)
