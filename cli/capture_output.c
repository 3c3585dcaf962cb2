// SPDX-License-Identifier: Apache-2.0
// In: messages as the capture finds them. Out: a trace in order of time.
#include "cli/capture_output.h"

#include "data/order.h"
#include "data/relay.h"

// Messages that wait to be put in order of time (data/order.h).
#define ORDER_WINDOW 65536u

struct BbCaptureOutput {
    BbRelay *relay; // order and writer work in its thread
    BbOrder *order;
    BbTraceWriter *writer;
};

static bool write_message(const BbMessage *message, gpointer user, GError **error)
{
    const BbCaptureOutput *output = user;
    return bb_trace_writer_push(output->writer, message, error);
}

static bool order_message(const BbMessage *message, gpointer user, GError **error)
{
    const BbCaptureOutput *output = user;
    return bb_order_push(output->order, message, error);
}

// What is known by now is shown, even if something older may still come.
static bool bring_up_to_date(gpointer user, GError **error)
{
    const BbCaptureOutput *output = user;
    return bb_order_drain(output->order, error) && bb_trace_writer_flush(output->writer, error);
}

BbCaptureOutput *bb_capture_output_open(const BbCaptureArguments *arguments, const BbNames *names,
                                        GError **error)
{
    const char *path = arguments->out ? arguments->out : "-";
    BbTraceForm form = arguments->out ? BB_TRACE_BBT : BB_TRACE_TEXT;
    BbTraceWriter *writer = bb_trace_writer_open(path, form, names, error);
    if (!writer)
        return NULL;
    BbCaptureOutput *output = g_new0(BbCaptureOutput, 1);
    output->writer = writer;
    output->order = bb_order_new(ORDER_WINDOW, write_message, output);
    output->relay = bb_relay_new(order_message, bring_up_to_date, output);
    return output;
}

void bb_capture_output_free(BbCaptureOutput *output)
{
    if (!output)
        return;
    bb_relay_free(output->relay);
    bb_order_free(output->order);
    bb_trace_writer_free(output->writer);
    g_free(output);
}

bool bb_capture_output_push(const BbMessage *message, gpointer user, GError **error)
{
    const BbCaptureOutput *output = user;
    return bb_relay_push(output->relay, message, error);
}

bool bb_capture_output_sync(BbCaptureOutput *output, GError **error)
{
    return bb_relay_sync(output->relay, error);
}

bool bb_capture_output_drain(BbCaptureOutput *output, GError **error)
{
    return bb_relay_finish(output->relay, error) && bb_order_drain(output->order, error);
}

guint64 bb_capture_output_late(const BbCaptureOutput *output)
{
    return bb_order_late(output->order);
}

bool bb_capture_output_finish(BbCaptureOutput *output, const BbNetwork *network,
                              const BbCounters *counters, GError **error)
{
    return bb_trace_writer_network(output->writer, network, error) &&
           bb_trace_writer_finish(output->writer, counters, error);
}
