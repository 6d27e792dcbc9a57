/* The life of a client as a table: the state that each step leads to, and what is done on the way.
 *
 * A client is one process on one GPU. Its gate stands before every call that gives the GPU work;
 * its mover is a thread that brings memory to the GPU and takes it to the host, in bulk.
 *
 * NEW       It is not known yet whether there is a daemon. The gate is closed. It refuses instead
 *           if there is none and the program must not run without.
 * ALONE     There is no daemon, and the gate is open. The next daemon is told so (RESUMING), and
 *           assumes that it has its last turn: that is why ALONE leads to OPEN and not to CLOSED.
 *           If the gate has opened without a turn, HELLO says that too (UNGRANTED): where programs
 *           do not fit, these are the ones that give way.
 * RETURNING There is no daemon, and the gate is closed: explicit memory is away. The mover brings
 *           all of it back. The gate opens then, and not before: that is ALONE. A daemon that comes
 *           in between is not told RESUMING, and the client is CLOSED; memory that has come stays.
 *           While a daemon is greeted and has not answered, the gate stays closed even if all
 *           memory is back, since HELLO has said so.
 * WAITING   There is no daemon any more, and the gate stays closed: the turn is another program's,
 *           which goes on with it. Opening this gate as well would let programs run side by side
 *           that do not fit. It waits for the next daemon, and is CLOSED then; or it becomes ALONE
 *           when the caller says that it has waited for long enough. Memory that was on its way out
 *           goes on leaving, to make room for the other program.
 * CLOSED    Without a turn, behind a closed gate. A call may wait there; the daemon is told once
 *           (WANT).
 * LEAVING   As CLOSED, and memory is on its way to the host: because the turn has ended (REVOKE),
 *           or because the daemon has asked for it since (EVICT). A MOVED with left = 0 has to
 *           follow, and progress is reported before.
 * FETCHING  As CLOSED, and memory is on its way to the GPU, ahead of the turn: the daemon has asked
 *           for it (FILL), since there is room that no program needs just now. When it has come, or
 *           is to come no more, a MOVED reports it, before anything else; memory that is to leave
 *           (EVICT) leaves after that. A turn that begins takes the memory as it is.
 * FILLING   It has a turn, and the gate is closed until its memory is there. That begins with GRANT
 *           or a hand-over. Of a fill, `missing` bytes have no room yet: ROOM says when they have.
 * GROWING   It has a turn, and the gate has closed because a thread is about to allocate memory
 *           that has no room yet. A fill in progress goes on. When the memory is allocated it comes
 *           as in FILLING.
 * OPEN      It has a turn, and the gate is open.
 * WATCHED   As OPEN, and it is to give the turn up when it has been idle for so long.
 * HOLDING   It has a turn, and was told to hold it (HOLD): the gate is closed, the work in flight
 *           drains, and nothing else happens. That is for programs that wait for each other on the
 *           GPU: the work in flight of one may need the next call of another. So no program gives
 *           anything up before nothing is in flight anywhere.
 * HELD      The same, and nothing is in flight: the daemon is told (HELD), and whether a call waits
 *           at the gate. STEP lets one call pass, and then it is HOLDING again. REVOKE ends the
 *           turn and KEEP opens the gate, from both.
 * CLOSING   It has a turn, and was told to give it up. The gate is closed, and the work in flight
 *           drains.
 * STOPPING  The same, but the gate was closed before, because memory was coming or being allocated.
 *           That is not waited for any longer. RELEASED reports what has come by then.
 *
 * Some work never drains behind a closed gate: a persistent kernel that is fed by copies, a host
 * function that waits for a thread which waits at the gate. The caller finds that out, and says
 * CANNOT_DRAIN. Then the turn goes on as before the REVOKE, which is void with all that came with
 * it. The daemon is told, and may send REVOKE again at any time.
 *
 * HOLD may also come while memory comes or is being allocated, and a program that holds may
 * allocate. Then it is short (_SHORT below): memory has to come before a call may pass. A fill goes
 * on; a STEP waits for it, KEEP leads back to FILLING, and REVOKE to STOPPING.
 *
 * Work also takes very long to drain if other programs have pushed its memory out, and it fetches
 * that page by page. Then the daemon says that there is room, and the mover brings all memory in. A
 * program that is filling, or to step, waits for its memory anyway.
 *
 * It has a turn from FILLING on: those are the states in which work may be in flight, and in which
 * frames that name the turn count.
 *
 * Besides the state there are numbers. The one that matters for the next step is the mover's job.
 * In LEAVING it moves out, in FETCHING and FILLING it fills. In the states with an open gate it
 * rests, or moves out memory that is to be trimmed during a turn. A trim waits until nothing else
 * moves, and the end of a turn ends it. Alone it may fill gently, and still does so when the next
 * daemon is there.
 *
 * Memory is managed, or explicit (is_explicit), which never changes. Managed memory that is away
 * comes when it is used: the gate may open before all of it is there, and memory that was away when
 * the gate opened counts as resident when the turn ends. Others can displace it. Of explicit memory
 * none of that is true. So all of it comes before the gate opens, even where the daemon would
 * accept less; a fill that ends before that is begun again; memory that is away stays away; it
 * leaves by being moved out, never during a turn (TRIM), and never by being displaced.
 *
 * One input is several steps where it means different things:
 *   LOST           the gate opens; or explicit memory has to come first (_SHORT); or the program
 *                  must not begin (REFUSED); or it has no turn, and waits for a while (_WAITING).
 *   GRANT, HANDED  nothing has to come, and the gate opens first of all; or memory has to come
 *                  first (_FILL).
 *   REVOKE         when idle (ASK), or now.
 *   REVOKE, KEEP, STEP, CANNOT_DRAIN
 *                  while it holds: the gate could open, or memory has to come first (_SHORT).
 *   ROOM           for the turn that it has, or for one that a standby will bring (_AHEAD). A
 *                  client with an open gate was told to make room during its turn (TRIM), for a
 *                  program that is gone now.
 *   FILL           memory can come; none can (_NONE); or no more is to come (_STOP).
 *   EVICT          memory can leave; none can (_NONE: answered at once); or the gate has a standby
 *                  (_ARMED). In that case it could open by itself while memory leaves. It is
 *                  disarmed first. If the turn has come by then, the EVICT finds a client with a
 *                  turn.
 *   DRAINED, IDLE, USED_UP
 *                  the turn ends, and memory leaves after that (_OUT) or not. It does not if others
 *                  displace it, since then nothing is moved here.
 *   MOVED          by the mover's job: the memory to leave has left (LEFT), or the memory to come
 *                  has come (FILLED). Meanwhile it was asked to give way (_ASKED) or not, or a
 *                  daemon was greeted (_GREETING), or a STEP has waited for it (_TO_STEP). Or some
 *                  explicit memory has not come after all (_IN_PART).
 *
 * There are three kinds of cells. A step leads to a state and does something. VOID is an input that
 * may well happen and means nothing: frames cross on their way, and so does what the client sees of
 * its program. An input that is not in the table cannot happen, from a daemon and a caller that
 * keep to the rules; it changes nothing, and is reported. A frame about another turn than the
 * present one is void before the table is read. A descriptor that comes with anything but a step is
 * closed.
 *
 * A GRANT or STANDBY for a client that has a turn is impossible: the daemon gives the next turn
 * after it has got RELEASED, and a daemon that has just started believes RESUMING. */
