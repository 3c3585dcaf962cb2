// SPDX-License-Identifier: Apache-2.0
// Scenarios as they run: every kind of step, message by message; loads; the truth; limits.
#include "tests/unit/scenario_lines.h"

#include <math.h>

// ---- steps --------------------------------------------------------------------------------------

START_TEST(calls_in_series)
{
    g_autoptr(Made) made = make(ONCE "service B { -> C; after 7ms -> D }\n" BEGIN "A -> B }");
    IS(made, "1000 C A B 1 path 1 parent -", "1010 C B C 2 path 1 parent 1",
       "1015 R C B 2 path 1 parent 1", "1022 C B D 3 path 1 parent 1",
       "1027 R D B 3 path 1 parent 1", "1032 R B A 1 path 1 parent -");
}
END_TEST

START_TEST(calls_in_parallel)
{
    g_autoptr(Made) made =
        make(ONCE "service C { after 30ms reply }\n" BEGIN
                  "A -> B { parallel { -> C; after 15ms -> D }; after 1ms -> E } }");
    IS(made, "1000 C A B 1 path 1 parent -", "1010 C B C 2 path 1 parent 1",
       "1015 C B D 3 path 1 parent 1", "1020 R D B 3 path 1 parent 1",
       "1040 R C B 2 path 1 parent 1", "1041 C B E 4 path 1 parent 1",
       "1046 R E B 4 path 1 parent 1", "1051 R B A 1 path 1 parent -");
}
END_TEST

START_TEST(a_reply_before_the_end)
{
    g_autoptr(Made) made = make(ONCE BEGIN "A -> B { reply \"late\"; -> C; reply } }");
    IS(made, "1000 C A B 1 path 1 parent -", "1005 R B A 1 path 1 parent -",
       "1015 C B C 2 path 1 parent 1", "1020 R C B 2 path 1 parent 1");
    ck_assert_str_eq(bb_names_text(made->names, made_at(made, 1)->status), "late");
    ck_assert_str_eq(bb_names_text(made->names, made_at(made, 3)->status), "ok");
}
END_TEST

START_TEST(a_failure_ends_the_body)
{
    g_autoptr(Made) made =
        make(ONCE BEGIN "A -> B { repeat 3 { -> C; fail \"500\"; -> D }; -> E } }");
    IS(made, "1000 C A B 1 path 1 parent -", "1010 C B C 2 path 1 parent 1",
       "1015 R C B 2 path 1 parent 1", "1020 R B A 1 path 1 parent -");
    ck_assert_str_eq(bb_names_text(made->names, made_at(made, 3)->status), "500");
}
END_TEST

START_TEST(async_calls)
{
    g_autoptr(Made) made =
        make(ONCE "service C { after 30ms reply }\n" BEGIN "A -> B { async -> C; -> D } }");
    IS(made, "1000 C A B 1 path 1 parent -", "1010 C B C 2 path 1 parent 1",
       "1020 C B D 3 path 1 parent 1", "1025 R D B 3 path 1 parent 1",
       "1030 R B A 1 path 1 parent -", "1040 R C B 2 path 1 parent 1");
}
END_TEST

START_TEST(wait_for_async_calls)
{
    g_autoptr(Made) made = make(ONCE "service C { after 30ms reply }\n" BEGIN
                                     "A -> B { wait; async -> C; async -> C; wait } }");
    IS(made, "1000 C A B 1 path 1 parent -", "1010 C B C 2 path 1 parent 1",
       "1020 C B C 3 path 1 parent 1", "1040 R C B 2 path 1 parent 1",
       "1050 R C B 3 path 1 parent 1", "1055 R B A 1 path 1 parent -");
}
END_TEST

// Two branches may wait for the same call.
START_TEST(wait_twice)
{
    g_autoptr(Made) made =
        make(ONCE "service C { after 30ms reply }\n" BEGIN
                  "A -> B { async -> C; parallel { { wait; -> D } { wait; -> D } } } }");
    ck_assert_uint_eq(made_count(made, BB_CALL, "B", "D"), 2);
    g_autofree char *first = made_line(made, 3);
    ck_assert_str_eq(first, "1050 C B D 3 path 1 parent 1");
    g_autofree char *last = made_line(made, made->messages->len - 1);
    ck_assert_str_eq(last, "1060 R B A 1 path 1 parent -");
}
END_TEST

