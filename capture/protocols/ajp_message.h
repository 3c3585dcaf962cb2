// SPDX-License-Identifier: Apache-2.0
// Packets of AJP 1.3 (Apache Tomcat Connectors, "The Apache Tomcat Connector - AJP Protocol
// Reference").
#pragma once

#include "capture/decoder.h"

#define BB_AJP_HEAD 4u       // magic and length
#define BB_AJP_TELLS 13u     // bytes of a packet that tell what it is
#define BB_AJP_WANTED 32768u // bytes of a request that are looked at

typedef enum {
    BB_AJP_DATA, // a piece of a request's body, which has no code
    BB_AJP_FORWARD = 2,
    BB_AJP_SEND_BODY,
    BB_AJP_SEND_HEADERS,
    BB_AJP_END_RESPONSE,
    BB_AJP_GET_BODY,
    BB_AJP_SHUTDOWN,
    BB_AJP_PING,
    BB_AJP_CPONG,
    BB_AJP_CPING,
} BbAjpCode;

typedef struct BbAjpMessage {
    BbAjpCode code;
    gsize length;               // of the whole packet
    guint16 status;             // of SEND_HEADERS
    const guint8 *method, *uri; // of FORWARD; lent with data. NULL if not known
    gsize method_length, uri_length;
} BbAjpMessage;

typedef enum { BB_AJP_BAD, BB_AJP_SHORT, BB_AJP_READ } BbAjpVerdict;

// data: the first bytes of a packet. asked: there was a request of which a body may come.
BbAjpVerdict bb_ajp_message_read(BbAjpMessage *message, BbDirection direction, bool asked,
                                 const guint8 *data, gsize length);
// Method and path of FORWARD in full. data: as much as is there of the packet.
void bb_ajp_forward_read(BbAjpMessage *message, const guint8 *data, gsize length);
// Whether a packet begins here that is surely AJP: as in BbDecoder.
BbMatch bb_ajp_match(const guint8 *data, gsize length);
