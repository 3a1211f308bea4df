"""The REST half of the client, unchanged, against an emulator that nobody here wrote (npm `emulate`, pinned in tests/node).

It has no GraphQL, no workflows and no list of all comments, takes any token and a second pull request for a branch, and answers a
moved head with 422 where GitHub says 409, and ends an App's token at a time with milliseconds, which githubkit's App login cannot
read and ours does not look at: what of the client's REST is left is asked here, and of Actions only what is missing.
"""

import base64
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa

from bot.github.app import PUBLISHING
from bot.github.client import Client, connect
from bot.github.credential import Credential
from bot.github.session import Session
from bot.github.wire import GithubkitWire
from bot.model.errors import NotFound, WorkflowMissing

pytestmark = [pytest.mark.contract, pytest.mark.e2e]
EMULATE = Path(__file__).parents[1] / "node" / "node_modules" / ".bin" / "emulate"
SEED = """\
tokens:
  token-of-octocat: {login: octocat, scopes: [repo, user]}
github:
  users: [{login: octocat, name: Octocat, email: octocat@example.com}, {login: passer-by, name: P, email: p@example.com}]
  repos: [{owner: octocat, name: hello-world, auto_init: true}]
  apps:
    - app_id: 12345
      slug: conductor
      name: Conductor
      private_key: |
        %KEY%
      permissions: {contents: write, issues: write, pull_requests: write, actions: write, metadata: read}
      installations: [{installation_id: 100, account: octocat, repository_selection: all}]
"""


@pytest.fixture(scope="module")
def key() -> str:
    """An App's private key."""
    made = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    kind, form = serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8
    return made.private_bytes(kind, form, serialization.NoEncryption()).decode()


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory, key: str) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("emulate")
    seed = SEED.replace("%KEY%", key.strip().replace("\n", "\n        "))
    (folder / "seed.yaml").write_text(seed, encoding="utf-8")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [str(EMULATE), "start", "--service", "github", "--port", str(port), "--seed", "seed.yaml"]
    with subprocess.Popen(
        command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as process:
        try:
            assert process.stdout is not None
            said = ""
            for line in process.stdout:
                said += line
                if f":{port}" in line:
                    break
            else:
                pytest.fail(f"emulate did not start: {said}")
            yield f"http://127.0.0.1:{port}"
        finally:
            process.terminate()


@pytest.fixture
def wire(address: str) -> Iterator[httpx.Client]:
    headers = {"authorization": "Bearer token-of-octocat"}
    transport = httpx.HTTPTransport(retries=5)  # the line that names the port comes just before it listens
    with httpx.Client(base_url=address, headers=headers, transport=transport) as client:
        yield client


@pytest.fixture
def github(address: str, wire: httpx.Client) -> Iterator[Client]:
    assert wire.get("/repos/octocat/hello-world").status_code == 200
    session = Session(
        GithubkitWire(Credential("token-of-octocat"), address),
        "octocat/hello-world",
        f"{address}/graphql",
        sleep=lambda _seconds: None,
    )
    with Client(session) as client:
        yield client


def an_issue(wire: httpx.Client, title: str) -> int:
    return int(wire.post("/repos/octocat/hello-world/issues", json={"title": title}).json()["number"])


def a_branch(wire: httpx.Client, name: str, path: str) -> str:
    """A branch with one new file; its commit."""
    here = "/repos/octocat/hello-world"
    main = wire.get(f"{here}/git/ref/heads/main").json()["object"]["sha"]
    wire.post(f"{here}/git/refs", json={"ref": f"refs/heads/{name}", "sha": main}).raise_for_status()
    content = base64.b64encode(path.encode()).decode()
    body = {"message": "work", "content": content, "branch": name}
    wire.put(f"{here}/contents/{path}", json=body).raise_for_status()
    return str(wire.get(f"{here}/git/ref/heads/{name}").json()["object"]["sha"])


def test_a_comment_is_read(wire, github):
    number = an_issue(wire, "commented")
    made = wire.post(f"/repos/octocat/hello-world/issues/{number}/comments", json={"body": "hello"}).json()

    comment = github.comment(made["id"])

    assert (comment.body, comment.issue, comment.author.login, comment.on_pull) == (
        "hello",
        number,
        "octocat",
        False,
    )
    assert comment.node_id == made["node_id"]


def test_what_is_not_there_is_not_found(github):
    with pytest.raises(NotFound):
        github.comment(99_999_999)
    with pytest.raises(WorkflowMissing):
        github.runs("cf-worker.yml")
    with pytest.raises(WorkflowMissing):
        github.dispatch("cf-worker.yml", "main", {"units": "[]"})
    with pytest.raises(NotFound):
        github.run(1)


def test_permission_of_the_owner_and_of_nobody(github):
    assert github.permission("octocat") == "admin"
    assert github.permission("no-such-account") == "none"


def test_a_pull_request_from_branch_to_merge(wire, github):
    head = a_branch(wire, "cf/1", "one.txt")
    assert github.pull_by_branch("cf/1") is None

    opened = github.open_pull("cf/1", "main", "Work", "Closes #1", draft=False)

    assert (opened.head_sha, opened.head_ref, opened.is_open, opened.merged) == (head, "cf/1", True, False)
    found = github.pull_by_branch("cf/1")
    assert found is not None
    assert found.number == opened.number
    assert github.update_pull(opened.number, "Better", "Closes #1").number == opened.number
    assert wire.get(f"/repos/octocat/hello-world/pulls/{opened.number}").json()["title"] == "Better"
    assert github.merge_pull(opened.number, head) == ""
    assert github.pull_by_branch("cf/1") is None


def test_a_blob_is_read_by_its_id(wire, github):
    a_branch(wire, "blob", "text.txt")
    sha = wire.get("/repos/octocat/hello-world/contents/text.txt", params={"ref": "blob"}).json()["sha"]

    assert github.file(sha) == "text.txt"


def test_an_app_gets_its_token_and_publishes_by_it(address, wire, key):
    head = a_branch(wire, "cf/app", "app.txt")
    environ = {
        "GITHUB_TOKEN": "unused",
        "GITHUB_REPOSITORY": "octocat/hello-world",
        "GITHUB_API_URL": address,
        "CF_APP_ID": "12345",
        "CF_APP_PRIVATE_KEY": key,
    }

    with connect(environ, PUBLISHING) as github:
        pull = github.open_pull("cf/app", "main", "By the App", "text", draft=False)

    assert (pull.author.login, pull.head_sha) == ("conductor[bot]", head)
    (minted,) = wire.get("/_emulate/installation-tokens").json()["installation_tokens"]
    assert minted["permissions"] == PUBLISHING
