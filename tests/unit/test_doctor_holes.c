// SPDX-License-Identifier: Apache-2.0
// Bytes acknowledged and never seen: by hand, and against a twin that keeps a mark for every byte.
#include "tests/unit/test.h"

#include "capture/doctor/holes.h"

#define TWIN_BYTES 4096u

START_TEST(nothing_is_missing)
{
    BbHoles holes = {0};
    bb_holes_syn(&holes, 1000);
    bb_holes_data(&holes, 1000, 1);
    bb_holes_data(&holes, 1001, 100);
    bb_holes_data(&holes, 1001, 100); // sent again
    bb_holes_data(&holes, 1051, 100);
    bb_holes_ack(&holes, 1151);
    bb_holes_settle(&holes);
    ck_assert_uint_eq(holes.seen, 151);
    ck_assert_uint_eq(holes.unseen, 0);
}
END_TEST

START_TEST(only_what_was_acknowledged_is_missing)
{
    BbHoles holes = {0};
    bb_holes_data(&holes, 0, 10);
    bb_holes_data(&holes, 20, 10);
    bb_holes_ack(&holes, 15);
    bb_holes_settle(&holes);
    ck_assert_uint_eq(holes.seen, 20);
    ck_assert_uint_eq(holes.unseen, 5);
}
END_TEST

START_TEST(what_comes_later_is_not_missing)
{
    BbHoles holes = {0};
    bb_holes_data(&holes, 0, 10);
    bb_holes_data(&holes, 40, 10);
    bb_holes_ack(&holes, 50);
    bb_holes_data(&holes, 20, 10); // in the middle of the hole
    ck_assert_uint_eq(holes.count, 2);
    bb_holes_data(&holes, 5, 40); // over both
    bb_holes_settle(&holes);
    ck_assert_uint_eq(holes.seen, 50);
    ck_assert_uint_eq(holes.unseen, 0);
}
END_TEST

// Numbers go around: an early hole is one 3 GiB later, too, and an early acknowledgement is none of
// what came since.
START_TEST(long_streams)
{
    for (guint acks = 0; acks < 2; acks++) {
        BbHoles holes = {0};
        guint32 seq = 7, piece = 1 << 24;
        bb_holes_data(&holes, seq, 10);
        bb_holes_ack(&holes, seq += 10);
        seq += 5;
        for (guint i = 0; i < 192; i++, seq += piece) {
            bb_holes_data(&holes, seq, piece);
            if (acks)
                bb_holes_ack(&holes, seq + piece);
        }
        bb_holes_settle(&holes);
        ck_assert_uint_eq(holes.unseen, acks ? 5 : 0);
        ck_assert_uint_eq(holes.seen, 10 + 192 * (guint64)piece);
    }
}
END_TEST

START_TEST(the_end_counts_when_it_was_acknowledged)
{
    BbHoles holes = {0};
    bb_holes_data(&holes, 0xfffffff0u, 10);
    bb_holes_ack(&holes, 20); // past the end of the numbers
    bb_holes_ack(&holes, 20);
    bb_holes_settle(&holes);
    ck_assert_uint_eq(holes.unseen, 26);
}
END_TEST

START_TEST(acknowledgements_from_elsewhere_are_not_believed)
{
    BbHoles holes = {0};
    bb_holes_ack(&holes, 5000); // nothing was seen yet
    bb_holes_data(&holes, 0, 10);
    bb_holes_ack(&holes, 10 + BB_HOLES_FAR + 1);
    bb_holes_ack(&holes, 0x80000000u);
    bb_holes_settle(&holes);
    ck_assert_uint_eq(holes.unseen, 0);
    bb_holes_data(&holes, 0, 10);
    bb_holes_ack(&holes, 10 + BB_HOLES_FAR);
    bb_holes_ack(&holes, 10 + BB_HOLES_FAR);
    bb_holes_settle(&holes);
    ck_assert_uint_eq(holes.unseen, BB_HOLES_FAR);
}
END_TEST

