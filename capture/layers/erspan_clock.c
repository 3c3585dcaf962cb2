// SPDX-License-Identifier: Apache-2.0
// In: stamps of a switch and of the sniffer. Out: the switch's, in the sniffer's clock.
#include "capture/layers/erspan_clock.h"

#define WINDOW_NS G_GINT64_CONSTANT(1000000000) // the offset is the smallest of two of these
#define SECOND_NS G_GINT64_CONSTANT(1000000000)
#define LATE_NS (50 * G_GINT64_CONSTANT(1000000)) // more is no delay: a clock was set

typedef struct Clock {
    BbAddress exporter;
    guint16 session;
    guint granularity;
    gint64 offset_ns; // sniffer's clock minus the switch's, modulo the turn of its counter
    gint64 least_ns;  // lateness over offset_ns of the promptest frame of this window
    gint64 window_ns; // when this window began
} Clock;

struct BbErspanClocks {
    Clock clocks[BB_ERSPAN_SESSIONS];
    guint count;
    bool fine; // the sniffer's stamps are finer than microseconds
};

BbErspanClocks *bb_erspan_clocks_new(void)
{
    return g_new0(BbErspanClocks, 1);
}

void bb_erspan_clocks_free(BbErspanClocks *clocks)
{
    g_free(clocks);
}

static gint64 turn_of(guint granularity)
{
    return granularity == 2 ? SECOND_NS : (G_GINT64_CONSTANT(1) << 32) * 100;
}

static gint64 count_of(guint granularity, guint32 stamp)
{
    return granularity == 2 ? stamp % SECOND_NS : (gint64)stamp * 100;
}

// value modulo turn, nearest to 0.
static gint64 wrap(gint64 value, gint64 turn)
{
    gint64 rest = value % turn;
    if (rest >= turn / 2)
        rest -= turn;
    else if (rest < -turn / 2)
        rest += turn;
    return rest;
}

static void restart(Clock *clock, gint64 offset_ns, gint64 now_ns)
{
    clock->offset_ns = offset_ns;
    clock->least_ns = 0;
    clock->window_ns = now_ns;
}

static Clock *find(BbErspanClocks *clocks, const BbAddress *exporter, guint16 session,
                   guint granularity, gint64 offset_ns, gint64 now_ns)
{
    for (guint i = 0; i < clocks->count; i++) {
        Clock *clock = &clocks->clocks[i];
        if (clock->session == session && clock->granularity == granularity &&
            bb_address_equal(&clock->exporter, exporter))
            return clock;
    }
    if (clocks->count == BB_ERSPAN_SESSIONS)
        return NULL;
    Clock *clock = &clocks->clocks[clocks->count++];
    *clock = (Clock){.exporter = *exporter, .session = session, .granularity = granularity};
    restart(clock, offset_ns, now_ns);
    return clock;
}

// The promptest frame of a window that is over sets the offset: the clocks drift apart.
static void turn_window(Clock *clock, gint64 late_ns, gint64 now_ns)
{
    gint64 age_ns = now_ns - clock->window_ns;
    clock->least_ns = MIN(clock->least_ns, late_ns);
    if (age_ns >= 0 && age_ns < WINDOW_NS)
        return;
    clock->offset_ns += clock->least_ns;
    clock->least_ns = late_ns - clock->least_ns;
    clock->window_ns = now_ns;
}

gint64 bb_erspan_clock_read(BbErspanClocks *clocks, const BbAddress *exporter, guint16 session,
                            guint granularity, guint32 stamp, gint64 arrival_ns)
{
    clocks->fine |= arrival_ns % 1000 != 0;
    if (clocks->fine || (granularity != 1 && granularity != 2))
        return arrival_ns;
    gint64 turn = turn_of(granularity);
    gint64 offset_ns = wrap(arrival_ns % turn - count_of(granularity, stamp), turn);
    Clock *clock = find(clocks, exporter, session, granularity, offset_ns, arrival_ns);
    if (!clock)
        return arrival_ns;
    gint64 late_ns = wrap(offset_ns - clock->offset_ns, turn);
    if (ABS(late_ns) > LATE_NS) {
        restart(clock, offset_ns, arrival_ns);
        return arrival_ns;
    }
    if (late_ns < 0) { // nobody was so prompt before
        clock->offset_ns += late_ns;
        clock->least_ns -= late_ns;
        late_ns = 0;
    }
    turn_window(clock, late_ns, arrival_ns);
    return arrival_ns - late_ns;
}
