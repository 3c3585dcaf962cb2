// SPDX-License-Identifier: Apache-2.0
// bbtrace skew and bbtrace drop. In: a trace. Out: the same with wrong clocks, or with losses.
#include "cli/command.h"

#include "capture/loss.h"
#include "data/drop.h"
#include "data/order.h"
#include "data/scenario.h"
#include "data/skew.h"

#include <stdio.h>
#include <string.h>

// Messages out of order by less than so many are put in order.
#define ORDER_WINDOW 1048576u

// What both do: a trace is read, put in order before or after it is changed, and written.
typedef struct Perturb {
    char *out;
    char **nodes;
    gint64 seed;
    gboolean skip_bad_lines, quiet;
    BbNames *names;
    BbSkew *skew; // one of the two
    BbDrop *drop;
    BbTraceWriter *writer;
    guint64 messages;
} Perturb;

static void perturb_clear(Perturb *perturb)
{
    g_free(perturb->out);
    g_strfreev(perturb->nodes);
    bb_trace_writer_free(perturb->writer);
    bb_skew_free(perturb->skew);
    bb_drop_free(perturb->drop);
    bb_names_free(perturb->names);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Perturb, perturb_clear)

static bool write_message(const BbMessage *message, gpointer user, GError **error)
{
    Perturb *perturb = user;
    if (perturb->drop && bb_drop_loses(perturb->drop, message))
        return true;
    return bb_trace_writer_push(perturb->writer, message, error);
}

// What was read before a failure is written, too; *failure is that of reading.
static bool copy_messages(Perturb *perturb, BbTraceReader *reader, GError **failure, GError **error)
{
    BbMessage message;
    g_autoptr(BbOrder) order = bb_order_new(ORDER_WINDOW, write_message, perturb);
    while (bb_trace_reader_next(reader, &message, failure)) {
        perturb->messages++;
        if (perturb->skew)
            bb_skew_apply(perturb->skew, &message);
        if (!bb_order_push(order, &message, error))
            return false;
    }
    if (!bb_order_drain(order, error))
        return false;
    if (bb_order_late(order))
        bb_say("warning: %" G_GUINT64_FORMAT " messages are more than %u messages out of order and "
               "were written late",
               bb_order_late(order), ORDER_WINDOW);
    return true;
}

static bool finish(Perturb *perturb, const BbTraceReader *reader, GError **error)
{
    g_autoptr(BbCounters) counters = bb_counters_new();
    bb_counters_merge(counters, bb_trace_reader_counters(reader));
    if (perturb->drop)
        bb_counters_add(counters, bb_loss_name(BB_MESSAGES_DROPPED),
                        bb_drop_by_chance(perturb->drop) + bb_drop_by_queue(perturb->drop));
    return bb_trace_writer_network(perturb->writer, bb_trace_reader_network(reader), error) &&
           bb_trace_writer_finish(perturb->writer, counters, error);
}

static bool copy_trace(Perturb *perturb, const char *path, GError **error)
{
    g_autoptr(BbTraceReader) reader = bb_trace_reader_open(path, perturb->names, error);
    if (!reader)
        return false;
    bb_trace_reader_skip_bad_lines(reader, perturb->skip_bad_lines);
    perturb->writer =
        bb_trace_writer_open(perturb->out ? perturb->out : "-",
                             perturb->out ? BB_TRACE_BBT : BB_TRACE_TEXT, perturb->names, error);
    g_autoptr(GError) failure = NULL;
    if (!perturb->writer || !copy_messages(perturb, reader, &failure, error) ||
        !finish(perturb, reader, error))
        return false;
    bb_say_trace_damage(reader);
    if (failure)
        g_propagate_error(error, g_steal_pointer(&failure));
    return !*error;
}

