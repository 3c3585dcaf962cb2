// SPDX-License-Identifier: Apache-2.0
// Path instances: the contract's lines, unique ids whatever the trace holds, ranks that agree with
// the patterns, selection.
#include "tests/unit/golden.h"
#include "tests/unit/test.h"
#include "tests/unit/written_instances.h"

#include <string.h>

static void expect(Fixture *f, BbViewOptions options, const char *expected)
{
    char *text = written(f, options);
    ck_assert_str_eq(text, expected);
    free(text);
    end(f);
}

// The next value of "id" at or after *at, which moves behind it; NULL at the end.
static char *next_id(const char **at, const char *end)
{
    static const char key[] = "\"id\": \"";
    const char *found = memmem(*at, (gsize)(end - *at), key, strlen(key));
    if (!found)
        return NULL;
    found += strlen(key);
    const char *quote = memchr(found, '"', (gsize)(end - found));
    *at = quote;
    return g_strndup(found, (gsize)(quote - found));
}

// The values of "id" in the order of the output, with blanks between.
static void expect_ids(Fixture *f, const char *expected)
{
    char *text = written(f, BB_VIEW_OPTIONS_DEFAULT);
    g_autoptr(GString) ids = g_string_new(NULL);
    const char *at = text;
    for (char *id; (id = next_id(&at, text + strlen(text))); g_free(id))
        g_string_append_printf(ids, "%s%s", ids->len ? " " : "", id);
    ck_assert_str_eq(ids->str, expected);
    free(text);
    end(f);
}

START_TEST(a_tree)
{
    Fixture f = begin();
    add_pattern(&f, 1, 1);
    guint32 root = add_call(&f, "id37", BB_CALL_NO_PARENT, 0.98);
    guint32 child = add_call(&f, "id38", root, 1);
    add_call(&f, "id\"39", child, 0.12345);
    add_instance(&f, 0, 3, 0);
    expect(&f, BB_VIEW_OPTIONS_DEFAULT,
           "{\"pattern\": 1, \"instance\": 1, \"calls\": ["
           "{\"id\": \"id37\", \"from\": \"A\", \"to\": \"B\", \"call\": 1047680084.482205000, "
           "\"return\": 1047680084.982205000, \"parent\": null, \"confidence\": 0.9800}, "
           "{\"id\": \"id38\", \"from\": \"A\", \"to\": \"B\", \"call\": 1047680085.482205000, "
           "\"return\": 1047680085.982205000, \"parent\": \"id37\", \"confidence\": 1.0000}, "
           "{\"id\": \"id\\\"39\", \"from\": \"A\", \"to\": \"B\", \"call\": 1047680086.482205000, "
           "\"return\": 1047680086.982205000, \"parent\": \"id38\", \"confidence\": 0.1235}]}\n");
}
END_TEST

START_TEST(without_return_or_confidence)
{
    Fixture f = begin();
    add_root(&f, "7");
    BbCall *call = &g_array_index(f.calls, BbCall, 0);
    call->replied_ns = call->return_ns = BB_TIME_NONE;
    add_instance(&f, 0, 1, BB_PATTERN_NONE);
    expect(&f, BB_VIEW_OPTIONS_DEFAULT,
           "{\"pattern\": null, \"instance\": 1, \"calls\": [{\"id\": \"7\", \"from\": \"A\", "
           "\"to\": \"B\", "
           "\"call\": 1047680084.482205000, \"return\": null, \"parent\": null, "
           "\"confidence\": null}]}\n");
}
END_TEST

START_TEST(nothing)
{
    Fixture f = begin();
    expect(&f, BB_VIEW_OPTIONS_DEFAULT, "");
}
END_TEST

static Fixture with_ids(const char *const *given, guint count)
{
    Fixture f = begin();
    for (guint i = 0; i < count; i++) {
        add_root(&f, given[i]);
        add_instance(&f, i, 1, BB_PATTERN_NONE);
    }
    return f;
}

#define WITH_IDS(...) \
    with_ids((const char *const[]){__VA_ARGS__}, G_N_ELEMENTS(((const char *const[]){__VA_ARGS__})))

