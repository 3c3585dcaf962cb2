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
    gint64 back_ns;            // until when the caller waited, likewise; of a message, call_ns
    gint64 arrived_ns;         // at the callee, on its clock
    gint64 left_ns; // when the callee was done, likewise, not before arrived_ns: it returned, or
                    // its caller went on; of a message, it sent the last that this one caused
    BbId id;        // bb_unique_ids_absent where the trace has none
    guint32 caller, callee, op, status, proto; // names
    guint32 parent;                            // place in the instance; BB_CALL_NO_PARENT
    float confidence;                          // BB_CONFIDENCE_NONE where not estimated
} BbInstanceCall;

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

typedef struct BbInstanceForm {
    const char *name;
    const char *about; // one line for --help
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
