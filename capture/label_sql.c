// SPDX-License-Identifier: Apache-2.0
// In: the text of a statement in any dialect, possibly cut. Out: its verb and the table that it is
// about. Only words are read, there is no grammar: what cannot be told gives the verb alone.
#include "capture/label.h"

#include <stdbool.h>
#include <string.h>

#define SCAN_MAX 4096u // bytes of a statement that are looked at
#define VERB_MAX 24u   // bytes of a verb that is not in the table
#define NAME_PARTS 4u  // server.database.schema.table

// ---- words ------------------------------------------------------------------------------------

typedef enum { TOKEN_END, TOKEN_WORD, TOKEN_QUOTED, TOKEN_VALUE, TOKEN_SYMBOL } TokenKind;

typedef struct Token {
    TokenKind kind;
    guint8 symbol;      // TOKEN_SYMBOL
    const guint8 *text; // WORD, QUOTED: without the quotes
    gsize length;
} Token;

typedef struct Lexer {
    const guint8 *at, *end;
    gint depth; // of parentheses, the last token included
} Lexer;

static bool is_word_start(guint8 byte)
{
    return g_ascii_isalpha(byte) || byte == '_' || byte == '@' || byte >= 0x80;
}

static bool is_word_byte(guint8 byte)
{
    return is_word_start(byte) || g_ascii_isdigit(byte) || byte == '$' || byte == '#';
}

static guint8 peek(const Lexer *lexer, gsize ahead)
{
    return ahead < (gsize)(lexer->end - lexer->at) ? lexer->at[ahead] : 0;
}

static void skip_line(Lexer *lexer)
{
    const guint8 *newline = memchr(lexer->at, '\n', (gsize)(lexer->end - lexer->at));
    lexer->at = newline ? newline + 1 : lexer->end;
}

// Comments nest in PostgreSQL and SQL Server but not in MySQL: where the nesting does not add up,
// the first end counts.
static void skip_comment(Lexer *lexer)
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
static void enter_conditional(Lexer *lexer)
{
    lexer->at += 3;
    while (g_ascii_isdigit(peek(lexer, 0)))
        lexer->at++;
}

// `#` begins a comment in MySQL; in PostgreSQL `#>`, `#>>` and `#-` are operators.
static bool is_hash_comment(const Lexer *lexer)
{
    guint8 next = peek(lexer, 1);
    return peek(lexer, 0) == '#' && next != '>' && next != '-';
}

static void skip_blank(Lexer *lexer)
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
static bool ends_after_backslash(const Lexer *lexer)
{
    guint8 after = peek(lexer, 1);
    return after <= ' ' || strchr(",;)|:=<>+", after) != NULL;
}

// Takes a text up to its closing quote; a doubled quote stands for one.
static Token take_quoted(Lexer *lexer, guint8 close, bool backslash_escapes)
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
    Token token = {
        .kind = close == '\'' ? TOKEN_VALUE : TOKEN_QUOTED,
        .text = start,
        .length = (gsize)(lexer->at - start),
    };
    if (lexer->at < lexer->end)
        lexer->at++;
    return token;
}

// PostgreSQL: $tag$ text $tag$. Anything else that begins with `$` is a parameter.
static Token take_dollar(Lexer *lexer)
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
    return (Token){.kind = TOKEN_VALUE};
}

static Token take_symbol(Lexer *lexer)
{
    guint8 symbol = *lexer->at++;
    if (symbol == '(')
        lexer->depth++;
    else if (symbol == ')')
        lexer->depth--;
    return (Token){.kind = TOKEN_SYMBOL, .symbol = symbol};
}

static Token take_word(Lexer *lexer)
{
    const guint8 *start = lexer->at;
    while (lexer->at < lexer->end && is_word_byte(*lexer->at))
        lexer->at++;
    gsize length = (gsize)(lexer->at - start);
    if (length == 1 && peek(lexer, 0) == '\'') // E'...', N'...', X'...'
        return take_quoted(lexer, '\'', (start[0] | 0x20) == 'e');
    return (Token){.kind = TOKEN_WORD, .text = start, .length = length};
}

