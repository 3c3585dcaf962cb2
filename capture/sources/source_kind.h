// SPDX-License-Identifier: Apache-2.0
// What a kind of source is: a line in the table of capture/sources/source.c and one file. Only
// these include this header.
#pragma once

#include "capture/sources/source.h"

#include <pcap/pcap.h>

typedef struct BbSourceKind {
    bool (*is_meant)(const BbSourceOptions *options);
    // warnings: texts to print, taken by the caller. loss and warnings outlive the state.
    gpointer (*open)(const BbSourceOptions *options, BbLoss *loss, GQueue *warnings,
                     GError **error);
    BbSourceStatus (*next)(gpointer state, BbFrame *frame, GError **error);
    void (*stop)(gpointer state); // may be NULL, as the next five
    void (*update_loss)(gpointer state);
    void (*narrow)(gpointer state, const BbAddress *addresses, guint count);
    void (*end)(gpointer state);
    guint (*descriptors)(gpointer state, int *fds, guint max);
    const char *(*stamps)(gpointer state);
    const char *(*current)(gpointer state);
    double (*progress)(gpointer state);
    void (*close)(gpointer state);
} BbSourceKind;

extern const BbSourceKind bb_source_file;
extern const BbSourceKind bb_source_live;

// Compiles expression for what pcap reads. name is what error names. Free with pcap_freecode.
bool bb_source_compile(pcap_t *pcap, const char *name, const char *expression,
                       struct bpf_program *program, GError **error);

// Appends a warning where no layer decoder knows the link type.
void bb_source_check_link(int link_type, const char *name, GQueue *warnings);

// Warnings on a clock that was set, of one source; further steps are only counted.
#define BB_SOURCE_STEPS_SAID 3u

// The last second that fits in nanoseconds, with room for a fraction that is any 32 bits.
#define BB_SOURCE_SECONDS_MAX G_GINT64_CONSTANT(9223000000)

// Nanoseconds from what libpcap gives at nanosecond precision. pcap's seconds are 32 bits without a
// sign, which libpcap reads with one: after 2038 they come out negative. pcapng's may be anything.
static inline gint64 bb_source_time(const struct timeval *stamp, gint64 unit_ns)
{
    gint64 seconds = stamp->tv_sec;
    if (G_UNLIKELY(seconds < 0))
        seconds = (guint32)seconds;
    seconds = MIN(seconds, BB_SOURCE_SECONDS_MAX);
    return seconds * G_GINT64_CONSTANT(1000000000) + MAX(stamp->tv_usec, 0) * unit_ns;
}

// Lengths are the file's word: captured is bounded, and never above length.
static inline void bb_source_fill(BbFrame *frame, const struct pcap_pkthdr *header,
                                  const guint8 *data, gint64 unit_ns, int link_type)
{
    guint32 captured = MIN(header->caplen, (guint32)BB_SOURCE_SNAPLEN);
    *frame = (BbFrame){.time_ns = bb_source_time(&header->ts, unit_ns),
                       .data = data,
                       .captured = captured,
                       .length = MAX(header->len, captured),
                       .link_type = link_type};
}
