// SPDX-License-Identifier: Apache-2.0
// Traces in files: whatever the cuts, all files together are what was pushed, each is whole, and
// the ring deletes what it made and nothing else. The slow twin is the one file without cuts.
#include "data/trace_files.h"
#include "tests/unit/scratch.h"
#include "tests/unit/traces.h"

#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>

#define S G_GINT64_CONSTANT(1000000000)

// ---- what is in a folder ------------------------------------------------------------------------

// By number in the run, which stands behind the time.
static gint by_number(gconstpointer a, gconstpointer b)
{
    const char *x = strrchr(*(char *const *)a, '_'), *y = strrchr(*(char *const *)b, '_');
    return g_strcmp0(x, y);
}

// Paths of a folder's files, in order.
static GPtrArray *list(const char *folder)
{
    GPtrArray *paths = g_ptr_array_new_with_free_func(g_free);
    g_autoptr(GDir) dir = g_dir_open(folder, 0, NULL);
    for (const char *name = NULL; (name = g_dir_read_name(dir));)
        g_ptr_array_add(paths, g_build_filename(folder, name, NULL));
    g_ptr_array_sort(paths, by_number);
    return paths;
}

static guint64 bytes_of(const char *folder)
{
    g_autoptr(GPtrArray) paths = list(folder);
    guint64 sum = 0;
    for (guint i = 0; i < paths->len; i++) {
        GStatBuf status;
        ck_assert_int_eq(g_stat(paths->pdata[i], &status), 0);
        sum += (guint64)status.st_size;
    }
    return sum;
}

static void empty(Scratch *scratch)
{
    g_autoptr(GPtrArray) paths = list(scratch->folder);
    for (guint i = 0; i < paths->len; i++)
        ck_assert_int_eq(g_unlink(paths->pdata[i]), 0);
}

// The files of a folder as one trace; each must be whole.
static Messages *read_all(const char *folder, BbNetwork *network)
{
    g_autoptr(GPtrArray) paths = list(folder);
    Messages *all = messages_new();
    for (guint i = 0; i < paths->len; i++) {
        BbMessage message;
        g_autoptr(BbTraceReader) reader =
            bb_trace_reader_open(paths->pdata[i], all->names, &all->error);
        ck_assert(reader);
        while (bb_trace_reader_next(reader, &message, &all->error))
            messages_keep(all, message);
        ck_assert_msg(!bb_trace_reader_damage(reader), "%s", bb_trace_reader_damage(reader));
        bb_counters_merge(all->counters, bb_trace_reader_counters(reader));
        if (network)
            bb_network_merge(network, bb_trace_reader_network(reader));
    }
    return all;
}

// ---- what is written ----------------------------------------------------------------------------

// Messages of a system: a few each millisecond, with names that come one by one.
static Messages *steady(guint count, gint64 step_ns)
{
    Messages *all = messages_new();
    for (guint i = 0; i < count; i++) {
        BbMessage message = bb_message_empty();
        g_autofree char *op = g_strdup_printf("GET /%u", i / 100);
        g_autofree char *conn = g_strdup_printf("10.0.0.1:%u-10.0.0.2:80", 1024 + i % 500);
        message.time_ns = 1795377843 * S + i * step_ns;
        message.kind = i % 2 ? BB_RETURN : BB_CALL;
        message.sender = bb_names_intern(all->names, i % 2 ? "web" : "client");
        message.receiver = bb_names_intern(all->names, i % 2 ? "client" : "web");
        message.op = bb_names_intern(all->names, op);
        message.id = bb_id_number(i / 2 + 1);
        message.bytes = i * 7919 % 5000;
        message.conn = conn;
        messages_keep(all, message);
    }
    return all;
}

// Totals after so many messages.
static BbCounters *counters_at(guint messages)
{
    BbCounters *counters = bb_counters_new();
    bb_counters_add(counters, "frames", 3 * (guint64)messages);
    if (messages > 1000)
        bb_counters_add(counters, "tcp_gaps", messages / 1000);
    return counters;
}

static BbNetwork *network_at(const Messages *all, guint messages)
{
    BbNetwork *network = bb_network_new();
    BbNetworkEdge edge = {.client = bb_names_intern(all->names, "client"),
                          .server = bb_names_intern(all->names, "web"),
                          .connections = messages / 10,
                          .packets = messages};
    for (guint i = 0; i < messages / 10; i++)
        bb_round_trip_note(&edge.to_server, 1000 + i * 31 % 977);
    bb_network_add(network, &edge);
    if (messages > 500)
        bb_network_add(network, &(BbNetworkEdge){.client = edge.server, .refused = 1});
    return network;
}

