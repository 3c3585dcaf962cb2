// SPDX-License-Identifier: Apache-2.0
// In: path instances and a selection of patterns. Out: JSON Lines, one instance a line.
#include "viz/instances.h"

#include "data/json.h"
#include "data/output.h"
#include "data/percent.h"
#include "viz/ranking.h"
#include "viz/spool.h"
#include "viz/unique_ids.h"

#include <errno.h>

// What is put aside: of each instance a head, then its calls.
typedef struct {
    guint64 number;
    guint32 pattern, count;
} Head;

typedef struct {
    gint64 call_ns, return_ns;
    BbId id; // bb_unique_ids_absent where the trace has none
    guint32 caller, callee;
    guint32 parent; // place in the instance; BB_CALL_NO_PARENT
    float confidence;
} Line;

struct BbInstances {
    const BbNames *names;
    BbSpool *spool;
    guint64 n_absent; // calls without id
    GArray *lines;    // of Line: one instance
};

// The writing at the end.
typedef struct {
    const BbNames *names;
    BbUniqueIds *ids;
    BbJson *json;
    GArray *lines; // of Line: the current instance
    GArray *uses;  // of guint64: of their ids
    GString *text; // scratch
} Writing;

BbInstances *bb_instances_new(const BbNames *names)
{
    BbInstances *instances = g_new(BbInstances, 1);
    *instances = (BbInstances){
        .names = names, .spool = bb_spool_new(), .lines = g_array_new(FALSE, FALSE, sizeof(Line))};
    return instances;
}

void bb_instances_free(BbInstances *instances)
{
    if (!instances)
        return;
    bb_spool_free(instances->spool);
    g_array_unref(instances->lines);
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

// place: of calls, in their instances.
static void fill_lines(GArray *lines, const BbPaths *paths, const BbInstance *instance,
                       const guint64 *absent, guint32 *place)
{
    g_array_set_size(lines, instance->count);
    for (guint32 k = 0; k < instance->count; k++) {
        guint32 index = paths->order[instance->first + k], parent = paths->parent[index];
        const BbCall *call = &paths->calls[index];
        place[index] = k;
        g_array_index(lines, Line, k) =
            (Line){.call_ns = call->call_ns,
                   .return_ns = call->return_ns,
                   .id = has_id(call) ? call->id : bb_unique_ids_absent(absent[index]),
                   .caller = call->caller,
                   .callee = call->callee,
                   .parent = parent == BB_CALL_NO_PARENT ? parent : place[parent],
                   .confidence = paths->confidence[index]};
    }
}

bool bb_instances_add(BbInstances *instances, const BbPaths *paths, GError **error)
{
    g_autofree guint64 *absent = number_absent(instances, paths);
    g_autofree guint32 *place = g_new(guint32, paths->n_calls);
    for (guint32 i = 0; i < paths->n_instances; i++) {
        const BbInstance *instance = &paths->instances[i];
        Head head = {bb_instance_number(paths, instance), instance->pattern, instance->count};
        fill_lines(instances->lines, paths, instance, absent, place);
        if (!bb_spool_push(instances->spool, &head, sizeof head, error) ||
            !bb_spool_push(instances->spool, instances->lines->data, head.count * sizeof(Line),
                           error))
            return false;
    }
    return true;
}

// ---- writing -----------------------------------------------------------------------------------

static void write_id(Writing *writing, const char *key, guint32 place)
{
    g_string_truncate(writing->text, 0);
    bb_unique_ids_append(writing->ids, g_array_index(writing->lines, Line, place).id,
                         g_array_index(writing->uses, guint64, place), writing->text);
    bb_json_key(writing->json, key);
    if (g_utf8_validate(writing->text->str, (gssize)writing->text->len, NULL)) {
        bb_json_string(writing->json, writing->text->str);
        return;
    }
    // As a text trace has it: U+FFFD for every bad byte would make different ids the same.
    g_autoptr(GString) encoded = g_string_new(NULL);
    bb_percent_append(encoded, writing->text->str, "%");
    bb_json_string(writing->json, encoded->str);
}

static void write_call(Writing *writing, guint32 place)
{
    BbJson *json = writing->json;
    const Line *line = &g_array_index(writing->lines, Line, place);
    g_array_index(writing->uses, guint64, place) = bb_unique_ids_use(writing->ids, line->id);
    bb_json_begin_object(json);
    write_id(writing, "id", place);
    bb_json_key(json, "from");
    bb_json_string(json, bb_names_text(writing->names, line->caller));
    bb_json_key(json, "to");
    bb_json_string(json, bb_names_text(writing->names, line->callee));
    bb_json_key(json, "call");
    bb_json_seconds(json, line->call_ns);
    bb_json_key(json, "return");
    if (line->return_ns == BB_TIME_NONE)
        bb_json_null(json);
    else
        bb_json_seconds(json, line->return_ns);
    if (line->parent == BB_CALL_NO_PARENT) {
        bb_json_key(json, "parent");
        bb_json_null(json);
    } else {
        write_id(writing, "parent", line->parent);
    }
    bb_json_key(json, "confidence");
    if (line->confidence < 0)
        bb_json_null(json);
    else
        bb_json_share(json, (double)line->confidence);
    bb_json_end_object(json);
}

// rank 0: the instance has no pattern.
static void write_instance(Writing *writing, const Head *head, guint32 rank)
{
    BbJson *json = writing->json;
    g_array_set_size(writing->uses, head->count);
    bb_json_begin_object(json);
    bb_json_key(json, "pattern");
    if (rank == 0)
        bb_json_null(json);
    else
        bb_json_uint(json, rank);
    bb_json_key(json, "instance");
    bb_json_uint(json, head->number);
    bb_json_key(json, "calls");
    bb_json_begin_array(json);
    for (guint32 k = 0; k < head->count; k++)
        write_call(writing, k);
    bb_json_end_array(json);
    bb_json_end_object(json);
}

static bool write_all(BbInstances *instances, const BbPatterns *patterns, const BbRanking *ranking,
                      Writing *writing, GError **error)
{
    Head head;
    GError *failure = NULL;
    while (bb_spool_next(instances->spool, &head, sizeof head, &failure)) {
        bool patterned = head.pattern < ranking->n_ranks;
        guint32 rank = patterned ? ranking->rank[head.pattern] : 0;
        bool forgotten = patterned && !g_ptr_array_index(patterns->patterns, head.pattern);
        g_array_set_size(writing->lines, head.count);
        if (!bb_spool_next(instances->spool, writing->lines->data, head.count * sizeof(Line),
                           &failure))
            break;
        if (rank > 0 || ((!patterned || forgotten) && !bb_ranking_chooses(ranking)))
            write_instance(writing, &head, rank);
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
    g_autoptr(GString) text = g_string_new(NULL);
    Writing writing = {instances->names, ids, json, instances->lines, uses, text};
    if (!bb_spool_rewind(instances->spool, error))
        return false;
    bool good = write_all(instances, patterns, ranking, &writing, error);
    if (bb_json_finish(json) || !good)
        return good;
    int code = errno;
    g_set_error(error, G_FILE_ERROR, (gint)g_file_error_from_errno(code),
                "cannot write the path instances: %s: %s, or write to another place",
                g_strerror(code), bb_output_remedy(code));
    return false;
}
