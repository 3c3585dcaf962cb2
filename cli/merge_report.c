// SPDX-License-Identifier: Apache-2.0
// In: what a merge found. Out: sentences on standard error, counters of the trace.
#include "cli/merge_report.h"

#include <string.h>

#include "cli/command.h"
#include "cli/host_names.h"
#include "data/call.h"
#include "data/clock_doubt.h"
#include "merge/overlap.h"
#include "merge/repeats.h"

#define PAIRS_SHOWN 20u
#define PAIRS_STORED 64u // as counters in the trace
#define CLOCKS_SHOWN 20u
#define NAMES_SHOWN 5u
#define NATS_SHOWN 5u
#define RARE 100 // where fewer stand twice than one message of so many, that is not warned of

// ---- counters -----------------------------------------------------------------------------------

// An observer's name as a part of a counter's.
static void append_observer(GString *text, const char *name)
{
    g_string_append_c(text, '.');
    for (; *name; name++)
        g_string_append_c(text, g_ascii_isalnum(*name) ? g_ascii_tolower(*name) : '_');
}

static void add_pair(const BbMergeFindings *found, const BbOverlapPair *pair, BbCounters *counters)
{
    const struct {
        const char *what;
        guint64 value;
    } rows[] = {
        {".both", pair->both}, {".only_first", pair->only_a}, {".only_second", pair->only_b}};
    g_autoptr(GString) text = g_string_new("merge_pair");
    append_observer(text, bb_names_text(found->names, pair->a));
    append_observer(text, bb_names_text(found->names, pair->b));
    gsize stem = text->len;
    for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
        g_string_truncate(text, stem);
        g_string_append(text, rows[i].what);
        bb_counters_add(counters, text->str, rows[i].value);
    }
}

static gint64 error_of(const BbMergeFindings *found, guint clock)
{
    double error_ns = bb_clocks_at(found->clocks, clock)->error_ns;
    return error_ns < 0x1p62 ? (gint64)error_ns : G_MAXINT64;
}

// What is written of this clock may be off by so much, as far as that is known.
static guint64 off_by(const BbMergeFindings *found, guint clock)
{
    gint64 offset_ns = bb_clocks_at(found->clocks, clock)->offset_ns;
    bool corrected = found->options->clocks == BB_MERGE_CLOCKS_CORRECT;
    return (guint64)error_of(found, clock) + (corrected ? 0 : (guint64)ABS(offset_ns));
}

// The two that are off most may be so in opposite directions.
static guint64 apart_by(const BbMergeFindings *found)
{
    guint64 most = 0, next = 0;
    for (guint i = 0; found->clocks && i < bb_clocks_count(found->clocks); i++) {
        guint64 off = bb_clocks_at(found->clocks, i)->map ? off_by(found, i) : 0;
        next = MAX(next, MIN(off, most));
        most = MAX(most, off);
    }
    return most + next;
}

// From the earliest clock to the latest, as far as they are known; the first's is 0.
static gint64 clocks_span(const BbMergeFindings *found)
{
    gint64 least_ns = 0, most_ns = 0;
    for (guint i = 0; found->clocks && i < bb_clocks_count(found->clocks); i++) {
        const BbClock *clock = bb_clocks_at(found->clocks, i);
        if (clock->state != BB_CLOCK_KNOWN)
            continue;
        least_ns = MIN(least_ns, clock->offset_ns);
        most_ns = MAX(most_ns, clock->offset_ns);
    }
    return bb_time_between(least_ns, most_ns);
}

// Clocks that are only reported are further apart than sightings of one message may be.
static bool outside_window(const BbMergeFindings *found)
{
    return found->options->clocks == BB_MERGE_CLOCKS_REPORT &&
           clocks_span(found) > found->options->join.window_ns;
}

// Pairs of observers that see the same places and never the same message. Where clocks were
// corrected, each saw others; else nobody knows.
static GArray *list_strangers(const BbMergeFindings *found)
{
    bool unknown = found->options->clocks == BB_MERGE_CLOCKS_AS_IS || outside_window(found);
    if (!unknown || found->options->join.by == BB_JOIN_NONE)
        return g_array_new(FALSE, FALSE, sizeof(BbOverlapPair));
    return bb_overlap_apart(bb_join_overlap(found->join), found->names);
}

static guint64 sightings_apart(const BbMergeFindings *found)
{
    g_autoptr(GArray) pairs = list_strangers(found);
    guint64 sum = 0;
    for (guint i = 0; i < pairs->len; i++) {
        const BbOverlapPair *pair = &g_array_index(pairs, BbOverlapPair, i);
        sum += MIN(pair->only_a, pair->only_b);
    }
    return sum;
}

