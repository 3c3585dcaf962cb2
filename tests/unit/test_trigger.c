// SPDX-License-Identifier: Apache-2.0
// Triggers: what their texts mean, and when they fire. The slow twin keeps every message and asks
// the rule's question anew at the end of each slice.
#include "diagnose/trigger.h"

#include "data/stats.h"
#include "tests/unit/test.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#define MS ((gint64)1000000)
#define S ((gint64)1000000000)
#define START (1700000000 * S)

// ---- texts --------------------------------------------------------------------------------------

START_TEST(texts_say_what_they_mean)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(BbTriggerRule) p99 =
        bb_trigger_rule_parse(" latency(GET /order/*) p99 > 500ms over 10s ", &error);
    ck_assert_ptr_nonnull(p99);
    ck_assert_str_eq(p99->text, "latency(GET /order/*) p99 > 500ms over 10s");
    ck_assert_int_eq(p99->kind, BB_TRIGGER_LATENCY);
    ck_assert_int_eq(p99->figure, BB_TRIGGER_QUANTILE);
    ck_assert_double_eq(p99->quantile, 0.99);
    ck_assert_int_eq(p99->limit_ns, 500 * MS);
    ck_assert_int_eq(p99->window_ns, 10 * S);
    ck_assert_uint_eq(p99->least, BB_TRIGGER_LEAST);
    ck_assert(bb_globs_match(p99->globs, "GET /order/7"));
    g_autoptr(BbTriggerRule) max =
        bb_trigger_rule_parse("latency(a,f(b))max>1.5s over 2min", &error);
    ck_assert_ptr_nonnull(max);
    ck_assert_uint_eq(max->least, 1);
    ck_assert_int_eq(max->limit_ns, 1500 * MS);
    ck_assert_int_eq(max->window_ns, 120 * S);
    ck_assert(bb_globs_match(max->globs, "f(b)") && !bb_globs_match(max->globs, "f(b"));
    g_autoptr(BbTriggerRule) errors =
        bb_trigger_rule_parse("errors(db*) > 2.5% over 1h min 7", &error);
    ck_assert_ptr_nonnull(errors);
    ck_assert_double_eq(errors->share, 0.025);
    ck_assert_uint_eq(errors->least, 7);
    g_autoptr(BbTriggerRule) open = bb_trigger_rule_parse("open(*) > 30s", &error);
    ck_assert_int_eq(open->kind, BB_TRIGGER_OPEN);
    g_autoptr(BbTriggerRule) silent = bb_trigger_rule_parse("silent(db1) > 10 s", &error);
    ck_assert_int_eq(silent->kind, BB_TRIGGER_SILENT);
    ck_assert_int_eq(silent->limit_ns, 10 * S);
}
END_TEST

START_TEST(wrong_texts_are_refused_at_their_place)
{
    static const char *const texts[][2] = {
        {"", "at its end: expected latency"},
        {"latent(x) p99 > 1s over 1s", "character 1,"},
        {"latency", "at its end: expected '('"},
        {"latency(x p99 > 1s over 1s", "at its end: expected ')'"},
        {"latency() p99 > 1s over 1s", "character 9,"},
        {"latency(a,,b) p99 > 1s over 1s", "character 9,"},
        {"latency(x) > 1s over 1s", "character 12,"},
        {"latency(x) p101 > 1s over 1s", "character 12,"},
        {"latency(x) p99 < 1s over 1s", "character 16,"},
        {"latency(x) p99 > -1s over 1s", "character 18,"},
        {"latency(x) p99 > 1e3s over 1s", "character 19,"},
        {"latency(x) p99 > 1 over 1s", "character 20,"},
        {"latency(x) p99 > 1.5.2s over 1s", "character 18,"},
        {"latency(x) p99 > 1s", "at its end: expected 'over'"},
        {"latency(x) p99 > 1s over", "at its end: expected a time"},
        {"latency(x) p99 > 1s over 1ms", "character 26,"},
        {"latency(x) p99 > 1s over 25h", "character 26,"},
        {"latency(x) p99 > 1s over 1s min 0", "character 33,"},
        {"latency(x) p99 > 1s over 1s min 1.5", "character 33,"},
        {"latency(x) p99 > 1s over 1s, please", "character 28,"},
        {"errors(x) > 5 over 1s", "character 13,"},
        {"errors(x) > 100% over 1s", "character 13,"},
        {"open(x) > 0s", "character 11,"},
        {"open(x) > 1s over 1s", "character 14,"},
        {"silent(x)", "at its end: expected '>'"},
    };
    for (gsize i = 0; i < G_N_ELEMENTS(texts); i++) {
        g_autoptr(GError) error = NULL;
        ck_assert_msg(!bb_trigger_rule_parse(texts[i][0], &error), "%s", texts[i][0]);
        ck_assert_msg(strstr(error->message, texts[i][1]), "%s", error->message);
    }
    g_autofree char *text = g_strnfill(BB_TRIGGER_TEXT_MAX + 1, 'x');
    ck_assert_ptr_null(bb_trigger_rule_parse(text, NULL));
    ck_assert_ptr_null(bb_trigger_rule_parse("open(\xff) > 1s", NULL));
}
END_TEST

