// SPDX-License-Identifier: Apache-2.0
// JSON: where commas and blanks stand, what is escaped, how numbers look, that a full disk is told.
#include "data/json.h"
#include "tests/unit/test.h"

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

typedef struct Memory {
    char *text;
    size_t length;
    FILE *out;
    BbJson *json;
} Memory;

static void begin(Memory *memory)
{
    memory->out = open_memstream(&memory->text, &memory->length);
    memory->json = bb_json_new(memory->out);
}

static void expect(Memory *memory, const char *expected)
{
    ck_assert(bb_json_finish(memory->json));
    bb_json_free(memory->json);
    fclose(memory->out);
    ck_assert_str_eq(memory->text, expected);
    ck_assert_uint_eq(memory->length, strlen(expected));
    free(memory->text);
}

START_TEST(commas_and_blanks)
{
    Memory m;
    begin(&m);
    bb_json_begin_object(m.json);
    bb_json_key(m.json, "a");
    bb_json_uint(m.json, 1);
    bb_json_key(m.json, "b");
    bb_json_begin_array(m.json);
    bb_json_int(m.json, -2);
    bb_json_null(m.json);
    bb_json_begin_object(m.json);
    bb_json_end_object(m.json);
    bb_json_begin_array(m.json);
    bb_json_end_array(m.json);
    bb_json_end_array(m.json);
    bb_json_key(m.json, "c");
    bb_json_bool(m.json, true);
    bb_json_key(m.json, "d");
    bb_json_bool(m.json, false);
    bb_json_end_object(m.json);
    expect(&m, "{\"a\": 1, \"b\": [-2, null, {}, []], \"c\": true, \"d\": false}\n");
}
END_TEST

START_TEST(line_breaks)
{
    Memory m;
    begin(&m);
    bb_json_begin_array(m.json);
    bb_json_newline(m.json);
    bb_json_uint(m.json, 1);
    bb_json_newline(m.json);
    bb_json_uint(m.json, 2);
    bb_json_newline(m.json);
    bb_json_end_array(m.json);
    expect(&m, "[\n1,\n2\n]\n");
}
END_TEST

START_TEST(lines_at_the_top)
{
    Memory m;
    begin(&m);
    for (guint i = 0; i < 3; i++) {
        bb_json_begin_object(m.json);
        bb_json_key(m.json, "n");
        bb_json_uint(m.json, i);
        bb_json_end_object(m.json);
    }
    expect(&m, "{\"n\": 0}\n{\"n\": 1}\n{\"n\": 2}\n");
}
END_TEST

START_TEST(nothing_at_all)
{
    Memory m;
    begin(&m);
    expect(&m, "");
}
END_TEST

static const struct {
    const char *text, *json;
} strings[] = {
    {"", "\"\"\n"},
    {"a\"b\\c/", "\"a\\\"b\\\\c/\"\n"},
    {"\b\f\n\r\t", "\"\\b\\f\\n\\r\\t\"\n"},
    {"\x01\x1f\x7f", "\"\\u0001\\u001f\x7f\"\n"},
    {"caf\xc3\xa9 \xf0\x9f\x90\xb3", "\"caf\xc3\xa9 \xf0\x9f\x90\xb3\"\n"},
    {"\xff", "\"\xef\xbf\xbd\"\n"},                                 // never in UTF-8
    {"a\xc3", "\"a\xef\xbf\xbd\"\n"},                               // cut
    {"\xc3(", "\"\xef\xbf\xbd(\"\n"},                               // not continued
    {"\xc0\xaf", "\"\xef\xbf\xbd\xef\xbf\xbd\"\n"},                 // overlong
    {"\xed\xa0\x80", "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\"\n"}, // surrogate
};

START_TEST(escapes)
{
    for (gsize i = 0; i < G_N_ELEMENTS(strings); i++) {
        Memory m;
        begin(&m);
        bb_json_string(m.json, strings[i].text);
        expect(&m, strings[i].json);
    }
}
END_TEST

