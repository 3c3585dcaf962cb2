// SPDX-License-Identifier: Apache-2.0
// In: the words of a limit. Out: how many messages a node works on at once, how many calls of one
// node to another are under way at once.
#include "data/scenario_parser.h"

static bool need_number(BbParser *parser, guint32 *number)
{
    guint64 count = 0;
    if (!bb_parser_need_count(parser, BB_SCENARIO_UNDER_WAY_MAX, &count))
        return false;
    *number = (guint32)count;
    return count > 0 || bb_parser_refuse(parser, "0 at once: nothing would ever happen there; say "
                                                 "at least 1");
}

static bool add_limit(BbParser *parser, guint32 caller, guint32 callee, BbLimit limit)
{
    BbScenario *scenario = parser->scenario;
    guint64 *number = bb_tally_at(&scenario->limit, (BbTallyKey){caller, callee, 0});
    if (*number > 0)
        return bb_parser_refuse(parser, "a second limit of '%s': remove one",
                                bb_names_text(scenario->names, callee));
    limit.first = scenario->lines;
    scenario->lines += limit.lines;
    if (scenario->lines > BB_SCENARIO_LINES_MAX)
        return bb_parser_refuse(parser,
                                "more than %u lines in all, of nodes and of pairs of nodes: use "
                                "fewer replicas or lines",
                                BB_SCENARIO_LINES_MAX);
    g_array_append_val(scenario->limits, limit);
    *number = scenario->limits->len;
    return true;
}

bool bb_parser_need_workers(BbParser *parser)
{
    BbTarget *target = NULL;
    BbLimit limit = {.lines = 1};
    if (!bb_parser_need_target(parser, &target) || !need_number(parser, &limit.each))
        return false;
    if (bb_parser_word(parser, "lines") && !need_number(parser, &limit.lines))
        return false;
    for (guint i = 0; i < target->count; i++)
        if (!add_limit(parser, BB_NAME_NONE, target->nodes[i], limit))
            return false;
    return true;
}

bool bb_parser_need_pool(BbParser *parser)
{
    BbTarget *callers = NULL, *callees = NULL;
    BbLimit limit = {.lines = 1};
    if (!bb_parser_need_target(parser, &callers) || !bb_parser_need_mark(parser, "->") ||
        !bb_parser_need_target(parser, &callees) || !need_number(parser, &limit.each))
        return false;
    for (guint i = 0; i < callers->count; i++)
        for (guint j = 0; j < callees->count; j++)
            if (!add_limit(parser, callers->nodes[i], callees->nodes[j], limit))
                return false;
    return true;
}
