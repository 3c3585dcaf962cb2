// SPDX-License-Identifier: Apache-2.0
// In: argv, signals, things to say. Out: parsed options, lines on stderr.
#include "cli/command.h"

#include "data/caption.h"
#include "data/delay.h"
#include "data/output.h"
#include "data/quantity.h"
#include "data/stamp.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define LONG_LAYOUT 3.0        // seconds that are warned of
#define DURATION_MAX "277777h" // BB_DELAY_MAX_NS, some 31 years

bool bb_hold_standard_files(void)
{
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        if (fcntl(fd, F_GETFD) < 0 &&
            open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY) != fd)
            return false;
    return true;
}

void bb_fail_at_limits(void)
{
    (void)signal(SIGXFSZ, SIG_IGN);
}

// The option that got an empty name for a file, NULL where none did.
static const char *find_nameless(const GOptionEntry *entry)
{
    for (; entry->long_name; entry++) {
        bool one = entry->arg == G_OPTION_ARG_FILENAME;
        char **names = entry->arg == G_OPTION_ARG_FILENAME_ARRAY ? *(char ***)entry->arg_data
                       : one                                     ? entry->arg_data
                                                                 : NULL;
        for (; names && *names; names = one ? NULL : names + 1)
            if (**names == '\0')
                return entry->long_name;
    }
    return NULL;
}

// GLib leaves a `--` in place where a word behind it begins with a dash.
static void take_separator(int *argc, char **argv)
{
    int at = 1;
    while (at < *argc && strcmp(argv[at], "--") != 0)
        at++;
    if (at >= *argc)
        return;
    --*argc;
    memmove(argv + at, argv + at + 1, (gsize)(*argc - at) * sizeof *argv);
    argv[*argc] = NULL;
}

static bool takes_value(const GOptionEntry *entry)
{
    return entry->arg != G_OPTION_ARG_NONE && !(entry->flags & G_OPTION_FLAG_NO_ARG);
}

static const GOptionEntry *find_long(const GOptionEntry *entry, const char *name)
{
    while (entry->long_name && strcmp(entry->long_name, name) != 0)
        entry++;
    return entry->long_name ? entry : NULL;
}

// The first letter of "-qn" whose option takes a value, with that option; else NULL.
static const char *find_letter(const GOptionEntry *entries, const char *word,
                               const GOptionEntry **found)
{
    for (const char *letter = word + 1; *letter; letter++) {
        const GOptionEntry *entry = entries;
        while (entry->long_name && entry->short_name != *letter)
            entry++;
        *found = entry;
        if (!entry->long_name || takes_value(entry))
            return entry->long_name ? letter : NULL;
    }
    return NULL;
}

// Whether the word is an option whose value is the next word. "-n1", of which GLib knows nothing,
// becomes "--top=1", kept in made; "-n=1" stays an error, as it may be meant for "--top=1".
static bool expects_value(const GOptionEntry *entries, char **word, GPtrArray *made)
{
    const GOptionEntry *entry = NULL;
    if (g_str_has_prefix(*word, "--")) {
        entry = find_long(entries, *word + 2);
        return entry && takes_value(entry);
    }
    const char *letter = **word == '-' ? find_letter(entries, *word, &entry) : NULL;
    if (letter == *word + 1 && letter[1] && letter[1] != '=') {
        g_ptr_array_add(made, g_strdup_printf("--%s=%s", entry->long_name, letter + 1));
        *word = made->pdata[made->len - 1];
        return false;
    }
    return letter && !letter[1];
}

static void spell_out_values(const GOptionEntry *entries, int argc, char **argv, GPtrArray *made)
{
    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++)
        i += expects_value(entries, &argv[i], made);
}

