// SPDX-License-Identifier: Apache-2.0
// In: a file that should be a capture. Out: its frames, or one clear sentence about what it is.
#include "capture/sources/savefile.h"

#include "capture/sources/pcap_records.h"
#include "capture/sources/pcapng.h"
#include "capture/sources/source_kind.h"
#include "data/input.h"

#include <fcntl.h>
#include <stdio_ext.h>
#include <sys/stat.h>
#include <unistd.h>

#define STDIO_BYTES ((gsize)1024 * 1024)
#define LINKS_WARNED 8 // link types of one file that may give a warning
#define HEAD_BYTES 24  // a pipe may hold no more than the header of pcap for long

// A link type of the file, and what the filter is for it.
typedef struct {
    int type;
    bool usable; // the filter could be compiled for it
    struct bpf_program program;
} Link;

struct BbSavefile {
    char *name;
    const char *filter; // lent, or NULL
    GQueue *warnings;   // lent
    char *stdio_buffer;
    char *damage;    // set while reading, by data/input.c
    int position;    // descriptor that shares the file's offset
    BbInput *pipe;   // of pcapng's stream, which owns it; NULL of a regular file
    BbInput *packed; // of whoever reads it, who owns it; NULL where it is not packed
    bool cut;
    guint64 packets;
    pcap_t *pcap; // one of the three reads the file
    BbPcapRecords *records;
    BbPcapng *pcapng;
    GArray *links; // as they come
    Link *link;    // that of the last frame
};

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

static BbInput *open_input(BbSavefile *file, const char *path, guint8 head[HEAD_BYTES],
                           gsize *head_length, GError **error)
{
    g_autoptr(BbInput) input = bb_input_open(path, error);
    if (!input)
        return NULL;
    file->name = g_strdup(bb_input_name(input));
    *head_length = bb_input_peek(input, head, HEAD_BYTES);
    file->position = fcntl(bb_input_descriptor(input), F_DUPFD_CLOEXEC, 0);
    if (*head_length > 0)
        return g_steal_pointer(&input);
    const char *damage = bb_input_damage(input);
    if (damage)
        g_set_error(error, G_FILE_ERROR, G_FILE_ERROR_INVAL,
                    "%s: nothing could be read, fetch or make it again", damage);
    else
        g_set_error(error, G_FILE_ERROR, G_FILE_ERROR_INVAL,
                    "%s is empty: what should have written a capture to it did not", file->name);
    return NULL;
}

static FILE *open_stream(BbSavefile *file, BbInput *input, GError **error)
{
    bool is_regular = bb_input_is_regular(input);
    FILE *stream = bb_input_take_file(input, &file->damage, error);
    if (!stream) {
        bb_input_free(input);
        return NULL;
    }
    file->stdio_buffer = g_malloc(STDIO_BYTES);
    // Both make many small reads cheap; they fail only on streams in use.
    (void)setvbuf(stream, file->stdio_buffer, _IOFBF, STDIO_BYTES);
    (void)__fsetlocking(stream, FSETLOCKING_BYCALLER);
    file->pipe = is_regular ? NULL : input;
    return stream;
}

// Compiles the filter for a link type that was not there before, and makes it the current one.
static bool add_link(BbSavefile *file, int type, GError **error)
{
    Link link = {.type = type};
    if (file->links->len < LINKS_WARNED)
        bb_source_check_link(type, file->name, file->warnings);
    if (file->filter) {
        pcap_t *dead = pcap_open_dead(type, BB_SOURCE_SNAPLEN);
        link.usable = bb_source_compile(dead, file->name, file->filter, &link.program, error);
        pcap_close(dead);
    }
    g_array_append_val(file->links, link);
    file->link = &g_array_index(file->links, Link, file->links->len - 1);
    return !file->filter || link.usable;
}

static bool open_pcapng(BbSavefile *file, FILE *stream, const guint8 *head, gsize head_length,
                        BbLoss *loss, GError **error)
{
    file->pcapng = bb_pcapng_new(stream, loss);
    int link_type = bb_pcapng_first_link(file->pcapng);
    const char *reason = bb_pcapng_reason(file->pcapng);
    if (link_type < 0 && *reason)
        refuse(file->name, head, head_length, file->damage ? file->damage : reason, error);
    return link_type < 0 ? !*reason : add_link(file, link_type, error);
}

static bool open_form(BbSavefile *file, const char *path, BbLoss *loss, GError **error)
{
    static const guint8 section[4] = {0x0a, 0x0d, 0x0d, 0x0a};
    guint8 head[HEAD_BYTES];
    gsize head_length = 0;
    BbInput *input = open_input(file, path, head, &head_length, error);
    if (!input)
        return false;
    file->packed = bb_input_is_packed(input) ? input : NULL;
    if (bb_pcap_records_match(head, head_length)) {
        file->records = bb_pcap_records_new(input);
        return add_link(file, bb_pcap_records_link(file->records), error);
    }
    FILE *stream = open_stream(file, input, error);
    if (!stream)
        return false;
    if (head_length >= sizeof section && memcmp(head, section, sizeof section) == 0)
        return open_pcapng(file, stream, head, head_length, loss, error);
    char reason[PCAP_ERRBUF_SIZE] = "";
    file->pcap =
        pcap_fopen_offline_with_tstamp_precision(stream, PCAP_TSTAMP_PRECISION_NANO, reason);
    if (file->pcap)
        return add_link(file, pcap_datalink(file->pcap), error);
    fclose(stream);
    if (head_length < HEAD_BYTES && g_str_has_prefix(reason, "truncated"))
        g_snprintf(reason, sizeof reason,
                   "it breaks off after %" G_GSIZE_FORMAT " bytes, within its head", head_length);
    refuse(file->name, head, head_length, file->damage ? file->damage : reason, error);
    return false;
}

