// SPDX-License-Identifier: Apache-2.0
// In: the words of a tracelet. Out: its load and its steps.
#include "data/scenario_parser.h"

#define RATE_MAX 1e9 // a second
#define CLIENTS_MAX 1000000u
#define BURST_MAX 1000000u

static bool need_rate_number(BbParser *parser, double *rate)
{
    static const struct {
        const char *unit;
        double seconds;
    } units[] = {{"/s", 1}, {"/min", 60}, {"/h", 3600}};
    for (gsize i = 0; i < G_N_ELEMENTS(units); i++) {
        if (!bb_parser_is_unit(parser, units[i].unit) || parser->token->value <= 0)
            continue;
        *rate = parser->token->value / units[i].seconds;
        if (*rate > RATE_MAX)
            break;
        parser->token++;
        return true;
    }
    return bb_parser_expect(parser, "a rate above 0, such as 20/s (/s /min /h)");
}

static bool need_phases(BbParser *parser, BbTracelet *tracelet)
{
    if (!bb_parser_need_time(parser, &tracelet->on_ns))
        return false;
    if (!bb_parser_word(parser, "off"))
        return bb_parser_expect(parser, "off");
    if (!bb_parser_need_time(parser, &tracelet->off_ns))
        return false;
    return tracelet->on_ns > 0 || bb_parser_refuse(parser, "on 0: it would never begin");
}

static bool need_swing(BbParser *parser, BbTracelet *tracelet)
{
    if (!bb_parser_need_share(parser, &tracelet->swing))
        return false;
    if (!bb_parser_word(parser, "every"))
        return bb_parser_expect(parser, "every");
    if (!bb_parser_need_time(parser, &tracelet->swing_ns))
        return false;
    return tracelet->swing_ns > 0 || bb_parser_refuse(parser, "every 0: give the time of a swing");
}

static bool need_burst(BbParser *parser, BbTracelet *tracelet)
{
    if (!bb_parser_need_counts(parser, BURST_MAX, &tracelet->burst_from, &tracelet->burst_to))
        return false;
    return !bb_parser_word(parser, "within") || bb_parser_need_delay(parser, &tracelet->spread);
}

// rate NUMBER [regular] [on TIME off TIME] [swing SHARE every TIME] [burst COUNT [within DELAY]]
static bool need_rate(BbParser *parser, BbTracelet *tracelet)
{
    if (!need_rate_number(parser, &tracelet->rate))
        return false;
    for (;;) {
        bool good = true;
        if (bb_parser_word(parser, "regular"))
            tracelet->regular = true;
        else if (bb_parser_word(parser, "on"))
            good = need_phases(parser, tracelet);
        else if (bb_parser_word(parser, "swing"))
            good = need_swing(parser, tracelet);
        else if (bb_parser_word(parser, "burst"))
            good = need_burst(parser, tracelet);
        else
            return true;
        if (!good)
            return false;
    }
}

// clients COUNT [think DELAY]
static bool need_clients(BbParser *parser, BbTracelet *tracelet)
{
    guint64 clients = 0;
    if (!bb_parser_need_count(parser, CLIENTS_MAX, &clients))
        return false;
    if (clients == 0)
        return bb_parser_refuse(parser, "no clients: leave the tracelet out");
    tracelet->clients = (guint32)clients;
    return !bb_parser_word(parser, "think") || bb_parser_need_delay(parser, &tracelet->think);
}

static bool take_load(BbParser *parser, BbTracelet *tracelet, bool *took)
{
    bool good = true;
    *took = true;
    if (bb_parser_word(parser, "rate"))
        good = need_rate(parser, tracelet);
    else if (bb_parser_word(parser, "clients"))
        good = need_clients(parser, tracelet);
    else if (bb_parser_word(parser, "times"))
        good = bb_parser_need_count(parser, G_MAXUINT32, &tracelet->times);
    else
        *took = false;
    return good && (!*took || bb_parser_need_end(parser));
}

static bool need_tracelet_steps(BbParser *parser, BbTracelet *tracelet)
{
    bool good = false;
    parser->in_tracelet = true;
    if (bb_parser_word(parser, "script"))
        good = bb_parser_need_script(parser, tracelet, &tracelet->steps) &&
               bb_parser_need_mark(parser, "}");
    else
        good = bb_parser_need_block(parser, &tracelet->steps);
    parser->in_tracelet = false;
    if (good)
        bb_step_link(tracelet->steps, NULL);
    return good;
}

bool bb_parser_need_tracelet(BbParser *parser)
{
    BbTracelet *tracelet = g_new0(BbTracelet, 1);
    *tracelet = (BbTracelet){.line = parser->token->line, .burst_from = 1, .burst_to = 1};
    g_ptr_array_add(parser->scenario->tracelets, tracelet);
    if (!bb_parser_need_node(parser, &tracelet->name) || !bb_parser_need_mark(parser, "{"))
        return false;
    for (bool took = true; took;)
        if (!bb_parser_mark(parser, ";") && !take_load(parser, tracelet, &took))
            return false;
    if ((tracelet->rate > 0) == (tracelet->clients > 0))
        return bb_parser_refuse(parser, "a tracelet begins by `rate NUMBER/s` or by `clients "
                                        "COUNT`: say one of them first");
    if (!need_tracelet_steps(parser, tracelet))
        return false;
    return tracelet->steps || bb_parser_refuse(parser, "a tracelet without a message: put one in");
}
