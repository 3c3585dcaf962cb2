// SPDX-License-Identifier: Apache-2.0
// pcapng: every block that matters, in both byte orders, every resolution of time, and every way in
// which a file can make no sense.
#include "capture/sources/pcapng.h"
#include "tests/unit/pcapfile.h"

#include <string.h>

#define ETHERNET 1
#define SECOND_NS G_GINT64_CONSTANT(1000000000)

static BbPcapng *read_bytes(const GByteArray *bytes, BbLoss *loss)
{
    FILE *file = fmemopen(bytes->data, bytes->len, "rb");
    ck_assert_ptr_nonnull(file);
    return bb_pcapng_new(file, loss);
}

static void put_u32(PcapFile *file, guint at, guint32 value)
{
    value = GUINT32_TO_LE(value);
    memcpy(file->bytes->data + at, &value, sizeof value);
}

// What a file that holds one more block than a good one is found to be.
static void assert_bad(const PcapFile *file, guint frames, const char *reason)
{
    BbLoss loss = {0};
    g_autoptr(BbPcapng) pcapng = read_bytes(file->bytes, &loss);
    BbFrame frame;
    for (guint i = 0; i < frames; i++)
        ck_assert_int_eq(bb_pcapng_next(pcapng, &frame), BB_PCAPNG_FRAME);
    ck_assert_int_eq(bb_pcapng_next(pcapng, &frame), BB_PCAPNG_BAD);
    ck_assert_str_eq(bb_pcapng_reason(pcapng), reason);
    ck_assert_int_eq(bb_pcapng_next(pcapng, &frame), BB_PCAPNG_BAD);
}

START_TEST(interfaces_of_their_own)
{
    BbLoss loss = {0};
    g_autoptr(PcapFile) file = pcapfile_new_form(PCAPFILE_NG, ETHERNET);
    pcapfile_add_interface(file, 101, 96, 6);
    for (file->interface = 0; file->interface < 2; file->interface++)
        pcapfile_add(file, 1234567, "frame", 5, 7);
    g_autoptr(BbPcapng) pcapng = read_bytes(file->bytes, &loss);
    ck_assert_int_eq(bb_pcapng_first_link(pcapng), ETHERNET);
    BbFrame frame;
    ck_assert_int_eq(bb_pcapng_next(pcapng, &frame), BB_PCAPNG_FRAME);
    ck_assert_int_eq(frame.time_ns, 1234567);
    ck_assert_int_eq(frame.link_type, ETHERNET);
    ck_assert_uint_eq(frame.interface, 0);
    ck_assert_int_eq(bb_pcapng_next(pcapng, &frame), BB_PCAPNG_FRAME);
    ck_assert_int_eq(frame.time_ns, 1234567000);
    ck_assert_int_eq(frame.link_type, 12); // DLT_RAW
    ck_assert_uint_eq(frame.interface, 1);
    ck_assert_uint_eq(frame.captured, 5);
    ck_assert_uint_eq(frame.length, 7);
    ck_assert_mem_eq(frame.data, "frame", 5);
    ck_assert_int_eq(bb_pcapng_next(pcapng, &frame), BB_PCAPNG_END);
    ck_assert_str_eq(bb_pcapng_reason(pcapng), "");
}
END_TEST

// A second section begins its count of interfaces anew; ours goes on.
START_TEST(sections_in_a_row)
{
    BbLoss loss = {0};
    g_autoptr(PcapFile) file = pcapfile_new_form(PCAPFILE_NG, ETHERNET);
    g_autoptr(PcapFile) second = pcapfile_new_form(PCAPFILE_NG, 113);
    pcapfile_add(second, SECOND_NS, "x", 1, 1);
    g_byte_array_append(file->bytes, second->bytes->data, second->bytes->len);
    g_autoptr(BbPcapng) pcapng = read_bytes(file->bytes, &loss);
    BbFrame frame;
    ck_assert_int_eq(bb_pcapng_next(pcapng, &frame), BB_PCAPNG_FRAME);
    ck_assert_int_eq(frame.link_type, 113);
    ck_assert_uint_eq(frame.interface, 1);
}
END_TEST

