// SPDX-License-Identifier: Apache-2.0
// A sample of sightings in bounded memory, in which every sighting of a message is kept or none: by
// the hash of the key, so that it does not matter how far apart in time, or in which trace, they
// come. When it is full, the part of all keys that is kept is halved, for the pairs of nodes that
// have most: those with few messages keep theirs.
#pragma once

#include "merge/sighting.h"

#define BB_SIGHTINGS_MAX 1048576u // 40 bytes each

typedef struct BbSeen {
    guint64 hi, lo; // of the key
    gint64 time_ns;
    guint32 observer; // the caller's own
    guint32 sender, receiver;
    guint8 kind; // BbKind
    bool at_receiver;
} BbSeen;

typedef struct BbSightings BbSightings;

BbSightings *bb_sightings_new(gsize max); // max > 0
void bb_sightings_free(BbSightings *sightings);

void bb_sightings_add(BbSightings *sightings, const BbSeen *seen);

guint64 bb_sightings_added(const BbSightings *sightings); // ever
gsize bb_sightings_kept(const BbSightings *sightings);

// All that are kept, sightings of one key next to each other, each in order of observer,
// at_receiver and time; what an observer told in several traces, the same at one time, once. Lent
// until the next call.
const BbSeen *bb_sightings_sort(BbSightings *sightings);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(BbSightings, bb_sightings_free)
