// SPDX-License-Identifier: Apache-2.0
// Sightings become messages: recognised by position, id and order; ids of calls; replies in time.
#include "merge/overlap.h"
#include "tests/unit/merge_lines.h"

// As a capture writes a message: with proto, end and bytes, so that its ids are its own.
#define SEEN(time, words, position) \
    time " " words " end=" time " bytes=9 conn=x-y off=" position " proto=http"
#define OUT(time, words, recv, position, obs) \
    time " " words recv " end=" time " bytes=9 conn=x-y off=" position " obs=" obs " proto=http"

START_TEST(two_sightings_are_one_message_with_both_times)
{
    g_autoptr(Merge) merge = merge_new();
    MERGE_ADD(merge, "a.txt", SEEN("1.1", "C c s 1", "5"), SEEN("1.4", "R s c 1", "6"));
    MERGE_ADD(merge, "b.txt", SEEN("1.2", "C c s 8", "5"), SEEN("1.3", "R s c 8", "6"));
    merge_with(merge, BB_JOIN_KEYS);
    MERGE_EXPECT(merge, OUT("1.1", "C c s 1", " recv=1.2", "5", "a"),
                 OUT("1.3", "R s c 1", " recv=1.4", "6", "b"));
    ck_assert_uint_eq(bb_join_count(merge->join, BB_JOIN_SIGHTINGS), 4);
    ck_assert_uint_eq(bb_join_count(merge->join, BB_JOIN_JOINED), 2);
    ck_assert_uint_eq(bb_join_count(merge->join, BB_JOIN_BY_POSITION), 2);
}
END_TEST

START_TEST(a_mirror_between_gives_neither_time)
{
    g_autoptr(Merge) merge = merge_new();
    MERGE_ADD(merge, "a.txt", SEEN("1.1", "C c s 1", "5"));
    MERGE_ADD(merge, "m.txt", SEEN("1.2", "C c s 2", "5"));
    MERGE_ADD(merge, "b.txt", SEEN("1.3", "C c s 3", "5"));
    merge_with(merge, BB_JOIN_KEYS);
    MERGE_EXPECT(merge, OUT("1.1", "C c s 1", " recv=1.3", "5", "a"));
    g_autoptr(GArray) pairs = bb_overlap_pairs(bb_join_overlap(merge->join), merge->names);
    ck_assert_uint_eq(pairs->len, 3);
}
END_TEST

// Only where the caller resets the connection is it seen that it did not read the return.
START_TEST(unread_is_what_one_has_seen)
{
    static const char *const statuses[][2] = {{"unread", "200"}, {"200", "unread"}};
    for (guint i = 0; i < 2 * G_N_ELEMENTS(statuses); i++) {
        const char *id = i % 2 ? "1" : "-"; // by its id, or by order
        g_autoptr(Merge) merge = merge_new();
        for (guint k = 0; k < 2; k++) {
            g_autofree char *back = g_strdup_printf("1.%u R s c %s proto=http status=%s", 5 + k, id,
                                                    statuses[i / 2][k]);
            merge_add(merge, k ? "b.txt" : "a.txt", (const char *const[]){back, NULL});
        }
        merge_with(merge, BB_JOIN_KEYS);
        g_autofree char *out =
            g_strdup_printf("1.5 R s c %s recv=1.6 status=unread obs=a proto=http", id);
        MERGE_EXPECT(merge, out);
    }
}
END_TEST

// What ends a call keeps its id, whichever end closes, and whoever has seen what.
START_TEST(what_ends_a_call_has_its_id)
{
    g_autoptr(Merge) merge = merge_new();
    MERGE_ADD(merge, "a.txt", "1.1 C c s 1 end=1.1 bytes=9 conn=x-y off=5 proto=http",
              "1.2 C c s 2 end=1.2 bytes=9 conn=x-z off=5 proto=http",
              "1.3 M c s 2 end=1.3 status=closed bytes=0 conn=x-z off=14 proto=http",
              "1.4 M s c 1 end=1.4 status=closed bytes=0 conn=x-y off=7 proto=http");
    MERGE_ADD(merge, "b.txt", "1.15 C c s 7 end=1.15 bytes=9 conn=x-z off=5 proto=http",
              "1.25 C c s 8 end=1.25 bytes=9 conn=x-y off=5 proto=http");
    merge_with(merge, BB_JOIN_KEYS);
    ck_assert_uint_eq(merge->lines->len, 4);
    g_autoptr(GString) ids = g_string_new(NULL);
    for (guint i = 0; i < merge->lines->len; i++) {
        g_auto(GStrv) words = g_strsplit(merge->lines->pdata[i], " ", -1);
        g_string_append_printf(ids, "%s%s ", words[1], words[4]);
    }
    ck_assert_str_eq(ids->str, "C1 C2 M2 M1 ");
}
END_TEST

