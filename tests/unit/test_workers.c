// SPDX-License-Identifier: Apache-2.0
// Nodes that work on so many calls at once: how many, and when each call's turn came.
#include "nesting/workers.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "data/random.h"
#include "tests/unit/test.h"

enum { CLIENT, A, B, NAMES };

typedef struct {
    guint workers;
    double load; // of them
    double wide; // standard deviation of the logarithm of how long a call takes
    guint n;
    bool last_first; // who came last is next
    double at_once;  // share of calls that somebody else replies to
} Server;

typedef struct {
    BbCall *calls;
    gint64 *begun; // of calls: the truth
    guint32 n;
} Served;

static void served_clear(Served *served)
{
    g_free(served->calls);
    g_free(served->begun);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Served, served_clear)

static BbCall call_of(guint32 caller, guint32 callee, gint64 from, gint64 to)
{
    return (BbCall){.call_ns = from,
                    .arrived_ns = from,
                    .return_ns = to,
                    .replied_ns = to,
                    .return_end_ns = to,
                    .caller = caller,
                    .callee = callee,
                    .op = BB_NAME_NONE};
}

// The call that is next of those arrived; served->n: none waits. from: all before it are done.
static guint32 next_of(const Served *served, const bool *done, guint32 from, guint32 arrived,
                       bool last_first)
{
    guint32 next = served->n;
    for (guint32 i = from; i < arrived && (next == served->n || last_first); i++)
        next = done[i] ? next : i;
    return next;
}

// Calls to A, by a mean of 10 ms each.
static Served serve(const Server *server, guint64 seed)
{
    BbRandom random = bb_random_start(seed);
    Served served = {g_new(BbCall, server->n), g_new(gint64, server->n), server->n};
    g_autofree gint64 *free_at = g_new0(gint64, server->workers);
    g_autofree bool *done = g_new0(bool, server->n);
    double at = 1e9, between = 1e7 / server->load / server->workers;
    for (guint32 i = 0; i < served.n; i++) {
        at += between * bb_random_exponential(&random);
        served.calls[i] = call_of(CLIENT, A, (gint64)at, 0);
    }
    for (guint32 from = 0; from < served.n;) {
        guint w = 0;
        for (guint v = 1; v < server->workers; v++)
            w = free_at[v] < free_at[w] ? v : w;
        guint32 arrived = from;
        while (arrived < served.n && served.calls[arrived].call_ns <= free_at[w])
            arrived++;
        guint32 i = next_of(&served, done, from, arrived, server->last_first);
        while (i == served.n) // all wait for the next one to arrive
            i = next_of(&served, done, from, ++arrived, server->last_first);
        double takes = 1e7 * exp(server->wide * bb_random_normal(&random));
        served.begun[i] = MAX(free_at[w], served.calls[i].call_ns);
        done[i] = true;
        gint64 end = served.begun[i] + (gint64)takes;
        if (bb_random_unit(&random) < server->at_once)
            end = (served.begun[i] = served.calls[i].call_ns) + 1000;
        else
            free_at[w] = end;
        served.calls[i].return_ns = served.calls[i].replied_ns = end;
        while (from < served.n && done[from])
            from++;
    }
    return served;
}

static BbWorkers *find(const Served *served)
{
    g_autoptr(BbGapScale) scale = bb_gap_scale_new();
    return bb_workers_find(served->calls, served->n, NAMES, true, true, scale);
}

static guint32 limit_of(const Server *server)
{
    g_auto(Served) served = serve(server, 7 * server->workers + server->n);
    g_autoptr(BbWorkers) workers = find(&served);
    return workers ? workers->limit[A] : 0;
}

// ---- with a limit ------------------------------------------------------------------------------

START_TEST(how_many_there_are)
{
    static const guint n[] = {1, 2, 3, 4, 8, 16};
    static const double wide[] = {0.1, 0.3, 0.8};
    for (guint i = 0; i < G_N_ELEMENTS(n); i++)
        for (guint k = 0; k < G_N_ELEMENTS(wide); k++)
            ck_assert_uint_eq(limit_of(&(Server){n[i], 1.05, wide[k], 1500, false, 0}), n[i]);
}
END_TEST

