// SPDX-License-Identifier: Apache-2.0
// In: the text of a trigger. Out: what it waits for, or where the text is wrong.
#include "diagnose/trigger_rule.h"

#include <math.h>
#include <string.h>

typedef struct {
    const char *text, *at;
    GError **error;
} Parser;

static bool refuse(const Parser *parser, const char *expected)
{
    gsize place = (gsize)(parser->at - parser->text) + 1;
    if (*parser->at)
        g_set_error(parser->error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE,
                    "trigger '%s': character %" G_GSIZE_FORMAT ", at '%.12s': expected %s",
                    parser->text, place, parser->at, expected);
    else
        g_set_error(parser->error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE,
                    "trigger '%s': at its end: expected %s", parser->text, expected);
    return false;
}

static void skip_space(Parser *parser)
{
    while (g_ascii_isspace(*parser->at))
        parser->at++;
}

// A word, unless it is only the begin of a longer one.
static bool take_word(Parser *parser, const char *word)
{
    gsize length = strlen(word);
    skip_space(parser);
    if (strncmp(parser->at, word, length) != 0 ||
        (g_ascii_isalnum(word[length - 1]) && g_ascii_isalnum(parser->at[length])))
        return false;
    parser->at += length;
    return true;
}

// A number with decimals and nothing else: no sign, no exponent.
static bool take_number(Parser *parser, double *value)
{
    skip_space(parser);
    gsize length = strspn(parser->at, "0123456789.");
    if (!g_ascii_isdigit(parser->at[0]) || length > 20)
        return false;
    g_autofree char *digits = g_strndup(parser->at, length);
    char *end = NULL;
    *value = g_ascii_strtod(digits, &end);
    if (*end)
        return false;
    parser->at += length;
    return true;
}

