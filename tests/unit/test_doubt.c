// SPDX-License-Identifier: Apache-2.0
// Pipelines with packets lost, in protocols that answer in order: each message is one packet of its
// own millisecond, so that times tell which reply is whose. No pair may join two requests, and
// after a drain all are right.
#include "capture/doubt.h"
#include "data/random.h"
#include "tests/unit/converse.h"
#include "tests/unit/test.h"

#include <stdio.h>

#define MOST 200u // requests of a talk
#define DEEPEST (TEST_SANITIZED ? 3u : 6u)
#define NOT 0xffffffffu
#define KEPT \
    20u // of 100 calls, at least, that have their replies where packets get lost all the time

typedef enum { ONE_FOR_ONE, WAVES, AT_RANDOM, SHAPES } Shape;

typedef struct Protocol {
    const char *name;
    guint16 port;
    void (*ask)(GString *text, const char *value);
    void (*answer)(GString *text, const char *value);
} Protocol;

// What is said: packets in order, the n-th at n ms.
typedef struct Talk {
    const Protocol *protocol;
    BbDirection direction[2 * MOST];
    bool lost[2 * MOST];
    gsize piece;             // bytes of a packet where messages have several; 0: they have one
    double loss;             // share of these packets that are lost
    guint sure;              // messages at the beginning that are not
    guint wait_ms[2 * MOST]; // of silence before it
    guint packet[2][MOST];   // that request and reply n are in
    guint packets, count[2]; // said
    bool sizes_differ;
    guint pairs[MOST];   // request whose reply it was given; NOT: none
    guint drained[MOST]; // of request n: drains before it
    guint drains;
} Talk;

// ---- protocols ----------------------------------------------------------------------------------

static void ask_redis(GString *text, const char *value)
{
    g_string_append_printf(text, "*2\r\n$3\r\nGET\r\n$%zu\r\n%s\r\n", strlen(value), value);
}

static void answer_redis(GString *text, const char *value)
{
    g_string_append_printf(text, "$%zu\r\n%s\r\n", strlen(value), value);
}

static void ask_memcached(GString *text, const char *value)
{
    g_string_append_printf(text, "get %s\r\n", value);
}

static void answer_memcached(GString *text, const char *value)
{
    g_string_append_printf(text, "VALUE v 0 %zu\r\n%s\r\nEND\r\n", strlen(value), value);
}

static void ask_http(GString *text, const char *value)
{
    g_string_append_printf(text, "GET /%s HTTP/1.1\r\nHost: h\r\n\r\n", value);
}

static void answer_http(GString *text, const char *value)
{
    g_string_append_printf(text, "HTTP/1.1 200 OK\r\nContent-Length: %zu\r\n\r\n%s", strlen(value),
                           value);
}

static void put_postgres(GString *text, char type, const char *body, gsize length)
{
    guint32 size = GUINT32_TO_BE((guint32)length + 4);
    g_string_append_c(text, type);
    g_string_append_len(text, (const char *)&size, sizeof size);
    g_string_append_len(text, body, (gssize)length);
}

static void ask_postgres(GString *text, const char *value)
{
    g_autofree char *statement = g_strdup_printf("SELECT %s", value);
    put_postgres(text, 'Q', statement, strlen(statement) + 1);
}

// One row of one column.
static void answer_postgres(GString *text, const char *value)
{
    g_autoptr(GString) row = g_string_new(NULL);
    guint32 size = GUINT32_TO_BE((guint32)strlen(value));
    g_string_append_len(row, "\0\1", 2);
    g_string_append_len(row, (const char *)&size, sizeof size);
    g_string_append(row, value);
    put_postgres(text, 'T', "\0\1id\0\0\0\0\0\0\0\0\0\0\0\0\4\0\0\0\0\0\0", 23);
    put_postgres(text, 'D', row->str, row->len);
    put_postgres(text, 'C', "SELECT 1", 9);
    put_postgres(text, 'Z', "I", 1);
}

// Its elements look like replies.
static void answer_array(GString *text, const char *value)
{
    gsize count = strlen(value) / 8;
    g_string_append_printf(text, "*%zu\r\n", count);
    for (gsize i = 0; i < count; i++)
        g_string_append(text, "$3\r\nvvv\r\n");
}

static const Protocol protocols[] = {
    {"redis", 6379, ask_redis, answer_redis},
    {"memcached", 11211, ask_memcached, answer_memcached},
    {"http", 80, ask_http, answer_http},
    {"postgresql", 5432, ask_postgres, answer_postgres},
    {"redis arrays", 6379, ask_redis, answer_array},
};

// ---- what is said -------------------------------------------------------------------------------

