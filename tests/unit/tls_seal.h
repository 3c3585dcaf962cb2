// SPDX-License-Identifier: Apache-2.0
// The other side of capture/protocols/tls_key.c, for tests: records as a client or a server seals
// them, from the same secrets.
#pragma once

#include "capture/protocols/tls_derive.h"
#include "capture/protocols/tls_keylog.h"
#include "tests/unit/tls_talk.h"

#include <openssl/evp.h>

// Randoms are those of tls_talk.h; the master secret of TLS 1.2, and the traffic secrets of TLS 1.3
// by direction, are bytes that repeat.
#define MASTER_BYTE 0xa1
static const guint8 traffic_bytes[] = {[BB_TO_SERVER] = 0xb1, [BB_TO_CLIENT] = 0xb2};

typedef struct Sealer {
    const BbTlsSuite *suite;
    bool is_1_3, encrypt_then_mac;
    guint64 number; // of the next record
    guint8 secret[48], mac[48], key[32], iv[12];
    guint8 sealed_with; // varies the IVs of CBC
} Sealer;

static inline void seal_keys_1_3(Sealer *s)
{
    gsize size = bb_tls_hash_size(s->suite->hash);
    ck_assert(bb_tls_expand(s->suite->hash, s->secret, size, "key", s->key, s->suite->key_length));
    ck_assert(bb_tls_expand(s->suite->hash, s->secret, size, "iv", s->iv, sizeof s->iv));
    s->number = 0;
}

static inline Sealer sealer_1_3(guint16 suite, BbDirection direction)
{
    Sealer s = {.suite = bb_tls_suite_find(suite), .is_1_3 = true};
    memset(s.secret, traffic_bytes[direction], sizeof s.secret);
    seal_keys_1_3(&s);
    return s;
}

// RFC 8446, 7.2.
static inline void seal_update(Sealer *s)
{
    guint8 next[48];
    gsize size = bb_tls_hash_size(s->suite->hash);
    ck_assert(bb_tls_expand(s->suite->hash, s->secret, size, "traffic upd", next, size));
    memcpy(s->secret, next, size);
    seal_keys_1_3(s);
}

// client, server: bytes of which their randoms are.
static inline Sealer sealer_1_2_of(guint16 suite, BbDirection direction, bool encrypt_then_mac,
                                   guint8 client, guint8 server)
{
    Sealer s = {.suite = bb_tls_suite_find(suite), .encrypt_then_mac = encrypt_then_mac};
    guint8 master[48], seed[64], block[256];
    memset(master, MASTER_BYTE, sizeof master);
    memset(seed, server, 32);
    memset(seed + 32, client, 32);
    ck_assert(bb_tls_prf(s.suite->hash, master, sizeof master, "key expansion", seed, sizeof seed,
                         block, sizeof block));
    gsize mac = bb_tls_hash_size(s.suite->mac), key = s.suite->key_length;
    gsize iv = s.suite->mode == BB_TLS_CHACHA ? 12 : s.suite->mode == BB_TLS_CBC ? 0 : 4;
    gsize second = direction == BB_TO_CLIENT;
    memcpy(s.mac, block + second * mac, mac);
    memcpy(s.key, block + 2 * mac + second * key, key);
    memcpy(s.iv, block + 2 * mac + 2 * key + second * iv, iv);
    return s;
}

static inline Sealer sealer_1_2(guint16 suite, BbDirection direction, bool encrypt_then_mac)
{
    return sealer_1_2_of(suite, direction, encrypt_then_mac, 0xc1, 0x5e);
}

static inline const EVP_CIPHER *seal_cipher(const BbTlsSuite *suite)
{
    bool wide = suite->key_length == 32;
    switch (suite->mode) {
    case BB_TLS_GCM:
        return wide ? EVP_aes_256_gcm() : EVP_aes_128_gcm();
    case BB_TLS_CCM:
        return wide ? EVP_aes_256_ccm() : EVP_aes_128_ccm();
    case BB_TLS_CHACHA:
        return EVP_chacha20_poly1305();
    case BB_TLS_CBC:
        break;
    }
    return wide ? EVP_aes_256_cbc() : EVP_aes_128_cbc();
}

static inline Octets *seal_aad(const Sealer *s, guint type, gsize length)
{
    Octets *aad = g_byte_array_new();
    if (!s->is_1_3)
        octets_be(aad, s->number, 8);
    octets_be(aad, type, 1);
    octets_be(aad, 0x0303, 2);
    octets_be(aad, length, 2);
    return aad;
}

