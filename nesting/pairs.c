// SPDX-License-Identifier: Apache-2.0
// In: messages in any order. Out: calls with their returns, in order of time.
#include "nesting/pairs.h"

#include "data/large.h"
#include "data/mix.h"
#include "data/status.h"
#include "nesting/backlog.h"
#include "nesting/closes.h"
#include "nesting/forwarding.h"
#include "nesting/timesort.h"

#include <string.h>

#define COUNT_MAX (G_MAXUINT32 - 1)

// Sightings that come in order and once are matched as they come, but for the returns of the latest
// instant, as calls of that instant go first. The first one that comes otherwise turns it all back,
// and all are kept until the end.
struct BbPairs {
    const BbNames *names;
    BbMatcher *matcher;  // NULL once they came otherwise,
    BbSighting *returns; // at latest_ns; none then
    gsize n_returns, returns_room;
    BbBacklog *backlog; // NULL before that
    guint32 count;      // sightings
    gint64 latest_ns;   // of them
    guint64 messages, free_messages;
    gint64 start_ns, end_ns; // of all messages
    GArray *known;           // of BbCall: with their returns, from bb_pairs_push_call
    GArray *ends; // of BbSighting, as of returns: what ends calls that get none; NULL: nothing
};

BbPairs *bb_pairs_new(const BbNames *names)
{
    BbPairs *pairs = g_new0(BbPairs, 1);
    pairs->names = names;
    pairs->matcher = bb_matcher_new(false);
    pairs->start_ns = pairs->end_ns = BB_TIME_NONE;
    pairs->latest_ns = G_MININT64;
    pairs->known = g_array_new(FALSE, FALSE, sizeof(BbCall));
    return pairs;
}

void bb_pairs_free(BbPairs *pairs)
{
    if (!pairs)
        return;
    bb_matcher_free(pairs->matcher);
    g_free(pairs->returns);
    bb_backlog_free(pairs->backlog);
    g_array_unref(pairs->known);
    g_clear_pointer(&pairs->ends, g_array_unref);
    g_free(pairs);
}

static void note_times(BbPairs *pairs, const BbMessage *message)
{
    if (pairs->messages == 1)
        pairs->start_ns = pairs->end_ns = message->time_ns;
    pairs->start_ns = MIN(pairs->start_ns, message->time_ns);
    pairs->end_ns = MAX(pairs->end_ns, message->time_ns);
}

// A number for the text: two connections have the same one once in 4 billion pairs.
static guint32 conn_of(const BbMessage *message)
{
    if (!message->conn)
        return 0;
    guint64 hash = bb_mix_bytes(0, message->conn, strlen(message->conn));
    return MAX(1, (guint32)(bb_mix(hash, 0) >> 32));
}

// Field by field: compilers build a whole struct aside and copy it, which takes longer.
static void fill_sighting(BbSighting *sighting, const BbMessage *message)
{
    bool is_return = message->kind == BB_RETURN;
    sighting->time_ns = message->time_ns;
    sighting->recv_ns = message->at_receiver ? BB_TIME_NONE : message->recv_ns;
    sighting->end_ns = message->end_ns;
    sighting->id_number = message->id.number;
    sighting->id_form = message->id.form;
    sighting->caller = is_return ? message->receiver : message->sender;
    sighting->callee = is_return ? message->sender : message->receiver;
    sighting->op = message->op;
    if (is_return)
        sighting->status = message->status;
    else
        sighting->conn = conn_of(message);
    sighting->proto = message->proto & ((1u << 30) - 1);
    sighting->is_return = is_return;
    sighting->at_receiver = message->at_receiver;
}

static void feed_returns(BbPairs *pairs)
{
    for (gsize i = 0; i < pairs->n_returns; i++)
        bb_matcher_feed(pairs->matcher, &pairs->returns[i]);
    pairs->n_returns = 0;
}

static void keep_return(BbPairs *pairs, const BbSighting *sighting)
{
    if (pairs->n_returns == pairs->returns_room) {
        pairs->returns_room = MAX(16, 2 * pairs->returns_room);
        pairs->returns = g_renew(BbSighting, pairs->returns, pairs->returns_room);
    }
    pairs->returns[pairs->n_returns++] = *sighting;
}

