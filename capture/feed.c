// SPDX-License-Identifier: Apache-2.0
// In: the bytes of a dialog in order, gaps, ends. Out: calls of the right decoder with views of
// them.
#include "capture/feed.h"

#include "capture/choice.h"
#include "capture/doubt.h"
#include "capture/protocols/proxy.h"
#include "capture/skips.h"
#include "capture/unanswered.h"

BbDialog *bb_dialog_new(BbContext *context, const BbEndpoints *endpoints, bool is_tcp, guint client,
                        bool client_known)
{
    BbDialog *dialog = g_new0(BbDialog, 1);
    dialog->context = context;
    dialog->endpoints = endpoints;
    dialog->is_tcp = is_tcp;
    dialog->client = (guint8)client;
    dialog->client_known = dialog->from_start = client_known;
    dialog->begun = !is_tcp || !client_known;
    return dialog;
}

void bb_dialog_joined(BbDialog *dialog)
{
    dialog->from_start = false;
    dialog->begun = true;
}

BbDialog *bb_dialog_new_inner(const BbDialog *outer)
{
    BbDialog *dialog = bb_dialog_new(outer->context, outer->endpoints, outer->is_tcp, outer->client,
                                     outer->client_known);
    dialog->from_start = outer->from_start;
    dialog->holed = outer->holed;
    dialog->told = outer->told; // that was about outer
    dialog->inner = dialog->begun = true;
    return dialog;
}

void bb_dialog_expect(BbDialog *dialog, const BbDecoder *decoder)
{
    dialog->next = decoder;
}

// ---- the decoder ------------------------------------------------------------------------------

// For who copies packets (capture/skips.h).
static void tell_skip(const BbDialog *dialog, guint number, guint64 seq, guint64 count)
{
    const BbContext *context = dialog->context;
    if (!context->skips || !dialog->is_tcp || dialog->inner || count == BB_SKIP_REST)
        return;
    const BbSkipped skipped = {(guint32)seq, count, bb_context_packet(context)};
    bb_skips_tell(context->skips, dialog->endpoints, number, &skipped);
}

static void end_skip(BbDialog *dialog, guint number)
{
    BbSide *side = &dialog->side[number];
    if (side->skip)
        tell_skip(dialog, number, 0, 0);
    side->skip = 0;
}

void bb_dialog_end_decoder(BbDialog *dialog, bool give_up_calls)
{
    if (dialog->decoder && dialog->decoder->finish)
        dialog->decoder->finish(dialog, dialog->state);
    if (dialog->decoder && give_up_calls)
        bb_dialog_give_up_all(dialog);
    g_clear_pointer(&dialog->state, g_free);
    dialog->decoder = NULL;
    for (guint side = 0; side < 2; side++) {
        end_skip(dialog, side);
        dialog->side[side].skip_part = NULL;
    }
}

// ---- views ------------------------------------------------------------------------------------

static void advance(BbView *view, BbMark **marks, gsize count)
{
    view->data += count;
    view->length -= count;
    view->seq += count;
    while (view->n_marks && (*marks)->end <= count) {
        ++*marks;
        view->n_marks--;
    }
    for (guint i = 0; i < view->n_marks; i++)
        (*marks)[i].end -= count;
    view->marks = *marks;
}

static void take_skipped(BbSide *side, BbView *view, BbMark **marks)
{
    gsize count = (gsize)MIN(side->skip, view->length);
    bb_part_add(side->skip_part, view, 0, count);
    if (side->skip != BB_SKIP_REST)
        side->skip -= count;
    advance(view, marks, count);
}

// Where it is known what follows, open calls may still be answered.
static void switch_decoder(BbDialog *dialog)
{
    dialog->switching = false;
    dialog->turns_probed = 0;
    if (dialog->next)
        bb_dialog_adopt(dialog);
    bb_dialog_end_decoder(dialog, !dialog->next);
}

