// SPDX-License-Identifier: Apache-2.0
// Scores of inferences made by hand, whose every figure is known.
#include <math.h>

#include "tests/unit/judged_lines.h"

static void check_right(BbRight right, guint64 wanted, guint64 of)
{
    ck_assert_uint_eq(right.right, wanted);
    ck_assert_uint_eq(right.all, of);
}

static void check_errors(BbErrors errors, guint64 found, guint64 false_positives, guint64 real,
                         guint64 false_negatives)
{
    ck_assert_uint_eq(errors.found, found);
    ck_assert_uint_eq(errors.false_positives, false_positives);
    ck_assert_uint_eq(errors.real, real);
    ck_assert_uint_eq(errors.false_negatives, false_negatives);
}

static const BbScoreNode *node_of(const BbScore *score, const Judged *judged, const char *name)
{
    for (guint i = 0; i < score->nodes->len; i++) {
        const BbScoreNode *node = &g_array_index(score->nodes, BbScoreNode, i);
        if (strcmp(bb_names_text(judged->names, node->node), name) == 0)
            return node;
    }
    ck_abort_msg("no node %s", name);
    return NULL;
}

static char *text_of(const BbScore *score, const Judged *judged,
                     void (*write)(const BbScore *, const BbNames *, FILE *))
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    ck_assert_ptr_nonnull(out);
    write(score, judged->names, out);
    ck_assert_int_eq(fclose(out), 0);
    return text;
}

START_TEST(all_right)
{
    g_auto(Judged) judged = judged_new(true);
    JUDGED(&judged, "A B 1 0 10 path=x parent=-", "B C 2 1 5 path=x parent=1 found=1",
           "B D 3 6 9 path=x parent=1 found=1", "C D 4 2 4 path=x parent=2 found=2");
    g_autoptr(BbScore) score = bb_scoring_finish(judged.scoring);
    ck_assert_uint_eq(score->calls, 4);
    check_right(score->links, 4, 4);
    check_right(score->roots, 1, 1);
    check_right(score->children, 3, 3);
    check_right(score->lost, 0, 0);
    check_right(score->requests, 1, 1);
    check_right(score->instances, 1, 1);
    check_errors(score->mismatch.instances, 1, 0, 1, 0);
    check_errors(score->mismatch.calls, 4, 0, 4, 0);
    ck_assert_double_eq(score->node_steps, 1);
    ck_assert_double_eq(score->node_links, 1);
    ck_assert_double_eq(score->pattern_latency.largest, 0);
    ck_assert_double_eq(score->node_self.largest, 0);
    ck_assert_uint_eq(score->link_confidence.stated, 0);
    ck_assert_uint_eq(score->link_confidence.not_stated, 4);
    ck_assert(isnan(score->stated_wrong));
}
END_TEST

// Requests x and y overlap at B; the call of y to C is given to x.
static const char *const mixed_up[] = {
    "A B 1 0 20 path=x parent=- sure=1",
    "A B 2 1 30 path=y parent=- sure=1",
    "B C 3 2 6 path=x parent=1 found=1 sure=0.8",
    "B C 4 8 12 path=y parent=2 found=1 sure=0.5",
    "A B 5 40 50 path=z parent=- sure=1",
    "B C 6 42 46 path=z parent=5 found=5 sure=0.9",
    NULL,
};

START_TEST(one_link_wrong)
{
    g_auto(Judged) judged = judged_new(true);
    judged_window(&judged, mixed_up);
    g_autoptr(BbScore) score = bb_scoring_finish(judged.scoring);
    check_right(score->links, 5, 6);
    check_right(score->roots, 3, 3);
    check_right(score->children, 2, 3);
    check_right(score->requests, 1, 3); // x has a call too many, y one too few
    check_right(score->instances, 1, 3);
    const BbScoreEdge *edge = &g_array_index(score->edges, BbScoreEdge, 0);
    ck_assert_str_eq(bb_names_text(judged.names, edge->caller), "B");
    check_right(edge->links, 2, 3);
    check_right(g_array_index(score->edges, BbScoreEdge, 1).links, 3, 3);
    const BbScoreNode *b = node_of(score, &judged, "B");
    check_right(b->links, 2, 3);
    check_right(b->steps, 1, 3);
    ck_assert(b->calls);
    ck_assert(!node_of(score, &judged, "C")->calls);
    ck_assert_double_eq_tol(score->node_links, 2 / 3.0, 1e-12); // B is the only node that calls
    ck_assert_double_eq_tol(score->node_steps, 1 / 3.0, 1e-12);
}
END_TEST