// ---- the slow twin ------------------------------------------------------------------------------

static const char *const rules[] = {
    "latency(GET *) p90 > 60ms over 2s",
    "latency(app) mean > 35ms over 4s min 5",
    "latency(*) max > 140ms over 1s",
    "errors(db,GET /b) > 20% over 3s",
    "open(*) > 400ms",
    "silent(db,app) > 900ms",
    "errors(*) > 12% over 500ms min 3",
    "open(GET /a) > 1s",
};
#define RULES G_N_ELEMENTS(rules)

typedef struct {
    bool tick; // else a message
    gint64 time_ns;
    BbMessage message;
} Event;

typedef struct {
    guint rule;
    gint64 time_ns;
} Fired;

typedef struct {
    BbNames *names;
    GArray *events; // of Event, in order of arrival
} Story;

static guint32 pick(Story *story, GRand *rand, const char *const *texts, gint count)
{
    return bb_names_intern(story->names, texts[g_rand_int_range(rand, 0, count)]);
}

static void add(Story *story, const BbMessage *message)
{
    const Event event = {.time_ns = message->time_ns, .message = *message};
    g_array_append_val(story->events, event);
}

static void add_call(Story *story, GRand *rand, gint64 at_ns, bool bad)
{
    static const char *const nodes[] = {"web", "app", "db"},
                             *const ops[] = {"GET /a", "GET /b", "PING"},
                             *const codes[] = {"200", "200", "200", "200", "500"};
    BbMessage call = bb_message_empty();
    call.kind = BB_CALL;
    call.time_ns = at_ns;
    call.sender = bb_names_intern(story->names, "client");
    call.receiver = pick(story, rand, nodes, 3);
    call.op = pick(story, rand, ops, 3);
    call.proto = bb_names_intern(story->names, "http");
    call.id =
        bb_id_number((guint64)g_rand_int_range(rand, 0, 300)); // ids come again, also while open
    add(story, &call);
    if (g_rand_int_range(rand, 0, 50) == 0)
        return;
    BbMessage back = call;
    back.kind = BB_RETURN;
    back.sender = call.receiver;
    back.receiver = call.sender;
    back.time_ns += g_rand_int_range(rand, 1, bad ? 200 : 50) * MS;
    back.status = pick(story, rand, codes, bad ? 5 : 4);
    if (g_rand_int_range(rand, 0, 30) == 0)
        back.id = (BbId){0};
    add(story, &back);
}

static gint by_arrival(gconstpointer a, gconstpointer b)
{
    gint64 x = ((const Event *)a)->message.end_ns, y = ((const Event *)b)->message.end_ns;
    return (x > y) - (x < y);
}

// Some 40 s, with bad times and gaps; end_ns is when a message arrives, up to seconds after its
// time.
static Story *story_new(guint32 seed)
{
    g_autoptr(GRand) rand = g_rand_new_with_seed(seed);
    Story *story = g_new0(Story, 1);
    story->names = bb_names_new();
    story->events = g_array_new(FALSE, FALSE, sizeof(Event));
    gint64 at_ns = START;
    for (guint i = 0; i < 1500; i++) {
        at_ns += g_rand_int_range(rand, 0, 40) * MS;
        if (g_rand_int_range(rand, 0, 200) == 0)
            at_ns += g_rand_int_range(rand, 1, 6000) * MS;
        add_call(story, rand, at_ns, i / 150 % 2);
        if (g_rand_int_range(rand, 0, 10) == 0) {
            const Event tick = {.tick = true, .time_ns = at_ns};
            g_array_append_val(story->events, tick);
        }
    }
    for (guint i = 0; i < story->events->len; i++) {
        Event *event = &g_array_index(story->events, Event, i);
        gint late = g_rand_int_range(rand, 0, 20) ? 0 : g_rand_int_range(rand, 0, 5000);
        event->message.end_ns = event->time_ns + (event->tick ? 0 : late) * MS;
    }
    g_array_sort(story->events, by_arrival);
    return story;
}

