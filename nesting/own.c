// SPDX-License-Identifier: Apache-2.0
// In: a site. Out: room for what its parts gave a model.
#include "nesting/own.h"

#include <string.h>

BbOwn *bb_own_new(const BbSite *site, bool with_gaps)
{
    BbOwn *own = g_new0(BbOwn, 1);
    gsize gaps = (gsize)site->n_children + site->n_parents;
    own->site = site;
    own->gaps = with_gaps ? g_new(BbOwnGap, gaps * BB_OWN_SAMPLES) : NULL;
    own->signatures = g_new(guint64, (gsize)site->n_parents * BB_OWN_SAMPLES);
    return own;
}

void bb_own_free(BbOwn *own)
{
    if (!own)
        return;
    g_free(own->gaps);
    g_free(own->signatures);
    g_free(own);
}

void bb_own_next(BbOwn *own, double weight)
{
    g_assert(own->n < BB_OWN_SAMPLES);
    own->weight = weight;
    for (guint32 x = 0; own->gaps && x < own->site->n_children; x++)
        own->gaps[(gsize)x * BB_OWN_SAMPLES + own->n].slot = 0;
    own->n++;
}
