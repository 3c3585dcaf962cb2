// SPDX-License-Identifier: Apache-2.0
// In: path instances, window after window. Out: their patterns.
//
// Instances whose roots have the same client and the same number of shape list their calls in the
// same order (data/path.h), so the k-th call of each belongs to the k-th vertex of one pattern:
// that is a form. A pattern can have several, as numbers of shapes may be given anew; what makes it
// one is the text of its shape.
#include "data/census.h"

#include <stdlib.h>
#include <string.h>

#include "data/critical_path.h"
#include "data/failures.h"
#include "data/keys.h"
#include "data/tally.h"
#include "data/text_hash.h"

#define AHEAD 24 // calls

typedef struct {
    guint32 pattern;       // index into the patterns
    BbPatternNode **nodes; // of the pattern, in order of the instances' calls
} Form;

struct BbCensus {
    BbCensusOptions options;
    const BbNames *names;
    BbPatterns *patterns;
    guint32 kept;        // patterns that are not forgotten
    GPtrArray *texts;    // of the patterns' shapes, owned; NULL for forgotten ones
    GHashTable *by_text; // text, lent -> index into the patterns
    GArray *forms;       // of Form
    BbTally by_shape;    // (client, shape of the root) -> index into forms + 1
    BbFailures failures;
    BbTally unreturned; // (caller, callee) -> calls without return that begin an instance
    BbCriticalPath *critical;
};

BbPatterns *bb_patterns_new(const char *algorithm)
{
    BbPatterns *patterns = g_new0(BbPatterns, 1);
    patterns->algorithm = algorithm;
    patterns->patterns = g_ptr_array_new_with_free_func((GDestroyNotify)bb_pattern_free);
    patterns->facts = BB_FACTS_EMPTY;
    patterns->unreturned = g_array_new(FALSE, FALSE, sizeof(BbUnreturned));
    return patterns;
}

void bb_patterns_free(BbPatterns *patterns)
{
    if (!patterns)
        return;
    g_ptr_array_unref(patterns->patterns);
    g_array_unref(patterns->unreturned);
    g_free(patterns);
}

static void clear_form(gpointer form)
{
    g_free(((Form *)form)->nodes);
}

BbCensus *bb_census_new(const BbCensusOptions *options, const BbNames *names)
{
    BbCensus *census = g_new0(BbCensus, 1);
    census->options = *options;
    census->names = names;
    census->patterns = bb_patterns_new(options->algorithm);
    census->texts = g_ptr_array_new_with_free_func(g_free);
    census->by_text = g_hash_table_new(bb_text_key_hash, g_str_equal);
    census->forms = g_array_new(FALSE, FALSE, sizeof(Form));
    g_array_set_clear_func(census->forms, clear_form);
    bb_tally_init(&census->by_shape);
    bb_failures_init(&census->failures, names);
    bb_tally_init(&census->unreturned);
    census->critical = bb_critical_path_new(options->last_byte);
    return census;
}

void bb_census_free(BbCensus *census)
{
    if (!census)
        return;
    bb_patterns_free(census->patterns);
    g_hash_table_unref(census->by_text);
    g_ptr_array_unref(census->texts);
    g_array_unref(census->forms);
    bb_tally_clear(&census->by_shape);
    bb_failures_clear(&census->failures);
    bb_tally_clear(&census->unreturned);
    bb_critical_path_free(census->critical);
    g_free(census);
}

// ---- shapes ------------------------------------------------------------------------------------

// What ends a part of the text of a shape.
enum { MARK_NODE = 1, MARK_OP, MARK_CALLS, MARK_CLIENT, MARK_UNANSWERED, MARK_LITERAL };

// A subtree with its text, for sorting.
typedef struct {
    char *text;
    const BbPatternNode *node;
} Branch;

static void clear_branch(gpointer branch)
{
    g_free(((Branch *)branch)->text);
}

