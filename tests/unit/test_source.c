// SPDX-License-Identifier: Apache-2.0
// Capture files: every form gives the same frames, several are one capture, and about each that is
// none or breaks off there is one sentence, after which the rest is read.
#include "capture/sources/source.h"
#include "tests/unit/pack.h"
#include "tests/unit/pcapfile.h"
#include "tests/unit/scratch.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#define START_NS G_GINT64_CONSTANT(1700000000123456789)
#define LINK_ETHERNET 1
#define LINK_RAW 101
#define DLT_RAW_HERE 12  // what libpcap makes of LINK_RAW on Linux
#define LINK_UNKNOWN 147 // LINKTYPE_USER0

// An Ethernet frame with an IPv4 UDP packet to port in it.
#define FRAME_BYTES 60
static void udp_frame(guint8 frame[FRAME_BYTES], guint16 port)
{
    static const guint8 head[] = {2, 0, 0,    0, 0, 2,  2,  0, 0, 0, 0,    1,
                                  8, 0, 0x45, 0, 0, 46, 0,  0, 0, 0, 64,   17,
                                  0, 0, 10,   0, 0, 1,  10, 0, 0, 2, 0x9c, 0x40};
    memset(frame, 0, FRAME_BYTES);
    memcpy(frame, head, sizeof head);
    frame[36] = (guint8)(port >> 8);
    frame[37] = (guint8)port;
    frame[39] = 26; // UDP length
}

// count packets, a microsecond and a nanosecond apart, to ports first, first + 1, ...
static PcapFile *capture_of(PcapFileForm form, guint count, guint16 first)
{
    PcapFile *file = pcapfile_new_form(form, LINK_ETHERNET);
    for (guint i = 0; i < count; i++) {
        guint8 frame[FRAME_BYTES];
        udp_frame(frame, (guint16)(first + i));
        pcapfile_add(file, START_NS + i * G_GINT64_CONSTANT(1001), frame, FRAME_BYTES, 1500);
    }
    return file;
}

// What a source gave: ports of its frames, errors and warnings, one a line.
typedef struct {
    GString *ports, *errors, *warnings;
    guint frames, idle;
    BbLoss loss;
} Gathered;

static Gathered *gather(const char *filter, const char *const *files)
{
    Gathered *all = g_new0(Gathered, 1);
    all->ports = g_string_new(NULL);
    all->errors = g_string_new(NULL);
    all->warnings = g_string_new(NULL);
    BbSourceOptions options = bb_source_options_default();
    options.files = files;
    options.filter = filter;
    g_autoptr(GError) error = NULL;
    g_autoptr(BbSource) source = bb_source_open(&options, &all->loss, &error);
    if (!source) {
        g_string_printf(all->errors, "open: %s\n", error->message);
        return all;
    }
    BbFrame frame;
    BbSourceStatus status;
    while ((status = bb_source_next(source, &frame, &error)) != BB_SOURCE_END) {
        for (char *text; (text = bb_source_take_warning(source)); g_free(text))
            g_string_append_printf(all->warnings, "%s\n", text);
        if (status == BB_SOURCE_ERROR) {
            g_string_append_printf(all->errors, "%s\n", error->message);
            g_clear_error(&error);
        } else if (status == BB_SOURCE_IDLE) {
            all->idle++;
        } else if (all->frames++ < 100) {
            g_string_append_printf(all->ports, "%d ", frame.data[36] << 8 | frame.data[37]);
        }
    }
    for (char *text; (text = bb_source_take_warning(source)); g_free(text))
        g_string_append_printf(all->warnings, "%s\n", text);
    ck_assert_int_eq(bb_source_next(source, &frame, &error), BB_SOURCE_END);
    return all;
}

static void gathered_free(Gathered *all)
{
    g_string_free(all->ports, TRUE);
    g_string_free(all->errors, TRUE);
    g_string_free(all->warnings, TRUE);
    g_free(all);
}

G_DEFINE_AUTOPTR_CLEANUP_FUNC(Gathered, gathered_free)

static Gathered *gather_one(const char *path)
{
    return gather(NULL, (const char *const[]){path, NULL});
}

#define ASSERT_HOLDS(text, part) \
    ck_assert_msg(strstr((text)->str, (part)) != NULL, "%s", (text)->str)

