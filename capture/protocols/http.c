// SPDX-License-Identifier: Apache-2.0
// In: the bytes of HTTP/1.0 and 1.1 connections (RFC 9110, RFC 9112).
// Out: a call for each request, a return for its final response; tunnels are handed back.
#include "capture/protocols/http_line.h"
#include "capture/protocols/label.h"

#define PREFIX 64u // bytes of an unfinished start line that are looked at again when more come
#define CACHED 48u // bytes of method and path whose label is remembered

// TAG_UNKNOWN: of no call, or of one that was read before the protocol was known.
typedef enum { TAG_OTHER, TAG_HEAD, TAG_CONNECT, TAG_UNKNOWN } HttpTag;

typedef enum {
    HTTP_START,  // the next byte is the first of a start line
    HTTP_FIELDS, // header section
    HTTP_PEEK,   // a body was announced, but the next message may come in its place
    HTTP_BODY,   // the dialog skips a body
    HTTP_CHUNK_SIZE,
    HTTP_CHUNK_END, // line end after the data of a chunk, which the dialog may be skipping
    HTTP_TRAILERS,
    HTTP_SEARCH, // place lost, or a body of unknown length: look for the next start line
} HttpPhase;

typedef struct HttpSide {
    BbPart part;
    BbHttpFraming framing;
    guint64 call;    // client: the request's; server: the one being answered, 0 for an orphan
    guint32 scanned; // bytes of an unfinished line that are searched, and counted in part
    guint32 looked;  // bytes of an undecided start line that are searched but not counted
    guint16 code;    // server: status code
    guint8 phase;    // HttpPhase
    bool met;        // a start line was seen
    bool in_line;    // the rest of a header line without interest is being dropped
    bool paired;     // server: call is decided
    bool unheard;    // client: the response to an upgrade is missing
} HttpSide;

typedef struct HttpState {
    HttpSide side[2];
    guint32 op; // label of the cached bytes
    guint8 cached_length, method_length;
    guint8 cached[CACHED];
    guint8 method[BB_HTTP_METHOD_MAX]; // of an unfinished request line
} HttpState;

// One call of parse.
typedef struct HttpReader {
    BbDialog *dialog;
    HttpState *http;
    HttpSide *side;
    const BbView *view;
    gsize at;    // bytes before it are taken
    gsize added; // bytes before it are counted in side->part, or belong to no message
} HttpReader;

typedef enum { STEP_ON, STEP_WAIT, STEP_BAD } HttpStep;

static bool from_client(const HttpReader *r)
{
    return r->view->direction == BB_TO_SERVER;
}

static gsize left_of(const HttpReader *r)
{
    return r->view->length - r->at;
}

static void count_to(HttpReader *r, gsize to)
{
    if (to > r->added) {
        bb_part_add(&r->side->part, r->view, r->added, to);
        r->added = to;
    }
}

// ---- ends of messages -------------------------------------------------------------------------

static bool is_under_way(const HttpSide *side)
{
    return side->phase == HTTP_SEARCH ? side->part.begun : side->phase != HTTP_START;
}

static bool is_interim(guint code)
{
    return code < 200 && code != 101;
}

// Decides which call a response answers. Returns the tag of that call's method.
static HttpTag pair(BbDialog *dialog, HttpSide *side)
{
    const BbOpenCall *open = bb_dialog_oldest(dialog, &side->part);
    side->paired = true;
    side->call = open ? open->call : 0;
    return open && open->op ? (HttpTag)open->tag : TAG_UNKNOWN;
}

// RFC 9110, 15.5.9: a server that has waited for too long says so and closes. What asks nothing on
// a new connection may be told other errors, too.
static bool is_unasked(BbDialog *dialog, const HttpState *http)
{
    const HttpSide *side = &http->side[BB_TO_CLIENT];
    bool may_be = side->code == 408 || (side->code >= 400 && !http->side[BB_TO_SERVER].met);
    return may_be && !side->call && bb_dialog_is_unasked(dialog, &side->part);
}

