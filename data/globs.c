// SPDX-License-Identifier: Apache-2.0
// In: a list of patterns, and a text. Out: whether one of them matches.
#include "data/globs.h"

#include "data/glob.h"

struct BbGlobs {
    char **patterns;
};

BbGlobs *bb_globs_new(const char *list)
{
    g_auto(GStrv) patterns = g_strsplit(list, ",", -1);
    bool complete = patterns[0]; // an empty text has no part at all
    for (char **pattern = patterns; *pattern; pattern++)
        complete = complete && **pattern;
    if (!complete)
        return NULL;
    BbGlobs *globs = g_new0(BbGlobs, 1);
    globs->patterns = g_steal_pointer(&patterns);
    return globs;
}

void bb_globs_free(BbGlobs *globs)
{
    if (!globs)
        return;
    g_strfreev(globs->patterns);
    g_free(globs);
}

bool bb_globs_match(const BbGlobs *globs, const char *text)
{
    for (char **pattern = globs->patterns; *pattern; pattern++)
        if (bb_glob_match(*pattern, text))
            return true;
    return false;
}

const char *const *bb_globs_patterns(const BbGlobs *globs)
{
    return (const char *const *)globs->patterns;
}
