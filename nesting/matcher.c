// SPDX-License-Identifier: Apache-2.0
// In: sightings of calls and returns in order of time. Out: calls, each with its return if it has
// one.
//
// A return belongs to the earliest open call with its caller, callee and id; no id is an id like
// any other. A second sighting, at the other end, joins the earliest call of that key that lacks
// it, so a call stays known after its return until all four sightings are there or the key is used
// again. A return for which no call is open may be stamped by a clock that is behind the caller's:
// it is kept, and given to the next call of its key if that one sees no other return.
#include "nesting/matcher.h"

#include "data/large.h"
#include "nesting/backlog.h"
#include "nesting/openings.h"

#define NONE BB_OPENING_NONE
#define FEW_CALLS (1u << 14)
#define MANY_CALLS (1u << 21) // of a window as it is by default

// Sightings a call has, each by the bit of its end. A message with both of its times is one of both
// ends. Unless two_sided, what was seen at all is all there is to see.
enum {
    CALL_SENT = 1,
    CALL_RECEIVED = 2,
    RETURN_SENT = 4,
    RETURN_RECEIVED = 8,
    CALL_SIDES = CALL_SENT | CALL_RECEIVED,
    RETURN_SIDES = RETURN_SENT | RETURN_RECEIVED,
};

// How much later than its answer a call may still be joined by a second sighting: the clocks of two
// observers differ by less, and an id that comes again after it is a new use of it.
#define JOIN_MAX_NS G_GINT64_CONSTANT(1000000000)

// Answered calls without id that may wait for second sightings of a pair of nodes when one is
// called again; then the oldest goes.
#define ANSWERED_MAX 64

// What a message says of a call.
typedef struct {
    guint32 op, proto;
} Labels;

struct BbMatcher {
    BbCall *calls;
    guint8 *sides;   // of calls
    Labels *answers; // of calls: of their returns, where these are not all as their calls' are;
                     // NULL before, and where two_sided
    guint32 *next;   // of calls: the chain of their key,
    guint32 *back;   // and back; NULL unless two_sided, where others than the first may leave it
    guint32 count, capacity;
    guint32 returned; // calls; where two_sided only counted at the end,
    bool in_order;    // calls, by call_ns; likewise
    BbOpenings openings;
    GArray *early;           // of BbCall: returns without call so far, with no call times
    GByteArray *early_sides; // 0 once it has one
    guint64 orphans;
    bool two_sided; // second sightings may come
};

BbMatcher *bb_matcher_new(bool two_sided)
{
    BbMatcher *matcher = g_new0(BbMatcher, 1);
    matcher->two_sided = two_sided;
    matcher->in_order = true;
    matcher->early = g_array_new(FALSE, FALSE, sizeof(BbCall));
    matcher->early_sides = g_byte_array_new();
    bb_openings_init(&matcher->openings);
    return matcher;
}

void bb_matcher_free(BbMatcher *matcher)
{
    if (!matcher)
        return;
    g_free(matcher->calls);
    g_free(matcher->sides);
    g_free(matcher->answers);
    g_free(matcher->next);
    g_free(matcher->back);
    g_array_unref(matcher->early);
    g_byte_array_unref(matcher->early_sides);
    bb_openings_clear(&matcher->openings);
    g_free(matcher);
}

static guint8 sides_of(const BbSighting *sighting)
{
    guint8 sent = sighting->is_return ? RETURN_SENT : CALL_SENT;
    if (sighting->at_receiver)
        return (guint8)(sent << 1);
    if (sighting->recv_ns != BB_TIME_NONE)
        return (guint8)(sent | sent << 1);
    return sent;
}

static void fill_labels(BbCall *call, guint32 op, guint32 proto)
{
    call->op = call->op ? call->op : op;
    call->proto = call->proto ? call->proto : proto;
}

static gint64 known(gint64 time_ns, gint64 otherwise_ns)
{
    return time_ns != BB_TIME_NONE ? time_ns : otherwise_ns;
}

// What was seen at one end only is taken for both.
static void fill_call_times(BbCall *call)
{
    call->call_ns = known(call->call_ns, call->arrived_ns);
    call->arrived_ns = known(call->arrived_ns, call->call_ns);
}

static void fill_return_times(BbCall *call)
{
    call->return_ns = known(call->return_ns, call->replied_ns);
    call->replied_ns = known(call->replied_ns, call->return_ns);
}

