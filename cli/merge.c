// SPDX-License-Identifier: Apache-2.0
// bbtrace merge. In: traces of several observers. Out: one trace, and on stderr who saw what.
#include "cli/command.h"

#include "cli/host_names.h"
#include "data/relay.h"
#include "merge/clocks.h"
#include "merge/join.h"
#include "merge/merger.h"
#include "merge/nat.h"
#include "merge/node_rules.h"
#include "merge/overlap.h"

#include <string.h>

#define WINDOW_MAX_NS (G_GINT64_CONSTANT(3600) * 1000000000)
#define PAIRS_SHOWN 20u
#define PAIRS_STORED 64u // as counters in the trace
#define CLOCKS_SHOWN 20u
#define NAMES_SHOWN 5u
#define NATS_SHOWN 5u

typedef enum { CLOCKS_CORRECT, CLOCKS_REPORT, CLOCKS_AS_IS } Clocks;
typedef enum { NAT_HINT, NAT_JOIN, NAT_OFF } Nat;

static const char *const clocks_words[] = {"correct", "report", "as-is", NULL};
static const char *const join_words[] = {
    [BB_JOIN_KEYS] = "keys", [BB_JOIN_ORDER] = "order", [BB_JOIN_NONE] = "none", NULL};

static const char *const nat_words[] = {
    [NAT_HINT] = "hint", [NAT_JOIN] = "join", [NAT_OFF] = "off", NULL};

static const char *const observers_words[] = {"file", "folder", NULL};

typedef struct Options {
    char *out, *clocks_word, *window_word, *join_word, *observers_word, *names_by, *nat_word;
    char **names_files, **alias_files;
    char **paths; // lent
    gboolean skip_bad_lines, quiet;
    Clocks clocks;
    Nat nat;
    bool by_folder, by_service;
    BbJoinOptions join;
} Options;

static void options_clear(Options *o)
{
    g_free(o->out);
    g_free(o->clocks_word);
    g_free(o->window_word);
    g_free(o->join_word);
    g_free(o->observers_word);
    g_free(o->names_by);
    g_free(o->nat_word);
    g_strfreev(o->names_files);
    g_strfreev(o->alias_files);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Options, options_clear)

// ---- options ------------------------------------------------------------------------------------

// The place of text in words; NULL is the first. -1 if it is not there.
static int find_word(const char *const *words, const char *text)
{
    if (!text)
        return 0;
    for (int i = 0; words[i]; i++)
        if (strcmp(words[i], text) == 0)
            return i;
    return -1;
}

static const char *endangered(char **paths, const char *out)
{
    for (; paths && *paths; paths++)
        if (bb_is_same_file(*paths, out))
            return *paths;
    return NULL;
}

// Returns an exit status, or -1 to go on.
static int check_files(const Options *o)
{
    const char *program = "bbtrace merge", *lost = NULL;
    guint standard = 0;
    if (!o->out)
        return bb_say_usage(program, "where to? Give -w FILE");
    if (!*o->paths)
        return bb_say_usage(program, "which traces?");
    for (char **path = o->paths; *path; path++)
        standard += strcmp(*path, "-") == 0;
    if (standard > 1)
        return bb_say_usage(program, "standard input (-) can be read only once");
    if (standard && o->clocks != CLOCKS_AS_IS)
        return bb_say_usage(program, "clocks are estimated in a reading of their own, and standard "
                                     "input (-) can be read only once: give --clocks=as-is, or a "
                                     "file");
    if (!(lost = endangered(o->paths, o->out)) && !(lost = endangered(o->names_files, o->out)))
        lost = endangered(o->alias_files, o->out);
    if (standard && o->nat == NAT_JOIN)
        return bb_say_usage(program, "--nat=join reads the traces twice, and standard input (-) "
                                     "can be read only once: give a file");
    if (lost)
        return bb_say_usage(program, "-w would overwrite %s: give another file", lost);
    return -1;
}

