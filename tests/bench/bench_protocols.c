// SPDX-License-Identifier: Apache-2.0
// What each protocol costs. In: the shop's capture, which is taken apart by server port (its HTTP
// is what the others are compared to), and more captures. Each is repeated, as other connections,
// up to so many megabytes, and read by a bare pcap_next_ex loop and by all of bbtrace capture but
// the writing of the trace. Out: a table by CPU time a packet; decoders slower than 4 times HTTP's
// are marked.
//   bench_protocols SHOP MEGABYTES FOLDER|FILE...
#include "capture/capture.h"
#include "capture/sources/source.h"

#include <pcap/pcap.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define ROUNDS 3
#define SLOW 4.0         // times HTTP's cost
#define SERVER_MAX 32768 // ports from here on are a client's, as a rule
#define PACKETS_LEAST 4u // of a sample; smaller ones are left out

typedef struct Sample {
    char *name;
    GPtrArray *frames; // of GByteArray: a pcap record's head and bytes
    int link_type;
    gsize bytes;
} Sample;

typedef struct Row {
    char *name;
    char proto[32];
    guint64 packets, messages, bytes;
    double bare_s, capture_s; // CPU
} Row;

// ---- samples ------------------------------------------------------------------------------------

static Sample *sample_new(const char *name, int link_type)
{
    Sample *sample = g_new0(Sample, 1);
    sample->name = g_strdup(name);
    sample->frames = g_ptr_array_new_with_free_func((GDestroyNotify)g_byte_array_unref);
    sample->link_type = link_type;
    return sample;
}

static void sample_free(gpointer data)
{
    Sample *sample = data;
    g_free(sample->name);
    g_ptr_array_unref(sample->frames);
    g_free(sample);
}

static void sample_add(Sample *sample, const BbFrame *frame)
{
    guint32 head[4] = {(guint32)(frame->time_ns / 1000000000),
                       (guint32)(frame->time_ns % 1000000000), frame->captured, frame->length};
    GByteArray *record = g_byte_array_new();
    g_byte_array_append(record, (const guint8 *)head, sizeof head);
    g_byte_array_append(record, frame->data, frame->captured);
    g_ptr_array_add(sample->frames, record);
    sample->bytes += frame->captured;
}

// Where TCP's or UDP's header is in a frame of Ethernet; 0: there is none.
static guint transport_at(const guint8 *frame, guint32 length)
{
    bool v4 = length >= 54 && frame[12] == 0x08 && frame[13] == 0 && frame[14] == 0x45;
    bool v6 = length >= 74 && frame[12] == 0x86 && frame[13] == 0xdd;
    guint8 protocol = v4 ? frame[23] : v6 ? frame[20] : 0;
    return protocol == 6 || protocol == 17 ? (v4 ? 34 : 54) : 0;
}

static guint port_at(const guint8 *p)
{
    return (guint)p[0] << 8 | p[1];
}

static guint server_port(const BbFrame *frame)
{
    guint at = frame->link_type == DLT_EN10MB ? transport_at(frame->data, frame->captured) : 0;
    return at ? MIN(port_at(frame->data + at), port_at(frame->data + at + 2)) : 0;
}

// All of a file, or a sample a server port.
static void read_file(const char *path, bool by_port, GPtrArray *samples)
{
    BbLoss loss = {0};
    BbFrame frame;
    const char *files[] = {path, NULL};
    BbSourceOptions options = bb_source_options_default();
    options.files = files;
    g_autoptr(BbSource) source = bb_source_open(&options, &loss, NULL);
    g_autoptr(GHashTable) known = g_hash_table_new(NULL, NULL);
    g_autofree char *base = g_path_get_basename(path);
    while (source && bb_source_next(source, &frame, NULL) == BB_SOURCE_FRAME) {
        guint port = by_port ? server_port(&frame) : 0;
        Sample *sample = g_hash_table_lookup(known, GUINT_TO_POINTER(port));
        if (!sample) {
            g_autofree char *name = port ? g_strdup_printf("%s:%u", base, port) : g_strdup(base);
            sample = sample_new(name, frame.link_type);
            g_hash_table_insert(known, GUINT_TO_POINTER(port), sample);
            g_ptr_array_add(samples, sample);
        }
        if (frame.link_type == sample->link_type)
            sample_add(sample, &frame);
    }
}

static void read_all(const char *path, GPtrArray *samples)
{
    g_autoptr(GDir) dir = g_dir_open(path, 0, NULL);
    for (const char *name = dir ? g_dir_read_name(dir) : NULL; name; name = g_dir_read_name(dir)) {
        g_autofree char *child = g_build_filename(path, name, NULL);
        read_all(child, samples);
    }
    if (!dir && strstr(path, ".pcap"))
        read_file(path, false, samples);
}

// ---- the large file -----------------------------------------------------------------------------

