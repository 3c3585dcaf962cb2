// SPDX-License-Identifier: Apache-2.0
// In: a frame and the packet that was found in it. Out: where its headers are, and whether they
// add up.
#include "capture/doctor/headers.h"

#include "capture/cursor.h"

#define HEADER_MIN 20u // of IPv4 and of TCP
#define HEADER_MAX 60u
#define IPV6_HEADER 40u
#define UDP_HEADER 8u
#define LENGTH_MAX 65535u
#define OPTION_END 0
#define OPTION_NOTHING 1
#define OPTION_MSS 2

// ---- finding ------------------------------------------------------------------------------------

static bool is_tcp(const guint8 *at, gsize size, const BbPacket *packet)
{
    BbCursor c = bb_cursor(at, size);
    return bb_cursor_be16(&c) == packet->source_port && bb_cursor_be16(&c) == packet->target_port &&
           bb_cursor_be32(&c) == packet->seq && bb_cursor_be32(&c) == packet->ack &&
           (bb_cursor_u8(&c) >> 4) * 4u == size;
}

static bool is_udp(const guint8 *at, const BbPacket *packet)
{
    BbCursor c = bb_cursor(at, UDP_HEADER);
    return bb_cursor_be16(&c) == packet->source_port && bb_cursor_be16(&c) == packet->target_port &&
           bb_cursor_be16(&c) == packet->length + UDP_HEADER;
}

static bool is_ipv4(const guint8 *at, gsize size, const BbPacket *packet)
{
    return at[0] == (0x40 | size / 4) && at[9] == packet->transport &&
           memcmp(at + 12, packet->source.bytes + 12, 4) == 0 &&
           memcmp(at + 16, packet->target.bytes + 12, 4) == 0;
}

static bool is_ipv6(const guint8 *at, const BbPacket *packet)
{
    return at[0] >> 4 == 6 && at[6] == packet->transport &&
           memcmp(at + 8, packet->source.bytes, 16) == 0 &&
           memcmp(at + 24, packet->target.bytes, 16) == 0;
}

// before: bytes of the frame that stand before its payload.
static gsize transport_size(const BbPacket *packet, gsize before)
{
    const guint8 *end = packet->payload;
    if (packet->transport == BB_TRANSPORT_UDP)
        return before >= UDP_HEADER && is_udp(end - UDP_HEADER, packet) ? UDP_HEADER : 0;
    for (gsize size = HEADER_MIN; size <= MIN(HEADER_MAX, before); size += 4)
        if (is_tcp(end - size, size, packet))
            return size;
    return 0;
}

static gsize ip_size(const BbPacket *packet, const guint8 *end, gsize before)
{
    if (!bb_address_is_v4(&packet->source))
        return before >= IPV6_HEADER && is_ipv6(end - IPV6_HEADER, packet) ? IPV6_HEADER : 0;
    for (gsize size = HEADER_MIN; size <= MIN(HEADER_MAX, before); size += 4)
        if (is_ipv4(end - size, size, packet))
            return size;
    return 0;
}

bool bb_headers_find(const BbFrame *frame, const BbPacket *packet, BbHeaders *headers)
{
    // The payload may lie in the memory of reassembly: only numbers can be compared then.
    guintptr begin = (guintptr)frame->data, at = (guintptr)packet->payload;
    if (!packet->payload || at < begin || at - begin > frame->captured)
        return false;
    gsize before = at - begin;
    headers->transport_size = transport_size(packet, before);
    if (headers->transport_size == 0)
        return false;
    headers->transport = packet->payload - headers->transport_size;
    before -= headers->transport_size;
    headers->ip_size = ip_size(packet, headers->transport, before);
    headers->ip = headers->transport - headers->ip_size;
    return headers->ip_size != 0;
}

guint16 bb_headers_mss(const BbHeaders *headers)
{
    if (headers->transport_size < HEADER_MIN)
        return 0;
    BbCursor c = bb_cursor(headers->transport + HEADER_MIN, headers->transport_size - HEADER_MIN);
    while (c.left) {
        guint8 kind = bb_cursor_u8(&c);
        if (kind == OPTION_NOTHING)
            continue;
        guint8 size = kind == OPTION_END ? 0 : bb_cursor_u8(&c);
        if (size < 2)
            break;
        if (kind == OPTION_MSS && size == 4)
            return bb_cursor_be16(&c);
        bb_cursor_skip(&c, size - 2u);
    }
    return 0;
}

// ---- checksums ----------------------------------------------------------------------------------

// The sum of RFC 1071, not folded. It is the same in any order of bytes, as long as the result is
// read in that order too; only the last piece may have an odd size.
static guint64 add(guint64 sum, const void *bytes, gsize size)
{
    const guint8 *at = bytes;
    for (; size >= 4; at += 4, size -= 4) {
        guint32 word;
        memcpy(&word, at, sizeof word);
        sum += word;
    }
    guint32 rest = 0;
    memcpy(&rest, at, size);
    return sum + rest;
}

static guint16 fold(guint64 sum)
{
    while (sum >> 16)
        sum = (sum & 0xffff) + (sum >> 16);
    return (guint16)sum;
}

static guint16 field(const guint8 *at)
{
    guint16 value;
    memcpy(&value, at, sizeof value);
    return value;
}

// The pseudo header without the length, and what the length adds.
static guint64 add_addresses(const BbHeaders *headers, const BbPacket *packet)
{
    bool v4 = bb_address_is_v4(&packet->source);
    const guint8 protocol[4] = {0, packet->transport};
    return add(add(0, headers->ip + (v4 ? 12 : 8), v4 ? 8 : 32), protocol, sizeof protocol);
}

static guint64 add_length(guint64 sum, gsize length)
{
    const guint8 bytes[4] = {(guint8)(length >> 8), (guint8)length};
    return add(sum, bytes, sizeof bytes);
}

static BbChecksum check_ip(const BbHeaders *headers, const BbPacket *packet)
{
    if (!bb_address_is_v4(&packet->source) || fold(add(0, headers->ip, headers->ip_size)) == 0xffff)
        return BB_CHECKSUM_RIGHT;
    return field(headers->ip + 10) == 0 ? BB_CHECKSUM_UNFILLED : BB_CHECKSUM_WRONG;
}

static BbChecksum check_transport(const BbHeaders *headers, const BbPacket *packet)
{
    bool is_udp = packet->transport == BB_TRANSPORT_UDP;
    gsize length = headers->transport_size + packet->length;
    guint16 said = field(headers->transport + (is_udp ? 6 : 16));
    if (packet->captured < packet->length || length > LENGTH_MAX ||
        (is_udp && said == 0 && bb_address_is_v4(&packet->source)))
        return BB_CHECKSUM_NONE;
    guint64 addresses = add_addresses(headers, packet);
    guint64 pseudo = add_length(addresses, length);
    if (fold(add(pseudo, headers->transport, length)) == 0xffff)
        return BB_CHECKSUM_RIGHT;
    // A card that cuts segments adds the length itself.
    bool unfilled = said == 0 || said == fold(pseudo) || said == fold(addresses);
    return unfilled ? BB_CHECKSUM_UNFILLED : BB_CHECKSUM_WRONG;
}

BbChecksum bb_headers_checksum(const BbHeaders *headers, const BbPacket *packet)
{
    BbChecksum transport = check_transport(headers, packet);
    if (transport == BB_CHECKSUM_NONE)
        return BB_CHECKSUM_NONE;
    BbChecksum ip = check_ip(headers, packet);
    return MAX(ip, transport);
}
