// SPDX-License-Identifier: Apache-2.0
// Scenarios as text: what is refused, with line, reason and remedy; settings, titles, times.
#include "tests/unit/scenario_lines.h"

#define END "tracelet t { rate 1/s; A -> B }"

static GError *refusal_of(const char *text, const char *const *settings)
{
    GError *error = NULL;
    g_autoptr(BbNames) names = bb_names_new();
    g_autoptr(BbScenario) scenario =
        bb_scenario_parse(text, strlen(text), "t.scn", settings, names, &error);
    ck_assert_msg(!scenario && error, "taken: %s", text);
    return error;
}

static const struct {
    const char *text, *message;
} refused[] = {
    // words
    {"\n@", "t.scn:2: '@' means nothing here: remove it, or put quotes around"},
    {"\x01", "t.scn:1: a byte of value 1 means nothing here: remove it"},
    {"tracelet \"t\n", "t.scn:1: a text does not end on its line: put a \" behind it"},
    {"tracelet \"\xff\"", "t.scn:1: a text is not UTF-8"},
    {"\xff", "t.scn:1: a name is not UTF-8"},
    {"duration 1.2.3s", "t.scn:1: 1.2.3 is no number"},
    {"duration $d", "t.scn:1: $d was not set: write `set d VALUE` on a line above"},
    {"duration $", "t.scn:1: $ was not set: write `set NAME VALUE`"},
    {"set", "t.scn:1: expected a statement"},
    {"set d", "t.scn:1: $d has no value: write `set d VALUE`"},
    {"set  ", "t.scn:1: set what? Write `set NAME VALUE`"},
    {"set d 1s\nset d 2s", "t.scn:2: $d is set twice: remove one"},
    {"set d # nothing", "t.scn:1: $d has no value"},
    // statements
    {"", "t.scn:1: no tracelet: nothing would happen"},
    {"duration 1s\n\n", "t.scn:1: no tracelet"},
    {"go", "t.scn:1: expected a statement: set calls duration"},
    {"calls 5ms", "t.scn:1: expected after, not '5ms'"},
    {"duration 5", "t.scn:1: expected a time, such as 50ms"},
    {"duration 5parsec", "t.scn:1: expected a time"},
    {"duration 1000000h", "t.scn:1: expected a time"},
    {"duration 1s messages 5", "t.scn:1: expected ; or another line, not 'messages'"},
    {"messages 1.5", "t.scn:1: expected a whole number up to 9007199254740992, not '1.5'"},
    {"resolution 0", "t.scn:1: resolution 0: the finest is 1ns"},
    // delays
    {"network 0~10%", "t.scn:1: a delay of 0 cannot deviate"},
    {"network 1ms~2s", "t.scn:1: a deviation of more than 10 times the mean"},
    {"network 5ms..1ms", "t.scn:1: the range goes down: put the shorter time first"},
    {"network lognormal 5ms", "t.scn:1: expected ~, but the text ends here"},
    {"network pareto 5ms 0", "t.scn:1: expected the shape of the Pareto distribution"},
    {"network 1s+1s+1s+1s+1s", "t.scn:1: a delay of more than 4 terms: leave some out"},
    // replicas and services
    {"replicas = A", "t.scn:1: expected the name of a node, not '='"},
    {"replicas A", "t.scn:1: expected =, but the text ends here"},
    {"replicas A = A1\nreplicas A = A2", "t.scn:2: 'A' is known above"},
    {"tracelet t { rate 1/s; A -> B }\nreplicas B = B1", "t.scn:2: 'B' is known above"},
    {"replicas A = A1..B3", "t.scn:1: no range from 'A1' to 'B3'"},
    {"replicas A = A3..A1", "t.scn:1: no range from 'A3' to 'A1'"},
    {"replicas A = A1..A99999", "t.scn:1: no range"},
    {"replicas A = A1..5", "t.scn:1: expected the last name of the range"},
    {"replicas A = A1 0%, A2 0%", "t.scn:1: the shares of the replicas are all 0"},
    {"service S { }\nservice S { }", "t.scn:2: a second service of that name and label"},
    {"service S {", "t.scn:1: expected a step: -> ~> async"},
    // limits
    {"workers B", "t.scn:1: expected a whole number up to 1048576, but the text ends here"},
    {"workers B 0", "t.scn:1: 0 at once: nothing would ever happen there; say at least 1"},
    {"workers B 2 lines 0", "t.scn:1: 0 at once"},
    {"workers B 1\nworkers B 5", "t.scn:2: a second limit of 'B': remove one"},
    {"replicas B = B1, B2\nworkers B2 5\nworkers B 1", "t.scn:3: a second limit of 'B2'"},
    {"pool A -> B 1\npool A -> B 1", "t.scn:2: a second limit of 'B'"},
    {"workers B 1\nreplicas B = B1", "t.scn:2: 'B' is known above"},
    {"workers B 1 lines 600000\nworkers C 1 lines 600000",
     "t.scn:2: more than 1048576 lines in all"},
    {"pool A B 2", "t.scn:1: expected ->, not 'B'"},
    {"pool A -> B 0", "t.scn:1: 0 at once"},
    {"replicas A = A1..A2000\nreplicas B = B1..B2000\npool A -> B 1",
     "t.scn:3: more than 1048576 lines in all"},
    // loads
    {"tracelet t { A -> B }", "t.scn:1: a tracelet begins by `rate NUMBER/s` or by `clients"},
    {"tracelet t { rate 1/s; clients 2; A -> B }", "t.scn:1: a tracelet begins by"},
    {"tracelet t { rate 1/s }", "t.scn:1: a tracelet without a message"},
    {"tracelet t { rate 0/s", "t.scn:1: expected a rate above 0"},
    {"tracelet t { rate 5/d", "t.scn:1: expected a rate above 0"},
    {"tracelet t { rate 9999999999/s", "t.scn:1: expected a rate above 0"},
    {"tracelet t { rate 1/s on 0s off 1s", "t.scn:1: on 0: it would never begin"},
    {"tracelet t { rate 1/s on 1s 1s", "t.scn:1: expected off, not '1s'"},
    {"tracelet t { rate 1/s swing 50% 1s", "t.scn:1: expected every, not '1s'"},
    {"tracelet t { rate 1/s swing 50% every 0s", "t.scn:1: every 0"},
    {"tracelet t { rate 1/s burst 5..2", "t.scn:1: the range goes down: put the smaller number"},
    {"tracelet t { clients 0", "t.scn:1: no clients: leave the tracelet out"},
    {"tracelet t { rate 1/s A -> B }", "t.scn:1: expected ; or another line, not 'A'"},
    // steps
    {"tracelet t { rate 1/s; -> B }", "t.scn:1: a message from nowhere: write `NODE -> NODE`"},
    {"tracelet t { rate 1/s; A B }", "t.scn:1: expected ->, not 'B'"},
    {"tracelet t { rate 1/s; reply }", "t.scn:1: there is no call to return"},
    {"tracelet t { rate 1/s; forward -> B }", "t.scn:1: there is no call to forward"},
    {"service S { A -> B }", "t.scn:1: expected a step"},
    {"service S { -> A -> B }", "t.scn:1: expected ; or another line, not '->'"},
    {"service S { 101% -> A }", "t.scn:1: expected a share from 0% to 100%, not '101%'"},
    {"service S { every 0 -> A }", "t.scn:1: every 0: give the time between two ticks"},
    {"service S { after 1s pause 1s }", "t.scn:1: `after` before pause"},
    {"service S { -> A retry 2 }", "t.scn:1: retry without timeout"},
    {"service S { -> A lost 2% }", "t.scn:1: lost without timeout"},
    {"service S { async -> A timeout 2s }", "t.scn:1: timeout, hedge and retry are for calls"},
    {"service S { forward -> A lost 5% }", "t.scn:1: lost is not for forward"},
    {"service S { ~> A hedge 2s }", "t.scn:1: timeout, hedge and retry are for calls"},
    {"service S { async ~> A }", "t.scn:1: expected ->, not '~>'"},
    {"service S { parallel { } }", "t.scn:1: parallel without a step"},
    {"service S { choose { } }", "t.scn:1: choose without a step"},
    {"service S { choose { -> A } }", "t.scn:1: expected a share from 0% to 100%, not '->'"},
    {"service S { choose { 60% -> A; 50% -> B } }", "t.scn:1: the shares add up to more than 100%"},
    {"service S { choose { else -> A; 5% -> B } }", "t.scn:1: nothing may come behind else"},
    {"service S { repeat 1000001 -> A }", "t.scn:1: expected a whole number up to 1000000"},
    // scripts
    {"tracelet t { rate 1/s; script { return a } }", "t.scn:1: no message above is labelled 'a'"},
    {"tracelet t { rate 1/s; script { in 5 -> B } }", "t.scn:1: expected the label of a message"},
    {"tracelet t { rate 1/s; script { A B } }", "t.scn:1: expected -> or ~>, not 'B'"},
    {"tracelet t { rate 1/s; script { a: A -> B; a: A -> B } }",
     "t.scn:1: 'a' labels two messages"},
    {"tracelet t { rate 1/s; script { a: A ~> B; return a } }", "t.scn:1: 'a' is no call"},
    {"tracelet t { rate 1/s; script { a: A -> B; return a; return a } }",
     "t.scn:1: 'a' has returned above"},
    {"tracelet t { rate 1/s; script { A -> B }; C -> D }", "t.scn:1: expected }, not ';'"},
};