// Lets the decoder take what it can of view; what remains there has to wait for more.
static void run(BbDialog *dialog, guint number, BbView *view, BbMark **marks, BbHearing hearing)
{
    BbSide *side = &dialog->side[number];
    hearing.over |= view->closed;
    for (;;) {
        if (!dialog->decoder &&
            (!view->length || !bb_dialog_choose_decoder(dialog, number, view, hearing)))
            return;
        view->direction = bb_dialog_direction(dialog, number);
        if (side->skip) {
            take_skipped(side, view, marks);
            if (side->skip && !view->closed)
                return;
            end_skip(dialog, number);
        }
        gssize taken = dialog->decoder->parse(dialog, dialog->state, view);
        if (taken == BB_PARSE_BAD && dialog->decoder != &bb_decoder_turns) {
            bb_dialog_give_up_decoder(dialog);
            continue;
        }
        gsize count = MIN((gsize)MAX(taken, 0), view->length);
        advance(view, marks, count);
        if (G_UNLIKELY(side->skip >= view->length + BB_SKIPS_LEAST))
            tell_skip(dialog, number, view->seq, side->skip);
        if (dialog->switching) {
            switch_decoder(dialog);
            continue;
        }
        bool stuck = view->closed && count == 0;
        if (stuck || (!side->skip && (count == 0 || view->length == 0)))
            return;
    }
}

// ---- the buffer of a side -----------------------------------------------------------------------

static void clear_buffer(BbSide *side)
{
    g_clear_pointer(&side->buffer, g_free);
    g_clear_pointer(&side->marks, g_free);
    side->buffered = side->capacity = 0;
    side->n_marks = side->marks_capacity = 0;
}

static void add_mark(BbSide *side, const BbMark *mark)
{
    if (side->n_marks == BB_DIALOG_MARKS) {
        side->marks[side->n_marks - 1].end = mark->end;
        return;
    }
    if (side->n_marks == side->marks_capacity) {
        side->marks_capacity = (guint16)MAX(4, side->marks_capacity * 2);
        side->marks = g_renew(BbMark, side->marks, side->marks_capacity);
    }
    side->marks[side->n_marks++] = *mark;
}

static gsize room_for(gsize length)
{
    return MAX(512u, 1u << g_bit_storage(length - 1));
}

static void store(BbSide *side, const guint8 *data, gsize length, const BbMark *mark)
{
    if (side->buffered + length > side->capacity) {
        side->capacity = (guint32)room_for(side->buffered + length);
        side->buffer = g_realloc(side->buffer, side->capacity);
    }
    memcpy(side->buffer + side->buffered, data, length);
    side->buffered += (guint32)length;
    BbMark placed = *mark;
    placed.end = side->buffered;
    add_mark(side, &placed);
}

// A large segment needed more room, and the decoder took most of it.
static void give_back_room(BbSide *side)
{
    if (side->capacity <= BB_DIALOG_BUFFER || side->buffered > BB_DIALOG_BUFFER)
        return;
    side->capacity = (guint32)room_for(side->buffered);
    side->buffer = g_realloc(side->buffer, side->capacity);
}

// Keeps what run left of a view over the buffer.
static void keep_rest(BbSide *side, const BbView *view, const BbMark *marks)
{
    side->seq = view->seq;
    if (!view->length) {
        if (side->capacity > BB_DIALOG_KEPT_BUFFER || side->marks_capacity > BB_DIALOG_KEPT_MARKS)
            clear_buffer(side);
        side->buffered = side->n_marks = 0;
        return;
    }
    if (view->data != side->buffer) {
        memmove(side->buffer, view->data, view->length);
        memmove(side->marks, marks, view->n_marks * sizeof *marks);
    }
    side->buffered = (guint32)view->length;
    side->n_marks = (guint16)view->n_marks;
    give_back_room(side);
}

static void run_buffer(BbDialog *dialog, guint number, bool closed, BbHearing hearing)
{
    BbSide *side = &dialog->side[number];
    BbMark *marks = side->marks;
    BbView view = {
        .data = side->buffer ? side->buffer : (const guint8 *)"",
        .length = side->buffered,
        .closed = closed,
        .seq = side->seq,
        .marks = marks,
        .n_marks = side->n_marks,
    };
    run(dialog, number, &view, &marks, hearing);
    keep_rest(side, &view, marks);
}

