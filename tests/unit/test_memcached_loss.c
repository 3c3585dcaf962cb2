// SPDX-License-Identifier: Apache-2.0
// memcached where bytes are missing or wrong: what is found again, and what belongs to nothing.
#include "tests/unit/memcached_talk.h"

// ---- loss -------------------------------------------------------------------------------------

static void lost_command(Converse *c)
{
    ask(c, "get a\r\n", "END\r\n");
    converse_lose(c, up, 16);
    converse_text(c, down, "STORED\r\n");
    ask(c, "get b\r\n", "END\r\n");
    ask(c, "delete c\r\n", "DELETED\r\n");
}

START_TEST(lost_request)
{
    expect(lost_command, "CALL 1 memcached GET 7\n"
                         "RET 1 memcached ok 5\n"
                         "RET - memcached ok 8\n"
                         "CALL 2 memcached GET 7\n"
                         "RET 2 memcached ok 5\n"
                         "CALL 3 memcached DELETE 10\n"
                         "RET 3 memcached ok 9\n");
}
END_TEST

static void lost_answer(Converse *c)
{
    ask(c, "get a\r\n", "END\r\n");
    converse_text(c, up, "get b\r\n");
    converse_lose(c, down, 30);
    ask(c, "delete c\r\n", "DELETED\r\n");
}

START_TEST(lost_reply)
{
    expect(lost_answer, "CALL 1 memcached GET 7\n"
                        "RET 1 memcached ok 5\n"
                        "CALL 2 memcached GET 7\n"
                        "CALL 3 memcached DELETE 10\n"
                        "RET 3 memcached ok 9\n");
}
END_TEST

static void torn_answer(Converse *c)
{
    ask(c, "get a\r\n", "END\r\n");
    converse_text(c, up, "get b c d\r\n");
    converse_text(c, down, "VALUE b 0 1\r\nx\r\n");
    converse_lose(c, down, 16);
    converse_text(c, down, "VALUE d 0 1\r\nx\r\nEND\r\n");
    ask(c, "delete c\r\n", "DELETED\r\n");
}

START_TEST(gap_in_a_reply)
{
    expect(torn_answer, "CALL 1 memcached GET 7\n"
                        "RET 1 memcached ok 5\n"
                        "CALL 2 memcached GET 11\n"
                        "RET 2 memcached - 16\n"
                        "CALL 3 memcached DELETE 10\n"
                        "RET 3 memcached ok 9\n");
}
END_TEST

START_TEST(gap_in_a_value)
{
    g_autoptr(Converse) c = converse_tcp(11211);
    converse_text(c, up, "set k 0 0 100\r\n0123456789");
    converse_lose(c, up, 80);
    converse_text(c, up, "0123456789\r\n");
    converse_text(c, down, "STORED\r\n");
    converse_text(c, up, "get k\r\n");
    converse_text(c, down, "VALUE k 0 100\r\n0123456789");
    converse_lose(c, down, 80);
    converse_text(c, down, "0123456789\r\nEND\r\n");
    ck_assert_str_eq(converse_result(c), "CALL 1 memcached SET 37\n"
                                         "RET 1 memcached ok 8\n"
                                         "CALL 2 memcached GET 7\n"
                                         "RET 2 memcached ok 42\n");
    ck_assert_uint_eq(converse_loss(c, BB_DECODER_LOST), 0);
}
END_TEST

// The gap goes beyond the value: what follows is found at the start of the next packet.
START_TEST(gap_behind_a_value)
{
    g_autoptr(Converse) c = converse_tcp(11211);
    converse_text(c, up, "set k 0 0 100\r\n0123456789");
    converse_lose(c, up, 99);
    converse_text(c, up, "\r\n12\r\n");
    converse_text(c, down, "STORED\r\n");
    converse_text(c, up, "get k\r\n");
    converse_text(c, down, "END\r\n");
    const char *result = converse_result(c);
    ck_assert(g_str_has_prefix(result, "CALL 1 memcached SET 25\nRET 1 memcached ok 8\n"));
    ck_assert_ptr_nonnull(strstr(result, "CALL 2 memcached GET 7\n"));
    ck_assert_uint_eq(converse_loss(c, BB_DECODER_LOST), 1);
    ck_assert_uint_eq(converse_loss(c, BB_DECODER_GAVE_UP), 0);
}
END_TEST