// Messages that two observers share, and that were joined.
static guint64 joined_of(const GArray *pairs, guint32 a, guint32 b)
{
    for (guint i = 0; i < pairs->len; i++) {
        const BbOverlapPair *pair = &g_array_index(pairs, BbOverlapPair, i);
        if ((pair->a == a && pair->b == b) || (pair->a == b && pair->b == a))
            return pair->both;
    }
    return 0;
}

// Messages that both were recognised to have seen, and that were not joined, or more.
static guint64 twice_of(const BbMergeFindings *found, const GArray *pairs,
                        const BbClockRelation *relation)
{
    guint64 joined = joined_of(pairs, bb_clocks_at(found->clocks, relation->a)->name,
                               bb_clocks_at(found->clocks, relation->b)->name);
    bool counted = found->options->join.by != BB_JOIN_NONE &&
                   !bb_overlap_left_out(bb_join_overlap(found->join));
    return counted && relation->matches > joined ? relation->matches - joined : 0;
}

static guint64 sightings_twice(const BbMergeFindings *found, const GArray *pairs)
{
    guint64 sum = 0;
    for (guint i = 0; found->clocks && i < bb_clocks_relations(found->clocks); i++)
        sum += twice_of(found, pairs, bb_clocks_relation(found->clocks, i));
    return sum;
}

static bool is_known(const BbClock *clock)
{
    return clock->state == BB_CLOCK_KNOWN || clock->state == BB_CLOCK_REFERENCE;
}

static guint clocks_unknown(const BbMergeFindings *found)
{
    guint unknown = 0;
    for (guint i = 0; found->clocks && i < bb_clocks_count(found->clocks); i++)
        unknown += !is_known(bb_clocks_at(found->clocks, i));
    return unknown;
}

static guint reference_falls(const BbMergeFindings *found)
{
    return found->clocks ? bb_clocks_reference_falls(found->clocks) : 0;
}

static void add_some(BbCounters *counters, const char *name, guint64 value)
{
    if (value)
        bb_counters_add(counters, name, value);
}

// Those of the inputs, but for what an earlier merge did not know of clocks, where they were solved
// anew.
static BbCounters *inputs_counters(const BbMergeFindings *found)
{
    BbCounters *counters = bb_counters_new();
    const BbCounters *inputs = bb_merger_counters(found->merger);
    for (guint i = 0; i < bb_counters_count(inputs); i++) {
        const char *name = bb_counters_name(inputs, i);
        bool is_solved = found->clocks && (strcmp(name, BB_CLOCKS_UNKNOWN) == 0 ||
                                           strcmp(name, BB_CLOCK_FALLS) == 0);
        if (!is_solved)
            bb_counters_add(counters, name, bb_counters_value(inputs, i));
    }
    return counters;
}

BbCounters *bb_merge_counters(const BbMergeFindings *found)
{
    BbCounters *counters = inputs_counters(found);
    for (guint i = 0; i < BB_JOIN_COUNTS; i++)
        add_some(counters, bb_join_count_name(i), bb_join_count(found->join, i));
    g_autoptr(GArray) pairs = bb_overlap_pairs(bb_join_overlap(found->join), found->names);
    add_some(counters, BB_CLOCK_ERROR, apart_by(found));
    add_some(counters, BB_SIGHTINGS_APART, sightings_apart(found));
    add_some(counters, BB_SIGHTINGS_TWICE, sightings_twice(found, pairs));
    add_some(counters, BB_CLOCKS_UNKNOWN, clocks_unknown(found));
    add_some(counters, BB_CLOCK_FALLS, reference_falls(found));
    if (bb_counters_get(counters, BB_RETURNS_MOVED) || bb_counters_get(counters, BB_RETURNS_BEFORE))
        bb_counters_add(counters, BB_CALLS_MERGED, found->calls);
    add_some(counters, BB_NAT_JOINED, found->nat ? bb_nat_joined(found->nat) : 0);
    add_some(counters, BB_NAT_FORGOTTEN, found->nat ? bb_nat_forgotten(found->nat) : 0);
    add_some(counters, BB_REPEATS_TWO_CLOCKS, bb_merge_repeated(found));
    add_some(counters, BB_NAT_NOISE, bb_merge_unsure_sides(found));
    for (guint i = 0; i < MIN(pairs->len, PAIRS_STORED); i++)
        add_pair(found, &g_array_index(pairs, BbOverlapPair, i), counters);
    return counters;
}

