// SPDX-License-Identifier: Apache-2.0
// Layers: each header alone and in company, each refusal, every sample cut at every byte, the
// limits.
#include "capture/layer.h"
#include "tests/unit/frame.h"
#include "tests/unit/test.h"

#define ETHERNET 1
#define COOKED 113
#define COOKED2 276
#define BSD_NULL 0
#define BSD_LOOP 108
#define RAW 101

#define PAYLOAD 40u
#define FLAGS (BB_TCP_ACK | BB_TCP_PSH)
#define NOW_NS (G_GINT64_CONSTANT(1047680084) * 1000000000 + 7)

// ---- one frame through the layers -----------------------------------------------------------

typedef struct Run {
    BbLoss loss;
    BbLayers *layers;
    BbPacket packet;
} Run;

static void run_init(Run *run)
{
    memset(run, 0, sizeof *run);
    run->layers = bb_layers_new(&run->loss, 1 << 20);
}

static void run_clear(Run *run)
{
    bb_layers_free(run->layers);
}

static guint64 sum(const BbLoss *loss)
{
    guint64 total = 0;
    for (guint kind = 0; kind < BB_LOSS_COUNT; kind++)
        total += loss->count[kind];
    return total;
}

// What became of the frames: each is counted under one of these.
static guint64 outcomes(const BbLoss *loss)
{
    const guint64 *count = loss->count;
    return count[BB_SEEN_TCP] + count[BB_SEEN_UDP] + count[BB_SKIP_NOT_IP] +
           count[BB_SKIP_PROTOCOL] + count[BB_SKIP_LINK] + count[BB_BAD_FRAME] +
           count[BB_CUT_FRAME] + count[BB_DEEP_FRAME] + count[BB_FRAGMENTS] -
           count[BB_FRAGMENT_DONE];
}

// The frame in memory of its own, so that the sanitizer sees a read past what was captured.
static bool decode_at(Run *run, int link_type, const guint8 *data, guint32 captured, guint32 length,
                      gint64 time_ns, const guint8 **copy)
{
    BbFrame frame = {.time_ns = time_ns,
                     .data = *copy = g_memdup2(data, captured),
                     .captured = captured,
                     .length = length,
                     .link_type = link_type};
    return bb_layers_decode(run->layers, &frame, &run->packet);
}

static bool decode(Run *run, int link_type, const Frame *frame)
{
    const guint8 *copy;
    bool found = decode_at(run, link_type, frame->data, frame->len, frame->len, NOW_NS, &copy);
    g_free((gpointer)copy);
    return found;
}

// The frame must be refused for this one reason.
static void expect_refused(int link_type, Frame *frame, BbLossKind why)
{
    Run run;
    run_init(&run);
    ck_assert(!decode(&run, link_type, frame));
    ck_assert_msg(run.loss.count[why] == 1, "not counted as %s", bb_loss_name(why));
    ck_assert_uint_eq(sum(&run.loss), 1);
    run_clear(&run);
    g_byte_array_unref(frame);
}

static Frame *patched(Frame *frame, guint at, guint8 value)
{
    ck_assert_uint_lt(at, frame->len);
    frame->data[at] = value;
    return frame;
}

// ---- samples: link header, IP header, transport, PAYLOAD bytes ---------------------------------

typedef struct Sample {
    const char *name;
    int link_type;
    Frame *(*build)(void);
    guint link_size; // bytes up to IP
    guint size;      // bytes up to the payload
    guint options;   // TCP options among them
    bool v6, udp;
} Sample;

static Frame *tcp4(void)
{
    Frame *frame = frame_payload(PAYLOAD);
    frame_tcp(frame, FLAGS, 0);
    frame_ipv4(frame, 6);
    return frame;
}

static Frame *udp4(void)
{
    Frame *frame = frame_payload(PAYLOAD);
    frame_udp(frame);
    frame_ipv4(frame, 17);
    return frame;
}

static Frame *tcp6(void)
{
    Frame *frame = frame_payload(PAYLOAD);
    frame_tcp(frame, FLAGS, 0);
    frame_ipv6(frame, 6);
    return frame;
}

static Frame *udp6(void)
{
    Frame *frame = frame_payload(PAYLOAD);
    frame_udp(frame);
    frame_ipv6(frame, 17);
    return frame;
}

static Frame *ethernet_tcp4(void)
{
    Frame *frame = tcp4();
    frame_ethernet(frame, 0x0800);
    return frame;
}

static Frame *ethernet_udp6(void)
{
    Frame *frame = udp6();
    frame_ethernet(frame, 0x86dd);
    return frame;
}

static Frame *all_options(void)
{
    Frame *frame = frame_payload(PAYLOAD);
    frame_tcp(frame, FLAGS, 10);
    frame_ipv4_fragment(frame, 6, 10, 1, 0x4000);
    frame_ethernet(frame, 0x0800);
    return frame;
}

