// SPDX-License-Identifier: Apache-2.0
// For the tests of convolution: messages whose causes are known, and streams that come by chance.
#pragma once

#include "convolution/traffic.h"
#include "data/random.h"
#include "tests/unit/test.h"

#include <math.h>

#define US G_GINT64_CONSTANT(1000)
#define MS G_GINT64_CONSTANT(1000000)
#define SECOND G_GINT64_CONSTANT(1000000000)
#define EPOCH (G_GINT64_CONSTANT(1700000000) * SECOND) // where doubles tell no nanoseconds apart

#define PLANTED_ROOT G_MAXUINT32

typedef struct {
    BbNames *names;
    BbTraffic *traffic;
    GArray *causes; // of guint32: the true cause of each message, as planted_send numbered it
    BbRandom random;
} Planted;

static inline Planted *planted_new(guint64 seed)
{
    Planted *planted = g_new0(Planted, 1);
    planted->names = bb_names_new();
    planted->traffic = bb_traffic_new(planted->names);
    planted->causes = g_array_new(FALSE, FALSE, sizeof(guint32));
    planted->random = bb_random_start(seed);
    return planted;
}

static inline void planted_free(Planted *planted)
{
    bb_traffic_free(planted->traffic);
    bb_names_free(planted->names);
    g_array_unref(planted->causes);
    g_free(planted);
}

G_DEFINE_AUTOPTR_CLEANUP_FUNC(Planted, planted_free)

// Returns the number of the message; its id is one more.
static inline guint32 planted_send_kind(Planted *planted, BbKind kind, const char *from,
                                        const char *to, gint64 at_ns, guint32 cause)
{
    g_array_append_val(planted->causes, cause);
    BbMessage message = bb_message_empty();
    message.sender = bb_names_intern(planted->names, from);
    message.receiver = bb_names_intern(planted->names, to);
    message.time_ns = at_ns;
    message.id = bb_id_number(planted->causes->len);
    message.kind = kind;
    ck_assert(bb_traffic_push(planted->traffic, &message));
    return planted->causes->len - 1;
}

static inline guint32 planted_send(Planted *planted, const char *from, const char *to, gint64 at_ns,
                                   guint32 cause)
{
    return planted_send_kind(planted, BB_FREE, from, to, at_ns, cause);
}

static inline guint32 planted_number(const BbCall *message)
{
    return (guint32)message->id.number - 1;
}

static inline guint32 planted_cause(const Planted *planted, const BbCall *message)
{
    return g_array_index(planted->causes, guint32, planted_number(message));
}

static inline gint64 planted_later(Planted *planted, gint64 from_ns, double mean_ns, double sd_ns)
{
    return from_ns + (gint64)llround(fabs(mean_ns + sd_ns * bb_random_normal(&planted->random)));
}

// So many messages from A to B at any times of 100 s, each followed by one from B to C.
static inline void planted_hops(Planted *planted, guint count, double mean_ns, double sd_ns)
{
    for (guint i = 0; i < count; i++) {
        gint64 at = EPOCH + (gint64)bb_random_below(&planted->random, 100 * SECOND);
        guint32 cause = planted_send(planted, "A", "B", at, PLANTED_ROOT);
        planted_send(planted, "B", "C", planted_later(planted, at, mean_ns, sd_ns), cause);
    }
}

// So many messages at any times of [EPOCH, EPOCH + span).
static inline void planted_noise(Planted *planted, const char *from, const char *to, guint count,
                                 gint64 span_ns)
{
    for (guint i = 0; i < count; i++)
        planted_send(planted, from, to,
                     EPOCH + (gint64)bb_random_below(&planted->random, (guint64)span_ns),
                     PLANTED_ROOT);
}

// Poisson numbers: by products of uniform numbers where the mean is small, else the normal limit.
static inline guint32 planted_poisson(BbRandom *random, double mean)
{
    if (mean > 200)
        return (guint32)MAX(0, lround(mean + sqrt(mean) * bb_random_normal(random)));
    double product = bb_random_unit(random), least = exp(-mean);
    guint32 n = 0;
    for (; product > least; n++)
        product *= bb_random_unit(random);
    return n;
}

static inline const BbEdge *planted_edge(const Planted *planted, const char *from, const char *to)
{
    const BbTraffic *traffic = planted->traffic;
    for (guint32 e = 0; e < traffic->n_edges; e++)
        if (traffic->edges[e].sender == bb_names_find(planted->names, from) &&
            traffic->edges[e].receiver == bb_names_find(planted->names, to))
            return &traffic->edges[e];
    ck_abort_msg("no edge from %s to %s", from, to);
    return NULL;
}
