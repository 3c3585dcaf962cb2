// SPDX-License-Identifier: Apache-2.0
// In: bytes of a TCP stream. Out: frames, one begin and one end each.
#include "capture/protocols/framing.h"

#define MISFIT_MAX (16u * 1024u) // bytes of a side that never had a frame before it is given up
#define LOOK_MAX 4096u           // bytes that tell whether a frame begins inside of a packet
#define CUT_MAX 512u             // of a frame that is cut, which do not tell yet
#define WAIT_MAX (48u * 1024u)   // of frames that are waited for to see what follows them
#define EVIDENCE_ENOUGH 3u

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

// ---- finding the place again --------------------------------------------------------------------

typedef enum { HERE_NOT, HERE, HERE_PERHAPS } Here;

typedef struct Search {
    BbDialog *dialog;
    void *state;
    const BbView *view;
    const BbFraming *framing;
} Search;

static BbMatch match_at(const Search *s, const BbView *view, gsize at)
{
    return s->framing->find ? s->framing->find(s->dialog, s->state, view, at)
                            : s->framing->probe(view->data + at, view->length - at);
}

// Where messages begin with packets one that fits is believed.
static Here at_packet(const Search *s, gsize at)
{
    BbMatch match = match_at(s, s->view, at);
    if (match == BB_MATCH_MORE && !s->view->closed)
        return HERE_PERHAPS;
    return match >= BB_MATCH_LIKELY ? HERE : HERE_NOT;
}

// Whether a frame of which few bytes are seen begins at `at`. evidence: 1 for one that is likely, 2
// for one that is certain.
static Here look_at(const Search *s, gsize at, guint *evidence, BbFrameSize *frame)
{
    BbView look = *s->view;
    look.length = MIN(look.length, at + LOOK_MAX);
    Here cut = s->view->length - at <= CUT_MAX ? HERE_PERHAPS : HERE_NOT;
    bool up = look.direction == BB_TO_SERVER;
    BbMatch match = match_at(s, &look, at), mine = up ? BB_MATCH_REQUEST : BB_MATCH_REPLY;
    if (match == BB_MATCH_MORE)
        return cut;
    if (match != BB_MATCH_LIKELY && match != mine)
        return HERE_NOT;
    BbFrameVerdict verdict =
        s->framing->measure(s->state, look.direction, look.data + at, look.length - at, frame);
    if (verdict == BB_FRAME_MORE)
        return cut;
    if (verdict == BB_FRAME_BAD || frame->length == 0 || frame->length > BB_FRAME_MAX)
        return HERE_NOT;
    *evidence += match == mine ? 2 : 1;
    return HERE;
}

// Inside of a packet frames must follow one another, or end where the data end. What is not seen to
// its end is waited for, unless that is too long.
static Here inside_packet(const Search *s, gsize from)
{
    gsize at = from;
    guint evidence = 0;
    while (at < s->view->length) {
        BbFrameSize frame = {0};
        Here here = look_at(s, at, &evidence, &frame);
        if (here == HERE_NOT || evidence >= EVIDENCE_ENOUGH)
            return here;
        if (here == HERE_PERHAPS)
            break;
        at += frame.length;
    }
    if (at == s->view->length && evidence + 1 >= EVIDENCE_ENOUGH)
        return HERE;
    return !s->view->closed && at - from <= WAIT_MAX ? HERE_PERHAPS : HERE_NOT;
}

// The next place to look at, from `from` on; packet: where the next packet begins.
static gsize next_place(const Search *s, gsize from, gsize packet)
{
    const BbFrameSign *sign = &s->framing->sign;
    if (!s->framing->anywhere || from >= packet)
        return packet;
    if (!sign->known)
        return from;
    gsize first = (gsize)((gssize)from + sign->at), last = (gsize)((gssize)packet + sign->at);
    gsize end = MIN(last, s->view->length);
    const guint8 *found =
        first < end ? memchr(s->view->data + first, sign->byte, end - first) : NULL;
    if (found)
        return (gsize)(found - s->view->data - sign->at);
    gssize cut = MAX((gssize)from, (gssize)end - sign->at); // where it is not there yet
    return MIN(packet, (gsize)cut);
}

// Returns where a frame begins, or where one may: while that is waited for inside of a packet, one
// that begins with a later packet is believed before.
static gsize search(const Search *s, BbFrameSide *side)
{
    const BbView *view = s->view;
    gsize at = 0, packet = side->inside ? bb_view_next_packet(view, 0) : 0, waits = view->length;
    side->inside = false;
    while (at < view->length) {
        bool inside = at < packet;
        Here here = inside ? inside_packet(s, at) : at_packet(s, at);
        side->lost = here != HERE;
        if (here == HERE)
            return at;
        if (here == HERE_PERHAPS && waits == view->length) {
            waits = at;
            side->inside = inside;
        }
        if (here == HERE_PERHAPS && !inside)
            break;
        if (!inside)
            packet = bb_view_next_packet(view, at);
        at = waits < view->length ? packet : next_place(s, at + 1, packet);
    }
    return waits;
}

// Passes over bytes up to a frame.
static gssize find_start(BbDialog *dialog, void *state, const BbView *view)
{
    BbFrameSide *side = side_of(state, view->direction);
    const Search s = {dialog, state, view, bb_dialog_framing(dialog)};
    gsize at = search(&s, side);
    if (!side->lost)
        bb_dialog_resynced(dialog);
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
    side_of(state, direction)->inside = false;
    if (framing->lose)
        framing->lose(dialog, state, direction);
}

// Where the other side makes sense, this one may have been joined in the middle.
static gssize lose_place(BbDialog *dialog, void *state, const BbView *view)
{
    BbFrames *frames = state;
    BbFrameSide *side = &frames->side[view->direction];
    if (!frames->side[BB_TO_SERVER].good && !frames->side[BB_TO_CLIENT].good)
        return BB_PARSE_BAD;
    gsize packet = bb_view_next_packet(view, 0);
    gsize next = bb_dialog_framing(dialog)->anywhere ? MIN(1, packet) : packet;
    lose(dialog, state, view->direction);
    side->inside = next < packet;
    side->passed += (guint32)next;
    bb_dialog_pass_over(dialog, view, 0, next);
    return (gssize)next;
}

static gssize take_frame(BbDialog *dialog, void *state, const BbView *view,
                         const BbFrameSize *frame)
{
    BbFrameSide *side = side_of(state, view->direction);
    gsize have = MIN(view->length, frame->length);
    side->under_way = side->good = true;
    side->end_seq = view->seq + frame->length;
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
        gint64 rest = (gint64)(side->end_seq - view->seq);
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
