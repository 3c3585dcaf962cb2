// SPDX-License-Identifier: Apache-2.0
// In: a strand and its step. Out: what the step does: messages, waiting, branches.
#include "data/scenario_run.h"

#include <string.h>

#include "data/mix.h"

// ---- messages -----------------------------------------------------------------------------------

typedef struct Sent {
    BbKind kind;
    guint32 sender, receiver, op, status;
    guint64 id, path, parent;
    guint64 conn; // that it went on, a hash; 0: none
} Sent;

static BbMessage message_of_sent(const BbRun *run, const Sent *sent, gint64 travel_ns)
{
    gint64 unit = run->scenario->resolution_ns;
    BbMessage message = bb_message_empty();
    message.kind = sent->kind;
    message.time_ns = run->now_ns - run->now_ns % unit;
    if (run->scenario->network.count > 0)
        message.recv_ns = MIN(run->now_ns, G_MAXINT64 - travel_ns) + travel_ns;
    if (message.recv_ns != BB_TIME_NONE)
        message.recv_ns -= message.recv_ns % unit;
    message.sender = sent->sender;
    message.receiver = sent->receiver;
    message.op = sent->op;
    message.status = sent->status;
    message.id = bb_id_number(sent->id);
    message.path = bb_id_number(sent->path);
    message.parent = sent->parent ? bb_id_number(sent->parent) : (BbId){.form = BB_ID_DASH};
    return message;
}

static void leave_out(const BbRun *run, BbMessage *message)
{
    if (run->options.without_ids) {
        message->id = (BbId){0};
        if (message->parent.form == BB_ID_STEM)
            message->parent.form += run->hash_stem;
    }
    if (run->options.without_truth)
        message->path = message->parent = (BbId){0};
}

// Returns the time that it takes to arrive; sets the connection.
static gint64 emit(BbRun *run, Sent *sent)
{
    gint64 travel_ns = bb_run_sample(run, &run->scenario->network);
    BbMessage message = message_of_sent(run, sent, travel_ns);
    if (run->options.pools)
        bb_pools_connect(run->options.pools, &message);
    if (message.conn && run->scenario->lines > run->scenario->limits->len) // else nobody asks
        sent->conn = bb_mix_bytes(run->options.seed, message.conn, strlen(message.conn));
    leave_out(run, &message);
    run->written++;
    run->silence = 0;
    if (!run->failed && !run->sink(&message, run->user, run->error))
        run->failed = true;
    return travel_ns;
}

static void end_without_return(BbRun *run, guint64 call)
{
    if (run->options.pools)
        bb_pools_end(run->options.pools, bb_id_number(call));
}

