// SPDX-License-Identifier: Apache-2.0
// Measures the writing of path instances: so many of five calls each (first argument, default a
// million), ids as a capture gives them, to a file (second argument, default /dev/null). The goal
// is a second or two for a million.
#include "viz/instances.h"

#include <stdlib.h>

#define CALLS 5

static BbPaths *make_paths(BbNames *names, guint32 n_instances)
{
    BbPaths *paths = bb_paths_new();
    paths->n_calls = n_instances * CALLS;
    paths->n_instances = n_instances;
    paths->calls = g_new0(BbCall, paths->n_calls);
    paths->parent = g_new(guint32, paths->n_calls);
    paths->confidence = g_new(float, paths->n_calls);
    paths->order = g_new(guint32, paths->n_calls);
    paths->instances = g_new(BbInstance, n_instances);
    guint32 front = bb_names_intern(names, "frontend.shop.example.net");
    guint32 back = bb_names_intern(names, "backend-7.shop.example.net");
    for (guint32 i = 0; i < paths->n_calls; i++) {
        gint64 call_ns = G_GINT64_CONSTANT(1047680084482205000) + i * G_GINT64_CONSTANT(1000);
        paths->calls[i] = (BbCall){.call_ns = call_ns,
                                   .return_ns = call_ns + 12345678,
                                   .id = bb_id_number(i + 1),
                                   .caller = front,
                                   .callee = back};
        paths->parent[i] = i % CALLS ? i - 1 : BB_CALL_NO_PARENT;
        paths->confidence[i] = 0.98f;
        paths->order[i] = i;
    }
    for (guint32 i = 0; i < n_instances; i++)
        paths->instances[i] = (BbInstance){i * CALLS, CALLS, BB_PATTERN_NONE, i};
    return paths;
}

int main(int argc, char **argv)
{
    guint32 n_instances = argc > 1 ? (guint32)strtoul(argv[1], NULL, 10) : 1000000;
    FILE *out = fopen(argc > 2 ? argv[2] : "/dev/null", "w");
    if (!out)
        return EXIT_FAILURE;
    g_autoptr(BbNames) names = bb_names_new();
    g_autoptr(BbPaths) paths = make_paths(names, n_instances);
    g_autoptr(BbPatterns) patterns = bb_patterns_new("nesting");
    g_autoptr(GError) error = NULL;
    BbViewOptions options = BB_VIEW_OPTIONS_DEFAULT;
    gint64 start_us = g_get_monotonic_time();
    g_autoptr(BbInstances) instances = bb_instances_new(bb_instance_forms[0], names, false);
    bool good = bb_instances_add(instances, paths, &error);
    double aside = (double)(g_get_monotonic_time() - start_us) / 1e6;
    good = good && bb_instances_write(instances, patterns, &options, out, &error);
    double seconds = (double)(g_get_monotonic_time() - start_us) / 1e6;
    printf("%u instances of %d calls: %.2f s (put aside: %.2f s), %.2f million calls/s%s\n",
           n_instances, CALLS, seconds, aside, paths->n_calls / seconds / 1e6,
           good ? "" : ": failed");
    return fclose(out) == 0 && good ? EXIT_SUCCESS : EXIT_FAILURE;
}
