// SPDX-License-Identifier: Apache-2.0
// Gateway protocols of one request a connection: a head with the meta-variables, a body of
// CONTENT_LENGTH bytes, and the reply until the server closes. A decoder tells how heads look.
#pragma once

#include "capture/decoder.h"
#include "capture/protocols/cgi_head.h"
#include "capture/protocols/cgi_vars.h"

#define BB_CGI_WANTED (32u * 1024u) // bytes of a head that are looked at

typedef struct BbCgiForm {
    // Whether a head begins here, as in BbDecoder.
    BbMatch (*probe)(const guint8 *data, gsize length);
    // Bytes of the head that begins here, 0 if that cannot be told yet.
    gsize (*measure)(const guint8 *data, gsize length);
    // What the bytes seen of a head say.
    void (*read)(BbCgiVars *vars, const guint8 *data, gsize seen);
} BbCgiForm;

// The decoder's state. Zeroed, it waits for a head.
typedef struct BbCgiExchange {
    BbPart request, reply;
    BbCgiHead head;  // of the reply
    guint64 call;    // the last request
    guint64 answers; // what the reply answers, 0: an orphan
    bool sending;    // the body is being skipped
    bool passing;    // what the server says is the rest of a reply that a gap has ended
    bool lost;       // looking for a head
    bool good;       // a head was read
} BbCgiExchange;

// The decoder's parse, gap and finish.
gssize bb_cgi_exchange_parse(BbCgiExchange *exchange, const BbCgiForm *form, BbDialog *dialog,
                             const BbView *view);
void bb_cgi_exchange_gap(BbCgiExchange *exchange, BbDialog *dialog, BbDirection direction);
void bb_cgi_exchange_finish(BbCgiExchange *exchange, BbDialog *dialog);
