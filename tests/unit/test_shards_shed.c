// SPDX-License-Identifier: Apache-2.0
// Shedding: what is kept is told exactly as if nothing had been left out, in one thread and in
// several, and while these are stuck; what is left out ends as if the capture had ended there.
#include "capture/shards.h"
#include "capture/shed.h"
#include "tests/unit/crowd.h"

#include <stdio.h>

#define PACKETS (TEST_SANITIZED ? 6000u : 15000u)
#define NEVER G_MAXUINT

// How much is left out from packet number `from` on, until `to`.
typedef struct Plan {
    guint32 seed;
    guint from, to, level;
    guint packets;
    bool stuck; // nothing comes out until all that can be is left out
} Plan;

typedef struct Told {
    BbNames *names;
    BbNodes *nodes;
    BbLoss loss;
    GPtrArray *lines; // of char *, without ids of calls
    GString *text;    // with them
    // Of a sink that is stuck from the first message on.
    gint stuck; // atomic
    guint looks;
    gint heard; // atomic: marks
} Told;

static void told_begin(Told *told)
{
    *told = (Told){.names = bb_names_new(),
                   .lines = g_ptr_array_new_with_free_func(g_free),
                   .text = g_string_new(NULL)};
    told->nodes = bb_nodes_new(told->names, false);
}

static void told_end(Told *told)
{
    bb_nodes_free(told->nodes);
    bb_names_free(told->names);
    g_ptr_array_unref(told->lines);
    g_string_free(told->text, TRUE);
}

// The connection comes first.
static bool tell(const BbMessage *m, gpointer user, GError **error)
{
    Told *told = user;
    const BbNames *names = told->names;
    while (g_atomic_int_get(&told->stuck))
        g_usleep(1000);
    char *line = g_strdup_printf("%s %d %" G_GINT64_FORMAT " %" G_GINT64_FORMAT
                                 " %" G_GUINT64_FORMAT " %s %s %s %s %s",
                                 m->conn ? m->conn : "-", m->kind, m->time_ns, m->end_ns, m->bytes,
                                 bb_names_text(names, m->sender), bb_names_text(names, m->receiver),
                                 bb_names_text(names, m->op), bb_names_text(names, m->status),
                                 bb_names_text(names, m->proto));
    g_ptr_array_add(told->lines, line);
    g_string_append(told->text, line);
    bb_id_append(told->text, names, m->id);
    g_string_append_c(told->text, '\n');
    return true;
}

#define SEED 77

static BbShedding shedding_of(guint level)
{
    return (BbShedding){
        .trims = level >= BB_SHED_TRIMS, .parts = (guint8)bb_shed_parts(level), .seed = SEED};
}

// Three times as patient as the one before, up to the last level; then the sink goes on.
static BbShedding look(gint64 waited_ns, gpointer user)
{
    Told *told = user;
    ck_assert_int_gt(waited_ns, 0);
    guint level = MIN(++told->looks / 3, BB_SHED_MOST);
    if (level == BB_SHED_MOST)
        g_atomic_int_set(&told->stuck, 0);
    return shedding_of(level);
}

static bool is_left_out(const BbPacket *packet, guint level)
{
    return bb_shed_part(SEED, &packet->source, packet->source_port, &packet->target,
                        packet->target_port) < bb_shed_parts(level);
}

// threads 0: the oracle, which never gets the packets that are to be left out.
static void run(Told *told, const Plan *plan, guint threads)
{
    Crowd crowd;
    BbCaptureOptions options = bb_capture_options_default();
    told_begin(told);
    told->stuck = plan->stuck;
    g_autoptr(BbShards) shards =
        bb_shards_new(&options, MAX(threads, 1), false, told->names, told->nodes, &told->loss,
                      (BbShardsOutput){tell, NULL, told, plan->stuck ? look : NULL});
    crowd_begin(&crowd, plan->seed, 0);
    for (guint i = 0; i < plan->packets; i++) {
        BbPacket packet = *crowd_packet(&crowd);
        if (threads && (i == plan->from || i == plan->to)) {
            const BbShedding shedding = shedding_of(i == plan->from ? plan->level : 0);
            bb_shards_shed(shards, &shedding);
        }
        if (threads || i < plan->from || i >= plan->to || !is_left_out(&packet, plan->level))
            ck_assert(bb_shards_packet(shards, &packet, NULL));
    }
    crowd_end(&crowd);
    ck_assert(bb_shards_finish(shards, NULL));
    ck_assert_uint_eq(bb_shards_connections(shards), 0);
}

