// SPDX-License-Identifier: Apache-2.0
// In: messages of any kind, in any order. Out: messages in order of time, and by edge.
#include "convolution/traffic.h"

#include "data/tally.h"

#include <stdlib.h>
#include <string.h>

// A message as it came; what tells its second sighting goes with it.
typedef struct {
    BbCall call;
    guint32 order; // in which it came
    bool at_receiver;
} Pushed;

// As bb_traffic_push says: in the end, five columns are beside the calls.
G_STATIC_ASSERT(sizeof(Pushed) <= 88);
G_STATIC_ASSERT(sizeof(BbCall) + 3 * sizeof(guint32) + 2 * sizeof(gint64) <= 108);

BbTraffic *bb_traffic_new(const BbNames *names)
{
    BbTraffic *traffic = g_new0(BbTraffic, 1);
    traffic->names = names;
    traffic->pushed = g_array_new(FALSE, FALSE, sizeof(Pushed));
    traffic->asked = g_array_new(FALSE, TRUE, sizeof(guint8));
    traffic->facts = BB_FACTS_EMPTY;
    traffic->start_ns = traffic->end_ns = BB_TIME_NONE;
    return traffic;
}

BbTraffic *bb_traffic_new_after(const BbTraffic *before)
{
    BbTraffic *traffic = bb_traffic_new(before->names);
    g_array_append_vals(traffic->asked, before->asked->data, before->asked->len);
    return traffic;
}

void bb_traffic_free(BbTraffic *traffic)
{
    if (!traffic)
        return;
    g_free(traffic->messages);
    g_free(traffic->edge);
    g_free(traffic->by_edge);
    g_free(traffic->edges);
    g_free(traffic->sent_ns);
    g_free(traffic->arrived_ns);
    g_free(traffic->arrived);
    g_clear_pointer(&traffic->pushed, g_array_unref);
    g_array_unref(traffic->asked);
    g_free(traffic);
}

// ---- collecting --------------------------------------------------------------------------------

static void note_time(BbFacts *facts, gint64 time_ns)
{
    if (facts->start_ns == BB_TIME_NONE || time_ns < facts->start_ns)
        facts->start_ns = time_ns;
    if (facts->end_ns == BB_TIME_NONE || time_ns > facts->end_ns)
        facts->end_ns = time_ns;
}

bool bb_traffic_push(BbTraffic *traffic, const BbMessage *message)
{
    if (bb_message_ends_call(message, traffic->names)) {
        traffic->facts.messages++;
        return true;
    }
    if (traffic->pushed->len >= G_MAXUINT32 - 1)
        return false;
    Pushed pushed = {
        .call =
            {
                .call_ns = message->time_ns,
                .arrived_ns =
                    message->recv_ns != BB_TIME_NONE ? message->recv_ns : message->time_ns,
                .replied_ns = BB_TIME_NONE,
                .return_ns = BB_TIME_NONE,
                .return_end_ns = BB_TIME_NONE,
                .id = message->id,
                .caller = message->sender,
                .callee = message->receiver,
                .op = message->op,
                .status = message->status,
                .proto = message->proto,
            },
        .order = traffic->pushed->len,
        .at_receiver = message->at_receiver,
    };
    g_array_append_val(traffic->pushed, pushed);
    traffic->facts.messages++;
    traffic->facts.calls += message->kind == BB_CALL;
    traffic->facts.free_messages += message->kind == BB_FREE;
    note_time(&traffic->facts, message->time_ns);
    if (message->kind != BB_RETURN) {
        if (message->receiver >= traffic->asked->len)
            g_array_set_size(traffic->asked, message->receiver + 1);
        g_array_index(traffic->asked, guint8, message->receiver) = 1;
    }
    return true;
}

bool bb_traffic_is_client(const BbTraffic *traffic, guint32 node)
{
    return node >= traffic->asked->len || !g_array_index(traffic->asked, guint8, node);
}

void bb_traffic_push_call(BbTraffic *traffic, const BbCall *message)
{
    Pushed pushed = {.call = *message, .order = traffic->pushed->len};
    g_array_append_val(traffic->pushed, pushed);
}

// ---- second sightings --------------------------------------------------------------------------

