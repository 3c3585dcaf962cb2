// SPDX-License-Identifier: Apache-2.0
// In: bytes behind a SASL bind. Out: where messages begin and end in them, or that they are sealed.
#include "capture/protocols/ldap_wrap.h"

#include "capture/cursor.h"

#define PREFIX 4u // the length
#define TOKEN 16u // both kinds
#define BUFFER_MAX 0xffffffu
#define KERBEROS 0x0504u
#define KERBEROS_SEALED 0x02u
#define FILLER 0xffu
#define NTLM_VERSION 1u
#define CHECKSUM_MAX 64u

// Of a token, and where the first message is to begin; 0: it is sealed.
static gsize token_length(BbLdapWrap *wrap, BbCursor c)
{
    guint16 id = bb_cursor_be16(&c);
    guint8 flags = bb_cursor_u8(&c), filler = bb_cursor_u8(&c);
    guint16 checksum = bb_cursor_be16(&c), rotated = bb_cursor_be16(&c);
    if (id == KERBEROS && filler == FILLER) {
        if (flags & KERBEROS_SEALED || checksum > CHECKSUM_MAX)
            return 0;
        wrap->trailer = rotated == 0 ? checksum : 0; // else it was moved to the front
        return TOKEN + (rotated == 0 ? 0 : checksum);
    }
    return id == NTLM_VERSION << 8 && flags == 0 && filler == 0 ? TOKEN : 0;
}

// Bytes of a buffer before the message that begins in it or goes on; all where there is none in the
// clear. NTLM does not say so, and what is encrypted may look like a message's first byte.
static gsize before_message(const BbLdapWrap *wrap, BbCursor c, gsize total)
{
    BbLdapWrap next = {0};
    BbLdapMessage message;
    gsize token = token_length(&next, c);
    if (!token || token + next.trailer >= total)
        return total;
    if (wrap->rest)
        return token;
    c.left = MIN(c.left, total - next.trailer);
    bb_cursor_skip(&c, token);
    bool begins = bb_cursor_ok(&c) &&
                  bb_ldap_message_read(&message, c.at, c.left, BB_LDAP_MESSAGE_MAX) == BB_LDAP_READ;
    return begins ? token : total;
}

BbLdapVerdict bb_ldap_wrap_read(const BbLdapWrap *wrap, const guint8 *data, gsize length,
                                gsize *size)
{
    BbCursor c = bb_cursor(data, length);
    *size = wrap->trailer;
    if (bb_ldap_wrap_ended(wrap))
        return BB_LDAP_READ;
    gsize total = bb_cursor_be32(&c);
    if (!bb_cursor_ok(&c))
        return length && data[0] != 0 ? BB_LDAP_BAD : BB_LDAP_CUT;
    if (total <= TOKEN || total > BUFFER_MAX)
        return BB_LDAP_BAD;
    if (c.left < MIN(total, BB_LDAP_WRAP_WANTED - PREFIX))
        return BB_LDAP_CUT;
    *size = PREFIX + before_message(wrap, c, total);
    return BB_LDAP_READ;
}

void bb_ldap_wrap_begin(BbLdapWrap *wrap, const guint8 *data, gsize length)
{
    BbCursor c = bb_cursor(data, length);
    bool ended = bb_ldap_wrap_ended(wrap);
    *wrap = (BbLdapWrap){.rest = wrap->rest};
    if (ended)
        return;
    gsize total = bb_cursor_be32(&c);
    gsize token = token_length(wrap, c);
    // What stands before messages in the clear ends with its token.
    if (token && length == PREFIX + token && token + wrap->trailer < total)
        wrap->inside = total - token - wrap->trailer;
    else
        *wrap = (BbLdapWrap){.sealed = true};
}

void bb_ldap_wrap_pass(BbLdapWrap *wrap, gsize size)
{
    gsize here = MIN(size, wrap->inside);
    wrap->rest = wrap->inside ? size - here : 0;
    wrap->inside -= here;
}
