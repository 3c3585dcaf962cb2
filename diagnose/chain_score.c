// SPDX-License-Identifier: Apache-2.0
// In: messages with both causes, and patterns. Out: how right messages, chains and paths are.
#include "diagnose/chain_score.h"

#include <math.h>
#include <string.h>

#include "data/caption.h"
#include "diagnose/chain_score_parts.h"

#define CAPTION_NODES 40u // of a path; in the middle of longer ones stand dots

const BbTier bb_tiers[BB_TIERS] = {
    {"any", "any", 1, 0},
    {"3 or more", "3", 3, 0},
    {"10 or more", "10", 10, 0},
    {"0.5 % of roots", "0.5%", 1, 0.005},
    {"1 % of roots", "1%", 1, 0.01},
};

void bb_fidelity_add(BbFidelity *fidelity, guint64 true_roots, guint64 found, guint64 real)
{
    for (guint t = 0; t < BB_TIERS; t++) {
        double least = fmax((double)bb_tiers[t].count, bb_tiers[t].share * (double)true_roots);
        if ((double)found >= least) {
            fidelity[t].found.all++;
            fidelity[t].found.right += real > 0;
        }
        if ((double)real >= least) {
            fidelity[t].real.all++;
            fidelity[t].real.right += 2 * (double)found >= least;
        }
    }
}

// ---- messages -----------------------------------------------------------------------------------

static void count(BbRight *right, bool is_right)
{
    right->all++;
    right->right += is_right;
}

static void judge_message(BbChainScore *score, const BbEffect *effect)
{
    bool right = bb_effect_is_right(effect);
    BbRight *const kinds[] = {
        [BB_EFFECT_ROOT] = &score->roots,
        [BB_EFFECT_CAUSED] = &score->caused,
        [BB_EFFECT_LOST] = &score->lost,
    };
    count(kinds[effect->truth], right);
    count(effect->found == BB_EFFECT_NONE ? &score->found_roots : &score->found_causes, right);
    bb_calibration_add(&score->confidence, (double)effect->confidence, right);
}

static void judge_messages(BbChainScore *score, const BbChainTrial *trial)
{
    score->untold = trial->effects->untold;
    score->circular = trial->effects->circular;
    for (guint32 i = 0; i < trial->effects->effects->len; i++) {
        const BbEffect *effect = bb_effects_at(trial->effects, i);
        if (effect->truth == BB_EFFECT_UNTOLD)
            continue;
        score->messages++;
        score->true_roots += effect->real == BB_EFFECT_NONE;
        if (trial->has_causes)
            judge_message(score, effect);
    }
}

// ---- chains -------------------------------------------------------------------------------------

static guint32 cause_of(const BbEffect *effect, BbForestSide side)
{
    return side == BB_FOREST_REAL ? effect->real : effect->found;
}

// The chain of each message. Messages on circles have none: they are roots. The caller frees.
static guint32 *number_chains(const BbChainTrial *trial, BbForestSide side)
{
    guint32 n = trial->effects->effects->len;
    g_autofree guint32 *cause = g_new(guint32, n), *order = g_new(guint32, n);
    guint32 *chain = g_new(guint32, n);
    for (guint32 i = 0; i < n; i++)
        cause[i] = cause_of(bb_effects_at(trial->effects, i), side);
    guint32 reached = bb_forest_order(cause, n, order);
    for (guint32 k = n; k > 0; k--) {
        guint32 i = order[k - 1];
        const BbEffect *effect = bb_effects_at(trial->effects, i);
        bool is_root = cause[i] == BB_EFFECT_NONE || k > reached;
        chain[i] = bb_strands_find(trial->strands, is_root ? BB_STRAND_NONE : chain[cause[i]],
                                   effect->sender, effect->receiver);
    }
    return chain;
}

static void count_found(const BbChainTrial *trial)
{
    g_autofree guint32 *chain = number_chains(trial, BB_FOREST_FOUND);
    for (guint32 i = 0; i < trial->effects->effects->len; i++)
        if (bb_effects_at(trial->effects, i)->truth != BB_EFFECT_UNTOLD)
            bb_strand_at(trial->strands, chain[i])->found++;
}

