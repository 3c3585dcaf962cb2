// SPDX-License-Identifier: Apache-2.0
// Traffic of the paper's multi-tier system (section 7.2), message by message in order of time, as
// many as one wants: clients, two web servers, authentication, two application servers, two
// databases; call delays of 50 ms, return delays of 10 ms, deviation a tenth; requests at random
// times.
#pragma once

#include "data/message.h"

#include <math.h>

#define TRAFFIC_MS 1000000.0

enum { TRAFFIC_C1, TRAFFIC_WS1 = 3, WS2, AUTH, AP1, AP2, DB1, DB2, TRAFFIC_NODES };

typedef struct {
    GRand *rand;
    double per_second, time; // of requests; when the next one comes, in ns
    GArray *waiting;         // of BbMessage: a heap, the earliest first
    guint64 id;
    guint32 name[TRAFFIC_NODES];
} Traffic;

static inline void traffic_init(Traffic *traffic, BbNames *names, double per_second)
{
    *traffic = (Traffic){.rand = g_rand_new_with_seed(20031019),
                         .per_second = per_second,
                         .time = 1e9 * 1e9,
                         .waiting = g_array_new(FALSE, FALSE, sizeof(BbMessage))};
    for (guint i = 0; i < TRAFFIC_NODES; i++) {
        g_autofree char *name = g_strdup_printf("node%u", i);
        traffic->name[i] = bb_names_intern(names, name);
    }
}

static inline void traffic_clear(Traffic *traffic)
{
    g_rand_free(traffic->rand);
    g_array_unref(traffic->waiting);
}

static inline bool traffic_earlier(const BbMessage *a, const BbMessage *b)
{
    return a->time_ns != b->time_ns ? a->time_ns < b->time_ns : a->id.number < b->id.number;
}

static inline void traffic_push(GArray *heap, const BbMessage *message)
{
    g_array_append_val(heap, *message);
    guint at = heap->len - 1;
    for (; at > 0; at = (at - 1) / 2) {
        const BbMessage *above = &g_array_index(heap, BbMessage, (at - 1) / 2);
        if (!traffic_earlier(message, above))
            break;
        g_array_index(heap, BbMessage, at) = *above;
    }
    g_array_index(heap, BbMessage, at) = *message;
}

static inline BbMessage traffic_pop(GArray *heap)
{
    BbMessage *items = &g_array_index(heap, BbMessage, 0);
    BbMessage first = items[0], last = items[heap->len - 1];
    guint count = heap->len - 1, at = 0;
    g_array_set_size(heap, count);
    for (guint below; (below = 2 * at + 1) < count; at = below) {
        below += below + 1 < count && traffic_earlier(&items[below + 1], &items[below]);
        if (!traffic_earlier(&items[below], &last))
            break;
        items[at] = items[below];
    }
    if (count > 0)
        items[at] = last;
    return first;
}

static inline double traffic_delay(Traffic *traffic, double mean_ms)
{
    double sum = 0; // of 12 uniform numbers: nearly Gaussian, deviation 1
    for (guint i = 0; i < 12; i++)
        sum += g_rand_double(traffic->rand);
    double ms = mean_ms * (1 + 0.1 * (sum - 6));
    return MAX(ms, 0) * TRAFFIC_MS;
}

static inline void traffic_send(Traffic *traffic, BbKind kind, guint from, guint to, guint64 id,
                                double time)
{
    BbMessage message = bb_message_empty();
    message.kind = kind;
    message.sender = traffic->name[from];
    message.receiver = traffic->name[to];
    message.id = bb_id_number(id);
    message.time_ns = (gint64)time;
    traffic_push(traffic->waiting, &message);
}

// A call of node by from at time; returns when its return is sent.
static inline double traffic_call(Traffic *traffic, guint from, guint node, double time)
{
    guint64 id = traffic->id++;
    traffic_send(traffic, BB_CALL, from, node, id, time);
    bool is_web = node == TRAFFIC_WS1 || node == WS2, is_app = node == AP1 || node == AP2;
    if (is_web)
        time = traffic_call(traffic, node, AUTH, time + traffic_delay(traffic, 50));
    if (node == AUTH && g_rand_boolean(traffic->rand))
        time = traffic_call(traffic, node, DB1, time + traffic_delay(traffic, 50));
    if (is_web)
        time = traffic_call(traffic, node, g_rand_boolean(traffic->rand) ? AP1 : AP2,
                            time + traffic_delay(traffic, 50));
    if (is_app)
        time = traffic_call(traffic, node, DB1, time + traffic_delay(traffic, 50));
    if (is_app && g_rand_double(traffic->rand) < 0.4)
        time = traffic_call(traffic, node, DB2, time + traffic_delay(traffic, 50));
    time += traffic_delay(traffic, 10);
    traffic_send(traffic, BB_RETURN, node, from, id, time);
    return time;
}

static inline BbMessage traffic_next(Traffic *traffic)
{
    while (traffic->waiting->len == 0 ||
           (double)g_array_index(traffic->waiting, BbMessage, 0).time_ns >= traffic->time) {
        guint client = TRAFFIC_C1 + (guint)g_rand_int_range(traffic->rand, 0, 3);
        guint server = g_rand_boolean(traffic->rand) ? TRAFFIC_WS1 : WS2;
        (void)traffic_call(traffic, client, server, traffic->time);
        traffic->time += -log(1 - g_rand_double(traffic->rand)) * 1e9 / traffic->per_second;
    }
    return traffic_pop(traffic->waiting);
}
