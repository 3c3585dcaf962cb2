// SPDX-License-Identifier: Apache-2.0
// Changes for good: planted ones are found where they are, and chance, queues and bursts make none.
#include "diagnose/changes.h"

#include <math.h>

#include "data/random.h"
#include "tests/unit/test.h"

#define MS 1e6

typedef struct {
    BbNames *names;
    BbChanges *changes;
    BbRandom random;
} Case;

static Case case_new(guint64 seed)
{
    Case c = {.names = bb_names_new(), .random = bb_random_start(seed)};
    c.changes = bb_changes_new(c.names);
    return c;
}

static void case_clear(Case *c)
{
    bb_changes_free(c->changes);
    bb_names_free(c->names);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Case, case_clear)

static double exponential(Case *c)
{
    return -log(1 - (double)bb_random_below(&c->random, 1u << 30) / (1u << 30));
}

// One request each millisecond.
static void add(Case *c, const char *node, guint i, double latency_ns)
{
    bb_changes_add(c->changes, bb_names_intern(c->names, node), BB_NAME_NONE, (gint64)(i * MS),
                   (gint64)latency_ns);
}

static const BbChange *change_at(const GArray *found, guint i)
{
    ck_assert_uint_lt(i, found->len);
    return &g_array_index(found, BbChange, i);
}

START_TEST(chance_makes_none)
{
    guint series_with_some = 0;
    for (guint seed = 1; seed <= 1000; seed++) {
        g_auto(Case) c = case_new(seed);
        for (guint i = 0; i < 100 + seed % 7 * 500; i++)
            add(&c, "web", i, 20 * MS * exponential(&c));
        g_autoptr(GArray) found = bb_changes_find(c.changes);
        series_with_some += found->len;
    }
    ck_assert_uint_le(series_with_some, 4);
}
END_TEST

// One server, 80 % busy: who waits long, waits as long as his neighbours.
START_TEST(queues_make_few)
{
    guint series_with_some = 0;
    for (guint seed = 1; seed <= 200; seed++) {
        g_auto(Case) c = case_new(seed);
        double wait_ns = 0;
        for (guint i = 0; i < 5000; i++) {
            double work_ns = 0.8 * MS * exponential(&c);
            add(&c, "web", i, wait_ns + work_ns);
            wait_ns = MAX(wait_ns + work_ns - MS * exponential(&c), 0);
        }
        g_autoptr(GArray) found = bb_changes_find(c.changes);
        series_with_some += found->len;
    }
    ck_assert_uint_le(series_with_some, 4);
}
END_TEST

START_TEST(planted_ones)
{
    g_auto(Case) c = case_new(5);
    for (guint i = 0; i < 3000; i++) {
        add(&c, "web", i, (i < 2000 ? 20 : 40) * MS * exponential(&c));
        add(&c, "quick", i, (i < 500 ? 20 : 5) * MS * exponential(&c));
        add(&c, "even", i, 20 * MS * exponential(&c));
    }
    g_autoptr(GArray) found = bb_changes_find(c.changes);
    ck_assert_uint_eq(found->len, 2);
    const BbChange *quick = change_at(found, 0), *web = change_at(found, 1);
    ck_assert_str_eq(bb_names_text(c.names, quick->node), "quick");
    ck_assert(fabs((double)quick->at_ns - 500 * MS) < 30 * MS);
    ck_assert(fabs((double)web->at_ns - 2000 * MS) < 60 * MS);
    ck_assert(fabs((double)web->before_ns - 20 * MS) < 2 * MS);
    ck_assert(fabs((double)web->after_ns - 40 * MS) < 4 * MS);
    ck_assert_uint_ge(web->before, 1940);
    ck_assert_uint_le(web->before + web->after, 3000);
}
END_TEST

// What comes and goes is no change for good, nor is what is next to nothing.
START_TEST(bursts_and_trifles)
{
    g_auto(Case) c = case_new(5);
    for (guint i = 0; i < 3000; i++) {
        add(&c, "bursts", i, (i % 1000 < 100 ? 200 : 20) * MS * exponential(&c));
        add(&c, "trifle", i, (i < 1500 ? 20 : 21) * MS);
        add(&c, "none", i, 0);
    }
    g_autoptr(GArray) found = bb_changes_find(c.changes);
    ck_assert_uint_eq(found->len, 0);
}
END_TEST

// Without any noise.
START_TEST(steps)
{
    g_auto(Case) c = case_new(5);
    for (guint i = 0; i < 100000; i++)
        add(&c, "web", i, (i < 60000 ? 20 : 30) * MS);
    for (guint i = 0; i < 95; i++)
        add(&c, "few", i, (i < 50 ? 20 : 30) * MS);
    g_autoptr(GArray) found = bb_changes_find(c.changes);
    ck_assert_uint_eq(found->len, 1);
    ck_assert(fabs((double)change_at(found, 0)->at_ns - 60000 * MS) <= 512 * MS);
    ck_assert_int_eq(change_at(found, 0)->before_ns, 20000000);
}
END_TEST

// First calls with a name each do not take the places of those that come often.
START_TEST(many_first_calls)
{
    g_auto(Case) c = case_new(5);
    for (guint i = 0; i < 6000; i++) {
        g_autofree char *once = g_strdup_printf("once-%u", i);
        add(&c, once, i, 20 * MS);
        add(&c, "late", i, (i < 4000 ? 20 : 40) * MS * exponential(&c));
    }
    g_autoptr(GArray) found = bb_changes_find(c.changes);
    ck_assert_uint_eq(found->len, 1);
    ck_assert_str_eq(bb_names_text(c.names, change_at(found, 0)->node), "late");
}
END_TEST

TEST_MAIN("changes", chance_makes_none, queues_make_few, planted_ones, bursts_and_trifles, steps,
          many_first_calls)
