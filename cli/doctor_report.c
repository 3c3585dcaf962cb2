// SPDX-License-Identifier: Apache-2.0
// In: what the doctor saw and found. Out: text or JSON on standard output.
#include "cli/doctor_report.h"

#include "data/caption.h"
#include "data/json.h"
#include "data/quantity.h"

#include <stdio.h>
#include <string.h>

#define WIDTH 100u
#define INDENT 11u

// ---- text ---------------------------------------------------------------------------------------

// A paragraph behind its word, broken between words.
static void print_wrapped(const char *word, const char *text)
{
    gsize at = (gsize)printf("  %-*s", (int)INDENT - 2, word);
    while (*text) {
        gsize length = strcspn(text, " ");
        if (at + 1 + length > WIDTH && at > INDENT)
            at = (gsize)printf("\n%*s", (int)INDENT, "") - 1;
        else if (at > INDENT)
            at += (gsize)printf(" ");
        at += (gsize)printf("%.*s", (int)length, text);
        text += length;
        text += strspn(text, " ");
    }
    printf("\n");
}

static void append_figure(GString *out, const BbDoctorFinding *finding)
{
    bb_quantity_append_count(out, finding->part);
    g_string_append(out, " of ");
    bb_quantity_append_count(out, finding->whole);
    g_string_append_printf(out, " %s", finding->unit);
    if (finding->whole) {
        g_string_append(out, " (");
        bb_quantity_append_share(out, (double)finding->part / (double)finding->whole);
        g_string_append_c(out, ')');
    }
    if (finding->detail)
        g_string_append_printf(out, ", %s", finding->detail);
    g_string_append_printf(out, "; %s", bb_sureness_name(finding->sure));
}

static void print_places(const BbDoctorFinding *finding)
{
    g_autoptr(GString) text = g_string_new(NULL);
    for (guint i = 0; i < finding->n_places; i++) {
        g_string_append_printf(text, "%s%s (", i ? ", " : "", finding->place[i].text);
        bb_quantity_append_count(text, finding->place[i].count);
        g_string_append_c(text, ')');
    }
    if (finding->n_more)
        g_string_append_printf(text, ", and %u more", finding->n_more);
    if (finding->n_places)
        print_wrapped("where", text->str);
}

static void print_finding(const BbDoctorFinding *finding)
{
    g_autoptr(GString) figure = g_string_new(NULL);
    append_figure(figure, finding);
    printf("\n%s: %s [%s]\n", bb_severity_name(finding->severity), finding->title, finding->name);
    print_wrapped("figure", figure->str);
    print_places(finding);
    print_wrapped("means", finding->meaning);
    print_wrapped("remedy", finding->remedy);
}

static void append_seen(GString *out, const BbDoctorSummary *seen, gint64 watched_ns)
{
    bb_quantity_append_counted(out, seen->frames, "frame");
    g_string_append(out, " in ");
    bb_quantity_append_duration(out, seen->frames ? seen->last_ns - seen->first_ns : watched_ns);
    g_string_append(out, ": ");
    bb_quantity_append_counted(out, seen->talks, "conversation");
    g_string_append(out, ", ");
    bb_quantity_append_count(out, seen->both_ways);
    g_string_append(out, " of them with both directions; ");
    bb_quantity_append_counted(out, seen->calls, "call");
    g_string_append(out, ", ");
    bb_quantity_append_counted(out, seen->returns, "return");
    if (seen->unwatched_packets) {
        g_string_append(out, "; ");
        bb_quantity_append_count(out, seen->unwatched_packets);
        g_string_append(out, " packets of further conversations at the limit");
    }
}

void bb_doctor_print_text(const BbDoctor *doctor, const GArray *findings, const char *input,
                          gint64 watched_ns)
{
    g_autoptr(GString) seen = g_string_new(NULL);
    BbDoctorSummary summary = bb_doctor_summary(doctor);
    append_seen(seen, &summary, watched_ns);
    g_autoptr(GString) name = g_string_new(NULL);
    bb_caption_append(name, input, "");
    printf("%s: the mirror is %s: %s\n", name->str, bb_verdict_name(bb_doctor_verdict(doctor)),
           seen->str);
    for (guint i = 0; i < findings->len; i++)
        print_finding(&g_array_index(findings, BbDoctorFinding, i));
}

// ---- JSON ---------------------------------------------------------------------------------------

static void put_finding(BbJson *json, const BbDoctorFinding *finding)
{
    bb_json_begin_object(json);
    bb_json_put_string(json, "name", finding->name);
    bb_json_put_string(json, "severity", bb_severity_name(finding->severity));
    bb_json_put_string(json, "sure", bb_sureness_name(finding->sure));
    bb_json_put_uint(json, "part", finding->part);
    bb_json_put_uint(json, "whole", finding->whole);
    bb_json_put_string(json, "unit", finding->unit);
    bb_json_put_string(json, "title", finding->title);
    if (finding->detail)
        bb_json_put_string(json, "detail", finding->detail);
    bb_json_key(json, "where");
    bb_json_begin_array(json);
    for (guint i = 0; i < finding->n_places; i++) {
        bb_json_begin_object(json);
        bb_json_put_string(json, "place", finding->place[i].text);
        bb_json_put_uint(json, "count", finding->place[i].count);
        bb_json_end_object(json);
    }
    bb_json_end_array(json);
    bb_json_put_uint(json, "more_places", finding->n_more);
    bb_json_put_string(json, "means", finding->meaning);
    bb_json_put_string(json, "remedy", finding->remedy);
    bb_json_end_object(json);
}

static void put_summary(BbJson *json, const BbDoctorSummary *seen)
{
    bb_json_put_uint(json, "frames", seen->frames);
    bb_json_put_uint(json, "bytes", seen->bytes);
    bb_json_put_seconds(json, "duration_s", seen->last_ns - seen->first_ns);
    bb_json_put_uint(json, "tcp_packets", seen->tcp);
    bb_json_put_uint(json, "udp_packets", seen->udp);
    bb_json_put_uint(json, "conversations", seen->talks);
    bb_json_put_uint(json, "both_directions", seen->both_ways);
    bb_json_put_uint(json, "packets_beyond_limit", seen->unwatched_packets);
    bb_json_put_uint(json, "calls", seen->calls);
    bb_json_put_uint(json, "returns", seen->returns);
}

void bb_doctor_print_json(const BbDoctor *doctor, const GArray *findings, const char *input)
{
    g_autoptr(BbJson) json = bb_json_new(stdout);
    BbDoctorSummary summary = bb_doctor_summary(doctor);
    bb_json_begin_object(json);
    bb_json_put_uint(json, "bbtrace_doctor", 1);
    bb_json_put_string(json, "input", input);
    bb_json_put_string(json, "verdict", bb_verdict_name(bb_doctor_verdict(doctor)));
    put_summary(json, &summary);
    bb_json_key(json, "findings");
    bb_json_begin_array(json);
    for (guint i = 0; i < findings->len; i++) {
        bb_json_newline(json);
        put_finding(json, &g_array_index(findings, BbDoctorFinding, i));
    }
    bb_json_end_array(json);
    bb_json_end_object(json);
    (void)bb_json_finish(json); // whoever ends standard output sees its failure
}
