// SPDX-License-Identifier: Apache-2.0
// Scenarios in which messages wait for a worker, and calls for a connection: who is next, when, and
// who gives it up.
#include "tests/unit/scenario_lines.h"

START_TEST(a_worker_does_one_after_the_other)
{
    g_autoptr(Made) made = make(ONCE "workers B 1\nservice B { -> C }\n" BEGIN
                                     "parallel { A -> B; after 1ms A -> B } }");
    IS(made, "1000 C A B 1 path 1 parent -", "1001 C A B 2 path 2 parent -",
       "1010 C B C 3 path 1 parent 1", "1015 R C B 3 path 1 parent 1",
       "1020 R B A 1 path 1 parent -", "1030 C B C 4 path 2 parent 2",
       "1035 R C B 4 path 2 parent 2", "1040 R B A 2 path 2 parent -");
}
END_TEST

START_TEST(a_worker_is_busy_to_its_last_step)
{
    g_autoptr(Made) made = make(ONCE "workers B 1\nservice B { reply; pause 50ms }\n" BEGIN
                                     "parallel { A -> B; after 1ms A -> B } }");
    IS(made, "1000 C A B 1 path 1 parent -", "1001 C A B 2 path 2 parent -",
       "1005 R B A 1 path 1 parent -", "1060 R B A 2 path 2 parent -");
}
END_TEST

// The third one waits, and each replica has its own.
START_TEST(two_workers_of_each_replica)
{
    g_autoptr(Made) made = make(
        ONCE "replicas B round-robin = B1, B2\nworkers B 2\nservice B { after 20ms reply }\n" BEGIN
             "parallel { repeat 3 async A -> B; repeat 3 async A -> B } }");
    ck_assert_uint_eq(made->messages->len, 12);
    for (guint i = 0; i < 12; i++) {
        gint64 ms = (made_at(made, i)->time_ns - START_NS) / 1000000;
        ck_assert_int_eq(ms, i < 6 ? 1000 : i < 10 ? 1020 : 1040);
    }
}
END_TEST

// A call that is made on behalf of one that its only worker is busy with.
START_TEST(who_waits_for_itself_waits_for_ever)
{
    g_autoptr(Made) made = make(ONCE "workers B 1\n" BEGIN "A -> B { -> B \"again\" } }");
    IS(made, "1000 C A B 1 path 1 parent -", "1010 C B B 2 path 1 parent 1");
}
END_TEST

// As many workers in one line are all busy while somebody waits; in several, not always.
START_TEST(lines_of_workers)
{
    static const char *const rest = "duration 1h\nservice B { -> C { after 9ms reply } }\n"
                                    "tracelet t { rate 180/s; times 3000; A -> B }";
    gint64 latency_ns[3] = {0};
    for (guint lines = 1; lines <= 2; lines++) {
        g_autofree char *text =
            g_strdup_printf("workers B %u lines %u\n%s", 2 / lines, lines, rest);
        g_autoptr(Made) made = make(text);
        guint at_once = 0, most = 0;
        for (guint i = 0; i < made->messages->len; i++) {
            const BbMessage *m = made_at(made, i);
            bool is_inner = strcmp(bb_names_text(made->names, m->sender), "A") != 0 &&
                            strcmp(bb_names_text(made->names, m->receiver), "A") != 0;
            gint64 time_ns = m->time_ns - START_NS;
            latency_ns[lines] += is_inner ? 0 : m->kind == BB_CALL ? -time_ns : time_ns;
            at_once += is_inner ? m->kind == BB_CALL ? 1 : -1 : 0;
            most = MAX(most, at_once);
        }
        ck_assert_uint_eq(most, 2);
    }
    // M/D/2 at 81 %: 20 ms; two M/D/1: 28 ms.
    ck_assert_int_gt(latency_ns[1], 3000 * G_GINT64_CONSTANT(15000000));
    ck_assert_int_gt(latency_ns[2], latency_ns[1] + 3000 * G_GINT64_CONSTANT(4000000));
}
END_TEST

START_TEST(a_pool_of_connections)
{
    g_autoptr(Made) made =
        make(ONCE "pool B -> C 1\nservice C { after 30ms reply }\n" BEGIN
                  "A -> B { parallel { -> C; after 15ms -> C; after 15ms -> D } } }");
    IS(made, "1000 C A B 1 path 1 parent -", "1010 C B C 2 path 1 parent 1",
       "1015 C B D 3 path 1 parent 1", "1020 R D B 3 path 1 parent 1",
       "1040 R C B 2 path 1 parent 1", "1040 C B C 4 path 1 parent 1",
       "1070 R C B 4 path 1 parent 1", "1075 R B A 1 path 1 parent -");
}
END_TEST

START_TEST(who_gives_up_waiting_makes_no_call)
{
    g_autoptr(Made) made =
        make(ONCE "pool B -> C 1\nservice C { after 30ms reply }\n" BEGIN
                  "A -> B { parallel { -> C; after 11ms -> C timeout 10ms; after 15ms -> C } } }");
    ck_assert_uint_eq(made_count(made, BB_CALL, "B", "C"), 2);
    ck_assert_int_eq(made_at(made, 3)->time_ns, START_NS + 1040 * G_GINT64_CONSTANT(1000000));
}
END_TEST

