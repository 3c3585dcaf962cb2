// SPDX-License-Identifier: Apache-2.0
// In: a score of chains. Out: text for a terminal.
#include "data/caption.h"
#include "data/quantity.h"
#include "diagnose/cells.h"
#include "diagnose/chain_score.h"

#define ROWS 20u         // of pairs and paths
#define PAIR_COLUMNS 40u // of a pair
#define PATH_COLUMNS 92u // of a path

static void put_scope(GString *text, const BbChainScore *score)
{
    bb_quantity_append_counted(text, score->messages, "message");
    g_string_append(text, " scored");
    const struct {
        guint64 count;
        const char *what;
    } out[] = {
        {score->untold - score->circular, " without ground truth"},
        {score->circular, " whose ground truth goes round in a circle"},
    };
    for (gsize i = 0; i < G_N_ELEMENTS(out); i++) {
        if (out[i].count == 0)
            continue;
        g_string_append(text, "; left out: ");
        bb_quantity_append_counted(text, out[i].count, "message");
        g_string_append(text, out[i].what);
    }
    g_string_append_c(text, '\n');
}

static void put_messages(GString *text, const BbChainScore *score)
{
    if (!score->has_causes) {
        g_string_append(text, "\nCauses of messages: not inferred\n");
        return;
    }
    bb_cell_head(text, "Causes", "     share        right           of");
    bb_cell_right(text, "messages with a cause", score->caused);
    bb_cell_right(text, "roots, without one", score->roots);
    bb_cell_right(text, "cause lost, without one", score->lost);
    bb_cell_right(text, "of the causes found", score->found_causes);
    bb_cell_right(text, "of the roots found", score->found_roots);
}

static void put_half(GString *text, BbRight right)
{
    bb_cell_count(text, right.all);
    bb_cell_count(text, right.right);
    bb_cell_percent(text, bb_right_share(right));
}

static void put_fidelity(GString *text, const BbChainScore *score)
{
    static const char *const names[BB_CHAIN_KINDS] = {
        [BB_CHAIN_PAIRS] = "Pairs of edges",
        [BB_CHAIN_VERTICES] = "Vertices",
        [BB_CHAIN_DEEP] = "Vertices, two edges or more",
        [BB_CHAIN_PATHS] = "Complete paths",
    };
    for (guint kind = 0; kind < BB_CHAIN_KINDS; kind++) {
        bb_cell_head(text, names[kind],
                     "        found         true precision         true        found    recall");
        for (guint t = 0; t < BB_TIERS; t++) {
            g_string_append(text, "  ");
            bb_cell_left(text, bb_tiers[t].name, BB_CELL_LABEL - 2);
            put_half(text, score->fidelity[kind][t].found);
            put_half(text, score->fidelity[kind][t].real);
            g_string_append_c(text, '\n');
        }
    }
}

static void put_excess(GString *text, const char *label, BbExcess excess)
{
    bb_cell_right(text, label, (BbRight){excess.too_many, excess.found});
}

static void put_delay_error(GString *text, const char *label, const BbDelayError *error)
{
    g_string_append(text, "  ");
    bb_cell_left(text, label, BB_CELL_LABEL - 2);
    bb_cell_duration(text, error->mean_ns);
    bb_cell_duration(text, error->largest_ns);
    bb_cell_percent(text, error->largest);
    bb_cell_count(text, error->compared);
    g_string_append_c(text, '\n');
}

static void put_delays(GString *text, const BbChainScore *score)
{
    bb_cell_head(text, "Error of delays of pairs", "       mean    largest   largest           of");
    put_delay_error(text, "mean, as stated", &score->mean_delay);
    if (score->has_causes)
        put_delay_error(text, "median, between messages", &score->median_delay);
}

static void put_name(GString *caption, const char *before, const BbNames *names, guint32 name)
{
    g_string_append(caption, before);
    bb_caption_append(caption, bb_names_text(names, name), "?");
}

static void put_time(GString *text, gint64 ns)
{
    if (ns == BB_TIME_NONE)
        g_string_append_printf(text, "%11s", "-");
    else
        bb_cell_duration(text, ns);
}

static void put_pairs(GString *text, const BbChainScore *score, const BbNames *names)
{
    const GArray *pairs = score->pairs;
    g_string_append_c(text, '\n');
    bb_cell_left(text, "Pairs, most frequent first", PAIR_COLUMNS);
    g_string_append(text,
                    "        found         true     stated       true     median  true med.\n");
    for (guint i = 0; i < MIN(pairs->len, ROWS); i++) {
        const BbChainPair *pair = &g_array_index(pairs, BbChainPair, i);
        g_autoptr(GString) caption = g_string_new(NULL);
        put_name(caption, "  ", names, pair->from);
        put_name(caption, " -> ", names, pair->via);
        put_name(caption, " -> ", names, pair->to);
        bb_caption_elide(caption, PAIR_COLUMNS);
        bb_cell_left(text, caption->str, PAIR_COLUMNS);
        bb_cell_count(text, pair->found);
        bb_cell_count(text, pair->real);
        put_time(text, pair->stated_mean_ns);
        put_time(text, pair->real_mean_ns);
        put_time(text, pair->found_p50_ns);
        put_time(text, pair->real_p50_ns);
        g_string_append_c(text, '\n');
    }
    if (pairs->len > ROWS)
        g_string_append_printf(text, "  and %u more\n", pairs->len - ROWS);
}

static void put_paths(GString *text, const BbChainScore *score)
{
    g_string_append(text, "\n        found         true  complete path, numbers farthest apart "
                          "first\n");
    for (guint i = 0; i < MIN(score->paths->len, ROWS); i++) {
        const BbChainPath *path = &g_array_index(score->paths, BbChainPath, i);
        g_autoptr(GString) caption = g_string_new(path->caption);
        bb_caption_elide(caption, PATH_COLUMNS);
        bb_cell_count(text, path->found);
        bb_cell_count(text, path->real);
        g_string_append_printf(text, "  %s\n", caption->str);
    }
}

void bb_chain_score_write_text(const BbChainScore *score, const BbNames *names, FILE *out)
{
    g_autoptr(GString) text = g_string_new(NULL);
    put_scope(text, score);
    put_messages(text, score);
    put_fidelity(text, score);
    bb_cell_head(text, "Counted too often", "     share     too many           of");
    put_excess(text, "vertices, two edges or more", score->deep_excess);
    put_excess(text, "complete paths", score->path_excess);
    put_delays(text, score);
    if (score->confidence.stated > 0)
        bb_cell_calibration(text, "Confidence of causes", &score->confidence);
    put_pairs(text, score, names);
    put_paths(text, score);
    (void)fwrite(text->str, 1, text->len, out);
}
