// SPDX-License-Identifier: Apache-2.0
// In: bytes of a TCP stream. Out: frames, one begin and one end each.
#include "capture/protocols/framing.h"

#define MISFIT_MAX (16u * 1024u) // bytes of a side that never had a frame before it is given up

static void end_frame(BbFrameSide *side, const BbFraming *framing, BbDialog *dialog, void *state)
{
    if (!side->under_way)
        return;
    side->under_way = false;
    framing->end(dialog, state, &side->part);
    bb_part_reset(&side->part);
}

// Passes over bytes up to a packet that begins with a frame.
static gssize find_start(BbFrameSide *side, const BbFraming *framing, BbDialog *dialog, void *state,
                         const BbView *view)
{
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
    bb_dialog_pass_over(dialog, view, at);
    side->passed += (guint32)at;
    if (side->lost && !side->good && side->passed > MISFIT_MAX)
        return BB_PARSE_BAD;
    return (gssize)at;
}

static void lose(BbFrameSide *side, const BbFraming *framing, BbDialog *dialog, void *state,
                 BbDirection direction)
{
    side->lost = true;
    if (framing->lose)
        framing->lose(dialog, state, direction);
}

// Where the other side makes sense, this one may have been joined in the middle.
static gssize lose_place(BbFrames *frames, const BbFraming *framing, BbDialog *dialog, void *state,
                         const BbView *view)
{
    BbFrameSide *side = &frames->side[view->direction];
    if (!frames->side[BB_TO_SERVER].good && !frames->side[BB_TO_CLIENT].good)
        return BB_PARSE_BAD;
    gsize next = bb_view_next_packet(view, 0);
    lose(side, framing, dialog, state, view->direction);
    side->passed += (guint32)next;
    bb_dialog_pass_over(dialog, view, next);
    return (gssize)next;
}

static gssize take_frame(BbFrameSide *side, const BbFraming *framing, BbDialog *dialog, void *state,
                         const BbView *view, const BbFrameSize *frame)
{
    gsize have = MIN(view->length, frame->length);
    side->under_way = side->good = true;
    side->end_seq = view->seq + (guint32)frame->length;
    bb_part_add(&side->part, view, 0, have);
    framing->begin(dialog, state, view->data, MIN(have, frame->wanted), &side->part);
    if (have < frame->length)
        bb_dialog_skip(dialog, view->direction, frame->length - have, &side->part);
    else
        end_frame(side, framing, dialog, state);
    return (gssize)have;
}

static gssize read_frame(BbFrames *frames, const BbFraming *framing, BbDialog *dialog, void *state,
                         const BbView *view)
{
    BbFrameSide *side = &frames->side[view->direction];
    BbFrameSize frame = {0};
    BbFrameVerdict verdict =
        framing->measure(state, view->direction, view->data, view->length, &frame);
    if (verdict == BB_FRAME_MORE)
        return view->closed ? (gssize)view->length : 0;
    if (verdict == BB_FRAME_BAD || frame.length == 0 || frame.length > BB_FRAME_MAX)
        return lose_place(frames, framing, dialog, state, view);
    if (view->length < MIN(frame.wanted, frame.length) && !view->closed)
        return 0;
    return take_frame(side, framing, dialog, state, view, &frame);
}

gssize bb_frames_parse(BbFrames *frames, const BbFraming *framing, BbDialog *dialog, void *state,
                       const BbView *view)
{
    BbFrameSide *side = &frames->side[view->direction];
    if (side->under_way) {
        gint32 rest = (gint32)(side->end_seq - view->seq);
        if (rest > 0 && view->closed && view->length == 0) { // a gap inside does no harm
            bb_dialog_skip(dialog, view->direction, (guint64)rest, &side->part);
            return 0;
        }
        end_frame(side, framing, dialog, state);
    }
    if (side->lost) {
        gssize passed = find_start(side, framing, dialog, state, view);
        if (passed != 0 || side->lost)
            return passed;
    }
    return view->length ? read_frame(frames, framing, dialog, state, view) : 0;
}

void bb_frames_gap(BbFrames *frames, const BbFraming *framing, BbDialog *dialog, void *state,
                   BbDirection direction)
{
    end_frame(&frames->side[direction], framing, dialog, state);
    lose(&frames->side[direction], framing, dialog, state, direction);
}

void bb_frames_finish(BbFrames *frames, const BbFraming *framing, BbDialog *dialog, void *state)
{
    end_frame(&frames->side[BB_TO_SERVER], framing, dialog, state);
    end_frame(&frames->side[BB_TO_CLIENT], framing, dialog, state);
}
