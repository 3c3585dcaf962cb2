// SPDX-License-Identifier: Apache-2.0
// Labels of SQL statements: verbs, tables, comments, quotes, common table expressions, cut text.
#include "tests/unit/test.h"

#include "capture/protocols/label.h"
#include "capture/protocols/sql_lexer.h"

#include <string.h>

// Reads text from a buffer of its exact size, so that a read past its end is caught.
static void expect_bytes(const char *sql, gsize length, const char *expected)
{
    char out[BB_LABEL_MAX + 1];
    g_autofree guint8 *copy = g_memdup2(sql, length);
    gsize used = bb_label_sql(out, copy, length);
    ck_assert_str_eq(out, expected);
    ck_assert_uint_eq(used, strlen(out));
    ck_assert(g_utf8_validate(out, (gssize)used, NULL));
}

typedef struct Case {
    const char *sql, *label;
} Case;

static void expect_all(const Case *cases, gsize count)
{
    for (gsize i = 0; i < count; i++)
        expect_bytes(cases[i].sql, strlen(cases[i].sql), cases[i].label);
}

START_TEST(tables_of_select)
{
    static const Case cases[] = {
        {"SELECT * FROM users WHERE id = 1", "SELECT users"},
        {"select 1", "SELECT"},
        {"  \n\tSeLeCt a\nfRoM\tusers;", "SELECT users"},
        {"(SELECT a FROM b) UNION (SELECT c FROM d)", "SELECT b"},
        {"SELECT a UNION SELECT b FROM t", "SELECT t"},
        {"SELECT * FROM (SELECT x FROM orders) AS o", "SELECT orders"},
        {"SELECT * FROM ((SELECT x FROM orders) UNION (SELECT y FROM z)) AS o", "SELECT orders"},
        {"SELECT (SELECT max(x) FROM a) FROM b", "SELECT b"},
        {"SELECT extract(year FROM ts), substring(s FROM 2) FROM events", "SELECT events"},
        {"SELECT a IS DISTINCT FROM b FROM t", "SELECT t"},
        {"SELECT x FROM ONLY parent", "SELECT parent"},
        {"SELECT x FROM a, LATERAL (SELECT 1) q", "SELECT a"},
        {"SELECT x FROM (a JOIN b ON a.x = b.x)", "SELECT a"},
        {"SELECT * FROM generate_series(1, 10)", "SELECT generate_series"},
        {"SELECT * FROM (VALUES (1), (2)) AS v", "SELECT"},
        {"SELECT * FROM $1", "SELECT"},
        {"SELECT * FROM ?", "SELECT"},
        {"SELECT 1; SELECT 2 FROM other", "SELECT"},
        {"SELECT 'x FROM y', \"FROM z\" FROM t", "SELECT t"},
        {"SELECT 'it''s FROM a' FROM t", "SELECT t"},
        {"SELECT 'it\\'s FROM a' FROM t", "SELECT t"},
        {"SELECT 'c:\\', x FROM t", "SELECT t"},
        {"SELECT E'a\\' FROM b' FROM t", "SELECT t"},
        {"SELECT $$ FROM a $$, $x$ FROM $$ b $x$ FROM t", "SELECT t"},
        {"SELECT $1 FROM t WHERE x = $2", "SELECT t"},
        {"SELECT data #>> '{a}' FROM docs", "SELECT docs"},
        {"SELECT 1.5e3,2 FROM t", "SELECT t"},
    };
    expect_all(cases, G_N_ELEMENTS(cases));
}
END_TEST

