"""The GraphQL documents that we read with. Text comes in by variables only; what varies in a document is aliases and numbers.

Sub-issues are in GitHub's schema since 2024, `blockedBy` and `issueDependenciesSummary` since 2025; servers that do not know one of
them get `EDGES` left out.
Body editors are asked for a hundred at a time because the order of `userContentEdits` is not documented.
"""

from collections.abc import Sequence

from bot.model.issue import FIRST_COMMENTS

_WHO = """
fragment Who on Actor {
  __typename
  login
  ... on User { databaseId }
  ... on Bot { databaseId }
  ... on Mannequin { databaseId }
  ... on Organization { databaseId }
}"""

_WORDS = """
fragment Words on IssueComment {
  id fullDatabaseId body createdAt updatedAt
  author { ...Who }
  issue { number }
  pullRequest { number }
}"""

_TASK = """
fragment Task on Issue {
  __typename
  id number title body state stateReason(enableDuplicate: true) locked
  createdAt updatedAt closedAt lastEditedAt
  author { ...Who }
  editor { ...Who }
  labels(first: 100) { nodes { name } }
  milestone { title }
  timelineItems(
    last: 40
    itemTypes: [LABELED_EVENT, UNLABELED_EVENT, CLOSED_EVENT, REOPENED_EVENT, RENAMED_TITLE_EVENT]
  ) {
    nodes {
      __typename
      ... on LabeledEvent { createdAt actor { ...Who } label { name } }
      ... on UnlabeledEvent { createdAt actor { ...Who } label { name } }
      ... on ClosedEvent { createdAt actor { ...Who } closer { __typename } }
      ... on ReopenedEvent { createdAt actor { ...Who } }
      ... on RenamedTitleEvent { createdAt actor { ...Who } }
    }
  }
  userContentEdits(first: 100) { nodes { editedAt editor { ...Who } } }
  comments(first: %FIRST%) { nodes { ...Words } }%MORE%
}"""

_PULLS = """
  closedByPullRequestsReferences(first: 3, includeClosedPrs: true) {
    nodes {
      number state isDraft merged mergeable headRefName headRefOid url
      author { ...Who }
      repository { nameWithOwner }
    }
  }"""

EDGES = """
  blockedBy(first: 50) { nodes { number state stateReason(enableDuplicate: true) repository { nameWithOwner } } }
  issueDependenciesSummary { blockedBy }
  subIssues(first: 100) { nodes { number state stateReason(enableDuplicate: true) repository { nameWithOwner } } }
  subIssuesSummary { total completed }"""

# GitHub counts what a list could hold: reviews of three pull requests cost three points per hundred issues, so only open issues
# are asked for them, and an own pull request that is not among the three is looked up by its number.
_REVIEWED = """
fragment Reviewed on Issue {
  closedByPullRequestsReferences(first: 3, includeClosedPrs: true) {
    nodes { mergeStateStatus latestOpinionatedReviews(first: 10, writersOnly: true) { nodes { state submittedAt } } }
  }
}"""

_PULL = """
fragment PullAsIssue on PullRequest {
  __typename
  id fullDatabaseId number title body pullState: state locked createdAt updatedAt closedAt
  author { ...Who }
  labels(first: 100) { nodes { name } }
}"""

_FACTS = """
    id url nameWithOwner isPrivate isArchived hasIssuesEnabled
    defaultBranchRef { name }
    config: object(expression: $config) { ... on Blob { oid text isBinary isTruncated } }"""

# A label of ours on a pull request starts nothing; a few are read so that people can be told.
_LABELLED_PULLS = (
    "    pulls: pullRequests(first: 10, states: [OPEN], labels: $open_labels) { nodes { ...PullAsIssue } }"
)

_BY_CREATION = "orderBy: {field: CREATED_AT, direction: ASC}"
_ONE = "{ ...Task ...Reviewed ...PullAsIssue }"


MOST_NUMBER = 2**31 - 1
"""GraphQL's integers have 32 bits."""


_AT_WORK = """
fragment AtWork on WorkflowRun {
  id
  checkSuite { checkRuns(first: 100) { pageInfo { hasNextPage } nodes { name status conclusion startedAt completedAt } } }
}"""

MOST_WATCHED = 50
"""Runs whose jobs are read with a view: each costs what one list does, and nodes take at most a hundred ids."""


