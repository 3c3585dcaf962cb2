// SPDX-License-Identifier: Apache-2.0
// Random traffic of many hosts at once, as packets: Redis (pipelined), HTTP, DNS, a protocol nobody
// knows; packets that are lost, seen twice, out of order; resets, ports used again. A wild crowd
// has more of what networks and captures do to connections: see crowd_go_wild. What crowd_packet
// gives depends on the seed, and on what is set before the first, alone.
#pragma once

#include "capture/packet.h"
#include "tests/unit/test.h"

#include <string.h>

#define CROWD_TALKS 200u
#define CROWD_LATE 8u
#define CROWD_FILL 60000u // bytes of a large segment

typedef struct Talk {
    guint16 client_port, server_port;
    guint8 client, server; // hosts
    bool open, is_udp;
    guint32 next[2];
    guint owed; // answers
    guint16 id; // of the question asked last
} Talk;

typedef struct CrowdPacket {
    BbPacket packet;
    guint8 bytes[512]; // of one that is not large
} CrowdPacket;

typedef struct Crowd {
    GRand *rand;
    gint64 now_ns;
    guint16 ip_id;
    guint labels; // different ones that are asked for
    guint16 port; // of all servers; 0: various
    bool wild;
    gint64 pace_ns, silence_ns; // between packets, at most; and now and then
    guint odd_stamps;           // of a thousand packets, so many
    guint8 fill[CROWD_FILL];
    Talk talks[CROWD_TALKS];
    GArray *waiting; // of CrowdPacket
    CrowdPacket given;
} Crowd;

static inline guint crowd_below(Crowd *crowd, guint most)
{
    return (guint)g_rand_int_range(crowd->rand, 0, (gint32)most);
}

static inline void crowd_talk(Crowd *crowd, Talk *talk)
{
    static const guint16 ports[] = {6379, 80, 53, 9999};
    *talk = (Talk){
        .client_port = (guint16)(40000 + crowd_below(crowd, 300)),
        .server_port = ports[crowd_below(crowd, G_N_ELEMENTS(ports))],
        .client = (guint8)(1 + crowd_below(crowd, 40)),
        .server = (guint8)(100 + crowd_below(crowd, 5)),
        .next = {g_rand_int(crowd->rand), g_rand_int(crowd->rand)},
    };
    if (crowd->port)
        talk->server_port = crowd->port;
    talk->is_udp = talk->server_port == 53;
}

static inline void crowd_begin(Crowd *crowd, guint32 seed, guint16 port)
{
    *crowd = (Crowd){
        .rand = g_rand_new_with_seed(seed),
        .now_ns = G_GINT64_CONSTANT(1000000000000),
        .labels = 300,
        .port = port,
        .pace_ns = 50000,
        .waiting = g_array_new(FALSE, FALSE, sizeof(CrowdPacket)),
    };
    for (guint i = 0; i < CROWD_TALKS; i++)
        crowd_talk(crowd, &crowd->talks[i]);
}

static inline void crowd_end(Crowd *crowd)
{
    g_rand_free(crowd->rand);
    g_array_unref(crowd->waiting);
}

static inline gint64 crowd_stamp(Crowd *crowd)
{
    static const gint64 odd_ns[] = {-1000000, 3000000, -4000000000, 4000000000, 70000000000};
    crowd->now_ns += 1000 + crowd_below(crowd, (guint)crowd->pace_ns);
    if (crowd->silence_ns && crowd_below(crowd, 300) == 0)
        crowd->now_ns += crowd->silence_ns / (1 + crowd_below(crowd, 100));
    bool is_odd = crowd->odd_stamps && crowd_below(crowd, 1000) < crowd->odd_stamps;
    return crowd->now_ns + (is_odd ? odd_ns[crowd_below(crowd, G_N_ELEMENTS(odd_ns))] : 0);
}

static inline void crowd_send(Crowd *crowd, Talk *talk, guint side, guint8 flags, const void *bytes,
                              gsize length)
{
    const guint8 hosts[2] = {side ? talk->server : talk->client,
                             side ? talk->client : talk->server};
    CrowdPacket sent = {0};
    g_assert(length <= sizeof sent.bytes || bytes == crowd->fill);
    if (length && bytes != crowd->fill)
        memcpy(sent.bytes, bytes, length);
    sent.packet = (BbPacket){
        .time_ns = crowd_stamp(crowd),
        .source = bb_address_v4((const guint8[]){10, 0, 0, hosts[0]}),
        .target = bb_address_v4((const guint8[]){10, 0, 0, hosts[1]}),
        .source_port = side ? talk->server_port : talk->client_port,
        .target_port = side ? talk->client_port : talk->server_port,
        .transport = talk->is_udp ? BB_TRANSPORT_UDP : BB_TRANSPORT_TCP,
        .tcp_flags = talk->is_udp ? 0 : flags,
        .seq = talk->next[side],
        .ack = talk->next[!side],
        .window = 1000,
        .ip_id = ++crowd->ip_id,
        .captured = (guint32)length,
        .length = (guint32)length,
    };
    talk->next[side] += (guint32)length + (flags & (BB_TCP_SYN | BB_TCP_FIN) ? 1 : 0);
    if (crowd->wild && length && crowd_below(crowd, 100) == 0)
        sent.packet.captured = crowd_below(crowd, (guint)length);
    guint luck = crowd_below(crowd, 100);
    if (luck >= 2) // else it is lost
        g_array_append_val(crowd->waiting, sent);
    if (luck >= 95) // and the mirror shows it twice
        g_array_append_val(crowd->waiting, sent);
}

