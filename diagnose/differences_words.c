// SPDX-License-Identifier: Apache-2.0
// In: a difference. Out: what differs, in words and in JSON.
#include <math.h>

#include "data/quantity.h"
#include "diagnose/differences.h"
#include "diagnose/route.h"

static const struct {
    const char *text, *word;
} kinds[] = {
    [BB_DIFFERENCE_EXTRA] = {"extra call", "extra_call"},
    [BB_DIFFERENCE_MISSING] = {"missing call", "missing_call"},
    [BB_DIFFERENCE_REPEATED] = {"repeated call", "repeated_call"},
    [BB_DIFFERENCE_FEWER] = {"fewer calls", "fewer_calls"},
    [BB_DIFFERENCE_GAP] = {"work of the caller before", "gap"},
    [BB_DIFFERENCE_POOL] = {"waiting for a pool before", "waited_for_pool"},
    [BB_DIFFERENCE_OWN] = {"own work", "own_work"},
    [BB_DIFFERENCE_TURN] = {"waiting for its turn", "waited_for_turn"},
    [BB_DIFFERENCE_WIRE] = {"on the wire", "wire"},
};

void bb_mean_append(GString *out, double ns)
{
    bb_quantity_append_duration(out, bb_mean_ns(ns));
}

const char *bb_difference_kind_text(BbDifferenceKind kind)
{
    return kinds[kind].text;
}

const char *bb_difference_kind_word(BbDifferenceKind kind)
{
    return kinds[kind].word;
}

// ", mostly own work: auth GET", where the most is elsewhere than in the call itself.
static void append_most(GString *out, const BbNames *names, const BbDifference *cause)
{
    bool same = cause->most_node == cause->node && cause->most_op == cause->op &&
                cause->most_unanswered == cause->unanswered;
    if (cause->kind >= BB_DIFFERENCE_TIMES || cause->excess_ns <= 0 || same ||
        cause->most_ns < 0.5 * cause->excess_ns)
        return;
    g_string_append_printf(out, ", mostly %s: ", bb_difference_kind_text(cause->most_kind));
    bb_route_append_call(out, names, cause->most_node, cause->most_op);
    bb_route_append_unanswered(out, cause->most_unanswered);
}

void bb_difference_append(GString *out, const BbNames *names, const BbDifference *cause)
{
    g_string_append_printf(out, "%s: ", bb_difference_kind_text(cause->kind));
    bb_route_append_callers(out, names, cause->callers, cause->n_callers - 1); // no client
    g_string_append(out, cause->n_callers > 1 ? " -> " : "");
    bb_route_append_call(out, names, cause->node, cause->op);
    bb_route_append_unanswered(out, cause->unanswered);
    append_most(out, names, cause);
}

void bb_difference_append_errors(GString *out, const BbNames *names,
                                 const BbErrorDifference *errors)
{
    g_string_append(out, "  errors of ");
    bb_route_append_callers(out, names, errors->callers, errors->n_callers - 1);
    g_string_append(out, errors->n_callers > 1 ? " -> " : "");
    bb_route_append_call(out, names, errors->node, errors->op);
    g_string_append(out, ": in ");
}

// ---- JSON -------------------------------------------------------------------------------------

static double place(BbPair pair, const BbSideWords *words, guint at)
{
    return (at == 0) == words->other_first ? pair.other : pair.one;
}

static const char *word(const BbSideWords *words, guint at)
{
    return (at == 0) == words->other_first ? words->other : words->one;
}

void bb_pair_write_ns(BbJson *json, const char *key, BbPair ns, const BbSideWords *words)
{
    bb_json_key(json, key);
    bb_json_begin_object(json);
    for (guint at = 0; at < 2; at++)
        bb_json_put_seconds(json, word(words, at), bb_mean_ns(place(ns, words, at)));
    bb_json_end_object(json);
}

void bb_pair_write(BbJson *json, const char *key, BbPair pair, const BbSideWords *words)
{
    bb_json_key(json, key);
    bb_json_begin_object(json);
    for (guint at = 0; at < 2; at++)
        bb_json_put_share(json, word(words, at), place(pair, words, at));
    bb_json_end_object(json);
}

static void write_callers(BbJson *json, const BbNames *names, const guint32 *callers, guint count,
                          const BbSideWords *words)
{
    bb_route_write_callers(json, "callers", names, callers, words->clients ? count : count - 1);
}

void bb_difference_write(BbJson *json, const BbNames *names, const BbDifference *cause,
                         const BbSideWords *words)
{
    bb_json_put_string(json, "what", bb_difference_kind_word(cause->kind));
    bb_route_write_call(json, names, cause->node, cause->op);
    bb_route_write_unanswered(json, cause->unanswered);
    write_callers(json, names, cause->callers, cause->n_callers, words);
}

static void write_most(BbJson *json, const BbNames *names, const BbDifference *cause)
{
    bb_json_key(json, "mostly");
    bb_json_begin_object(json);
    bb_json_put_string(json, "what", bb_difference_kind_word(cause->most_kind));
    bb_route_write_call(json, names, cause->most_node, cause->most_op);
    bb_route_write_unanswered(json, cause->most_unanswered);
    bb_json_put_seconds(json, "excess_s", bb_mean_ns(cause->most_ns));
    bb_json_end_object(json);
}

void bb_difference_write_rest(BbJson *json, const BbNames *names, const BbDifference *cause,
                              const BbSideWords *words)
{
    bb_pair_write_ns(json, "critical_s", cause->ns, words);
    bb_pair_write(json, "present", cause->present, words);
    bb_pair_write(json, "calls", cause->calls, words);
    if (cause->kind < BB_DIFFERENCE_TIMES)
        write_most(json, names, cause);
}

void bb_differences_write_errors(BbJson *json, const BbNames *names,
                                 const BbDifferences *differences, const BbSideWords *words)
{
    bb_json_key(json, "errors");
    bb_json_begin_array(json);
    for (guint i = 0; i < differences->errors->len; i++) {
        const BbErrorDifference *errors = &g_array_index(differences->errors, BbErrorDifference, i);
        bb_json_begin_object(json);
        bb_route_write_call(json, names, errors->node, errors->op);
        write_callers(json, names, errors->callers, errors->n_callers, words);
        bb_pair_write(json, "present", errors->present, words);
        bb_json_end_object(json);
    }
    bb_json_end_array(json);
}
