// SPDX-License-Identifier: Apache-2.0
// In: paths that will be read and written. Out: a process that sees no other file (landlock(7)).
#include "cli/confine.h"

#include <fcntl.h>
#include <linux/landlock.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

// Of later versions than the headers may be.
#define REFER (G_GUINT64_CONSTANT(1) << 13)    // version 2
#define TRUNCATE (G_GUINT64_CONSTANT(1) << 14) // version 3

#define READ (LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR)
#define WRITE (LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_READ_FILE | TRUNCATE)
#define MAKE                                                                                      \
    (LANDLOCK_ACCESS_FS_READ_DIR | LANDLOCK_ACCESS_FS_MAKE_REG | LANDLOCK_ACCESS_FS_REMOVE_FILE | \
     LANDLOCK_ACCESS_FS_REMOVE_DIR | LANDLOCK_ACCESS_FS_MAKE_DIR | LANDLOCK_ACCESS_FS_MAKE_SOCK)

// What all of it is, by version: more than a kernel knows it refuses.
static guint64 all_rights(int version)
{
    guint64 all = REFER - 1;
    if (version >= 2)
        all |= REFER;
    if (version >= 3)
        all |= TRUNCATE;
    return all;
}

static void allow(int rules, const char *path, guint64 rights)
{
    struct landlock_path_beneath_attr rule = {.parent_fd = open(path, O_PATH | O_CLOEXEC)};
    struct stat about;
    if (rule.parent_fd < 0)
        return; // opening it will say what is wrong
    if (fstat(rule.parent_fd, &about) == 0) {
        rule.allowed_access = S_ISDIR(about.st_mode) ? rights : rights & WRITE;
        (void)syscall(SYS_landlock_add_rule, rules, LANDLOCK_RULE_PATH_BENEATH, &rule, 0);
    }
    (void)close(rule.parent_fd);
}

// The folder that path is in, or the nearest above it that is there.
static char *find_folder(const char *path)
{
    g_autofree char *whole = g_canonicalize_filename(path, NULL);
    char *folder = g_path_get_dirname(whole);
    while (!g_file_test(folder, G_FILE_TEST_IS_DIR) && strcmp(folder, "/") != 0) {
        char *above = g_path_get_dirname(folder);
        g_free(folder);
        folder = above;
    }
    return folder;
}

// A file that is written may be made anew beside itself; a device or a pipe is there.
static void allow_write(int rules, const char *path, guint64 all)
{
    guint64 rights = (WRITE | MAKE) & all;
    if (!g_file_test(path, G_FILE_TEST_EXISTS) || g_file_test(path, G_FILE_TEST_IS_REGULAR)) {
        g_autofree char *folder = find_folder(path);
        allow(rules, folder, rights);
    }
    allow(rules, path, rights);
}

// What libraries look at on their way: counters of interfaces (libpcap), configuration (OpenSSL,
// character sets), chance (GLib), the size of this process.
static void allow_libraries(int rules)
{
    static const char *const read[] = {
        "/sys", "/proc/self", "/dev/urandom", "/usr/lib", "/usr/share", "/etc/ssl", NULL,
    };
    for (const char *const *path = read; *path; path++)
        allow(rules, *path, READ);
}

static guint count(const char *const *paths)
{
    return paths ? g_strv_length((char **)(gpointer)paths) : 0;
}

int bb_confine_files(const BbConfinement *confinement)
{
    int version =
        (int)syscall(SYS_landlock_create_ruleset, NULL, (gsize)0, LANDLOCK_CREATE_RULESET_VERSION);
    if (version < 1 || count(confinement->reads) > BB_CONFINE_PATHS ||
        count(confinement->writes) > BB_CONFINE_PATHS)
        return 0;
    struct landlock_ruleset_attr about = {.handled_access_fs = all_rights(version)};
    int rules =
        (int)syscall(SYS_landlock_create_ruleset, &about, sizeof about.handled_access_fs, 0);
    if (rules < 0)
        return 0;
    allow_libraries(rules);
    if (confinement->resolves)
        allow(rules, "/etc", READ);
    for (guint i = 0; i < count(confinement->reads); i++)
        allow(rules, confinement->reads[i], READ);
    for (guint i = 0; i < count(confinement->writes); i++)
        allow_write(rules, confinement->writes[i], about.handled_access_fs);
    bool done = syscall(SYS_landlock_restrict_self, rules, 0) == 0;
    (void)close(rules);
    return done ? version : 0;
}
