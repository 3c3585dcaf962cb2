// SPDX-License-Identifier: Apache-2.0
// TCP reassembly. The oracle is the stream itself: whatever the network and the mirror did to the
// segments, what is delivered is the bytes sent, in order, or a gap where they were never seen.
#include "tests/unit/tcp_wire.h"

typedef struct Sent {
    BbPacket packet;
    guint side;
    guint32 place; // where the shuffled order puts it
} Sent;

static guint32 random_up_to(GRand *rand, guint32 limit, guint32 most)
{
    guint32 value = (guint32)g_rand_int_range(rand, 1, (gint32)most + 1);
    return MIN(value, limit);
}

// Two sides that talk in turns; segments of random size, some sent twice or in overlapping pieces.
static GArray *talk(Wire *wire, GRand *rand, bool repeats)
{
    GArray *sent = g_array_new(FALSE, TRUE, sizeof(Sent));
    guint32 at[2] = {0, 0};
    guint side = 0;
    while (at[0] < wire->side[0].length || at[1] < wire->side[1].length) {
        guint32 turn = (guint32)g_rand_int_range(rand, 1, 4000);
        while (turn && at[side] < wire->side[side].length) {
            guint32 length = random_up_to(rand, turn, 1460);
            length = MIN(length, wire->side[side].length - at[side]);
            Sent one = {.packet = packet_of(wire, side, at[side], length, at[!side], BB_TCP_ACK),
                        .side = side};
            g_array_append_val(sent, one);
            if (repeats && g_rand_int_range(rand, 0, 4) == 0) {
                guint32 back = random_up_to(rand, at[side], 700);
                one.packet =
                    packet_of(wire, side, at[side] - back, back + length, at[!side], BB_TCP_ACK);
                g_array_append_val(sent, one);
            }
            at[side] += length;
            turn -= length;
        }
        side = !side;
    }
    return sent;
}

static gint by_place(gconstpointer a, gconstpointer b)
{
    const Sent *x = a, *y = b;
    return x->place < y->place ? -1 : x->place > y->place;
}

static void shuffle(GArray *sent, GRand *rand, gint32 reach)
{
    for (guint i = 0; i < sent->len; i++)
        g_array_index(sent, Sent, i).place = i + (guint32)g_rand_int_range(rand, 0, reach);
    g_array_sort(sent, by_place);
}

static void run_wire(GRand *rand, gint32 reach, bool repeats, gint32 loss_percent)
{
    Wire wire = {0};
    stream_init(&wire.side[0], rand, (guint32)g_rand_int_range(rand, 0, 30000));
    stream_init(&wire.side[1], rand, (guint32)g_rand_int_range(rand, 0, 30000));
    handshake(&wire);
    g_autoptr(GArray) sent = talk(&wire, rand, repeats);
    shuffle(sent, rand, reach);
    guint lost = 0;
    for (guint i = 0; i < sent->len; i++) {
        const Sent *one = &g_array_index(sent, Sent, i);
        if (g_rand_int_range(rand, 0, 100) < loss_percent)
            lost++;
        else
            push(&wire, one->side, one->packet, i * MS / 10);
    }
    for (guint side = 0; side < 2; side++)
        push(&wire, side,
             packet_of(&wire, side, wire.side[side].length, 0, wire.side[!side].length,
                       BB_TCP_ACK | BB_TCP_FIN),
             (gint64)sent->len * MS);
    bb_tcp_force(&wire.tcp);
    check_events(&wire);
    for (guint side = 0; side < 2; side++) {
        const Stream *stream = &wire.side[side];
        ck_assert_uint_eq(stream->at, stream->length);
        ck_assert(stream->closed);
        if (!lost)
            ck_assert_uint_eq(stream->missing, 0);
    }
    ck_assert_uint_eq(wire.loss.count[BB_TCP_GAP_BYTES],
                      wire.side[0].missing + wire.side[1].missing);
    ck_assert_uint_eq(bb_tcp_held(&wire.tcp), 0);
    wire_clear(&wire);
}

START_TEST(any_order_gives_the_stream)
{
    g_autoptr(GRand) rand = g_rand_new_with_seed(test_seed("tcp"));
    for (guint i = 0; i < 200; i++)
        run_wire(rand, 5, true, 0);
}
END_TEST

START_TEST(losses_are_gaps)
{
    g_autoptr(GRand) rand = g_rand_new_with_seed(test_seed("tcp"));
    for (guint i = 0; i < 200; i++)
        run_wire(rand, 1 + (gint32)i % 6, i % 2, 1 + (gint32)i % 30);
}
END_TEST