// Words that stand for one of a few. Returns an exit status, or -1 to go on.
static int check_lesser_words(Options *o)
{
    const char *program = "bbtrace merge";
    int observers = find_word(observers_words, o->observers_word);
    int nat = find_word(nat_words, o->nat_word);
    if (observers < 0)
        return bb_say_usage(program, "--observers is file or folder, not '%s'", o->observers_word);
    if (nat < 0)
        return bb_say_usage(program, "--nat is hint, join or off, not '%s'", o->nat_word);
    if (!bb_parse_names_by(o->names_by, &o->by_service))
        return bb_say_usage(program, "--names-by is instance or service, not '%s'", o->names_by);
    o->by_folder = observers == 1;
    o->nat = (Nat)nat;
    return -1;
}

static int check_words(Options *o)
{
    const char *program = "bbtrace merge";
    int clocks = find_word(clocks_words, o->clocks_word), by = find_word(join_words, o->join_word);
    if (clocks < 0)
        return bb_say_usage(program, "--clocks is correct, report or as-is, not '%s'",
                            o->clocks_word);
    if (by < 0)
        return bb_say_usage(program, "--join is keys, order or none, not '%s'", o->join_word);
    int lesser = check_lesser_words(o);
    if (lesser >= 0)
        return lesser;
    o->clocks = (Clocks)clocks;
    o->join = (BbJoinOptions){
        .window_ns = BB_JOIN_WINDOW_NS,
        .held_max = BB_JOIN_HELD,
        .by = (BbJoinBy)by,
        .repair = clocks == CLOCKS_CORRECT,
    };
    if (o->window_word && (!bb_parse_duration(o->window_word, &o->join.window_ns) ||
                           o->join.window_ns < 0 || o->join.window_ns > WINDOW_MAX_NS))
        return bb_say_usage(program, "--window takes a time up to 1h, such as 1s, not '%s'",
                            o->window_word);
    return check_files(o);
}

static int parse_options(Options *o, int argc, char **argv)
{
    const GOptionEntry entries[] = {
        {"write", 'w', 0, G_OPTION_ARG_FILENAME, &o->out, "Write the trace here, as .bbt", "FILE"},
        {"clocks", 0, 0, G_OPTION_ARG_STRING, &o->clocks_word,
         "Correct the observers' clocks to the first file's, or only report how wrong they are, or "
         "take them as they are (default: correct)",
         "correct|report|as-is"},
        {"window", 0, 0, G_OPTION_ARG_STRING, &o->window_word,
         "Sightings further apart are two messages (default: 1s)", "TIME"},
        {"join", 0, 0, G_OPTION_ARG_STRING, &o->join_word,
         "Recognise sightings of one message by keys, by order too, or not at all (default: keys)",
         "keys|order|none"},
        {"observers", 0, 0, G_OPTION_ARG_STRING, &o->observers_word,
         "Where a trace does not name its observer: each file is one, or each folder (default: "
         "file)",
         "file|folder"},
        {"names", 0, 0, G_OPTION_ARG_FILENAME_ARRAY, &o->names_files, BB_NAMES_ABOUT, "FILE"},
        {"names-by", 0, 0, G_OPTION_ARG_STRING, &o->names_by, BB_NAMES_BY_ABOUT,
         "instance|service"},
        {"alias", 0, 0, G_OPTION_ARG_FILENAME_ARRAY, &o->alias_files,
         "Nodes with several names: lines \"new: old 10.0.0.0/8 web-*\"; may be given again",
         "FILE"},
        {"nat", 0, 0, G_OPTION_ARG_STRING, &o->nat_word,
         "Connections whose addresses or ports were translated between two observers: say which, "
         "or make one of both sightings, or do not look (default: hint)",
         "hint|join|off"},
        {"skip-bad-lines", 0, 0, G_OPTION_ARG_NONE, &o->skip_bad_lines,
         "Count malformed lines of a text trace instead of stopping at them", NULL},
        {"quiet", 'q', 0, G_OPTION_ARG_NONE, &o->quiet, "No progress and no summary", NULL},
        {NULL, 0, 0, 0, NULL, NULL, NULL},
    };
    int status = BB_EXIT_DONE;
    if (!bb_options_parse(
            "bbtrace merge", "TRACE...",
            "Makes one trace of several: in order of time, by one clock, and with one "
            "message where\nseveral observers saw the same one.",
            NULL, entries, &argc, &argv, &status))
        return status;
    o->paths = argv + 1;
    return check_words(o);
}

