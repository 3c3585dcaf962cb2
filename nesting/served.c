// SPDX-License-Identifier: Apache-2.0
// In: calls to a node. Out: when each began, how much alike they last.
#include "nesting/served.h"

#include <math.h>
#include <stdlib.h>

#include "data/tally.h"

guint32 bb_served_begin(const BbServed *served, guint32 n, guint workers, gint64 *begun,
                        gint64 *first)
{
    BbTurns turns[BB_SERVED_LINES];
    gint64 last[BB_SERVED_LINES];
    guint32 beyond = 0;
    for (guint line = 0; line < BB_SERVED_LINES; line++) {
        turns[line].n = 0;
        turns[line].workers = workers;
        last[line] = G_MININT64;
    }
    for (guint32 i = 0; i < n; i++) {
        const BbServed *one = &served[i];
        guint32 line = one->line;
        if (line == BB_SERVED_NO_LINE) {
            begun[i] = one->s;
            if (first)
                first[i] = one->s;
            continue;
        }
        gint64 turn = bb_turns_next(&turns[line], one);
        begun[i] = turn <= one->e ? turn : one->s;
        beyond += turn > one->e;
        if (first)
            first[i] = MIN(begun[i], MAX(one->s, last[line]));
        last[line] = turn;
        bb_turns_reply(&turns[line], one->e);
    }
    return beyond;
}

void bb_served_set_kinds(BbServed *served, guint32 n, const BbCall *calls, bool labels)
{
    BbTally number; // plus one
    guint32 kinds = 0;
    bb_tally_init(&number);
    for (guint32 i = 0; i < n; i++) {
        const BbCall *call = &calls[served[i].call];
        BbTallyKey key = {call->caller, labels ? call->op : BB_NAME_NONE, 0};
        guint64 *kind = bb_tally_at(&number, key);
        if (*kind == 0)
            *kind = ++kinds;
        served[i].kind = (guint32)*kind - 1;
    }
    bb_tally_clear(&number);
}

// ---- how much alike calls last -----------------------------------------------------------------

typedef struct {
    guint32 kind;
    gint64 ns;
} Lasting;

static int by_kind_and_time(const void *a, const void *b)
{
    const Lasting *x = a, *y = b;
    if (x->kind != y->kind)
        return x->kind < y->kind ? -1 : 1;
    return (x->ns > y->ns) - (x->ns < y->ns);
}

// Of calls of one kind, in order: the entropy of how long they last, times their number, in nats
// (Vasicek, A test for normality based on sample entropy, J. R. Stat. Soc. B 38, 1976).
static double entropy_of_kind(const Lasting *lasting, guint32 n)
{
    guint32 m = MAX(1, (guint32)(sqrt(n) / 2));
    double sum = 0;
    for (guint32 i = 0; n > 1 && i < n; i++) {
        guint32 low = i > m ? i - m : 0, high = MIN(i + m, n - 1);
        sum +=
            log(((double)(lasting[high].ns - lasting[low].ns) + BB_SERVED_UNIT_NS) / (high - low));
    }
    return sum;
}

double bb_served_entropy(const BbServed *served, guint32 n, const gint64 *begun)
{
    g_autofree Lasting *lasting = g_new(Lasting, (gsize)n + 1);
    double sum = 0;
    for (guint32 i = 0; i < n; i++)
        lasting[i] =
            (Lasting){served[i].kind, bb_time_between(begun ? begun[i] : served[i].s, served[i].e)};
    qsort(lasting, n, sizeof *lasting, by_kind_and_time);
    for (guint32 i = 0, end; i < n; i = end) {
        for (end = i; end < n && lasting[end].kind == lasting[i].kind;)
            end++;
        sum += entropy_of_kind(lasting + i, end - i);
    }
    return sum;
}
