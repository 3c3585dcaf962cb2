// SPDX-License-Identifier: Apache-2.0
// The stamps that a switch puts into ERSPAN type III, brought to the sniffer's clock: the switch
// counts since some moment of its own, and the frame takes a while to the sniffer. The smallest
// difference of the last seconds is taken for the offset, so that what is left of the time
// between two frames is the switch's. Used where the sniffer's own stamps are whole microseconds.
#pragma once

#include "data/address.h"

#define BB_ERSPAN_SESSIONS 64u // mirror sessions whose clocks are kept; others keep the sniffer's

typedef struct BbErspanClocks BbErspanClocks;

BbErspanClocks *bb_erspan_clocks_new(void);
void bb_erspan_clocks_free(BbErspanClocks *clocks);

// granularity: as in the header: 1 counts 100 ns, 2 nanoseconds of a second (IEEE 1588); of others
// the stamp is not finer than arrival_ns. Returns the time of the frame in the sniffer's clock: at
// most arrival_ns.
gint64 bb_erspan_clock_read(BbErspanClocks *clocks, const BbAddress *exporter, guint16 session,
                            guint granularity, guint32 stamp, gint64 arrival_ns);
