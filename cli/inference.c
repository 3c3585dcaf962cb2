// SPDX-License-Identifier: Apache-2.0
// In: options and the name of a trace. Out: the path instances in it, window after window.
#include "cli/inference.h"

#include <string.h>

#define THREADS_MAX 1024
#define STEPS_MAX 100 // in a window: so many times a call is inferred

void bb_inference_init(BbInference *inference)
{
    BbNestingOptions nesting = bb_nesting_options_default();
    *inference = (BbInference){
        .nesting = nesting,
        .selection = BB_SELECTION_ALL,
        .census = {.algorithm = "nesting", .limit = BB_CENSUS_LIMIT},
        .overlap = nesting.overlap_penalty,
        .same = nesting.same_penalty,
        .any = nesting.any_penalty,
        .smoothing = nesting.smoothing,
    };
}

void bb_inference_clear(BbInference *inference)
{
    char *owned[] = {inference->algo,    inference->assign,  inference->floor, inference->skew,
                     inference->latency, inference->window,  inference->step,  inference->roles,
                     inference->root,    inference->through, inference->op,    inference->slower,
                     inference->from,    inference->to};
    for (gsize i = 0; i < G_N_ELEMENTS(owned); i++)
        g_free(owned[i]);
}

// ---- options -----------------------------------------------------------------------------------

GOptionEntry *bb_inference_entries(BbInference *inference)
{
    const GOptionEntry entries[] = {
        {"algo", 0, 0, G_OPTION_ARG_STRING, &inference->algo, "nesting (default)", "ALGORITHM"},
        {"assign", 0, 0, G_OPTION_ARG_STRING, &inference->assign,
         "How a call gets its parent: joint (default), or paper (SOSP'03, section 5.1)", "METHOD"},
        {"window", 0, 0, G_OPTION_ARG_STRING, &inference->window,
         "Infer in windows of this length: auto (default), whole, or 10min", "DURATION"},
        {"step", 0, 0, G_OPTION_ARG_STRING, &inference->step,
         "From one window to the next (default: three quarters of the window)", "DURATION"},
        {"root", 0, 0, G_OPTION_ARG_STRING, &inference->root,
         "Only paths that this node begins, or that begin at it", "NODE"},
        {"through", 0, 0, G_OPTION_ARG_STRING, &inference->through,
         "Only paths that pass through this node", "NODE"},
        {"op", 0, 0, G_OPTION_ARG_STRING, &inference->op,
         "Only paths with a call of such an operation (*, ? as in a shell)", "PATTERN"},
        {"slower-than", 0, 0, G_OPTION_ARG_STRING, &inference->slower,
         "Only paths that take longer", "DURATION"},
        {"errors", 0, 0, G_OPTION_ARG_NONE, &inference->errors,
         "Only paths with a call that returned an error", NULL},
        {"from", 0, 0, G_OPTION_ARG_STRING, &inference->from,
         "Only paths that begin at this time or later", "TIME"},
        {"to", 0, 0, G_OPTION_ARG_STRING, &inference->to, "Only paths that begin before this time",
         "TIME"},
        {"no-labels", 0, 0, G_OPTION_ARG_NONE, &inference->no_labels,
         "Operations do not tell patterns apart: strictly black boxes", NULL},
        {"roles", 0, 0, G_OPTION_ARG_STRING, &inference->roles,
         "Replicas: none, auto (found; default with --merge-replicas), or a file that names them",
         "auto|none|FILE"},
        {"merge-replicas", 0, 0, G_OPTION_ARG_NONE, &inference->merge_replicas,
         "Patterns that differ only in replicas are one", NULL},
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
         "How far a call may stick out of its parent (default: 0)", "DURATION"},
        {"threads", 0, 0, G_OPTION_ARG_INT, &inference->threads,
         "Work on so many processors at once (default: all)", "N"},
        {"skip-bad-lines", 0, 0, G_OPTION_ARG_NONE, &inference->skip_bad_lines,
         "Count malformed lines of a text trace instead of stopping at them", NULL},
        {"quiet", 'q', 0, G_OPTION_ARG_NONE, &inference->quiet, "No progress", NULL},
        {NULL, 0, 0, 0, NULL, NULL, NULL},
    };
    return g_memdup2(entries, sizeof entries);
}