// Text is looked at by eight bytes; whatever must be escaped is found at each place among them.
START_TEST(escapes_anywhere)
{
    static const struct {
        char byte;
        const char *json;
    } cases[] = {{'"', "\\\""},       {'\\', "\\\\"},           {'\x1f', "\\u001f"},
                 {'\x01', "\\u0001"}, {'\x80', "\xef\xbf\xbd"}, {'!', "!"},
                 {'[', "["},          {'\x7f', "\x7f"},         {' ', " "}};
    for (gsize c = 0; c < G_N_ELEMENTS(cases); c++)
        for (gsize at = 0; at < 20; at++) {
            g_autofree char *text = g_strnfill(20, 'x');
            text[at] = cases[c].byte;
            g_autofree char *expected =
                g_strdup_printf("\"%.*s%s%s\"\n", (int)at, text, cases[c].json, text + at + 1);
            Memory m;
            begin(&m);
            bb_json_string(m.json, text);
            expect(&m, expected);
        }
}
END_TEST

static const struct {
    gint64 ns;
    const char *json;
} seconds[] = {
    {0, "0.000000000\n"},
    {1, "0.000000001\n"},
    {-1, "-0.000000001\n"},
    {1047680084482205000, "1047680084.482205000\n"},
    {-1500000000, "-1.500000000\n"},
    {G_MAXINT64, "9223372036.854775807\n"},
    {G_MININT64, "-9223372036.854775808\n"},
};

START_TEST(seconds_are_exact)
{
    for (gsize i = 0; i < G_N_ELEMENTS(seconds); i++) {
        Memory m;
        begin(&m);
        bb_json_seconds(m.json, seconds[i].ns);
        expect(&m, seconds[i].json);
    }
}
END_TEST

START_TEST(numbers)
{
    Memory m;
    begin(&m);
    bb_json_begin_array(m.json);
    bb_json_uint(m.json, G_MAXUINT64);
    bb_json_int(m.json, G_MININT64);
    bb_json_int(m.json, 0);
    bb_json_share(m.json, 0.98);
    bb_json_share(m.json, 0.99999);
    bb_json_share(m.json, 0);
    bb_json_share(m.json, -0.00001);
    bb_json_share(m.json, -0.25);
    bb_json_share(m.json, (double)NAN);
    bb_json_share(m.json, (double)INFINITY);
    bb_json_end_array(m.json);
    expect(&m, "[18446744073709551615, -9223372036854775808, 0, 0.9800, 1.0000, 0.0000, 0.0000, "
               "-0.2500, null, null]\n");
}
END_TEST

// Strings around the size of the buffer come out whole.
START_TEST(long_strings)
{
    for (gsize length = 65530; length < 65545; length++) {
        g_autofree char *text = g_strnfill(length, 'x');
        g_autofree char *expected = g_strdup_printf("\"%s\"\n", text);
        Memory m;
        begin(&m);
        bb_json_string(m.json, text);
        expect(&m, expected);
    }
}
END_TEST

START_TEST(deep_nesting)
{
    Memory m;
    begin(&m);
    for (guint i = 0; i < 10000; i++)
        bb_json_begin_array(m.json);
    for (guint i = 0; i < 10000; i++)
        bb_json_end_array(m.json);
    g_autofree char *opened = g_strnfill(10000, '[');
    g_autofree char *closed = g_strnfill(10000, ']');
    g_autofree char *expected = g_strconcat(opened, closed, "\n", NULL);
    expect(&m, expected);
}
END_TEST

START_TEST(full_disk)
{
    FILE *out = fopen("/dev/full", "w");
    ck_assert_ptr_nonnull(out);
    g_autoptr(BbJson) json = bb_json_new(out);
    bb_json_null(json);
    ck_assert(!bb_json_finish(json));
    ck_assert_int_eq(errno, ENOSPC);
    fclose(out);
}
END_TEST

// Out of turn is our mistake and stops the program.
START_TEST(value_without_key)
{
    pid_t child = fork();
    ck_assert_int_ge(child, 0);
    if (child == 0) {
        (void)close(STDERR_FILENO);
        signal(SIGABRT, SIG_DFL);
        BbJson *json = bb_json_new(stdout);
        bb_json_begin_object(json);
        bb_json_null(json);
        _exit(0);
    }
    int status = 0;
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
}
END_TEST

TEST_MAIN("json", commas_and_blanks, line_breaks, lines_at_the_top, nothing_at_all, escapes,
          escapes_anywhere, seconds_are_exact, numbers, long_strings, deep_nesting, full_disk,
          value_without_key)
