// SPDX-License-Identifier: Apache-2.0
// The message: the one fact that travels from capture to inference (paper, section 4: timestamp,
// sender, receiver, call or return, call id). Times are nanoseconds since 1970, UTC.
#pragma once

#include "data/names.h"

#define BB_TIME_NONE G_MININT64
#define BB_BYTES_NONE G_MAXUINT64
#define BB_OFFSET_NONE G_MAXUINT64

typedef enum {
    BB_CALL,   // a request that expects a return
    BB_RETURN, // the answer to a call
    BB_FREE,   // a free-form message: neither call nor return
} BbKind;

// An identifier of a call or of a ground-truth path, in 16 bytes whatever its text was. Two ids of
// one run are the same text exactly when both fields are equal.
//   form BB_ID_ABSENT   there is none (`-` as the id of a text trace, or no key)
//   form BB_ID_DASH     the literal `-` where that means something (parent=- is a root)
//   form BB_ID_HEX16    sixteen lower-case hex digits, the value in number
//   form >= BB_ID_STEM  the text of name (form - BB_ID_STEM), followed by number in decimal without
//                       leading zeros, or by nothing where number is BB_ID_BARE
typedef struct BbId {
    guint64 number;
    guint32 form;
} BbId;

#define BB_ID_ABSENT 0u
#define BB_ID_DASH 1u
#define BB_ID_HEX16 2u
#define BB_ID_STEM 3u
#define BB_ID_BARE G_MAXUINT64

// Lower positions are counted from the connection's begin, or may be: another connection with the
// same ends has them, too.
#define BB_OFFSET_RELATIVE ((guint64)1 << 20)

typedef struct BbMessage {
    gint64 time_ns; // first byte, when sent or, where only one sighting exists, when seen
    gint64 recv_ns; // first byte at the receiver, in the receiver's clock; BB_TIME_NONE if not seen
    gint64 end_ns;  // last byte to come, same clock as time_ns; BB_TIME_NONE if not known
    guint64 bytes;  // size; BB_BYTES_NONE if not known
    BbId id;        // shared by a call and its return; absent for most free messages
    BbId path;      // ground truth: path instance. No algorithm reads it
    BbId parent;    // ground truth: id of the causing call, BB_ID_DASH for a root. Likewise
    guint64 offset; // position of the first byte in its direction of conn, of a datagram its print
                    // (bb_message_has_print); BB_OFFSET_NONE if not known
    const char *conn;  // connection, NULL if not known; lent until the next message is read
    const char *extra; // keys of a text trace that we do not know, percent-encoded as they came,
                       // NULL if none; lent until the next message is read
    guint32 sender, receiver, op, status, proto, observer; // names; BB_NAME_NONE if not known
    guint32 file;  // name of the capture file with its first packet; BB_NAME_NONE if not known
    guint32 frame; // number of that packet in file, from 1 on; 0 if not known
    BbKind kind;
    bool at_receiver; // a sighting at the receiver (`_RECV` of a text trace): time_ns is its clock
} BbMessage;

// A message with every field absent, kind BB_FREE.
static inline BbMessage bb_message_empty(void)
{
    return (BbMessage){
        .time_ns = BB_TIME_NONE,
        .recv_ns = BB_TIME_NONE,
        .end_ns = BB_TIME_NONE,
        .bytes = BB_BYTES_NONE,
        .offset = BB_OFFSET_NONE,
        .kind = BB_FREE,
    };
}

// A datagram has no position in its connection. What tells it from others there is what it begins
// with: a checksum (CRC-32C) of its first bytes, 2^32 added, beyond all positions that TCP counts.
// Every observer sees the same bytes, and translation of addresses leaves them alone.
#define BB_OFFSET_PRINT ((guint64)1 << 32)
#define BB_PRINT_BYTES 64u // first bytes of a datagram in its print, all if it has fewer

static inline bool bb_message_has_print(const BbMessage *message)
{
    return message->conn && message->offset >> 32 == BB_OFFSET_PRINT >> 32;
}

// Whether it only says that its sender closes a connection over the call with its id (free, of
// status BB_STATUS_CLOSED): no node does anything because of it.
bool bb_message_ends_call(const BbMessage *message, const BbNames *names);

static inline bool bb_id_equal(BbId a, BbId b)
{
    return a.form == b.form && a.number == b.number;
}

static inline bool bb_id_is_known(BbId id)
{
    return id.form != BB_ID_ABSENT;
}

// An id that is a plain decimal number, as capture gives them.
BbId bb_id_number(guint64 number);

// The id whose text this is; never absent, except for the empty text. A `-` gives BB_ID_DASH.
BbId bb_id_parse(BbNames *names, const char *text);

// Appends the text of id; an absent id and BB_ID_DASH append `-`.
void bb_id_append(GString *out, const BbNames *names, BbId id);
