// SPDX-License-Identifier: Apache-2.0
// In: any bytes as what a client says to the control socket. Checks that a command that is
// understood has a reason that may be printed and kept.
#include "cli/control.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const guint8 *data, gsize size);

int LLVMFuzzerTestOneInput(const guint8 *data, gsize size)
{
    g_autofree char *line = g_strndup((const char *)data, size);
    g_autofree char *reason = NULL;
    bool good = bb_control_parse(line, &reason);
    g_assert(good == (strcmp(line, "snap") == 0 || g_str_has_prefix(line, "snap ")));
    if (!reason)
        return 0;
    g_assert(good && *reason && g_utf8_validate(reason, -1, NULL));
    for (const char *c = reason; *c; c = g_utf8_next_char(c))
        g_assert(!g_unichar_iscntrl(g_utf8_get_char(c)));
    return 0;
}