static gint by_text(gconstpointer a, gconstpointer b)
{
    return strcmp(((const Branch *)a)->text, ((const Branch *)b)->text);
}

static char *shape_text(const BbPatternNode *node, const BbNames *names);

// The subtrees below node, in order of their texts.
static GArray *sorted_branches(const BbPatternNode *node, const BbNames *names)
{
    GArray *branches = g_array_sized_new(FALSE, FALSE, sizeof(Branch), node->calls->len);
    g_array_set_clear_func(branches, clear_branch);
    for (guint i = 0; i < node->calls->len; i++) {
        const BbPatternNode *call = g_ptr_array_index(node->calls, i);
        Branch branch = {shape_text(call, names), call};
        g_array_append_val(branches, branch);
    }
    g_array_sort(branches, by_text); // stable
    return branches;
}

// Names come from the network: bytes that are marks in a text of a shape get a mark before them.
static void append_name(GString *text, const char *name, char end)
{
    for (; *name; name++) {
        if (*name > 0 && *name <= MARK_LITERAL)
            g_string_append_c(text, MARK_LITERAL);
        g_string_append_c(text, *name);
    }
    g_string_append_c(text, end);
}

// The same text for the same shape, whatever the order of its calls and of the names' table, and
// another one for any other shape. The marks are control bytes, so that names sort before what
// hangs on them.
static char *shape_text(const BbPatternNode *node, const BbNames *names)
{
    g_autoptr(GArray) branches = sorted_branches(node, names);
    GString *text = g_string_new(NULL);
    append_name(text, bb_names_text(names, node->node), MARK_NODE);
    append_name(text, bb_names_text(names, node->op), MARK_OP);
    if (node->unanswered)
        g_string_append_c(text, MARK_UNANSWERED);
    for (guint i = 0; i < branches->len; i++)
        g_string_append(text, g_array_index(branches, Branch, i).text);
    g_string_append_c(text, MARK_CALLS);
    return g_string_free(text, FALSE);
}

static char *pattern_text(const BbPattern *pattern, const BbNames *names)
{
    g_autofree char *root = shape_text(pattern->root, names);
    GString *text = g_string_new(NULL);
    append_name(text, bb_names_text(names, pattern->client), MARK_CLIENT);
    g_string_append(text, root);
    return g_string_free(text, FALSE);
}

// Maps each vertex of a tree to that of another one of the same shape.
static void match_trees(const BbPatternNode *from, const BbPatternNode *to, const BbNames *names,
                        GHashTable *map)
{
    g_hash_table_insert(map, (gpointer)from, (gpointer)to);
    g_autoptr(GArray) from_branches = sorted_branches(from, names);
    g_autoptr(GArray) to_branches = sorted_branches(to, names);
    for (guint i = 0; i < from_branches->len; i++)
        match_trees(g_array_index(from_branches, Branch, i).node,
                    g_array_index(to_branches, Branch, i).node, names, map);
}

// ---- patterns and their forms ------------------------------------------------------------------

static GArray *replicas_of(const BbPaths *paths, guint32 role)
{
    bool are = bb_paths_is_role(paths, role);
    return are ? g_array_new(FALSE, FALSE, sizeof(BbReplica)) : NULL;
}

static BbPatternNode *node_of(const BbCensus *census, const BbPaths *paths, const BbCall *call)
{
    guint32 op = census->options.labels ? call->op : BB_NAME_NONE;
    BbPatternNode *node = bb_pattern_node_new(bb_paths_node(paths, call->callee), op);
    node->replicas = replicas_of(paths, node->node);
    node->unanswered = !bb_call_is_returned(call);
    return node;
}

