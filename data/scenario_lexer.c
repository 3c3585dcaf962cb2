// SPDX-License-Identifier: Apache-2.0
// In: the text of a scenario, settings from outside. Out: its words, each with its line.
#include "data/scenario_lexer.h"

#include <math.h>
#include <string.h>

// What a parameter stands for.
typedef struct Setting {
    char *name;
    GArray *tokens; // of BbToken
    bool outside;   // given, not set by the scenario
    bool known;     // the scenario sets it
} Setting;

typedef struct Lexer {
    const char *at, *end, *file;
    guint line;
    BbTokens *tokens;
    GPtrArray *settings; // of Setting
    GError **error;
} Lexer;

static bool refuse(Lexer *lexer, const char *format, ...) G_GNUC_PRINTF(2, 3);

static bool refuse(Lexer *lexer, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    g_autofree char *reason = g_strdup_vprintf(format, args);
    va_end(args);
    g_set_error(lexer->error, BB_SCENARIO_ERROR, BB_SCENARIO_ERROR_TEXT, "%s:%u: %s", lexer->file,
                lexer->line, reason);
    return false;
}

static char peek(const Lexer *lexer, gsize ahead)
{
    return (gsize)(lexer->end - lexer->at) > ahead ? lexer->at[ahead] : '\0';
}

static bool is_word(char c)
{
    return g_ascii_isalnum(c) || c == '_' || (guchar)c >= 0x80;
}

// `-` and `.` are part of a name between letters: "front-end.a", not "a->b" or "WS1..WS8".
static gsize name_length(const Lexer *lexer)
{
    gsize length = 0;
    while (is_word(peek(lexer, length)) ||
           (length > 0 && (peek(lexer, length) == '-' || peek(lexer, length) == '.') &&
            is_word(peek(lexer, length + 1))))
        length++;
    return length;
}

static bool put(Lexer *lexer, GArray *out, BbTokenKind kind, const char *text, gsize length,
                double value)
{
    if (lexer->tokens->list->len + out->len >= BB_SCENARIO_TOKENS_MAX)
        return refuse(lexer, "more than %u words: make it shorter, or several scenarios of it",
                      BB_SCENARIO_TOKENS_MAX);
    BbToken token = {
        .kind = kind,
        .line = lexer->line,
        .value = value,
        .text = g_string_chunk_insert_len(lexer->tokens->chunk, text, (gssize)length),
    };
    g_array_append_val(out, token);
    return true;
}

static bool take_number(Lexer *lexer, GArray *out)
{
    gsize length = 0;
    while (g_ascii_isdigit(peek(lexer, length)) ||
           (peek(lexer, length) == '.' && g_ascii_isdigit(peek(lexer, length + 1))))
        length++;
    g_autofree char *digits = g_strndup(lexer->at, length);
    char *end = NULL;
    double value = g_ascii_strtod(digits, &end);
    if (*end || length > 30)
        return refuse(lexer, "%s is no number: write one as 20 or 0.5", digits);
    lexer->at += length;
    gsize unit = 0;
    if (peek(lexer, 0) == '%')
        unit = 1;
    else if (peek(lexer, 0) == '/' || g_ascii_isalpha(peek(lexer, 0)))
        for (unit = 1; g_ascii_isalpha(peek(lexer, unit));)
            unit++;
    bool good = put(lexer, out, BB_TOKEN_NUMBER, lexer->at, unit, value);
    lexer->at += unit;
    return good;
}

static bool take_string(Lexer *lexer, GArray *out)
{
    const char *from = ++lexer->at;
    while (lexer->at < lexer->end && *lexer->at != '"' && *lexer->at != '\n')
        lexer->at++;
    if (peek(lexer, 0) != '"')
        return refuse(lexer, "a text does not end on its line: put a \" behind it");
    if (!g_utf8_validate(from, lexer->at - from, NULL))
        return refuse(lexer, "a text is not UTF-8: write it in UTF-8");
    return put(lexer, out, BB_TOKEN_STRING, from, (gsize)(lexer->at++ - from), 0);
}

