// SPDX-License-Identifier: Apache-2.0
// In: labels to name, calls to number, messages. Out: names, ids, the messages at the sink.
#include "capture/context.h"

#include "capture/capture.h"
#include "capture/hold.h"
#include "capture/kept.h"
#include "capture/tape.h"
#include "data/keys.h"
#include "data/mix.h"
#include "data/status.h"

#include <string.h>

#define LEARNED_TEXT 1024u

// Labels repeat: the last ones are found again without the table of names.
#define RECENT_LABELS 256u
#define RECENT_TEXT 28u

typedef struct RecentLabel {
    guint32 name;
    guint8 length; // 0: free
    char text[RECENT_TEXT];
} RecentLabel;

// Numbers that stand for something, and are used again.
typedef struct BbSlots {
    GArray *free; // of guint32
    guint32 most; // in use or free
} BbSlots;

typedef struct BbContextInside {
    BbMessageSink sink;
    gpointer user;
    GError *error;      // first one of the sink
    guint64 calls;      // handles given out
    guint bare_edges;   // that no connection with data was seen of
    guint32 labels;     // new names made by decoders
    guint32 kept_names; // how many names there were after the last of these
    guint32 other;      // label of those that are too many; NONE: not needed yet
    RecentLabel recent[RECENT_LABELS];
    BbTape *tape;
    const BbKept *kept;
    guint shard;
    BbSlots calls_open, nodes_known; // with a tape: numbers that stand for them
    GHashTable *protocols;           // likewise: text -> number, apart from labels
} Inside;

BbContext *bb_context_new(BbNames *names, BbNodes *nodes, BbLoss *loss, BbMessageSink sink,
                          gpointer user)
{
    BbContext *context = g_new(BbContext, 1);
    *context = (BbContext){
        .names = names,
        .nodes = nodes,
        .loss = loss,
        .inside = g_new0(Inside, 1),
        .network = bb_network_new(),
        .seed = bb_mix_seed(),
    };
    context->inside->sink = sink;
    context->inside->user = user;
    if (nodes) { // not a shard: our own labels are taken, too, when there are too many of others
        bb_names_intern(names, BB_STATUS_UNREAD);
        bb_names_intern(names, BB_STATUS_CLOSED);
    }
    return context;
}

BbContext *bb_context_new_shard(BbNames *names, BbLoss *loss, BbTape *tape, const BbKept *kept,
                                guint shard)
{
    BbContext *context = bb_context_new(names, NULL, loss, NULL, NULL);
    Inside *inside = context->inside;
    inside->tape = tape;
    inside->kept = kept;
    inside->shard = shard;
    inside->calls_open.free = g_array_new(FALSE, FALSE, sizeof(guint32));
    inside->nodes_known.free = g_array_new(FALSE, FALSE, sizeof(guint32));
    inside->protocols = g_hash_table_new_full(bb_text_key_hash, g_str_equal, g_free, NULL);
    return context;
}

void bb_context_set_options(BbContext *context, const BbCaptureOptions *options)
{
    context->decode_as = options->decode_as;
    context->n_decode_as = options->n_decode_as;
    context->keylog = options->keylog;
    context->network_ns = options->network_ns;
}

void bb_context_free(BbContext *context)
{
    if (!context)
        return;
    Inside *inside = context->inside;
    g_clear_error(&inside->error);
    g_clear_pointer(&inside->calls_open.free, g_array_unref);
    g_clear_pointer(&inside->nodes_known.free, g_array_unref);
    g_clear_pointer(&inside->protocols, g_hash_table_unref);
    g_free(inside);
    bb_network_free(context->network);
    g_free(context);
}

void bb_context_set_tape(BbContext *context, BbTape *tape)
{
    context->inside->tape = tape;
}

guint64 bb_context_packet(const BbContext *context)
{
    return bb_tape_packet(context->inside->tape);
}

// ---- calls and nodes ----------------------------------------------------------------------------

// A number from 1 on that is not in use.
static guint32 take_slot(BbSlots *slots)
{
    if (!slots->free->len)
        return ++slots->most;
    guint32 slot = g_array_index(slots->free, guint32, slots->free->len - 1);
    g_array_set_size(slots->free, slots->free->len - 1);
    return slot;
}

