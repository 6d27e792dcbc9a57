"""All findings about a program, as a paragraph and as values."""

from dataclasses import asdict, dataclass
from typing import Any

from nvshare.telemetry.naming import name_of, number_of
from nvshare.telemetry.snapshot import NodeStatus
from nvshare.telemetry.why.case import Case, case_of
from nvshare.telemetry.why.ceiling import say_capped
from nvshare.telemetry.why.finding import Finding
from nvshare.telemetry.why.table import CAUSES
from nvshare.telemetry.words import duration, percent

# The least part of the last minute: a smaller cost is not worth a sentence.
_LEAST = 0.02
_SAID = {
    "computing": "computed {}",
    "waiting": "waited for a turn {}",
    "held_back": "was held back by its share {}",
    "memory_in": "brought memory in {}",
    "memory_out": "moved memory out {}",
    "thrashing": "stood still, thrashing, {}",
    "idle": "had nothing for the GPU to do {}",
}


@dataclass(frozen=True, slots=True)
class Explanation:
    """Findings, the main cause first."""

    case: Case
    findings: tuple[Finding, ...]

    @property
    def main(self) -> Finding:
        """The main cause."""
        return self.findings[0]

    def sentences(self) -> list[str]:
        """Say what it spent the last minute on, why, and what would help."""
        said = [one for one in self.findings if one is self.main or one.weight >= _LEAST]
        helps = [one.helps for one in said if one.helps]
        capped = say_capped(self.case.client)
        says = [one.says for one in said]
        return [_spent(self.case), *says, *([capped] if capped else []), *helps[:2]]

    def values(self) -> dict[str, Any]:
        """Return the same as values, for programs."""
        client = self.case.client
        return {
            "id": client.id,
            "pid": client.pid,
            "program": client.program,
            "device": client.device,
            "seconds": client.recent.seconds,
            "attribution": client.recent.attribution.model_dump(),
            "cause": self.main.cause,
            "causes": [asdict(one) for one in self.findings],
            "text": " ".join(self.sentences()),
        }


def explain(status: NodeStatus, client: int) -> Explanation:
    """Explain why the program with this id is as fast as it is."""
    (found,) = (one for one in status.clients if one.id == client)
    case = case_of(status, found)
    findings = [one for cause in CAUSES if (one := cause(case)) is not None]
    # Sorting keeps the order of the table where weights are the same.
    return Explanation(case, tuple(sorted(findings, key=lambda one: -one.weight)))


def _spent(case: Case) -> str:
    client, parts = case.client, case.client.recent.attribution.model_dump()
    who = f"{name_of(client)} ({number_of(client)}) on GPU {case.gpu.index}"
    if not client.recent.seconds:
        return f"{who} has just connected."
    shown = sorted(parts, key=lambda name: -parts[name])
    words = [
        _SAID[name].format(percent(case.part(name))) for name in shown if case.part(name) >= 0.005
    ]
    return f"{who}, last {duration(client.recent.seconds)}: {', '.join(words)}."
