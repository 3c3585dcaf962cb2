// SPDX-License-Identifier: Apache-2.0
// In: HTTP/2 (RFC 9113) by prior knowledge, after an upgrade from HTTP/1.1 (RFC 7540, 3.2), or
// joined in the middle; gRPC in it. Out: one call a stream.
//
// Header blocks go to HPACK as they come, other payloads are skipped: nothing waits in the buffer
// but heads of frames. Gaps: each side knows the sequence number at which the frame under way ends,
// so that a gap inside of it does no harm to what follows; after any other gap a frame is looked
// for. Streams pair by their number whatever was lost; names that a lost header block could have
// defined are `?`.
#include "capture/cursor.h"
#include "capture/protocols/http2_frame.h"
#include "capture/protocols/http2_stream.h"

#define FEW_FRAMES 4u       // before which a side that makes no sense is another protocol
#define STREAMS_AHEAD 4096u // how far stream numbers may go on in a gap, besides
#define REQUEST_LEAST 10u   // bytes that each request takes
#define GOAWAY_HEAD 8u
#define CHAIN_ENOUGH 16u // frames in a row that leave no doubt that they are some

typedef enum {
    PHASE_START,   // nothing was read
    PHASE_HEAD,    // the next byte is the first of a frame
    PHASE_PAYLOAD, // up to end_seq
    PHASE_LOST,    // looking for a frame
} Phase;

typedef struct Side {
    BbHttp2Hpack *hpack;
    BbPart part;        // of the frame under way; of the whole header block
    BbHttp2Frame frame; // under way
    BbHttp2Frame first; // frame that began the header block
    guint64 end_seq;    // PHASE_PAYLOAD: position behind the frame
    guint32 promised;   // stream that the header block promises
    guint32 searched;   // bytes, PHASE_LOST
    guint8 pad;         // bytes at the end of the payload
    guint8 frames;      // that were read, up to FEW_FRAMES
    guint8 phase;
    bool in_block; // header block without its end
    bool gapped;
} Side;

typedef struct Http2 {
    Side side[2];
    BbHttp2Streams streams;
    guint64 asked_seq; // position of the highest request
    bool whole; // the beginning of the connection was seen: preface, or the server's SETTINGS
} Http2;

typedef struct Reader {
    BbDialog *dialog;
    Http2 *http2;
    Side *side;
    const BbView *view;
    gsize at; // bytes before it are taken
} Reader;

typedef enum { STEP_ON, STEP_WAIT, STEP_BAD } Step;

static gsize left_of(const Reader *r)
{
    return r->view->length - r->at;
}

static bool from_client(const Reader *r)
{
    return r->view->direction == BB_TO_SERVER;
}

// Takes count bytes that belong to the frame under way.
static void take(Reader *r, gsize count)
{
    bb_part_add(&r->side->part, r->view, r->at, r->at + count);
    r->at += count;
}

static BbHttp2Event event_of(BbDialog *dialog, const Side *side, BbDirection direction)
{
    const BbHttp2Frame *frame = side->in_block ? &side->first : &side->frame;
    return (BbHttp2Event){
        .dialog = dialog,
        .direction = direction,
        .id = frame->stream,
        .end_stream = frame->flags & BB_HTTP2_END_STREAM,
        .part = &side->part,
    };
}

// ---- header blocks ----------------------------------------------------------------------------

static void lose_fields(Side *side)
{
    if (side->hpack)
        bb_http2_hpack_lose(side->hpack);
}

static void begin_block(Side *side)
{
    if (!side->hpack)
        side->hpack = bb_http2_hpack_new(false);
    bb_http2_hpack_begin(side->hpack);
    side->first = side->frame;
    side->in_block = true;
}

// The block ends, or what was seen of it.
static void end_block(BbDialog *dialog, Http2 *http2, BbDirection direction)
{
    Side *side = &http2->side[direction];
    const BbHttp2Fields *fields = bb_http2_hpack_end(side->hpack);
    BbHttp2Event event = event_of(dialog, side, direction);
    if (side->first.type == BB_HTTP2_HEADERS) {
        bb_http2_streams_headers(&http2->streams, &event, fields);
        if (http2->streams.last_request == event.id && direction == BB_TO_SERVER)
            http2->asked_seq = side->part.seq;
    } else {
        event.id = side->promised;
        bb_http2_streams_promise(&http2->streams, &event, fields);
    }
    side->in_block = false;
    bb_part_reset(&side->part);
}

