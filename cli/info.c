// SPDX-License-Identifier: Apache-2.0
// bbtrace info. In: a trace. Out: what is in it, what was lost on the way, and how far to trust it.
#include "cli/command.h"
#include "cli/info_network.h"
#include "cli/info_trust.h"

#include "capture/loss.h"
#include "data/call.h"
#include "data/caption.h"
#include "data/clock_doubt.h"
#include "data/keys.h"
#include "data/order.h"
#include "data/quantity.h"
#include "data/stats.h"
#include "data/status.h"
#include "data/trace.h"
#include "merge/importer.h"
#include "merge/join.h"
#include "merge/nat.h"
#include "merge/open_calls.h"

#include <stdio.h>
#include <string.h>

#define ORDER_WINDOW 1048576u
#define NAME_MOST 48u // columns of a name
#define NAME_COLUMNS 52
#define ROWS 20u // of a table, unless --all

typedef struct Edge {
    guint32 sender, receiver, proto;
    guint64 calls, returns, frees, errors;
} Edge;

// A call, or a free message, while something of it may still come.
typedef struct Seen {
    Edge *edge;
    gint64 time_ns;
    bool returned, cut_off; // cut off: its connection was closed before a return came
} Seen;

typedef struct Info {
    BbNames *names;
    GHashTable *edges; // Edge -> itself
    BbOpenCalls *open; // values are Seen
    guint64 kinds[3], orphans, unreturned, early;
    guint64 cut_off; // of those without return
    gint64 first_ns, last_ns;
    guint64 sightings; // second ones
    BbStats *lasted;   // from the call to its return
} Info;

static guint edge_hash(gconstpointer key)
{
    const Edge *edge = key;
    return bb_keys_mix((guint64)edge->sender << 32 | edge->receiver, edge->proto);
}

static gboolean edge_equal(gconstpointer a, gconstpointer b)
{
    const Edge *x = a, *y = b;
    return x->sender == y->sender && x->receiver == y->receiver && x->proto == y->proto;
}

// A return that waits for its call is remembered by its time, which must not be NULL.
static gpointer early_value(gint64 time_ns)
{
    return GSIZE_TO_POINTER((gsize)time_ns + 1);
}

static void note_return(Info *info, Seen *call)
{
    call->returned = true;
    info->unreturned--;
    info->cut_off -= call->cut_off;
}

// Of one time the call is the first, whatever their order in the trace.
static void adopt_early(gpointer call, gpointer early, gpointer user)
{
    Info *info = user;
    Seen *seen = call;
    note_return(info, seen);
    info->orphans--;
    info->early += early != early_value(seen->time_ns);
}

static void info_init(Info *info)
{
    const BbOpenCallsValues values = {
        .ref = g_rc_box_acquire, .unref = g_rc_box_release, .adopt = adopt_early, .user = info};
    *info = (Info){
        .names = bb_names_new(),
        .edges = g_hash_table_new_full(edge_hash, edge_equal, g_free, NULL),
        .open = bb_open_calls_new(BB_OPEN_CALLS_MAX, &values),
        .first_ns = BB_TIME_NONE,
        .last_ns = BB_TIME_NONE,
        .lasted = bb_stats_new(),
    };
}

static void info_clear(Info *info)
{
    bb_open_calls_free(info->open);
    bb_stats_free(info->lasted);
    g_hash_table_destroy(info->edges);
    bb_names_free(info->names);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Info, info_clear)

// ---- counting -----------------------------------------------------------------------------------

// A return belongs to the edge of its call.
static Edge *edge_of(Info *info, const BbMessage *m)
{
    bool back = m->kind == BB_RETURN;
    Edge key = {
        .sender = back ? m->receiver : m->sender,
        .receiver = back ? m->sender : m->receiver,
        .proto = m->proto,
    };
    Edge *edge = g_hash_table_lookup(info->edges, &key);
    if (!edge) {
        edge = g_memdup2(&key, sizeof key);
        g_hash_table_add(info->edges, edge);
    }
    return edge;
}

static void count_new(Info *info, const BbMessage *m)
{
    Seen *seen = g_rc_box_new(Seen);
    *seen = (Seen){.edge = edge_of(info, m), .time_ns = m->time_ns};
    seen->edge->calls += m->kind == BB_CALL;
    seen->edge->frees += m->kind == BB_FREE;
    info->unreturned += m->kind == BB_CALL;
    if (m->kind == BB_CALL)
        bb_open_calls_push(info->open, m, seen);
    else
        bb_open_calls_push_free(info->open, m, seen);
    g_rc_box_release(seen);
}

