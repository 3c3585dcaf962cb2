// SPDX-License-Identifier: Apache-2.0
// JSON value by value: what is a value, what is taken apart, where reading stops, goes on, or says
// that something is missing; limits.
#include "merge/json_values.h"
#include "tests/unit/scratch.h"

#include <string.h>

static const char *const lists[] = {"data", "more", NULL};

// Values as JSON, each in a line; "! why" for an error, "? why" for damage, without the path.
static char *read_values(const char *json, gsize size)
{
    g_autoptr(Scratch) scratch = scratch_new();
    const char *path = scratch_file(scratch, "x", json, size);
    g_autoptr(BbJsonValues) values = bb_json_values_open(path, lists, NULL);
    g_autoptr(GString) text = g_string_new(NULL);
    ck_assert_ptr_nonnull(values);
    for (;;) {
        g_autoptr(GError) error = NULL;
        JsonNode *node = bb_json_values_next(values, &error);
        g_autofree char *value = node ? json_to_string(node, FALSE) : NULL;
        ck_assert(!node || !error);
        if (node)
            g_string_append_printf(text, "%s\n", value);
        else if (error)
            g_string_append_printf(text, "! %s\n", error->message + strlen(path));
        if (!node && !bb_json_values_may_go_on(values))
            break;
    }
    if (bb_json_values_damage(values))
        g_string_append_printf(text, "? %s\n",
                               strstr(bb_json_values_damage(values), " ends in") + 1);
    return g_string_free(g_steal_pointer(&text), FALSE);
}

static void assert_values(const char *json, const char *wanted)
{
    g_autofree char *text = read_values(json, strlen(json));
    ck_assert_str_eq(text, wanted);
}

START_TEST(one_behind_the_other)
{
    assert_values(" \n\r\t", "");
    assert_values("{}", "{}\n");
    assert_values("{\"a\":1}\n{\"b\":[2]}\n", "{\"a\":1}\n{\"b\":[2]}\n");
    assert_values("{\"a\":1}{\"b\":\"}{\\\"]\\\\\"}", "{\"a\":1}\n{\"b\":\"}{\\\"]\\\\\"}\n");
    assert_values("\xef\xbb\xbf{}", "{}\n");
}
END_TEST

START_TEST(arrays_are_taken_apart)
{
    assert_values("[]", "");
    assert_values("[{\"a\":1}, {\"b\":2}]", "{\"a\":1}\n{\"b\":2}\n");
    assert_values("[[{\"a\":1}],[],[{\"b\":2},{}]]", "{\"a\":1}\n{\"b\":2}\n{}\n");
    assert_values("[[[1,{}]]]", "[1,{}]\n");
    assert_values("[{}]\n[{\"a\":1}]\n", "{}\n{\"a\":1}\n");
}
END_TEST

START_TEST(lists_are_taken_apart)
{
    assert_values("{\"data\":[{\"a\":1},{\"b\":2}]}", "{\"a\":1}\n{\"b\":2}\n");
    assert_values("{\"n\":[{}], \"data\" : [{\"a\":1}], \"x\":{\"data\":[3]}, \"more\":[{}]} {}",
                  "{\"a\":1}\n{}\n{}\n");
    assert_values("{\"data\":[]}\n{\"data\":[{}]}", "{}\n");
    // Only lists, of outermost objects, by their whole name.
    assert_values("{\"data\":{}}", "{\"data\":{}}\n");
    assert_values("{\"x\":{\"data\":[1]}}", "{\"x\":{\"data\":[1]}}\n");
    assert_values("{\"x\":[\"data\",[1]]}", "{\"x\":[\"data\",[1]]}\n");
    assert_values("{\"data2\":[1]}", "{\"data2\":[1]}\n");
    assert_values("[{\"data\":[1]}]", "{\"data\":[1]}\n");
    assert_values("{\"data\":[[1]]}", "[1]\n");
    assert_values("{\"0123456789012345678901234567890123456789data\":[1]}",
                  "{\"0123456789012345678901234567890123456789data\":[1]}\n");
}
END_TEST

START_TEST(what_is_not_json)
{
    const char *object = "not JSON: an object is expected here";
    const char *character = "not JSON: an unexpected character outside of strings";
    const char *bad[] = {"x", "1", "\"a\"", "]", "}", ",{}"};
    for (gsize i = 0; i < G_N_ELEMENTS(bad); i++) {
        g_autofree char *wanted = g_strdup_printf("! :1: %s\n", object);
        assert_values(bad[i], wanted);
    }
    // What the parser would take for a comment or a string, and hide brackets in.
    const char *hidden[] = {"{/*", "{#", "{'", "{//", "{\x01", "{\xff"};
    for (gsize i = 0; i < G_N_ELEMENTS(hidden); i++) {
        g_autofree char *wanted = g_strdup_printf("! :1: %s\n", character);
        assert_values(hidden[i], wanted);
    }
    assert_values("{\"a\n\":1}\n{}", "! :1: not JSON: a line break or control character in a "
                                     "string\n! :2: not JSON: an object is expected here\n{}\n");
    g_autofree char *mixed = read_values("{]\n{}", 5);
    ck_assert(g_str_has_prefix(mixed, "! :1: not JSON: "));
    ck_assert(g_str_has_suffix(mixed, "\n{}\n"));
    g_autofree char *nul = read_values("{\"a\0\":1}", 8);
    ck_assert(g_str_has_prefix(nul, "! :1: not JSON: a line break"));
    g_autofree char *latin = read_values("{\"a\":\"\xe9\"}\n{}", 12);
    ck_assert(g_str_has_prefix(latin, "! :1: not JSON: "));
    ck_assert(g_str_has_suffix(latin, "\n{}\n"));
}
END_TEST

