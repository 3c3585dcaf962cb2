// SPDX-License-Identifier: Apache-2.0
// Capture files: every form gives the same frames, and about each that is none or breaks off there
// is one sentence, after which the rest is read.
#include "tests/unit/pack.h"
#include "tests/unit/source_scene.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

// ---- good files ---------------------------------------------------------------------------------

START_TEST(every_form_packed_or_not)
{
    g_autoptr(Scratch) scratch = scratch_new();
    for (int form = PCAPFILE_MICRO; form <= PCAPFILE_NG; form++)
        for (int pack = 0; pack < PACK_COUNT; pack++) {
            g_autoptr(PcapFile) file = capture_of((PcapFileForm)form, 5, 7000);
            g_autoptr(GByteArray) packed = g_byte_array_new();
            pack_append(packed, (PackForm)pack, file->bytes->data, file->bytes->len);
            const char *path = scratch_file(scratch, "capture", packed->data, packed->len);
            g_autoptr(Gathered) all = gather_one(path);
            ck_assert_str_eq(all->ports->str, "7000 7001 7002 7003 7004 ");
            ck_assert_str_eq(all->errors->str, "");
            ck_assert_str_eq(all->warnings->str, "");
            ck_assert_uint_eq(all->loss.count[BB_SOURCE_CUT], 0);
        }
}
END_TEST

START_TEST(a_frame_is_what_the_file_says)
{
    g_autoptr(Scratch) scratch = scratch_new();
    for (int form = PCAPFILE_MICRO; form <= PCAPFILE_NG; form++) {
        g_autoptr(PcapFile) file = capture_of((PcapFileForm)form, 2, 7000);
        const char *const files[] = {save(scratch, "capture", file), NULL};
        BbLoss loss = {0};
        g_autoptr(BbSource) source = open_source(files, &loss);
        ck_assert_str_eq(bb_source_name(source), files[0]);
        BbFrame frame;
        ck_assert_int_eq(bb_source_next(source, &frame, NULL), BB_SOURCE_FRAME);
        ck_assert_int_eq(bb_source_next(source, &frame, NULL), BB_SOURCE_FRAME);
        gint64 time_ns = START_NS + 1001;
        ck_assert_int_eq(frame.time_ns, form == PCAPFILE_MICRO ? time_ns / 1000 * 1000 : time_ns);
        ck_assert_uint_eq(frame.captured, FRAME_BYTES);
        ck_assert_uint_eq(frame.length, 1500);
        ck_assert_int_eq(frame.link_type, LINK_ETHERNET);
        guint8 wanted[FRAME_BYTES];
        udp_frame(wanted, 7001);
        ck_assert_mem_eq(frame.data, wanted, FRAME_BYTES);
    }
}
END_TEST

START_TEST(standard_input_and_named_pipes)
{
    g_autoptr(Scratch) scratch = scratch_new();
    g_autoptr(PcapFile) file = capture_of(PCAPFILE_NANO, 3, 7000);
    const char *fifo = scratch_path(scratch, "fifo"), *plain = save(scratch, "plain", file);
    ck_assert_int_eq(mkfifo(fifo, 0600), 0);
    pid_t child = fork();
    if (child == 0) {
        int fd = open(fifo, O_WRONLY);
        _exit(write(fd, file->bytes->data, file->bytes->len) < 0);
    }
    int fd = open(plain, O_RDONLY);
    ck_assert_int_eq(dup2(fd, STDIN_FILENO), STDIN_FILENO);
    g_autoptr(Gathered) all = gather(NULL, (const char *const[]){fifo, "-", NULL});
    ck_assert_str_eq(all->ports->str, "7000 7001 7002 7000 7001 7002 ");
    ck_assert_str_eq(all->errors->str, "");

    ck_assert_int_eq(lseek(fd, 0, SEEK_SET), 0);
    BbLoss loss = {0};
    g_autoptr(BbSource) source = open_source((const char *const[]){"-", NULL}, &loss);
    ck_assert_str_eq(bb_source_name(source), "standard input");
    ck_assert_double_lt(bb_source_progress(source), 0);
    close(fd);
}
END_TEST

