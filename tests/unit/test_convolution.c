// SPDX-License-Identifier: Apache-2.0
// The whole of it: paths of planted systems come back, whatever the threads, the names or the order
// of messages; nothing comes of nothing, and of very little.
#include "convolution/convolution.h"
#include "tests/unit/planted.h"

#include <string.h>

static BbConvolutionOptions options_of(gint64 quantum_ns, gint64 max_delay_ns)
{
    BbConvolutionOptions options = bb_convolution_options_default();
    options.quantum_ns = quantum_ns;
    options.max_delay_ns = max_delay_ns;
    options.threads = 1;
    return options;
}

static BbPaths *run(Planted *planted, const BbConvolutionOptions *options)
{
    bb_traffic_finish(planted->traffic);
    g_autoptr(BbConvolution) convolution = bb_convolution_new(planted->names, options);
    return bb_convolution_run(convolution, planted->traffic);
}

// Whatever is published: each message once, parents before children, delays and chances that are.
static void check_paths(const BbPaths *paths)
{
    guint32 listed = 0;
    guint wrong = 0;
    g_autofree guint8 *seen = g_new0(guint8, (gsize)paths->n_calls + 1);
    for (guint32 i = 0; i < paths->n_instances; i++) {
        const BbInstance *instance = &paths->instances[i];
        wrong += instance->first != listed || instance->count == 0 || instance->place != i;
        for (guint32 k = 0; k < instance->count; k++, listed++) {
            guint32 call = paths->order[listed], parent = paths->parent[call];
            wrong += seen[call]++;
            wrong += (k == 0) != (parent == BB_CALL_NO_PARENT);
            wrong += k > 0 && (!seen[parent] || paths->level[call] != paths->level[parent] + 1 ||
                               paths->calls[parent].callee != paths->calls[call].caller);
            wrong += (paths->mode[call] == BB_MODE_NONE) != (k == 0);
            wrong += k > 0 && paths->mode[call] >= paths->n_modes;
            bool unknown = k == 0 && paths->confidence[call] == BB_CONFIDENCE_NONE;
            wrong +=
                !unknown && !(paths->confidence[call] >= 0 && paths->confidence[call] <= 1.0001f);
            wrong += !(paths->onward[call] >= 0);
        }
    }
    ck_assert_uint_eq(listed, paths->n_calls);
    ck_assert_uint_eq(wrong, 0);
}

static double right_share(const Planted *planted, const BbPaths *paths)
{
    guint right = 0;
    for (guint32 i = 0; i < paths->n_calls; i++) {
        guint32 truth = planted_cause(planted, &paths->calls[i]), parent = paths->parent[i];
        right += parent == BB_CALL_NO_PARENT ? truth == PLANTED_ROOT
                                             : planted_number(&paths->calls[parent]) == truth;
    }
    return (double)right / paths->n_calls;
}

// Clients A and X call B; B calls C or D and answers. names: of A, B, C, D, X.
static void plant_shop(Planted *planted, const char *const *names, guint count, gint64 span)
{
    for (guint i = 0; i < count; i++) {
        const char *client = names[i % 3 ? 0 : 4], *server = names[i % 5 ? 2 : 3];
        gint64 at = EPOCH + (gint64)bb_random_below(&planted->random, (guint64)span);
        guint32 cause = planted_send(planted, client, names[1], at, PLANTED_ROOT);
        at = planted_later(planted, at, 20.0 * MS, 4.0 * MS);
        cause = planted_send(planted, names[1], server, at, cause);
        at = planted_later(planted, at, 50.0 * MS, 10.0 * MS);
        cause = planted_send(planted, server, names[1], at, cause);
        at = planted_later(planted, at, 5.0 * MS, 1.0 * MS);
        planted_send(planted, names[1], client, at, cause);
    }
}

static const char *const shop[] = {"A", "B", "C", "D", "X"};

