"""Story: questions: put to a person or answered automatically, said again, answered once, taken back."""

from datetime import timedelta

import pytest

from bot.conductor.recording import record_of
from bot.model.advice import Proposal, Verdict
from bot.model.report import Outcome, Question
from bot.notation.comments import read_fingerprint
from tests.conductor.story import CONFIG, Story

FREE = Question("What is the shop called?", tried="I looked in the README.")
CHOICE = Question("Round up or down?", ("up", "down"))
VENV = Question("Should I create a virtual environment?")
KEY = Question("Which Stripe key should I use for the payments?")


def asked(question=FREE, config=CONFIG, story=None):
    """A story in which a task has asked, and its number."""
    story = story or Story(config)
    task = story.ready()
    story.tick()
    story.finish(f"cf-{task}-1", Outcome.BLOCKED, question=question)
    story.tick()
    return story, task


def told(story, task, kind):
    """Our comments on a task whose fingerprint is of this kind."""
    comments = story.world.comments_of(task)
    return [one for one in comments if (read_fingerprint(one.body) or "").startswith(f"{kind}:")]


def question_of(story, task):
    (comment,) = told(story, task, "question")[-1:]
    return comment.body


def test_a_question_names_who_ordered_what_was_tried_the_options_and_how_to_answer():
    story, task = asked(CHOICE)
    text = question_of(story, task)
    assert story.status(task) == ("blocked",)
    for part in (
        "@maintainer",
        "> Round up or down?",
        "- **A** up",
        "- **B** down",
        "reply with a letter",
        "/cf answer",
    ):
        assert part in text
    assert "> I looked in the README." in question_of(*asked(FREE))


@pytest.mark.parametrize("by", ["stranger", "github-actions[bot]"])
def test_ans_01_only_a_trusted_person_answers(by):
    story, task = asked()
    story.world.comment(task, "Bob's", by=by)
    story.tick()
    assert story.status(task) == ("blocked",)
    assert len(story.record(task).attempts) == 1
    story.world.comment(task, "Bob's")
    story.tick()
    assert story.status(task) == ("ready",)


def test_ans_02_an_unclear_reply_does_not_resume():
    story, task = asked(CHOICE)
    for words in (
        "what does B cost?",
        "A bit more context would help",
        "@bob please decide",
        "is it really?",
    ):
        story.world.comment(task, words)
        story.tick()
        assert story.status(task) == ("blocked",), words
    assert len(told(story, task, "hint")) == 1
    story.world.comment(task, "B.")
    story.tick()
    assert story.record(task).answers[-1].answer == "down"


@pytest.mark.parametrize(
    ("words", "question", "taken"), [("use sqlite", FREE, "use sqlite"), ("b", CHOICE, "down")]
)
def test_ans_04_an_answer_given_during_the_run_is_kept_and_nobody_is_asked_again(words, question, taken):
    story = Story()
    task = story.ready()
    story.tick()
    story.begin(f"cf-{task}-1")
    story.world.comment(task, f"/cf answer {words}")
    story.tick()
    story.tick()
    story.finish(f"cf-{task}-1", Outcome.BLOCKED, question=question)
    story.tick()
    assert "**Question, answered** by maintainer." in question_of(story, task)
    story.tick()
    assert story.starts() == [f"cf-{task}-1", f"cf-{task}-2"]
    given = [(answer.question, answer.answer) for answer in story.record(task).answers]
    assert given == [(question.text, taken)]


def test_ans_04_seen_only_once_the_run_had_ended():
    story = Story()
    task = story.ready()
    story.tick()
    story.world.wait(timedelta(minutes=1))
    story.world.comment(task, "/cf answer use sqlite")
    story.finish(f"cf-{task}-1", Outcome.BLOCKED, question=FREE)
    story.tick()
    story.tick()
    assert story.starts() == [f"cf-{task}-1", f"cf-{task}-2"]


def test_ans_04_what_was_said_before_the_run_is_no_answer_to_its_question():
    story = Story()
    task = story.ready()
    story.world.comment(task, "/cf answer use sqlite")
    story.tick()
    story.world.wait(timedelta(minutes=1))
    story.finish(f"cf-{task}-1", Outcome.BLOCKED, question=FREE)
    story.tick()
    assert story.status(task) == ("blocked",)