// By the clock of b nothing compares; what its host itself received is its own.
START_TEST(a_clock_that_is_not_known_adds_no_time)
{
    g_autoptr(Merge) merge = merge_new();
    MERGE_ADD(merge, "b.txt", SEEN("1", "C c s 1", "5"), SEEN("1.8", "R s c 1", "6"),
              SEEN("1.9", "rM c s 2", "7"));
    MERGE_ADD(merge, "a.txt", SEEN("1.1", "C c s 8", "5"), SEEN("1.4", "R s c 8", "6"),
              SEEN("1.5", "M c s 9", "7"));
    g_autoptr(BbClocks) clocks = bb_clocks_new(merge->names, 16);
    bb_clocks_observer(clocks, bb_names_intern(merge->names, "a"));
    bb_clocks_observer(clocks, bb_names_intern(merge->names, "b"));
    bb_clocks_solve(clocks);
    merge_run(merge, &(BbJoinOptions){.window_ns = BB_JOIN_WINDOW_NS,
                                      .held_max = BB_JOIN_HELD,
                                      .clocks = clocks});
    MERGE_EXPECT(merge, OUT("1.1", "C c s 1", "", "5", "a"), OUT("1.4", "R s c 1", "", "6", "a"),
                 OUT("1.5", "M c s 2", " recv=1.9", "7", "a"));
    ck_assert_uint_eq(bb_join_count(merge->join, BB_JOIN_JOINED), 3);
}
END_TEST

START_TEST(what_one_side_lost_passes)
{
    g_autoptr(Merge) merge = merge_new();
    MERGE_ADD(merge, "a.txt", SEEN("1.1", "C c s 1", "5"), SEEN("1.2", "C c s 2", "7"),
              SEEN("1.5", "R s c 2", "8"));
    MERGE_ADD(merge, "b.txt", SEEN("1.11", "C c s 1", "5"), SEEN("1.3", "C c s 2", "9"),
              SEEN("1.31", "R s c 1", "6"), SEEN("1.32", "R s c 2", "10"));
    merge_with(merge, BB_JOIN_KEYS);
    MERGE_EXPECT(merge, OUT("1.1", "C c s 1", " recv=1.11", "5", "a"),
                 OUT("1.2", "C c s 2", "", "7", "a"), OUT("1.3", "C c s 3", "", "9", "b"),
                 OUT("1.31", "R s c 1", "", "6", "b"), OUT("1.32", "R s c 3", "", "10", "b"),
                 OUT("1.5", "R s c 2", "", "8", "a"));
    g_autoptr(GArray) pairs = bb_overlap_pairs(bb_join_overlap(merge->join), merge->names);
    ck_assert_uint_eq(pairs->len, 1);
    const BbOverlapPair *pair = &g_array_index(pairs, BbOverlapPair, 0);
    ck_assert_str_eq(bb_names_text(merge->names, pair->a), "a");
    ck_assert_uint_eq(pair->both, 1);
    ck_assert_uint_eq(pair->only_a, 1); // of the edge c -> s: what s sends both see nothing of
    ck_assert_uint_eq(pair->only_b, 1);
    ck_assert_int_eq(pair->least_ns, 10000000);
}
END_TEST

START_TEST(made_up_ids_of_two_observers_never_meet)
{
    g_autoptr(Merge) merge = merge_new();
    MERGE_ADD(merge, "a.txt", "1.1 C c s 1 end=1.1 bytes=9 proto=dns op=x",
              "1.3 R s c 1 end=1.3 bytes=9 proto=dns op=x");
    MERGE_ADD(merge, "b.txt", "1.2 C c s 1 end=1.2 bytes=8 proto=dns op=y",
              "1.4 R s c 1 end=1.4 bytes=8 proto=dns op=y");
    merge_with(merge, BB_JOIN_KEYS);
    MERGE_EXPECT(merge, "1.1 C c s 1 end=1.1 op=x bytes=9 obs=a proto=dns",
                 "1.2 C c s 2 end=1.2 op=y bytes=8 obs=b proto=dns",
                 "1.3 R s c 1 end=1.3 op=x bytes=9 obs=a proto=dns",
                 "1.4 R s c 2 end=1.4 op=y bytes=8 obs=b proto=dns");
}
END_TEST

