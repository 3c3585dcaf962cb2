// SPDX-License-Identifier: Apache-2.0
// bbtrace capture. In: frames of files or an interface. Out: a message trace, and on stderr what
// was seen and what was lost.
#include "cli/command.h"

#include "capture/capture.h"
#include "capture/protocols/tls_keylog.h"
#include "capture/sources/source.h"
#include "cli/decode_as.h"
#include "cli/host_names.h"
#include "data/relay.h"
#include "data/trace.h"

#include <string.h>
#include <unistd.h>

// Messages that wait to be put in order of time (data/order.h).
#define ORDER_WINDOW 65536u
#define SECONDS_MAX 1000000000 // of -G: 30 years

static const char summary[] =
    "Reads packets from an interface (-i) or from capture files (-r: pcap or pcapng, also .gz .xz\n"
    ".zst, - for standard input; several files in a row are one capture), finds the calls, "
    "returns\n"
    "and other messages in them, and writes a trace (-w: .bbt; without it the text trace on "
    "standard\n"
    "output). FILTER is a pcap-filter(7) expression.";

typedef struct Options {
    char **files, **decode, **names_files;
    char *interface, *out, *names_by, *node, *buffer, *held, *keylog_file;
    int snaplen, max_connections;
    gint64 packets, seconds;
    gboolean vlan, vni, keep_frames, no_promiscuous, names_from_dns, quiet, verbose;
    bool by_service;
    char *filter;
    guint64 buffer_bytes, held_bytes;
    BbDecodings decodings;
} Options;

static void options_clear(Options *o)
{
    g_strfreev(o->files);
    g_strfreev(o->decode);
    g_free(o->keylog_file);
    bb_decodings_clear(&o->decodings);
    g_free(o->interface);
    g_free(o->out);
    g_free(o->names_by);
    g_strfreev(o->names_files);
    g_free(o->node);
    g_free(o->buffer);
    g_free(o->held);
    g_free(o->filter);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Options, options_clear)

// The file that is to be read and would be overwritten.
static const char *endangered_file(const Options *o)
{
    for (char **file = o->files; o->out && file && *file; file++)
        if (bb_is_same_file(*file, o->out))
            return *file;
    for (char **file = o->names_files; o->out && file && *file; file++)
        if (bb_is_same_file(*file, o->out))
            return *file;
    return o->out && o->keylog_file && bb_is_same_file(o->keylog_file, o->out) ? o->keylog_file
                                                                               : NULL;
}

