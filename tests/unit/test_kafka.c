// SPDX-License-Identifier: Apache-2.0
// Kafka: responses by correlation id, topics and error codes in old and flexible versions, what has
// no answer, SASL, loss.
#include "capture/loss.h"
#include "tests/unit/octets.h"

#define CLIENT "0003 'cli'"
#define VERSIONS "[0012 0000 00000001" CLIENT "]"
#define LOGIN "CALL 1 kafka ApiVersions 17\nRET 1 kafka ok 14\n"
#define ORDERS "0006 'orders'"
// Produce v3, one batch of a few bytes.
#define PRODUCE(id, acks, topic)                                                               \
    "[0000 0003" id CLIENT "ffff" acks "00000064 00000001" topic "00000001 00000000 00000002 " \
    "6868]"
#define PRODUCED(id, code) "[" id "00000001" ORDERS "00000001 00000000" code "0000000000000009]"

static Steps *connected(void)
{
    Steps *s = steps_new(7777); // not a port of Kafka: content must do
    up(s, VERSIONS);
    down(s, "[00000001 0000 00000000]");
    return s;
}

// ---- requests -----------------------------------------------------------------------------------

START_TEST(produce)
{
    g_autoptr(Steps) s = connected();
    up(s, PRODUCE("00000002", "ffff", ORDERS));
    down(s, PRODUCED("00000002", "0000"));
    up(s, PRODUCE("00000003", "0001", ORDERS));
    down(s, PRODUCED("00000003", "0006"));
    up(s, PRODUCE("00000004", "0000", ORDERS)); // acks=0
    up(s, PRODUCE("00000005", "0001", "0008 'app.1234'"));
    down(s, PRODUCED("00000005", "ffff"));
    steps_check(s, LOGIN "CALL 2 kafka Produce orders 51\nRET 2 kafka ok 38\n"
                         "CALL 3 kafka Produce orders 51\nRET 3 kafka 6 38\n"
                         "MSG > kafka Produce orders 51\n"
                         "CALL 4 kafka Produce app.* 53\nRET 4 kafka -1 38\n");
}
END_TEST

#define FETCH_4(id, wait, topics) \
    "[0001 0004" id CLIENT "ffffffff" wait "00000001 00000063 00" topics "]"

START_TEST(fetch)
{
    g_autoptr(Steps) s = connected();
    up(s, FETCH_4("00000002", "000001f4", "00000001" ORDERS "00000000"));
    down(s, "[00000002 00000000 00000001" ORDERS "00000001 00000000 0001]");
    up(s, FETCH_4("00000003", "00000000", "00000001" ORDERS "00000000"));
    down(s, "[00000003 00000000 00000001" ORDERS "00000000]");
    // Version 7 has an error code of its own, and sessions: topics once named need not be again.
    up(s, "[0001 0007 00000004" CLIENT
          "ffffffff 000001f4 00000001 00000063 00 00000000 00000000 00000001" ORDERS "00000000]");
    down(s, "[00000004 00000000 0000 00000011 00000000]");
    up(s, "[0001 0007 00000005" CLIENT
          "ffffffff 000001f4 00000001 00000063 00 00000011 00000001 00000000 00000000]");
    down(s, "[00000005 00000000 0046 00000011 00000000]");
    steps_check(s, LOGIN "CALL 2 kafka Fetch orders poll 50\nRET 2 kafka 1 34\n"
                         "CALL 3 kafka Fetch orders 50\nRET 3 kafka ok 28\n"
                         "CALL 4 kafka Fetch orders poll 58\nRET 4 kafka ok 22\n"
                         "CALL 5 kafka Fetch orders poll 50\nRET 5 kafka 70 22\n");
}
END_TEST

// Version 13 has ids in place of names.
START_TEST(fetch_by_topic_id)
{
    g_autoptr(Steps) s = connected();
    up(s, "[0001 000d 00000002" CLIENT
          "00 ffffffff 000001f4 00000001 00000063 00 00000000 00000000 02 aa*16]");
    down(s, "[00000002 00 00000000 0067 00000000 01 00]");
    up(s, "[0001 0010 00000003" CLIENT "00 00000000 00000001 00000063 00 00000000 00000000 01]");
    down(s, "[00000003 00 00000000 0000 00000000 01 00]");
    steps_check(s, LOGIN "CALL 2 kafka Fetch ? poll 60\nRET 2 kafka 103 21\n"
                         "CALL 3 kafka Fetch ? poll 40\nRET 3 kafka ok 21\n");
}
END_TEST

