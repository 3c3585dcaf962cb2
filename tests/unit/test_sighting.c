// SPDX-License-Identifier: Apache-2.0
// Keys of sightings: what they are made of, what joins and what never does. The sample of them.
#include "merge/sightings.h"
#include "tests/unit/test.h"

#include "data/random.h"

static BbMessage message(BbNames *names, BbKind kind, const char *from, const char *to,
                         const char *id)
{
    BbMessage m = bb_message_empty();
    m.kind = kind;
    m.time_ns = 1000;
    m.sender = bb_names_intern(names, from);
    m.receiver = bb_names_intern(names, to);
    m.id = bb_id_parse(names, id);
    return m;
}

static BbMessage at(BbMessage m, const char *conn, guint64 offset)
{
    m.conn = conn;
    m.offset = offset;
    return m;
}

static bool joins(const BbNames *names, BbMessage a, BbMessage b, bool same_trace,
                  bool same_observer)
{
    BbSightingKey x = bb_sighting_key(&a, names), y = bb_sighting_key(&b, names);
    bool joined = bb_sighting_joins(&x, &y, same_trace, same_observer);
    ck_assert(joined == bb_sighting_joins(&y, &x, same_trace, same_observer));
    return joined;
}

// Whether two observers' traces would join them.
static bool meet(const BbNames *names, BbMessage a, BbMessage b)
{
    return joins(names, a, b, false, false);
}

START_TEST(position_is_connection_offset_and_direction)
{
    g_autoptr(BbNames) names = bb_names_new();
    BbMessage m = at(message(names, BB_CALL, "x", "y", "1"), "1.1.1.1:5-2.2.2.2:80", 77);
    ck_assert_int_eq(bb_sighting_key(&m, names).by, BB_SIGHTING_BY_POSITION);
    ck_assert(meet(names, m, m));
    ck_assert(!meet(names, m, at(m, "1.1.1.1:5-2.2.2.2:80", 78)));
    ck_assert(!meet(names, m, at(m, "1.1.1.1:5-2.2.2.2:81", 77)));
    BbMessage back = at(message(names, BB_RETURN, "y", "x", "1"), m.conn, m.offset);
    ck_assert(!meet(names, m, back));
    // Ids, kinds and the rest are what each observer made of it.
    BbMessage seen = at(message(names, BB_FREE, "x", "y", "999"), m.conn, m.offset);
    seen.time_ns = -5;
    ck_assert(meet(names, m, seen));
}
END_TEST

// Names that differ do no harm, however they sort: one that both have tells, else the kind.
START_TEST(direction_stands_other_names)
{
    g_autoptr(BbNames) names = bb_names_new();
    BbMessage m = at(message(names, BB_CALL, "a", "y", "1"), "c", 1);
    ck_assert(meet(names, m, at(message(names, BB_CALL, "b", "y", "1"), "c", 1)));
    ck_assert(meet(names, m, at(message(names, BB_CALL, "z", "y", "1"), "c", 1)));
    ck_assert(meet(names, m, at(message(names, BB_FREE, "z", "y", "1"), "c", 1)));
    ck_assert(!meet(names, m, at(message(names, BB_CALL, "y", "z", "1"), "c", 1)));
    ck_assert(!meet(names, m, at(message(names, BB_FREE, "y", "z", "1"), "c", 1)));
    ck_assert(meet(names, m, at(message(names, BB_CALL, "z", "b", "1"), "c", 1)));
    ck_assert(meet(names, m, at(message(names, BB_FREE, "z", "b", "1"), "c", 1)));
    ck_assert(!meet(names, m, at(message(names, BB_RETURN, "b", "z", "1"), "c", 1)));
    // A host that talks to itself: the kind tells the directions.
    BbMessage call = at(message(names, BB_CALL, "a", "a", "1"), "c", 1);
    BbMessage ret = at(message(names, BB_RETURN, "a", "a", "1"), "c", 1);
    ck_assert(meet(names, call, call));
    ck_assert(!meet(names, call, ret));
}
END_TEST

