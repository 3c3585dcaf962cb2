// SPDX-License-Identifier: Apache-2.0
// Messages as convolution sees them: in order of time, on edges in order of names, sightings of one
// message joined, arrivals in an order of their own.
#include "data/status.h"
#include "tests/unit/planted.h"

#include <string.h>

static BbMessage message_of(Planted *planted, const char *from, const char *to, gint64 at_ns)
{
    BbMessage message = bb_message_empty();
    message.sender = bb_names_intern(planted->names, from);
    message.receiver = bb_names_intern(planted->names, to);
    message.time_ns = at_ns;
    return message;
}

// "A>B@10/12 ...": messages in order, sent and arrived.
static char *text_of(const BbTraffic *traffic)
{
    GString *text = g_string_new(NULL);
    for (guint32 i = 0; i < traffic->n_messages; i++) {
        const BbCall *message = &traffic->messages[i];
        g_string_append_printf(
            text, "%s%s>%s@%d", i ? " " : "", bb_names_text(traffic->names, message->caller),
            bb_names_text(traffic->names, message->callee), (int)message->call_ns);
        if (message->arrived_ns != message->call_ns)
            g_string_append_printf(text, "/%d", (int)message->arrived_ns);
    }
    return g_string_free(text, FALSE);
}

static void expect(Planted *planted, const char *wanted)
{
    bb_traffic_finish(planted->traffic);
    g_autofree char *found = text_of(planted->traffic);
    ck_assert_str_eq(found, wanted);
}

// Everything that the header promises of the tables.
static void check_tables(const BbTraffic *traffic)
{
    guint32 listed = 0;
    for (guint32 e = 0; e < traffic->n_edges; e++) {
        const BbEdge *edge = &traffic->edges[e];
        ck_assert_uint_eq(edge->first, listed);
        ck_assert_uint_gt(edge->count, 0);
        if (e > 0) {
            int order = strcmp(bb_names_text(traffic->names, edge[-1].sender),
                               bb_names_text(traffic->names, edge->sender));
            ck_assert(order < 0 ||
                      (order == 0 && strcmp(bb_names_text(traffic->names, edge[-1].receiver),
                                            bb_names_text(traffic->names, edge->receiver)) < 0));
        }
        for (guint32 k = 0; k < edge->count; k++, listed++) {
            guint32 i = traffic->by_edge[listed], arrived = traffic->arrived[listed];
            ck_assert_uint_eq(traffic->edge[i], e);
            ck_assert_uint_eq(traffic->edge[arrived], e);
            ck_assert_uint_eq(traffic->messages[i].caller, edge->sender);
            ck_assert_uint_eq(traffic->messages[i].callee, edge->receiver);
            ck_assert_int_eq(traffic->sent_ns[listed], traffic->messages[i].call_ns);
            ck_assert_int_eq(traffic->arrived_ns[listed], traffic->messages[arrived].arrived_ns);
            if (k == 0)
                continue;
            ck_assert_uint_lt(traffic->by_edge[listed - 1], i);
            ck_assert_int_le(traffic->arrived_ns[listed - 1], traffic->arrived_ns[listed]);
        }
    }
    ck_assert_uint_eq(listed, traffic->n_messages);
    for (guint32 i = 1; i < traffic->n_messages; i++)
        ck_assert_int_le(traffic->messages[i - 1].call_ns, traffic->messages[i].call_ns);
}

START_TEST(messages_in_order_of_time)
{
    g_autoptr(Planted) planted = planted_new(1);
    planted_send(planted, "A", "B", 30, PLANTED_ROOT);
    planted_send(planted, "B", "C", 10, PLANTED_ROOT);
    planted_send(planted, "C", "A", 20, PLANTED_ROOT);
    planted_send(planted, "Z", "Y", 20, PLANTED_ROOT); // a tie: as it was pushed
    planted_send(planted, "A", "B", 20, PLANTED_ROOT);
    expect(planted, "B>C@10 C>A@20 Z>Y@20 A>B@20 A>B@30");
    check_tables(planted->traffic);
    ck_assert_int_eq(planted->traffic->start_ns, 10);
    ck_assert_int_eq(planted->traffic->end_ns, 30);
}
END_TEST

