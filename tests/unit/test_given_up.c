// SPDX-License-Identifier: Apache-2.0
// In: sites by hand. Out: checks of how long is too long.
#include "nesting/given_up.h"

#include "tests/unit/test.h"

// Of child x: its type, how long it lasts, whether its parent outlasts it.
typedef struct {
    guint16 type;
    gint64 trip;
    bool nested, unanswered;
} Child;

static void check(const Child *children, guint32 n, double first, double second)
{
    g_autoptr(BbSite) site = bb_site_new(1, n);
    g_autofree bool *nested = g_new(bool, n + 1);
    site->n_child_types = 2;
    for (guint32 x = 0; x < n; x++) {
        site->children[x] = (BbSiteChild){.type = children[x].type,
                                          .trip = children[x].trip,
                                          .unanswered = children[x].unanswered};
        nested[x] = children[x].nested;
    }
    g_autofree double *least = bb_given_up_least(site, nested);
    ck_assert_double_eq_tol(least[0], first, first * 1e-9);
    ck_assert_double_eq_tol(least[1], second, second * 1e-9);
}

START_TEST(twice_as_long_as_usual)
{
    const Child children[] = {
        {0, 10, true, false}, {0, 1000, true, false}, {0, 9000, false, false}, {1, 40, true, false},
        {1, 40, true, false}, {1, 40, true, false},   {1, 900, false, false},  {1, 0, false, true}};
    check(children, G_N_ELEMENTS(children), 2 * 100, 2 * 40);
}
END_TEST

START_TEST(where_all_return_in_time)
{
    g_autoptr(BbSite) site = bb_site_new(1, 2);
    site->n_child_types = 1;
    ck_assert_ptr_null(bb_given_up_least(site, (const bool[]){true, true}));
    g_autoptr(BbSite) none = bb_site_new(1, 0);
    ck_assert_ptr_null(bb_given_up_least(none, (const bool[]){false}));
}
END_TEST

// What mostly outlasts its parent is not waited for; of what never returned nothing is known.
START_TEST(not_of_what_nobody_waits_for)
{
    const Child children[] = {
        {0, 10, true, false}, {0, 10, false, false}, {0, 10, false, false}, {1, 0, false, true}};
    check(children, G_N_ELEMENTS(children), G_MAXDOUBLE, G_MAXDOUBLE);
}
END_TEST

TEST_MAIN("given_up", twice_as_long_as_usual, where_all_return_in_time,
          not_of_what_nobody_waits_for)