GOptionEntry *bb_inference_join(const GOptionEntry *own, BbInference *inference)
{
    g_autofree GOptionEntry *shared = bb_inference_entries(inference);
    g_autoptr(GArray) all = g_array_new(TRUE, FALSE, sizeof(GOptionEntry));
    for (; own->long_name; own++)
        g_array_append_val(all, *own);
    for (const GOptionEntry *entry = shared; entry->long_name; entry++)
        g_array_append_val(all, *entry);
    return g_array_steal(all, NULL);
}

static int check_paper(BbInference *inference, const char *program)
{
    BbNestingOptions *nesting = &inference->nesting;
    double overlap = inference->overlap, same = inference->same, any = inference->any;
    if (inference->floor && (!bb_parse_duration(inference->floor, &nesting->bin_floor_ns) ||
                             nesting->bin_floor_ns <= 0))
        return bb_say_usage(program, "--bin-floor '%s' is no duration above 0, like 50us",
                            inference->floor);
    if (!(overlap >= 0 && same >= 0 && any >= 0 && inference->smoothing >= 0 &&
          overlap + same + any <= 1000 && inference->smoothing <= 100))
        return bb_say_usage(program,
                            "penalties go from 0 to 1000 in all, --smoothing from 0 to 100");
    BbNestingOptions usual = bb_nesting_options_default();
    bool asked = inference->floor || overlap != usual.overlap_penalty ||
                 same != usual.same_penalty || any != usual.any_penalty ||
                 inference->smoothing != usual.smoothing;
    if (asked && nesting->assign != BB_ASSIGN_PAPER)
        return bb_say_usage(program, "--bin-floor, --smoothing and penalties need --assign=paper");
    nesting->overlap_penalty = overlap;
    nesting->same_penalty = same;
    nesting->any_penalty = any;
    nesting->smoothing = inference->smoothing;
    return -1;
}

static int check_nesting(BbInference *inference, const char *program)
{
    const char *latency = inference->latency;
    if (inference->algo && strcmp(inference->algo, "nesting") != 0)
        return bb_say_usage(program, "--algo takes: nesting");
    if (inference->assign && strcmp(inference->assign, "paper") != 0 &&
        strcmp(inference->assign, "joint") != 0)
        return bb_say_usage(program, "--assign takes: joint, paper");
    if (inference->assign && strcmp(inference->assign, "paper") == 0)
        inference->nesting.assign = BB_ASSIGN_PAPER;
    if (latency && strcmp(latency, "first-byte") != 0 && strcmp(latency, "last-byte") != 0)
        return bb_say_usage(program, "--latency takes: first-byte, last-byte");
    if (inference->skew && !bb_parse_duration(inference->skew, &inference->nesting.skew_window_ns))
        return bb_say_usage(program, "--skew-window '%s' is no duration like 30ms",
                            inference->skew);
    if (inference->threads < 0 || inference->threads > THREADS_MAX)
        return bb_say_usage(program, "--threads takes a number up to %d", THREADS_MAX);
    inference->nesting.threads = (guint)inference->threads;
    inference->nesting.labels = inference->census.labels = !inference->no_labels;
    inference->nesting.latency_last_byte = latency && strcmp(latency, "last-byte") == 0;
    inference->census.last_byte = inference->nesting.latency_last_byte;
    return check_paper(inference, program);
}