START_TEST(forwarded_returns)
{
    g_autoptr(Made) made =
        make(ONCE BEGIN "A -> B \"ask\" { forward -> C { forward -> D }; after 11ms -> E } }");
    IS(made, "1000 C A B 1 path 1 parent -", "1010 C B C 2 path 1 parent 1",
       "1020 C C D 3 path 1 parent 2", "1021 C B E 4 path 1 parent 1",
       "1025 R D A 1 path 1 parent -", "1026 R E B 4 path 1 parent 1");
    ck_assert_str_eq(bb_names_text(made->names, made_at(made, 4)->op), "ask");
}
END_TEST

START_TEST(retries_after_a_timeout)
{
    g_autoptr(Made) made =
        make(ONCE BEGIN "A -> B { -> C timeout 40ms retry 2 lost 100%; -> D } }");
    IS(made, "1000 C A B 1 path 1 parent -", "1010 C B C 2 path 1 parent 1",
       "1050 C B C 3 path 1 parent 1", "1090 C B C 4 path 1 parent 1",
       "1140 C B D 5 path 1 parent 1", "1145 R D B 5 path 1 parent 1",
       "1150 R B A 1 path 1 parent -");
}
END_TEST

// The return of the first call comes when the second is under way: the second one's counts.
START_TEST(a_late_return_wakes_nobody)
{
    g_autoptr(Made) made = make(ONCE "service C { after 60ms reply }\n" BEGIN
                                     "A -> B { -> C timeout 40ms retry 1; pause 100ms } }");
    IS(made, "1000 C A B 1 path 1 parent -", "1010 C B C 2 path 1 parent 1",
       "1050 C B C 3 path 1 parent 1", "1070 R C B 2 path 1 parent 1",
       "1110 R C B 3 path 1 parent 1", "1195 R B A 1 path 1 parent -");
}
END_TEST

START_TEST(hedged_requests)
{
    g_autoptr(Made) made =
        make("replicas C round-robin = C1, C2\n" ONCE
             "service C1 { after 60ms reply }\nservice C2 { after 10ms reply }\n" BEGIN
             "A -> B { -> C hedge 20ms } }");
    IS(made, "1000 C A B 1 path 1 parent -", "1010 C B C1 2 path 1 parent 1",
       "1030 C B C2 3 path 1 parent 1", "1040 R C2 B 3 path 1 parent 1",
       "1045 R B A 1 path 1 parent -", "1070 R C1 B 2 path 1 parent 1");
}
END_TEST

START_TEST(no_hedge_behind_the_return)
{
    g_autoptr(Made) made =
        make(ONCE "service C { after 15ms reply }\n" BEGIN "A -> B { -> C hedge 20ms } }");
    ck_assert_uint_eq(made_count(made, BB_CALL, "B", "C"), 1);
}
END_TEST

START_TEST(free_messages)
{
    g_autoptr(Made) made =
        make(ONCE "service C { ~> D; -> E }\n" BEGIN "A ~> B { ~> C; after 1ms ~> C lost 100% } }");
    IS(made, "1000 M A B 1 path 1 parent -", "1020 M B C 2 path 1 parent 1",
       "1021 M B C 3 path 1 parent 1", "1040 M C D 4 path 1 parent 2",
       "1050 C C E 5 path 1 parent 2", "1055 R E C 5 path 1 parent 2");
}
END_TEST

START_TEST(ticks)
{
    g_autoptr(Made) made = make(ONCE BEGIN "A ~> B { after 30ms every 250ms ~> C; every 250ms ~> "
                                           "D } }");
    IS(made, "1000 M A B 1 path 1 parent -", "1250 M B C 2 path 1 parent 1",
       "1500 M B D 3 path 1 parent 1");
}
END_TEST