static void fill_call(BbCall *call, const BbSighting *sighting)
{
    fill_labels(call, sighting->op, sighting->proto);
    if (sighting->conn != 0 && (call->conn == 0 || !sighting->at_receiver))
        call->conn = sighting->conn; // where the two ends name it otherwise the sender's counts
    if (sighting->at_receiver) {
        call->arrived_ns = sighting->time_ns;
        return;
    }
    call->call_ns = sighting->time_ns;
    if (sighting->recv_ns != BB_TIME_NONE)
        call->arrived_ns = sighting->recv_ns;
}

// The last byte is told by the clock of replied_ns: the sender's end, or the only one.
static void fill_return(BbCall *call, const BbSighting *sighting)
{
    call->status = call->status ? call->status : sighting->status;
    if (sighting->at_receiver) {
        call->return_ns = sighting->time_ns;
        if (call->replied_ns == BB_TIME_NONE)
            call->return_end_ns = sighting->end_ns;
        return;
    }
    call->replied_ns = sighting->time_ns;
    call->return_end_ns = sighting->end_ns;
    if (sighting->recv_ns != BB_TIME_NONE)
        call->return_ns = sighting->recv_ns;
}

static void join_return(BbCall *call, const BbCall *early)
{
    fill_labels(call, early->op, early->proto);
    call->status = call->status ? call->status : early->status;
    if (early->replied_ns != BB_TIME_NONE) {
        call->replied_ns = early->replied_ns;
        call->return_end_ns = early->return_end_ns;
    } else if (call->replied_ns == BB_TIME_NONE) {
        call->return_end_ns = early->return_end_ns;
    }
    if (early->return_ns != BB_TIME_NONE)
        call->return_ns = early->return_ns;
}

// Field by field: compilers build a whole struct aside and copy it, which takes longer.
static void make_blank(BbCall *call, const BbOpeningKey *key)
{
    call->call_ns = call->arrived_ns = BB_TIME_NONE;
    call->replied_ns = call->return_ns = call->return_end_ns = BB_TIME_NONE;
    call->id = key->id;
    call->caller = key->caller;
    call->callee = key->callee;
    call->op = call->status = call->proto = BB_NAME_NONE;
    call->conn = 0;
}

static void link_call(BbMatcher *matcher, BbOpening *entry, guint32 call)
{
    matcher->next[call] = NONE;
    if (matcher->back)
        matcher->back[call] = entry->last;
    if (entry->first == NONE)
        entry->first = call;
    else
        matcher->next[entry->last] = call;
    entry->last = call;
    for (guint way = 0; matcher->two_sided && way < BB_OPENING_WAYS; way++)
        if (entry->lacking[way] == NONE)
            entry->lacking[way] = call;
}

static bool is_answered(const BbMatcher *matcher, guint32 call)
{
    return (matcher->sides[call] & RETURN_SIDES) != 0;
}

static void unlink_call(BbMatcher *matcher, BbOpening *entry, guint32 call)
{
    guint32 next = matcher->next[call], previous = NONE;
    entry->answered -= is_answered(matcher, call);
    if (matcher->back)
        previous = matcher->back[call];
    if (previous == NONE)
        entry->first = next;
    else
        matcher->next[previous] = next;
    if (next == NONE)
        entry->last = previous;
    else if (matcher->back)
        matcher->back[next] = previous;
    for (guint way = 0; matcher->two_sided && way < BB_OPENING_WAYS; way++)
        if (entry->lacking[way] == call)
            entry->lacking[way] = next;
}

static bool may_join(const BbMatcher *matcher, guint32 index, guint8 sides, gint64 time_ns)
{
    if ((matcher->sides[index] & sides) != 0)
        return false;
    const BbCall *call = &matcher->calls[index];
    gint64 answered_ns = MAX(call->replied_ns, call->return_ns); // BB_TIME_NONE is the least
    return answered_ns == BB_TIME_NONE || bb_time_between(answered_ns, time_ns) <= JOIN_MAX_NS;
}