START_TEST(refusals_say_line_and_remedy)
{
    g_autoptr(GError) error = refusal_of(refused[_i].text, NULL);
    ck_assert(g_error_matches(error, BB_SCENARIO_ERROR, BB_SCENARIO_ERROR_TEXT));
    ck_assert_msg(g_str_has_prefix(error->message, refused[_i].message), "'%s': %s",
                  refused[_i].text, error->message);
}
END_TEST

START_TEST(line_numbers_count_all_lines)
{
    g_autoptr(GError) error =
        refusal_of("# one\n\nset d 5ms # three\nservice S {\n    -> A\n\n    go\n}\n", NULL);
    ck_assert_msg(g_str_has_prefix(error->message, "t.scn:7: expected a step"), "%s",
                  error->message);
}
END_TEST

START_TEST(too_many_braces)
{
    g_autoptr(GString) text = g_string_new("service S ");
    for (guint i = 0; i < 100; i++)
        g_string_append(text, "{ ");
    g_autoptr(GError) error = refusal_of(text->str, NULL);
    ck_assert_str_eq(error->message, "t.scn:1: more than 64 braces in each other: use a service");
}
END_TEST

// Each line doubles the one before.
START_TEST(parameters_do_not_explode)
{
    g_autoptr(GString) text = g_string_new("set a0 1s\n");
    for (guint i = 1; i < 40; i++)
        g_string_append_printf(text, "set a%u $a%u $a%u\n", i, i - 1, i - 1);
    g_autoptr(GError) error = refusal_of(text->str, NULL);
    ck_assert_ptr_nonnull(strstr(error->message, "more than 262144 words"));
}
END_TEST

