// SPDX-License-Identifier: Apache-2.0
// In: the candidates of each child of a node. Out: the one with the best score.
#include "nesting/choice.h"

#include <math.h>

#include "data/large.h"
#include "data/tally.h"

#define NONE G_MAXUINT32
#define POWERS 64

// What a parent was given so far.
typedef struct {
    guint32 count;
    guint32 last; // child of the latest return, NONE if none
} Given;

// A child among those given to one parent, with a way back over many of them at once (Myers: An
// applicative random-access stack, 1983).
typedef struct {
    guint32 previous, jump; // NONE if none
    guint32 place;          // from 1
} Link;

struct BbChoice {
    BbNestingOptions options;
    BbScoreboard *board; // lent
    BbTally same;        // (parent, callee) -> children given
    Given *given;        // of parents
    double *scores;      // of a child's candidates
    Link *links;         // of children
    gsize parents_room, children_room;
    double overlap_power[POWERS]; // by count
};

// count^-penalty; no children cost nothing, nor does one.
static double discount(guint64 count, double penalty)
{
    return count <= 1 ? 1 : pow((double)count, -penalty);
}

BbChoice *bb_choice_new(const BbNestingOptions *options, BbScoreboard *board)
{
    BbChoice *choice = g_new0(BbChoice, 1);
    choice->options = *options;
    choice->board = board;
    bb_tally_init(&choice->same);
    for (guint i = 0; i < POWERS; i++)
        choice->overlap_power[i] = discount(i, options->overlap_penalty);
    return choice;
}

void bb_choice_free(BbChoice *choice)
{
    if (!choice)
        return;
    bb_tally_clear(&choice->same);
    g_free(choice->given);
    g_free(choice->scores);
    g_free(choice->links);
    g_free(choice);
}

// Children come in order of return, then of call: those that overlap this one are the last ones
// given, from the first on that ended after its call. Two that touch do not overlap.
static guint64 count_overlaps(const BbChoice *choice, const BbChild *children, const BbChild *child,
                              guint32 parent)
{
    const Link *links = choice->links;
    guint32 last = choice->given[parent].last, c = last;
    while (c != NONE && children[c].end_ns > child->call_ns) {
        guint32 jump = links[c].jump;
        c = jump != NONE && children[jump].end_ns > child->call_ns ? jump : links[c].previous;
    }
    return links[last].place - (c == NONE ? 0 : links[c].place);
}

// What the children that parent was given already take off its score.
static double penalty_of(const BbChoice *choice, const BbChild *children, const BbChild *child,
                         guint32 parent)
{
    const BbNestingOptions *options = &choice->options;
    double factor = 1;
    if (choice->given[parent].count == 0)
        return factor;
    if (options->overlap_penalty != 0) {
        guint64 overlaps = count_overlaps(choice, children, child, parent);
        factor = overlaps < POWERS ? choice->overlap_power[overlaps]
                                   : discount(overlaps, options->overlap_penalty);
    }
    if (options->same_penalty != 0) {
        BbTallyKey key = {parent, child->callee, 0};
        factor *= discount(bb_tally_get(&choice->same, key), options->same_penalty);
    }
    if (options->any_penalty != 0)
        factor *= discount(choice->given[parent].count, options->any_penalty);
    return factor;
}

// Candidates are in order of arrival, so the first of equals is the earliest.
static guint32 best_of(const BbChoice *choice, const BbParent *parents, const BbChild *children,
                       const BbChild *child, const guint32 *list, guint32 count)
{
    if (count == 1)
        return list[0];
    bb_scoreboard_values(choice->board, child, parents, list, count, choice->scores);
    guint32 best = 0;
    for (guint32 i = 0; i < count; i++) {
        choice->scores[i] *= penalty_of(choice, children, child, list[i]);
        if (choice->scores[i] > choice->scores[best])
            best = i;
    }
    return list[best];
}

// Jumps grow as the digits of a skew binary number do, so that log n of them lead anywhere.
static Link link_after(const Link *links, guint32 last)
{
    if (last == NONE)
        return (Link){NONE, NONE, 1};
    guint32 near = links[last].jump, far = near == NONE ? NONE : links[near].jump;
    guint32 near_place = near == NONE ? 0 : links[near].place;
    guint32 far_place = far == NONE ? 0 : links[far].place;
    bool carries = near != NONE && links[last].place - near_place == near_place - far_place;
    return (Link){last, carries ? far : last, links[last].place + 1};
}

static void give(BbChoice *choice, guint32 parent, guint32 child, guint32 callee)
{
    Given *given = &choice->given[parent];
    choice->links[child] = link_after(choice->links, given->last);
    given->last = child;
    given->count++;
    if (choice->options.same_penalty != 0)
        ++*bb_tally_at(&choice->same, (BbTallyKey){parent, callee, 0});
}

static void fill_board(BbChoice *choice, BbSweep *sweep, const BbParent *parents,
                       const BbChild *children)
{
    bb_scoreboard_reset(choice->board);
    while (bb_sweep_next(sweep)) {
        guint32 count;
        const guint32 *list = bb_sweep_list(sweep, &count);
        const BbChild *child = &children[bb_sweep_child(sweep)];
        bb_scoreboard_add(choice->board, child, parents, list, count);
    }
    bb_scoreboard_smooth(choice->board);
}

static void make_room(BbChoice *choice, guint32 n_parents, guint32 n_children)
{
    if (n_parents > choice->parents_room) {
        g_free(choice->given);
        g_free(choice->scores);
        choice->given = bb_large_new(Given, n_parents);
        choice->scores = g_new(double, n_parents);
        choice->parents_room = n_parents;
    }
    if (n_children > choice->children_room) {
        g_free(choice->links);
        choice->links = bb_large_new(Link, n_children);
        choice->children_room = n_children;
    }
    for (guint32 p = 0; p < n_parents; p++)
        choice->given[p] = (Given){0, NONE};
    bb_tally_reset(&choice->same);
}

void bb_choice_run(BbChoice *choice, BbSweep *sweep, guint32 *parent, guint64 *n_children,
                   guint64 *n_candidates)
{
    guint32 parents_count, children_count, count;
    const BbParent *parents = bb_sweep_parents(sweep, &parents_count);
    const BbChild *children = bb_sweep_children(sweep, &children_count);
    make_room(choice, parents_count, children_count);
    fill_board(choice, sweep, parents, children);
    bb_sweep_rewind(sweep);
    while (bb_sweep_next(sweep)) {
        guint32 index = bb_sweep_child(sweep);
        const guint32 *list = bb_sweep_list(sweep, &count);
        if (count == 0)
            continue;
        const BbChild *child = &children[index];
        guint32 best = best_of(choice, parents, children, child, list, count);
        give(choice, best, index, child->callee);
        parent[child->call] = parents[best].call;
        ++*n_children;
        *n_candidates += count;
    }
}