// The first call of the chain with none of sides. Where all is seen at once that is its first: who
// has its return is in no chain. Else a call that may not be joined now never may: it
// only gains sides, and the feed is in order of time. So each search goes on where the last ended.
static guint32 find_lacking(const BbMatcher *matcher, BbOpening *entry, guint8 sides,
                            gint64 time_ns)
{
    if (!matcher->two_sided)
        return entry->first;
    bool is_return = (sides & RETURN_SIDES) != 0;
    guint32 *call = &entry->lacking[is_return ? 2 + sides / RETURN_SENT : sides - CALL_SENT];
    while (*call != NONE && !may_join(matcher, *call, sides, time_ns))
        *call = matcher->next[*call];
    return *call;
}

static void unlink_if_complete(BbMatcher *matcher, BbOpening *entry, guint32 call)
{
    guint8 all = matcher->two_sided ? CALL_SIDES | RETURN_SIDES : matcher->sides[call];
    if (matcher->sides[call] == all)
        unlink_call(matcher, entry, call);
}

// A key that is used again has no more to wait for. Without ids calls overlap, and only the number
// of answered calls is bounded. They are the first of the chain: returns go to the first that lacks
// one.
static void forget_answered(BbMatcher *matcher, BbOpening *entry)
{
    if (bb_id_is_known(entry->key.id))
        while (entry->answered > 0)
            unlink_call(matcher, entry, entry->first);
    else if (entry->answered > ANSWERED_MAX)
        unlink_call(matcher, entry, entry->first);
}

// Room for many costs nothing until it is used; but what moves is mapped anew, in small pages.
// Where that much cannot be had (RLIMIT_AS, vm.overcommit_memory=2) it grows as it must.
static BbCall *reserve(BbMatcher *matcher)
{
    BbCall *calls = NULL;
    if (matcher->capacity >= FEW_CALLS && matcher->capacity < MANY_CALLS)
        calls = g_try_renew(BbCall, matcher->calls, MANY_CALLS);
    if (calls)
        matcher->capacity = MANY_CALLS;
    return calls;
}

static void grow(BbMatcher *matcher)
{
    BbCall *calls = reserve(matcher);
    if (!calls) {
        gsize capacity = MAX(FEW_CALLS, 2 * (gsize)matcher->capacity);
        matcher->capacity = (guint32)MIN(capacity, G_MAXUINT32);
        calls = g_renew(BbCall, matcher->calls, matcher->capacity);
    }
    matcher->calls = calls;
    bb_large_advise(matcher->calls, matcher->capacity, sizeof(BbCall));
    matcher->sides = g_renew(guint8, matcher->sides, matcher->capacity);
    matcher->next = g_renew(guint32, matcher->next, matcher->capacity);
    if (matcher->answers)
        matcher->answers = g_renew(Labels, matcher->answers, matcher->capacity);
    if (matcher->two_sided)
        matcher->back = g_renew(guint32, matcher->back, matcher->capacity);
}

static void open_call(BbMatcher *matcher, BbOpening *entry, const BbSighting *sighting,
                      guint8 sides)
{
    if (matcher->two_sided)
        forget_answered(matcher, entry);
    if (matcher->count == matcher->capacity)
        grow(matcher);
    guint32 call = matcher->count++;
    make_blank(&matcher->calls[call], &entry->key);
    fill_call(&matcher->calls[call], sighting);
    if (!matcher->two_sided)
        fill_call_times(&matcher->calls[call]);
    if (call > 0 && matcher->calls[call - 1].call_ns > matcher->calls[call].call_ns)
        matcher->in_order = false;
    matcher->sides[call] = sides;
    link_call(matcher, entry, call);
    if (entry->early != NONE && entry->early_call == NONE)
        entry->early_call = call;
}

static void feed_call(BbMatcher *matcher, const BbOpeningKey *key, const BbSighting *sighting)
{
    guint8 sides = sides_of(sighting);
    guint32 call = NONE;
    BbOpening *entry = bb_openings_add(&matcher->openings, key);
    if (matcher->two_sided)
        call = find_lacking(matcher, entry, sides, bb_sighting_time(sighting));
    if (call == NONE) {
        open_call(matcher, entry, sighting, sides);
        return;
    }
    fill_call(&matcher->calls[call], sighting);
    matcher->sides[call] |= sides;
    unlink_if_complete(matcher, entry, call);
    bb_openings_drop_empty(&matcher->openings, entry);
}

