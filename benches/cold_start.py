"""How long a command takes from nothing, against what importing githubkit alone takes, in one run.

Bound: `cf --help`, and each command that asks nothing of GitHub, below a third of `import githubkit`.
"""

import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROUNDS = 7
LIMIT = 1 / 3
QUICK = (
    ["--help"],
    ["--version"],
    ["validate", "cf.yml"],
    ["init", "--help"],
    ["conduct", "--help"],
    ["work", "--help"],
    ["verify", "--help"],
    ["publish", "--help"],
    ["wake", "--help"],
    ["batch", "--help"],
    ["sandbox", "--help"],
)


def main() -> int:
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "cf.yml").write_text("version: 1\n", encoding="utf-8")
        measured = {
            "import githubkit": [sys.executable, "-c", "import githubkit"],
            **{f"cf {' '.join(words)}": [sys.executable, "-P", "-m", "bot", *words] for words in QUICK},
        }
        best = {name: float("inf") for name in measured}
        for _ in range(ROUNDS):  # interleaved, so that a slow moment hits all alike
            for name, command in measured.items():
                best[name] = min(best[name], seconds(command, folder))
    whole = best.pop("import githubkit")
    print(f"import githubkit: {whole * 1000:.0f} ms (best of {ROUNDS})")
    slow = 0
    for name, took in best.items():
        ratio = took / whole
        slow += ratio > LIMIT
        print(f"{name:24} {took * 1000:5.0f} ms  {ratio:.2f} of it{'  TOO SLOW' if ratio > LIMIT else ''}")
    return 1 if slow else 0


def seconds(command: list[str], folder: str) -> float:
    begin = time.perf_counter()
    subprocess.run(command, cwd=folder, check=True, capture_output=True)
    return time.perf_counter() - begin


if __name__ == "__main__":
    sys.exit(main())