static void lose_place(BbDialog *dialog, guint number)
{
    if (dialog->decoder->gap)
        dialog->decoder->gap(dialog, dialog->state, bb_dialog_direction(dialog, number));
    else
        bb_dialog_give_up_decoder(dialog);
    if (dialog->switching) // what the gap ended was the message after which another takes over
        switch_decoder(dialog);
}

// No byte before seq comes any more: calls asked or answered by them are reckoned with.
static void lose_until(BbDialog *dialog, guint number, guint64 seq)
{
    BbSide *side = &dialog->side[number];
    side->seq = seq;
    side->headless |= !dialog->decoder;
    if (dialog->decoder)
        lose_place(dialog, number);
    dialog->holed = side->had_gap = true;
    side->gap_end = seq;
    bb_dialog_give_up_before(dialog, !number, seq);
}

// A message head that outgrows the buffer is given up like a gap that ends at seq. unread: bytes
// that nobody will read.
static void outgrow(BbDialog *dialog, guint number, guint64 seq, gsize unread)
{
    dialog->context->loss->count[BB_MESSAGE_LIMIT]++;
    bb_dialog_unread(dialog, bb_dialog_direction(dialog, number), unread);
    clear_buffer(&dialog->side[number]);
    lose_until(dialog, number, seq);
}

// ---- what comes in ----------------------------------------------------------------------------

static void feed_directly(BbDialog *dialog, guint number, const BbPiece *piece, BbMark mark)
{
    BbSide *side = &dialog->side[number];
    BbMark *marks = &mark;
    BbView view = {
        .data = piece->data,
        .length = piece->length,
        .seq = piece->seq,
        .marks = &mark,
        .n_marks = 1,
    };
    side->seq = piece->seq;
    if (bb_dialog_probe_turn(dialog, number, &view))
        run(dialog, number, &view, &marks, (BbHearing){0});
    side->seq = view.seq;
    if (view.length > BB_DIALOG_BUFFER)
        outgrow(dialog, number, view.seq + view.length, view.length);
    else if (view.length)
        store(side, view.data, view.length, &mark);
}

static void feed_datagram(BbDialog *dialog, guint number, const BbPiece *piece, BbMark mark)
{
    BbMark first_and_rest[] = {mark, mark}, *marks = first_and_rest;
    first_and_rest[0].end = 1;
    first_and_rest[1].time_ns += piece->took_ns;
    BbView view = {
        .data = piece->data,
        .length = piece->length,
        .closed = true,
        .datagram = true,
        .missing = piece->missing,
        .marks = marks,
        .n_marks = 2,
    };
    (void)bb_dialog_probe_turn(dialog, number, &view);
    run(dialog, number, &view, &marks, (BbHearing){.over = true});
}

// Whether what the client has said may become the head of a proxy.
static bool awaits_head(const BbDialog *dialog, guint number)
{
    return !dialog->begun && number == dialog->client;
}

// The other side answers while no decoder was found yet: what this one has said must do.
// answer: what the other side says, NULL if it is not known.
static void hear_out(BbDialog *dialog, guint number, const BbAnswer *answer)
{
    bool waits = !dialog->decoder || awaits_head(dialog, number);
    if (!waits || !dialog->side[number].buffered)
        return;
    dialog->begun |= number == dialog->client;
    run_buffer(dialog, number, false, (BbHearing){.over = true, .answer = answer});
}

// Reads what waits in the buffer of a side, unless it begins a turn of which more bytes may tell.
static void read_turn(BbDialog *dialog, guint number)
{
    const BbSide *side = &dialog->side[number];
    BbView view = {
        .data = side->buffer,
        .length = side->buffered,
        .seq = side->seq,
        .marks = side->marks,
        .n_marks = side->n_marks,
    };
    if (bb_dialog_probe_turn(dialog, number, &view))
        run_buffer(dialog, number, false, (BbHearing){0});
}