START_TEST(flexible_versions)
{
    g_autoptr(Steps) s = connected();
    // A tagged field in the head: 1 field, tag 5, 2 bytes.
    up(s, "[0000 0009 00000002" CLIENT
          "01 05 02 aabb 00 ffff 00000064 02 07 'orders' 02 00000000 03 6868 00 00 00]");
    down(s, "[00000002 00 02 07 'orders' 02 00000000 0003 0000000000000009]");
    up(s, "[0003 000c 00000003" CLIENT "00 02 00*16 07 'orders' 00 01 00 00]");
    down(s, "[00000003 00 00000000 01]");
    up(s, "[0002 0006 00000004" CLIENT "00 ffffffff 00 02 07 'orders' 01 00]");
    down(s, "[00000004 00 00000000 01]");
    up(s, "[0008 0008 00000005" CLIENT "00 02 'g' 00000001 02 'm' 00 02 07 'orders' 01 00]");
    down(s, "[00000005 00 00000000 01]");
    up(s, "[0009 0006 00000006" CLIENT "00 02 'g' 02 07 'orders' 01 00]");
    down(s, "[00000006 00 00000000 01]");
    steps_check(s, LOGIN "CALL 2 kafka Produce orders 48\nRET 2 kafka 3 32\n"
                         "CALL 3 kafka Metadata orders 46\nRET 3 kafka ok 14\n"
                         "CALL 4 kafka ListOffsets orders 33\nRET 4 kafka ok 14\n"
                         "CALL 5 kafka OffsetCommit orders 37\nRET 5 kafka ok 14\n"
                         "CALL 6 kafka OffsetFetch orders 30\nRET 6 kafka ok 14\n");
}
END_TEST

START_TEST(older_versions)
{
    g_autoptr(Steps) s = connected();
    up(s, "[0000 0000 00000002" CLIENT "0001 00000064 00000001" ORDERS "00000000]");
    down(s, "[00000002 00000001" ORDERS "00000001 00000000 0007 0000000000000009]");
    up(s, "[0001 0000 00000003" CLIENT "ffffffff 00000000 00000001 00000001" ORDERS "00000000]");
    down(s, "[00000003 00000001" ORDERS "00000001 00000000 0001]");
    up(s, "[0008 0002 00000004" CLIENT "0001 'g' 00000001 0001 'm' 0000000000000000 00000001" ORDERS
          "00000000]");
    down(s, "[00000004 00000000]");
    up(s, "[0003 0001 00000005" CLIENT "ffffffff]"); // all topics
    down(s, "[00000005 00000000]");
    steps_check(s, LOGIN "CALL 2 kafka Produce orders 39\nRET 2 kafka 7 38\n"
                         "CALL 3 kafka Fetch orders 45\nRET 3 kafka 1 30\n"
                         "CALL 4 kafka OffsetCommit orders 51\nRET 4 kafka ok 12\n"
                         "CALL 5 kafka Metadata 21\nRET 5 kafka ok 12\n");
}
END_TEST

START_TEST(codes_of_groups)
{
    g_autoptr(Steps) s = connected();
    up(s, "[000c 0000 00000002" CLIENT "0001 'g' 00000001 0001 'm']");
    down(s, "[00000002 001b]");
    up(s, "[000c 0003 00000003" CLIENT "0001 'g' 00000001 0001 'm' ffff]");
    down(s, "[00000003 00000000 0019]");
    up(s, "[000b 0001 00000004" CLIENT "0001 'g']");
    down(s, "[00000004 004f]");
    up(s, "[000e 0004 00000005" CLIENT "00 02 'g']");
    down(s, "[00000005 00 00000000 001b 00]");
    up(s, "[0016 0002 00000006" CLIENT "00 00 00000001 00]");
    down(s, "[00000006 00 00000000 0033 00]");
    steps_check(s, LOGIN "CALL 2 kafka Heartbeat 27\nRET 2 kafka 27 10\n"
                         "CALL 3 kafka Heartbeat 29\nRET 3 kafka 25 14\n"
                         "CALL 4 kafka JoinGroup 20\nRET 4 kafka 79 10\n"
                         "CALL 5 kafka SyncGroup 20\nRET 5 kafka 27 16\n"
                         "CALL 6 kafka InitProducerId 24\nRET 6 kafka 51 16\n");
}
END_TEST

