"""What the worker itself costs in each job, beside set-up, agent and gates.

Bound: five seconds for each of the three jobs, from the start of the interpreter, on a repository of a thousand files. The
make-believe GitHub answers in no time, so what a network adds is not in it.
"""

import subprocess
import sys
import tempfile
import time
from pathlib import Path

from tests.worker.bench import Bench, config_text

ROUNDS = 3
LIMIT = 5.0
_GATES = "gates: [{name: tests, run: 'true'}]\nsetup: ['true']"


def main() -> int:
    best: dict[str, float] = {}
    for number in range(ROUNDS):
        for job, seconds in measured(f"round {number}").items():
            best[job] = min(best.get(job, seconds), seconds)
    for job, seconds in best.items():
        print(f"{job:<10} {seconds:5.2f} s")
    print(f"bound: {LIMIT:.0f} s for each job")
    return 0 if max(best.values()) < LIMIT else 1


def measured(name: str) -> dict[str, float]:
    """Seconds by job, the start of the program included."""
    files = {f"src/part{n % 40}/file{n}.py": f"x = {n}\n" * 40 for n in range(1_000)}
    start = starting()
    with tempfile.TemporaryDirectory(prefix=name.replace(" ", "-")) as folder:
        bench = Bench(Path(folder), config=config_text("edit", more=_GATES), files=files)
        worked = bench.work()
        seconds = {"work": start + worked.report.statistics["worker_seconds"]}
        began = time.perf_counter()
        result = bench.verify()
        gates = sum(gate.seconds for gate in result.gates)
        seconds["verify"] = start + time.perf_counter() - began - gates
        began = time.perf_counter()
        bench.publish()
        seconds["publish"] = start + time.perf_counter() - began
    return seconds


def starting() -> float:
    """Until a job's command has everything imported that it needs."""
    modules = "bot.cli, bot.github.client, bot.worker.agent.agent_job, bot.worker.verify, bot.worker.publish.publish"
    began = time.perf_counter()
    subprocess.run([sys.executable, "-P", "-c", f"import {modules}"], check=True)
    return time.perf_counter() - began


if __name__ == "__main__":
    sys.exit(main())