START_TEST(ids_from_the_wire_join_and_stay)
{
    g_autoptr(Merge) merge = merge_new();
    MERGE_ADD(merge, "a.txt", "1.1 C c s id7 path=1 parent=-", "1.4 R s c id7");
    MERGE_ADD(merge, "b.txt", "1.2 C c s id7 op=x", "1.3 R s c id7 status=ok");
    merge_with(merge, BB_JOIN_KEYS);
    MERGE_EXPECT(merge, "1.1 C c s id7 recv=1.2 op=x obs=a path=1 parent=-",
                 "1.3 R s c id7 recv=1.4 status=ok obs=b");
    ck_assert_uint_eq(bb_join_count(merge->join, BB_JOIN_BY_ID), 2);
}
END_TEST

START_TEST(an_id_used_again_is_another_message)
{
    g_autoptr(Merge) merge = merge_new();
    MERGE_ADD(merge, "a.txt", "1 C c s id7", "1.4 R s c id7", "5 C c s id7", "5.4 R s c id7");
    MERGE_ADD(merge, "b.txt", "5.1 C c s id7", "5.3 R s c id7");
    merge_with(merge, BB_JOIN_KEYS);
    MERGE_EXPECT(merge, "1 C c s id7 obs=a", "1.4 R s c id7 obs=a", "5 C c s id7 recv=5.1 obs=a",
                 "5.3 R s c id7 recv=5.4 obs=b");
}
END_TEST

START_TEST(received_lines_join_sent_lines_of_one_trace)
{
    g_autoptr(Merge) merge = merge_new();
    MERGE_ADD(merge, "a.txt", "1.1 C c s id7", "1.2 rC c s id7", "1.3 R s c id7", "1.4 rM x y id9",
              "1.5 rR s c id7", "1.6 M x y id8", "1.55 rM x y id8");
    merge_with(merge, BB_JOIN_KEYS);
    // The receiver says when it got it, whatever its clock.
    MERGE_EXPECT(merge, "1.1 C c s id7 recv=1.2 obs=a", "1.3 R s c id7 recv=1.5 obs=a",
                 "1.4 rM x y id9 obs=a", "1.6 M x y id8 recv=1.55 obs=a");
    ck_assert_uint_eq(bb_join_count(merge->join, BB_JOIN_RECEIVER_ONLY), 1);
    ck_assert_uint_eq(bb_join_count(merge->join, BB_JOIN_JOINED), 3);
}
END_TEST

START_TEST(without_keys_order_and_time_decide)
{
    g_autoptr(Merge) merge = merge_new();
    MERGE_ADD(merge, "a.txt", "1 M c s -", "1.5 M c s -", "2 M c s -", "2.5 M c s - bytes=7");
    MERGE_ADD(merge, "b.txt", "1.01 M c s -", "2.01 M c s -", "2.52 M c s - bytes=8");
    merge_with(merge, BB_JOIN_KEYS);
    MERGE_EXPECT(merge, "1 M c s - recv=1.01 obs=a", "1.5 M c s - obs=a",
                 "2 M c s - recv=2.01 obs=a", "2.5 M c s - bytes=7 obs=a",
                 "2.52 M c s - bytes=8 obs=b");
    ck_assert_uint_eq(bb_join_count(merge->join, BB_JOIN_BY_ORDER), 2);
}
END_TEST

// The receiver's clock is behind: the message goes out when it was sent.
START_TEST(what_order_makes_later_waits)
{
    g_autoptr(Merge) merge = merge_new();
    MERGE_ADD(merge, "a.txt", "1.2 M x y -", "1.3 M c s -", "1.4 M x y -");
    MERGE_ADD(merge, "b.txt", "1 rM c s -");
    merge_with(merge, BB_JOIN_KEYS);
    MERGE_EXPECT(merge, "1.2 M x y - obs=a", "1.3 M c s - recv=1 obs=a", "1.4 M x y - obs=a");
    ck_assert_uint_eq(bb_join_count(merge->join, BB_JOIN_BY_ORDER), 1);
    ck_assert_uint_eq(bb_join_count(merge->join, BB_JOIN_LATE), 0);
}
END_TEST

