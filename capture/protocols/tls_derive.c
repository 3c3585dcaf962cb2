// SPDX-License-Identifier: Apache-2.0
// In: secrets. Out: the bytes that TLS 1.2 (RFC 5246, section 5) and 1.3 (RFC 8446, 7.1; RFC 5869)
// make of them.
#include "capture/protocols/tls_derive.h"

#include <openssl/crypto.h>
#include <openssl/hmac.h>
#include <string.h>

#define HASH_MAX 48u
#define SEED_MAX 128u // label and seed
#define LABEL_MAX 32u

gsize bb_tls_hash_size(BbTlsHash hash)
{
    static const guint8 sizes[] = {
        [BB_TLS_NO_HASH] = 0, [BB_TLS_SHA1] = 20, [BB_TLS_SHA256] = 32, [BB_TLS_SHA384] = 48};
    return sizes[hash];
}

bool bb_tls_hmac(BbTlsHash hash, const guint8 *key, gsize key_length, const guint8 *data,
                 gsize length, guint8 *out)
{
    const EVP_MD *digest = hash == BB_TLS_SHA384   ? EVP_sha384()
                           : hash == BB_TLS_SHA256 ? EVP_sha256()
                                                   : EVP_sha1();
    return HMAC(digest, key, (int)key_length, data, length, out, NULL) != NULL;
}

// A(i) = HMAC(secret, A(i - 1)), A(0) = label + seed; out = HMAC(secret, A(i) + label + seed) ...
bool bb_tls_prf(BbTlsHash hash, const guint8 *secret, gsize secret_length, const char *label,
                const guint8 *seed, gsize seed_length, guint8 *out, gsize size)
{
    guint8 block[HASH_MAX + SEED_MAX], made[HASH_MAX];
    gsize step = bb_tls_hash_size(hash), label_length = strlen(label);
    gsize text = label_length + seed_length;
    g_return_val_if_fail(text <= SEED_MAX, false);
    memcpy(block + step, label, label_length);
    memcpy(block + step + label_length, seed, seed_length);
    bool good = bb_tls_hmac(hash, secret, secret_length, block + step, text, made); // A(1)
    memcpy(block, made, step);
    for (gsize at = 0; good && at < size; at += step) {
        good = bb_tls_hmac(hash, secret, secret_length, block, step + text, made);
        memcpy(out + at, made, MIN(step, size - at));
        good = good && bb_tls_hmac(hash, secret, secret_length, block, step, made);
        memcpy(block, made, step);
    }
    OPENSSL_cleanse(block, sizeof block);
    OPENSSL_cleanse(made, sizeof made);
    return good;
}

// HkdfLabel: length, "tls13 " + label, an empty context; then HKDF-Expand.
bool bb_tls_expand(BbTlsHash hash, const guint8 *secret, gsize secret_length, const char *label,
                   guint8 *out, gsize size)
{
    static const char prefix[] = "tls13 ";
    guint8 block[HASH_MAX + LABEL_MAX], made[HASH_MAX];
    gsize step = bb_tls_hash_size(hash), n = 0, before = 0;
    guint8 info[LABEL_MAX];
    gsize text = strlen(prefix) + strlen(label);
    g_return_val_if_fail(text + 5 <= LABEL_MAX && size <= 255, false);
    info[n++] = 0;
    info[n++] = (guint8)size;
    info[n++] = (guint8)text;
    memcpy(info + n, prefix, strlen(prefix));
    memcpy(info + n + strlen(prefix), label, strlen(label));
    n += text;
    info[n++] = 0;
    bool good = true;
    guint8 count = 1;
    for (gsize at = 0; good && at < size; at += step) {
        memcpy(block, made, before); // T(i - 1)
        memcpy(block + before, info, n);
        block[before + n] = count++;
        good = bb_tls_hmac(hash, secret, secret_length, block, before + n + 1, made);
        before = step;
        memcpy(out + at, made, MIN(step, size - at));
    }
    OPENSSL_cleanse(block, sizeof block);
    OPENSSL_cleanse(made, sizeof made);
    return good;
}
