// SPDX-License-Identifier: Apache-2.0
// WebSocket: messages of any number of frames, pings with their pongs, gaps, other protocols.
#include "capture/decoder.h"
#include "capture/loss.h"
#include "tests/unit/converse.h"
#include "tests/unit/test.h"

#include <string.h>

static const BbDirection up = BB_TO_SERVER, down = BB_TO_CLIENT;

#define REQUEST \
    "GET /chat HTTP/1.1\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nHost: x\r\n\r\n"       // 72
#define RESPONSE "HTTP/1.1 101 Switching\r\nUpgrade: WebSocket\r\nConnection: Upgrade\r\n\r\n" // 67
#define UPGRADED "CALL 1 http GET /chat 72\nRET 1 http 101 67\n"

#define FINAL 0x80u
#define TEXT 1u
#define BINARY 2u
#define CLOSE 8u
#define PING 9u
#define PONG 10u

// ---- frames -----------------------------------------------------------------------------------

typedef struct Step {
    BbDirection direction;
    bool lost;
    GByteArray *bytes;
} Step;

typedef struct Script {
    GArray *steps;
    guint8 mask; // of the next masked frame: each has another
} Script;

static void step_clear(gpointer step)
{
    g_byte_array_unref(((Step *)step)->bytes);
}

static void say(Script *s, BbDirection direction, bool lost, const void *bytes, gsize length)
{
    Step step = {direction, lost, g_byte_array_new()};
    g_byte_array_append(step.bytes, bytes, (guint)length);
    g_array_append_val(s->steps, step);
}

static Script *script_new(void)
{
    Script *s = g_new0(Script, 1);
    s->steps = g_array_new(FALSE, FALSE, sizeof(Step));
    g_array_set_clear_func(s->steps, step_clear);
    say(s, up, false, REQUEST, strlen(REQUEST));
    say(s, down, false, RESPONSE, strlen(RESPONSE));
    return s;
}

static void script_free(Script *s)
{
    g_array_unref(s->steps);
    g_free(s);
}

G_DEFINE_AUTOPTR_CLEANUP_FUNC(Script, script_free)

static void put_head(GByteArray *out, guint8 first, guint8 mask, guint64 length)
{
    guint8 head[10] = {first, mask ? 0x80 : 0};
    guint size = length < 126 ? 2 : length <= G_MAXUINT16 ? 4 : 10;
    head[1] |= (guint8)(size == 2 ? length : size == 4 ? 126 : 127);
    for (guint i = 2; i < size; i++)
        head[i] = (guint8)(length >> 8 * (size - 1 - i));
    g_byte_array_append(out, head, size);
}

static GByteArray *frame_of(Script *s, BbDirection direction, guint8 first, const void *payload,
                            gsize length)
{
    GByteArray *out = g_byte_array_new();
    s->mask += 37;
    guint8 mask[4] = {s->mask, (guint8)(s->mask + 1), 7, 0};
    put_head(out, first, direction == up, length);
    if (direction == up)
        g_byte_array_append(out, mask, 4);
    for (gsize i = 0; i < length; i++) {
        guint8 byte = ((const guint8 *)payload)[i] ^ (direction == up ? mask[i % 4] : 0);
        g_byte_array_append(out, &byte, 1);
    }
    return out;
}

static void frame(Script *s, BbDirection direction, guint8 first, const char *payload)
{
    g_autoptr(GByteArray) out = frame_of(s, direction, first, payload, strlen(payload));
    say(s, direction, false, out->data, out->len);
}

static void lose_frame(Script *s, BbDirection direction, guint8 first, const char *payload)
{
    g_autoptr(GByteArray) out = frame_of(s, direction, first, payload, strlen(payload));
    say(s, direction, true, out->data, out->len);
}

