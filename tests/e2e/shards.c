// SPDX-License-Identifier: Apache-2.0
// Reads captures by threads (capture/shards.h) and without shards (capture/capture.h, the slow
// twin): messages, counters and facts on the network must be the same. A UDP conversation that was
// silent for a minute is forgotten when another begins, in its shard or, for the twin, anywhere: so
// the order in which messages come is not compared, which is put right by time later
// (data/order.h).
//   shards FOLDER|FILE...      skipped (77) where none is there
#include "capture/shards.h"
#include "capture/sources/source.h"
#include "tests/e2e/capture_files.h"

#include <stdio.h>
#include <stdlib.h>

typedef struct Told {
    BbNames *names;
    BbNodes *nodes;
    BbLoss loss;
    GPtrArray *lines; // of char *
} Told;

static bool tell(const BbMessage *m, gpointer user, GError **error)
{
    Told *told = user;
    const BbNames *names = told->names;
    GString *line = g_string_new(NULL);
    bb_id_append(line, names, m->id);
    g_string_append_printf(line, " %d %" G_GINT64_FORMAT " %" G_GINT64_FORMAT " %" G_GUINT64_FORMAT,
                           m->kind, m->time_ns, m->end_ns, m->bytes);
    const guint32 words[] = {m->sender, m->receiver, m->op, m->status, m->proto};
    for (guint i = 0; i < G_N_ELEMENTS(words); i++)
        g_string_append_printf(line, " %s", bb_names_text(names, words[i]));
    g_string_append_printf(line, " %s %" G_GUINT64_FORMAT, m->conn ? m->conn : "-", m->offset);
    g_ptr_array_add(told->lines, g_string_free(line, FALSE));
    return true;
}

static void told_begin(Told *told)
{
    *told = (Told){.names = bb_names_new(), .lines = g_ptr_array_new_with_free_func(g_free)};
    told->nodes = bb_nodes_new(told->names, false);
}

static void told_clear(Told *told)
{
    bb_nodes_free(told->nodes);
    bb_names_free(told->names);
    g_ptr_array_unref(told->lines);
}

static void told_end(Told *told, const BbNetwork *network)
{
    for (guint kind = 0; kind < BB_LOSS_COUNT; kind++)
        g_ptr_array_add(told->lines,
                        g_strdup_printf("%s %" G_GUINT64_FORMAT, bb_loss_name((BbLossKind)kind),
                                        told->loss.count[kind]));
    for (guint i = 0; i < bb_network_count(network); i++) {
        const BbNetworkEdge *edge = bb_network_at(network, i);
        GString *line = g_string_new(bb_names_text(told->names, edge->client));
        g_string_append_printf(line, " %s", bb_names_text(told->names, edge->server));
        for (guint field = 0; field < BB_NETWORK_FIELDS; field++)
            g_string_append_printf(line, " %" G_GUINT64_FORMAT, bb_network_field(edge, field));
        g_ptr_array_add(told->lines, g_string_free(line, FALSE));
    }
    g_ptr_array_sort(told->lines, capture_files_compare);
}

// files: one, and NULL; lent while the source lives.
static BbSource *open_file(const char *const *files, BbLoss *loss)
{
    BbSourceOptions options = bb_source_options_default();
    options.files = files;
    return bb_source_open(&options, loss, NULL);
}

// threads 0: the twin. Returns false where the file is no capture.
static bool read_file(Told *told, const char *path, guint threads)
{
    BbFrame frame;
    BbSourceStatus status;
    BbCaptureOptions options = bb_capture_options_default();
    const char *const files[] = {path, NULL};
    g_autoptr(BbSource) source = open_file(files, &told->loss);
    if (!source)
        return false;
    BbCapture *twin = NULL;
    BbShards *shards = NULL;
    if (threads)
        shards = bb_shards_new(&options, threads, true, told->names, told->nodes, &told->loss,
                               (BbShardsOutput){.sink = tell, .user = told});
    else
        twin = bb_capture_new(&options, told->names, told->nodes, &told->loss, tell, told);
    if (twin)
        bb_capture_learn_names(twin, true);
    do {
        g_autoptr(GError) error = NULL;
        status = bb_source_next(source, &frame, &error);
        if (status == BB_SOURCE_FRAME)
            g_assert(twin ? bb_capture_frame(twin, &frame, NULL)
                          : bb_shards_frame(shards, &frame, NULL));
    } while (status == BB_SOURCE_FRAME || status == BB_SOURCE_IDLE);
    g_assert(twin ? bb_capture_finish(twin, NULL) : bb_shards_finish(shards, NULL));
    told_end(told, twin ? bb_capture_network(twin) : bb_shards_network(shards));
    bb_capture_free(twin);
    bb_shards_free(shards);
    return true;
}

static bool is_same(const char *path, const Told *twin, const Told *other, guint threads)
{
    for (guint i = 0; i < MAX(twin->lines->len, other->lines->len); i++) {
        const char *a = i < twin->lines->len ? twin->lines->pdata[i] : "nothing";
        const char *b = i < other->lines->len ? other->lines->pdata[i] : "nothing";
        if (strcmp(a, b) == 0)
            continue;
        printf("%s: %u threads differ from none:\n  %s\n  %s\n", path, threads, b, a);
        return false;
    }
    return true;
}

int main(int argc, char **argv)
{
    static const guint threads[] = {1, 3};
    guint read = 0, bad = 0;
    g_autoptr(GPtrArray) files = g_ptr_array_new_with_free_func(g_free);
    for (int i = 1; i < argc; i++)
        capture_files_collect(argv[i], "cap", files);
    capture_files_sort(files);
    for (guint i = 0; i < files->len; i++) {
        const char *path = files->pdata[i];
        Told twin;
        told_begin(&twin);
        bool is_capture = read_file(&twin, path, 0);
        for (guint k = 0; k < G_N_ELEMENTS(threads) && is_capture; k++) {
            Told other;
            told_begin(&other);
            g_assert(read_file(&other, path, threads[k]));
            bad += !is_same(path, &twin, &other, threads[k]);
            told_clear(&other);
        }
        read += is_capture;
        told_clear(&twin);
    }
    printf("%u captures, %u differ\n", read, bad);
    return !read ? 77 : bad ? EXIT_FAILURE : EXIT_SUCCESS;
}