typedef struct Run {
    BbTraceFiles *files;
    GError *error;
    guint64 most;  // bytes in the folder at any moment
    guint fullest; // files likewise
} Run;

static void run_clear(Run *run)
{
    bb_trace_files_free(run->files);
    g_clear_error(&run->error);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Run, run_clear)

static void look(Run *run, const char *folder)
{
    g_autoptr(GPtrArray) paths = list(folder);
    run->most = MAX(run->most, bytes_of(folder));
    run->fullest = MAX(run->fullest, paths->len);
}

// Pushes all with totals each 100 messages. Returns false where writing failed. Asserts nothing.
static bool push_all(Run *run, const Messages *all, const char *folder, guint flush_every)
{
    for (guint i = 0; i < all->messages->len; i++) {
        if (i % 100 == 0)
            bb_trace_files_tell(run->files, counters_at(i), network_at(all, i));
        const BbMessage *message = &g_array_index(all->messages, BbMessage, i);
        if (!bb_trace_files_push(run->files, message, &run->error) ||
            (flush_every && i % flush_every == 0 &&
             !bb_trace_files_flush(run->files, BB_TIME_NONE, &run->error)))
            return false;
        if (folder && i % 50 == 0)
            look(run, folder);
    }
    return true;
}

static void end(Run *run, const Messages *all)
{
    g_autoptr(BbCounters) counters = counters_at(all->messages->len);
    g_autoptr(BbNetwork) network = network_at(all, all->messages->len);
    ck_assert(bb_trace_files_finish(run->files, counters, network, &run->error));
}

static void open_run(Run *run, const Messages *all, const BbTraceFilesOptions *options)
{
    run->files = bb_trace_files_open(options, all->names, &run->error);
    ck_assert_msg(run->files != NULL, "%s", run->error ? run->error->message : "");
}

// ---- names --------------------------------------------------------------------------------------

START_TEST(names_tell_time_and_number)
{
    g_autofree char *a = bb_trace_files_name("/x/ring.bbt", 1795377843 * S + 999999999, 1);
    g_autofree char *b = bb_trace_files_name("a.b/ring", 0, 123456);
    ck_assert_str_eq(a, "/x/ring_20261122T200403Z_00001.bbt");
    ck_assert_str_eq(b, "a.b/ring_19700101T000000Z_123456");
    ck_assert_uint_eq(bb_trace_files_stem("ring_20261122T200403Z_00001"), 4);
    ck_assert_uint_eq(bb_trace_files_stem("/x/r_20261122T200403Z_1234567890"), 4);
    static const char *const others[] = {
        "",
        "00001",
        "_00001",
        "ring",
        "ring_20261122T200403Z_0001",
        "ring_20261122T200403Z_12345678901",
        "ring_2026112xT200403Z_00001",
        "ring_20261122T200403_00001",
        "ring-20261122T200403Z_00001",
        "ring_20261122T200403Z_00001x",
    };
    for (guint i = 0; i < G_N_ELEMENTS(others); i++)
        ck_assert_uint_eq(bb_trace_files_stem(others[i]), strlen(others[i]));
}
END_TEST

// ---- cuts ---------------------------------------------------------------------------------------

static void check_edges(const Messages *all, const Messages *read, const BbNetwork *network)
{
    g_autoptr(BbNetwork) whole = network_at(all, all->messages->len);
    ck_assert_uint_eq(bb_network_count(network), bb_network_count(whole));
    for (guint i = 0; i < bb_network_count(whole); i++) {
        const BbNetworkEdge *a = bb_network_at(whole, i), *b = bb_network_at(network, i);
        ck_assert(same_name(all, a->client, read, b->client) &&
                  same_name(all, a->server, read, b->server));
        for (guint field = 0; field < BB_NETWORK_FIELDS; field++)
            ck_assert_uint_eq(bb_network_field(a, field), bb_network_field(b, field));
    }
}

