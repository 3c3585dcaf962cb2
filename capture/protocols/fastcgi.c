// SPDX-License-Identifier: Apache-2.0
// In: FastCGI (specification 1.0) over TCP. Out: a call for each request, from BEGIN_REQUEST to the
// end of STDIN, by request id, and its return from the first STDOUT to END_REQUEST. STDERR is a
// log, no part of either.
#include "capture/protocols/cgi_head.h"
#include "capture/protocols/fastcgi_record.h"
#include "capture/protocols/framing.h"
#include "capture/protocols/meaning.h"

#define REQUESTS 8u          // at a time on a connection; the oldest is ended then
#define PARAMS_WANTED 60000u // bytes of a record of PARAMS that are looked at
#define STDOUT_WANTED 8192u  // and of STDOUT, while its header section goes on
#define END_SIZE 8u          // of END_REQUEST's content
#define MANAGEMENT_KEY 1u    // of calls of the connection; requests have their id and one more
#define OF_NOTHING REQUESTS  // a record of no request that is known

typedef struct Request {
    guint16 id; // 0: none
    bool known; // its beginning was seen
    bool opened, over;
    bool aborted;
    bool answered; // by what was seen before a loss: what still comes is the rest
    guint64 call;
    BbPart request, reply;
    BbFastcgiParams params;
    BbCgiHead head;
} Request;

typedef struct Fastcgi {
    BbFrames frames;
    BbFastcgiRecord record[2]; // under way
    guint of[2];               // the request it is of
    BbMeaning meaning[2];      // where it is of the connection
    guint32 ended[2];          // appStatus, protocolStatus of the END_REQUEST under way
    guint next;                // the slot that is taken next
    Request request[REQUESTS];
} Fastcgi;

// ---- requests -----------------------------------------------------------------------------------

static guint find_request(const Fastcgi *fastcgi, guint16 id)
{
    guint i = 0;
    while (i < REQUESTS && (fastcgi->request[i].id != id || id == 0))
        i++;
    return i;
}

static void open_call(BbDialog *dialog, Request *request)
{
    if (request->opened || !request->known)
        return;
    request->opened = true;
    request->call = bb_dialog_open_by(dialog, &request->request,
                                      bb_cgi_vars_label(&request->params.vars, dialog),
                                      (guint64)request->id + 1, 0, BB_KEY_REUSED);
}

static void end_call(BbDialog *dialog, Request *request)
{
    open_call(dialog, request);
    if (request->opened && !request->over)
        bb_dialog_sent(dialog, request->call, &request->request);
    request->over = true;
}

static void end_reply(BbDialog *dialog, Request *request, guint32 status)
{
    const BbOpenCall *open = bb_dialog_find(dialog, &request->reply, (guint64)request->id + 1);
    bool own = open && request->opened && open->call == request->call;
    bb_dialog_return(dialog, own ? open->call : 0, &request->reply, status);
}

// The end of its reply is not seen, or will not be.
static void lose_reply(BbDialog *dialog, Request *request)
{
    bb_cgi_head_lose(&request->head);
    if (!request->reply.begun)
        return;
    end_call(dialog, request);
    end_reply(dialog, request, bb_cgi_head_status(&request->head, dialog));
    bb_part_reset(&request->reply);
    request->answered = true;
}

// As far as it was seen.
static void end_request(BbDialog *dialog, Request *request)
{
    if (request->id == 0)
        return;
    end_call(dialog, request);
    lose_reply(dialog, request);
    *request = (Request){0};
}

// The slot of that id, else a free one, else the one that was taken longest ago.
static guint choose_slot(const Fastcgi *fastcgi, guint16 id)
{
    guint at = find_request(fastcgi, id);
    for (guint i = 0; i < REQUESTS && at == REQUESTS; i++)
        if (fastcgi->request[(fastcgi->next + i) % REQUESTS].id == 0)
            at = (fastcgi->next + i) % REQUESTS;
    return at < REQUESTS ? at : fastcgi->next;
}

static guint begin_request(BbDialog *dialog, Fastcgi *fastcgi, guint16 id, bool known)
{
    guint at = choose_slot(fastcgi, id);
    Request *request = &fastcgi->request[at];
    if (request->id != 0 && request->id != id)
        bb_dialog_count(dialog, BB_PENDING_LIMIT);
    end_request(dialog, request);
    *request = (Request){.id = id, .known = known};
    fastcgi->next = (at + 1) % REQUESTS;
    return at;
}

// ---- what a record means ------------------------------------------------------------------------

