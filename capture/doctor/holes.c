// SPDX-License-Identifier: Apache-2.0
// In: where the segments of a direction lie, and how far they were acknowledged. Out: how many of
// the acknowledged bytes were never seen.
#include "capture/doctor/holes.h"

#include "capture/sequence.h"

#define WINDOW (1 << 28)   // segments further off belong to another connection
#define LATE_SYN (1 << 20) // bytes before the first one seen, where a SYN may come late

static guint32 lower(guint32 a, guint32 b)
{
    return bb_sequence_distance(a, b) > 0 ? a : b;
}

static guint32 higher(guint32 a, guint32 b)
{
    return bb_sequence_distance(a, b) > 0 ? b : a;
}

static bool is_acked(const BbHoles *holes, guint32 end)
{
    return holes->has_acked && bb_sequence_distance(end, holes->acked) >= 0;
}

// The hole is not watched any more.
static void give_up(BbHoles *holes, BbHole hole)
{
    guint32 size = hole.end - hole.begin;
    if (is_acked(holes, hole.end)) {
        holes->unseen += size;
        return;
    }
    holes->waiting_end = holes->waiting ? higher(holes->waiting_end, hole.end) : hole.end;
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

static void append(BbHoles *holes, guint32 begin, guint32 end)
{
    if (holes->count == BB_HOLES) {
        give_up(holes, holes->hole[0]);
        remove_at(holes, 0);
    }
    insert_at(holes, holes->count, (BbHole){begin, end});
}

// Takes [begin, end) out of the hole at index. Returns where to go on.
static guint fill_one(BbHoles *holes, guint index, guint32 begin, guint32 end)
{
    BbHole was = holes->hole[index];
    guint32 from = higher(was.begin, begin), to = lower(was.end, end);
    if (bb_sequence_distance(from, to) <= 0)
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

static void believe(BbHoles *holes, guint32 ack)
{
    holes->acked = holes->has_acked ? higher(holes->acked, ack) : ack;
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
    holes->begin = holes->top = seq;
    holes->has_claim = false;
}

// Whether the segment belongs where the stream is. Else it is ignored, or the stream begins anew.
static bool is_near(BbHoles *holes, guint32 seq)
{
    gint32 ahead = bb_sequence_distance(holes->top, seq);
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
    guint32 end = seq + length, top = holes->top;
    if (bb_sequence_distance(top, seq) > 0)
        append(holes, top, seq);
    if (bb_sequence_distance(top, end) > 0) {
        holes->seen += end - higher(top, seq);
        holes->top = end;
    }
    for (guint i = 0; i < holes->count && bb_sequence_distance(seq, top) > 0;)
        i = fill_one(holes, i, seq, end);
    if (holes->has_claim && bb_sequence_distance(holes->claim, holes->top) >= 0) {
        holes->has_claim = false;
        believe(holes, holes->claim);
    }
}

void bb_holes_ack(BbHoles *holes, guint32 ack)
{
    if (!holes->started)
        return;
    gint32 ahead = bb_sequence_distance(holes->top, ack);
    if (ahead > BB_HOLES_FAR || ahead <= -WINDOW)
        return;
    if (ahead <= 0) {
        believe(holes, ack);
        return;
    }
    if (holes->has_claim)
        believe(holes, lower(holes->claim, ack)); // both say so
    holes->claim = holes->has_claim ? higher(holes->claim, ack) : ack;
    holes->has_claim = true;
}

void bb_holes_syn(BbHoles *holes, guint32 seq)
{
    gint32 before = bb_sequence_distance(seq, holes->begin);
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
        gint32 size =
            bb_sequence_distance(holes->hole[i].begin, lower(holes->hole[i].end, holes->acked));
        holes->unseen += (guint32)MAX(size, 0);
    }
    gint32 beyond = holes->has_acked ? bb_sequence_distance(holes->top, holes->acked) : 0;
    holes->unseen += (guint32)MAX(beyond, 0);
    *holes = (BbHoles){.seen = holes->seen, .unseen = holes->unseen};
}
