"""What stands in the way of more than one task: a cause, and how far it reaches."""

from enum import StrEnum

from msgspec import Struct


class Cause(StrEnum):
    """The kinds of trouble that no single task is to blame for. Only an end without a strike can have one."""

    PERMISSION = "permission"  # the token lacks one that GitHub names
    WORKFLOW = "workflow"  # the worker's workflow is missing or switched off
    POLICY = "policy"  # the Actions policy of repository or organisation
    MINUTES = "minutes"  # no minutes or no money left
    STORAGE = "storage"  # no room for artifacts
    RUNNER = "runner"  # no machine takes the label; `key` is the label
    REGISTRY = "registry"  # packages or actions cannot be fetched
    SETUP = "setup"  # the repository's own commands cannot run; `key` is the digest of what was to run
    PUSH_RULE = "push-rule"  # a rule about commits or branch names refuses every push
    LIMIT = "limit"  # GitHub's own limits
    PROVIDER = "provider"  # the model's provider; `key` is the engine


class Met(Struct, frozen=True, omit_defaults=True):
    """A cause as one attempt met it: `key` tells one of its kind from another, `words` are those of who refused, bounded."""

    cause: Cause
    key: str = ""
    words: str = ""