// Keys of a get are cut off: the call is there.
START_TEST(gap_in_a_line)
{
    g_autoptr(Converse) c = converse_tcp(11211);
    ask(c, "get a\r\n", "END\r\n");
    converse_text(c, up, "get some:key some:ot");
    converse_lose(c, up, 20);
    converse_text(c, down, "END\r\n");
    ck_assert_str_eq(converse_result(c), "CALL 1 memcached GET 7\n"
                                         "RET 1 memcached ok 5\n"
                                         "CALL 2 memcached GET 20\n"
                                         "RET 2 memcached ok 5\n");
}
END_TEST

static void midstream(Converse *c)
{
    converse_text(c, down, "VALUE b 0 1\r\nx\r\nEND\r\n");
    ask(c, "get b\r\n", "END\r\n");
}

START_TEST(joined_before_an_answer)
{
    g_autoptr(Converse) c = converse_tcp_midstream(7777);
    midstream(c);
    ck_assert_str_eq(converse_result(c), "RET - memcached ok 21\n"
                                         "CALL 1 memcached GET 7\n"
                                         "RET 1 memcached ok 5\n");
}
END_TEST

static void unfinished(Converse *c)
{
    ask(c, "get a\r\n", "VALUE a 0 9\r\nab");
    converse_text(c, up, "set k 0 0 10\r\nabc");
}

START_TEST(what_is_under_way_is_kept)
{
    expect(unfinished, "CALL 1 memcached GET 7\n"
                       "RET 1 memcached - 15\n"
                       "CALL 2 memcached SET 17\n");
}
END_TEST

// On Redis' own port the same line was typed by a person.
START_TEST(typed_to_redis)
{
    g_autoptr(Converse) c = converse_tcp(6379);
    ask(c, "get key\r\n", "$-1\r\n");
    ck_assert_ptr_null(strstr(converse_result(c), "memcached"));
}
END_TEST

// ---- damage -----------------------------------------------------------------------------------

START_TEST(no_memcached_after_all)
{
    g_autoptr(Converse) c = converse_tcp(11211);
    ask(c, "get a\r\n", "<html>no\r\n");
    ck_assert(g_str_has_prefix(converse_result(c), "CALL 1 memcached GET 7\n"));
    ck_assert_uint_eq(converse_loss(c, BB_DECODER_GAVE_UP), 1);
    g_autoptr(Converse) d = converse_tcp(11211);
    g_autofree char *endless = g_strnfill(3 * BB_MEMCACHED_LINE_MAX, 'x');
    ask(d, "get a\r\n", endless);
    ck_assert_uint_eq(converse_loss(d, BB_DECODER_GAVE_UP), 1);
}
END_TEST

START_TEST(damage_in_the_middle)
{
    g_autoptr(Converse) c = converse_tcp(11211);
    ask(c, "get a\r\n", "END\r\n");
    ask(c, "get \x01\x02\xff\r\n\x80\x01\x02\r\n", "ERROR\r\n");
    ask(c, "get a\r\n", "\x81garbage\r\n");
    ask(c, "delete a\r\n", "DELETED\r\n");
    ck_assert_uint_eq(converse_loss(c, BB_DECODER_GAVE_UP), 0);
    ck_assert_uint_eq(converse_loss(c, BB_DECODER_LOST), 2);
    ck_assert_ptr_nonnull(strstr(converse_result(c), "memcached DELETE 10\n"));
}
END_TEST

TEST_MAIN("memcached_loss", lost_request, lost_reply, gap_in_a_reply, gap_in_a_value,
          gap_behind_a_value, gap_in_a_line, joined_before_an_answer, what_is_under_way_is_kept,
          typed_to_redis, no_memcached_after_all, damage_in_the_middle)