#include "steps.h"

#define TO(state, act) {CELL_STEP, MACHINE_##state, machine_##act}
#define VOID           {.kind = CELL_VOID}

const struct cell machine_table[MACHINE_STATES][STEPS] =
    {
        [MACHINE_NEW] =
            {
                [STEP_GREET] = TO(NEW, greet),
                [STEP_WELCOME] = TO(CLOSED, be_welcome),
                [STEP_LOST] = TO(ALONE, go_alone),
                [STEP_LOST_SHORT] = TO(RETURNING, go_alone_short),
                [STEP_REFUSED] = TO(NEW, refuse),
                [STEP_WORK] = VOID, /* HELLO reports it */
                [STEP_USED_UP] = VOID,
            },
        [MACHINE_ALONE] =
            {
                [STEP_GREET] = TO(ALONE, greet),
                [STEP_WELCOME] = TO(OPEN, reopen),
                [STEP_LOST] = TO(ALONE, lose),
                [STEP_LOST_SHORT] = TO(RETURNING, lose_short),
                [STEP_WORK] = VOID,
                [STEP_USED_UP] = VOID,
                [STEP_PROGRESS] = VOID,
                [STEP_FILLED] = TO(ALONE, came_unseen),
            },
        [MACHINE_RETURNING] =
            {
                [STEP_GREET] = TO(RETURNING, greet),
                [STEP_WELCOME] = TO(CLOSED, stop_returning),
                [STEP_LOST] = TO(ALONE, lose),
                [STEP_LOST_SHORT] = TO(RETURNING, lose_again),
                [STEP_WORK] = VOID,
                [STEP_USED_UP] = VOID,
                [STEP_PROGRESS] = VOID,
                [STEP_FILLED] = TO(ALONE, returned),
                [STEP_FILLED_GREETING] = TO(RETURNING, came_unseen),
                [STEP_FILLED_IN_PART] = TO(RETURNING, return_again),
            },
        [MACHINE_WAITING] =
            {
                [STEP_GREET] = TO(WAITING, greet_waiting),
                [STEP_WELCOME] = TO(CLOSED, be_welcome),
                [STEP_LOST] = TO(ALONE, go_alone),
                [STEP_LOST_SHORT] = TO(RETURNING, go_alone_short),
                [STEP_LOST_WAITING] = TO(WAITING, wait_on),
                [STEP_WORK] = VOID, /* HELLO reports it */
                [STEP_USED_UP] = VOID,
                [STEP_PROGRESS] = VOID,
                [STEP_LEFT] = TO(WAITING, came_unseen),
            },
        [MACHINE_CLOSED] =
            {
                [STEP_LOST] = TO(ALONE, go_alone),
                [STEP_LOST_SHORT] = TO(RETURNING, go_alone_short),
                [STEP_LOST_WAITING] = TO(WAITING, wait),
                [STEP_GRANT] = TO(OPEN, begin),
                [STEP_GRANT_FILL] = TO(FILLING, begin_filling),
                [STEP_STANDBY] = TO(CLOSED, arm),
                [STEP_HANDOVER] = VOID,
                [STEP_CANCEL_HANDOVER] = VOID,
                [STEP_ASK] = VOID,
                [STEP_REVOKE] = VOID,
                [STEP_KEEP] = VOID,
                [STEP_HOLD] = VOID,
                [STEP_STEP] = VOID,
                [STEP_ROOM] = VOID,
                [STEP_ROOM_AHEAD] = TO(CLOSED, make_room_ahead),
                [STEP_EVICT] = TO(LEAVING, evict),
                [STEP_EVICT_ARMED] = TO(CLOSED, disarm),
                [STEP_EVICT_NONE] = TO(CLOSED, answer),
                [STEP_FILL] = TO(FETCHING, fetch),
                [STEP_FILL_STOP] = VOID, /* all has come, and was reported */
                [STEP_FILL_NONE] = TO(CLOSED, answer),
                [STEP_TRIM] = VOID,
                [STEP_TRIM_NONE] = TO(CLOSED, answer),
                [STEP_GROW] = VOID,
                [STEP_WORK] = TO(CLOSED, want),
                [STEP_USED_UP] = VOID,
                [STEP_PROGRESS] = VOID,
            },
        [MACHINE_LEAVING] =
            {
                [STEP_LOST] = TO(ALONE, go_alone),
                [STEP_LOST_SHORT] = TO(RETURNING, go_alone_short),
                [STEP_LOST_WAITING] = TO(WAITING, wait),
                [STEP_GRANT] = TO(OPEN, begin), /* all has left, but was not reported yet */
                [STEP_GRANT_FILL] = TO(FILLING, begin_filling),
                [STEP_STANDBY] = TO(LEAVING, arm),
                [STEP_HANDOVER] = VOID,
                [STEP_CANCEL_HANDOVER] = VOID,
                [STEP_ASK] = VOID,
                [STEP_REVOKE] = VOID,
                [STEP_KEEP] = VOID,
                [STEP_HOLD] = VOID,
                [STEP_STEP] = VOID,
                [STEP_ROOM] = VOID,
                [STEP_ROOM_AHEAD] = TO(LEAVING, make_room_ahead),
                [STEP_EVICT] = TO(LEAVING, evict_more),
                [STEP_EVICT_ARMED] = TO(LEAVING, disarm),
                [STEP_EVICT_NONE] = TO(LEAVING, answer),
                [STEP_FILL] = TO(LEAVING, answer), /* all has left, but was not reported yet */
                [STEP_FILL_STOP] = VOID,
                [STEP_FILL_NONE] = TO(LEAVING, answer),
                [STEP_TRIM] = VOID,
                [STEP_TRIM_NONE] = TO(LEAVING, answer),
                [STEP_GROW] = VOID,
                [STEP_WORK] = TO(LEAVING, want),
                [STEP_USED_UP] = VOID,
                [STEP_PROGRESS] = TO(LEAVING, progress),
                [STEP_LEFT] = TO(CLOSED, left_shut),
            },
        [MACHINE_FETCHING] =
            {
                [STEP_LOST] = TO(ALONE, go_alone),
                [STEP_LOST_SHORT] = TO(RETURNING, go_alone_short),
                [STEP_LOST_WAITING] = TO(WAITING, wait),
                [STEP_GRANT] = TO(OPEN, begin),
                [STEP_GRANT_FILL] = TO(FILLING, begin_filling),
                [STEP_STANDBY] = TO(FETCHING, arm),
                [STEP_HANDOVER] = VOID,
                [STEP_CANCEL_HANDOVER] = VOID,
                [STEP_ASK] = VOID,
                [STEP_REVOKE] = VOID,
                [STEP_KEEP] = VOID,
                [STEP_HOLD] = VOID,
                [STEP_STEP] = VOID,
                [STEP_ROOM] = VOID,
                [STEP_ROOM_AHEAD] = TO(FETCHING, make_room_ahead),
                [STEP_EVICT] = TO(FETCHING, stop_to_leave),
                [STEP_FILL] = TO(FETCHING, fetch),
                [STEP_FILL_STOP] = TO(FETCHING, stop_fetching),
                [STEP_FILL_NONE] = VOID, /* reported when the present fill ends */
                [STEP_TRIM] = VOID,
                [STEP_TRIM_NONE] = TO(FETCHING, answer),
                [STEP_GROW] = VOID,
                [STEP_WORK] = TO(FETCHING, want),
                [STEP_USED_UP] = VOID,
                [STEP_USED_UP_OUT] = VOID, /* memory is to leave, but not for the end of a turn */
                [STEP_PROGRESS] = VOID,
                [STEP_FILLED] = TO(CLOSED, fetched),
                [STEP_FILLED_TO_LEAVE] = TO(LEAVING, fetched_to_leave),
            },
        [MACHINE_FILLING] =
            {
                [STEP_LOST] = TO(ALONE, lose),
                [STEP_LOST_SHORT] = TO(RETURNING, lose_short),
                [STEP_HANDOVER] = TO(FILLING, plan_handover),
                [STEP_CANCEL_HANDOVER] = TO(FILLING, cancel_handover),
                [STEP_ASK] = TO(FILLING, ask_later),
                [STEP_REVOKE] = TO(STOPPING, stop),
                [STEP_KEEP] = TO(FILLING, forget),
                [STEP_HOLD] = TO(HOLDING, hold_short),
                [STEP_STEP] = VOID,
                [STEP_ROOM] = TO(FILLING, make_room),
                [STEP_EVICT] = TO(FILLING, answer),
                [STEP_EVICT_NONE] = TO(FILLING, answer),
                [STEP_FILL] = VOID, /* the turn has come before */
                [STEP_FILL_STOP] = VOID,
                [STEP_FILL_NONE] = VOID,
                [STEP_TRIM] = TO(FILLING, trim_later),
                [STEP_TRIM_NONE] = TO(FILLING, answer),
                [STEP_GROW] = TO(GROWING, grow),
                [STEP_WORK] = VOID,
                [STEP_USED_UP] = VOID,
                [STEP_USED_UP_OUT] = VOID,
                [STEP_PROGRESS] = VOID,
                [STEP_FILLED] = TO(OPEN, filled),
                [STEP_FILLED_ASKED] = TO(WATCHED, filled_watched),
                [STEP_FILLED_IN_PART] = TO(FILLING, fill_again),
            },
        [MACHINE_GROWING] =
            {
                [STEP_LOST] = TO(ALONE, lose),
                [STEP_LOST_SHORT] = TO(RETURNING, lose_short),
                [STEP_HANDOVER] = TO(GROWING, plan_handover),
                [STEP_CANCEL_HANDOVER] = TO(GROWING, cancel_handover),
                [STEP_ASK] = TO(GROWING, ask_later),
                [STEP_REVOKE] = TO(STOPPING, stop),
                [STEP_KEEP] = TO(GROWING, forget),
                [STEP_HOLD] = TO(HOLDING, hold_short),
                [STEP_STEP] = VOID,
                [STEP_ROOM] = TO(GROWING, make_room_to_grow),
                [STEP_EVICT] = TO(GROWING, answer),
                [STEP_EVICT_NONE] = TO(GROWING, answer),
                [STEP_FILL] = VOID, /* the turn has come before */
                [STEP_FILL_STOP] = VOID,
                [STEP_FILL_NONE] = VOID,
                [STEP_TRIM] = TO(GROWING, trim_later),
                [STEP_TRIM_NONE] = TO(GROWING, answer),
                [STEP_GROW] = TO(GROWING, grow),
                [STEP_GREW] = TO(FILLING, grew),
                [STEP_WORK] = VOID,
                [STEP_USED_UP] = VOID,
                [STEP_USED_UP_OUT] = VOID,
                [STEP_PROGRESS] = VOID,
                [STEP_LEFT] = TO(GROWING, left_shut),
                /* The earlier fill has ended. It is reported with what is still to come. */
                [STEP_FILLED] = TO(GROWING, came_unseen),
                [STEP_FILLED_ASKED] = TO(GROWING, came_unseen),
                [STEP_FILLED_IN_PART] = TO(GROWING, came_unseen),
            },
        [MACHINE_OPEN] =
            {
                [STEP_LOST] = TO(ALONE, lose),
                [STEP_LOST_SHORT] = TO(RETURNING, lose_short),
                [STEP_HANDOVER] = TO(OPEN, plan_handover),
                [STEP_CANCEL_HANDOVER] = TO(OPEN, cancel_handover),
                [STEP_ASK] = TO(WATCHED, ask),
                [STEP_REVOKE] = TO(CLOSING, close),
                [STEP_KEEP] = TO(OPEN, forget),
                [STEP_HOLD] = TO(HOLDING, hold),
                [STEP_STEP] = VOID,
                [STEP_ROOM] = TO(OPEN, fill_beside),
                [STEP_EVICT] = TO(OPEN, answer),
                [STEP_EVICT_NONE] = TO(OPEN, answer),
                [STEP_FILL] = VOID, /* the turn has come before */
                [STEP_FILL_STOP] = VOID,
                [STEP_FILL_NONE] = VOID,
                [STEP_TRIM] = TO(OPEN, trim),
                [STEP_TRIM_NONE] = TO(OPEN, answer),
                [STEP_GROW] = TO(GROWING, close_to_grow),
                [STEP_WORK] = VOID,
                [STEP_USED_UP] = VOID, /* no other program wants the turn */
                [STEP_PROGRESS] = VOID,
                [STEP_LEFT] = TO(OPEN, left),
                [STEP_FILLED] = TO(OPEN, came),
            },
        [MACHINE_WATCHED] =
            {
                [STEP_LOST] = TO(ALONE, lose),
                [STEP_LOST_SHORT] = TO(RETURNING, lose_short),
                [STEP_HANDOVER] = TO(WATCHED, plan_handover),
                [STEP_CANCEL_HANDOVER] = TO(WATCHED, cancel_handover),
                [STEP_ASK] = TO(WATCHED, ask),
                [STEP_REVOKE] = TO(CLOSING, close),
                [STEP_KEEP] = TO(OPEN, keep),
                [STEP_HOLD] = TO(HOLDING, hold),
                [STEP_STEP] = VOID,
                [STEP_ROOM] = TO(WATCHED, fill_beside),
                [STEP_EVICT] = TO(WATCHED, answer),
                [STEP_EVICT_NONE] = TO(WATCHED, answer),
                [STEP_FILL] = VOID, /* the turn has come before */
                [STEP_FILL_STOP] = VOID,
                [STEP_FILL_NONE] = VOID,
                [STEP_TRIM] = TO(WATCHED, trim),
                [STEP_TRIM_NONE] = TO(WATCHED, answer),
                [STEP_GROW] = TO(GROWING, close_to_grow),
                [STEP_WORK] = VOID,
                [STEP_IDLE] = TO(CLOSED, give_up_idle),
                [STEP_IDLE_OUT] = TO(LEAVING, give_up_idle),
                /* Its calls wait elsewhere, for long, so it is idle at once. */
                [STEP_USED_UP] = TO(CLOSED, give_up_used),
                [STEP_USED_UP_OUT] = TO(LEAVING, give_up_used),
                [STEP_PROGRESS] = VOID,
                [STEP_LEFT] = TO(WATCHED, left),
                [STEP_FILLED_ASKED] = TO(WATCHED, came),
            },
        [MACHINE_HOLDING] =
            {
                [STEP_LOST] = TO(ALONE, lose),
                [STEP_LOST_SHORT] = TO(RETURNING, lose_short),
                [STEP_HANDOVER] = TO(HOLDING, plan_handover),
                [STEP_CANCEL_HANDOVER] = TO(HOLDING, cancel_handover),
                [STEP_ASK] = VOID, /* the daemon is about to say how it goes on */
                [STEP_REVOKE] = TO(CLOSING, stop),
                [STEP_REVOKE_SHORT] = TO(STOPPING, stop),
                [STEP_KEEP] = TO(OPEN, keep),
                [STEP_KEEP_SHORT] = TO(FILLING, refill),
                [STEP_HOLD] = VOID,
                [STEP_STEP] = VOID,
                [STEP_STEP_SHORT] = VOID,
                [STEP_ROOM] = TO(HOLDING, fill_to_drain),
                [STEP_EVICT] = TO(HOLDING, answer),
                [STEP_EVICT_NONE] = TO(HOLDING, answer),
                [STEP_FILL] = VOID, /* the turn has come before */
                [STEP_FILL_STOP] = VOID,
                [STEP_FILL_NONE] = VOID,
                [STEP_TRIM] = TO(HOLDING, trim_later),
                [STEP_TRIM_NONE] = TO(HOLDING, answer),
                [STEP_GROW] = TO(HOLDING, grow_held),
                [STEP_WORK] = VOID, /* HELD reports it */
                [STEP_DRAINED] = TO(HELD, be_held),
                [STEP_CANNOT_DRAIN] = TO(OPEN, open_again),
                [STEP_CANNOT_DRAIN_SHORT] = TO(FILLING, go_on_filling),
                [STEP_USED_UP] = VOID, /* and nothing ends before that */
                [STEP_PROGRESS] = VOID,
                [STEP_LEFT] = TO(HOLDING, left_held),
                [STEP_FILLED] = TO(HOLDING, came_held),
                [STEP_FILLED_IN_PART] = TO(HOLDING, fill_again),
            },
        [MACHINE_HELD] =
            {
                [STEP_LOST] = TO(ALONE, lose),
                [STEP_LOST_SHORT] = TO(RETURNING, lose_short),
                [STEP_HANDOVER] = TO(HELD, plan_handover),
                [STEP_CANCEL_HANDOVER] = TO(HELD, cancel_handover),
                [STEP_ASK] = VOID, /* the daemon is about to say how it goes on */
                [STEP_REVOKE] = TO(CLOSING, stop),
                [STEP_REVOKE_SHORT] = TO(STOPPING, stop),
                [STEP_KEEP] = TO(OPEN, keep),
                [STEP_KEEP_SHORT] = TO(FILLING, refill),
                [STEP_HOLD] = VOID,
                [STEP_STEP] = TO(HOLDING, step),
                [STEP_STEP_SHORT] = TO(HELD, step_later),
                [STEP_ROOM] = TO(HELD, make_room),
                [STEP_EVICT] = TO(HELD, answer),
                [STEP_EVICT_NONE] = TO(HELD, answer),
                [STEP_FILL] = VOID, /* the turn has come before */
                [STEP_FILL_STOP] = VOID,
                [STEP_FILL_NONE] = VOID,
                [STEP_TRIM] = TO(HELD, trim_later),
                [STEP_TRIM_NONE] = TO(HELD, answer),
                [STEP_GROW] = TO(HELD, grow_held),
                [STEP_WORK] = TO(HELD, held_wanted),
                [STEP_USED_UP] = VOID, /* and nothing ends before that */
                [STEP_PROGRESS] = VOID,
                [STEP_LEFT] = TO(HELD, left_held),
                [STEP_FILLED] = TO(HELD, came_held),
                [STEP_FILLED_TO_STEP] = TO(HOLDING, came_to_step),
                [STEP_FILLED_IN_PART] = TO(HELD, fill_again),
            },
        [MACHINE_CLOSING] =
            {
                [STEP_LOST] = TO(ALONE, lose),
                [STEP_LOST_SHORT] = TO(RETURNING, lose_short),
                [STEP_HANDOVER] = TO(CLOSING, plan_handover),
                [STEP_CANCEL_HANDOVER] = TO(CLOSING, cancel_handover),
                [STEP_ASK] = VOID,
                [STEP_REVOKE] = VOID,
                [STEP_KEEP] = TO(OPEN, keep),
                [STEP_HOLD] = VOID,
                [STEP_STEP] = VOID,
                [STEP_ROOM] = TO(CLOSING, fill_to_drain),
                [STEP_EVICT] = TO(CLOSING, answer),
                [STEP_EVICT_NONE] = TO(CLOSING, answer),
                [STEP_FILL] = VOID, /* the turn has come before */
                [STEP_FILL_STOP] = VOID,
                [STEP_FILL_NONE] = VOID,
                [STEP_TRIM] = VOID, /* RELEASED answers it */
                [STEP_TRIM_NONE] = TO(CLOSING, answer),
                [STEP_GROW] = VOID, /* the next turn begins with it */
                [STEP_WORK] = VOID, /* RELEASED reports it */
                [STEP_DRAINED] = TO(CLOSED, give_back),
                [STEP_DRAINED_OUT] = TO(LEAVING, give_back),
                [STEP_CANNOT_DRAIN] = TO(OPEN, open_again),
                [STEP_USED_UP] = TO(CLOSED, give_up_used),
                [STEP_USED_UP_OUT] = TO(LEAVING, give_up_used),
                [STEP_PROGRESS] = VOID,
                [STEP_LEFT] = TO(CLOSING, left_shut),
                [STEP_FILLED] = TO(CLOSING, came_shut),
            },
        [MACHINE_STOPPING] =
            {
                [STEP_LOST] = TO(ALONE, lose),
                [STEP_LOST_SHORT] = TO(RETURNING, lose_short),
                [STEP_HANDOVER] = TO(STOPPING, plan_handover),
                [STEP_CANCEL_HANDOVER] = TO(STOPPING, cancel_handover),
                [STEP_ASK] = VOID,
                [STEP_REVOKE] = VOID,
                [STEP_KEEP] = TO(FILLING, refill),
                [STEP_HOLD] = VOID,
                [STEP_STEP] = VOID,
                [STEP_ROOM] = TO(STOPPING, make_room),
                [STEP_EVICT] = TO(STOPPING, answer),
                [STEP_EVICT_NONE] = TO(STOPPING, answer),
                [STEP_FILL] = VOID, /* the turn has come before */
                [STEP_FILL_STOP] = VOID,
                [STEP_FILL_NONE] = VOID,
                [STEP_TRIM] = VOID,
                [STEP_TRIM_NONE] = TO(STOPPING, answer),
                [STEP_GROW] = VOID,
                [STEP_WORK] = VOID,
                [STEP_DRAINED] = TO(CLOSED, give_back),
                [STEP_DRAINED_OUT] = TO(LEAVING, give_back),
                [STEP_CANNOT_DRAIN] = TO(FILLING, go_on_filling),
                [STEP_USED_UP] = TO(CLOSED, give_up_used),
                [STEP_USED_UP_OUT] = TO(LEAVING, give_up_used),
                [STEP_PROGRESS] = VOID,
                [STEP_LEFT] = TO(STOPPING, left_shut),
                [STEP_FILLED] = TO(CLOSING, came_shut),
                [STEP_FILLED_IN_PART] = TO(STOPPING, came_shut),
            },
};