static Frame *vlan_udp4(void)
{
    Frame *frame = udp4();
    frame_vlan(frame, 0x0800);
    frame_ethernet(frame, 0x8100);
    return frame;
}

static Frame *vlans_tcp6(void)
{
    Frame *frame = tcp6();
    frame_vlan(frame, 0x86dd);
    frame_vlan(frame, 0x8100);
    frame_vlan(frame, 0x9100);
    frame_ethernet(frame, 0x88a8);
    return frame;
}

static Frame *snap_tcp4(void)
{
    Frame *frame = tcp4();
    frame_snap(frame, 0, 0x0800);
    frame_ethernet(frame, (guint16)frame->len);
    return frame;
}

static Frame *bridge_snap_in_vlan(void)
{
    Frame *frame = tcp4();
    frame_snap(frame, 0xf8, 0x0800);
    frame_vlan(frame, (guint16)frame->len);
    frame_ethernet(frame, 0x8100);
    return frame;
}

static Frame *cooked_tcp4(void)
{
    Frame *frame = tcp4();
    frame_cooked(frame, 1, 0x0800);
    return frame;
}

static Frame *cooked_vlan_udp6(void)
{
    Frame *frame = udp6();
    frame_vlan(frame, 0x86dd);
    frame_cooked(frame, 1, 0x8100);
    return frame;
}

static Frame *cooked_llc(void)
{
    Frame *frame = tcp4();
    frame_snap(frame, 0, 0x0800);
    frame_cooked(frame, 1, 4);
    return frame;
}

static Frame *cooked2_udp6(void)
{
    Frame *frame = udp6();
    frame_cooked2(frame, 772, 0x86dd);
    return frame;
}

static Frame *null_little(void)
{
    Frame *frame = tcp4();
    FRAME_PUT(frame, 2, 0, 0, 0);
    return frame;
}

static Frame *null_big(void)
{
    Frame *frame = tcp6();
    FRAME_PUT(frame, 0, 0, 0, 28);
    return frame;
}

static Frame *loop_tcp6(void)
{
    Frame *frame = tcp6();
    FRAME_PUT(frame, 0, 0, 0, 24);
    return frame;
}

static Frame *all_extensions(void)
{
    Frame *frame = frame_payload(PAYLOAD);
    frame_tcp(frame, FLAGS, 3);
    frame_extension(frame, 6, 0);         // destination options: 8
    frame_authentication(frame, 60, 3);   // 24
    frame_ipv6_fragment(frame, 51, 7, 0); // atomic: 8
    frame_extension(frame, 44, 2);        // routing: 24
    frame_extension(frame, 43, 1);        // hop-by-hop: 16
    frame_ipv6(frame, 0);
    return frame;
}

static Frame *authenticated_udp4(void)
{
    Frame *frame = frame_payload(PAYLOAD);
    frame_udp(frame);
    frame_authentication(frame, 17, 3);
    frame_ipv4(frame, 51);
    return frame;
}

static const Sample samples[] = {
    {"ethernet tcp4", ETHERNET, ethernet_tcp4, 14, 54, 0, false, false},
    {"ethernet udp6", ETHERNET, ethernet_udp6, 14, 62, 0, true, true},
    {"options", ETHERNET, all_options, 14, 134, 40, false, false},
    {"802.1Q", ETHERNET, vlan_udp4, 18, 46, 0, false, true},
    {"three tags", ETHERNET, vlans_tcp6, 26, 86, 0, true, false},
    {"802.3 SNAP", ETHERNET, snap_tcp4, 22, 62, 0, false, false},
    {"802.1Q, SNAP of a bridge", ETHERNET, bridge_snap_in_vlan, 26, 66, 0, false, false},
    {"cooked", COOKED, cooked_tcp4, 16, 56, 0, false, false},
    {"cooked, 802.1Q", COOKED, cooked_vlan_udp6, 20, 68, 0, true, true},
    {"cooked, LLC", COOKED, cooked_llc, 24, 64, 0, false, false},
    {"cooked v2", COOKED2, cooked2_udp6, 20, 68, 0, true, true},
    {"null, little-endian", BSD_NULL, null_little, 4, 44, 0, false, false},
    {"null, big-endian", BSD_NULL, null_big, 4, 64, 0, true, false},
    {"loop", BSD_LOOP, loop_tcp6, 4, 64, 0, true, false},
    {"raw 4", RAW, udp4, 0, 28, 0, false, true},
    {"raw 6", RAW, tcp6, 0, 60, 0, true, false},
    {"raw 12", 12, tcp4, 0, 40, 0, false, false},
    {"raw 14", 14, tcp6, 0, 60, 0, true, false},
    {"ipv4", 228, tcp4, 0, 40, 0, false, false},
    {"ipv6", 229, udp6, 0, 48, 0, true, true},
    {"extensions", RAW, all_extensions, 0, 152, 12, true, false},
    {"authenticated", RAW, authenticated_udp4, 0, 52, 0, false, true},
};

