// SPDX-License-Identifier: Apache-2.0
// In: the bytes of a NATS client connection (NATS client protocol, server 2.x). Out: a message that
// names a subject for its reply is a call of who sends it over this connection: of the client's to
// the server, and of the server's to a client that subscribed. The message to that subject in the
// other direction is its return. Other messages are free, and so is what servers say to each other
// (routes, gateways, leaf nodes): a gateway's replies come over another connection.
//
// The subjects that replies are waited for are kept by their hashes, as keys of the open calls.
#include "capture/cursor.h"
#include "capture/protocols/label.h"
#include "capture/protocols/meaning.h"
#include "capture/protocols/nats_line.h"
#include "data/text_hash.h"

#define STATUS_SEEN 16u // of headers
#define KEY_PING 1u
#define TLS_HANDSHAKE 0x16u

typedef struct Nats {
    BbFrames frames;
    BbMeaning meaning[2];
    guint32 ok;
} Nats;

static guint64 key_of(const guint8 *subject, gsize length)
{
    return MAX(bb_text_hash_bytes(BB_TEXT_HASH_START, subject, length), KEY_PING + 1);
}

// ---- labels and states --------------------------------------------------------------------------

// The subjects of replies are random.
static guint32 label_of(BbDialog *dialog, const char *verb, const BbNatsLine *line)
{
    char text[BB_LABEL_MAX + 1];
    const guint8 *subject = line->subject;
    gsize length = line->subject_length;
    if (bb_bytes_begin(subject, length, "_INBOX.")) {
        subject = (const guint8 *)"_INBOX.*";
        length = strlen("_INBOX.*");
    }
    return bb_dialog_label(dialog, text, bb_label_topic(text, verb, subject, length, "."));
}

// 503: nobody serves this subject. 100: a heartbeat, and other news of a consumer.
static guint32 status_of(BbDialog *dialog, Nats *nats, const BbNatsLine *line, const guint8 *data,
                         gsize seen)
{
    const guint8 *digits;
    gsize count = 0;
    if (line->head && seen > line->length)
        count = bb_nats_status(data + line->length, seen - line->length, &digits);
    if (count)
        return bb_dialog_status(dialog, (const char *)digits, count);
    if (!nats->ok)
        nats->ok = bb_dialog_status(dialog, "ok", 2);
    return nats->ok;
}

// ---- what lines mean ----------------------------------------------------------------------------

// What a pull consumer asks for is any number of messages, at any time.
static bool is_pull(const BbNatsLine *line)
{
    return bb_bytes_begin(line->subject, line->subject_length, "$JS.API.CONSUMER.MSG.NEXT.");
}

// Where a JetStream consumer may acknowledge what it was delivered. It need not (AckNone), or does
// so for many deliveries at once: none of them asks for an answer.
static bool is_ack(const guint8 *subject, gsize length)
{
    return bb_bytes_begin(subject, length, "$JS.ACK.");
}

static BbMeaning message_meaning(BbDialog *dialog, Nats *nats, const BbNatsLine *line,
                                 const guint8 *data, gsize seen, const BbPart *part)
{
    guint64 key = key_of(line->subject, line->subject_length);
    if (bb_dialog_find(dialog, part, key))
        return (BbMeaning){.means = BB_MEANS_RETURN,
                           .status = status_of(dialog, nats, line, data, seen),
                           .key = key};
    bool publish = line->verb == BB_NATS_PUB || line->verb == BB_NATS_HPUB;
    bool asks = line->reply && !is_pull(line) && !is_ack(line->reply, line->reply_length);
    return (BbMeaning){.means = asks ? BB_MEANS_CALL : BB_MEANS_FREE,
                       .use = BB_KEY_REUSED,
                       .op = label_of(dialog, publish ? "PUB" : "MSG", line),
                       .key = asks ? key_of(line->reply, line->reply_length) : 0};
}

static BbMeaning tell(BbDialog *dialog, const char *name, guint32 status)
{
    return (BbMeaning){.means = BB_MEANS_FREE,
                       .op = bb_dialog_label(dialog, name, strlen(name)),
                       .status = status};
}