// Three A->B->C; found are one A->B->(C, C), one A->B, one A->B->C.
START_TEST(patterns_of_a_wrong_link)
{
    g_auto(Judged) judged = judged_new(true);
    judged_window(&judged, mixed_up);
    g_autoptr(BbScore) score = bb_scoring_finish(judged.scoring);
    check_errors(score->mismatch.patterns, 3, 2, 1, 0);
    check_errors(score->mismatch.instances, 3, 2, 3, 2);
    check_errors(score->mismatch.calls, 6, 4, 6, 4);
    ck_assert_uint_eq(score->omitted[BB_OMITTED_BY_COUNT].n, 1);
    ck_assert_uint_eq(score->omitted[BB_OMITTED_BY_COUNT].missing[0][0], 0);   // all tie
    ck_assert_uint_eq(score->omitted[BB_OMITTED_BY_LATENCY].missing[0][0], 1); // 29 ms leads
    ck_assert_str_eq(score->captions[0], "A -> B (C)");
    ck_assert_str_eq(score->captions[1], "A -> B (C, C)");
    ck_assert_str_eq(score->captions[2], "A -> B");
}
END_TEST

START_TEST(latencies_of_a_wrong_link)
{
    g_auto(Judged) judged = judged_new(true);
    judged_window(&judged, mixed_up);
    g_autoptr(BbScore) score = bb_scoring_finish(judged.scoring);
    // A->B->C: truly 20, 29 and 10 ms, found only 10.
    ck_assert_uint_eq(score->pattern_latency.compared, 1);
    ck_assert_double_eq_tol(score->pattern_latency.mean, (59 / 3.0 - 10) / (59 / 3.0), 1e-9);
    // Self of B: truly 16 + 25 + 6, found 12 + 29 + 6.
    const BbScoreNode *b = node_of(score, &judged, "B");
    ck_assert_int_eq(b->real_self_ns, 47000000 / 3);
    ck_assert_int_eq(b->found_self_ns, 47000000 / 3);
    ck_assert_int_eq(node_of(score, &judged, "C")->real_self_ns, 4000000);
}
END_TEST

START_TEST(own_time_until_last_bytes)
{
    static const char *const lines[] = {
        "A B 1 0 100 end=160 path=x parent=-",
        "B C 2 10 60 end=80 path=x parent=1 found=1",
        NULL,
    };
    g_auto(Judged) judged = judged_with((BbForestOptions){true, true});
    judged_window(&judged, lines);
    g_autoptr(BbScore) score = bb_scoring_finish(judged.scoring);
    ck_assert_int_eq(node_of(score, &judged, "B")->real_self_ns, 90000000);
    ck_assert_int_eq(node_of(score, &judged, "B")->found_self_ns, 90000000);
    ck_assert_int_eq(node_of(score, &judged, "C")->real_self_ns, 70000000);
}
END_TEST

START_TEST(confidence_of_links_and_instances)
{
    g_auto(Judged) judged = judged_new(true);
    judged_window(&judged, mixed_up);
    g_autoptr(BbScore) score = bb_scoring_finish(judged.scoring);
    const BbCalibration *links = &score->link_confidence;
    ck_assert_uint_eq(links->stated, 6);
    ck_assert_uint_eq(links->bins[5].count, 1);
    ck_assert_uint_eq(links->bins[5].right, 0);
    ck_assert_uint_eq(links->bins[8].right, 1);
    ck_assert_uint_eq(links->bins[9].right, 1);
    ck_assert_uint_eq(links->bins[10].right, 3);
    ck_assert_double_eq_tol(bb_calibration_error(links), (0.5 + 0.2 + 0.1) / 6, 1e-6);
    const BbCalibration *instances = &score->instance_confidence;
    ck_assert_uint_eq(instances->bins[4].count, 1); // 1 * 0.8 * 0.5
    ck_assert_uint_eq(instances->bins[4].right, 0);
    ck_assert_uint_eq(instances->bins[9].right, 1);  // 1 * 0.9
    ck_assert_uint_eq(instances->bins[10].count, 1); // A->B alone: no wrong link, but it
    ck_assert_uint_eq(instances->bins[10].right, 0); // lacks a call
    ck_assert_double_eq_tol(score->stated_wrong, (0.6 + 0 + 0.1) / 3, 1e-6);
    ck_assert_double_eq_tol(score->actual_wrong, 2 / 3.0, 1e-12);
    ck_assert_double_eq_tol(score->pattern_gap, (0.4 + 1 + 0.1) / 3, 1e-6);
}
END_TEST