def test_ans_06_an_answered_question_queues_its_task_once():
    story, task = asked()
    story.world.comment(task, "Bob's")
    for _ in range(3):
        story.tick()
    assert story.starts() == [f"cf-{task}-1", f"cf-{task}-2"]
    story.finish(f"cf-{task}-2", Outcome.BLOCKED, question=Question("And what colour?"))
    for _ in range(3):
        story.tick()
    assert len(story.starts()) == 2
    assert story.status(task) == ("blocked",)


def test_ans_07_one_question_one_comment():
    """One comment made, one update when its text changed, and nothing else, over fifty ticks."""
    story, task = asked()
    story.tick()  # moves the cursor past our own comment
    writes = story.world.faults.writes
    for _ in range(50):
        story.tick()
    assert story.world.faults.writes == writes
    assert "answered" not in question_of(story, task)
    story.world.comment(task, "Bob's")
    story.tick()
    assert len(told(story, task, "question")) == 1
    assert "**Question, answered** by maintainer." in question_of(story, task)
    assert "> Bob's" in question_of(story, task)


def test_an_edit_after_the_answer_was_taken_does_not_count():
    story, task = asked()
    comment = story.world.comment(task, "Bob's")
    story.tick()
    story.world.edit_comment(comment, "Alice's")
    story.tick()
    assert [answer.answer for answer in story.record(task).answers] == ["Bob's"]


def test_the_answer_is_resolved_once_an_attempt_has_passed():
    story, task = asked()
    story.world.comment(task, "Bob's")
    story.tick()
    story.tick()
    assert not story.record(task).answers[0].resolved
    story.finish(f"cf-{task}-2", Outcome.PASSED)
    story.tick()
    assert story.record(task).answers[0].resolved


# ---------------------------------------------------------------------- the same question on another task


def asked_twice(config=CONFIG):
    story, first = asked(config=config)
    return (*asked(Question("what is the SHOP called"), story=story), first)


def test_the_same_question_on_another_task_is_one_line_that_points_there():
    story, second, first = asked_twice()
    assert f"the same as on #{first}" in question_of(story, second)
    assert "@maintainer" not in question_of(story, second)


def test_its_answer_answers_all():
    story, second, first = asked_twice()
    story.world.comment(first, "Bob's")
    story.tick()
    story.tick()
    assert [story.record(task).answers[-1].answer for task in (first, second)] == ["Bob's", "Bob's"]
    story.tick()
    assert {f"cf-{first}-2", f"cf-{second}-2"} <= set(story.starts())
    assert "answered** by maintainer" in question_of(story, second)


def test_an_answer_by_command_on_the_other_task_counts_there_alone():
    story, second, first = asked_twice()
    story.world.comment(second, "Alice's")
    story.tick()
    assert story.status(second) == ("blocked",)
    assert len(told(story, second, "hint")) == 1
    story.world.comment(second, "/cf answer Alice's")
    story.tick()
    assert story.record(second).answers[-1].answer == "Alice's"
    assert story.status(first) == ("blocked",)


def test_where_the_first_task_is_gone_the_question_is_asked_in_full():
    """ANS-07: one comment made, one update."""
    story, second, first = asked_twice()
    story.world.close(first, reason="not_planned")
    for _ in range(3):
        story.tick()
    assert len(told(story, second, "question")) == 1
    assert "@maintainer" in question_of(story, second)
    story.world.comment(second, "Alice's")
    story.tick()
    assert story.record(second).answers[-1].answer == "Alice's"


def test_two_tasks_that_ask_at_once_make_one_question():
    story = Story()
    tasks = [story.ready(), story.ready()]
    story.tick()
    for task in tasks:
        story.finish(f"cf-{task}-1", Outcome.BLOCKED, question=FREE)
    story.tick()
    assert "@maintainer" in question_of(story, tasks[0])
    assert f"the same as on #{tasks[0]}" in question_of(story, tasks[1])


# ---------------------------------------------------------------------- said again


def test_an_open_question_is_said_again_once_and_to_others_once():
    story, task = asked(config=CONFIG + "blockers: {escalate_to: [ada, acme/leads]}\n")
    for hours in (23, 2, 24, 24, 24, 24):
        story.world.wait(timedelta(hours=hours))
        story.tick()
    (reminder,) = told(story, task, "remind")
    (escalation,) = told(story, task, "escalate")
    assert reminder.body.startswith("@maintainer: a reminder")
    assert escalation.body.startswith("@ada @acme/leads: this question is still open")


