// SPDX-License-Identifier: Apache-2.0
// What a host has at present, as far as a mirror is concerned: interfaces, their qdiscs, and who
// filters there. Filled from what ip(8) and tc(8) print with -json, which is taken as hostile: at
// most BB_HOST_TEXT_MAX bytes, BB_HOST_DEPTH_MAX brackets deep; what is no interface's name is left
// out, and so is what has another form than expected.
#pragma once

#include "capture/mirror/mirror.h"

#define BB_HOST_TEXT_MAX (64u * 1024 * 1024)
#define BB_HOST_DEPTH_MAX 32u

typedef enum { BB_QDISC_NONE, BB_QDISC_INGRESS, BB_QDISC_CLSACT } BbQdisc;

typedef struct BbHostInterface {
    char *name;
    char *link;   // a veth's peer, or what it lies on; NULL where there is none here
    char *master; // bridge or bond that it is a port of, or NULL
    char *kind;   // "veth", "bridge", ..., or NULL of hardware
    char *alias;  // or NULL
    bool is_up;
    BbQdisc qdisc; // the one that can hold filters for a mirror
} BbHostInterface;

// A row of a list of filters. One filter with several actions that copy is several of them.
typedef struct BbHostFilter {
    char *interface;
    BbMirrorDirection direction; // one of the two
    guint pref;
    char *kind;      // "matchall", "u32", ...
    char *handle;    // of u32, or NULL
    char *to;        // where its action copies or redirects to, or NULL
    bool to_ingress; // as if received there; else sent out there
    bool is_head;    // no filter, but what holds those with this pref
    char *cookie;    // the mark of its action, hexadecimal, or NULL
    guint64 packets, bytes;
} BbHostFilter;

typedef struct BbMirrorHost {
    GPtrArray *interfaces; // of BbHostInterface
    GPtrArray *filters;    // of BbHostFilter
} BbMirrorHost;

BbMirrorHost *bb_host_new(void);
void bb_host_free(BbMirrorHost *host);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(BbMirrorHost, bb_host_free)

// What `ip -json -details link show` printed. Returns false with an error where it is no such list.
bool bb_host_add_links(BbMirrorHost *host, const char *text, gsize length, GError **error);
// What `tc -json qdisc show` printed, after the links.
bool bb_host_add_qdiscs(BbMirrorHost *host, const char *text, gsize length, GError **error);
// What `tc -json -statistics filter show dev INTERFACE DIRECTION` printed.
bool bb_host_add_filters(BbMirrorHost *host, const char *interface, BbMirrorDirection direction,
                         const char *text, gsize length, GError **error);

// The interface that `ip -json route get ADDRESS` printed, yours; NULL where it says none.
char *bb_host_parse_route(const char *text, gsize length);

// Lent; NULL where there is none.
const BbHostInterface *bb_host_find(const BbMirrorHost *host, const char *name);