START_TEST(a_shop)
{
    g_autoptr(Planted) planted = planted_new(1);
    plant_shop(planted, shop, 1500, 300 * SECOND);
    BbConvolutionOptions options = options_of(MS, 500 * MS);
    g_autoptr(BbPaths) paths = run(planted, &options);
    check_paths(paths);
    ck_assert_uint_eq(paths->n_calls, 6000);
    ck_assert_double_ge(right_share(planted, paths), 0.97);
    ck_assert_double_eq_tol(paths->n_instances, 1500, 30);
    guint strange = 0; // delays that nobody planted
    for (guint32 i = 0; i < paths->n_calls; i++) {
        if (paths->mode[i] == BB_MODE_NONE)
            continue;
        const BbMode *mode = &paths->modes[paths->mode[i]];
        gint64 lag = paths->calls[i].call_ns - paths->calls[paths->parent[i]].arrived_ns;
        bool known = llabs(mode->delay_ns - 20 * MS) < MS || llabs(mode->delay_ns - 50 * MS) < MS ||
                     llabs(mode->delay_ns - 5 * MS) < MS;
        bool near = llabs(mode->delay_ns - lag) <= 8 * mode->spread_ns + MS;
        strange += !known && near;
    }
    ck_assert_uint_le(strange, paths->n_calls / 100);
    ck_assert_uint_eq(paths->derived->len, 0); // not asked for
}
END_TEST

// ---- the same result ---------------------------------------------------------------------------

// "A>B>C@12345 ...": each message with its parent's names, time, chance and delay.
static char *text_of(const BbNames *names, const BbPaths *paths)
{
    GString *text = g_string_new(NULL);
    for (guint32 i = 0; i < paths->n_calls; i++) {
        const BbCall *call = &paths->calls[i];
        g_string_append_printf(text, "%s>%s@%" G_GINT64_FORMAT " %u %u %.9g %.9g ",
                               bb_names_text(names, call->caller),
                               bb_names_text(names, call->callee), call->call_ns, paths->parent[i],
                               paths->level[i], paths->confidence[i], paths->onward[i]);
        if (paths->mode[i] != BB_MODE_NONE)
            g_string_append_printf(text, "%" G_GINT64_FORMAT "/%" G_GINT64_FORMAT,
                                   paths->modes[paths->mode[i]].delay_ns,
                                   paths->modes[paths->mode[i]].spread_ns);
        g_string_append_c(text, '\n');
    }
    return g_string_free(text, FALSE);
}

START_TEST(as_many_threads_as_you_like)
{
    const guint threads[] = {1, 2, 5};
    g_autofree char *first = NULL;
    g_autofree BbMode *modes = NULL;
    for (guint i = 0; i < G_N_ELEMENTS(threads); i++) {
        g_autoptr(Planted) planted = planted_new(2);
        plant_shop(planted, shop, 600, 60 * SECOND);
        BbConvolutionOptions options = options_of(0, 0);
        options.threads = threads[i];
        options.derived = true;
        g_autoptr(BbPaths) paths = run(planted, &options);
        g_autofree char *text = text_of(planted->names, paths);
        gsize bytes = paths->n_modes * sizeof *modes;
        if (i == 0) {
            first = g_steal_pointer(&text);
            modes = g_memdup2(paths->modes, bytes);
            continue;
        }
        ck_assert(strcmp(text, first) == 0);
        ck_assert_mem_eq(paths->modes, modes, bytes);
    }
}
END_TEST

START_TEST(names_in_any_order_of_numbers)
{
    g_autofree char *first = NULL;
    for (guint i = 0; i < 3; i++) {
        g_autoptr(Planted) planted = planted_new(3);
        for (guint k = 0; k < G_N_ELEMENTS(shop); k++)
            bb_names_intern(planted->names, shop[(k * (i + 1) + i) % G_N_ELEMENTS(shop)]);
        plant_shop(planted, shop, 600, 60 * SECOND);
        BbConvolutionOptions options = options_of(2 * MS, 500 * MS);
        g_autoptr(BbPaths) paths = run(planted, &options);
        g_autofree char *text = text_of(planted->names, paths);
        if (first)
            ck_assert(strcmp(text, first) == 0);
        else
            first = g_steal_pointer(&text);
    }
}
END_TEST

START_TEST(other_names)
{
    const char *const renamed[] = {"z", "k", "y", "a", "b"};
    g_autoptr(Planted) one = planted_new(4), other = planted_new(4);
    plant_shop(one, shop, 600, 60 * SECOND);
    plant_shop(other, renamed, 600, 60 * SECOND);
    BbConvolutionOptions options = options_of(2 * MS, 500 * MS);
    g_autoptr(BbPaths) a = run(one, &options);
    g_autoptr(BbPaths) b = run(other, &options);
    ck_assert_uint_eq(a->n_calls, b->n_calls);
    guint differ = 0;
    for (guint32 i = 0; i < a->n_calls; i++)
        differ +=
            a->parent[i] != b->parent[i] || fabsf(a->confidence[i] - b->confidence[i]) > 1e-3f;
    ck_assert_uint_le(differ, a->n_calls / 500); // sums of other orders round otherwise
}
END_TEST

