"""The scheduling core: facts in, orders out. No clock, no socket, no thread, no log.

``Core.handle(event)`` returns the effects of one event. The shell (the daemon, the simulator, a
test) supplies the time in every event and carries the effects out.

All other code reads the core through views (view.py). Its state is private.
"""
