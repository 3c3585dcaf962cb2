// SPDX-License-Identifier: Apache-2.0
// bbpaths show. In: a trace, and the rank of a pattern, the number of an instance or the id of a
// call or message. Out: a timeline of it as text.
#include "cli/frames.h"
#include "cli/inference.h"

#include "data/exemplars.h"
#include "data/input.h"
#include "data/percent.h"
#include "data/quantity.h"
#include "data/shell_word.h"
#include "viz/chain.h"
#include "viz/ranking.h"
#include "viz/timeline.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

static const char program[] = "bbpaths show";
static const char summary[] =
    "Shows one path instance, or the mean of a pattern, as a timeline: who called whom when, who\n"
    "worked and who waited; with convolution, who sent to whom when.";
static const char description[] =
    "WHAT is the rank of a pattern as pictures and tables print it (3 or p3), the number of a "
    "path\n"
    "instance as --instances prints it (i17), or the id of a call or message in the trace\n"
    "(id=req-41). Ranks are those of a run with the same --sort and --min-count, whatever its\n"
    "--top and --min-share.\n\n"
    "bbpaths(1) tells more. Exit status: 0 done, 1 failed, 2 wrong usage.\n";

#define ALSO_MAX 8       // instances named that hold a call of the same id
#define COLUMNS_LEAST 40 // of a terminal
#define COLUMNS_MOST 400

typedef enum { SHOW_PATTERN, SHOW_INSTANCE, SHOW_CALL } ShowKind;

// What is remembered of the instance that was asked for.
typedef struct {
    BbTimeline *timeline; // NULL until it came
    guint64 number;
    guint32 pattern, client, node; // of the root's call
    bool kept;                     // the pattern is not forgotten
    gint64 start_ns, latency_ns;   // latency: BB_TIME_NONE without return
} Found;

typedef struct {
    BbInference inference;
    char *sort;
    gint64 min_count;
    gboolean with_frames;
    BbViewOptions view;
    ShowKind kind;
    guint64 number; // of the instance, or the pattern's rank
    const char *trace, *what;
    BbNames *names;
    BbId id; // of the call
    BbCounting *counting;
    BbCriticalPath *critical;
    BbExemplars *exemplars;
    Found found;
    BbFrames *frames;   // of it, where they were asked for
    guint64 instances;  // that came
    GArray *also;       // of guint64: numbers of other instances with the id
    guint64 also_count; // of them, those that did not fit as well
    BbTimelineStyle style;
} Show;

static void show_clear(Show *show)
{
    bb_inference_clear(&show->inference);
    g_free(show->sort);
    bb_names_free(show->names);
    bb_counting_free(show->counting);
    bb_critical_path_free(show->critical);
    bb_exemplars_free(show->exemplars);
    bb_timeline_free(show->found.timeline);
    bb_frames_free(show->frames);
    if (show->also)
        g_array_unref(show->also);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Show, show_clear)

// ---- options -----------------------------------------------------------------------------------

static bool parse_number(const char *text, guint64 *number)
{
    char *end = NULL;
    if (!g_ascii_isdigit(text[0]))
        return false;
    *number = g_ascii_strtoull(text, &end, 10);
    return *end == '\0' && *number > 0;
}

// Ids are encoded as a text trace has them.
static bool parse_id(Show *show, const char *text)
{
    g_autofree char *id = g_strdup(text);
    if (*id == '\0' || bb_percent_decode(id))
        return false;
    show->kind = SHOW_CALL;
    show->id = bb_id_parse(show->names, id);
    return show->id.form != BB_ID_DASH;
}

static bool parse_what(Show *show, const char *what)
{
    if (g_str_has_prefix(what, "id="))
        return parse_id(show, what + strlen("id="));
    if (what[0] == 'i') {
        show->kind = SHOW_INSTANCE;
        return parse_number(what + 1, &show->number);
    }
    show->kind = SHOW_PATTERN;
    return parse_number(what + (what[0] == 'p'), &show->number);
}

// The trace stands where WHAT is to be: a file, or before what is a WHAT and no file.
static bool is_swapped(Show *show)
{
    bool file = g_file_test(show->what, G_FILE_TEST_EXISTS);
    return parse_what(show, show->trace) && (file || !g_file_test(show->trace, G_FILE_TEST_EXISTS));
}

