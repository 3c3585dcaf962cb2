// SPDX-License-Identifier: Apache-2.0
// A port mirror as it is asked for: which interfaces, which direction, where the copies go. The
// same description makes the commands of this host (linux.h) and those of a vendor (vendor.h).
#pragma once

#include <gio/gio.h>
#include <stdbool.h>

typedef enum {
    BB_MIRROR_INGRESS = 1, // what an interface receives
    BB_MIRROR_EGRESS = 2,  // what it sends
    BB_MIRROR_BOTH = 3,
} BbMirrorDirection;

typedef enum {
    BB_MIRROR_TO_INTERFACE,
    BB_MIRROR_TO_GRE, // Ethernet frames in GRE, RFC 2784 (gretap)
    BB_MIRROR_TO_ERSPAN,
    BB_MIRROR_TO_VXLAN, // RFC 7348
} BbMirrorTarget;

#define BB_MIRROR_FROM_MAX 128 // interfaces of one mirror
#define BB_MIRROR_NAME_MAX 255 // bytes of a name, as clouds have them
#define BB_MIRROR_PORT 4789    // UDP port of VXLAN

// As people say it, unchecked; each may be NULL.
typedef struct BbMirrorWords {
    const char *const *from; // each a list with commas
    const char *direction;   // "ingress", "egress", "both" (also where NULL)
    const char *to, *to_gre, *to_erspan, *to_vxlan;
    const char *local, *id, *session;
} BbMirrorWords;

typedef struct BbMirror {
    char **from; // at least one, each once
    BbMirrorDirection direction;
    BbMirrorTarget target;
    char *to;     // the interface, or the collector's address in its usual form
    char *local;  // address that the tunnel comes from, of to's family; or NULL
    bool is_ipv6; // to is an IPv6 address
    bool has_id;
    guint32 id; // VNI, ERSPAN session id, key of GRE; has_id says whether somebody gave it
    bool has_session;
    guint session; // number of a switch's monitor session, 1 where nobody said
} BbMirror;

// Takes the words for a mirror. Fails with G_OPTION_ERROR, which names the option, where they make
// none, and with G_IO_ERROR where the mirror would be of an interface to itself.
BbMirror *bb_mirror_new(const BbMirrorWords *words, GError **error);
void bb_mirror_free(BbMirror *mirror);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(BbMirror, bb_mirror_free)

// Takes apart lists with commas: names, each once, yours to free (g_strfreev); NULL with an error
// that names --from at one that is no name. lists ends with NULL.
char **bb_mirror_split(const char *const *lists, GError **error);

// The same for one word of --direction; NULL means both.
bool bb_mirror_parse_direction(const char *word, BbMirrorDirection *direction, GError **error);

// The address of another host in its usual form, which no shell or switch takes for anything else:
// yours; NULL with a G_OPTION_ERROR that names the option at a word that is none.
char *bb_mirror_parse_address(const char *option, const char *word, bool *is_ipv6, GError **error);

const char *bb_mirror_direction_name(BbMirrorDirection direction);
const char *bb_mirror_target_name(BbMirrorTarget target); // "gre", ..., "interface"
