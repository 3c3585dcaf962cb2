// SPDX-License-Identifier: Apache-2.0
// In: DNS datagrams, or DNS over TCP with its length prefixes (RFC 7766). Out: queries with their
// responses, by id and question; all that answers a zone transfer is one. Multicast DNS (RFC 6762)
// is free messages, and so is LLMNR (RFC 4795) over UDP: queries go to a group only (2.4), answers
// come from its members' addresses.
#include "capture/cursor.h"
#include "capture/decoder.h"
#include "capture/protocols/dns_transfer.h"
#include "capture/protocols/label.h"
#include "capture/protocols/lost.h"
#include "capture/protocols/recent_calls.h"

#define PORT_MDNS 5353u
#define PORT_LLMNR 5355u
#define PREFIX 2u // the length before a message in TCP
#define WHOLE_MAX \
    8192u             // of longer TCP messages only the beginning is read, the rest is passed over,
                      // unless it may be a zone
#define HEAD_MAX 512u // holds header and question
#define RECENT 8u     // queries found by id alone, for responses without question
// After so many queries an id, of 65,536, was rather drawn again than sent again.
#define BY_CHANCE 4096u
#define HASH_BITS 48u
#define HASH_MASK ((G_GUINT64_CONSTANT(1) << HASH_BITS) - 1)

// What a message means to the dialog.
typedef struct Unit {
    guint64 key; // id, then the hash of the question
    guint32 op, status;
    bool response, has_question, one_way;
} Unit;

typedef struct Side {
    BbPart part;
    Unit unit; // while the rest of its message is being passed over
    bool passing;
    bool lost; // looking for the start of a message
} Side;

typedef struct Dns {
    Side side[2];
    guint64 recent[RECENT]; // calls
    guint32 queries;
    BbRecentCalls *repeated; // datagrams: queries that were sent again; NULL: none
    BbDnsTransfers transfers;
    bool good; // a message was read
} Dns;

// ---- what a message means -----------------------------------------------------------------------

static guint32 op_of(BbDialog *dialog, const BbDnsMessage *message)
{
    static const char opcodes[][8] = {"", "IQUERY", "STATUS", "", "NOTIFY", "UPDATE", "DSO"};
    char what[BB_DNS_TYPE_TEXT], text[BB_LABEL_MAX + 1];
    const char *opcode = opcodes[message->opcode];
    if (!message->has_question)
        return bb_dialog_label(dialog, opcode, strlen(opcode));
    if (message->opcode == BB_DNS_QUERY)
        bb_dns_type_format(message->type, what);
    else
        g_strlcpy(what, opcode, sizeof what);
    return bb_dialog_label(dialog, text, bb_label_dns(text, what, message->name));
}

static guint32 status_of(BbDialog *dialog, const BbDnsMessage *message)
{
    char text[BB_DNS_TYPE_TEXT];
    bb_dns_rcode_format(message->rcode, text);
    return bb_dialog_status(dialog, text, strlen(text));
}

static Unit unit_of(BbDialog *dialog, const BbDnsMessage *message)
{
    guint64 hash = message->hash & HASH_MASK;
    bool named = !message->response || message->multicast;
    return (Unit){
        .key = (guint64)message->id << HASH_BITS | MAX(hash, 1),
        .op = named ? op_of(dialog, message) : BB_NAME_NONE,
        .status = message->response ? status_of(dialog, message) : BB_NAME_NONE,
        .response = message->response,
        .has_question = message->has_question,
        // RFC 8490, 5.4: a DSO message with id 0 has no response.
        .one_way = message->multicast || (message->opcode == BB_DNS_DSO && message->id == 0),
    };
}

// The id 0 is of any protocol: only its port makes multicast DNS of it.
static bool is_multicast(const BbDialog *dialog, const BbDnsMessage *message, const BbView *view)
{
    guint16 port = bb_dialog_server_port(dialog);
    return view->datagram && (port == PORT_LLMNR || (port == PORT_MDNS && message->multicast));
}

// ---- pairing ------------------------------------------------------------------------------------

