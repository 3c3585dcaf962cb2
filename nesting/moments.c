// SPDX-License-Identifier: Apache-2.0
// In: a site's children. Out: their calls and returns in order.
#include "nesting/moments.h"

static void number_callees(BbMoments *moments)
{
    const BbSite *site = moments->site;
    g_autoptr(GHashTable) numbers = g_hash_table_new(NULL, NULL);
    for (guint32 x = 0; x < site->n_children; x++) {
        gpointer key = GUINT_TO_POINTER(site->children[x].callee), number;
        if (!g_hash_table_lookup_extended(numbers, key, NULL, &number)) {
            number = GUINT_TO_POINTER(moments->n_callees++);
            g_hash_table_insert(numbers, key, number);
        }
        moments->callee[x] = GPOINTER_TO_UINT(number);
    }
}

BbMoments bb_moments_of(const BbSite *site)
{
    BbMoments moments = {.site = site,
                         .returns = g_new(BbTimed, site->n_children),
                         .callee = g_new(guint32, site->n_children)};
    g_autofree BbTimed *scratch = g_new(BbTimed, site->n_children);
    for (guint32 x = 0; x < site->n_children; x++)
        if (bb_moments_has(&site->children[x]))
            moments.returns[moments.n++] = (BbTimed){site->children[x].e, x};
    bb_timesort(moments.returns, scratch, moments.n);
    number_callees(&moments);
    return moments;
}

void bb_moments_clear(BbMoments *moments)
{
    g_free(moments->returns);
    g_free(moments->callee);
    *moments = (BbMoments){0};
}

void bb_moments_rewind(BbMoments *moments)
{
    moments->x = moments->i = 0;
}

bool bb_moments_next(BbMoments *moments, guint32 *x, bool *calls)
{
    const BbSite *site = moments->site;
    while (moments->x < site->n_children && !bb_moments_has(&site->children[moments->x]))
        moments->x++;
    bool more = moments->x < site->n_children;
    if (!more && moments->i == moments->n)
        return false;
    const BbTimed *back = &moments->returns[moments->i];
    *calls = more && (moments->i == moments->n || site->children[moments->x].s < back->time_ns);
    *x = *calls ? moments->x++ : moments->returns[moments->i++].index;
    return true;
}
