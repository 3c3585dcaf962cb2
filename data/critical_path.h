// SPDX-License-Identifier: Apache-2.0
// The critical path of a path instance: who is waited for (Yang and Miller, ICDCS 1988). Every
// nanosecond of the root call's latency is charged to exactly one call: to the callee's own work,
// or to the wire between caller and callee.
//
// Walking back from the end of a call, its callee works itself down to the latest return of one of
// its calls; then that call is waited for, down to its start; and so on. A call that is not walked
// through was not waited for: it has slack.
// Where a call had no return, its caller went on at some time: until then it was waited for, and so
// was what its callee had not got back by then.
#pragma once

#include "data/path.h"

typedef struct BbCritical {
    gint64 self_ns;  // of the callee's own time, how much is on the critical path
    gint64 gap_ns;   // of the caller's self_ns, what it did directly before it made this call
    gint64 wire_ns;  // on the way from caller to callee and back; 0 with one sighting a message
    gint64 turn_ns;  // of self_ns, that the call waited for its turn at the callee
    gint64 begun_ns; // of gap_ns, that the caller waited for its own turn (part of its turn_ns)
    gint64 pool_ns;  // of gap_ns, that the caller waited for a pool
    gint64 rest_ns; // of the caller's self_ns, from the first byte of the return to the last, where
                    // it did not go on before; 0 where calls last until then
    gint64 slack_ns; // how much later the return could have come without delaying the parent;
                     // 0 for calls on the path
    bool on_path;
} BbCritical;

typedef struct BbCriticalPath BbCriticalPath; // scratch, reused from one instance to the next

BbCriticalPath *bb_critical_path_new(bool last_byte);
void bb_critical_path_free(BbCriticalPath *path);

// The charge of each call of an instance, in the order of its calls (paths->order); lent until the
// next one. The root must have returned. Sum of self_ns + wire_ns = the root call's latency at its
// callee (never negative: times out of order on skewed clocks are cut to the parent's).
const BbCritical *bb_critical_path_find(BbCriticalPath *path, const BbPaths *paths,
                                        const BbInstance *instance);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(BbCriticalPath, bb_critical_path_free)
