// SPDX-License-Identifier: Apache-2.0
// The joint choice of parents where requests wait for one of a few workers.
#include "tests/unit/pool_traces.h"

typedef struct {
    guint requests, calls, workers;
    double between; // mean time between arrivals, us
    bool swap;      // of two requests that arrive at about the same time the later one is first
    guint at_once;  // to so many callees each call is made; 0: one
} Job;

// Who is next begins when a worker is free, and makes its calls one after the other. Returns how
// long requests waited for that, in us.
static double work(Trace *trace, const Job *job)
{
    g_autofree double *free_at = g_new0(double, job->workers);
    double at = 1000 * MS, waited = 0;
    for (guint i = 0; i < job->requests; i++) {
        guint64 id = begin(trace, 0);
        guint w = 0;
        for (guint v = 1; v < job->workers; v++)
            w = free_at[v] < free_at[w] ? v : w;
        at += job->between * bb_random_exponential(&trace->random);
        double seen = job->swap && i % 20 == 0 ? at + about(trace, 0.5 * job->between) : at;
        double now = MAX(seen, free_at[w]);
        waited += now - seen;
        for (guint k = 0; k < job->calls; k++) {
            double from = now + about(trace, 2 * MS);
            for (guint c = 0; c < MAX(job->at_once, 1); c++) {
                double end = leaf(trace, A, B + c, id, from + 20 * c, 6 * MS);
                now = MAX(now, end);
            }
        }
        now += about(trace, 1 * MS);
        both(trace, CLIENT, A, id, seen, now);
        free_at[w] = now;
    }
    return waited;
}

static void check_waits_told(const BbPaths *paths, guint workers, double waited_us)
{
    double told_us = 0;
    ck_assert_ptr_nonnull(paths->worker_wait);
    for (guint32 i = 0; i < paths->n_calls; i++) {
        const BbWorkerWait *wait = &paths->worker_wait[i];
        ck_assert_uint_eq(wait->limit, paths->calls[i].callee == A ? workers : 0);
        ck_assert_int_ge(wait->ns, 0);
        told_us += (double)wait->ns / 1000;
    }
    ck_assert_double_ge(told_us, 0.97 * waited_us);
    ck_assert_double_le(told_us, 1.03 * waited_us);
}

// At least the share `right` of the links.
static void check_links(Job job, double right)
{
    g_auto(Trace) trace = trace_new(50 + job.workers + job.calls);
    double waited_us = work(&trace, &job);
    g_autoptr(BbPaths) paths = infer_joint(&trace);
    Score got = score(&trace, paths);
    printf("%u workers, %u calls, parallelism %.1f, %.0f ms waited: right %.3f\n", job.workers,
           job.calls, got.parallelism, waited_us / job.requests / 1000,
           share(got.right, got.links));
    ck_assert_double_ge(share(got.right, got.links), right);
    check_waits_told(paths, job.workers, waited_us);
}

// From their arrival on, as if each were worked on at once: 1.00, 0.89, 0.68, 0.82.
START_TEST(whose_they_are)
{
    check_links((Job){600, 2, 1, 18 * MS, false}, 0.99);
    check_links((Job){600, 2, 4, 4.8 * MS, false}, 0.94);
    check_links((Job){600, 4, 4, 9 * MS, false}, 0.88);
    check_links((Job){600, 1, 8, 1.2 * MS, false}, 0.92);
}
END_TEST

// Connections are accepted in one order, and requests come on them in another.
START_TEST(in_about_the_order_seen)
{
    check_links((Job){600, 2, 2, 9 * MS, true}, 0.975);
}
END_TEST

// From their arrival on: 0.63, 0.60.
START_TEST(calls_at_once)
{
    check_links((Job){600, 2, 1, 22 * MS, false, 2}, 0.97);
    check_links((Job){600, 2, 2, 11 * MS, false, 2}, 0.9);
}
END_TEST

// The limit of B looks like one of A, too, but all that waits there was passed on.
START_TEST(who_passes_on_has_begun)
{
    g_auto(Trace) trace = trace_new(60);
    double free_at[2] = {0}, at = 1000 * MS;
    for (guint i = 0; i < 600; i++) {
        guint64 id = begin(&trace, 0);
        at += 6 * MS * bb_random_exponential(&trace.random);
        double *worker = &free_at[free_at[1] < free_at[0]], there = at + about(&trace, 1 * MS);
        *worker = MAX(*worker, there) + about(&trace, 10 * MS);
        both(&trace, A, B, begin(&trace, id), there, *worker);
        both(&trace, CLIENT, A, id, at, *worker + about(&trace, 1 * MS));
    }
    g_autoptr(BbPaths) paths = infer_joint(&trace);
    ck_assert_ptr_nonnull(paths->worker_wait);
    for (guint32 i = 0; i < paths->n_calls; i++)
        ck_assert_uint_eq(paths->worker_wait[i].limit, paths->calls[i].callee == B ? 2 : 0);
}
END_TEST

