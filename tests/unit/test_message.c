// SPDX-License-Identifier: Apache-2.0
// Ids: every text comes back, and two texts never share an id.
#include "data/message.h"
#include "tests/unit/test.h"

#include <stdio.h>
#include <string.h>

static void check_round_trip(BbNames *names, const char *text)
{
    BbId id = bb_id_parse(names, text);
    g_autoptr(GString) back = g_string_new("<");
    bb_id_append(back, names, id);
    if (strcmp(back->str + 1, text) != 0 || !bb_id_equal(bb_id_parse(names, text), id))
        ck_abort_msg("%s gives %s", text, back->str);
}

static void check_form(const char *text, const char *stem, guint64 number)
{
    g_autoptr(BbNames) names = bb_names_new();
    BbId id = bb_id_parse(names, text);
    ck_assert_uint_ge(id.form, BB_ID_STEM);
    ck_assert_str_eq(bb_names_text(names, id.form - BB_ID_STEM), stem);
    ck_assert_uint_eq(id.number, number);
    check_round_trip(names, text);
}

START_TEST(stems_and_numbers)
{
    check_form("37", "", 37);
    check_form("id37", "id", 37);
    check_form("0", "", 0);
    check_form("007", "00", 7);
    check_form("00", "0", 0);
    check_form("100", "", 100);
    check_form("a-0100", "a-0", 100);
    check_form("#12", "#", 12);
    check_form("id37~2", "id37~", 2);
    check_form("~", "~", BB_ID_BARE);
    check_form("abc", "abc", BB_ID_BARE);
    check_form("--", "--", BB_ID_BARE);
    check_form("h\xc3\xa4 h\xff 5", "h\xc3\xa4 h\xff ", 5);
}
END_TEST

START_TEST(numbers_at_the_limit)
{
    check_form("18446744073709551614", "", G_MAXUINT64 - 1);
    check_form("18446744073709551615", "1", 8446744073709551615u);
    check_form("18446744073709551616", "1", 8446744073709551616u);
    check_form("99999999999999999999", "9", 9999999999999999999u);
    check_form("1000000000000000000000000", "100000000000000000000000", 0);
}
END_TEST

START_TEST(hexadecimal)
{
    g_autoptr(BbNames) names = bb_names_new();
    BbId id = bb_id_parse(names, "00c0ffee00c0ffee");
    ck_assert_uint_eq(id.form, BB_ID_HEX16);
    ck_assert_uint_eq(id.number, 0x00c0ffee00c0ffeeu);
    ck_assert_uint_eq(bb_id_parse(names, "0000000000000001").form, BB_ID_HEX16);
    check_round_trip(names, "00c0ffee00c0ffee");
    check_round_trip(names, "0000000000000001");
    check_round_trip(names, "ffffffffffffffff");
    // Not that form: upper case, one digit more or less, and what is a plain decimal number.
    ck_assert_uint_ge(bb_id_parse(names, "00C0FFEE00C0FFEE").form, BB_ID_STEM);
    ck_assert_uint_ge(bb_id_parse(names, "00c0ffee00c0ffe").form, BB_ID_STEM);
    ck_assert_uint_ge(bb_id_parse(names, "00c0ffee00c0ffee0").form, BB_ID_STEM);
    ck_assert(bb_id_equal(bb_id_parse(names, "1234567890123456"), bb_id_number(1234567890123456)));
    check_round_trip(names, "00C0FFEE00C0FFEE");
}
END_TEST

START_TEST(absent_and_dash)
{
    g_autoptr(BbNames) names = bb_names_new();
    ck_assert(!bb_id_is_known(bb_id_parse(names, "")));
    BbId dash = bb_id_parse(names, "-");
    ck_assert_uint_eq(dash.form, BB_ID_DASH);
    ck_assert(bb_id_is_known(dash));
    check_round_trip(names, "-");
    g_autoptr(GString) out = g_string_new(NULL);
    bb_id_append(out, names, (BbId){0});
    ck_assert_str_eq(out->str, "-");
    bb_id_append(out, names, (BbId){.form = BB_ID_STEM, .number = BB_ID_BARE});
    ck_assert_str_eq(out->str, "--"); // never the empty text
}
END_TEST

START_TEST(number_is_its_text)
{
    g_autoptr(BbNames) names = bb_names_new();
    const guint64 numbers[] = {0, 1, 9, 10, 4294967296, 1000000000000000, 9999999999999999999u};
    for (gsize i = 0; i < G_N_ELEMENTS(numbers); i++) {
        g_autofree char *text = g_strdup_printf("%" G_GUINT64_FORMAT, numbers[i]);
        ck_assert(bb_id_equal(bb_id_parse(names, text), bb_id_number(numbers[i])));
    }
}
END_TEST

// Few characters and short texts, so that near misses are many.
static char *random_text(GRand *rand)
{
    static const char letters[] = "0012379afAF-~x";
    gsize length = (gsize)g_rand_int_range(rand, 1, 24);
    char *text = g_malloc0(length + 1);
    for (gsize i = 0; i < length; i++)
        text[i] = letters[g_rand_int_range(rand, 0, sizeof letters - 1)];
    return text;
}

START_TEST(random_texts)
{
    const guint32 seed = 20031019;
    printf("seed %u\n", seed);
    g_autoptr(GRand) rand = g_rand_new_with_seed(seed);
    g_autoptr(BbNames) names = bb_names_new();
    g_autofree char *before = g_strdup("x");
    for (int i = 0; i < 100000; i++) {
        g_autofree char *text = random_text(rand);
        check_round_trip(names, text);
        bool equal = bb_id_equal(bb_id_parse(names, before), bb_id_parse(names, text));
        if (equal != (strcmp(before, text) == 0))
            ck_abort_msg("%s, %s", before, text);
        g_free(before);
        before = g_steal_pointer(&text);
    }
}
END_TEST

START_TEST(empty_message)
{
    BbMessage message = bb_message_empty();
    ck_assert_int_eq(message.kind, BB_FREE);
    ck_assert_int_eq(message.time_ns, BB_TIME_NONE);
    ck_assert_int_eq(message.recv_ns, BB_TIME_NONE);
    ck_assert_int_eq(message.end_ns, BB_TIME_NONE);
    ck_assert_uint_eq(message.bytes, BB_BYTES_NONE);
    ck_assert_uint_eq(message.offset, BB_OFFSET_NONE);
    ck_assert(!bb_id_is_known(message.id) && !bb_id_is_known(message.path));
    ck_assert(!bb_id_is_known(message.parent) && !message.conn && !message.extra);
    ck_assert_uint_eq(message.sender, BB_NAME_NONE);
    ck_assert(!message.at_receiver);
}
END_TEST

TEST_MAIN("message", stems_and_numbers, numbers_at_the_limit, hexadecimal, absent_and_dash,
          number_is_its_text, random_texts, empty_message)
