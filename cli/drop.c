// SPDX-License-Identifier: Apache-2.0
// bbtrace drop. In: a trace. Out: the same with losses.
#include "cli/traces.h"

#include "capture/loss.h"
#include "data/drop.h"
#include "data/node_set.h"

#include <math.h>
#include <string.h>

#define PROGRAM "bbtrace drop"

typedef struct Drop {
    char *out;
    char **nodes;
    gint64 seed;
    gboolean quiet;
    BbTraces traces;
    BbNodeSet *seen; // nodes of all messages, where some are named
    BbDrop *drop;
} Drop;

static void drop_clear(Drop *drop)
{
    g_free(drop->out);
    g_strfreev(drop->nodes);
    bb_drop_free(drop->drop);
    bb_node_set_free(drop->seen);
    bb_traces_clear(&drop->traces);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Drop, drop_clear)

typedef struct Losses {
    char *rate;
    gboolean burst;
    double peak;  // NAN: not given
    gint64 queue; // QUEUE_NONE: not given
} Losses;

#define QUEUE_NONE G_MININT64
#define QUEUE_DEFAULT 64

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

// What the queue holds is never lost.
static void refuse_share(const BbDropOptions *options, gsize count, GError **error)
{
    g_autofree char *messages = bb_counted(count, "message");
    double most = (double)(count - MIN(count, options->queue)) / (double)count;
    g_set_error(error, G_FILE_ERROR, G_FILE_ERROR_INVAL,
                "--burst cannot lose %.3f %% of %s: with a queue of %u it is %.3f %% at most: give "
                "a smaller --queue or --rate, or leave --burst out",
                100 * options->chance, messages, options->queue, 100 * most);
}

// Reads the trace once to find the peak rate that loses this share. Returns false on failure.
static bool find_peak(const Drop *drop, const char *path, BbDropOptions *options, GError **error)
{
    g_autoptr(BbNames) names = bb_names_new();
    g_autoptr(BbTraceReader) reader = bb_trace_reader_open(path, names, error);
    if (!reader)
        return false;
    GError *failure = NULL;
    BbMessage message;
    g_autoptr(GArray) times = g_array_new(FALSE, FALSE, sizeof(gint64));
    g_autoptr(BbOrder) order = bb_order_new(BB_TRACES_WINDOW, note_time, times);
    bb_trace_reader_skip_bad_lines(reader, drop->traces.skip_bad_lines);
    while (bb_stop_check(&failure) && bb_trace_reader_next(reader, &message, &failure))
        (void)bb_order_push(order, &message, NULL);
    (void)bb_order_drain(order, NULL);
    if (failure) {
        g_propagate_error(error, failure);
        return false;
    }
    const gint64 *times_ns = (const gint64 *)(gpointer)times->data;
    options->peak = bb_drop_peak_for(times_ns, times->len, options->queue, options->chance);
    if (options->peak <= 0 && times->len > 0) {
        refuse_share(options, times->len, error);
        return false;
    }
    options->chance = 0;
    return true;
}

static void say_losses(const Drop *drop, const BbDropOptions *options)
{
    guint64 chance = bb_drop_by_chance(drop->drop), queue = bb_drop_by_queue(drop->drop);
    g_autofree char *lost = bb_number(chance + queue),
                    *all = bb_counted(drop->traces.messages, "message");
    double share = drop->traces.messages
                       ? 100.0 * (double)(chance + queue) / (double)drop->traces.messages
                       : 0;
    bb_say("%s of %s dropped (%.3f %%)", lost, all, share);
    if (options->peak > 0)
        bb_say("%" G_GUINT64_FORMAT " of them by a queue of %u at a peak rate of %.1f messages/s",
               queue, options->queue, options->peak);
}

static bool keep_message(const BbMessage *message, gpointer user, GError **error)
{
    Drop *drop = user;
    if (drop->seen) {
        bb_node_set_add(drop->seen, message->sender);
        bb_node_set_add(drop->seen, message->receiver);
    }
    return bb_drop_loses(drop->drop, message) || bb_traces_write(message, &drop->traces, error);
}

static bool lose_messages(Drop *drop, char **paths, GError **error)
{
    if (!bb_traces_read(&drop->traces, paths, keep_message, drop, error))
        return false;
    bb_counters_add(drop->traces.counters, bb_loss_name(BB_MESSAGES_DROPPED),
                    bb_drop_by_chance(drop->drop) + bb_drop_by_queue(drop->drop));
    return bb_traces_finish(&drop->traces, error);
}

