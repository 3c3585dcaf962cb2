// SPDX-License-Identifier: Apache-2.0
// In: how long children last, and whether their parents outlast them. Out: how long is too long.
#include "nesting/given_up.h"

#include <math.h>

static bool are_all(const bool *nested, guint32 n)
{
    guint32 x = 0;
    while (x < n && nested[x])
        x++;
    return x == n;
}

double *bb_given_up_least(const BbSite *site, const bool *nested)
{
    guint nc = site->n_child_types;
    if (are_all(nested, site->n_children))
        return NULL;
    g_autofree double *all = g_new0(double, nc), *within = g_new0(double, nc);
    double *least = g_new0(double, nc); // at first the sum of the logs of those within
    for (guint32 x = 0; x < site->n_children; x++) {
        const BbSiteChild *child = &site->children[x];
        if (child->unanswered)
            continue;
        all[child->type]++;
        within[child->type] += nested[x];
        least[child->type] += nested[x] ? log((double)MAX(child->trip, 1)) : 0;
    }
    for (guint c = 0; c < nc; c++) {
        bool known = within[c] > 0 && within[c] >= BB_GIVEN_UP_NESTED * all[c];
        least[c] = known ? BB_GIVEN_UP_TIMES * exp(least[c] / within[c]) : G_MAXDOUBLE;
    }
    return least;
}
