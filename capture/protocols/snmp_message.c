// SPDX-License-Identifier: Apache-2.0
// In: bytes that may be SNMP v1, v2c or v3. Out: what the PDU is, and whose answer.
#include "capture/protocols/snmp_message.h"

#include "capture/protocols/ber.h"

#include <string.h>

enum { VERSION_1 = 0, VERSION_2C = 1, VERSION_3 = 3 };
enum { FLAG_ENCRYPTED = 2, FLAG_REPORTABLE = 4 };
#define PDU_TAG 0xa0u
#define KEY_REQUEST (G_GUINT64_CONSTANT(1) << 32)
#define KEY_MESSAGE (G_GUINT64_CONSTANT(2) << 32)

const char *bb_snmp_pdu_name(BbSnmpPdu pdu)
{
    static const char *const names[] = {
        "GetRequest",     "GetNextRequest", "Response", "SetRequest", "Trap",
        "GetBulkRequest", "InformRequest",  "Trap",     "Report",     "?",
    };
    return names[pdu];
}

// RFC 3416, 3.
const char *bb_snmp_error_name(guint32 error)
{
    static const char *const names[] = {
        "ok",
        "tooBig",
        "noSuchName",
        "badValue",
        "readOnly",
        "genErr",
        "noAccess",
        "wrongType",
        "wrongLength",
        "wrongEncoding",
        "wrongValue",
        "noCreation",
        "inconsistentValue",
        "resourceUnavailable",
        "commitFailed",
        "undoFailed",
        "authorizationError",
        "notWritable",
        "inconsistentName",
    };
    return error < G_N_ELEMENTS(names) ? names[error] : NULL;
}

// ---- PDUs -------------------------------------------------------------------------------------

// RFC 3414, 5 (usmStats) and RFC 3412, 5 (snmpMPDStats).
static const char *statistic_of(BbBer *bindings)
{
    static const struct {
        const char *oid, *name;
    } known[] = {
        {"1.3.6.1.6.3.15.1.1.1.0", "unsupportedSecLevels"},
        {"1.3.6.1.6.3.15.1.1.2.0", "notInTimeWindows"},
        {"1.3.6.1.6.3.15.1.1.3.0", "unknownUserNames"},
        {"1.3.6.1.6.3.15.1.1.4.0", "unknownEngineIDs"},
        {"1.3.6.1.6.3.15.1.1.5.0", "wrongDigests"},
        {"1.3.6.1.6.3.15.1.1.6.0", "decryptionErrors"},
        {"1.3.6.1.6.3.11.2.1.1.0", "unknownSecurityModels"},
        {"1.3.6.1.6.3.11.2.1.2.0", "invalidMsgs"},
        {"1.3.6.1.6.3.11.2.1.3.0", "unknownPDUHandlers"},
    };
    char text[64];
    gsize length;
    BbBer binding = bb_ber_enter(bindings, BB_BER_SEQUENCE);
    const guint8 *oid = bb_ber_string(&binding, BB_BER_OID, &length);
    if (!oid || !bb_ber_oid_format(oid, length, text, sizeof text))
        return NULL;
    for (gsize i = 0; i < G_N_ELEMENTS(known); i++)
        if (strcmp(known[i].oid, text) == 0)
            return known[i].name;
    return NULL;
}

// RFC 1157, 4.1.6: enterprise, agent, generic and specific trap, time.
static BbSnmpVerdict read_trap_v1(BbSnmpMessage *message, BbBer *pdu)
{
    (void)bb_ber_enter(pdu, BB_BER_OID);
    (void)bb_ber_enter(pdu, 0x40);
    (void)bb_ber_integer(pdu, BB_BER_INTEGER);
    message->key = KEY_REQUEST;
    return pdu->bad ? BB_SNMP_BAD : BB_SNMP_READ;
}

