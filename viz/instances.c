// SPDX-License-Identifier: Apache-2.0
// In: path instances and a selection of patterns. Out: those chosen, in one of several forms.
#include "viz/instances.h"

#include "data/json.h"
#include "data/output.h"
#include "viz/ranking.h"
#include "viz/spool.h"
#include "viz/unique_ids.h"

#include <errno.h>

// What is put aside: of each instance a head, then its calls.
typedef struct {
    guint64 number;
    guint32 pattern, count;
} Head;

struct BbInstances {
    const BbInstanceForm *form;
    const BbNames *names;
    bool last_byte;
    bool messages; // calls are messages
    BbSpool *spool;
    guint64 n_absent; // calls without id
    GArray *calls;    // of BbInstanceCall: one instance
};

BbInstances *bb_instances_new(const BbInstanceForm *form, const BbNames *names, bool last_byte)
{
    BbInstances *instances = g_new(BbInstances, 1);
    *instances = (BbInstances){
        .form = form,
        .names = names,
        .last_byte = last_byte,
        .spool = bb_spool_new(),
        .calls = g_array_new(FALSE, TRUE, sizeof(BbInstanceCall)),
    };
    return instances;
}

void bb_instances_free(BbInstances *instances)
{
    if (!instances)
        return;
    bb_spool_free(instances->spool);
    g_array_unref(instances->calls);
    g_free(instances);
}

// ---- putting aside -----------------------------------------------------------------------------

static bool has_id(const BbCall *call)
{
    return call->id.form != BB_ID_ABSENT && call->id.form != BB_ID_DASH;
}

// Numbers of the calls without id, in order of time; 0 for others. NULL if all have one.
static guint64 *number_absent(BbInstances *instances, const BbPaths *paths)
{
    guint64 *number = NULL;
    for (guint32 i = 0; i < paths->n_calls; i++) {
        if (has_id(&paths->calls[i]))
            continue;
        if (!number)
            number = g_new0(guint64, paths->n_calls);
        number[i] = ++instances->n_absent;
    }
    return number;
}

// A call without return was done with when its caller went on, if that is known.
static gint64 end_of(const BbInstances *instances, const BbCall *call)
{
    gint64 end_ns = bb_call_end(call, instances->last_byte);
    return end_ns == BB_TIME_NONE ? call->arrived_ns : MAX(end_ns, call->arrived_ns);
}

static BbInstanceCall describe(const BbInstances *instances, const BbCall *call)
{
    return (BbInstanceCall){
        .call_ns = call->call_ns,
        .return_ns = call->return_ns,
        .back_ns = instances->messages ? call->call_ns : bb_call_back(call, instances->last_byte),
        .arrived_ns = call->arrived_ns,
        .left_ns = instances->messages ? call->arrived_ns : end_of(instances, call),
        .caller = call->caller,
        .callee = call->callee,
        .op = call->op,
        .status = instances->messages || bb_call_is_returned(call) ? call->status : BB_NAME_NONE,
        .proto = call->proto,
    };
}

// place: of calls, in their instances.
static void fill_calls(BbInstances *instances, const BbPaths *paths, const BbInstance *instance,
                       const guint64 *absent, guint32 *place)
{
    g_array_set_size(instances->calls, instance->count);
    BbInstanceCall *calls = (BbInstanceCall *)(gpointer)instances->calls->data;
    for (guint32 k = 0; k < instance->count; k++) {
        guint32 index = paths->order[instance->first + k], parent = paths->parent[index];
        const BbCall *call = &paths->calls[index];
        place[index] = k;
        calls[k] = describe(instances, call);
        calls[k].id = has_id(call) ? call->id : bb_unique_ids_absent(absent[index]);
        calls[k].parent = parent == BB_CALL_NO_PARENT ? parent : place[parent];
        calls[k].confidence = paths->confidence[index];
        calls[k].turn_ns = bb_paths_turn_ns(paths, index);
        calls[k].pool_ns = bb_paths_pool_ns(paths, index);
        if (instances->messages && parent != BB_CALL_NO_PARENT) {
            BbInstanceCall *cause = &calls[calls[k].parent];
            cause->left_ns = MAX(cause->left_ns, call->call_ns);
        }
    }
}

