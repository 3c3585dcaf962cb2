// SPDX-License-Identifier: Apache-2.0
// In: bytes that may be an LDAPMessage (RFC 4511). Out: what it says, and whether it is one.
#include "capture/protocols/ldap_message.h"

#include "capture/protocols/ber.h"
#include "capture/protocols/label.h"

#include <string.h>

#define CONSTRUCTED 0x60u // class APPLICATION, as all operations but three
#define PRIMITIVE 0x40u
#define CONTROLS 0xa0u
#define ID_MAX G_MAXINT32 // RFC 4511, 4.1.1.1
#define OID_START_TLS "1.3.6.1.4.1.1466.20037"

// ---- operations -------------------------------------------------------------------------------

typedef struct Operation {
    const char *name;
    guint8 tag;
    bool request, final;
} Operation;

static const Operation operations[] = {
    [BB_LDAP_BIND_REQUEST] = {"bind", CONSTRUCTED, true, false},
    [BB_LDAP_BIND_RESPONSE] = {"bindResponse", CONSTRUCTED, false, true},
    [BB_LDAP_UNBIND] = {"unbind", PRIMITIVE, true, false},
    [BB_LDAP_SEARCH] = {"search", CONSTRUCTED, true, false},
    [BB_LDAP_ENTRY] = {"searchResEntry", CONSTRUCTED, false, false},
    [BB_LDAP_SEARCH_DONE] = {"searchResDone", CONSTRUCTED, false, true},
    [BB_LDAP_MODIFY] = {"modify", CONSTRUCTED, true, false},
    [BB_LDAP_MODIFY_RESPONSE] = {"modifyResponse", CONSTRUCTED, false, true},
    [BB_LDAP_ADD] = {"add", CONSTRUCTED, true, false},
    [BB_LDAP_ADD_RESPONSE] = {"addResponse", CONSTRUCTED, false, true},
    [BB_LDAP_DELETE] = {"delete", PRIMITIVE, true, false},
    [BB_LDAP_DELETE_RESPONSE] = {"delResponse", CONSTRUCTED, false, true},
    [BB_LDAP_RENAME] = {"modifyDN", CONSTRUCTED, true, false},
    [BB_LDAP_RENAME_RESPONSE] = {"modDNResponse", CONSTRUCTED, false, true},
    [BB_LDAP_COMPARE] = {"compare", CONSTRUCTED, true, false},
    [BB_LDAP_COMPARE_RESPONSE] = {"compareResponse", CONSTRUCTED, false, true},
    [BB_LDAP_ABANDON] = {"abandon", PRIMITIVE, true, false},
    [BB_LDAP_REFERENCE] = {"searchResRef", CONSTRUCTED, false, false},
    [BB_LDAP_EXTENDED] = {"extended", CONSTRUCTED, true, false},
    [BB_LDAP_EXTENDED_RESPONSE] = {"extendedResponse", CONSTRUCTED, false, true},
    [BB_LDAP_INTERMEDIATE] = {"intermediateResponse", CONSTRUCTED, false, false},
};

static const Operation *operation_of(guint8 tag)
{
    guint8 number = tag & 0x1f;
    if (number >= G_N_ELEMENTS(operations) || !operations[number].name)
        return NULL;
    return operations[number].tag == (tag & 0xe0) ? &operations[number] : NULL;
}

gsize bb_ldap_message_label(const BbLdapMessage *message, char *out)
{
    const char *name = operations[message->operation].name;
    return (gsize)g_snprintf(out, BB_LABEL_MAX + 1, "%s%s%s", name, message->detail[0] ? " " : "",
                             message->detail);
}

const char *bb_ldap_result_name(guint32 result)
{
    static const char *const names[] = {
        [0] = "ok",
        [1] = "operationsError",
        [2] = "protocolError",
        [3] = "timeLimitExceeded",
        [4] = "sizeLimitExceeded",
        [5] = "compareFalse",
        [6] = "compareTrue",
        [7] = "authMethodNotSupported",
        [8] = "strongerAuthRequired",
        [10] = "referral",
        [11] = "adminLimitExceeded",
        [12] = "unavailableCriticalExtension",
        [13] = "confidentialityRequired",
        [14] = "saslBindInProgress",
        [16] = "noSuchAttribute",
        [17] = "undefinedAttributeType",
        [18] = "inappropriateMatching",
        [19] = "constraintViolation",
        [20] = "attributeOrValueExists",
        [21] = "invalidAttributeSyntax",
        [32] = "noSuchObject",
        [33] = "aliasProblem",
        [34] = "invalidDNSyntax",
        [36] = "aliasDereferencingProblem",
        [48] = "inappropriateAuthentication",
        [49] = "invalidCredentials",
        [50] = "insufficientAccessRights",
        [51] = "busy",
        [52] = "unavailable",
        [53] = "unwillingToPerform",
        [54] = "loopDetect",
        [64] = "namingViolation",
        [65] = "objectClassViolation",
        [66] = "notAllowedOnNonLeaf",
        [67] = "notAllowedOnRDN",
        [68] = "entryAlreadyExists",
        [69] = "objectClassModsProhibited",
        [71] = "affectsMultipleDSAs",
        [80] = "other",
        [118] = "canceled", // RFC 3909
        [119] = "noSuchOperation",
        [120] = "tooLate",
        [121] = "cannotCancel",
        [122] = "assertionFailed", // RFC 4528
    };
    return result < G_N_ELEMENTS(names) ? names[result] : NULL;
}

