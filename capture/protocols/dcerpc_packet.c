// SPDX-License-Identifier: Apache-2.0
// In: bytes that may be a packet of DCE/RPC. Out: what it says, and whether it is one.
#include "capture/protocols/dcerpc_packet.h"

#include "capture/cursor.h"

#define VERSION 5u
#define DATAGRAM_VERSION 4u
#define LITTLE 0x10u // in the first byte of the data representation: order of integers
#define UUID 16u
#define SYNTAX (UUID + 4u)
#define BIND_WANTED 1024u // bytes of binds and their acknowledgements that are looked at
#define REQUEST_WANTED 24u
#define FAULT_WANTED 28u
#define FIRST_FRAGMENT 0x01u
#define LAST_FRAGMENT 0x02u
#define MAYBE 0x40u         // C706, 12.6.3.1
#define DATAGRAM_LAST 0x02u // flags of datagrams
#define DATAGRAM_FRAGMENT 0x04u
#define DATAGRAM_MAYBE 0x10u

// ---- packet types -----------------------------------------------------------------------------

typedef struct Type {
    const char *name;
    BbDcerpcKind kind;
    bool datagram, connection;
} Type;

static const Type types[] = {
    {"request", BB_DCERPC_REQUEST, true, true},
    {"ping", BB_DCERPC_INTERNAL, true, false},
    {"response", BB_DCERPC_RESPONSE, true, true},
    {"fault", BB_DCERPC_FAULT, true, true},
    {"working", BB_DCERPC_INTERNAL, true, false},
    {"nocall", BB_DCERPC_INTERNAL, true, false},
    {"reject", BB_DCERPC_FAULT, true, false},
    {"ack", BB_DCERPC_INTERNAL, true, false},
    {"cl_cancel", BB_DCERPC_CANCEL, true, false},
    {"fack", BB_DCERPC_INTERNAL, true, false},
    {"cancel_ack", BB_DCERPC_INTERNAL, true, false},
    {"bind", BB_DCERPC_BIND, false, true},
    {"bind_ack", BB_DCERPC_BIND_ACK, false, true},
    {"bind_nak", BB_DCERPC_BIND_NAK, false, true},
    {"alter_context", BB_DCERPC_ALTER, false, true},
    {"alter_context_resp", BB_DCERPC_ALTER_ACK, false, true},
    {"auth3", BB_DCERPC_INTERNAL, false, true},
    {"shutdown", BB_DCERPC_CANCEL, false, true},
    {"co_cancel", BB_DCERPC_CANCEL, false, true},
    {"orphaned", BB_DCERPC_CANCEL, false, true},
};

bool bb_dcerpc_from_client(BbDcerpcKind kind)
{
    return kind == BB_DCERPC_REQUEST || kind == BB_DCERPC_BIND || kind == BB_DCERPC_ALTER;
}

bool bb_dcerpc_from_server(BbDcerpcKind kind)
{
    return !bb_dcerpc_from_client(kind) && kind != BB_DCERPC_CANCEL && kind != BB_DCERPC_INTERNAL;
}

// ---- bodies -----------------------------------------------------------------------------------

// The reader of a packet whose integers are in the order it says.
typedef struct Reader {
    BbCursor c;
    bool little;
} Reader;

static guint16 take16(Reader *reader)
{
    return reader->little ? bb_cursor_le16(&reader->c) : bb_cursor_be16(&reader->c);
}

static guint32 take32(Reader *reader)
{
    return reader->little ? bb_cursor_le32(&reader->c) : bb_cursor_be32(&reader->c);
}

// C706, 12.6.3.1: contexts, each with one abstract syntax and several transfer syntaxes.
static void read_bind(BbDcerpcPacket *packet, Reader *reader)
{
    bb_cursor_skip(&reader->c, 8); // sizes of fragments, association group
    guint8 contexts = bb_cursor_u8(&reader->c);
    bb_cursor_skip(&reader->c, 3);
    for (guint i = 0; i < MIN(contexts, BB_DCERPC_BINDINGS); i++) {
        guint16 context = take16(reader);
        guint8 transfers = bb_cursor_u8(&reader->c);
        bb_cursor_skip(&reader->c, 1);
        const guint8 *syntax = bb_cursor_take(&reader->c, SYNTAX);
        if (!syntax)
            return;
        BbDcerpcBinding *binding = &packet->binding[packet->bindings++];
        binding->context = context;
        bb_dcerpc_interface_format(syntax, reader->little, binding->interface);
        bb_cursor_skip(&reader->c, (gsize)transfers * SYNTAX);
    }
}

