// SPDX-License-Identifier: Apache-2.0
// What travels inside capture/: a frame as a source gives it, and the packet that the layers found
// in it. Both are lent until the next one is read.
#pragma once

#include "data/address.h"

// Where a frame stands, to find it again in other programs.
typedef struct BbPlace {
    guint32 file;  // name of its file (BbNames); BB_NAME_NONE where it is not kept
    guint32 frame; // its number there, from 1 on; 0: not known
} BbPlace;

typedef struct BbFrame {
    gint64 time_ns;
    const guint8 *data;
    guint32 captured;  // bytes at data
    guint32 length;    // bytes on the wire; more than captured where snaplen cut
    int link_type;     // LINKTYPE_ or DLT_ of pcap
    guint32 interface; // index among the interfaces of the capture
    BbPlace place;     // a source gives the number, whoever wants it kept the file
} BbFrame;

// Ports of clients, as a rule, are these and above (RFC 6335, section 6; Linux's
// ip_local_port_range).
#define BB_PORT_OF_CLIENTS 32768u

typedef enum { BB_TRANSPORT_TCP = 6, BB_TRANSPORT_UDP = 17 } BbTransport;

#define BB_TCP_FIN 0x01u
#define BB_TCP_SYN 0x02u
#define BB_TCP_RST 0x04u
#define BB_TCP_PSH 0x08u
#define BB_TCP_ACK 0x10u
#define BB_TCP_URG 0x20u

// What is known of a packet of a connection that was seen on several sides of a NAT
// (capture/translation.h).
typedef enum {
    BB_TRANSLATED_NOT,
    BB_TRANSLATED_SOURCE, // who sent it is really `hidden`
    BB_TRANSLATED_TARGET, // to whom it goes, likewise
    BB_TRANSLATED_TWIN,   // what was seen of its connection so far is of another one: forget it
} BbTranslated;

typedef struct BbPacket {
    gint64 time_ns;
    gint64 took_ns; // until the last of its IP fragments came
    BbAddress source, target;
    guint16 source_port, target_port;
    BbTransport transport;
    guint8 tcp_flags;
    guint32 seq, ack; // TCP only
    guint16 window;   // TCP only, as it stands (RFC 7323 may scale it)
    guint32 vlan;     // of the innermost Ethernet frame: the last two tags, 12 bits each; 0: none
    guint32 vni;      // network of the innermost overlay (VXLAN, GENEVE, key of GRE)
    bool has_vni;
    BbPlace place;   // of the frame with its first byte
    guint64 servers; // that were known when it was read (capture/servers.h)
    guint64 number;  // among the packets of a capture, from 1 on; 0 where nobody counts them
    guint16 ip_id;   // identification of the IPv4 header (RFC 6864); 0 for IPv6
    guint8 ttl; // time to live, or hop limit, of the innermost IP header; of fragments: the last
    // Of capture/translation.h: a BbTranslated, and the end that it speaks of.
    guint8 translated;
    guint16 hidden_port;
    BbAddress hidden;
    // Of the TCP header, as far as captured; the intake alone has them.
    guint8 options_size;
    const guint8 *options;
    const guint8 *payload;
    guint32 captured; // bytes at payload
    guint32 length;   // bytes of payload on the wire; more than captured where snaplen cut
} BbPacket;