START_TEST(big_endian)
{
    static const guint8 bytes[] = {
        0x0a, 0x0d, 0x0d, 0x0a, 0,    0,    0,    28,   0x1a, 0x2b, 0x3c, 0x4d,
        0,    1,    0,    0,                                                  // section header
        0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0,    0,    0,    28, //
        0,    0,    0,    1,    0,    0,    0,    32,   0,    113,  0,    0,
        0,    0,    4,    0, // interface
        0,    14,   0,    8,    0,    0,    0,    0,    0,    0,    0,    5,
        0,    0,    0,    32, // offset: 5 s
        0,    0,    0,    6,    0,    0,    0,    36,   0,    0,    0,    0,
        0,    0,    0,    1, // packet
        0,    0,    0,    2,    0,    0,    0,    3,    0,    0,    0,    9,
        'a',  'b',  'c',  0,    0,    0,    0,    36,
    };
    BbLoss loss = {0};
    g_autoptr(GByteArray) file = g_byte_array_new();
    g_byte_array_append(file, bytes, sizeof bytes);
    g_autoptr(BbPcapng) pcapng = read_bytes(file, &loss);
    BbFrame frame;
    ck_assert_int_eq(bb_pcapng_next(pcapng, &frame), BB_PCAPNG_FRAME);
    // Microseconds, where nothing else is said.
    ck_assert_int_eq(frame.time_ns, 5 * SECOND_NS + G_GINT64_CONSTANT(0x100000002) * 1000);
    ck_assert_int_eq(frame.link_type, 113);
    ck_assert_uint_eq(frame.captured, 3);
    ck_assert_uint_eq(frame.length, 9);
    ck_assert_int_eq(bb_pcapng_next(pcapng, &frame), BB_PCAPNG_END);
}
END_TEST

START_TEST(resolutions_of_time)
{
    static const struct {
        guint8 resolution;
        guint64 ticks;
        gint64 time_ns;
    } cases[] = {
        {0, 7, 7 * SECOND_NS},
        {3, 1234, 1234 * G_GINT64_CONSTANT(1000000)},
        {9, 1700000000123456789, 1700000000123456789},
        {10, 12345678901, 1234567890},
        {12, 1234567890123, 1234567890},
        {19, 15000000000000000000u, 1500000000},
        {0x80, 9, 9 * SECOND_NS},
        {0x80 | 20, 3u << 19, 1500000000},
        {0x80 | 34, (G_GUINT64_CONSTANT(1) << 34) + 1, SECOND_NS},
        {0x80 | 63, G_MAXUINT64, 1999999999},
        {0, G_MAXUINT64, G_GINT64_CONSTANT(9223000000000000000)},
    };
    for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
        BbLoss loss = {0};
        g_autoptr(PcapFile) file = pcapfile_new_form(PCAPFILE_NG, ETHERNET);
        pcapfile_add_interface(file, ETHERNET, 0, cases[i].resolution);
        file->interface = 1;
        pcapfile_add(file, (gint64)cases[i].ticks, "x", 1, 1);
        g_autoptr(BbPcapng) pcapng = read_bytes(file->bytes, &loss);
        BbFrame frame;
        ck_assert_int_eq(bb_pcapng_next(pcapng, &frame), BB_PCAPNG_FRAME);
        ck_assert_int_eq(frame.time_ns, cases[i].time_ns);
    }
    static const guint8 impossible[] = {20, 127, 0x80 | 64, 0xff};
    for (gsize i = 0; i < G_N_ELEMENTS(impossible); i++) {
        g_autoptr(PcapFile) file = pcapfile_new_form(PCAPFILE_NG, ETHERNET);
        pcapfile_add_interface(file, ETHERNET, 0, impossible[i]);
        assert_bad(file, 0, "an interface with a time resolution that cannot be");
    }
}
END_TEST

