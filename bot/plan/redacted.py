"""A snapshot without anybody's words that plans the same: what the record of a tick holds.

What rules read of a text is kept in its place: titles and bodies as their digest, a comment as the commands, the kind of answer
and the declaration that it holds. Every other foreign text becomes a name made from its digest, so that equal texts stay equal.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import msgspec
from msgspec.structs import replace

from bot.model.advice import Judged
from bot.model.batch import Batch, Search
from bot.model.cause import Met
from bot.model.command import NAMES, Command
from bot.model.config import Config, Hooks
from bot.model.decision import Decision, Plan
from bot.model.engine import WORD
from bot.model.issue import Comment, Issue
from bot.model.record import Answer, Attempt, Record
from bot.model.report import Measured, Outcome, Question, Report
from bot.model.run import Run
from bot.model.snapshot import Snapshot
from bot.model.task import Task
from bot.notation.answers import NotAnAnswer, Reply, only_agrees, read_answer
from bot.notation.batches import control_comment, read_control
from bot.notation.commands import read_commands
from bot.notation.comments import read_fingerprint, with_fingerprint
from bot.notation.digests import digest_of, named
from bot.notation.keys import keys_in
from bot.notation.needs import looks_like_declaration
from bot.notation.quoting import quote_line
from bot.plan.attempts.ending import cancelled_by
from bot.plan.facts.causes import of_report
from bot.plan.questions.supervisor import Automatic, fingerprint_of, judge

_LEG = re.compile(r"#[0-9]{1,10}")
_BRANCH = re.compile(r"cf/[0-9]{1,10}(-[0-9]{1,10})?")
_ROLE = re.compile(r"[a-z]{1,20}")
_REPORT = re.compile(r"cf-report-cf-[0-9]{1,10}-[0-9]{1,10}")
_DIGEST = re.compile(r"[0-9a-f]{16}")
_WARNING = "warning:"
_WARNING_MOST = 200 - len(_WARNING)  # how much of a warning its notice's fingerprint holds


def redacted(snapshot: Snapshot) -> Snapshot:
    """The same snapshot without foreign text, secrets or command lines."""
    config = snapshot.config
    return replace(
        snapshot,
        config=_without_commands(config),
        tasks={number: _task(task, snapshot) for number, task in snapshot.tasks.items()},
        runs=tuple(_run(run) for run in snapshot.runs),
        comments={
            number: tuple(_comment(comment, snapshot) for comment in comments)
            for number, comments in snapshot.comments.items()
        },
        jobs={
            run: tuple(replace(job, name=_job(job.name)) for job in jobs)
            for run, jobs in snapshot.jobs.items()
        },
        artifacts=tuple(replace(one, name=_artifact(one.name)) for one in snapshot.artifacts),
        annotations={
            job: tuple(text if cancelled_by(text) else named(text) for text in texts)
            for job, texts in snapshot.annotations.items()
        },
        reports={number: _report(report) for number, report in snapshot.reports.items()},
        starts_blocked_by=quote_line(snapshot.starts_blocked_by),
        batches=tuple(_batch(batch, snapshot) for batch in snapshot.batches),
        others={number: _issue(issue, snapshot) for number, issue in snapshot.others.items()},
        verdicts={
            _question(question): replace(verdict, answer=named(verdict.answer), reason=named(verdict.reason))
            for question, verdict in snapshot.verdicts.items()
        },
        proposals={
            tasks: replace(proposal, problem=named(proposal.problem))
            for tasks, proposal in snapshot.proposals.items()
        },
        remembered={
            fingerprint: replace(verdict, answer=named(verdict.answer), reason=named(verdict.reason))
            for fingerprint, verdict in snapshot.remembered.items()
        },
        baselines={_digest(digest): tuple(map(named, red)) for digest, red in snapshot.baselines.items()},
        unwritten={
            number: replace(known, words=named(known.words)) for number, known in snapshot.unwritten.items()
        },
        judged={
            _question(report.question): _judged(report.question, snapshot)
            for report in snapshot.reports.values()
            if report is not None and report.question is not None
        },
    )


def _judged(question: Question, snapshot: Snapshot) -> Judged:
    """What the supervisor makes of it, since that is read from its words."""
    fingerprint, verdict = fingerprint_of(question, snapshot), judge(question, snapshot)
    if isinstance(verdict, Automatic):
        return Judged(fingerprint, verdict.rule, named(verdict.answer), named(verdict.reason))
    return Judged(fingerprint)


def comparable(plan: Plan) -> dict[int, Any]:
    """What a plan decides about each task, without any words: equal for a snapshot and for its reduction."""
    return {decision.task: _bones(decision) for decision in plan.decisions}


def _bones(decision: Decision) -> Any:
    start = decision.start
    bare = replace(
        decision,
        reason="",
        record=_without_words(decision.record),
        start=replace(start, exceptions=tuple(map(named, start.exceptions))) if start else None,
        notices=tuple(
            replace(notice, text="", fingerprint=_fingerprint(notice.fingerprint))
            for notice in decision.notices
        ),
        revisions=tuple(
            replace(revision, notice=replace(revision.notice, text="")) for revision in decision.revisions
        ),
    )
    return msgspec.to_builtins(bare)


def _without_words(record: Record) -> Record:
    blocker = record.blocker
    return replace(
        _record(record),
        feedback="",
        attempts=tuple(
            replace(
                _attempt(attempt),
                reason="",
                cancelled_for="",
                cause=replace(attempt.cause, words="") if attempt.cause else None,
            )
            for attempt in record.attempts
        ),
        blocker=replace(blocker, question=Question("")) if blocker else None,
        parked=replace(record.parked, words="") if record.parked else None,
        answers=tuple(replace(answer, question="", answer="") for answer in record.answers),
    )


def _task(task: Task, snapshot: Snapshot) -> Task:
    return replace(
        task,
        issue=_issue(task.issue, snapshot),
        record=_record(task.record),
        comment=_comment(task.comment, snapshot) if task.comment else None,
        warnings=tuple(named(warning[:_WARNING_MOST]) for warning in task.warnings),
        category=named(task.category),
        record_problem=quote_line(task.record_problem),
        digest=digest_of(task),
    )


def _issue(issue: Issue, snapshot: Snapshot) -> Issue:
    return replace(
        issue,
        title="",
        milestone=named(issue.milestone.casefold()) if issue.milestone else "",
        body=_own_mark(issue, snapshot),
        labels=tuple(_label(label, snapshot.config) for label in issue.labels),
        events=tuple(
            replace(event, label=_label(event.label, snapshot.config)) if event.label else event
            for event in issue.events
        ),
        pulls=tuple(replace(pull, head_ref=_branch(pull.head_ref), url="") for pull in issue.pulls),
        comments=tuple(_comment(comment, snapshot) for comment in issue.comments),
    )


def _branch(name: str) -> str:
    """Branches are people's words, but for those of attempts."""
    return name if _BRANCH.fullmatch(name) else ""


