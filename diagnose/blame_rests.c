// SPDX-License-Identifier: Apache-2.0
// In: for how long last bytes were waited for. Out: sums by caller and callee.
#include "diagnose/blame_rests.h"

#include "data/tally.h"

struct BbBlameRests {
    const BbNames *names;
    BbTally index; // (caller, callee) -> edge + 1
    GArray *edges; // of BbBlameRest
};

BbBlameRests *bb_blame_rests_new(const BbNames *names)
{
    BbBlameRests *rests = g_new(BbBlameRests, 1);
    rests->names = names;
    rests->edges = g_array_new(FALSE, FALSE, sizeof(BbBlameRest));
    bb_tally_init(&rests->index);
    return rests;
}

void bb_blame_rests_free(BbBlameRests *rests)
{
    if (!rests)
        return;
    g_array_unref(rests->edges);
    bb_tally_clear(&rests->index);
    g_free(rests);
}

void bb_blame_rests_add(BbBlameRests *rests, guint32 caller, guint32 callee, gint64 rest_ns)
{
    if (rest_ns <= 0)
        return;
    guint64 *number = bb_tally_at(&rests->index, (BbTallyKey){caller, callee, 0});
    if (*number == 0) {
        BbBlameRest edge = {caller, callee, 0, 0};
        g_array_append_val(rests->edges, edge);
        *number = rests->edges->len;
    }
    BbBlameRest *edge = &g_array_index(rests->edges, BbBlameRest, *number - 1);
    edge->calls++;
    edge->rest_ns = bb_time_after(edge->rest_ns, rest_ns);
}

static gint by_time(gconstpointer a, gconstpointer b, gpointer names)
{
    const BbBlameRest *x = a, *y = b;
    if (x->rest_ns != y->rest_ns)
        return x->rest_ns > y->rest_ns ? -1 : 1;
    gint order = bb_names_compare(names, x->caller, y->caller);
    return order ? order : bb_names_compare(names, x->callee, y->callee);
}

GArray *bb_blame_rests_find(const BbBlameRests *rests, double least_ns)
{
    GArray *found = g_array_new(FALSE, FALSE, sizeof(BbBlameRest));
    for (guint i = 0; i < rests->edges->len; i++) {
        BbBlameRest edge = g_array_index(rests->edges, BbBlameRest, i);
        if ((double)edge.rest_ns >= least_ns)
            g_array_append_val(found, edge);
    }
    g_array_sort_with_data(found, by_time, (gpointer)rests->names);
    return found;
}
