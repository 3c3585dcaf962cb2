// SPDX-License-Identifier: Apache-2.0
// The snapshots of a flight recorder: when they are due, which are suppressed, how many are kept.
// Time is that of the messages. Live, they are written in a thread of their own; of files the
// caller waits, so that what is in them is the same each time.
//
// Each cause has at most one snapshot that waits for its time: what asks for another joins it, or,
// of a trigger, is counted as suppressed; also for a pause after one was taken. It waits, too,
// until the one before it of its cause is written and its result taken. So there are at most two
// for each cause, one that waits and one that is written.
#pragma once

#include "cli/recorder_options.h"
#include "data/network.h"

typedef struct BbSnapshots BbSnapshots;

typedef struct BbSnapshotsSetup {
    const char *folder; // where they are written; lent, as is ring, the file they are taken of
    const char *ring;
    const BbRecorderOptions *options; // after, pause, keep; lent
    const BbNames *names;             // of the network; lent
    bool in_thread;
    // Asked in the caller's thread when a snapshot is due: what was counted so far, and what TCP
    // told of the network (lent, may be NULL).
    void (*totals)(gpointer user, BbCounters *counters, const BbNetwork **network);
    // Likewise notes of each snapshot are added (of char *, taken over); or NULL.
    void (*notes)(gpointer user, GPtrArray *notes);
    gpointer user;
} BbSnapshotsSetup;

BbSnapshots *bb_snapshots_new(const BbSnapshotsSetup *setup);
// Waits for the thread. What is not yet due is not written: see finish.
void bb_snapshots_free(BbSnapshots *snapshots);

// Adds a cause, of which slug becomes part of the file's name; pauses says that it is suppressed
// for a while after each snapshot. Returns its number, from 0.
guint bb_snapshots_add(BbSnapshots *snapshots, const char *text, bool pauses);

// A cause has come up at time_ns; what (may be NULL) says more. ticket (0: none) is handed back
// when the snapshot is written. Returns false where it was suppressed: then there is no ticket.
bool bb_snapshots_fire(BbSnapshots *snapshots, guint cause, gint64 time_ns, const char *what,
                       guint ticket);

// Time has come to now_ns: takes what is due.
void bb_snapshots_tick(BbSnapshots *snapshots, gint64 now_ns);
// There will be no more time: takes all that waits, and waits until all are written.
void bb_snapshots_finish(BbSnapshots *snapshots);

// What became of one, in the order in which they were written.
typedef struct BbSnapshotResult {
    guint cause;
    char *path, *what;
    guint64 messages;
    char *damage, *error; // NULL: none
    GArray *tickets;      // of guint
} BbSnapshotResult;
// Returns NULL where nothing new was written. The result is yours.
BbSnapshotResult *bb_snapshots_next(BbSnapshots *snapshots);
void bb_snapshot_result_free(BbSnapshotResult *result);

guint64 bb_snapshots_suppressed(const BbSnapshots *snapshots); // of all causes
guint bb_snapshots_taken(const BbSnapshots *snapshots);        // and written, by the results so far
guint bb_snapshots_deleted(const BbSnapshots *snapshots);      // by the limit; after finish

G_DEFINE_AUTOPTR_CLEANUP_FUNC(BbSnapshots, bb_snapshots_free)
G_DEFINE_AUTOPTR_CLEANUP_FUNC(BbSnapshotResult, bb_snapshot_result_free)
