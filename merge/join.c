// SPDX-License-Identifier: Apache-2.0
// In: sightings of several observers, nearly in order of time. Out: messages, in order of time.
//
// What waits is a list in order of time and a table by keys. The oldest goes when nothing within
// the window can come any more.
#include "merge/join.h"

#include "merge/join_state.h"

#include <string.h>

#define BUCKETS_FIRST 4096u
#define TEXT_KEEP 256u // a place keeps room for texts up to this size
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
    [BB_JOIN_RECEIVER_ONLY] = {"merge_receiver_only", "messages that only the receiver saw"},
    [BB_JOIN_OTHER_KIND] = {"merge_other_kind",
                            "sightings joined that observers took for different kinds"},
    [BB_JOIN_EARLY] = {"merge_early", "messages that could not wait for other sightings"},
    [BB_JOIN_LATE] = {"merge_late", "messages written out of order"},
    [BB_JOIN_MOVED] = {"merge_returns_moved", "returns moved to the time of their call"},
    [BB_JOIN_PRECEDES] = {"merge_returns_before", "returns that precede their call"},
    [BB_JOIN_FORGOTTEN] = {"merge_calls_forgotten", "open calls forgotten at the limit"},
};

static guint names_hash(gconstpointer key)
{
    const BbJoinNames *names = key;
    return names->name * 0x9e3779b1u ^ names->other;
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
    join->delays = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, g_free);
    join->apart = g_hash_table_new_full(names_hash, names_equal, g_free, NULL);
    join->ids = bb_call_ids_new(BB_CALL_IDS_OPEN);
    join->overlap = bb_overlap_new();
    join->newest_ns = join->out_ns = G_MININT64;
    join->tcp = bb_names_intern(names, "tcp");
    join->udp = bb_names_intern(names, "udp");
    return join;
}

// ---- places -------------------------------------------------------------------------------------

static void free_sightings(BbHeld *held)
{
    for (BbSighting *seen = held->seen.next, *next = NULL; seen; seen = next) {
        next = seen->next;
        g_slice_free(BbSighting, seen);
    }
    held->seen.next = NULL;
}

static void free_place(BbHeld *held)
{
    free_sightings(held);
    g_free(held->text);
    g_free(held);
}

void bb_join_free(BbJoin *join)
{
    if (!join)
        return;
    for (BbHeld *held = join->oldest, *next = NULL; held; held = next) {
        next = held->younger;
        if (held->lane)
            bb_lane_leave(join, held);
        free_place(held);
    }
    for (BbHeld *held = join->vacant, *next = NULL; held; held = next) {
        next = held->next_same;
        free_place(held);
    }
    for (guint i = 0; i < BB_JOIN_COMING; i++)
        if (join->coming[i])
            free_place(join->coming[i]);
    g_free(join->buckets);
    g_hash_table_destroy(join->lanes);
    g_hash_table_destroy(join->delays);
    g_hash_table_destroy(join->apart);
    bb_call_ids_free(join->ids);
    bb_overlap_free(join->overlap);
    g_free(join);
}

static char *put_text(char *at, const char **text, gsize size)
{
    if (size == 0)
        return at; // which may be NULL
    memcpy(at, *text, size);
    *text = at;
    return at + size;
}

static BbHeld *take_place(BbJoin *join, const BbMessage *message)
{
    BbHeld *held = join->vacant;
    if (held)
        join->vacant = held->next_same;
    else
        held = g_new0(BbHeld, 1);
    gsize conn = message->conn ? strlen(message->conn) + 1 : 0;
    gsize extra = message->extra ? strlen(message->extra) + 1 : 0;
    if (conn + extra > held->room) {
        g_free(held->text);
        held->room = MAX(conn + extra, 64);
        held->text = g_malloc(held->room);
    }
    held->message = *message;
    char *rest = put_text(held->text, &held->message.conn, conn);
    (void)put_text(rest, &held->message.extra, extra);
    return held;
}

static void give_back(BbJoin *join, BbHeld *held)
{
    free_sightings(held);
    if (held->room > TEXT_KEEP) {
        g_clear_pointer(&held->text, g_free);
        held->room = 0;
    }
    held->next_same = join->vacant;
    join->vacant = held;
}

// ---- the list and the table ---------------------------------------------------------------------

static void list_insert(BbJoin *join, BbHeld *held)
{
    BbHeld *older = join->youngest;
    while (older && older->message.time_ns > held->message.time_ns)
        older = older->older;
    held->older = older;
    held->younger = older ? older->younger : join->oldest;
    *(older ? &older->younger : &join->oldest) = held;
    *(held->younger ? &held->younger->older : &join->youngest) = held;
}