static void turn_back(BbPairs *pairs)
{
    feed_returns(pairs);
    pairs->backlog = bb_backlog_new();
    bb_matcher_turn_back(pairs->matcher, pairs->backlog);
    g_clear_pointer(&pairs->matcher, bb_matcher_free);
}

static void match(BbPairs *pairs, const BbSighting *sighting)
{
    gint64 time_ns = bb_sighting_time(sighting);
    if (time_ns > pairs->latest_ns)
        feed_returns(pairs);
    pairs->latest_ns = time_ns;
    if (sighting->is_return)
        keep_return(pairs, sighting);
    else
        bb_matcher_feed(pairs->matcher, sighting);
}

static void push_sighting(BbPairs *pairs, const BbSighting *sighting)
{
    pairs->count++;
    if (pairs->matcher && (sighting->at_receiver || bb_sighting_time(sighting) < pairs->latest_ns))
        turn_back(pairs);
    if (pairs->matcher)
        match(pairs, sighting);
    else
        bb_backlog_push(pairs->backlog, sighting);
}

static void add_end(BbPairs *pairs, const BbSighting *end)
{
    if (!pairs->ends)
        pairs->ends = g_array_new(FALSE, FALSE, sizeof(BbSighting));
    g_array_append_val(pairs->ends, *end);
}

// A connection is closed over a call: by its caller, by whose clock the return would have come, or
// by its callee. Only the former call has the id, or the latter.
static void push_end(BbPairs *pairs, const BbMessage *message)
{
    BbMessage end = *message;
    end.kind = BB_RETURN;
    end.recv_ns = end.end_ns = BB_TIME_NONE;
    BbSighting sighting;
    fill_sighting(&sighting, &end);
    add_end(pairs, &sighting);
    end.sender = message->receiver;
    end.receiver = message->sender;
    end.at_receiver = !message->at_receiver;
    fill_sighting(&sighting, &end);
    add_end(pairs, &sighting);
}

static void push_free(BbPairs *pairs, const BbMessage *message)
{
    if (bb_message_ends_call(message, pairs->names))
        push_end(pairs, message);
    else
        pairs->free_messages++;
}

bool bb_pairs_push(BbPairs *pairs, const BbMessage *message)
{
    if (message->kind != BB_FREE && bb_pairs_held(pairs) >= COUNT_MAX)
        return false;
    pairs->messages++;
    note_times(pairs, message);
    if (message->kind == BB_FREE) {
        push_free(pairs, message);
        return true;
    }
    BbSighting sighting;
    fill_sighting(&sighting, message);
    push_sighting(pairs, &sighting);
    return true;
}

// A call of an earlier window: it does not tell at which ends it was seen. Two times are two ends;
// what both ends saw in the same nanosecond counts as seen by the sender.
static void push_call(BbPairs *pairs, const BbCall *call)
{
    BbSighting sighting = bb_sighting_of_call(call, call->arrived_ns != call->call_ns);
    push_sighting(pairs, &sighting);
}

void bb_pairs_push_call(BbPairs *pairs, const BbCall *call)
{
    // What ended it was no return, but a connection that was closed.
    bool cut_off =
        bb_call_is_returned(call) && bb_status_is_closed(bb_names_text(pairs->names, call->status));
    if (bb_call_is_returned(call) && !cut_off) {
        g_array_append_val(pairs->known, *call);
        return;
    }
    push_call(pairs, call);
    if (cut_off) { // unless its return is among those to come
        BbSighting end = bb_sighting_of_return(call, call->return_ns != call->replied_ns);
        add_end(pairs, &end);
    }
}

guint64 bb_pairs_held(const BbPairs *pairs)
{
    guint64 ends = pairs->ends ? pairs->ends->len : 0;
    return pairs->count + 2 * (guint64)pairs->known->len + ends;
}

guint64 bb_pairs_messages(const BbPairs *pairs)
{
    return pairs->messages;
}

// Moves calls to where order says, in place: each cycle of the permutation once round.
static void permute(BbCall *calls, BbTimed *order, guint32 count)
{
    for (guint32 start = 0; start < count; start++) {
        if (order[start].index == start)
            continue;
        BbCall first = calls[start];
        guint32 hole = start;
        for (;;) {
            guint32 from = order[hole].index;
            order[hole].index = hole;
            if (from == start)
                break;
            calls[hole] = calls[from];
            hole = from;
        }
        calls[hole] = first;
    }
}

