// SPDX-License-Identifier: Apache-2.0
// Messages of GIOP (OMG CORBA 3.3, part 2, section 9.4; versions 1.0 to 1.2) and of MIOP, which
// carries them in datagrams.
#pragma once

#include "capture/cursor.h"
#include "capture/decoder.h"
#include "capture/protocols/label.h"

#define BB_GIOP_HEAD 12u
#define BB_GIOP_FRONT 4096u      // bytes of a message that hold what is read of it
#define BB_GIOP_MAX (256u << 20) // bytes of a message

typedef enum {
    BB_GIOP_REQUEST,
    BB_GIOP_REPLY,
    BB_GIOP_CANCEL_REQUEST,
    BB_GIOP_LOCATE_REQUEST,
    BB_GIOP_LOCATE_REPLY,
    BB_GIOP_CLOSE_CONNECTION,
    BB_GIOP_MESSAGE_ERROR,
    BB_GIOP_FRAGMENT,
} BbGiopType;

typedef enum { BB_GIOP_BAD, BB_GIOP_SHORT, BB_GIOP_READ } BbGiopVerdict;

typedef struct BbGiopMessage {
    BbGiopType type;
    guint8 minor;      // of the version 1.minor
    bool little, more; // byte order; fragments follow
    bool compressed;   // ZIOP: nothing below is known
    gsize length;      // of the whole
    guint32 id;
    bool has_id;                      // fragments of 1.1 have none
    bool answered;                    // Request: a reply is expected
    guint32 status;                   // of replies
    char operation[BB_LABEL_MAX + 1]; // of requests; `?` where it was not seen
} BbGiopMessage;

// READ also where only the first bytes are there: `?` is in the place of what is not.
BbGiopVerdict bb_giop_message_read(BbGiopMessage *message, const guint8 *data, gsize length);

// "ok" or the name of the status.
const char *bb_giop_status_name(BbGiopType type, guint32 status);

// The GIOP message in a datagram of MIOP: where it is the first packet of several, or the only one.
// BAD: no MIOP. SHORT: one that goes on with what others began.
BbGiopVerdict bb_miop_open(const guint8 *data, gsize length, BbCursor *inside);
