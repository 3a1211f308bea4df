"""The `github.event` of a run: the fields of GitHub's webhooks that workflows of issue bots read."""

from collections.abc import Mapping
from typing import Any

from bot.model.issue import Account
from bot.sandbox.world.core import Core, Happening
from bot.sandbox.world.state import CommentState, IssueState, LabelState, PullState


def payload_of(core: Core, happening: Happening) -> dict[str, Any]:
    """What the webhook of this happening would carry."""
    parts = happening.parts
    payload: dict[str, Any] = {"repository": repository(core), "sender": user(happening.by.account)}
    if happening.action:
        payload["action"] = happening.action
    if "issue" in parts and happening.event in ("issues", "issue_comment"):
        payload["issue"] = issue(parts["issue"])
    if "comment" in parts:
        payload["comment"] = comment(parts["comment"])
    if "label" in parts:
        payload["label"] = label(parts["label"])
    if "pull" in parts:
        payload["pull_request"] = pull(parts["pull"])
        payload["number"] = parts["pull"].number
    if happening.event == "push":
        payload |= {
            "ref": f"refs/heads/{parts['branch']}",
            "before": parts["before"] or "0" * 40,
            "after": parts["after"],
        }
    return payload | dict(parts.get("extra", {}))


def repository(core: Core) -> dict[str, Any]:
    owner, name = core.repository.split("/")
    return {
        "full_name": core.repository,
        "name": name,
        "owner": {"login": owner},
        "default_branch": core.default_branch,
        "private": core.private,
    }


def user(account: Account) -> dict[str, Any]:
    return {"login": account.login, "id": account.id, "type": "Bot" if account.is_bot else "User"}


def issue(state: IssueState) -> dict[str, Any]:
    shown: dict[str, Any] = {
        "id": state.id,
        "node_id": state.node_id,
        "number": state.number,
        "title": state.title,
        "body": state.body,
        "state": "open" if state.is_open else "closed",
        "state_reason": state.state_reason,
        "user": user(state.author),
        "labels": [label(item) for item in state.labels],
    }
    return shown | ({"pull_request": {}} if state.is_pull else {})


def label(state: LabelState) -> dict[str, Any]:
    return {"id": state.id, "node_id": state.node_id, "name": state.name, "color": state.color}


def comment(state: CommentState) -> dict[str, Any]:
    return {"id": state.id, "node_id": state.node_id, "body": state.body, "user": user(state.author)}


def pull(state: PullState) -> Mapping[str, Any]:
    return {
        "number": state.number,
        "title": state.issue.title,
        "draft": state.draft,
        "merged": state.merged,
        "user": user(state.issue.author),
        "head": {"ref": state.head_ref, "sha": state.head_sha},
        "base": {"ref": state.base_ref, "sha": state.base_sha},
    }
