// SPDX-License-Identifier: Apache-2.0
// In: the calls to a node, by their connections. Out: the lines that these stand in.
//
// A descent, from several beginnings: one connection after the other goes to the line in which the
// calls of both lines last the most alike. A connection finds most of its own soon, as what each of
// them does makes the others wait. Half of the calls, or more, are not looked at before: they must
// show the same.
#include "nesting/lines.h"

#include <math.h>

#include "data/call.h"
#include "data/random.h"

#define SAMPLE_EACH 48u      // calls that are looked at, where most are open, for a connection;
#define SAMPLE_LEAST 1024u   // of all of them, but half of all calls at most,
#define SAMPLE_MOST 4096u    // and so many
#define FEWEST 12u           // calls on a connection by which its line can be told
#define CONNECTIONS_LEAST 3u // in a sample
#define CONNECTIONS_MOST 64u
#define WORKERS_MOST 16u       // of each line
#define KINDS 32u              // of calls; others share the last
#define BINS (BB_GAP_BINS + 2) // of how long those of one last: an empty one on either side
#define UNIT_NS 1000           // times are no finer than that
#define SWEEPS 8u
#define STARTS 6u     // for each number of workers
#define FAR 0.3       // share of the best gain by which a start misses it
#define ROUNDS 4u     // of merging lines
#define HINT_LINES 4u // of a short look, and half of that,
#define HINT 0.1      // which must make calls last more alike by so much, in nats a call;
#define GAIN 0.2      // and the result by so much, where it was not looked for
#define BEYOND 0.02   // share of the calls that may reply before their turn; while it is looked for
#define BEYOND_COST \
    0.01 // each costs so much, in nats: or nothing would tell where lines that never wait end
#define BETTER 1e-6 // nats in all, by which a connection goes to another line,
#define PLACED 4.0  // and one that was not in the sample to the first
#define NOT_LOOKED_AT G_MAXUINT16

// A connection of a sample.
typedef struct {
    guint32 name, line;
    guint32 n;  // calls
    bool known; // its line is, already
} Conn;

// How connections are dealt out to lines, and how much alike calls last then.
typedef struct {
    const BbServed *served; // in order of arrival
    guint32 n, counted;     // calls; those on a connection that is looked at
    guint workers, n_lines;
    guint16 *conn;  // [call]: place among conns, or NOT_LOOKED_AT
    guint16 *bin;   // [call]: of how long it lasts from its turn on, and of its kind
    bool *beyond;   // [call]: it replied before its turn
    GArray *conns;  // of Conn
    guint32 *count; // [bin]: calls
    const BbGapScale *scale;
    double *log;  // of numbers
    double sum;   // over calls: log of what the width of its bin is to the calls around it,
                  // and what it costs to reply before one's turn
    double alone; // the same where nobody waits
} Deal;

static void deal_free(Deal *deal)
{
    if (!deal)
        return;
    g_free(deal->conn);
    g_free(deal->bin);
    g_free(deal->beyond);
    g_array_unref(deal->conns);
    g_free(deal->count);
    g_free(deal->log);
    g_free(deal);
}
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Deal, deal_free)

static Conn *conn_at(const Deal *deal, guint c)
{
    return &g_array_index(deal->conns, Conn, c);
}

// ---- how much alike calls last -----------------------------------------------------------------

static guint bin_of(const Deal *deal, const BbServed *served, gint64 begun)
{
    gint64 lasts = bb_time_between(begun, served->e) / UNIT_NS;
    return MIN(served->kind, KINDS - 1) * BINS + 1 + bb_gap_bin(deal->scale, lasts);
}

static double width_of(const Deal *deal, guint bin)
{
    return (double)deal->scale->log_width[bin % BINS - 1];
}

// What the calls of a bin have in the sum but for its width: smoothed over those beside it.
static double term(const Deal *deal, guint bin)
{
    guint32 n = deal->count[bin];
    return n * deal->log[deal->count[bin - 1] + 2 * n + deal->count[bin + 1]];
}