bool bb_options_parse(const char *program, const char *arguments, const char *summary,
                      const char *description, const GOptionEntry *entries, int *argc, char ***argv,
                      int *status)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(GOptionContext) context = g_option_context_new(arguments);
    g_option_context_add_main_entries(context, entries, NULL);
    g_option_context_set_summary(context, summary);
    g_option_context_set_description(context, description);
    g_option_context_set_help_enabled(context, FALSE);
    for (int i = 1; i < *argc && strcmp((*argv)[i], "--") != 0; i++) {
        if (strcmp((*argv)[i], "--help") != 0 && strcmp((*argv)[i], "-h") != 0)
            continue;
        g_set_prgname(program);
        g_autofree char *help = g_option_context_get_help(context, TRUE, NULL);
        fputs(help, stdout);
        *status = bb_end_stdout(BB_EXIT_DONE);
        return false;
    }
    g_autoptr(GPtrArray) made = g_ptr_array_new_with_free_func(g_free); // until they are parsed
    spell_out_values(entries, *argc, *argv, made);
    if (!g_option_context_parse(context, argc, argv, &error)) {
        *status = bb_say_usage(program, "%s", error->message);
        return false;
    }
    take_separator(argc, *argv);
    const char *nameless = find_nameless(entries);
    if (nameless)
        *status = bb_say_usage(program, "--%s takes the name of a file, not ''", nameless);
    return !nameless;
}

// Words for a terminal: names of files may hold whatever moves its cursor or colours it.
static char *words_of(const char *format, va_list args)
{
    g_autofree char *text = g_strdup_vprintf(format, args);
    GString *words = g_string_new(NULL);
    bb_caption_append(words, text, "");
    return g_string_free(words, FALSE);
}

static void say(const char *prefix, const char *format, va_list args)
{
    g_autofree char *text = words_of(format, args);
    fprintf(stderr, "%s: %s%s\n", program_invocation_short_name, prefix, text);
}

void bb_say_error(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    say("error: ", format, args);
    va_end(args);
}

static const char *subject = ""; // of what is said, with ": "

void bb_say_of(const char *what)
{
    subject = what ? what : "";
}

void bb_say(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    say(subject, format, args);
    va_end(args);
}

int bb_say_usage(const char *program, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    g_autofree char *text = words_of(format, args);
    va_end(args);
    fprintf(stderr, "%s: %s\nTry '%s --help'.\n", program, text, program);
    return BB_EXIT_USAGE;
}

int bb_say_one_trace(const char *program, bool none)
{
    return bb_say_usage(program, "%s",
                        none ? "which trace?"
                             : "one trace at a time: bbtrace merge makes one of several");
}

static bool is_one(const struct stat *x, const struct stat *y)
{
    return x->st_dev == y->st_dev && x->st_ino == y->st_ino;
}

// Of two that are not there yet: whether they will have one name in one folder.
static bool is_same_place(const char *a, const char *b)
{
    g_autofree char *folder = g_path_get_dirname(a), *other = g_path_get_dirname(b);
    g_autofree char *name = g_path_get_basename(a), *name_of_other = g_path_get_basename(b);
    struct stat x, y;
    return strcmp(name, name_of_other) == 0 && stat(folder, &x) == 0 && stat(other, &y) == 0 &&
           is_one(&x, &y);
}

bool bb_is_stdout(const char *path)
{
    return !path || strcmp(path, "-") == 0;
}

bool bb_is_same_file(const char *a, const char *b)
{
    struct stat x, y;
    if (strcmp(a, "-") == 0 || strcmp(b, "-") == 0 || stat(a, &x) != 0 || stat(b, &y) != 0)
        return false;
    return S_ISREG(x.st_mode) && is_one(&x, &y);
}

bool bb_is_same_output(const char *a, const char *b)
{
    struct stat x;
    if (strcmp(a, "/dev/null") == 0)
        return false; // takes all there is
    if (strcmp(a, b) == 0 || bb_is_same_file(a, b))
        return true;
    return strcmp(a, "-") != 0 && strcmp(b, "-") != 0 && stat(a, &x) != 0 && stat(b, &x) != 0 &&
           is_same_place(a, b);
}

int bb_check_paths(const char *program, const char *noun, char **paths)
{
    guint input = 0;
    if (!*paths)
        return bb_say_usage(program, "which %s?", noun);
    for (; *paths; paths++)
        input += strcmp(*paths, "-") == 0;
    return input > 1 ? bb_say_usage(program, "standard input (-) can be read once only") : -1;
}