// Returns false for a second sighting.
static bool count_return(Info *info, const BbMessage *m, Seen *call)
{
    if (call && call->returned)
        return false;
    if (!call && bb_open_calls_push_early(info->open, m, early_value(m->time_ns)))
        return false;
    Edge *edge = call ? call->edge : edge_of(info, m);
    edge->returns++;
    edge->errors += bb_status_is_error(bb_names_text(info->names, m->proto),
                                       bb_names_text(info->names, m->status));
    info->orphans += !call;
    if (call) {
        note_return(info, call);
        bb_stats_push(info->lasted, bb_time_between(call->time_ns, m->time_ns));
    }
    return true;
}

static void count_end(Info *info, const BbMessage *m)
{
    Seen *call = bb_message_ends_call(m, info->names) ? bb_open_calls_closed(info->open, m) : NULL;
    if (!call || call->returned || call->cut_off)
        return;
    call->cut_off = true;
    info->cut_off++;
}

static void note_time(Info *info, gint64 time_ns)
{
    if (info->first_ns == BB_TIME_NONE || time_ns < info->first_ns)
        info->first_ns = time_ns;
    if (info->last_ns == BB_TIME_NONE || time_ns > info->last_ns)
        info->last_ns = time_ns;
}

// Each message once, at whichever end it was seen first.
static bool count_message(const BbMessage *m, gpointer user, GError **error)
{
    Info *info = user;
    Seen *seen = bb_open_calls_find(info->open, m);
    bool first = m->kind == BB_RETURN ? count_return(info, m, seen) : !seen;
    note_time(info, m->time_ns);
    info->sightings += !first;
    info->kinds[m->kind] += first;
    if (first && m->kind != BB_RETURN)
        count_new(info, m);
    if (first && m->kind == BB_FREE)
        count_end(info, m);
    if (seen)
        g_rc_box_release(seen);
    return true;
}

static bool read_trace(Info *info, BbTraceReader *reader, GError **error)
{
    BbMessage message;
    g_autoptr(BbOrder) order = bb_order_new(ORDER_WINDOW, count_message, info);
    GError *failure = NULL;
    while (bb_trace_reader_next(reader, &message, &failure))
        (void)bb_order_push(order, &message, NULL);
    (void)bb_order_drain(order, NULL);
    bb_open_calls_finish(info->open);
    if (failure)
        g_propagate_error(error, failure);
    return !failure;
}

// ---- telling ------------------------------------------------------------------------------------

static void print_time(const char *what, gint64 time_ns)
{
    g_autoptr(GDateTime) date = g_date_time_new_from_unix_utc(time_ns / 1000000000);
    g_autofree char *text =
        date ? g_date_time_format(date, "%Y-%m-%d %H:%M:%S") : g_strdup("(beyond the calendar)");
    printf("%-12s%s.%06d UTC\n", what, text, (int)(time_ns % 1000000000 / 1000));
}

static void print_span(gint64 span_ns)
{
    double seconds = (double)span_ns / 1e9;
    g_autoptr(GString) text = g_string_new(NULL);
    bb_quantity_append_span(text, span_ns);
    if (seconds < 3600)
        printf("%-12s%.6f s\n", "span", seconds);
    else
        printf("%-12s%.6f s (%s)\n", "span", seconds, text->str);
}

static void print_kinds(const Info *info)
{
    static const char *const names[] = {"calls", "returns", "free"};
    for (guint kind = 0; kind < G_N_ELEMENTS(names); kind++) {
        g_autofree char *number = bb_number(info->kinds[kind]);
        printf("%-12s%12s\n", names[kind], number);
    }
}

static gint by_weight(gconstpointer a, gconstpointer b, gpointer user)
{
    const Edge *x = *(const Edge *const *)a, *y = *(const Edge *const *)b;
    const BbNames *names = user;
    guint64 wx = x->calls + x->returns + x->frees, wy = y->calls + y->returns + y->frees;
    if (wx != wy)
        return wx > wy ? -1 : 1;
    int order = strcmp(bb_names_text(names, x->sender), bb_names_text(names, y->sender));
    if (!order)
        order = strcmp(bb_names_text(names, x->receiver), bb_names_text(names, y->receiver));
    if (!order)
        order = strcmp(bb_names_text(names, x->proto), bb_names_text(names, y->proto));
    return order;
}

static GPtrArray *sorted(GHashTable *edges, BbNames *names)
{
    GPtrArray *list = g_ptr_array_new();
    GHashTableIter iter;
    gpointer edge;
    g_hash_table_iter_init(&iter, edges);
    while (g_hash_table_iter_next(&iter, &edge, NULL))
        g_ptr_array_add(list, edge);
    g_ptr_array_sort_with_data(list, by_weight, names);
    return list;
}

static void print_edge(const char *name, const Edge *edge)
{
    g_autoptr(GString) padded = g_string_new(name);
    bb_caption_pad(padded, NAME_COLUMNS);
    printf("%s %10" G_GUINT64_FORMAT " %10" G_GUINT64_FORMAT " %10" G_GUINT64_FORMAT
           " %10" G_GUINT64_FORMAT "\n",
           padded->str, edge->calls, edge->returns, edge->frees, edge->errors);
}