def test_after_a_long_silence_one_comment_is_enough():
    story, task = asked()
    story.world.wait(timedelta(days=9))
    story.tick()
    story.tick()
    assert (len(told(story, task, "remind")), len(told(story, task, "escalate"))) == (0, 1)


def test_when_it_is_due_is_known():
    story, task = asked()
    story.tick()
    assert story.last is not None
    (due,) = [item.due for item in story.last.plan.decisions if item.task == task]
    blocker = story.record(task).blocker
    assert blocker is not None
    assert due == blocker.asked_at + timedelta(hours=24)


@pytest.mark.parametrize("line", ["{remind: 0, escalate: off}", "{remind: off, escalate: 0}"])
def test_reminders_can_be_switched_off(line):
    story, task = asked(config=f"{CONFIG}blockers: {line}\n")
    story.world.wait(timedelta(days=9))
    story.tick()
    assert not told(story, task, "remind")
    assert not told(story, task, "escalate")


# ---------------------------------------------------------------------- the supervisor


def test_a_virtual_environment_question_gets_the_right_answer_once():
    story, task = asked(VENV)
    text = question_of(story, task)
    assert "answered automatically** by `virtual-environment`" in text
    assert "python3 -m venv .venv" in text
    assert "reply with the right answer" in text
    story.tick()
    assert story.starts() == [f"cf-{task}-1", f"cf-{task}-2"]
    assert ".venv" in story.record(task).answers[-1].answer

    story.finish(f"cf-{task}-2", Outcome.BLOCKED, question=VENV)
    story.tick()
    assert story.status(task) == ("blocked",)
    assert "@maintainer" in question_of(story, task)


@pytest.mark.parametrize(
    "question",
    [
        KEY,
        Question("Does the pipeline need a second stage?"),
        Question("May I delete the old data?"),
        Question("Should I use a virtual environment in production?"),
    ],
)
def test_what_is_no_tactical_question_never_gets_an_automatic_answer(question):
    story, task = asked(question)
    for _ in range(3):
        story.tick()
    assert story.status(task) == ("blocked",)
    assert not story.record(task).answers
    assert len(story.starts()) == 1


def test_two_automatic_answers_for_a_task_and_the_third_question_is_a_persons():
    story, task = asked(VENV)
    for attempt, question in ((2, "Should I skip the failing test?"), (3, "npm or yarn?")):
        story.tick()
        story.finish(f"cf-{task}-{attempt}", Outcome.BLOCKED, question=Question(question))
        story.tick()
    assert story.status(task) == ("blocked",)
    assert len([answer for answer in story.record(task).answers if answer.rule]) == 2


def test_supervisor_off_asks_a_person():
    story, task = asked(VENV, CONFIG + "supervisor: off\n")
    assert story.status(task) == ("blocked",)


def test_a_rule_of_the_repository_answers():
    rule = "supervisor_rules: [{name: shop, match: [shop called], answer: Bob's}]\n"
    story, task = asked(FREE, CONFIG + rule)
    assert story.record(task).answers[-1].answer == "Bob's"
    assert "`shop`: a rule of this repository" in question_of(story, task)


def test_a_veto_before_the_next_attempt_has_started():
    story, task = asked(VENV, CONFIG + "max_parallel: 1\n")
    story.world.comment(task, "No, use the container's Python.")
    story.tick()
    assert [(answer.answer, answer.by) for answer in story.record(task).answers] == [
        ("No, use the container's Python.", "maintainer")
    ]
    assert "took back the automatic answer" in question_of(story, task)
    story.tick()
    assert story.starts() == [f"cf-{task}-1", f"cf-{task}-2"]


def test_a_veto_while_the_next_attempt_runs_ends_it_without_a_strike():
    story, task = asked(VENV)
    story.tick()
    run = story.begin(f"cf-{task}-2")
    story.world.comment(task, "/cf answer no, the container's Python")
    story.tick()
    assert story.engine.cancelled == [(run, False)]
    story.tick()
    story.tick()
    assert story.starts()[-1] == f"cf-{task}-3"
    record = story.record(task)
    assert [answer.answer for answer in record.answers] == ["no, the container's Python"]
    assert (record.strikes, record.interruptions) == (0, 0)