static void check_headers(const Sample *sample, const BbPacket *packet)
{
    char source[BB_ADDRESS_TEXT], target[BB_ADDRESS_TEXT];
    bb_address_format_port(&packet->source, packet->source_port, source);
    bb_address_format_port(&packet->target, packet->target_port, target);
    const char *from = sample->v6 ? "[2001:db8::1]:%u" : "10.0.0.1:%u";
    const char *to = sample->v6 ? "[2001:db8::2]:%u" : "10.0.0.2:%u";
    g_autofree char *expected_source = g_strdup_printf(from, sample->udp ? 40001u : 40000u);
    g_autofree char *expected_target = g_strdup_printf(to, sample->udp ? 53u : 80u);
    ck_assert_str_eq(source, expected_source);
    ck_assert_str_eq(target, expected_target);
    ck_assert_int_eq(packet->transport, sample->udp ? BB_TRANSPORT_UDP : BB_TRANSPORT_TCP);
    ck_assert_uint_eq(packet->tcp_flags, sample->udp ? 0 : FLAGS);
    ck_assert_uint_eq(packet->seq, sample->udp ? 0 : 0x01020304u);
    ck_assert_uint_eq(packet->ack, sample->udp ? 0 : 0xa1a2a3a4u);
    ck_assert_int_eq(packet->time_ns, NOW_NS);
}

// The sample with `captured` of its bytes, and `extra` bytes that belong to no packet behind it.
static void check_sample(const Sample *sample, guint32 captured, guint32 extra)
{
    Run run;
    run_init(&run);
    g_autoptr(GByteArray) frame = sample->build();
    guint32 length = frame->len;
    ck_assert_uint_eq(length, sample->size + PAYLOAD);
    g_byte_array_set_size(frame, length + extra);
    const guint8 *copy;
    bool found =
        decode_at(&run, sample->link_type, frame->data, captured, frame->len, NOW_NS, &copy);
    if (captured < sample->size - sample->options) {
        ck_assert_msg(!found, "%s, %u bytes", sample->name, captured);
        ck_assert_uint_eq(run.loss.count[BB_CUT_FRAME], 1);
        ck_assert_uint_eq(sum(&run.loss), 1);
    } else {
        ck_assert_msg(found, "%s, %u bytes", sample->name, captured);
        check_headers(sample, &run.packet);
        guint32 there = MIN(captured, length) - MIN(captured, sample->size);
        ck_assert_uint_eq(run.packet.captured, MIN(there, PAYLOAD));
        ck_assert_uint_eq(run.packet.length, PAYLOAD);
        ck_assert_ptr_eq(run.packet.payload, copy + MIN(captured, sample->size));
        ck_assert_uint_eq(run.loss.count[sample->udp ? BB_SEEN_UDP : BB_SEEN_TCP], 1);
        ck_assert_uint_eq(run.loss.count[BB_CUT_PAYLOAD], there < PAYLOAD);
        ck_assert_uint_eq(sum(&run.loss), 1 + (there < PAYLOAD));
    }
    g_free((gpointer)copy);
    run_clear(&run);
}

START_TEST(whole_frames)
{
    const Sample *sample = &samples[_i];
    check_sample(sample, sample->size + PAYLOAD, 0);
}
END_TEST

// Padding of short frames and the check sequence of Ethernet are not payload.
START_TEST(padded_frames)
{
    const Sample *sample = &samples[_i];
    check_sample(sample, sample->size + PAYLOAD + 6, 6);
    check_sample(sample, sample->size + PAYLOAD + 1, 6);
}
END_TEST

START_TEST(cut_at_every_byte)
{
    const Sample *sample = &samples[_i];
    for (guint32 captured = 0; captured < sample->size + PAYLOAD; captured++) {
        check_sample(sample, captured, 0);
        check_sample(sample, captured, 4);
    }
}
END_TEST

// Switches that truncate what they mirror leave frames that say they are short on the wire. Before
// the length of IP is known such a frame is bad; afterwards the header is believed.
START_TEST(short_on_the_wire)
{
    const Sample *sample = &samples[_i];
    guint fixed_ip = sample->link_size + (sample->v6 ? 40 : 20);
    for (guint32 length = 0; length < sample->size + PAYLOAD; length++) {
        Run run;
        run_init(&run);
        g_autoptr(GByteArray) frame = sample->build();
        const guint8 *copy;
        bool found = decode_at(&run, sample->link_type, frame->data, length, length, NOW_NS, &copy);
        ck_assert_int_eq(found, length >= sample->size - sample->options);
        if (found)
            ck_assert_uint_eq(run.packet.length, PAYLOAD);
        else if (length >= fixed_ip)
            ck_assert_uint_eq(run.loss.count[BB_CUT_FRAME], 1);
        else // an 802.3 length, too, is believed
            ck_assert_uint_eq(run.loss.count[BB_BAD_FRAME] + run.loss.count[BB_CUT_FRAME], 1);
        ck_assert_uint_eq(outcomes(&run.loss), 1);
        g_free((gpointer)copy);
        run_clear(&run);
    }
}
END_TEST

