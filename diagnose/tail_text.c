// SPDX-License-Identifier: Apache-2.0
// In: how the slowest requests differ. Out: tables for a terminal.
#include "data/call.h"
#include "data/quantity.h"
#include "diagnose/route.h"
#include "diagnose/sheet.h"
#include "diagnose/tail.h"

#include <math.h>

#define CAUSES_MOST 10u
#define OTHERS_MOST 5u // errors and patterns
#define BURSTS_MOST 5u
#define FEW_OF 4u // first calls, of which one can be compared: there may be many clients

static void put_duration(BbSheet *sheet, double ns)
{
    bb_mean_append(bb_sheet_cell(sheet), ns);
}

static void append_signed_share(GString *out, double share)
{
    g_string_append(out, share < 0 ? "-" : "");
    bb_quantity_append_share(out, fabs(share));
}

static void append_calls(GString *out, double calls)
{
    g_string_append_printf(out, "%.1f", calls);
}

static void put_cause(BbSheet *sheet, const BbDifference *cause, double excess_ns,
                      const BbNames *names)
{
    append_signed_share(bb_sheet_cell(sheet), excess_ns > 0 ? cause->excess_ns / excess_ns : 0);
    GString *longer = bb_sheet_cell(sheet);
    g_string_append(longer, cause->excess_ns > 0 ? "+" : "");
    bb_mean_append(longer, cause->excess_ns);
    put_duration(sheet, cause->ns.one);
    put_duration(sheet, cause->ns.other);
    bb_quantity_append_share(bb_sheet_cell(sheet), cause->present.one);
    bb_quantity_append_share(bb_sheet_cell(sheet), cause->present.other);
    append_calls(bb_sheet_cell(sheet), cause->calls.one);
    append_calls(bb_sheet_cell(sheet), cause->calls.other);
    bb_difference_append(bb_sheet_cell(sheet), names, cause);
}

static void write_causes(const BbTailRoot *root, const BbNames *names, FILE *out)
{
    static const char *const heads[] = {"share",  "longer",      "slow",   "others", "called: slow",
                                        "others", "times: slow", "others", "what",   NULL};
    g_autoptr(BbSheet) sheet = bb_sheet_new(heads);
    guint shown = MIN(root->differences.causes->len, CAUSES_MOST);
    if (shown == 0) {
        fputs("  no part of them takes longer\n", out);
        return;
    }
    for (guint i = 0; i < shown; i++)
        put_cause(sheet, &g_array_index(root->differences.causes, BbDifference, i),
                  bb_pair_gain(root->latency_ns), names);
    bb_sheet_write(sheet, out);
    if (shown < root->differences.causes->len)
        fprintf(out, "  and %u more, shorter or missing ones among them (--format json has all)\n",
                root->differences.causes->len - shown);
}

// "95 % of the slow, 1.2 % of the others"
static void append_present(GString *out, BbPair present)
{
    bb_quantity_append_share(out, present.one);
    g_string_append(out, " of the slow, ");
    bb_quantity_append_share(out, present.other);
    g_string_append(out, " of the others");
}

static void append_errors(GString *out, const BbTailRoot *root, const BbNames *names)
{
    for (guint i = 0; i < MIN(root->differences.errors->len, OTHERS_MOST); i++) {
        const BbErrorDifference *errors =
            &g_array_index(root->differences.errors, BbErrorDifference, i);
        bb_difference_append_errors(out, names, errors);
        append_present(out, errors->present);
        g_string_append_c(out, '\n');
    }
}

static void append_patterns(GString *out, const BbTailRoot *root, BbTailRanks ranks)
{
    for (guint i = 0; i < MIN(root->patterns->len, OTHERS_MOST); i++) {
        const BbTailPattern *pattern = &g_array_index(root->patterns, BbTailPattern, i);
        guint32 rank = pattern->pattern < ranks.count ? ranks.rank[pattern->pattern] : 0;
        if (rank > 0)
            g_string_append_printf(out, "  pattern p%u: ", rank);
        else
            g_string_append(out, "  a rare pattern: ");
        append_present(out, pattern->present);
        if (pattern->present.other > 0)
            g_string_append_printf(out, ", %.0f times as often",
                                   pattern->present.one / pattern->present.other);
        g_string_append_c(out, '\n');
    }
}

static void append_slowest(GString *out, const BbTailRoot *root)
{
    g_string_append(out, "  slowest: ");
    for (guint i = 0; i < MIN(root->slow, BB_TAIL_NAMED); i++) {
        g_string_append_printf(out, "%si%" G_GUINT64_FORMAT " (", i ? ", " : "",
                               root->slowest[i].number);
        bb_quantity_append_duration(out, root->slowest[i].latency_ns);
        g_string_append_c(out, ')');
    }
    g_string_append_c(out, '\n');
}

static void append_burst(GString *out, const BbBurst *burst, bool is_sample)
{
    g_string_append(out, "\n    ");
    bb_quantity_append_time(out, burst->start_ns);
    g_string_append(out, " for ");
    bb_quantity_append_duration(out, bb_time_between(burst->start_ns, burst->end_ns));
    g_string_append(out, ": ");
    bb_quantity_append_count(out, burst->marked);
    g_string_append(out, is_sample ? " of the sample among " : " of ");
    bb_quantity_append_counted(out, burst->events, "request");
}

