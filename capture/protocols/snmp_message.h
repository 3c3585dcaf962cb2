// SPDX-License-Identifier: Apache-2.0
// One SNMP message (RFC 1157, RFC 3416, RFC 3412): version, PDU, identifiers.
#pragma once

#include "capture/decoder.h"

typedef enum {
    BB_SNMP_GET,
    BB_SNMP_GET_NEXT,
    BB_SNMP_RESPONSE,
    BB_SNMP_SET,
    BB_SNMP_TRAP_V1,
    BB_SNMP_GET_BULK,
    BB_SNMP_INFORM,
    BB_SNMP_TRAP,
    BB_SNMP_REPORT,
    BB_SNMP_HIDDEN, // encrypted
} BbSnmpPdu;

typedef struct BbSnmpMessage {
    BbSnmpPdu pdu;
    guint64 key; // request-id or msgID, apart from each other; never 0
    bool is_v3;
    bool reportable;       // v3: a response is expected
    guint32 error;         // of a response
    const char *statistic; // of a report: what it counts, static; NULL if it is no known one
} BbSnmpMessage;

typedef enum { BB_SNMP_BAD, BB_SNMP_CUT, BB_SNMP_READ } BbSnmpVerdict;

// missing: bytes of the datagram that the snap length cut. CUT: no PDU can be seen.
BbSnmpVerdict bb_snmp_message_read(BbSnmpMessage *message, const guint8 *data, gsize length,
                                   gsize missing);
// "GetRequest"; `?` of what is encrypted.
const char *bb_snmp_pdu_name(BbSnmpPdu pdu);
// "noSuchName", "ok" for noError; NULL for codes that no RFC has.
const char *bb_snmp_error_name(guint32 error);

BbMatch bb_snmp_probe(const guint8 *data, gsize length);
