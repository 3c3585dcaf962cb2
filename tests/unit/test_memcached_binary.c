// SPDX-License-Identifier: Apache-2.0
// memcached's binary protocol: pairs by opcode and opaque, quiet commands, statistics, loss. Every
// conversation runs whole and in small segments.
#include "capture/loss.h"
#include "capture/protocols/memcached_quiet.h"
#include "tests/unit/octets.h"

#define PORT 11211

enum {
    GET = 0x00,
    SET = 0x01,
    ADD = 0x02,
    INCR = 0x05,
    QUIT = 0x07,
    GETQ = 0x09,
    NOOP = 0x0a,
    VERSION = 0x0b,
    GETKQ = 0x0d,
    STAT = 0x10,
    SETQ = 0x11,
    QUITQ = 0x17,
    AUTH = 0x21,
};

// ---- messages -----------------------------------------------------------------------------------

static Octets *message(guint8 magic, guint8 opcode, guint16 status, guint32 opaque,
                       const char *extras, const char *key, const char *value)
{
    g_autoptr(Octets) e = octets(extras), k = octets(key), v = octets(value);
    Octets *out = g_byte_array_new();
    octets_be(out, magic, 1);
    octets_be(out, opcode, 1);
    octets_be(out, k->len, 2);
    octets_be(out, e->len, 1);
    octets_be(out, 0, 1);
    octets_be(out, status, 2);
    octets_be(out, e->len + k->len + v->len, 4);
    octets_be(out, opaque, 4);
    octets_be(out, 0, 8);
    octets_put(out, e->data, e->len);
    octets_put(out, k->data, k->len);
    octets_put(out, v->data, v->len);
    return out;
}

static Octets *get(guint8 opcode, guint32 opaque)
{
    return message(0x80, opcode, 0, opaque, "", "'key'", "");
}

static Octets *set(guint8 opcode, guint32 opaque)
{
    return message(0x80, opcode, 0, opaque, "00*8", "'key'", "'value'");
}

static Octets *plain(guint8 opcode, guint32 opaque)
{
    return message(0x80, opcode, 0, opaque, "", "", "");
}

static Octets *hit(guint8 opcode, guint32 opaque)
{
    return message(0x81, opcode, 0, opaque, "00*4", "", "'value'");
}

static Octets *outcome(guint8 opcode, guint16 status, guint32 opaque)
{
    return message(0x81, opcode, status, opaque, "", "", status ? "'text'" : "");
}

// ---- pairs --------------------------------------------------------------------------------------

START_TEST(a_session)
{
    g_autoptr(Steps) s = steps_new(PORT);
    step(s, SAY_UP, set(SET, 1));
    step(s, SAY_DOWN, outcome(SET, 0, 1));
    step(s, SAY_UP, get(GET, 2));
    step(s, SAY_DOWN, hit(GET, 2));
    step(s, SAY_UP, get(GET, 3));
    step(s, SAY_DOWN, outcome(GET, 1, 3));
    step(s, SAY_UP, plain(VERSION, 0));
    step(s, SAY_DOWN, message(0x81, VERSION, 0, 0, "", "", "'1.6.18'"));
    step(s, SAY_UP, plain(QUIT, 0));
    step(s, SAY_DOWN, outcome(QUIT, 0, 0));
    steps_check(s, "CALL 1 memcached SET 40\n"
                   "RET 1 memcached ok 24\n"
                   "CALL 2 memcached GET 27\n"
                   "RET 2 memcached ok 33\n"
                   "CALL 3 memcached GET 27\n"
                   "RET 3 memcached NOT_FOUND 28\n"
                   "CALL 4 memcached VERSION 24\n"
                   "RET 4 memcached ok 30\n"
                   "CALL 5 memcached QUIT 24\n"
                   "RET 5 memcached ok 24\n");
    ck_assert_uint_eq(steps_count(s, BB_CALLS_UNRETURNED), 0);
}
END_TEST

START_TEST(status_words)
{
    static const struct {
        guint16 status;
        const char *word;
    } cases[] = {
        {0x00, "ok"},           {0x01, "NOT_FOUND"},    {0x02, "EXISTS"},
        {0x03, "CLIENT_ERROR"}, {0x04, "CLIENT_ERROR"}, {0x05, "NOT_STORED"},
        {0x06, "CLIENT_ERROR"}, {0x20, "CLIENT_ERROR"}, {0x21, "ok"},
        {0x81, "ERROR"},        {0x82, "SERVER_ERROR"}, {0x86, "SERVER_ERROR"},
    };
    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autoptr(Steps) s = steps_new(PORT);
        step(s, SAY_UP, message(0x80, INCR, 0, 7, "00*20", "'key'", ""));
        step(s, SAY_DOWN, outcome(INCR, cases[i].status, 7));
        g_autofree char *line =
            g_strdup_printf("CALL 1 memcached INCR 47\nRET 1 memcached %s ", cases[i].word);
        g_autoptr(Converse) c = steps_play(s, 1460);
        ck_assert_msg(g_str_has_prefix(converse_result(c), line), "%s", converse_result(c));
    }
}
END_TEST