static void say(Talk *talk, BbDirection direction)
{
    if (direction == BB_TO_SERVER) {
        bool drained = talk->count[BB_TO_SERVER] == talk->count[BB_TO_CLIENT];
        talk->drains += drained;
        talk->drained[talk->count[direction]] = talk->drains;
    }
    talk->packet[direction][talk->count[direction]++] = talk->packets;
    talk->direction[talk->packets++] = direction;
}

static guint waiting(const Talk *talk)
{
    return talk->count[BB_TO_SERVER] - talk->count[BB_TO_CLIENT];
}

static void drain(Talk *talk)
{
    while (waiting(talk))
        say(talk, BB_TO_CLIENT);
}

// count more requests, never more than depth of them waiting, then a drain.
static void talk_on(Talk *talk, Shape shape, guint depth, guint count, BbRandom *random)
{
    bool asks = true;
    for (guint end = talk->count[BB_TO_SERVER] + count; talk->count[BB_TO_SERVER] < end;) {
        if (shape == AT_RANDOM)
            asks = bb_random_chance(random, 0.5);
        else if (shape == ONE_FOR_ONE || waiting(talk) == 0 || waiting(talk) == depth)
            asks = waiting(talk) < depth;
        if (waiting(talk) == 0 || (asks && waiting(talk) < depth))
            say(talk, BB_TO_SERVER);
        else
            say(talk, BB_TO_CLIENT);
    }
    drain(talk);
}

// ---- what is understood of it -------------------------------------------------------------------

// ms: when each message begins, and the last one ends.
static guint at_packet(const Talk *talk, const guint *ms, BbDirection direction, gint64 when)
{
    for (guint i = 0; i < talk->count[direction]; i++) {
        guint packet = talk->packet[direction][i];
        if (ms[packet] <= when && when < ms[packet + 1])
            return i;
    }
    ck_abort_msg("no packet of that time");
    return NOT;
}

static void read_pairs(Talk *talk, Converse *c, const guint *ms)
{
    guint asked[2 * MOST] = {0}; // request, by id
    g_auto(GStrv) lines = g_strsplit(converse_result(c), "\n", -1);
    for (guint i = 0; i < MOST; i++)
        talk->pairs[i] = NOT;
    for (guint i = 0; lines[i] && *lines[i]; i++) {
        guint id;
        gint64 when = converse_first_ms(c, i);
        if (sscanf(lines[i], "CALL %u ", &id) == 1)
            asked[id] = at_packet(talk, ms, BB_TO_SERVER, when);
        else if (sscanf(lines[i], "RET %u ", &id) == 1)
            talk->pairs[asked[id]] = at_packet(talk, ms, BB_TO_CLIENT, when);
    }
}

// Where sizes differ, from 1 to 40 bytes are asked for, and from 1 to 200 come.
static guint message_size(const Talk *talk, guint n)
{
    bool asks = talk->direction[n] == BB_TO_SERVER;
    return talk->sizes_differ ? 1 + 7919 * n % (asks ? 40 : 200) : 1;
}

// Packet n.
static GString *message(const Talk *talk, guint n)
{
    bool asks = talk->direction[n] == BB_TO_SERVER;
    g_autofree char *value = g_strnfill(message_size(talk, n), 'v');
    GString *text = g_string_new(NULL);
    (asks ? talk->protocol->ask : talk->protocol->answer)(text, value);
    return text;
}

// Says one message, and notes whether any of it was lost. Returns how many packets it had.
static guint say_message(Talk *talk, Converse *c, guint n, BbRandom *random)
{
    g_autoptr(GString) text = message(talk, n);
    gsize piece = talk->piece ? talk->piece : text->len;
    guint packets = 0;
    for (gsize at = 0; at < text->len; at += piece, packets++) {
        gsize length = MIN(piece, text->len - at);
        bool lost =
            random ? n >= talk->sure && bb_random_chance(random, talk->loss) : talk->lost[n];
        talk->lost[n] |= lost;
        if (lost)
            converse_lose(c, talk->direction[n], length);
        else
            converse_say(c, talk->direction[n], text->str + at, length);
    }
    return packets;
}

// random: of the packets that are lost, where not whole messages are.
static void listen(Talk *talk, BbRandom *random)
{
    g_autoptr(Converse) c = converse_tcp(talk->protocol->port);
    guint ms[2 * MOST + 1], now = 0;
    for (guint i = 0; i < talk->packets; i++) {
        converse_wait(c, talk->wait_ms[i]);
        now += talk->wait_ms[i];
        ms[i] = now;
        now += say_message(talk, c, i, random);
    }
    ms[talk->packets] = now;
    read_pairs(talk, c, ms);
}

