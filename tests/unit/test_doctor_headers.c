// SPDX-License-Identifier: Apache-2.0
// Headers found again behind what the layers took off, and their checksums: against sums worked out
// byte by byte, and with every bit turned.
#include "tests/unit/doctor_scene.h"
#include "tests/unit/layer_run.h"

#include "capture/doctor/headers.h"

typedef struct Found {
    BbPacket packet;
    BbHeaders headers;
    bool is_packet, is_found;
    BbChecksum checksum;
} Found;

static Found examine(const Frame *frame, guint32 captured)
{
    Run run;
    run_init(&run);
    g_autofree guint8 *copy = g_memdup2(frame->data, captured);
    BbFrame whole = {
        .data = copy, .captured = captured, .length = frame->len, .link_type = ETHERNET};
    Found found = {.is_packet = bb_layers_decode(run.layers, &whole, &run.packet)};
    found.packet = run.packet;
    found.is_found = found.is_packet && bb_headers_find(&whole, &run.packet, &found.headers);
    if (found.is_found)
        found.checksum = bb_headers_checksum(&found.headers, &found.packet);
    run_clear(&run);
    return found;
}

// TCP or UDP over IPv4 with options of both, in Ethernet.
static Frame *build(guint8 protocol, gsize payload, guint tcp_words, guint ip_words)
{
    Frame *frame = frame_payload(payload);
    if (protocol == 6)
        frame_tcp(frame, ACK, tcp_words);
    else
        frame_udp(frame);
    scene_fill_sum(frame, protocol == 6 ? 16 : 6, protocol, SUM_RIGHT, CLIENT);
    frame_ipv4_fragment(frame, protocol, ip_words, 7, 0);
    frame->data[10] = frame->data[11] = 0;
    guint16 sum = (guint16)~scene_sum(0, frame->data, 20 + 4 * ip_words);
    frame->data[10] = (guint8)(sum >> 8);
    frame->data[11] = (guint8)sum;
    return frame;
}

START_TEST(headers_of_all_sizes_are_found)
{
    for (guint8 protocol = 6; protocol <= 17; protocol += 11)
        for (guint words = 0; words < 11 * 11; words++)
            for (gsize payload = 0; payload < 4; payload++) {
                Frame *frame = build(protocol, payload, words / 11, words % 11);
                frame_ethernet(frame, 0x0800);
                Found found = examine(frame, frame->len);
                ck_assert(found.is_found);
                ck_assert_uint_eq(found.headers.ip_size, 20 + 4 * (words % 11));
                ck_assert_uint_eq(found.headers.transport_size,
                                  protocol == 6 ? 20 + 4 * (words / 11) : 8);
                ck_assert_int_eq(found.checksum, BB_CHECKSUM_RIGHT);
                g_byte_array_unref(frame);
            }
}
END_TEST

START_TEST(headers_behind_tunnels_are_found)
{
    Frame *frame = build(6, 100, 3, 0);
    FRAME_PUT(frame, 0, 0, FRAME_16(0x0800));
    frame_ipv4(frame, 47);
    frame_vlan(frame, 0x0800);
    frame_ethernet(frame, 0x8100);
    Found found = examine(frame, frame->len);
    ck_assert(found.is_found);
    ck_assert_int_eq(found.checksum, BB_CHECKSUM_RIGHT);
    g_byte_array_unref(frame);
}
END_TEST

START_TEST(ipv6)
{
    Frame *frame = frame_payload(33);
    frame_udp(frame);
    // The sum of the pseudo header (RFC 8200, 8.1): addresses, length, next header.
    static const guint8 addresses[32] = {0x20, 1, 0x0d, 0xb8, [15] = 1,
                                         0x20, 1, 0x0d, 0xb8, [31] = 2};
    frame->data[6] = frame->data[7] = 0;
    guint32 pseudo = scene_sum(0, addresses, sizeof addresses) + frame->len + 17u;
    guint16 sum = (guint16)~scene_sum(pseudo, frame->data, frame->len);
    frame->data[6] = (guint8)(sum >> 8);
    frame->data[7] = (guint8)sum;
    frame_ipv6(frame, 17);
    frame_ethernet(frame, 0x86dd);
    Found found = examine(frame, frame->len);
    ck_assert(found.is_found);
    ck_assert_int_eq(found.checksum, BB_CHECKSUM_RIGHT);
    frame->data[frame->len - 1] ^= 1;
    ck_assert_int_eq(examine(frame, frame->len).checksum, BB_CHECKSUM_WRONG);
    frame->data[14 + 40 + 6] = frame->data[14 + 40 + 7] = 0; // not allowed to be left out
    ck_assert_int_eq(examine(frame, frame->len).checksum, BB_CHECKSUM_UNFILLED);
    g_byte_array_unref(frame);
}
END_TEST

