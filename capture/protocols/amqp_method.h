// SPDX-License-Identifier: Apache-2.0
// The methods of AMQP 0-9-1 (with the extensions of RabbitMQ): which pair, which carry content, and
// what of their arguments makes a label.
#pragma once

#include "capture/protocols/framing.h"

typedef enum {
    BB_AMQP_CALL,    // synchronous: its reply follows
    BB_AMQP_REPLY,   // to a method of the same class
    BB_AMQP_FREE,    // nobody answers
    BB_AMQP_CLOSE,   // synchronous, and ends what is open on its channel
    BB_AMQP_CLOSED,  // the reply to that
    BB_AMQP_CONTENT, // free; a header and body follow in frames of their own
    BB_AMQP_GET_OK,  // a reply with content
} BbAmqpKind;

typedef enum { BB_AMQP_CLIENT, BB_AMQP_SERVER, BB_AMQP_EITHER } BbAmqpSender;

typedef struct BbAmqpMethod {
    guint8 class_id, method_id;
    guint8 reply; // method id of the reply it gets, or is: 0 = none
    BbAmqpKind kind;
    BbAmqpSender sender;
    guint8 no_wait;        // bit of its flags that says that no reply is wanted
    const char *name;      // what labels begin with
    const char *arguments; // see amqp_method.c
} BbAmqpMethod;

// The method at the front of a payload; NULL if there is none that is known. old: the connection is
// of AMQP 0-8, where other numbers close it.
const BbAmqpMethod *bb_amqp_method(const guint8 *payload, gsize length, bool old);
// Whether a client says this in AMQP 0-8 only.
bool bb_amqp_is_old(const guint8 *payload, gsize length);
// The next one that gets a reply, after previous; NULL: the first, or there are no more.
const BbAmqpMethod *bb_amqp_next_call(const BbAmqpMethod *previous);
// Whether the method there says that it wants no reply.
bool bb_amqp_is_no_wait(const BbAmqpMethod *method, const guint8 *payload, gsize length);
// Of a Close: its reply code, 0 when it is cut.
guint16 bb_amqp_close_code(const guint8 *payload, gsize length);
// "queue.declare orders", "publish logs/app.*". Returns its length; out: BB_LABEL_MAX + 1 bytes.
gsize bb_amqp_label(char *out, const BbAmqpMethod *method, const guint8 *payload, gsize length);
