// SPDX-License-Identifier: Apache-2.0
// MongoDB: OP_MSG, streams of replies, the operations before OP_MSG, compression, errors, loss.
// Every conversation runs whole and in small segments.
#include "capture/loss.h"
#include "capture/protocols/mongodb_message.h"
#include "tests/unit/octets.h"

#include <zlib.h>
#include <zstd.h>

#define DAMAGED 4u // says that it is zstd, and is not

#define PORT 27017
#define OK_ONE " 01 'ok' 00 000000000000f03f"
#define OK_ZERO " 01 'ok' 00 0000000000000000"

// ---- messages -----------------------------------------------------------------------------------

// A BSON document of these elements.
static Octets *document(const char *elements)
{
    g_autoptr(Octets) inside = octets(elements);
    Octets *out = g_byte_array_new();
    octets_le(out, inside->len + 5, 4);
    octets_put(out, inside->data, inside->len);
    octets_be(out, 0, 1);
    return out;
}

static Octets *message(guint32 request, guint32 response_to, guint32 opcode, Octets *body)
{
    Octets *out = g_byte_array_new();
    octets_le(out, body->len + 16, 4);
    octets_le(out, request, 4);
    octets_le(out, response_to, 4);
    octets_le(out, opcode, 4);
    return octets_join(out, body);
}

static Octets *msg_body(guint32 flags, const char *elements)
{
    Octets *body = g_byte_array_new();
    octets_le(body, flags, 4);
    octets_be(body, 0, 1);
    return octets_join(body, document(elements));
}

static Octets *msg(guint32 request, guint32 response_to, guint32 flags, const char *elements)
{
    return message(request, response_to, BB_MONGODB_MSG, msg_body(flags, elements));
}

static void ask(Steps *s, guint32 request, const char *elements)
{
    step(s, SAY_UP, msg(request, 0, 0, elements));
}

static void answer(Steps *s, guint32 response_to, const char *elements)
{
    step(s, SAY_DOWN, msg(9000 + response_to, response_to, 0, elements));
}

// Elements: a string, a number of 32 bits.
#define FIND_USERS "02 'find' 00 06000000 'users' 00 02 '$db' 00 03000000 'db' 00"
#define INSERT_LOGS "02 'insert' 00 05000000 'logs' 00 02 '$db' 00 03000000 'db' 00"
#define PING "10 'ping' 00 01000000 02 '$db' 00 06000000 'admin' 00"

// ---- pairs --------------------------------------------------------------------------------------

START_TEST(a_session)
{
    g_autoptr(Steps) s = steps_new(PORT);
    ask(s, 1, "10 'hello' 00 01000000 02 '$db' 00 06000000 'admin' 00");
    answer(s, 1, "08 'isWritablePrimary' 00 01" OK_ONE);
    ask(s, 2, FIND_USERS);
    ask(s, 3, INSERT_LOGS);
    answer(s, 3, "10 'n' 00 01000000" OK_ONE);
    answer(s, 2, "03 'cursor' 00 05000000 00" OK_ONE);
    answer(s, 77, OK_ONE);
    steps_check(s, "CALL 1 mongodb hello 52\n"
                   "RET 1 mongodb ok 58\n"
                   "CALL 2 mongodb find users 54\n"
                   "CALL 3 mongodb insert logs 55\n"
                   "RET 3 mongodb ok 45\n"
                   "RET 2 mongodb ok 51\n"
                   "RET - mongodb ok 38\n");
    ck_assert_uint_eq(steps_count(s, BB_CALLS_UNRETURNED), 0);
}
END_TEST

