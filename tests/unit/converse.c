// SPDX-License-Identifier: Apache-2.0
// In: what two sides say. Out: the messages that capture/ understood, as text.
#include "tests/unit/converse.h"

#include "capture/capture.h"
#include "capture/protocols/tls_keylog.h"

#define MS (G_GINT64_CONSTANT(1000000))
#define START_NS (G_GINT64_CONSTANT(1000000000) * 1000)

struct Converse {
    BbNames *names;
    BbNodes *nodes;
    BbLoss loss;
    BbCapture *capture;
    GArray *messages; // of BbMessage, in order of arrival
    GString *result;
    gint64 now_ns;
    gsize segment;
    guint32 next[2]; // sequence number to send next, by direction
    guint16 server_port;
    guint16 ip_id;
    bool udp, twice;
};

static bool keep(const BbMessage *message, gpointer user, GError **error)
{
    Converse *c = user;
    g_array_append_val(c->messages, *message);
    return true;
}

static Converse *converse_new(guint16 server_port, bool udp, gsize max_held_bytes,
                              BbTlsKeylog *keylog)
{
    Converse *c = g_new0(Converse, 1);
    BbCaptureOptions options = bb_capture_options_default();
    options.max_held_bytes = max_held_bytes;
    options.keylog = keylog;
    c->names = bb_names_new();
    c->nodes = bb_nodes_new(c->names, false);
    c->capture = bb_capture_new(&options, c->names, c->nodes, &c->loss, keep, c);
    c->messages = g_array_new(FALSE, FALSE, sizeof(BbMessage));
    c->now_ns = START_NS;
    c->segment = 1460;
    c->next[BB_TO_SERVER] = 0xfffffff0u; // wraps soon
    c->next[BB_TO_CLIENT] = 1000;
    c->server_port = server_port;
    c->udp = udp;
    return c;
}

// Sends one packet; seen: the capture sees it, and of its bytes those that are there (NULL: none).
static void send_packet(Converse *c, BbDirection direction, guint8 flags, const guint8 *bytes,
                        gsize length, bool seen)
{
    static const guint8 client[4] = {10, 0, 0, 1}, server[4] = {10, 0, 0, 2};
    bool up = direction == BB_TO_SERVER;
    BbPacket packet = {
        .time_ns = c->now_ns,
        .source = bb_address_v4(up ? client : server),
        .target = bb_address_v4(up ? server : client),
        .source_port = up ? 40000 : c->server_port,
        .target_port = up ? c->server_port : 40000,
        .transport = c->udp ? BB_TRANSPORT_UDP : BB_TRANSPORT_TCP,
        .tcp_flags = flags,
        .seq = c->next[direction],
        .ack = c->next[bb_direction_other(direction)],
        .ip_id = ++c->ip_id,
        .payload = bytes,
        .captured = bytes ? (guint32)length : 0,
        .length = (guint32)length,
    };
    c->now_ns += MS;
    c->next[direction] += (guint32)length + (flags & (BB_TCP_SYN | BB_TCP_FIN) ? 1 : 0);
    if (!seen)
        return;
    g_autofree guint8 *copy = g_memdup2(bytes, packet.captured); // so that reads past it are caught
    packet.payload = copy;
    for (guint i = 0; i <= c->twice; i++)
        g_assert(bb_capture_packet(c->capture, &packet, NULL));
}

void converse_mirror_twice(Converse *c)
{
    c->twice = true;
}

Converse *converse_tcp_midstream(guint16 server_port)
{
    return converse_new(server_port, false, BB_CAPTURE_HELD_BYTES, NULL);
}

Converse *converse_udp(guint16 server_port)
{
    return converse_new(server_port, true, BB_CAPTURE_HELD_BYTES, NULL);
}

Converse *converse_tcp(guint16 server_port)
{
    return converse_tcp_held(server_port, BB_CAPTURE_HELD_BYTES);
}

static Converse *shake_hands(Converse *c)
{
    c->now_ns = START_NS - 3 * MS;
    send_packet(c, BB_TO_SERVER, BB_TCP_SYN, NULL, 0, true);
    send_packet(c, BB_TO_CLIENT, BB_TCP_SYN | BB_TCP_ACK, NULL, 0, true);
    send_packet(c, BB_TO_SERVER, BB_TCP_ACK, NULL, 0, true);
    return c;
}

Converse *converse_tcp_held(guint16 server_port, gsize max_held_bytes)
{
    return shake_hands(converse_new(server_port, false, max_held_bytes, NULL));
}