static int compare(gconstpointer a, gconstpointer b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

// "10.0.0.1:40000-10.0.0.2:80": the part of that flow; none where it is no connection.
static guint part_of_line(const char *line)
{
    guint host[2] = {0}, port[2] = {0};
    if (sscanf(line, "10.0.0.%u:%u-10.0.0.%u:%u", &host[0], &port[0], &host[1], &port[1]) != 4)
        return 0;
    BbAddress one = bb_address_v4((const guint8[]){10, 0, 0, (guint8)host[0]});
    BbAddress other = bb_address_v4((const guint8[]){10, 0, 0, (guint8)host[1]});
    return bb_shed_part(SEED, &one, (guint16)port[0], &other, (guint16)port[1]);
}

// In any order: those of parts from `least` on, at least a few.
static GPtrArray *sorted(const Told *told, guint least)
{
    GPtrArray *lines = g_ptr_array_new();
    for (guint i = 0; i < told->lines->len; i++)
        if (part_of_line(told->lines->pdata[i]) >= least)
            g_ptr_array_add(lines, told->lines->pdata[i]);
    g_ptr_array_sort(lines, compare);
    ck_assert_uint_gt(lines->len, 200);
    return lines;
}

static void check_same(const Told *one, const Told *other, guint least)
{
    g_autoptr(GPtrArray) a = sorted(one, least), b = sorted(other, least);
    for (guint i = 0; i < MIN(a->len, b->len); i++)
        ck_assert_str_eq(a->pdata[i], b->pdata[i]);
    ck_assert_uint_eq(a->len, b->len);
}

static const guint levels[] = {2, 5, BB_SHED_MOST};

START_TEST(as_if_it_had_not_come)
{
    for (guint i = 0; i < G_N_ELEMENTS(levels) * 2; i++) {
        Plan plan = {test_seed("shards_shed"),
                     i % 2 ? PACKETS / 3 : 0,
                     NEVER,
                     levels[i / 2],
                     PACKETS,
                     false};
        Told oracle, one;
        run(&oracle, &plan, 0);
        run(&one, &plan, 1);
        check_same(&oracle, &one, 0);
        const guint64 *count = one.loss.count;
        ck_assert_uint_gt(count[BB_SHED_PACKETS], PACKETS / 50);
        ck_assert_uint_gt(count[BB_SHED_CONNECTIONS], 5);
        ck_assert_int_eq(count[BB_SHED_CALLS] > 0, plan.from > 0);
        ck_assert_uint_eq(count[BB_CALLS_UNRETURNED] + count[BB_SHED_CALLS],
                          oracle.loss.count[BB_CALLS_UNRETURNED]);
        ck_assert_uint_eq(count[BB_RETURNS_ORPHANED], oracle.loss.count[BB_RETURNS_ORPHANED]);
        ck_assert_uint_le(count[BB_TCP_GAPS], oracle.loss.count[BB_TCP_GAPS]);
        for (guint threads = 2; threads < 4; threads++) { // order and ids, too
            Told more;
            run(&more, &plan, threads);
            ck_assert_str_eq(more.text->str, one.text->str);
            for (guint kind = 0; kind < BB_LOSS_COUNT; kind++)
                ck_assert_uint_eq(more.loss.count[kind], count[kind]);
            told_end(&more);
        }
        told_end(&one);
        told_end(&oracle);
    }
}
END_TEST

// Flows that are kept all the time do not notice; those that come back are joined in the middle.
START_TEST(for_a_while)
{
    for (guint i = 0; i < G_N_ELEMENTS(levels); i++) {
        Plan plan = {test_seed("shards_shed"), PACKETS / 3, PACKETS / 2, levels[i], PACKETS, false};
        Plan all = {plan.seed, NEVER, NEVER, 0, PACKETS, false};
        Told whole, one, more;
        run(&whole, &all, 1);
        run(&one, &plan, 1);
        run(&more, &plan, 3);
        check_same(&whole, &one, bb_shed_parts(levels[i]));
        ck_assert_str_eq(more.text->str, one.text->str);
        ck_assert_uint_gt(one.loss.count[BB_TCP_MIDSTREAM], whole.loss.count[BB_TCP_MIDSTREAM]);
        ck_assert_uint_lt(one.lines->len, whole.lines->len);
        told_end(&whole);
        told_end(&one);
        told_end(&more);
    }
}
END_TEST

// The threads that decode do not go on until all but one part is left out: reading does.
START_TEST(while_others_are_stuck)
{
    for (guint threads = 2; threads < 4; threads++) {
        Plan plan = {test_seed("shards_shed"), NEVER, NEVER, 0, 16 * PACKETS, true};
        Plan all = {plan.seed, NEVER, NEVER, 0, 16 * PACKETS, false};
        Told whole, one;
        run(&whole, &all, 1);
        run(&one, &plan, threads);
        ck_assert_uint_ge(one.looks, 3 * BB_SHED_MOST);
        check_same(&whole, &one, BB_SHED_PARTS - 1);
        ck_assert_uint_gt(one.loss.count[BB_SHED_PACKETS], 1000);
        ck_assert_uint_lt(one.lines->len, whole.lines->len);
        told_end(&whole);
        told_end(&one);
    }
}
END_TEST

// ---- other flows, one after the other -----------------------------------------------------------

#define CHANGES 14u // at one packet: more than there are rounds, and than fit into one

static BbShedding change_to(guint change)
{
    return (BbShedding){.parts = (guint8)(1 + change % 5),
                        .first = (guint8)(change * 3 % BB_SHED_PARTS),
                        .seed = SEED + change / 4};
}

static bool is_in(const BbShedding *shedding, const BbPacket *packet)
{
    return bb_shedding_takes(shedding, &packet->source, packet->source_port, &packet->target,
                             packet->target_port);
}

static bool note_heard(guint mark, const BbLoss *loss, const BbNetwork *network, gpointer user,
                       GError **error)
{
    g_atomic_int_inc(&((Told *)user)->heard);
    return true;
}

// Nothing is thinned, for others have got all.
static void change_often(BbShards *shards, Told *told, guint first)
{
    gint before = g_atomic_int_get(&told->heard);
    ck_assert(bb_shards_mark(shards, 1, NULL));
    while (g_atomic_int_get(&told->heard) == before)
        g_usleep(100);
    for (guint change = first; change < first + CHANGES; change++) {
        const BbShedding shedding = change_to(change);
        bb_shards_shed(shards, &shedding);
    }
}

static void run_changes(Told *told, guint32 seed, guint threads)
{
    Crowd crowd;
    BbShedding now = {0};
    guint64 left_out = 0;
    BbCaptureOptions options = bb_capture_options_default();
    told_begin(told);
    g_autoptr(BbShards) shards =
        bb_shards_new(&options, threads, false, told->names, told->nodes, &told->loss,
                      (BbShardsOutput){.sink = tell, .mark = note_heard, .user = told});
    crowd_begin(&crowd, seed, 0);
    for (guint i = 0, first = 0; i < PACKETS; i++) {
        if (i == PACKETS / 3 || i == PACKETS / 2) {
            change_often(shards, told, first);
            first += CHANGES;
            now = change_to(first - 1);
        }
        const BbPacket *packet = crowd_packet(&crowd);
        left_out += is_in(&now, packet);
        ck_assert(bb_shards_packet(shards, packet, NULL));
    }
    crowd_end(&crowd);
    ck_assert(bb_shards_finish(shards, NULL));
    ck_assert_uint_le(told->loss.count[BB_SHED_PACKETS], left_out);
    ck_assert_uint_gt(told->loss.count[BB_SHED_PACKETS], left_out * 9 / 10); // others are echoes
    ck_assert_uint_gt(left_out, 1000);
}

// In one thread and in several the same.
START_TEST(the_same_choices_for_all)
{
    Told one, more;
    guint32 seed = test_seed("shards_shed");
    run_changes(&one, seed, 1);
    ck_assert_uint_gt(one.loss.count[BB_SHED_CALLS], 0);
    for (guint threads = 2; threads < 4; threads++) {
        run_changes(&more, seed, threads);
        ck_assert_str_eq(more.text->str, one.text->str);
        for (guint kind = 0; kind < BB_LOSS_COUNT; kind++)
            ck_assert_uint_eq(more.loss.count[kind], one.loss.count[kind]);
        told_end(&more);
    }
    told_end(&one);
}
END_TEST

#define CHOICES 20u // more than fit into a round

// Others each time while nothing comes out.
static BbShedding look_for_others(gint64 waited_ns, gpointer user)
{
    Told *told = user;
    if (++told->looks >= CHOICES)
        g_atomic_int_set(&told->stuck, 0);
    return change_to(told->looks);
}

// Who reads asks on, wherever the others are.
START_TEST(many_choices_while_others_are_stuck)
{
    for (guint threads = 2; threads < 4; threads++) {
        Crowd crowd;
        Told told;
        told_begin(&told);
        told.stuck = 1;
        BbCaptureOptions options = bb_capture_options_default();
        g_autoptr(BbShards) shards =
            bb_shards_new(&options, threads, false, told.names, told.nodes, &told.loss,
                          (BbShardsOutput){.sink = tell, .user = &told, .look = look_for_others});
        crowd_begin(&crowd, test_seed("shards_shed"), 0);
        while (told.looks < CHOICES)
            ck_assert(bb_shards_packet(shards, crowd_packet(&crowd), NULL));
        crowd_end(&crowd);
        ck_assert(bb_shards_finish(shards, NULL));
        ck_assert_uint_gt(told.loss.count[BB_SHED_PACKETS], 1000);
        ck_assert_uint_gt(told.lines->len, 1000);
        g_clear_pointer(&shards, bb_shards_free);
        told_end(&told);
    }
}
END_TEST

// ---- trimming -----------------------------------------------------------------------------------

#define BODY 1000000u
#define PIECE 1000u

typedef struct Speech {
    BbShards *shards;
    Told told;
    gint marks; // atomic: that came out
    guint32 seq[2];
    gint64 now_ns;
    guint16 port; // of the client; 0: 40000
    guint looks;
} Speech;

static bool note_mark(guint mark, const BbLoss *loss, const BbNetwork *network, gpointer user,
                      GError **error)
{
    g_atomic_int_inc(&((Speech *)user)->marks);
    return true;
}

static bool tell_speech(const BbMessage *message, gpointer user, GError **error)
{
    return tell(message, &((Speech *)user)->told, error);
}

static BbShedding look_away(gint64 waited_ns, gpointer user)
{
    return shedding_of(BB_SHED_TRIMS);
}

static void say_with(Speech *speech, guint side, guint8 flags, const char *text, gsize length)
{
    const BbAddress hosts[2] = {bb_address_v4((const guint8[]){10, 0, 0, 1}),
                                bb_address_v4((const guint8[]){10, 0, 0, 2})};
    const guint16 ports[2] = {speech->port ? speech->port : 40000, 80};
    BbPacket packet = {
        .time_ns = speech->now_ns += 1000,
        .source = hosts[side],
        .target = hosts[!side],
        .source_port = ports[side],
        .target_port = ports[!side],
        .transport = BB_TRANSPORT_TCP,
        .tcp_flags = flags,
        .seq = speech->seq[side],
        .ack = speech->seq[!side],
        .window = 1000,
        .ip_id = (guint16)(speech->now_ns / 1000),
        .payload = (const guint8 *)text,
        .captured = (guint32)length,
        .length = (guint32)length,
    };
    speech->seq[side] += (guint32)length + (flags & BB_TCP_SYN ? 1 : 0);
    ck_assert(bb_shards_packet(speech->shards, &packet, NULL));
}

static void say(Speech *speech, guint side, const char *text, gsize length)
{
    say_with(speech, side, BB_TCP_ACK, text, length);
}

// All that was said until now has been decoded.
static gint hand_over(Speech *speech)
{
    gint before = g_atomic_int_get(&speech->marks);
    ck_assert(bb_shards_mark(speech->shards, 1, NULL));
    return before;
}

static void wait_for_mark(Speech *speech, gint before)
{
    while (g_atomic_int_get(&speech->marks) == before)
        g_usleep(100);
}

static void be_heard(Speech *speech)
{
    wait_for_mark(speech, hand_over(speech));
}

static void call(Speech *speech, guint number)
{
    static const char piece[PIECE];
    g_autofree char *ask = g_strdup_printf("GET /%c HTTP/1.1\r\nHost: h\r\n\r\n", 'a' + number);
    g_autofree char *head =
        g_strdup_printf("HTTP/1.1 20%u OK\r\nContent-Length: %u\r\n\r\n", number, BODY + number);
    say(speech, 0, ask, strlen(ask));
    say(speech, 1, head, strlen(head));
    be_heard(speech);
    for (guint sent = 0; sent < BODY; sent += PIECE)
        say(speech, 1, piece, PIECE);
    if (number) // the answer to the next call begins in the same packet as this one ends
        say(speech, 1, piece, number);
}

static void speech_begin(Speech *speech, guint level,
                         BbShedding (*looks)(gint64 waited_ns, gpointer user))
{
    BbCaptureOptions options = bb_capture_options_default();
    const BbShedding shedding = shedding_of(level);
    *speech = (Speech){.seq = {1, G_MAXUINT32 - BODY / 2}, .now_ns = 1000000};
    told_begin(&speech->told);
    speech->shards = bb_shards_new(&options, 2, false, speech->told.names, speech->told.nodes,
                                   &speech->told.loss,
                                   (BbShardsOutput){tell_speech, note_mark, speech, looks, NULL});
    bb_shards_shed(speech->shards, &shedding);
}

static void speech_end(Speech *speech)
{
    ck_assert(bb_shards_finish(speech->shards, NULL));
    bb_shards_free(speech->shards);
}

static void talk(Speech *speech, guint level)
{
    speech_begin(speech, level, look_away);
    for (guint number = 0; number < 4; number++)
        call(speech, number);
    speech_end(speech);
}

// The trace does not differ by a byte: sizes and ends of messages, too.
START_TEST(trimming_loses_nothing)
{
    Speech whole, trimmed;
    talk(&whole, 0);
    talk(&trimmed, BB_SHED_TRIMS);
    ck_assert_uint_eq(whole.told.lines->len, 8);
    ck_assert_ptr_nonnull(strstr(whole.told.text->str, " 1000044 "));
    ck_assert_str_eq(whole.told.text->str, trimmed.told.text->str);
    const guint64 *count = trimmed.told.loss.count;
    ck_assert_uint_eq(count[BB_SHED_TRIMMED], 4 * BODY / PIECE);
    ck_assert_uint_gt(count[BB_SHED_TRIMMED_BYTES], 3 * BODY);
    ck_assert_uint_eq(count[BB_SHED_PACKETS] + count[BB_TCP_GAPS] + count[BB_DECODER_LOST], 0);
    ck_assert_uint_eq(whole.told.loss.count[BB_SHED_TRIMMED], 0);
    told_end(&whole.told);
    told_end(&trimmed.told);
}
END_TEST

static void open_connection(Speech *speech)
{
    say_with(speech, 0, BB_TCP_SYN, NULL, 0);
    say_with(speech, 1, BB_TCP_SYN | BB_TCP_ACK, NULL, 0);
}

#define ASK "GET /x HTTP/1.1\r\nHost: h\r\n\r\n"
#define HEAD "HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n"
#define SHORT "HTTP/1.1 204 No Content\r\n\r\n"

// A client leaves in the middle of a body, and opens a connection between the same ends, with
// numbers that were passed over in the former. late: that is decoded only when the new one has
// begun to be read.
static void use_again(Speech *speech, guint level, bool late)
{
    speech_begin(speech, level, look_away);
    open_connection(speech);
    say(speech, 0, ASK, strlen(ASK));
    say(speech, 1, HEAD, strlen(HEAD));
    gint before = hand_over(speech);
    if (!late)
        wait_for_mark(speech, before);
    speech->seq[0] += 5000;
    speech->seq[1] += 5000;
    open_connection(speech);
    say(speech, 0, ASK, strlen(ASK));
    if (late)
        wait_for_mark(speech, before);
    say(speech, 1, SHORT, strlen(SHORT));
    say(speech, 0, ASK, strlen(ASK));
    say(speech, 1, HEAD, strlen(HEAD));
    speech_end(speech);
}

START_TEST(no_skip_outlives_its_connection)
{
    for (guint late = 0; late < 2; late++) {
        Speech whole, trimmed;
        use_again(&whole, 0, late);
        use_again(&trimmed, BB_SHED_TRIMS, late);
        ck_assert_ptr_nonnull(strstr(whole.told.text->str, " 204 "));
        ck_assert_str_eq(whole.told.text->str, trimmed.told.text->str);
        ck_assert_uint_eq(trimmed.told.loss.count[BB_SHED_TRIMMED], 0);
        told_end(&whole.told);
        told_end(&trimmed.told);
    }
}
END_TEST

// A body is on its way when the other side turns out to speak something else: what the client sends
// from then on counts.
static void change_mind(Speech *speech, guint level)
{
    static const char put[] = "PUT /x HTTP/1.1\r\nHost: h\r\nContent-Length: 1000000\r\n\r\n";
    static const char no_http[] = "\1\2\3\4 this is not HTTP at all, and nothing like it";
    speech_begin(speech, level, look_away);
    open_connection(speech);
    say(speech, 0, put, strlen(put));
    be_heard(speech);
    say(speech, 1, no_http, strlen(no_http));
    be_heard(speech);
    for (guint i = 0; i < 20; i++) {
        static const char ping[] = "*2\r\n$3\r\nGET\r\n$5\r\nabcde\r\n";
        say(speech, 0, ping, strlen(ping));
        say(speech, 1, "$1\r\nx\r\n", 7);
    }
    speech_end(speech);
}

START_TEST(a_skip_is_taken_back)
{
    Speech whole, trimmed;
    change_mind(&whole, 0);
    change_mind(&trimmed, BB_SHED_TRIMS);
    ck_assert_uint_eq(whole.told.loss.count[BB_DECODER_GAVE_UP], 1);
    ck_assert_uint_gt(whole.told.lines->len, 20);
    ck_assert_str_eq(whole.told.text->str, trimmed.told.text->str);
    ck_assert_uint_eq(trimmed.told.loss.count[BB_SHED_TRIMMED], 0);
    told_end(&whole.told);
    told_end(&trimmed.told);
}
END_TEST

// ---- trimmed first, then left out ---------------------------------------------------------------

#define HUGE_HEAD "HTTP/1.1 200 OK\r\nContent-Length: 60000000\r\n\r\n"

// One with the huge body, and not the other.
static guint64 seed_for_one(void)
{
    const BbAddress client = bb_address_v4((const guint8[]){10, 0, 0, 1});
    const BbAddress server = bb_address_v4((const guint8[]){10, 0, 0, 2});
    guint64 seed = 0;
    while (bb_shed_part(seed, &client, 40000, &server, 80) != 0 ||
           bb_shed_part(seed, &client, 40001, &server, 80) == 0)
        seed++;
    return seed;
}

static BbShedding leave_one_out(gint64 waited_ns, gpointer user)
{
    Speech *speech = user;
    speech->looks++;
    g_atomic_int_set(&speech->told.stuck, 0);
    return (BbShedding){.trims = true, .parts = 1, .seed = seed_for_one()};
}

// What others have not got yet is trimmed, and then thinned: a packet is one or the other.
START_TEST(a_packet_counts_once)
{
    static const char piece[PIECE];
    Speech one;
    guint pieces = 0, calls = 0;
    speech_begin(&one, BB_SHED_TRIMS, leave_one_out);
    open_connection(&one);
    say(&one, 0, ASK, strlen(ASK));
    say(&one, 1, HUGE_HEAD, strlen(HUGE_HEAD));
    be_heard(&one);
    Speech other = one; // the same shards
    other.port = 40001;
    g_atomic_int_set(&one.told.stuck, 1);
    for (guint after = 0; after < 100 && pieces<50000; after += one.looks> 0) {
        say(&one, 1, piece, PIECE);
        pieces++;
        say(&other, 0, ASK, strlen(ASK));
        say(&other, 1, SHORT, strlen(SHORT));
        calls++;
    }
    ck_assert_uint_eq(one.looks, 1);
    speech_end(&one);
    const guint64 *count = one.told.loss.count;
    ck_assert_uint_gt(count[BB_SHED_PACKETS], 1000);
    ck_assert_uint_gt(count[BB_SHED_TRIMMED], 0);
    ck_assert_uint_eq(count[BB_SHED_PACKETS] + count[BB_SHED_TRIMMED], pieces);
    ck_assert_uint_eq(count[BB_SHED_TRIMMED_BYTES], count[BB_SHED_TRIMMED] * (PIECE - 8));
    ck_assert_uint_eq(count[BB_CALLS], 1 + calls);
    ck_assert_uint_eq(count[BB_RETURNS], 1 + calls); // the huge one is told as far as it came
    told_end(&one.told);
}
END_TEST

TEST_MAIN("shards_shed", as_if_it_had_not_come, for_a_while, while_others_are_stuck,
          the_same_choices_for_all, many_choices_while_others_are_stuck, trimming_loses_nothing,
          no_skip_outlives_its_connection, a_skip_is_taken_back, a_packet_counts_once)
