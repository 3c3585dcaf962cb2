// SPDX-License-Identifier: Apache-2.0
// Tunnels: what is inside is found, with its VLAN and overlay network; each refusal; each sample
// cut at every byte and damaged.
#include "capture/layers/overlay.h"
#include "data/random.h"
#include "tests/unit/test.h"
#include "tests/unit/tunnel_samples.h"

static bool is_inner(const Sample *sample, const BbPacket *packet)
{
    char source[BB_ADDRESS_TEXT];
    bb_address_format_port(&packet->source, packet->source_port, source);
    return g_str_equal(source, sample->v6 ? "[2001:db8::1]:40000" : "10.0.0.1:40000");
}

START_TEST(what_is_inside)
{
    for (guint i = 0; i < G_N_ELEMENTS(samples); i++) {
        const Sample *sample = &samples[i];
        g_autoptr(GByteArray) frame = sample->build();
        Run run;
        run_init(&run);
        ck_assert_msg(decode(&run, sample->link_type, frame), "%s", sample->name);
        ck_assert_msg(is_inner(sample, &run.packet), "%s", sample->name);
        ck_assert_uint_eq(run.packet.length, PAYLOAD);
        ck_assert_msg(run.packet.vlan == sample->vlan, "%s: %u", sample->name, run.packet.vlan);
        ck_assert_int_eq(run.packet.has_vni ? (gint64)run.packet.vni : -1, sample->vni);
        ck_assert_uint_eq(outcomes(&run.loss), 1);
        run_clear(&run);
    }
}
END_TEST

// Cut by the snap length: counted once, and never taken for the packet of another host; a datagram
// whose tunnel is cut off is one of the outer hosts.
START_TEST(cut_at_every_byte)
{
    for (guint i = 0; i < G_N_ELEMENTS(samples); i++) {
        const Sample *sample = &samples[i];
        g_autoptr(GByteArray) frame = sample->build();
        for (guint32 captured = 0; captured < frame->len; captured++) {
            Run run;
            const guint8 *copy;
            run_init(&run);
            bool found = decode_at(&run, sample->link_type, frame->data, captured, frame->len,
                                   NOW_NS, &copy);
            ck_assert_msg(outcomes(&run.loss) == 1, "%s, %u bytes", sample->name, captured);
            if (found && run.packet.transport == BB_TRANSPORT_TCP)
                ck_assert(is_inner(sample, &run.packet));
            ck_assert(!found || run.packet.captured <= captured);
            g_free((gpointer)copy);
            run_clear(&run);
        }
    }
}
END_TEST

START_TEST(damaged_at_random)
{
    BbRandom random = bb_random_start(test_seed("damaged_at_random"));
    for (guint round = 0; round < 20000; round++) {
        const Sample *sample = &samples[round % G_N_ELEMENTS(samples)];
        g_autoptr(GByteArray) frame = sample->build();
        for (guint i = 0; i < 3; i++)
            frame->data[bb_random_below(&random, frame->len)] =
                (guint8)bb_random_below(&random, 256);
        Run run;
        run_init(&run);
        decode(&run, sample->link_type, frame);
        ck_assert_uint_eq(outcomes(&run.loss), 1);
        run_clear(&run);
    }
}
END_TEST

// Addresses that begin as IP, a control word or a channel does; with tags, and with a control word.
START_TEST(pseudowires_to_any_address)
{
    for (guint first = 0; first < 256; first++)
        for (guint variant = 0; variant < 6; variant++) {
            g_autoptr(GByteArray) frame = variant & 1   ? inner_vlan(77)
                                          : variant < 4 ? inner_ethernet()
                                                        : inner6();
            if (variant == 4)
                frame_ethernet(frame, 0x86dd);
            frame->data[0] = (guint8)first;
            if (variant / 2 == 1)
                FRAME_PUT(frame, 0, 0, 0, 9);
            FRAME_PUT(frame, FRAME_32(0x00064140));
            frame_ethernet(frame, 0x8847);
            Run run;
            run_init(&run);
            ck_assert_msg(decode(&run, ETHERNET, frame), "%02x, variant %u", first, variant);
            ck_assert(is_inner(&(Sample){.v6 = variant == 4}, &run.packet));
            ck_assert_uint_eq(run.packet.vlan, variant & 1 ? 77 : 0);
            ck_assert_uint_eq(run.packet.length, PAYLOAD);
            run_clear(&run);
        }
}
END_TEST

