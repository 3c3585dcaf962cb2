// SPDX-License-Identifier: Apache-2.0
// Fuzz target for flows, TCP reassembly and dialogs: the input is a list of packets, each of 8
// bytes (flags, where its sequence and acknowledgement numbers lie, length, cut, port, time) and
// payload.
#include "capture/capture.h"
#include "capture/cursor.h"

int LLVMFuzzerTestOneInput(const guint8 *data, gsize size);

static bool count(const BbMessage *message, gpointer user, GError **error)
{
    guint64 *told = user;
    told[message->kind]++;
    return true;
}

static BbPacket next_packet(BbCursor *c, gint64 *now_ns)
{
    static const guint8 a[4] = {10, 0, 0, 1}, b[4] = {10, 0, 0, 2};
    guint8 flags = bb_cursor_u8(c), seq = bb_cursor_u8(c), ack = bb_cursor_u8(c);
    guint8 length = bb_cursor_u8(c), cut = bb_cursor_u8(c), port = bb_cursor_u8(c);
    guint16 time = bb_cursor_be16(c);
    bool up = flags & 0x80;
    gint64 step_ns = (gint64)time * time * 1000;
    *now_ns += flags & 0x08 ? -step_ns : step_ns; // a clock may be set back
    BbPacket packet = {
        .time_ns = *now_ns,
        .source = bb_address_v4(up ? a : b),
        .target = bb_address_v4(up ? b : a),
        .source_port = up ? 40000 : (guint16)(50 + port % 4),
        .target_port = up ? (guint16)(50 + port % 4) : 40000,
        .transport = flags & 0x40 ? BB_TRANSPORT_UDP : BB_TRANSPORT_TCP,
        .tcp_flags = flags & 0x37,
        .seq = 0xffffff80u + seq,
        .ack = 0xffffff80u + ack,
        .length = length,
    };
    if (port & 0x80)
        packet.seq += (guint32)cut << 24;
    gsize captured = MIN(c->left, (gsize)(port & 0x40 ? length - MIN(length, cut) : length));
    packet.captured = (guint32)captured;
    packet.payload = bb_cursor_take(c, captured);
    return packet;
}

int LLVMFuzzerTestOneInput(const guint8 *data, gsize size)
{
    BbLoss loss = {0};
    guint64 told[] = {[BB_CALL] = 0, [BB_RETURN] = 0, [BB_FREE] = 0};
    BbCaptureOptions options = {.max_connections = 3, .max_held_bytes = 4096};
    g_autoptr(BbNames) names = bb_names_new();
    g_autoptr(BbNodes) nodes = bb_nodes_new(names, true);
    g_autoptr(BbCapture) capture = bb_capture_new(&options, names, nodes, &loss, count, told);
    BbCursor cursor = bb_cursor(data, size);
    gint64 now_ns = 0;
    while (cursor.left) {
        BbPacket packet = next_packet(&cursor, &now_ns);
        if (!bb_cursor_ok(&cursor))
            break;
        g_assert(bb_capture_packet(capture, &packet, NULL));
        g_assert(bb_capture_connections(capture) <= options.max_connections);
        g_assert(bb_capture_held_bytes(capture) <= options.max_held_bytes);
    }
    g_assert(bb_capture_finish(capture, NULL));
    g_assert(bb_capture_held_bytes(capture) == 0);
    g_assert(told[BB_CALL] == loss.count[BB_CALLS] && told[BB_FREE] == loss.count[BB_FREES]);
    g_assert(told[BB_RETURN] == loss.count[BB_RETURNS]);
    g_assert(loss.count[BB_RETURNS] + loss.count[BB_CALLS_UNRETURNED] ==
             loss.count[BB_CALLS] + loss.count[BB_RETURNS_ORPHANED]);
    return 0;
}
