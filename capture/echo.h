// SPDX-License-Identifier: Apache-2.0
// Packets that a mirror shows twice: one of both directions of a port, or of two ports, or before
// and after a router. Both sightings have the same addresses, the same IP identification and the
// same content; time to live, MAC addresses and, where it does not tell hosts apart, VLAN may
// differ. What a host sends again has another identification, or comes much later. Acknowledgements
// without data and identification are never taken for second sightings: a host sends the same again
// within microseconds. So do those that count things by datagrams: where these have no
// identification and the same time to live, the second is believed to be a sighting only while one
// in BB_ECHO_RATIO of the packets that tell it for sure (of TCP, or with an identification) is seen
// twice. So the first of a mirror that doubles all may count twice, and all of them where there are
// only such datagrams.
#pragma once

#include "capture/packet.h"

#define BB_ECHO_NS (2 * G_GINT64_CONSTANT(1000000)) // both sightings lie this close together
// The same without an identification (IPv6; 0 in packets that are not to be fragmented) and with
// the same time to live, but for SYN, FIN and RST.
#define BB_ECHO_UNNAMED_NS (200 * G_GINT64_CONSTANT(1000))
#define BB_ECHO_RATIO 16u
#define BB_ECHO_RECENT 4096u  // of so many packets that tell: older ones count less
#define BB_ECHO_PACKETS 4096u // that are remembered: 64 KiB, so that they stay near the processor

typedef struct BbEchoes BbEchoes;

BbEchoes *bb_echoes_new(void);
void bb_echoes_free(BbEchoes *echoes);

// Whether packet was seen a moment ago; else it is remembered.
bool bb_echoes_check(BbEchoes *echoes, const BbPacket *packet);