// Returns an exit status, or -1 to go on.
static int parse_options(Options *o, int argc, char **argv)
{
    const GOptionEntry entries[] = {
        {"read", 'r', 0, G_OPTION_ARG_FILENAME_ARRAY, &o->files,
         "Read this capture file; may be given again", "FILE"},
        {"interface", 'i', 0, G_OPTION_ARG_STRING, &o->interface, "Read from this interface", "IF"},
        {"write", 'w', 0, G_OPTION_ARG_FILENAME, &o->out, "Write the trace here, as .bbt", "FILE"},
        {"node", 0, 0, G_OPTION_ARG_STRING, &o->node,
         "A node is a host, or each server ip:port by itself (default: host)", "host|endpoint"},
        {"names", 0, 0, G_OPTION_ARG_FILENAME_ARRAY, &o->names_files, BB_NAMES_ABOUT, "FILE"},
        {"names-by", 0, 0, G_OPTION_ARG_STRING, &o->names_by, BB_NAMES_BY_ABOUT,
         "instance|service"},
        {"names-from-dns", 0, 0, G_OPTION_ARG_NONE, &o->names_from_dns,
         "Name hosts by the DNS answers in the capture (files are read twice for it)", NULL},
        {"keylog", 0, 0, G_OPTION_ARG_FILENAME, &o->keylog_file,
         "Decrypt TLS 1.2 and 1.3 with the secrets in this file (SSLKEYLOGFILE)", "FILE"},
        {"decode", 0, 0, G_OPTION_ARG_STRING_ARRAY, &o->decode,
         "What is said at this server port is of this protocol (bbtrace protocols lists them)",
         "PORT=PROTOCOL"},
        {"vlan", 0, 0, G_OPTION_ARG_NONE, &o->vlan,
         "Tell hosts of one address apart by their VLAN: 10.0.0.1@vlan12", NULL},
        {"vni", 0, 0, G_OPTION_ARG_NONE, &o->vni,
         "Likewise by their overlay network (VXLAN, GENEVE, key of GRE): 10.0.0.1@vni5000", NULL},
        {"keep-frames", 0, 0, G_OPTION_ARG_NONE, &o->keep_frames,
         "Keep with each message the file and number of its first packet", NULL},
        {"packets", 'c', 0, G_OPTION_ARG_INT64, &o->packets, "Stop after so many packets", "N"},
        {"seconds", 'G', 0, G_OPTION_ARG_INT64, &o->seconds,
         "Stop after so many seconds of capture", "N"},
        {"snaplen", 's', 0, G_OPTION_ARG_INT, &o->snaplen,
         "Live: bytes kept of a packet (default: 262144)", "N"},
        {"buffer", 'B', 0, G_OPTION_ARG_STRING, &o->buffer,
         "Live: the kernel's buffer (default: 64M)", "SIZE"},
        {"no-promiscuous", 'p', 0, G_OPTION_ARG_NONE, &o->no_promiscuous,
         "Live: only packets that are for this host", NULL},
        {"max-connections", 0, 0, G_OPTION_ARG_INT, &o->max_connections,
         "Connections remembered at once (default: 65536)", "N"},
        {"max-held", 0, 0, G_OPTION_ARG_STRING, &o->held,
         "Bytes that may wait for reassembly (default: 64M)", "SIZE"},
        {"quiet", 'q', 0, G_OPTION_ARG_NONE, &o->quiet, "No progress and no summary", NULL},
        {"verbose", 'v', 0, G_OPTION_ARG_NONE, &o->verbose, "All counters in the summary", NULL},
        {NULL, 0, 0, 0, NULL, NULL, NULL},
    };
    int status = BB_EXIT_DONE;
    if (!bb_options_parse("bbtrace capture", "[FILTER]", summary, NULL, entries, &argc, &argv,
                          &status))
        return status;
    o->filter = argc > 1 ? g_strjoinv(" ", argv + 1) : NULL;
    const char *program = "bbtrace capture";
    for (int i = 1; i < argc; i++)
        if (strchr(argv[i], '.') && g_file_test(argv[i], G_FILE_TEST_IS_REGULAR))
            return bb_say_usage(program, "'%s' is a file, no filter: give -r before each file",
                                argv[i]);
    if (!o->files == !o->interface)
        return bb_say_usage(program, "give either -i INTERFACE or -r FILE");
    if (o->node && strcmp(o->node, "host") != 0 && strcmp(o->node, "endpoint") != 0)
        return bb_say_usage(program, "--node is host or endpoint, not '%s'", o->node);
    if (!bb_parse_names_by(o->names_by, &o->by_service))
        return bb_say_usage(program, "--names-by is instance or service, not '%s'", o->names_by);
    if (o->packets < 0 || o->seconds < 0 || o->seconds > SECONDS_MAX)
        return bb_say_usage(program, "-c and -G take a number that is not negative, -G up to %d",
                            SECONDS_MAX);
    if (o->keep_frames && !o->files)
        return bb_say_usage(program,
                            "--keep-frames is for files (-r): an interface keeps no frames");
    if (o->max_connections <= 0)
        return bb_say_usage(program, "--max-connections takes a number from 1 on");
    if (o->snaplen <= 0 || o->snaplen > BB_SOURCE_SNAPLEN)
        return bb_say_usage(program, "-s takes a number from 1 to %d", BB_SOURCE_SNAPLEN);
    if (o->buffer && (!bb_parse_size(o->buffer, &o->buffer_bytes) || !o->buffer_bytes ||
                      o->buffer_bytes > G_MAXINT))
        return bb_say_usage(program, "--buffer '%s' is no size: 64M, for example", o->buffer);
    if (o->held && !bb_parse_size(o->held, &o->held_bytes))
        return bb_say_usage(program, "--max-held '%s' is no size: 64M, for example", o->held);
    g_autoptr(GError) error = NULL;
    if (!bb_decodings_parse(&o->decodings, (const char *const *)o->decode, &error))
        return bb_say_usage(program, "%s", error->message);
    if (endangered_file(o))
        return bb_say_usage(program, "-w would overwrite %s: give another file",
                            endangered_file(o));
    return -1;
}

// ---- the work ----------------------------------------------------------------------------------

