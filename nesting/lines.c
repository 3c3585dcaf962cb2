// SPDX-License-Identifier: Apache-2.0
// In: the calls to a node, by their connections. Out: the lines that these stand in.
//
// A descent, from several beginnings: one connection after the other goes to the line in which the
// calls of both lines last the most alike. A connection finds most of its own soon, as what each of
// them does makes the others wait. Half of the calls, or more, are not looked at before, but for
// connections that come later: they must show the same.
#include "nesting/lines.h"

#include <math.h>

#include "data/call.h"
#include "data/random.h"
#include "data/tally.h"

#define SAMPLE_EACH 48u      // calls that are looked at, where most are open, for a connection;
#define SAMPLE_LEAST 1024u   // of all of them, but half of all calls at most,
#define SAMPLE_MOST 4096u    // and so many
#define FEWEST 12u           // calls on a connection by which its line can be told
#define CONNECTIONS_LEAST 3u // in a sample
#define CONNECTIONS_MOST 64u
#define WORKERS_MOST 16u       // of each line
#define KINDS 32u              // of calls; others share the last
#define BINS (BB_GAP_BINS + 2) // of how long those of one last: an empty one on either side
#define SWEEPS 8u
#define STARTS 6u     // for each number of workers
#define FAR 0.3       // share of the best gain by which a start misses it
#define ROUNDS 4u     // of merging lines
#define HINT_LINES 4u // of a short look, and half of that,
#define HINT_SWEEPS 4u
#define HINT 0.1    // which must make calls last more alike by so much, in nats a call;
#define GAIN 0.2    // and the result by so much, where it was not looked for
#define BEYOND 0.02 // share of the calls that may reply before their turn; while it is looked for
#define BEYOND_COST \
    0.01 // each costs so much, in nats: or nothing would tell where lines that never wait end
#define BETTER 1e-6 // nats in all, by which a connection goes to another line,
#define PLACED 4.0  // and one that was not in the sample to the first
#define MOVED 0.5   // in a short look: noise moves somebody for ever
#define PLACED_SWEEPS 2u
#define ALL_LINES G_MAXUINT

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(BbTally, bb_tally_clear)

// A connection of a sample.
typedef struct {
    guint32 name, line;
    bool known; // its line is, already
} Conn;

// A call on one of them.
typedef struct {
    const BbServed *served;
    guint16 conn; // place among conns
    guint16 bin;  // of how long it lasts from its turn on, and of its kind
    bool beyond;  // it replied before its turn
} Dealt;