START_TEST(no_packets_are_no_failure)
{
    g_autoptr(Scratch) scratch = scratch_new();
    for (int form = PCAPFILE_MICRO; form <= PCAPFILE_NG; form++) {
        g_autoptr(PcapFile) file = pcapfile_new_form((PcapFileForm)form, LINK_ETHERNET);
        g_autoptr(Gathered) all = gather_one(save(scratch, "none", file));
        ck_assert_uint_eq(all->frames, 0);
        ck_assert_str_eq(all->errors->str, "");
        ck_assert_str_eq(all->warnings->str, "");
    }
}
END_TEST

START_TEST(a_file_has_no_kernel_counters)
{
    g_autoptr(Scratch) scratch = scratch_new();
    g_autoptr(PcapFile) file = capture_of(PCAPFILE_NANO, 1, 1);
    const char *const files[] = {save(scratch, "one", file), NULL};
    BbLoss loss = {0}, none = {0};
    g_autoptr(BbSource) source = open_source(files, &loss);
    bb_source_update_loss(source);
    ck_assert_mem_eq(&loss, &none, sizeof loss);
    bb_source_free(NULL);
}
END_TEST

// ---- filters ------------------------------------------------------------------------------------

START_TEST(a_filter_is_compiled_for_each_file)
{
    g_autoptr(Scratch) scratch = scratch_new();
    g_autoptr(PcapFile) ethernet = capture_of(PCAPFILE_NANO, 4, 7000);
    g_autoptr(PcapFile) raw = pcapfile_new(true, LINK_RAW);
    guint8 frame[FRAME_BYTES];
    udp_frame(frame, 7001);
    pcapfile_add(raw, START_NS, frame + 14, FRAME_BYTES - 14, FRAME_BYTES - 14);
    const char *const files[] = {save(scratch, "1", ethernet), save(scratch, "2", raw), NULL};
    g_autoptr(Gathered) all = gather("udp dst port 7001", files);
    ck_assert_uint_eq(all->frames, 2);
    ck_assert_str_eq(all->errors->str, "");
}
END_TEST

START_TEST(a_filter_that_does_not_compile)
{
    g_autoptr(Scratch) scratch = scratch_new();
    g_autoptr(PcapFile) file = capture_of(PCAPFILE_NANO, 1, 1);
    const char *path = save(scratch, "one", file);
    BbSourceOptions options = bb_source_options_default();
    options.files = (const char *const[]){path, path, NULL};
    options.filter = "tcp prot 80";
    BbLoss loss = {0};
    g_autoptr(GError) error = NULL;
    ck_assert_ptr_null(bb_source_open(&options, &loss, &error));
    ck_assert(g_error_matches(error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE));
    g_autofree char *wanted =
        g_strdup_printf("%s: the filter \"tcp prot 80\" cannot be used: ", path);
    ck_assert_msg(g_str_has_prefix(error->message, wanted), "%s", error->message);
    ck_assert_msg(strstr(error->message, "syntax error") != NULL, "%s", error->message);
    ck_assert(g_str_has_suffix(error->message, "see pcap-filter(7)"));
}
END_TEST

// A filter may make sense for one link type and not for another: that file is an error.
START_TEST(a_filter_that_fits_not_all_files)
{
    g_autoptr(Scratch) scratch = scratch_new();
    g_autoptr(PcapFile) ethernet = capture_of(PCAPFILE_NANO, 1, 1);
    g_autoptr(PcapFile) raw = pcapfile_new(true, LINK_RAW);
    const char *const files[] = {save(scratch, "1", ethernet), save(scratch, "2", raw),
                                 save(scratch, "3", ethernet), NULL};
    g_autoptr(Gathered) all = gather("ether dst 02:00:00:00:00:02", files);
    ck_assert_str_eq(all->ports->str, "1 1 ");
    ASSERT_HOLDS(all->errors, "/2: the filter \"ether dst 02:00:00:00:00:02\" cannot be used");
}
END_TEST

START_TEST(a_filter_that_refuses_all_lets_the_caller_in)
{
    g_autoptr(Scratch) scratch = scratch_new();
    g_autoptr(PcapFile) file = capture_of(PCAPFILE_NANO, 70000, 0);
    g_autoptr(Gathered) all =
        gather("tcp", (const char *const[]){save(scratch, "many", file), NULL});
    ck_assert_uint_eq(all->frames, 0);
    ck_assert_uint_eq(all->idle, 1);
}
END_TEST

// ---- files that are none ------------------------------------------------------------------------

