// SPDX-License-Identifier: Apache-2.0
// Options of bbtrace capture. In: argv. Out: a struct, or words on what is wrong.
#include "cli/capture_arguments.h"

#include "capture/shards.h"
#include "capture/sources/source.h"
#include "cli/capture_nat.h"
#include "cli/host_names.h"
#include "cli/stats_files.h"

#include <string.h>

#define SECONDS_MAX 1000000000 // of -G: 30 years
#define SNAPLEN_UNSAID G_MININT
#define THREADS_UNSAID G_MININT

static const char summary[] =
    "Reads packets from an interface (-i) or from capture files (-r: pcap or pcapng, also .gz .xz\n"
    ".zst, - for standard input; several files in a row are one capture), finds the calls, "
    "returns\n"
    "and other messages in them, and writes a trace (-w: .bbt; without it the text trace on "
    "standard\n"
    "output). FILTER is a pcap-filter(7) expression.";

void bb_capture_arguments_clear(BbCaptureArguments *o)
{
    g_strfreev(o->files);
    g_strfreev(o->decode);
    g_free(o->keylog_file);
    g_free(o->user);
    bb_decodings_clear(&o->decodings);
    bb_rotation_clear(&o->rotation);
    bb_recorder_options_clear(&o->recorder);
    bb_disguise_options_clear(&o->disguise);
    bb_follow_choice_clear(&o->follow);
    g_strfreev(o->interfaces);
    g_free(o->stamp_type);
    g_free(o->out);
    g_free(o->names_by);
    g_free(o->nat_word);
    g_strfreev(o->names_files);
    g_free(o->node);
    g_free(o->buffer);
    g_free(o->held);
    g_free(o->filter);
    g_free(o->stats);
}

// The file that is to be read and would be overwritten.
static const char *endangered_file(const BbCaptureArguments *o)
{
    for (char **file = o->files; o->out && file && *file; file++)
        if (bb_is_same_file(*file, o->out))
            return *file;
    for (char **file = o->names_files; o->out && file && *file; file++)
        if (bb_is_same_file(*file, o->out))
            return *file;
    if (o->out && o->disguise.key_file && bb_is_same_file(o->disguise.key_file, o->out))
        return o->disguise.key_file;
    return o->out && o->keylog_file && bb_is_same_file(o->keylog_file, o->out) ? o->keylog_file
                                                                               : NULL;
}

static const char program[] = "bbtrace capture";

// Checks below return an exit status, or -1 to go on.
static int check_input(const BbCaptureArguments *o)
{
    if (!o->files == !o->interfaces)
        return bb_say_usage(program, "give either -i INTERFACE or -r FILE");
    if (o->keep_frames && !o->files)
        return bb_say_usage(program,
                            "--keep-frames is for files (-r): an interface keeps no frames");
    if (o->processes && !o->interfaces)
        return bb_say_usage(program, "--processes is for interfaces (-i): a file has no processes");
    if (endangered_file(o))
        return bb_say_usage(program, "-w would overwrite %s: give another file",
                            endangered_file(o));
    return o->files ? bb_check_paths(program, "file", o->files) : -1;
}

// What a file has behind it: how its packets were captured.
static int check_live(BbCaptureArguments *o)
{
    const struct {
        bool said;
        const char *option;
    } live[] = {{o->snaplen != SNAPLEN_UNSAID, "-s"},
                {o->buffer, "-B"},
                {o->stamp_type, "--time-stamp-type"},
                {o->no_promiscuous, "-p"},
                {o->no_shed, "--no-shed"}};
    for (gsize i = 0; o->files && i < G_N_ELEMENTS(live); i++)
        if (live[i].said)
            return bb_say_usage(program, "%s is for interfaces (-i): leave it out", live[i].option);
    if (o->snaplen == SNAPLEN_UNSAID)
        o->snaplen = BB_SOURCE_SNAPLEN;
    return -1;
}

