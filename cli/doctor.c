// SPDX-License-Identifier: Apache-2.0
// bbtrace doctor. In: frames of an interface or of files. Out: whether the mirror is good.
#include "cli/command.h"

#include "capture/sources/source.h"
#include "cli/confine.h"
#include "cli/doctor_report.h"

#include <string.h>

#define SECONDS_LIVE 10
#define SECONDS_MAX 1000000000 // of -G: 30 years
#define SECONDS_NONE G_MININT64

static const char summary[] =
    "Looks at the packets of an interface (-i) or of capture files (-r) and tells whether the "
    "mirror that\n"
    "they come from is good: half a mirror, frames seen twice, losses before us and here, cut "
    "frames,\n"
    "merged segments, damage, clocks, VLANs; each with its figure, what it means for a trace, and "
    "the\n"
    "remedy. FILTER is a pcap-filter(7) expression. Nothing is ever sent.";

typedef struct Options {
    char **files, **interfaces;
    char *filter;
    gint64 seconds; // 0: no limit; SECONDS_NONE: nobody said so
    gboolean json, strict, quiet;
} Options;

static void options_clear(Options *o)
{
    g_strfreev(o->files);
    g_strfreev(o->interfaces);
    g_free(o->filter);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Options, options_clear)

// Returns an exit status, or -1 to go on.
static int check_options(Options *o, int argc, char **argv)
{
    const char *program = "bbtrace doctor";
    for (int i = 1; i < argc; i++)
        if (strchr(argv[i], '.') && g_file_test(argv[i], G_FILE_TEST_IS_REGULAR))
            return bb_say_usage(program, "'%s' is a file, no filter: give -r before each file",
                                argv[i]);
    if (!o->files == !o->interfaces)
        return bb_say_usage(program,
                            "give an interface (-i) or capture files (-r): one of the two");
    if (o->seconds == SECONDS_NONE)
        o->seconds = o->interfaces ? SECONDS_LIVE : 0;
    if (o->seconds < 0 || o->seconds > SECONDS_MAX)
        return bb_say_usage(program, "-G takes a number of seconds from 0 (no limit) to %d",
                            SECONDS_MAX);
    o->filter = argc > 1 ? g_strjoinv(" ", argv + 1) : NULL;
    return -1;
}

static int parse_options(Options *o, int argc, char **argv)
{
    const GOptionEntry entries[] = {
        {"read", 'r', 0, G_OPTION_ARG_FILENAME_ARRAY, &o->files,
         "Read this capture file; may be given again", "FILE"},
        {"interface", 'i', 0, G_OPTION_ARG_STRING_ARRAY, &o->interfaces,
         "Watch this interface; may be given again: both legs of a tap", "IF"},
        {"seconds", 'G', 0, G_OPTION_ARG_INT64, &o->seconds,
         "Look at so many seconds of traffic (live default: 10; files: all; 0: no limit)", "N"},
        {"json", 0, 0, G_OPTION_ARG_NONE, &o->json, "One JSON object in place of text", NULL},
        {"strict", 0, 0, G_OPTION_ARG_NONE, &o->strict, "Status 1 where the mirror is not healthy",
         NULL},
        {"quiet", 'q', 0, G_OPTION_ARG_NONE, &o->quiet, "No progress and no warnings", NULL},
        {NULL, 0, 0, 0, NULL, NULL, NULL},
    };
    int status = BB_EXIT_DONE;
    if (!bb_options_parse("bbtrace doctor", "[FILTER]", summary, NULL, entries, &argc, &argv,
                          &status))
        return status;
    return check_options(o, argc, argv);
}

// ---- looking ------------------------------------------------------------------------------------

typedef struct Visit {
    const Options *options;
    BbDoctor *doctor;
    BbSource *source;
    BbProgress progress;
    gint64 deadline_us, watched_ns;
    gint64 first_ns, last_ns; // stamps of the first frame and of the latest one
    bool any, failed;
} Visit;

static void visit_clear(Visit *visit)
{
    bb_source_free(visit->source);
    bb_doctor_free(visit->doctor);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Visit, visit_clear)

static BbSource *open_source(const Options *o, BbLoss *loss, GError **error)
{
    BbSourceOptions options = bb_source_options_default();
    options.files = (const char *const *)o->files;
    options.interfaces = (const char *const *)o->interfaces;
    options.filter = o->filter;
    return bb_source_open(&options, loss, error);
}

static void say_warnings(Visit *visit)
{
    for (char *warning = bb_source_take_warning(visit->source); warning;
         warning = bb_source_take_warning(visit->source)) {
        bb_progress_end(&visit->progress);
        if (!visit->options->quiet)
            bb_say("warning: %s", warning);
        g_free(warning);
    }
}

static bool is_over(const Visit *visit)
{
    const Options *o = visit->options;
    if (bb_stop_requested()) {
        bb_source_stop(visit->source); // what waits in files is still given, then the end
        if (o->interfaces)
            return true;
    }
    return o->interfaces && o->seconds && g_get_monotonic_time() >= visit->deadline_us;
}

// Of files: whether a frame of this time is beyond the seconds that were asked for.
static bool is_beyond(const Visit *visit, gint64 time_ns)
{
    const Options *o = visit->options;
    if (o->interfaces || !o->seconds || !visit->any)
        return false;
    gint64 span_ns = MAX(visit->last_ns, time_ns) - visit->first_ns;
    return span_ns / 1000000000 >= o->seconds;
}

