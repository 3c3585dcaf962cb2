// SPDX-License-Identifier: Apache-2.0
// Batches of several interfaces by their stamps: against a sort, and what the limits are.
#include "capture/sources/heads.h"
#include "capture/sources/stamp_order.h"
#include "capture/sources/stamp_skew.h"
#include "data/random.h"
#include "tests/unit/test.h"

#define MS G_GINT64_CONSTANT(1000000)
#define START_NS (G_GINT64_CONSTANT(1700000000) * 1000 * MS)

// The data is a letter of its own for each frame, in memory that is gone afterwards.
static void push(BbStampOrder *order, guint32 interface, gint64 time_ns, char letter)
{
    g_autofree guint8 *data = g_malloc(1);
    *data = (guint8)letter;
    const BbFrame frame = {.time_ns = time_ns,
                           .data = data,
                           .captured = 1,
                           .length = 1,
                           .interface = interface,
                           .place = {.frame = (guint32)letter}};
    bb_stamp_order_push(order, &frame, 7);
}

// Letters of the frames that have waited long enough, a crossed one behind an exclamation mark.
static void expect(BbStampOrder *order, const char *wanted)
{
    g_autoptr(GString) letters = g_string_new(NULL);
    for (const BbHeldFrame *held; (held = bb_stamp_order_take(order));) {
        if (held->crossed)
            g_string_append_c(letters, '!');
        g_string_append_c(letters, (char)held->frame.data[0]);
        ck_assert_uint_eq(held->frame.place.frame, held->frame.data[0]);
        ck_assert_uint_eq(held->file, 7);
    }
    ck_assert_str_eq(letters->str, wanted);
}

START_TEST(batches_by_their_stamps)
{
    g_autoptr(BbStampOrder) order = bb_stamp_order_new();
    push(order, 1, START_NS + 2 * MS, 'b');
    push(order, 1, START_NS + 4 * MS, 'd');
    push(order, 0, START_NS + 1 * MS, 'a');
    push(order, 0, START_NS + 2 * MS, 'c'); // the same stamp: as they came
    push(order, 0, START_NS + 5 * MS, 'e');
    expect(order, "");
    push(order, 1, START_NS + 4 * MS + BB_STAMP_ORDER_NS, 'f');
    expect(order, "abcd");
    ck_assert(!bb_stamp_order_is_empty(order));
    bb_stamp_order_flush(order);
    expect(order, "ef");
    ck_assert(bb_stamp_order_is_empty(order));
}
END_TEST

START_TEST(later_than_the_wait)
{
    g_autoptr(BbStampOrder) order = bb_stamp_order_new();
    push(order, 0, START_NS, 'a');
    push(order, 0, START_NS + 100 * MS, 'c');
    push(order, 0, START_NS + 700 * MS, 'd');
    expect(order, "ac");
    push(order, 1, START_NS + 50 * MS, 'b');
    push(order, 1, START_NS + 60 * MS, 'x');
    expect(order, "!b!x");
    push(order, 1, START_NS + 300 * MS, 'e');
    push(order, 0, START_NS + 900 * MS, 'f');
    expect(order, "e");
}
END_TEST

// A network card with several queues: no concern of this.
START_TEST(one_interface_keeps_its_order)
{
    g_autoptr(BbStampOrder) order = bb_stamp_order_new();
    push(order, 0, START_NS + 10 * MS, 'b');
    push(order, 0, START_NS + 8 * MS, 'c');
    push(order, 1, START_NS + 9 * MS, 'a');
    push(order, 0, START_NS + 11 * MS, 'd');
    bb_stamp_order_flush(order);
    expect(order, "a"
                  "bcd");
}
END_TEST

// Two clocks, or one that was set.
START_TEST(far_apart_they_stay_as_they_stand)
{
    g_autoptr(BbStampOrder) order = bb_stamp_order_new();
    const gint64 behind_ns = START_NS - BB_HEADS_STEP_NS - MS;
    push(order, 0, START_NS, 'a');
    push(order, 1, behind_ns, 'b');
    expect(order, "a");
    push(order, 0, START_NS + MS, 'c');
    expect(order, "b");
    push(order, 1, behind_ns + MS, 'd');
    expect(order, "c");
    bb_stamp_order_flush(order);
    push(order, 0, START_NS - MS, 'e'); // flushed: no longer before what was there
    expect(order, "d");
    bb_stamp_order_flush(order);
    expect(order, "e");
}
END_TEST

