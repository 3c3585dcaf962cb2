// SPDX-License-Identifier: Apache-2.0
// In: a pattern with * and ?, and a text. Out: whether it matches.
#include "data/glob.h"

#include <stddef.h>

// Bytes that go on with the letter which this one begins, if they are there.
static int more_bytes(unsigned char first)
{
    return first < 0xc2 || first > 0xf4 ? 0 : first < 0xe0 ? 1 : first < 0xf0 ? 2 : 3;
}

static const char *next_letter(const char *text)
{
    int more = more_bytes((unsigned char)*text++);
    while (more-- > 0 && ((unsigned char)*text & 0xc0) == 0x80)
        text++;
    return text;
}

// Only the last * is ever tried again: an earlier one need not take more than it had to.
bool bb_glob_match(const char *pattern, const char *text)
{
    const char *star = NULL, *taken = NULL; // the last *, and how far it reaches
    while (*text) {
        if (*pattern == '*') {
            star = pattern++;
            taken = text;
        } else if (*pattern == '?') {
            pattern++;
            text = next_letter(text);
        } else if (*pattern == *text) {
            pattern++;
            text++;
        } else if (star) {
            pattern = star + 1;
            text = ++taken;
        } else {
            return false;
        }
    }
    while (*pattern == '*')
        pattern++;
    return *pattern == '\0';
}
