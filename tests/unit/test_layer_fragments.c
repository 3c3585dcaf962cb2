// SPDX-License-Identifier: Apache-2.0
// Fragments on their way through the layers: in every order, cut at every byte, atomic, unfinished.
#include "tests/unit/layer_run.h"
#include "tests/unit/test.h"

typedef struct Split {
    guint8 id;
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
        frame_ipv6_fragment(frame, 17, split->id, (guint16)(from | more));
        frame_extension(frame, 44, 0);
        frame_ipv6(frame, 0);
    } else {
        frame_ipv4_fragment(frame, 17, split->options, split->id,
                            (guint16)(from / 8 | (more ? 0x2000 : 0)));
    }
    frame_ethernet(frame, split->v6 ? 0x86dd : 0x0800);
    return frame;
}

static const Split splits[] = {{7, false, 0}, {7, false, 10}, {7, true, 0}};

// Three fragments in every order; the time is that of the first one by place, and lasts until the
// last.
static void check_orders(const Split *split)
{
    static const guint8 orders[][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2},
                                       {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
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
        ck_assert_int_eq(run.packet.took_ns, 2);
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

START_TEST(fragments_in_every_order)
{
    for (guint i = 0; i < G_N_ELEMENTS(splits); i++)
        check_orders(&splits[i]);
}
END_TEST

// Each fragment cut at every byte: the payload ends where the first byte is missing.
static void check_cuts(const Split *split)
{
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

START_TEST(cut_fragments)
{
    for (guint i = 0; i < G_N_ELEMENTS(splits); i++)
        check_cuts(&splits[i]);
}
END_TEST

// Fragments of two packets in turn: the id tells them apart.
static void check_two(const Split *split)
{
    Run run;
    run_init(&run);
    const Split other = {split->id + 1, split->v6, split->options};
    g_autoptr(GByteArray) whole = frame_payload(56);
    frame_udp(whole);
    g_autoptr(GByteArray) first = fragment_of(split, whole, 0, 32);
    g_autoptr(GByteArray) last = fragment_of(split, whole, 32, 64);
    g_autoptr(GByteArray) first_of_other = fragment_of(&other, whole, 0, 32);
    g_autoptr(GByteArray) last_of_other = fragment_of(&other, whole, 32, 64);
    ck_assert(!decode(&run, ETHERNET, first));
    ck_assert(!decode(&run, ETHERNET, first_of_other));
    ck_assert(decode(&run, ETHERNET, last_of_other));
    ck_assert(decode(&run, ETHERNET, last));
    ck_assert_uint_eq(run.loss.count[BB_FRAGMENT_DONE], 2);
    run_clear(&run);
}

START_TEST(two_packets_in_turn)
{
    for (guint i = 0; i < G_N_ELEMENTS(splits); i++)
        check_two(&splits[i]);
}
END_TEST

// Likewise the network: hosts of two tenants have the same addresses, and ids as they come.
START_TEST(tenants_with_the_same_addresses)
{
    static const guint ends[] = {0, 400, 1008};
    g_autoptr(GByteArray) whole = frame_payload(1000);
    frame_udp(whole);
    for (guint i = 0; i < G_N_ELEMENTS(splits); i++) {
        Run run;
        run_init(&run);
        for (guint part = 0; part < 2; part++)
            for (guint8 vlan = 10; vlan <= 20; vlan += 10) {
                g_autoptr(GByteArray) frame =
                    fragment_of(&splits[i], whole, ends[part], ends[part + 1]);
                frame->data[frame->len - 1] = vlan;
                g_byte_array_remove_range(frame, 0, 14);
                FRAME_PUT(frame, 0, vlan, FRAME_16(splits[i].v6 ? 0x86dd : 0x0800));
                frame_ethernet(frame, 0x8100);
                ck_assert_int_eq(decode(&run, ETHERNET, frame), part == 1);
                if (part == 0)
                    continue;
                ck_assert_uint_eq(run.packet.vlan, vlan);
                ck_assert_uint_eq(run.packet.payload[400 - 8 - 1], vlan);
                ck_assert_uint_eq(run.packet.payload[999], vlan);
            }
        ck_assert_uint_eq(run.loss.count[BB_FRAGMENT_BAD], 0);
        ck_assert_uint_eq(run.loss.count[BB_FRAGMENT_DONE], 2);
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
    frame_patched(first, 14 + 9, 6);
    frame_patched(last, 14 + 9, 6);
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

TEST_MAIN("layer_fragments", fragments_in_every_order, cut_fragments, two_packets_in_turn,
          tenants_with_the_same_addresses, atomic_fragments, extensions_in_fragments,
          too_short_for_its_transport, unfinished_packets)