static void count_real(const BbChainTrial *trial)
{
    guint32 n = trial->effects->effects->len;
    g_autofree guint32 *chain = number_chains(trial, BB_FOREST_REAL);
    g_autofree bool *causes = g_new0(bool, n);
    for (guint32 i = 0; i < n; i++) {
        guint32 cause = bb_effects_at(trial->effects, i)->real;
        if (cause != BB_EFFECT_NONE)
            causes[cause] = true;
    }
    for (guint32 i = 0; i < n; i++) {
        if (bb_effects_at(trial->effects, i)->truth == BB_EFFECT_UNTOLD)
            continue;
        BbEdgeChain *strand = bb_strand_at(trial->strands, chain[i]);
        strand->real++;
        strand->real_paths += !causes[i];
    }
}

// ---- patterns -----------------------------------------------------------------------------------

static guint64 messages_of(const BbPatternNode *node)
{
    guint64 sum = 0;
    if (node->messages > 0)
        return node->messages;
    for (guint i = 0; node->delays && i < node->delays->len; i++)
        sum += g_array_index(node->delays, BbPatternDelay, i).count;
    return sum;
}

// Figure 6 begins a chain with all messages on its first edge.
static void count_first_edge(const BbChainTrial *trial, guint32 first)
{
    BbEdgeChain *strand = bb_strand_at(trial->strands, first);
    if (strand->found > 0)
        return;
    for (guint32 i = 0; i < trial->effects->effects->len; i++) {
        const BbEffect *effect = bb_effects_at(trial->effects, i);
        strand->found += effect->sender == strand->sender && effect->receiver == strand->receiver;
    }
}

static void count_pattern(const BbChainTrial *trial, const BbPattern *pattern)
{
    const BbPatternNode *node = pattern->root;
    guint32 strand = bb_strands_find(trial->strands, BB_STRAND_NONE, pattern->client, node->node);
    if (!trial->has_causes)
        count_first_edge(trial, strand);
    while (node->calls->len > 0) {
        const BbPatternNode *next = g_ptr_array_index(node->calls, 0);
        strand = bb_strands_find(trial->strands, strand, node->node, next->node);
        if (!trial->has_causes)
            bb_strand_at(trial->strands, strand)->found = messages_of(next);
        node = next;
    }
    bb_strand_at(trial->strands, strand)->found_paths += pattern->count;
}

static void count_patterns(const BbChainTrial *trial)
{
    const GPtrArray *patterns = trial->patterns->patterns;
    for (guint i = 0; i < patterns->len; i++) {
        const BbPattern *pattern = g_ptr_array_index(patterns, i);
        if (pattern && !pattern->derived && pattern->count > 0)
            count_pattern(trial, pattern);
    }
}

// ---- vertices and paths -------------------------------------------------------------------------

static void add_excess(BbExcess *excess, guint64 found, guint64 real)
{
    excess->found += found;
    excess->too_many += found > real ? found - real : 0;
}

static void judge_strands(BbChainScore *score, const BbChainTrial *trial)
{
    guint64 roots = score->true_roots;
    for (guint32 i = 0; i < trial->strands->strands->len; i++) {
        const BbEdgeChain *strand = bb_strand_at(trial->strands, i);
        bb_fidelity_add(score->fidelity[BB_CHAIN_VERTICES], roots, strand->found, strand->real);
        bb_fidelity_add(score->fidelity[BB_CHAIN_PATHS], roots, strand->found_paths,
                        strand->real_paths);
        add_excess(&score->path_excess, strand->found_paths, strand->real_paths);
        if (strand->hops < 2)
            continue;
        bb_fidelity_add(score->fidelity[BB_CHAIN_DEEP], roots, strand->found, strand->real);
        add_excess(&score->deep_excess, strand->found, strand->real);
    }
}