static void story_free(Story *story)
{
    bb_names_free(story->names);
    g_array_unref(story->events);
    g_free(story);
}

static const Event *event_at(const Story *story, guint i)
{
    return &g_array_index(story->events, Event, i);
}

static bool is_of(const BbMessage *a, const BbMessage *b) // a call and its return, or two calls
{
    bool back = b->kind == BB_RETURN;
    return bb_id_is_known(a->id) && bb_id_equal(a->id, b->id) &&
           a->sender == (back ? b->receiver : b->sender) &&
           a->receiver == (back ? b->sender : b->receiver);
}

// The call that return i answers: the last one of its key, if no return took it. -1 for none.
static gint call_of(const Story *story, guint i)
{
    for (gint k = (gint)i - 1; k >= 0; k--) {
        const Event *event = event_at(story, (guint)k);
        const BbMessage *back = &event_at(story, i)->message;
        if (event->tick)
            continue;
        if (event->message.kind == BB_CALL && is_of(&event->message, back))
            return k;
        if (event->message.kind == BB_RETURN && bb_id_is_known(back->id) &&
            bb_id_equal(event->message.id, back->id) && event->message.sender == back->sender &&
            event->message.receiver == back->receiver)
            return -1;
    }
    return -1;
}

static bool matches(const Story *story, const BbTriggerRule *rule, guint32 op, guint32 callee)
{
    return (op && bb_globs_match(rule->globs, bb_names_text(story->names, op))) ||
           bb_globs_match(rule->globs, bb_names_text(story->names, callee));
}

// Whether the window before slice end is bad, as far as the first so many events tell.
static bool is_bad(const Story *story, const BbTriggerRule *rule, guint events, gint64 end,
                   gint64 step_ns)
{
    g_autoptr(BbStats) latency = bb_stats_new();
    guint64 returns = 0, errors = 0;
    for (guint i = 0; i < events; i++) {
        const Event *event = event_at(story, i);
        gint64 slice = event->time_ns / step_ns;
        if (event->tick || event->message.kind != BB_RETURN || slice >= end ||
            slice < end - BB_TRIGGER_SLICES)
            continue;
        // The operation is that of the call, too: an id that came again may be another's.
        gint call = call_of(story, i);
        const BbMessage *back = &event->message;
        if (!matches(story, rule, back->op, back->sender) &&
            (call < 0 ||
             !matches(story, rule, event_at(story, (guint)call)->message.op, back->sender)))
            continue;
        returns++;
        errors += strcmp(bb_names_text(story->names, event->message.status), "500") == 0;
        if (call >= 0)
            bb_stats_push(latency, MAX(event->time_ns - event_at(story, (guint)call)->time_ns, 0));
    }
    if (rule->kind == BB_TRIGGER_ERRORS)
        return returns >= rule->least && (double)errors > rule->share * (double)returns;
    gint64 figure = rule->figure == BB_TRIGGER_MEAN  ? bb_stats_mean(latency)
                    : rule->figure == BB_TRIGGER_MAX ? bb_stats_max(latency)
                                                     : bb_stats_quantile(latency, rule->quantile);
    return bb_stats_count(latency) >= rule->least && figure > rule->limit_ns;
}

static bool is_closed(const Story *story, guint call, guint events)
{
    for (guint i = call + 1; i < events; i++) {
        const Event *event = event_at(story, i);
        if (!event->tick && is_of(&event_at(story, call)->message, &event->message))
            return true;
    }
    return false;
}