static double terms(const Deal *deal, guint bin)
{
    return (bin > 1 ? term(deal, bin - 1) : 0) + term(deal, bin) +
           (bin + 2 < KINDS * BINS ? term(deal, bin + 1) : 0);
}

static void put_in(Deal *deal, guint bin)
{
    double before = terms(deal, bin);
    deal->count[bin]++;
    deal->sum += width_of(deal, bin) - terms(deal, bin) + before;
}

static void take_out(Deal *deal, guint bin)
{
    double before = terms(deal, bin);
    deal->count[bin]--;
    deal->sum -= width_of(deal, bin) + terms(deal, bin) - before;
}

// ---- dealing -----------------------------------------------------------------------------------

static void turns_start(const Deal *deal, BbTurns turns[BB_SERVED_LINES])
{
    for (guint line = 0; line < BB_SERVED_LINES; line++) {
        turns[line].n = 0;
        turns[line].workers = deal->workers;
    }
}

static void note(Deal *deal, guint32 i, guint bin, bool beyond)
{
    if (beyond != deal->beyond[i])
        deal->sum += beyond ? BEYOND_COST : -BEYOND_COST;
    deal->beyond[i] = beyond;
    if (bin == deal->bin[i])
        return;
    take_out(deal, deal->bin[i]);
    put_in(deal, bin);
    deal->bin[i] = (guint16)bin;
}

// The calls of two lines, or of none, have their turns anew.
static void deal_again(Deal *deal, guint32 one, guint32 other)
{
    BbTurns turns[BB_SERVED_LINES];
    turns_start(deal, turns);
    for (guint32 i = 0; i < deal->n; i++) {
        const BbServed *served = &deal->served[i];
        guint32 line =
            deal->conn[i] == NOT_LOOKED_AT ? BB_SERVED_NO_LINE : conn_at(deal, deal->conn[i])->line;
        if (deal->conn[i] == NOT_LOOKED_AT || (line != one && line != other))
            continue;
        gint64 turn = served->s;
        if (line != BB_SERVED_NO_LINE) {
            turn = bb_turns_next(&turns[line], served);
            bb_turns_reply(&turns[line], served->e);
        }
        bool beyond = turn > served->e;
        note(deal, i, bin_of(deal, served, beyond ? served->s : turn), beyond);
    }
}

// Whether the connection is better off in that line; there it stays then.
static bool try_line(Deal *deal, Conn *conn, guint32 line, double least)
{
    guint32 was = conn->line;
    double before = deal->sum;
    conn->line = line;
    deal_again(deal, was, line);
    if (deal->sum < before - least)
        return true;
    conn->line = was;
    deal_again(deal, was, line);
    deal->sum = before;
    return false;
}

static void descend(Deal *deal, guint sweeps, double least)
{
    bool any = true;
    for (guint sweep = 0; any && sweep < sweeps; sweep++) {
        any = false;
        for (guint c = 0; c < deal->conns->len; c++) {
            Conn *conn = conn_at(deal, c);
            for (guint32 line = 0; !conn->known && line < deal->n_lines; line++)
                any |= line != conn->line && try_line(deal, conn, line, least);
        }
    }
}

// All of one line go to another one, where that is better.
static bool merge(Deal *deal, guint32 from, guint32 to)
{
    g_autofree guint32 *was = g_new(guint32, deal->conns->len);
    double before = deal->sum;
    bool any = false;
    for (guint c = 0; c < deal->conns->len; c++) {
        Conn *conn = conn_at(deal, c);
        was[c] = conn->line;
        any |= conn->line == from;
        conn->line = conn->line == from ? to : conn->line;
    }
    if (!any)
        return false;
    deal_again(deal, to, to);
    if (deal->sum < before - BETTER)
        return true;
    for (guint c = 0; c < deal->conns->len; c++)
        conn_at(deal, c)->line = was[c];
    deal_again(deal, from, to);
    deal->sum = before;
    return false;
}

