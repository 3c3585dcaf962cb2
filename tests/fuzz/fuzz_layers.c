// SPDX-License-Identifier: Apache-2.0
// In: records of one frame each (link type, time, length, how many bytes were cut, the bytes). Out:
// nothing; every frame must be counted once, and every byte of a payload can be read.
#include "capture/cursor.h"
#include "capture/layers/layer.h"
#include "tests/unit/layer_run.h"

int LLVMFuzzerTestOneInput(const guint8 *data, gsize size);

#define RECORD 6u // bytes before each frame

static const int links[] = {1, 113, 276, 0, 108, 101, 228, 229, 147, 9, 50, 51, 105, 127, 239};

// The bytes in memory of their own, so that the sanitizer sees a read past them.
static void run_frame(BbLayers *layers, BbFrame frame)
{
    g_autofree guint8 *copy = g_memdup2(frame.data, frame.captured);
    frame.data = copy;
    BbPacket packet;
    if (!bb_layers_decode(layers, &frame, &packet))
        return;
    g_assert(packet.captured <= packet.length);
    volatile guint8 sum = 0;
    for (guint32 i = 0; i < packet.captured; i++)
        sum = (guint8)(sum + packet.payload[i]);
}

int LLVMFuzzerTestOneInput(const guint8 *data, gsize size)
{
    BbLoss loss = {0};
    g_autoptr(BbLayers) layers = bb_layers_new(&loss, 4096);
    BbCursor input = bb_cursor(data, size);
    guint64 frames = 0;
    gint64 now_ns = 0;
    while (input.left >= RECORD) {
        int link_type = links[bb_cursor_u8(&input) % G_N_ELEMENTS(links)];
        now_ns += bb_cursor_u8(&input) * G_GINT64_CONSTANT(1000000000);
        guint32 captured = bb_cursor_be16(&input);
        guint32 cut = bb_cursor_be16(&input);
        captured = (guint32)MIN(captured, input.left);
        run_frame(layers, (BbFrame){.time_ns = now_ns,
                                    .data = bb_cursor_take(&input, captured),
                                    .captured = captured,
                                    .length = captured + cut,
                                    .link_type = link_type});
        g_assert(outcomes(&loss) == ++frames);
    }
    return 0;
}