// A call that is open for too long now and was not yet told, or is told now.
static bool is_stuck(const Story *story, const BbTriggerRule *rule, guint events, gint64 time_ns,
                     bool *told)
{
    bool any = false;
    for (guint i = 0; i < events; i++) {
        const Event *event = event_at(story, i);
        if (event->tick || event->message.kind != BB_CALL || told[i] ||
            time_ns - event->time_ns <= rule->limit_ns ||
            !matches(story, rule, event->message.op, event->message.receiver) ||
            is_closed(story, i, events))
            continue;
        told[i] = any = true;
    }
    return any;
}

// A node that has fallen silent: told[] has how many of its messages there were when it was told.
static bool is_silent(const Story *story, const BbTriggerRule *rule, guint events, gint64 time_ns,
                      guint *told)
{
    bool any = false;
    for (guint32 node = 1; node < bb_names_count(story->names); node++) {
        gint64 last_ns = BB_TIME_NONE;
        guint sent = 0;
        for (guint i = 0; i < events; i++) {
            const Event *event = event_at(story, i);
            if (event->tick || event->message.sender != node)
                continue;
            last_ns = MAX(last_ns, event->time_ns);
            sent++;
        }
        if (!sent || !bb_globs_match(rule->globs, bb_names_text(story->names, node)) ||
            time_ns - last_ns <= rule->limit_ns || told[node] == sent)
            continue;
        told[node] = sent;
        any = true;
    }
    return any;
}

static void twin_rule(const Story *story, guint number, GArray *fired)
{
    g_autoptr(BbTriggerRule) rule = bb_trigger_rule_parse(rules[number], NULL);
    bool window = rule->kind == BB_TRIGGER_LATENCY || rule->kind == BB_TRIGGER_ERRORS;
    gint64 step_ns = window ? rule->window_ns / BB_TRIGGER_SLICES
                            : MAX(rule->limit_ns / BB_TRIGGER_SLICES, 10 * MS);
    g_autofree bool *told = g_new0(bool, story->events->len);
    g_autofree guint *told_nodes = g_new0(guint, bb_names_count(story->names));
    bool high = false;
    gint64 slice = event_at(story, 0)->time_ns / step_ns;
    for (guint i = 0; i < story->events->len; i++) {
        gint64 now = event_at(story, i)->time_ns / step_ns;
        for (gint64 end = window ? slice + 1 : now; end > slice && end <= now; end++) {
            bool bad = window ? is_bad(story, rule, i, end, step_ns)
                       : rule->kind == BB_TRIGGER_OPEN
                           ? is_stuck(story, rule, i, end * step_ns, told)
                           : is_silent(story, rule, i, end * step_ns, told_nodes);
            const Fired one = {number, end * step_ns};
            if (bad && !high)
                g_array_append_val(fired, one);
            high = bad && window;
        }
        slice = MAX(slice, now);
    }
}

static GArray *fast(const Story *story)
{
    GArray *fired = g_array_new(FALSE, FALSE, sizeof(Fired));
    g_autoptr(BbTriggers) triggers = bb_triggers_new(story->names);
    for (guint i = 0; i < RULES; i++)
        ck_assert(bb_triggers_add(triggers, rules[i], NULL));
    for (guint i = 0; i < story->events->len; i++) {
        const Event *event = event_at(story, i);
        if (event->tick)
            bb_triggers_tick(triggers, event->time_ns);
        else
            bb_triggers_push(triggers, &event->message);
        BbTriggerFiring firing;
        while (bb_triggers_next(triggers, &firing)) {
            const Fired one = {firing.rule, firing.time_ns};
            g_array_append_val(fired, one);
            g_free(firing.what);
        }
    }
    return fired;
}

static gint by_rule(gconstpointer a, gconstpointer b)
{
    const Fired *x = a, *y = b;
    return x->rule != y->rule ? (x->rule > y->rule) - (x->rule < y->rule)
                              : (x->time_ns > y->time_ns) - (x->time_ns < y->time_ns);
}

