// SPDX-License-Identifier: Apache-2.0
// In: the bytes of an AMQP connection (0-9-1; 0-9 and 0-8 alike). Out: synchronous methods with
// their replies by channel; publish, deliver and what else nobody answers are free messages, which
// their header and body frames belong to. AMQP 1.0 is another protocol, and not read.
//
// A Close answers what is open on its channel, with its reply code; else it is a call of its own.
#include "capture/cursor.h"
#include "capture/protocols/amqp_method.h"
#include "capture/protocols/label.h"
#include "capture/protocols/meaning.h"

#define HEAD 7u // type, channel, size
#define FRAME_END 0xceu
#define FRONT 800u // of a method: its short strings
#define PROTOCOL_HEADER 8u
#define SIZE_MAX_PROBED (1u << 20) // frame-max is 128 KiB by default
#define SIZE_MAX_UNKNOWN 4096u     // of a method that is not known: it is believed by its last byte
#define CONTENTS 8u // messages whose content is under way; of more the oldest is taken as complete

enum { FRAME_METHOD = 1, FRAME_HEADER = 2, FRAME_BODY = 3, FRAME_HEARTBEAT = 8 };

// A message of several frames. Those of other channels may come between them.
typedef struct Content {
    BbPart part;
    BbMeaning meaning;
    guint64 rest; // sized: bytes of bodies to come
    guint16 channel;
    bool used, sized;
} Content;

typedef struct Side {
    BbMeaning meaning;         // of the method under way
    Content content[CONTENTS]; // oldest first
    guint16 channel;           // of the frame under way
    bool in_content;           // it is one of several
} Side;

typedef struct Amqp {
    BbFrames frames;
    Side side[2];
    guint32 ok;
    bool old; // 0-8
} Amqp;

typedef struct Frame {
    guint8 type;
    guint16 channel;
    gsize size;
    const guint8 *payload; // as much of it as is there
    gsize there;
} Frame;

// ---- frames -------------------------------------------------------------------------------------

static bool is_type(guint8 type)
{
    return (type >= FRAME_METHOD && type <= FRAME_BODY) || type == FRAME_HEARTBEAT;
}

static BbFrameVerdict read_frame(const guint8 *data, gsize length, Frame *frame)
{
    BbCursor c = bb_cursor(data, length);
    *frame = (Frame){.type = bb_cursor_u8(&c)};
    if (length && !is_type(frame->type))
        return BB_FRAME_BAD;
    frame->channel = bb_cursor_be16(&c);
    frame->size = bb_cursor_be32(&c);
    if (!bb_cursor_ok(&c))
        return BB_FRAME_MORE;
    frame->payload = c.at;
    frame->there = MIN(c.left, frame->size);
    bool whole = c.left > frame->size;
    if (whole && c.at[frame->size] != FRAME_END)
        return BB_FRAME_BAD;
    return frame->size < BB_FRAME_MAX - HEAD - 1 ? BB_FRAME_OK : BB_FRAME_BAD;
}

static const guint8 versions[][4] = {{0, 0, 9, 1}, {1, 1, 0, 9}, {1, 1, 9, 1}, {1, 1, 8, 0}};
#define VERSION_0_8 3u

// Section 4.2.2 of 0-9-1: the client begins with the version, as does a server that has another.
static BbMatch probe_header(const guint8 *data, gsize length)
{
    if (memcmp(data, "AMQP", MIN(length, 4)) != 0)
        return BB_MATCH_NO;
    for (guint i = 0; i < G_N_ELEMENTS(versions) && length >= PROTOCOL_HEADER; i++)
        if (memcmp(data + 4, versions[i], 4) == 0)
            return BB_MATCH_REQUEST;
    return length < PROTOCOL_HEADER ? BB_MATCH_MORE : BB_MATCH_NO;
}

