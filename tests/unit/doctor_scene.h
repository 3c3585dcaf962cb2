// SPDX-License-Identifier: Apache-2.0
// A mirror made up for tests of the doctor: whole connections between hosts, frame by frame, with
// checksums that are right (worked out slowly, byte by byte), and what makes a mirror sick.
#pragma once

#include "tests/unit/frame.h"
#include "tests/unit/test.h"

#include "capture/doctor.h"

#include <string.h>

#define SCENE_STEP_NS G_GINT64_CONSTANT(137123) // between frames: no multiple of anything
#define SCENE_BEGIN_NS (G_GINT64_CONSTANT(1047680084) * 1000000000 + 7)

enum { CLIENT, SERVER };
enum { SUM_RIGHT, SUM_ZERO, SUM_PSEUDO, SUM_WRONG };
enum { FIN = 1, SYN = 2, RST = 4, ACK = 16 };

typedef struct Scene {
    BbDoctor *doctor;
    gint64 now_ns;
    guint32 next[2]; // sequence numbers
    guint16 port;    // of the client
    guint16 id;
    guint16 mss; // that both announce; 0: none
    guint32 interface;
    int link_type;
    // What is done to the frames to come.
    bool mute[2]; // of that side
    guint16 vlan[2];
    bool tunnel[2]; // GRE
    bool twice;
    guint cut;      // bytes kept; 0: all
    guint truncate; // bytes that the mirror passes on; 0: all
    guint checksum; // SUM_...
    bool to_many;   // the frame goes to a group
    gint64 step_ns; // to the next frame
} Scene;

static inline Scene scene_begin(void)
{
    return (Scene){
        .doctor = bb_doctor_new(false),
        .now_ns = SCENE_BEGIN_NS,
        .port = 20000,
        .mss = 1460,
        .link_type = 1,
        .step_ns = SCENE_STEP_NS,
    };
}

static inline guint16 scene_sum(guint32 sum, const guint8 *bytes, gsize size)
{
    for (gsize i = 0; i < size; i++)
        sum += i % 2 ? bytes[i] : (guint32)bytes[i] << 8;
    while (sum >> 16)
        sum = (sum & 0xffff) + (sum >> 16);
    return (guint16)sum;
}

// Puts the sum over frame and pseudo header (IPv4, of scene_ipv4) at offset `at`.
static inline void scene_fill_sum(Frame *frame, guint at, guint8 protocol, guint how, guint side)
{
    guint8 from = side == CLIENT ? 1 : 2;
    const guint8 pseudo[] = {
        10, 0, 0, from, 10, 0, 0, (guint8)(3 - from), 0, protocol, FRAME_16(frame->len)};
    frame->data[at] = frame->data[at + 1] = 0;
    guint16 half = scene_sum(0, pseudo, sizeof pseudo);
    guint16 sum = (guint16)~scene_sum(half, frame->data, frame->len);
    if (how == SUM_ZERO)
        sum = 0;
    else if (how == SUM_PSEUDO)
        sum = half;
    else if (how == SUM_WRONG)
        sum ^= 0x1001;
    frame->data[at] = (guint8)(sum >> 8);
    frame->data[at + 1] = (guint8)sum;
}

static inline void scene_ipv4(Scene *scene, Frame *frame, guint side, guint8 protocol,
                              guint16 place)
{
    guint8 from = side == CLIENT ? 1 : 2;
    guint total = frame->len + 20;
    scene->id++;
    guint8 header[] = {0x45,
                       0,
                       FRAME_16(total),
                       FRAME_16(scene->id),
                       FRAME_16(place),
                       64,
                       protocol,
                       0,
                       0,
                       10,
                       0,
                       0,
                       from,
                       10,
                       0,
                       0,
                       (guint8)(3 - from)};
    guint16 sum = (guint16)~scene_sum(0, header, sizeof header);
    header[10] = (guint8)(sum >> 8);
    header[11] = (guint8)sum;
    frame_put(frame, header, sizeof header);
}

// Gives bytes of a frame to the doctor, as they are.
static inline void scene_raw(Scene *scene, const Frame *frame)
{
    guint32 length = scene->truncate ? MIN(frame->len, scene->truncate) : frame->len;
    guint32 captured = scene->cut ? MIN(length, scene->cut) : length;
    g_autofree guint8 *copy = g_memdup2(frame->data, captured); // for the sanitizer
    bb_doctor_frame(scene->doctor, &(BbFrame){.time_ns = scene->now_ns,
                                              .data = copy,
                                              .captured = captured,
                                              .length = length,
                                              .link_type = scene->link_type,
                                              .interface = scene->interface});
    scene->now_ns += scene->step_ns;
}