// Not busy all the time.
START_TEST(at_times)
{
    ck_assert_uint_eq(limit_of(&(Server){1, 0.6, 0.3, 1500, false, 0}), 1);
    ck_assert_uint_eq(limit_of(&(Server){2, 0.7, 0.3, 1500, false, 0}), 2);
    ck_assert_uint_eq(limit_of(&(Server){4, 0.8, 0.3, 1500, false, 0}), 4);
}
END_TEST

static void check_turns(guint n)
{
    g_auto(Served) served = serve(&(Server){n, 0.95, 0.4, 1200, false, 0}, n);
    g_autoptr(BbWorkers) workers = find(&served);
    ck_assert_ptr_nonnull(workers);
    ck_assert_uint_eq(workers->limit[A], n);
    ck_assert_uint_eq(workers->limit[CLIENT], 0);
    for (guint32 i = 0; i < served.n; i++) {
        gint64 before = i > 0 ? served.begun[i - 1] : G_MININT64;
        ck_assert_int_eq(workers->begun_ns[i], served.begun[i]);
        ck_assert_int_eq(workers->first_ns[i], MAX(before, served.calls[i].arrived_ns));
    }
}

START_TEST(when_each_begins)
{
    check_turns(1);
    check_turns(2);
    check_turns(5);
}
END_TEST

// Now and then somebody else replies, as to a check of health: these begin when they arrive.
START_TEST(out_of_turn)
{
    g_auto(Served) served = serve(&(Server){2, 1.1, 0.4, 4000, false, 0.0015}, 3);
    g_autoptr(BbWorkers) workers = find(&served);
    ck_assert_ptr_nonnull(workers);
    ck_assert_uint_eq(workers->limit[A], 2);
    for (guint32 i = 0; i < served.n; i++)
        ck_assert_int_eq(workers->begun_ns[i], served.begun[i]);
    ck_assert_uint_eq(limit_of(&(Server){2, 1.1, 0.4, 4000, false, 0.02}), 0);
}
END_TEST

// Most of the time nobody waits.
START_TEST(at_the_end)
{
    g_auto(Served) idle = serve(&(Server){3, 0.05, 0.3, 9000, false, 0}, 8);
    g_auto(Served) busy = serve(&(Server){3, 1.02, 0.3, 1500, false, 0}, 9);
    gint64 shift = idle.calls[idle.n - 1].call_ns;
    idle.calls = g_renew(BbCall, idle.calls, (gsize)idle.n + busy.n);
    for (guint32 i = 0; i < busy.n; i++)
        idle.calls[idle.n++] =
            call_of(CLIENT, A, busy.calls[i].call_ns + shift, busy.calls[i].return_ns + shift);
    g_autoptr(BbWorkers) workers = find(&idle);
    ck_assert_ptr_nonnull(workers);
    ck_assert_uint_eq(workers->limit[A], 3);
}
END_TEST

// Of what was lost nothing is known; the others have their turns.
START_TEST(replies_that_are_missing)
{
    g_auto(Served) served = serve(&(Server){3, 1.05, 0.4, 1500, false, 0}, 4);
    for (guint32 i = 7; i < served.n; i += 40)
        served.calls[i].return_ns = served.calls[i].replied_ns = BB_TIME_NONE;
    g_autoptr(BbWorkers) workers = find(&served);
    ck_assert_ptr_nonnull(workers);
    ck_assert_uint_eq(workers->limit[A], 3);
    for (guint32 i = 0; i < served.n; i++) {
        ck_assert_int_le(workers->begun_ns[i], served.begun[i]);
        ck_assert_int_ge(workers->begun_ns[i], served.calls[i].arrived_ns);
    }
}
END_TEST

// ---- without -----------------------------------------------------------------------------------