static void end_reply(BbDialog *dialog, HttpState *http)
{
    HttpSide *side = &http->side[BB_TO_CLIENT], *client = &http->side[BB_TO_SERVER];
    if (is_interim(side->code))
        return; // RFC 9110, section 15.2: the final response is still to come
    if (!side->paired)
        pair(dialog, side);
    if (client->part.begun && side->call == client->call) // answered before it was complete
        bb_dialog_sent(dialog, client->call, &client->part);
    guint32 status = bb_dialog_status_code(dialog, side->code);
    if (is_unasked(dialog, http))
        bb_dialog_message(dialog, &side->part, BB_NAME_NONE, status);
    else
        bb_dialog_return(dialog, side->call, &side->part, status);
}

// Writes the message under way as far as it was seen and forgets it.
static void end_message(BbDialog *dialog, HttpState *http, BbDirection direction)
{
    HttpSide *side = &http->side[direction];
    if (direction == BB_TO_SERVER)
        bb_dialog_sent(dialog, side->call, &side->part);
    else
        end_reply(dialog, http);
    bb_part_reset(&side->part);
    side->phase = HTTP_START;
}

static HttpStep message_over(HttpReader *r)
{
    count_to(r, r->at);
    end_message(r->dialog, r->http, r->view->direction);
    return STEP_ON;
}

// A message whose start line was cut short.
static void end_start_line(BbDialog *dialog, HttpState *http, BbDirection direction)
{
    HttpSide *side = &http->side[direction];
    char text[BB_LABEL_MAX + 1];
    if (!side->part.begun) {
        return;
    } else if (direction == BB_TO_CLIENT) {
        side->paired = false;
        if (side->code)
            end_reply(dialog, http);
    } else if (http->method_length) {
        gsize length =
            bb_label_http(text, http->method, http->method_length, (const guint8 *)"*", 1);
        bool head = http->method_length == 4 && memcmp(http->method, "HEAD", 4) == 0;
        bb_dialog_call(dialog, &side->part, bb_dialog_label(dialog, text, length), 0,
                       head ? TAG_HEAD : TAG_OTHER);
    }
    bb_part_reset(&side->part);
}

static void end_as_seen(BbDialog *dialog, HttpState *http, BbDirection direction)
{
    if (is_under_way(&http->side[direction]))
        end_message(dialog, http, direction);
    else
        end_start_line(dialog, http, direction);
}

// ---- lines ------------------------------------------------------------------------------------

typedef struct HttpLine {
    const guint8 *text;
    gsize length; // without the line end, which may be a bare LF (section 2.2)
} HttpLine;

// Takes a whole line. Where it is not there yet, what is there counts and is not searched again.
static bool next_line(HttpReader *r, HttpLine *line)
{
    const BbView *view = r->view;
    gsize from = r->at + MIN(r->side->scanned, left_of(r));
    const guint8 *newline =
        from < view->length ? memchr(view->data + from, '\n', view->length - from) : NULL;
    if (!newline) {
        count_to(r, view->length);
        r->side->scanned = left_of(r);
        return false;
    }
    line->text = view->data + r->at;
    line->length = (gsize)(newline - line->text);
    r->at += line->length + 1;
    r->side->scanned = 0;
    if (line->length > 0 && line->text[line->length - 1] == '\r')
        line->length--;
    return true;
}

// Drops the rest of a line; false when its end is not there yet.
static bool drop_line(HttpReader *r)
{
    const BbView *view = r->view;
    const guint8 *newline = left_of(r) ? memchr(view->data + r->at, '\n', left_of(r)) : NULL;
    r->at = newline ? (gsize)(newline - view->data) + 1 : view->length;
    r->side->in_line = !newline;
    return newline != NULL;
}

// ---- start lines ------------------------------------------------------------------------------

static BbMatch match_start(const HttpReader *r, gsize most)
{
    const guint8 *data = r->view->data + r->at;
    gsize length = MIN(left_of(r), most);
    return from_client(r) ? bb_http_match_request(data, length) : bb_http_match_reply(data, length);
}

// Whether a start line begins here, without searching the same bytes again and again.
static BbMatch match_here(HttpReader *r)
{
    HttpSide *side = r->side;
    gsize left = left_of(r), looked = MIN(side->looked, left);
    const guint8 *data = r->view->data + r->at;
    BbMatch match = BB_MATCH_MORE;
    if (looked < PREFIX || left >= BB_HTTP_START_MAX || memchr(data + looked, '\n', left - looked))
        match = match_start(r, BB_HTTP_START_MAX);
    side->looked = match == BB_MATCH_MORE ? left : 0;
    return match;
}