// All of one id: of another observer, too far back to be looked at.
START_TEST(a_constant_id_costs_little)
{
    static const char *const others[] = {"1.99 M c s id7", NULL};
    g_autoptr(Merge) merge = merge_new();
    g_autoptr(GPtrArray) lines = g_ptr_array_new_with_free_func(g_free);
    for (guint i = 0; i < 1000; i++)
        g_ptr_array_add(lines, g_strdup_printf("1.%03u M c s id7", i));
    g_ptr_array_add(lines, NULL);
    merge_add(merge, "a.txt", (const char *const *)(gpointer)lines->pdata);
    merge_add(merge, "b.txt", others);
    merge_with(merge, BB_JOIN_KEYS);
    ck_assert_uint_eq(merge->lines->len, 1000); // the one at 1.99, and no other
    ck_assert_uint_eq(bb_join_count(merge->join, BB_JOIN_BY_ID), 1);
    ck_assert_uint_gt(bb_join_count(merge->join, BB_JOIN_CUT), 700);
}
END_TEST

// 10 ms apart and every 4 ms one: the delay between the observers is learned where it is clear.
START_TEST(a_usual_delay_tells_dense_messages_apart)
{
    g_autoptr(Merge) merge = merge_new();
    g_autoptr(GPtrArray) a = g_ptr_array_new_with_free_func(g_free);
    g_autoptr(GPtrArray) b = g_ptr_array_new_with_free_func(g_free);
    for (guint i = 0; i < 40; i++) {
        guint at = i < 20 ? 100 + i * 40 : 1000 + i * 4;
        g_ptr_array_add(a, g_strdup_printf("1.%04u M c s - op=%c", at, i % 2 ? 'x' : 'y'));
        if (i != 25)
            g_ptr_array_add(b, g_strdup_printf("1.%04u M c s - op=%c", at + 10, i % 2 ? 'x' : 'y'));
    }
    g_ptr_array_add(a, NULL);
    g_ptr_array_add(b, NULL);
    merge_add(merge, "a.txt", (const char *const *)(gpointer)a->pdata);
    merge_add(merge, "b.txt", (const char *const *)(gpointer)b->pdata);
    merge_with(merge, BB_JOIN_KEYS);
    ck_assert_uint_eq(merge->lines->len, 40);
    for (guint i = 0; i < 40; i++) {
        double time = 0, recv = 0;
        int found = sscanf(merge->lines->pdata[i], "%lf M c s - recv=%lf", &time, &recv);
        ck_assert_int_eq(found, i == 25 ? 1 : 2);
        if (i != 25)
            ck_assert_double_eq_tol(recv - time, 0.001, 1e-9);
    }
}
END_TEST

START_TEST(order_joins_what_has_other_keys_where_asked)
{
    const char *const instrumented[] = {"1 C c s 00000000deadbeef parent=- path=1",
                                        "1.9 R s c 00000000deadbeef", NULL};
    const char *const captured[] = {SEEN("1.01", "C c s 4", "5"), SEEN("1.8", "R s c 4", "6"),
                                    NULL};
    g_autoptr(Merge) merge = merge_new();
    merge_add(merge, "a.txt", instrumented);
    merge_add(merge, "b.txt", captured);
    merge_with(merge, BB_JOIN_ORDER);
    MERGE_EXPECT(merge,
                 "1 C c s 00000000deadbeef recv=1.01 end=1 bytes=9 conn=x-y off=5 obs=a proto=http "
                 "path=1 parent=-",
                 "1.8 R s c 00000000deadbeef recv=1.9 end=1.8 bytes=9 conn=x-y off=6 obs=b "
                 "proto=http");
    g_autoptr(Merge) keys = merge_new();
    merge_add(keys, "a.txt", instrumented);
    merge_add(keys, "b.txt", captured);
    merge_with(keys, BB_JOIN_KEYS);
    ck_assert_uint_eq(keys->lines->len, 4);
}
END_TEST

