// SPDX-License-Identifier: Apache-2.0
// In: bytes that stand together in a stream, and where its packets end. Out: what a message is
// known by: times, place, number of bytes.
#include "capture/dialog.h"

#include "data/crc32c.h"
#include "data/message.h"

// Of the packet that a byte is of; the last one behind all of them. There is one.
static const BbMark *mark_at(const BbView *view, gsize at)
{
    guint low = 0, high = view->n_marks - 1;
    while (low < high) {
        guint middle = (low + high) / 2;
        if (at < view->marks[middle].end)
            high = middle;
        else
            low = middle + 1;
    }
    return &view->marks[low];
}

gsize bb_view_next_packet(const BbView *view, gsize at)
{
    const BbMark *mark = view->n_marks > 0 ? mark_at(view, at) : NULL;
    return mark && mark->end > at ? MIN(mark->end, view->length) : view->length;
}

// Where the snap length cut so much that another observer may have seen more of it, it has none.
static void take_print(BbPart *part, const BbView *view, gsize from)
{
    gsize size = MIN(view->length - from, BB_PRINT_BYTES);
    part->has_print = size == BB_PRINT_BYTES || !view->missing;
    part->print = bb_crc32c(0, view->data + from, size);
}

void bb_part_add(BbPart *part, const BbView *view, gsize from, gsize to)
{
    if (to <= from || view->n_marks == 0)
        return;
    if (!part->begun) {
        const BbMark *first = mark_at(view, from);
        *part = (BbPart){
            .first_ns = first->time_ns,
            .last_ns = first->time_ns,
            .seq = view->seq + from,
            .ack = first->ack,
            .has_ack = first->has_ack,
            .place = first->place,
            .direction = view->direction,
            .begun = true,
            .is_tcp = !view->datagram,
        };
        if (view->datagram)
            take_print(part, view, from);
    }
    const BbMark *mark = mark_at(view, to - 1);
    part->last_ns = MAX(part->last_ns, mark->time_ns);
    for (; mark > view->marks && mark[-1].end > from; mark--) // a late one among them is the last
        part->last_ns = MAX(part->last_ns, mark[-1].time_ns);
    part->end_seq = view->seq + to;
    part->bytes += to - from;
}

void bb_part_join(BbPart *part, const BbPart *piece)
{
    if (!piece->begun)
        return;
    if (!part->begun) {
        *part = *piece;
        return;
    }
    part->last_ns = MAX(part->last_ns, piece->last_ns);
    part->end_seq = piece->end_seq;
    part->bytes += piece->bytes;
}
