// SPDX-License-Identifier: Apache-2.0
// Shards: the same messages, in the same order and with the same ids and names, whatever the number
// of threads, and the same as those of the slow twin, which has no shards.
#include "capture/hold.h"
#include "capture/shards.h"
#include "tests/unit/crowd.h"

#define PACKETS (TEST_SANITIZED ? 10000u : 30000u)

typedef struct Told {
    BbNames *names;
    BbNodes *nodes;
    BbLoss loss;
    GString *text;
    guint64 count, fail_at, marks, unlabelled;
    bool keep; // text
} Told;

static void told_begin(Told *told, bool endpoints)
{
    *told = (Told){.names = bb_names_new(), .text = g_string_new(NULL), .keep = true};
    told->nodes = bb_nodes_new(told->names, endpoints);
}

static void told_end(Told *told)
{
    bb_nodes_free(told->nodes);
    bb_names_free(told->names);
    g_string_free(told->text, TRUE);
}

static bool tell(const BbMessage *m, gpointer user, GError **error)
{
    Told *told = user;
    const BbNames *names = told->names;
    if (told->fail_at && ++told->count == told->fail_at) {
        g_set_error(error, G_FILE_ERROR, G_FILE_ERROR_NOSPC, "the disk is full");
        return false;
    }
    told->unlabelled += m->op && strcmp(bb_names_text(names, m->op), "*") == 0;
    if (!told->keep)
        return true;
    g_string_append_printf(
        told->text,
        "%d %" G_GINT64_FORMAT " %" G_GINT64_FORMAT " %" G_GUINT64_FORMAT " %s %s %s %s %s ",
        m->kind, m->time_ns, m->end_ns, m->bytes, bb_names_text(names, m->sender),
        bb_names_text(names, m->receiver), bb_names_text(names, m->op),
        bb_names_text(names, m->status), bb_names_text(names, m->proto));
    bb_id_append(told->text, names, m->id);
    g_string_append_printf(told->text, " %s %" G_GUINT64_FORMAT " %s:%u\n", m->conn ? m->conn : "-",
                           m->offset, bb_names_text(names, m->file), m->frame);
    return true;
}

// Counters and facts on the network.
static void tell_rest(Told *told, const BbLoss *loss, const BbNetwork *network)
{
    for (guint kind = 0; kind < BB_LOSS_COUNT; kind++)
        g_string_append_printf(told->text, "%s %" G_GUINT64_FORMAT "\n",
                               bb_loss_name((BbLossKind)kind), loss->count[kind]);
    for (guint i = 0; i < bb_network_count(network); i++) {
        const BbNetworkEdge *edge = bb_network_at(network, i);
        g_string_append_printf(told->text, "%s %s", bb_names_text(told->names, edge->client),
                               bb_names_text(told->names, edge->server));
        for (guint field = 0; field < BB_NETWORK_FIELDS; field++)
            g_string_append_printf(told->text, " %" G_GUINT64_FORMAT,
                                   bb_network_field(edge, field));
        g_string_append_c(told->text, '\n');
    }
    g_string_append_printf(told->text, "learned %" G_GUINT64_FORMAT "\n",
                           bb_nodes_learned(told->nodes));
}

static bool note_mark(guint mark, const BbLoss *loss, const BbNetwork *network, gpointer user,
                      GError **error)
{
    Told *told = user;
    told->marks++;
    g_string_append_printf(told->text, "mark %u\n", mark);
    tell_rest(told, loss, network);
    return true;
}

typedef struct Plan {
    guint32 seed;
    guint packets, labels, max_connections;
    gsize max_held;
    bool learn, endpoints, brief, wild, tame_pace;
    guint mark_every;
    guint16 port;
} Plan;

static BbCaptureOptions options_of(const Plan *plan)
{
    BbCaptureOptions options = bb_capture_options_default();
    if (plan->max_connections)
        options.max_connections = plan->max_connections;
    if (plan->max_held)
        options.max_held_bytes = plan->max_held;
    return options;
}

