// SPDX-License-Identifier: Apache-2.0
// In: costs by node and by context. Out: tables for a terminal.
#include "diagnose/blame.h"

#include "data/quantity.h"
#include "diagnose/route.h"
#include "diagnose/sheet.h"

#define WRONG_LEAST 0.01 // share of the requests that is told
#define HINTS_MOST 10u   // lines of text

// What both tables have.
static void put_cost(BbSheet *sheet, const BbBlameCost *cost, gint64 latency_ns)
{
    bb_quantity_append_duration(bb_sheet_cell(sheet), cost->critical_ns);
    bb_quantity_append_share(bb_sheet_cell(sheet),
                             bb_quantity_share(cost->critical_ns, latency_ns));
    bb_quantity_append_duration(bb_sheet_cell(sheet),
                                cost->critical_ns / (gint64)MAX(cost->instances, 1));
    bb_quantity_append_duration(bb_sheet_cell(sheet), cost->wire_ns);
    bb_quantity_append_duration(bb_sheet_cell(sheet),
                                cost->off_path ? cost->slack_ns / (gint64)cost->off_path : 0);
    bb_quantity_append_share(bb_sheet_cell(sheet),
                             (double)cost->off_path / (double)MAX(cost->calls, 1));
    bb_quantity_append_count(bb_sheet_cell(sheet), cost->instances);
    bb_quantity_append_count(bb_sheet_cell(sheet), cost->calls);
    bb_quantity_append_share(bb_sheet_cell(sheet),
                             (double)cost->errors / (double)MAX(cost->calls, 1));
}

static void write_nodes(const BbBlameFindings *findings, const BbNames *names, guint shown,
                        FILE *out)
{
    static const char *const heads[] = {"waited", "share",    "a request", "wire",
                                        "slack",  "off path", "requests",  "calls",
                                        "errors", "node",     NULL};
    g_autoptr(BbSheet) sheet = bb_sheet_new(heads);
    for (guint i = 0; i < shown; i++) {
        const BbBlameNode *node = &g_array_index(findings->nodes, BbBlameNode, i);
        put_cost(sheet, &node->cost, findings->latency_ns);
        GString *cell = bb_sheet_cell(sheet);
        bb_route_append_call(cell, names, node->node, BB_NAME_NONE);
        if (node->rows > 1)
            g_string_append_printf(cell, " (%u contexts)", node->rows);
    }
    fputs("\nBy node\n", out);
    bb_sheet_write(sheet, out);
}

static void write_rows(const BbBlameFindings *findings, const BbNames *names, guint shown,
                       FILE *out)
{
    static const char *const heads[] = {"waited",
                                        "share",
                                        "a request",
                                        "wire",
                                        "slack",
                                        "off path",
                                        "requests",
                                        "calls",
                                        "errors",
                                        "self p50",
                                        "p90",
                                        "p99",
                                        "node and operation, by callers",
                                        NULL};
    static const double quantiles[] = {0.5, 0.9, 0.99};
    g_autoptr(BbSheet) sheet = bb_sheet_new(heads);
    for (guint i = 0; i < shown; i++) {
        const BbBlameRow *row = &g_array_index(findings->rows, BbBlameRow, i);
        put_cost(sheet, &row->cost, findings->latency_ns);
        for (guint q = 0; q < G_N_ELEMENTS(quantiles); q++)
            bb_quantity_append_duration(bb_sheet_cell(sheet),
                                        bb_stats_quantile(row->self, quantiles[q]));
        GString *cell = bb_sheet_cell(sheet);
        bb_route_append_call(cell, names, row->node, row->op);
        bb_route_append_unanswered(cell, row->unanswered);
        g_string_append(cell, "  <-  ");
        bb_route_append_callers(cell, names, row->callers, row->n_callers);
    }
    fputs("\nBy node, operation and callers\n", out);
    bb_sheet_write(sheet, out);
}

// "8.3 s, 41 % of all latency"
static void append_latency(GString *text, const BbBlameFindings *findings, gint64 part_ns)
{
    bb_quantity_append_duration(text, part_ns);
    g_string_append(text, ", ");
    bb_quantity_append_share(text, bb_quantity_share(part_ns, findings->latency_ns));
    bb_chosen_append_whole(text, findings->chosen, "latency");
}