// What waits of a turn must do: no more of it comes, or only behind what is there.
static void hear_turn(BbDialog *dialog)
{
    guint number = dialog->turning - 1u;
    if (!dialog->turning)
        return;
    dialog->turning = 0;
    run_buffer(dialog, number, false, (BbHearing){0});
}

static void hear_kept_answer(BbDialog *dialog)
{
    guint number = dialog->answering - 1u;
    BbSide *side = &dialog->side[number];
    BbAnswer answer = {side->buffer, side->buffered};
    dialog->answering = 0;
    hear_out(dialog, !number, &answer);
    read_turn(dialog, number);
    dialog->last_spoke = (guint8)(number + 1);
}

// The answer that was kept must do, too.
static inline void hear_answer(BbDialog *dialog)
{
    if (dialog->answering)
        hear_kept_answer(dialog);
}

// Keeps the beginning of an answer as long as more of it may tell the protocol. Returns whether
// piece was kept.
static bool keep_answer(BbDialog *dialog, guint number, const BbPiece *piece, const BbMark *mark)
{
    BbSide *side = &dialog->side[number];
    bool waits = dialog->is_tcp && !dialog->decoder && dialog->side[!number].buffered;
    bool more;
    if (!waits || dialog->answering == !number + 1u || side->skip ||
        side->buffered + piece->length > BB_DIALOG_PROBE)
        return false;
    if (!dialog->answering) {
        BbAnswer answer = {piece->data, piece->length};
        if (side->buffered || bb_dialog_find_by_answer(dialog, &answer, &more) || !more)
            return false;
        side->seq = piece->seq;
    }
    dialog->answering = (guint8)(number + 1);
    store(side, piece->data, piece->length, mark);
    BbAnswer answer = {side->buffer, side->buffered};
    if (bb_dialog_find_by_answer(dialog, &answer, &more) || !more)
        hear_answer(dialog);
    return true;
}

// What waited is read together with piece, however large that is. Returns whether piece is done
// with: where it is not, what waited has outgrown the buffer, and a message may begin with piece.
static bool feed_buffer(BbDialog *dialog, guint number, const BbPiece *piece, const BbMark *mark)
{
    BbSide *side = &dialog->side[number];
    store(side, piece->data, piece->length, mark);
    if (dialog->turning == number + 1u)
        read_turn(dialog, number);
    else
        run_buffer(dialog, number, false, (BbHearing){0});
    if (side->buffered <= BB_DIALOG_BUFFER)
        return true;
    bool untouched = side->buffered > piece->length;
    outgrow(dialog, number, piece->seq + (untouched ? 0 : piece->length),
            side->buffered - (untouched ? piece->length : 0));
    return !untouched;
}

static void feed_stream(BbDialog *dialog, guint number, const BbPiece *piece, BbMark mark)
{
    if (!dialog->side[number].buffered || !feed_buffer(dialog, number, piece, &mark))
        feed_directly(dialog, number, piece, mark);
}

static BbMark mark_of(const BbPiece *piece)
{
    return (BbMark){
        .end = piece->length,
        .time_ns = piece->time_ns,
        .ack = piece->ack,
        .has_ack = piece->has_ack,
        .place = piece->place,
    };
}

static void feed(BbDialog *dialog, guint number, const BbPiece *piece)
{
    BbMark mark = mark_of(piece);
    if (keep_answer(dialog, number, piece, &mark))
        return;
    hear_answer(dialog);
    hear_out(dialog, !number, &(BbAnswer){piece->data, piece->length});
    if (dialog->turning == !number + 1u)
        hear_turn(dialog);
    if (dialog->is_tcp)
        feed_stream(dialog, number, piece, mark);
    else
        feed_datagram(dialog, number, piece, mark);
    dialog->last_spoke = (guint8)(number + 1);
    dialog->pieces += dialog->pieces < 2;
}

// ---- the head of a proxy ------------------------------------------------------------------------