static inline void crowd_open(Crowd *crowd, Talk *talk)
{
    talk->open = true;
    if (talk->is_udp)
        return;
    crowd_send(crowd, talk, 0, BB_TCP_SYN, NULL, 0);
    crowd_send(crowd, talk, 1, BB_TCP_SYN | BB_TCP_ACK, NULL, 0);
    crowd_send(crowd, talk, 0, BB_TCP_ACK, NULL, 0);
}

// A question of the name "h<number>.test" and the answer 10.0.0.<host>.
static inline gsize crowd_dns(Crowd *crowd, const Talk *talk, bool answers, guint8 *out)
{
    static const guint8 name[] = "\4h000\4test\0\0\1\0\1";
    static const guint8 record[] = {0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4, 10, 0, 0};
    guint host = talk->id % 50;
    const guint8 head[12] = {(guint8)(talk->id >> 8),
                             (guint8)talk->id,
                             answers ? 0x81 : 1,
                             answers ? 0x80 : 0,
                             0,
                             1,
                             0,
                             answers};
    memcpy(out, head, sizeof head);
    memcpy(out + 12, name, sizeof name - 1);
    out[15] = (guint8)('0' + host / 10);
    out[16] = (guint8)('0' + host % 10);
    gsize length = 12 + sizeof name - 1;
    if (!answers)
        return length;
    memcpy(out + length, record, sizeof record);
    out[length + sizeof record] = (guint8)host;
    return length + sizeof record + 1;
}

static inline gsize crowd_ask(Crowd *crowd, Talk *talk, char *out)
{
    guint label = crowd_below(crowd, crowd->labels);
    talk->id = (guint16)g_rand_int(crowd->rand);
    talk->owed++;
    if (talk->server_port == 53)
        return crowd_dns(crowd, talk, false, (guint8 *)out);
    if (talk->server_port == 6379)
        return (gsize)g_snprintf(out, 512, "*2\r\n$3\r\nGET\r\n$6\r\n%06u\r\n", label);
    if (talk->server_port != 80)
        return (gsize)g_snprintf(out, 512, "\1\2\3 what of %u?", label);
    char name[8] = "";
    for (guint i = 0; i < 6; i++, label /= 10)
        name[i] = (char)('g' + label % 10);
    return (gsize)g_snprintf(out, 512, "GET /%s HTTP/1.1\r\nHost: h\r\n\r\n", name);
}

static inline gsize crowd_answer(Crowd *crowd, Talk *talk, char *out)
{
    const char *text = talk->server_port == 6379 ? "$3\r\nyes\r\n"
                       : talk->server_port == 80
                           ? "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nbody"
                           : "\3\2\1 that";
    talk->owed--;
    if (talk->server_port == 53)
        return crowd_dns(crowd, talk, true, (guint8 *)out);
    strcpy(out, text);
    return strlen(text);
}

static inline void crowd_close(Crowd *crowd, Talk *talk)
{
    guint8 flag = crowd_below(crowd, 4) ? BB_TCP_FIN : BB_TCP_RST;
    if (!talk->is_udp) {
        crowd_send(crowd, talk, 0, flag | BB_TCP_ACK, NULL, 0);
        if (flag == BB_TCP_FIN)
            crowd_send(crowd, talk, 1, flag | BB_TCP_ACK, NULL, 0);
    }
    crowd_talk(crowd, talk);
}

// ---- a wild crowd -------------------------------------------------------------------------------

// Before the first packet. A tame pace: what is silent for long makes a difference to who has no
// shards (capture/shards.h), and so do stamps that go back.
static inline void crowd_go_wild(Crowd *crowd, bool tame_pace)
{
    static const gint64 pace_ns[] = {50000, 1000000, 20000000};
    crowd->wild = true;
    if (tame_pace)
        return;
    crowd->pace_ns = pace_ns[crowd_below(crowd, G_N_ELEMENTS(pace_ns))];
    crowd->silence_ns = crowd_below(crowd, 2) ? G_GINT64_CONSTANT(70000000000) : 0;
    crowd->odd_stamps = crowd_below(crowd, 2) ? 10 : 0;
}