// As many as there are calls.
START_TEST(nobody_waits)
{
    static const double load[] = {2, 8, 30}, wide[] = {0.01, 0.3, 0.8};
    for (guint i = 0; i < G_N_ELEMENTS(load); i++)
        for (guint k = 0; k < G_N_ELEMENTS(wide); k++)
            ck_assert_uint_eq(limit_of(&(Server){1500, load[i] / 1500, wide[k], 1500, false, 0}),
                              0);
}
END_TEST

START_TEST(too_few_to_tell)
{
    ck_assert_uint_eq(limit_of(&(Server){1, 1.1, 0.3, 40, false, 0}), 0);
    ck_assert_uint_eq(limit_of(&(Server){1, 1.1, 0.3, 100, false, 0}), 1);
    ck_assert_ptr_null(bb_workers_find(NULL, 0, 0, true, true, NULL));
}
END_TEST

START_TEST(the_last_one_first)
{
    ck_assert_uint_eq(limit_of(&(Server){2, 1.1, 0.3, 1500, true, 0}), 0);
}
END_TEST

static int by_call(const void *a, const void *b)
{
    const BbCall *x = a, *y = b;
    return (x->call_ns > y->call_ns) - (x->call_ns < y->call_ns);
}

// Who passes on all that it gets looks like that, too; but for what it calls
// (test_joint_workers.c).
START_TEST(whoever_looks_so)
{
    g_auto(Served) served = serve(&(Server){2, 1.1, 0.3, 1500, false, 0}, 5);
    served.calls = g_renew(BbCall, served.calls, 2 * (gsize)served.n);
    for (guint32 i = 0; i < served.n; i++) {
        BbCall *call = &served.calls[i];
        served.calls[served.n + i] = call_of(A, B, call->call_ns + 1000, call->return_ns - 1000);
    }
    served.n *= 2;
    qsort(served.calls, served.n, sizeof *served.calls, by_call);
    g_autoptr(BbWorkers) workers = find(&served);
    ck_assert_ptr_nonnull(workers);
    ck_assert_uint_eq(workers->limit[A], 2);
    ck_assert_uint_eq(workers->limit[B], 2);
    ck_assert_uint_eq(workers->limit[CLIENT], 0);
}
END_TEST

// ---- operations --------------------------------------------------------------------------------

enum { ORDER = 10, OTHER }; // operations; all from OTHER on have no lock

static int by_call_then_op(const void *a, const void *b)
{
    const BbCall *x = a, *y = b;
    if (x->call_ns != y->call_ns)
        return x->call_ns < y->call_ns ? -1 : 1;
    return (x->op > y->op) - (x->op < y->op);
}

// Adds calls of an operation that go on at the same time as the others. Afterwards only id.number
// tells when they truly began.
static void add_op(Served *all, guint32 op, const Server *server, guint64 seed)
{
    g_auto(Served) served = serve(server, seed);
    all->calls = g_renew(BbCall, all->calls, (gsize)all->n + served.n);
    for (guint32 i = 0; i < served.n; i++) {
        served.calls[i].op = op;
        served.calls[i].id.number = (guint64)served.begun[i];
        all->calls[all->n++] = served.calls[i];
    }
    qsort(all->calls, all->n, sizeof *all->calls, by_call_then_op);
}

// So many calls of operations without limit, each of which has so many open.
static void add_others(Served *all, guint ops, guint n, double open, double wide, guint64 seed)
{
    for (guint k = 0; k < ops; k++)
        add_op(all, OTHER + k, &(Server){n, open / n, wide, n, false, 0}, seed + k);
}

