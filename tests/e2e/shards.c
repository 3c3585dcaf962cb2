// SPDX-License-Identifier: Apache-2.0
// Reads captures by threads (capture/shards.h) and without shards (capture/capture.h, the slow
// twin): messages, counters and facts on the network must be the same. What was silent for a minute
// is forgotten when another begins, in its shard or, for the twin, anywhere: so the order in which
// messages come is not compared, which is put right by time later (data/order.h). Where bytes are
// held that long, calls have other ids, too: no capture here is so.
// Reads mixtures of these captures (tests/e2e/mixture.h), also with low limits, by one thread and
// by several: there the order must be the same, too.
//   shards [--mixtures COUNT] [--seed FIRST] FOLDER|FILE...     skipped (77) where none is there
#include "capture/shards.h"
#include "capture/sources/source.h"
#include "tests/e2e/capture_files.h"
#include "tests/e2e/mixture.h"

#include <stdio.h>
#include <stdlib.h>

#define MIXTURE_FRAMES 20000u // several rounds

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

static void told_begin(Told *told, bool endpoints)
{
    *told = (Told){.names = bb_names_new(), .lines = g_ptr_array_new_with_free_func(g_free)};
    told->nodes = bb_nodes_new(told->names, endpoints);
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
}

// ---- what is read -------------------------------------------------------------------------------

static void clear_frame(gpointer data)
{
    g_free(((MixtureFrame *)data)->bytes);
}

// The frames of a capture (of MixtureFrame); NULL where the file is none.
static GArray *read_file(const char *path)
{
    BbFrame frame;
    BbLoss loss = {0};
    BbSourceStatus status;
    BbSourceOptions options = bb_source_options_default();
    const char *const files[] = {path, NULL};
    options.files = files;
    g_autoptr(BbSource) source = bb_source_open(&options, &loss, NULL);
    if (!source)
        return NULL;
    GArray *frames = g_array_new(FALSE, FALSE, sizeof(MixtureFrame));
    g_array_set_clear_func(frames, clear_frame);
    do {
        g_autoptr(GError) error = NULL;
        status = bb_source_next(source, &frame, &error);
        if (status != BB_SOURCE_FRAME)
            continue;
        MixtureFrame read = {frame, g_memdup2(frame.data, frame.captured)};
        read.frame.data = read.bytes;
        g_array_append_val(frames, read);
    } while (status == BB_SOURCE_FRAME || status == BB_SOURCE_IDLE);
    return frames;
}

// What gives frames: all of a capture, or some of a mixture.
typedef struct Supply {
    const GArray *frames;
    Mixture *mixture; // NULL: frames
    guint count, given;
} Supply;

static bool supply_next(Supply *supply, BbFrame *frame)
{
    if (supply->given == supply->count)
        return false;
    *frame = supply->mixture ? mixture_next(supply->mixture)
                             : g_array_index(supply->frames, MixtureFrame, supply->given).frame;
    supply->given++;
    return true;
}

// ---- who reads it -------------------------------------------------------------------------------

static void run_twin(Told *told, const BbCaptureOptions *options, Supply *supply)
{
    BbFrame frame;
    g_autoptr(BbCapture) twin =
        bb_capture_new(options, told->names, told->nodes, &told->loss, tell, told);
    bb_capture_learn_names(twin, true);
    while (supply_next(supply, &frame))
        g_assert(bb_capture_frame(twin, &frame, NULL));
    g_assert(bb_capture_finish(twin, NULL));
    told_end(told, bb_capture_network(twin));
}

static void run_shards(Told *told, const BbCaptureOptions *options, Supply *supply, guint threads)
{
    BbFrame frame;
    g_autoptr(BbShards) shards =
        bb_shards_new(options, threads, true, told->names, told->nodes, &told->loss,
                      (BbShardsOutput){.sink = tell, .user = told});
    while (supply_next(supply, &frame))
        g_assert(bb_shards_frame(shards, &frame, NULL));
    g_assert(bb_shards_finish(shards, NULL));
    told_end(told, bb_shards_network(shards));
}

static bool is_same(const char *what, const Told *one, const Told *other, guint threads)
{
    for (guint i = 0; i < MAX(one->lines->len, other->lines->len); i++) {
        const char *a = i < one->lines->len ? one->lines->pdata[i] : "nothing";
        const char *b = i < other->lines->len ? other->lines->pdata[i] : "nothing";
        if (strcmp(a, b) == 0)
            continue;
        printf("%s: %u threads differ:\n  %s\n  %s\n", what, threads, b, a);
        return false;
    }
    return true;
}