// A return of the call after an early one: either the other sighting of the same return, or the
// early one was an orphan.
static void settle_early(BbMatcher *matcher, BbOpening *entry, guint32 call)
{
    if (entry->early == NONE || entry->early_call != call)
        return;
    guint8 sides = matcher->early_sides->data[entry->early];
    if ((matcher->sides[call] & sides) == 0) {
        join_return(&matcher->calls[call], &g_array_index(matcher->early, BbCall, entry->early));
        matcher->sides[call] |= sides;
        matcher->early_sides->data[entry->early] = 0;
        matcher->orphans--;
    }
    entry->early = NONE;
}

// Returns the index in early.
static guint32 add_early(BbMatcher *matcher, const BbOpeningKey *key, const BbSighting *sighting,
                         guint8 sides)
{
    BbCall early;
    make_blank(&early, key);
    fill_labels(&early, sighting->op, sighting->proto);
    fill_return(&early, sighting);
    g_array_append_val(matcher->early, early);
    g_byte_array_append(matcher->early_sides, &sides, 1);
    return matcher->early->len - 1;
}

static void keep_early(BbMatcher *matcher, const BbOpeningKey *key, const BbSighting *sighting,
                       guint8 sides)
{
    matcher->orphans++;
    if (!bb_id_is_known(key->id)) {
        add_early(matcher, key, sighting, sides);
        return;
    }
    BbOpening *entry = bb_openings_add(&matcher->openings, key);
    if (entry->early != NONE && entry->early_call == NONE &&
        (matcher->early_sides->data[entry->early] & sides) == 0) {
        BbCall *early = &g_array_index(matcher->early, BbCall, entry->early);
        fill_labels(early, sighting->op, sighting->proto);
        fill_return(early, sighting);
        matcher->early_sides->data[entry->early] |= sides;
        matcher->orphans--; // the second sighting of one return
        return;
    }
    entry->early = add_early(matcher, key, sighting, sides);
    entry->early_call = NONE;
}

// A first return whose labels are not its call's: from now on both are known.
static void part_labels(BbMatcher *matcher)
{
    matcher->answers = g_new(Labels, matcher->capacity);
    for (guint32 i = 0; i < matcher->count; i++)
        matcher->answers[i] = (Labels){matcher->calls[i].op, matcher->calls[i].proto};
}

// Where calls may yet be turned back a return keeps its labels for itself, as it may come to
// another call.
static void take_labels(BbMatcher *matcher, guint32 index, const BbSighting *sighting)
{
    BbCall *call = &matcher->calls[index];
    if (matcher->two_sided)
        fill_labels(call, sighting->op, sighting->proto);
    else if (!matcher->answers && (call->op != sighting->op || call->proto != sighting->proto))
        part_labels(matcher);
    if (matcher->answers)
        matcher->answers[index] = (Labels){sighting->op, sighting->proto};
}

static void answer(BbMatcher *matcher, BbOpening *entry, guint32 call, const BbSighting *sighting)
{
    take_labels(matcher, call, sighting);
    fill_return(&matcher->calls[call], sighting);
    if (!matcher->two_sided)
        fill_return_times(&matcher->calls[call]);
    matcher->returned += bb_call_is_returned(&matcher->calls[call]);
    entry->answered += !is_answered(matcher, call);
    matcher->sides[call] |= sides_of(sighting);
    settle_early(matcher, entry, call);
    unlink_if_complete(matcher, entry, call);
    bb_openings_drop_empty(&matcher->openings, entry);
}

static void feed_return(BbMatcher *matcher, const BbOpeningKey *key, const BbSighting *sighting)
{
    guint8 sides = sides_of(sighting);
    BbOpening *entry = bb_openings_find(&matcher->openings, key);
    guint32 call = NONE;
    if (entry)
        call = find_lacking(matcher, entry, sides, bb_sighting_time(sighting));
    if (call == NONE) {
        keep_early(matcher, key, sighting, sides);
        return;
    }
    answer(matcher, entry, call, sighting);
}

static BbOpeningKey key_of(const BbSighting *sighting)
{
    BbId id = {sighting->id_number, sighting->id_form};
    return (BbOpeningKey){id, sighting->caller, sighting->callee};
}

// Whether the call was made after that, on the same clock.
static bool is_later(const BbCall *call, const BbSighting *end)
{
    gint64 made_ns = end->at_receiver ? call->call_ns : call->arrived_ns;
    return made_ns != BB_TIME_NONE && made_ns > bb_sighting_time(end);
}

