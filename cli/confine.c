// SPDX-License-Identifier: Apache-2.0
// In: what a program still has to do. Out: a process that can do no more than that.
#include "cli/confine.h"

#include <sys/prctl.h>

static void say(GString *done, const char *format, ...) G_GNUC_PRINTF(2, 3);
static void say(GString *done, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    if (done->len > 0)
        g_string_append(done, ", ");
    g_string_append_vprintf(done, format, arguments);
    va_end(arguments);
}

bool bb_confine(const BbConfinement *confinement, GString *done, GError **error)
{
    guint64 kept = bb_confine_wanted(confinement->keep_file_rights);
    bb_confine_bounds(kept);
    if (confinement->user) {
        if (!bb_confine_user(confinement->user, error))
            return false;
        say(done, "user %s", confinement->user);
    }
    if (!bb_confine_capabilities(kept, error))
        return false;
    say(done, confinement->keep_file_rights ? "capabilities of files only" : "no capabilities");
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0)
        say(done, "no new privileges");
    // A core dump would hold packets.
    if (!BB_IS_SANITIZED && prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) == 0)
        say(done, "no core dumps");
    int landlock = bb_confine_files(confinement);
    if (landlock > 0)
        say(done, "Landlock %d", landlock);
    if (!BB_IS_SANITIZED && bb_confine_calls(confinement))
        say(done, "seccomp");
    return true;
}