// ---- refusals ---------------------------------------------------------------------------------

START_TEST(not_ip)
{
    Frame *frame = frame_payload(46);
    frame_ethernet(frame, 0x0806);
    expect_refused(ETHERNET, frame, BB_SKIP_NOT_IP);
    frame = frame_payload(46);
    frame_ethernet(frame, 1501); // neither a length nor a type
    expect_refused(ETHERNET, frame, BB_SKIP_NOT_IP);
    frame = frame_payload(46);
    frame_vlan(frame, 0x88cc);
    frame_ethernet(frame, 0x8100);
    expect_refused(ETHERNET, frame, BB_SKIP_NOT_IP);
    frame = frame_payload(20);
    FRAME_PUT(frame, 0x42, 0x42, 0x03); // spanning tree
    frame_ethernet(frame, 38);
    expect_refused(ETHERNET, frame, BB_SKIP_NOT_IP);
    frame = tcp4();
    FRAME_PUT(frame, 0xaa, 0xaa, 0x13, 0, 0, 0, 8, 0); // not unnumbered information
    frame_ethernet(frame, (guint16)frame->len);
    expect_refused(ETHERNET, frame, BB_SKIP_NOT_IP);
    frame = tcp4();
    frame_snap(frame, 0x0c, 0x0800); // another organization's types
    frame_ethernet(frame, (guint16)frame->len);
    expect_refused(ETHERNET, frame, BB_SKIP_NOT_IP);
    frame = tcp4();
    frame_snap(frame, 0, 0x809b);
    frame_ethernet(frame, (guint16)frame->len);
    expect_refused(ETHERNET, frame, BB_SKIP_NOT_IP);
}
END_TEST

START_TEST(not_ip_of_a_system)
{
    static const guint16 foreign[] = {770, 803, 824};
    for (guint i = 0; i < G_N_ELEMENTS(foreign); i++) {
        Frame *frame = tcp4();
        frame_cooked(frame, foreign[i], 0x0800);
        expect_refused(COOKED, frame, BB_SKIP_NOT_IP);
        frame = tcp4();
        frame_cooked2(frame, foreign[i], 0x0800);
        expect_refused(COOKED2, frame, BB_SKIP_NOT_IP);
    }
    Frame *frame = tcp4();
    frame_cooked(frame, 1, 1); // Novell 802.3
    expect_refused(COOKED, frame, BB_SKIP_NOT_IP);
    frame = tcp4();
    FRAME_PUT(frame, 7, 0, 0, 0);
    expect_refused(BSD_NULL, frame, BB_SKIP_NOT_IP);
    frame = tcp4();
    FRAME_PUT(frame, 0, 0, 0, 7);
    expect_refused(BSD_LOOP, frame, BB_SKIP_NOT_IP);
}
END_TEST

START_TEST(families_of_ipv6)
{
    static const guint8 families[] = {10, 23, 24, 28, 30};
    for (guint i = 0; i < G_N_ELEMENTS(families); i++) {
        Run run;
        run_init(&run);
        g_autoptr(GByteArray) frame = udp6();
        FRAME_PUT(frame, families[i], 0, 0, 0);
        ck_assert(decode(&run, BSD_NULL, frame));
        ck_assert_uint_eq(run.packet.length, PAYLOAD);
        run_clear(&run);
    }
}
END_TEST

START_TEST(link_types)
{
    expect_refused(147, ethernet_tcp4(), BB_SKIP_LINK);
    expect_refused(-1, ethernet_tcp4(), BB_SKIP_LINK);
    ck_assert(bb_layers_knows_link(ETHERNET));
    ck_assert(bb_layers_knows_link(BSD_NULL));
    ck_assert(!bb_layers_knows_link(127));
    g_autoptr(GString) names = g_string_new("reads ");
    bb_layers_append_link_names(names);
    ck_assert_str_eq(names->str,
                     "reads EN10MB, LINUX_SLL, LINUX_SLL2, NULL, LOOP, RAW, IPV4, IPV6");
}
END_TEST

