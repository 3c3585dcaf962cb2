// SPDX-License-Identifier: Apache-2.0
// In: NTP (RFC 5905, RFC 1305) over UDP. Out: client requests with the server's answers, by the
// transmit timestamp that comes back as origin. Other modes are free messages.
#include "capture/cursor.h"
#include "capture/decoder.h"

#include <string.h>

#define POLL_MAX 17 // exponents of seconds (RFC 5905, 7.2); ntpd's clients ask from 2^-4 s
#define POLL_MIN (-8)
#define PRECISION_MIN (-40)
#define PRECISION_NONE 32 // chrony's clients do not tell theirs
#define CONTROL_DATA 468u // bytes (RFC 1305, B.1)
#define CONTROL_RESPONSE 0x80u
#define CONTROL_OPCODE 0x1fu
#define DIGEST_MIN 16u
#define DIGEST_MAX 32u // with padding
#define KEY_UNTIMED 1u // of requests without a transmit timestamp, as those of lwIP

enum { SYMMETRIC = 1, PASSIVE, CLIENT, SERVER, BROADCAST, CONTROL, PRIVATE };

typedef struct Packet {
    guint8 mode, stratum;
    guint64 origin, receive, transmit;
    char kiss[5]; // stratum 0: a code of four letters (RFC 5905, 7.4)
} Packet;

typedef struct Ntp {
    bool read; // a packet was
} Ntp;

static void read_kiss(Packet *packet, const guint8 *id)
{
    gsize n = 0;
    while (n < 4 && g_ascii_isupper(id[n]))
        n++;
    if (packet->mode == SERVER && packet->stratum == 0 && n >= 3)
        memcpy(packet->kiss, id, n);
}

static bool read_time_packet(Packet *packet, BbCursor *c)
{
    gint8 poll, precision;
    packet->stratum = bb_cursor_u8(c);
    poll = (gint8)bb_cursor_u8(c);
    precision = (gint8)bb_cursor_u8(c);
    guint32 delay = bb_cursor_be32(c);
    bb_cursor_skip(c, 4);
    const guint8 *id = bb_cursor_take(c, 4);
    bb_cursor_skip(c, 8);
    packet->origin = bb_cursor_be64(c);
    packet->receive = bb_cursor_be64(c);
    packet->transmit = bb_cursor_be64(c);
    if (!bb_cursor_ok(c) || packet->stratum > 16 || poll > POLL_MAX || poll < POLL_MIN ||
        (precision > 0 && precision != PRECISION_NONE) || precision < PRECISION_MIN || delay >> 24)
        return false;
    read_kiss(packet, id);
    // Behind the head come extensions and a digest, all of whole words (RFC 7822).
    return c->left % 4 == 0;
}

// RFC 1305, appendix B: data of `count` bytes, then padding and a digest. A request has no status,
// and is neither an error nor one of several.
static bool read_control(BbCursor *c)
{
    guint8 operation = bb_cursor_u8(c);
    bb_cursor_skip(c, 2); // sequence
    guint16 status = bb_cursor_be16(c);
    bb_cursor_skip(c, 2); // association
    guint16 offset = bb_cursor_be16(c), count = bb_cursor_be16(c);
    bool response = operation & CONTROL_RESPONSE;
    if (!bb_cursor_ok(c) || count > CONTROL_DATA || count > c->left)
        return false;
    gsize behind = c->left - count;
    return (response || (operation <= CONTROL_OPCODE && !status && !offset)) &&
           (behind <= 3 || (behind >= DIGEST_MIN && behind <= DIGEST_MAX));
}

// ntpd's ntp_request.h: items of a size behind 8 bytes of head. Some requests are padded.
static bool read_private(BbCursor *c)
{
    bb_cursor_skip(c, 1); // sequence
    guint8 implementation = bb_cursor_u8(c);
    bb_cursor_skip(c, 1); // request
    guint16 error = bb_cursor_be16(c), size = bb_cursor_be16(c);
    guint16 items = error & 0xfff;
    return bb_cursor_ok(c) && implementation <= 3 && implementation != 1 && error >> 12 <= 7 &&
           size <= 0xfff && (items == 0) == (size == 0) && (gsize)items * size <= c->left;
}