static void begin_crowd(Crowd *crowd, const Plan *plan)
{
    crowd_begin(crowd, plan->seed, plan->port);
    crowd->labels = plan->labels;
    if (plan->wild)
        crowd_go_wild(crowd, plan->tame_pace);
}

static void run_shards(Told *told, const Plan *plan, guint threads)
{
    Crowd crowd;
    BbCaptureOptions options = options_of(plan);
    told_begin(told, plan->endpoints);
    told->keep = !plan->brief;
    g_autoptr(BbShards) shards =
        bb_shards_new(&options, threads, plan->learn, told->names, told->nodes, &told->loss,
                      (BbShardsOutput){tell, note_mark, told});
    guint32 file = bb_shards_file(shards, "a.pcap");
    begin_crowd(&crowd, plan);
    for (guint i = 0; i < plan->packets; i++) {
        BbPacket packet = *crowd_packet(&crowd);
        packet.place = (BbPlace){file, i + 1};
        ck_assert(bb_shards_packet(shards, &packet, NULL));
        if (plan->mark_every && i % plan->mark_every == 0)
            ck_assert(bb_shards_mark(shards, i + 1, NULL));
        if (i % 5000 == 0)
            bb_shards_count(shards);
    }
    crowd_end(&crowd);
    ck_assert(bb_shards_finish(shards, NULL));
    ck_assert_uint_eq(bb_shards_connections(shards), 0);
    ck_assert_uint_eq(bb_shards_held_bytes(shards), 0);
    tell_rest(told, &told->loss, bb_shards_network(shards));
}

static void run_twin(Told *told, const Plan *plan)
{
    Crowd crowd;
    BbCaptureOptions options = options_of(plan);
    told_begin(told, plan->endpoints);
    g_autoptr(BbCapture) capture =
        bb_capture_new(&options, told->names, told->nodes, &told->loss, tell, told);
    bb_capture_learn_names(capture, plan->learn);
    guint32 file = bb_names_intern(told->names, "a.pcap");
    begin_crowd(&crowd, plan);
    for (guint i = 0; i < plan->packets; i++) {
        BbPacket packet = *crowd_packet(&crowd);
        packet.place = (BbPlace){file, i + 1};
        ck_assert(bb_capture_packet(capture, &packet, NULL));
    }
    crowd_end(&crowd);
    ck_assert(bb_capture_finish(capture, NULL));
    tell_rest(told, &told->loss, bb_capture_network(capture));
}

static void check_same(const Told *one, const Told *other, guint threads)
{
    const char *a = one->text->str, *b = other->text->str;
    for (guint line = 1;; line++) {
        gsize length = strcspn(a, "\n"), other_length = strcspn(b, "\n");
        ck_assert_msg(length == other_length && memcmp(a, b, length) == 0,
                      "%u threads, line %u:\n%.*s\n%.*s", threads, line, (int)length, a,
                      (int)other_length, b);
        if (!a[length])
            return;
        a += length + 1;
        b += length + 1;
    }
}

static const guint threads[] = {2, 3, 100};

// More threads than one tell the same.
static void check_threads(const Told *one, const Plan *plan)
{
    for (guint i = 0; i < G_N_ELEMENTS(threads); i++) {
        Told more;
        run_shards(&more, plan, threads[i]);
        check_same(one, &more, threads[i]);
        told_end(&more);
    }
}

START_TEST(threads_make_no_difference)
{
    for (guint kind = 0; kind < 4; kind++) {
        Plan plan = {
            .seed = test_seed("shards"),
            .packets = PACKETS,
            .labels = 1000,
            .learn = kind & 1,
            .endpoints = kind >> 1 & 1,
        };
        Told twin, one;
        run_twin(&twin, &plan);
        run_shards(&one, &plan, 1);
        ck_assert_uint_gt(one.loss.count[BB_RETURNS], PACKETS / 10);
        ck_assert_uint_gt(one.loss.count[BB_TCP_ECHOED], PACKETS / 300);
        ck_assert_uint_gt(one.loss.count[BB_CALLS_UNRETURNED], PACKETS / 300);
        check_same(&twin, &one, 1);
        check_threads(&one, &plan);
        told_end(&one);
        told_end(&twin);
    }
}
END_TEST