START_TEST(repeated_ids)
{
    Fixture f =
        WITH_IDS("a", "b", "a", "00f067aa0ba902b7", "a", "12", "012", "12", "00f067aa0ba902b7");
    expect_ids(&f, "a b a~2 00f067aa0ba902b7 a~3 12 012 12~2 00f067aa0ba902b7~2");
}
END_TEST

START_TEST(absent_ids)
{
    Fixture f = WITH_IDS("", "a", "", "-", "a");
    expect_ids(&f, "#1 a #2 #3 a~2");
}
END_TEST

// A trace may hold the very texts that we would give out.
START_TEST(ids_like_ours)
{
    Fixture f = WITH_IDS("a~2", "a", "a", "a", "a~2");
    expect_ids(&f, "a~2 a a~3 a~4 a~2~2");
    f = WITH_IDS("a", "a", "a~2", "a~3", "a");
    expect_ids(&f, "a a~2 a~2~2 a~3 a~4");
    f = WITH_IDS("#1", "", "#2", "#3", "#01", "");
    expect_ids(&f, "#1~2 #1 #2~2 #3 #01 #2");
    f = WITH_IDS("a~2~2", "a~2", "a~2", "a~2");
    expect_ids(&f, "a~2~2 a~2 a~2~3 a~2~4");
}
END_TEST

// Different bytes that are no UTF-8 stay different.
START_TEST(ids_of_any_bytes)
{
    Fixture f = WITH_IDS("a\xff", "a\xfe", "a\xff", "\xe2\x82\xac%", "b%\xff c");
    expect_ids(&f, "a%FF a%FE a%FF~2 \xe2\x82\xac% b%25%FF%20c");
}
END_TEST

// N counts calls in time, ~k uses in the output: here the second call is put out first.
START_TEST(order_of_numbers)
{
    Fixture f = begin();
    add_root(&f, "");
    add_root(&f, "");
    add_root(&f, "x");
    add_root(&f, "x");
    add_instance(&f, 1, 1, BB_PATTERN_NONE);
    add_instance(&f, 0, 1, BB_PATTERN_NONE);
    add_instance(&f, 3, 1, BB_PATTERN_NONE);
    add_instance(&f, 2, 1, BB_PATTERN_NONE);
    expect_ids(&f, "#2 #1 x x~2");
}
END_TEST

START_TEST(parent_with_repeated_id)
{
    Fixture f = begin();
    add_pattern(&f, 2, 1);
    add_root(&f, "1");
    add_call(&f, "2", add_root(&f, "1"), BB_CONFIDENCE_NONE);
    add_instance(&f, 0, 1, 0);
    add_instance(&f, 1, 2, 0);
    char *text = written(&f, BB_VIEW_OPTIONS_DEFAULT);
    ck_assert_ptr_nonnull(strstr(text, "\"parent\": \"1~2\""));
    free(text);
    end(&f);
}
END_TEST

// Patterns: 0 has count 1 and total 30, 1 has 5 and 50, 2 has 2 and 80.
static Fixture three_patterns(void)
{
    static const char *const ids[] = {"p0", "p1", "p2", "lost"};
    static const guint32 patterns[] = {0, 1, 2, BB_PATTERN_NONE};
    Fixture f = begin();
    add_pattern(&f, 1, 30);
    add_pattern(&f, 5, 10);
    add_pattern(&f, 2, 40);
    for (guint i = 0; i < 4; i++) {
        add_root(&f, ids[i]);
        add_instance(&f, i, 1, patterns[i]);
    }
    return f;
}

// "id=pattern" of each line.
static void expect_ranks(BbViewOptions options, const char *expected)
{
    Fixture f = three_patterns();
    char *text = written(&f, options);
    g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
    g_autoptr(GString) ranks = g_string_new(NULL);
    for (guint i = 0; lines[i] && *lines[i]; i++) {
        const char *rank = strstr(lines[i], "\"pattern\": ") + strlen("\"pattern\": ");
        const char *id = strstr(lines[i], "\"id\": \"") + strlen("\"id\": \"");
        g_string_append_printf(ranks, "%.*s=%.*s ", (int)strcspn(id, "\""), id,
                               (int)strcspn(rank, ","), rank);
    }
    ck_assert_str_eq(ranks->str, expected);
    free(text);
    end(&f);
}