// Lines that began as parts of one find together.
static void descend_and_merge(Deal *deal)
{
    bool any = true;
    for (guint round = 0; any && round < ROUNDS; round++) {
        any = false;
        descend(deal, SWEEPS, BETTER);
        for (guint32 a = 0; a < deal->n_lines; a++)
            for (guint32 b = 0; b < deal->n_lines; b++)
                any |= a != b && merge(deal, a, b);
    }
}

static void deal_by_chance(Deal *deal, guint workers, guint n_lines, guint64 seed)
{
    BbRandom random = bb_random_start(seed);
    deal->workers = workers;
    deal->n_lines = n_lines;
    for (guint c = 0; c < deal->conns->len; c++)
        conn_at(deal, c)->line = (guint32)bb_random_below(&random, n_lines);
    for (guint line = 0; line < n_lines; line++)
        deal_again(deal, line, line);
}

// ---- the sample --------------------------------------------------------------------------------

// The connections of the calls that have enough of them. lines: [name] -> line + 1 of those known.
static void find_conns(Deal *deal, GHashTable *lines)
{
    g_autoptr(GHashTable) places = g_hash_table_new(NULL, NULL);
    g_autoptr(GArray) all = g_array_new(FALSE, FALSE, sizeof(Conn));
    g_autofree guint32 *place = g_new(guint32, deal->n + 1), *kept = NULL;
    for (guint32 i = 0; i < deal->n; i++) {
        guint32 name = deal->served[i].conn;
        gpointer key = GUINT_TO_POINTER(name);
        place[i] = GPOINTER_TO_UINT(g_hash_table_lookup(places, key));
        if (place[i] == 0) {
            guint32 line = GPOINTER_TO_UINT(g_hash_table_lookup(lines, key));
            Conn conn = {name, line > 0 ? line - 1 : BB_SERVED_NO_LINE, 0, line > 0};
            g_array_append_val(all, conn);
            place[i] = all->len;
            g_hash_table_insert(places, key, GUINT_TO_POINTER(place[i]));
        }
        g_array_index(all, Conn, place[i] - 1).n += name != 0;
    }
    kept = g_new(guint32, all->len + 1);
    for (guint c = 0; c < all->len; c++) {
        const Conn *conn = &g_array_index(all, Conn, c);
        bool keep = conn->n > 0 && (conn->known || conn->n >= FEWEST);
        kept[c] = keep && deal->conns->len < NOT_LOOKED_AT ? deal->conns->len : NOT_LOOKED_AT;
        if (kept[c] != NOT_LOOKED_AT)
            g_array_append_val(deal->conns, *conn);
    }
    for (guint32 i = 0; i < deal->n; i++)
        deal->conn[i] = (guint16)kept[place[i] - 1];
}

// Nobody waits yet.
static Deal *deal_new(const BbServed *served, guint32 n, GHashTable *lines, const BbGapScale *scale)
{
    Deal *deal = g_new0(Deal, 1);
    deal->served = served;
    deal->n = n;
    deal->conn = g_new(guint16, (gsize)n + 1);
    deal->bin = g_new(guint16, (gsize)n + 1);
    deal->beyond = g_new0(bool, (gsize)n + 1);
    deal->conns = g_array_new(FALSE, FALSE, sizeof(Conn));
    deal->count = g_new0(guint32, KINDS * BINS);
    deal->scale = scale;
    deal->log = g_new0(double, 4 * (gsize)n + 1);
    for (guint32 i = 1; i <= 4 * n; i++)
        deal->log[i] = log(i);
    find_conns(deal, lines);
    for (guint32 i = 0; i < n; i++) {
        if (deal->conn[i] == NOT_LOOKED_AT)
            continue;
        deal->counted++;
        deal->bin[i] = (guint16)bin_of(deal, &served[i], served[i].s);
        put_in(deal, deal->bin[i]);
    }
    deal->alone = deal->sum;
    return deal;
}