// A broker that knows no newer ApiVersions answers as of version 0, with 35.
START_TEST(unsupported_version)
{
    g_autoptr(Steps) s = steps_new(7777);
    up(s, "[0012 0003 00000001" CLIENT "00 02 'a' 02 'b' 00]");
    down(s, "[00000001 0023 00000000]");
    up(s, "[0012 0000 00000002" CLIENT "]");
    down(s, "[00000002 0000 00000000]");
    steps_check(s, "CALL 1 kafka ApiVersions 23\nRET 1 kafka 35 14\n"
                   "CALL 2 kafka ApiVersions 17\nRET 2 kafka ok 14\n");
}
END_TEST

START_TEST(versions_to_come)
{
    g_autoptr(Steps) s = connected();
    up(s, "[0000 000f 00000002" CLIENT "00 01 02 03]");
    down(s, "[00000002 0001 0001 0001]");
    steps_check(s, LOGIN "CALL 2 kafka Produce 21\nRET 2 kafka ok 14\n");
}
END_TEST

// Requests of Kafka 4.1 and 4.2, one of a Kafka to come, and what was sent behind them at once.
START_TEST(requests_to_come)
{
    g_autoptr(Steps) s = connected();
    up(s, "[0058 0000 00000002" CLIENT "00 02 'g' 02 'm' 00000001 00]"
          "[005d 0000 00000003" CLIENT "00 01 00]"
          "[007f 0001 00000004" CLIENT "00 aabbcc]" PRODUCE("00000005", "0001", ORDERS));
    down(s, "[00000002 00 00000000 001b 00] [00000003 00 00000000 00*8 00 01 00]");
    down(s, "[00000004 00 0007]" PRODUCED("00000005", "0000"));
    steps_check(s,
                LOGIN "CALL 2 kafka StreamsGroupHeartbeat 27\nCALL 3 kafka GetReplicaLogInfo 20\n"
                      "CALL 4 kafka api 127 21\nCALL 5 kafka Produce orders 51\n"
                      "RET 2 kafka 27 16\nRET 3 kafka ok 24\nRET 4 kafka ok 11\n"
                      "RET 5 kafka ok 38\n");
    ck_assert_uint_eq(steps_count(s, BB_DECODER_LOST), 0);
}
END_TEST

// Where nothing was read before, and after a gap, only those are believed that are known.
START_TEST(no_request_to_come_at_first)
{
    g_autoptr(Steps) s = connected();
    step(s, LOSE_UP, octets("00*40"));
    up(s, "[007f 0001 00000004" CLIENT "00 aabbcc]");
    up(s, PRODUCE("00000005", "0001", ORDERS));
    steps_check(s, LOGIN "CALL 2 kafka Produce orders 51\n");
    ck_assert_int_eq(probe_octets(&bb_decoder_kafka, "[007f 0001 00000004" CLIENT "00 aabbcc]"),
                     BB_MATCH_MAYBE); // a response
}
END_TEST

// What a client is named is UTF-8, but nothing else.
START_TEST(client_names)
{
    g_autoptr(Steps) s = steps_new(9092);
    up(s, "[0012 0000 00000001 0006 'a' c3bc ' b' 78]");
    down(s, "[00000001 0000 00000000]");
    up(s, "[0003 0001 00000002 0006 e697a5e69cac ffffffff]");
    down(s, "[00000002 00000000 00000000]");
    steps_check(s, "CALL 1 kafka ApiVersions 20\nRET 1 kafka ok 14\n"
                   "CALL 2 kafka Metadata 24\nRET 2 kafka ok 16\n");
    const BbDecoder *d = &bb_decoder_kafka;
    ck_assert_int_eq(probe_octets(d, "[0012 0000 00000001 0004 e697a561]"), BB_MATCH_REQUEST);
    ck_assert_int_eq(probe_octets(d, "[0012 0000 00000001 0004 61e697a5] 00"), BB_MATCH_LIKELY);
    ck_assert_int_eq(probe_octets(d, "[0012 0000 00000001 0004 61e69761] 00"), BB_MATCH_NO);
    ck_assert_int_eq(probe_octets(d, "[0012 0000 00000001 0004 61620761] 00"), BB_MATCH_NO);
    ck_assert_int_eq(probe_octets(d, "[0012 0000 00000001 0004 61627f61] 00"), BB_MATCH_NO);
}
END_TEST