static BbMeaning meaning_of(BbDialog *dialog, Nats *nats, const BbNatsLine *line,
                            const guint8 *data, gsize seen, const BbPart *part)
{
    switch (line->verb) {
    case BB_NATS_INFO:
    case BB_NATS_CONNECT:
    case BB_NATS_UNSUB:
    case BB_NATS_INTEREST:
        return tell(dialog, line->word, BB_NAME_NONE);
    case BB_NATS_ERROR:
        return tell(dialog, "-ERR", bb_dialog_status(dialog, "error", 5));
    case BB_NATS_SUB:
    case BB_NATS_ROUTED:
        return (BbMeaning){.means = BB_MEANS_FREE, .op = label_of(dialog, line->word, line)};
    case BB_NATS_PING:
        return (BbMeaning){.means = BB_MEANS_CALL,
                           .use = BB_KEY_QUEUED,
                           .op = bb_dialog_label(dialog, "PING", 4),
                           .key = KEY_PING};
    case BB_NATS_PONG:
        return (BbMeaning){.means = BB_MEANS_RETURN,
                           .status = status_of(dialog, nats, line, data, seen),
                           .key = KEY_PING};
    case BB_NATS_OK:
        return (BbMeaning){0};
    default:
        return message_meaning(dialog, nats, line, data, seen, part);
    }
}

// ---- frames -------------------------------------------------------------------------------------

static BbFrameVerdict measure(const void *state, BbDirection direction, const guint8 *data,
                              gsize length, BbFrameSize *frame)
{
    BbNatsLine line;
    BbFrameVerdict verdict = bb_nats_line(data, length, &line);
    if (verdict != BB_FRAME_OK)
        return verdict;
    gsize whole = line.length + (line.has_payload ? line.payload + 2 : 0);
    *frame = (BbFrameSize){.length = whole, .wanted = line.length + MIN(line.head, STATUS_SEEN)};
    bool ends = !line.has_payload || length < whole || memcmp(data + whole - 2, "\r\n", 2) == 0;
    return ends && bb_nats_may_say(direction, line.verb) ? BB_FRAME_OK : BB_FRAME_BAD;
}

static void begin(BbDialog *dialog, void *state, const guint8 *data, gsize seen, const BbPart *part)
{
    Nats *nats = state;
    BbMeaning *meaning = &nats->meaning[part->direction];
    BbNatsLine line;
    *meaning = (BbMeaning){0};
    if (bb_nats_line(data, seen, &line) != BB_FRAME_OK)
        return;
    *meaning = meaning_of(dialog, nats, &line, data, seen, part);
    bb_meaning_begin(meaning, dialog, part);
}

static void end(BbDialog *dialog, void *state, const BbPart *part)
{
    Nats *nats = state;
    bb_meaning_end(&nats->meaning[part->direction], dialog, part);
}

// After a gap a whole line that this side may say will do.
static BbMatch find(BbDialog *dialog, const void *state, const BbView *view, gsize at)
{
    BbFrameSize frame;
    BbFrameVerdict verdict =
        measure(state, view->direction, view->data + at, view->length - at, &frame);
    if (verdict == BB_FRAME_MORE)
        return BB_MATCH_MORE;
    return verdict == BB_FRAME_OK ? BB_MATCH_LIKELY : BB_MATCH_NO;
}

static const BbFraming framing = {
    .measure = measure,
    .probe = bb_nats_probe,
    .find = find,
    .begin = begin,
    .end = end,
    .anywhere = true,
    .sign = {true, '\n', -1},
};

// ---- the decoder --------------------------------------------------------------------------------

// The client begins TLS after an INFO that asks for it.
static bool is_tls(const Nats *nats, const BbView *view)
{
    return view->direction == BB_TO_SERVER && view->length && view->data[0] == TLS_HANDSHAKE &&
           !nats->frames.side[BB_TO_SERVER].good;
}

static gssize parse(BbDialog *dialog, void *state, const BbView *view)
{
    Nats *nats = state;
    if (is_tls(nats, view)) {
        bb_dialog_switch(dialog);
        return 0;
    }
    return bb_frames_parse(dialog, state, view);
}

const BbDecoder bb_decoder_nats = {
    .name = "nats",
    .about = "NATS clients: request and reply by inbox",
    .tcp = true,
    .ports = {4222, 6222, 7222, 7422}, // clients, routes, gateways, leaf nodes
    .state_size = sizeof(Nats),
    .framing = &framing,
    .probe = bb_nats_probe,
    .parse = parse,
    .gap = bb_frames_gap,
    .finish = bb_frames_finish,
};
