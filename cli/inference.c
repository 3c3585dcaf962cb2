// SPDX-License-Identifier: Apache-2.0
// In: options and the name of a trace. Out: the path instances in it, window after window.
#include "cli/algorithm.h"

#include "data/caption.h"
#include "data/clock_doubt.h"
#include "data/node_set.h"
#include "data/quantity.h"
#include "data/shell_word.h"

#include <string.h>

#define THREADS_MAX 1024
#define ABSENT_SHOWN 3u // nodes of a file of roles
#define CUT_LEAST 0.01  // of the calls have their return in another window: worth a warning
#define STEPS_MAX 100   // in a window: so many times a call is inferred

void bb_inference_init(BbInference *inference)
{
    *inference = (BbInference){
        .nesting = bb_nesting_options_default(),
        .convolution = bb_convolution_options_default(),
        .figure6 = bb_figure6_options_default(),
        .threads = BB_UNSAID,
        .selection = BB_SELECTION_ALL,
        .census = {.algorithm = "nesting", .limit = BB_CENSUS_LIMIT},
        .overlap = BB_UNSAID,
        .same = BB_UNSAID,
        .any = BB_UNSAID,
        .smoothing = BB_UNSAID,
        .rare = BB_UNSAID,
        .spike = BB_UNSAID,
        .valley = BB_UNSAID,
        .tolerance = BB_UNSAID,
        .max_depth = BB_UNSAID,
        .max_vertices = BB_UNSAID,
    };
}

void bb_inference_clear(BbInference *inference)
{
    char *owned[] = {inference->algo,    inference->assign,    inference->floor,
                     inference->skew,    inference->latency,   inference->window,
                     inference->step,    inference->roles,     inference->explain,
                     inference->quantum, inference->max_delay, inference->slower,
                     inference->from,    inference->to,        inference->conditions};
    for (gsize i = 0; i < G_N_ELEMENTS(owned); i++)
        g_free(owned[i]);
    bb_roles_free(inference->nesting.roles);
    g_strfreev(inference->root);
    g_strfreev(inference->through);
    g_strfreev(inference->ops);
    bb_globs_free(inference->roots);
    bb_globs_free(inference->throughs);
}

bool bb_inference_has_instances(const BbInference *inference)
{
    return inference->algorithm->count_new;
}

bool bb_inference_has_calls(const BbInference *inference)
{
    return inference->algorithm->calls;
}

// ---- options -----------------------------------------------------------------------------------