START_TEST(ids_of_the_wire_join)
{
    g_autoptr(BbNames) names = bb_names_new();
    BbMessage m = message(names, BB_CALL, "x", "y", "17c7773694202da1");
    ck_assert_int_eq(bb_sighting_key(&m, names).by, BB_SIGHTING_BY_ID);
    ck_assert(meet(names, m, m));
    ck_assert(!meet(names, m, message(names, BB_CALL, "x", "y", "17c7773694202da2")));
    ck_assert(!meet(names, m, message(names, BB_RETURN, "x", "y", "17c7773694202da1")));
    ck_assert(!meet(names, m, message(names, BB_CALL, "y", "x", "17c7773694202da1")));
    ck_assert(!meet(names, m, message(names, BB_CALL, "x", "z", "17c7773694202da1")));
    static const char *const ids[] = {"id37", "id38", "ie37", "37", "id", "é", "0", "00"};
    for (gsize i = 0; i < G_N_ELEMENTS(ids); i++)
        for (gsize k = 0; k < G_N_ELEMENTS(ids); k++)
            ck_assert(meet(names, message(names, BB_CALL, "x", "y", ids[i]),
                           message(names, BB_CALL, "x", "y", ids[k])) == (i == k));
}
END_TEST

START_TEST(no_id_no_key)
{
    g_autoptr(BbNames) names = bb_names_new();
    BbMessage m = message(names, BB_CALL, "x", "y", "-");
    BbSightingKey key = bb_sighting_key(&m, names);
    ck_assert_int_eq(key.by, BB_SIGHTING_BY_ORDER);
    ck_assert(key.hi == 0 && key.lo == 0);
    ck_assert(!meet(names, m, m));
    m.id = (BbId){0};
    m.conn = "c"; // a connection without an offset is no position
    ck_assert_int_eq(bb_sighting_key(&m, names).by, BB_SIGHTING_BY_ORDER);
    m.conn = NULL;
    m.offset = 5;
    ck_assert_int_eq(bb_sighting_key(&m, names).by, BB_SIGHTING_BY_ORDER);
}
END_TEST

// As capture writes UDP: proto, bytes, end and a number.
START_TEST(ids_of_a_capture_stay_at_home)
{
    g_autoptr(BbNames) names = bb_names_new();
    BbMessage m = message(names, BB_CALL, "x", "y", "37");
    ck_assert(!bb_sighting_id_is_local(&m));
    m.proto = bb_names_intern(names, "dns");
    m.bytes = 40;
    ck_assert(!bb_sighting_id_is_local(&m));
    m.end_ns = m.time_ns;
    ck_assert(bb_sighting_id_is_local(&m));
    ck_assert(!meet(names, m, m));
    BbMessage wire = m;
    wire.id = bb_id_parse(names, "id37");
    ck_assert(!bb_sighting_id_is_local(&wire) && meet(names, wire, wire));
    BbMessage recv = m;
    recv.at_receiver = true;
    ck_assert(!bb_sighting_id_is_local(&recv));
    ck_assert(!meet(names, m, recv));
    ck_assert(joins(names, m, recv, true, true)); // of one trace, its own words
    // Where the position is known the id does not matter.
    BbSightingKey key = {0};
    m.conn = "c";
    m.offset = 9;
    key = bb_sighting_key(&m, names);
    ck_assert(!key.local && meet(names, m, m));
}
END_TEST

START_TEST(recv_joins_sent)
{
    g_autoptr(BbNames) names = bb_names_new();
    BbMessage sent = message(names, BB_CALL, "x", "y", "5"), recv = sent;
    recv.at_receiver = true;
    ck_assert(joins(names, sent, recv, true, true));
    ck_assert(joins(names, sent, recv, false, false));
    ck_assert(!joins(names, sent, sent, true, true)); // the same observer twice: an id used again
    ck_assert(!joins(names, recv, recv, true, true));
}
END_TEST

START_TEST(keys_do_not_depend_on_tables)
{
    g_autoptr(BbNames) names = bb_names_new(), others = bb_names_new();
    bb_names_intern(others, "before");
    BbMessage a = message(names, BB_CALL, "x", "y", "id9");
    BbMessage b = message(others, BB_CALL, "x", "y", "id9");
    ck_assert(a.sender != b.sender);
    BbSightingKey x = bb_sighting_key(&a, names), y = bb_sighting_key(&b, others);
    ck_assert(bb_sighting_joins(&x, &y, false, false));
}
END_TEST

