// SPDX-License-Identifier: Apache-2.0
// In: an unfolded mail header. Out: its words and comments, one after the other.
#include "merge/mail_words.h"

#include <string.h>

static bool is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

// Returns where the comment that begins at open ends, NULL if it is none. That is found within
// BB_MAIL_NESTING visits of each byte, whatever the header.
static const char *comment_end(const char *open, const char *end)
{
    guint depth = 0;
    for (const char *at = open; at < end; at++) {
        if (*at == '\\')
            at++;
        else if (*at == '(' && ++depth > BB_MAIL_NESTING)
            return NULL;
        else if (*at == ')' && --depth == 0)
            return at;
    }
    return NULL;
}

static bool is_word_end(char c)
{
    return is_space(c) || c == '(' || c == ')' || c == ';';
}

bool bb_mail_words_next(BbMailWords *words, BbMailWord *word)
{
    for (; words->at < words->end; words->at++) {
        if (*words->at == '(') {
            const char *close = comment_end(words->at, words->end);
            if (!close)
                continue;
            *word = (BbMailWord){words->at + 1, (gsize)(close - words->at) - 1, true};
            words->at = close + 1;
            return true;
        }
        if (!is_space(*words->at) && *words->at != ')')
            break;
    }
    if (words->at >= words->end)
        return false;
    // A backslash takes the next byte with it, as in comments; else both would disagree on where
    // comments begin, and finding their ends would take the square of the length.
    const char *from = words->at;
    do
        words->at += *words->at == '\\' && words->end - words->at > 1 ? 2 : 1;
    while (*from != ';' && words->at < words->end && !is_word_end(*words->at));
    *word = (BbMailWord){from, (gsize)(words->at - from), false};
    return true;
}

bool bb_mail_word_is(const BbMailWord *word, const char *text)
{
    gsize length = strlen(text);
    return !word->comment && word->length == length &&
           g_ascii_strncasecmp(word->text, text, length) == 0;
}
