"""The repository's own prompt, `.github/cf-prompt.md` of the default branch: Jinja2 in a sandbox, with the parts as its values."""

from collections.abc import Mapping

from jinja2 import StrictUndefined, TemplateSyntaxError
from jinja2.sandbox import ImmutableSandboxedEnvironment

from bot.model.config import TEMPLATE_PATH
from bot.model.errors import UsageError


def render(template: str, values: Mapping[str, str]) -> str:
    """The filled template. Raises UsageError naming the line and what is wrong, also for a name that is not among the values."""
    environment = ImmutableSandboxedEnvironment(undefined=StrictUndefined, keep_trailing_newline=True)
    try:
        return environment.from_string(template).render(values)
    except TemplateSyntaxError as error:
        raise UsageError(f"{TEMPLATE_PATH}, line {error.lineno}: {error.message}") from error
    except Exception as error:
        known = ", ".join(values)
        raise UsageError(
            f"{TEMPLATE_PATH}: {str(error) or type(error).__name__}; its values are {known}"
        ) from error
