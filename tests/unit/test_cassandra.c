// SPDX-License-Identifier: Apache-2.0
// Cassandra's CQL: streams, prepared statements, errors, events, compression, the segments of
// version 5, loss. Every conversation runs whole and in small segments.
#include "capture/loss.h"
#include "capture/protocols/cassandra_message.h"
#include "tests/unit/octets.h"

#define PORT 9042
#define CONSISTENCY "0001 00" // ONE, no flags
#define VOID "00000001"
#define SCHEMA_ERROR "00002200 0005 'table'"
#define ID "0010 'sixteen bytes id'"

enum {
    ERROR = 0x00,
    STARTUP = 0x01,
    READY = 0x02,
    AUTHENTICATE = 0x03,
    OPTIONS = 0x05,
    SUPPORTED = 0x06,
    QUERY = 0x07,
    RESULT = 0x08,
    PREPARE = 0x09,
    EXECUTE = 0x0a,
    REGISTER = 0x0b,
    EVENT = 0x0c,
    BATCH = 0x0d,
    AUTH_RESPONSE = 0x0f,
    AUTH_SUCCESS = 0x10,
};

// ---- messages -----------------------------------------------------------------------------------

static Octets *message_of(guint8 version, guint8 flags, guint16 stream, guint8 opcode,
                          const Octets *body)
{
    static const guint requests = 1u << STARTUP | 1u << OPTIONS | 1u << QUERY | 1u << PREPARE |
                                  1u << EXECUTE | 1u << REGISTER | 1u << BATCH |
                                  1u << AUTH_RESPONSE;
    Octets *out = g_byte_array_new();
    octets_be(out, version | (requests >> opcode & 1 ? 0 : 0x80u), 1);
    octets_be(out, flags, 1);
    octets_be(out, stream, 2);
    octets_be(out, opcode, 1);
    octets_be(out, body->len, 4);
    octets_put(out, body->data, body->len);
    return out;
}

static Octets *message(guint8 version, guint8 flags, guint16 stream, guint8 opcode,
                       const char *body)
{
    g_autoptr(Octets) bytes = octets(body);
    return message_of(version, flags, stream, opcode, bytes);
}

static void ask(Steps *s, guint16 stream, guint8 opcode, const char *body)
{
    step(s, SAY_UP, message(4, 0, stream, opcode, body));
}

static void answer(Steps *s, guint16 stream, guint8 opcode, const char *body)
{
    step(s, SAY_DOWN, message(4, 0, stream, opcode, body));
}

static Steps *started(void)
{
    Steps *s = steps_new(PORT);
    ask(s, 0, STARTUP, "0001 000b 'CQL_VERSION' 0005 '3.4.0'");
    answer(s, 0, READY, "");
    return s;
}
#define STARTED "CALL 1 cassandra STARTUP 31\nRET 1 cassandra ok 9\n"

// ---- pairs --------------------------------------------------------------------------------------

START_TEST(a_session)
{
    g_autoptr(Steps) s = steps_new(PORT);
    ask(s, 0, OPTIONS, "");
    answer(s, 0, SUPPORTED, "0001 000b 'CQL_VERSION' 0001 0005 '3.4.0'");
    ask(s, 0, STARTUP, "0001 000b 'CQL_VERSION' 0005 '3.4.0'");
    answer(s, 0, AUTHENTICATE, "0004 'Auth'");
    ask(s, 1, AUTH_RESPONSE, "00000004 'user'");
    answer(s, 1, AUTH_SUCCESS, "ffffffff");
    ask(s, 2, REGISTER, "0001 000d 'STATUS_CHANGE'");
    answer(s, 2, READY, "");
    ask(s, 3, QUERY, "['SELECT a FROM users WHERE id = 5']" CONSISTENCY);
    answer(s, 3, RESULT, "00000002 00000000 00000000 00000000");
    ask(s, 3, QUERY, "['UPDATE nothing SET a = 1']" CONSISTENCY);
    answer(s, 3, ERROR, SCHEMA_ERROR);
    steps_check(s, "CALL 1 cassandra OPTIONS 9\n"
                   "RET 1 cassandra ok 33\n"
                   "CALL 2 cassandra STARTUP 31\n"
                   "RET 2 cassandra ok 15\n"
                   "CALL 3 cassandra AUTH_RESPONSE 17\n"
                   "RET 3 cassandra ok 13\n"
                   "CALL 4 cassandra REGISTER 26\n"
                   "RET 4 cassandra ok 9\n"
                   "CALL 5 cassandra SELECT users 48\n"
                   "RET 5 cassandra ok 25\n"
                   "CALL 6 cassandra UPDATE nothing 40\n"
                   "RET 6 cassandra Invalid 20\n");
    ck_assert_uint_eq(steps_count(s, BB_CALLS_UNRETURNED), 0);
}
END_TEST