static guint32 status_of(BbDialog *dialog, const Request *request, guint32 application,
                         guint32 protocol)
{
    static const char *const refusals[] = {"CANT_MPX_CONN", "OVERLOADED", "UNKNOWN_ROLE"};
    const char *text = application || request->aborted ? "error" : "ok";
    if (protocol)
        text = protocol <= G_N_ELEMENTS(refusals) ? refusals[protocol - 1] : "error";
    else if (request->head.seen || request->head.damaged)
        return bb_cgi_head_status(&request->head, dialog);
    return bb_dialog_status(dialog, text, strlen(text));
}

// Section 4.
static void understand_management(BbMeaning *meaning, BbDialog *dialog, BbFastcgiType type)
{
    *meaning = (BbMeaning){.key = MANAGEMENT_KEY, .use = BB_KEY_QUEUED};
    if (type == BB_FASTCGI_GET_VALUES) {
        meaning->means = BB_MEANS_CALL;
        meaning->op = bb_dialog_label(dialog, "GET_VALUES", strlen("GET_VALUES"));
        return;
    }
    const char *text = type == BB_FASTCGI_UNKNOWN_TYPE ? "UNKNOWN_TYPE" : "ok";
    meaning->means = BB_MEANS_RETURN;
    meaning->status = bb_dialog_status(dialog, text, strlen(text));
}

static void begin_input(BbDialog *dialog, Request *request, const BbFastcgiRecord *record,
                        const guint8 *content, gsize there)
{
    switch (record->type) {
    case BB_FASTCGI_ABORT_REQUEST:
        request->aborted = true;
        break;
    case BB_FASTCGI_PARAMS:
        bb_fastcgi_params_feed(&request->params, content, there);
        request->params.broken |= there < record->content;
        if (record->content)
            return;
        break;
    case BB_FASTCGI_STDIN:
    case BB_FASTCGI_DATA:
        break;
    default:
        return;
    }
    open_call(dialog, request);
}

static void begin_output(BbDialog *dialog, Fastcgi *fastcgi, Request *request,
                         const BbFastcgiRecord *record, const guint8 *content, gsize there)
{
    open_call(dialog, request);
    if (record->type == BB_FASTCGI_STDOUT) {
        bb_cgi_head_feed(&request->head, content, there);
        if (there < record->content)
            bb_cgi_head_lose(&request->head);
    } else if (record->type == BB_FASTCGI_END_REQUEST) {
        bool whole = there >= END_SIZE;
        fastcgi->ended[0] = whole ? content[0] | content[1] | content[2] | content[3] : 0;
        fastcgi->ended[1] = whole ? content[4] : 0;
    }
}

// ---- frames -------------------------------------------------------------------------------------

static gsize wanted(const Fastcgi *fastcgi, const BbFastcgiRecord *record)
{
    guint at = find_request(fastcgi, record->id);
    switch (record->type) {
    case BB_FASTCGI_PARAMS:
        return MIN(record->content, PARAMS_WANTED);
    case BB_FASTCGI_END_REQUEST:
        return MIN(record->content, END_SIZE);
    case BB_FASTCGI_STDOUT:
        return at < REQUESTS && fastcgi->request[at].head.done
                   ? 0
                   : MIN(record->content, STDOUT_WANTED);
    default:
        return 0;
    }
}

static BbFrameVerdict measure(const void *state, BbDirection direction, const guint8 *data,
                              gsize length, BbFrameSize *frame)
{
    BbFastcgiRecord record;
    if (length < BB_FASTCGI_HEAD)
        return length && data[0] != 1 ? BB_FRAME_BAD : BB_FRAME_MORE;
    if (!bb_fastcgi_record_read(&record, data) || !bb_fastcgi_record_fits(&record, direction))
        return BB_FRAME_BAD;
    *frame =
        (BbFrameSize){.length = record.length, .wanted = BB_FASTCGI_HEAD + wanted(state, &record)};
    return BB_FRAME_OK;
}

// After a loss a record may also be the next one of a request that is open.
static BbMatch find(BbDialog *dialog, const void *state, const BbView *view, gsize at)
{
    const guint8 *data = view->data + at;
    gsize length = view->length - at;
    BbFastcgiRecord record;
    BbMatch match = bb_fastcgi_match(data, length);
    if (match == BB_MATCH_REQUEST || match == BB_MATCH_REPLY)
        match = bb_fastcgi_record_read(&record, data) &&
                        bb_fastcgi_record_fits(&record, view->direction)
                    ? match
                    : BB_MATCH_NO;
    if (match != BB_MATCH_NO || length < BB_FASTCGI_HEAD)
        return match;
    bool known = bb_fastcgi_record_read(&record, data) && data[7] == 0 &&
                 bb_fastcgi_record_fits(&record, view->direction) &&
                 find_request(state, record.id) < REQUESTS;
    return known ? BB_MATCH_LIKELY : BB_MATCH_NO;
}