// ---- the work -----------------------------------------------------------------------------------

typedef struct Job {
    const Options *options;
    BbNames *names;
    BbNodes *nodes;     // of --names; NULL without
    BbNodeRules *rules; // of --alias
    GArray *called;     // by name: 1 + the node's name, 0 where it was not asked for yet
    BbMerger *merger;
    BbClocks *clocks; // NULL as they are
    BbNat *nat;       // NULL where not looked for
    BbJoin *join;
    BbTraceWriter *writer;
    BbRelay *incoming, *outgoing; // in their threads work the join, and the writer
    guint64 written;
    BbProgress progress;
} Job;

static void job_clear(Job *job)
{
    bb_relay_free(job->incoming);
    bb_relay_free(job->outgoing);
    bb_trace_writer_free(job->writer);
    bb_join_free(job->join);
    bb_merger_free(job->merger);
    bb_clocks_free(job->clocks);
    bb_nat_free(job->nat);
    g_array_unref(job->called);
    bb_node_rules_free(job->rules);
    bb_nodes_free(job->nodes);
    bb_names_free(job->names);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Job, job_clear)

// The name that --names has for an address, or for one with a port as of a server in a capture with
// --node=endpoint. A name without one stays.
static guint32 find_host(Job *job, guint32 name)
{
    g_autofree char *text = g_strdup(bb_names_text(job->names, name));
    char *bare = NULL, *port = bb_address_split_port(text, &bare);
    guint64 number = 0;
    BbAddress address;
    if (!bb_address_parse(bare, &address))
        return name;
    if (port && !g_ascii_string_to_unsigned(port, 10, 1, G_MAXUINT16, &number, NULL))
        return name;
    return bb_nodes_name(job->nodes, &address, (guint16)number, port != NULL);
}

// Then what --alias makes of it.
static guint32 find_node(Job *job, guint32 name)
{
    if (job->nodes)
        name = find_host(job, name);
    return bb_node_rules_apply(job->rules, name);
}

static guint32 call_node(Job *job, guint32 name)
{
    if (name >= job->called->len)
        g_array_set_size(job->called, name + 1);
    guint32 *called = &g_array_index(job->called, guint32, name);
    if (!*called)
        *called = find_node(job, name) + 1;
    return *called - 1;
}

static void prepare_message(BbMessage *message, guint input, gpointer user)
{
    Job *job = user;
    message->sender = call_node(job, message->sender);
    message->receiver = call_node(job, message->receiver);
    if (job->options->nat == NAT_JOIN)
        (void)bb_nat_apply(job->nat, message); // nothing while they are looked for
}

static void correct_time(const BbClocks *clocks, guint32 observer, gint64 *time_ns)
{
    if (*time_ns != BB_TIME_NONE)
        *time_ns = bb_clocks_correct(clocks, observer, *time_ns);
}

static void prepare_and_correct(BbMessage *message, guint input, gpointer user)
{
    Job *job = user;
    prepare_message(message, input, user);
    correct_time(job->clocks, message->observer, &message->time_ns);
    correct_time(job->clocks, message->observer, &message->recv_ns);
    correct_time(job->clocks, message->observer, &message->end_ns);
}

static bool write_message(const BbMessage *message, gpointer user, GError **error)
{
    return bb_trace_writer_push(user, message, error);
}