// Whether both are sightings of messages that nothing tells apart but their times.
static gint compare_messages(const Pushed *a, const Pushed *b)
{
    const guint64 left[] = {a->call.caller, a->call.callee, a->call.id.form, a->call.id.number};
    const guint64 right[] = {b->call.caller, b->call.callee, b->call.id.form, b->call.id.number};
    for (gsize i = 0; i < G_N_ELEMENTS(left); i++)
        if (left[i] != right[i])
            return left[i] < right[i] ? -1 : 1;
    return 0;
}

static gint compare_sightings(gconstpointer left, gconstpointer right)
{
    const Pushed *a = *(const Pushed *const *)left, *b = *(const Pushed *const *)right;
    gint order = compare_messages(a, b);
    if (order != 0)
        return order;
    if (a->at_receiver != b->at_receiver)
        return a->at_receiver ? 1 : -1;
    if (a->call.call_ns != b->call.call_ns)
        return a->call.call_ns < b->call.call_ns ? -1 : 1;
    return a->order < b->order ? -1 : a->order > b->order;
}

// Sightings of one message, or of several that nothing tells apart: the k-th at the sender's side
// and the k-th at the receiver's are one.
static void join_run(Pushed **run, gsize count)
{
    gsize sent = 0;
    while (sent < count && !run[sent]->at_receiver)
        sent++;
    for (gsize k = 0; k < sent && sent + k < count; k++) {
        run[k]->call.arrived_ns = run[sent + k]->call.call_ns;
        run[sent + k]->order = G_MAXUINT32; // taken
    }
}

static void join_sightings(GArray *pushed)
{
    Pushed *all = (Pushed *)(gpointer)pushed->data;
    bool any = false;
    for (guint i = 0; i < pushed->len && !any; i++)
        any = all[i].at_receiver;
    if (!any)
        return;
    g_autofree Pushed **sorted = g_new(Pushed *, pushed->len);
    for (guint i = 0; i < pushed->len; i++)
        sorted[i] = &all[i];
    qsort(sorted, pushed->len, sizeof *sorted, compare_sightings);
    for (gsize i = 0, end; i < pushed->len; i = end) {
        for (end = i + 1; end < pushed->len && compare_messages(sorted[i], sorted[end]) == 0;)
            end++;
        join_run(sorted + i, end - i);
    }
    guint kept = 0;
    for (guint i = 0; i < pushed->len; i++)
        if (all[i].order != G_MAXUINT32)
            all[kept++] = all[i];
    g_array_set_size(pushed, kept);
}

// ---- order -------------------------------------------------------------------------------------

static gint compare_times(gconstpointer left, gconstpointer right)
{
    const Pushed *a = left, *b = right;
    if (a->call.call_ns != b->call.call_ns)
        return a->call.call_ns < b->call.call_ns ? -1 : 1;
    return a->order < b->order ? -1 : a->order > b->order;
}

static void sort_by_time(GArray *pushed)
{
    const Pushed *all = (const Pushed *)(gpointer)pushed->data;
    for (guint i = 1; i < pushed->len; i++)
        if (compare_times(&all[i - 1], &all[i]) > 0) {
            g_array_sort(pushed, compare_times);
            return;
        }
}

// Stamps of hostile traces may be any number: those before 1823 and after 2116 count as of then, so
// that the difference of any two is a time.
static gint64 hold(gint64 time_ns)
{
    const gint64 most = ((gint64)1 << 62) - 1;
    return CLAMP(time_ns, -most, most);
}

static void take_messages(BbTraffic *traffic)
{
    const Pushed *all = (const Pushed *)(gpointer)traffic->pushed->data;
    traffic->n_messages = traffic->pushed->len;
    traffic->messages = g_new(BbCall, MAX(1, traffic->n_messages));
    for (guint32 i = 0; i < traffic->n_messages; i++) {
        const BbCall *call = &all[i].call;
        traffic->messages[i] = *call;
        gint64 first = hold(MIN(call->call_ns, call->arrived_ns));
        gint64 last = hold(MAX(call->call_ns, call->arrived_ns));
        traffic->start_ns = i == 0 ? first : MIN(traffic->start_ns, first);
        traffic->end_ns = i == 0 ? last : MAX(traffic->end_ns, last);
    }
    g_clear_pointer(&traffic->pushed, g_array_unref);
}

// ---- edges -------------------------------------------------------------------------------------