// "web -> db: "
static void append_edge(GString *text, const BbNames *names, guint32 from, guint32 to)
{
    bb_route_append_call(text, names, from, BB_NAME_NONE);
    g_string_append(text, " -> ");
    bb_route_append_call(text, names, to, BB_NAME_NONE);
    g_string_append(text, ": ");
}

static void append_times(GString *out, double times)
{
    g_string_append_printf(out, times < 10 ? " is %.1f times slower" : " is %.0f times slower",
                           times);
}

// What hints are about, and the words before the slow ones and the fast ones.
typedef struct {
    const char *head, *slow, *fast;
} HintWords;

static const HintWords by_caller = {"It depends on the caller", "when called from", "from"};
static const HintWords by_replica = {"It depends on the replica", "on", "on"};

// Of a list of which HINTS_MOST are shown.
static void write_more(guint all, FILE *out)
{
    if (all > HINTS_MOST)
        fprintf(out, "  and %u more\n", all - HINTS_MOST);
}

// "auth GET is 3.1 times slower when called from app2 (50.2 ms) than from app1 (16.2 ms), ..."
static void write_hint(const BbBlameFindings *findings, const BbBlameHint *hint,
                       const HintWords *words, const BbNames *names, FILE *out)
{
    g_autoptr(GString) text = g_string_new(NULL);
    bb_route_append_call(text, names, hint->node, hint->op);
    if (hint->fast_ns > 0)
        append_times(text, (double)hint->slow_ns / (double)hint->fast_ns);
    else
        g_string_append(text, " is slower");
    g_string_append_printf(text, " %s ", words->slow);
    bb_route_append_callers(text, names, hint->slow, hint->n_callers);
    g_string_append(text, " (");
    bb_quantity_append_duration(text, hint->slow_ns);
    g_string_append(text, ", ");
    bb_quantity_append_counted(text, hint->slow_calls, "call");
    g_string_append_printf(text, ") than %s ", words->fast);
    bb_route_append_callers(text, names, hint->fast, hint->n_callers);
    g_string_append(text, " (");
    bb_quantity_append_duration(text, hint->fast_ns);
    g_string_append(text, ", ");
    bb_quantity_append_counted(text, hint->fast_calls, "call");
    g_string_append(text, "): ");
    append_latency(text, findings, hint->excess_ns);
    fprintf(out, "%s\n", text->str);
}

static void write_hints(const BbBlameFindings *findings, const GArray *hints,
                        const HintWords *words, const BbNames *names, FILE *out)
{
    guint shown = MIN(hints->len, HINTS_MOST);
    if (shown > 0)
        fprintf(out, "\n%s\n", words->head);
    for (guint i = 0; i < shown; i++) {
        fputs("  ", out);
        write_hint(findings, &g_array_index(hints, BbBlameHint, i), words, names, out);
    }
    write_more(hints->len, out);
}

// "lb GET /item/*: 12.3 ms until 2026-11-20 08:54:30.385 UTC, 31.0 ms from then on (1,203 and 2,345
// requests)"
static void write_change(const BbChange *change, const BbNames *names, FILE *out)
{
    g_autoptr(GString) text = g_string_new("  ");
    bb_route_append_call(text, names, change->node, change->op);
    g_string_append(text, ": ");
    bb_quantity_append_duration(text, change->before_ns);
    g_string_append(text, " until ");
    bb_quantity_append_time(text, change->at_ns);
    g_string_append(text, ", ");
    bb_quantity_append_duration(text, change->after_ns);
    g_string_append(text, " from then on (");
    bb_quantity_append_count(text, change->before);
    g_string_append(text, " and ");
    bb_quantity_append_counted(text, change->after, "request");
    fprintf(out, "%s)\n", text->str);
}

static void write_changes(const BbBlameFindings *findings, const BbNames *names, FILE *out)
{
    guint shown = MIN(findings->changes->len, HINTS_MOST);
    if (shown > 0)
        fputs("\nIt has changed for good (bbpaths compare --at=TIME says in what)\n", out);
    for (guint i = 0; i < shown; i++)
        write_change(&g_array_index(findings->changes, BbChange, i), names, out);
    write_more(findings->changes->len, out);
}

