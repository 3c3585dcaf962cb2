// SPDX-License-Identifier: Apache-2.0
// The trace on disk: what is written is read, in both forms; what is no trace is told from it; what
// cannot be written is said.
#include "tests/unit/traces.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

// Each form is the slow twin of the other.
static void check_round_trips(guint32 seed, guint count, guint flush_every)
{
    printf("seed %u\n", seed);
    g_autoptr(Messages) all = random_messages(seed, count);
    gsize size = 0;
    g_autofree char *bbt = write_bytes(BB_TRACE_BBT, all, flush_every, &size);
    g_autoptr(Messages) from_bbt = read_bytes(bbt, size);
    check_same(all, from_bbt, true);
    ck_assert_ptr_null(from_bbt->damage);
    ck_assert_uint_eq(bb_counters_get(from_bbt->counters, "tcp.gaps"), seed);
    ck_assert_uint_eq(bb_counters_get(from_bbt->counters, "drops"), G_MAXUINT64);
    g_autofree char *text = write_bytes(BB_TRACE_TEXT, from_bbt, flush_every, &size);
    g_autoptr(Messages) from_text = read_bytes(text, size);
    check_same(all, from_text, true);
    ck_assert_ptr_null(from_text->damage);
    ck_assert_uint_eq(bb_counters_count(from_text->counters), 2);
    ck_assert_uint_eq(bb_counters_get(from_text->counters, "drops"), G_MAXUINT64);
    bool clean = true; // nothing that is not for eyes
    for (gsize i = 0; i < size; i++)
        clean &= (guint8)text[i] >= ' ' || text[i] == '\n';
    ck_assert(clean);
    ck_assert(g_utf8_validate(text, (gssize)size, NULL));
}

START_TEST(what_is_written_is_read)
{
    check_round_trips(1, 0, 0);
    check_round_trips(2, 1, 0);
    check_round_trips(3, 700, 0);
    for (guint32 seed = 4; seed < 60; seed++)
        check_round_trips(seed, seed * 3, 1 + seed % 7);
}
END_TEST

START_TEST(many_blocks)
{
    check_round_trips(2003, 30000, 0);
}
END_TEST

// Columns of one value, of each width, of values that are sometimes absent, and the widest ranges.
START_TEST(ranges_of_numbers)
{
    for (guint bits = 0; bits < 64; bits++) {
        g_autoptr(Messages) all = messages_new();
        for (guint i = 0; i < 1030; i++) {
            BbMessage message = bb_message_empty();
            guint64 number = i % 3 == 0 ? 0 : ((guint64)1 << bits) - (i % 3 == 1);
            message.time_ns = (gint64)(number & G_MAXINT64);
            message.bytes = i % 5 ? number : BB_BYTES_NONE;
            message.offset = bits % 2 && i == 7 ? BB_OFFSET_NONE : number * 3 % G_MAXUINT64;
            message.id = bb_id_number(number);
            message.parent = (BbId){.number = i % 2 ? BB_ID_BARE : number, .form = BB_ID_STEM + 1};
            message.recv_ns = i % 7 ? (gint64)(number / 2 & G_MAXINT64) : BB_TIME_NONE;
            message.end_ns = i % 2 ? G_MAXINT64 : 0;
            message.conn = i % 11 ? "a" : NULL;
            messages_keep(all, message);
        }
        (void)bb_names_intern(all->names, "stem");
        gsize size = 0;
        g_autofree char *bbt = write_bytes(BB_TRACE_BBT, all, 0, &size);
        g_autoptr(Messages) got = read_bytes(bbt, size);
        check_same(all, got, true);
    }
}
END_TEST

START_TEST(same_bytes_every_time)
{
    for (int form = BB_TRACE_BBT; form <= BB_TRACE_TEXT; form++) {
        g_autoptr(Messages) all = random_messages(7, 500);
        gsize first_size = 0, second_size = 0;
        g_autofree char *first = write_bytes((BbTraceForm)form, all, 0, &first_size);
        g_autofree char *second = write_bytes((BbTraceForm)form, all, 0, &second_size);
        ck_assert_uint_eq(first_size, second_size);
        ck_assert_mem_eq(first, second, first_size);
    }
}
END_TEST