static Token next_token(Lexer *lexer)
{
    skip_blank(lexer);
    if (lexer->at >= lexer->end)
        return (Token){.kind = TOKEN_END};
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
    return (Token){.kind = TOKEN_VALUE};
}

static bool is_word(const Token *token, const char *word)
{
    return token->kind == TOKEN_WORD && token->length == strlen(word) &&
           g_ascii_strncasecmp((const char *)token->text, word, token->length) == 0;
}

static bool is_symbol(const Token *token, guint8 symbol)
{
    return token->kind == TOKEN_SYMBOL && token->symbol == symbol;
}

static bool is_one_of(const Token *token, const char *const *words)
{
    for (; *words; words++)
        if (is_word(token, *words))
            return true;
    return false;
}

// ---- names ------------------------------------------------------------------------------------

// server.database.schema.table; the last two parts are kept, the default schemas are not.
typedef struct TableName {
    Token schema, table;
} TableName;

static bool is_default_schema(const Token *schema)
{
    Token word = *schema;
    word.kind = TOKEN_WORD;
    return is_word(&word, "public") || is_word(&word, "dbo");
}

// Takes a name that begins with first.
static bool take_name(Lexer *lexer, Token first, TableName *name)
{
    *name = (TableName){0};
    for (guint parts = 0; parts < NAME_PARTS; parts++) {
        if (is_symbol(&first, '[')) {
            lexer->at--;
            first = take_quoted(lexer, ']', false);
        }
        if ((first.kind != TOKEN_WORD && first.kind != TOKEN_QUOTED) || !first.length)
            break;
        name->schema = name->table;
        name->table = first;
        Lexer ahead = *lexer;
        first = next_token(&ahead);
        if (!is_symbol(&first, '.'))
            break;
        *lexer = ahead;
        first = next_token(lexer);
    }
    if (is_default_schema(&name->schema))
        name->schema.length = 0;
    return name->table.length > 0;
}

// ---- tables -----------------------------------------------------------------------------------

static bool take_table(Lexer *lexer, TableName *name);

// The table of a SELECT: after the first FROM of its own depth (not that of EXTRACT(x FROM y), nor
// of IS DISTINCT FROM).
static bool take_from(Lexer *lexer, const char *keyword, TableName *name)
{
    gint depth = lexer->depth;
    bool after_distinct = false;
    for (;;) {
        Token token = next_token(lexer);
        if (token.kind == TOKEN_END || lexer->depth < depth ||
            (is_symbol(&token, ';') && lexer->depth == depth))
            return false;
        if (lexer->depth == depth && is_word(&token, keyword) && !after_distinct)
            return take_table(lexer, name);
        after_distinct = is_word(&token, "DISTINCT");
    }
}

// What stands where a table can: a name, a list in parentheses, or a SELECT of its own.
static bool take_table(Lexer *lexer, TableName *name)
{
    static const char *const before[] = {"ONLY", "LATERAL", "TABLE", NULL};
    for (;;) {
        Token token = next_token(lexer);
        if (is_word(&token, "SELECT"))
            return take_from(lexer, "FROM", name);
        if (is_word(&token, "VALUES"))
            return false;
        if (!is_symbol(&token, '(') && !is_one_of(&token, before))
            return take_name(lexer, token, name);
    }
}

// The table of an INSERT, UPDATE, ...: the first name behind the words that may stand before it.
static bool take_target(Lexer *lexer, TableName *name)
{
    static const char *const before[] = {
        "INTO",          "TABLE",     "ONLY",     "OR",      "LOW_PRIORITY",
        "HIGH_PRIORITY", "DELAYED",   "QUICK",    "ABORT",   "IGNORE",
        "FAIL",          "FORMAT",    "ROLLBACK", "REPLACE", "CONCURRENTLY",
        "DATA",          "IF",        "EXISTS",   "NOT",     "VIEW",
        "MATERIALIZED",  "OVERWRITE", NULL};
    for (;;) {
        Lexer start = *lexer;
        Token token = next_token(lexer);
        if (is_symbol(&token, '(')) { // COPY (SELECT ...)
            *lexer = start;
            return take_table(lexer, name);
        }
        if (!is_one_of(&token, before))
            return take_name(lexer, token, name);
    }
}

