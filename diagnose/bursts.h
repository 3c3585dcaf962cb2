// SPDX-License-Identifier: Apache-2.0
// When marked events come together: stretches of a series of events in which far more are marked
// than in what is before and behind them. A stretch is the one of which chance would make so many
// least often (the scan statistic for a Poisson model: Kulldorff, Communications in Statistics 26,
// 1997); what lies before it and behind it is then looked at by itself.
//
// Only places in the series count, not times: that more happens at noon makes no burst of it.
#pragma once

#include <glib.h>

#define BB_BURSTS_LEAST 4u    // marked events of a burst
#define BB_BURSTS_CHANCE 1e-3 // of one burst or more in a series that has none, at most

typedef struct BbBurstEvent {
    guint64 place; // in the series, from 0
    gint64 start_ns;
} BbBurstEvent;

typedef struct BbBurst {
    guint64 events; // all of the stretch, marked or not
    guint32 marked;
    gint64 start_ns, end_ns; // of the first and the last marked event
} BbBurst;

// marked: by place, no two at the same; all of a series of `total` events. Cost: marked squared for
// each burst. Returns bursts in order of place; the caller unrefs.
GArray *bb_bursts_find(const BbBurstEvent *marked, guint32 n, guint64 total);

// How far the beginnings of bursts are apart, if always equally far to within a twentieth (up to
// four in a row may be missing); 0 if not, or if there are less than four.
gint64 bb_bursts_period(const GArray *bursts);