static Converse *play(const Script *s, gsize segment)
{
    Converse *c = converse_tcp(8080);
    converse_segment_size(c, segment);
    for (guint i = 0; i < s->steps->len; i++) {
        const Step *step = &g_array_index(s->steps, Step, i);
        if (step->lost)
            converse_lose(c, step->direction, step->bytes->len);
        else
            converse_say(c, step->direction, step->bytes->data, step->bytes->len);
    }
    return c;
}

static void check(const Script *s, const char *expected)
{
    static const gsize segments[] = {1460, 1, 2, 7, 64};
    for (guint i = 0; i < G_N_ELEMENTS(segments); i++) {
        g_autoptr(Converse) c = play(s, segments[i]);
        ck_assert_msg(strcmp(converse_result(c), expected) == 0, "%zu bytes a segment:\n%s",
                      segments[i], converse_result(c));
    }
}

// ---- messages ---------------------------------------------------------------------------------

START_TEST(messages)
{
    g_autoptr(Script) s = script_new();
    frame(s, up, FINAL | TEXT, "hello");
    frame(s, down, FINAL | BINARY, "you");
    frame(s, down, FINAL | TEXT, "");
    frame(s, down, FINAL | 0x40 | TEXT, "compressed");
    check(s, UPGRADED "MSG > websocket text 11\n"
                      "MSG < websocket binary 5\n"
                      "MSG < websocket text 2\n"
                      "MSG < websocket text 12\n");
}
END_TEST

// RFC 6455, 5.4: control frames may come between the fragments.
START_TEST(fragments_are_one_message)
{
    g_autoptr(Script) s = script_new();
    frame(s, up, TEXT, "one"); // 9
    frame(s, up, 0, "two");    // 9
    frame(s, up, FINAL | PING, "p");
    frame(s, up, FINAL, "three"); // 11
    frame(s, up, FINAL | TEXT, "next");
    check(s, UPGRADED "MSG > websocket text 29\n"
                      "CALL 2 websocket ping 7\n"
                      "MSG > websocket text 10\n");
    g_autoptr(Converse) c = play(s, 1460);
    ck_assert_int_eq(converse_first_ms(c, 2), 2);
}
END_TEST

START_TEST(all_lengths)
{
    static const gsize lengths[] = {0, 125, 126, 65535, 65536, 200000};
    g_autoptr(Script) s = script_new();
    g_autoptr(GString) expected = g_string_new(UPGRADED);
    for (guint i = 0; i < G_N_ELEMENTS(lengths); i++) {
        g_autofree char *text = g_strnfill(lengths[i], 'x');
        frame(s, up, FINAL | TEXT, text);
        frame(s, down, FINAL | BINARY, text);
        gsize head = lengths[i] < 126 ? 2 : lengths[i] < 65536 ? 4 : 10;
        g_string_append_printf(expected, "MSG > websocket text %zu\nMSG < websocket binary %zu\n",
                               lengths[i] + head + 4, lengths[i] + head);
    }
    g_autoptr(Converse) c = play(s, 1460);
    ck_assert_str_eq(converse_result(c), expected->str);
}
END_TEST

// More bytes than sequence numbers tell apart: it is begun, and goes on to the end.
START_TEST(largest_length)
{
    g_autoptr(Script) s = script_new();
    g_autoptr(GByteArray) head = g_byte_array_new();
    put_head(head, FINAL | BINARY, 0, G_MAXINT64);
    say(s, down, false, head->data, head->len);
    say(s, down, false, "data that go on", 15);
    check(s, UPGRADED "MSG < websocket binary 25\n");
}
END_TEST

START_TEST(responses_first_frame_in_its_packet)
{
    g_autoptr(Script) s = script_new();
    GByteArray *response = g_array_index(s->steps, Step, 1).bytes;
    g_byte_array_append(response, (const guint8 *)"\x81\x02hi", 4);
    frame(s, up, FINAL | TEXT, "hello");
    check(s, UPGRADED "MSG < websocket text 4\nMSG > websocket text 11\n");
}
END_TEST