// Terminated; they point into inference. The caller frees the array.
static GOptionEntry *list_entries(BbInference *inference)
{
    const GOptionEntry entries[] = {
        {"algo", 0, 0, G_OPTION_ARG_STRING, &inference->algo,
         "How causes are found: nesting (default), of calls and returns; or convolution, of any "
         "messages",
         "ALGORITHM"},
        {"assign", 0, 0, G_OPTION_ARG_STRING, &inference->assign,
         "How a call gets its parent: joint (default), or paper (SOSP'03, section 5.1)", "METHOD"},
        {"explain", 0, 0, G_OPTION_ARG_STRING, &inference->explain,
         "convolution: messages (default), each has one cause; or paper (SOSP'03, figure 6)",
         "METHOD"},
        {"quantum", 0, 0, G_OPTION_ARG_STRING, &inference->quantum,
         "convolution: resolution of delays (default: found; figure 6 needs it)", "DURATION"},
        {"max-delay", 0, 0, G_OPTION_ARG_STRING, &inference->max_delay,
         "convolution: no message is caused by an older one (default: found; figure 6: the whole "
         "trace)",
         "DURATION"},
        {"rare", 0, 0, G_OPTION_ARG_INT, &inference->rare,
         "messages: edges with fewer messages share their statistics at a node (default: 30)", "N"},
        {"keep-derived", 0, 0, G_OPTION_ARG_NONE, &inference->keep_derived,
         "messages: show too what correlates but is explained by other paths", NULL},
        {"spike", 0, 0, G_OPTION_ARG_DOUBLE, &inference->spike,
         "figure 6: a spike is so many standard deviations high (default: 4)", "N"},
        {"valley", 0, 0, G_OPTION_ARG_DOUBLE, &inference->valley,
         "figure 6: and below so many between two spikes (default: 3)", "S"},
        {"tolerance", 0, 0, G_OPTION_ARG_INT, &inference->tolerance,
         "figure 6: a delay may be so far from its spike (default: 1)", "QUANTA"},
        {"all-roots", 0, 0, G_OPTION_ARG_NONE, &inference->all_roots,
         "figure 6: paths begin at every node, not only where nobody sends to", NULL},
        {"max-depth", 0, 0, G_OPTION_ARG_INT, &inference->max_depth,
         "figure 6: messages of a path (default: 32)", "N"},
        {"max-vertices", 0, 0, G_OPTION_ARG_INT, &inference->max_vertices,
         "figure 6: vertices of all paths (default: 100000)", "N"},
        {"window", 0, 0, G_OPTION_ARG_STRING, &inference->window,
         "Infer in windows of this length: auto (default), whole, or 10min", "DURATION"},
        {"step", 0, 0, G_OPTION_ARG_STRING, &inference->step,
         "From one window to the next (default: three quarters of the window)", "DURATION"},
        {"root", 0, 0, G_OPTION_ARG_STRING_ARRAY, &inference->root,
         "Only paths that such a node begins, or that begin at it (*, ? as in a shell); "
         "convolution: its messages have no cause",
         "NODE,..."},
        {"through", 0, 0, G_OPTION_ARG_STRING_ARRAY, &inference->through,
         "Only paths that pass through such a node (likewise)", "NODE,..."},
        {"op", 0, 0, G_OPTION_ARG_STRING_ARRAY, &inference->ops,
         "Only paths with a call of such an operation (*, ? as in a shell); given again: or of "
         "such a one",
         "PATTERN"},
        {"slower-than", 0, 0, G_OPTION_ARG_STRING, &inference->slower,
         "Only paths that take longer", "DURATION"},
        {"errors", 0, 0, G_OPTION_ARG_NONE, &inference->errors,
         "Only paths with a call that returned an error", NULL},
        {"from", 0, 0, G_OPTION_ARG_STRING, &inference->from,
         "Only paths that begin at this time or later", "TIME"},
        {"to", 0, 0, G_OPTION_ARG_STRING, &inference->to, "Only paths that begin before this time",
         "TIME"},
        {"no-labels", 0, 0, G_OPTION_ARG_NONE, &inference->no_labels,
         "Operations do not tell patterns apart: strictly black boxes, with --no-connections",
         NULL},
        {"no-connections", 0, 0, G_OPTION_ARG_NONE, &inference->no_connections,
         "joint: the connections that calls go on tell nothing of their causes", NULL},
        {"roles", 0, 0, G_OPTION_ARG_STRING, &inference->roles,
         "Replicas: none, auto (found; default with --merge-replicas), or a file that names them",
         "auto|none|FILE"},
        {"merge-replicas", 0, 0, G_OPTION_ARG_NONE, &inference->merge_replicas,
         "Replicas count as one node, in patterns and findings", NULL},
        {"latency", 0, 0, G_OPTION_ARG_STRING, &inference->latency,
         "A call lasts until its return's first-byte (default) or last-byte", "WHICH"},
        {"overlap-penalty", 0, 0, G_OPTION_ARG_DOUBLE, &inference->overlap,
         "paper: exponent against parents with overlapping children (default: 2)", "X"},
        {"same-penalty", 0, 0, G_OPTION_ARG_DOUBLE, &inference->same,
         "paper: exponent against parents with children at the same callee (default: 0)", "Y"},
        {"any-penalty", 0, 0, G_OPTION_ARG_DOUBLE, &inference->any,
         "paper: exponent against parents with children (default: 0)", "Z"},
        {"bin-floor", 0, 0, G_OPTION_ARG_STRING, &inference->floor,
         "paper: delays below it share one bin of the scoreboard (default: 1ms)", "DURATION"},
        {"smoothing", 0, 0, G_OPTION_ARG_DOUBLE, &inference->smoothing,
         "paper: Gaussian smoothing of the scoreboard, in bins (default: 0, none)", "BINS"},
        {"skew-window", 0, 0, G_OPTION_ARG_STRING, &inference->skew,
         "How far clocks may differ: a call may stick out of its parent, an effect be earlier than "
         "its cause (default: 0)",
         "DURATION"},
        {"threads", 0, 0, G_OPTION_ARG_INT, &inference->threads,
         "joint and convolution: work on so many processors at once (default: all)", "N"},
        {"skip-bad-lines", 0, 0, G_OPTION_ARG_NONE, &inference->skip_bad_lines,
         "Count malformed lines of a text trace instead of stopping at them", NULL},
        {"verbose", 0, 0, G_OPTION_ARG_NONE, &inference->verbose,
         "convolution: say what was found and chosen", NULL},
        {"quiet", 'q', 0, G_OPTION_ARG_NONE, &inference->quiet, "No progress", NULL},
        {NULL, 0, 0, 0, NULL, NULL, NULL},
    };
    return g_memdup2(entries, sizeof entries);
}

