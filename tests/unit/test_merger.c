// SPDX-License-Identifier: Apache-2.0
// Many files become one order: any number of them, whatever may be open at once, damaged or not.
#include "tests/unit/merge_lines.h"

typedef struct Flow {
    GArray *times; // gint64
    GArray *inputs;
    guint64 fail_at;
} Flow;

static Flow flow_new(void)
{
    return (Flow){
        .times = g_array_new(FALSE, FALSE, sizeof(gint64)),
        .inputs = g_array_new(FALSE, FALSE, sizeof(guint)),
        .fail_at = G_MAXUINT64,
    };
}

static void flow_clear(Flow *flow)
{
    g_array_unref(flow->times);
    g_array_unref(flow->inputs);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Flow, flow_clear)

static bool take(const BbMessage *message, guint input, gpointer user, GError **error)
{
    Flow *flow = user;
    if (flow->times->len == flow->fail_at) {
        g_set_error_literal(error, BB_TRACE_ERROR, BB_TRACE_ERROR_MESSAGE, "full");
        return false;
    }
    g_array_append_val(flow->times, message->time_ns);
    g_array_append_val(flow->inputs, input);
    return true;
}

static gint64 time_at(const Flow *flow, guint i)
{
    return g_array_index(flow->times, gint64, i);
}

// A .bbt of count messages from start_ns on, step_ns apart.
static const char *add_file(Merge *merge, const char *name, gint64 start_ns, gint64 step_ns,
                            guint count)
{
    const char *path = scratch_path(merge->scratch, name);
    g_autoptr(BbTraceWriter) writer = bb_trace_writer_open(path, BB_TRACE_BBT, merge->names, NULL);
    BbMessage message = bb_message_empty();
    message.sender = bb_names_intern(merge->names, "a");
    message.receiver = bb_names_intern(merge->names, "b");
    for (guint i = 0; i < count; i++) {
        message.time_ns = start_ns + i * step_ns;
        ck_assert(bb_trace_writer_push(writer, &message, NULL));
    }
    g_autoptr(BbCounters) counters = bb_counters_new();
    bb_counters_add(counters, "tcp_gaps", 1);
    ck_assert(bb_trace_writer_finish(writer, counters, NULL));
    g_ptr_array_add(merge->paths, (gpointer)path);
    return path;
}

static BbMerger *new_merger(Merge *merge, guint open_max)
{
    g_ptr_array_add(merge->paths, NULL);
    return bb_merger_new(&(BbMergerOptions){.open_max = open_max}, merge->names,
                         (const char *const *)(gpointer)merge->paths->pdata);
}

static void expect_order(const Flow *flow, guint count)
{
    ck_assert_uint_eq(flow->times->len, count);
    for (guint i = 1; i < count; i++) {
        ck_assert_int_le(time_at(flow, i - 1), time_at(flow, i));
        if (time_at(flow, i - 1) == time_at(flow, i))
            ck_assert_uint_le(g_array_index(flow->inputs, guint, i - 1),
                              g_array_index(flow->inputs, guint, i));
    }
}

// Files that all overlap, with ties, far more than may be open.
START_TEST(more_files_than_may_be_open)
{
    static const guint open_max[] = {1, 4, 6, 9, 16, 1000};
    g_autoptr(GArray) first = NULL;
    for (gsize k = 0; k < G_N_ELEMENTS(open_max); k++) {
        g_autoptr(Merge) merge = merge_new();
        g_auto(Flow) flow = flow_new();
        for (guint i = 0; i < 60; i++) {
            g_autofree char *name = g_strdup_printf("f%u.bbt", i);
            (void)add_file(merge, name, 1000 + (i % 7) * 5, 1 + i % 3, 50);
        }
        merge->merger = new_merger(merge, open_max[k]);
        ck_assert(bb_merger_run(merge->merger, take, &flow, NULL));
        expect_order(&flow, 3000);
        ck_assert_uint_eq(bb_merger_messages(merge->merger), 3000);
        ck_assert_uint_eq(bb_merger_inputs_done(merge->merger), 60);
        ck_assert_uint_eq(bb_merger_late(merge->merger), 0);
        ck_assert_uint_eq(bb_counters_get(bb_merger_counters(merge->merger), "tcp_gaps"), 60);
        if (!first)
            first = g_array_ref(flow.inputs);
        ck_assert_mem_eq(first->data, flow.inputs->data, 3000 * sizeof(guint));
    }
}
END_TEST

