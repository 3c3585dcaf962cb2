// SPDX-License-Identifier: Apache-2.0
// In: in what two traces differ. Out: tables for a terminal.
#include <math.h>

#include "data/message.h"
#include "data/quantity.h"
#include "diagnose/compare.h"
#include "diagnose/route.h"
#include "diagnose/sheet.h"

#define CAUSES_MOST 10u
#define ERRORS_MOST 5u
#define RARE_MOST 10u

static void append_rate(GString *out, guint64 requests, const BbCompareTotal *total)
{
    gint64 span_ns = total->requests ? bb_time_between(total->start_ns, total->end_ns) : 0;
    if (span_ns > 0)
        g_string_append_printf(out, "%.3g", (double)requests * 1e9 / (double)span_ns);
    else
        g_string_append_c(out, '-');
}

static void append_total(GString *out, const BbCompareFindings *findings, BbCompareSide side)
{
    const BbCompareTotal *total = &findings->total[side];
    g_string_append_printf(out, "%-6s  ", bb_compare_side_word(side));
    bb_quantity_append_counted(out, total->requests, "request");
    if (total->requests > 0) {
        g_string_append(out, " in ");
        bb_quantity_append_span(out, bb_time_between(total->start_ns, total->end_ns));
        g_string_append(out, ", mean ");
        bb_mean_append(out, total->mean_ns);
    }
    if (total->unanswered > 0) {
        g_string_append(out, ", besides ");
        bb_quantity_append_count(out, total->unanswered);
        g_string_append(out, " without return");
    }
    g_string_append_c(out, '\n');
    bool once = side == BB_COMPARE_AFTER || findings->at_ns == BB_TIME_NONE; // of one trace
    if (once && bb_chosen_append(out, findings->chosen[side], "request"))
        g_string_append_c(out, '\n');
}

// "24.7 ms longer (+- 0.9 ms)"
static void append_excess(GString *out, const BbCompareRoot *root)
{
    if (bb_compare_is_sure(root)) {
        bb_mean_append(out, fabs(root->excess_ns));
        g_string_append(out, root->excess_ns > 0 ? " longer" : " shorter");
    } else {
        g_string_append(out, "as long as before, as far as chance lets us see");
    }
    g_string_append(out, " (+- ");
    bb_mean_append(out, root->error_ns);
    g_string_append_c(out, ')');
}

static void write_figures(const BbCompareFindings *findings, const BbCompareRoot *root, FILE *out)
{
    static const char *const heads[] = {"requests", "a second", "mean", "p50",
                                        "p90",      "p99",      "",     NULL};
    g_autoptr(BbSheet) sheet = bb_sheet_new(heads);
    for (guint side = 0; side < BB_COMPARE_SIDES; side++) {
        const BbCompareFigures *figures = &root->side[side];
        bb_quantity_append_count(bb_sheet_cell(sheet), figures->requests);
        append_rate(bb_sheet_cell(sheet), figures->requests, &findings->total[side]);
        bb_mean_append(bb_sheet_cell(sheet), figures->mean_ns);
        bb_quantity_append_duration(bb_sheet_cell(sheet), figures->p50_ns);
        bb_quantity_append_duration(bb_sheet_cell(sheet), figures->p90_ns);
        bb_quantity_append_duration(bb_sheet_cell(sheet), figures->p99_ns);
        g_string_append(bb_sheet_cell(sheet), bb_compare_side_word(side));
    }
    bb_sheet_write(sheet, out);
}

static void put_share(BbSheet *sheet, const BbCompareRoot *root, double excess_ns)
{
    GString *cell = bb_sheet_cell(sheet);
    double share = root->excess_ns != 0 ? excess_ns / root->excess_ns : 0;
    if (!bb_compare_is_sure(root)) {
        g_string_append_c(cell, '-');
        return;
    }
    g_string_append(cell, share < 0 ? "-" : "");
    bb_quantity_append_share(cell, fabs(share));
}

static void put_cause(BbSheet *sheet, const BbCompareRoot *root, const BbDifference *cause,
                      const BbNames *names)
{
    put_share(sheet, root, cause->excess_ns);
    GString *longer = bb_sheet_cell(sheet);
    g_string_append(longer, cause->excess_ns > 0 ? "+" : "");
    bb_mean_append(longer, cause->excess_ns);
    bb_mean_append(bb_sheet_cell(sheet), cause->error_ns);
    bb_mean_append(bb_sheet_cell(sheet), cause->ns.other);
    bb_mean_append(bb_sheet_cell(sheet), cause->ns.one);
    bb_quantity_append_share(bb_sheet_cell(sheet), cause->present.other);
    bb_quantity_append_share(bb_sheet_cell(sheet), cause->present.one);
    g_string_append_printf(bb_sheet_cell(sheet), "%.1f", cause->calls.other);
    g_string_append_printf(bb_sheet_cell(sheet), "%.1f", cause->calls.one);
    bb_difference_append(bb_sheet_cell(sheet), names, cause);
}

