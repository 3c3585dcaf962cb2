// SPDX-License-Identifier: Apache-2.0
// Reads captures whole and cut, through all of capture/: at every byte of the first and last 4 KiB,
// and at each record's boundary and one byte to either side. Nothing may crash, hang or lose count;
// under the sanitizers, nothing may read astray. At most 2,000 cuts a file, evenly chosen. The
// files that took longest are named: time that grows faster than a file does is a finding as well.
//   cuts [--every N] [--shard I/N] FOLDER|FILE...      skipped (77) where none is there
#include "capture/capture.h"
#include "capture/sources/source.h"
#include "data/trace.h"
#include "tests/e2e/capture_files.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define EDGE 4096u
#define MOST 2000u
#define NAMED 5u // files that took longest

typedef struct Shape { // where the records of a file begin
    GArray *boundaries;
    const guint8 *data;
    gsize size;
    bool swapped;
} Shape;

static guint32 get32(const Shape *shape, gsize at)
{
    guint32 value = 0;
    if (at + 4 <= shape->size)
        memcpy(&value, shape->data + at, 4);
    return shape->swapped ? GUINT32_SWAP_LE_BE(value) : value;
}

static void walk_records(Shape *shape, gsize at, gsize length_at, gsize header)
{
    while (at + header <= shape->size) {
        g_array_append_val(shape->boundaries, at);
        gsize length = header + get32(shape, at + length_at);
        if (header == 8) // a pcapng block counts its own header
            length = MAX(12u, get32(shape, at + length_at));
        at += length;
    }
}

static void find_boundaries(Shape *shape)
{
    guint32 magic = get32(shape, 0);
    if (magic == 0x0a0d0d0au) {
        shape->swapped = get32(shape, 8) == 0x4d3c2b1au;
        walk_records(shape, 0, 4, 8);
    } else if (magic == 0xa1b2c3d4u || magic == 0xa1b23c4du) {
        walk_records(shape, 24, 8, 16);
    } else if (magic == 0xd4c3b2a1u || magic == 0x4d3cb2a1u) {
        shape->swapped = true;
        walk_records(shape, 24, 8, 16);
    }
}

static gint by_falling_size(gconstpointer a, gconstpointer b)
{
    gsize x = *(const gsize *)a, y = *(const gsize *)b;
    return x > y ? -1 : x < y;
}

// All places to cut, longest first.
static GArray *find_cuts(Shape *shape)
{
    GArray *cuts = g_array_new(FALSE, FALSE, sizeof(gsize));
    for (gsize i = 0; i < MIN(EDGE, shape->size); i++) {
        gsize end = shape->size - i;
        g_array_append_val(cuts, i);
        g_array_append_val(cuts, end);
    }
    for (guint i = 0; i < shape->boundaries->len; i++)
        for (gsize delta = 0; delta < 3; delta++) {
            gsize at = g_array_index(shape->boundaries, gsize, i) + delta - 1;
            if (at < shape->size)
                g_array_append_val(cuts, at);
        }
    g_array_sort(cuts, by_falling_size);
    GArray *chosen = g_array_new(FALSE, FALSE, sizeof(gsize));
    guint step = MAX(1, (cuts->len + MOST - 1) / MOST);
    for (guint i = 0; i < cuts->len; i += step)
        if (!chosen->len ||
            g_array_index(chosen, gsize, chosen->len - 1) != g_array_index(cuts, gsize, i))
            g_array_append_val(chosen, g_array_index(cuts, gsize, i));
    g_array_unref(cuts);
    return chosen;
}

static bool write_text(const BbMessage *message, gpointer user, GError **error)
{
    return bb_trace_writer_push(user, message, error);
}

