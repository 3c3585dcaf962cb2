// SPDX-License-Identifier: Apache-2.0
// bbtrace skew. In: a trace. Out: the same with wrong clocks.
#include "cli/traces.h"

#include "data/scenario.h"
#include "data/skew.h"

#include <string.h>

#define PROGRAM "bbtrace skew"

typedef struct Skew {
    char *out;
    char **nodes;
    gint64 seed;
    gboolean quiet;
    BbTraces traces;
    BbSkew *skew;
} Skew;

static void skew_clear(Skew *skew)
{
    g_free(skew->out);
    g_strfreev(skew->nodes);
    bb_skew_free(skew->skew);
    bb_traces_clear(&skew->traces);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Skew, skew_clear)

// "30ms", "-2ms".
static bool parse_offset(const char *text, gint64 *offset_ns)
{
    bool negative = *text == '-';
    text += negative || *text == '+';
    if (!bb_scenario_parse_time(text, offset_ns))
        return false;
    *offset_ns = negative ? -*offset_ns : *offset_ns;
    return true;
}

static bool parse_drift(const char *text, double *ppm)
{
    char *end = NULL;
    *ppm = g_ascii_strtod(text, &end);
    return end != text && (strcmp(end, "ppm") == 0 || *end == '\0') && *ppm > -1e6 && *ppm < 1e6;
}

// NAME=OFFSET[+DRIFTppm]. A name may hold `=`: the last one counts.
static bool parse_clock(const char *text, char **name, BbSkewClock *clock)
{
    const char *equals = strrchr(text, '=');
    if (!equals || equals == text || !equals[1])
        return false;
    gsize offset = 1 + strcspn(equals + 2, "+-"); // a sign may lead
    g_autofree char *first = g_strndup(equals + 1, offset);
    const char *drift = equals + 1 + offset;
    *clock = (BbSkewClock){0};
    if (!parse_offset(first, &clock->offset_ns) ||
        (*drift && !parse_drift(drift, &clock->drift_ppm)))
        return false;
    *name = g_strndup(text, (gsize)(equals - text));
    return true;
}

static int set_clocks(Skew *skew)
{
    for (char **node = skew->nodes; node && *node; node++) {
        g_autofree char *name = NULL;
        BbSkewClock clock;
        const char *offset = strrchr(*node, '=');
        if (!parse_clock(*node, &name, &clock))
            return bb_say_usage(PROGRAM,
                                "--node takes NAME=OFFSET or NAME=OFFSET+DRIFTppm, "
                                "as WS2=30ms-20ppm, not '%s'%s",
                                *node, bb_duration_excess(offset ? offset + 1 : ""));
        bb_skew_set(skew->skew, name, clock);
    }
    return -1;
}

static void say_unused(const Skew *skew)
{
    for (char **node = skew->nodes; node && *node; node++) {
        g_autofree char *name = NULL;
        BbSkewClock clock;
        if (parse_clock(*node, &name, &clock) &&
            !bb_skew_clock(skew->skew, bb_names_find(skew->traces.names, name), &clock))
            bb_say("warning: no node '%s' stamps anything in the trace", name);
    }
}