static void begin(BbDialog *dialog, void *state, const guint8 *data, gsize seen, const BbPart *part)
{
    Fastcgi *fastcgi = state;
    BbDirection direction = part->direction;
    BbFastcgiRecord *record = &fastcgi->record[direction];
    fastcgi->of[direction] = OF_NOTHING;
    if (seen < BB_FASTCGI_HEAD || !bb_fastcgi_record_read(record, data))
        return;
    if (record->id == 0) {
        understand_management(&fastcgi->meaning[direction], dialog, record->type);
        bb_meaning_begin(&fastcgi->meaning[direction], dialog, part);
        return;
    }
    guint at = find_request(fastcgi, record->id);
    if (record->type == BB_FASTCGI_BEGIN_REQUEST)
        at = begin_request(dialog, fastcgi, record->id, true);
    else if (at == REQUESTS && direction == BB_TO_CLIENT && record->type != BB_FASTCGI_STDERR)
        at = begin_request(dialog, fastcgi, record->id, false);
    fastcgi->of[direction] = at;
    if (at == REQUESTS)
        return;
    const guint8 *content = data + BB_FASTCGI_HEAD;
    gsize there = MIN(seen - BB_FASTCGI_HEAD, record->content);
    if (direction == BB_TO_SERVER)
        begin_input(dialog, &fastcgi->request[at], record, content, there);
    else
        begin_output(dialog, fastcgi, &fastcgi->request[at], record, content, there);
}

static void end_input(BbDialog *dialog, Request *request, const BbFastcgiRecord *record,
                      const BbPart *part)
{
    bb_part_join(&request->request, part);
    if (record->type == BB_FASTCGI_STDIN && record->content == 0)
        end_call(dialog, request);
}

static void end_output(BbDialog *dialog, Fastcgi *fastcgi, Request *request,
                       const BbFastcgiRecord *record, const BbPart *part)
{
    if (record->type == BB_FASTCGI_STDERR)
        return;
    if (request->answered)
        bb_dialog_passed_rest(dialog, part, true);
    else
        bb_part_join(&request->reply, part);
    if (record->type != BB_FASTCGI_END_REQUEST)
        return;
    if (!request->answered) {
        end_call(dialog, request);
        bb_cgi_head_end(&request->head);
        end_reply(dialog, request,
                  status_of(dialog, request, fastcgi->ended[0], fastcgi->ended[1]));
    }
    *request = (Request){0};
}

static void end(BbDialog *dialog, void *state, const BbPart *part)
{
    Fastcgi *fastcgi = state;
    const BbFastcgiRecord *record = &fastcgi->record[part->direction];
    guint at = fastcgi->of[part->direction];
    bb_meaning_end(&fastcgi->meaning[part->direction], dialog, part);
    if (at >= REQUESTS || fastcgi->request[at].id != record->id)
        return;
    if (part->direction == BB_TO_SERVER)
        end_input(dialog, &fastcgi->request[at], record, part);
    else
        end_output(dialog, fastcgi, &fastcgi->request[at], record, part);
}

// What is missing may be of any request under way.
static void lose(BbDialog *dialog, void *state, BbDirection direction)
{
    Fastcgi *fastcgi = state;
    for (guint i = 0; i < REQUESTS; i++) {
        if (direction == BB_TO_SERVER)
            fastcgi->request[i].params.broken = true;
        else
            lose_reply(dialog, &fastcgi->request[i]);
    }
}

static const BbFraming framing = {
    .measure = measure,
    .probe = bb_fastcgi_match,
    .find = find,
    .begin = begin,
    .end = end,
    .lose = lose,
};

// ---- the decoder --------------------------------------------------------------------------------

static void finish(BbDialog *dialog, void *state)
{
    Fastcgi *fastcgi = state;
    bb_frames_finish(dialog, state);
    for (guint i = 0; i < REQUESTS; i++)
        end_request(dialog, &fastcgi->request[i]);
}

const BbDecoder bb_decoder_fastcgi = {
    .name = "fastcgi",
    .about = "FastCGI 1.0: by request id",
    .tcp = true,
    .ports = {9000},
    .state_size = sizeof(Fastcgi),
    .framing = &framing,
    .probe = bb_fastcgi_match,
    .parse = bb_frames_parse,
    .gap = bb_frames_gap,
    .finish = finish,
};