// Returns the number of files.
static guint check_cut(const Messages *all, Scratch *scratch, BbTraceFilesOptions options,
                       guint flush_every)
{
    g_auto(Run) run = {0};
    options.path = scratch_path(scratch, "t.bbt");
    open_run(&run, all, &options);
    ck_assert(push_all(&run, all, NULL, flush_every));
    end(&run, all);
    g_autoptr(BbNetwork) network = bb_network_new();
    g_autoptr(Messages) read = read_all(scratch->folder, network);
    g_autoptr(BbCounters) totals = counters_at(all->messages->len);
    g_autoptr(GPtrArray) paths = list(scratch->folder);
    check_same(all, read, false);
    check_edges(all, read, network);
    ck_assert_uint_eq(bb_counters_get(read->counters, "frames"), bb_counters_get(totals, "frames"));
    ck_assert_uint_eq(bb_counters_get(read->counters, "tcp_gaps"),
                      bb_counters_get(totals, "tcp_gaps"));
    ck_assert_uint_eq(bb_trace_files_kept(run.files), all->messages->len);
    if (bb_trace_files_is_series(run.files))
        ck_assert_uint_eq(bb_trace_files_made(run.files), paths->len);
    empty(scratch);
    return paths->len;
}

START_TEST(all_files_together_are_the_trace)
{
    g_autoptr(Scratch) scratch = scratch_new();
    g_autoptr(Messages) all = steady(20000, S / 1000); // 20 s
    ck_assert_uint_eq(check_cut(all, scratch, (BbTraceFilesOptions){0}, 0), 1);
    ck_assert_uint_eq(check_cut(all, scratch, (BbTraceFilesOptions){0}, 7), 1);
    ck_assert_uint_eq(check_cut(all, scratch, (BbTraceFilesOptions){.file_ns = S}, 0), 20);
    ck_assert_uint_eq(check_cut(all, scratch, (BbTraceFilesOptions){.file_ns = S}, 33), 20);
    // From 20:04:03 on, cut where time is a multiple.
    ck_assert_uint_eq(check_cut(all, scratch, (BbTraceFilesOptions){.file_ns = 10 * S}, 0), 3);
    ck_assert_uint_eq(check_cut(all, scratch, (BbTraceFilesOptions){.file_ns = 3600 * S}, 0), 1);
    ck_assert_uint_ge(check_cut(all, scratch, (BbTraceFilesOptions){.file_bytes = 4096}, 0), 20);
    ck_assert_uint_ge(check_cut(all, scratch, (BbTraceFilesOptions){.file_bytes = 20000}, 100), 5);
    ck_assert_uint_ge(
        check_cut(all, scratch, (BbTraceFilesOptions){.file_bytes = 50000, .file_ns = 5 * S}, 0),
        5);
}
END_TEST

START_TEST(random_messages_are_cut_anywhere)
{
    guint32 seed = test_seed("random_messages_are_cut_anywhere");
    g_autoptr(Scratch) scratch = scratch_new();
    for (guint round = 0; round < 6; round++) {
        g_autoptr(Messages) all = random_messages(seed + round, 3000);
        g_autoptr(GRand) rand = g_rand_new_with_seed(seed + round);
        for (guint i = 0; i < all->messages->len; i++)
            g_array_index(all->messages, BbMessage, i).time_ns = (gint64)i * (S / 500);
        BbTraceFilesOptions options = {
            .file_bytes = (guint64)g_rand_int_range(rand, 4096, 200000),
            .file_ns = g_rand_boolean(rand) ? S * g_rand_int_range(rand, 1, 4) : 0,
        };
        ck_assert_uint_ge(check_cut(all, scratch, options, (guint)g_rand_int_range(rand, 0, 300)),
                          1);
    }
}
END_TEST

START_TEST(sizes_are_about_what_was_wanted)
{
    g_autoptr(Scratch) scratch = scratch_new();
    g_autoptr(Messages) all = steady(60000, S / 1000);
    static const guint64 sizes[] = {4096, 16384, 65536, 262144};
    for (guint i = 0; i < G_N_ELEMENTS(sizes); i++) {
        g_auto(Run) run = {0};
        open_run(
            &run, all,
            &(BbTraceFilesOptions){.path = scratch_path(scratch, "t.bbt"), .file_bytes = sizes[i]});
        ck_assert(push_all(&run, all, NULL, 0));
        end(&run, all);
        g_autoptr(GPtrArray) paths = list(scratch->folder);
        for (guint file = 0; file + 1 < paths->len; file++) {
            GStatBuf status;
            ck_assert_int_eq(g_stat(paths->pdata[file], &status), 0);
            ck_assert_int_le(status.st_size, (gint64)sizes[i] + 4096);
            ck_assert_int_ge(status.st_size, (gint64)sizes[i] / 4);
            ck_assert_int_le(status.st_blocks, (status.st_size + 8191) / 4096 * 8);
        }
        empty(scratch);
    }
}
END_TEST

