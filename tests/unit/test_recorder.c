// SPDX-License-Identifier: Apache-2.0
// The ring of a flight recorder. Its slow twin is a list of all that was pushed: what is read is
// the end of the list, at every moment, and what damage takes is the sub-buffer that it is in.
#include "data/recorder.h"

#include "data/recorder_form.h"

#include "tests/unit/scratch.h"
#include "tests/unit/traces.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#define RING_SIZE BB_RECORDER_SIZE_MIN // 16 sub-buffers of 64 KiB
#define SUB ((gsize)64 << 10)
#define SUBS 16u
#define PAGE ((gsize)4096)

static BbRecorder *open_ring(const char *path, const Messages *all)
{
    g_autoptr(GError) error = NULL;
    BbRecorder *recorder = bb_recorder_open(path, RING_SIZE, all->names, &error);
    ck_assert_msg(recorder != NULL, "%s", error ? error->message : "");
    return recorder;
}

static void push(BbRecorder *recorder, const Messages *all, guint from, guint to)
{
    for (guint i = from; i < to; i++)
        bb_recorder_push(recorder, message_at(all, i % all->messages->len));
}

// In the order of recording.
static Messages *read_ring(const char *path, BbRecorderFindings *findings)
{
    Messages *got = messages_new();
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    g_autoptr(BbRecorderReader) reader = bb_recorder_reader_open(fd, path, &got->error);
    ck_assert_msg(reader != NULL, "%s", got->error ? got->error->message : "");
    BbMessage message;
    while (bb_recorder_read(reader, got->names, &message, &got->error))
        messages_keep(got, message);
    ck_assert_ptr_null(got->error);
    *findings = bb_recorder_reader_findings(reader);
    return got;
}

// Of a file with these bytes.
static Messages *read_image(const char *path, gconstpointer bytes, gsize size,
                            BbRecorderFindings *findings)
{
    FILE *file = fopen(path, "wb"); // no fsync, as g_file_set_contents has
    ck_assert_ptr_nonnull(file);
    ck_assert_uint_eq(fwrite(bytes, 1, size, file), size);
    ck_assert_int_eq(fclose(file), 0);
    return read_ring(path, findings);
}

static bool is_undamaged(const BbRecorderFindings *findings)
{
    return findings->lost + findings->damaged + findings->overwritten == 0 && !findings->headless;
}

// Whether got is messages [to - got, to) of the list, which goes round.
static void check_end_of(const Messages *all, guint to, const Messages *got)
{
    guint count = got->messages->len;
    ck_assert_uint_le(count, to);
    for (guint i = 0; i < count; i++)
        if (!same_message(all, message_at(all, (to - count + i) % all->messages->len), got,
                          message_at(got, i), true))
            ck_abort_msg("message %u of %u differs", i, count);
}

START_TEST(gives_back_what_was_recorded)
{
    guint32 seed = test_seed("recorder");
    g_autoptr(Scratch) scratch = scratch_new();
    g_autoptr(Messages) all = random_messages(seed, 3000);
    const char *path = scratch_path(scratch, "ring");
    g_autoptr(BbRecorder) recorder = open_ring(path, all);
    push(recorder, all, 0, 3000);
    ck_assert_uint_eq(bb_recorder_messages(recorder), 3000);
    ck_assert_uint_eq(bb_recorder_left_out(recorder), 0);
    ck_assert_uint_eq(bb_recorder_size(recorder), PAGE + SUBS * SUB);
    BbRecorderFindings findings;
    g_autoptr(Messages) got = read_ring(path, &findings);
    ck_assert(is_undamaged(&findings));
    ck_assert_uint_eq(findings.runs, 1);
    check_same(all, got, true);
}
END_TEST