// The instance as a pattern of its own; nodes gets its vertices in order of the calls.
static BbPattern *pattern_of(const BbCensus *census, const BbPaths *paths,
                             const BbInstance *instance, BbPatternNode **nodes)
{
    const guint32 *order = paths->order + instance->first;
    BbPatternNode *above[BB_PATHS_DEPTH_MAX + 1]; // the latest vertex of each level
    for (guint32 k = 0; k < instance->count; k++) {
        guint level = paths->level[order[k]];
        nodes[k] = above[level] = node_of(census, paths, &paths->calls[order[k]]);
        if (k > 0)
            g_ptr_array_add(above[level - 1]->calls, nodes[k]);
    }
    guint32 client = bb_paths_node(paths, paths->calls[order[0]].caller);
    BbPattern *pattern = bb_pattern_new(client, nodes[0]);
    pattern->clients = replicas_of(paths, client);
    return pattern;
}

static guint32 add_pattern(BbCensus *census, BbPattern *pattern, char *text)
{
    guint32 index = census->patterns->patterns->len;
    pattern->shape = bb_text_hash(BB_TEXT_HASH_START, text);
    g_ptr_array_add(census->patterns->patterns, pattern);
    g_ptr_array_add(census->texts, text);
    g_hash_table_insert(census->by_text, text, GUINT_TO_POINTER(index));
    census->kept++;
    return index;
}

static void use_pattern(const BbCensus *census, Form *form, guint32 count, const BbPattern *copy)
{
    const BbPattern *pattern = g_ptr_array_index(census->patterns->patterns, form->pattern);
    g_autoptr(GHashTable) map = g_hash_table_new(NULL, NULL);
    match_trees(copy->root, pattern->root, census->names, map);
    for (guint32 k = 0; k < count; k++)
        form->nodes[k] = g_hash_table_lookup(map, form->nodes[k]);
}

static Form make_form(BbCensus *census, const BbPaths *paths, const BbInstance *instance)
{
    Form form = {.nodes = g_new(BbPatternNode *, instance->count)};
    g_autoptr(BbPattern) pattern = pattern_of(census, paths, instance, form.nodes);
    g_autofree char *text = pattern_text(pattern, census->names);
    gpointer known;
    if (!g_hash_table_lookup_extended(census->by_text, text, NULL, &known)) {
        form.pattern = add_pattern(census, g_steal_pointer(&pattern), g_steal_pointer(&text));
        return form;
    }
    form.pattern = GPOINTER_TO_UINT(known);
    use_pattern(census, &form, instance->count, pattern);
    return form;
}

static const Form *form_of(BbCensus *census, const BbPaths *paths, const BbInstance *instance)
{
    guint32 root = paths->order[instance->first];
    guint64 *found = bb_tally_at(&census->by_shape,
                                 (BbTallyKey){paths->calls[root].caller, paths->shape[root], 0});
    if (*found == 0) {
        Form form = make_form(census, paths, instance);
        g_array_append_val(census->forms, form);
        *found = census->forms->len;
    }
    return &g_array_index(census->forms, Form, *found - 1);
}

// ---- counting ----------------------------------------------------------------------------------

static guint64 add_time(guint64 sum_ns, guint64 time_ns)
{
    return MIN(sum_ns + MIN(time_ns, (guint64)G_MAXINT64), (guint64)G_MAXINT64);
}

static gint64 latency_of(const BbCensus *census, const BbCall *call)
{
    return bb_time_between(call->arrived_ns, bb_call_end(call, census->options.last_byte));
}

static void count_call(BbCensus *census, const BbPaths *paths, guint32 index, BbPatternNode *node)
{
    const BbCall *calls = paths->calls, *call = &calls[index];
    guint32 parent = paths->parent[index];
    gint64 delay_ns = 0, latency_ns = latency_of(census, call);
    if (parent != BB_CALL_NO_PARENT)
        delay_ns = bb_time_between(calls[parent].arrived_ns, call->call_ns);
    bb_stats_push(node->call_delay, delay_ns);
    bb_stats_push(node->latency, latency_ns);
    node->self_total_ns = add_time(node->self_total_ns, paths->self_ns[index]);
    node->sure_total = bb_confidence_add(node->sure_total, (double)paths->confidence[index]);
    node->errors += bb_failures_has(&census->failures, call);
    if (node->replicas)
        bb_replicas_count(node->replicas, call->callee, latency_ns);
}