static void read_capture(const char *path)
{
    BbLoss loss = {0};
    BbFrame frame;
    const char *files[] = {path, NULL};
    BbSourceOptions source_options = bb_source_options_default();
    BbCaptureOptions options = bb_capture_options_default();
    source_options.files = files;
    g_autoptr(BbNames) names = bb_names_new();
    g_autoptr(BbNodes) nodes = bb_nodes_new(names, true);
    g_autoptr(BbSource) source = bb_source_open(&source_options, &loss, NULL);
    if (!source)
        return;
    g_autoptr(BbTraceWriter) writer = bb_trace_writer_open("/dev/null", BB_TRACE_TEXT, names, NULL);
    g_autoptr(BbCapture) capture =
        bb_capture_new(&options, names, nodes, &loss, write_text, writer);
    bb_capture_learn_names(capture, true);
    for (;;) {
        g_autoptr(GError) error = NULL;
        BbSourceStatus status = bb_source_next(source, &frame, &error);
        if (status == BB_SOURCE_FRAME)
            g_assert(bb_capture_frame(capture, &frame, NULL));
        else if (status == BB_SOURCE_END)
            break;
    }
    for (char *warning = bb_source_take_warning(source); warning;
         warning = bb_source_take_warning(source))
        g_free(warning);
    g_assert(bb_capture_finish(capture, NULL));
    g_assert(bb_capture_held_bytes(capture) == 0);
    g_assert(loss.count[BB_RETURNS] + loss.count[BB_CALLS_UNRETURNED] ==
             loss.count[BB_CALLS] + loss.count[BB_RETURNS_ORPHANED]);
}

static guint cut_file(const char *path, guint every)
{
    g_autofree char *data = NULL;
    Shape shape = {0};
    if (!g_file_get_contents(path, &data, &shape.size, NULL))
        g_error("%s cannot be read", path);
    shape.data = (const guint8 *)data;
    shape.boundaries = g_array_new(FALSE, FALSE, sizeof(gsize));
    find_boundaries(&shape);
    g_autoptr(GArray) cuts = find_cuts(&shape);
    int fd = memfd_create("cut", 0);
    g_autofree char *name = g_strdup_printf("/proc/self/fd/%d", fd);
    if (write(fd, data, shape.size) != (gssize)shape.size)
        g_error("no memory for %s", path);
    guint done = 0;
    for (guint i = 0; i < cuts->len; i += every, done++) {
        if (ftruncate(fd, (off_t)g_array_index(cuts, gsize, i)) != 0)
            g_error("cannot cut %s", path);
        read_capture(name);
    }
    close(fd);
    g_array_unref(shape.boundaries);
    return done;
}

typedef struct Cost {
    const char *path;
    guint cuts;
    double seconds;
} Cost;

static gint by_falling_seconds(gconstpointer a, gconstpointer b)
{
    double x = ((const Cost *)a)->seconds, y = ((const Cost *)b)->seconds;
    return x > y ? -1 : x < y;
}

// Seconds of the processor: how busy the machine is with other things is of no interest.
static Cost measure(const char *path, guint every)
{
    clock_t since = clock();
    guint cuts = cut_file(path, every);
    return (Cost){path, cuts, (double)(clock() - since) / CLOCKS_PER_SEC};
}

static void print_costs(GArray *costs)
{
    guint cuts = 0;
    double seconds = 0;
    g_array_sort(costs, by_falling_seconds);
    for (guint i = 0; i < costs->len; i++) {
        const Cost *cost = &g_array_index(costs, Cost, i);
        if (i < NAMED)
            printf("%8.1f s, %4u cuts: %s\n", cost->seconds, cost->cuts, cost->path);
        cuts += cost->cuts;
        seconds += cost->seconds;
    }
    printf("%u files, read at %u cuts in %.0f s\n", costs->len, cuts, seconds);
}

int main(int argc, char **argv)
{
    guint every = 1, shard = 0, shards = 1;
    g_autoptr(GPtrArray) files = g_ptr_array_new_with_free_func(g_free);
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--every") == 0 && i + 1 < argc)
            every = (guint)g_ascii_strtoull(argv[++i], NULL, 10);
        else if (strcmp(argv[i], "--shard") != 0)
            capture_files_collect(argv[i], NULL, files);
        else if (i + 1 < argc && sscanf(argv[++i], "%u/%u", &shard, &shards) != 2)
            return 2;
    }
    if (every == 0 || shards == 0) {
        puts("usage: cuts [--every N] [--shard I/N] FOLDER|FILE...");
        return 2;
    }
    if (!files->len) {
        puts("skipped: there are no captures");
        return 77;
    }
    capture_files_sort(files);
    g_autoptr(GArray) costs = g_array_new(FALSE, FALSE, sizeof(Cost));
    for (guint i = shard; i < files->len; i += shards) {
        Cost cost = measure(g_ptr_array_index(files, i), every);
        g_array_append_val(costs, cost);
    }
    print_costs(costs);
    return EXIT_SUCCESS;
}
