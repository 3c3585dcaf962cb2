// SPDX-License-Identifier: Apache-2.0
// In: files and folders of inputs. Runs the fuzz target over each, whole and cut at every byte (of
// inputs up to 4 KiB; at 64 places of longer ones), so that the ordinary tests replay the corpus.
//   replay [--step N] FILE|FOLDER...      cut at every N-th byte, of records of N bytes
#include <glib.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const guint8 *data, gsize size);

// A copy of its own, so that the sanitizer sees a read past the end.
static void run_cut(const guint8 *data, gsize size)
{
    g_autofree guint8 *copy = g_memdup2(data, size);
    (void)LLVMFuzzerTestOneInput(size ? copy : (const guint8 *)"", size);
}

static int replay_file(const char *path, gsize record)
{
    g_autofree char *data = NULL;
    gsize size = 0;
    g_autoptr(GError) error = NULL;
    if (!g_file_get_contents(path, &data, &size, &error)) {
        fprintf(stderr, "%s\n", error->message);
        return 1;
    }
    gsize step = size <= 4096 ? record : size / 64;
    for (gsize cut = 0; cut < size; cut += step)
        run_cut((const guint8 *)data, cut);
    run_cut((const guint8 *)data, size);
    return 0;
}

static int replay(const char *path, gsize record, guint *count)
{
    g_autoptr(GDir) dir = g_dir_open(path, 0, NULL);
    if (!dir) {
        ++*count;
        return replay_file(path, record);
    }
    int failed = 0;
    for (const char *name = g_dir_read_name(dir); name; name = g_dir_read_name(dir)) {
        g_autofree char *child = g_build_filename(path, name, NULL);
        failed |= replay(child, record, count);
    }
    return failed;
}

int main(int argc, char **argv)
{
    int failed = 0;
    guint count = 0;
    int first = argc > 2 && strcmp(argv[1], "--step") == 0 ? 3 : 1;
    gsize record = first == 3 ? MAX(g_ascii_strtoull(argv[2], NULL, 10), 1) : 1;
    for (int i = first; i < argc; i++)
        failed |= replay(argv[i], record, &count);
    printf("%u inputs\n", count);
    return failed || count == 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