START_TEST(out_of_order)
{
    g_autoptr(Steps) s = started();
    ask(s, 1, QUERY, "['SELECT a FROM one']" CONSISTENCY);
    ask(s, 32767, QUERY, "['SELECT a FROM two']" CONSISTENCY);
    ask(s, 0, QUERY, "['SELECT a FROM three']" CONSISTENCY);
    answer(s, 0, RESULT, VOID);
    answer(s, 32767, ERROR, SCHEMA_ERROR);
    answer(s, 1, RESULT, VOID);
    answer(s, 77, RESULT, VOID); // of nobody
    steps_check(s, STARTED "CALL 2 cassandra SELECT one 33\n"
                           "CALL 3 cassandra SELECT two 33\n"
                           "CALL 4 cassandra SELECT three 35\n"
                           "RET 4 cassandra ok 13\n"
                           "RET 3 cassandra Invalid 20\n"
                           "RET 2 cassandra ok 13\n"
                           "RET - cassandra ok 13\n");
    ck_assert_uint_eq(steps_count(s, BB_RETURNS_ORPHANED), 1);
}
END_TEST

START_TEST(events_are_free)
{
    g_autoptr(Steps) s = started();
    ask(s, 1, QUERY, "['SELECT a FROM one']" CONSISTENCY);
    answer(s, 0xffff, EVENT, "000d 'STATUS_CHANGE' 0002 'UP' 04 7f000001 00002352");
    answer(s, 1, RESULT, VOID);
    steps_check(s, STARTED "CALL 2 cassandra SELECT one 33\n"
                           "MSG < cassandra EVENT 37\n"
                           "RET 2 cassandra ok 13\n");
}
END_TEST

START_TEST(names_of_errors)
{
    static const struct {
        const char *code, *name;
    } errors[] = {
        {"00000000", "ServerError"},     {"0000000a", "ProtocolError"},
        {"00000100", "BadCredentials"},  {"00001000", "Unavailable"},
        {"00001001", "Overloaded"},      {"00001002", "IsBootstrapping"},
        {"00001003", "TruncateError"},   {"00001100", "WriteTimeout"},
        {"00001200", "ReadTimeout"},     {"00001300", "ReadFailure"},
        {"00001400", "FunctionFailure"}, {"00001500", "WriteFailure"},
        {"00001600", "CDCWriteFailure"}, {"00001700", "CASWriteUnknown"},
        {"00002000", "SyntaxError"},     {"00002100", "Unauthorized"},
        {"00002200", "Invalid"},         {"00002300", "ConfigError"},
        {"00002400", "AlreadyExists"},   {"00002500", "Unprepared"},
        {"00009999", "error"},
    };
    for (guint i = 0; i < G_N_ELEMENTS(errors); i++) {
        g_autoptr(Steps) s = started();
        g_autofree char *body = g_strconcat(errors[i].code, "0003 'why'", NULL);
        g_autofree char *line = g_strdup_printf("\nRET 2 cassandra %s 18\n", errors[i].name);
        ask(s, 1, OPTIONS, "");
        answer(s, 1, ERROR, body);
        g_autoptr(Converse) c = steps_play(s, 1460);
        ck_assert_msg(g_str_has_suffix(converse_result(c), line), "%s", converse_result(c));
    }
}
END_TEST

// Flags put a tracing id, warnings, a payload before the body proper.
START_TEST(what_flags_put_first)
{
    g_autoptr(Steps) s = started();
    step(s, SAY_UP,
         message(4, 0x04, 1, QUERY,
                 "0001 0003 'key' 00000005 'value' ['SELECT a FROM one']" CONSISTENCY));
    step(s, SAY_DOWN,
         message(4, 0x0e, 1, ERROR,
                 "ab*16 0002 0003 'one' 0003 'two' 0001 0003 'key' ffffffff" SCHEMA_ERROR));
    steps_check(s, STARTED "CALL 2 cassandra SELECT one 49\nRET 2 cassandra Invalid 59\n");
}
END_TEST

// ---- prepared statements ------------------------------------------------------------------------

START_TEST(prepared_statements)
{
    g_autoptr(Steps) s = started();
    ask(s, 1, PREPARE, "['SELECT a FROM users WHERE id = ?']");
    ask(s, 2, PREPARE, "['INSERT INTO logs (a) VALUES (?)']");
    answer(s, 2, RESULT, "00000004 0002 'L1' 00000000");
    answer(s, 1, RESULT, "00000004" ID "00000000");
    ask(s, 1, EXECUTE, ID CONSISTENCY);
    answer(s, 1, RESULT, VOID);
    ask(s, 1, EXECUTE, "0002 'L1'" CONSISTENCY);
    answer(s, 1, RESULT, VOID);
    ask(s, 1, EXECUTE, "0010 'another id of 16'" CONSISTENCY);
    answer(s, 1, ERROR, "00002500 0000 0002 'L1'");
    ask(s, 1, PREPARE, "['nonsense']");
    answer(s, 1, ERROR, "00002000 0000");
    steps_check(s, STARTED "CALL 2 cassandra PREPARE SELECT users 45\n"
                           "CALL 3 cassandra PREPARE INSERT logs 44\n"
                           "RET 3 cassandra ok 21\n"
                           "RET 2 cassandra ok 35\n"
                           "CALL 4 cassandra SELECT users 30\n"
                           "RET 4 cassandra ok 13\n"
                           "CALL 5 cassandra INSERT logs 16\n"
                           "RET 5 cassandra ok 13\n"
                           "CALL 6 cassandra EXECUTE ? 30\n"
                           "RET 6 cassandra Unprepared 19\n"
                           "CALL 7 cassandra PREPARE NONSENSE 21\n"
                           "RET 7 cassandra SyntaxError 15\n");
}
END_TEST

