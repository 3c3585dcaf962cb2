// SPDX-License-Identifier: Apache-2.0
// In: messages in order of time. Out: the call that each belongs to.
#include "merge/open_calls.h"

#include "data/keys.h"
#include "data/pool.h"

#include <string.h>

#define SECOND_SIGHTINGS_MAX 65536u
#define EARLY_MAX 65536u

typedef struct Key {
    guint64 number;
    guint32 form, caller, callee, unused; // unused is 0: keys are compared as bytes
} Key;

typedef struct Waiting Waiting;
struct Waiting {
    Waiting *later;           // of the same key
    Waiting *older, *younger; // of the shelf
    struct Line *line;        // NULL while the shelf has none
    Key key;
    gpointer value;
    gpointer early; // of a call: the value of a return that came before it
    guint8 sides;   // at which ends that was seen, or this if it waits for its call: see side_of
};

// What waits with one key, in order of arrival.
typedef struct Line {
    Key key;
    Waiting *first, *last;
} Line;

// Values that wait for a message with their key. The oldest of all is also the first of its line.
// Lines are made when somebody asks for one: in most traces nothing is seen twice.
typedef struct Shelf {
    bool has_lines;
    GHashTable *lines; // of Line, by its key
    BbPool line_pool, waiting_pool;
    Waiting *oldest, *youngest;
    guint count, max;
} Shelf;

struct BbOpenCalls {
    BbOpenCallsValues values;
    Shelf open;       // calls that wait for their return
    Shelf seen[3][2]; // by kind and at_receiver: what may be seen again, at the other end
    Shelf early;      // returns that wait for their call
    guint64 forgotten;
};

static guint key_hash(gconstpointer data)
{
    return bb_keys_bytes(data, sizeof(Key)); // unused is 0
}

static gboolean key_equal(gconstpointer a, gconstpointer b)
{
    return memcmp(a, b, sizeof(Key)) == 0;
}

static Key key_of(const BbMessage *message)
{
    bool is_return = message->kind == BB_RETURN;
    return (Key){
        .number = message->id.number,
        .form = message->id.form,
        .caller = is_return ? message->receiver : message->sender,
        .callee = is_return ? message->sender : message->receiver,
    };
}

static void shelf_init(Shelf *shelf, guint max)
{
    shelf->lines = g_hash_table_new(key_hash, key_equal);
    bb_pool_init(&shelf->line_pool, sizeof(Line));
    bb_pool_init(&shelf->waiting_pool, sizeof(Waiting));
    shelf->max = max;
}

static void shelf_clear(Shelf *shelf, const BbOpenCallsValues *values)
{
    for (Waiting *waiting = shelf->oldest; waiting && values->unref; waiting = waiting->younger)
        values->unref(waiting->value);
    g_hash_table_destroy(shelf->lines);
    bb_pool_clear(&shelf->line_pool);
    bb_pool_clear(&shelf->waiting_pool);
}

static Line *shelf_line(Shelf *shelf, const Key *key)
{
    Line *line = g_hash_table_lookup(shelf->lines, key);
    if (line)
        return line;
    line = bb_pool_take(&shelf->line_pool);
    line->key = *key;
    g_hash_table_add(shelf->lines, line);
    return line;
}

static void join_line(Shelf *shelf, Waiting *waiting)
{
    Line *line = shelf_line(shelf, &waiting->key);
    waiting->line = line;
    *(line->last ? &line->last->later : &line->first) = waiting;
    line->last = waiting;
}

static void make_lines(Shelf *shelf)
{
    for (Waiting *waiting = shelf->oldest; waiting; waiting = waiting->younger)
        join_line(shelf, waiting);
    shelf->has_lines = true;
}

static Waiting *shelf_put(Shelf *shelf, const Key *key, gpointer value)
{
    Waiting *waiting = bb_pool_take(&shelf->waiting_pool);
    waiting->key = *key;
    waiting->value = value;
    if (shelf->has_lines)
        join_line(shelf, waiting);
    waiting->older = shelf->youngest;
    *(shelf->youngest ? &shelf->youngest->younger : &shelf->oldest) = waiting;
    shelf->youngest = waiting;
    shelf->count++;
    return waiting;
}

static void leave_line(Shelf *shelf, Line *line)
{
    line->first = line->first->later;
    if (line->first)
        return;
    g_hash_table_remove(shelf->lines, line);
    bb_pool_give(&shelf->line_pool, line);
}

// Takes the first of a line off the shelf; returns its value.
static gpointer shelf_take(Shelf *shelf, Waiting *waiting)
{
    gpointer value = waiting->value;
    if (waiting->line)
        leave_line(shelf, waiting->line);
    *(waiting->older ? &waiting->older->younger : &shelf->oldest) = waiting->younger;
    *(waiting->younger ? &waiting->younger->older : &shelf->youngest) = waiting->older;
    bb_pool_give(&shelf->waiting_pool, waiting);
    shelf->count--;
    return value;
}

// The first of a key, which stays there; NULL for none.
static Waiting *shelf_first(Shelf *shelf, const Key *key)
{
    if (!shelf->count)
        return NULL;
    if (!shelf->has_lines)
        make_lines(shelf);
    const Line *line = g_hash_table_lookup(shelf->lines, key);
    return line ? line->first : NULL;
}

static gpointer shelf_find(Shelf *shelf, const Key *key)
{
    Waiting *first = shelf_first(shelf, key);
    return first ? shelf_take(shelf, first) : NULL;
}