// How connections are dealt out to lines, and how much alike calls last then.
typedef struct {
    guint workers, n_lines;
    GArray *calls;  // of Dealt, in order of arrival
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
    g_array_unref(deal->calls);
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
    gint64 lasts = bb_time_between(begun, served->e) / BB_SERVED_UNIT_NS;
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

static void note(Deal *deal, Dealt *call, guint bin, bool beyond)
{
    if (beyond != call->beyond)
        deal->sum += beyond ? BEYOND_COST : -BEYOND_COST;
    call->beyond = beyond;
    if (bin == call->bin)
        return;
    take_out(deal, call->bin);
    put_in(deal, bin);
    call->bin = (guint16)bin;
}

// One of a set of lines, or of those without.
static guint bit_of(guint32 line)
{
    return 1u << MIN(line, BB_SERVED_LINES);
}

// The calls of a set of lines have their turns anew.
static void deal_again(Deal *deal, guint lines)
{
    BbTurns turns[BB_SERVED_LINES];
    for (guint line = 0; line < BB_SERVED_LINES; line++) {
        turns[line].n = 0;
        turns[line].workers = deal->workers;
    }
    for (guint32 i = 0; i < deal->calls->len; i++) {
        Dealt *call = &g_array_index(deal->calls, Dealt, i);
        const BbServed *served = call->served;
        guint32 line = conn_at(deal, call->conn)->line;
        if (!(lines & bit_of(line)))
            continue;
        gint64 turn = served->s;
        if (line != BB_SERVED_NO_LINE) {
            turn = bb_turns_next(&turns[line], served);
            bb_turns_reply(&turns[line], served->e);
        }
        bool beyond = turn > served->e;
        note(deal, call, bin_of(deal, served, beyond ? served->s : turn), beyond);
    }
}

// Whether the connection is better off in that line; there it stays then.
static bool try_line(Deal *deal, Conn *conn, guint32 line, double least)
{
    guint32 was = conn->line;
    double before = deal->sum;
    conn->line = line;
    deal_again(deal, bit_of(was) | bit_of(line));
    if (deal->sum < before - least)
        return true;
    conn->line = was;
    deal_again(deal, bit_of(was) | bit_of(line));
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
    deal_again(deal, bit_of(to));
    if (deal->sum < before - BETTER)
        return true;
    for (guint c = 0; c < deal->conns->len; c++)
        conn_at(deal, c)->line = was[c];
    deal_again(deal, bit_of(from) | bit_of(to));
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
    deal_again(deal, ALL_LINES);
}

// ---- the sample --------------------------------------------------------------------------------

static BbTallyKey key_of(guint32 conn)
{
    return (BbTallyKey){conn, 0, 0};
}

// How many calls there are on each connection.
static void count_calls(const BbServed *served, guint32 n, BbTally *counts)
{
    for (guint32 i = 0; i < n; i++)
        if (served[i].conn != 0)
            ++*bb_tally_at(counts, key_of(served[i].conn));
}

// The connections that have enough of them, and those in lines, where it is one more than a known
// line; their calls. In counts, their places from 1.
static void find_conns(Deal *deal, const BbServed *served, guint32 n, const BbTally *lines)
{
    g_auto(BbTally) counts, places;
    bb_tally_init(&counts);
    bb_tally_init(&places);
    count_calls(served, n, &counts);
    for (guint32 i = 0; i < n; i++) {
        BbTallyKey key = key_of(served[i].conn);
        guint64 line = bb_tally_get(lines, key), calls = bb_tally_get(&counts, key);
        if (calls == 0 || (line == 0 && calls < FEWEST))
            continue;
        guint64 *place = bb_tally_at(&places, key);
        if (*place == 0) {
            Conn conn = {key.a, line > 0 ? (guint32)line - 1 : BB_SERVED_NO_LINE, line > 0};
            g_array_append_val(deal->conns, conn);
            *place = deal->conns->len;
        }
        Dealt call = {.served = &served[i], .conn = (guint16)(*place - 1)};
        g_array_append_val(deal->calls, call);
    }
}

// Nobody waits yet. n: SAMPLE_MOST at most.
static Deal *deal_new(const BbServed *served, guint32 n, const BbTally *lines,
                      const BbGapScale *scale)
{
    Deal *deal = g_new0(Deal, 1);
    deal->calls = g_array_new(FALSE, FALSE, sizeof(Dealt));
    deal->conns = g_array_new(FALSE, FALSE, sizeof(Conn));
    deal->count = g_new0(guint32, KINDS * BINS);
    deal->scale = scale;
    deal->log = g_new0(double, 2 * (gsize)n + 1);
    for (guint32 i = 1; i <= 2 * n; i++)
        deal->log[i] = log(i);
    find_conns(deal, served, n, lines);
    for (guint32 i = 0; i < deal->calls->len; i++) {
        Dealt *call = &g_array_index(deal->calls, Dealt, i);
        call->bin = (guint16)bin_of(deal, call->served, call->served->s);
        put_in(deal, call->bin);
    }
    deal->alone = deal->sum;
    return deal;
}

// Where one that arrives finds the most open, of n calls: the first of so many.
static guint32 busiest_of(const BbServed *served, guint32 n, guint32 sample)
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
    g_auto(BbTally) conns;
    bb_tally_init(&conns);
    guint32 enough = 0;
    for (guint32 i = 0; i < n && enough < SAMPLE_MOST; i++)
        if (served[i].conn != 0 && ++*bb_tally_at(&conns, key_of(served[i].conn)) == 1)
            enough += SAMPLE_EACH;
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
    Best best = {.sum = deal->alone - HINT * deal->calls->len};
    for (guint i = 0; i < G_N_ELEMENTS(workers); i++) {
        for (guint lines = HINT_LINES; lines > 1; lines /= 2) {
            deal_by_chance(deal, workers[i], lines, workers[i]);
            descend(deal, HINT_SWEEPS, MOVED);
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

static void remember(const Deal *deal, BbTally *lines)
{
    for (guint c = 0; c < deal->conns->len; c++) {
        const Conn *conn = conn_at(deal, c);
        if (conn->line != BB_SERVED_NO_LINE)
            *bb_tally_at(lines, key_of(conn->name)) = conn->line + 1;
    }
}

static void remember_best(Deal *deal, const Best *best, BbTally *lines)
{
    for (guint c = 0; c < deal->conns->len; c++)
        conn_at(deal, c)->line = best->line[c];
    remember(deal, lines);
}

// How many connections there are that have enough calls, and no line.
static guint count_new(const BbServed *served, guint32 n, const BbTally *lines, BbTally *counts)
{
    guint n_new = 0;
    bb_tally_reset(counts);
    for (guint32 i = 0; i < n; i++) {
        BbTallyKey key = key_of(served[i].conn);
        if (key.a != 0 && bb_tally_get(lines, key) == 0)
            n_new += ++*bb_tally_at(counts, key) == FEWEST;
    }
    return n_new;
}

// Connections that the sample does not have, stretch by stretch.
static void place_others(const BbServed *served, guint32 n, guint workers, BbTally *lines,
                         const BbGapScale *scale)
{
    g_auto(BbTally) counts;
    bb_tally_init(&counts);
    for (guint32 first = 0; first < n; first += SAMPLE_MOST) {
        guint32 stretch = MIN(SAMPLE_MOST, n - first);
        guint n_new = count_new(served + first, stretch, lines, &counts);
        if (n_new == 0 || n_new > CONNECTIONS_MOST)
            continue;
        g_autoptr(Deal) deal = deal_new(served + first, stretch, lines, scale);
        deal->workers = workers;
        deal->n_lines = BB_SERVED_LINES;
        deal_again(deal, ALL_LINES);
        descend(deal, PLACED_SWEEPS, PLACED);
        remember(deal, lines);
    }
}

static void set_lines(BbServed *served, guint32 n, const BbTally *lines)
{
    for (guint32 i = 0; i < n; i++) {
        guint64 line = bb_tally_get(lines, key_of(served[i].conn));
        served[i].line = line > 0 ? (guint32)line - 1 : BB_SERVED_NO_LINE;
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
    if (n < 2 * CONNECTIONS_LEAST * FEWEST)
        return 0;
    guint32 sample = sample_of(served, n), first = busiest_of(served, n, sample);
    g_auto(BbTally) lines;
    bb_tally_init(&lines);
    g_autoptr(Deal) deal = deal_new(served + first, sample, &lines, scale);
    if (deal->conns->len < CONNECTIONS_LEAST || deal->conns->len > CONNECTIONS_MOST)
        return 0;
    Best best = find_hint(deal);
    if (best.workers == 0)
        return 0;
    remember_best(deal, &best, &lines);
    set_lines(served, n, &lines);
    if (!holds(served, n, first, sample, sample / 2, best.workers, HINT))
        return 0;
    find_best(deal, &best);
    remember_best(deal, &best, &lines);
    place_others(served, n, best.workers, &lines, scale);
    set_lines(served, n, &lines);
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