@pytest.mark.parametrize(
    ("words", "by"),
    [
        ("thanks, looks good", "maintainer"),
        ("is that so?", "maintainer"),
        ("@bob look", "maintainer"),
        ("no", "stranger"),
    ],
)
def test_what_is_no_veto(words, by):
    story, task = asked(VENV)
    story.world.comment(task, words, by=by)
    story.tick()
    story.tick()
    assert story.record(task).answers[-1].rule == "virtual-environment"
    assert len(story.starts()) == 2


def test_after_that_attempt_has_ended_a_reply_answers_the_question_that_is_open_then():
    story, task = asked(VENV)
    story.tick()
    story.finish(f"cf-{task}-2", Outcome.BLOCKED, question=FREE)
    story.tick()
    story.world.comment(task, "Bob's")
    story.tick()
    assert [answer.answer for answer in story.record(task).answers][-1] == "Bob's"
    assert story.record(task).answers[0].rule == "virtual-environment"


def test_a_question_whose_answer_was_taken_back_is_a_persons_on_every_task():
    story, task = asked(VENV)
    story.world.comment(task, "No.")
    story.tick()
    _, other = asked(VENV, story=story)
    assert story.status(other) == ("blocked",)


# ---------------------------------------------------------------------- a model


class Scripted:
    """An advisor that says what it was told to, and counts."""

    def __init__(self, verdict):
        self.verdict = verdict
        self.asked: list[Question] = []

    def classify(self, question):
        self.asked.append(question)
        return self.verdict

    def infer(self, tasks):
        return Proposal()


def advised(verdict, question=FREE, config="supervisor: llm\n"):
    story = Story(CONFIG + config)
    advisor = Scripted(verdict)
    story.advise = lambda _config: advisor
    return (*asked(question, story=story), advisor)


def test_the_model_answers_what_no_rule_knows_and_is_asked_once_for_the_same_question():
    story, task, advisor = advised(Verdict("Bob's", "the README says so"))
    assert story.record(task).answers[-1].answer == "Bob's"
    assert "answered automatically** by `the model`: the README says so" in question_of(story, task)
    _, other = asked(Question("what is the shop called"), story=story)
    assert story.record(other).answers[-1].answer == "Bob's"
    assert advisor.asked == [FREE]


@pytest.mark.parametrize("question", [KEY, VENV])
def test_the_model_is_not_asked_what_the_deny_list_or_a_rule_settles(question):
    _, _, advisor = advised(Verdict("yes"), question)
    assert not advisor.asked


def test_nor_is_it_with_supervisor_rules():
    story, task, advisor = advised(Verdict("yes"), config="supervisor: rules\n")
    assert not advisor.asked
    assert story.status(task) == ("blocked",)


def test_without_an_answer_of_the_model_a_person_is_asked():
    story, task, _ = advised(Verdict(reason="the server is down"))
    assert story.status(task) == ("blocked",)
    assert "@maintainer" in question_of(story, task)


@pytest.mark.parametrize(
    ("question", "reply"),
    [(VENV, "No, the container's."), (VENV, "thanks"), (KEY, "None at all"), (FREE, "/cf answer Bob")],
)
def test_the_record_of_a_tick_decides_the_same_without_the_words(question, reply):
    story, task = asked(question)
    ticks = [story.last, story.tick()]
    story.world.comment(task, reply)
    ticks += [story.tick(), story.tick()]
    assert [record_of(tick).unfaithful for tick in ticks] == [()] * 4


def test_where_writers_may_not_answer_nothing_that_they_can_edit_is_an_answer():
    story, task = asked(config=f"{CONFIG}trust: {{permission: admin}}\n")
    story.world.add_user("writer", "write")
    comment = story.world.comment(task, "a shop?")
    story.world.wait(timedelta(seconds=1))
    story.world.edit_comment(comment, "Evil & Sons", by="writer")
    story.tick()
    assert story.status(task) == ("blocked",)
    story.world.comment(task, "Good & Sons")
    story.tick()
    assert [answer.answer for answer in story.record(task).answers] == ["Good & Sons"]
