// SPDX-License-Identifier: Apache-2.0
// In: the text of a statement in any dialect, possibly cut. Out: its verb and the table that it is
// about. Only words are read, there is no grammar: what cannot be told gives the verb alone.
#include "capture/protocols/label.h"

#include "capture/protocols/sql_lexer.h"

#include <string.h>

#define SCAN_MAX 4096u // bytes of a statement that are looked at
#define VERB_MAX 24u   // bytes of a verb that is not in the table
#define NAME_PARTS 4u  // server.database.schema.table

// ---- names ------------------------------------------------------------------------------------

// server.database.schema.table; the last two parts are kept, the default schemas are not.
typedef struct TableName {
    BbSqlToken schema, table;
} TableName;

static bool is_default_schema(const BbSqlToken *schema)
{
    BbSqlToken word = *schema;
    word.kind = BB_SQL_WORD;
    return bb_sql_is_word(&word, "public") || bb_sql_is_word(&word, "dbo");
}

// Takes a name that begins with first.
static bool take_name(BbSqlLexer *lexer, BbSqlToken first, TableName *name)
{
    *name = (TableName){0};
    for (guint parts = 0; parts < NAME_PARTS; parts++) {
        if (bb_sql_is_symbol(&first, '[')) {
            first = bb_sql_bracketed(lexer);
        }
        if ((first.kind != BB_SQL_WORD && first.kind != BB_SQL_QUOTED) || !first.length)
            break;
        name->schema = name->table;
        name->table = first;
        BbSqlLexer ahead = *lexer;
        first = bb_sql_next(&ahead);
        if (!bb_sql_is_symbol(&first, '.'))
            break;
        *lexer = ahead;
        first = bb_sql_next(lexer);
    }
    if (is_default_schema(&name->schema))
        name->schema.length = 0;
    return name->table.length > 0;
}

// ---- tables -----------------------------------------------------------------------------------

static bool take_table(BbSqlLexer *lexer, TableName *name);

// The table of a SELECT: after the first FROM of its own depth (not that of EXTRACT(x FROM y), nor
// of IS DISTINCT FROM).
static bool take_from(BbSqlLexer *lexer, const char *keyword, TableName *name)
{
    gint depth = lexer->depth;
    bool after_distinct = false;
    for (;;) {
        BbSqlToken token = bb_sql_next(lexer);
        if (token.kind == BB_SQL_END || lexer->depth < depth ||
            (bb_sql_is_symbol(&token, ';') && lexer->depth == depth))
            return false;
        if (lexer->depth == depth && bb_sql_is_word(&token, keyword) && !after_distinct)
            return take_table(lexer, name);
        after_distinct = bb_sql_is_word(&token, "DISTINCT");
    }
}

// What stands where a table can: a name, a list in parentheses, or a SELECT of its own.
static bool take_table(BbSqlLexer *lexer, TableName *name)
{
    static const char *const before[] = {"ONLY", "LATERAL", "TABLE", NULL};
    for (;;) {
        BbSqlToken token = bb_sql_next(lexer);
        if (bb_sql_is_word(&token, "SELECT"))
            return take_from(lexer, "FROM", name);
        if (bb_sql_is_word(&token, "VALUES"))
            return false;
        if (!bb_sql_is_symbol(&token, '(') && !bb_sql_is_one_of(&token, before))
            return take_name(lexer, token, name);
    }
}

