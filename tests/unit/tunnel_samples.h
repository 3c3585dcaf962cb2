// SPDX-License-Identifier: Apache-2.0
// Frames of each kind of tunnel, with the same packet inside.
#pragma once

#include "tests/unit/layer_run.h"

#define PPP 9
#define PPP_ETHER 51
#define WLAN 105
#define WLAN_RADIO 127
#define NFLOG 239

#define PAYLOAD 40u

// ---- frames, from the inside out ----------------------------------------------------------------

static inline Frame *inner(void)
{
    Frame *frame = frame_payload(PAYLOAD);
    frame_tcp(frame, BB_TCP_ACK, 0);
    frame_ipv4(frame, 6);
    return frame;
}

static inline Frame *inner6(void)
{
    Frame *frame = frame_payload(PAYLOAD);
    frame_tcp(frame, BB_TCP_ACK, 0);
    frame_ipv6(frame, 6);
    return frame;
}

static inline Frame *inner_ethernet(void)
{
    Frame *frame = inner();
    frame_ethernet(frame, 0x0800);
    return frame;
}

static inline Frame *inner_vlan(guint16 id)
{
    Frame *frame = inner();
    FRAME_PUT(frame, FRAME_16(id), FRAME_16(0x0800));
    frame_ethernet(frame, 0x8100);
    return frame;
}

// Outer IPv4 from 192.0.2.1 to 192.0.2.2.
static inline Frame *outer(Frame *frame, guint8 protocol)
{
    guint total = frame->len + 20;
    FRAME_PUT(frame, 0x45, 0, FRAME_16(total), 0, 1, 0, 0, 64, protocol, 0, 0, 192, 0, 2, 1, 192, 0,
              2, 2);
    frame_ethernet(frame, 0x0800);
    return frame;
}

static inline Frame *outer_udp_from(Frame *frame, guint16 from, guint16 to)
{
    guint length = frame->len + 8;
    FRAME_PUT(frame, FRAME_16(from), FRAME_16(to), FRAME_16(length), 0, 0);
    return outer(frame, 17);
}

static inline Frame *outer_udp(Frame *frame, guint16 port)
{
    return outer_udp_from(frame, 54321, port);
}

static inline Frame *outer_gre(Frame *frame, guint16 flags, guint16 type)
{
    FRAME_PUT(frame, FRAME_16(flags), FRAME_16(type));
    return outer(frame, 47);
}

static inline Frame *mpls(void)
{
    Frame *frame = inner();
    FRAME_PUT(frame, FRAME_32(0x00064140)); // label 100, bottom of the stack
    FRAME_PUT(frame, FRAME_32(0x000c8040)); // label 200
    frame_ethernet(frame, 0x8847);
    return frame;
}

static inline Frame *pseudowire(bool control_word)
{
    Frame *frame = inner_ethernet(); // whose first nibble is 0 as a control word's
    if (control_word)
        FRAME_PUT(frame, 0, 0, 0, 1);
    else
        frame->data[0] = 0x20;
    FRAME_PUT(frame, FRAME_32(0x00064140));
    frame_ethernet(frame, 0x8848);
    return frame;
}

static inline Frame *pseudowire_with_control(void)
{
    return pseudowire(true);
}

static inline Frame *pseudowire_without_control(void)
{
    return pseudowire(false);
}

static inline Frame *mpls6(void)
{
    Frame *frame = inner6();
    FRAME_PUT(frame, FRAME_32(0x00002140)); // explicit null would do as well
    frame_ethernet(frame, 0x8847);
    return frame;
}

static inline void put_pppoe(Frame *frame)
{
    guint length = frame->len;
    FRAME_PUT(frame, 0x11, 0, FRAME_16(7), FRAME_16(length));
}

static inline Frame *pppoe(void)
{
    Frame *frame = inner();
    FRAME_PUT(frame, FRAME_16(0x0021));
    put_pppoe(frame);
    frame_ethernet(frame, 0x8864);
    return frame;
}

static inline Frame *pppoe6(void)
{
    Frame *frame = inner6();
    FRAME_PUT(frame, 0x57); // the first byte of the protocol left out
    put_pppoe(frame);
    return frame;
}

