// SPDX-License-Identifier: Apache-2.0
// In: a network interface. Out: its frames as they come, what the kernel dropped, and whether the
// interface is still there.
#include "capture/sources/tap.h"

#include "capture/sources/sieve.h"
#include "capture/sources/source_kind.h"

#include <errno.h>
#include <linux/filter.h>
#include <net/if.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

// After a failure, time in which the kernel's last block, not full, may still come.
#define GRACE_US (3 * BB_TAP_BLOCK_MS * G_GINT64_CONSTANT(1000))

// Frames after which libpcap's counters are read, long before their 32 bits wrap.
#define FRAMES_A_READING (1u << 24)

struct BbTap {
    pcap_t *pcap;
    char *name;    // "interface eth1"
    guint ifindex; // 0: all interfaces at once
    bool twice;    // the kernel counts what leaves a loopback, and the same when it comes in
    gint64 unit_ns;
    int link_type;
    char *stamps;
    char *failure; // NULL while all is well
    gint64 failed_us;
    guint32 given;             // frames since the counters were read
    struct bpf_program filter; // of the options, as the kernel has it; may be empty
    struct pcap_stat last;     // as read before; libpcap's counters are 32 bits and wrap
};

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

// An interface that makes stamps in one way only has no list of ways.
static char *list_stamp_types(pcap_t *pcap)
{
    int *types = NULL;
    int count = pcap_list_tstamp_types(pcap, &types);
    g_autoptr(GString) text = g_string_new(count > 0 ? NULL : "host");
    for (int i = 0; i < count; i++) {
        const char *name = pcap_tstamp_type_val_to_name(types[i]);
        g_string_append_printf(text, "%s%s", i ? ", " : "", name ? name : "?");
    }
    if (count > 0)
        pcap_free_tstamp_types(types);
    return g_string_free(g_steal_pointer(&text), FALSE);
}

static bool set_stamp_type(pcap_t *pcap, const char *interface, const char *type, GError **error)
{
    int value = type ? pcap_tstamp_type_name_to_val(type) : PCAP_TSTAMP_HOST;
    if (!type || (value == PCAP_TSTAMP_HOST) ||
        (value >= 0 && pcap_set_tstamp_type(pcap, value) == 0))
        return true;
    g_autofree char *list = list_stamp_types(pcap);
    g_set_error(error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE,
                "interface %s makes no time stamps of type %s; those it makes: %s", interface, type,
                list);
    return false;
}

// No immediate mode: it would make libpcap use TPACKET_V2, a slot of snaplen bytes a packet.
static int configure(pcap_t *pcap, const BbSourceOptions *options, const char *interface)
{
    pcap_set_snaplen(pcap, CLAMP(options->snaplen, BB_SOURCE_SNAPLEN_LEAST, BB_SOURCE_SNAPLEN));
    pcap_set_promisc(pcap, options->promiscuous && strcmp(interface, "any") != 0);
    pcap_set_buffer_size(pcap, options->buffer_bytes);
    pcap_set_timeout(pcap, BB_TAP_BLOCK_MS);
    (void)pcap_set_tstamp_precision(pcap, PCAP_TSTAMP_PRECISION_NANO); // else microseconds
    return pcap_activate(pcap);
}

static pcap_t *open_interface(const BbSourceOptions *options, const char *interface,
                              GQueue *warnings, GError **error)
{
    char reason[PCAP_ERRBUF_SIZE] = "";
    pcap_t *pcap = pcap_create(interface, reason);
    if (!pcap) {
        g_set_error(error, G_FILE_ERROR, G_FILE_ERROR_NODEV, "cannot capture on interface %s: %s",
                    interface, reason);
        return NULL;
    }
    bool typed = set_stamp_type(pcap, interface, options->stamp_type, error);
    int status = typed ? configure(pcap, options, interface) : 0;
    if (status < 0)
        explain_failure(pcap, interface, status, error);
    if (!typed || status < 0) {
        pcap_close(pcap);
        return NULL;
    }
    if (status > 0)
        g_queue_push_tail(
            warnings,
            g_strdup_printf("interface %s: %s", interface,
                            status == PCAP_WARNING ? pcap_geterr(pcap) : pcap_statustostr(status)));
    return pcap;
}

G_STATIC_ASSERT(sizeof(struct bpf_insn) == sizeof(struct sock_filter));

static bool attach(const BbTap *tap, const struct bpf_program *program)
{
    const struct sock_fprog code = {.len = (unsigned short)program->bf_len,
                                    .filter = (struct sock_filter *)(gpointer)program->bf_insns};
    return setsockopt(pcap_fileno(tap->pcap), SOL_SOCKET, SO_ATTACH_FILTER, &code, sizeof code) ==
           0;
}

