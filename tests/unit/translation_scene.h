// SPDX-License-Identifier: Apache-2.0
// A mirror of both sides of NATs, made up for tests: connections packet by packet, on all their
// legs.
#pragma once

#include "tests/unit/test.h"

#include "capture/capture.h"

#define MS G_GINT64_CONSTANT(1000000)
#define SECOND (1000 * MS)
#define SYN BB_TCP_SYN
#define ACK BB_TCP_ACK
#define FIN BB_TCP_FIN
#define RST BB_TCP_RST

typedef struct Side {
    const char *address;
    guint16 port;
} Side;

// The client's end and the server's.
typedef struct Leg {
    Side end[2];
} Leg;

enum { CLIENT, SERVER };

typedef struct Scene {
    BbNames *names;
    BbNodes *nodes;
    BbLoss loss;
    BbCapture *capture;
    GString *told; // messages in order of arrival
    gint64 now_ns; // of the next packet
    guint32 isn[2];
    guint16 mss, window; // of the next packets with SYN
    guint32 stamp;
    guint16 ip_id;
    guint32 vlan, vni; // of all that comes; vni: 0 for none
} Scene;

static inline bool tell(const BbMessage *message, gpointer user, GError **error)
{
    static const char *const kinds[] = {[BB_CALL] = "call", [BB_RETURN] = "ret", [BB_FREE] = "msg"};
    Scene *scene = user;
    g_string_append_printf(scene->told, "%s %s>%s; ", kinds[message->kind],
                           bb_names_text(scene->names, message->sender),
                           bb_names_text(scene->names, message->receiver));
    return true;
}

static inline void begin(Scene *scene, BbTranslationMode mode)
{
    BbCaptureOptions options = bb_capture_options_default();
    ck_assert_int_eq(options.translation, BB_TRANSLATION_JOIN);
    options.translation = mode;
    *scene = (Scene){
        .names = bb_names_new(),
        .told = g_string_new(NULL),
        .now_ns = 1000 * SECOND,
        .isn = {0x12345678, 0x87654321},
        .mss = 1460,
        .window = 64240,
        .stamp = 777,
    };
    scene->nodes = bb_nodes_new(scene->names, false);
    scene->capture =
        bb_capture_new(&options, scene->names, scene->nodes, &scene->loss, tell, scene);
}

static inline void finish(Scene *scene, const char *told)
{
    ck_assert(bb_capture_finish(scene->capture, NULL));
    ck_assert_str_eq(scene->told->str, told);
}

static inline void clear(Scene *scene)
{
    bb_capture_free(scene->capture);
    bb_nodes_free(scene->nodes);
    bb_names_free(scene->names);
    g_string_free(scene->told, TRUE);
}

static inline void end(Scene *scene, const char *told)
{
    finish(scene, told);
    clear(scene);
}

#define COUNT(scene, kind) ((scene)->loss.count[kind])

// A packet that `from` sends on a leg; seq and ack count from the initial numbers.
static inline void put(Scene *scene, const Leg *leg, guint from, guint8 flags, guint32 seq,
                       guint32 ack, const char *text)
{
    const guint8 options[] = {2,
                              4,
                              (guint8)(scene->mss >> 8),
                              (guint8)scene->mss,
                              4,
                              2,
                              8,
                              10,
                              (guint8)(scene->stamp >> 24),
                              (guint8)(scene->stamp >> 16),
                              (guint8)(scene->stamp >> 8),
                              (guint8)scene->stamp,
                              0,
                              0,
                              0,
                              0,
                              1,
                              3,
                              3,
                              7};
    BbPacket packet = {
        .time_ns = scene->now_ns,
        .source_port = leg->end[from].port,
        .target_port = leg->end[!from].port,
        .transport = BB_TRANSPORT_TCP,
        .tcp_flags = flags,
        .seq = scene->isn[from] + seq,
        .ack = flags & ACK ? scene->isn[!from] + ack : 0,
        .window = scene->window,
        .ip_id = scene->ip_id,
        .vlan = scene->vlan,
        .vni = scene->vni,
        .has_vni = scene->vni != 0,
        .payload = (const guint8 *)text,
        .captured = (guint32)strlen(text),
        .length = (guint32)strlen(text),
    };
    if (flags & SYN) {
        packet.options = options;
        packet.options_size = sizeof options;
    }
    ck_assert(bb_address_parse(leg->end[from].address, &packet.source));
    ck_assert(bb_address_parse(leg->end[!from].address, &packet.target));
    ck_assert(bb_capture_packet(scene->capture, &packet, NULL));
}