// ---- the label --------------------------------------------------------------------------------

typedef struct Label {
    char *out; // BB_LABEL_MAX + 1 bytes
    gsize length;
    bool cut;
} Label;

static void append(Label *label, const char *text, gsize length)
{
    if (label->cut)
        return;
    if (length <= BB_LABEL_MAX - label->length) {
        memcpy(label->out + label->length, text, length);
        label->length += length;
        return;
    }
    label->cut = true;
    gsize room = BB_LABEL_MAX - 1 - label->length;
    memcpy(label->out + label->length, text, MIN(room, length));
    label->length = BB_LABEL_MAX - 1;
    while (label->length && ((guint8)label->out[label->length] & 0xc0) == 0x80)
        label->length--; // not inside of a character
    label->out[label->length++] = '*';
}

static guint digit_runs(const guint8 *text, gsize length)
{
    guint runs = 0;
    for (gsize i = 0; i < length; i++)
        runs += g_ascii_isdigit(text[i]) && (i == 0 || !g_ascii_isdigit(text[i - 1]));
    return runs;
}

// One piece of a name between underscores: numbers (shards, dates) become `*`, and so does the
// whole where digits are mixed among letters (hashes).
static void append_piece(Label *label, const guint8 *text, gsize length)
{
    if (digit_runs(text, length) > 1) {
        append(label, "*", 1);
        return;
    }
    for (gsize i = 0; i < length;) {
        gunichar letter = g_utf8_get_char_validated((const char *)text + i, (gssize)(length - i));
        gsize bytes = 1;
        if (letter < 0x80 ? !g_ascii_isdigit(text[i]) && g_ascii_isprint(text[i])
                          : letter < (gunichar)-2 && g_unichar_isprint(letter)) {
            bytes = (gsize)(g_utf8_next_char(text + i) - (text + i));
            append(label, (const char *)text + i, bytes);
        } else if (i == 0 || !g_ascii_isdigit(text[i]) || !g_ascii_isdigit(text[i - 1])) {
            append(label, "*", 1);
        }
        i += bytes;
    }
}

static void append_part(Label *label, const Token *part)
{
    for (gsize i = 0; i < part->length;) {
        const guint8 *underscore = memchr(part->text + i, '_', part->length - i);
        gsize end = underscore ? (gsize)(underscore - part->text) : part->length;
        append_piece(label, part->text + i, end - i);
        if (underscore)
            append(label, "_", 1);
        i = end + 1;
    }
}

static void append_name(Label *label, const TableName *name)
{
    append(label, " ", 1);
    if (name->schema.length) {
        append_part(label, &name->schema);
        append(label, ".", 1);
    }
    append_part(label, &name->table);
}

static void append_word(Label *label, const char *word)
{
    if (label->length)
        append(label, " ", 1);
    append(label, word, strlen(word));
}

// ---- verbs ------------------------------------------------------------------------------------

// CREATE, DROP, ALTER: the kind of thing, and its name where names are few.
static void label_object(Label *label, Lexer *lexer)
{
    static const struct {
        const char *word;
        bool named;
    } kinds[] = {
        {"TABLE", true},   {"VIEW", true},      {"INDEX", true},      {"SEQUENCE", true},
        {"TYPE", true},    {"FUNCTION", true},  {"TRIGGER", true},    {"PROCEDURE", true},
        {"USER", false},   {"DATABASE", false}, {"ROLE", false},      {"EXTENSION", false},
        {"SCHEMA", false}, {"POLICY", false},   {"RULE", false},      {"PUBLICATION", false},
        {"SERVER", false}, {"DOMAIN", false},   {"EVENT", false},     {"SUBSCRIPTION", false},
        {"CAST", false},   {"OPERATOR", false}, {"COLLATION", false}, {"AGGREGATE", false},
    };
    for (Token token = next_token(lexer); token.kind == TOKEN_WORD; token = next_token(lexer)) {
        for (guint i = 0; i < G_N_ELEMENTS(kinds); i++) {
            if (!is_word(&token, kinds[i].word))
                continue;
            append_word(label, kinds[i].word);
            TableName name;
            if (kinds[i].named && take_target(lexer, &name))
                append_name(label, &name);
            return;
        }
    }
}