// What came between the opening of the interface and its filter was not asked for, but the kernel
// counted it: it is taken out of the ring, so that what is given is what was counted. A block that
// is not full comes by the kernel's clock; what libpcap leaves out of loopback does not come, and
// is waited for as long. All that is before the capture begins, on this interface.
static void drain(BbTap *tap)
{
    struct bpf_insn nothing = BPF_STMT(BPF_RET | BPF_K, 0);
    const struct bpf_program program = {.bf_len = 1, .bf_insns = &nothing};
    struct pcap_pkthdr *header = NULL;
    const guint8 *data = NULL;
    gint64 until_us = g_get_monotonic_time() + GRACE_US;
    if (!attach(tap, &program))
        return;
    g_usleep(G_TIME_SPAN_MILLISECOND); // what another processor had at hand is counted by then
    if (pcap_stats(tap->pcap, &tap->last) != 0)
        return;
    guint waiting = tap->last.ps_recv - tap->last.ps_drop;
    while (waiting > 0 && g_get_monotonic_time() < until_us) {
        int status = pcap_next_ex(tap->pcap, &header, &data);
        waiting -= status == 1;
        if (status < 0)
            return; // the filter will not be taken either, and libpcap says why
        if (status == 0)
            g_usleep(G_TIME_SPAN_MILLISECOND);
    }
}

static bool set_filter(BbTap *tap, const char *filter, GError **error)
{
    if (!bb_source_compile(tap->pcap, tap->name, filter, &tap->filter, error))
        return false;
    drain(tap);
    int status = pcap_setfilter(tap->pcap, &tap->filter);
    if (status != 0)
        g_set_error(error, G_FILE_ERROR, G_FILE_ERROR_IO,
                    "%s: the filter \"%s\" cannot be installed: %s", tap->name, filter,
                    pcap_geterr(tap->pcap));
    return status == 0;
}

// A read with a timeout does not return while nothing comes: we poll, and read without waiting.
static bool set_nonblocking(const BbTap *tap, GError **error)
{
    char reason[PCAP_ERRBUF_SIZE] = "";
    if (pcap_setnonblock(tap->pcap, 1, reason) == 0)
        return true;
    g_set_error(error, G_FILE_ERROR, G_FILE_ERROR_IO, "%s cannot be read without waiting: %s",
                tap->name, reason);
    return false;
}

static char *name_stamps(const char *type, bool nano)
{
    int value = type ? pcap_tstamp_type_name_to_val(type) : PCAP_TSTAMP_HOST;
    const char *clock = "the host clock";
    if (value == PCAP_TSTAMP_ADAPTER)
        clock = "the adapter, in step with the host clock";
    else if (value == PCAP_TSTAMP_ADAPTER_UNSYNCED)
        clock = "the adapter's own clock";
    return g_strdup_printf("time stamps of %s (%s), in %s", clock,
                           pcap_tstamp_type_val_to_name(value),
                           nano ? "nanoseconds" : "microseconds");
}

// By its number: the name may be another by now. Returns false with errno where it is gone.
static bool ask_flags(const BbTap *tap, struct ifreq *request)
{
    int fd = pcap_fileno(tap->pcap);
    *request = (struct ifreq){.ifr_ifindex = (int)tap->ifindex};
    return ioctl(fd, SIOCGIFNAME, request) == 0 && ioctl(fd, SIOCGIFFLAGS, request) == 0;
}

BbTap *bb_tap_open(const BbSourceOptions *options, const char *interface, GQueue *warnings,
                   GError **error)
{
    pcap_t *pcap = open_interface(options, interface, warnings, error);
    if (!pcap)
        return NULL;
    BbTap *tap = g_new0(BbTap, 1);
    tap->pcap = pcap;
    tap->name = g_strdup_printf("interface %s", interface);
    tap->ifindex = strcmp(interface, "any") == 0 ? 0 : if_nametoindex(interface);
    tap->link_type = pcap_datalink(pcap);
    struct ifreq request;
    tap->twice = tap->ifindex && ask_flags(tap, &request) && (request.ifr_flags & IFF_LOOPBACK);
    bool nano = pcap_get_tstamp_precision(pcap) == PCAP_TSTAMP_PRECISION_NANO;
    tap->unit_ns = nano ? 1 : 1000;
    tap->stamps = name_stamps(options->stamp_type, nano);
    if (!set_nonblocking(tap, error) ||
        (options->filter && !set_filter(tap, options->filter, error))) {
        bb_tap_free(tap);
        return NULL;
    }
    bb_source_check_link(tap->link_type, tap->name, warnings);
    return tap;
}

void bb_tap_free(BbTap *tap)
{
    if (!tap)
        return;
    pcap_close(tap->pcap);
    pcap_freecode(&tap->filter);
    g_free(tap->stamps);
    g_free(tap->failure);
    g_free(tap->name);
    g_free(tap);
}

// ---- reading ------------------------------------------------------------------------------------

static void fail(BbTap *tap, const char *words)
{
    if (tap->failure)
        return;
    tap->failure = g_strdup(words);
    tap->failed_us = g_get_monotonic_time();
}