START_TEST(nothing_joins_where_told)
{
    g_autoptr(Merge) merge = merge_new();
    MERGE_ADD(merge, "a.txt", "1 C c s id7", "1.2 M c s -");
    MERGE_ADD(merge, "b.txt", "1.1 C c s id7", "1.2 M c s -");
    merge_with(merge, BB_JOIN_NONE);
    MERGE_EXPECT(merge, "1 C c s id7 obs=a", "1.1 C c s id7 obs=b", "1.2 M c s - obs=a",
                 "1.2 M c s - obs=b");
    ck_assert_uint_eq(bb_join_count(merge->join, BB_JOIN_JOINED), 0);
}
END_TEST

START_TEST(sightings_beyond_the_window_are_two_messages)
{
    g_autoptr(Merge) merge = merge_new();
    MERGE_ADD(merge, "a.txt", SEEN("1.1", "M c s -", "5"), SEEN("4", "M c s -", "9"));
    MERGE_ADD(merge, "b.txt", SEEN("2.1", "M c s -", "5"), SEEN("5.001", "M c s -", "9"));
    merge_with(merge, BB_JOIN_KEYS);
    MERGE_EXPECT(merge, OUT("1.1", "M c s -", " recv=2.1", "5", "a"),
                 OUT("4", "M c s -", "", "9", "a"), OUT("5.001", "M c s -", "", "9", "b"));
}
END_TEST

START_TEST(a_reply_moves_behind_its_call_where_it_may)
{
    const char *const calls[] = {"1.5 C c s id7", NULL}, *const replies[] = {"1.4 R s c id7", NULL};
    for (guint repair = 0; repair < 2; repair++) {
        g_autoptr(Merge) merge = merge_new();
        merge_add(merge, "a.txt", calls);
        merge_add(merge, "b.txt", replies);
        merge_run(merge, &(BbJoinOptions){.window_ns = BB_JOIN_WINDOW_NS,
                                          .held_max = BB_JOIN_HELD,
                                          .repair = repair});
        if (repair)
            MERGE_EXPECT(merge, "1.5 C c s id7 obs=a", "1.5 R s c id7 obs=b");
        else
            MERGE_EXPECT(merge, "1.4 R s c id7 obs=b", "1.5 C c s id7 obs=a");
        ck_assert_uint_eq(bb_join_count(merge->join, BB_JOIN_MOVED), repair);
        ck_assert_uint_eq(bb_join_count(merge->join, BB_JOIN_PRECEDES), !repair);
    }
}
END_TEST

START_TEST(disorder_within_the_window_is_put_right)
{
    g_autoptr(Merge) merge = merge_new();
    MERGE_ADD(merge, "a.txt", "3 M c s id3", "1 M c s id1", "2 M c s id2");
    MERGE_ADD(merge, "b.txt", "2.9 M c s id3", "2.5 M c s id9");
    MERGE_ADD(merge, "empty.txt", NULL);
    merge_with(merge, BB_JOIN_KEYS);
    MERGE_EXPECT(merge, "1 M c s id1 obs=a", "2 M c s id2 obs=a", "2.5 M c s id9 obs=b",
                 "2.9 M c s id3 recv=3 obs=b");
}
END_TEST

START_TEST(where_room_is_short_the_oldest_goes_early)
{
    g_autoptr(Merge) merge = merge_new();
    MERGE_ADD(merge, "a.txt", "1 M c s id1", "1.1 M c s id2", "1.2 M c s id3");
    MERGE_ADD(merge, "b.txt", "1.15 M c s id2", "1.3 M c s id1");
    merge_run(merge, &(BbJoinOptions){.window_ns = BB_JOIN_WINDOW_NS, .held_max = 2});
    MERGE_EXPECT(merge, "1 M c s id1 obs=a", "1.1 M c s id2 recv=1.15 obs=a", "1.2 M c s id3 obs=a",
                 "1.3 M c s id1 obs=b");
    ck_assert_uint_eq(bb_join_count(merge->join, BB_JOIN_EARLY), 2);
}
END_TEST

