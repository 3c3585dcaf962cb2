// SPDX-License-Identifier: Apache-2.0
// bbtrace anonymize. In: a trace. Out: the same under other names.
#include "cli/traces.h"

#include "cli/pseudonym_key.h"

#include <string.h>

#define PROGRAM "bbtrace anonymize"

typedef struct Words {
    char *out, *key, *seed, *map, *shift, *labels;
    gboolean keep_ports, keep_prefixes, skip_bad_lines, quiet;
} Words;

static void words_clear(Words *words)
{
    g_free(words->out);
    g_free(words->key);
    g_free(words->seed);
    g_free(words->map);
    g_free(words->shift);
    g_free(words->labels);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Words, words_clear)

// ---- options ------------------------------------------------------------------------------------

// A key of the user's, or one that nobody will ever know.
static bool make_key(const Words *words, char **key, gsize *size, GError **error)
{
    if (!words->seed)
        return bb_pseudonym_key_read(words->key, key, size, error);
    *key = g_strdup(words->seed);
    *size = strlen(words->seed);
    return true;
}

// "30s", "-2h".
static bool parse_shift(const char *text, gint64 *shift_ns)
{
    bool negative = *text == '-';
    text += negative || *text == '+';
    if (!bb_parse_duration(text, shift_ns))
        return false;
    *shift_ns = negative ? -*shift_ns : *shift_ns;
    return true;
}

static bool is_number(const char *text)
{
    guint64 number = 0;
    return g_ascii_string_to_unsigned(text, 10, 0, G_MAXUINT64, &number, NULL);
}

// Returns an exit status, or -1 to go on.
static int check_words(const Words *words, char **paths, BbPseudonymOptions *options)
{
    int status = bb_traces_check(PROGRAM, paths, words->out, words->map);
    if (status >= 0)
        return status;
    if (paths[1])
        return bb_say_usage(PROGRAM, "one trace at a time: with the same --key names are the same");
    if (words->key && words->seed)
        return bb_say_usage(PROGRAM, "--key and --seed are two keys: give one");
    if (words->key && ((words->out && bb_is_same_file(words->key, words->out)) ||
                       (words->map && bb_is_same_file(words->key, words->map))))
        return bb_say_usage(PROGRAM, "this would overwrite the key %s: give another file to write",
                            words->key);
    if (words->seed && !is_number(words->seed))
        return bb_say_usage(PROGRAM, "--seed takes a number, not '%s'", words->seed);
    if (words->shift && !parse_shift(words->shift, &options->shift_ns))
        return bb_say_usage(PROGRAM, "--shift takes a time, as 36h or -90s, not '%s'%s",
                            words->shift, bb_duration_excess(words->shift));
    if (words->map && words->out && bb_is_same_output(words->map, words->out))
        return bb_say_usage(PROGRAM, "-w and --map are one file");
    if (words->map && !words->out && g_str_equal(words->map, "-"))
        return bb_say_usage(PROGRAM, "--map and the trace would both go to standard output");
    if (words->labels && !bb_labels_parse(words->labels, &options->labels))
        return bb_say_usage(PROGRAM, "--labels is keep, hash or off, not '%s'", words->labels);
    options->keep_ports = words->keep_ports;
    options->keep_prefixes = words->keep_prefixes;
    return -1;
}

// ---- work ---------------------------------------------------------------------------------------

typedef struct Job {
    BbTraces traces;
    BbPseudonyms *pseudonyms;
    char *note;
    guint dropped; // notes
} Job;

static void job_clear(Job *job)
{
    bb_pseudonyms_free(job->pseudonyms);
    g_free(job->note);
    bb_traces_clear(&job->traces);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Job, job_clear)

static bool write_message(const BbMessage *message, gpointer user, GError **error)
{
    Job *job = user;
    BbMessage renamed = *message;
    bb_pseudonyms_apply(job->pseudonyms, &renamed);
    return bb_traces_write(&renamed, &job->traces, error);
}

static void rename_network(Job *job)
{
    BbNetwork *renamed = bb_network_new();
    bb_pseudonyms_network(job->pseudonyms, job->traces.network, renamed);
    bb_network_free(job->traces.network);
    job->traces.network = renamed;
}

// What people or programs wrote may hold any name.
static void drop_notes(Job *job)
{
    job->dropped = job->traces.notes->len;
    g_ptr_array_set_size(job->traces.notes, 0);
}