static void write_causes(const BbCompareRoot *root, const BbNames *names, FILE *out)
{
    static const char *const heads[] = {"share", "longer",         "+-",    "before",
                                        "after", "called: before", "after", "times: before",
                                        "after", "what",           NULL};
    const GArray *causes = root->differences.causes;
    guint shown = MIN(causes->len, CAUSES_MOST);
    g_autoptr(BbSheet) sheet = bb_sheet_new(heads);
    for (guint i = 0; i < shown; i++)
        put_cause(sheet, root, &g_array_index(causes, BbDifference, i), names);
    if (shown > 0)
        bb_sheet_write(sheet, out);
    if (shown < causes->len)
        fprintf(out, "  and %u more (--format json has all)\n", causes->len - shown);
    if (root->by_chance > 0)
        fprintf(out, "  left out: %u that may be chance\n", root->by_chance);
}

static void append_errors(GString *out, const BbCompareRoot *root, const BbNames *names)
{
    const GArray *errors = root->differences.errors;
    for (guint i = 0; i < MIN(errors->len, ERRORS_MOST); i++) {
        const BbErrorDifference *error = &g_array_index(errors, BbErrorDifference, i);
        bb_difference_append_errors(out, names, error);
        bb_quantity_append_share(out, error->present.one);
        g_string_append(out, ", before ");
        bb_quantity_append_share(out, error->present.other);
        g_string_append_c(out, '\n');
    }
}

static void write_root(const BbCompareFindings *findings, const BbCompareRoot *root,
                       const BbNames *names, FILE *out)
{
    g_autoptr(GString) text = g_string_new("\n");
    bb_route_append_call(text, names, root->node, root->op);
    g_string_append(text, "   ");
    append_excess(text, root);
    g_string_append_c(text, '\n');
    fputs(text->str, out);
    write_figures(findings, root, out);
    write_causes(root, names, out);
    g_string_truncate(text, 0);
    append_errors(text, root, names);
    fputs(text->str, out);
}

// What is not on both sides, or hardly.
static void write_rare(const BbCompareFindings *findings, const BbNames *names, FILE *out)
{
    static const char *const heads[] = {"before", "after", "first call", NULL};
    guint all = findings->rare->len, shown = MIN(all, RARE_MOST);
    if (all == 0)
        return;
    fprintf(out, "\nNot compared, for lack of %u requests on either side:\n", BB_COMPARE_LEAST);
    g_autoptr(BbSheet) sheet = bb_sheet_new(heads);
    for (guint i = 0; i < shown; i++) {
        const BbCompareRoot *root = g_ptr_array_index(findings->rare, i);
        for (guint side = 0; side < BB_COMPARE_SIDES; side++)
            bb_quantity_append_count(bb_sheet_cell(sheet), root->side[side].requests);
        bb_route_append_call(bb_sheet_cell(sheet), names, root->node, root->op);
    }
    bb_sheet_write(sheet, out);
    if (shown < all)
        fprintf(out, "  and %u more (--format json has all)\n", all - shown);
}

static void write_foot(const BbCompareFindings *findings, guint shown, FILE *out)
{
    g_autoptr(GString) text = g_string_new("\n");
    if (shown < findings->compared->len) {
        g_string_append(text, "Left out: ");
        bb_quantity_append_counted(text, findings->compared->len - shown, "first call");
        g_string_append(text, " (--top all shows all)\n");
    }
    for (guint side = 0; side < BB_COMPARE_SIDES; side++) {
        if (findings->total[side].left_out == 0)
            continue;
        g_string_append_printf(text, "Left out %s, for there were too many different calls: ",
                               bb_compare_side_word(side));
        bb_quantity_append_counted(text, findings->total[side].left_out, "request");
        g_string_append_c(text, '\n');
    }
    if (shown > 0)
        g_string_append(text,
                        "share: of what requests take longer. before, after: mean of all such "
                        "requests, on the critical path.\n+-: standard error; what is less than "
                        "three of them is not told. called: share of the requests with the call.\n"
                        "times: calls in those.\n");
    fputs(text->str, out);
}

static void append_traces(GString *out, const BbCompareFindings *findings)
{
    if (findings->at_ns == BB_TIME_NONE) {
        g_string_append_printf(out, "%s against %s\n", findings->trace[BB_COMPARE_AFTER],
                               findings->trace[BB_COMPARE_BEFORE]);
        return;
    }
    g_string_append_printf(out, "%s from ", findings->trace[BB_COMPARE_AFTER]);
    bb_quantity_append_time(out, findings->at_ns);
    g_string_append(out, " on against before\n");
}

void bb_compare_write_text(const BbCompareFindings *findings, const BbNames *names, guint top,
                           FILE *out)
{
    guint all = findings->compared->len, shown = top ? MIN(top, all) : all;
    g_autoptr(GString) head = g_string_new("bbpaths compare, ");
    append_traces(head, findings);
    append_total(head, findings, BB_COMPARE_BEFORE);
    append_total(head, findings, BB_COMPARE_AFTER);
    fputs(head->str, out);
    for (guint i = 0; i < shown; i++)
        write_root(findings, g_ptr_array_index(findings->compared, i), names, out);
    write_rare(findings, names, out);
    write_foot(findings, shown, out);
}