// The process could be gone at each of these moments: nothing is done to end the ring.
START_TEST(ends_with_the_newest_at_every_moment)
{
    guint32 seed = test_seed("recorder");
    g_autoptr(GRand) rand = g_rand_new_with_seed(seed);
    g_autoptr(Scratch) scratch = scratch_new();
    g_autoptr(Messages) all = random_messages(seed, 5000);
    const char *path = scratch_path(scratch, "ring");
    g_autoptr(BbRecorder) recorder = open_ring(path, all);
    guint pushed = 0, least = G_MAXUINT;
    for (guint moment = 0; moment < 45; moment++) {
        guint more = (guint)g_rand_int_range(rand, 0, 1500);
        push(recorder, all, pushed, pushed + more);
        pushed += more;
        BbRecorderFindings findings;
        g_autoptr(Messages) got = read_ring(path, &findings);
        ck_assert(is_undamaged(&findings));
        check_end_of(all, pushed, got);
        if (pushed > 20000) // it has gone round: of 16 sub-buffers at least 15 are full
            least = MIN(least, got->messages->len);
        else if (pushed < 5000)
            ck_assert_uint_eq(got->messages->len, pushed);
    }
    ck_assert_uint_gt(pushed, 20000);
    ck_assert_uint_gt(least, (SUBS - 1) * SUB / 260); // bytes of a message here, and its names
    ck_assert_uint_ne(least, G_MAXUINT);
}
END_TEST

// A full ring as bytes, and which of its messages are in which sub-buffer.
typedef struct {
    Scratch *scratch;
    const char *path;
    Messages *all;
    char *bytes;
    gsize size;
    Messages *whole;   // what is read of it
    guint begin[SUBS]; // in whole, of the messages in that place of the file
    guint end[SUBS];
} Image;

static guint messages_without(Image *image, guint place)
{
    g_autofree char *copy = g_memdup2(image->bytes, image->size);
    memset(copy + PAGE + place * SUB, 0, SUB);
    BbRecorderFindings findings;
    g_autoptr(Messages) got = read_image(image->path, copy, image->size, &findings);
    guint i = 0, whole = image->whole->messages->len;
    while (i < got->messages->len &&
           same_message(image->whole, message_at(image->whole, i), got, message_at(got, i), true))
        i++;
    image->begin[place] = i;
    image->end[place] = i + whole - got->messages->len;
    return whole - got->messages->len;
}

static void image_init(Image *image, guint32 seed, guint count)
{
    *image = (Image){.scratch = scratch_new(), .all = random_messages(seed, count)};
    image->path = scratch_path(image->scratch, "image");
    const char *ring = scratch_path(image->scratch, "ring");
    g_autoptr(BbRecorder) recorder = open_ring(ring, image->all);
    push(recorder, image->all, 0, count);
    ck_assert(g_file_get_contents(ring, &image->bytes, &image->size, NULL));
    BbRecorderFindings findings;
    image->whole = read_ring(ring, &findings);
    guint sum = 0;
    for (guint place = 0; place < SUBS; place++)
        sum += messages_without(image, place);
    ck_assert_uint_eq(sum, image->whole->messages->len);
}

static void image_clear(Image *image)
{
    scratch_free(image->scratch);
    messages_free(image->all);
    messages_free(image->whole);
    g_free(image->bytes);
}

// Of a file where sub-buffer place was damaged, and perhaps the head of the file: all other
// messages are there, and of its own only some that it has, from its first one on.
static void check_survivors(Image *image, const char *copy, gsize size, guint place)
{
    BbRecorderFindings findings;
    g_autoptr(Messages) got = read_image(image->path, copy, size, &findings);
    guint begin = image->begin[place], end = image->end[place];
    guint whole = image->whole->messages->len, missing = whole - got->messages->len;
    ck_assert_uint_le(missing, end - begin);
    for (guint i = 0; i < got->messages->len; i++) {
        guint was = i < end - missing ? i : i + missing;
        if (!same_message(image->whole, message_at(image->whole, was), got, message_at(got, i),
                          true))
            ck_abort_msg("message %u of place %u", i, place);
    }
    bool told = findings.lost == missing || (begin == 0 && missing == end && !findings.lost);
    ck_assert(told || end == whole); // nothing tells how many came behind the last one
}

