// SPDX-License-Identifier: Apache-2.0
// In: what a program still has to do. Out: a process that can do no more than that.
#include "cli/confine.h"

#include <sys/prctl.h>

// The sanitizers look into their own process at its end, by calls that are forbidden here.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define IS_SANITIZED true
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define IS_SANITIZED true
#endif
#endif
#ifndef IS_SANITIZED
#define IS_SANITIZED false
#endif

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
    bb_confine_bounds(bb_confine_wanted(confinement->keep_file_rights));
    if (confinement->user) {
        if (!bb_confine_user(confinement->user, error))
            return false;
        say(done, "user %s", confinement->user);
    }
    if (!bb_confine_capabilities(confinement->keep_file_rights, error))
        return false;
    say(done, confinement->keep_file_rights ? "capabilities of files only" : "no capabilities");
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0)
        say(done, "no new privileges");
    // A core dump would hold packets.
    if (!IS_SANITIZED && prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) == 0)
        say(done, "no core dumps");
    int landlock = bb_confine_files(confinement);
    if (landlock > 0)
        say(done, "Landlock %d", landlock);
    if (!IS_SANITIZED && bb_confine_calls(confinement))
        say(done, "seccomp");
    return true;
}
