"""Why a program is as fast as it is: from a snapshot to sentences, each with its numbers.

It reads only the snapshot and keeps nothing. A cause is a file in causes/ and a line in table.py.
"""

from nvshare.telemetry.why.case import Case, case_of
from nvshare.telemetry.why.explanation import Explanation, explain
from nvshare.telemetry.why.finding import Finding

__all__ = ["Case", "Explanation", "Finding", "case_of", "explain"]