// A method that is not known, of an extension maybe, means nothing, but its frame must end as one.
static BbFrameVerdict measure_method(const Frame *frame, gsize length)
{
    bool whole = length > HEAD + frame->size;
    if (whole || frame->there < 4 || bb_amqp_method(frame->payload, frame->there, false))
        return BB_FRAME_OK;
    return frame->size <= SIZE_MAX_UNKNOWN ? BB_FRAME_MORE : BB_FRAME_BAD;
}

static BbFrameVerdict measure(const void *state, BbDirection direction, const guint8 *data,
                              gsize length, BbFrameSize *size)
{
    Frame frame;
    if (data[0] == 'A') {
        BbMatch match = probe_header(data, length);
        *size = (BbFrameSize){.length = PROTOCOL_HEADER, .wanted = PROTOCOL_HEADER};
        return match == BB_MATCH_REQUEST ? BB_FRAME_OK
               : match == BB_MATCH_MORE  ? BB_FRAME_MORE
                                         : BB_FRAME_BAD;
    }
    BbFrameVerdict verdict = read_frame(data, length, &frame);
    if (verdict == BB_FRAME_OK && frame.type == FRAME_METHOD)
        verdict = measure_method(&frame, length);
    if (verdict == BB_FRAME_OK)
        *size = (BbFrameSize){.length = HEAD + frame.size + 1, .wanted = FRONT};
    return verdict;
}

// ---- content ------------------------------------------------------------------------------------

static Content *find_content(Side *side, guint16 channel)
{
    for (guint i = 0; i < CONTENTS; i++)
        if (side->content[i].used && side->content[i].channel == channel)
            return &side->content[i];
    return NULL;
}

// It is complete, or no more of it will be seen.
static void end_content(BbDialog *dialog, Side *side, Content *content)
{
    gsize index = (gsize)(content - side->content);
    bb_meaning_end(&content->meaning, dialog, &content->part);
    memmove(content, content + 1, (CONTENTS - 1 - index) * sizeof *content);
    side->content[CONTENTS - 1] = (Content){0};
}

static void end_contents(BbDialog *dialog, Side *side)
{
    while (side->content[0].used)
        end_content(dialog, side, &side->content[0]);
}

static void begin_content(BbDialog *dialog, Side *side, guint16 channel, const BbMeaning *meaning)
{
    Content *before = find_content(side, channel);
    if (before)
        end_content(dialog, side, before);
    if (side->content[CONTENTS - 1].used) {
        bb_dialog_count(dialog, BB_PENDING_LIMIT);
        end_content(dialog, side, &side->content[0]);
    }
    Content *content = side->content;
    while (content->used)
        content++;
    *content = (Content){.meaning = *meaning, .channel = channel, .used = true};
}

// A header frame (section 4.2.6.1) has the size of the content behind class and weight.
static void read_content(Content *content, const Frame *frame)
{
    BbCursor c = bb_cursor(frame->payload, frame->there);
    if (frame->type == FRAME_BODY) {
        content->rest -= MIN(content->rest, frame->size);
        return;
    }
    bb_cursor_skip(&c, 4);
    content->rest = bb_cursor_be64(&c);
    content->sized = true;
}

// ---- what methods mean --------------------------------------------------------------------------

static guint64 key_of(guint16 channel, const BbAmqpMethod *method)
{
    return ((guint64)channel + 1) << 32 | (guint64)method->class_id << 16 | method->reply;
}

static guint32 label_of(BbDialog *dialog, const BbAmqpMethod *method, const Frame *frame)
{
    char text[BB_LABEL_MAX + 1];
    return bb_dialog_label(dialog, text, bb_amqp_label(text, method, frame->payload, frame->there));
}

// code 0: all went well.
static guint32 status_of(BbDialog *dialog, Amqp *amqp, guint code)
{
    char text[8];
    if (code)
        return bb_dialog_status(dialog, text, (gsize)g_snprintf(text, sizeof text, "%u", code));
    if (!amqp->ok)
        amqp->ok = bb_dialog_status(dialog, "ok", 2);
    return amqp->ok;
}

