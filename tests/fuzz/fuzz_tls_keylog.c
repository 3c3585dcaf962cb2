// SPDX-License-Identifier: Apache-2.0
// In: any bytes as a key log, half of them there from the start and the rest added later.
#include "capture/protocols/tls_keylog.h"

#include <glib/gstdio.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const guint8 *data, gsize size);

static void add(int file, const guint8 *data, gsize size)
{
    while (size) {
        gssize written = write(file, data, size);
        g_assert(written > 0);
        data += written;
        size -= (gsize)written;
    }
}

int LLVMFuzzerTestOneInput(const guint8 *data, gsize size)
{
    static const guint8 randoms[2][32] = {{0}, {0x11}};
    g_autofree char *path = NULL;
    int file = g_file_open_tmp("bbtrace-fuzz-XXXXXX", &path, NULL);
    g_assert(file >= 0);
    add(file, data, size / 2);
    g_autoptr(BbTlsKeylog) log = bb_tls_keylog_open(path, NULL);
    (void)g_unlink(path);
    g_assert(log);
    for (guint turn = 0; turn < 2; turn++) {
        for (guint i = 0; i < 2; i++)
            for (guint kind = 0; kind < BB_TLS_SECRETS; kind++) {
                BbTlsSecret secret = {0};
                if (bb_tls_keylog_find(log, randoms[i], kind, &secret))
                    g_assert(secret.length && secret.length <= BB_TLS_SECRET_MAX);
            }
        if (turn == 0)
            add(file, data + size / 2, size - size / 2);
    }
    close(file);
    return 0;
}
