// SPDX-License-Identifier: Apache-2.0
// How a decoder gets its bytes: segments of any size, heads that outgrow the buffer and what is
// told of them.
#include "capture/capture.h"
#include "capture/decoder.h"
#include "capture/loss.h"
#include "tests/unit/octets.h"

// ---- large segments -----------------------------------------------------------------------------

// Pipelined requests, then their responses, in segments of so many bytes: not one is lost. A
// loopback interface has segments of 65483 bytes, BIG TCP of half a megabyte.
static void talk_in_segments_of(gsize segment, guint calls)
{
    g_autoptr(Octets) requests = g_byte_array_new(), replies = g_byte_array_new();
    for (guint id = 1; id <= calls; id++) {
        octets_be(requests, 0xdabbc200, 4);
        octets_be(requests, id, 8);
        octets_read(requests, "[05 '2.0.2' 03 'a.B' 05 '0.0.0' 03 'get' 'x'*600]", '\0');
        octets_be(replies, 0xdabb0214, 4);
        octets_be(replies, id, 8);
        octets_read(replies, "[94 90 'x'*700]", '\0');
    }
    g_autoptr(Converse) c = converse_tcp(20880);
    converse_segment_size(c, segment);
    converse_say(c, BB_TO_SERVER, requests->data, requests->len);
    converse_say(c, BB_TO_CLIENT, replies->data, replies->len);
    ck_assert_uint_eq(converse_loss(c, BB_MESSAGE_LIMIT), 0);
    ck_assert_uint_eq(converse_loss(c, BB_CALLS), calls);
    ck_assert_uint_eq(converse_loss(c, BB_RETURNS), calls);
    ck_assert_uint_eq(converse_loss(c, BB_CALLS_UNRETURNED), 0);
    ck_assert_uint_eq(converse_loss(c, BB_RETURNS_ORPHANED), 0);
}

START_TEST(segments_larger_than_the_buffer)
{
    static const gsize segments[] = {60000, 65160, 65483, 65535, 65536, 65537, 131072, 500000};
    for (guint i = 0; i < G_N_ELEMENTS(segments); i++)
        talk_in_segments_of(segments[i], 1000);
}
END_TEST

// What a large segment left is small, and so is what is held for it.
START_TEST(room_is_given_back)
{
    g_autoptr(Octets) replies = octets("dabb0214 0000000000000001 [94 90 'x'*400000]"
                                       "dabb0214 0000000000000002 [94 90]");
    g_autoptr(Converse) c = converse_tcp_held(20880, 3000);
    converse_segment_size(c, 500000);
    for (guint8 id = 1; id <= 2; id++) {
        g_autoptr(Octets) request = octets("dabbc200 00000000000000");
        octets_be(request, id, 1);
        octets_read(request, "[05 '2.0.2' 03 'a.B' 05 '0.0.0' 03 'get']", '\0');
        converse_say(c, BB_TO_SERVER, request->data, request->len);
    }
    converse_say(c, BB_TO_CLIENT, replies->data, 3);
    converse_say(c, BB_TO_CLIENT, replies->data + 3, replies->len - 8);
    converse_say(c, BB_TO_CLIENT, replies->data + replies->len - 5, 5);
    ck_assert_str_eq(converse_result(c), "CALL 1 dubbo a.B.get 36\nCALL 2 dubbo a.B.get 36\n"
                                         "RET 1 dubbo ok 400018\nRET 2 dubbo ok 18\n");
    ck_assert_uint_eq(converse_loss(c, BB_TCP_BUFFER_LIMIT), 0);
}
END_TEST

// ---- heads that outgrow the buffer --------------------------------------------------------------

// A protocol of the test's own: '!', a length of four bytes, so many bytes. It reads whole messages
// only, and pairs by order.
#define PORT 7777u

typedef struct Plain {
    bool lost[2];
} Plain;