static void count_instance(BbCensus *census, const BbPaths *paths, BbInstance *instance)
{
    const guint32 *order = paths->order + instance->first;
    const BbCall *root = &paths->calls[order[0]];
    if (!bb_call_is_returned(root)) {
        ++*bb_tally_at(&census->unreturned, (BbTallyKey){root->caller, root->callee, 0});
        return;
    }
    const Form *form = form_of(census, paths, instance);
    BbPattern *pattern = g_ptr_array_index(census->patterns->patterns, form->pattern);
    for (guint32 k = 0; k < instance->count; k++) {
        bb_stats_fetch(form->nodes[k]->call_delay);
        bb_stats_fetch(form->nodes[k]->latency);
    }
    const BbCritical *critical = bb_critical_path_find(census->critical, paths, instance);
    instance->pattern = form->pattern;
    pattern->count++;
    if (pattern->clients)
        bb_replicas_count(pattern->clients, root->caller, latency_of(census, root));
    for (guint32 k = 0; k < instance->count; k++) {
        BbPatternNode *node = form->nodes[k];
        count_call(census, paths, order[k], node);
        node->critical_total_ns = add_time(node->critical_total_ns, (guint64)critical[k].self_ns);
        node->turn_total_ns = add_time(node->turn_total_ns, (guint64)critical[k].turn_ns);
        node->pool_total_ns = add_time(node->pool_total_ns, (guint64)critical[k].pool_ns);
        node->wire_total_ns = add_time(node->wire_total_ns, (guint64)critical[k].wire_ns);
    }
    pattern->right_total =
        bb_confidence_add(pattern->right_total, bb_instance_right(paths, instance));
}

// ---- forgetting --------------------------------------------------------------------------------

static gint by_rarity(gconstpointer a, gconstpointer b, gpointer patterns)
{
    guint32 i = *(const guint32 *)a, j = *(const guint32 *)b;
    const BbPattern *x = g_ptr_array_index((GPtrArray *)patterns, i);
    const BbPattern *y = g_ptr_array_index((GPtrArray *)patterns, j);
    if (x->count != y->count)
        return x->count < y->count ? -1 : 1;
    return (i < j) - (i > j);
}

static void forget_pattern(BbCensus *census, guint32 index)
{
    BbPatterns *patterns = census->patterns;
    BbPattern *pattern = g_ptr_array_index(patterns->patterns, index);
    patterns->forgotten++;
    patterns->forgotten_instances += pattern->count;
    patterns->forgotten_latency_ns =
        bb_time_after(patterns->forgotten_latency_ns, bb_pattern_total_latency(pattern));
    g_hash_table_remove(census->by_text, g_ptr_array_index(census->texts, index));
    g_clear_pointer(&g_ptr_array_index(census->texts, index), g_free);
    bb_pattern_free(pattern);
    g_ptr_array_index(patterns->patterns, index) = NULL;
    census->kept--;
}

// Forms are found again by the text of their shape.
static void drop_forms(BbCensus *census)
{
    g_array_set_size(census->forms, 0);
    bb_tally_clear(&census->by_shape);
    bb_tally_init(&census->by_shape);
}

static void forget_rarest(BbCensus *census)
{
    GPtrArray *patterns = census->patterns->patterns;
    g_autoptr(GArray) known = g_array_sized_new(FALSE, FALSE, sizeof(guint32), census->kept);
    for (guint32 i = 0; i < patterns->len; i++)
        if (g_ptr_array_index(patterns, i))
            g_array_append_val(known, i);
    g_array_sort_with_data(known, by_rarity, patterns);
    for (guint i = 0; census->kept > (census->options.limit + 1) / 2; i++)
        forget_pattern(census, g_array_index(known, guint32, i));
}