// "  when: 38 of them in 3 bursts", and a line for each.
static void append_bursts(GString *out, const BbTailRoot *root)
{
    const GArray *bursts = root->bursts;
    gint64 period_ns = bb_bursts_period(bursts);
    guint64 within = 0;
    for (guint i = 0; i < bursts->len; i++)
        within += g_array_index(bursts, BbBurst, i).marked;
    if (bursts->len == 0) {
        g_string_append(out, "  when: at any time, as far as chance lets us see\n");
        return;
    }
    g_string_append(out, "  when: ");
    bb_quantity_append_count(out, within);
    g_string_append(out, " of them in ");
    bb_quantity_append_counted(out, bursts->len, "burst");
    if (period_ns > 0) {
        g_string_append(out, ", one every ");
        bb_quantity_append_duration(out, period_ns);
    }
    for (guint i = 0; i < MIN(bursts->len, BURSTS_MOST); i++)
        append_burst(out, &g_array_index(bursts, BbBurst, i), root->sampled < 1);
    if (bursts->len > BURSTS_MOST)
        g_string_append_printf(out, "\n    and %u more (--format json has all)",
                               bursts->len - BURSTS_MOST);
    g_string_append_c(out, '\n');
}

static void append_head(GString *out, const BbTailRoot *root, const BbNames *names)
{
    g_string_append_c(out, '\n');
    bb_route_append_callers(out, names, &root->client, 1);
    g_string_append(out, " -> ");
    bb_route_append_call(out, names, root->node, root->op);
    g_string_append(out, "   ");
    bb_quantity_append_counted(out, root->instances, "request");
    g_string_append(out, ", of them the slowest ");
    bb_quantity_append_count(out, root->slow);
    if (root->sampled < 1) {
        g_string_append(out, " in a sample of ");
        bb_quantity_append_share(out, root->sampled);
    }
    g_string_append(out, ", from ");
    bb_quantity_append_duration(out, root->least_ns);
    g_string_append(out, " on\n  mean ");
    bb_mean_append(out, root->latency_ns.one);
    g_string_append(out, ", others ");
    bb_mean_append(out, root->latency_ns.other);
    g_string_append(out, ": ");
    bb_mean_append(out, bb_pair_gain(root->latency_ns));
    g_string_append(out, " longer. Under way when they began: ");
    append_calls(out, root->open.one);
    g_string_append(out, ", others ");
    append_calls(out, root->open.other);
    g_string_append_c(out, '\n');
}

static void write_root(const BbTailRoot *root, const BbNames *names, BbTailRanks ranks, FILE *out)
{
    g_autoptr(GString) text = g_string_new(NULL);
    append_head(text, root, names);
    fputs(text->str, out);
    write_causes(root, names, out);
    g_string_truncate(text, 0);
    append_errors(text, root, names);
    append_patterns(text, root, ranks);
    append_bursts(text, root);
    append_slowest(text, root);
    fputs(text->str, out);
}

static void write_foot(const BbTailFindings *findings, guint shown, FILE *out)
{
    g_autoptr(GString) text = g_string_new("\n");
    if (shown < findings->compared->len) {
        g_string_append(text, "Left out: ");
        bb_quantity_append_counted(text, findings->compared->len - shown, "first call");
        g_string_append(text, " (--top all shows all)\n");
    }
    if (findings->forgotten > 0) {
        g_string_append(text, "Forgotten, for there were too many: ");
        bb_quantity_append_counted(text, findings->forgotten, "first call");
        g_string_append(text, " with ");
        bb_quantity_append_counted(text, findings->forgotten_instances, "request");
        g_string_append_c(text, '\n');
    }
    if (shown > 0)
        g_string_append(text,
                        "share: of what the slow take longer. slow, others: mean of all such "
                        "requests, on the critical path.\ncalled: share of the requests with the "
                        "call. times: calls in those. i: bbpaths show i17 shows it.\n");
    fputs(text->str, out);
}

void bb_tail_write_text(const BbTailFindings *findings, const BbNames *names, BbTailRanks ranks,
                        guint top, FILE *out)
{
    guint all = findings->compared->len, shown = top ? MIN(top, all) : all;
    g_autoptr(GString) head = g_string_new("bbpaths tail, the slowest ");
    bb_quantity_append_share(head, 1 - findings->quantile);
    g_string_append_printf(head, ", at least %u, against the others with the same first call\n",
                           BB_TAIL_LEAST);
    if (bb_chosen_append(head, findings->chosen, "request"))
        g_string_append_c(head, '\n');
    bb_quantity_append_count(head, all);
    g_string_append(head, " of ");
    bb_quantity_append_counted(head, findings->roots, "first call");
    g_string_append_printf(head, " can be compared: with %u requests or more%s\n",
                           2 * BB_TAIL_LEAST,
                           !findings->any_client && all * FEW_OF < findings->roots
                               ? " (--any-client takes all clients for one)"
                               : "");
    fputs(head->str, out);
    for (guint i = 0; i < shown; i++)
        write_root(g_ptr_array_index(findings->compared, i), names, ranks, out);
    write_foot(findings, shown, out);
}
