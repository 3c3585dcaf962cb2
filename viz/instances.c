// SPDX-License-Identifier: Apache-2.0
// In: path instances and a selection of patterns. Out: JSON Lines, one instance a line.
#include "data/json.h"
#include "data/percent.h"
#include "viz/call_ids.h"
#include "viz/ranking.h"
#include "viz/view.h"

#include <errno.h>

typedef struct Lines {
    const BbPaths *paths;
    const BbNames *names;
    BbCallIds *ids;
    BbJson *json;
    GString *text; // scratch
} Lines;

static void write_id(Lines *lines, const char *key, guint32 call)
{
    g_string_truncate(lines->text, 0);
    bb_call_ids_append(lines->ids, call, lines->text);
    bb_json_key(lines->json, key);
    if (g_utf8_validate(lines->text->str, (gssize)lines->text->len, NULL)) {
        bb_json_string(lines->json, lines->text->str);
        return;
    }
    // As a text trace has it: U+FFFD for every bad byte would make different ids the same.
    g_autoptr(GString) encoded = g_string_new(NULL);
    bb_percent_append(encoded, lines->text->str, "%");
    bb_json_string(lines->json, encoded->str);
}

static void write_call(Lines *lines, guint32 index)
{
    BbJson *json = lines->json;
    const BbCall *call = &lines->paths->calls[index];
    guint32 parent = lines->paths->parent[index];
    float confidence = lines->paths->confidence[index];
    bb_call_ids_assign(lines->ids, index);
    bb_json_begin_object(json);
    write_id(lines, "id", index);
    bb_json_key(json, "from");
    bb_json_string(json, bb_names_text(lines->names, call->caller));
    bb_json_key(json, "to");
    bb_json_string(json, bb_names_text(lines->names, call->callee));
    bb_json_key(json, "call");
    bb_json_seconds(json, call->call_ns);
    bb_json_key(json, "return");
    if (call->return_ns == BB_TIME_NONE)
        bb_json_null(json);
    else
        bb_json_seconds(json, call->return_ns);
    if (parent == BB_CALL_NO_PARENT) {
        bb_json_key(json, "parent");
        bb_json_null(json);
    } else {
        write_id(lines, "parent", parent);
    }
    bb_json_key(json, "confidence");
    if (confidence < 0)
        bb_json_null(json);
    else
        bb_json_share(json, (double)confidence);
    bb_json_end_object(json);
}

// rank 0: the instance has no pattern.
static void write_instance(Lines *lines, const BbInstance *instance, guint32 rank)
{
    BbJson *json = lines->json;
    bb_json_begin_object(json);
    bb_json_key(json, "pattern");
    if (rank == 0)
        bb_json_null(json);
    else
        bb_json_uint(json, rank);
    bb_json_key(json, "calls");
    bb_json_begin_array(json);
    for (guint32 i = 0; i < instance->count; i++)
        write_call(lines, lines->paths->order[instance->first + i]);
    bb_json_end_array(json);
    bb_json_end_object(json);
}

bool bb_instances_write(const BbPaths *paths, const BbNames *names, const BbViewOptions *options,
                        FILE *out, GError **error)
{
    g_autoptr(BbRanking) ranking = bb_ranking_new(paths, names, options, BB_TOP_ALL);
    g_autoptr(BbCallIds) ids = bb_call_ids_new(paths, names);
    g_autoptr(BbJson) json = bb_json_new(out);
    g_autoptr(GString) text = g_string_new(NULL);
    Lines lines = {paths, names, ids, json, text};
    for (guint32 i = 0; i < paths->n_instances; i++) {
        const BbInstance *instance = &paths->instances[i];
        bool patterned = instance->pattern < ranking->n_patterns;
        guint32 rank = patterned ? ranking->rank[instance->pattern] : 0;
        if (rank > 0 || (!patterned && !bb_ranking_chooses(ranking)))
            write_instance(&lines, instance, rank);
    }
    if (bb_json_finish(json))
        return true;
    int code = errno;
    g_set_error(error, G_FILE_ERROR, g_file_error_from_errno(code),
                "cannot write the path instances: %s", g_strerror(code));
    return false;
}
