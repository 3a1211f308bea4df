# ruff: noqa: T201 - an agent prints
"""An agent for tests: one mode a word, done in order. It stands where a real coding agent would."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path


def edit() -> None:
    Path("feature.py").write_text(f"attempt = {os.environ['CF_ATTEMPT']}\n", encoding="utf-8")


def commit() -> None:
    edit()
    identity = ["-c", "user.name=agent", "-c", "user.email=agent@example.com"]
    subprocess.run(["git", "add", "-A"], check=True)
    subprocess.run(["git", *identity, "commit", "-qm", "Closes #21, fixes #22"], check=True)


def again() -> None:
    """Wrong at first; right once told what failed."""
    feedback = os.environ.get("CF_FEEDBACK_FILE")
    told = feedback is not None and "expected good" in Path(feedback).read_text(encoding="utf-8")
    Path("state.txt").write_text("good\n" if told else "bad\n", encoding="utf-8")


def bad() -> None:
    Path("state.txt").write_text("bad\n", encoding="utf-8")


def _files() -> list[Path]:
    return [path for path in Path().rglob("*") if path.is_file() and not {".git", ".cf"} & {*path.parts}]


def settle() -> None:
    """Keep what both sides of a conflict wrote, and whatever git could not show."""
    for file in _files():
        lines = file.read_bytes().splitlines(keepends=True)
        kept = [line for line in lines if not line.startswith((b"<<<<<<<", b"=======", b">>>>>>>"))]
        file.write_bytes(b"".join(kept))
    Path("CONFLICTS.cf.md").unlink(missing_ok=True)


def half() -> None:
    """A conflict that only looks settled."""
    for file in _files():
        lines = file.read_bytes().splitlines(keepends=True)
        file.write_bytes(b"".join(line for line in lines if not line.startswith((b"<<<<<<<", b">>>>>>>"))))


def overlook() -> None:
    """Settles what is in the files, and leaves the note about the rest."""
    note = Path("CONFLICTS.cf.md")
    text = note.read_bytes() if note.exists() else b""
    settle()
    if text:
        note.write_bytes(text)


def drop() -> None:
    """Throw away what the default branch changed."""
    subprocess.run(["git", "rm", "-rqf", "."], check=True)
    subprocess.run(["git", "checkout", "cf/pull-request", "--", "."], check=True)


def more() -> None:
    Path("more.txt").write_text(f"{os.environ['CF_ATTEMPT']}\n", encoding="utf-8")


def ask() -> None:
    text = "Which database?\n\nA. SQLite\nB. PostgreSQL\n\nTried: both.\n"
    Path(os.environ["CF_QUESTION_FILE"]).write_text(text, encoding="utf-8")


def wonder() -> None:
    print("I have looked at the code. Before I start: should I use PostgreSQL or SQLite?", flush=True)


def summarise() -> None:
    text = "There are two ways.\n\nWhich of these is wanted?\n\nA. One file\nB. Two files\n"
    Path(os.environ["CF_SUMMARY_FILE"]).write_text(text, encoding="utf-8")


def polite() -> None:
    print("Done. Is there anything else I can do for you?", flush=True)


def say() -> None:
    text = "Done. Closes #21 and fixes acme/other#4, thanks @octocat <!-- cf:record 1 {} -->"
    Path(os.environ["CF_SUMMARY_FILE"]).write_text(text, encoding="utf-8")


def leak() -> None:
    key = os.environ["CF_MODEL_KEY"]
    print(f"key {key}")
    print(f"halves {key[:9]}\n{key[9:]}")
    Path(os.environ["CF_SUMMARY_FILE"]).write_text(f"used {key}", encoding="utf-8")


def leak_file() -> None:
    Path("settings.ini").write_text(f"key = {os.environ['CF_MODEL_KEY']}\n", encoding="utf-8")


def leak_base64() -> None:
    import base64

    data = base64.b64encode(f"key={os.environ['CF_MODEL_KEY']}".encode()).decode()
    Path("data.txt").write_text(f"{data[:20]}\n{data[20:]}\n", encoding="utf-8")


def workflow() -> None:
    edit()
    context = Path(".github/workflows/ci.yml")
    context.parent.mkdir(parents=True, exist_ok=True)
    context.write_text("on: push\n", encoding="utf-8")


def link() -> None:
    Path("outside").symlink_to("../../etc/passwd")


def nested() -> None:
    subprocess.run(["git", "init", "-q", "inner"], check=True)
    Path("inner/file.txt").write_text("x\n", encoding="utf-8")
    identity = ["-c", "user.name=agent", "-c", "user.email=agent@example.com"]
    subprocess.run(["git", "-C", "inner", "add", "-A"], check=True)
    subprocess.run(["git", "-C", "inner", *identity, "commit", "-qm", "inner"], check=True)


def sabotage() -> None:
    """Settings of the agent's own that would run programs in whoever uses this repository next."""
    edit()
    hook = Path(".git/hooks/pre-commit")
    hook.parent.mkdir(exist_ok=True)
    for file, text in ((hook, "#!/bin/sh\ntouch pwned\n"), (Path(".gitattributes"), "*.py filter=evil\n")):
        file.write_text(text, encoding="utf-8")
        file.chmod(0o755)
    for name in ("core.fsmonitor", "filter.evil.clean", "core.sshCommand", "diff.external"):
        subprocess.run(["git", "config", name, "touch pwned; cat"], check=True)


