// SPDX-License-Identifier: Apache-2.0
// In: stamps of the frames at hand, one an interface, and interfaces that have none. Out: whose
// turn it is.
#include "capture/sources/heads.h"

typedef struct {
    bool is_open; // takes part
    bool has;     // a frame is at hand
    gint64 time_ns;
    gint64 read_us;   // when it was read
    guint64 order;    // among those read
    gint64 newest_ns; // stamp read last; G_MININT64 before the first
    gint64 empty_ns;  // when it was last found empty
    gint64 looked_us; // when it was last looked at
} Head;

struct BbHeads {
    Head *heads;
    guint count;
    guint64 reads;
    bool by_reading; // stamps do not compare: in the order read
    gint64 given_ns; // latest stamp given
    int given_by;    // by whom; -1: nobody yet
    guint n_open;
};

BbHeads *bb_heads_new(guint interfaces)
{
    BbHeads *heads = g_new0(BbHeads, 1);
    heads->heads = g_new0(Head, interfaces);
    heads->count = heads->n_open = interfaces;
    heads->given_by = -1;
    for (guint i = 0; i < interfaces; i++)
        heads->heads[i] = (Head){.is_open = true, .newest_ns = G_MININT64};
    return heads;
}

void bb_heads_free(BbHeads *heads)
{
    if (!heads)
        return;
    g_free(heads->heads);
    g_free(heads);
}

static const Head *earliest(const BbHeads *heads)
{
    const Head *found = NULL;
    for (const Head *head = heads->heads; head < heads->heads + heads->count; head++)
        if (head->has && (!found || head->time_ns < found->time_ns))
            found = head;
    return found;
}

static const Head *read_first(const BbHeads *heads)
{
    const Head *found = NULL;
    for (const Head *head = heads->heads; head < heads->heads + heads->count; head++)
        if (head->has && (!found || head->order < found->order))
            found = head;
    return found;
}

// Whether an interface that was found empty then has nothing before this stamp.
static bool is_settled(gint64 time_ns, gint64 empty_ns)
{
    return time_ns + BB_HEADS_WAIT_NS <= empty_ns || time_ns - BB_HEADS_WAIT_NS > empty_ns;
}

bool bb_heads_wants(const BbHeads *heads, guint interface, BbHeadsNow now)
{
    const Head *head = &heads->heads[interface];
    if (!head->is_open || head->has)
        return false;
    if (heads->n_open == 1 || now.steady_us - head->looked_us >= BB_HEADS_LOOK_US)
        return true;
    const Head *next = earliest(heads);
    return !next || next->time_ns + BB_HEADS_WAIT_NS > head->empty_ns;
}

gint64 bb_heads_put(BbHeads *heads, guint interface, gint64 time_ns, BbHeadsNow now)
{
    Head *head = &heads->heads[interface];
    gint64 step_ns = head->newest_ns == G_MININT64 ? 0 : head->newest_ns - time_ns;
    head->has = true;
    head->time_ns = head->newest_ns = time_ns;
    head->read_us = head->looked_us = now.steady_us;
    head->order = heads->reads++;
    return step_ns > BB_HEADS_STEP_NS ? step_ns : 0;
}

void bb_heads_none(BbHeads *heads, guint interface, BbHeadsNow now)
{
    heads->heads[interface].empty_ns = now.real_ns;
    heads->heads[interface].looked_us = now.steady_us;
}

void bb_heads_leave(BbHeads *heads, guint interface)
{
    Head *head = &heads->heads[interface];
    heads->n_open -= head->is_open;
    head->is_open = head->has = false;
}

void bb_heads_join(BbHeads *heads, guint interface)
{
    Head *head = &heads->heads[interface];
    heads->n_open += !head->is_open;
    head->is_open = true;
    head->looked_us = 0;
}

// Stamps at hand differ by no more than a second.
static bool are_close(const BbHeads *heads)
{
    gint64 first_ns = G_MAXINT64, last_ns = G_MININT64;
    guint count = 0;
    for (guint i = 0; i < heads->count; i++) {
        if (!heads->heads[i].has)
            continue;
        first_ns = MIN(first_ns, heads->heads[i].time_ns);
        last_ns = MAX(last_ns, heads->heads[i].time_ns);
        count++;
    }
    return count > 1 && last_ns - first_ns <= BB_HEADS_STEP_NS;
}

static const Head *choose(BbHeads *heads, BbHeadsNow now)
{
    const Head *early = earliest(heads);
    if (!early || heads->n_open == 1)
        return early;
    const Head *first = read_first(heads);
    bool is_late = first != early && now.steady_us - first->read_us >= BB_HEADS_PASS_US;
    if (heads->by_reading || is_late)
        heads->by_reading = !are_close(heads);
    return heads->by_reading ? first : early;
}

// A stamp that is far behind the latest one given begins anew: the clock was set back.
static bool note_given(BbHeads *heads, int interface, gint64 time_ns)
{
    bool first = heads->given_by < 0;
    bool behind = !first && time_ns < heads->given_ns;
    bool crossed = behind && heads->given_by != interface;
    if (!behind || heads->given_ns - time_ns > BB_HEADS_STEP_NS) {
        heads->given_ns = time_ns;
        heads->given_by = interface;
    }
    return crossed;
}

int bb_heads_take(BbHeads *heads, BbHeadsNow now, bool *crossed)
{
    const Head *next = choose(heads, now);
    *crossed = false;
    if (!next)
        return -1;
    for (guint i = 0; i < heads->count; i++) {
        const Head *other = &heads->heads[i];
        if (other->is_open && !other->has && !is_settled(next->time_ns, other->empty_ns))
            return -1;
    }
    int interface = (int)(next - heads->heads);
    heads->heads[interface].has = false;
    *crossed = note_given(heads, interface, next->time_ns);
    return interface;
}

gint64 bb_heads_wait(const BbHeads *heads, BbHeadsNow now)
{
    const Head *next = earliest(heads);
    return next ? MAX(next->time_ns + BB_HEADS_WAIT_NS - now.real_ns, 0) : G_MAXINT64;
}