START_TEST(each_root_is_a_path)
{
    g_autoptr(Made) made = make(ONCE BEGIN "A -> B; repeat 2 after 1ms A ~> C }");
    IS(made, "1000 C A B 1 path 1 parent -", "1005 R B A 1 path 1 parent -",
       "1006 M A C 2 path 2 parent -", "1007 M A C 3 path 3 parent -");
}
END_TEST

START_TEST(cycles_and_self_calls)
{
    g_autoptr(Made) made = make(ONCE "service A { -> B }\nservice B { -> A \"again\" }\n"
                                     "service A \"again\" { -> A \"self\" }\n"
                                     "service A \"self\" { }\n" BEGIN "X -> A }");
    IS(made, "1000 C X A 1 path 1 parent -", "1010 C A B 2 path 1 parent 1",
       "1020 C B A 3 path 1 parent 2", "1030 C A A 4 path 1 parent 3",
       "1035 R A A 4 path 1 parent 3", "1040 R A B 3 path 1 parent 2",
       "1045 R B A 2 path 1 parent 1", "1050 R A X 1 path 1 parent -");
}
END_TEST

START_TEST(scripts)
{
    g_autoptr(Made) made = make("tracelet t { rate 1/s regular; times 1; script {\n"
                                "a: A -> B \"get\"\nafter 5ms e: E -> B\nafter 20ms a1: in a -> C\n"
                                "after 1ms in e ~> D; after 4ms return a1 \"500\"\n"
                                "after 5ms return a\nreturn e } }");
    IS(made, "1000 C A B 1 path 1 parent -", "1005 C E B 2 path 2 parent -",
       "1025 C B C 3 path 1 parent 1", "1026 M B D 4 path 2 parent 2",
       "1030 R C B 3 path 1 parent 1", "1035 R B A 1 path 1 parent -",
       "1035 R B E 2 path 2 parent -");
    ck_assert_str_eq(bb_names_text(made->names, made_at(made, 4)->status), "500");
    ck_assert_str_eq(bb_names_text(made->names, made_at(made, 5)->op), "get");
}
END_TEST

START_TEST(the_network_takes_time)
{
    g_autoptr(Made) made = make("network 3ms\n" ONCE BEGIN "A -> B }");
    IS(made, "1000 C A B 1 path 1 parent -", "1008 R B A 1 path 1 parent -");
    ck_assert_int_eq(made_at(made, 0)->recv_ns, made_at(made, 0)->time_ns + 3000000);
    ck_assert_int_eq(made_at(made, 1)->recv_ns, made_at(made, 1)->time_ns + 3000000);
    g_autoptr(Made) without = make(ONCE BEGIN "A -> B }");
    ck_assert_int_eq(made_at(without, 0)->recv_ns, BB_TIME_NONE);
}
END_TEST

START_TEST(stamps_have_a_resolution)
{
    g_autoptr(Made) made = make("resolution 10ms\nnetwork 1ms\n" ONCE BEGIN
                                "A -> B { after 7ms -> C; after 7ms -> D } }");
    for (guint i = 0; i < made->messages->len; i++) {
        ck_assert_int_eq(made_at(made, i)->time_ns % 10000000, 0);
        ck_assert_int_eq(made_at(made, i)->recv_ns % 10000000, 0);
    }
    // Delays are not rounded: 1000, then 1008 for 1000, 1014, 1022, 1028, 1034.
    ck_assert_int_eq(made_at(made, 5)->time_ns - START_NS, 1030 * G_GINT64_CONSTANT(1000000));
}
END_TEST

// ---- choices ------------------------------------------------------------------------------------

START_TEST(chances_and_choices)
{
    g_autoptr(Made) made = make("tracelet t { rate 1000/s regular; times 20000\n"
                                "30% A ~> CHANCE\n"
                                "choose { 20% A ~> ONE; 50% A ~> TWO; else A ~> REST }\n"
                                "choose { 10% A ~> RARE }\nrepeat 0..2 A ~> MANY }");
    ck_assert_double_eq_tol(made_count(made, BB_FREE, "A", "CHANCE"), 6000, 300);
    ck_assert_double_eq_tol(made_count(made, BB_FREE, "A", "ONE"), 4000, 250);
    ck_assert_double_eq_tol(made_count(made, BB_FREE, "A", "TWO"), 10000, 300);
    ck_assert_double_eq_tol(made_count(made, BB_FREE, "A", "REST"), 6000, 300);
    ck_assert_double_eq_tol(made_count(made, BB_FREE, "A", "RARE"), 2000, 200);
    ck_assert_double_eq_tol(made_count(made, BB_FREE, "A", "MANY"), 20000, 500);
}
END_TEST

