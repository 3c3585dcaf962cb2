// SPDX-License-Identifier: Apache-2.0
// The command and headers of a STOMP frame (STOMP 1.0, 1.1, 1.2).
#pragma once

#include "capture/protocols/framing.h"

typedef enum {
    BB_STOMP_CONNECT, // STOMP as well
    BB_STOMP_CONNECTED,
    BB_STOMP_RECEIPT,
    BB_STOMP_ERROR,
    BB_STOMP_OTHER,
} BbStompKind;

typedef struct BbStompText {
    const guint8 *at; // lent; NULL: there is none
    gsize length;
} BbStompText;

typedef struct BbStompHead {
    BbStompKind kind;
    const char *command;
    gsize length; // up to the body
    BbStompText destination, receipt, receipt_id;
    bool sized; // the length of the body is given
    gsize body;
} BbStompHead;

// The head at data, which one of that direction may send.
BbFrameVerdict bb_stomp_head(const guint8 *data, gsize length, BbDirection direction,
                             BbStompHead *head);
// The certain beginning of one of either direction.
BbMatch bb_stomp_probe(const guint8 *data, gsize length);