// A sum finds every single bit; some bits make the packet another one, or none.
START_TEST(every_bit_counts)
{
    for (guint8 protocol = 6; protocol <= 17; protocol += 11) {
        Frame *frame = build(protocol, 21, 2, 1);
        frame_ethernet(frame, 0x0800);
        guint judged = 0;
        for (guint bit = 14 * 8; bit < frame->len * 8; bit++) {
            frame->data[bit / 8] ^= (guint8)(1u << bit % 8);
            Found found = examine(frame, frame->len);
            bool is_judged = found.is_found && found.checksum != BB_CHECKSUM_NONE;
            if (is_judged)
                ck_assert_int_ne(found.checksum, BB_CHECKSUM_RIGHT);
            judged += is_judged;
            frame->data[bit / 8] ^= (guint8)(1u << bit % 8);
        }
        ck_assert_uint_gt(judged, (frame->len - 14) * 8 * 3 / 4);
        g_byte_array_unref(frame);
    }
}
END_TEST

START_TEST(what_is_cut_is_not_judged)
{
    Frame *frame = build(6, 40, 3, 1);
    frame_ethernet(frame, 0x0800);
    for (guint32 captured = 0; captured < frame->len; captured++) {
        Found found = examine(frame, captured);
        ck_assert(!found.is_found || found.checksum == BB_CHECKSUM_NONE);
        ck_assert(found.is_found == (captured >= frame->len - 40));
    }
    g_byte_array_unref(frame);
}
END_TEST

// A payload elsewhere in memory (of reassembly), before or behind the frame.
START_TEST(what_is_not_in_the_frame_is_not_found)
{
    Frame *frame = build(6, 40, 0, 0);
    frame_ethernet(frame, 0x0800);
    Found found = examine(frame, frame->len);
    BbFrame part = {.data = frame->data + 54, .captured = 20, .length = 20, .link_type = ETHERNET};
    BbHeaders headers;
    for (guint at = 0; at <= frame->len; at++) {
        found.packet.payload = frame->data + at;
        ck_assert(!bb_headers_find(&part, &found.packet, &headers));
    }
    found.packet.payload = NULL;
    ck_assert(!bb_headers_find(&part, &found.packet, &headers));
    g_byte_array_unref(frame);
}
END_TEST

static guint16 mss_of(const guint8 *options, gsize size)
{
    g_autofree guint8 *header = g_malloc0(20 + size);
    if (size)
        memcpy(header + 20, options, size);
    return bb_headers_mss(&(BbHeaders){.transport = header, .transport_size = 20 + size});
}

#define MSS_OF(...) mss_of((const guint8[]){__VA_ARGS__}, sizeof((const guint8[]){__VA_ARGS__}))

START_TEST(maximum_segment_size)
{
    ck_assert_uint_eq(mss_of(NULL, 0), 0);
    ck_assert_uint_eq(MSS_OF(2, 4, 5, 180), 1460);
    ck_assert_uint_eq(MSS_OF(1, 1, 2, 4, 5, 180, 0, 0), 1460);
    ck_assert_uint_eq(MSS_OF(3, 3, 7, 2, 4, 5, 180, 0), 1460);
    ck_assert_uint_eq(MSS_OF(0, 1, 1, 1, 2, 4, 5, 180), 0); // behind the end of options
    ck_assert_uint_eq(MSS_OF(3, 0, 2, 4, 5, 180, 0, 0), 0); // a length that goes nowhere
    ck_assert_uint_eq(MSS_OF(3, 1, 2, 4, 5, 180, 0, 0), 0);
    ck_assert_uint_eq(MSS_OF(3, 200, 2, 4), 0);
    ck_assert_uint_eq(MSS_OF(1, 1, 1, 2), 0);
    ck_assert_uint_eq(MSS_OF(1, 1, 2, 4), 0);
    ck_assert_uint_eq(MSS_OF(2, 3, 9, 1), 0);
}
END_TEST

TEST_MAIN("doctor_headers", headers_of_all_sizes_are_found, headers_behind_tunnels_are_found, ipv6,
          every_bit_counts, what_is_cut_is_not_judged, what_is_not_in_the_frame_is_not_found,
          maximum_segment_size)
