// SPDX-License-Identifier: Apache-2.0
// In: calls with their connections. Out: which incoming connection was never idle when a call went
// out on another one.
#include "nesting/owners.h"

#define SAMPLED_MOST 96u        // calls of a connection that are looked at
#define SAMPLED_ALL 200000u     // of all connections
#define SAMPLED_LEAST 6u        // fewer show nothing
#define SCANNED_MOST 1024u      // parents before a call
#define LOOKED_AT_MOST 20000000 // of these, of all calls
#define ASKED_MOST 500u         // calls, for how many are open
#define MISSES_MOST 0.05        // of the calls, that the owner may have no request open for
#define STANDS_OUT 3u           // more misses of any other one, and for each of the owner's
#define STANDS_OUT_EACH 4u
#define SHARE_LEAST 0.5 // of the children

// How many of the sampled calls an incoming connection had a request open for.
typedef struct {
    BbSiteEnd end;
    guint32 open, last; // last: 1 + number of the call that counted last
} Seen;

// Parents that arrived before a time, or at it.
static guint32 arrived_by(const BbSite *site, gint64 time)
{
    guint32 low = 0, high = site->n_parents;
    while (low < high) {
        guint32 middle = low + (high - low) / 2;
        if (site->parents[middle].s <= time)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

// The parents that were open around a call, of the last SCANNED_MOST that arrived before it.
// Returns how many.
static guint32 find_open(const BbSite *site, guint32 x, guint32 *open)
{
    const BbSiteChild *child = &site->children[x];
    guint32 next = arrived_by(site, child->s), n = 0;
    for (guint32 i = next; i > 0 && next - i < SCANNED_MOST; i--)
        if (site->parents[i - 1].e >= child->e)
            open[n++] = i - 1;
    return n;
}

// How many requests a call finds open, on the mean.
static double requests_open(const BbSite *site)
{
    guint32 open[SCANNED_MOST], step = 1 + site->n_children / ASKED_MOST, n = 0;
    guint64 sum = 0;
    for (guint32 x = 0; x < site->n_children; x += step, n++)
        sum += find_open(site, x, open);
    return (double)sum / MAX(n, 1);
}

// Counts the connections that had a request open around a call. Returns at how many it looked.
static guint32 count_open(const BbSite *site, guint32 x, guint32 number, GHashTable *seen,
                          GArray *all)
{
    guint32 open[SCANNED_MOST], n = find_open(site, x, open);
    for (guint32 i = 0; i < n; i++) {
        const BbSiteParent *parent = &site->parents[open[i]];
        gpointer key = GUINT_TO_POINTER(parent->conn);
        guint place = GPOINTER_TO_UINT(g_hash_table_lookup(seen, key));
        if (parent->conn == 0)
            continue;
        if (place == 0) {
            g_array_append_val(all, ((Seen){{parent->conn, parent->caller}, 0, 0}));
            place = all->len;
            g_hash_table_insert(seen, key, GUINT_TO_POINTER(place));
        }
        Seen *at = &g_array_index(all, Seen, place - 1);
        at->open += at->last != number + 1;
        at->last = number + 1;
    }
    return n;
}

// The one of those seen that stands out, of n calls.
static BbSiteEnd find_best(const GArray *all, guint32 n)
{
    guint32 best = 0, second = 0;
    BbSiteEnd owner = {0, 0};
    for (guint i = 0; i < all->len; i++) {
        const Seen *seen = &g_array_index(all, Seen, i);
        second = MAX(second, MIN(seen->open, best));
        owner = seen->open > best ? seen->end : owner;
        best = MAX(best, seen->open);
    }
    guint32 misses = n - best;
    bool stands_out =
        misses <= MISSES_MOST * n && n - second >= STANDS_OUT + STANDS_OUT_EACH * misses;
    return stands_out ? owner : (BbSiteEnd){0, 0};
}

// The owner of the connection of list[0 .. n). budget: requests that may yet be looked at.
static BbSiteEnd owner_of(const BbSite *site, const guint32 *list, guint32 n, guint32 most,
                          gint64 *budget)
{
    guint32 sampled = MIN(n, most);
    if (sampled < SAMPLED_LEAST || *budget < 0)
        return (BbSiteEnd){0, 0};
    g_autoptr(GHashTable) seen = g_hash_table_new(NULL, NULL); // connection -> 1 + place in all
    g_autoptr(GArray) all = g_array_new(FALSE, FALSE, sizeof(Seen));
    for (guint32 k = 0; k < sampled; k++)
        *budget -= count_open(site, list[(guint64)k * n / sampled], k, seen, all);
    return find_best(all, sampled);
}

// Where in the order of bb_site_by_conn the children on the i-th one's connection end.
static guint32 end_of_conn(const BbSite *site, const guint32 *order, guint32 n, guint32 i)
{
    guint32 conn = site->children[order[i]].conn;
    while (i < n && site->children[order[i]].conn == conn)
        i++;
    return i;
}

BbSiteEnd *bb_owners_find(const BbSite *site)
{
    if (requests_open(site) <= BB_SITE_CROWDED)
        return NULL;
    guint32 n, conns = 0, owned = 0;
    gint64 budget = LOOKED_AT_MOST;
    g_autofree guint32 *order = bb_site_by_conn(site, &n);
    g_autofree BbSiteEnd *owner = g_new0(BbSiteEnd, site->n_children);
    for (guint32 i = 0; i < n; i = end_of_conn(site, order, n, i))
        conns++;
    guint32 most = MIN(SAMPLED_MOST, SAMPLED_ALL / MAX(conns, 1));
    for (guint32 i = 0, end; i < n; i = end) {
        end = end_of_conn(site, order, n, i);
        BbSiteEnd found = owner_of(site, order + i, end - i, most, &budget);
        for (guint32 k = i; k < end; k++)
            owner[order[k]] = found;
        owned += found.conn != 0 ? end - i : 0;
    }
    return owned >= SHARE_LEAST * site->n_children ? g_steal_pointer(&owner) : NULL;
}
