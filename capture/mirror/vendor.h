// SPDX-License-Identifier: Apache-2.0
// What a vendor's device needs to be told for a mirror: one const struct each, in the table of
// vendors.c. The commands are text for people to read and paste; nothing here runs them.
#pragma once

#include "capture/mirror/mirror.h"

typedef struct BbMirrorVendor {
    const char *name; // of --vendor
    const char *title;
    const char *comment; // what begins a comment there
    guint sessions;      // sessions have numbers up to this; 0: they have none
    // Appends the commands, lines with their line ends. Returns false with an error where the
    // vendor cannot do it (bb_mirror_refuse).
    bool (*plan)(const BbMirror *mirror, GString *out, GError **error);
} BbMirrorVendor;

extern const BbMirrorVendor *const bb_mirror_vendors[]; // in order of name, NULL at the end

// NULL with an error that names them all where there is none of that name.
const BbMirrorVendor *bb_mirror_find_vendor(const char *name, GError **error);

// Vendor, commands and how to take them back, as text; yours. NULL with an error.
char *bb_mirror_plan_vendor(const BbMirror *mirror, const BbMirrorVendor *vendor, GError **error);

// ---- for the vendors' files --------------------------------------------------------------------

extern const BbMirrorVendor bb_mirror_arista, bb_mirror_aws, bb_mirror_azure, bb_mirror_cisco_ios,
    bb_mirror_cisco_nxos, bb_mirror_juniper, bb_mirror_linux, bb_mirror_ovs;

#define BB_MIRROR_SESSION "bbtrace" // where sessions have names

// Sets an error that is no matter of how it was written. Returns false.
bool bb_mirror_refuse(GError **error, const char *format, ...) G_GNUC_PRINTF(2, 3);
// Refuses all targets but those whose bits (1u << BB_MIRROR_TO_...) are set. can says in words what
// the vendor can.
bool bb_mirror_allow(const BbMirror *mirror, guint targets, const char *can, GError **error);
// Refuses --id where the target has none there.
bool bb_mirror_allow_no_id(const BbMirror *mirror, const char *why, GError **error);
// Refuses a tunnel without --local, and one over IPv6.
bool bb_mirror_want_local(const BbMirror *mirror, const char *what, GError **error);
bool bb_mirror_want_ipv4(const BbMirror *mirror, GError **error);
// "rx", "tx" or "both".
const char *bb_mirror_rx_tx(const BbMirror *mirror);