// Beyond the limit of connections the twin forgets others, but threads still make no difference.
START_TEST(limits_are_by_shard)
{
    static const guint most[] = {10, 2048, 5000};
    for (guint limit = 0; limit < G_N_ELEMENTS(most); limit++) {
        Plan plan = {.seed = test_seed("shards"),
                     .packets = PACKETS,
                     .labels = 10,
                     .max_connections = most[limit]};
        Told one;
        run_shards(&one, &plan, 1);
        ck_assert_int_eq(one.loss.count[BB_EVICTED_CONNECTIONS] > 0, most[limit] == 10);
        check_threads(&one, &plan);
        told_end(&one);
    }
}
END_TEST

// Closed over answers, used again, with holes, at the limits: threads still make no difference.
START_TEST(wild_crowds)
{
    guint32 seed = test_seed("shards");
    for (guint kind = 0; kind < 4; kind++) {
        Plan plan = {.seed = seed + kind,
                     .packets = PACKETS,
                     .labels = 100,
                     .max_connections = kind & 1 ? 2 * BB_SHARD_CONNECTIONS : 0,
                     .max_held = kind & 2 ? 2 * BB_SHARD_HELD_BYTES : 0,
                     .endpoints = kind == 3,
                     .wild = true};
        Told one;
        run_shards(&one, &plan, 1);
        ck_assert_uint_gt(one.loss.count[BB_RETURNS_UNREAD], PACKETS / 3000);
        ck_assert_uint_gt(one.loss.count[BB_CALLS_CLOSED], PACKETS / 300);
        check_threads(&one, &plan);
        told_end(&one);
    }
}
END_TEST

// Where none is silent for long, and no limit is reached, shards make no difference either.
START_TEST(wild_twin)
{
    Plan plan = {.seed = test_seed("shards"),
                 .packets = PACKETS,
                 .labels = 100,
                 .max_held = G_MAXUINT32,
                 .wild = true,
                 .tame_pace = true};
    Told twin, one;
    run_twin(&twin, &plan);
    run_shards(&one, &plan, 1);
    ck_assert_uint_gt(one.loss.count[BB_RETURNS_UNREAD], PACKETS / 3000);
    check_same(&twin, &one, 1);
    told_end(&one);
    told_end(&twin);
}
END_TEST

// More labels than are kept: which ones become `*` does not depend on threads either.
START_TEST(labels_beyond_the_limit)
{
    Plan plan = {.seed = test_seed("shards"), .packets = 250000, .labels = 1000000, .port = 80};
    Told twin, one, more;
    run_twin(&twin, &plan);
    run_shards(&one, &plan, 1);
    run_shards(&more, &plan, 3);
    ck_assert_uint_gt(one.loss.count[BB_LABEL_LIMIT], 1000);
    ck_assert_uint_ge(one.unlabelled, one.loss.count[BB_LABEL_LIMIT]);
    check_same(&twin, &one, 1);
    check_same(&one, &more, 3);
    told_end(&twin);
    told_end(&one);
    told_end(&more);
}
END_TEST

// ---- names that are labels and protocols alike --------------------------------------------------

#define SPEAKERS 64u // connections of each kind: every shard has some

typedef struct Speech {
    BbShards *shards; // or
    BbCapture *twin;
    gint64 now_ns;
    guint32 seq[2][SPEAKERS];
} Speech;

typedef struct Segment {
    guint16 ports[2]; // of client and server
    bool answers;     // the server does
    guint8 flags;
    guint32 seq, ack;
    const char *text;
    gsize length;
} Segment;