static inline Octets *seal_aead(const Sealer *s, guint type, const Octets *text)
{
    gsize tag = s->suite->tag_length;
    bool explicit = !s->is_1_3 && s->suite->mode != BB_TLS_CHACHA;
    g_autoptr(Octets) aad = seal_aad(s, type, s->is_1_3 ? text->len + tag : (gsize)text->len);
    guint8 nonce[12];
    int n, length = (int)text->len;
    memcpy(nonce, s->iv, 12);
    for (guint i = 0; i < 8; i++) {
        guint8 byte = (guint8)(s->number >> (56 - 8 * i));
        nonce[4 + i] = explicit ? byte ^ 0x77 : nonce[4 + i] ^ byte;
    }
    Octets *body = g_byte_array_new();
    if (explicit)
        octets_put(body, nonce + 4, 8);
    gsize at = body->len;
    g_byte_array_set_size(body, (guint)(at + text->len + tag));
    guint8 *out = body->data + at;
    bool ccm = s->suite->mode == BB_TLS_CCM;
    EVP_CIPHER_CTX *c = EVP_CIPHER_CTX_new();
    ck_assert(EVP_EncryptInit_ex(c, seal_cipher(s->suite), NULL, NULL, NULL));
    ck_assert(EVP_CIPHER_CTX_ctrl(c, EVP_CTRL_AEAD_SET_IVLEN, 12, NULL));
    if (ccm)
        ck_assert(EVP_CIPHER_CTX_ctrl(c, EVP_CTRL_AEAD_SET_TAG, (int)tag, NULL));
    ck_assert(EVP_EncryptInit_ex(c, NULL, NULL, s->key, nonce));
    if (ccm)
        ck_assert(EVP_EncryptUpdate(c, NULL, &n, NULL, length));
    ck_assert(EVP_EncryptUpdate(c, NULL, &n, aad->data, (int)aad->len));
    // CCM takes no text (NULL) for a question about lengths, even if there is none to take.
    ck_assert(EVP_EncryptUpdate(c, out, &n, length ? text->data : out, length));
    ck_assert(EVP_EncryptFinal_ex(c, out + length, &n));
    ck_assert(EVP_CIPHER_CTX_ctrl(c, EVP_CTRL_AEAD_GET_TAG, (int)tag, out + length));
    EVP_CIPHER_CTX_free(c);
    return body;
}

static inline void seal_mac(const Sealer *s, guint type, const Octets *text, Octets *out)
{
    guint8 mac[48];
    Octets *all = seal_aad(s, type, text->len);
    octets_put(all, text->data, text->len);
    gsize size = bb_tls_hash_size(s->suite->mac);
    ck_assert(bb_tls_hmac(s->suite->mac, s->mac, size, all->data, all->len, mac));
    octets_put(out, mac, size);
    g_byte_array_unref(all);
}

static inline Octets *seal_cbc(Sealer *s, guint type, const Octets *text)
{
    g_autoptr(Octets) plain = g_byte_array_new();
    octets_put(plain, text->data, text->len);
    if (!s->encrypt_then_mac)
        seal_mac(s, type, text, plain);
    guint padding = 16 - plain->len % 16;
    for (guint i = 0; i < padding; i++)
        octets_be(plain, padding - 1, 1);
    Octets *body = g_byte_array_new();
    for (guint i = 0; i < 16; i++)
        octets_be(body, s->sealed_with + i, 1);
    s->sealed_with += 3;
    g_byte_array_set_size(body, 16 + plain->len);
    int n;
    EVP_CIPHER_CTX *c = EVP_CIPHER_CTX_new();
    ck_assert(EVP_EncryptInit_ex(c, seal_cipher(s->suite), NULL, s->key, body->data));
    ck_assert(EVP_CIPHER_CTX_set_padding(c, 0));
    ck_assert(EVP_EncryptUpdate(c, body->data + 16, &n, plain->data, (int)plain->len));
    EVP_CIPHER_CTX_free(c);
    if (s->encrypt_then_mac) {
        g_autoptr(Octets) sealed = g_byte_array_new();
        octets_put(sealed, body->data, body->len);
        seal_mac(s, type, sealed, body);
    }
    return body;
}

// The next record. Takes text. TLS 1.3: with so many bytes of padding.
static inline Octets *seal_padded(Sealer *s, guint type, Octets *text, guint padding)
{
    Octets *body;
    if (s->is_1_3) {
        octets_be(text, type, 1);
        for (guint i = 0; i < padding; i++)
            octets_be(text, 0, 1);
        type = DATA;
    }
    body = s->suite->mode == BB_TLS_CBC ? seal_cbc(s, type, text) : seal_aead(s, type, text);
    s->number++;
    g_byte_array_unref(text);
    return record(type, body);
}

static inline Octets *seal(Sealer *s, guint type, Octets *text)
{
    return seal_padded(s, type, text, 0);
}

static inline Octets *seal_text(Sealer *s, const char *text)
{
    Octets *bytes = g_byte_array_new();
    octets_put(bytes, text, strlen(text));
    return seal(s, DATA, bytes);
}

// ---- the key log --------------------------------------------------------------------------------

static inline void put_hex(GString *out, guint8 byte, guint times)
{
    for (guint i = 0; i < times; i++)
        g_string_append_printf(out, "%02x", byte);
}

static inline void put_master(GString *out, guint8 client)
{
    g_string_append(out, "CLIENT_RANDOM ");
    put_hex(out, client, 32);
    g_string_append_c(out, ' ');
    put_hex(out, MASTER_BYTE, 48);
    g_string_append_c(out, '\n');
}

static inline char *keylog_1_2(void)
{
    GString *out = g_string_new("# a comment\n");
    put_master(out, 0xc1);
    return g_string_free(out, FALSE);
}

static inline char *keylog_1_3(guint16 suite)
{
    static const char *const labels[] = {"CLIENT_TRAFFIC_SECRET_0 ", "SERVER_TRAFFIC_SECRET_0 "};
    guint size = (guint)bb_tls_hash_size(bb_tls_suite_find(suite)->hash);
    GString *out = g_string_new(NULL);
    for (guint i = 0; i < 2; i++) {
        g_string_append(out, labels[i]);
        put_hex(out, 0xc1, 32);
        g_string_append_c(out, ' ');
        put_hex(out, traffic_bytes[i], size);
        g_string_append(out, "\r\n");
    }
    return g_string_free(out, FALSE);
}