static guint32 get32(const guint8 *p)
{
    return (guint32)p[0] << 24 | (guint32)p[1] << 16 | (guint32)p[2] << 8 | p[3];
}

static void add32(guint8 *p, guint32 value)
{
    value += get32(p);
    for (guint i = 0; i < 4; i++)
        p[i] = (guint8)(value >> (24 - 8 * i));
}

// Copy number `copy` is of other connections: a client's port moves, or where there is none, the
// addresses do, and sequence numbers.
static void move_connection(guint8 *frame, guint32 length, guint32 copy)
{
    guint at = transport_at(frame, length);
    if (!at || !copy)
        return;
    guint source = port_at(frame + at), target = port_at(frame + at + 2);
    guint8 *client = frame + at + (source > target ? 0 : 2);
    if (MAX(source, target) >= SERVER_MAX) {
        guint port = SERVER_MAX + (MAX(source, target) - SERVER_MAX + copy * 41) % 28000;
        client[0] = (guint8)(port >> 8);
        client[1] = (guint8)port;
    } else {
        frame[at - 6] ^= (guint8)copy; // the last but one byte of each address
        frame[at - 2] ^= (guint8)copy;
    }
    if (frame[at == 34 ? 23 : 20] != 6)
        return;
    add32(frame + at + 4, copy * 0x01000193u);
    if (frame[at + 13] & 0x10)
        add32(frame + at + 8, copy * 0x01000193u);
}

static void write_copy(const Sample *sample, guint32 copy, FILE *out)
{
    for (guint i = 0; i < sample->frames->len; i++) {
        const GByteArray *record = sample->frames->pdata[i];
        g_autofree guint8 *bytes = g_memdup2(record->data, record->len);
        guint32 seconds;
        memcpy(&seconds, bytes, sizeof seconds);
        seconds += copy * 5; // copies follow each other in time
        memcpy(bytes, &seconds, sizeof seconds);
        if (sample->link_type == DLT_EN10MB)
            move_connection(bytes + 16, record->len - 16, copy);
        fwrite(bytes, 1, record->len, out);
    }
}

static char *write_large(const Sample *sample, gsize megabytes)
{
    guint32 head[6] = {0xa1b23c4d, 2 | 4 << 16, 0, 0, 262144, (guint32)sample->link_type};
    gsize size = sample->bytes + 16 * sample->frames->len;
    char *path = g_build_filename(g_get_tmp_dir(), "bench_protocols.XXXXXX", NULL);
    FILE *out = fdopen(g_mkstemp(path), "w");
    fwrite(head, 1, sizeof head, out);
    for (guint32 copy = 0; copy * size < megabytes << 20; copy++)
        write_copy(sample, copy, out);
    if (fclose(out) != 0)
        g_error("%s: the disk is full", path);
    return path;
}

// ---- the two loops ------------------------------------------------------------------------------

typedef struct Heard {
    BbNames *names;
    GHashTable *by_proto; // name -> messages
    guint64 messages;
} Heard;

static bool hear(const BbMessage *message, gpointer user, GError **error)
{
    Heard *heard = user;
    gpointer proto = GUINT_TO_POINTER(message->proto);
    gsize before = GPOINTER_TO_SIZE(g_hash_table_lookup(heard->by_proto, proto));
    g_hash_table_insert(heard->by_proto, proto, GSIZE_TO_POINTER(before + 1));
    heard->messages++;
    return true;
}

static void most_frequent(const Heard *heard, char *out, gsize size)
{
    GHashTableIter iter;
    gpointer key, value;
    gsize most = 0;
    g_strlcpy(out, "-", size);
    g_hash_table_iter_init(&iter, heard->by_proto);
    while (g_hash_table_iter_next(&iter, &key, &value))
        if (GPOINTER_TO_SIZE(value) > most) {
            most = GPOINTER_TO_SIZE(value);
            g_strlcpy(out, bb_names_text(heard->names, GPOINTER_TO_UINT(key)), size);
        }
}

static void run_bare(const char *path, Row *row)
{
    char message[PCAP_ERRBUF_SIZE];
    struct pcap_pkthdr *header;
    const guint8 *bytes;
    pcap_t *pcap =
        pcap_open_offline_with_tstamp_precision(path, PCAP_TSTAMP_PRECISION_NANO, message);
    while (pcap_next_ex(pcap, &header, &bytes) == 1) {
        row->packets++;
        row->bytes += header->caplen;
    }
    pcap_close(pcap);
}

