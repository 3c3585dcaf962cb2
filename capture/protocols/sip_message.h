// SPDX-License-Identifier: Apache-2.0
// The head of a SIP message (RFC 3261, section 7): what it is, which transaction it belongs to, how
// long its body is.
#pragma once

#include "capture/decoder.h"

#define BB_SIP_METHOD_MAX 20u // letters of a method
#define BB_SIP_LINE_MAX 4096u // bytes in which a start line must end

typedef struct BbSipMessage {
    guint code;           // of a response; 0: a request
    const guint8 *method; // request: lent from the bytes read
    gsize method_length;
    guint64 transaction; // the same for a request and its responses, never 0; 0: not known
    bool has_length;     // Content-Length was there
    guint64 length;      // and this is it
} BbSipMessage;

// Whether a start line begins here: a request, a reply, or too few bytes to tell.
BbMatch bb_sip_match(const guint8 *data, gsize length);

// Whether all of it keeps a connection open and says nothing: line ends (RFC 5626, 3.5.1), zeros,
// STUN (3.5.2).
bool bb_sip_is_keep_alive(const guint8 *data, gsize length);

// Bytes of the head up to the empty line and with it, 0 when that is not there. The first `from`
// bytes were searched before.
gsize bb_sip_head(const guint8 *data, gsize length, gsize from);

// Reads a head whose start line bb_sip_match is sure of; its end may be missing.
void bb_sip_message(BbSipMessage *message, const guint8 *head, gsize length);
