// SPDX-License-Identifier: Apache-2.0
// What caused the messages of a stream: chances are probabilities that hold, the share without
// cause is right, what merely correlates gives way, delays are told.
#include "tests/unit/planted_links.h"

// A message A -> B at any time, and its effect B -> C.
static guint32 plant_pair(Planted *planted, const char *from, const char *to, gint64 span,
                          double delay_ns, double sd_ns)
{
    gint64 at = EPOCH + (gint64)bb_random_below(&planted->random, (guint64)span);
    guint32 cause = planted_send(planted, from, "B", at, PLANTED_ROOT);
    return planted_send(planted, "B", to, planted_later(planted, at, delay_ns, sd_ns), cause);
}

static const BbCause *causes_of(const BbExplanation *e)
{
    return (const BbCause *)(gpointer)e->causes->data;
}

// Whatever is explained: probabilities, in order, candidates within the kernel.
static void check_explanation(const BbExplanation *e, const Linking *linking)
{
    const BbCall *messages = linking->planted->traffic->messages;

    ck_assert_uint_eq(e->first[0], 0);
    ck_assert_uint_eq(e->first[e->out->count], e->causes->len);
    guint wrong = 0;
    for (guint32 n = 0; n < e->out->count; n++) {
        double sum = 0;
        for (guint32 i = e->first[n]; i < e->first[n + 1]; i++) {
            const BbCause *cause = &causes_of(e)[i];
            const BbLink *link = g_ptr_array_index(e->links, cause->link);
            gint64 lag = messages[cause->effect].call_ns - messages[cause->cause].arrived_ns;
            wrong += cause->effect != e->out->message[n] || link->derived;
            wrong += !(cause->chance > 0 && cause->chance <= 1 + 1e-5f);
            wrong += i > e->first[n] && cause->chance > cause[-1].chance;
            wrong += lag < -(gint64)e->grid.before * e->grid.quantum_ns;
            wrong += lag >= (gint64)(e->grid.bins - e->grid.before) * e->grid.quantum_ns;
            sum += cause->chance;
        }
        wrong += !(e->none[n] >= 0 && e->none[n] <= 1 + 1e-5f);
        if (e->spontaneous >= BB_SPONTANEOUS_LEAST)
            sum += e->none[n];
        wrong += sum > 1 + 1e-3;
    }
    ck_assert_uint_eq(wrong, 0);
    ck_assert(e->spontaneous >= 0 && e->spontaneous <= 1);
}

// Effects that messages are expected to have are the effects that are not spontaneous.
static double effects_of(const BbExplanation *e, const Linking *linking)
{
    double sum = 0;
    for (guint l = 0; l < e->links->len; l++) {
        const BbLink *link = g_ptr_array_index(e->links, l);
        for (guint32 m = 0; m < linking->streams->in[link->in].count && !link->derived; m++)
            sum += link->effects[m];
    }
    return sum;
}

static double mean_none(const BbExplanation *e)
{
    double sum = 0;
    for (guint32 n = 0; n < e->out->count; n++)
        sum += e->none[n];
    return sum / e->out->count;
}

// Share of messages whose likeliest cause is the true one.
static double right_share(const BbExplanation *e, const Planted *planted)
{
    const BbCall *messages = planted->traffic->messages;
    guint right = 0;
    for (guint32 n = 0; n < e->out->count; n++) {
        guint32 truth = planted_cause(planted, &messages[e->out->message[n]]);
        bool none = e->first[n] == e->first[n + 1] || causes_of(e)[e->first[n]].chance < e->none[n];
        right += none ? truth == PLANTED_ROOT
                      : planted_number(&messages[causes_of(e)[e->first[n]].cause]) == truth;
    }
    return (double)right / e->out->count;
}

// ---- chances -----------------------------------------------------------------------------------

START_TEST(sparse_pairs_are_sure)
{
    g_autoptr(Planted) planted = planted_new(1);
    for (guint i = 0; i < 500; i++)
        plant_pair(planted, "A", "C", 5000 * SECOND, 50.0 * MS, 5.0 * MS);
    g_autoptr(Linking) linking = linking_new(planted, 2 * MS, 0, 250);
    g_autoptr(BbExplanation) e = linking_explain(linking, "B", "C");
    check_explanation(e, linking);
    ck_assert_double_ge(right_share(e, planted), 0.99);
    guint sure = 0;
    for (guint32 n = 0; n < e->out->count; n++)
        sure += e->first[n + 1] > e->first[n] && causes_of(e)[e->first[n]].chance > 0.9f;
    ck_assert_uint_ge(sure, 490);
    ck_assert_double_le(e->spontaneous, 0.02);
    ck_assert_double_eq_tol(effects_of(e, linking), 500, 0.5);
}
END_TEST

