// SPDX-License-Identifier: Apache-2.0
// The joint choice of parents where requests wait for one of a few workers.
#include "tests/unit/pool_traces.h"

typedef struct {
    guint requests, calls, workers;
    double between; // mean time between arrivals, us
    bool swap;      // of two requests that arrive at about the same time the later one is first
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
            now += about(trace, 2 * MS);
            now = leaf(trace, A, B, id, now, 6 * MS);
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
    check_links((Job){600, 2, 2, 9 * MS, true}, 0.96);
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

TEST_MAIN("joint workers", whose_they_are, in_about_the_order_seen, who_waits_for_a_pool_has_begun,
          any_number_of_threads)
