// SPDX-License-Identifier: Apache-2.0
// Keys of TLS: derived as published examples say, every suite opens what was sealed, and nothing
// that was changed.
#include "capture/protocols/tls_key.h"
#include "tests/unit/tls_seal.h"

static void check_bytes(const guint8 *bytes, const char *hex)
{
    g_autoptr(Octets) expected = octets(hex);
    ck_assert_mem_eq(bytes, expected->data, expected->len);
}

// Published with the drafts of TLS 1.2 (mailing list of the IETF's working group, 2009).
START_TEST(prf)
{
    guint8 out[100];
    g_autoptr(Octets) secret = octets("9bbe436ba940f017b17652849a71db35");
    g_autoptr(Octets) seed = octets("a0ba9f936cda311827a6f796ffd5198c");
    ck_assert(bb_tls_prf(BB_TLS_SHA256, secret->data, secret->len, "test label", seed->data,
                         seed->len, out, sizeof out));
    check_bytes(out, "e3f229ba727be17b8d122620557cd453c2aab21d07c3d495329b52d4e61edb5a6b301791e90d3"
                     "5c9c9a46b4e14baf9af0fa022f7077def17abfd3797c0564bab4fbc91666e9def9b97fce34f79"
                     "6789baa48082d122ee42c5a72e5a5110fff70187347b66");
    g_autoptr(Octets) wide = octets("b80b733d6ceefcdc71566ea48e5567df");
    g_autoptr(Octets) other = octets("cd665cf6a8447dd6ff8b27555edb7465");
    ck_assert(bb_tls_prf(BB_TLS_SHA384, wide->data, wide->len, "test label", other->data,
                         other->len, out, sizeof out));
    check_bytes(out, "7b0c18e9ced410ed1804f2cfa34a336a1c14dffb4900bb5fd7942107e81c83cd");
}
END_TEST

// RFC 8448, section 3: the server's application traffic keys; and the client's first record.
START_TEST(expand)
{
    guint8 key[16], iv[12], out[67], type;
    g_autoptr(Octets) server =
        octets("a11af9f05531f856ad47116b45a950328204b4f44bfb6b3a4b4f1f3fcb631643");
    ck_assert(bb_tls_expand(BB_TLS_SHA256, server->data, server->len, "key", key, sizeof key));
    ck_assert(bb_tls_expand(BB_TLS_SHA256, server->data, server->len, "iv", iv, sizeof iv));
    check_bytes(key, "9f02283b6c9c07efc26bb9f2ac92e356");
    check_bytes(iv, "cf782b88dd83549aadf1e984");
    g_autoptr(Octets) client =
        octets("9e40646ce79a7f9dc05af8889bce6552875afa0b06df0087f792ebb7c17504a5");
    g_autoptr(Octets) record_bytes =
        octets("1703030043a23f7054b62c94d0affafe8228ba55cbefacea42f914aa66bcab3f2b9819a8a5b46b395bd"
               "54a9a20441e2b62974e1f5a6292a2977014bd1e3deae63aeebb21694915e4");
    BbTlsSecret traffic = {.length = 32};
    memcpy(traffic.bytes, client->data, 32);
    g_autoptr(BbTlsKey) opener = bb_tls_key_new_1_3(bb_tls_suite_find(0x1301), &traffic);
    BbTlsHead head;
    ck_assert(bb_tls_head(record_bytes->data, &head));
    ck_assert_int_eq(bb_tls_key_open(opener, 0, &head, record_bytes->data + 5, out, &type), 50);
    ck_assert_uint_eq(type, DATA);
    for (guint i = 0; i < 50; i++)
        ck_assert_uint_eq(out[i], i);
}
END_TEST

static const guint16 suites_1_2[] = {
    0x009c, 0x009d, 0xc02f, 0xcca8, 0xc09c, 0xc09d, 0xc0a0,
    0xc0a1, 0x002f, 0x0035, 0x003c, 0x003d, 0xc028, 0xc013,
};
static const guint16 suites_1_3[] = {0x1301, 0x1302, 0x1303, 0x1304, 0x1305};

static gssize open_record(BbTlsKey *key, guint64 number, const Octets *bytes, guint8 *out,
                          guint8 *type)
{
    BbTlsHead head;
    ck_assert(bb_tls_head(bytes->data, &head));
    ck_assert_uint_eq(head.length + 5u, bytes->len);
    g_autofree guint8 *body = g_memdup2(bytes->data + 5, head.length);
    g_autofree guint8 *exact = g_malloc(head.length); // so that writes past it are caught
    gssize length = bb_tls_key_open(key, number, &head, body, exact, type);
    if (length > 0)
        memcpy(out, exact, (gsize)length);
    return length;
}

