// SPDX-License-Identifier: Apache-2.0
// In: labels to name, calls to number, messages. Out: names, ids, the messages at the sink.
#include "capture/context.h"

#include <string.h>

// Labels repeat: the last ones are found again without the table of names.
#define RECENT_LABELS 256u
#define RECENT_TEXT 28u

typedef struct RecentLabel {
    guint32 name;
    guint8 length; // 0: free
    char text[RECENT_TEXT];
} RecentLabel;

typedef struct BbContextInside {
    BbMessageSink sink;
    gpointer user;
    GError *error;  // first one of the sink
    guint64 calls;  // handed out
    guint32 labels; // new names made by decoders
    RecentLabel recent[RECENT_LABELS];
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
    };
    context->inside->sink = sink;
    context->inside->user = user;
    return context;
}

void bb_context_free(BbContext *context)
{
    if (!context)
        return;
    g_clear_error(&context->inside->error);
    g_free(context->inside);
    bb_network_free(context->network);
    g_free(context);
}

guint64 bb_context_new_call(BbContext *context)
{
    return ++context->inside->calls;
}

static guint32 intern_label(BbContext *context, const char *text, gsize length)
{
    if (context->inside->labels < BB_CONTEXT_LABELS) {
        guint32 before = bb_names_count(context->names);
        guint32 name = bb_names_intern_len(context->names, text, length);
        context->inside->labels += bb_names_count(context->names) - before;
        return name;
    }
    g_autofree char *copy = g_strndup(text, length);
    guint32 name = bb_names_find(context->names, copy);
    if (name != BB_NAME_NONE || !length)
        return name;
    context->loss->count[BB_LABEL_LIMIT]++;
    return bb_names_intern(context->names, "*");
}

// Two labels that fall together only cost a look into the table.
static RecentLabel *recent_label(Inside *inside, const char *text, gsize length)
{
    guint32 hash = (guint32)length * 0x9e3779b1u;
    for (gsize i = 0; i < length; i++)
        hash = (hash ^ (guint8)text[i]) * 0x01000193u;
    return &inside->recent[hash >> 24];
}

guint32 bb_context_label(BbContext *context, const char *text, gsize length)
{
    if (length == 0 || length > RECENT_TEXT)
        return intern_label(context, text, length);
    RecentLabel *recent = recent_label(context->inside, text, length);
    if (recent->length != length || memcmp(recent->text, text, length) != 0) {
        guint64 replaced = context->loss->count[BB_LABEL_LIMIT];
        recent->name = intern_label(context, text, length);
        // A label that the limit replaced is counted each time.
        recent->length = replaced == context->loss->count[BB_LABEL_LIMIT] ? (guint8)length : 0;
        memcpy(recent->text, text, length);
    }
    return recent->name;
}

static bool discard(const BbMessage *message, gpointer user, GError **error)
{
    return true;
}

void bb_context_discard(BbContext *context)
{
    context->inside->sink = discard;
}

void bb_context_emit(BbContext *context, const BbMessage *message)
{
    Inside *inside = context->inside;
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