// A batch is named by its first statement.
START_TEST(batches)
{
    g_autoptr(Steps) s = started();
    ask(s, 1, PREPARE, "['INSERT INTO logs (a) VALUES (?)']");
    answer(s, 1, RESULT, "00000004 0002 'L1' 00000000");
    ask(s, 1, BATCH, "00 0002 00 ['UPDATE users SET a = 1'] 0000 01 0002 'L1' 0000" CONSISTENCY);
    answer(s, 1, RESULT, VOID);
    ask(s, 1, BATCH, "01 0001 01 0002 'L1' 0000" CONSISTENCY);
    answer(s, 1, RESULT, VOID);
    ask(s, 1, BATCH, "02 0001 01 0002 'XX' 0000" CONSISTENCY);
    answer(s, 1, RESULT, VOID);
    steps_check(s, STARTED "CALL 2 cassandra PREPARE INSERT logs 44\n"
                           "RET 2 cassandra ok 21\n"
                           "CALL 3 cassandra UPDATE users 51\n"
                           "RET 3 cassandra ok 13\n"
                           "CALL 4 cassandra INSERT logs 22\n"
                           "RET 4 cassandra ok 13\n"
                           "CALL 5 cassandra BATCH ? 22\n"
                           "RET 5 cassandra ok 13\n");
}
END_TEST

START_TEST(statements_can_be_let_go)
{
    g_autoptr(Steps) s = started();
    ask(s, 1, PREPARE, "['INSERT INTO logs (a) VALUES (?)']");
    answer(s, 1, RESULT, "00000004 0002 'L1' 00000000");
    ask(s, 1, EXECUTE, "0002 'L1'" CONSISTENCY);
    g_autoptr(Converse) c = converse_tcp_held(PORT, 64);
    for (guint i = 0; i < s->steps->len; i++) {
        const Step *one = &g_array_index(s->steps, Step, i);
        converse_say(c, one->kind == SAY_UP ? BB_TO_SERVER : BB_TO_CLIENT, one->bytes->data,
                     one->bytes->len);
    }
    ck_assert(g_str_has_suffix(converse_result(c), "CALL 3 cassandra EXECUTE ? 16\n"));
    ck_assert_uint_gt(converse_loss(c, BB_TCP_BUFFER_LIMIT), 0);
}
END_TEST

// ---- compression --------------------------------------------------------------------------------

// A block of LZ4 that is all literals.
static void put_lz4(Octets *out, const Octets *plain)
{
    guint length = plain->len;
    octets_be(out, MIN(length, 15) << 4, 1);
    for (guint rest = length - 15; length >= 15; rest -= 255) {
        octets_be(out, MIN(rest, 255), 1);
        if (rest < 255)
            break;
    }
    octets_put(out, plain->data, plain->len);
}

static Octets *lz4_message(guint16 stream, guint8 opcode, const char *body)
{
    g_autoptr(Octets) plain = octets(body), packed = g_byte_array_new();
    octets_be(packed, plain->len, 4);
    put_lz4(packed, plain);
    return message_of(4, BB_CASSANDRA_COMPRESSED, stream, opcode, packed);
}

static Octets *snappy_message(guint16 stream, guint8 opcode, const char *body)
{
    g_autoptr(Octets) plain = octets(body), packed = g_byte_array_new();
    octets_be(packed, plain->len, 1);
    octets_be(packed, (plain->len - 1) << 2, 1);
    octets_put(packed, plain->data, plain->len);
    return message_of(4, BB_CASSANDRA_COMPRESSED, stream, opcode, packed);
}

START_TEST(compressed_by_lz4)
{
    g_autoptr(Steps) s = steps_new(PORT);
    ask(s, 0, STARTUP, "0002 000b 'CQL_VERSION' 0005 '3.4.0' 000b 'COMPRESSION' 0003 'lz4'");
    answer(s, 0, READY, "");
    step(s, SAY_UP, lz4_message(1, QUERY, "['SELECT a FROM users WHERE id = 5']" CONSISTENCY));
    step(s, SAY_DOWN, lz4_message(1, ERROR, SCHEMA_ERROR));
    step(s, SAY_UP, message(4, 1, 1, QUERY, "00000040 ff ff")); // of no sense
    step(s, SAY_DOWN, lz4_message(1, RESULT, VOID));
    steps_check(s, "CALL 1 cassandra STARTUP 49\n"
                   "RET 1 cassandra ok 9\n"
                   "CALL 2 cassandra SELECT users 54\n"
                   "RET 2 cassandra Invalid 25\n"
                   "CALL 3 cassandra QUERY ? 15\n"
                   "RET 3 cassandra ok 18\n");
}
END_TEST