GOptionEntry *bb_inference_join(const GOptionEntry *own, BbInference *inference)
{
    g_autofree GOptionEntry *shared = list_entries(inference);
    g_autoptr(GArray) all = g_array_new(TRUE, FALSE, sizeof(GOptionEntry));
    for (; own->long_name; own++)
        g_array_append_val(all, *own);
    for (const GOptionEntry *entry = shared; entry->long_name; entry++)
        g_array_append_val(all, *entry);
    return g_array_steal(all, NULL);
}

static int check_windows(BbInference *inference, const char *program)
{
    BbWindowOptions *windows = &inference->windows;
    const char *window = inference->window;
    bool by_time = window && strcmp(window, "auto") != 0 && strcmp(window, "whole") != 0;
    windows->whole = window && strcmp(window, "whole") == 0;
    if (by_time && (!bb_parse_duration(window, &windows->length_ns) || windows->length_ns <= 0))
        return bb_say_usage(program, "--window takes: auto, whole, or a duration like 10min%s",
                            bb_duration_excess(window));
    if (!inference->step)
        return -1;
    if (!by_time)
        return bb_say_usage(program, "--step needs --window with a duration");
    if (!bb_parse_duration(inference->step, &windows->step_ns) || windows->step_ns <= 0)
        return bb_say_usage(program, "--step '%s' is no duration above 0, like 5min%s",
                            inference->step, bb_duration_excess(inference->step));
    if (windows->step_ns > windows->length_ns)
        return bb_say_usage(program, "--step cannot be longer than --window");
    if (windows->step_ns < windows->length_ns / STEPS_MAX)
        return bb_say_usage(program,
                            "--step cannot be shorter than a %dth of --window: each call would be "
                            "inferred as many times",
                            STEPS_MAX);
    return -1;
}

static int check_time(const char *program, const char *option, const char *text, gint64 *time_ns)
{
    if (!text || bb_parse_time(text, time_ns))
        return -1;
    return bb_say_usage(program, "%s '%s' is no time: 1047680084.482205 or 2003-03-14T22:14:44.5Z",
                        option, text);
}

// An option given twice, and one with a comma, say the same.
static int check_nodes(const char *program, const char *option, char **lists, BbGlobs **globs)
{
    if (!lists)
        return -1;
    g_autofree char *list = g_strjoinv(",", lists);
    *globs = bb_globs_new(list);
    if (*globs)
        return -1;
    return bb_say_usage(program, "%s '%s' has an empty name: %s=web1 or %s='web*,db?'", option,
                        list, option, option);
}

