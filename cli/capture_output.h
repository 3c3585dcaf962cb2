// SPDX-License-Identifier: Apache-2.0
// Where the messages of bbtrace capture go: put in order of time and written, in a thread of its
// own. Memory: ORDER_WINDOW messages (data/order.h) and what the relay holds (data/relay.h).
#pragma once

#include "cli/capture_arguments.h"
#include "data/network.h"

typedef struct BbCaptureOutput BbCaptureOutput;

// Opens what -w names, or standard output. names are lent.
BbCaptureOutput *bb_capture_output_open(const BbCaptureArguments *arguments, const BbNames *names,
                                        GError **error);
void bb_capture_output_free(BbCaptureOutput *output);

// A BbMessageSink (data/order.h); user is the output.
bool bb_capture_output_push(const BbMessage *message, gpointer user, GError **error);

// What is known by now is made visible to readers of the trace; does not wait for that.
bool bb_capture_output_sync(BbCaptureOutput *output, GError **error);

// No message comes after this: all are written and in place. Returns with the first failure.
bool bb_capture_output_drain(BbCaptureOutput *output, GError **error);
// After drain: messages that came too late for their place in time.
guint64 bb_capture_output_late(const BbCaptureOutput *output);
// Then: what belongs to the trace as a whole, and its end.
bool bb_capture_output_finish(BbCaptureOutput *output, const BbNetwork *network,
                              const BbCounters *counters, GError **error);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(BbCaptureOutput, bb_capture_output_free)