START_TEST(one_acknowledgement_ahead_is_not_believed)
{
    BbHoles holes = {0};
    bb_holes_data(&holes, 0, 10);
    bb_holes_ack(&holes, 9000000); // damaged
    bb_holes_ack(&holes, 10);
    bb_holes_data(&holes, 10, 10);
    bb_holes_ack(&holes, 20);
    bb_holes_settle(&holes);
    ck_assert_uint_eq(holes.unseen, 0);
    bb_holes_data(&holes, 0, 10);
    bb_holes_ack(&holes, 9000000);
    bb_holes_ack(&holes, 30); // both say so much
    bb_holes_settle(&holes);
    ck_assert_uint_eq(holes.unseen, 20);
}
END_TEST

START_TEST(what_is_seen_there_confirms_an_acknowledgement)
{
    BbHoles holes = {0};
    bb_holes_data(&holes, 0, 10);
    bb_holes_ack(&holes, 30);
    bb_holes_data(&holes, 20, 10);
    bb_holes_settle(&holes);
    ck_assert_uint_eq(holes.unseen, 10);
}
END_TEST

START_TEST(a_new_connection_begins_anew)
{
    BbHoles holes = {0};
    bb_holes_syn(&holes, 100);
    bb_holes_data(&holes, 100, 1);
    bb_holes_syn(&holes, 100); // sent again
    bb_holes_data(&holes, 100, 1);
    bb_holes_data(&holes, 111, 10);
    bb_holes_ack(&holes, 121);
    bb_holes_syn(&holes, 5000);
    ck_assert_uint_eq(holes.unseen, 10);
    bb_holes_data(&holes, 5000, 11);
    bb_holes_ack(&holes, 5011);
    bb_holes_settle(&holes);
    ck_assert_uint_eq(holes.unseen, 10);
    ck_assert_uint_eq(holes.seen, 22);
}
END_TEST

START_TEST(a_late_syn_is_no_new_connection)
{
    BbHoles holes = {0};
    bb_holes_data(&holes, 101, 100);
    bb_holes_data(&holes, 301, 100);
    bb_holes_ack(&holes, 401);
    bb_holes_syn(&holes, 100);
    bb_holes_data(&holes, 100, 1);
    bb_holes_data(&holes, 201, 100);
    bb_holes_settle(&holes);
    ck_assert_uint_eq(holes.unseen, 0);
    ck_assert_uint_eq(holes.seen, 300);
}
END_TEST

START_TEST(a_stray_segment_is_ignored_but_a_move_is_followed)
{
    BbHoles holes = {0};
    bb_holes_data(&holes, 0, 10);
    bb_holes_data(&holes, 0x70000000u, 10);
    bb_holes_data(&holes, 10, 10);
    bb_holes_ack(&holes, 20);
    ck_assert_uint_eq(holes.seen, 20);
    for (guint i = 0; i < BB_HOLES_ODD; i++)
        bb_holes_data(&holes, 0x70000000u + 10 * i, 10);
    ck_assert_uint_eq((guint32)holes.top, 0x70000000u + 10 * BB_HOLES_ODD);
    bb_holes_settle(&holes);
    ck_assert_uint_eq(holes.unseen, 0);
}
END_TEST

// Every second piece of 10 is lost; far more holes than are kept.
START_TEST(many_holes_are_all_counted)
{
    for (guint acked = 0; acked < 2; acked++) { // late, or step by step
        BbHoles holes = {0};
        for (guint i = 0; i < 100; i++) {
            bb_holes_data(&holes, 20 * i, 10);
            if (acked)
                bb_holes_ack(&holes, 20 * i + 10);
        }
        ck_assert_uint_eq(holes.count, BB_HOLES);
        bb_holes_ack(&holes, 20 * 99 + 10);
        bb_holes_settle(&holes);
        ck_assert_uint_eq(holes.seen, 1000);
        ck_assert_uint_eq(holes.unseen, 990);
    }
}
END_TEST

START_TEST(holes_that_nobody_acknowledged_are_no_loss)
{
    BbHoles holes = {0};
    for (guint i = 0; i < 100; i++)
        bb_holes_data(&holes, 20 * i, 10);
    bb_holes_settle(&holes);
    ck_assert_uint_eq(holes.unseen, 0);
}
END_TEST

