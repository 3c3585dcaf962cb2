// SPDX-License-Identifier: Apache-2.0
// In: queries for zones, and the messages that answer them. Out: their returns, when they are over.
#include "capture/protocols/dns_transfer.h"

#include <string.h>

// ---- which records tell the end -----------------------------------------------------------------

static void take_asked(gpointer user, BbDnsSection section, const guint32 *serial)
{
    BbDnsTransfer *transfer = user;
    if (section != BB_DNS_AUTHORITY || !serial)
        return;
    transfer->asked = *serial;
    transfer->has_asked = true;
}

static void take_record(gpointer user, BbDnsSection section, const guint32 *serial)
{
    BbDnsTransfer *transfer = user;
    if (section != BB_DNS_ANSWERS)
        return;
    if (serial && transfer->records == 0) {
        transfer->serial = *serial;
        transfer->has_serial = true;
    }
    bool same = serial && transfer->has_serial && *serial == transfer->serial;
    transfer->differences |= transfer->records == 1 && serial && !same;
    transfer->soas += same;
    transfer->records++;
}

// A zone is told between its SOA and the same again. Differences stand between the new SOA and the
// same again, too; the second record is the SOA of an old version, and the last of them, which make
// the new one, begin with its SOA: that is the second of three. An IXFR may also be answered by
// the whole zone, or, where there is nothing new, by one SOA. Where the beginning is missing, the
// end is not known.
static bool is_complete(const BbDnsTransfer *transfer)
{
    if (!transfer->has_serial)
        return transfer->records == 0;
    if (transfer->incremental && transfer->records == 1)
        return !transfer->has_asked || (gint32)(transfer->serial - transfer->asked) <= 0;
    return transfer->soas >= (transfer->differences ? 3 : 2);
}

bool bb_dns_transfer_read(BbDnsTransfer *transfer, const BbPart *part, guint32 status,
                          const BbDnsMessage *message, const guint8 *data, gsize length)
{
    bb_part_join(&transfer->part, part);
    transfer->status = status;
    bb_dns_message_records(message, data, length, take_record, transfer);
    return message->rcode != 0 || is_complete(transfer);
}

// ---- those under way ----------------------------------------------------------------------------

void bb_dns_transfers_begin(BbDnsTransfers *transfers, BbDialog *dialog, guint64 call, guint64 key,
                            const BbDnsMessage *query, const guint8 *data, gsize length)
{
    bool incremental = query->type == BB_DNS_TYPE_IXFR;
    if (!query->has_question || (query->type != BB_DNS_TYPE_AXFR && !incremental))
        return;
    if (transfers->used == BB_DNS_TRANSFERS) {
        bb_dialog_count(dialog, BB_PENDING_LIMIT);
        bb_dns_transfers_end(transfers, dialog, &transfers->slot[0]);
    }
    if (!transfers->slot)
        transfers->slot = g_new(BbDnsTransfer, BB_DNS_TRANSFERS);
    BbDnsTransfer *transfer = &transfers->slot[transfers->used++];
    *transfer = (BbDnsTransfer){.call = call, .key = key, .incremental = incremental};
    bb_dns_message_records(query, data, length, take_asked, transfer);
}

BbDnsTransfer *bb_dns_transfers_find(const BbDnsTransfers *transfers, guint64 key, guint64 mask)
{
    for (guint i = 0; i < transfers->used; i++)
        if (((transfers->slot[i].key ^ key) & ~mask) == 0)
            return &transfers->slot[i];
    return NULL;
}

void bb_dns_transfers_end(BbDnsTransfers *transfers, BbDialog *dialog, BbDnsTransfer *transfer)
{
    gsize index = (gsize)(transfer - transfers->slot);
    if (transfer->part.begun)
        bb_dialog_return(dialog, transfer->call, &transfer->part, transfer->status);
    transfers->used--;
    memmove(transfer, transfer + 1, (transfers->used - index) * sizeof *transfer);
    if (!transfers->used)
        g_clear_pointer(&transfers->slot, g_free);
}

void bb_dns_transfers_end_all(BbDnsTransfers *transfers, BbDialog *dialog)
{
    while (transfers->used)
        bb_dns_transfers_end(transfers, dialog, &transfers->slot[0]);
}

gsize bb_dns_transfers_held(const BbDnsTransfers *transfers)
{
    return transfers->used ? BB_DNS_TRANSFERS * sizeof *transfers->slot : 0;
}