static int check_windows(BbInference *inference, const char *program)
{
    BbWindowOptions *windows = &inference->windows;
    const char *window = inference->window;
    bool by_time = window && strcmp(window, "auto") != 0 && strcmp(window, "whole") != 0;
    windows->whole = window && strcmp(window, "whole") == 0;
    if (by_time && (!bb_parse_duration(window, &windows->length_ns) || windows->length_ns <= 0))
        return bb_say_usage(program, "--window takes: auto, whole, or a duration like 10min");
    if (!inference->step)
        return -1;
    if (!by_time)
        return bb_say_usage(program, "--step needs --window with a duration");
    if (!bb_parse_duration(inference->step, &windows->step_ns) || windows->step_ns <= 0)
        return bb_say_usage(program, "--step '%s' is no duration above 0, like 5min",
                            inference->step);
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

static int check_selection(BbInference *inference, const char *program)
{
    BbSelectionOptions *selection = &inference->selection;
    selection->root = inference->root;
    selection->through = inference->through;
    selection->op = inference->op;
    selection->errors = inference->errors;
    selection->last_byte = inference->nesting.latency_last_byte;
    if (inference->slower && !bb_parse_duration(inference->slower, &selection->slower_ns))
        return bb_say_usage(program, "--slower-than '%s' is no duration like 200ms",
                            inference->slower);
    int status = check_time(program, "--from", inference->from, &selection->from_ns);
    if (status < 0)
        status = check_time(program, "--to", inference->to, &selection->to_ns);
    if (status < 0 && inference->from && inference->to && selection->from_ns >= selection->to_ns)
        return bb_say_usage(program, "--to must be later than --from");
    return status;
}

static int check_roles(BbInference *inference, const char *program)
{
    bool none = inference->roles && strcmp(inference->roles, "none") == 0;
    if (none && inference->merge_replicas)
        return bb_say_usage(program, "--merge-replicas needs --roles=auto or a file");
    inference->nesting.merge_replicas = inference->merge_replicas;
    inference->nesting.find_roles =
        inference->roles ? strcmp(inference->roles, "auto") == 0 : inference->merge_replicas;
    return -1;
}

int bb_inference_check(BbInference *inference, const char *program)
{
    int status = check_nesting(inference, program);
    if (status < 0)
        status = check_roles(inference, program);
    if (status < 0)
        status = check_windows(inference, program);
    return status >= 0 ? status : check_selection(inference, program);
}

// ---- the run -----------------------------------------------------------------------------------

typedef struct {
    const BbInferenceUse *use;
    BbTraceReader *reader;
    BbWindows *windows;
    BbRoles *roles;
    BbSelection *selection;
    BbProgress progress;
    const char *trace;
} Run;

static void run_clear(Run *run)
{
    bb_progress_end(&run->progress);
    bb_trace_reader_free(run->reader);
    bb_windows_free(run->windows);
    bb_roles_free(run->roles);
    bb_selection_free(run->selection);
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

// Hands on the window that is due, if one is.
static bool publish(Run *run, GError **error)
{
    g_autoptr(BbPaths) paths = bb_windows_next(run->windows);
    if (!paths)
        return true;
    bb_selection_apply(run->selection, paths);
    return !run->use->paths || run->use->paths(paths, run->use->user, error);
}

static bool read_all(Run *run, GError **error)
{
    BbMessage message;
    GError *failure = NULL;
    while (bb_trace_reader_next(run->reader, &message, &failure)) {
        if (run->use->message)
            run->use->message(&message, run->use->user);
        while (!bb_windows_push(run->windows, &message))
            if (!publish(run, error))
                return false;
        show_progress(run);
    }
    bb_windows_end(run->windows);
    bb_progress_end(&run->progress);
    bb_say_trace_damage(run->reader);
    if (failure)
        g_propagate_error(error, failure);
    return !failure && publish(run, error);
}

static void say_end(const Run *run)
{
    guint64 late = bb_windows_late(run->windows);
    g_autofree char *hint = bb_selection_hint(run->selection);
    g_autofree char *count = bb_number(late);
    if (late > 0)
        bb_say(
            "warning: %s message%s came when the window %s belong%s to was over: put the trace in "
            "order, or give a longer --window",
            count, late == 1 ? "" : "s", late == 1 ? "it" : "they", late == 1 ? "s" : "");
    if (hint)
        bb_say("%s", hint);
}

static bool make_roles(Run *run, const BbInference *inference, BbNames *names, GError **error)
{
    const char *roles = inference->roles;
    if (inference->nesting.find_roles)
        run->roles = bb_roles_new(names);
    else if (roles && strcmp(roles, "none") != 0)
        run->roles = bb_roles_read(roles, names, error);
    else
        return true;
    return run->roles;
}

bool bb_inference_run(const BbInference *inference, const char *trace, BbNames *names,
                      const BbInferenceUse *use, GError **error)
{
    g_auto(Run) run = {.use = use, .trace = trace};
    run.reader = bb_trace_reader_open(trace, names, error);
    if (!run.reader)
        return false;
    bb_trace_reader_skip_bad_lines(run.reader, inference->skip_bad_lines);
    BbNestingOptions nesting = inference->nesting;
    if (!make_roles(&run, inference, names, error))
        return false;
    nesting.roles = run.roles;
    run.windows = bb_windows_new(names, &nesting, &inference->windows);
    run.selection = bb_selection_new(&inference->selection, names);
    run.progress = bb_progress_start(inference->quiet);
    if (!read_all(&run, error))
        return false;
    say_end(&run);
    return true;
}