def _own_mark(issue: Issue, snapshot: Snapshot) -> str:
    """Of an issue of our own what it is for."""
    fingerprint = read_fingerprint(issue.body) if issue.author.id in snapshot.accounts else None
    return with_fingerprint("", fingerprint) if fingerprint else ""


def _label(label: str, config: Config) -> str:
    """Labels of ours, and those that a limit names, are read; the others are people's words."""
    folded = label.casefold()
    limited = {name.casefold() for name in config.max_parallel_by_label}
    return label if folded.startswith(f"{config.prefix}:".casefold()) or folded in limited else named(label)


def _record(record: Record) -> Record:
    blocker = record.blocker
    return replace(
        record,
        attempts=tuple(_attempt(attempt) for attempt in record.attempts),
        blocker=replace(blocker, question=_question(blocker.question)) if blocker else None,
        answers=tuple(_answer(answer) for answer in record.answers),
        notices=tuple(_fingerprint(fingerprint) for fingerprint in record.notices),
        parked=replace(record.parked, words=named(record.parked.words)) if record.parked else None,
        unsaid=tuple(
            replace(one, text="", fingerprint=_fingerprint(one.fingerprint)) for one in record.unsaid
        ),
        held=replace(record.held, protected=tuple(map(named, record.held.protected)))
        if record.held
        else None,
        exceptions=tuple(map(named, record.exceptions)),
        feedback=named(record.feedback),
    )