START_TEST(identical_times_keep_the_order_of_the_inputs)
{
    g_autoptr(Merge) merge = merge_new();
    MERGE_ADD(merge, "b.txt", "1 M c s id1", "1 M c s id2");
    MERGE_ADD(merge, "a.txt", "1 M c s id3", "1 M c s id2", "1 M c s id4");
    merge_with(merge, BB_JOIN_KEYS);
    MERGE_EXPECT(merge, "1 M c s id1 obs=b", "1 M c s id2 recv=1 obs=b", "1 M c s id3 obs=a",
                 "1 M c s id4 obs=a");
}
END_TEST

// One came too late to know the protocol.
START_TEST(the_decoded_sighting_counts)
{
    g_autoptr(Merge) merge = merge_new();
    MERGE_ADD(merge, "a.txt", "1.1 M c s - end=1.1 bytes=5 conn=x-y off=5 proto=tcp");
    MERGE_ADD(merge, "b.txt", "1.2 C c s 3 end=1.3 op=GET bytes=9 conn=x-y off=5 proto=http",
              "1.4 R s c 3 end=1.4 bytes=9 conn=x-y off=6 proto=http");
    merge_with(merge, BB_JOIN_KEYS);
    MERGE_EXPECT(merge,
                 "1.1 C c s 1 recv=1.2 end=1.1 op=GET bytes=9 conn=x-y off=5 obs=a proto=http",
                 "1.4 R s c 1 end=1.4 bytes=9 conn=x-y off=6 obs=b proto=http");
    ck_assert_uint_eq(bb_join_count(merge->join, BB_JOIN_OTHER_KIND), 1);
}
END_TEST

START_TEST(names_that_differ_are_a_hint)
{
    g_autoptr(Merge) merge = merge_new();
    MERGE_ADD(merge, "a.txt", SEEN("1.1", "M c s -", "5"), SEEN("1.5", "M c s -", "15"));
    MERGE_ADD(merge, "b.txt", SEEN("1.2", "M c t -", "5"), SEEN("1.6", "M c t -", "15"));
    merge_with(merge, BB_JOIN_KEYS);
    ck_assert_uint_eq(merge->lines->len, 2);
    g_autoptr(GArray) names = bb_join_names(merge->join);
    ck_assert_uint_eq(names->len, 1);
    const BbJoinNames *apart = &g_array_index(names, BbJoinNames, 0);
    ck_assert_str_eq(bb_names_text(merge->names, apart->name), "s");
    ck_assert_str_eq(bb_names_text(merge->names, apart->other), "t");
    ck_assert_uint_eq(apart->count, 2);
}
END_TEST

// A trace cut in two within a call, by who names the observer.
START_TEST(pieces_of_one_trace_keep_their_calls)
{
    g_autoptr(Merge) merge = merge_new();
    MERGE_ADD(merge, "x.txt", SEEN("1", "C d s 1", "1") " obs=z");
    MERGE_ADD(merge, "a1.txt", SEEN("1.1", "C c s 1", "5") " obs=a");
    MERGE_ADD(merge, "a2.txt", SEEN("1.2", "C c s 2", "6") " obs=a",
              SEEN("1.3", "R s c 1", "7") " obs=a");
    merge_with(merge, BB_JOIN_KEYS);
    MERGE_EXPECT(merge, OUT("1", "C d s 1", "", "1", "z"), OUT("1.1", "C c s 2", "", "5", "a"),
                 OUT("1.2", "C c s 3", "", "6", "a"), OUT("1.3", "R s c 2", "", "7", "a"));
}
END_TEST

static bool refuse(const BbMessage *message, gpointer user, GError **error)
{
    g_set_error_literal(error, BB_TRACE_ERROR, BB_TRACE_ERROR_MESSAGE, "full");
    return false;
}