Converse *converse_tcp_keylog(guint16 server_port, BbTlsKeylog *keylog)
{
    return shake_hands(converse_new(server_port, false, BB_CAPTURE_HELD_BYTES, keylog));
}

void converse_wait(Converse *c, guint ms)
{
    c->now_ns += ms * MS;
}

void converse_segment_size(Converse *c, gsize bytes)
{
    c->segment = bytes;
}

static void say(Converse *c, BbDirection direction, const guint8 *bytes, gsize length, bool seen)
{
    if (c->udp) {
        send_packet(c, direction, 0, bytes, length, seen);
        return;
    }
    while (length) {
        gsize part = MIN(length, c->segment);
        send_packet(c, direction, BB_TCP_ACK | BB_TCP_PSH, bytes, part, seen);
        bytes += part;
        length -= part;
    }
}

void converse_say(Converse *c, BbDirection direction, const void *bytes, gsize length)
{
    say(c, direction, bytes, length, true);
}

void converse_text(Converse *c, BbDirection direction, const char *text)
{
    say(c, direction, (const guint8 *)text, strlen(text), true);
}

void converse_lose(Converse *c, BbDirection direction, gsize length)
{
    g_autofree guint8 *nothing = g_malloc0(length);
    say(c, direction, nothing, length, false);
}

void converse_cut(Converse *c, BbDirection direction, guint64 length)
{
    for (guint64 sent = 0; sent < length; sent += 1 << 20)
        send_packet(c, direction, BB_TCP_ACK, NULL, MIN(length - sent, 1 << 20), true);
}

void converse_late(Converse *c, BbDirection direction, gsize behind, const void *bytes,
                   gsize length)
{
    guint32 next = c->next[direction];
    c->next[direction] -= (guint32)behind;
    say(c, direction, bytes, length, true);
    c->next[direction] = next;
}

void converse_close(Converse *c, BbDirection direction)
{
    send_packet(c, direction, BB_TCP_FIN | BB_TCP_ACK, NULL, 0, true);
}

static gint by_time(gconstpointer a, gconstpointer b)
{
    const BbMessage *x = a, *y = b;
    return x->time_ns < y->time_ns ? -1 : x->time_ns > y->time_ns;
}

static const char *or_dash(const Converse *c, guint32 name)
{
    return name ? bb_names_text(c->names, name) : "-";
}

static void append_line(Converse *c, const BbMessage *m)
{
    bool up = strcmp(bb_names_text(c->names, m->sender), "10.0.0.1") == 0;
    if (m->kind == BB_FREE)
        g_string_append_printf(c->result, "MSG %s", up ? ">" : "<");
    else
        g_string_append(c->result, m->kind == BB_CALL ? "CALL " : "RET ");
    if (m->kind != BB_FREE)
        bb_id_append(c->result, c->names, m->id);
    guint32 what = m->kind == BB_RETURN ? m->status : m->op;
    g_string_append_printf(c->result, " %s %s %" G_GUINT64_FORMAT "\n", or_dash(c, m->proto),
                           or_dash(c, what), m->bytes);
}

const char *converse_result(Converse *c)
{
    if (c->result)
        return c->result->str;
    g_assert(bb_capture_finish(c->capture, NULL));
    c->result = g_string_new(NULL);
    g_array_sort(c->messages, by_time); // stable: glib's is a merge sort
    for (guint i = 0; i < c->messages->len; i++)
        append_line(c, &g_array_index(c->messages, BbMessage, i));
    return c->result->str;
}

guint64 converse_loss(Converse *c, int kind)
{
    (void)converse_result(c);
    return c->loss.count[kind];
}

gint64 converse_first_ms(Converse *c, guint line)
{
    (void)converse_result(c);
    g_assert(line < c->messages->len);
    return (g_array_index(c->messages, BbMessage, line).time_ns - START_NS) / MS;
}

gint64 converse_last_ms(Converse *c, guint line)
{
    (void)converse_result(c);
    g_assert(line < c->messages->len);
    return (g_array_index(c->messages, BbMessage, line).end_ns - START_NS) / MS;
}

void converse_free(Converse *c)
{
    if (!c)
        return;
    bb_capture_free(c->capture);
    bb_nodes_free(c->nodes);
    bb_names_free(c->names);
    g_array_unref(c->messages);
    if (c->result)
        g_string_free(c->result, TRUE);
    g_free(c);
}