static inline Frame *ppp(void)
{
    Frame *frame = inner();
    FRAME_PUT(frame, 0xff, 0x03, FRAME_16(0x0021));
    return frame;
}

static inline Frame *nsh(void)
{
    Frame *frame = inner_ethernet();
    for (guint i = 0; i < 4; i++)
        FRAME_PUT(frame, FRAME_32(i));
    FRAME_PUT(frame, FRAME_16(0x0fc6), 1, 3, FRAME_32(0x00002aff));
    frame_ethernet(frame, 0x894f);
    return frame;
}

static inline Frame *vntag(void)
{
    Frame *frame = inner();
    FRAME_PUT(frame, FRAME_16(321), FRAME_16(0x0800));
    FRAME_PUT(frame, FRAME_32(0x80050006), FRAME_16(0x8100));
    frame_ethernet(frame, 0x8926);
    return frame;
}

static inline Frame *metadata(void)
{
    Frame *frame = inner();
    FRAME_PUT(frame, 1, 1, FRAME_16(1), FRAME_16(513), FRAME_16(0x0800));
    frame_ethernet(frame, 0x8909);
    return frame;
}

static inline Frame *metadata_long(void)
{
    Frame *frame = inner6();
    FRAME_PUT(frame, 1, 2, FRAME_16(1), FRAME_16(513), FRAME_32(0), FRAME_32(0), FRAME_16(0x86dd));
    frame_ethernet(frame, 0x8909);
    return frame;
}

static inline Frame *etherip(void)
{
    Frame *frame = inner_vlan(77);
    FRAME_PUT(frame, 0x30, 0);
    return outer(frame, 97);
}

// Of two segments, which are left.
static inline Frame *srv6_ethernet(void)
{
    Frame *frame = inner_ethernet();
    for (guint i = 0; i < 4; i++)
        FRAME_PUT(frame, FRAME_32(0xfc000000), FRAME_32(0));
    FRAME_PUT(frame, 143, 4, 4, 0, 1, 0, FRAME_16(0));
    frame_ipv6(frame, 43);
    frame_ethernet(frame, 0x86dd);
    return frame;
}

static inline Frame *ip_in_ip(void)
{
    return outer(inner(), 4);
}

static inline Frame *ip6_in_ip(void)
{
    return outer(inner6(), 41);
}

static inline Frame *ip_in_ip6(void)
{
    Frame *frame = inner();
    frame_ipv6(frame, 4);
    frame_ethernet(frame, 0x86dd);
    return frame;
}

static inline Frame *ip6_in_ip6(void)
{
    Frame *frame = inner6();
    frame_ipv6(frame, 41);
    frame_ethernet(frame, 0x86dd);
    return frame;
}

static inline Frame *gre(void)
{
    return outer_gre(inner(), 0, 0x0800);
}

static inline Frame *gre_all(void)
{
    Frame *frame = inner_vlan(77);
    FRAME_PUT(frame, FRAME_32(9));    // sequence
    FRAME_PUT(frame, FRAME_32(5000)); // key
    FRAME_PUT(frame, FRAME_32(0));    // checksum
    return outer_gre(frame, 0xb000, 0x6558);
}

static inline Frame *gre_keyed(Frame *frame, guint32 key, guint16 type)
{
    FRAME_PUT(frame, FRAME_32(key));
    return outer_gre(frame, 0x2000, type);
}

static inline Frame *nvgre(void)
{
    return gre_keyed(inner_ethernet(), 5000u << 8 | 0x77, 0x6558);
}

static inline Frame *gre_bridged(void) // as ip(8) does: the key is all there is
{
    return gre_keyed(inner_ethernet(), 0xfff77, 0x6558);
}

static inline Frame *gre_with_key(void)
{
    return gre_keyed(inner(), 5000u << 8 | 0x77, 0x0800);
}

static inline Frame *gre_over_ip6(void)
{
    Frame *frame = inner6();
    FRAME_PUT(frame, FRAME_16(0), FRAME_16(0x86dd));
    frame_ipv6(frame, 47);
    frame_ethernet(frame, 0x86dd);
    return frame;
}

