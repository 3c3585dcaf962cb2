// SPDX-License-Identifier: Apache-2.0
// What decrypts the records of one direction of a TLS 1.2 or 1.3 connection (libcrypto does it).
// Every record is authenticated with its number in the direction: a wrong number, or a wrong byte,
// is a refusal.
#pragma once

#include "capture/protocols/tls_hello.h"
#include "capture/protocols/tls_keylog.h"
#include "capture/protocols/tls_record.h"
#include "capture/protocols/tls_suite.h"

typedef struct BbTlsKey BbTlsKey;

// TLS 1.2: the key for what direction sends. encrypt_then_mac as agreed on (RFC 7366; CBC only).
// NULL when libcrypto cannot do it.
BbTlsKey *bb_tls_key_new_1_2(const BbTlsSuite *suite, const BbTlsSecret *master,
                             const guint8 client_random[BB_TLS_RANDOM],
                             const guint8 server_random[BB_TLS_RANDOM], BbDirection direction,
                             bool encrypt_then_mac);
// TLS 1.3: from the traffic secret of the direction.
BbTlsKey *bb_tls_key_new_1_3(const BbTlsSuite *suite, const BbTlsSecret *traffic);
// Wipes it.
void bb_tls_key_free(BbTlsKey *key);

// TLS 1.3: from now on the key after a KeyUpdate (RFC 8446, 7.2).
bool bb_tls_key_update(BbTlsKey *key);

// Decrypts the body of a record into out (room for head->length bytes). Returns the length of the
// content, whose type is in type, or -1: this is not the record of this number.
gssize bb_tls_key_open(BbTlsKey *key, guint64 number, const BbTlsHead *head, const guint8 *body,
                       guint8 *out, guint8 *type);

// Bytes of a body before the content, and of a record (head and all) that are not content. For CBC
// they vary: so many at least.
gsize bb_tls_key_prefix(const BbTlsKey *key);
gsize bb_tls_key_overhead(const BbTlsKey *key);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(BbTlsKey, bb_tls_key_free)