static bool rename_trace(Job *job, char **paths, const Words *words, GError **error)
{
    if (!bb_traces_read(&job->traces, paths, write_message, job, error))
        return false;
    rename_network(job);
    drop_notes(job);
    return bb_traces_finish(&job->traces, error) &&
           (!words->map || bb_pseudonyms_write_map(job->pseudonyms, words->map, error));
}

static void say_rest(const Job *job, const Words *words)
{
    guint64 clipped = bb_pseudonyms_clipped(job->pseudonyms);
    g_autofree char *times = bb_counted(clipped, "time"), *notes = bb_counted(job->dropped, "note");
    if (clipped)
        bb_say("warning: %s set to 1970 or 2262, and would be beyond", times);
    if (job->dropped)
        bb_say("warning: %s left out, since names may stand there", notes);
    if (words->seed && !words->quiet)
        bb_say("a seed can be guessed, and names be tried out with it: give --key to keep names "
               "secret");
}

static int anonymize(const Words *words, BbPseudonymOptions *options, char **paths)
{
    g_autoptr(GError) error = NULL;
    g_auto(Job) job = {0};
    char *key = NULL;
    if (!make_key(words, &key, &options->key_size, &error)) {
        g_free(key);
        bb_say_error("%s", error->message);
        return BB_EXIT_FAILED;
    }
    options->key = key;
    bb_traces_init(&job.traces, words->skip_bad_lines);
    bb_traces_write_to(&job.traces, words->out);
    job.pseudonyms = bb_pseudonyms_new(options, job.traces.names);
    bb_pseudonym_key_free(key, options->key_size);
    job.traces.note = job.note = bb_pseudonyms_note(options);
    if (!rename_trace(&job, paths, words, &error)) {
        bb_say_error("%s", error->message);
        return BB_EXIT_FAILED;
    }
    say_rest(&job, words);
    return job.traces.failed ? BB_EXIT_FAILED : BB_EXIT_DONE;
}

static int run_anonymize(int argc, char **argv)
{
    g_auto(Words) words = {0};
    const GOptionEntry entries[] = {
        {"write", 'w', 0, G_OPTION_ARG_FILENAME, &words.out,
         "Write the trace here, as .bbt (default: as text on standard output)", "FILE"},
        {"key", 'k', 0, G_OPTION_ARG_FILENAME, &words.key, BB_KEY_ABOUT, "FILE"},
        {"seed", 's', 0, G_OPTION_ARG_STRING, &words.seed,
         "Pseudonyms depend on this number, which anybody can try", "N"},
        {"labels", 0, 0, G_OPTION_ARG_STRING, &words.labels,
         "Labels of operations stay, get pseudonyms or are left out (default: hash)",
         "keep|hash|off"},
        {"keep-ports", 0, 0, G_OPTION_ARG_NONE, &words.keep_ports, BB_KEEP_PORTS_ABOUT, NULL},
        {"keep-prefixes", 0, 0, G_OPTION_ARG_NONE, &words.keep_prefixes, BB_KEEP_PREFIXES_ABOUT,
         NULL},
        {"map", 'm', 0, G_OPTION_ARG_FILENAME, &words.map,
         "Write here which node and operation became which, as CSV", "FILE"},
        {"shift", 0, 0, G_OPTION_ARG_STRING, &words.shift,
         "Add this to all times, as -36h (default: 0)", "TIME"},
        {"skip-bad-lines", 0, 0, G_OPTION_ARG_NONE, &words.skip_bad_lines,
         "Count malformed lines of a text trace instead of stopping at them", NULL},
        {"quiet", 'q', 0, G_OPTION_ARG_NONE, &words.quiet, "Only warnings and errors", NULL},
        {NULL, 0, 0, 0, NULL, NULL, NULL},
    };
    int status = BB_EXIT_DONE;
    BbPseudonymOptions options = {0};
    if (!bb_options_parse(PROGRAM, "TRACE",
                          "Replaces the names of nodes, operations, ids and connections, so that a "
                          "trace can be given away.",
                          NULL, entries, &argc, &argv, &status))
        return status;
    status = check_words(&words, argv + 1, &options);
    return status >= 0 ? status : anonymize(&words, &options, argv + 1);
}

const BbCommand bb_command_anonymize = {
    .name = "anonymize",
    .arguments = "TRACE",
    .summary = "a trace -> the same under other names",
    .run = run_anonymize,
};