static inline Frame *pptp(void)
{
    Frame *frame = inner();
    FRAME_PUT(frame, 0xff, 0x03, 0x21);
    guint length = frame->len;
    FRAME_PUT(frame, FRAME_32(4)); // acknowledgement
    FRAME_PUT(frame, FRAME_32(5)); // sequence
    FRAME_PUT(frame, FRAME_16(length), FRAME_16(1));
    return outer_gre(frame, 0x3081, 0x880b);
}

static inline Frame *erspan1(void)
{
    return outer_gre(inner_ethernet(), 0, 0x88be);
}

static inline Frame *erspan2(void)
{
    Frame *frame = inner_ethernet();
    FRAME_PUT(frame, FRAME_16(0x1000 | 321), FRAME_16(0x0005), FRAME_32(7));
    FRAME_PUT(frame, FRAME_32(1)); // sequence
    return outer_gre(frame, 0x1000, 0x88be);
}

static inline Frame *erspan3_of(guint32 stamp, guint16 flags, Frame *frame)
{
    if (flags & 1)
        FRAME_PUT(frame, FRAME_32(0x0c000001), FRAME_32(1700000000));
    FRAME_PUT(frame, FRAME_16(0x2000 | 12), FRAME_16(0x0005), FRAME_32(stamp), FRAME_16(0),
              FRAME_16(flags));
    FRAME_PUT(frame, FRAME_32(1));
    return outer_gre(frame, 0x1000, 0x22eb);
}

static inline Frame *erspan3(void)
{
    return erspan3_of(1, 0, inner_vlan(34)); // its own tag wins
}

static inline Frame *erspan3_subheader(void)
{
    return erspan3_of(1, 5, inner_ethernet());
}

static inline Frame *erspan3_ip(void)
{
    return erspan3_of(1, 2u << 10, inner());
}

static inline Frame *vxlan(void)
{
    Frame *frame = inner_ethernet();
    FRAME_PUT(frame, FRAME_32(0x08000000), FRAME_32(5000u << 8));
    return outer_udp(frame, 4789);
}

static inline Frame *vxlan_gpe(void)
{
    Frame *frame = inner6();
    FRAME_PUT(frame, FRAME_32(0x0c000002), FRAME_32(5000u << 8));
    return outer_udp(frame, 4790);
}

static inline Frame *geneve(void)
{
    Frame *frame = inner_ethernet();
    FRAME_PUT(frame, FRAME_32(0x01020304), FRAME_32(0x05060708)); // options
    FRAME_PUT(frame, 0x02, 0, FRAME_16(0x6558), FRAME_32(5000u << 8));
    return outer_udp(frame, 6081);
}

static inline Frame *geneve_ip(void)
{
    Frame *frame = inner();
    FRAME_PUT(frame, 0x00, 0, FRAME_16(0x0800), FRAME_32(5000u << 8));
    return outer_udp(frame, 6081);
}

static inline Frame *gtpu_of(Frame *frame, guint8 flags)
{
    guint length = frame->len;
    FRAME_PUT(frame, (guint8)(0x30 | flags), 0xff, FRAME_16(length), FRAME_32(1));
    return outer_udp_from(frame, 2152, 40000);
}

static inline Frame *gtpu(void)
{
    return gtpu_of(inner(), 0);
}

static inline Frame *gtpu_extended(void)
{
    Frame *frame = inner6();
    FRAME_PUT(frame, 1, 1, 2, 0);                // the last extension
    FRAME_PUT(frame, 2, 1, 2, 3, 4, 5, 6, 0x85); // PDU session container comes next
    FRAME_PUT(frame, FRAME_16(1), 0, 0xc0);
    return gtpu_of(frame, 4);
}

static inline Frame *teredo(void)
{
    return outer_udp(inner6(), 3544);
}

static inline Frame *teredo_indications(void)
{
    Frame *frame = inner6();
    FRAME_PUT(frame, 0, 0, 1, 2, 3, 4, 5, 6);                               // origin
    FRAME_PUT(frame, 0, 1, 1, 2, 'c', 'v', 'v', 1, 2, 3, 4, 5, 6, 7, 8, 0); // proof
    return outer_udp_from(frame, 3544, 50000);
}