// As it would be given to a shell; of several, each.
static void append_condition(GString *out, const char *option, char *const *values)
{
    for (; values && *values; values++) {
        g_autofree char *word = bb_shell_word(*values);
        g_string_append_printf(out, "%s--%s=%s", out->len ? " " : "", option, word);
    }
}

static char *conditions_of(const BbInference *inference)
{
    g_autoptr(GString) out = g_string_new(NULL);
    append_condition(out, "root", inference->root);
    append_condition(out, "through", inference->through);
    append_condition(out, "op", inference->ops);
    append_condition(out, "slower-than", (char *[]){inference->slower, NULL});
    if (inference->errors)
        g_string_append_printf(out, "%s--errors", out->len ? " " : "");
    append_condition(out, "from", (char *[]){inference->from, NULL});
    append_condition(out, "to", (char *[]){inference->to, NULL});
    return out->len ? g_string_free(g_steal_pointer(&out), FALSE) : NULL;
}

static int check_selection(BbInference *inference, const char *program)
{
    BbSelectionOptions *selection = &inference->selection;
    selection->root = inference->roots;
    selection->through = inference->throughs;
    selection->ops = (const char *const *)inference->ops;
    selection->errors = inference->errors;
    selection->last_byte = inference->nesting.latency_last_byte;
    inference->conditions = conditions_of(inference);
    if (inference->slower && !bb_parse_duration(inference->slower, &selection->slower_ns))
        return bb_say_usage(program, "--slower-than '%s' is no duration like 200ms%s",
                            inference->slower, bb_duration_excess(inference->slower));
    int status = check_time(program, "--from", inference->from, &selection->from_ns);
    if (status < 0)
        status = check_time(program, "--to", inference->to, &selection->to_ns);
    if (status < 0 && inference->from && inference->to && selection->from_ns >= selection->to_ns)
        return bb_say_usage(program, "--to must be later than --from");
    return status;
}

int bb_inference_check(BbInference *inference, const char *program)
{
    int status = BB_EXIT_USAGE;
    inference->algorithm = bb_algorithm_find(inference->algo, inference->explain, program, &status);
    if (!inference->algorithm)
        return status;
    if (!bb_is_said(inference->threads))
        inference->threads = 0;
    else if (inference->threads < 1 || inference->threads > THREADS_MAX)
        return bb_say_usage(program, "--threads takes a number from 1 to %d", THREADS_MAX);
    status = check_nodes(program, "--root", inference->root, &inference->roots);
    if (status < 0)
        status = check_nodes(program, "--through", inference->through, &inference->throughs);
    if (status < 0)
        status = inference->algorithm->check(inference, program);
    if (status < 0)
        status = check_windows(inference, program);
    return status >= 0 ? status : check_selection(inference, program);
}

int bb_inference_check_calls(BbInference *inference, const char *program)
{
    int status = bb_inference_check(inference, program);
    if (status >= 0 || bb_inference_has_calls(inference))
        return status;
    return bb_say_usage(program, "who waits for whom is known of calls and returns only: use "
                                 "--algo=nesting");
}

int bb_inference_check_output(const BbInference *inference, const char *program, const char *trace,
                              const char *path)
{
    const char *roles = inference->roles;
    if (path && bb_is_same_file(path, trace))
        return bb_say_usage(program, "%s would be overwritten: give another file for the output",
                            trace);
    if (path && roles && bb_is_same_file(path, roles))
        return bb_say_usage(program,
                            "%s has the roles and would be overwritten: give another file for the "
                            "output",
                            roles);
    return -1;
}

// ---- the run -----------------------------------------------------------------------------------

typedef struct {
    const BbInference *inference;
    const BbAlgorithm *algorithm;
    const BbInferenceUse *use;
    BbTraceReader *reader;
    gpointer inferring; // the algorithm's
    BbSelection *selection;
    BbNodeSet *nodes; // of all messages; NULL where nobody asked for one
    BbProgress progress;
    const char *trace;
    const BbNames *names;
    gint64 first_ns; // of the messages read; BB_TIME_NONE
    BbFacts facts;
    guint n_windows; // that have an overlap in time
    guint64 longer;  // calls that last longer than windows overlap
} Run;