// Where one that arrives finds the most open, of n calls: the first of so many.
static guint32 find_busiest(const BbServed *served, guint32 n, guint32 sample)
{
    double most = -1;
    guint32 busiest = 0;
    for (guint32 first = 0; n - first >= sample; first += sample) {
        double lasts = 0, between = 1;
        for (guint32 i = first; i < first + sample; i++)
            lasts += (double)bb_time_between(served[i].s, served[i].e);
        between += (double)bb_time_between(served[first].s, served[first + sample - 1].s);
        busiest = lasts / between > most ? first : busiest;
        most = MAX(most, lasts / between);
    }
    return busiest;
}

static guint32 sample_of(const BbServed *served, guint32 n)
{
    g_autoptr(GHashTable) conns = g_hash_table_new(NULL, NULL);
    guint32 enough = 0;
    for (guint32 i = 0; i < n && enough < SAMPLE_MOST; i++) {
        if (served[i].conn != 0)
            g_hash_table_add(conns, GUINT_TO_POINTER(served[i].conn));
        enough = SAMPLE_EACH * g_hash_table_size(conns);
    }
    return MIN(n / 2, CLAMP(enough, SAMPLE_LEAST, SAMPLE_MOST));
}

// ---- the search --------------------------------------------------------------------------------

// The best that was found.
typedef struct {
    double sum;
    guint workers;
    guint32 line[CONNECTIONS_MOST];
} Best;

static void note_best(const Deal *deal, Best *best)
{
    if (deal->sum >= best->sum)
        return;
    best->sum = deal->sum;
    best->workers = deal->workers;
    for (guint c = 0; c < deal->conns->len; c++)
        best->line[c] = conn_at(deal, c)->line;
}

// A short look with several numbers of workers.
static Best find_hint(Deal *deal)
{
    static const guint workers[] = {1, 2, 3, 4, 6, 8, 12, 16};
    Best best = {.sum = deal->alone - HINT * deal->counted};
    for (guint i = 0; i < G_N_ELEMENTS(workers); i++) {
        for (guint lines = HINT_LINES; lines > 1; lines /= 2) {
            deal_by_chance(deal, workers[i], lines, workers[i]);
            descend(deal, SWEEPS / 2, BETTER);
            note_best(deal, &best);
        }
    }
    return best;
}

// Whether more beginnings with as many workers are worth it: not where one led to the best again,
// or the first ones far from it.
static bool goes_on(const Deal *deal, const Best *best, double was, guint start)
{
    bool again = fabs(deal->sum - was) < BETTER;
    return !again &&
           (start + 1 < STARTS / 3 || deal->sum - best->sum < FAR * (deal->alone - best->sum));
}

// A longer one, with about as many.
static void find_best(Deal *deal, Best *best)
{
    guint least = (best->workers + 1) / 2, most = MIN(2 * best->workers, WORKERS_MOST);
    for (guint workers = least; workers <= most; workers++) {
        bool more = true;
        for (guint start = 0; more && start < STARTS; start++) {
            double was = best->sum;
            deal_by_chance(deal, workers, BB_SERVED_LINES, workers * STARTS + start);
            descend_and_merge(deal);
            note_best(deal, best);
            more = goes_on(deal, best, was, start);
        }
    }
}

// ---- the rest of the calls ---------------------------------------------------------------------

static void remember(const Deal *deal, GHashTable *lines)
{
    for (guint c = 0; c < deal->conns->len; c++) {
        const Conn *conn = conn_at(deal, c);
        if (conn->line != BB_SERVED_NO_LINE)
            g_hash_table_insert(lines, GUINT_TO_POINTER(conn->name),
                                GUINT_TO_POINTER(conn->line + 1));
    }
}

