"""What happened when, on which GPU and to which program: recorded, told, and written for viewers.

A recorder (recorder.py) hears it from the core's time log and makes items of it (items.py), which a
daemon sends as lines; the simulator keeps them. A recording (recording.py) is made of items, and is
all that is known to those who write it down: chrome.py, and picture/.
"""
