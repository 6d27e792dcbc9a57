"""Gangs: the clients of one group on several devices get their turns, and give them up, together.

Ranks of a collective wait for each other on the GPU: a kernel of one spins until the other's has
come. If each device were shared by itself, one gang could hold one device and a second gang the
other, and both would spin for as long as the turns last. So all clients of one group (a container,
or one ``nvshare run``) that are on more than one device are a gang, where the setting ``gangs`` is
on. A client is still one process on one device, and everything that is known of it stays in its
record. These files only do what has to happen on several devices at once:

    form.py         which clients are in a gang
    queue.py        all of a gang wait at the same place in the queues of their devices
    arrive.py       a gang is granted its turns in one step, when it has room on all its devices
    soft_revoke.py  all of a gang are asked to give way when idle, or none
    rest.py         an idle client keeps its place until its whole gang is idle
    give_way.py     all of a gang hold before any of them gives its turn up
    step.py         held clients catch up with clients that have not drained
    conductor.py    brings these together, after every event

**One order.** The members of a gang wait with the same place (``Client.place``), so any two gangs
are in the same order on every device. The first of all waiting gangs is first on all of its
devices: gangs cannot wait for each other in a circle, and none starves.

**All or nothing.** A device never grants a gang's turn, nor ends a turn for one, by itself. It only
makes the first in its queue the head, as always. When a gang is the head on all its devices, and
the turns on all of them are over, the clients in its way are told to give way on all devices in one
step. While it waits for one device, other clients that fit may use its room on another: they are
guests, and are told to give way when it comes. If a device tells one client of a gang to give way,
the whole gang does. A turn lasts until all of the gang have had their memory for a while.

**Two phases.** A rank whose gate closes in the middle of a collective would keep the others from
draining. So all of a gang are told to hold: the gate closes, work in flight ends, and turn and
memory stay. A client that has drained reports it. While others have not, they may be waiting for
it, so it is told to let one call pass, again and again. A held client has completed all that it
launched, so a client that has not drained is ahead of it: the ranks behind catch up call by call.
When all hold at the same time no collective is under way, and all are told to give way.
"""

from nvshare.core.gangs.conductor import Gangs

__all__ = ["Gangs"]
