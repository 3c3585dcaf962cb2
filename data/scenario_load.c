// SPDX-License-Identifier: Apache-2.0
// In: the loads of a scenario. Out: when which instance begins.
#include "data/scenario_run.h"

#include <math.h>

static bool is_over(const BbRun *run, const BbLoad *load)
{
    guint64 times = load->tracelet->times;
    return run->now_ns >= run->end_ns || (run->messages && run->written >= run->messages) ||
           (times && load->begun >= times);
}

void bb_load_begin(BbRun *run, BbLoad *load)
{
    const BbTracelet *tracelet = load->tracelet;
    if (is_over(run, load))
        return;
    load->begun++;
    BbRunInstance *instance = bb_pool_take(&run->instances);
    instance->load = load;
    if (tracelet->labels)
        instance->stages = g_new0(BbStage, tracelet->labels);
    BbWork *client = bb_work_new(run, instance, 0);
    client->body = tracelet->steps;
    bb_work_arrive(run, client);
}

// Time from now to the next beginning, by the clock that runs while the load is on.
static gint64 gap_of(BbRun *run, BbLoad *load)
{
    const BbTracelet *tracelet = load->tracelet;
    double rate = tracelet->rate * (1 + tracelet->swing);
    double gaps = tracelet->regular ? 1 : bb_random_exponential(&run->random);
    double gap_ns = gaps / rate * 1e9 + 0.5;
    gint64 step_ns = gap_ns < (double)BB_DELAY_MAX_NS ? (gint64)gap_ns : BB_DELAY_MAX_NS;
    if (tracelet->on_ns == 0 || load->phase_ns > BB_DELAY_MAX_NS)
        return step_ns;
    gint64 before = load->phase_ns / tracelet->on_ns;
    load->phase_ns += step_ns;
    gint64 pauses = load->phase_ns / tracelet->on_ns - before, off_ns = 0;
    if (__builtin_mul_overflow(pauses, tracelet->off_ns, &off_ns) || off_ns > G_MAXINT64 - step_ns)
        return G_MAXINT64;
    return step_ns + off_ns;
}

// Thins out what comes at the highest rate of the swing.
static bool is_swung_out(BbRun *run, const BbTracelet *tracelet)
{
    if (tracelet->swing == 0)
        return false;
    double turns = (double)(run->now_ns - BB_RUN_START_NS) / (double)tracelet->swing_ns;
    double rate = 1 + tracelet->swing * sin(2 * G_PI * turns);
    return !bb_random_chance(&run->random, rate / (1 + tracelet->swing));
}

void bb_load_next(BbRun *run, BbLoad *load)
{
    const BbTracelet *tracelet = load->tracelet;
    if (is_over(run, load))
        return;
    gint64 gap_ns = gap_of(run, load);
    if (gap_ns < run->end_ns - run->now_ns)
        bb_run_at(run, gap_ns, BB_RUN_NEXT, load, 0);
    if (is_swung_out(run, tracelet))
        return;
    guint64 count = tracelet->burst_from;
    if (tracelet->burst_to > count)
        count += bb_random_below(&run->random, tracelet->burst_to - count + 1);
    for (; count > 0; count--)
        bb_run_at(run, bb_run_sample(run, &tracelet->spread), BB_RUN_BEGIN, load, 0);
}

void bb_load_start_all(BbRun *run)
{
    const GPtrArray *tracelets = run->scenario->tracelets;
    run->loads = g_new0(BbLoad, tracelets->len);
    for (guint i = 0; i < tracelets->len; i++) {
        BbLoad *load = &run->loads[i];
        load->tracelet = g_ptr_array_index(tracelets, i);
        if (load->tracelet->clients == 0)
            bb_run_at(run, gap_of(run, load), BB_RUN_NEXT, load, 0);
        for (guint32 client = 0; client < load->tracelet->clients; client++)
            bb_run_at(run, bb_run_sample(run, &load->tracelet->think), BB_RUN_BEGIN, load, 0);
    }
}