static bool push_calls(const BbInstances *instances, GError **error)
{
    for (guint k = 0; k < instances->calls->len; k++)
        if (!bb_spool_push(instances->spool, &g_array_index(instances->calls, BbInstanceCall, k),
                           instances->form->kept, error))
            return false;
    return true;
}

bool bb_instances_add(BbInstances *instances, const BbPaths *paths, GError **error)
{
    instances->messages |= paths->mode != NULL; // an empty window may have none
    g_autofree guint64 *absent = number_absent(instances, paths);
    g_autofree guint32 *place = g_new(guint32, paths->n_calls);
    for (guint32 i = 0; i < paths->n_instances; i++) {
        const BbInstance *instance = &paths->instances[i];
        Head head = {bb_instance_number(paths, instance), instance->pattern, instance->count};
        fill_calls(instances, paths, instance, absent, place);
        if (!bb_spool_push(instances->spool, &head, sizeof head, error) ||
            !push_calls(instances, error))
            return false;
    }
    return true;
}

// ---- writing -----------------------------------------------------------------------------------

typedef struct {
    const BbPatterns *patterns;
    const BbRanking *ranking;
    BbUniqueIds *ids;
    GArray *uses;   // of guint64: of the ids of an instance
    gpointer state; // of the form
} Writing;

static void write_instance(const BbInstances *instances, const Writing *writing, const Head *head,
                           guint32 rank)
{
    const BbInstanceCall *calls = (const BbInstanceCall *)(gconstpointer)instances->calls->data;
    g_array_set_size(writing->uses, head->count);
    for (guint32 k = 0; k < head->count; k++)
        g_array_index(writing->uses, guint64, k) = bb_unique_ids_use(writing->ids, calls[k].id);
    BbInstanceView view = {.names = instances->names,
                           .number = head->number,
                           .rank = rank,
                           .messages = instances->messages,
                           .calls = calls,
                           .count = head->count,
                           .ids = writing->ids,
                           .uses = (const guint64 *)(gconstpointer)writing->uses->data};
    instances->form->write(writing->state, &view);
}

// What the form does not look at stays zero.
static bool next_calls(const BbInstances *instances, guint32 count, GError **error)
{
    g_array_set_size(instances->calls, 0);
    g_array_set_size(instances->calls, count);
    for (guint k = 0; k < count; k++)
        if (!bb_spool_next(instances->spool, &g_array_index(instances->calls, BbInstanceCall, k),
                           instances->form->kept, error))
            return false;
    return true;
}

static bool write_all(BbInstances *instances, const Writing *writing, GError **error)
{
    Head head;
    GError *failure = NULL;
    const BbRanking *ranking = writing->ranking;
    while (bb_spool_next(instances->spool, &head, sizeof head, &failure)) {
        bool patterned = head.pattern < ranking->n_ranks;
        guint32 rank = patterned ? ranking->rank[head.pattern] : 0;
        bool forgotten = patterned && !g_ptr_array_index(writing->patterns->patterns, head.pattern);
        if (!next_calls(instances, head.count, &failure))
            break;
        if (rank > 0 || ((!patterned || forgotten) && !bb_ranking_chooses(ranking)))
            write_instance(instances, writing, &head, rank);
    }
    if (failure)
        g_propagate_error(error, failure);
    return !failure;
}

bool bb_instances_write(BbInstances *instances, const BbPatterns *patterns,
                        const BbViewOptions *options, FILE *out, GError **error)
{
    g_autoptr(BbRanking) ranking = bb_ranking_new(patterns, instances->names, options, BB_TOP_ALL);
    g_autoptr(BbUniqueIds) ids = bb_unique_ids_new(instances->names, instances->n_absent);
    g_autoptr(BbJson) json = bb_json_new(out);
    g_autoptr(GArray) uses = g_array_new(FALSE, FALSE, sizeof(guint64));
    Writing writing = {patterns, ranking, ids, uses, NULL};
    if (!bb_spool_rewind(instances->spool, error))
        return false;
    writing.state = instances->form->begin(json, patterns->facts.start_ns);
    bool good = write_all(instances, &writing, error);
    instances->form->end(writing.state);
    if (bb_json_finish(json) || !good)
        return good;
    int code = errno;
    g_set_error(error, G_FILE_ERROR, (gint)g_file_error_from_errno(code),
                "cannot write the path instances: %s: %s, or write to another place",
                g_strerror(code), bb_output_remedy(code));
    return false;
}
