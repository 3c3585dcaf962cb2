// SPDX-License-Identifier: Apache-2.0
// In: IP headers and what may stand between them and the transport. Out: addresses, the length of
// the payload, the protocol that follows. RFC 791, RFC 8200, RFC 2675 (jumbograms), RFC 4302 (AH).
#include "capture/layers/walk.h"

#define MORE_FRAGMENTS 0x2000u
#define FRAGMENT_OFFSET 0x1fffu

// What is left of walk is a fragment. Goes on with the packet it completes, if it does.
static BbLayerId reassemble(BbWalk *walk, BbFragment *fragment)
{
    fragment->source = walk->packet->source;
    fragment->target = walk->packet->target;
    fragment->vlan = walk->packet->vlan;
    fragment->vni = walk->packet->vni;
    fragment->has_vni = walk->packet->has_vni;
    fragment->data = walk->rest.at;
    fragment->captured = (guint32)walk->rest.left;
    fragment->length = (guint32)walk->wire;
    fragment->time_ns = walk->packet->time_ns;
    fragment->place = walk->packet->place;
    BbFragment whole;
    if (!bb_fragments_push(walk->fragments, fragment, &whole))
        return BB_LAYER_NONE;
    walk->rest = bb_cursor(whole.data, whole.captured);
    walk->wire = whole.length;
    walk->packet->time_ns = whole.time_ns;
    walk->packet->took_ns = whole.last_ns - whole.time_ns;
    walk->packet->place = whole.place;
    return bb_walk_protocol(walk, whole.protocol);
}

BbLayerId bb_layer_ipv4(BbWalk *walk)
{
    BbCursor header, options;
    if (!bb_walk_take(walk, 20, &header))
        return BB_LAYER_NONE;
    guint8 first = bb_cursor_u8(&header);
    gsize size = (first & 0x0fu) * 4u;
    if (first >> 4 != 4 || size < 20)
        return bb_walk_refuse(walk, BB_BAD_FRAME);
    bb_cursor_skip(&header, 1); // type of service
    guint16 total = bb_cursor_be16(&header);
    if (total != 0 && total < size)
        return bb_walk_refuse(walk, BB_BAD_FRAME);
    guint16 id = walk->packet->ip_id = bb_cursor_be16(&header);
    guint16 place = bb_cursor_be16(&header);
    walk->packet->ttl = bb_cursor_u8(&header);
    guint8 protocol = bb_cursor_u8(&header);
    bb_cursor_skip(&header, 2); // checksum
    walk->packet->source = bb_address_v4(bb_cursor_take(&header, 4));
    walk->packet->target = bb_address_v4(bb_cursor_take(&header, 4));
    walk->protocols = bb_layer_ipv4_protocols;
    // A packet longer than 64 KiB, which the network card is to cut (TSO), has the length 0: it
    // goes to the end of the frame.
    if (total != 0)
        bb_walk_limit(walk, total - 20u);
    if (!bb_walk_take(walk, size - 20, &options))
        return BB_LAYER_NONE;
    if ((place & (MORE_FRAGMENTS | FRAGMENT_OFFSET)) == 0)
        return bb_walk_protocol(walk, protocol);
    return reassemble(walk, &(BbFragment){.id = id,
                                          .protocol = protocol,
                                          .offset = (place & FRAGMENT_OFFSET) * 8u,
                                          .more = (place & MORE_FRAGMENTS) != 0});
}

#define OPTION_PAD1 0x00 // without a length
#define OPTION_JUMBO 0xc2
#define LENGTH_MAX 65535u // that the field of IPv6 can tell

// The length of a jumbogram (RFC 2675, section 2) among hop-by-hop options; 0 where there is none.
static guint32 find_jumbo(BbCursor options)
{
    while (options.left) {
        guint8 type = bb_cursor_u8(&options);
        if (type == OPTION_PAD1)
            continue;
        guint8 size = bb_cursor_u8(&options);
        if (type == OPTION_JUMBO && size == 4)
            return bb_cursor_be32(&options);
        bb_cursor_skip(&options, size);
    }
    return 0;
}

// Hosts with BIG TCP have such packets before the network card cuts them. Length 0 before
// hop-by-hop options that do not tell another one is an error (section 3), and so is one that is no
// jumbogram's.
static bool limit_jumbogram(BbWalk *walk)
{
    BbWalk ahead = *walk;
    BbCursor header, options;
    if (!bb_walk_take(&ahead, 2, &header))
        return false;
    bb_cursor_skip(&header, 1); // next header
    if (!bb_walk_take(&ahead, bb_cursor_u8(&header) * 8u + 6u, &options))
        return false;
    guint32 length = find_jumbo(options);
    if (length > LENGTH_MAX)
        bb_walk_limit(walk, MIN(length, walk->wire)); // no switch that truncates has seen it
    else
        bb_walk_refuse(walk, BB_BAD_FRAME);
    return length > LENGTH_MAX;
}