def _attempt(attempt: Attempt) -> Attempt:
    baseline = attempt.baseline
    return replace(
        attempt,
        reason=named(attempt.reason),
        cancelled_for=named(attempt.cancelled_for),
        baseline=replace(baseline, digest=_digest(baseline.digest), red=tuple(map(named, baseline.red)))
        if baseline
        else None,
        cause=_met(attempt.cause),
    )


def _answer(answer: Answer) -> Answer:
    return replace(answer, question=named(answer.question), answer=named(answer.answer))


def _fingerprint(fingerprint: str) -> str:
    """Ours, but that of a warning, which quotes the line that it is about."""
    head, text = fingerprint[: len(_WARNING)], fingerprint[len(_WARNING) :]
    return head + named(text) if head == _WARNING else fingerprint


def _question(question: Question) -> Question:
    options = tuple(named(option) for option in question.options)
    return Question(named(" ".join(question.text.split())), options, named(question.tried))


def _report(report: Report | None) -> Report | None:
    if report is None:
        return None
    return replace(
        report,
        reason=named(report.reason),
        message=named(report.message),
        branch=named(report.branch),
        session=named(report.session),
        question=_question(report.question) if report.question else None,
        gates=tuple(replace(gate, name=named(gate.name), tail="") for gate in report.gates),
        hooks=tuple(replace(hook, name=named(hook.name), tail="") for hook in report.hooks),
        steps=tuple(replace(step, text="") for step in report.steps),
        protected=tuple(map(named, report.protected)),
        source=named(report.source),
        left_out=tuple(map(named, report.left_out)),
        version=named(report.version),
        # Read from its words, so it is read before they go.
        cause=_met(of_report(report)) if report.outcome is not Outcome.CAPACITY else None,
        statistics={named(name): value for name, value in report.statistics.items()},
        left_behind=tuple(map(named, report.left_behind)),
        baseline=_measured(report.baseline) if report.baseline else None,
    )


def _met(met: Met | None) -> Met | None:
    """What tells one cause from another is a label, a digest or an engine's name: one word, or it is somebody's words."""
    if met is None:
        return None
    return replace(met, key=met.key if WORD.fullmatch(met.key) else named(met.key), words=named(met.words))


def _measured(found: Measured) -> Measured:
    """Which gates are red is read, and that is known by their tails."""
    gates = tuple(
        replace(gate, name=named(gate.name), tail="red" if gate.tail else "") for gate in found.gates
    )
    return replace(found, digest=_digest(found.digest), gates=gates)


def _digest(text: str) -> str:
    return text if _DIGEST.fullmatch(text) else named(text)


def _run(run: Run) -> Run:
    """Anybody who may dispatch a workflow chooses the title; what is read of it is the keys."""
    return replace(run, title=" ".join(str(key) for key in keys_in(run.title)), url="")


def _artifact(name: str) -> str:
    """Any workflow of the repository may name one as it likes; what is read of it is whose report it is."""
    return name if _REPORT.fullmatch(name) else named(name)


def _job(name: str) -> str:
    """The tasks and the role that are read of it: `#1 / verify`."""
    leg, slash, role = name.partition(" / ")
    tasks = [word for word in leg.split() if _LEG.fullmatch(word)]
    first = role.split(" ")[0]
    return " ".join(tasks) + slash + (first if _ROLE.fullmatch(first) else named(first))


def _batch(batch: Batch, snapshot: Snapshot) -> Batch:
    """Its options and numbers, and the words on it that decide; what the gates said and why things happened is left out."""
    record, order = batch.record, batch.order
    gate = _search(record.gate) if record.gate else None
    happenings = tuple(replace(one, reason=named(one.reason)) for one in record.happenings)
    return replace(
        batch,
        issue=_issue(batch.issue, snapshot),
        order=replace(order, left_out=()) if order else None,
        record=replace(record, gate=gate, happenings=happenings, inference=()),
        problem=quote_line(batch.problem),
        comments=tuple(_on_batch(comment, snapshot) for comment in batch.comments),
    )


def _search(search: Search) -> Search:
    trials = tuple(replace(trial, attempt=_attempt(trial.attempt)) for trial in search.trials)
    return replace(search, trials=trials, log="", reason=named(search.reason))