// One segment came late, another one never: what came before them is not out of order.
START_TEST(who_comes_late_is_out_of_order)
{
    Wire wire = {0};
    g_autoptr(GRand) rand = g_rand_new_with_seed(1);
    stream_init(&wire.side[0], rand, 1000);
    stream_init(&wire.side[1], rand, 1);
    handshake(&wire);
    static const guint32 order[] = {0, 2, 3, 4, 1, 6, 7, 7, 8};
    for (guint i = 0; i < G_N_ELEMENTS(order); i++)
        push(&wire, 0, packet_of(&wire, 0, order[i] * 100, 100, 0, BB_TCP_ACK), MS);
    bb_tcp_force(&wire.tcp);
    check_events(&wire);
    ck_assert_uint_eq(wire.side[0].missing, 100);
    ck_assert_uint_eq(wire.loss.count[BB_TCP_REORDERED], 1);
    ck_assert_uint_eq(wire.tcp.reordered, 1);
    ck_assert_uint_eq(wire.loss.count[BB_TCP_RETRANSMITTED], 1);
    wire_clear(&wire);
}
END_TEST

// A segment was lost before it was seen, and is sent again after a round trip: not out of order. A
// longer hole before it is another matter.
START_TEST(who_comes_very_late_is_sent_again)
{
    static const gint64 late_ns[] = {BB_TCP_LATE_NS, BB_TCP_LATE_NS + 1};
    for (guint i = 0; i < G_N_ELEMENTS(late_ns); i++) {
        Wire wire = {0};
        g_autoptr(GRand) rand = g_rand_new_with_seed(1);
        stream_init(&wire.side[0], rand, 700);
        stream_init(&wire.side[1], rand, 1);
        handshake(&wire);
        push(&wire, 0, packet_of(&wire, 0, 100, 100, 0, BB_TCP_ACK), MS);
        for (guint at = 300; at < 600; at += 100)
            push(&wire, 0, packet_of(&wire, 0, at, 100, 0, BB_TCP_ACK), 50 * MS + at);
        gint64 now_ns = 50 * MS + 300 + late_ns[i];
        push(&wire, 0, packet_of(&wire, 0, 200, 100, 0, BB_TCP_ACK), now_ns);
        ck_assert_uint_eq(wire.loss.count[BB_TCP_REORDERED], !i);
        ck_assert_uint_eq(wire.tcp.retransmitted, i);
        push(&wire, 0, packet_of(&wire, 0, 0, 100, 0, BB_TCP_ACK), now_ns);
        ck_assert_uint_eq(wire.tcp.reordered, !i);
        ck_assert_uint_eq(wire.loss.count[BB_TCP_RETRANSMITTED], i + 1);
        ck_assert_uint_eq(wire.side[0].at, 600);
        wire_clear(&wire);
    }
}
END_TEST

// The mirror swapped a request and its reply: the reply waits for the bytes it acknowledges.
START_TEST(reply_waits_for_its_request)
{
    Wire wire = {0};
    g_autoptr(GRand) rand = g_rand_new_with_seed(1);
    stream_init(&wire.side[0], rand, 100);
    stream_init(&wire.side[1], rand, 200);
    handshake(&wire);
    push(&wire, 1, packet_of(&wire, 1, 0, 200, 100, BB_TCP_ACK), MS);
    ck_assert_uint_eq(wire.side[1].at, 0);
    push(&wire, 0, packet_of(&wire, 0, 0, 100, 0, BB_TCP_ACK), MS);
    ck_assert_uint_eq(wire.side[0].at, 100);
    ck_assert_uint_eq(wire.side[1].at, 200);
    ck_assert_uint_eq(wire.side[0].gaps + wire.side[1].gaps, 0);
    wire_clear(&wire);
}
END_TEST

// The server's SYN and its first bytes were not captured; the client's acknowledgement of the SYN
// tells that there were any.
START_TEST(first_bytes_can_be_missed)
{
    Wire wire = {0};
    g_autoptr(GRand) rand = g_rand_new_with_seed(1);
    stream_init(&wire.side[0], rand, 20);
    stream_init(&wire.side[1], rand, 100);
    BbPacket syn = packet_of(&wire, 0, 0, 0, 0, BB_TCP_SYN);
    syn.seq--;
    push(&wire, 0, syn, 0);
    push(&wire, 0, packet_of(&wire, 0, 0, 10, 0, BB_TCP_ACK), MS);
    push(&wire, 0, packet_of(&wire, 0, 10, 10, 60, BB_TCP_ACK), 2 * MS);
    push(&wire, 1, packet_of(&wire, 1, 60, 40, 20, BB_TCP_ACK), 3 * MS);
    bb_tcp_force(&wire.tcp);
    check_events(&wire);
    ck_assert_uint_eq(wire.side[0].at, 20);
    ck_assert_uint_eq(wire.side[1].at, 100);
    ck_assert_uint_eq(wire.side[1].missing, 60);
    wire_clear(&wire);
}
END_TEST