// Behind a bad line: within the array that was open before it, or outside.
START_TEST(reading_goes_on)
{
    assert_values("[\n{\"a\":1},\n{'},\n{\"b\":2}\n]\n{}",
                  "{\"a\":1}\n! :3: not JSON: an unexpected character outside of strings\n"
                  "{\"b\":2}\n{}\n");
    assert_values("[[{'\n{}\n", "! :1: not JSON: an unexpected character outside of strings\n{}\n");
    assert_values("{\"data\":[1\n{}\n", "! :1: not JSON: an object is expected here\n{}\n");
    assert_values("{\"data\":[{}], '\n{}\n",
                  "{}\n! :1: not JSON: an unexpected character outside of strings\n{}\n");
}
END_TEST

START_TEST(what_breaks_off)
{
    assert_values("{\"a\":", "! :1: ends in its first value\n");
    assert_values("[", "? ends in the value that begins in line 1; what is before it was read\n");
    assert_values("{}\n{\"a\":\"",
                  "{}\n? ends in the value that begins in line 2; what is before it was read\n");
    assert_values("{\"data\":[{}",
                  "{}\n? ends in the value that begins in line 1; what is before it was read\n");
    assert_values("{\"data\":[{}]",
                  "{}\n? ends in the value that begins in line 1; what is before it was read\n");
}
END_TEST

static char *nested(guint depth, char open, const char *inner, char close)
{
    GString *text = g_string_new("[[");
    for (guint i = 0; i < depth; i++) {
        g_string_append_c(text, open);
        if (open == '{')
            g_string_append(text, "\"a\":");
    }
    g_string_append(text, inner);
    for (guint i = 0; i < depth; i++)
        g_string_append_c(text, close);
    g_string_append(text, "]]");
    return g_string_free(text, FALSE);
}

START_TEST(depth)
{
    g_autofree char *good = nested(BB_JSON_NESTING_MAX, '[', "1", ']');
    g_autofree char *deep = nested(BB_JSON_NESTING_MAX + 1, '[', "1", ']');
    g_autofree char *objects = nested(BB_JSON_NESTING_MAX + 1, '{', "1", '}');
    g_autofree char *hostile = nested(1000000, '[', "", ' ');
    g_autofree char *text = read_values(good, strlen(good));
    ck_assert_uint_eq(strlen(text), 2 * BB_JSON_NESTING_MAX + 2);
    const char *wanted = "! :1: arrays and objects nest more than 200 deep: this is no trace\n";
    assert_values(deep, wanted);
    assert_values(objects, wanted);
    assert_values(hostile, wanted);
}
END_TEST

START_TEST(length)
{
    g_autoptr(GString) json = g_string_new("{\"a\":\"");
    while (json->len + 2 < BB_JSON_VALUE_MAX)
        g_string_append_c(json, 'x');
    g_string_append(json, "\"}");
    g_autofree char *good = read_values(json->str, json->len);
    ck_assert_uint_eq(strlen(good), BB_JSON_VALUE_MAX + 1);
    g_string_insert_c(json, 6, 'x');
    g_string_append(json, "\n{}\n");
    assert_values(json->str, "! :1: a JSON value of more than 32 MiB: export the traces one by "
                             "one, or one request a line\n{}\n");
}
END_TEST

START_TEST(a_file_that_is_not_there)
{
    g_autoptr(GError) error = NULL;
    ck_assert_ptr_null(bb_json_values_open("/nowhere/at/all", lists, &error));
    ck_assert_ptr_nonnull(strstr(error->message, "/nowhere/at/all"));
}
END_TEST

// A folder opens, but cannot be read.
START_TEST(what_cannot_be_read)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(BbJsonValues) values = bb_json_values_open("/", lists, &error);
    if (!values)
        return;
    ck_assert_ptr_null(bb_json_values_next(values, &error));
    ck_assert_ptr_nonnull(error);
    ck_assert(!bb_json_values_may_go_on(values));
}
END_TEST

TEST_MAIN("json_values", one_behind_the_other, arrays_are_taken_apart, lists_are_taken_apart,
          what_is_not_json, reading_goes_on, what_breaks_off, depth, length,
          a_file_that_is_not_there, what_cannot_be_read)
