// SPDX-License-Identifier: Apache-2.0
// In: name and words of a process. Out: what its interpreter runs.
#include "capture/processes/script.h"

#include <string.h>

// Letters of the name of a program; a version may follow (python3.11).
static const char *const interpreters[] = {"python", "pypy", "node", "nodejs", "java",   "ruby",
                                           "perl",   "php",  "deno", "bun",    "dotnet", NULL};
// Options whose next word is what is run, is theirs, or says that nothing is run that has a name.
static const char *const runs[] = {"-m", "-jar", "--module", NULL};
static const char *const takes[] = {
    "-cp",       "-classpath", "--class-path", "-p",          "--module-path", "-W", "-X", "-r",
    "--require", "--import",   "-I",           "--add-opens", "--add-modules", "-d", "-S", "-t",
    NULL};
static const char *const nameless[] = {"-c", "-e", "--eval", "-E", "-", NULL};
static const char *const subcommands[] = {"run", "exec", NULL}; // deno run, bun run, dotnet exec

static bool is_interpreter(const char *comm)
{
    gsize letters = strspn(comm, "abcdefghijklmnopqrstuvwxyz");
    g_autofree char *name = g_strndup(comm, letters);
    return g_strv_contains(interpreters, name) &&
           strspn(comm + letters, ".0123456789") == strlen(comm + letters);
}

// The next of the words, which all end with NUL but maybe the last one; NULL after that.
static const char *next_word(const char *word, const char *end)
{
    const char *nul = memchr(word, '\0', (gsize)(end - word));
    return nul && nul + 1 < end ? nul + 1 : NULL;
}

static bool is_one_of(const char *const *list, const char *word, const char *end)
{
    gsize length = strnlen(word, (gsize)(end - word));
    g_autofree char *whole = g_strndup(word, length);
    return g_strv_contains(list, whole);
}

// Letters of several options of one letter, the last of which is one that text of a program follows
// (perl -lane, python3 -uc).
static bool is_text_next(const char *word, const char *end)
{
    gsize length = strnlen(word, (gsize)(end - word));
    if (length < 3 || length > 5 || *word != '-' || !strchr("ceE", word[length - 1]))
        return false;
    for (gsize i = 1; i < length; i++)
        if (!g_ascii_isalpha(word[i]))
            return false;
    return true;
}

// As names of files, modules and classes are written; anything else may be text of a program.
static bool is_name(const char *text, gsize length)
{
    bool letter = false;
    for (gsize i = 0; i < length; i++) {
        letter |= g_ascii_isalpha(text[i]);
        if (!g_ascii_isalnum(text[i]) && !strchr("._$-+@", text[i]))
            return false;
    }
    return letter;
}

// What is run; NULL where that has no name.
static const char *find(const char *text, const char *end)
{
    for (const char *word = next_word(text, end); word; word = next_word(word, end)) {
        if (is_one_of(nameless, word, end) || is_text_next(word, end))
            return NULL;
        if (is_one_of(runs, word, end))
            return next_word(word, end);
        if (is_one_of(takes, word, end))
            word = next_word(word, end);
        else if (*word && *word != '-' && !is_one_of(subcommands, word, end))
            return word;
        if (!word)
            return NULL;
    }
    return NULL;
}

bool bb_script_find(const char *comm, const char *text, gsize length, const char **script,
                    gsize *script_length)
{
    if (length == 0 || !is_interpreter(comm))
        return false;
    const char *end = text + length, *found = find(text, end);
    gsize size = found ? strnlen(found, (gsize)(end - found)) : 0;
    for (gsize i = size; i > 0; i--) {
        if (found[i - 1] != '/')
            continue;
        found += i;
        size -= i;
        break;
    }
    *script = found;
    *script_length = size;
    return size > 0 && is_name(found, size);
}
