// SPDX-License-Identifier: Apache-2.0
// The calls to a node that it replied to, when each one's turn came if so many are worked on at
// once, and how much alike they last from then on.
#pragma once

#include "data/call.h"

#define BB_SERVED_WORKERS 64u         // of a line, at most
#define BB_SERVED_LINES 8u            // of a node, at most
#define BB_SERVED_UNIT_NS 1000        // times are no finer than that
#define BB_SERVED_NO_LINE G_MAXUINT32 // whose call begins when it arrives

typedef struct BbServed {
    gint64 s, e;  // arrival, reply, on the node's clock; e is no earlier
    guint32 call; // index into the calls
    guint32 kind; // of calls that should last alike
    guint32 conn; // that it came on; 0: not known
    guint32 line; // that it stands in, below BB_SERVED_LINES, or BB_SERVED_NO_LINE
} BbServed;

// Those of a line that replied last, as many as there are workers.
typedef struct BbTurns {
    gint64 reply[BB_SERVED_WORKERS]; // in order of time
    guint n, workers;
} BbTurns;

// When the turn of a call comes, the next one that arrives: as soon as fewer of those before it are
// open than there are workers.
static inline gint64 bb_turns_next(const BbTurns *turns, const BbServed *served)
{
    bool all_busy = turns->n == turns->workers && turns->reply[0] > served->s;
    return all_busy ? turns->reply[0] : served->s;
}

static inline void bb_turns_reply(BbTurns *turns, gint64 reply)
{
    guint at = turns->n;
    if (at == turns->workers) {
        if (reply <= turns->reply[0])
            return;
        for (at = 0; at + 1 < turns->n && turns->reply[at + 1] < reply; at++)
            turns->reply[at] = turns->reply[at + 1];
    } else {
        for (turns->n++; at > 0 && turns->reply[at - 1] > reply; at--)
            turns->reply[at] = turns->reply[at - 1];
    }
    turns->reply[at] = reply;
}

// When each of n calls, in order of arrival, begins, if each line has so many workers. Who replied
// before its turn was not in the line; returns how many did. first: the same one turn earlier; or
// NULL.
guint32 bb_served_begin(const BbServed *served, guint32 n, guint workers, gint64 *begun,
                        gint64 *first);

// Calls of a caller, and of an operation, if labels, should last alike.
void bb_served_set_kinds(BbServed *served, guint32 n, const BbCall *calls, bool labels);

// The entropy of how long n calls last from when they begin, given their kinds, in nats, up to what
// depends on their number and kinds only. begun: NULL: from their arrival.
double bb_served_entropy(const BbServed *served, guint32 n, const gint64 *begun);
