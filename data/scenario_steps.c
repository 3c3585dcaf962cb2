// SPDX-License-Identifier: Apache-2.0
// In: the words of a body. Out: its steps, linked in the order in which they happen.
#include "data/scenario_parser.h"

#include <string.h>

#define REPEAT_MAX 1000000u
#define RETRIES_MAX 1000u
#define BRANCHES_MAX 10000u

BbStep *bb_parser_new_step(BbParser *parser, BbStepKind kind)
{
    BbStep *step = g_new0(BbStep, 1);
    *step = (BbStep){
        .kind = kind,
        .line = parser->token->line,
        .chance = 1,
        .label = BB_NO_LABEL,
        .of = BB_NO_LABEL,
    };
    g_ptr_array_add(parser->scenario->steps, step);
    return step;
}

void bb_step_link(BbStep *first, BbStep *after)
{
    for (BbStep *step = first, *next = NULL; step; step = next) {
        next = step->next;
        if (!next)
            step->next = after;
        BbStep *end = step->kind == BB_STEP_CHOOSE ? step->next : NULL;
        for (guint i = 0; i < step->n_branches; i++)
            bb_step_link(step->branches[i], end);
    }
}

BbStep *bb_parser_end_body(BbParser *parser, BbStep *first)
{
    BbStep *reply = bb_parser_new_step(parser, BB_STEP_REPLY);
    reply->after = parser->returns;
    BbStep **end = &first;
    while (*end)
        end = &(*end)->next;
    *end = reply;
    bb_step_link(first, NULL);
    return first;
}

// ---- messages -----------------------------------------------------------------------------------

static bool need_body(BbParser *parser, BbStep *step)
{
    if (!bb_parser_mark(parser, "{"))
        return true; // by services, once all are known
    bool outer = parser->in_tracelet;
    BbStep *body = NULL;
    parser->in_tracelet = false;
    bool good = bb_parser_need_block(parser, &body);
    parser->in_tracelet = outer;
    if (!good)
        return false;
    step->body = bb_parser_end_body(parser, body);
    return true;
}

static bool take_modifier(BbParser *parser, BbStep *step, bool *took)
{
    guint64 count = 0;
    *took = true;
    if (bb_parser_word(parser, "lost"))
        return bb_parser_need_share(parser, &step->lost);
    if (bb_parser_word(parser, "timeout")) {
        step->has_timeout = true;
        return bb_parser_need_delay(parser, &step->timeout);
    }
    if (bb_parser_word(parser, "hedge")) {
        step->has_hedge = true;
        return bb_parser_need_delay(parser, &step->hedge);
    }
    if (bb_parser_word(parser, "retry")) {
        bool good = bb_parser_need_count(parser, RETRIES_MAX, &count);
        step->retries = (guint32)count;
        return good;
    }
    *took = false;
    return true;
}

static bool check_modifiers(BbParser *parser, const BbStep *step)
{
    bool waits = step->kind == BB_STEP_CALL;
    if (!waits && (step->has_timeout || step->has_hedge || step->retries))
        return bb_parser_refuse(parser, "timeout, hedge and retry are for calls that are waited "
                                        "for: leave them out, or call without async or forward");
    if (step->retries && !step->has_timeout)
        return bb_parser_refuse(parser, "retry without timeout: say `timeout TIME`, after which it "
                                        "is tried again");
    if (step->kind == BB_STEP_FORWARD && step->lost > 0)
        return bb_parser_refuse(parser, "lost is not for forward: its caller would wait for ever; "
                                        "let the call before be lost");
    if (waits && step->lost > 0 && !step->has_timeout)
        return bb_parser_refuse(parser, "lost without timeout: the caller would wait for ever; say "
                                        "`timeout TIME`");
    return true;
}

// What stands behind the arrow.
static bool need_message(BbParser *parser, BbStep *step)
{
    if (!bb_parser_need_target(parser, &step->to))
        return false;
    bb_parser_label(parser, &step->op);
    for (bool took = true; took;)
        if (!take_modifier(parser, step, &took))
            return false;
    return check_modifiers(parser, step) && need_body(parser, step);
}

