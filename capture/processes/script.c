// SPDX-License-Identifier: Apache-2.0
// In: name and words of a process. Out: what its interpreter runs.
#include "capture/processes/script.h"

#include <string.h>

// How an interpreter is told what to run. An option that is not known may be followed by anything,
// by text of a program too: then nothing is taken for a name.
typedef struct Interpreter {
    const char *name;      // letters; a version may follow (python3.11)
    const char *flags;     // letters of options that stand alone, several in one word (-uB)
    const char *words;     // of those that a word belongs to (-X dev)
    const char *run;       // of that whose word is run (-m http.server)
    bool has_long_options; // they begin with one -, and stand alone (java -server)
} Interpreter;

static const Interpreter interpreters[] = {
    {"python", "BbdEIiOPqsSuvVx", "WX", "m", false},
    {"pypy", "BbdEIiOPqsSuvVx", "WX", "m", false},
    {"ruby", "acdlnpsSUvwx", "rIC", "", false},
    {"perl", "acfglnpsStTuUvVwWX", "I", "", false},
    {"php", "nqHsvi", "dcz", "f", false},
    {"node", "", "r", "", false},
    {"nodejs", "", "r", "", false},
    {"deno", "Aq", "", "", false},
    {"bun", "", "r", "", false},
    {"dotnet", "", "", "", false},
    {"java", "", "", "", true},
};

static const char *const runs[] = {"-jar", "-m", "--module", NULL};
static const char *const takes[] = {
    "-cp",         "-classpath",    "--class-path",  "-p",       "--require", "--module-path",
    "--add-opens", "--add-modules", "--add-exports", "--import", NULL};
static const char *const alone[] = {"--allow-all", "--allow-net",          "--allow-read",
                                    "--allow-env", "--enable-source-maps", "--inspect",
                                    "--watch",     "--enable-preview",     NULL};
static const char *const subcommands[] = {"run", "exec", NULL}; // deno run, bun run, dotnet exec

static const Interpreter *find_interpreter(const char *comm)
{
    gsize letters = strspn(comm, "abcdefghijklmnopqrstuvwxyz");
    if (strspn(comm + letters, ".0123456789") != strlen(comm + letters))
        return NULL;
    for (gsize i = 0; i < G_N_ELEMENTS(interpreters); i++)
        if (strlen(interpreters[i].name) == letters &&
            memcmp(interpreters[i].name, comm, letters) == 0)
            return &interpreters[i];
    return NULL;
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

// What a word says of those behind it.
typedef enum { WORD_ALONE, WORD_TAKES, WORD_RUNS, WORD_SCRIPT, WORD_UNKNOWN } Meaning;

static Meaning meaning_of_letters(const Interpreter *of, const char *letters)
{
    for (const char *at = letters; *at; at++) {
        if (strchr(of->flags, *at))
            continue;
        if (strchr(of->words, *at))
            return at[1] ? WORD_ALONE : WORD_TAKES; // its word is the rest of this one, or the next
        return strchr(of->run, *at) && !at[1] ? WORD_RUNS : WORD_UNKNOWN;
    }
    return *letters ? WORD_ALONE : WORD_UNKNOWN;
}

static Meaning meaning_of(const Interpreter *of, const char *word)
{
    if (*word != '-')
        return g_strv_contains(subcommands, word) ? WORD_ALONE : WORD_SCRIPT;
    if (word[1] == '-' && strchr(word, '='))
        return WORD_ALONE;
    if (word[1] == '-' || of->has_long_options) {
        if (g_strv_contains(runs, word))
            return WORD_RUNS;
        if (g_strv_contains(takes, word))
            return WORD_TAKES;
        return word[1] != '-' || g_strv_contains(alone, word) ? WORD_ALONE : WORD_UNKNOWN;
    }
    return meaning_of_letters(of, word + 1);
}

// The next of the words, which all end with NUL but maybe the last one; NULL after that.
static const char *next_word(const char *word, const char *end)
{
    const char *nul = memchr(word, '\0', (gsize)(end - word));
    return nul && nul + 1 < end ? nul + 1 : NULL;
}

// What is run; NULL where that has no name.
static const char *find(const Interpreter *of, const char *text, const char *end)
{
    for (const char *word = next_word(text, end); word; word = next_word(word, end)) {
        g_autofree char *whole = g_strndup(word, (gsize)(end - word)); // up to its NUL
        Meaning meaning = meaning_of(of, whole);
        if (meaning == WORD_SCRIPT)
            return word;
        if (meaning == WORD_UNKNOWN)
            return NULL;
        if (meaning != WORD_ALONE)
            word = next_word(word, end);
        if (meaning == WORD_RUNS || !word)
            return word;
    }
    return NULL;
}

bool bb_script_find(const char *comm, const char *text, gsize length, const char **script,
                    gsize *script_length)
{
    const Interpreter *of = find_interpreter(comm);
    if (length == 0 || !of)
        return false;
    const char *end = text + length, *found = find(of, text, end);
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
