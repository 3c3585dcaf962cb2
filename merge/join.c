// SPDX-License-Identifier: Apache-2.0
// In: sightings of several observers, nearly in order of time. Out: messages, in order of time.
//
// What waits is a list in order of time and a table by keys. The oldest goes when nothing within
// the window can come any more.
#include "merge/join.h"

#include "data/clock_doubt.h"
#include "data/keys.h"
#include "data/status.h"
#include "merge/join_state.h"

#include <string.h>

#define BUCKETS_FIRST 4096u
#define SCAN 256u // messages of a bucket looked at, the last ones that came, for one that joins
// Messages this far from going out are fetched into the processor's cache, closer ones with what
// they point to, and with what that points to: all of it was last used a window ago.
#define AHEAD 9u
#define AHEAD_NEXT 6u
#define AHEAD_LAST 3u

static const struct {
    const char *name, *meaning;
} counts[BB_JOIN_COUNTS] = {
    [BB_JOIN_SIGHTINGS] = {"merge_sightings", "messages in the merged traces"},
    [BB_JOIN_JOINED] = {"merge_joined", "messages seen by more than one observer"},
    [BB_JOIN_BY_POSITION] = {"merge_by_position",
                             "sightings joined by their place in a connection"},
    [BB_JOIN_BY_ID] = {"merge_by_id", "sightings joined by an id from the wire"},
    [BB_JOIN_BY_ORDER] = {"merge_by_order", "sightings joined by order and time alone"},
    [BB_JOIN_AGAIN] = {"merge_again", "sightings that an observer told in another trace, too"},
    [BB_JOIN_RECEIVER_ONLY] = {"merge_receiver_only", "messages that only the receiver saw"},
    [BB_JOIN_OTHER_KIND] = {"merge_other_kind",
                            "sightings joined that observers took for different kinds"},
    [BB_JOIN_EARLY] = {"merge_early", "messages that could not wait for other sightings"},
    [BB_JOIN_LATE] = {"merge_late", "messages written out of order"},
    [BB_JOIN_CUT] = {"merge_search_cut", "sightings with too many others of one id to look at all"},
    [BB_JOIN_MOVED] = {BB_RETURNS_MOVED, "returns moved to the time of their call"},
    [BB_JOIN_PRECEDES] = {BB_RETURNS_BEFORE, "returns that precede their call, or its arrival"},
    [BB_JOIN_FORGOTTEN] = {"merge_calls_forgotten", "open calls forgotten at the limit"},
};

static guint names_hash(gconstpointer key)
{
    const BbJoinNames *names = key;
    return bb_keys_mix(names->name, names->other);
}

static gboolean names_equal(gconstpointer a, gconstpointer b)
{
    const BbJoinNames *x = a, *y = b;
    return x->name == y->name && x->other == y->other;
}

BbJoin *bb_join_new(const BbJoinOptions *options, BbNames *names, BbMessageSink sink, gpointer user)
{
    BbJoin *join = g_new0(BbJoin, 1);
    join->options = *options;
    join->names = names;
    join->sink = sink;
    join->user = user;
    join->n_buckets = BUCKETS_FIRST;
    join->buckets = g_new0(BbHeld *, join->n_buckets);
    join->lanes = g_hash_table_new(bb_lane_hash, bb_lane_equal);
    join->delays = g_hash_table_new_full(bb_delay_key_hash, bb_delay_key_equal, g_free, g_free);
    join->apart = g_hash_table_new_full(names_hash, names_equal, g_free, NULL);
    join->ids = bb_call_ids_new(BB_CALL_IDS_OPEN);
    join->overlap = bb_overlap_new();
    join->repeats = bb_repeats_new();
    join->newest_ns = join->out_ns = G_MININT64;
    join->tcp = bb_names_intern(names, "tcp");
    join->udp = bb_names_intern(names, "udp");
    join->unread = bb_names_intern(names, BB_STATUS_UNREAD);
    return join;
}

void bb_join_free(BbJoin *join)
{
    if (!join)
        return;
    for (BbHeld *held = join->oldest, *next = NULL; held; held = next) {
        next = held->younger;
        if (held->lane)
            bb_lane_leave(join, held);
        bb_held_free(held);
    }
    for (BbHeld *held = join->vacant, *next = NULL; held; held = next) {
        next = held->next_same;
        bb_held_free(held);
    }
    for (guint i = 0; i < BB_JOIN_COMING; i++)
        if (join->coming[i])
            bb_held_free(join->coming[i]);
    g_free(join->buckets);
    g_hash_table_destroy(join->lanes);
    g_hash_table_destroy(join->delays);
    g_hash_table_destroy(join->apart);
    bb_call_ids_free(join->ids);
    bb_overlap_free(join->overlap);
    bb_repeats_free(join->repeats);
    g_free(join);
}

// ---- joining ------------------------------------------------------------------------------------