START_TEST(command_labels)
{
    static const struct {
        const char *elements, *label;
    } cases[] = {
        {FIND_USERS, "find users"},
        {PING, "ping"},
        {"02 'find' 00 0b000000 'users.12345' 00", "find users.*"},
        {"02 'find' 00 0a000000 'fs.chunks' 00", "find fs.chunks"},
        {"12 'getMore' 00 0100000000000000 02 'collection' 00 06000000 'users' 00",
         "getMore users"},
        {"12 'getMore' 00 0100000000000000 02 'other' 00 06000000 'users' 00", "getMore"},
        {"01 'aggregate' 00 000000000000f03f", "aggregate"},
        {"02 'createUser' 00 04000000 'bob' 00", "createUser"},
        {"03 'explain' 00 05000000 00", "explain"},
        {"02 'two words' 00 02000000 'x' 00", "* x"},
        {"0b 'regex' 00 'a' 00 'i' 00", "regex"},
        {"02 'find' 00 ffffff7f 'users'", "find *"},
        {"", "?"},
        {"ee 'x' 00", "?"},
    };
    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        BbMongodbBody body;
        g_autoptr(Octets) bytes = msg_body(0, cases[i].elements);
        bb_mongodb_body_read(&body, BB_MONGODB_MSG, true, bb_cursor(bytes->data, bytes->len));
        ck_assert_msg(g_str_equal(body.label, cases[i].label), "%u: %s", i, body.label);
    }
}
END_TEST

// Every type that can stand before what is looked for.
START_TEST(types_are_passed_over)
{
    static const char *const values[] = {
        "01 'v' 00 1111111111111111",
        "02 'v' 00 02000000 'x' 00",
        "03 'v' 00 05000000 00",
        "04 'v' 00 05000000 00",
        "05 'v' 00 03000000 00 'abc'",
        "06 'v' 00",
        "07 'v' 00 11*12",
        "08 'v' 00 01",
        "09 'v' 00 1111111111111111",
        "0a 'v' 00",
        "0b 'v' 00 'a*' 00 'i' 00",
        "0c 'v' 00 02000000 'x' 00 11*12",
        "0d 'v' 00 02000000 'x' 00",
        "0e 'v' 00 02000000 'x' 00",
        "0f 'v' 00 0f000000 02000000 'x' 00 05000000 00",
        "10 'v' 00 11111111",
        "11 'v' 00 1111111111111111",
        "12 'v' 00 1111111111111111",
        "13 'v' 00 11*16",
        "ff 'v' 00",
        "7f 'v' 00",
    };
    for (guint i = 0; i < G_N_ELEMENTS(values); i++) {
        BbMongodbBody body;
        g_autofree char *elements = g_strconcat(values[i], OK_ZERO, NULL);
        g_autoptr(Octets) bytes = msg_body(0, elements);
        bb_mongodb_body_read(&body, BB_MONGODB_MSG, false, bb_cursor(bytes->data, bytes->len));
        ck_assert_msg(g_str_equal(body.error, "error"), "%s: %s", values[i], body.error);
    }
}
END_TEST

START_TEST(error_names)
{
    static const struct {
        const char *elements, *status;
    } cases[] = {
        {OK_ONE, "ok"},
        {OK_ZERO, "error"},
        {"10 'ok' 00 00000000", "error"},
        {"08 'ok' 00 00", "error"},
        {"12 'ok' 00 0000000000000000", "error"},
        {"10 'ok' 00 01000000", "ok"},
        {OK_ZERO "02 'errmsg' 00 04000000 'why' 00 10 'code' 00 1a000000"
                 "02 'codeName' 00 12000000 'NamespaceNotFound' 00",
         "NamespaceNotFound"},
        {OK_ZERO "02 'codeName' 00 08000000 'a b c d' 00", "error"},
        {"02 'codeName' 00 04000000 'Any' 00" OK_ONE, "ok"},
        {"10 'n' 00 00000000 04 'writeErrors' 00 05000000 00" OK_ONE, "error"},
        {"03 'writeConcernError' 00 05000000 00" OK_ONE, "error"},
    };
    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autoptr(Steps) s = steps_new(PORT);
        ask(s, 1, PING);
        answer(s, 1, cases[i].elements);
        g_autofree char *line = g_strdup_printf("\nRET 1 mongodb %s ", cases[i].status);
        g_autoptr(Converse) c = steps_play(s, 1460);
        ck_assert_msg(strstr(converse_result(c), line), "%u: %s", i, converse_result(c));
    }
}
END_TEST

