// SPDX-License-Identifier: Apache-2.0
// In: both forests. Out: how right instances and patterns are, and how sure they were said to be.
#include <math.h>
#include <stdlib.h>

#include "data/caption.h"
#include "data/keys.h"
#include "diagnose/score_parts.h"

#define CAPTION_BYTES 1000 // of a pattern's caption; after that it ends in dots

// ---- pairs --------------------------------------------------------------------------------------

typedef struct {
    GArray *pairs;      // of BbPatternPair
    GHashTable *places; // (client, shape) -> index + 1
    const BbTrial *trial;
} Pairing;

static BbPatternPair *pair_of(Pairing *pairing, const BbForest *forest, guint32 root)
{
    const BbCall *call = &bb_links_at(pairing->trial->links, root)->call;
    guint64 key = (guint64)call->caller << 32 | forest->kind[root];
    guint place = GPOINTER_TO_UINT(g_hash_table_lookup(pairing->places, &key));
    if (place == 0) {
        BbPatternPair pair = {
            .size = forest->size[root],
            .example = root,
            .example_found = forest == pairing->trial->found,
        };
        g_array_append_val(pairing->pairs, pair);
        place = pairing->pairs->len;
        g_hash_table_insert(pairing->places, g_memdup2(&key, sizeof key), GUINT_TO_POINTER(place));
    }
    return &g_array_index(pairing->pairs, BbPatternPair, place - 1);
}

static void add_latency(gint64 *sum_ns, const BbTrial *trial, guint32 root)
{
    const BbCall *call = &bb_links_at(trial->links, root)->call;
    gint64 ns = bb_time_between(call->arrived_ns, bb_call_end(call, trial->options.last_byte));
    *sum_ns = bb_time_after(*sum_ns, ns);
}

// ---- instances ----------------------------------------------------------------------------------

// Of the found trees below each call: whether every link in it is right, and how likely that is and
// that none lacks (NAN where one is not stated).
typedef struct {
    bool *right;
    double *sure;
} Trees;

static Trees judge_trees(const BbTrial *trial)
{
    const BbForest *found = trial->found;
    Trees trees = {g_new(bool, found->n), g_new(double, found->n)};
    for (guint32 k = 0; k < found->n_order; k++) {
        guint32 call = found->order[k];
        const BbLink *link = bb_links_at(trial->links, call);
        trees.right[call] = link->right;
        trees.sure[call] =
            link->confidence >= 0 ? fmin((double)link->confidence, 1) * (double)link->whole : NAN;
        const guint32 *kids = bb_groups_at(&found->kids, call);
        for (guint32 i = 0; i < bb_groups_size(&found->kids, call); i++) {
            trees.right[call] = trees.right[call] && trees.right[kids[i]];
            trees.sure[call] *= trees.sure[kids[i]];
        }
    }
    return trees;
}

static void count_found(BbScore *score, Pairing *pairing, const Trees *trees, guint32 root)
{
    const BbTrial *trial = pairing->trial;
    bool right = trees->right[root];
    bool whole = right && trial->found->size[root] == trial->real->size[root];
    score->instances.all++;
    score->instances.right += whole;
    double sure = trees->sure[root];
    bb_calibration_add(&score->instance_confidence, sure >= 0 ? sure : -1, whole);
    BbPatternPair *pair = pair_of(pairing, trial->found, root);
    pair->found++;
    pair->wrong += !whole;
    pair->stated_right += sure;
    add_latency(&pair->found_ns, trial, root);
}

static void count_real(Pairing *pairing, guint32 root)
{
    BbPatternPair *pair = pair_of(pairing, pairing->trial->real, root);
    pair->real++;
    add_latency(&pair->real_ns, pairing->trial, root);
}

// Roots in order of the links, which is the same on every run.
static void count_instances(BbScore *score, Pairing *pairing)
{
    const BbForest *found = pairing->trial->found, *real = pairing->trial->real;
    Trees trees = judge_trees(pairing->trial);
    for (guint32 i = 0; i < found->n; i++) {
        if (found->size[i] > 0 && found->parent[i] == BB_CALL_NO_PARENT)
            count_found(score, pairing, &trees, i);
        if (real->size[i] > 0 && real->parent[i] == BB_CALL_NO_PARENT)
            count_real(pairing, i);
    }
    g_free(trees.right);
    g_free(trees.sure);
}

// ---- patterns -----------------------------------------------------------------------------------