// The parent of 2 never returned, that of 3 is not there at all: both are to stay alone.
START_TEST(lost_parents)
{
    g_auto(Judged) judged = judged_new(true);
    JUDGED(&judged, "A B 1 0 - path=x parent=-", "B C 2 1 5 path=x parent=1",
           "A B 4 2 9 path=z parent=-", "B C 3 3 5 path=y parent=77 found=4");
    g_autoptr(BbScore) score = bb_scoring_finish(judged.scoring);
    ck_assert_uint_eq(score->unreturned, 1);
    ck_assert_uint_eq(score->calls, 3);
    check_right(score->lost, 1, 2);
    check_right(score->roots, 1, 1);
    check_right(score->children, 0, 0);
    check_right(score->requests, 1, 3); // z got a call of y
    check_right(score->instances, 1, 2);
}
END_TEST

// Two of three have their parent; of a fourth nothing is told. Windows come one after the other.
START_TEST(calls_without_return_stand_apart)
{
    g_auto(Judged) judged = judged_new(true);
    JUDGED(&judged, "A B 1 0 20 path=x parent=- sure=1",
           "B C 2 2 - path=x parent=1 found=1 sure=0.9", "B C 3 5 - path=x parent=1 sure=0.5",
           "B C 4 6 - found=1 sure=0.1");
    JUDGED(&judged, "A B 5 40 50 path=y parent=- sure=1",
           "B C 6 42 - path=y parent=5 found=5 sure=0.7");
    g_autoptr(BbScore) score = bb_scoring_finish(judged.scoring);
    ck_assert_uint_eq(score->unreturned, 4);
    check_right(score->unanswered, 2, 3);
    ck_assert_double_eq_tol(score->unanswered_stated, (0.9 + 0.5 + 0.7) / 3, 1e-6);
    check_right(score->links, 2, 2);
    check_right(score->requests, 2, 2);
    char *text = text_of(score, &judged, bb_score_write_text);
    ck_assert_ptr_nonnull(strstr(text, "\n  calls without return "));
    free(text);
}
END_TEST

START_TEST(a_call_that_should_have_a_parent)
{
    g_auto(Judged) judged = judged_new(true);
    JUDGED(&judged, "A B 1 0 10 path=x parent=-", "B C 2 1 5 path=x parent=1");
    g_autoptr(BbScore) score = bb_scoring_finish(judged.scoring);
    check_right(score->children, 0, 1);
    check_right(score->requests, 0, 1);
    check_right(score->instances, 0, 2);
    check_errors(score->mismatch.patterns, 2, 2, 1, 1);
    check_errors(score->mismatch.calls, 2, 2, 2, 2);
}
END_TEST

// Calls without truth, as parent and as child, take no part on either side.
START_TEST(partial_truth)
{
    g_auto(Judged) judged = judged_new(true);
    JUDGED(&judged, "A B 1 0 10", "B C 2 1 5 path=x parent=1 found=1", "B D 3 6 7 found=1",
           "C D 4 2 3 path=x parent=2 found=2", "D E 5 6.2 6.5 path=x parent=3 found=3",
           "C D 6 3.2 3.4 path=x found=2");
    g_autoptr(BbScore) score = bb_scoring_finish(judged.scoring);
    ck_assert_uint_eq(score->calls, 3);
    ck_assert_uint_eq(score->untold, 3);
    check_right(score->links, 3, 3);
    check_right(score->requests, 1, 1);
    check_right(score->instances, 2, 2); // C (D) and E, cut from what is not told
    check_errors(score->mismatch.instances, 2, 0, 2, 0);
}
END_TEST