// Forms become many too where shapes get new numbers, but not patterns.
static void make_room(BbCensus *census)
{
    guint limit = census->options.limit;
    if (limit == 0 || (census->kept <= limit && census->forms->len / 2 <= limit))
        return;
    drop_forms(census);
    if (census->kept > limit)
        forget_rarest(census);
}

// The calls that so many further on will be looked at, before they are needed: they may lie apart.
static void fetch(const BbPaths *paths, const BbInstance *instance)
{
    gsize from = (gsize)instance->first + AHEAD, to = MIN(from + instance->count, paths->n_calls);
    for (gsize k = from; k < to; k++) {
        const BbCall *call = &paths->calls[paths->order[k]];
        __builtin_prefetch(call);
        __builtin_prefetch(&call->status);
    }
}

void bb_census_add(BbCensus *census, BbPaths *paths)
{
    make_room(census);
    bb_facts_add(&census->patterns->facts, &paths->facts);
    for (guint32 i = 0; i < paths->n_instances; i++) {
        fetch(paths, &paths->instances[i]);
        count_instance(census, paths, &paths->instances[i]);
    }
}

bool bb_census_is_kept(const BbCensus *census, guint32 pattern)
{
    const GPtrArray *patterns = census->patterns->patterns;
    return pattern < patterns->len && g_ptr_array_index(patterns, pattern);
}

// ---- the end -----------------------------------------------------------------------------------

static gint by_delay(gconstpointer a, gconstpointer b, gpointer names)
{
    const BbPatternNode *x = *(BbPatternNode *const *)a, *y = *(BbPatternNode *const *)b;
    gint64 x_ns = bb_stats_mean(x->call_delay), y_ns = bb_stats_mean(y->call_delay);
    if (x_ns != y_ns)
        return x_ns < y_ns ? -1 : 1;
    gint order = strcmp(bb_names_text(names, x->node), bb_names_text(names, y->node));
    order = order ? order : strcmp(bb_names_text(names, x->op), bb_names_text(names, y->op));
    return order ? order : x->unanswered - y->unanswered;
}

static void sort_calls(const BbPatternNode *node, const BbNames *names)
{
    bb_replicas_sort(node->replicas, names);
    g_ptr_array_sort_with_data(node->calls, by_delay, (gpointer)names); // stable
    for (guint i = 0; i < node->calls->len; i++)
        sort_calls(g_ptr_array_index(node->calls, i), names);
}

static gint by_count(gconstpointer a, gconstpointer b, gpointer names)
{
    const BbUnreturned *x = a, *y = b;
    if (x->count != y->count)
        return x->count > y->count ? -1 : 1;
    gint order = strcmp(bb_names_text(names, x->caller), bb_names_text(names, y->caller));
    return order ? order : strcmp(bb_names_text(names, x->callee), bb_names_text(names, y->callee));
}

static void list_unreturned(const BbCensus *census, GArray *list)
{
    gsize count;
    g_autofree BbTallyEntry *entries = bb_tally_entries(&census->unreturned, &count);
    for (gsize i = 0; i < count; i++) {
        BbUnreturned edge = {entries[i].key.a, entries[i].key.b, entries[i].count};
        g_array_append_val(list, edge);
    }
    g_array_sort_with_data(list, by_count, (gpointer)census->names);
}

BbPatterns *bb_census_finish(BbCensus *census)
{
    drop_forms(census);
    list_unreturned(census, census->patterns->unreturned);
    for (guint i = 0; i < census->patterns->patterns->len; i++) {
        const BbPattern *pattern = g_ptr_array_index(census->patterns->patterns, i);
        if (!pattern)
            continue;
        sort_calls(pattern->root, census->names);
        bb_replicas_sort(pattern->clients, census->names);
    }
    return g_steal_pointer(&census->patterns);
}