static void put(Speech *speech, Segment segment)
{
    BbPacket packet = {
        .time_ns = speech->now_ns += 1000,
        .source = bb_address_v4((const guint8[]){10, 0, 0, segment.answers ? 2 : 1}),
        .target = bb_address_v4((const guint8[]){10, 0, 0, segment.answers ? 1 : 2}),
        .source_port = segment.ports[segment.answers],
        .target_port = segment.ports[!segment.answers],
        .transport = BB_TRANSPORT_TCP,
        .tcp_flags = segment.flags,
        .seq = segment.seq,
        .ack = segment.ack,
        .window = 1000,
        .ip_id = (guint16)(speech->now_ns / 1000),
        .payload = (const guint8 *)segment.text,
        .captured = (guint32)segment.length,
        .length = (guint32)segment.length,
    };
    if (speech->shards)
        ck_assert(bb_shards_packet(speech->shards, &packet, NULL));
    else
        ck_assert(bb_capture_packet(speech->twin, &packet, NULL));
}

// The client of a connection to a server port says text, or its server answers, once.
static void send(Speech *speech, guint16 port, guint number, bool answers, guint8 flags,
                 const char *text)
{
    guint32 *seq = &speech->seq[port == 6379][number];
    put(speech, (Segment){.ports = {(guint16)(40000 + number), port},
                          .answers = answers,
                          .flags = flags,
                          .seq = answers ? 1 : *seq,
                          .ack = answers ? *seq : 1,
                          .text = text,
                          .length = strlen(text)});
    if (!answers)
        *seq += (guint32)strlen(text) + (flags & BB_TCP_FIN ? 1 : 0);
}

static void say(Speech *speech, guint16 port, guint number, const char *text)
{
    send(speech, port, number, false, BB_TCP_ACK, text);
}

// And does not read the answer.
static void give_up(Speech *speech, guint number)
{
    say(speech, 6379, number, "*1\r\n$4\r\nPING\r\n");
    speech->now_ns += BB_HOLD_WAITED_NS;
    send(speech, 6379, number, false, BB_TCP_FIN | BB_TCP_ACK, "");
    send(speech, 6379, number, true, BB_TCP_ACK, "+PONG\r\n");
    send(speech, 6379, number, false, BB_TCP_RST, "");
}

static void call_all(Speech *speech, const char *method)
{
    g_autofree char *text =
        g_strdup_printf("{\"jsonrpc\":\"2.0\",\"method\":\"%s\",\"params\":[],\"id\":7}\n", method);
    for (guint i = 0; i < SPEAKERS; i++)
        say(speech, 9000, i, text);
}

// `*` and more labels than are kept; then a protocol that was not seen before, and a label of its
// name; then both again. Then answers that are not read: that label is ours, and always kept.
static void say_all(Speech *speech)
{
    call_all(speech, "*");
    for (guint i = 0; i < 80000; i += 10) {
        g_autoptr(GString) text = g_string_new(NULL);
        for (guint k = i; k < i + 10; k++) // letters: a label may leave out numbers
            g_string_append_printf(
                text, "{\"jsonrpc\":\"2.0\",\"method\":\"m%c%c%c%c\",\"id\":%u}\n",
                'a' + k / 17576 % 26, 'a' + k / 676 % 26, 'a' + k / 26 % 26, 'a' + k % 26, k);
        say(speech, 9000, i / 10 % SPEAKERS, text->str);
    }
    for (guint turn = 0; turn < 2; turn++) {
        for (guint i = 0; i < SPEAKERS; i++)
            say(speech, 6379, i, "*1\r\n$4\r\nPING\r\n");
        call_all(speech, "redis");
        call_all(speech, "*");
    }
    for (guint i = 0; i < SPEAKERS; i++)
        give_up(speech, i);
}

static void tell_speech(Told *told, guint n_threads)
{
    BbCaptureOptions options = bb_capture_options_default();
    Speech speech = {.now_ns = G_GINT64_CONSTANT(1000000000000)};
    told_begin(told, false);
    if (n_threads)
        speech.shards = bb_shards_new(&options, n_threads, false, told->names, told->nodes,
                                      &told->loss, (BbShardsOutput){tell, note_mark, told});
    else
        speech.twin = bb_capture_new(&options, told->names, told->nodes, &told->loss, tell, told);
    say_all(&speech);
    ck_assert(n_threads ? bb_shards_finish(speech.shards, NULL)
                        : bb_capture_finish(speech.twin, NULL));
    tell_rest(told, &told->loss,
              n_threads ? bb_shards_network(speech.shards) : bb_capture_network(speech.twin));
    bb_shards_free(speech.shards);
    bb_capture_free(speech.twin);
}