static int by_text(gconstpointer a, gconstpointer b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static void say_clocks(const Skew *skew)
{
    g_autoptr(GPtrArray) nodes = g_ptr_array_new();
    BbSkewClock clock;
    for (guint32 name = 1; name < bb_names_count(skew->traces.names); name++)
        if (bb_skew_clock(skew->skew, name, &clock))
            g_ptr_array_add(nodes, (gpointer)(guintptr)bb_names_text(skew->traces.names, name));
    g_ptr_array_sort(nodes, by_text);
    for (guint i = 0; i < nodes->len; i++) {
        const char *node = g_ptr_array_index(nodes, i);
        (void)bb_skew_clock(skew->skew, bb_names_find(skew->traces.names, node), &clock);
        if (clock.offset_ns != 0 || clock.drift_ppm != 0)
            bb_say("%s: %+.6f s, %+.3f ppm", node, (double)clock.offset_ns / 1e9, clock.drift_ppm);
    }
    g_autofree char *clipped = bb_counted(bb_skew_clipped(skew->skew), "time");
    if (bb_skew_clipped(skew->skew))
        bb_say("warning: %s set to 1970 or 2262, and would be beyond", clipped);
}

static void change_times(BbMessage *message, gpointer user)
{
    bb_skew_apply(user, message);
}

static int skew_trace(Skew *skew, char **paths)
{
    g_autoptr(GError) error = NULL;
    int status = set_clocks(skew);
    if (status >= 0)
        return status;
    if (!bb_traces_read(&skew->traces, paths, bb_traces_write, &skew->traces, &error) ||
        !bb_traces_finish(&skew->traces, &error)) {
        bb_say_error("%s", error->message);
        return BB_EXIT_FAILED;
    }
    if (skew->traces.failed)
        return BB_EXIT_FAILED;
    say_unused(skew);
    if (!skew->quiet)
        say_clocks(skew);
    return BB_EXIT_DONE;
}

static int run_skew(int argc, char **argv)
{
    g_auto(Skew) skew = {.seed = 1};
    g_autofree char *offsets = NULL, *drifts = NULL;
    gboolean skip = FALSE;
    const GOptionEntry entries[] = {
        {"write", 'w', 0, G_OPTION_ARG_FILENAME, &skew.out,
         "Write the trace here, as .bbt (default: as text on standard output)", "FILE"},
        {"node", 'n', 0, G_OPTION_ARG_STRING_ARRAY, &skew.nodes,
         "This node's clock, as WS2=30ms-20ppm; may be given again", "NAME=CLOCK"},
        {"random", 0, 0, G_OPTION_ARG_STRING, &offsets,
         "Deviation of random offsets of all other clocks (default: 0)", "TIME"},
        {"drift", 0, 0, G_OPTION_ARG_STRING, &drifts,
         "Deviation of random drifts of all other clocks (default: 0)", "PPM"},
        {"seed", 's', 0, G_OPTION_ARG_INT64, &skew.seed, "Seed of the random numbers (default: 1)",
         "N"},
        {"skip-bad-lines", 0, 0, G_OPTION_ARG_NONE, &skip,
         "Count malformed lines of a text trace instead of stopping at them", NULL},
        {"quiet", 'q', 0, G_OPTION_ARG_NONE, &skew.quiet, "Do not say which clock is how wrong",
         NULL},
        {NULL, 0, 0, 0, NULL, NULL, NULL},
    };
    int status = BB_EXIT_DONE;
    BbSkewClock deviation = {0};
    if (!bb_options_parse(PROGRAM, "TRACE",
                          "Gives nodes wrong clocks: the times that a node stamps move.", NULL,
                          entries, &argc, &argv, &status))
        return status;
    status = bb_traces_check_one(PROGRAM, argv + 1, skew.out);
    if (status >= 0)
        return status;
    if (offsets && !bb_scenario_parse_time(offsets, &deviation.offset_ns))
        return bb_say_usage(PROGRAM, "--random takes a time such as 10ms, not '%s'%s", offsets,
                            bb_duration_excess(offsets));
    if (drifts && (!parse_drift(drifts, &deviation.drift_ppm) || deviation.drift_ppm < 0))
        return bb_say_usage(PROGRAM, "--drift takes a number of ppm, not '%s'", drifts);
    if (!skew.nodes && !offsets && !drifts)
        return bb_say_usage(PROGRAM, "which clocks? Give --node, --random or --drift");
    bb_traces_init(&skew.traces, skip);
    bb_traces_write_to(&skew.traces, skew.out);
    skew.skew = bb_skew_new(skew.traces.names, deviation, (guint64)skew.seed);
    skew.traces.change = change_times;
    skew.traces.user = skew.skew;
    return skew_trace(&skew, argv + 1);
}

const BbCommand bb_command_skew = {
    .name = "skew",
    .arguments = "TRACE",
    .summary = "a trace -> the same with wrong clocks",
    .run = run_skew,
};
