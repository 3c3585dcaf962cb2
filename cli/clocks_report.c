// SPDX-License-Identifier: Apache-2.0
// In: clocks of observers. Out: a table of them, as text or JSON.
#include "cli/clocks_report.h"

#include "data/json.h"
#include "data/percent.h"

#include <inttypes.h>
#include <math.h>

#define NS_PER_S 1000000000

// ---- text --------------------------------------------------------------------------------------

static void put_name(const BbClocks *clocks, const BbNames *names, guint index, FILE *out)
{
    g_autoptr(GString) text = g_string_new(NULL);
    guint32 name = bb_clocks_at(clocks, index)->name;
    if (name != BB_NAME_NONE)
        bb_percent_append(text, bb_names_text(names, name), "%=");
    fputs(text->len ? text->str : "-", out);
}

// From integers: a double cannot hold nanoseconds since 1970.
static void put_seconds(gint64 ns, FILE *out)
{
    guint64 size = ns < 0 ? 0 - (guint64)ns : (guint64)ns;
    fprintf(out, "%s%" PRIu64 ".%09" PRIu64, ns < 0 ? "-" : "", size / NS_PER_S, size % NS_PER_S);
}

static void put_clock(const BbClocks *clocks, const BbNames *names, guint index, FILE *out)
{
    const BbClock *clock = bb_clocks_at(clocks, index);
    put_name(clocks, names, index, out);
    if (!clock->map) {
        fputs(" - - -\n", out);
        return;
    }
    fputc(' ', out);
    put_seconds(clock->offset_ns, out);
    fprintf(out, " %.4f ", clock->drift * 1e6);
    put_seconds((gint64)ceil(clock->error_ns), out);
    fputc('\n', out);
}

static void put_steps(const BbClocks *clocks, const BbNames *names, guint index, FILE *out)
{
    const BbClock *clock = bb_clocks_at(clocks, index);
    for (guint i = 0; clock->map && i + 1 < bb_clock_map_count(clock->map); i++) {
        fputs("# ", out);
        put_name(clocks, names, index, out);
        fputs(" steps by ", out);
        put_seconds(-bb_clock_map_step_ns(clock->map, i), out);
        fputs(" at ", out);
        put_seconds(bb_clock_map_at(clock->map, i)->to_ns, out);
        fputs(" of its own clock\n", out);
    }
}

static void put_unknown(const BbClocks *clocks, const BbNames *names, guint index, FILE *out)
{
    const BbClock *clock = bb_clocks_at(clocks, index);
    if (clock->map)
        return;
    fputs("# ", out);
    put_name(clocks, names, index, out);
    if (clock->state == BB_CLOCK_UNKNOWN) {
        fputs(": cannot know: it has no message that can be recognised in common with a clock that "
              "is known\n",
              out);
        return;
    }
    fputs(": cannot know: only messages one way in common with ", out);
    put_name(clocks, names, clock->via, out);
    if (clock->state == BB_CLOCK_UNORDERED) {
        fputs(", and nothing tells whom they passed first\n", out);
        return;
    }
    fprintf(out, "; its clock is ahead of that one by at %s ",
            clock->bound_above ? "most" : "least");
    put_seconds(clock->bound_ns, out);
    fputs(" s\n", out);
}

static const char *state_text(const BbClockRelation *relation)
{
    switch (relation->fit.state) {
    case BB_CLOCK_FIT_NONE:
        return "which passed which first is not known";
    case BB_CLOCK_FIT_ONE_WAY:
        return "one way only";
    default:
        return relation->used ? "used" : "residual ";
    }
}

static void put_relation(const BbClocks *clocks, const BbNames *names,
                         const BbClockRelation *relation, FILE *out)
{
    const BbClockFit *fit = &relation->fit;
    fputs("# ", out);
    put_name(clocks, names, relation->a, out);
    fputc(' ', out);
    put_name(clocks, names, relation->b, out);
    fprintf(out, ": %" PRIu64 " messages in common, %" PRIu64 " one way, %" PRIu64 " the other",
            relation->matches, fit->points[0], fit->points[1]);
    if (relation->unordered)
        fprintf(out, ", %" PRIu64 " of unknown direction", relation->unordered);
    if (fit->left_out)
        fprintf(out, ", %" PRIu64 " left out", fit->left_out);
    fprintf(out, "; %s", state_text(relation));
    if (fit->state == BB_CLOCK_FIT_LINES && !relation->used)
        put_seconds(relation->residual_ns, out);
    fputc('\n', out);
}