// Sequences of documents may stand before the command.
START_TEST(sections)
{
    g_autoptr(Steps) s = steps_new(PORT);
    Octets *body = octets("00000000 01 14000000 'documents' 00 05000000 00 01000000");
    g_byte_array_set_size(body, 4 + 1 + 20 - 1);
    octets_patch_le(body, 5, 19, 4);
    octets_be(body, 0, 1);
    octets_join(body, document(INSERT_LOGS));
    step(s, SAY_UP, message(1, 0, BB_MONGODB_MSG, body));
    answer(s, 1, OK_ONE);
    step(s, SAY_UP, message(2, 0, BB_MONGODB_MSG, octets("01000000 01 ffffff7f 'documents' 00")));
    answer(s, 2, OK_ONE);
    steps_check(s, "CALL 1 mongodb insert logs 75\n"
                   "RET 1 mongodb ok 38\n"
                   "CALL 2 mongodb ? 35\n"
                   "RET 2 mongodb ok 38\n");
}
END_TEST

START_TEST(unacknowledged_is_one_way)
{
    g_autoptr(Steps) s = steps_new(PORT);
    step(s, SAY_UP, msg(1, 0, 2, INSERT_LOGS)); // moreToCome
    ask(s, 2, PING);
    answer(s, 2, OK_ONE);
    steps_check(s, "MSG > mongodb insert logs 55\n"
                   "CALL 1 mongodb ping 51\n"
                   "RET 1 mongodb ok 38\n");
}
END_TEST

// The first of several replies ends the call; each of the others answers the one before.
START_TEST(exhaust)
{
    g_autoptr(Steps) s = steps_new(PORT);
    step(s, SAY_UP, msg(1, 0, 0x10000, "10 'hello' 00 01000000"));
    step(s, SAY_DOWN, msg(501, 1, 2, OK_ONE));
    step(s, SAY_DOWN, msg(502, 501, 2, OK_ONE));
    step(s, SAY_DOWN, msg(503, 502, 0, OK_ZERO));
    step(s, SAY_DOWN, msg(504, 503, 0, OK_ONE)); // of nobody: the stream has ended
    ask(s, 2, PING);
    answer(s, 2, OK_ONE);
    steps_check(s, "CALL 1 mongodb hello 37\n"
                   "RET 1 mongodb ok 38\n"
                   "MSG < mongodb hello 38\n"
                   "MSG < mongodb hello 38\n"
                   "RET - mongodb ok 38\n"
                   "CALL 2 mongodb ping 51\n"
                   "RET 2 mongodb ok 38\n");
}
END_TEST

// Joined in the middle: there is no request to name it by.
START_TEST(exhaust_joined)
{
    g_autoptr(Steps) s = steps_new(PORT);
    s->midstream = true;
    step(s, SAY_DOWN, msg(502, 501, 2, OK_ONE));
    step(s, SAY_DOWN, msg(503, 502, 2, OK_ZERO));
    step(s, SAY_DOWN, msg(504, 503, 0, OK_ONE));
    ask(s, 2, PING);
    answer(s, 2, OK_ONE);
    steps_check(s, "MSG < mongodb - 38\n"
                   "MSG < mongodb - 38\n"
                   "MSG < mongodb - 38\n"
                   "CALL 1 mongodb ping 51\n"
                   "RET 1 mongodb ok 38\n");
    ck_assert_uint_eq(steps_count(s, BB_RETURNS_ORPHANED), 0);
}
END_TEST