// A data frame that is cut off counts with what was seen of it.
static void end_part(BbDialog *dialog, Http2 *http2, BbDirection direction)
{
    Side *side = &http2->side[direction];
    if (side->in_block) {
        lose_fields(side);
        end_block(dialog, http2, direction);
    } else if (side->phase == PHASE_PAYLOAD && side->frame.type == BB_HTTP2_DATA) {
        BbHttp2Event event = event_of(dialog, side, direction);
        event.end_stream = false;
        bb_http2_streams_data(&http2->streams, &event);
    }
    bb_part_reset(&side->part);
}

// ---- losing the place, and finding it again ---------------------------------------------------

// Bytes that the client has sent since the highest request that was seen, as far as that is known.
static guint64 sent_since(const Reader *r, gsize at)
{
    const BbView *view = r->view;
    const BbMark *last = &view->marks[view->n_marks - 1];
    guint64 now = from_client(r) ? view->seq + at : last->ack;
    bool known = from_client(r) || last->has_ack;
    return known && now > r->http2->asked_seq ? now - r->http2->asked_seq : 0;
}

// How many frames in a row are asked for before it is believed that streams have such numbers at
// `at`: 1 where they are expected, 2 where so many requests can have passed, else 3.
static guint frames_wanted(const Reader *r, gsize at, guint32 stream)
{
    guint32 last = r->http2->streams.last_request;
    if (stream <= (last ? last + STREAMS_AHEAD : BB_HTTP2_STREAM_LIKELY))
        return 1;
    guint64 ahead = STREAMS_AHEAD + 2 * (sent_since(r, at) / REQUEST_LEAST);
    return last && stream <= last + ahead ? 2 : 3;
}

static void search_on(Reader *r, gsize to)
{
    bb_dialog_unread(r->dialog, r->view->direction, to - r->at);
    r->side->searched += (guint32)(to - r->at);
    r->at = to;
}

// No frame where one should be: none begins with this byte.
static Step lose_place(Reader *r)
{
    Side *side = r->side;
    bool first = side->phase == PHASE_START;
    if (r->http2->whole ? first && !side->gapped : !first && side->frames < FEW_FRAMES)
        return STEP_BAD;
    lose_fields(side);
    r->http2->streams.complete &= !from_client(r);
    side->phase = PHASE_LOST;
    side->searched = 0;
    search_on(r, r->at + 1);
    return STEP_ON;
}

typedef enum { HERE_NOT, HERE, HERE_PERHAPS } Here;

// Whether a frame begins here. Where messages begin with packets one that fits is believed;
// elsewhere another must follow, or the data end with it. Where streams are higher than expected, a
// header block of the right side must be among them.
static Here frame_here(const Reader *r, gsize at, bool packet)
{
    const BbView *view = r->view;
    BbHttp2Chain chain = bb_http2_chain(view->data + at, view->length - at, CHAIN_ENOUGH);
    BbMatch wrong = from_client(r) ? BB_MATCH_REPLY : BB_MATCH_REQUEST;
    guint wanted = frames_wanted(r, at, chain.highest);
    bool known = chain.sender != BB_MATCH_NO;
    if (chain.broken || chain.sender == wrong || (wanted > 1 && !known))
        return HERE_NOT;
    bool alone = packet && wanted == 1 && chain.heads && (chain.exact || known);
    if (chain.heads >= MAX(wanted, 2) || alone)
        return HERE;
    return view->closed ? HERE_NOT : HERE_PERHAPS;
}

// All bytes are candidates, since frames of several streams follow one another in long runs.
static Step search(Reader *r)
{
    const BbView *view = r->view;
    gsize packet = r->at ? bb_view_next_packet(view, r->at - 1) : 0;
    while (left_of(r)) {
        const guint8 *zero = memchr(view->data + r->at, 0, left_of(r));
        search_on(r, zero ? (gsize)(zero - view->data) : view->length);
        while (packet < r->at)
            packet = bb_view_next_packet(view, packet);
        Here here = left_of(r) ? frame_here(r, r->at, packet == r->at) : HERE_NOT;
        if (here == HERE_PERHAPS)
            return STEP_WAIT;
        if (here == HERE) {
            r->side->phase = PHASE_HEAD;
            bb_dialog_resynced(r->dialog);
            return STEP_ON;
        }
        if (left_of(r))
            search_on(r, r->at + 1);
    }
    return r->side->searched > BB_HTTP2_FRAME_MAX ? STEP_BAD : STEP_WAIT;
}

