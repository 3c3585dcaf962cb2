// SPDX-License-Identifier: Apache-2.0
// bbtrace filter. In: traces. Out: one trace with the messages that are wanted.
#include "cli/traces.h"

#include "data/glob.h"
#include "data/keys.h"
#include "data/node_set.h"
#include "data/quantity.h"
#include "merge/filter.h"

#include <string.h>

#define PROGRAM "bbtrace filter"

// The options as they are given.
typedef struct Words {
    char *out, *from, *to, *slower, *faster, *sample;
    char **nodes, **edges, **protocols, **ops, **statuses;
    gboolean errors, invert, skip_bad_lines, quiet;
} Words;

static void words_clear(Words *words)
{
    g_free(words->out);
    g_free(words->from);
    g_free(words->to);
    g_free(words->slower);
    g_free(words->faster);
    g_free(words->sample);
    g_strfreev(words->nodes);
    g_strfreev(words->edges);
    g_strfreev(words->protocols);
    g_strfreev(words->ops);
    g_strfreev(words->statuses);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Words, words_clear)

// ---- options ------------------------------------------------------------------------------------

// "1/N" or "N".
static bool parse_sample(const char *text, guint64 *of)
{
    if (g_str_has_prefix(text, "1/"))
        text += strlen("1/");
    return g_ascii_string_to_unsigned(text, 10, 1, G_MAXUINT64, of, NULL);
}

static int read_times(const Words *words, BbFilterOptions *options)
{
    if (words->from && !bb_parse_time(words->from, &options->from_ns))
        return bb_say_usage(PROGRAM,
                            "--from takes a time, as 1047680084.5 or "
                            "2026-11-20T16:50:00Z, not '%s'",
                            words->from);
    if (words->to && !bb_parse_time(words->to, &options->to_ns))
        return bb_say_usage(PROGRAM,
                            "--to takes a time, as 1047680084.5 or 2026-11-20T16:50:00Z, "
                            "not '%s'",
                            words->to);
    if (words->from && words->to && options->from_ns >= options->to_ns)
        return bb_say_usage(PROGRAM, "--from must be before --to");
    if (words->slower &&
        (!bb_parse_duration(words->slower, &options->slower_ns) || options->slower_ns == 0))
        return bb_say_usage(PROGRAM, "--slower-than takes a time above 0, as 20ms, not '%s'%s",
                            words->slower, bb_duration_excess(words->slower));
    if (words->faster &&
        (!bb_parse_duration(words->faster, &options->faster_ns) || options->faster_ns == 0))
        return bb_say_usage(PROGRAM, "--faster-than takes a time above 0, as 20ms, not '%s'%s",
                            words->faster, bb_duration_excess(words->faster));
    if (words->slower && words->faster && options->slower_ns >= options->faster_ns)
        return bb_say_usage(PROGRAM,
                            "no call takes both more than --slower-than %s and less than "
                            "--faster-than %s",
                            words->slower, words->faster);
    return -1;
}

// Returns an exit status, or -1 to go on.
static int read_words(const Words *words, BbFilterOptions *options)
{
    *options = BB_FILTER_ALL;
    options->nodes = (const char *const *)words->nodes;
    options->edges = (const char *const *)words->edges;
    options->protocols = (const char *const *)words->protocols;
    options->ops = (const char *const *)words->ops;
    options->statuses = (const char *const *)words->statuses;
    options->errors = words->errors;
    options->invert = words->invert;
    if (words->sample && !parse_sample(words->sample, &options->sample))
        return bb_say_usage(PROGRAM, "--sample takes 1/N, as 1/100, not '%s'", words->sample);
    for (char **edge = words->edges; edge && *edge; edge++) {
        g_autofree char *caller = NULL, *callee = NULL;
        if (!bb_filter_split_edge(*edge, &caller, &callee))
            return bb_say_usage(PROGRAM, "--edge takes 'CALLER->CALLEE', not '%s'", *edge);
    }
    return read_times(words, options);
}

// ---- work ---------------------------------------------------------------------------------------

// Of all messages, whether kept or not: who wants what is not there may have meant something else.
typedef struct {
    BbFilter *filter;
    const BbNames *names;
    BbNodeSet *nodes, *protocols, *ops, *statuses;
    GHashTable *edges;        // of guint64: caller and callee; NULL where nobody asks
    gint64 first_ns, last_ns; // BB_TIME_NONE
} Work;