// It is no message of a node.
START_TEST(a_connection_that_is_closed)
{
    g_autoptr(Planted) planted = planted_new(1);
    planted_send(planted, "A", "B", 10, PLANTED_ROOT);
    BbMessage end = bb_message_empty();
    end.id = bb_id_number(1);
    end.sender = bb_names_intern(planted->names, "A");
    end.receiver = bb_names_intern(planted->names, "B");
    end.status = bb_names_intern(planted->names, BB_STATUS_CLOSED);
    end.time_ns = 20;
    ck_assert(bb_traffic_push(planted->traffic, &end));
    end.kind = BB_RETURN; // which is one
    ck_assert(bb_traffic_push(planted->traffic, &end));
    expect(planted, "A>B@10 A>B@20");
    ck_assert_uint_eq(planted->traffic->facts.free_messages, 1); // the first one
}
END_TEST

START_TEST(edges_in_order_of_names)
{
    g_autoptr(Planted) planted = planted_new(1);
    planted_send(planted, "b", "a", 1, PLANTED_ROOT);
    planted_send(planted, "a", "c", 2, PLANTED_ROOT);
    planted_send(planted, "a", "b", 3, PLANTED_ROOT);
    planted_send(planted, "b", "a", 4, PLANTED_ROOT);
    planted_send(planted, "a", "a", 5, PLANTED_ROOT);
    planted_send(planted, "B", "a", 6, PLANTED_ROOT);
    bb_traffic_finish(planted->traffic);
    const BbTraffic *traffic = planted->traffic;
    const char *const wanted[][2] = {{"B", "a"}, {"a", "a"}, {"a", "b"}, {"a", "c"}, {"b", "a"}};
    ck_assert_uint_eq(traffic->n_edges, G_N_ELEMENTS(wanted));
    for (guint i = 0; i < G_N_ELEMENTS(wanted); i++) {
        ck_assert_str_eq(bb_names_text(traffic->names, traffic->edges[i].sender), wanted[i][0]);
        ck_assert_str_eq(bb_names_text(traffic->names, traffic->edges[i].receiver), wanted[i][1]);
    }
    ck_assert_uint_eq(traffic->edges[4].count, 2);
    check_tables(traffic);
}
END_TEST

START_TEST(sightings_of_one_message_join)
{
    g_autoptr(Planted) planted = planted_new(1);
    BbMessage there = message_of(planted, "A", "B", 12), here = message_of(planted, "A", "B", 10);
    there.id = here.id = bb_id_number(7);
    there.at_receiver = true;
    ck_assert(bb_traffic_push(planted->traffic, &there));
    ck_assert(bb_traffic_push(planted->traffic, &here));
    expect(planted, "A>B@10/12");
    ck_assert_uint_eq(planted->traffic->facts.messages, 2); // read
    ck_assert_int_eq(planted->traffic->start_ns, 10);
    ck_assert_int_eq(planted->traffic->end_ns, 12);
}
END_TEST

START_TEST(sightings_of_others_do_not_join)
{
    g_autoptr(Planted) planted = planted_new(1);
    const BbMessage base = message_of(planted, "A", "B", 10);
    BbMessage others[4];
    for (guint i = 0; i < G_N_ELEMENTS(others); i++) {
        others[i] = base;
        others[i].at_receiver = true;
        others[i].time_ns = 20 + i;
        others[i].id = bb_id_number(1);
    }
    others[0].sender = bb_names_intern(planted->names, "C");
    others[1].receiver = bb_names_intern(planted->names, "C");
    others[2].id = bb_id_number(2);
    others[3].id = (BbId){0};
    BbMessage first = base;
    first.id = bb_id_number(1);
    bb_traffic_push(planted->traffic, &first);
    for (guint i = 0; i < G_N_ELEMENTS(others); i++)
        bb_traffic_push(planted->traffic, &others[i]);
    expect(planted, "A>B@10 C>B@20 A>C@21 A>B@22 A>B@23");
}
END_TEST