START_TEST(compressed_by_snappy)
{
    g_autoptr(Steps) s = steps_new(PORT);
    ask(s, 0, STARTUP, "0002 000b 'CQL_VERSION' 0005 '3.4.0' 000b 'COMPRESSION' 0006 'snappy'");
    answer(s, 0, READY, "");
    step(s, SAY_UP, snappy_message(1, PREPARE, "['DELETE FROM users WHERE id = ?']"));
    step(s, SAY_DOWN, snappy_message(1, RESULT, "00000004 0002 'L1' 00000000"));
    step(s, SAY_UP, snappy_message(1, EXECUTE, "0002 'L1'" CONSISTENCY));
    step(s, SAY_DOWN, snappy_message(1, RESULT, VOID));
    steps_check(s, "CALL 1 cassandra STARTUP 52\n"
                   "RET 1 cassandra ok 9\n"
                   "CALL 2 cassandra PREPARE DELETE users 45\n"
                   "RET 2 cassandra ok 23\n"
                   "CALL 3 cassandra DELETE users 18\n"
                   "RET 3 cassandra ok 15\n");
}
END_TEST

// Joined in the middle, it is not known how it is compressed; pairs stay right, errors unseen.
START_TEST(compressed_somehow)
{
    g_autoptr(Steps) s = steps_new(PORT);
    s->midstream = true;
    step(s, SAY_UP, lz4_message(1, QUERY, "['SELECT a FROM users WHERE id = 5']" CONSISTENCY));
    step(s, SAY_DOWN, lz4_message(1, ERROR, SCHEMA_ERROR));
    steps_check(s, "CALL 1 cassandra QUERY ? 54\nRET 1 cassandra error 25\n");
}
END_TEST

// ---- segments -----------------------------------------------------------------------------------

// Division of the bits, each byte's most significant first, with the start value shifted in.
static guint32 crc24(const guint8 *bytes, guint length)
{
    guint32 rest = 0x875060;
    for (guint bit = 0; bit < length * 8; bit++) {
        guint32 in = bytes[bit / 8] >> (7 - bit % 8) & 1;
        guint32 top = rest >> 23 & 1;
        rest = (rest << 1 & 0xffffff) ^ (top ^ in ? 0x974f0b : 0);
    }
    return rest;
}

static Octets *segment_of(const Octets *payload, guint32 plain, bool lz4, bool whole)
{
    Octets *out = g_byte_array_new();
    if (lz4)
        octets_le(out, payload->len | (guint64)plain << 17 | (guint64)whole << 34, 5);
    else
        octets_le(out, payload->len | (guint32)whole << 17, 3);
    octets_le(out, crc24(out->data, out->len), 3);
    octets_put(out, payload->data, payload->len);
    return octets_join(out, octets("c0c1c2c3")); // not looked at
}

static Octets *segment(Octets *payload)
{
    Octets *out = segment_of(payload, 0, false, true);
    g_byte_array_unref(payload);
    return out;
}

static Octets *lz4_segment(Octets *payload)
{
    g_autoptr(Octets) packed = g_byte_array_new();
    put_lz4(packed, payload);
    Octets *out = segment_of(packed, payload->len, true, true);
    g_byte_array_unref(payload);
    return out;
}

static Steps *started_5(const char *options)
{
    Steps *s = steps_new(PORT);
    step(s, SAY_UP, message(5, 0, 0, STARTUP, options));
    step(s, SAY_DOWN, message(5, 0, 0, READY, ""));
    return s;
}
#define PLAIN_5 "0001 000b 'CQL_VERSION' 0005 '3.4.0'"
#define LZ4_5 "0002 000b 'CQL_VERSION' 0005 '3.4.0' 000b 'COMPRESSION' 0003 'lz4'"

static Octets *query_5(guint16 stream, const char *table)
{
    g_autofree char *body = g_strdup_printf("['SELECT a FROM %s']" CONSISTENCY, table);
    return message(5, 0, stream, QUERY, body);
}

START_TEST(segments)
{
    g_autoptr(Steps) s = started_5(PLAIN_5);
    step(s, SAY_UP, segment(octets_join(query_5(1, "one"), query_5(2, "two"))));
    step(s, SAY_UP, segment(query_5(3, "three")));
    step(s, SAY_DOWN,
         segment(
             octets_join(message(5, 0, 3, RESULT, VOID), message(5, 0, 1, ERROR, SCHEMA_ERROR))));
    step(s, SAY_DOWN, segment(message(5, 0, 2, RESULT, VOID)));
    step(s, SAY_DOWN, segment(message(5, 0, 0xffff, EVENT, "0001 'x' 00*20")));
    steps_check(s, STARTED "CALL 2 cassandra SELECT one 33\n"
                           "CALL 3 cassandra SELECT two 33\n"
                           "CALL 4 cassandra SELECT three 35\n"
                           "RET 4 cassandra ok 13\n"
                           "RET 2 cassandra Invalid 20\n"
                           "RET 3 cassandra ok 13\n"
                           "MSG < cassandra EVENT 32\n");
    ck_assert_uint_eq(steps_count(s, BB_DECODER_LOST), 0);
}
END_TEST

