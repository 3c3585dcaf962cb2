// SPDX-License-Identifier: Apache-2.0
// In: instances of convolution, window after window. Out: the chains of nodes they pass, as
// patterns.
//
// The chains are a trie: a vertex is a chain, its parent the chain without the last message. The
// number of a vertex is that of the pattern whose paths end at it.
#include "data/chains.h"

#include <math.h>
#include <stdlib.h>

#include "data/tally.h"

#define NO_VERTEX G_MAXUINT32
#define NODES 16u // of a chain, on average, that the limit has room for

typedef struct {
    guint32 parent;                  // NO_VERTEX: it is a root's message
    guint32 sender, receiver, level; // level: 1 for roots
    guint64 messages, leaves;        // leaves: of them, those that caused none here
    double causes, effects;          // messages that caused some here, and what they caused, each
                                     // as heavy as it is sure
    double onward;                   // messages that they are expected to have caused anywhere
    double sure;                     // sum of the confidences; less than 0: not known
    double right;                    // sum over the leaves of the chain's confidence; likewise
    BbStats *latency;                // of the leaves, since the chain's first message
    GArray *delays;                  // of BbPatternDelay
} Vertex;

// From, via and to of messages that correlate, but are explained otherwise.
typedef struct {
    guint32 from, via, to;
    GArray *delays; // of BbPatternDelay
} Pair;

// So many messages of a vertex had a delay of the window's modes.
typedef struct {
    guint32 vertex, mode;
    guint64 count;
} Use;

struct BbChains {
    const BbNames *names;
    guint limit;
    GPtrArray *vertices; // of Vertex*; NULL for forgotten ones
    guint32 kept;        // of them, those that are not
    guint64 nodes;       // that the patterns of those can have: the sum of their levels
    BbTally by_chain;    // (parent + 1, sender, receiver) -> vertex + 1
    GArray *pairs;       // of Pair
    BbTally by_pair;     // (from, via, to) -> index into pairs + 1
    BbPatterns *patterns;
};

static void vertex_free(gpointer data)
{
    Vertex *vertex = data;
    if (!vertex)
        return;
    bb_stats_free(vertex->latency);
    g_array_unref(vertex->delays);
    g_free(vertex);
}

static void clear_pair(gpointer pair)
{
    g_array_unref(((Pair *)pair)->delays);
}

BbChains *bb_chains_new(const BbNames *names, guint limit)
{
    BbChains *chains = g_new0(BbChains, 1);
    chains->names = names;
    chains->limit = limit;
    chains->vertices = g_ptr_array_new_with_free_func(vertex_free);
    chains->pairs = g_array_new(FALSE, FALSE, sizeof(Pair));
    g_array_set_clear_func(chains->pairs, clear_pair);
    bb_tally_init(&chains->by_chain);
    bb_tally_init(&chains->by_pair);
    chains->patterns = bb_patterns_new("convolution");
    return chains;
}

void bb_chains_free(BbChains *chains)
{
    if (!chains)
        return;
    g_ptr_array_unref(chains->vertices);
    g_array_unref(chains->pairs);
    bb_tally_clear(&chains->by_chain);
    bb_tally_clear(&chains->by_pair);
    bb_patterns_free(chains->patterns);
    g_free(chains);
}

static Vertex *vertex_at(const BbChains *chains, guint32 index)
{
    return g_ptr_array_index(chains->vertices, index);
}

bool bb_chains_is_kept(const BbChains *chains, guint32 pattern)
{
    return pattern < chains->vertices->len && vertex_at(chains, pattern);
}

// ---- delays ------------------------------------------------------------------------------------

// Windows find the same delay at slightly different places: those nearer than a standard deviation,
// or 2 % of the delay, are one.
static bool is_near(const BbPatternDelay *a, gint64 delay_ns, gint64 spread_ns)
{
    gint64 between_ns = bb_time_between(a->delay_ns, delay_ns);
    gint64 reach_ns = MAX(MAX(a->spread_ns, spread_ns), MAX(a->delay_ns, delay_ns) / 50);
    return between_ns <= reach_ns && between_ns >= -reach_ns;
}

