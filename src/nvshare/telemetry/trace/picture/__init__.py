"""Recordings as a picture: programs, memory and a summary of every GPU, side by side, as SVG.

page.py puts it together, lane.py and memory.py draw one row of it, mix.py and together.py compute
what to draw. It uses no library.
"""

from nvshare.telemetry.trace.picture.page import draw

__all__ = ["draw"]