// ---- the slow twin ------------------------------------------------------------------------------

typedef struct Twin {
    bool seen[TWIN_BYTES];
    guint acks[TWIN_BYTES]; // how many of this number
    guint begin, top;
} Twin;

static guint twin_holes(const Twin *twin)
{
    guint count = 0;
    for (guint i = twin->begin + 1; i < twin->top; i++)
        count += !twin->seen[i] && twin->seen[i - 1];
    return count;
}

static void twin_data(Twin *twin, guint seq, guint length)
{
    for (guint i = MAX(seq, twin->begin); i < seq + length; i++)
        twin->seen[i] = true;
    twin->top = MAX(twin->top, seq + length);
}

// The highest number that a byte seen there or another acknowledgement confirms.
static guint twin_acked(const Twin *twin)
{
    guint acks = 0;
    for (guint i = TWIN_BYTES - 1; i > 0; i--) {
        acks += twin->acks[i];
        if (twin->acks[i] && (i <= twin->top || acks > 1))
            return i;
    }
    return 0;
}

static void twin_count(const Twin *twin, guint64 *seen, guint64 *unseen)
{
    guint acked = twin_acked(twin);
    *seen = *unseen = 0;
    for (guint i = twin->begin; i < TWIN_BYTES; i++) {
        *seen += twin->seen[i];
        *unseen += !twin->seen[i] && i < acked;
    }
}

// Returns whether the limit was kept, so that both must agree.
static bool run_against_twin(GRand *rand, guint32 isn)
{
    BbHoles holes = {0};
    g_autofree Twin *twin = g_new0(Twin, 1);
    guint steps = (guint)g_rand_int_range(rand, 1, 120);
    twin->begin = (guint)g_rand_int_range(rand, 0, 200);
    twin->top = twin->begin + 1;
    twin->seen[twin->begin] = true;
    bb_holes_data(&holes, isn + twin->begin, 1);
    for (guint i = 0; i < steps; i++) {
        guint seq = (guint)g_rand_int_range(rand, 0, TWIN_BYTES - 200);
        guint length = (guint)g_rand_int_range(rand, 1, 200);
        guint ahead = (guint)g_rand_int_range(rand, 0, 80);
        if (i % 2) // mostly near the end
            seq = MIN(twin->top + ahead, TWIN_BYTES - 201);
        if (g_rand_boolean(rand)) {
            twin->acks[seq]++;
            bb_holes_ack(&holes, isn + seq);
        }
        twin_data(twin, seq, length);
        bb_holes_data(&holes, isn + seq, length);
        if (twin_holes(twin) > BB_HOLES)
            return false;
        ck_assert_uint_eq(holes.count, twin_holes(twin));
    }
    guint64 seen, unseen;
    twin_count(twin, &seen, &unseen);
    bb_holes_settle(&holes);
    ck_assert_uint_eq(holes.seen, seen);
    ck_assert_uint_eq(holes.unseen, unseen);
    return true;
}

START_TEST(the_twin_agrees)
{
    g_autoptr(GRand) rand = g_rand_new_with_seed(test_seed("doctor_holes"));
    guint agreed = 0;
    for (guint i = 0; i < 2000; i++)
        agreed += run_against_twin(rand, i % 3 ? g_rand_int(rand) : (guint32)-1000);
    ck_assert_uint_gt(agreed, 200);
}
END_TEST

TEST_MAIN("doctor_holes", nothing_is_missing, only_what_was_acknowledged_is_missing,
          what_comes_later_is_not_missing, the_end_counts_when_it_was_acknowledged, long_streams,
          acknowledgements_from_elsewhere_are_not_believed,
          one_acknowledgement_ahead_is_not_believed, what_is_seen_there_confirms_an_acknowledgement,
          a_new_connection_begins_anew, a_late_syn_is_no_new_connection,
          a_stray_segment_is_ignored_but_a_move_is_followed, many_holes_are_all_counted,
          holes_that_nobody_acknowledged_are_no_loss, the_twin_agrees)