START_TEST(a_clock_that_is_set_back_begins_a_file)
{
    g_autoptr(Scratch) scratch = scratch_new();
    g_autoptr(Messages) all = steady(9000, S / 1000);
    for (guint i = 3000; i < 9000; i++)
        g_array_index(all->messages, BbMessage, i).time_ns -= 7200 * S;
    ck_assert_uint_eq(check_cut(all, scratch, (BbTraceFilesOptions){.file_ns = 3600 * S}, 0), 2);
    // Stray stamps do not: one far ahead, others far behind.
    g_autoptr(Messages) stray = steady(9000, S / 1000);
    for (guint i = 10; i < 9000; i += 10)
        g_array_index(stray->messages, BbMessage, i).time_ns -= 7200 * S;
    ck_assert_uint_eq(check_cut(stray, scratch, (BbTraceFilesOptions){.file_ns = 3600 * S}, 0), 1);
    g_array_index(stray->messages, BbMessage, 5000).time_ns += 86400 * S;
    ck_assert_uint_le(check_cut(stray, scratch, (BbTraceFilesOptions){.file_ns = 3600 * S}, 0), 3);
}
END_TEST

// Messages that come when the clock has ended their file do not begin one of their own.
START_TEST(late_messages_go_into_the_next_file)
{
    static const guint want[] = {7, 10, 13};
    g_autoptr(Scratch) scratch = scratch_new();
    g_autoptr(Messages) all = steady(30, S / 10); // from 43.0 s of a minute to 45.9 s
    g_auto(Run) run = {0};
    open_run(&run, all,
             &(BbTraceFilesOptions){.path = scratch_path(scratch, "t.bbt"), .file_ns = S});
    for (guint i = 0; i < 30; i++) {
        if (i == 7 || i == 17)
            ck_assert(bb_trace_files_flush(run.files, (1795377845 + i / 10) * S, &run.error));
        ck_assert(bb_trace_files_push(run.files, &g_array_index(all->messages, BbMessage, i),
                                      &run.error));
    }
    ck_assert(bb_trace_files_finish(run.files, NULL, NULL, &run.error));
    g_autoptr(GPtrArray) paths = list(scratch->folder);
    ck_assert_uint_eq(paths->len, G_N_ELEMENTS(want));
    for (guint i = 0; i < paths->len; i++) {
        g_autoptr(Messages) one = read_path(paths->pdata[i], false);
        ck_assert_uint_eq(one->messages->len, want[i]);
    }
    empty(scratch);
}
END_TEST

START_TEST(a_quiet_file_ends_by_the_clock)
{
    g_autoptr(Scratch) scratch = scratch_new();
    g_autoptr(Messages) all = steady(10, 1000);
    g_auto(Run) run = {0};
    open_run(&run, all,
             &(BbTraceFilesOptions){.path = scratch_path(scratch, "t.bbt"), .file_ns = 10 * S});
    ck_assert(push_all(&run, all, NULL, 0));
    ck_assert(bb_trace_files_flush(run.files, 1795377849 * S, &run.error));
    g_autoptr(GPtrArray) paths = list(scratch->folder);
    ck_assert_uint_eq(paths->len, 1);
    g_autoptr(Messages) open = read_path(paths->pdata[0], false);
    ck_assert_uint_eq(open->messages->len, 10);
    ck_assert_ptr_nonnull(strstr(open->damage, "no end mark"));
    ck_assert(bb_trace_files_flush(run.files, 1795377850 * S + S / 4, &run.error));
    ck_assert(bb_trace_files_is_open(run.files)); // something may be on its way
    ck_assert(bb_trace_files_flush(run.files, 1795377850 * S + S / 2, &run.error));
    g_autoptr(Messages) done = read_path(paths->pdata[0], false);
    check_same(all, done, false);
    ck_assert_ptr_null(done->damage);
    // What is counted later goes into a file without messages; where nothing is, there is none.
    end(&run, all);
    g_autoptr(GPtrArray) after = list(scratch->folder);
    ck_assert_uint_eq(after->len, 2);
    g_autoptr(Messages) both = read_all(scratch->folder, NULL);
    ck_assert_uint_eq(bb_counters_get(both->counters, "frames"), 30);
    empty(scratch);
}
END_TEST

