"""`cf adopt`: what is older than the key, or signed with the old one, is signed once by a person's word."""

from bot.console.adopt import adopt
from bot.github.signatures import with_signatures
from bot.model.report import Outcome
from tests.conductor.story import Story
from tests.github.test_signatures import KEY, OURS, plain, record_of, sealing, started

OTHER = "o" * 32


def test_what_is_older_than_the_key_is_adopted_once_by_a_persons_word():
    story = Story()
    task = started(story)
    story.github = with_signatures(story.github, KEY)
    story.tick()
    assert "`cf adopt` signs it" in story.reason(task)

    assert len(adopt(plain(story), KEY, OURS, dry_run=True)) == 1  # the dashboard was made anew
    assert adopt(plain(story), KEY, "somebody") == []
    listed = adopt(plain(story), KEY, OURS)
    assert listed == [f"signed: comment {record_of(story, task).id} on #{task}"]
    assert adopt(plain(story), KEY, OURS) == []
    story.finish(f"cf-{task}-1", Outcome.PASSED)
    story.settle()
    assert story.status(task) == ("done",)


def test_a_new_key_signs_what_the_old_one_did_and_nothing_else():
    story = sealing(OTHER)
    task = started(story)
    assert all("left alone" in line for line in adopt(plain(story), KEY, OURS))
    story.world.edit_comment(
        record_of(story, task).id, record_of(story, task).body.replace("attempts", "Attempts"), by=OURS
    )
    assert sorted(line.partition(":")[0] for line in adopt(plain(story), KEY, OURS, OTHER)) == [
        "left alone, its signature is wrong",
        "signed",
    ]