static const char *save(Scratch *scratch, const char *name, const PcapFile *file)
{
    const char *path = scratch_path(scratch, name);
    pcapfile_save(file, path);
    return path;
}

static BbSource *open_source(const char *const *files, BbLoss *loss)
{
    BbSourceOptions options = bb_source_options_default();
    options.files = files;
    g_autoptr(GError) error = NULL;
    BbSource *source = bb_source_open(&options, loss, &error);
    ck_assert_msg(source != NULL, "%s", error ? error->message : "no reason");
    return source;
}

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

START_TEST(several_files_are_one_capture)
{
    g_autoptr(Scratch) scratch = scratch_new();
    g_autoptr(PcapFile) micro = capture_of(PCAPFILE_MICRO, 2, 1);
    g_autoptr(PcapFile) none = pcapfile_new(true, LINK_ETHERNET);
    g_autoptr(PcapFile) raw = pcapfile_new(true, LINK_RAW);
    guint8 frame[FRAME_BYTES];
    udp_frame(frame, 3);
    pcapfile_add(raw, START_NS, frame, FRAME_BYTES, FRAME_BYTES);
    const char *const files[] = {save(scratch, "1", micro), save(scratch, "2", none),
                                 save(scratch, "3", raw), NULL};
    g_autoptr(Gathered) all = gather(NULL, files);
    ck_assert_str_eq(all->ports->str, "1 2 3 ");
    ck_assert_str_eq(all->errors->str, "");
    ck_assert_str_eq(all->warnings->str, "");

    BbLoss loss = {0};
    g_autoptr(BbSource) source = open_source(files, &loss);
    BbFrame got;
    ck_assert_double_eq_tol(bb_source_progress(source), 176.0 / 300.0, 1e-9);
    for (int i = 0; i < 3; i++)
        ck_assert_int_eq(bb_source_next(source, &got, NULL), BB_SOURCE_FRAME);
    ck_assert_str_eq(bb_source_name(source), files[2]);
    ck_assert_int_eq(got.link_type, DLT_RAW_HERE);
    ck_assert_int_eq(bb_source_next(source, &got, NULL), BB_SOURCE_END);
    ck_assert_double_eq(bb_source_progress(source), 1.0);
}
END_TEST

static const char *save_one(Scratch *scratch, const char *name, guint16 port, gint64 time_ns)
{
    g_autoptr(PcapFile) file = pcapfile_new(true, LINK_ETHERNET);
    guint8 frame[FRAME_BYTES];
    udp_frame(frame, port);
    pcapfile_add(file, time_ns, frame, FRAME_BYTES, FRAME_BYTES);
    return save(scratch, name, file);
}

#define SECOND_NS G_GINT64_CONSTANT(1000000000)

// As a shell sorts the files of a ring: 0, 1, 10, 11, 2. What is none stays behind its neighbour.
START_TEST(files_by_their_packets)
{
    g_autoptr(Scratch) scratch = scratch_new();
    static const guint16 given[] = {0, 1, 10, 11, 2};
    const char *files[7] = {0};
    for (guint i = 0; i < 5; i++) {
        g_autofree char *name = g_strdup_printf("ring%u", given[i]);
        files[i < 3 ? i : i + 1] =
            save_one(scratch, name, given[i], START_NS + given[i] * SECOND_NS);
    }
    files[3] = scratch_path(scratch, "none"); // behind ring10
    g_autoptr(Gathered) all = gather(NULL, files);
    ck_assert_str_eq(all->ports->str, "0 1 2 10 11 ");
    ASSERT_HOLDS(all->errors, "none");
    g_autofree char *said = g_strdup_printf("%s before %s", files[5], files[2]);
    ASSERT_HOLDS(all->warnings, said);
    ck_assert_uint_eq(all->loss.count[BB_CLOCK_SET_BACK], 0);
}
END_TEST

START_TEST(a_file_given_twice)
{
    g_autoptr(Scratch) scratch = scratch_new();
    g_autoptr(PcapFile) file = capture_of(PCAPFILE_NANO, 3, 1);
    const char *path = save(scratch, "one", file), *link = scratch_path(scratch, "link");
    ck_assert_int_eq(symlink(path, link), 0);
    g_autoptr(Gathered) all = gather(NULL, (const char *const[]){path, link, NULL});
    ck_assert_str_eq(all->ports->str, "1 2 3 ");
    ASSERT_HOLDS(all->warnings, "link is given twice, and read once");
}
END_TEST