// ---- the sample --------------------------------------------------------------------------------

static BbSeen seen(guint64 key, guint32 observer, guint32 sender, guint32 receiver)
{
    return (BbSeen){
        .hi = key, .lo = ~key, .observer = observer, .sender = sender, .receiver = receiver};
}

START_TEST(a_sample_is_of_whole_messages)
{
    // 20,000 messages, which one observer sees first and then, all over again, the other one.
    g_autoptr(BbSightings) sightings = bb_sightings_new(1000);
    for (guint32 observer = 0; observer < 2; observer++) {
        BbRandom random = bb_random_start(7);
        for (guint i = 0; i < 20000; i++) {
            BbSeen s = seen(bb_random_bits(&random), observer, 1 + i % 3, 10);
            bb_sightings_add(sightings, &s);
        }
    }
    ck_assert_uint_eq(bb_sightings_added(sightings), 40000);
    gsize kept = bb_sightings_kept(sightings);
    ck_assert_uint_ge(kept, 350);
    ck_assert_uint_le(kept, 1000);
    const BbSeen *s = bb_sightings_sort(sightings);
    ck_assert_uint_eq(kept % 2, 0);
    for (gsize i = 0; i < kept; i += 2) {
        ck_assert(s[i].hi == s[i + 1].hi);
        ck_assert(s[i].observer == 0 && s[i + 1].observer == 1);
        ck_assert(i == 0 || s[i].hi > s[i - 1].hi);
    }
}
END_TEST

START_TEST(rare_pairs_keep_their_messages)
{
    g_autoptr(BbSightings) sightings = bb_sightings_new(1000);
    BbRandom random = bb_random_start(8);
    guint rare = 0;
    for (guint i = 0; i < 50000; i++) {
        bool is_rare = i % 500 == 0;
        BbSeen s =
            seen(bb_random_bits(&random), 0, is_rare ? 5 : 1, is_rare ? i % 1000 ? 5 : 6 : 2);
        bb_sightings_add(sightings, &s);
    }
    gsize kept = bb_sightings_kept(sightings);
    const BbSeen *s = bb_sightings_sort(sightings);
    for (gsize i = 0; i < kept; i++)
        rare += s[i].sender == 5;
    ck_assert_uint_eq(rare, 100);
}
END_TEST

START_TEST(one_key_without_end)
{
    g_autoptr(BbSightings) sightings = bb_sightings_new(16);
    BbSeen s = seen(0, 0, 1, 2);
    for (guint i = 0; i < 100; i++)
        bb_sightings_add(sightings, &s);
    ck_assert_uint_le(bb_sightings_kept(sightings), 16);
    g_autoptr(BbSightings) none = bb_sightings_new(1);
    ck_assert_ptr_null(bb_sightings_sort(none));
}
END_TEST

// Of overlapping traces of one observer; at another time, or the other way, it is another one.
START_TEST(what_is_told_again_counts_once)
{
    g_autoptr(BbSightings) sightings = bb_sightings_new(100);
    for (guint again = 0; again < 3; again++)
        for (guint i = 0; i < 8; i++) {
            BbSeen s = seen(9, i % 2, 1 + i / 4, 2 - i / 4);
            s.time_ns = i / 2 % 2;
            bb_sightings_add(sightings, &s);
        }
    const BbSeen *s = bb_sightings_sort(sightings);
    ck_assert_uint_eq(bb_sightings_kept(sightings), 8);
    for (guint i = 0; i < 8; i++)
        ck_assert(s[i].observer == i / 4 && s[i].time_ns == i / 2 % 2 && s[i].sender == 1 + i % 2);
}
END_TEST

TEST_MAIN("sighting", position_is_connection_offset_and_direction, direction_stands_other_names,
          ids_of_the_wire_join, no_id_no_key, ids_of_a_capture_stay_at_home, recv_joins_sent,
          keys_do_not_depend_on_tables, a_sample_is_of_whole_messages,
          rare_pairs_keep_their_messages, one_key_without_end, what_is_told_again_counts_once)
