// SPDX-License-Identifier: Apache-2.0
// In: capture files and pipes (pcap, pcapng, packed or not), one after the other. Out: their
// frames, and one clear sentence about each file that is no capture or breaks off.
#include "capture/source_kind.h"
#include "data/input.h"

#include <fcntl.h>
#include <stdio_ext.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define STDIO_BYTES ((gsize)1024 * 1024)
#define HEAD_BYTES 24 // a pipe may hold no more than the header of pcap for long

// After so many frames that the filter refused the caller gets a chance to look around (signals).
#define REFUSED_IN_A_ROW 65536

typedef struct {
    const char *const *files; // lent; the next one to open
    const char *filter;       // lent, or NULL
    BbLoss *loss;             // lent
    GQueue *warnings;         // lent
    GError *pending;          // why the first file could not be opened, to be told by next()
    char *stdio_buffer;
    guint64 bytes_total; // of all files; 0 where one of them is a pipe
    guint64 bytes_done;  // of the files that are closed

    // The file that is open, pcap being NULL where none is.
    pcap_t *pcap;
    char *name;
    char *damage; // set while reading, by data/input.c
    struct bpf_program program;
    guint64 packets;
    int link_type;
    int position; // descriptor that shares the file's offset
} FileSource;

// ---- what is this file, if not a capture? -------------------------------------------------------

typedef struct {
    const char *magic;
    gsize length;
    const char *sentence;
} Stranger;

static const Stranger strangers[] = {
    {"# bbtrace text", 14,
     "is a bbtrace trace already, not a packet capture: give it to bbpaths or bbtrace info"},
    {"\x89"
     "BBT",
     4, "is a bbtrace trace already, not a packet capture: give it to bbpaths or bbtrace info"},
    {"BZh", 3, "is packed with bzip2, which is not read here: unpack it with bunzip2 first"},
    {"PK\x03\x04", 4, "is a zip archive: unpack it with unzip first"},
    {"snoop\0\0\0", 8, "is a snoop capture: convert it with editcap -F pcap first"},
    {"GMBU", 4, "is a Network Monitor capture: convert it with editcap -F pcap first"},
    {"RTSS", 4, "is a Network Monitor capture: convert it with editcap -F pcap first"},
};

static bool looks_like_text(const guint8 *head, gsize length)
{
    for (gsize i = 0; i < length; i++)
        if (head[i] < 0x20 ? !strchr("\t\n\r", head[i]) || head[i] == 0 : head[i] == 0x7f)
            return false;
    return length > 0;
}

// Says what the bytes at the front of a file are that libpcap refused with reason.
static void refuse(const char *name, const guint8 *head, gsize length, const char *reason,
                   GError **error)
{
    for (gsize i = 0; i < G_N_ELEMENTS(strangers); i++)
        if (length >= strangers[i].length &&
            memcmp(head, strangers[i].magic, strangers[i].length) == 0) {
            g_set_error(error, G_FILE_ERROR, G_FILE_ERROR_INVAL, "%s %s", name,
                        strangers[i].sentence);
            return;
        }
    if (looks_like_text(head, length))
        g_set_error(error, G_FILE_ERROR, G_FILE_ERROR_INVAL,
                    "%s is a text file, not a packet capture; write captures with tcpdump -w",
                    name);
    else
        g_set_error(error, G_FILE_ERROR, G_FILE_ERROR_INVAL,
                    "%s is not a packet capture that can be read (%s); pcap and pcapng can, others "
                    "after editcap -F pcap",
                    name, reason);
}

// ---- opening ------------------------------------------------------------------------------------

static FILE *open_stream(FileSource *source, const char *path, guint8 head[HEAD_BYTES],
                         gsize *head_length, GError **error)
{
    g_autoptr(BbInput) input = bb_input_open(path, error);
    if (!input)
        return NULL;
    g_free(source->name);
    source->name = g_strdup(bb_input_name(input));
    *head_length = bb_input_peek(input, head, HEAD_BYTES);
    if (*head_length == 0 && bb_input_damage(input)) {
        g_set_error(error, G_FILE_ERROR, G_FILE_ERROR_INVAL,
                    "%s: nothing could be read, fetch or make it again", bb_input_damage(input));
        return NULL;
    }
    source->position = fcntl(bb_input_descriptor(input), F_DUPFD_CLOEXEC, 0);
    FILE *file = bb_input_take_file(input, &source->damage, error);
    if (!file)
        return NULL;
    (void)g_steal_pointer(&input);
    // Both make the many small reads of libpcap cheap; they fail only on streams in use.
    (void)setvbuf(file, source->stdio_buffer, _IOFBF, STDIO_BYTES);
    (void)__fsetlocking(file, FSETLOCKING_BYCALLER);
    return file;
}

static void close_file(FileSource *source)
{
    if (source->position >= 0) {
        struct stat about = {0};
        if (fstat(source->position, &about) == 0)
            source->bytes_done += (guint64)about.st_size;
        close(source->position);
    }
    pcap_freecode(&source->program);
    g_clear_pointer(&source->pcap, pcap_close);
    g_clear_pointer(&source->damage, g_free);
    source->position = -1;
    source->packets = 0;
}

