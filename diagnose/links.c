// SPDX-License-Identifier: Apache-2.0
// In: windows of calls with inferred parents, and the truth. Out: both parents of each call.
#include "diagnose/links.h"

#include <stdlib.h>

#include "data/keys.h"
#include "diagnose/forest.h"

#define NO_REQUEST G_MAXUINT32

BbLinks *bb_links_new(void)
{
    BbLinks *links = g_new0(BbLinks, 1);
    links->links = g_array_new(FALSE, FALSE, sizeof(BbLink));
    links->unanswered = g_array_new(FALSE, FALSE, sizeof(BbLink));
    links->paths = g_hash_table_new_full(bb_id_key_hash, bb_id_key_equal, g_free, NULL);
    return links;
}

void bb_links_free(BbLinks *links)
{
    if (!links)
        return;
    g_array_unref(links->links);
    g_array_unref(links->unanswered);
    g_hash_table_unref(links->paths);
    g_free(links);
}

static BbLink *link_at(BbLinks *links, guint32 index)
{
    return &g_array_index(links->links, BbLink, index);
}

// ---- collecting ---------------------------------------------------------------------------------

static guint32 request_of(BbLinks *links, BbId path)
{
    if (!bb_id_is_known(path))
        return NO_REQUEST;
    guint number = GPOINTER_TO_UINT(g_hash_table_lookup(links->paths, &path));
    if (number == 0) {
        number = ++links->n_requests;
        g_hash_table_insert(links->paths, g_memdup2(&path, sizeof path), GUINT_TO_POINTER(number));
    }
    return number - 1;
}

static BbLink make_link(BbLinks *links, const BbPaths *paths, guint32 call, BbTruthFact fact)
{
    BbLink link = {
        .call = paths->calls[call],
        .parent_id = fact.parent,
        .request = request_of(links, fact.path),
        .found = BB_CALL_NO_PARENT,
        .real = BB_CALL_NO_PARENT,
        .confidence = paths->confidence[call],
        .whole = paths->whole ? paths->whole[call] : 1,
        .truth = BB_LINK_LOST,
    };
    // What it caused cannot be told.
    if (!bb_id_is_known(fact.parent) || !bb_id_is_known(link.call.id))
        link.truth = BB_LINK_UNTOLD;
    else if (fact.parent.form == BB_ID_DASH)
        link.truth = BB_LINK_ROOT;
    return link;
}

static void find_found(BbLinks *links, BbLink *link, const BbPaths *paths, guint32 call,
                       const guint32 *place)
{
    guint32 parent = paths->parent[call];
    if (parent == BB_CALL_NO_PARENT)
        return;
    link->found = place[parent];
    if (bb_call_is_returned(&paths->calls[parent]) || link->truth == BB_LINK_UNTOLD)
        return;
    links->beneath++;
    links->beneath_right += bb_id_equal(paths->calls[parent].id, link->parent_id);
}

void bb_links_add(BbLinks *links, const BbPaths *paths, BbTruth *truth)
{
    g_autofree guint32 *place = g_new(guint32, paths->n_calls); // among the links
    g_autoptr(GArray) opens = g_array_new(FALSE, FALSE, sizeof(guint32));
    guint32 n_before = links->unanswered->len;
    for (guint32 i = 0; i < paths->n_calls; i++) {
        BbTruthFact fact = {{0}, {0}};
        (void)bb_truth_take(truth, &paths->calls[i], &fact);
        BbLink link = make_link(links, paths, i, fact);
        place[i] = BB_CALL_NO_PARENT;
        if (bb_call_is_returned(&paths->calls[i])) {
            place[i] = links->links->len;
            g_array_append_val(links->links, link);
            continue;
        }
        links->unreturned++;
        if (link.truth == BB_LINK_UNTOLD)
            continue;
        g_array_append_val(links->unanswered, link);
        g_array_append_val(opens, i);
    }
    for (guint32 i = 0; i < paths->n_calls; i++)
        if (place[i] != BB_CALL_NO_PARENT)
            find_found(links, link_at(links, place[i]), paths, i, place);
    for (guint32 u = 0; u < opens->len; u++)
        find_found(links, &g_array_index(links->unanswered, BbLink, n_before + u), paths,
                   g_array_index(opens, guint32, u), place);
}

// ---- true parents -------------------------------------------------------------------------------

// What calls are looked up by: the latest that is not after time_ns.
typedef struct {
    BbId id;
    guint32 callee, request;
    gint64 time_ns;
} Entrance;

static Entrance entrance_of(const BbLink *link)
{
    return (Entrance){link->call.id, link->call.callee, link->request, link->call.arrived_ns};
}

