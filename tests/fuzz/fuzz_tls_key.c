// SPDX-License-Identifier: Apache-2.0
// In: a suite, how it is used, and records that its keys are to open. Random bytes are authentic
// with no key, so nothing may be opened; and nothing may be read or written that is not there.
#include "capture/cursor.h"
#include "capture/protocols/tls_key.h"

int LLVMFuzzerTestOneInput(const guint8 *data, gsize size);

static const BbTlsSuite *some_suite(guint8 which)
{
    static const guint16 numbers[] = {0x1301, 0x1302, 0x1303, 0x1304, 0x1305, 0x009c, 0xc030,
                                      0xcca8, 0xc09c, 0xc0a1, 0x002f, 0x003d, 0xc028};
    return bb_tls_suite_find(numbers[which % G_N_ELEMENTS(numbers)]);
}

int LLVMFuzzerTestOneInput(const guint8 *data, gsize size)
{
    static const guint8 random[BB_TLS_RANDOM];
    BbCursor c = bb_cursor(data, size);
    BbTlsSecret secret = {.length = 48};
    const BbTlsSuite *suite = some_suite(bb_cursor_u8(&c));
    guint8 how = bb_cursor_u8(&c);
    g_autoptr(BbTlsKey) key =
        suite->number >> 8 == 0x13
            ? bb_tls_key_new_1_3(suite, &secret)
            : bb_tls_key_new_1_2(suite, &secret, random, random, how & 1, how & 2);
    g_assert(key);
    for (guint64 number = 0;; number++) {
        BbTlsHead head;
        const guint8 *bytes = bb_cursor_take(&c, BB_TLS_HEAD);
        if (!bytes || !bb_tls_head(bytes, &head))
            break;
        const guint8 *body = bb_cursor_take(&c, head.length);
        if (!body)
            break;
        guint8 type;
        g_autofree guint8 *out = g_malloc(head.length);
        g_assert(bb_tls_key_open(key, number, &head, body, out, &type) < 0);
    }
    return 0;
}