// What nothing tells apart is joined by rank; who is left over stands for himself.
START_TEST(the_kth_here_is_the_kth_there)
{
    g_autoptr(Planted) planted = planted_new(1);
    const gint64 sent[] = {30, 10, 20}, seen[] = {35, 15, 45, 25};
    for (guint i = 0; i < G_N_ELEMENTS(sent); i++) {
        BbMessage message = message_of(planted, "A", "B", sent[i]);
        bb_traffic_push(planted->traffic, &message);
    }
    for (guint i = 0; i < G_N_ELEMENTS(seen); i++) {
        BbMessage message = message_of(planted, "A", "B", seen[i]);
        message.at_receiver = true;
        bb_traffic_push(planted->traffic, &message);
    }
    expect(planted, "A>B@10/15 A>B@20/25 A>B@30/35 A>B@45");
    check_tables(planted->traffic);
}
END_TEST

START_TEST(arrivals_have_their_own_order)
{
    g_autoptr(Planted) planted = planted_new(1);
    const gint64 times[][2] = {{10, 50}, {20, 30}, {30, 30}, {40, BB_TIME_NONE}, {5, 2}};
    for (guint i = 0; i < G_N_ELEMENTS(times); i++) {
        BbMessage message = message_of(planted, "A", "B", times[i][0]);
        message.recv_ns = times[i][1];
        bb_traffic_push(planted->traffic, &message);
    }
    expect(planted, "A>B@5/2 A>B@10/50 A>B@20/30 A>B@30 A>B@40");
    check_tables(planted->traffic);
    const guint32 arrived[] = {0, 2, 3, 4, 1};
    ck_assert_mem_eq(planted->traffic->arrived, arrived, sizeof arrived);
    ck_assert_int_eq(planted->traffic->start_ns, 2); // by whichever clock
    ck_assert_int_eq(planted->traffic->end_ns, 50);
}
END_TEST

START_TEST(kinds_are_alike_and_counted)
{
    g_autoptr(Planted) planted = planted_new(1);
    const BbKind kinds[] = {BB_CALL, BB_RETURN, BB_FREE, BB_FREE};
    for (guint i = 0; i < G_N_ELEMENTS(kinds); i++) {
        BbMessage message = message_of(planted, i == 1 ? "B" : "A", i == 1 ? "A" : "B", 10 * i);
        message.kind = kinds[i];
        message.op = 1;
        bb_traffic_push(planted->traffic, &message);
    }
    BbCall again = {.call_ns = 5, .arrived_ns = 6, .return_ns = BB_TIME_NONE};
    again.caller = bb_names_find(planted->names, "B");
    again.callee = bb_names_find(planted->names, "A");
    bb_traffic_push_call(planted->traffic, &again);
    expect(planted, "A>B@0 B>A@5/6 B>A@10 A>B@20 A>B@30");
    const BbFacts *facts = &planted->traffic->facts;
    ck_assert_uint_eq(facts->messages, 4); // what was carried is not counted again
    ck_assert_uint_eq(facts->calls, 1);
    ck_assert_uint_eq(facts->free_messages, 2);
    ck_assert_int_eq(facts->start_ns, 0);
    ck_assert_int_eq(facts->end_ns, 30);
    for (guint32 i = 0; i < planted->traffic->n_messages; i++)
        ck_assert(!bb_call_is_returned(&planted->traffic->messages[i]));
    ck_assert_uint_eq(planted->traffic->messages[0].op, 1);
}
END_TEST