START_TEST(runs_again)
{
    g_autoptr(Planted) one = planted_new(5), other = planted_new(5);
    plant_shop(one, shop, 600, 60 * SECOND);
    planted_noise(other, "A", "B", 3, SECOND); // shows nothing
    BbConvolutionOptions options = options_of(0, 0);
    bb_traffic_finish(one->traffic);
    bb_traffic_finish(other->traffic);
    g_autoptr(BbConvolution) convolution = bb_convolution_new(one->names, &options);
    ck_assert_int_eq(bb_convolution_quantum(convolution), 0);
    g_autoptr(BbPaths) nothing = bb_convolution_run(convolution, other->traffic);
    check_paths(nothing);
    ck_assert_int_eq(bb_convolution_quantum(convolution), 0);
    ck_assert_int_eq(bb_convolution_max_delay(convolution), 0);
    g_autoptr(BbPaths) paths = bb_convolution_run(convolution, one->traffic);
    check_paths(paths);
    ck_assert_int_gt(bb_convolution_quantum(convolution), 50 * US);
    ck_assert_int_lt(bb_convolution_quantum(convolution), 10 * MS);
    ck_assert_int_gt(bb_convolution_max_delay(convolution), 80 * MS);
    ck_assert_double_ge(right_share(one, paths), 0.8);
}
END_TEST

static void plant_delay(Planted *planted, double delay_ms)
{
    planted_hops(planted, 1000, delay_ms * MS, MS);
    bb_traffic_finish(planted->traffic);
}

// A system that becomes eighty times slower: of the second window as much of the past is looked at
// as it needs.
START_TEST(slower_later)
{
    g_autoptr(Planted) fast = planted_new(11), slow = planted_new(12);
    BbConvolutionOptions options = options_of(0, 0);
    plant_delay(fast, 5);
    plant_delay(slow, 400);
    g_autoptr(BbConvolution) convolution = bb_convolution_new(fast->names, &options);
    g_autoptr(BbPaths) before = bb_convolution_run(convolution, fast->traffic);
    ck_assert_int_lt(bb_convolution_max_delay(convolution), 200 * MS);
    g_autoptr(BbPaths) after = bb_convolution_run(convolution, slow->traffic);
    ck_assert_int_gt(bb_convolution_max_delay(convolution), 800 * MS);
    ck_assert_int_lt(bb_convolution_quantum(convolution), 5 * MS); // as fine as before
    check_paths(after);
    ck_assert_double_ge(right_share(fast, before), 0.9);
    ck_assert_double_ge(right_share(slow, after), 0.9);
}
END_TEST

// Nothing shows a scale: of what a given root sends it is known that it has no cause, of others
// not.
START_TEST(roots_without_scale)
{
    g_autoptr(Planted) planted = planted_new(14);
    planted_noise(planted, "A", "B", 40, 100 * SECOND);
    planted_noise(planted, "B", "C", 40, 100 * SECOND);
    planted_noise(planted, "C", "D", 40, 100 * SECOND);
    g_autoptr(BbGlobs) roots = bb_globs_new("B");
    BbConvolutionOptions options = options_of(0, 0);
    options.root = roots;
    g_autoptr(BbPaths) paths = run(planted, &options);
    check_paths(paths);
    ck_assert_uint_eq(paths->facts.unrelated, 40);
    guint32 c = bb_names_find(planted->names, "C");
    for (guint32 i = 0; i < paths->n_calls; i++)
        ck_assert((paths->confidence[i] == BB_CONFIDENCE_NONE) == (paths->calls[i].caller == c));
}
END_TEST

// B sends to C after what A sends to it, and to D whenever it likes: that nothing causes these is
// not said to be sure, that nothing causes A's is.
START_TEST(unknown_and_none)
{
    g_autoptr(Planted) planted = planted_new(13);
    planted_hops(planted, 1000, 20.0 * MS, 2.0 * MS);
    planted_noise(planted, "B", "D", 500, 100 * SECOND);
    BbConvolutionOptions options = options_of(2 * MS, 500 * MS);
    g_autoptr(BbPaths) paths = run(planted, &options);
    check_paths(paths);
    guint32 d = bb_names_find(planted->names, "D"), a = bb_names_find(planted->names, "A");
    for (guint32 i = 0; i < paths->n_calls; i++) {
        if (paths->calls[i].callee == d)
            ck_assert(paths->confidence[i] == BB_CONFIDENCE_NONE);
        else
            ck_assert(paths->confidence[i] >= 0);
        if (paths->calls[i].caller == a)
            ck_assert(paths->confidence[i] == 1);
    }
}
END_TEST