START_TEST(fires_as_one_who_keeps_everything)
{
    guint32 seed = test_seed("trigger");
    guint sum[RULES] = {0};
    for (guint round = 0; round < 4; round++) {
        Story *story = story_new(seed + round);
        g_autoptr(GArray) got = fast(story);
        g_autoptr(GArray) expected = g_array_new(FALSE, FALSE, sizeof(Fired));
        for (guint i = 0; i < RULES; i++)
            twin_rule(story, i, expected);
        g_array_sort(got, by_rule);
        for (guint i = 0; i < MAX(got->len, expected->len); i++) {
            ck_assert_uint_lt(i, got->len);
            ck_assert_uint_lt(i, expected->len);
            const Fired *a = &g_array_index(got, Fired, i), *b = &g_array_index(expected, Fired, i);
            ck_assert_uint_eq(a->rule, b->rule);
            ck_assert_int_eq(a->time_ns, b->time_ns);
            sum[a->rule]++;
        }
        story_free(story);
    }
    for (guint i = 0; i < RULES; i++)
        ck_assert_msg(sum[i] > 0, "%s never fired", rules[i]);
}
END_TEST

// ---- by hand ------------------------------------------------------------------------------------

typedef struct {
    BbNames *names;
    BbTriggers *triggers;
    GString *fired; // "seconds what;..."
} Bench;

static Bench bench_new(const char *rule)
{
    Bench bench = {.names = bb_names_new(), .fired = g_string_new(NULL)};
    bench.triggers = bb_triggers_new(bench.names);
    ck_assert(bb_triggers_add(bench.triggers, rule, NULL));
    return bench;
}

static void bench_clear(Bench *bench)
{
    bb_triggers_free(bench->triggers);
    bb_names_free(bench->names);
    g_string_free(bench->fired, TRUE);
}

static void collect(Bench *bench)
{
    BbTriggerFiring firing;
    while (bb_triggers_next(bench->triggers, &firing)) {
        g_string_append_printf(bench->fired, "%.3f %s;", (double)(firing.time_ns - START) / 1e9,
                               firing.what);
        g_free(firing.what);
    }
}

static void say(Bench *bench, BbKind kind, guint64 id, gint64 at_ns, const char *status)
{
    BbMessage message = bb_message_empty();
    bool back = kind == BB_RETURN;
    message.kind = kind;
    message.time_ns = START + at_ns;
    message.sender = bb_names_intern(bench->names, back ? "db\x01\xff" : "app");
    message.receiver = bb_names_intern(bench->names, back ? "app" : "db\x01\xff");
    message.op = bb_names_intern(bench->names, "SELECT *");
    message.status = bb_names_intern(bench->names, status);
    message.id = bb_id_number(id);
    bb_triggers_push(bench->triggers, &message);
    collect(bench);
}

static void wait_until(Bench *bench, gint64 at_ns)
{
    bb_triggers_tick(bench->triggers, START + at_ns);
    collect(bench);
}

START_TEST(a_bad_time_fires_once_and_says_its_figure)
{
    Bench bench = bench_new("latency(SELECT*) p90 > 100ms over 2s min 10");
    for (guint i = 0; i < 100; i++) {
        say(&bench, BB_CALL, i, i * 100 * MS, "");
        say(&bench, BB_RETURN, i, i * 100 * MS + (i >= 40 && i < 60 ? 99 : 5) * MS, "ok");
    }
    ck_assert_str_eq(bench.fired->str, "");
    for (guint i = 100; i < 200; i++) {
        say(&bench, BB_CALL, i, i * 100 * MS, "");
        say(&bench, BB_RETURN, i, i * 100 * MS + (i >= 120 && i < 160 ? 150 : 5) * MS, "ok");
    }
    ck_assert_str_eq(bench.fired->str, "12.300 p90 150 ms of 19 calls;");
    bench_clear(&bench);
}
END_TEST

START_TEST(few_calls_do_not_count)
{
    Bench bench = bench_new("errors(*) > 50% over 1s");
    for (guint i = 0; i < 9; i++)
        say(&bench, BB_RETURN, i, i * 10 * MS, "error");
    wait_until(&bench, 5 * S);
    ck_assert_str_eq(bench.fired->str, "");
    for (guint i = 0; i < 10; i++)
        say(&bench, BB_RETURN, i, 6 * S + i * MS, i < 6 ? "error" : "ok");
    wait_until(&bench, 9 * S);
    ck_assert_str_eq(bench.fired->str, "6.050 6 errors in 10 returns;");
    bench_clear(&bench);
}
END_TEST