static bool is_whole(const Talk *talk, guint request)
{
    return !talk->lost[talk->packet[BB_TO_SERVER][request]] &&
           !talk->lost[talk->packet[BB_TO_CLIENT][request]];
}

static char *story(const Talk *talk)
{
    GString *text = g_string_new(talk->protocol->name);
    g_string_append(text, ": ");
    for (guint i = 0; i < talk->packets; i++)
        g_string_append_printf(text, "%s%c%s", talk->wait_ms[i] ? " ... " : "",
                               talk->direction[i] == BB_TO_SERVER ? 'q' : 'r',
                               talk->lost[i] ? "(lost)" : "");
    return g_string_free(text, FALSE);
}

// right_from: of requests sent after so many drains all are right.
static void check_pairs(const Talk *talk, guint right_from)
{
    g_autofree char *told = story(talk);
    for (guint i = 0; i < talk->count[BB_TO_SERVER]; i++) {
        ck_assert_msg(talk->pairs[i] == i || talk->pairs[i] == NOT, "%u has the reply of %u:\n%s",
                      i, talk->pairs[i], told);
        ck_assert_msg(talk->pairs[i] == i || !is_whole(talk, i) || talk->drained[i] < right_from,
                      "%u has none:\n%s", i, told);
    }
}

static bool are_right_from(const Talk *talk, guint right_from)
{
    bool right = true;
    for (guint i = 0; i < talk->count[BB_TO_SERVER]; i++)
        right &= talk->pairs[i] == i || !is_whole(talk, i) || talk->drained[i] < right_from;
    return right;
}

static void check_talk(Talk *talk, guint right_from)
{
    listen(talk, NULL);
    check_pairs(talk, right_from);
}

// Drains before the first request that was sent after packet and any before it was answered.
static guint drain_after(const Talk *talk, guint packet)
{
    for (guint i = 0; i < talk->count[BB_TO_SERVER]; i++)
        if (talk->packet[BB_TO_SERVER][i] > packet &&
            (i == 0 || talk->drained[i] > talk->drained[i - 1]))
            return talk->drained[i];
    return NOT;
}

// ---- tests --------------------------------------------------------------------------------------

// before: calls that were asked one by one before.
static Talk pipeline(const Protocol *protocol, Shape shape, guint depth, guint before,
                     BbRandom *random)
{
    Talk talk = {.protocol = protocol};
    talk_on(&talk, ONE_FOR_ONE, 1, before, random);
    talk_on(&talk, shape, depth, 20, random);
    talk_on(&talk, shape, depth, 20, random);
    return talk;
}

static void lose_any(Talk *talk, guint from, guint depth)
{
    for (guint i = from; i < talk->packets; i++) {
        talk->lost[i] = true;
        check_talk(talk, depth == 1 ? 0 : drain_after(talk, i));
        // How many requests were lost is not known then.
        talk->sizes_differ = true;
        check_talk(talk, depth == 1 ? 0 : NOT);
        talk->sizes_differ = false;
        talk->lost[i] = false;
    }
}

// from: the first packet that may be lost.
static void lose_any_of(const Protocol *protocol, guint before, guint from, BbRandom *random)
{
    for (Shape shape = 0; shape < SHAPES; shape++)
        for (guint depth = 1; depth <= DEEPEST; depth++) {
            Talk talk = pipeline(protocol, shape, depth, before, random);
            lose_any(&talk, from, depth);
        }
}

START_TEST(any_packet_is_lost)
{
    static const guint before[] = {0, 1, 20};
    BbRandom random = bb_random_start(test_seed("any_packet_is_lost"));
    for (guint i = 0; i < G_N_ELEMENTS(before); i++)
        lose_any_of(&protocols[0], before[i], 0, &random);
}
END_TEST

// Behind the first call, which tells the protocol.
START_TEST(any_packet_of_other_protocols_is_lost)
{
    BbRandom random = bb_random_start(test_seed("any_packet_of_other_protocols_is_lost"));
    for (guint i = 1; i < G_N_ELEMENTS(protocols); i++)
        lose_any_of(&protocols[i], 1, 2, &random);
}
END_TEST

