// SPDX-License-Identifier: Apache-2.0
// The prepared statements of a connection: ids, limits, what is asked for; labels of texts.
#include "capture/context.h"
#include "capture/feed.h"
#include "capture/protocols/statements.h"
#include "tests/unit/test.h"

START_TEST(ids_are_bytes)
{
    BbStatements *s = bb_statements_new();
    bb_statements_set(s, "\0\0\1\0", 4, 1);
    bb_statements_set(s, "\0\0\2\0", 4, 2);
    bb_statements_set(s, "\0\0", 2, 3);
    bb_statements_set(s, "", 0, 4);
    ck_assert_uint_eq(bb_statements_get(s, "\0\0\1\0", 4), 1);
    ck_assert_uint_eq(bb_statements_get(s, "\0\0\2\0", 4), 2);
    ck_assert_uint_eq(bb_statements_get(s, "\0\0", 2), 3);
    ck_assert_uint_eq(bb_statements_get(s, "", 0), 4);
    ck_assert_uint_eq(bb_statements_get(s, "\0", 1), BB_NAME_NONE);
    bb_statements_set(s, "\0\0\1\0", 4, 5);
    ck_assert_uint_eq(bb_statements_get(s, "\0\0\1\0", 4), 5);
    ck_assert_uint_eq(bb_statements_count(s), 4);
    bb_statements_remove(s, "\0\0\1\0", 4);
    ck_assert_uint_eq(bb_statements_get(s, "\0\0\1\0", 4), BB_NAME_NONE);
    bb_statements_free(s);
}
END_TEST

START_TEST(memory_is_told)
{
    BbStatements *s = bb_statements_new();
    gsize empty = bb_statements_held(s);
    for (guint32 i = 0; i < 2 * BB_STATEMENTS; i++)
        bb_statements_set(s, &i, sizeof i, 1);
    ck_assert_uint_eq(bb_statements_count(s), BB_STATEMENTS);
    ck_assert_uint_ge(bb_statements_held(s), empty + (gsize)BB_STATEMENTS * BB_STATEMENT_ID_MAX);
    bb_statements_free(s);
}
END_TEST

START_TEST(asked_for_once)
{
    BbStatements *s = bb_statements_new();
    bb_statements_ask(s, 7, 70);
    bb_statements_ask(s, 8, 80);
    ck_assert_uint_eq(bb_statements_take_asked(s, 8), 80);
    ck_assert_uint_eq(bb_statements_take_asked(s, 8), BB_NAME_NONE);
    ck_assert_uint_eq(bb_statements_take_asked(s, 0), BB_NAME_NONE);
    for (guint i = 0; i < BB_STATEMENTS_ASKED; i++)
        bb_statements_ask(s, 100 + i, i + 1);
    ck_assert_uint_eq(bb_statements_take_asked(s, 7), BB_NAME_NONE); // the oldest was forgotten
    ck_assert_uint_eq(bb_statements_take_asked(s, 100), 1);
    bb_statements_free(s);
}
END_TEST

// ---- texts --------------------------------------------------------------------------------------

static bool ignore(const BbMessage *message, gpointer user, GError **error)
{
    return true;
}

START_TEST(labels_of_texts)
{
    static const struct {
        const char *prefix, *text, *label;
        bool cut;
    } cases[] = {
        {NULL, "SELECT a FROM users", "SELECT users", false},
        {NULL, "SELECT a FROM use", "SELECT", true},
        {NULL, "SELECT a FROM users WHERE", "SELECT users", true},
        {NULL, "", NULL, false},
        {NULL, "SELEC", NULL, true},
        {"PREPARE", "DELETE FROM users", "PREPARE DELETE users", false},
        {"PREPARE", "", "PREPARE ?", false},
        {"PREPARE", "DELE", "PREPARE ?", true},
    };
    BbLoss loss = {0};
    g_autoptr(BbNames) names = bb_names_new();
    g_autoptr(BbNodes) nodes = bb_nodes_new(names, false);
    g_autoptr(BbContext) context = bb_context_new(names, nodes, &loss, ignore, NULL);
    BbEndpoints endpoints = {0};
    BbDialog *dialog = bb_dialog_new(context, &endpoints, true, 0, true);
    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        const char *text = cases[i].text;
        guint32 label = bb_statement_label(dialog, cases[i].prefix, (const guint8 *)text,
                                           strlen(text), cases[i].cut);
        const char *found = label ? bb_names_text(names, label) : NULL;
        ck_assert_msg(g_strcmp0(found, cases[i].label) == 0, "%u: %s", i, found);
    }
    // Too long with its prefix: cut, not within a character.
    g_autoptr(GString) sql = g_string_new("SELECT a FROM ");
    for (guint i = 0; i < 44; i++)
        g_string_append(sql, "\303\244");
    guint32 label =
        bb_statement_label(dialog, "PREPARE", (const guint8 *)sql->str, sql->len, false);
    const char *found = bb_names_text(names, label);
    ck_assert(g_str_has_prefix(found, "PREPARE SELECT "));
    ck_assert(g_str_has_suffix(found, "*"));
    ck_assert(g_utf8_validate(found, -1, NULL));
    ck_assert_uint_le(strlen(found), 96);
    bb_dialog_free(dialog);
}
END_TEST

START_TEST(beginnings_of_statements)
{
    bool whole;
    ck_assert(bb_statement_begins((const guint8 *)"select 1", 8, &whole) && whole);
    ck_assert(bb_statement_begins((const guint8 *)"/* a */ XA BEGIN", 16, &whole) && whole);
    ck_assert(bb_statement_begins((const guint8 *)"COMMIT", 6, &whole) && !whole);
    ck_assert(!bb_statement_begins((const guint8 *)"hello there", 11, &whole));
    ck_assert(!bb_statement_begins((const guint8 *)"", 0, &whole) && !whole);
}
END_TEST

TEST_MAIN("statements", ids_are_bytes, memory_is_told, asked_for_once, labels_of_texts,
          beginnings_of_statements)