START_TEST(out_of_order)
{
    g_autoptr(Steps) s = connected();
    up(s, PRODUCE("00000002", "0001", ORDERS) PRODUCE("00000003", "0001", ORDERS));
    down(s, PRODUCED("00000003", "0003"));
    down(s, PRODUCED("00000002", "0002"));
    steps_check(s, LOGIN "CALL 2 kafka Produce orders 51\nCALL 3 kafka Produce orders 51\n"
                         "RET 3 kafka 3 38\nRET 2 kafka 2 38\n");
}
END_TEST

// SaslHandshake v0: tokens without a head follow.
START_TEST(raw_tokens)
{
    g_autoptr(Steps) s = steps_new(9092);
    up(s, "[0011 0000 00000001" CLIENT "0005 'PLAIN']");
    down(s, "[00000001 0000 00000001 0005 'PLAIN']");
    up(s, "[00 'me' 00 'pass']");
    down(s, "[]");
    up(s, "[0003 0001 00000002" CLIENT "ffffffff]");
    down(s, "[00000002 00000000]");
    steps_check(s, "CALL 1 kafka SaslHandshake 24\nRET 1 kafka ok 21\n"
                   "CALL 2 kafka SASL 12\nRET 2 kafka ok 4\n"
                   "CALL 3 kafka Metadata 21\nRET 3 kafka ok 12\n");
}
END_TEST

START_TEST(tokens_with_a_head)
{
    g_autoptr(Steps) s = steps_new(9092);
    up(s, "[0011 0001 00000001" CLIENT "0005 'PLAIN']");
    down(s, "[00000001 0000 00000001 0005 'PLAIN']");
    up(s, "[0024 0000 00000002" CLIENT "00000008 00 'me' 00 'pass']");
    down(s, "[00000002 003a ffff 00000000]");
    steps_check(s, "CALL 1 kafka SaslHandshake 24\nRET 1 kafka ok 21\n"
                   "CALL 2 kafka SaslAuthenticate 29\nRET 2 kafka 58 16\n");
}
END_TEST

START_TEST(long_messages_are_passed_over)
{
    g_autoptr(Steps) s = connected();
    up(s, "[0000 0003 00000002" CLIENT "ffff 0001 00000064 00000001" ORDERS "00*200000]");
    down(s, "[00000002 00*200000]");
    g_autoptr(Converse) c = steps_play(s, 1460);
    ck_assert_str_eq(converse_result(c), LOGIN "CALL 2 kafka Produce orders 200037\n"
                                               "RET 2 kafka ok 200008\n");
    ck_assert_uint_eq(converse_loss(c, BB_MESSAGE_LIMIT), 0);
}
END_TEST

// ---- joined in the middle, loss -----------------------------------------------------------------

START_TEST(joined_in_the_middle)
{
    g_autoptr(Steps) s = steps_new(9092);
    s->midstream = true;
    down(s, PRODUCED("00000001", "0000"));
    up(s, PRODUCE("00000002", "0001", ORDERS));
    down(s, PRODUCED("00000002", "0000"));
    g_autoptr(Converse) c = steps_play(s, 1460);
    ck_assert_str_eq(converse_result(c), "RET - kafka - 38\nCALL 1 kafka Produce orders 51\n"
                                         "RET 1 kafka ok 38\n");
}
END_TEST

START_TEST(lost_request)
{
    g_autoptr(Steps) s = connected();
    step(s, LOSE_UP, octets(PRODUCE("00000002", "0001", ORDERS)));
    down(s, PRODUCED("00000002", "0000"));
    up(s, PRODUCE("00000003", "0001", ORDERS));
    down(s, PRODUCED("00000003", "0000"));
    g_autoptr(Converse) c = steps_play(s, 1460);
    ck_assert_str_eq(converse_result(c), LOGIN "RET - kafka - 38\n"
                                               "CALL 2 kafka Produce orders 51\n"
                                               "RET 2 kafka ok 38\n");
    ck_assert_uint_eq(converse_loss(c, BB_DECODER_LOST), 1);
}
END_TEST

