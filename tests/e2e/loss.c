// SPDX-License-Identifier: Apache-2.0
// Captures with packets taken out at random: no pair may join two different requests, and most
// pairs of which nothing is missing survive, of each protocol; likewise those whose reply is cut
// behind its first packet. The clean run of the same capture is the truth.
//   loss [-v] FOLDER|FILE...        skipped (77) where none is there
#include "capture/capture.h"
#include "capture/endpoints.h"
#include "capture/layers/layer.h"
#include "capture/sources/source.h"
#include "data/random.h"
#include "tests/e2e/capture_files.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FRAMES_MOST 20000u // of a file
#define SEEDS 4u
#define MANY 20u // pairs of a protocol of which the share must be as that of all

static const struct {
    double rate, survive;
} levels[] = {{0.01, 0.97}, {0.05, 0.85}};

// ---- a capture in memory ------------------------------------------------------------------------

typedef struct Held {
    BbFrame frame;
    char *conn; // of its packet; NULL where it has none
} Held;

typedef struct Film {
    GArray *frames; // of Held
} Film;

static void clear_held(gpointer data)
{
    Held *held = data;
    g_free((gpointer)held->frame.data);
    g_free(held->conn);
}

static void describe(Held *held, BbLayers *layers)
{
    BbPacket packet;
    if (!bb_layers_decode(layers, &held->frame, &packet))
        return;
    BbEndpoints ends = {.address = {packet.source, packet.target},
                        .port = {packet.source_port, packet.target_port}};
    held->conn = bb_endpoints_conn(&ends);
}

static bool film_read(Film *film, const char *path)
{
    BbLoss loss = {0};
    const char *files[] = {path, NULL};
    BbSourceOptions options = bb_source_options_default();
    options.files = files;
    g_autoptr(BbSource) source = bb_source_open(&options, &loss, NULL);
    g_autoptr(BbLayers) layers = bb_layers_new(&loss, 1 << 20);
    film->frames = g_array_new(FALSE, TRUE, sizeof(Held));
    g_array_set_clear_func(film->frames, clear_held);
    while (source && film->frames->len < FRAMES_MOST) {
        Held held = {0};
        g_autoptr(GError) error = NULL;
        BbSourceStatus status = bb_source_next(source, &held.frame, &error);
        if (status == BB_SOURCE_END || status == BB_SOURCE_ERROR)
            break;
        if (status != BB_SOURCE_FRAME)
            continue;
        held.frame.place.file = 1; // any: so that messages keep their frames
        held.frame.data = g_memdup2(held.frame.data, MAX(held.frame.captured, 1));
        describe(&held, layers);
        g_array_append_val(film->frames, held);
    }
    for (char *w = source ? bb_source_take_warning(source) : NULL; w;
         w = bb_source_take_warning(source))
        g_free(w);
    return film->frames->len > 0;
}

// ---- its pairs ----------------------------------------------------------------------------------

typedef struct Pair {
    char *call, *reply; // where each message begins: connection, offset or time
    char *conn;
    char *proto;
    gint64 from_ns, reply_ns, to_ns; // begin, begin of the reply, its end
} Pair;

typedef struct Seen {
    BbNames *names;
    GHashTable *open;  // id -> Pair without reply
    GHashTable *pairs; // call -> Pair
} Seen;

static void pair_free(gpointer data)
{
    Pair *pair = data;
    g_free(pair->call);
    g_free(pair->reply);
    g_free(pair->conn);
    g_free(pair->proto);
    g_free(pair);
}

// NULL for a datagram.
static const char *stream_of(const BbMessage *message)
{
    bool has_place = message->offset != BB_OFFSET_NONE && !bb_message_has_print(message);
    return has_place ? message->conn : NULL;
}

// TCP: the place in the stream. A datagram: its frame, as one may come twice, and clocks be coarse.
static char *place_of(const Seen *seen, const BbMessage *message)
{
    if (stream_of(message))
        return g_strdup_printf("%s %s %" G_GUINT64_FORMAT, message->conn,
                               bb_names_text(seen->names, message->sender), message->offset);
    return g_strdup_printf("frame %u", message->frame);
}