static inline Frame *tzsp(void)
{
    Frame *frame = inner_ethernet();
    FRAME_PUT(frame, 1, 0, FRAME_16(1), 10, 1, 99, 0, 1); // a tag of one byte, padding, end
    return outer_udp(frame, 37008);
}

static inline Frame *gre_in_udp(void)
{
    Frame *frame = inner();
    FRAME_PUT(frame, FRAME_16(0), FRAME_16(0x0800));
    return outer_udp(frame, 4754);
}

static inline Frame *mpls_in_udp(void)
{
    Frame *frame = inner();
    FRAME_PUT(frame, FRAME_32(0x00064140));
    return outer_udp(frame, 6635);
}

static inline void put_wlan_head(Frame *frame, guint8 subtype, guint8 flags)
{
    if (subtype & 8)
        FRAME_PUT(frame, 0, 0);
    if ((flags & 3) == 3)
        FRAME_PUT(frame, 6, 6, 6, 6, 6, 6);
    FRAME_PUT(frame, (guint8)(subtype << 4 | 2 << 2), flags, 0, 0, 1, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2,
              2, 3, 3, 3, 3, 3, 3, 0, 0);
}

static inline void put_wlan(Frame *frame, guint8 subtype, guint8 flags)
{
    frame_snap(frame, 0, 0x0800);
    put_wlan_head(frame, subtype, flags);
}

static inline Frame *wlan(void)
{
    Frame *frame = inner();
    put_wlan(frame, 0, 1);
    return frame;
}

static inline Frame *wlan_radio(void)
{
    Frame *frame = inner();
    put_wlan(frame, 8, 3);
    FRAME_PUT(frame, 0, 0, 12, 0, 0, 0, 0, 0, 1, 2, 3, 4);
    return frame;
}

// Its header is filled up to whole words, as the flags say behind two words of fields and the
// clock.
static inline Frame *wlan_padded(void)
{
    Frame *frame = inner();
    frame_snap(frame, 0, 0x0800);
    FRAME_PUT(frame, 0, 0);
    put_wlan_head(frame, 8, 1);
    FRAME_PUT(frame, 0, 0, 25, 0, 3, 0, 0, 0x80, 0, 0, 0, 0, 0, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8,
              0x20);
    return frame;
}

// The same without a clock.
static inline Frame *wlan_padded_clockless(void)
{
    Frame *frame = inner();
    frame_snap(frame, 0, 0x0800);
    FRAME_PUT(frame, 0, 0);
    put_wlan_head(frame, 8, 1);
    FRAME_PUT(frame, 0, 0, 9, 0, 2, 0, 0, 0, 0x20);
    return frame;
}

// With addresses of four stations it takes whole words as it is.
static inline Frame *wlan_padded_full(void)
{
    Frame *frame = inner();
    put_wlan(frame, 8, 3);
    FRAME_PUT(frame, 0, 0, 17, 0, 3, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 0x20);
    return frame;
}

static inline Frame *wlan_in_gre(void)
{
    Frame *frame = inner();
    put_wlan(frame, 8, 2);
    return outer_gre(frame, 0, 0x8200);
}

static inline Frame *nflog_of(bool big_endian)
{
    Frame *frame = inner();
    guint16 size = (guint16)(frame->len + 4);
    guint8 high = (guint8)(size >> 8), low = (guint8)size;
    if (big_endian)
        FRAME_PUT(frame, 0, 5, 0, 10, 'x', 0, 0, 0, high, low, 0, 9);
    else
        FRAME_PUT(frame, 5, 0, 10, 0, 'x', 0, 0, 0, low, high, 9, 0);
    FRAME_PUT(frame, 2, 0, 0, 42);
    return frame;
}

static inline Frame *nflog(void)
{
    return nflog_of(false);
}

static inline Frame *nflog_swapped(void)
{
    return nflog_of(true);
}

static inline Frame *three_deep(void)
{
    Frame *frame = vxlan();
    FRAME_PUT(frame, FRAME_32(0x08000000), FRAME_32(6000u << 8));
    frame = outer_udp(frame, 8472);
    return outer_gre(frame, 0, 0x6558);
}