static int refuse_what(Show *show)
{
    if (is_swapped(show)) {
        g_autofree char *what = bb_shell_word(show->trace), *trace = bb_shell_file(show->what);
        return bb_say_usage(program, "what to show comes before the trace: bbpaths show %s %s",
                            what, trace);
    }
    return bb_say_usage(program, "'%s' is no pattern (3), instance (i17) or call (id=req-41)",
                        show->what);
}

static int check_algorithm(const Show *show)
{
    if (!bb_inference_has_instances(&show->inference))
        return bb_say_usage(program, "--explain=paper finds no instances to show: use "
                                     "--explain=messages");
    if (show->with_frames && !bb_inference_has_calls(&show->inference))
        return bb_say_usage(program, "--frames is for --algo=nesting");
    return -1;
}

static int check_options(Show *show, int argc, char **argv)
{
    if (argc != 3)
        return bb_say_usage(program,
                            argc < 3 ? "what, and of which trace?" : "one trace at a time");
    show->what = argv[1];
    show->trace = argv[2];
    if (!parse_what(show, show->what))
        return refuse_what(show);
    if (show->sort && !bb_sort_key_find(show->sort, &show->view.sort))
        return bb_say_usage(program, "--sort takes: %s", BB_SORT_KEYS);
    if (show->min_count < 0)
        return bb_say_usage(program, "--min-count takes a number that is not negative");
    if (show->with_frames && show->kind == SHOW_PATTERN)
        return bb_say_usage(program, "--frames is for an instance: i17 or id=req-41");
    if (show->with_frames && strcmp(show->trace, "-") == 0)
        return bb_say_usage(program, "--frames reads the trace twice: give a file");
    show->view.min_count = (guint64)show->min_count;
    int status = bb_inference_check(&show->inference, program);
    return status >= 0 ? status : check_algorithm(show);
}

// Returns an exit status, or -1 to go on.
static int parse_options(Show *show, int argc, char **argv)
{
    const GOptionEntry own[] = {
        {"sort", 0, 0, G_OPTION_ARG_STRING, &show->sort,
         "Order of patterns by: total (latency, default of nesting), count (of convolution), mean "
         "(latency)",
         "KEY"},
        {"min-count", 0, 0, G_OPTION_ARG_INT64, &show->min_count,
         "Leave out patterns with fewer instances", "N"},
        {"frames", 0, 0, G_OPTION_ARG_NONE, &show->with_frames,
         "Tell where the messages of the instance are in the capture", NULL},
        {NULL, 0, 0, 0, NULL, NULL, NULL},
    };
    g_autofree GOptionEntry *entries = bb_inference_join(own, &show->inference);
    int status = BB_EXIT_DONE;
    if (!bb_options_parse(program, "WHAT TRACE", summary, description, entries, &argc, &argv,
                          &status))
        return status;
    return check_options(show, argc, argv);
}

// ---- the run -----------------------------------------------------------------------------------

static void remember(Show *show, const BbPaths *paths, const BbInstance *instance)
{
    const BbCall *root = &paths->calls[paths->order[instance->first]];
    bool last_byte = show->inference.nesting.latency_last_byte;
    const BbCritical *critical = NULL;
    show->found = (Found){.number = bb_instance_number(paths, instance),
                          .pattern = instance->pattern,
                          .client = root->caller,
                          .node = root->callee,
                          .start_ns = root->call_ns,
                          .latency_ns = bb_instance_latency(paths, instance, last_byte)};
    if (bb_call_is_returned(root))
        critical = bb_critical_path_find(show->critical, paths, instance);
    if (show->with_frames)
        show->frames = bb_frames_new(paths, instance);
    show->found.timeline =
        bb_timeline_of_instance(paths, instance, critical, show->names, last_byte);
}

static bool holds_id(const BbPaths *paths, const BbInstance *instance, BbId id)
{
    for (guint32 k = 0; k < instance->count; k++)
        if (bb_id_equal(paths->calls[paths->order[instance->first + k]].id, id))
            return true;
    return false;
}