// They share what is known of what they do, not their lines.
START_TEST(replicas)
{
    g_auto(Trace) trace = trace_new(61);
    double free_at[2] = {0}, at = 1000 * MS;
    for (guint i = 0; i < 1000; i++) {
        guint64 id = begin(&trace, 0);
        guint which = i % 2;
        at += 5 * MS * bb_random_exponential(&trace.random);
        double now = MAX(at, free_at[which]) + about(&trace, 2 * MS);
        now = leaf(&trace, which ? D : A, B, id, now, 6 * MS) + about(&trace, 1 * MS);
        both(&trace, CLIENT, which ? D : A, id, at, now);
        free_at[which] = now;
    }
    BbNestingOptions options = bb_nesting_options_default();
    g_autoptr(BbRoles) roles = bb_roles_new(trace.names);
    options.roles = roles;
    options.find_roles = true;
    g_autoptr(BbPaths) paths = infer(&trace, &options);
    check_whole(paths);
    ck_assert_uint_eq(bb_roles_of(roles, A), bb_roles_of(roles, D));
    ck_assert_ptr_nonnull(paths->worker_wait);
    for (guint32 i = 0; i < paths->n_calls; i++)
        ck_assert_uint_eq(paths->worker_wait[i].limit, paths->calls[i].caller == CLIENT ? 1 : 0);
    Score got = score(&trace, paths);
    ck_assert_double_ge(share(got.right, got.links), 0.99);
}
END_TEST

// Processes of one thread that each keep a connection to B; a request is in the line of any of
// them, and comes on a connection that nobody knows. Returns how long requests waited, in us.
static double work_apart(Trace *trace, guint requests)
{
    static const char *const conns[] = {"a1-b", "a2-b", "a3-b", "a4-b"};
    double free_at[4] = {0}, at = 1000 * MS, waited = 0;
    for (guint i = 0; i < requests; i++) {
        guint64 id = begin(trace, 0);
        guint w = (guint)bb_random_below(&trace->random, 4);
        at += 7 * MS * bb_random_exponential(&trace->random);
        double now = MAX(at, free_at[w]);
        waited += now - at;
        for (guint k = 0; k < 2; k++) {
            now = leaf(trace, A, B, id, now + about(trace, 3 * MS), 6 * MS);
            for (guint m = 1; m <= 2; m++)
                g_array_index(trace->messages, BbMessage, trace->messages->len - m).conn = conns[w];
        }
        now += about(trace, 0.4 * MS);
        both(trace, CLIENT, A, id, at, now);
        free_at[w] = now;
    }
    return waited;
}

// Of two requests of a process, the one that waits is not given what is called for the other.
START_TEST(processes_with_connections)
{
    g_auto(Trace) trace = trace_new(62);
    double waited_us = work_apart(&trace, 800), told_us = 0;
    g_autoptr(BbPaths) paths = infer_joint(&trace);
    Score got = score(&trace, paths);
    ck_assert_ptr_nonnull(paths->worker_wait);
    for (guint32 i = 0; i < paths->n_calls; i++) {
        ck_assert(paths->worker_wait[i].keep == (paths->calls[i].callee == A));
        told_us += (double)paths->worker_wait[i].ns / 1000;
    }
    printf("4 processes, %.0f ms waited, %.0f told: right %.3f\n", waited_us / 800 / 1000,
           told_us / 800 / 1000, share(got.right, got.links));
    ck_assert_double_ge(share(got.right, got.links), 0.97);
    ck_assert_double_ge(told_us, 0.9 * waited_us);
    ck_assert_double_le(told_us, 1.05 * waited_us);
}
END_TEST

// ---- one operation -----------------------------------------------------------------------------

// The last call is of an operation.
static void name_op(Trace *trace, const char *op)
{
    for (guint m = 1; m <= 2; m++)
        g_array_index(trace->messages, BbMessage, trace->messages->len - m).op =
            bb_names_intern(trace->names, op);
}

typedef enum { FIRST, AFTER_A_CALL, AT_B, NEVER } Lock; // where orders take it, if they do

