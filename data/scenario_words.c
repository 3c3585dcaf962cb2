// SPDX-License-Identifier: Apache-2.0
// In: the words of a scenario. Out: numbers, times, delays, nodes; refusals that name the line.
#include "data/scenario_parser.h"

#include <math.h>
#include <string.h>

static bool refuse(BbParser *parser, const BbToken *token, const char *format, va_list args)
{
    g_autofree char *reason = g_strdup_vprintf(format, args);
    g_set_error(parser->error, BB_SCENARIO_ERROR, BB_SCENARIO_ERROR_TEXT, "%s:%u: %s",
                parser->scenario->file, token->line, reason);
    return false;
}

bool bb_parser_refuse(BbParser *parser, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    const BbToken *token = parser->token > parser->first ? parser->token - 1 : parser->token;
    bool good = refuse(parser, token, format, args);
    va_end(args);
    return good;
}

bool bb_parser_refuse_next(BbParser *parser, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    bool good = refuse(parser, parser->token, format, args);
    va_end(args);
    return good;
}

bool bb_parser_expect(BbParser *parser, const char *what)
{
    const BbToken *token = parser->token;
    if (token->kind == BB_TOKEN_END)
        return bb_parser_refuse_next(parser, "expected %s, but the text ends here", what);
    if (token->kind == BB_TOKEN_NUMBER)
        return bb_parser_refuse_next(parser, "expected %s, not '%.10g%s'", what, token->value,
                                     token->text);
    return bb_parser_refuse_next(parser, "expected %s, not '%s'", what, token->text);
}

static bool is_text(const BbParser *parser, BbTokenKind kind, const char *text)
{
    return parser->token->kind == kind && strcmp(parser->token->text, text) == 0;
}

bool bb_parser_word(BbParser *parser, const char *name)
{
    bool found = is_text(parser, BB_TOKEN_NAME, name);
    parser->token += found;
    return found;
}

bool bb_parser_is_mark(const BbParser *parser, const char *mark)
{
    return is_text(parser, BB_TOKEN_MARK, mark);
}

bool bb_parser_mark(BbParser *parser, const char *mark)
{
    bool found = bb_parser_is_mark(parser, mark);
    parser->token += found;
    return found;
}

bool bb_parser_is_unit(const BbParser *parser, const char *unit)
{
    return is_text(parser, BB_TOKEN_NUMBER, unit);
}

bool bb_parser_need_mark(BbParser *parser, const char *mark)
{
    return bb_parser_mark(parser, mark) || bb_parser_expect(parser, mark);
}

bool bb_parser_need_end(BbParser *parser)
{
    const BbToken *before = parser->token - 1;
    if (bb_parser_mark(parser, ";") || bb_parser_is_mark(parser, "}") ||
        parser->token->kind == BB_TOKEN_END || parser->token->line != before->line ||
        (before->kind == BB_TOKEN_MARK && strcmp(before->text, "}") == 0))
        return true;
    return bb_parser_expect(parser, "; or another line");
}

// ---- numbers ------------------------------------------------------------------------------------

