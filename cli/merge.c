// SPDX-License-Identifier: Apache-2.0
// bbtrace merge. In: traces of several observers. Out: one trace, and on stderr who saw what.
#include "cli/command.h"

#include "cli/host_names.h"
#include "cli/merge_options.h"
#include "cli/merge_report.h"
#include "data/relay.h"
#include "merge/node_rules.h"

typedef struct Job {
    const BbMergeOptions *options;
    BbNames *names;
    BbNodes *nodes;     // of --names; NULL without
    BbNodeRules *rules; // of --alias
    GArray *called;     // by name: 1 + the node's name, 0 where it was not asked for yet
    BbMerger *merger;
    BbClocks *clocks; // NULL as they are
    BbNat *nat;       // NULL where not looked for
    BbJoin *join;
    BbTraceWriter *writer;        // from the first message on
    BbRelay *incoming, *outgoing; // in their threads work the join, and the writer
    guint64 written, calls;       // messages, calls among them
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

// ---- names --------------------------------------------------------------------------------------

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

// ---- messages -----------------------------------------------------------------------------------

static void prepare_message(BbMessage *message, BbMergerPlace *place, gpointer user)
{
    Job *job = user;
    message->sender = call_node(job, message->sender);
    message->receiver = call_node(job, message->receiver);
    if (job->options->nat == BB_MERGE_NAT_JOIN)
        (void)bb_nat_apply(job->nat, message); // nothing while they are looked for
}

static void correct_time(const BbClocks *clocks, guint32 observer, gint64 *time_ns, gint64 near_ns)
{
    if (*time_ns == BB_TIME_NONE)
        return;
    guint lap = bb_clocks_lap(clocks, observer, *time_ns, near_ns);
    *time_ns = bb_clocks_correct(clocks, observer, lap, *time_ns);
}

// A time that a clock showed twice, as it stepped back, is the one that is nearer to that of the
// message before.
static void prepare_and_correct(BbMessage *message, BbMergerPlace *place, gpointer user)
{
    Job *job = user;
    prepare_message(message, place, user);
    place->part = bb_clocks_lap(job->clocks, message->observer, message->time_ns, place->last_ns);
    message->time_ns =
        bb_clocks_correct(job->clocks, message->observer, place->part, message->time_ns);
    place->last_ns = message->time_ns;
    correct_time(job->clocks, message->observer, &message->recv_ns, message->time_ns);
    correct_time(job->clocks, message->observer, &message->end_ns, message->time_ns);
}

// The laps of a clock, the most where several observers are in one file.
static guint parts_of(guint32 observer, gpointer user)
{
    const Job *job = user;
    guint parts = 1;
    if (observer != BB_NAME_NONE)
        return bb_clocks_laps(job->clocks, observer);
    for (guint i = 0; i < bb_clocks_count(job->clocks); i++)
        parts = MAX(parts, bb_clocks_laps(job->clocks, bb_clocks_at(job->clocks, i)->name));
    return parts;
}

static bool write_message(const BbMessage *message, gpointer user, GError **error)
{
    const Job *job = user;
    return bb_trace_writer_push(job->writer, message, error);
}

static bool pass_on(const BbMessage *message, gpointer user, GError **error)
{
    Job *job = user;
    job->written++;
    job->calls += message->kind == BB_CALL;
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

static bool add_to_clocks(const BbMessage *message, guint input, gpointer user, GError **error)
{
    Job *job = user;
    show_progress(job, "reading clocks");
    bb_clocks_add(job->clocks, message);
    if (job->options->nat == BB_MERGE_NAT_HINT)
        bb_nat_add(job->nat, message);
    return bb_stop_check(error);
}

static bool add_to_nat(const BbMessage *message, guint input, gpointer user, GError **error)
{
    Job *job = user;
    show_progress(job, "reading connections");
    bb_nat_add(job->nat, message);
    return bb_stop_check(error);
}

static bool open_writer(Job *job, GError **error)
{
    if (!job->writer)
        job->writer = bb_trace_writer_open(job->options->out, BB_TRACE_BBT, job->names, error);
    return job->writer != NULL;
}

static bool take_in(const BbMessage *message, guint input, gpointer user, GError **error)
{
    Job *job = user;
    show_progress(job, "merging");
    if (job->options->nat == BB_MERGE_NAT_HINT && !job->clocks)
        bb_nat_add(job->nat, message);
    return bb_stop_check(error) && open_writer(job, error) &&
           bb_relay_push_with(job->incoming, message, input, error);
}

// ---- readings -----------------------------------------------------------------------------------

static bool load_names(Job *job, GError **error)
{
    const BbMergeOptions *o = job->options;
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
    const BbMergeOptions *o = job->options;
    job->names = bb_names_new();
    if (!load_names(job, error))
        return false;
    BbMergerOptions merger = {
        .skip_bad_lines = o->skip_bad_lines,
        .by_folder = o->by_folder,
        .preparer = {.prepare = prepare_message, .user = job},
    };
    job->merger = bb_merger_new(&merger, job->names, (const char *const *)o->paths);
    if (o->nat != BB_MERGE_NAT_OFF)
        job->nat = bb_nat_new(job->names, BB_NAT_CONNECTIONS);
    job->progress = bb_progress_start(o->quiet);
    return true;
}

// A reading before all others, where translated connections are to be joined: clocks are compared
// by what is one.
static bool read_nat(Job *job, GError **error)
{
    if (job->options->nat != BB_MERGE_NAT_JOIN)
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
    if (job->options->clocks == BB_MERGE_CLOCKS_AS_IS)
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
    if (job->options->clocks == BB_MERGE_CLOCKS_CORRECT)
        bb_merger_prepare_by(job->merger, &(BbMergerPreparer){prepare_and_correct, parts_of, job});
    return true;
}

static BbMergeFindings findings_of(const Job *job)
{
    return (BbMergeFindings){
        .options = job->options,
        .names = job->names,
        .merger = job->merger,
        .clocks = job->clocks,
        .nat = job->nat,
        .join = job->join,
        .nodes = job->nodes,
        .rules = job->rules,
        .written = job->written,
        .calls = job->calls,
    };
}

// Then the output is not opened: what is there stays.
static bool read_nothing_for_failures(const Job *job)
{
    bool failed = false, any = false;
    for (guint i = 0; bb_merger_complaint(job->merger, i, &failed); i++)
        any |= failed;
    return any && !job->writer;
}

static bool merge(Job *job, GError **error)
{
    const BbMergeOptions *o = job->options;
    job->outgoing = bb_relay_new(write_message, NULL, job);
    BbJoinOptions by = o->join;
    by.clocks = o->clocks == BB_MERGE_CLOCKS_CORRECT ? job->clocks : NULL;
    job->join = bb_join_new(&by, job->names, pass_on, job);
    job->incoming = bb_relay_new(join_message, NULL, job);
    if (!bb_merger_run(job->merger, take_in, job, error) ||
        !bb_relay_finish(job->incoming, error) || !bb_join_finish(job->join, error) ||
        !bb_relay_finish(job->outgoing, error))
        return false;
    if (read_nothing_for_failures(job))
        return true;
    if (!open_writer(job, error))
        return false;
    const BbMergeFindings found = findings_of(job);
    g_autoptr(BbCounters) counters = bb_merge_counters(&found);
    g_autoptr(BbNetwork) network = bb_network_new();
    bb_merger_tell_network(job->merger, network);
    return bb_trace_writer_network(job->writer, network, error) &&
           bb_trace_writer_notes(job->writer, bb_merger_notes(job->merger), error) &&
           bb_trace_writer_finish(job->writer, counters, error);
}

static int work(const BbMergeOptions *options)
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
    if (options->nat == BB_MERGE_NAT_HINT)
        bb_nat_solve(job.nat, options->join.window_ns);
    const BbMergeFindings found = findings_of(&job);
    bb_merge_say_clocks(&found);
    if (!options->quiet && job.writer)
        bb_merge_say_summary(&found);
    bb_merge_warn(&found);
    return bb_merge_say_complaints(&found) ? BB_EXIT_DONE : BB_EXIT_FAILED;
}

static int run_merge(int argc, char **argv)
{
    g_auto(BbMergeOptions) options = {0};
    int status = bb_merge_options_parse(&options, argc, argv);
    return status >= 0 ? status : work(&options);
}

const BbCommand bb_command_merge = {
    .name = "merge",
    .arguments = "TRACE...",
    .summary = "traces of several observers -> one trace",
    .run = run_merge,
};
