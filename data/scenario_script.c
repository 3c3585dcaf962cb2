// SPDX-License-Identifier: Apache-2.0
// In: the words of a script: messages in the order in which they happen, whoever caused them. Out:
// its steps.
#include "data/scenario_parser.h"

#include <string.h>

#define LABELS_MAX 1000u

// A message that later ones refer to.
typedef struct Label {
    const char *name; // lent by the tokens
    BbTarget *to;
    bool is_call, returned;
} Label;

static guint32 find_label(const BbParser *parser, const char *name)
{
    for (guint32 i = 0; i < parser->labels->len; i++)
        if (strcmp(g_array_index(parser->labels, Label, i).name, name) == 0)
            return i;
    return BB_NO_LABEL;
}

// A label that was given above.
static bool need_label(BbParser *parser, guint32 *label)
{
    if (parser->token->kind != BB_TOKEN_NAME)
        return bb_parser_expect(parser, "the label of a message above");
    *label = find_label(parser, parser->token->text);
    if (*label == BB_NO_LABEL)
        return bb_parser_refuse_next(parser,
                                     "no message above is labelled '%s': write `%s: NODE -> "
                                     "NODE` there",
                                     parser->token->text, parser->token->text);
    parser->token++;
    return true;
}

static bool need_return(BbParser *parser, BbStep *step)
{
    step->kind = BB_STEP_SCRIPT_RETURN;
    if (!need_label(parser, &step->of))
        return false;
    Label *label = &g_array_index(parser->labels, Label, step->of);
    if (!label->is_call || label->returned)
        return bb_parser_refuse(parser, "'%s' %s: leave the return out", label->name,
                                label->is_call ? "has returned above" : "is no call");
    label->returned = true;
    step->status = bb_names_intern(parser->scenario->names, "ok");
    bb_parser_label(parser, &step->status);
    return true;
}

static bool need_message(BbParser *parser, BbStep *step, const char *name)
{
    if (name && find_label(parser, name) != BB_NO_LABEL)
        return bb_parser_refuse(parser, "'%s' labels two messages: give each its own", name);
    if (bb_parser_word(parser, "in") ? !need_label(parser, &step->of)
                                     : !bb_parser_need_target(parser, &step->from))
        return false;
    bool is_call = bb_parser_mark(parser, "->");
    if (!is_call && !bb_parser_mark(parser, "~>"))
        return bb_parser_expect(parser, "-> or ~>");
    step->kind = is_call ? BB_STEP_SCRIPT_CALL : BB_STEP_SCRIPT_SEND;
    if (!bb_parser_need_target(parser, &step->to))
        return false;
    bb_parser_label(parser, &step->op);
    if (parser->labels->len == LABELS_MAX)
        return bb_parser_refuse(parser, "more than %u messages: make several tracelets of it",
                                LABELS_MAX);
    step->label = parser->labels->len;
    Label label = {name ? name : "", step->to, is_call, false};
    g_array_append_val(parser->labels, label);
    return true;
}

static bool need_line(BbParser *parser, BbStep *step)
{
    if (bb_parser_word(parser, "after") && !bb_parser_need_delay(parser, &step->after))
        return false;
    if (bb_parser_word(parser, "return"))
        return need_return(parser, step);
    const char *name = NULL;
    if (parser->token->kind == BB_TOKEN_NAME && parser->token[1].kind == BB_TOKEN_MARK &&
        strcmp(parser->token[1].text, ":") == 0) {
        name = parser->token->text;
        parser->token += 2;
    }
    return need_message(parser, step, name);
}

bool bb_parser_need_script(BbParser *parser, BbTracelet *tracelet, BbStep **first)
{
    g_autoptr(GArray) labels = g_array_new(FALSE, FALSE, sizeof(Label));
    parser->labels = labels;
    bool good = bb_parser_need_mark(parser, "{");
    while (good && !bb_parser_mark(parser, "}")) {
        if (bb_parser_mark(parser, ";"))
            continue;
        *first = bb_parser_new_step(parser, BB_STEP_PAUSE);
        good = need_line(parser, *first) && bb_parser_need_end(parser);
        first = &(*first)->next;
    }
    tracelet->labels = labels->len;
    parser->labels = NULL;
    return good;
}