// C706, 12.6.3.1: behind the secondary address a result for each context; 0 is acceptance.
static void read_bind_ack(BbDcerpcPacket *packet, Reader *reader)
{
    bb_cursor_skip(&reader->c, 8);
    guint16 address = take16(reader);
    gsize padding = (4 - ((gsize)address + 2) % 4) % 4;
    bb_cursor_skip(&reader->c, address + padding);
    guint8 results = bb_cursor_u8(&reader->c);
    bb_cursor_skip(&reader->c, 3);
    packet->accepted = !bb_cursor_ok(&reader->c) || results == 0;
    for (guint i = 0; i < results && !packet->accepted; i++) {
        guint16 result = take16(reader);
        bb_cursor_skip(&reader->c, 2 + SYNTAX);
        packet->accepted = result == 0;
    }
}

static void read_body(BbDcerpcPacket *packet, Reader *reader)
{
    switch (packet->kind) {
    case BB_DCERPC_REQUEST:
        bb_cursor_skip(&reader->c, 4); // allocation hint
        packet->context = take16(reader);
        packet->opnum = take16(reader);
        break;
    case BB_DCERPC_FAULT:
        bb_cursor_skip(&reader->c, 8);
        packet->status = take32(reader);
        break;
    case BB_DCERPC_BIND:
    case BB_DCERPC_ALTER:
        read_bind(packet, reader);
        break;
    case BB_DCERPC_BIND_ACK:
    case BB_DCERPC_ALTER_ACK:
        read_bind_ack(packet, reader);
        break;
    default:
        break;
    }
}

static gsize least_length(BbDcerpcKind kind)
{
    switch (kind) {
    case BB_DCERPC_REQUEST:
    case BB_DCERPC_RESPONSE:
    case BB_DCERPC_BIND_ACK:
    case BB_DCERPC_ALTER_ACK:
        return REQUEST_WANTED;
    case BB_DCERPC_FAULT:
    case BB_DCERPC_BIND:
    case BB_DCERPC_ALTER:
        return FAULT_WANTED;
    default:
        return BB_DCERPC_HEAD;
    }
}

static gsize wanted_length(BbDcerpcKind kind)
{
    bool bind = kind >= BB_DCERPC_BIND && kind <= BB_DCERPC_ALTER_ACK;
    return bind ? BIND_WANTED : least_length(kind);
}

BbDcerpcVerdict bb_dcerpc_packet_read(BbDcerpcPacket *packet, const guint8 *data, gsize length)
{
    Reader reader = {.c = bb_cursor(data, length)};
    guint8 version = bb_cursor_u8(&reader.c), minor = bb_cursor_u8(&reader.c);
    guint8 type = bb_cursor_u8(&reader.c), flags = bb_cursor_u8(&reader.c);
    guint8 integers = bb_cursor_u8(&reader.c), floats = bb_cursor_u8(&reader.c);
    guint16 reserved = bb_cursor_be16(&reader.c);
    // What is missing reads as 0, which is no version. Nobody speaks EBCDIC, whose bit a STARTUP of
    // Cassandra has there.
    if ((length > 0 && version != VERSION) || minor > 1 || floats > 3 || reserved ||
        (integers & ~LITTLE) || type >= G_N_ELEMENTS(types) || !types[type].connection)
        return BB_DCERPC_BAD;
    reader.little = integers & LITTLE;
    gsize total = take16(&reader), authentication = take16(&reader);
    guint64 id = take32(&reader);
    if (!bb_cursor_ok(&reader.c))
        return BB_DCERPC_SHORT;
    *packet = (BbDcerpcPacket){
        .kind = types[type].kind,
        .name = types[type].name,
        .length = total,
        .wanted = wanted_length(types[type].kind),
        .id = id + 1,
        .first = flags & FIRST_FRAGMENT,
        .last = flags & LAST_FRAGMENT,
        .maybe = types[type].kind == BB_DCERPC_REQUEST && flags & MAYBE,
    };
    if (total < least_length(packet->kind) || authentication + BB_DCERPC_HEAD > total)
        return BB_DCERPC_BAD;
    read_body(packet, &reader);
    return BB_DCERPC_READ;
}