// Whether what waits, and piece behind it, begin with one, and of what size.
static BbMatch match_head(const BbSide *side, const BbPiece *piece, guint32 *size)
{
    guint8 begin[BB_PROXY_DECIDED];
    gsize waits = MIN(side->buffered, sizeof begin);
    gsize more = MIN(piece->length, sizeof begin - waits);
    if (!waits)
        return bb_proxy_match(piece->data, piece->length, size);
    memcpy(begin, side->buffer, waits);
    memcpy(begin + waits, piece->data, more);
    return bb_proxy_match(begin, waits + more, size);
}

// The client's first bytes: keeps them as long as they may become a head. Returns whether piece was
// kept.
static bool find_head(BbDialog *dialog, guint number, const BbPiece *piece)
{
    BbSide *side = &dialog->side[number];
    guint32 size = 0;
    BbMatch match = match_head(side, piece, &size);
    if (match == BB_MATCH_MORE) {
        BbMark mark = mark_of(piece);
        if (!side->buffered)
            side->seq = piece->seq;
        store(side, piece->data, piece->length, &mark);
        return true;
    }
    dialog->begun = true;
    if (match == BB_MATCH_REQUEST) {
        dialog->head_left = size - side->buffered;
        clear_buffer(side);
    }
    return false;
}

// The connection begins behind the head.
static void feed_behind_head(BbDialog *dialog, guint number, const BbPiece *piece)
{
    if (awaits_head(dialog, number) && find_head(dialog, number, piece))
        return;
    guint32 count = MIN(dialog->head_left, piece->length);
    BbPiece rest = *piece;
    rest.data += count;
    rest.length -= count;
    rest.seq += count;
    dialog->head_left -= count;
    if (count)
        dialog->side[number].seq = rest.seq;
    if (rest.length)
        feed(dialog, number, &rest);
}

void bb_dialog_feed(BbDialog *dialog, guint number, const BbPiece *piece)
{
    if (dialog->finished || !piece->length)
        return;
    if (G_UNLIKELY(awaits_head(dialog, number) || dialog->head_left) && number == dialog->client)
        feed_behind_head(dialog, number, piece);
    else
        feed(dialog, number, piece);
}

// ---- gaps and ends ------------------------------------------------------------------------------

// In dialog.h.
void bb_dialog_skip(BbDialog *dialog, BbDirection direction, guint64 count, BbPart *part)
{
    guint number = bb_dialog_side(dialog, direction);
    if (!count)
        end_skip(dialog, number);
    dialog->side[number].skip = count;
    dialog->side[number].skip_part = part;
}

void bb_dialog_cut(BbDialog *dialog, guint number, guint64 seq, guint32 missing)
{
    BbSide *side = &dialog->side[number];
    if (!dialog->finished && side->skip >= missing && side->skip_part)
        side->skip_part->bytes += missing;
    bb_dialog_gap(dialog, number, seq, missing);
}

// Whether the missing bytes are skipped anyway.
static bool skip_gap(BbDialog *dialog, guint number, guint64 seq, guint32 missing)
{
    BbSide *side = &dialog->side[number];
    if (!side->skip || (side->skip != BB_SKIP_REST && side->skip < missing))
        return false;
    if (side->skip != BB_SKIP_REST)
        side->skip -= missing;
    side->seq = seq + missing;
    if (side->skip_part)
        side->skip_part->end_seq = side->seq;
    if (!side->skip)
        run_buffer(dialog, number, false, (BbHearing){0});
    return true;
}

void bb_dialog_gap(BbDialog *dialog, guint number, guint64 seq, guint32 missing)
{
    BbSide *side = &dialog->side[number];
    if (dialog->finished || skip_gap(dialog, number, seq, missing))
        return;
    if (number == dialog->client) {
        dialog->begun = true;
        dialog->head_left = 0;
    }
    hear_answer(dialog);
    hear_out(dialog, !number, NULL);
    hear_turn(dialog);
    if (side->buffered || side->skip)
        run_buffer(dialog, number, true, (BbHearing){.over = true}); // as far as it was seen
    clear_buffer(side);
    if (skip_gap(dialog, number, seq, missing)) // a message goes on behind them
        return;
    end_skip(dialog, number);
    if (dialog->next) // the one that another named, before it saw a byte
        bb_dialog_set_decoder(dialog, g_steal_pointer(&dialog->next));
    lose_until(dialog, number, seq + missing);
}

