// SPDX-License-Identifier: Apache-2.0
// In: where the segments of a direction lie, and how far they were acknowledged. Out: how many of
// the acknowledged bytes were never seen.
#include "capture/doctor/holes.h"

#include "capture/sequence.h"

#define WINDOW (1 << 28)   // segments further off belong to another connection
#define LATE_SYN (1 << 20) // bytes before the first one seen, where a SYN may come late

static bool is_acked(const BbHoles *holes, guint64 end)
{
    return holes->has_acked && end <= holes->acked;
}

// The hole is not watched any more.
static void give_up(BbHoles *holes, BbHole hole)
{
    guint64 size = hole.end - hole.begin;
    if (is_acked(holes, hole.end)) {
        holes->unseen += size;
        return;
    }
    holes->waiting_end = holes->waiting ? MAX(holes->waiting_end, hole.end) : hole.end;
    holes->waiting += size;
}

static void remove_at(BbHoles *holes, guint index)
{
    holes->count--;
    for (guint i = index; i < holes->count; i++)
        holes->hole[i] = holes->hole[i + 1];
}

static void insert_at(BbHoles *holes, guint index, BbHole hole)
{
    for (guint i = holes->count; i > index; i--)
        holes->hole[i] = holes->hole[i - 1];
    holes->hole[index] = hole;
    holes->count++;
}

static void append(BbHoles *holes, guint64 begin, guint64 end)
{
    if (holes->count == BB_HOLES) {
        give_up(holes, holes->hole[0]);
        remove_at(holes, 0);
    }
    insert_at(holes, holes->count, (BbHole){begin, end});
}

// Takes [begin, end) out of the hole at index. Returns where to go on.
static guint fill_one(BbHoles *holes, guint index, guint64 begin, guint64 end)
{
    BbHole was = holes->hole[index];
    guint64 from = MAX(was.begin, begin), to = MIN(was.end, end);
    if (to <= from)
        return index + 1;
    holes->seen += to - from;
    BbHole left = {was.begin, from}, right = {to, was.end};
    remove_at(holes, index);
    if (right.begin != right.end)
        insert_at(holes, index, right);
    if (left.begin == left.end)
        return right.begin != right.end ? index + 1 : index;
    if (holes->count == BB_HOLES)
        give_up(holes, left);
    else
        insert_at(holes, index, left);
    return index + 1;
}

static void believe(BbHoles *holes, guint64 ack)
{
    holes->acked = holes->has_acked ? MAX(holes->acked, ack) : ack;
    holes->has_acked = true;
    if (holes->waiting && is_acked(holes, holes->waiting_end)) {
        holes->unseen += holes->waiting;
        holes->waiting = 0;
    }
}

static void begin_at(BbHoles *holes, guint32 seq)
{
    holes->started = true;
    holes->odd = 0;
    holes->begin = holes->top = BB_SEQUENCE_FIRST + seq;
    holes->has_claim = false;
}

// Whether the segment belongs where the stream is. Else it is ignored, or the stream begins anew.
static bool is_near(BbHoles *holes, guint32 seq)
{
    gint32 ahead = bb_sequence_distance((guint32)holes->top, seq);
    if (ahead < WINDOW && ahead > -WINDOW) {
        holes->odd = 0;
        return true;
    }
    if (++holes->odd < BB_HOLES_ODD)
        return false;
    bb_holes_settle(holes);
    begin_at(holes, seq);
    return true;
}

void bb_holes_data(BbHoles *holes, guint32 seq, guint32 length)
{
    if (length == 0 || length >= WINDOW)
        return;
    if (!holes->started)
        begin_at(holes, seq);
    else if (!is_near(holes, seq))
        return;
    guint64 top = holes->top, begin = bb_sequence_position(top, seq), end = begin + length;
    if (begin > top)
        append(holes, top, begin);
    if (end > top) {
        holes->seen += end - MAX(top, begin);
        holes->top = end;
    }
    for (guint i = 0; i < holes->count && begin < top;)
        i = fill_one(holes, i, begin, end);
    if (holes->has_claim && holes->claim <= holes->top) {
        holes->has_claim = false;
        believe(holes, holes->claim);
    }
}

void bb_holes_ack(BbHoles *holes, guint32 ack)
{
    if (!holes->started)
        return;
    gint32 ahead = bb_sequence_distance((guint32)holes->top, ack);
    guint64 end = bb_sequence_position(holes->top, ack);
    if (ahead > BB_HOLES_FAR || ahead <= -WINDOW)
        return;
    if (ahead <= 0) {
        believe(holes, end);
        return;
    }
    if (holes->has_claim)
        believe(holes, MIN(holes->claim, end)); // both say so
    holes->claim = holes->has_claim ? MAX(holes->claim, end) : end;
    holes->has_claim = true;
}

void bb_holes_syn(BbHoles *holes, guint32 seq)
{
    gint32 before = bb_sequence_distance(seq, (guint32)holes->begin);
    bool is_late = holes->started && !holes->has_isn && before > 0 && before < LATE_SYN;
    if (holes->has_isn && holes->isn == seq)
        return;
    if (!is_late)
        bb_holes_settle(holes);
    holes->has_isn = true;
    holes->isn = seq;
}

void bb_holes_settle(BbHoles *holes)
{
    for (guint i = 0; i < holes->count && holes->has_acked; i++) {
        BbHole hole = holes->hole[i];
        guint64 end = MIN(hole.end, holes->acked);
        holes->unseen += end > hole.begin ? end - hole.begin : 0;
    }
    if (is_acked(holes, holes->top))
        holes->unseen += holes->acked - holes->top;
    *holes = (BbHoles){.seen = holes->seen, .unseen = holes->unseen};
}
