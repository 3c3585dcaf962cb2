// SPDX-License-Identifier: Apache-2.0
// In: the streams of a node. Out: its links.
#include "convolution/evidence.h"

#define BATCH_BYTES ((gsize)32 << 20)  // of correlograms at once
#define BLOCKS_BYTES ((gsize)32 << 20) // of spectra
#define BATCH_MAX 16u

// ---- trains ------------------------------------------------------------------------------------

static BbTrain train_of(const BbTrains *trains, const BbStream *stream)
{
    if (stream->count < trains->options.messages_least)
        return (BbTrain){0};
    gint64 *quanta = g_new(gint64, stream->count);
    for (guint32 i = 0; i < stream->count; i++)
        quanta[i] = (stream->ns[i] - trains->options.start_ns) / trains->grid.quantum_ns;
    return (BbTrain){quanta, stream->count};
}

BbTrains *bb_trains_new(const BbStreams *streams, const BbLagGrid *grid,
                        const BbLinkOptions *options)
{
    BbTrains *trains = g_new0(BbTrains, 1);
    trains->streams = streams;
    trains->grid = *grid;
    trains->options = *options;
    trains->in = g_new(BbTrain, MAX(1, streams->n_in));
    trains->out = g_new(BbTrain, MAX(1, streams->n_out));
    for (guint32 i = 0; i < streams->n_in; i++)
        trains->in[i] = train_of(trains, &streams->in[i]);
    for (guint32 i = 0; i < streams->n_out; i++)
        trains->out[i] = train_of(trains, &streams->out[i]);
    return trains;
}

void bb_trains_free(BbTrains *trains)
{
    if (!trains)
        return;
    for (guint32 i = 0; i < trains->streams->n_in; i++)
        g_free((gpointer)trains->in[i].quanta);
    for (guint32 i = 0; i < trains->streams->n_out; i++)
        g_free((gpointer)trains->out[i].quanta);
    g_free(trains->in);
    g_free(trains->out);
    g_free(trains);
}

// Without negative lags the correlogram goes both ways: its other half is the mirror.
static BbLags lags_of(const BbLagGrid *grid)
{
    if (grid->before > 0)
        return (BbLags){-(gint64)grid->before, grid->bins};
    return (BbLags){1 - (gint64)grid->bins, 2 * (gsize)grid->bins - 1};
}

static gint64 span_of(const BbTrains *trains)
{
    return (trains->options.end_ns - trains->options.start_ns) / trains->grid.quantum_ns + 1;
}

guint32 bb_trains_batch(const BbTrains *trains, guint32 first)
{
    const BbStreams *streams = trains->streams;
    guint32 in, n_in = bb_streams_into(streams, streams->out[first].node, &in), n = 1;
    gsize bytes = MAX(1, n_in) * lags_of(&trains->grid).n_lags * sizeof(guint32);
    while (first + n < streams->n_out && streams->out[first + n].node == streams->out[first].node &&
           n < BATCH_MAX && (n + 1) * bytes <= BATCH_BYTES)
        n++;
    return n;
}

double bb_trains_saved(const BbTrains *trains, guint32 first, guint32 n)
{
    const BbStreams *streams = trains->streams;
    BbLags lags = lags_of(&trains->grid);
    guint32 in, n_in = bb_streams_into(streams, streams->out[first].node, &in);
    double saved = 0;
    for (guint32 f = first; f < first + n; f++)
        for (guint32 e = in; e < in + n_in; e++) {
            if (trains->in[e].count == 0 || trains->out[f].count == 0)
                continue;
            BbCorrelogramCost cost =
                bb_correlogram_cost(&trains->in[e], &trains->out[f], &lags, span_of(trains));
            saved += cost.counting - cost.blocks;
        }
    return saved;
}

// ---- evidence ----------------------------------------------------------------------------------

struct BbEvidence {
    const BbTrains *trains;
    BbLags lags;
    BbBlocks *blocks; // NULL: count
    BbEvidenceWork work;
};

BbEvidence *bb_evidence_new(const BbTrains *trains, bool blocks)
{
    BbEvidence *evidence = g_new0(BbEvidence, 1);
    evidence->trains = trains;
    evidence->lags = lags_of(&trains->grid);
    if (blocks)
        evidence->blocks = bb_blocks_new(&evidence->lags, span_of(trains), BLOCKS_BYTES);
    return evidence;
}

void bb_evidence_free(BbEvidence *evidence)
{
    if (!evidence)
        return;
    bb_blocks_free(evidence->blocks);
    g_free(evidence);
}

BbEvidenceWork bb_evidence_work(const BbEvidence *evidence)
{
    return evidence->work;
}

