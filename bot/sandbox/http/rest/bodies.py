"""The world's things as GitHub's REST bodies (API version 2026-03-10). All of them are made here.

Fields that GitHub requires and the sandbox has no state for hold what a quiet repository would show.
"""

import base64
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any
from urllib.parse import quote

from bot.model.issue import GHOST, Account, NeedState
from bot.model.ref import Ref
from bot.sandbox.world import (
    ArtifactState,
    CommentState,
    EventState,
    IssueState,
    JobState,
    LabelState,
    PullState,
    World,
    WorldRun,
)
from bot.sandbox.world.apps import App
from bot.sandbox.world.limits import Window
from bot.sandbox.world.state import RemarkState, ReviewState
from bot.sandbox.world.workflows import Workflow

Json = dict[str, Any]

_USER_LINKS = (
    "followers",
    "following",
    "gists",
    "starred",
    "subscriptions",
    "organizations",
    "repos",
    "events",
    "received_events",
)
_REPOSITORY_LINKS = (
    "archive",
    "assignees",
    "blobs",
    "branches",
    "collaborators",
    "comments",
    "commits",
    "compare",
    "contents",
    "contributors",
    "deployments",
    "downloads",
    "events",
    "forks",
    "git_commits",
    "git_refs",
    "git_tags",
    "hooks",
    "issue_comment",
    "issue_events",
    "issues",
    "keys",
    "labels",
    "languages",
    "merges",
    "milestones",
    "notifications",
    "pulls",
    "releases",
    "stargazers",
    "statuses",
    "subscribers",
    "subscription",
    "tags",
    "teams",
    "trees",
)
_REACTIONS = {
    "THUMBS_UP": "+1",
    "THUMBS_DOWN": "-1",
    "LAUGH": "laugh",
    "HOORAY": "hooray",
    "CONFUSED": "confused",
    "HEART": "heart",
    "ROCKET": "rocket",
    "EYES": "eyes",
}
# GitHub's `permission` folds the five roles into three; `role_name` does not.
_FOLDED = {"maintain": "write", "triage": "read"}


def stamp(at: datetime | None) -> str | None:
    """As GitHub writes times."""
    return at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ") if at else None


