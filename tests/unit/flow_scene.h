// SPDX-License-Identifier: Apache-2.0
// A capture into which packets of one client and one server are put, and what is told of them.
#pragma once

#include "tests/unit/test.h"

#include "capture/capture.h"
#include "capture/dialog.h"
#include "capture/flow.h"
#include "data/status.h"

#define SECOND (G_GINT64_CONSTANT(1000000000))

enum { CLIENT, SERVER };

typedef struct Scene {
    BbNames *names;
    BbNodes *nodes;
    BbLoss loss;
    BbCapture *capture;
    GString *told; // kind and bytes of each message, in order of arrival, and ! if it is not read
    gint64 lasted_ns; // the last one of these
    gint64 now_ns;    // of the next packet
    guint16 port;     // of the client
    guint32 next[2];  // sequence numbers of client and server
} Scene;

static inline bool scene_tell(const BbMessage *message, gpointer user, GError **error)
{
    static const char *const kinds[] = {[BB_CALL] = "call", [BB_RETURN] = "ret", [BB_FREE] = "msg"};
    Scene *scene = user;
    const char *status = bb_names_text(scene->names, message->status);
    bool ends_call = bb_message_ends_call(message, scene->names);
    g_string_append_printf(scene->told, "%s:%" G_GUINT64_FORMAT "%s ",
                           ends_call ? "end" : kinds[message->kind], message->bytes,
                           g_strcmp0(status, BB_STATUS_UNREAD) == 0 ? "!" : "");
    scene->lasted_ns = message->end_ns - message->time_ns;
    return true;
}

static inline void scene_begin(Scene *scene, gsize max_held_bytes)
{
    BbCaptureOptions options = {.max_connections = 100, .max_held_bytes = max_held_bytes};
    *scene = (Scene){
        .names = bb_names_new(),
        .told = g_string_new(NULL),
        .now_ns = 1000 * SECOND,
        .port = 40000,
    };
    scene->nodes = bb_nodes_new(scene->names, false);
    scene->capture =
        bb_capture_new(&options, scene->names, scene->nodes, &scene->loss, scene_tell, scene);
}

// Ends the capture, then checks what was told in all.
static inline void scene_end(Scene *scene, const char *told)
{
    ck_assert(bb_capture_finish(scene->capture, NULL));
    ck_assert_str_eq(scene->told->str, told);
    ck_assert_uint_eq(bb_capture_connections(scene->capture), 0);
    ck_assert_uint_eq(bb_capture_held_bytes(scene->capture), 0);
    bb_capture_free(scene->capture);
    bb_nodes_free(scene->nodes);
    bb_names_free(scene->names);
    g_string_free(scene->told, TRUE);
}

static inline void push(Scene *scene, guint side, BbPacket packet, const char *text)
{
    const BbAddress ends[2] = {bb_address_v4((const guint8[]){10, 0, 0, 1}),
                               bb_address_v4((const guint8[]){10, 0, 0, 2})};
    const guint16 ports[2] = {scene->port, 9999};
    packet.time_ns = scene->now_ns;
    packet.source = ends[side];
    packet.target = ends[!side];
    packet.source_port = ports[side];
    packet.target_port = ports[!side];
    packet.payload = (const guint8 *)text;
    packet.captured = packet.length = (guint32)strlen(text);
    scene->now_ns += SECOND / 1000;
    ck_assert(bb_capture_packet(scene->capture, &packet, NULL));
}

// What comes next in the connection.
static inline void say(Scene *scene, guint side, guint8 flags, const char *text)
{
    BbPacket packet = {
        .transport = BB_TRANSPORT_TCP,
        .tcp_flags = flags,
        .seq = scene->next[side],
        .ack = flags & BB_TCP_ACK ? scene->next[!side] : 0,
    };
    push(scene, side, packet, text);
    scene->next[side] += (guint32)strlen(text) + (flags & (BB_TCP_SYN | BB_TCP_FIN) ? 1 : 0);
}

// Something at another place of the stream: a copy, a piece that came early.
static inline void say_at(Scene *scene, guint side, guint32 seq, guint8 flags, const char *text)
{
    BbPacket packet = {
        .transport = BB_TRANSPORT_TCP,
        .tcp_flags = flags,
        .seq = seq,
        .ack = scene->next[!side],
    };
    push(scene, side, packet, text);
}

static inline void datagram(Scene *scene, guint side, const char *text)
{
    push(scene, side, (BbPacket){.transport = BB_TRANSPORT_UDP, .ip_id = (guint16)scene->now_ns},
         text);
}

static inline void open_connection(Scene *scene, guint32 client_isn, guint32 server_isn)
{
    scene->next[CLIENT] = client_isn;
    scene->next[SERVER] = server_isn;
    say(scene, CLIENT, BB_TCP_SYN, "");
    say(scene, SERVER, BB_TCP_SYN | BB_TCP_ACK, "");
    say(scene, CLIENT, BB_TCP_ACK, "");
}

static inline void close_connection(Scene *scene)
{
    say(scene, CLIENT, BB_TCP_FIN | BB_TCP_ACK, "");
    say(scene, SERVER, BB_TCP_FIN | BB_TCP_ACK, "");
    say(scene, CLIENT, BB_TCP_ACK, "");
}