static void run_capture(const char *path, Row *row)
{
    BbLoss loss = {0};
    BbFrame frame;
    const char *files[] = {path, NULL};
    BbSourceOptions source_options = bb_source_options_default();
    BbCaptureOptions options = bb_capture_options_default();
    source_options.files = files;
    g_autoptr(BbNames) names = bb_names_new();
    g_autoptr(BbNodes) nodes = bb_nodes_new(names, false);
    g_autoptr(BbSource) source = bb_source_open(&source_options, &loss, NULL);
    Heard heard = {.names = names, .by_proto = g_hash_table_new(NULL, NULL)};
    g_autoptr(BbCapture) capture = bb_capture_new(&options, names, nodes, &loss, hear, &heard);
    while (bb_source_next(source, &frame, NULL) == BB_SOURCE_FRAME)
        (void)bb_capture_frame(capture, &frame, NULL);
    (void)bb_capture_finish(capture, NULL);
    row->messages = heard.messages;
    most_frequent(&heard, row->proto, sizeof row->proto);
    g_hash_table_unref(heard.by_proto);
}

// CPU seconds of a process of its own, the fewest of some rounds.
static double measure(void (*run)(const char *, Row *), const char *path, Row *row)
{
    double least = G_MAXDOUBLE;
    for (guint round = 0; round < ROUNDS; round++) {
        int ends[2];
        struct rusage usage;
        Row told = *row;
        if (pipe(ends) != 0)
            abort();
        pid_t child = fork();
        if (child == 0) {
            run(path, &told);
            _exit(write(ends[1], &told, sizeof told) == (gssize)sizeof told ? 0 : 1);
        }
        if (read(ends[0], &told, sizeof told) != (gssize)sizeof told ||
            wait4(child, NULL, 0, &usage) != child)
            abort();
        close(ends[0]);
        close(ends[1]);
        least = MIN(least, (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
                               (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6);
        if (round + 1 == ROUNDS)
            *row = told;
    }
    return least;
}

// ---- the table ----------------------------------------------------------------------------------

static double per_packet(const Row *row)
{
    return row->capture_s / (double)MAX(row->packets, 1);
}

static double per_byte(const Row *row)
{
    return row->capture_s / (double)MAX(row->bytes, 1);
}

static gint by_cost(gconstpointer a, gconstpointer b)
{
    double x = per_packet(a), y = per_packet(b);
    return x < y ? 1 : x > y ? -1 : 0;
}

// The one with the most packets.
static const Row *find_http(const GArray *rows, guint count)
{
    const Row *found = NULL;
    for (guint i = 0; i < count; i++) {
        const Row *row = &g_array_index(rows, Row, i);
        if (strcmp(row->proto, "http") == 0 && (!found || row->messages > found->messages))
            found = row;
    }
    return found;
}

static void print_row(const Row *row, const Row *http)
{
    double packet = per_packet(row) / per_packet(http), byte = per_byte(row) / per_byte(http);
    printf("%-12s %-34s %7.2f %7.2f %6.0f %7.2f %7.2f %7.2f%s\n", row->proto, row->name,
           (double)row->packets / row->capture_s / 1e6,
           (double)row->messages / row->capture_s / 1e6, per_packet(row) * 1e9,
           row->capture_s / row->bare_s, packet, byte,
           packet > SLOW && byte > SLOW ? "  slow" : "");
}

int main(int argc, char **argv)
{
    if (argc < 3) {
        fputs("usage: bench_protocols SHOP MEGABYTES FOLDER|FILE...\n", stderr);
        return 2;
    }
    gsize megabytes = MAX((gsize)atoi(argv[2]), 1);
    g_autoptr(GPtrArray) samples = g_ptr_array_new_with_free_func(sample_free);
    g_autoptr(GArray) rows = g_array_new(FALSE, TRUE, sizeof(Row));
    read_file(argv[1], true, samples);
    guint of_shop = samples->len;
    for (int i = 3; i < argc; i++)
        read_all(argv[i], samples);
    for (guint i = 0; i < samples->len; i++) {
        const Sample *sample = samples->pdata[i];
        Row row = {.name = sample->name};
        if (sample->frames->len >= PACKETS_LEAST) {
            g_autofree char *path = write_large(sample, megabytes);
            row.bare_s = measure(run_bare, path, &row);
            row.capture_s = measure(run_capture, path, &row);
            unlink(path);
        }
        g_array_append_val(rows, row);
    }
    const Row *found = find_http(rows, of_shop);
    if (!found)
        g_error("%s: no HTTP in it", argv[1]);
    Row http = *found;
    g_array_sort(rows, by_cost);
    printf("%-12s %-34s %7s %7s %6s %7s %15s\n%-12s %-34s %7s %7s %6s %7s %7s %7s\n", "", "",
           "M pack.", "M mess.", "ns a", "of the", "times HTTP's, a", "protocol", "capture",
           "a CPU s", "a CPU s", "packet", "bare", "packet", "byte");
    for (guint i = 0; i < rows->len; i++) {
        const Row *row = &g_array_index(rows, Row, i);
        if (row->packets)
            print_row(row, &http);
    }
    return EXIT_SUCCESS;
}