// The response need not say what it switches to, when only one thing was asked for.
START_TEST(upgrade_without_a_word)
{
    g_autoptr(Script) s = script_new();
    GByteArray *response = g_array_index(s->steps, Step, 1).bytes;
    g_byte_array_set_size(response, 0);
    g_byte_array_append(response, (const guint8 *)"HTTP/1.1 101 Yes\r\n\r\n", 20);
    frame(s, up, FINAL | TEXT, "hello");
    check(s, "CALL 1 http GET /chat 72\nRET 1 http 101 20\nMSG > websocket text 11\n");
}
END_TEST

// ---- control frames ---------------------------------------------------------------------------

START_TEST(ping_and_pong)
{
    g_autoptr(Script) s = script_new();
    frame(s, up, FINAL | PING, "one");
    frame(s, down, FINAL | PING, "two");
    frame(s, up, FINAL | PONG, "two");
    frame(s, down, FINAL | PONG, "one");
    frame(s, down, FINAL | PONG, "one"); // nobody asked
    frame(s, up, FINAL | CLOSE, "\3\xe8");
    frame(s, down, FINAL | CLOSE, "\3\xe8");
    check(s, UPGRADED "CALL 2 websocket ping 9\n"
                      "CALL 3 websocket ping 5\n"
                      "RET 3 websocket ok 9\n"
                      "RET 2 websocket ok 5\n"
                      "MSG < websocket pong 5\n"
                      "MSG > websocket close 8\n"
                      "MSG < websocket close 4\n");
}
END_TEST

// 5.5.3: only the last ping has to be answered.
START_TEST(pong_answers_by_its_data)
{
    g_autoptr(Script) s = script_new();
    for (char id[] = "a"; id[0] <= 'j'; id[0]++) // more than are remembered
        frame(s, up, FINAL | PING, id);
    frame(s, down, FINAL | PONG, "j");
    frame(s, down, FINAL | PONG, "h");
    frame(s, down, FINAL | PONG, "a"); // not any more
    g_autoptr(Converse) c = play(s, 1460);
    ck_assert_ptr_nonnull(strstr(converse_result(c), "RET 11 websocket ok 3\n"
                                                     "RET 9 websocket ok 3\n"
                                                     "MSG < websocket pong 3\n"));
    ck_assert_uint_eq(converse_loss(c, BB_CALLS_UNRETURNED), 8);
}
END_TEST

// ---- loss -------------------------------------------------------------------------------------

START_TEST(gap_inside_a_message)
{
    g_autoptr(Script) s = script_new();
    say(s, up, false, "\x81\xfe\x03\xe8mask0123456789", 18); // 1000 bytes
    g_autofree char *text = g_strnfill(900, 'x');
    say(s, up, true, text, 900);
    say(s, up, false, text, 90);
    frame(s, up, FINAL | TEXT, "next");
    check(s, UPGRADED "MSG > websocket text 108\nMSG > websocket text 10\n");
    g_autoptr(Converse) c = play(s, 1460);
    ck_assert_uint_eq(converse_loss(c, BB_DECODER_LOST), 0);
}
END_TEST

// Beyond its end: what was seen is kept, and the next packet begins with a frame.
START_TEST(gap_beyond_a_message)
{
    g_autoptr(Script) s = script_new();
    say(s, down, false, "\x82\x0ahello", 7);
    say(s, down, true, "world\x82\x03xxx", 10);
    frame(s, down, FINAL | BINARY, "four");
    lose_frame(s, down, BINARY, "first part");
    frame(s, down, 0, "tail");
    frame(s, down, FINAL, "end"); // of a message whose start is missing
    frame(s, down, FINAL | TEXT, "fine");
    check(s, UPGRADED "MSG < websocket binary 7\n"
                      "MSG < websocket binary 6\n"
                      "MSG < websocket text 6\n");
    g_autoptr(Converse) c = play(s, 1460);
    ck_assert_uint_eq(converse_loss(c, BB_DECODER_LOST), 2);
}
END_TEST