static void run_clear(Run *run)
{
    bb_progress_end(&run->progress);
    bb_trace_reader_free(run->reader);
    run->algorithm->stop(run->inferring);
    bb_selection_free(run->selection);
    bb_node_set_free(run->nodes);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Run, run_clear)

static void show_progress(Run *run)
{
    guint64 messages = bb_trace_reader_messages(run->reader);
    if (messages % 65536 != 0 || !bb_progress_due(&run->progress))
        return;
    g_autofree char *count = bb_number(messages);
    bb_progress_show(&run->progress, "%s  %s messages", run->trace, count);
}

// By how much windows of time overlap; 0 of others.
static gint64 overlap_of(const BbInference *inference)
{
    return inference->windows.length_ns - bb_window_step(&inference->windows);
}

static void note_window(Run *run, const BbPaths *paths)
{
    gint64 overlap_ns = overlap_of(run->inference);
    bb_facts_add(&run->facts, &paths->facts);
    run->n_windows += run->inference->windows.length_ns > 0;
    for (guint32 i = 0; run->inference->windows.length_ns > 0 && i < paths->n_calls; i++)
        run->longer +=
            bb_call_is_returned(&paths->calls[i]) &&
            bb_time_between(paths->calls[i].call_ns, paths->calls[i].return_ns) > overlap_ns;
}

// Hands on the window that is due, if one is.
static bool publish(Run *run, GError **error)
{
    const BbInferenceUse *use = run->use;
    GError *failure = NULL;
    g_autoptr(BbPaths) paths = run->algorithm->next(run->inferring, &failure);
    if (failure)
        g_propagate_prefixed_error(error, failure, "%s: ", run->trace);
    if (!paths)
        return !failure;
    note_window(run, paths);
    bb_selection_apply(run->selection, paths);
    if (use->counting)
        bb_counting_add(use->counting, paths);
    return !use->paths || use->paths(paths, use->user, error);
}

// What an algorithm without instances finds.
static bool publish_patterns(Run *run, GError **error)
{
    if (!run->algorithm->patterns || !run->use->counting)
        return true;
    BbPatterns *patterns = run->algorithm->patterns(run->inferring, error);
    if (!patterns)
        g_prefix_error(error, "%s: ", run->trace);
    else
        bb_counting_take(run->use->counting, patterns);
    return patterns;
}

static void note_message(Run *run, const BbMessage *message)
{
    if (run->first_ns == BB_TIME_NONE || message->time_ns < run->first_ns)
        run->first_ns = message->time_ns;
    if (!run->nodes)
        return;
    bb_node_set_add(run->nodes, message->sender);
    bb_node_set_add(run->nodes, message->receiver);
}

static bool read_all(Run *run, GError **error)
{
    BbMessage message;
    GError *failure = NULL;
    while (bb_trace_reader_next(run->reader, &message, &failure)) {
        if (run->use->message)
            run->use->message(&message, run->use->user);
        note_message(run, &message);
        while (!run->algorithm->push(run->inferring, &message))
            if (!publish(run, error))
                return false;
        show_progress(run);
    }
    run->algorithm->end(run->inferring);
    if (run->use->network)
        bb_network_merge(run->use->network, bb_trace_reader_network(run->reader));
    bb_progress_end(&run->progress);
    bb_say_trace_damage(run->reader);
    if (failure)
        g_propagate_error(error, failure);
    return !failure && publish(run, error) && publish_patterns(run, error);
}

// The patterns of nodes that match none.
static void say_misses(const Run *run, const BbGlobs *globs)
{
    const char *const *patterns = globs ? bb_globs_patterns(globs) : NULL;
    for (; patterns && *patterns; patterns++) {
        g_autofree char *miss = bb_node_set_miss(run->nodes, *patterns);
        if (miss)
            bb_say("warning: %s", miss);
    }
}