START_TEST(damage_costs_its_own_sub_buffer_only)
{
    guint32 seed = test_seed("recorder");
    g_autoptr(GRand) rand = g_rand_new_with_seed(seed);
    Image image;
    image_init(&image, seed, 15000);
    for (guint round = 0; round < (TEST_SANITIZED ? 20 : 80); round++) {
        guint place = (guint)g_rand_int_range(rand, 0, SUBS);
        g_autofree char *copy = g_memdup2(image.bytes, image.size);
        char *sub = copy + PAGE + place * SUB;
        bool zero = g_rand_boolean(rand), head = g_rand_int_range(rand, 0, 4) == 0;
        guint bytes = (guint)g_rand_int_range(rand, 1, 200);
        gsize at = (gsize)g_rand_int_range(rand, 0, head ? 64 : SUB);
        for (guint i = 0; i < bytes && at + i < SUB; i++)
            sub[at + i] = zero ? 0 : (char)(sub[at + i] ^ g_rand_int_range(rand, 1, 256));
        if (g_rand_boolean(rand)) // the head of the file, behind its magic
            copy[8 + g_rand_int_range(rand, 0, 16)] ^= 0x55;
        check_survivors(&image, copy, image.size, place);
    }
    image_clear(&image);
}
END_TEST

START_TEST(a_cut_costs_what_is_behind_it)
{
    guint32 seed = test_seed("recorder");
    g_autoptr(GRand) rand = g_rand_new_with_seed(seed);
    Image image;
    image_init(&image, seed, 2500); // has not gone round: the order is that of the file
    for (guint round = 0; round < 40; round++) {
        gsize size = (gsize)g_rand_int_range(rand, 8, (gint32)image.size);
        BbRecorderFindings findings;
        g_autoptr(Messages) got = read_image(image.path, image.bytes, size, &findings);
        guint count = got->messages->len, place = (guint)((size - MIN(size, PAGE)) / SUB);
        for (guint i = 0; i < count; i++)
            ck_assert(
                same_message(image.all, message_at(image.all, i), got, message_at(got, i), true));
        ck_assert_uint_ge(count, place < SUBS ? image.begin[place] : 2500);
    }
    image_clear(&image);
}
END_TEST

START_TEST(a_later_run_goes_on)
{
    g_autoptr(Scratch) scratch = scratch_new();
    g_autoptr(Messages) all = messages_new();
    BbMessage call = bb_message_empty();
    call.kind = BB_CALL;
    call.time_ns = 1000;
    call.sender = bb_names_intern(all->names, "a");
    call.receiver = bb_names_intern(all->names, "b");
    const char *path = scratch_path(scratch, "ring");
    for (guint run = 1; run <= 3; run++) {
        g_autoptr(BbRecorder) recorder = open_ring(path, all);
        call.id = run == 2 ? bb_id_parse(all->names, "id7") : bb_id_number(7);
        bb_recorder_push(recorder, &call);
    }
    BbRecorderFindings findings;
    g_autoptr(Messages) got = read_ring(path, &findings);
    ck_assert(is_undamaged(&findings));
    ck_assert_uint_eq(findings.runs, 3);
    ck_assert_uint_eq(got->messages->len, 3);
    static const char *const ids[] = {"run1-7", "run2-id7", "7"};
    for (guint i = 0; i < 3; i++) {
        g_autoptr(GString) id = g_string_new(NULL);
        bb_id_append(id, got->names, message_at(got, i)->id);
        ck_assert_str_eq(id->str, ids[i]);
    }
}
END_TEST

static guint count_of(const char *path, guint64 *runs)
{
    BbRecorderFindings findings;
    g_autoptr(Messages) got = read_ring(path, &findings);
    ck_assert_uint_eq(findings.damaged, 0);
    *runs = findings.runs;
    return got->messages->len;
}

START_TEST(a_run_without_messages_costs_nothing)
{
    g_autoptr(Scratch) scratch = scratch_new();
    g_autoptr(Messages) all = random_messages(3, 10000);
    const char *path = scratch_path(scratch, "ring");
    guint64 runs = 0;
    for (guint run = 0; run < 50; run++)
        bb_recorder_free(open_ring(path, all));
    ck_assert_uint_eq(count_of(path, &runs), 0);
    BbRecorder *first = open_ring(path, all);
    push(first, all, 0, 10000);
    bb_recorder_free(first);
    guint before = count_of(path, &runs);
    ck_assert_uint_gt(before, 1000);
    for (guint run = 0; run < 50; run++)
        bb_recorder_free(open_ring(path, all));
    ck_assert_uint_eq(count_of(path, &runs), before);
    ck_assert_uint_eq(runs, 1);
}
END_TEST