START_TEST(bad_ipv4)
{
    expect_refused(RAW, patched(tcp4(), 0, 0x55), BB_BAD_FRAME); // version 5, told by RAW
    expect_refused(228, patched(tcp4(), 0, 0x65), BB_BAD_FRAME);
    expect_refused(RAW, patched(tcp4(), 0, 0x44), BB_BAD_FRAME);              // 16 bytes
    expect_refused(RAW, patched(patched(tcp4(), 2, 0), 3, 19), BB_BAD_FRAME); // total < header
    expect_refused(RAW, patched(patched(tcp4(), 2, 0), 3, 20), BB_BAD_FRAME); // no room for TCP
    expect_refused(RAW, patched(patched(tcp4(), 2, 0), 3, 39), BB_BAD_FRAME); // nearly
    expect_refused(RAW, patched(patched(all_options(), 0, 2), 1, 2), BB_BAD_FRAME);
    Frame *frame = tcp4();
    frame_ethernet(frame, 0x86dd); // one version announced, another sent
    expect_refused(ETHERNET, frame, BB_BAD_FRAME);
}
END_TEST

START_TEST(other_protocols)
{
    // ICMP, IP in IP, IPv6 in IP, GRE, ESP, SCTP; what only IPv6 has: hop-by-hop, routing, fragment
    static const guint8 of_ipv4[] = {1, 4, 41, 47, 50, 132, 0, 43, 44, 60, 255};
    for (guint i = 0; i < G_N_ELEMENTS(of_ipv4); i++)
        expect_refused(RAW, patched(tcp4(), 9, of_ipv4[i]), BB_SKIP_PROTOCOL);
    static const guint8 of_ipv6[] = {4, 41, 47, 50, 58, 59, 132};
    for (guint i = 0; i < G_N_ELEMENTS(of_ipv6); i++)
        expect_refused(RAW, patched(tcp6(), 6, of_ipv6[i]), BB_SKIP_PROTOCOL);
    expect_refused(RAW, patched(all_extensions(), 40, 50), BB_SKIP_PROTOCOL);
    expect_refused(RAW, patched(authenticated_udp4(), 20, 50), BB_SKIP_PROTOCOL);
}
END_TEST

START_TEST(bad_ipv6)
{
    expect_refused(229, patched(tcp6(), 0, 0x45), BB_BAD_FRAME);
    expect_refused(RAW, patched(patched(all_extensions(), 4, 0), 5, 0), BB_BAD_FRAME); // jumbo
    expect_refused(RAW, patched(patched(all_extensions(), 4, 0), 5, 7), BB_BAD_FRAME);
    expect_refused(RAW, patched(all_extensions(), 41, 200), BB_BAD_FRAME);   // options past the end
    expect_refused(RAW, patched(authenticated_udp4(), 21, 0), BB_BAD_FRAME); // below 12 bytes
    expect_refused(RAW, patched(authenticated_udp4(), 21, 200), BB_BAD_FRAME);
}
END_TEST

START_TEST(bad_transport)
{
    expect_refused(RAW, patched(tcp4(), 32, 0x40), BB_BAD_FRAME); // 16 bytes of header
    expect_refused(RAW, patched(tcp4(), 32, 0x00), BB_BAD_FRAME);
    Frame *frame = frame_payload(8);
    frame_tcp(frame, FLAGS, 0);
    frame_ipv4(frame, 6);
    expect_refused(RAW, patched(frame, 32, 0x80), BB_BAD_FRAME); // 12 bytes of options, 8 there
    expect_refused(RAW, patched(udp4(), 25, 7), BB_BAD_FRAME);
    expect_refused(RAW, patched(udp4(), 25, 0), BB_BAD_FRAME);
    expect_refused(RAW, patched(udp4(), 25, PAYLOAD + 9), BB_BAD_FRAME);
}
END_TEST

// ---- lengths that need a second look ------------------------------------------------------------

START_TEST(segmentation_by_the_card)
{
    Run run;
    run_init(&run);
    g_autoptr(GByteArray) four = patched(patched(ethernet_tcp4(), 16, 0), 17, 0);
    ck_assert(decode(&run, ETHERNET, four));
    ck_assert_uint_eq(run.packet.length, PAYLOAD);
    ck_assert_uint_eq(run.packet.captured, PAYLOAD);
    g_autoptr(GByteArray) six = patched(patched(tcp6(), 4, 0), 5, 0);
    ck_assert(decode(&run, RAW, six));
    ck_assert_uint_eq(run.packet.length, PAYLOAD);

    g_autoptr(GByteArray) large = frame_payload(100000);
    frame_tcp(large, FLAGS, 3);
    frame_ipv4(large, 6);
    patched(patched(large, 2, 0), 3, 0);
    const guint8 *copy;
    ck_assert(decode_at(&run, RAW, large->data, 96, large->len, NOW_NS, &copy));
    ck_assert_uint_eq(run.packet.length, 100000);
    ck_assert_uint_eq(run.packet.captured, 96 - 52);
    g_free((gpointer)copy);
    run_clear(&run);
}
END_TEST