// The oldest call of the other side that is open on the channel; 0: none.
static guint64 oldest_open(BbDialog *dialog, guint16 channel, const BbPart *part)
{
    guint64 oldest = 0;
    const BbAmqpMethod *method = NULL;
    while ((method = bb_amqp_next_call(method))) {
        const BbOpenCall *open = bb_dialog_find(dialog, part, key_of(channel, method));
        if (open && (!oldest || open->call < oldest))
            oldest = open->call;
    }
    return oldest;
}

// What made the other side close the channel is answered by that; what came after it never is.
static bool answer_by_close(BbDialog *dialog, Amqp *amqp, guint16 code, guint16 channel,
                            const BbPart *part)
{
    guint64 call = oldest_open(dialog, channel, part);
    if (!call)
        return false;
    bb_dialog_return(dialog, call, part, status_of(dialog, amqp, code));
    while ((call = oldest_open(dialog, channel, part)))
        bb_dialog_give_up(dialog, call);
    return true;
}

static BbMeaning reply_meaning(BbDialog *dialog, Amqp *amqp, const BbAmqpMethod *method,
                               const Frame *frame, const BbPart *part)
{
    guint64 key = key_of(frame->channel, method);
    const BbOpenCall *open = bb_dialog_find(dialog, part, key);
    if (!open && method->kind == BB_AMQP_CLOSED)
        return (BbMeaning){0};
    return (BbMeaning){.means = BB_MEANS_RETURN,
                       .status = status_of(dialog, amqp, open ? open->tag : 0),
                       .key = key};
}

static BbMeaning method_meaning(BbDialog *dialog, Amqp *amqp, const BbAmqpMethod *method,
                                const Frame *frame, const BbPart *part)
{
    guint32 code = 0;
    bool answered = true;
    switch (method->kind) {
    case BB_AMQP_REPLY:
    case BB_AMQP_CLOSED:
    case BB_AMQP_GET_OK:
        return reply_meaning(dialog, amqp, method, frame, part);
    case BB_AMQP_CLOSE:
        code = bb_amqp_close_code(frame->payload, frame->there);
        if (answer_by_close(dialog, amqp, (guint16)code, frame->channel, part))
            return (BbMeaning){0};
        break;
    case BB_AMQP_CALL:
        answered = !bb_amqp_is_no_wait(method, frame->payload, frame->there);
        break;
    case BB_AMQP_FREE:
    case BB_AMQP_CONTENT:
        answered = false;
    }
    return (BbMeaning){.means = answered ? BB_MEANS_CALL : BB_MEANS_FREE,
                       .use = BB_KEY_QUEUED,
                       .op = label_of(dialog, method, frame),
                       .tag = code,
                       .key = key_of(frame->channel, method)};
}

static void begin_method(BbDialog *dialog, Amqp *amqp, const Frame *frame, const BbPart *part)
{
    Side *side = &amqp->side[part->direction];
    amqp->old |= part->direction == BB_TO_SERVER && bb_amqp_is_old(frame->payload, frame->there);
    const BbAmqpMethod *method = bb_amqp_method(frame->payload, frame->there, amqp->old);
    if (!method)
        return;
    BbMeaning meaning = method_meaning(dialog, amqp, method, frame, part);
    side->in_content = method->kind == BB_AMQP_CONTENT || method->kind == BB_AMQP_GET_OK;
    if (side->in_content) {
        begin_content(dialog, side, frame->channel, &meaning);
        return;
    }
    side->meaning = meaning;
    bb_meaning_begin(&side->meaning, dialog, part);
}