static void look_for_call(Show *show, const BbPaths *paths, const BbInstance *instance)
{
    guint64 number = bb_instance_number(paths, instance);
    if (!holds_id(paths, instance, show->id))
        return;
    if (!show->found.timeline)
        remember(show, paths, instance);
    else if (show->also->len < ALSO_MAX)
        g_array_append_val(show->also, number);
    else
        show->also_count++;
}

static void note_exemplar(Show *show, const BbPaths *paths, const BbInstance *instance)
{
    bool last_byte = show->inference.nesting.latency_last_byte;
    if (instance->pattern == BB_PATTERN_NONE)
        return;
    BbExemplar exemplar = {bb_instance_number(paths, instance),
                           bb_instance_latency(paths, instance, last_byte)};
    bb_exemplars_note(show->exemplars, instance->pattern, exemplar);
}

static void drop_forgotten(Show *show)
{
    guint32 count = bb_exemplars_patterns(show->exemplars);
    for (guint32 pattern = 0; pattern < count; pattern++)
        if (!bb_counting_is_kept(show->counting, pattern))
            bb_exemplars_drop(show->exemplars, pattern);
}

static bool take_window(BbPaths *paths, gpointer user, GError **error)
{
    (void)error;
    Show *show = user;
    drop_forgotten(show);
    for (guint32 i = 0; i < paths->n_instances; i++) {
        const BbInstance *instance = &paths->instances[i];
        if (show->kind == SHOW_PATTERN)
            note_exemplar(show, paths, instance);
        else if (show->kind == SHOW_CALL)
            look_for_call(show, paths, instance);
        else if (bb_instance_number(paths, instance) == show->number)
            remember(show, paths, instance);
    }
    show->instances += paths->n_instances;
    return true;
}

// ---- output ------------------------------------------------------------------------------------