static BbMatch probe_plain(const guint8 *data, gsize length)
{
    return BB_MATCH_NO; // it is told
}

static gssize parse_plain(BbDialog *dialog, void *state, const BbView *view)
{
    Plain *plain = state;
    if (plain->lost[view->direction] && view->length && view->data[0] != '!')
        return (gssize)bb_view_next_packet(view, 0);
    plain->lost[view->direction] = false;
    if (view->length < 5)
        return 0;
    gsize size =
        5 + (gsize)(view->data[1] << 24 | view->data[2] << 16 | view->data[3] << 8 | view->data[4]);
    BbPart part = {0};
    if (view->length < size)
        return 0;
    bb_part_add(&part, view, 0, size);
    if (view->direction == BB_TO_SERVER) {
        bb_dialog_call(dialog, &part, BB_NAME_NONE, 0, 0);
    } else {
        const BbOpenCall *open = bb_dialog_oldest(dialog, &part);
        bb_dialog_return(dialog, open ? open->call : 0, &part, BB_NAME_NONE);
    }
    return (gssize)size;
}

static void gap_plain(BbDialog *dialog, void *state, BbDirection direction)
{
    ((Plain *)state)->lost[direction] = true;
}

static const BbDecoder plain_decoder = {
    .name = "plain",
    .about = "messages of the test",
    .tcp = true,
    .state_size = sizeof(Plain),
    .probe = probe_plain,
    .parse = parse_plain,
    .gap = gap_plain,
};

typedef struct Talk {
    BbNames *names;
    BbNodes *nodes;
    BbLoss loss;
    BbCapture *capture;
    guint32 next[2];
    gint64 now_ns;
    GString *heard; // "C12 " a call of 12 bytes, "R12 " a return
} Talk;

static bool hear(const BbMessage *message, gpointer user, GError **error)
{
    Talk *talk = user;
    g_string_append_printf(talk->heard, "%c%" G_GUINT64_FORMAT "%s ",
                           message->kind == BB_CALL ? 'C' : 'R', message->bytes,
                           message->kind == BB_RETURN && !bb_id_is_known(message->id) ? "?" : "");
    return true;
}

static void talk_begin(Talk *talk)
{
    static const BbDecodeAs as = {PORT, &plain_decoder};
    BbCaptureOptions options = bb_capture_options_default();
    options.decode_as = &as;
    options.n_decode_as = 1;
    *talk = (Talk){.names = bb_names_new(), .next = {1, 1}, .heard = g_string_new(NULL)};
    talk->nodes = bb_nodes_new(talk->names, false);
    talk->capture = bb_capture_new(&options, talk->names, talk->nodes, &talk->loss, hear, talk);
}

static void send(Talk *talk, BbDirection direction, const guint8 *bytes, gsize length)
{
    static const guint8 a[4] = {10, 0, 0, 1}, b[4] = {10, 0, 0, 2};
    BbPacket packet = {
        .time_ns = talk->now_ns += 1000000,
        .source = bb_address_v4(direction == BB_TO_SERVER ? a : b),
        .target = bb_address_v4(direction == BB_TO_SERVER ? b : a),
        .source_port = direction == BB_TO_SERVER ? 40000 : PORT,
        .target_port = direction == BB_TO_SERVER ? PORT : 40000,
        .transport = BB_TRANSPORT_TCP,
        .tcp_flags = BB_TCP_ACK,
        .seq = talk->next[direction],
        .ack = talk->next[!direction],
        .payload = bytes,
        .captured = (guint32)length,
        .length = (guint32)length,
    };
    ck_assert(bb_capture_packet(talk->capture, &packet, NULL));
    talk->next[direction] += (guint32)length;
}

// A message of so many bytes in all, in segments.
static void say(Talk *talk, BbDirection direction, guint32 size, gsize segment)
{
    g_autofree guint8 *bytes = g_malloc0(size);
    guint32 rest = GUINT32_TO_BE(size - 5);
    bytes[0] = '!';
    memcpy(bytes + 1, &rest, sizeof rest);
    for (gsize at = 0; at < size; at += segment)
        send(talk, direction, bytes + at, MIN(segment, size - at));
}