// In a closed loop it goes on at once, though its call still stands in line.
START_TEST(who_gives_up_waiting_begins_anew)
{
    g_autoptr(Made) made = make("duration 99ms\npool A -> C 1\nservice C { after 100ms reply }\n"
                                "tracelet t { clients 2; A ~> M; A -> C timeout 10ms }");
    ck_assert_uint_eq(made_count(made, BB_CALL, "A", "C"), 1);
    ck_assert_uint_eq(made_count(made, BB_FREE, "A", "M"), 2 + 9);
}
END_TEST

// The second one is there when the connection is free; the hedge is not sent then.
START_TEST(retries_and_hedges_stand_in_line)
{
    g_autoptr(Made) retried =
        make(ONCE "pool B -> C 1\nservice C { after 30ms reply }\n" BEGIN
                  "A -> B { parallel { -> C; after 11ms -> C timeout 10ms retry 1 } } }");
    IS(retried, "1000 C A B 1 path 1 parent -", "1010 C B C 2 path 1 parent 1",
       "1040 R C B 2 path 1 parent 1", "1045 R B A 1 path 1 parent -");
    g_autoptr(Made) again =
        make(ONCE "pool B -> C 1\nservice C { after 30ms reply }\n" BEGIN
                  "A -> B { parallel { -> C; after 11ms -> C timeout 20ms retry 1 } } }");
    ck_assert_uint_eq(made_count(again, BB_CALL, "B", "C"), 2);
    g_autoptr(Made) hedged = make(ONCE "pool B -> C 1\nservice C { after 30ms reply }\n" BEGIN
                                       "A -> B { -> C hedge 10ms; after 50ms -> C } }");
    ck_assert_uint_eq(made_count(hedged, BB_CALL, "B", "C"), 2);
}
END_TEST

// Nor is a call made of a work that has failed meanwhile, and its worker is free.
START_TEST(who_has_failed_makes_no_call)
{
    g_autoptr(Made) made = make(
        ONCE "workers B 1\npool B -> D 1\nservice D { after 30ms reply }\n" BEGIN
             "parallel { A -> B { parallel { -> D; -> D; async -> D; after 12ms fail } }; after "
             "1ms A -> B { reply } } }");
    IS(made, "1000 C A B 1 path 1 parent -", "1001 C A B 2 path 2 parent -",
       "1010 C B D 3 path 1 parent 1", "1012 R B A 1 path 1 parent -",
       "1017 R B A 2 path 2 parent -", "1040 R D B 3 path 1 parent 1");
}
END_TEST

// Whoever returns it, the caller has its connection back.
START_TEST(a_forwarded_call_gives_its_connection_back)
{
    g_autoptr(Made) made = make(ONCE "pool A -> B 1\nservice B { forward -> C }\n" BEGIN
                                     "parallel { A -> B; after 1ms A -> B } }");
    IS(made, "1000 C A B 1 path 1 parent -", "1010 C B C 2 path 1 parent 1",
       "1015 R C A 1 path 1 parent -", "1015 C A B 3 path 2 parent -",
       "1025 C B C 4 path 2 parent 3", "1030 R C A 3 path 2 parent -");
}
END_TEST

// Also where that of everybody is: the run must not go deep.
START_TEST(a_lost_call_frees_its_connection)
{
    g_autoptr(Made) made =
        make(ONCE "pool B -> C 1\nservice C { after 30ms reply }\n" BEGIN
                  "A -> B { async -> C; repeat 100000 after 0 async -> C lost 100%; wait } }");
    ck_assert_uint_eq(made_count(made, BB_CALL, "B", "C"), 100001);
    const BbMessage *last = made_at(made, made->messages->len - 1);
    ck_assert_int_eq(last->time_ns, START_NS + 1045 * G_GINT64_CONSTANT(1000000));
}
END_TEST

// `wait` waits for calls that wait for a connection, too.
START_TEST(async_calls_wait_for_a_pool)
{
    g_autoptr(Made) made = make(ONCE "pool B -> C 1\nservice C { after 30ms reply }\n" BEGIN
                                     "A -> B { async -> C; async -> C; wait; reply } }");
    IS(made, "1000 C A B 1 path 1 parent -", "1010 C B C 2 path 1 parent 1",
       "1040 R C B 2 path 1 parent 1", "1040 C B C 3 path 1 parent 1",
       "1070 R C B 3 path 1 parent 1", "1075 R B A 1 path 1 parent -");
}
END_TEST

START_TEST(more_than_can_stand_in_line)
{
    fails_with("pool B -> C 1\nservice C { after 100000s reply }\n"
               "service B { repeat 1000000 repeat 1000000 { async -> C; after 1ns ~> D } }\n"
               "tracelet t { rate 1/s; A -> B }",
               "t.scn: more than 1048576 calls are under way at once", swallow);
}
END_TEST

TEST_MAIN("scenario_limits", a_worker_does_one_after_the_other, a_worker_is_busy_to_its_last_step,
          two_workers_of_each_replica, who_waits_for_itself_waits_for_ever, lines_of_workers,
          a_pool_of_connections, who_gives_up_waiting_makes_no_call,
          who_gives_up_waiting_begins_anew, retries_and_hedges_stand_in_line,
          who_has_failed_makes_no_call, a_forwarded_call_gives_its_connection_back,
          a_lost_call_frees_its_connection, async_calls_wait_for_a_pool,
          more_than_can_stand_in_line)
