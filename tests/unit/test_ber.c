// SPDX-License-Identifier: Apache-2.0
// BER: nesting, numbers, strings, what is cut and what is none.
#include "capture/protocols/ber.h"
#include "tests/unit/octets.h"

START_TEST(nesting)
{
    g_autoptr(Octets) b = octets("30(02(01)30(04('ab')0a(7f))05())");
    BbBer all = bb_ber(b->data, b->len, 0);
    gsize length;
    ck_assert_uint_eq(bb_ber_peek(&all), 0x30);
    BbBer outer = bb_ber_enter(&all, BB_BER_SEQUENCE);
    ck_assert(bb_ber_ended(&all));
    ck_assert_int_eq(bb_ber_integer(&outer, BB_BER_INTEGER), 1);
    BbBer inner = bb_ber_enter(&outer, BB_BER_SEQUENCE);
    ck_assert_mem_eq(bb_ber_string(&inner, BB_BER_OCTETS, &length), "ab", 2);
    ck_assert_uint_eq(length, 2);
    ck_assert_int_eq(bb_ber_integer(&inner, BB_BER_ENUMERATED), 127);
    ck_assert(bb_ber_ended(&inner));
    bb_ber_skip(&outer);
    ck_assert(bb_ber_ended(&outer) && bb_ber_ok(&outer));
    bb_ber_skip(&outer);
    ck_assert(outer.bad);
}
END_TEST

static gint64 number(const char *notation, bool *ok)
{
    g_autoptr(Octets) b = octets(notation);
    BbBer ber = bb_ber(b->data, b->len, 0);
    gint64 value = bb_ber_integer(&ber, BB_BER_INTEGER);
    *ok = bb_ber_ok(&ber);
    return value;
}

START_TEST(numbers)
{
    bool ok;
    ck_assert_int_eq(number("02(00)", &ok), 0);
    ck_assert_int_eq(number("02(ff)", &ok), -1);
    ck_assert_int_eq(number("02(0080)", &ok), 128);
    ck_assert_int_eq(number("02(7fffffffffffffff)", &ok), G_MAXINT64);
    ck_assert_int_eq(number("02(8000000000000000)", &ok), G_MININT64);
    ck_assert(ok);
    ck_assert_int_eq(number("02 84 00 00 00 01 05", &ok), 5);
    ck_assert(ok);
    number("02()", &ok);
    ck_assert(!ok);
    number("02(01*9)", &ok);
    ck_assert(!ok);
    number("04(01)", &ok);
    ck_assert(!ok);
}
END_TEST

static BbBer skipped(const char *notation, gsize beyond)
{
    g_autoptr(Octets) b = octets(notation);
    BbBer ber = bb_ber(b->data, b->len, beyond);
    bb_ber_skip(&ber);
    return ber;
}

START_TEST(refusals)
{
    ck_assert(skipped("30 80 02 01 01 00 00", 0).bad);    // indefinite
    ck_assert(skipped("30 85 0000000001 00", 0).bad);     // a length of five bytes
    ck_assert(skipped("30 84 40000001", G_MAXINT32).bad); // beyond the limit
    ck_assert(skipped("1f 81 01 00", 0).bad);             // a tag of two bytes
    ck_assert(skipped("00 00", 0).bad);                   // end of contents
    ck_assert(skipped("30 05 01", 0).bad);                // longer than what holds it
    ck_assert(skipped("30", 0).bad);
    ck_assert(!skipped("30 05 01", 4).bad);
    ck_assert(skipped("30", 1).cut);
    ck_assert(skipped("30 82 01", 1).cut);
}
END_TEST

// An element that is longer than its parent is bad, even where bytes follow the parent.
START_TEST(children_do_not_escape)
{
    g_autoptr(Octets) b = octets("30 03 04 05 'abcdefgh'");
    BbBer all = bb_ber(b->data, b->len, 100);
    BbBer outer = bb_ber_enter(&all, BB_BER_SEQUENCE);
    gsize length = 1;
    ck_assert_ptr_null(bb_ber_string(&outer, BB_BER_OCTETS, &length));
    ck_assert_uint_eq(length, 0);
    ck_assert(outer.bad);
}
END_TEST

START_TEST(identifiers)
{
    char out[32];
    ck_assert(bb_ber_oid_format((const guint8 *)"\x2b\x06\x01\x84\x00", 5, out, sizeof out));
    ck_assert_str_eq(out, "1.3.6.1.512");
    ck_assert(bb_ber_oid_format((const guint8 *)"\x88\x37", 2, out, sizeof out));
    ck_assert_str_eq(out, "2.999");
    ck_assert(bb_ber_oid_format((const guint8 *)"\x01", 1, out, sizeof out));
    ck_assert_str_eq(out, "0.1");
    ck_assert(!bb_ber_oid_format((const guint8 *)"", 0, out, sizeof out));
    ck_assert(!bb_ber_oid_format((const guint8 *)"\x2b\x84", 2, out, sizeof out));
    ck_assert(!bb_ber_oid_format((const guint8 *)"\xff\xff\xff\xff\xff\x7f", 6, out, sizeof out));
    ck_assert(!bb_ber_oid_format((const guint8 *)"\x2b\x06\x01\x84\x00", 5, out, 8));
}
END_TEST

TEST_MAIN("ber", nesting, numbers, refusals, children_do_not_escape, identifiers)
