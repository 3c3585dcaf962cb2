// SPDX-License-Identifier: Apache-2.0
// A reader of BER (ITU-T X.690) as LDAP and SNMP use it: one-byte tags, definite lengths. Elements
// must nest: one that is longer than what holds it is no BER. What a packet or a snap length cut
// off is told apart from that.
#pragma once

#include <glib.h>
#include <stdbool.h>

enum {
    BB_BER_BOOLEAN = 0x01,
    BB_BER_INTEGER = 0x02,
    BB_BER_OCTETS = 0x04,
    BB_BER_OID = 0x06,
    BB_BER_ENUMERATED = 0x0a,
    BB_BER_SEQUENCE = 0x30,
    BB_BER_SET = 0x31,
};

// The inside of an element (or of a whole message). Both flags stick; reading on gives zeros.
typedef struct BbBer {
    const guint8 *at;
    gsize left;   // bytes that are there
    gsize beyond; // and those behind them that are not
    bool bad;     // not BER, or not what was asked for
    bool cut;     // what was asked for is not all there
} BbBer;

static inline BbBer bb_ber(const void *data, gsize length, gsize beyond)
{
    return (BbBer){.at = data, .left = length, .beyond = beyond};
}

static inline bool bb_ber_ok(const BbBer *ber)
{
    return !ber->bad && !ber->cut;
}

// Nothing is left, nor would be if all were there.
static inline bool bb_ber_ended(const BbBer *ber)
{
    return ber->left == 0 && ber->beyond == 0;
}

// Tag of the next element; 0 if there is none, or it cannot be seen.
guint8 bb_ber_peek(const BbBer *ber);
// Takes the next element, which must have this tag, and returns its inside. An element that is not
// all there can be entered: its inside says so when it is read beyond. Flags go over to the inside.
BbBer bb_ber_enter(BbBer *ber, guint8 tag);
// Takes the next element, whatever it is.
void bb_ber_skip(BbBer *ber);
// Takes a number of at most 8 bytes.
gint64 bb_ber_integer(BbBer *ber, guint8 tag);
// Takes a string: its bytes, as many as are there, in *length. NULL if none are.
const guint8 *bb_ber_string(BbBer *ber, guint8 tag, gsize *length);

// Writes an object identifier as numbers with dots (X.690, 8.19), at most size - 1 bytes; false if
// it is none or does not fit.
bool bb_ber_oid_format(const guint8 *oid, gsize length, char *out, gsize size);