// Commands of the same opaque pair in order, those of another opcode not at all.
START_TEST(the_same_opaque)
{
    g_autoptr(Steps) s = steps_new(PORT);
    step(s, SAY_UP, octets_join(octets_join(get(GET, 0), set(SET, 0)), get(GET, 0)));
    step(s, SAY_DOWN,
         octets_join(hit(GET, 0), octets_join(outcome(SET, 2, 0), outcome(GET, 1, 0))));
    step(s, SAY_DOWN, outcome(ADD, 0, 0)); // of nobody
    steps_check(s, "CALL 1 memcached GET 27\n"
                   "CALL 2 memcached SET 40\n"
                   "CALL 3 memcached GET 27\n"
                   "RET 1 memcached ok 33\n"
                   "RET 2 memcached EXISTS 28\n"
                   "RET 3 memcached NOT_FOUND 28\n"
                   "RET - memcached ok 24\n");
}
END_TEST

START_TEST(quiet_commands)
{
    g_autoptr(Steps) s = steps_new(PORT);
    step(s, SAY_UP, get(GETKQ, 1));
    step(s, SAY_UP, get(GETKQ, 2));
    step(s, SAY_UP, get(GETQ, 3));
    step(s, SAY_UP, set(SETQ, 4));
    step(s, SAY_UP, plain(NOOP, 5));
    step(s, SAY_DOWN, octets_join(hit(GETKQ, 2), outcome(NOOP, 0, 5)));
    step(s, SAY_UP, set(SETQ, 6));
    step(s, SAY_DOWN, outcome(SETQ, 2, 6));
    step(s, SAY_UP, plain(QUITQ, 7));
    step(s, END_UP, octets(""));
    steps_check(s, "MSG > memcached GETKQ 27\n"
                   "CALL 2 memcached GETKQ 27\n"
                   "MSG > memcached GETQ 27\n"
                   "MSG > memcached SETQ 40\n"
                   "CALL 5 memcached NOOP 24\n"
                   "RET 2 memcached ok 33\n"
                   "RET 5 memcached ok 24\n"
                   "CALL 6 memcached SETQ 40\n"
                   "RET 6 memcached EXISTS 28\n"
                   "MSG > memcached QUITQ 24\n");
    ck_assert_uint_eq(steps_count(s, BB_CALLS_UNRETURNED), 0);
}
END_TEST

START_TEST(quiet_commands_have_a_limit)
{
    g_autoptr(Converse) c = converse_tcp(PORT);
    for (guint i = 0; i < BB_MEMCACHED_QUIET_MAX + 10; i++) {
        g_autoptr(Octets) one = get(GETQ, i);
        converse_say(c, BB_TO_SERVER, one->data, one->len);
    }
    g_autoptr(Octets) early = hit(GETQ, 3), late = hit(GETQ, 100);
    converse_say(c, BB_TO_CLIENT, early->data, early->len);
    converse_say(c, BB_TO_CLIENT, late->data, late->len);
    ck_assert_uint_eq(converse_loss(c, BB_CALLS), 1);
    ck_assert_uint_eq(converse_loss(c, BB_FREES), BB_MEMCACHED_QUIET_MAX + 9);
    ck_assert_uint_eq(converse_loss(c, BB_RETURNS_ORPHANED), 1);
    ck_assert_uint_eq(converse_loss(c, BB_CALLS_UNRETURNED), 0);
}
END_TEST

// At the memory limit they are taken for not answered.
START_TEST(quiet_commands_can_be_let_go)
{
    g_autoptr(Converse) c = converse_tcp_held(PORT, 256);
    for (guint i = 0; i < 20; i++) {
        g_autoptr(Octets) one = get(GETQ, i);
        converse_say(c, BB_TO_SERVER, one->data, one->len);
    }
    ck_assert_uint_eq(converse_loss(c, BB_FREES), 20);
    ck_assert_uint_gt(converse_loss(c, BB_TCP_BUFFER_LIMIT), 0);
}
END_TEST