static bool pass_on(const BbMessage *message, gpointer user, GError **error)
{
    Job *job = user;
    job->written++;
    return bb_relay_push(job->outgoing, message, error);
}

static bool join_message(const BbMessage *message, gpointer user, GError **error)
{
    Job *job = user;
    return bb_join_push(job->join, message, bb_relay_number(job->incoming), error);
}

static void show_progress(Job *job, const char *what)
{
    if (bb_merger_messages(job->merger) % 4096 || !bb_progress_due(&job->progress))
        return;
    g_autofree char *messages = bb_number(bb_merger_messages(job->merger));
    bb_progress_show(&job->progress, "%s  %u of %u files  %s messages", what,
                     bb_merger_inputs_done(job->merger), bb_merger_inputs(job->merger), messages);
}

static bool goes_on(GError **error)
{
    if (!bb_stop_requested())
        return true;
    g_set_error(error, G_FILE_ERROR, G_FILE_ERROR_INTR,
                "stopped by a signal: the trace is not complete; run it again");
    return false;
}

static bool add_to_clocks(const BbMessage *message, guint input, gpointer user, GError **error)
{
    Job *job = user;
    show_progress(job, "reading clocks");
    bb_clocks_add(job->clocks, message);
    if (job->options->nat == NAT_HINT)
        bb_nat_add(job->nat, message);
    return goes_on(error);
}

static bool add_to_nat(const BbMessage *message, guint input, gpointer user, GError **error)
{
    Job *job = user;
    show_progress(job, "reading connections");
    bb_nat_add(job->nat, message);
    return goes_on(error);
}

static bool take_in(const BbMessage *message, guint input, gpointer user, GError **error)
{
    Job *job = user;
    show_progress(job, "merging");
    if (job->options->nat == NAT_HINT && !job->clocks)
        bb_nat_add(job->nat, message);
    return goes_on(error) && bb_relay_push_with(job->incoming, message, input, error);
}

static bool load_names(Job *job, GError **error)
{
    const Options *o = job->options;
    job->called = g_array_new(FALSE, TRUE, sizeof(guint32));
    job->rules = bb_node_rules_new(job->names);
    if (o->names_files)
        job->nodes = bb_nodes_new(job->names, true);
    if (!bb_load_host_names(job->nodes, o->names_files, o->by_service, o->quiet, error))
        return false;
    for (char **file = o->alias_files; file && *file; file++)
        if (!bb_node_rules_load(job->rules, *file, error))
            return false;
    return true;
}

static bool prepare(Job *job, GError **error)
{
    const Options *o = job->options;
    job->names = bb_names_new();
    if (!load_names(job, error))
        return false;
    BbMergerOptions merger = {
        .skip_bad_lines = o->skip_bad_lines,
        .by_folder = o->by_folder,
        .prepare = prepare_message,
        .user = job,
    };
    job->merger = bb_merger_new(&merger, job->names, (const char *const *)o->paths);
    if (o->nat != NAT_OFF)
        job->nat = bb_nat_new(job->names, BB_NAT_CONNECTIONS);
    job->progress = bb_progress_start(o->quiet);
    return true;
}

// A reading before all others, where translated connections are to be joined: clocks are compared
// by what is one.
static bool read_nat(Job *job, GError **error)
{
    if (job->options->nat != NAT_JOIN)
        return true;
    if (!bb_merger_can_repeat(job->merger)) {
        g_set_error(error, G_FILE_ERROR, G_FILE_ERROR_FAILED,
                    "--nat=join reads the traces twice, and one of them is a pipe that can be read "
                    "only once: give files");
        return false;
    }
    if (!bb_merger_scan(job->merger, add_to_nat, job, error))
        return false;
    bb_nat_solve(job->nat, job->options->join.window_ns);
    return true;
}

