// SPDX-License-Identifier: Apache-2.0
// In: bytes of a TCP stream. Out: frames, one begin and one end each.
#include "capture/protocols/framing.h"

#define MISFIT_MAX (16u * 1024u) // bytes of a side that never had a frame before it is given up

static BbFrameSide *side_of(void *state, BbDirection direction)
{
    return &((BbFrames *)state)->side[direction];
}

static void end_frame(BbDialog *dialog, void *state, BbDirection direction)
{
    BbFrameSide *side = side_of(state, direction);
    if (!side->under_way)
        return;
    side->under_way = false;
    bb_dialog_framing(dialog)->end(dialog, state, &side->part);
    bb_part_reset(&side->part);
}

// Passes over bytes up to a packet that begins with a frame.
static gssize find_start(BbDialog *dialog, void *state, const BbView *view)
{
    BbFrameSide *side = side_of(state, view->direction);
    const BbFraming *framing = bb_dialog_framing(dialog);
    gsize at = 0;
    while (at < view->length) {
        BbMatch match = framing->find ? framing->find(dialog, state, view, at)
                                      : framing->probe(view->data + at, view->length - at);
        if (match == BB_MATCH_MORE && !view->closed)
            break;
        if (match >= BB_MATCH_LIKELY) {
            side->lost = false;
            bb_dialog_resynced(dialog);
            break;
        }
        at = bb_view_next_packet(view, at);
    }
    bb_dialog_pass_over(dialog, view, 0, at);
    side->passed += (guint32)at;
    if (side->lost && !side->good && side->passed > MISFIT_MAX)
        return BB_PARSE_BAD;
    return (gssize)at;
}

static void lose(BbDialog *dialog, void *state, BbDirection direction)
{
    const BbFraming *framing = bb_dialog_framing(dialog);
    side_of(state, direction)->lost = true;
    if (framing->lose)
        framing->lose(dialog, state, direction);
}

// Where the other side makes sense, this one may have been joined in the middle.
static gssize lose_place(BbDialog *dialog, void *state, const BbView *view)
{
    const BbFrames *frames = state;
    if (!frames->side[BB_TO_SERVER].good && !frames->side[BB_TO_CLIENT].good)
        return BB_PARSE_BAD;
    gsize next = bb_view_next_packet(view, 0);
    lose(dialog, state, view->direction);
    side_of(state, view->direction)->passed += (guint32)next;
    bb_dialog_pass_over(dialog, view, 0, next);
    return (gssize)next;
}

static gssize take_frame(BbDialog *dialog, void *state, const BbView *view,
                         const BbFrameSize *frame)
{
    BbFrameSide *side = side_of(state, view->direction);
    gsize have = MIN(view->length, frame->length);
    side->under_way = side->good = true;
    side->end_seq = view->seq + (guint32)frame->length;
    bb_part_add(&side->part, view, 0, have);
    bb_dialog_framing(dialog)->begin(dialog, state, view->data, MIN(have, frame->wanted),
                                     &side->part);
    if (have < frame->length)
        bb_dialog_skip(dialog, view->direction, frame->length - have, &side->part);
    else
        end_frame(dialog, state, view->direction);
    return (gssize)have;
}

static gssize read_frame(BbDialog *dialog, void *state, const BbView *view)
{
    BbFrameSize frame = {0};
    BbFrameVerdict verdict = bb_dialog_framing(dialog)->measure(state, view->direction, view->data,
                                                                view->length, &frame);
    if (verdict == BB_FRAME_MORE)
        return view->closed ? (gssize)view->length : 0;
    if (verdict == BB_FRAME_BAD || frame.length == 0 || frame.length > BB_FRAME_MAX)
        return lose_place(dialog, state, view);
    if (view->length < MIN(frame.wanted, frame.length) && !view->closed)
        return 0;
    return take_frame(dialog, state, view, &frame);
}

gssize bb_frames_parse(BbDialog *dialog, void *state, const BbView *view)
{
    BbFrameSide *side = side_of(state, view->direction);
    if (side->under_way) {
        gint32 rest = (gint32)(side->end_seq - view->seq);
        if (rest > 0 && view->closed && view->length == 0) { // a gap inside does no harm
            bb_dialog_skip(dialog, view->direction, (guint64)rest, &side->part);
            return 0;
        }
        end_frame(dialog, state, view->direction);
    }
    if (side->lost) {
        gssize passed = find_start(dialog, state, view);
        if (passed != 0 || side->lost)
            return passed;
    }
    return view->length ? read_frame(dialog, state, view) : 0;
}

void bb_frames_gap(BbDialog *dialog, void *state, BbDirection direction)
{
    end_frame(dialog, state, direction);
    lose(dialog, state, direction);
}

void bb_frames_finish(BbDialog *dialog, void *state)
{
    end_frame(dialog, state, BB_TO_SERVER);
    end_frame(dialog, state, BB_TO_CLIENT);
}
