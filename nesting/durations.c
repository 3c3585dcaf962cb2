// SPDX-License-Identifier: Apache-2.0
// In: the children of a site. Out: where each stands in the distribution of its type.
#include "nesting/durations.h"

#include "nesting/density.h"

static inline guint bin_of(const BbSiteChild *child, const BbGapScale *scale)
{
    return bb_gap_bin(scale, child->trip);
}

void bb_durations_rank(BbSite *site, const BbGapScale *scale)
{
    BbDensity *density[BB_SITE_TYPES];
    float normal[BB_SITE_TYPES][BB_GAP_BINS];
    for (guint c = 0; c < site->n_child_types; c++)
        density[c] = bb_density_new();
    for (guint32 x = 0; x < site->n_children; x++)
        if (!site->children[x].unanswered)
            bb_density_add(density[site->children[x].type], bin_of(&site->children[x], scale), 1);
    for (guint c = 0; c < site->n_child_types; c++) {
        bb_density_fit(density[c], scale);
        bb_density_normal(density[c], scale, normal[c]);
        g_free(density[c]);
    }
    for (guint32 x = 0; x < site->n_children; x++) {
        BbSiteChild *child = &site->children[x];
        if (!child->unanswered)
            child->lasts = (gint16)(BB_SITE_NORMAL * normal[child->type][bin_of(child, scale)]);
    }
}
