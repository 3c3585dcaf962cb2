// SPDX-License-Identifier: Apache-2.0
// How likely it is to have no parent, by what was seen, and of calls that are caused.
#include "nesting/lone.h"
#include "tests/unit/test.h"

#include <math.h>

enum { SPAN = 1000, SEEN = 200 };

static void expect(const BbLone *lone, guint c, double alone)
{
    ck_assert_double_eq_tol((double)lone->log[c], log((alone + 0.5) / SPAN), 1e-5);
}

// Of two kinds the second is caused by others. Of each n of SEEN have no parent.
static void see(BbLone *lone, guint n)
{
    bb_lone_reset(lone);
    for (guint i = 0; i < SEEN; i++)
        for (guint c = 0; c < 2; c++)
            bb_lone_add(lone, c, i < n, 1);
    bb_lone_fit(lone, SPAN);
}

START_TEST(few_of_what_is_caused)
{
    g_autoptr(BbLone) lone = bb_lone_new(2);
    bb_lone_expect(lone, (const bool[]){false, true}, SPAN);
    expect(lone, 0, 0);
    expect(lone, 1, 0);
    const guint some[] = {0, 1, 6, 7, 100, SEEN};
    for (gsize i = 0; i < G_N_ELEMENTS(some); i++) {
        see(lone, some[i]);
        expect(lone, 0, some[i]);
        expect(lone, 1, MIN(some[i], 0.03 * SEEN));
    }
}
END_TEST

START_TEST(several_assignments)
{
    g_autoptr(BbLone) lone = bb_lone_new(1);
    bb_lone_expect(lone, (const bool[]){false}, SPAN);
    for (guint i = 0; i < 8; i++)
        bb_lone_add(lone, 0, i % 2, 0.25);
    bb_lone_fit(lone, SPAN);
    expect(lone, 0, 1);
}
END_TEST

TEST_MAIN("lone", few_of_what_is_caused, several_assignments)
