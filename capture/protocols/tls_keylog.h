// SPDX-License-Identifier: Apache-2.0
// A key log: the secrets of TLS connections, as clients and servers write them on request
// (SSLKEYLOGFILE: one line a secret, "LABEL client-random secret" in hex). The file may grow while
// it is read, be begun anew, or be replaced by another of its name: it is looked at again when a
// connection is asked for that it does not have yet. What was known stays known.
//
// At most BB_TLS_KEYLOG_CONNECTIONS are remembered, the latest of the file; the others are counted.
// Secrets are wiped when they are forgotten.
#pragma once

#include <glib.h>
#include <stdbool.h>

#define BB_TLS_KEYLOG_CONNECTIONS 65536u // some 200 bytes each
#define BB_TLS_SECRET_MAX 48u

typedef enum {
    BB_TLS_SECRET_MASTER, // TLS 1.2: CLIENT_RANDOM
    BB_TLS_SECRET_CLIENT, // TLS 1.3: CLIENT_TRAFFIC_SECRET_0
    BB_TLS_SECRET_SERVER, // TLS 1.3: SERVER_TRAFFIC_SECRET_0
    BB_TLS_SECRETS
} BbTlsSecretKind;

typedef struct BbTlsSecret {
    guint8 length; // 0: not known
    guint8 bytes[BB_TLS_SECRET_MAX];
} BbTlsSecret;

typedef struct BbTlsKeylog BbTlsKeylog;

// Fails when the file cannot be read. Lines that are no secrets are passed over, and counted.
BbTlsKeylog *bb_tls_keylog_open(const char *path, GError **error);
void bb_tls_keylog_free(BbTlsKeylog *keylog);

// Finds the secret of the connection with this client random (32 bytes). Returns false if the file
// does not have it by now. Several threads may ask. secret is for the caller to wipe.
bool bb_tls_keylog_find(BbTlsKeylog *keylog, const guint8 *random, BbTlsSecretKind kind,
                        BbTlsSecret *secret);

guint64 bb_tls_keylog_forgotten(const BbTlsKeylog *keylog); // connections, at the limit
guint64 bb_tls_keylog_odd(const BbTlsKeylog *keylog);       // lines that are no secrets

G_DEFINE_AUTOPTR_CLEANUP_FUNC(BbTlsKeylog, bb_tls_keylog_free)