// ---- heads of frames --------------------------------------------------------------------------

// The first bytes of a direction: the preface and the server's SETTINGS tell that nothing came
// before.
static Step start(Reader *r)
{
    Side *side = r->side;
    const guint8 *data = r->view->data + r->at;
    gsize left = left_of(r), most = MIN(left, BB_HTTP2_PREFACE_LENGTH);
    if (left == 0)
        return STEP_WAIT;
    if (from_client(r) && memcmp(data, BB_HTTP2_PREFACE, most) == 0) {
        if (most < BB_HTTP2_PREFACE_LENGTH)
            return STEP_WAIT;
        r->at += BB_HTTP2_PREFACE_LENGTH;
        r->http2->whole = true;
        r->http2->streams.complete = !side->gapped;
        side->hpack = side->gapped ? NULL : bb_http2_hpack_new(true);
        side->phase = PHASE_HEAD;
        return STEP_ON;
    }
    if (left < BB_HTTP2_HEAD && data[0] == 0)
        return STEP_WAIT;
    if (left < BB_HTTP2_HEAD)
        return lose_place(r);
    BbHttp2Frame frame = bb_http2_frame(data);
    bool first = frame.type == BB_HTTP2_SETTINGS && !(frame.flags & BB_HTTP2_ACK) &&
                 bb_http2_frame_valid(&frame) && !from_client(r) && !side->gapped;
    if (!first && frame_here(r, r->at, true) == HERE_NOT)
        return lose_place(r);
    if (first) {
        side->hpack = bb_http2_hpack_new(true);
        r->http2->whole = true;
    }
    side->phase = PHASE_HEAD;
    return STEP_ON;
}

// Bytes of the payload that have to be there before the frame is looked at.
static guint wanted(const Reader *r, const BbHttp2Frame *frame)
{
    if (frame->type == BB_HTTP2_RST_STREAM)
        return frame->length;
    if (frame->type == BB_HTTP2_GOAWAY)
        return GOAWAY_HEAD;
    const BbHttp2Stream *stream = bb_http2_streams_find(&r->http2->streams, frame->stream);
    bool sniffed = frame->type == BB_HTTP2_DATA && from_client(r) && stream && stream->untyped &&
                   frame->length >= BB_GRPC_PREFIX && !(frame->flags & BB_HTTP2_PADDED);
    return sniffed ? BB_GRPC_PREFIX : bb_http2_frame_prefix(frame);
}

// A content-type that cannot be known: gRPC is told by its messages, whose first is as long as the
// frame that holds it. there: bytes of the payload.
static void sniff(Reader *r, const guint8 *payload, guint there)
{
    const BbHttp2Frame *frame = &r->side->frame;
    if (frame->type != BB_HTTP2_DATA || there < BB_GRPC_PREFIX)
        return;
    BbHttp2Stream *stream = bb_http2_streams_find(&r->http2->streams, frame->stream);
    stream->untyped = false;
    if (bb_grpc_is_message(payload, frame->length))
        bb_http2_stream_is_grpc(stream, r->dialog);
}

// Reads what stands before the data or the header block. False: the padding does not fit.
static bool read_prefix(Reader *r, const guint8 *payload, guint prefix)
{
    Side *side = r->side;
    BbCursor c = bb_cursor(payload, prefix);
    side->pad = side->frame.flags & BB_HTTP2_PADDED && prefix ? bb_cursor_u8(&c) : 0;
    if (side->frame.type == BB_HTTP2_PUSH_PROMISE)
        side->promised = bb_cursor_be32(&c) & BB_HTTP2_STREAM_MAX;
    return side->pad <= side->frame.length - prefix;
}

static void reset_stream(Reader *r, const guint8 *payload)
{
    BbCursor c = bb_cursor(payload, 4);
    BbHttp2Event event = event_of(r->dialog, r->side, r->view->direction);
    bb_http2_streams_reset(&r->http2->streams, &event, bb_cursor_be32(&c));
}