// Open files, by the kernel's list.
static guint count_open(void)
{
    guint count = 0;
    g_autoptr(GDir) dir = g_dir_open("/proc/self/fd", 0, NULL);
    while (dir && g_dir_read_name(dir))
        count++;
    return count;
}

static bool watch_open(const BbMessage *message, guint input, gpointer user, GError **error)
{
    guint *most = user;
    *most = MAX(*most, count_open());
    return true;
}

START_TEST(files_are_open_only_while_they_are_due)
{
    g_autoptr(Merge) merge = merge_new();
    guint before = count_open(), most = 0;
    for (guint i = 0; i < 100; i++) { // one after the other, given in reverse
        g_autofree char *name = g_strdup_printf("f%u.bbt", i);
        (void)add_file(merge, name, 100000 - i * 1000, 10, 50);
    }
    merge->merger = new_merger(merge, 0);
    ck_assert(bb_merger_run(merge->merger, watch_open, &most, NULL));
    ck_assert_uint_le(most, before + 2);
    ck_assert_uint_eq(count_open(), before);
}
END_TEST

START_TEST(a_scan_makes_the_run_right_too)
{
    g_autoptr(Merge) merge = merge_new();
    g_auto(Flow) scanned = flow_new();
    g_auto(Flow) flow = flow_new();
    (void)add_file(merge, "late.bbt", 500, 10, 5);
    MERGE_ADD(merge, "mess.txt", "0.0000009 M a b -", "0.0000001 M a b -", "0.0000005 M a b -");
    MERGE_ADD(merge, "none.txt", NULL);
    merge->merger = new_merger(merge, 0);
    ck_assert(bb_merger_scan(merge->merger, take, &scanned, NULL));
    ck_assert_uint_eq(scanned.times->len, 8);
    ck_assert_int_eq(time_at(&scanned, 0), 500);
    ck_assert_int_eq(time_at(&scanned, 5), 900);
    ck_assert(bb_merger_run(merge->merger, take, &flow, NULL));
    expect_order(&flow, 8);
    ck_assert_int_eq(time_at(&flow, 0), 100);
    ck_assert_uint_eq(bb_merger_messages(merge->merger), 8);
    ck_assert(bb_merger_can_repeat(merge->merger));
}
END_TEST

static void later(BbMessage *message, BbMergerPlace *place, gpointer user)
{
    if (place->input == 0)
        message->time_ns += *(gint64 *)user;
}

START_TEST(what_prepare_changes_counts)
{
    g_autoptr(Merge) merge = merge_new();
    gint64 shift_ns = 100000;
    (void)add_file(merge, "a.bbt", 1000, 1, 10);
    (void)add_file(merge, "b.bbt", 2000, 1, 10);
    merge->merger = new_merger(merge, 0);
    for (guint turn = 0; turn < 2; turn++) {
        g_auto(Flow) flow = flow_new();
        ck_assert(bb_merger_run(merge->merger, take, &flow, NULL));
        expect_order(&flow, 20);
        ck_assert_uint_eq(g_array_index(flow.inputs, guint, 0), turn);
        ck_assert_int_eq(time_at(&flow, 19), turn ? 101009 : 2009);
        bb_merger_prepare_by(merge->merger, &(BbMergerPreparer){later, NULL, &shift_ns});
    }
}
END_TEST

// As a clock has it that was set back: what it shows first came last.
static void set_back(BbMessage *message, BbMergerPlace *place, gpointer user)
{
    place->part = message->time_ns < 100000;
    message->time_ns += place->part ? 1000000 : 0;
}

static guint two_parts(guint32 observer, gpointer user)
{
    return 2;
}

// However far apart in the file what is next to each other is.
START_TEST(parts_of_a_file_are_read_as_files)
{
    static const guint open_max[] = {4, 0};
    for (guint i = 0; i < G_N_ELEMENTS(open_max); i++) {
        g_autoptr(Merge) merge = merge_new();
        g_auto(Flow) scanned = flow_new();
        g_auto(Flow) flow = flow_new();
        for (guint k = 0; k < 5; k++) {
            g_autofree char *name = g_strdup_printf("f%u.bbt", k);
            (void)add_file(merge, name, k ? 1000 : 0, 1, k ? 5 : 200000);
        }
        merge->merger = new_merger(merge, open_max[i]);
        ck_assert(bb_merger_scan(merge->merger, take, &scanned, NULL));
        bb_merger_prepare_by(merge->merger, &(BbMergerPreparer){set_back, two_parts, NULL});
        ck_assert(bb_merger_run(merge->merger, take, &flow, NULL));
        expect_order(&flow, 200020);
        ck_assert_int_eq(time_at(&flow, 0), 100000);
        ck_assert_int_eq(time_at(&flow, 200019), 1099999);
        ck_assert_uint_eq(bb_merger_late(merge->merger), 0);
        ck_assert_uint_eq(bb_merger_inputs_done(merge->merger), 5);
        ck_assert_uint_eq(bb_counters_get(bb_merger_counters(merge->merger), "tcp_gaps"), 5);
        ck_assert(bb_merger_run(merge->merger, take, &flow, NULL));
        ck_assert_uint_eq(flow.times->len, 2 * 200020);
    }
}
END_TEST