typedef struct Sample {
    const char *name;
    int link_type;
    Frame *(*build)(void);
    bool v6;
    guint32 vlan;
    gint64 vni; // -1: none
} Sample;

static const Sample samples[] = {
    {"mpls", ETHERNET, mpls, false, 0, -1},
    {"mpls6", ETHERNET, mpls6, true, 0, -1},
    {"pseudowire with control word", ETHERNET, pseudowire_with_control, false, 0, -1},
    {"pseudowire without", ETHERNET, pseudowire_without_control, false, 0, -1},
    {"pppoe", ETHERNET, pppoe, false, 0, -1},
    {"pppoe6", PPP_ETHER, pppoe6, true, 0, -1},
    {"ppp", PPP, ppp, false, 0, -1},
    {"nsh", ETHERNET, nsh, false, 0, -1},
    {"vntag", ETHERNET, vntag, false, 321, -1},
    {"metadata", ETHERNET, metadata, false, 0, -1},
    {"metadata of two words", ETHERNET, metadata_long, true, 0, -1},
    {"etherip", ETHERNET, etherip, false, 77, -1},
    {"srv6 of ethernet", ETHERNET, srv6_ethernet, false, 0, -1},
    {"ip in ip", ETHERNET, ip_in_ip, false, 0, -1},
    {"ip6 in ip", ETHERNET, ip6_in_ip, true, 0, -1},
    {"ip in ip6", ETHERNET, ip_in_ip6, false, 0, -1},
    {"ip6 in ip6", ETHERNET, ip6_in_ip6, true, 0, -1},
    {"gre", ETHERNET, gre, false, 0, -1},
    {"gre with all fields", ETHERNET, gre_all, false, 77, 5000},
    {"nvgre", ETHERNET, nvgre, false, 0, 5000},
    {"gre with ethernet", ETHERNET, gre_bridged, false, 0, 0xfff77},
    {"gre with a key", ETHERNET, gre_with_key, false, 0, 5000 << 8 | 0x77},
    {"gre over ip6", ETHERNET, gre_over_ip6, true, 0, -1},
    {"pptp", ETHERNET, pptp, false, 0, -1},
    {"erspan I", ETHERNET, erspan1, false, 0, -1},
    {"erspan II", ETHERNET, erspan2, false, 321, -1},
    {"erspan III", ETHERNET, erspan3, false, 34, -1},
    {"erspan III with subheader", ETHERNET, erspan3_subheader, false, 12, -1},
    {"erspan III of IP", ETHERNET, erspan3_ip, false, 0, -1},
    {"vxlan", ETHERNET, vxlan, false, 0, 5000},
    {"vxlan-gpe", ETHERNET, vxlan_gpe, true, 0, 5000},
    {"geneve", ETHERNET, geneve, false, 0, 5000},
    {"geneve of IP", ETHERNET, geneve_ip, false, 0, 5000},
    {"gtpu", ETHERNET, gtpu, false, 0, -1},
    {"gtpu with extensions", ETHERNET, gtpu_extended, true, 0, -1},
    {"teredo", ETHERNET, teredo, true, 0, -1},
    {"teredo with indications", ETHERNET, teredo_indications, true, 0, -1},
    {"tzsp", ETHERNET, tzsp, false, 0, -1},
    {"gre in udp", ETHERNET, gre_in_udp, false, 0, -1},
    {"mpls in udp", ETHERNET, mpls_in_udp, false, 0, -1},
    {"wlan", WLAN, wlan, false, 0, -1},
    {"wlan with radiotap", WLAN_RADIO, wlan_radio, false, 0, -1},
    {"wlan with padding", WLAN_RADIO, wlan_padded, false, 0, -1},
    {"wlan with padding, no clock", WLAN_RADIO, wlan_padded_clockless, false, 0, -1},
    {"wlan with padding, of whole words", WLAN_RADIO, wlan_padded_full, false, 0, -1},
    {"wlan in gre", ETHERNET, wlan_in_gre, false, 0, -1},
    {"nflog", NFLOG, nflog, false, 0, -1},
    {"nflog of another byte order", NFLOG, nflog_swapped, false, 0, -1},
    {"three deep", ETHERNET, three_deep, false, 0, 5000},
};