START_TEST(extra_keys_stay_in_text_only)
{
    const char *text = "# bbtrace text 1\n"
                       "1.500000 CALL_SENT a b id1 op=x zone=eu%20west tags=a=b\n"
                       "2.000000 RET_SENT b a id1\n";
    g_autoptr(Messages) all = read_text(text);
    ck_assert_str_eq(message_at(all, 0)->extra, "zone=eu%20west tags=a=b");
    ck_assert_ptr_null(message_at(all, 1)->extra);
    gsize size = 0;
    g_autofree char *again = write_bytes(BB_TRACE_TEXT, all, 0, &size);
    ck_assert_str_eq(again, text);
    g_autofree char *bbt = write_bytes(BB_TRACE_BBT, all, 0, &size);
    g_autoptr(Messages) got = read_bytes(bbt, size);
    check_same(all, got, false);
}
END_TEST

// ---- what is no trace ---------------------------------------------------------------------------

static void check_refused_bytes(const char *bytes, gsize size, const char *says)
{
    g_autoptr(Messages) got = read_bytes(bytes, size);
    ck_assert(g_error_matches(got->error, BB_TRACE_ERROR, BB_TRACE_ERROR_FORM));
    ck_assert_msg(strstr(got->error->message, says) != NULL, "%s", got->error->message);
}

static void check_refused(const char *text, const char *says)
{
    check_refused_bytes(text, strlen(text), says);
}

START_TEST(other_files_are_named)
{
    check_refused_bytes("\xd4\xc3\xb2\xa1\2\0\4\0", 8,
                        "packet capture (pcap): run `bbtrace capture");
    check_refused_bytes("\xa1\xb2\xc3\xd4\0\2\0\4", 8, "packet capture (pcap)");
    check_refused_bytes("\x4d\x3c\xb2\xa1\2\0\4\0", 8, "packet capture (pcap)");
    check_refused_bytes("\xa1\xb2\x3c\x4d\0\2\0\4", 8, "packet capture (pcap)");
    check_refused_bytes("\x0a\x0d\x0d\x0a\x1c\0\0\0", 8, "packet capture (pcapng)");
    check_refused_bytes("\x89"
                        "BBT\n\x1a\n\1\0",
                        9, "changed on the way");
    check_refused("{\"data\": []}", "JSON");
    check_refused("[{}]", "import --from jaeger");
    check_refused("# bbtrace text 2\n1.0 CALL_SENT a b 1\n", "version '2', but");
    check_refused("# bbtrace text 10\n", "version '10', but");
    check_refused("# bbtrace text 1 beta\n", "version '1 beta', but");
    check_refused("# my trace\n# bbtrace text 1\n", "first line is not `# bbtrace text 1`");
    check_refused("1.0 CALL_SENT a b id37\n", "put that line on top");
    check_refused("#bbtrace text 1\n", "first line is not");
    check_refused("\n", "first line is not");
    check_refused_bytes("\x7f"
                        "ELF\2\1\1\0",
                        8, "begins with the bytes 7f 45");
    check_refused_bytes("\0", 1, "begins with the bytes 00 00");
}
END_TEST

START_TEST(heads_that_are_good)
{
    const char *const heads[] = {"# bbtrace text 1", "# bbtrace text 1\n", "# bbtrace text 1\r\n",
                                 "# bbtrace text 1  \n"};
    for (gsize i = 0; i < G_N_ELEMENTS(heads); i++) {
        g_autoptr(Messages) got = read_text(heads[i]);
        ck_assert_ptr_null(got->error);
        ck_assert_ptr_null(got->damage);
        ck_assert_uint_eq(got->messages->len, 0);
    }
}
END_TEST

START_TEST(cut_text_head)
{
    const char *head = "# bbtrace text 1";
    for (gsize size = 1; size < strlen(head); size++) {
        g_autoptr(Messages) got = read_bytes(head, size);
        ck_assert_ptr_null(got->error);
        ck_assert_ptr_nonnull(strstr(got->damage, "cut within its first line"));
    }
}
END_TEST

START_TEST(form_is_told)
{
    g_autoptr(BbNames) names = bb_names_new();
    g_autofree char *path = temp_path();
    g_autoptr(Messages) all = random_messages(1, 3);
    write_path(path, BB_TRACE_TEXT, all, 0);
    g_autoptr(BbTraceReader) text = bb_trace_reader_open(path, names, NULL);
    ck_assert_int_eq(bb_trace_reader_form(text), BB_TRACE_TEXT);
    write_path(path, BB_TRACE_BBT, all, 0);
    g_autoptr(BbTraceReader) bbt = bb_trace_reader_open(path, names, NULL);
    ck_assert_int_eq(bb_trace_reader_form(bbt), BB_TRACE_BBT);
    g_unlink(path);
}
END_TEST