static void list_remove(BbJoin *join, const BbHeld *held)
{
    *(held->older ? &held->older->younger : &join->oldest) = held->younger;
    *(held->younger ? &held->younger->older : &join->youngest) = held->older;
}

static BbHeld **bucket_of(const BbJoin *join, const BbSightingKey *key)
{
    return &join->buckets[key->lo & (join->n_buckets - 1)];
}

static void table_grow(BbJoin *join)
{
    g_free(join->buckets);
    join->n_buckets *= 2;
    join->buckets = g_new0(BbHeld *, join->n_buckets);
    for (BbHeld *held = join->oldest; held; held = held->younger) {
        if (held->key.by == BB_SIGHTING_BY_ORDER)
            continue;
        BbHeld **bucket = bucket_of(join, &held->key);
        held->next_same = *bucket;
        *bucket = held;
    }
}

static void table_remove(BbJoin *join, const BbHeld *held)
{
    if (held->key.by == BB_SIGHTING_BY_ORDER)
        return;
    BbHeld **at = bucket_of(join, &held->key);
    while (*at != held)
        at = &(*at)->next_same;
    *at = held->next_same;
}

static bool goes_by_order(const BbJoin *join, const BbHeld *held)
{
    const BbSightingKey *key = &held->key;
    return join->options.by == BB_JOIN_ORDER ||
           (join->options.by == BB_JOIN_KEYS && (key->by == BB_SIGHTING_BY_ORDER || key->local));
}

static void hold(BbJoin *join, BbHeld *held)
{
    list_insert(join, held);
    if (held->key.by != BB_SIGHTING_BY_ORDER) {
        BbHeld **bucket = bucket_of(join, &held->key);
        held->next_same = *bucket;
        *bucket = held;
    }
    held->lane = NULL;
    if (goes_by_order(join, held))
        bb_lane_enter(join, held);
    if (++join->n_held > join->n_buckets / 4)
        table_grow(join);
}

static void let_go(BbJoin *join, BbHeld *held)
{
    list_remove(join, held);
    table_remove(join, held);
    if (held->lane)
        bb_lane_leave(join, held);
    join->n_held--;
}

// ---- joining ------------------------------------------------------------------------------------

static bool joins_all(const BbHeld *held, const BbSighting *seen, const BbSightingKey *key)
{
    for (const BbSighting *other = &held->seen; other; other = other->next) {
        BbSightingKey of_other = held->key;
        of_other.at_receiver = other->at_receiver;
        if (!bb_sighting_joins(&of_other, key, other->input == seen->input,
                               other->observer == seen->observer))
            return false;
    }
    return true;
}