// The open query that a datagram repeats, or answers. RFC 1035, 4.1.1: the id is the asker's
// choice, so that a query of which the answer was lost meets its id and question again.
static const BbOpenCall *find_recent(BbDialog *dialog, const Unit *unit, const BbPart *part)
{
    BbDirection asked = unit->response ? bb_direction_other(part->direction) : part->direction;
    return bb_recent_calls_open(dialog, part, asked, unit->key);
}

// It may be answered as often as it was sent.
static void take_repeated(BbDialog *dialog, Dns *dns, const Unit *unit, guint64 call,
                          const BbPart *part)
{
    if (!dns->repeated)
        dns->repeated = g_new0(BbRecentCalls, 1);
    (void)bb_recent_calls_sent_again(dns->repeated, part, unit->key, 0);
    bb_dialog_sent_again(dialog, call, part);
}

// RFC 7766, 6.2.1: over TCP nothing is asked again, and an id is not used twice at a time.
static void take_query(BbDialog *dialog, Dns *dns, const Unit *unit, const BbPart *part)
{
    const BbOpenCall *open = part->is_tcp ? NULL : find_recent(dialog, unit, part);
    if (open && dns->queries - open->tag <= BY_CHANCE) {
        take_repeated(dialog, dns, unit, open->call, part);
        return;
    }
    if (open)
        bb_dialog_give_up(dialog, open->call);
    BbKeyUse use = part->is_tcp ? BB_KEY_REUSED : BB_KEY_UNIQUE;
    guint64 call = bb_dialog_open_by(dialog, part, unit->op, unit->key, dns->queries, use);
    bb_dialog_sent(dialog, call, part);
    dns->recent[dns->queries++ % RECENT] = call;
}

static const BbOpenCall *find_by_id(BbDialog *dialog, const Dns *dns, const Unit *unit)
{
    for (guint i = 1; i <= MIN(dns->queries, RECENT); i++) {
        const BbOpenCall *open = bb_dialog_get(dialog, dns->recent[(dns->queries - i) % RECENT]);
        if (open && open->key >> HASH_BITS == unit->key >> HASH_BITS)
            return open;
    }
    return NULL;
}

// The open query that a response answers.
static const BbOpenCall *find_asked(BbDialog *dialog, const Dns *dns, const Unit *unit,
                                    const BbPart *part)
{
    if (!unit->has_question)
        return find_by_id(dialog, dns, unit);
    return part->is_tcp ? bb_dialog_find(dialog, part, unit->key) : find_recent(dialog, unit, part);
}

static void take_response(BbDialog *dialog, Dns *dns, const Unit *unit, const BbPart *part)
{
    if (dns->repeated && !part->is_tcp &&
        bb_recent_calls_answered_again(dns->repeated, dialog, part, unit->key)) {
        bb_dialog_repeated(dialog);
        return;
    }
    const BbOpenCall *open = find_asked(dialog, dns, unit, part);
    bb_dialog_return(dialog, open ? open->call : 0, part, unit->status);
}

static void deliver(BbDialog *dialog, Dns *dns, const Unit *unit, const BbPart *part)
{
    dns->good = true;
    if (unit->one_way)
        bb_dialog_message(dialog, part, unit->op, unit->status);
    else if (unit->response)
        take_response(dialog, dns, unit, part);
    else
        take_query(dialog, dns, unit, part);
}

static void learn(gpointer dialog, const BbAddress *address, const char *name)
{
    bb_dialog_learn_name(dialog, address, name);
}

static void learn_names(BbDialog *dialog, const BbDnsMessage *message, const guint8 *data,
                        gsize length)
{
    bool about_addresses = !message->has_question || message->type == BB_DNS_TYPE_A ||
                           message->type == BB_DNS_TYPE_AAAA;
    if (message->response && message->opcode == BB_DNS_QUERY && message->rcode == 0 &&
        about_addresses)
        bb_dns_message_addresses(message, data, length, learn, dialog);
}

// ---- probing ------------------------------------------------------------------------------------

static BbMatch side_of(const BbDnsMessage *message)
{
    return message->response ? BB_MATCH_REPLY : BB_MATCH_REQUEST;
}

// More questions than one nobody asks, but by multicast.
static bool is_usual(const BbDnsMessage *message)
{
    return message->has_question && (message->counts[0] == 1 || message->multicast);
}