static void add_offset_interface(PcapFile *file, gint64 offset_s)
{
    pcapfile_u32(file, 1);
    pcapfile_u32(file, 32);
    pcapfile_u16(file, ETHERNET);
    pcapfile_u16(file, 0);
    pcapfile_u32(file, 0);
    pcapfile_u16(file, 14); // if_tsoffset
    pcapfile_u16(file, 8);
    pcapfile_u32(file, (guint32)(guint64)offset_s);
    pcapfile_u32(file, (guint32)((guint64)offset_s >> 32));
    pcapfile_u32(file, 32);
}

START_TEST(offsets_of_time)
{
    static const struct {
        gint64 offset_s, time_ns;
    } cases[] = {
        {1000, 1007 * SECOND_NS},
        {-3, 4 * SECOND_NS},
        {-1000, 0},
        {G_MAXINT64, G_GINT64_CONSTANT(9223000000000000000)},
        {G_MININT64, 0},
    };
    for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
        BbLoss loss = {0};
        g_autoptr(PcapFile) file = pcapfile_new_form(PCAPFILE_NG, ETHERNET);
        add_offset_interface(file, cases[i].offset_s);
        file->interface = 1;
        pcapfile_add(file, 7000000, "x", 1, 1);
        g_autoptr(BbPcapng) pcapng = read_bytes(file->bytes, &loss);
        BbFrame frame;
        ck_assert_int_eq(bb_pcapng_next(pcapng, &frame), BB_PCAPNG_FRAME);
        ck_assert_int_eq(frame.time_ns, cases[i].time_ns);
    }
}
END_TEST

// Simple packet blocks have neither time nor captured length: the packet before, the snap length.
START_TEST(simple_packets)
{
    BbLoss loss = {0};
    g_autoptr(PcapFile) file = pcapfile_new_form(PCAPFILE_NG, ETHERNET);
    put_u32(file, 28 + 12, 4); // snap length
    pcapfile_add(file, 42, "x", 1, 1);
    pcapfile_u32(file, 3);
    pcapfile_u32(file, 20);
    pcapfile_u32(file, 1000);
    g_byte_array_append(file->bytes, (const guint8 *)"abcd", 4);
    pcapfile_u32(file, 20);
    g_autoptr(BbPcapng) pcapng = read_bytes(file->bytes, &loss);
    BbFrame frame;
    ck_assert_int_eq(bb_pcapng_next(pcapng, &frame), BB_PCAPNG_FRAME);
    ck_assert_int_eq(bb_pcapng_next(pcapng, &frame), BB_PCAPNG_FRAME);
    ck_assert_int_eq(frame.time_ns, 42);
    ck_assert_uint_eq(frame.captured, 4);
    ck_assert_uint_eq(frame.length, 1000);
    ck_assert_mem_eq(frame.data, "abcd", 4);
}
END_TEST

START_TEST(obsolete_packets)
{
    BbLoss loss = {0};
    g_autoptr(PcapFile) file = pcapfile_new_form(PCAPFILE_NG, ETHERNET);
    pcapfile_u32(file, 2);
    pcapfile_u32(file, 36);
    pcapfile_u16(file, 0);  // interface
    pcapfile_u16(file, 17); // drops
    pcapfile_u32(file, 1);  // stamp
    pcapfile_u32(file, 2);
    pcapfile_u32(file, 4);
    pcapfile_u32(file, 60);
    g_byte_array_append(file->bytes, (const guint8 *)"abcd", 4);
    pcapfile_u32(file, 36);
    g_autoptr(BbPcapng) pcapng = read_bytes(file->bytes, &loss);
    BbFrame frame;
    ck_assert_int_eq(bb_pcapng_next(pcapng, &frame), BB_PCAPNG_FRAME);
    ck_assert_int_eq(frame.time_ns, G_GINT64_CONSTANT(0x100000002));
    ck_assert_uint_eq(frame.captured, 4);
    ck_assert_uint_eq(frame.length, 60);
}
END_TEST

