// SPDX-License-Identifier: Apache-2.0
// In: what was asked of bbtrace capture. Out: a process that can do that, and little else.
#include "cli/capture_confine.h"

#include "cli/confine.h"
#include "cli/stats_files.h"

#include <string.h>
#include <unistd.h>

#define SILENT_MAX 64 // packet sockets to which nothing can be written

static void add(GPtrArray *paths, const char *path)
{
    if (path && strcmp(path, "-") != 0)
        g_ptr_array_add(paths, (gpointer)path);
}

static void add_all(GPtrArray *paths, char *const *all)
{
    for (; all && *all; all++)
        add(paths, *all);
}

// Who says sudo wants the rights to capture, and files of their own.
const char *bb_capture_confine_user(const BbCaptureArguments *arguments)
{
    return arguments->user || !arguments->interfaces ? arguments->user : bb_confine_find_user();
}

char *bb_capture_confine_remedy(const BbCaptureArguments *arguments, const GError *error)
{
    bool of_files = g_error_matches(error, G_FILE_ERROR, G_FILE_ERROR_ACCES);
    if (!of_files || !arguments->interfaces || arguments->unconfined)
        return NULL;
    if (geteuid() == 0)
        return g_strdup("; root's rights over the files of others were given up: -Z OWNER becomes "
                        "the owner of that place");
    const char *user = arguments->user ? arguments->user : g_getenv("SUDO_USER");
    return user ? g_strdup_printf(
                      "; the capture is by user %s now: give -Z OWNER, the owner of that "
                      "place",
                      user)
                : NULL;
}

bool bb_capture_confine(const BbCaptureArguments *arguments, const BbSource *source, GError **error)
{
    if (arguments->unconfined)
        return true;
    g_autoptr(GPtrArray) reads = g_ptr_array_new();
    g_autoptr(GPtrArray) writes = g_ptr_array_new();
    g_autoptr(GString) done = g_string_new(NULL);
    int silent[SILENT_MAX];
    add_all(reads, arguments->files);
    add_all(reads, arguments->names_files);
    add(reads, arguments->keylog_file);
    add(writes, arguments->out);
    add(writes, arguments->recorder.socket);
    add(writes, arguments->stats);
    g_autofree char *metrics =
        arguments->stats ? bb_stats_files_metrics_path(arguments->stats) : NULL;
    add(writes, metrics); // where the first is a pipe
    g_autofree char *secrets = arguments->keylog_file && arguments->interfaces
                                   ? g_path_get_dirname(arguments->keylog_file)
                                   : NULL;
    add(reads, secrets); // another file may take the place of a key log
    g_ptr_array_add(reads, NULL);
    g_ptr_array_add(writes, NULL);
    const BbConfinement confinement = {
        .user = bb_capture_confine_user(arguments),
        .keep_file_rights = !arguments->interfaces,
        .reads = (const char *const *)reads->pdata,
        .writes = (const char *const *)writes->pdata,
        .silent = silent,
        .n_silent = source ? MIN(bb_source_descriptors(source, silent, SILENT_MAX), SILENT_MAX) : 0,
        .resolves = !arguments->interfaces && arguments->filter, // of a file of another link type
        .listens = arguments->recorder.size > 0,
    };
    if (!bb_confine(&confinement, done, error))
        return false;
    if (arguments->verbose && !arguments->quiet)
        bb_say("confined: %s", done->str);
    return true;
}