static HttpStep begin_search(HttpReader *r)
{
    r->side->phase = HTTP_SEARCH;
    r->side->looked = 0;
    return STEP_ON;
}

// What follows in place of HTTP, in both directions.
static HttpStep switch_to(BbDialog *dialog, BbHttpUpgrade upgrade)
{
    if (upgrade == BB_HTTP_UPGRADE_H2C)
        bb_dialog_switch_to(dialog, &bb_decoder_http2);
    else if (upgrade == BB_HTTP_UPGRADE_WEBSOCKET)
        bb_dialog_switch_to(dialog, &bb_decoder_websocket);
    else
        bb_dialog_switch(dialog);
    return STEP_WAIT;
}

// After CONNECT or Upgrade, bytes of the tunnel may overtake the response that opens it, or tell
// what it was where it is missing.
static HttpStep enter_tunnel(HttpReader *r)
{
    HttpSide *side = r->side;
    if (bb_dialog_get(r->dialog, side->call))
        return STEP_WAIT;
    if (!side->unheard)
        return begin_search(r);
    bb_dialog_resynced(r->dialog);
    return switch_to(r->dialog, side->framing.upgrade);
}

// No start line where one should be.
static HttpStep not_a_start(HttpReader *r, gsize start)
{
    HttpSide *side = r->side;
    bb_part_reset(&side->part);
    side->scanned = 0;
    r->at = r->added = start;
    if (!side->met)
        return STEP_BAD; // a side that never spoke HTTP does not begin to: an unknown protocol
    bool tunnel = from_client(r) && side->framing.upgrade != BB_HTTP_NO_UPGRADE;
    return tunnel ? enter_tunnel(r) : begin_search(r);
}

// Keeps what the end of a start line cut short has to know.
static HttpStep wait_for_start(HttpReader *r, gsize before)
{
    HttpSide *side = r->side;
    const guint8 *data = r->view->data + r->at;
    if (before >= PREFIX)
        return STEP_WAIT;
    BbMatch match = match_start(r, PREFIX);
    if (match == BB_MATCH_NO)
        return not_a_start(r, r->at);
    side->code = match == BB_MATCH_REPLY ? (guint16)bb_http_status_line(data, 13) : 0;
    gsize most = MIN(left_of(r), BB_HTTP_METHOD_MAX + 1);
    const guint8 *blank = from_client(r) ? memchr(data, ' ', most) : NULL;
    if (from_client(r))
        r->http->method_length = blank ? (guint8)(blank - data) : 0;
    if (blank)
        memcpy(r->http->method, data, r->http->method_length);
    return STEP_WAIT;
}

static HttpTag tag_of(const BbHttpRequestLine *request)
{
    if (request->method_length == 4 && memcmp(request->method, "HEAD", 4) == 0)
        return TAG_HEAD;
    bool connect = request->method_length == 7 && memcmp(request->method, "CONNECT", 7) == 0;
    return connect ? TAG_CONNECT : TAG_OTHER;
}

// The label of the request; that of the last one where method and path are the same.
static guint32 label_of(HttpReader *r, const BbHttpRequestLine *request)
{
    HttpState *http = r->http;
    const guint8 *query =
        request->target_length ? memchr(request->target, '?', request->target_length) : NULL;
    const guint8 *end = query ? query : request->target + request->target_length;
    gsize length = (gsize)(end - request->method);
    if (length == http->cached_length && memcmp(http->cached, request->method, length) == 0)
        return http->op;
    char text[BB_LABEL_MAX + 1];
    gsize text_length = bb_label_http(text, request->method, request->method_length,
                                      request->target, request->target_length);
    http->op = bb_dialog_label(r->dialog, text, text_length);
    http->cached_length = length <= CACHED ? (guint8)length : 0;
    memcpy(http->cached, request->method, http->cached_length);
    return http->op;
}

static HttpStep begin_request(HttpReader *r, const HttpLine *line, gsize start)
{
    HttpSide *side = r->side;
    BbHttpRequestLine request;
    if (!bb_http_request_line(line->text, line->length, &request))
        return not_a_start(r, start);
    count_to(r, r->at);
    HttpTag tag = tag_of(&request);
    side->met = true;
    side->unheard = false;
    side->framing =
        (BbHttpFraming){.upgrade = tag == TAG_CONNECT ? BB_HTTP_UPGRADE : BB_HTTP_NO_UPGRADE};
    side->call = bb_dialog_open(r->dialog, &side->part, label_of(r, &request), 0, tag);
    side->phase = HTTP_FIELDS;
    return STEP_ON;
}