static void talk_end(Talk *talk, const char *heard, guint64 outgrown)
{
    ck_assert(bb_capture_finish(talk->capture, NULL));
    ck_assert_str_eq(talk->heard->str, heard);
    ck_assert_uint_eq(talk->loss.count[BB_MESSAGE_LIMIT], outgrown);
    bb_capture_free(talk->capture);
    bb_nodes_free(talk->nodes);
    bb_names_free(talk->names);
    g_string_free(talk->heard, TRUE);
}

static const gsize segments[] = {1460, 60000, 65483, 500000};

// What fits in the buffer and one segment more is read.
START_TEST(up_to_a_segment_more)
{
    for (guint i = 0; i < G_N_ELEMENTS(segments); i++) {
        Talk talk;
        talk_begin(&talk);
        say(&talk, BB_TO_SERVER, 65536, segments[i]);
        say(&talk, BB_TO_CLIENT, 65536, segments[i]);
        say(&talk, BB_TO_SERVER, 20, 1460);
        say(&talk, BB_TO_CLIENT, 30, 1460);
        talk_end(&talk, "C65536 R65536 C20 R30 ", 0);
    }
}
END_TEST

// The reply to a request that was dropped is not taken for that of the next.
START_TEST(an_outgrown_request_shifts_no_pair)
{
    for (guint i = 0; i < G_N_ELEMENTS(segments); i++) {
        Talk talk;
        talk_begin(&talk);
        say(&talk, BB_TO_SERVER, 10, 1460);
        say(&talk, BB_TO_CLIENT, 11, 1460);
        say(&talk, BB_TO_SERVER, 600000, segments[i]);
        say(&talk, BB_TO_SERVER, 20, 1460);
        say(&talk, BB_TO_CLIENT, 31, 1460);
        say(&talk, BB_TO_CLIENT, 21, 1460);
        say(&talk, BB_TO_SERVER, 40, 1460);
        say(&talk, BB_TO_CLIENT, 41, 1460);
        talk_end(&talk, "C10 R11 C20 R31? R21? C40 R41 ", 1);
    }
}
END_TEST

// A reply that was dropped takes its call with it, and those that may have been answered with it.
START_TEST(an_outgrown_reply_shifts_no_pair)
{
    for (guint i = 0; i < G_N_ELEMENTS(segments); i++) {
        Talk talk;
        talk_begin(&talk);
        say(&talk, BB_TO_SERVER, 10, 1460);
        say(&talk, BB_TO_SERVER, 20, 1460);
        say(&talk, BB_TO_CLIENT, 600000, segments[i]);
        say(&talk, BB_TO_CLIENT, 21, 1460);
        say(&talk, BB_TO_SERVER, 40, 1460);
        say(&talk, BB_TO_CLIENT, 41, 1460);
        talk_end(&talk, "C10 C20 R21? C40 R41 ", 1);
    }
}
END_TEST

// With a packet that the decoder did not look at a message may begin.
START_TEST(what_comes_after_is_read)
{
    Talk talk;
    talk_begin(&talk);
    guint8 *filler = g_malloc0(65000);
    memcpy(filler, "!\1\0\0", 4);
    send(&talk, BB_TO_SERVER, filler, 65000);
    say(&talk, BB_TO_SERVER, 1000, 1460);
    say(&talk, BB_TO_SERVER, 20, 1460);
    talk_end(&talk, "C1000 C20 ", 1);
    g_free(filler);
}
END_TEST

TEST_MAIN("feed", segments_larger_than_the_buffer, room_is_given_back, up_to_a_segment_more,
          an_outgrown_request_shifts_no_pair, an_outgrown_reply_shifts_no_pair,
          what_comes_after_is_read)