START_TEST(no_file)
{
    g_autoptr(BbNames) names = bb_names_new();
    g_autoptr(GError) error = NULL;
    ck_assert_ptr_null(bb_trace_reader_open("/nowhere/at all.bbt", names, &error));
    ck_assert_ptr_nonnull(strstr(error->message, "/nowhere/at all.bbt"));
    g_clear_error(&error);
    g_autoptr(BbTraceReader) folder = bb_trace_reader_open("/", names, &error);
    BbMessage message;
    ck_assert(!folder || !bb_trace_reader_next(folder, &message, &error));
    ck_assert_ptr_nonnull(error);
}
END_TEST

// ---- what cannot be written ---------------------------------------------------------------------

START_TEST(no_place_to_write)
{
    g_autoptr(BbNames) names = bb_names_new();
    g_autoptr(GError) error = NULL;
    ck_assert_ptr_null(bb_trace_writer_open("/nowhere/x.bbt", BB_TRACE_BBT, names, &error));
    ck_assert(g_error_matches(error, G_FILE_ERROR, G_FILE_ERROR_NOENT));
    ck_assert_ptr_nonnull(strstr(error->message, "/nowhere/x.bbt: cannot open it to write"));
}
END_TEST

// A device that is always full.
static void check_full(BbTraceForm form, bool flush)
{
    g_autoptr(Messages) all = random_messages(5, 10);
    g_autoptr(GError) error = NULL;
    g_autoptr(BbTraceWriter) writer = bb_trace_writer_open("/dev/full", form, all->names, &error);
    ck_assert_ptr_nonnull(writer);
    bool ok = true;
    for (guint i = 0; ok && i < all->messages->len; i++)
        ok = bb_trace_writer_push(writer, message_at(all, i), &error) &&
             (!flush || bb_trace_writer_flush(writer, &error));
    if (ok)
        ok = bb_trace_writer_finish(writer, NULL, &error);
    ck_assert(!ok);
    ck_assert(g_error_matches(error, G_FILE_ERROR, G_FILE_ERROR_NOSPC));
    ck_assert_ptr_nonnull(strstr(error->message, "/dev/full: cannot write"));
    ck_assert_ptr_nonnull(strstr(error->message, "free space"));
}

START_TEST(full_disk)
{
    if (access("/dev/full", W_OK) != 0)
        return;
    check_full(BB_TRACE_BBT, false);
    check_full(BB_TRACE_BBT, true);
    check_full(BB_TRACE_TEXT, false);
    check_full(BB_TRACE_TEXT, true);
}
END_TEST

static void check_unwritable(BbMessage message)
{
    for (int form = BB_TRACE_BBT; form <= BB_TRACE_TEXT; form++) {
        g_autoptr(BbNames) names = bb_names_new();
        g_autoptr(GError) error = NULL;
        g_autofree char *path = temp_path();
        g_autoptr(BbTraceWriter) writer =
            bb_trace_writer_open(path, (BbTraceForm)form, names, &error);
        ck_assert(!bb_trace_writer_push(writer, &message, &error));
        ck_assert(g_error_matches(error, BB_TRACE_ERROR, BB_TRACE_ERROR_MESSAGE));
        ck_assert_ptr_nonnull(strstr(error->message, "message 1 has a time before 1970"));
        g_unlink(path);
    }
}

START_TEST(times_before_1970)
{
    BbMessage message = bb_message_empty();
    check_unwritable(message);
    message.time_ns = -1;
    check_unwritable(message);
    message.time_ns = 1;
    message.recv_ns = -1;
    check_unwritable(message);
    message.recv_ns = BB_TIME_NONE;
    message.end_ns = -5;
    check_unwritable(message);
}
END_TEST

