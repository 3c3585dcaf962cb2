// SPDX-License-Identifier: Apache-2.0
// In: the messages of a trace, or of a window of one. Out: causal paths. The order of the stage's
// steps.
#include "nesting/nesting.h"

#include "data/large.h"
#include "nesting/beneath.h"
#include "nesting/candidates.h"
#include "nesting/choice.h"
#include "nesting/hanging.h"
#include "nesting/joint.h"
#include "nesting/roles.h"
#include "nesting/trees.h"
#include "nesting/unread.h"

struct BbNesting {
    const BbNames *names;
    BbNestingOptions options;
    BbShapes *shapes;
    BbJoint *joint;      // NULL: the paper's choice
    BbScoreboard *board; // of that; NULL: the joint one
    bool found_roles;
};

BbNestingOptions bb_nesting_options_default(void)
{
    return (BbNestingOptions){.assign = BB_ASSIGN_JOINT,
                              .overlap_penalty = 2,
                              .bin_floor_ns = 1000000,
                              .labels = true,
                              .connections = true};
}

BbNesting *bb_nesting_new(const BbNames *names, const BbNestingOptions *options)
{
    BbNesting *nesting = g_new(BbNesting, 1);
    *nesting = (BbNesting){.names = names, .options = *options, .shapes = bb_shapes_new()};
    if (options->merge_replicas)
        bb_shapes_use_roles(nesting->shapes, options->roles);
    if (options->assign == BB_ASSIGN_JOINT)
        nesting->joint = bb_joint_new(options, names);
    else
        nesting->board = bb_scoreboard_new(options->bin_floor_ns, options->smoothing);
    return nesting;
}

void bb_nesting_free(BbNesting *nesting)
{
    if (!nesting)
        return;
    bb_shapes_free(nesting->shapes);
    bb_joint_free(nesting->joint);
    bb_scoreboard_free(nesting->board);
    g_free(nesting);
}

static void choose_as_in_the_paper(const BbNesting *nesting, BbPaths *paths)
{
    const BbNestingOptions *options = &nesting->options;
    g_autoptr(BbCandidates) candidates =
        bb_candidates_new(paths->calls, paths->n_calls, bb_names_count(nesting->names),
                          options->skew_window_ns, NULL, NULL);
    g_autoptr(BbChoice) choice = bb_choice_new(options, nesting->board);
    g_autoptr(BbSweep) sweep = bb_sweep_new(candidates);
    for (guint32 node = 0; node < candidates->n_names; node++)
        if (bb_sweep_go(sweep, node))
            bb_choice_run(choice, sweep, paths->parent, &paths->facts.children,
                          &paths->facts.candidates);
}

// A return that comes when its caller has gone on is none to the caller (data/call.h).
static void forget_late_returns(BbPaths *paths, const bool *given_up)
{
    for (guint32 i = 0; i < paths->n_calls; i++) {
        BbCall *call = &paths->calls[i];
        if (!given_up[i] || !bb_call_is_returned(call))
            continue;
        bb_paths_note_late(paths, (BbLate){i, call->return_ns, call->return_end_ns});
        call->return_ns = call->return_end_ns = BB_TIME_NONE;
    }
}

// The call that a forwarded return was taken for is certain to be of the request that got it, and
// may be another one's all the same.
static void doubt_tosses(BbPaths *paths)
{
    for (guint i = 0; paths->tosses && i < paths->tosses->len; i++) {
        const BbToss *toss = &g_array_index(paths->tosses, BbToss, i);
        if (paths->parent[toss->call] != BB_CALL_NO_PARENT)
            paths->confidence[toss->call] *= toss->share;
    }
    g_clear_pointer(&paths->tosses, g_array_unref);
}

static void find_parents(BbNesting *nesting, BbPaths *paths)
{
    paths->parent = bb_large_new(guint32, paths->n_calls);
    paths->confidence = bb_large_new(float, paths->n_calls);
    for (guint32 i = 0; i < paths->n_calls; i++) {
        paths->parent[i] = BB_CALL_NO_PARENT;
        paths->confidence[i] = BB_CONFIDENCE_NONE;
    }
    if (!nesting->joint) {
        choose_as_in_the_paper(nesting, paths);
        return;
    }
    paths->whole = bb_large_new(float, paths->n_calls);
    g_autoptr(BbUnread) unread = bb_unread_take(paths, nesting->names);
    g_autofree bool *hanging = bb_hanging_find(paths->calls, paths->n_calls);
    bb_unread_add_hanging(unread, hanging);
    g_autofree bool *given_up = g_new0(bool, paths->n_calls);
    bb_joint_run(nesting->joint, paths, hanging, given_up);
    bb_beneath_find(paths, bb_names_count(nesting->names), hanging, given_up);
    forget_late_returns(paths, given_up);
    doubt_tosses(paths);
    bb_unread_give_back(unread, paths);
}

// In the first window that has calls; kept from then on.
static void find_roles(BbNesting *nesting, BbPaths *paths)
{
    const BbNestingOptions *options = &nesting->options;
    if (options->merge_replicas)
        paths->roles = options->roles;
    if (!options->roles || !options->find_roles || nesting->found_roles || paths->n_calls == 0)
        return;
    bb_roles_find(options->roles, paths->calls, paths->n_calls, nesting->names);
    nesting->found_roles = true;
}

BbPaths *bb_nesting_run(BbNesting *nesting, BbPairs *pairs)
{
    BbPaths *paths = bb_paths_new();
    bb_shapes_forget(nesting->shapes);
    bb_pairs_finish(pairs, paths);
    paths->from_ns = paths->facts.start_ns;
    paths->to_ns = paths->facts.end_ns;
    find_roles(nesting, paths);
    find_parents(nesting, paths);
    bb_trees_grow(paths, nesting->shapes, nesting->options.labels,
                  nesting->options.latency_last_byte);
    return paths;
}