START_TEST(datagram_ends_before_its_packet)
{
    Run run;
    run_init(&run);
    g_autoptr(GByteArray) frame = patched(udp4(), 25, 8 + 15);
    ck_assert(decode(&run, RAW, frame));
    ck_assert_uint_eq(run.packet.length, 15);
    ck_assert_uint_eq(run.packet.captured, 15);
    g_autoptr(GByteArray) empty = patched(udp4(), 25, 8);
    ck_assert(decode(&run, RAW, empty));
    ck_assert_uint_eq(run.packet.length, 0);
    ck_assert_uint_eq(run.loss.count[BB_SEEN_UDP], 2);
    ck_assert_uint_eq(run.loss.count[BB_CUT_PAYLOAD], 0);
    run_clear(&run);
}
END_TEST

// A source that says a frame was shorter than what it gives of it.
START_TEST(length_below_captured)
{
    Run run;
    run_init(&run);
    g_autoptr(GByteArray) frame = ethernet_tcp4();
    const guint8 *copy;
    ck_assert(decode_at(&run, ETHERNET, frame->data, frame->len, 0, NOW_NS, &copy));
    ck_assert_uint_eq(run.packet.captured, PAYLOAD);
    g_free((gpointer)copy);
    run_clear(&run);
}
END_TEST

START_TEST(all_flags)
{
    Run run;
    run_init(&run);
    g_autoptr(GByteArray) frame = frame_payload(0);
    frame_tcp(frame, BB_TCP_FIN | BB_TCP_SYN | BB_TCP_RST | BB_TCP_URG, 0);
    frame_ipv4(frame, 6);
    ck_assert(decode(&run, RAW, frame));
    ck_assert_uint_eq(run.packet.tcp_flags, 0x27);
    ck_assert_uint_eq(run.packet.length, 0);
    run_clear(&run);
}
END_TEST

// ---- depth ----------------------------------------------------------------------------------

static Frame *tagged(guint tags)
{
    Frame *frame = tcp4();
    for (guint i = 0; i < tags; i++)
        frame_vlan(frame, i ? 0x8100 : 0x0800);
    frame_ethernet(frame, tags ? 0x8100 : 0x0800);
    return frame;
}

START_TEST(depth_limit)
{
    Run run;
    run_init(&run);
    g_autoptr(GByteArray) deepest = tagged(BB_LAYER_DEPTH - 3); // Ethernet, IPv4, TCP
    ck_assert(decode(&run, ETHERNET, deepest));
    ck_assert_uint_eq(run.packet.length, PAYLOAD);
    run_clear(&run);
    expect_refused(ETHERNET, tagged(BB_LAYER_DEPTH - 2), BB_DEEP_FRAME);
    expect_refused(ETHERNET, tagged(1000), BB_DEEP_FRAME);
    Frame *frame = tcp6();
    g_byte_array_remove_range(frame, 0, 40);
    for (guint i = 0; i < BB_LAYER_DEPTH; i++)
        frame_extension(frame, i ? 60 : 6, 0);
    frame_ipv6(frame, 60);
    expect_refused(RAW, frame, BB_DEEP_FRAME);
}
END_TEST

// ---- fragments --------------------------------------------------------------------------------

typedef struct Split {
    bool v6;
    guint options; // words of IPv4 options in each fragment
} Split;

// One fragment of a transport packet, as a frame.
static Frame *fragment_of(const Split *split, const Frame *whole, guint from, guint to)
{
    Frame *frame = g_byte_array_new();
    g_byte_array_append(frame, whole->data + from, to - from);
    bool more = to < whole->len;
    if (split->v6) {
        frame_ipv6_fragment(frame, 17, 77, (guint16)(from | more));
        frame_extension(frame, 44, 0);
        frame_ipv6(frame, 0);
    } else {
        frame_ipv4_fragment(frame, 17, split->options, 77,
                            (guint16)(from / 8 | (more ? 0x2000 : 0)));
    }
    frame_ethernet(frame, split->v6 ? 0x86dd : 0x0800);
    return frame;
}

static const Split splits[] = {{false, 0}, {false, 10}, {true, 0}};