static void go_away(Reader *r, const guint8 *payload)
{
    BbCursor c = bb_cursor(payload, GOAWAY_HEAD);
    BbHttp2Event event = event_of(r->dialog, r->side, r->view->direction);
    event.id = bb_cursor_be32(&c) & BB_HTTP2_STREAM_MAX;
    if (!from_client(r))
        bb_http2_streams_goaway(&r->http2->streams, &event, bb_cursor_be32(&c));
}

// Blocks end with the frame that says so; CONTINUATION without a beginning is of a block that a gap
// ended.
static void begin_payload(Reader *r, const guint8 *payload)
{
    Side *side = r->side;
    switch (side->frame.type) {
    case BB_HTTP2_HEADERS:
    case BB_HTTP2_PUSH_PROMISE:
        begin_block(side);
        break;
    case BB_HTTP2_CONTINUATION:
        if (!side->in_block)
            lose_fields(side);
        break;
    case BB_HTTP2_RST_STREAM:
        reset_stream(r, payload);
        break;
    case BB_HTTP2_GOAWAY:
        go_away(r, payload);
        break;
    default:
        break;
    }
}

// Section 6.10: nothing comes between the frames of a header block.
static bool fits_block(const Side *side, const BbHttp2Frame *frame)
{
    return !side->in_block ||
           (frame->type == BB_HTTP2_CONTINUATION && frame->stream == side->first.stream);
}

static Step read_head(Reader *r)
{
    Side *side = r->side;
    const guint8 *head = r->view->data + r->at;
    if (left_of(r) < BB_HTTP2_HEAD)
        return STEP_WAIT;
    BbHttp2Frame frame = bb_http2_frame(head);
    bool odd = frame.type >= BB_HTTP2_TYPES && frame.length > BB_HTTP2_FRAME_USUAL;
    if (!fits_block(side, &frame))
        end_part(r->dialog, r->http2, r->view->direction);
    if (odd || !bb_http2_frame_valid(&frame))
        return lose_place(r);
    guint there = wanted(r, &frame), prefix = bb_http2_frame_prefix(&frame);
    if (left_of(r) < BB_HTTP2_HEAD + there)
        return STEP_WAIT;
    side->frame = frame;
    const guint8 *payload = head + BB_HTTP2_HEAD;
    if (!read_prefix(r, payload, prefix))
        return lose_place(r);
    sniff(r, payload, there);
    side->end_seq = r->view->seq + r->at + BB_HTTP2_HEAD + frame.length;
    side->phase = PHASE_PAYLOAD;
    side->frames += side->frames < FEW_FRAMES;
    bool kept = frame.type == BB_HTTP2_RST_STREAM || frame.type == BB_HTTP2_GOAWAY;
    take(r, BB_HTTP2_HEAD + (kept ? there : prefix));
    begin_payload(r, payload);
    return STEP_ON;
}

// ---- payloads ---------------------------------------------------------------------------------

// The stream whose gRPC messages this frame holds, NULL if they are not counted.
static BbGrpcFraming *messages_of(const Reader *r)
{
    const BbHttp2Frame *frame = &r->side->frame;
    BbHttp2Stream *stream = frame->type == BB_HTTP2_DATA
                                ? bb_http2_streams_find(&r->http2->streams, frame->stream)
                                : NULL;
    if (!stream || !stream->grpc || stream->framing[r->view->direction].lost)
        return NULL;
    return &stream->framing[r->view->direction];
}

static void count_messages(Reader *r, BbGrpcFraming *messages, gsize count)
{
    if (r->side->pad)
        messages->lost = true; // nobody pads them
    guint further = bb_grpc_take(messages, r->view->data + r->at, count);
    while (further--)
        bb_dialog_count(r->dialog, BB_STREAM_MESSAGES);
}

// Takes what is there of the payload. rest: bytes of the frame that are not taken yet.
static void take_payload(Reader *r, gsize count, gsize rest)
{
    Side *side = r->side;
    BbGrpcFraming *messages = messages_of(r);
    if (messages)
        count_messages(r, messages, count);
    gsize block = rest > side->pad ? MIN(count, rest - side->pad) : 0;
    if (side->in_block && block)
        bb_http2_hpack_feed(side->hpack, r->view->data + r->at, block);
    take(r, count);
}

