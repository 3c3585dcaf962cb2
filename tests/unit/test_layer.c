// SPDX-License-Identifier: Apache-2.0
// Layers: each header alone and in company, each refusal, every sample cut at every byte, the
// limits.
#include "tests/unit/layer_run.h"
#include "tests/unit/test.h"

#define COOKED 113
#define COOKED2 276
#define BSD_NULL 0
#define BSD_LOOP 108

#define PAYLOAD 40u
#define FLAGS (BB_TCP_ACK | BB_TCP_PSH)

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
    for (guint i = 0; i < G_N_ELEMENTS(samples); i++)
        check_sample(&samples[i], samples[i].size + PAYLOAD, 0);
}
END_TEST

// Padding of short frames and the check sequence of Ethernet are not payload.
static void check_padded(const Sample *sample)
{
    check_sample(sample, sample->size + PAYLOAD + 6, 6);
    check_sample(sample, sample->size + PAYLOAD + 1, 6);
}

START_TEST(padded_frames)
{
    for (guint i = 0; i < G_N_ELEMENTS(samples); i++)
        check_padded(&samples[i]);
}
END_TEST

static void check_cut(const Sample *sample)
{
    for (guint32 captured = 0; captured < sample->size + PAYLOAD; captured++) {
        check_sample(sample, captured, 0);
        check_sample(sample, captured, 4);
    }
}

START_TEST(cut_at_every_byte)
{
    for (guint i = 0; i < G_N_ELEMENTS(samples); i++)
        check_cut(&samples[i]);
}
END_TEST

