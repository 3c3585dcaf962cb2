// SPDX-License-Identifier: Apache-2.0
// When connections had been closed by the time that a return came: the first time between call and
// return, of the very call.
#include "nesting/closes.h"

#include "data/status.h"
#include "tests/unit/test.h"

enum { A = 1, B, UNREAD, OK };

static BbSighting end_of(guint64 id, guint32 caller, guint32 callee, gint64 time_ns)
{
    return (BbSighting){.id_number = id,
                        .caller = caller,
                        .callee = callee,
                        .time_ns = time_ns,
                        .at_receiver = true};
}

START_TEST(the_first_between_call_and_return)
{
    g_autoptr(BbNames) names = bb_names_new();
    static const char *const texts[] = {"A", "B", BB_STATUS_UNREAD, "200"};
    for (guint i = 0; i < G_N_ELEMENTS(texts); i++)
        ck_assert_uint_eq(bb_names_intern(names, texts[i]), i + 1);
    const BbSighting ends[] = {
        end_of(7, A, B, 50),  end_of(7, A, B, 30), end_of(7, A, B, 5),  // one long before
        end_of(7, B, A, 20),  end_of(8, A, B, 40), end_of(9, A, B, 95), // after its return
        end_of(10, A, B, 15),
    };
    const struct {
        guint64 id;
        gint64 call_ns, return_ns, wanted_ns;
        guint32 status;
    } calls[] = {
        {7, 10, 90, 30, UNREAD},  {8, 10, 90, 40, UNREAD}, {9, 10, 90, 99, UNREAD},
        {10, 10, 90, 99, OK},     {8, 40, 90, 40, UNREAD}, {8, 41, 90, 99, UNREAD},
        {11, 10, 90, 99, UNREAD},
    };
    g_autoptr(BbPaths) paths = bb_paths_new();
    paths->n_calls = G_N_ELEMENTS(calls);
    paths->calls = g_new0(BbCall, paths->n_calls);
    for (guint i = 0; i < paths->n_calls; i++)
        paths->calls[i] = (BbCall){.id = {calls[i].id, 0},
                                   .caller = A,
                                   .callee = B,
                                   .call_ns = calls[i].call_ns,
                                   .return_ns = calls[i].return_ns,
                                   .return_end_ns = 99,
                                   .status = calls[i].status};
    bb_closes_note(ends, G_N_ELEMENTS(ends), paths, names);
    for (guint i = 0; i < paths->n_calls; i++)
        ck_assert_int_eq(paths->calls[i].return_end_ns, calls[i].wanted_ns);
    bb_closes_note(NULL, 0, paths, names);
}
END_TEST

// The callee's clock is 300 behind, and 2 are on the way: it saw the close, too, or alone.
START_TEST(clocks_that_differ)
{
    g_autoptr(BbNames) names = bb_names_new();
    guint32 unread = bb_names_intern(names, BB_STATUS_UNREAD);
    BbSighting ends[] = {end_of(7, A, B, 500 - 298), end_of(7, A, B, 500)};
    ends[0].at_receiver = false;
    for (guint n = 1; n <= 2; n++) {
        g_autoptr(BbPaths) paths = bb_paths_new();
        paths->n_calls = 1;
        paths->calls = g_new0(BbCall, 1);
        paths->calls[0] = (BbCall){.id = {7, 0},
                                   .caller = A,
                                   .callee = B,
                                   .call_ns = 10,
                                   .arrived_ns = 10 - 298,
                                   .return_ns = 900,
                                   .status = unread};
        bb_closes_note(ends, n, paths, names);
        ck_assert_int_eq(paths->calls[0].return_end_ns, 500);
    }
}
END_TEST

TEST_MAIN("closes", the_first_between_call_and_return, clocks_that_differ)
