// SPDX-License-Identifier: Apache-2.0
// In: calls without return, returns without call. Out: those that belong together, joined.
#include "nesting/forwarding.h"

#include <stdbool.h>
#include <stdlib.h>

#include "data/tally.h"

#define NONE G_MAXUINT32
#define STEPS_MAX 1024u  // of the search for one chain,
#define TRIED_MAX 10000u // returns without id from which chains are learned
#define SCAN_MAX 64u     // of them among the calls of one node
#define FITS_MAX 16u     // that are counted

// A call without return, as the two orders of search have it.
typedef struct {
    guint32 caller;
    guint32 id_form;   // 0 in the order by time; in that by callee, whether it has an id
    guint64 id_number; // likewise 0; the callee
    guint32 index;
    guint32 next; // itself, or once it was joined the way to the next that was not
} Open;

typedef struct {
    BbCall *calls;
    guint32 count;
    guint32 n_open;
    Open *by_time;   // by caller, then index; with an end that has no caller
    Open *by_id;     // by caller, id, then index; likewise
    Open *by_callee; // by caller, whether it has an id, callee, then index; likewise
    BbTally pairs;   // (caller, callee) of all calls; made when first asked for
    bool has_pairs;
    BbTally edges; // (caller, callee) of calls without id that begin chains
    guint32 chain[BB_FORWARDING_HOPS_MAX];
    guint length, steps;
    guint fits; // calls that fit as well as the chain's last one, with it
} Forwarding;

static int by_caller(const void *a, const void *b)
{
    const Open *x = a, *y = b;
    if (x->caller != y->caller)
        return x->caller < y->caller ? -1 : 1;
    if (x->id_form != y->id_form)
        return x->id_form < y->id_form ? -1 : 1;
    if (x->id_number != y->id_number)
        return x->id_number < y->id_number ? -1 : 1;
    return (x->index > y->index) - (x->index < y->index);
}

// Sorts, and marks the end.
static void finish_open(Open *opens, guint32 n)
{
    if (n > 0)
        qsort(opens, n, sizeof *opens, by_caller);
    for (guint32 i = 0; i < n; i++)
        opens[i].next = i;
    opens[n] = (Open){.caller = BB_NAME_NONE, .next = n};
}

static void collect_open(Forwarding *forwarding)
{
    guint32 n = 0;
    for (guint32 i = 0; i < forwarding->count; i++)
        n += !bb_call_is_returned(&forwarding->calls[i]);
    forwarding->n_open = n;
    forwarding->by_time = g_new(Open, (gsize)n + 1);
    forwarding->by_id = g_new(Open, (gsize)n + 1);
    forwarding->by_callee = g_new(Open, (gsize)n + 1);
    n = 0;
    for (guint32 i = 0; i < forwarding->count; i++) {
        const BbCall *call = &forwarding->calls[i];
        if (bb_call_is_returned(call))
            continue;
        forwarding->by_time[n] = (Open){call->caller, 0, 0, i, 0};
        forwarding->by_callee[n] =
            (Open){call->caller, bb_id_is_known(call->id), call->callee, i, 0};
        forwarding->by_id[n++] = (Open){call->caller, call->id.form, call->id.number, i, 0};
    }
    finish_open(forwarding->by_time, n);
    finish_open(forwarding->by_id, n);
    finish_open(forwarding->by_callee, n);
}

// The first at or after `at` that was not joined; shortens the way there.
static guint32 skip_joined(const Forwarding *forwarding, Open *opens, guint32 at)
{
    while (at < forwarding->n_open && bb_call_is_returned(&forwarding->calls[opens[at].index])) {
        if (opens[at].next == at)
            opens[at].next = at + 1;
        opens[at].next = opens[opens[at].next].next;
        at = opens[at].next;
    }
    return at;
}

static bool is_of(const Open *open, const Open *wanted)
{
    return open->caller == wanted->caller && open->id_form == wanted->id_form &&
           open->id_number == wanted->id_number;
}

// The first of opens that is not before wanted.
static guint32 find_open(const Open *opens, guint32 n, Open wanted)
{
    guint32 from = 0, to = n;
    while (from < to) {
        guint32 middle = from + (to - from) / 2;
        if (by_caller(&opens[middle], &wanted) < 0)
            from = middle + 1;
        else
            to = middle;
    }
    return from;
}