START_TEST(no_truth)
{
    g_auto(Judged) judged = judged_new(true);
    JUDGED(&judged, "A B 1 0 10", "B C 2 1 5 path=x found=1");
    g_autoptr(BbScore) score = bb_scoring_finish(judged.scoring);
    ck_assert_uint_eq(score->calls, 0);
    ck_assert_uint_eq(score->untold, 2);
    check_right(score->links, 0, 0);
    check_right(score->instances, 0, 0);
    ck_assert(isnan(bb_right_share(score->links)));
    ck_assert(isnan(score->node_steps));
    ck_assert(isnan(score->actual_wrong));
    ck_assert(isnan(score->pattern_latency.mean));
}
END_TEST

// 1 and 2 name each other; 3 hangs below them and is fine.
START_TEST(truth_that_goes_round)
{
    g_auto(Judged) judged = judged_new(true);
    JUDGED(&judged, "A B 1 0 10 path=x parent=2", "B A 2 1 9 path=x parent=1 found=1",
           "A C 3 2 5 path=x parent=2 found=2", "A A 4 0 5 path=y parent=4");
    g_autoptr(BbScore) score = bb_scoring_finish(judged.scoring);
    ck_assert_uint_eq(score->circular, 3);
    ck_assert_uint_eq(score->untold, 3);
    check_right(score->links, 1, 1);
}
END_TEST

// The same id is used again and again; the path and the time tell which call is meant.
START_TEST(ids_used_again)
{
    g_auto(Judged) judged = judged_new(true);
    JUDGED(&judged, "A B 1 0 10 path=x parent=-", "B C 9 1 2 path=x parent=1 found=1");
    JUDGED(&judged, "A B 1 20 30 path=x parent=-", "A2 B 1 21 40 path=y parent=-",
           "B C 9 22 23 path=x parent=1", "B D 8 24 25 path=y parent=1");
    g_autoptr(BbScore) score = bb_scoring_finish(judged.scoring);
    check_right(score->children, 1, 3);
    const BbScoreNode *b = node_of(score, &judged, "B");
    check_right(b->steps, 1, 3);
    check_right(score->requests, 0, 2);
}
END_TEST

// Clocks that differ put the parent after its child; it is found all the same.
START_TEST(a_parent_with_a_late_clock)
{
    g_auto(Judged) judged = judged_new(true);
    JUDGED(&judged, "B C 2 1 5 path=x parent=1", "A B 1 2 10 path=x parent=-");
    g_autoptr(BbScore) score = bb_scoring_finish(judged.scoring);
    check_right(score->children, 0, 1);
}
END_TEST

// Parent and child come in different windows: the inference could not join them.
START_TEST(a_request_cut_by_windows)
{
    g_auto(Judged) judged = judged_new(true);
    JUDGED(&judged, "A B 1 0 10 path=x parent=-", "B C 2 1 2 path=x parent=1 found=1");
    JUDGED(&judged, "B C 3 8 9 path=x parent=1", "A B 4 20 30 path=y parent=-",
           "B C 5 21 22 path=y parent=4 found=4");
    g_autoptr(BbScore) score = bb_scoring_finish(judged.scoring);
    check_right(score->children, 2, 3);
    check_right(score->requests, 1, 2);
    check_right(score->instances, 1, 3);
    check_errors(score->mismatch.instances, 3, 2, 2, 1); // found B (C) twice and C, for B (C, C)
}
END_TEST

// Truth without paths: a request is a true tree.
START_TEST(requests_without_path)
{
    g_auto(Judged) judged = judged_new(true);
    JUDGED(&judged, "A B 1 0 10 parent=-", "B C 2 1 5 parent=1 found=1", "A B 3 20 30 parent=-",
           "B C 4 21 25 parent=3");
    g_autoptr(BbScore) score = bb_scoring_finish(judged.scoring);
    check_right(score->requests, 1, 2);
}
END_TEST

static guint64 patterns_with(bool labels)
{
    g_auto(Judged) judged = judged_new(labels);
    JUDGED(&judged, "A B 1 0 10 path=x parent=- op=get", "A B 2 20 30 path=y parent=- op=put");
    g_autoptr(BbScore) score = bb_scoring_finish(judged.scoring);
    return score->mismatch.patterns.found;
}

START_TEST(labels_tell_patterns_apart)
{
    ck_assert_uint_eq(patterns_with(true), 2);
    ck_assert_uint_eq(patterns_with(false), 1);
}
END_TEST