// What the decoder waits for is taken to be among them.
void bb_dialog_lose(BbDialog *dialog, guint number)
{
    const BbSide *side = &dialog->side[number];
    guint64 missing = side->skip == BB_SKIP_REST ? 0 : MIN(side->skip, G_MAXINT32);
    bb_dialog_gap(dialog, number, side->seq + side->buffered, (guint32)missing);
}

void bb_dialog_close(BbDialog *dialog, guint number)
{
    BbSide *side = &dialog->side[number];
    if (dialog->finished || side->closed)
        return;
    side->closed = true;
    hear_answer(dialog);
    if (dialog->turning == number + 1u)
        hear_turn(dialog);
    run_buffer(dialog, number, true, (BbHearing){.over = true});
    clear_buffer(side);
    bb_dialog_tell_closed(dialog, number);
    if (dialog->side[!number].closed)
        bb_dialog_finish(dialog);
}

void bb_dialog_finish(BbDialog *dialog)
{
    if (dialog->finished)
        return;
    hear_answer(dialog);
    hear_turn(dialog);
    guint first = dialog->client; // which may turn out to be the server by what is left to read
    for (guint i = 0; i < 2; i++) {
        guint number = i ? !first : first;
        if (!dialog->side[number].closed)
            run_buffer(dialog, number, true, (BbHearing){.over = true});
        dialog->side[number].closed = true;
        clear_buffer(&dialog->side[number]);
    }
    // A decoder that was named but saw no byte: the calls it was to answer are given up as its own.
    if (!dialog->decoder && dialog->n_open)
        bb_dialog_set_decoder(dialog, dialog->next ? dialog->next : &bb_decoder_turns);
    for (guint number = 0; number < 2; number++) { // where a reset ended it
        bb_dialog_tell_closed(dialog, number);
        dialog->context->loss->count[BB_DECODER_STRAYED] += dialog->side[number].strayed;
    }
    bb_dialog_end_decoder(dialog, true);
    dialog->finished = true;
}

guint bb_dialog_client(const BbDialog *dialog)
{
    return dialog->client;
}

guint32 bb_dialog_held(const BbDialog *dialog)
{
    guint32 held = 0;
    for (guint number = 0; number < 2; number++) {
        const BbSide *side = &dialog->side[number];
        if (side->buffered)
            held += side->capacity + side->marks_capacity * (guint32)sizeof(BbMark);
    }
    held += bb_unanswered_held(dialog);
    if (dialog->decoder && dialog->decoder->held)
        held += (guint32)dialog->decoder->held(dialog->state);
    return held;
}

void bb_dialog_drop_held(BbDialog *dialog)
{
    for (guint number = 0; number < 2; number++) {
        BbSide *side = &dialog->side[number];
        if (!side->buffered)
            continue;
        dialog->context->loss->count[BB_TCP_BUFFER_LIMIT]++;
        bb_dialog_gap(dialog, number, side->seq + side->buffered, 0);
    }
    if (dialog->decoder && dialog->decoder->held && dialog->decoder->held(dialog->state)) {
        dialog->context->loss->count[BB_TCP_BUFFER_LIMIT]++;
        dialog->decoder->let_go(dialog, dialog->state);
    }
    if (bb_unanswered_held(dialog))
        bb_dialog_forget_calls(dialog);
}

void bb_dialog_free(BbDialog *dialog)
{
    if (!dialog)
        return;
    bb_dialog_finish(dialog);
    bb_dialog_end_nodes(dialog);
    bb_unanswered_free(dialog);
    bb_doubt_free(dialog->doubt);
    g_free(dialog->conn);
    g_free(dialog);
}
