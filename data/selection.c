// SPDX-License-Identifier: Apache-2.0
// In: path instances and conditions. Out: the instances that meet them all.
#include "data/selection.h"

#include <string.h>

#include "data/caption.h"
#include "data/glob.h"
#include "data/status.h"

#define NEAR_MAX 3      // names in a hint
#define DISTANCE_MAX 64 // bytes of a name that are compared

// What is known of a name so far.
enum { IS_NODE = 1, IS_OP = 2, OP_WANTED = 4 };

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
        selection->known->data[call->caller] |= IS_NODE;
        selection->known->data[call->callee] |= IS_NODE;
        note_op(selection, call->op);
    }
}

static guint32 find_node(const BbSelection *selection, const char *name)
{
    guint32 node = name ? bb_names_find(selection->names, name) : BB_NAME_NONE;
    return node < selection->known->len && (selection->known->data[node] & IS_NODE) ? node
                                                                                    : BB_NAME_NONE;
}

// ---- conditions --------------------------------------------------------------------------------

static bool touches(const BbCall *call, guint32 node)
{
    return call->caller == node || call->callee == node;
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
                             const BbInstance *instance, guint32 through)
{
    bool passes = !selection->options.through, does = !selection->options.op;
    bool fails = !selection->options.errors;
    const guint32 *order = paths->order + instance->first;
    for (guint32 k = 0; k < instance->count && !(passes && does && fails); k++) {
        const BbCall *call = &paths->calls[order[k]];
        passes = passes || (through != BB_NAME_NONE && touches(call, through));
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
    guint32 root_node = find_node(selection, options->root);
    guint32 through = find_node(selection, options->through);
    guint32 kept = 0, all = paths->n_instances;
    for (guint32 i = 0; i < all; i++) {
        const BbInstance *instance = &paths->instances[i];
        const BbCall *root = &paths->calls[paths->order[instance->first]];
        if (options->root && (root_node == BB_NAME_NONE || !touches(root, root_node)))
            continue;
        if (!is_in_time(options, root) ||
            (options->slower_ns > 0 && !is_slower(options, paths, instance)))
            continue;
        if (some_calls_match(selection, paths, instance, through))
            paths->instances[kept++] = *instance;
    }
    paths->n_instances = kept;
    return all - kept;
}

// ---- hints -------------------------------------------------------------------------------------

// Letters to insert, delete or replace, whatever their case (Levenshtein), of the names' heads.
static guint distance(const char *a, const char *b)
{
    guint row[DISTANCE_MAX + 1];
    gsize a_length = strnlen(a, DISTANCE_MAX), b_length = strnlen(b, DISTANCE_MAX);
    for (guint j = 0; j <= b_length; j++)
        row[j] = j;
    for (guint i = 1; i <= a_length; i++) {
        guint diagonal = row[0];
        row[0] = i;
        for (guint j = 1; j <= b_length; j++) {
            bool equal = g_ascii_tolower(a[i - 1]) == g_ascii_tolower(b[j - 1]);
            guint replaced = diagonal + !equal;
            diagonal = row[j];
            row[j] = MIN(replaced, MIN(row[j], row[j - 1]) + 1);
        }
    }
    return row[b_length];
}

// What one would have to change; a name that begins like the other is near however long it is.
static guint farness(const char *wanted, const char *name)
{
    gsize length = strlen(wanted);
    if (length > 0 && g_ascii_strncasecmp(wanted, name, length) == 0)
        return 0;
    return distance(wanted, name);
}

typedef struct {
    const char *text;
    guint far;
} NearName;

static gint by_farness(gconstpointer a, gconstpointer b)
{
    const NearName *x = a, *y = b;
    return x->far != y->far ? (x->far > y->far) - (x->far < y->far) : strcmp(x->text, y->text);
}

// Nodes like wanted, the nearest first.
static GArray *find_near(const BbSelection *selection, const char *wanted)
{
    GArray *found = g_array_new(FALSE, FALSE, sizeof(NearName));
    for (guint32 name = 1; name < selection->known->len; name++) {
        if (!(selection->known->data[name] & IS_NODE))
            continue;
        NearName candidate = {bb_names_text(selection->names, name), 0};
        candidate.far = farness(wanted, candidate.text);
        if (candidate.far <= MAX(1u, strnlen(wanted, DISTANCE_MAX) / 3))
            g_array_append_val(found, candidate);
    }
    g_array_sort(found, by_farness);
    return found;
}

static char *hint_node(const BbSelection *selection, const char *wanted)
{
    GString *hint = g_string_new("no call enters or leaves a node '");
    bb_caption_append(hint, wanted, "");
    g_string_append_c(hint, '\'');
    g_autoptr(GArray) found = find_near(selection, wanted);
    for (guint i = 0; i < MIN(found->len, NEAR_MAX); i++) {
        g_string_append(hint, i == 0 ? "; near that: " : ", ");
        bb_caption_append(hint, g_array_index(found, NearName, i).text, "");
    }
    return g_string_free(hint, FALSE);
}

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
    const BbSelectionOptions *options = &selection->options;
    const char *const nodes[] = {options->root, options->through};
    for (gsize i = 0; i < G_N_ELEMENTS(nodes); i++)
        if (nodes[i] && find_node(selection, nodes[i]) == BB_NAME_NONE)
            return hint_node(selection, nodes[i]);
    return options->op ? hint_op(selection) : NULL;
}
