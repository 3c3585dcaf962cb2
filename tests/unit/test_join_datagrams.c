// SPDX-License-Identifier: Apache-2.0
// Two observers of the same datagrams, each of which loses some: what joins is one message, and
// what is lost on one side is found on the other. By prints, and without them by order.
#include "data/random.h"
#include "tests/unit/merge_lines.h"

#define CALLS 1500u
#define CLIENTS 5u

typedef struct Way {
    const char *about;
    bool prints[2]; // of each observer's trace
    double loss[2];
    double jitter_us; // of the delay between the observers
    double joined;    // share of what both saw that has to join
    double wrong;     // share of what joins that may be wrong
} Way;

// A message: when each observer saw it, in microseconds; 0 where it did not.
typedef struct Truth {
    gint64 at_us[2];
} Truth;

// What each observer saw, in its lines.
typedef struct World {
    const Way *way;
    BbRandom random;
    GPtrArray *lines[2];
    Truth truth[2 * CALLS];
    guint n;
} World;

static void see(World *w, guint observer, guint call, bool answer, gint64 at_us, bool asked)
{
    g_autofree char *id = asked ? g_strdup_printf("%u", call + 1 + 7 * observer) : g_strdup("-");
    g_autofree char *conn =
        g_strdup_printf(" conn=c%u:%u-s:53 off=%" G_GUINT64_FORMAT, call % CLIENTS, call,
                        BB_OFFSET_PRINT + 2 * call + answer);
    g_ptr_array_add(w->lines[observer],
                    g_strdup_printf("%.6f %c %s%.0u %s%.0u %s end=%.6f bytes=9%s proto=dns",
                                    (double)at_us / 1e6, answer ? 'R' : 'C', answer ? "s" : "c",
                                    answer ? 0 : 1 + call % CLIENTS, answer ? "c" : "s",
                                    answer ? 1 + call % CLIENTS : 0, id, (double)at_us / 1e6,
                                    w->way->prints[observer] ? conn : ""));
}

// The client is at the observer 0, the server at 1. Returns when it arrives.
static gint64 send(World *w, guint call, bool answer, gint64 at_us, bool asked[2])
{
    gint64 delay_us = 200 + (gint64)(w->way->jitter_us * bb_random_exponential(&w->random));
    Truth *truth = &w->truth[w->n++];
    for (guint k = 0; k < 2; k++) {
        gint64 seen_us = at_us + (k == answer ? 0 : delay_us);
        if (bb_random_chance(&w->random, w->way->loss[k]))
            continue;
        see(w, k, call, answer, seen_us, answer ? asked[k] : true);
        truth->at_us[k] = seen_us;
        asked[k] = true;
    }
    return at_us + delay_us;
}

static World *world_new(const Way *way, guint64 seed)
{
    World *w = g_new0(World, 1);
    w->way = way;
    w->random = bb_random_start(seed);
    for (guint k = 0; k < 2; k++)
        w->lines[k] = g_ptr_array_new_with_free_func(g_free);
    gint64 at_us = 1000000;
    for (guint i = 0; i < CALLS; i++) {
        bool asked[2] = {false, false};
        at_us += (gint64)(1000 * bb_random_exponential(&w->random));
        gint64 come_us = send(w, i, false, at_us, asked);
        gint64 works_us = 600 + (gint64)(1000 * bb_random_exponential(&w->random));
        (void)send(w, i, true, come_us + works_us, asked);
    }
    return w;
}

static void world_free(World *w)
{
    for (guint k = 0; k < 2; k++)
        g_ptr_array_unref(w->lines[k]);
    g_free(w);
}

static bool is_true(const World *w, gint64 first_us, gint64 second_us)
{
    for (guint i = 0; i < w->n; i++) {
        const gint64 *at_us = w->truth[i].at_us;
        if (MIN(at_us[0], at_us[1]) == first_us && MAX(at_us[0], at_us[1]) == second_us)
            return true;
    }
    return false;
}

static gint64 micros(const char *text)
{
    return (gint64)(g_ascii_strtod(text, NULL) * 1e6 + 0.5);
}

static void judge(const World *w, const Merge *merge, guint64 seed)
{
    guint both = 0, seen = 0, joined = 0, wrong = 0;
    for (guint i = 0; i < w->n; i++) {
        both += w->truth[i].at_us[0] && w->truth[i].at_us[1];
        seen += w->truth[i].at_us[0] || w->truth[i].at_us[1];
    }
    for (guint i = 0; i < merge->lines->len; i++) {
        const char *line = merge->lines->pdata[i], *recv = strstr(line, " recv=");
        joined += recv != NULL;
        wrong += recv && !is_true(w, micros(line), micros(recv + 6));
    }
    g_test_message("%s: %u of %u joined, %u wrong", w->way->about, joined, both, wrong);
    ck_assert_msg(wrong <= w->way->wrong * joined && joined >= w->way->joined * both,
                  "%s, seed %" G_GUINT64_FORMAT ": of %u messages %u were seen by both, %u joined, "
                  "%u of them wrong; %u messages",
                  w->way->about, seed, seen, both, joined, wrong, merge->lines->len);
}

