// SPDX-License-Identifier: Apache-2.0
// Reads the records of classic pcap files (draft-ietf-opsawg-pcap; version 2.4, micro- and
// nanoseconds, either byte order) without copying them: the common form, at twice libpcap's speed.
// Its rarer variants are left to libpcap.
#pragma once

#include "capture/packet.h"
#include "data/input.h"

#define BB_PCAP_HEAD 24u // bytes of the file header

typedef struct BbPcapRecords BbPcapRecords;

typedef enum {
    BB_PCAP_FRAME, // *frame is filled, lent until the next call
    BB_PCAP_END,   // the file ended where a record ends
    BB_PCAP_BAD,   // it did not, or makes no sense: bb_pcap_records_reason() says why
} BbPcapStatus;

// Whether these are the first bytes of a file that can be read here.
bool bb_pcap_records_match(const guint8 *head, gsize length);

// Takes input over, which stands before the file header; bb_pcap_records_match said yes to it.
BbPcapRecords *bb_pcap_records_new(BbInput *input);
void bb_pcap_records_free(BbPcapRecords *records);

BbPcapStatus bb_pcap_records_next(BbPcapRecords *records, BbFrame *frame);
int bb_pcap_records_link(const BbPcapRecords *records);
// Why reading stopped. Lent.
const char *bb_pcap_records_reason(const BbPcapRecords *records);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(BbPcapRecords, bb_pcap_records_free)