// The centre and the deviation of two groups of messages in one.
static void join_delays(BbPatternDelay *into, gint64 delay_ns, gint64 spread_ns, guint64 count)
{
    double share = (double)count / (double)(into->count + count);
    double between = (double)bb_time_between(into->delay_ns, delay_ns);
    double variance = (double)into->spread_ns * (double)into->spread_ns * (1 - share) +
                      (double)spread_ns * (double)spread_ns * share +
                      between * between * share * (1 - share);
    into->delay_ns += (gint64)(between * share);
    into->spread_ns = (gint64)sqrt(variance);
    into->count += count;
}

static void add_delay(GArray *delays, gint64 delay_ns, gint64 spread_ns, guint64 count)
{
    for (guint i = 0; i < delays->len; i++) {
        BbPatternDelay *known = &g_array_index(delays, BbPatternDelay, i);
        if (is_near(known, delay_ns, spread_ns)) {
            join_delays(known, delay_ns, spread_ns, count);
            return;
        }
    }
    BbPatternDelay delay = {delay_ns, spread_ns, count};
    g_array_append_val(delays, delay);
}

// ---- counting ----------------------------------------------------------------------------------

static guint32 find_vertex(BbChains *chains, guint32 parent, const BbCall *call)
{
    BbTallyKey key = {parent + 1, call->caller, call->callee}; // NO_VERTEX + 1 is 0
    guint64 *found = bb_tally_at(&chains->by_chain, key);
    if (*found != 0)
        return (guint32)(*found - 1);
    Vertex *vertex = g_new0(Vertex, 1);
    *vertex = (Vertex){.parent = parent,
                       .sender = call->caller,
                       .receiver = call->callee,
                       .level = parent == NO_VERTEX ? 1 : vertex_at(chains, parent)->level + 1,
                       .latency = bb_stats_new(),
                       .delays = g_array_new(FALSE, FALSE, sizeof(BbPatternDelay))};
    g_ptr_array_add(chains->vertices, vertex);
    chains->kept++;
    chains->nodes += vertex->level;
    *found = chains->vertices->len;
    return chains->vertices->len - 1;
}

// What is known of the messages of a window while their chains are followed.
typedef struct {
    BbChains *chains;
    BbPaths *paths;
    guint32 *vertex;  // of each message
    guint32 *effects; // that it caused; likewise
    float *sure;      // that it caused all of them; likewise
    double *right;    // that the message and all before it have the right cause; likewise
    BbTally uses;     // (vertex, mode) -> index into used + 1
    GArray *used;     // of Use, in order of first appearance
} Walk;

static void count_mode(Walk *walk, guint32 vertex, guint32 mode)
{
    if (mode == BB_MODE_NONE)
        return;
    guint64 *found = bb_tally_at(&walk->uses, (BbTallyKey){vertex, mode, 0});
    if (*found == 0) {
        Use use = {vertex, mode, 0};
        g_array_append_val(walk->used, use);
        *found = walk->used->len;
    }
    g_array_index(walk->used, Use, *found - 1).count++;
}

static void count_message(Walk *walk, guint32 message)
{
    const BbPaths *paths = walk->paths;
    guint32 parent = paths->parent[message];
    guint32 before = parent == BB_CALL_NO_PARENT ? NO_VERTEX : walk->vertex[parent];
    guint32 index = walk->vertex[message] =
        find_vertex(walk->chains, before, &paths->calls[message]);
    Vertex *vertex = vertex_at(walk->chains, index);
    double confidence = (double)paths->confidence[message];
    double above = parent == BB_CALL_NO_PARENT ? 1 : walk->right[parent];
    walk->right[message] =
        above < 0 || confidence < 0 ? (double)BB_CONFIDENCE_NONE : above * confidence;
    vertex->messages++;
    vertex->onward += (double)paths->onward[message];
    vertex->sure = bb_confidence_add(vertex->sure, confidence);
    count_mode(walk, index, paths->mode[message]);
    if (parent == BB_CALL_NO_PARENT)
        return;
    walk->effects[parent]++;
    walk->sure[parent] *= confidence < 0 ? 1 : paths->confidence[message];
}

