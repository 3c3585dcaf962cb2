// SPDX-License-Identifier: Apache-2.0
// In: the children of each parent. Out: how likely such kinds of children are together.
#include "nesting/repertoire.h"

#include "nesting/slot.h"

BbRepertoire *bb_repertoire_new(guint n_parent_types, guint n_child_types)
{
    BbRepertoire *repertoire = g_new0(BbRepertoire, 1);
    repertoire->counts = bb_counts_new(n_parent_types, n_child_types);
    repertoire->signatures = bb_signatures_new();
    bb_signatures_reset(repertoire->signatures, n_parent_types);
    for (guint c = 0; c < n_child_types; c++)
        repertoire->signature[c] = bb_signature_with(0, c);
    return repertoire;
}

void bb_repertoire_free(BbRepertoire *repertoire)
{
    if (!repertoire)
        return;
    bb_counts_free(repertoire->counts);
    bb_signatures_free(repertoire->signatures);
    g_free(repertoire);
}

void bb_repertoire_forget(BbRepertoire *repertoire)
{
    bb_counts_reset(repertoire->counts);
    bb_signatures_reset(repertoire->signatures, repertoire->counts->np);
}

void bb_repertoire_add(BbRepertoire *repertoire, BbOwn *own, const BbSite *site, guint32 parent,
                       guint p, double weight)
{
    const BbKids *kids = &site->kids[parent];
    guint32 each[BB_SITE_TYPES] = {0};
    guint64 signature = bb_signature_start(p);
    for (guint32 k = 0; k < kids->n; k++) {
        guint c = site->children[kids->at[k]].type;
        each[c]++;
        signature += repertoire->signature[c];
    }
    bb_counts_add(repertoire->counts, p, each, weight);
    guint64 *gave = bb_own_signatures(own, site, parent);
    if (gave)
        gave[own->n - 1] = signature;
    bb_signatures_count(repertoire->signatures, p, signature, weight);
}

void bb_repertoire_fit(BbRepertoire *repertoire, double trust)
{
    bb_counts_fit(repertoire->counts);
    bb_signatures_trust(repertoire->signatures, trust);
}

void bb_repertoire_trust(BbRepertoire *repertoire, double trust)
{
    bb_signatures_trust(repertoire->signatures, trust);
}

void bb_repertoire_expect(BbRepertoire *repertoire, const double *mean, bool poisson)
{
    bb_counts_expect(repertoire->counts, mean, poisson);
    bb_signatures_reset(repertoire->signatures, repertoire->counts->np);
}

double bb_repertoire_log(const BbRepertoire *repertoire, const BbOwn *own, const BbSite *site,
                         guint32 parent, guint p, const BbBrood *brood)
{
    bool usual = repertoire->counts->n[p] >= BB_SLOT_FEW;
    const guint64 *gave = usual ? bb_own_signatures(own, site, parent) : NULL;
    guint n = gave ? own->n : 0, same = 0;
    double weight = gave ? own->weight : 0;
    for (guint i = 0; i < n; i++)
        same += gave[i] == brood->signature;
    return bb_signatures_log(repertoire->signatures, p, brood->signature, brood->apart, n * weight,
                             same * weight);
}