// Asks for a type of those that IANA has given out, apart from a few at the end of the range: small
// numbers in a row make no question.
static bool asks(const BbDnsMessage *message)
{
    guint16 type = message->type;
    return message->has_question && ((type >= 1 && type <= 65) || (type >= 249 && type <= 258));
}

static BbMatch probe_message(const guint8 *data, gsize length)
{
    BbDnsMessage message;
    BbDnsVerdict verdict = bb_dns_message_read(&message, data, length);
    if (verdict < BB_DNS_CUT)
        return message.plain_query ? BB_MATCH_MAYBE : BB_MATCH_NO;
    if (verdict == BB_DNS_EXACT && asks(&message))
        return side_of(&message);
    return verdict == BB_DNS_EXACT || is_usual(&message) ? BB_MATCH_MAYBE : BB_MATCH_NO;
}

static BbMatch probe_stream(const guint8 *data, gsize length)
{
    BbDnsMessage message;
    BbCursor c = bb_cursor(data, length);
    guint16 size = bb_cursor_be16(&c);
    if (!bb_cursor_ok(&c))
        return BB_MATCH_MORE;
    if (size < BB_DNS_HEADER)
        return BB_MATCH_NO;
    if (c.left >= size)
        return probe_message(c.at, size);
    switch (bb_dns_message_read(&message, c.at, c.left)) {
    case BB_DNS_SHORT:
        return BB_MATCH_MORE;
    case BB_DNS_CUT:
        return is_usual(&message) && asks(&message) ? side_of(&message) : BB_MATCH_MORE;
    case BB_DNS_EXACT:
    case BB_DNS_ODD:
        return is_usual(&message) ? BB_MATCH_MAYBE : BB_MATCH_NO;
    case BB_DNS_BAD:
        break;
    }
    return BB_MATCH_NO;
}

static BbMatch probe(const guint8 *data, gsize length)
{
    BbMatch datagram = probe_message(data, length), stream = probe_stream(data, length);
    if (datagram == BB_MATCH_NO || stream > BB_MATCH_MAYBE)
        return stream;
    return datagram;
}

// ---- datagrams ----------------------------------------------------------------------------------

static gssize parse_datagram(BbDialog *dialog, Dns *dns, const BbView *view)
{
    BbDnsMessage message;
    BbPart part = {0};
    BbDnsVerdict verdict = bb_dns_message_read(&message, view->data, view->length);
    bool cut = view->missing > 0 && view->length >= BB_DNS_HEADER;
    bool damaged = verdict == BB_DNS_BAD || (verdict == BB_DNS_SHORT && !cut);
    if (damaged && !message.plain_query) { // a query with a broken name is refused by its server
        if (!dns->good)
            return BB_PARSE_BAD;
        bb_dialog_resynced(dialog);
        return (gssize)view->length;
    }
    message.multicast = is_multicast(dialog, &message, view);
    bb_part_add(&part, view, 0, view->length);
    Unit unit = unit_of(dialog, &message);
    deliver(dialog, dns, &unit, &part);
    learn_names(dialog, &message, view->data, view->length);
    return (gssize)view->length;
}

// ---- TCP ----------------------------------------------------------------------------------------

static gssize lose_place(BbDialog *dialog, const Dns *dns, Side *side, const BbView *view)
{
    return dns->good ? bb_lost_here(&side->lost, dialog, view) : BB_PARSE_BAD;
}

// A message of which all was read that is to be. Those of a transfer need no question but for the
// first (RFC 5936, 2.2.2). A gap ends none, since the id tells what belongs to it behind the gap;
// that the id is used anew does.
static void take_read(BbDialog *dialog, Dns *dns, const Side *side, const BbDnsMessage *message,
                      const guint8 *data, gsize length)
{
    const Unit *unit = &side->unit;
    guint64 mask = unit->response && unit->has_question ? 0 : HASH_MASK;
    BbDnsTransfer *transfer = bb_dns_transfers_find(&dns->transfers, unit->key, mask);
    if (transfer && unit->response) {
        if (bb_dns_transfer_read(transfer, &side->part, unit->status, message, data, length))
            bb_dns_transfers_end(&dns->transfers, dialog, transfer);
        return;
    }
    if (transfer)
        bb_dns_transfers_end(&dns->transfers, dialog, transfer);
    deliver(dialog, dns, unit, &side->part);
    if (!unit->response && !unit->one_way)
        bb_dns_transfers_begin(&dns->transfers, dialog, dns->recent[(dns->queries - 1) % RECENT],
                               unit->key, message, data, length);
}