// Returns an exit status, or -1 to go on.
static int check_files(const Perturb *perturb, const char *program, int argc, char **argv)
{
    if (argc != 2)
        return bb_say_usage(program, argc < 2 ? "which trace?" : "one trace at a time");
    if (perturb->out && bb_is_same_file(argv[1], perturb->out))
        return bb_say_usage(program, "-w would overwrite %s: give another file", argv[1]);
    return -1;
}

// ---- skew ---------------------------------------------------------------------------------------

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

static int set_clocks(Perturb *skew)
{
    for (char **node = skew->nodes; node && *node; node++) {
        g_autofree char *name = NULL;
        BbSkewClock clock;
        if (!parse_clock(*node, &name, &clock))
            return bb_say_usage("bbtrace skew",
                                "--node takes NAME=OFFSET or NAME=OFFSET+DRIFTppm, "
                                "as WS2=30ms-20ppm, not '%s'",
                                *node);
        bb_skew_set(skew->skew, name, clock);
    }
    return -1;
}

static void say_unused(const Perturb *skew)
{
    for (char **node = skew->nodes; node && *node; node++) {
        g_autofree char *name = NULL;
        BbSkewClock clock;
        if (parse_clock(*node, &name, &clock) &&
            !bb_skew_clock(skew->skew, bb_names_find(skew->names, name), &clock))
            bb_say("warning: no node '%s' stamps anything in the trace", name);
    }
}

static int by_text(gconstpointer a, gconstpointer b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static void say_clocks(const Perturb *skew)
{
    g_autoptr(GPtrArray) nodes = g_ptr_array_new();
    BbSkewClock clock;
    for (guint32 name = 1; name < bb_names_count(skew->names); name++)
        if (bb_skew_clock(skew->skew, name, &clock))
            g_ptr_array_add(nodes, (gpointer)(guintptr)bb_names_text(skew->names, name));
    g_ptr_array_sort(nodes, by_text);
    for (guint i = 0; i < nodes->len; i++) {
        const char *node = g_ptr_array_index(nodes, i);
        (void)bb_skew_clock(skew->skew, bb_names_find(skew->names, node), &clock);
        if (clock.offset_ns != 0 || clock.drift_ppm != 0)
            bb_say("%s: %+.6f s, %+.3f ppm", node, (double)clock.offset_ns / 1e9, clock.drift_ppm);
    }
    if (bb_skew_clipped(skew->skew))
        bb_say("warning: %" G_GUINT64_FORMAT " times would be before 1970 or after 2262, and stay "
               "at that end",
               bb_skew_clipped(skew->skew));
}

static int skew_trace(Perturb *skew, const char *path)
{
    g_autoptr(GError) error = NULL;
    int status = set_clocks(skew);
    if (status >= 0)
        return status;
    if (!copy_trace(skew, path, &error)) {
        bb_say_error("%s", error->message);
        return BB_EXIT_FAILED;
    }
    say_unused(skew);
    if (!skew->quiet)
        say_clocks(skew);
    return BB_EXIT_DONE;
}

static int run_skew(int argc, char **argv)
{
    g_auto(Perturb) skew = {.seed = 1};
    g_autofree char *offsets = NULL, *drifts = NULL;
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
        {"skip-bad-lines", 0, 0, G_OPTION_ARG_NONE, &skew.skip_bad_lines,
         "Count malformed lines of a text trace instead of stopping at them", NULL},
        {"quiet", 'q', 0, G_OPTION_ARG_NONE, &skew.quiet, "Do not say which clock is how wrong",
         NULL},
        {NULL, 0, 0, 0, NULL, NULL, NULL},
    };
    int status = BB_EXIT_DONE;
    BbSkewClock deviation = {0};
    if (!bb_options_parse("bbtrace skew", "TRACE",
                          "Gives nodes wrong clocks: the times that a node stamps move.", NULL,
                          entries, &argc, &argv, &status))
        return status;
    status = check_files(&skew, "bbtrace skew", argc, argv);
    if (status >= 0)
        return status;
    if (offsets && !bb_scenario_parse_time(offsets, &deviation.offset_ns))
        return bb_say_usage("bbtrace skew", "--random takes a time such as 10ms, not '%s'",
                            offsets);
    if (drifts && (!parse_drift(drifts, &deviation.drift_ppm) || deviation.drift_ppm < 0))
        return bb_say_usage("bbtrace skew", "--drift takes a number of ppm, not '%s'", drifts);
    if (!skew.nodes && !offsets && !drifts)
        return bb_say_usage("bbtrace skew", "which clocks? Give --node, --random or --drift");
    skew.names = bb_names_new();
    skew.skew = bb_skew_new(skew.names, deviation, (guint64)skew.seed);
    return skew_trace(&skew, argv[1]);
}