static int check_disguise(BbCaptureArguments *o)
{
    if (o->disguise.anonymize && o->keep_frames)
        return bb_say_usage(program, "--keep-frames tells names of files, which --anonymize leaves "
                                     "out: give one of them");
    return bb_disguise_options_parse(&o->disguise, program);
}

// Statistics are appended, or replace a file: to none that is read or written otherwise.
static bool is_used(const BbCaptureArguments *o, const char *path)
{
    bool used = (o->out && bb_is_same_output(o->out, path)) ||
                (o->keylog_file && bb_is_same_file(o->keylog_file, path)) ||
                (o->disguise.key_file && bb_is_same_file(o->disguise.key_file, path));
    for (char **file = o->files; file && *file; file++)
        used |= bb_is_same_file(*file, path);
    for (char **file = o->names_files; file && *file; file++)
        used |= bb_is_same_file(*file, path);
    return used;
}

static int check_stats(const BbCaptureArguments *o)
{
    if (!o->stats)
        return -1;
    g_autofree char *metrics = bb_stats_files_metrics_path(o->stats);
    g_autofree char *name = g_path_get_basename(metrics);
    if (strcmp(o->stats, "-") == 0 || *o->stats == '\0' || g_str_has_suffix(o->stats, "/"))
        return bb_say_usage(program, "--stats takes the name of a file, not '%s'", o->stats);
    if (strcmp(o->stats, metrics) == 0 || strcmp(name, ".prom") == 0)
        return bb_say_usage(program,
                            "--stats %s: its OpenMetrics file needs a name of its own: "
                            "give a name such as capture.jsonl",
                            o->stats);
    if (is_used(o, o->stats) || is_used(o, metrics))
        return bb_say_usage(program, "--stats would change %s: give another file",
                            is_used(o, metrics) ? metrics : o->stats);
    return -1;
}

static int check_names(BbCaptureArguments *o)
{
    g_autoptr(GError) error = NULL;
    if (o->node && strcmp(o->node, "host") != 0 && strcmp(o->node, "endpoint") != 0)
        return bb_say_usage(program, "--node is host or endpoint, not '%s'", o->node);
    if (!bb_parse_names_by(o->names_by, &o->by_service))
        return bb_say_usage(program, "--names-by is instance or service, not '%s'", o->names_by);
    if (!bb_capture_nat_parse(o->nat_word, &o->nat))
        return bb_say_usage(program, "--nat is join, hint or off, not '%s'", o->nat_word);
    if (!bb_decodings_parse(&o->decodings, (const char *const *)o->decode, &error))
        return bb_say_usage(program, "%s", error->message);
    return -1;
}

static int check_limits(BbCaptureArguments *o)
{
    if (o->packets < 0 || o->seconds < 0 || o->seconds > SECONDS_MAX)
        return bb_say_usage(program, "-c and -G take a number that is not negative, -G up to %d",
                            SECONDS_MAX);
    if (o->max_connections <= 0)
        return bb_say_usage(program, "--max-connections takes a number from 1 on");
    if (o->threads == THREADS_UNSAID) // one reads and writes; a recorder is of one
        o->threads =
            o->recorder.size ? 1 : (int)CLAMP(g_get_num_processors() - 1, 1, BB_SHARDS_MOST);
    if (o->threads < 1 || o->threads > (int)BB_SHARDS_MOST)
        return bb_say_usage(program, "--threads takes a number from 1 to %u", BB_SHARDS_MOST);
    if (o->threads > 1 && o->recorder.size)
        return bb_say_usage(program,
                            "--flight-recorder decodes in one thread: leave out --threads");
    if (o->snaplen < BB_SOURCE_SNAPLEN_LEAST || o->snaplen > BB_SOURCE_SNAPLEN)
        return bb_say_usage(program, "-s takes a number from %d to %d", BB_SOURCE_SNAPLEN_LEAST,
                            BB_SOURCE_SNAPLEN);
    if (o->buffer && (!bb_parse_size(o->buffer, &o->buffer_bytes) || !o->buffer_bytes ||
                      o->buffer_bytes > G_MAXINT))
        return bb_say_usage(program, "--buffer '%s' is no size: 64M, for example", o->buffer);
    if (o->held && !bb_parse_size(o->held, &o->held_bytes))
        return bb_say_usage(program, "--max-held '%s' is no size: 64M, for example", o->held);
    return -1;
}