// Many responses, the last one without key and value.
START_TEST(statistics)
{
    g_autoptr(Steps) s = steps_new(PORT);
    step(s, SAY_UP, plain(STAT, 1));
    step(s, SAY_DOWN, message(0x81, STAT, 0, 1, "", "'pid'", "'7'"));
    step(s, SAY_DOWN, message(0x81, STAT, 0, 1, "", "'uptime'", "'9'"));
    step(s, SAY_DOWN, outcome(STAT, 0, 1));
    step(s, SAY_UP, message(0x80, STAT, 0, 2, "", "'nope'", ""));
    step(s, SAY_DOWN, outcome(STAT, 1, 2));
    steps_check(s, "CALL 1 memcached STAT 24\n"
                   "RET 1 memcached ok 83\n"
                   "CALL 2 memcached STAT 28\n"
                   "RET 2 memcached NOT_FOUND 28\n");
}
END_TEST

START_TEST(unknown_commands)
{
    g_autoptr(Steps) s = steps_new(PORT);
    step(s, SAY_UP, message(0x80, AUTH, 0, 1, "", "'PLAIN'", "00 'u' 00 'p'"));
    step(s, SAY_DOWN, outcome(AUTH, 0x20, 1));
    step(s, SAY_UP, plain(0x7f, 2));
    step(s, SAY_DOWN, outcome(0x7f, 0x81, 2));
    steps_check(s, "CALL 1 memcached SASL_AUTH 33\n"
                   "RET 1 memcached CLIENT_ERROR 28\n"
                   "CALL 2 memcached * 24\n"
                   "RET 2 memcached ERROR 28\n");
}
END_TEST

START_TEST(large_values)
{
    g_autoptr(Steps) s = steps_new(PORT);
    step(s, SAY_UP, message(0x80, SET, 0, 1, "00*8", "'key'", "'x' *200000"));
    step(s, SAY_DOWN, outcome(SET, 0, 1));
    step(s, SAY_UP, get(GET, 2));
    step(s, SAY_DOWN, message(0x81, GET, 0, 2, "00*4", "", "'x' *200000"));
    steps_check(s, "CALL 1 memcached SET 200035\n"
                   "RET 1 memcached ok 24\n"
                   "CALL 2 memcached GET 27\n"
                   "RET 2 memcached ok 200028\n");
}
END_TEST

// ---- loss ---------------------------------------------------------------------------------------

// A lost reply does not shift those of the same opaque.
START_TEST(lost_reply)
{
    g_autoptr(Steps) s = steps_new(PORT);
    step(s, SAY_UP, get(GET, 0));
    step(s, LOSE_DOWN, hit(GET, 0));
    step(s, SAY_UP, get(GET, 0));
    step(s, SAY_DOWN, outcome(GET, 1, 0));
    step(s, SAY_UP, get(GET, 0));
    step(s, SAY_DOWN, hit(GET, 0));
    steps_check(s, "CALL 1 memcached GET 27\n"
                   "CALL 2 memcached GET 27\n"
                   "RET 2 memcached NOT_FOUND 28\n"
                   "CALL 3 memcached GET 27\n"
                   "RET 3 memcached ok 33\n");
}
END_TEST

START_TEST(lost_request)
{
    g_autoptr(Steps) s = steps_new(PORT);
    step(s, SAY_UP, get(GET, 0));
    step(s, SAY_DOWN, hit(GET, 0));
    step(s, LOSE_UP, get(GET, 0));
    step(s, SAY_DOWN, outcome(GET, 1, 0));
    step(s, SAY_UP, set(SET, 0));
    step(s, SAY_DOWN, outcome(SET, 0, 0));
    steps_check(s, "CALL 1 memcached GET 27\n"
                   "RET 1 memcached ok 33\n"
                   "RET - memcached NOT_FOUND 28\n"
                   "CALL 2 memcached SET 40\n"
                   "RET 2 memcached ok 24\n");
}
END_TEST

START_TEST(lost_within_statistics)
{
    g_autoptr(Steps) s = steps_new(PORT);
    step(s, SAY_UP, plain(STAT, 1));
    step(s, SAY_DOWN, message(0x81, STAT, 0, 1, "", "'pid'", "'7'"));
    step(s, LOSE_DOWN, message(0x81, STAT, 0, 1, "", "'uptime'", "'9'"));
    step(s, SAY_DOWN, outcome(STAT, 0, 1));
    step(s, SAY_UP, get(GET, 2));
    step(s, SAY_DOWN, hit(GET, 2));
    steps_check(s, "CALL 1 memcached STAT 24\n"
                   "RET 1 memcached ok 28\n"
                   "RET - memcached ok 24\n"
                   "CALL 2 memcached GET 27\n"
                   "RET 2 memcached ok 33\n");
}
END_TEST