static bool take_mark(Lexer *lexer, GArray *out)
{
    static const char *const marks[] = {"->", "~>", "..", "{", "}", ":", "=", "~", "+", ",", ";"};
    for (gsize i = 0; i < G_N_ELEMENTS(marks); i++) {
        gsize length = strlen(marks[i]);
        if (peek(lexer, 0) != marks[i][0] || (length > 1 && peek(lexer, 1) != marks[i][1]))
            continue;
        lexer->at += length;
        return put(lexer, out, BB_TOKEN_MARK, marks[i], length, 0);
    }
    if (g_ascii_isprint(peek(lexer, 0)))
        return refuse(lexer,
                      "'%c' means nothing here: remove it, or put quotes around a name "
                      "that holds it",
                      peek(lexer, 0));
    return refuse(lexer, "a byte of value %u means nothing here: remove it",
                  (guint)(guchar)*lexer->at);
}

// ---- parameters ---------------------------------------------------------------------------------

static void setting_free(gpointer data)
{
    Setting *setting = data;
    g_free(setting->name);
    g_array_unref(setting->tokens);
    g_free(setting);
}

static Setting *find_setting(const Lexer *lexer, const char *name)
{
    for (guint i = 0; i < lexer->settings->len; i++) {
        Setting *setting = g_ptr_array_index(lexer->settings, i);
        if (strcmp(setting->name, name) == 0)
            return setting;
    }
    return NULL;
}

static Setting *add_setting(Lexer *lexer, const char *name)
{
    Setting *setting = g_new0(Setting, 1);
    setting->name = g_strdup(name);
    setting->tokens = g_array_new(FALSE, FALSE, sizeof(BbToken));
    g_ptr_array_add(lexer->settings, setting);
    return setting;
}

static bool take_parameter(Lexer *lexer, GArray *out)
{
    lexer->at++;
    g_autofree char *name = g_strndup(lexer->at, name_length(lexer));
    Setting *setting = find_setting(lexer, name);
    if (!setting || !setting->known)
        return refuse(lexer, "$%s was not set: write `set %s VALUE` on a line above", name,
                      *name ? name : "NAME");
    lexer->at += strlen(name);
    if (lexer->tokens->list->len + out->len + setting->tokens->len >= BB_SCENARIO_TOKENS_MAX)
        return refuse(lexer, "more than %u words once $%s is put in: make it shorter",
                      BB_SCENARIO_TOKENS_MAX, name);
    for (guint i = 0; i < setting->tokens->len; i++) {
        BbToken token = g_array_index(setting->tokens, BbToken, i);
        token.line = lexer->line;
        g_array_append_val(out, token);
    }
    return true;
}

// The words up to the end of the line.
static bool take_line(Lexer *lexer, GArray *out)
{
    bool good = true;
    while (good && lexer->at < lexer->end && *lexer->at != '\n') {
        char c = *lexer->at;
        gsize length = 0;
        if (c == '#')
            while (lexer->at < lexer->end && *lexer->at != '\n')
                lexer->at++;
        else if (c == ' ' || c == '\t' || c == '\r')
            lexer->at++;
        else if (c == '$')
            good = take_parameter(lexer, out);
        else if (c == '"')
            good = take_string(lexer, out);
        else if (g_ascii_isdigit(c))
            good = take_number(lexer, out);
        else if ((length = name_length(lexer)) > 0) {
            if (!g_utf8_validate(lexer->at, (gssize)length, NULL))
                return refuse(lexer, "a name is not UTF-8: write it in UTF-8");
            good = put(lexer, out, BB_TOKEN_NAME, lexer->at, length, 0);
            lexer->at += length;
        } else
            good = take_mark(lexer, out);
    }
    return good;
}

static bool has_keyword(const Lexer *lexer, const char *word)
{
    gsize length = strlen(word);
    return (gsize)(lexer->end - lexer->at) > length && memcmp(lexer->at, word, length) == 0 &&
           (lexer->at[length] == ' ' || lexer->at[length] == '\t');
}

static void skip_blanks(Lexer *lexer)
{
    while (peek(lexer, 0) == ' ' || peek(lexer, 0) == '\t')
        lexer->at++;
}