static void correlate(BbEvidence *evidence, bool blocks, const BbTrain *in, guint32 n_in,
                      const BbTrain *out, guint32 n_out, guint32 **counts)
{
    for (gsize i = 0; i < (gsize)n_in * n_out; i++)
        *(blocks ? &evidence->work.transformed : &evidence->work.counted) += counts[i] != NULL;
    if (blocks) {
        bb_blocks_correlate(evidence->blocks, in, n_in, out, n_out, (guint32 *const *)counts);
        return;
    }
    for (guint32 e = 0; e < n_in; e++)
        for (guint32 f = 0; f < n_out; f++)
            if (counts[e * n_out + f])
                bb_correlogram_count(&in[e], &out[f], &evidence->lags, counts[e * n_out + f]);
}

// Correlograms of streams out [first, first + n) with those into their node: counts[e * n + f],
// NULL where they are not wanted. suspects: those that are; NULL for all.
static guint32 **count_lags(BbEvidence *evidence, guint32 first, guint32 n, const GArray *suspects,
                            double chance)
{
    const BbTrains *trains = evidence->trains;
    guint32 in, n_in = bb_streams_into(trains->streams, trains->streams->out[first].node, &in);
    guint32 **counts = g_new0(guint32 *, MAX(1, (gsize)n_in * n));
    const BbTrain *from = trains->in + in, *to = trains->out + first;
    for (guint i = 0; suspects && i < suspects->len; i++) {
        const BbSuspect *suspect = &g_array_index(suspects, BbSuspect, i);
        if (suspect->chance <= chance)
            counts[(suspect->in - in) * n + suspect->out - first] =
                g_new0(guint32, evidence->lags.n_lags);
    }
    for (guint32 e = 0; e < n_in && !suspects; e++)
        for (guint32 f = 0; f < n; f++)
            if (from[e].count > 0 && to[f].count > 0)
                counts[e * n + f] = g_new0(guint32, evidence->lags.n_lags);
    bool blocks = evidence->blocks && bb_trains_saved(trains, first, n) > 0;
    correlate(evidence, blocks, from, n_in, to, n, counts);
    return counts;
}

// The part of a correlogram of lags that causes can have, and its mirror: NULL where there is none,
// else the caller's.
static const guint32 *split(const BbEvidence *evidence, const guint32 *counts, guint32 **mirror)
{
    const BbLagGrid *grid = &evidence->trains->grid;
    *mirror = NULL;
    if (grid->before > 0)
        return counts;
    *mirror = g_new(guint32, grid->bins);
    for (guint32 i = 0; i < grid->bins; i++)
        (*mirror)[i] = counts[grid->bins - 1 - i];
    return counts + grid->bins - 1;
}

guint64 bb_evidence_survey(BbEvidence *evidence, guint32 first, guint32 n, GArray *suspects)
{
    const BbTrains *trains = evidence->trains;
    const BbStreams *streams = trains->streams;
    guint32 in, n_in = bb_streams_into(streams, streams->out[first].node, &in);
    g_autofree guint32 **counts = count_lags(evidence, first, n, NULL, 0);
    guint64 pairs = 0;
    for (guint32 f = 0; f < n; f++)
        for (guint32 e = 0; e < n_in; e++) {
            g_autofree guint32 *lags = counts[e * n + f], *mirror = NULL;
            if (!lags)
                continue;
            const guint32 *after = split(evidence, lags, &mirror);
            BbSuspect suspect = {in + e, first + f, 1};
            suspect.chance =
                bb_link_chance(&trains->grid, &streams->in[in + e], &streams->out[first + f], after,
                               mirror, &trains->options);
            pairs++;
            if (suspect.chance <= BB_SUSPECT_MOST)
                g_array_append_val(suspects, suspect);
        }
    return pairs;
}

void bb_evidence_find(BbEvidence *evidence, guint32 first, guint32 n, const GArray *suspects,
                      double chance, GPtrArray **links)
{
    const BbTrains *trains = evidence->trains;
    const BbStreams *streams = trains->streams;
    guint32 in, n_in = bb_streams_into(streams, streams->out[first].node, &in);
    g_autofree guint32 **counts = count_lags(evidence, first, n, suspects, chance);
    BbLinkOptions options = trains->options;
    options.chance = chance;
    for (guint32 f = 0; f < n; f++) {
        links[f] = g_ptr_array_new_with_free_func((GDestroyNotify)bb_link_free);
        for (guint32 e = 0; e < n_in; e++) {
            g_autofree guint32 *lags = counts[e * n + f], *mirror = NULL;
            if (!lags)
                continue;
            const guint32 *after = split(evidence, lags, &mirror);
            BbLink *link = bb_link_find(&trains->grid, &streams->in[in + e],
                                        &streams->out[first + f], after, mirror, &options);
            if (!link)
                continue;
            link->in = in + e;
            g_ptr_array_add(links[f], link);
        }
    }
}
