// SPDX-License-Identifier: Apache-2.0
// In: facts of parts of a trace. Out: those of the whole.
#include "data/facts.h"

void bb_facts_add(BbFacts *sum, const BbFacts *part)
{
    sum->messages += part->messages;
    sum->free_messages += part->free_messages;
    sum->calls += part->calls;
    sum->calls_unreturned += part->calls_unreturned;
    sum->calls_unanswered += part->calls_unanswered;
    sum->calls_late += part->calls_late;
    sum->returns_orphaned += part->returns_orphaned;
    sum->forwarded += part->forwarded;
    sum->deep_calls += part->deep_calls;
    sum->children += part->children;
    sum->candidates += part->candidates;
    sum->unrelated += part->unrelated;
    sum->quantum_ns = MAX(sum->quantum_ns, part->quantum_ns);
    sum->in_quantum = MAX(sum->in_quantum, part->in_quantum);
    if (part->start_ns == BB_TIME_NONE)
        return;
    if (sum->start_ns == BB_TIME_NONE || part->start_ns < sum->start_ns)
        sum->start_ns = part->start_ns;
    sum->end_ns = MAX(sum->end_ns, part->end_ns); // BB_TIME_NONE is the least
}
