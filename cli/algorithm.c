// SPDX-License-Identifier: Apache-2.0
// In: the words of --algo and --explain. Out: the algorithm. And the patterns of a run, counted as
// its algorithm has them.
#include "cli/algorithm.h"

#include <string.h>

static const BbAlgorithm *const algorithms[] = {
    &bb_algorithm_nesting,
    &bb_algorithm_convolution,
    &bb_algorithm_figure6,
};

// The different words of one of the options: "nesting, convolution".
static char *list_words(const char *algo)
{
    GString *words = g_string_new(NULL);
    const char *before = NULL;
    for (gsize i = 0; i < G_N_ELEMENTS(algorithms); i++) {
        const BbAlgorithm *algorithm = algorithms[i];
        const char *word = algo ? algorithm->explain : algorithm->algo;
        if ((algo && strcmp(algorithm->algo, algo) != 0) || (before && strcmp(before, word) == 0))
            continue;
        g_string_append_printf(words, "%s%s", words->len ? ", " : "", word);
        before = word;
    }
    return g_string_free(words, FALSE);
}

static const BbAlgorithm *find(const char *algo, const char *explain)
{
    for (gsize i = 0; i < G_N_ELEMENTS(algorithms); i++) {
        const BbAlgorithm *algorithm = algorithms[i];
        if (strcmp(algorithm->algo, algo) == 0 &&
            (!explain || (algorithm->explain && strcmp(algorithm->explain, explain) == 0)))
            return algorithm;
    }
    return NULL;
}

const BbAlgorithm *bb_algorithm_find(const char *algo, const char *explain, const char *program,
                                     int *status)
{
    const char *wanted = algo ? algo : algorithms[0]->algo;
    const BbAlgorithm *plain = find(wanted, NULL);
    const BbAlgorithm *algorithm = find(wanted, explain);
    g_autofree char *words = list_words(plain ? wanted : NULL);
    if (!plain)
        *status = bb_say_usage(program, "--algo takes: %s", words);
    else if (explain && !plain->explain)
        *status = bb_say_usage(program, "--explain is for --algo=convolution");
    else if (!algorithm)
        *status = bb_say_usage(program, "--explain takes: %s", words);
    return algorithm;
}

int bb_refuse_given(const BbGiven *options, gsize count, const char *program, const char *what)
{
    for (gsize i = 0; i < count; i++)
        if (options[i].given)
            return bb_say_usage(program, "%s %s", options[i].option, what);
    return -1;
}

int bb_check_span(const char *program, const char *option, const char *text, const char *example,
                  gint64 *ns)
{
    if (!text || (bb_parse_duration(text, ns) && *ns > 0))
        return -1;
    return bb_say_usage(program, "%s '%s' is no duration above 0, like %s%s", option, text, example,
                        bb_duration_excess(text));
}

// ---- counting ----------------------------------------------------------------------------------

struct BbCounting {
    const BbAlgorithm *algorithm;
    gpointer counts;      // the algorithm's; NULL where it finds patterns only
    BbPatterns *patterns; // of those; NULL before the end of the run
};

BbCounting *bb_counting_new(const BbInference *inference, const BbNames *names)
{
    const BbAlgorithm *algorithm = inference->algorithm;
    BbCounting *counting = g_new0(BbCounting, 1);
    counting->algorithm = algorithm;
    if (algorithm->count_new)
        counting->counts = algorithm->count_new(inference, names);
    return counting;
}

void bb_counting_free(BbCounting *counting)
{
    if (!counting)
        return;
    if (counting->counts)
        counting->algorithm->count_free(counting->counts);
    bb_patterns_free(counting->patterns);
    g_free(counting);
}

void bb_counting_add(BbCounting *counting, BbPaths *paths)
{
    counting->algorithm->count_add(counting->counts, paths);
}

void bb_counting_take(BbCounting *counting, BbPatterns *patterns)
{
    bb_patterns_free(counting->patterns);
    counting->patterns = patterns;
}

bool bb_counting_is_kept(const BbCounting *counting, guint32 pattern)
{
    return counting->counts && counting->algorithm->count_is_kept(counting->counts, pattern);
}

BbPatterns *bb_counting_finish(BbCounting *counting)
{
    return counting->counts ? counting->algorithm->count_finish(counting->counts)
                            : g_steal_pointer(&counting->patterns);
}