START_TEST(exhaust_with_a_loss)
{
    g_autoptr(Steps) s = steps_new(PORT);
    step(s, SAY_UP, msg(1, 0, 0x10000, "10 'hello' 00 01000000"));
    step(s, SAY_DOWN, msg(501, 1, 2, OK_ONE));
    step(s, LOSE_DOWN, msg(502, 501, 2, OK_ONE));
    step(s, SAY_DOWN, msg(503, 502, 2, OK_ONE));
    step(s, SAY_DOWN, msg(504, 503, 2, OK_ONE));
    steps_check(s, "CALL 1 mongodb hello 37\n"
                   "RET 1 mongodb ok 38\n"
                   "MSG < mongodb hello 38\n"
                   "MSG < mongodb hello 38\n");
}
END_TEST

// The end of a stream is lost, and the client's numbers come to where it was.
START_TEST(exhaust_without_an_end)
{
    g_autoptr(Steps) s = steps_new(PORT);
    step(s, SAY_UP, msg(1, 0, 0x10000, "10 'hello' 00 01000000"));
    step(s, SAY_DOWN, msg(501, 1, 2, OK_ONE));
    step(s, LOSE_DOWN, msg(502, 501, 0, OK_ONE));
    step(s, SAY_UP, msg(501, 0, 0, "10 'ping' 00 01000000"));
    step(s, SAY_DOWN, msg(503, 501, 0, OK_ONE));
    steps_check(s, "CALL 1 mongodb hello 37\n"
                   "RET 1 mongodb ok 38\n"
                   "CALL 2 mongodb ping 36\n"
                   "RET 2 mongodb ok 38\n");
}
END_TEST

// ---- before OP_MSG ------------------------------------------------------------------------------

static Octets *old(guint32 request, guint32 opcode, const char *front, const char *elements)
{
    Octets *body = octets(front);
    if (elements)
        octets_join(body, document(elements));
    return message(request, 0, opcode, body);
}

static Octets *reply(guint32 request, guint32 response_to, const char *front, const char *elements)
{
    Octets *body = octets(front);
    if (elements)
        octets_join(body, document(elements));
    return message(request, response_to, BB_MONGODB_REPLY, body);
}
// Flags, cursor, start, number.
#define ONE "00000000 0000000000000000 00000000 01000000"
#define FAILED "02000000 0000000000000000 00000000 01000000"
#define NO_CURSOR "01000000 0000000000000000 00000000 00000000"
#define WITH_CURSOR "00000000 0700000000000000 00000000 01000000"

START_TEST(old_queries)
{
    g_autoptr(Steps) s = steps_new(PORT);
    step(s, SAY_UP,
         old(1, BB_MONGODB_QUERY, "00000000 'db.$cmd' 00 00000000 ffffffff",
             "10 'ismaster' 00 01000000"));
    step(s, SAY_DOWN, reply(501, 1, ONE, "08 'ismaster' 00 01" OK_ONE));
    step(s, SAY_UP, old(2, BB_MONGODB_QUERY, "00000000 'db.users' 00 00000000 00000000", ""));
    step(s, SAY_DOWN, reply(502, 2, WITH_CURSOR, "10 'a' 00 01000000"));
    step(s, SAY_UP,
         old(3, BB_MONGODB_GET_MORE, "00000000 'db.users' 00 00000000 0700000000000000", NULL));
    step(s, SAY_DOWN, reply(503, 3, NO_CURSOR, NULL));
    step(s, SAY_UP, old(4, BB_MONGODB_QUERY, "00000000 'db.users' 00 00000000 00000000", ""));
    step(s, SAY_DOWN, reply(504, 4, FAILED, "02 '$err' 00 04000000 'why' 00"));
    step(s, SAY_UP,
         old(5, BB_MONGODB_QUERY, "00000000 'admin.$cmd' 00 00000000 ffffffff",
             "03 '$query' 00 14000000 02 'count' 00 05000000 'logs' 00 00"));
    step(s, SAY_DOWN, reply(505, 5, ONE, OK_ZERO));
    steps_check(s, "CALL 1 mongodb ismaster 55\n"
                   "RET 1 mongodb ok 64\n"
                   "CALL 2 mongodb query users 42\n"
                   "RET 2 mongodb ok 48\n"
                   "CALL 3 mongodb getMore users 41\n"
                   "RET 3 mongodb CursorNotFound 36\n"
                   "CALL 4 mongodb query users 42\n"
                   "RET 4 mongodb error 55\n"
                   "CALL 5 mongodb count logs 73\n"
                   "RET 5 mongodb error 53\n");
}
END_TEST

