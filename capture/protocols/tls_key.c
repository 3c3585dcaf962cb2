// SPDX-License-Identifier: Apache-2.0
// In: secrets of a TLS connection, records. Out: what the records hold.
#include "capture/protocols/tls_key.h"

#include "capture/protocols/tls_derive.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <string.h>

#define KEY_MAX 32u
#define NONCE 12u
#define EXPLICIT 8u // bytes of the nonce that stand in the record (RFC 5288, 3)
#define BLOCK 16u   // of AES-CBC
#define AAD_MAX 13u // number, type, version, length (RFC 5246, 6.2.3.3)

struct BbTlsKey {
    const BbTlsSuite *suite;
    EVP_CIPHER_CTX *cipher;
    BbTlsSecret traffic; // TLS 1.3; length 0: TLS 1.2
    guint8 key[KEY_MAX];
    guint8 iv[NONCE];
    guint8 mac[BB_TLS_SECRET_MAX]; // CBC
    bool encrypt_then_mac;
};

static bool is_1_3(const BbTlsKey *key)
{
    return key->traffic.length > 0;
}

static const EVP_CIPHER *cipher_of(const BbTlsSuite *suite)
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

// ---- keys ---------------------------------------------------------------------------------------

static BbTlsKey *key_new(const BbTlsSuite *suite)
{
    BbTlsKey *key = g_new0(BbTlsKey, 1);
    key->suite = suite;
    key->cipher = EVP_CIPHER_CTX_new();
    return key;
}

void bb_tls_key_free(BbTlsKey *key)
{
    if (!key)
        return;
    EVP_CIPHER_CTX_free(key->cipher); // wipes its own
    OPENSSL_cleanse(key, sizeof *key);
    g_free(key);
}

// CCM is told lengths before each record, and the key after them.
static bool set_up(BbTlsKey *key)
{
    if (key->suite->mode == BB_TLS_CCM)
        return true;
    return EVP_DecryptInit_ex(key->cipher, cipher_of(key->suite), NULL, key->key, NULL) == 1 &&
           EVP_CIPHER_CTX_set_padding(key->cipher, 0) == 1;
}

// RFC 5246, 6.3: the MAC keys of client and server, the keys, the IVs.
static void cut_block(BbTlsKey *key, const guint8 *block, BbDirection direction)
{
    const BbTlsSuite *suite = key->suite;
    gsize mac = bb_tls_hash_size(suite->mac), size = suite->key_length;
    gsize iv = suite->mode == BB_TLS_CHACHA ? NONCE : suite->mode == BB_TLS_CBC ? 0 : 4;
    gsize server = direction == BB_TO_CLIENT;
    memcpy(key->mac, block + server * mac, mac);
    memcpy(key->key, block + 2 * mac + server * size, size);
    memcpy(key->iv, block + 2 * mac + 2 * size + server * iv, iv);
}

BbTlsKey *bb_tls_key_new_1_2(const BbTlsSuite *suite, const BbTlsSecret *master,
                             const guint8 client_random[BB_TLS_RANDOM],
                             const guint8 server_random[BB_TLS_RANDOM], BbDirection direction,
                             bool encrypt_then_mac)
{
    guint8 seed[2 * BB_TLS_RANDOM], block[2 * (BB_TLS_SECRET_MAX + KEY_MAX + NONCE)];
    g_autoptr(BbTlsKey) key = key_new(suite);
    key->encrypt_then_mac = encrypt_then_mac && suite->mode == BB_TLS_CBC;
    memcpy(seed, server_random, BB_TLS_RANDOM);
    memcpy(seed + BB_TLS_RANDOM, client_random, BB_TLS_RANDOM);
    bool good = key->cipher && bb_tls_prf(suite->hash, master->bytes, master->length,
                                          "key expansion", seed, sizeof seed, block, sizeof block);
    if (good)
        cut_block(key, block, direction);
    OPENSSL_cleanse(block, sizeof block);
    return good && set_up(key) ? g_steal_pointer(&key) : NULL;
}

