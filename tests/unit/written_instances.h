// SPDX-License-Identifier: Apache-2.0
// Path instances made by hand, and what a form writes of them.
#pragma once

#include "tests/unit/sample_patterns.h"
#include "viz/instances.h"

#include <check.h>

typedef struct Fixture {
    const BbInstanceForm *form;
    BbNames *names;
    BbPaths *paths;
    BbPatterns *patterns;
    GArray *calls, *parents, *confidences, *order, *instances;
} Fixture;

static inline Fixture begin(void)
{
    return (Fixture){
        .form = &bb_instance_form_jsonl,
        .names = bb_names_new(),
        .paths = bb_paths_new(),
        .patterns = bb_patterns_new("nesting"),
        .calls = g_array_new(FALSE, TRUE, sizeof(BbCall)),
        .parents = g_array_new(FALSE, TRUE, sizeof(guint32)),
        .confidences = g_array_new(FALSE, TRUE, sizeof(float)),
        .order = g_array_new(FALSE, TRUE, sizeof(guint32)),
        .instances = g_array_new(FALSE, TRUE, sizeof(BbInstance)),
    };
}

static inline void end(Fixture *f)
{
    f->paths->calls = NULL;
    f->paths->parent = NULL;
    f->paths->confidence = NULL;
    f->paths->order = NULL;
    f->paths->instances = NULL;
    bb_paths_free(f->paths);
    bb_patterns_free(f->patterns);
    bb_names_free(f->names);
    g_array_unref(f->calls);
    g_array_unref(f->parents);
    g_array_unref(f->confidences);
    g_array_unref(f->order);
    g_array_unref(f->instances);
}

// Adds a call A -> B that begins at its index in seconds and takes half a second.
static inline guint32 add_call(Fixture *f, const char *id, guint32 parent, double confidence)
{
    gint64 call_ns = START_NS + f->calls->len * G_GINT64_CONSTANT(1000000000);
    BbCall call = {.call_ns = call_ns,
                   .arrived_ns = call_ns,
                   .replied_ns = call_ns + 500 * MS,
                   .return_ns = call_ns + 500 * MS,
                   .return_end_ns = BB_TIME_NONE,
                   .id = bb_id_parse(f->names, id),
                   .caller = bb_names_intern(f->names, "A"),
                   .callee = bb_names_intern(f->names, "B")};
    float single = (float)confidence;
    g_array_append_val(f->calls, call);
    g_array_append_val(f->parents, parent);
    g_array_append_val(f->confidences, single);
    return f->calls->len - 1;
}

static inline guint32 add_root(Fixture *f, const char *id)
{
    return add_call(f, id, BB_CALL_NO_PARENT, BB_CONFIDENCE_NONE);
}

// Calls from first on, count of them, are one instance.
static inline void add_instance(Fixture *f, guint32 first, guint32 count, guint32 pattern)
{
    BbInstance instance = {f->order->len, count, pattern, f->instances->len};
    g_array_append_val(f->instances, instance);
    for (guint32 i = first; i < first + count; i++)
        g_array_append_val(f->order, i);
}

static inline void add_pattern(Fixture *f, guint64 count, gint64 latency_ns)
{
    sample_pattern(f->patterns, f->names, "A",
                   sample_node(f->names, "B", "", count, 0, latency_ns));
}

static inline void publish(Fixture *f)
{
    f->paths->calls = (BbCall *)(void *)f->calls->data;
    f->paths->n_calls = f->calls->len;
    f->paths->parent = (guint32 *)(void *)f->parents->data;
    f->paths->confidence = (float *)(void *)f->confidences->data;
    f->paths->order = (guint32 *)(void *)f->order->data;
    f->paths->instances = (BbInstance *)(void *)f->instances->data;
    f->paths->n_instances = f->instances->len;
}

// What the form writes; free() it. Not inlined: see view_text.h.
static G_NO_INLINE G_GNUC_UNUSED char *written(Fixture *f, BbViewOptions options)
{
    char *text = NULL;
    size_t length = 0;
    publish(f);
    FILE *out = open_memstream(&text, &length);
    g_autoptr(GError) error = NULL;
    g_autoptr(BbInstances) instances = bb_instances_new(f->form, f->names, false);
    ck_assert(bb_instances_add(instances, f->paths, &error));
    ck_assert(bb_instances_write(instances, f->patterns, &options, out, &error));
    ck_assert_ptr_null(error);
    fclose(out);
    return text;
}

// A message of a trace of calls and returns, as convolution sees it.
static inline guint32 add_message(Fixture *f, const char *from, const char *to, const char *id,
                                  guint32 parent, double confidence)
{
    guint32 index = add_call(f, id, parent, confidence);
    BbCall *call = &g_array_index(f->calls, BbCall, index);
    call->replied_ns = call->return_ns = BB_TIME_NONE;
    call->caller = bb_names_intern(f->names, from);
    call->callee = bb_names_intern(f->names, to);
    return index;
}