#define NAMELESS(id, name) "[000c 0000" id name "0001 'g' 00000001 0001 'm']"

// A client may give no name. What follows a gap is then believed where its end fits.
START_TEST(lost_request_of_a_nameless_client)
{
    static const char *const names[] = {"ffff", "0000"};
    for (guint i = 0; i < G_N_ELEMENTS(names); i++) {
        g_autoptr(Steps) s = steps_new(9092);
        for (guint k = 1; k <= 4; k++) {
            g_autofree char *id = g_strdup_printf("%08x", k);
            g_autofree char *request =
                g_strconcat("[000c 0000", id, names[i], "0001 'g' 00000001 0001 'm']", NULL);
            g_autofree char *reply = g_strconcat("[", id, "0000]", NULL);
            step(s, k == 2 ? LOSE_UP : SAY_UP, octets(request));
            down(s, reply);
        }
        up(s, "[0000 0003 00000005 ffff ffff 0001 00000064 00000001" ORDERS "00*2000]"
              "[0003 0001 00000006 ffff ffffffff]");
        down(s, "[00000006 00000000] [00000005 00000000]");
        steps_check(s, "CALL 1 kafka Heartbeat 24\nRET 1 kafka ok 10\nRET - kafka - 10\n"
                       "CALL 2 kafka Heartbeat 24\nRET 2 kafka ok 10\n"
                       "CALL 3 kafka Heartbeat 24\nRET 3 kafka ok 10\n"
                       "CALL 4 kafka Produce orders 2034\nCALL 5 kafka Metadata 18\n"
                       "RET 5 kafka ok 12\nRET 4 kafka ok 12\n");
    }
}
END_TEST

// After a gap random bytes are no requests, of a nameless client neither; what follows them is.
START_TEST(no_request_in_noise)
{
    g_autoptr(GRand) rand = g_rand_new_with_seed(7);
    for (guint i = 0; i < 300; i++) {
        g_autoptr(Steps) s = connected();
        step(s, LOSE_UP, octets("00*100"));
        for (guint k = 0; k < 20; k++) {
            Octets *noise = g_byte_array_new();
            for (gint left = g_rand_int_range(rand, 20, 900); left > 0; left--)
                octets_be(noise, g_rand_int(rand) % (i % 2 ? 256 : 20), 1); // or small numbers
            step(s, SAY_UP, noise);
        }
        up(s, NAMELESS("00000002", "ffff"));
        down(s, "[00000002 0000]");
        g_autoptr(Converse) c = steps_play(s, 1460);
        ck_assert_str_eq(converse_result(c), LOGIN "CALL 2 kafka Heartbeat 24\n"
                                                   "RET 2 kafka ok 10\n");
    }
}
END_TEST

START_TEST(lost_reply)
{
    g_autoptr(Steps) s = connected();
    up(s, PRODUCE("00000002", "0001", ORDERS));
    up(s, PRODUCE("00000003", "0001", ORDERS));
    step(s, LOSE_DOWN, octets(PRODUCED("00000002", "0000")));
    up(s, PRODUCE("00000004", "0001", ORDERS));
    down(s, PRODUCED("00000003", "0000"));
    down(s, PRODUCED("00000004", "0000"));
    steps_check(s, LOGIN "CALL 2 kafka Produce orders 51\nCALL 3 kafka Produce orders 51\n"
                         "CALL 4 kafka Produce orders 51\nRET 3 kafka ok 38\nRET 4 kafka ok 38\n");
}
END_TEST