static void take_frame(Visit *visit, const BbFrame *frame)
{
    if (!visit->any)
        visit->first_ns = visit->last_ns = frame->time_ns;
    visit->any = true;
    visit->last_ns = MAX(visit->last_ns, frame->time_ns);
    bb_doctor_frame(visit->doctor, frame);
}

static void show_progress(Visit *visit)
{
    if (!bb_progress_due(&visit->progress))
        return;
    g_autofree char *frames = bb_number(bb_doctor_loss(visit->doctor)->count[BB_SEEN_FRAMES]);
    gint64 left_us = visit->deadline_us - g_get_monotonic_time();
    if (visit->options->interfaces && visit->options->seconds)
        bb_progress_show(&visit->progress, "%s  %s frames  %d s to go, Ctrl-C ends",
                         bb_source_name(visit->source), frames,
                         (int)(MAX(left_us, 0) / G_USEC_PER_SEC + 1));
    else
        bb_progress_show(&visit->progress, "%s  %s frames", bb_source_name(visit->source), frames);
}

// For SIGUSR1.
static void say_how_far(Visit *visit)
{
    if (!bb_report_requested())
        return;
    g_autofree char *frames =
        bb_counted(bb_doctor_loss(visit->doctor)->count[BB_SEEN_FRAMES], "frame");
    bb_progress_end(&visit->progress);
    bb_say("%s: %s so far", bb_source_name(visit->source), frames);
}

static void look(Visit *visit)
{
    BbFrame frame;
    for (guint64 turn = 0; !is_over(visit); turn++) {
        g_autoptr(GError) error = NULL;
        BbSourceStatus status = bb_source_next(visit->source, &frame, &error);
        if (status == BB_SOURCE_FRAME) {
            if (is_beyond(visit, frame.time_ns))
                break;
            take_frame(visit, &frame);
        } else if (status == BB_SOURCE_ERROR) {
            bb_progress_end(&visit->progress);
            bb_say_error("%s", error->message);
            visit->failed = true;
        } else if (status == BB_SOURCE_END) {
            break;
        }
        if (status == BB_SOURCE_FRAME && turn % 1024)
            continue;
        show_progress(visit);
        say_how_far(visit);
        say_warnings(visit);
    }
    bb_source_end(visit->source);
    say_warnings(visit);
    bb_progress_end(&visit->progress);
}

// ---- telling ------------------------------------------------------------------------------------

static char *name_input(const Options *o, bool failed)
{
    g_autofree char *names = g_strjoinv(", ", o->interfaces ? o->interfaces : o->files);
    if (!o->interfaces)
        return failed ? g_strdup_printf("what could be read of %s", names)
                      : g_steal_pointer(&names);
    return g_strdup_printf("interface%s %s", o->interfaces[1] ? "s" : "", names);
}

static int report(const Visit *visit, const GArray *findings)
{
    const Options *o = visit->options;
    g_autofree char *input = name_input(o, visit->failed && !o->json);
    if (o->json)
        bb_doctor_print_json(visit->doctor, findings, input);
    else
        bb_doctor_print_text(visit->doctor, findings, input, visit->watched_ns);
    bool refused = o->strict && bb_doctor_verdict(visit->doctor) != BB_VERDICT_HEALTHY;
    return bb_end_stdout(visit->failed || refused ? BB_EXIT_FAILED : BB_EXIT_DONE);
}

#define SILENT_MAX 64 // packet sockets

// Strangers' packets are read without rights (cli/confine.h).
static bool confine(const Options *o, const BbSource *source, GError **error)
{
    int silent[SILENT_MAX];
    g_autoptr(GString) done = g_string_new(NULL);
    const BbConfinement confinement = {
        .user = o->interfaces ? bb_confine_find_user() : NULL,
        .keep_file_rights = !o->interfaces,
        .reads = (const char *const *)o->files,
        .resolves = !o->interfaces && o->filter,
        .silent = silent,
        .n_silent = MIN(bb_source_descriptors(source, silent, SILENT_MAX), SILENT_MAX),
    };
    return bb_confine(&confinement, done, error);
}

static int work(const Options *options)
{
    g_autoptr(GError) error = NULL;
    g_auto(Visit)
        visit = {.options = options, .doctor = bb_doctor_new(options->interfaces != NULL)};
    visit.source = open_source(options, bb_doctor_loss(visit.doctor), &error);
    if (!visit.source) {
        bb_say_error("%s", error->message);
        return g_error_matches(error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE) ? BB_EXIT_USAGE
                                                                                : BB_EXIT_FAILED;
    }
    if (!confine(options, visit.source, &error)) {
        bb_say_error("%s", error->message);
        return BB_EXIT_FAILED;
    }
    bb_stop_install();
    bb_report_install();
    if (options->interfaces && !options->quiet)
        bb_say("listening on %s", bb_source_name(visit.source));
    visit.progress = bb_progress_start(options->quiet);
    visit.deadline_us = g_get_monotonic_time() + options->seconds * G_USEC_PER_SEC;
    gint64 begun_us = g_get_monotonic_time();
    look(&visit);
    if (options->interfaces)
        visit.watched_ns =
            (g_get_monotonic_time() - begun_us) / 1000000 * 1000000000; // whole seconds
    return report(&visit, bb_doctor_finish(visit.doctor));
}

static int run(int argc, char **argv)
{
    g_auto(Options) options = {.seconds = SECONDS_NONE};
    int status = parse_options(&options, argc, argv);
    return status >= 0 ? status : work(&options);
}

const BbCommand bb_command_doctor = {
    .name = "doctor",
    .arguments = "[FILTER]",
    .summary = "is the mirror good? half, doubled, lossy, cut, damaged, its clock",
    .run = run,
};