START_TEST(replicas_by_weight)
{
    g_autoptr(Made) made = make("replicas B = B1..B3, B4 200%\n"
                                "tracelet t { rate 1000/s regular; times 20000; A ~> B }");
    ck_assert_double_eq_tol(made_count(made, BB_FREE, "A", "B1"), 4000, 250);
    ck_assert_double_eq_tol(made_count(made, BB_FREE, "A", "B4"), 8000, 300);
}
END_TEST

START_TEST(replicas_in_turn)
{
    g_autoptr(Made) made = make("replicas B round-robin = B1..B4\n"
                                "tracelet t { rate 1/s regular; times 6; A ~> B }");
    static const char *const turn[] = {"B1", "B2", "B3", "B4", "B1", "B2"};
    for (guint i = 0; i < 6; i++)
        ck_assert_str_eq(bb_names_text(made->names, made_at(made, i)->receiver), turn[i]);
}
END_TEST

START_TEST(replicas_by_path)
{
    g_autoptr(Made) made = make("replicas B by-path = B1..B4\n"
                                "tracelet t { rate 1000/s; times 2000; A ~> X { ~> B; ~> B } }");
    g_autoptr(GHashTable) of_path = g_hash_table_new(NULL, NULL);
    for (guint i = 0; i < made->messages->len; i++) {
        const BbMessage *m = made_at(made, i);
        gpointer path = GUINT_TO_POINTER((guint)m->path.number), node = NULL;
        if (bb_names_text(made->names, m->receiver)[0] != 'B')
            continue;
        if (g_hash_table_lookup_extended(of_path, path, NULL, &node))
            ck_assert_uint_eq(GPOINTER_TO_UINT(node), m->receiver);
        g_hash_table_insert(of_path, path, GUINT_TO_POINTER(m->receiver));
    }
    for (guint i = 1; i <= 4; i++) {
        g_autofree char *name = g_strdup_printf("B%u", i);
        ck_assert_double_eq_tol(made_count(made, BB_FREE, "X", name), 1000, 160);
    }
}
END_TEST

START_TEST(the_most_special_service_counts)
{
    g_autoptr(Made) made = make("replicas G round-robin = G1, G2\n"
                                "service G { ~> g }\nservice G \"x\" { ~> gx }\n"
                                "service G2 { ~> g2 }\nservice G2 \"x\" { ~> g2x }\n"
                                "tracelet t { rate 1/s regular; times 1; "
                                "A ~> G; A ~> G; A ~> G \"x\"; A ~> G \"x\" }");
    ck_assert_uint_eq(made_count(made, BB_FREE, "G1", "g"), 1);
    ck_assert_uint_eq(made_count(made, BB_FREE, "G2", "g2"), 1);
    ck_assert_uint_eq(made_count(made, BB_FREE, "G1", "gx"), 1);
    ck_assert_uint_eq(made_count(made, BB_FREE, "G2", "g2x"), 1);
    ck_assert_uint_eq(made->messages->len, 8);
}
END_TEST

// ---- loads --------------------------------------------------------------------------------------

static gint64 ms_of(const Made *made, guint index)
{
    return (made_at(made, index)->time_ns - START_NS) / 1000000;
}

START_TEST(a_poisson_process)
{
    g_autoptr(Made) made = make("duration 1000s\ntracelet t { rate 20/s; A ~> B }");
    ck_assert_double_eq_tol(made->messages->len, 20000, 500);
    double squares = 0;
    for (guint i = 1; i < made->messages->len; i++) {
        double gap = (double)(made_at(made, i)->time_ns - made_at(made, i - 1)->time_ns) / 50e6;
        squares += gap * gap / made->messages->len;
    }
    ck_assert_double_eq_tol(squares, 2, 0.1); // second moment of an exponential number
}
END_TEST

