// SPDX-License-Identifier: Apache-2.0
// In: a network interface, through libpcap and its ring shared with the kernel (TPACKET_V3). Out:
// frames as they come, and what the kernel dropped.
#include "capture/sources/source_kind.h"

#include <net/if.h>
#include <poll.h>
#include <string.h>

// How long next() waits, and how long the kernel may hold back a block that is not full.
#define POLL_MS 100

// Intervals after a failure in which the kernel's last block, not full, may still come.
#define GRACE 3

// Frames after which libpcap's counters are read, long before their 32 bits wrap.
#define FRAMES_A_READING (1u << 24)

typedef struct {
    pcap_t *pcap; // NULL after it failed
    char *name;   // "interface eth1"
    BbLoss *loss; // lent
    gint64 unit_ns;
    int link_type;
    char *failure;         // libpcap's words, NULL while all is well
    guint grace;           // intervals to wait after it
    guint32 given;         // frames since the counters were read
    struct pcap_stat last; // as read before; libpcap's counters are 32 bits and wrap
} LiveSource;

// ---- opening ------------------------------------------------------------------------------------

static char *list_interfaces(void)
{
    g_autoptr(GString) text = g_string_new(NULL);
    struct if_nameindex *all = if_nameindex();
    for (struct if_nameindex *each = all; each && each->if_index != 0; each++)
        g_string_append_printf(text, "%s%s", text->len ? ", " : "", each->if_name);
    if (all)
        if_freenameindex(all);
    return g_string_free(g_steal_pointer(&text), FALSE);
}

static void explain_failure(pcap_t *pcap, const char *interface, int status, GError **error)
{
    bool is_any = strcmp(interface, "any") == 0;
    const char *text = pcap_geterr(pcap);
    if (!text || !*text)
        text = pcap_statustostr(status);
    if (status == PCAP_ERROR_NO_SUCH_DEVICE || (!is_any && if_nametoindex(interface) == 0)) {
        g_autofree char *list = list_interfaces();
        g_set_error(
            error, G_FILE_ERROR, G_FILE_ERROR_NODEV,
            "there is no interface %s to capture on; there are: %s, and any for all of them",
            interface, list);
    } else if (status == PCAP_ERROR_PERM_DENIED || status == PCAP_ERROR_PROMISC_PERM_DENIED) {
        g_set_error(
            error, G_FILE_ERROR, G_FILE_ERROR_PERM,
            "no permission to capture on interface %s (it takes CAP_NET_RAW): run with sudo, "
            "or allow it once with setcap cap_net_raw+ep PROGRAM",
            interface);
    } else if (status == PCAP_ERROR_IFACE_NOT_UP) {
        g_set_error(error, G_FILE_ERROR, G_FILE_ERROR_IO, "interface %s is down: ip link set %s up",
                    interface, interface);
    } else {
        g_set_error(error, G_FILE_ERROR, G_FILE_ERROR_IO,
                    "cannot capture on interface %s: %s; see ip link show %s", interface, text,
                    interface);
    }
}

// No immediate mode: it would make libpcap use TPACKET_V2, a slot of snaplen bytes a packet.
static int configure(pcap_t *pcap, const BbSourceOptions *options)
{
    pcap_set_snaplen(pcap, CLAMP(options->snaplen, 64, BB_SOURCE_SNAPLEN));
    pcap_set_promisc(pcap, options->promiscuous && strcmp(options->interface, "any") != 0);
    pcap_set_buffer_size(pcap, options->buffer_bytes);
    pcap_set_timeout(pcap, POLL_MS);
    (void)pcap_set_tstamp_precision(pcap, PCAP_TSTAMP_PRECISION_NANO); // else microseconds
    return pcap_activate(pcap);
}

static pcap_t *open_interface(const BbSourceOptions *options, GQueue *warnings, GError **error)
{
    char reason[PCAP_ERRBUF_SIZE] = "";
    pcap_t *pcap = pcap_create(options->interface, reason);
    if (!pcap) {
        g_set_error(error, G_FILE_ERROR, G_FILE_ERROR_NODEV, "cannot capture on interface %s: %s",
                    options->interface, reason);
        return NULL;
    }
    int status = configure(pcap, options);
    if (status < 0) {
        explain_failure(pcap, options->interface, status, error);
        pcap_close(pcap);
        return NULL;
    }
    if (status > 0)
        g_queue_push_tail(
            warnings,
            g_strdup_printf("interface %s: %s", options->interface,
                            status == PCAP_WARNING ? pcap_geterr(pcap) : pcap_statustostr(status)));
    return pcap;
}