START_TEST(other_verbs)
{
    static const Case cases[] = {
        {"INSERT INTO orders (a) VALUES (1)", "INSERT orders"},
        {"insert low_priority ignore into orders values (1)", "INSERT orders"},
        {"INSERT orders SET a = 1", "INSERT orders"},
        {"INSERT OR REPLACE INTO t VALUES (1)", "INSERT t"},
        {"INSERT INTO a SELECT * FROM b", "INSERT a"},
        {"REPLACE INTO t VALUES (1)", "REPLACE t"},
        {"UPDATE users SET a = 1 FROM other", "UPDATE users"},
        {"UPDATE ONLY users SET a = 1", "UPDATE users"},
        {"DELETE FROM users WHERE 1", "DELETE users"},
        {"DELETE t1 FROM t1 JOIN t2", "DELETE t*"},
        {"MERGE INTO a USING b ON x", "MERGE a"},
        {"TRUNCATE TABLE ONLY a, b", "TRUNCATE a"},
        {"COPY users (a, b) FROM STDIN", "COPY users"},
        {"COPY (SELECT a FROM big) TO STDOUT", "COPY big"},
        {"LOCK TABLE t IN SHARE MODE", "LOCK t"},
        {"TABLE users", "TABLE users"},
        {"CALL do_it(1, 2)", "CALL do_it"},
        {"{ ? = call do_it(?) }", "CALL do_it"},
        {"EXEC sp_who", "EXEC sp_who"},
        {"LOAD DATA LOCAL INFILE 'x' REPLACE INTO TABLE t", "LOAD t"},
        {"REFRESH MATERIALIZED VIEW CONCURRENTLY v", "REFRESH v"},
        {"DESC users", "DESC users"},
        {"BEGIN", "BEGIN"},
        {"begin;", "BEGIN"},
        {"COMMIT", "COMMIT"},
        {"ROLLBACK TO SAVEPOINT a", "ROLLBACK"},
        {"SET search_path TO x", "SET"},
        {"SHOW TABLES FROM x", "SHOW"},
        {"EXECUTE plan (1)", "EXECUTE"},
        {"DECLARE c CURSOR FOR SELECT * FROM t", "DECLARE"},
        {"FETCH 100 FROM c", "FETCH"},
        {"SAVEPOINT s17", "SAVEPOINT"},
        {"EXPLAIN SELECT * FROM t", "EXPLAIN"},
        {"START TRANSACTION", "START"},
        {"IDENTIFY_SYSTEM", "IDENTIFY_SYSTEM"},
    };
    expect_all(cases, G_N_ELEMENTS(cases));
}
END_TEST

START_TEST(objects)
{
    static const Case cases[] = {
        {"CREATE TABLE t (i int)", "CREATE TABLE t"},
        {"CREATE TEMP TABLE IF NOT EXISTS tmp_4711 AS SELECT 1", "CREATE TABLE tmp_*"},
        {"CREATE OR REPLACE VIEW v AS SELECT * FROM t", "CREATE VIEW v"},
        {"CREATE UNIQUE INDEX CONCURRENTLY i_a ON t (a)", "CREATE INDEX i_a"},
        {"CREATE OR REPLACE FUNCTION f(x int) RETURNS int", "CREATE FUNCTION f"},
        {"CREATE USER bob", "CREATE USER"},
        {"CREATE MATERIALIZED VIEW m AS SELECT 1", "CREATE VIEW m"},
        {"DROP TABLE IF EXISTS a, b", "DROP TABLE a"},
        {"ALTER TABLE ONLY t ADD COLUMN x int", "ALTER TABLE t"},
        {"ALTER SYSTEM SET a = 1", "ALTER"},
        {"DROP", "DROP"},
        {"CREATE (", "CREATE"},
    };
    expect_all(cases, G_N_ELEMENTS(cases));
}
END_TEST

START_TEST(common_table_expressions)
{
    static const Case cases[] = {
        {"WITH x AS (SELECT * FROM a) SELECT * FROM x JOIN b", "SELECT x"},
        {"WITH RECURSIVE x (n) AS (SELECT 1 UNION ALL SELECT n FROM x), y AS (SELECT 2) "
         "INSERT INTO log SELECT * FROM x",
         "INSERT log"},
        {"WITH d AS (DELETE FROM q RETURNING *) UPDATE t SET a = 1", "UPDATE t"},
        {"WITH x AS (SELECT * FROM a", "WITH"},
        {"WITH", "WITH"},
    };
    expect_all(cases, G_N_ELEMENTS(cases));
}
END_TEST