START_TEST(too_many_replicas)
{
    g_autoptr(GString) text = g_string_new("replicas A = X0");
    for (guint i = 1; i <= 10000; i++)
        g_string_append_printf(text, ", X%u", i);
    g_autoptr(GError) error = refusal_of(text->str, NULL);
    ck_assert_str_eq(error->message, "t.scn:1: more than 10000 replicas: leave some out");
}
END_TEST

// ---- settings -----------------------------------------------------------------------------------

static const char *const bad_settings[] = {"rate", "=5", "rate=", "rate=5\n6", "rate=$x"};

START_TEST(settings_are_name_and_value)
{
    const char *const settings[] = {bad_settings[_i], NULL};
    g_autoptr(GError) error = refusal_of("set rate 1/s\n" END, settings);
    ck_assert(g_error_matches(error, BB_SCENARIO_ERROR, BB_SCENARIO_ERROR_SETTING));
    ck_assert_ptr_nonnull(strstr(error->message, "is not NAME=VALUE"));
}
END_TEST

START_TEST(unknown_settings_are_named)
{
    const char *const settings[] = {"load=5", NULL};
    g_autoptr(GError) error = refusal_of("set rate 1/s\nset delay 5ms\n" END, settings);
    ck_assert(g_error_matches(error, BB_SCENARIO_ERROR, BB_SCENARIO_ERROR_SETTING));
    ck_assert_str_eq(error->message,
                     "t.scn: nothing called 'load' is set there; what is: rate, delay");
}
END_TEST

