// SPDX-License-Identifier: Apache-2.0
// One input of a merger, to be asked for its messages one by one, in order of time. Inside of
// merge/ only.
#pragma once

#include "data/trace.h"

typedef struct BbStream BbStream;

// Changes a message that was read. Returns false where it is to be passed over.
typedef bool (*BbStreamPrepare)(BbMessage *message, gpointer user);

// Opens a trace. window: messages that wait to be put in order; 0 where the file is known to be in
// order, which saves copies.
BbStream *bb_stream_open(const char *path, BbNames *names, gsize window, bool skip_bad_lines,
                         GError **error);
void bb_stream_free(BbStream *stream);

// Called for each message as it is read.
void bb_stream_prepare_by(BbStream *stream, BbStreamPrepare prepare, gpointer user);

// The next message, lent until the next call; NULL at the end, or after a failure (error set).
const BbMessage *bb_stream_next(BbStream *stream, GError **error);

const BbTraceReader *bb_stream_reader(const BbStream *stream); // lent
// Whether no message read so far was earlier than the one before it.
bool bb_stream_in_order(const BbStream *stream);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(BbStream, bb_stream_free)