// A packet on its way along legs, `delay` ms from one to the next, each box with its own MSS.
static inline void pass(Scene *scene, const Leg *legs, guint n_legs, gint64 delay_ns, guint from,
                        guint8 flags, guint32 seq, guint32 ack, const char *text)
{
    guint16 mss = scene->mss;
    for (guint i = 0; i < n_legs; i++) {
        put(scene, &legs[from == CLIENT ? i : n_legs - 1 - i], from, flags, seq, ack, text);
        scene->now_ns += delay_ns;
        scene->ip_id = (guint16)(scene->ip_id + 3); // each box writes its own
        scene->mss = (guint16)(scene->mss - 40);
    }
    scene->mss = mss;
    scene->now_ns += MS;
}

static inline void shake(Scene *scene, const Leg *legs, guint n_legs, gint64 delay_ns)
{
    pass(scene, legs, n_legs, delay_ns, CLIENT, SYN, 0, 0, "");
    pass(scene, legs, n_legs, delay_ns, SERVER, SYN | ACK, 0, 1, "");
    pass(scene, legs, n_legs, delay_ns, CLIENT, ACK, 1, 1, "");
}

// A call and its return, 7 and 6 bytes.
static inline void call(Scene *scene, const Leg *legs, guint n_legs, gint64 delay_ns, guint turn)
{
    pass(scene, legs, n_legs, delay_ns, CLIENT, ACK, 1 + 7 * turn, 1 + 6 * turn, "request");
    pass(scene, legs, n_legs, delay_ns, SERVER, ACK, 1 + 6 * turn, 8 + 7 * turn, "answer");
}

static inline void close_both(Scene *scene, const Leg *legs, guint n_legs, gint64 delay_ns,
                              guint turns)
{
    pass(scene, legs, n_legs, delay_ns, CLIENT, FIN | ACK, 1 + 7 * turns, 1 + 6 * turns, "");
    pass(scene, legs, n_legs, delay_ns, SERVER, FIN | ACK, 1 + 6 * turns, 2 + 7 * turns, "");
    pass(scene, legs, n_legs, delay_ns, CLIENT, ACK, 2 + 7 * turns, 2 + 6 * turns, "");
}

static inline void talk(Scene *scene, const Leg *legs, guint n_legs, gint64 delay_ns)
{
    shake(scene, legs, n_legs, delay_ns);
    call(scene, legs, n_legs, delay_ns, 0);
    close_both(scene, legs, n_legs, delay_ns, 1);
}

static const Leg dnat[] = {{{{"10.0.0.1", 40000}, {"192.0.2.9", 443}}},
                           {{{"10.0.0.1", 40000}, {"10.1.0.4", 8080}}}};
static const Leg snat[] = {{{{"10.0.0.1", 40000}, {"10.1.0.4", 8080}}},
                           {{{"198.51.100.1", 1025}, {"10.1.0.4", 8080}}}};
static const Leg both[] = {{{{"10.0.0.1", 40000}, {"192.0.2.9", 443}}},
                           {{{"198.51.100.1", 1025}, {"10.1.0.4", 8080}}}};
static const Leg six[] = {{{{"2001:db8::1", 40000}, {"2001:db8:9::9", 443}}},
                          {{{"10.2.0.1", 40000}, {"10.1.0.4", 8080}}}};
static const Leg three[] = {{{{"10.0.0.1", 40000}, {"192.0.2.9", 443}}},
                            {{{"10.7.0.1", 31000}, {"192.0.2.9", 30443}}},
                            {{{"10.8.0.1", 32000}, {"10.1.0.4", 8080}}}};

// What is told of one connection of one call: joined, and not.
#define ONE "call 10.0.0.1>10.1.0.4; ret 10.1.0.4>10.0.0.1; "
#define TWO                                                                            \
    "call 198.51.100.1>10.1.0.4; ret 10.1.0.4>198.51.100.1; call 10.0.0.1>192.0.2.9; " \
    "ret 192.0.2.9>10.0.0.1; "
