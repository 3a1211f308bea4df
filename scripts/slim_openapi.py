"""GitHub's REST description as test data: only the operations we can use, as of the API version we pin.

The package describes version 2022-11-28 and says beside each part, as a patch, what later versions changed;
the patches of the version our client sends are applied here. A field they remove is allowed but no longer asked
for, so a server that still sends it is judged right as well. Examples go (a fifth of GitHub's own contradict
their schemas), and so does every component that no kept operation reaches.

Run `python -m scripts.slim_openapi` after a change of the list or the version, with `--check` to compare only.
"""

import copy
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from scripts.npm_package import Source, main

API_VERSION = "2026-03-10"
SOURCE = Source(
    package="@octokit/openapi",
    version="23.0.2",
    member="generated/api.github.com.json",
    sha256="829b4bebb19a53133289f7b0bc819f4f1118115821db2ca9f25e9ee995a7da2a",
)
TARGET = Path(__file__).parent.parent / "tests/data/github/openapi-slim.json"

REPO = "/repos/{owner}/{repo}"
OPERATIONS: dict[str, tuple[str, ...]] = {
    "/app": ("get",),
    "/app/installations/{installation_id}/access_tokens": ("post",),
    "/rate_limit": ("get",),
    "/repos/{owner}/{repo}": ("get",),
    "/repos/{owner}/{repo}/installation": ("get",),
    "/user": ("get",),
    "/users/{username}": ("get",),
    # issues, labels, comments
    f"{REPO}/issues": ("get", "post"),
    f"{REPO}/issues/comments": ("get",),
    f"{REPO}/issues/comments/{{comment_id}}": ("get", "patch", "delete"),
    f"{REPO}/issues/comments/{{comment_id}}/reactions": ("get", "post"),
    f"{REPO}/issues/events": ("get",),
    f"{REPO}/issues/{{issue_number}}": ("get", "patch"),
    f"{REPO}/issues/{{issue_number}}/comments": ("get", "post"),
    f"{REPO}/issues/{{issue_number}}/dependencies/blocked_by": ("get", "post"),
    f"{REPO}/issues/{{issue_number}}/dependencies/blocked_by/{{issue_id}}": ("delete",),
    f"{REPO}/issues/{{issue_number}}/dependencies/blocking": ("get",),
    f"{REPO}/issues/{{issue_number}}/events": ("get",),
    f"{REPO}/issues/{{issue_number}}/labels": ("get", "post", "put", "delete"),
    f"{REPO}/issues/{{issue_number}}/labels/{{name}}": ("delete",),
    f"{REPO}/issues/{{issue_number}}/parent": ("get",),
    f"{REPO}/issues/{{issue_number}}/reactions": ("get", "post"),
    f"{REPO}/issues/{{issue_number}}/sub_issue": ("delete",),
    f"{REPO}/issues/{{issue_number}}/sub_issues": ("get", "post"),
    f"{REPO}/issues/{{issue_number}}/timeline": ("get",),
    f"{REPO}/labels": ("get", "post"),
    f"{REPO}/labels/{{name}}": ("get", "patch", "delete"),
    # people
    f"{REPO}/collaborators": ("get",),
    f"{REPO}/collaborators/{{username}}": ("get",),
    f"{REPO}/collaborators/{{username}}/permission": ("get",),
    # code
    f"{REPO}/branches": ("get",),
    f"{REPO}/branches/{{branch}}": ("get",),
    f"{REPO}/commits": ("get",),
    f"{REPO}/commits/{{ref}}": ("get",),
    f"{REPO}/commits/{{ref}}/check-runs": ("get",),
    f"{REPO}/commits/{{ref}}/status": ("get",),
    f"{REPO}/compare/{{basehead}}": ("get",),
    f"{REPO}/contents/{{path}}": ("get", "put"),
    f"{REPO}/git/blobs/{{file_sha}}": ("get",),
    f"{REPO}/git/matching-refs/{{ref}}": ("get",),
    f"{REPO}/git/ref/{{ref}}": ("get",),
    f"{REPO}/git/refs": ("post",),
    f"{REPO}/git/refs/{{ref}}": ("patch", "delete"),
    f"{REPO}/git/trees/{{tree_sha}}": ("get",),
    f"{REPO}/rules/branches/{{branch}}": ("get",),
    # pull requests
    f"{REPO}/pulls": ("get", "post"),
    f"{REPO}/pulls/{{pull_number}}": ("get", "patch"),
    f"{REPO}/pulls/{{pull_number}}/comments": ("get",),
    f"{REPO}/pulls/{{pull_number}}/commits": ("get",),
    f"{REPO}/pulls/{{pull_number}}/files": ("get",),
    f"{REPO}/pulls/{{pull_number}}/merge": ("get", "put"),
    f"{REPO}/pulls/{{pull_number}}/requested_reviewers": ("post",),
    f"{REPO}/pulls/{{pull_number}}/reviews": ("get", "post"),
    f"{REPO}/pulls/{{pull_number}}/update-branch": ("put",),
    # Actions
    f"{REPO}/actions/artifacts": ("get",),
    f"{REPO}/actions/artifacts/{{artifact_id}}": ("get", "delete"),
    f"{REPO}/actions/artifacts/{{artifact_id}}/{{archive_format}}": ("get",),
    f"{REPO}/actions/concurrency_groups": ("get",),
    f"{REPO}/actions/concurrency_groups/{{concurrency_group_name}}": ("get",),
    f"{REPO}/actions/jobs/{{job_id}}": ("get",),
    f"{REPO}/actions/jobs/{{job_id}}/logs": ("get",),
    f"{REPO}/actions/permissions": ("get",),
    f"{REPO}/actions/permissions/workflow": ("get",),
    f"{REPO}/actions/runs": ("get",),
    f"{REPO}/actions/runs/{{run_id}}": ("get",),
    f"{REPO}/actions/runs/{{run_id}}/artifacts": ("get",),
    f"{REPO}/actions/runs/{{run_id}}/attempts/{{attempt_number}}": ("get",),
    f"{REPO}/actions/runs/{{run_id}}/attempts/{{attempt_number}}/jobs": ("get",),
    f"{REPO}/actions/runs/{{run_id}}/cancel": ("post",),
    f"{REPO}/actions/runs/{{run_id}}/concurrency_groups": ("get",),
    f"{REPO}/actions/runs/{{run_id}}/force-cancel": ("post",),
    f"{REPO}/actions/runs/{{run_id}}/jobs": ("get",),
    f"{REPO}/actions/runs/{{run_id}}/rerun": ("post",),
    f"{REPO}/actions/runs/{{run_id}}/rerun-failed-jobs": ("post",),
    f"{REPO}/actions/workflows": ("get",),
    f"{REPO}/actions/workflows/{{workflow_id}}": ("get",),
    f"{REPO}/actions/workflows/{{workflow_id}}/dispatches": ("post",),
    f"{REPO}/actions/workflows/{{workflow_id}}/enable": ("put",),
    f"{REPO}/actions/workflows/{{workflow_id}}/runs": ("get",),
    f"{REPO}/check-runs/{{check_run_id}}": ("get",),
    f"{REPO}/check-runs/{{check_run_id}}/annotations": ("get",),
}

