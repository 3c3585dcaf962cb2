// SPDX-License-Identifier: Apache-2.0
// When windows end and what of them is published, by times alone; tests of windows and stretches
// have the messages.
#include "data/schedule.h"

#include "tests/unit/test.h"

#define USUAL 100u

static BbSchedule schedule_of(BbWindowOptions options)
{
    BbSchedule schedule;
    bb_schedule_init(&schedule, &options, USUAL);
    return schedule;
}

// Calls at these times.
static BbPaths *paths_at(const gint64 *times, guint32 count)
{
    BbPaths *paths = bb_paths_new();
    paths->calls = g_new0(BbCall, count);
    paths->n_calls = count;
    for (guint32 i = 0; i < count; i++)
        paths->calls[i].call_ns = times[i];
    return paths;
}

START_TEST(defaults)
{
    BbSchedule schedule = schedule_of((BbWindowOptions){.length_ns = 102});
    ck_assert_int_eq(schedule.options.step_ns, 77); // never less than three quarters
    ck_assert_uint_eq(schedule.options.messages, USUAL);
    ck_assert(bb_schedule_goes_by_time(&schedule));
    schedule = schedule_of((BbWindowOptions){.length_ns = 100, .step_ns = 200, .messages = 5});
    ck_assert_int_eq(schedule.options.step_ns, 75);
    ck_assert_uint_eq(schedule.options.messages, 5);
    schedule = schedule_of((BbWindowOptions){.length_ns = 100, .whole = true});
    ck_assert(!bb_schedule_goes_by_time(&schedule));
}
END_TEST

START_TEST(over_by_time)
{
    BbSchedule schedule = schedule_of((BbWindowOptions){.length_ns = 100, .step_ns = 50});
    ck_assert(!bb_schedule_is_over(&schedule, 1000, 0)); // begins here
    ck_assert(!bb_schedule_is_over(&schedule, 1099, 1));
    ck_assert(bb_schedule_is_over(&schedule, 1100, 1));
    ck_assert(!bb_schedule_is_over(&schedule, 1263, 0)); // nothing is held: passed over
    ck_assert_int_eq(schedule.start_ns, 1250);
    ck_assert(!bb_schedule_is_over(&schedule, G_MININT64 + 1, 1));
}
END_TEST

START_TEST(the_last_window_of_time_has_no_end)
{
    BbSchedule schedule = schedule_of((BbWindowOptions){.length_ns = 100});
    ck_assert(!bb_schedule_is_over(&schedule, G_MAXINT64 - 10, 0));
    ck_assert(!bb_schedule_is_over(&schedule, G_MAXINT64, 1));
}
END_TEST

START_TEST(over_by_count)
{
    BbSchedule schedule = schedule_of((BbWindowOptions){0});
    ck_assert(!bb_schedule_is_over(&schedule, G_MAXINT64, USUAL - 1));
    ck_assert(bb_schedule_is_over(&schedule, 0, USUAL));
    schedule = schedule_of((BbWindowOptions){.whole = true});
    ck_assert(!bb_schedule_is_over(&schedule, 0, G_MAXUINT64));
}
END_TEST

START_TEST(late_messages_are_counted)
{
    BbSchedule schedule = schedule_of((BbWindowOptions){.length_ns = 100, .messages = 2});
    ck_assert(!bb_schedule_is_over(&schedule, 1000, 0));
    bb_schedule_take(&schedule, 1000);
    bb_schedule_take(&schedule, 999);
    ck_assert_uint_eq(schedule.late, 1);
    ck_assert(!bb_schedule_is_over(&schedule, 1001, 2));
    bb_schedule_take(&schedule, 0);
    ck_assert(bb_schedule_is_over(&schedule, 1001, 3));
    g_autoptr(BbPaths) paths = paths_at((const gint64[]){0, 999, 1000}, 3);
    ck_assert_int_eq(bb_schedule_frontier(&schedule, paths), BB_SCHEDULE_ALL);
    bb_schedule_next(&schedule, paths, BB_SCHEDULE_ALL);
    ck_assert_uint_eq(schedule.late_here, 0);
    ck_assert_uint_eq(schedule.late, 2);
    ck_assert_int_eq(schedule.start_ns, BB_SCHEDULE_ANY);
}
END_TEST

START_TEST(frontiers)
{
    const gint64 times[] = {10, 20, 30, 40, 50, 60, 70, 80}, same[] = {5, 5, 5, 5};
    g_autoptr(BbPaths) paths = paths_at(times, 8), equal = paths_at(same, 4);
    g_autoptr(BbPaths) empty = paths_at(NULL, 0);
    BbSchedule schedule = schedule_of((BbWindowOptions){0});
    ck_assert_int_eq(bb_schedule_frontier(&schedule, paths), 60);
    ck_assert_int_eq(bb_schedule_frontier(&schedule, equal), BB_SCHEDULE_ALL);
    ck_assert_int_eq(bb_schedule_frontier(&schedule, empty), BB_SCHEDULE_ALL);
    schedule.ended = true;
    ck_assert_int_eq(bb_schedule_frontier(&schedule, paths), BB_SCHEDULE_ALL);
    schedule = schedule_of((BbWindowOptions){.whole = true});
    ck_assert_int_eq(bb_schedule_frontier(&schedule, paths), BB_SCHEDULE_ALL);
    schedule = schedule_of((BbWindowOptions){.length_ns = 100, .step_ns = 30});
    ck_assert(!bb_schedule_is_over(&schedule, 10, 0));
    ck_assert_int_eq(bb_schedule_frontier(&schedule, empty), 40);
}
END_TEST

START_TEST(windows_follow_each_other)
{
    BbSchedule schedule = schedule_of((BbWindowOptions){.length_ns = 100, .step_ns = 60});
    g_autoptr(BbPaths) first = paths_at(NULL, 0), second = paths_at(NULL, 0);
    ck_assert(!bb_schedule_is_over(&schedule, 10, 0));
    first->n_instances = 7;
    first->to_ns = 99;
    bb_schedule_next(&schedule, first, bb_schedule_frontier(&schedule, first));
    ck_assert_int_eq(first->from_ns, 10);
    ck_assert_int_eq(first->to_ns, 70);
    ck_assert_uint_eq(first->instances_before, 0);
    ck_assert_int_eq(schedule.start_ns, 70);
    schedule.ended = true;
    second->to_ns = 150;
    bb_schedule_next(&schedule, second, bb_schedule_frontier(&schedule, second));
    ck_assert_int_eq(second->from_ns, 70);
    ck_assert_int_eq(second->to_ns, 150); // the last time seen
    ck_assert_uint_eq(second->instances_before, 7);
}
END_TEST

TEST_MAIN("schedule", defaults, over_by_time, the_last_window_of_time_has_no_end, over_by_count,
          late_messages_are_counted, frontiers, windows_follow_each_other)