static void try_way(const Way *way, guint64 seed)
{
    World *w = world_new(way, seed);
    g_autoptr(Merge) merge = merge_new();
    for (guint k = 0; k < 2; k++) {
        g_ptr_array_add(w->lines[k], NULL);
        merge_add(merge, k ? "b.txt" : "a.txt", (const char *const *)(gpointer)w->lines[k]->pdata);
    }
    merge_with(merge, BB_JOIN_KEYS);
    judge(w, merge, seed);
    world_free(w);
}

static void try_ways(const Way *ways, guint n)
{
    for (guint i = 0; i < n; i++)
        for (guint64 seed = 1; seed <= 2; seed++)
            try_way(&ways[i], seed);
}

START_TEST(prints_join_all_and_nothing_else)
{
    const Way ways[] = {
        {"no loss", {true, true}, {0, 0}, 20, 1, 0},
        {"a little lost", {true, true}, {0, 0.02}, 20, 1, 0},
        {"much lost on both sides", {true, true}, {0.2, 0.3}, 20, 1, 0},
        {"delays that differ much", {true, true}, {0.05, 0.05}, 20000, 1, 0},
    };
    try_ways(ways, G_N_ELEMENTS(ways));
}
END_TEST

START_TEST(order_joins_what_is_near_what_is_usual)
{
    const Way ways[] = {
        {"no loss", {false, false}, {0, 0}, 20, 0.999, 0},
        {"a little lost", {false, false}, {0, 0.02}, 20, 0.99, 0.005},
        {"lost on both sides", {false, false}, {0.02, 0.02}, 20, 0.99, 0.005},
        {"more lost on both sides", {false, false}, {0.05, 0.05}, 20, 0.98, 0.02},
        {"one trace without prints", {true, false}, {0.02, 0.02}, 20, 0.99, 0.005},
    };
    try_ways(ways, G_N_ELEMENTS(ways));
}
END_TEST

// The same datagram on both sides of a NAT, where both traces have the same names.
START_TEST(a_print_joins_across_a_translation)
{
    g_autoptr(Merge) merge = merge_new();
    MERGE_ADD(merge, "a.txt",
              "1.1 M c s - end=1.1 bytes=9 conn=10.0.0.1:5-10.0.0.9:53 off=4294967303 proto=udp",
              "1.2 M c s - end=1.2 bytes=9 conn=10.0.0.1:5-10.0.0.9:53 off=4294967304 proto=udp");
    MERGE_ADD(merge, "b.txt",
              "1.11 M c s - end=1.11 bytes=9 conn=7.0.0.1:6-7.0.0.9:53 off=4294967304 proto=udp",
              "1.21 M c s - end=1.21 bytes=9 conn=7.0.0.1:6-7.0.0.9:53 off=4294967305 proto=udp");
    merge_with(merge, BB_JOIN_KEYS);
    MERGE_EXPECT(merge,
                 "1.1 M c s - end=1.1 bytes=9 conn=10.0.0.1:5-10.0.0.9:53 off=4294967303 obs=a "
                 "proto=udp",
                 "1.11 M c s - recv=1.2 end=1.11 bytes=9 conn=7.0.0.1:6-7.0.0.9:53 off=4294967304 "
                 "obs=b proto=udp",
                 "1.21 M c s - end=1.21 bytes=9 conn=7.0.0.1:6-7.0.0.9:53 off=4294967305 obs=b "
                 "proto=udp");
}
END_TEST

// The delay between the observers becomes another one, and is found again.
START_TEST(a_delay_that_changes_is_learned)
{
    g_autoptr(Merge) merge = merge_new();
    g_autoptr(GPtrArray) a = g_ptr_array_new_with_free_func(g_free);
    g_autoptr(GPtrArray) b = g_ptr_array_new_with_free_func(g_free);
    for (guint i = 0; i < 2000; i++) {
        double at = 100 + i * 0.1;
        g_ptr_array_add(a, g_strdup_printf("%.4f M c s -", at));
        g_ptr_array_add(b, g_strdup_printf("%.4f M c s -", at + (i < 1000 ? 0.0002 : 0.03)));
    }
    g_ptr_array_add(a, NULL);
    g_ptr_array_add(b, NULL);
    merge_add(merge, "a.txt", (const char *const *)(gpointer)a->pdata);
    merge_add(merge, "b.txt", (const char *const *)(gpointer)b->pdata);
    merge_with(merge, BB_JOIN_KEYS);
    guint joined = (guint)bb_join_count(merge->join, BB_JOIN_JOINED);
    ck_assert_uint_gt(joined, 1500);
    ck_assert_ptr_nonnull(strstr(merge->lines->pdata[merge->lines->len - 1], " recv="));
}
END_TEST

TEST_MAIN("join_datagrams", prints_join_all_and_nothing_else,
          order_joins_what_is_near_what_is_usual, a_print_joins_across_a_translation,
          a_delay_that_changes_is_learned)
