// SPDX-License-Identifier: Apache-2.0
// In: SNMP v1, v2c, v3 over UDP. Out: requests and informs with the response or report that answers
// them, by request-id, in v3 by msgID; traps are free messages. Of encrypted ones the label is `?`:
// what asks for a report is a request (RFC 3412, 6.4).
#include "capture/protocols/recent_calls.h"
#include "capture/protocols/snmp_message.h"
#include "data/text_hash.h"

#include <string.h>

typedef struct Snmp {
    BbRecentCalls recent;
    bool read; // a message was
} Snmp;

static guint32 label_of(BbDialog *dialog, const BbSnmpMessage *message)
{
    const char *name = bb_snmp_pdu_name(message->pdu);
    return bb_dialog_label(dialog, name, strlen(name));
}

static guint32 status_of(BbDialog *dialog, const BbSnmpMessage *message)
{
    char number[16];
    const char *name = bb_snmp_error_name(message->error);
    if (message->pdu == BB_SNMP_HIDDEN)
        return BB_NAME_NONE;
    if (message->pdu == BB_SNMP_REPORT)
        name = message->statistic ? message->statistic : "Report";
    if (!name) {
        g_snprintf(number, sizeof number, "%u", message->error);
        name = number;
    }
    return bb_dialog_status(dialog, name, strlen(name));
}

static bool is_trap(const BbSnmpMessage *message)
{
    return message->pdu == BB_SNMP_TRAP || message->pdu == BB_SNMP_TRAP_V1;
}

static bool is_answer(const BbSnmpMessage *message)
{
    return message->pdu == BB_SNMP_RESPONSE || message->pdu == BB_SNMP_REPORT ||
           (message->pdu == BB_SNMP_HIDDEN && !message->reportable);
}

// What the open request and the same sent again have in common. In v3 time and salt change (RFC
// 3414, 3.1), and no msgID that is waited for is given twice (RFC 3412, 6.2); what asks who the
// engine is is not encrypted, and what it asks for is.
static guint32 tag_of(const BbSnmpMessage *message, guint64 hash)
{
    return message->is_v3 ? (guint32)message->pdu : (guint32)hash;
}

static const BbOpenCall *find_repeated(BbDialog *dialog, const BbPart *part, guint64 key,
                                       guint32 tag)
{
    const BbOpenCall *open = bb_recent_calls_open(dialog, part, part->direction, key);
    return open && open->key == key && open->tag == tag ? open : NULL;
}

// Another request under an identifier that is open takes its place: some managers have one only.
static void take_request(BbDialog *dialog, Snmp *snmp, const BbSnmpMessage *message,
                         const BbView *view, const BbPart *part)
{
    guint64 hash = bb_text_hash_bytes(BB_TEXT_HASH_START, view->data, view->length);
    guint32 tag = tag_of(message, hash);
    const BbOpenCall *open = find_repeated(dialog, part, message->key, tag);
    if (open) {
        bb_dialog_sent_again(dialog, open->call, part);
        return;
    }
    if (bb_recent_calls_sent_again(&snmp->recent, part, message->key, hash)) {
        bb_dialog_repeated(dialog);
        return;
    }
    guint64 call = bb_dialog_open_by(dialog, part, label_of(dialog, message), message->key, tag,
                                     BB_KEY_REUSED);
    bb_dialog_sent(dialog, call, part);
}

static void take_answer(BbDialog *dialog, const Snmp *snmp, const BbSnmpMessage *message,
                        const BbPart *part)
{
    const BbOpenCall *open =
        bb_recent_calls_open(dialog, part, bb_direction_other(part->direction), message->key);
    if (bb_recent_calls_answered_again(&snmp->recent, dialog, part, message->key))
        bb_dialog_repeated(dialog);
    else if (!open && message->pdu == BB_SNMP_HIDDEN) // a trap as well as an orphan
        bb_dialog_message(dialog, part, label_of(dialog, message), BB_NAME_NONE);
    else
        bb_dialog_return(dialog, open ? open->call : 0, part, status_of(dialog, message));
}

static gssize parse(BbDialog *dialog, void *state, const BbView *view)
{
    Snmp *snmp = state;
    BbPart part = {0};
    BbSnmpMessage message;
    if (!view->length)
        return 0;
    if (bb_snmp_message_read(&message, view->data, view->length, view->missing) != BB_SNMP_READ) {
        if (!snmp->read)
            return BB_PARSE_BAD;
        bb_dialog_resynced(dialog);
        return (gssize)view->length;
    }
    snmp->read = true;
    bb_part_add(&part, view, 0, view->length);
    if (is_trap(&message))
        bb_dialog_message(dialog, &part, label_of(dialog, &message), BB_NAME_NONE);
    else if (is_answer(&message))
        take_answer(dialog, snmp, &message, &part);
    else
        take_request(dialog, snmp, &message, view, &part);
    return (gssize)view->length;
}

const BbDecoder bb_decoder_snmp = {
    .name = "snmp",
    .about = "SNMP v1, v2c, v3: by request-id or msgID",
    .udp = true,
    .ports = {161, 162},
    .state_size = sizeof(Snmp),
    .probe = bb_snmp_probe,
    .parse = parse,
};