START_TEST(memory_is_bounded)
{
    g_autoptr(BbStampOrder) order = bb_stamp_order_new();
    static guint8 data[1 << 16];
    BbFrame frame = {.time_ns = START_NS, .data = data, .captured = sizeof data};
    guint given = 0;
    for (guint i = 0; i < 2048; i++) {
        bb_stamp_order_push(order, &frame, 0);
        while (bb_stamp_order_take(order))
            given++;
    }
    guint waiting = BB_STAMP_ORDER_BYTES / sizeof data;
    ck_assert_uint_ge(given, 2048 - waiting);
    ck_assert_uint_le(given, 2048 - waiting + 10); // what it takes to manage them
    bb_stamp_order_flush(order);
    while (bb_stamp_order_take(order))
        given++;
    ck_assert_uint_eq(given, 2048);
}
END_TEST

typedef struct {
    gint64 time_ns;
    guint32 interface, number;
} Stamped;

static int compare_written(gconstpointer a, gconstpointer b)
{
    const Stamped *one = a, *other = b;
    gint64 batch = one->time_ns / (200 * MS), other_batch = other->time_ns / (200 * MS);
    if (batch != other_batch)
        return batch < other_batch ? -1 : 1;
    if (one->interface != other->interface)
        return one->interface < other->interface ? -1 : 1;
    return one->time_ns < other->time_ns ? -1 : one->time_ns > other->time_ns;
}

static int compare_stamps(gconstpointer a, gconstpointer b)
{
    const Stamped *one = a, *other = b;
    if (one->time_ns != other->time_ns)
        return one->time_ns < other->time_ns ? -1 : 1;
    return one->number < other->number ? -1 : one->number > other->number;
}

START_TEST(random_batches_against_a_sort)
{
    BbRandom random = bb_random_start(test_seed("random_batches_against_a_sort"));
    g_autoptr(GArray) frames = g_array_new(FALSE, FALSE, sizeof(Stamped));
    for (guint i = 0; i < 5000; i++) {
        Stamped frame = {START_NS + (gint64)bb_random_below(&random, 10000) * MS,
                         (guint32)bb_random_below(&random, 3), 0};
        g_array_append_val(frames, frame);
    }
    g_array_sort(frames, compare_written);
    g_autoptr(BbStampOrder) order = bb_stamp_order_new();
    g_autoptr(GArray) given = g_array_new(FALSE, FALSE, sizeof(guint32));
    for (guint i = 0; i <= frames->len; i++) {
        if (i < frames->len) {
            Stamped *frame = &g_array_index(frames, Stamped, i);
            frame->number = i;
            bb_stamp_order_push(order,
                                &(BbFrame){.time_ns = frame->time_ns,
                                           .interface = frame->interface,
                                           .place = {.frame = i}},
                                0);
        } else {
            bb_stamp_order_flush(order);
        }
        for (const BbHeldFrame *held; (held = bb_stamp_order_take(order));) {
            ck_assert(!held->crossed);
            g_array_append_val(given, held->frame.place.frame);
        }
    }
    ck_assert_uint_eq(given->len, frames->len);
    g_array_sort(frames, compare_stamps);
    for (guint i = 0; i < frames->len; i++)
        ck_assert_uint_eq(g_array_index(given, guint32, i),
                          g_array_index(frames, Stamped, i).number);
}
END_TEST

// ---- clocks that disagree -----------------------------------------------------------------------

static void add(GArray *frames, guint32 interface, gint64 time_ns)
{
    Stamped frame = {time_ns, interface, frames->len};
    g_array_append_val(frames, frame);
}

// Gives frames as they stand to the order. Returns their numbers as they come out.
static GArray *run(BbStampOrder *order, const GArray *frames)
{
    GArray *given = g_array_new(FALSE, FALSE, sizeof(guint32));
    for (guint i = 0; i <= frames->len; i++) {
        const Stamped *frame = &g_array_index(frames, Stamped, MIN(i, frames->len - 1));
        if (i < frames->len)
            bb_stamp_order_push(order,
                                &(BbFrame){.time_ns = frame->time_ns,
                                           .interface = frame->interface,
                                           .place = {.frame = i}},
                                0);
        else
            bb_stamp_order_flush(order);
        for (const BbHeldFrame *held; (held = bb_stamp_order_take(order));)
            g_array_append_val(given, held->frame.place.frame);
    }
    ck_assert_uint_eq(given->len, frames->len);
    return given;
}