// "web -> db: some 612 of 1,000 calls, hardly ever more than 2 at once: 8.3 s, 41 % of all
// latency"; or "at once a replica", "at once on each of 4 groups of connections", "at once, each
// with a connection of its own"
static void write_wait(const BbBlameFindings *findings, const BbBlameWaits *waits,
                       const BbNames *names, FILE *out)
{
    g_autoptr(GString) text = g_string_new("  ");
    if (waits->caller != BB_NAME_NONE) {
        append_edge(text, names, waits->caller, waits->callee);
        g_string_append(text, "some ");
    } else {
        bb_route_append_call(text, names, waits->callee, waits->op);
        g_string_append(text, ": ");
    }
    bb_quantity_append_count(text, (guint64)(waits->waited + 0.5));
    g_string_append(text, " of ");
    bb_quantity_append_counted(text, waits->calls, "call");
    g_string_append_printf(text, ", hardly ever more than %u at once%s", waits->limit,
                           waits->replicas ? " a replica" : "");
    if (waits->lines == 1)
        g_string_append(text, " on one group of connections");
    else if (waits->lines > 1)
        g_string_append_printf(text, " on each of %u groups of connections", waits->lines);
    if (waits->keep)
        g_string_append(text, ", each with a connection of its own");
    g_string_append(text, ": ");
    append_latency(text, findings, waits->waited_ns);
    fprintf(out, "%s\n", text->str);
}

static void write_waits(const BbBlameFindings *findings, const char *title, const GArray *waits,
                        const BbNames *names, FILE *out)
{
    guint shown = MIN(waits->len, HINTS_MOST);
    if (shown > 0)
        fprintf(out, "\n%s\n", title);
    for (guint i = 0; i < shown; i++)
        write_wait(findings, &g_array_index(waits, BbBlameWaits, i), names, out);
    write_more(waits->len, out);
}

// "web <- app1: 12.3 s, 98 % of all latency, for the last bytes of 1,034 returns"
static void write_rests(const BbBlameFindings *findings, const BbNames *names, FILE *out)
{
    guint shown = MIN(findings->rests->len, HINTS_MOST);
    if (shown > 0)
        fputs("\nReturns that take long to be complete (their callers seem to work meanwhile; "
              "--latency=last-byte charges the callees)\n",
              out);
    for (guint i = 0; i < shown; i++) {
        const BbBlameWaits *rest = &g_array_index(findings->rests, BbBlameWaits, i);
        g_autoptr(GString) text = g_string_new("  ");
        append_edge(text, names, rest->caller, rest->callee);
        append_latency(text, findings, rest->waited_ns);
        g_string_append(text, ", from the first to the last byte of ");
        bb_quantity_append_counted(text, rest->calls, "return");
        fprintf(out, "%s\n", text->str);
    }
    write_more(findings->rests->len, out);
}

static void append_unopened(GString *text, const BbNetworkEdge *edge)
{
    bb_quantity_append_count(text, edge->unanswered);
    g_string_append(text, " without answer, ");
    bb_quantity_append_count(text, edge->refused);
    g_string_append(text, " refused, of ");
    bb_quantity_append_count(text, edge->connections);
}

static void append_sent_again(GString *text, const BbNetworkEdge *edge)
{
    bb_quantity_append_count(text, edge->retransmitted);
    g_string_append(text, " of ");
    bb_quantity_append_counted(text, edge->packets, "packet");
    g_string_append(text, ", ");
    bb_quantity_append_share(text, (double)edge->retransmitted / (double)edge->packets);
}

// What nodes wait for that is no call. number: how much of it an edge has.
typedef struct {
    const char *head;
    guint64 (*number)(const BbNetworkEdge *edge);
    void (*append)(GString *text, const BbNetworkEdge *edge);
} Trouble;

static const Trouble troubles[] = {
    {"Connections that were not opened (no calls: who waits for one seems to work)",
     bb_network_unopened, append_unopened},
    {"Data that was sent again (no calls: who waits for it seems to work)", bb_network_sent_again,
     append_sent_again},
};

// By falling number, then in the order of first mention.
static int by_number(gconstpointer a, gconstpointer b, gpointer trouble)
{
    const BbNetworkEdge *const *x = a, *const *y = b;
    guint64 (*number)(const BbNetworkEdge *) = ((const Trouble *)trouble)->number;
    if (number(*x) != number(*y))
        return number(*x) < number(*y) ? 1 : -1;
    return (*x > *y) - (*x < *y);
}