static guint64 apart(const BbEdgeChain *strand)
{
    return strand->found_paths > strand->real_paths ? strand->found_paths - strand->real_paths
                                                    : strand->real_paths - strand->found_paths;
}

static int by_distance(gconstpointer a, gconstpointer b, gpointer strands)
{
    guint32 i = *(const guint32 *)a, j = *(const guint32 *)b;
    const BbEdgeChain *x = bb_strand_at(strands, i), *y = bb_strand_at(strands, j);
    if (apart(x) != apart(y))
        return apart(x) > apart(y) ? -1 : 1;
    if (x->real_paths != y->real_paths)
        return x->real_paths > y->real_paths ? -1 : 1;
    return (i > j) - (i < j);
}

// "C -> WS1 -> AUTH -> WS1"
static char *caption_of(const BbChainTrial *trial, guint32 strand)
{
    GString *text = g_string_new(NULL);
    const BbEdgeChain *last = bb_strand_at(trial->strands, strand);
    guint32 hops = last->hops;
    g_autofree guint32 *nodes = g_new(guint32, hops + 1);
    nodes[hops] = last->receiver;
    for (guint32 k = hops; k > 0; k--) {
        const BbEdgeChain *edge = bb_strand_at(trial->strands, strand);
        nodes[k - 1] = edge->sender;
        strand = edge->up;
    }
    for (guint32 k = 0; k <= hops; k++) {
        if (hops > CAPTION_NODES && k == CAPTION_NODES / 2) {
            g_string_append(text, " -> ...");
            k = hops - CAPTION_NODES / 2;
        }
        g_string_append(text, k ? " -> " : "");
        bb_caption_append(text, bb_names_text(trial->names, nodes[k]), "?");
    }
    return g_string_free(text, FALSE);
}

static void tell_paths(BbChainScore *score, const BbChainTrial *trial)
{
    g_autoptr(GArray) ends = g_array_new(FALSE, FALSE, sizeof(guint32));
    for (guint32 i = 0; i < trial->strands->strands->len; i++) {
        const BbEdgeChain *strand = bb_strand_at(trial->strands, i);
        if (strand->found_paths + strand->real_paths > 0)
            g_array_append_val(ends, i);
    }
    g_array_sort_with_data(ends, by_distance, trial->strands);
    for (guint k = 0; k < MIN(ends->len, BB_CHAIN_PATHS_TOLD); k++) {
        guint32 i = g_array_index(ends, guint32, k);
        const BbEdgeChain *strand = bb_strand_at(trial->strands, i);
        BbChainPath path = {strand->found_paths, strand->real_paths, caption_of(trial, i)};
        g_array_append_val(score->paths, path);
    }
}

// ---- the whole ----------------------------------------------------------------------------------

static void clear_path(gpointer path)
{
    g_free(((BbChainPath *)path)->caption);
}

BbChainScore *bb_chain_score_new(BbEffects *effects, const BbPatterns *patterns, bool has_causes,
                                 const BbNames *names)
{
    BbChainScore *score = g_new0(BbChainScore, 1);
    score->has_causes = has_causes;
    score->pairs = g_array_new(FALSE, TRUE, sizeof(BbChainPair));
    score->paths = g_array_new(FALSE, FALSE, sizeof(BbChainPath));
    g_array_set_clear_func(score->paths, clear_path);
    bb_effects_settle(effects);
    BbStrands strands;
    bb_strands_init(&strands);
    BbChainTrial trial = {names, effects, patterns, has_causes, &strands};
    judge_messages(score, &trial);
    count_real(&trial);
    if (has_causes)
        count_found(&trial);
    count_patterns(&trial);
    judge_strands(score, &trial);
    bb_chain_score_pairs(score, &trial);
    tell_paths(score, &trial);
    bb_strands_clear(&strands);
    return score;
}

void bb_chain_score_free(BbChainScore *score)
{
    if (!score)
        return;
    g_array_unref(score->pairs);
    g_array_unref(score->paths);
    g_free(score);
}