// ---- sentences ----------------------------------------------------------------------------------

static void say_counts(const BbMergeFindings *found)
{
    g_autofree char *read = bb_counted(bb_merger_messages(found->merger), "message");
    g_autofree char *inputs = bb_counted(bb_merger_inputs(found->merger), "trace");
    g_autofree char *written = bb_counted(found->written, "message");
    bb_say("%s of %s: %s", read, inputs, written);
    for (guint i = BB_JOIN_JOINED; i < BB_JOIN_COUNTS; i++) {
        g_autofree char *number = bb_number(bb_join_count(found->join, i));
        if (bb_join_count(found->join, i))
            bb_say("%12s  %s (%s)", number, bb_join_count_meaning(i), bb_join_count_name(i));
    }
}

static void say_clock(const BbMergeFindings *found, const BbClock *clock)
{
    const char *name = bb_names_text(found->names, clock->name);
    const char *via = bb_names_text(found->names, bb_clocks_at(found->clocks, clock->via)->name);
    guint steps = clock->map ? bb_clock_map_count(clock->map) - 1 : 0;
    if (clock->state == BB_CLOCK_KNOWN)
        bb_say("clock of %s: %+.6f s, %+.3f ppm, to within %.6f s%s", name,
               (double)clock->offset_ns / 1e9, clock->drift * 1e6, clock->error_ns / 1e9,
               steps ? "; it steps" : "");
    else if (clock->state == BB_CLOCK_BOUND)
        bb_say("warning: the clock of %s cannot be known: all messages seen by it and by %s go one "
               "way, which says only that it is at %s %+.6f s against that one",
               name, via, clock->bound_above ? "most" : "least", (double)clock->bound_ns / 1e9);
    else if (clock->state == BB_CLOCK_UNORDERED)
        bb_say("warning: the clock of %s cannot be known: all messages seen by it and by %s go one "
               "way between their nodes, and nothing tells whom they passed first",
               name, via);
    else if (clock->state == BB_CLOCK_UNKNOWN)
        bb_say("warning: the clock of %s cannot be known: it has no message that can be recognised "
               "in common with others whose clock is known",
               name);
}

static void warn_of_window(const BbMergeFindings *found)
{
    if (outside_window(found))
        bb_say("warning: the clocks are up to %.6f s apart, and sightings further apart than the "
               "window of %.6f s are not joined: give --clocks=correct, or a --window that is "
               "longer than that",
               (double)clocks_span(found) / 1e9, (double)found->options->join.window_ns / 1e9);
}

// Clocks that are corrected, but known to within more than sightings may be apart.
static void warn_of_errors(const BbMergeFindings *found)
{
    gint64 window_ns = found->options->join.window_ns;
    if (!found->clocks || found->options->clocks != BB_MERGE_CLOCKS_CORRECT)
        return;
    g_autoptr(GArray) pairs = bb_overlap_pairs(bb_join_overlap(found->join), found->names);
    for (guint i = 0, said = 0; i < bb_clocks_relations(found->clocks) && said < PAIRS_SHOWN; i++) {
        const BbClockRelation *relation = bb_clocks_relation(found->clocks, i);
        guint32 a = bb_clocks_at(found->clocks, relation->a)->name,
                b = bb_clocks_at(found->clocks, relation->b)->name;
        gint64 error_ns = MAX(error_of(found, relation->a), error_of(found, relation->b));
        guint64 joined = joined_of(pairs, a, b);
        if (error_ns <= window_ns || relation->matches / 2 < MAX(joined, 1))
            continue;
        g_autofree char *matches = bb_counted(relation->matches, "message");
        g_autofree char *both = bb_number(joined);
        bb_say("warning: %s and %s have %s in common, or more, of which %s were joined: their "
               "clocks are known to within %.6f s, and sightings further apart than the window of "
               "%.6f s are not joined: give a --window that is longer than that",
               bb_names_text(found->names, a), bb_names_text(found->names, b), matches, both,
               (double)error_ns / 1e9, (double)window_ns / 1e9);
        said++;
    }
}

