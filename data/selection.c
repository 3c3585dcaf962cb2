// SPDX-License-Identifier: Apache-2.0
// In: path instances and conditions. Out: the instances that meet them all.
#include "data/selection.h"

#include <string.h>

#include "data/caption.h"
#include "data/glob.h"
#include "data/status.h"

// What is known of a name so far.
enum { IS_NODE = 1, ROOT_WANTED = 2, THROUGH_WANTED = 4, IS_OP = 8, OP_WANTED = 16 };

struct BbSelection {
    BbSelectionOptions options;
    const BbNames *names;
    GByteArray *known; // by name
};

BbSelection *bb_selection_new(const BbSelectionOptions *options, const BbNames *names)
{
    BbSelection *selection = g_new0(BbSelection, 1);
    selection->options = *options;
    selection->names = names;
    selection->known = g_byte_array_new();
    return selection;
}

void bb_selection_free(BbSelection *selection)
{
    if (!selection)
        return;
    g_byte_array_unref(selection->known);
    g_free(selection);
}

bool bb_selection_chooses(const BbSelectionOptions *options)
{
    return options->root || options->through || options->op || options->slower_ns > 0 ||
           options->errors || options->from_ns != BB_TIME_NONE || options->to_ns != BB_TIME_NONE;
}

// ---- names -------------------------------------------------------------------------------------

// Names may have been added since the last window.
static void make_room(BbSelection *selection)
{
    guint before = selection->known->len, count = bb_names_count(selection->names);
    if (count <= before)
        return;
    g_byte_array_set_size(selection->known, count);
    memset(selection->known->data + before, 0, count - before);
}

static void note_node(BbSelection *selection, guint32 node)
{
    const BbSelectionOptions *options = &selection->options;
    const char *text = bb_names_text(selection->names, node);
    guint8 *known = &selection->known->data[node];
    if (*known & IS_NODE)
        return;
    *known |= IS_NODE;
    if (options->root && bb_globs_match(options->root, text))
        *known |= ROOT_WANTED;
    if (options->through && bb_globs_match(options->through, text))
        *known |= THROUGH_WANTED;
}

static void note_op(BbSelection *selection, guint32 op)
{
    guint8 *known = &selection->known->data[op];
    if ((*known & IS_OP) || op == BB_NAME_NONE)
        return;
    *known |= IS_OP;
    if (selection->options.op &&
        bb_glob_match(selection->options.op, bb_names_text(selection->names, op)))
        *known |= OP_WANTED;
}

static void note_names(BbSelection *selection, const BbPaths *paths)
{
    make_room(selection);
    for (guint32 i = 0; i < paths->n_calls; i++) {
        const BbCall *call = &paths->calls[i];
        note_node(selection, call->caller);
        note_node(selection, call->callee);
        note_op(selection, call->op);
    }
}

// ---- conditions --------------------------------------------------------------------------------

// Whether the call leaves or enters a node that is wanted so.
static bool touches(const BbSelection *selection, const BbCall *call, guint8 wanted)
{
    const guint8 *known = selection->known->data;
    return (known[call->caller] | known[call->callee]) & wanted;
}

static bool is_slower(const BbSelectionOptions *options, const BbPaths *paths,
                      const BbInstance *instance)
{
    return bb_instance_latency(paths, instance, options->last_byte) > options->slower_ns;
}

static bool is_in_time(const BbSelectionOptions *options, const BbCall *root)
{
    return (options->from_ns == BB_TIME_NONE || root->call_ns >= options->from_ns) &&
           (options->to_ns == BB_TIME_NONE || root->call_ns < options->to_ns);
}

static bool failed(const BbSelection *selection, const BbCall *call)
{
    return call->status != BB_NAME_NONE &&
           bb_status_is_error(bb_names_text(selection->names, call->proto),
                              bb_names_text(selection->names, call->status));
}

// Whether each condition on some call holds for one of the instance's.
static bool some_calls_match(const BbSelection *selection, const BbPaths *paths,
                             const BbInstance *instance)
{
    bool passes = !selection->options.through, does = !selection->options.op;
    bool fails = !selection->options.errors;
    const guint32 *order = paths->order + instance->first;
    for (guint32 k = 0; k < instance->count && !(passes && does && fails); k++) {
        const BbCall *call = &paths->calls[order[k]];
        passes = passes || touches(selection, call, THROUGH_WANTED);
        does = does || (selection->known->data[call->op] & OP_WANTED);
        fails = fails || failed(selection, call);
    }
    return passes && does && fails;
}

guint32 bb_selection_apply(BbSelection *selection, BbPaths *paths)
{
    const BbSelectionOptions *options = &selection->options;
    if (!bb_selection_chooses(options))
        return 0;
    note_names(selection, paths);
    guint32 kept = 0, all = paths->n_instances;
    for (guint32 i = 0; i < all; i++) {
        const BbInstance *instance = &paths->instances[i];
        const BbCall *root = &paths->calls[paths->order[instance->first]];
        if (options->root && !touches(selection, root, ROOT_WANTED))
            continue;
        if (!is_in_time(options, root) ||
            (options->slower_ns > 0 && !is_slower(options, paths, instance)))
            continue;
        if (some_calls_match(selection, paths, instance))
            paths->instances[kept++] = *instance;
    }
    paths->n_instances = kept;
    return all - kept;
}

// ---- hints -------------------------------------------------------------------------------------

static char *hint_op(const BbSelection *selection)
{
    guint8 seen = 0;
    for (guint32 name = 1; name < selection->known->len; name++)
        seen |= selection->known->data[name];
    if (seen & OP_WANTED)
        return NULL;
    if (!(seen & IS_OP))
        return g_strdup("the trace has no operation labels");
    GString *hint = g_string_new("no operation matches '");
    bb_caption_append(hint, selection->options.op, "");
    g_string_append(hint, "'; * stands for any text, ? for any letter");
    return g_string_free(hint, FALSE);
}

char *bb_selection_hint(const BbSelection *selection)
{
    return selection->options.op ? hint_op(selection) : NULL;
}