int bb_end_stdout(int status)
{
    if (fflush(stdout) == 0 && !ferror(stdout))
        return status;
    int reason = errno;
    bb_say_error("standard output: cannot write: %s: %s, or write to another place",
                 g_strerror(reason), bb_output_remedy(reason));
    return BB_EXIT_FAILED;
}

void bb_say_trace_damage(const BbTraceReader *reader)
{
    guint64 bad = bb_trace_reader_bad_lines(reader);
    if (bb_trace_reader_damage(reader))
        bb_say("warning: %s", bb_trace_reader_damage(reader));
    if (bad)
        bb_say("warning: %" G_GUINT64_FORMAT " malformed line%s skipped", bad,
               bad == 1 ? " was" : "s were");
}

bool bb_parse_size(const char *text, guint64 *size)
{
    static const char units[] = "KMG";
    char *end = NULL;
    if (!g_ascii_isdigit(text[0]))
        return false;
    guint64 value = g_ascii_strtoull(text, &end, 10);
    const char *unit = *end ? strchr(units, g_ascii_toupper(*end)) : NULL;
    guint shift = unit ? 10 * (guint)(unit - units + 1) : 0;
    if ((*end && (!unit || end[1])) || value > (guint64)G_MAXINT64 >> shift)
        return false;
    *size = value << shift;
    return true;
}

bool bb_parse_top(const char *text, guint *top)
{
    char *end = NULL;
    if (strcmp(text, "all") == 0) {
        *top = 0;
        return true;
    }
    guint64 value = g_ascii_isdigit(text[0]) ? g_ascii_strtoull(text, &end, 10) : 0;
    if (!value || *end)
        return false;
    *top = (guint)MIN(value, G_MAXUINT - 1); // there are never so many
    return true;
}

