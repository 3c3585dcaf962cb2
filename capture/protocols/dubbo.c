// SPDX-License-Identifier: Apache-2.0
// In: the bytes of a Dubbo connection (Apache Dubbo, protocol dubbo 2). Out: requests with their
// responses by request id, in both directions; requests that want no response are free.
#include "capture/cursor.h"
#include "capture/protocols/framing.h"
#include "capture/protocols/label.h"
#include "capture/protocols/meaning.h"

#define MAGIC 0xdabbu
#define HEAD 16u
#define FRONT 1024u          // of the body: holds the version, service and method
#define BODY_MAX (64u << 20) // a provider refuses more than 8 MiB by default
#define TEXT_MAX 512u
#define HESSIAN_ZERO 0x90u // an integer

enum { FLAG_REQUEST = 0x80, FLAG_TWO_WAY = 0x40, FLAG_EVENT = 0x20, SERIALIZATION = 0x1f };
enum { SERIALIZATION_HESSIAN = 2, SERIALIZATION_FASTJSON = 6 };
enum { STATUS_OK = 20 };

typedef struct Dubbo {
    BbFrames frames;
    BbMeaning meaning[2];
} Dubbo;

typedef struct Head {
    guint8 flags, status;
    guint64 id;
    gsize body;
} Head;

static bool is_known_status(guint8 status)
{
    switch (status) {
    case STATUS_OK:
    case 25: // serialization error
    case 30: // timeouts, of the client and of the server
    case 31:
    case 35: // channel inactive
    case 100:
        return true;
    default: // bad request, bad response, service not found, ... : in steps of ten
        return status >= 40 && status <= 90 && status % 10 == 0;
    }
}

static BbFrameVerdict read_head(const guint8 *data, gsize length, Head *head)
{
    BbCursor c = bb_cursor(data, length);
    if ((length > 0 && data[0] != MAGIC >> 8) || (length > 1 && data[1] != (MAGIC & 0xff)))
        return BB_FRAME_BAD;
    bb_cursor_skip(&c, 2);
    *head = (Head){.flags = bb_cursor_u8(&c)};
    head->status = bb_cursor_u8(&c);
    head->id = bb_cursor_be64(&c);
    head->body = bb_cursor_be32(&c);
    if (!bb_cursor_ok(&c))
        return BB_FRAME_MORE;
    bool request = head->flags & FLAG_REQUEST;
    bool good = request ? head->status == 0 : is_known_status(head->status);
    return good && head->body <= BODY_MAX && head->flags & SERIALIZATION ? BB_FRAME_OK
                                                                         : BB_FRAME_BAD;
}

// ---- labels -------------------------------------------------------------------------------------

typedef struct Text {
    const guint8 *at;
    gsize length;
} Text;

// Hessian 2.0, section 4.12: strings of up to 31, 1023 and 65535 characters. Names are ASCII.
static bool read_hessian(BbCursor *c, Text *text)
{
    guint8 tag = bb_cursor_u8(c);
    if (tag <= 0x1f)
        text->length = tag;
    else if (tag >= 0x30 && tag <= 0x33)
        text->length = (gsize)(tag - 0x30) << 8 | bb_cursor_u8(c);
    else if (tag == 'S')
        text->length = bb_cursor_be16(c);
    else
        return false;
    text->at = bb_cursor_take(c, text->length);
    return text->at && text->length <= TEXT_MAX;
}

// A JSON string on a line of its own.
static bool read_json(BbCursor *c, Text *text)
{
    const guint8 *line = c->at, *newline = c->left ? memchr(c->at, '\n', c->left) : NULL;
    if (!newline)
        return false;
    gsize length = (gsize)(newline - line);
    bb_cursor_skip(c, length + 1);
    while (length && line[length - 1] == '\r')
        length--;
    if (length < 2 || line[0] != '"' || line[length - 1] != '"')
        return false;
    *text = (Text){line + 1, length - 2};
    return text->length <= TEXT_MAX;
}

static bool is_read(guint8 serialization)
{
    return serialization == SERIALIZATION_HESSIAN || serialization == SERIALIZATION_FASTJSON;
}

static gsize format_label(char *out, Text service, Text method)
{
    char name[2 * TEXT_MAX + 2];
    if (service.length + method.length + 2 > BB_LABEL_MAX) { // its package may go
        const guint8 *dot = memrchr(service.at, '.', service.length);
        if (dot) {
            service.length -= (gsize)(dot + 1 - service.at);
            service.at = dot + 1;
        }
    }
    memcpy(name, service.at, service.length);
    name[service.length] = '.';
    memcpy(name + service.length + 1, method.at, method.length);
    return bb_label_topic(out, "", (const guint8 *)name, service.length + 1 + method.length, ".");
}

