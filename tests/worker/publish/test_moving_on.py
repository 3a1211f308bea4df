"""The world moves on while work is done: conflicts, people's commits, workflow files, the same content from elsewhere.

All by real git. Nobody's work is lost, nothing is pushed that was refused, nothing empty is published.
"""

import subprocess

import pytest
from msgspec.structs import replace

from bot.model.report import Hold, Outcome
from bot.model.unit import Kind
from bot.worker.change.git import Git
from tests.worker.bench import GATE, config_text, git

OK = "gates: [{name: tests, run: 'true'}]"
FILES = {"shop.txt": "one\ntwo\nthree\n", "old.txt": "old\nlines\nof\ntext\n", "logo.bin": "\0base\n"}


def agent(line: str, more: str = OK) -> str:
    """A configuration whose agent is this line of shell."""
    return config_text(more=more).replace("args: '", f"args: '{line}; ", 1)


def passed(bench, line: str, *, files=FILES, merge: str = "manual", ready=lambda setup: None):
    """A bench, and its first attempt, published."""
    setup = bench(config=agent(line) + f"merge: {merge}\n", files=files)
    ready(setup)
    first = setup.through()
    assert first.outcome is Outcome.PASSED, first.reason
    return setup, first


def again(
    setup,
    report,
    *modes: str,
    kind: Kind = Kind.CODE,
    earlier: str = "",
    more: str = OK,
    merge: str = "manual",
):
    """The next attempt is claimed, with another agent."""
    here = setup.end(report)
    number = setup.record.attempts[-1].number + 1
    text = config_text(*modes, more=more) + f"merge: {merge}\n# {number}\n"
    setup.commit("main", {".github/cf.yml": text})
    kept = earlier or (here if report.head and report.outcome is not Outcome.PASSED else "")
    setup.claim(number, kind, earlier=kept)


def parents(setup, commit: str) -> list[str]:
    return git(setup.origin, "rev-list", "--parents", "-1", commit).split()[1:]


def has(setup, commit: str, older: str) -> bool:
    return git(setup.origin, "merge-base", older, commit) == older


def person(setup, branch: str, shell: str) -> str:
    """A person changes a branch by some commands, and pushes."""
    git(setup.desk, "fetch", "-q", "origin")
    git(setup.desk, "checkout", "-q", "-f", "-B", branch, f"origin/{branch}")
    subprocess.run(["bash", "-ec", shell], cwd=setup.desk, check=True)
    git(setup.desk, "add", "-A")
    git(setup.desk, "commit", "-qm", "by hand")
    git(setup.desk, "push", "-q", "origin", f"HEAD:refs/heads/{branch}")
    return git(setup.desk, "rev-parse", "HEAD")


def by_a_script(setup, branch: str, shell: str) -> str:
    """A line of shell by which a person does so while an agent works."""
    script = setup.folder / f"person-{branch.replace('/', '-')}.sh"
    identity = "-c user.name=Pat -c user.email=pat@example.com"
    script.write_text(
        f"set -e; cd {setup.desk}; git fetch -q origin; git checkout -q -f -B {branch} origin/{branch}\n{shell}\n"
        f"git add -A; git {identity} commit -qm 'by hand'; CF_WORKFLOWS=write git push -q origin HEAD:refs/heads/{branch}\n"
    )
    return f"bash {script}"


def run_of(setup, key: str) -> int:
    runs = setup.world.runs("cf-worker.yml")
    return next(int(run.id) for run in runs if key in run.inputs["keys"].split())


# ---------------------------------------------------------------------- conflicts

CONFLICTS = {
    "the same line": ("sed -i s/two/ours/ shop.txt", "sed -i s/two/theirs/ shop.txt"),
    "the same new file": ("echo ours > new.txt", "echo theirs > new.txt"),
    "changed here, deleted there": ("sed -i s/lines/ours/ old.txt", "rm old.txt"),
    "deleted here, changed there": ("rm old.txt", "sed -i s/lines/theirs/ old.txt"),
    "a binary file": (r"printf \"\\0ours\\n\" > logo.bin", r"printf '\0theirs\n' > logo.bin"),
    "renamed twice": ("mv old.txt a.txt", "mv old.txt b.txt"),
    "a folder where a file stands": ("mkdir x; echo ours > x/y", "echo theirs > x"),
    "two files at once": (
        "sed -i s/one/1/ shop.txt; rm old.txt",
        "sed -i s/one/I/ shop.txt; echo more >> old.txt",
    ),
}