// Leaves bytes that do not matter to the dialog: up to the end of the frame or of the gRPC message.
static Step pass(Reader *r, gsize rest)
{
    BbGrpcFraming *messages = messages_of(r);
    if (messages && r->view->closed) { // a gap follows: whatever is in it, the frame goes on behind
        messages->lost = true;
        messages = NULL;
    }
    if (r->side->in_block || (messages && !messages->left))
        return STEP_WAIT;
    if (messages) {
        rest = MIN(rest, messages->left);
        bb_grpc_pass(messages, (guint32)rest);
    }
    bb_dialog_skip(r->dialog, r->view->direction, rest, &r->side->part);
    return STEP_WAIT;
}

static void end_frame(Reader *r)
{
    Side *side = r->side;
    side->phase = PHASE_HEAD;
    if (side->in_block) {
        if (side->frame.flags & BB_HTTP2_END_HEADERS)
            end_block(r->dialog, r->http2, r->view->direction);
        return;
    }
    if (side->frame.type == BB_HTTP2_DATA) {
        BbHttp2Event event = event_of(r->dialog, side, r->view->direction);
        bb_http2_streams_data(&r->http2->streams, &event);
    }
    bb_part_reset(&side->part);
}

static Step read_payload(Reader *r)
{
    Side *side = r->side;
    gint64 rest = (gint64)(side->end_seq - (r->view->seq + r->at));
    if (rest < 0) { // a gap went beyond its end
        bb_part_reset(&side->part);
        side->phase = PHASE_LOST;
        side->searched = 0;
        return STEP_ON;
    }
    gsize count = MIN((gsize)rest, left_of(r));
    take_payload(r, count, (gsize)rest);
    if (count < (gsize)rest)
        return pass(r, (gsize)rest - count);
    end_frame(r);
    return STEP_ON;
}

// ---- the decoder ------------------------------------------------------------------------------

static gssize parse(BbDialog *dialog, void *state, const BbView *view)
{
    static Step (*const steps[])(Reader *) = {
        [PHASE_START] = start,
        [PHASE_HEAD] = read_head,
        [PHASE_PAYLOAD] = read_payload,
        [PHASE_LOST] = search,
    };
    Http2 *http2 = state;
    Reader r = {dialog, http2, &http2->side[view->direction], view, 0};
    Step step;
    do
        step = steps[r.side->phase](&r);
    while (step == STEP_ON);
    return step == STEP_BAD ? BB_PARSE_BAD : (gssize)r.at;
}

static void gap(BbDialog *dialog, void *state, BbDirection direction)
{
    Http2 *http2 = state;
    Side *side = &http2->side[direction];
    end_part(dialog, http2, direction);
    bb_http2_streams_gap(&http2->streams, dialog, direction);
    lose_fields(side);
    side->gapped = true;
    if (side->phase == PHASE_HEAD || side->phase == PHASE_START) {
        side->phase = PHASE_LOST;
        side->searched = 0;
    }
}

static void free_fields(Http2 *http2)
{
    for (guint i = 0; i < 2; i++)
        g_clear_pointer(&http2->side[i].hpack, bb_http2_hpack_free);
}

static void finish(BbDialog *dialog, void *state)
{
    Http2 *http2 = state;
    end_part(dialog, http2, BB_TO_SERVER);
    end_part(dialog, http2, BB_TO_CLIENT);
    bb_http2_streams_finish(&http2->streams, dialog);
    free_fields(http2);
}

static gsize held(const void *state)
{
    const Http2 *http2 = state;
    gsize bytes = bb_http2_streams_held(&http2->streams);
    for (guint i = 0; i < 2; i++)
        bytes += http2->side[i].hpack ? bb_http2_hpack_held(http2->side[i].hpack) : 0;
    return bytes;
}

// Calls that are not answered yet stay open, and are found by their number.
static void let_go(BbDialog *dialog, void *state)
{
    finish(dialog, state);
}

const BbDecoder bb_decoder_http2 = {
    .name = "http2",
    .about = "HTTP/2 (RFC 9113) and gRPC, also upgraded from HTTP/1: by stream number",
    .tcp = true,
    .ports = {80, 8080, 50051, 9090, 443, 8443},
    .state_size = sizeof(Http2),
    .probe = bb_http2_probe,
    .parse = parse,
    .gap = gap,
    .finish = finish,
    .held = held,
    .let_go = let_go,
};