BbTapStatus bb_tap_next(BbTap *tap, BbFrame *frame)
{
    struct pcap_pkthdr *header = NULL;
    const guint8 *data = NULL;
    int status = pcap_next_ex(tap->pcap, &header, &data);
    if (G_LIKELY(status == 1)) {
        tap->given++;
        bb_source_fill(frame, header, data, tap->unit_ns, tap->link_type);
        return BB_TAP_FRAME;
    }
    if (status < 0)
        fail(tap, pcap_geterr(tap->pcap));
    if (!tap->failure || g_get_monotonic_time() - tap->failed_us < GRACE_US)
        return BB_TAP_EMPTY;
    return BB_TAP_GONE;
}

// An interface that was set down and is removed then gives libpcap no second error.
BbTapState bb_tap_state(BbTap *tap)
{
    struct ifreq request;
    if (tap->failure)
        return BB_TAP_REMOVED;
    if (tap->ifindex == 0)
        return BB_TAP_UNKNOWN;
    if (ask_flags(tap, &request))
        return !(request.ifr_flags & IFF_UP)     ? BB_TAP_DOWN
               : request.ifr_flags & IFF_RUNNING ? BB_TAP_UP
                                                 : BB_TAP_DEAF;
    if (errno != ENODEV && errno != ENXIO)
        return BB_TAP_UNKNOWN;
    fail(tap, "The interface disappeared");
    return BB_TAP_REMOVED;
}

const char *bb_tap_failure(const BbTap *tap)
{
    return tap->failure;
}

int bb_tap_descriptor(const BbTap *tap)
{
    return tap->failure ? -1 : pcap_get_selectable_fd(tap->pcap);
}

// ---- narrowing ----------------------------------------------------------------------------------

static void widen(const BbTap *tap)
{
    int none = 0;
    if (!tap->filter.bf_len || !attach(tap, &tap->filter)) // which libpcap would then do itself
        (void)setsockopt(pcap_fileno(tap->pcap), SOL_SOCKET, SO_DETACH_FILTER, &none, sizeof none);
}

// socket(7): what a socket may take beside its buffers. The old filter and the new one count.
#define OPTMEM                                                                                    \
    "net.core.optmem_max is too small for the filter (Linux before 6.8: 20480; 131072 is enough " \
    "for any): raise it by sysctl and start again"

// Not by pcap_setfilter: it lets nothing through for a moment, so that nothing of the old filter
// comes after it, and what comes then is lost and counted by nobody. The kernel itself puts one
// program in place of the other at once, and programs for Ethernet need none of libpcap's mending.
bool bb_tap_narrow(BbTap *tap, const BbSourceOptions *options, const GArray *addresses,
                   GError **error)
{
    const BbSieve sieve = {.addresses = (const BbAddress *)(gconstpointer)addresses->data,
                           .n_addresses = addresses->len,
                           .tunnels = options->tunnels,
                           .n_tunnels = options->n_tunnels,
                           .then = &tap->filter,
                           .snaplen = (guint)pcap_snapshot(tap->pcap)};
    struct bpf_program program = {0};
    const char *reason = NULL;
    if (tap->link_type != DLT_EN10MB)
        reason = "the interface is not of Ethernet";
    else if (!bb_sieve_build(&sieve, &program))
        reason = "they are too many";
    else if (!attach(tap, &program))
        reason = errno == ENOMEM ? OPTMEM : g_strerror(errno);
    g_free(program.bf_insns);
    if (!reason)
        return true;
    widen(tap);
    g_set_error_literal(error, G_FILE_ERROR, G_FILE_ERROR_FAILED, reason);
    return false;
}

// ---- counting -----------------------------------------------------------------------------------

// What the interface counts starts again where it was made anew, or where nobody may read it any
// more: no packet was dropped by that.
static guint32 grown(guint now, guint before)
{
    guint32 more = (guint32)(now - before);
    return more > G_MAXINT32 ? 0 : more;
}

void bb_tap_count(BbTap *tap, BbLoss *loss)
{
    struct pcap_stat now = {0};
    if (pcap_stats(tap->pcap, &now) != 0)
        return;
    guint32 received = now.ps_recv - tap->last.ps_recv, dropped = now.ps_drop - tap->last.ps_drop;
    // Half a packet of a loopback waits for its other half; half of one that was dropped may be the
    // half that would have been given.
    now.ps_recv -= tap->twice ? received % 2 : 0;
    loss->count[BB_KERNEL_RECEIVED] += tap->twice ? received / 2 : received;
    loss->count[BB_KERNEL_DROPPED] += tap->twice ? dropped / 2 + dropped % 2 : dropped;
    loss->count[BB_INTERFACE_DROPPED] += grown(now.ps_ifdrop, tap->last.ps_ifdrop);
    tap->last = now;
    tap->given = 0;
}

bool bb_tap_count_is_due(const BbTap *tap)
{
    return tap->given >= FRAMES_A_READING;
}

const char *bb_tap_stamps(const BbTap *tap)
{
    return tap->stamps;
}
