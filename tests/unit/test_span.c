// SPDX-License-Identifier: Apache-2.0
// Fields of spans: ids in their many forms, kinds, times, names.
#include "merge/span.h"
#include "tests/unit/test.h"

#include <string.h>

static void assert_id(const char *text, const char *wanted)
{
    g_autoptr(BbNames) names = bb_names_new();
    g_autoptr(GString) out = g_string_new(NULL);
    BbId id = bb_span_id_parse(names, text);
    if (bb_id_is_known(id))
        bb_id_append(out, names, id);
    ck_assert_str_eq(out->str, wanted);
}

START_TEST(one_number_is_one_id)
{
    assert_id("a", "000000000000000a");
    assert_id("000000000000000A", "000000000000000a");
    assert_id("00000000000000000000000000000a0b", "0000000000000a0b");
    assert_id("1000000000000000", "1000000000000000");
    assert_id("5B8AA5A2d2c872e8321cf37308d69df2", "5b8aa5a2d2c872e8321cf37308d69df2");
    assert_id("aa5a2d2c872e8321cf37308d69df2", "000aa5a2d2c872e8321cf37308d69df2");
}
END_TEST

START_TEST(other_ids)
{
    assert_id("span-7", "span-7");
    assert_id("1234567890abcdef1234567890abcdef1", "1234567890abcdef1234567890abcdef1");
    g_autofree char *most = g_strnfill(BB_SPAN_ID_TEXT_MAX, 'x');
    g_autofree char *more = g_strnfill(BB_SPAN_ID_TEXT_MAX + 1, 'x');
    assert_id(most, most);
    assert_id(more, "");
}
END_TEST

START_TEST(no_ids)
{
    assert_id(NULL, "");
    assert_id("", "");
    assert_id("-", "");
    assert_id("0", "");
    assert_id("00000000000000000000000000000000", "");
}
END_TEST

static void assert_bytes(const char *text, gsize length, const char *wanted)
{
    g_autoptr(BbNames) names = bb_names_new();
    g_autoptr(GString) out = g_string_new(NULL);
    BbId id = bb_span_id_parse_bytes(names, text, length);
    if (bb_id_is_known(id))
        bb_id_append(out, names, id);
    ck_assert_str_eq(out->str, wanted);
}

START_TEST(ids_as_base64)
{
    const guint8 bytes[BB_SPAN_TRACE_LENGTH] = {0x5b, 0x8a, 0xa5, 0xa2, 0xd2, 0xc8, 0x72, 0xe8,
                                                0x32, 0x1c, 0xf3, 0x73, 0x08, 0xd6, 0x9d, 0xf2};
    g_autofree char *trace = g_base64_encode(bytes, sizeof bytes);
    g_autofree char *span = g_base64_encode(bytes, BB_SPAN_ID_LENGTH);
    assert_bytes(trace, BB_SPAN_TRACE_LENGTH, "5b8aa5a2d2c872e8321cf37308d69df2");
    assert_bytes(span, BB_SPAN_ID_LENGTH, "5b8aa5a2d2c872e8");
    assert_bytes("AAAAAAAAAAA=", BB_SPAN_ID_LENGTH, "");
    assert_bytes("5b8aa5a2d2c872e8321cf37308d69df2", BB_SPAN_TRACE_LENGTH,
                 "5b8aa5a2d2c872e8321cf37308d69df2");
    assert_bytes("5b8aa5a2d2c872e8", BB_SPAN_ID_LENGTH, "5b8aa5a2d2c872e8");
    assert_bytes("5b8a", BB_SPAN_ID_LENGTH, "0000000000005b8a");
    // Of that length, but not of so many bytes.
    assert_bytes("abcdefghijkl", BB_SPAN_ID_LENGTH, "abcdefghijkl");
    assert_bytes(NULL, BB_SPAN_ID_LENGTH, "");
}
END_TEST

START_TEST(kinds)
{
    static const char *const names[] = {"unset",  "internal", "client",
                                        "server", "producer", "consumer"};
    for (guint kind = BB_SPAN_UNSET; kind <= BB_SPAN_CONSUMER; kind++) {
        g_autofree char *upper = g_ascii_strup(names[kind], -1);
        g_autofree char *full = g_strconcat("SPAN_KIND_", upper, NULL);
        ck_assert_uint_eq(bb_span_kind_parse(names[kind]), kind);
        ck_assert_uint_eq(bb_span_kind_parse(upper), kind);
        ck_assert_uint_eq(bb_span_kind_parse(full), kind);
        ck_assert_int_eq(bb_span_kind_sends(kind),
                         kind == BB_SPAN_CLIENT || kind == BB_SPAN_PRODUCER);
        ck_assert_int_eq(bb_span_kind_receives(kind),
                         kind == BB_SPAN_SERVER || kind == BB_SPAN_CONSUMER);
    }
    ck_assert_uint_eq(bb_span_kind_parse(NULL), BB_SPAN_UNSET);
    ck_assert_uint_eq(bb_span_kind_parse("clients"), BB_SPAN_UNSET);
}
END_TEST

START_TEST(times)
{
    ck_assert_int_eq(bb_span_time(1700000000000001, 1000), G_GINT64_CONSTANT(1700000000000001000));
    ck_assert_int_eq(bb_span_time(1, 1), 1);
    ck_assert_int_eq(bb_span_time(0, 1), BB_TIME_NONE);
    ck_assert_int_eq(bb_span_time(-5, 1000), BB_TIME_NONE);
    ck_assert_int_eq(bb_span_time(G_MAXINT64, 1), BB_TIME_NONE);
    ck_assert_int_eq(bb_span_time(G_MAXINT64 / 1000, 1000), BB_TIME_NONE);
}
END_TEST

START_TEST(names_are_cut_between_characters)
{
    g_autoptr(BbNames) names = bb_names_new();
    g_autofree char *long_name = g_strnfill(BB_SPAN_NAME_MAX - 1, 'x');
    g_autofree char *odd = g_strconcat(long_name, "\xc3\xa9", "tail", NULL);
    g_autofree char *most = g_strconcat(long_name, "y", NULL);
    ck_assert_uint_eq(bb_span_name(names, NULL), BB_NAME_NONE);
    ck_assert_uint_eq(bb_span_name(names, ""), BB_NAME_NONE);
    ck_assert_str_eq(bb_names_text(names, bb_span_name(names, odd)), long_name);
    ck_assert_str_eq(bb_names_text(names, bb_span_name(names, most)), most);
}
END_TEST

TEST_MAIN("span", one_number_is_one_id, other_ids, no_ids, ids_as_base64, kinds, times,
          names_are_cut_between_characters)