static void print_table(const char *title, GPtrArray *rows, char *(*name)(Info *, const Edge *),
                        Info *info, gboolean all)
{
    guint shown = all ? rows->len : MIN(rows->len, ROWS);
    printf("\n%-*s %10s %10s %10s %10s\n", NAME_COLUMNS, title, "calls", "returns", "free",
           "errors");
    for (guint i = 0; i < shown; i++) {
        const Edge *edge = g_ptr_array_index(rows, i);
        g_autofree char *text = name(info, edge);
        print_edge(text, edge);
    }
    if (shown < rows->len)
        printf("(%u more: --all)\n", rows->len - shown);
}

// A name as people may see it on a terminal.
static char *printable(Info *info, guint32 name)
{
    GString *text = g_string_new(NULL);
    bb_caption_append_plain(text, bb_names_text(info->names, name), G_MAXSIZE);
    bb_caption_elide(text, NAME_MOST);
    return g_string_free(text, FALSE);
}

static char *node_name(Info *info, guint32 node)
{
    return node == BB_NAME_NONE ? g_strdup("?") : printable(info, node);
}

static char *edge_name(Info *info, const Edge *edge)
{
    g_autofree char *from = node_name(info, edge->sender), *to = node_name(info, edge->receiver);
    g_autofree char *proto = printable(info, edge->proto);
    return g_strdup_printf("%s -> %s  %s", from, to, proto);
}

static char *proto_name(Info *info, const Edge *edge)
{
    return edge->proto ? printable(info, edge->proto) : g_strdup("(not said)");
}

static void print_protocols(Info *info, gboolean all)
{
    g_autoptr(GHashTable) protocols = g_hash_table_new_full(edge_hash, edge_equal, g_free, NULL);
    GHashTableIter iter;
    gpointer each;
    g_hash_table_iter_init(&iter, info->edges);
    while (g_hash_table_iter_next(&iter, &each, NULL)) {
        const Edge *edge = each;
        Edge key = {.proto = edge->proto};
        Edge *sum = g_hash_table_lookup(protocols, &key);
        if (!sum) {
            sum = g_memdup2(&key, sizeof key);
            g_hash_table_add(protocols, sum);
        }
        sum->calls += edge->calls;
        sum->returns += edge->returns;
        sum->frees += edge->frees;
        sum->errors += edge->errors;
    }
    g_autoptr(GPtrArray) rows = sorted(protocols, info->names);
    print_table("protocol", rows, proto_name, info, all);
}

// Of counters that are none of the capture's.
static const char *other_meaning(const char *name)
{
    const char *meaning = bb_importer_meaning(name);
    if (!meaning)
        meaning = bb_join_meaning(name);
    if (!meaning)
        meaning = bb_nat_meaning(name);
    if (strcmp(name, BB_CLOCK_ERROR) == 0)
        meaning = "nanoseconds that times of two observers may be wrong against each other";
    if (strcmp(name, BB_SIGHTINGS_APART) == 0)
        meaning = "messages that may be the same as another observer's, and were not joined";
    if (strcmp(name, BB_SIGHTINGS_TWICE) == 0)
        meaning = "messages that two observers saw, and that were not joined: they stand twice";
    if (strcmp(name, BB_CLOCKS_UNKNOWN) == 0)
        meaning = "observers whose clock could not be known";
    if (strcmp(name, BB_CLOCK_FALLS) == 0)
        meaning = "times that the clock stepped back by which others were corrected";
    if (strcmp(name, BB_CALLS_MERGED) == 0)
        meaning = "calls that the merge wrote";
    return meaning ? meaning : name;
}

static void print_counters(const BbCounters *counters)
{
    if (bb_counters_count(counters))
        puts("\nseen and lost by the capture");
    for (guint i = 0; i < bb_counters_count(counters); i++) {
        const char *name = bb_counters_name(counters, i);
        BbLossKind kind = bb_loss_find(name);
        g_autofree char *number = bb_number(bb_counters_value(counters, i));
        if (strcmp(name, BB_TRACE_LOST) == 0)
            printf("%14s  messages lost where the trace was damaged  (!)\n", number);
        else if (kind < BB_LOSS_COUNT)
            printf("%14s  %s%s\n", number, bb_loss_meaning(kind),
                   bb_loss_is_loss(kind) ? "  (!)" : "");
        else
            printf("%14s  %s\n", number, other_meaning(name));
    }
}

// ---- the rest -----------------------------------------------------------------------------------

// As people may see them on a terminal.
static void print_notes(const BbTraceReader *reader)
{
    for (guint i = 0; i < bb_trace_reader_notes(reader); i++) {
        g_autoptr(GString) text = g_string_new(NULL);
        bb_caption_append_plain(text, bb_trace_reader_note(reader, i), G_MAXSIZE);
        printf("%s%s\n", i ? "" : "\n", text->str);
    }
}