// The first call at or after time_ns.
static guint32 index_at(const Forwarding *forwarding, gint64 time_ns)
{
    guint32 from = 0, to = forwarding->count;
    while (from < to) {
        guint32 middle = from + (to - from) / 2;
        if (forwarding->calls[middle].call_ns < time_ns)
            from = middle + 1;
        else
            to = middle;
    }
    return from;
}

static bool calls_directly(Forwarding *forwarding, guint32 caller, guint32 callee)
{
    if (!forwarding->has_pairs) {
        bb_tally_init(&forwarding->pairs);
        forwarding->has_pairs = true;
        for (guint32 i = 0; i < forwarding->count; i++) {
            const BbCall *call = &forwarding->calls[i];
            *bb_tally_at(&forwarding->pairs, (BbTallyKey){call->caller, call->callee, 0}) = 1;
        }
    }
    return bb_tally_get(&forwarding->pairs, (BbTallyKey){caller, callee, 0}) > 0;
}

// ---- chains ------------------------------------------------------------------------------------

static bool step(Forwarding *forwarding)
{
    return forwarding->steps++ < STEPS_MAX;
}

static bool is_in_chain(const Forwarding *forwarding, guint32 index)
{
    for (guint i = 0; i < forwarding->length; i++)
        if (forwarding->chain[i] == index ||
            forwarding->calls[forwarding->chain[i]].caller == forwarding->calls[index].callee)
            return true;
    return false;
}

static const BbCall *last_hop(const Forwarding *forwarding)
{
    return &forwarding->calls[forwarding->chain[forwarding->length - 1]];
}

// A search among the open calls that the chain's last callee made after it was called.
typedef struct {
    Open *opens;
    Open wanted;
    guint32 at;
    guint scanned;
} Search;

// id: the calls must have it; NULL for any.
static Search search_begin(const Forwarding *forwarding, const BbId *id)
{
    const BbCall *last = last_hop(forwarding);
    Search search = {.opens = id ? forwarding->by_id : forwarding->by_time};
    search.wanted = (Open){last->callee, id ? id->form : 0, id ? id->number : 0,
                           index_at(forwarding, last->arrived_ns), 0};
    search.at = find_open(search.opens, forwarding->n_open, search.wanted);
    return search;
}

// The index of the next that may go on with the chain; NONE after the last.
static guint32 search_next(Forwarding *forwarding, Search *search)
{
    for (;;) {
        search->at = skip_joined(forwarding, search->opens, search->at);
        const Open *open = &search->opens[search->at];
        if (!is_of(open, &search->wanted) || search->scanned++ == SCAN_MAX || !step(forwarding))
            return NONE;
        search->at++;
        if (!is_in_chain(forwarding, open->index))
            return open->index;
    }
}

static void append(Forwarding *forwarding, guint32 index)
{
    forwarding->chain[forwarding->length++] = index;
}

// A call of the last callee to the one that answered, with the id, if any.
static bool ends(Forwarding *forwarding, const BbCall *orphan, const BbId *id)
{
    guint32 index;
    Search search = search_begin(forwarding, id);
    forwarding->fits = 0;
    while ((index = search_next(forwarding, &search)) != NONE) {
        const BbCall *call = &forwarding->calls[index];
        if (call->callee != orphan->callee || call->arrived_ns > orphan->replied_ns)
            continue;
        if (forwarding->fits++ == 0)
            append(forwarding, index);
        if (id || forwarding->fits == FITS_MAX)
            break;
    }
    return forwarding->fits > 0;
}

// Goes on from the chain's last call to the node that answered. At most BB_FORWARDING_HOPS_MAX
// deep.
static bool goes_on(Forwarding *forwarding, const BbCall *orphan)
{
    if (forwarding->length == BB_FORWARDING_HOPS_MAX)
        return false;
    if (bb_id_is_known(orphan->id) && ends(forwarding, orphan, &orphan->id))
        return true;
    if (ends(forwarding, orphan, NULL))
        return true;
    guint32 index;
    Search search = search_begin(forwarding, NULL);
    while ((index = search_next(forwarding, &search)) != NONE) {
        append(forwarding, index);
        if (goes_on(forwarding, orphan))
            return true;
        forwarding->length--;
    }
    return false;
}