// RFC 8446, 7.3.
static bool derive(BbTlsKey *key)
{
    const BbTlsSecret *secret = &key->traffic;
    BbTlsHash hash = key->suite->hash;
    return bb_tls_expand(hash, secret->bytes, secret->length, "key", key->key,
                         key->suite->key_length) &&
           bb_tls_expand(hash, secret->bytes, secret->length, "iv", key->iv, NONCE) && set_up(key);
}

BbTlsKey *bb_tls_key_new_1_3(const BbTlsSuite *suite, const BbTlsSecret *traffic)
{
    g_autoptr(BbTlsKey) key = key_new(suite);
    key->traffic = *traffic;
    return key->cipher && derive(key) ? g_steal_pointer(&key) : NULL;
}

bool bb_tls_key_update(BbTlsKey *key)
{
    BbTlsSecret next = {.length = key->traffic.length};
    bool good = bb_tls_expand(key->suite->hash, key->traffic.bytes, key->traffic.length,
                              "traffic upd", next.bytes, next.length);
    key->traffic = next;
    OPENSSL_cleanse(&next, sizeof next);
    return good && derive(key);
}

gsize bb_tls_key_prefix(const BbTlsKey *key)
{
    if (key->suite->mode == BB_TLS_CBC)
        return BLOCK;
    return is_1_3(key) || key->suite->mode == BB_TLS_CHACHA ? 0 : EXPLICIT;
}

gsize bb_tls_key_overhead(const BbTlsKey *key)
{
    gsize mac = bb_tls_hash_size(key->suite->mac);
    gsize padding = key->suite->mode == BB_TLS_CBC || is_1_3(key); // and the type
    return BB_TLS_HEAD + bb_tls_key_prefix(key) + key->suite->tag_length + mac + padding;
}

// ---- records ------------------------------------------------------------------------------------

static void put_number(guint8 *out, guint64 number)
{
    for (guint i = 0; i < 8; i++)
        out[i] = (guint8)(number >> (56 - 8 * i));
}

// Number, type, version, length: what TLS 1.2 authenticates besides the content.
static void put_aad(guint8 *out, guint64 number, const BbTlsHead *head, gsize length)
{
    put_number(out, number);
    out[8] = head->type;
    out[9] = (guint8)(head->version >> 8);
    out[10] = (guint8)head->version;
    out[11] = (guint8)(length >> 8);
    out[12] = (guint8)length;
}

static void make_nonce(const BbTlsKey *key, guint64 number, const guint8 *body, guint8 *nonce)
{
    guint8 text[8];
    memcpy(nonce, key->iv, NONCE);
    if (bb_tls_key_prefix(key)) {
        memcpy(nonce + NONCE - EXPLICIT, body, EXPLICIT);
        return;
    }
    put_number(text, number);
    for (guint i = 0; i < 8; i++)
        nonce[NONCE - 8 + i] ^= text[i];
}

// CCM wants tag, key and length of the content beforehand (EVP_EncryptInit(3)).
static bool begin_ccm(BbTlsKey *key, const guint8 *nonce, const guint8 *tag, int length)
{
    EVP_CIPHER_CTX *c = key->cipher;
    int n;
    return EVP_DecryptInit_ex(c, cipher_of(key->suite), NULL, NULL, NULL) == 1 &&
           EVP_CIPHER_CTX_ctrl(c, EVP_CTRL_AEAD_SET_IVLEN, NONCE, NULL) == 1 &&
           EVP_CIPHER_CTX_ctrl(c, EVP_CTRL_AEAD_SET_TAG, key->suite->tag_length, (void *)tag) ==
               1 &&
           EVP_DecryptInit_ex(c, NULL, NULL, key->key, nonce) == 1 &&
           EVP_DecryptUpdate(c, NULL, &n, NULL, length) == 1;
}

static bool begin_aead(BbTlsKey *key, const guint8 *nonce, const guint8 *tag)
{
    return EVP_DecryptInit_ex(key->cipher, NULL, NULL, NULL, nonce) == 1 &&
           EVP_CIPHER_CTX_ctrl(key->cipher, EVP_CTRL_AEAD_SET_TAG, key->suite->tag_length,
                               (void *)tag) == 1;
}