START_TEST(old_writes_are_one_way)
{
    g_autoptr(Steps) s = steps_new(PORT);
    step(s, SAY_UP, old(1, BB_MONGODB_INSERT, "00000000 'db.logs' 00", "10 'a' 00 01000000"));
    step(s, SAY_UP, old(2, BB_MONGODB_UPDATE, "00000000 'db.logs' 00 00000000", ""));
    step(s, SAY_UP, old(3, BB_MONGODB_DELETE, "00000000 'db.logs' 00 00000000", ""));
    step(s, SAY_UP, old(4, BB_MONGODB_KILL_CURSORS, "00000000 01000000 0700000000000000", NULL));
    steps_check(s, "MSG > mongodb insert logs 40\n"
                   "MSG > mongodb update logs 37\n"
                   "MSG > mongodb delete logs 37\n"
                   "MSG > mongodb killCursors 32\n");
}
END_TEST

// OP_QUERY with the flag: replies follow each other up to the one without a cursor.
START_TEST(old_exhaust)
{
    g_autoptr(Steps) s = steps_new(PORT);
    step(s, SAY_UP, old(1, BB_MONGODB_QUERY, "40000000 'db.users' 00 00000000 00000000", ""));
    step(s, SAY_DOWN, reply(501, 1, WITH_CURSOR, "10 'a' 00 01000000"));
    step(s, SAY_DOWN, reply(502, 501, WITH_CURSOR, "10 'a' 00 01000000"));
    step(s, SAY_DOWN, reply(503, 502, ONE, "10 'a' 00 01000000"));
    steps_check(s, "CALL 1 mongodb query users 42\n"
                   "RET 1 mongodb ok 48\n"
                   "MSG < mongodb query users 48\n"
                   "MSG < mongodb query users 48\n");
}
END_TEST

// There others follow only who asks for them.
START_TEST(a_cursor_is_no_stream)
{
    g_autoptr(Steps) s = steps_new(PORT);
    s->midstream = true;
    step(s, SAY_DOWN, reply(502, 501, WITH_CURSOR, "10 'a' 00 01000000"));
    step(s, SAY_DOWN, reply(503, 502, ONE, "10 'a' 00 01000000"));
    steps_check(s, "RET - mongodb ok 48\nRET - mongodb ok 48\n");
}
END_TEST

// ---- compression --------------------------------------------------------------------------------

static void put_packed(Octets *body, guint8 compressor, const Octets *plain)
{
    guint8 room[1024];
    uLongf used = sizeof room;
    switch (compressor) {
    case 1: // one literal
        octets_be(body, plain->len, 1);
        octets_be(body, 60 << 2, 1);
        octets_be(body, plain->len - 1, 1);
        break;
    case 2:
        ck_assert_int_eq(compress(room, &used, plain->data, plain->len), Z_OK);
        octets_put(body, room, used);
        return;
    case 3:
        octets_put(body, room, ZSTD_compress(room, sizeof room, plain->data, plain->len, 6));
        return;
    default:
        break;
    }
    octets_put(body, plain->data, plain->len);
}

static Octets *packed(guint32 request, guint32 response_to, guint8 compressor, Octets *plain)
{
    Octets *body = g_byte_array_new();
    octets_le(body, BB_MONGODB_MSG, 4);
    octets_le(body, plain->len, 4);
    octets_be(body, MIN(compressor, 3), 1);
    put_packed(body, compressor, plain);
    g_byte_array_unref(plain);
    return message(request, response_to, BB_MONGODB_COMPRESSED, body);
}

