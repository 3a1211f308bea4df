"""`cf work` as a process of its own, with the make-believe GitHub in place of the client: `launch.py FOLDER MODE...`."""

import os
import sys
from pathlib import Path

import bot.github.client
from bot.cli import main
from tests.worker.bench import Bench, config_text

if __name__ == "__main__":
    token = os.environ.get("GITHUB_TOKEN", "none-at-all")
    bench = Bench(
        Path(sys.argv[1]),
        config=config_text(*sys.argv[2:]).replace("}}\n", f", env: {{NEEDLE: {token[::-1]}}}}}}}\n", 1),
    )
    environ = bench.environ(GITHUB_TOKEN=token)
    bot.github.client.connect = lambda *_: bench.github  # type: ignore[assignment]
    os.environ.clear()
    os.environ.update(environ)
    sys.exit(main(["work"]))