static const guint8 zeros[PAGE];

static void overwrite(const char *path, gsize at, gconstpointer bytes, gsize size)
{
    FILE *file = fopen(path, "r+b");
    ck_assert_ptr_nonnull(file);
    ck_assert_int_eq(fseek(file, (long)at, SEEK_SET), 0);
    ck_assert_uint_eq(fwrite(bytes, 1, size, file), size);
    ck_assert_int_eq(fclose(file), 0);
}

// Of a run that lost the head of its newest sub-buffer, nothing is taken for records of the next
// one, which begins in the same place with the same bytes.
START_TEST(a_lost_head_leaves_no_old_records)
{
    g_autoptr(Scratch) scratch = scratch_new();
    g_autoptr(Messages) all = messages_new();
    BbMessage call = bb_message_empty();
    call.kind = BB_CALL;
    call.time_ns = 1000;
    call.sender = call.receiver = bb_names_intern(all->names, "a");
    const char *path = scratch_path(scratch, "ring");
    BbRecorder *recorder = open_ring(path, all);
    for (guint i = 0; i < 100; i++)
        bb_recorder_push(recorder, &call);
    bb_recorder_free(recorder);
    overwrite(path, PAGE, zeros, BB_RING_SUB_HEAD);
    recorder = open_ring(path, all);
    bb_recorder_push(recorder, &call);
    bb_recorder_free(recorder);
    guint64 runs = 0;
    ck_assert_uint_eq(count_of(path, &runs), 1);
}
END_TEST

START_TEST(a_ring_with_a_lost_head_goes_on)
{
    g_autoptr(Scratch) scratch = scratch_new();
    g_autoptr(Messages) all = random_messages(4, 1000);
    const char *path = scratch_path(scratch, "ring");
    for (guint run = 0; run < 2; run++) {
        g_autoptr(BbRecorder) recorder = open_ring(path, all);
        push(recorder, all, 0, 100);
        overwrite(path, 0, zeros, PAGE);
    }
    guint64 runs = 0;
    ck_assert_uint_eq(count_of(path, &runs), 200);
    ck_assert_uint_eq(runs, 2);
}
END_TEST

static void check_refused(const char *path, guint64 size, const Messages *all, const char *word)
{
    g_autoptr(GError) error = NULL;
    ck_assert_ptr_null(bb_recorder_open(path, size, all->names, &error));
    ck_assert_msg(strstr(error->message, word) && strstr(error->message, path), "%s",
                  error->message);
}

// A number that would go round to 0 tells nothing of what is the newest.
START_TEST(numbers_do_not_go_round)
{
    g_autoptr(Scratch) scratch = scratch_new();
    g_autoptr(Messages) all = random_messages(6, 10);
    const char *path = scratch_path(scratch, "ring");
    for (guint i = 0; i < 2; i++) {
        BbRecorder *recorder = open_ring(path, all);
        push(recorder, all, 0, 10);
        bb_recorder_free(recorder);
        const BbRingSub sub = {
            .sequence = i ? 7 : G_MAXUINT64, .run = i ? G_MAXUINT64 : 1, .size = BB_RING_SUB_MIN};
        guint8 head[BB_RING_SUB_HEAD] = {0};
        bb_bytes_put_u32(head, BB_RING_SUB_MAGIC);
        bb_ring_sub_write(head, &sub);
        overwrite(path, PAGE, head, sizeof head);
        check_refused(path, RING_SIZE, all, "used up");
        (void)g_remove(path);
    }
}
END_TEST

// Of 8 TiB of nothing no page is looked at.
START_TEST(holes_cost_nothing)
{
    g_autoptr(Scratch) scratch = scratch_new();
    const char *path = scratch_file(scratch, "ring", BB_RING_MAGIC, BB_RING_MAGIC_SIZE);
    if (truncate(path, (off_t)8 << 40) != 0)
        return; // the file system has no files of that size
    BbRecorderFindings findings;
    g_autoptr(Messages) got = read_ring(path, &findings);
    ck_assert(findings.headless);
    ck_assert_uint_eq(got->messages->len, 0);
}
END_TEST