// That the caller asks ahead was seen. Several may have been lost where one is thought to be: after
// a drain only a silence is sure to tell.
START_TEST(several_packets_are_lost)
{
    BbRandom random = bb_random_start(test_seed("several_packets_are_lost"));
    guint unsettled = 0;
    for (guint run = 0; run < (TEST_SANITIZED ? 250 : 1000); run++) {
        Shape shape = (Shape)bb_random_below(&random, SHAPES);
        guint depth = 1 + (guint)bb_random_below(&random, DEEPEST);
        Talk talk = {.protocol = &protocols[run / 2 % G_N_ELEMENTS(protocols)],
                     .sizes_differ = run % 2};
        talk_on(&talk, ONE_FOR_ONE, depth, 10, &random);
        guint from = talk.packets;
        talk_on(&talk, shape, depth, 30, &random);
        guint silence = talk.packets, last = talk.drains;
        talk_on(&talk, shape, depth, 20, &random);
        talk.wait_ms[silence] = 1000;
        for (guint lost = 2 + (guint)bb_random_below(&random, 2); lost > 0; lost--)
            talk.lost[from + bb_random_below(&random, silence - from)] = true;
        listen(&talk, NULL);
        check_pairs(&talk, G_MAXUINT); // none is wrong
        unsettled += !are_right_from(&talk, depth == 1 ? 0 : last + 1);
    }
    ck_assert_uint_le(unsettled, 3); // some 1 of 25,000 is
}
END_TEST

// Waves of three, with so many ms between them: the packets from `lost` on are lost.
static Talk waves(guint between_ms, guint lost, guint count)
{
    Talk talk = {.protocol = &protocols[0]};
    for (guint wave = 0; wave < 30; wave++) {
        talk.wait_ms[talk.packets] = wave ? between_ms : 0;
        talk_on(&talk, WAVES, 3, 3, NULL);
    }
    for (guint i = lost; i < lost + count; i++)
        talk.lost[i] = true;
    return talk;
}

// What was lost right before a request was sent behind the silence, not before it.
START_TEST(lost_behind_a_silence)
{
    for (guint ms = 0; ms <= 2000; ms += 400) {
        Talk talk = waves(ms, 20 * 6, 1);
        check_talk(&talk, 22);
    }
}
END_TEST

// The last reply of a wave, and the first request of the next.
START_TEST(lost_between_waves)
{
    Talk talk = waves(0, 20 * 6 - 1, 2);
    check_talk(&talk, 23);
}
END_TEST

// Of a caller that asked ahead, and of which a long request was lost behind short ones, nobody
// knows how many they were. Rests tell, however short of a silence that settles all at once.
START_TEST(rests_end_doubt)
{
    for (guint i = 0; i < G_N_ELEMENTS(protocols); i++) {
        Talk talk = {.protocol = &protocols[i], .sizes_differ = true};
        talk_on(&talk, ONE_FOR_ONE, 3, 20, NULL);
        guint lost = talk.packets + 8;
        talk_on(&talk, ONE_FOR_ONE, 3, 20, NULL);
        while (talk.direction[lost] != BB_TO_SERVER || message_size(&talk, lost) < 30)
            lost++;
        talk.lost[lost] = true;
        guint drains = talk.drains;
        for (guint turn = 0; turn < 20; turn++) {
            talk.wait_ms[talk.packets] = 300;
            talk_on(&talk, ONE_FOR_ONE, 1, 1, NULL);
        }
        check_talk(&talk, drains + BB_DOUBT_RESTS + 2);
    }
}
END_TEST

// Of messages of several packets any are lost, so that they are torn at their beginning, in the
// middle, at their end and more than once. The first ones are not, which tell the protocol.
START_TEST(parts_of_messages_are_lost)
{
    BbRandom random = bb_random_start(test_seed("parts_of_messages_are_lost"));
    guint whole[G_N_ELEMENTS(protocols)] = {0}, kept[G_N_ELEMENTS(protocols)] = {0};
    for (guint run = 0; run < 500; run++) {
        guint number = run % G_N_ELEMENTS(protocols);
        Shape shape = (Shape)bb_random_below(&random, SHAPES);
        guint depth = 1 + (guint)bb_random_below(&random, DEEPEST);
        Talk talk = {.protocol = &protocols[number], .sizes_differ = true, .piece = 64};
        talk.loss = bb_random_chance(&random, 0.5) ? 0.01 : 0.04;
        talk_on(&talk, ONE_FOR_ONE, depth, 20, &random);
        talk.sure = talk.packets;
        talk_on(&talk, shape, depth, 100, &random);
        listen(&talk, &random);
        check_pairs(&talk, NOT);
        for (guint i = 20; i < talk.count[BB_TO_SERVER]; i++) {
            whole[number] += is_whole(&talk, i);
            kept[number] += is_whole(&talk, i) && talk.pairs[i] == i;
        }
    }
    for (guint i = 0; i < G_N_ELEMENTS(protocols); i++)
        ck_assert_msg(100 * kept[i] >= KEPT * whole[i], "%s: %u of %u are kept", protocols[i].name,
                      kept[i], whole[i]);
}
END_TEST

