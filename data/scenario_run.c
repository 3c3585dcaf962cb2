// SPDX-License-Identifier: Apache-2.0
// In: a scenario. Out: what happens in it, in order of time.
#include "data/scenario_run.h"

#define READY_MAX 65536u // events kept that are over

void bb_run_fail(BbRun *run, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    g_autofree char *reason = g_strdup_vprintf(format, args);
    va_end(args);
    if (!run->failed)
        g_set_error(run->error, BB_SCENARIO_ERROR, BB_SCENARIO_ERROR_RUN, "%s: %s",
                    run->scenario->file, reason);
    run->failed = true;
}

// ---- time ---------------------------------------------------------------------------------------

void bb_run_at(BbRun *run, gint64 delay_ns, BbRunEvent kind, gpointer object, guint64 ticket)
{
    BbEvent event = {.time_ns = run->now_ns, .object = object, .ticket = ticket, .kind = kind};
    if (delay_ns <= 0) {
        g_array_append_val(run->ready, event);
        return;
    }
    if (delay_ns > G_MAXINT64 - run->now_ns) {
        bb_run_fail(run, "it runs beyond the year 2262: shorten its delays or its duration");
        return;
    }
    event.time_ns += delay_ns;
    bb_agenda_put(run->agenda, &event);
}

gint64 bb_run_sample(BbRun *run, const BbDelay *delay)
{
    return bb_delay_sample(delay, &run->random);
}

// ---- works and strands --------------------------------------------------------------------------

void bb_work_unref(BbRun *run, BbWork *work)
{
    if (--work->refs > 0)
        return;
    BbRunInstance *instance = work->instance;
    bb_pool_give(&run->works, work);
    if (--instance->refs > 0)
        return;
    BbLoad *load = instance->load;
    g_free(instance->stages);
    bb_pool_give(&run->instances, instance);
    if (load->tracelet->clients)
        bb_run_at(run, bb_run_sample(run, &load->tracelet->think), BB_RUN_BEGIN, load, 0);
}

void bb_run_check_under_way(BbRun *run)
{
    if (run->works.live + run->strands.live + run->wants.live > BB_SCENARIO_UNDER_WAY_MAX)
        bb_run_fail(run,
                    "more than %u calls are under way at once: lower the rate, or shorten what is "
                    "waited for",
                    BB_SCENARIO_UNDER_WAY_MAX);
}

BbWork *bb_work_new(BbRun *run, BbRunInstance *instance, guint32 depth)
{
    BbWork *work = bb_pool_take(&run->works);
    work->instance = instance;
    work->depth = depth;
    work->refs = 1;
    instance->refs++;
    bb_run_check_under_way(run);
    if (depth > BB_SCENARIO_DEPTH_MAX)
        bb_run_fail(run,
                    "a path of more than %u messages in each other: some service calls itself; let "
                    "it end by chance",
                    BB_SCENARIO_DEPTH_MAX);
    return work;
}

BbStrand *bb_strand_new(BbRun *run, BbWork *work, const BbStep *step)
{
    BbStrand *strand = bb_pool_take(&run->strands);
    strand->work = work;
    strand->step = step;
    work->refs++;
    work->strands++;
    bb_run_check_under_way(run);
    return strand;
}

static void work_begin(BbRun *run, BbWork *work)
{
    bb_strand_go_on(run, bb_strand_new(run, work, work->body));
    bb_work_unref(run, work);
}

void bb_work_arrive(BbRun *run, BbWork *work)
{
    work->line = bb_line_of(run, BB_NAME_NONE, work->node, work->conn);
    if (bb_line_take(work->line))
        work_begin(run, work);
    else
        bb_line_wait(work->line, work);
}

void bb_work_end(BbRun *run, BbWork *work)
{
    BbWork *next = bb_line_leave(work->line);
    work->line = NULL;
    if (next)
        work_begin(run, next);
}

void bb_strand_go_on(BbRun *run, BbStrand *strand)
{
    bb_run_at(run, 0, BB_RUN_STRAND, strand, 0);
}

void bb_strand_wake(BbRun *run, BbStrand *strand, guint64 ticket)
{
    if (!strand || strand->ticket != ticket)
        return;
    strand->ticket = 0;
    strand->tries = 0;
    strand->step = strand->step->next;
    bb_strand_go_on(run, strand);
}

static void strand_end(BbRun *run, BbStrand *strand)
{
    BbWork *work = strand->work;
    BbStrand *join = strand->join;
    if (strand->left > 0 && !work->failed) {
        strand->left--;
        strand->step = strand->again;
        bb_strand_go_on(run, strand);
        return;
    }
    bb_pool_give(&run->strands, strand);
    if (join && --join->branches == 0)
        bb_strand_go_on(run, join);
    if (--work->strands == 0)
        bb_work_end(run, work);
    bb_work_unref(run, work);
}

// ---- steps --------------------------------------------------------------------------------------

// How long until the step is done: its delay, then up to the next tick.
static gint64 delay_of(BbRun *run, const BbStep *step)
{
    gint64 delay_ns = bb_run_sample(run, &step->after);
    if (step->every_ns == 0)
        return delay_ns;
    gint64 since_ns = run->now_ns - BB_RUN_START_NS;
    if (delay_ns > G_MAXINT64 / 4 || since_ns > G_MAXINT64 / 4)
        return G_MAXINT64;
    gint64 past_ns = (since_ns + delay_ns) % step->every_ns;
    return delay_ns + (past_ns ? step->every_ns - past_ns : 0);
}

