// SPDX-License-Identifier: Apache-2.0
// In: possible causes with their chances. Out: one cause a message.
#include "convolution/assignment.h"

#include <math.h>
#include <string.h>

#define LEVELS 4096u // of chances: pairs are taken in this order

BbAssignment *bb_assignment_new(guint32 n)
{
    BbAssignment *assignment = g_new0(BbAssignment, 1);
    assignment->n = n;
    assignment->cause = g_new(guint32, MAX(1, n));
    assignment->choice = g_new0(guint32, MAX(1, n));
    assignment->chance = g_new(float, MAX(1, n));
    assignment->uses = g_new0(guint8, MAX(1, n));
    for (guint32 i = 0; i < n; i++) {
        assignment->cause[i] = BB_CALL_NO_PARENT;
        assignment->chance[i] = 1;
    }
    return assignment;
}

void bb_assignment_free(BbAssignment *assignment)
{
    if (!assignment)
        return;
    g_free(assignment->cause);
    g_free(assignment->choice);
    g_free(assignment->chance);
    g_free(assignment->uses);
    g_free(assignment);
}

static float weigh(const BbCause *causes, const float *weight, guint32 i)
{
    return weight ? causes[i].chance * weight[i] : causes[i].chance;
}

// 0 for the likeliest. By square root: small chances matter among each other too.
static guint32 level_of(float chance)
{
    return (guint32)((1 - sqrtf(CLAMP(chance, 0.0f, 1.0f))) * (LEVELS - 1));
}

// Indices of causes, the likeliest first.
static guint32 *sort_by_chance(const BbExplanation *explanation, const float *weight)
{
    const BbCause *causes = (const BbCause *)(gpointer)explanation->causes->data;
    guint32 count = explanation->causes->len;
    guint32 *sorted = g_new(guint32, MAX(1, count));
    g_autofree guint32 *next = g_new0(guint32, LEVELS + 1);
    for (guint32 i = 0; i < count; i++)
        next[level_of(weigh(causes, weight, i)) + 1]++;
    for (guint32 level = 0; level < LEVELS; level++)
        next[level + 1] += next[level];
    for (guint32 i = 0; i < count; i++)
        sorted[next[level_of(weigh(causes, weight, i))]++] = i;
    return sorted;
}

typedef struct {
    bool capped;    // whether a cause must have an effect left
    double against; // times the chance of no cause: what a cause must be worth at least
} Pass;

static void run_pass(BbAssignment *assignment, const BbExplanation *explanation,
                     const float *weight, const guint32 *sorted, Pass pass)
{
    const BbCause *causes = (const BbCause *)(gpointer)explanation->causes->data;
    for (guint32 k = 0; k < explanation->causes->len; k++) {
        guint32 i = sorted[k];
        const BbCause *cause = &causes[i];
        const BbLink *link = g_ptr_array_index(explanation->links, cause->link);
        // chance still is that of no cause where there is none.
        if (assignment->cause[cause->effect] != BB_CALL_NO_PARENT ||
            (pass.capped && assignment->uses[cause->cause] >= link->cap) ||
            weigh(causes, weight, i) < pass.against * assignment->chance[cause->effect])
            continue;
        assignment->cause[cause->effect] = cause->cause;
        assignment->choice[cause->effect] = i;
        assignment->chance[cause->effect] = cause->chance;
        assignment->uses[cause->cause] += assignment->uses[cause->cause] < G_MAXUINT8;
    }
}

void bb_assignment_make(BbAssignment *assignment, const BbExplanation *explanation,
                        const float *weight)
{
    const BbStream *out = explanation->out;
    const BbCause *causes = (const BbCause *)(gpointer)explanation->causes->data;
    g_autofree guint32 *sorted = sort_by_chance(explanation, weight);
    for (guint32 n = 0; n < out->count; n++) {
        assignment->cause[out->message[n]] = BB_CALL_NO_PARENT;
        assignment->chance[out->message[n]] = explanation->none[n];
    }
    run_pass(assignment, explanation, weight, sorted, (Pass){true, 0.5});
    run_pass(assignment, explanation, weight, sorted, (Pass){true, 0.3});
    if (explanation->spontaneous < BB_SPONTANEOUS_LEAST)
        run_pass(assignment, explanation, weight, sorted, (Pass){false, 0});
    for (guint32 i = 0; i < explanation->causes->len; i++)
        assignment->uses[causes[i].cause] = 0;
}
