// SPDX-License-Identifier: Apache-2.0
// What can be known of gaps before any assignment: by how much more often an event follows another
// at some lag than chance would have it. Where many calls are open at once this finds the right
// model when assignments made by guess would not.
#pragma once

#include "nesting/density.h"
#include "nesting/site.h"

typedef struct BbOnset {
    guint np, nc;
    BbDensity **start;           // [p * nc + c]: parent's arrival -> call of the child
    BbDensity **next;            // [d * nc + c]: return of a d -> call of a c
    BbDensity **end;             // [p * nc + c]: return of the child -> return of the parent
    BbDensity **whole;           // [p]: duration of the parent
    BbDensity **before, **after; // [c], of kinds that may be late: call of the child -> return of a
                                 // parent, and the other way round; NULL of others
    double *is_before;           // [c]: how often it is the one and not the other
    bool *
        is_caused; // [c]: they follow calls to the node more than by chance, or that cannot be told
    double *mean;  // [p * kinds of children + c]: children of kind c for each parent of kind p, if
                   // all candidates were equally likely; filled with the candidates
} BbOnset;

// Densities are never NULL. Cost: bounded by a sample of pairs of events.
BbOnset *bb_onset_new(const BbSite *site, const BbGapScale *scale);
void bb_onset_free(BbOnset *onset);

// Share of the calls of a type without candidates (n_candidates: of each child) that follow the
// arrival or the reply of calls to the node, or the return of its calls of a type that have
// candidates, at lags that chance does not explain; 0 where that cannot be told. reach: how long
// after its parent's arrival such a call may come, in quanta.
double bb_onset_due(const BbSite *site, const BbGapScale *scale, guint type,
                    const guint32 *n_candidates, gint64 *reach);

// Fills is_caused, which is false of all before: of kinds that follow arrivals or replies, or
// returns of kinds that do.
void bb_onset_find_caused(BbOnset *onset, const BbSite *site, const BbGapScale *scale);

// Finds out when calls of a type, that may be late, are made: before their parent's return or
// after.
void bb_onset_add_late(BbOnset *onset, const BbSite *site, const BbGapScale *scale, guint type);

// How well a parent suits a child by these densities alone.
double bb_onset_log(const BbOnset *onset, const BbGapScale *scale, const BbSiteParent *parent,
                    const BbSiteChild *child);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(BbOnset, bb_onset_free)