// A second effect that is another message's is seldom sure, hence the high power.
static void count_effects(Vertex *vertex, guint32 effects, double sure)
{
    double weight = sure * sure * sure * sure;
    vertex->causes += weight;
    vertex->effects += weight * effects;
}

static void count_end(Walk *walk, Vertex *vertex, guint32 message, gint64 start_ns)
{
    vertex->leaves++;
    vertex->right = bb_confidence_add(vertex->right, walk->right[message]);
    bb_stats_push(vertex->latency,
                  bb_time_between(start_ns, walk->paths->calls[message].arrived_ns));
}

static void count_instance(Walk *walk, BbInstance *instance)
{
    const BbPaths *paths = walk->paths;
    const guint32 *order = paths->order + instance->first;
    gint64 start_ns = paths->calls[order[0]].call_ns;
    for (guint32 k = 0; k < instance->count; k++)
        count_message(walk, order[k]);
    guint32 last = NO_VERTEX;
    for (guint32 k = 0; k < instance->count; k++) {
        guint32 message = order[k];
        Vertex *vertex = vertex_at(walk->chains, walk->vertex[message]);
        if (walk->effects[message] > 0) {
            count_effects(vertex, walk->effects[message], (double)walk->sure[message]);
            continue;
        }
        count_end(walk, vertex, message, start_ns);
        if (last == NO_VERTEX || paths->calls[message].arrived_ns > paths->calls[last].arrived_ns)
            last = message;
    }
    instance->pattern = walk->vertex[last];
}

static void add_modes(const Walk *walk)
{
    for (guint i = 0; i < walk->used->len; i++) {
        const Use *use = &g_array_index(walk->used, Use, i);
        const BbMode *mode = &walk->paths->modes[use->mode];
        add_delay(vertex_at(walk->chains, use->vertex)->delays, mode->delay_ns, mode->spread_ns,
                  use->count);
    }
}

static void add_derived(BbChains *chains, const BbDerived *derived)
{
    BbTallyKey key = {derived->from, derived->via, derived->to};
    guint64 found = bb_tally_get(&chains->by_pair, key);
    if (found == 0 && chains->limit > 0 && chains->pairs->len >= chains->limit) {
        chains->patterns->forgotten++; // no instances: those are other patterns' already
        return;
    }
    if (found == 0) {
        Pair pair = {key.a, key.b, key.c, g_array_new(FALSE, FALSE, sizeof(BbPatternDelay))};
        g_array_append_val(chains->pairs, pair);
        *bb_tally_at(&chains->by_pair, key) = found = chains->pairs->len;
    }
    add_delay(g_array_index(chains->pairs, Pair, found - 1).delays, derived->delay_ns,
              derived->spread_ns, derived->count);
}

// ---- forgetting --------------------------------------------------------------------------------

// Paths that end at the vertex, corrected for messages whose effect went to others: that many
// caused something as are expected to, if each caused as much as those did that surely did.
static guint64 count_ends(const Vertex *vertex)
{
    double each = vertex->causes > 0 ? MAX(1, vertex->effects / vertex->causes) : 1;
    double ends = (double)vertex->messages - vertex->onward / each;
    return ends <= 0 ? 0 : MIN(vertex->leaves, (guint64)(ends + 0.5));
}

// A chain, and the most messages that one it is the beginning of has.
typedef struct {
    guint64 reach;
    guint32 vertex;
} Rarity;