// Who is asked nothing has nothing to answer, also in the windows to come.
START_TEST(clients_are_known)
{
    g_autoptr(Planted) planted = planted_new(1);
    planted_send_kind(planted, BB_CALL, "A", "B", 10, PLANTED_ROOT);
    planted_send_kind(planted, BB_RETURN, "B", "A", 20, 0);
    planted_send_kind(planted, BB_FREE, "C", "D", 30, PLANTED_ROOT);
    bb_traffic_finish(planted->traffic);
    g_autoptr(BbTraffic) next = bb_traffic_new_after(planted->traffic);
    const BbTraffic *const windows[] = {planted->traffic, next};
    for (guint i = 0; i < 2; i++) {
        ck_assert(bb_traffic_is_client(windows[i], bb_names_find(planted->names, "A")));
        ck_assert(!bb_traffic_is_client(windows[i], bb_names_find(planted->names, "B")));
        ck_assert(bb_traffic_is_client(windows[i], bb_names_find(planted->names, "C")));
        ck_assert(!bb_traffic_is_client(windows[i], bb_names_find(planted->names, "D")));
        ck_assert(bb_traffic_is_client(windows[i], 1000));
    }
    bb_traffic_finish(next);
    ck_assert_uint_eq(next->n_messages, 0);
}
END_TEST

START_TEST(nothing_is_nothing)
{
    g_autoptr(Planted) planted = planted_new(1);
    bb_traffic_finish(planted->traffic);
    ck_assert_uint_eq(planted->traffic->n_messages, 0);
    ck_assert_uint_eq(planted->traffic->n_edges, 0);
    ck_assert_int_eq(planted->traffic->start_ns, BB_TIME_NONE);
    ck_assert_int_eq(planted->traffic->end_ns, BB_TIME_NONE);
    ck_assert_int_eq(planted->traffic->facts.start_ns, BB_TIME_NONE);
}
END_TEST

START_TEST(any_order_gives_the_same)
{
    BbRandom random = bb_random_start(test_seed("traffic"));
    const char *const nodes[] = {"a", "b", "c", "d"};
    g_autoptr(GArray) all = g_array_new(FALSE, FALSE, sizeof(BbMessage));
    g_autofree char *first = NULL;
    for (guint round = 0; round < 5; round++) {
        g_autoptr(Planted) planted = planted_new(1);
        for (guint i = 0; i < 4; i++) // names as numbers of any order
            bb_names_intern(planted->names, nodes[(i + round) % 4]);
        for (guint i = 0; round == 0 && i < 500; i++) {
            BbMessage message = message_of(planted, nodes[bb_random_below(&random, 4)],
                                           nodes[bb_random_below(&random, 4)], 7 * (gint64)i);
            message.recv_ns = message.time_ns + (gint64)bb_random_below(&random, 100);
            g_array_append_val(all, message);
        }
        for (guint i = all->len; round > 0 && i > 1; i--) {
            guint k = (guint)bb_random_below(&random, i);
            BbMessage swap = g_array_index(all, BbMessage, i - 1);
            g_array_index(all, BbMessage, i - 1) = g_array_index(all, BbMessage, k);
            g_array_index(all, BbMessage, k) = swap;
        }
        for (guint i = 0; i < all->len; i++) {
            BbMessage message = g_array_index(all, BbMessage, i);
            message.sender = bb_names_find(planted->names, nodes[message.sender - 1]);
            message.receiver = bb_names_find(planted->names, nodes[message.receiver - 1]);
            bb_traffic_push(planted->traffic, &message);
        }
        bb_traffic_finish(planted->traffic);
        check_tables(planted->traffic);
        g_autofree char *text = text_of(planted->traffic);
        if (first)
            ck_assert_str_eq(text, first);
        else
            first = g_steal_pointer(&text);
    }
}
END_TEST

TEST_MAIN("traffic", messages_in_order_of_time, a_connection_that_is_closed,
          edges_in_order_of_names, sightings_of_one_message_join, sightings_of_others_do_not_join,
          the_kth_here_is_the_kth_there, arrivals_have_their_own_order, kinds_are_alike_and_counted,
          clients_are_known, nothing_is_nothing, any_order_gives_the_same)