static void check_op(guint n, double load, double wide)
{
    g_auto(Served) all = {0};
    add_op(&all, ORDER, &(Server){n, load, wide, 800, false, 0}, 10 * n);
    add_others(&all, 2, 800, 1, 0.3, 11);
    g_autoptr(BbWorkers) workers = find(&all);
    ck_assert_ptr_nonnull(workers);
    ck_assert_uint_eq(workers->limit[A], 0);
    ck_assert(workers->margin[A] > 0);
    for (guint32 i = 0; i < all.n; i++) {
        const BbCall *call = &all.calls[i];
        ck_assert_uint_eq(bb_workers_limit(workers, call), call->op == ORDER ? n : 0);
        ck_assert_int_eq(workers->begun_ns[i], (gint64)call->id.number);
        ck_assert_int_eq(workers->first_ns[i], call->arrived_ns);
    }
}

START_TEST(a_lock_of_one_operation)
{
    static const double load[] = {0.5, 0.7, 0.85}, wide[] = {0.1, 0.3, 0.8};
    for (guint i = 0; i < G_N_ELEMENTS(load); i++)
        for (guint k = 0; k < G_N_ELEMENTS(wide); k++)
            check_op(1, load[i], wide[k]);
    check_op(2, 0.85, 0.3);
    check_op(4, 0.95, 0.3);
}
END_TEST

// What is not believed of a node is not of its operations.
START_TEST(no_lock_where_it_is_forgotten)
{
    g_auto(Served) all = {0};
    add_op(&all, ORDER, &(Server){1, 0.8, 0.3, 800, false, 0}, 1);
    add_others(&all, 2, 800, 1, 0.3, 2);
    g_autoptr(BbWorkers) workers = find(&all);
    ck_assert_ptr_nonnull(workers);
    workers->margin[A] = 0;
    for (guint32 i = 0; i < all.n; i++)
        ck_assert_uint_eq(bb_workers_limit(workers, &all.calls[i]), 0);
}
END_TEST

// Nearly all are of it, so the node itself looks as if it had some workers.
START_TEST(a_lock_of_most_calls)
{
    g_auto(Served) all = {0};
    add_op(&all, ORDER, &(Server){1, 0.85, 0.25, 1400, false, 0}, 3);
    add_others(&all, 1, 80, 0.05, 0.25, 4);
    g_autoptr(BbWorkers) workers = find(&all);
    ck_assert_ptr_nonnull(workers);
    ck_assert_uint_eq(workers->limit[A], 0);
    for (guint32 i = 0; i < all.n; i++)
        ck_assert_uint_eq(bb_workers_limit(workers, &all.calls[i]), all.calls[i].op == ORDER);
}
END_TEST

// One that operations share is the node's.
START_TEST(one_line_of_all)
{
    static const guint n[] = {1, 2, 4};
    for (guint i = 0; i < G_N_ELEMENTS(n); i++) {
        g_auto(Served) served = serve(&(Server){n[i], 0.95, 0.3, 1500, false, 0}, 5);
        for (guint32 c = 0; c < served.n; c++)
            served.calls[c].op = ORDER + (c * 7 % 10 < 3);
        g_autoptr(BbWorkers) workers = find(&served);
        ck_assert_ptr_nonnull(workers);
        ck_assert_uint_eq(workers->limit[A], n[i]);
        ck_assert_uint_eq(bb_workers_limit(workers, &served.calls[0]), n[i]);
    }
}
END_TEST

START_TEST(operations_that_are_not_known)
{
    g_autoptr(BbGapScale) scale = bb_gap_scale_new();
    g_auto(Served) all = {0};
    add_op(&all, ORDER, &(Server){1, 0.85, 0.3, 800, false, 0}, 6);
    add_others(&all, 2, 800, 1, 0.3, 7);
    ck_assert_ptr_null(bb_workers_find(all.calls, all.n, NAMES, false, true, scale));
    for (guint32 i = 0; i < all.n; i++)
        all.calls[i].op = all.calls[i].op == ORDER ? BB_NAME_NONE : all.calls[i].op;
    ck_assert_ptr_null(bb_workers_find(all.calls, all.n, NAMES, true, true, scale));
}
END_TEST

