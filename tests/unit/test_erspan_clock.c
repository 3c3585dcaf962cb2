// SPDX-License-Identifier: Apache-2.0
// The clock of a mirroring switch: the jitter of the way is taken out of its stamps.
#include "capture/layers/erspan_clock.h"
#include "data/random.h"
#include "tests/unit/test.h"

#define MS G_GINT64_CONSTANT(1000000)

static const guint8 exporter[4] = {192, 0, 2, 1};

static gint64 read_clock(BbErspanClocks *clocks, guint granularity, guint32 stamp,
                         gint64 arrival_ns)
{
    BbAddress address = bb_address_v4(exporter);
    return bb_erspan_clock_read(clocks, &address, 5, granularity, stamp, arrival_ns);
}

// The sniffer's stamps come up to 300 us late, a drift of 20 ppm on top; the counter turns over.
START_TEST(jitter_of_the_way_is_taken_out)
{
    BbRandom random = bb_random_start(test_seed("jitter_of_the_way"));
    BbErspanClocks *clocks = bb_erspan_clocks_new();
    gint64 begin_ns = G_GINT64_CONSTANT(1700000000) * 1000000000, worst_ns = 0;
    guint64 counter = 0xfffff000u;
    for (guint i = 0; i < 20000; i++) {
        gint64 sent_ns = begin_ns + (gint64)i * MS;
        guint64 ticks = counter + (guint64)((double)(i * MS) * (1 + 20e-6) / 100);
        gint64 late_ns = (gint64)bb_random_below(&random, 300) * 1000;
        gint64 read_ns = read_clock(clocks, 1, (guint32)ticks, sent_ns + late_ns);
        ck_assert_int_le(read_ns, sent_ns + late_ns);
        if (i >= 1000)
            worst_ns = MAX(worst_ns, ABS(read_ns - sent_ns));
    }
    ck_assert_int_le(worst_ns, 60000); // two windows of drift, and the promptest frame's lateness
    bb_erspan_clocks_free(clocks);
}
END_TEST

START_TEST(clocks_that_are_not_finer)
{
    BbErspanClocks *clocks = bb_erspan_clocks_new();
    ck_assert_int_eq(read_clock(clocks, 0, 77, 5 * MS), 5 * MS);
    ck_assert_int_eq(read_clock(clocks, 3, 77, 5 * MS), 5 * MS);
    ck_assert_int_eq(read_clock(clocks, 2, 1000, 6 * MS), 6 * MS); // sets the offset
    ck_assert_int_eq(read_clock(clocks, 2, 1000 + 1000 * 1000, 8 * MS), 7 * MS);
    ck_assert_int_eq(read_clock(clocks, 2, 500000000, 9 * MS), 9 * MS);   // was set: a new offset
    ck_assert_int_eq(read_clock(clocks, 2, 0, 10 * MS + 1), 10 * MS + 1); // nanoseconds: finer
    ck_assert_int_eq(read_clock(clocks, 2, 0, 20 * MS), 20 * MS);
    bb_erspan_clocks_free(clocks);
}
END_TEST

START_TEST(more_sessions_than_clocks)
{
    BbErspanClocks *clocks = bb_erspan_clocks_new();
    BbAddress address = bb_address_v4(exporter);
    for (guint round = 0; round < 2; round++)
        for (guint16 session = 0; session < 2 * BB_ERSPAN_SESSIONS; session++) {
            gint64 arrival_ns = (round ? 20 : 10) * MS;
            gint64 read_ns =
                bb_erspan_clock_read(clocks, &address, session, 2, round ? 5000000 : 0, arrival_ns);
            bool kept = session < BB_ERSPAN_SESSIONS;
            ck_assert_int_eq(read_ns, arrival_ns - (round && kept ? 5 * MS : 0));
        }
    bb_erspan_clocks_free(clocks);
}
END_TEST

TEST_MAIN("erspan_clock", jitter_of_the_way_is_taken_out, clocks_that_are_not_finer,
          more_sessions_than_clocks)