// Two replies in a row are missing. Each gap comes before the request that acknowledges it, also
// where the server is the first side.
START_TEST(gaps_come_before_what_acknowledges_them)
{
    Wire wire = {0};
    g_autoptr(GRand) rand = g_rand_new_with_seed(1);
    g_autoptr(GString) order = g_string_new(NULL);
    stream_init(&wire.side[0], rand, 150);
    stream_init(&wire.side[1], rand, 30);
    handshake(&wire);
    push(&wire, 1, packet_of(&wire, 1, 0, 10, 0, BB_TCP_ACK), MS);
    push(&wire, 1, packet_of(&wire, 1, 10, 10, 50, BB_TCP_ACK), 2 * MS);
    push(&wire, 1, packet_of(&wire, 1, 20, 10, 100, BB_TCP_ACK), 3 * MS);
    push(&wire, 0, packet_of(&wire, 0, 100, 50, 30, BB_TCP_ACK), 4 * MS);
    bb_tcp_force(&wire.tcp);
    BbTcpEvent event;
    while (bb_tcp_next(&wire.tcp, &event, &wire.loss))
        g_string_append_printf(order, "%s %u:%u ", event.kind == BB_TCP_GAP ? "gap" : "data",
                               event.side, event.length);
    ck_assert_str_eq(order->str, "gap 0:50 data 1:10 gap 0:50 data 1:10 data 0:50 ");
    wire_clear(&wire);
}
END_TEST

// The whole reply came before its request, in more packets than are waited for, at once.
START_TEST(a_long_reply_waits_for_its_request)
{
    Wire wire = {0};
    g_autoptr(GRand) rand = g_rand_new_with_seed(1);
    stream_init(&wire.side[0], rand, 100);
    stream_init(&wire.side[1], rand, 30 * 100);
    handshake(&wire);
    for (guint i = 0; i < 30; i++)
        push(&wire, 1, packet_of(&wire, 1, i * 100, 100, 100, BB_TCP_ACK), MS + i * MS / 100);
    ck_assert_uint_eq(wire.side[1].at, 0);
    push(&wire, 0, packet_of(&wire, 0, 0, 100, 0, BB_TCP_ACK), 2 * MS);
    ck_assert_uint_eq(wire.side[1].at, 3000);
    ck_assert_uint_eq(wire.side[0].gaps + wire.side[1].gaps, 0);
    wire_clear(&wire);
}
END_TEST

// An acknowledged hole is given up after BB_TCP_PATIENCE_ACKED_PACKETS, if some time went by, or
// after more of it; another one after seconds.
START_TEST(patience_ends)
{
    Wire wire = {0};
    g_autoptr(GRand) rand = g_rand_new_with_seed(1);
    stream_init(&wire.side[0], rand, 10000);
    stream_init(&wire.side[1], rand, 10);
    handshake(&wire);
    push(&wire, 0, packet_of(&wire, 0, 100, 100, 0, BB_TCP_ACK), MS);
    push(&wire, 0, packet_of(&wire, 0, 200, 100, 0, BB_TCP_ACK), BB_TCP_PATIENCE_NS - MS);
    ck_assert_uint_eq(wire.side[0].at, 0);
    push(&wire, 0, packet_of(&wire, 0, 300, 100, 0, BB_TCP_ACK), BB_TCP_PATIENCE_NS + 2 * MS);
    ck_assert_uint_eq(wire.side[0].at, 400);
    ck_assert_uint_eq(wire.side[0].missing, 100);
    gint64 now_ns = BB_TCP_PATIENCE_NS + 3 * MS;
    push(&wire, 0, packet_of(&wire, 0, 500, 100, 0, BB_TCP_ACK), now_ns);
    for (guint i = 0; i < 2 * BB_TCP_PATIENCE_ACKED_PACKETS; i++)
        push(&wire, 1, packet_of(&wire, 1, 0, 0, 600, BB_TCP_ACK), now_ns);
    ck_assert_uint_eq(wire.side[0].at, 400);
    now_ns += BB_TCP_PATIENCE_SHORT_NS;
    push(&wire, 1, packet_of(&wire, 1, 0, 0, 600, BB_TCP_ACK), now_ns);
    ck_assert_uint_eq(wire.side[0].at, 600);
    ck_assert_uint_eq(wire.side[0].missing, 200);
    push(&wire, 0, packet_of(&wire, 0, 700, 100, 0, BB_TCP_ACK), now_ns);
    push(&wire, 1, packet_of(&wire, 1, 0, 0, 800, BB_TCP_ACK),
         now_ns + BB_TCP_PATIENCE_ACKED_NS - MS);
    ck_assert_uint_eq(wire.side[0].at, 600);
    push(&wire, 1, packet_of(&wire, 1, 0, 0, 800, BB_TCP_ACK), now_ns + BB_TCP_PATIENCE_ACKED_NS);
    ck_assert_uint_eq(wire.side[0].at, 800);
    wire_clear(&wire);
}
END_TEST