// Nanoseconds of a number with a unit of time; 0 needs no unit.
static bool read_time(const BbToken *token, double *ns)
{
    static const struct {
        const char *name;
        double ns;
    } units[] = {{"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}, {"min", 6e10}, {"h", 3.6e12}};
    if (token->kind != BB_TOKEN_NUMBER)
        return false;
    if (token->value == 0 && !*token->text) {
        *ns = 0;
        return true;
    }
    for (gsize i = 0; i < G_N_ELEMENTS(units); i++) {
        if (strcmp(token->text, units[i].name) == 0) {
            *ns = token->value * units[i].ns;
            return *ns <= (double)BB_DELAY_MAX_NS;
        }
    }
    return false;
}

static bool need_ns(BbParser *parser, double *ns)
{
    if (!read_time(parser->token, ns))
        return bb_parser_expect(parser, "a time, such as 50ms (ns us ms s min h), up to 1e9 s");
    parser->token++;
    return true;
}

bool bb_parser_need_time(BbParser *parser, gint64 *time_ns)
{
    double ns = 0;
    if (!need_ns(parser, &ns))
        return false;
    *time_ns = (gint64)(ns + 0.5);
    return true;
}

bool bb_parser_need_share(BbParser *parser, double *share)
{
    if (!bb_parser_is_unit(parser, "%") || parser->token->value > 100)
        return bb_parser_expect(parser, "a share from 0% to 100%");
    *share = parser->token++->value / 100;
    return true;
}

bool bb_parser_need_count(BbParser *parser, guint64 most, guint64 *count)
{
    const BbToken *token = parser->token;
    if (!bb_parser_is_unit(parser, "") || token->value > (double)most ||
        token->value != floor(token->value)) {
        g_autofree char *what = g_strdup_printf("a whole number up to %" G_GUINT64_FORMAT, most);
        return bb_parser_expect(parser, what);
    }
    *count = (guint64)parser->token++->value;
    return true;
}

bool bb_parser_need_counts(BbParser *parser, guint64 most, guint64 *from, guint64 *to)
{
    if (!bb_parser_need_count(parser, most, from))
        return false;
    *to = *from;
    if (bb_parser_mark(parser, "..") && !bb_parser_need_count(parser, most, to))
        return false;
    return *from <= *to || bb_parser_refuse(parser, "the range goes down: put the smaller number "
                                                    "first");
}

// ---- delays -------------------------------------------------------------------------------------

#define DEVIATION_MAX 10 // times the mean: more is drawn again too often

// What stands behind a ~: a time, or a share of the mean.
static bool need_deviation(BbParser *parser, double mean, double *deviation)
{
    if (mean <= 0)
        return bb_parser_refuse(parser, "a delay of 0 cannot deviate: give it a mean above 0");
    if (bb_parser_is_unit(parser, "%"))
        *deviation = mean * parser->token++->value / 100;
    else if (!need_ns(parser, deviation))
        return false;
    return *deviation <= DEVIATION_MAX * mean ||
           bb_parser_refuse(parser,
                            "a deviation of more than %d times the mean: use less, or "
                            "another distribution",
                            DEVIATION_MAX);
}

static bool need_plain_term(BbParser *parser, BbDelayTerm *term)
{
    if (!need_ns(parser, &term->a))
        return false;
    if (bb_parser_mark(parser, "..")) {
        term->kind = BB_DELAY_UNIFORM;
        if (!need_ns(parser, &term->b))
            return false;
        return term->a <= term->b ||
               bb_parser_refuse(parser, "the range goes down: put the shorter time first");
    }
    if (!bb_parser_mark(parser, "~"))
        return true;
    if (!need_deviation(parser, term->a, &term->b))
        return false;
    term->kind = term->b > 0 ? BB_DELAY_NORMAL : BB_DELAY_CONSTANT;
    return true;
}

static bool need_lognormal(BbParser *parser, BbDelayTerm *term)
{
    double mean = 0, deviation = 0;
    if (!need_ns(parser, &mean) || !bb_parser_need_mark(parser, "~") ||
        !need_deviation(parser, mean, &deviation))
        return false;
    *term = bb_delay_lognormal(mean, deviation);
    return true;
}

static bool need_pareto(BbParser *parser, BbDelayTerm *term)
{
    term->kind = BB_DELAY_PARETO;
    if (!need_ns(parser, &term->a))
        return false;
    if (!bb_parser_is_unit(parser, "") || parser->token->value <= 0)
        return bb_parser_expect(parser, "the shape of the Pareto distribution, a number such as "
                                        "1.5");
    term->b = parser->token++->value;
    return true;
}

static bool need_term(BbParser *parser, BbDelayTerm *term)
{
    *term = (BbDelayTerm){.kind = BB_DELAY_CONSTANT};
    if (bb_parser_word(parser, "lognormal"))
        return need_lognormal(parser, term);
    if (bb_parser_word(parser, "pareto"))
        return need_pareto(parser, term);
    if (bb_parser_word(parser, "exp")) {
        term->kind = BB_DELAY_EXPONENTIAL;
        return need_ns(parser, &term->a);
    }
    return need_plain_term(parser, term);
}

bool bb_parser_need_delay(BbParser *parser, BbDelay *delay)
{
    BbDelay read = {0};
    do {
        if (read.count == BB_DELAY_TERMS)
            return bb_parser_refuse(parser, "a delay of more than %u terms: leave some out",
                                    BB_DELAY_TERMS);
        if (!need_term(parser, &read.terms[read.count++]))
            return false;
    } while (bb_parser_mark(parser, "+"));
    if (read.count == 1 && read.terms[0].kind == BB_DELAY_CONSTANT && read.terms[0].a == 0)
        read.count = 0;
    *delay = read;
    return true;
}

// ---- nodes --------------------------------------------------------------------------------------

bool bb_parser_need_node(BbParser *parser, guint32 *name)
{
    const BbToken *token = parser->token;
    if ((token->kind != BB_TOKEN_NAME && token->kind != BB_TOKEN_STRING) || !*token->text)
        return bb_parser_expect(parser, "the name of a node");
    *name = bb_names_intern(parser->scenario->names, token->text);
    parser->token++;
    return true;
}

BbTarget *bb_parser_target(BbParser *parser, guint32 name)
{
    BbTarget *target = g_hash_table_lookup(parser->targets, GUINT_TO_POINTER(name));
    if (target)
        return target;
    GPtrArray *targets = parser->scenario->targets;
    target = g_new0(BbTarget, 1);
    *target = (BbTarget){.name = name, .index = targets->len, .count = 1};
    target->nodes = g_new(guint32, 1);
    target->nodes[0] = name;
    g_ptr_array_add(targets, target);
    g_hash_table_insert(parser->targets, GUINT_TO_POINTER(name), target);
    return target;
}

bool bb_parser_need_target(BbParser *parser, BbTarget **target)
{
    guint32 name = BB_NAME_NONE;
    if (!bb_parser_need_node(parser, &name))
        return false;
    *target = bb_parser_target(parser, name);
    return true;
}

void bb_parser_label(BbParser *parser, guint32 *name)
{
    if (parser->token->kind == BB_TOKEN_STRING)
        *name = bb_names_intern(parser->scenario->names, parser->token++->text);
}
