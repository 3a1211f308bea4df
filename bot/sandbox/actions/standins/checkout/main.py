"""What the sandbox runs in place of `actions/checkout`."""

import base64
import os
import shutil
import subprocess
import sys
from pathlib import Path


def main() -> int:
    if os.environ["IN_PERSIST_CREDENTIALS"].lower() != "false":
        print("::error::The sandbox's checkout keeps no credentials: say `persist-credentials: false`.")
        return 1
    folder = Path(os.environ["GITHUB_WORKSPACE"], os.environ["IN_PATH"])
    _empty(folder)
    url = f"{os.environ['GITHUB_SERVER_URL']}/{os.environ['IN_REPOSITORY']}"
    wanted = os.environ["IN_REF"] or os.environ["GITHUB_SHA"]
    tags = [] if os.environ["IN_FETCH_TAGS"].lower() == "true" else ["--no-tags"]
    depth = int(os.environ["IN_FETCH_DEPTH"])

    _git(folder, "init", "--quiet", "--initial-branch", "main")
    _git(folder, "remote", "add", "origin", url)
    if depth:
        _git(folder, "fetch", "--quiet", *tags, "--depth", str(depth), "origin", wanted)
        commit = _git(folder, "rev-parse", "FETCH_HEAD")
    else:
        _git(folder, "fetch", "--quiet", *tags, "origin", "+refs/heads/*:refs/remotes/origin/*")
        commit = _commit(folder, wanted)
    branch = wanted.removeprefix("refs/heads/")
    if _is_branch(folder, branch, depth):
        _git(folder, "update-ref", f"refs/remotes/origin/{branch}", commit)
        _git(folder, "checkout", "--quiet", "--force", "-B", branch, f"refs/remotes/origin/{branch}")
    else:
        _git(folder, "checkout", "--quiet", "--force", "--detach", commit)
    with Path(os.environ["GITHUB_OUTPUT"]).open("a", encoding="utf-8") as outputs:
        outputs.write(f"ref={wanted}\ncommit={commit}\n")
    print(f"{wanted} is at {commit}")
    return 0


def _empty(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for entry in folder.iterdir():
        if entry.is_dir() and not entry.is_symlink():
            shutil.rmtree(entry)
        else:
            entry.unlink()


def _commit(folder: Path, wanted: str) -> str:
    for candidate in (f"refs/remotes/origin/{wanted.removeprefix('refs/heads/')}", wanted):
        found = _try(folder, "rev-parse", "--verify", "--quiet", f"{candidate}^{{commit}}")
        if found:
            return found
    # A commit that no branch holds any more.
    _git(folder, "fetch", "--quiet", "--no-tags", "origin", wanted)
    return _git(folder, "rev-parse", "FETCH_HEAD")


def _is_branch(folder: Path, name: str, depth: int) -> bool:
    """Whether the name is a branch of the repository: after a full fetch we have them all, else the server is asked."""
    if depth:
        return bool(_try(folder, "ls-remote", "--exit-code", "origin", f"refs/heads/{name}"))
    return bool(_try(folder, "rev-parse", "--verify", "--quiet", f"refs/remotes/origin/{name}^{{commit}}"))


def _environment() -> dict[str, str]:
    """The token travels in git's configuration by environment: it is never written to a file or a command line."""
    basic = base64.b64encode(f"x-access-token:{os.environ['IN_TOKEN']}".encode()).decode()
    return os.environ | {
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_CONFIG_COUNT": "1",
        "GIT_CONFIG_KEY_0": "http.extraHeader",
        "GIT_CONFIG_VALUE_0": f"Authorization: Basic {basic}",
    }


def _git(folder: Path, *arguments: str) -> str:
    done = subprocess.run(
        ["git", *arguments], cwd=folder, env=_environment(), capture_output=True, text=True, check=False
    )
    if done.returncode:
        print(f"::error::git {arguments[0]}: {done.stderr.strip()}")
        sys.exit(1)
    return done.stdout.strip()


def _try(folder: Path, *arguments: str) -> str:
    done = subprocess.run(
        ["git", *arguments], cwd=folder, env=_environment(), capture_output=True, text=True, check=False
    )
    return done.stdout.strip() if done.returncode == 0 else ""


if __name__ == "__main__":
    sys.exit(main())
