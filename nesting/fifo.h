// SPDX-License-Identifier: Apache-2.0
// First come, first served: whether requests that stand in line at a node (for its attention when
// they arrive, for the next step after a return) leave in the order they came, by more than the
// gaps explain. Learned for each line; a parent that overtakes another there pays for it.
#pragma once

#include "nesting/model.h"

typedef struct BbFifo BbFifo;

// Finds the parents that are open together. NULL where those would be more than a few for each;
// one that is open far longer than the others stands in no line, and costs nothing.
BbFifo *bb_fifo_new(const BbSite *site);
void bb_fifo_free(BbFifo *fifo);

// Learns from the site's assignment. False: order plays no part.
bool bb_fifo_learn(BbFifo *fifo, const BbModel *model, const BbSite *site);

// Whether two parents ever pay less where one overtakes the other.
bool bb_fifo_rewards(const BbFifo *fifo);

// Drops the waits that order does not matter for; returns how many are left.
guint bb_fifo_keep(const BbFifo *fifo, BbWait *waits, guint n);

// What a parent with these waits pays against all others open with it but one (BB_SITE_NONE: all),
// whose waits are known by bb_fifo_know.
double bb_fifo_log(const BbFifo *fifo, guint32 parent, const BbWait *waits, guint n, guint32 but);

// What two parents pay for each other.
double bb_fifo_between(const BbFifo *fifo, const BbSite *site, guint32 p, const BbWait *a,
                       guint n_a, guint32 q, const BbWait *b, guint n_b);

// Remembers the waits of a parent; those that order does not matter for are better left out.
void bb_fifo_know(BbFifo *fifo, guint32 parent, const BbWait *waits, guint n);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(BbFifo, bb_fifo_free)
