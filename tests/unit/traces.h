// SPDX-License-Identifier: Apache-2.0
// For the tests of the trace: messages of every shape, files of them, what is read back.
#pragma once

#include "data/trace.h"
#include "tests/unit/test.h"

#include <glib/gstdio.h>
#include <string.h>

// Messages with the table of their names; strings are owned by texts.
typedef struct {
    BbNames *names;
    GArray *messages;
    GStringChunk *texts;
    BbCounters *counters;
    BbNetwork *network;
    char *damage; // a copy, NULL if whole
    GError *error;
    guint64 bad_lines;
} Messages;

static inline Messages *messages_new(void)
{
    Messages *all = g_new0(Messages, 1);
    all->names = bb_names_new();
    all->messages = g_array_new(FALSE, FALSE, sizeof(BbMessage));
    all->texts = g_string_chunk_new(1024);
    all->counters = bb_counters_new();
    all->network = bb_network_new();
    return all;
}

static inline void messages_free(Messages *all)
{
    bb_names_free(all->names);
    g_array_unref(all->messages);
    g_string_chunk_free(all->texts);
    bb_counters_free(all->counters);
    bb_network_free(all->network);
    g_free(all->damage);
    g_clear_error(&all->error);
    g_free(all);
}

G_DEFINE_AUTOPTR_CLEANUP_FUNC(Messages, messages_free)

static inline const BbMessage *message_at(const Messages *all, guint i)
{
    ck_assert_uint_lt(i, all->messages->len);
    return &g_array_index(all->messages, BbMessage, i);
}

static inline void messages_keep(Messages *all, BbMessage message)
{
    if (message.conn)
        message.conn = g_string_chunk_insert(all->texts, message.conn);
    if (message.extra)
        message.extra = g_string_chunk_insert(all->texts, message.extra);
    g_array_append_val(all->messages, message);
}

// ---- files --------------------------------------------------------------------------------------

static inline char *temp_path(void)
{
    char *path = NULL;
    int fd = g_file_open_tmp("bbtrace-test-XXXXXX", &path, NULL);
    ck_assert_int_ge(fd, 0);
    g_close(fd, NULL);
    return path;
}

// Reads a file; what went wrong is in the result.
static inline Messages *read_path(const char *path, bool skip_bad_lines)
{
    Messages *all = messages_new();
    g_autoptr(BbTraceReader) reader = bb_trace_reader_open(path, all->names, &all->error);
    if (!reader)
        return all;
    bb_trace_reader_skip_bad_lines(reader, skip_bad_lines);
    BbMessage message;
    while (bb_trace_reader_next(reader, &message, &all->error))
        messages_keep(all, message);
    ck_assert_uint_eq(bb_trace_reader_messages(reader), all->messages->len);
    ck_assert(!bb_trace_reader_next(reader, &message, NULL)); // the end stays
    all->bad_lines = bb_trace_reader_bad_lines(reader);
    all->damage = g_strdup(bb_trace_reader_damage(reader));
    bb_counters_merge(all->counters, bb_trace_reader_counters(reader));
    bb_network_merge(all->network, bb_trace_reader_network(reader));
    return all;
}

static inline Messages *read_bytes(gconstpointer bytes, gsize size)
{
    g_autofree char *path = temp_path();
    ck_assert(g_file_set_contents(path, bytes, (gssize)size, NULL));
    Messages *all = read_path(path, false);
    g_unlink(path);
    return all;
}

static inline Messages *read_text(const char *text)
{
    return read_bytes(text, strlen(text));
}

// Writes all; every flush_every messages are flushed (0: never).
static inline void write_path(const char *path, BbTraceForm form, const Messages *all,
                              guint flush_every)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(BbTraceWriter) writer = bb_trace_writer_open(path, form, all->names, &error);
    ck_assert_msg(writer != NULL, "%s", error ? error->message : "");
    for (guint i = 0; i < all->messages->len; i++) {
        const BbMessage *message = &g_array_index(all->messages, BbMessage, i);
        bool flush = flush_every && i % flush_every == flush_every - 1;
        if (!bb_trace_writer_push(writer, message, &error) ||
            (flush && !bb_trace_writer_flush(writer, &error)))
            ck_abort_msg("%s", error->message);
    }
    ck_assert(bb_trace_writer_network(writer, all->network, &error));
    ck_assert(bb_trace_writer_finish(writer, all->counters, &error));
}

