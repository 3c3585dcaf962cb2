// SPDX-License-Identifier: Apache-2.0
// The last calls of a dialog over UDP, answered or not: what is sent again then is no second call,
// and its second answer belongs to nothing.
#pragma once

#include "capture/dialog.h"

#define BB_RECENT_CALLS 16u // the oldest is forgotten
// Who waits for so long gives up (RFC 5080, 2.2.1): then it is another call.
#define BB_RECENT_NS (30 * G_GINT64_CONSTANT(1000000000))

typedef struct BbRecentCall {
    guint64 key, hash;
    gint64 time_ns;
} BbRecentCall;

// In the decoder's state; zeroed there are none.
typedef struct BbRecentCalls {
    BbRecentCall call[BB_RECENT_CALLS];
    guint32 calls; // ever
} BbRecentCalls;

// The open call of that key that part, a datagram, is sent for again (in direction `asked` itself)
// or answers; NULL if there is none. One that was not seen for BB_RECENT_NS is given up: its answer
// was not seen, and its key is another call's by now.
const BbOpenCall *bb_recent_calls_open(BbDialog *dialog, const BbPart *part, BbDirection asked,
                                       guint64 key);

// Whether a call of that key and hash was sent in this direction a little while ago; if not it is
// now. Hash: of what is the same where it is sent again, and nowhere else.
bool bb_recent_calls_sent_again(BbRecentCalls *recent, const BbPart *call, guint64 key,
                                guint64 hash);
// Whether nobody waits for an answer to that key (bb_dialog_find), but somebody did a little while
// ago.
bool bb_recent_calls_answered_again(const BbRecentCalls *recent, BbDialog *dialog,
                                    const BbPart *reply, guint64 key);