// From the frame first on. wanted: NULL for the order of the file.
static void expect_order(const GArray *given, guint first, const GArray *wanted)
{
    for (guint i = first; i < given->len; i++)
        ck_assert_uint_eq(g_array_index(given, guint32, i),
                          wanted ? g_array_index(wanted, Stamped, i).number : i);
}

static void expect_sorted(const GArray *given, guint first, GArray *frames)
{
    g_autoptr(GArray) sorted = g_array_copy(frames);
    g_array_sort(sorted, compare_stamps);
    expect_order(given, first, sorted);
}

// A request every 10 ms, its reply 3 ms later by another interface. Returns when it was over.
static gint64 add_pairs(GArray *frames, guint count, gint64 at_ns, gint64 skew_ns)
{
    for (guint i = 0; i < count; i++, at_ns += 10 * MS) {
        add(frames, 0, at_ns);
        add(frames, 1, at_ns + 3 * MS + skew_ns);
    }
    return at_ns;
}

static gint64 add_batches(GArray *frames, guint count, guint pairs, gint64 at_ns)
{
    for (guint i = 0; i < count; i++, at_ns += pairs * 10 * MS) {
        for (guint k = 0; k < pairs; k++)
            add(frames, 1, at_ns + (k * 10 + 3) * MS);
        for (guint k = 0; k < pairs; k++)
            add(frames, 0, at_ns + k * 10 * MS);
    }
    return at_ns;
}

START_TEST(clocks_disagree_the_file_is_right)
{
    static const gint16 skews_ms[] = {50, -50, 300, -300, 700, -700};
    for (guint i = 0; i < G_N_ELEMENTS(skews_ms); i++) {
        g_autoptr(BbStampOrder) order = bb_stamp_order_new();
        g_autoptr(GArray) frames = g_array_new(FALSE, FALSE, sizeof(Stamped));
        add_pairs(frames, 200, START_NS, skews_ms[i] * MS);
        g_autoptr(GArray) given = run(order, frames);
        expect_order(given, 0, NULL);
        gint64 off_ns = bb_stamp_order_apart(order) - ABS(skews_ms[i]) * MS;
        ck_assert_int_le(ABS(off_ns), 5 * MS);
    }
}
END_TEST

// A clock that was never set, and interfaces that only follow each other in a ring.
START_TEST(how_far_clocks_are_apart)
{
    static const struct {
        guint interfaces;
        gint64 off_ns; // of the last one
    } cases[] = {{2, -START_NS}, {2, -172800 * 1000 * MS}, {3, -300 * MS}};
    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autoptr(BbStampSkew) skew = bb_stamp_skew_new();
        for (guint k = 0; k < 1000; k++) {
            guint interface = k % cases[i].interfaces;
            bool is_off = interface + 1 == cases[i].interfaces;
            bb_stamp_skew_look(skew, interface, START_NS + k * MS + (is_off ? cases[i].off_ns : 0));
        }
        ck_assert_int_eq(bb_stamp_skew_tell(skew), BB_SKEW_CLOCKS);
        gint64 by_ns = bb_stamp_skew_apart(skew) + cases[i].off_ns;
        ck_assert_int_le(ABS(by_ns), 2 * MS);
    }
}
END_TEST

START_TEST(what_is_not_by_its_stamp_is_told)
{
    g_autoptr(BbStampOrder) order = bb_stamp_order_new();
    g_autoptr(GArray) frames = g_array_new(FALSE, FALSE, sizeof(Stamped));
    add_pairs(frames, 200, START_NS, 50 * MS);
    for (guint i = 0, given = 0; i < frames->len; i++) {
        const Stamped *frame = &g_array_index(frames, Stamped, i);
        const BbFrame pushed = {
            .time_ns = frame->time_ns, .interface = frame->interface, .place = {.frame = i}};
        bb_stamp_order_push(order, &pushed, 0);
        for (const BbHeldFrame *held; (held = bb_stamp_order_take(order)); given++) {
            ck_assert_uint_eq(held->frame.place.frame, given);
            ck_assert(held->as_it_stands && !held->crossed);
        }
        ck_assert_uint_eq(given, bb_stamp_order_apart(order) ? i + 1 : 0); // and none waits
    }
}
END_TEST

