// SPDX-License-Identifier: Apache-2.0
// bbpaths score. In: a trace with ground truth. Out: how right the inference is.
#include "cli/inference.h"

#include "data/input.h"
#include "diagnose/chain_score.h"
#include "diagnose/score.h"

#include <stdio.h>
#include <string.h>

static const char program[] = "bbpaths score";
static const char summary[] = "Infers paths as bbpaths does, and compares them with the ground "
                              "truth that the trace carries:\n"
                              "the path= and parent= keys of its messages, which no inference "
                              "reads.";
static const char description[] =
    "What the figures mean is told in bbpaths(1). Exit status: 0 done, 1 failed, 2 wrong usage.\n";

typedef struct {
    const char *name;
    void (*write)(const BbScore *score, const BbNames *names, FILE *out);
    void (*write_chains)(const BbChainScore *score, const BbNames *names, FILE *out);
} Format;

static const Format formats[] = {
    {"text", bb_score_write_text, bb_chain_score_write_text},
    {"json", bb_score_write_json, bb_chain_score_write_json},
};

typedef struct {
    BbInference inference;
    char *format_name;
    const Format *format;
    const char *trace;
    BbNames *names;
    guint64 messages; // read
    // Of calls with returns.
    BbTruth *truth;
    BbScoring *scoring;
    // Of messages.
    BbEffects *effects;
    BbCounting *counting;
} Run;

static void run_clear(Run *run)
{
    bb_inference_clear(&run->inference);
    g_free(run->format_name);
    bb_scoring_free(run->scoring);
    bb_truth_free(run->truth);
    bb_counting_free(run->counting);
    bb_effects_free(run->effects);
    bb_names_free(run->names);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Run, run_clear)

// ---- options ------------------------------------------------------------------------------------

// All requests are scored, so what chooses instances is no option here; but --root tells
// convolution where paths begin.
static bool chooses_instances(const BbInference *inference, const GOptionEntry *entry)
{
    const void *const choices[] = {&inference->through, &inference->ops,  &inference->slower,
                                   &inference->errors,  &inference->from, &inference->to};
    for (gsize i = 0; i < G_N_ELEMENTS(choices); i++)
        if (entry->arg_data == choices[i])
            return true;
    return false;
}

static void drop_choices(const BbInference *inference, GOptionEntry *entries)
{
    GOptionEntry *kept = entries;
    for (GOptionEntry *entry = entries; entry->long_name; entry++) {
        if (chooses_instances(inference, entry))
            continue;
        *kept = *entry;
        if (entry->arg_data == &inference->root)
            kept->description = "convolution: paths begin at such nodes (*, ? as in a shell)";
        kept++;
    }
    *kept = (GOptionEntry){0};
}

static int choose_format(Run *run)
{
    run->format = &formats[0];
    for (gsize i = 0; run->format_name && i < G_N_ELEMENTS(formats); i++) {
        run->format = &formats[i];
        if (strcmp(run->format_name, formats[i].name) == 0)
            return -1;
    }
    return run->format_name ? bb_say_usage(program, "--format takes: text, json") : -1;
}

static int check_inference(BbInference *inference)
{
    int status = bb_inference_check(inference, program);
    if (status >= 0)
        return status;
    if (inference->root && bb_inference_has_calls(inference))
        return bb_say_usage(program, "--root is for --algo=convolution: all requests are scored");
    inference->selection.root = NULL;
    return -1;
}

// Returns an exit status, or -1 to go on.
static int parse_options(Run *run, int argc, char **argv)
{
    const GOptionEntry own[] = {
        {"format", 'f', 0, G_OPTION_ARG_STRING, &run->format_name,
         "Format of the score: text (default), json", "FORMAT"},
        {NULL, 0, 0, 0, NULL, NULL, NULL},
    };
    g_autofree GOptionEntry *entries = bb_inference_join(own, &run->inference);
    int status = BB_EXIT_DONE;
    drop_choices(&run->inference, entries);
    if (!bb_options_parse(program, "TRACE", summary, description, entries, &argc, &argv, &status))
        return status;
    if (argc != 2)
        return bb_say_one_trace(program, argc < 2);
    run->trace = argv[1];
    status = choose_format(run);
    return status >= 0 ? status : check_inference(&run->inference);
}

