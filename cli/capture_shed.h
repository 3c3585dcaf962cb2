// SPDX-License-Identifier: Apache-2.0
// What a live capture leaves out when it cannot keep up: reads the clocks and the counters for the
// policy (capture/shed.h), counts (BB_SHED_...), and puts down in sentences when flows were left
// out. Of the thread that reads packets.
#pragma once

#include "capture/shed.h"
#include "capture/sources/source.h"

// Periods that get a sentence of their own; later ones share the last.
#define BB_CAPTURE_SHED_NOTES 31u

typedef struct BbCaptureShed BbCaptureShed;

typedef struct BbCaptureShedSetup {
    BbSource *source; // lent, as is loss
    BbLoss *loss;
    bool can_trim;   // packets are copied to threads
    bool host_clock; // stamps are of this host's clock, and tell how old packets are
    int ring_bytes;  // of the kernel's ring of an interface
} BbCaptureShedSetup;

BbCaptureShed *bb_capture_shed_new(const BbCaptureShedSetup *setup);
void bb_capture_shed_free(BbCaptureShed *shed);

// Whether so much time has passed that it should be looked at again.
bool bb_capture_shed_is_due(const BbCaptureShed *shed);
// Returns what is left out from now on. time_ns: stamp of the packet at hand, BB_TIME_NONE without
// one; waited_ns: as of BbShedSigns.
BbShedding bb_capture_shed_look(BbCaptureShed *shed, gint64 time_ns, gint64 waited_ns);
// The capture ends, and with it a period.
void bb_capture_shed_finish(BbCaptureShed *shed);

// A sentence for the trace on a period that is over, yours to free, or NULL.
char *bb_capture_shed_take_note(BbCaptureShed *shed);
// Adds the sentences on all periods up to now (of char *): for a trace that begins with what was.
void bb_capture_shed_notes(const BbCaptureShed *shed, GPtrArray *notes);
// A warning to print, yours to free, or NULL.
char *bb_capture_shed_take_warning(BbCaptureShed *shed);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(BbCaptureShed, bb_capture_shed_free)