def view(
    lists: Sequence[str],
    numbers: Sequence[int],
    labels: int,
    *,
    facts: bool,
    since: bool,
    edges: bool,
    watched: bool = False,
) -> str:
    """One page of each of the `lists` (`open`, `own`, `closed`, `done`), the issues numbered, and with `facts` the rest of
    a view, pull requests that carry a label of the `open` list included.

    Variables: `owner`, `name`; with `facts` the `config` (as `HEAD:path`);
    per list its `labels`, `after` and `size` by prefix (`open_size`); `since` for `done`;
    `label_<i>` for each of the `labels`; with `watched` the `runs` by node id.
    """
    asked = [_list(name, since=since) for name in lists]
    if facts:
        asked.append(_LABELLED_PULLS)
    asked += [f"    n{number}: issueOrPullRequest(number: {int(number)}) {_ONE}" for number in numbers]
    asked += [f"    label_{i}: label(name: $label_{i}) {{ id name }}" for i in range(labels)]
    declared = ["$owner: String!", "$name: String!"]
    if facts:
        declared.append("$config: String!")
    for name in lists:
        declared += [f"${name}_labels: [String!]", f"${name}_size: Int!", f"${name}_after: String"]
    if since and "done" in lists:
        declared.append("$since: DateTime")
    declared += [f"$label_{i}: String!" for i in range(labels)]
    viewer = "  viewer { login databaseId }\n" if facts else ""
    used = [_WHO]
    if watched:
        declared.append("$runs: [ID!]!")
        viewer += "  watched: nodes(ids: $runs) { ...AtWork }\n"
        used.append(_AT_WORK)
    if lists or numbers:
        used += [_WORDS, task(edges=edges)] if numbers or {*lists} - {"own"} else [_WORDS]
    if "own" in lists:
        used.append(_OWN)
    if numbers or "open" in lists:
        used.append(_REVIEWED)
    if numbers or facts:
        used.append(_PULL)
    return (
        f"query View({', '.join(declared)}) {{\n{viewer}  repository(owner: $owner, name: $name) {{"
        f"{_FACTS if facts else ''}\n" + "\n".join(asked) + "\n  }\n}" + "".join(used)
    )


def task(*, edges: bool) -> str:
    """The fragment that reads one issue."""
    return _fragment(_PULLS + (EDGES if edges else ""))


def _fragment(more: str) -> str:
    return _TASK.replace("%MORE%", more).replace("%FIRST%", str(FIRST_COMMENTS))


# A dashboard or a batch needs nothing and is closed by no pull request: what is not asked for costs nothing.
_OWN = _fragment("").replace("fragment Task", "fragment Own")


def _list(name: str, *, since: bool) -> str:
    states = "OPEN" if name in ("open", "own") else "CLOSED"
    newer = ", filterBy: {since: $since}" if name == "done" and since else ""
    fields = {"open": "...Task ...Reviewed", "own": "...Own"}.get(name, "...Task")
    return (
        f"    {name}: issues(first: ${name}_size, after: ${name}_after, states: [{states}], labels: ${name}_labels"
        f"{newer}, {_BY_CREATION}) {{ pageInfo {{ hasNextPage endCursor }} nodes {{ {fields} }} }}"
    )


COMMENTS = (
    "query Comments($ids: [ID!]!) { nodes(ids: $ids) { __typename ...Words } }"  # at most 100 ids
    + _WHO
    + _WORDS
)


MADE = (
    "query Made($owner: String!, $name: String!, $ids: [ID!]!, $issues: Int!) {"
    " viewer { login databaseId }"
    " nodes(ids: $ids) { __typename"
    " ... on Issue { id comments(last: 50) { nodes { ...Words } } }"
    " ... on PullRequest { id comments(last: 50) { nodes { ...Words } } } }"
    " repository(owner: $owner, name: $name) {"
    " issues(first: $issues, orderBy: {field: CREATED_AT, direction: DESC}) {"
    " nodes { id fullDatabaseId number title body createdAt author { ...Who } } } } }" + _WHO + _WORDS
)
"""The newest comments of at most fifty issues or pull requests, and the newest issues: what has just been made."""


def needs(repositories: Sequence[Sequence[int]]) -> str:
    """The state of numbered issues or pull requests in several repositories; aliases `r<i>` and `n<number>`."""
    declared = ", ".join(f"$owner{i}: String!, $name{i}: String!" for i in range(len(repositories)))
    fields = (
        "{ __typename ... on Issue { state stateReason(enableDuplicate: true) }"
        " ... on PullRequest { pullState: state merged } }"
    )
    parts = []
    for i, numbers in enumerate(repositories):
        asked = "\n".join(
            f"    n{number}: issueOrPullRequest(number: {int(number)}) {fields}" for number in numbers
        )
        parts.append(f"  r{i}: repository(owner: $owner{i}, name: $name{i}) {{\n{asked}\n  }}")
    return f"query Needs({declared}) {{\n" + "\n".join(parts) + "\n}"


def labels(count: int) -> str:
    """The ids of labels by name, and the repository's own; variables `label_<i>`."""
    declared = "".join(f", $label_{i}: String!" for i in range(count))
    asked = "\n".join(f"    label_{i}: label(name: $label_{i}) {{ id name }}" for i in range(count))
    return (
        f"query Labels($owner: String!, $name: String!{declared}) {{\n"
        f"  repository(owner: $owner, name: $name) {{\n    id\n{asked}\n  }}\n}}"
    )


MILESTONES = (
    "query Milestones($owner: String!, $name: String!, $title: String!) { repository(owner: $owner, name: $name) {"
    " milestones(first: 50, query: $title) { nodes { number title } } } }"
)

IN_MILESTONE = (
    "query InMilestone($owner: String!, $name: String!, $number: Int!, $after: String) {"
    " repository(owner: $owner, name: $name) { milestone(number: $number) {"
    " issues(first: 100, after: $after, states: [OPEN]) { pageInfo { hasNextPage endCursor } nodes { number } } } } }"
)
