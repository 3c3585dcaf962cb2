// SPDX-License-Identifier: Apache-2.0
// Forms in which path instances are written: what each is given, and the table that options and
// --help go by.
#pragma once

#include "data/json.h"
#include "data/message.h"
#include "viz/unique_ids.h"

// A call of an instance; with convolution, a message.
typedef struct BbInstanceCall {
    gint64 call_ns, return_ns; // on the caller's clock; BB_TIME_NONE without return
    BbId id;                   // bb_unique_ids_absent where the trace has none
    guint32 caller, callee;    // names, as op, status and proto
    guint32 parent;            // place in the instance; BB_CALL_NO_PARENT
    float confidence;          // BB_CONFIDENCE_NONE where not estimated
    // From here on only for forms that ask for them.
    gint64 back_ns;    // until when the caller waited, on its clock; of a message, call_ns
    gint64 arrived_ns; // at the callee, on its clock
    gint64 left_ns;    // when the callee was done, likewise, not before arrived_ns: it returned, or
                       // its caller went on; of a message, it sent the last that this one caused
    gint64 turn_ns, pool_ns; // waited for its turn at the callee; for a pool, before it was made
    guint32 op, status, proto;
} BbInstanceCall;

// What is put aside of a call for a form: the first members, or all.
#define BB_INSTANCE_CALL_LINKS offsetof(BbInstanceCall, back_ns)
#define BB_INSTANCE_CALL_WHOLE sizeof(BbInstanceCall)

// An instance as a form gets it. Everything is lent.
typedef struct BbInstanceView {
    const BbNames *names;
    guint64 number;              // in the run, from 1
    guint32 rank;                // of its pattern; 0: it has none
    bool messages;               // its calls are messages
    const BbInstanceCall *calls; // the root's first, each after its parent
    guint count;
    const BbUniqueIds *ids;
    const guint64 *uses; // of their ids, by calls
} BbInstanceView;

// Sets text to the identifier of a call, unique in the output; percent-encoded as in a text trace
// where it is not UTF-8 (U+FFFD for every bad byte would make different ids the same).
void bb_instance_set_id(const BbInstanceView *view, guint place, GString *text);

// What a call is called: its operation, else its callee; and a node. Lent; "?" for nothing.
const char *bb_instance_title(const BbNames *names, const BbInstanceCall *call);
const char *bb_instance_node(const BbNames *names, guint32 node);

typedef struct BbInstanceForm {
    const char *name;
    const char *about; // one line for --help
    gsize kept;        // bytes of a call that it looks at: BB_INSTANCE_CALL_...
    // begin makes the state of a run, which write gets, and end writes the rest and frees. json is
    // lent; start_ns is when the trace begins, BB_TIME_NONE if nothing is in it.
    gpointer (*begin)(BbJson *json, gint64 start_ns);
    void (*write)(gpointer state, const BbInstanceView *view);
    void (*end)(gpointer state);
} BbInstanceForm;

// All forms, the default one first, NULL behind the last. Lent.
extern const BbInstanceForm *const bb_instance_forms[];
// By name; NULL if there is none. Lent.
const BbInstanceForm *bb_instance_form_find(const char *name);

extern const BbInstanceForm bb_instance_form_jsonl;
extern const BbInstanceForm bb_instance_form_otlp;
extern const BbInstanceForm bb_instance_form_chrome;
