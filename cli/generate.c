// SPDX-License-Identifier: Apache-2.0
// bbtrace generate. In: a scenario. Out: a trace of it, with ground truth.
#include "cli/command.h"

#include "data/scenario.h"

#include <stdio.h>
#include <string.h>

#define SUFFIX ".scn"
#define UNSAID G_MININT64 // of --messages: as the scenario says

typedef struct Generate {
    char *out, *duration, *connections;
    char **settings;
    gint64 seed, messages;
    BbPoolsUse use; // that connections names
    gboolean list, without_ids, without_truth, quiet;
} Generate;

static void generate_clear(Generate *generate)
{
    g_free(generate->out);
    g_free(generate->duration);
    g_free(generate->connections);
    g_strfreev(generate->settings);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Generate, generate_clear)

// ---- shipped scenarios --------------------------------------------------------------------------

// Beside the program where it is installed; else of the source that it was built from.
static char *shipped_folder(void)
{
    g_autofree char *program = g_file_read_link("/proc/self/exe", NULL);
    g_autofree char *bin = program ? g_path_get_dirname(program) : NULL;
    g_autofree char *beside =
        bin ? g_build_filename(bin, "..", "share", "bbtrace", "scenarios", NULL) : NULL;
    const char *const folders[] = {beside, BB_SCENARIOS_SOURCE, BB_SCENARIOS_INSTALLED};
    for (gsize i = 0; i < G_N_ELEMENTS(folders); i++)
        if (folders[i] && g_file_test(folders[i], G_FILE_TEST_IS_DIR))
            return g_strdup(folders[i]);
    return g_strdup(BB_SCENARIOS_INSTALLED);
}

static int by_name(gconstpointer a, gconstpointer b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static GPtrArray *shipped_names(const char *folder)
{
    GPtrArray *names = g_ptr_array_new_with_free_func(g_free);
    g_autoptr(GDir) dir = g_dir_open(folder, 0, NULL);
    for (const char *name = NULL; dir && (name = g_dir_read_name(dir));)
        if (g_str_has_suffix(name, SUFFIX))
            g_ptr_array_add(names, g_strndup(name, strlen(name) - strlen(SUFFIX)));
    g_ptr_array_sort(names, by_name);
    return names;
}

static char *shipped_path(const char *folder, const char *name)
{
    g_autofree char *file = g_strconcat(name, SUFFIX, NULL);
    return g_build_filename(folder, file, NULL);
}

static int list_shipped(void)
{
    g_autofree char *folder = shipped_folder();
    g_autoptr(GPtrArray) names = shipped_names(folder);
    for (guint i = 0; i < names->len; i++) {
        const char *name = g_ptr_array_index(names, i);
        g_autofree char *path = shipped_path(folder, name), *text = NULL;
        if (!g_file_get_contents(path, &text, NULL, NULL))
            continue;
        g_autofree char *title = bb_scenario_title(text);
        printf("%-22s  %s\n", name, title);
    }
    if (names->len > 0)
        return bb_end_stdout(BB_EXIT_DONE);
    bb_say_error("%s: no scenarios there: install bbtrace whole, or name a file", folder);
    return BB_EXIT_FAILED;
}

// A file, or the name of one that is shipped: no file of that name must be there.
static char *find_scenario(const char *scenario)
{
    if (strcmp(scenario, "-") == 0 || strchr(scenario, '/') || g_str_has_suffix(scenario, SUFFIX) ||
        g_file_test(scenario, G_FILE_TEST_IS_REGULAR))
        return g_strdup(scenario);
    g_autofree char *folder = shipped_folder();
    g_autofree char *path = shipped_path(folder, scenario);
    if (g_file_test(path, G_FILE_TEST_IS_REGULAR))
        return g_steal_pointer(&path);
    bb_say_error("%s: neither a file nor a scenario that is shipped: `bbtrace generate --list` "
                 "names those",
                 scenario);
    return NULL;
}

// ---- the trace ----------------------------------------------------------------------------------

typedef struct Output {
    BbTraceWriter *writer;
    BbProgress progress;
    guint64 messages;
    gint64 first_ns, last_ns;
} Output;

static bool write_message(const BbMessage *message, gpointer user, GError **error)
{
    Output *output = user;
    if (output->messages++ == 0)
        output->first_ns = message->time_ns;
    output->last_ns = message->time_ns;
    if (output->messages % 65536 == 0 && bb_progress_due(&output->progress)) {
        g_autofree char *number = bb_number(output->messages);
        bb_progress_show(&output->progress, "%s messages", number);
    }
    return bb_stop_check(error) && bb_trace_writer_push(output->writer, message, error);
}

static void say_summary(const Output *output)
{
    g_autofree char *number = bb_counted(output->messages, "message");
    bb_say("%s in %.3f s", number, (double)(output->last_ns - output->first_ns) / 1e9);
}

static bool write_trace(const BbScenario *scenario, const BbScenarioOptions *options,
                        BbNames *names, const Generate *generate, GError **error)
{
    const char *path = generate->out ? generate->out : "-";
    g_autoptr(BbTraceWriter) writer =
        bb_trace_writer_open(path, generate->out ? BB_TRACE_BBT : BB_TRACE_TEXT, names, error);
    if (!writer)
        return false;
    bb_stop_install();
    Output output = {.writer = writer, .progress = bb_progress_start(generate->quiet)};
    bool good = bb_scenario_run(scenario, options, write_message, &output, error);
    bb_progress_end(&output.progress);
    if (!good || !bb_trace_writer_finish(writer, NULL, error))
        return false;
    if (!generate->quiet)
        say_summary(&output);
    return true;
}

static int run_scenario(const Generate *generate, BbScenarioOptions *options, const char *path)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(BbNames) names = bb_names_new();
    g_autoptr(BbScenario) scenario =
        bb_scenario_read(path, (const char *const *)generate->settings, names, &error);
    if (!scenario && g_error_matches(error, BB_SCENARIO_ERROR, BB_SCENARIO_ERROR_SETTING))
        return bb_say_usage("bbtrace generate", "%s", error->message);
    g_autoptr(BbPools) pools = bb_pools_new(generate->use, names);
    options->pools = pools;
    if (scenario && write_trace(scenario, options, names, generate, &error))
        return BB_EXIT_DONE;
    bb_say_error("%s", error->message);
    return BB_EXIT_FAILED;
}

