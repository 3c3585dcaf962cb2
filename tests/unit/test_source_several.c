// SPDX-License-Identifier: Apache-2.0
// Several capture files are one capture, in the order of their packets, whatever is wrong with
// some.
#include "data/names.h"
#include "tests/unit/pack.h"
#include "tests/unit/source_scene.h"

#include <fcntl.h>
#include <unistd.h>

static const char *save_one(Scratch *scratch, const char *name, guint16 port, gint64 time_ns)
{
    g_autoptr(PcapFile) file = pcapfile_new(true, LINK_ETHERNET);
    guint8 frame[FRAME_BYTES];
    udp_frame(frame, port);
    pcapfile_add(file, time_ns, frame, FRAME_BYTES, FRAME_BYTES);
    return save(scratch, name, file);
}

#define SECOND_NS G_GINT64_CONSTANT(1000000000)

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

// As some tools write them: there reordercap helps, and is named, once.
START_TEST(packets_in_disorder)
{
    static const struct {
        gint64 back_ns;
        bool told;
    } cases[] = {{SECOND_NS / 100, false}, {SECOND_NS / 100 + 1, true}, {SECOND_NS, true}};
    g_autoptr(Scratch) scratch = scratch_new();
    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autoptr(PcapFile) file = pcapfile_new(true, LINK_ETHERNET);
        guint8 frame[FRAME_BYTES];
        udp_frame(frame, 1);
        for (guint part = 0; part < 4; part++)
            pcapfile_add(file, START_NS - part % 2 * cases[i].back_ns, frame, FRAME_BYTES,
                         FRAME_BYTES);
        g_autoptr(Gathered) all = gather_one(save(scratch, "disorder", file));
        ck_assert_uint_eq(all->frames, 4);
        ck_assert_uint_eq(all->loss.count[BB_CLOCK_SET_BACK], 0);
        g_auto(GStrv) warnings = g_strsplit(all->warnings->str, "\n", -1);
        ck_assert_uint_eq(g_strv_length(warnings), cases[i].told ? 2 : 0); // and the end
        if (cases[i].told)
            ASSERT_HOLDS(all->warnings, "disorder: packets are not in the order");
    }
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

// ---- several interfaces in one file -------------------------------------------------------------

#define MS_NS G_GINT64_CONSTANT(1000000)

static PcapFile *two_interfaces(void)
{
    PcapFile *file = pcapfile_new_form(PCAPFILE_NG, LINK_ETHERNET);
    pcapfile_add_interface(file, LINK_ETHERNET, 262144, 9);
    return file;
}

static void add_at(PcapFile *file, guint32 interface, guint16 ms)
{
    guint8 frame[FRAME_BYTES];
    udp_frame(frame, ms);
    file->interface = interface;
    pcapfile_add(file, START_NS + ms * MS_NS, frame, FRAME_BYTES, FRAME_BYTES);
}

// As dumpcap writes: what the one had, then what the other had.
static void add_batches(PcapFile *file, guint16 first_ms)
{
    for (guint16 ms = 0; ms < 20; ms += 2)
        add_at(file, 0, first_ms + ms);
    for (guint16 ms = 1; ms < 20; ms += 2)
        add_at(file, 1, first_ms + ms);
}

#define FIRST_20 "0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 "

START_TEST(interfaces_written_in_batches)
{
    g_autoptr(Scratch) scratch = scratch_new();
    g_autoptr(PcapFile) file = two_interfaces();
    add_batches(file, 0);
    add_at(file, 0, 900);
    add_at(file, 1, 300); // by more than is waited
    for (int pack = 0; pack < PACK_COUNT; pack++) {
        g_autoptr(GByteArray) packed = g_byte_array_new();
        pack_append(packed, (PackForm)pack, file->bytes->data, file->bytes->len);
        g_autoptr(Gathered) all =
            gather_one(scratch_file(scratch, "two", packed->data, packed->len));
        ck_assert_str_eq(all->ports->str, FIRST_20 "300 900 ");
        ck_assert_str_eq(all->warnings->str, "");
        ck_assert_uint_eq(all->loss.count[BB_FRAMES_CROSSED], 0);
    }
    add_at(file, 1, 250);
    add_at(file, 0, 910);
    const char *path = save(scratch, "two", file);
    g_autoptr(Gathered) all = gather_one(path);
    ck_assert_str_eq(all->ports->str, FIRST_20 "300 250 900 910 ");
    g_autoptr(Gathered) some = gather("udp port 3 or port 4", (const char *const[]){path, NULL});
    ck_assert_str_eq(some->ports->str, "3 4 ");

    int fd = open(path, O_RDONLY); // as a pipe
    ck_assert_int_eq(dup2(fd, STDIN_FILENO), STDIN_FILENO);
    close(fd);
    g_autoptr(Gathered) piped = gather_one("-");
    ck_assert_str_eq(piped->ports->str, all->ports->str);
}
END_TEST