// ---- options -----------------------------------------------------------------------------------

START_TEST(a_given_root_has_no_causes)
{
    g_autoptr(Planted) planted = planted_new(6), again = planted_new(6);
    plant_shop(planted, shop, 800, 400 * SECOND);
    plant_shop(again, shop, 800, 400 * SECOND);
    BbConvolutionOptions options = options_of(2 * MS, 500 * MS);
    g_autoptr(BbPaths) paths = run(planted, &options);
    g_autoptr(BbGlobs) roots = bb_globs_new("C*,none");
    options.root = roots;
    g_autoptr(BbPaths) rooted = run(again, &options);
    check_paths(rooted);
    guint32 root = bb_names_find(again->names, "C");
    guint caused = 0;
    for (guint32 i = 0; i < rooted->n_calls; i++) {
        if (rooted->calls[i].caller == root) {
            caused += paths->parent[i] != BB_CALL_NO_PARENT;
            ck_assert_uint_eq(rooted->parent[i], BB_CALL_NO_PARENT);
        }
    }
    ck_assert_uint_ge(caused, 600);
    ck_assert_uint_ge(rooted->n_instances, paths->n_instances + caused / 2);
}
END_TEST

// A client sends its next call a while after it got the return: that one does not cause it.
START_TEST(clients_begin_anew)
{
    g_autoptr(Planted) planted = planted_new(10);
    gint64 at = EPOCH;
    for (guint i = 0; i < 500; i++) {
        guint32 call = planted_send_kind(planted, BB_CALL, "A", "B", at, PLANTED_ROOT);
        at = planted_later(planted, at, 30.0 * MS, 5.0 * MS);
        planted_send_kind(planted, BB_RETURN, "B", "A", at, call);
        at = planted_later(planted, at, 200.0 * MS, 2.0 * MS);
    }
    BbConvolutionOptions options = options_of(2 * MS, SECOND);
    g_autoptr(BbPaths) paths = run(planted, &options);
    check_paths(paths);
    ck_assert_uint_eq(paths->n_instances, 500);
    ck_assert_double_ge(right_share(planted, paths), 0.99);
}
END_TEST

// B answers A a while after C answered B: the call itself has nothing to do with it.
START_TEST(derived_pairs_are_listed)
{
    g_autoptr(Planted) planted = planted_new(7);
    plant_shop(planted, shop, 1500, 300 * SECOND);
    BbConvolutionOptions options = options_of(2 * MS, 500 * MS);
    options.derived = true;
    g_autoptr(BbPaths) paths = run(planted, &options);
    check_paths(paths);
    const BbDerived *aba = NULL;
    for (guint i = 0; i < paths->derived->len; i++) {
        const BbDerived *derived = &g_array_index(paths->derived, BbDerived, i);
        ck_assert(i == 0 || derived[-1].count >= derived->count);
        ck_assert_uint_gt(derived->count, 0);
        if (derived->from == bb_names_find(planted->names, "A") &&
            derived->via == bb_names_find(planted->names, "B") && derived->to == derived->from)
            aba = derived;
    }
    ck_assert_ptr_nonnull(aba);
    ck_assert_double_eq_tol((double)aba->count, 1000, 150);
    ck_assert_double_eq_tol((double)aba->delay_ns, 75.0 * MS, 15.0 * MS);
}
END_TEST