BbSavefile *bb_savefile_open(const char *path, const char *filter, BbLoss *loss, GQueue *warnings,
                             GError **error)
{
    BbSavefile *file = g_new0(BbSavefile, 1);
    file->filter = filter;
    file->warnings = warnings;
    file->links = g_array_new(FALSE, FALSE, sizeof(Link));
    file->position = -1;
    if (!open_form(file, path, loss, error))
        g_clear_pointer(&file, bb_savefile_free);
    return file;
}

void bb_savefile_free(BbSavefile *file)
{
    if (!file)
        return;
    for (guint i = 0; i < file->links->len; i++)
        pcap_freecode(&g_array_index(file->links, Link, i).program);
    g_array_unref(file->links);
    g_clear_pointer(&file->pcap, pcap_close);
    bb_pcapng_free(file->pcapng);
    bb_pcap_records_free(file->records);
    if (file->position >= 0)
        close(file->position);
    g_free(file->damage);
    g_free(file->stdio_buffer);
    g_free(file->name);
    g_free(file);
}

// ---- reading ------------------------------------------------------------------------------------

// The frame that comes next in the file, or whether that ended well.
static bool read_frame(BbSavefile *file, BbFrame *frame)
{
    if (G_LIKELY(file->records)) {
        BbPcapStatus status = bb_pcap_records_next(file->records, frame);
        file->cut = status == BB_PCAP_BAD;
        return status == BB_PCAP_FRAME;
    }
    if (file->pcapng) {
        BbPcapngStatus status = bb_pcapng_next(file->pcapng, frame);
        file->cut = status == BB_PCAPNG_BAD;
        return status == BB_PCAPNG_FRAME;
    }
    struct pcap_pkthdr *header = NULL;
    const guint8 *data = NULL;
    int status = pcap_next_ex(file->pcap, &header, &data);
    if (G_UNLIKELY(status != 1)) {
        file->cut = status != PCAP_ERROR_BREAK; // which is how pcap_next_ex tells the end
        return false;
    }
    bb_source_fill(frame, header, data, 1, file->link->type);
    return true;
}

// Makes the link type of a frame the current one. One that is new and not for this filter is told.
static void switch_link(BbSavefile *file, int type)
{
    for (guint i = 0; i < file->links->len; i++) {
        file->link = &g_array_index(file->links, Link, i);
        if (file->link->type == type)
            return;
    }
    g_autoptr(GError) error = NULL;
    if (!add_link(file, type, &error) && file->links->len <= LINKS_WARNED)
        g_queue_push_tail(file->warnings, g_strdup_printf("%s; frames of link type %d are left out",
                                                          error->message, type));
}

static bool passes(const Link *link, const BbFrame *frame)
{
    struct pcap_pkthdr header = {.caplen = frame->captured, .len = frame->length};
    return link->usable && pcap_offline_filter(&link->program, &header, frame->data) != 0;
}

BbSavefileStatus bb_savefile_next(BbSavefile *file, BbFrame *frame)
{
    if (!read_frame(file, frame)) {
        if (file->cut && file->packed) // xz checks a block at its end, and gives what it has before
            bb_input_check_rest(file->packed);
        return BB_SAVEFILE_END;
    }
    file->packets++;
    frame->place = (BbPlace){.frame = (guint32)MIN(file->packets, G_MAXUINT32)};
    if (G_UNLIKELY(!file->link || frame->link_type != file->link->type))
        switch_link(file, frame->link_type);
    return !file->filter || passes(file->link, frame) ? BB_SAVEFILE_FRAME : BB_SAVEFILE_REFUSED;
}

bool bb_savefile_is_mixed(const BbSavefile *file)
{
    return file->pcapng && bb_pcapng_interfaces(file->pcapng) > 1;
}

bool bb_savefile_is_silent(const BbSavefile *file, int timeout_ms)
{
    return file->pipe && file->pcapng &&
           bb_input_is_silent(file->pipe, bb_pcapng_taken(file->pcapng), timeout_ms);
}

char *bb_savefile_damage(const BbSavefile *file)
{
    if (!file->cut && !file->damage)
        return NULL;
    const char *packed = file->packed ? bb_input_damage(file->packed) : NULL;
    bool doubtful = file->packed && bb_input_is_doubtful(file->packed);
    const char *reason = packed          ? packed
                         : file->records ? bb_pcap_records_reason(file->records)
                         : file->pcapng  ? bb_pcapng_reason(file->pcapng)
                                         : pcap_geterr(file->pcap);
    return g_strdup_printf("%s breaks off in packet %" G_GUINT64_FORMAT
                           " (%s); the packets before it are used%s",
                           file->name, file->packets + 1, reason,
                           doubtful ? ", and some of them may be damaged, too" : "");
}

const char *bb_savefile_name(const BbSavefile *file)
{
    return file->name;
}

guint64 bb_savefile_position(const BbSavefile *file)
{
    return file->position < 0 ? 0 : (guint64)MAX(lseek(file->position, 0, SEEK_CUR), 0);
}

guint64 bb_savefile_size(const BbSavefile *file)
{
    struct stat about = {0};
    return file->position < 0 || fstat(file->position, &about) < 0 ? 0 : (guint64)about.st_size;
}
