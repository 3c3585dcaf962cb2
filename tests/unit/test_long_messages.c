// SPDX-License-Identifier: Apache-2.0
// Messages longer than the numbers of TCP can be compared over (2 GiB; RFC 9293, section 3.4), and
// longer than they reach (4 GiB): pairs are those of short messages.
#include "capture/loss.h"
#include "tests/unit/octets.h"

#define MIB (G_GUINT64_CONSTANT(1) << 20)
#define GIB (G_GUINT64_CONSTANT(1) << 30)

static const guint64 lengths[] = {1000, GIB, 2 * GIB - 100, 2 * GIB + 100, 3 * GIB, 5 * GIB};

// What is said around length bytes in one message, and what is understood (LENGTH: of that one).
typedef struct Talk {
    guint16 port;
    void (*say)(Converse *c, guint64 length);
    const char *expected;
} Talk;

static void check(const Talk *talk)
{
    for (guint i = 0; i < G_N_ELEMENTS(lengths); i++) {
        g_autoptr(Converse) c = converse_tcp(talk->port);
        talk->say(c, lengths[i]);
        GString *expected = g_string_new(talk->expected);
        g_autofree char *number = g_strdup_printf("%" G_GUINT64_FORMAT, lengths[i]);
        g_string_replace(expected, "LENGTH", number, 0);
        ck_assert_msg(g_str_equal(converse_result(c), expected->str), "%s bytes:\n%s\nnot\n%s",
                      number, converse_result(c), expected->str);
        g_string_free(expected, TRUE);
    }
}

// ---- HTTP ---------------------------------------------------------------------------------------

#define EMPTY "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"

static void get(Converse *c, const char *path)
{
    g_autofree char *text = g_strdup_printf("GET %s HTTP/1.1\r\n\r\n", path);
    converse_text(c, BB_TO_SERVER, text);
}

// The head says how long its body is, in 10 digits.
static void say_long(Converse *c, BbDirection direction, const char *line, guint64 length)
{
    g_autofree char *head =
        g_strdup_printf("%s\r\nContent-Length: %010" G_GUINT64_FORMAT "\r\n\r\n", line, length);
    converse_text(c, direction, head);
    converse_cut(c, direction, length);
}

static void put_and_get(Converse *c, guint64 length)
{
    say_long(c, BB_TO_SERVER, "PUT /a HTTP/1.1", length - 47);
    converse_text(c, BB_TO_CLIENT, EMPTY);
    for (guint i = 0; i < 2; i++) {
        get(c, "/b");
        converse_text(c, BB_TO_CLIENT, EMPTY);
    }
    say_long(c, BB_TO_SERVER, "PUT /c HTTP/1.1", length - 47);
    converse_text(c, BB_TO_CLIENT, EMPTY);
}

START_TEST(a_long_request)
{
    check(&(Talk){80, put_and_get,
                  "CALL 1 http PUT /a LENGTH\nRET 1 http 200 38\n"
                  "CALL 2 http GET /b 19\nRET 2 http 200 38\n"
                  "CALL 3 http GET /b 19\nRET 3 http 200 38\n"
                  "CALL 4 http PUT /c LENGTH\nRET 4 http 200 38\n"});
}
END_TEST

static void get_much(Converse *c, guint64 length)
{
    get(c, "/a");
    say_long(c, BB_TO_CLIENT, "HTTP/1.1 200 OK", length - 47);
    get(c, "/b");
    converse_text(c, BB_TO_CLIENT, EMPTY);
}

START_TEST(a_long_reply)
{
    check(&(Talk){80, get_much,
                  "CALL 1 http GET /a 19\nRET 1 http 200 LENGTH\n"
                  "CALL 2 http GET /b 19\nRET 2 http 200 38\n"});
}
END_TEST