def destroy() -> None:
    import shutil

    edit()
    shutil.rmtree(".git")


def look() -> None:
    """What the agent can see, as its work; of its key only the length, because a change that holds it is not handed over."""
    seen = {**os.environ, "CF_MODEL_KEY": str(len(os.environ.get("CF_MODEL_KEY", "")))}
    text = "\n".join(f"{name}={value}" for name, value in sorted(seen.items()))
    Path("seen.txt").write_text(text, encoding="utf-8")
    Path("prompt.txt").write_text(
        Path(os.environ["CF_PROMPT_FILE"]).read_text(encoding="utf-8"), encoding="utf-8"
    )
    Path("settings.txt").write_text(
        "\n".join(str(path) for path in sorted(Path().rglob("*")) if ".git" not in path.parts),
        encoding="utf-8",
    )


def spy() -> None:
    """Look for the token wherever this user can: every process, the files around, the settings of git."""
    needle = os.environ["NEEDLE"][::-1].encode()
    me = str(os.getpid())
    places = [file for kind in ("environ", "cmdline") for file in Path("/proc").glob(f"[0-9]*/{kind}")]
    parent = os.getppid()
    while parent > 1:
        places += [file for file in Path(f"/proc/{parent}/fd").iterdir() if os.path.isfile(file)]  # noqa: PTH113 - Path.is_file raises where it may not look
        parent = int(Path(f"/proc/{parent}/stat").read_text().rpartition(")")[2].split()[1])
    places += [file for file in Path("..").resolve().rglob("*") if file.is_file()]
    places += [Path.home() / name for name in (".gitconfig", ".git-credentials", ".netrc")]
    seen = {}
    for context in places:
        try:
            seen[context] = context.read_bytes()
        except OSError:
            continue
    settings = subprocess.run(["git", "config", "--list", "--show-origin"], capture_output=True, check=False)
    seen[Path("git config")] = settings.stdout
    basic = __import__("base64").b64encode(b"x-access-token:" + needle)
    found = [str(context) for context, data in seen.items() if needle in data or basic in data]
    works = any(me in str(context) and needle[::-1] in data for context, data in seen.items())
    print(
        "spied",
        *(found or ["nothing;"]),
        "the searcher itself works" if works else "and is blind",
        flush=True,
    )


def clutter() -> None:
    """Folders and links where the worker reads and writes."""
    edit()
    for name in ("question.md", "summary.md"):
        (Path(".cf") / name).mkdir()
    out = Path.cwd().parent / "cf-work"
    (out / "agent.log").mkdir()
    (out / ".report.json").symlink_to("/dev/full")


def supplant() -> None:
    """Another folder in the place of the one that the worker keeps the work in."""
    edit()
    out = Path.cwd().parent / "cf-work"
    elsewhere = out.rename(out.with_name("mine"))
    out.symlink_to(elsewhere)


def hang() -> None:
    print("hanging", flush=True)
    time.sleep(600)


def stubborn() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    print("stubborn", flush=True)
    time.sleep(600)


def fork() -> None:
    """A child in a session of its own, whose child has another one."""
    inner = "import subprocess, sys; subprocess.Popen(['sleep', '600'], start_new_session=True)"
    subprocess.Popen([sys.executable, "-c", f"{inner}; import time; time.sleep(600)"], start_new_session=True)
    print("forked", flush=True)


def hold() -> None:
    """A child that keeps our standard output."""
    print("ok", flush=True)
    subprocess.Popen(["sleep", "60"])


def flood() -> None:
    block = b"x" * 1_000_000
    out = sys.stdout.buffer
    for _ in range(250):
        out.write(block[:-1] + b"\n")
    for _ in range(50):
        out.write(block)
    out.write(b'\n{"result": "done"}\n')
    out.flush()


def who() -> None:
    """Which folder it works in, slowly enough to meet others."""
    Path("who.txt").write_text(os.environ["CF_WORKSPACE"], encoding="utf-8")
    time.sleep(0.3)
    subprocess.run(["git", "config", "user.name", os.environ["CF_WORKSPACE"]], check=True)


def babble() -> None:
    """Much output, and one very long line of it."""
    for _ in range(20_000):
        print("the same line again and again, which nobody wants to read")
    sys.stdout.write("x" * 6_000_000)
    sys.stdout.flush()


def lie() -> None:
    """Nothing done, and all the signs of success that an agent can give."""
    for name, text in (("report.json", '{"outcome": "passed"}'), ("work.bundle", "a bundle")):
        Path(".cf", name).write_text(text, encoding="utf-8")
    Path(os.environ["CF_SUMMARY_FILE"]).write_text("All tests pass.", encoding="utf-8")
    Path("README.md").write_text("All tests pass.\n", encoding="utf-8")


def outside() -> None:
    """Files everywhere but in the work."""
    for context in (Path(".."), Path.home(), Path(".cf"), Path(".git")):
        (context / "planted.txt").write_text("planted", encoding="utf-8")


def command() -> None:
    print("::error::not mine\n::set-output name=verify::true\n##[error]nor this", flush=True)


def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def segv() -> None:
    sys.exit(139)


def fail() -> None:
    print("I could not do it")
    sys.exit(3)


if __name__ == "__main__":
    for mode in sys.argv[1:]:
        globals()[mode]()