// The body of a request: versions of Dubbo and of the service around the service's name, method.
static guint32 label_of(BbDialog *dialog, const Head *head, BbCursor body)
{
    char out[BB_LABEL_MAX + 1];
    guint8 serialization = head->flags & SERIALIZATION;
    Text text[4];
    if (head->flags & FLAG_EVENT)
        return bb_dialog_label(dialog, "heartbeat", 9);
    if (!is_read(serialization))
        return bb_dialog_label(dialog, "?", 1);
    for (guint i = 0; i < G_N_ELEMENTS(text); i++)
        if (!(serialization == SERIALIZATION_HESSIAN ? read_hessian(&body, &text[i])
                                                     : read_json(&body, &text[i])))
            return bb_dialog_label(dialog, "?", 1);
    return bb_dialog_label(dialog, out, format_label(out, text[1], text[3]));
}

// What a service throws is an answer, which says so in its first value: 0, and 3 with attachments.
// Where the body is not read, or was not seen, nobody knows.
static guint32 result_of(BbDialog *dialog, const Head *head, BbCursor body)
{
    guint8 serialization = head->flags & SERIALIZATION, first = bb_cursor_u8(&body);
    guint8 zero = serialization == SERIALIZATION_HESSIAN ? HESSIAN_ZERO : '0';
    if (!(head->flags & FLAG_EVENT)) {
        if (!is_read(serialization) || !bb_cursor_ok(&body))
            return BB_NAME_NONE;
        if (first == zero || first == zero + 3)
            return bb_dialog_status(dialog, "error", 5);
    }
    return bb_dialog_status(dialog, "ok", 2);
}

static guint32 status_of(BbDialog *dialog, const Head *head, BbCursor body)
{
    char text[4];
    if (head->status == STATUS_OK)
        return result_of(dialog, head, body);
    return bb_dialog_status(dialog, text,
                            (gsize)g_snprintf(text, sizeof text, "%u", (guint)head->status));
}

// ---- frames -------------------------------------------------------------------------------------

static BbFrameVerdict measure(const void *state, BbDirection direction, const guint8 *data,
                              gsize length, BbFrameSize *frame)
{
    Head head;
    BbFrameVerdict verdict = read_head(data, length, &head);
    if (verdict == BB_FRAME_OK)
        *frame = (BbFrameSize){.length = HEAD + head.body, .wanted = HEAD + FRONT};
    return verdict;
}

static void begin(BbDialog *dialog, void *state, const guint8 *data, gsize seen, const BbPart *part)
{
    BbMeaning *meaning = &((Dubbo *)state)->meaning[part->direction];
    Head head;
    *meaning = (BbMeaning){0};
    if (read_head(data, seen, &head) != BB_FRAME_OK)
        return;
    BbCursor body = bb_cursor(data + HEAD, seen - HEAD);
    meaning->use = BB_KEY_REUSED;
    meaning->key = MAX(head.id + 1, 1);
    if (head.flags & FLAG_REQUEST) {
        meaning->means = head.flags & FLAG_TWO_WAY ? BB_MEANS_CALL : BB_MEANS_FREE;
        meaning->op = label_of(dialog, &head, body);
    } else {
        meaning->means = BB_MEANS_RETURN;
        meaning->status = status_of(dialog, &head, body);
    }
    bb_meaning_begin(meaning, dialog, part);
}

static void end(BbDialog *dialog, void *state, const BbPart *part)
{
    bb_meaning_end(&((Dubbo *)state)->meaning[part->direction], dialog, part);
}

// Heartbeats go both ways: they do not tell who is the client.
static BbMatch probe(const guint8 *data, gsize length)
{
    Head head;
    BbFrameVerdict verdict = read_head(data, length, &head);
    if (verdict != BB_FRAME_OK)
        return verdict == BB_FRAME_MORE ? BB_MATCH_MORE : BB_MATCH_NO;
    if (head.flags & FLAG_EVENT)
        return BB_MATCH_LIKELY;
    return head.flags & FLAG_REQUEST ? BB_MATCH_REQUEST : BB_MATCH_REPLY;
}

static const BbFraming framing = {
    .measure = measure,
    .probe = probe,
    .begin = begin,
    .end = end,
    .anywhere = true,
    .sign = {true, MAGIC >> 8, 0},
};

// ---- the decoder --------------------------------------------------------------------------------

const BbDecoder bb_decoder_dubbo = {
    .name = "dubbo",
    .about = "Apache Dubbo 2: by request id",
    .tcp = true,
    .ports = {20880},
    .state_size = sizeof(Dubbo),
    .framing = &framing,
    .probe = probe,
    .parse = bb_frames_parse,
    .gap = bb_frames_gap,
    .finish = bb_frames_finish,
};