START_TEST(compressed)
{
    static const char *const labels[] = {"find users", "find users", "find users", "find users",
                                         "?"};
    static const char *const statuses[] = {"error", "error", "error", "error", "-"};
    for (guint8 compressor = 0; compressor <= DAMAGED; compressor++) {
        g_autoptr(Steps) s = steps_new(PORT);
        step(s, SAY_UP, packed(1, 0, compressor, msg_body(0, FIND_USERS)));
        step(s, SAY_DOWN, packed(501, 1, compressor, msg_body(0, OK_ZERO)));
        step(s, SAY_UP, packed(2, 0, compressor, msg_body(2, FIND_USERS)));
        g_autofree char *call = g_strdup_printf("CALL 1 mongodb %s ", labels[compressor]);
        g_autofree char *ret = g_strdup_printf("\nRET 1 mongodb %s ", statuses[compressor]);
        g_autoptr(Converse) c = steps_play(s, 1460);
        ck_assert_msg(g_str_has_prefix(converse_result(c), call), "%s", converse_result(c));
        ck_assert_msg(strstr(converse_result(c), ret), "%s", converse_result(c));
        // What cannot be unpacked may be one-way, but who knows.
        ck_assert_uint_eq(converse_loss(c, BB_FREES), compressor != DAMAGED);
    }
}
END_TEST

START_TEST(compressed_stream)
{
    g_autoptr(Steps) s = steps_new(PORT);
    s->midstream = true;
    step(s, SAY_DOWN, packed(502, 501, 0, msg_body(2, OK_ONE)));
    step(s, SAY_DOWN, packed(503, 502, 0, msg_body(2, OK_ONE)));
    steps_check(s, "MSG < mongodb - 47\nMSG < mongodb - 47\n");
}
END_TEST

START_TEST(compressed_within_compressed)
{
    g_autoptr(Steps) s = steps_new(PORT);
    Octets *body = octets("dc070000 10000000 00 'anything'");
    step(s, SAY_UP, msg(1, 0, 0, PING));
    step(s, SAY_DOWN, msg(501, 1, 0, OK_ONE));
    step(s, SAY_UP, message(2, 0, BB_MONGODB_COMPRESSED, body));
    steps_check(s, "CALL 1 mongodb ping 51\nRET 1 mongodb ok 38\nCALL 2 mongodb ? 33\n");
}
END_TEST

// The reply of which nothing can be read, or is there, may be anything.
START_TEST(unread_replies)
{
    g_autoptr(Steps) s = steps_new(PORT);
    step(s, SAY_UP, msg(1, 0, 0, PING));
    step(s, SAY_DOWN, packed(501, 1, DAMAGED, msg_body(0, OK_ONE)));
    step(s, SAY_UP, msg(2, 0, 0, PING));
    g_autoptr(Octets) whole = msg(502, 2, 0, OK_ONE);
    Octets *begun = g_byte_array_new();
    octets_put(begun, whole->data, 21);
    step(s, SAY_DOWN, begun);
    step(s, LOSE_DOWN, octets("00*17"));
    step(s, SAY_UP, msg(3, 0, 0, PING));
    step(s, SAY_DOWN, msg(503, 3, 0, OK_ONE));
    steps_check(s, "CALL 1 mongodb ping 51\nRET 1 mongodb - 47\n"
                   "CALL 2 mongodb ping 51\nRET 2 mongodb - 21\n"
                   "CALL 3 mongodb ping 51\nRET 3 mongodb ok 38\n");
}
END_TEST

// ---- loss ---------------------------------------------------------------------------------------