typedef struct Job {
    const Options *options;
    BbNames *names;
    BbNodes *nodes;
    BbLoss loss;
    BbCounters *counters;
    BbSource *source;
    BbTraceWriter *writer;
    BbOrder *order;
    BbRelay *relay; // order and writer work in its thread
    BbTlsKeylog *keylog;
    BbCapture *capture;
    BbProgress progress;
    guint32 file;             // that is read now, for --keep-frames
    gint64 first_ns, last_ns; // stamps seen
    gint64 deadline_us;       // live, -G
    gint64 flushed_us;        // live: when the output was last brought up to date
    bool failed;              // something was said; the rest goes on
} Job;

static void job_clear(Job *job)
{
    bb_capture_free(job->capture);
    bb_tls_keylog_free(job->keylog);
    bb_relay_free(job->relay);
    bb_order_free(job->order);
    bb_trace_writer_free(job->writer);
    bb_source_free(job->source);
    bb_nodes_free(job->nodes);
    bb_counters_free(job->counters);
    bb_names_free(job->names);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Job, job_clear)

static bool write_message(const BbMessage *message, gpointer user, GError **error)
{
    return bb_trace_writer_push(user, message, error);
}

static bool order_message(const BbMessage *message, gpointer user, GError **error)
{
    const Job *job = user;
    return bb_order_push(job->order, message, error);
}

static bool relay_message(const BbMessage *message, gpointer user, GError **error)
{
    return bb_relay_push(user, message, error);
}

// The text trace of a live capture is for reading along: what is known by now is shown.
static bool bring_up_to_date(gpointer user, GError **error)
{
    const Job *job = user;
    return bb_order_drain(job->order, error) && bb_trace_writer_flush(job->writer, error);
}

static bool drop_message(const BbMessage *message, gpointer user, GError **error)
{
    return true;
}

static BbSource *open_source(Job *job, GError **error)
{
    const Options *o = job->options;
    BbSourceOptions options = bb_source_options_default();
    options.files = (const char *const *)o->files;
    options.interface = o->interface;
    options.filter = o->filter;
    options.snaplen = o->snaplen;
    options.promiscuous = !o->no_promiscuous;
    if (o->buffer)
        options.buffer_bytes = (int)o->buffer_bytes;
    return bb_source_open(&options, &job->loss, error);
}

static BbCapture *new_capture(Job *job, BbLoss *loss, BbMessageSink sink, gpointer user)
{
    BbCaptureOptions options = bb_capture_options_default();
    options.max_connections = (guint)job->options->max_connections;
    if (job->options->held)
        options.max_held_bytes = job->options->held_bytes;
    const BbDecodings *decodings = &job->options->decodings;
    options.decode_as = (const BbDecodeAs *)(gconstpointer)decodings->protocols->data;
    options.n_decode_as = decodings->protocols->len;
    options.tunnels = (const BbTunnelAt *)(gconstpointer)decodings->tunnels->data;
    options.n_tunnels = decodings->tunnels->len;
    options.keylog = job->keylog;
    options.by_vlan = job->options->vlan;
    options.by_vni = job->options->vni;
    return bb_capture_new(&options, job->names, job->nodes, loss, sink, user);
}

static void say_warnings(Job *job)
{
    for (char *warning = bb_source_take_warning(job->source); warning;
         warning = bb_source_take_warning(job->source)) {
        bb_progress_end(&job->progress);
        bb_say("warning: %s", warning);
        g_free(warning);
    }
}

static void fail(Job *job, GError *error)
{
    bb_progress_end(&job->progress);
    bb_say_error("%s", error->message);
    g_error_free(error);
    job->failed = true;
}

static void show_progress(Job *job)
{
    if (!bb_progress_due(&job->progress))
        return;
    double share = bb_source_progress(job->source);
    g_autofree char *frames = bb_number(job->loss.count[BB_SEEN_FRAMES]);
    g_autofree char *calls = bb_number(job->loss.count[BB_CALLS]);
    g_autofree char *percent =
        share < 0 ? g_strdup("") : g_strdup_printf("%3d %%  ", (int)(share * 100));
    bb_progress_show(&job->progress, "%s  %s%s packets  %s calls", bb_source_name(job->source),
                     percent, frames, calls);
}

// Live output is never more than a second behind.
static bool keep_up_to_date(Job *job, GError **error)
{
    gint64 now_us = g_get_monotonic_time();
    if (!job->options->interface || now_us - job->flushed_us < G_USEC_PER_SEC)
        return true;
    job->flushed_us = now_us;
    return bb_relay_sync(job->relay, error);
}

