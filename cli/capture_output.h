// SPDX-License-Identifier: Apache-2.0
// Where the messages of bbtrace capture go: put in order of time and written, in a thread of its
// own. Memory: ORDER_WINDOW messages (data/order.h) and what the relay holds (data/relay.h).
#pragma once

#include "cli/capture_arguments.h"
#include "data/network.h"

typedef struct BbCaptureOutput BbCaptureOutput;

// Opens what -w names, or standard output. notes are sentences for the trace, NULL at the end. They
// and names are lent.
BbCaptureOutput *bb_capture_output_open(const BbCaptureArguments *arguments,
                                        const char *const *notes, const BbNames *names,
                                        GError **error);
void bb_capture_output_free(BbCaptureOutput *output);

// A BbMessageSink (data/order.h); user is the output.
bool bb_capture_output_push(const BbMessage *message, gpointer user, GError **error);

// What is known by now is made visible to readers of the trace; does not wait for that.
bool bb_capture_output_sync(BbCaptureOutput *output, GError **error);

// Whether the trace is a series of files, which want totals now and then.
bool bb_capture_output_is_series(const BbCaptureOutput *output);
// Totals of all messages that were pushed so far: counters, taken over, and network, copied. They
// keep their place among the messages, so that files do not depend on which thread is faster.
void bb_capture_output_tell(BbCaptureOutput *output, BbCounters *counters,
                            const BbNetwork *network);

// A sentence for the trace, taken over, by whichever thread: the file that is being written when
// the output is next brought up to date, or ends, has it.
void bb_capture_output_note(BbCaptureOutput *output, char *text);

// A sentence for this file and all later ones, taken over, that keeps its place likewise.
void bb_capture_output_keep_note(BbCaptureOutput *output, char *text);

// No message comes after this: all are written and in place. Returns with the first failure.
bool bb_capture_output_drain(BbCaptureOutput *output, GError **error);
// After drain: messages that came too late for their place in time.
guint64 bb_capture_output_late(const BbCaptureOutput *output);
// Then: what belongs to the trace as a whole, and its end.
bool bb_capture_output_finish(BbCaptureOutput *output, const BbNetwork *network,
                              const BbCounters *counters, GError **error);

// Where one of these has failed to write, in place of finish, behind drain: what is whole is ended
// in order (data/trace_files.h).
bool bb_capture_output_salvage(BbCaptureOutput *output, const BbCounters *counters, GError **error);
// After drain: how many no file has of the messages found, of which not all need have come here
// when writing failed.
guint64 bb_capture_output_unwritten(const BbCaptureOutput *output, guint64 found);
const BbTraceFiles *bb_capture_output_files(const BbCaptureOutput *output); // lent

G_DEFINE_AUTOPTR_CLEANUP_FUNC(BbCaptureOutput, bb_capture_output_free)
