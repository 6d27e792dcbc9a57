"""The scheduling core: facts in, orders out. No clock, no socket, no thread, no log.

``Core.handle(event)`` returns the effects of one event. Whoever drives it (the daemon, the
simulator, a test) supplies the time in every event and carries the effects out.

Everybody else has views of it (view.py): what is inside is nobody's business.
"""