// The message nearest in time of which held is another sighting.
static BbHeld *find_partner(const BbJoin *join, const BbHeld *held)
{
    BbHeld *best = NULL;
    gint64 best_ns = join->options.window_ns;
    if (join->options.by == BB_JOIN_NONE || held->key.by == BB_SIGHTING_BY_ORDER)
        return NULL;
    for (BbHeld *other = *bucket_of(join, &held->key); other; other = other->next_same) {
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
    join->count[held->key.by == BB_SIGHTING_BY_ID ? BB_JOIN_BY_ID : BB_JOIN_BY_POSITION]++;
    bb_held_fold(join, partner, held);
    if (partner->message.time_ns != before_ns) {
        list_remove(join, partner);
        list_insert(join, partner);
    }
    give_back(join, held);
}

// Of what the oldest of its lane waited for, all has come.
static void fold_by_order(BbJoin *join, BbHeld *held)
{
    for (BbHeld *other = bb_lane_match(join, held); other; other = bb_lane_match(join, held)) {
        join->count[BB_JOIN_BY_ORDER]++;
        let_go(join, other);
        bb_held_fold(join, held, other);
        give_back(join, other);
    }
}

// ---- ids and times ------------------------------------------------------------------------------

// The call of a return. Others that its sightings name have this return, too, and are closed.
static BbOpenCall *find_call(BbJoin *join, const BbHeld *held)
{
    BbOpenCall *call = NULL;
    BbMessage answer = held->message;
    for (const BbSighting *seen = &held->seen; seen; seen = seen->next) {
        answer.id = seen->id;
        answer.observer = seen->observer;
        BbOpenCall *found =
            bb_id_is_known(seen->id) ? bb_call_ids_find(join->ids, &answer, seen->input) : NULL;
        gint64 time_ns = 0;
        if (!found || found == call)
            continue;
        if (!call)
            call = found;
        else if (bb_open_call_is_written(found, &time_ns))
            bb_call_ids_close(join->ids, found);
    }
    return call;
}

static BbId known_id(const BbHeld *held)
{
    BbId id = held->message.id;
    for (const BbSighting *seen = &held->seen; seen && !bb_id_is_known(id); seen = seen->next)
        id = seen->id;
    return id;
}

// Whether a return precedes its call and may be moved to it, once.
static bool move_return(BbJoin *join, BbHeld *held, gint64 call_ns)
{
    BbMessage *message = &held->message;
    if (!join->options.repair || held->moved ||
        call_ns - message->time_ns > join->options.window_ns)
        return false;
    join->count[BB_JOIN_MOVED] += message->time_ns < call_ns;
    held->moved = true;
    message->time_ns = call_ns;
    if (message->end_ns != BB_TIME_NONE)
        message->end_ns = MAX(message->end_ns, call_ns);
    return true;
}

// Returns false where the return has moved behind its call, and waits there.
static bool settle_return(BbJoin *join, BbHeld *held)
{
    BbMessage *message = &held->message;
    gint64 call_ns = 0;
    BbOpenCall *call = find_call(join, held);
    if (!call) {
        message->id = known_id(held);
        if (bb_call_id_is_made_up(message))
            message->id = bb_call_ids_fresh(join->ids);
        return true;
    }
    bool written = bb_open_call_is_written(call, &call_ns);
    bool before = message->time_ns < call_ns || (!written && message->time_ns == call_ns);
    if (before && move_return(join, held, call_ns)) {
        if (!written)
            return false;
    } else if (before && message->time_ns < call_ns) {
        join->count[BB_JOIN_PRECEDES]++;
    }
    message->id = bb_call_ids_of(join->ids, call);
    if (written)
        bb_call_ids_close(join->ids, call);
    return true;
}

static void settle_other(BbJoin *join, BbHeld *held)
{
    BbMessage *message = &held->message;
    message->id = known_id(held);
    if (held->call)
        message->id = bb_call_ids_write(join->ids, held->call, message->time_ns);
    else if (bb_call_id_is_made_up(message))
        message->id = bb_call_ids_fresh(join->ids);
}

// ---- the way out --------------------------------------------------------------------------------

static void count_sightings(BbJoin *join, const BbHeld *held)
{
    guint32 sender = held->message.sender, receiver = held->message.receiver;
    for (const BbSighting *seen = &held->seen; seen; seen = seen->next) {
        bb_overlap_saw(join->overlap, sender, receiver, seen->observer);
        for (const BbSighting *other = seen->next; other; other = other->next)
            if (other->observer != seen->observer)
                bb_overlap_both(join->overlap, sender, receiver, seen->observer, other->observer,
                                ABS(other->time_ns - seen->time_ns));
    }
    join->count[BB_JOIN_JOINED] += held->seen.next != NULL;
    join->count[BB_JOIN_RECEIVER_ONLY] += held->message.at_receiver;
}

static void fetch_all(const void *what, gsize size)
{
    for (gsize i = 0; i < size; i += 64)
        __builtin_prefetch((const char *)what + i);
}

static void fetch_next(const BbJoin *join, const BbHeld *held, bool again)
{
    __builtin_prefetch(bucket_of(join, &held->key));
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
    fold_by_order(join, held);
    if (held->call && held->message.kind != BB_CALL) // observers took it for different kinds
        bb_call_ids_close(join->ids, g_steal_pointer(&held->call));
    if (held->message.kind == BB_RETURN && !settle_return(join, held)) {
        list_remove(join, held);
        list_insert(join, held);
        return true;
    }
    if (held->message.kind != BB_RETURN)
        settle_other(join, held);
    let_go(join, held);
    count_sightings(join, held);
    join->count[BB_JOIN_LATE] += held->message.time_ns < join->out_ns;
    join->out_ns = MAX(join->out_ns, held->message.time_ns);
    bool ok = join->sink(&held->message, join->user, error);
    give_back(join, held);
    return ok;
}

static bool is_call_with_id(const BbMessage *message)
{
    return message->kind == BB_CALL && bb_id_is_known(message->id);
}

static BbHeld *make_held(BbJoin *join, const BbMessage *message, guint input)
{
    BbHeld *held = take_place(join, message);
    held->key = bb_sighting_key(message, join->names);
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
        hold(join, held);
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
    __builtin_prefetch(bucket_of(join, &(*slot)->key));
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