// Children in another order of time are the same pattern; another client is another one.
START_TEST(shapes)
{
    g_auto(Judged) judged = judged_new(true);
    JUDGED(&judged, "A B 1 0 9 path=x parent=-", "B C 2 1 2 path=x parent=1 found=1",
           "B D 3 3 4 path=x parent=1 found=1", "A B 4 10 19 path=y parent=-",
           "B D 5 11 12 path=y parent=4 found=4", "B C 6 13 14 path=y parent=4 found=4",
           "A2 B 7 20 29 path=z parent=-", "B C 8 21 22 path=z parent=7 found=7",
           "B D 9 23 24 path=z parent=7 found=7");
    g_autoptr(BbScore) score = bb_scoring_finish(judged.scoring);
    check_errors(score->mismatch.patterns, 2, 0, 2, 0);
    check_errors(score->mismatch.instances, 3, 0, 3, 0);
}
END_TEST

START_TEST(text_says_what_is_not_stated)
{
    g_auto(Judged) judged = judged_new(true);
    JUDGED(&judged, "A B\x1b 1 0 10 path=x parent=-", "A B\x1b 2 20 30");
    g_autoptr(BbScore) score = bb_scoring_finish(judged.scoring);
    g_autofree char *text = text_of(score, &judged, bb_score_write_text);
    ck_assert_ptr_nonnull(strstr(text, "1 call scored; left out: 1 call without ground truth\n"));
    ck_assert_ptr_nonnull(strstr(text, "Confidence: not stated\n"));
    ck_assert_ptr_nonnull(strstr(text, "B%1B"));
    ck_assert_ptr_null(strchr(text, '\x1b'));
}
END_TEST

START_TEST(text_has_the_figures)
{
    g_auto(Judged) judged = judged_new(true);
    judged_window(&judged, mixed_up);
    g_autoptr(BbScore) score = bb_scoring_finish(judged.scoring);
    g_autofree char *text = text_of(score, &judged, bb_score_write_text);
    static const char *const lines[] = {
        "6 calls scored\n",
        "  links                              83.33 %            5            6\n",
        "  requests, end to end               33.33 %            1            3\n",
        "  0.50 to 0.60                       50.00 %    0.00 %            1\n",
    };
    for (gsize i = 0; i < G_N_ELEMENTS(lines); i++)
        ck_assert_msg(strstr(text, lines[i]) != NULL, "no line %s in\n%s", lines[i], text);
}
END_TEST

START_TEST(json_has_the_figures)
{
    g_auto(Judged) judged = judged_new(true);
    judged_window(&judged, mixed_up);
    g_autoptr(BbScore) score = bb_scoring_finish(judged.scoring);
    g_autofree char *text = text_of(score, &judged, bb_score_write_json);
    static const char *const parts[] = {
        "{\"bbpaths_score\": 1, \"calls\": 6, \"left_out\": {\"unreturned\": 0, ",
        "\"requests\": {\"right\": 1, \"of\": 3, \"share\": 0.3333}",
        "\"by_pattern\": {\"patterns\": {\"found\": 3, \"false_positives\": 2, \"true\": 1, ",
        "{\"n\": 1, \"by_count\": [0, 0, 0], \"by_latency\": [1, 1, 1]}",
        "{\"from\": 0.5000, \"to\": 0.6000, \"count\": 1, \"stated\": 0.5000, \"right\": 0.0000}",
        "{\"from\": 0.0000, \"to\": 0.1000, \"count\": 0, \"stated\": null, \"right\": null}",
    };
    for (gsize i = 0; i < G_N_ELEMENTS(parts); i++)
        ck_assert_msg(strstr(text, parts[i]) != NULL, "no %s in\n%s", parts[i], text);
}
END_TEST

TEST_MAIN("score", all_right, one_link_wrong, patterns_of_a_wrong_link, latencies_of_a_wrong_link,
          own_time_until_last_bytes, confidence_of_links_and_instances, lost_parents,
          calls_without_return_stand_apart, a_call_that_should_have_a_parent, partial_truth,
          no_truth, truth_that_goes_round, ids_used_again, a_parent_with_a_late_clock,
          a_request_cut_by_windows, requests_without_path, labels_tell_patterns_apart, shapes,
          text_says_what_is_not_stated, text_has_the_figures, json_has_the_figures)
