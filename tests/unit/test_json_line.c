// SPDX-License-Identifier: Apache-2.0
// One JSON object in a line: its members, its escapes, and every reason why it is none.
#include "merge/json_line.h"

#include <string.h>

#include "tests/unit/test.h"

// The members as "key=kind:text " each.
static char *parse(const char *json, const char **reason)
{
    g_autofree char *line = g_strdup(json);
    g_autoptr(GArray) members = g_array_new(FALSE, FALSE, sizeof(BbJsonMember));
    GString *out = g_string_new(NULL);
    *reason = bb_json_line_parse(line, members);
    for (guint i = 0; i < members->len; i++) {
        const BbJsonMember *member = &g_array_index(members, BbJsonMember, i);
        g_string_append_printf(out, "%s=%c:%s ", member->key, "SN0O"[member->kind],
                               member -> text ? member -> text : "");
    }
    return g_string_free(out, FALSE);
}

static void assert_members(const char *json, const char *wanted)
{
    const char *reason = NULL;
    g_autofree char *found = parse(json, &reason);
    ck_assert_msg(!reason, "%s: %s", json, reason);
    ck_assert_str_eq(found, wanted);
}

START_TEST(members)
{
    assert_members("{}", "");
    assert_members("  { }  \r", "");
    assert_members("{\"a\":1,\"b\":\"x\",\"c\":null,\"d\":true,\"e\":false}",
                   "a=N:1 b=S:x c=0: d=O: e=O: ");
    assert_members("{ \"a\" : 18446744073709551614 , \"b\" : -1.5e+3 }",
                   "a=N:18446744073709551614 b=N:-1.5e+3 ");
    assert_members("{\"a\":1}", "a=N:1 ");
    assert_members("{\"a\":\"\",\"a\":\"2\"}", "a=S: a=S:2 ");
}
END_TEST

START_TEST(nested_values_are_passed_over)
{
    assert_members("{\"a\":{\"b\":[1,{\"c\":\"]}\\\"\"}]},\"d\":2}", "a=O: d=N:2 ");
    assert_members("{\"a\":[],\"b\":{},\"c\":3}", "a=O: b=O: c=N:3 ");
    // as deep as a line is long
    g_autoptr(GString) deep = g_string_new("{\"a\":");
    for (guint i = 0; i < 400000; i++)
        g_string_append_c(deep, '[');
    for (guint i = 0; i < 400000; i++)
        g_string_append_c(deep, ']');
    g_string_append(deep, ",\"b\":1}");
    assert_members(deep->str, "a=O: b=N:1 ");
}
END_TEST

START_TEST(escapes)
{
    assert_members("{\"a\":\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"}", "a=S:\"\\/\b\f\n\r\t ");
    assert_members("{\"a\":\"\\u0041\\u00e4\\u20AC\\ud83d\\udc19\"}",
                   "a=S:A\xc3\xa4\xe2\x82\xac\xf0\x9f\x90\x99 ");
    assert_members("{\"\\u006b\":\"\xc3\xa4\xff\"}", "k=S:\xc3\xa4\xff ");
}
END_TEST

START_TEST(what_is_no_object)
{
    static const struct {
        const char *json, *reason;
    } cases[] = {
        {"", "no JSON object"},
        {"[1]", "no JSON object"},
        {"{", "a text in quotes is missing"},
        {"{\"a\":1,}", "a text in quotes is missing"},
        {"{a:1}", "a text in quotes is missing"},
        {"{\"a\" 1}", "a colon is missing"},
        {"{\"a\":}", "a value is missing"},
        {"{\"a\":nul}", "a value is missing"},
        {"{\"a\":truely}", "a value is missing"},
        {"{\"a\":-}", "a value is missing"},
        {"{\"a\":1x}", "a number has letters"},
        {"{\"a\":1 \"b\":2}", "a comma or a closing brace"},
        {"{\"a\":1", "a comma or a closing brace"},
        {"{\"a\":1]", "a comma or a closing brace"},
        {"{\"a\":1} {", "text behind the object"},
        {"{\"a\":\"x", "no closing quote"},
        {"{\"a\":\"x\\", "escapes nothing"},
        {"{\"a\":\"\\x\"}", "escapes nothing"},
        {"{\"a\":\"\t\"}", "a control character"},
        {"{\"a\":\"\\u12\"}", "four hexadecimal digits"},
        {"{\"a\":\"\\u0000\"}", "a NUL character"},
        {"{\"a\":\"\\ud83d\"}", "half of a surrogate pair"},
        {"{\"a\":\"\\ud83d\\u0041\"}", "half of a surrogate pair"},
        {"{\"a\":\"\\udc19\"}", "half of a surrogate pair"},
        {"{\"a\":[1", "no closing bracket"},
        {"{\"a\":[\"x]", "no closing quote"},
    };
    for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
        const char *reason = NULL;
        g_autofree char *found = parse(cases[i].json, &reason);
        ck_assert_msg(reason && strstr(reason, cases[i].reason), "%s: %s", cases[i].json,
                      reason ? reason : found);
    }
}
END_TEST

TEST_MAIN("json_line", members, nested_values_are_passed_over, escapes, what_is_no_object)