// ---- the ring -----------------------------------------------------------------------------------

START_TEST(ring_of_files)
{
    g_autoptr(Scratch) scratch = scratch_new();
    g_autoptr(Messages) all = steady(20000, S / 1000);
    for (guint most = 2; most <= 30; most += 7) {
        g_auto(Run) run = {0};
        open_run(&run, all,
                 &(BbTraceFilesOptions){
                     .path = scratch_path(scratch, "t.bbt"), .file_ns = S, .ring_files = most});
        ck_assert(push_all(&run, all, scratch->folder, 0));
        end(&run, all);
        look(&run, scratch->folder);
        ck_assert_uint_eq(run.fullest, MIN(most, 20));
        ck_assert_uint_eq(bb_trace_files_deleted(run.files), 20 - MIN(most, 20));
        ck_assert_uint_eq(bb_trace_files_made(run.files), 20);
        g_autoptr(Messages) read = read_all(scratch->folder, NULL);
        ck_assert_uint_eq(read->messages->len, MIN(most, 20) * 1000);
        ck_assert_int_eq(message_at(read, read->messages->len - 1)->time_ns,
                         message_at(all, 19999)->time_ns);
        empty(scratch);
    }
}
END_TEST

START_TEST(ring_of_bytes_is_never_larger)
{
    g_autoptr(Scratch) scratch = scratch_new();
    g_autoptr(Messages) all = steady(40000, S / 1000);
    static const guint64 limits[] = {40960, 100000, 200000};
    for (guint i = 0; i < G_N_ELEMENTS(limits); i++) {
        g_auto(Run) run = {0};
        open_run(&run, all,
                 &(BbTraceFilesOptions){.path = scratch_path(scratch, "t.bbt"),
                                        .file_bytes = limits[i] / 5,
                                        .ring_bytes = limits[i]});
        ck_assert(push_all(&run, all, scratch->folder, 9));
        end(&run, all);
        look(&run, scratch->folder);
        ck_assert_uint_le(run.most, limits[i]);
        ck_assert_uint_ge(run.most, limits[i] / 2);
        ck_assert_uint_gt(bb_trace_files_deleted(run.files), 3);
        g_autoptr(Messages) read = read_all(scratch->folder, NULL);
        ck_assert_int_eq(message_at(read, read->messages->len - 1)->time_ns,
                         message_at(all, 39999)->time_ns);
        empty(scratch);
    }
}
END_TEST

// Files that were there, one that was moved away, and one that was put in the place of ours.
START_TEST(ring_deletes_only_its_own)
{
    g_autoptr(Scratch) scratch = scratch_new();
    g_autoptr(Messages) all = steady(6000, S / 1000);
    g_auto(Run) run = {0};
    const char *old = scratch_file(scratch, "t_20200101T000000Z_00001.bbt", "old", 3);
    const char *taken = scratch_file(scratch, "t_20261122T200403Z_00001.bbt", "taken", 5);
    const char *path = scratch_path(scratch, "t.bbt");
    g_autofree char *found = bb_trace_files_find(path);
    ck_assert_str_eq(found, old);
    open_run(&run, all, &(BbTraceFilesOptions){.path = path, .file_ns = S, .ring_files = 2});
    for (guint i = 0; i < 2500; i++)
        ck_assert(bb_trace_files_push(run.files, message_at(all, i), &run.error));
    const char *second = scratch_path(scratch, "t_20261122T200403Z_00002.bbt"); // 1 is taken
    const char *third = scratch_path(scratch, "t_20261122T200404Z_00003.bbt");
    ck_assert(!g_file_test(second, G_FILE_TEST_EXISTS)); // the ring's oldest
    ck_assert(g_file_test(third, G_FILE_TEST_EXISTS));
    const char *saved = scratch_path(scratch, "saved.bbt");
    ck_assert_int_eq(g_rename(third, saved), 0);
    ck_assert(g_file_set_contents(third, "foreign", 7, NULL));
    for (guint i = 2500; i < 6000; i++)
        ck_assert(bb_trace_files_push(run.files, message_at(all, i), &run.error));
    end(&run, all);
    const char *const kept[] = {old, taken, third, saved};
    for (guint i = 0; i < G_N_ELEMENTS(kept); i++)
        ck_assert_msg(g_file_test(kept[i], G_FILE_TEST_EXISTS), "%s", kept[i]);
    g_autofree char *foreign = NULL;
    ck_assert(g_file_get_contents(third, &foreign, NULL, NULL));
    ck_assert_str_eq(foreign, "foreign");
    ck_assert_uint_eq(bb_trace_files_deleted(run.files), 3);
    empty(scratch);
}
END_TEST

