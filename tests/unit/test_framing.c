// SPDX-License-Identifier: Apache-2.0
// Streams of frames after a loss, of senders that fill packets without regard to them: found again
// inside of a packet, not among bytes that are no frames.
#include "capture/loss.h"
#include "tests/unit/octets.h"

#define CALLS 400u
#define LOST 1448u // bytes in the middle of a stream

// A request and its reply by number.
typedef struct Protocol {
    const char *name;
    guint16 port;
    void (*request)(Octets *out, guint id);
    void (*reply)(Octets *out, guint id);
} Protocol;

static void add(Octets *out, const char *notation)
{
    octets_read(out, notation, '\0');
}

// The number has four bytes, most significant first.
static void add_id(Octets *out, const char *before, guint id, const char *behind)
{
    add(out, before);
    octets_be(out, id, 4);
    add(out, behind);
}

static void add_framed(Octets *out, const char *before, guint id, const char *behind)
{
    g_autoptr(Octets) inside = g_byte_array_new();
    add_id(inside, before, id, behind);
    octets_be(out, inside->len, 4);
    octets_put(out, inside->data, inside->len);
}

static void mongodb(Octets *out, guint id, guint answers, const char *body)
{
    g_autoptr(Octets) document = octets(body);
    octets_le(out, 16 + 5 + 4 + document->len + 1, 4);
    octets_le(out, id, 4);
    octets_le(out, answers, 4);
    octets_le(out, 2013, 4);
    add(out, "00000000 00");
    octets_le(out, 4 + document->len + 1, 4);
    octets_put(out, document->data, document->len);
    add(out, "00");
}

static void mongodb_request(Octets *out, guint id)
{
    mongodb(out, id, 0,
            "02 'find' 00 02000000 'a' 00 02 '$db' 00 02000000 'b' 00 10 'x' 00 07070707");
}

static void mongodb_reply(Octets *out, guint id)
{
    mongodb(out, 100000 + id, id, "01 'ok' 00 000000000000f03f");
}

static void kafka_request(Octets *out, guint id)
{
    add_framed(out, "0003 0001", id, "0006 'client' 00000001 0002 't1'");
}

static void kafka_reply(Octets *out, guint id)
{
    add_framed(out, "", id, "00000000 00000001 00*40");
}

static void thrift_request(Octets *out, guint id)
{
    add_framed(out, "80010001 00000004 'ping'", id, "0b0001 [ 'x'*60 ] 00");
}

static void thrift_reply(Octets *out, guint id)
{
    add_framed(out, "80010002 00000004 'ping'", id, "0b0000 [ 'y'*60 ] 00");
}

static void zookeeper_request(Octets *out, guint id)
{
    add_framed(out, "", id, "00000004 [ '/a/b/c/d/e/f' ] 00");
}

static void zookeeper_reply(Octets *out, guint id)
{
    add_framed(out, "", id, "0000000000000001 00000000 [ 'data' ] 00*68");
}

static void dubbo_request(Octets *out, guint id)
{
    add_id(out, "dabb c200 00000000", id,
           "[ 05 '2.0.2' 05 'com.S' 05 '0.0.0' 03 'hey' 00 'H' 04 'path' 05 'com.S' 'Z' ]");
}

static void dubbo_reply(Octets *out, guint id)
{
    add_id(out, "dabb 0214 00000000", id, "[ 94 01 'a' ]");
}

static void oncrpc_request(Octets *out, guint id)
{
    add_id(out, "8000004c", id,
           "00000000 00000002 000186a3 00000003 00000001 00*16 00000020 68*28");
    add(out, "68*4");
}

static void oncrpc_reply(Octets *out, guint id)
{
    add_id(out, "80000058", id, "00000001 00000000 00*8 00000000 00000000 61*60");
}

static void nats_request(Octets *out, guint id)
{
    g_autofree char *text = g_strdup_printf("PUB svc.a _INBOX.aa.%u 40\r\n%040u\r\n", id, 7u);
    octets_put(out, text, strlen(text));
}

static void nats_reply(Octets *out, guint id)
{
    g_autofree char *text = g_strdup_printf("MSG _INBOX.aa.%u 1 40\r\n%040u\r\n", id, 7u);
    octets_put(out, text, strlen(text));
}

static void cassandra_request(Octets *out, guint id)
{
    add(out, "04 00");
    octets_be(out, id, 2);
    add(out, "07 00000022 [ 'SELECT a FROM k.t WHERE b=' 31 ] 0001 00");
}

static void cassandra_reply(Octets *out, guint id)
{
    add(out, "84 00");
    octets_be(out, id, 2);
    add(out, "08 00000028 00000001 72*36");
}

static void diameter_request(Octets *out, guint id)
{
    add_id(out, "01 000028 c0 000110 00000004", id, "00000009 00000107 40 000014 's'*12");
}

static void diameter_reply(Octets *out, guint id)
{
    add_id(out, "01 000034 40 000110 00000004", id,
           "00000009 00000107 40 000014 's'*12 0000010c 40 00000c 000007d1");
}

static const Protocol protocols[] = {
    {"mongodb", 27017, mongodb_request, mongodb_reply},
    {"kafka", 9092, kafka_request, kafka_reply},
    {"thrift", 9090, thrift_request, thrift_reply},
    {"zookeeper", 2181, zookeeper_request, zookeeper_reply},
    {"dubbo", 20880, dubbo_request, dubbo_reply},
    {"oncrpc", 2049, oncrpc_request, oncrpc_reply},
    {"nats", 4222, nats_request, nats_reply},
    {"cassandra", 9042, cassandra_request, cassandra_reply},
    {"diameter", 3868, diameter_request, diameter_reply},
};