BbOpenCalls *bb_open_calls_new(guint max, const BbOpenCallsValues *values)
{
    g_return_val_if_fail(max > 0, NULL);
    BbOpenCalls *calls = g_new0(BbOpenCalls, 1);
    calls->values = *values;
    shelf_init(&calls->open, max);
    for (gsize i = 0; i < G_N_ELEMENTS(calls->seen); i++) {
        shelf_init(&calls->seen[i][false], SECOND_SIGHTINGS_MAX);
        shelf_init(&calls->seen[i][true], SECOND_SIGHTINGS_MAX);
    }
    shelf_init(&calls->early, EARLY_MAX);
    return calls;
}

void bb_open_calls_free(BbOpenCalls *calls)
{
    if (!calls)
        return;
    shelf_clear(&calls->open, &calls->values);
    for (gsize i = 0; i < G_N_ELEMENTS(calls->seen); i++) {
        shelf_clear(&calls->seen[i][false], &calls->values);
        shelf_clear(&calls->seen[i][true], &calls->values);
    }
    shelf_clear(&calls->early, &(BbOpenCallsValues){0});
    g_free(calls);
}

static gpointer ref(const BbOpenCalls *calls, gpointer value)
{
    return calls->values.ref ? calls->values.ref(value) : value;
}

static void unref(const BbOpenCalls *calls, gpointer value)
{
    if (calls->values.unref)
        calls->values.unref(value);
}

// Remembers that a message may be seen again. What that never is goes in its turn.
static void expect_again(BbOpenCalls *calls, const BbMessage *message, gpointer value)
{
    Shelf *shelf = &calls->seen[message->kind][message->at_receiver];
    Key key = key_of(message);
    shelf_put(shelf, &key, ref(calls, value));
    if (shelf->count > shelf->max)
        unref(calls, shelf_take(shelf, shelf->oldest));
}

static guint8 side_of(const BbMessage *message)
{
    return message->at_receiver ? 2 : 1;
}

static void adopt(const BbOpenCalls *calls, const Waiting *waiting)
{
    if (waiting->early && calls->values.adopt)
        calls->values.adopt(waiting->value, waiting->early, calls->values.user);
}

void bb_open_calls_push(BbOpenCalls *calls, const BbMessage *call, gpointer value)
{
    g_return_if_fail(call->kind == BB_CALL && value);
    Key key = key_of(call);
    Waiting *waiting = shelf_put(&calls->open, &key, ref(calls, value));
    Waiting *early = shelf_first(&calls->early, &key);
    if (early) {
        waiting->sides = early->sides;
        waiting->early = shelf_take(&calls->early, early);
    }
    expect_again(calls, call, value);
    if (calls->open.count <= calls->open.max)
        return;
    adopt(calls, calls->open.oldest);
    gpointer oldest = shelf_take(&calls->open, calls->open.oldest);
    calls->forgotten++;
    if (calls->values.forget)
        calls->values.forget(oldest);
    unref(calls, oldest);
}

gpointer bb_open_calls_push_early(BbOpenCalls *calls, const BbMessage *message, gpointer value)
{
    g_return_val_if_fail(message->kind == BB_RETURN && value, NULL);
    Key key = key_of(message);
    if (!bb_id_is_known(message->id))
        return NULL;
    Waiting *before = shelf_first(&calls->early, &key);
    if (before && !(before->sides & side_of(message))) {
        before->sides |= side_of(message);
        return before->value;
    }
    if (before)
        (void)shelf_take(&calls->early, before); // it has no call
    shelf_put(&calls->early, &key, value)->sides = side_of(message);
    if (calls->early.count > calls->early.max)
        (void)shelf_take(&calls->early, calls->early.oldest);
    return NULL;
}

void bb_open_calls_push_free(BbOpenCalls *calls, const BbMessage *message, gpointer value)
{
    g_return_if_fail(message->kind == BB_FREE && value);
    expect_again(calls, message, value);
}

void bb_open_calls_finish(BbOpenCalls *calls)
{
    for (const Waiting *waiting = calls->open.oldest; waiting; waiting = waiting->younger)
        adopt(calls, waiting);
}

gpointer bb_open_calls_find(BbOpenCalls *calls, const BbMessage *message)
{
    Key key = key_of(message);
    gpointer value = shelf_find(&calls->seen[message->kind][!message->at_receiver], &key);
    if (value || message->kind != BB_RETURN)
        return value;
    Waiting *call = shelf_first(&calls->open, &key);
    if (!call)
        return NULL;
    bool again = call->early && !(call->sides & side_of(message));
    if (again)
        adopt(calls, call);
    value = shelf_take(&calls->open, call);
    if (!again)
        expect_again(calls, message, value);
    return value;
}

gpointer bb_open_calls_closed(BbOpenCalls *calls, const BbMessage *message)
{
    g_return_val_if_fail(message->kind == BB_FREE, NULL);
    Key by_caller = key_of(message), by_callee = by_caller;
    by_callee.caller = by_caller.callee;
    by_callee.callee = by_caller.caller;
    Waiting *call = shelf_first(&calls->open, &by_caller);
    call = call ? call : shelf_first(&calls->open, &by_callee);
    return call ? call->value : NULL;
}

guint64 bb_open_calls_forgotten(const BbOpenCalls *calls)
{
    return calls->forgotten;
}
