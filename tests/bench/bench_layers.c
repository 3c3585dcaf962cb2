// SPDX-License-Identifier: Apache-2.0
// In: nothing. Out: nanoseconds a frame that the layers take, for each of the usual kinds.
#include "tests/unit/layer_run.h"

#include <stdio.h>

#define ROUNDS 20000000u

static Frame *tcp4(void)
{
    Frame *frame = frame_payload(512);
    frame_tcp(frame, BB_TCP_ACK, 3);
    frame_ipv4(frame, 6);
    frame_ethernet(frame, 0x0800);
    return frame;
}

static Frame *tagged_tcp4(void)
{
    Frame *frame = frame_payload(512);
    frame_tcp(frame, BB_TCP_ACK, 3);
    frame_ipv4(frame, 6);
    frame_vlan(frame, 0x0800);
    frame_ethernet(frame, 0x8100);
    return frame;
}

static Frame *udp6(void)
{
    Frame *frame = frame_payload(512);
    frame_udp(frame);
    frame_ipv6(frame, 17);
    frame_ethernet(frame, 0x86dd);
    return frame;
}

static void measure(const char *name, Frame *(*build)(void))
{
    g_autoptr(GByteArray) bytes = build();
    BbLoss loss = {0};
    g_autoptr(BbLayers) layers = bb_layers_new(&loss, 1 << 20);
    BbFrame frame = {
        .data = bytes->data, .captured = bytes->len, .length = bytes->len, .link_type = ETHERNET};
    guint64 payload = 0;
    gint64 start_us = g_get_monotonic_time();
    for (guint i = 0; i < ROUNDS; i++) {
        BbPacket packet;
        frame.time_ns = i;
        if (bb_layers_decode(layers, &frame, &packet))
            payload += packet.length;
    }
    double ns = (double)(g_get_monotonic_time() - start_us) * 1000 / ROUNDS;
    g_assert(payload == (guint64)ROUNDS * 512);
    printf("%-24s %6.1f ns a frame\n", name, ns);
}

int main(void)
{
    measure("Ethernet IPv4 TCP", tcp4);
    measure("Ethernet 802.1Q IPv4 TCP", tagged_tcp4);
    measure("Ethernet IPv6 UDP", udp6);
    return 0;
}