static void one_pair(Converse *c, const Protocol *protocol, guint id)
{
    g_autoptr(Octets) request = g_byte_array_new(), reply = g_byte_array_new();
    protocol->request(request, id);
    protocol->reply(reply, id);
    converse_say(c, BB_TO_SERVER, request->data, request->len);
    converse_say(c, BB_TO_CLIENT, reply->data, reply->len);
}

// Says bytes, of which a segment of `direction` is lost.
static void say_all_but(Converse *c, BbDirection direction, const Octets *bytes, bool loses)
{
    const guint8 *data = bytes->data;
    gsize from = loses ? bytes->len / 2 + 5 : bytes->len, to = from + LOST;
    converse_say(c, direction, data, from);
    if (!loses)
        return;
    converse_lose(c, direction, LOST);
    converse_say(c, direction, data + to, bytes->len - to);
}

static Converse *backlog(const Protocol *protocol, BbDirection loser, guint *hit)
{
    g_autoptr(Octets) requests = g_byte_array_new(), replies = g_byte_array_new();
    Converse *c = converse_tcp(protocol->port);
    for (guint id = 1; id <= 4; id++)
        one_pair(c, protocol, id);
    for (guint id = 5; id < 5 + CALLS; id++) {
        protocol->request(requests, id);
        protocol->reply(replies, id);
    }
    Octets *lossy = loser == BB_TO_SERVER ? requests : replies;
    *hit = LOST / (lossy->len / CALLS) + 2;
    converse_segment_size(c, 1000);
    say_all_but(c, BB_TO_SERVER, requests, loser == BB_TO_SERVER);
    say_all_but(c, BB_TO_CLIENT, replies, loser == BB_TO_CLIENT);
    return c;
}

// One segment that is lost costs what it had of calls, and no more.
START_TEST(lost_segment)
{
    for (guint i = 0; i < 2 * G_N_ELEMENTS(protocols); i++) {
        const Protocol *protocol = &protocols[i / 2];
        BbDirection loser = i % 2 ? BB_TO_CLIENT : BB_TO_SERVER;
        guint hit;
        g_autoptr(Converse) c = backlog(protocol, loser, &hit);
        guint calls = (guint)converse_loss(c, BB_CALLS);
        guint pairs = (guint)(converse_loss(c, BB_RETURNS) - converse_loss(c, BB_RETURNS_ORPHANED));
        guint found = loser == BB_TO_SERVER ? calls : pairs;
        ck_assert_msg(strstr(converse_result(c), protocol->name) != NULL, "%s", protocol->name);
        ck_assert_msg(found >= 4 + CALLS - hit && found < 4 + CALLS, "%s: %u of %u, %u hit",
                      protocol->name, found, 4 + CALLS, hit);
        ck_assert_msg(pairs >= 4 + CALLS - hit, "%s: %u pairs", protocol->name, pairs);
        ck_assert_uint_eq(converse_loss(c, BB_DECODER_LOST), 1);
        ck_assert_uint_eq(converse_loss(c, BB_DECODER_STRAYED), 0);
    }
}
END_TEST

// Bytes at random, or letters of which words of a protocol are made.
static void noise(Octets *out, GRand *rand, bool text)
{
    static const char letters[] = "PUBMSG 123abc+\r\n";
    for (guint i = 0; i < 500000; i++) {
        guint32 random = g_rand_int(rand) >> 8;
        octets_be(out, text ? (guint8)letters[random % (sizeof letters - 1)] : random, 1);
    }
}

// What is no frame is not taken for one, at whatever byte one might begin. Letters of NATS make a
// line of it now and then, which is found out.
START_TEST(none_in_noise)
{
    g_autoptr(GRand) rand = g_rand_new_with_seed(test_seed("noise"));
    for (guint i = 0; i < 4 * G_N_ELEMENTS(protocols); i++) {
        const Protocol *protocol = &protocols[i / 4];
        BbDirection direction = i % 2 ? BB_TO_CLIENT : BB_TO_SERVER;
        g_autoptr(Octets) bytes = g_byte_array_new();
        g_autoptr(Converse) c = converse_tcp(protocol->port);
        noise(bytes, rand, i % 4 / 2);
        for (guint id = 1; id <= 4; id++)
            one_pair(c, protocol, id);
        converse_lose(c, direction, 100);
        converse_segment_size(c, 1448);
        converse_say(c, direction, bytes->data, bytes->len);
        ck_assert_msg(converse_loss(c, BB_CALLS) == 4, "%s, kind %u", protocol->name, i % 4);
        bool may_be_one = i % 4 / 2 && strcmp(protocol->name, "nats") == 0;
        ck_assert_msg(may_be_one || converse_loss(c, BB_DECODER_LOST) == 0, "%s, kind %u",
                      protocol->name, i % 4);
    }
}
END_TEST

// A frame that is longer than what is waited for is found where it begins a packet.
START_TEST(long_frames)
{
    g_autofree char *text = g_strnfill(60000, 'x');
    g_autoptr(Converse) c = converse_tcp(20880);
    one_pair(c, &protocols[4], 1);
    converse_lose(c, BB_TO_SERVER, 100);
    converse_text(c, BB_TO_SERVER, "xx");
    g_autoptr(Octets) head = octets("dabb c200 00000000 00000002 0000ea60");
    converse_say(c, BB_TO_SERVER, head->data, head->len);
    converse_say(c, BB_TO_SERVER, text, 60000);
    one_pair(c, &protocols[4], 3);
    ck_assert_uint_eq(converse_loss(c, BB_CALLS), 3);
    ck_assert_uint_eq(converse_loss(c, BB_DECODER_UNREAD), 2);
}
END_TEST

TEST_MAIN("framing", lost_segment, none_in_noise, long_frames)