// Opens what was sealed with its number; not with another, not with any byte changed.
static void check_suite(BbTlsKey *key, Sealer *sealer, gsize size)
{
    guint8 out[1024], type;
    Octets *text = g_byte_array_new();
    for (gsize i = 0; i < size; i++)
        octets_be(text, i + 1, 1);
    g_autoptr(Octets) sealed = seal(sealer, DATA, text);
    guint64 number = sealer->number - 1;
    ck_assert_int_eq(open_record(key, number, sealed, out, &type), (gssize)size);
    ck_assert_uint_eq(type, DATA);
    for (gsize i = 0; i < size; i++)
        ck_assert_uint_eq(out[i], (guint8)(i + 1));
    ck_assert_int_eq(open_record(key, number + 1, sealed, out, &type), -1);
    for (guint i = 5; i < sealed->len; i++) {
        sealed->data[i] ^= 1;
        ck_assert_int_eq(open_record(key, number, sealed, out, &type), -1);
        sealed->data[i] ^= 1;
    }
    sealed->data[0] = HANDSHAKE;
    ck_assert_int_eq(open_record(key, number, sealed, out, &type), -1);
    sealed->data[0] = DATA;
    ck_assert_int_eq(open_record(key, number, sealed, out, &type), (gssize)size);
}

static void check_sizes(BbTlsKey *key, Sealer *sealer)
{
    static const gsize sizes[] = {0, 1, 15, 16, 17, 100, 256};
    for (guint i = 0; i < G_N_ELEMENTS(sizes); i++)
        check_suite(key, sealer, sizes[i]);
}

START_TEST(suites_of_1_2)
{
    guint8 client[32], server[32];
    BbTlsSecret master = {.length = 48};
    memset(master.bytes, MASTER_BYTE, 48);
    memset(client, 0xc1, 32);
    memset(server, 0x5e, 32);
    for (guint i = 0; i < G_N_ELEMENTS(suites_1_2); i++)
        for (guint variant = 0; variant < 4; variant++) {
            BbDirection direction = variant % 2;
            const BbTlsSuite *suite = bb_tls_suite_find(suites_1_2[i]);
            Sealer sealer = sealer_1_2(suites_1_2[i], direction, variant / 2);
            g_autoptr(BbTlsKey) key =
                bb_tls_key_new_1_2(suite, &master, client, server, direction, variant / 2);
            ck_assert_ptr_nonnull(key);
            check_sizes(key, &sealer);
        }
}
END_TEST

START_TEST(suites_of_1_3)
{
    for (guint i = 0; i < G_N_ELEMENTS(suites_1_3); i++) {
        const BbTlsSuite *suite = bb_tls_suite_find(suites_1_3[i]);
        Sealer sealer = sealer_1_3(suites_1_3[i], BB_TO_CLIENT);
        BbTlsSecret traffic = {.length = (guint8)bb_tls_hash_size(suite->hash)};
        memset(traffic.bytes, traffic_bytes[BB_TO_CLIENT], traffic.length);
        g_autoptr(BbTlsKey) key = bb_tls_key_new_1_3(suite, &traffic);
        ck_assert_ptr_nonnull(key);
        check_sizes(key, &sealer);
        seal_update(&sealer);
        ck_assert(bb_tls_key_update(key));
        check_sizes(key, &sealer);
    }
}
END_TEST

// Types are inside, behind the content and before padding.
START_TEST(padding_of_1_3)
{
    guint8 out[64], type;
    Sealer sealer = sealer_1_3(0x1301, BB_TO_SERVER);
    BbTlsSecret traffic = {.length = 32};
    memset(traffic.bytes, traffic_bytes[BB_TO_SERVER], 32);
    g_autoptr(BbTlsKey) key = bb_tls_key_new_1_3(bb_tls_suite_find(0x1301), &traffic);
    g_autoptr(Octets) padded = seal_padded(&sealer, ALERT, octets("0100"), 20);
    ck_assert_int_eq(open_record(key, 0, padded, out, &type), 2);
    ck_assert_uint_eq(type, ALERT);
    g_autoptr(Octets) nothing = seal_padded(&sealer, 0, octets(""), 20); // no type at all
    ck_assert_int_eq(open_record(key, 1, nothing, out, &type), -1);
}
END_TEST

START_TEST(too_short)
{
    guint8 body[64] = {0}, out[64], type;
    BbTlsSecret secret = {.length = 48};
    guint8 random[32] = {0};
    for (guint i = 0; i < G_N_ELEMENTS(suites_1_2); i++) {
        const BbTlsSuite *suite = bb_tls_suite_find(suites_1_2[i]);
        g_autoptr(BbTlsKey) key =
            bb_tls_key_new_1_2(suite, &secret, random, random, BB_TO_SERVER, i % 2);
        for (guint16 length = 1; length < 48; length++) {
            BbTlsHead head = {.type = DATA, .version = 0x0303, .length = length};
            g_autofree guint8 *exact = g_memdup2(body, length);
            ck_assert_int_eq(bb_tls_key_open(key, 0, &head, exact, out, &type), -1);
        }
    }
}
END_TEST

START_TEST(unknown_suites)
{
    ck_assert_ptr_null(bb_tls_suite_find(0x0005)); // RC4
    ck_assert_ptr_null(bb_tls_suite_find(0x000a)); // 3DES
    ck_assert_ptr_null(bb_tls_suite_find(0));
}
END_TEST

TEST_MAIN("tls_key", prf, expand, suites_of_1_2, suites_of_1_3, padding_of_1_3, too_short,
          unknown_suites)