class Render:
    """Bodies for one world served at one address."""

    def __init__(self, world: World, api: str) -> None:
        self.world = world
        self.api = api
        self.here = f"{api}/repos/{world.repository}"
        self.page = f"{world.web}/{world.repository}"

    # ------------------------------------------------------------------ accounts and repository

    def user(self, account: Account) -> Json:
        url = f"{self.api}/users/{quote(account.login)}"
        return {
            "login": account.login,
            "id": account.id,
            "node_id": f"U_kgDO{account.id:08d}",
            "avatar_url": f"{self.world.web}/_sandbox/avatar/{account.id}",
            "gravatar_id": "",
            "url": url,
            "html_url": f"{self.world.web}/{'apps/' if account.is_bot else ''}{account.login.removesuffix('[bot]')}",
            **{f"{name}_url": f"{url}/{name}" for name in _USER_LINKS},
            "type": "Bot" if account.is_bot else "User",
            "site_admin": False,
        }

    def whoami(self, account: Account) -> Json:
        """`GET /user`."""
        born = stamp(datetime(2020, 1, 1, tzinfo=UTC))
        counts = dict.fromkeys(("public_repos", "public_gists", "followers", "following"), 0)
        nothing = dict.fromkeys(("name", "company", "email", "hireable", "bio", "location"))
        return {**self.user(account), **nothing, "blog": "", **counts, "created_at": born, "updated_at": born}

    def installation(self, app: App) -> Json:
        """Where a GitHub App is installed: on this repository alone."""
        owner = self.world.accounts.get(self.world.repository.split("/", maxsplit=1)[0])
        born = stamp(datetime(2020, 1, 1, tzinfo=UTC))
        return {
            "id": app.id,
            "account": self.user(owner),
            "app_id": app.id,
            "app_slug": app.slug,
            "target_id": owner.id,
            "target_type": "User",
            "repository_selection": "selected",
            "access_tokens_url": f"{self.api}/app/installations/{app.id}/access_tokens",
            "repositories_url": f"{self.api}/installation/repositories",
            "html_url": f"{self.world.web}/settings/installations/{app.id}",
            "permissions": dict(app.permissions),
            "events": [],
            "single_file_name": None,
            "suspended_by": None,
            "suspended_at": None,
            "created_at": born,
            "updated_at": born,
        }

    def repository(self, *, full: bool = False) -> Json:
        """Minimal, or as its own page of the API shows it."""
        world = self.world
        owner = world.repository.split("/", maxsplit=1)[0]
        body: Json = {
            "id": world.repository_id,
            "node_id": world.node_id,
            "name": world.repository.split("/")[1],
            "full_name": world.repository,
            "private": world.core.private,
            "owner": self.user(world.accounts.get(owner)),
            "html_url": self.page,
            "description": None,
            "fork": False,
            "url": self.here,
            **{f"{name}_url": f"{self.here}/{name}" for name in _REPOSITORY_LINKS},
        }
        if not full:
            return body
        now = stamp(world.core.now)
        open_count = sum(issue.is_open for issue in world.issues.all())
        return body | {
            "clone_url": f"{self.page}.git",
            "git_url": f"{self.page}.git",
            "ssh_url": f"{self.page}.git",
            "svn_url": self.page,
            "mirror_url": None,
            "homepage": None,
            "language": None,
            "license": None,
            "default_branch": world.git.default_branch,
            "visibility": "private" if world.core.private else "public",
            "archived": world.core.archived,
            "disabled": False,
            "has_issues": True,
            "has_projects": False,
            "has_wiki": False,
            "has_pages": False,
            "has_discussions": False,
            "open_issues": open_count,
            "open_issues_count": open_count,
            **dict.fromkeys(
                (
                    "forks",
                    "forks_count",
                    "size",
                    "stargazers_count",
                    "watchers",
                    "watchers_count",
                    "network_count",
                    "subscribers_count",
                ),
                0,
            ),
            "allow_merge_commit": True,
            "allow_squash_merge": False,
            "allow_rebase_merge": False,
            "created_at": now,
            "updated_at": now,
            "pushed_at": now,
        }

    def permission(self, login: str) -> Json:
        """`GET .../collaborators/{login}/permission`."""
        role = self.world.accounts.role(login)
        account = self.world.accounts.by_login[login.lower()]
        return {
            "permission": _FOLDED.get(role, role),
            "role_name": role,
            "user": {**self.user(account), "role_name": role},
        }

    # ------------------------------------------------------------------ issues

    def label(self, label: LabelState) -> Json:
        return {
            "id": label.id,
            "node_id": label.node_id,
            "url": f"{self.here}/labels/{quote(label.name)}",
            "name": label.name,
            "description": label.description or None,
            "color": label.color,
            "default": False,
            "archived_at": None,
            "archived_by": None,
        }

    def issue(self, issue: IssueState) -> Json:
        url = f"{self.here}/issues/{issue.number}"
        kind = "pull" if issue.is_pull else "issues"
        body: Json = {
            "id": issue.id,
            "node_id": issue.node_id,
            "url": url,
            "repository_url": self.here,
            "labels_url": f"{url}/labels{{/name}}",
            "comments_url": f"{url}/comments",
            "events_url": f"{url}/events",
            "html_url": f"{self.page}/{kind}/{issue.number}",
            "number": issue.number,
            "state": "open" if issue.is_open else "closed",
            "state_reason": issue.state_reason,
            "title": issue.title,
            "body": issue.body,
            "user": self.user(issue.author),
            "labels": [self.label(label) for label in issue.labels],
            "assignees": [],
            "milestone": None,
            "locked": issue.locked,
            "active_lock_reason": None,
            "comments": len(issue.comments),
            "closed_at": stamp(issue.closed_at),
            "closed_by": self.user(issue.closed_by) if issue.closed_by else None,
            "created_at": stamp(issue.created_at),
            "updated_at": stamp(issue.updated_at),
            "author_association": self.association(issue.author),
            "reactions": self.reactions(f"{url}/reactions", issue.reactions),
            "timeline_url": f"{url}/timeline",
            "sub_issues_summary": self.children(issue),
            "issue_dependencies_summary": self.dependencies(issue),
        }
        if issue.is_pull:
            pull = self.world.pulls.by_number[issue.number]
            body["pull_request"] = {
                "url": f"{self.here}/pulls/{issue.number}",
                "html_url": f"{self.page}/pull/{issue.number}",
                "diff_url": f"{self.page}/pull/{issue.number}.diff",
                "patch_url": f"{self.page}/pull/{issue.number}.patch",
                "merged_at": stamp(pull.merged_at),
            }
        return body

    def children(self, issue: IssueState) -> Json:
        total = len(issue.children)
        completed = total - self.world.dependencies.count_open(issue.children)
        return {
            "total": total,
            "completed": completed,
            "percent_completed": completed * 100 // max(total, 1),
        }

    def dependencies(self, issue: IssueState) -> Json:
        edges = self.world.dependencies
        blocking = edges.blocking(issue)
        return {
            "blocked_by": edges.blocked_by_open(issue),
            "blocking": sum(other.is_open for other in blocking) if issue.is_open else 0,
            "total_blocked_by": len(issue.blocked_by),
            "total_blocking": len(blocking),
        }

    def foreign_issue(self, ref: Ref, state: NeedState) -> Json:
        """An issue of another repository, of which the world knows only how it stands."""
        api, page = f"{self.api}/repos/{ref.repository}", f"{self.world.web}/{ref.repository}"
        number = 600_000_000 + ref.number
        reasons = {NeedState.NOT_PLANNED: "not_planned", NeedState.DUPLICATE: "duplicate"}
        is_open = state in (NeedState.OPEN, NeedState.OPEN_PULL)
        at = stamp(self.world.core.now)
        url = f"{api}/issues/{ref.number}"
        body: Json = {
            "id": number,
            "node_id": f"I_kwDO{number}",
            "url": url,
            "repository_url": api,
            "labels_url": f"{url}/labels{{/name}}",
            "comments_url": f"{url}/comments",
            "events_url": f"{url}/events",
            "html_url": f"{page}/issues/{ref.number}",
            "number": ref.number,
            "state": "open" if is_open else "closed",
            "state_reason": None if is_open else reasons.get(state, "completed"),
            "title": str(ref),
            "body": "",
            "user": self.user(GHOST),
            "labels": [],
            "assignees": [],
            "milestone": None,
            "locked": False,
            "comments": 0,
            "closed_at": None if is_open else at,
            "created_at": at,
            "updated_at": at,
            "author_association": "NONE",
        }
        if state in (NeedState.MERGED, NeedState.OPEN_PULL, NeedState.CLOSED_UNMERGED):
            pull = f"{page}/pull/{ref.number}"
            merged = at if state is NeedState.MERGED else None
            links = {"html_url": pull, "diff_url": f"{pull}.diff", "patch_url": f"{pull}.patch"}
            body["pull_request"] = {"url": f"{api}/pulls/{ref.number}", **links, "merged_at": merged}
        return body

    def comment(self, comment: CommentState) -> Json:
        url = f"{self.here}/issues/comments/{comment.id}"
        kind = "pull" if self.world.issues.by_number[comment.issue].is_pull else "issues"
        return {
            "id": comment.id,
            "node_id": comment.node_id,
            "url": url,
            "html_url": f"{self.page}/{kind}/{comment.issue}#issuecomment-{comment.id}",
            "issue_url": f"{self.here}/issues/{comment.issue}",
            "user": self.user(comment.author),
            "body": comment.body,
            "created_at": stamp(comment.created_at),
            "updated_at": stamp(comment.updated_at),
            "author_association": self.association(comment.author),
            "reactions": self.reactions(f"{url}/reactions", comment.reactions),
        }

    def event(self, event: EventState) -> Json:
        """One entry of an issue's events or timeline."""
        body: Json = {
            "id": event.id,
            "node_id": f"E_kwDO{event.id:010d}",
            "url": f"{self.here}/issues/events/{event.id}",
            "actor": self.user(event.actor),
            "event": event.kind,
            "commit_id": None,
            "commit_url": None,
            "created_at": stamp(event.at),
            "performed_via_github_app": None,
        }
        if event.label:
            body["label"] = {"name": event.label.name, "color": event.label.color}
        if event.kind == "renamed":
            body["rename"] = {"from": event.before, "to": event.after}
        if event.kind == "closed":
            body["state_reason"] = event.reason
        return body

    def timeline_comment(self, comment: CommentState) -> Json:
        return {
            **self.comment(comment),
            "event": "commented",
            "actor": self.user(comment.author),
        }

    def reaction(self, number: int, content: str, account: Account) -> Json:
        return {
            "id": number,
            "node_id": f"REA_{number}",
            "user": self.user(account),
            "content": _REACTIONS[content],
            "created_at": stamp(self.world.core.now),
        }

    def reactions(self, url: str, given: list[tuple[str, Account]]) -> Json:
        counts = {name: sum(content == key for content, _ in given) for key, name in _REACTIONS.items()}
        return {"url": url, "total_count": len(given), **counts}

    def association(self, account: Account) -> str:
        role = self.world.accounts.role(account.login)
        if account.login == self.world.repository.split("/", maxsplit=1)[0]:
            return "OWNER"
        return "COLLABORATOR" if role in ("admin", "maintain", "write", "triage") else "NONE"

    # ------------------------------------------------------------------ pull requests

    def pull(self, pull: PullState, *, full: bool = False) -> Json:
        """As in a list, or alone."""
        issue = pull.issue
        url = f"{self.here}/pulls/{pull.number}"
        links = {
            "self": url,
            "html": f"{self.page}/pull/{pull.number}",
            "issue": f"{self.here}/issues/{pull.number}",
            "comments": f"{self.here}/issues/{pull.number}/comments",
            "review_comments": f"{url}/comments",
            "review_comment": f"{self.here}/pulls/comments{{/number}}",
            "commits": f"{url}/commits",
            "statuses": f"{self.here}/statuses/{pull.head_sha}",
        }
        body: Json = {
            "id": pull.id,
            "node_id": pull.node_id,
            "url": url,
            "html_url": links["html"],
            "diff_url": f"{links['html']}.diff",
            "patch_url": f"{links['html']}.patch",
            "issue_url": links["issue"],
            "commits_url": links["commits"],
            "review_comments_url": links["review_comments"],
            "review_comment_url": links["review_comment"],
            "comments_url": links["comments"],
            "statuses_url": links["statuses"],
            "number": pull.number,
            "state": "open" if issue.is_open else "closed",
            "locked": issue.locked,
            "title": issue.title,
            "body": issue.body,
            "user": self.user(issue.author),
            "labels": [self.label(label) for label in issue.labels],
            "assignees": [],
            "requested_reviewers": [self.user(account) for account in pull.requested],
            "requested_teams": [],
            "milestone": None,
            "draft": pull.draft,
            "created_at": stamp(issue.created_at),
            "updated_at": stamp(issue.updated_at),
            "closed_at": stamp(issue.closed_at),
            "merged_at": stamp(pull.merged_at),
            "head": self._side(pull.head_ref, pull.head_sha),
            "base": self._side(pull.base_ref, pull.base_sha),
            "_links": {name: {"href": href} for name, href in links.items()},
            "author_association": self.association(issue.author),
            "auto_merge": None,
        }
        if not full:
            return body
        mergeable = self.world.pulls.mergeable(pull)
        states = {True: "clean", False: "dirty", None: "unknown"}
        commits = self.world.git.commits(pull.base_sha, pull.head_sha)
        diff = self.world.git.diff(pull.base_sha, pull.head_sha).splitlines()
        return body | {
            "merged": pull.merged,
            "mergeable": mergeable,
            "rebaseable": None,
            "mergeable_state": "draft" if pull.draft and mergeable else states[mergeable],
            "merged_by": self.user(pull.merged_by) if pull.merged_by else None,
            "comments": len(issue.comments),
            "review_comments": 0,
            "maintainer_can_modify": False,
            "commits": len(commits),
            "additions": sum(line.startswith("+") and not line.startswith("+++") for line in diff),
            "deletions": sum(line.startswith("-") and not line.startswith("---") for line in diff),
            "changed_files": sum(line.startswith("diff --git ") for line in diff),
        }

    def review(self, pull: PullState, review: ReviewState) -> Json:
        page = f"{self.page}/pull/{pull.number}#pullrequestreview-{review.id}"
        url = f"{self.here}/pulls/{pull.number}"
        return {
            "id": review.id,
            "node_id": review.node_id,
            "user": self.user(review.author),
            "body": review.body,
            "state": review.state,
            "html_url": page,
            "pull_request_url": url,
            "_links": {"html": {"href": page}, "pull_request": {"href": url}},
            "submitted_at": stamp(review.at),
            "commit_id": review.commit,
            "author_association": self.association(review.author),
        }

    def remark(self, pull: PullState, review: ReviewState, remark: RemarkState) -> Json:
        page = f"{self.page}/pull/{pull.number}#discussion_r{remark.id}"
        url = f"{self.here}/pulls/comments/{remark.id}"
        whole = f"{self.here}/pulls/{pull.number}"
        return {
            "id": remark.id,
            "node_id": remark.node_id,
            "url": url,
            "pull_request_review_id": review.id,
            "diff_hunk": "@@ -1 +1 @@",
            "path": remark.path,
            "line": remark.line,
            "commit_id": review.commit,
            "original_commit_id": review.commit,
            "user": self.user(review.author),
            "body": remark.body,
            "created_at": stamp(review.at),
            "updated_at": stamp(review.at),
            "html_url": page,
            "pull_request_url": whole,
            "author_association": self.association(review.author),
            "_links": {"self": {"href": url}, "html": {"href": page}, "pull_request": {"href": whole}},
        }

    def changed_file(self, pull: PullState, path: str, added: int, removed: int) -> Json:
        content = f"{self.here}/contents/{quote(path)}?ref={pull.head_sha}"
        return {
            "sha": pull.head_sha,
            "filename": path,
            "status": "modified",
            "additions": added,
            "deletions": removed,
            "changes": added + removed,
            "blob_url": f"{self.page}/blob/{pull.head_sha}/{quote(path)}",
            "raw_url": f"{self.page}/raw/{pull.head_sha}/{quote(path)}",
            "contents_url": content,
        }

    def _side(self, ref: str, sha: str) -> Json:
        owner = self.world.accounts.get(self.world.repository.split("/", maxsplit=1)[0])
        label = f"{owner.login}:{ref}"
        return {
            "label": label,
            "ref": ref,
            "sha": sha,
            "user": self.user(owner),
            "repo": self.repository(full=True),
        }

    # ------------------------------------------------------------------ git

    def reference(self, branch: str, sha: str) -> Json:
        return {
            "ref": f"refs/heads/{branch}",
            "node_id": f"REF_{branch}",
            "url": f"{self.here}/git/refs/heads/{quote(branch)}",
            "object": {"type": "commit", "sha": sha, "url": f"{self.here}/git/commits/{sha}"},
        }

    def blob(self, sha: str, data: bytes) -> Json:
        return {
            "sha": sha,
            "node_id": f"B_{sha}",
            "size": len(data),
            "url": f"{self.here}/git/blobs/{sha}",
            "content": base64.encodebytes(data).decode(),
            "encoding": "base64",
        }

    def content(self, path: str, sha: str, data: bytes) -> Json:
        """A file of `GET .../contents/{path}`."""
        url, git = f"{self.here}/contents/{quote(path)}", f"{self.here}/git/blobs/{sha}"
        page = f"{self.page}/blob/{quote(self.world.git.default_branch)}/{quote(path)}"
        return {
            "type": "file",
            "name": path.rsplit("/", 1)[-1],
            "path": path,
            "sha": sha,
            "size": len(data),
            "encoding": "base64",
            "content": base64.encodebytes(data).decode(),
            "url": url,
            "git_url": git,
            "html_url": page,
            "download_url": None,
            "_links": {"self": url, "git": git, "html": page},
        }

    # ------------------------------------------------------------------ actions

    def workflow(self, workflow: Workflow) -> Json:
        number = self.world.actions.workflow_id(workflow.path)
        url = f"{self.here}/actions/workflows/{number}"
        at = stamp(self.world.core.now)
        disabled = workflow.file in self.world.actions.disabled
        return {
            "id": number,
            "node_id": f"W_kwDO{number:010d}",
            "name": workflow.name,
            "path": workflow.path,
            "state": "disabled_manually" if disabled else "active",
            "created_at": at,
            "updated_at": at,
            "url": url,
            "html_url": f"{self.page}/blob/{quote(self.world.git.default_branch)}/{quote(workflow.path)}",
            "badge_url": f"{self.page}/actions/workflows/{workflow.file}/badge.svg",
        }

    def run(self, run: WorldRun) -> Json:
        url = f"{self.here}/actions/runs/{run.id}"
        number = self.world.actions.workflow_id(run.path)
        return {
            "id": run.id,
            "name": run.name,
            "node_id": f"WFR_kwLO{run.id}",
            "head_branch": run.ref,
            "head_sha": run.head_sha,
            "path": run.path,
            "display_title": run.title,
            "run_number": run.number,
            "run_attempt": run.attempt,
            "event": run.event,
            "status": run.status,
            "conclusion": run.conclusion,
            "workflow_id": number,
            "check_suite_id": run.id,
            "url": url,
            "html_url": f"{self.page}/actions/runs/{run.id}",
            "pull_requests": [],
            "created_at": stamp(run.created_at),
            "updated_at": stamp(run.updated_at),
            "run_started_at": stamp(run.started_at or run.created_at),
            "actor": self.user(run.actor),
            "triggering_actor": self.user(run.actor),
            "jobs_url": f"{url}/jobs",
            "logs_url": f"{url}/logs",
            "check_suite_url": f"{self.here}/check-suites/{run.id}",
            "artifacts_url": f"{url}/artifacts",
            "cancel_url": f"{url}/cancel",
            "rerun_url": f"{url}/rerun",
            "previous_attempt_url": None,
            "workflow_url": f"{self.here}/actions/workflows/{number}",
            "head_commit": None,
            "repository": self.repository(),
            "head_repository": self.repository(),
        }

    def annotation(self, message: str) -> Json:
        """As GitHub notes on a job what belongs to no line of a file."""
        return {
            "path": ".github",
            "start_line": 1,
            "end_line": 1,
            "start_column": None,
            "end_column": None,
            "annotation_level": "failure",
            "title": "",
            "message": message,
            "raw_details": "",
            "blob_href": f"{self.page}/blob/main/.github",
        }

    def job(self, job: JobState) -> Json:
        run = self.world.actions.runs[job.run_id]
        page = f"{self.page}/actions/runs/{run.id}/job/{job.id}"
        started = job.started_at or job.created_at
        return {
            "id": job.id,
            "run_id": job.run_id,
            "workflow_name": run.name,
            "head_branch": run.ref,
            "run_url": f"{self.here}/actions/runs/{run.id}",
            "run_attempt": job.attempt,
            "node_id": f"CR_kwDO{job.id}",
            "head_sha": run.head_sha,
            "url": f"{self.here}/actions/jobs/{job.id}",
            "html_url": page,
            "status": job.status,
            "conclusion": job.conclusion,
            "created_at": stamp(job.created_at),
            "started_at": stamp(started),
            "completed_at": stamp(job.completed_at),
            "name": job.name,
            "steps": [
                {"name": name, "status": status, "conclusion": conclusion, "number": number}
                for number, (name, status, conclusion) in enumerate(job.steps, start=1)
            ],
            "check_run_url": f"{self.here}/check-runs/{job.id}",
            "labels": ["ubuntu-latest"],
            "runner_id": 1,
            "runner_name": "sandbox",
            "runner_group_id": 1,
            "runner_group_name": "sandbox",
        }

    def artifact(self, kept: ArtifactState) -> Json:
        url = f"{self.here}/actions/artifacts/{kept.id}"
        run = self.world.actions.runs[kept.run_id]
        return {
            "id": kept.id,
            "node_id": f"A_kwDO{kept.id}",
            "name": kept.name,
            "size_in_bytes": len(kept.data),
            "url": url,
            "archive_download_url": f"{url}/zip",
            "expired": kept.expired or kept.expires_at <= self.world.core.now,
            "digest": None,
            "created_at": stamp(kept.created_at),
            "updated_at": stamp(kept.created_at),
            "expires_at": stamp(kept.expires_at),
            "workflow_run": {
                "id": run.id,
                "repository_id": self.world.repository_id,
                "head_repository_id": self.world.repository_id,
                "head_branch": run.ref,
                "head_sha": run.head_sha,
            },
        }

    def limits(self, windows: Mapping[str, Window]) -> Json:
        """`GET /rate_limit`."""
        shown = {name: _window(window) for name, window in windows.items()}
        # Search is not offered: nothing remains of it.
        reset = next(iter(shown.values()))["reset"]
        return {"resources": {**shown, "search": {"limit": 0, "used": 0, "remaining": 0, "reset": reset}}}


def _window(window: Window) -> Json:
    return {
        "limit": window.limit,
        "used": window.used,
        "remaining": window.remaining,
        "reset": int(window.reset.timestamp()),
    }
