// SPDX-License-Identifier: Apache-2.0
// In: Diameter (RFC 6733) over TCP. Out: requests of either side with their answers, by hop-by-hop
// identifier; status is the result code.
#include "capture/cursor.h"
#include "capture/protocols/diameter_command.h"
#include "capture/protocols/framing.h"
#include "capture/protocols/label.h"

#include <string.h>

#define HEAD 20u
#define VERSION 1u
#define WANTED 4096u // bytes of an answer in which its result is looked for
#define FLAG_REQUEST 0x80u
#define FLAG_ERROR 0x20u
#define FLAG_AGAIN 0x10u // T: "potentially re-transmitted"
#define FLAGS_RESERVED 0x0fu
#define AVP_VENDOR 0x80u
#define AVP_FLAGS_RESERVED 0x1fu
#define AVPS_MAX 64u // looked at
#define COMMAND_MAX 0xffffffu
#define KNOWN_KEY (G_GUINT64_CONSTANT(1) << 32) // identifiers may be 0, keys not

enum { CAPABILITIES_EXCHANGE = 257 };
enum { AVP_RESULT_CODE = 268, AVP_EXPERIMENTAL_RESULT = 297, AVP_EXPERIMENTAL_CODE = 298 };

typedef struct Head {
    gsize length;
    guint32 command, hop;
    bool request, error, again;
} Head;

typedef struct Unit {
    guint64 key;
    guint64 call; // of a request
    guint32 status;
    bool request;
} Unit;

typedef struct Diameter {
    BbFrames frames;
    Unit unit[2];        // under way
    guint64 last_key[2]; // of requests; 0: there was none
} Diameter;

// ---- headers ----------------------------------------------------------------------------------

static BbFrameVerdict read_head(Head *head, BbCursor *c)
{
    guint32 first = bb_cursor_be32(c), second = bb_cursor_be32(c);
    bb_cursor_skip(c, 4); // application
    guint32 hop = bb_cursor_be32(c);
    bool cut = c->left < 4; // end-to-end identifier
    bb_cursor_skip(c, 4);
    guint8 flags = (guint8)(second >> 24);
    *head = (Head){
        .length = first & 0xffffff,
        .command = second & COMMAND_MAX,
        .hop = hop,
        .request = flags & FLAG_REQUEST,
        .error = flags & FLAG_ERROR,
        .again = flags & FLAG_AGAIN,
    };
    if (cut || !bb_cursor_ok(c))
        return BB_FRAME_MORE;
    if (first >> 24 != VERSION || head->length < HEAD || head->length % 4 ||
        flags & FLAGS_RESERVED || (head->request && head->error))
        return BB_FRAME_BAD;
    return BB_FRAME_OK;
}

// RFC 6733, 4.1.
typedef struct Avp {
    guint32 code, length; // length: of the value
    BbCursor value;       // as far as it is there
} Avp;

// Takes the next AVP. False at the end, or where there is none: then the cursor is broken, too.
static bool take_avp(BbCursor *c, Avp *avp)
{
    avp->code = bb_cursor_be32(c);
    guint32 second = bb_cursor_be32(c), length = second & 0xffffff;
    guint8 flags = (guint8)(second >> 24);
    guint32 head = flags & AVP_VENDOR ? 12 : 8;
    bb_cursor_skip(c, head - 8);
    if (!bb_cursor_ok(c) || length < head || flags & AVP_FLAGS_RESERVED) {
        c->broken = true;
        return false;
    }
    avp->length = length - head;
    avp->value = bb_cursor(c->at, MIN(avp->length, c->left));
    gsize padded = (avp->length + 3) & ~(gsize)3;
    bb_cursor_skip(c, MIN(padded, c->left));
    return true;
}

// The result among these AVPs; 0: none was seen.
static guint32 find_result(BbCursor c, guint32 wanted)
{
    Avp avp;
    for (guint i = 0; i < AVPS_MAX && c.left && take_avp(&c, &avp); i++) {
        if (avp.code == wanted && avp.length == 4)
            return bb_cursor_be32(&avp.value);
        if (avp.code == AVP_EXPERIMENTAL_RESULT && wanted == AVP_RESULT_CODE)
            return find_result(avp.value, AVP_EXPERIMENTAL_CODE);
    }
    return 0;
}

// ---- frames -----------------------------------------------------------------------------------

static BbFrameVerdict measure(const void *state, BbDirection direction, const guint8 *data,
                              gsize length, BbFrameSize *frame)
{
    Head head;
    BbCursor c = bb_cursor(data, length);
    BbFrameVerdict verdict = length && data[0] != VERSION ? BB_FRAME_BAD : read_head(&head, &c);
    if (verdict == BB_FRAME_OK)
        *frame = (BbFrameSize){.length = head.length, .wanted = head.request ? HEAD : WANTED};
    return verdict;
}

