// SPDX-License-Identifier: Apache-2.0
// Records of CSV and lines of text: quotes, line ends, limits, and every reason why one is bad.
#include "merge/csv_record.h"

#include <string.h>

#include "merge/csv_text.h"
#include "tests/unit/scratch.h"

// All records as "[a|b]"; a bad one as "<line: reason>".
static char *read_bytes(const char *bytes, gsize size)
{
    g_autoptr(Scratch) scratch = scratch_new();
    g_autoptr(GError) error = NULL;
    g_autoptr(BbCsv) csv = bb_csv_open(scratch_file(scratch, "x.csv", bytes, size), &error);
    g_autoptr(GPtrArray) fields = g_ptr_array_new();
    GString *out = g_string_new(NULL);
    BbLineState state = BB_LINE_FAILED;
    ck_assert_ptr_nonnull(csv);
    while ((state = bb_csv_next(csv, fields, &error)) < BB_LINE_END) {
        if (state == BB_LINE_BAD) {
            g_string_append_printf(out, "<%" G_GUINT64_FORMAT ": %s>", bb_csv_number(csv),
                                   bb_csv_reason(csv));
            continue;
        }
        for (guint i = 0; i < fields->len; i++)
            g_string_append_printf(out, "%s%s", i ? "|" : "[",
                                   (const char *)g_ptr_array_index(fields, i));
        g_string_append_c(out, ']');
    }
    ck_assert_int_eq(state, BB_LINE_END);
    ck_assert_ptr_null(error);
    ck_assert_int_eq(bb_csv_next(csv, fields, &error), BB_LINE_END); // the end stays
    return g_string_free(out, FALSE);
}

static void assert_records(const char *text, const char *wanted)
{
    g_autofree char *found = read_bytes(text, strlen(text));
    ck_assert_str_eq(found, wanted);
}

START_TEST(records)
{
    assert_records("\n", "");
    assert_records("a,b\r\n1,2\r\n", "[a|b][1|2]");
    assert_records("a,b\n\n\r\n1,2", "[a|b][1|2]");
    assert_records(",\n", "[|]");
    assert_records("a, b ,c\n", "[a| b |c]");
    assert_records("\"a\",\"b,c\",\"\"\n", "[a|b,c|]");
    assert_records("\"say \"\"hi\"\"\",x\n", "[say \"hi\"|x]");
    assert_records("\"two\nlines\",x\r\ny,z\r\n", "[two\nlines|x][y|z]");
    assert_records("\"cr\r\nlf\",x\r\n", "[cr\r\nlf|x]");
    assert_records("\"\n\n\"\n", "[\n\n]");
    assert_records("\"\"\"\"\n", "[\"]");
    assert_records("\xff\xc3,\x01\n", "[\xff\xc3|\x01]");
}
END_TEST

START_TEST(bad_records)
{
    assert_records("a\n5\" disk,\"x\"\"\n1\n",
                   "[a]<2: a quote stands within a field that is not quoted>[1]");
    assert_records("a\n\"x\"y,z\nb\n", "[a]<2: there is text behind a closing quote>[b]");
    assert_records("a\nb\n\"x\nc\n", "[a][b]<3: a quote is not closed>[c]");
    g_autofree char *nul = read_bytes("a,b\nc\0d,e\nf,g\n", 14);
    ck_assert_str_eq(nul, "[a|b]<2: the line has a NUL byte>[f|g]");
}
END_TEST

// Of lines that a quote joined wrongly, only the first one is bad.
START_TEST(what_follows_a_bad_line_stays)
{
    assert_records("\"a,b\nc,d\ne,f\n", "<1: a quote is not closed>[c|d][e|f]");
    assert_records("\"a,b\r\nc,d\r\n\"e\",f\r\ng,h",
                   "<1: there is text behind a closing quote>[c|d][e|f][g|h]");
    assert_records("\"a,b\n\"c,d\ne,f\n",
                   "<1: there is text behind a closing quote><2: a quote is not closed>[e|f]");
    assert_records("x,5\" disk\na,b\ny,\"z\"\n",
                   "<1: a quote stands within a field that is not quoted>[a|b][y|z]");
    assert_records("\"a\nb\"c,d\n\"e\nf\"\n",
                   "<1: there is text behind a closing quote>"
                   "<2: a quote stands within a field that is not quoted>[e\nf]");
    g_autofree char *nul = read_bytes("\"a\nb\nc\0\nd\n", 10);
    ck_assert_str_eq(nul, "<1: a quote is not closed>[b]<3: the line has a NUL byte>[d]");
}
END_TEST

START_TEST(limits)
{
    g_autoptr(GString) text = g_string_new("a\n");
    for (gsize i = 0; i <= BB_LINE_MAX; i++)
        g_string_append_c(text, 'x');
    g_string_append(text, "\nb\n");
    assert_records(text->str, "[a]<2: the line is longer than 1 MiB>[b]");
    g_string_truncate(text, strlen("a\n") + BB_LINE_MAX);
    g_autofree char *whole = read_bytes(text->str, text->len);
    ck_assert_uint_eq(strlen(whole), strlen("[a][]") + BB_LINE_MAX);

    // Each line is short enough; the record is not, and ends there.
    g_string_assign(text, "\"");
    for (gsize i = 0; i <= BB_LINE_MAX / 1024; i++) {
        for (guint j = 0; j < 1023; j++)
            g_string_append_c(text, 'x');
        g_string_append_c(text, '\n');
    }
    g_autofree char *open = read_bytes(text->str, text->len);
    ck_assert_msg(strstr(open, "<1: the record is longer than 1 MiB"), "%.200s", open);
}
END_TEST

START_TEST(what_is_written_is_read)
{
    static const char *const texts[] = {"",   "a",  "a b", " a",    "a ",   "\"", "a\"b", ",",
                                        "a,", "\r", "\n",  "a\r\n", "\"\"", "\t", "\xff"};
    g_autoptr(GString) line = g_string_new(NULL);
    g_autoptr(GString) wanted = g_string_new("[x");
    g_string_append(line, "x");
    for (gsize i = 0; i < G_N_ELEMENTS(texts); i++) {
        g_string_append_c(line, ',');
        bb_csv_append_text(line, texts[i], strlen(texts[i]));
        g_string_append_printf(wanted, "|%s", texts[i]);
    }
    g_string_append(line, "\r\n");
    g_string_append_c(wanted, ']');
    assert_records(line->str, wanted->str);
    g_string_truncate(line, 0);
    bb_csv_append_text(line, "a b", 3);
    ck_assert_str_eq(line->str, "a b"); // no quotes where none are needed
}
END_TEST

START_TEST(files_that_are_not_there)
{
    g_autoptr(GError) error = NULL;
    ck_assert_ptr_null(bb_csv_open("/nowhere/x.csv", &error));
    ck_assert(strstr(error->message, "/nowhere/x.csv"));
}
END_TEST

TEST_MAIN("csv_record", records, bad_records, what_follows_a_bad_line_stays, limits,
          what_is_written_is_read, files_that_are_not_there)
