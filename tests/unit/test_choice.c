// SPDX-License-Identifier: Apache-2.0
// The choice of a protocol: random bytes are none, at any port; what both sides say counts; what
// people say by a port counts more.
#include "capture/capture.h"
#include "capture/decoder.h"
#include "data/random.h"
#include "tests/unit/script.h"

#include <string.h>

#define STREAMS 10000u
#define TURNS 6u
#define TURN_BYTES 300u

// ---- random bytes -------------------------------------------------------------------------------

typedef enum { NOISE, SMALL_NUMBERS, LETTERS, LENGTH_FIRST, SPARSE_FRAMES, KINDS } Kind;

static void fill(guint8 *bytes, gsize size, Kind kind, BbRandom *random)
{
    static const char letters[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789 .-\n";
    bool sparse = kind == SPARSE_FRAMES;
    for (gsize i = 0; i < size; i++) {
        guint64 bits = bb_random_bits(random) >> 32;
        bytes[i] = kind == SMALL_NUMBERS ? (guint8)(bits % 2 ? 0 : bits >> 8 & 0x1f)
                   : sparse              ? (guint8)(bits % 4 ? 0 : bits >> 8)
                   : kind == LETTERS     ? (guint8)letters[bits % (sizeof letters - 1)]
                                         : (guint8)bits;
    }
    if ((kind == LENGTH_FIRST || sparse) &&
        size >= 4) { // of four bytes, either order, itself included or not
        guint32 length = (guint32)(size - bb_random_below(random, 2) * 4);
        length = bb_random_below(random, 2) ? GUINT32_TO_BE(length) : GUINT32_TO_LE(length);
        memcpy(bytes, &length, sizeof length);
    }
    if (sparse && size >= 8) // what each message of a protocol begins with
        memcpy(bytes + 4, "\xffXYZ", 4);
}

// The first message that has a protocol, NULL if none has.
static char *find_known(const char *result)
{
    g_auto(GStrv) lines = g_strsplit(result, "\n", -1);
    for (char **line = lines; *line && **line; line++) {
        g_auto(GStrv) words = g_strsplit(*line, " ", -1);
        if (!g_str_equal(words[2], "tcp") && !g_str_equal(words[2], "udp"))
            return g_strdup(*line);
    }
    return NULL;
}

static char *converse_randomly(guint16 port, Kind kind, BbRandom *random)
{
    guint8 bytes[TURN_BYTES];
    bool udp = bb_random_below(random, 4) == 0;
    g_autoptr(Converse) c = udp                          ? converse_udp(port)
                            : bb_random_below(random, 2) ? converse_tcp(port)
                                                         : converse_tcp_midstream(port);
    for (guint turn = 0; turn < TURNS; turn++) {
        gsize size = 1 + bb_random_below(random, TURN_BYTES);
        fill(bytes, size, kind, random);
        converse_say(c, bb_random_below(random, 2) ? BB_TO_SERVER : BB_TO_CLIENT, bytes, size);
    }
    return find_known(converse_result(c));
}

// Mostly zeros and small numbers, or a length that fits, may happen to be a message of some
// protocol; anything else once in a million streams.
#define LIKENESS_IN 40u
#define CHANCE_MOST 1u

START_TEST(random_streams_have_no_protocol)
{
    BbRandom random = bb_random_start(test_seed("random_streams"));
    guint likenesses = 0, by_chance = 0;
    for (guint i = 0; i < STREAMS; i++) {
        Kind kind = (Kind)(i % KINDS);
        g_autofree char *known = converse_randomly(9999, kind, &random);
        bool alike = kind == SMALL_NUMBERS || kind == LENGTH_FIRST;
        likenesses += known && alike;
        by_chance += known && !alike;
        if (known && (!alike || g_getenv("BB_TEST_SHOW")))
            g_printerr("kind %d: %s\n", (int)kind, known);
    }
    ck_assert_uint_le(likenesses, STREAMS / KINDS / LIKENESS_IN);
    ck_assert_uint_le(by_chance, CHANCE_MOST);
}
END_TEST

// Where the port decides, a message of two bytes of signature may happen once in a long while.
#define MISTAKEN_MOST 2u

START_TEST(nor_at_a_port_of_one)
{
    BbRandom random = bb_random_start(test_seed("at_a_port_of_one"));
    guint mistaken = 0;
    for (guint i = 0; bb_decoders[i]; i++)
        for (guint k = 0; k < 20 && bb_decoders[i]->ports[0]; k++) {
            g_autofree char *known = converse_randomly(bb_decoders[i]->ports[0], NOISE, &random);
            mistaken += known != NULL;
        }
    ck_assert_uint_le(mistaken, MISTAKEN_MOST);
}
END_TEST

// SMB1 where SMB2 is at home: frames with a length, few numbers, many zeros.
#define SMB1(command, flags, body) \
    "\xff"                         \
    "SMB" command "\0\0\0\0" flags "\1\x28\0\0\0\0\0\0\0\0\0\0\0\0\0\0\xfe\xff\0\0\x40\0" body

START_TEST(smb1_has_no_name)
{
    static const char request[] = "\0\0\0\x23" SMB1("\x2b", "\x18", "\0\0\0");
    static const char reply[] = "\0\0\0\x25" SMB1("\x2b", "\x98", "\1\1\0\0\0");
    static const guint16 ports[] = {445, 139, 2181, 9999};
    for (guint i = 0; i < 2 * G_N_ELEMENTS(ports); i++) {
        g_autoptr(Converse) c =
            i % 2 ? converse_tcp(ports[i / 2]) : converse_tcp_midstream(ports[i / 2]);
        for (guint turn = 0; turn < 3; turn++) {
            converse_say(c, BB_TO_SERVER, request, sizeof request - 1);
            converse_say(c, BB_TO_CLIENT, reply, sizeof reply - 1);
        }
        ck_assert_str_eq(converse_result(c), "CALL 1 tcp - 39\nRET 1 tcp ok 41\n"
                                             "CALL 2 tcp - 39\nRET 2 tcp ok 41\n"
                                             "CALL 3 tcp - 39\nRET 3 tcp ok 41\n");
    }
}
END_TEST

// ---- turns that are probed again ----------------------------------------------------------------

// However a turn is cut into segments.
START_TEST(a_turn_is_probed_as_a_whole)
{
    const Script refused = {
        .steps = {">lEEt\r\n\r\n", "<HTTP/1.1 400 Bad Request\r\nContent-Length: 2\r\n\r\nno"},
        .port = 9999,
    };
    check(&refused, "CALL 1 http - 8\nRET 1 http 400 49\n");
    const Script joined = {
        .steps = {"<and so on", ">GET / HTTP/1.1\r\nHost: h\r\n\r\n",
                  "<HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"},
        .port = 9999,
        .midstream = true,
    };
    check(&joined, "MSG < tcp - 9\nCALL 1 http GET / 27\nRET 1 http 200 38\n");
}
END_TEST

// What might have become something is a turn all the same, whatever ends it.
START_TEST(undecided_turns_are_turns)
{
    const Script script = {
        .steps = {">\x01?", "<HTTP/1.1 20", ">GET / HT", "<HTTP", ")lost", ">\x01!", "<HTTP/1", "x",
                  "<.", "y"},
        .port = 9999,
    };
    check(&script, "CALL 1 tcp - 2\nRET 1 tcp ok 11\nCALL 2 tcp - 8\nRET 2 tcp ok 4\n"
                   "CALL 3 tcp - 2\nRET - tcp ok 7\n");
}
END_TEST

// No more than BB_DIALOG_PROBE bytes of a turn wait, and none of the 17th turn.
START_TEST(turns_that_wait_have_a_limit)
{
    g_autofree char *text = g_strnfill(20000, 'x');
    memcpy(text, "HTTP/1.1 200 ", 13);
    g_autoptr(Converse) c = converse_tcp(9999);
    converse_segment_size(c, 100);
    for (guint turn = 0; turn < 20; turn++)
        converse_text(c, turn % 2 ? BB_TO_CLIENT : BB_TO_SERVER, turn % 2 ? text : "\x01?");
    ck_assert_uint_eq(converse_loss(c, BB_CALLS), 10);
    ck_assert_uint_eq(converse_loss(c, BB_RETURNS), 10);
    ck_assert_uint_eq(converse_loss(c, BB_MESSAGE_LIMIT), 0);
}
END_TEST

static void ask_in_time(Converse *c)
{
    converse_text(c, BB_TO_SERVER, "GET / HTTP/1.1\r\nHost: h\r\n\r\n");
    converse_text(c, BB_TO_CLIENT, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
}

// A backlog in which every packet begins within a message: behind it there is a rest, and then a
// message begins. But no more than one turn a second is looked at.
START_TEST(a_turn_after_a_rest)
{
    g_autoptr(Converse) c = converse_tcp_midstream(9999);
    for (guint turn = 0; turn < 20; turn++)
        converse_text(c, turn % 2 ? BB_TO_CLIENT : BB_TO_SERVER, "ost: h\r\n\r\n");
    ask_in_time(c); // the 21st, without a rest
    converse_wait(c, 150);
    converse_text(c, BB_TO_SERVER, "not in time");
    converse_text(c, BB_TO_CLIENT, "nor this");
    converse_wait(c, 150);
    ask_in_time(c); // too soon
    converse_wait(c, 900);
    ask_in_time(c);
    converse_wait(c, 10);
    ask_in_time(c);
    const char *result = converse_result(c);
    ck_assert_str_eq(strstr(result, "CALL 11 "), "CALL 11 tcp - 27\nRET 11 tcp ok 38\n"
                                                 "CALL 12 tcp - 11\nRET 12 tcp ok 8\n"
                                                 "CALL 13 tcp - 27\nRET 13 tcp ok 38\n"
                                                 "CALL 14 http GET / 27\nRET 14 http 200 38\n"
                                                 "CALL 15 http GET / 27\nRET 15 http 200 38\n");
}
END_TEST

// ---- who calls ----------------------------------------------------------------------------------

// What a server says may begin as a request does: in a connection joined in the middle its port
// says who it is. At other ports nothing but the content does.
START_TEST(the_port_says_who_serves)
{
    static const char words[] = "*2\r\n$3\r\nGET\r\n$1\r\nk\r\n", reply[] = "$1\r\nv\r\n";
    g_autoptr(Converse) joined = converse_tcp_midstream(6379);
    converse_text(joined, BB_TO_CLIENT, words);
    converse_text(joined, BB_TO_SERVER, words);
    converse_text(joined, BB_TO_CLIENT, reply);
    ck_assert_str_eq(converse_result(joined), "MSG < redis GET 20\nCALL 1 redis GET 20\n"
                                              "RET 1 redis ok 7\n");
    g_autoptr(Converse) other = converse_tcp_midstream(9999);
    converse_text(other, BB_TO_CLIENT, words);
    converse_text(other, BB_TO_SERVER, reply);
    ck_assert_str_eq(converse_result(other), "CALL 1 redis GET 20\nRET 1 redis ok 7\n");
}
END_TEST

// But a client may have got STOMP's port by chance.
START_TEST(unless_it_is_ephemeral)
{
    static const char connect[] = "CONNECT\naccept-version:1.2\nhost:h\n\n";
    static const char connected[] = "CONNECTED\nversion:1.2\n\n";
    g_autoptr(Converse) c = converse_tcp_midstream(61613);
    converse_say(c, BB_TO_CLIENT, connect, sizeof connect);
    converse_say(c, BB_TO_SERVER, connected, sizeof connected);
    ck_assert_str_eq(converse_result(c), "CALL 1 stomp CONNECT 36\nRET 1 stomp ok 24\n");
}
END_TEST

// STAT is a command of POP3, FTP and NNTP, and a line of memcached's servers.
START_TEST(stat_is_no_reply)
{
    static const char *const lines[] = {"STAT\r\n", "STAT 12\r\n", "STAT -l files\r\n",
                                        "STAT pid 5\r\n"};
    for (guint i = 0; i < 2 * G_N_ELEMENTS(lines); i++) {
        const char *line = lines[i / 2];
        bool joined = i % 2;
        if (joined && i / 2 == 3)
            continue; // nobody knows who calls
        g_autoptr(Converse) c = joined ? converse_tcp_midstream(110) : converse_tcp(110);
        converse_text(c, BB_TO_CLIENT, "+OK ready\r\n");
        for (guint turn = 0; turn < 2; turn++) {
            converse_text(c, BB_TO_SERVER, line);
            converse_text(c, BB_TO_CLIENT, "+OK 2 320\r\n");
        }
        gsize size = strlen(line);
        g_autofree char *expected =
            g_strdup_printf("MSG < tcp - 11\nCALL 1 tcp - %zu\nRET 1 tcp ok 11\n"
                            "CALL 2 tcp - %zu\nRET 2 tcp ok 11\n",
                            size, size);
        ck_assert_str_eq(converse_result(c), expected);
    }
}
END_TEST

// Whoever has sent the SYN calls, whatever its words look like.
START_TEST(the_caller_does_not_reply)
{
    const Script script = {
        .steps = {">STORED\r\n", "<yes\r\n", ">END\r\n", "<yes\r\n"},
        .port = 9999,
    };
    check(&script, "CALL 1 tcp - 8\nRET 1 tcp ok 5\nCALL 2 tcp - 5\nRET 2 tcp ok 5\n");
}
END_TEST

// ---- the table ----------------------------------------------------------------------------------

START_TEST(the_table)
{
    guint count = 0;
    for (; bb_decoders[count]; count++) {
        const BbDecoder *decoder = bb_decoders[count];
        ck_assert_ptr_nonnull(decoder->about);
        ck_assert_msg(strchr(decoder->about, '\n') == NULL, "%s", decoder->name);
        ck_assert_str_eq(bb_decoder_find(decoder->name)->name, decoder->name);
        ck_assert_msg(!decoder->probe || decoder->tcp || decoder->udp, "%s", decoder->name);
        ck_assert_msg(!decoder->held == !decoder->let_go, "%s", decoder->name);
        ck_assert(decoder->parse != NULL);
    }
    ck_assert_uint_le(count, 64);
    ck_assert_ptr_eq(bb_decoder_find("turns"), &bb_decoder_turns);
    ck_assert_ptr_null(bb_decoder_find("gopher"));
}
END_TEST

// ---- what people say ----------------------------------------------------------------------------

typedef struct Heard {
    BbNames *names;
    GString *text;
} Heard;

static bool hear(const BbMessage *message, gpointer user, GError **error)
{
    Heard *heard = user;
    g_string_append_printf(heard->text, "%d %s %s\n", (int)message->kind,
                           bb_names_text(heard->names, message->proto),
                           message->op ? bb_names_text(heard->names, message->op) : "-");
    return true;
}

static void say(BbCapture *capture, BbTransport transport, bool up, const char *text, gint64 ms)
{
    static const guint8 a[4] = {10, 0, 0, 1}, b[4] = {10, 0, 0, 2};

    BbPacket packet = {
        .time_ns = ms * 1000000,
        .source = bb_address_v4(up ? a : b),
        .target = bb_address_v4(up ? b : a),
        .source_port = up ? 40000 : 7777,
        .target_port = up ? 7777 : 40000,
        .transport = transport,
        .tcp_flags = BB_TCP_ACK,
        .seq = up ? 1 : 1001,
        .ack = up ? 1001 : 1000,
        .ip_id = (guint16)ms,
        .payload = (const guint8 *)text,
        .captured = (guint32)strlen(text),
        .length = (guint32)strlen(text),
    };
    ck_assert(bb_capture_packet(capture, &packet, NULL));
}

// The same exchange at port 7777, where the decoder of that name is said to be.
static char *exchange_as(const char *decoder, const char *request, const char *reply)
{
    BbLoss loss = {0};
    g_autoptr(BbNames) names = bb_names_new();
    g_autoptr(BbNodes) nodes = bb_nodes_new(names, false);
    Heard heard = {names, g_string_new(NULL)};
    BbDecodeAs as = {.port = 7777, .decoder = decoder ? bb_decoder_find(decoder) : NULL};
    BbCaptureOptions options = bb_capture_options_default();
    options.decode_as = &as;
    options.n_decode_as = decoder != NULL;
    g_autoptr(BbCapture) capture = bb_capture_new(&options, names, nodes, &loss, hear, &heard);
    say(capture, BB_TRANSPORT_TCP, true, request, 1);
    say(capture, BB_TRANSPORT_TCP, false, reply, 2);
    ck_assert(bb_capture_finish(capture, NULL));
    return g_string_free(heard.text, FALSE);
}

START_TEST(told_by_the_port)
{
    g_autofree char *unknown = exchange_as(NULL, "hello\r\n", "world\r\n");
    ck_assert_str_eq(unknown, "0 tcp -\n1 tcp -\n");
    g_autofree char *memcached = exchange_as("memcached", "get k\r\n", "END\r\n");
    ck_assert_str_eq(memcached, "0 memcached GET\n1 memcached GET\n");
    g_autofree char *redis = exchange_as("redis", "ping\r\n", "+PONG\r\n");
    ck_assert_str_eq(redis, "0 redis PING\n1 redis PING\n");
    g_autofree char *turns =
        exchange_as("turns", "GET / HTTP/1.1\r\n\r\n", "HTTP/1.1 200 OK\r\n\r\n");
    ck_assert_str_eq(turns, "0 tcp -\n1 tcp -\n");
}
END_TEST

// It turns out to be something else: content decides after all.
START_TEST(told_wrongly)
{
    g_autofree char *http = exchange_as("postgresql", "GET / HTTP/1.1\r\n\r\n",
                                        "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
    ck_assert_msg(strstr(http, "http GET /"), "%s", http);
}
END_TEST

TEST_MAIN("choice", random_streams_have_no_protocol, nor_at_a_port_of_one, smb1_has_no_name,
          a_turn_is_probed_as_a_whole, undecided_turns_are_turns, turns_that_wait_have_a_limit,
          a_turn_after_a_rest, the_port_says_who_serves, unless_it_is_ephemeral, stat_is_no_reply,
          the_caller_does_not_reply, the_table, told_by_the_port, told_wrongly)