// The clock is set back by an hour, or one stamp is of tomorrow: a hole is given up as soon as ever
// (a few packets later). One stamp of yesterday alone does not give it up.
START_TEST(a_clock_set_back_stalls_nothing)
{
    static const gint64 before_ns[] = {3600 * BB_TCP_PATIENCE_NS, 100 * BB_TCP_PATIENCE_NS};
    for (guint i = 0; i < G_N_ELEMENTS(before_ns); i++) {
        Wire wire = {0};
        g_autoptr(GRand) rand = g_rand_new_with_seed(1);
        stream_init(&wire.side[0], rand, 1000);
        stream_init(&wire.side[1], rand, 1);
        handshake(&wire);
        gint64 now_ns = 100 * BB_TCP_PATIENCE_NS;
        push(&wire, 0, packet_of(&wire, 0, 0, 100, 0, BB_TCP_ACK), before_ns[i]);
        push(&wire, 0, packet_of(&wire, 0, 200, 100, 0, BB_TCP_ACK), before_ns[i]);
        push(&wire, 1, packet_of(&wire, 1, 0, 0, 100, BB_TCP_ACK), i ? MS : now_ns);
        push(&wire, 1, packet_of(&wire, 1, 0, 0, 100, BB_TCP_ACK), now_ns);
        for (guint k = 0; k < 4; k++)
            push(&wire, 1, packet_of(&wire, 1, 0, 0, 300, BB_TCP_ACK), now_ns + k * MS);
        ck_assert_uint_eq(wire.side[0].at, 100);
        push(&wire, 1, packet_of(&wire, 1, 0, 0, 300, BB_TCP_ACK),
             now_ns + BB_TCP_PATIENCE_ACKED_NS + 4 * MS);
        ck_assert_uint_eq(wire.side[0].at, 300);
        wire_clear(&wire);
    }
}
END_TEST

START_TEST(held_bytes_are_bounded)
{
    Wire wire = {0};
    g_autoptr(GRand) rand = g_rand_new_with_seed(1);
    stream_init(&wire.side[0], rand, 3 * BB_TCP_HELD_BYTES);
    stream_init(&wire.side[1], rand, 1);
    handshake(&wire);
    for (guint32 at = 1000; at + 1000 <= wire.side[0].length; at += 1000) {
        push(&wire, 0, packet_of(&wire, 0, at, 1000, 0, BB_TCP_ACK), MS);
        ck_assert_uint_le(wire.tcp.stream[0].held_bytes, BB_TCP_HELD_BYTES + 1000);
    }
    ck_assert_uint_eq(wire.side[0].missing, 1000);
    ck_assert_uint_eq(wire.loss.count[BB_TCP_BUFFER_LIMIT], 1);
    wire_clear(&wire);
}
END_TEST

// A fast stream sends more than that while a hole is waited for that was acknowledged: no harm.
START_TEST(an_acknowledged_hole_is_no_limit)
{
    Wire wire = {0};
    g_autoptr(GRand) rand = g_rand_new_with_seed(1);
    stream_init(&wire.side[0], rand, 3 * BB_TCP_HELD_BYTES);
    stream_init(&wire.side[1], rand, 1);
    handshake(&wire);
    for (guint32 at = 1000; at + 1000 <= wire.side[0].length; at += 1000) {
        push(&wire, 0, packet_of(&wire, 0, at, 1000, 0, BB_TCP_ACK), MS);
        push(&wire, 1, packet_of(&wire, 1, 0, 0, at, BB_TCP_ACK), MS);
        ck_assert_uint_le(wire.tcp.stream[0].held_bytes, BB_TCP_HELD_BYTES + 1000);
    }
    ck_assert_uint_eq(wire.side[0].missing, 1000);
    ck_assert_uint_eq(wire.loss.count[BB_TCP_BUFFER_LIMIT], 0);
    wire_clear(&wire);
}
END_TEST

// Of half a mirror: 2.5 GiB later numbers have come round so far that an old acknowledgement looks
// as if it were ahead.
START_TEST(an_old_acknowledgement_is_none_of_now)
{
    static const guint32 piece = 1 << 26, hole = 100;
    Wire wire = {0};
    g_autoptr(GRand) rand = g_rand_new_with_seed(1);
    BbPacket packet = {.transport = BB_TRANSPORT_TCP, .tcp_flags = BB_TCP_ACK};
    stream_init(&wire.side[0], rand, 0);
    stream_init(&wire.side[1], rand, 0);
    wire.side[0].length = 41u << 26; // none of which the capture has
    handshake(&wire);
    packet.seq = wire.side[0].isn + 1;
    packet.ack = wire.side[1].isn + 1;
    packet.length = piece;
    for (guint i = 0; i < 40; i++, packet.seq += piece)
        push(&wire, 0, packet, MS);
    ck_assert_uint_eq(wire.side[0].at, 40u << 26);
    packet.length = 1;
    packet.seq += hole;
    for (guint i = 0; i < 2 * BB_TCP_PATIENCE_ACKED_PACKETS; i++, packet.seq++)
        push(&wire, 0, packet, MS + i * BB_TCP_PATIENCE_ACKED_NS / 10);
    ck_assert_uint_eq(wire.side[0].at, 40u << 26);
    push(&wire, 1, packet_of(&wire, 1, 0, 0, packet.seq - wire.side[0].isn - 1, BB_TCP_ACK),
         2 * MS);
    push(&wire, 0, packet, MS + 2 * BB_TCP_PATIENCE_ACKED_NS);
    ck_assert_uint_gt(wire.side[0].at, 40u << 26);
    wire_clear(&wire);
}
END_TEST

