// SPDX-License-Identifier: Apache-2.0
// What loss leaves unknown of the calls that are answered in order: how many replies may still come
// that belong to no open call, because their requests were lost, or because nobody knows whether
// the reply itself was. As long as there may be one, a new call could be given another's reply: it
// is ambiguous, and written without a return.
//
// Known is the most that can be due, and the least. Whoever waits for all replies before it asks
// more, be it one call at a time or many together, shows by asking that nothing is due, if it has
// got more than the replies that are accounted for. Whoever asks more as each reply comes (it
// rolls) does not: TCP's numbers look the same whether one reply more is due or not. There only the
// replies that come bring the most down to 0, or a silence does, that began when the callee had all
// that was lost, or several shorter ones: if a reply had been due in each of them, it would have
// waited each time for the next request, and then come much sooner than it took before. Missing
// bytes need not have been a request: they are due for sure only when the caller asks more without
// having got anything since. And one who was never seen to ask ahead, and takes turns for
// BB_DOUBT_TURNS calls, is taken for one that waits, whatever was thought due.
//
// Limits: who rolls is told by what was seen, so a caller that begins to just where several of its
// packets are lost is taken for one that waits. Of a hole in the replies one is taken to be lost:
// if it was more, a silence is waited for. Part of the dialog (capture/dialog.h).
#pragma once

#include "capture/dialog_state.h"

// A silence after which nothing is due any more, as long as replies do not take so long.
#define BB_DOUBT_SILENCE_NS G_GINT64_CONSTANT(1000000000)
#define BB_DOUBT_SILENCE_TIMES 4 // nor less than so many times the slowest reply
// So many of these do, too. Each is longer than an acknowledgement is delayed, which a reply may
// wait for (Nagle's algorithm).
#define BB_DOUBT_REST_NS G_GINT64_CONSTANT(250000000)
#define BB_DOUBT_RESTS 8u
#define BB_DOUBT_HABIT 16u       // calls that were asked in one manner, and it is believed
#define BB_DOUBT_TURNS 32u       // that end doubt in one who was never seen to ask ahead
#define BB_DOUBT_MOST (1u << 30) // replies

// What is known of a dialog is kept from its second call on, or its first loss: many connections
// have but one call.
void bb_doubt_free(BbDoubt *doubt);

// A message of part's direction was seen. accounted: it is no reply to a request that was lost.
void bb_doubt_seen(BbDialog *dialog, const BbPart *part, bool accounted);
// A request of a call that is answered in order is about to be opened: whether a reply may come
// first that is not its own. waits: another call was open, for all the caller knew.
bool bb_doubt_request(BbDialog *dialog, const BbPart *request, bool waits);
// It is opened as one that is ambiguous. answered: maybe its reply was missing.
void bb_doubt_ambiguous(BbDialog *dialog, const BbPart *request, bool answered);
// It is complete.
void bb_doubt_sent(BbDialog *dialog, const BbOpenEntry *entry);
// It is a message that nobody answers after all.
void bb_doubt_unasked(BbDialog *dialog, const BbOpenEntry *entry);
// A reply came that no open call was waiting for.
void bb_doubt_reply(BbDialog *dialog, const BbPart *reply);
// Replies to what side asked, at most, that may come and belong to no open call.
guint32 bb_doubt_due(const BbDialog *dialog, guint side);
// An open call has its reply.
void bb_doubt_answered(BbDialog *dialog, const BbOpenEntry *entry, const BbPart *reply);
// Bytes of side before seq are missing (hole) or were passed over unread. given_up: calls of the
// other side whose reply may have been among them.
void bb_doubt_lost(BbDialog *dialog, guint side, guint64 seq, bool hole, guint32 given_up);
