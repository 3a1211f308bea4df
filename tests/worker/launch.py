"""`cf work` as a process of its own, with the make-believe GitHub in place of the client: `launch.py FOLDER` sets up and works."""

import json
import os
import sys
from pathlib import Path

import bot.github.client
from bot.cli import main
from tests.worker.bench import Bench, config_text

if __name__ == "__main__":
    folder = Path(sys.argv[1])
    bench = Bench(folder, config=config_text("edit", "fork", "stubborn"))
    environ = bench.environ()
    (folder / "environ.json").write_text(json.dumps(environ), encoding="utf-8")
    bot.github.client.connect = lambda environ: bench.github  # type: ignore[assignment,return-value]
    os.environ.clear()
    os.environ.update(environ)
    sys.exit(main(["work"]))