// A return that was sent before, or is another's to send, takes no time.
static bool is_skipped(BbRun *run, const BbStrand *strand, const BbStep *step)
{
    return (step->kind == BB_STEP_REPLY && !strand->work->owes) ||
           !bb_random_chance(&run->random, step->chance);
}

static void run_strand(BbRun *run, BbStrand *strand)
{
    while (strand->step && !strand->work->failed && !run->failed) {
        const BbStep *step = strand->step;
        if (!strand->due) {
            if (is_skipped(run, strand, step)) {
                strand->step = step->next;
                continue;
            }
            gint64 delay_ns = delay_of(run, step);
            strand->due = true;
            if (delay_ns > 0) {
                bb_run_at(run, delay_ns, BB_RUN_STRAND, strand, 0);
                return;
            }
        }
        strand->due = false;
        if (!bb_strand_act(run, strand, step))
            return;
    }
    strand_end(run, strand);
}

static void time_out(BbRun *run, BbStrand *strand, guint64 ticket)
{
    if (strand->ticket != ticket)
        return;
    if (strand->tries == strand->step->retries) {
        bb_strand_wake(run, strand, ticket);
        return;
    }
    strand->tries++;
    (void)bb_strand_act(run, strand, strand->step);
}

// ---- the run ------------------------------------------------------------------------------------

static void run_init(BbRun *run)
{
    const BbScenario *scenario = run->scenario;
    const BbScenarioOptions *options = &run->options;
    bb_pool_init(&run->works, sizeof(BbWork));
    bb_pool_init(&run->strands, sizeof(BbStrand));
    bb_pool_init(&run->instances, sizeof(BbRunInstance));
    bb_pool_init(&run->wants, sizeof(BbWant));
    run->random = bb_random_start(options->seed);
    run->agenda = bb_agenda_new(scenario->resolution_ns);
    run->ready = g_array_new(FALSE, FALSE, sizeof(BbEvent));
    run->turns = g_new0(guint32, scenario->targets->len);
    bb_lines_init(run);
    run->ok = bb_names_intern(scenario->names, "ok");
    if (options->without_ids)
        run->hash_stem = bb_names_intern(scenario->names, "#");
    // A number of messages asked for from outside takes as long as it takes.
    gint64 duration_ns = options->duration_ns;
    run->messages = options->messages ? options->messages : scenario->messages;
    if (duration_ns == BB_TIME_NONE)
        duration_ns = options->messages ? G_MAXINT64 : scenario->duration_ns;
    run->now_ns = BB_RUN_START_NS;
    run->end_ns = MIN(duration_ns, G_MAXINT64 - BB_RUN_START_NS) + BB_RUN_START_NS;
}

static void run_clear(BbRun *run)
{
    for (guint slab = 0; slab < run->instances.slabs->len; slab++) {
        BbRunInstance *instances = g_ptr_array_index(run->instances.slabs, slab);
        for (gsize i = 0; i < BB_POOL_SLAB; i++)
            g_free(instances[i].stages);
    }
    bb_pool_clear(&run->works);
    bb_pool_clear(&run->strands);
    bb_pool_clear(&run->instances);
    bb_pool_clear(&run->wants);
    bb_agenda_free(run->agenda);
    g_array_unref(run->ready);
    bb_lines_clear(run);
    g_free(run->loads);
    g_free(run->turns);
}

// What happens now comes first, then what is next in time.
static bool take_event(BbRun *run, BbEvent *event)
{
    if (run->ready_at < run->ready->len) {
        *event = g_array_index(run->ready, BbEvent, run->ready_at++);
        if (run->ready_at == READY_MAX) {
            g_array_remove_range(run->ready, 0, run->ready_at);
            run->ready_at = 0;
        }
        return true;
    }
    g_array_set_size(run->ready, 0);
    run->ready_at = 0;
    if (!bb_agenda_take(run->agenda, event))
        return false;
    run->now_ns = event->time_ns;
    return true;
}

static void handle(BbRun *run, const BbEvent *event)
{
    BbStrand *strand = event->object;
    switch ((BbRunEvent)event->kind) {
    case BB_RUN_NEXT:
        bb_load_next(run, event->object);
        return;
    case BB_RUN_BEGIN:
        bb_load_begin(run, event->object);
        return;
    case BB_RUN_STRAND:
        run_strand(run, strand);
        return;
    case BB_RUN_ARRIVE:
        bb_work_arrive(run, event->object);
        return;
    case BB_RUN_RETURNED:
        bb_work_returned(run, event->object);
        return;
    case BB_RUN_TIMEOUT:
        time_out(run, strand, event->ticket);
        return;
    case BB_RUN_HEDGE:
        if (strand->ticket == event->ticket)
            bb_strand_call(run, strand, strand->step);
        return;
    }
}

bool bb_scenario_run(const BbScenario *scenario, const BbScenarioOptions *options,
                     BbMessageSink sink, gpointer user, GError **error)
{
    BbRun run = {
        .scenario = scenario,
        .options = *options,
        .sink = sink,
        .user = user,
        .error = error,
    };
    BbEvent event;
    run_init(&run);
    bb_load_start_all(&run);
    while (!run.failed && take_event(&run, &event)) {
        handle(&run, &event);
        if (++run.silence > BB_SCENARIO_SILENCE_MAX)
            bb_run_fail(
                &run,
                "%u steps in a row send nothing: raise its chances, let time pass, or give its "
                "pools more connections",
                BB_SCENARIO_SILENCE_MAX);
    }
    run_clear(&run);
    return !run.failed;
}