START_TEST(labels_and_protocols_are_apart)
{
    Told twin, one;
    tell_speech(&twin, 0);
    tell_speech(&one, 1);
    ck_assert_uint_gt(one.loss.count[BB_LABEL_LIMIT], 10000);
    ck_assert_ptr_nonnull(strstr(one.text->str, " redis "));
    ck_assert_ptr_nonnull(strstr(one.text->str, " unread redis "));
    ck_assert_ptr_nonnull(strstr(one.text->str, " jsonrpc "));
    check_same(&twin, &one, 1);
    for (guint i = 0; i < G_N_ELEMENTS(threads); i++) {
        Told more;
        tell_speech(&more, threads[i]);
        check_same(&one, &more, threads[i]);
        told_end(&more);
    }
    told_end(&one);
    told_end(&twin);
}
END_TEST

// ---- a return that waits, and nodes that change -------------------------------------------------

#define TUNNEL "CONNECT x:80 HTTP/1.1\r\nHost: x\r\n\r\n" // 34 bytes
#define TUNNELLED "HTTP/1.1 200 OK\r\n\r\n"               // 19 bytes
#define FILL 1400u

// Through a tunnel that its client has closed, its server calls, behind a hole. Others fill what
// may be held, so that the hole is given up: the return that waits is that of the server still.
static void call_back(Speech *speech)
{
    g_autofree char *fill = g_strnfill(FILL, 'x');
    Segment there = {.ports = {40000, 8080}, .flags = BB_TCP_ACK, .seq = 1, .ack = 1};
    Segment back = there;
    back.answers = true;
    back.ack = 1 + 34 + 1;
    put(speech, (Segment){.ports = {40000, 8080}, .flags = BB_TCP_SYN});
    put(speech,
        (Segment){
            .ports = {40000, 8080}, .answers = true, .flags = BB_TCP_SYN | BB_TCP_ACK, .ack = 1});
    there.text = TUNNEL;
    there.length = 34;
    put(speech, there);
    speech->now_ns += BB_HOLD_WAITED_NS;
    put(speech,
        (Segment){
            .ports = {40000, 8080}, .flags = BB_TCP_FIN | BB_TCP_ACK, .seq = 1 + 34, .ack = 1});
    back.text = TUNNELLED;
    back.length = 19;
    put(speech, back);
    back.seq += 19 + 10;
    back.text = "GET /b HTTP/1.1\r\n\r\n";
    back.length = strlen(back.text);
    put(speech, back);
    for (guint i = 0; i < 16 * 700; i++)
        put(speech, (Segment){.ports = {(guint16)(50000 + i / 700), 9999},
                              .flags = i % 700 ? BB_TCP_ACK : BB_TCP_SYN,
                              .seq = i % 700 ? 10 + i % 700 * FILL : 0,
                              .text = fill,
                              .length = i % 700 ? FILL : 0});
}

START_TEST(nodes_of_what_waits)
{
    Told told[2];
    for (guint i = 0; i < 2; i++) {
        BbCaptureOptions options = bb_capture_options_default();
        options.max_held_bytes = 2 * BB_SHARD_HELD_BYTES;
        Speech speech = {.now_ns = G_GINT64_CONSTANT(1000000000000)};
        told_begin(&told[i], true);
        speech.shards = bb_shards_new(&options, i + 1, false, told[i].names, told[i].nodes,
                                      &told[i].loss, (BbShardsOutput){tell, note_mark, &told[i]});
        call_back(&speech);
        ck_assert(bb_shards_finish(speech.shards, NULL));
        bb_shards_free(speech.shards);
        ck_assert_uint_gt(told[i].loss.count[BB_TCP_BUFFER_LIMIT], 0);
        ck_assert_ptr_nonnull(strstr(told[i].text->str, "10.0.0.2:8080 10.0.0.1 CONNECT x:80 200"));
    }
    check_same(&told[0], &told[1], 2);
    told_end(&told[0]);
    told_end(&told[1]);
}
END_TEST