static bool joins_all(const BbHeld *held, const BbSighting *seen, const BbSightingKey *key)
{
    for (const BbSighting *other = &held->seen; other; other = other->next) {
        BbSightingKey of_other = held->key;
        of_other.at_receiver = other->at_receiver;
        bool again = bb_sighting_is_again(other, seen);
        if (!bb_sighting_joins(&of_other, key, again || other->input == seen->input,
                               !again && other->observer == seen->observer))
            return false;
    }
    return true;
}

// The message nearest in time of which held is another sighting.
static BbHeld *find_partner(BbJoin *join, const BbHeld *held)
{
    BbHeld *best = NULL;
    gint64 best_ns = join->options.window_ns;
    guint left = SCAN;
    if (join->options.by == BB_JOIN_NONE || held->key.by == BB_SIGHTING_BY_ORDER)
        return NULL;
    for (BbHeld *other = *bb_held_bucket(join, &held->key); other; other = other->next_same) {
        if (left-- == 0) {
            join->count[BB_JOIN_CUT]++;
            break;
        }
        gint64 apart_ns = ABS(other->message.time_ns - held->message.time_ns);
        if (apart_ns > best_ns || !joins_all(other, &held->seen, &held->key))
            continue;
        best = other;
        best_ns = apart_ns;
    }
    return best;
}

static void fold_by_key(BbJoin *join, BbHeld *partner, BbHeld *held)
{
    gint64 before_ns = partner->message.time_ns;
    bool by_id = held->key.by == BB_SIGHTING_BY_ID;
    if (bb_held_fold(join, partner, held))
        join->count[BB_JOIN_AGAIN]++;
    else
        join->count[by_id ? BB_JOIN_BY_ID : BB_JOIN_BY_POSITION]++;
    if (partner->message.time_ns != before_ns) {
        bb_held_remove(join, partner);
        bb_held_insert(join, partner);
    }
    bb_held_give_back(join, held);
}

// Of what the oldest of its lane waited for, all has come. Returns false where that made it a later
// message, which waits.
static bool fold_by_order(BbJoin *join, BbHeld *held)
{
    gint64 before_ns = held->message.time_ns;
    for (BbHeld *other = bb_lane_match(join, held); other; other = bb_lane_match(join, held)) {
        join->count[BB_JOIN_BY_ORDER]++;
        bb_lane_learn_edge(join, held, other);
        bb_held_leave(join, other);
        (void)bb_held_fold(join, held, other);
        bb_held_give_back(join, other);
    }
    if (held->message.time_ns == before_ns)
        return true;
    bb_held_remove(join, held);
    bb_held_insert(join, held);
    return join->oldest == held;
}

// ---- the way out --------------------------------------------------------------------------------

static void count_sightings(BbJoin *join, const BbHeld *held)
{
    guint32 sender = held->message.sender, receiver = held->message.receiver;
    guint sightings = 0;
    for (const BbSighting *seen = &held->seen; seen; seen = seen->next) {
        if (seen->again)
            continue;
        sightings++;
        bb_overlap_saw(join->overlap, sender, receiver, seen->observer, seen->time_ns);
        for (const BbSighting *other = seen->next; other; other = other->next)
            if (other->observer != seen->observer && !other->again)
                bb_overlap_both(join->overlap, sender, receiver, seen->observer, other->observer,
                                ABS(other->time_ns - seen->time_ns));
    }
    join->count[BB_JOIN_JOINED] += sightings > 1;
    join->count[BB_JOIN_RECEIVER_ONLY] += held->message.at_receiver;
}

static void fetch_all(const void *what, gsize size)
{
    for (gsize i = 0; i < size; i += 64)
        __builtin_prefetch((const char *)what + i);
}

static void fetch_next(const BbJoin *join, const BbHeld *held, bool again)
{
    __builtin_prefetch(bb_held_bucket(join, &held->key));
    __builtin_prefetch(held->seen.next);
    __builtin_prefetch(held->call);
    if (held->message.kind == BB_RETURN)
        bb_call_ids_fetch_answer(join->ids, &held->message, again);
}

// What lies on the way to the last of these was fetched by the calls before.
static void look_ahead(const BbJoin *join, const BbHeld *held)
{
    for (guint i = 0; held && i < AHEAD; i++, held = held->younger)
        if (i == AHEAD_NEXT || i == AHEAD_LAST)
            fetch_next(join, held, i == AHEAD_LAST);
    if (held)
        fetch_all(held, sizeof *held);
}