START_TEST(strangers_are_told_apart)
{
    static const struct {
        const char *bytes;
        gsize size;
        const char *sentence;
    } cases[] = {
        {"", 0, "is empty: what should have written a capture to it did not"},
        {"# bbtrace text 1\n1.0 CALL_SENT a b id1\n", 39, "is a bbtrace trace already"},
        {"\x89"
         "BBT\r\n\x1a\n\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0",
         24, "is a bbtrace trace already"},
        {"10:00:00.000000 IP 10.0.0.1.80 > 10.0.0.2.99: Flags [S]\n", 56,
         "is a text file, not a packet capture; write captures with tcpdump -w"},
        {"BZh91AY&SY\x8f\x8f\x8f\x8f\x8f\x8f\x8f\x8f\x8f\x8f\x8f\x8f\x8f\x8f", 24,
         "unpack it with bunzip2 first"},
        {"PK\x03\x04\x14\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 26, "unpack it with unzip"},
        {"snoop\0\0\0\0\0\0\2\0\0\0\4\0\0\0\0\0\0\0\0\0\0", 26, "is a snoop capture: convert it"},
        {"GMBU\0\2\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 24, "is a Network Monitor capture"},
        {"\x7f"
         "ELF\2\1\1\0\0\0\0\0\0\0\0\0\2\0\x3e\0\1\0\0\0\0",
         25,
         "is not a packet capture that can be read (unknown file format); pcap and pcapng can, "
         "others after editcap -F pcap"},
        {"\x0a\x0d\x0d\x0a\x1c\0\0\0\x4d\x3c\x2b\x1b\1\0\0\0\0\0\0\0\0\0\0\0", 24,
         "is not a packet capture that can be read (a section header without its magic)"},
        {"\x0a\x0d\x0d\x0a\x1c\0\0\0\x4d\x3c\x2b\x1a\1\0\0\0\0\0\0\0\0\0\0\0", 24,
         "is not a packet capture that can be read (truncated block)"},
        {"\xd4\xc3\xb2\xa1\2\0\4\0", 8,
         "is not a packet capture that can be read (it breaks off after 8 bytes, within its head)"},
    };
    g_autoptr(Scratch) scratch = scratch_new();
    for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
        const char *path = scratch_file(scratch, "stranger", cases[i].bytes, cases[i].size);
        g_autoptr(Gathered) all = gather_one(path);
        g_autofree char *wanted = g_strdup_printf("open: %s ", path);
        ck_assert_msg(g_str_has_prefix(all->errors->str, wanted), "%s", all->errors->str);
        ASSERT_HOLDS(all->errors, cases[i].sentence);
    }
}
END_TEST

START_TEST(packed_strangers)
{
    g_autoptr(Scratch) scratch = scratch_new();
    g_autoptr(GByteArray) text = g_byte_array_new(), cut = g_byte_array_new();
    pack_append(text, PACK_XZ, "just a text\n", 12);
    g_autoptr(Gathered) packed = gather_one(scratch_file(scratch, "t.xz", text->data, text->len));
    ASSERT_HOLDS(packed->errors, "t.xz is a text file, not a packet capture");

    pack_append(cut, PACK_XZ, "just a text\n", 12);
    g_autoptr(Gathered) empty = gather_one(scratch_file(scratch, "cut.xz", cut->data, 14));
    ASSERT_HOLDS(empty->errors, "cut.xz: the xz data breaks off at byte 14");
    ASSERT_HOLDS(empty->errors, ": nothing could be read, fetch or make it again");
}
END_TEST

START_TEST(the_only_file_fails_at_once)
{
    g_autoptr(Scratch) scratch = scratch_new();
    g_autoptr(Gathered) all = gather_one(scratch_path(scratch, "missing"));
    ck_assert(g_str_has_prefix(all->errors->str, "open: cannot open "));
}
END_TEST

START_TEST(a_link_type_nobody_knows)
{
    g_autoptr(Scratch) scratch = scratch_new();
    g_autoptr(PcapFile) file = pcapfile_new(true, LINK_UNKNOWN);
    guint8 frame[FRAME_BYTES] = {0};
    pcapfile_add(file, START_NS, frame, FRAME_BYTES, FRAME_BYTES);
    pcapfile_add(file, START_NS, frame, FRAME_BYTES, FRAME_BYTES);
    const char *one = save(scratch, "user0", file), *other = save(scratch, "user0b", file);
    g_autoptr(Gathered) all = gather(NULL, (const char *const[]){one, other, NULL});
    ck_assert_uint_eq(all->frames, 4);
    g_auto(GStrv) warnings = g_strsplit(all->warnings->str, "\n", -1);
    ck_assert_uint_eq(g_strv_length(warnings), 3); // once a file, and the end
    ASSERT_HOLDS(all->warnings, "user0: frames of link type 147 (unknown) cannot be read");
}
END_TEST

// ---- files that break off -----------------------------------------------------------------------

// Cut at every byte: whole packets come out, and the cut is told, named and counted.
START_TEST(cut_anywhere)
{
    g_autoptr(Scratch) scratch = scratch_new();
    for (int form = PCAPFILE_MICRO; form <= PCAPFILE_NG; form++) {
        g_autoptr(PcapFile) none = pcapfile_new_form((PcapFileForm)form, LINK_ETHERNET);
        g_autoptr(PcapFile) file = capture_of((PcapFileForm)form, 3, 1);
        guint head = none->bytes->len, record = (file->bytes->len - head) / 3;
        for (guint cut = head; cut < file->bytes->len; cut++) {
            const char *path = scratch_file(scratch, "cut", file->bytes->data, cut);
            g_autoptr(Gathered) all = gather_one(path);
            guint whole = (cut - head) / record, rest = (cut - head) % record;
            ck_assert_uint_eq(all->frames, whole);
            ck_assert_uint_eq(all->loss.count[BB_SOURCE_CUT], rest != 0);
            if (rest == 0) {
                ck_assert_str_eq(all->warnings->str, "");
                continue;
            }
            g_autofree char *wanted =
                g_strdup_printf("%s breaks off in packet %u (truncated", path, whole + 1);
            ASSERT_HOLDS(all->warnings, wanted);
            ASSERT_HOLDS(all->warnings, "the packets before it are used");
        }
    }
}
END_TEST

START_TEST(cut_inside_the_packing)
{
    g_autoptr(Scratch) scratch = scratch_new();
    g_autoptr(PcapFile) file = capture_of(PCAPFILE_NANO, 2000, 1);
    for (int pack = PACK_GZIP; pack < PACK_COUNT; pack++) {
        g_autoptr(GByteArray) packed = g_byte_array_new();
        // Two streams, of which the second is cut: what the first holds is there for sure.
        guint half = 24 + 1000 * (16 + FRAME_BYTES);
        pack_append(packed, (PackForm)pack, file->bytes->data, half);
        guint first = packed->len;
        pack_append(packed, (PackForm)pack, file->bytes->data + half, file->bytes->len - half);
        const char *one = scratch_file(scratch, "cut", packed->data, first + 20);
        const char *other = scratch_file(scratch, "cut2", packed->data, first + 20);
        g_autoptr(Gathered) all = gather(NULL, (const char *const[]){one, other, NULL});
        ck_assert_uint_ge(all->frames, 2000);
        ck_assert_uint_lt(all->frames, 4000);
        ck_assert_uint_eq(all->loss.count[BB_SOURCE_CUT], 2);
        g_autofree char *wanted = g_strdup_printf("data breaks off at byte %u", first + 20);
        ASSERT_HOLDS(all->warnings, wanted);
    }
}
END_TEST

// A packet that makes no sense, before the packer's check finds out why.
START_TEST(damaged_inside_the_packing)
{
    g_autoptr(Scratch) scratch = scratch_new();
    for (int form = PCAPFILE_NANO; form <= PCAPFILE_NG; form++) {
        g_autoptr(PcapFile) file = capture_of((PcapFileForm)form, 2000, 1);
        guint record = form == PCAPFILE_NG ? 32 + FRAME_BYTES : 16 + FRAME_BYTES;
        memset(file->bytes->data + file->bytes->len - 1000 * record, 0x7f, 1000 * record);
        for (int pack = PACK_GZIP; pack <= PACK_XZ; pack++) {
            g_autoptr(GByteArray) packed = g_byte_array_new();
            pack_append(packed, (PackForm)pack, file->bytes->data, file->bytes->len);
            g_autoptr(Gathered) whole =
                gather_one(scratch_file(scratch, "whole", packed->data, packed->len));
            ASSERT_HOLDS(whole->warnings, "whole breaks off in packet 1001 (");
            ck_assert_ptr_null(strstr(whole->warnings->str, "damaged"));
            packed->data[packed->len - 6] ^= 1;
            g_autoptr(Gathered) all =
                gather_one(scratch_file(scratch, "bad", packed->data, packed->len));
            ck_assert_uint_eq(all->frames, 1000);
            ASSERT_HOLDS(all->warnings, "bad breaks off in packet 1001 (");
            ASSERT_HOLDS(all->warnings, pack == PACK_XZ ? "bad: the xz data is damaged at byte "
                                                        : "bad: the gzip data is damaged at byte ");
            ASSERT_HOLDS(all->warnings, "are used, and some of them may be damaged, too");
        }
    }
}
END_TEST

// The number of the packet is that of the file, filter or not.
START_TEST(a_cut_behind_a_filter)
{
    g_autoptr(Scratch) scratch = scratch_new();
    g_autoptr(PcapFile) file = capture_of(PCAPFILE_NANO, 5, 1);
    const char *cut = scratch_file(scratch, "cut", file->bytes->data, file->bytes->len - 5);
    g_autoptr(Gathered) all = gather("udp port 2", (const char *const[]){cut, NULL});
    ck_assert_str_eq(all->ports->str, "2 ");
    ASSERT_HOLDS(all->warnings, "cut breaks off in packet 5");
}
END_TEST

// ---- hostile files ------------------------------------------------------------------------------

static void put_u32(PcapFile *file, guint at, guint32 value)
{
    value = GUINT32_TO_LE(value);
    memcpy(file->bytes->data + at, &value, sizeof value);
}

START_TEST(lengths_that_lie)
{
    g_autoptr(Scratch) scratch = scratch_new();
    g_autoptr(PcapFile) shorter = capture_of(PCAPFILE_NANO, 2, 1);
    put_u32(shorter, 24 + 12, 10); // on the wire: less than captured
    const char *const files[] = {save(scratch, "short", shorter), NULL};
    BbLoss loss = {0};
    g_autoptr(BbSource) source = open_source(files, &loss);
    BbFrame frame;
    ck_assert_int_eq(bb_source_next(source, &frame, NULL), BB_SOURCE_FRAME);
    ck_assert_uint_eq(frame.captured, FRAME_BYTES);
    ck_assert_uint_eq(frame.length, FRAME_BYTES);

    g_autoptr(PcapFile) huge = capture_of(PCAPFILE_NANO, 2, 1);
    put_u32(huge, 24 + 16 + FRAME_BYTES + 8, 0x7fffffff); // captured
    g_autoptr(Gathered) all = gather_one(save(scratch, "huge", huge));
    ck_assert_str_eq(all->ports->str, "1 ");
    ASSERT_HOLDS(all->warnings, "huge breaks off in packet 2 (");
    ck_assert_uint_eq(all->loss.count[BB_SOURCE_CUT], 1);
}
END_TEST

// D-Bus captures may have packets of 128 MiB; ours end at BB_SOURCE_SNAPLEN.
START_TEST(captured_is_bounded)
{
    g_autoptr(Scratch) scratch = scratch_new();
    g_autoptr(PcapFile) file = pcapfile_new(true, 231); // LINKTYPE_DBUS
    put_u32(file, 16, 1000000);
    g_autofree guint8 *bytes = g_malloc0(1000000);
    pcapfile_add(file, START_NS, bytes, 1000000, 1000000);
    const char *const files[] = {save(scratch, "dbus", file), NULL};
    BbLoss loss = {0};
    g_autoptr(BbSource) source = open_source(files, &loss);
    BbFrame frame;
    ck_assert_int_eq(bb_source_next(source, &frame, NULL), BB_SOURCE_FRAME);
    ck_assert_uint_eq(frame.captured, BB_SOURCE_SNAPLEN);
    ck_assert_uint_eq(frame.length, 1000000);
}
END_TEST

START_TEST(times_at_the_edges)
{
    static const struct {
        guint32 seconds, nanoseconds;
        gint64 time_ns;
    } cases[] = {
        {0, 0, 0},
        {0x7fffffff, 999999999, G_GINT64_CONSTANT(2147483647999999999)},
        {0x80000000, 1, G_GINT64_CONSTANT(2147483648000000001)}, // after 2038
        {0xffffffff, 0, G_GINT64_CONSTANT(4294967295000000000)},
    };
    g_autoptr(Scratch) scratch = scratch_new();
    g_autoptr(PcapFile) file = capture_of(PCAPFILE_NANO, G_N_ELEMENTS(cases), 1);
    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        put_u32(file, 24 + i * (16 + FRAME_BYTES), cases[i].seconds);
        put_u32(file, 24 + i * (16 + FRAME_BYTES) + 4, cases[i].nanoseconds);
    }
    const char *const files[] = {save(scratch, "times", file), NULL};
    BbLoss loss = {0};
    g_autoptr(BbSource) source = open_source(files, &loss);
    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        BbFrame frame;
        ck_assert_int_eq(bb_source_next(source, &frame, NULL), BB_SOURCE_FRAME);
        ck_assert_int_eq(frame.time_ns, cases[i].time_ns);
    }
}
END_TEST

