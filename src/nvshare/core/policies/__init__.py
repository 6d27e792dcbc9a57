"""Policies: in which order clients take turns that compute all the time. One per file.

A policy sees clients and changes nothing. It does not decide what fits. Clients that compute in
bursts are served in the order of their recent use, whatever the policy (precedence/).
"""

from collections.abc import Callable
from importlib import import_module
from pkgutil import iter_modules
from typing import TYPE_CHECKING, ClassVar

from nvshare.core.settings import Priority, Settings

if TYPE_CHECKING:
    from nvshare.core.record.client import Client


# A higher priority is a head start of so many turns. So a client that has waited for longer than
# that still goes first.
HEAD_START_TURNS = 20
_AHEAD = {Priority.HIGH: 1, Priority.NORMAL: 0, Priority.LOW: -1}


class Policy:
    """What a policy may decide."""

    # Whether a client with a turn for memory keeps it until it rests or ends, for as long as
    # ``batch_turn`` allows.
    runs_to_end: ClassVar[bool] = False

    def rank(self, client: "Client", settings: Settings, turn: float) -> float:
        """Return the client's place in the queue, the lowest first. A turn is so long at least.

        It is asked once, when the client begins to wait. So that none starves, a client that has
        been served has to come behind all clients that wait already.
        """
        raise NotImplementedError


def head_start(client: "Client", seconds: float) -> float:
    """Return how much earlier a client counts as having come, by its priority."""
    return _AHEAD[client.limits.priority] * seconds


_POLICIES: dict[str, Policy] = {}


def policy(name: str) -> Callable[[type[Policy]], type[Policy]]:
    """Register a policy under the name that settings use."""

    def register(cls: type[Policy]) -> type[Policy]:
        _POLICIES[name] = cls()
        return cls

    return register


def find_policy(name: str) -> Policy:
    """Return the policy of this name."""
    if name not in _POLICIES:
        raise ValueError(
            f'there is no policy "{name}"; the policies are {", ".join(policy_names())}'
        )
    return _POLICIES[name]


def policy_names() -> list[str]:
    """Return the names of all policies, sorted."""
    return sorted(_POLICIES)


# Importing a policy registers it, so that adding a file adds a policy.
for _module in iter_modules(__path__):
    import_module(f"{__name__}.{_module.name}")