// Splitmix's finalizer: paths that follow on each other go anywhere.
static guint64 mix(guint64 x)
{
    x = (x ^ x >> 30) * G_GUINT64_CONSTANT(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * G_GUINT64_CONSTANT(0x94d049bb133111eb);
    return x ^ x >> 31;
}

static guint32 pick_by_share(const BbTarget *target, double u)
{
    guint low = 0, high = target->count - 1;
    while (low < high) {
        guint middle = low + (high - low) / 2;
        if (u < target->shares[middle])
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

// Index among the nodes of target.
static guint32 pick(BbRun *run, const BbTarget *target, guint64 path)
{
    if (target->count == 1)
        return 0;
    switch (target->pick) {
    case BB_PICK_ROUND_ROBIN: {
        guint32 turn = run->turns[target->index];
        run->turns[target->index] = (turn + 1) % target->count;
        return turn;
    }
    case BB_PICK_BY_PATH:
        return pick_by_share(target, (double)(mix(path) >> 11) * 0x1p-53);
    default:
        return pick_by_share(target, bb_random_unit(&run->random));
    }
}

// ---- calls --------------------------------------------------------------------------------------

// The message of a step, which is to be sent.
static BbWant want_of(BbRun *run, BbWork *work, const BbStep *step)
{
    BbWant want = {
        .work = work,
        .step = step,
        .sender = work->node,
        .path = work->path ? work->path : ++run->paths,
    };
    if (step->from)
        want.sender = step->from->nodes[pick(run, step->from, want.path)];
    want.index = pick(run, step->to, want.path);
    want.receiver = step->to->nodes[want.index];
    return want;
}

static Sent sent_of(BbRun *run, const BbWant *want, BbKind kind)
{
    return (Sent){
        .kind = kind,
        .sender = want->sender,
        .receiver = want->receiver,
        .op = want->step->op,
        .id = ++run->ids,
        .path = want->path,
        .parent = want->work->id,
    };
}

// What the message makes its receiver do; debt is NULL for a free one.
static void deliver(BbRun *run, const BbWant *want, const Sent *sent, const BbDebt *debt,
                    gint64 travel_ns)
{
    const BbStep *step = want->step;
    BbWork *next = bb_work_new(run, want->work->instance, want->work->depth + 1);
    next->body = step->body ? step->body : step->bodies[want->index];
    next->id = sent->id;
    next->path = sent->path;
    next->node = sent->receiver;
    next->conn = sent->conn;
    if (debt) {
        next->debt = *debt;
        next->owes = true;
    }
    bb_run_at(run, travel_ns, BB_RUN_ARRIVE, next, 0);
}

// One of the async calls of work is over.
static void end_async(BbRun *run, BbWork *work)
{
    BbStrand *waiting = work->waiting;
    if (--work->open > 0)
        return;
    work->waiting = NULL;
    for (BbStrand *next = NULL; waiting; waiting = next) {
        next = waiting->next_waiting;
        bb_strand_go_on(run, waiting);
    }
}

// Returns whether the call is under way: it may be lost, and nobody may want it any more, as its
// caller has gone on (then its work may be gone) or failed.
static bool send_call(BbRun *run, const BbWant *want, BbLine *pool)
{
    bool is_async = want->step->kind == BB_STEP_ASYNC;
    if (want->waiter && want->waiter->ticket != want->ticket)
        return false;
    if (want->work->failed) {
        bb_strand_wake(run, want->waiter, want->ticket);
        if (is_async)
            end_async(run, want->work);
        return false;
    }
    Sent sent = sent_of(run, want, BB_CALL);
    gint64 travel_ns = emit(run, &sent);
    if (bb_random_chance(&run->random, want->step->lost)) {
        end_without_return(run, sent.id);
        if (is_async)
            end_async(run, want->work);
        return false;
    }
    BbDebt debt = {
        .id = sent.id,
        .path = sent.path,
        .parent = sent.parent,
        .caller = sent.sender,
        .op = sent.op,
        .waiter = want->waiter,
        .ticket = want->ticket,
        .async = is_async ? want->work : NULL,
        .pool = pool,
    };
    if (is_async)
        want->work->refs++;
    deliver(run, want, &sent, &debt, travel_ns);
    return true;
}

// A connection of the pool is free: the first one in line that still wants it has it.
static void pass_on(BbRun *run, BbLine *pool)
{
    BbWant *want = NULL;
    for (bool used = false; !used && (want = bb_line_leave(pool));) {
        BbWork *kept = want->waiter ? NULL : want->work;
        used = send_call(run, want, pool);
        bb_pool_give(&run->wants, want);
        if (kept)
            bb_work_unref(run, kept);
    }
}

static void stand_in_line(BbRun *run, BbLine *pool, const BbWant *want)
{
    BbWant *kept = bb_pool_take(&run->wants);
    *kept = *want;
    kept->work->refs += !kept->waiter;
    bb_line_wait(pool, kept);
    bb_run_check_under_way(run);
}

void bb_strand_call(BbRun *run, BbStrand *strand, const BbStep *step)
{
    BbWant want = want_of(run, strand->work, step);
    want.waiter = strand->ticket ? strand : NULL;
    want.ticket = strand->ticket;
    want.work->open += step->kind == BB_STEP_ASYNC;
    BbLine *pool = bb_line_of(run, want.sender, want.receiver, 0);
    if (!bb_line_take(pool))
        stand_in_line(run, pool, &want);
    else if (!send_call(run, &want, pool))
        pass_on(run, pool);
}

// Each of the following does a step. Returns whether the strand goes on at once.

static bool do_call(BbRun *run, BbStrand *strand, const BbStep *step)
{
    strand->ticket = ++run->tickets;
    if (step->has_timeout)
        bb_run_at(run, MAX(1, bb_run_sample(run, &step->timeout)), BB_RUN_TIMEOUT, strand,
                  strand->ticket);
    if (step->has_hedge)
        bb_run_at(run, MAX(1, bb_run_sample(run, &step->hedge)), BB_RUN_HEDGE, strand,
                  strand->ticket);
    bb_strand_call(run, strand, step);
    return false;
}

static bool do_async(BbRun *run, BbStrand *strand, const BbStep *step)
{
    strand->step = step->next;
    bb_strand_call(run, strand, step);
    return true;
}

static bool do_send(BbRun *run, BbStrand *strand, const BbStep *step)
{
    BbWant want = want_of(run, strand->work, step);
    Sent sent = sent_of(run, &want, BB_FREE);
    gint64 travel_ns = emit(run, &sent);
    if (!bb_random_chance(&run->random, step->lost))
        deliver(run, &want, &sent, NULL, travel_ns);
    strand->step = step->next;
    return true;
}

// The work has answered, or handed on, what it was asked for. If that is a call that was handed on
// to it, there is no return of its own.
static void pay(BbRun *run, BbWork *work)
{
    work->owes = false;
    if (work->id != work->debt.id)
        end_without_return(run, work->id);
}

static bool do_forward(BbRun *run, BbStrand *strand, const BbStep *step)
{
    BbWork *work = strand->work;
    strand->step = step->next;
    if (!work->owes)
        return true;
    BbWant want = want_of(run, work, step);
    Sent sent = sent_of(run, &want, BB_CALL);
    gint64 travel_ns = emit(run, &sent);
    pay(run, work);
    deliver(run, &want, &sent, &work->debt, travel_ns);
    return true;
}

// The caller has it.
void bb_work_returned(BbRun *run, BbWork *work)
{
    BbWork *async = work->debt.async;
    bb_strand_wake(run, work->debt.waiter, work->debt.ticket);
    if (async) {
        end_async(run, async);
        bb_work_unref(run, async);
    }
    pass_on(run, work->debt.pool);
    bb_work_unref(run, work);
}

static void send_return(BbRun *run, BbWork *work, guint32 status)
{
    const BbDebt *debt = &work->debt;
    Sent sent = {
        .kind = BB_RETURN,
        .sender = work->node,
        .receiver = debt->caller,
        .op = debt->op,
        .status = status ? status : run->ok,
        .id = debt->id,
        .path = debt->path,
        .parent = debt->parent,
    };
    work->refs++;
    bb_run_at(run, emit(run, &sent), BB_RUN_RETURNED, work, 0);
    pay(run, work);
}

static bool do_reply(BbRun *run, BbStrand *strand, const BbStep *step)
{
    strand->step = step->next;
    if (strand->work->owes)
        send_return(run, strand->work, step->status);
    return true;
}

static bool do_fail(BbRun *run, BbStrand *strand, const BbStep *step)
{
    (void)do_reply(run, strand, step);
    strand->work->failed = true;
    bb_work_end(run, strand->work);
    return true;
}

static bool do_pause(BbRun *run, BbStrand *strand, const BbStep *step)
{
    strand->step = step->next;
    return true;
}

static bool do_wait(BbRun *run, BbStrand *strand, const BbStep *step)
{
    BbWork *work = strand->work;
    strand->step = step->next;
    if (work->open == 0)
        return true;
    strand->next_waiting = work->waiting;
    work->waiting = strand;
    return false;
}

static void branch_off(BbRun *run, BbStrand *strand, const BbStep *first, guint64 times)
{
    BbStrand *branch = bb_strand_new(run, strand->work, first);
    branch->join = strand;
    branch->again = first;
    branch->left = times - 1;
    strand->branches++;
    bb_strand_go_on(run, branch);
}

static bool do_parallel(BbRun *run, BbStrand *strand, const BbStep *step)
{
    strand->step = step->next;
    for (guint i = 0; i < step->n_branches; i++)
        branch_off(run, strand, step->branches[i], 1);
    return false;
}

static bool do_choose(BbRun *run, BbStrand *strand, const BbStep *step)
{
    double u = step->n_branches == 1 && step->shares[0] >= 1 ? 0 : bb_random_unit(&run->random);
    const BbStep *next = step->next;
    for (guint i = 0; i < step->n_branches; i++) {
        if (u < step->shares[i]) {
            next = step->branches[i] ? step->branches[i] : next;
            break;
        }
    }
    strand->step = next;
    return true;
}

static bool do_repeat(BbRun *run, BbStrand *strand, const BbStep *step)
{
    guint64 spread = step->to_times - step->from_times;
    guint64 times = step->from_times;
    if (spread > 0)
        times += bb_random_below(&run->random, spread + 1);
    strand->step = step->next;
    if (times == 0 || !step->branches[0])
        return true;
    branch_off(run, strand, step->branches[0], times);
    return false;
}

// ---- scripts ------------------------------------------------------------------------------------

static bool do_script_message(BbRun *run, BbStrand *strand, const BbStep *step)
{
    BbStage *stages = strand->work->instance->stages;
    const BbStage *of = step->of == BB_NO_LABEL ? NULL : &stages[step->of];
    guint64 path = of ? of->path : ++run->paths;
    Sent sent = {
        .kind = step->kind == BB_STEP_SCRIPT_CALL ? BB_CALL : BB_FREE,
        .sender = of ? of->receiver : step->from->nodes[pick(run, step->from, path)],
        .receiver = step->to->nodes[pick(run, step->to, path)],
        .op = step->op,
        .id = ++run->ids,
        .path = path,
        .parent = of ? of->id : 0,
    };
    stages[step->label] =
        (BbStage){sent.id, path, sent.parent, sent.sender, sent.receiver, sent.op};
    strand->step = step->next;
    (void)emit(run, &sent);
    return true;
}

static bool do_script_return(BbRun *run, BbStrand *strand, const BbStep *step)
{
    const BbStage *of = &strand->work->instance->stages[step->of];
    Sent sent = {
        .kind = BB_RETURN,
        .sender = of->receiver,
        .receiver = of->sender,
        .op = of->op,
        .status = step->status,
        .id = of->id,
        .path = of->path,
        .parent = of->parent,
    };
    strand->step = step->next;
    (void)emit(run, &sent);
    return true;
}

// ---- the table ----------------------------------------------------------------------------------

bool bb_strand_act(BbRun *run, BbStrand *strand, const BbStep *step)
{
    static bool (*const actions[])(BbRun * run, BbStrand * strand, const BbStep *step) = {
        [BB_STEP_CALL] = do_call,
        [BB_STEP_ASYNC] = do_async,
        [BB_STEP_SEND] = do_send,
        [BB_STEP_FORWARD] = do_forward,
        [BB_STEP_REPLY] = do_reply,
        [BB_STEP_FAIL] = do_fail,
        [BB_STEP_PAUSE] = do_pause,
        [BB_STEP_WAIT] = do_wait,
        [BB_STEP_PARALLEL] = do_parallel,
        [BB_STEP_CHOOSE] = do_choose,
        [BB_STEP_REPEAT] = do_repeat,
        [BB_STEP_SCRIPT_CALL] = do_script_message,
        [BB_STEP_SCRIPT_SEND] = do_script_message,
        [BB_STEP_SCRIPT_RETURN] = do_script_return,
    };
    return actions[step->kind](run, strand, step);
}