// [FROM] -> or ~>; step is what `async` or `forward` made it, or a call.
static bool need_arrow(BbParser *parser, BbStep *step)
{
    if (!bb_parser_is_mark(parser, "->") && !bb_parser_is_mark(parser, "~>")) {
        if (!parser->in_tracelet)
            return bb_parser_expect(parser, "a step: -> ~> async forward reply fail pause wait "
                                            "parallel choose repeat {");
        if (!bb_parser_need_target(parser, &step->from))
            return false;
    } else if (parser->in_tracelet) {
        return bb_parser_refuse_next(parser, "a message from nowhere: write `NODE -> NODE`");
    }
    if (step->kind == BB_STEP_CALL && bb_parser_mark(parser, "~>"))
        step->kind = BB_STEP_SEND;
    else if (!bb_parser_need_mark(parser, "->"))
        return false;
    return need_message(parser, step);
}

static bool need_forward(BbParser *parser, BbStep *step)
{
    if (parser->in_tracelet)
        return bb_parser_refuse(parser, "there is no call to forward: forward inside of a body");
    step->kind = BB_STEP_FORWARD;
    return need_arrow(parser, step);
}

static bool need_async(BbParser *parser, BbStep *step)
{
    step->kind = BB_STEP_ASYNC;
    return need_arrow(parser, step);
}

static bool need_return(BbParser *parser, BbStep *step, BbStepKind kind, const char *status)
{
    if (parser->in_tracelet)
        return bb_parser_refuse(parser, "there is no call to return: reply inside of a body");
    step->kind = kind;
    step->status = bb_names_intern(parser->scenario->names, status);
    bb_parser_label(parser, &step->status);
    return true;
}

static bool need_reply(BbParser *parser, BbStep *step)
{
    return need_return(parser, step, BB_STEP_REPLY, "ok");
}

static bool need_fail(BbParser *parser, BbStep *step)
{
    return need_return(parser, step, BB_STEP_FAIL, "error");
}

static bool need_pause(BbParser *parser, BbStep *step)
{
    step->kind = BB_STEP_PAUSE;
    if (step->after.count)
        return bb_parser_refuse(parser, "`after` before pause: write `pause TIME`");
    return bb_parser_need_delay(parser, &step->after);
}

static bool need_wait(BbParser *parser, BbStep *step)
{
    step->kind = BB_STEP_WAIT;
    return true;
}

// ---- branches -----------------------------------------------------------------------------------

static bool add_branch(BbParser *parser, BbStep *step, BbStep *branch, double share)
{
    if (step->n_branches == BRANCHES_MAX)
        return bb_parser_refuse(parser, "more than %u branches: leave some out", BRANCHES_MAX);
    guint n = step->n_branches++;
    step->branches = g_renew(BbStep *, step->branches, n + 1);
    step->branches[n] = branch;
    step->shares = g_renew(double, step->shares, n + 1);
    step->shares[n] = share;
    return true;
}

static bool need_parallel(BbParser *parser, BbStep *step)
{
    step->kind = BB_STEP_PARALLEL;
    if (!bb_parser_need_mark(parser, "{"))
        return false;
    while (!bb_parser_mark(parser, "}")) {
        BbStep *branch = NULL;
        if (bb_parser_mark(parser, ";"))
            continue;
        if (!bb_parser_need_step(parser, &branch) || !bb_parser_need_end(parser) ||
            !add_branch(parser, step, branch, 0))
            return false;
    }
    return step->n_branches > 0 ||
           bb_parser_refuse(parser, "parallel without a step: put some in its braces");
}

// A share and a step, or `else` and a step.
static bool need_alternative(BbParser *parser, BbStep *step, double *sum, bool *has_else)
{
    BbStep *branch = NULL;
    double share = 1 - *sum;
    if (*has_else)
        return bb_parser_refuse_next(parser, "nothing may come behind else: move it up");
    *has_else = bb_parser_word(parser, "else");
    if (!*has_else && !bb_parser_need_share(parser, &share))
        return false;
    *sum = *has_else ? 1 : *sum + share;
    if (*sum > 1 + 1e-9)
        return bb_parser_refuse(parser, "the shares add up to more than 100%%: lower some");
    return bb_parser_need_step(parser, &branch) && bb_parser_need_end(parser) &&
           add_branch(parser, step, branch, *sum);
}