// ---- details ----------------------------------------------------------------------------------

// A SASL mechanism: 1 to 20 of A-Z 0-9 - _ (RFC 4422, 3.1).
static void set_mechanism(BbLdapMessage *message, const guint8 *name, gsize length)
{
    for (gsize i = 0; i < length; i++)
        if (!g_ascii_isalnum(name[i]) && name[i] != '-' && name[i] != '_')
            return;
    if (length <= 20)
        memcpy(message->detail, name, length);
}

static void read_bind(BbLdapMessage *message, BbBer *op)
{
    gsize length;
    (void)bb_ber_integer(op, BB_BER_INTEGER);
    bb_ber_skip(op); // name
    guint8 choice = bb_ber_peek(op);
    if (choice == 0x80) {
        g_strlcpy(message->detail, "simple", BB_LDAP_DETAIL);
    } else if (choice == 0xa3) {
        BbBer sasl = bb_ber_enter(op, choice);
        message->sasl = true;
        const guint8 *mechanism = bb_ber_string(&sasl, BB_BER_OCTETS, &length);
        if (mechanism)
            set_mechanism(message, mechanism, length);
    } else if ((choice & 0xe0) == 0x80) { // Sicily: NTLM before SASL (MS-ADTS, 5.1.1.1.3)
        message->sasl = true;
        g_strlcpy(message->detail, "sicily", BB_LDAP_DETAIL);
    }
}

static void read_search(BbLdapMessage *message, BbBer *op)
{
    static const char *const scopes[] = {"base", "one", "sub", "subordinate"};
    bb_ber_skip(op); // base
    gint64 scope = bb_ber_integer(op, BB_BER_ENUMERATED);
    if (bb_ber_ok(op) && scope >= 0 && scope < (gint64)G_N_ELEMENTS(scopes))
        g_strlcpy(message->detail, scopes[scope], BB_LDAP_DETAIL);
}

static void read_extended(BbLdapMessage *message, BbBer *op)
{
    static const struct {
        const char *oid, *name;
    } known[] = {
        {OID_START_TLS, "StartTLS"},
        {"1.3.6.1.4.1.4203.1.11.1", "PasswordModify"}, // RFC 3062
        {"1.3.6.1.4.1.4203.1.11.3", "WhoAmI"},         // RFC 4532
        {"1.3.6.1.1.8", "Cancel"},                     // RFC 3909
    };
    gsize length;
    const guint8 *oid = bb_ber_string(op, 0x80, &length);
    if (!oid || length >= BB_LDAP_DETAIL)
        return;
    for (gsize i = 0; i < length; i++)
        if (!g_ascii_isdigit(oid[i]) && oid[i] != '.')
            return;
    memcpy(message->detail, oid, length);
    for (gsize i = 0; i < G_N_ELEMENTS(known); i++)
        if (strcmp(known[i].oid, message->detail) == 0)
            g_strlcpy(message->detail, known[i].name, BB_LDAP_DETAIL);
    message->start_tls = strcmp(message->detail, "StartTLS") == 0;
}

static void read_result(BbLdapMessage *message, BbBer *op)
{
    gint64 result = bb_ber_integer(op, BB_BER_ENUMERATED);
    message->has_result = bb_ber_ok(op) && result >= 0 && result <= G_MAXINT32;
    message->result = message->has_result ? (guint32)result : 0;
}

// RFC 4511, 4.11: the content of an Abandon is that of an integer.
static void read_abandon(BbLdapMessage *message, const BbBer *op)
{
    guint64 id = 0;
    if (op->beyond || op->left > sizeof id)
        return;
    for (gsize i = 0; i < op->left; i++)
        id = id << 8 | op->at[i];
    message->abandoned = id <= ID_MAX ? (guint32)id : 0;
}

static void read_operation(BbLdapMessage *message, BbBer *op)
{
    if (message->operation == BB_LDAP_BIND_REQUEST)
        read_bind(message, op);
    else if (message->operation == BB_LDAP_SEARCH)
        read_search(message, op);
    else if (message->operation == BB_LDAP_EXTENDED)
        read_extended(message, op);
    else if (message->operation == BB_LDAP_ABANDON)
        read_abandon(message, op);
    else if (message->final)
        read_result(message, op);
}

// ---- messages ---------------------------------------------------------------------------------