static bool is_over(const Job *job)
{
    const Options *o = job->options;
    if (bb_stop_requested())
        return true;
    if (o->packets && job->loss.count[BB_SEEN_FRAMES] >= (guint64)o->packets)
        return true;
    if (!o->seconds)
        return false;
    if (o->interface)
        return g_get_monotonic_time() >= job->deadline_us;
    return job->first_ns != BB_TIME_NONE &&
           (job->last_ns - job->first_ns) / 1000000000 >= o->seconds;
}

static void note_time(Job *job, gint64 time_ns)
{
    if (job->first_ns == BB_TIME_NONE || time_ns < job->first_ns)
        job->first_ns = time_ns;
    if (job->last_ns == BB_TIME_NONE || time_ns > job->last_ns)
        job->last_ns = time_ns;
}

// Only what --keep-frames asks for goes into the trace.
static void note_file(Job *job, BbFrame *frame)
{
    if (!job->options->keep_frames)
        return;
    const char *name = bb_source_name(job->source);
    if (job->file == BB_NAME_NONE || strcmp(bb_names_text(job->names, job->file), name) != 0)
        job->file = bb_names_intern(job->names, name);
    frame->place.file = job->file;
}

// Reads all there is. Returns false when the output failed.
static bool read_frames(Job *job, GError **error)
{
    BbFrame frame;
    for (guint64 turn = 0; !is_over(job); turn++) {
        g_autoptr(GError) source_error = NULL;
        BbSourceStatus status = bb_source_next(job->source, &frame, &source_error);
        if (status == BB_SOURCE_FRAME) {
            note_time(job, frame.time_ns);
            note_file(job, &frame);
            if (!bb_capture_frame(job->capture, &frame, error))
                return false;
        } else if (status == BB_SOURCE_ERROR) {
            fail(job, g_steal_pointer(&source_error));
        } else if (status == BB_SOURCE_END) {
            break;
        }
        if (status == BB_SOURCE_FRAME && turn % 1024)
            continue;
        show_progress(job);
        say_warnings(job);
        if (!keep_up_to_date(job, error))
            return false;
    }
    bb_source_update_loss(job->source);
    say_warnings(job);
    return true;
}

// ---- names from DNS: files are read once for the names alone
// ---------------------------------------

static bool can_read_twice(const Options *o)
{
    for (char **file = o->files; file && *file; file++)
        if (strcmp(*file, "-") == 0 || !g_file_test(*file, G_FILE_TEST_IS_REGULAR))
            return false;
    return o->files;
}

static void learn_names(Job *job)
{
    BbLoss ignored = {0};
    BbFrame frame;
    BbSourceStatus status;
    g_autoptr(BbCapture) capture = new_capture(job, &ignored, drop_message, NULL);
    bb_capture_learn_names(capture, true);
    g_autoptr(BbSource) source = open_source(job, NULL);
    if (!source)
        return; // the reading proper will say why
    do {
        g_autoptr(GError) error = NULL; // likewise
        status = bb_source_next(source, &frame, &error);
        if (status == BB_SOURCE_FRAME)
            (void)bb_capture_frame(capture, &frame, NULL);
    } while (status != BB_SOURCE_END && !bb_stop_requested());
    (void)bb_capture_finish(capture, NULL);
    bb_nodes_begin_again(job->nodes);
    job->loss = (BbLoss){0};
}

static bool prepare_names(Job *job, GError **error)
{
    const Options *o = job->options;
    job->nodes = bb_nodes_new(job->names, o->node && strcmp(o->node, "endpoint") == 0);
    if (!bb_load_host_names(job->nodes, o->names_files, o->by_service, o->quiet, error))
        return false;
    if (o->names_from_dns && can_read_twice(o))
        learn_names(job);
    else if (o->names_from_dns && !o->quiet)
        bb_say("names from DNS count from the moment they are seen: this input is read only once");
    return true;
}

// ---- beginning and end
// -----------------------------------------------------------------------------

