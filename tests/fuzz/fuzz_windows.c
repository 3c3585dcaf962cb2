// SPDX-License-Identifier: Apache-2.0
// Messages at any times through windows of any kind: every call is published once, in well-formed
// instances, and the census counts them all. An input: how to infer (5 bytes), then 6 bytes a
// message.
#include "data/census.h"
#include "nesting/windows.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const guint8 *data, gsize size);

enum { HEAD = 5, MESSAGE = 6, NODES = 5 };

typedef struct {
    BbWindows *windows;
    BbCensus *census;
    guint64 calls, instances;
} Run;

static void check_paths(const BbPaths *paths)
{
    guint64 listed = 0;
    for (guint32 i = 0; i < paths->n_instances; i++) {
        const BbInstance *instance = &paths->instances[i];
        g_assert(instance->first == listed && instance->count > 0);
        listed += instance->count;
        for (guint32 k = 0; k < instance->count; k++) {
            guint32 call = paths->order[instance->first + k], parent = paths->parent[call];
            g_assert(call < paths->n_calls && (k == 0) == (parent == BB_CALL_NO_PARENT));
            g_assert(paths->level[call] == (k == 0 ? 1 : paths->level[parent] + 1));
            g_assert(paths->confidence[call] <= 1);
        }
    }
    g_assert(listed == paths->n_calls);
}

static void take(Run *run)
{
    g_autoptr(BbPaths) paths = bb_windows_next(run->windows);
    if (!paths)
        return;
    check_paths(paths);
    g_assert(paths->instances_before == run->instances);
    run->calls += paths->n_calls;
    run->instances += paths->n_instances;
    bb_census_add(run->census, paths);
}

// kind and sides; sender and receiver; id; op; the time's step as mantissa and exponent, signed.
static BbMessage read_message(const guint8 *at, gint64 *time_ns)
{
    BbMessage message = bb_message_empty();
    gint64 step_ns = (gint64)((guint64)(at[4] & 0x7f) << at[5] % 57);
    gint64 next_ns;
    if (!__builtin_add_overflow(*time_ns, at[4] & 0x80 ? -step_ns : step_ns, &next_ns) &&
        next_ns != BB_TIME_NONE)
        *time_ns = next_ns;
    message.kind = (BbKind)(at[0] % 3);
    message.at_receiver = at[0] >= 0xf0;
    message.sender = 1 + at[1] % NODES;
    message.receiver = 1 + (at[1] >> 4) % NODES;
    if (at[2] > 0)
        message.id = bb_id_number(at[2]);
    message.op = at[3] % 4 == 0 ? 1u + at[3] / 4 % NODES : BB_NAME_NONE;
    message.time_ns = *time_ns;
    if (at[0] & 0x40)
        message.recv_ns = *time_ns + (at[3] & 0x3f);
    return message;
}

static void check_facts(const Run *run, const BbFacts *facts, const guint64 sent[3], bool two_sided)
{
    g_assert(facts->messages == sent[BB_CALL] + sent[BB_RETURN] + sent[BB_FREE]);
    g_assert(facts->free_messages == sent[BB_FREE] && facts->calls == run->calls);
    g_assert(two_sided ? run->calls <= sent[BB_CALL] : run->calls == sent[BB_CALL]);
}

int LLVMFuzzerTestOneInput(const guint8 *data, gsize size)
{
    if (size < HEAD)
        return 0;
    g_autoptr(BbNames) names = bb_names_new();
    for (guint i = 0; i < NODES; i++)
        bb_names_intern(names, (const char[]){(char)('A' + i), '\0'});
    BbNestingOptions nesting = bb_nesting_options_default();
    nesting.assign = data[0] & 1 ? BB_ASSIGN_JOINT : BB_ASSIGN_PAPER;
    nesting.threads = 1;
    nesting.skew_window_ns = data[0] & 2 ? data[1] : 0;
    BbWindowOptions window = {.messages = 2 + data[3] % 64};
    if (data[0] & 4)
        window = (BbWindowOptions){.length_ns = (gint64)(data[1] + 1) << data[2] % 50,
                                   .step_ns = (gint64)(data[4] + 1) << data[2] % 50,
                                   .messages = 2 + data[3]};
    BbCensusOptions census = {.algorithm = "nesting", .labels = true, .limit = 1 + data[4] % 8};
    Run run = {bb_windows_new(names, &nesting, &window), bb_census_new(&census, names), 0, 0};
    guint64 sent[3] = {0};
    bool two_sided = false;
    gint64 time_ns = 0;
    for (gsize at = HEAD; at + MESSAGE <= MIN(size, 1500); at += MESSAGE) {
        BbMessage message = read_message(data + at, &time_ns);
        while (!bb_windows_push(run.windows, &message))
            take(&run);
        sent[message.kind]++;
        two_sided |= message.at_receiver;
    }
    bb_windows_end(run.windows);
    take(&run);
    g_assert(!bb_windows_next(run.windows));
    g_autoptr(BbPatterns) patterns = bb_census_finish(run.census);
    check_facts(&run, &patterns->facts, sent, two_sided);
    bb_windows_free(run.windows);
    bb_census_free(run.census);
    return 0;
}