guint64 bb_context_new_call(BbContext *context, guint64 *id)
{
    Inside *inside = context->inside;
    inside->calls++;
    *id = inside->calls;
    if (inside->tape) {
        guint32 slot = take_slot(&inside->calls_open);
        (void)bb_tape_add(inside->tape, BB_NOTE_CALL, inside->shard, slot, 0);
        *id = slot;
    }
    return inside->calls;
}

void bb_context_end_call(BbContext *context, guint64 id)
{
    guint32 slot = (guint32)id;
    if (context->hold && bb_hold_end_call(context->hold, id))
        return;
    if (context->inside->tape)
        g_array_append_val(context->inside->calls_open.free, slot);
}

guint32 bb_context_node(BbContext *context, const BbEndpoints *endpoints, guint end, bool is_server)
{
    Inside *inside = context->inside;
    if (!inside->tape)
        return bb_endpoints_node(endpoints, context->nodes, context->names, end, is_server);
    guint32 slot = take_slot(&inside->nodes_known);
    BbNoteNode *note =
        bb_tape_add(inside->tape, BB_NOTE_NODE, inside->shard, slot, sizeof(BbNoteNode));
    *note = (BbNoteNode){.endpoints = *endpoints, .end = (guint8)end, .is_server = is_server};
    return slot;
}

void bb_context_end_node(BbContext *context, guint32 node)
{
    if (context->hold && bb_hold_end_node(context->hold, node))
        return;
    if (context->inside->tape && node)
        g_array_append_val(context->inside->nodes_known.free, node);
}

// ---- names --------------------------------------------------------------------------------------

// Of a shard: whoever plays the tape is told of texts that are new.
static guint32 shard_protocol(BbContext *context, const char *text)
{
    const Inside *inside = context->inside;
    guint32 number = GPOINTER_TO_UINT(g_hash_table_lookup(inside->protocols, text));
    if (number)
        return number;
    gsize size = strlen(text) + 1;
    number = 1 + g_hash_table_size(inside->protocols);
    g_hash_table_insert(inside->protocols, g_strdup(text), GUINT_TO_POINTER(number));
    memcpy(bb_tape_add(inside->tape, BB_NOTE_PROTOCOL, inside->shard, number, size), text, size);
    return number;
}

guint32 bb_context_protocol(BbContext *context, const char *text)
{
    return context->inside->tape ? shard_protocol(context, text)
                                 : bb_names_intern(context->names, text);
}

guint32 bb_context_other(BbContext *context)
{
    Inside *inside = context->inside;
    if (!inside->other && inside->tape) {
        inside->other = BB_TAPE_OTHER;
        (void)bb_tape_add(inside->tape, BB_NOTE_OTHER, inside->shard, 0, 0);
    } else if (!inside->other) {
        inside->other = bb_names_intern(context->names, "*");
    }
    return inside->other;
}

guint32 bb_context_kept_names(const BbContext *context)
{
    const Inside *inside = context->inside;
    return inside->labels == BB_CONTEXT_LABELS ? inside->kept_names : 0;
}

// Interns a label of a shard; whoever plays the tape is told of those that are new.
static guint32 tell_label(BbContext *context, const char *text, gsize length)
{
    const Inside *inside = context->inside;
    guint32 before = bb_names_count(context->names);
    guint32 name = bb_names_intern_len(context->names, text, length);
    if (bb_names_count(context->names) > before)
        (void)bb_tape_add(inside->tape, BB_NOTE_LABEL, inside->shard, name, 0);
    return name;
}

// Of a shard. Until it is known which labels are kept, whoever plays the tape decides.
static guint32 shard_label(BbContext *context, const char *text, gsize length)
{
    const BbKept *kept = context->inside->kept;
    if (!length || !bb_kept_is_told(kept))
        return tell_label(context, text, length);
    g_autofree char *copy = g_strndup(text, length);
    guint32 name = bb_names_find(context->names, copy);
    if (name != BB_NAME_NONE)
        return name;
    return bb_kept_has(kept, copy) ? tell_label(context, text, length) : bb_context_other(context);
}

static guint32 intern_label(BbContext *context, const char *text, gsize length)
{
    Inside *inside = context->inside;
    if (inside->tape)
        return shard_label(context, text, length);
    if (inside->labels == BB_CONTEXT_LABELS) {
        g_autofree char *copy = g_strndup(text, length);
        guint32 name = bb_names_find(context->names, copy);
        bool is_kept = !length || (name != BB_NAME_NONE && name < inside->kept_names);
        return is_kept ? name : bb_context_other(context);
    }
    guint32 before = bb_names_count(context->names);
    guint32 name = bb_names_intern_len(context->names, text, length);
    inside->labels += bb_names_count(context->names) - before;
    inside->kept_names = bb_names_count(context->names);
    return name;
}