// A chain comes before those it continues, which came before it.
static int by_rarity(const void *a, const void *b)
{
    const Rarity *x = a, *y = b;
    if (x->reach != y->reach)
        return x->reach < y->reach ? -1 : 1;
    return x->vertex > y->vertex ? -1 : x->vertex < y->vertex;
}

// The chains that are kept, the rarest first. The caller frees.
static Rarity *list_rarest(const BbChains *chains)
{
    guint32 n = chains->vertices->len, listed = 0;
    Rarity *all = g_new0(Rarity, n);
    for (guint32 i = n; i-- > 0;) {
        const Vertex *vertex = vertex_at(chains, i);
        if (!vertex)
            continue;
        all[i].vertex = i;
        all[i].reach = MAX(all[i].reach, vertex->messages);
        if (vertex->parent != NO_VERTEX)
            all[vertex->parent].reach = MAX(all[vertex->parent].reach, all[i].reach);
    }
    for (guint32 i = 0; i < n; i++)
        if (vertex_at(chains, i))
            all[listed++] = all[i];
    qsort(all, listed, sizeof *all, by_rarity);
    return all;
}

static void forget_vertex(BbChains *chains, guint32 index)
{
    BbPatterns *patterns = chains->patterns;
    Vertex *vertex = vertex_at(chains, index);
    guint64 ends = count_ends(vertex);
    patterns->forgotten += ends > 0;
    patterns->forgotten_instances += ends;
    patterns->forgotten_latency_ns =
        bb_time_after(patterns->forgotten_latency_ns, bb_stats_sum(vertex->latency));
    chains->kept--;
    chains->nodes -= vertex->level;
    vertex_free(vertex);
    g_ptr_array_index(chains->vertices, index) = NULL;
}

// The tally has no way to take a key out.
static void list_chains(BbChains *chains)
{
    bb_tally_clear(&chains->by_chain);
    bb_tally_init(&chains->by_chain);
    for (guint32 i = 0; i < chains->vertices->len; i++) {
        const Vertex *vertex = vertex_at(chains, i);
        if (vertex)
            *bb_tally_at(&chains->by_chain, (BbTallyKey){vertex->parent + 1, vertex->sender,
                                                         vertex->receiver}) = (guint64)i + 1;
    }
}

static bool are_more(const BbChains *chains, guint64 limit)
{
    return chains->kept > limit || chains->nodes > limit * NODES;
}

static void forget_rarest(BbChains *chains)
{
    g_autofree Rarity *rarest = list_rarest(chains);
    for (guint32 i = 0; are_more(chains, ((guint64)chains->limit + 1) / 2); i++)
        forget_vertex(chains, rarest[i].vertex);
    list_chains(chains);
}

void bb_chains_add(BbChains *chains, BbPaths *paths)
{
    if (chains->limit > 0 && are_more(chains, chains->limit))
        forget_rarest(chains);
    bb_facts_add(&chains->patterns->facts, &paths->facts);
    Walk walk = {.chains = chains,
                 .paths = paths,
                 .vertex = g_new(guint32, paths->n_calls),
                 .effects = g_new0(guint32, paths->n_calls),
                 .sure = g_new(float, paths->n_calls),
                 .right = g_new(double, paths->n_calls),
                 .used = g_array_new(FALSE, FALSE, sizeof(Use))};
    bb_tally_init(&walk.uses);
    for (guint32 i = 0; i < paths->n_calls; i++)
        walk.sure[i] = 1;
    for (guint32 i = 0; i < paths->n_instances; i++)
        count_instance(&walk, &paths->instances[i]);
    add_modes(&walk);
    for (guint i = 0; paths->derived && i < paths->derived->len; i++)
        add_derived(chains, &g_array_index(paths->derived, BbDerived, i));
    bb_tally_clear(&walk.uses);
    g_array_unref(walk.used);
    g_free(walk.vertex);
    g_free(walk.effects);
    g_free(walk.sure);
    g_free(walk.right);
}

// ---- the end -----------------------------------------------------------------------------------

