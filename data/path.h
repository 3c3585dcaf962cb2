// SPDX-License-Identifier: Apache-2.0
// What an inference publishes of a window of time (or of a whole trace): calls, each with its
// parent, and the path instances (trees) they form. Over all windows of a trace every call is
// published exactly once.
#pragma once

#include "data/call.h"
#include "data/facts.h"
#include "data/roles.h"

#define BB_CONFIDENCE_NONE (-1.0f)

// One path instance: calls[first .. first + count) of BbPaths.order, the root first, each call
// after its parent.
typedef struct BbInstance {
    guint32 first, count;
    guint32 pattern; // index into BbPatterns.patterns once the census has counted it;
                     // BB_PATTERN_NONE before, and for a root without return
    guint32 place;   // among the instances of the window: number - paths->instances_before - 1
} BbInstance;

#define BB_PATTERN_NONE G_MAXUINT32

// One of the delays that a node has between a message it gets on one edge and one it sends on
// another (convolution: a spike).
typedef struct BbMode {
    gint64 delay_ns;  // its centre
    gint64 spread_ns; // standard deviation
} BbMode;

#define BB_MODE_NONE G_MAXUINT32

// Messages that i -> j and j -> k have in common by chance or by way of other paths: a spike that
// other pairs explain (paper, section 5.2.3, "derived" paths).
typedef struct BbDerived {
    guint32 from, via, to; // nodes
    guint64 count;         // messages of the spike beyond what chance brings
    gint64 delay_ns, spread_ns;
} BbDerived;

// Levels of calls in one instance. A deeper chain (nothing but damage or malice makes one) is cut:
// what is below is an instance of its own. So whoever walks a pattern may do it by recursion.
#define BB_PATHS_DEPTH_MAX 512u

// What a late call (data/call.h) had of a return, before that was none to its caller: for a later
// window, which finds that anew.
typedef struct BbLate {
    guint32 call;
    gint64 return_ns, return_end_ns;
} BbLate;

// A call that was taken to be the one that a return ends, of several that fitted as well
// (nesting/forwarding.h).
typedef struct BbToss {
    guint32 call;
    float share; // of the others and it
} BbToss;

// Of a call to a node for which its caller has a pool of connections, or of workers, that is used
// up at times: who finds none free waits, and makes no call meanwhile.
typedef struct BbPoolWait {
    guint32 limit; // calls that are under way at once; 0: no such pool is known
    float share;   // probability that the call waited
    gint64 ns;     // expected time that it did
} BbPoolWait;

// Of a call to a node that works on so many at once, and no more: others wait for their turn, and
// seem to be worked on.
typedef struct BbWorkerWait {
    guint32 limit; // calls worked on at once; 0: no such limit is known
    guint32 lines; // so many in each of these, by connection; 0: all calls stand in one
    bool by_op;    // of its operation only, which calls for others do not wait for
    bool keep;     // who works on them keeps an outgoing connection (nesting/keepers.h)
    gint64 ns;     // that the call waited
} BbWorkerWait;

typedef struct BbPaths {
    BbCall *calls;     // all calls with or without return, in order of call_ns
    guint32 *parent;   // index of the parent, BB_CALL_NO_PARENT for roots
    float *confidence; // of the choice of parent; BB_CONFIDENCE_NONE where not estimated
    float *whole;      // probability that a call lacks none of those it made, if those it is given
                       // are its own; NULL where not estimated
    BbPoolWait *pool_wait;     // by call; NULL where none is known to have waited
    BbWorkerWait *worker_wait; // likewise
    GArray *late;              // of BbLate, until calls are taken out; NULL: there are none
    GArray *tosses;            // of BbToss, until parents are found; NULL: there are none
    guint16 *level;            // 1 for roots
    guint32 *shape;   // equal for equal subtrees of a window; equal in two windows of a run only
                      // for equal subtrees. Meaningless for a root without return
    guint64 *self_ns; // time in which the callee waited for none of its calls; of a call without
                      // return, until its caller went on
    guint32 n_calls;
    guint32 *order;        // call indices grouped by instance; kids of a call by shape, then time
    BbInstance *instances; // in order of the root's start. A selection takes some out
    guint32 n_instances;
    guint64 instances_before; // published by earlier windows. Instances are numbered from 1
    gint64 from_ns, to_ns;    // the window: roots begin in [from, to), but for late ones; to is the
                              // last time seen where there is no later window
    // Of convolution, where every message is a call without return; NULL with nesting.
    guint32 *mode;   // by call: index into modes of the delay after its parent; BB_MODE_NONE of
                     // roots
    float *onward;   // by call: expected number of messages that it caused, whoever got them
    BbMode *modes;   // of all pairs of edges
    GArray *derived; // of BbDerived, by falling count; empty unless asked for
    guint32 n_modes;
    BbRoles *roles; // that stand for nodes; lent, NULL where each node counts as itself
    BbFacts facts;  // of this window
} BbPaths;

BbPaths *bb_paths_new(void);
void bb_paths_free(BbPaths *paths);

void bb_paths_note_late(BbPaths *paths, BbLate late); // and counts it

// The number of an instance in the whole run, from 1. A selection does not change it.
static inline guint64 bb_instance_number(const BbPaths *paths, const BbInstance *instance)
{
    return paths->instances_before + instance->place + 1;
}

// What a node counts as where patterns are counted and findings made: itself, or its role. Calls
// have the nodes themselves.
static inline guint32 bb_paths_node(const BbPaths *paths, guint32 node)
{
    return paths->roles ? bb_roles_of(paths->roles, node) : node;
}
// Whether that is what several nodes count as, or those of a file.
static inline bool bb_paths_is_role(const BbPaths *paths, guint32 node)
{
    return paths->roles && bb_roles_is_role(paths->roles, node);
}

// How long a call waited for its turn at the callee, and its caller for a pool before it; of a
// pool, where it is likelier than not that it did.
static inline gint64 bb_paths_turn_ns(const BbPaths *paths, guint32 call)
{
    return paths->worker_wait ? paths->worker_wait[call].ns : 0;
}
static inline gint64 bb_paths_pool_ns(const BbPaths *paths, guint32 call)
{
    return paths->pool_wait && paths->pool_wait[call].share >= 0.5F ? paths->pool_wait[call].ns : 0;
}

// Sum of confidences, which are all there or none is: one that lacks makes it unknown.
static inline double bb_confidence_add(double sum, double confidence)
{
    return sum < 0 || confidence < 0 ? (double)BB_CONFIDENCE_NONE : sum + confidence;
}
// The expected share that is wrong of so many, of which `right` are expected to be right; less than
// 0 where that is not known.
static inline double bb_confidence_wrong(double right, guint64 count)
{
    return right < 0 || count == 0 ? -1 : CLAMP(1 - right / (double)count, 0, 1);
}

// Probability that an instance has neither a wrong link nor lacks one; BB_CONFIDENCE_NONE where it
// is not estimated.
double bb_instance_right(const BbPaths *paths, const BbInstance *instance);

// How long an instance takes: from the entry into the root's callee until its return leaves (or its
// last byte does); BB_TIME_NONE without return. Of convolution: from when the first message is sent
// until the last one arrives.
gint64 bb_instance_latency(const BbPaths *paths, const BbInstance *instance, bool last_byte);

// Takes out the instances whose calls are marked, all of them or none, and the calls with them.
void bb_paths_take_out(BbPaths *paths, const guint8 *gone);

// Calls of which it was not estimated how sure their parent, or that they have none, is.
guint32 bb_paths_count_unknown(const BbPaths *paths);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(BbPaths, bb_paths_free)
