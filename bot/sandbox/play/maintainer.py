"""The scripted maintainer: looks at the repository as a person does, and answers, closes and merges as the issue list says."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from bot.conductor.act.labels import label_names
from bot.model.config import Config
from bot.model.issue import StateReason
from bot.model.status import Status
from bot.sandbox.play.issue_list import IssuePlan
from bot.sandbox.play.task_states import Facts, PullFacts, TaskFacts
from bot.sandbox.world import ApiError, World

LOGIN = "maintainer"


@dataclass(slots=True)
class Maintainer:
    """Acts through an account with write permission. `say` is told what was done, `plans` are by issue number."""

    world: World
    config: Config
    say: Callable[[str], None]
    merges: bool = True
    plans: dict[int, IssuePlan] = field(default_factory=dict)
    answered: set[str] = field(default_factory=set)
    began: dict[int, datetime] = field(default_factory=dict)

    def open(self, plans: Sequence[IssuePlan]) -> tuple[int, ...]:
        """Open the issues with needs and edges, then order the work: all at one moment, so that one tick sees all of it."""
        with self.world.lock:
            self._install_labels()
            numbers = [self.world.open_issue(plan.title, plan.body, plan.labels, LOGIN) for plan in plans]
            by_place = dict(enumerate(numbers, start=1))
            self.plans = dict(zip(numbers, plans, strict=True))
            for number, plan in self.plans.items():
                self._connect(number, plan, by_place)
            self.say(f"opened {_count(len(numbers), 'issue')}")
            for number, plan in self.plans.items():
                if not self._has_status(plan):
                    self.world.label(number, f"{self.config.prefix}:{Status.READY}", LOGIN)
        return tuple(numbers)

    def act(self, facts: Facts) -> None:
        """Do what there is to do now."""
        for task in facts.tasks:
            plan = self.plans[task.number]
            if task.is_open:
                self._answer(task, plan)
                self._close(task, plan, facts)
            if self.merges:
                self._merge(task)

    def _install_labels(self) -> None:
        """As somebody does who installs the conductor; it creates what is missing itself, one a second."""
        token = self.world.token(LOGIN)
        for name, (colour, description) in label_names(self.config).items():
            self.world.issues.create_label(name, colour, description, token)

    def _connect(self, number: int, plan: IssuePlan, by_place: Mapping[int, int]) -> None:
        if plan.needs:
            line = "Depends on " + ", ".join(f"#{by_place[place]}" for place in plan.needs)
            self.world.edit_issue(number, body=f"{plan.body.rstrip()}\n\n{line}\n".lstrip(), by=LOGIN)
        for place in plan.blocked_by:
            self.world.block(number, by_place[place], LOGIN)

    def _has_status(self, plan: IssuePlan) -> bool:
        names = {f"{self.config.prefix}:{status}".casefold() for status in Status}
        return any(label.casefold() in names for label in plan.labels)

    def _answer(self, task: TaskFacts, plan: IssuePlan) -> None:
        blocker = task.record.blocker
        waits = task.status is Status.BLOCKED and blocker is not None
        if (
            not waits
            or blocker is None
            or not plan.answer
            or f"{task.number} {blocker.fingerprint}" in self.answered
        ):
            return
        self.answered.add(f"{task.number} {blocker.fingerprint}")
        options = " ".join(f"{chr(65 + at)}. {text}" for at, text in enumerate(blocker.question.options))
        self.say(f"#{task.number} asks: {blocker.question.text.splitlines()[0]} {options}".rstrip())
        self.world.comment(task.number, plan.answer, LOGIN)
        self.say(f"#{task.number} answered: {plan.answer.splitlines()[0]}")

    def _close(self, task: TaskFacts, plan: IssuePlan, facts: Facts) -> None:
        """Second thoughts, some time after the first words of the task's agent."""
        if plan.close_after is None:
            return
        if task.number not in self.began and self._agent_spoke(task, facts):
            self.began[task.number] = facts.now
        began = self.began.get(task.number)
        if began is not None and facts.now - began >= plan.close_after:
            self.world.close(task.number, StateReason.NOT_PLANNED, LOGIN)
            self.say(f"#{task.number} closed as not planned, while its agent works")

    def _agent_spoke(self, task: TaskFacts, facts: Facts) -> bool:
        """The worker puts the task's number before each line of an agent."""
        running = {run.id for run in facts.worker_runs(task.number) if not run.ended}
        logs = [job.log for run in self.world.runs() if run.id in running for job in run.jobs.values()]
        return any(f"[#{task.number}] " in log for log in logs)

    def _merge(self, task: TaskFacts) -> None:
        """What is proven is merged as it comes; what nothing could prove is a draft, which a person would have looked at."""
        for pull in task.pulls:
            if not pull.is_open or not pull.mergeable or not _is_ready(task, pull):
                continue
            try:
                if pull.draft:
                    self.world.ready_for_review(pull.number, LOGIN)
                self.world.merge_pull(pull.number, LOGIN)
            except ApiError as error:
                self.say(f"pull request #{pull.number} was not merged: {error}")
            else:
                self.say(f"merged pull request #{pull.number} for #{task.number}")


def _is_ready(task: TaskFacts, pull: PullFacts) -> bool:
    return task.status is (Status.BLOCKED if pull.draft else Status.DONE)


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