static void get(Converse *c, guint count)
{
    for (guint i = 0; i < count; i++)
        converse_text(c, BB_TO_SERVER, "*2\r\n$3\r\nGET\r\n$1\r\nk\r\n");
}

static void give(Converse *c, guint bytes, guint lost)
{
    g_autofree char *value = g_strnfill(bytes, 'v');
    g_autofree char *text = g_strdup_printf("$%u\r\n%s\r\n", bytes, value);
    guint seen = lost ? bytes / 2 : 0;
    converse_say(c, BB_TO_CLIENT, text, seen);
    if (lost)
        converse_lose(c, BB_TO_CLIENT, lost);
    converse_text(c, BB_TO_CLIENT, text + seen + lost);
}

// The end of a reply is where it ends, whatever of it was not seen: what the caller acknowledges of
// it is no reply to what was lost.
START_TEST(hole_inside_of_a_reply)
{
    g_autoptr(Converse) c = converse_tcp(6379);
    for (guint wave = 0; wave < 3; wave++) {
        get(c, 2);
        give(c, 10, 0);
        give(c, 1000, wave < 2 ? 0 : 100);
    }
    converse_lose(c, BB_TO_SERVER, 20);
    get(c, 2);
    for (guint bytes = 1; bytes <= 3; bytes++)
        give(c, bytes, 0);
    const char *result = converse_result(c);
    ck_assert_msg(strstr(result, "RET 6 ") && !strstr(result, "RET 7 "), "%s", result);
    ck_assert_msg(!strstr(result, "RET 8 "), "%s", result);
}
END_TEST

// ---- one call at a time -------------------------------------------------------------------------

#define PARTS 3u

// A request of several packets. lost: bits of them.
static void store(Converse *c, guint lost)
{
    g_autofree char *value = g_strnfill(300, 'v');
    g_autofree char *text = g_strdup_printf("*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$300\r\n%s\r\n", value);
    gsize size = strlen(text) / PARTS;
    for (guint i = 0; i < PARTS; i++) {
        gsize length = i + 1 < PARTS ? size : strlen(text) - i * size;
        if (lost & 1u << i)
            converse_lose(c, BB_TO_SERVER, length);
        else
            converse_say(c, BB_TO_SERVER, text + i * size, length);
    }
    converse_text(c, BB_TO_CLIENT, "+OK\r\n");
}

static void fetch(Converse *c, guint count)
{
    for (guint i = 0; i < count; i++) {
        converse_text(c, BB_TO_SERVER, "*2\r\n$3\r\nGET\r\n$1\r\nk\r\n");
        converse_text(c, BB_TO_CLIENT, "$1\r\nv\r\n");
    }
}

static guint returns_of(Converse *c)
{
    guint returns = 0, id;
    g_auto(GStrv) lines = g_strsplit(converse_result(c), "\n", -1);
    for (guint i = 0; lines[i]; i++)
        returns += sscanf(lines[i], "RET %u ", &id) == 1;
    return returns;
}

// Some of the packets of a request: how many calls that costs, whoever lost them.
START_TEST(parts_of_a_request_are_lost)
{
    for (guint lost = 1; lost < 1u << PARTS; lost++)
        for (guint before = 1; before <= 20; before += 19) {
            g_autoptr(Converse) c = converse_tcp(6379);
            fetch(c, before);
            store(c, lost);
            fetch(c, 10);
            guint returns = returns_of(c);
            ck_assert_msg(returns >= before + 9 && returns <= before + 11, "%u of %u, lost %x:\n%s",
                          returns, before + 11, lost, converse_result(c));
        }
}
END_TEST

// Nobody answers it: the callers's turns tell, in time.
START_TEST(what_nobody_answers_is_lost)
{
    for (guint before = 1; before <= 20; before += 19) {
        g_autoptr(Converse) c = converse_tcp(6379);
        fetch(c, before);
        converse_lose(c, BB_TO_SERVER, 100);
        fetch(c, 100);
        guint returns = returns_of(c);
        ck_assert_uint_ge(returns, before + 100 - BB_DOUBT_TURNS - 1);
        ck_assert_uint_lt(returns, before + 100);
    }
}
END_TEST

TEST_MAIN("doubt", any_packet_is_lost, any_packet_of_other_protocols_is_lost,
          several_packets_are_lost, lost_behind_a_silence, lost_between_waves, rests_end_doubt,
          parts_of_messages_are_lost, hole_inside_of_a_reply, parts_of_a_request_are_lost,
          what_nobody_answers_is_lost)
