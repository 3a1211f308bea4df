"""Rules that refuse a push, as rulesets of GitHub have them: what a rule says, and how GitHub's REST shows it.

The words are GitHub's, as public logs quote them; those for paths, extensions and sizes are not quoted anywhere that was found, so
their form is a guess. What matters to us is which sentence begins with `- `.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Any

SIGNATURES = "required_signatures"
BRANCH_NAME = "branch_name_pattern"
MESSAGE = "commit_message_pattern"
PULL_REQUEST = "pull_request"
CREATION = "creation"
PATH = "file_path_restriction"
EXTENSION = "file_extension_restriction"
SIZE = "max_file_size"

_SENTENCES = {
    SIGNATURES: "Commits must have verified signatures.",
    BRANCH_NAME: "Branch name must match a given regex pattern: {pattern}",
    MESSAGE: "Commit message must match a given regex pattern: {pattern}",
    PULL_REQUEST: "Changes must be made through a pull request.",
    CREATION: "Cannot create ref due to creations being restricted.",
    PATH: "File path is restricted: {pattern}",
    EXTENSION: "File extension is restricted: {pattern}",
    SIZE: "File size exceeds the limit of {pattern} MB.",
}
# How the pattern is called in REST, and whether it stands in a list there.
_PARAMETERS = {PATH: "restricted_file_paths", EXTENSION: "restricted_file_extensions", SIZE: "max_file_size"}


@dataclass(frozen=True, slots=True)
class PushRule:
    """One rule. `pattern` is a regular expression of git's for names and messages, a glob for paths, an extension, or megabytes.

    `branches` is a glob: where the rule holds.
    """

    type: str
    pattern: str = ""
    branches: str = "*"

    @property
    def sentence(self) -> str:
        return _SENTENCES[self.type].format(pattern=self.pattern)

    def shown(self, repository: str) -> dict[str, Any]:
        """As `GET /repos/{owner}/{repo}/rules/branches/{branch}` lists it."""
        told: dict[str, Any] = {
            "type": self.type,
            "ruleset_source_type": "Repository",
            "ruleset_source": repository,
            "ruleset_id": 42,
        }
        if self.type in (BRANCH_NAME, MESSAGE):
            told["parameters"] = {"operator": "regex", "pattern": self.pattern, "negate": False, "name": ""}
        elif self.type == SIZE:
            told["parameters"] = {"max_file_size": int(self.pattern)}
        elif self.type in _PARAMETERS:
            told["parameters"] = {_PARAMETERS[self.type]: [self.pattern]}
        elif self.type == PULL_REQUEST:
            told["parameters"] = {
                "dismiss_stale_reviews_on_push": False,
                "require_code_owner_review": False,
                "require_last_push_approval": False,
                "required_approving_review_count": 0,
                "required_review_thread_resolution": False,
            }
        return told


@dataclass(slots=True)
class PushRules:
    """The rules in force. None holds for the default branch, where our own merges land."""

    rules: list[PushRule] = field(default_factory=list)

    def demand(self, *rules: PushRule) -> None:
        self.rules += rules

    def lift(self) -> None:
        self.rules.clear()

    def on(self, branch: str) -> Iterable[PushRule]:
        return [rule for rule in self.rules if fnmatchcase(branch, rule.branches)]

    def environment(self) -> Mapping[str, str]:
        """For the hook that judges a push: one rule a line, its type, its branches, its pattern and its sentence."""
        lines = (
            "\t".join((rule.type, rule.branches, rule.pattern or "-", rule.sentence)) for rule in self.rules
        )
        return {"CF_RULES": "\n".join(lines)}


HOOK = r"""#!/bin/sh
# $1 is the ref, $2 what it was, $3 what it becomes.
if [ -n "$CF_PROTECTED" ] && [ "$1" = "$CF_PROTECTED" ]; then
  echo "GH006: Protected branch update failed for $1." >&2
  exit 1
fi
branch=${1#refs/heads/}
# Whether the token may write workflow files: the server says so by the environment, else the setting `cf.workflows` does. A token
# without `workflows` pushes no branch whose workflow files differ from those of the default branch as they are at that moment.
may="${CF_WORKFLOWS:-$(git config cf.workflows)}"
case "$3" in *[!0]*) ;; *) exit 0 ;; esac
if [ "${may:-write}" != write ] && git rev-parse --quiet --verify HEAD >/dev/null; then
  file="$(git diff --name-only --no-renames HEAD "$3" -- .github/workflows | head -n 1)"
  if [ -n "$file" ]; then
    echo "refusing to allow a GitHub App to create or update workflow \`$file\` without \`workflows\` permission" >&2
    exit 1
  fi
fi
zero=0000000000000000000000000000000000000000
if [ -z "$CF_RULES" ] || [ "$3" = "$zero" ]; then exit 0; fi
base=$2
if [ "$2" = "$zero" ]; then
  base=$(git merge-base HEAD "$3" 2>/dev/null || git hash-object -t tree /dev/null)
fi
new=$3
unsigned() {
  git rev-list "$base..$new" | while read -r sha; do
    git cat-file commit "$sha" | grep -q '^gpgsig' || echo "$sha"
  done
}
said_otherwise() {
  git rev-list "$base..$new" | while read -r sha; do
    git log -1 --format=%B "$sha" | grep -Eq -e "$1" || echo "$sha"
  done
}
changed() { git diff --name-only --diff-filter=d "$base" "$new"; }
like() { changed | while read -r path; do case "$path" in $1) echo "$path" ;; esac; done; }
larger() {
  changed | while read -r path; do
    [ "$(git cat-file -s "$new:$path")" -le "$(($1 * 1048576))" ] || echo "$path"
  done
}
broken=""
tab=$(printf '\t')
while IFS="$tab" read -r kind where pattern sentence; do
  case "$branch" in $where) ;; *) continue ;; esac
  bad=""
  case "$kind" in
    required_signatures) bad=$(unsigned) ;;
    branch_name_pattern) printf '%s\n' "$branch" | grep -Eq -e "$pattern" || bad=$branch ;;
    commit_message_pattern) bad=$(said_otherwise "$pattern") ;;
    pull_request) bad=$new ;;
    creation) [ "$2" != "$zero" ] || bad=$branch ;;
    file_path_restriction) bad=$(like "$pattern") ;;
    file_extension_restriction) bad=$(like "*$pattern") ;;
    max_file_size) bad=$(larger "$pattern") ;;
  esac
  if [ -n "$bad" ]; then broken="$broken- $sentence
  Found $(printf '%s\n' "$bad" | wc -l | tr -d ' ') violation:

$(printf '%s\n' "$bad" | sed 's/^/  /')

"; fi
done <<RULES
$CF_RULES
RULES
if [ -n "$broken" ]; then
  printf 'error: GH013: Repository rule violations found for %s.\n' "$1" >&2
  printf 'Review all repository rules at %s\n\n%s' "$CF_RULES_PAGE" "$broken" >&2
  exit 1
fi
"""
