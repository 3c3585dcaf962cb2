// SPDX-License-Identifier: Apache-2.0
// How likely a call of each type is to have no parent: its own was lost, or nobody made it but a
// timer.
#pragma once

#include <glib.h>
#include <stdbool.h>

typedef struct BbLone {
    guint nc;               // types of children
    double *called, *alone; // [c]: children seen; those without parent
    bool *is_caused;        // [c]: hardly any has no parent
    float *log;             // [c]: log density of one without, per quantum
} BbLone;

BbLone *bb_lone_new(guint nc);
void bb_lone_free(BbLone *lone);

void bb_lone_reset(BbLone *lone);

static inline void bb_lone_add(BbLone *lone, guint c, bool alone, double weight)
{
    lone->called[c] += weight;
    lone->alone[c] += alone ? weight : 0;
}

// Fills log from what was seen. span: of the trace, in quanta.
void bb_lone_fit(BbLone *lone, double span);

// Before anything was seen: half a call in all the time. is_caused ([c]) holds from here on.
void bb_lone_expect(BbLone *lone, const bool *is_caused, double span);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(BbLone, bb_lone_free)