// The numbers are those that Wireshark shows, and all else is of the same frame.
START_TEST(a_frame_that_waited_is_what_the_file_says)
{
    g_autoptr(Scratch) scratch = scratch_new();
    g_autoptr(PcapFile) file = two_interfaces();
    add_batches(file, 0);
    const char *const files[] = {save(scratch, "two", file), NULL};
    BbLoss loss = {0};
    g_autoptr(BbSource) source = open_source(files, &loss);
    BbFrame frame;
    for (guint i = 0; i < 20; i++) {
        ck_assert_int_eq(bb_source_next(source, &frame, NULL), BB_SOURCE_FRAME);
        ck_assert_int_eq(frame.time_ns, START_NS + i * MS_NS);
        ck_assert_uint_eq(frame.place.frame, i % 2 ? 11 + i / 2 : 1 + i / 2);
        ck_assert_uint_eq(frame.place.file, BB_NAME_NONE);
        ck_assert_uint_eq(frame.interface, i % 2);
        ck_assert_uint_eq(frame.captured, FRAME_BYTES);
        ck_assert_int_eq(frame.link_type, LINK_ETHERNET);
    }
    ck_assert_int_eq(bb_source_next(source, &frame, NULL), BB_SOURCE_END);
}
END_TEST

START_TEST(stamps_later_than_the_wait_are_counted)
{
    g_autoptr(Scratch) scratch = scratch_new();
    g_autoptr(PcapFile) file = two_interfaces();
    add_at(file, 0, 0);
    add_at(file, 0, 300);
    add_at(file, 0, 900);
    add_at(file, 1, 200);
    g_autoptr(Gathered) all = gather_one(save(scratch, "late", file));
    ck_assert_str_eq(all->ports->str, "0 300 200 900 ");
    ck_assert_uint_eq(all->loss.count[BB_FRAMES_CROSSED], 1);
}
END_TEST

START_TEST(a_cut_file_gives_what_waits)
{
    g_autoptr(Scratch) scratch = scratch_new();
    g_autoptr(PcapFile) file = two_interfaces();
    add_batches(file, 0);
    add_at(file, 0, 20);
    g_autoptr(Gathered) all =
        gather_one(scratch_file(scratch, "cut", file->bytes->data, file->bytes->len - 5));
    ck_assert_str_eq(all->ports->str, FIRST_20);
    ASSERT_HOLDS(all->warnings, "cut breaks off in packet 21");
    ck_assert_uint_eq(all->loss.count[BB_SOURCE_CUT], 1);
}
END_TEST

// A ring of files goes on where a batch ends; each frame is of its own file.
START_TEST(batches_across_files)
{
    g_autoptr(Scratch) scratch = scratch_new();
    g_autoptr(PcapFile) first = two_interfaces(), second = two_interfaces();
    g_autoptr(PcapFile) alone = pcapfile_new_form(PCAPFILE_NG, LINK_ETHERNET);
    add_at(first, 0, 0);
    add_at(first, 0, 2);
    add_at(second, 1, 1);
    add_at(second, 1, 3);
    add_at(alone, 0, 2); // of one interface: behind what waits
    add_at(alone, 0, 1);
    const char *const files[] = {save(scratch, "1", first), save(scratch, "2", second),
                                 save(scratch, "3", alone), NULL};
    static const guint16 ports[] = {0, 1, 2, 3, 2, 1};
    static const guint from[] = {0, 1, 0, 1, 2, 2};
    BbLoss loss = {0};
    g_autoptr(BbSource) source = open_source(files, &loss);
    BbFrame frame;
    for (guint i = 0; i < G_N_ELEMENTS(ports); i++) {
        ck_assert_int_eq(bb_source_next(source, &frame, NULL), BB_SOURCE_FRAME);
        ck_assert_uint_eq(frame.data[37], ports[i]);
        ck_assert_str_eq(bb_source_name(source), files[from[i]]);
    }
    ck_assert_int_eq(bb_source_next(source, &frame, NULL), BB_SOURCE_END);
    ck_assert_uint_eq(loss.count[BB_FRAMES_CROSSED], 0);
}
END_TEST

// Calls next until it gives no frame. Returns the low bytes of their ports.
static char *take_ports(BbSource *source, BbSourceStatus *status)
{
    GString *ports = g_string_new(NULL);
    BbFrame frame;
    while ((*status = bb_source_next(source, &frame, NULL)) == BB_SOURCE_FRAME)
        g_string_append_printf(ports, "%d ", frame.data[37]);
    return g_string_free(ports, FALSE);
}