// A pong that was lost is not replaced by the next ping's.
START_TEST(lost_pong)
{
    g_autoptr(Script) s = script_new();
    frame(s, up, FINAL | PING, "");
    lose_frame(s, down, FINAL | PONG, "");
    frame(s, up, FINAL | PING, "");
    frame(s, down, FINAL | PONG, "");
    check(s, UPGRADED "CALL 2 websocket ping 6\n"
                      "CALL 3 websocket ping 6\n"
                      "RET 3 websocket ok 2\n");
}
END_TEST

START_TEST(lost_ping)
{
    g_autoptr(Script) s = script_new();
    lose_frame(s, up, FINAL | PING, "a");
    frame(s, down, FINAL | PONG, "a");
    frame(s, up, FINAL | PING, "b");
    frame(s, down, FINAL | PONG, "b");
    check(s, UPGRADED "MSG < websocket pong 3\n"
                      "CALL 2 websocket ping 7\n"
                      "RET 2 websocket ok 3\n");
}
END_TEST

static void say_long(Script *s, BbDirection direction, guint8 first, char fill, gsize length)
{
    g_autofree char *text = g_strnfill(length, fill);
    frame(s, direction, first, text);
}

// Messages that are too long to be waited for: those behind the loss are found by what follows
// them.
START_TEST(long_messages_are_found_again)
{
    static const gsize lengths[] = {20000, 70000};
    for (guint i = 0; i < G_N_ELEMENTS(lengths); i++) {
        g_autoptr(Script) s = script_new();
        gsize head = lengths[i] > 65535 ? 10 : 4;
        for (guint side = 0; side < 2; side++) {
            lose_frame(s, (BbDirection)side, FINAL | TEXT, "lost");
            say_long(s, (BbDirection)side, FINAL | TEXT, 'x', lengths[i]);
            say_long(s, (BbDirection)side, BINARY, 'y', lengths[i]);
            frame(s, (BbDirection)side, FINAL, "end");
        }
        g_autoptr(Converse) c = play(s, 1460);
        g_autofree char *expected =
            g_strdup_printf(UPGRADED "MSG > websocket text %zu\nMSG > websocket binary %zu\n"
                                     "MSG < websocket text %zu\nMSG < websocket binary %zu\n",
                            lengths[i] + head + 4, lengths[i] + head + 4 + 9, lengths[i] + head,
                            lengths[i] + head + 5);
        ck_assert_str_eq(converse_result(c), expected);
        ck_assert_uint_eq(converse_loss(c, BB_DECODER_LOST), 2);
    }
}
END_TEST

// A short one with the head of a long one behind it is found at once.
START_TEST(short_before_long)
{
    g_autoptr(Script) s = script_new();
    lose_frame(s, down, FINAL | TEXT, "lost");
    g_autofree char *text = g_strnfill(20000, 'x');
    g_autoptr(GByteArray) both = frame_of(s, down, FINAL | TEXT, "short", 5);
    g_autoptr(GByteArray) second = frame_of(s, down, FINAL | BINARY, text, 20000);
    g_byte_array_append(both, second->data, second->len);
    say(s, down, false, both->data, both->len);
    g_autoptr(Converse) c = play(s, 1460);
    ck_assert_str_eq(converse_result(c),
                     UPGRADED "MSG < websocket text 7\nMSG < websocket binary 20004\n");
}
END_TEST

