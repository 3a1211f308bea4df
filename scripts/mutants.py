"""How many small changes to the rules do the tests notice? `MUTANTS=90 SEED=1 make mutants`.

A sample of all small changes that could be made to the pure rooms, the same for the same seed, is tried: each alone, in a copy of
this folder, against the tests nearest to it, then those of the rooms, then the quick ones of the tick. A mutant that passes all of
them has survived: a test is missing, or the code says more than it needs.
"""

import argparse
import hashlib
import os
import queue
import resource
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path

from scripts.mutations import Mutant, mutants_of

# What a fresh sample reached, 94 %, less two points for chance. It only ever goes up.
RATCHET = 0.92
ROOT = Path(__file__).parent.parent
ROOMS = ("bot/model", "bot/notation", "bot/plan")
PYTEST = (
    *(sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", "--timeout", "60"),
    *("-m", "not e2e and not slow and not live and not story"),
)
EQUIVALENT = Path("scripts/equivalent_mutants.toml")
MEMORY = 4 << 30  # a mutant may fill a list for ever
NO_TESTS = 5  # pytest's word for it

Stages = Sequence[tuple[str, Sequence[str]]]


def stages_of(file: str) -> Stages:
    """The tests that may notice a change of this file, by a word for them, the likeliest first.

    Imports point down only, so the tests of the rooms below cannot.
    """
    path = Path(file)
    near = Path("tests", *path.parts[1:-1], f"test_{path.name}")
    place = next(number for number, room in enumerate(ROOMS) if path.is_relative_to(room))
    rooms = [f"tests/{Path(room).name}" for room in ROOMS[place:]]
    asked = [*([str(near)] if (ROOT / near).exists() else []), *rooms, "tests/conductor"]
    return [(tests, (*PYTEST, tests)) for tests in asked]


@dataclass(frozen=True)
class Suite:
    """A folder with what is changed in it, and the commands, one after the other, that ought to notice."""

    root: Path = ROOT
    rooms: Sequence[str] = ROOMS
    stages: Callable[[str], Stages] = stages_of
    patience: float = 900.0  # seconds for one command, on a machine that has other work, too
    ratchet: float = RATCHET

    def mutants(self) -> list[Mutant]:
        files = [file for room in self.rooms for file in sorted((self.root / room).rglob("*.py"))]
        return [
            mutant
            for file in files
            for mutant in mutants_of(file.read_text(encoding="utf-8"), file.relative_to(self.root).as_posix())
        ]

    def equivalent(self) -> set[tuple[str, str, str]]:
        """The names of the mutants that change nothing anybody could see."""
        file = self.root / EQUIVALENT
        listed = tomllib.loads(file.read_text(encoding="utf-8")) if file.exists() else {}
        return {(one["file"], one["text"], one["change"]) for one in listed.get("mutant", [])}

    def noticed(self, place: Path, file: str, *, changed: bool) -> tuple[str, str]:
        """The first tests that fail there, by their word, and what they said; empty if none do."""
        # A mutant's bytecode must never be taken for that of the file as it was.
        environment = os.environ | ({"PYTHONDONTWRITEBYTECODE": "1"} if changed else {})
        for name, command in self.stages(file):
            try:
                done = subprocess.run(
                    command,
                    cwd=place,
                    env=environment,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.STDOUT,
                    text=True,
                    errors="replace",
                    timeout=self.patience,
                    check=False,
                )
            except subprocess.TimeoutExpired:
                return f"{name}, too long", ""
            if done.returncode not in (0, NO_TESTS):
                return name, done.stdout
        return "", ""

    def tried(self, file: str, source: str, place: Path) -> str:
        """`noticed` with the mutant in place."""
        target = place / file
        before, stat = target.read_bytes(), target.stat()
        target.write_text(source, encoding="utf-8")
        os.utime(target, (stat.st_atime, stat.st_mtime + 10))  # so the bytecode that is there is not its own
        try:
            return self.noticed(place, file, changed=True)[0]
        finally:
            target.write_bytes(before)
            os.utime(target, (stat.st_atime, stat.st_mtime))


def drawn(mutants: Sequence[Mutant], count: int, seed: int) -> list[Mutant]:
    """A sample that changes elsewhere do not move: each mutant's place in it comes from its own name."""

    def lot(mutant: Mutant) -> bytes:
        return hashlib.sha256(repr((seed, *mutant.name, mutant.number)).encode()).digest()

    return sorted(mutants, key=lot)[:count]


def run(suite: Suite, sample: Sequence[Mutant], jobs: int) -> list[Mutant]:
    """The mutants that survived."""
    survivors: list[Mutant] = []
    with tempfile.TemporaryDirectory(prefix="mutants-") as folder, ThreadPoolExecutor(jobs) as pool:
        first = Path(folder, "0")
        left_out = shutil.ignore_patterns(".?*", "node_modules", "__pycache__", "build", "dist")
        shutil.copytree(suite.root, first, ignore=left_out, symlinks=True)
        failed, said = suite.noticed(first, suite.rooms[0], changed=False)
        if failed:
            raise SystemExit(f"{said}\nmutants: nothing is changed yet, and these tests fail: {failed}")
        places: queue.SimpleQueue[Path] = queue.SimpleQueue()
        for number in range(1, jobs):
            places.put(shutil.copytree(first, Path(folder, str(number)), symlinks=True))
        places.put(first)

        def tried(file: str, source: str) -> str:
            place = places.get()
            try:
                return suite.tried(file, source, place)
            finally:
                places.put(place)

        trials = {pool.submit(tried, mutant.file, mutant.source()): mutant for mutant in sample}
        for count, trial in enumerate(as_completed(trials), 1):
            mutant, by = trials[trial], trial.result()
            if not by:
                survivors.append(mutant)
            print(
                f"[{count}/{len(sample)}] {f'killed ({by})' if by else 'SURVIVED'} {_words(mutant)}",
                flush=True,
            )
    return sorted(survivors, key=lambda mutant: (mutant.file, mutant.line))


def _words(mutant: Mutant) -> str:
    return f"{mutant.file}:{mutant.line}  {mutant.change}"


def main(arguments: Sequence[str], suite: Suite = Suite()) -> int:
    parser = argparse.ArgumentParser(
        description="Try a sample of small changes to the rules against the tests."
    )
    parser.add_argument("--count", type=int, default=90)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default="", help="the beginning of a path, such as bot/plan/batches/")
    parser.add_argument("--jobs", type=int, default=2)
    given = parser.parse_args(arguments)
    began, mutants, equivalent = time.monotonic(), suite.mutants(), suite.equivalent()
    for file, text, change in sorted(equivalent - {mutant.name for mutant in mutants}):
        print(f"{EQUIVALENT} lists what is not there any more: {file}: {change}, in `{text}`")
    counting = [one for one in mutants if one.name not in equivalent and one.file.startswith(given.only)]
    sample = drawn(counting, given.count, given.seed)
    print(f"{len(sample)} of {len(counting)} mutants, seed {given.seed}", flush=True)
    survivors = run(suite, sample, given.jobs)
    share = 1 - len(survivors) / len(sample)
    print("", *(f"survived: {_words(mutant)}\n    {mutant.text}" for mutant in survivors), sep="\n")
    print(
        f"killed {len(sample) - len(survivors)} of {len(sample)} in {time.monotonic() - began:.0f} s:"
        f" {share:.1%}, and {suite.ratchet:.0%} is wanted"
    )
    return 0 if share >= suite.ratchet else 1


if __name__ == "__main__":
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    sys.exit(main(sys.argv[1:]))