// Two labels that fall together only cost a look into the table.
static RecentLabel *recent_label(Inside *inside, const char *text, gsize length)
{
    return &inside->recent[bb_mix_bytes(length, text, length) >> 56];
}

guint32 bb_context_label(BbContext *context, const char *text, gsize length)
{
    if (length == 0 || length > RECENT_TEXT)
        return intern_label(context, text, length);
    RecentLabel *recent = recent_label(context->inside, text, length);
    if (recent->length != length || memcmp(recent->text, text, length) != 0) {
        recent->name = intern_label(context, text, length);
        recent->length = (guint8)length;
        memcpy(recent->text, text, length);
    }
    return recent->name;
}

// ---- what was found -----------------------------------------------------------------------------

// The table of edges, and with it that of nodes, is not to be filled by who sends nothing but SYNs.
void bb_context_edge(BbContext *context, const BbEndpoints *endpoints, guint client, bool has_data,
                     bool is_over, BbNetworkEdge *edge)
{
    Inside *inside = context->inside;
    if (inside->tape) {
        BbNoteEdge *note =
            bb_tape_add(inside->tape, BB_NOTE_EDGE, inside->shard, 0, sizeof(BbNoteEdge));
        *note = (BbNoteEdge){*endpoints, *edge, (guint8)client, has_data, is_over};
        return;
    }
    guint before = bb_network_count(context->network);
    if (before >= BB_CONTEXT_EDGES || (!has_data && inside->bare_edges >= BB_CONTEXT_BARE_EDGES)) {
        context->loss->count[BB_NETWORK_LIMIT] += is_over;
        if (is_over)
            bb_endpoints_end(endpoints, context->nodes);
        return;
    }
    edge->client = bb_context_node(context, endpoints, client, false);
    edge->server = bb_context_node(context, endpoints, !client, true);
    if (is_over)
        bb_endpoints_end(endpoints, context->nodes); // TCP alone has edges, once each at its end
    bb_network_add(context->network, edge);
    inside->bare_edges += !has_data && bb_network_count(context->network) > before;
}

void bb_context_learn(BbContext *context, const BbAddress *address, const char *name)
{
    const Inside *inside = context->inside;
    if (!context->learn_names)
        return;
    if (!inside->tape) {
        bb_nodes_learn(context->nodes, address, name);
        return;
    }
    gsize length = strlen(name);
    if (length > LEARNED_TEXT) // no host name has so many
        return;
    char *note =
        bb_tape_add(inside->tape, BB_NOTE_LEARNED, inside->shard, 0, sizeof *address + length + 1);
    memcpy(note, address, sizeof *address);
    memcpy(note + sizeof *address, name, length + 1);
}

static void write_note(const Inside *inside, const BbMessage *message)
{
    gsize conn = message->conn ? strlen(message->conn) + 1 : 0;
    char *note =
        bb_tape_add(inside->tape, BB_NOTE_MESSAGE, inside->shard, 0, sizeof *message + conn);
    memcpy(note, message, sizeof *message);
    if (conn)
        memcpy(note + sizeof *message, message->conn, conn);
}

static bool discard(const BbMessage *message, gpointer user, GError **error)
{
    return true;
}

void bb_context_discard(BbContext *context)
{
    context->inside->sink = discard;
}

// A label counts where it is given, not again where a return repeats it.
static bool is_unlabelled(const Inside *inside, const BbMessage *message)
{
    guint32 label = message->kind == BB_RETURN ? message->status : message->op;
    return inside->other && label == inside->other;
}

void bb_context_emit(BbContext *context, const BbMessage *message)
{
    Inside *inside = context->inside;
    if (inside->tape) {
        write_note(inside, message);
        return;
    }
    context->loss->count[BB_LABEL_LIMIT] += is_unlabelled(inside, message);
    if (!inside->error)
        inside->sink(message, inside->user, &inside->error);
}

bool bb_context_report(BbContext *context, GError **error)
{
    if (G_LIKELY(!context->inside->error))
        return true;
    g_propagate_error(error, g_steal_pointer(&context->inside->error));
    bb_context_discard(context); // the error was told; what is still open goes nowhere
    return false;
}
