// SPDX-License-Identifier: Apache-2.0
// A program of the kernel's packet filter (BPF of 1993, as in pcap_setfilter(3PCAP)) that lets only
// those frames of an Ethernet interface through that may have a packet of certain hosts in them:
//  - IPv4 and IPv6 from or to one of the addresses, untagged or behind up to two VLAN tags (a tag
//    that the adapter or the kernel has taken off is none). Of IPv6 addresses half is compared;
//  - what may carry other packets inside: tunnels of IP (GRE, IP in IP, MPLS, ...), the UDP ports
//    of tunnels, later fragments, extension headers, further tags, types that are not IP.
// So it lets too much through, and never too little: what is exact is done after it.
// Only capture/sources/ includes this header.
#pragma once

#include "capture/layers/layer.h"

#include <pcap/pcap.h>

#define BB_SIEVE_MAX 4096u // instructions that the kernel takes (BPF_MAXINSNS)

typedef struct BbSieve {
    const BbAddress *addresses;
    guint n_addresses;
    const BbTunnelAt *tunnels; // in addition to those that have a port of their own
    guint n_tunnels;
    const struct bpf_program *then; // what a frame must pass as well; may be empty
    guint snaplen;                  // else so much of it is taken
} BbSieve;

// Makes the program. Its instructions are the caller's (g_free). Returns false where there would be
// more than BB_SIEVE_MAX.
bool bb_sieve_build(const BbSieve *sieve, struct bpf_program *program);
