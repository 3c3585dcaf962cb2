// SPDX-License-Identifier: Apache-2.0
// In: figures of a running capture. Out: lines for people.
#include "cli/status_report.h"

#include "data/caption.h"
#include "data/quantity.h"

#define NAME_SHOWN 120u // bytes of a name

void bb_status_report_clear(BbStatusReport *report)
{
    bb_pulse_beat_clear(&report->beat);
}

// A second; that of an interval without length is 0.
static void append_rate(const BbStatusReport *report, guint64 count, GString *out)
{
    double seconds = (double)report->interval_ns / 1e9;
    bb_quantity_append_count(out, seconds > 0 ? (guint64)((double)count / seconds + 0.5) : 0);
}

static void append_size(GString *out, guint64 bytes)
{
    bb_quantity_append_count(out, (bytes + (1u << 19)) >> 20);
    g_string_append(out, " MiB");
}

static void append_name(GString *out, const BbNames *names, guint32 name)
{
    bb_caption_append_plain(out, bb_names_text(names, name), NAME_SHOWN);
}

static void append_rates(const BbStatusReport *report, GString *out)
{
    guint64 messages =
        report->now.count[BB_CALLS] + report->now.count[BB_RETURNS] + report->now.count[BB_FREES];
    append_rate(report, report->now.count[BB_SEEN_FRAMES], out);
    g_string_append(out, " packets/s, ");
    append_rate(report, messages, out);
    g_string_append(out, " messages/s, ");
    append_rate(report, report->now.count[BB_CALLS], out);
    g_string_append(out, " calls/s");
}

// For a line of which a narrow terminal shows no more than the begin: what matters most.
static void append_short_rates(const BbStatusReport *report, GString *out)
{
    append_rate(report, report->now.count[BB_SEEN_FRAMES], out);
    g_string_append(out, " packets/s, ");
    append_rate(report, report->now.count[BB_CALLS], out);
    g_string_append(out, " calls/s");
}

static void append_shed(const BbStatusReport *report, GString *out)
{
    if (!report->total.count[BB_SHED_PACKETS])
        return;
    g_string_append(out, ", ");
    bb_quantity_append_count(out, report->total.count[BB_SHED_PACKETS]);
    g_string_append(out, report->now.count[BB_SHED_FLOWS_MS] ? " shed (now)" : " shed");
}

static void append_drops(const BbStatusReport *report, GString *out)
{
    const guint64 *count = report->total.count;
    bb_quantity_append_count(out, count[BB_INTERFACE_DROPPED] + count[BB_KERNEL_DROPPED]);
    g_string_append(out, " dropped, ");
    bb_quantity_append_counted(out, count[BB_TCP_GAPS], "gap");
    append_shed(report, out);
}

static void append_losses(const BbStatusReport *report, GString *out)
{
    const guint64 *count = report->total.count;
    bb_quantity_append_count(out, count[BB_INTERFACE_DROPPED]);
    g_string_append(out, " dropped by interface, ");
    bb_quantity_append_count(out, count[BB_KERNEL_DROPPED]);
    g_string_append(out, " by kernel, ");
    bb_quantity_append_counted(out, count[BB_TCP_GAPS], "gap");
    append_shed(report, out);
}

static void append_state(const BbStatusReport *report, GString *out)
{
    if (!report->live)
        return;
    g_string_append(out, ", ");
    bb_quantity_append_counted(out, report->connections, "connection");
    g_string_append(out, ", ");
    append_size(out, report->memory_bytes);
}

void bb_status_report_append_line(const BbStatusReport *report, const char *source, GString *out)
{
    g_string_append_printf(out, "%s: ", source);
    append_drops(report, out);
    g_string_append(out, ", ");
    append_short_rates(report, out);
    append_state(report, out);
}

void bb_status_report_append_edge(const BbStatusReport *report, const BbPulseEdge *edge,
                                  const BbNames *names, GString *out)
{
    GString *rate = g_string_new(NULL);
    append_rate(report, edge->now.calls, rate);
    g_string_append_printf(out, "%9s calls/s  mean ", rate->str);
    g_string_truncate(rate, 0);
    if (edge->now.timed)
        bb_quantity_append_duration(rate, bb_pulse_sum_mean(&edge->now));
    g_string_append_printf(out, "%8s  max ", edge->now.timed ? rate->str : "-");
    g_string_truncate(rate, 0);
    if (edge->now.timed)
        bb_quantity_append_duration(rate, edge->now.max_ns);
    g_string_append_printf(out, "%8s  ", edge->now.timed ? rate->str : "-");
    g_string_free(rate, TRUE);
    append_name(out, names, edge->caller);
    g_string_append(out, " -> ");
    append_name(out, names, edge->callee);
    g_string_append(out, " (");
    append_name(out, names, edge->proto);
    g_string_append_c(out, ')');
    if (!edge->now.errors)
        return;
    g_string_append(out, ", ");
    bb_quantity_append_counted(out, edge->now.errors, "error");
}

static void append_edges(const BbStatusReport *report, const BbNames *names, guint edges,
                         GString *out)
{
    const BbPulseBeat *beat = &report->beat;
    g_string_append(out, "status: ");
    bb_quantity_append_counted(out, beat->now.errors, "error");
    g_string_append(out, " in the interval, ");
    bb_quantity_append_counted(out, beat->open, "open call");
    g_string_append_c(out, '\n');
    for (guint i = 0; i < MIN(edges, beat->edges->len); i++) {
        const BbPulseEdge *edge = &g_array_index(beat->edges, BbPulseEdge, i);
        if (edge->now.calls + edge->now.returns == 0)
            continue;
        g_string_append(out, "status: ");
        bb_status_report_append_edge(report, edge, names, out);
        g_string_append_c(out, '\n');
    }
}

static void append_totals(const BbStatusReport *report, GString *out)
{
    const guint64 *count = report->total.count;
    g_string_append(out, "status: ");
    bb_quantity_append_counted(out, count[BB_SEEN_FRAMES], "packet");
    g_string_append(out, ", ");
    bb_quantity_append_counted(out, count[BB_CALLS], "call");
    g_string_append(out, ", ");
    bb_quantity_append_counted(out, count[BB_RETURNS], "return");
    g_string_append(out, ", ");
    bb_quantity_append_counted(out, count[BB_FREES], "free message");
    g_string_append(out, " so far; ");
    append_losses(report, out);
    g_string_append_c(out, '\n');
}

void bb_status_report_append_text(const BbStatusReport *report, const char *source,
                                  const BbNames *names, guint edges, GString *out)
{
    if (report->time_ns != BB_TIME_NONE) {
        g_string_append_printf(out, "status: %s: ", source);
        append_rates(report, out);
        g_string_append(out, " over ");
        bb_quantity_append_duration(out, report->interval_ns);
        g_string_append(out, ", to ");
        bb_quantity_append_time(out, report->time_ns);
        g_string_append_c(out, '\n');
    }
    append_totals(report, out);
    if (report->live) {
        g_string_append(out, "status: ");
        bb_quantity_append_counted(out, report->connections, "connection");
        g_string_append(out, " remembered, ");
        bb_quantity_append_counted(out, report->held_bytes, "byte");
        g_string_append(out, " held, ");
        append_size(out, report->memory_bytes);
        g_string_append(out, " of memory\n");
    }
    if (report->beat.edges)
        append_edges(report, names, edges, out);
    if (report->stats_lost) {
        g_string_append(out, "status: ");
        bb_quantity_append_counted(out, report->stats_lost, "line or file");
        g_string_append(out, " of --stats not written\n");
    }
}