static pcap_t *open_pcap(FileSource *source, const char *path, GError **error)
{
    guint8 head[HEAD_BYTES];
    gsize head_length = 0;
    FILE *file = open_stream(source, path, head, &head_length, error);
    if (!file)
        return NULL;
    char reason[PCAP_ERRBUF_SIZE] = "";
    pcap_t *pcap =
        pcap_fopen_offline_with_tstamp_precision(file, PCAP_TSTAMP_PRECISION_NANO, reason);
    if (pcap)
        return pcap;
    fclose(file);
    if (head_length == 0)
        g_set_error(error, G_FILE_ERROR, G_FILE_ERROR_INVAL,
                    "%s is empty: what should have written a capture to it did not", source->name);
    else
        refuse(source->name, head, head_length, source->damage ? source->damage : reason, error);
    return NULL;
}

// Opens the next file. Afterwards that file is behind us, whether it could be opened or not.
static bool open_next(FileSource *source, GError **error)
{
    const char *path = *source->files++;
    g_free(source->name);
    source->name = g_strdup(path);
    source->pcap = open_pcap(source, path, error);
    if (!source->pcap ||
        (source->filter &&
         !bb_source_compile(source->pcap, source->name, source->filter, &source->program, error))) {
        close_file(source);
        return false;
    }
    source->link_type = pcap_datalink(source->pcap);
    bb_source_check_link(source->pcap, source->name, source->warnings);
    return true;
}

// Bytes of all the files, 0 where that cannot be known.
static guint64 total_size(const char *const *files)
{
    guint64 total = 0;
    for (; *files; files++) {
        struct stat about = {0};
        if (strcmp(*files, "-") == 0 || stat(*files, &about) < 0 || !S_ISREG(about.st_mode))
            return 0;
        total += (guint64)about.st_size;
    }
    return total;
}

// ---- the kind -----------------------------------------------------------------------------------

static bool file_is_meant(const BbSourceOptions *options)
{
    return options->files && options->files[0];
}

static void file_close(gpointer state)
{
    FileSource *source = state;
    close_file(source);
    g_clear_error(&source->pending);
    g_free(source->stdio_buffer);
    g_free(source->name);
    g_free(source);
}

static gpointer file_open(const BbSourceOptions *options, BbLoss *loss, GQueue *warnings,
                          GError **error)
{
    FileSource *source = g_new0(FileSource, 1);
    source->files = options->files;
    source->filter = options->filter;
    source->loss = loss;
    source->warnings = warnings;
    source->stdio_buffer = g_malloc(STDIO_BYTES);
    source->bytes_total = total_size(options->files);
    source->position = -1;
    if (open_next(source, &source->pending))
        return source;
    bool is_usage = g_error_matches(source->pending, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE);
    if (!is_usage && *source->files)
        return source; // told by the first next(): the other files may be good
    g_propagate_error(error, g_steal_pointer(&source->pending));
    file_close(source);
    return NULL;
}

// The end of a file, by pcap_next_ex: -2 is a clean one, unless what was packed broke off.
static void end_file(FileSource *source, int status)
{
    const char *reason = source->damage               ? source->damage
                         : status == PCAP_ERROR_BREAK ? NULL
                                                      : pcap_geterr(source->pcap);
    if (reason) {
        source->loss->count[BB_SOURCE_CUT]++;
        g_queue_push_tail(source->warnings,
                          g_strdup_printf("%s breaks off in packet %" G_GUINT64_FORMAT
                                          " (%s); the packets before it are used",
                                          source->name, source->packets + 1, reason));
    }
    close_file(source);
}

static BbSourceStatus file_next(gpointer state, BbFrame *frame, GError **error)
{
    FileSource *source = state;
    guint refused = 0;
    if (G_UNLIKELY(source->pending)) {
        g_propagate_error(error, g_steal_pointer(&source->pending));
        return BB_SOURCE_ERROR;
    }
    while (true) {
        if (G_UNLIKELY(!source->pcap)) {
            if (!*source->files)
                return BB_SOURCE_END;
            if (!open_next(source, error))
                return BB_SOURCE_ERROR;
        }
        struct pcap_pkthdr *header = NULL;
        const guint8 *data = NULL;
        int status = pcap_next_ex(source->pcap, &header, &data);
        if (G_UNLIKELY(status != 1)) {
            end_file(source, status);
            continue;
        }
        source->packets++;
        if (!source->filter || pcap_offline_filter(&source->program, header, data) != 0) {
            bb_source_fill(frame, header, data, 1, source->link_type);
            return BB_SOURCE_FRAME;
        }
        if (++refused == REFUSED_IN_A_ROW)
            return BB_SOURCE_IDLE;
    }
}

static const char *file_current(gpointer state)
{
    const FileSource *source = state;
    return source->name ? source->name : *source->files ? *source->files : "";
}

static double file_progress(gpointer state)
{
    const FileSource *source = state;
    if (source->bytes_total == 0)
        return -1;
    guint64 done = source->bytes_done;
    if (source->position >= 0)
        done += (guint64)MAX(lseek(source->position, 0, SEEK_CUR), 0);
    return MIN((double)done / (double)source->bytes_total, 1.0);
}

const BbSourceKind bb_source_file = {
    .is_meant = file_is_meant,
    .open = file_open,
    .next = file_next,
    .current = file_current,
    .progress = file_progress,
    .close = file_close,
};