// A hole early in a reply of which it is not known where it ends is none in those to come.
START_TEST(a_hole_in_a_long_reply)
{
    static const guint8 block[MIB];
    for (guint mib = 1; mib <= 2560; mib += 2559) {
        g_autoptr(Converse) c = converse_tcp(80);
        converse_segment_size(c, MIB);
        get(c, "/a");
        converse_text(c, BB_TO_CLIENT, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
        converse_lose(c, BB_TO_CLIENT, 1000);
        for (guint i = 0; i < mib; i++)
            converse_say(c, BB_TO_CLIENT, block, sizeof block);
        for (guint i = 0; i < 2; i++) {
            get(c, "/b");
            converse_text(c, BB_TO_CLIENT, EMPTY);
        }
        ck_assert_str_eq(converse_result(c), "CALL 1 http GET /a 19\nRET 1 http 200 47\n"
                                             "CALL 2 http GET /b 19\nRET 2 http 200 38\n"
                                             "CALL 3 http GET /b 19\nRET 3 http 200 38\n");
    }
}
END_TEST

// ---- messages in frames -------------------------------------------------------------------------

#define MONGODB 27017

// OP_MSG: request, what it answers, and a document of that length in all, most of which is cut.
static void message(Converse *c, BbDirection direction, guint32 id, guint32 answered,
                    const char *elements, guint32 more)
{
    g_autoptr(Octets) inside = octets(elements), bytes = g_byte_array_new();
    octets_le(bytes, 16 + 4 + 1 + 4 + inside->len + 1 + more, 4);
    octets_le(bytes, id, 4);
    octets_le(bytes, answered, 4);
    octets_le(bytes, 2013, 4);
    octets_le(bytes, 0, 5);
    octets_le(bytes, 4 + inside->len + 1 + more, 4);
    octets_put(bytes, inside->data, inside->len);
    octets_le(bytes, 0, 1);
    converse_say(c, direction, bytes->data, bytes->len);
    converse_cut(c, direction, more);
}

static void ask(Converse *c, guint32 id)
{
    message(c, BB_TO_SERVER, id, 0, "10 'ping' 00 01000000 02 '$db' 00 06000000 'admin' 00", 0);
}

static void answer(Converse *c, guint32 id)
{
    message(c, BB_TO_CLIENT, 9000 + id, id, "01 'ok' 00 000000000000f03f", 0);
}

// A hole in the requests long ago is none in which the id of one that waits was used again.
static void lose_before_many(Converse *c, guint64 length)
{
    ask(c, 1);
    answer(c, 1);
    converse_lose(c, BB_TO_SERVER, 50);
    ask(c, 2);
    answer(c, 2);
    for (guint64 sent = 0; sent < length; sent += 40 * MIB)
        message(c, BB_TO_SERVER, 3, 0, "02 'insert' 00 05000000 'logs' 00", 40 * MIB);
    ask(c, 4);
    converse_lose(c, BB_TO_CLIENT, 10);
    answer(c, 4);
}

START_TEST(a_hole_before_many_requests)
{
    for (guint i = 0; i < G_N_ELEMENTS(lengths); i++) {
        g_autoptr(Converse) c = converse_tcp(MONGODB);
        lose_before_many(c, lengths[i]);
        ck_assert_msg(g_str_has_suffix(converse_result(c), " mongodb ok 38\n"), "%s",
                      converse_result(c));
        ck_assert_uint_eq(converse_loss(c, BB_RETURNS_ORPHANED), 0);
    }
}
END_TEST

// ---- who speaks alone ---------------------------------------------------------------------------

// Replies that were never seen are known by what acknowledges them.
START_TEST(long_replies_unseen)
{
    for (guint i = 0; i < G_N_ELEMENTS(lengths); i++) {
        g_autoptr(Converse) c = converse_tcp(80);
        converse_segment_size(c, MIB);
        get(c, "/a");
        converse_text(c, BB_TO_CLIENT, EMPTY);
        for (guint j = 0; j < 32; j++) {
            get(c, "/b");
            converse_lose(c, BB_TO_CLIENT, lengths[i] / 32);
        }
        get(c, "/c");
        converse_text(c, BB_TO_CLIENT, EMPTY);
        ck_assert_msg(
            g_str_has_suffix(converse_result(c), "CALL 34 http GET /c 19\nRET 34 http 200 38\n"),
            "%s", converse_result(c));
    }
}
END_TEST

TEST_MAIN("long_messages", a_long_request, a_long_reply, a_hole_before_many_requests,
          a_hole_in_a_long_reply, long_replies_unseen)