static bool take_duration(Parser *parser, gint64 least_ns, const char *what, gint64 *ns)
{
    static const struct {
        const char *word;
        double ns;
    } units[] = {{"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}, {"min", 60e9}, {"h", 3600e9}};
    double value = 0;
    skip_space(parser);
    const char *begin = parser->at;
    if (!take_number(parser, &value))
        return refuse(parser, what);
    for (gsize i = 0; i < G_N_ELEMENTS(units); i++) {
        if (!take_word(parser, units[i].word))
            continue;
        double exact = value * units[i].ns;
        if (exact < (double)least_ns || exact > (double)BB_TRIGGER_TIME_MAX) {
            parser->at = begin;
            return refuse(parser, least_ns >= BB_TRIGGER_TIME_MIN ? "a time from 10ms to 24h"
                                                                  : "a time up to 24h");
        }
        *ns = (gint64)llround(exact);
        return true;
    }
    return refuse(parser, "a unit: ns, us, ms, s, min or h");
}

// ---- the parts ----------------------------------------------------------------------------------

static bool take_kind(Parser *parser, BbTriggerRule *rule)
{
    static const char *const kinds[] = {[BB_TRIGGER_LATENCY] = "latency",
                                        [BB_TRIGGER_ERRORS] = "errors",
                                        [BB_TRIGGER_OPEN] = "open",
                                        [BB_TRIGGER_SILENT] = "silent"};
    for (guint kind = 0; kind < G_N_ELEMENTS(kinds); kind++)
        if (take_word(parser, kinds[kind])) {
            rule->kind = (BbTriggerKind)kind;
            return true;
        }
    return refuse(parser, "latency(...), errors(...), open(...) or silent(...)");
}

// Operations may have parentheses: the last one closes.
static bool take_globs(Parser *parser, BbTriggerRule *rule)
{
    if (!take_word(parser, "("))
        return refuse(parser, "'(' and what it is about");
    const char *end = strrchr(parser->at, ')');
    if (!end) {
        parser->at += strlen(parser->at);
        return refuse(parser, "')'");
    }
    g_autofree char *list = g_strstrip(g_strndup(parser->at, (gsize)(end - parser->at)));
    rule->globs = bb_globs_new(list);
    if (!rule->globs)
        return refuse(parser, "a pattern, or several with commas between");
    parser->at = end + 1;
    return true;
}

static bool take_figure(Parser *parser, BbTriggerRule *rule)
{
    double percent = 0;
    rule->least = BB_TRIGGER_LEAST;
    if (take_word(parser, "mean")) {
        rule->figure = BB_TRIGGER_MEAN;
        return true;
    }
    if (take_word(parser, "max")) {
        rule->figure = BB_TRIGGER_MAX;
        rule->least = 1;
        return true;
    }
    rule->figure = BB_TRIGGER_QUANTILE;
    const char *begin = parser->at;
    bool good = *begin == 'p' && g_ascii_isdigit(begin[1]);
    parser->at += good;
    if (good && take_number(parser, &percent) && percent <= 100) {
        rule->quantile = percent / 100;
        return true;
    }
    parser->at = begin;
    return refuse(parser, "mean, max, or a quantile such as p50, p90, p99");
}

static bool take_share(Parser *parser, BbTriggerRule *rule)
{
    double percent = 0;
    skip_space(parser);
    const char *begin = parser->at;
    rule->least = BB_TRIGGER_LEAST;
    if (take_number(parser, &percent) && take_word(parser, "%") && percent < 100) {
        rule->share = percent / 100;
        return true;
    }
    parser->at = begin;
    return refuse(parser, "a share below 100%, such as 5%");
}

static bool take_limit(Parser *parser, BbTriggerRule *rule)
{
    bool of_window = rule->kind == BB_TRIGGER_LATENCY || rule->kind == BB_TRIGGER_ERRORS;
    if (!take_word(parser, ">"))
        return refuse(parser, "'>'");
    if (rule->kind == BB_TRIGGER_ERRORS)
        return take_share(parser, rule);
    return take_duration(parser, of_window ? 0 : BB_TRIGGER_TIME_MIN, "a time such as 500ms",
                         &rule->limit_ns);
}

static bool take_window(Parser *parser, BbTriggerRule *rule)
{
    double least = 0;
    if (!take_word(parser, "over"))
        return refuse(parser, "'over' and a time such as 10s");
    if (!take_duration(parser, BB_TRIGGER_TIME_MIN, "a time such as 10s", &rule->window_ns))
        return false;
    if (!take_word(parser, "min"))
        return true;
    skip_space(parser);
    const char *begin = parser->at;
    if (take_number(parser, &least) && least >= 1 && least <= 1e9 && floor(least) == least) {
        rule->least = (guint64)least;
        return true;
    }
    parser->at = begin;
    return refuse(parser, "a number of calls from 1 on");
}

static bool parse(Parser *parser, BbTriggerRule *rule)
{
    if (!take_kind(parser, rule) || !take_globs(parser, rule) ||
        (rule->kind == BB_TRIGGER_LATENCY && !take_figure(parser, rule)) ||
        !take_limit(parser, rule))
        return false;
    if ((rule->kind == BB_TRIGGER_LATENCY || rule->kind == BB_TRIGGER_ERRORS) &&
        !take_window(parser, rule))
        return false;
    skip_space(parser);
    return !*parser->at || refuse(parser, "nothing more");
}

BbTriggerRule *bb_trigger_rule_parse(const char *text, GError **error)
{
    if (strlen(text) > BB_TRIGGER_TEXT_MAX || !g_utf8_validate(text, -1, NULL)) {
        g_set_error(error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE,
                    "a trigger is text in UTF-8 of at most %u bytes", BB_TRIGGER_TEXT_MAX);
        return NULL;
    }
    g_autoptr(BbTriggerRule) rule = g_new0(BbTriggerRule, 1);
    rule->text = g_strstrip(g_strdup(text));
    Parser parser = {.text = rule->text, .at = rule->text, .error = error};
    return parse(&parser, rule) ? g_steal_pointer(&rule) : NULL;
}

void bb_trigger_rule_free(BbTriggerRule *rule)
{
    if (!rule)
        return;
    g_free(rule->text);
    bb_globs_free(rule->globs);
    g_free(rule);
}