START_TEST(chances_are_conserved)
{
    for (guint64 seed = 0; seed < 4; seed++) {
        g_autoptr(Planted) planted = planted_new(seed);
        for (guint i = 0; i < 1000; i++)
            plant_pair(planted, i % 2 ? "A" : "D", "C", 80 * SECOND, 50.0 * MS, 20.0 * MS);
        planted_noise(planted, "B", "C", seed % 2 ? 1000 : 0, 80 * SECOND);
        g_autoptr(Linking) linking = linking_new(planted, 5 * MS, seed / 2 * 4, 100);
        g_autoptr(BbExplanation) e = linking_explain(linking, "B", "C");
        check_explanation(e, linking);
        ck_assert_uint_eq(e->links->len, 2);
        double caused = 0;
        for (guint32 n = 0; n < e->out->count; n++)
            caused += e->spontaneous < BB_SPONTANEOUS_LEAST ? e->none[n] < 0.999f : 1 - e->none[n];
        ck_assert_double_eq_tol(effects_of(e, linking), caused, 0.01 * caused);
    }
}
END_TEST

// Of causes that are said to be so with 70 %, no fewer are, and not many more: overlapping pairs,
// half of the messages without cause.
START_TEST(chances_hold)
{
    double said[5] = {0};
    guint count[5] = {0}, right[5] = {0};
    for (guint64 seed = 0; seed < 3; seed++) {
        g_autoptr(Planted) planted = planted_new(seed);
        for (guint i = 0; i < 2000; i++)
            plant_pair(planted, "A", "C", 100 * SECOND, 100.0 * MS, 30.0 * MS);
        planted_noise(planted, "B", "C", 2000, 100 * SECOND);
        g_autoptr(Linking) linking = linking_new(planted, 5 * MS, 0, 100);
        g_autoptr(BbExplanation) e = linking_explain(linking, "B", "C");
        check_explanation(e, linking);
        const BbCall *messages = planted->traffic->messages;
        for (guint i = 0; i < e->causes->len; i++) {
            const BbCause *cause = &causes_of(e)[i];
            guint bin = MIN(4, (guint)(cause->chance * 5));
            said[bin] += cause->chance;
            count[bin]++;
            right[bin] += planted_number(&messages[cause->cause]) ==
                          planted_cause(planted, &messages[cause->effect]);
        }
    }
    for (guint bin = 0; bin < 5; bin++) {
        if (count[bin] < 200)
            continue;
        double held = (double)right[bin] / count[bin], mean = said[bin] / count[bin];
        ck_assert_msg(held > mean - 0.05 && held < mean + 0.2, "said %.3f, held %.3f of %u", mean,
                      held, count[bin]);
    }
    ck_assert_uint_ge(count[1] + count[2] + count[3], 500);
}
END_TEST

START_TEST(two_causes_as_likely_as_each_other)
{
    g_autoptr(Planted) planted = planted_new(1);
    for (guint i = 0; i < 300; i++) {
        gint64 at = EPOCH + i * SECOND;
        planted_send(planted, i % 2 ? "A" : "D", "B", at, PLANTED_ROOT);
        planted_send(planted, "B", "C", planted_later(planted, at, 50.0 * MS, 5.0 * MS), 0);
    }
    gint64 last = EPOCH + 1000 * SECOND; // both at once, and one effect
    planted_send(planted, "A", "B", last, PLANTED_ROOT);
    planted_send(planted, "D", "B", last, PLANTED_ROOT);
    planted_send(planted, "B", "C", last + 50 * MS, PLANTED_ROOT);
    g_autoptr(Linking) linking = linking_new(planted, 2 * MS, 0, 200);
    g_autoptr(BbExplanation) e = linking_explain(linking, "B", "C");
    check_explanation(e, linking);
    guint32 first = e->first[e->out->count - 1];
    ck_assert_uint_eq(e->causes->len - first, 2);
    ck_assert_float_eq_tol(causes_of(e)[first].chance, 0.5f, 0.1f);
    ck_assert_float_eq_tol(causes_of(e)[first + 1].chance, 0.5f, 0.1f);
}
END_TEST

// ---- messages without cause --------------------------------------------------------------------