// Lengths of IP are believed where it is not Ethernet: a switch truncates what it mirrors, and the
// first bytes of an address may be a type of Ethernet.
START_TEST(labels_before_ip)
{
    Run run;
    run_init(&run);
    g_autoptr(GByteArray) truncated = mpls();
    g_byte_array_set_size(truncated, truncated->len - 10);
    ck_assert(decode(&run, ETHERNET, truncated));
    ck_assert_uint_eq(run.packet.length, PAYLOAD);
    g_autoptr(GByteArray) four = frame_patched(frame_patched(mpls(), 22 + 12, 8), 22 + 13, 0);
    ck_assert(decode(&run, ETHERNET, four)); // from 8.0.0.1
    ck_assert_uint_eq(run.packet.source_port, 40000);
    run_clear(&run);
}
END_TEST

static void expect_refused(int link_type, Frame *frame, BbLossKind why)
{
    Run run;
    run_init(&run);
    ck_assert(!decode(&run, link_type, frame));
    ck_assert_msg(run.loss.count[why] == 1, "not counted as %s", bb_loss_name(why));
    ck_assert_uint_eq(outcomes(&run.loss), 1);
    run_clear(&run);
    g_byte_array_unref(frame);
}

#define ETH 14u
#define IP 34u
#define UDP 42u

START_TEST(refusals)
{
    Frame *deep = inner();
    for (guint i = 0; i < 40; i++)
        FRAME_PUT(deep, FRAME_32(0x00064040));
    frame_ethernet(deep, 0x8847);
    expect_refused(ETHERNET, deep, BB_DEEP_FRAME);
    expect_refused(ETHERNET, frame_patched(mpls(), ETH + 8, 0x10), BB_SKIP_NOT_IP); // channel
    Frame *arp = frame_payload(46);
    frame_patched(frame_patched(arp, 2, 8), 3, 0); // of IP
    frame_ethernet(arp, 0x0806);
    arp->data[0] = 0;
    FRAME_PUT(arp, FRAME_32(0x00064140));
    frame_ethernet(arp, 0x8847);
    expect_refused(ETHERNET, arp, BB_SKIP_NOT_IP);
    expect_refused(ETHERNET, frame_patched(pppoe(), ETH, 0x12), BB_BAD_FRAME);
    expect_refused(ETHERNET, frame_patched(pppoe(), ETH + 1, 9), BB_SKIP_NOT_IP); // discovery
    expect_refused(ETHERNET, frame_patched(pppoe(), ETH + 4, 0xff), BB_BAD_FRAME);
    expect_refused(ETHERNET, frame_patched(pppoe(), ETH + 6, 0xc0), BB_SKIP_NOT_IP); // LCP
    expect_refused(ETHERNET, frame_patched(nsh(), ETH + 1, 0xc1), BB_BAD_FRAME);
    expect_refused(ETHERNET, frame_patched(nsh(), ETH + 3, 9), BB_SKIP_NOT_IP);
    expect_refused(ETHERNET, frame_patched(vntag(), ETH + 5, 0x01), BB_SKIP_NOT_IP);
    expect_refused(ETHERNET, frame_patched(metadata(), ETH, 8), BB_SKIP_NOT_IP); // of GRE
    expect_refused(ETHERNET, frame_patched(metadata(), ETH + 1, 0), BB_BAD_FRAME);
    expect_refused(ETHERNET, frame_patched(metadata(), ETH + 1, 200), BB_BAD_FRAME);
    expect_refused(ETHERNET, frame_patched(metadata(), ETH + 7, 0x06), BB_SKIP_NOT_IP); // ARP
    expect_refused(ETHERNET, frame_patched(etherip(), IP, 0x20), BB_BAD_FRAME);
    expect_refused(ETHERNET, frame_patched(gre(), IP, 0x40), BB_SKIP_PROTOCOL); // routing
    expect_refused(ETHERNET, frame_patched(gre(), IP + 1, 0x02), BB_SKIP_PROTOCOL);
    expect_refused(ETHERNET, frame_patched(gre(), IP + 3, 0x06), BB_SKIP_NOT_IP); // ARP
    expect_refused(ETHERNET, frame_patched(erspan2(), IP + 8, 0x20), BB_BAD_FRAME);
    expect_refused(ETHERNET, frame_patched(erspan3(), IP + 8, 0x10), BB_BAD_FRAME);
    expect_refused(ETHERNET, frame_patched(erspan3(), IP + 18, 0x04), BB_SKIP_NOT_IP);
    expect_refused(ETHERNET, frame_patched(gtpu(), UDP + 2, 0xff), BB_BAD_FRAME);
    expect_refused(ETHERNET, frame_patched(gtpu_extended(), UDP + 12, 0), BB_BAD_FRAME);
    expect_refused(NFLOG, frame_patched(nflog(), 1, 1), BB_BAD_FRAME);
    expect_refused(NFLOG, frame_patched(nflog(), 0, 7), BB_SKIP_NOT_IP);
    expect_refused(NFLOG, frame_patched(nflog(), 4, 3), BB_BAD_FRAME);
    expect_refused(WLAN, frame_patched(wlan(), 0, 0x48), BB_SKIP_NOT_IP); // no data
    expect_refused(WLAN, frame_patched(wlan(), 0, 0x80), BB_SKIP_NOT_IP); // beacon
    expect_refused(WLAN, frame_patched(wlan(), 1, 0x41), BB_SKIP_NOT_IP); // encrypted
    expect_refused(WLAN, frame_patched(wlan(), 0, 0x09), BB_BAD_FRAME);   // version
    expect_refused(WLAN_RADIO, frame_patched(wlan_radio(), 2, 3), BB_BAD_FRAME);
    expect_refused(WLAN_RADIO, frame_patched(wlan_radio(), 12 + 30, 0x80), BB_SKIP_NOT_IP);
}
END_TEST

