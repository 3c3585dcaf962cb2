// SPDX-License-Identifier: Apache-2.0
// In: a path instance. Out: what it does in each of its contexts.
#include "diagnose/requests.h"

#include "data/critical_path.h"
#include "data/failures.h"

// The latest instance that had a context, 0 for none, and where among its entries.
typedef struct {
    guint64 instance;
    guint32 entry;
} Place;

struct BbRequests {
    BbRequestsOptions options;
    BbContexts *contexts;
    BbCriticalPath *path;
    BbFailures failures;
    GArray *places;  // of Place, by context
    GArray *entries; // of BbRequestEntry: of the instance at hand
};

BbRequests *bb_requests_new(const BbRequestsOptions *options, BbContexts *contexts,
                            const BbNames *names)
{
    BbRequests *requests = g_new0(BbRequests, 1);
    requests->options = *options;
    requests->contexts = contexts;
    requests->path = bb_critical_path_new(options->last_byte);
    requests->places = g_array_new(FALSE, TRUE, sizeof(Place));
    requests->entries = g_array_new(FALSE, FALSE, sizeof(BbRequestEntry));
    bb_failures_init(&requests->failures, names);
    return requests;
}

void bb_requests_free(BbRequests *requests)
{
    if (!requests)
        return;
    bb_critical_path_free(requests->path);
    g_array_unref(requests->places);
    g_array_unref(requests->entries);
    bb_failures_clear(&requests->failures);
    g_free(requests);
}

static BbRequestSums *entry_of(BbRequests *requests, guint32 context, guint64 number)
{
    if (context >= requests->places->len)
        g_array_set_size(requests->places, context + 1);
    Place *place = &g_array_index(requests->places, Place, context);
    if (place->instance != number) {
        BbRequestEntry entry = {.context = context, .sums.present = 1};
        *place = (Place){number, requests->entries->len};
        g_array_append_val(requests->entries, entry);
    }
    return &g_array_index(requests->entries, BbRequestEntry, place->entry).sums;
}

static guint32 op_of(const BbRequests *requests, const BbCall *call)
{
    return requests->options.labels ? call->op : BB_NAME_NONE;
}

// What the callee did before its calls is theirs, but for waiting for its turn: it is to be taken
// from its own.
static void add_charge(BbRequestSums *sums, const BbCritical *charge)
{
    sums->ns[BB_REQUEST_GAP] += charge->gap_ns - charge->begun_ns - charge->pool_ns;
    sums->ns[BB_REQUEST_POOL] += charge->pool_ns;
    sums->ns[BB_REQUEST_OWN] += charge->self_ns - charge->turn_ns;
    sums->ns[BB_REQUEST_TURN] += charge->turn_ns;
    sums->ns[BB_REQUEST_WIRE] += charge->wire_ns;
}

gint64 bb_requests_sum(BbRequests *requests, const BbPaths *paths, const BbInstance *instance,
                       const BbRequestEntry **entries, guint *count)
{
    const guint32 *order = paths->order + instance->first;
    const BbCritical *charges = bb_critical_path_find(requests->path, paths, instance);
    guint64 number = bb_instance_number(paths, instance);
    guint32 above[BB_PATHS_DEPTH_MAX + 1]; // the latest context of each level
    gint64 latency_ns = 0;
    g_array_set_size(requests->entries, 0);
    guint32 node = bb_paths_node(paths, paths->calls[order[0]].caller);
    if (requests->options.any_client)
        node = BB_NAME_NONE;
    BbContext client = {BB_CONTEXT_NONE, node, BB_NAME_NONE, false};
    above[0] = bb_contexts_intern(requests->contexts, client);
    for (guint32 k = 0; k < instance->count; k++) {
        const BbCall *call = &paths->calls[order[k]];
        guint level = paths->level[order[k]];
        BbContext context = {above[level - 1], bb_paths_node(paths, call->callee),
                             op_of(requests, call), !bb_call_is_returned(call)};
        above[level] = bb_contexts_intern(requests->contexts, context);
        BbRequestSums *sums = entry_of(requests, above[level], number);
        sums->calls++;
        sums->errors |= bb_failures_has(&requests->failures, call);
        add_charge(sums, &charges[k]);
        if (k > 0)
            entry_of(requests, above[level - 1], number)->ns[BB_REQUEST_OWN] -=
                charges[k].gap_ns - charges[k].begun_ns;
        latency_ns += charges[k].self_ns + charges[k].wire_ns;
    }
    *entries = (const BbRequestEntry *)(const void *)requests->entries->data;
    *count = requests->entries->len;
    return latency_ns;
}

void bb_requests_renumbered(BbRequests *requests)
{
    g_array_set_size(requests->places, 0);
}

void bb_request_sums_add(BbRequestSums *sums, const BbRequestSums *part)
{
    sums->present += part->present;
    sums->calls += part->calls;
    sums->errors += part->errors;
    for (guint i = 0; i < BB_REQUEST_TIMES; i++)
        sums->ns[i] = bb_time_after(sums->ns[i], part->ns[i]);
}
