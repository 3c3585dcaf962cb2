// SPDX-License-Identifier: Apache-2.0
// How a SASL security layer wraps LDAP (RFC 4422, 3.7): a length, a token, messages, sometimes a
// checksum behind them. A message may go on in the next buffer. Tokens are those of Kerberos (RFC
// 4121, 4.2.6.2) and NTLM (MS-NLMP, 2.2.2.9).
#pragma once

#include "capture/protocols/ldap_message.h"

#define BB_LDAP_WRAP_WANTED 104u // length, longest token, id and operation of the first message

typedef struct BbLdapWrap {
    gsize inside;  // bytes of messages in the clear that are left
    gsize rest;    // of the message under way that go on in the next buffer
    gsize trailer; // and of the checksum behind them
    bool sealed;   // the newest one is encrypted
} BbLdapWrap;

// All messages of a wrapped buffer were read; its checksum follows.
static inline bool bb_ldap_wrap_ended(const BbLdapWrap *wrap)
{
    return wrap->inside == 0 && wrap->trailer > 0;
}

// What comes next where no message does: what stands before messages in the clear, all of what is
// encrypted, or the checksum behind. Its size in bytes.
BbLdapVerdict bb_ldap_wrap_read(const BbLdapWrap *wrap, const guint8 *data, gsize length,
                                gsize *size);
// It begins. length: of it, at most BB_LDAP_WRAP_WANTED.
void bb_ldap_wrap_begin(BbLdapWrap *wrap, const guint8 *data, gsize length);
// A message of size bytes begins, or the rest of one goes on: as much of it as is inside is read.
void bb_ldap_wrap_pass(BbLdapWrap *wrap, gsize size);
