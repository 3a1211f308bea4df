"""Who there is, what each may do, and the tokens they act with."""

import hmac
from collections.abc import Mapping
from dataclasses import dataclass, field

from bot.model.issue import Account
from bot.sandbox.world.errors import ApiError, forbidden, not_found

ROLES = ("none", "read", "triage", "write", "maintain", "admin")
BOT = Account(41898282, "github-actions[bot]", is_bot=True)
RUN_LEVELS = {"none": 0, "read": 1, "write": 2}
EVERYTHING: Mapping[str, str] = dict.fromkeys(
    ("actions", "checks", "contents", "issues", "pull-requests", "statuses"), "write"
)


@dataclass(frozen=True, slots=True)
class Token:
    """`kind` is `user`, `run` (the default token of a workflow run) or `app`.

    `permissions` bounds what the token reaches; None means: all that its account may do.
    """

    value: str
    account: Account
    kind: str = "user"
    permissions: Mapping[str, str] | None = None
    run_id: int = 0


@dataclass(slots=True)
class Accounts:
    """The accounts of the repository with their roles, and every token given out.

    Without a `salt` a token is its own name, which reads well in tests; with one it cannot be guessed.
    """

    private: bool = False
    roles: dict[str, str] = field(default_factory=dict)
    by_login: dict[str, Account] = field(default_factory=dict)
    tokens: dict[str, Token] = field(default_factory=dict)
    named: dict[str, Token] = field(default_factory=dict)
    salt: str = ""
    _next_id: int = 1000

    def add(self, login: str, role: str, *, is_bot: bool = False, number: int = 0) -> Account:
        """Let an account exist, or change its role."""
        if role not in ROLES:
            raise ValueError(f"a role is one of {', '.join(ROLES)}, not {role!r}")
        known = self.by_login.get(login.lower())
        if known is None:
            self._next_id += 1
            known = Account(number or self._next_id, login, is_bot)
            self.by_login[login.lower()] = known
        self.roles[known.login.lower()] = role
        return known

    def get(self, login: str) -> Account:
        """Raises ApiError 404 for an unknown login."""
        try:
            return self.by_login[login.lower()]
        except KeyError:
            raise not_found() from None

    def role(self, login: str) -> str:
        """The account's role in the repository; everybody may read a public one."""
        role = self.roles.get(login.lower(), "none")
        return "read" if role == "none" and login.lower() in self.by_login and not self.private else role

    def role_for(self, token: Token, login: str) -> str:
        """What the permission question is answered. Raises ApiError: 403 for a person who may not push, 404 for an unknown login.

        Source: docs.github.com, "REST API endpoints for collaborators", whose answer to others is a 403 in these words.
        """
        if token.permissions is None and ROLES.index(self.role(token.account.login)) < ROLES.index("write"):
            raise forbidden("Must have push access to view collaborator permission.")
        self.get(login)
        return self.role(login)

    def mint(
        self, name: str, account: Account, kind: str, permissions: Mapping[str, str] | None, run: int = 0
    ) -> Token:
        """The token of that name, made known if it is new."""
        if name not in self.named:
            value = (
                f"ghs_{hmac.digest(self.salt.encode(), name.encode(), 'sha256').hex()[:36]}"
                if self.salt
                else name
            )
            token = Token(value, account, kind, None if permissions is None else dict(permissions), run)
            self.named[name] = self.tokens[value] = token
        return self.named[name]

    def user_token(self, login: str) -> Token:
        """The personal token of an account: may do all that the account may."""
        account = self.get(login)
        return self.mint(f"user-{account.login}", account, "user", None)

    def standing_bot_token(self) -> Token:
        """A default token outside any run, for driving the conductor by hand."""
        return self.mint("run-0", BOT, "run", EVERYTHING)

    def app_token(self, slug: str, permissions: Mapping[str, str]) -> Token:
        """An installation token of a GitHub App; what it does starts workflows as a person's doing would."""
        account = self.add(f"{slug}[bot]", "none", is_bot=True)
        return self.mint(f"app-{slug}", account, "app", permissions)

    def run_token(self, run_id: int, permissions: Mapping[str, str], name: str = "") -> Token:
        """The default token of a run, or of one job of it."""
        suffix = f"-{name}" if name else ""
        return self.mint(f"run-{run_id}{suffix}", BOT, "run", permissions, run_id)

    def authenticate(self, value: str) -> Token:
        """Raises ApiError 401 for a token nobody gave out."""
        try:
            return self.tokens[value]
        except KeyError:
            raise ApiError(401, "Bad credentials", "UNAUTHORIZED") from None

    def allows(self, token: Token, level: str, scopes: tuple[str, ...], role: str) -> bool:
        """Whether the token reaches `level` on one of the scopes, or its account has at least the role."""
        if token.permissions is not None:
            best = max(RUN_LEVELS[token.permissions.get(scope, "none")] for scope in scopes)
            return best >= RUN_LEVELS[level]
        return ROLES.index(self.role(token.account.login)) >= ROLES.index(role)

    def require(self, token: Token, level: str, *scopes: str, role: str) -> None:
        """Raises ApiError: 403, or 404 where even the existence is none of the account's business."""
        if self.allows(token, level, scopes, role):
            return
        if token.permissions is not None:
            raise forbidden()
        if self.role(token.account.login) == "none":
            raise not_found()
        raise forbidden(f"Must have {role} access to the repository.")
