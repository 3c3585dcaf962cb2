// SPDX-License-Identifier: Apache-2.0
// What can be known of gaps before any assignment: by how much more often an event follows another
// at some lag than chance would have it. Where many calls are open at once this finds the right
// model when assignments made by guess would not.
#pragma once

#include "nesting/density.h"
#include "nesting/site.h"

typedef struct BbOnset {
    guint np, nc;
    BbDensity **start; // [p * nc + c]: parent's arrival -> call of the child
    BbDensity **next;  // [d * nc + c]: return of a d -> call of a c
    BbDensity **end;   // [p * nc + c]: return of the child -> return of the parent
    BbDensity **whole; // [p]: duration of the parent
    double *mean; // [p * kinds of children + c]: children of kind c for each parent of kind p, if
                  // all candidates were equally likely; filled with the candidates
} BbOnset;

// Densities are never NULL. Cost: bounded by a sample of pairs of events.
BbOnset *bb_onset_new(const BbSite *site, const BbGapScale *scale);
void bb_onset_free(BbOnset *onset);

// Share of some calls (their times, in order) that follow the arrival or the reply of a call to the
// node at lags that chance does not explain. reach: the longest such lag, in quanta.
double bb_onset_due(const BbSite *site, const BbGapScale *scale, const gint64 *calls, guint32 n,
                    gint64 *reach);

// How well a parent suits a child by these densities alone.
double bb_onset_log(const BbOnset *onset, const BbGapScale *scale, const BbSiteParent *parent,
                    const BbSiteChild *child);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(BbOnset, bb_onset_free)