static void remember_best(Deal *deal, const Best *best, GHashTable *lines)
{
    for (guint c = 0; c < deal->conns->len; c++)
        conn_at(deal, c)->line = best->line[c];
    remember(deal, lines);
}

// Connections that the sample does not have, stretch by stretch.
static void place_others(const BbServed *served, guint32 n, guint workers, GHashTable *lines,
                         const BbGapScale *scale)
{
    for (guint32 first = 0; first < n; first += SAMPLE_MOST) {
        g_autoptr(Deal) deal = deal_new(served + first, MIN(SAMPLE_MOST, n - first), lines, scale);
        guint n_new = 0;
        for (guint c = 0; c < deal->conns->len; c++)
            n_new += !conn_at(deal, c)->known;
        if (n_new == 0 || n_new > CONNECTIONS_MOST)
            continue;
        deal->workers = workers;
        deal->n_lines = BB_SERVED_LINES;
        for (guint line = 0; line < BB_SERVED_LINES; line++)
            deal_again(deal, line, line);
        descend(deal, SWEEPS, PLACED);
        remember(deal, lines);
    }
}

static void set_lines(BbServed *served, guint32 n, GHashTable *lines)
{
    for (guint32 i = 0; i < n; i++) {
        guint32 line =
            served[i].conn == 0
                ? 0
                : GPOINTER_TO_UINT(g_hash_table_lookup(lines, GUINT_TO_POINTER(served[i].conn)));
        served[i].line = line > 0 ? line - 1 : BB_SERVED_NO_LINE;
    }
}

// Whether calls beside the sample, so many at most, at which nobody has looked, last more alike by
// so much each.
static bool holds(const BbServed *served, guint32 n, guint32 first, guint32 sample, guint32 most,
                  guint workers, double least)
{
    bool before = first > n - first - sample;
    guint32 from = before ? first - MIN(first, most) : first + sample;
    guint32 others = before ? first - from : MIN(n - from, most);
    g_autofree gint64 *begun = g_new(gint64, (gsize)others + 1);
    bb_served_begin(served + from, others, workers, begun, NULL);
    return bb_served_entropy(served + from, others, NULL) -
               bb_served_entropy(served + from, others, begun) >=
           least * others;
}

static bool are_in_turn(const BbServed *served, guint32 n, guint workers)
{
    g_autofree gint64 *begun = g_new(gint64, (gsize)n + 1);
    return bb_served_begin(served, n, workers, begun, NULL) <= BEYOND * n;
}

static guint find(BbServed *served, guint32 n, const BbGapScale *scale)
{
    guint32 sample = sample_of(served, n), first = find_busiest(served, n, MAX(sample, 1));
    g_autoptr(GHashTable) lines = g_hash_table_new(NULL, NULL);
    g_autoptr(Deal) deal = deal_new(served + first, sample, lines, scale);
    if (deal->conns->len < CONNECTIONS_LEAST || deal->conns->len > CONNECTIONS_MOST)
        return 0;
    Best best = find_hint(deal);
    if (best.workers == 0)
        return 0;
    remember_best(deal, &best, lines);
    set_lines(served, n, lines);
    if (!holds(served, n, first, sample, sample / 2, best.workers, HINT))
        return 0;
    find_best(deal, &best);
    remember_best(deal, &best, lines);
    place_others(served, n, best.workers, lines, scale);
    set_lines(served, n, lines);
    bool good = holds(served, n, first, sample, SAMPLE_MOST, best.workers, GAIN) &&
                are_in_turn(served, n, best.workers);
    return good ? best.workers : 0;
}

guint bb_lines_find(BbServed *served, guint32 n, const BbGapScale *scale)
{
    guint workers = find(served, n, scale);
    for (guint32 i = 0; workers == 0 && i < n; i++)
        served[i].line = 0;
    return workers;
}