def in_conflict(bench, name: str, *modes: str, merge: str = "auto"):
    """Attempt 1 passed; before it was merged, main got what contradicts it. Attempt 2 is claimed."""
    ours, theirs = CONFLICTS[name]
    setup = bench(config=agent(ours) + f"merge: {merge}\n", files=FILES)
    setup.work()
    setup.verify()
    person(setup, "main", theirs)
    first = setup.publish()
    assert (first.outcome, first.conflict) == (Outcome.PASSED, merge == "auto")
    again(setup, first, *modes, merge=merge)
    return setup, first


@pytest.mark.parametrize("name", CONFLICTS)
def test_a_conflict_is_settled_by_the_next_attempt_and_merged(bench, name):
    """It starts from git's own merge, with markers; the commit is one, with both parents."""
    setup, first = in_conflict(bench, name, "settle", "more")
    base = setup.git.head("main")

    second = setup.through()

    assert (second.outcome, second.merged, second.pull) == (Outcome.PASSED, True, first.pull), second.reason
    assert parents(setup, second.head) == [first.head, base]
    assert setup.text("main", "more.txt") == "2"
    assert "CONFLICTS.cf.md" not in git(setup.origin, "ls-tree", "--name-only", "main")


@pytest.mark.parametrize("name", CONFLICTS)
@pytest.mark.parametrize("mode", ["more", "half", "drop", "overlook"])
def test_what_is_left_of_a_conflict_is_a_red_gate(bench, name, mode):
    """Untouched, only looking settled, or settled by throwing one side away: never published, and kept for the next attempt."""
    if mode == "half" and name not in ("the same line", "the same new file", "two files at once"):
        mode = "overlook"
    if mode == "overlook" and name in ("the same line", "the same new file"):
        mode = "half"
    setup, first = in_conflict(bench, name, mode, *([] if mode == "drop" else ["more"]))
    base = setup.git.head("main")

    second = setup.through()

    assert second.outcome is Outcome.FAILED, second.reason
    assert second.gates[-1].name == "merge conflicts"
    assert "conflict" in second.reason
    assert (setup.git.head("cf/1"), setup.git.head("main")) == (first.head, base)
    if mode == "drop":
        return
    again(setup, second, "settle", "more", merge="auto")
    third = setup.through()
    assert (third.outcome, third.merged) == (Outcome.PASSED, True), third.reason


def test_the_agent_is_told_what_is_in_conflict_and_can_look_at_both_sides(bench):
    sides = "git show cf/pull-request:shop.txt > ours.txt; git show cf/default-branch:shop.txt > theirs.txt"
    look = f"cp $CF_PROMPT_FILE prompt.txt; {sides}"
    setup, _ = in_conflict(bench, "the same line", merge="manual")
    setup.commit(
        "main", {".github/cf.yml": config_text("settle", more=OK).replace("args: '", f"args: '{look}; ")}
    )
    setup.unit = replace(setup.unit, config_blob=git(setup.origin, "rev-parse", "main:.github/cf.yml"))

    second = setup.through()

    prompt = setup.text(second.head, "prompt.txt")
    assert "a merge that git could not finish" in prompt
    assert "\n- shop.txt" in prompt
    assert "two" not in setup.text(second.head, "ours.txt") + setup.text(second.head, "theirs.txt")
    assert {"ours", "theirs"} <= {*setup.text(second.head, "shop.txt").split()}


def test_the_gates_machine_and_the_publishing_one_see_a_left_over_conflict_too(bench, monkeypatch):
    """Whatever the agent's machine let through."""
    setup, first = in_conflict(bench, "the same line", "more")
    monkeypatch.setattr("bot.worker.change.hand_over.unsettled", lambda *_: "")
    setup.work()

    result = setup.verify()
    report = setup.publish("success", "success")

    assert [gate.name for gate in result.gates] == ["merge conflicts"]
    assert report.outcome is Outcome.FAILED
    assert setup.git.head("cf/1") == first.head


def test_markers_that_a_file_shows_on_purpose_are_no_conflict(bench):
    text = "How git shows it:\n<<<<<<< ours\n=======\n>>>>>>> theirs\n"
    line = "sed -i s/two/ours/ shop.txt; echo more >> git.md"
    setup, first = passed(bench, line, files={**FILES, "git.md": text})
    person(setup, "main", "sed -i s/two/theirs/ shop.txt; sed -i s/How/Where/ git.md")
    setup.end(first)
    line = 'sed -i "/^[<=>]/d" shop.txt'
    setup.commit("main", {".github/cf.yml": agent(line)})
    setup.claim(2)

    second = setup.through()

    assert second.outcome is Outcome.PASSED, second.reason
    assert "<<<<<<< ours" in setup.text(second.head, "git.md")