Json = dict[str, Any]
# Maps whose keys are names somebody chose, not words of OpenAPI.
_NAMED = frozenset(
    {"properties", "patternProperties", "schemas", "parameters", "responses", "headers", "paths"}
)
_KEPT_EXTENSIONS = frozenset({"x-multi-segment"})


def slim(description: bytes) -> bytes:
    """The kept operations and what they reach, patched to our version, as stable JSON."""
    full = json.loads(description)
    paths = {
        path: {method: full["paths"][path][method] for method in methods}
        for path, methods in OPERATIONS.items()
    }
    kept = {
        "openapi": full["openapi"],
        "info": {
            "title": "The part of GitHub's REST API that cf-conductor can use",
            "version": f"{API_VERSION} from {SOURCE.package}@{SOURCE.version}",
            "license": full["info"]["license"],
        },
        "servers": full["servers"],
        "paths": _clean(_patched(paths)),
        "components": {},
    }
    for section, name in _reached(kept["paths"], full["components"]):
        part = _clean(_patched(full["components"][section][name]))
        kept["components"].setdefault(section, {})[name] = part
    return (json.dumps(kept, indent=1, sort_keys=True, ensure_ascii=False) + "\n").encode()


def _reached(start: Any, components: Json) -> list[tuple[str, str]]:
    """Every component that the start refers to, directly or through others; patches may name new ones."""
    found: set[tuple[str, str]] = set()
    waiting = list(_references(start))
    while waiting:
        here = waiting.pop()
        if here not in found:
            found.add(here)
            waiting.extend(_references(_clean(_patched(components[here[0]][here[1]]))))
    return sorted(found)


