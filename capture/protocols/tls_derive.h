// SPDX-License-Identifier: Apache-2.0
// How keys come out of secrets: the PRF of TLS 1.2 (RFC 5246, section 5) and HKDF-Expand-Label of
// TLS 1.3 (RFC 8446, 7.1).
#pragma once

#include "capture/protocols/tls_suite.h"

#include <stdbool.h>

gsize bb_tls_hash_size(BbTlsHash hash);

// HMAC of data with key, of bb_tls_hash_size bytes (at most 48).
bool bb_tls_hmac(BbTlsHash hash, const guint8 *key, gsize key_length, const guint8 *data,
                 gsize length, guint8 *out);

// Fill out with size bytes. False when libcrypto fails. size <= 256.
bool bb_tls_prf(BbTlsHash hash, const guint8 *secret, gsize secret_length, const char *label,
                const guint8 *seed, gsize seed_length, guint8 *out, gsize size);
bool bb_tls_expand(BbTlsHash hash, const guint8 *secret, gsize secret_length, const char *label,
                   guint8 *out, gsize size);