static void begin(BbDialog *dialog, void *state, const guint8 *data, gsize seen, const BbPart *part)
{
    Amqp *amqp = state;
    Side *side = &amqp->side[part->direction];
    Frame frame;
    side->meaning = (BbMeaning){0};
    side->in_content = false;
    if (data[0] == 'A')
        amqp->old = seen == PROTOCOL_HEADER && memcmp(data + 4, versions[VERSION_0_8], 4) == 0;
    if (data[0] == 'A' || read_frame(data, seen, &frame) != BB_FRAME_OK)
        return;
    side->channel = frame.channel;
    Content *content = find_content(side, frame.channel);
    if (frame.type == FRAME_METHOD) {
        begin_method(dialog, amqp, &frame, part);
    } else if (content && frame.type != FRAME_HEARTBEAT) {
        side->in_content = true;
        read_content(content, &frame);
    }
}

static void end(BbDialog *dialog, void *state, const BbPart *part)
{
    Side *side = &((Amqp *)state)->side[part->direction];
    if (!side->in_content) {
        bb_meaning_end(&side->meaning, dialog, part);
        return;
    }
    Content *content = find_content(side, side->channel);
    if (!content)
        return;
    bb_part_join(&content->part, part);
    if (content->sized && content->rest == 0)
        end_content(dialog, side, content);
}

// ---- the probe ----------------------------------------------------------------------------------

static BbMatch probe_method(const Frame *frame, bool whole)
{
    static const BbMatch by_sender[] = {
        [BB_AMQP_CLIENT] = BB_MATCH_REQUEST,
        [BB_AMQP_SERVER] = BB_MATCH_REPLY,
        [BB_AMQP_EITHER] = BB_MATCH_LIKELY,
    };
    const BbAmqpMethod *method = bb_amqp_method(frame->payload, frame->there, false);
    if (!whole)
        return frame->size < SIZE_MAX_PROBED && (method || frame->there < 4) ? BB_MATCH_MORE
                                                                             : BB_MATCH_NO;
    return method ? by_sender[method->sender] : BB_MATCH_NO;
}

static BbMatch probe(const guint8 *data, gsize length)
{
    Frame frame;
    if (length && data[0] == 'A')
        return probe_header(data, length);
    BbFrameVerdict verdict = read_frame(data, length, &frame);
    if (verdict != BB_FRAME_OK)
        return verdict == BB_FRAME_MORE ? BB_MATCH_MORE : BB_MATCH_NO;
    bool whole = length > HEAD + frame.size;
    if (frame.type == FRAME_METHOD)
        return probe_method(&frame, whole);
    bool heartbeat = frame.type == FRAME_HEARTBEAT && frame.size == 0 && frame.channel == 0;
    bool header = frame.type == FRAME_HEADER && frame.size >= 14 && frame.there >= 4 &&
                  memcmp(frame.payload, "\0\x3c\0\0", 4) == 0; // class basic, weight 0
    if (heartbeat && !whole)
        return BB_MATCH_MORE;
    return whole && (heartbeat || header) ? BB_MATCH_LIKELY : BB_MATCH_NO;
}

static const BbFraming framing = {
    .measure = measure,
    .probe = probe,
    .begin = begin,
    .end = end,
    .anywhere = true,
    .sign = {true, FRAME_END, -1},
};

// ---- the decoder --------------------------------------------------------------------------------

static void gap(BbDialog *dialog, void *state, BbDirection direction)
{
    Amqp *amqp = state;
    bb_frames_gap(dialog, state, direction);
    end_contents(dialog, &amqp->side[direction]);
}

static void finish(BbDialog *dialog, void *state)
{
    Amqp *amqp = state;
    bb_frames_finish(dialog, state);
    end_contents(dialog, &amqp->side[BB_TO_SERVER]);
    end_contents(dialog, &amqp->side[BB_TO_CLIENT]);
}

const BbDecoder bb_decoder_amqp = {
    .name = "amqp",
    .about = "AMQP 0-9-1: by channel and method (AMQP 1.0 is not read)",
    .tcp = true,
    .ports = {5672},
    .state_size = sizeof(Amqp),
    .framing = &framing,
    .probe = probe,
    .parse = bb_frames_parse,
    .gap = gap,
    .finish = finish,
};