START_TEST(settings_are_parsed_too)
{
    const char *const settings[] = {"rate=@", NULL};
    g_autoptr(GError) error = refusal_of("set rate 1/s\n" END, settings);
    ck_assert_ptr_nonnull(strstr(error->message, "setting from outside:1: '@' means nothing"));
}
END_TEST

static guint messages_with(const char *const *settings)
{
    const char *text = "set delay 10ms\nset load rate 10/s regular\nduration 10s\n"
                       "tracelet t { $load; A -> B { after $delay reply } }";
    g_autoptr(BbNames) names = bb_names_new();
    g_autoptr(GError) error = NULL;
    g_autoptr(BbScenario) scenario =
        bb_scenario_parse(text, strlen(text), "t.scn", settings, names, &error);
    ck_assert_msg(scenario, "%s", error ? error->message : "");
    g_autoptr(Made) made = g_new(Made, 1);
    *made = (Made){bb_names_new(), g_array_new(FALSE, FALSE, sizeof(BbMessage))};
    BbScenarioOptions options = {.seed = 1, .duration_ns = BB_TIME_NONE};
    ck_assert(bb_scenario_run(scenario, &options, made_take, made, NULL));
    return made->messages->len;
}

// The last one given counts, and what it stands for may be several words.
START_TEST(settings_go_before_the_text)
{
    ck_assert_uint_eq(messages_with(NULL), 198);
    ck_assert_uint_eq(messages_with((const char *const[]){"load=rate 1/s regular", NULL}), 18);
    ck_assert_uint_eq(messages_with((const char *const[]){"load=rate 1/s regular",
                                                          "load=clients 1 think 990ms", NULL}),
                      20);
}
END_TEST

// ---- titles and times ---------------------------------------------------------------------------

START_TEST(titles)
{
    static const char *const cases[][2] = {
        {"# A page\n# more\n", "A page"},
        {"#A page\r\nset a 1", "A page"},
        {"# SPDX-License-Identifier: Apache-2.0\n#\n#  Two  \n", "Two  "},
        {"set a 1\n# late\n", ""},
        {"", ""},
    };
    for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autofree char *title = bb_scenario_title(cases[i][0]);
        ck_assert_str_eq(title, cases[i][1]);
    }
}
END_TEST

START_TEST(times)
{
    gint64 time_ns = 0;
    ck_assert(bb_scenario_parse_time("1.5ms", &time_ns));
    ck_assert_int_eq(time_ns, 1500000);
    ck_assert(bb_scenario_parse_time("2h", &time_ns));
    ck_assert_int_eq(time_ns, 7200 * G_GINT64_CONSTANT(1000000000));
    ck_assert(bb_scenario_parse_time("0", &time_ns));
    ck_assert_int_eq(time_ns, 0);
    static const char *const bad[] = {"", "5", "ms", "5ms 6ms", "-5ms", "5ms~2ms", "@", "1e9s"};
    for (gsize i = 0; i < G_N_ELEMENTS(bad); i++)
        ck_assert_msg(!bb_scenario_parse_time(bad[i], &time_ns), "%s", bad[i]);
}
END_TEST

START_TEST(missing_files_are_named)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(BbNames) names = bb_names_new();
    ck_assert_ptr_null(bb_scenario_read("/nowhere/x.scn", NULL, names, &error));
    ck_assert_ptr_nonnull(strstr(error->message, "/nowhere/x.scn"));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("scenario");
    TCase *tcase = tcase_create("scenario");
    tcase_add_loop_test(tcase, refusals_say_line_and_remedy, 0, G_N_ELEMENTS(refused));
    tcase_add_loop_test(tcase, settings_are_name_and_value, 0, G_N_ELEMENTS(bad_settings));
    const TTest *const tests[] = {
        line_numbers_count_all_lines,
        too_many_braces,
        parameters_do_not_explode,
        too_many_replicas,
        unknown_settings_are_named,
        settings_are_parsed_too,
        settings_go_before_the_text,
        titles,
        times,
        missing_files_are_named,
    };
    for (gsize i = 0; i < G_N_ELEMENTS(tests); i++)
        tcase_add_test(tcase, tests[i]);
    suite_add_tcase(suite, tcase);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