// The first reading of clocks.
static bool read_clocks(Job *job, GError **error)
{
    if (job->options->clocks == CLOCKS_AS_IS)
        return true;
    if (!bb_merger_can_repeat(job->merger)) {
        g_set_error(error, G_FILE_ERROR, G_FILE_ERROR_FAILED,
                    "clocks are estimated in a reading of their own, and one of the traces is a "
                    "pipe that can be read only once: give --clocks=as-is, or files");
        return false;
    }
    job->clocks = bb_clocks_new(job->names, BB_SIGHTINGS_MAX);
    if (!bb_merger_scan(job->merger, add_to_clocks, job, error))
        return false;
    bb_clocks_solve(job->clocks);
    if (job->options->clocks == CLOCKS_CORRECT)
        bb_merger_prepare_by(job->merger, prepare_and_correct, job);
    return true;
}

// An observer's name as a part of a counter's.
static void append_observer(GString *text, const char *name)
{
    g_string_append_c(text, '.');
    for (; *name; name++)
        g_string_append_c(text, g_ascii_isalnum(*name) ? g_ascii_tolower(*name) : '_');
}

static void add_pair(const Job *job, const BbOverlapPair *pair, BbCounters *counters)
{
    const struct {
        const char *what;
        guint64 value;
    } rows[] = {
        {".both", pair->both}, {".only_first", pair->only_a}, {".only_second", pair->only_b}};
    g_autoptr(GString) text = g_string_new("merge_pair");
    append_observer(text, bb_names_text(job->names, pair->a));
    append_observer(text, bb_names_text(job->names, pair->b));
    gsize stem = text->len;
    for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
        g_string_truncate(text, stem);
        g_string_append(text, rows[i].what);
        bb_counters_add(counters, text->str, rows[i].value);
    }
}

// Damage and loss of the inputs, and what the merge itself counted.
static BbCounters *all_counters(const Job *job)
{
    BbCounters *counters = bb_counters_new();
    bb_counters_merge(counters, bb_merger_counters(job->merger));
    for (guint i = 0; i < BB_JOIN_COUNTS; i++)
        if (bb_join_count(job->join, i))
            bb_counters_add(counters, bb_join_count_name(i), bb_join_count(job->join, i));
    g_autoptr(GArray) pairs = bb_overlap_pairs(bb_join_overlap(job->join), job->names);
    if (job->nat && bb_nat_joined(job->nat))
        bb_counters_add(counters, BB_NAT_JOINED, bb_nat_joined(job->nat));
    if (job->nat && bb_nat_forgotten(job->nat))
        bb_counters_add(counters, BB_NAT_FORGOTTEN, bb_nat_forgotten(job->nat));
    for (guint i = 0; i < MIN(pairs->len, PAIRS_STORED); i++)
        add_pair(job, &g_array_index(pairs, BbOverlapPair, i), counters);
    return counters;
}

static bool merge(Job *job, GError **error)
{
    const Options *o = job->options;
    job->writer = bb_trace_writer_open(o->out, BB_TRACE_BBT, job->names, error);
    if (!job->writer)
        return false;
    job->outgoing = bb_relay_new(write_message, NULL, job->writer);
    job->join = bb_join_new(&o->join, job->names, pass_on, job);
    job->incoming = bb_relay_new(join_message, NULL, job);
    if (!bb_merger_run(job->merger, take_in, job, error) ||
        !bb_relay_finish(job->incoming, error) || !bb_join_finish(job->join, error) ||
        !bb_relay_finish(job->outgoing, error))
        return false;
    g_autoptr(BbCounters) counters = all_counters(job);
    g_autoptr(BbNetwork) network = bb_network_new();
    bb_merger_tell_network(job->merger, network);
    return bb_trace_writer_network(job->writer, network, error) &&
           bb_trace_writer_finish(job->writer, counters, error);
}

// ---- the report ---------------------------------------------------------------------------------

