// SPDX-License-Identifier: Apache-2.0
// For the tests of convolution: the links between the streams of planted messages.
#pragma once

#include "convolution/evidence.h"
#include "convolution/explain.h"
#include "tests/unit/planted.h"

typedef struct {
    const Planted *planted;
    BbStreams *streams;
    BbLagGrid grid;
    BbLinkOptions options;
    BbTrains *trains;
} Linking;

// Finishes the traffic.
static inline Linking *linking_new(Planted *planted, gint64 quantum_ns, guint32 before,
                                   guint32 after)
{
    Linking *linking = g_new0(Linking, 1);
    bb_traffic_finish(planted->traffic);
    linking->planted = planted;
    linking->streams = bb_streams_new(planted->traffic, 0);
    linking->grid = (BbLagGrid){quantum_ns, before, before + after};
    linking->options = (BbLinkOptions){.start_ns = planted->traffic->start_ns,
                                       .end_ns = planted->traffic->end_ns,
                                       .messages_least = 5};
    linking->trains = bb_trains_new(linking->streams, &linking->grid, &linking->options);
    return linking;
}

static inline void linking_free(Linking *linking)
{
    bb_trains_free(linking->trains);
    bb_streams_free(linking->streams);
    g_free(linking);
}

G_DEFINE_AUTOPTR_CLEANUP_FUNC(Linking, linking_free)

// The number of the stream into or out of a node on that edge.
static inline guint32 linking_stream(const Linking *linking, bool in, const char *from,
                                     const char *to)
{
    const BbStream *streams = in ? linking->streams->in : linking->streams->out;
    guint32 n = in ? linking->streams->n_in : linking->streams->n_out;
    const BbCall *messages = linking->planted->traffic->messages;
    for (guint32 s = 0; s < n; s++)
        if (messages[streams[s].message[0]].caller ==
                bb_names_find(linking->planted->names, from) &&
            messages[streams[s].message[0]].callee == bb_names_find(linking->planted->names, to))
            return s;
    ck_abort_msg("no stream from %s to %s", from, to);
    return 0;
}

// The links to some streams out of one node, each the caller's.
static inline void linking_find(const Linking *linking, guint32 first, guint32 n, double chance,
                                bool blocks, GPtrArray **links)
{
    g_autoptr(BbEvidence) evidence = bb_evidence_new(linking->trains, blocks);
    g_autoptr(GArray) suspects = g_array_new(FALSE, FALSE, sizeof(BbSuspect));
    bb_evidence_survey(evidence, first, n, suspects);
    bb_evidence_find(evidence, first, n, suspects, chance, links);
}

static inline BbExplanation *linking_explain(const Linking *linking, const char *from,
                                             const char *to)
{
    GPtrArray *links = NULL;
    guint32 out = linking_stream(linking, false, from, to);
    linking_find(linking, out, 1, 1e-4, false, &links);
    return bb_explain(linking->streams, &linking->streams->out[out], links, &linking->grid,
                      &linking->options);
}

// The link from a stream in; NULL where there is none.
static inline BbLink *linking_link(const GPtrArray *links, guint32 in)
{
    for (guint l = 0; l < links->len; l++) {
        BbLink *link = g_ptr_array_index(links, l);
        if (link->in == in)
            return link;
    }
    return NULL;
}