// Three fragments in every order; the time is that of the first one by place.
START_TEST(fragments_in_every_order)
{
    static const guint8 orders[][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2},
                                       {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
    const Split *split = &splits[_i];
    g_autoptr(GByteArray) whole = frame_payload(1000);
    frame_udp(whole);
    const guint ends[] = {0, 400, 808, whole->len};
    for (guint order = 0; order < G_N_ELEMENTS(orders); order++) {
        Run run;
        run_init(&run);
        for (guint i = 0; i < 3; i++) {
            guint part = orders[order][i];
            g_autoptr(GByteArray) frame = fragment_of(split, whole, ends[part], ends[part + 1]);
            const guint8 *copy;
            bool found = decode_at(&run, ETHERNET, frame->data, frame->len, frame->len,
                                   NOW_NS + part, &copy);
            g_free((gpointer)copy);
            ck_assert_int_eq(found, i == 2);
        }
        ck_assert_int_eq(run.packet.time_ns, NOW_NS);
        ck_assert_uint_eq(run.packet.target_port, 53);
        ck_assert_uint_eq(run.packet.length, 1000);
        ck_assert_uint_eq(run.packet.captured, 1000);
        ck_assert_mem_eq(run.packet.payload, whole->data + 8, 1000);
        ck_assert_uint_eq(run.loss.count[BB_FRAGMENTS], 3);
        ck_assert_uint_eq(run.loss.count[BB_FRAGMENT_DONE], 1);
        ck_assert_uint_eq(run.loss.count[BB_SEEN_UDP], 1);
        ck_assert_uint_eq(sum(&run.loss), 5);
        run_clear(&run);
    }
}
END_TEST

// Each fragment cut at every byte: the payload ends where the first byte is missing.
START_TEST(cut_fragments)
{
    const Split *split = &splits[_i];
    g_autoptr(GByteArray) whole = frame_payload(56);
    frame_udp(whole);
    g_autoptr(GByteArray) first = fragment_of(split, whole, 0, 32);
    g_autoptr(GByteArray) last = fragment_of(split, whole, 32, 64);
    guint headers = first->len - 32;
    for (guint a = headers; a <= first->len; a++)
        for (guint b = headers; b <= last->len; b++) {
            Run run;
            run_init(&run);
            const guint8 *copy, *copy2;
            ck_assert(!decode_at(&run, ETHERNET, first->data, a, first->len, NOW_NS, &copy));
            bool found = decode_at(&run, ETHERNET, last->data, b, last->len, NOW_NS, &copy2);
            guint there = a < first->len ? a - headers : 32 + b - headers;
            ck_assert_int_eq(found, there >= 8);
            ck_assert_uint_eq(run.loss.count[BB_CUT_FRAME], there < 8);
            if (found) {
                ck_assert_uint_eq(run.packet.captured, there - 8);
                ck_assert_uint_eq(run.packet.length, 56);
                ck_assert_mem_eq(run.packet.payload, whole->data + 8, there - 8);
            }
            ck_assert_uint_eq(outcomes(&run.loss), 2);
            g_free((gpointer)copy);
            g_free((gpointer)copy2);
            run_clear(&run);
        }
}
END_TEST

// An atomic fragment needs no others and disturbs none with its id (RFC 6946).
START_TEST(atomic_fragments)
{
    Run run;
    run_init(&run);
    const Split *split = &splits[2];
    g_autoptr(GByteArray) whole = frame_payload(56);
    frame_udp(whole);
    g_autoptr(GByteArray) first = fragment_of(split, whole, 0, 32);
    g_autoptr(GByteArray) atomic = fragment_of(split, whole, 0, 64);
    g_autoptr(GByteArray) last = fragment_of(split, whole, 32, 64);
    ck_assert(!decode(&run, ETHERNET, first));
    ck_assert(decode(&run, ETHERNET, atomic));
    ck_assert_uint_eq(run.packet.length, 56);
    ck_assert(decode(&run, ETHERNET, last));
    ck_assert_uint_eq(run.packet.length, 56);
    ck_assert_uint_eq(run.loss.count[BB_FRAGMENTS], 2);
    ck_assert_uint_eq(run.loss.count[BB_SEEN_UDP], 2);
    run_clear(&run);
}
END_TEST

// What the fragments of IPv6 hold may begin with further extension headers.
START_TEST(extensions_in_fragments)
{
    Run run;
    run_init(&run);
    g_autoptr(GByteArray) whole = frame_payload(24);
    frame_udp(whole);
    frame_extension(whole, 17, 0);
    for (guint from = 0; from < whole->len; from += 8) {
        g_autoptr(GByteArray) frame = g_byte_array_new();
        g_byte_array_append(frame, whole->data + from, 8);
        frame_ipv6_fragment(frame, 60, 1, (guint16)(from | (from + 8 < whole->len)));
        frame_ipv6(frame, 44);
        ck_assert_int_eq(decode(&run, RAW, frame), from + 8 == whole->len);
    }
    ck_assert_uint_eq(run.packet.length, 24);
    run_clear(&run);
}
END_TEST

// A packet put together is refused for its headers as any other.
START_TEST(too_short_for_its_transport)
{
    Run run;
    run_init(&run);
    g_autoptr(GByteArray) whole = frame_payload(16);
    g_autoptr(GByteArray) first = fragment_of(&splits[0], whole, 0, 8);
    g_autoptr(GByteArray) last = fragment_of(&splits[0], whole, 8, 16);
    patched(first, 14 + 9, 6);
    patched(last, 14 + 9, 6);
    ck_assert(!decode(&run, ETHERNET, first));
    ck_assert(!decode(&run, ETHERNET, last));
    ck_assert_uint_eq(run.loss.count[BB_FRAGMENT_DONE], 1);
    ck_assert_uint_eq(run.loss.count[BB_BAD_FRAME], 1);
    run_clear(&run);
}
END_TEST

START_TEST(unfinished_packets)
{
    Run run;
    run_init(&run);
    g_autoptr(GByteArray) whole = frame_payload(16);
    g_autoptr(GByteArray) first = fragment_of(&splits[0], whole, 0, 8);
    ck_assert(!decode(&run, ETHERNET, first));
    ck_assert_uint_eq(run.loss.count[BB_FRAGMENT_LOST], 0);
    bb_layers_finish(run.layers);
    ck_assert_uint_eq(run.loss.count[BB_FRAGMENT_LOST], 1);
    bb_layers_finish(run.layers);
    ck_assert_uint_eq(run.loss.count[BB_FRAGMENT_LOST], 1);
    run_clear(&run);
}
END_TEST

// ---- damage -----------------------------------------------------------------------------------

// Samples with random bytes changed, cut at random, in a row through the same layers: a payload is
// never outside of its frame, unless it was put together, and every frame is counted once.
START_TEST(random_damage)
{
    guint32 seed = g_random_int();
    g_printerr("random_damage: seed %u\n", seed);
    g_autoptr(GRand) rand = g_rand_new_with_seed(seed);
    Run run;
    run_init(&run);
    for (guint round = 0; round < 100000; round++) {
        const Sample *sample = &samples[g_rand_int_range(rand, 0, G_N_ELEMENTS(samples))];
        g_autoptr(GByteArray) frame = sample->build();
        for (gint changes = g_rand_int_range(rand, 0, 6); changes > 0; changes--)
            frame->data[g_rand_int_range(rand, 0, (gint32)frame->len)] = (guint8)g_rand_int(rand);
        guint32 captured = (guint32)g_rand_int_range(rand, 0, (gint32)frame->len + 1);
        if (g_rand_boolean(rand))
            captured = frame->len;
        guint64 done = run.loss.count[BB_FRAGMENT_DONE];
        const guint8 *copy;
        if (decode_at(&run, sample->link_type, frame->data, captured, frame->len, NOW_NS, &copy)) {
            const BbPacket *packet = &run.packet;
            ck_assert_uint_le(packet->captured, packet->length);
            if (run.loss.count[BB_FRAGMENT_DONE] == done) {
                ck_assert(packet->payload >= copy && packet->payload <= copy + captured);
                ck_assert_uint_le(packet->captured, (gsize)(copy + captured - packet->payload));
            }
        }
        g_free((gpointer)copy);
        ck_assert_uint_eq(outcomes(&run.loss), round + 1);
    }
    ck_assert_uint_gt(run.loss.count[BB_SEEN_TCP], 1000);
    ck_assert_uint_gt(run.loss.count[BB_BAD_FRAME], 1000);
    run_clear(&run);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("layer");
    TCase *each = tcase_create("each sample");
    gint count = G_N_ELEMENTS(samples);
    tcase_add_loop_test(each, whole_frames, 0, count);
    tcase_add_loop_test(each, padded_frames, 0, count);
    tcase_add_loop_test(each, cut_at_every_byte, 0, count);
    tcase_add_loop_test(each, short_on_the_wire, 0, count);
    tcase_add_loop_test(each, fragments_in_every_order, 0, G_N_ELEMENTS(splits));
    tcase_add_loop_test(each, cut_fragments, 0, G_N_ELEMENTS(splits));
    suite_add_tcase(suite, each);
    TCase *once = tcase_create("once");
    tcase_set_timeout(once, 60);
    const TTest *const tests[] = {not_ip,
                                  not_ip_of_a_system,
                                  families_of_ipv6,
                                  link_types,
                                  bad_ipv4,
                                  other_protocols,
                                  bad_ipv6,
                                  bad_transport,
                                  segmentation_by_the_card,
                                  datagram_ends_before_its_packet,
                                  length_below_captured,
                                  all_flags,
                                  depth_limit,
                                  atomic_fragments,
                                  extensions_in_fragments,
                                  too_short_for_its_transport,
                                  unfinished_packets,
                                  random_damage};
    for (gsize i = 0; i < G_N_ELEMENTS(tests); i++)
        tcase_add_test(once, tests[i]);
    suite_add_tcase(suite, once);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