START_TEST(lost_middle)
{
    g_autoptr(Steps) s = connected();
    Octets *fetched = octets("[00000002 00000000 00*4992]");
    up(s, FETCH_4("00000002", "00000000", "00000001" ORDERS "00000000"));
    step(s, SAY_DOWN, g_byte_array_append(g_byte_array_new(), fetched->data, 1000));
    step(s, LOSE_DOWN, octets("00*3000"));
    step(s, SAY_DOWN, octets("00*1004"));
    g_byte_array_unref(fetched);
    up(s, PRODUCE("00000003", "0001", ORDERS));
    down(s, PRODUCED("00000003", "0000"));
    steps_check(s, LOGIN "CALL 2 kafka Fetch orders 50\nRET 2 kafka ok 2004\n"
                         "CALL 3 kafka Produce orders 51\nRET 3 kafka ok 38\n");
    ck_assert_uint_eq(steps_count(s, BB_DECODER_LOST), 0);
}
END_TEST

// ---- what is no Kafka ---------------------------------------------------------------------------

START_TEST(damage)
{
    g_autoptr(Steps) s = connected();
    up(s, PRODUCE("00000002", "0001", ORDERS));
    up(s, "[7fff 0000 00000003 0000]"); // no such request
    down(s, PRODUCED("00000002", "0000"));
    up(s, PRODUCE("00000004", "0001", ORDERS));
    down(s, "[0000]"); // no room for an id
    down(s, PRODUCED("00000004", "0000"));
    steps_check(s, LOGIN "CALL 2 kafka Produce orders 51\nRET 2 kafka ok 38\n"
                         "CALL 3 kafka Produce orders 51\nRET 3 kafka ok 38\n");
    ck_assert_uint_eq(steps_count(s, BB_DECODER_GAVE_UP), 0);
    ck_assert_uint_eq(steps_count(s, BB_DECODER_LOST), 2);
}
END_TEST

START_TEST(probes)
{
    static const struct {
        const char *bytes;
        BbMatch match;
    } cases[] = {
        {VERSIONS, BB_MATCH_REQUEST},
        {"[0012 0000 00000001 0003 'cl'] 00", BB_MATCH_NO},     // the id does not fit
        {"[0012 0000 00000001 0003 63 01 63] 00", BB_MATCH_NO}, // nor is this text
        {"[0012 0000 00000001 ffff]", BB_MATCH_LIKELY},         // no id
        {"[0012 00ff 00000001" CLIENT "] 00", BB_MATCH_NO},     // version
        {"[00ff 0000 00000001" CLIENT "] 00", BB_MATCH_NO},     // request
        {PRODUCED("00000001", "0000"), BB_MATCH_MAYBE},         // looks like a Produce v1
        {VERSIONS VERSIONS, BB_MATCH_REQUEST},
        {VERSIONS "01", BB_MATCH_LIKELY},
        {"00000400 0000 0003 00000001" CLIENT "ffff 0001 00000064 00000001" ORDERS "00*600",
         BB_MATCH_REQUEST}, // cut
        {"00000400 0000 0003 00000001" CLIENT "ffff 0001", BB_MATCH_MORE},
        {"00000400 0000 0003 00000001" CLIENT "ffff 0001 00000064 00000001 0003 'a b' 00*600",
         BB_MATCH_NO}, // no name of a topic
        {"0000", BB_MATCH_MORE},
        {"0100", BB_MATCH_NO},
        {"0000000d 0012", BB_MATCH_MORE},
        {"[00000001 0000]", BB_MATCH_MAYBE}, // a response
        {"[0003 0000 00000001 0000 00000000]", BB_MATCH_LIKELY},
        {"7fffffff 0000 0000", BB_MATCH_NO},
        {"0000002d 00*12 00002710 00*8 00000010 00*17", BB_MATCH_MAYBE}, // ZooKeeper's
    };
    for (gsize i = 0; i < G_N_ELEMENTS(cases); i++)
        ck_assert_msg(probe_octets(&bb_decoder_kafka, cases[i].bytes) == cases[i].match, "%s",
                      cases[i].bytes);
    check_refusals(&bb_decoder_kafka);
}
END_TEST

TEST_MAIN("kafka", produce, fetch, fetch_by_topic_id, flexible_versions, older_versions,
          codes_of_groups, unsupported_version, versions_to_come, requests_to_come,
          no_request_to_come_at_first, client_names, out_of_order, raw_tokens, tokens_with_a_head,
          long_messages_are_passed_over, joined_in_the_middle, lost_request,
          lost_request_of_a_nameless_client, no_request_in_noise, lost_reply, lost_middle, damage,
          probes)
