// SPDX-License-Identifier: Apache-2.0
// In: a file with a key, words. Out: the key, what they mean.
#include "cli/pseudonym_key.h"

#include <string.h>
#include <sys/random.h>

#define KEY_BYTES 32
#define KEY_LEAST 16        // bytes; fewer can be tried out
#define KEY_MOST (1u << 20) // bytes; more is no key but another file

static bool read_file(const char *path, char **key, gsize *size, GError **error)
{
    if (!g_file_get_contents(path, key, size, error)) {
        g_prefix_error(error, "--key: ");
        return false;
    }
    if (*size >= KEY_LEAST && *size <= KEY_MOST)
        return true;
    g_set_error(error, G_FILE_ERROR, G_FILE_ERROR_INVAL,
                "%s: a key of %" G_GSIZE_FORMAT " bytes: make one with `head -c 32 /dev/urandom "
                "> FILE` (from %u bytes to 1 MiB are taken)",
                path, *size, KEY_LEAST);
    return false;
}

bool bb_pseudonym_key_read(const char *path, char **key, gsize *size, GError **error)
{
    if (path)
        return read_file(path, key, size, error);
    *key = g_malloc(KEY_BYTES);
    *size = KEY_BYTES;
    if (getrandom(*key, KEY_BYTES, 0) == KEY_BYTES)
        return true;
    g_set_error_literal(error, G_FILE_ERROR, G_FILE_ERROR_FAILED,
                        "the system has no random numbers: give --key FILE");
    return false;
}

void bb_pseudonym_key_free(char *key, gsize size)
{
    if (key)
        explicit_bzero(key, size);
    g_free(key);
}

bool bb_labels_parse(const char *word, BbLabels *labels)
{
    static const char *const words[] = {
        [BB_LABELS_HASH] = "hash", [BB_LABELS_KEEP] = "keep", [BB_LABELS_OFF] = "off"};
    for (guint i = 0; i < G_N_ELEMENTS(words); i++)
        if (strcmp(word, words[i]) == 0)
            return *labels = (BbLabels)i, true;
    return false;
}
