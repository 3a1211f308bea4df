"""REST: what a GitHub App asks as itself, by a signature of its own: where it is installed, and a token for there."""

from bot.sandbox.http.rest.bodies import stamp
from bot.sandbox.http.rest.exchange import Call, Reply, Route
from bot.sandbox.world import ApiError, Token, World
from bot.sandbox.world.apps import App
from bot.sandbox.world.errors import invalid, not_found

SIGNED = "jwt"  # the kind of a token that is an App's own signature: good for these routes only
_LONGEST = 600  # seconds that GitHub lets a signature be good for


def signed(world: World, value: str) -> Token:
    """Who has signed it. Raises ApiError 401."""
    if not world.apps.installed:
        raise ApiError(401, "A JSON web token could not be decoded", "UNAUTHORIZED")
    import jwt  # of the extra `app`: whoever signs as one has it

    try:
        issuer = str(jwt.decode(value, options={"verify_signature": False})["iss"])
        app = world.apps.installed[int(issuer)]
        claims = jwt.decode(value, app.public_key, algorithms=["RS256"])
        if claims["exp"] - claims["iat"] > _LONGEST:
            raise ApiError(401, "'Expiration time' claim ('exp') is too far in the future", "UNAUTHORIZED")
    except (jwt.PyJWTError, KeyError, ValueError):
        raise ApiError(401, "A JSON web token could not be decoded", "UNAUTHORIZED") from None
    return Token(value, world.accounts.get(f"{app.slug}[bot]"), SIGNED, {}, app.id)


def installation(call: Call) -> Reply:
    return Reply(call.render.installation(_app(call)))


def access_token(call: Call) -> Reply:
    app = _app(call)
    if call.number("installation_id") != app.id:
        raise not_found()
    names = call.body.get("repositories", [])
    if names not in ([], [call.world.repository.split("/")[1]]):
        raise invalid(
            "There is at least one repository that does not exist or is not accessible to the parent installation."
        )
    wanted = call.field("permissions", dict, {"": ""})
    token, end = call.world.apps.mint(app, {k: v for k, v in wanted.items() if k}, call.world.now)
    permissions = {name.replace("-", "_"): level for name, level in (token.permissions or {}).items()}
    body = {
        "token": token.value,
        "expires_at": stamp(end),
        "permissions": permissions,
        "repository_selection": "selected",
    }
    return Reply(body, 201)


def _app(call: Call) -> App:
    if call.token.kind != SIGNED:
        raise ApiError(401, "A JSON web token could not be decoded", "UNAUTHORIZED")
    return call.world.apps.installed[call.token.run_id]


ROUTES = (Route("GET", "/installation", installation),)

GLOBAL_ROUTES = (
    Route(
        "POST",
        "/app/installations/{installation_id}/access_tokens",
        access_token,
        fields=("repositories", "permissions"),
    ),
)