// What is below IP around an IP packet, then to the doctor. Takes frame.
static inline void scene_send(Scene *scene, Frame *frame, guint side)
{
    if (scene->tunnel[side]) {
        FRAME_PUT(frame, 0, 0, FRAME_16(0x0800)); // GRE
        scene_ipv4(scene, frame, side, 47, 0);
    }
    guint16 type = 0x0800;
    if (scene->vlan[side]) {
        FRAME_PUT(frame, FRAME_16(scene->vlan[side]), FRAME_16(type));
        type = 0x8100;
    }
    frame_ethernet(frame, type);
    frame->data[0] |= scene->to_many;
    if (!scene->mute[side]) {
        scene_raw(scene, frame);
        if (scene->twice)
            scene_raw(scene, frame);
    }
    g_byte_array_unref(frame);
}

static inline void scene_tcp(Scene *scene, guint side, guint8 flags, guint32 length)
{
    Frame *frame = frame_payload(length);
    bool announces = flags & SYN && scene->mss;
    guint16 ports[2] = {scene->port, 80};
    if (announces)
        FRAME_PUT(frame, 1, 2, 4, FRAME_16(scene->mss), 1, 1, 0);
    FRAME_PUT(frame, FRAME_16(ports[side]), FRAME_16(ports[!side]), FRAME_32(scene->next[side]),
              FRAME_32(flags & ACK ? scene->next[!side] : 0), (guint8)(announces ? 0x70 : 0x50),
              flags, FRAME_16(1024), 0, 0, 0, 0);
    scene_fill_sum(frame, 16, 6, scene->checksum, side);
    scene_ipv4(scene, frame, side, 6, 0x4000);
    scene->next[side] += length + (flags & (SYN | FIN) ? 1 : 0);
    scene_send(scene, frame, side);
}

// The mirror does not see it.
static inline void scene_lose(Scene *scene, guint side, guint32 length)
{
    bool mute = scene->mute[side];
    scene->mute[side] = true;
    scene_tcp(scene, side, ACK, length);
    scene->mute[side] = mute;
}

static inline void scene_open(Scene *scene)
{
    scene->port++;
    scene->next[CLIENT] = 1000u * scene->port;
    scene->next[SERVER] = 5000u * scene->port;
    scene_tcp(scene, CLIENT, SYN, 0);
    scene_tcp(scene, SERVER, SYN | ACK, 0);
    scene_tcp(scene, CLIENT, ACK, 0);
}

// A request of 100 bytes and a reply of 900.
static inline void scene_ask(Scene *scene)
{
    scene_tcp(scene, CLIENT, ACK, 100);
    scene_tcp(scene, SERVER, ACK, 900);
}

static inline void scene_close(Scene *scene)
{
    scene_tcp(scene, CLIENT, FIN | ACK, 0);
    scene_tcp(scene, SERVER, FIN | ACK, 0);
    scene_tcp(scene, CLIENT, ACK, 0);
}

// 8 frames and 1,000 bytes of data (1,004 with SYN and FIN) each.
static inline void scene_connections(Scene *scene, guint count)
{
    for (guint i = 0; i < count; i++) {
        scene_open(scene);
        scene_ask(scene);
        scene_close(scene);
    }
}

static inline void scene_udp(Scene *scene, guint side, guint16 server_port, gsize length)
{
    guint16 ports[2] = {scene->port, server_port};
    Frame *frame = frame_payload(length);
    FRAME_PUT(frame, FRAME_16(ports[side]), FRAME_16(ports[!side]), FRAME_16(frame->len + 8), 0, 0);
    scene_fill_sum(frame, 6, 17, scene->checksum, side);
    scene_ipv4(scene, frame, side, 17, 0);
    scene_send(scene, frame, side);
}

// Frames that are nobody's business: no finding judges them.
static inline void scene_pad(Scene *scene, guint count)
{
    for (guint i = 0; i < count; i++)
        scene_udp(scene, i % 2, 9999, 30);
}

static inline void append_number(GString *out, guint64 number)
{
    g_string_append_printf(out, "%" G_GUINT64_FORMAT, number);
}

// "warning one_way 1/20; note ..." of all findings, yours; the doctor lives until scene_free.
static inline char *scene_findings(Scene *scene)
{
    const GArray *findings = bb_doctor_finish(scene->doctor);
    GString *out = g_string_new(NULL);
    for (guint i = 0; i < findings->len; i++) {
        const BbDoctorFinding *finding = &g_array_index(findings, BbDoctorFinding, i);
        g_string_append_printf(out, "%s%s %s ", i ? "; " : "", bb_severity_name(finding->severity),
                               finding->name);
        append_number(out, finding->part);
        g_string_append_c(out, '/');
        append_number(out, finding->whole);
        ck_assert(finding->title && finding->meaning && finding->remedy && finding->unit);
    }
    return g_string_free(out, FALSE);
}

// Ends the scene: these are all its findings.
static inline void scene_end(Scene *scene, const char *expected)
{
    g_autofree char *found = scene_findings(scene);
    ck_assert_str_eq(found, expected);
    g_clear_pointer(&scene->doctor, bb_doctor_free);
}