// A time or 500 ns later, whichever is nearer to what was before.
static void nearer(BbMessage *message, BbMergerPlace *place, gpointer user)
{
    gint64 time_ns = message->time_ns;
    if (place->last_ns != G_MININT64 &&
        ABS(time_ns + 500 - place->last_ns) < ABS(time_ns - place->last_ns))
        message->time_ns += 500;
    place->last_ns = message->time_ns;
    place->part = message->time_ns > time_ns;
}

START_TEST(a_file_goes_on_where_the_one_before_it_ended)
{
    g_autoptr(Merge) merge = merge_new();
    g_auto(Flow) scanned = flow_new();
    g_auto(Flow) flow = flow_new();
    MERGE_ADD(merge, "1.txt", "0.0000006 M a b - obs=x", "0.0000008 M a b - obs=x",
              "0.0000009 M a b - obs=x", NULL);
    MERGE_ADD(merge, "2.txt", "0.0000005 M a b - obs=x", "0.0000007 M a b - obs=x", NULL);
    MERGE_ADD(merge, "3.txt", "0.0000005 M a b - obs=y", NULL);
    merge->merger = new_merger(merge, 0);
    ck_assert(bb_merger_scan(merge->merger, take, &scanned, NULL));
    bb_merger_prepare_by(merge->merger, &(BbMergerPreparer){nearer, two_parts, NULL});
    ck_assert(bb_merger_run(merge->merger, take, &flow, NULL));
    static const gint64 want[] = {500, 600, 800, 900, 1000, 1200};
    ck_assert_uint_eq(flow.times->len, G_N_ELEMENTS(want));
    for (guint i = 0; i < G_N_ELEMENTS(want); i++)
        ck_assert_int_eq(time_at(&flow, i), want[i]);
}
END_TEST

START_TEST(a_corrupt_file_costs_its_bad_block)
{
    g_autoptr(Merge) merge = merge_new();
    g_auto(Flow) flow = flow_new();
    bool failed = true;
    (void)add_file(merge, "a.bbt", 1000, 3, 20000);
    const char *bad = add_file(merge, "bad.bbt", 1000, 5, 20000);
    (void)add_file(merge, "c.bbt", 1000, 7, 20000);
    g_autofree char *bytes = NULL;
    gsize size = 0;
    ck_assert(g_file_get_contents(bad, &bytes, &size, NULL));
    bytes[size / 2] ^= 0x40;
    ck_assert(g_file_set_contents(bad, bytes, (gssize)size, NULL));
    merge->merger = new_merger(merge, 0);
    ck_assert(bb_merger_run(merge->merger, take, &flow, NULL));
    ck_assert_uint_ge(flow.times->len, 60000 - 8192);
    ck_assert_uint_lt(flow.times->len, 60000);
    expect_order(&flow, flow.times->len);
    const char *complaint = bb_merger_complaint(merge->merger, 0, &failed);
    ck_assert_ptr_nonnull(complaint);
    ck_assert(g_str_has_prefix(complaint, bad));
    ck_assert(!failed);
    ck_assert_ptr_null(bb_merger_complaint(merge->merger, 1, &failed));
}
END_TEST

