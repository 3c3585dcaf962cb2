// SPDX-License-Identifier: Apache-2.0
// Nesting. In: its options, and messages. Out: path instances of calls with returns, as trees.
#include "cli/algorithm.h"

#include <string.h>

// ---- options -----------------------------------------------------------------------------------

static bool asks_for_paper(const BbInference *inference)
{
    return inference->floor || bb_is_said(inference->overlap) || bb_is_said(inference->same) ||
           bb_is_said(inference->any) || bb_is_said(inference->smoothing);
}

int bb_refuse_nesting(const BbInference *inference, const char *program)
{
    const BbGiven options[] = {
        {"--assign", inference->assign},
        {"--no-labels", inference->no_labels},
        {"--no-connections", inference->no_connections},
        {"--roles", inference->roles},
        {"--merge-replicas", inference->merge_replicas},
        {"--latency", inference->latency},
        {"--overlap-penalty", bb_is_said(inference->overlap)},
        {"--same-penalty", bb_is_said(inference->same)},
        {"--any-penalty", bb_is_said(inference->any)},
        {"--bin-floor", inference->floor},
        {"--smoothing", bb_is_said(inference->smoothing)},
    };
    return bb_refuse_given(options, G_N_ELEMENTS(options), program, "is for --algo=nesting");
}

static int check_paper(BbInference *inference, const char *program)
{
    BbNestingOptions *nesting = &inference->nesting;
    double overlap = bb_said_or(inference->overlap, nesting->overlap_penalty);
    double same = bb_said_or(inference->same, nesting->same_penalty);
    double any = bb_said_or(inference->any, nesting->any_penalty);
    double smoothing = bb_said_or(inference->smoothing, nesting->smoothing);
    int status =
        bb_check_span(program, "--bin-floor", inference->floor, "50us", &nesting->bin_floor_ns);
    if (status >= 0)
        return status;
    if (!(overlap >= 0 && same >= 0 && any >= 0 && smoothing >= 0 && overlap + same + any <= 1000 &&
          smoothing <= 100))
        return bb_say_usage(program,
                            "penalties go from 0 to 1000 in all, --smoothing from 0 to 100");
    if (asks_for_paper(inference) && nesting->assign != BB_ASSIGN_PAPER)
        return bb_say_usage(program, "--bin-floor, --smoothing and penalties need --assign=paper");
    nesting->overlap_penalty = overlap;
    nesting->same_penalty = same;
    nesting->any_penalty = any;
    nesting->smoothing = smoothing;
    return -1;
}

static int check_roles(BbInference *inference, const char *program)
{
    bool none = inference->roles && strcmp(inference->roles, "none") == 0;
    if (none && inference->merge_replicas)
        return bb_say_usage(program, "--merge-replicas needs --roles=auto or a file");
    inference->nesting.merge_replicas = inference->merge_replicas;
    inference->nesting.find_roles =
        inference->roles ? strcmp(inference->roles, "auto") == 0 : inference->merge_replicas;
    return -1;
}

static int check(BbInference *inference, const char *program)
{
    BbNestingOptions *nesting = &inference->nesting;
    const char *assign = inference->assign, *latency = inference->latency;
    int status = bb_refuse_convolution(inference, program);
    if (status >= 0)
        return status;
    if (assign && strcmp(assign, "paper") != 0 && strcmp(assign, "joint") != 0)
        return bb_say_usage(program, "--assign takes: joint, paper");
    if (assign && strcmp(assign, "paper") == 0)
        nesting->assign = BB_ASSIGN_PAPER;
    if (inference->no_connections && nesting->assign == BB_ASSIGN_PAPER)
        return bb_say_usage(program, "--no-connections needs --assign=joint");
    if (latency && strcmp(latency, "first-byte") != 0 && strcmp(latency, "last-byte") != 0)
        return bb_say_usage(program, "--latency takes: first-byte, last-byte");
    if (inference->skew && !bb_parse_duration(inference->skew, &nesting->skew_window_ns))
        return bb_say_usage(program, "--skew-window '%s' is no duration like 30ms%s",
                            inference->skew, bb_duration_excess(inference->skew));
    nesting->threads = (guint)inference->threads;
    nesting->labels = inference->census.labels = !inference->no_labels;
    nesting->connections = !inference->no_connections;
    nesting->latency_last_byte = latency && strcmp(latency, "last-byte") == 0;
    inference->census.last_byte = nesting->latency_last_byte;
    status = check_paper(inference, program);
    return status >= 0 ? status : check_roles(inference, program);
}

// ---- the run -----------------------------------------------------------------------------------

static void stop(gpointer windows)
{
    bb_windows_free(windows);
}

// Of two traces whose replicas count as one node, the roles of the first are those of both: their
// nodes have the same names then.
static bool make_roles(BbInference *inference, BbNames *names, GError **error)
{
    BbNestingOptions *nesting = &inference->nesting;
    const char *roles = inference->roles;
    if (nesting->roles && nesting->merge_replicas) {
        nesting->find_roles = false;
        return true;
    }
    g_clear_pointer(&nesting->roles, bb_roles_free);
    if (nesting->find_roles)
        nesting->roles = bb_roles_new(names);
    else if (roles && strcmp(roles, "none") != 0)
        nesting->roles = bb_roles_read(roles, names, error);
    else
        return true;
    return nesting->roles;
}

static gpointer start(BbInference *inference, BbNames *names, GError **error)
{
    if (!make_roles(inference, names, error))
        return NULL;
    return bb_windows_new(names, &inference->nesting, &inference->windows);
}

static bool push(gpointer windows, const BbMessage *message)
{
    return bb_windows_push(windows, message);
}

static void end(gpointer windows)
{
    bb_windows_end(windows);
}

static BbPaths *next(gpointer windows, GError **error)
{
    (void)error;
    return bb_windows_next(windows);
}

static guint64 late(gpointer windows)
{
    return bb_windows_late(windows);
}

// ---- patterns ----------------------------------------------------------------------------------

static gpointer count_new(const BbInference *inference, const BbNames *names)
{
    return bb_census_new(&inference->census, names);
}

static void count_free(gpointer census)
{
    bb_census_free(census);
}

static void count_add(gpointer census, BbPaths *paths)
{
    bb_census_add(census, paths);
}

static bool count_is_kept(gpointer census, guint32 pattern)
{
    return bb_census_is_kept(census, pattern);
}

static BbPatterns *count_finish(gpointer census)
{
    return bb_census_finish(census);
}

const BbAlgorithm bb_algorithm_nesting = {
    .algo = "nesting",
    .calls = true,
    .check = check,
    .start = start,
    .stop = stop,
    .push = push,
    .end = end,
    .next = next,
    .late = late,
    .count_new = count_new,
    .count_free = count_free,
    .count_add = count_add,
    .count_is_kept = count_is_kept,
    .count_finish = count_finish,
};