static HttpStep begin_reply(HttpReader *r, const HttpLine *line, gsize start)
{
    HttpSide *side = r->side;
    side->code = bb_http_status_line(line->text, line->length);
    if (!side->code)
        return not_a_start(r, start);
    count_to(r, r->at);
    side->met = true;
    side->paired = false;
    side->framing = (BbHttpFraming){0};
    side->phase = HTTP_FIELDS;
    return STEP_ON;
}

static HttpStep read_start(HttpReader *r)
{
    const BbView *view = r->view;
    if (r->side->scanned == 0) {
        while (left_of(r) && (view->data[r->at] == '\r' || view->data[r->at] == '\n'))
            r->at++; // section 2.2: left over from the message before
        r->added = r->at;
    }
    gsize start = r->at, before = r->side->scanned;
    HttpLine line;
    if (!left_of(r))
        return STEP_WAIT;
    if (!next_line(r, &line))
        return wait_for_start(r, before);
    return from_client(r) ? begin_request(r, &line, start) : begin_reply(r, &line, start);
}

// Where the next start line could begin: after a line end or with a packet.
static gsize next_candidate(const HttpReader *r)
{
    const BbView *view = r->view;
    gsize from = r->at + 1;
    const guint8 *newline =
        from < view->length ? memchr(view->data + r->at, '\n', view->length - r->at) : NULL;
    gsize best = newline ? (gsize)(newline - view->data) + 1 : view->length;
    guint low = 0, high = view->n_marks;
    while (low < high) {
        guint middle = (low + high) / 2;
        if (view->marks[middle].end < from)
            low = middle + 1;
        else
            high = middle;
    }
    return low < view->n_marks ? MIN(best, view->marks[low].end) : best;
}

// No more of the line comes, since the snap length cut it off, but it is a request.
static bool is_cut_request(const HttpReader *r)
{
    return r->view->closed && from_client(r) &&
           bb_http_begins_request(r->view->data + r->at, left_of(r));
}

static HttpStep search(HttpReader *r)
{
    HttpSide *side = r->side;
    BbMatch match = BB_MATCH_NO;
    gsize from = r->at;
    while (left_of(r) > 0 && (match = match_here(r)) == BB_MATCH_NO)
        r->at = next_candidate(r);
    if (side->part.begun)
        count_to(r, r->at);
    else
        bb_dialog_unread(r->dialog, r->view->direction, r->at - from);
    r->added = r->at;
    if (!left_of(r) || (match == BB_MATCH_MORE && !is_cut_request(r)))
        return STEP_WAIT;
    bb_dialog_resynced(r->dialog);
    if (side->part.begun)
        return message_over(r);
    side->phase = HTTP_START;
    return STEP_ON;
}

// ---- bodies -----------------------------------------------------------------------------------

// Takes count bytes of body, or leaves them to the dialog: parse is called again when they are
// over.
static HttpStep take_body(HttpReader *r, guint64 count)
{
    if (count <= left_of(r)) {
        r->at += (gsize)count;
        return STEP_ON;
    }
    count_to(r, r->at);
    bb_dialog_skip(r->dialog, r->view->direction, count, &r->side->part);
    return STEP_WAIT;
}

static HttpStep begin_body(HttpReader *r)
{
    HttpSide *side = r->side;
    side->phase = HTTP_BODY;
    return take_body(r, side->framing.has_length ? side->framing.length : BB_SKIP_REST);
}

// A client that sent Expect may leave out the body when it was refused (RFC 9110, 10.1.1); the
// response to an unknown request may be one to HEAD. What comes next tells.
static HttpStep peek(HttpReader *r)
{
    if (!left_of(r))
        return STEP_WAIT;
    bool doubtful = !from_client(r) || !bb_dialog_get(r->dialog, r->side->call);
    BbMatch match = doubtful ? match_here(r) : BB_MATCH_NO;
    if (match == BB_MATCH_MORE)
        return STEP_WAIT;
    return match == BB_MATCH_NO ? begin_body(r) : message_over(r);
}

static HttpStep broken_body(HttpReader *r)
{
    message_over(r);
    return begin_search(r);
}