static void write_trouble(const Trouble *trouble, const BbNetwork *network, const BbNames *names,
                          FILE *out)
{
    g_autoptr(GPtrArray) edges = g_ptr_array_new();
    guint n = network ? bb_network_count(network) : 0;
    for (guint i = 0; i < n; i++) {
        const BbNetworkEdge *edge = bb_network_at(network, i);
        if (trouble->number(edge) > 0)
            g_ptr_array_add(edges, (gpointer)edge);
    }
    g_ptr_array_sort_with_data(edges, by_number, (gpointer)trouble);
    if (edges->len > 0)
        fprintf(out, "\n%s\n", trouble->head);
    for (guint i = 0; i < MIN(edges->len, HINTS_MOST); i++) {
        const BbNetworkEdge *edge = edges->pdata[i];
        g_autoptr(GString) text = g_string_new("  ");
        append_edge(text, names, edge->client, edge->server);
        trouble->append(text, edge);
        fprintf(out, "%s\n", text->str);
    }
    write_more(edges->len, out);
}

static void write_foot(const BbBlameFindings *findings, guint nodes, guint rows, FILE *out)
{
    g_autoptr(GString) text = g_string_new("\n");
    if (nodes < findings->nodes->len || rows < findings->rows->len) {
        g_string_append(text, "Left out: ");
        bb_quantity_append_counted(text, findings->nodes->len - nodes, "node");
        g_string_append(text, ", ");
        bb_quantity_append_counted(text, findings->rows->len - rows, "context");
        g_string_append(text, " (--top all shows all)\n");
    }
    if (findings->any_client)
        g_string_append(text, "All clients are one: asked for (--any-client), or as there were too "
                              "many.\n");
    if (findings->left_out > 0) {
        g_string_append(text, "In no context, for there were too many: ");
        bb_quantity_append_counted(text, findings->left_out, "call");
        g_string_append(text, " with ");
        bb_quantity_append_share(text,
                                 bb_quantity_share(findings->left_out_ns, findings->latency_ns));
        bb_chosen_append_whole(text, findings->chosen, "latency");
        g_string_append_c(text, '\n');
    }
    g_string_append(text, "waited: how long requests waited for the node, not its calls (critical "
                          "path); with wire, the way to\nand from it, all of the latency.\nslack: "
                          "how much later the calls off the path "
                          "could have returned (mean). self: own work of a call,\nwaited for or "
                          "not.\n");
    fputs(text->str, out);
}

void bb_blame_write_text(const BbBlameFindings *findings, const BbNames *names, guint top,
                         FILE *out)
{
    g_autoptr(GString) head = g_string_new("bbpaths blame, ");
    bb_quantity_append_counted(head, findings->instances, "request");
    g_string_append(head, ", ");
    bb_quantity_append_duration(head, findings->latency_ns);
    g_string_append(head, " of latency");
    if (findings->wrong >= WRONG_LEAST) {
        g_string_append(head, "; about ");
        bb_quantity_append_share(head, findings->wrong);
        g_string_append(head, " of the requests have a wrong call, or lack one");
    }
    g_string_append_c(head, '\n');
    if (bb_chosen_append(head, findings->chosen, "request"))
        g_string_append_c(head, '\n');
    fputs(head->str, out);
    if (findings->instances == 0)
        return;
    guint nodes = top ? MIN(top, findings->nodes->len) : findings->nodes->len;
    guint rows = top ? MIN(top, findings->rows->len) : findings->rows->len;
    write_nodes(findings, names, nodes, out);
    write_rows(findings, names, rows, out);
    write_hints(findings, findings->hints, &by_caller, names, out);
    if (findings->replica_hints)
        write_hints(findings, findings->replica_hints, &by_replica, names, out);
    write_changes(findings, names, out);
    write_waits(findings, "Calls that waited for their turn (the node seems to work meanwhile)",
                findings->turns, names, out);
    write_waits(findings, "Calls that waited for a pool (their callers seem to work meanwhile)",
                findings->pools, names, out);
    write_rests(findings, names, out);
    for (guint i = 0; i < G_N_ELEMENTS(troubles); i++)
        write_trouble(&troubles[i], findings->network, names, out);
    write_foot(findings, nodes, rows, out);
}
