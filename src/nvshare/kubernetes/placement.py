"""Chooses GPUs for pods. Functions of the present state: no counters, no memory of earlier calls.

The device plugin API does not report when a pod ends, so a counter of our own would drift. Kubelet
knows which pod holds which device (PodResources), and is asked every time.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from nvshare.quantity import format_quantity

_SEPARATOR = "__"


@dataclass(frozen=True, slots=True)
class Card:
    """A GPU, as far as pods are placed on it."""

    index: int
    uuid: str
    memory: int


@dataclass(frozen=True, slots=True)
class Holding:
    """A pod that holds a virtual device of a GPU, and may use this much of its memory."""

    pod: str
    uuid: str
    promised: int


@dataclass(frozen=True, slots=True, order=True)
class Load:
    """How many pods a GPU has, and how many bytes it has promised them; compared in this order."""

    pods: int = 0
    promised: int = 0


@dataclass(frozen=True, slots=True)
class Bound:
    """How much one GPU may promise: its memory times the ratio. None: without a bound."""

    ratio: float | None = None

    def holds(self, card: Card, load: Load, promise: int | None) -> bool:
        """Whether a GPU may make one more promise."""
        asked = card.memory if promise is None else promise
        return self.ratio is None or load.promised + asked <= self.limit(card)

    def limit(self, card: Card) -> int:
        """The most that a GPU may promise."""
        return int(card.memory * (self.ratio or 0))


NO_BOUND = Bound()


def device_id(uuid: str, number: int) -> str:
    """Name a virtual device of a GPU."""
    return f"{uuid}{_SEPARATOR}{number}"


def gpu_of(device: str) -> str:
    """Return the UUID of a virtual device's GPU."""
    return device.rpartition(_SEPARATOR)[0]


def loads(cards: Iterable[Card], holdings: Iterable[Holding]) -> dict[str, Load]:
    """Return the load of every GPU. A pod counts once on a GPU, however many devices it holds."""
    promises: dict[str, dict[str, int]] = {card.uuid: {} for card in cards}
    for holding in holdings:
        if (pods := promises.get(holding.uuid)) is not None:
            pods[holding.pod] = max(pods.get(holding.pod, 0), holding.promised)
    return {uuid: Load(len(pods), sum(pods.values())) for uuid, pods in promises.items()}


def prefer(
    cards: Collection[Card],
    holdings: Iterable[Holding],
    available: Collection[str],
    required: Sequence[str],
    size: int,
    *,
    promise: int | None = None,
    bound: Bound = NO_BOUND,
) -> list[str]:
    """Choose virtual devices for a container.

    Each comes from the GPU with the fewest pods, then the least memory promised, then the lowest
    index; a second one from another GPU, as long as there is another. ``promise`` is how much
    memory of each GPU the pod may use, None: all. GPUs that may not promise that come last: a pod
    that gets one is refused, with the reason.
    """
    load = loads(cards, holdings)
    chosen = list(required)
    free = sorted(set(available) - set(chosen), key=_natural)
    taken = Counter(gpu_of(device) for device in chosen)
    known = {card.uuid: card for card in cards}

    def rank(device: str) -> tuple[int, bool, Load, int]:
        card = known[gpu_of(device)]
        fits = bound.holds(card, load[card.uuid], promise)
        return taken[card.uuid], not fits, load[card.uuid], card.index

    while len(chosen) < size and (left := [one for one in free if gpu_of(one) in known]):
        best = min(left, key=rank)
        chosen.append(best)
        free.remove(best)
        taken[gpu_of(best)] += 1
    return chosen


def refusal(
    cards: Iterable[Card],
    holdings: Collection[Holding],
    devices: Iterable[str],
    promise: int | None,
    bound: Bound,
) -> str | None:
    """Return why a pod that may use this much memory of each GPU may not have these devices."""
    known = list(cards)
    load = loads(known, holdings)
    wanted = {gpu_of(device) for device in devices}
    for card in known:
        if card.uuid in wanted and not bound.holds(card, load[card.uuid], promise):
            return (
                f"GPU {card.index} cannot promise another "
                f"{_amount(card.memory if promise is None else promise)}: "
                f"{_amount(load[card.uuid].promised)} of {_amount(bound.limit(card))} are promised "
                f"already ({_amount(card.memory)} with an oversubscription ratio of "
                f"{bound.ratio:g}). Lower the memory limit of this pod or of others, delete pods, "
                "or raise the ratio"
            )
    return None


def _natural(device: str) -> tuple[str, int]:
    uuid, _, number = device.rpartition(_SEPARATOR)
    return uuid, int(number) if number.isascii() and number.isdigit() else 0


def _amount(size: int) -> str:
    """The exact amount if that is short, else GiB."""
    exact = format_quantity(size)
    return exact if exact.endswith("i") and len(exact) <= 6 else f"{size / (1 << 30):.1f}Gi"