// The words of a file of roles that match no node.
static void say_absent(const Run *run)
{
    const BbRoles *roles = run->nodes ? run->inference->nesting.roles : NULL;
    const char *pattern = NULL;
    guint absent = 0, all = 0;
    g_autoptr(GString) names = g_string_new(NULL);
    for (; roles && (pattern = bb_roles_pattern(roles, all)); all++) {
        if (bb_node_set_matches(run->nodes, pattern))
            continue;
        absent++;
        if (absent > ABSENT_SHOWN)
            continue;
        g_string_append(names, absent > 1 ? ", " : " ");
        bb_caption_append(names, pattern, "");
    }
    if (absent > 0)
        bb_say("warning: %s: %u of its %u nodes match%s none of the trace:%s%s",
               run->inference->roles, absent, all, absent == 1 ? "es" : "", names->str,
               absent > ABSENT_SHOWN ? ", ..." : "");
}

// Names of a role and of a node that is none of it.
static void say_clashes(const Run *run)
{
    const char *file = run->inference->roles ? run->inference->roles : "--merge-replicas";
    const BbRoles *roles = run->nodes ? run->inference->nesting.roles : NULL;
    for (guint i = 0; roles && i < bb_roles_count(roles); i++) {
        guint32 role = bb_roles_name(roles, i);
        if (!bb_node_set_has(run->nodes, role) || bb_roles_lists_itself(roles, role))
            continue;
        g_autoptr(GString) name = g_string_new(NULL);
        bb_caption_append(name, bb_names_text(run->names, role), "");
        bb_say("warning: %s: role %s has the name of a node that it does not list, and that is "
               "taken for one of it: call the role otherwise",
               file, name->str);
    }
}

// Roles that were found in another trace, and that no node of this one has.
static void say_strange(const Run *run)
{
    const BbNestingOptions *nesting = &run->inference->nesting;
    bool found = nesting->roles && !bb_roles_pattern(nesting->roles, 0);
    if (!found || nesting->find_roles)
        return;
    g_autoptr(GHashTable) seen = g_hash_table_new(NULL, NULL);
    for (guint32 name = 0; name < bb_names_count(run->names); name++)
        if (bb_node_set_has(run->nodes, name))
            g_hash_table_add(seen, GUINT_TO_POINTER(bb_roles_of(nesting->roles, name)));
    for (guint i = 0; i < bb_roles_count(nesting->roles); i++) {
        guint32 role = bb_roles_name(nesting->roles, i);
        g_autoptr(GString) caption = g_string_new(NULL);
        bb_caption_append(caption, bb_names_text(run->names, role), "");
        if (!g_hash_table_contains(seen, GUINT_TO_POINTER(role)))
            bb_say("warning: no node is of the role %s, which is one of the trace before: name the "
                   "replicas of both in a file (--roles)",
                   caption->str);
    }
}

// A path longer than the overlap of two windows may have a part in each. Of a call that lacks its
// other half nobody knows whether that was lost or stands in another window; where others last so
// long, it is taken for the latter.
static void say_cut(const Run *run)
{
    const BbFacts *facts = &run->facts;
    guint64 halves = MIN(facts->calls_unreturned, facts->returns_orphaned);
    double least = CUT_LEAST * (double)facts->calls;
    bool is_long = run->longer && (double)run->longer >= least;
    guint64 cut = halves + (is_long ? run->longer : 0);
    if (run->n_windows < 2 || cut == 0 || (double)cut < least)
        return;
    g_autoptr(GString) text = g_string_new("warning: ");
    bb_quantity_append_share(text, MIN((double)cut / (double)facts->calls, 1));
    g_string_append(text, is_long ? " of the calls last longer than the "
                                  : " of the calls and as many returns lack their other half: "
                                    "messages were lost, or calls last longer than the ");
    bb_quantity_append_duration(text, overlap_of(run->inference));
    g_string_append(text, " by which windows overlap");
    g_string_append(text, is_long ? ", and their paths may be cut: give a longer --window, some "
                                    "four times the longest path"
                                  : "; with a longer --window the latter come together");
    bb_say("%s", text->str);
}

