"""GitHub Apps that are installed on the repository, and the tokens they get for it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from bot.sandbox.world.accounts import RUN_LEVELS, Accounts, Token
from bot.sandbox.world.errors import invalid

LIFE = timedelta(hours=1)


@dataclass(frozen=True, slots=True)
class App:
    """`public_key` (PEM) is what its signature is checked by; `permissions` are what its installation was granted."""

    id: int
    slug: str
    public_key: str
    permissions: Mapping[str, str]


@dataclass(slots=True)
class Apps:
    """`minted` are the tokens given out, oldest first."""

    accounts: Accounts
    installed: dict[int, App] = field(default_factory=dict)
    minted: list[Token] = field(default_factory=list)

    def install(self, slug: str, public_key: str, permissions: Mapping[str, str]) -> App:
        """Let an App exist, installed on the repository."""
        app = App(4000 + len(self.installed), slug, public_key, dict(permissions))
        self.installed[app.id] = app
        self.accounts.add(f"{slug}[bot]", "none", is_bot=True)
        return app

    def mint(self, app: App, wanted: Mapping[str, str], now: datetime) -> tuple[Token, datetime]:
        """A token and its end. Raises ApiError 422 if more is asked for than was granted."""
        for name, level in wanted.items():
            if RUN_LEVELS.get(level, 9) > RUN_LEVELS[app.permissions.get(name, "none")]:
                raise invalid("The permissions requested are not granted to this installation.")
        permissions = {name.replace("_", "-"): level for name, level in (wanted or app.permissions).items()}
        account = self.accounts.get(f"{app.slug}[bot]")
        number = len(self.minted) + 1
        token = self.accounts.mint(f"ghs_{app.slug}{number}", account, "app", permissions)
        self.minted.append(token)
        return token, now + LIFE

    def expire(self, token: Token) -> None:
        """Its hour is over."""
        self.accounts.tokens.pop(token.value, None)
