"""What is shown and what a key does, without a terminal or a daemon."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from nvshare.cli.board.programs import used, waited
from nvshare.limits.kinds import Limit
from nvshare.limits.table import LIMITS
from nvshare.telemetry.snapshot import ClientStatus, NodeStatus


def _gpu_order(status: NodeStatus) -> Callable[[ClientStatus], Any]:
    index = {gpu.uuid: gpu.index for gpu in status.devices}
    return lambda one: (index.get(one.device, -1), one.id)


# The sort orders, in the order in which the key steps through them.
SORTS: dict[str, Callable[[ClientStatus], Any] | None] = {
    "GPU": None,
    "GPU %": lambda one: -used(one),
    "memory": lambda one: -one.allocated,
    "away": lambda one: -one.swapped_out,
    "wait": lambda one: -waited(one),
    "user": lambda one: one.user,
    "program": lambda one: one.program,
    "pid": lambda one: one.pid,
}


@dataclass(frozen=True, slots=True)
class Change:
    """A change of a program's limits that the user asks for."""

    pid: int
    changes: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Prompt:
    """A question at the lower edge, and what has been typed so far."""

    question: str
    field: str
    pid: int = 0
    text: str = ""


@dataclass(slots=True)
class State:
    """The user's choices. ``message`` is shown until the next key."""

    sort: str = "GPU"
    is_reversed: bool = False
    filter: str = ""
    selected: int | None = None
    shows_details: bool = False
    shows_help: bool = False
    prompt: Prompt | None = None
    message: str = ""
    is_over: bool = False

    def shown(self, status: NodeStatus) -> list[ClientStatus]:
        """Return the programs that pass the filter, sorted. One of them is selected."""
        found = [one for one in status.clients if self._passes(one)]
        found.sort(key=_gpu_order(status))
        order = SORTS[self.sort]
        if order is not None:
            found.sort(key=order)
        if self.is_reversed:
            found.reverse()
        if self.selected not in [one.id for one in found]:
            self.selected = found[0].id if found else None
        return found

    def _passes(self, client: ClientStatus) -> bool:
        words = (client.program, client.pod_name, client.user, client.state)
        word = self.filter.lower()
        return any(word in text.lower() for text in (*words, str(client.pid)))

    def press(self, key: str, shown: Sequence[ClientStatus]) -> Change | None:
        """Act on a key; return the change that the daemon has to make, if there is one."""
        self.message = ""
        if self.prompt is not None:
            return self._type(self.prompt, key)
        if key in _KEYS:
            _KEYS[key](self, shown)
        return None

    def _type(self, prompt: Prompt, key: str) -> Change | None:
        if key in ("escape", "quit"):
            self.prompt = None
            if prompt.field == "filter":
                self.filter = ""
        elif key == "enter":
            self.prompt = None
            return self._answer(prompt)
        elif key == "backspace":
            self._set_text(prompt, prompt.text[:-1])
        elif len(key) == 1:
            self._set_text(prompt, prompt.text + key)
        return None

    def _set_text(self, prompt: Prompt, text: str) -> None:
        self.prompt = Prompt(prompt.question, prompt.field, prompt.pid, text)
        if prompt.field == "filter":
            self.filter = text

    def _answer(self, prompt: Prompt) -> Change | None:
        text = prompt.text.strip()
        if prompt.field == "filter" or not text:
            return None
        return Change(prompt.pid, {prompt.field: None if text == "none" else text})

    def move(self, shown: Sequence[ClientStatus], step: int) -> None:
        """Select the next program, or the one before."""
        numbers = [one.id for one in shown]
        if self.selected in numbers:
            place = numbers.index(self.selected) + step
            self.selected = numbers[max(0, min(place, len(numbers) - 1))]

    def ask(self, shown: Sequence[ClientStatus], what: str, field: str) -> None:
        """Ask for a new limit of the selected program."""
        for one in shown:
            if one.id == self.selected:
                self.prompt = Prompt(f"{what} of {one.program} (pid {one.pid})", field, one.pid)

    def next_sort(self) -> None:
        """Switch to the next sort order."""
        names = list(SORTS)
        self.sort = names[(names.index(self.sort) + 1) % len(names)]

    def toggle(self, name: str) -> None:
        """Turn something on or off."""
        setattr(self, name, not getattr(self, name))

    def end(self) -> None:
        """Stop."""
        self.is_over = True

    def close(self) -> None:
        """Close the help and the details."""
        self.shows_help = self.shows_details = False

    def begin_filter(self) -> None:
        """Ask for a filter."""
        self.prompt = Prompt("Show only programs with", "filter", text=self.filter)


_Act = Callable[[State, Sequence[ClientStatus]], None]


def _ask(limit: Limit) -> _Act:
    return lambda state, shown: state.ask(shown, limit.prompt, limit.name)


OWN_KEYS: dict[str, _Act] = {
    "up": lambda state, shown: state.move(shown, -1),
    "k": lambda state, shown: state.move(shown, -1),
    "down": lambda state, shown: state.move(shown, 1),
    "j": lambda state, shown: state.move(shown, 1),
    "enter": lambda state, _: state.toggle("shows_details"),
    "s": lambda state, _: state.next_sort(),
    "r": lambda state, _: state.toggle("is_reversed"),
    "/": lambda state, _: state.begin_filter(),
    "h": lambda state, _: state.toggle("shows_help"),
    "?": lambda state, _: state.toggle("shows_help"),
    "q": lambda state, _: state.end(),
    "quit": lambda state, _: state.end(),
    "escape": lambda state, _: state.close(),
}
_KEYS = {**OWN_KEYS, **{one.key: _ask(one) for one in LIMITS if one.key}}
