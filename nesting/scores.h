// SPDX-License-Identifier: Apache-2.0
// How likely a site's parents are under a model, and in the order in which they wait: as they are,
// which is remembered, and as they would be with other children (trial.h). All are logs.
#pragma once

#include "nesting/fifo.h"
#include "nesting/trial.h"

// What is known of a parent as it is: NAN (of the brood: its log) where it was not asked. When the
// model's trust changes without a refresh, each stays what it was when it was asked first.
typedef struct BbKnown {
    double score;
    BbBrood brood;
    BbTerms *terms; // of a score of many children; NULL until there was one
} BbKnown;

typedef struct BbScores {
    const BbSite *site;
    const BbModel *model;
    BbKnown *known; // of parents
    BbFifo *fifo;   // NULL where order plays no part
    struct {
        guint32 p, q; // BB_SITE_NONE: nothing is remembered
        double log;
    } order; // what two parents pay as they are, asked last
} BbScores;

// site and model are lent and must outlive the value.
BbScores *bb_scores_new(const BbSite *site, const BbModel *model);
void bb_scores_free(BbScores *scores);

// The model has changed: what was remembered of it is void.
void bb_scores_refresh(BbScores *scores);

// From here on order counts as fifo has learned it; NULL: it does not. Lent.
void bb_scores_order(BbScores *scores, BbFifo *fifo);

// A parent has other children now.
void bb_scores_changed(BbScores *scores, guint32 parent);

// Whether a parent has so many children that they are looked at in pieces: then
// bb_scores_gain_of_big speaks for it, and the others but bb_scores_gap do not.
static inline bool bb_scores_is_big(const BbScores *scores, guint32 parent)
{
    return scores->site->kids[parent].n >= BB_MODEL_NEAR;
}

// A parent as it is; with those children. Order apart.
double bb_scores_of(const BbScores *scores, guint32 parent);
double bb_scores_trial(const BbScores *scores, guint32 parent, const BbTrial *trial);

// The kinds of children that a parent has, alone.
double bb_scores_kinds(BbScores *scores, guint32 parent);

// By how much order likes two parents with a and b more than as they are. q: BB_SITE_NONE for p
// alone.
double bb_scores_order_gain(BbScores *scores, guint32 p, const BbTrial *a, guint32 q,
                            const BbTrial *b);

// What that is at most, whatever a and b.
double bb_scores_order_most(BbScores *scores, guint32 p, guint32 q);

// Whether a parent may have x as well, by kinds of children alone: with log odds above `least`.
bool bb_scores_may(BbScores *scores, guint32 parent, guint32 x, double least);

// Log density of x's gap at a parent, after the children that the parent has before x.
static inline double bb_scores_gap(const BbScores *scores, guint32 parent, guint32 x)
{
    const BbKids *kids = &scores->site->kids[parent];
    guint32 n = bb_kids_before(kids, x);
    return bb_model_gap(scores->model, scores->site, parent, kids->at, n, x);
}

// By how much a parent with many children likes x: its neighbours in time with it and without.
double bb_scores_gain_of_big(const BbScores *scores, guint32 parent, guint32 x);

// The whole assignment, order included.
double bb_scores_total(const BbScores *scores);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(BbScores, bb_scores_free)
