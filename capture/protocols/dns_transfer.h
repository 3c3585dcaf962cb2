// SPDX-License-Identifier: Apache-2.0
// Zone transfers over TCP (AXFR: RFC 5936; IXFR: RFC 1995): a query that any number of messages
// answer, between which those that answer other queries may come (RFC 7766, 6.2.1.1). They are one
// return, of the first one's time.
#pragma once

#include "capture/dialog.h"
#include "capture/protocols/dns_message.h"

#define BB_DNS_TRANSFERS \
    8u // of a connection at a time; beyond it the oldest is over (BB_PENDING_LIMIT)

typedef struct BbDnsTransfer {
    guint64 call, key;
    BbPart part; // of its messages so far
    guint32 status;
    guint32 asked;    // IXFR: serial that the client has, if has_asked
    guint32 serial;   // of the zone, if the first record was an SOA
    guint32 records;  // of its answers
    guint32 soas;     // those among them that are SOAs with that serial
    bool incremental; // IXFR was asked for
    bool has_asked, has_serial;
    bool differences; // and is what comes
} BbDnsTransfer;

// In a decoder's state: zeroed, there are none. Oldest first.
typedef struct BbDnsTransfers {
    BbDnsTransfer *slot; // BB_DNS_TRANSFERS; NULL as long as there are none
    guint used;
} BbDnsTransfers;

// A query was made that opened this call under this key; it is a transfer if it asks for a zone.
void bb_dns_transfers_begin(BbDnsTransfers *transfers, BbDialog *dialog, guint64 call, guint64 key,
                            const BbDnsMessage *query, const guint8 *data, gsize length);
// The one of which the keys, without their mask bits, are alike; NULL if there is none.
BbDnsTransfer *bb_dns_transfers_find(const BbDnsTransfers *transfers, guint64 key, guint64 mask);
// A message of part answers it. Returns whether it is the last one.
bool bb_dns_transfer_read(BbDnsTransfer *transfer, const BbPart *part, guint32 status,
                          const BbDnsMessage *message, const guint8 *data, gsize length);
// It is over: the return is written, if there was any message.
void bb_dns_transfers_end(BbDnsTransfers *transfers, BbDialog *dialog, BbDnsTransfer *transfer);
void bb_dns_transfers_end_all(BbDnsTransfers *transfers, BbDialog *dialog);
// Bytes they take.
gsize bb_dns_transfers_held(const BbDnsTransfers *transfers);