static void say_counts(const Job *job)
{
    g_autofree char *read = bb_number(bb_merger_messages(job->merger));
    g_autofree char *written = bb_number(job->written);
    bb_say("%s messages of %u traces: %s messages", read, bb_merger_inputs(job->merger), written);
    for (guint i = BB_JOIN_JOINED; i < BB_JOIN_COUNTS; i++) {
        g_autofree char *number = bb_number(bb_join_count(job->join, i));
        if (bb_join_count(job->join, i))
            bb_say("%12s  %s (%s)", number, bb_join_count_meaning(i), bb_join_count_name(i));
    }
}

static void say_clock(const Job *job, const BbClock *clock)
{
    const char *name = bb_names_text(job->names, clock->name);
    const char *via = clock->state == BB_CLOCK_BOUND
                          ? bb_names_text(job->names, bb_clocks_at(job->clocks, clock->via)->name)
                          : "";
    guint steps = clock->map ? bb_clock_map_count(clock->map) - 1 : 0;
    if (clock->state == BB_CLOCK_KNOWN)
        bb_say("clock of %s: %+.6f s, %+.3f ppm, to within %.6f s%s", name,
               (double)clock->offset_ns / 1e9, clock->drift * 1e6, clock->error_ns / 1e9,
               steps ? "; it steps" : "");
    else if (clock->state == BB_CLOCK_BOUND)
        bb_say("warning: the clock of %s cannot be known: all messages seen by it and by %s go one "
               "way, which says only that it is at %s %+.6f s against that one",
               name, via, clock->bound_above ? "most" : "least", (double)clock->bound_ns / 1e9);
    else if (clock->state == BB_CLOCK_UNKNOWN)
        bb_say("warning: the clock of %s cannot be known: it has no messages both ways in "
               "common with others whose clock is known",
               name);
}

// What cannot be known is said in any case.
static void say_clocks(const Job *job)
{
    guint count = job->clocks ? bb_clocks_count(job->clocks) : 0, unknown = 0;
    for (guint i = 0; i < count; i++) {
        const BbClock *clock = bb_clocks_at(job->clocks, i);
        bool known = clock->state == BB_CLOCK_KNOWN || clock->state == BB_CLOCK_REFERENCE;
        unknown += !known;
        if (i < CLOCKS_SHOWN && !(known && job->options->quiet))
            say_clock(job, clock);
    }
    if (count > CLOCKS_SHOWN)
        bb_say("and %u more clocks; %u of all %u cannot be known", count - CLOCKS_SHOWN, unknown,
               count);
}

static void say_pairs(const Job *job)
{
    const BbOverlap *overlap = bb_join_overlap(job->join);
    g_autoptr(GArray) pairs = bb_overlap_pairs(overlap, job->names);
    for (guint i = 0; i < MIN(pairs->len, PAIRS_SHOWN); i++) {
        const BbOverlapPair *pair = &g_array_index(pairs, BbOverlapPair, i);
        const char *a = bb_names_text(job->names, pair->a), *b = bb_names_text(job->names, pair->b);
        g_autofree char *both = bb_number(pair->both), *only_a = bb_number(pair->only_a);
        g_autofree char *only_b = bb_number(pair->only_b);
        bb_say("%s and %s: %s messages seen by both, %.6f to %.6f s apart; where both see, %s only "
               "by %s, %s only by %s",
               a, b, both, (double)pair->least_ns / 1e9, (double)pair->most_ns / 1e9, only_a, a,
               only_b, b);
    }
    if (pairs->len > PAIRS_SHOWN)
        bb_say("and %u more pairs of observers", pairs->len - PAIRS_SHOWN);
    if (bb_overlap_left_out(overlap))
        bb_say("warning: not all edges could be counted by observer, there are more than %u",
               BB_OVERLAP_ROWS);
}

static void say_names(const Job *job)
{
    g_autoptr(GArray) names = bb_join_names(job->join);
    for (guint i = 0; i < MIN(names->len, NAMES_SHOWN); i++) {
        const BbJoinNames *apart = &g_array_index(names, BbJoinNames, i);
        g_autofree char *count = bb_number(apart->count);
        bb_say(
            "hint: '%s' and '%s' seem to be one host (%s messages): --alias can give it one name",
            bb_names_text(job->names, apart->name), bb_names_text(job->names, apart->other), count);
    }
}

