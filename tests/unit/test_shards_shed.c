// SPDX-License-Identifier: Apache-2.0
// Shedding: what is kept is told exactly as if nothing had been left out, in one thread and in
// several, and while these are stuck; what is left out ends as if the capture had ended there.
#include "capture/shards.h"
#include "capture/shed.h"
#include "tests/unit/crowd.h"

#include <stdio.h>

#define PACKETS 15000u
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

// Three times as patient as the one before, up to the last level; then the sink goes on.
static guint look(gint64 waited_ns, gpointer user)
{
    Told *told = user;
    ck_assert_int_gt(waited_ns, 0);
    guint level = MIN(++told->looks / 3, BB_SHED_MOST);
    if (level == BB_SHED_MOST)
        g_atomic_int_set(&told->stuck, 0);
    return level;
}

static bool is_left_out(const BbPacket *packet, guint level)
{
    return bb_shed_part(&packet->source, packet->source_port, &packet->target,
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
        if (threads && (i == plan->from || i == plan->to))
            bb_shards_shed(shards, i == plan->from ? plan->level : 0);
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
    return bb_shed_part(&one, (guint16)port[0], &other, (guint16)port[1]);
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
        ck_assert_uint_gt(count[BB_SHED_PACKETS], 300);
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

// ---- trimming -----------------------------------------------------------------------------------

#define BODY 1000000u
#define PIECE 1000u

typedef struct Speech {
    BbShards *shards;
    Told told;
    gint marks; // atomic: that came out
    guint32 seq[2];
    gint64 now_ns;
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

static guint look_away(gint64 waited_ns, gpointer user)
{
    return BB_SHED_TRIMS;
}

static void say(Speech *speech, guint side, const char *text, gsize length)
{
    const BbAddress hosts[2] = {bb_address_v4((const guint8[]){10, 0, 0, 1}),
                                bb_address_v4((const guint8[]){10, 0, 0, 2})};
    const guint16 ports[2] = {40000, 80};
    BbPacket packet = {
        .time_ns = speech->now_ns += 1000,
        .source = hosts[side],
        .target = hosts[!side],
        .source_port = ports[side],
        .target_port = ports[!side],
        .transport = BB_TRANSPORT_TCP,
        .tcp_flags = BB_TCP_ACK,
        .seq = speech->seq[side],
        .ack = speech->seq[!side],
        .window = 1000,
        .ip_id = (guint16)(speech->now_ns / 1000),
        .payload = (const guint8 *)text,
        .captured = (guint32)length,
        .length = (guint32)length,
    };
    speech->seq[side] += (guint32)length;
    ck_assert(bb_shards_packet(speech->shards, &packet, NULL));
}

// All that was said until now has been decoded.
static void be_heard(Speech *speech)
{
    gint before = g_atomic_int_get(&speech->marks);
    ck_assert(bb_shards_mark(speech->shards, 1, NULL));
    while (g_atomic_int_get(&speech->marks) == before)
        g_usleep(100);
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

static void talk(Speech *speech, guint level)
{
    BbCaptureOptions options = bb_capture_options_default();
    *speech = (Speech){.seq = {1, G_MAXUINT32 - BODY / 2}, .now_ns = 1000000};
    told_begin(&speech->told);
    speech->shards = bb_shards_new(&options, 2, false, speech->told.names, speech->told.nodes,
                                   &speech->told.loss,
                                   (BbShardsOutput){tell_speech, note_mark, speech, look_away});
    bb_shards_shed(speech->shards, level);
    for (guint number = 0; number < 4; number++)
        call(speech, number);
    ck_assert(bb_shards_finish(speech->shards, NULL));
    bb_shards_free(speech->shards);
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

TEST_MAIN("shards_shed", as_if_it_had_not_come, for_a_while, while_others_are_stuck,
          trimming_loses_nothing)