@pytest.mark.parametrize("name", ["the same line", "changed here, deleted there", "a binary file"])
@pytest.mark.parametrize("end", ["asked", "failed"])
def test_kept_work_that_no_longer_fits_is_handed_over_with_markers(bench, name, end):
    """Unpublished work is never dropped whole."""
    ours, theirs = CONFLICTS[name]
    last = 'echo Which? > "$CF_QUESTION_FILE"' if end == "asked" else "exit 3"
    setup = bench(config=agent(f"{ours}; echo kept > kept.txt; {last}"), files=FILES)
    first = setup.through()
    assert first.outcome is (Outcome.BLOCKED if end == "asked" else Outcome.FAILED)
    person(setup, "main", theirs)
    again(setup, first, "settle")

    second = setup.through()

    assert second.outcome is Outcome.PASSED, second.reason
    assert second.source == "the kept work of an earlier attempt"
    assert parents(setup, second.head) == [setup.git.head("main")]
    assert setup.text(second.head, "kept.txt") == "kept"


# ---------------------------------------------------------------------- people's commits


def commits(setup, pull: int) -> str:
    return person(setup, "cf/1", "echo mine > person.txt")


def presses_update_branch(setup, pull: int) -> str:
    setup.hear()
    setup.commit("main", {"elsewhere.txt": "x\n"})
    head: str = setup.world.update_branch(pull)
    return head


def presses_it_and_commits(setup, pull: int) -> str:
    presses_update_branch(setup, pull)
    return commits(setup, pull)


def commits_twice_and_amends_ours(setup, pull: int) -> str:
    person(setup, "cf/1", "echo first > other.txt")
    return person(setup, "cf/1", "echo mine > person.txt; echo amended >> shop.txt")


PEOPLE = [commits, presses_update_branch, presses_it_and_commits, commits_twice_and_amends_ours]


@pytest.mark.parametrize("people", PEOPLE)
def test_what_people_add_to_the_branch_is_continued_in_the_same_pull_request(bench, people):
    setup, first = passed(bench, "sed -i s/two/ours/ shop.txt")
    theirs = people(setup, first.pull)
    again(setup, first, "more")

    second = setup.through()

    assert (second.outcome, second.pull, second.branch) == (Outcome.PASSED, first.pull, "cf/1"), second.reason
    assert has(setup, second.head, theirs)
    assert setup.world.pull(first.pull).issue.is_open
    assert len(setup.world.pulls.by_number) == 1
    assert "ours" in setup.text(second.head, "shop.txt")


@pytest.mark.parametrize("people", PEOPLE)
def test_and_with_merge_auto_what_people_wrote_is_theirs_to_merge(bench, people):
    """An update that adds nothing is nobody's writing."""

    def ready(setup):  # so that the first attempt is not merged
        setup.world.pulls.missing_check = "ci"

    setup, first = passed(bench, "sed -i s/two/ours/ shop.txt", merge="auto", ready=ready)
    setup.world.pulls.missing_check = ""
    people(setup, first.pull)
    again(setup, first, "more", merge="auto")

    second = setup.through()

    assert second.outcome is Outcome.PASSED
    assert second.merged is (people is presses_update_branch)
    assert ("theirs to merge" in second.reason) is not second.merged


def test_only_a_rewritten_branch_is_left_to_whoever_rewrote_it_and_ours_goes_on_beside_it(bench):
    setup, first = passed(bench, "echo ours > ours.txt")
    git(setup.desk, "fetch", "-q", "origin")
    git(setup.desk, "checkout", "-q", "-B", "cf/1", "origin/main")
    git(setup.desk, "commit", "-q", "--allow-empty", "-m", "mine")
    git(setup.desk, "push", "-q", "--force", "origin", "cf/1")
    again(setup, first, "more")

    second = setup.through()

    assert (second.outcome, second.branch) == (Outcome.PASSED, "cf/1-2")
    assert setup.git.head("cf/1") == git(setup.desk, "rev-parse", "cf/1")
    person(setup, "cf/1-2", "echo mine > person.txt")
    again(setup, second, "more")
    third = setup.through()
    assert (third.outcome, third.branch, third.pull) == (Outcome.PASSED, "cf/1-2", second.pull), third.reason
    assert setup.text(third.head, "person.txt") == "mine"


