// SPDX-License-Identifier: Apache-2.0
// The two hellos with which TLS begins, as far as they say who is called and how it goes on
// (RFC 8446, section 4.1; RFC 5246, 7.4.1; server name RFC 6066, section 3).
#pragma once

#include "capture/decoder.h"

#define BB_TLS_HANDSHAKE_HEAD 4u // type and length of a handshake message
#define BB_TLS_CLIENT_HELLO 1u
#define BB_TLS_SERVER_HELLO 2u
#define BB_TLS_RANDOM 32u
#define BB_TLS_OLD_HEAD 2u // of a hello in the form of SSL 2 (RFC 5246, appendix E.2)

typedef struct BbTlsHello {
    guint8 random[BB_TLS_RANDOM];
    guint16 version; // server: what was agreed on
    guint16 suite;   // server: cipher suite
    guint32 size;    // of the message with its head
    bool retry;      // server: a HelloRetryRequest
    bool cut;        // server: the last bytes, which may tell of TLS 1.3, are not there
    bool encrypt_then_mac;
    const guint8 *name; // client: the server's name, in the bytes read; NULL: none
    gsize name_length;
} BbTlsHello;

// Read a handshake message from its head on; what is not there is 0. False: it is no such hello.
bool bb_tls_client_hello(BbTlsHello *hello, const guint8 *data, gsize length);
bool bb_tls_server_hello(BbTlsHello *hello, const guint8 *data, gsize length);
// A ClientHello in the form of SSL 2, from its first byte on.
bool bb_tls_old_hello(BbTlsHello *hello, const guint8 *data, gsize length);

// Whether a handshake record's body of so many bytes (length of them are there) begins with a
// hello: a request is the client's, a reply the server's.
BbMatch bb_tls_match_hello(const guint8 *body, gsize length, gsize record);
// Whether the bytes begin with a ClientHello in the form of SSL 2 that offers SSL 3 or later.
BbMatch bb_tls_match_old_hello(const guint8 *data, gsize length);