// A recorder writes no trace but its snapshots.
static int check_recorder(BbCaptureArguments *o)
{
    const BbRotation *r = &o->rotation;
    int status = bb_recorder_options_parse(&o->recorder, program, o->out);
    if (status < 0 && o->recorder.size &&
        (r->size_word || r->time_word || r->ring_word || r->flush_word || r->sync_word))
        return bb_say_usage(program, "--flight-recorder keeps its ring itself: leave out "
                                     "--rotate-size, --rotate-time, --ring, --flush and --sync");
    return status;
}

// What is left on the command line is the filter.
static int take_filter(BbCaptureArguments *o, int argc, char **argv)
{
    for (int i = 1; i < argc; i++)
        if (strchr(argv[i], '.') && g_file_test(argv[i], G_FILE_TEST_IS_REGULAR))
            return bb_say_usage(program, "'%s' is a file, no filter: give -r before each file",
                                argv[i]);
    o->filter = argc > 1 ? g_strjoinv(" ", argv + 1) : NULL;
    return -1;
}

// What --help says, and where an option goes: at an offset, until there is something to go into.
#define INTO(field) GSIZE_TO_POINTER(G_STRUCT_OFFSET(BbCaptureArguments, field))
static const GOptionEntry table[] = {
    {"read", 'r', 0, G_OPTION_ARG_FILENAME_ARRAY, INTO(files),
     "Read this capture file; may be given again", "FILE"},
    {"interface", 'i', 0, G_OPTION_ARG_STRING_ARRAY, INTO(interfaces),
     "Read from this interface; may be given again: both legs of a tap", "IF"},
    {"write", 'w', 0, G_OPTION_ARG_FILENAME, INTO(out), "Write the trace here, as .bbt", "FILE"},
    {"rotate-size", 0, 0, G_OPTION_ARG_STRING, INTO(rotation.size_word),
     "Begin another file when one has about this size: FILE_20260131T120000Z_00001.bbt", "SIZE"},
    {"rotate-time", 0, 0, G_OPTION_ARG_STRING, INTO(rotation.time_word),
     "Likewise at each multiple of this time since 1970: 1h is at full hours", "DURATION"},
    {"ring", 0, 0, G_OPTION_ARG_STRING, INTO(rotation.ring_word),
     "Keep so many files, or so many bytes of files (10G): the oldest are deleted", "N|SIZE"},
    {"flush", 0, 0, G_OPTION_ARG_STRING, INTO(rotation.flush_word),
     "Write out what is known this often (default: live 1s, of files at the end)", "DURATION"},
    {"sync", 0, 0, G_OPTION_ARG_STRING, INTO(rotation.sync_word),
     "Wait for the disk: when a file is complete, or at each flush, too (default: live file, "
     "of "
     "files never)",
     "never|file|flush"},
    {"flight-recorder", 0, 0, G_OPTION_ARG_STRING, INTO(recorder.size_word),
     "Record into a ring of this size, in the folder that -w names", "SIZE"},
    {"trigger", 0, 0, G_OPTION_ARG_STRING_ARRAY, INTO(recorder.triggers),
     "Take a snapshot of the ring when this comes up; may be given again", "CONDITION"},
    {"snap-after", 0, 0, G_OPTION_ARG_STRING, INTO(recorder.after_word),
     "Time that a snapshot goes on after its cause (default: 5s)", "DURATION"},
    {"snap-pause", 0, 0, G_OPTION_ARG_STRING, INTO(recorder.pause_word),
     "No other snapshot for the same trigger for so long (default: 10min)", "DURATION"},
    {"snap-keep", 0, 0, G_OPTION_ARG_STRING, INTO(recorder.keep_word),
     "Keep so many snapshots, or bytes of them (2G); the oldest are deleted (default: 32)",
     "N|SIZE"},
    {"socket", 0, 0, G_OPTION_ARG_FILENAME, INTO(recorder.socket),
     "Control socket for bbtrace snap (default: control.sock in the folder)", "PATH"},
    {"follow", 0, 0, G_OPTION_ARG_STRING_ARRAY, INTO(follow.entrances),
     "Only what belongs to this entrance, and to whom it calls, hop by hop; may be given again",
     "ADDR[:PORT]"},
    {"hops", 0, 0, G_OPTION_ARG_INT, INTO(follow.hops),
     "Calls in a row that --follow goes (default: 8)", "N"},
    {"follow-not", 0, 0, G_OPTION_ARG_STRING_ARRAY, INTO(follow.others),
     "Keep the calls to it, but do not follow it; may be given again", "[ADDR][:PORT]"},
    {"node", 0, 0, G_OPTION_ARG_STRING, INTO(node),
     "A node is a host, or each server ip:port by itself (default: host)", "host|endpoint"},
    {"names", 0, 0, G_OPTION_ARG_FILENAME_ARRAY, INTO(names_files), BB_NAMES_ABOUT, "FILE"},
    {"names-by", 0, 0, G_OPTION_ARG_STRING, INTO(names_by), BB_NAMES_BY_ABOUT, "instance|service"},
    {"names-from-dns", 0, 0, G_OPTION_ARG_NONE, INTO(names_from_dns),
     "Name hosts by the DNS answers in the capture (files are read twice for it)", NULL},
    {"processes", 0, 0, G_OPTION_ARG_NONE, INTO(processes),
     "Live: name this host's ends of connections by systemd unit, container or program", NULL},
    {"keylog", 0, 0, G_OPTION_ARG_FILENAME, INTO(keylog_file),
     "Decrypt TLS 1.2 and 1.3 with the secrets in this file (SSLKEYLOGFILE)", "FILE"},
    {"decode", 0, 0, G_OPTION_ARG_STRING_ARRAY, INTO(decode),
     "What is said at this server port is of this protocol (bbtrace protocols lists them)",
     "PORT=PROTOCOL"},
    {"vlan", 0, 0, G_OPTION_ARG_NONE, INTO(vlan),
     "Tell hosts of one address apart by their VLAN: 10.0.0.1@vlan12", NULL},
    {"vni", 0, 0, G_OPTION_ARG_NONE, INTO(vni),
     "Likewise by their overlay network (VXLAN, GENEVE, key of GRE): 10.0.0.1@vni5000", NULL},
    {"nat", 0, 0, G_OPTION_ARG_STRING, INTO(nat_word),
     "Connections that are seen on both sides of a NAT or balancer: make them one, say which, "
     "or do not look (default: join)",
     "join|hint|off"},
    {"keep-frames", 0, 0, G_OPTION_ARG_NONE, INTO(keep_frames),
     "Keep with each message the file and number of its first packet", NULL},
    {"labels", 0, 0, G_OPTION_ARG_STRING, INTO(disguise.labels_word),
     "Labels of operations stay, get pseudonyms or are left out (default: keep, with "
     "--anonymize "
     "hash)",
     "keep|hash|off"},
    {"anonymize", 0, 0, G_OPTION_ARG_NONE, INTO(disguise.anonymize),
     "Other names for nodes, operations, ids and connections, as bbtrace anonymize gives", NULL},
    {"key", 'k', 0, G_OPTION_ARG_FILENAME, INTO(disguise.key_file), BB_KEY_ABOUT, "FILE"},
    {"keep-ports", 0, 0, G_OPTION_ARG_NONE, INTO(disguise.keep_ports), BB_KEEP_PORTS_ABOUT, NULL},
    {"keep-prefixes", 0, 0, G_OPTION_ARG_NONE, INTO(disguise.keep_prefixes), BB_KEEP_PREFIXES_ABOUT,
     NULL},
    {"packets", 'c', 0, G_OPTION_ARG_INT64, INTO(packets), "Stop after so many packets", "N"},
    {"seconds", 'G', 0, G_OPTION_ARG_INT64, INTO(seconds), "Stop after so many seconds of capture",
     "N"},
    {"snaplen", 's', 0, G_OPTION_ARG_INT, INTO(snaplen),
     "Live: bytes kept of a packet (default: 262144)", "N"},
    {"buffer", 'B', 0, G_OPTION_ARG_STRING, INTO(buffer),
     "Live: the kernel's buffer (default: 64M)", "SIZE"},
    {"time-stamp-type", 0, 0, G_OPTION_ARG_STRING, INTO(stamp_type),
     "Live: who makes the time stamps, see pcap-tstamp(7) (default: host)", "TYPE"},
    {"no-promiscuous", 'p', 0, G_OPTION_ARG_NONE, INTO(no_promiscuous),
     "Live: only packets that are for this host", NULL},
    {"max-connections", 0, 0, G_OPTION_ARG_INT, INTO(max_connections),
     "Connections remembered at once (default: 65536)", "N"},
    {"max-held", 0, 0, G_OPTION_ARG_STRING, INTO(held),
     "Bytes that may wait for reassembly (default: 64M)", "SIZE"},
    {"threads", 0, 0, G_OPTION_ARG_INT, INTO(threads),
     "Threads that decode, 1 to 8 (default: processors less one); the trace is the same", "N"},
    {"no-shed", 0, 0, G_OPTION_ARG_NONE, INTO(no_shed),
     "Live: where decoding cannot keep up, let the kernel drop packets, not us whole flows", NULL},
    {"stats", 0, 0, G_OPTION_ARG_FILENAME, INTO(stats),
     "Append a line of JSON a second to FILE, and replace an OpenMetrics file beside it", "FILE"},
    {"user", 'Z', 0, G_OPTION_ARG_STRING, INTO(user),
     "Become this user once interfaces are open (default: who said sudo)", "USER"},
    {"unconfined", 0, 0, G_OPTION_ARG_NONE, INTO(unconfined),
     "Keep all rights and system calls: for debuggers", NULL},
    {"quiet", 'q', 0, G_OPTION_ARG_NONE, INTO(quiet), "No progress and no summary", NULL},
    {"verbose", 'v', 0, G_OPTION_ARG_NONE, INTO(verbose), "All counters in the summary", NULL},
    {NULL, 0, 0, 0, NULL, NULL, NULL},
};

