"""Gangs: the clients of one group on several devices get their turns, and give them up, together.

Ranks of a collective wait for each other on the GPU: a kernel of one spins until the other's has
come. If each device were shared for itself, one gang could hold one device and a second gang the
other, and both would spin for as long as the turns last. So all clients of one group (a container,
or one ``nvshare run``) that lie on more than one device are a gang, where the setting ``gangs`` is
on. A client is still one process on one device, and everything that is known of it stays in its
record. These files say only what of it has to happen on several devices at once:

    forming.py    who is in a gang
    queueing.py   all of a gang wait at the same place in the queues of their devices
    arriving.py   a gang is granted its turns in one step, when it has room on all its devices
    soft_revoke.py     all of a gang are asked to give way when idle, or none
    resting.py    who is idle keeps its place until all of its gang are
    giving.py     all of a gang hold before any of them gives its turn up
    stepping.py   those who hold catch up with those who have not drained
    conductor.py  brings these together, after every event

**One order.** The members of a gang wait with the same place (``Client.place``), so any two gangs
are in the same order on every device. Whoever is first of all who wait is first on all of its
devices: there is no circle of gangs that wait for each other, and nobody starves.

**All or nothing.** A device never grants a gang's turn, nor ends a turn for one, by itself. It only
makes the first in its queue the head, as always. A gang that is the head on all its devices has
those in its way told to go on all of them in one step, when the turns of all of them are over.
While it waits for one device, others who fit may use its room on another: they are guests, and are
told to go when it comes. Who is told to go by any device and is in a gang goes with all of it. A
turn lasts until all of the gang have had their memory for a while.

**Two phases.** A rank whose gate closes in the middle of a collective would keep the others from
draining. So all of a gang are told to hold: the gate closes, work in flight ends, and turn and
memory stay. Who has drained says so. As long as others have not, it may be what they wait for, and
is told to let one call pass, again and again. Whoever is held has completed all that it launched,
so whoever is not drained is ahead of it: the ranks behind catch up, one call at a time. When all
hold at the same time nobody is in the middle of anything, and all are told to go.
"""

from nvshare.core.gangs.conductor import Gangs

__all__ = ["Gangs"]