START_TEST(share_without_cause)
{
    const struct {
        guint caused, free;
    } cases[] = {{1500, 0}, {1500, 1500}, {600, 2400}};
    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autoptr(Planted) planted = planted_new(i);
        for (guint k = 0; k < cases[i].caused; k++)
            plant_pair(planted, "A", "C", 1000 * SECOND, 50.0 * MS, 10.0 * MS);
        planted_noise(planted, "B", "C", cases[i].free, 1000 * SECOND);
        g_autoptr(Linking) linking = linking_new(planted, 2 * MS, 0, 250);
        g_autoptr(BbExplanation) e = linking_explain(linking, "B", "C");
        check_explanation(e, linking);
        double wanted = (double)cases[i].free / (cases[i].free + cases[i].caused);
        ck_assert_double_eq_tol(e->spontaneous, wanted, 0.02);
        ck_assert_double_eq_tol(mean_none(e), wanted, 0.04);
    }
}
END_TEST

START_TEST(noise_has_no_cause)
{
    g_autoptr(Planted) planted = planted_new(3);
    planted_noise(planted, "A", "B", 1000, 100 * SECOND);
    planted_noise(planted, "B", "C", 1000, 100 * SECOND);
    g_autoptr(Linking) linking = linking_new(planted, 2 * MS, 0, 250);
    g_autoptr(BbExplanation) e = linking_explain(linking, "B", "C");
    check_explanation(e, linking);
    ck_assert_uint_eq(e->causes->len, 0);
    ck_assert_double_eq(e->spontaneous, 1);
    ck_assert_double_eq(mean_none(e), 1);
}
END_TEST

// ---- one to one, and more ----------------------------------------------------------------------

START_TEST(effects_a_message_has)
{
    const guint fan[] = {1, 2, 3};
    for (guint i = 0; i < G_N_ELEMENTS(fan); i++) {
        g_autoptr(Planted) planted = planted_new(i);
        for (guint k = 0; k < 400; k++) {
            gint64 at = EPOCH + (gint64)bb_random_below(&planted->random, 400 * SECOND);
            guint32 cause = planted_send(planted, "A", "B", at, PLANTED_ROOT);
            for (guint c = 0; c < fan[i]; c++)
                planted_send(planted, "B", "C", planted_later(planted, at, 40.0 * MS, 8.0 * MS),
                             cause);
        }
        g_autoptr(Linking) linking = linking_new(planted, 2 * MS, 0, 200);
        g_autoptr(BbExplanation) e = linking_explain(linking, "B", "C");
        check_explanation(e, linking);
        ck_assert_uint_eq(e->links->len, 1);
        const BbLink *link = g_ptr_array_index(e->links, 0);
        ck_assert_double_eq(link->cap, fan[i]);
        ck_assert_double_eq_tol(effects_of(e, linking), 400.0 * fan[i], 8.0 * fan[i]);
        guint over = 0; // one to one, as the chances say it
        for (guint32 m = 0; m < 400; m++)
            over += link->effects[m] > (float)fan[i] + 0.3f;
        ck_assert_uint_le(over, 20);
    }
}
END_TEST

// ---- what merely correlates --------------------------------------------------------------------

// A calls B, B calls C and gets its answer, B answers A; sometimes without C. B's answer follows
// A's call as surely as C's answer, but only one causes it.
START_TEST(derived_links_are_dropped)
{
    for (guint64 seed = 0; seed < 3; seed++) {
        g_autoptr(Planted) planted = planted_new(seed);
        for (guint i = 0; i < 1500; i++) {
            gint64 at = EPOCH + (gint64)bb_random_below(&planted->random, 500 * SECOND);
            guint32 call = planted_send(planted, "A", "B", at, PLANTED_ROOT);
            at = planted_later(planted, at, 30.0 * MS, 5.0 * MS);
            guint32 inner = planted_send(planted, "B", "C", at, call);
            at = planted_later(planted, at, 60.0 * MS, 20.0 * MS);
            guint32 answer = planted_send(planted, "C", "B", at, inner);
            at = planted_later(planted, at, 10.0 * MS, 2.0 * MS);
            planted_send(planted, "B", "A", at, answer);
        }
        g_autoptr(Linking) linking = linking_new(planted, 2 * MS, 0, 250);
        g_autoptr(BbExplanation) e = linking_explain(linking, "B", "A");
        check_explanation(e, linking);
        ck_assert_uint_eq(e->links->len, 2);
        const BbLink *real = linking_link(e->links, linking_stream(linking, true, "C", "B"));
        const BbLink *derived = linking_link(e->links, linking_stream(linking, true, "A", "B"));
        ck_assert(real && !real->derived);
        ck_assert(derived && derived->derived);
        ck_assert_double_ge(right_share(e, planted), 0.97);
    }
}
END_TEST