static bool see(const BbMessage *message, gpointer user, GError **error)
{
    Seen *seen = user;
    gpointer id = GSIZE_TO_POINTER(message->id.number);
    if (message->kind == BB_CALL) {
        Pair *pair = g_new0(Pair, 1);
        pair->call = place_of(seen, message);
        pair->conn = g_strdup(stream_of(message));
        pair->proto = g_strdup(bb_names_text(seen->names, message->proto));
        pair->from_ns = message->time_ns;
        g_hash_table_insert(seen->open, id, pair);
    } else if (message->kind == BB_RETURN && bb_id_is_known(message->id)) {
        gpointer pair = NULL;
        if (!g_hash_table_steal_extended(seen->open, id, NULL, &pair))
            return true;
        ((Pair *)pair)->reply = place_of(seen, message);
        ((Pair *)pair)->reply_ns = message->time_ns;
        ((Pair *)pair)->to_ns = MAX(message->time_ns, message->end_ns);
        g_hash_table_replace(seen->pairs, ((Pair *)pair)->call, pair);
    }
    return true;
}

static void seen_clear(Seen *seen)
{
    g_hash_table_unref(seen->open);
    g_hash_table_unref(seen->pairs);
    bb_names_free(seen->names);
}

// kept: NULL for all frames.
static Seen watch(const Film *film, const bool *kept)
{
    BbLoss loss = {0};
    BbCaptureOptions options = bb_capture_options_default();
    Seen seen = {
        .names = bb_names_new(),
        .open = g_hash_table_new_full(NULL, NULL, NULL, pair_free),
        .pairs = g_hash_table_new_full(g_str_hash, g_str_equal, NULL, pair_free),
    };
    g_autoptr(BbNodes) nodes = bb_nodes_new(seen.names, false);
    g_autoptr(BbCapture) capture = bb_capture_new(&options, seen.names, nodes, &loss, see, &seen);
    for (guint i = 0; i < film->frames->len; i++)
        if (!kept || kept[i])
            g_assert(bb_capture_frame(capture, &g_array_index(film->frames, Held, i).frame, NULL));
    g_assert(bb_capture_finish(capture, NULL));
    return seen;
}

// ---- what is left of them -----------------------------------------------------------------------

typedef struct Tally {
    guint64 whole, survived, wrong;
    guint64 cut, kept; // only packets behind the first one of the reply are missing
} Tally;

typedef enum { WHOLE, CUT, DAMAGED } Damage;

// Whether packets are missing of the pair's connection between its first and last byte, and where;
// of a datagram, any packet that is no TCP connection's of its own.
static Damage damage_of(const Film *film, const bool *kept, const Pair *pair)
{
    Damage damage = WHOLE;
    for (guint i = 0; i < film->frames->len; i++) {
        const Held *held = &g_array_index(film->frames, Held, i);
        gint64 time_ns = held->frame.time_ns;
        if (kept[i] || time_ns < pair->from_ns || time_ns > pair->to_ns ||
            (held->conn && pair->conn && strcmp(held->conn, pair->conn) != 0))
            continue;
        if (!held->conn || !pair->conn || time_ns <= pair->reply_ns)
            return DAMAGED;
        damage = CUT;
    }
    return damage;
}

static Tally *tally_of(GHashTable *tallies, const char *proto)
{
    Tally *tally = g_hash_table_lookup(tallies, proto);
    if (!tally) {
        tally = g_new0(Tally, 1);
        g_hash_table_insert(tallies, g_strdup(proto), tally);
    }
    return tally;
}

// The reply of a pair that was not there before: of another call of the clean run.
static bool is_of_another(const GHashTable *replies, const Pair *pair)
{
    const char *owner = g_hash_table_lookup((GHashTable *)replies, pair->reply);
    return owner && strcmp(owner, pair->call) != 0;
}

static void compare(const Film *film, const bool *kept, const Seen *clean, GHashTable *tallies,
                    const char *path, bool verbose)
{
    Seen now = watch(film, kept);
    GHashTableIter iter;
    gpointer value;
    g_autoptr(GHashTable) replies = g_hash_table_new(g_str_hash, g_str_equal);
    g_hash_table_iter_init(&iter, clean->pairs);
    while (g_hash_table_iter_next(&iter, NULL, &value)) {
        const Pair *pair = value;
        g_hash_table_insert(replies, pair->reply, pair->call);
    }
    g_hash_table_iter_init(&iter, now.pairs);
    while (g_hash_table_iter_next(&iter, NULL, &value)) {
        const Pair *pair = value, *truth = g_hash_table_lookup(clean->pairs, pair->call);
        // Turn-taking knows no requests: its turns are what is left of them.
        if (!truth || g_str_equal(truth->proto, "tcp") || g_str_equal(truth->proto, "udp") ||
            !is_of_another(replies, pair))
            continue;
        tally_of(tallies, truth->proto)->wrong++;
        if (verbose)
            printf("%s: %s: %s joined with %s, which answers %s\n", path, pair->proto, pair->call,
                   pair->reply, (const char *)g_hash_table_lookup(replies, pair->reply));
    }
    g_hash_table_iter_init(&iter, clean->pairs);
    while (g_hash_table_iter_next(&iter, NULL, &value)) {
        const Pair *pair = value, *left = g_hash_table_lookup(now.pairs, pair->call);
        Damage damage = damage_of(film, kept, pair);
        if (damage == DAMAGED)
            continue;
        Tally *tally = tally_of(tallies, pair->proto);
        bool same = left && strcmp(left->reply, pair->reply) == 0;
        tally->whole += damage == WHOLE;
        tally->survived += same && damage == WHOLE;
        tally->cut += damage == CUT;
        tally->kept += same && damage == CUT;
        if (verbose && !same && !g_str_equal(pair->proto, "tcp"))
            printf("%s: %s: %s%s is gone\n", path, pair->proto, pair->call,
                   damage == CUT ? ", its reply cut," : "");
    }
    seen_clear(&now);
}

