// SPDX-License-Identifier: Apache-2.0
// Fuzz target for connections on several sides of a NAT: the input is a list of packets, each of 6
// bytes (flags; leg and direction; where its numbers lie; length; size of options; time) and TCP
// options.
#include "capture/capture.h"
#include "capture/cursor.h"

int LLVMFuzzerTestOneInput(const guint8 *data, gsize size);

static bool ignore(const BbMessage *message, gpointer user, GError **error)
{
    return true;
}

// Four legs, of which two share an end; bit 2 turns them round.
static void set_ends(BbPacket *packet, guint8 leg, bool back)
{
    const guint8 client[4] = {10, 0, 0, leg & 1}, server[4] = {10, 1, 0, leg >> 1 & 1};
    bool turned = back != (leg >> 2 & 1);
    packet->source = bb_address_v4(turned ? server : client);
    packet->target = bb_address_v4(turned ? client : server);
    packet->source_port = turned ? 80 : 40000;
    packet->target_port = turned ? 40000 : 80;
}

static BbPacket next_packet(BbCursor *c, gint64 *now_ns)
{
    static const guint8 payload[256];
    guint8 flags = bb_cursor_u8(c), leg = bb_cursor_u8(c), numbers = bb_cursor_u8(c);
    guint8 length = bb_cursor_u8(c), options = bb_cursor_u8(c), time = bb_cursor_u8(c);
    *now_ns += (gint64)time * time * time * 1000;
    BbPacket packet = {
        .time_ns = *now_ns,
        .transport = BB_TRANSPORT_TCP,
        .tcp_flags = flags,
        .seq = 0x10000000u + (numbers & 15),
        .ack = 0x10000000u + (numbers >> 4),
        .window = (guint16)(leg >> 6),
        .payload = payload,
        .captured = length,
        .length = length,
        .options_size = (guint8)MIN(c->left, options & 63),
    };
    set_ends(&packet, leg & 7, leg & 8);
    packet.options = bb_cursor_take(c, packet.options_size);
    return packet;
}

int LLVMFuzzerTestOneInput(const guint8 *data, gsize size)
{
    BbLoss loss = {0};
    BbCaptureOptions options = bb_capture_options_default();
    options.translation = size & 1 ? BB_TRANSLATION_JOIN : BB_TRANSLATION_HINT;
    g_autoptr(BbNames) names = bb_names_new();
    g_autoptr(BbNodes) nodes = bb_nodes_new(names, true);
    g_autoptr(BbCapture) capture = bb_capture_new(&options, names, nodes, &loss, ignore, NULL);
    const BbTranslations *found = bb_capture_translations(capture);
    BbCursor cursor = bb_cursor(data, size);
    gint64 now_ns = 0;
    while (cursor.left) {
        BbPacket packet = next_packet(&cursor, &now_ns);
        if (!bb_cursor_ok(&cursor))
            break;
        g_assert(bb_capture_packet(capture, &packet, NULL));
        g_assert(bb_translations_joined(found) <= loss.count[BB_NAT_JOINED]);
        g_assert(bb_translations_joined(found) <= 2); // of four legs
    }
    g_assert(bb_capture_finish(capture, NULL));
    g_assert((loss.count[BB_NAT_JOINED] == 0) == (loss.count[BB_NAT_PACKETS] == 0));
    return 0;
}