START_TEST(ranks_and_selection)
{
    expect_ranks(BB_VIEW_OPTIONS_DEFAULT, "p0=3 p1=2 p2=1 lost=null ");
    expect_ranks((BbViewOptions){.sort = BB_SORT_COUNT}, "p0=3 p1=1 p2=2 lost=null ");
    expect_ranks((BbViewOptions){.sort = BB_SORT_MEAN}, "p0=2 p1=3 p2=1 lost=null ");
    expect_ranks((BbViewOptions){.top = 2}, "p1=2 p2=1 ");
    expect_ranks((BbViewOptions){.min_count = 2, .sort = BB_SORT_COUNT}, "p1=1 p2=2 ");
    expect_ranks((BbViewOptions){.min_count = 100}, "");
}
END_TEST

START_TEST(full_disk)
{
    Fixture f = three_patterns();
    publish(&f);
    FILE *out = fopen("/dev/full", "w");
    ck_assert_ptr_nonnull(out);
    BbViewOptions options = BB_VIEW_OPTIONS_DEFAULT;
    g_autoptr(GError) error = NULL;
    g_autoptr(BbInstances) instances = bb_instances_new(bb_instance_forms[0], f.names, false);
    ck_assert(bb_instances_add(instances, f.paths, &error));
    ck_assert(!bb_instances_write(instances, f.patterns, &options, out, &error));
    ck_assert(g_error_matches(error, G_FILE_ERROR, G_FILE_ERROR_NOSPC));
    fclose(out);
    end(&f);
}
END_TEST

// Many ids, most of them used twice: all texts differ.
START_TEST(many_repeats)
{
    Fixture f = begin();
    for (guint i = 0; i < 20000; i++) {
        char id[24];
        g_snprintf(id, sizeof id, i % 3 ? "%u" : "x~%u", i * 7919 % 12000);
        add_root(&f, i % 11 ? id : "");
        add_instance(&f, i, 1, BB_PATTERN_NONE);
    }
    char *text = written(&f, BB_VIEW_OPTIONS_DEFAULT);
    g_autoptr(GHashTable) seen = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    const char *at = text;
    const char *end_of_text = text + strlen(text);
    for (char *id; (id = next_id(&at, end_of_text));)
        ck_assert(g_hash_table_add(seen, id));
    ck_assert_uint_eq(g_hash_table_size(seen), 20000);
    free(text);
    end(&f);
}
END_TEST

// Two requests of a client and a server with a database; a return has the id of its call.
START_TEST(golden_chains)
{
    static const char *const ids[][2] = {{"id37", "id38"}, {"id39", "-"}};
    Fixture f = begin();
    f.patterns->algorithm = "convolution";
    add_pattern(&f, 1, 900 * MS);
    g_ptr_array_add(f.patterns->patterns, NULL);
    add_pattern(&f, 7, 1);
    for (guint i = 0; i < 2; i++) {
        guint32 root = add_message(&f, "C", "S", ids[i][0], BB_CALL_NO_PARENT, 0.99);
        guint32 call = add_message(&f, "S", "D", ids[i][1], root, 0.9);
        guint32 back = add_message(&f, "D", "S", ids[i][1], call, 0.95);
        add_message(&f, "S", "C", ids[i][0], back, 0.5);
        add_instance(&f, root, 4, i == 0 ? 2 : 1);
    }
    char *text = written(&f, BB_VIEW_OPTIONS_DEFAULT);
    golden_check("viz/chains.jsonl", text, strlen(text));
    free(text);
    BbViewOptions few = {.min_share = 0.5};
    text = written(&f, few);
    ck_assert(g_str_has_prefix(text, "{\"pattern\": 1, \"instance\": 1, "));
    ck_assert_ptr_eq(strchr(text, '\n'), text + strlen(text) - 1); // one line
    free(text);
    end(&f);
}
END_TEST

TEST_MAIN("instances", a_tree, without_return_or_confidence, nothing, repeated_ids, absent_ids,
          ids_like_ours, ids_of_any_bytes, order_of_numbers, parent_with_repeated_id,
          ranks_and_selection, full_disk, many_repeats, golden_chains)
