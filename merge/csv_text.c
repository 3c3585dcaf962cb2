// SPDX-License-Identifier: Apache-2.0
// In: text. Out: a field of CSV.
#include "merge/csv_text.h"

#include <stdbool.h>
#include <string.h>

static bool is_plain(const char *text, gsize length)
{
    return strcspn(text, "\",\r\n") == length &&
           (length == 0 || (!g_ascii_isspace(text[0]) && !g_ascii_isspace(text[length - 1])));
}

void bb_csv_append_text(GString *out, const char *text, gsize length)
{
    if (is_plain(text, length)) {
        g_string_append_len(out, text, (gssize)length);
        return;
    }
    g_string_append_c(out, '"');
    for (; *text; text++) {
        if (*text == '"')
            g_string_append_c(out, '"');
        g_string_append_c(out, *text);
    }
    g_string_append_c(out, '"');
}