static void say_nat_edge(const Job *job, const BbNatEdge *edge)
{
    const BbNames *names = job->names;
    bool join = job->options->nat == NAT_JOIN;
    guint64 apart = edge->apart, one = edge->connections - apart;
    g_autofree char *count = bb_number(edge->connections);
    g_autofree char *stay = bb_number(apart);
    g_autoptr(GString) text = g_string_new(NULL);
    if (one && !join)
        g_string_append(text, "; --nat=join makes one message of both sightings");
    if (apart)
        g_string_append_printf(text, "; one observer saw %s of them on both sides: these stay two",
                               stay);
    bool alone = edge->connections == 1;
    bb_say(
        "%s%s connection%s of '%s' with '%s' (seen by %s) %s the same as of '%s' with '%s' (seen "
        "by %s), by %s sequence numbers (expected by accident: %.0e)%s",
        join ? "" : "hint: ", count, alone ? "" : "s", bb_names_text(names, edge->near[0]),
        bb_names_text(names, edge->near[1]), bb_names_text(names, edge->near_observer),
        alone ? "is" : "are", bb_names_text(names, edge->far[0]),
        bb_names_text(names, edge->far[1]), bb_names_text(names, edge->far_observer),
        alone ? "its" : "their", edge->accidents, text->str);
}

static void say_nat(const Job *job)
{
    if (!job->nat)
        return;
    g_autoptr(GArray) edges = bb_nat_edges(job->nat);
    for (guint i = 0; i < MIN(edges->len, NATS_SHOWN); i++)
        say_nat_edge(job, &g_array_index(edges, BbNatEdge, i));
    if (edges->len > NATS_SHOWN)
        bb_say("and %u more pairs of nodes whose connections are the same as of others",
               edges->len - NATS_SHOWN);
    if (bb_nat_forgotten(job->nat))
        bb_say("warning: there are more than %u connections: translated ones were looked for in a "
               "sample",
               BB_NAT_CONNECTIONS);
}

// Inputs that are damaged or could not be read, said with their names at the end. Returns whether
// all could be read.
static bool say_complaints(const Job *job)
{
    bool whole = true, failed = false;
    const char *complaint = NULL;
    for (guint i = 0; (complaint = bb_merger_complaint(job->merger, i, &failed)); i++) {
        whole &= !failed;
        if (failed)
            bb_say_error("%s", complaint);
        else
            bb_say("warning: %s", complaint);
    }
    return whole;
}

static int work(const Options *options)
{
    g_autoptr(GError) error = NULL;
    g_auto(Job) job = {.options = options};
    bb_stop_install();
    if (!prepare(&job, &error) || !read_nat(&job, &error) || !read_clocks(&job, &error) ||
        !merge(&job, &error)) {
        bb_progress_end(&job.progress);
        bb_say_error("%s", error->message);
        return BB_EXIT_FAILED;
    }
    bb_progress_end(&job.progress);
    if (options->nat == NAT_HINT)
        bb_nat_solve(job.nat, options->join.window_ns);
    say_clocks(&job);
    if (!options->quiet) {
        say_counts(&job);
        say_pairs(&job);
        say_names(&job);
        say_nat(&job);
    }
    return say_complaints(&job) ? BB_EXIT_DONE : BB_EXIT_FAILED;
}

static int run_merge(int argc, char **argv)
{
    g_auto(Options) options = {0};
    int status = parse_options(&options, argc, argv);
    return status >= 0 ? status : work(&options);
}

const BbCommand bb_command_merge = {
    .name = "merge",
    .arguments = "TRACE...",
    .summary = "traces of several observers -> one trace",
    .run = run_merge,
};