// Stamps of B are 30 ms behind: its messages seem to come before their causes.
START_TEST(skewed_clocks)
{
    for (guint allowed = 0; allowed < 2; allowed++) {
        g_autoptr(Planted) planted = planted_new(8);
        for (guint i = 0; i < 800; i++) {
            gint64 at = EPOCH + (gint64)bb_random_below(&planted->random, 400 * SECOND);
            guint32 cause = planted_send(planted, "A", "B", at, PLANTED_ROOT);
            planted_send(planted, "B", "C",
                         planted_later(planted, at, 10.0 * MS, 2.0 * MS) - 30 * MS, cause);
        }
        BbConvolutionOptions options = options_of(MS, 200 * MS);
        options.skew_ns = allowed ? 50 * MS : 0;
        g_autoptr(BbPaths) paths = run(planted, &options);
        check_paths(paths);
        if (!allowed) {
            ck_assert_uint_eq(paths->n_instances, paths->n_calls);
            continue;
        }
        ck_assert_double_ge(right_share(planted, paths), 0.97);
        ck_assert_uint_ge(paths->n_modes, 1);
        for (guint32 i = 0; i < paths->n_calls; i++)
            if (paths->mode[i] != BB_MODE_NONE)
                ck_assert_double_eq_tol((double)paths->modes[paths->mode[i]].delay_ns, -20.0 * MS,
                                        1.0 * MS);
    }
}
END_TEST

START_TEST(skew_makes_no_cycles)
{
    g_autoptr(Planted) planted = planted_new(9);
    for (guint i = 0; i < 800; i++) {
        gint64 at = EPOCH + (gint64)bb_random_below(&planted->random, 100 * SECOND);
        guint32 cause = planted_send(planted, "A", "B", at, PLANTED_ROOT);
        planted_send(planted, "B", "A", planted_later(planted, at, 1.0 * MS, 5.0 * MS), cause);
    }
    BbConvolutionOptions options = options_of(MS, 50 * MS);
    options.skew_ns = 50 * MS;
    g_autoptr(BbPaths) paths = run(planted, &options);
    check_paths(paths);
}
END_TEST

// ---- little, and nothing -----------------------------------------------------------------------

// Few coarse quanta: lags beyond the longest delay tell what chance brings, and nothing else.
START_TEST(longest_delay_holds)
{
    const gint64 longest_ms[] = {30, 80};
    for (guint i = 0; i < G_N_ELEMENTS(longest_ms); i++) {
        g_autoptr(Planted) planted = planted_new(5);
        planted_hops(planted, 400, 55.0 * MS, 2.0 * MS);
        BbConvolutionOptions options = options_of(10 * MS, longest_ms[i] * MS);
        g_autoptr(BbPaths) paths = run(planted, &options);
        check_paths(paths);
        guint caused = 0, late = 0;
        for (guint32 k = 0; k < paths->n_calls; k++) {
            if (paths->parent[k] == BB_CALL_NO_PARENT)
                continue;
            caused++;
            late += paths->calls[k].call_ns - paths->calls[paths->parent[k]].arrived_ns >
                    longest_ms[i] * MS;
        }
        ck_assert_uint_eq(late, 0);
        if (longest_ms[i] < 50)
            ck_assert_uint_eq(caused, 0);
        else
            ck_assert_uint_ge(caused, 380);
    }
}
END_TEST

// A delay of 1 ms, and one of 30 s: quanta that suit the first one alone do not reach the other.
static Planted *plant_fast_and_slow(void)
{
    Planted *planted = planted_new(8);
    for (guint i = 0; i < 6000; i++) {
        gint64 at = EPOCH + (gint64)bb_random_below(&planted->random, 2000 * SECOND);
        bool fast = i % 3 > 0;
        guint32 cause = planted_send(planted, fast ? "A" : "D", fast ? "B" : "E", at, PLANTED_ROOT);
        at = planted_later(planted, at, fast ? 1.0 * MS : 30.0 * SECOND,
                           fast ? 0.05 * MS : 1.0 * SECOND);
        planted_send(planted, fast ? "B" : "E", fast ? "C" : "F", at, cause);
    }
    bb_traffic_finish(planted->traffic);
    return planted;
}

// What was given is looked at, whatever is found of the other: in the whole trace, if it is beyond.
START_TEST(longest_delay_is_reached)
{
    const gint64 longest[] = {60 * SECOND, 4000 * 1000 * SECOND};
    for (guint i = 0; i < G_N_ELEMENTS(longest); i++) {
        g_autoptr(Planted) planted = plant_fast_and_slow();
        BbConvolutionOptions options = options_of(0, longest[i]);
        g_autoptr(BbConvolution) convolution = bb_convolution_new(planted->names, &options);
        g_autoptr(BbPaths) paths = bb_convolution_run(convolution, planted->traffic);
        check_paths(paths);
        ck_assert_double_ge(right_share(planted, paths), 0.7);
        guint32 caused = 0;
        for (guint32 k = 0; k < paths->n_calls; k++)
            caused += paths->parent[k] != BB_CALL_NO_PARENT;
        ck_assert_uint_ge(caused, 5800);
    }
    g_autoptr(Planted) planted = plant_fast_and_slow();
    BbConvolutionOptions options = options_of(1, 0);
    g_autoptr(BbConvolution) convolution = bb_convolution_new(planted->names, &options);
    g_autoptr(BbPaths) paths = bb_convolution_run(convolution, planted->traffic);
    check_paths(paths);
    ck_assert_int_eq(bb_convolution_max_delay(convolution), BB_CONVOLUTION_LAGS_MAX);
}
END_TEST