// A file of the ring that somebody deleted, whose inode went to a file of theirs under its name.
START_TEST(ring_knows_its_file_from_one_with_its_inode)
{
    g_autoptr(Scratch) scratch = scratch_new();
    g_autoptr(Messages) all = steady(6000, S / 1000);
    g_auto(Run) run = {0};
    GStatBuf before, after;
    const char *path = scratch_path(scratch, "t.bbt");
    open_run(&run, all, &(BbTraceFilesOptions){.path = path, .file_ns = S, .ring_files = 2});
    for (guint i = 0; i < 1500; i++)
        ck_assert(bb_trace_files_push(run.files, message_at(all, i), &run.error));
    const char *first = scratch_path(scratch, "t_20261122T200403Z_00001.bbt");
    ck_assert_int_eq(g_stat(first, &before), 0);
    ck_assert_int_eq(g_unlink(first), 0);
    FILE *file = fopen(first, "w");
    ck_assert_ptr_nonnull(file);
    (void)fputs("foreign", file);
    (void)fclose(file);
    ck_assert_int_eq(g_stat(first, &after), 0);
    for (guint i = 1500; i < 6000; i++)
        ck_assert(bb_trace_files_push(run.files, message_at(all, i), &run.error));
    end(&run, all);
    g_autofree char *foreign = NULL;
    ck_assert(g_file_get_contents(first, &foreign, NULL, NULL));
    ck_assert_str_eq(foreign, "foreign");
    if (before.st_ino != after.st_ino)
        g_message("this file system gives no inode again at once: not tried");
    empty(scratch);
}
END_TEST

START_TEST(find_knows_its_series)
{
    g_autoptr(Scratch) scratch = scratch_new();
    const char *path = scratch_path(scratch, "t.bbt"), *bare = scratch_path(scratch, "t");
    scratch_file(scratch, "t.bbt", "", 0);
    scratch_file(scratch, "tt_20200101T000000Z_00001.bbt", "", 0);
    scratch_file(scratch, "x_t_20200101T000000Z_00001.bbt", "", 0);
    scratch_file(scratch, "t_20200101T000000Z_00001.bbt.gz", "", 0);
    ck_assert_ptr_null(bb_trace_files_find(path));
    ck_assert_ptr_null(bb_trace_files_find(bare));
    scratch_file(scratch, "t_20200101T000000Z_00007.bbt", "", 0);
    const char *first = scratch_file(scratch, "t_20190101T000000Z_00009.bbt", "", 0);
    g_autofree char *found = bb_trace_files_find(path);
    ck_assert_str_eq(found, first);
    ck_assert_ptr_null(bb_trace_files_find("/nowhere/t.bbt"));
}
END_TEST

// ---- failures -----------------------------------------------------------------------------------

START_TEST(no_folder)
{
    g_autoptr(BbNames) names = bb_names_new();
    g_autoptr(GError) error = NULL;
    BbTraceFilesOptions options = {.path = "/nowhere/t.bbt", .file_ns = S};
    ck_assert_ptr_null(bb_trace_files_open(&options, names, &error));
    ck_assert_ptr_nonnull(strstr(error->message, "/nowhere: cannot make files there"));
}
END_TEST