// Takes as much of a message as is to be read. have: bytes of it that are there.
static gssize take_message(BbDialog *dialog, Dns *dns, const BbView *view, gsize size, gsize have)
{
    Side *side = &dns->side[view->direction];
    BbDnsMessage message;
    const guint8 *data = view->data + PREFIX;
    BbDnsVerdict verdict = bb_dns_message_read(&message, data, have);
    bool cut = have < size && have >= BB_DNS_HEADER;
    if (verdict == BB_DNS_BAD || (verdict == BB_DNS_SHORT && !cut))
        return lose_place(dialog, dns, side, view);
    bb_part_add(&side->part, view, 0, PREFIX + have);
    message.multicast = is_multicast(dialog, &message, view);
    side->unit = unit_of(dialog, &message);
    if (have < size && !view->closed) {
        side->passing = true;
        bb_dialog_skip(dialog, view->direction, size - have, &side->part);
    } else {
        take_read(dialog, dns, side, &message, data, have);
        learn_names(dialog, &message, data, have);
        bb_part_reset(&side->part);
    }
    return (gssize)(PREFIX + have);
}

static void end_passing(BbDialog *dialog, Dns *dns, Side *side)
{
    if (!side->passing)
        return;
    deliver(dialog, dns, &side->unit, &side->part);
    bb_part_reset(&side->part);
    side->passing = false;
}

static gssize parse_stream(BbDialog *dialog, Dns *dns, const BbView *view)
{
    Side *side = &dns->side[view->direction];
    end_passing(dialog, dns, side);
    if (side->lost) {
        gssize passed = bb_lost_find(&side->lost, dialog, view, probe_stream, BB_MATCH_REQUEST);
        if (passed > 0 || side->lost)
            return passed;
    }
    if (view->length < PREFIX)
        return 0;
    BbCursor c = bb_cursor(view->data, view->length);
    gsize size = bb_cursor_be16(&c);
    gsize wanted = size > WHOLE_MAX && !dns->transfers.used ? HEAD_MAX : size;
    if (size < BB_DNS_HEADER)
        return lose_place(dialog, dns, side, view);
    if (c.left < wanted && !view->closed)
        return 0;
    return take_message(dialog, dns, view, size, MIN(wanted, c.left));
}

// ---- the decoder --------------------------------------------------------------------------------

static gssize parse(BbDialog *dialog, void *state, const BbView *view)
{
    return view->datagram ? parse_datagram(dialog, state, view) : parse_stream(dialog, state, view);
}

static void gap(BbDialog *dialog, void *state, BbDirection direction)
{
    Dns *dns = state;
    end_passing(dialog, dns, &dns->side[direction]);
    dns->side[direction].lost = true;
}

static gsize held(const void *state)
{
    const Dns *dns = state;
    return bb_dns_transfers_held(&dns->transfers) + (dns->repeated ? sizeof *dns->repeated : 0);
}

static void let_go(BbDialog *dialog, void *state)
{
    Dns *dns = state;
    bb_dns_transfers_end_all(&dns->transfers, dialog);
    g_clear_pointer(&dns->repeated, g_free);
}

static void finish(BbDialog *dialog, void *state)
{
    Dns *dns = state;
    end_passing(dialog, dns, &dns->side[BB_TO_SERVER]);
    end_passing(dialog, dns, &dns->side[BB_TO_CLIENT]);
    let_go(dialog, dns);
}

const BbDecoder bb_decoder_dns = {
    .name = "dns",
    .about = "DNS (RFC 1035) over UDP and TCP: by id and question",
    .tcp = true,
    .udp = true,
    .ports = {53, 5353, 5355},
    .state_size = sizeof(Dns),
    .probe = probe,
    .parse = parse,
    .gap = gap,
    .finish = finish,
    .held = held,
    .let_go = let_go,
};