static int say_nothing(const Run *run, const char *why)
{
    bb_say_error("%s: nothing to score: %s", bb_input_name_of(run->trace),
                 run->messages ? why : "the trace has no messages");
    return BB_EXIT_FAILED;
}

static int say_no_truth(const Run *run, guint64 untold, const char *what, const char *caused)
{
    bb_say_error("%s: no ground truth to score against: none of its %" G_GUINT64_FORMAT
                 " %s has an id and says by parent= which %s caused it; traces made by bbtrace "
                 "generate do (but for --no-ids), and text traces may",
                 bb_input_name_of(run->trace), untold, what, caused);
    return BB_EXIT_FAILED;
}

// ---- calls --------------------------------------------------------------------------------------

static void take_message(const BbMessage *message, gpointer user)
{
    Run *run = user;
    run->messages++;
    bb_truth_push(run->truth, message);
}

static bool take_window(BbPaths *paths, gpointer user, GError **error)
{
    (void)error;
    Run *run = user;
    bb_scoring_add(run->scoring, paths, run->truth);
    return true;
}

static int print_calls(const Run *run)
{
    g_autoptr(BbScore) score = bb_scoring_finish(run->scoring);
    if (score->calls == 0 && score->untold > 0)
        return say_no_truth(run, score->untold, "calls", "call");
    if (score->calls == 0)
        return say_nothing(run, score->unreturned
                                    ? "no call of the trace has a return"
                                    : "the trace has no calls (--algo=convolution needs none)");
    run->format->write(score, run->names, stdout);
    return bb_end_stdout(BB_EXIT_DONE);
}

static int score_calls(Run *run)
{
    g_autoptr(GError) error = NULL;
    BbForestOptions options = {run->inference.nesting.labels,
                               run->inference.nesting.latency_last_byte};
    run->truth = bb_truth_new();
    run->scoring = bb_scoring_new(run->names, &options);
    BbInferenceUse use = {.message = take_message, .paths = take_window, .user = run};
    if (bb_inference_run(&run->inference, run->trace, run->names, &use, &error))
        return print_calls(run);
    bb_say_error("%s", error->message);
    return BB_EXIT_FAILED;
}

// ---- messages -----------------------------------------------------------------------------------

static void take_effect(const BbMessage *message, gpointer user)
{
    Run *run = user;
    run->messages++;
    bb_effects_push(run->effects, message);
}

static bool take_causes(BbPaths *paths, gpointer user, GError **error)
{
    (void)error;
    Run *run = user;
    bb_effects_add(run->effects, paths);
    return true;
}

static int print_chains(const Run *run)
{
    g_autoptr(BbPatterns) patterns = bb_counting_finish(run->counting);
    g_autoptr(BbChainScore) score = bb_chain_score_new(
        run->effects, patterns, bb_inference_has_instances(&run->inference), run->names);
    if (score->messages == 0 && score->untold > 0)
        return say_no_truth(run, score->untold, "messages", "message");
    if (score->messages == 0)
        return say_nothing(run, NULL);
    run->format->write_chains(score, run->names, stdout);
    return bb_end_stdout(BB_EXIT_DONE);
}

static int score_messages(Run *run)
{
    g_autoptr(GError) error = NULL;
    run->effects = bb_effects_new();
    run->counting = bb_counting_new(&run->inference, run->names);
    BbInferenceUse use = {take_effect, take_causes, run, run->counting};
    if (bb_inference_run(&run->inference, run->trace, run->names, &use, &error))
        return print_chains(run);
    bb_say_error("%s", error->message);
    return BB_EXIT_FAILED;
}

static int run_score(int argc, char **argv)
{
    g_auto(Run) run = {.names = bb_names_new()};
    bb_inference_init(&run.inference);
    int status = parse_options(&run, argc, argv);
    if (status >= 0)
        return status;
    return bb_inference_has_calls(&run.inference) ? score_calls(&run) : score_messages(&run);
}

const BbCommand bb_command_score = {"score", "TRACE", "Compare what is inferred with ground truth",
                                    run_score};
