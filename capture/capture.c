// SPDX-License-Identifier: Apache-2.0
// In: frames. Out: messages. Intake, then flows.
#include "capture/capture.h"

#include "capture/context.h"
#include "capture/flow.h"
#include "capture/intake.h"

struct BbCapture {
    BbContext *context;
    BbIntake *intake;
    BbFlows *flows;
};

BbCaptureOptions bb_capture_options_default(void)
{
    return (BbCaptureOptions){
        .max_connections = BB_CAPTURE_CONNECTIONS,
        .max_held_bytes = BB_CAPTURE_HELD_BYTES,
        .translation = BB_TRANSLATION_JOIN,
    };
}

BbCapture *bb_capture_new(const BbCaptureOptions *options, BbNames *names, BbNodes *nodes,
                          BbLoss *loss, BbMessageSink sink, gpointer user)
{
    BbCapture *capture = g_new0(BbCapture, 1);
    capture->context = bb_context_new(names, nodes, loss, sink, user);
    bb_context_set_options(capture->context, options);
    capture->intake = bb_intake_new(options, loss);
    capture->context->servers = bb_intake_servers(capture->intake);
    capture->flows =
        bb_flows_new(capture->context, options->max_connections, options->max_held_bytes);
    return capture;
}

void bb_capture_free(BbCapture *capture)
{
    if (!capture)
        return;
    bb_context_discard(capture->context);
    bb_flows_free(capture->flows);
    bb_intake_free(capture->intake);
    bb_context_free(capture->context);
    g_free(capture);
}

void bb_capture_learn_names(BbCapture *capture, bool learn)
{
    capture->context->learn_names = learn;
}

static bool push(BbCapture *capture, BbPacket *packet, GError **error)
{
    if (bb_intake_is_new(capture->intake, packet))
        bb_flows_push(capture->flows, packet);
    return bb_context_report(capture->context, error);
}

bool bb_capture_frame(BbCapture *capture, const BbFrame *frame, GError **error)
{
    BbPacket packet;
    return !bb_intake_frame(capture->intake, frame, &packet) || push(capture, &packet, error);
}

bool bb_capture_packet(BbCapture *capture, const BbPacket *packet, GError **error)
{
    BbPacket own = *packet;
    return push(capture, &own, error);
}

bool bb_capture_finish(BbCapture *capture, GError **error)
{
    bb_flows_finish(capture->flows);
    bb_intake_finish(capture->intake);
    return bb_context_report(capture->context, error);
}

const BbNetwork *bb_capture_network(const BbCapture *capture)
{
    return capture->context->network;
}

const BbTranslations *bb_capture_translations(const BbCapture *capture)
{
    return bb_intake_translations(capture->intake);
}

guint bb_capture_connections(const BbCapture *capture)
{
    return bb_flows_count(capture->flows);
}

gsize bb_capture_held_bytes(const BbCapture *capture)
{
    return bb_flows_held(capture->flows);
}
