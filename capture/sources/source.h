// SPDX-License-Identifier: Apache-2.0
// Where frames come from: capture files and pipes (pcap, pcapng, also compressed; several in a row
// are one capture) and interfaces, through libpcap.
#pragma once

#include "capture/layers/layer.h"

typedef struct BbSource BbSource;

typedef enum {
    BB_SOURCE_FRAME, // *frame is filled, lent until the next call
    BB_SOURCE_IDLE,  // live: nothing came within the poll interval (100 ms) or a signal arrived;
                     // file: the filter refused many frames in a row, or nothing came for so long
                     // by a pipe with frames of several interfaces. Call again
    BB_SOURCE_END,   // no more frames
    BB_SOURCE_ERROR, // error is set
} BbSourceStatus;

typedef struct BbSourceOptions {
    const char *const *files; // -r, NULL-terminated, lent while the source lives; or NULL
    // -i, NULL-terminated, likewise lent; or NULL. Several are read at once, in the order of their
    // stamps as far as a short wait allows (capture/sources/heads.h).
    const char *const *interfaces;
    const char *filter;     // pcap-filter(7) expression, lent, or NULL
    const char *stamp_type; // live: as pcap-tstamp(7) names it, lent; NULL: host
    int snaplen;            // bytes a packet, live
    int buffer_bytes;       // ring of the kernel, live, for each interface
    bool promiscuous;
    const BbTunnelAt *tunnels; // as of bb_layers_name_tunnels: for bb_source_narrow
    guint n_tunnels;
    // Live: an interface that was removed is waited for, and opened again when one of its name is
    // there. That takes rights, and system calls (socket(2)): not for a confined process. Without
    // it such an interface is over, and the last one is the end.
    bool reopen;
} BbSourceOptions;

#define BB_SOURCE_SNAPLEN 262144
#define BB_SOURCE_SNAPLEN_LEAST 64 // live; fewer hold no header of TCP
#define BB_SOURCE_BUFFER (64 * 1024 * 1024)
#define BB_SOURCE_INTERFACES 64u // at once, at most

BbSourceOptions bb_source_options_default(void);

// Opens all interfaces, or the first of the files. Fails where nothing could be read at all: no
// such interface, no permission, a filter that does not compile (G_OPTION_ERROR), the only file
// there is cannot be read. loss is lent.
BbSource *bb_source_open(const BbSourceOptions *options, BbLoss *loss, GError **error);
void bb_source_free(BbSource *source);

// A file that cannot be opened or is no capture is an error (BB_SOURCE_ERROR) that names it; the
// next call goes on with the file after it, so that nothing good is lost. A file that breaks off
// gives what it holds, a warning (see below) and the next file.
// An interface that goes down goes on when it is up again; one that is removed does not end the
// others: both are warnings, and counted (BB_INTERFACE_OUTAGES).
BbSourceStatus bb_source_next(BbSource *source, BbFrame *frame, GError **error);

// A warning to print (file that breaks off, link type unknown, ...), yours to free, or NULL.
char *bb_source_take_warning(BbSource *source);

// Live: brings the kernel's counters in loss up to date; call it as often as you like.
// BB_KERNEL_RECEIVED counts packets that passed the filter, those that were then dropped
// (BB_KERNEL_DROPPED) included: frames given = received - dropped - waiting in the ring. On the
// loopback interface the kernel counts each packet twice (out and in), and one is given. Counts of
// several interfaces are summed.
void bb_source_update_loss(BbSource *source);

// Live: from now on the kernel lets only those frames through that may have a packet from or to one
// of the addresses in them, perhaps in a tunnel, and that pass the filter of the options; for files
// nothing changes. It lets too much through (capture/sources/sieve.h; and what it has let through
// before still comes), never too little, and loses nothing while the one takes the other's place.
// Where an interface is not of Ethernet, or the addresses are too many for the kernel, the filter
// of the options alone holds there, with a warning, once. addresses may go afterwards.
void bb_source_narrow(BbSource *source, const BbAddress *addresses, guint count);

// Files: no more is read. What waits for frames of other interfaces is still given, then the end.
void bb_source_stop(BbSource *source);

// No more is read: likewise, and of several interfaces each that dropped packets gives a warning.
void bb_source_end(BbSource *source);

// Live: the packet sockets, to which nothing is ever written. Returns how many there are, of which
// at most max were put into fds. With reopen there may be others later.
guint bb_source_descriptors(const BbSource *source, int *fds, guint max);

// Live: what makes the time stamps of the interfaces, and how fine they are, in a sentence for the
// trace. NULL for files. Lent.
const char *bb_source_stamps(const BbSource *source);

// What is read now, for messages and progress: a file name or "interface eth1". Lent.
const char *bb_source_name(const BbSource *source);
// Share of the files' bytes read so far, 0 to 1; negative where unknown (pipe, live).
double bb_source_progress(const BbSource *source);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(BbSource, bb_source_free)
