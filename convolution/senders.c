// SPDX-License-Identifier: Apache-2.0
// In: a trace's messages. Out: the same by sender, and choices of them.
#include "convolution/senders.h"
#include "convolution/signal.h"

BbSenders *bb_senders_new(const BbTraffic *traffic, gint64 quantum_ns)
{
    guint32 n_names = bb_names_count(traffic->names);
    BbSenders *self = g_new0(BbSenders, 1);
    self->first = g_new0(guint32, (gsize)n_names + 1);
    self->messages = g_new(guint32, traffic->n_messages);
    self->quanta = g_new(guint32, traffic->n_messages);
    for (guint32 i = 0; i < traffic->n_messages; i++)
        self->first[traffic->messages[i].caller + 1]++;
    for (guint32 node = 0; node < n_names; node++)
        self->first[node + 1] += self->first[node];
    g_autofree guint32 *next = g_memdup2(self->first, n_names * sizeof *next);
    for (guint32 i = 0; i < traffic->n_messages; i++) {
        const BbCall *message = &traffic->messages[i];
        guint32 at = next[message->caller]++;
        self->messages[at] = i;
        self->quanta[at] = (guint32)bb_signal_quantum(bb_traffic_hold(traffic, message->call_ns),
                                                      traffic->start_ns, quantum_ns);
    }
    return self;
}

void bb_senders_free(BbSenders *self)
{
    if (!self)
        return;
    g_free(self->first);
    g_free(self->messages);
    g_free(self->quanta);
    g_free(self);
}

BbQuanta bb_senders_sent(const BbSenders *self, guint32 node)
{
    guint32 first = self->first[node];
    return (BbQuanta){self->quanta + first, self->first[node + 1] - first};
}

// The first index from `at` on whose quantum is at least `least`: steps that double, then halves.
static gsize seek(BbQuanta list, gsize at, gint64 least)
{
    gsize step = 1;
    while (at + step <= list.count && (gint64)list.quanta[at + step - 1] < least) {
        at += step;
        step *= 2;
    }
    gsize end = MIN(at + step - 1, list.count);
    while (at < end) {
        gsize middle = at + (end - at) / 2;
        if ((gint64)list.quanta[middle] < least)
            at = middle + 1;
        else
            end = middle;
    }
    return at;
}

gsize bb_senders_follow(BbQuanta causes, BbQuanta sent, guint32 lag, guint32 tolerance,
                        guint32 *positions)
{
    gsize found = 0, at = 0, cause = 0;
    while (cause < causes.count) {
        gint64 centre = (gint64)causes.quanta[cause] + lag;
        at = seek(sent, at, centre - tolerance);
        while (at < sent.count && (gint64)sent.quanta[at] <= centre + tolerance)
            positions[found++] = (guint32)at++;
        if (at == sent.count)
            break;
        // Causes that are too early for all that is left are passed by.
        cause = seek(causes, cause + 1, (gint64)sent.quanta[at] - lag - tolerance);
    }
    return found;
}