// What looks like a long frame is none, where no other stands behind it, or a gap does, or nothing.
START_TEST(wrong_guesses)
{
    for (guint kind = 0; kind < 3; kind++) {
        g_autoptr(Script) s = script_new();
        lose_frame(s, down, FINAL | TEXT, "lost");
        say(s, down, false, "\x82\x7e\x50\x00", 4); // 20480 bytes
        say_long(s, down, FINAL | TEXT, 'x', kind == 2 ? 20000 : 20476);
        if (kind == 0)
            say(s, down, false, "no frame", 8);
        if (kind == 1)
            lose_frame(s, down, FINAL | TEXT, "lost");
        if (kind != 2)
            frame(s, down, FINAL | TEXT, "fine");
        g_autoptr(Converse) c = play(s, 1460);
        ck_assert_str_eq(converse_result(c),
                         kind == 2 ? UPGRADED : UPGRADED "MSG < websocket text 6\n");
        ck_assert_uint_eq(converse_loss(c, BB_DECODER_LOST), kind != 2);
    }
}
END_TEST

// Where no frame begins with a packet, nothing is made up.
START_TEST(not_found_again)
{
    g_autoptr(Script) s = script_new();
    lose_frame(s, up, FINAL | TEXT, "lost");
    say(s, up, false, "\x81\x05hello", 7);       // not masked
    say(s, up, false, "\x81\x85mask12345x", 12); // and more
    say(s, up, false, "\x83\x80mask", 6);        // no such opcode
    frame(s, up, FINAL | TEXT, "here");
    g_autoptr(Converse) c = play(s, 1460);
    ck_assert_str_eq(converse_result(c), UPGRADED "MSG > websocket text 10\n");
    ck_assert_uint_eq(converse_loss(c, BB_DECODER_GAVE_UP), 0);
}
END_TEST

// ---- refusals ---------------------------------------------------------------------------------

START_TEST(other_protocols)
{
    static const char *const first[] = {
        "\x81\x05hello",             // not masked
        "\x91\x85mask12345",         // reserved bit
        "\x83\x85mask12345",         // no such opcode
        "\x09\x85mask12345",         // a control frame in fragments
        "\x89\xfe\xff\xffmask12345", // and one too long
    };
    for (guint i = 0; i < G_N_ELEMENTS(first); i++) {
        g_autoptr(Script) s = script_new();
        say(s, up, false, first[i], strlen(first[i]));
        g_autoptr(Converse) c = play(s, 1460);
        ck_assert_msg(!strstr(converse_result(c), "websocket"), "%u:\n%s", i, converse_result(c));
        ck_assert_uint_eq(converse_loss(c, BB_DECODER_GAVE_UP), 1);
    }
}
END_TEST

// Lengths have the fewest bytes that hold them.
START_TEST(padded_lengths)
{
    static const guint8 two[] = {0x81, 0xfe, 0, 125, 1, 2, 3, 4};
    static const guint8 eight[] = {0x81, 0xff, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 1, 2, 3, 4};
    static const guint8 huge[] = {0x81, 0xff, 0x80, 0, 0, 0, 0, 0, 0xff, 0xff, 1, 2, 3, 4};
    const struct {
        const guint8 *bytes;
        gsize length;
    } heads[] = {{two, sizeof two}, {eight, sizeof eight}, {huge, sizeof huge}};
    for (guint i = 0; i < G_N_ELEMENTS(heads); i++) {
        g_autoptr(Script) s = script_new();
        say(s, up, false, heads[i].bytes, heads[i].length);
        g_autoptr(Converse) c = play(s, 1460);
        ck_assert_uint_eq(converse_loss(c, BB_DECODER_GAVE_UP), 1);
    }
}
END_TEST

START_TEST(never_found_by_its_bytes)
{
    ck_assert(!bb_decoder_websocket.probe);
    ck_assert_ptr_eq(bb_decoder_find("websocket"), &bb_decoder_websocket);
}
END_TEST

TEST_MAIN("websocket", messages, fragments_are_one_message, all_lengths, largest_length,
          responses_first_frame_in_its_packet, upgrade_without_a_word, ping_and_pong,
          pong_answers_by_its_data, gap_inside_a_message, gap_beyond_a_message, lost_pong,
          lost_ping, long_messages_are_found_again, short_before_long, wrong_guesses,
          not_found_again, other_protocols, padded_lengths, never_found_by_its_bytes)
