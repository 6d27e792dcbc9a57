"""Traces: what happened when, on which GPU and to which program; recorded, sent, and exported.

A recorder (recorder.py) listens to the core's time log and makes items (items.py), which a daemon
sends as lines; the simulator keeps them. A recording (recording.py) is made of items. The exporters
chrome.py and picture/ read nothing else.
"""