START_TEST(marks_come_in_their_place)
{
    Plan plan = {.seed = test_seed("shards"), .packets = 20000, .labels = 10, .mark_every = 777};
    Told one;
    run_shards(&one, &plan, 1);
    ck_assert_uint_eq(one.marks, 26);
    for (guint i = 0; i < G_N_ELEMENTS(threads); i++) {
        Told more;
        run_shards(&more, &plan, threads[i]);
        check_same(&one, &more, threads[i]);
        told_end(&more);
    }
    told_end(&one);
}
END_TEST

// The sink fails: the reader hears of it, nothing more reaches the sink, and everything ends.
START_TEST(errors_come_back)
{
    for (guint n = 1; n <= 4; n++) {
        Crowd crowd;
        Told told;
        g_autoptr(GError) error = NULL;
        BbCaptureOptions options = bb_capture_options_default();
        told_begin(&told, false);
        told.fail_at = 1000;
        BbShards *shards = bb_shards_new(&options, n, false, told.names, told.nodes, &told.loss,
                                         (BbShardsOutput){tell, note_mark, &told});
        crowd_begin(&crowd, 1, 0);
        guint packets = 0;
        while (bb_shards_packet(shards, crowd_packet(&crowd), &error))
            ck_assert_uint_lt(++packets, 1000000);
        ck_assert_str_eq(error->message, "the disk is full");
        (void)bb_shards_finish(shards, NULL);
        bb_shards_free(shards);
        ck_assert_uint_eq(told.count, 1000);
        crowd_end(&crowd);
        told_end(&told);
    }
}
END_TEST

// Freed half way, without finish: what is open is not told, threads end.
START_TEST(freed_half_way)
{
    for (guint n = 1; n <= 4; n++) {
        Crowd crowd;
        Told told;
        BbCaptureOptions options = bb_capture_options_default();
        told_begin(&told, false);
        BbShards *shards = bb_shards_new(&options, n, false, told.names, told.nodes, &told.loss,
                                         (BbShardsOutput){tell, NULL, &told});
        crowd_begin(&crowd, n, 0);
        for (guint i = 0; i < 5000 * (n - 1); i++)
            ck_assert(bb_shards_packet(shards, crowd_packet(&crowd), NULL));
        bb_shards_free(shards);
        crowd_end(&crowd);
        told_end(&told);
    }
}
END_TEST

// A payload that no round has room for.
START_TEST(large_payloads)
{
    g_autofree guint8 *bytes = g_malloc0(3u << 20);
    for (guint n = 1; n <= 2; n++) {
        Told told;
        BbCaptureOptions options = bb_capture_options_default();
        told_begin(&told, false);
        g_autoptr(BbShards) shards = bb_shards_new(&options, n, false, told.names, told.nodes,
                                                   &told.loss, (BbShardsOutput){tell, NULL, &told});
        for (guint i = 0; i < 20; i++) {
            guint32 length = i % 3 ? 100000 * i : 3u << 20;
            BbPacket packet = {
                .time_ns = i * G_GINT64_CONSTANT(1000000000),
                .source = bb_address_v4((const guint8[]){10, 0, 0, 1}),
                .target = bb_address_v4((const guint8[]){10, 0, 0, 2}),
                .source_port = (guint16)(1000 + i),
                .target_port = 9999,
                .transport = BB_TRANSPORT_UDP,
                .payload = bytes,
                .captured = length,
                .length = length,
            };
            ck_assert(bb_shards_packet(shards, &packet, NULL));
        }
        ck_assert(bb_shards_finish(shards, NULL));
        ck_assert_uint_eq(told.loss.count[BB_FREES] + told.loss.count[BB_CALLS], 20);
        told_end(&told);
    }
}
END_TEST

TEST_MAIN("shards", threads_make_no_difference, limits_are_by_shard, wild_crowds, wild_twin,
          labels_beyond_the_limit, labels_and_protocols_are_apart, nodes_of_what_waits,
          marks_come_in_their_place, errors_come_back, freed_half_way, large_payloads)
