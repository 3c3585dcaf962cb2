// SPDX-License-Identifier: Apache-2.0
// In: a path. Out: a file that takes its place once it is whole.
#include "data/draft.h"

#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define OWN_FILES "/proc/self/fd"
#define SUFFIX ".XXXXXX" // the X are replaced
#define TRIES 100u       // names

struct BbDraft {
    char *path, *part; // what it is to be called, and is called until then; NULL: not at all
    int fd;
};

bool bb_draft_may_replace(const char *path)
{
    struct stat status;
    if (g_str_has_prefix(path, "/dev/") || g_str_has_prefix(path, "/proc/"))
        return false;
    if (stat(path, &status) == 0)
        return S_ISREG(status.st_mode) && access(path, W_OK) == 0;
    return errno == ENOENT && lstat(path, &status) != 0; // no link to what is not there yet
}

// Whether there is room for a longer name beside it.
static bool is_short(const char *path)
{
    const char *slash = strrchr(path, '/');
    return strlen(slash ? slash + 1 : path) + strlen(SUFFIX) <= NAME_MAX;
}

static bool open_nameless(BbDraft *draft)
{
    g_autofree char *folder = g_path_get_dirname(draft->path);
    if (access(OWN_FILES, X_OK) != 0)
        return false; // where it would get its name from
    draft->fd = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0666);
    return draft->fd >= 0;
}

static bool open_named(BbDraft *draft)
{
    g_autofree char *part = g_strconcat(draft->path, SUFFIX, NULL);
    draft->fd = g_mkstemp_full(part, O_RDWR | O_CLOEXEC, 0666);
    if (draft->fd >= 0)
        draft->part = g_steal_pointer(&part);
    return draft->fd >= 0;
}

static void take_rights(const BbDraft *draft)
{
    struct stat status;
    if (stat(draft->path, &status) != 0)
        return;
    int failed = fchown(draft->fd, status.st_uid, status.st_gid);
    // Rights of the group are not for another group.
    mode_t mode = failed && status.st_gid != getegid() ? 0700 : 0777;
    (void)!fchmod(draft->fd, status.st_mode & mode);
}

BbDraft *bb_draft_new(const char *path, bool named)
{
    g_autoptr(BbDraft) draft = g_new0(BbDraft, 1);
    char *whole = realpath(path, NULL); // behind links
    draft->path = g_strdup(whole ? whole : path);
    free(whole);
    draft->fd = -1;
    if (!is_short(draft->path)) {
        errno = ENAMETOOLONG;
        return NULL;
    }
    if ((named || !open_nameless(draft)) && !open_named(draft))
        return NULL;
    take_rights(draft);
    return g_steal_pointer(&draft);
}

void bb_draft_free(BbDraft *draft)
{
    if (!draft)
        return;
    int reason = errno;
    if (draft->part)
        (void)g_unlink(draft->part);
    if (draft->fd >= 0)
        close(draft->fd);
    g_free(draft->part);
    g_free(draft->path);
    g_free(draft);
    errno = reason;
}

int bb_draft_fd(const BbDraft *draft)
{
    return draft->fd;
}

const char *bb_draft_name(const BbDraft *draft)
{
    return draft->part;
}

// A name that no other file has, for a moment: a link cannot replace a file, a name can.
static bool give_name(BbDraft *draft)
{
    g_autofree char *from = g_strdup_printf(OWN_FILES "/%d", draft->fd);
    for (guint i = 0; i < TRIES; i++) {
        g_autofree char *part = g_strdup_printf("%s.%06x", draft->path, g_random_int() & 0xffffff);
        if (linkat(AT_FDCWD, from, AT_FDCWD, part, AT_SYMLINK_FOLLOW) == 0) {
            draft->part = g_steal_pointer(&part);
            return true;
        }
        if (errno != EEXIST)
            return false;
    }
    return false;
}

bool bb_draft_publish(BbDraft *draft)
{
    if ((!draft->part && !give_name(draft)) || g_rename(draft->part, draft->path) != 0)
        return false;
    g_clear_pointer(&draft->part, g_free);
    return true;
}