START_TEST(names)
{
    static const Case cases[] = {
        {"SELECT * FROM public.users", "SELECT users"},
        {"SELECT * FROM dbo.users", "SELECT users"},
        {"SELECT * FROM \"public\".\"Users\"", "SELECT Users"},
        {"SELECT * FROM sales.orders", "SELECT sales.orders"},
        {"SELECT * FROM db.sales.orders", "SELECT sales.orders"},
        {"SELECT * FROM srv.db.dbo.orders", "SELECT orders"},
        {"SELECT * FROM \"a b\"", "SELECT a b"},
        {"SELECT * FROM `a``b`.`c`", "SELECT a``b.c"},
        {"SELECT * FROM [order details]", "SELECT order details"},
        {"SELECT * FROM [dbo].[orders] o", "SELECT orders"},
        {"SELECT * FROM users_17", "SELECT users_*"},
        {"SELECT * FROM orders_2024_01", "SELECT orders_*_*"},
        {"SELECT * FROM t1", "SELECT t*"},
        {"SELECT * FROM tmp_a8f3c9d", "SELECT tmp_*"},
        {"SELECT * FROM f\xc3\xbc\xc3\x9f"
         "e",
         "SELECT f\xc3\xbc\xc3\x9f"
         "e"},
        {"SELECT * FROM a\xff\xfe"
         "b",
         "SELECT a**b"},
        {"SELECT * FROM \"a\x01"
         "b\"",
         "SELECT a*b"},
        {"SELECT * FROM \"\"", "SELECT"},
        {"SELECT * FROM a . b", "SELECT a.b"},
        {"SELECT * FROM a.*", "SELECT a"},
    };
    expect_all(cases, G_N_ELEMENTS(cases));
}
END_TEST

START_TEST(comments)
{
    static const Case cases[] = {
        {"-- who\nSELECT * FROM t", "SELECT t"},
        {"/* app:web */ SELECT * FROM t", "SELECT t"},
        {"/* a /* b */ c */ SELECT * FROM t", "SELECT t"},
        {"/* a /* b */ SELECT * FROM t", "SELECT t"},
        {"# mysql\nSELECT * FROM t", "SELECT t"},
        {"SELECT a -- FROM x\n, b /* FROM y */ FROM t", "SELECT t"},
        {"/*!40101 SET NAMES utf8 */", "SET"},
        {"SELECT /*+ hint(x) */ * FROM/**/t", "SELECT t"},
        {"-- nothing", ""},
        {"/* never closed SELECT", ""},
    };
    expect_all(cases, G_N_ELEMENTS(cases));
}
END_TEST

START_TEST(odd_text)
{
    static const Case cases[] = {
        {"", ""},
        {" ;; ", ""},
        {"12345", ""},
        {"se11ct x", "*"},
        {"frobnicate the thing", "FROBNICATE"},
        {"averyveryveryverylongwordthatisnoverb x", "*"},
        {"SELECT 'never closed FROM t", "SELECT"},
        {"SELECT \"never closed FROM t", "SELECT"},
        {"SELECT * FROM [never closed", "SELECT never closed"},
        {"SELECT $tag$ never closed FROM t", "SELECT"},
        {"SELECT * FROM", "SELECT"},
        {"SELECT * FROM a.", "SELECT a"},
        {"SELECT )))) FROM t", "SELECT"},
        {"INSERT INTO", "INSERT"},
        {"'\\", ""},
    };
    expect_all(cases, G_N_ELEMENTS(cases));
    expect_bytes("SELECT * FROM t\0able", 20, "SELECT t");
    expect_bytes("\0SELECT", 7, "");
    expect_bytes("SELECT\0 FROM t", 14, "SELECT");
}
END_TEST

START_TEST(cut_at_every_byte)
{
    static const char sql[] =
        "/* x */ WITH q AS (SELECT E'a\\'b', $t$ c $t$, \"d\" FROM [e f].`g`) -- h\n"
        "INSERT INTO public.\"orders\xc3\xa4_1\" SELECT * FROM q";
    char out[BB_LABEL_MAX + 1];
    for (gsize length = 0; length < sizeof sql; length++) {
        g_autofree guint8 *copy = g_memdup2(sql, length);
        gsize used = bb_label_sql(out, copy, length);
        ck_assert(g_utf8_validate(out, (gssize)used, NULL));
        ck_assert_uint_le(used, BB_LABEL_MAX);
    }
    expect_bytes(sql, sizeof sql - 1, "INSERT orders\xc3\xa4_*");
}
END_TEST