static guint count_nodes(const Info *info)
{
    GHashTableIter iter;
    gpointer key;
    g_autoptr(GHashTable) nodes = g_hash_table_new(NULL, NULL);
    g_hash_table_iter_init(&iter, info->edges);
    while (g_hash_table_iter_next(&iter, &key, NULL)) {
        g_hash_table_add(nodes, GUINT_TO_POINTER(((const Edge *)key)->sender));
        g_hash_table_add(nodes, GUINT_TO_POINTER(((const Edge *)key)->receiver));
    }
    g_hash_table_remove(nodes, GUINT_TO_POINTER(BB_NAME_NONE));
    return g_hash_table_size(nodes);
}

static guint64 count_inward(const Info *info)
{
    GHashTableIter iter;
    gpointer key;
    guint64 inward = 0;
    g_hash_table_iter_init(&iter, info->edges);
    while (g_hash_table_iter_next(&iter, &key, NULL)) {
        const Edge *edge = key;
        if (edge->sender == edge->receiver && edge->sender != BB_NAME_NONE)
            inward += edge->calls;
    }
    return inward;
}

static void print_info(Info *info, BbTraceReader *reader, gboolean all)
{
    static const char *const forms[] = {
        [BB_TRACE_BBT] = ".bbt", [BB_TRACE_TEXT] = "text", [BB_TRACE_RING] = "ring"};
    printf("%-12s%s\n", "form", forms[bb_trace_reader_form(reader)]);
    g_autofree char *messages = bb_number(bb_trace_reader_messages(reader));
    printf("%-12s%12s\n", "messages", messages);
    print_kinds(info);
    if (info->sightings) {
        g_autofree char *number = bb_number(info->sightings);
        printf("%-12s%12s  second sightings, at the other end\n", "seen twice", number);
    }
    if (info->first_ns != BB_TIME_NONE) {
        print_time("first", info->first_ns);
        print_time("last", info->last_ns);
        print_span(info->last_ns - info->first_ns);
    }
    printf("%-12s%12u\n", "nodes", count_nodes(info));
    if (g_hash_table_size(info->edges)) {
        print_protocols(info, all);
        g_autoptr(GPtrArray) rows = sorted(info->edges, info->names);
        print_table("edge", rows, edge_name, info, all);
    }
    print_notes(reader);
    bb_info_print_network(bb_trace_reader_network(reader), info->names, all ? G_MAXUINT : ROWS);
    print_counters(bb_trace_reader_counters(reader));
    const BbInfoMatched matched = {
        .messages = info->kinds[BB_CALL] + info->kinds[BB_RETURN] + info->kinds[BB_FREE],
        .calls = info->kinds[BB_CALL],
        .unreturned = info->unreturned - info->cut_off,
        .cut_off = info->cut_off,
        .orphans = info->orphans,
        .early = info->early,
        .inward = count_inward(info),
        .half_ns = bb_stats_quantile(info->lasted, 0.5),
        .damaged = bb_trace_reader_damage(reader) != NULL,
    };
    bb_info_print_trust(&matched, bb_trace_reader_counters(reader));
}

static int run(int argc, char **argv)
{
    gboolean skip = FALSE, all = FALSE;
    const GOptionEntry entries[] = {
        {"all", 'a', 0, G_OPTION_ARG_NONE, &all, "All rows of every table", NULL},
        {"skip-bad-lines", 0, 0, G_OPTION_ARG_NONE, &skip,
         "Count malformed lines of a text trace instead of stopping at them", NULL},
        {NULL, 0, 0, 0, NULL, NULL, NULL},
    };
    int status = BB_EXIT_DONE;
    if (!bb_options_parse("bbtrace info", "TRACE", "Tells what is in a trace.", NULL, entries,
                          &argc, &argv, &status))
        return status;
    if (argc != 2)
        return bb_say_one_trace("bbtrace info", argc < 2);
    g_auto(Info) info;
    info_init(&info);
    g_autoptr(GError) error = NULL;
    g_autoptr(BbTraceReader) reader = bb_trace_reader_open(argv[1], info.names, &error);
    if (reader) {
        bb_trace_reader_skip_bad_lines(reader, skip);
        (void)read_trace(&info, reader, &error);
        bb_say_trace_damage(reader);
        print_info(&info, reader, all);
    }
    if (error)
        bb_say_error("%s", error->message);
    return bb_end_stdout(error ? BB_EXIT_FAILED : BB_EXIT_DONE);
}

const BbCommand bb_command_info = {
    .name = "info",
    .arguments = "TRACE",
    .summary = "what is in a trace, and how far to trust it",
    .run = run,
};