START_TEST(damage_in_the_middle)
{
    g_autoptr(Steps) s = steps_new(PORT);
    step(s, SAY_UP, get(GET, 1));
    step(s, SAY_DOWN, hit(GET, 1));
    up(s, "80 00 0003 00 01 0000 00000003 00000001 00*8 'key'");
    down(s, "'garbage of the server'");
    step(s, SAY_UP, get(GET, 2));
    step(s, SAY_DOWN, hit(GET, 2));
    steps_check(s, "CALL 1 memcached GET 27\n"
                   "RET 1 memcached ok 33\n"
                   "CALL 2 memcached GET 27\n"
                   "RET 2 memcached ok 33\n");
    ck_assert_uint_eq(steps_count(s, BB_DECODER_LOST), 2);
}
END_TEST

START_TEST(cut_off)
{
    g_autoptr(Steps) s = steps_new(PORT);
    Octets *half = set(SET, 1);
    g_byte_array_set_size(half, 30);
    step(s, SAY_UP, half);
    steps_check(s, "CALL 1 memcached SET 30\n");
}
END_TEST

// Text and binary are told apart on any port.
START_TEST(joined_in_the_middle)
{
    g_autoptr(Steps) s = steps_new(4711);
    s->midstream = true;
    step(s, SAY_DOWN, hit(GET, 1));
    step(s, SAY_UP, get(GET, 2));
    step(s, SAY_DOWN, hit(GET, 2));
    steps_check(s, "RET - memcached ok 33\n"
                   "CALL 1 memcached GET 27\n"
                   "RET 1 memcached ok 33\n");
}
END_TEST

// ---- the probe ----------------------------------------------------------------------------------

static BbMatch probe_message(Octets *bytes)
{
    g_autoptr(Octets) owned = bytes;
    return bb_decoder_memcached_binary.probe(owned->data, owned->len);
}

START_TEST(probe_messages)
{
    ck_assert_int_eq(probe_message(get(GET, 1)), BB_MATCH_REQUEST);
    ck_assert_int_eq(probe_message(set(SETQ, 1)), BB_MATCH_REQUEST);
    ck_assert_int_eq(probe_message(plain(STAT, 1)), BB_MATCH_REQUEST);
    ck_assert_int_eq(probe_message(hit(GET, 1)), BB_MATCH_REPLY);
    ck_assert_int_eq(probe_message(plain(GET, 1)), BB_MATCH_NO);  // no key
    ck_assert_int_eq(probe_message(get(NOOP, 1)), BB_MATCH_NO);   // a key
    ck_assert_int_eq(probe_message(get(SET, 1)), BB_MATCH_NO);    // no extras
    ck_assert_int_eq(probe_message(plain(0x7f, 1)), BB_MATCH_NO); // no command
    ck_assert_int_eq(probe_message(outcome(GET, 0x77, 1)), BB_MATCH_NO);
    ck_assert_int_eq(probe_message(message(0x80, GET, 0, 1, "", "'key'", "'value'")), BB_MATCH_NO);
    ck_assert_int_eq(probe_message(message(0x80, GET, 0, 1, "", "'x' *251", "")), BB_MATCH_NO);
    ck_assert_int_eq(probe_message(message(0x80, 0x08, 0, 1, "", "", "")), BB_MATCH_REQUEST);
    ck_assert_int_eq(probe_message(message(0x80, 0x08, 0, 1, "00*4", "", "")), BB_MATCH_REQUEST);
    ck_assert_int_eq(probe_octets(&bb_decoder_memcached_binary, "80 00 0003"), BB_MATCH_MORE);
    ck_assert_int_eq(probe_octets(&bb_decoder_memcached_binary, "80 00 0003 00 01"), BB_MATCH_NO);
    ck_assert_ptr_eq(bb_decoder_find("memcached"), &bb_decoder_memcached_binary);
}
END_TEST

START_TEST(probe_others)
{
    check_refusals(&bb_decoder_memcached_binary);
}
END_TEST

TEST_MAIN("memcached_binary", a_session, status_words, the_same_opaque, quiet_commands,
          quiet_commands_have_a_limit, quiet_commands_can_be_let_go, statistics, unknown_commands,
          large_values, lost_reply, lost_request, lost_within_statistics, damage_in_the_middle,
          cut_off, joined_in_the_middle, probe_messages, probe_others)