static void compare_stated(BbScore *score)
{
    double stated = 0, wrong = 0, found = 0, gap = 0;
    for (guint i = 0; i < score->pairs->len; i++) {
        const BbPatternPair *pair = &g_array_index(score->pairs, BbPatternPair, i);
        double stated_wrong = (double)pair->found - pair->stated_right;
        stated += stated_wrong;
        wrong += (double)pair->wrong;
        found += (double)pair->found;
        gap += fabs(stated_wrong - (double)pair->wrong);
    }
    score->stated_wrong = found > 0 ? stated / found : NAN;
    score->actual_wrong = found > 0 ? wrong / found : NAN;
    score->pattern_gap = found > 0 ? gap / found : NAN;
}

static void compare_latencies(BbScore *score)
{
    for (guint i = 0; i < score->pairs->len; i++) {
        const BbPatternPair *pair = &g_array_index(score->pairs, BbPatternPair, i);
        if (pair->found > 0 && pair->real > 0)
            bb_deviation_add(&score->pattern_latency, (double)pair->found_ns / (double)pair->found,
                             (double)pair->real_ns / (double)pair->real);
    }
}

static guint64 apart(const BbPatternPair *pair)
{
    return pair->found > pair->real ? pair->found - pair->real : pair->real - pair->found;
}

static int by_distance(gconstpointer a, gconstpointer b)
{
    const BbPatternPair *x = a, *y = b;
    if (apart(x) != apart(y))
        return apart(x) > apart(y) ? -1 : 1;
    if (x->real != y->real)
        return x->real > y->real ? -1 : 1;
    if (x->found != y->found)
        return x->found > y->found ? -1 : 1;
    return (x->example > y->example) - (x->example < y->example);
}

// ---- captions -----------------------------------------------------------------------------------

typedef struct {
    GString *text;
    const BbTrial *trial;
    const BbForest *forest;
} Caption;

// "lb GET / (auth, db)", children in order of time. Gives up where the text is long enough: so a
// deep tree is no deep recursion.
static void append_tree(Caption *caption, guint32 index)
{
    const BbForest *forest = caption->forest;
    const BbCall *call = &bb_links_at(caption->trial->links, index)->call;
    if (caption->text->len > CAPTION_BYTES)
        return;
    bb_caption_append(caption->text, bb_names_text(caption->trial->names, call->callee), "?");
    if (caption->trial->options.labels && call->op != BB_NAME_NONE) {
        g_string_append_c(caption->text, ' ');
        bb_caption_append(caption->text, bb_names_text(caption->trial->names, call->op), "?");
    }
    guint32 n_kids = bb_groups_size(&forest->kids, index);
    for (guint32 i = 0; i < n_kids; i++) {
        if (caption->text->len > CAPTION_BYTES)
            return;
        g_string_append(caption->text, i == 0 ? " (" : ", ");
        append_tree(caption, bb_groups_at(&forest->kids, index)[i]);
    }
    if (n_kids > 0)
        g_string_append_c(caption->text, ')');
}

static char *caption_of(const BbTrial *trial, const BbPatternPair *pair)
{
    Caption caption = {g_string_new(NULL), trial, pair->example_found ? trial->found : trial->real};
    const BbCall *root = &bb_links_at(trial->links, pair->example)->call;
    bb_caption_append(caption.text, bb_names_text(trial->names, root->caller), "?");
    g_string_append(caption.text, " -> ");
    append_tree(&caption, pair->example);
    if (caption.text->len > CAPTION_BYTES)
        g_string_append(caption.text, " ...");
    return g_string_free(caption.text, FALSE);
}

// Only so many are told of.
static void describe_pairs(BbScore *score, const BbTrial *trial)
{
    g_array_sort(score->pairs, by_distance);
    g_array_set_size(score->pairs, MIN(score->pairs->len, BB_SCORE_PAIRS));
    score->captions = g_new0(char *, score->pairs->len + 1);
    for (guint i = 0; i < score->pairs->len; i++)
        score->captions[i] = caption_of(trial, &g_array_index(score->pairs, BbPatternPair, i));
}

void bb_score_patterns(BbScore *score, const BbTrial *trial)
{
    g_autoptr(GHashTable) places =
        g_hash_table_new_full(bb_pair_key_hash, g_int64_equal, g_free, NULL);
    Pairing pairing = {score->pairs, places, trial};
    count_instances(score, &pairing);
    const BbPatternPair *pairs = (const BbPatternPair *)(const void *)score->pairs->data;
    score->mismatch = bb_mismatch_of(pairs, score->pairs->len);
    for (BbOmittedKey key = BB_OMITTED_BY_COUNT; key <= BB_OMITTED_BY_LATENCY; key++)
        score->omitted[key] = bb_omitted_of(pairs, score->pairs->len, key);
    compare_latencies(score);
    compare_stated(score);
    describe_pairs(score, trial);
}