// The paper's choice loses more by a window than by clocks.
static void say_clocks(const Run *run)
{
    const BbInference *inference = run->inference;
    const BbClockDoubt doubt =
        bb_clock_doubt_of(bb_trace_reader_counters(run->reader), run->facts.calls);
    g_autofree char *told = bb_clock_doubt_tell(&doubt);
    if (told && !inference->skew && inference->algorithm == &bb_algorithm_nesting &&
        inference->nesting.assign == BB_ASSIGN_JOINT)
        bb_say("warning: %s", told);
}

// Times do not tell apart what happens within one unit of them.
static void say_coarse(const Run *run)
{
    const BbFacts *facts = &run->facts;
    if (facts->quantum_ns == 0)
        return;
    g_autoptr(GString) unit = g_string_new(NULL);
    bb_quantity_append_duration(unit, facts->quantum_ns);
    bb_say(
        "warning: times are whole multiples of %s, in which a node makes %.3g calls: which request "
        "a call belongs to is a guess, and patterns are not to be relied on; --assign=paper finds "
        "frequent ones more often",
        unit->str, facts->in_quantum);
}

// Takes the hint; NULL: nothing to say.
static void say_hint(char *hint)
{
    if (hint)
        bb_say("warning: %s", hint);
    g_free(hint);
}

static void say_end(const Run *run)
{
    guint64 late = run->algorithm->late(run->inferring);
    g_autofree char *count = bb_number(late);
    if (late > 0)
        bb_say(
            "warning: %s message%s came when the window %s belong%s to was over: put the trace in "
            "order, or give a longer --window",
            count, late == 1 ? "" : "s", late == 1 ? "it" : "they", late == 1 ? "s" : "");
    say_cut(run);
    say_clocks(run);
    say_coarse(run);
    bool early = bb_say_early("--from", run->inference->from, run->first_ns);
    early |= bb_say_early("--to", run->inference->to, run->first_ns);
    say_misses(run, run->inference->roots);
    say_misses(run, run->inference->throughs);
    say_absent(run);
    say_clashes(run);
    say_strange(run);
    say_hint(bb_selection_hint_ops(run->selection));
    if (!early)
        say_hint(bb_selection_hint_time(run->selection));
    if (run->algorithm->tell)
        run->algorithm->tell(run->inferring, run->inference->verbose);
}

bool bb_inference_run(BbInference *inference, const char *trace, BbNames *names,
                      const BbInferenceUse *use, GError **error)
{
    g_auto(Run) run = {.inference = inference,
                       .algorithm = inference->algorithm,
                       .use = use,
                       .trace = trace,
                       .names = names,
                       .first_ns = BB_TIME_NONE,
                       .facts = BB_FACTS_EMPTY};
    if (strcmp(trace, "-") == 0)
        bb_stop_leave_to_writer();
    run.reader = bb_trace_reader_open(trace, names, error);
    if (!run.reader)
        return false;
    bb_trace_reader_skip_bad_lines(run.reader, inference->skip_bad_lines);
    run.inferring = run.algorithm->start(inference, names, error);
    if (!run.inferring)
        return false;
    run.selection = bb_selection_new(&inference->selection, names);
    if (inference->roots || inference->throughs || inference->nesting.roles)
        run.nodes = bb_node_set_new(names);
    run.progress = bb_progress_start(inference->quiet);
    if (!read_all(&run, error))
        return false;
    if (use->facts)
        *use->facts = run.facts;
    if (use->chosen) {
        *use->chosen = bb_selection_chosen(run.selection, inference->conditions);
        use->chosen->counted = !run.algorithm->patterns; // else there are no instances
    }
    say_end(&run);
    return true;
}
