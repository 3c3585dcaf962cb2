// SPDX-License-Identifier: Apache-2.0
// Labels of any bytes. The first byte chooses the kind; a label fits its buffer, has no control
// bytes and is UTF-8.
#include "capture/protocols/label.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const guint8 *data, gsize size);

static void check(const char *out, gsize length)
{
    g_assert(length <= BB_LABEL_MAX && strlen(out) == length);
    g_assert(g_utf8_validate_len(out, length, NULL));
    for (const char *at = out; *at; at = g_utf8_next_char(at))
        g_assert(g_unichar_isprint(g_utf8_get_char(at)));
}

// Method and path are divided by the first blank, as in a request line.
static gsize label_http(char *out, const guint8 *data, gsize size)
{
    const guint8 *blank = size ? memchr(data, ' ', size) : NULL;
    gsize method = blank ? (gsize)(blank - data) : size;
    const guint8 *path = blank ? blank + 1 : data + size;
    return bb_label_http(out, data, method, path, (gsize)(data + size - path));
}

static gsize label_dns(char *out, const guint8 *data, gsize size)
{
    g_autofree char *name = g_strndup((const char *)data, size);
    for (char *at = name; *at; at++)
        if (!g_ascii_isgraph(*at))
            *at = '-'; // presentation format has no such bytes
    return bb_label_dns(out, "AAAA", name);
}

int LLVMFuzzerTestOneInput(const guint8 *data, gsize size)
{
    static gsize (*const kinds[])(char *, const guint8 *, gsize) = {label_http, bb_label_sql,
                                                                    label_dns, bb_label_word};
    char out[BB_LABEL_MAX + 1];
    if (size == 0)
        return 0;
    memset(out, 'x', sizeof out);
    check(out, kinds[data[0] % G_N_ELEMENTS(kinds)](out, data + 1, size - 1));
    return 0;
}