def _references(node: Any) -> Iterator[tuple[str, str]]:
    if isinstance(node, dict):
        if isinstance(node.get("$ref"), str):
            _, _, section, name = node["$ref"].split("/")
            yield section, name
        for value in node.values():
            yield from _references(value)
    elif isinstance(node, list):
        for value in node:
            yield from _references(value)


def _patched(node: Any) -> Any:
    """The node with every patch of our version applied, inner parts first."""
    if isinstance(node, list):
        return [_patched(value) for value in node]
    if not isinstance(node, dict):
        return node
    changes = node.get("x-github-breaking-changes", ())
    result = {key: _patched(value) for key, value in node.items() if key != "x-github-breaking-changes"}
    before = copy.deepcopy(result)
    for change in changes:
        if change["version"] > API_VERSION:
            continue
        if isinstance(change["patch"], list):
            for order in change["patch"]:
                _carry_out(result, order)
        else:
            result = _merged(result, change["patch"], before)
    return result


def _merged(node: Any, patch: Any, before: Any) -> Any:
    """A JSON merge patch (RFC 7396), but lists of required names meet.

    Each patch gives the whole list without its own field, so a plain second patch would ask again for what the first one removed.
    """
    if not isinstance(patch, dict):
        return copy.deepcopy(patch)
    result = dict(node) if isinstance(node, dict) else {}
    for key, value in patch.items():
        if value is None:
            result.pop(key, None)
        elif key == "required" and isinstance(value, list) and isinstance(result.get(key), list):
            original = before.get(key, []) if isinstance(before, dict) else []
            still = [name for name in result[key] if name in value]
            result[key] = still + [name for name in value if name not in original and name not in still]
        else:
            inner = before.get(key) if isinstance(before, dict) else None
            result[key] = _merged(result.get(key), value, inner)
    return result


def _carry_out(node: Json, order: Json) -> None:
    """One order of a JSON patch (RFC 6902); GitHub uses add, remove and replace."""
    *parents, last = [part.replace("~1", "/").replace("~0", "~") for part in order["path"].split("/")[1:]]
    here: Any = node
    for part in parents:
        here = here[int(part)] if isinstance(here, list) else here[part]
    place: Any = int(last) if isinstance(here, list) else last
    match order["op"]:
        case "remove":
            del here[place]
        case "replace" | "add" if isinstance(here, dict):
            here[place] = copy.deepcopy(order["value"])
        case other:
            raise SystemExit(f"a patch asks for {other!r} at {order['path']}, which is not understood")


def _clean(node: Any, *, named: bool = False) -> Any:
    """The node without examples and extensions; in a map of names every key stays."""
    if isinstance(node, list):
        return [_clean(value) for value in node]
    if not isinstance(node, dict):
        return node
    return {
        key: _clean(value, named=not named and key in _NAMED and isinstance(value, dict))
        for key, value in node.items()
        if named or not (key in {"example", "examples"} or _dropped(key))
    }


def _dropped(key: str) -> bool:
    return key.startswith("x-") and key not in _KEPT_EXTENSIONS


if __name__ == "__main__":
    sys.exit(main(SOURCE, TARGET, slim, "GitHub's REST description, only what we can use"))