// In this order: what is said first is what is wrong first.
static int check_all(BbCaptureArguments *o, int argc, char **argv)
{
    int status = take_filter(o, argc, argv);
    if (status < 0)
        status = check_input(o);
    if (status < 0)
        status = check_live(o);
    if (status < 0)
        status = check_recorder(o);
    if (status < 0)
        status = check_stats(o);
    if (status < 0)
        status = bb_rotation_parse(&o->rotation, program, o->out, o->interfaces != NULL);
    if (status < 0)
        status = check_names(o);
    if (status < 0)
        status = check_disguise(o);
    if (status < 0)
        status = bb_follow_choice_parse(&o->follow, program);
    return status < 0 ? check_limits(o) : status;
}

int bb_capture_arguments_parse(BbCaptureArguments *o, int argc, char **argv)
{
    GOptionEntry entries[G_N_ELEMENTS(table)];
    int status = BB_EXIT_DONE;
    o->snaplen = SNAPLEN_UNSAID;
    o->follow.hops = BB_FOLLOW_HOPS_NONE;
    o->max_connections = (int)BB_CAPTURE_CONNECTIONS;
    o->threads = THREADS_UNSAID;
    for (gsize i = 0; i < G_N_ELEMENTS(table); i++) {
        entries[i] = table[i];
        entries[i].arg_data = (char *)o + GPOINTER_TO_SIZE(table[i].arg_data);
    }
    if (!bb_options_parse(program, "[FILTER]", summary, NULL, entries, &argc, &argv, &status))
        return status;
    return check_all(o, argc, argv);
}