// What is known to be the same and was not joined, though clocks were known to within the window.
static void warn_of_twice(const BbMergeFindings *found)
{
    gint64 window_ns = found->options->join.window_ns;
    g_autoptr(GArray) pairs = bb_overlap_pairs(bb_join_overlap(found->join), found->names);
    bool looked = found->clocks && !outside_window(found); // else that is told
    guint count = looked ? bb_clocks_relations(found->clocks) : 0;
    for (guint i = 0, said = 0; i < count && said < PAIRS_SHOWN; i++) {
        const BbClockRelation *relation = bb_clocks_relation(found->clocks, i);
        guint64 twice = twice_of(found, pairs, relation);
        bool rare = twice < relation->matches / RARE || twice == 0;
        if (rare || MAX(error_of(found, relation->a), error_of(found, relation->b)) > window_ns)
            continue;
        const BbClock *a = bb_clocks_at(found->clocks, relation->a),
                      *b = bb_clocks_at(found->clocks, relation->b);
        g_autofree char *messages = bb_counted(twice, "message");
        bool back = bb_clocks_laps(found->clocks, a->name) > 1 ||
                    bb_clocks_laps(found->clocks, b->name) > 1;
        bb_say("warning: %s that %s and %s both saw %s twice, as their times are further apart "
               "than the window%s",
               messages, bb_names_text(found->names, a->name), bb_names_text(found->names, b->name),
               twice == 1 ? "stands" : "stand",
               back
                   ? ": a clock stepped back and showed times twice, and its traces are not in the "
                     "order in which messages came"
                   : "");
        said++;
    }
}

static void warn_of_reference(const BbMergeFindings *found)
{
    if (reference_falls(found))
        bb_say("warning: the clock of %s, by which all others are corrected, stepped back: times "
               "before and after do not compare; put another observer's trace first",
               bb_names_text(found->names, bb_clocks_at(found->clocks, 0)->name));
}

// Nobody looked at clocks: what observers see at the same places and is never the same.
static void warn_of_strangers(const BbMergeFindings *found)
{
    if (found->options->clocks != BB_MERGE_CLOCKS_AS_IS)
        return;
    g_autoptr(GArray) pairs = list_strangers(found);
    for (guint i = 0; i < MIN(pairs->len, NAMES_SHOWN); i++) {
        const BbOverlapPair *pair = &g_array_index(pairs, BbOverlapPair, i);
        g_autofree char *only_a = bb_number(pair->only_a), *only_b = bb_number(pair->only_b);
        bb_say("warning: %s and %s saw %s and %s messages between the same nodes at the same time, "
               "of which none was joined: unless each saw others, their clocks are further apart "
               "than the window of %.6f s: give --clocks=correct, or a --window that is longer",
               bb_names_text(found->names, pair->a), bb_names_text(found->names, pair->b), only_a,
               only_b, (double)found->options->join.window_ns / 1e9);
    }
    if (pairs->len > NAMES_SHOWN)
        bb_say("and %u more pairs of observers of which none was joined", pairs->len - NAMES_SHOWN);
}

static void warn_of_doubt(const BbMergeFindings *found)
{
    g_autoptr(BbCounters) counters = bb_merge_counters(found);
    const BbClockDoubt doubt = bb_clock_doubt_of(counters, found->calls);
    g_autofree char *told = bb_clock_doubt_tell(&doubt);
    if (told)
        bb_say("warning: %s", told);
}

// What cannot be known is said in any case, and what it does to the trace.
void bb_merge_say_clocks(const BbMergeFindings *found)
{
    guint count = found->clocks ? bb_clocks_count(found->clocks) : 0;
    for (guint i = 0; i < count; i++) {
        const BbClock *clock = bb_clocks_at(found->clocks, i);
        if (i < CLOCKS_SHOWN && !(is_known(clock) && found->options->quiet))
            say_clock(found, clock);
    }
    if (count > CLOCKS_SHOWN)
        bb_say("and %u more clocks; %u of all %u cannot be known", count - CLOCKS_SHOWN,
               clocks_unknown(found), count);
    warn_of_window(found);
    warn_of_errors(found);
    warn_of_twice(found);
    warn_of_reference(found);
    warn_of_strangers(found);
    warn_of_doubt(found);
}

static void say_pairs(const BbMergeFindings *found)
{
    const BbOverlap *overlap = bb_join_overlap(found->join);
    g_autoptr(GArray) pairs = bb_overlap_pairs(overlap, found->names);
    for (guint i = 0; i < MIN(pairs->len, PAIRS_SHOWN); i++) {
        const BbOverlapPair *pair = &g_array_index(pairs, BbOverlapPair, i);
        const char *a = bb_names_text(found->names, pair->a),
                   *b = bb_names_text(found->names, pair->b);
        g_autofree char *both = bb_number(pair->both), *only_a = bb_number(pair->only_a);
        g_autofree char *only_b = bb_number(pair->only_b);
        bb_say("%s and %s: %s messages seen by both, %.6f to %.6f s apart; where both see, %s only "
               "by %s, %s only by %s",
               a, b, both, (double)pair->least_ns / 1e9, (double)pair->most_ns / 1e9, only_a, a,
               only_b, b);
    }
    if (pairs->len > PAIRS_SHOWN)
        bb_say("and %u more pairs of observers", pairs->len - PAIRS_SHOWN);
    if (bb_overlap_left_out(overlap))
        bb_say("warning: not all edges could be counted by observer, there are more than %u",
               BB_OVERLAP_ROWS);
}