static void run_film(const Film *film, GHashTable *const *tallies, const char *path, bool verbose)
{
    Seen clean = watch(film, NULL);
    g_autofree bool *kept = g_new(bool, film->frames->len);
    for (guint level = 0; level < G_N_ELEMENTS(levels); level++)
        for (guint seed = 1; seed <= SEEDS; seed++) {
            BbRandom random = bb_random_start(seed);
            for (guint i = 0; i < film->frames->len; i++)
                kept[i] = !bb_random_chance(&random, levels[level].rate);
            compare(film, kept, &clean, tallies[level], path, verbose);
        }
    seen_clear(&clean);
}

// ---- the report ---------------------------------------------------------------------------------

static gint by_text(gconstpointer a, gconstpointer b)
{
    return strcmp(a, b);
}

// Prints a line a protocol. Returns whether all is as it must be.
static bool report(GHashTable *tallies, guint level)
{
    Tally all = {0};
    bool good = true;
    printf("%.0f %% of the packets removed:\n", 100 * levels[level].rate);
    GList *protocols = g_list_sort(g_hash_table_get_keys(tallies), by_text);
    for (GList *each = protocols; each; each = each->next) {
        const Tally *tally = g_hash_table_lookup(tallies, each->data);
        double share = tally->whole ? (double)tally->survived / (double)tally->whole : 1;
        printf("  %-12s %8" G_GUINT64_FORMAT " whole pairs, %6.2f %% survive, %" G_GUINT64_FORMAT
               " wrong; of %" G_GUINT64_FORMAT " with a cut reply %" G_GUINT64_FORMAT "\n",
               (const char *)each->data, tally->whole, 100 * share, tally->wrong, tally->cut,
               tally->kept);
        all.whole += tally->whole;
        all.survived += tally->survived;
        all.wrong += tally->wrong;
        double kept = tally->cut ? (double)tally->kept / (double)tally->cut : 1;
        good &= tally->wrong == 0 && (tally->whole < MANY || share >= levels[level].survive) &&
                (tally->cut < MANY || kept >= levels[level].survive);
    }
    g_list_free(protocols);
    double share = all.whole ? (double)all.survived / (double)all.whole : 1;
    printf("  all          %8" G_GUINT64_FORMAT " whole pairs, %6.2f %% survive (must: %.0f %%)\n",
           all.whole, 100 * share, 100 * levels[level].survive);
    return good && share >= levels[level].survive;
}

int main(int argc, char **argv)
{
    bool verbose = argc > 1 && strcmp(argv[1], "-v") == 0, good = true;
    g_autoptr(GPtrArray) files = g_ptr_array_new_with_free_func(g_free);
    for (int i = 1 + verbose; i < argc; i++)
        capture_files_collect(argv[i], ".pcap", files);
    if (!files->len) {
        puts("no captures there");
        return 77;
    }
    capture_files_sort(files);
    GHashTable *tallies[G_N_ELEMENTS(levels)];
    for (guint level = 0; level < G_N_ELEMENTS(levels); level++)
        tallies[level] = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
    for (guint i = 0; i < files->len; i++) {
        Film film = {0};
        if (film_read(&film, files->pdata[i]))
            run_film(&film, tallies, files->pdata[i], verbose);
        g_array_unref(film.frames);
    }
    for (guint level = 0; level < G_N_ELEMENTS(levels); level++) {
        good &= report(tallies[level], level);
        g_hash_table_unref(tallies[level]);
    }
    return good ? EXIT_SUCCESS : EXIT_FAILURE;
}
