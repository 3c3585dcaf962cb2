// SPDX-License-Identifier: Apache-2.0
// A scenario that runs. Every node that works on a message is a work; what it does at once are its
// strands, each of which walks along a list of steps. Both live in pools, are counted, and go back
// when they have ended. Inside data/ only.
#pragma once

#include "data/agenda.h"
#include "data/pool.h"
#include "data/scenario_form.h"

// 2001-09-09 01:46:40 UTC
#define BB_RUN_START_NS (G_GINT64_CONSTANT(1000000000) * 1000000000)

// A message that a script may refer to.
typedef struct BbStage {
    guint64 id, path, parent;
    guint32 sender, receiver, op;
} BbStage;

typedef struct BbLine BbLine;

typedef struct BbLoad {
    const BbTracelet *tracelet;
    guint64 begun;
    gint64 phase_ns; // time of all phases of on together
} BbLoad;

// One run of a tracelet's steps, with all that follows from it.
typedef struct BbRunInstance {
    BbLoad *load;
    BbStage *stages;
    guint32 refs;
} BbRunInstance;

typedef struct BbWork BbWork;
typedef struct BbStrand BbStrand;

// Who waits for a return, and what it says.
typedef struct BbDebt {
    guint64 id, path, parent;
    guint32 caller, op;
    BbStrand *waiter; // goes on if it still has the ticket
    guint64 ticket;
    BbWork *async; // counts it
    BbLine *pool;  // of its connection
} BbDebt;

// A call that is to be made, at once or when there is a connection for it.
typedef struct BbWant {
    BbWork *work; // whose it is; in line with a reference, where nobody waits for the return
    const BbStep *step;
    BbStrand *waiter; // goes on with the return if it still has the ticket
    guint64 ticket;   // 0: nobody waits
    guint64 path;
    guint32 sender, receiver;
    guint32 index; // of the receiver among those of the step
} BbWant;

struct BbWork {
    BbRunInstance *instance;
    const BbStep *body;
    guint64 id, path; // of the message that it is about; 0 for the client of an instance
    BbDebt debt;
    BbStrand *waiting; // for the returns of async calls
    BbLine *line;      // of its node
    guint64 conn;      // that the message came on, a hash; 0: none
    guint32 node, refs, depth;
    guint32 open; // async calls
    guint32 strands;
    bool owes, failed;
};

struct BbStrand {
    BbWork *work;
    BbStrand *join; // goes on when this and its like have ended
    BbStrand *next_waiting;
    const BbStep *step;  // the next one
    const BbStep *again; // repeat: from here
    guint64 left;        // repeat: so often
    guint64 ticket;      // of what it waits for; unique, 0 for nothing
    guint32 branches, tries;
    bool due; // the delay of the step is over
};

typedef enum {
    BB_RUN_NEXT,     // a load: a beginning, and when the next one is
    BB_RUN_BEGIN,    // a load: one instance
    BB_RUN_STRAND,   // a strand goes on
    BB_RUN_ARRIVE,   // a work begins
    BB_RUN_RETURNED, // a work's return is there
    BB_RUN_TIMEOUT,  // of a strand with that ticket
    BB_RUN_HEDGE,    // likewise
} BbRunEvent;

typedef struct BbRun {
    const BbScenario *scenario;
    BbScenarioOptions options;
    BbMessageSink sink;
    gpointer user;
    GError **error;
    bool failed;
    BbRandom random;
    BbAgenda *agenda;
    GArray *ready; // of BbEvent: what happens now
    guint ready_at;
    gint64 now_ns, end_ns;
    guint64 ids, paths, tickets, written, messages;
    guint silence;
    BbPool works, strands, instances, wants;
    BbLoad *loads;
    guint32 *turns; // round robin, by target
    BbLine *lines;  // of all limits
    guint32 hash_stem, ok;
} BbRun;

// ---- the run (scenario_run.c)

// Ends the run with an error.
void bb_run_fail(BbRun *run, const char *format, ...) G_GNUC_PRINTF(2, 3);
// Something happens after this time; at once, but behind what is to happen now already, if it is 0.
void bb_run_at(BbRun *run, gint64 delay_ns, BbRunEvent kind, gpointer object, guint64 ticket);
gint64 bb_run_sample(BbRun *run, const BbDelay *delay);

// Ends the run with an error where more is under way than may be.
void bb_run_check_under_way(BbRun *run);

// A node's work, with one reference that is the caller's.
BbWork *bb_work_new(BbRun *run, BbRunInstance *instance, guint32 depth);
void bb_work_unref(BbRun *run, BbWork *work);
// It is there, and its body begins when there is a worker for it; takes the reference.
void bb_work_arrive(BbRun *run, BbWork *work);
// The node has no more to do for it: its worker takes the next one.
void bb_work_end(BbRun *run, BbWork *work);

BbStrand *bb_strand_new(BbRun *run, BbWork *work, const BbStep *step);
void bb_strand_go_on(BbRun *run, BbStrand *strand);
// A strand goes on behind the step that it waited at, unless it did so before: then the ticket is
// another one, even if the strand ended and its memory is that of another.
void bb_strand_wake(BbRun *run, BbStrand *strand, guint64 ticket);

// ---- what steps do (scenario_action.c)

// Does the step that the strand is at. Returns whether the strand goes on at once.
bool bb_strand_act(BbRun *run, BbStrand *strand, const BbStep *step);
// The call of the step, as soon as there is a connection for it; once more, for a hedge.
void bb_strand_call(BbRun *run, BbStrand *strand, const BbStep *step);
// The caller has the return of a work.
void bb_work_returned(BbRun *run, BbWork *work);

// ---- who waits (scenario_line.c)

void bb_lines_init(BbRun *run);
void bb_lines_clear(BbRun *run);
// The line that a call gets into; of caller BB_NAME_NONE, a message that has arrived. NULL: there
// is no limit. conn: what it came on, which stays with one line; 0: it gets into any.
BbLine *bb_line_of(BbRun *run, guint32 caller, guint32 callee, guint64 conn);
// Returns whether there is a free one, which is taken; else somebody has to wait.
bool bb_line_take(BbLine *line);
void bb_line_wait(BbLine *line, gpointer who);
// One whose turn it was is done. Returns whose turn it is now, NULL if nobody waits.
gpointer bb_line_leave(BbLine *line);

// ---- when things begin (scenario_load.c)

void bb_load_start_all(BbRun *run);
void bb_load_next(BbRun *run, BbLoad *load);  // begins what is due, and says when the next one is
void bb_load_begin(BbRun *run, BbLoad *load); // one instance