static void say_misses(const Drop *drop)
{
    for (char **node = drop->nodes; node && *node; node++) {
        g_autofree char *miss = bb_node_set_miss(drop->seen, *node);
        if (miss)
            bb_say("warning: %s", miss);
    }
}

static int drop_trace(Drop *drop, char **paths, BbDropOptions *options, gboolean burst)
{
    g_autoptr(GError) error = NULL;
    if (burst && !find_peak(drop, paths[0], options, &error)) {
        bb_say_error("%s", error->message);
        return BB_EXIT_FAILED;
    }
    drop->drop = bb_drop_new(options);
    if (drop->nodes)
        drop->seen = bb_node_set_new(drop->traces.names);
    for (char **node = drop->nodes; node && *node; node++)
        bb_drop_node(drop->drop, bb_names_intern(drop->traces.names, *node));
    if (!lose_messages(drop, paths, &error)) {
        bb_say_error("%s", error->message);
        return BB_EXIT_FAILED;
    }
    say_misses(drop);
    if (drop->traces.failed)
        return BB_EXIT_FAILED;
    if (!drop->quiet)
        say_losses(drop, options);
    return BB_EXIT_DONE;
}

static int check_losses(const Losses *losses, const Drop *drop, const char *path,
                        BbDropOptions *options)
{
    bool peak = !isnan(losses->peak), queue = losses->queue != QUEUE_NONE;
    *options = (BbDropOptions){
        .peak = peak ? losses->peak : 0,
        .queue = queue ? (guint)losses->queue : QUEUE_DEFAULT,
        .seed = (guint64)drop->seed,
    };
    if (losses->rate && !parse_share(losses->rate, &options->chance))
        return bb_say_usage(PROGRAM, "--rate takes a share such as 5%% or 0.05, not '%s'",
                            losses->rate);
    if (queue && (losses->queue < 1 || losses->queue > G_MAXINT32))
        return bb_say_usage(PROGRAM, "--queue takes a number of messages, from 1 to %d",
                            G_MAXINT32);
    if (peak && losses->peak <= 0)
        return bb_say_usage(PROGRAM, "--peak takes messages a second, above 0");
    if (!losses->rate && !peak)
        return bb_say_usage(PROGRAM, "which losses? Give --rate or --peak");
    if (queue && !peak && !losses->burst)
        return bb_say_usage(PROGRAM, "--queue is of use with --peak or --burst only");
    if (losses->burst && (!losses->rate || peak || drop->nodes))
        return bb_say_usage(PROGRAM, "--burst finds the peak rate for --rate: give that, "
                                     "and neither --peak nor --node");
    if (losses->burst && strcmp(path, "-") == 0)
        return bb_say_usage(PROGRAM, "--burst reads the trace twice: give a file");
    return -1;
}

static int run_drop(int argc, char **argv)
{
    g_auto(Drop) drop = {.seed = 1};
    g_auto(Losses) losses = {.peak = NAN, .queue = QUEUE_NONE};
    gboolean skip = FALSE;
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
        {"skip-bad-lines", 0, 0, G_OPTION_ARG_NONE, &skip,
         "Count malformed lines of a text trace instead of stopping at them", NULL},
        {"quiet", 'q', 0, G_OPTION_ARG_NONE, &drop.quiet, "Do not say how many were dropped", NULL},
        {NULL, 0, 0, 0, NULL, NULL, NULL},
    };
    int status = BB_EXIT_DONE;
    BbDropOptions options;
    if (!bb_options_parse(PROGRAM, "TRACE",
                          "Leaves messages of a trace out, as a capture that loses them.", NULL,
                          entries, &argc, &argv, &status))
        return status;
    status = bb_traces_check_one(PROGRAM, argv + 1, drop.out);
    if (status < 0)
        status = check_losses(&losses, &drop, argv[1], &options);
    if (status >= 0)
        return status;
    bb_traces_init(&drop.traces, skip);
    bb_traces_write_to(&drop.traces, drop.out);
    return drop_trace(&drop, argv + 1, &options, losses.burst);
}

const BbCommand bb_command_drop = {
    .name = "drop",
    .arguments = "TRACE",
    .summary = "a trace -> the same with losses",
    .run = run_drop,
};
