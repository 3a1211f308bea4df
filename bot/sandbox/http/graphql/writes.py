"""What GraphQL writes: one entry of MUTATIONS for every field of a mutation."""

from collections.abc import Callable, Mapping
from typing import Any

from bot.model.issue import StateReason
from bot.model.ref import Ref
from bot.sandbox.http.graphql.nodes import Context, Json, cursor_of, issue_of
from bot.sandbox.http.rest.bodies import stamp
from bot.sandbox.world import ApiError, CommentState, IssueState, LabelState, PullState, Token, World
from bot.sandbox.world.errors import invalid, not_found, too_much


def mutate(name: str, context: Context, given: Mapping[str, Any]) -> Json:
    """One field of a mutation: ordered faults around it, then what it does."""
    if context.broken:
        # What died in the middle of a document carried out nothing after that.
        raise context.broken[0]
    place = next(context.places)
    if context.unfinished is not None and not context.unfinished.carries(place):
        raise too_much()
    try:
        return _carried_out(name, context, given)
    except ApiError:
        raise
    except Exception as error:
        context.broken.append(error)
        raise


def _carried_out(name: str, context: Context, given: Mapping[str, Any]) -> Json:
    faults = context.world.faults
    faults.strike(f"write:{name}", write=True, after=False)
    if name in ("addComment", "createIssue"):
        context.world.limits.charge_content(context.token)
    done = MUTATIONS[name](context, given)
    faults.strike(f"write:{name}", write=True, after=True)
    return {"clientMutationId": given.get("clientMutationId"), **done}


def _labelled(context: Context, given: Mapping[str, Any]) -> tuple[IssueState, list[LabelState]]:
    subject = context.world.issues.node(given["labelableId"])
    if not isinstance(subject, IssueState | PullState):
        raise not_found(f"Could not resolve to a node with the global id of '{given['labelableId']}'")
    return issue_of(subject), [context.node(label_id, LabelState) for label_id in given["labelIds"]]


def _add_labels(context: Context, given: Mapping[str, Any]) -> Json:
    issue, labels = _labelled(context, given)
    for label in labels:
        context.world.issues.add_label(issue, label.name, context.token)
    return {"labelable": context.world.pulls.by_number.get(issue.number, issue)}


def _remove_labels(context: Context, given: Mapping[str, Any]) -> Json:
    issue, labels = _labelled(context, given)
    for label in labels:
        context.world.issues.remove_label(issue, label.name, context.token)
    return {"labelable": context.world.pulls.by_number.get(issue.number, issue)}


def _add_comment(context: Context, given: Mapping[str, Any]) -> Json:
    subject = context.world.issues.node(given["subjectId"])
    if not isinstance(subject, IssueState | PullState):
        raise not_found(f"Could not resolve to a node with the global id of '{given['subjectId']}'")
    comment = context.world.issues.add_comment(issue_of(subject), given["body"], context.token)
    return {"commentEdge": {"cursor": cursor_of(comment.id), "node": comment}, "subject": subject}


def _update_comment(context: Context, given: Mapping[str, Any]) -> Json:
    comment = context.node(given["id"], CommentState)
    context.world.issues.edit_comment(comment, given["body"], context.token)
    return {"issueComment": comment}


def _delete_comment(context: Context, given: Mapping[str, Any]) -> Json:
    context.world.issues.delete_comment(context.node(given["id"], CommentState), context.token)
    return {}


def _close_issue(context: Context, given: Mapping[str, Any]) -> Json:
    issue = context.node(given["issueId"], IssueState)
    reason = StateReason(str(given.get("stateReason") or "COMPLETED").lower())
    context.world.issues.close(issue, reason, context.token)
    return {"issue": issue}


def _reopen_issue(context: Context, given: Mapping[str, Any]) -> Json:
    issue = context.node(given["issueId"], IssueState)
    context.world.issues.reopen(issue, context.token)
    return {"issue": issue}


def _create_issue(context: Context, given: Mapping[str, Any]) -> Json:
    context.node(given["repositoryId"], World)
    names = [context.node(label_id, LabelState).name for label_id in given.get("labelIds") or ()]
    issue = context.world.issues.create(given["title"], given.get("body") or "", names, context.token)
    return {"issue": issue}


def _update_issue(context: Context, given: Mapping[str, Any]) -> Json:
    issue = context.node(given["id"], IssueState)
    context.world.issues.edit(issue, context.token, title=given.get("title"), body=given.get("body"))
    return {"issue": issue}


def _add_reaction(context: Context, given: Mapping[str, Any]) -> Json:
    subject = context.world.issues.node(given["subjectId"])
    if not isinstance(subject, IssueState | CommentState | PullState):
        raise invalid(f"{given['subjectId']} takes no reactions")
    target = subject if isinstance(subject, CommentState) else issue_of(subject)
    context.world.issues.react(target, given["content"], context.token)
    number = target.id * 100 + target.reactions.index((given["content"], context.token.account)) + 1
    reaction = {
        "id": f"REA_{number}",
        "databaseId": None,
        "content": given["content"],
        "createdAt": stamp(context.world.core.now),
        "user": None if context.token.account.is_bot else context.token.account,
    }
    return {"reaction": reaction, "subject": subject}


def _ready(context: Context, given: Mapping[str, Any]) -> Json:
    pull = context.node(given["pullRequestId"], PullState)
    context.world.pulls.set_draft(pull, context.token, draft=False)
    return {"pullRequest": pull}


def _merge_later(context: Context, given: Mapping[str, Any]) -> Json:
    if given["mergeMethod"] != "MERGE":
        raise invalid(f"{given['mergeMethod'].capitalize()} merges are not allowed on this repository.")
    pull = context.node(given["pullRequestId"], PullState)
    context.world.pulls.merge_later(pull, context.token, head_sha=given.get("expectedHeadOid") or "")
    return {"pullRequest": pull}


def _add_blocked_by(context: Context, given: Mapping[str, Any]) -> Json:
    return _edge(context, given, context.world.dependencies.add)


def _remove_blocked_by(context: Context, given: Mapping[str, Any]) -> Json:
    return _edge(context, given, context.world.dependencies.remove)


def _edge(
    context: Context, given: Mapping[str, Any], change: Callable[[IssueState, Ref, Token], None]
) -> Json:
    issue = context.node(given["issueId"], IssueState)
    blocker = context.node(given["blockingIssueId"], IssueState)
    change(issue, Ref(context.world.repository, blocker.number), context.token)
    return {"issue": issue, "blockingIssue": blocker}


MUTATIONS: Mapping[str, Callable[[Context, Mapping[str, Any]], Json]] = {
    "addLabelsToLabelable": _add_labels,
    "removeLabelsFromLabelable": _remove_labels,
    "addComment": _add_comment,
    "updateIssueComment": _update_comment,
    "deleteIssueComment": _delete_comment,
    "closeIssue": _close_issue,
    "reopenIssue": _reopen_issue,
    "createIssue": _create_issue,
    "updateIssue": _update_issue,
    "addReaction": _add_reaction,
    "markPullRequestReadyForReview": _ready,
    "enablePullRequestAutoMerge": _merge_later,
    "addBlockedBy": _add_blocked_by,
    "removeBlockedBy": _remove_blocked_by,
}