// Snapshots that overlap, or merges that have an observer in common, whose ids are their own.
START_TEST(what_an_observer_tells_again_is_one)
{
#define OF(time, words, more, position) \
    time " " words more " end=" time " bytes=9 conn=x-y off=" position " obs=a proto=http"
    g_autoptr(Merge) merge = merge_new();
    MERGE_ADD(merge, "s1.txt", OF("1.1", "C c s 1", "", "5"), OF("1.4", "R s c 1", "", "6"),
              OF("1.5", "C c s 2", "", "7"));
    MERGE_ADD(merge, "s2.txt", OF("1.1", "C c s 8", " recv=1.2", "5"),
              OF("1.4", "R s c 8", "", "6"), OF("1.5", "C c s 9", "", "7"),
              OF("1.8", "R s c 9", "", "8"));
    MERGE_ADD(merge, "b.txt", SEEN("1.3", "R s c 3", "6"), SEEN("1.6", "C c s 4", "7"));
    merge_with(merge, BB_JOIN_KEYS);
    MERGE_EXPECT(merge, OF("1.1", "C c s 1", " recv=1.2", "5"),
                 OUT("1.3", "R s c 1", " recv=1.4", "6", "b"),
                 OF("1.5", "C c s 2", " recv=1.6", "7"), OF("1.8", "R s c 2", "", "8"));
    ck_assert_uint_eq(bb_join_count(merge->join, BB_JOIN_AGAIN), 3);
    ck_assert_uint_eq(bb_join_count(merge->join, BB_JOIN_JOINED), 2);
    ck_assert_uint_eq(bb_join_count(merge->join, BB_JOIN_BY_POSITION), 2);
    g_autoptr(GArray) pairs = bb_overlap_pairs(bb_join_overlap(merge->join), merge->names);
    ck_assert_uint_eq(pairs->len, 1);
    ck_assert_uint_eq(g_array_index(pairs, BbOverlapPair, 0).both, 2);
#undef OF
}
END_TEST

// An id alone, made up or of the wire: the same at one time only.
START_TEST(ids_that_come_again_at_another_time_are_others)
{
    static const char *const more[] = {"obs=a", "end=1.1 bytes=9 obs=a proto=http"};
    for (guint i = 0; i < 4; i++) {
        g_autoptr(Merge) merge = merge_new();
        g_autofree char *first = g_strdup_printf("1.1 C c s 1 %s", more[i / 2]);
        g_autofree char *second = g_strdup_printf("1.%u C c s 1 %s", 1 + i % 2, more[i / 2]);
        MERGE_ADD(merge, "s1.txt", first);
        MERGE_ADD(merge, "s2.txt", second);
        merge_with(merge, BB_JOIN_KEYS);
        ck_assert_uint_eq(merge->lines->len, 1 + i % 2);
    }
}
END_TEST

START_TEST(a_failing_sink_ends_the_join)
{
    g_autoptr(BbNames) names = bb_names_new();
    g_autoptr(GError) error = NULL;
    g_autoptr(BbJoin) join =
        bb_join_new(&(BbJoinOptions){.window_ns = 10, .held_max = 10}, names, refuse, NULL);
    BbMessage message = bb_message_empty();
    message.sender = message.receiver = bb_names_intern(names, "a");
    message.observer = bb_names_intern(names, "o");
    message.kind = BB_CALL;
    message.id = bb_id_number(1);
    message.time_ns = 100;
    ck_assert(bb_join_push(join, &message, 0, &error));
    bool going_on = true;
    for (guint i = 0; i < 20 && going_on; i++) {
        message.time_ns += 100;
        going_on = bb_join_push(join, &message, 0, &error);
    }
    ck_assert(!going_on);
    ck_assert_str_eq(error->message, "full");
}
END_TEST

START_TEST(a_sink_that_fails_late_ends_the_join)
{
    g_autoptr(BbNames) names = bb_names_new();
    g_autoptr(GError) error = NULL;
    g_autoptr(BbJoin) join =
        bb_join_new(&(BbJoinOptions){.window_ns = 10, .held_max = 10}, names, refuse, NULL);
    BbMessage message = bb_message_empty();
    message.sender = message.receiver = bb_names_intern(names, "a");
    for (guint i = 0; i < 2; i++) {
        message.time_ns += 100;
        ck_assert(bb_join_push(join, &message, 0, &error));
    }
    ck_assert(!bb_join_finish(join, &error));
    ck_assert_str_eq(error->message, "full");
}
END_TEST

static bool take_one(const BbMessage *message, gpointer user, GError **error)
{
    gint64 *last_ns = user;
    *last_ns = message->time_ns;
    return true;
}

