// SPDX-License-Identifier: Apache-2.0
// In: the number of a cipher suite (IANA TLS Cipher Suites). Out: what it is made of.
#include "capture/protocols/tls_suite.h"

#define GCM(number, key, hash)                            \
    {                                                     \
        number, key, 16, BB_TLS_GCM, BB_TLS_NO_HASH, hash \
    }
#define CCM(number, key, tag)                                       \
    {                                                               \
        number, key, tag, BB_TLS_CCM, BB_TLS_NO_HASH, BB_TLS_SHA256 \
    }
#define CHACHA(number)                                               \
    {                                                                \
        number, 32, 16, BB_TLS_CHACHA, BB_TLS_NO_HASH, BB_TLS_SHA256 \
    }
#define CBC(number, key, mac, hash)           \
    {                                         \
        number, key, 0, BB_TLS_CBC, mac, hash \
    }

// The key exchange (RSA, DHE, ECDHE, PSK) makes no difference here: the log has what came out of
// it.
static const BbTlsSuite suites[] = {
    GCM(0x1301, 16, BB_TLS_SHA256), // TLS 1.3
    GCM(0x1302, 32, BB_TLS_SHA384),
    CHACHA(0x1303),
    CCM(0x1304, 16, 16),
    CCM(0x1305, 16, 8),
    GCM(0x009c, 16, BB_TLS_SHA256), // RSA
    GCM(0x009d, 32, BB_TLS_SHA384),
    GCM(0x009e, 16, BB_TLS_SHA256), // DHE_RSA
    GCM(0x009f, 32, BB_TLS_SHA384),
    GCM(0x00a2, 16, BB_TLS_SHA256), // DHE_DSS
    GCM(0x00a3, 32, BB_TLS_SHA384),
    GCM(0x00a8, 16, BB_TLS_SHA256), // PSK
    GCM(0x00a9, 32, BB_TLS_SHA384),
    GCM(0xc02b, 16, BB_TLS_SHA256), // ECDHE_ECDSA
    GCM(0xc02c, 32, BB_TLS_SHA384),
    GCM(0xc02f, 16, BB_TLS_SHA256), // ECDHE_RSA
    GCM(0xc030, 32, BB_TLS_SHA384),
    CHACHA(0xcca8), // ECDHE_RSA, ECDHE_ECDSA, DHE_RSA, PSK, ECDHE_PSK
    CHACHA(0xcca9),
    CHACHA(0xccaa),
    CHACHA(0xccab),
    CHACHA(0xccac),
    CCM(0xc09c, 16, 16), // RSA
    CCM(0xc09d, 32, 16),
    CCM(0xc0a0, 16, 8),
    CCM(0xc0a1, 32, 8),
    CCM(0xc09e, 16, 16), // DHE_RSA
    CCM(0xc09f, 32, 16),
    CCM(0xc0a2, 16, 8),
    CCM(0xc0a3, 32, 8),
    CCM(0xc0ac, 16, 16), // ECDHE_ECDSA
    CCM(0xc0ad, 32, 16),
    CCM(0xc0ae, 16, 8),
    CCM(0xc0af, 32, 8),
    CBC(0x002f, 16, BB_TLS_SHA1, BB_TLS_SHA256), // RSA
    CBC(0x0035, 32, BB_TLS_SHA1, BB_TLS_SHA256),
    CBC(0x003c, 16, BB_TLS_SHA256, BB_TLS_SHA256),
    CBC(0x003d, 32, BB_TLS_SHA256, BB_TLS_SHA256),
    CBC(0x0033, 16, BB_TLS_SHA1, BB_TLS_SHA256), // DHE_RSA
    CBC(0x0039, 32, BB_TLS_SHA1, BB_TLS_SHA256),
    CBC(0x0067, 16, BB_TLS_SHA256, BB_TLS_SHA256),
    CBC(0x006b, 32, BB_TLS_SHA256, BB_TLS_SHA256),
    CBC(0xc009, 16, BB_TLS_SHA1, BB_TLS_SHA256), // ECDHE_ECDSA
    CBC(0xc00a, 32, BB_TLS_SHA1, BB_TLS_SHA256),
    CBC(0xc023, 16, BB_TLS_SHA256, BB_TLS_SHA256),
    CBC(0xc024, 32, BB_TLS_SHA384, BB_TLS_SHA384),
    CBC(0xc013, 16, BB_TLS_SHA1, BB_TLS_SHA256), // ECDHE_RSA
    CBC(0xc014, 32, BB_TLS_SHA1, BB_TLS_SHA256),
    CBC(0xc027, 16, BB_TLS_SHA256, BB_TLS_SHA256),
    CBC(0xc028, 32, BB_TLS_SHA384, BB_TLS_SHA384),
};

const BbTlsSuite *bb_tls_suite_find(guint16 number)
{
    for (gsize i = 0; i < G_N_ELEMENTS(suites); i++)
        if (suites[i].number == number)
            return &suites[i];
    return NULL;
}