// Switches that truncate what they mirror leave frames that say they are short on the wire. Before
// the length of IP is known such a frame is bad; afterwards the header is believed.
static void check_short(const Sample *sample)
{
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

START_TEST(short_on_the_wire)
{
    for (guint i = 0; i < G_N_ELEMENTS(samples); i++)
        check_short(&samples[i]);
}
END_TEST

// ---- refusals ---------------------------------------------------------------------------------

START_TEST(not_ip)
{
    Frame *frame = frame_payload(46);
    frame_ethernet(frame, 0x0806);
    expect_refused(ETHERNET, frame, BB_SKIP_NOT_IP);
    frame = tcp4();
    frame_snap(frame, 0, 0x0800);
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
    ck_assert(!bb_layers_knows_link(147));
    g_autoptr(GString) names = g_string_new("reads ");
    bb_layers_append_link_names(names);
    ck_assert_str_eq(names->str,
                     "reads EN10MB, LINUX_SLL, LINUX_SLL2, NULL, LOOP, RAW, IPV4, IPV6, PPP, "
                     "PPP_SERIAL, PPP_ETHER, IEEE802_11, IEEE802_11_RADIO, NFLOG");
}
END_TEST

START_TEST(bad_ipv4)
{
    expect_refused(RAW, frame_patched(tcp4(), 0, 0x55), BB_BAD_FRAME); // version 5, told by RAW
    expect_refused(228, frame_patched(tcp4(), 0, 0x65), BB_BAD_FRAME);
    expect_refused(RAW, frame_patched(tcp4(), 0, 0x44), BB_BAD_FRAME); // 16 bytes
    expect_refused(RAW, frame_patched(frame_patched(tcp4(), 2, 0), 3, 19),
                   BB_BAD_FRAME); // total < header
    expect_refused(RAW, frame_patched(frame_patched(tcp4(), 2, 0), 3, 20),
                   BB_BAD_FRAME); // no room for TCP
    expect_refused(RAW, frame_patched(frame_patched(tcp4(), 2, 0), 3, 39), BB_BAD_FRAME); // nearly
    expect_refused(RAW, frame_patched(frame_patched(tcp4(), 0, 0x4f), 3, 59),
                   BB_BAD_FRAME); // options past the end
    Frame *frame = tcp4();
    frame_ethernet(frame, 0x86dd); // one version announced, another sent
    expect_refused(ETHERNET, frame, BB_BAD_FRAME);
}
END_TEST

START_TEST(other_protocols)
{
    // ICMP, ESP, SCTP; what only IPv6 has: hop-by-hop, routing, fragment
    static const guint8 of_ipv4[] = {1, 50, 132, 0, 43, 44, 60, 255};
    for (guint i = 0; i < G_N_ELEMENTS(of_ipv4); i++)
        expect_refused(RAW, frame_patched(tcp4(), 9, of_ipv4[i]), BB_SKIP_PROTOCOL);
    static const guint8 of_ipv6[] = {50, 58, 59, 132};
    for (guint i = 0; i < G_N_ELEMENTS(of_ipv6); i++)
        expect_refused(RAW, frame_patched(tcp6(), 6, of_ipv6[i]), BB_SKIP_PROTOCOL);
    expect_refused(RAW, frame_patched(all_extensions(), 40, 50), BB_SKIP_PROTOCOL);
    expect_refused(RAW, frame_patched(authenticated_udp4(), 20, 50), BB_SKIP_PROTOCOL);
}
END_TEST

START_TEST(bad_ipv6)
{
    expect_refused(229, frame_patched(tcp6(), 0, 0x45), BB_BAD_FRAME);
    expect_refused(RAW, frame_patched(frame_patched(all_extensions(), 4, 0), 5, 0),
                   BB_BAD_FRAME); // no jumbogram's
    expect_refused(RAW, frame_patched(frame_patched(all_extensions(), 4, 0), 5, 7), BB_BAD_FRAME);
    expect_refused(RAW, frame_patched(all_extensions(), 41, 200),
                   BB_BAD_FRAME); // options past the end
    expect_refused(RAW, frame_patched(authenticated_udp4(), 21, 0), BB_BAD_FRAME); // below 12 bytes
    expect_refused(RAW, frame_patched(authenticated_udp4(), 21, 200), BB_BAD_FRAME);
}
END_TEST

START_TEST(bad_transport)
{
    expect_refused(RAW, frame_patched(tcp4(), 32, 0x40), BB_BAD_FRAME); // 16 bytes of header
    expect_refused(RAW, frame_patched(tcp4(), 32, 0x00), BB_BAD_FRAME);
    Frame *frame = frame_payload(8);
    frame_tcp(frame, FLAGS, 0);
    frame_ipv4(frame, 6);
    expect_refused(RAW, frame_patched(frame, 32, 0x80),
                   BB_BAD_FRAME); // 12 bytes of options, 8 there
    expect_refused(RAW, frame_patched(udp4(), 25, 7), BB_BAD_FRAME);
    expect_refused(RAW, frame_patched(udp4(), 25, 0), BB_BAD_FRAME);
    expect_refused(RAW, frame_patched(udp4(), 25, PAYLOAD + 9), BB_BAD_FRAME);
}
END_TEST

// ---- lengths that need a second look ------------------------------------------------------------

START_TEST(segmentation_by_the_card)
{
    Run run;
    run_init(&run);
    g_autoptr(GByteArray) four = frame_patched(frame_patched(ethernet_tcp4(), 16, 0), 17, 0);
    ck_assert(decode(&run, ETHERNET, four));
    ck_assert_uint_eq(run.packet.length, PAYLOAD);
    ck_assert_uint_eq(run.packet.captured, PAYLOAD);
    g_autoptr(GByteArray) six = frame_patched(frame_patched(tcp6(), 4, 0), 5, 0);
    ck_assert(decode(&run, RAW, six));
    ck_assert_uint_eq(run.packet.length, PAYLOAD);

    g_autoptr(GByteArray) large = frame_payload(100000);
    frame_tcp(large, FLAGS, 3);
    frame_ipv4(large, 6);
    frame_patched(frame_patched(large, 2, 0), 3, 0);
    const guint8 *copy;
    ck_assert(decode_at(&run, RAW, large->data, 96, large->len, NOW_NS, &copy));
    ck_assert_uint_eq(run.packet.length, 100000);
    ck_assert_uint_eq(run.packet.captured, 96 - 52);
    g_free((gpointer)copy);
    run_clear(&run);
}
END_TEST

// A jumbogram with padding before its length; a header of options behind it.
static Frame *jumbogram(guint32 payload)
{
    Frame *frame = frame_payload(payload);
    frame_tcp(frame, FLAGS, 3);
    frame_extension(frame, 6, 1);
    guint32 length = frame->len + 16;
    FRAME_PUT(frame, 60, 1, 0, 1, 2, 0, 0, 0, 0xc2, 4, FRAME_32(length), 1, 0);
    frame_ipv6(frame, 0);
    return frame_patched(frame_patched(frame, 4, 0), 5, 0);
}

START_TEST(jumbograms)
{
    Run run;
    run_init(&run);
    g_autoptr(GByteArray) frame = jumbogram(70000);
    frame_ethernet(frame, 0x86dd);
    guint headers = frame->len - 70000;
    const guint8 *copy;
    for (guint captured = 14 + 40; captured <= headers + 10; captured++) {
        bool found = decode_at(&run, ETHERNET, frame->data, captured, frame->len, NOW_NS, &copy);
        ck_assert_int_eq(found, captured >= headers - 12);
        if (found)
            ck_assert_uint_eq(run.packet.length, 70000);
        g_free((gpointer)copy);
    }
    g_byte_array_set_size(frame, frame->len + 4); // a check sequence
    ck_assert(decode(&run, ETHERNET, frame));
    ck_assert_uint_eq(run.packet.length, 70000);
    ck_assert_uint_eq(run.packet.captured, 70000);
    ck_assert_uint_eq(run.loss.count[BB_BAD_FRAME], 0);
    run_clear(&run);
    g_autoptr(GByteArray) liar = frame_patched(jumbogram(70000), 50, 0xff); // 4 GB
    run_init(&run);
    ck_assert(decode(&run, RAW, liar));
    ck_assert_uint_eq(run.packet.length, 70000);
    run_clear(&run);
    expect_refused(RAW, jumbogram(60000), BB_BAD_FRAME); // fits without
    expect_refused(RAW, frame_patched(jumbogram(70000), 49, 3), BB_BAD_FRAME);
    expect_refused(RAW, frame_patched(jumbogram(70000), 48, 0xc3), BB_BAD_FRAME);
    expect_refused(RAW, frame_patched(jumbogram(70000), 44, 255), BB_BAD_FRAME); // padding past all
}
END_TEST

START_TEST(datagram_ends_before_its_packet)
{
    Run run;
    run_init(&run);
    g_autoptr(GByteArray) frame = frame_patched(udp4(), 25, 8 + 15);
    ck_assert(decode(&run, RAW, frame));
    ck_assert_uint_eq(run.packet.length, 15);
    ck_assert_uint_eq(run.packet.captured, 15);
    g_autoptr(GByteArray) empty = frame_patched(udp4(), 25, 8);
    ck_assert(decode(&run, RAW, empty));
    ck_assert_uint_eq(run.packet.length, 0);
    ck_assert_uint_eq(run.loss.count[BB_SEEN_UDP], 2);
    ck_assert_uint_eq(run.loss.count[BB_CUT_PAYLOAD], 0);
    run_clear(&run);
}
END_TEST

// Where IP says no length, that of 802.3 keeps the padding out.
START_TEST(length_of_802_3)
{
    Run run;
    run_init(&run);
    g_autoptr(GByteArray) frame = frame_patched(frame_patched(snap_tcp4(), 24, 0), 25, 0);
    g_byte_array_set_size(frame, frame->len + 9);
    ck_assert(decode(&run, ETHERNET, frame));
    ck_assert_uint_eq(run.packet.length, PAYLOAD);
    g_autoptr(GByteArray) longest = frame_payload(1500 - 48);
    frame_tcp(longest, FLAGS, 0);
    frame_ipv4(longest, 6);
    frame_snap(longest, 0, 0x0800);
    ck_assert_uint_eq(longest->len, 1500);
    frame_ethernet(longest, 1500);
    ck_assert(decode(&run, ETHERNET, longest));
    ck_assert_uint_eq(run.packet.length, 1500 - 48);
    run_clear(&run);
}
END_TEST

// Nothing of the packet before is left in the next one.
START_TEST(datagram_after_segment)
{
    Run run;
    run_init(&run);
    g_autoptr(GByteArray) segment = tcp4();
    g_autoptr(GByteArray) datagram = udp4();
    ck_assert(decode(&run, RAW, segment));
    ck_assert_uint_eq(run.packet.tcp_flags, FLAGS);
    ck_assert(decode(&run, RAW, datagram));
    ck_assert_uint_eq(run.packet.tcp_flags, 0);
    ck_assert_uint_eq(run.packet.seq, 0);
    ck_assert_uint_eq(run.packet.ack, 0);
    ck_assert_int_eq(run.packet.transport, BB_TRANSPORT_UDP);
    run_clear(&run);
}
END_TEST

// Whatever stood in the packet before: all that others read is written.
START_TEST(packets_are_written_whole)
{
    for (guint i = 0; i < G_N_ELEMENTS(samples); i++) {
        BbPacket packets[2];
        Run run;
        run_init(&run);
        g_autoptr(GByteArray) frame = samples[i].build();
        for (guint k = 0; k < 2; k++) {
            memset(&run.packet, k ? 0xff : 0, sizeof run.packet);
            ck_assert(decode(&run, samples[i].link_type, frame));
            packets[k] = run.packet;
        }
        const BbPacket *a = &packets[0], *b = &packets[1];
        ck_assert(a->time_ns == b->time_ns && a->number == b->number &&
                  a->place.frame == b->place.frame);
        ck_assert(bb_address_equal(&a->source, &b->source) &&
                  bb_address_equal(&a->target, &b->target));
        ck_assert(a->source_port == b->source_port && a->target_port == b->target_port);
        ck_assert(a->transport == b->transport && a->tcp_flags == b->tcp_flags);
        ck_assert(a->seq == b->seq && a->ack == b->ack && a->window == b->window);
        ck_assert(a->vlan == b->vlan && a->vni == b->vni && a->has_vni == b->has_vni);
        ck_assert(a->ip_id == b->ip_id && a->ttl == b->ttl);
        ck_assert(a->translated == BB_TRANSLATED_NOT && b->translated == BB_TRANSLATED_NOT);
        ck_assert(a->options_size == b->options_size && !a->options == !b->options);
        ck_assert(a->captured == b->captured && a->length == b->length);
        run_clear(&run);
    }
}
END_TEST

// In the last header before the transport: an outer one has another.
START_TEST(time_to_live)
{
    Run run;
    run_init(&run);
    g_autoptr(GByteArray) four = frame_patched(tcp4(), 8, 57);
    ck_assert(decode(&run, RAW, four));
    ck_assert_uint_eq(run.packet.ttl, 57);
    g_autoptr(GByteArray) six = frame_patched(udp6(), 7, 58);
    ck_assert(decode(&run, RAW, six));
    ck_assert_uint_eq(run.packet.ttl, 58);
    frame_ipv4(six, 41);
    ck_assert(decode(&run, RAW, six));
    ck_assert_uint_eq(run.packet.ttl, 58);
    frame_ipv6(four, 4);
    ck_assert(decode(&run, RAW, four));
    ck_assert_uint_eq(run.packet.ttl, 57);
    run_clear(&run);
}
END_TEST

// A source that says a frame was shorter than what it gives of it.
START_TEST(length_below_captured)
{
    Run run;
    run_init(&run);
    g_autoptr(GByteArray) frame = frame_patched(frame_patched(tcp4(), 2, 0), 3, 0);
    const guint8 *copy;
    ck_assert(decode_at(&run, RAW, frame->data, frame->len, 0, NOW_NS, &copy));
    ck_assert_uint_eq(run.packet.captured, PAYLOAD);
    ck_assert_uint_eq(run.packet.length, PAYLOAD);
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

// ---- damage -----------------------------------------------------------------------------------

// Samples with random bytes changed, cut at random, in a row through the same layers: a payload is
// never outside of its frame, unless it was put together, and every frame is counted once.
START_TEST(random_damage)
{
    g_autoptr(GRand) rand = g_rand_new_with_seed(test_seed("random_damage"));
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

TEST_MAIN("layer", whole_frames, padded_frames, cut_at_every_byte, short_on_the_wire, not_ip,
          not_ip_of_a_system, families_of_ipv6, link_types, bad_ipv4, other_protocols, bad_ipv6,
          bad_transport, segmentation_by_the_card, jumbograms, datagram_ends_before_its_packet,
          length_of_802_3, datagram_after_segment, packets_are_written_whole, time_to_live,
          length_below_captured, all_flags, depth_limit, random_damage)