static bool prepare(Job *job, GError **error)
{
    const Options *o = job->options;
    job->names = bb_names_new();
    job->counters = bb_counters_new();
    job->first_ns = job->last_ns = BB_TIME_NONE;
    if (o->keylog_file && !(job->keylog = bb_tls_keylog_open(o->keylog_file, error)))
        return false;
    if (!prepare_names(job, error))
        return false;
    job->source = open_source(job, error);
    if (!job->source)
        return false;
    const char *out = o->out ? o->out : "-";
    job->writer =
        bb_trace_writer_open(out, o->out ? BB_TRACE_BBT : BB_TRACE_TEXT, job->names, error);
    if (!job->writer)
        return false;
    job->order = bb_order_new(ORDER_WINDOW, write_message, job->writer);
    job->relay = bb_relay_new(order_message, bring_up_to_date, job);
    job->capture = new_capture(job, &job->loss, relay_message, job->relay);
    bb_capture_learn_names(job->capture, o->names_from_dns && !can_read_twice(o));
    job->progress = bb_progress_start(o->quiet || !o->out);
    job->deadline_us = g_get_monotonic_time() + o->seconds * G_USEC_PER_SEC;
    return true;
}

static bool finish(Job *job, GError **error)
{
    if (!bb_capture_finish(job->capture, error) || !bb_relay_finish(job->relay, error) ||
        !bb_order_drain(job->order, error))
        return false;
    job->loss.count[BB_MESSAGES_LATE] += bb_order_late(job->order);
    job->loss.count[BB_NAMES_UNLEARNED] = bb_nodes_unlearned(job->nodes);
    job->loss.count[BB_KEYLOG_LIMIT] = job->keylog ? bb_tls_keylog_forgotten(job->keylog) : 0;
    job->loss.count[BB_NODES_MERGED] = bb_nodes_others(job->nodes);
    bb_loss_publish(&job->loss, job->counters);
    return bb_trace_writer_network(job->writer, bb_capture_network(job->capture), error) &&
           bb_trace_writer_finish(job->writer, job->counters, error);
}

// Losses; at an interface also what the kernel says of them, were it nothing; all by --verbose.
static bool is_told(const Job *job, BbLossKind kind)
{
    bool kernel =
        kind == BB_KERNEL_RECEIVED || kind == BB_KERNEL_DROPPED || kind == BB_INTERFACE_DROPPED;
    if (job->options->interface && kernel)
        return true;
    return job->loss.count[kind] && (bb_loss_is_loss(kind) || job->options->verbose);
}

static void say_summary(const Job *job)
{
    const guint64 *count = job->loss.count;
    g_autofree char *frames = bb_number(count[BB_SEEN_FRAMES]);
    g_autofree char *calls = bb_number(count[BB_CALLS]);
    g_autofree char *returns = bb_number(count[BB_RETURNS]);
    g_autofree char *frees = bb_number(count[BB_FREES]);
    double seconds =
        job->first_ns == BB_TIME_NONE ? 0 : (double)(job->last_ns - job->first_ns) / 1e9;
    bb_say("%s packets in %.3f s: %s calls, %s returns, %s free messages", frames, seconds, calls,
           returns, frees);
    for (guint kind = 0; kind < BB_LOSS_COUNT; kind++) {
        if (!is_told(job, kind))
            continue;
        g_autofree char *number = bb_number(count[kind]);
        bb_say("%12s  %s (%s)", number, bb_loss_meaning(kind), bb_loss_name(kind));
    }
}

// What was read is written, even where reading or writing went wrong half way.
static int work(const Options *options)
{
    g_autoptr(GError) error = NULL;
    g_auto(Job) job = {.options = options};
    if (!prepare(&job, &error)) {
        bb_say_error("%s", error->message);
        return BB_EXIT_FAILED;
    }
    bb_stop_install();
    bool wrote = read_frames(&job, &error);
    if (!wrote)
        fail(&job, g_steal_pointer(&error));
    if (!finish(&job, &error) && wrote) // else it is the same failure
        fail(&job, g_steal_pointer(&error));
    bb_progress_end(&job.progress);
    if (!options->quiet)
        say_summary(&job);
    return job.failed ? BB_EXIT_FAILED : BB_EXIT_DONE;
}

static int run(int argc, char **argv)
{
    g_auto(Options) options = {
        .snaplen = BB_SOURCE_SNAPLEN,
        .max_connections = (int)BB_CAPTURE_CONNECTIONS,
    };
    int status = parse_options(&options, argc, argv);
    return status >= 0 ? status : work(&options);
}

const BbCommand bb_command_capture = {
    .name = "capture",
    .arguments = "[FILTER]",
    .summary = "packets of an interface or of files -> a trace",
    .run = run,
};