START_TEST(nothing_of_others_is_overwritten)
{
    g_autoptr(Scratch) scratch = scratch_new();
    g_autoptr(Messages) all = random_messages(1, 10);
    const char *other = scratch_file(scratch, "other", "a file of somebody else, longer", 31);
    check_refused(other, RING_SIZE, all, "another kind");
    check_refused(scratch->folder, RING_SIZE, all, "cannot open");
    check_refused("/dev/null", RING_SIZE, all, "no plain file");
    const char *path = scratch_path(scratch, "ring");
    {
        g_autoptr(BbRecorder) recorder = open_ring(path, all);
        push(recorder, all, 0, 10);
        check_refused(path, RING_SIZE, all, "another capture");
    }
    check_refused(path, 4 * RING_SIZE, all, "another size");
    BbRecorderFindings findings;
    g_autoptr(Messages) got = read_ring(path, &findings);
    check_same(all, got, true);
}
END_TEST

START_TEST(what_fits_nowhere_is_counted)
{
    g_autoptr(Scratch) scratch = scratch_new();
    g_autoptr(Messages) all = random_messages(5, 300);
    const char *path = scratch_path(scratch, "ring");
    g_autofree char *text = g_strnfill(2 * SUB, 'x');
    g_autoptr(BbRecorder) recorder = open_ring(path, all);
    for (guint i = 0; i < 300; i++) {
        BbMessage large = *message_at(all, i);
        if (i % 2)
            large.conn = text;
        else
            large.op = bb_names_intern(all->names, text);
        bb_recorder_push(recorder, &large);
        bb_recorder_push(recorder, message_at(all, i));
        large = *message_at(all, i);
        large.time_ns = -1;
        bb_recorder_push(recorder, &large);
    }
    ck_assert_uint_eq(bb_recorder_left_out(recorder), 600);
    ck_assert_uint_eq(bb_recorder_messages(recorder), 300);
    BbRecorderFindings findings;
    g_autoptr(Messages) got = read_ring(path, &findings);
    ck_assert(is_undamaged(&findings));
    check_same(all, got, true); // a name that fits nowhere pushes nothing out
}
END_TEST

// As a trace: in order of time, as data/order.h makes it, and with words on what is missing.
START_TEST(a_ring_is_a_trace)
{
    g_autoptr(Scratch) scratch = scratch_new();
    g_autoptr(Messages) all = random_messages(9, 3000);
    const char *path = scratch_path(scratch, "ring");
    g_autoptr(BbRecorder) recorder = open_ring(path, all);
    push(recorder, all, 0, 3000);
    g_autoptr(Messages) got = read_path(path, false);
    ck_assert_ptr_null(got->error);
    ck_assert_ptr_null(got->damage);
    ck_assert_uint_eq(got->messages->len, 3000);
    for (guint i = 1; i < 3000; i++)
        ck_assert_int_ge(message_at(got, i)->time_ns, message_at(got, i - 1)->time_ns);
    g_autofree char *bytes = NULL;
    gsize size = 0;
    ck_assert(g_file_get_contents(path, &bytes, &size, NULL));
    bytes[PAGE + SUB + 70] ^= 1;
    g_autoptr(Messages) less = read_bytes(bytes, size);
    ck_assert_ptr_null(less->error);
    ck_assert_uint_lt(less->messages->len, 3000);
    ck_assert_ptr_nonnull(strstr(less->damage, "1 damaged sub-buffers"));
    g_autofree char *lost = g_strdup_printf("%u known to be lost", 3000 - less->messages->len);
    ck_assert_msg(strstr(less->damage, lost), "%s", less->damage);
}
END_TEST

TEST_MAIN("recorder", gives_back_what_was_recorded, ends_with_the_newest_at_every_moment,
          damage_costs_its_own_sub_buffer_only, a_cut_costs_what_is_behind_it, a_later_run_goes_on,
          a_run_without_messages_costs_nothing, a_lost_head_leaves_no_old_records,
          a_ring_with_a_lost_head_goes_on, numbers_do_not_go_round, holes_cost_nothing,
          nothing_of_others_is_overwritten, what_fits_nowhere_is_counted, a_ring_is_a_trace)