static void add_statistics(PcapFile *file, guint32 interface, guint32 if_dropped,
                           guint32 os_dropped)
{
    pcapfile_u32(file, 5);
    pcapfile_u32(file, 52);
    pcapfile_u32(file, interface);
    pcapfile_u32(file, 0); // time
    pcapfile_u32(file, 0);
    pcapfile_u16(file, 5); // isb_ifdrop
    pcapfile_u16(file, 8);
    pcapfile_u32(file, if_dropped);
    pcapfile_u32(file, 0);
    pcapfile_u16(file, 7); // isb_osdrop
    pcapfile_u16(file, 8);
    pcapfile_u32(file, os_dropped);
    pcapfile_u32(file, 0);
    pcapfile_u32(file, 0); // end of options
    pcapfile_u32(file, 52);
}

START_TEST(statistics_are_totals)
{
    BbLoss loss = {0};
    g_autoptr(PcapFile) file = pcapfile_new_form(PCAPFILE_NG, ETHERNET);
    pcapfile_add_interface(file, ETHERNET, 0, 6);
    add_statistics(file, 0, 3, 5);
    add_statistics(file, 0, 7, 5);
    add_statistics(file, 1, 100, 0);
    add_statistics(file, 9, 1000, 1000); // of no interface: ignored
    g_autoptr(BbPcapng) pcapng = read_bytes(file->bytes, &loss);
    BbFrame frame;
    ck_assert_int_eq(bb_pcapng_next(pcapng, &frame), BB_PCAPNG_END);
    ck_assert_uint_eq(loss.count[BB_INTERFACE_DROPPED], 107);
    ck_assert_uint_eq(loss.count[BB_KERNEL_DROPPED], 5);
}
END_TEST

// A packet of five bytes, with an option before epb_dropcount.
static void add_dropped(PcapFile *file, guint32 dropped)
{
    static const guint8 packet[8] = "12345";
    pcapfile_u32(file, 6);
    pcapfile_u32(file, 64);
    for (guint i = 0; i < 3; i++) // interface, time
        pcapfile_u32(file, 0);
    pcapfile_u32(file, 5);
    pcapfile_u32(file, 5);
    g_byte_array_append(file->bytes, packet, sizeof packet);
    pcapfile_u16(file, 2); // epb_flags
    pcapfile_u16(file, 4);
    pcapfile_u32(file, 1);
    pcapfile_u16(file, 4);
    pcapfile_u16(file, 8);
    pcapfile_u32(file, dropped);
    pcapfile_u32(file, 0);
    pcapfile_u32(file, 0); // end of options
    pcapfile_u32(file, 64);
}

// An obsolete packet block, empty.
static void add_obsolete(PcapFile *file, guint16 dropped)
{
    pcapfile_u32(file, 2);
    pcapfile_u32(file, 32);
    pcapfile_u16(file, 0); // interface
    pcapfile_u16(file, dropped);
    for (guint i = 0; i < 4; i++) // time, lengths
        pcapfile_u32(file, 0);
    pcapfile_u32(file, 32);
}

static void expect_dropped(const PcapFile *file, guint frames, guint by_interface, guint by_kernel)
{
    BbLoss loss = {0};
    g_autoptr(BbPcapng) pcapng = read_bytes(file->bytes, &loss);
    BbFrame frame;
    for (guint i = 0; i < frames; i++)
        ck_assert_int_eq(bb_pcapng_next(pcapng, &frame), BB_PCAPNG_FRAME);
    ck_assert_int_eq(bb_pcapng_next(pcapng, &frame), BB_PCAPNG_END);
    ck_assert_uint_eq(loss.count[BB_INTERFACE_DROPPED], by_interface);
    ck_assert_uint_eq(loss.count[BB_KERNEL_DROPPED], by_kernel);
}