START_TEST(texts_beyond_a_block)
{
    g_autoptr(Messages) all = messages_new();
    g_autoptr(GError) error = NULL;
    g_autofree char *path = temp_path();
    g_autofree char *large = g_strnfill(9 << 20, 'x');
    g_autoptr(BbTraceWriter) writer = bb_trace_writer_open(path, BB_TRACE_BBT, all->names, &error);
    BbMessage message = bb_message_empty();
    message.time_ns = 1;
    message.conn = large;
    ck_assert(!bb_trace_writer_push(writer, &message, &error));
    ck_assert(g_error_matches(error, BB_TRACE_ERROR, BB_TRACE_ERROR_MESSAGE));
    g_clear_error(&error);
    message.conn = NULL;
    message.op = bb_names_intern(all->names, large);
    ck_assert(!bb_trace_writer_push(writer, &message, &error));
    ck_assert_ptr_nonnull(strstr(error->message, "write a text trace instead"));
    g_unlink(path);
}
END_TEST

// Connections and names of more than a block: blocks end early, nothing is lost.
START_TEST(many_large_texts)
{
    g_autoptr(Messages) all = messages_new();
    for (guint i = 0; i < 30; i++) {
        g_autofree char *text = g_strnfill(1 << 20, 'a' + (char)i % 26);
        g_autofree char *conn = g_strdup_printf("%u %s", i, text);
        BbMessage message = bb_message_empty();
        message.time_ns = i;
        message.conn = conn;
        message.op = bb_names_intern(all->names, conn);
        messages_keep(all, message);
    }
    gsize size = 0;
    g_autofree char *bbt = write_bytes(BB_TRACE_BBT, all, 0, &size);
    g_autoptr(Messages) got = read_bytes(bbt, size);
    check_same(all, got, true);
    ck_assert_ptr_null(got->damage);
}
END_TEST

// ---- writing, as seen from outside --------------------------------------------------------------

START_TEST(flushed_is_visible)
{
    for (int form = BB_TRACE_BBT; form <= BB_TRACE_TEXT; form++) {
        g_autoptr(Messages) all = random_messages(11, 20);
        g_autofree char *path = temp_path();
        const BbTraceWriterOptions options = {.form = (BbTraceForm)form};
        g_autoptr(BbTraceWriter) writer =
            bb_trace_writer_open_with(path, &options, all->names, NULL);
        for (guint i = 0; i < 20; i++) {
            ck_assert(bb_trace_writer_push(writer, message_at(all, i), NULL));
            ck_assert(bb_trace_writer_flush(writer, NULL));
            g_autoptr(Messages) got = read_path(path, false);
            ck_assert_uint_eq(got->messages->len, i + 1);
            ck_assert_int_eq(got->damage != NULL, form == BB_TRACE_BBT);
        }
        g_unlink(path);
    }
}
END_TEST

START_TEST(an_existing_file_is_replaced)
{
    g_autoptr(Messages) all = random_messages(12, 2000), few = random_messages(13, 2);
    g_autofree char *path = temp_path();
    write_path(path, BB_TRACE_BBT, all, 0);
    write_path(path, BB_TRACE_BBT, few, 0);
    g_autoptr(Messages) got = read_path(path, false);
    check_same(few, got, true);
    ck_assert_ptr_null(got->damage);
    g_unlink(path);
}
END_TEST

START_TEST(standard_streams)
{
    g_autoptr(Messages) all = random_messages(14, 100);
    g_autofree char *path = temp_path();
    int fd = open(path, O_RDWR | O_CLOEXEC), out = dup(STDOUT_FILENO);
    ck_assert_int_ge(dup2(fd, STDOUT_FILENO), 0);
    write_path("-", BB_TRACE_BBT, all, 0);
    ck_assert_int_ge(dup2(out, STDOUT_FILENO), 0); // finish has left it open
    ck_assert_int_eq(lseek(fd, 0, SEEK_SET), 0);
    ck_assert_int_ge(dup2(fd, STDIN_FILENO), 0);
    g_autoptr(Messages) got = read_path("-", false);
    check_same(all, got, true);
    close(fd);
    close(out);
    g_unlink(path);
}
END_TEST

TEST_MAIN("trace", what_is_written_is_read, many_blocks, ranges_of_numbers, same_bytes_every_time,
          extra_keys_stay_in_text_only, other_files_are_named, heads_that_are_good, cut_text_head,
          form_is_told, no_file, no_place_to_write, full_disk, times_before_1970,
          texts_beyond_a_block, many_large_texts, flushed_is_visible, an_existing_file_is_replaced,
          standard_streams)
