"""Who goes first: whoever has used the device least lately. One rule, from one number.

The number is a client's recent use (use.py): the seconds for which it has held the device, and the
moves of memory that its visits have caused, divided by its weight (weights.py). It is counted while
clients compete, and halves within a few minutes. What follows from it:

* Clients that compute all the time take turns in the order of a policy (policies/): their turns are
  long, so that only their mean says what they have had. A turn ends when it has lasted long enough
  for its moves (turns/end.py).
* A client that rested for about as long as its memory needs to come in pays a visit
  (interrupt.py): it interrupts clients that have used more than it, by more than the visit costs
  them. Visitors are served in the order of their use. So a client that computes in bursts is served
  promptly, as long as it uses less than its part. A client that computes all the time gets the
  rest, in long pieces, and about its part at least.
* No turn ends for a client that has used more than those in its way, within the longest turn.

Priorities, users and gangs have no rules of their own. A priority is a weight and, in the order of
a policy, a head start. The programs of a user share the weight of one, if other users compete. All
of a gang have the place of the one that would come first. A kernel that overruns the end of its
turn is simply use.
"""