// What is left out is heard of, but of those alone whom messages came of.
START_TEST(who_is_heard_is_not_silent)
{
    Bench bench = bench_new("silent(*) > 2s");
    ck_assert(bb_triggers_have_silence(bench.triggers));
    guint32 unknown = bb_names_intern(bench.names, "nobody");
    say(&bench, BB_RETURN, 1, 0, "ok");
    guint32 db = bb_names_find(bench.names, "db\x01\xff");
    for (gint64 at = 0; at < 100; at++) {
        wait_until(&bench, at * 100 * MS);
        bb_triggers_hear(bench.triggers, db, START + at * 100 * MS + MS);
        bb_triggers_hear(bench.triggers, db, START - S);
        bb_triggers_hear(bench.triggers, unknown, START + at * 100 * MS);
        bb_triggers_hear(bench.triggers, unknown + 1000, START);
    }
    ck_assert_str_eq(bench.fired->str, "");
    wait_until(&bench, 20 * S);
    ck_assert_str_eq(bench.fired->str, "20.000 silent for 10.1 s: db?\xef\xbf\xbd;");
    bb_triggers_hear(bench.triggers, db, START + 20 * S); // it may fall silent again
    wait_until(&bench, 30 * S);
    ck_assert_ptr_nonnull(strstr(bench.fired->str, ";30.000 silent for 10.0 s: "));
    bench_clear(&bench);
    Bench other = bench_new("latency(*) max > 2s over 4s");
    ck_assert(!bb_triggers_have_silence(other.triggers));
    bench_clear(&other);
}
END_TEST

START_TEST(open_calls_and_silences_fire_once_each)
{
    Bench open = bench_new("open(db*) > 2s"), silent = bench_new("silent(db*) > 2s");
    say(&open, BB_CALL, 1, 0, "");
    say(&open, BB_CALL, 2, 50 * MS, "");
    say(&open, BB_CALL, 3, S, "");
    say(&open, BB_RETURN, 3, S + MS, "ok");
    wait_until(&open, 10 * S);
    wait_until(&open, 20 * S);
    ck_assert_str_eq(open.fired->str,
                     "10.000 open for 10.0 s: SELECT * at db?\xef\xbf\xbd, and 1 more;");
    say(&silent, BB_RETURN, 1, 0, "ok");
    for (gint64 at = 0; at < 100; at++)
        wait_until(&silent, at * 100 * MS);
    say(&silent, BB_RETURN, 1, 10 * S, "ok");
    wait_until(&silent, 12 * S);
    wait_until(&silent, 13 * S);
    ck_assert_str_eq(silent.fired->str,
                     "2.100 silent for 2.10 s: db?\xef\xbf\xbd;13.000 silent for "
                     "3.00 s: db?\xef\xbf\xbd;");
    bench_clear(&open);
    bench_clear(&silent);
}
END_TEST

// Processor time of looks at open calls, of which so many have fired already.
static double time_of_looks(guint open)
{
    Bench bench = bench_new("open(*) > 100ms");
    for (guint i = 0; i < open; i++)
        say(&bench, BB_CALL, i, i, "");
    wait_until(&bench, S);
    g_string_truncate(bench.fired, 0);
    clock_t begin = clock();
    for (gint64 at = 0; at < 4000; at++)
        wait_until(&bench, S + at * 10 * MS);
    double seconds = (double)(clock() - begin) / CLOCKS_PER_SEC;
    ck_assert_str_eq(bench.fired->str, "");
    bench_clear(&bench);
    return seconds;
}

START_TEST(a_look_does_not_cost_what_was_looked_at_before)
{
    double few = time_of_looks(10), many = time_of_looks(BB_TRIGGERS_OPEN);
    ck_assert_msg(many < 20 * few + 0.02, "%.3f s, %.3f s", few, many);
}
END_TEST

// A call may be told long after it began.
START_TEST(open_calls_that_are_told_late)
{
    Bench bench = bench_new("open(*) > 2s");
    say(&bench, BB_CALL, 1, 0, "");
    wait_until(&bench, 5 * S);
    say(&bench, BB_CALL, 2, S, "");
    say(&bench, BB_CALL, 3, -S, "");
    wait_until(&bench, 6 * S);
    wait_until(&bench, 9 * S);
    ck_assert_str_eq(bench.fired->str,
                     "5.000 open for 5.00 s: SELECT * at db?\xef\xbf\xbd;"
                     "6.000 open for 7.00 s: SELECT * at db?\xef\xbf\xbd, and 1 more;");
    bench_clear(&bench);
}
END_TEST