static bool read_packet(Packet *packet, const guint8 *data, gsize length)
{
    BbCursor c = bb_cursor(data, length);
    guint8 first = bb_cursor_u8(&c);
    guint version = first >> 3 & 7;
    *packet = (Packet){.mode = first & 7};
    if (version < 1 || version > 4 || packet->mode < SYMMETRIC)
        return false;
    if (packet->mode == CONTROL)
        return read_control(&c);
    return packet->mode == PRIVATE ? read_private(&c) : read_time_packet(packet, &c);
}

// The port tells: too many other things look like it.
static BbMatch probe(const guint8 *data, gsize length)
{
    Packet packet;
    if (!read_packet(&packet, data, length))
        return BB_MATCH_NO;
    bool usual = packet.mode == CLIENT || packet.mode == SERVER;
    return usual ? BB_MATCH_LIKELY : BB_MATCH_MAYBE;
}

static guint32 label_of(BbDialog *dialog, const Packet *packet)
{
    static const char *const names[] = {"",        "symmetric active", "symmetric passive",
                                        "client",  "server",           "broadcast",
                                        "control", "private"};
    return bb_dialog_label(dialog, names[packet->mode], strlen(names[packet->mode]));
}

static guint64 key_of(guint64 timestamp)
{
    return timestamp ? timestamp : KEY_UNTIMED;
}

// In interleaved mode the origin is the receive timestamp of the request (chrony's documentation,
// draft-ietf-ntp-interleaved-modes); its low half is the call's tag.
static const BbOpenCall *find_request(BbDialog *dialog, const Packet *packet, const BbPart *part)
{
    const BbOpenCall *open = bb_dialog_find(dialog, part, key_of(packet->origin));
    const BbOpenCall *youngest = bb_dialog_youngest(dialog);
    if (open || !youngest || !packet->origin)
        return open;
    return youngest->tag == (guint32)packet->origin ? youngest : NULL;
}

// A request of the same time as an open one is that one, sent again. Where there is no time the
// later one takes the place of the older.
static void take_request(BbDialog *dialog, const Packet *packet, const BbPart *part)
{
    BbPart reply = *part; // as a reply would find the open request
    reply.direction = bb_direction_other(part->direction);
    if (packet->transmit && bb_dialog_find(dialog, &reply, packet->transmit)) {
        bb_dialog_repeated(dialog);
        return;
    }
    guint64 call =
        bb_dialog_open_by(dialog, part, label_of(dialog, packet), key_of(packet->transmit),
                          (guint32)packet->receive, BB_KEY_REUSED);
    bb_dialog_sent(dialog, call, part);
}

static void take_packet(BbDialog *dialog, const Packet *packet, const BbPart *part)
{
    if (packet->mode == CLIENT) {
        take_request(dialog, packet, part);
    } else if (packet->mode == SERVER) {
        const BbOpenCall *open = find_request(dialog, packet, part);
        const char *status = packet->kiss[0] ? packet->kiss : "ok";
        bb_dialog_return(dialog, open ? open->call : 0, part,
                         bb_dialog_status(dialog, status, strlen(status)));
    } else {
        bb_dialog_message(dialog, part, label_of(dialog, packet), BB_NAME_NONE);
    }
}

static gssize parse(BbDialog *dialog, void *state, const BbView *view)
{
    Ntp *ntp = state;
    BbPart part = {0};
    Packet packet;
    if (!view->length)
        return 0;
    if (!read_packet(&packet, view->data, view->length)) {
        if (!ntp->read)
            return BB_PARSE_BAD;
        bb_dialog_resynced(dialog);
        return (gssize)view->length;
    }
    ntp->read = true;
    bb_part_add(&part, view, 0, view->length);
    take_packet(dialog, &packet, &part);
    return (gssize)view->length;
}

const BbDecoder bb_decoder_ntp = {
    .name = "ntp",
    .about = "NTP, client and server mode: by the origin timestamp",
    .udp = true,
    .ports = {123},
    .state_size = sizeof(Ntp),
    .probe = probe,
    .parse = parse,
};