// A datagram to the port of a tunnel that makes no sense as one stays a datagram.
static void expect_datagram(Frame *frame, guint16 port)
{
    Run run;
    run_init(&run);
    ck_assert(decode(&run, ETHERNET, frame));
    ck_assert_uint_eq(run.packet.target_port, port);
    ck_assert_int_eq(run.packet.transport, BB_TRANSPORT_UDP);
    ck_assert_uint_eq(run.loss.count[BB_TUNNELLED], 0);
    run_clear(&run);
    g_byte_array_unref(frame);
}

START_TEST(look_alikes)
{
    expect_datagram(frame_patched(vxlan(), UDP, 0), 4789);
    expect_datagram(frame_patched(vxlan(), UDP + 7, 1), 4789);
    expect_datagram(frame_patched(vxlan_gpe(), UDP + 3, 9), 4790);
    expect_datagram(frame_patched(geneve(), UDP, 0x42), 6081);
    expect_datagram(frame_patched(geneve(), UDP + 7, 1), 6081);
    expect_datagram(frame_patched(gtpu(), UDP + 1, 1), 40000); // an echo
    expect_datagram(frame_patched(gtpu(), UDP, 0x20), 40000);
    expect_datagram(frame_patched(teredo(), UDP, 0x40), 3544);
    expect_datagram(frame_patched(teredo(), UDP + 4, 0xff), 3544);
    expect_datagram(frame_patched(tzsp(), UDP, 2), 37008);
    expect_datagram(frame_patched(gre_in_udp(), UDP, 0x40), 4754);
}
END_TEST

START_TEST(ports_that_people_name)
{
    static const BbTunnelAt tunnels[] = {{9999, "vxlan"}, {4789, "geneve"}};
    Run run;
    run_init(&run);
    bb_layers_name_tunnels(run.layers, tunnels, G_N_ELEMENTS(tunnels));
    g_autoptr(GByteArray) moved = vxlan(), taken = vxlan();
    moved->data[IP + 2] = 9999 >> 8;
    moved->data[IP + 3] = (guint8)9999;
    ck_assert(decode(&run, ETHERNET, moved));
    ck_assert_int_eq(run.packet.transport, BB_TRANSPORT_TCP);
    ck_assert(decode(&run, ETHERNET, taken)); // is no GENEVE
    ck_assert_int_eq(run.packet.transport, BB_TRANSPORT_UDP);
    ck_assert(bb_overlay_exists("teredo"));
    ck_assert(!bb_overlay_exists("http"));
    run_clear(&run);
}
END_TEST

TEST_MAIN("tunnels", what_is_inside, cut_at_every_byte, damaged_at_random,
          pseudowires_to_any_address, labels_before_ip, refusals, look_alikes,
          ports_that_people_name)