// A message of several segments; authentication comes before the first one.
START_TEST(a_message_in_several_segments)
{
    g_autoptr(Steps) s = steps_new(PORT);
    step(s, SAY_UP, message(5, 0, 0, STARTUP, PLAIN_5));
    step(s, SAY_DOWN, message(5, 0, 0, AUTHENTICATE, "0004 'Auth'"));
    step(s, SAY_UP, segment(message(5, 0, 0, AUTH_RESPONSE, "00000004 'user'")));
    step(s, SAY_DOWN, segment(message(5, 0, 0, AUTH_SUCCESS, "ffffffff")));
    step(s, SAY_UP, segment(query_5(1, "big")));
    g_autoptr(Octets) rows = message(5, 0, 1, RESULT, "00000002 'x' *3000");
    for (guint at = 0; at < rows->len; at += 1000) {
        g_autoptr(Octets) piece = g_byte_array_new();
        octets_put(piece, rows->data + at, MIN(1000, rows->len - at));
        step(s, SAY_DOWN, segment_of(piece, 0, false, false));
    }
    step(s, SAY_UP, segment(query_5(1, "next")));
    step(s, SAY_DOWN, segment(message(5, 0, 1, RESULT, VOID)));
    steps_check(s, "CALL 1 cassandra STARTUP 31\n"
                   "RET 1 cassandra ok 15\n"
                   "CALL 2 cassandra AUTH_RESPONSE 17\n"
                   "RET 2 cassandra ok 13\n"
                   "CALL 3 cassandra SELECT big 33\n"
                   "RET 3 cassandra ok 3013\n"
                   "CALL 4 cassandra SELECT next 34\n"
                   "RET 4 cassandra ok 13\n");
}
END_TEST

// A refused STARTUP is followed by another one, and no segments.
START_TEST(version_refused)
{
    g_autoptr(Steps) s = steps_new(PORT);
    step(s, SAY_UP, message(5, 0, 0, STARTUP, PLAIN_5));
    step(s, SAY_DOWN, message(4, 0, 0, ERROR, "0000000a 0000"));
    step(s, SAY_UP, message(4, 0, 0, STARTUP, PLAIN_5));
    step(s, SAY_DOWN, message(4, 0, 0, READY, ""));
    ask(s, 1, OPTIONS, "");
    answer(s, 1, SUPPORTED, "0000");
    steps_check(s, "CALL 1 cassandra STARTUP 31\n"
                   "RET 1 cassandra ProtocolError 15\n"
                   "CALL 2 cassandra STARTUP 31\n"
                   "RET 2 cassandra ok 9\n"
                   "CALL 3 cassandra OPTIONS 9\n"
                   "RET 3 cassandra ok 11\n");
}
END_TEST

// Compressed ones are read whole; those that did not get smaller are not compressed. A message
// counts its own bytes.
START_TEST(compressed_segments)
{
    g_autoptr(Steps) s = started_5(LZ4_5);
    step(s, SAY_UP, lz4_segment(octets_join(query_5(1, "one"), query_5(2, "two"))));
    step(s, SAY_DOWN,
         lz4_segment(
             octets_join(message(5, 0, 2, RESULT, VOID), message(5, 0, 1, ERROR, SCHEMA_ERROR))));
    g_autoptr(Octets) plain = query_5(3, "plain");
    step(s, SAY_UP, segment_of(plain, 0, true, true));
    step(s, SAY_DOWN, lz4_segment(message(5, 0, 3, RESULT, VOID)));
    steps_check(s, "CALL 1 cassandra STARTUP 49\n"
                   "RET 1 cassandra ok 9\n"
                   "CALL 2 cassandra SELECT one 33\n"
                   "CALL 3 cassandra SELECT two 33\n"
                   "RET 3 cassandra ok 13\n"
                   "RET 2 cassandra Invalid 20\n"
                   "CALL 4 cassandra SELECT plain 35\n"
                   "RET 4 cassandra ok 13\n");
}
END_TEST

// All literals, and the last of them `times` more: a match with what stands one byte before.
static void put_lz4_run(Octets *out, const Octets *plain, guint times)
{
    guint token = out->len, rest = times - 4 - 15;
    put_lz4(out, plain);
    out->data[token] |= 15;
    octets_le(out, 1, 2);
    for (; rest >= 255; rest -= 255)
        octets_be(out, 255, 1);
    octets_be(out, rest, 1);
}

// The longest segments there are: rows that compress well, and what stands behind them.
START_TEST(large_compressed_segments)
{
    g_autoptr(Steps) s = started_5(LZ4_5);
    step(s, SAY_UP, lz4_segment(octets_join(query_5(1, "one"), query_5(2, "two"))));
    g_autoptr(Octets) rows = message(5, 0, 2, RESULT, "00000002 'x'");
    g_autoptr(Octets) last = message(5, 0, 1, RESULT, VOID), packed = g_byte_array_new();
    octets_patch_be(rows, 5, 5 + 131000, 4);
    put_lz4_run(packed, rows, 131000);
    put_lz4(packed, last);
    step(s, SAY_DOWN, segment_of(packed, rows->len + 131000 + last->len, true, true));
    steps_check(s, "CALL 1 cassandra STARTUP 49\n"
                   "RET 1 cassandra ok 9\n"
                   "CALL 2 cassandra SELECT one 33\n"
                   "CALL 3 cassandra SELECT two 33\n"
                   "RET 3 cassandra ok 131014\n"
                   "RET 2 cassandra ok 13\n");
    ck_assert_uint_eq(steps_count(s, BB_MESSAGE_LIMIT), 0);
}
END_TEST