static bool set_filter(const LiveSource *source, const char *filter, GError **error)
{
    struct bpf_program program = {0};
    if (!bb_source_compile(source->pcap, source->name, filter, &program, error))
        return false;
    int status = pcap_setfilter(source->pcap, &program);
    pcap_freecode(&program);
    if (status != 0)
        g_set_error(error, G_FILE_ERROR, G_FILE_ERROR_IO,
                    "%s: the filter \"%s\" cannot be installed: %s", source->name, filter,
                    pcap_geterr(source->pcap));
    return status == 0;
}

// A read with a timeout does not return while nothing comes: we poll, and read without waiting.
static bool set_nonblocking(const LiveSource *source, GError **error)
{
    char reason[PCAP_ERRBUF_SIZE] = "";
    if (pcap_setnonblock(source->pcap, 1, reason) == 0)
        return true;
    g_set_error(error, G_FILE_ERROR, G_FILE_ERROR_IO, "%s cannot be read without waiting: %s",
                source->name, reason);
    return false;
}

// ---- the kind -----------------------------------------------------------------------------------

static bool live_is_meant(const BbSourceOptions *options)
{
    return options->interface != NULL;
}

static void live_close(gpointer state)
{
    LiveSource *source = state;
    if (source->pcap)
        pcap_close(source->pcap);
    g_free(source->failure);
    g_free(source->name);
    g_free(source);
}

static gpointer live_open(const BbSourceOptions *options, BbLoss *loss, GQueue *warnings,
                          GError **error)
{
    pcap_t *pcap = open_interface(options, warnings, error);
    if (!pcap)
        return NULL;
    LiveSource *source = g_new0(LiveSource, 1);
    source->pcap = pcap;
    source->name = g_strdup_printf("interface %s", options->interface);
    source->loss = loss;
    source->link_type = pcap_datalink(pcap);
    bool nano = pcap_get_tstamp_precision(pcap) == PCAP_TSTAMP_PRECISION_NANO;
    source->unit_ns = nano ? 1 : 1000;
    if (!set_nonblocking(source, error) ||
        (options->filter && !set_filter(source, options->filter, error))) {
        live_close(source);
        return NULL;
    }
    bb_source_check_link(source->link_type, source->name, warnings);
    return source;
}

static void live_update_loss(gpointer state)
{
    LiveSource *source = state;
    struct pcap_stat now = {0};
    if (!source->pcap || pcap_stats(source->pcap, &now) != 0)
        return;
    guint64 *count = source->loss->count;
    count[BB_KERNEL_RECEIVED] += (guint32)(now.ps_recv - source->last.ps_recv);
    count[BB_KERNEL_DROPPED] += (guint32)(now.ps_drop - source->last.ps_drop);
    count[BB_INTERFACE_DROPPED] += (guint32)(now.ps_ifdrop - source->last.ps_ifdrop);
    source->last = now;
    source->given = 0;
}

static int read_now(LiveSource *source, struct pcap_pkthdr **header, const guint8 **data)
{
    int status = pcap_next_ex(source->pcap, header, data);
    if (status >= 0)
        return status;
    if (!source->failure) {
        source->failure = g_strdup(pcap_geterr(source->pcap));
        source->grace = GRACE;
    }
    return 0;
}

// Whether something came. After a failure the descriptor has no more to tell: only time passes.
static bool wait_for_more(const LiveSource *source)
{
    int fd = source->failure ? -1 : pcap_get_selectable_fd(source->pcap);
    struct pollfd wait = {.fd = fd, .events = POLLIN};
    return poll(&wait, 1, POLL_MS) > 0;
}

static BbSourceStatus live_next(gpointer state, BbFrame *frame, GError **error)
{
    LiveSource *source = state;
    if (!source->pcap)
        return BB_SOURCE_END;
    struct pcap_pkthdr *header = NULL;
    const guint8 *data = NULL;
    int status = read_now(source, &header, &data);
    if (status == 0 && wait_for_more(source))
        status = read_now(source, &header, &data);
    if (status == 1) {
        if (++source->given == FRAMES_A_READING)
            live_update_loss(source);
        bb_source_fill(frame, header, data, source->unit_ns, source->link_type);
        return BB_SOURCE_FRAME;
    }
    if (!source->failure || source->grace-- > 0)
        return BB_SOURCE_IDLE;
    g_set_error(error, G_FILE_ERROR, G_FILE_ERROR_IO,
                "%s: %s; what came before is kept, capture again when it is back", source->name,
                source->failure);
    live_update_loss(source);
    g_clear_pointer(&source->pcap, pcap_close);
    return BB_SOURCE_ERROR;
}

static const char *live_current(gpointer state)
{
    const LiveSource *source = state;
    return source->name;
}

static double live_progress(gpointer state)
{
    return -1;
}

const BbSourceKind bb_source_live = {
    .is_meant = live_is_meant,
    .open = live_open,
    .next = live_next,
    .update_loss = live_update_loss,
    .current = live_current,
    .progress = live_progress,
    .close = live_close,
};