// ---- drop ---------------------------------------------------------------------------------------

typedef struct Losses {
    char *rate;
    gboolean burst;
    double peak;
    gint64 queue;
} Losses;

static void losses_clear(Losses *losses)
{
    g_free(losses->rate);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Losses, losses_clear)

// "5%" or "0.05".
static bool parse_share(const char *text, double *share)
{
    char *end = NULL;
    *share = g_ascii_strtod(text, &end);
    if (end == text)
        return false;
    if (strcmp(end, "%") == 0)
        *share /= 100;
    else if (*end)
        return false;
    return *share >= 0 && *share <= 1;
}

static bool note_time(const BbMessage *message, gpointer user, GError **error)
{
    g_array_append_val((GArray *)user, message->time_ns);
    return true;
}

// Reads the trace once to find the peak rate that loses this share. Returns false on failure.
static bool find_peak(const Perturb *drop, const char *path, BbDropOptions *options, GError **error)
{
    g_autoptr(BbNames) names = bb_names_new();
    g_autoptr(BbTraceReader) reader = bb_trace_reader_open(path, names, error);
    if (!reader)
        return false;
    GError *failure = NULL;
    BbMessage message;
    g_autoptr(GArray) times = g_array_new(FALSE, FALSE, sizeof(gint64));
    g_autoptr(BbOrder) order = bb_order_new(ORDER_WINDOW, note_time, times);
    bb_trace_reader_skip_bad_lines(reader, drop->skip_bad_lines);
    while (bb_trace_reader_next(reader, &message, &failure))
        (void)bb_order_push(order, &message, NULL);
    (void)bb_order_drain(order, NULL);
    if (failure) {
        g_propagate_error(error, failure);
        return false;
    }
    const gint64 *times_ns = (const gint64 *)(gpointer)times->data;
    options->peak = bb_drop_peak_for(times_ns, times->len, options->queue, options->chance);
    options->chance = 0;
    return true;
}

static void say_losses(const Perturb *drop, const BbDropOptions *options)
{
    guint64 chance = bb_drop_by_chance(drop->drop), queue = bb_drop_by_queue(drop->drop);
    g_autofree char *lost = bb_number(chance + queue), *all = bb_number(drop->messages);
    double share = drop->messages ? 100.0 * (double)(chance + queue) / (double)drop->messages : 0;
    bb_say("%s of %s messages dropped (%.3f %%)", lost, all, share);
    if (options->peak > 0)
        bb_say("%" G_GUINT64_FORMAT " of them by a queue of %u at a peak rate of %.1f messages/s",
               queue, options->queue, options->peak);
}

static int drop_trace(Perturb *drop, const char *path, BbDropOptions *options, gboolean burst)
{
    g_autoptr(GError) error = NULL;
    if (!burst || find_peak(drop, path, options, &error)) {
        drop->names = bb_names_new();
        drop->drop = bb_drop_new(options);
        for (char **node = drop->nodes; node && *node; node++)
            bb_drop_node(drop->drop, bb_names_intern(drop->names, *node));
        if (copy_trace(drop, path, &error)) {
            if (!drop->quiet)
                say_losses(drop, options);
            return BB_EXIT_DONE;
        }
    }
    bb_say_error("%s", error->message);
    return BB_EXIT_FAILED;
}

