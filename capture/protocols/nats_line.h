// SPDX-License-Identifier: Apache-2.0
// Control lines of the NATS client protocol, and of that between servers.
#pragma once

#include "capture/protocols/framing.h"

typedef enum {
    BB_NATS_INFO,
    BB_NATS_CONNECT,
    BB_NATS_PUB,
    BB_NATS_HPUB,
    BB_NATS_SUB,
    BB_NATS_UNSUB,
    BB_NATS_MSG,
    BB_NATS_HMSG,
    BB_NATS_PING,
    BB_NATS_PONG,
    BB_NATS_OK,
    BB_NATS_ERROR,
    BB_NATS_INTEREST, // between servers: what one of them subscribed to, or no longer does
    BB_NATS_ROUTED,   // between servers: a message
} BbNatsVerb;

typedef struct BbNatsLine {
    BbNatsVerb verb;
    const char *word;              // the verb as it is written
    gsize length;                  // with its end
    const guint8 *subject, *reply; // lent; NULL: none
    gsize subject_length, reply_length;
    bool has_payload;    // `payload` bytes and CR LF follow
    gsize head, payload; // head: bytes of the payload that are headers
} BbNatsLine;

// The line at data.
BbFrameVerdict bb_nats_line(const guint8 *data, gsize length, BbNatsLine *line);
// Servers call each other, too: both may say what is said between servers.
bool bb_nats_may_say(BbDirection direction, BbNatsVerb verb);
// Status of a message's headers: the digits behind "NATS/1.0 ". Returns how many there are.
gsize bb_nats_status(const guint8 *headers, gsize length, const guint8 **digits);
BbMatch bb_nats_probe(const guint8 *data, gsize length);