static void sort_calls(BbCall *calls, guint32 count)
{
    g_autofree BbTimed *order = bb_large_new(BbTimed, count);
    for (guint32 i = 0; i < count; i++)
        order[i] = (BbTimed){calls[i].call_ns, i};
    g_autofree BbTimed *scratch = bb_large_new(BbTimed, count);
    bb_timesort(order, scratch, count);
    permute(calls, order, count);
}

static guint64 count_unreturned(const BbPaths *paths)
{
    guint64 unreturned = 0;
    for (guint32 i = 0; i < paths->n_calls; i++)
        unreturned += !bb_call_is_returned(&paths->calls[i]);
    return unreturned;
}

// The calls in order of time and those that were known before, which are so too, as one array.
static void merge_known(const BbPairs *pairs, BbPaths *paths)
{
    const BbCall *known = (const BbCall *)(const void *)pairs->known->data;
    guint32 i = paths->n_calls, j = pairs->known->len, at = i + j;
    if (j == 0)
        return;
    BbCall *calls = paths->calls = g_renew(BbCall, paths->calls, at);
    paths->n_calls = at;
    while (j > 0) // ties: known ones first
        calls[--at] =
            i > 0 && calls[i - 1].call_ns >= known[j - 1].call_ns ? calls[--i] : known[--j];
}

// Where messages may come twice, a second sighting may still come for them.
static void unpair_known(BbPairs *pairs)
{
    for (guint i = 0; i < pairs->known->len; i++) {
        const BbCall *call = &g_array_index(pairs->known, BbCall, i);
        BbSighting answer = bb_sighting_of_return(call, call->return_ns != call->replied_ns);
        push_call(pairs, call);
        push_sighting(pairs, &answer);
    }
    g_array_set_size(pairs->known, 0);
}

static void end_calls(const BbPairs *pairs, BbMatcher *matcher)
{
    for (guint i = 0; pairs->ends && i < pairs->ends->len; i++)
        bb_matcher_end(matcher, &g_array_index(pairs->ends, BbSighting, i));
}

// Returns that no call waits for may end chains of those that have none.
static void join_forwarded(const BbMatcher *matcher, BbPaths *paths)
{
    guint32 n_orphans;
    const BbCall *orphans = bb_matcher_orphans(matcher, &n_orphans);
    if (n_orphans == 0)
        return;
    paths->tosses = g_array_new(FALSE, FALSE, sizeof(BbToss));
    paths->facts.forwarded = bb_forwarding_join(paths->calls, paths->n_calls, orphans, n_orphans,
                                                &paths->facts.returns_orphaned, paths->tosses);
    paths->facts.calls_unreturned = count_unreturned(paths);
}

// Ends the matching, or does it now.
static BbMatcher *match_all(BbPairs *pairs)
{
    if (pairs->matcher) {
        feed_returns(pairs);
        return g_steal_pointer(&pairs->matcher);
    }
    bool two_sided = bb_backlog_is_two_sided(pairs->backlog);
    if (two_sided)
        unpair_known(pairs);
    BbMatcher *matcher = bb_matcher_new(two_sided);
    bb_backlog_feed(pairs->backlog, matcher);
    g_clear_pointer(&pairs->backlog, bb_backlog_free);
    return matcher;
}

void bb_pairs_finish(BbPairs *pairs, BbPaths *paths)
{
    g_autoptr(BbMatcher) matcher = match_all(pairs);
    end_calls(pairs, matcher);
    BbMatches matches = bb_matcher_finish(matcher);
    if (!matches.in_order)
        sort_calls(matches.calls, matches.count);
    paths->calls = matches.calls;
    paths->n_calls = matches.count;
    paths->facts.calls_unreturned = matches.unreturned;
    paths->facts.returns_orphaned = matches.orphans;
    merge_known(pairs, paths);
    if (pairs->ends)
        bb_closes_note((const BbSighting *)(const void *)pairs->ends->data, pairs->ends->len, paths,
                       pairs->names);
    join_forwarded(matcher, paths);
    paths->facts.calls = paths->n_calls;
    paths->facts.messages = pairs->messages;
    paths->facts.free_messages = pairs->free_messages;
    paths->facts.start_ns = pairs->start_ns;
    paths->facts.end_ns = pairs->end_ns;
    pairs->count = 0;
    g_array_set_size(pairs->known, 0);
}
