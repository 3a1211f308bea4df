"""`python -P -m bot` is `cf`: `-P` keeps a checkout's own `bot/` folder from being imported instead of ours."""

import sys

from bot.cli import main

if __name__ == "__main__":
    sys.exit(main())