// ---- datagrams --------------------------------------------------------------------------------

// Calls of an activity are numbered; both are the call's identity (C706, 12.5.2).
static guint64 activity_id(const guint8 *activity, guint32 sequence)
{
    guint64 id = G_GUINT64_CONSTANT(14695981039346656037);
    for (guint i = 0; i < UUID; i++)
        id = (id ^ activity[i]) * G_GUINT64_CONSTANT(1099511628211);
    id = (id ^ sequence) * G_GUINT64_CONSTANT(1099511628211);
    id &= G_MAXINT64; // decoders have the highest bit for themselves
    return MAX(id, 1);
}

BbDcerpcVerdict bb_dcerpc_datagram_read(BbDcerpcPacket *packet, const guint8 *data, gsize length,
                                        gsize missing)
{
    Reader reader = {.c = bb_cursor(data, length)};
    guint8 version = bb_cursor_u8(&reader.c), type = bb_cursor_u8(&reader.c);
    guint8 flags = bb_cursor_u8(&reader.c);
    bb_cursor_skip(&reader.c, 1);
    guint8 integers = bb_cursor_u8(&reader.c), floats = bb_cursor_u8(&reader.c);
    guint8 reserved = bb_cursor_u8(&reader.c);
    bb_cursor_skip(&reader.c, 1 + UUID); // serial number, object
    const guint8 *interface = bb_cursor_take(&reader.c, UUID);
    const guint8 *activity = bb_cursor_take(&reader.c, UUID);
    reader.little = integers & LITTLE;
    bb_cursor_skip(&reader.c, 8); // boot time, version of the interface
    guint32 sequence = take32(&reader);
    guint16 opnum = take16(&reader);
    bb_cursor_skip(&reader.c, 4);
    guint16 body = take16(&reader), fragment = take16(&reader);
    guint8 authentication = bb_cursor_u8(&reader.c);
    bb_cursor_skip(&reader.c, 1);
    if (!bb_cursor_ok(&reader.c))
        return BB_DCERPC_SHORT;
    // Authentication data may follow the body.
    if (version != DATAGRAM_VERSION || type >= G_N_ELEMENTS(types) || !types[type].datagram ||
        (integers & ~(LITTLE | 1u)) || floats > 3 || reserved || authentication > 16 ||
        body > reader.c.left + missing || (!authentication && body < reader.c.left))
        return BB_DCERPC_BAD;
    bool fragmented = flags & DATAGRAM_FRAGMENT;
    *packet = (BbDcerpcPacket){
        .kind = types[type].kind,
        .name = types[type].name,
        .length = length,
        .id = activity_id(activity, sequence),
        .opnum = opnum,
        .first = !fragmented || fragment == 0,
        .last = !fragmented || flags & DATAGRAM_LAST,
        .maybe = types[type].kind == BB_DCERPC_REQUEST && flags & DATAGRAM_MAYBE,
    };
    bb_dcerpc_interface_format(interface, reader.little, packet->interface);
    if (packet->kind == BB_DCERPC_FAULT)
        packet->status = take32(&reader);
    return BB_DCERPC_READ;
}

// ---- the probe --------------------------------------------------------------------------------

static BbMatch match_of(BbDcerpcKind kind)
{
    if (bb_dcerpc_from_client(kind))
        return BB_MATCH_REQUEST;
    return bb_dcerpc_from_server(kind) ? BB_MATCH_REPLY : BB_MATCH_LIKELY;
}

BbMatch bb_dcerpc_probe(const guint8 *data, gsize length)
{
    BbDcerpcPacket packet = {0};
    if (length > 0 && data[0] == DATAGRAM_VERSION)
        return bb_dcerpc_datagram_read(&packet, data, length, 0) == BB_DCERPC_READ
                   ? match_of(packet.kind)
                   : BB_MATCH_NO;
    switch (bb_dcerpc_packet_read(&packet, data, length)) {
    case BB_DCERPC_BAD:
        return BB_MATCH_NO;
    case BB_DCERPC_SHORT:
        return BB_MATCH_MORE;
    default:
        return match_of(packet.kind);
    }
}