START_TEST(rates_by_minute_and_hour)
{
    g_autoptr(Made) minute = make("tracelet t { rate 30/min regular; A ~> B }");
    ck_assert_uint_eq(minute->messages->len, 49);
    g_autoptr(Made) hour = make("duration 1h\ntracelet t { rate 3/h regular; A ~> B }");
    ck_assert_int_eq(ms_of(hour, 0), 1200000);
}
END_TEST

// At 10/s, of which each tenth second is on: 11 in 10 s and the first of the next.
START_TEST(on_and_off)
{
    g_autoptr(Made) made =
        make("duration 15s\ntracelet t { rate 10/s regular on 1s off 9s; A ~> B }");
    for (guint i = 0; i < made->messages->len; i++)
        ck_assert_int_lt(ms_of(made, i) % 10000, 1000);
    ck_assert_uint_eq(made->messages->len, 19);
}
END_TEST

START_TEST(a_rate_that_swings)
{
    g_autoptr(Made) made =
        make("duration 400s\ntracelet t { rate 100/s swing 80% every 40s; A ~> B }");
    guint high = 0;
    for (guint i = 0; i < made->messages->len; i++)
        high += ms_of(made, i) % 40000 < 20000;
    ck_assert_double_eq_tol(made->messages->len, 40000, 800);
    // Half a sine: the mean is 2/pi of its height.
    ck_assert_double_eq_tol((double)high / made->messages->len, 0.5 + 0.8 / G_PI, 0.01);
}
END_TEST

START_TEST(bursts)
{
    g_autoptr(Made) made = make("duration 2.5s\ntracelet t { rate 1/s regular burst 5 within "
                                "0s..100ms; A ~> B }");
    ck_assert_uint_eq(made->messages->len, 10);
    for (guint i = 0; i < 10; i++) {
        ck_assert_int_ge(ms_of(made, i), i < 5 ? 1000 : 2000);
        ck_assert_int_le(ms_of(made, i), i < 5 ? 1100 : 2100);
    }
    g_autoptr(Made) range = make("duration 1000s\ntracelet t { rate 1/s burst 1..3; A ~> B }");
    ck_assert_double_eq_tol(range->messages->len, 2000, 200);
}
END_TEST

// A client thinks when all that it caused has ended, behind its return too.
START_TEST(clients_in_a_closed_loop)
{
    g_autoptr(Made) made = make("duration 1s\ntracelet t { clients 1 think 100ms; "
                                "A -> B { after 20ms reply; after 30ms ~> C } }");
    IS(made, "100 C A B 1 path 1 parent -", "120 R B A 1 path 1 parent -",
       "150 M B C 2 path 1 parent 1", "250 C A B 3 path 2 parent -", "270 R B A 3 path 2 parent -",
       "300 M B C 4 path 2 parent 3", "400 C A B 5 path 3 parent -", "420 R B A 5 path 3 parent -",
       "450 M B C 6 path 3 parent 5", "550 C A B 7 path 4 parent -", "570 R B A 7 path 4 parent -",
       "600 M B C 8 path 4 parent 7", "700 C A B 9 path 5 parent -", "720 R B A 9 path 5 parent -",
       "750 M B C 10 path 5 parent 9", "850 C A B 11 path 6 parent -",
       "870 R B A 11 path 6 parent -", "900 M B C 12 path 6 parent 11");
}
END_TEST

START_TEST(clients_are_under_way_at_once)
{
    g_autoptr(Made) made =
        make("duration 20s\ntracelet t { clients 7 think 1ms..2ms; A -> B { after 50ms reply } }");
    int open = 0, most = 0;
    for (guint i = 0; i < made->messages->len; i++) {
        open += made_at(made, i)->kind == BB_CALL ? 1 : -1;
        most = MAX(most, open);
    }
    ck_assert_int_eq(most, 7);
    ck_assert_int_eq(open, 0);
}
END_TEST

