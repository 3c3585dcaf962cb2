// SPDX-License-Identifier: Apache-2.0
// In: a user's name. Out: a process of that user, without capabilities.
#include "cli/confine.h"

#include <errno.h>
#include <grp.h>
#include <linux/capability.h>
#include <pwd.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static bool fail(GError **error, const char *what, const char *name)
{
    int reason = errno;
    g_set_error(error, G_FILE_ERROR, (gint)g_file_error_from_errno(reason),
                "rights cannot be given up (%s%s%s): %s", what, name ? " " : "", name ? name : "",
                g_strerror(reason));
    return false;
}

const char *bb_confine_find_user(void)
{
    const char *name = geteuid() == 0 ? g_getenv("SUDO_USER") : NULL;
    return name && getpwnam(name) ? name : NULL;
}

bool bb_confine_user(const char *name, GError **error)
{
    errno = 0;
    const struct passwd *user = getpwnam(name);
    guint64 number = 0;
    if (!user && g_ascii_string_to_unsigned(name, 10, 0, G_MAXUINT32 - 1, &number, NULL))
        user = getpwuid((uid_t)number);
    if (!user) {
        g_set_error(error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE,
                    "there is no user '%s' on this host: -Z takes one of getent passwd", name);
        return false;
    }
    if (user->pw_uid == geteuid() && user->pw_uid == getuid())
        return true;
    if (geteuid() != 0) {
        g_set_error(error, G_FILE_ERROR, G_FILE_ERROR_PERM,
                    "only root can become user '%s' (-Z): run with sudo, or without -Z", name);
        return false;
    }
    uid_t uid = user->pw_uid;
    gid_t gid = user->pw_gid;
    if (initgroups(user->pw_name, gid) != 0)
        return fail(error, "groups of", name);
    if (setresgid(gid, gid, gid) != 0 || setresuid(uid, uid, uid) != 0)
        return fail(error, "becoming", name);
    return true;
}

// From it programs that are run get theirs.
void bb_confine_bounds(guint64 kept)
{
    for (int each = 0; prctl(PR_CAPBSET_READ, each, 0, 0, 0) >= 0; each++)
        if (each >= 64 || !(kept & G_GUINT64_CONSTANT(1) << each))
            (void)prctl(PR_CAPBSET_DROP, each, 0, 0, 0);
}

bool bb_confine_capabilities(guint64 wanted, GError **error)
{
    struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct sets[2] = {0};
    if (syscall(SYS_capget, &head, sets) != 0)
        return fail(error, "reading capabilities", NULL);
    guint64 kept = wanted & (sets[0].permitted | (guint64)sets[1].permitted << 32);
    bb_confine_bounds(kept);
    (void)prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0); // absent before Linux 4.3
    for (guint i = 0; i < 2; i++) {
        sets[i].effective = sets[i].permitted = (guint32)(kept >> 32 * i);
        sets[i].inheritable = 0;
    }
    return syscall(SYS_capset, &head, sets) == 0 || fail(error, "capabilities", NULL);
}

guint64 bb_confine_wanted(bool keep_file_rights)
{
    guint64 of_files = G_GUINT64_CONSTANT(1) << CAP_DAC_OVERRIDE | G_GUINT64_CONSTANT(1)
                                                                       << CAP_DAC_READ_SEARCH;
    return keep_file_rights ? of_files : 0;
}