// Hands on the oldest message, or moves it.
static bool release(BbJoin *join, GError **error)
{
    BbHeld *held = join->oldest;
    look_ahead(join, held);
    if (!fold_by_order(join, held))
        return true;
    if (held->call && held->message.kind != BB_CALL) // observers took it for different kinds
        bb_call_ids_close(join->ids, g_steal_pointer(&held->call));
    if (held->message.kind == BB_RETURN && !bb_held_settle_return(join, held)) {
        bb_held_remove(join, held);
        bb_held_insert(join, held);
        return true;
    }
    if (held->message.kind != BB_RETURN)
        bb_held_settle_other(join, held);
    bb_held_leave(join, held);
    count_sightings(join, held);
    join->count[BB_JOIN_LATE] += held->message.time_ns < join->out_ns;
    join->out_ns = MAX(join->out_ns, held->message.time_ns);
    bool ok = join->sink(&held->message, join->user, error);
    bb_held_give_back(join, held);
    return ok;
}

static bool is_call_with_id(const BbMessage *message)
{
    return message->kind == BB_CALL && bb_id_is_known(message->id);
}

static BbHeld *make_held(BbJoin *join, const BbMessage *message, guint input)
{
    BbHeld *held = bb_held_take(join, message);
    held->key = bb_sighting_key(message, join->names);
    bb_repeats_add(join->repeats, message, &held->key, input);
    held->seen = (BbSighting){
        .time_ns = message->time_ns,
        .id = message->id,
        .observer = message->observer,
        .input = input,
        .at_receiver = message->at_receiver,
    };
    held->receiver_told = message->recv_ns != BB_TIME_NONE;
    held->call = NULL;
    held->lane = NULL;
    held->moved = false;
    return held;
}

// Joins it or lets it wait, and hands on what has waited long enough.
static bool take(BbJoin *join, BbHeld *held, GError **error)
{
    if (is_call_with_id(&held->message))
        held->call = bb_call_ids_open(join->ids, &held->message, held->seen.input);
    BbHeld *partner = find_partner(join, held);
    join->newest_ns = MAX(join->newest_ns, held->seen.time_ns);
    if (partner)
        fold_by_key(join, partner, held);
    else
        bb_held_enter(join, held);
    gint64 over_ns = join->newest_ns - join->options.window_ns;
    while (join->oldest && join->oldest->message.time_ns < over_ns)
        if (!release(join, error))
            return false;
    while (join->n_held > join->options.held_max) {
        join->count[BB_JOIN_EARLY]++;
        if (!release(join, error))
            return false;
    }
    return true;
}

bool bb_join_push(BbJoin *join, const BbMessage *message, guint input, GError **error)
{
    BbHeld **slot = &join->coming[join->next_coming], *first = *slot;
    *slot = make_held(join, message, input);
    join->next_coming = (join->next_coming + 1) % BB_JOIN_COMING;
    join->count[BB_JOIN_SIGHTINGS]++;
    __builtin_prefetch(bb_held_bucket(join, &(*slot)->key));
    if (is_call_with_id(message))
        bb_call_ids_fetch_call(join->ids, message);
    return !first || take(join, first, error);
}

bool bb_join_finish(BbJoin *join, GError **error)
{
    for (guint i = 0; i < BB_JOIN_COMING; i++) {
        BbHeld *first = g_steal_pointer(&join->coming[(join->next_coming + i) % BB_JOIN_COMING]);
        if (first && !take(join, first, error))
            return false;
    }
    while (join->oldest)
        if (!release(join, error))
            return false;
    return true;
}

// ---- queries ------------------------------------------------------------------------------------

guint64 bb_join_count(const BbJoin *join, BbJoinCount count)
{
    return count == BB_JOIN_FORGOTTEN ? bb_call_ids_forgotten(join->ids) : join->count[count];
}

const char *bb_join_count_name(BbJoinCount count)
{
    return counts[count].name;
}

const char *bb_join_count_meaning(BbJoinCount count)
{
    return counts[count].meaning;
}

const char *bb_join_meaning(const char *name)
{
    for (guint i = 0; i < BB_JOIN_COUNTS; i++)
        if (strcmp(counts[i].name, name) == 0)
            return counts[i].meaning;
    return NULL;
}

const BbOverlap *bb_join_overlap(const BbJoin *join)
{
    return join->overlap;
}

const BbRepeats *bb_join_repeats(const BbJoin *join)
{
    return join->repeats;
}

static int most_first(gconstpointer a, gconstpointer b, gpointer data)
{
    const BbJoinNames *x = a, *y = b;
    const BbNames *names = data;
    if (x->count != y->count)
        return x->count > y->count ? -1 : 1;
    int order = strcmp(bb_names_text(names, x->name), bb_names_text(names, y->name));
    return order ? order : strcmp(bb_names_text(names, x->other), bb_names_text(names, y->other));
}

GArray *bb_join_names(const BbJoin *join)
{
    GArray *result = g_array_new(FALSE, FALSE, sizeof(BbJoinNames));
    GHashTableIter iter;
    gpointer item = NULL;
    g_hash_table_iter_init(&iter, join->apart);
    while (g_hash_table_iter_next(&iter, &item, NULL))
        g_array_append_vals(result, item, 1);
    g_array_sort_with_data(result, most_first, join->names);
    return result;
}