START_TEST(joined_in_the_middle)
{
    g_autoptr(Steps) s = steps_new(30000); // on any port
    s->midstream = true;
    step(s, SAY_DOWN, msg(501, 1, 0, OK_ONE));
    ask(s, 2, FIND_USERS);
    answer(s, 2, OK_ONE);
    steps_check(s, "RET - mongodb ok 38\n"
                   "CALL 1 mongodb find users 54\n"
                   "RET 1 mongodb ok 38\n");
}
END_TEST

START_TEST(lost_messages)
{
    g_autoptr(Steps) s = steps_new(PORT);
    ask(s, 1, PING);
    answer(s, 1, OK_ONE);
    ask(s, 2, FIND_USERS);
    step(s, LOSE_DOWN, msg(502, 2, 0, OK_ONE));
    step(s, LOSE_UP, msg(3, 0, 0, PING));
    answer(s, 3, OK_ZERO);
    ask(s, 4, INSERT_LOGS);
    answer(s, 4, OK_ONE);
    steps_check(s, "CALL 1 mongodb ping 51\n"
                   "RET 1 mongodb ok 38\n"
                   "CALL 2 mongodb find users 54\n"
                   "RET - mongodb error 38\n"
                   "CALL 3 mongodb insert logs 55\n"
                   "RET 3 mongodb ok 38\n");
    ck_assert_uint_eq(steps_count(s, BB_DECODER_LOST), 2);
}
END_TEST

START_TEST(long_messages)
{
    g_autoptr(Steps) s = steps_new(PORT);
    ask(s, 1, FIND_USERS "05 'x' 00 400d0300 00 'x' *200000");
    answer(s, 1, "05 'x' 00 400d0300 00 'x' *200000" OK_ONE);
    ask(s, 2, PING);
    answer(s, 2, OK_ONE);
    steps_check(s, "CALL 1 mongodb find users 200062\n"
                   "RET 1 mongodb ok 200046\n"
                   "CALL 2 mongodb ping 51\n"
                   "RET 2 mongodb ok 38\n");
    ck_assert_uint_eq(steps_count(s, BB_MESSAGE_LIMIT), 0);
}
END_TEST

START_TEST(gap_inside)
{
    g_autoptr(Steps) s = steps_new(PORT);
    g_autoptr(Octets) rows = msg(501, 1, 0, "05 'x' 00 28230000 00 'x' *9000" OK_ONE);
    Octets *seen = g_byte_array_new(), *lost = g_byte_array_new(), *rest = g_byte_array_new();
    octets_put(seen, rows->data, 5000);
    octets_put(lost, rows->data + 5000, 1000);
    octets_put(rest, rows->data + 6000, rows->len - 6000);
    ask(s, 1, PING);
    step(s, SAY_DOWN, seen);
    step(s, LOSE_DOWN, lost);
    step(s, SAY_DOWN, rest);
    ask(s, 2, PING);
    answer(s, 2, OK_ONE);
    steps_check(s, "CALL 1 mongodb ping 51\n"
                   "RET 1 mongodb ok 8046\n"
                   "CALL 2 mongodb ping 51\n"
                   "RET 2 mongodb ok 38\n");
    ck_assert_uint_eq(steps_count(s, BB_DECODER_LOST), 0);
}
END_TEST

START_TEST(damage_in_the_middle)
{
    g_autoptr(Steps) s = steps_new(PORT);
    ask(s, 1, PING);
    answer(s, 1, OK_ONE);
    up(s, "ffffff7f 02000000 00000000 dd070000");
    ask(s, 3, FIND_USERS);
    step(s, SAY_DOWN, old(9, BB_MONGODB_INSERT, "00000000 'db.logs' 00", "")); // of a server
    answer(s, 3, OK_ONE);
    steps_check(s, "CALL 1 mongodb ping 51\n"
                   "RET 1 mongodb ok 38\n"
                   "CALL 2 mongodb find users 54\n"
                   "RET 2 mongodb ok 38\n");
    ck_assert_uint_eq(steps_count(s, BB_DECODER_LOST), 2);
}
END_TEST

