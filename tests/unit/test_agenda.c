// SPDX-License-Identifier: Apache-2.0
// The agenda: in order of time, ties in an order that is repeated but tells nothing.
#include "data/agenda.h"
#include "data/random.h"
#include "tests/unit/test.h"

static GArray *drain(BbAgenda *agenda)
{
    GArray *events = g_array_new(FALSE, FALSE, sizeof(BbEvent));
    BbEvent event;
    while (bb_agenda_take(agenda, &event))
        g_array_append_val(events, event);
    return events;
}

START_TEST(empty)
{
    g_autoptr(BbAgenda) agenda = bb_agenda_new(1);
    BbEvent event;
    ck_assert(!bb_agenda_take(agenda, &event));
    ck_assert_uint_eq(bb_agenda_count(agenda), 0);
}
END_TEST

START_TEST(in_order_of_time)
{
    guint32 seed = test_seed("agenda");
    BbRandom random = bb_random_start(seed);
    g_autoptr(BbAgenda) agenda = bb_agenda_new(1);
    BbEvent event = {0};
    gint64 last_ns = 0;
    for (guint i = 0; i < 20000; i++) {
        if (bb_random_chance(&random, 0.6)) {
            event = (BbEvent){.time_ns = last_ns + (gint64)bb_random_below(&random, 1000)};
            bb_agenda_put(agenda, &event);
        } else if (bb_agenda_take(agenda, &event)) {
            ck_assert_int_ge(event.time_ns, last_ns);
            last_ns = event.time_ns;
        }
    }
    gsize left = bb_agenda_count(agenda);
    g_autoptr(GArray) rest = drain(agenda);
    ck_assert_uint_eq(rest->len, left);
    for (guint i = 0; i < rest->len; i++) {
        ck_assert_int_ge(g_array_index(rest, BbEvent, i).time_ns, last_ns);
        last_ns = g_array_index(rest, BbEvent, i).time_ns;
    }
}
END_TEST

START_TEST(events_stay_whole)
{
    g_autoptr(BbAgenda) agenda = bb_agenda_new(1);
    int object = 0;
    BbEvent event = {.time_ns = 5, .object = &object, .ticket = 7, .kind = 3}, back = {0};
    bb_agenda_put(agenda, &event);
    ck_assert(bb_agenda_take(agenda, &back));
    ck_assert_int_eq(back.time_ns, 5);
    ck_assert_ptr_eq(back.object, &object);
    ck_assert_uint_eq(back.ticket, 7);
    ck_assert_uint_eq(back.kind, 3);
}
END_TEST

static GArray *order_of_ties(gint64 resolution_ns)
{
    g_autoptr(BbAgenda) agenda = bb_agenda_new(resolution_ns);
    for (guint64 i = 0; i < 100; i++) {
        BbEvent event = {.time_ns = 1000 + (gint64)i, .ticket = i};
        bb_agenda_put(agenda, &event);
    }
    return drain(agenda);
}

START_TEST(ties_tell_nothing)
{
    g_autoptr(GArray) exact = order_of_ties(1), coarse = order_of_ties(1000);
    g_autoptr(GArray) again = order_of_ties(1000);
    guint in_place = 0;
    for (guint64 i = 0; i < 100; i++) {
        ck_assert_uint_eq(g_array_index(exact, BbEvent, i).ticket, i);
        guint64 ticket = g_array_index(coarse, BbEvent, i).ticket;
        ck_assert_uint_eq(ticket, g_array_index(again, BbEvent, i).ticket);
        in_place += ticket == i;
    }
    ck_assert_uint_lt(in_place, 20);
}
END_TEST

TEST_MAIN("agenda", empty, in_order_of_time, events_stay_whole, ties_tell_nothing)
