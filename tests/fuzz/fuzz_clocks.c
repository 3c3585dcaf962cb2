// SPDX-License-Identifier: Apache-2.0
// In: any bytes as sightings of three observers. Checks that whatever they say, a clock is known or
// not, what is corrected never falls with rising time in a lap, and uncertainties are numbers.
#include "merge/clocks.h"

#include <math.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const guint8 *data, gsize size);

#define OBSERVERS 3u
#define RECORD 12u // flags, key, two small numbers and a time of 8 bytes

static gint64 read_time(const guint8 *record)
{
    guint64 time = 0;
    memcpy(&time, record + 4, sizeof time);
    // Most bits say how far apart times are: all, or some seconds around one moment.
    if (record[0] & 0x80)
        return (gint64)GUINT64_FROM_LE(time);
    return G_GINT64_CONSTANT(1795164688000000000) + (gint64)(GUINT64_FROM_LE(time) >> 28);
}

static void add(BbClocks *clocks, const guint32 *names, const guint8 *record)
{
    BbMessage m = bb_message_empty();
    bool turned = record[0] & 8;
    m.kind = turned ? BB_RETURN : BB_CALL;
    m.observer = names[record[0] % OBSERVERS];
    m.sender = names[turned ? 1 + record[2] % 2 : 0];
    m.receiver = names[turned ? 0 : 1 + record[2] % 2];
    m.id = bb_id_number(record[1]);
    m.at_receiver = record[0] & 16;
    m.time_ns = read_time(record);
    if (record[0] & 32)
        m.recv_ns = m.time_ns ^ (gint64)((guint64)record[3] << (record[2] & 63));
    if (record[0] & 64)
        bb_clocks_add_nodes(clocks, &m);
    else
        bb_clocks_add(clocks, &m);
}

static void check(const BbClocks *clocks, const BbClock *clock)
{
    g_assert((clock->map != NULL) ==
             (clock->state == BB_CLOCK_REFERENCE || clock->state == BB_CLOCK_KNOWN));
    g_assert(isfinite(clock->error_ns) && clock->error_ns >= 0);
    g_assert(isfinite(clock->drift) && isfinite(clock->drift_error));
    guint laps = bb_clocks_laps(clocks, clock->name);
    gint64 last_ns = G_MININT64;
    g_assert(laps >= 1);
    for (guint i = 0; i < 64 * laps; i++) {
        guint64 step = (guint64)(i % 64) << 58;
        gint64 time_ns = (gint64)(step ^ (G_GUINT64_CONSTANT(1) << 63));
        gint64 right_ns = bb_clocks_correct(clocks, clock->name, i / 64, time_ns);
        g_assert(i % 64 == 0 || right_ns >= last_ns);
        g_assert(bb_clocks_lap(clocks, clock->name, time_ns, last_ns) < laps);
        last_ns = right_ns;
    }
}

int LLVMFuzzerTestOneInput(const guint8 *data, gsize size)
{
    g_autoptr(BbNames) names = bb_names_new();
    const guint32 known[OBSERVERS] = {bb_names_intern(names, "a"), bb_names_intern(names, "b"),
                                      bb_names_intern(names, "c")};
    g_autoptr(BbClocks) clocks = bb_clocks_new(names, 4096);
    for (gsize at = 0; size - at >= RECORD; at += RECORD)
        add(clocks, known, data + at);
    bb_clocks_solve(clocks);
    for (guint i = 0; i < bb_clocks_count(clocks); i++)
        check(clocks, bb_clocks_at(clocks, i));
    return 0;
}
