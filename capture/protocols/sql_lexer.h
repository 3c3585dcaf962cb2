// SPDX-License-Identifier: Apache-2.0
// Words, quoted names and signs of SQL in any dialect: enough to find a table's name, not to
// understand a statement. Never fails; what is odd becomes a sign.
#pragma once

#include <glib.h>
#include <stdbool.h>

typedef enum {
    BB_SQL_END,
    BB_SQL_WORD,
    BB_SQL_QUOTED, // "a b" `a`
    BB_SQL_VALUE,  // number, text, parameter
    BB_SQL_SYMBOL,
} BbSqlTokenKind;

// Lent: points into the text.
typedef struct BbSqlToken {
    BbSqlTokenKind kind;
    guint8 symbol;      // BB_SQL_SYMBOL
    const guint8 *text; // WORD, QUOTED: without the quotes
    gsize length;
} BbSqlToken;

// Copy it to look ahead.
typedef struct BbSqlLexer {
    const guint8 *at, *end;
    gint depth; // of parentheses, the last token included
} BbSqlLexer;

// Takes the next token; blanks and comments before it are skipped.
BbSqlToken bb_sql_next(BbSqlLexer *lexer);
// Takes the rest of a [name] whose bracket was the last token.
BbSqlToken bb_sql_bracketed(BbSqlLexer *lexer);

// Keywords are compared without regard to case; a quoted name is never one.
bool bb_sql_is_word(const BbSqlToken *token, const char *word);
bool bb_sql_is_one_of(const BbSqlToken *token, const char *const *words); // NULL-terminated
bool bb_sql_is_symbol(const BbSqlToken *token, guint8 symbol);