// What packets tell, and what the statistics do of the same interface, are the same drops.
START_TEST(drops_told_with_packets)
{
    g_autoptr(PcapFile) file = pcapfile_new_form(PCAPFILE_NG, ETHERNET);
    add_dropped(file, 3);
    add_dropped(file, 0);
    add_dropped(file, 4);
    expect_dropped(file, 3, 0, 7);
    add_obsolete(file, 2);
    add_obsolete(file, 0xffff); // not known
    expect_dropped(file, 5, 0, 9);
    add_statistics(file, 0, 1, 5); // fewer
    expect_dropped(file, 5, 0, 9);
    add_statistics(file, 0, 3, 10); // more
    expect_dropped(file, 5, 0, 13);
    add_dropped(file, 4); // 13 by now
    expect_dropped(file, 6, 0, 13);
    pcapfile_add_interface(file, ETHERNET, 0, 6);
    add_statistics(file, 1, 100, 0);
    expect_dropped(file, 6, 100, 13);
}
END_TEST

START_TEST(unknown_blocks_are_skipped)
{
    BbLoss loss = {0};
    g_autoptr(PcapFile) file = pcapfile_new_form(PCAPFILE_NG, ETHERNET);
    pcapfile_u32(file, 0x40000bad);
    pcapfile_u32(file, 16);
    pcapfile_u32(file, 1);
    pcapfile_u32(file, 16);
    pcapfile_u32(file, 4); // name resolution, empty
    pcapfile_u32(file, 12);
    pcapfile_u32(file, 12);
    pcapfile_add(file, 1, "x", 1, 1);
    g_autoptr(BbPcapng) pcapng = read_bytes(file->bytes, &loss);
    BbFrame frame;
    ck_assert_int_eq(bb_pcapng_next(pcapng, &frame), BB_PCAPNG_FRAME);
    ck_assert_int_eq(bb_pcapng_next(pcapng, &frame), BB_PCAPNG_END);
}
END_TEST

START_TEST(lengths_that_lie)
{
    static const guint32 lengths[] = {0, 8, 11, 33, BB_PCAPNG_BLOCK_MAX + 4, G_MAXUINT32};
    for (gsize i = 0; i < G_N_ELEMENTS(lengths); i++) {
        g_autoptr(PcapFile) file = pcapfile_new_form(PCAPFILE_NG, ETHERNET);
        guint at = file->bytes->len;
        pcapfile_add(file, 1, "abcd", 4, 4);
        put_u32(file, at + 4, lengths[i]);
        assert_bad(file, 0, "a block of a length that cannot be");
    }
    g_autoptr(PcapFile) differ = pcapfile_new_form(PCAPFILE_NG, ETHERNET);
    pcapfile_add(differ, 1, "abcd", 4, 4);
    put_u32(differ, differ->bytes->len - 4, 32);
    assert_bad(differ, 0, "the two lengths of a block differ");

    g_autoptr(PcapFile) captured = pcapfile_new_form(PCAPFILE_NG, ETHERNET);
    guint at = captured->bytes->len;
    pcapfile_add(captured, 1, "abcd", 4, 4);
    put_u32(captured, at + 20, 5);
    assert_bad(captured, 0, "a packet that is longer than its block");

    g_autoptr(PcapFile) shorter = pcapfile_new_form(PCAPFILE_NG, ETHERNET);
    pcapfile_add(shorter, 1, "abcd", 4, 2);
    BbLoss loss = {0};
    g_autoptr(BbPcapng) pcapng = read_bytes(shorter->bytes, &loss);
    BbFrame frame;
    ck_assert_int_eq(bb_pcapng_next(pcapng, &frame), BB_PCAPNG_FRAME);
    ck_assert_uint_eq(frame.length, 4);
}
END_TEST