BbLdapVerdict bb_ldap_message_read(BbLdapMessage *message, const guint8 *data, gsize length,
                                   gsize beyond)
{
    BbBer ber = bb_ber(data, length, beyond);
    BbBer inside = bb_ber_enter(&ber, BB_BER_SEQUENCE);
    *message = (BbLdapMessage){.length = (gsize)(inside.at - data) + inside.left + inside.beyond};
    gint64 id = bb_ber_integer(&inside, BB_BER_INTEGER);
    if (bb_ber_ok(&inside) && (id < 0 || id > ID_MAX))
        return BB_LDAP_BAD;
    guint8 tag = bb_ber_peek(&inside);
    if (inside.bad)
        return BB_LDAP_BAD;
    if (inside.cut || (!tag && inside.beyond))
        return BB_LDAP_CUT;
    const Operation *operation = operation_of(tag);
    BbBer op = bb_ber_enter(&inside, tag);
    if (!operation || op.bad)
        return BB_LDAP_BAD;
    message->id = (guint32)id;
    message->operation = tag & 0x1f;
    message->request = operation->request;
    message->final = operation->final;
    read_operation(message, &op);
    return BB_LDAP_READ;
}

bool bb_ldap_message_length(const guint8 *data, gsize length, gsize *total)
{
    BbBer ber = bb_ber(data, length, BB_LDAP_MESSAGE_MAX);
    BbBer inside = bb_ber_enter(&ber, BB_BER_SEQUENCE);
    *total = 0;
    if (bb_ber_ok(&inside))
        *total = (gsize)(inside.at - data) + inside.left + inside.beyond;
    return !inside.bad;
}

// ---- the probe --------------------------------------------------------------------------------

// Whether the first elements of an operation are those it must have.
static void check_operation(guint8 operation, BbBer *op)
{
    gint64 number = 0;
    switch (operation) {
    case BB_LDAP_BIND_REQUEST:
        number = bb_ber_integer(op, BB_BER_INTEGER);
        op->bad |= bb_ber_ok(op) && (number < 2 || number > 3);
        (void)bb_ber_enter(op, BB_BER_OCTETS);
        break;
    case BB_LDAP_SEARCH:
        (void)bb_ber_enter(op, BB_BER_OCTETS);
        number = bb_ber_integer(op, BB_BER_ENUMERATED) | bb_ber_integer(op, BB_BER_ENUMERATED);
        op->bad |= number < 0 || number > 3;
        break;
    case BB_LDAP_ENTRY:
    case BB_LDAP_MODIFY:
    case BB_LDAP_ADD:
    case BB_LDAP_COMPARE:
        (void)bb_ber_enter(op, BB_BER_OCTETS);
        (void)bb_ber_enter(op, BB_BER_SEQUENCE);
        break;
    case BB_LDAP_RENAME:
        (void)bb_ber_enter(op, BB_BER_OCTETS);
        (void)bb_ber_enter(op, BB_BER_OCTETS);
        (void)bb_ber_integer(op, BB_BER_BOOLEAN);
        break;
    case BB_LDAP_REFERENCE:
        (void)bb_ber_enter(op, BB_BER_OCTETS);
        break;
    case BB_LDAP_EXTENDED:
        (void)bb_ber_enter(op, 0x80);
        break;
    case BB_LDAP_INTERMEDIATE:
        op->bad |= bb_ber_peek(op) != 0x80 && bb_ber_peek(op) != 0x81;
        break;
    case BB_LDAP_UNBIND:
        op->bad |= !bb_ber_ended(op);
        break;
    case BB_LDAP_DELETE:
    case BB_LDAP_ABANDON:
        break;
    default: // LDAPResult
        number = bb_ber_integer(op, BB_BER_ENUMERATED);
        op->bad |= number < 0;
        (void)bb_ber_enter(op, BB_BER_OCTETS);
        (void)bb_ber_enter(op, BB_BER_OCTETS);
    }
}

BbMatch bb_ldap_probe(const guint8 *data, gsize length)
{
    BbBer ber = bb_ber(data, length, BB_LDAP_MESSAGE_MAX);
    BbBer inside = bb_ber_enter(&ber, BB_BER_SEQUENCE);
    gint64 id = bb_ber_integer(&inside, BB_BER_INTEGER);
    guint8 tag = bb_ber_peek(&inside);
    if (inside.bad || (bb_ber_ok(&inside) && (id < 0 || id > ID_MAX)))
        return BB_MATCH_NO;
    if (inside.cut || !tag)
        return inside.cut || inside.beyond ? BB_MATCH_MORE : BB_MATCH_NO;
    const Operation *operation = operation_of(tag);
    BbBer op = bb_ber_enter(&inside, tag);
    if (!operation || op.bad)
        return BB_MATCH_NO;
    if (inside.left || inside.beyond) { // what follows the operation can only be controls
        guint8 next = bb_ber_peek(&inside);
        if (inside.left && op.beyond == 0 && next != CONTROLS)
            return BB_MATCH_NO;
    }
    check_operation(tag & 0x1f, &op);
    if (op.bad)
        return BB_MATCH_NO;
    if (op.cut)
        return BB_MATCH_MORE;
    if ((tag & 0x1f) == BB_LDAP_DELETE || (tag & 0x1f) == BB_LDAP_ABANDON)
        return BB_MATCH_LIKELY;
    return operation->request ? BB_MATCH_REQUEST : BB_MATCH_REPLY;
}