static GArray *sorted_delays(const GArray *delays)
{
    GArray *sorted = g_array_copy((GArray *)delays);
    g_array_sort(sorted, bb_pattern_delay_compare);
    return sorted;
}

static gint64 main_delay(const GArray *delays)
{
    return delays->len > 0 ? g_array_index(delays, BbPatternDelay, 0).delay_ns : 0;
}

// share: of the vertex's messages, those of the pattern.
static BbPatternNode *node_of(const Vertex *vertex, double share)
{
    BbPatternNode *node = bb_pattern_node_new(vertex->receiver, BB_NAME_NONE);
    node->delays = sorted_delays(vertex->delays);
    bb_stats_push(node->call_delay, main_delay(node->delays));
    node->messages = vertex->messages;
    node->sure_total = vertex->sure < 0 ? vertex->sure : vertex->sure * share;
    return node;
}

static BbPattern *pattern_of(const BbChains *chains, const Vertex *end)
{
    guint64 count = count_ends(end);
    if (count == 0)
        return NULL;
    const Vertex *vertex = end;
    BbPatternNode *node = node_of(end, (double)count / (double)end->messages);
    while (vertex->parent != NO_VERTEX) {
        vertex = vertex_at(chains, vertex->parent);
        BbPatternNode *before = node_of(vertex, (double)count / (double)vertex->messages);
        g_ptr_array_add(before->calls, node);
        node = before;
    }
    BbPattern *pattern = bb_pattern_new(vertex->sender, node);
    bb_stats_merge(node->latency, end->latency);
    pattern->count = count;
    pattern->right_total =
        end->right < 0 ? end->right : end->right * (double)count / (double)end->leaves;
    pattern->shape = bb_pattern_hash_chain(pattern, chains->names);
    return pattern;
}

static BbPattern *pattern_of_pair(const BbChains *chains, const Pair *pair)
{
    BbPatternNode *root = bb_pattern_node_new(pair->via, BB_NAME_NONE);
    BbPatternNode *node = bb_pattern_node_new(pair->to, BB_NAME_NONE);
    BbPattern *pattern = bb_pattern_new(pair->from, root);
    g_ptr_array_add(root->calls, node);
    root->delays = g_array_new(FALSE, FALSE, sizeof(BbPatternDelay));
    node->delays = sorted_delays(pair->delays);
    bb_stats_push(root->call_delay, 0);
    bb_stats_push(node->call_delay, main_delay(node->delays));
    for (guint i = 0; i < node->delays->len; i++)
        pattern->count += g_array_index(node->delays, BbPatternDelay, i).count;
    pattern->derived = true;
    pattern->right_total = root->sure_total = node->sure_total = (double)BB_CONFIDENCE_NONE;
    pattern->shape = bb_pattern_hash_chain(pattern, chains->names);
    return pattern;
}

// Nodes of the patterns that there are.
static guint64 count_nodes(const BbChains *chains)
{
    guint64 nodes = 0;
    for (guint32 i = 0; i < chains->vertices->len; i++) {
        const Vertex *vertex = vertex_at(chains, i);
        if (vertex && count_ends(vertex) > 0)
            nodes += vertex->level;
    }
    return nodes;
}

BbPatterns *bb_chains_finish(BbChains *chains)
{
    if (chains->limit > 0 && count_nodes(chains) > (guint64)chains->limit * NODES)
        forget_rarest(chains); // a last window of many long chains
    GPtrArray *patterns = chains->patterns->patterns;
    for (guint32 i = 0; i < chains->vertices->len; i++) {
        const Vertex *vertex = vertex_at(chains, i);
        g_ptr_array_add(patterns, vertex ? pattern_of(chains, vertex) : NULL);
    }
    for (guint i = 0; i < chains->pairs->len; i++)
        g_ptr_array_add(patterns, pattern_of_pair(chains, &g_array_index(chains->pairs, Pair, i)));
    return g_steal_pointer(&chains->patterns);
}
