// SPDX-License-Identifier: Apache-2.0
// In: who wants a worker of a node, or a connection of a pool. Out: whose turn it is, in the order
// in which they came.
#include "data/scenario_run.h"

struct BbLine {
    guint32 free;
    GQueue waiting;
};

void bb_lines_init(BbRun *run)
{
    const GArray *limits = run->scenario->limits;
    run->lines = g_new(BbLine, run->scenario->lines);
    for (guint i = 0; i < limits->len; i++) {
        const BbLimit *limit = &g_array_index(limits, BbLimit, i);
        for (guint32 line = 0; line < limit->lines; line++)
            run->lines[limit->first + line] = (BbLine){limit->each, G_QUEUE_INIT};
    }
}

void bb_lines_clear(BbRun *run)
{
    for (guint32 i = 0; i < run->scenario->lines; i++)
        g_queue_clear(&run->lines[i].waiting);
    g_free(run->lines);
}

BbLine *bb_line_of(BbRun *run, guint32 caller, guint32 callee, guint64 conn)
{
    const BbScenario *scenario = run->scenario;
    if (scenario->limits->len == 0)
        return NULL;
    guint64 number = bb_tally_get(&scenario->limit, (BbTallyKey){caller, callee, 0});
    if (number == 0)
        return NULL;
    const BbLimit *limit = &g_array_index(scenario->limits, BbLimit, number - 1);
    if (limit->lines == 1)
        return &run->lines[limit->first];
    guint64 line = conn ? conn % limit->lines : bb_random_below(&run->random, limit->lines);
    return &run->lines[limit->first + line];
}

bool bb_line_take(BbLine *line)
{
    bool free = !line || line->free > 0;
    if (line && free)
        line->free--;
    return free;
}

void bb_line_wait(BbLine *line, gpointer who)
{
    g_queue_push_tail(&line->waiting, who);
}

gpointer bb_line_leave(BbLine *line)
{
    if (!line)
        return NULL;
    gpointer next = g_queue_pop_head(&line->waiting);
    line->free += !next;
    return next;
}