START_TEST(snap_length_leaves_a_gap)
{
    Wire wire = {0};
    g_autoptr(GRand) rand = g_rand_new_with_seed(1);
    stream_init(&wire.side[0], rand, 1000);
    stream_init(&wire.side[1], rand, 1);
    handshake(&wire);
    BbPacket packet = packet_of(&wire, 0, 0, 600, 0, BB_TCP_ACK);
    packet.captured = 50;
    push(&wire, 0, packet, MS);
    ck_assert_uint_eq(wire.side[0].at, 600);
    ck_assert_uint_eq(wire.side[0].missing, 550);
    push(&wire, 0, packet, MS); // mirrored twice
    push(&wire, 0, packet_of(&wire, 0, 600, 400, 0, BB_TCP_ACK | BB_TCP_FIN), MS);
    ck_assert_uint_eq(wire.side[0].missing, 550);
    ck_assert(wire.side[0].closed);
    wire_clear(&wire);
}
END_TEST
// Returns how many bytes were delivered then.
static guint push_at(BbTcp *tcp, BbLoss *loss, guint side, BbPacket packet)
{
    packet.payload = (const guint8 *)"data";
    packet.captured = packet.length;
    guint32 bytes = bb_tcp_push(tcp, side, &packet, loss) ? packet.length : 0;
    BbTcpEvent event;
    while (bb_tcp_next(tcp, &event, loss))
        bytes += event.kind == BB_TCP_DATA ? event.length : 0;
    return bytes;
}

// Three segments in a row far away: the ports were used again unseen. So it is where the new
// numbers are lower: these are no retransmissions.
START_TEST(a_moved_stream_is_another_connection)
{
    static const guint32 places[] = {0x70000000, 50 << 20};
    for (guint i = 0; i < G_N_ELEMENTS(places); i++) {
        BbTcp tcp = {0};
        BbLoss loss = {0};
        BbPacket far = {.seq = places[i], .length = 4};
        BbPacket near = {.seq = (100 << 20) + 1, .length = 4};
        push_at(&tcp, &loss, 0, (BbPacket){.tcp_flags = BB_TCP_SYN, .seq = 100 << 20});
        for (guint k = 0; k < 3; k++) {
            ck_assert_uint_eq(push_at(&tcp, &loss, 0, near), k == 0 ? 4 : 0);
            ck_assert_uint_eq(push_at(&tcp, &loss, 0, far), 0);
        }
        ck_assert(!bb_tcp_has_moved(&tcp, 0, &far));
        ck_assert_uint_eq(push_at(&tcp, &loss, 0, far), 0);
        near.time_ns = far.time_ns = BB_TCP_PATIENCE_ACKED_NS - 1;
        ck_assert(!bb_tcp_has_moved(&tcp, 0, &near));
        ck_assert(!bb_tcp_has_moved(&tcp, 0, &far));
        far.time_ns++;
        ck_assert(bb_tcp_has_moved(&tcp, 0, &far));
        ck_assert_uint_eq(loss.count[BB_TCP_ODD], 4);
        ck_assert_uint_eq(loss.count[BB_TCP_RETRANSMITTED], 2);
        bb_tcp_clear(&tcp);
    }
}
END_TEST

// Of a long fat path more is on its way than is believed of others: all of it may be sent again
// from where the acknowledgements stand.
START_TEST(what_is_not_acknowledged_may_be_old)
{
    enum { SENT = 40 << 20, ACKED = 1 << 20, STEP = 1 << 20 };
    BbTcp tcp = {0};
    BbLoss loss = {0};
    push_at(&tcp, &loss, 0, (BbPacket){.tcp_flags = BB_TCP_SYN, .seq = 1000});
    g_autofree guint8 *bytes = g_malloc0(STEP);
    for (guint32 at = 0; at < SENT; at += STEP) {
        BbPacket packet = {.seq = 1001 + at, .payload = bytes, .captured = STEP, .length = STEP};
        ck_assert(bb_tcp_push(&tcp, 0, &packet, &loss));
    }
    BbPacket again = {.seq = 1001 + ACKED, .length = 4, .time_ns = BB_TCP_PATIENCE_NS};
    push_at(&tcp, &loss, 0, again);
    ck_assert_uint_eq(loss.count[BB_TCP_ODD], 1); // nobody acknowledges anything
    push_at(&tcp, &loss, 1, (BbPacket){.tcp_flags = BB_TCP_ACK, .seq = 1, .ack = again.seq});
    for (guint i = 0; i < 4; i++)
        push_at(&tcp, &loss, 0, again);
    ck_assert_uint_eq(loss.count[BB_TCP_RETRANSMITTED], 4);
    again.seq--;
    push_at(&tcp, &loss, 0, again); // that was acknowledged
    ck_assert_uint_eq(loss.count[BB_TCP_ODD], 2);
    bb_tcp_clear(&tcp);
}
END_TEST