// 40 results of 1 KB each.
START_TEST(many_in_a_compressed_segment)
{
    g_autoptr(Steps) s = started_5(LZ4_5);
    g_autoptr(Octets) all = g_byte_array_new(), packed = g_byte_array_new();
    for (guint16 i = 1; i <= 40; i++) {
        g_autoptr(Octets) one = message(5, 0, i, RESULT, "00000002 'x' *1000");
        octets_put(all, one->data, one->len);
        step(s, SAY_UP, lz4_segment(query_5(i, "t")));
    }
    put_lz4(packed, all);
    step(s, SAY_DOWN, segment_of(packed, all->len, true, true));
    ck_assert_uint_eq(steps_count(s, BB_RETURNS), 41);
    ck_assert_uint_eq(steps_count(s, BB_CALLS_UNRETURNED), 0);
}
END_TEST

// Of what does not compress the beginning is waited for; what is behind it is counted.
START_TEST(long_compressed_segments)
{
    g_autoptr(Steps) s = started_5(LZ4_5);
    step(s, SAY_UP, lz4_segment(octets_join(query_5(1, "one"), query_5(2, "two"))));
    Octets *long_one = message(5, 0, 2, RESULT, "00000002 'x' *60000");
    step(s, SAY_DOWN, lz4_segment(octets_join(long_one, message(5, 0, 1, RESULT, VOID))));
    g_autoptr(Converse) c = steps_play(s, 1460);
    ck_assert(strstr(converse_result(c), "\nRET 3 cassandra ok 60013\n"));
    ck_assert_uint_eq(converse_loss(c, BB_MESSAGE_LIMIT), 1);
    ck_assert_uint_eq(converse_loss(c, BB_CALLS_UNRETURNED), 1);
}
END_TEST

// A message of several, of which one did not get smaller: it is over with its last byte.
START_TEST(a_message_in_compressed_segments)
{
    for (guint plain = 0; plain < 3; plain++) {
        g_autoptr(Steps) s = started_5(LZ4_5);
        step(s, SAY_UP, lz4_segment(query_5(1, "one")));
        g_autoptr(Octets) rows = message(5, 0, 1, RESULT, "00000002 'x' *3000");
        for (guint i = 0; i * 1500 < rows->len; i++) {
            g_autoptr(Octets) piece = g_byte_array_new(), packed = g_byte_array_new();
            octets_put(piece, rows->data + i * 1500, MIN(1500, rows->len - i * 1500));
            put_lz4(packed, piece);
            step(s, SAY_DOWN,
                 i == plain ? segment_of(piece, 0, true, false)
                            : segment_of(packed, piece->len, true, false));
        }
        step(s, SAY_UP, lz4_segment(query_5(1, "next")));
        step(s, SAY_DOWN, lz4_segment(message(5, 0, 1, RESULT, VOID)));
        steps_check(s, "CALL 1 cassandra STARTUP 49\n"
                       "RET 1 cassandra ok 9\n"
                       "CALL 2 cassandra SELECT one 33\n"
                       "RET 2 cassandra ok 3013\n"
                       "CALL 3 cassandra SELECT next 34\n"
                       "RET 3 cassandra ok 13\n");
        ck_assert_uint_eq(steps_count(s, BB_DECODER_LOST), 0);
    }
}
END_TEST

// What never gets all its pieces ends with those that came.
START_TEST(a_message_without_its_end)
{
    g_autoptr(Steps) s = started_5(LZ4_5);
    step(s, SAY_UP, lz4_segment(query_5(1, "one")));
    g_autoptr(Octets) rows = message(5, 0, 1, RESULT, "00000002 'x' *2000");
    g_autoptr(Octets) packed = g_byte_array_new();
    g_byte_array_set_size(rows, 1000);
    put_lz4(packed, rows);
    step(s, SAY_DOWN, segment_of(packed, rows->len, true, false));
    step(s, SAY_UP, lz4_segment(query_5(2, "two")));
    step(s, SAY_DOWN, lz4_segment(message(5, 0, 2, ERROR, SCHEMA_ERROR)));
    steps_check(s, "CALL 1 cassandra STARTUP 49\n"
                   "RET 1 cassandra ok 9\n"
                   "CALL 2 cassandra SELECT one 33\n"
                   "RET 2 cassandra ok 1000\n"
                   "CALL 3 cassandra SELECT two 33\n"
                   "RET 3 cassandra Invalid 20\n");
}
END_TEST

START_TEST(joined_among_segments)
{
    g_autoptr(Steps) plain = steps_new(PORT);
    plain->midstream = true;
    step(plain, SAY_UP, segment(query_5(1, "one")));
    step(plain, SAY_DOWN, segment(message(5, 0, 1, RESULT, VOID)));
    steps_check(plain, "CALL 1 cassandra SELECT one 33\nRET 1 cassandra ok 13\n");

    g_autoptr(Steps) packed = steps_new(PORT);
    packed->midstream = true;
    step(packed, SAY_UP, lz4_segment(query_5(1, "one")));
    step(packed, SAY_DOWN, lz4_segment(message(5, 0, 1, RESULT, VOID)));
    steps_check(packed, "CALL 1 cassandra SELECT one 33\nRET 1 cassandra ok 13\n");
}
END_TEST

