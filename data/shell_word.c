// SPDX-License-Identifier: Apache-2.0
// In: a word. Out: the same as a shell reads it.
#include "data/shell_word.h"

#include <stdbool.h>
#include <string.h>

char *bb_shell_word(const char *word)
{
    static const char plain[] = G_CSET_A_2_Z G_CSET_a_2_z G_CSET_DIGITS "._:/@+=,-%";
    return *word && !word[strspn(word, plain)] ? g_strdup(word) : g_shell_quote(word);
}

char *bb_shell_file(const char *path)
{
    bool is_option = path[0] == '-' && path[1];
    g_autofree char *file = g_strconcat(is_option ? "./" : "", path, NULL);
    return bb_shell_word(file);
}