static int compare_keys(const Entrance *a, const Entrance *b)
{
    if (a->callee != b->callee)
        return a->callee < b->callee ? -1 : 1;
    if (a->request != b->request)
        return a->request < b->request ? -1 : 1;
    if (a->id.form != b->id.form)
        return a->id.form < b->id.form ? -1 : 1;
    return (a->id.number > b->id.number) - (a->id.number < b->id.number);
}

static int compare(const Entrance *a, const Entrance *b)
{
    int order = compare_keys(a, b);
    return order ? order : (a->time_ns > b->time_ns) - (a->time_ns < b->time_ns);
}

static int compare_links(gconstpointer a, gconstpointer b, gpointer user)
{
    guint32 i = *(const guint32 *)a, j = *(const guint32 *)b;
    Entrance x = entrance_of(link_at(user, i)), y = entrance_of(link_at(user, j));
    int order = compare(&x, &y);
    return order ? order : (i > j) - (i < j);
}

// The place of the first that comes after wanted.
static guint32 find_after(BbLinks *links, const guint32 *sorted, const Entrance *wanted)
{
    guint32 low = 0, high = links->links->len;
    while (low < high) {
        guint32 middle = low + (high - low) / 2;
        Entrance entrance = entrance_of(link_at(links, sorted[middle]));
        if (compare(&entrance, wanted) <= 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static bool is_at(BbLinks *links, const guint32 *sorted, guint32 place, const Entrance *wanted)
{
    if (place >= links->links->len)
        return false;
    Entrance entrance = entrance_of(link_at(links, sorted[place]));
    return compare_keys(&entrance, wanted) == 0;
}

static guint32 find_parent(BbLinks *links, const guint32 *sorted, const BbLink *child)
{
    const guint32 requests[] = {child->request, NO_REQUEST};
    for (gsize i = 0; i < G_N_ELEMENTS(requests); i++) {
        Entrance wanted = {child->parent_id, child->call.caller, requests[i], child->call.call_ns};
        guint32 after = find_after(links, sorted, &wanted);
        if (after > 0 && is_at(links, sorted, after - 1, &wanted))
            return sorted[after - 1];
        if (is_at(links, sorted, after, &wanted))
            return sorted[after];
    }
    return BB_CALL_NO_PARENT;
}

static void settle_parent(BbLinks *links, const guint32 *sorted, BbLink *link)
{
    if (link->truth != BB_LINK_LOST)
        return;
    link->real = find_parent(links, sorted, link);
    if (link->real != BB_CALL_NO_PARENT)
        link->truth = BB_LINK_CHILD;
}

static void find_parents(BbLinks *links)
{
    guint32 n = links->links->len;
    g_autofree guint32 *sorted = g_new(guint32, n);
    for (guint32 i = 0; i < n; i++)
        sorted[i] = i;
    if (n > 1)
        g_qsort_with_data(sorted, (gint)n, sizeof *sorted, compare_links, links);
    for (guint32 i = 0; i < n; i++)
        settle_parent(links, sorted, link_at(links, i));
    for (guint32 i = 0; i < links->unanswered->len; i++)
        settle_parent(links, sorted, &g_array_index(links->unanswered, BbLink, i));
}

// Truth that goes round in circles is none. Calls without a path are of their parent's.
static void follow_parents(BbLinks *links)
{
    guint32 n = links->links->len;
    g_autofree guint32 *parent = g_new(guint32, n), *order = g_new(guint32, n);
    for (guint32 i = 0; i < n; i++)
        parent[i] = link_at(links, i)->real;
    guint32 reached = bb_forest_order(parent, n, order);
    for (guint32 k = reached; k < n; k++) {
        BbLink *link = link_at(links, order[k]);
        link->truth = BB_LINK_UNTOLD;
        link->real = BB_CALL_NO_PARENT;
        links->circular++;
    }
    for (guint32 k = n; k > 0; k--) {
        BbLink *link = link_at(links, order[k - 1]);
        if (link->request == NO_REQUEST && link->real != BB_CALL_NO_PARENT)
            link->request = link_at(links, link->real)->request;
        if (link->request == NO_REQUEST)
            link->request = links->n_requests++;
    }
}

void bb_links_settle(BbLinks *links)
{
    find_parents(links);
    follow_parents(links);
    for (guint32 i = 0; i < links->links->len; i++) {
        BbLink *link = link_at(links, i);
        links->untold += link->truth == BB_LINK_UNTOLD;
        link->right = link->truth != BB_LINK_UNTOLD && link->found == link->real;
    }
    for (guint32 i = 0; i < links->unanswered->len; i++) {
        BbLink *link = &g_array_index(links->unanswered, BbLink, i);
        link->right = link->found == link->real;
    }
}