START_TEST(lost_segments)
{
    g_autoptr(Steps) s = started_5(PLAIN_5);
    step(s, SAY_UP, segment(query_5(1, "one")));
    step(s, LOSE_DOWN, segment(message(5, 0, 1, RESULT, VOID)));
    step(s, LOSE_UP, segment(query_5(1, "lost")));
    step(s, SAY_DOWN, segment(message(5, 0, 1, ERROR, SCHEMA_ERROR)));
    step(s, SAY_UP, segment(query_5(1, "next")));
    step(s, SAY_DOWN, segment(message(5, 0, 1, RESULT, VOID)));
    steps_check(s, STARTED "CALL 2 cassandra SELECT one 33\n"
                           "RET - cassandra Invalid 20\n"
                           "CALL 3 cassandra SELECT next 34\n"
                           "RET 3 cassandra ok 13\n");
}
END_TEST

// A head with a wrong CRC is none.
START_TEST(damaged_segment)
{
    g_autoptr(Steps) s = started_5(PLAIN_5);
    Octets *broken = segment(query_5(1, "one"));
    broken->data[4] ^= 1;
    step(s, SAY_UP, broken);
    step(s, SAY_UP, segment(query_5(2, "two")));
    step(s, SAY_DOWN, segment(message(5, 0, 2, RESULT, VOID)));
    steps_check(s, STARTED "CALL 2 cassandra SELECT two 33\nRET 2 cassandra ok 13\n");
    ck_assert_uint_eq(steps_count(s, BB_DECODER_LOST), 1);
}
END_TEST

// ---- loss ---------------------------------------------------------------------------------------

// A stream is used again: the reply that was lost is not taken for the next one's.
START_TEST(lost_reply)
{
    g_autoptr(Steps) s = started();
    ask(s, 1, QUERY, "['SELECT a FROM one']" CONSISTENCY);
    ask(s, 2, QUERY, "['SELECT a FROM two']" CONSISTENCY);
    step(s, LOSE_DOWN, message(4, 0, 1, RESULT, VOID));
    answer(s, 2, RESULT, VOID);
    ask(s, 1, QUERY, "['SELECT a FROM next']" CONSISTENCY);
    answer(s, 1, ERROR, SCHEMA_ERROR);
    steps_check(s, STARTED "CALL 2 cassandra SELECT one 33\n"
                           "CALL 3 cassandra SELECT two 33\n"
                           "RET 3 cassandra ok 13\n"
                           "CALL 4 cassandra SELECT next 34\n"
                           "RET 4 cassandra Invalid 20\n");
    ck_assert_uint_eq(steps_count(s, BB_CALLS_UNRETURNED), 1);
}
END_TEST

START_TEST(lost_request)
{
    g_autoptr(Steps) s = started();
    step(s, LOSE_UP, message(4, 0, 1, QUERY, "['SELECT a FROM lost']" CONSISTENCY));
    answer(s, 1, RESULT, VOID);
    ask(s, 1, QUERY, "['SELECT a FROM next']" CONSISTENCY);
    answer(s, 1, ERROR, SCHEMA_ERROR);
    steps_check(s, STARTED "RET - cassandra ok 13\n"
                           "CALL 2 cassandra SELECT next 34\n"
                           "RET 2 cassandra Invalid 20\n");
}
END_TEST

START_TEST(lost_inside)
{
    g_autoptr(Steps) s = started();
    g_autoptr(Octets) rows = message(4, 0, 1, RESULT, "00000002 'x' *9000");
    Octets *seen = g_byte_array_new(), *lost = g_byte_array_new(), *rest = g_byte_array_new();
    octets_put(seen, rows->data, 5000);
    octets_put(lost, rows->data + 5000, 1000);
    octets_put(rest, rows->data + 6000, rows->len - 6000);
    ask(s, 1, QUERY, "['SELECT a FROM one']" CONSISTENCY);
    step(s, SAY_DOWN, seen);
    step(s, LOSE_DOWN, lost);
    step(s, SAY_DOWN, rest);
    ask(s, 1, QUERY, "['SELECT a FROM two']" CONSISTENCY);
    answer(s, 1, RESULT, VOID);
    steps_check(s, STARTED "CALL 2 cassandra SELECT one 33\n"
                           "RET 2 cassandra ok 8013\n"
                           "CALL 3 cassandra SELECT two 33\n"
                           "RET 3 cassandra ok 13\n");
    ck_assert_uint_eq(steps_count(s, BB_DECODER_LOST), 0);
}
END_TEST

START_TEST(cut_off)
{
    g_autoptr(Steps) s = started();
    Octets *half = message(4, 0, 1, QUERY, "['SELECT a FROM customers']" CONSISTENCY);
    g_byte_array_set_size(half, 9 + 4 + 20);
    step(s, SAY_UP, half);
    steps_check(s, STARTED "CALL 2 cassandra SELECT 33\n");
}
END_TEST

// Longer than what is looked at, and longer than a buffer.
START_TEST(long_messages)
{
    g_autoptr(Steps) s = started();
    ask(s, 1, QUERY, "['INSERT INTO logs (a) VALUES (' 'x' *200000 ')']" CONSISTENCY);
    answer(s, 1, RESULT, "00000002 'x' *200000");
    ask(s, 1, OPTIONS, "");
    answer(s, 1, SUPPORTED, "0000");
    steps_check(s, STARTED "CALL 2 cassandra INSERT logs 200046\n"
                           "RET 2 cassandra ok 200013\n"
                           "CALL 3 cassandra OPTIONS 9\n"
                           "RET 3 cassandra ok 11\n");
    ck_assert_uint_eq(steps_count(s, BB_MESSAGE_LIMIT), 0);
}
END_TEST