// `set NAME VALUE`, at the start of a line. A setting from outside stands.
static bool take_set(Lexer *lexer)
{
    lexer->at += strlen("set");
    skip_blanks(lexer);
    g_autofree char *name = g_strndup(lexer->at, name_length(lexer));
    if (!*name || !g_ascii_isalpha(*name))
        return refuse(lexer, "set what? Write `set NAME VALUE`");
    lexer->at += strlen(name);
    Setting *setting = find_setting(lexer, name);
    if (setting && setting->known)
        return refuse(lexer, "$%s is set twice: remove one", name);
    if (!setting)
        setting = add_setting(lexer, name);
    g_autoptr(GArray) value = g_array_new(FALSE, FALSE, sizeof(BbToken));
    if (!take_line(lexer, value))
        return false;
    if (value->len == 0)
        return refuse(lexer, "$%s has no value: write `set %s VALUE`", name, name);
    setting->known = true;
    if (!setting->outside)
        g_array_append_vals(setting->tokens, value->data, value->len);
    return true;
}

static bool take_text(Lexer *lexer)
{
    while (lexer->at < lexer->end) {
        skip_blanks(lexer);
        bool good =
            has_keyword(lexer, "set") ? take_set(lexer) : take_line(lexer, lexer->tokens->list);
        if (!good)
            return false;
        if (lexer->at < lexer->end) {
            lexer->at++;
            lexer->line++;
        }
    }
    return put(lexer, lexer->tokens->list, BB_TOKEN_END, "", 0, 0);
}

// "name=value" from outside.
static bool take_setting(Lexer *lexer, const char *text)
{
    const char *equals = strchr(text, '=');
    if (!equals || equals == text || !equals[1] || strpbrk(text, "\n#$")) {
        g_set_error(lexer->error, BB_SCENARIO_ERROR, BB_SCENARIO_ERROR_SETTING,
                    "the setting '%s' is not NAME=VALUE", text);
        return false;
    }
    g_autofree char *name = g_strndup(text, (gsize)(equals - text));
    Setting *setting = find_setting(lexer, name);
    if (setting)
        g_array_set_size(setting->tokens, 0); // the last one counts
    else
        setting = add_setting(lexer, name);
    setting->outside = true;
    Lexer inner = *lexer;
    inner.at = equals + 1;
    inner.end = inner.at + strlen(inner.at);
    inner.file = "setting from outside";
    inner.line = 1;
    return take_line(&inner, setting->tokens);
}

static bool refuse_unknown_settings(Lexer *lexer)
{
    g_autoptr(GString) known = g_string_new(NULL);
    const char *unknown = NULL;
    for (guint i = 0; i < lexer->settings->len; i++) {
        const Setting *setting = g_ptr_array_index(lexer->settings, i);
        if (setting->known)
            g_string_append_printf(known, "%s%s", known->len ? ", " : "", setting->name);
        else if (!unknown)
            unknown = setting->name;
    }
    if (!unknown)
        return true;
    g_set_error(lexer->error, BB_SCENARIO_ERROR, BB_SCENARIO_ERROR_SETTING,
                "%s: nothing called '%s' is set there; what is: %s", lexer->file, unknown,
                known->len ? known->str : "nothing");
    return false;
}

BbTokens *bb_tokens_new(const char *text, gsize size, const char *file, const char *const *settings,
                        GError **error)
{
    g_autoptr(BbTokens) tokens = g_new0(BbTokens, 1);
    tokens->list = g_array_new(FALSE, FALSE, sizeof(BbToken));
    tokens->chunk = g_string_chunk_new(4096);
    g_autoptr(GPtrArray) known = g_ptr_array_new_with_free_func(setting_free);
    Lexer lexer = {text, text + size, file, 1, tokens, known, error};
    for (; settings && *settings; settings++)
        if (!take_setting(&lexer, *settings))
            return NULL;
    if (!take_text(&lexer) || !refuse_unknown_settings(&lexer))
        return NULL;
    return g_steal_pointer(&tokens);
}

void bb_tokens_free(BbTokens *tokens)
{
    if (!tokens)
        return;
    g_array_unref(tokens->list);
    g_string_chunk_free(tokens->chunk);
    g_free(tokens);
}