// The table of an INSERT, UPDATE, ...: the first name behind the words that may stand before it.
static bool take_target(BbSqlLexer *lexer, TableName *name)
{
    static const char *const before[] = {
        "INTO",          "TABLE",     "ONLY",     "OR",      "LOW_PRIORITY",
        "HIGH_PRIORITY", "DELAYED",   "QUICK",    "ABORT",   "IGNORE",
        "FAIL",          "FORMAT",    "ROLLBACK", "REPLACE", "CONCURRENTLY",
        "DATA",          "IF",        "EXISTS",   "NOT",     "VIEW",
        "MATERIALIZED",  "OVERWRITE", NULL};
    for (;;) {
        BbSqlLexer start = *lexer;
        BbSqlToken token = bb_sql_next(lexer);
        if (bb_sql_is_symbol(&token, '(')) { // COPY (SELECT ...)
            *lexer = start;
            return take_table(lexer, name);
        }
        if (!bb_sql_is_one_of(&token, before))
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
    const gsize end = BB_LABEL_MAX - 1; // where the `*` goes
    if (label->length <= end)
        memcpy(label->out + label->length, text, end - label->length + 1);
    label->length = end;
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
            bytes = (gsize)g_unichar_to_utf8(letter, NULL);
            append(label, (const char *)text + i, bytes);
        } else if (i == 0 || !g_ascii_isdigit(text[i]) || !g_ascii_isdigit(text[i - 1])) {
            append(label, "*", 1);
        }
        i += bytes;
    }
}

static void append_part(Label *label, const BbSqlToken *part)
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
static void label_object(Label *label, BbSqlLexer *lexer)
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
    for (BbSqlToken token = bb_sql_next(lexer); token.kind == BB_SQL_WORD;
         token = bb_sql_next(lexer)) {
        for (guint i = 0; i < G_N_ELEMENTS(kinds); i++) {
            if (!bb_sql_is_word(&token, kinds[i].word))
                continue;
            append_word(label, kinds[i].word);
            TableName name;
            if (kinds[i].named && take_target(lexer, &name))
                append_name(label, &name);
            return;
        }
    }
}

static void label_from(Label *label, BbSqlLexer *lexer)
{
    TableName name;
    if (take_from(lexer, "FROM", &name))
        append_name(label, &name);
}

static void label_into(Label *label, BbSqlLexer *lexer)
{
    TableName name;
    if (take_from(lexer, "INTO", &name))
        append_name(label, &name);
}

static void label_target(Label *label, BbSqlLexer *lexer)
{
    TableName name;
    if (take_target(lexer, &name))
        append_name(label, &name);
}

static void label_with(Label *label, BbSqlLexer *lexer);

static const struct {
    const char *word;
    void (*rest)(Label *label, BbSqlLexer *lexer); // NULL: the verb stands alone
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
static void label_with(Label *label, BbSqlLexer *lexer)
{
    static const char *const main_verbs[] = {"SELECT", "INSERT", "UPDATE", "DELETE", "MERGE", NULL};
    for (;;) {
        BbSqlToken token = bb_sql_next(lexer);
        if (token.kind == BB_SQL_END)
            return;
        if (lexer->depth != 0 || !bb_sql_is_one_of(&token, main_verbs))
            continue;
        for (guint i = 0; i < G_N_ELEMENTS(verbs); i++) {
            if (!bb_sql_is_word(&token, verbs[i].word))
                continue;
            label->length = 0;
            append_word(label, verbs[i].word);
            verbs[i].rest(label, lexer);
            return;
        }
    }
}

// A verb that is not in the table: its letters, or `*` where it is no word at all.
static void label_other(Label *label, const BbSqlToken *verb)
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

static void label_statement(Label *label, BbSqlLexer *lexer)
{
    BbSqlToken verb;
    do // opening parentheses, JDBC's {call ...}
        verb = bb_sql_next(lexer);
    while (verb.kind != BB_SQL_WORD && verb.kind != BB_SQL_END);
    if (verb.kind == BB_SQL_END)
        return;
    lexer->depth = 0;
    for (guint i = 0; i < G_N_ELEMENTS(verbs); i++) {
        if (!bb_sql_is_word(&verb, verbs[i].word))
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
    if (length == 0)
        sql = (const guint8 *)""; // sql may be NULL then
    const guint8 *nul = memchr(sql, 0, MIN(length, SCAN_MAX));
    BbSqlLexer lexer = {.at = sql, .end = nul ? nul : sql + MIN(length, SCAN_MAX)};
    Label label = {.out = out};
    label_statement(&label, &lexer);
    out[label.length] = '\0';
    return label.length;
}