@pytest.mark.parametrize("when", ["during the attempt", "after verify"])
@pytest.mark.parametrize("fits", [True, False])
def test_agt_10_a_commit_that_arrives_meanwhile_stays_and_so_does_the_pull_request(bench, when, fits):
    """What does not fit is settled by the next attempt; what came too late for the gates is proven anew, without an agent."""
    setup, first = passed(bench, "echo ours > ours.txt")
    here = "sed -i s/two/agent/ shop.txt"
    theirs = "echo mine > person.txt" if fits else "sed -i s/two/mine/ shop.txt"
    setup.end(first)
    meanwhile = by_a_script(setup, "cf/1", theirs)
    line = f"{meanwhile}; {here}" if when == "during the attempt" else here
    setup.commit("main", {".github/cf.yml": agent(line)})
    setup.claim(2)
    second = setup.work().report
    if when == "after verify":
        setup.verify()
        moved = person(setup, "cf/1", theirs)
        second = setup.publish()
        assert (second.outcome, second.hold) == (Outcome.HELD, Hold.STALE), second.reason
        again(setup, second, kind=Kind.UPDATE)
        second = setup.work().report
    moved = setup.git.head("cf/1")
    assert git(setup.origin, "log", "-1", "--format=%s", moved) == "by hand"
    if fits:
        setup.verify()
        second = setup.publish()
    else:
        assert (second.outcome, second.conflict) == (Outcome.INFRA, True), second.reason
        second = setup.publish("failure", "skipped")
        assert (second.outcome, second.conflict) == (Outcome.INFRA, True), second.reason
        again(setup, second, "settle", earlier=f"{run_of(setup, 'cf-1-2')}/cf-1-2")
        second = setup.through()

    assert (second.outcome, second.branch, second.pull) == (Outcome.PASSED, "cf/1", first.pull), second.reason
    assert has(setup, second.head, moved)
    assert "agent" in setup.text(second.head, "shop.txt")


# ---------------------------------------------------------------------- workflow files of the default branch

WORKFLOW = ".github/workflows/ci.yml"
MOVES: dict[str, dict[str, str | None]] = {
    "one is added": {".github/workflows/other.yml": "on: push\n"},
    "one is changed": {WORKFLOW: "on: pull_request\n"},
    "one is removed": {WORKFLOW: None},
}


@pytest.fixture
def pushed(monkeypatch):
    """Every commit that was ever pushed by us."""
    commits: list[str] = []
    real = Git.push

    def push(self, remote, commit, branch):
        commits.append(commit)
        return real(self, remote, commit, branch)

    monkeypatch.setattr(Git, "push", push)
    return commits


@pytest.mark.parametrize("move", MOVES)
def test_work_on_an_old_base_is_brought_up_to_date_and_proven_again_without_an_agent(bench, move, pushed):
    setup = bench("edit", files={**FILES, WORKFLOW: "on: push\n"})
    setup.work()
    setup.verify()
    setup.commit("main", MOVES[move])
    first = setup.publish()
    assert (first.outcome, first.hold) == (Outcome.HELD, Hold.STALE)
    assert "the workflow files of main have changed since" in first.reason
    kept = setup.end(first)
    setup.commit("main", {".github/cf.yml": config_text("fail")})  # no agent runs, or all would fail
    setup.claim(2, Kind.UPDATE, earlier=kept)

    second = setup.through()

    assert second.outcome is Outcome.PASSED, second.reason
    assert (setup.files(second.head), parents(setup, second.head)) == (
        {"feature.py"},
        [setup.git.head("main")],
    )
    assert [gate.name for gate in second.gates] == ["tests"]
    assert len(pushed) == len(set(pushed)) == 2


def test_what_touches_workflow_files_itself_still_waits_for_a_person(bench, pushed):
    setup = bench("workflow", files=FILES)
    held = setup.through()
    kept = setup.end(held)
    setup.commit("main", {".github/workflows/other.yml": "on: push\n"})
    setup.claim(2, Kind.PUBLISH, earlier=kept, exceptions=held.protected)

    report = setup.publish("skipped", "skipped")

    assert (report.outcome, report.hold) == (Outcome.HELD, Hold.PROTECTED)