static gint compare_edges(gconstpointer left, gconstpointer right, gpointer names)
{
    const BbEdge *a = left, *b = right;
    gint order = strcmp(bb_names_text(names, a->sender), bb_names_text(names, b->sender));
    return order != 0
               ? order
               : strcmp(bb_names_text(names, a->receiver), bb_names_text(names, b->receiver));
}

// Numbers the edges as they appear, then by name.
static void find_edges(BbTraffic *traffic)
{
    BbTally numbers; // (caller, callee) -> index into edges + 1
    bb_tally_init(&numbers);
    g_autoptr(GArray) edges = g_array_new(FALSE, FALSE, sizeof(BbEdge));
    traffic->edge = g_new(guint32, MAX(1, traffic->n_messages));
    for (guint32 i = 0; i < traffic->n_messages; i++) {
        const BbCall *message = &traffic->messages[i];
        guint64 *number = bb_tally_at(&numbers, (BbTallyKey){message->caller, message->callee, 0});
        if (*number == 0) {
            // first: where it was before it was sorted.
            BbEdge edge = {message->caller, message->callee, edges->len, 0};
            g_array_append_val(edges, edge);
            *number = edges->len;
        }
        traffic->edge[i] = (guint32)(*number - 1);
        g_array_index(edges, BbEdge, traffic->edge[i]).count++;
    }
    bb_tally_clear(&numbers);
    g_array_sort_with_data(edges, compare_edges, (gpointer)traffic->names);
    traffic->n_edges = edges->len;
    traffic->edges = (BbEdge *)(gpointer)g_array_steal(edges, NULL);
}

static void group_by_edge(BbTraffic *traffic)
{
    g_autofree guint32 *sorted = g_new(guint32, MAX(1, traffic->n_edges));
    g_autofree guint32 *next = g_new(guint32, MAX(1, traffic->n_edges));
    for (guint32 e = 0, first = 0; e < traffic->n_edges; e++) {
        BbEdge *edge = &traffic->edges[e];
        sorted[edge->first] = e;
        edge->first = next[e] = first;
        first += edge->count;
    }
    traffic->by_edge = g_new(guint32, MAX(1, traffic->n_messages));
    for (guint32 i = 0; i < traffic->n_messages; i++) {
        traffic->edge[i] = sorted[traffic->edge[i]];
        traffic->by_edge[next[traffic->edge[i]]++] = i;
    }
}

static gint compare_arrivals(gconstpointer left, gconstpointer right, gpointer messages)
{
    guint32 a = *(const guint32 *)left, b = *(const guint32 *)right;
    gint64 at_a = ((const BbCall *)messages)[a].arrived_ns;
    gint64 at_b = ((const BbCall *)messages)[b].arrived_ns;
    return at_a != at_b ? (at_a < at_b ? -1 : 1) : (a < b ? -1 : a > b);
}

static void sort_arrivals(const BbTraffic *traffic, const BbEdge *edge)
{
    guint32 *arrived = traffic->arrived + edge->first;
    for (guint32 i = 1; i < edge->count; i++)
        if (compare_arrivals(&arrived[i - 1], &arrived[i], traffic->messages) > 0) {
            g_qsort_with_data(arrived, (gint)edge->count, sizeof *arrived, compare_arrivals,
                              traffic->messages);
            return;
        }
}

static void list_times(BbTraffic *traffic)
{
    gsize n = MAX(1, traffic->n_messages);
    traffic->sent_ns = g_new(gint64, n);
    traffic->arrived_ns = g_new(gint64, n);
    traffic->arrived = g_memdup2(traffic->by_edge, n * sizeof *traffic->by_edge);
    for (guint32 e = 0; e < traffic->n_edges; e++)
        sort_arrivals(traffic, &traffic->edges[e]);
    for (guint32 i = 0; i < traffic->n_messages; i++) {
        traffic->sent_ns[i] = hold(traffic->messages[traffic->by_edge[i]].call_ns);
        traffic->arrived_ns[i] = hold(traffic->messages[traffic->arrived[i]].arrived_ns);
    }
}

void bb_traffic_finish(BbTraffic *traffic)
{
    g_return_if_fail(traffic->pushed);
    join_sightings(traffic->pushed);
    sort_by_time(traffic->pushed);
    take_messages(traffic);
    find_edges(traffic);
    group_by_edge(traffic);
    list_times(traffic);
}