static void label_from(Label *label, Lexer *lexer)
{
    TableName name;
    if (take_from(lexer, "FROM", &name))
        append_name(label, &name);
}

static void label_into(Label *label, Lexer *lexer)
{
    TableName name;
    if (take_from(lexer, "INTO", &name))
        append_name(label, &name);
}

static void label_target(Label *label, Lexer *lexer)
{
    TableName name;
    if (take_target(lexer, &name))
        append_name(label, &name);
}

static void label_with(Label *label, Lexer *lexer);

static const struct {
    const char *word;
    void (*rest)(Label *label, Lexer *lexer); // NULL: the verb stands alone
} verbs[] = {
    {"SELECT", label_from},
    {"INSERT", label_target},
    {"UPDATE", label_target},
    {"DELETE", label_from},
    {"WITH", label_with},
    {"BEGIN", NULL},
    {"COMMIT", NULL},
    {"ROLLBACK", NULL},
    {"SET", NULL},
    {"SHOW", NULL},
    {"REPLACE", label_target},
    {"MERGE", label_target},
    {"COPY", label_target},
    {"CALL", label_target},
    {"EXEC", label_target},
    {"TABLE", label_target},
    {"TRUNCATE", label_target},
    {"LOCK", label_target},
    {"CREATE", label_object},
    {"DROP", label_object},
    {"ALTER", label_object},
    {"DESCRIBE", label_target},
    {"DESC", label_target},
    {"REFRESH", label_target},
    {"LOAD", label_into},
};

// The verb behind the common table expressions, which are all in parentheses.
static void label_with(Label *label, Lexer *lexer)
{
    static const char *const main_verbs[] = {"SELECT", "INSERT", "UPDATE", "DELETE", "MERGE", NULL};
    for (;;) {
        Token token = next_token(lexer);
        if (token.kind == TOKEN_END)
            return;
        if (lexer->depth != 0 || !is_one_of(&token, main_verbs))
            continue;
        for (guint i = 0; i < G_N_ELEMENTS(verbs); i++) {
            if (!is_word(&token, verbs[i].word))
                continue;
            label->length = 0;
            append_word(label, verbs[i].word);
            verbs[i].rest(label, lexer);
            return;
        }
    }
}

// A verb that is not in the table: its letters, or `*` where it is no word at all.
static void label_other(Label *label, const Token *verb)
{
    char word[VERB_MAX + 1];
    if (verb->length > VERB_MAX) {
        append(label, "*", 1);
        return;
    }
    for (gsize i = 0; i < verb->length; i++) {
        if (!g_ascii_isalpha(verb->text[i]) && verb->text[i] != '_') {
            append(label, "*", 1);
            return;
        }
        word[i] = g_ascii_toupper((char)verb->text[i]);
    }
    append(label, word, verb->length);
}

static void label_statement(Label *label, Lexer *lexer)
{
    Token verb;
    do // opening parentheses, JDBC's {call ...}
        verb = next_token(lexer);
    while (verb.kind != TOKEN_WORD && verb.kind != TOKEN_END);
    if (verb.kind == TOKEN_END)
        return;
    lexer->depth = 0;
    for (guint i = 0; i < G_N_ELEMENTS(verbs); i++) {
        if (!is_word(&verb, verbs[i].word))
            continue;
        append_word(label, verbs[i].word);
        if (verbs[i].rest)
            verbs[i].rest(label, lexer);
        return;
    }
    label_other(label, &verb);
}

gsize bb_label_sql(char *out, const guint8 *sql, gsize length)
{
    const guint8 *nul = length ? memchr(sql, 0, MIN(length, SCAN_MAX)) : NULL;
    Lexer lexer = {.at = sql, .end = nul ? nul : sql + MIN(length, SCAN_MAX)};
    Label label = {.out = out};
    label_statement(&label, &lexer);
    out[label.length] = '\0';
    return label.length;
}