void bb_matcher_end(BbMatcher *matcher, const BbSighting *sighting)
{
    BbOpeningKey key = key_of(sighting);
    BbOpening *entry = bb_openings_find(&matcher->openings, &key);
    guint32 call = NONE;
    if (entry)
        call = find_lacking(matcher, entry, RETURN_SIDES, bb_sighting_time(sighting));
    if (call != NONE && !is_later(&matcher->calls[call], sighting))
        answer(matcher, entry, call, sighting);
}

void bb_matcher_feed(BbMatcher *matcher, const BbSighting *sighting)
{
    BbOpeningKey key = key_of(sighting);
    if (sighting->is_return)
        feed_return(matcher, &key, sighting);
    else
        feed_call(matcher, &key, sighting);
}

void bb_matcher_turn_back(const BbMatcher *matcher, BbBacklog *to)
{
    for (guint32 i = 0; i < matcher->count; i++) {
        BbCall answered = matcher->calls[i];
        guint8 sides = matcher->sides[i];
        BbSighting call = bb_sighting_of_call(&answered, sides & CALL_RECEIVED);
        bb_backlog_push(to, &call);
        if (!is_answered(matcher, i))
            continue;
        if (matcher->answers) {
            answered.op = matcher->answers[i].op;
            answered.proto = matcher->answers[i].proto;
        }
        BbSighting answer = bb_sighting_of_return(&answered, sides & RETURN_RECEIVED);
        bb_backlog_push(to, &answer);
    }
    for (guint i = 0; i < matcher->early->len; i++) {
        guint8 sides = matcher->early_sides->data[i];
        const BbCall *early = &g_array_index(matcher->early, BbCall, i);
        BbSighting answer = bb_sighting_of_return(early, sides & RETURN_RECEIVED);
        if (sides != 0)
            bb_backlog_push(to, &answer);
    }
}

static void adopt_early(BbMatcher *matcher)
{
    for (gsize i = 0; i <= matcher->openings.mask; i++) {
        const BbOpening *entry = &matcher->openings.slots[i];
        if (entry->early == NONE || entry->early_call == NONE)
            continue;
        BbCall *call = &matcher->calls[entry->early_call];
        join_return(call, &g_array_index(matcher->early, BbCall, entry->early));
        fill_return_times(call);
        matcher->returned += bb_call_is_returned(call);
        matcher->early_sides->data[entry->early] = 0;
        matcher->orphans--;
    }
}

// Leaves in early those that have no call.
static void compact_early(BbMatcher *matcher)
{
    BbCall *early = (BbCall *)(gpointer)matcher->early->data;
    guint kept = 0;
    for (guint i = 0; i < matcher->early->len; i++)
        if (matcher->early_sides->data[i] != 0)
            early[kept++] = early[i];
    g_array_set_size(matcher->early, kept);
}

static void fill_times(BbCall *call)
{
    fill_call_times(call);
    fill_return_times(call);
}

// Where a second sighting may have come for any of them only now.
static void fill_all_times(BbMatcher *matcher)
{
    matcher->in_order = true;
    matcher->returned = 0;
    for (guint32 i = 0; i < matcher->count; i++) {
        BbCall *call = &matcher->calls[i];
        fill_times(call);
        matcher->in_order = matcher->in_order && (i == 0 || call[-1].call_ns <= call->call_ns);
        matcher->returned += bb_call_is_returned(call);
    }
}

static void join_labels(BbMatcher *matcher)
{
    for (guint32 i = 0; matcher->answers && i < matcher->count; i++)
        if (is_answered(matcher, i))
            fill_labels(&matcher->calls[i], matcher->answers[i].op, matcher->answers[i].proto);
}

BbMatches bb_matcher_finish(BbMatcher *matcher)
{
    join_labels(matcher);
    adopt_early(matcher);
    compact_early(matcher);
    if (matcher->two_sided)
        fill_all_times(matcher);
    for (guint i = 0; i < matcher->early->len; i++)
        fill_times(&g_array_index(matcher->early, BbCall, i));
    return (BbMatches){
        .calls = g_renew(BbCall, g_steal_pointer(&matcher->calls), matcher->count),
        .count = matcher->count,
        .unreturned = matcher->count - matcher->returned,
        .in_order = matcher->in_order,
        .orphans = matcher->orphans,
    };
}

const BbCall *bb_matcher_orphans(const BbMatcher *matcher, guint32 *count)
{
    *count = matcher->early->len;
    return (const BbCall *)(gconstpointer)matcher->early->data;
}