static void work_init(Work *work, const Words *words, BbFilter *filter, const BbNames *names)
{
    *work = (Work){
        .filter = filter,
        .names = names,
        .nodes = bb_node_set_new(names),
        .protocols = bb_node_set_new_of(names, "protocol"),
        .ops = bb_node_set_new_of(names, "operation"),
        .statuses = bb_node_set_new_of(names, "status"),
        .first_ns = BB_TIME_NONE,
        .last_ns = BB_TIME_NONE,
    };
    if (words->edges)
        work->edges = g_hash_table_new_full(bb_pair_key_hash, g_int64_equal, g_free, NULL);
}

static void work_clear(Work *work)
{
    bb_node_set_free(work->nodes);
    bb_node_set_free(work->protocols);
    bb_node_set_free(work->ops);
    bb_node_set_free(work->statuses);
    g_clear_pointer(&work->edges, g_hash_table_destroy);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Work, work_clear)

static void note_edge(Work *work, guint32 caller, guint32 callee)
{
    guint64 edge = (guint64)caller << 32 | callee;
    if (!g_hash_table_contains(work->edges, &edge))
        g_hash_table_add(work->edges, g_memdup2(&edge, sizeof edge));
}

static bool filter_message(const BbMessage *message, gpointer user, GError **error)
{
    Work *work = user;
    bb_node_set_add(work->nodes, message->sender);
    bb_node_set_add(work->nodes, message->receiver);
    bb_node_set_add(work->protocols, message->proto);
    bb_node_set_add(work->ops, message->op);
    bb_node_set_add(work->statuses, message->status);
    if (work->edges && message->kind != BB_RETURN)
        note_edge(work, message->sender, message->receiver);
    if (work->first_ns == BB_TIME_NONE || message->time_ns < work->first_ns)
        work->first_ns = message->time_ns;
    work->last_ns = MAX(work->last_ns, message->time_ns); // BB_TIME_NONE is the least
    return bb_filter_push(work->filter, message, error);
}

// Returns whether there was something to say.
static bool say_miss(const BbNodeSet *set, const char *pattern)
{
    g_autofree char *miss = bb_node_set_miss(set, pattern);
    if (miss)
        bb_say("warning: %s", miss);
    return miss;
}

static void say_missed(const BbNodeSet *set, char *const *patterns)
{
    for (; patterns && *patterns; patterns++)
        (void)say_miss(set, *patterns);
}

static bool edge_is_there(const Work *work, const char *caller, const char *callee)
{
    GHashTableIter iter;
    gpointer key;
    g_hash_table_iter_init(&iter, work->edges);
    while (g_hash_table_iter_next(&iter, &key, NULL)) {
        guint64 edge = *(const guint64 *)key;
        if (bb_glob_match(caller, bb_names_text(work->names, (guint32)(edge >> 32))) &&
            bb_glob_match(callee, bb_names_text(work->names, (guint32)edge)))
            return true;
    }
    return false;
}

static void say_missed_edge(const Work *work, const char *text)
{
    g_autofree char *caller = NULL, *callee = NULL;
    (void)bb_filter_split_edge(text, &caller, &callee);
    bool from = say_miss(work->nodes, caller), to = say_miss(work->nodes, callee);
    if (!from && !to && !edge_is_there(work, caller, callee))
        bb_say("warning: no node that matches '%s' calls one that matches '%s': bbtrace info lists "
               "who calls whom",
               caller, callee);
}

static void say_span(const BbFilterOptions *options, const Work *work)
{
    bool before = options->to_ns != BB_TIME_NONE && options->to_ns <= work->first_ns;
    bool behind = options->from_ns != BB_TIME_NONE && options->from_ns > work->last_ns;
    if (work->first_ns == BB_TIME_NONE || !(before || behind))
        return;
    g_autoptr(GString) span = g_string_new(NULL);
    bb_quantity_append_time(span, work->first_ns);
    g_string_append(span, " to ");
    bb_quantity_append_time(span, work->last_ns);
    bb_say("warning: %s is %s the trace, which goes from %s", before ? "--to" : "--from",
           before ? "before" : "after", span->str);
}

// What may not have been meant.
static void say_misses(const Words *words, const BbFilterOptions *options, const Work *work)
{
    bool early = bb_say_early("--from", words->from, work->first_ns);
    if (!bb_say_early("--to", words->to, work->first_ns) && !early)
        say_span(options, work);
    say_missed(work->nodes, words->nodes);
    say_missed(work->protocols, words->protocols);
    say_missed(work->ops, words->ops);
    say_missed(work->statuses, words->statuses);
    for (char **edge = words->edges; edge && *edge; edge++)
        say_missed_edge(work, *edge);
}