// pcapng in whole seconds: 2^63 of them do not fit in nanoseconds.
START_TEST(times_beyond_all)
{
    g_autoptr(Scratch) scratch = scratch_new();
    g_autoptr(PcapFile) file = capture_of(PCAPFILE_NG, 1, 1);
    file->bytes->data[28 + 16 + 4] = 0; // if_tsresol
    put_u32(file, 60 + 12, 0x7fffffff); // high half of the stamp
    const char *const files[] = {save(scratch, "beyond", file), NULL};
    BbLoss loss = {0};
    g_autoptr(BbSource) source = open_source(files, &loss);
    BbFrame frame;
    ck_assert_int_eq(bb_source_next(source, &frame, NULL), BB_SOURCE_FRAME);
    ck_assert_int_eq(frame.time_ns, G_GINT64_CONSTANT(9223000000000000000));
}
END_TEST

// Interfaces of one pcapng file may differ; a filter is compiled for each link type, and what it
// cannot be used for is left out.
START_TEST(two_link_types_in_one_file)
{
    g_autoptr(Scratch) scratch = scratch_new();
    g_autoptr(PcapFile) file = capture_of(PCAPFILE_NG, 2, 1);
    pcapfile_add_interface(file, LINK_RAW, 8192, 6);
    guint8 frame[FRAME_BYTES];
    udp_frame(frame, 2);
    file->interface = 1;
    pcapfile_add(file, START_NS / 1000, frame + 14, FRAME_BYTES - 14, FRAME_BYTES - 14);
    const char *const files[] = {save(scratch, "two", file), NULL};
    g_autoptr(Gathered) all = gather("udp port 2", files);
    ck_assert_uint_eq(all->frames, 2);
    ck_assert_str_eq(all->warnings->str, "");
    g_autoptr(Gathered) some = gather("ether dst 02:00:00:00:00:02", files);
    ck_assert_uint_eq(some->frames, 2);
    ASSERT_HOLDS(some->warnings, "two: the filter \"ether dst 02:00:00:00:00:02\" cannot be used");
    ASSERT_HOLDS(some->warnings, "; frames of link type 12 are left out");

    BbLoss loss = {0};
    g_autoptr(BbSource) source = open_source(files, &loss);
    BbFrame got;
    for (guint i = 0; i < 3; i++)
        ck_assert_int_eq(bb_source_next(source, &got, NULL), BB_SOURCE_FRAME);
    ck_assert_int_eq(got.link_type, DLT_RAW_HERE);
    ck_assert_uint_eq(got.interface, 1);
    ck_assert_int_eq(got.time_ns, START_NS / 1000 * 1000);
}
END_TEST