// A capture as it is: the twin, and threads.
static guint check_capture(const char *path, const GArray *frames)
{
    static const guint threads[] = {1, 3};
    guint bad = 0;
    Told twin;
    const BbCaptureOptions options = bb_capture_options_default();
    told_begin(&twin, false);
    run_twin(&twin, &options, &(Supply){.frames = frames, .count = frames->len});
    g_ptr_array_sort(twin.lines, capture_files_compare);
    for (guint i = 0; i < G_N_ELEMENTS(threads); i++) {
        Told other;
        told_begin(&other, false);
        run_shards(&other, &options, &(Supply){.frames = frames, .count = frames->len}, threads[i]);
        g_ptr_array_sort(other.lines, capture_files_compare);
        bad += !is_same(path, &twin, &other, threads[i]);
        told_clear(&other);
    }
    told_clear(&twin);
    return bad;
}

// ---- mixtures -----------------------------------------------------------------------------------

static BbCaptureOptions options_of(guint32 seed)
{
    static const guint connections[] = {BB_CAPTURE_CONNECTIONS, 2 * BB_SHARD_CONNECTIONS};
    static const gsize held[] = {BB_CAPTURE_HELD_BYTES, 3 * BB_SHARD_HELD_BYTES};
    BbCaptureOptions options = bb_capture_options_default();
    options.max_connections = connections[seed & 1];
    options.max_held_bytes = held[seed >> 1 & 1];
    options.network_ns = seed & 4 ? 100000000 : 0;
    return options;
}

static void run_mixture(Told *told, const GPtrArray *captures, guint32 seed, guint threads)
{
    Mixture mixture;
    const BbCaptureOptions options = options_of(seed);
    told_begin(told, seed & 8);
    mixture_begin(&mixture, captures, seed);
    run_shards(told, &options, &(Supply){.mixture = &mixture, .count = MIXTURE_FRAMES}, threads);
    mixture_end(&mixture);
}

static guint check_mixture(const GPtrArray *captures, guint32 seed)
{
    static const guint threads[] = {2, 3, 8};
    g_autofree char *what = g_strdup_printf("mixture --seed %u", seed);
    guint bad = 0;
    Told one;
    run_mixture(&one, captures, seed, 1);
    for (guint i = 0; i < G_N_ELEMENTS(threads); i++) {
        Told other;
        run_mixture(&other, captures, seed, threads[i]);
        bad += !is_same(what, &one, &other, threads[i]);
        told_clear(&other);
    }
    told_clear(&one);
    return bad;
}

int main(int argc, char **argv)
{
    gint mixtures = 0, seed = 1;
    guint read = 0, bad = 0;
    g_autoptr(GPtrArray) files = g_ptr_array_new_with_free_func(g_free);
    g_autoptr(GPtrArray) captures = g_ptr_array_new_with_free_func((GDestroyNotify)g_array_unref);
    const GOptionEntry entries[] = {
        {"mixtures", 0, 0, G_OPTION_ARG_INT, &mixtures, "so many of them", "COUNT"},
        {"seed", 0, 0, G_OPTION_ARG_INT, &seed, "of the first mixture", "FIRST"},
        {NULL}};
    g_autoptr(GOptionContext) context = g_option_context_new("FOLDER|FILE...");
    g_option_context_add_main_entries(context, entries, NULL);
    g_assert(g_option_context_parse(context, &argc, &argv, NULL));
    for (int i = 1; i < argc; i++)
        capture_files_collect(argv[i], "cap", files);
    capture_files_sort(files);
    for (guint i = 0; i < files->len; i++) {
        GArray *frames = read_file(files->pdata[i]);
        if (!frames)
            continue;
        bad += check_capture(files->pdata[i], frames);
        read++;
        if (frames->len)
            g_ptr_array_add(captures, frames);
        else
            g_array_unref(frames);
    }
    for (gint i = 0; i < mixtures && captures->len; i++)
        bad += check_mixture(captures, (guint32)(seed + i));
    printf("%u captures, %d mixtures, %u differ\n", read, mixtures, bad);
    return !read ? 77 : bad ? EXIT_FAILURE : EXIT_SUCCESS;
}