// Labels of every length around the limit, of letters of one to four bytes.
START_TEST(long_names_are_cut_between_letters)
{
    static const char *const letters[] = {"x", "\xc3\xa4", "\xe2\x82\xac", "\xf0\x90\x8d\x88"};
    for (gsize i = 0; i < G_N_ELEMENTS(letters); i++) {
        for (guint odd = 0; odd < 4; odd++) {
            g_autoptr(GString) sql = g_string_new("INSERT ");
            for (guint k = 0; k < odd; k++)
                g_string_append_c(sql, 'o');
            while (sql->len < BB_LABEL_MAX + 8) {
                g_string_append(sql, letters[i]);
                g_autofree char *out = g_malloc(BB_LABEL_MAX + 1);
                gsize used = bb_label_sql(out, (const guint8 *)sql->str, sql->len);
                ck_assert(g_utf8_validate(out, (gssize)used, NULL));
                if (sql->len <= BB_LABEL_MAX) {
                    ck_assert_str_eq(out, sql->str);
                    continue;
                }
                ck_assert_uint_le(used, BB_LABEL_MAX);
                ck_assert_uint_gt(used, BB_LABEL_MAX - 4);
                ck_assert(out[used - 1] == '*' && memcmp(out, sql->str, used - 1) == 0);
            }
        }
    }
}
END_TEST

START_TEST(limits)
{
    // Only the first 4 KiB are looked at.
    g_autoptr(GString) sql = g_string_new("SELECT ");
    for (guint i = 0; i < 700; i++)
        g_string_append(sql, "column, ");
    g_string_append(sql, "x FROM t");
    expect_bytes(sql->str, sql->len, "SELECT");
    // Long names are cut between characters and end in `*`.
    g_string_assign(sql, "SELECT * FROM ");
    for (guint i = 0; i < 100; i++)
        g_string_append(sql, "\xc3\xa4");
    char out[BB_LABEL_MAX + 1];
    gsize used = bb_label_sql(out, (const guint8 *)sql->str, sql->len);
    ck_assert_uint_le(used, BB_LABEL_MAX);
    ck_assert_uint_ge(used, BB_LABEL_MAX - 2);
    ck_assert(g_str_has_prefix(out, "SELECT \xc3\xa4"));
    ck_assert(g_str_has_suffix(out, "\xc3\xa4*"));
    ck_assert(g_utf8_validate(out, (gssize)used, NULL));
}
END_TEST

// The slow twin: no look at the first letter alone.
static bool is_word_slowly(const BbSqlToken *token, const char *word)
{
    g_autofree char *text = g_strndup((const char *)token->text, token->length);
    return token->kind == BB_SQL_WORD && g_ascii_strcasecmp(text, word) == 0;
}

START_TEST(words_whatever_their_case)
{
    static const char *const words[] = {"FROM", "from", "Form", "A", "_rowid", "@x", "INTO"};
    static const char letters[] = "fFrRoOmMaA_@x\x46\x40`";
    g_autoptr(GRand) random = g_rand_new_with_seed(test_seed("label_sql"));
    guint found = 0;
    for (guint round = 0; round < 200000; round++) {
        guint8 text[4];
        BbSqlToken token = {
            .kind = g_rand_boolean(random) ? BB_SQL_WORD : BB_SQL_QUOTED,
            .text = text,
            .length = (gsize)g_rand_int_range(random, 0, 5),
        };
        for (guint i = 0; i < sizeof text; i++)
            text[i] = (guint8)letters[g_rand_int_range(random, 0, sizeof letters - 1)];
        const char *word = words[g_rand_int_range(random, 0, G_N_ELEMENTS(words))];
        ck_assert_int_eq(bb_sql_is_word(&token, word), is_word_slowly(&token, word));
        found += bb_sql_is_word(&token, word);
    }
    ck_assert_uint_gt(found, 100);
}
END_TEST

TEST_MAIN("label_sql", tables_of_select, other_verbs, objects, common_table_expressions, names,
          comments, odd_text, cut_at_every_byte, long_names_are_cut_between_letters, limits,
          words_whatever_their_case)