// Another connection shows where the clock was set back meanwhile, too.
START_TEST(a_stream_moves_when_the_clock_is_set_back)
{
    BbTcp tcp = {0};
    BbLoss loss = {0};
    BbPacket far = {.seq = 0x70000000, .length = 4, .time_ns = 3600 * BB_TCP_PATIENCE_NS};
    push_at(&tcp, &loss, 0, (BbPacket){.tcp_flags = BB_TCP_SYN, .seq = 1000});
    push_at(&tcp, &loss, 0, (BbPacket){.seq = 1001, .length = 4});
    push_at(&tcp, &loss, 0, far);
    far.time_ns = BB_TCP_PATIENCE_NS;
    for (guint i = 0; i < 4; i++)
        push_at(&tcp, &loss, 0, far);
    ck_assert(!bb_tcp_has_moved(&tcp, 0, &far));
    far.time_ns += BB_TCP_PATIENCE_ACKED_NS + 2 * MS;
    ck_assert(bb_tcp_has_moved(&tcp, 0, &far));
    bb_tcp_clear(&tcp);
}
END_TEST

// RFC 9293 section 3.8.4, with a byte: neither data nor sent again. Data of one byte is.
START_TEST(keep_alives_are_nothing)
{
    BbTcp tcp = {0};
    BbLoss loss = {0};
    push_at(&tcp, &loss, 0, (BbPacket){.tcp_flags = BB_TCP_SYN, .seq = 1000});
    push_at(&tcp, &loss, 0, (BbPacket){.seq = 1001, .length = 4});
    for (guint i = 0; i < 3; i++)
        push_at(&tcp, &loss, 0, (BbPacket){.tcp_flags = BB_TCP_ACK, .seq = 1004, .length = 1});
    ck_assert_uint_eq(loss.count[BB_TCP_RETRANSMITTED], 0);
    const guint8 flags = BB_TCP_ACK | BB_TCP_PSH;
    push_at(&tcp, &loss, 0, (BbPacket){.tcp_flags = flags, .seq = 1004, .length = 1});
    push_at(&tcp, &loss, 0, (BbPacket){.tcp_flags = BB_TCP_ACK, .seq = 1002, .length = 1});
    ck_assert_uint_eq(loss.count[BB_TCP_RETRANSMITTED], 2);
    bb_tcp_clear(&tcp);
}
END_TEST

// A server that remembers nothing (cookies, RFC 4987) answers each SYN with another number: the
// client says which it took; where that was not seen, the server's first bytes do.
START_TEST(a_server_answers_twice)
{
    static const guint32 seconds[] = {2000 + 250000, 2000 - 1500, 0xb0000000};
    for (guint i = 0; i < 4 * G_N_ELEMENTS(seconds); i++) {
        BbTcp tcp = {0};
        BbLoss loss = {0};
        const guint8 answer = BB_TCP_SYN | BB_TCP_ACK;
        bool is_second = i & 1, is_told = i & 2;
        guint32 second = seconds[i / 4], used = (is_second ? second : 2000) + 1;
        push_at(&tcp, &loss, 0, (BbPacket){.tcp_flags = BB_TCP_SYN, .seq = 1000});
        push_at(&tcp, &loss, 1, (BbPacket){.tcp_flags = answer, .seq = 2000, .ack = 1001});
        push_at(&tcp, &loss, 0, (BbPacket){.tcp_flags = BB_TCP_SYN, .seq = 1000});
        push_at(&tcp, &loss, 1, (BbPacket){.tcp_flags = answer, .seq = second, .ack = 1001});
        BbPacket call = {.tcp_flags = BB_TCP_ACK, .seq = 1001, .ack = used, .length = 4};
        BbPacket reply = {.tcp_flags = BB_TCP_ACK, .seq = used, .ack = 1005, .length = 4};
        if (is_told)
            ck_assert_uint_eq(push_at(&tcp, &loss, 0, call), 4);
        else
            reply.ack = 1001;
        ck_assert_uint_eq(push_at(&tcp, &loss, 1, reply), 4);
        ck_assert_uint_eq(tcp.stream[1].isn, used - 1);
        ck_assert(tcp.stream[1].from_syn);
        ck_assert_uint_eq(loss.count[BB_TCP_ODD] + loss.count[BB_TCP_GAPS], 0);
        bb_tcp_clear(&tcp);
    }
}
END_TEST