START_TEST(what_makes_no_sense)
{
    g_autoptr(PcapFile) interface = pcapfile_new_form(PCAPFILE_NG, ETHERNET);
    interface->interface = 1;
    pcapfile_add(interface, 1, "x", 1, 1);
    assert_bad(interface, 0, "a packet of an interface that was not described");

    g_autoptr(PcapFile) magic = pcapfile_new_form(PCAPFILE_NG, ETHERNET);
    pcapfile_add(magic, 1, "x", 1, 1);
    g_byte_array_append(magic->bytes, magic->bytes->data, 28);
    put_u32(magic, magic->bytes->len - 20, 7);
    assert_bad(magic, 1, "a section header without its magic");

    g_autoptr(PcapFile) headless = pcapfile_new_form(PCAPFILE_NG, ETHERNET);
    g_byte_array_remove_range(headless->bytes, 0, 28);
    assert_bad(headless, 0, "no section header");

    g_autoptr(PcapFile) short_one = pcapfile_new_form(PCAPFILE_NG, ETHERNET);
    pcapfile_u32(short_one, 1);
    pcapfile_u32(short_one, 16);
    pcapfile_u32(short_one, 1);
    pcapfile_u32(short_one, 16);
    assert_bad(short_one, 0, "a short interface description");

    g_autoptr(PcapFile) crowd = pcapfile_new_form(PCAPFILE_NG, ETHERNET);
    for (guint i = 0; i < BB_PCAPNG_INTERFACES; i++)
        pcapfile_add_interface(crowd, ETHERNET, 0, 6);
    assert_bad(crowd, 0, "too many interfaces");
}
END_TEST

// An option that claims to be longer than its block ends the options, and does no other harm.
START_TEST(options_that_lie)
{
    BbLoss loss = {0};
    g_autoptr(PcapFile) file = pcapfile_new_form(PCAPFILE_NG, ETHERNET);
    put_u32(file, 28 + 16, 9 | 0xfff0u << 16); // if_tsresol of 65520 bytes
    pcapfile_add(file, 5, "x", 1, 1);
    g_autoptr(BbPcapng) pcapng = read_bytes(file->bytes, &loss);
    BbFrame frame;
    ck_assert_int_eq(bb_pcapng_next(pcapng, &frame), BB_PCAPNG_FRAME);
    ck_assert_int_eq(frame.time_ns, 5000);
}
END_TEST

START_TEST(cut_at_every_byte)
{
    g_autoptr(PcapFile) file = pcapfile_new_form(PCAPFILE_NG, ETHERNET);
    guint head = file->bytes->len;
    pcapfile_add(file, 1, "abc", 3, 3);
    for (guint cut = 1; cut < file->bytes->len; cut++) {
        BbLoss loss = {0};
        g_autoptr(GByteArray) part = g_byte_array_new();
        g_byte_array_append(part, file->bytes->data, cut);
        g_autoptr(BbPcapng) pcapng = read_bytes(part, &loss);
        BbFrame frame;
        bool whole = cut == 28 || cut == head;
        ck_assert_int_eq(bb_pcapng_next(pcapng, &frame), whole ? BB_PCAPNG_END : BB_PCAPNG_BAD);
        ck_assert_str_eq(bb_pcapng_reason(pcapng), whole ? "" : "truncated block");
        ck_assert_int_eq(bb_pcapng_first_link(pcapng), cut < head ? -1 : ETHERNET);
    }
}
END_TEST

TEST_MAIN("pcapng", interfaces_of_their_own, sections_in_a_row, big_endian, resolutions_of_time,
          offsets_of_time, simple_packets, obsolete_packets, statistics_are_totals,
          drops_told_with_packets, unknown_blocks_are_skipped, lengths_that_lie,
          what_makes_no_sense, options_that_lie, cut_at_every_byte)
