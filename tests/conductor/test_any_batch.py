"""Property: batches in any order: a machine orders, stops, resumes and ends them, and looks after each step at what must hold."""

import contextlib
import os
from collections import Counter
from datetime import timedelta

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from bot.conductor.observe import observe
from bot.conductor.recording import record_of as record_of_tick
from bot.model.batch import BatchState
from bot.model.errors import BotError, TryLater
from bot.model.report import Outcome
from bot.model.unit import Kind
from bot.notation.batches import read_batch
from bot.notation.comments import read_fingerprint
from tests.conductor.batching import batches, order, state
from tests.conductor.story import CONFIG, Story

TOTAL, MEMBERS = 3, 4
ENDINGS = (Outcome.PASSED, Outcome.PASSED, Outcome.FAILED, Outcome.BLOCKED, Outcome.INFRA)
which = st.integers(0, MEMBERS - 1)


class AnyBatch(RuleBasedStateMachine):
    """Four issues, the second of which needs the first, and whatever batches are ordered over them."""

    @initialize()
    def begin(self):
        self.story = Story(CONFIG + f"limits: {{total: {TOTAL}}}\nretry: {{max_attempts: 2, backoff: 0s}}\n")
        self.world = self.story.world
        self.world.add_user("triager", "triage")
        first = self.world.open_issue("One", labels=("cf:backlog",))
        second = self.world.open_issue("Two", f"depends on #{first}")
        self.issues = [first, second, self.story.ready(), self.world.open_issue("Four")]
        self.runs = 70

    def tick(self):
        try:
            last = self.story.tick()
        except TryLater:
            return
        assert record_of_tick(last).unfaithful == ()
        self.check_starts(last)

    def numbers(self):
        return batches(self.story)

    def known(self):
        """Every batch there is, as its issue says."""
        ours = {self.world.token("github-actions[bot]").account.id}
        numbers = batches(self.story)
        found = self.story.github.issues(numbers) if numbers else {}
        return [batch for number in numbers if (batch := read_batch(found[number], ours)) is not None]

    def check_starts(self, last):
        """What has just been claimed as a member belongs to a batch that goes on, and fits its limits."""
        decided = {decision.task: decision for decision in last.plan.decisions}
        started = set(last.effects.started) & set(decided)
        for batch in self.known():
            control = batch.record.control
            goes_on = batch.issue.is_open and not batch.record.state.ended
            members = [decided[task] for task in batch.order.tasks if task in decided]
            mine = [said for said in members if said.record.batch == batch.number]
            new = [said.task for said in mine if said.task in started]
            assert goes_on or not new, (batch.number, new, batch.record.state, control, batch.issue.is_open)
            assert not (new and control is not None and control.action == "stop")
            most = 1 if batch.order.strategy == "serial" else batch.order.max_parallel
            if new and most is not None:
                assert sum(said.record.live is not None for said in members) <= most

    # ------------------------------------------------------------------ people

    @rule(
        places=st.sets(which, min_size=1, max_size=3),
        strategy=st.sampled_from(["serial", "parallel"]),
        most=st.sampled_from(["", "1", "2"]),
        rounds=st.sampled_from(["0", "1"]),
        on_failure=st.sampled_from(["continue", "stop"]),
        options=st.sampled_from(["", "blocked=end"]),
        dry_run=st.sampled_from(["false", "false", "true"]),
    )
    def somebody_orders(self, places, strategy, most, rounds, on_failure, options, dry_run):
        self.runs += 1
        tasks = " ".join(str(self.issues[place]) for place in sorted(places))
        given = {"max_parallel": most, "max_retries": rounds, "on_failure": on_failure, "dry_run": dry_run}
        with contextlib.suppress(BotError):  # refused as a whole, in words
            order(self.story, tasks, run=self.runs, strategy=strategy, options=options, **given)

    @precondition(lambda self: self.numbers())
    @rule(
        data=st.data(),
        words=st.sampled_from(
            ["/cf stop", "/cf stop --force", "/cf resume", "/cf resume --force", "/cf run"]
        ),
        by=st.sampled_from(["maintainer", "maintainer", "triager"]),
    )
    def somebody_commands_a_batch(self, data, words, by):
        self.world.comment(data.draw(st.sampled_from(self.numbers())), words, by=by)

    @precondition(lambda self: self.numbers())
    @rule(data=st.data(), action=st.sampled_from(["stop", "stop-force", "resume", "resume-force"]))
    def the_workflow_is_told(self, data, action):
        self.runs += 1
        target = data.draw(st.sampled_from(self.numbers()))
        with contextlib.suppress(BotError):
            order(self.story, action=action, target=str(target), run=self.runs)

    @precondition(lambda self: self.numbers())
    @rule(data=st.data(), by=st.sampled_from(["maintainer", "triager"]), closes=st.booleans())
    def somebody_closes_or_reopens_a_batch(self, data, by, closes):
        number = data.draw(st.sampled_from(self.numbers()))
        if closes:
            self.world.close(number)
        else:
            self.world.reopen(number, by=by)

    @rule(place=which, label=st.sampled_from(["ready", "backlog", "failed"]))
    def somebody_labels(self, place, label):
        self.world.label(self.issues[place], f"cf:{label}")

    @rule(place=which, words=st.sampled_from(["/cf run", "/cf stop", "/cf retry", "sqlite"]))
    def somebody_comments(self, place, words):
        self.world.comment(self.issues[place], words)

    @rule(place=which, reason=st.sampled_from(["completed", "not_planned", "reopened"]))
    def somebody_closes_or_reopens_a_task(self, place, reason):
        if reason == "reopened":
            self.world.reopen(self.issues[place])
        else:
            self.world.close(self.issues[place], reason=reason)

    @precondition(lambda self: any(pull.issue.is_open for pull in self.world.pulls.by_number.values()))
    @rule(data=st.data())
    def the_maintainer_merges(self, data):
        pulls = [pull.number for pull in self.world.pulls.by_number.values() if pull.issue.is_open]
        self.world.merge_pull(data.draw(st.sampled_from(pulls)))

    # ------------------------------------------------------------------ time, ticks, runs

    @rule()
    def look(self):
        self.tick()

    @rule(number=st.integers(1, 10), after=st.booleans())
    def look_and_die(self, number, after):
        self.world.faults.fail_write(number, after=after)
        self.tick()
        self.world.faults.planned.clear()

    @rule(span=st.sampled_from([timedelta(seconds=40), timedelta(minutes=7)]))
    def time_passes(self, span):
        self.world.wait(span)

    def living(self):
        return [run for run in self.story.worker_runs() if run.status != "completed"]

    def end(self, run, outcome):
        """Whatever the run is of: an attempt, or a trial of a gate, which is green if the outcome is passed."""
        key = run.inputs["keys"]
        number = int(key.split("-")[1])
        if number not in self.issues:
            if self.story.gate(number) == key:
                self.story.finish_gate(number, green=outcome is Outcome.PASSED)
            else:
                self.story.die(key)
            return
        try:
            self.story.finish(key, outcome)
        except (KeyError, StopIteration, AssertionError):
            self.world.run_ended(run.id, "failure")

    @precondition(lambda self: self.living())
    @rule(data=st.data(), outcome=st.sampled_from(ENDINGS))
    def a_run_ends(self, data, outcome):
        self.end(data.draw(st.sampled_from(self.living())), outcome)

    # ------------------------------------------------------------------ what must hold

    @invariant()
    def no_key_is_used_again(self):
        assert not [key for key, count in Counter(self.story.starts()).items() if count > 1]

    @invariant()
    def no_more_run_than_may(self):
        assert len(self.living()) <= TOTAL

    @invariant()
    def each_word_is_said_once(self):
        for number in (*self.issues, *batches(self.story)):
            ours = [one.body for one in self.world.comments_of(number) if one.author.is_bot]
            told = Counter(print_ for body in ours if (print_ := read_fingerprint(body)))
            assert not [print_ for print_, count in told.items() if count > 1]

    def teardown(self):
        """Left alone all comes to rest: what has ended is closed, shows its state, and holds no member back."""
        if not hasattr(self, "story"):
            return
        self.world.faults.planned.clear()
        writes, quiet = -1, 0
        for _ in range(40):
            self.world.wait(timedelta(minutes=7))
            self.tick()
            quiet = quiet + 1 if self.world.faults.writes == writes and not self.living() else 0
            if quiet == 2:
                break
            writes = self.world.faults.writes
            for run in self.living():
                self.end(run, Outcome.FAILED)
        assert quiet == 2, "it does not come to rest"
        tasks = observe(self.story.github, self.world.now).snapshot.tasks.values()
        for batch in self.known():
            assert state(self.story, batch.number) == (batch.record.state,), batch.number
            assert batch.issue.is_open is not batch.record.state.ended, batch.number
            assert batch.record.trial is None
            if batch.record.state.ended:
                mine = [task for task in tasks if task.record.batch == batch.number and task.issue.is_open]
                assert "ready" not in [task.record.status for task in mine]
            if batch.record.state is BatchState.COMPLETED:
                assert batch.record.gate is None or batch.record.gate.passed
        kinds = {attempt.kind for task in tasks for attempt in task.record.attempts}
        assert kinds <= {Kind.CODE, Kind.PUBLISH}


TestAnyBatch = pytest.mark.slow(AnyBatch.TestCase)
TestAnyBatch.settings = settings(
    # `make soak` plays more, each run others; in the suite the same ones each time.
    max_examples=int(os.environ.get("CF_SOAK", "15")),
    stateful_step_count=20,
    derandomize="CF_SOAK" not in os.environ,
    deadline=None,
    database=None,
    suppress_health_check=list(HealthCheck),
    phases=(Phase.generate, Phase.shrink),
)
