"""What the page shows, one file per topic, in the order in which a program meets them."""

from collections.abc import Iterable

from tools.report.lines import Line
from tools.report.section import Section, Topic
from tools.report.topics.handover import HANDOVER
from tools.report.topics.latency import LATENCY
from tools.report.topics.moves import MOVES
from tools.report.topics.overhead import OVERHEAD
from tools.report.topics.scale import SCALE
from tools.report.topics.scenarios import SCENARIOS
from tools.report.topics.shares import SHARES

TOPICS: tuple[Topic, ...] = (OVERHEAD, SCENARIOS, MOVES, LATENCY, SHARES, HANDOVER, SCALE)


def sections(lines: Iterable[Line]) -> list[Section]:
    """Return the sections of all topics."""
    lines = list(lines)
    return [topic.section(lines) for topic in TOPICS]