def _on_batch(comment: Comment, snapshot: Snapshot) -> Comment:
    """An order about the batch that we keep for somebody stays one."""
    control = read_control(comment, snapshot.accounts)
    if control is None:
        return _comment(comment, snapshot)
    return replace(comment, body=control_comment(control, ""))


def _without_commands(config: Config) -> Config:
    """Limits, times and names stay; command lines and environments, which may hold anything, do not."""
    engines = {
        name: replace(
            engine,
            args=named(engine.args),
            env={},
            install=tuple(map(named, engine.install)) if engine.install is not None else None,
        )
        for name, engine in config.engines.items()
    }
    gates = tuple(replace(gate, run=named(gate.run)) for gate in config.gates)
    return replace(
        config,
        engines=engines,
        gates=gates,
        setup=tuple(map(named, config.setup)),
        hooks=_hooks(config.hooks),
    )


def _hooks(hooks: Hooks) -> Hooks:
    return replace(
        hooks,
        before_task=named(hooks.before_task or "") or None,
        after_task_success=named(hooks.after_task_success or "") or None,
        after_task_failure=named(hooks.after_task_failure or "") or None,
    )


def _comment(comment: Comment, snapshot: Snapshot) -> Comment:
    if comment.author.id in snapshot.accounts:
        fingerprint = read_fingerprint(comment.body)
        return replace(comment, body=with_fingerprint("", fingerprint) if fingerprint else "")
    task = snapshot.tasks.get(comment.issue)
    blocker = task.record.blocker if task is not None else None
    options = blocker.question.options if blocker else ()
    return replace(comment, body=_said(comment.body, options, snapshot.config))


def _said(body: str, options: Sequence[str], config: Config) -> str:
    """A text that reads the same to every rule."""
    commands = read_commands(body, config.prefix)
    verdict = read_answer(body, options, config.prefix)
    orders = [_command(command, config) for command in commands if command.name != "answer"]
    declared = looks_like_declaration(body, config.dependencies.keywords)
    declaration = [f"{config.dependencies.keywords[0]} #1"] if declared else []
    if any(command.name == "answer" for command in commands):
        text = named(verdict.text) if isinstance(verdict, Reply) else ""
        return "\n\n".join([*declaration, *orders, f"/{config.prefix} answer {text}".rstrip()])
    return "\n\n".join([*_words(verdict, body, declaration, options), *orders])


def _words(
    verdict: Reply | NotAnAnswer, body: str, declaration: Iterable[str], options: Sequence[str]
) -> list[str]:
    """Where the question mark and the address stand decides, so the declaration goes to the other end."""
    match verdict:
        case NotAnAnswer.QUESTION:
            return [*declaration, "which?"]
        case NotAnAnswer.ADDRESSED:
            return ["@somebody", *declaration]
        case NotAnAnswer.EMPTY:
            return [*declaration]
        case NotAnAnswer.UNCLEAR:
            return [named(body), *declaration]
    if not options and only_agrees(verdict.text):
        return ["ok", *declaration]
    return [named(verdict.text), *declaration]


def _command(command: Command, config: Config) -> str:
    """The command as it was read; one that cannot be carried out stays one. Labels in it are named as those of the tasks are."""
    if command.name not in NAMES:
        return f"/{config.prefix} unknown"
    words = [f"/{config.prefix} {command.name}", *(_argument(word, config) for word in command.arguments)]
    words += [f"--{name}" + (f"={quote_line(value, 60)}" if value else "") for name, value in command.options]
    return " ".join([*words, *(["--unreadable"] if command.problem else [])])


def _argument(word: str, config: Config) -> str:
    kind, colon, label = word.partition(":")
    if not colon or kind.casefold() not in ("label", "milestone"):
        return quote_line(word, 60)
    if kind.casefold() == "label":
        return f"label:{_label(label, config)}"
    return f"milestone:{named(label.strip(',').casefold())}"


def differences(recorded: Mapping[int, Any], now: Mapping[int, Any]) -> dict[int, tuple[Any, Any]]:
    """The tasks about which two plans decide otherwise, each with both decisions."""
    numbers = sorted({*recorded, *now})
    return {
        number: (recorded.get(number), now.get(number))
        for number in numbers
        if recorded.get(number) != now.get(number)
    }