static bool may_begin(const Forwarding *forwarding, guint32 index, const BbCall *orphan)
{
    const BbCall *call = &forwarding->calls[index];
    return call->callee != orphan->callee && call->call_ns <= orphan->return_ns &&
           bb_time_between(call->call_ns, orphan->return_ns) <= BB_FORWARDING_AGE_MAX_NS;
}

// The chain that begins with the first fitting call of opens that is not before wanted.
static bool find_from(Forwarding *forwarding, Open *opens, Open wanted, const BbCall *orphan)
{
    guint32 at = find_open(opens, forwarding->n_open, wanted);
    for (;; at++) {
        at = skip_joined(forwarding, opens, at);
        if (!is_of(&opens[at], &wanted) || !step(forwarding))
            return false;
        if (!may_begin(forwarding, opens[at].index, orphan))
            continue;
        forwarding->length = 0;
        append(forwarding, opens[at].index);
        if (goes_on(forwarding, orphan))
            return true;
    }
}

static bool find_chain(Forwarding *forwarding, const BbCall *orphan)
{
    gint64 oldest_ns = bb_time_after(orphan->return_ns, -BB_FORWARDING_AGE_MAX_NS);
    Open wanted = {orphan->caller, 0, 0, index_at(forwarding, oldest_ns), 0};
    forwarding->steps = 0;
    if (!bb_id_is_known(orphan->id))
        return !calls_directly(forwarding, orphan->caller, orphan->callee) &&
               find_from(forwarding, forwarding->by_time, wanted, orphan);
    wanted.id_form = orphan->id.form;
    wanted.id_number = orphan->id.number;
    return find_from(forwarding, forwarding->by_id, wanted, orphan);
}

// ---- joining -----------------------------------------------------------------------------------

// The instant at_ns of the callee's clock on the caller's: both saw the call.
static gint64 at_caller(const BbCall *call, gint64 at_ns)
{
    return bb_time_after(call->call_ns, bb_time_between(call->arrived_ns, at_ns));
}

static void end_call(BbCall *call, const BbCall *orphan, gint64 replied_ns, gint64 return_ns)
{
    call->replied_ns = replied_ns;
    call->return_ns = return_ns;
    call->status = orphan->status;
    if (orphan->return_end_ns == BB_TIME_NONE)
        return;
    gint64 sending_ns = bb_time_between(orphan->replied_ns, orphan->return_end_ns);
    call->return_end_ns = bb_time_after(replied_ns, sending_ns);
}

static void join(Forwarding *forwarding, const BbCall *orphan)
{
    gint64 end_ns = orphan->replied_ns;
    for (guint i = forwarding->length; i-- > 0;) {
        BbCall *call = &forwarding->calls[forwarding->chain[i]];
        gint64 return_ns = i == 0 ? orphan->return_ns : at_caller(call, end_ns);
        end_call(call, orphan, end_ns, return_ns);
        end_ns = return_ns;
    }
}

// Of several that fit, the first is it more often than the others: 75 to 90 % of the time where 0.3
// to 1.8 are open (bbtrace generate, FORWARD with exponential delays and with even ones).
static void note_toss(const Forwarding *forwarding, GArray *tosses)
{
    float share = (2 + 1 / (float)forwarding->fits) / 3;
    BbToss toss = {forwarding->chain[forwarding->length - 1], share};
    if (tosses && forwarding->fits > 1)
        g_array_append_val(tosses, toss);
}

// ---- answers of both kinds ---------------------------------------------------------------------

static int by_return(const void *a, const void *b)
{
    const BbCall *x = a, *y = b;
    if (x->return_ns != y->return_ns)
        return x->return_ns < y->return_ns ? -1 : 1;
    return (x->callee > y->callee) - (x->callee < y->callee);
}

static bool is_edge(const Forwarding *forwarding, const BbCall *call)
{
    return !bb_id_is_known(call->id) &&
           bb_tally_get(&forwarding->edges, (BbTallyKey){call->caller, call->callee, 0}) > 0;
}