START_TEST(a_file_that_is_none_costs_itself)
{
    g_autoptr(Merge) merge = merge_new();
    g_auto(Flow) flow = flow_new();
    bool failed = false;
    g_ptr_array_add(merge->paths, (gpointer) "/nowhere/at/all");
    (void)add_file(merge, "a.bbt", 1000, 3, 20);
    g_ptr_array_add(merge->paths, (gpointer)scratch_file(merge->scratch, "no.bbt", "\1\2\3", 3));
    MERGE_ADD(merge, "half.txt", "0.5 M a b -", "0.6 M a b - off=zero");
    merge->merger = new_merger(merge, 0);
    ck_assert(bb_merger_run(merge->merger, take, &flow, NULL));
    expect_order(&flow, 21);
    for (guint i = 0; i < 3; i++) {
        static const char *const words[] = {"/nowhere/at/all", "no.bbt", "half.txt:3"};
        const char *complaint = bb_merger_complaint(merge->merger, i, &failed);
        ck_assert_ptr_nonnull(complaint);
        ck_assert_ptr_nonnull(strstr(complaint, words[i]));
        ck_assert(failed);
    }
    ck_assert_ptr_null(bb_merger_complaint(merge->merger, 3, &failed));
}
END_TEST

START_TEST(observers_are_the_files_unless_they_say_so)
{
    g_autoptr(Merge) merge = merge_new();
    MERGE_ADD(merge, "here.txt", "1 M a b -", "5 M a b - obs=there");
    merge_with(merge, BB_JOIN_KEYS);
    MERGE_EXPECT(merge, "1 M a b - obs=here", "5 M a b - obs=there");
    ck_assert_str_eq(bb_names_text(merge->names, bb_merger_observer(merge->merger, 0)), "here");
    ck_assert_uint_eq(bb_merger_inputs(merge->merger), 1);
}
END_TEST

START_TEST(a_failing_sink_ends_the_run)
{
    g_autoptr(Merge) merge = merge_new();
    g_auto(Flow) flow = flow_new();
    g_autoptr(GError) error = NULL;
    for (guint i = 0; i < 20; i++) {
        g_autofree char *name = g_strdup_printf("f%u.bbt", i);
        (void)add_file(merge, name, 1000, 1, 10);
    }
    merge->merger = new_merger(merge, 4);
    flow.fail_at = 17;
    ck_assert(!bb_merger_run(merge->merger, take, &flow, &error));
    ck_assert_str_eq(error->message, "full");
    ck_assert_uint_eq(flow.times->len, 17);
    flow.fail_at = G_MAXUINT64; // and nothing of it stays
    g_array_set_size(flow.times, 0);
    ck_assert(bb_merger_run(merge->merger, take, &flow, NULL));
    ck_assert_uint_eq(flow.times->len, 200);
}
END_TEST

START_TEST(no_place_for_temporary_files)
{
    g_autofree char *folder = g_strdup("/tmp/bbtrace-test-XXXXXX");
    g_autofree char *gone = g_strdup("/tmp/bbtrace-test-XXXXXX");
    g_autoptr(BbNames) names = bb_names_new();
    g_autoptr(GPtrArray) paths = g_ptr_array_new_with_free_func(g_free);
    g_autoptr(GError) error = NULL;
    g_auto(Flow) flow = flow_new();
    ck_assert_ptr_nonnull(g_mkdtemp(folder));
    ck_assert_ptr_nonnull(g_mkdtemp(gone));
    g_setenv("TMPDIR", gone, TRUE);
    ck_assert_str_eq(g_get_tmp_dir(), gone); // GLib keeps its first answer
    ck_assert_int_eq(g_rmdir(gone), 0);
    for (guint i = 0; i < 20; i++) {
        char *path = g_strdup_printf("%s/f%u.txt", folder, i);
        ck_assert(g_file_set_contents(path, "# bbtrace text 1\n1 MSG_SENT a b -\n", -1, NULL));
        g_ptr_array_add(paths, path);
    }
    g_ptr_array_add(paths, NULL);
    const char *const *list = (const char *const *)(gpointer)paths->pdata;
    g_autoptr(BbMerger) merger = bb_merger_new(&(BbMergerOptions){.open_max = 4}, names, list);
    ck_assert(!bb_merger_run(merger, take, &flow, &error));
    ck_assert_ptr_nonnull(strstr(error->message, gone));
    for (guint i = 0; i < 20; i++)
        (void)g_unlink(paths->pdata[i]);
    ck_assert_int_eq(g_rmdir(folder), 0);
}
END_TEST

TEST_MAIN("merger", more_files_than_may_be_open, files_are_open_only_while_they_are_due,
          a_scan_makes_the_run_right_too, what_prepare_changes_counts,
          parts_of_a_file_are_read_as_files, a_file_goes_on_where_the_one_before_it_ended,
          a_corrupt_file_costs_its_bad_block, a_file_that_is_none_costs_itself,
          observers_are_the_files_unless_they_say_so, a_failing_sink_ends_the_run,
          no_place_for_temporary_files)
