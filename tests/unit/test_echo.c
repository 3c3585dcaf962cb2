// SPDX-License-Identifier: Apache-2.0
// Packets that are seen twice: which are taken for second sightings, and which for sent again.
#include "capture/echo.h"

#include "tests/unit/test.h"

G_DEFINE_AUTOPTR_CLEANUP_FUNC(BbEchoes, bb_echoes_free)

#define US G_GINT64_CONSTANT(1000)
static const char counted[] = "page.views:1|c";

static BbPacket datagram(gint64 time_ns, guint16 ip_id)
{
    return (BbPacket){
        .time_ns = time_ns,
        .source = bb_address_v4((const guint8[]){10, 0, 0, 1}),
        .target = bb_address_v4((const guint8[]){10, 0, 0, 2}),
        .source_port = 40000,
        .target_port = 8125,
        .transport = BB_TRANSPORT_UDP,
        .ip_id = ip_id,
        .ttl = 64,
        .payload = (const guint8 *)counted,
        .captured = sizeof counted - 1,
        .length = sizeof counted - 1,
    };
}

// The same datagram so often, and how many of them are taken for second sightings.
static guint count(BbEchoes *echoes, gint64 *now_ns, guint times)
{
    guint twice = 0;
    for (guint i = 0; i < times; i++) {
        BbPacket packet = datagram(*now_ns += 50 * US, 0);
        twice += bb_echoes_check(echoes, &packet);
    }
    return twice;
}

// Datagrams with identifications, some of them seen twice.
static void tell(BbEchoes *echoes, gint64 *now_ns, guint once, guint twice)
{
    *now_ns += 10 * BB_ECHO_NS; // identifications are used again
    for (guint i = 0; i < once; i++) {
        for (guint sighting = 0; sighting <= (i < twice); sighting++) {
            BbPacket packet = datagram(*now_ns += 5 * US, (guint16)(i + 1));
            ck_assert_int_eq(bb_echoes_check(echoes, &packet), sighting);
        }
    }
}

// Who counts by datagrams sends the same again at once.
START_TEST(alike_datagrams)
{
    g_autoptr(BbEchoes) echoes = bb_echoes_new();
    gint64 now_ns = 0;
    ck_assert_uint_eq(count(echoes, &now_ns, 6), 0);
    tell(echoes, &now_ns, 100, 0);
    ck_assert_uint_eq(count(echoes, &now_ns, 6), 0);
    tell(echoes, &now_ns, 100, 5); // one of 40 proves no mirror
    ck_assert_uint_eq(count(echoes, &now_ns, 6), 0);
}
END_TEST

// Where all is doubled, so are they.
START_TEST(mirrored_datagrams)
{
    g_autoptr(BbEchoes) echoes = bb_echoes_new();
    gint64 now_ns = 0;
    tell(echoes, &now_ns, 1, 1);
    ck_assert_uint_eq(count(echoes, &now_ns, 2), 1);
    tell(echoes, &now_ns, 60000, 0); // no longer
    ck_assert_uint_eq(count(echoes, &now_ns, 2), 0);
    tell(echoes, &now_ns, 1000, 1000);
    ck_assert_uint_eq(count(echoes, &now_ns, 2), 1);
}
END_TEST

// A router between both sightings, or an identification, is enough.
START_TEST(sure_datagrams)
{
    g_autoptr(BbEchoes) echoes = bb_echoes_new();
    BbPacket routed = datagram(0, 0), named = datagram(0, 7);
    ck_assert(!bb_echoes_check(echoes, &routed));
    routed.ttl--;
    ck_assert(bb_echoes_check(echoes, &routed));
    ck_assert(!bb_echoes_check(echoes, &named));
    ck_assert(bb_echoes_check(echoes, &named));
    named.time_ns += BB_ECHO_NS + 1;
    ck_assert(!bb_echoes_check(echoes, &named));
}
END_TEST

TEST_MAIN("echo", alike_datagrams, mirrored_datagrams, sure_datagrams)
