// SPDX-License-Identifier: Apache-2.0
// In: frames. Out: messages. Holds what one capture shares: layers, flows, labels, call ids.
#include "capture/capture.h"

#include "capture/flow.h"
#include "capture/layer.h"

#define FRAGMENT_BYTES (16u * 1024u * 1024u)

// Labels repeat: the last ones are found again without the table of names.
#define RECENT_LABELS 256u
#define RECENT_TEXT 28u

typedef struct RecentLabel {
    guint32 name;
    guint8 length; // 0: free
    char text[RECENT_TEXT];
} RecentLabel;

struct BbCapture {
    BbNames *names;
    BbNodes *nodes;
    BbLoss *loss;
    BbLayers *layers;
    BbFlows *flows;
    BbMessageSink sink;
    gpointer user;
    GError *error;  // first one of the sink
    guint64 calls;  // handed out
    guint32 labels; // new names made by decoders
    RecentLabel recent[RECENT_LABELS];
    bool learn_names;
};

BbCaptureOptions bb_capture_options_default(void)
{
    return (BbCaptureOptions){
        .max_connections = BB_CAPTURE_CONNECTIONS,
        .max_held_bytes = BB_CAPTURE_HELD_BYTES,
    };
}

BbCapture *bb_capture_new(const BbCaptureOptions *options, BbNames *names, BbNodes *nodes,
                          BbLoss *loss, BbMessageSink sink, gpointer user)
{
    BbCapture *capture = g_new0(BbCapture, 1);
    capture->names = names;
    capture->nodes = nodes;
    capture->loss = loss;
    capture->sink = sink;
    capture->user = user;
    capture->layers = bb_layers_new(loss, FRAGMENT_BYTES);
    capture->flows = bb_flows_new(capture, options->max_connections, options->max_held_bytes);
    return capture;
}

static bool discard(const BbMessage *message, gpointer user, GError **error)
{
    return true;
}

void bb_capture_free(BbCapture *capture)
{
    if (!capture)
        return;
    capture->sink = discard;
    bb_flows_free(capture->flows);
    bb_layers_free(capture->layers);
    g_clear_error(&capture->error);
    g_free(capture);
}

void bb_capture_learn_names(BbCapture *capture, bool learn)
{
    capture->learn_names = learn;
}

static bool report(BbCapture *capture, GError **error)
{
    if (G_LIKELY(!capture->error))
        return true;
    g_propagate_error(error, g_steal_pointer(&capture->error));
    capture->sink = discard; // the error was told; what is still open goes nowhere
    return false;
}

bool bb_capture_frame(BbCapture *capture, const BbFrame *frame, GError **error)
{
    BbPacket packet;
    capture->loss->count[BB_SEEN_FRAMES]++;
    capture->loss->count[BB_SEEN_BYTES] += frame->length;
    if (!bb_layers_decode(capture->layers, frame, &packet))
        return true;
    return bb_capture_packet(capture, &packet, error);
}

bool bb_capture_packet(BbCapture *capture, const BbPacket *packet, GError **error)
{
    bb_flows_push(capture->flows, packet);
    return report(capture, error);
}

bool bb_capture_finish(BbCapture *capture, GError **error)
{
    bb_flows_finish(capture->flows);
    bb_layers_finish(capture->layers);
    return report(capture, error);
}

guint bb_capture_connections(const BbCapture *capture)
{
    return bb_flows_count(capture->flows);
}

gsize bb_capture_held_bytes(const BbCapture *capture)
{
    return bb_flows_held(capture->flows);
}

BbNames *bb_capture_names(BbCapture *capture)
{
    return capture->names;
}

BbNodes *bb_capture_nodes(BbCapture *capture)
{
    return capture->nodes;
}

BbLoss *bb_capture_loss(BbCapture *capture)
{
    return capture->loss;
}

bool bb_capture_learns_names(const BbCapture *capture)
{
    return capture->learn_names;
}

guint64 bb_capture_new_call(BbCapture *capture)
{
    return ++capture->calls;
}

static guint32 intern_label(BbCapture *capture, const char *text, gsize length)
{
    if (capture->labels < BB_CAPTURE_LABELS) {
        guint32 before = bb_names_count(capture->names);
        guint32 name = bb_names_intern_len(capture->names, text, length);
        capture->labels += bb_names_count(capture->names) - before;
        return name;
    }
    g_autofree char *copy = g_strndup(text, length);
    guint32 name = bb_names_find(capture->names, copy);
    if (name != BB_NAME_NONE || !length)
        return name;
    capture->loss->count[BB_LABEL_LIMIT]++;
    return bb_names_intern(capture->names, "*");
}

// Two labels that fall together only cost a look into the table.
static RecentLabel *recent_label(BbCapture *capture, const char *text, gsize length)
{
    guint32 hash = (guint32)length * 0x9e3779b1u;
    for (gsize i = 0; i < length; i++)
        hash = (hash ^ (guint8)text[i]) * 0x01000193u;
    return &capture->recent[hash >> 24];
}

guint32 bb_capture_label(BbCapture *capture, const char *text, gsize length)
{
    if (length == 0 || length > RECENT_TEXT)
        return intern_label(capture, text, length);
    RecentLabel *recent = recent_label(capture, text, length);
    if (recent->length != length || memcmp(recent->text, text, length) != 0) {
        guint64 replaced = capture->loss->count[BB_LABEL_LIMIT];
        recent->name = intern_label(capture, text, length);
        // A label that the limit replaced is counted each time.
        recent->length = replaced == capture->loss->count[BB_LABEL_LIMIT] ? (guint8)length : 0;
        memcpy(recent->text, text, length);
    }
    return recent->name;
}

void bb_capture_emit(BbCapture *capture, const BbMessage *message)
{
    if (!capture->error)
        capture->sink(message, capture->user, &capture->error);
}