static inline char *write_bytes(BbTraceForm form, const Messages *all, guint flush_every,
                                gsize *size)
{
    g_autofree char *path = temp_path();
    char *bytes = NULL;
    write_path(path, form, all, flush_every);
    ck_assert(g_file_get_contents(path, &bytes, size, NULL));
    g_unlink(path);
    return bytes;
}

// ---- comparison ---------------------------------------------------------------------------------

static inline bool same_name(const Messages *a, guint32 in_a, const Messages *b, guint32 in_b)
{
    return strcmp(bb_names_text(a->names, in_a), bb_names_text(b->names, in_b)) == 0;
}

static inline bool same_id(const Messages *a, BbId in_a, const Messages *b, BbId in_b)
{
    if (in_a.number != in_b.number)
        return false;
    if (in_a.form < BB_ID_STEM || in_b.form < BB_ID_STEM)
        return in_a.form == in_b.form;
    return same_name(a, in_a.form - BB_ID_STEM, b, in_b.form - BB_ID_STEM);
}

static inline bool same_message(const Messages *a, const BbMessage *x, const Messages *b,
                                const BbMessage *y, bool with_extra)
{
    return x->time_ns == y->time_ns && x->recv_ns == y->recv_ns && x->end_ns == y->end_ns &&
           x->bytes == y->bytes && x->offset == y->offset && x->kind == y->kind &&
           x->at_receiver == y->at_receiver && same_id(a, x->id, b, y->id) &&
           same_id(a, x->path, b, y->path) && same_id(a, x->parent, b, y->parent) &&
           g_strcmp0(x->conn, y->conn) == 0 && same_name(a, x->sender, b, y->sender) &&
           same_name(a, x->receiver, b, y->receiver) && same_name(a, x->op, b, y->op) &&
           same_name(a, x->status, b, y->status) && same_name(a, x->proto, b, y->proto) &&
           same_name(a, x->observer, b, y->observer) && same_name(a, x->file, b, y->file) &&
           x->frame == y->frame && (with_extra ? g_strcmp0(x->extra, y->extra) == 0 : !y->extra);
}

static inline void check_same(const Messages *a, const Messages *b, bool with_extra)
{
    ck_assert_msg(!b->error, "%s", b->error ? b->error->message : "");
    ck_assert_uint_eq(a->messages->len, b->messages->len);
    guint same = 0; // an assertion is dear: check writes a record of each
    while (same < a->messages->len &&
           same_message(a, &g_array_index(a->messages, BbMessage, same), b,
                        &g_array_index(b->messages, BbMessage, same), with_extra))
        same++;
    ck_assert_msg(same == a->messages->len, "message %u differs", same);
}

// ---- messages of every shape --------------------------------------------------------------------

static inline guint64 random_number(GRand *rand)
{
    guint64 number = (guint64)g_rand_int(rand) << 32 | g_rand_int(rand);
    return number >> g_rand_int_range(rand, 1, 64);
}

// Texts with all that a text trace must encode.
static inline const char *random_text(Messages *all, GRand *rand)
{
    static const char *const parts[] = {"web",
                                        "GET /",
                                        " ",
                                        "%",
                                        "=",
                                        "%41",
                                        "\n",
                                        "\t",
                                        "\xff",
                                        "\xc3\xa4",
                                        "\xc2\xa0",
                                        "\xe3\x80\x80",
                                        "\x01",
                                        "#",
                                        "-",
                                        "1",
                                        "0",
                                        "a=b",
                                        "\xf0\x9f\x90\x99",
                                        "\xc3",
                                        "\x7f",
                                        "\\"};
    g_autoptr(GString) text = g_string_new(NULL);
    gint count = g_rand_int_range(rand, 1, 5);
    for (gint i = 0; i < count; i++)
        g_string_append(text, parts[g_rand_int_range(rand, 0, G_N_ELEMENTS(parts))]);
    return g_string_chunk_insert(all->texts, text->str);
}

