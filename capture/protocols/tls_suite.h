// SPDX-License-Identifier: Apache-2.0
// Cipher suites of TLS 1.2 and 1.3 that can be decrypted: which cipher, which hashes.
#pragma once

#include <glib.h>

typedef enum {
    BB_TLS_GCM,    // RFC 5288
    BB_TLS_CCM,    // RFC 6655
    BB_TLS_CHACHA, // RFC 7905
    BB_TLS_CBC     // RFC 5246, 6.2.3.2
} BbTlsMode;

typedef enum { BB_TLS_NO_HASH, BB_TLS_SHA1, BB_TLS_SHA256, BB_TLS_SHA384 } BbTlsHash;

typedef struct BbTlsSuite {
    guint16 number;
    guint8 key_length;
    guint8 tag_length; // of authentication; 0 for CBC, where mac does it
    BbTlsMode mode;
    BbTlsHash mac;  // CBC
    BbTlsHash hash; // of the key schedule
} BbTlsSuite;

// NULL: it is not known, or no cipher that is read here.
const BbTlsSuite *bb_tls_suite_find(guint16 number);