START_TEST(little_traffic)
{
    for (guint n = 0; n < 8; n++)
        for (guint given = 0; given < 2; given++) {
            g_autoptr(Planted) planted = planted_new(n);
            for (guint i = 0; i < n; i++)
                planted_send(planted, i % 2 ? "B" : "A", i % 2 ? "C" : "B",
                             EPOCH + (gint64)bb_random_below(&planted->random, SECOND),
                             PLANTED_ROOT);
            BbConvolutionOptions options = options_of(given ? MS : 0, given ? SECOND : 0);
            g_autoptr(BbPaths) paths = run(planted, &options);
            check_paths(paths);
            ck_assert_uint_eq(paths->n_calls, n);
            ck_assert_uint_eq(paths->n_instances, n);
        }
}
END_TEST

START_TEST(all_at_one_time)
{
    for (guint given = 0; given < 2; given++) {
        g_autoptr(Planted) planted = planted_new(1);
        for (guint i = 0; i < 300; i++)
            planted_send(planted, i % 2 ? "B" : "A", i % 2 ? "A" : "B", EPOCH, PLANTED_ROOT);
        BbConvolutionOptions options = options_of(given ? MS : 0, given ? SECOND : 0);
        options.skew_ns = given ? 10 * MS : 0;
        g_autoptr(BbPaths) paths = run(planted, &options);
        check_paths(paths);
        ck_assert_uint_eq(paths->n_calls, 300);
    }
}
END_TEST

START_TEST(messages_to_oneself)
{
    g_autoptr(Planted) planted = planted_new(1);
    for (guint i = 0; i < 400; i++)
        planted_send(planted, "A", "A", EPOCH + i * 10 * MS, i ? i - 1 : PLANTED_ROOT);
    BbConvolutionOptions options = options_of(MS, 100 * MS);
    g_autoptr(BbPaths) paths = run(planted, &options);
    check_paths(paths); // none is its own cause
}
END_TEST

// Independent streams under a load that is constant, that swings, that goes on and off.
START_TEST(nothing_causes_nothing)
{
    guint caused = 0, messages = 0;
    for (guint load = 0; load < 3; load++)
        for (guint64 seed = 0; seed < 4; seed++) {
            g_autoptr(Planted) planted = planted_new(seed);
            for (guint i = 0; i < 1800; i++) {
                double at;
                bool kept;
                do {
                    at = bb_random_unit(&planted->random) * 120;
                    kept = load == 0 ||
                           (load == 1 && bb_random_chance(&planted->random,
                                                          0.5 + 0.5 * sin(at / 60 * 2 * G_PI))) ||
                           (load == 2 && fmod(at, 20) < 10);
                } while (!kept);
                const char *const ends[][2] = {{"A", "B"}, {"X", "B"}, {"B", "C"}, {"B", "Y"}};
                planted_send(planted, ends[i % 4][0], ends[i % 4][1], EPOCH + (gint64)(at * 1e9),
                             PLANTED_ROOT);
            }
            BbConvolutionOptions options = options_of(5 * MS, SECOND);
            g_autoptr(BbPaths) paths = run(planted, &options);
            check_paths(paths);
            messages += paths->n_calls;
            caused += paths->n_calls - paths->n_instances;
        }
    ck_assert_uint_eq(messages, 12 * 1800);
    ck_assert_uint_eq(caused, 0);
}
END_TEST

TEST_MAIN("convolution", a_shop, as_many_threads_as_you_like, names_in_any_order_of_numbers,
          other_names, runs_again, slower_later, unknown_and_none, roots_without_scale,
          a_given_root_has_no_causes, clients_begin_anew, derived_pairs_are_listed, skewed_clocks,
          skew_makes_no_cycles, longest_delay_holds, longest_delay_is_reached, little_traffic,
          all_at_one_time, messages_to_oneself, nothing_causes_nothing)