// As above, but with so many messages under way at once that each explains next to nothing surely:
// A's calls, once in the run, would take half of the effects.
START_TEST(derived_links_under_load)
{
    static const char *const clients[] = {"A1", "A2", "A3"};
    for (guint64 seed = 0; seed < 2; seed++) {
        g_autoptr(Planted) planted = planted_new(seed);
        for (guint i = 0; i < 44000; i++) {
            gint64 at = EPOCH + (gint64)bb_random_below(&planted->random, 500 * SECOND);
            guint32 call = planted_send(planted, clients[i % 3], "B", at, PLANTED_ROOT);
            at = planted_later(planted, at, 50.0 * MS, 5.0 * MS);
            guint32 inner = planted_send(planted, "B", "C", at, call);
            at = planted_later(planted, at, i % 2 ? 10.0 * MS : 120.0 * MS, 5.0 * MS);
            guint32 answer = planted_send(planted, "C", "B", at, inner);
            at = planted_later(planted, at, 250.0 * MS, 21.0 * MS);
            planted_send(planted, "B", bb_random_below(&planted->random, 2) ? "D" : "E", at,
                         answer);
        }
        g_autoptr(Linking) linking = linking_new(planted, MS / 4, 0, 4000);
        g_autoptr(BbExplanation) e = linking_explain(linking, "B", "D");
        check_explanation(e, linking);
        const BbLink *real = linking_link(e->links, linking_stream(linking, true, "C", "B"));
        ck_assert(real && !real->derived);
        for (guint a = 0; a < G_N_ELEMENTS(clients); a++) {
            const BbLink *derived =
                linking_link(e->links, linking_stream(linking, true, clients[a], "B"));
            ck_assert(!derived || derived->derived);
        }
        ck_assert_double_ge(real->mass, 0.95 * e->out->count);
    }
}
END_TEST

// Where both ways exist, both are found.
START_TEST(real_links_are_kept)
{
    g_autoptr(Planted) planted = planted_new(4);
    guint32 direct = 0;
    for (guint i = 0; i < 1500; i++) {
        gint64 at = EPOCH + (gint64)bb_random_below(&planted->random, 500 * SECOND);
        guint32 cause = planted_send(planted, "A", "B", at, PLANTED_ROOT);
        at = planted_later(planted, at, 30.0 * MS, 5.0 * MS);
        if (i % 3 == 0) { // from the cache
            planted_send(planted, "B", "A", at, cause);
            direct++;
            continue;
        }
        cause = planted_send(planted, "B", "C", at, cause);
        at = planted_later(planted, at, 60.0 * MS, 20.0 * MS);
        cause = planted_send(planted, "C", "B", at, cause);
        planted_send(planted, "B", "A", planted_later(planted, at, 10.0 * MS, 2.0 * MS), cause);
    }
    g_autoptr(Linking) linking = linking_new(planted, 2 * MS, 0, 250);
    g_autoptr(BbExplanation) e = linking_explain(linking, "B", "A");
    check_explanation(e, linking);
    const BbLink *back = linking_link(e->links, linking_stream(linking, true, "C", "B"));
    const BbLink *cache = linking_link(e->links, linking_stream(linking, true, "A", "B"));
    ck_assert(back && !back->derived);
    ck_assert(cache && !cache->derived);
    double expected = 0;
    for (guint32 m = 0; m < linking->streams->in[cache->in].count; m++)
        expected += cache->effects[m];
    ck_assert_double_eq_tol(expected, direct, 0.1 * direct);
    ck_assert_double_ge(right_share(e, planted), 0.93);
}
END_TEST

// ---- delays ------------------------------------------------------------------------------------