static bool need_choose(BbParser *parser, BbStep *step)
{
    double sum = 0;
    bool has_else = false;
    step->kind = BB_STEP_CHOOSE;
    if (!bb_parser_need_mark(parser, "{"))
        return false;
    while (!bb_parser_mark(parser, "}"))
        if (!bb_parser_mark(parser, ";") && !need_alternative(parser, step, &sum, &has_else))
            return false;
    return step->n_branches > 0 ||
           bb_parser_refuse(parser, "choose without a step: put some in its braces");
}

static bool need_repeat(BbParser *parser, BbStep *step)
{
    BbStep *branch = NULL;
    step->kind = BB_STEP_REPEAT;
    return bb_parser_need_counts(parser, REPEAT_MAX, &step->from_times, &step->to_times) &&
           bb_parser_need_step(parser, &branch) && add_branch(parser, step, branch, 0);
}

// A choice with one alternative.
static bool need_group(BbParser *parser, BbStep *step)
{
    BbStep *first = NULL;
    step->kind = BB_STEP_CHOOSE;
    return bb_parser_need_block(parser, &first) && add_branch(parser, step, first, 1);
}

bool bb_parser_need_block(BbParser *parser, BbStep **first)
{
    BbStep **end = first;
    while (!bb_parser_mark(parser, "}")) {
        if (bb_parser_mark(parser, ";"))
            continue;
        if (!bb_parser_need_step(parser, end) || !bb_parser_need_end(parser))
            return false;
        end = &(*end)->next;
    }
    return true;
}

// ---- steps --------------------------------------------------------------------------------------

static bool take_prefixes(BbParser *parser, BbStep *step, bool *has_after)
{
    for (;;) {
        if (bb_parser_word(parser, "after")) {
            *has_after = true;
            if (!bb_parser_need_delay(parser, &step->after))
                return false;
        } else if (bb_parser_word(parser, "every")) {
            if (!bb_parser_need_time(parser, &step->every_ns))
                return false;
            if (step->every_ns == 0)
                return bb_parser_refuse(parser, "every 0: give the time between two ticks");
        } else if (bb_parser_is_unit(parser, "%")) {
            if (!bb_parser_need_share(parser, &step->chance))
                return false;
        } else {
            return true;
        }
    }
}

static void set_default_delay(const BbParser *parser, BbStep *step)
{
    switch (step->kind) {
    case BB_STEP_CALL:
    case BB_STEP_ASYNC:
    case BB_STEP_FORWARD:
        step->after = step->from ? (BbDelay){0} : parser->calls;
        return;
    case BB_STEP_SEND:
        step->after = step->from ? (BbDelay){0} : parser->sends;
        return;
    case BB_STEP_REPLY:
    case BB_STEP_FAIL:
        step->after = parser->returns;
        return;
    default:
        return;
    }
}

static bool need_action(BbParser *parser, BbStep *step)
{
    static const struct {
        const char *word;
        bool (*need)(BbParser *parser, BbStep *step);
    } actions[] = {
        {"async", need_async},   {"forward", need_forward},   {"reply", need_reply},
        {"fail", need_fail},     {"pause", need_pause},       {"wait", need_wait},
        {"choose", need_choose}, {"parallel", need_parallel}, {"repeat", need_repeat},
    };
    for (gsize i = 0; i < G_N_ELEMENTS(actions); i++)
        if (bb_parser_word(parser, actions[i].word))
            return actions[i].need(parser, step);
    if (bb_parser_mark(parser, "{"))
        return need_group(parser, step);
    return need_arrow(parser, step);
}

bool bb_parser_need_step(BbParser *parser, BbStep **step)
{
    if (parser->nesting == BB_SCENARIO_NESTING_MAX)
        return bb_parser_refuse_next(parser, "more than %u braces in each other: use a service",
                                     BB_SCENARIO_NESTING_MAX);
    parser->nesting++;
    bool has_after = false;
    *step = bb_parser_new_step(parser, BB_STEP_CALL);
    bool good = take_prefixes(parser, *step, &has_after) && need_action(parser, *step);
    if (good && !has_after)
        set_default_delay(parser, *step);
    parser->nesting--;
    return good;
}