static inline guint32 random_name(Messages *all, GRand *rand)
{
    static const char *const usual[] = {"", "nodeA", "nodeB", "200"};
    gint i = g_rand_int_range(rand, 0, G_N_ELEMENTS(usual) + 1);
    return bb_names_intern(all->names,
                           i < (gint)G_N_ELEMENTS(usual) ? usual[i] : random_text(all, rand));
}

static inline BbId random_id(Messages *all, GRand *rand)
{
    g_autofree char *hex = g_strdup_printf("%016" G_GINT64_MODIFIER "x", random_number(rand));
    switch (g_rand_int_range(rand, 0, 6)) {
    case 0:
        return (BbId){0};
    case 1:
        return bb_id_number(random_number(rand));
    case 2:
        return bb_id_parse(all->names, hex);
    case 3:
        return bb_id_number((guint64)g_rand_int_range(rand, 0, 100));
    default:
        return bb_id_parse(all->names, random_text(all, rand));
    }
}

static inline BbMessage random_message(Messages *all, GRand *rand, gint64 time_ns)
{
    BbMessage message = bb_message_empty();
    message.time_ns = time_ns;
    message.kind = (BbKind)g_rand_int_range(rand, BB_CALL, BB_FREE + 1);
    message.at_receiver = g_rand_boolean(rand);
    message.sender = random_name(all, rand);
    message.receiver = random_name(all, rand);
    message.id = random_id(all, rand);
    if (message.id.form == BB_ID_DASH)
        message.id.form = BB_ID_ABSENT; // the id `-` is none
    if (g_rand_boolean(rand))
        message.recv_ns = (gint64)(random_number(rand) >> 1);
    if (g_rand_boolean(rand))
        message.end_ns = time_ns + g_rand_int_range(rand, 0, 1000000);
    if (g_rand_boolean(rand))
        message.bytes = random_number(rand);
    if (g_rand_boolean(rand))
        message.offset = random_number(rand);
    if (g_rand_boolean(rand))
        message.conn = random_text(all, rand);
    message.op = random_name(all, rand);
    message.status = random_name(all, rand);
    message.proto = random_name(all, rand);
    message.observer = random_name(all, rand);
    message.file = random_name(all, rand);
    if (g_rand_boolean(rand))
        message.frame = g_rand_int(rand);
    message.path = random_id(all, rand);
    message.parent = random_id(all, rand);
    return message;
}

// Facts on the network between any nodes; sums of round trips are not looked at.
static inline void random_network(Messages *all, guint32 seed, guint count)
{
    g_autoptr(GRand) rand = g_rand_new_with_seed(seed);
    for (guint i = 0; i < count; i++) {
        BbNetworkEdge edge = {.client = random_name(all, rand), .server = random_name(all, rand)};
        for (guint field = 0; field < BB_NETWORK_FIELDS; field++)
            if (g_rand_boolean(rand))
                bb_network_set_field(&edge, field, random_number(rand));
        bb_network_add(all->network, &edge);
    }
}

static inline void check_same_network(const Messages *a, const Messages *b)
{
    ck_assert_uint_eq(bb_network_count(a->network), bb_network_count(b->network));
    for (guint i = 0; i < bb_network_count(a->network); i++) {
        const BbNetworkEdge *x = bb_network_at(a->network, i), *y = bb_network_at(b->network, i);
        ck_assert(same_name(a, x->client, b, y->client) && same_name(a, x->server, b, y->server));
        for (guint field = 0; field < BB_NETWORK_FIELDS; field++)
            ck_assert_msg(bb_network_field(x, field) == bb_network_field(y, field),
                          "edge %u: %s differs", i, bb_network_field_name(field));
    }
}

static inline Messages *random_messages(guint32 seed, guint count)
{
    Messages *all = messages_new();
    g_autoptr(GRand) rand = g_rand_new_with_seed(seed);
    gint64 time_ns = 1047680084482205000;
    for (guint i = 0; i < count; i++) {
        time_ns += g_rand_int_range(rand, 0, 1000000);
        if (g_rand_int_range(rand, 0, 100) == 0)
            time_ns = (gint64)(random_number(rand) >> 2);
        messages_keep(all, random_message(all, rand, time_ns));
    }
    bb_counters_add(all->counters, "tcp.gaps", seed);
    bb_counters_add(all->counters, "drops", G_MAXUINT64);
    return all;
}