// In several segments, now and then.
static inline void crowd_send_parts(Crowd *crowd, Talk *talk, guint side, const char *text,
                                    gsize length)
{
    gsize first = crowd->wild && length > 1 && crowd_below(crowd, 8) == 0 && !talk->is_udp
                      ? 1 + crowd_below(crowd, (guint)length - 1)
                      : length;
    crowd_send(crowd, talk, side, BB_TCP_ACK, text, first);
    if (first < length)
        crowd_send(crowd, talk, side, BB_TCP_ACK, text + first, length - first);
}

// One side ends it, and gets answers (or is asked) all the same, which it takes or not.
static inline void crowd_give_up(Crowd *crowd, Talk *talk)
{
    char text[512];
    guint side = crowd_below(crowd, 4) == 0, owed = MIN(talk->owed, 3u);
    crowd_send(crowd, talk, side, BB_TCP_FIN | BB_TCP_ACK, NULL, 0);
    for (guint i = 0; i < owed; i++) {
        gsize length = side ? crowd_ask(crowd, talk, text) : crowd_answer(crowd, talk, text);
        crowd_send_parts(crowd, talk, !side, text, length);
    }
    if (crowd_below(crowd, 3))
        crowd_send(crowd, talk, side, crowd_below(crowd, 2) ? BB_TCP_RST : BB_TCP_ACK, NULL, 0);
    if (crowd_below(crowd, 2))
        crowd_talk(crowd, talk);
}

// More than may be held, behind a hole, of several at once.
static inline void crowd_fill(Crowd *crowd)
{
    for (guint i = 0; i < 20; i++) {
        Talk *talk = &crowd->talks[crowd_below(crowd, CROWD_TALKS)];
        guint side = crowd_below(crowd, 2), segments = crowd_below(crowd, 20);
        if (!talk->open || talk->is_udp)
            continue;
        talk->next[side] += 1 + crowd_below(crowd, 3000);
        for (guint k = 0; k < segments; k++)
            crowd_send(crowd, talk, side, BB_TCP_ACK, crowd->fill, CROWD_FILL);
    }
}

// Its ports are used again, with or without a handshake, or with one that nobody answers; or a
// stray SYN says so.
static inline void crowd_use_again(Crowd *crowd, Talk *talk)
{
    Talk before = *talk;
    talk->next[0] = g_rand_int(crowd->rand);
    talk->next[1] = g_rand_int(crowd->rand);
    talk->owed = 0;
    switch (crowd_below(crowd, 4)) {
    case 0:
        break;
    case 1:
        crowd_send(crowd, talk, 0, BB_TCP_SYN, NULL, 0);
        break;
    case 2:
        crowd_send(crowd, talk, 0, BB_TCP_SYN, NULL, 0);
        *talk = before;
        break;
    default:
        crowd_open(crowd, talk);
    }
}

// Returns whether the talk suffers something.
static inline bool crowd_is_wild(Crowd *crowd, Talk *talk)
{
    guint luck = crowd_below(crowd, 2000);
    if (luck == 0)
        crowd_fill(crowd);
    else if (luck < 150 && !talk->is_udp)
        crowd_give_up(crowd, talk);
    else if (luck < 180 && !talk->is_udp)
        crowd_use_again(crowd, talk);
    else if (luck < 220)
        talk->next[luck & 1] += 1 + crowd_below(crowd, 2000);
    else
        return false;
    return true;
}

// ---- all of them --------------------------------------------------------------------------------

// One of the talks goes on.
static inline void crowd_step(Crowd *crowd)
{
    char text[512];
    Talk *talk = &crowd->talks[crowd_below(crowd, CROWD_TALKS)];
    if (talk->open && crowd->wild && crowd_is_wild(crowd, talk))
        return;
    if (!talk->open) {
        crowd_open(crowd, talk);
    } else if (crowd_below(crowd, 40) == 0) {
        crowd_close(crowd, talk);
    } else if (talk->owed && crowd_below(crowd, 3)) {
        gsize length = crowd_answer(crowd, talk, text);
        crowd_send_parts(crowd, talk, 1, text, length);
    } else {
        gsize length = crowd_ask(crowd, talk, text);
        crowd_send_parts(crowd, talk, 0, text, length);
    }
}

// The next packet; lent until the one after it. Now and then it is not the oldest.
static inline const BbPacket *crowd_packet(Crowd *crowd)
{
    while (crowd->waiting->len < CROWD_LATE)
        crowd_step(crowd);
    guint which = crowd_below(crowd, 20) ? 0 : crowd_below(crowd, CROWD_LATE);
    crowd->given = g_array_index(crowd->waiting, CrowdPacket, which);
    g_array_remove_index(crowd->waiting, which);
    bool is_large = crowd->given.packet.length > sizeof crowd->given.bytes;
    crowd->given.packet.payload = is_large ? crowd->fill : crowd->given.bytes;
    return &crowd->given.packet;
}