// One log behind another, in one file: all of the second is older than what waits, or between it.
// Were its place looked for from the youngest on each would pass all, which takes longer than a
// test may.
static void join_two_logs(gint64 step_ns, gint64 first_ns, gint64 second_ns)
{
    const gint64 n = 200000;
    gint64 last_ns = -1;
    g_autoptr(BbNames) names = bb_names_new();
    g_autoptr(BbJoin) join = bb_join_new(
        &(BbJoinOptions){.window_ns = 2 * n, .held_max = BB_JOIN_HELD, .by = BB_JOIN_NONE}, names,
        take_one, &last_ns);
    BbMessage message = bb_message_empty();
    message.sender = message.receiver = bb_names_intern(names, "a");
    message.observer = bb_names_intern(names, "o");
    message.kind = BB_FREE;
    for (gint64 i = 0; i < 2 * n; i++) {
        message.time_ns = i < n ? first_ns + i * step_ns : second_ns + (i - n) * step_ns;
        ck_assert(bb_join_push(join, &message, 0, NULL));
    }
    ck_assert(bb_join_finish(join, NULL));
    ck_assert_int_eq(last_ns, MAX(first_ns, second_ns) + (n - 1) * step_ns);
    ck_assert_uint_eq(bb_join_count(join, BB_JOIN_LATE), 0);
}

START_TEST(what_is_late_passes_few)
{
    join_two_logs(1, 200000, 0);
    join_two_logs(2, 0, 1);
    join_two_logs(2, 1, 0);
}
END_TEST

typedef struct {
    gint64 time_ns;
    guint64 number;
} Place;

static bool take_in_order(const BbMessage *message, gpointer user, GError **error)
{
    Place *last = user;
    ck_assert_int_ge(message->time_ns, last->time_ns);
    if (message->time_ns == last->time_ns)
        ck_assert_uint_gt(message->bytes, last->number);
    *last = (Place){message->time_ns, message->bytes};
    return true;
}

// Wherever the next one comes among those that wait, and those near it have left.
START_TEST(any_order_comes_out_in_order)
{
    guint32 seed = test_seed("join order");
    for (guint round = 0; round < 60; round++) {
        g_autoptr(GRand) rand = g_rand_new_with_seed(seed + round);
        gint32 late = 1 + g_rand_int_range(rand, 0, round % 2 ? 20 : 500);
        Place last = {-1, 0};
        g_autoptr(BbNames) names = bb_names_new();
        g_autoptr(BbJoin) join = bb_join_new(
            &(BbJoinOptions){.window_ns = 500, .held_max = BB_JOIN_HELD, .by = BB_JOIN_NONE}, names,
            take_in_order, &last);
        BbMessage message = bb_message_empty();
        message.sender = message.receiver = bb_names_intern(names, "a");
        message.observer = bb_names_intern(names, "o");
        message.kind = BB_FREE;
        for (gint32 i = 1; i <= 2000; i++) {
            message.time_ns = 500 + i / 2;
            if (g_rand_boolean(rand))
                message.time_ns -= g_rand_int_range(rand, 0, late);
            message.bytes = (guint64)i;
            ck_assert(bb_join_push(join, &message, 0, NULL));
        }
        ck_assert(bb_join_finish(join, NULL));
        ck_assert_uint_eq(bb_join_count(join, BB_JOIN_LATE), 0);
    }
}
END_TEST

TEST_MAIN("join", two_sightings_are_one_message_with_both_times,
          a_mirror_between_gives_neither_time, unread_is_what_one_has_seen,
          what_ends_a_call_has_its_id, a_clock_that_is_not_known_adds_no_time,
          what_one_side_lost_passes, made_up_ids_of_two_observers_never_meet,
          ids_from_the_wire_join_and_stay, an_id_used_again_is_another_message,
          received_lines_join_sent_lines_of_one_trace, without_keys_order_and_time_decide,
          what_order_makes_later_waits, a_constant_id_costs_little,
          a_usual_delay_tells_dense_messages_apart, order_joins_what_has_other_keys_where_asked,
          nothing_joins_where_told, sightings_beyond_the_window_are_two_messages,
          a_reply_moves_behind_its_call_where_it_may, disorder_within_the_window_is_put_right,
          where_room_is_short_the_oldest_goes_early, identical_times_keep_the_order_of_the_inputs,
          the_decoded_sighting_counts, names_that_differ_are_a_hint,
          pieces_of_one_trace_keep_their_calls, what_an_observer_tells_again_is_one,
          ids_that_come_again_at_another_time_are_others, a_failing_sink_ends_the_join,
          a_sink_that_fails_late_ends_the_join, what_is_late_passes_few,
          any_order_comes_out_in_order)