START_TEST(cut_off)
{
    g_autoptr(Steps) s = steps_new(PORT);
    Octets *half = msg(1, 0, 0, FIND_USERS);
    g_byte_array_set_size(half, 16 + 5 + 4 + 6);
    step(s, SAY_UP, half);
    steps_check(s, "CALL 1 mongodb find 31\n");
}
END_TEST

// ---- the probe ----------------------------------------------------------------------------------

static BbMatch probe_message(Octets *bytes)
{
    g_autoptr(Octets) owned = bytes;
    return bb_decoder_mongodb.probe(owned->data, owned->len);
}

START_TEST(probe_messages)
{
    ck_assert_int_eq(probe_message(msg(1, 0, 0, PING)), BB_MATCH_REQUEST);
    ck_assert_int_eq(probe_message(msg(1, 0, 0x10001, PING)), BB_MATCH_REQUEST);
    ck_assert_int_eq(probe_message(msg(1, 1, 2, PING)), BB_MATCH_REPLY);
    ck_assert_int_eq(probe_message(msg(1, 0, 4, PING)), BB_MATCH_NO); // unknown flags
    ck_assert_int_eq(probe_message(msg(1, 0, 0x20000, PING)), BB_MATCH_NO);
    ck_assert_int_eq(probe_message(message(1, 0, BB_MONGODB_MSG, octets("00000000 02 00*20"))),
                     BB_MATCH_NO);
    ck_assert_int_eq(
        probe_message(message(1, 0, BB_MONGODB_MSG, octets("00000000 00 ff000000 10 'a' 00*20"))),
        BB_MATCH_NO);
    ck_assert_int_eq(probe_message(message(1, 0, BB_MONGODB_MSG, octets("00000000 00"))),
                     BB_MATCH_NO);
    ck_assert_int_eq(probe_message(message(1, 0, 2014, octets("00*20"))), BB_MATCH_NO);
    ck_assert_int_eq(probe_message(packed(1, 0, 2, msg_body(0, PING))), BB_MATCH_REQUEST);
    ck_assert_int_eq(probe_message(packed(1, 0, 0, msg_body(0, PING))), BB_MATCH_REQUEST);
    ck_assert_int_eq(probe_message(message(1, 0, BB_MONGODB_COMPRESSED,
                                           octets("dd070000 "
                                                  "10000000 09 00*9"))),
                     BB_MATCH_NO);
    ck_assert_int_eq(probe_message(reply(1, 5, ONE, OK_ONE)), BB_MATCH_REPLY);
    ck_assert_int_eq(probe_message(reply(1, 5, NO_CURSOR, OK_ONE)), BB_MATCH_NO);
    ck_assert_int_eq(probe_message(old(1, BB_MONGODB_INSERT, "00000000 'db.logs' 00", "")),
                     BB_MATCH_REQUEST);
    ck_assert_int_eq(probe_message(old(1, BB_MONGODB_INSERT, "00000000 'nodot' 00", "")),
                     BB_MATCH_NO);
    ck_assert_int_eq(probe_octets(&bb_decoder_mongodb, "36000000 01000000"), BB_MATCH_MORE);
    ck_assert_int_eq(probe_octets(&bb_decoder_mongodb, "36000003"), BB_MATCH_NO);
}
END_TEST

START_TEST(probe_others)
{
    check_refusals(&bb_decoder_mongodb);
}
END_TEST

TEST_MAIN("mongodb", a_session, command_labels, types_are_passed_over, error_names, sections,
          unacknowledged_is_one_way, exhaust, exhaust_joined, exhaust_with_a_loss,
          exhaust_without_an_end, old_queries, old_writes_are_one_way, old_exhaust,
          a_cursor_is_no_stream, compressed, compressed_stream, compressed_within_compressed,
          unread_replies, joined_in_the_middle, lost_messages, long_messages, gap_inside,
          damage_in_the_middle, cut_off, probe_messages, probe_others)
