// SPDX-License-Identifier: Apache-2.0
// Convolution over a trace of any length in bounded memory: the messages go through windows of
// time (data/schedule.h), each of which is explained by itself.
//
// What a window does not publish, the messages of trees that began in the overlap, goes on to the
// next one and is explained anew there. The statistics of the overlap are those of the messages
// that are left in it, whole trees; of what correlates in a window but is explained otherwise
// (BbPaths.derived) the share counts that its published messages are of all.
#pragma once

#include "convolution/convolution.h"
#include "data/schedule.h"

// Messages of a window that nobody gave a length: the bound on memory, at the peak some 250 bytes
// each and the candidates of all.
#define BB_STRETCH_MESSAGES 1000000u

typedef struct BbStretches BbStretches;

// names is lent and must outlive the value.
BbStretches *bb_stretches_new(const BbNames *names, const BbConvolutionOptions *convolution,
                              const BbWindowOptions *options);
void bb_stretches_free(BbStretches *stretches);

// Takes a message; nothing of it is kept by reference. Returns false, and takes nothing, when a
// window is due: call bb_stretches_next, then push it again. Within a window messages may come in
// any order; one that is older than what was published already is used as if it came now, and
// counted.
bool bb_stretches_push(BbStretches *stretches, const BbMessage *message);

// The trace has ended: what is left is due.
void bb_stretches_end(BbStretches *stretches);

// The paths of the window that is due; NULL when none is, and after the last. The caller frees.
BbPaths *bb_stretches_next(BbStretches *stretches);

guint64 bb_stretches_late(const BbStretches *stretches); // messages that came after their window

// What explains the windows, to ask what it found; lent.
const BbConvolution *bb_stretches_convolution(const BbStretches *stretches);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(BbStretches, bb_stretches_free)
