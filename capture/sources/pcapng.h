// SPDX-License-Identifier: Apache-2.0
// Reads pcapng (draft-ietf-opsawg-pcapng). libpcap reads it too, but gives up where the interfaces
// of a file differ in link type or snap length, and does not say which interface a packet is from.
#pragma once

#include "capture/loss.h"
#include "capture/packet.h"

#include <stdio.h>

#define BB_PCAPNG_BLOCK_MAX (16u * 1024 * 1024) // a larger block counts as damage
#define BB_PCAPNG_INTERFACES 4096               // a section with more counts as damaged

typedef struct BbPcapng BbPcapng;

typedef enum {
    BB_PCAPNG_FRAME, // *frame is filled, lent until the next call
    BB_PCAPNG_END,   // the file ended where a block ends
    BB_PCAPNG_BAD,   // it did not, or makes no sense: bb_pcapng_reason() says why
} BbPcapngStatus;

// Takes file over (closed by free) and reads on to the first interface; file stands before its
// first byte, which is that of a section header. loss, lent, gets what statistics blocks say was
// dropped.
BbPcapng *bb_pcapng_new(FILE *file, BbLoss *loss);
void bb_pcapng_free(BbPcapng *pcapng);

BbPcapngStatus bb_pcapng_next(BbPcapng *pcapng, BbFrame *frame);

// Link type of the first interface; -1 where there is none.
int bb_pcapng_first_link(const BbPcapng *pcapng);

// Interfaces of the section that the last frame is of, described up to there.
guint bb_pcapng_interfaces(const BbPcapng *pcapng);

// Bytes of the file that are done with.
guint64 bb_pcapng_taken(const BbPcapng *pcapng);

// Why reading stopped. Lent.
const char *bb_pcapng_reason(const BbPcapng *pcapng);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(BbPcapng, bb_pcapng_free)