START_TEST(damage_in_the_middle)
{
    g_autoptr(Steps) s = started();
    ask(s, 1, QUERY, "['SELECT a FROM one']" CONSISTENCY);
    down(s, "84 00 0001 07 00000000"); // a server that asks
    answer(s, 1, RESULT, VOID);
    up(s, "04 ff 0001 07 00000000");
    ask(s, 2, QUERY, "['SELECT a FROM two']" CONSISTENCY);
    answer(s, 2, RESULT, VOID);
    steps_check(s, STARTED "CALL 2 cassandra SELECT one 33\n"
                           "RET 2 cassandra ok 13\n"
                           "CALL 3 cassandra SELECT two 33\n"
                           "RET 3 cassandra ok 13\n");
    ck_assert_uint_eq(steps_count(s, BB_DECODER_LOST), 2);
}
END_TEST

// ---- the probe ----------------------------------------------------------------------------------

static BbMatch probe_message(Octets *bytes)
{
    g_autoptr(Octets) owned = bytes;
    return bb_decoder_cassandra.probe(owned->data, owned->len);
}

START_TEST(probe_messages)
{
    static const struct {
        guint8 opcode;
        const char *body;
        BbMatch match;
    } cases[] = {
        {OPTIONS, "", BB_MATCH_REQUEST},
        {STARTUP, "0001 000b 'CQL_VERSION' 0005 '3.4.0'", BB_MATCH_REQUEST},
        {QUERY, "['SELECT a FROM one']" CONSISTENCY, BB_MATCH_REQUEST},
        {QUERY, "['hello there']" CONSISTENCY, BB_MATCH_LIKELY},
        {QUERY, "00001000 'SELECT a FROM one'" CONSISTENCY, BB_MATCH_NO},
        {EXECUTE, ID CONSISTENCY, BB_MATCH_REQUEST},
        {BATCH, "00 0001 00 ['UPDATE u SET a = 1'] 0000" CONSISTENCY, BB_MATCH_LIKELY},
        {BATCH, "07 0001 00 ['UPDATE u SET a = 1'] 0000" CONSISTENCY, BB_MATCH_NO},
        {AUTH_RESPONSE, "00000004 'user'", BB_MATCH_REQUEST},
        {AUTH_RESPONSE, "00000007 'user'", BB_MATCH_NO},
        {READY, "", BB_MATCH_REPLY},
        {RESULT, VOID, BB_MATCH_REPLY},
        {RESULT, "00000009", BB_MATCH_NO},
        {ERROR, SCHEMA_ERROR, BB_MATCH_REPLY},
        {ERROR, "12345678 0005 'table'", BB_MATCH_NO},
        {SUPPORTED, "0000", BB_MATCH_REPLY},
    };
    for (guint i = 0; i < G_N_ELEMENTS(cases); i++)
        ck_assert_msg(probe_message(message(4, 0, 1, cases[i].opcode, cases[i].body)) ==
                          cases[i].match,
                      "%u: %s", cases[i].opcode, cases[i].body);
    ck_assert_int_eq(probe_message(message(2, 0, 1, OPTIONS, "")), BB_MATCH_NO);
    ck_assert_int_eq(probe_message(message(6, 0, 1, OPTIONS, "")), BB_MATCH_NO);
    ck_assert_int_eq(probe_message(message(3, 4, 1, OPTIONS, "")), BB_MATCH_NO); // of version 4
    ck_assert_int_eq(probe_message(message(4, 0, 0xffff, OPTIONS, "")), BB_MATCH_NO);
    ck_assert_int_eq(probe_message(message(4, 0, 1, EVENT, "0001 'x'")), BB_MATCH_NO);
    ck_assert_int_eq(probe_octets(&bb_decoder_cassandra, "04 00 0001 05"), BB_MATCH_MORE);
}
END_TEST

START_TEST(probe_segments)
{
    ck_assert_int_eq(probe_message(segment(query_5(1, "one"))), BB_MATCH_REQUEST);
    ck_assert_int_eq(probe_message(segment(message(5, 0, 1, RESULT, VOID))), BB_MATCH_REPLY);
    ck_assert_int_eq(probe_message(lz4_segment(query_5(1, "one"))), BB_MATCH_LIKELY);
    ck_assert_int_eq(probe_message(segment(octets("'no message at all'"))), BB_MATCH_NO);
}
END_TEST

START_TEST(probe_others)
{
    check_refusals(&bb_decoder_cassandra);
}
END_TEST

TEST_MAIN("cassandra", a_session, out_of_order, events_are_free, names_of_errors,
          what_flags_put_first, prepared_statements, batches, statements_can_be_let_go,
          compressed_by_lz4, compressed_by_snappy, compressed_somehow, segments,
          a_message_in_several_segments, version_refused, compressed_segments,
          large_compressed_segments, many_in_a_compressed_segment, long_compressed_segments,
          a_message_in_compressed_segments, a_message_without_its_end, joined_among_segments,
          lost_segments, damaged_segment, lost_reply, lost_request, lost_inside, cut_off,
          long_messages, damage_in_the_middle, probe_messages, probe_segments, probe_others)