static guint32 label_of(BbDialog *dialog, const Head *head)
{
    char text[BB_LABEL_MAX + 1];
    return bb_dialog_label(dialog, text, bb_diameter_command_format(head->command, text));
}

static guint32 status_of(BbDialog *dialog, const Head *head, BbCursor avps)
{
    char text[16];
    guint32 result = find_result(avps, AVP_RESULT_CODE);
    if (!result)
        return head->error ? bb_dialog_status(dialog, "error", 5) : BB_NAME_NONE;
    g_snprintf(text, sizeof text, "%u", result);
    return bb_dialog_status(dialog, text, strlen(text));
}

static const BbOpenCall *open_request(BbDialog *dialog, const BbPart *part, guint64 key)
{
    BbPart reply = {.direction = bb_direction_other(part->direction)};
    const BbOpenCall *open = bb_dialog_find(dialog, &reply, key);
    return open && open->key == key ? open : NULL;
}

// A request that is sent again says so (RFC 6733, 3: T flag). Another one under the identifier of
// an open one, or of the last, is of a client that uses it as soon as it is free.
static void begin_request(BbDialog *dialog, Diameter *diameter, const Head *head,
                          const BbPart *part)
{
    Unit *unit = &diameter->unit[part->direction];
    const BbOpenCall *open = open_request(dialog, part, unit->key);
    bool reused = open || unit->key == diameter->last_key[part->direction];
    diameter->last_key[part->direction] = unit->key;
    if (open && open->tag == head->command && head->again)
        bb_dialog_repeated(dialog);
    else
        unit->call = bb_dialog_open_by(dialog, part, label_of(dialog, head), unit->key,
                                       head->command, reused ? BB_KEY_REUSED : BB_KEY_UNIQUE);
}

static void begin(BbDialog *dialog, void *state, const guint8 *data, gsize seen, const BbPart *part)
{
    Diameter *diameter = state;
    Unit *unit = &diameter->unit[part->direction];
    BbCursor c = bb_cursor(data, seen);
    Head head;
    (void)read_head(&head, &c);
    *unit = (Unit){.key = head.hop | KNOWN_KEY, .request = head.request};
    if (head.request)
        begin_request(dialog, diameter, &head, part);
    else
        unit->status = status_of(dialog, &head, c);
}

static void end(BbDialog *dialog, void *state, const BbPart *part)
{
    Diameter *diameter = state;
    const Unit *unit = &diameter->unit[part->direction];
    if (unit->request) {
        bb_dialog_sent(dialog, unit->call, part);
        return;
    }
    const BbOpenCall *open = bb_dialog_find(dialog, part, unit->key);
    bb_dialog_return(dialog, open ? open->call : 0, part, unit->status);
}

// ---- the probe --------------------------------------------------------------------------------

// Who connected begins with an exchange of capabilities; later both sides ask.
static BbMatch probe(const guint8 *data, gsize length)
{
    Head head;
    Avp avp;
    BbCursor c = bb_cursor(data, length);
    if (length && data[0] != VERSION)
        return BB_MATCH_NO;
    switch (read_head(&head, &c)) {
    case BB_FRAME_MORE:
        return BB_MATCH_MORE;
    case BB_FRAME_BAD:
        return BB_MATCH_NO;
    default:
        break;
    }
    if (!bb_diameter_command_is_known(head.command) || head.length < HEAD + 8)
        return BB_MATCH_NO;
    if (c.left < 12)
        return BB_MATCH_MORE;
    if (!take_avp(&c, &avp) || avp.length > head.length - HEAD || avp.code == 0 ||
        avp.code > 0xffff)
        return BB_MATCH_NO;
    if (head.command != CAPABILITIES_EXCHANGE)
        return BB_MATCH_LIKELY;
    return head.request ? BB_MATCH_REQUEST : BB_MATCH_REPLY;
}

static const BbFraming framing = {
    .measure = measure,
    .probe = probe,
    .begin = begin,
    .end = end,
    .anywhere = true,
    .sign = {true, VERSION, 0},
};

// ---- the decoder ------------------------------------------------------------------------------

const BbDecoder bb_decoder_diameter = {
    .name = "diameter",
    .about = "Diameter over TCP: by hop-by-hop identifier",
    .tcp = true,
    .ports = {3868},
    .state_size = sizeof(Diameter),
    .framing = &framing,
    .probe = probe,
    .parse = bb_frames_parse,
    .gap = bb_frames_gap,
    .finish = bb_frames_finish,
};