// What the client acknowledged stays so, whatever comes after it.
START_TEST(a_late_answer_changes_nothing)
{
    BbTcp tcp = {0};
    BbLoss loss = {0};
    const guint8 answer = BB_TCP_SYN | BB_TCP_ACK;
    push_at(&tcp, &loss, 0, (BbPacket){.tcp_flags = BB_TCP_SYN, .seq = 1000});
    push_at(&tcp, &loss, 1, (BbPacket){.tcp_flags = answer, .seq = 2000, .ack = 1001});
    push_at(&tcp, &loss, 0, (BbPacket){.tcp_flags = BB_TCP_ACK, .seq = 1001, .ack = 2001});
    push_at(&tcp, &loss, 1, (BbPacket){.tcp_flags = answer, .seq = 9000, .ack = 1001});
    BbPacket reply = {.tcp_flags = BB_TCP_ACK, .seq = 2001, .ack = 1001, .length = 4};
    ck_assert_uint_eq(push_at(&tcp, &loss, 1, reply), 4);
    bb_tcp_clear(&tcp);
}
END_TEST

// Nor do they say where a connection is that was joined in the middle.
START_TEST(a_keep_alive_joins_nothing)
{
    static const guint8 flags[] = {BB_TCP_ACK, BB_TCP_ACK | BB_TCP_PSH};
    for (guint i = 0; i < G_N_ELEMENTS(flags); i++) {
        BbTcp tcp = {0};
        BbLoss loss = {0};
        BbPacket first = {.tcp_flags = flags[i], .seq = 1000, .length = 1};
        guint32 bytes = push_at(&tcp, &loss, 0, first);
        bytes += push_at(&tcp, &loss, 0, first);
        ck_assert_uint_eq(bytes, i);
        ck_assert_uint_eq(loss.count[BB_TCP_RETRANSMITTED], i);
        bytes +=
            push_at(&tcp, &loss, 0, (BbPacket){.tcp_flags = BB_TCP_ACK, .seq = 1001, .length = 4});
        ck_assert_uint_eq(bytes, i + 4);
        bb_tcp_clear(&tcp);
    }
}
END_TEST

// One of another number space does not stand for all to come: the hole after it is waited for.
START_TEST(a_wild_acknowledgement_is_forgotten)
{
    for (guint started = 0; started < 2; started++) {
        Wire wire = {0};
        g_autoptr(GRand) rand = g_rand_new_with_seed(1);
        stream_init(&wire.side[0], rand, 40);
        stream_init(&wire.side[1], rand, 40);
        if (started)
            handshake(&wire);
        push(&wire, 1, packet_of(&wire, 1, 0, 0, 1u << 30, BB_TCP_ACK), MS);
        if (!started)
            handshake(&wire);
        push(&wire, 0, packet_of(&wire, 0, 20, 20, 0, BB_TCP_ACK), MS);
        push(&wire, 1, packet_of(&wire, 1, 0, 0, 0, BB_TCP_ACK), BB_TCP_PATIENCE_ACKED_NS + MS);
        ck_assert_uint_eq(wire.side[0].at, 0);
        push(&wire, 1, packet_of(&wire, 1, 0, 0, 40, BB_TCP_ACK), BB_TCP_PATIENCE_ACKED_NS + MS);
        ck_assert_uint_eq(wire.side[0].at, 40);
        wire_clear(&wire);
    }
}
END_TEST

// An acknowledgement of what cannot have been sent (damaged, or of another connection) holds
// nothing up and makes no gap.
START_TEST(a_wild_acknowledgement_is_not_believed)
{
    Wire wire = {0};
    g_autoptr(GRand) rand = g_rand_new_with_seed(1);
    stream_init(&wire.side[0], rand, 40);
    stream_init(&wire.side[1], rand, 40);
    handshake(&wire);
    push(&wire, 1, packet_of(&wire, 1, 0, 20, 1u << 29, BB_TCP_ACK), MS);
    ck_assert_uint_eq(wire.side[1].at, 20);
    push(&wire, 1, packet_of(&wire, 1, 20, 10, 0, BB_TCP_ACK), MS);
    push(&wire, 1, packet_of(&wire, 1, 30, 10, 3u << 29, BB_TCP_ACK | BB_TCP_FIN), MS);
    push(&wire, 0, packet_of(&wire, 0, 0, 40, 40, BB_TCP_ACK), MS);
    ck_assert_uint_eq(wire.side[0].at, 40);
    ck_assert_uint_eq(wire.side[1].at, 40);
    ck_assert_uint_eq(wire.loss.count[BB_TCP_GAPS], 0);
    wire_clear(&wire);
}
END_TEST

