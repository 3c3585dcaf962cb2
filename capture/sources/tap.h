// SPDX-License-Identifier: Apache-2.0
// One interface that is listened to, through libpcap and its ring shared with the kernel
// (TPACKET_V3). Only capture/sources/source_live.c includes this header.
#pragma once

#include "capture/sources/source.h"

typedef struct BbTap BbTap;

// How long the kernel may hold back a block of its ring that is not full.
#define BB_TAP_BLOCK_MS 100

typedef enum {
    BB_TAP_FRAME, // *frame is filled, lent until the next call for this tap
    BB_TAP_EMPTY, // nothing is there now
    BB_TAP_GONE,  // the interface is no more, and nothing more will come
} BbTapStatus;

typedef enum {
    BB_TAP_UP,
    BB_TAP_DOWN,    // its socket goes on when it is up again
    BB_TAP_DEAF,    // up without carrier: no cable, or the other end is down; likewise
    BB_TAP_REMOVED, // its socket is dead: bb_tap_next gives what is left, then BB_TAP_GONE
    BB_TAP_UNKNOWN, // all interfaces at once, or nobody may ask
} BbTapState;

// Fails as bb_source_open says. warnings gets texts to print.
BbTap *bb_tap_open(const BbSourceOptions *options, const char *interface, GQueue *warnings,
                   GError **error);
void bb_tap_free(BbTap *tap);

// Does not wait.
BbTapStatus bb_tap_next(BbTap *tap, BbFrame *frame);
// Asks the kernel (netdevice(7)).
BbTapState bb_tap_state(BbTap *tap);
// Why it is gone, in libpcap's words; NULL while all is well. Lent.
const char *bb_tap_failure(const BbTap *tap);
// To poll; -1 after a failure, when the descriptor has no more to tell.
int bb_tap_descriptor(const BbTap *tap);
// Adds what the kernel counted since the last call: received, dropped, dropped by the interface.
void bb_tap_count(BbTap *tap, BbLoss *loss);
// Whether that should be done now, long before counters of 32 bits wrap.
bool bb_tap_count_is_due(const BbTap *tap);
// Has the kernel let through no more than bb_source_narrow says, of BbAddress. Returns false, with
// the reason in error, where it cannot: then it lets through what passes the filter of the options.
bool bb_tap_narrow(BbTap *tap, const BbSourceOptions *options, const GArray *addresses,
                   GError **error);
// What makes the time stamps: "time stamps of the host clock (host), in nanoseconds". Lent.
const char *bb_tap_stamps(const BbTap *tap);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(BbTap, bb_tap_free)
