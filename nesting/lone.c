// SPDX-License-Identifier: Apache-2.0
// In: which children have no parent. Out: how likely that is.
#include "nesting/lone.h"

#include <math.h>
#include <string.h>

#define LEAST 0.5 // imagined calls without parent

// Of calls that are caused by others, where single links are guesses: a wrong guess is little
// likelier than no parent, and the more have none the likelier that seems.
#define CAUSED_MOST 0.03

// Nor are there more of them in a quantum. Where stamps are so coarse that many calls share one, a
// likelihood of that says nothing, and of a gap next to nothing.
#define CAUSED_DENSITY 0.1

BbLone *bb_lone_new(guint nc)
{
    BbLone *lone = g_new(BbLone, 1);
    *lone =
        (BbLone){nc, g_new0(double, nc), g_new0(double, nc), g_new0(bool, nc), g_new0(float, nc)};
    return lone;
}

void bb_lone_free(BbLone *lone)
{
    if (!lone)
        return;
    g_free(lone->called);
    g_free(lone->alone);
    g_free(lone->is_caused);
    g_free(lone->log);
    g_free(lone);
}

void bb_lone_reset(BbLone *lone)
{
    memset(lone->called, 0, lone->nc * sizeof *lone->called);
    memset(lone->alone, 0, lone->nc * sizeof *lone->alone);
}

void bb_lone_fit(BbLone *lone, double span)
{
    for (guint c = 0; c < lone->nc; c++) {
        double most = (lone->is_caused[c] ? CAUSED_MOST : 1) * lone->called[c];
        double density = (MIN(lone->alone[c], most) + LEAST) / span;
        lone->log[c] = (float)log(lone->is_caused[c] ? MIN(density, CAUSED_DENSITY) : density);
    }
}

void bb_lone_expect(BbLone *lone, const bool *is_caused, double span)
{
    memcpy(lone->is_caused, is_caused, lone->nc * sizeof *is_caused);
    for (guint c = 0; c < lone->nc; c++)
        lone->log[c] = (float)log(LEAST / span);
}