// Captures of two places at one time, and a clock that was set: every step is counted.
START_TEST(steps_back_in_time)
{
    g_autoptr(Scratch) scratch = scratch_new();
    g_autoptr(PcapFile) file = pcapfile_new(true, LINK_ETHERNET);
    guint8 frame[FRAME_BYTES];
    for (guint i = 0; i < 10; i++) { // 0 5 3.5 9 8 13 12: up to a second is disorder
        udp_frame(frame, (guint16)i);
        gint64 at = i * SECOND_NS * 2 + (i % 2) * SECOND_NS * 3 - (i == 2) * SECOND_NS / 2;
        pcapfile_add(file, START_NS + at, frame, FRAME_BYTES, FRAME_BYTES);
    }
    const char *first = save(scratch, "first", file);
    const char *other = save_one(scratch, "other", 100, START_NS + SECOND_NS);
    g_autoptr(Gathered) all = gather(NULL, (const char *const[]){first, other, NULL});
    ck_assert_str_eq(all->ports->str, "0 1 2 3 4 5 6 7 8 9 100 ");
    ck_assert_uint_eq(all->loss.count[BB_CLOCK_SET_BACK], 2);
    ASSERT_HOLDS(all->warnings, "first: time stamps step back by 1.500 s");
    ASSERT_HOLDS(all->warnings, "other: time stamps step back by 20.000 s");
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
        {"\xd4\xc3\xb2\xa1\2\0\4\0", 8, "is not a packet capture that can be read (truncated dump"},
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

START_TEST(good_files_among_bad_ones)
{
    g_autoptr(Scratch) scratch = scratch_new();
    g_autoptr(PcapFile) file = capture_of(PCAPFILE_NG, 2, 1);
    const char *const files[] = {scratch_path(scratch, "missing"),
                                 save(scratch, "good", file),
                                 scratch_file(scratch, "text", "hello, world\n", 13),
                                 scratch->folder,
                                 save(scratch, "also_good", file),
                                 NULL};
    g_autoptr(Gathered) all = gather(NULL, files);
    ck_assert_str_eq(all->ports->str, "1 2 1 2 ");
    g_auto(GStrv) errors = g_strsplit(all->errors->str, "\n", -1);
    ck_assert_uint_eq(g_strv_length(errors), 4);
    ck_assert_ptr_nonnull(strstr(errors[0], "missing"));
    ck_assert_ptr_nonnull(strstr(errors[0], "check the name"));
    ck_assert_ptr_nonnull(strstr(errors[1], "text is a text file"));
    ck_assert_ptr_nonnull(strstr(errors[2], "is a directory"));

    BbLoss loss = {0};
    g_autoptr(BbSource) source = open_source(files, &loss);
    ck_assert_str_eq(bb_source_name(source), files[0]);
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

START_TEST(a_cut_file_is_not_the_last)
{
    g_autoptr(Scratch) scratch = scratch_new();
    g_autoptr(PcapFile) file = capture_of(PCAPFILE_NANO, 3, 1);
    const char *cut = scratch_file(scratch, "cut", file->bytes->data, file->bytes->len - 5);
    const char *const files[] = {cut, save(scratch, "whole", file), NULL};
    g_autoptr(Gathered) all = gather(NULL, files);
    ck_assert_str_eq(all->ports->str, "1 2 1 2 3 ");
    ASSERT_HOLDS(all->warnings, "cut breaks off in packet 3");
    ck_assert_str_eq(all->errors->str, "");
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
          several_files_are_one_capture, files_by_their_packets, a_file_given_twice,
          steps_back_in_time, standard_input_and_named_pipes, no_packets_are_no_failure,
          a_file_has_no_kernel_counters, a_filter_is_compiled_for_each_file,
          a_filter_that_does_not_compile, a_filter_that_fits_not_all_files,
          a_filter_that_refuses_all_lets_the_caller_in, strangers_are_told_apart, packed_strangers,
          good_files_among_bad_ones, the_only_file_fails_at_once, a_link_type_nobody_knows,
          cut_anywhere, cut_inside_the_packing, a_cut_file_is_not_the_last, a_cut_behind_a_filter,
          lengths_that_lie, captured_is_bounded, times_at_the_edges, times_beyond_all,
          two_link_types_in_one_file, a_filter_that_does_not_compile_for_pcapng)
