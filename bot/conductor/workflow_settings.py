"""What the conductor's workflow hands over of the repository's variables and secrets: values of the first, names of the second."""

from collections.abc import Mapping

from bot.model.engine import SECRETS, VARIABLES, RepositorySettings

_HAS = "CF_HAS_"


def read_settings(environ: Mapping[str, str]) -> RepositorySettings:
    """`CF_HAS_<secret>` says `true` or `false`; without it nothing is known of that secret, and it is taken to be there."""
    said = {name: environ.get(f"{_HAS}{name}", "").strip().lower() for name in SECRETS}
    return RepositorySettings(
        variables={name: value for name in VARIABLES if (value := environ.get(name, "").strip())},
        secrets={name: value == "true" for name, value in said.items() if value in ("true", "false")},
    )