void bb_clocks_write_text(const BbClocks *clocks, const BbNames *names, FILE *out)
{
    fputs("# bbtrace clocks: name offset_s drift_ppm uncertainty_s\n", out);
    for (guint i = 0; i < bb_clocks_count(clocks); i++)
        put_clock(clocks, names, i, out);
    for (guint i = 0; i < bb_clocks_count(clocks); i++) {
        put_steps(clocks, names, i, out);
        put_unknown(clocks, names, i, out);
    }
    for (guint i = 0; i < bb_clocks_relations(clocks); i++)
        put_relation(clocks, names, bb_clocks_relation(clocks, i), out);
}

// ---- JSON --------------------------------------------------------------------------------------

static void json_name(BbJson *json, const char *key, const BbClocks *clocks, const BbNames *names,
                      guint index)
{
    bb_json_put_string(json, key, bb_names_text(names, bb_clocks_at(clocks, index)->name));
}

static void json_steps(BbJson *json, const BbClock *clock)
{
    bb_json_key(json, "steps");
    bb_json_begin_array(json);
    for (guint i = 0; clock->map && i + 1 < bb_clock_map_count(clock->map); i++) {
        bb_json_begin_object(json);
        bb_json_put_seconds(json, "time", bb_clock_map_at(clock->map, i)->to_ns);
        bb_json_put_seconds(json, "step_s", -bb_clock_map_step_ns(clock->map, i));
        bb_json_end_object(json);
    }
    bb_json_end_array(json);
}

static void json_clock(BbJson *json, const BbClocks *clocks, const BbNames *names, guint index)
{
    static const char *const states[] = {"reference", "known", "bound", "unordered", "unknown"};
    const BbClock *clock = bb_clocks_at(clocks, index);
    bb_json_newline(json);
    bb_json_begin_object(json);
    json_name(json, "name", clocks, names, index);
    bb_json_key(json, "state");
    bb_json_string(json, states[clock->state]);
    bb_json_put_uint(json, "sightings", clock->sightings);
    if (clock->state != BB_CLOCK_REFERENCE && clock->state != BB_CLOCK_UNKNOWN)
        json_name(json, "via", clocks, names, clock->via);
    if (clock->map) {
        bb_json_put_seconds(json, "offset_s", clock->offset_ns);
        bb_json_put_share(json, "drift_ppm", clock->drift * 1e6);
        bb_json_put_share(json, "drift_uncertainty_ppm", clock->drift_error * 1e6);
        bb_json_put_seconds(json, "uncertainty_s", (gint64)ceil(clock->error_ns));
        json_steps(json, clock);
    } else if (clock->state == BB_CLOCK_BOUND) {
        bb_json_put_seconds(json, clock->bound_above ? "at_most_s" : "at_least_s", clock->bound_ns);
    }
    bb_json_end_object(json);
}

static void json_relation(BbJson *json, const BbClocks *clocks, const BbNames *names,
                          const BbClockRelation *relation)
{
    const BbClockFit *fit = &relation->fit;
    bb_json_newline(json);
    bb_json_begin_object(json);
    json_name(json, "a", clocks, names, relation->a);
    json_name(json, "b", clocks, names, relation->b);
    bb_json_put_uint(json, "messages", relation->matches);
    bb_json_put_uint(json, "a_first", fit->points[0]);
    bb_json_put_uint(json, "b_first", fit->points[1]);
    bb_json_put_uint(json, "unknown_direction", relation->unordered);
    bb_json_put_uint(json, "left_out", fit->left_out);
    if (fit->state == BB_CLOCK_FIT_LINES) {
        bb_json_put_uint(json, "pieces", bb_clock_map_count(fit->map));
        bb_json_put_seconds(json, "gap_s", (gint64)llround(fit->gap_ns));
        bb_json_key(json, "used");
        bb_json_bool(json, relation->used);
        if (!relation->used)
            bb_json_put_seconds(json, "residual_s", relation->residual_ns);
    }
    bb_json_end_object(json);
}

void bb_clocks_write_json(const BbClocks *clocks, const BbNames *names, FILE *out)
{
    g_autoptr(BbJson) json = bb_json_new(out);
    bb_json_begin_object(json);
    bb_json_put_uint(json, "clocks", 1);
    bb_json_put_uint(json, "sightings", bb_clocks_added(clocks));
    bb_json_put_uint(json, "sample", bb_clocks_kept(clocks));
    bb_json_put_uint(json, "ambiguous", bb_clocks_ambiguous(clocks));
    bb_json_key(json, "observers");
    bb_json_begin_array(json);
    for (guint i = 0; i < bb_clocks_count(clocks); i++)
        json_clock(json, clocks, names, i);
    bb_json_end_array(json);
    bb_json_key(json, "pairs");
    bb_json_begin_array(json);
    for (guint i = 0; i < bb_clocks_relations(clocks); i++)
        json_relation(json, clocks, names, bb_clocks_relation(clocks, i));
    bb_json_end_array(json);
    bb_json_end_object(json);
    bb_json_finish(json);
}
