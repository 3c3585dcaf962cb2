// SPDX-License-Identifier: Apache-2.0
// In: the text of a statement. Out: its tokens, one by one.
#include "capture/protocols/sql_lexer.h"

#include <string.h>

static bool is_word_start(guint8 byte)
{
    return g_ascii_isalpha(byte) || byte == '_' || byte == '@' || byte >= 0x80;
}

static bool is_word_byte(guint8 byte)
{
    return is_word_start(byte) || g_ascii_isdigit(byte) || byte == '$' || byte == '#';
}

static guint8 peek(const BbSqlLexer *lexer, gsize ahead)
{
    return ahead < (gsize)(lexer->end - lexer->at) ? lexer->at[ahead] : 0;
}

static void skip_line(BbSqlLexer *lexer)
{
    const guint8 *newline = memchr(lexer->at, '\n', (gsize)(lexer->end - lexer->at));
    lexer->at = newline ? newline + 1 : lexer->end;
}

// Comments nest in PostgreSQL and SQL Server but not in MySQL: where the nesting does not add up,
// the first end counts.
static void skip_comment(BbSqlLexer *lexer)
{
    const guint8 *first_end = NULL;
    guint nesting = 0;
    while (lexer->at < lexer->end) {
        guint8 byte = peek(lexer, 0), next = peek(lexer, 1);
        if (byte == '/' && next == '*') {
            nesting++;
            lexer->at += 2;
        } else if (byte == '*' && next == '/') {
            lexer->at += 2;
            if (!first_end)
                first_end = lexer->at;
            if (--nesting == 0)
                return;
        } else {
            lexer->at++;
        }
    }
    if (first_end)
        lexer->at = first_end;
}

// `/*!40101 ... */` is a comment to all but MySQL, which is who gets it: its inside is read.
static void enter_conditional(BbSqlLexer *lexer)
{
    lexer->at += 3;
    while (g_ascii_isdigit(peek(lexer, 0)))
        lexer->at++;
}

// `#` begins a comment in MySQL; in PostgreSQL `#>`, `#>>` and `#-` are operators.
static bool is_hash_comment(const BbSqlLexer *lexer)
{
    guint8 next = peek(lexer, 1);
    return peek(lexer, 0) == '#' && next != '>' && next != '-';
}

static void skip_blank(BbSqlLexer *lexer)
{
    while (lexer->at < lexer->end) {
        guint8 byte = peek(lexer, 0), next = peek(lexer, 1);
        if (byte <= ' ')
            lexer->at++;
        else if ((byte == '-' && next == '-') || is_hash_comment(lexer))
            skip_line(lexer);
        else if (byte == '/' && next == '*' && peek(lexer, 2) == '!')
            enter_conditional(lexer);
        else if (byte == '/' && next == '*')
            skip_comment(lexer);
        else
            return;
    }
}

// A quote after a backslash is an escaped one in MySQL and the end of the text in standard SQL. The
// end is followed by a separator.
static bool ends_after_backslash(const BbSqlLexer *lexer)
{
    guint8 after = peek(lexer, 1);
    return after <= ' ' || strchr(",;)|:=<>+", after) != NULL;
}

// Takes a text up to its closing quote; a doubled quote stands for one.
static BbSqlToken take_quoted(BbSqlLexer *lexer, guint8 close, bool backslash_escapes)
{
    const guint8 *start = ++lexer->at;
    while (lexer->at < lexer->end) {
        guint8 byte = *lexer->at, next = peek(lexer, 1);
        if (byte == '\\' && next == '\\' && close != ']') {
            lexer->at += 2;
        } else if (byte == '\\' && next == close && close != ']') {
            lexer->at++;
            if (!backslash_escapes && ends_after_backslash(lexer))
                break;
            lexer->at++;
        } else if (byte == close && next == close) {
            lexer->at += 2;
        } else if (byte == close) {
            break;
        } else {
            lexer->at++;
        }
    }
    lexer->at = MIN(lexer->at, lexer->end);
    BbSqlToken token = {
        .kind = close == '\'' ? BB_SQL_VALUE : BB_SQL_QUOTED,
        .text = start,
        .length = (gsize)(lexer->at - start),
    };
    if (lexer->at < lexer->end)
        lexer->at++;
    return token;
}

// PostgreSQL: $tag$ text $tag$. Anything else that begins with `$` is a parameter.
static BbSqlToken take_dollar(BbSqlLexer *lexer)
{
    const guint8 *start = lexer->at++;
    while (lexer->at < lexer->end && is_word_byte(*lexer->at) && *lexer->at != '$')
        lexer->at++;
    bool quotes = peek(lexer, 0) == '$' && !g_ascii_isdigit(start[1]);
    if (quotes) {
        gsize tag = (gsize)(lexer->at + 1 - start);
        lexer->at++;
        const guint8 *close = memmem(lexer->at, (gsize)(lexer->end - lexer->at), start, tag);
        lexer->at = close ? close + tag : lexer->end;
    }
    return (BbSqlToken){.kind = BB_SQL_VALUE};
}

static BbSqlToken take_symbol(BbSqlLexer *lexer)
{
    guint8 symbol = *lexer->at++;
    if (symbol == '(')
        lexer->depth++;
    else if (symbol == ')')
        lexer->depth--;
    return (BbSqlToken){.kind = BB_SQL_SYMBOL, .symbol = symbol};
}

static BbSqlToken take_word(BbSqlLexer *lexer)
{
    const guint8 *start = lexer->at;
    while (lexer->at < lexer->end && is_word_byte(*lexer->at))
        lexer->at++;
    gsize length = (gsize)(lexer->at - start);
    if (length == 1 && peek(lexer, 0) == '\'') // E'...', N'...', X'...'
        return take_quoted(lexer, '\'', (start[0] | 0x20) == 'e');
    return (BbSqlToken){.kind = BB_SQL_WORD, .text = start, .length = length};
}

BbSqlToken bb_sql_next(BbSqlLexer *lexer)
{
    skip_blank(lexer);
    if (lexer->at >= lexer->end)
        return (BbSqlToken){.kind = BB_SQL_END};
    guint8 byte = *lexer->at;
    if (is_word_start(byte))
        return take_word(lexer);
    if (byte == '\'' || byte == '"' || byte == '`')
        return take_quoted(lexer, byte, false);
    if (byte == '$')
        return take_dollar(lexer);
    if (!g_ascii_isdigit(byte))
        return take_symbol(lexer);
    while (lexer->at < lexer->end && (is_word_byte(*lexer->at) || *lexer->at == '.'))
        lexer->at++;
    return (BbSqlToken){.kind = BB_SQL_VALUE};
}

BbSqlToken bb_sql_bracketed(BbSqlLexer *lexer)
{
    lexer->at--; // take_quoted expects the opening quote
    return take_quoted(lexer, ']', false);
}

bool bb_sql_is_word(const BbSqlToken *token, const char *word)
{
    if (token->kind != BB_SQL_WORD || !token->length || ((token->text[0] ^ word[0]) & ~0x20))
        return false; // nearly always
    return token->length == strlen(word) &&
           g_ascii_strncasecmp((const char *)token->text, word, token->length) == 0;
}

bool bb_sql_is_symbol(const BbSqlToken *token, guint8 symbol)
{
    return token->kind == BB_SQL_SYMBOL && token->symbol == symbol;
}

bool bb_sql_is_one_of(const BbSqlToken *token, const char *const *words)
{
    for (; *words; words++)
        if (bb_sql_is_word(token, *words))
            return true;
    return false;
}