static int check_losses(const Losses *losses, const Perturb *drop, const char *path,
                        BbDropOptions *options)
{
    *options = (BbDropOptions){
        .peak = losses->peak,
        .queue = (guint)losses->queue,
        .seed = (guint64)drop->seed,
    };
    if (losses->rate && !parse_share(losses->rate, &options->chance))
        return bb_say_usage("bbtrace drop", "--rate takes a share such as 5%% or 0.05, not '%s'",
                            losses->rate);
    if (losses->queue < 1 || losses->queue > G_MAXINT32)
        return bb_say_usage("bbtrace drop", "--queue takes a number of messages above 0");
    if (losses->peak < 0)
        return bb_say_usage("bbtrace drop", "--peak takes messages a second, above 0");
    if (!losses->rate && losses->peak == 0)
        return bb_say_usage("bbtrace drop", "which losses? Give --rate or --peak");
    if (losses->burst && (!losses->rate || losses->peak > 0 || drop->nodes))
        return bb_say_usage("bbtrace drop", "--burst finds the peak rate for --rate: give that, "
                                            "and neither --peak nor --node");
    if (losses->burst && strcmp(path, "-") == 0)
        return bb_say_usage("bbtrace drop", "--burst reads the trace twice: give a file");
    return -1;
}

static int run_drop(int argc, char **argv)
{
    g_auto(Perturb) drop = {.seed = 1};
    g_auto(Losses) losses = {.queue = 64};
    const GOptionEntry entries[] = {
        {"write", 'w', 0, G_OPTION_ARG_FILENAME, &drop.out,
         "Write the trace here, as .bbt (default: as text on standard output)", "FILE"},
        {"rate", 'r', 0, G_OPTION_ARG_STRING, &losses.rate,
         "Lose each message with this chance (default: 0)", "SHARE"},
        {"burst", 'b', 0, G_OPTION_ARG_NONE, &losses.burst,
         "Lose the share of --rate in bursts: find the --peak for it", NULL},
        {"peak", 0, 0, G_OPTION_ARG_DOUBLE, &losses.peak,
         "Lose what a sniffer loses that takes so many messages a second", "N"},
        {"queue", 0, 0, G_OPTION_ARG_INT64, &losses.queue,
         "Messages that the sniffer holds (default: 64)", "N"},
        {"node", 'n', 0, G_OPTION_ARG_STRING_ARRAY, &drop.nodes,
         "Lose only what this node sends or receives; may be given again", "NAME"},
        {"seed", 's', 0, G_OPTION_ARG_INT64, &drop.seed, "Seed of the random numbers (default: 1)",
         "N"},
        {"skip-bad-lines", 0, 0, G_OPTION_ARG_NONE, &drop.skip_bad_lines,
         "Count malformed lines of a text trace instead of stopping at them", NULL},
        {"quiet", 'q', 0, G_OPTION_ARG_NONE, &drop.quiet, "Do not say how many were dropped", NULL},
        {NULL, 0, 0, 0, NULL, NULL, NULL},
    };
    int status = BB_EXIT_DONE;
    BbDropOptions options;
    if (!bb_options_parse("bbtrace drop", "TRACE",
                          "Leaves messages of a trace out, as a capture that loses them.", NULL,
                          entries, &argc, &argv, &status))
        return status;
    status = check_files(&drop, "bbtrace drop", argc, argv);
    if (status < 0)
        status = check_losses(&losses, &drop, argv[1], &options);
    return status < 0 ? drop_trace(&drop, argv[1], &options, losses.burst) : status;
}

const BbCommand bb_command_skew = {
    .name = "skew",
    .arguments = "TRACE",
    .summary = "a trace -> the same with wrong clocks",
    .run = run_skew,
};

const BbCommand bb_command_drop = {
    .name = "drop",
    .arguments = "TRACE",
    .summary = "a trace -> the same with losses",
    .run = run_drop,
};
