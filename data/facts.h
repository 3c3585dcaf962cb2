// SPDX-License-Identifier: Apache-2.0
// What is known of the messages an inference was made from. Facts of parts of a trace add up.
#pragma once

#include "data/message.h"

typedef struct BbFacts {
    guint64 messages;         // read, of every kind
    guint64 free_messages;    // neither call nor return
    guint64 calls;            // with or without return
    guint64 calls_unreturned; // calls without return
    guint64 calls_unanswered; // of them, those that have a parent: they are in path instances
    guint64 calls_late;       // calls that returned when their caller had gone on
    guint64 returns_orphaned; // returns without call
    guint64 forwarded;        // returns that came from another node than was called, but belong to
                              // calls all the same (chains of calls that were passed on)
    guint64 deep_calls;       // calls that became roots because of BB_PATHS_DEPTH_MAX
    guint64 children;         // calls with at least one candidate parent, and how many candidates
    guint64 candidates;       // they have in all: candidates / children is the parallelism
    guint64 unrelated;        // messages of convolution that begin paths, rightly or not, as
                              // nothing that their senders got correlates with them
    gint64 quantum_ns;        // unit of stamps, where a node makes several calls in one; else 0
    double in_quantum;        // so many, of the node that makes most
    gint64 start_ns, end_ns;  // first and last time seen; BB_TIME_NONE if empty
} BbFacts;

#define BB_FACTS_EMPTY ((BbFacts){.start_ns = BB_TIME_NONE, .end_ns = BB_TIME_NONE})

// Adds part to sum.
void bb_facts_add(BbFacts *sum, const BbFacts *part);