START_TEST(a_filter_that_does_not_compile_for_pcapng)
{
    g_autoptr(Scratch) scratch = scratch_new();
    g_autoptr(PcapFile) file = capture_of(PCAPFILE_NG, 2, 1);
    const char *path = save(scratch, "one", file);
    g_autoptr(Gathered) all = gather("tcp prot", (const char *const[]){path, path, NULL});
    ASSERT_HOLDS(all->errors, "open: ");
    ASSERT_HOLDS(all->errors, "one: the filter \"tcp prot\" cannot be used");
}
END_TEST

TEST_MAIN("source", every_form_packed_or_not, a_frame_is_what_the_file_says,
          standard_input_and_named_pipes, no_packets_are_no_failure, a_file_has_no_kernel_counters,
          a_filter_is_compiled_for_each_file, a_filter_that_does_not_compile,
          a_filter_that_fits_not_all_files, a_filter_that_refuses_all_lets_the_caller_in,
          strangers_are_told_apart, packed_strangers, the_only_file_fails_at_once,
          a_link_type_nobody_knows, cut_anywhere, cut_inside_the_packing,
          damaged_inside_the_packing, a_cut_behind_a_filter, lengths_that_lie, captured_is_bounded,
          times_at_the_edges, times_beyond_all, two_link_types_in_one_file,
          a_filter_that_does_not_compile_for_pcapng)