static void say_counts(const BbFilter *filter, const BbTraces *traces, bool quiet)
{
    g_autofree char *kept = bb_number(bb_filter_kept(filter));
    g_autofree char *all = bb_counted(traces->messages, "message");
    g_autofree char *hurried = bb_counted(bb_filter_hurried(filter), "call");
    if (bb_filter_hurried(filter))
        bb_say("warning: %s open for too long: counted as without return", hurried);
    if (!quiet)
        bb_say("%s of %s kept", kept, all);
}

static int filter_files(const Words *words, const BbFilterOptions *options, char **paths)
{
    g_autoptr(GError) error = NULL;
    g_auto(BbTraces) traces;
    bb_traces_init(&traces, words->skip_bad_lines);
    bb_traces_write_to(&traces, words->out);
    g_autoptr(BbFilter) filter = bb_filter_new(options, traces.names, bb_traces_write, &traces);
    g_auto(Work) work;
    work_init(&work, words, filter, traces.names);
    if (!bb_traces_read(&traces, paths, filter_message, &work, &error) ||
        !bb_filter_finish(filter, &error) || !bb_traces_finish(&traces, &error)) {
        bb_say_error("%s", error->message);
        return BB_EXIT_FAILED;
    }
    say_misses(words, options, &work);
    say_counts(filter, &traces, words->quiet || !traces.writer);
    return traces.failed ? BB_EXIT_FAILED : BB_EXIT_DONE;
}

static int run_filter(int argc, char **argv)
{
    g_auto(Words) words = {0};
    const GOptionEntry entries[] = {
        {"write", 'w', 0, G_OPTION_ARG_FILENAME, &words.out,
         "Write the trace here, as .bbt (default: as text on standard output)", "FILE"},
        {"from", 0, 0, G_OPTION_ARG_STRING, &words.from, "Not before this time", "TIME"},
        {"to", 0, 0, G_OPTION_ARG_STRING, &words.to, "Before this time", "TIME"},
        {"node", 'n', 0, G_OPTION_ARG_STRING_ARRAY, &words.nodes,
         "From or to such a node; may be given again, as all that take a GLOB", "GLOB"},
        {"edge", 'e', 0, G_OPTION_ARG_STRING_ARRAY, &words.edges,
         "Calls of B by A, and free messages from A to B", "'A->B'"},
        {"proto", 'p', 0, G_OPTION_ARG_STRING_ARRAY, &words.protocols, "Of such a protocol",
         "GLOB"},
        {"op", 0, 0, G_OPTION_ARG_STRING_ARRAY, &words.ops, "With such an operation", "GLOB"},
        {"status", 0, 0, G_OPTION_ARG_STRING_ARRAY, &words.statuses, "With such a status", "GLOB"},
        {"errors", 0, 0, G_OPTION_ARG_NONE, &words.errors, "With a status that tells of a failure",
         NULL},
        {"slower-than", 0, 0, G_OPTION_ARG_STRING, &words.slower, "Calls that take longer", "TIME"},
        {"faster-than", 0, 0, G_OPTION_ARG_STRING, &words.faster, "Calls that take less", "TIME"},
        {"sample", 0, 0, G_OPTION_ARG_STRING, &words.sample,
         "One connection in N, the same ones in each trace", "1/N"},
        {"invert", 'v', 0, G_OPTION_ARG_NONE, &words.invert,
         "Drop what would be kept, and keep the rest", NULL},
        {"skip-bad-lines", 0, 0, G_OPTION_ARG_NONE, &words.skip_bad_lines,
         "Count malformed lines of a text trace instead of stopping at them", NULL},
        {"quiet", 'q', 0, G_OPTION_ARG_NONE, &words.quiet, "Do not say how many were kept", NULL},
        {NULL, 0, 0, 0, NULL, NULL, NULL},
    };
    int status = BB_EXIT_DONE;
    BbFilterOptions options;
    if (!bb_options_parse(PROGRAM, "TRACE...",
                          "Keeps the messages of traces that all conditions hold for. A call and "
                          "its return are kept or dropped together.",
                          NULL, entries, &argc, &argv, &status))
        return status;
    status = bb_traces_check(PROGRAM, argv + 1, words.out, NULL);
    if (status < 0)
        status = read_words(&words, &options);
    return status >= 0 ? status : filter_files(&words, &options, argv + 1);
}

const BbCommand bb_command_filter = {
    .name = "filter",
    .arguments = "TRACE...",
    .summary = "a trace -> those of its messages that are wanted",
    .run = run_filter,
};