// Pairs of nodes between which chains without ids begin.
static void find_edges(Forwarding *forwarding, const BbCall *orphans, guint32 n_orphans)
{
    guint tried = 0;
    for (guint32 i = 0; i < n_orphans && tried < TRIED_MAX; i++) {
        if (bb_id_is_known(orphans[i].id))
            continue;
        tried++;
        if (!find_chain(forwarding, &orphans[i]))
            continue;
        const BbCall *first = &forwarding->calls[forwarding->chain[0]];
        *bb_tally_at(&forwarding->edges, (BbTallyKey){first->caller, first->callee, 0}) = 1;
    }
}

// Where some calls of a pair are answered by the callee and some by another, the former were given
// to calls that the latter belong to: takes the returns of such pairs back. Without ids the order
// of all returns decides.
static GArray *take_back(Forwarding *forwarding)
{
    GArray *returns = g_array_new(FALSE, FALSE, sizeof(BbCall));
    for (guint32 i = 0; forwarding->edges.used > 0 && i < forwarding->count; i++) {
        BbCall *call = &forwarding->calls[i];
        if (!bb_call_is_returned(call) || !is_edge(forwarding, call))
            continue;
        g_array_append_val(returns, *call);
        call->replied_ns = call->return_ns = call->return_end_ns = BB_TIME_NONE;
        call->status = BB_NAME_NONE;
    }
    g_array_sort(returns, by_return);
    return returns;
}

// Gives a return to the earliest open call of its pair.
static bool give_back(Forwarding *forwarding, const BbCall *answer)
{
    Open *opens = forwarding->by_callee, wanted = {answer->caller, false, answer->callee, 0, 0};
    guint32 at = find_open(opens, forwarding->n_open, wanted);
    at = skip_joined(forwarding, opens, at);
    BbCall *call = &forwarding->calls[opens[at].index];
    if (!is_of(&opens[at], &wanted) || call->call_ns > answer->return_ns)
        return false;
    end_call(call, answer, answer->replied_ns, answer->return_ns);
    return true;
}

static void forget_open(Forwarding *forwarding)
{
    g_clear_pointer(&forwarding->by_time, g_free);
    g_clear_pointer(&forwarding->by_id, g_free);
    g_clear_pointer(&forwarding->by_callee, g_free);
}

// Returns that callees made themselves, up to a time. Counts those that find no call any more.
static guint64 give_back_until(Forwarding *forwarding, const GArray *own, guint32 *next,
                               gint64 time_ns)
{
    guint64 left = 0;
    for (; *next < own->len && g_array_index(own, BbCall, *next).return_ns <= time_ns; ++*next)
        left += !give_back(forwarding, &g_array_index(own, BbCall, *next));
    return left;
}

guint64 bb_forwarding_join(BbCall *calls, guint32 count, const BbCall *orphans, guint32 n_orphans,
                           guint64 *n_left, GArray *tosses)
{
    Forwarding forwarding = {.calls = calls, .count = count};
    guint64 joined = 0;
    guint32 next = 0;
    *n_left = n_orphans;
    if (n_orphans == 0)
        return 0;
    bb_tally_init(&forwarding.edges);
    collect_open(&forwarding);
    if (forwarding.n_open > 1)
        find_edges(&forwarding, orphans, n_orphans);
    g_autoptr(GArray) own = take_back(&forwarding);
    if (own->len > 0) {
        forget_open(&forwarding);
        collect_open(&forwarding);
    }
    for (guint32 i = 0; forwarding.n_open > 1 && i < n_orphans; i++) {
        *n_left += give_back_until(&forwarding, own, &next, orphans[i].return_ns);
        if (!find_chain(&forwarding, &orphans[i]))
            continue;
        join(&forwarding, &orphans[i]);
        note_toss(&forwarding, tosses);
        joined++;
    }
    *n_left += give_back_until(&forwarding, own, &next, G_MAXINT64) - joined;
    forget_open(&forwarding);
    bb_tally_clear(&forwarding.edges);
    if (forwarding.has_pairs)
        bb_tally_clear(&forwarding.pairs);
    return joined;
}