static BbTimelineStyle find_style(void)
{
    struct winsize size = {0};
    guint columns = BB_TIMELINE_COLUMNS;
    if (isatty(STDOUT_FILENO) && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
        columns = CLAMP(size.ws_col, COLUMNS_LEAST, COLUMNS_MOST);
    return (BbTimelineStyle){.columns = columns, .ascii = !g_get_charset(NULL)};
}

static void append_route(GString *out, const Show *show, guint32 client, guint32 node)
{
    bb_timeline_append_name(out, show->names, client, &show->style);
    g_string_append(out, " -> ");
    bb_timeline_append_name(out, show->names, node, &show->style);
}

static void append_count(GString *out, const BbPattern *pattern, bool calls)
{
    bb_quantity_append_counted(out, pattern->count,
                               calls              ? "instance"
                               : pattern->derived ? "message"
                                                  : "path");
    if (pattern->derived)
        g_string_append(out, ", derived: other paths explain it");
}

// "1,234 instances (paths, of convolution), mean 80.0 ms, p50 80.2 ms, p90 95.9 ms"
static void append_distribution(GString *out, const BbPattern *pattern, bool calls)
{
    const BbStats *latency = pattern->root->latency;
    append_count(out, pattern, calls);
    if (!calls && !bb_chain_is_timed(pattern)) {
        g_string_append_c(out, '\n');
        return;
    }
    g_string_append(out, ", mean ");
    bb_quantity_append_duration(out, bb_pattern_mean_latency(pattern));
    g_string_append(out, ", p50 ");
    bb_quantity_append_duration(out, bb_stats_quantile(latency, 0.5));
    g_string_append(out, ", p90 ");
    bb_quantity_append_duration(out, bb_stats_quantile(latency, 0.9));
    g_string_append_c(out, '\n');
}

// Why the instance has no pattern that is counted.
static const char *no_pattern(const Show *show)
{
    if (show->found.pattern == BB_PATTERN_NONE)
        return "Of no pattern: the first call has no return\n";
    return show->found.kept ? "Its pattern has no paths: messages that end here are expected to go "
                              "on, as others do\n"
                            : "Its pattern was rare, and is forgotten\n";
}

static void append_pattern_of(GString *out, const Show *show, const BbPatterns *patterns,
                              const BbRanking *ranking)
{
    guint32 index = show->found.pattern;
    guint32 rank = index < ranking->n_ranks ? ranking->rank[index] : 0;
    const BbPattern *pattern =
        index < patterns->patterns->len ? g_ptr_array_index(patterns->patterns, index) : NULL;
    if (!pattern) {
        g_string_append(out, no_pattern(show));
        return;
    }
    if (rank > 0)
        g_string_append_printf(out, "Pattern p%u: ", rank);
    else
        g_string_append(out, "Pattern left out by --min-count: ");
    append_distribution(out, pattern, bb_inference_has_calls(&show->inference));
}

static void append_also(GString *out, const Show *show)
{
    if (show->also->len == 0)
        return;
    g_string_append_printf(out, "%s with this id are also in",
                           bb_inference_has_calls(&show->inference) ? "Calls" : "Messages");
    for (guint i = 0; i < show->also->len; i++)
        g_string_append_printf(out, "%s i%" G_GUINT64_FORMAT, i ? "," : "",
                               g_array_index(show->also, guint64, i));
    if (show->also_count > 0) {
        g_string_append(out, " and ");
        bb_quantity_append_count(out, show->also_count);
        g_string_append(out, " more");
    }
    g_string_append_c(out, '\n');
}

// What the dots of its bars are.
static void append_dots(GString *out, const Show *show)
{
    g_string_append_printf(out, "%s waited for its turn, or for a connection of a pool.\n",
                           show->style.ascii ? "." : "·");
}

static bool append_instance(GString *out, const Show *show, const BbPatterns *patterns,
                            const BbRanking *ranking)
{
    const Found *found = &show->found;
    if (!found->timeline)
        return false;
    g_string_append_printf(out, "Instance i%" G_GUINT64_FORMAT ": ", found->number);
    append_route(out, show, found->client, found->node);
    g_string_append(out, ", ");
    bb_quantity_append_time(out, found->start_ns);
    if (found->latency_ns != BB_TIME_NONE) {
        g_string_append(out, ", ");
        bb_quantity_append_duration(out, found->latency_ns);
    }
    g_string_append_c(out, '\n');
    append_pattern_of(out, show, patterns, ranking);
    append_also(out, show);
    g_string_append_c(out, '\n');
    bool dots = bb_timeline_append(out, found->timeline, show->names, &show->style);
    bool sure = bb_timeline_shows_sure(found->timeline);
    if (bb_inference_has_calls(&show->inference))
        g_string_append_printf(out,
                               "\n* is waited for (critical path). %s worked itself, %s waited for "
                               "a call.%s\n",
                               show->style.ascii ? "#" : "█", show->style.ascii ? "-" : "░",
                               sure ? " sure: of the parent." : "");
    else
        g_string_append_printf(out, "\nstart: when the message was sent.%s\n",
                               sure ? " sure: of its cause." : "");
    if (dots)
        append_dots(out, show);
    return true;
}

static void append_exemplar(GString *out, const char *word, BbExemplar exemplar)
{
    g_string_append_printf(out, "%s i%" G_GUINT64_FORMAT " (", word, exemplar.number);
    bb_quantity_append_duration(out, exemplar.latency_ns);
    g_string_append_c(out, ')');
}

static void append_exemplars(GString *out, const Show *show, guint32 index)
{
    BbExemplar fastest, slowest, median;
    bool exact;
    if (!bb_exemplars_extremes(show->exemplars, index, &fastest, &slowest) ||
        !bb_exemplars_median(show->exemplars, index, &median, &exact))
        return;
    append_exemplar(out, "Instances: fastest", fastest);
    append_exemplar(out, exact ? ", median" : ", near the median", median);
    append_exemplar(out, ", slowest", slowest);
    g_string_append_printf(out, "; bbpaths show i%" G_GUINT64_FORMAT " shows one\n",
                           slowest.number);
}

static bool append_pattern(GString *out, const Show *show, const BbPatterns *patterns,
                           const BbRanking *ranking)
{
    guint32 index = 0;
    while (index < ranking->n_ranks && ranking->rank[index] != show->number)
        index++;
    if (index == ranking->n_ranks)
        return false;
    const BbPattern *pattern = g_ptr_array_index(patterns->patterns, index);
    g_autoptr(BbTimeline) timeline = bb_timeline_of_pattern(pattern);
    g_string_append_printf(out, "Pattern p%u: ", ranking->rank[index]);
    append_route(out, show, pattern->client, pattern->root->node);
    g_string_append(out, ", ");
    append_distribution(out, pattern, bb_inference_has_calls(&show->inference));
    append_exemplars(out, show, index);
    g_string_append_c(out, '\n');
    bool dots = bb_timeline_append(out, timeline, show->names, &show->style);
    g_string_append(out,
                    bb_inference_has_calls(&show->inference)
                        ? "\nstart, mean, self: means. waited: how long the node was waited for, "
                          "not its calls,\nas a share of the latency.\n"
                        : "\nstart: when the message is sent, by the most frequent delays.\n");
    if (dots)
        append_dots(out, show);
    return true;
}

static void say_missing(const Show *show, const BbRanking *ranking)
{
    const char *trace = bb_input_name_of(show->trace);
    const char *chosen = bb_selection_chooses(&show->inference.selection)
                             ? ", of the instances that the options choose"
                             : "";
    g_autofree char *patterns = bb_number(ranking->n_shown);
    g_autofree char *instances = bb_number(show->instances);
    if (show->kind == SHOW_PATTERN && ranking->n_shown == 0)
        bb_say_error("%s: there are no patterns%s", trace, chosen);
    else if (show->kind == SHOW_PATTERN)
        bb_say_error("%s: there is no pattern %s: ranks go from 1 to %s%s", trace, show->what,
                     patterns, chosen);
    else if (show->kind == SHOW_INSTANCE)
        bb_say_error("%s: there is no instance %s: there are %s%s", trace, show->what, instances,
                     chosen);
    else
        bb_say_error("%s: no %s has the %s%s; where --instances gave an id itself (~2, #3), "
                     "give the number of the instance",
                     trace, bb_inference_has_calls(&show->inference) ? "call" : "message",
                     show->what, chosen);
}

static int print(Show *show)
{
    g_autoptr(GError) error = NULL;
    show->found.kept = bb_counting_is_kept(show->counting, show->found.pattern);
    g_autoptr(BbPatterns) patterns = bb_counting_finish(show->counting);
    g_autoptr(BbRanking) ranking = bb_ranking_new(patterns, show->names, &show->view, BB_TOP_ALL);
    g_autoptr(GString) out = g_string_new(NULL);
    bool shown = show->kind == SHOW_PATTERN ? append_pattern(out, show, patterns, ranking)
                                            : append_instance(out, show, patterns, ranking);
    if (!shown) {
        say_missing(show, ranking);
        return BB_EXIT_FAILED;
    }
    if (show->frames) {
        if (!bb_frames_read(show->frames, show->trace, show->inference.skip_bad_lines, show->names,
                            &error)) {
            bb_say_error("%s", error->message);
            return BB_EXIT_FAILED;
        }
        bb_frames_append(out, show->frames, show->names, &show->style);
    }
    (void)fwrite(out->str, 1, out->len, stdout);
    return bb_end_stdout(BB_EXIT_DONE);
}

static int run(int argc, char **argv)
{
    g_auto(Show) show = {.view = BB_VIEW_OPTIONS_DEFAULT, .style = find_style()};
    g_autoptr(GError) error = NULL;
    bb_inference_init(&show.inference);
    show.names = bb_names_new();
    int status = parse_options(&show, argc, argv);
    if (status >= 0)
        return status;
    show.counting = bb_counting_new(&show.inference, show.names);
    show.critical = bb_critical_path_new(show.inference.nesting.latency_last_byte);
    show.exemplars = bb_exemplars_new();
    show.also = g_array_new(FALSE, FALSE, sizeof(guint64));
    BbInferenceUse use = {.paths = take_window, .user = &show, .counting = show.counting};
    if (bb_inference_run(&show.inference, show.trace, show.names, &use, &error))
        return print(&show);
    bb_say_error("%s", error->message);
    return BB_EXIT_FAILED;
}

const BbCommand bb_command_show = {"show", "WHAT TRACE", "Show a pattern or an instance in time",
                                   run};
