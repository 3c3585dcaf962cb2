// SPDX-License-Identifier: Apache-2.0
// In: windows of an inference, and the truth. Out: how right links, requests and nodes are.
#include "diagnose/score.h"

#include "data/keys.h"
#include "diagnose/score_parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct BbScoring {
    const BbNames *names;
    BbForestOptions options;
    BbLinks *links;
};

BbScoring *bb_scoring_new(const BbNames *names, const BbForestOptions *options)
{
    BbScoring *scoring = g_new(BbScoring, 1);
    *scoring = (BbScoring){names, *options, bb_links_new()};
    return scoring;
}

void bb_scoring_free(BbScoring *scoring)
{
    if (!scoring)
        return;
    bb_links_free(scoring->links);
    g_free(scoring);
}

void bb_scoring_add(BbScoring *scoring, const BbPaths *paths, BbTruth *truth)
{
    bb_links_add(scoring->links, paths, truth);
}

double bb_right_share(BbRight right)
{
    return right.all ? (double)right.right / (double)right.all : NAN;
}

static void count(BbRight *right, bool is_right)
{
    right->all++;
    right->right += is_right;
}

// ---- links --------------------------------------------------------------------------------------

static int by_wrong_links(gconstpointer a, gconstpointer b, gpointer names)
{
    const BbScoreEdge *x = a, *y = b;
    guint64 x_wrong = x->links.all - x->links.right, y_wrong = y->links.all - y->links.right;
    if (x_wrong != y_wrong)
        return x_wrong > y_wrong ? -1 : 1;
    int order = strcmp(bb_names_text(names, x->caller), bb_names_text(names, y->caller));
    return order ? order : strcmp(bb_names_text(names, x->callee), bb_names_text(names, y->callee));
}

static BbScoreEdge *edge_of(BbScore *score, GHashTable *places, const BbCall *call)
{
    guint64 key = (guint64)call->caller << 32 | call->callee;
    guint place = GPOINTER_TO_UINT(g_hash_table_lookup(places, &key));
    if (place == 0) {
        BbScoreEdge edge = {call->caller, call->callee, {0, 0}};
        g_array_append_val(score->edges, edge);
        place = score->edges->len;
        g_hash_table_insert(places, g_memdup2(&key, sizeof key), GUINT_TO_POINTER(place));
    }
    return &g_array_index(score->edges, BbScoreEdge, place - 1);
}

static void judge_unanswered(BbScore *score, const BbLinks *links)
{
    double stated = 0;
    for (guint32 i = 0; i < links->unanswered->len; i++) {
        const BbLink *link = &g_array_index(links->unanswered, BbLink, i);
        count(&score->unanswered, link->right);
        stated += link->confidence < 0 ? NAN : (double)link->confidence;
    }
    score->unanswered_stated = stated / (double)score->unanswered.all;
    score->beneath = (BbRight){links->beneath_right, links->beneath};
}

static void judge_links(BbScore *score, const BbTrial *trial)
{
    g_autoptr(GHashTable) places =
        g_hash_table_new_full(bb_pair_key_hash, g_int64_equal, g_free, NULL);
    BbRight *const kinds[] = {
        [BB_LINK_ROOT] = &score->roots,
        [BB_LINK_CHILD] = &score->children,
        [BB_LINK_LOST] = &score->lost,
    };
    for (guint32 i = 0; i < trial->links->links->len; i++) {
        const BbLink *link = bb_links_at(trial->links, i);
        if (link->truth == BB_LINK_UNTOLD)
            continue;
        count(&score->links, link->right);
        count(kinds[link->truth], link->right);
        count(&edge_of(score, places, &link->call)->links, link->right);
        bb_calibration_add(&score->link_confidence, (double)link->confidence, link->right);
    }
    judge_unanswered(score, trial->links);
    score->calls = score->links.all;
    score->unreturned = trial->links->unreturned;
    score->untold = trial->links->untold;
    score->circular = trial->links->circular;
    g_array_sort_with_data(score->edges, by_wrong_links, (gpointer)trial->names);
}

// ---- requests -----------------------------------------------------------------------------------

enum { SEEN = 1, SPOILT = 2 };

// A request is right when all its calls are, and none of another was hung below one of them.
static void judge_requests(BbScore *score, const BbTrial *trial)
{
    g_autofree guint8 *requests = g_new0(guint8, trial->links->n_requests);
    for (guint32 i = 0; i < trial->links->links->len; i++) {
        const BbLink *link = bb_links_at(trial->links, i);
        if (link->truth == BB_LINK_UNTOLD)
            continue;
        requests[link->request] |= link->right ? SEEN : SEEN | SPOILT;
        if (!link->right && link->found != BB_CALL_NO_PARENT)
            requests[bb_links_at(trial->links, link->found)->request] |= SPOILT;
    }
    for (guint32 i = 0; i < trial->links->n_requests; i++)
        if (requests[i] & SEEN)
            count(&score->requests, !(requests[i] & SPOILT));
}

// ---- nodes --------------------------------------------------------------------------------------