START_TEST(limits_from_outside)
{
    const char *text = "duration 10s\nmessages 1000\ntracelet t { rate 10/s regular; A -> B }";
    BbScenarioOptions options = {.seed = 1, .duration_ns = 2 * NS_PER_S};
    g_autoptr(Made) shorter = make_with(text, &options);
    ck_assert_uint_eq(shorter->messages->len, 2 * 19);
    // A number of messages takes as long as it takes.
    options = (BbScenarioOptions){.seed = 1, .duration_ns = BB_TIME_NONE, .messages = 5000};
    g_autoptr(Made) longer = make_with(text, &options);
    ck_assert_uint_eq(longer->messages->len, 5000);
    options.duration_ns = 3 * NS_PER_S;
    g_autoptr(Made) both = make_with(text, &options);
    ck_assert_uint_eq(both->messages->len, 2 * 29);
}
END_TEST

// ---- the truth ----------------------------------------------------------------------------------

#define SHOP                                                                                  \
    "replicas W = W1..W3\nreplicas D = D1, D2\nresolution 1ms\ncalls after 5ms~50%\n"         \
    "returns after 2ms~50%\nduration 60s\n"                                                   \
    "service W { -> X; parallel { -> D; 50% -> D; -> Y }; choose { 40% -> Z; else -> X } }\n" \
    "service X { repeat 0..3 -> D }\nservice Y { 20% -> W }\n"                                \
    "tracelet t { clients 20 think exp 50ms; U -> W }"

// The call of every id.
static GArray *calls_by_id(const Made *made)
{
    GArray *calls = g_array_new(FALSE, TRUE, sizeof(const BbMessage *));
    for (guint i = 0; i < made->messages->len; i++) {
        const BbMessage *m = made_at(made, i);
        if (m->kind == BB_RETURN)
            continue;
        ck_assert_uint_eq(m->id.number, calls->len + 1); // in order of time
        g_array_append_val(calls, m);
    }
    return calls;
}

START_TEST(parents_hold_their_children)
{
    g_autoptr(Made) made = make(SHOP);
    g_autoptr(GArray) calls = calls_by_id(made);
    g_autoptr(GArray) returns = g_array_new(FALSE, TRUE, sizeof(gint64));
    g_array_set_size(returns, calls->len + 1);
    ck_assert_uint_gt(calls->len, 5000);
    gint64 last_ns = 0;
    for (guint i = 0; i < made->messages->len; i++) {
        const BbMessage *m = made_at(made, i);
        ck_assert_int_ge(m->time_ns, last_ns);
        last_ns = m->time_ns;
        const BbMessage *call = g_array_index(calls, const BbMessage *, m->id.number - 1);
        const BbMessage *parent = NULL;
        if (m->parent.form != BB_ID_DASH) {
            ck_assert_uint_lt(m->parent.number, call->id.number);
            parent = g_array_index(calls, const BbMessage *, m->parent.number - 1);
            ck_assert_uint_eq(parent->path.number, m->path.number);
            ck_assert_uint_eq(parent->receiver, call->sender);
            ck_assert_int_le(parent->time_ns, call->time_ns);
        }
        if (m->kind != BB_RETURN)
            continue;
        ck_assert_uint_eq(m->sender, call->receiver);
        ck_assert_uint_eq(m->receiver, call->sender);
        ck_assert(bb_id_equal(m->parent, call->parent));
        ck_assert_uint_eq(m->path.number, call->path.number);
        g_array_index(returns, gint64, m->id.number) = m->time_ns;
        if (parent) // it has not returned yet
            ck_assert_int_eq(g_array_index(returns, gint64, parent->id.number), 0);
    }
    for (guint id = 1; id <= calls->len; id++)
        ck_assert_int_ne(g_array_index(returns, gint64, id), 0);
}
END_TEST