// Of requests four in ten are orders, which do most of their work one at a time; the others do not
// wait for them. Returns how long orders waited, in us.
static double order(Trace *trace, guint requests, Lock lock)
{
    double free_at = 0, at = 1000 * MS, waited = 0;
    for (guint i = 0; i < requests; i++) {
        guint64 id = begin(trace, 0);
        bool is_order = bb_random_unit(&trace->random) < 0.4;
        at += 19 * MS * bb_random_exponential(&trace->random);
        double now = at + about(trace, 0.3 * MS);
        if (!is_order || lock == AFTER_A_CALL)
            now = leaf(trace, A, B, id, now, 1 * MS);
        double asked = now;
        if (is_order && lock != NEVER)
            now = MAX(now, free_at);
        waited += now - asked;
        if (is_order && lock == AT_B) {
            now += about(trace, 36 * MS);
            both(trace, A, B, begin(trace, id), asked, now);
            name_op(trace, "UPDATE");
            free_at = now;
        } else if (is_order) {
            for (guint k = 0; k < 2; k++)
                now = leaf(trace, A, C, id, now + about(trace, 4 * MS), 12 * MS);
            free_at = now += about(trace, 8 * MS);
        }
        both(trace, CLIENT, A, id, at, now + about(trace, 0.3 * MS));
        name_op(trace, is_order ? "POST /order" : "GET /item");
    }
    return waited;
}

static void check_orders(Lock lock, const char *op, double right)
{
    g_auto(Trace) trace = trace_new(63 + lock);
    double waited_us = order(&trace, 1000, lock), told_us = 0;
    guint32 waits = bb_names_find(trace.names, op);
    g_autoptr(BbPaths) paths = infer_joint(&trace);
    Score got = score(&trace, paths);
    ck_assert_ptr_nonnull(paths->worker_wait);
    for (guint32 i = 0; i < paths->n_calls; i++) {
        const BbWorkerWait *wait = &paths->worker_wait[i];
        ck_assert_uint_eq(wait->limit, paths->calls[i].op == waits);
        ck_assert(wait->by_op == (wait->limit > 0));
        ck_assert_int_ge(wait->ns, 0);
        told_us += (double)wait->ns / 1000;
    }
    printf("lock of %s: %.1f s waited, %.1f told: right %.4f\n", op, waited_us / 1e6, told_us / 1e6,
           share(got.right, got.links));
    ck_assert_double_ge(told_us, 0.97 * waited_us);
    ck_assert_double_le(told_us, 1.03 * waited_us);
    ck_assert_double_ge(share(got.right, got.links), right);
}

// What is called before the lock is asked for is no waiting. From their arrival on: 0.93, 0.79.
START_TEST(a_lock_of_one_operation)
{
    check_orders(FIRST, "POST /order", 0.995);
    check_orders(AFTER_A_CALL, "POST /order", 0.99);
}
END_TEST

// Orders look as if A made them wait, too, but what A does is no likelier so.
START_TEST(a_lock_of_who_is_called)
{
    check_orders(AT_B, "UPDATE", 0.99);
}
END_TEST

START_TEST(operations_without_a_lock)
{
    g_auto(Trace) trace = trace_new(67);
    order(&trace, 1000, NEVER);
    g_autoptr(BbPaths) paths = infer_joint(&trace);
    ck_assert_ptr_null(paths->worker_wait);
}
END_TEST

START_TEST(who_waits_for_a_pool_has_begun)
{
    g_auto(Trace) trace = trace_new(72);
    play(&trace, &(Load){600, 2, 2, 7 * MS, 3 * MS, 6 * MS});
    g_autoptr(BbPaths) paths = infer_joint(&trace);
    for (guint32 i = 0; paths->worker_wait && i < paths->n_calls; i++)
        ck_assert(paths->worker_wait[i].limit == 0);
}
END_TEST

START_TEST(any_number_of_threads)
{
    g_auto(Trace) trace = trace_new(99);
    work(&trace, &(Job){300, 2, 2, 10 * MS, false});
    g_autoptr(BbPaths) first = NULL;
    for (guint threads = 1; threads <= 3; threads++) {
        BbNestingOptions options = bb_nesting_options_default();
        options.threads = threads;
        g_autoptr(BbPaths) paths = infer(&trace, &options);
        ck_assert_ptr_nonnull(paths->worker_wait);
        for (guint32 i = 0; first && i < paths->n_calls; i++) {
            ck_assert_uint_eq(first->parent[i], paths->parent[i]);
            ck_assert_int_eq(first->worker_wait[i].ns, paths->worker_wait[i].ns);
        }
        if (!first)
            first = g_steal_pointer(&paths);
    }
}
END_TEST

TEST_MAIN("joint workers", whose_they_are, in_about_the_order_seen, calls_at_once,
          who_passes_on_has_begun, replicas, processes_with_connections, a_lock_of_one_operation,
          a_lock_of_who_is_called, operations_without_a_lock, who_waits_for_a_pool_has_begun,
          any_number_of_threads)
