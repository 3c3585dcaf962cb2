// SPDX-License-Identifier: Apache-2.0
// In: messages in order of time. Out: which of them are lost.
#include "data/drop.h"

#include "data/random.h"

#include <math.h>

// A queue with one server and the same time for each message (D/1/K).
typedef struct Sniffer {
    double work_ns; // for a message
    guint queue;
    gint64 seen_ns; // when backlog was
    double backlog_ns;
} Sniffer;

struct BbDrop {
    BbDropOptions options;
    GHashTable *nodes; // NULL: all
    BbRandom random;
    Sniffer sniffer;
    guint64 by_chance, by_queue;
};

static Sniffer sniffer_start(double peak, guint queue)
{
    return (Sniffer){.work_ns = peak > 0 ? 1e9 / peak : 0, .queue = queue, .seen_ns = G_MININT64};
}

// Returns whether there is no room for a message that comes now.
static bool sniffer_overflows(Sniffer *sniffer, gint64 now_ns)
{
    if (sniffer->seen_ns != G_MININT64)
        sniffer->backlog_ns -= (double)(now_ns - sniffer->seen_ns);
    sniffer->backlog_ns = MAX(sniffer->backlog_ns, 0);
    sniffer->seen_ns = now_ns;
    // A message that is worked on fills its place up to the end. The small part is for rounding.
    double waiting = ceil(sniffer->backlog_ns / sniffer->work_ns - 1e-6);
    if (waiting >= sniffer->queue)
        return true;
    sniffer->backlog_ns += sniffer->work_ns;
    return false;
}

BbDrop *bb_drop_new(const BbDropOptions *options)
{
    BbDrop *drop = g_new0(BbDrop, 1);
    *drop = (BbDrop){
        .options = *options,
        .random = bb_random_start(options->seed),
        .sniffer = sniffer_start(options->peak, options->queue),
    };
    return drop;
}

void bb_drop_free(BbDrop *drop)
{
    if (!drop)
        return;
    g_clear_pointer(&drop->nodes, g_hash_table_destroy);
    g_free(drop);
}

void bb_drop_node(BbDrop *drop, guint32 node)
{
    if (!drop->nodes)
        drop->nodes = g_hash_table_new(NULL, NULL);
    g_hash_table_add(drop->nodes, GUINT_TO_POINTER(node));
}

static bool is_concerned(const BbDrop *drop, const BbMessage *message)
{
    return !drop->nodes || g_hash_table_contains(drop->nodes, GUINT_TO_POINTER(message->sender)) ||
           g_hash_table_contains(drop->nodes, GUINT_TO_POINTER(message->receiver));
}

bool bb_drop_loses(BbDrop *drop, const BbMessage *message)
{
    if (!is_concerned(drop, message))
        return false;
    if (bb_random_chance(&drop->random, drop->options.chance)) {
        drop->by_chance++;
        return true;
    }
    if (drop->options.peak <= 0 || !sniffer_overflows(&drop->sniffer, message->time_ns))
        return false;
    drop->by_queue++;
    return true;
}

guint64 bb_drop_by_chance(const BbDrop *drop)
{
    return drop->by_chance;
}

guint64 bb_drop_by_queue(const BbDrop *drop)
{
    return drop->by_queue;
}

static double share_lost(const gint64 *times_ns, gsize count, guint queue, double peak)
{
    Sniffer sniffer = sniffer_start(peak, queue);
    gsize lost = 0;
    for (gsize i = 0; i < count; i++)
        lost += sniffer_overflows(&sniffer, times_ns[i]);
    return (double)lost / (double)count;
}

// Bisection of the logarithm of the rate: the share falls as the rate goes up.
double bb_drop_peak_for(const gint64 *times_ns, gsize count, guint queue, double share)
{
    double low = 1e-9, high = 1e9;
    if (count == 0 || share_lost(times_ns, count, queue, low) < share)
        return 0;
    while (high / low > 1.0001) {
        double middle = sqrt(low * high);
        if (share_lost(times_ns, count, queue, middle) > share)
            low = middle;
        else
            high = middle;
    }
    return high;
}
