// SPDX-License-Identifier: Apache-2.0
// The words of an unfolded mail header, with its comments as units of their own (RFC 5322, 3.2.2).
// Comments nest; one that is never closed, or nests deeper than BB_MAIL_NESTING, is none: its
// parenthesis is passed over like white space, so that it hides nothing of what follows.
#pragma once

#include <glib.h>
#include <stdbool.h>

#define BB_MAIL_NESTING 16

typedef struct BbMailWord {
    const char *text; // in the header; not ended by NUL
    gsize length;
    bool comment; // what stands between its parentheses
} BbMailWord;

typedef struct BbMailWords {
    const char *at, *end;
} BbMailWords;

static inline BbMailWords bb_mail_words(const char *text, gsize length)
{
    return (BbMailWords){.at = text, .end = text + length};
}

// Takes the next word or comment. A semicolon is a word. Returns false at the end. To read the
// words of a comment, begin anew with its text.
bool bb_mail_words_next(BbMailWords *words, BbMailWord *word);

// Whether it is this word, in letters of any case; a comment is never.
bool bb_mail_word_is(const BbMailWord *word, const char *text);