BbLayerId bb_layer_ipv6(BbWalk *walk)
{
    BbCursor header;
    if (!bb_walk_take(walk, 40, &header))
        return BB_LAYER_NONE;
    if (bb_cursor_be32(&header) >> 28 != 6)
        return bb_walk_refuse(walk, BB_BAD_FRAME);
    walk->packet->ip_id = 0;
    guint16 length = bb_cursor_be16(&header);
    guint8 next = bb_cursor_u8(&header);
    walk->packet->ttl = bb_cursor_u8(&header);
    walk->packet->source = bb_address_v6(bb_cursor_take(&header, 16));
    walk->packet->target = bb_address_v6(bb_cursor_take(&header, 16));
    walk->protocols = bb_layer_ipv6_protocols;
    // Length 0 and hop-by-hop options: a jumbogram. Without them: as in IPv4, TSO.
    if (length != 0)
        bb_walk_limit(walk, length);
    else if (next == 0 && !limit_jumbogram(walk))
        return BB_LAYER_NONE;
    return bb_walk_protocol(walk, next);
}

// IP in IP of all four kinds: RFC 2003, RFC 4213, RFC 2473.
BbLayerId bb_layer_inner_ipv4(BbWalk *walk)
{
    walk->loss->count[BB_TUNNELLED]++;
    return BB_LAYER_IPV4;
}

BbLayerId bb_layer_inner_ipv6(BbWalk *walk)
{
    walk->loss->count[BB_TUNNELLED]++;
    return BB_LAYER_IPV6;
}

// Behind the segments of SRv6 (RFC 8986, section 10.1).
BbLayerId bb_layer_inner_ethernet(BbWalk *walk)
{
    walk->loss->count[BB_TUNNELLED]++;
    return BB_LAYER_ETHERNET;
}

// RFC 3378: version 3, and nothing else.
BbLayerId bb_layer_etherip(BbWalk *walk)
{
    BbCursor header;
    if (!bb_walk_take(walk, 2, &header))
        return BB_LAYER_NONE;
    if (bb_cursor_be16(&header) != 0x3000)
        return bb_walk_refuse(walk, BB_BAD_FRAME);
    return bb_layer_inner_ethernet(walk);
}

// Hop-by-hop options, routing, destination options: RFC 8200, 4.3 to 4.6.
BbLayerId bb_layer_extension(BbWalk *walk)
{
    BbCursor header, rest;
    if (!bb_walk_take(walk, 8, &header))
        return BB_LAYER_NONE;
    guint8 next = bb_cursor_u8(&header);
    if (!bb_walk_take(walk, bb_cursor_u8(&header) * 8u, &rest))
        return BB_LAYER_NONE;
    return bb_walk_protocol(walk, next);
}

// RFC 8200, 4.5. A fragment that is a whole packet stands for itself, whatever others have its id
// (RFC 6946).
BbLayerId bb_layer_fragment(BbWalk *walk)
{
    BbCursor header;
    if (!bb_walk_take(walk, 8, &header))
        return BB_LAYER_NONE;
    guint8 next = bb_cursor_u8(&header);
    bb_cursor_skip(&header, 1); // reserved
    guint16 place = bb_cursor_be16(&header);
    guint32 offset = place & 0xfff8u;
    bool more = (place & 1) != 0;
    if (offset == 0 && !more)
        return bb_walk_protocol(walk, next);
    return reassemble(
        walk, &(BbFragment){
                  .id = bb_cursor_be32(&header), .protocol = next, .offset = offset, .more = more});
}

// RFC 4302, 2: what follows is not encrypted. The length counts words of 4 bytes less 2.
BbLayerId bb_layer_authentication(BbWalk *walk)
{
    BbCursor header, check;
    if (!bb_walk_take(walk, 12, &header))
        return BB_LAYER_NONE;
    guint8 next = bb_cursor_u8(&header);
    guint8 words = bb_cursor_u8(&header);
    if (words < 1)
        return bb_walk_refuse(walk, BB_BAD_FRAME);
    if (!bb_walk_take(walk, (words - 1u) * 4u, &check))
        return BB_LAYER_NONE;
    return bb_walk_protocol(walk, next);
}
