"""Property: a part of a list that is missing inside a 200 is trouble of the moment, and never the list's end."""

from typing import Any

import httpx
import pytest

from bot.model.change import AddLabel
from bot.model.errors import CannotGoOn, TryLater
from tests.github.hub import GRAPHQL, Hub, issue

LAST = {"hasNextPage": False, "endCursor": None}
MILESTONES = {"nodes": [{"number": 4, "title": "v1"}]}


def listed(*numbers, more=False):
    return {
        "nodes": [{"number": n} for n in numbers],
        "pageInfo": {"hasNextPage": more, "endCursor": "x" if more else None},
    }


def answers(router, *bodies):
    router.post(GRAPHQL).mock(side_effect=[httpx.Response(200, json=body) for body in bodies])


def milestones(**more):
    return {"data": {"repository": {"milestones": MILESTONES}}, **more}


def inside(found, **more):
    return {"data": {"repository": {"milestone": {"issues": found}}}, **more}


OOPS = {"errors": [{"path": ["repository", "milestone", "issues"], "message": "Something else went wrong"}]}
BROKEN = {
    "an error beside no data": [milestones(), inside(listed(1, 2, more=True)), inside(None, **OOPS)],
    "an error beside half a page": [milestones(), inside(listed(1), **OOPS)],
    "no data and no word": [milestones(), inside(listed(1, 2, more=True)), inside(None)],
    "no milestone": [milestones(), {"data": {"repository": {"milestone": None}}}],
    "no repository": [{"data": {"repository": None}}],
    "an entry that is null": [milestones(), inside({"nodes": [{"number": 1}, None], "pageInfo": LAST})],
    "no word of more pages": [milestones(), inside({"nodes": [{"number": 1}]})],
    "an error in the list of milestones": [milestones(**OOPS)],
}


@pytest.mark.parametrize("bodies", BROKEN.values(), ids=BROKEN)
def test_a_milestone_is_read_whole_or_not_at_all(router, github, bodies):
    answers(router, *bodies)
    with pytest.raises(TryLater):
        github.in_milestone("v1")


def test_a_milestone_of_two_pages_is_read_whole(router, github):
    answers(router, milestones(), inside(listed(1, 2, more=True)), inside(listed(3)))
    assert github.in_milestone("V1") == (1, 2, 3)


def test_what_the_token_may_not_read_is_said(router, github):
    denied = {"errors": [{"type": "FORBIDDEN", "message": "Resource not accessible by integration"}]}
    answers(router, {"data": {"repository": None}, **denied})
    with pytest.raises(CannotGoOn, match="issues: read"):
        github.in_milestone("v1")


def test_a_label_that_could_not_be_looked_up_is_not_taken_for_one_that_is_missing(router, github):
    body = {
        "data": {"repository": {"id": "R_1", "label_0": None}},
        "errors": [{"path": ["repository", "label_0"], "message": "Oops"}],
    }
    answers(router, body)
    with pytest.raises(TryLater):
        github.write([AddLabel("I_1", "cf:ready")])


def test_a_task_that_is_null_without_an_error_is_not_passed_over(router, github):
    HoleyHub([issue(1), issue(2)]).mount(router)
    with pytest.raises(TryLater, match="lacks"):
        github.view("cf", None)


class HoleyHub(Hub):
    """The second entry of each list is null, and nothing says why."""

    def _issues(self, *args: Any, **more: Any) -> dict[str, Any]:
        page = super()._issues(*args, **more)
        return {**page, "nodes": [*page["nodes"][:1], None]} if page["nodes"] else page
