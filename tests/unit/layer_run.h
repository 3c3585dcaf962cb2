// SPDX-License-Identifier: Apache-2.0
// Frames through the layers, for the tests of both.
#pragma once

#include "capture/layers/layer.h"
#include "tests/unit/frame.h"

#define ETHERNET 1 // link type
#define RAW 101
#define NOW_NS (G_GINT64_CONSTANT(1047680084) * 1000000000 + 7)

typedef struct Run {
    BbLoss loss;
    BbLayers *layers;
    BbPacket packet;
} Run;

static inline void run_init(Run *run)
{
    memset(run, 0, sizeof *run);
    run->layers = bb_layers_new(&run->loss, 1 << 20);
}

static inline void run_clear(Run *run)
{
    bb_layers_free(run->layers);
}

static inline guint64 sum(const BbLoss *loss)
{
    guint64 total = 0;
    for (guint kind = 0; kind < BB_LOSS_COUNT; kind++)
        total += loss->count[kind];
    return total;
}

// What became of the frames: each is counted under one of these.
static inline guint64 outcomes(const BbLoss *loss)
{
    const guint64 *count = loss->count;
    return count[BB_SEEN_TCP] + count[BB_SEEN_UDP] + count[BB_SKIP_NOT_IP] +
           count[BB_SKIP_PROTOCOL] + count[BB_SKIP_LINK] + count[BB_BAD_FRAME] +
           count[BB_CUT_FRAME] + count[BB_DEEP_FRAME] + count[BB_FRAGMENTS] -
           count[BB_FRAGMENT_DONE];
}

// The frame in memory of its own, so that the sanitizer sees a read past what was captured.
static inline bool decode_at(Run *run, int link_type, const guint8 *data, guint32 captured,
                             guint32 length, gint64 time_ns, const guint8 **copy)
{
    BbFrame frame = {.time_ns = time_ns,
                     .data = *copy = g_memdup2(data, captured),
                     .captured = captured,
                     .length = length,
                     .link_type = link_type};
    return bb_layers_decode(run->layers, &frame, &run->packet);
}

static inline bool decode(Run *run, int link_type, const Frame *frame)
{
    const guint8 *copy;
    bool found = decode_at(run, link_type, frame->data, frame->len, frame->len, NOW_NS, &copy);
    g_free((gpointer)copy);
    return found;
}