static guint32 show_other(gpointer user, guint32 name, bool is_op)
{
    return bb_names_intern(user, is_op ? "an-op" : "a-node");
}

START_TEST(names_are_shown_as_wanted)
{
    Bench bench = bench_new("open(*) > 2s");
    bb_triggers_show(bench.triggers, show_other, bench.names);
    say(&bench, BB_CALL, 1, 0, "");
    wait_until(&bench, 3 * S);
    ck_assert_str_eq(bench.fired->str, "3.000 open for 3.00 s: an-op at a-node;");
    bench_clear(&bench);
}
END_TEST

START_TEST(rules_that_nothing_is_about_are_known)
{
    Bench bench = bench_new("open(db*) > 2s");
    static const char *const more[] = {"latency(SELECT *) max > 1s over 1s",
                                       "errors(app) > 5% over 1s", "silent(app) > 1h",
                                       "silent(d?) > 1h"};
    for (guint i = 0; i < G_N_ELEMENTS(more); i++)
        ck_assert(bb_triggers_add(bench.triggers, more[i], NULL));
    ck_assert(!bb_triggers_have_met(bench.triggers, 0));
    say(&bench, BB_CALL, 1, 0, "");
    static const bool met[] = {true, true, false, true, false};
    for (guint i = 0; i < G_N_ELEMENTS(met); i++)
        ck_assert_msg(bb_triggers_have_met(bench.triggers, i) == met[i], "rule %u", i);
    bench_clear(&bench);
}
END_TEST

START_TEST(a_clock_that_is_set_back_begins_anew)
{
    Bench bench = bench_new("open(*) > 2s");
    say(&bench, BB_CALL, 1, 3600 * S, "");
    wait_until(&bench, 0);
    say(&bench, BB_CALL, 2, 0, "");
    wait_until(&bench, 3 * S);
    ck_assert_uint_eq(bb_triggers_counts(bench.triggers).back, 1);
    ck_assert(g_str_has_prefix(bench.fired->str, "3.000 open for 3.00 s"));
    wait_until(&bench, -5 * S); // that is disorder
    wait_until(&bench, 4 * S);
    ck_assert_uint_eq(bb_triggers_counts(bench.triggers).back, 1);
    bench_clear(&bench);
}
END_TEST

START_TEST(memory_is_bounded)
{
    Bench bench = bench_new("open(*) > 1h");
    ck_assert(bb_triggers_add(bench.triggers, "silent(*) > 1h", NULL));
    for (guint i = 0; i < BB_TRIGGERS_OPEN + 100; i++)
        say(&bench, BB_CALL, i, i, "");
    ck_assert_uint_eq(bb_triggers_counts(bench.triggers).forgotten, 100);
    BbMessage message = bb_message_empty();
    message.time_ns = START;
    for (guint i = 0; i < BB_TRIGGERS_NODES + 9; i++) {
        g_autofree char *name = g_strdup_printf("n%u", i);
        message.sender = bb_names_intern(bench.names, name);
        bb_triggers_push(bench.triggers, &message);
        bb_triggers_push(bench.triggers, &message);
    }
    ck_assert_uint_eq(bb_triggers_counts(bench.triggers).unwatched, 10); // and app before them
    say(&bench, BB_RETURN, 1, 2 * S, "ok");
    say(&bench, BB_RETURN, 1, -3600 * S, "ok");
    for (guint i = 2; i < BB_TRIGGERS; i++)
        ck_assert(bb_triggers_add(bench.triggers, "open(*) > 1h", NULL));
    ck_assert(!bb_triggers_add(bench.triggers, "open(*) > 1h", NULL));
    bench_clear(&bench);
}
END_TEST

TEST_MAIN("trigger", texts_say_what_they_mean, wrong_texts_are_refused_at_their_place,
          fires_as_one_who_keeps_everything, a_bad_time_fires_once_and_says_its_figure,
          few_calls_do_not_count, who_is_heard_is_not_silent,
          open_calls_and_silences_fire_once_each, a_look_does_not_cost_what_was_looked_at_before,
          open_calls_that_are_told_late, names_are_shown_as_wanted,
          rules_that_nothing_is_about_are_known, a_clock_that_is_set_back_begins_anew,
          memory_is_bounded)
