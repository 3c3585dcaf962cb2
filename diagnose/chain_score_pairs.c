// SPDX-License-Identifier: Apache-2.0
// In: messages with both causes, or chains with their delays. Out: how right pairs of edges are,
// and the delays between them.
#include <math.h>
#include <string.h>

#include "diagnose/chain_score_parts.h"

// A pair while it is counted.
typedef struct {
    guint32 from, via, to;
    guint64 found, real;
    double stated_sum_ns;
    guint64 stated; // messages in that sum
    BbStats *found_delay, *real_delay;
} Pair;

typedef struct {
    GArray *pairs;   // of Pair, in order of first appearance
    BbTally numbers; // (from, via, to) -> index + 1
    const BbChainTrial *trial;
    BbStats *mean_apart, *median_apart; // how far found delays are from true ones
} Pairing;

static void clear_pair(gpointer data)
{
    Pair *pair = data;
    bb_stats_free(pair->found_delay);
    bb_stats_free(pair->real_delay);
}

static Pair *pair_of(Pairing *pairing, guint32 from, guint32 via, guint32 to)
{
    guint64 *number = bb_tally_at(&pairing->numbers, (BbTallyKey){from, via, to});
    if (*number == 0) {
        Pair pair = {.from = from,
                     .via = via,
                     .to = to,
                     .found_delay = bb_stats_new(),
                     .real_delay = bb_stats_new()};
        g_array_append_val(pairing->pairs, pair);
        *number = pairing->pairs->len;
    }
    return &g_array_index(pairing->pairs, Pair, *number - 1);
}

static void add_stated(Pair *pair, gint64 delay_ns, guint64 count)
{
    pair->stated_sum_ns += (double)delay_ns * (double)count;
    pair->stated += count;
}

// ---- from messages ------------------------------------------------------------------------------

static gint64 delay_after(const BbEffect *effect, const BbEffect *cause)
{
    return bb_time_between(cause->arrived_ns, effect->sent_ns);
}

static void count_causes(Pairing *pairing, const BbEffect *effect)
{
    const BbEffects *effects = pairing->trial->effects;
    if (effect->real != BB_EFFECT_NONE) {
        const BbEffect *cause = bb_effects_at(effects, effect->real);
        Pair *pair = pair_of(pairing, cause->sender, cause->receiver, effect->receiver);
        pair->real++;
        bb_stats_push(pair->real_delay, delay_after(effect, cause));
    }
    if (pairing->trial->has_causes && effect->found != BB_EFFECT_NONE) {
        const BbEffect *cause = bb_effects_at(effects, effect->found);
        Pair *pair = pair_of(pairing, cause->sender, cause->receiver, effect->receiver);
        pair->found++;
        bb_stats_push(pair->found_delay, delay_after(effect, cause));
        if (effect->stated_ns != BB_TIME_NONE)
            add_stated(pair, effect->stated_ns, 1);
    }
}

// ---- from patterns ------------------------------------------------------------------------------

// A vertex's messages, once: patterns share those of their common beginning.
typedef struct {
    Pairing *pairing;
    BbTally seen; // by strand
} Vertices;

static void count_vertex(Vertices *vertices, guint32 strand, const BbPatternNode *node)
{
    guint64 *seen = bb_tally_at(&vertices->seen, (BbTallyKey){strand, 0, 0});
    if ((*seen)++ > 0)
        return;
    const BbStrands *strands = vertices->pairing->trial->strands;
    const BbEdgeChain *last = bb_strand_at(strands, strand);
    const BbEdgeChain *before = bb_strand_at(strands, last->up);
    Pair *pair = pair_of(vertices->pairing, before->sender, last->sender, last->receiver);
    pair->found += last->found;
    for (guint i = 0; node->delays && i < node->delays->len; i++) {
        const BbPatternDelay *delay = &g_array_index(node->delays, BbPatternDelay, i);
        add_stated(pair, delay->delay_ns, delay->count);
    }
}

static void count_vertices(Pairing *pairing, const BbPattern *pattern, Vertices *vertices)
{
    BbStrands *strands = pairing->trial->strands;
    const BbPatternNode *node = pattern->root;
    guint32 strand = bb_strands_find(strands, BB_STRAND_NONE, pattern->client, node->node);
    while (node->calls->len > 0) {
        const BbPatternNode *next = g_ptr_array_index(node->calls, 0);
        strand = bb_strands_find(strands, strand, node->node, next->node);
        count_vertex(vertices, strand, next);
        node = next;
    }
}

