// SPDX-License-Identifier: Apache-2.0
// Which parents of a site may lack a child: one that was given to another parent, or to none. A
// link that is not there cannot be wrong, but the instance is not what happened.
#pragma once

#include "nesting/site.h"

typedef struct BbLacking BbLacking;

// parent: the assignment that is published, by child. Both are lent.
BbLacking *bb_lacking_new(const BbSite *site, const guint32 *parent);
void bb_lacking_free(BbLacking *lacking);

// Takes note of the site's assignment as it is now, one drawn by its likelihood. children: those of
// which others were drawn.
void bb_lacking_observe(BbLacking *lacking, const guint32 *children, guint32 n);

// share: of each child, how sure its place is among the candidates that were kept. Becomes less
// where many were not (BbSite.kept). whole: of each parent, the probability that it lacks no
// child, if those it has are its own.
void bb_lacking_finish(const BbLacking *lacking, float *share, float *whole);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(BbLacking, bb_lacking_free)