typedef struct {
    BbScoreNode score;
    guint64 found_ns, real_ns;
} Node;

static void add_ns(guint64 *sum, guint64 ns)
{
    if (__builtin_add_overflow(*sum, ns, sum))
        *sum = G_MAXUINT64;
}

static int by_name(gconstpointer a, gconstpointer b, gpointer names)
{
    const BbScoreNode *x = a, *y = b;
    return strcmp(bb_names_text(names, x->node), bb_names_text(names, y->node));
}

// Which calls have other children than they should. The caller frees.
static bool *find_wrong_steps(const BbTrial *trial)
{
    bool *wrong = g_new0(bool, trial->found->n);
    for (guint32 k = 0; k < trial->found->n_order; k++) {
        guint32 call = trial->found->order[k];
        guint32 found = trial->found->parent[call], real = trial->real->parent[call];
        if (found == real)
            continue;
        if (found != BB_CALL_NO_PARENT)
            wrong[found] = true;
        if (real != BB_CALL_NO_PARENT)
            wrong[real] = true;
    }
    return wrong;
}

static void count_step(Node *node, const BbTrial *trial, guint32 call, bool right)
{
    count(&node->score.steps, right);
    node->score.calls |= trial->real->size[call] > 1;
    add_ns(&node->found_ns, trial->found->self_ns[call]);
    add_ns(&node->real_ns, trial->real->self_ns[call]);
}

static void publish_nodes(BbScore *score, const Node *nodes, guint32 count)
{
    double links = 0, steps = 0;
    guint n_calling = 0;
    for (guint32 i = 0; i < count; i++) {
        BbScoreNode node = nodes[i].score;
        if (node.steps.all == 0)
            continue;
        node.node = i;
        node.found_self_ns = (gint64)MIN(nodes[i].found_ns / node.steps.all, (guint64)G_MAXINT64);
        node.real_self_ns = (gint64)MIN(nodes[i].real_ns / node.steps.all, (guint64)G_MAXINT64);
        bb_deviation_add(&score->node_self, (double)node.found_self_ns, (double)node.real_self_ns);
        g_array_append_val(score->nodes, node);
        if (!node.calls)
            continue;
        n_calling++;
        links += bb_right_share(node.links);
        steps += bb_right_share(node.steps);
    }
    score->node_links = n_calling ? links / n_calling : NAN;
    score->node_steps = n_calling ? steps / n_calling : NAN;
}

static void judge_nodes(BbScore *score, const BbTrial *trial)
{
    guint32 n = bb_names_count(trial->names);
    g_autofree Node *nodes = g_new0(Node, n);
    g_autofree bool *wrong = find_wrong_steps(trial);
    for (guint32 k = 0; k < trial->real->n_order; k++) {
        guint32 call = trial->real->order[k];
        const BbLink *link = bb_links_at(trial->links, call);
        count_step(&nodes[link->call.callee], trial, call, !wrong[call]);
        if (trial->real->parent[call] != BB_CALL_NO_PARENT)
            count(&nodes[link->call.caller].score.links, link->right);
    }
    publish_nodes(score, nodes, n);
    g_array_sort_with_data(score->nodes, by_name, (gpointer)trial->names);
}

// ---- the whole ----------------------------------------------------------------------------------

void bb_deviation_add(BbDeviation *deviation, double found, double real)
{
    if (real == 0)
        return;
    double error = fabs(found - real) / fabs(real);
    deviation->largest = deviation->compared ? fmax(deviation->largest, error) : error;
    deviation->mean = deviation->compared ? deviation->mean : 0;
    deviation->compared++;
    deviation->mean += (error - deviation->mean) / deviation->compared;
}

static BbScore *score_new(void)
{
    BbScore *score = g_new0(BbScore, 1);
    score->edges = g_array_new(FALSE, FALSE, sizeof(BbScoreEdge));
    score->nodes = g_array_new(FALSE, FALSE, sizeof(BbScoreNode));
    score->pairs = g_array_new(FALSE, FALSE, sizeof(BbPatternPair));
    score->pattern_latency = score->node_self = (BbDeviation){0, NAN, NAN};
    return score;
}

BbScore *bb_scoring_finish(BbScoring *scoring)
{
    BbScore *score = score_new();
    bb_links_settle(scoring->links);
    g_autoptr(BbKinds) kinds = bb_kinds_new();
    g_autoptr(BbForest) found =
        bb_forest_new(scoring->links, BB_FOREST_FOUND, kinds, &scoring->options);
    g_autoptr(BbForest) real =
        bb_forest_new(scoring->links, BB_FOREST_REAL, kinds, &scoring->options);
    BbTrial trial = {scoring->names, scoring->options, scoring->links, found, real};
    judge_links(score, &trial);
    judge_requests(score, &trial);
    judge_nodes(score, &trial);
    bb_score_patterns(score, &trial);
    return score;
}

void bb_score_free(BbScore *score)
{
    if (!score)
        return;
    g_array_unref(score->edges);
    g_array_unref(score->nodes);
    g_array_unref(score->pairs);
    g_strfreev(score->captions);
    g_free(score);
}
