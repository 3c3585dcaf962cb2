// SPDX-License-Identifier: Apache-2.0
// A scenario taken apart: what data/scenario_run.c walks along. Inside data/ only.
#pragma once

#include "data/delay.h"
#include "data/scenario.h"
#include "data/tally.h"

typedef struct BbStep BbStep;

typedef enum { BB_PICK_RANDOM, BB_PICK_ROUND_ROBIN, BB_PICK_BY_PATH } BbPick;

// One node, or replicas of which one is picked for each message.
typedef struct BbTarget {
    guint32 name;
    guint32 index; // among the targets of the scenario
    BbPick pick;
    guint count;
    guint32 *nodes;
    double *shares; // cumulated; the last one is 1
} BbTarget;

typedef enum {
    BB_STEP_CALL,          // and wait for the return
    BB_STEP_ASYNC,         // call and go on
    BB_STEP_SEND,          // a free-form message
    BB_STEP_FORWARD,       // hand the call on: the next node returns it
    BB_STEP_REPLY,         // send the return
    BB_STEP_FAIL,          // and do no more
    BB_STEP_PAUSE,         // nothing
    BB_STEP_WAIT,          // for the returns of async calls
    BB_STEP_PARALLEL,      // branches at once, on when all have ended
    BB_STEP_CHOOSE,        // one of the branches
    BB_STEP_REPEAT,        // branches[0], from..to times
    BB_STEP_SCRIPT_CALL,   // messages of a script: see label, of
    BB_STEP_SCRIPT_SEND,   //
    BB_STEP_SCRIPT_RETURN, //
} BbStepKind;

#define BB_NO_LABEL G_MAXUINT32

struct BbStep {
    BbStepKind kind;
    guint line;
    BbStep *next;  // NULL at the end of the branch
    double chance; // that it happens at all
    BbDelay after;
    gint64 every_ns; // then it waits for a multiple of this; 0 is none
    // Messages.
    BbTarget *from; // roots; NULL is the node that the steps are those of
    BbTarget *to;
    guint32 op, status;
    BbStep *body;    // what the receiver does, where the step says so itself
    BbStep **bodies; // else what each node of to does. Lent by the scenario
    double lost;     // that it never arrives
    bool has_timeout, has_hedge;
    BbDelay timeout, hedge;
    guint32 retries;
    guint32 label, of; // script: what it is, what it is part of
    // Branches.
    guint n_branches;
    BbStep **branches;
    double *shares; // choose: cumulated up to at most 1
    guint64 from_times, to_times;
};

// So many at once, of the messages that a node works on, or of the calls of one node to another;
// the others wait for their turn.
typedef struct BbLimit {
    guint32 each;
    guint32 lines; // each of these has so many; one gets into any
    guint32 first; // its lines, among all of the scenario
} BbLimit;

typedef struct BbTracelet {
    guint32 name;
    guint line;
    double rate;                  // beginnings a second; 0 with clients
    bool regular;                 // the same time between all, else a Poisson process
    gint64 on_ns, off_ns;         // it begins only within on; 0 is always
    double swing;                 // the rate goes up and down by this share
    gint64 swing_ns;              // in such a time
    guint64 burst_from, burst_to; // so many begin at once
    BbDelay spread;               // or this much later
    guint32 clients;              // instances under way, 0 with a rate
    BbDelay think;                // between the end of one and the next
    guint64 times;                // instances in all, 0 for no end
    guint32 labels;               // of its script
    BbStep *steps;
} BbTracelet;

struct BbScenario {
    BbNames *names; // lent
    char *file;
    gint64 duration_ns;
    guint64 messages; // 0 is no limit
    gint64 resolution_ns;
    BbDelay network;
    GPtrArray *targets;   // of BbTarget
    GPtrArray *steps;     // of BbStep: all of them
    GPtrArray *bodies;    // of arrays of BbStep *
    GPtrArray *tracelets; // of BbTracelet
    GArray *limits;       // of BbLimit
    BbTally limit;        // (caller, callee) -> its number from 1; of a node: (BB_NAME_NONE, node)
    guint32 lines;
};