static gssize open_aead(BbTlsKey *key, guint64 number, const BbTlsHead *head, const guint8 *body,
                        guint8 *out)
{
    guint8 nonce[NONCE], aad[AAD_MAX], rest[BLOCK];
    gsize prefix = bb_tls_key_prefix(key), tag = key->suite->tag_length;
    gsize aad_length = is_1_3(key) ? BB_TLS_HEAD : AAD_MAX;
    if (head->length < prefix + tag)
        return -1;
    int length = (int)(head->length - prefix - tag), n;
    const guint8 *sealed = body + prefix, *tag_at = sealed + length;
    bool ccm = key->suite->mode == BB_TLS_CCM;
    make_nonce(key, number, body, nonce);
    put_aad(aad, number, head, is_1_3(key) ? head->length : (gsize)length);
    if (ccm ? !begin_ccm(key, nonce, tag_at, length) : !begin_aead(key, nonce, tag_at))
        return -1;
    const guint8 *aad_at = aad + AAD_MAX - aad_length; // TLS 1.3: the head alone
    if (EVP_DecryptUpdate(key->cipher, NULL, &n, aad_at, (int)aad_length) != 1 ||
        EVP_DecryptUpdate(key->cipher, out, &n, sealed, length) != 1)
        return -1;
    if (!ccm && EVP_DecryptFinal_ex(key->cipher, rest, &n) != 1)
        return -1;
    return length;
}

// data: the content, with room for the AAD before it.
static bool check_mac(const BbTlsKey *key, guint64 number, const BbTlsHead *head, guint8 *text,
                      gsize length, const guint8 *mac)
{
    guint8 made[BB_TLS_SECRET_MAX];
    gsize size = bb_tls_hash_size(key->suite->mac);
    put_aad(text, number, head, length);
    return bb_tls_hmac(key->suite->mac, key->mac, size, text, AAD_MAX + length, made) &&
           CRYPTO_memcmp(made, mac, size) == 0;
}

// RFC 5246, 6.2.3.2: IV, then content, MAC and padding encrypted; with encrypt-then-MAC (RFC 7366)
// the MAC stands behind all that. Where CBC's timing matters is the server, not here.
static gssize open_cbc(BbTlsKey *key, guint64 number, const BbTlsHead *head, const guint8 *body,
                       guint8 *out)
{
    gsize mac = bb_tls_hash_size(key->suite->mac), length = head->length;
    gsize behind = key->encrypt_then_mac ? mac : 0;
    if (length < 2 * BLOCK + behind || (length - behind) % BLOCK)
        return -1;
    length -= behind;
    g_autofree guint8 *text = g_malloc(AAD_MAX + length);
    guint8 *data = text + AAD_MAX;
    int n;
    if (key->encrypt_then_mac) {
        memcpy(data, body, length);
        if (!check_mac(key, number, head, text, length, body + length))
            return -1;
    }
    if (EVP_DecryptInit_ex(key->cipher, NULL, NULL, NULL, body) != 1 ||
        EVP_DecryptUpdate(key->cipher, data, &n, body + BLOCK, (int)(length - BLOCK)) != 1)
        return -1;
    length -= BLOCK;
    gsize padding = data[length - 1] + 1u, inside = mac - behind;
    if (padding + inside > length)
        return -1;
    for (gsize i = 0; i < padding; i++)
        if (data[length - 1 - i] != padding - 1)
            return -1;
    length -= padding + inside;
    if (inside && !check_mac(key, number, head, text, length, data + length))
        return -1;
    memcpy(out, data, length);
    return (gssize)length;
}

gssize bb_tls_key_open(BbTlsKey *key, guint64 number, const BbTlsHead *head, const guint8 *body,
                       guint8 *out, guint8 *type)
{
    *type = head->type;
    if (key->suite->mode == BB_TLS_CBC)
        return open_cbc(key, number, head, body, out);
    gssize length = open_aead(key, number, head, body, out);
    if (length < 0 || !is_1_3(key))
        return length;
    while (length > 0 && out[length - 1] == 0)
        length--; // padding (RFC 8446, 5.4)
    if (length == 0)
        return -1;
    *type = out[length - 1];
    return length - 1;
}
