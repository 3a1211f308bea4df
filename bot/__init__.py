"""cf-conductor: a GitHub-native conductor for coding agents. Start reading at `bot/cli.py`, or at `docs/architecture.md`."""

__version__ = "0.1.0"
