// SPDX-License-Identifier: Apache-2.0
// In: counts of the stage. Out: named counters for the trace, sentences for people.
#include "capture/loss.h"

#include <string.h>

static const struct {
    const char *name, *meaning;
    bool is_loss;
} table[BB_LOSS_COUNT] = {
#define X(constant, name, meaning, is_loss) {name, meaning, is_loss},
    BB_LOSS_TABLE(X)
#undef X
};

const char *bb_loss_name(BbLossKind kind)
{
    return table[kind].name;
}

const char *bb_loss_meaning(BbLossKind kind)
{
    return table[kind].meaning;
}

bool bb_loss_is_loss(BbLossKind kind)
{
    return table[kind].is_loss;
}

BbLossKind bb_loss_find(const char *name)
{
    guint kind = 0;
    while (kind < BB_LOSS_COUNT && strcmp(table[kind].name, name) != 0)
        kind++;
    return kind;
}

void bb_loss_add(BbLoss *sum, const BbLoss *loss)
{
    for (guint kind = 0; kind < BB_LOSS_COUNT; kind++)
        sum->count[kind] += loss->count[kind];
}

void bb_loss_publish(const BbLoss *loss, BbCounters *counters)
{
    for (guint kind = 0; kind < BB_LOSS_COUNT; kind++)
        if (loss->count[kind])
            bb_counters_add(counters, table[kind].name, loss->count[kind]);
}