def test_what_a_person_let_through_stays_let_through_while_it_is_brought_up_to_date(bench, pushed):
    line = "echo x > AGENTS.md"
    setup = bench(config=agent(line), files=FILES)
    held = setup.through()
    assert held.protected == ("AGENTS.md",)
    kept = setup.end(held)
    setup.commit("main", MOVES["one is added"])
    setup.claim(2, Kind.PUBLISH, earlier=kept, exceptions=held.protected)
    stale = setup.publish("skipped", "skipped")
    assert (stale.hold, stale.protected) == (Hold.STALE, ("AGENTS.md",))
    setup.end(stale)
    setup.claim(3, Kind.UPDATE, earlier=kept, exceptions=stale.protected)

    report = setup.through()

    assert report.outcome is Outcome.PASSED, report.reason
    assert setup.text(report.head, "AGENTS.md") == "x"


def test_what_contradicts_the_new_base_is_left_to_an_agent_and_red_gates_are_red(bench):
    setup = bench("edit", files=FILES)
    setup.work()
    setup.verify()
    setup.commit("main", {".github/workflows/other.yml": "on: push\n", "feature.py": "theirs\n"})
    first = setup.publish()
    assert first.hold is Hold.STALE
    kept = setup.end(first)
    setup.claim(2, Kind.UPDATE, earlier=kept)
    second = setup.through()
    assert (second.outcome, second.conflict, second.head) == (Outcome.INFRA, True, "")
    assert "feature.py" in second.reason
    setup.end(second)
    setup.commit("main", {".github/cf.yml": config_text("settle")})
    setup.claim(3, earlier=kept)

    third = setup.through()

    assert third.outcome is Outcome.PASSED, third.reason


def test_an_update_whose_gates_are_red_fails_and_publishes_nothing(bench):
    setup = bench("edit", files=FILES)
    setup.work()
    setup.verify()
    setup.commit("main", MOVES["one is added"])
    kept = setup.end(setup.publish())
    setup.commit("main", {".github/cf.yml": config_text("edit", more=GATE.replace("feature.py", "missing"))})
    setup.claim(2, Kind.UPDATE, earlier=kept)

    report = setup.through()

    assert report.outcome is Outcome.FAILED
    assert report.head
    assert setup.git.head("cf/1") is None


# ---------------------------------------------------------------------- nothing of its own

SAME = {"feature.py": "attempt = 1\n"}


@pytest.mark.parametrize("when", ["during the attempt", "before verify", "after verify"])
@pytest.mark.parametrize("merge", ["manual", "auto"])
def test_what_is_already_there_is_not_published_as_passed(bench, tmp_path, when, merge):
    line = f"bash {tmp_path}/person-main.sh" if when == "during the attempt" else "true"
    text = config_text("edit").replace("args: '", f"args: '{line}; ") + f"merge: {merge}\n"
    setup = bench(config=text, files=FILES)
    by_a_script(setup, "main", "echo 'attempt = 1' > feature.py")
    setup.work()
    verified = "skipped"
    if when == "before verify":
        setup.commit("main", SAME)
        assert not setup.verify().passed
        verified = "failure"
    elif when == "after verify":
        assert setup.verify().passed
        setup.commit("main", SAME)
        verified = "success"

    report = setup.publish("success", verified)

    assert report.outcome is Outcome.NO_CHANGES, report.reason
    assert report.reason.startswith("already there")
    assert (report.pull, report.merged, setup.git.head("cf/1")) == (0, False, None)
    assert setup.world.issue(setup.task).is_open


def test_an_empty_update_and_an_empty_merge_are_not_published_either(bench):
    """The whole pull request came to the default branch another way; what an agent then adds is there as well."""
    setup, first = passed(bench, "echo ours > ours.txt")
    setup.end(first)
    setup.commit("main", {"ours.txt": "ours\n", "more.txt": "2\n"})
    setup.commit("main", {".github/cf.yml": config_text("more", more=OK)})
    setup.claim(2)

    second = setup.through()

    assert second.outcome is Outcome.NO_CHANGES, second.reason
    assert setup.git.head("cf/1") == first.head


def test_kept_work_that_is_there_by_now_needs_no_update(bench):
    setup = bench("edit", files=FILES)
    setup.work()
    setup.verify()
    setup.commit("main", MOVES["one is added"])
    first = setup.publish()
    kept = setup.end(first)
    setup.commit("main", SAME)
    setup.claim(2, Kind.UPDATE, earlier=kept)

    report = setup.through()

    assert report.outcome is Outcome.NO_CHANGES, report.reason


def test_what_is_there_in_part_is_published_with_the_rest(bench):
    setup = bench("edit", "more", files=FILES)
    setup.work()
    setup.commit("main", SAME)
    assert setup.verify().passed

    report = setup.publish()

    assert report.outcome is Outcome.PASSED, report.reason