static void count_patterns(Pairing *pairing)
{
    Vertices vertices = {.pairing = pairing};
    bb_tally_init(&vertices.seen);
    const GPtrArray *patterns = pairing->trial->patterns->patterns;
    for (guint i = 0; i < patterns->len; i++) {
        const BbPattern *pattern = g_ptr_array_index(patterns, i);
        if (pattern && !pattern->derived && pattern->count > 0)
            count_vertices(pairing, pattern, &vertices);
    }
    bb_tally_clear(&vertices.seen);
}

// ---- publishing ---------------------------------------------------------------------------------

static int by_frequency(gconstpointer a, gconstpointer b, gpointer names)
{
    const BbChainPair *x = a, *y = b;
    if (x->real != y->real)
        return x->real > y->real ? -1 : 1;
    if (x->found != y->found)
        return x->found > y->found ? -1 : 1;
    const guint32 left[] = {x->from, x->via, x->to}, right[] = {y->from, y->via, y->to};
    int order = 0;
    for (gsize i = 0; i < G_N_ELEMENTS(left) && order == 0; i++)
        order = strcmp(bb_names_text(names, left[i]), bb_names_text(names, right[i]));
    return order;
}

static void compare_delay(BbDelayError *error, BbStats *apart, gint64 found_ns, gint64 real_ns)
{
    gint64 apart_ns = bb_time_between(MIN(real_ns, found_ns), MAX(real_ns, found_ns));
    bb_stats_push(apart, apart_ns);
    if (real_ns != 0) // of a number and NAN the number is the greater
        error->largest = fmax(error->largest, (double)apart_ns / fabs((double)real_ns));
}

static void sum_up(BbDelayError *error, const BbStats *apart)
{
    error->compared = (guint32)bb_stats_count(apart);
    error->mean_ns = bb_stats_mean(apart);
    error->largest_ns = bb_stats_max(apart);
}

static gint64 stated_mean(const Pair *pair)
{
    return pair->stated ? llround(pair->stated_sum_ns / (double)pair->stated) : BB_TIME_NONE;
}

static gint64 median(const BbStats *delays)
{
    return bb_stats_count(delays) ? bb_stats_quantile(delays, 0.5) : BB_TIME_NONE;
}

static void publish(BbChainScore *score, const Pairing *pairing, const Pair *pair)
{
    BbChainPair published = {
        .from = pair->from,
        .via = pair->via,
        .to = pair->to,
        .found = pair->found,
        .real = pair->real,
        .stated_mean_ns = stated_mean(pair),
        .found_p50_ns = median(pair->found_delay),
        .real_mean_ns = pair->real ? bb_stats_mean(pair->real_delay) : BB_TIME_NONE,
        .real_p50_ns = median(pair->real_delay),
    };
    g_array_append_val(score->pairs, published);
    bb_fidelity_add(score->fidelity[BB_CHAIN_PAIRS], score->true_roots, pair->found, pair->real);
    if (pair->found == 0 || (double)pair->real < BB_DELAYS_LEAST * (double)score->true_roots)
        return;
    if (published.stated_mean_ns != BB_TIME_NONE)
        compare_delay(&score->mean_delay, pairing->mean_apart, published.stated_mean_ns,
                      published.real_mean_ns);
    if (published.found_p50_ns != BB_TIME_NONE)
        compare_delay(&score->median_delay, pairing->median_apart, published.found_p50_ns,
                      published.real_p50_ns);
}

void bb_chain_score_pairs(BbChainScore *score, const BbChainTrial *trial)
{
    Pairing pairing = {.pairs = g_array_new(FALSE, FALSE, sizeof(Pair)),
                       .trial = trial,
                       .mean_apart = bb_stats_new(),
                       .median_apart = bb_stats_new()};
    g_array_set_clear_func(pairing.pairs, clear_pair);
    bb_tally_init(&pairing.numbers);
    for (guint32 i = 0; i < trial->effects->effects->len; i++) {
        const BbEffect *effect = bb_effects_at(trial->effects, i);
        if (effect->truth != BB_EFFECT_UNTOLD)
            count_causes(&pairing, effect);
    }
    if (!trial->has_causes)
        count_patterns(&pairing);
    score->mean_delay = score->median_delay = (BbDelayError){.largest = (double)NAN};
    for (guint i = 0; i < pairing.pairs->len; i++)
        publish(score, &pairing, &g_array_index(pairing.pairs, Pair, i));
    sum_up(&score->mean_delay, pairing.mean_apart);
    sum_up(&score->median_delay, pairing.median_apart);
    g_array_sort_with_data(score->pairs, by_frequency, (gpointer)trial->names);
    bb_tally_clear(&pairing.numbers);
    g_array_unref(pairing.pairs);
    bb_stats_free(pairing.mean_apart);
    bb_stats_free(pairing.median_apart);
}