static HttpStep read_chunk_size(HttpReader *r)
{
    gsize start = r->at, before = r->side->scanned;
    HttpLine line;
    guint64 size = 0;
    if (!left_of(r))
        return STEP_WAIT;
    bool digit = g_ascii_isxdigit(r->view->data[start]);
    if (digit && !next_line(r, &line))
        return STEP_WAIT;
    if (!digit || !bb_http_chunk_line(line.text, line.length, &size)) {
        r->at = start;
        r->side->part.bytes -= before; // they are not of this message, maybe of the next
        r->side->part.end_seq -= before;
        return broken_body(r);
    }
    r->side->phase = size ? HTTP_CHUNK_END : HTTP_TRAILERS;
    return size ? take_body(r, size) : STEP_ON;
}

static HttpStep read_chunk_end(HttpReader *r)
{
    const guint8 *data = r->view->data + r->at;
    gsize left = left_of(r);
    if (left == 0 || (left == 1 && data[0] == '\r'))
        return STEP_WAIT;
    gsize length = data[0] == '\r' ? 2 : 1;
    if (data[length - 1] != '\n')
        return broken_body(r);
    r->at += length;
    r->side->phase = HTTP_CHUNK_SIZE;
    return STEP_ON;
}

// ---- header sections --------------------------------------------------------------------------

// Section 6.3, rules 4 to 8. doubtful: the body may not come. until_close: a body whose length is
// not known lasts as long as the connection; otherwise there is none.
static HttpStep framed_body(HttpReader *r, bool doubtful, bool until_close)
{
    const BbHttpFraming *framing = &r->side->framing;
    if (framing->coding == BB_HTTP_CHUNKED) {
        r->side->phase = HTTP_CHUNK_SIZE;
        return STEP_ON;
    }
    bool other = framing->coding == BB_HTTP_OTHER_CODING;
    if (other ? !until_close : framing->bad_length)
        return begin_search(r);
    if (other || !framing->has_length) {
        if (!until_close)
            return message_over(r);
        r->side->framing.has_length = false;
    } else if (framing->length == 0) {
        return message_over(r);
    }
    r->side->phase = HTTP_PEEK;
    r->side->looked = 0;
    return doubtful ? STEP_ON : begin_body(r);
}

static HttpStep request_body(HttpReader *r)
{
    const HttpSide *side = r->side;
    const BbOpenCall *open = bb_dialog_get(r->dialog, side->call);
    if (side->framing.upgrade == BB_HTTP_UPGRADE_H2C) // its return may come as HTTP/2
        bb_dialog_call_protocol(r->dialog, side->call, bb_decoder_http.name);
    if (open && open->tag == TAG_CONNECT)
        return message_over(r);
    return framed_body(r, side->framing.expect, false);
}

// Whether a response of that code, to a request of tag, is the last message of HTTP.
static bool is_last(HttpTag tag, guint code)
{
    return code == 101 || (tag == TAG_CONNECT && code < 300);
}

// What follows behind it.
static BbHttpUpgrade upgrade_of(const HttpState *http)
{
    const HttpSide *side = &http->side[BB_TO_CLIENT];
    BbHttpUpgrade upgrade = side->code == 101 ? side->framing.upgrade : BB_HTTP_UPGRADE;
    return upgrade == BB_HTTP_NO_UPGRADE ? http->side[BB_TO_SERVER].framing.upgrade : upgrade;
}

// Something else follows. A request that was upgraded to HTTP/2 is answered there, as stream 1 (RFC
// 7540, 3.2).
static HttpStep leave(HttpReader *r)
{
    HttpSide *side = r->side;
    BbHttpUpgrade upgrade = upgrade_of(r->http);
    if (upgrade == BB_HTTP_UPGRADE_H2C) {
        bb_part_reset(&side->part);
        side->phase = HTTP_START;
    } else {
        message_over(r);
    }
    return switch_to(r->dialog, upgrade);
}

// The rest of the head is missing. A request that was upgraded to HTTP/2 is answered by what there
// is, since its response might be missing, too.
static bool leave_cut(BbDialog *dialog, HttpState *http)
{
    HttpSide *side = &http->side[BB_TO_CLIENT];
    bool cut_line = side->phase == HTTP_START && side->part.begun && side->code;
    if (cut_line)
        side->framing = (BbHttpFraming){0};
    if (!(cut_line || side->phase == HTTP_FIELDS) || is_interim(side->code) ||
        !is_last(pair(dialog, side), side->code))
        return false;
    end_message(dialog, http, BB_TO_CLIENT);
    (void)switch_to(dialog, upgrade_of(http));
    return true;
}

