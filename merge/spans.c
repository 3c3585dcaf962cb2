// SPDX-License-Identifier: Apache-2.0
// In: spans of any traces, in any order. Out: trace by trace, their messages.
#include "merge/spans.h"

#include "data/keys.h"
#include "merge/span_trace.h"

G_STATIC_ASSERT(sizeof(BbSpan) <= 88); // as BB_SPANS_MAX says

typedef struct Waiting {
    BbId trace;
    GArray *spans; // of BbSpan
    GList link;    // in BbSpans.order
} Waiting;

struct BbSpans {
    const BbImport *import;
    GHashTable *traces; // BbId of a Waiting -> it
    GQueue order;       // of Waiting: the longest without a new span first
    guint32 most, count;
};

static void free_waiting(gpointer data)
{
    Waiting *waiting = data;
    g_array_unref(waiting->spans);
    g_free(waiting);
}

BbSpans *bb_spans_new(const BbImport *import, guint32 most)
{
    BbSpans *spans = g_new0(BbSpans, 1);
    g_assert(most > 0);
    spans->import = import;
    spans->most = most;
    spans->traces = g_hash_table_new_full(bb_id_key_hash, bb_id_key_equal, NULL, free_waiting);
    g_queue_init(&spans->order);
    return spans;
}

void bb_spans_free(BbSpans *spans)
{
    if (!spans)
        return;
    g_hash_table_unref(spans->traces);
    g_free(spans);
}

static void count(const BbSpans *spans, const char *name)
{
    bb_counters_add(spans->import->counters, name, 1);
}

static bool give_first(BbSpans *spans, GError **error)
{
    Waiting *waiting = g_queue_peek_head(&spans->order);
    bool good = bb_span_trace_give(spans->import, &g_array_index(waiting->spans, BbSpan, 0),
                                   waiting->spans->len, error);
    spans->count -= waiting->spans->len;
    g_queue_unlink(&spans->order, &waiting->link);
    g_hash_table_remove(spans->traces, &waiting->trace);
    return good;
}

// The trace's place, at the end of the order.
static Waiting *waiting_of(BbSpans *spans, BbId trace)
{
    Waiting *waiting = g_hash_table_lookup(spans->traces, &trace);
    if (waiting) {
        g_queue_unlink(&spans->order, &waiting->link);
    } else {
        waiting = g_new0(Waiting, 1);
        waiting->trace = trace;
        waiting->spans = g_array_new(FALSE, FALSE, sizeof(BbSpan));
        waiting->link.data = waiting;
        g_hash_table_insert(spans->traces, &waiting->trace, waiting);
    }
    g_queue_push_tail_link(&spans->order, &waiting->link);
    return waiting;
}

// Takes away what cannot be; what is left still tells what caused what.
static BbSpan check(const BbSpans *spans, BbSpan span)
{
    if (span.service == BB_NAME_NONE)
        count(spans, "spans_no_service");
    if (span.start_ns == BB_TIME_NONE) {
        count(spans, "spans_no_time");
        span.end_ns = BB_TIME_NONE;
    } else if (span.end_ns != BB_TIME_NONE && span.end_ns < span.start_ns) {
        count(spans, "spans_backwards");
        span.start_ns = span.end_ns = BB_TIME_NONE;
    }
    return span;
}

bool bb_spans_add(BbSpans *spans, const BbSpan *span, GError **error)
{
    count(spans, "spans");
    if (!bb_id_is_known(span->id) || !bb_id_is_known(span->trace)) {
        count(spans, "spans_no_id");
        return true;
    }
    BbSpan checked = check(spans, *span);
    g_array_append_val(waiting_of(spans, span->trace)->spans, checked);
    spans->count++;
    if (spans->count < spans->most)
        return true;
    count(spans, "spans_traces_early");
    return give_first(spans, error);
}

bool bb_spans_finish(BbSpans *spans, GError **error)
{
    while (spans->count > 0)
        if (!give_first(spans, error))
            return false;
    return true;
}