START_TEST(a_silent_pipe_gives_what_waits)
{
    int ends[2];
    ck_assert_int_eq(pipe(ends), 0);
    g_autoptr(PcapFile) file = two_interfaces();
    add_batches(file, 0);
    guint written = file->bytes->len;
    ck_assert_int_eq(write(ends[1], file->bytes->data, written), written);
    ck_assert_int_eq(dup2(ends[0], STDIN_FILENO), STDIN_FILENO);
    close(ends[0]);
    BbLoss loss = {0};
    g_autoptr(BbSource) source = open_source((const char *const[]){"-", NULL}, &loss);
    BbSourceStatus status;
    g_autofree char *ports = NULL;
    for (guint turn = 0; turn < 50 && !(ports && *ports); turn++) {
        g_free(ports);
        ports = take_ports(source, &status);
        ck_assert_int_eq(status, BB_SOURCE_IDLE);
    }
    ck_assert_str_eq(ports, FIRST_20);

    add_batches(file, 40);
    guint more = file->bytes->len - written;
    ck_assert_int_eq(write(ends[1], file->bytes->data + written, more), more);
    close(ends[1]);
    g_autofree char *rest = take_ports(source, &status);
    ck_assert_int_eq(status, BB_SOURCE_END);
    ck_assert_str_eq(rest, "40 41 42 43 44 45 46 47 48 49 50 51 52 53 54 55 56 57 58 59 ");
}
END_TEST

// Who stops reading gets what waits, and nothing of later files.
START_TEST(what_waits_when_it_is_stopped)
{
    g_autoptr(Scratch) scratch = scratch_new();
    g_autoptr(PcapFile) file = two_interfaces();
    add_batches(file, 0);
    for (guint16 i = 0; i < 2; i++)
        for (guint16 ms = 700; ms < 710; ms++)
            add_at(file, ms % 2, ms + i * 700);
    const char *path = save(scratch, "two", file);
    BbLoss loss = {0};
    g_autoptr(BbSource) source = open_source((const char *const[]){path, path, NULL}, &loss);
    BbFrame frame;
    ck_assert_int_eq(bb_source_next(source, &frame, NULL), BB_SOURCE_FRAME);
    bb_source_stop(source);
    BbSourceStatus status;
    g_autofree char *ports = take_ports(source, &status);
    ck_assert_str_eq(ports, "1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 188 ");
    ck_assert_int_eq(status, BB_SOURCE_END);
    ck_assert_str_eq(bb_source_name(source), path);
}
END_TEST

// Frame by frame, as they came, by clocks that disagree.
START_TEST(interfaces_whose_clocks_disagree)
{
    g_autoptr(Scratch) scratch = scratch_new();
    g_autoptr(PcapFile) file = two_interfaces();
    guint8 frame[FRAME_BYTES];
    for (guint16 i = 0; i < 200; i++) {
        udp_frame(frame, i);
        file->interface = i % 2;
        pcapfile_add(file, START_NS + i * 10 * MS_NS + i % 2 * 300 * MS_NS, frame, FRAME_BYTES,
                     FRAME_BYTES);
    }
    const char *path = save(scratch, "skewed", file);
    g_autoptr(Gathered) all = gather_one(path);
    ASSERT_HOLDS(all->ports, "0 1 2 3 4 5 6 7 8 9 10 ");
    ASSERT_HOLDS(all->ports, " 95 96 97 98 99 ");
    ck_assert_uint_eq(all->loss.count[BB_FRAMES_CROSSED], 0);
    ck_assert_uint_eq(all->loss.count[BB_CLOCK_SET_BACK], 0);
    g_autofree char *said = g_strdup_printf(
        "%s: clocks of its interfaces disagree, by about 0.300 s: packets are taken in the order "
        "of the file",
        path);
    ASSERT_HOLDS(all->warnings, said);
    g_auto(GStrv) warnings = g_strsplit(all->warnings->str, "\n", -1);
    ck_assert_uint_eq(g_strv_length(warnings), 2); // and the end
}
END_TEST

TEST_MAIN("source_several", several_files_are_one_capture, files_by_their_packets,
          a_file_given_twice, steps_back_in_time, packets_in_disorder, good_files_among_bad_ones,
          a_cut_file_is_not_the_last, interfaces_written_in_batches,
          a_frame_that_waited_is_what_the_file_says, stamps_later_than_the_wait_are_counted,
          a_cut_file_gives_what_waits, batches_across_files, a_silent_pipe_gives_what_waits,
          what_waits_when_it_is_stopped, interfaces_whose_clocks_disagree)