// ---- options ------------------------------------------------------------------------------------

static bool parse_use(const char *text, BbPoolsUse *use)
{
    static const char *const names[] = {
        [BB_POOLS_NONE] = "none",
        [BB_POOLS_SHARED] = "pool",
        [BB_POOLS_HELD] = "held",
        [BB_POOLS_THREADS] = "threads",
    };
    for (guint i = 0; i < G_N_ELEMENTS(names); i++) {
        *use = i;
        if (strcmp(text, names[i]) == 0)
            return true;
    }
    return false;
}

static int check_options(Generate *generate, BbScenarioOptions *options)
{
    *options = (BbScenarioOptions){
        .seed = (guint64)generate->seed,
        .duration_ns = BB_TIME_NONE,
        .messages = generate->messages == UNSAID ? 0 : (guint64)generate->messages,
        .without_ids = generate->without_ids,
        .without_truth = generate->without_truth,
    };
    if (generate->seed < 0)
        return bb_say_usage("bbtrace generate", "--seed takes a number that is not negative");
    if (generate->messages != UNSAID && generate->messages < 1)
        return bb_say_usage("bbtrace generate", "--messages takes a number above 0");
    if (generate->duration && (!bb_scenario_parse_time(generate->duration, &options->duration_ns) ||
                               options->duration_ns <= 0))
        return bb_say_usage("bbtrace generate",
                            "--duration takes a time above 0, such as 500s or 2h, not "
                            "'%s'%s",
                            generate->duration, bb_duration_excess(generate->duration));
    if (generate->connections && !parse_use(generate->connections, &generate->use))
        return bb_say_usage("bbtrace generate",
                            "--connections takes none, pool, held or threads, not '%s'",
                            generate->connections);
    return -1;
}

static int run_generate(int argc, char **argv)
{
    g_auto(Generate) generate = {.seed = 1, .messages = UNSAID};
    const GOptionEntry entries[] = {
        {"write", 'w', 0, G_OPTION_ARG_FILENAME, &generate.out,
         "Write the trace here, as .bbt (default: as text on standard output)", "FILE"},
        {"set", 'D', 0, G_OPTION_ARG_STRING_ARRAY, &generate.settings,
         "Give $NAME of the scenario this value; may be given again", "NAME=VALUE"},
        {"seed", 's', 0, G_OPTION_ARG_INT64, &generate.seed,
         "Seed of the random numbers (default: 1)", "N"},
        {"duration", 'G', 0, G_OPTION_ARG_STRING, &generate.duration,
         "Begin nothing after this time, as 500s (default: as the scenario says)", "TIME"},
        {"messages", 'c', 0, G_OPTION_ARG_INT64, &generate.messages,
         "Begin nothing after so many messages (default: as the scenario says)", "N"},
        {"connections", 0, 0, G_OPTION_ARG_STRING, &generate.connections,
         "Give calls connections: none (default), pool, held or threads", "HOW"},
        {"no-ids", 0, 0, G_OPTION_ARG_NONE, &generate.without_ids, "Leave the ids of calls out",
         NULL},
        {"no-truth", 0, 0, G_OPTION_ARG_NONE, &generate.without_truth,
         "Leave path= and parent= out", NULL},
        {"list", 'l', 0, G_OPTION_ARG_NONE, &generate.list, "Print the scenarios that are shipped",
         NULL},
        {"quiet", 'q', 0, G_OPTION_ARG_NONE, &generate.quiet, "No progress and no summary", NULL},
        {NULL, 0, 0, 0, NULL, NULL, NULL},
    };
    int status = BB_EXIT_DONE;
    BbScenarioOptions options;
    if (!bb_options_parse("bbtrace generate", "SCENARIO",
                          "Makes a trace with ground truth. SCENARIO is a file, - for standard "
                          "input, or the name of\none that is shipped.",
                          "bbtrace-scenario(5) tells how scenarios are written.", entries, &argc,
                          &argv, &status))
        return status;
    if (generate.list && argc > 1)
        return bb_say_usage("bbtrace generate", "--list takes no scenario, such as '%s'", argv[1]);
    if (generate.list)
        return list_shipped();
    status = check_options(&generate, &options);
    if (status >= 0)
        return status;
    if (argc != 2)
        return bb_say_usage("bbtrace generate", argc < 2 ? "which scenario?" : "one scenario only");
    if (generate.out && bb_is_same_file(argv[1], generate.out))
        return bb_say_usage("bbtrace generate", "-w would overwrite %s: give another file",
                            argv[1]);
    g_autofree char *path = find_scenario(argv[1]);
    return path ? run_scenario(&generate, &options, path) : BB_EXIT_FAILED;
}

const BbCommand bb_command_generate = {
    .name = "generate",
    .arguments = "SCENARIO",
    .summary = "a scenario -> a trace with ground truth",
    .run = run_generate,
};