static HttpStep reply_body(HttpReader *r)
{
    HttpSide *side = r->side;
    count_to(r, r->at);
    if (is_interim(side->code))
        return message_over(r);
    HttpTag tag = pair(r->dialog, side);
    guint code = side->code;
    if (is_last(tag, code))
        return leave(r);
    if (tag == TAG_HEAD || code == 204 || code == 304)
        return message_over(r);
    return framed_body(r, tag == TAG_UNKNOWN, true);
}

// Lines without interest need not be there as a whole.
static bool can_drop(const HttpReader *r)
{
    guint8 first = r->view->data[r->at];
    if (first == '\r' || first == '\n')
        return false;
    return r->side->phase == HTTP_TRAILERS || !bb_http_field_matters(first);
}

static HttpStep read_fields(HttpReader *r)
{
    HttpSide *side = r->side;
    HttpLine line;
    for (;;) {
        if (side->in_line || (left_of(r) && can_drop(r))) {
            side->framing.field = 0;
            if (!drop_line(r))
                return STEP_WAIT;
            continue;
        }
        if (!left_of(r) || !next_line(r, &line))
            return STEP_WAIT;
        if (line.length == 0)
            break;
        if (side->phase == HTTP_FIELDS)
            bb_http_field_line(&side->framing, line.text, line.length);
    }
    if (side->phase == HTTP_TRAILERS)
        return message_over(r);
    return from_client(r) ? request_body(r) : reply_body(r);
}

// ---- the decoder ------------------------------------------------------------------------------

static BbMatch probe(const guint8 *data, gsize length)
{
    while (length > 0 && (*data == '\r' || *data == '\n')) {
        data++;
        length--;
    }
    BbMatch match = bb_http_match_reply(data, length);
    if (match != BB_MATCH_NO)
        return match;
    match = bb_http_match_request(data, length);
    bool likely = match == BB_MATCH_MORE && bb_http_begins_request(data, length);
    return likely ? BB_MATCH_LIKELY : match;
}

static gssize parse(BbDialog *dialog, void *state, const BbView *view)
{
    static HttpStep (*const steps[])(HttpReader *) = {
        [HTTP_START] = read_start,
        [HTTP_FIELDS] = read_fields,
        [HTTP_PEEK] = peek,
        [HTTP_BODY] = message_over,
        [HTTP_CHUNK_SIZE] = read_chunk_size,
        [HTTP_CHUNK_END] = read_chunk_end,
        [HTTP_TRAILERS] = read_fields,
        [HTTP_SEARCH] = search,
    };
    HttpState *http = state;
    HttpSide *side = &http->side[view->direction];
    HttpReader r = {dialog, http, side, view, .added = side->scanned};
    HttpStep step;
    do
        step = steps[side->phase](&r);
    while (step == STEP_ON);
    if (step == STEP_BAD)
        return BB_PARSE_BAD;
    if (is_under_way(side))
        count_to(&r, r.at);
    return (gssize)r.at;
}

static void gap(BbDialog *dialog, void *state, BbDirection direction)
{
    HttpState *http = state;
    HttpSide *side = &http->side[direction], *client = &http->side[BB_TO_SERVER];
    if (direction == BB_TO_CLIENT && leave_cut(dialog, http))
        return;
    end_as_seen(dialog, http, direction);
    side->phase = HTTP_SEARCH;
    side->scanned = side->looked = 0;
    side->in_line = false;
    if (direction == BB_TO_CLIENT && client->framing.upgrade != BB_HTTP_NO_UPGRADE)
        client->unheard |= bb_dialog_get(dialog, client->call) != NULL;
}

static void finish(BbDialog *dialog, void *state)
{
    end_as_seen(dialog, state, BB_TO_SERVER);
    end_as_seen(dialog, state, BB_TO_CLIENT);
}

const BbDecoder bb_decoder_http = {
    .name = "http",
    .about = "HTTP/1 (RFC 9112), with its upgrades: in order of the requests",
    .tcp = true,
    .ports = {80, 8080, 8000, 3128, 8008, 8888},
    .state_size = sizeof(HttpState),
    .probe = probe,
    .parse = parse,
    .gap = gap,
    .finish = finish,
};