START_TEST(delays_within_half_a_quantum)
{
    const double delays[] = {20, 50.7, 131};
    for (guint i = 0; i < G_N_ELEMENTS(delays); i++) {
        g_autoptr(Planted) planted = planted_new(i);
        for (guint k = 0; k < 2000; k++)
            plant_pair(planted, "A", "C", 200 * SECOND, delays[i] * MS, 4.0 * MS);
        g_autoptr(Linking) linking = linking_new(planted, MS, 0, 500);
        g_autoptr(BbExplanation) e = linking_explain(linking, "B", "C");
        check_explanation(e, linking);
        const BbLink *link = g_ptr_array_index(e->links, 0);
        ck_assert_uint_eq(link->cores->len, 1);
        BbMode mode = g_array_index(link->cores, BbCore, 0).mode;
        ck_assert_double_eq_tol((double)mode.delay_ns, delays[i] * MS, 0.5 * MS);
        ck_assert_double_eq_tol((double)mode.spread_ns, 4.0 * MS, 1.0 * MS);
    }
}
END_TEST

// Several messages are under way at once: what the delays are learned from must not be half a
// quantum off, nor smoothing move it, as little brings it back.
START_TEST(delays_under_load)
{
    double sum = 0;
    for (guint64 seed = 0; seed < 4; seed++) {
        g_autoptr(Planted) planted = planted_new(seed);
        for (guint i = 0; i < 20000; i++)
            plant_pair(planted, "A", "C", 200 * SECOND, 90.0 * MS, 10.0 * MS);
        g_autoptr(Linking) linking = linking_new(planted, 2 * MS, 0, 150);
        g_autoptr(BbExplanation) e = linking_explain(linking, "B", "C");
        const BbLink *link = g_ptr_array_index(e->links, 0);
        ck_assert_uint_ge(link->cores->len, 1);
        sum += (double)g_array_index(link->cores, BbCore, 0).mode.delay_ns;
    }
    ck_assert_double_eq_tol(sum / 4, 90.0 * MS, 0.25 * MS);
}
END_TEST

START_TEST(two_delays_of_a_link)
{
    g_autoptr(Planted) planted = planted_new(8);
    for (guint k = 0; k < 3000; k++)
        plant_pair(planted, "A", "C", 600 * SECOND, (k % 4 ? 20.0 : 120.0) * MS, 3.0 * MS);
    g_autoptr(Linking) linking = linking_new(planted, MS, 0, 500);
    g_autoptr(BbExplanation) e = linking_explain(linking, "B", "C");
    check_explanation(e, linking);
    const BbLink *link = g_ptr_array_index(e->links, 0);
    ck_assert_uint_eq(link->cores->len, 2);
    const BbCore *often = &g_array_index(link->cores, BbCore, 0);
    ck_assert_double_eq_tol((double)often[0].mode.delay_ns, 20.0 * MS, 0.5 * MS);
    ck_assert_double_eq_tol((double)often[1].mode.delay_ns, 120.0 * MS, 0.5 * MS);
    guint slow = 0; // masses: by the effects that fall to each
    for (guint32 n = 0; n < e->out->count; n++) {
        ck_assert_uint_lt(e->first[n], e->first[n + 1]);
        const BbCause *cause = &causes_of(e)[e->first[n]];
        const BbCall *messages = planted->traffic->messages;
        gint64 lag = messages[cause->effect].call_ns - messages[cause->cause].arrived_ns;
        slow += bb_link_core_of(link, (guint32)(lag / MS)) == 1;
    }
    ck_assert_double_eq_tol(slow, 750, 40);
}
END_TEST

// Every link that explains something has a delay to tell.
START_TEST(who_explains_has_delays)
{
    for (guint64 seed = 0; seed < 12; seed++) {
        g_autoptr(Planted) planted = planted_new(seed);
        for (guint k = 0; k < 60; k++)
            plant_pair(planted, k % 3 ? "A" : "D", "C", (gint64)(1 + seed) * SECOND, 40.0 * MS,
                       (double)(1 + seed * 3) * MS);
        planted_noise(planted, "D", "B", 50, (gint64)(1 + seed) * SECOND);
        g_autoptr(Linking) linking = linking_new(planted, 2 * MS, 0, 200);
        g_autoptr(BbExplanation) e = linking_explain(linking, "B", "C");
        check_explanation(e, linking);
        for (guint i = 0; i < e->causes->len; i++) {
            const BbLink *link = g_ptr_array_index(e->links, causes_of(e)[i].link);
            ck_assert_uint_gt(link->cores->len, 0);
        }
    }
}
END_TEST

TEST_MAIN("explain", sparse_pairs_are_sure, chances_are_conserved, chances_hold,
          two_causes_as_likely_as_each_other, share_without_cause, noise_has_no_cause,
          effects_a_message_has, derived_links_are_dropped, derived_links_under_load,
          real_links_are_kept, delays_within_half_a_quantum, delays_under_load,
          two_delays_of_a_link, who_explains_has_delays)