// Where packets are many a few milliseconds are seen, too; what queues do is no clock.
START_TEST(dense_packets_of_three_interfaces)
{
    BbRandom random = bb_random_start(test_seed("dense_packets_of_three_interfaces"));
    static const gint64 skews_ns[][3] = {
        {0, 5 * MS, 0}, {0, 0, -5 * MS}, {0, 40 * MS, -300 * MS}, {0, MS / 2, 0}};
    for (guint i = 0; i < G_N_ELEMENTS(skews_ns); i++) {
        g_autoptr(BbStampOrder) order = bb_stamp_order_new();
        g_autoptr(GArray) frames = g_array_new(FALSE, FALSE, sizeof(Stamped));
        gint64 at_ns = START_NS;
        for (guint k = 0; k < 5000; k++) {
            guint interface = (guint)bb_random_below(&random, 3);
            at_ns += (gint64)bb_random_below(&random, (guint64)MS);
            add(frames, interface, at_ns + skews_ns[i][interface]);
        }
        g_autoptr(GArray) given = run(order, frames);
        if (skews_ns[i][1] == MS / 2)
            expect_sorted(given, 0, frames);
        else
            expect_order(given, 0, NULL);
    }
}
END_TEST

// Few packets: one distance of the clocks would explain batches as well, and they are likelier.
START_TEST(one_pair_a_batch)
{
    g_autoptr(BbStampOrder) order = bb_stamp_order_new();
    g_autoptr(GArray) frames = g_array_new(FALSE, FALSE, sizeof(Stamped));
    gint64 at_ns = START_NS;
    for (guint i = 0; i < 200; i++, at_ns += 300 * MS)
        add_batches(frames, 1, 1, at_ns);
    g_autoptr(GArray) given = run(order, frames);
    expect_sorted(given, 0, frames);
    ck_assert_int_eq(bb_stamp_order_apart(order), 0);
}
END_TEST

// As the threads of dumpcap do, which take turns at one queue.
START_TEST(batches_that_mix)
{
    BbRandom random = bb_random_start(test_seed("batches_that_mix"));
    for (guint round = 0; round < 20; round++) {
        g_autoptr(BbStampOrder) order = bb_stamp_order_new();
        g_autoptr(GArray) frames = g_array_new(FALSE, FALSE, sizeof(Stamped));
        for (guint batch = 0; batch < 20; batch++) {
            guint next[2] = {0};
            while (next[0] + next[1] < 200) {
                guint of = bb_random_chance(&random, next[0] < 20 ? 0.9 : 0.5) ? 0 : 1;
                of = next[of] == 100 ? !of : of;
                gint64 at_ns = START_NS + (gint64)(batch * 200 + next[of]++ * 2 + of) * MS;
                add(frames, of, at_ns);
            }
        }
        g_autoptr(GArray) given = run(order, frames);
        expect_sorted(given, 0, frames);
    }
}
END_TEST

// A clock is set while packets come; a file is followed by one that was written otherwise.
START_TEST(what_is_seen_changes)
{
    g_autoptr(BbStampOrder) order = bb_stamp_order_new();
    g_autoptr(GArray) frames = g_array_new(FALSE, FALSE, sizeof(Stamped));
    gint64 at_ns = add_batches(frames, 10, 20, START_NS);
    guint skewed = frames->len;
    at_ns = add_pairs(frames, 200, at_ns + 1000 * MS, -300 * MS);
    guint agreed = frames->len;
    add_batches(frames, 20, 20, at_ns + 1000 * MS);
    g_autoptr(GArray) given = run(order, frames);
    g_autoptr(GArray) sorted = g_array_copy(frames);
    g_array_sort(sorted, compare_stamps);
    for (guint i = 0; i < given->len; i++) {
        guint number = g_array_index(given, guint32, i);
        if (i < skewed || i >= agreed + 80) // after two batches
            ck_assert_uint_eq(number, g_array_index(sorted, Stamped, i).number);
        else if (i >= skewed + 130 && i < agreed) // after 500 ms, and what waited
            ck_assert_uint_eq(number, i);
    }
}
END_TEST

TEST_MAIN("stamp_order", batches_by_their_stamps, later_than_the_wait,
          one_interface_keeps_its_order, far_apart_they_stay_as_they_stand, memory_is_bounded,
          random_batches_against_a_sort, clocks_disagree_the_file_is_right,
          how_far_clocks_are_apart, what_is_not_by_its_stamp_is_told,
          dense_packets_of_three_interfaces, one_pair_a_batch, batches_that_mix,
          what_is_seen_changes)
