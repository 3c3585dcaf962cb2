// SPDX-License-Identifier: Apache-2.0
// In: path instances and conditions. Out: the instances that meet them all.
#include "data/selection.h"

#include <string.h>

#include "data/caption.h"
#include "data/glob.h"
#include "data/quantity.h"
#include "data/status.h"

// What is known of a name so far.
enum { IS_NODE = 1, ROOT_WANTED = 2, THROUGH_WANTED = 4, IS_OP = 8, OP_WANTED = 16 };

struct BbSelection {
    BbSelectionOptions options;
    const BbNames *names;
    GByteArray *known;        // by name
    guint64 all, chosen;      // instances, but for calls without return
    bool *met;                // by pattern of an operation: some call has it
    bool in_time;             // some instance was
    gint64 first_ns, last_ns; // when instances begin; BB_TIME_NONE before the first
};

BbSelection *bb_selection_new(const BbSelectionOptions *options, const BbNames *names)
{
    BbSelection *selection = g_new0(BbSelection, 1);
    selection->options = *options;
    selection->names = names;
    selection->known = g_byte_array_new();
    selection->met = g_new0(bool, options->ops ? g_strv_length((char **)options->ops) : 0);
    selection->first_ns = selection->last_ns = BB_TIME_NONE;
    return selection;
}

void bb_selection_free(BbSelection *selection)
{
    if (!selection)
        return;
    g_byte_array_unref(selection->known);
    g_free(selection->met);
    g_free(selection);
}

bool bb_selection_chooses(const BbSelectionOptions *options)
{
    return options->root || options->through || options->ops || options->slower_ns > 0 ||
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
    const char *const *ops = selection->options.ops;
    guint8 *known = &selection->known->data[op];
    if ((*known & IS_OP) || op == BB_NAME_NONE)
        return;
    *known |= IS_OP;
    for (gsize i = 0; ops && ops[i]; i++) {
        if (!bb_glob_match(ops[i], bb_names_text(selection->names, op)))
            continue;
        *known |= OP_WANTED;
        selection->met[i] = true;
    }
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

static bool is_in_time(BbSelection *selection, const BbCall *root)
{
    const BbSelectionOptions *options = &selection->options;
    gint64 begin_ns = root->call_ns;
    bool in_time = (options->from_ns == BB_TIME_NONE || begin_ns >= options->from_ns) &&
                   (options->to_ns == BB_TIME_NONE || begin_ns < options->to_ns);
    if (selection->first_ns == BB_TIME_NONE || begin_ns < selection->first_ns)
        selection->first_ns = begin_ns;
    if (selection->last_ns == BB_TIME_NONE || begin_ns > selection->last_ns)
        selection->last_ns = begin_ns;
    selection->in_time |= in_time;
    return in_time;
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
    bool passes = !selection->options.through, does = !selection->options.ops;
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

// Every message of convolution is a call without return.
static bool is_counted(const BbPaths *paths, const BbCall *root)
{
    return paths->mode || bb_call_is_returned(root);
}

static bool is_wanted(BbSelection *selection, const BbPaths *paths, const BbInstance *instance,
                      const BbCall *root)
{
    const BbSelectionOptions *options = &selection->options;
    if (!is_in_time(selection, root) || (options->root && !touches(selection, root, ROOT_WANTED)) ||
        (options->slower_ns > 0 && !is_slower(options, paths, instance)))
        return false;
    return some_calls_match(selection, paths, instance);
}

guint32 bb_selection_apply(BbSelection *selection, BbPaths *paths)
{
    if (!bb_selection_chooses(&selection->options))
        return 0;
    note_names(selection, paths);
    guint32 kept = 0, all = paths->n_instances;
    for (guint32 i = 0; i < all; i++) {
        const BbInstance *instance = &paths->instances[i];
        const BbCall *root = &paths->calls[paths->order[instance->first]];
        bool wanted = is_wanted(selection, paths, instance, root);
        bool counted = is_counted(paths, root);
        selection->all += counted;
        selection->chosen += counted && wanted;
        if (wanted)
            paths->instances[kept++] = *instance;
    }
    paths->n_instances = kept;
    return all - kept;
}

BbChosen bb_selection_chosen(const BbSelection *selection, const char *by)
{
    return (BbChosen){by, selection->chosen, selection->all, true};
}

// ---- hints -------------------------------------------------------------------------------------

char *bb_selection_hint_ops(const BbSelection *selection)
{
    const char *const *ops = selection->options.ops;
    guint8 seen = 0;
    for (guint32 name = 1; name < selection->known->len; name++)
        seen |= selection->known->data[name];
    if (ops && !(seen & IS_OP))
        return g_strdup("the trace has no operation labels");
    g_autoptr(GString) hint = g_string_new(NULL);
    for (gsize i = 0; ops && ops[i]; i++) {
        if (selection->met[i])
            continue;
        g_string_append(hint, hint->len ? ", '" : "no operation matches '");
        bb_caption_append(hint, ops[i], "");
        g_string_append_c(hint, '\'');
    }
    if (hint->len == 0)
        return NULL;
    g_string_append(hint, "; * stands for any text, ? for any letter");
    return g_string_free(g_steal_pointer(&hint), FALSE);
}

char *bb_selection_hint_time(const BbSelection *selection)
{
    if (selection->in_time || selection->first_ns == BB_TIME_NONE)
        return NULL;
    GString *hint = g_string_new("no path begins in the time asked for: those of the trace begin "
                                 "from ");
    bb_quantity_append_time(hint, selection->first_ns);
    g_string_append(hint, " to ");
    bb_quantity_append_time(hint, selection->last_ns);
    return g_string_free(hint, FALSE);
}