// Whatever the limit on the size of a file: it ends with a whole block, and what was kept is there.
static void check_limit(const Messages *all, Scratch *scratch, rlim_t limit, guint flush_every,
                        guint64 file_bytes)
{
    const struct rlimit small = {limit, RLIM_INFINITY}, none = {RLIM_INFINITY, RLIM_INFINITY};
    g_auto(Run) run = {0};
    open_run(
        &run, all,
        &(BbTraceFilesOptions){.path = scratch_path(scratch, "t.bbt"), .file_bytes = file_bytes});
    g_autoptr(GError) ending = NULL;
    g_autoptr(BbCounters) counters = counters_at(77);
    (void)setrlimit(RLIMIT_FSIZE, &small); // an assertion here would write to a file of its own
    bool failed = !push_all(&run, all, NULL, flush_every) ||
                  !bb_trace_files_finish(run.files, counters, NULL, &run.error);
    bool ended = bb_trace_files_salvage(run.files, counters, &ending);
    (void)setrlimit(RLIMIT_FSIZE, &none);
    ck_assert_msg(failed, "limit %u", (guint)limit);
    ck_assert_ptr_nonnull(strstr(run.error->message, ": cannot write: File too large"));
    g_autoptr(GPtrArray) paths = list(scratch->folder);
    guint64 read = 0;
    for (guint i = 0; i < paths->len; i++) {
        g_autoptr(Messages) part = read_path(paths->pdata[i], false);
        read += part->messages->len;
        bool last = i + 1 == paths->len;
        ck_assert(!part->error);
        ck_assert_msg(!part->damage || (last && !ended), "%s", part->damage);
        ck_assert(!part->damage || !strstr(part->damage, "bytes skipped"));
        if (last && ended && !file_bytes)
            ck_assert_uint_eq(bb_counters_get(part->counters, "frames"), 231);
    }
    ck_assert_uint_eq(read, bb_trace_files_kept(run.files));
    empty(scratch);
}

START_TEST(a_full_disk_keeps_what_is_whole)
{
    (void)signal(SIGXFSZ, SIG_IGN);
    g_autoptr(Scratch) scratch = scratch_new();
    g_autoptr(Messages) all = steady(20000, S / 1000);
    for (rlim_t limit = 0; limit < 60000; limit += 997)
        check_limit(all, scratch, limit, 50, 0);
    for (rlim_t limit = 0; limit < 9000; limit += 899) // less than it takes without flushes
        check_limit(all, scratch, limit, 0, 0);
    for (rlim_t limit = 0; limit < 9000; limit += 499)
        check_limit(all, scratch, limit, 50, 10000);
}
END_TEST

// ---- the end of the process ---------------------------------------------------------------------

START_TEST(what_is_flushed_is_there)
{
    g_autoptr(Scratch) scratch = scratch_new();
    g_autoptr(Messages) all = steady(3000, S / 1000);
    static const BbTraceSync syncs[] = {BB_TRACE_SYNC_NEVER, BB_TRACE_SYNC_FILE,
                                        BB_TRACE_SYNC_FLUSH};
    for (guint s = 0; s < G_N_ELEMENTS(syncs); s++) {
        g_auto(Run) run = {0};
        open_run(&run, all,
                 &(BbTraceFilesOptions){
                     .path = scratch_path(scratch, "t.bbt"), .file_ns = S, .sync = syncs[s]});
        for (guint i = 0; i < all->messages->len; i++) {
            ck_assert(bb_trace_files_push(run.files, message_at(all, i), &run.error));
            if (i % 300 != 299)
                continue;
            ck_assert(bb_trace_files_flush(run.files, BB_TIME_NONE, &run.error));
            g_autoptr(GPtrArray) paths = list(scratch->folder);
            guint read = 0;
            for (guint file = 0; file < paths->len; file++) {
                g_autoptr(Messages) part = read_path(paths->pdata[file], false);
                read += part->messages->len;
                ck_assert(!part->damage == (file + 1 < paths->len));
            }
            ck_assert_uint_eq(read, i + 1);
        }
        end(&run, all);
        empty(scratch);
    }
}
END_TEST

START_TEST(a_file_is_valid_from_the_first_message_on)
{
    g_autoptr(Scratch) scratch = scratch_new();
    g_autoptr(Messages) all = steady(1, 1);
    g_auto(Run) run = {0};
    open_run(&run, all,
             &(BbTraceFilesOptions){.path = scratch_path(scratch, "t.bbt"), .file_ns = S});
    ck_assert(bb_trace_files_push(run.files, message_at(all, 0), &run.error));
    g_autoptr(GPtrArray) paths = list(scratch->folder);
    g_autoptr(Messages) read = read_path(paths->pdata[0], false);
    ck_assert_ptr_null(read->error);
    ck_assert_ptr_nonnull(strstr(read->damage, "no end mark"));
    ck_assert_uint_eq(read->messages->len, 0);
    empty(scratch);
}
END_TEST