static BbSnmpVerdict read_pdu(BbSnmpMessage *message, BbBer *holder)
{
    guint8 tag = bb_ber_peek(holder);
    if (holder->bad || (tag && (tag < PDU_TAG || tag > PDU_TAG + BB_SNMP_REPORT)))
        return BB_SNMP_BAD;
    if (!tag)
        return BB_SNMP_CUT;
    BbBer pdu = bb_ber_enter(holder, tag);
    message->pdu = (BbSnmpPdu)(tag - PDU_TAG);
    if (message->pdu == BB_SNMP_TRAP_V1)
        return read_trap_v1(message, &pdu);
    guint32 id = (guint32)bb_ber_integer(&pdu, BB_BER_INTEGER);
    if (pdu.cut)
        return BB_SNMP_CUT;
    if (!message->key)
        message->key = KEY_REQUEST | id;
    message->error = (guint32)bb_ber_integer(&pdu, BB_BER_INTEGER);
    (void)bb_ber_integer(&pdu, BB_BER_INTEGER); // index of the error
    BbBer bindings = bb_ber_enter(&pdu, BB_BER_SEQUENCE);
    if (message->pdu == BB_SNMP_REPORT)
        message->statistic = statistic_of(&bindings);
    return pdu.bad ? BB_SNMP_BAD : BB_SNMP_READ;
}

// ---- messages ---------------------------------------------------------------------------------

// RFC 3412, 6: global data, security parameters, and the scoped PDU in the clear or encrypted.
static BbSnmpVerdict read_v3(BbSnmpMessage *message, BbBer *inside)
{
    gsize length;
    BbBer global = bb_ber_enter(inside, BB_BER_SEQUENCE);
    guint32 id = (guint32)bb_ber_integer(&global, BB_BER_INTEGER);
    (void)bb_ber_integer(&global, BB_BER_INTEGER); // largest message
    const guint8 *flags = bb_ber_string(&global, BB_BER_OCTETS, &length);
    if (global.bad || (flags && length != 1))
        return BB_SNMP_BAD;
    if (!flags)
        return global.cut ? BB_SNMP_CUT : BB_SNMP_BAD;
    message->is_v3 = true;
    message->key = KEY_MESSAGE | id;
    message->reportable = flags[0] & FLAG_REPORTABLE;
    message->pdu = BB_SNMP_HIDDEN;
    (void)bb_ber_enter(inside, BB_BER_OCTETS); // security parameters
    if (flags[0] & FLAG_ENCRYPTED) {
        (void)bb_ber_enter(inside, BB_BER_OCTETS);
        return inside->bad ? BB_SNMP_BAD : BB_SNMP_READ;
    }
    BbBer scoped = bb_ber_enter(inside, BB_BER_SEQUENCE);
    (void)bb_ber_enter(&scoped, BB_BER_OCTETS); // context engine
    (void)bb_ber_enter(&scoped, BB_BER_OCTETS); // and name
    return read_pdu(message, &scoped);
}

BbSnmpVerdict bb_snmp_message_read(BbSnmpMessage *message, const guint8 *data, gsize length,
                                   gsize missing)
{
    BbBer ber = bb_ber(data, length, missing);
    BbBer inside = bb_ber_enter(&ber, BB_BER_SEQUENCE);
    gint64 version = bb_ber_integer(&inside, BB_BER_INTEGER);
    *message = (BbSnmpMessage){0};
    if (inside.bad)
        return BB_SNMP_BAD;
    if (inside.cut)
        return BB_SNMP_CUT;
    if (version == VERSION_3)
        return read_v3(message, &inside);
    if (version != VERSION_1 && version != VERSION_2C)
        return BB_SNMP_BAD;
    (void)bb_ber_enter(&inside, BB_BER_OCTETS); // community
    return read_pdu(message, &inside);
}

BbMatch bb_snmp_probe(const guint8 *data, gsize length)
{
    BbSnmpMessage message;
    if (bb_snmp_message_read(&message, data, length, 0) != BB_SNMP_READ)
        return BB_MATCH_NO;
    switch (message.pdu) {
    case BB_SNMP_RESPONSE:
    case BB_SNMP_REPORT:
        return BB_MATCH_REPLY;
    case BB_SNMP_HIDDEN:
        return message.reportable ? BB_MATCH_REQUEST : BB_MATCH_REPLY;
    default:
        return BB_MATCH_REQUEST;
    }
}
