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
    BbDensity **whole; // [p]: duration of the parent, from its turn on
    // Any of them, and of those below, where nothing is due to anything: of each kind of child, up
    // to the longest lag that is looked at.
    BbDensity *flat, **flat_of; // [c]; flat itself but of late ones
    double *mean; // [p * kinds of children + c]: children of kind c for each parent of kind p, if
                  // all candidates were equally likely; filled with the candidates

    // Of kinds that may be late ([c], NULL of others): call of the child -> return of a parent, the
    // other way round, and how often it is the one and not the other.
    BbDensity **before, **after;
    double *is_before;

    bool *is_caused; // [c]: hardly any of these calls has no parent (caused.h)
} BbOnset;

// Nothing is known of late calls and of causes yet. Cost: bounded by a sample of pairs of events.
BbOnset *bb_onset_new(const BbSite *site, const BbGapScale *scale);
void bb_onset_free(BbOnset *onset);

// Finds out when calls of a type, that may be late, are made: before their parent's return or
// after, up to that reach. Once for each type.
void bb_onset_add_late(BbOnset *onset, const BbSite *site, const BbGapScale *scale, guint type,
                       gint64 reach);

// How well a parent suits a child by these densities alone.
double bb_onset_log(const BbOnset *onset, const BbSite *site, const BbGapScale *scale,
                    const BbSiteParent *parent, const BbSiteChild *child);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(BbOnset, bb_onset_free)