START_TEST(a_seed_is_a_trace)
{
    BbScenarioOptions options = {.seed = 5, .duration_ns = 5 * NS_PER_S};
    g_autoptr(Made) a = make_with(SHOP, &options), b = make_with(SHOP, &options);
    options.seed = 6;
    g_autoptr(Made) c = make_with(SHOP, &options);
    ck_assert_uint_gt(a->messages->len, 500);
    ck_assert_uint_eq(a->messages->len, b->messages->len);
    bool differs = a->messages->len != c->messages->len;
    for (guint i = 0; i < a->messages->len; i++) {
        g_autofree char *x = made_line(a, i), *y = made_line(b, i);
        ck_assert_str_eq(x, y);
        differs = differs || made_at(a, i)->time_ns != made_at(c, i)->time_ns;
    }
    ck_assert(differs);
}
END_TEST

START_TEST(without_ids_parents_are_counted)
{
    BbScenarioOptions options = {.seed = 1, .duration_ns = BB_TIME_NONE, .without_ids = true};
    g_autoptr(Made) made = make_with(ONCE BEGIN "A -> B { -> C { -> D } } }", &options);
    g_autofree char *line = made_line(made, 2);
    ck_assert_str_eq(line, "1020 C C D 0 path 1 parent #2");
    for (guint i = 0; i < made->messages->len; i++)
        ck_assert(!bb_id_is_known(made_at(made, i)->id));
    options.without_truth = true;
    g_autoptr(Made) bare = make_with(ONCE BEGIN "A -> B }", &options);
    ck_assert(!bb_id_is_known(made_at(bare, 0)->path));
    ck_assert(!bb_id_is_known(made_at(bare, 0)->parent));
}
END_TEST

// ---- limits -------------------------------------------------------------------------------------

static bool refuse_sink(const BbMessage *message, gpointer user, GError **error)
{
    if (++*(guint *)user < 10)
        return true;
    g_set_error_literal(error, G_FILE_ERROR, G_FILE_ERROR_NOSPC, "full");
    return false;
}

START_TEST(endless_depth)
{
    fails_with("service B { -> B }\ntracelet t { rate 1/s; A -> B }",
               "t.scn: a path of more than 1000 messages in each other: some service", swallow);
    fails_with("service B { ~> B }\ntracelet t { rate 1/s; A ~> B }",
               "t.scn: a path of more than 1000 messages in each other", swallow);
}
END_TEST

START_TEST(time_that_stands_still)
{
    fails_with("tracelet t { clients 1; 0% A -> B }", "t.scn: 1000000 steps in a row send nothing",
               swallow);
}
END_TEST

START_TEST(more_than_can_be_under_way)
{
    fails_with("tracelet t { rate 1/s burst 600000; A -> B { pause 1h } }",
               "t.scn: more than 1048576 calls are under way at once", swallow);
}
END_TEST

START_TEST(beyond_time)
{
    fails_with(
        "duration 1h\ntracelet t { rate 1/s; times 1; repeat 100 { pause 277777h; A ~> B } }",
        "t.scn: it runs beyond the year 2262", swallow);
}
END_TEST

START_TEST(a_sink_that_refuses_ends_it)
{
    fails_with("tracelet t { rate 1/s; script { a: A -> B; return a } }", "full", refuse_sink);
}
END_TEST

TEST_MAIN("scenario_run", calls_in_series, calls_in_parallel, a_reply_before_the_end,
          a_failure_ends_the_body, async_calls, wait_for_async_calls, wait_twice, forwarded_returns,
          retries_after_a_timeout, a_late_return_wakes_nobody, hedged_requests,
          no_hedge_behind_the_return, free_messages, ticks, each_root_is_a_path,
          cycles_and_self_calls, scripts, the_network_takes_time, stamps_have_a_resolution,
          chances_and_choices, replicas_by_weight, replicas_in_turn, replicas_by_path,
          the_most_special_service_counts, a_poisson_process, rates_by_minute_and_hour, on_and_off,
          a_rate_that_swings, bursts, clients_in_a_closed_loop, clients_are_under_way_at_once,
          limits_from_outside, parents_hold_their_children, a_seed_is_a_trace,
          without_ids_parents_are_counted, endless_depth, time_that_stands_still,
          more_than_can_be_under_way, beyond_time, a_sink_that_refuses_ends_it)