// In nanoseconds; negative where text is no duration.
static double read_duration(const char *text)
{
    static const struct {
        const char *unit;
        double ns;
    } units[] = {{"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}, {"min", 60e9}, {"h", 3600e9}};
    char *end = NULL;
    double value = g_ascii_strtod(text, &end);
    if (end == text || !isfinite(value) || value < 0)
        return -1;
    for (gsize i = 0; i < G_N_ELEMENTS(units); i++)
        if (strcmp(end, units[i].unit) == 0)
            return value * units[i].ns;
    return strcmp(text, "0") == 0 ? 0 : -1;
}

bool bb_parse_duration(const char *text, gint64 *ns)
{
    double value = read_duration(text);
    if (value < 0 || value > (double)BB_DELAY_MAX_NS)
        return false;
    *ns = llround(value);
    return true;
}

const char *bb_duration_excess(const char *text)
{
    text += *text == '-' || *text == '+';
    return read_duration(text) > (double)BB_DELAY_MAX_NS ? ": at most " DURATION_MAX : "";
}

bool bb_parse_time(const char *text, gint64 *time_ns)
{
    return !bb_stamp_parse(text, BB_STAMP_ANY, time_ns);
}

bool bb_say_early(const char *option, const char *text, gint64 first_ns)
{
    gint64 time_ns, least_ns = 365 * 86400 * (gint64)1000000000;
    if (!text || first_ns == BB_TIME_NONE || bb_stamp_parse(text, BB_STAMP_S, &time_ns) ||
        time_ns >= first_ns || first_ns - time_ns < least_ns)
        return false;
    g_autoptr(GString) first = g_string_new(NULL);
    bb_quantity_append_time(first, first_ns);
    bb_say("warning: %s %s is that many seconds after 1970, long before the trace begins (%s): a "
           "date has days and months, as 2026-11-20",
           option, text, first->str);
    return true;
}

// The only variable of the process, but for the seed of tables (data/keys.c): a signal handler can
// reach nothing else.
static volatile sig_atomic_t stop;

static void on_signal(int number)
{
    stop = 1;
}

void bb_stop_install(void)
{
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = (int)SA_RESETHAND};
    struct sigaction hangup = {0};
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    // Ignored it stays, as nohup(1) has it. The kernel and a shell may both send one.
    if (sigaction(SIGHUP, NULL, &hangup) == 0 && hangup.sa_handler != SIG_IGN) {
        action.sa_flags = 0;
        sigaction(SIGHUP, &action, NULL);
    }
}

bool bb_stop_requested(void)
{
    return stop;
}

static void pass_over(int number)
{
}

void bb_stop_leave_to_writer(void)
{
    struct sigaction action = {.sa_handler = pass_over, .sa_flags = (int)SA_RESETHAND | SA_RESTART};
    struct sigaction before = {0};
    struct stat about;
    if (fstat(STDIN_FILENO, &about) == 0 && S_ISFIFO(about.st_mode) &&
        sigaction(SIGINT, NULL, &before) == 0 && before.sa_handler == SIG_DFL)
        sigaction(SIGINT, &action, NULL);
}

bool bb_stop_check(GError **error)
{
    if (stop)
        g_set_error(error, G_FILE_ERROR, G_FILE_ERROR_INTR,
                    "stopped by a signal: the output is not complete; run it again");
    return !stop;
}

// But for the wish for a snapshot, of the same kind.
static volatile sig_atomic_t snap;

static void on_snap(int number)
{
    snap = 1;
}

void bb_snap_install(void)
{
    struct sigaction action = {.sa_handler = on_snap, .sa_flags = SA_RESTART};
    sigaction(SIGUSR2, &action, NULL);
}

bool bb_snap_requested(void)
{
    bool asked = snap;
    if (asked)
        snap = 0;
    return asked;
}

static volatile sig_atomic_t wanted;

static void on_report(int number)
{
    wanted = 1;
}

void bb_report_install(void)
{
    struct sigaction action = {.sa_handler = on_report, .sa_flags = SA_RESTART};
    sigaction(SIGUSR1, &action, NULL);
}

bool bb_report_requested(void)
{
    bool asked = wanted;
    if (asked)
        wanted = 0;
    return asked;
}

bool bb_can_redraw(void)
{
    const char *terminal = g_getenv("TERM");
    return terminal && *terminal && strcmp(terminal, "dumb") != 0 && isatty(STDERR_FILENO);
}

BbProgress bb_progress_start(bool quiet)
{
    return (BbProgress){.on = !quiet && bb_can_redraw()};
}

bool bb_progress_due(BbProgress *progress)
{
    return progress->on && g_get_monotonic_time() >= progress->next_us;
}

void bb_progress_show(BbProgress *progress, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    g_autofree char *text = words_of(format, args);
    va_end(args);
    fprintf(stderr, "\r\033[K%s", text);
    fflush(stderr);
    progress->drawn = true;
    progress->next_us = g_get_monotonic_time() + G_USEC_PER_SEC / 5;
}

void bb_progress_end(BbProgress *progress)
{
    if (progress->drawn)
        fputs("\r\033[K", stderr);
    progress->drawn = false;
}

// Nothing can be shown of how far Graphviz is.
void bb_say_layout(guint nodes, double seconds, gpointer progress)
{
    g_autofree char *count = bb_number(nodes);
    if (seconds >= LONG_LAYOUT)
        bb_say("warning: Graphviz takes some %.0f %s to lay out a picture of %s nodes, in which "
               "little can be read: show fewer patterns (--top), or have bbpaths write them to a "
               ".dot, .txt or .json",
               seconds < 100 ? seconds : seconds / 60, seconds < 100 ? "s" : "min", count);
    if (bb_progress_due(progress))
        bb_progress_show(progress, "laying out %s nodes", count);
}

char *bb_number(guint64 value)
{
    GString *out = g_string_new(NULL);
    bb_quantity_append_count(out, value);
    return g_string_free(out, FALSE);
}

char *bb_counted(guint64 count, const char *noun)
{
    GString *out = g_string_new(NULL);
    bb_quantity_append_counted(out, count, noun);
    return g_string_free(out, FALSE);
}
