// SPDX-License-Identifier: Apache-2.0
// In: RADIUS (RFC 2865, 2866, 5176) over UDP. Out: requests with their responses, by identifier.
// The identifier is one byte, used anew all the time: a request with the authenticator of the open
// one, or of one a little while ago, repeats it (RFC 5080, 2.2.2); another one takes its place.
#include "capture/cursor.h"
#include "capture/decoder.h"
#include "capture/protocols/recent_calls.h"
#include "data/text_hash.h"

#include <string.h>

#define HEAD 20u
#define LENGTH_MAX 4096u // RFC 2865, 3
#define AUTHENTICATOR 16u
#define MESSAGE_AUTHENTICATOR 80u // RFC 3579
#define CERTAIN 2u                // attributes of fixed length that tell it from anything else

typedef struct Code {
    const char *name;
    bool request;
} Code;

// RFC 3575, 2.1, and the packet type codes that IANA keeps.
static const Code codes[] = {
    [1] = {"Access-Request", true},
    [2] = {"Access-Accept", false},
    [3] = {"Access-Reject", false},
    [4] = {"Accounting-Request", true},
    [5] = {"Accounting-Response", false},
    [11] = {"Access-Challenge", false},
    [12] = {"Status-Server", true},
    [40] = {"Disconnect-Request", true},
    [41] = {"Disconnect-ACK", false},
    [42] = {"Disconnect-NAK", false},
    [43] = {"CoA-Request", true},
    [44] = {"CoA-ACK", false},
    [45] = {"CoA-NAK", false},
    [52] = {"Protocol-Error", false}, // RFC 7930
};

typedef struct Packet {
    const Code *code;
    guint8 id;
    guint32 authenticator; // hash
    guint fixed;           // attributes of a length that nothing else would have
} Packet;

typedef struct Radius {
    BbRecentCalls recent;
    bool read; // a packet was
} Radius;

// Numbers and addresses (RFC 2865, 2866, 2869) are of 4 bytes, Message-Authenticator of 16.
static bool has_fixed_length(guint8 type, guint8 length)
{
    static const guint8 words[] = {4,  5,  6,  7,  8,  9,  10, 12, 13, 14, 15, 16,
                                   23, 27, 28, 29, 37, 38, 40, 41, 42, 43, 45, 46,
                                   47, 48, 49, 51, 52, 53, 55, 61, 62, 76};
    if (type == MESSAGE_AUTHENTICATOR)
        return length == 2 + 16;
    return length == 2 + 4 && memchr(words, type, sizeof words);
}

// RFC 2865, 5: type, length, value, up to the end. fixed: those that can have only this length.
static bool read_attributes(BbCursor c, bool whole, guint *fixed)
{
    *fixed = 0;
    while (c.left) {
        guint8 type = bb_cursor_u8(&c), length = bb_cursor_u8(&c);
        if (bb_cursor_ok(&c) && (type == 0 || length < 2))
            return false;
        *fixed += bb_cursor_ok(&c) && has_fixed_length(type, length);
        bb_cursor_skip(&c, bb_cursor_ok(&c) ? length - 2u : 0);
        if (!bb_cursor_ok(&c))
            return !whole;
    }
    return true;
}

static bool read_packet(Packet *packet, const guint8 *data, gsize length, gsize missing)
{
    BbCursor c = bb_cursor(data, length);
    guint8 code = bb_cursor_u8(&c), id = bb_cursor_u8(&c);
    guint16 size = bb_cursor_be16(&c);
    const guint8 *authenticator = bb_cursor_take(&c, AUTHENTICATOR);
    if (!authenticator || code >= G_N_ELEMENTS(codes) || !codes[code].name || size < HEAD ||
        size > LENGTH_MAX || size > length + missing)
        return false;
    *packet = (Packet){
        .code = &codes[code],
        .id = id,
        .authenticator = bb_text_hash_short(authenticator, AUTHENTICATOR),
    };
    bool whole = size <= length; // what is longer is padding
    return read_attributes(bb_cursor(data + HEAD, MIN(size, length) - HEAD), whole, &packet->fixed);
}

static BbMatch probe(const guint8 *data, gsize length)
{
    Packet packet;
    BbCursor c = bb_cursor(data, length);
    bb_cursor_skip(&c, 2);
    bool exact = bb_cursor_be16(&c) == length;
    if (!exact || !read_packet(&packet, data, length, 0))
        return BB_MATCH_NO;
    if (packet.fixed < CERTAIN)
        return BB_MATCH_LIKELY;
    return packet.code->request ? BB_MATCH_REQUEST : BB_MATCH_REPLY;
}

static void take_request(BbDialog *dialog, Radius *radius, const Packet *packet, const BbPart *part)
{
    const BbOpenCall *open = bb_recent_calls_open(dialog, part, part->direction, packet->id + 1u);
    if (open && open->tag == packet->authenticator) {
        bb_dialog_sent_again(dialog, open->call, part);
        return;
    }
    if (bb_recent_calls_sent_again(&radius->recent, part, packet->id + 1u, packet->authenticator)) {
        bb_dialog_repeated(dialog);
        return;
    }
    if (open)
        bb_dialog_give_up(dialog, open->call);
    guint32 label = bb_dialog_label(dialog, packet->code->name, strlen(packet->code->name));
    bb_dialog_call(dialog, part, label, packet->id + 1u, packet->authenticator);
}

static void take_response(BbDialog *dialog, const Radius *radius, const Packet *packet,
                          const BbPart *part)
{
    const BbOpenCall *open =
        bb_recent_calls_open(dialog, part, bb_direction_other(part->direction), packet->id + 1u);
    if (bb_recent_calls_answered_again(&radius->recent, dialog, part, packet->id + 1u))
        bb_dialog_repeated(dialog);
    else
        bb_dialog_return(dialog, open ? open->call : 0, part,
                         bb_dialog_status(dialog, packet->code->name, strlen(packet->code->name)));
}

static gssize parse(BbDialog *dialog, void *state, const BbView *view)
{
    Radius *radius = state;
    BbPart part = {0};
    Packet packet;
    if (!view->length)
        return 0;
    if (!read_packet(&packet, view->data, view->length, view->missing)) {
        if (!radius->read)
            return BB_PARSE_BAD;
        bb_dialog_resynced(dialog);
        return (gssize)view->length;
    }
    radius->read = true;
    bb_part_add(&part, view, 0, view->length);
    if (packet.code->request)
        take_request(dialog, radius, &packet, &part);
    else
        take_response(dialog, radius, &packet, &part);
    return (gssize)view->length;
}

const BbDecoder bb_decoder_radius = {
    .name = "radius",
    .about = "RADIUS over UDP: by identifier",
    .udp = true,
    .ports = {1812, 1813, 3799, 1645, 1646},
    .state_size = sizeof(Radius),
    .probe = probe,
    .parse = parse,
};
