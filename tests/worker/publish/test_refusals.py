"""A refused push: the repository's cause, or this one change's own."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.model.cause import Cause, Met
from bot.model.errors import NotPermitted, Refused
from bot.model.report import Hold, Outcome
from bot.model.unit import Kind
from bot.sandbox.world import ApiError, Fault
from bot.sandbox.world.push_rules import (
    BRANCH_NAME,
    CREATION,
    EXTENSION,
    HOOK,
    MESSAGE,
    PATH,
    PULL_REQUEST,
    SIGNATURES,
    SIZE,
    PushRule,
    PushRules,
)
from bot.worker.change.git import PushRefused
from bot.worker.publish.refusals import of_pull, of_push

OF_ALL = (
    PushRule(SIGNATURES),
    PushRule(BRANCH_NAME, "^feature/"),
    PushRule(MESSAGE, "^JIRA-[0-9]+"),
    PushRule(PULL_REQUEST),
    PushRule(CREATION),
)
OF_THE_CHANGE = (PushRule(PATH, "feature*"), PushRule(EXTENSION, ".py"), PushRule(SIZE, "0"))


def ruled(setup, *rules):
    """The remote refuses what these rules do; the hook that says so."""
    hook = setup.origin / "hooks" / "update"
    given_rules = PushRules(list(rules)).environment()["CF_RULES"]
    head, _, rest = HOOK.partition("\n")
    hook.write_text(
        f"{head}\nCF_RULES='{given_rules}'\nCF_RULES_PAGE=https://github.com/acme/shop/rules\n{rest}"
    )
    hook.chmod(0o755)
    return hook


@pytest.mark.parametrize("rule", OF_ALL, ids=lambda rule: rule.type)
def test_a_rule_that_any_change_would_break_is_the_repositorys_and_the_kept_work_is_published_later(
    bench, rule
):
    setup = bench("edit")
    hook = ruled(setup, rule)

    report = setup.through()

    assert (report.outcome, report.hold) == (Outcome.HELD, Hold.SETTING)
    assert report.cause is not None
    assert (report.cause.cause, report.cause.key, report.cause.guessed) == (Cause.PUSH_RULE, "", False)
    assert rule.sentence in report.cause.words
    assert "`git apply work.patch`" in report.reason
    earlier = setup.end(report)
    hook.unlink()
    setup.claim(2, Kind.PUBLISH, earlier=earlier)
    published = setup.publish("skipped", "skipped")
    assert (published.outcome, published.cause) == (Outcome.PASSED, None)


@pytest.mark.parametrize("rule", OF_THE_CHANGE, ids=lambda rule: rule.type)
def test_a_rule_about_paths_extensions_or_sizes_belongs_to_the_change(bench, rule):
    setup = bench("edit")
    ruled(setup, rule)

    report = setup.through()

    assert (report.outcome, report.hold, report.cause) == (Outcome.HELD, Hold.SETTING, None)
    assert rule.sentence in report.reason


def test_who_may_open_no_pull_request_meets_a_cause_of_the_repository(bench):
    setup = bench("edit")
    words = "GitHub Actions is not permitted to create or approve pull requests."
    setup.world.faults.planned.append(Fault(lambda: ApiError(403, words, "FORBIDDEN"), "open_pull"))

    report = setup.through()

    assert report.cause is not None
    assert report.cause.cause is Cause.PULLS
    assert of_pull(Refused("a pull request already exists")) is None
    assert of_pull(NotPermitted("no")) is not None


def refused(*sentences, words="push declined due to repository rule violations"):
    return of_push(PushRefused(words, sentences), words)


HEAD = "GH013: Repository rule violations found for refs/heads/cf/1."
SECRET = "GITHUB PUSH PROTECTION"


@pytest.mark.parametrize(
    ("sentences", "named"),
    [
        ((HEAD, "Commits must have verified signatures."), True),
        ((HEAD, "Cannot update this protected ref."), True),
        (
            (
                "GH006: Protected branch update failed for refs/heads/cf/1.",
                'Required status check "ci" is expected.',
            ),
            True,
        ),
        ((HEAD, "3 of 3 required status checks are expected."), True),
        (("Permission to acme/shop.git denied to github-actions[bot].",), True),
        ((HEAD, SECRET), None),
        ((HEAD, SECRET, "Commits must have verified signatures."), True),
        (("GH001: Large files detected. You may want to try Git Large File Storage.",), None),
        ((HEAD, "A rule that did not exist when this was written."), False),
        ((HEAD,), False),
        ((), None),
    ],
)
def test_what_github_says_decides_and_what_is_new_is_a_guess(sentences, named):
    met = refused(*sentences)
    assert met is None if named is None else met is not None and met.guessed is not named


@given(st.lists(st.text(min_size=1), max_size=4))
def test_names_in_a_change_decide_nothing(names):
    """What breaks a rule stands further in than the rule: only sentences at the edge are read."""
    words = f"push declined; {'; '.join(names)}"
    assert refused(HEAD, "File path is restricted: x", words=words) is None
    assert refused(HEAD, "Commits must have verified signatures.", words=words) == Met(
        Cause.PUSH_RULE, words=words[:500]
    )


def test_a_file_that_is_called_like_a_sentence_is_no_sentence(bench):
    setup = bench("edit")
    hook = ruled(setup)
    hook.write_text(
        "#!/bin/sh\nprintf 'error: GH013: Repository rule violations found for x.\\n\\n- File path is restricted: x\\n"
        "  Found 1 violation:\\n\\n  - Commits must have verified signatures.\\n\\n' >&2\nexit 1\n"
    )
    assert setup.through().cause is None