// The more operations the more looks, and the fewer calls the more may chance do in each.
START_TEST(operations_without_a_lock)
{
    static const struct {
        guint ops, n, seeds;
    } each[] = {{2, 1000, 6}, {12, 200, 20}, {12, 100, 20}, {30, 60, 20}};
    static const double open[] = {1, 4, 12}, wide[] = {0.01, 0.3, 0.8, 1.5};
    for (guint e = 0; e < G_N_ELEMENTS(each); e++)
        for (guint i = 0; i < G_N_ELEMENTS(open) * G_N_ELEMENTS(wide) * each[e].seeds; i++) {
            g_auto(Served) all = {0};
            add_others(&all, each[e].ops, each[e].n, open[i % G_N_ELEMENTS(open)],
                       wide[i / G_N_ELEMENTS(open) % G_N_ELEMENTS(wide)], 1000 * e + 100 * i);
            ck_assert_ptr_null(find(&all));
        }
}
END_TEST

// What is slow now and then, for all that are open, makes some last alike that do not wait.
START_TEST(operations_that_are_slow_at_times)
{
    BbRandom random = bb_random_start(12);
    for (guint round = 0; round < 60; round++) {
        g_auto(Served) all = {0};
        add_others(&all, 12, 150, 1 << round % 4, 0.1, 100 * round);
        double slow = 0;
        for (guint32 i = 0; i < all.n; i++) {
            BbCall *call = &all.calls[i];
            slow = 0.99 * slow + 0.15 * bb_random_normal(&random);
            call->replied_ns = call->return_ns =
                call->arrived_ns +
                (gint64)((double)(call->replied_ns - call->arrived_ns) * exp(slow));
        }
        ck_assert_ptr_null(find(&all));
    }
}
END_TEST

// ---- oracle, hostile times ---------------------------------------------------------------------

// The first time at which fewer of those before it are open than there are workers.
static gint64 turn_of(const Served *served, guint32 i, guint workers)
{
    gint64 turn = served->calls[i].arrived_ns;
    for (;;) {
        guint open = 0;
        gint64 next = G_MAXINT64;
        for (guint32 k = 0; k < i; k++) {
            if (served->calls[k].replied_ns <= turn)
                continue;
            open++;
            next = MIN(next, served->calls[k].replied_ns);
        }
        if (open < workers)
            return turn;
        turn = next;
    }
}

START_TEST(as_one_would_count)
{
    g_auto(Served) served = serve(&(Server){4, 1.02, 0.5, 600, false, 0}, 6);
    g_autoptr(BbWorkers) workers = find(&served);
    ck_assert_ptr_nonnull(workers);
    for (guint32 i = 0; i < served.n; i++)
        ck_assert_int_eq(workers->begun_ns[i], turn_of(&served, i, workers->limit[A]));
}
END_TEST

START_TEST(times_of_any_kind)
{
    BbRandom random = bb_random_start(8);
    g_auto(Served) served = serve(&(Server){1, 1.1, 0.3, 600, false, 0}, 9);
    for (guint32 i = 0; i < served.n; i += 3) {
        BbCall *call = &served.calls[i];
        gint64 *time[] = {&call->arrived_ns, &call->replied_ns, &call->return_ns};
        gint64 *one = time[bb_random_below(&random, 3)];
        *one = bb_random_unit(&random) < 0.5 ? G_MININT64 + 1 : G_MAXINT64 - 1;
    }
    g_autoptr(BbWorkers) workers = find(&served);
    for (guint32 i = 0; workers && i < served.n; i++)
        ck_assert_int_ge(workers->begun_ns[i], served.calls[i].arrived_ns);
}
END_TEST

TEST_MAIN("workers", how_many_there_are, at_times, when_each_begins, out_of_turn, at_the_end,
          replies_that_are_missing, nobody_waits, too_few_to_tell, the_last_one_first,
          whoever_looks_so, a_lock_of_one_operation, no_lock_where_it_is_forgotten,
          a_lock_of_most_calls, one_line_of_all, operations_that_are_not_known,
          operations_without_a_lock, operations_that_are_slow_at_times, as_one_would_count,
          times_of_any_kind)