// A note that is wanted stands in each file, before its messages: also a broken one has it.
START_TEST(each_file_has_the_note)
{
    g_autoptr(Scratch) scratch = scratch_new();
    g_autoptr(Messages) all = steady(40, S / 10);
    for (guint series = 0; series < 2; series++) {
        g_auto(Run) run = {0};
        open_run(&run, all,
                 &(BbTraceFilesOptions){.path = scratch_path(scratch, "t.bbt"),
                                        .file_ns = series ? S : 0,
                                        .notes = (const char *const[]){"by the host clock", NULL}});
        ck_assert(push_all(&run, all, NULL, 1));
        g_autoptr(GPtrArray) paths = list(scratch->folder);
        ck_assert_uint_eq(paths->len, series ? 4 : 1);
        for (guint i = 0; i < paths->len; i++) {
            g_autoptr(Messages) read = messages_new();
            g_autoptr(BbTraceReader) reader =
                bb_trace_reader_open(paths->pdata[i], read->names, &read->error);
            BbMessage message;
            ck_assert(bb_trace_reader_next(reader, &message, &read->error));
            ck_assert_uint_eq(bb_trace_reader_notes(reader), 1);
            ck_assert_str_eq(bb_trace_reader_note(reader, 0), "by the host clock");
        }
        empty(scratch);
    }
}
END_TEST

static guint files_with_note(const char *folder, const char *note)
{
    g_autoptr(GPtrArray) paths = list(folder);
    guint found = 0;
    for (guint i = 0; i < paths->len; i++) {
        BbMessage message;
        g_autoptr(Messages) read = messages_new();
        g_autoptr(BbTraceReader) reader =
            bb_trace_reader_open(paths->pdata[i], read->names, &read->error);
        while (bb_trace_reader_next(reader, &message, &read->error))
            continue;
        ck_assert(!read->error && !bb_trace_reader_damage(reader));
        for (guint n = 0; n < bb_trace_reader_notes(reader); n++)
            found += g_str_equal(bb_trace_reader_note(reader, n), note);
    }
    return found;
}

// A note that comes between two files: the next one has it; where there is none, the end makes it.
START_TEST(a_note_between_files_is_kept)
{
    g_autoptr(Scratch) scratch = scratch_new();
    g_autoptr(Messages) all = steady(2, S);
    for (guint notes = 0; notes < 3; notes++) { // none, in the end, before another file
        g_auto(Run) run = {0};
        open_run(&run, all,
                 &(BbTraceFilesOptions){.path = scratch_path(scratch, "t.bbt"), .file_ns = S});
        bb_trace_files_tell(run.files, counters_at(2), network_at(all, 2));
        ck_assert(bb_trace_files_push(run.files, message_at(all, 0), &run.error));
        ck_assert(bb_trace_files_flush(run.files, G_MAXINT64 - 1, &run.error));
        ck_assert(!bb_trace_files_is_open(run.files));
        ck_assert(!notes || bb_trace_files_keep_note(run.files, "between", &run.error));
        if (notes == 2) {
            ck_assert(bb_trace_files_push(run.files, message_at(all, 1), &run.error));
            ck_assert(bb_trace_files_flush(run.files, G_MAXINT64 - 1, &run.error));
        }
        end(&run, all);
        ck_assert_uint_eq(bb_trace_files_made(run.files), notes ? 2 : 1);
        ck_assert_uint_eq(files_with_note(scratch->folder, "between"), notes ? 1 : 0);
        empty(scratch);
    }
}
END_TEST

TEST_MAIN("trace_files", names_tell_time_and_number, all_files_together_are_the_trace,
          random_messages_are_cut_anywhere, sizes_are_about_what_was_wanted,
          a_clock_that_is_set_back_begins_a_file, late_messages_go_into_the_next_file,
          a_quiet_file_ends_by_the_clock, ring_of_files, ring_of_bytes_is_never_larger,
          ring_deletes_only_its_own, ring_knows_its_file_from_one_with_its_inode,
          find_knows_its_series, no_folder, a_full_disk_keeps_what_is_whole,
          what_is_flushed_is_there, a_file_is_valid_from_the_first_message_on,
          each_file_has_the_note, a_note_between_files_is_kept)