static void say_names(const BbMergeFindings *found)
{
    g_autoptr(GArray) names = bb_join_names(found->join);
    for (guint i = 0; i < MIN(names->len, NAMES_SHOWN); i++) {
        const BbJoinNames *apart = &g_array_index(names, BbJoinNames, i);
        g_autofree char *count = bb_number(apart->count);
        bb_say(
            "hint: '%s' and '%s' seem to be one host (%s messages): --alias can give it one name",
            bb_names_text(found->names, apart->name), bb_names_text(found->names, apart->other),
            count);
    }
    if (names->len > NAMES_SHOWN)
        bb_say("and %u more pairs of names that seem to be of one host", names->len - NAMES_SHOWN);
}

static void say_nat_edge(const BbMergeFindings *found, const BbNatEdge *edge)
{
    const BbNames *names = found->names;
    bool join = found->options->nat == BB_MERGE_NAT_JOIN;
    guint64 apart = edge->apart, one = edge->connections - apart;
    g_autofree char *count = bb_number(edge->connections);
    g_autofree char *stay = bb_number(apart);
    g_autoptr(GString) text = g_string_new(NULL);
    if (one && !join)
        g_string_append(text, "; --nat=join makes one message of both sightings");
    if (apart)
        g_string_append_printf(text, "; one observer saw %s of them on both sides: these stay two",
                               stay);
    bool alone = edge->connections == 1;
    bb_say(
        "%s%s connection%s of '%s' with '%s' (seen by %s) %s the same as of '%s' with '%s' (seen "
        "by %s), by %s sequence numbers (expected by accident: %.0e)%s",
        join ? "" : "hint: ", count, alone ? "" : "s", bb_names_text(names, edge->near[0]),
        bb_names_text(names, edge->near[1]), bb_names_text(names, edge->near_observer),
        alone ? "is" : "are", bb_names_text(names, edge->far[0]),
        bb_names_text(names, edge->far[1]), bb_names_text(names, edge->far_observer),
        alone ? "its" : "their", edge->accidents, text->str);
}

static void say_nat(const BbMergeFindings *found)
{
    if (!found->nat)
        return;
    g_autoptr(GArray) edges = bb_nat_edges(found->nat);
    for (guint i = 0; i < MIN(edges->len, NATS_SHOWN); i++)
        say_nat_edge(found, &g_array_index(edges, BbNatEdge, i));
    if (edges->len > NATS_SHOWN)
        bb_say("and %u more pairs of nodes whose connections are the same as of others",
               edges->len - NATS_SHOWN);
    if (bb_nat_forgotten(found->nat))
        bb_say("warning: there are more than %u connections: translated ones were looked for in a "
               "sample",
               BB_NAT_CONNECTIONS);
}

// Inputs that are damaged or could not be read, said with their names at the end. Returns whether
// all could be read.
bool bb_merge_say_complaints(const BbMergeFindings *found)
{
    bool whole = true, failed = false;
    const char *complaint = NULL;
    for (guint i = 0; (complaint = bb_merger_complaint(found->merger, i, &failed)); i++) {
        whole &= !failed;
        if (failed)
            bb_say_error("%s", complaint);
        else
            bb_say("warning: %s", complaint);
    }
    return whole;
}

// Rules that are misspelt fit nothing, as do those of a file for several places.
static void say_unused(const BbMergeFindings *found)
{
    if (found->written)
        bb_say_unused_names(found->nodes);
    g_autoptr(GString) shown = g_string_new(NULL);
    guint at = 0, unused = 0;
    for (const char *rule = bb_node_rules_next_unused(found->rules, &at); rule;
         rule = bb_node_rules_next_unused(found->rules, &at))
        if (unused++ < NAMES_SHOWN)
            g_string_append_printf(shown, " %s", rule);
    if (unused)
        bb_say("--alias: nothing was called%s%s", shown->str,
               unused > NAMES_SHOWN ? ", and more rules fit nothing" : "");
}

void bb_merge_say_summary(const BbMergeFindings *found)
{
    say_counts(found);
    say_unused(found);
    say_pairs(found);
    say_names(found);
    say_nat(found);
}
