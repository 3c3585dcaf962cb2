// SPDX-License-Identifier: Apache-2.0
// One LDAPMessage (RFC 4511, 4.1.1): id, operation, and what its label and status are made of.
#pragma once

#include "capture/decoder.h"

#define BB_LDAP_MESSAGE_MAX (256u * 1024 * 1024)
#define BB_LDAP_WANTED 2048u // bytes of a message that are looked at: a search's base and scope

// Operations: the tag of protocolOp without class and form.
typedef enum {
    BB_LDAP_BIND_REQUEST = 0,
    BB_LDAP_BIND_RESPONSE = 1,
    BB_LDAP_UNBIND = 2,
    BB_LDAP_SEARCH = 3,
    BB_LDAP_ENTRY = 4,
    BB_LDAP_SEARCH_DONE = 5,
    BB_LDAP_MODIFY = 6,
    BB_LDAP_MODIFY_RESPONSE = 7,
    BB_LDAP_ADD = 8,
    BB_LDAP_ADD_RESPONSE = 9,
    BB_LDAP_DELETE = 10,
    BB_LDAP_DELETE_RESPONSE = 11,
    BB_LDAP_RENAME = 12,
    BB_LDAP_RENAME_RESPONSE = 13,
    BB_LDAP_COMPARE = 14,
    BB_LDAP_COMPARE_RESPONSE = 15,
    BB_LDAP_ABANDON = 16,
    BB_LDAP_REFERENCE = 19,
    BB_LDAP_EXTENDED = 23,
    BB_LDAP_EXTENDED_RESPONSE = 24,
    BB_LDAP_INTERMEDIATE = 25,
} BbLdapOperation;

#define BB_LDAP_DETAIL 48u

typedef struct BbLdapMessage {
    gsize length; // of the whole, as it says
    guint32 id;
    guint8 operation;
    bool request;                // sent by the client
    bool final;                  // it ends a call
    bool sasl, start_tls;        // of requests
    bool has_result;             // of final responses
    guint32 result;              // RFC 4511, 4.1.9
    guint32 abandoned;           // of an Abandon: id of the operation that is; 0: not known
    char detail[BB_LDAP_DETAIL]; // scope, mechanism, name of the extended operation; or empty
} BbLdapMessage;

typedef enum { BB_LDAP_BAD, BB_LDAP_CUT, BB_LDAP_READ } BbLdapVerdict;

// Reads the message at the front of data. beyond: bytes that follow and are not there. CUT: id or
// operation is not there; what is missing behind them leaves detail or result empty.
BbLdapVerdict bb_ldap_message_read(BbLdapMessage *message, const guint8 *data, gsize length,
                                   gsize beyond);
// Length of the message whose head is at data; 0: too few bytes. False: it is none.
bool bb_ldap_message_length(const guint8 *data, gsize length, gsize *total);
// "search sub", "bind simple".
gsize bb_ldap_message_label(const BbLdapMessage *message, char *out);
// Name of a result code as the RFC has it, "ok" for success; NULL if it has none.
const char *bb_ldap_result_name(guint32 result);

BbMatch bb_ldap_probe(const guint8 *data, gsize length);