// One damaged segment far ahead does not drag the stream along: what comes in between goes on.
START_TEST(a_wild_segment_is_not_followed)
{
    Wire wire = {0};
    g_autoptr(GRand) rand = g_rand_new_with_seed(1);
    stream_init(&wire.side[0], rand, 1000);
    stream_init(&wire.side[1], rand, 1);
    handshake(&wire);
    BbPacket wild = packet_of(&wire, 0, 0, 100, 0, BB_TCP_ACK);
    wild.seq += 1u << 27;
    push(&wire, 0, wild, MS);
    for (guint32 at = 0; at < 1000; at += 100)
        push(&wire, 0, packet_of(&wire, 0, at, 100, 0, BB_TCP_ACK), at * BB_TCP_PATIENCE_NS);
    ck_assert_uint_eq(wire.side[0].at, 1000);
    ck_assert_uint_eq(wire.loss.count[BB_TCP_GAPS], 0);
    wire_clear(&wire);
}
END_TEST

typedef struct Place {
    bool known, closed;
    guint32 next;
} Place;

// Each event goes on where the one before ended.
static void check_places(BbTcp *tcp, Place place[2], BbLoss *loss)
{
    BbTcpEvent event;
    while (bb_tcp_next(tcp, &event, loss)) {
        Place *at = &place[event.side];
        ck_assert(!at->closed);
        at->closed = event.kind == BB_TCP_CLOSE;
        if (at->closed)
            continue;
        ck_assert(!at->known || event.seq == at->next);
        ck_assert_uint_gt(event.length, 0);
        *at = (Place){.known = true, .next = event.seq + event.length};
    }
}

// Segments that contradict each other, with acknowledgements of anything: the streams go on without
// a jump, and at the end nothing is left.
START_TEST(nonsense_is_delivered_in_order)
{
    static const guint8 bytes[64];
    g_autoptr(GRand) rand = g_rand_new_with_seed(test_seed("tcp"));
    for (guint run = 0; run < 3000; run++) {
        BbTcp tcp = {0};
        BbLoss loss = {0};
        Place place[2] = {{0}, {0}};
        for (guint i = 0; i < 40; i++) {
            guint side = (guint)g_rand_int_range(rand, 0, 2);
            BbPacket packet = {
                .time_ns = i * MS * 20,
                .tcp_flags = (guint8)(g_rand_int_range(rand, 0, 4) ? BB_TCP_ACK : 0),
                .seq = (guint32)g_rand_int_range(rand, 0, 200) - (i == 0),
                .ack = (guint32)g_rand_int_range(rand, 0, 250),
                .payload = bytes,
                .length = (guint32)g_rand_int_range(rand, 0, 60),
            };
            packet.captured = (guint32)g_rand_int_range(rand, 0, (gint32)packet.length + 1);
            if (g_rand_int_range(rand, 0, 20) == 0)
                packet.tcp_flags |= BB_TCP_FIN;
            if (g_rand_int_range(rand, 0, 20) == 0)
                packet.tcp_flags |= BB_TCP_RST;
            if (i < 2)
                side = i, packet.seq = 0, packet.length = 0, packet.captured = 0,
                packet.tcp_flags = BB_TCP_SYN;
            Place *at = &place[side];
            if (bb_tcp_push(&tcp, side, &packet, &loss)) {
                ck_assert(!at->known || packet.seq == at->next);
                *at = (Place){.known = true, .next = packet.seq + packet.captured};
            }
            check_places(&tcp, place, &loss);
            ck_assert(!bb_tcp_waits(&tcp) || bb_tcp_held(&tcp));
        }
        bb_tcp_force(&tcp);
        check_places(&tcp, place, &loss);
        ck_assert(!bb_tcp_waits(&tcp));
        ck_assert_uint_eq(bb_tcp_held(&tcp), 0);
        bb_tcp_clear(&tcp);
    }
}
END_TEST

TEST_MAIN("tcp", any_order_gives_the_stream, losses_are_gaps, who_comes_late_is_out_of_order,
          who_comes_very_late_is_sent_again, reply_waits_for_its_request,
          a_long_reply_waits_for_its_request, an_acknowledged_hole_is_no_limit,
          first_bytes_can_be_missed, gaps_come_before_what_acknowledges_them, patience_ends,
          a_clock_set_back_stalls_nothing, held_bytes_are_bounded,
          an_old_acknowledgement_is_none_of_now, snap_length_leaves_a_gap,
          what_is_not_acknowledged_may_be_old, a_moved_stream_is_another_connection,
          a_stream_moves_when_the_clock_is_set_back, keep_alives_are_nothing,
          a_keep_alive_joins_nothing, a_server_answers_twice, a_late_answer_changes_nothing,
          a_wild_acknowledgement_is_forgotten, a_wild_acknowledgement_is_not_believed,
          a_wild_segment_is_not_followed, nonsense_is_delivered_in_order)
